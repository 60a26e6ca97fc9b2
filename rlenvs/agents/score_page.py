"""The tables of scores of all environments: what `rlenvs scores` prints, and docs/scores.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rlenvs.agents.card import AgentScore, Card, normalized
from rlenvs.agents.curves import curves_of
from rlenvs.agents.evaluate import POLICIES
from rlenvs.agents.hyperparameters import found_of
from rlenvs.agents.learning import COMPARED_HEAD, compared_rows, described
from rlenvs.agents.store import (
    card_costs,
    parse_name,
    rank_key,
    read_card,
    reference_agents,
    references_of,
    training_seeds,
)
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.catalogue.score_cells import COST, cost_cells, has_success, success_cell
from rlenvs.core.declare.parts import Score, limits_of
from rlenvs.core.declare.spec import World

NOTHING = 1e-6  # of a mean return
SOLVED = 0.8  # of the expert's score or success, below which an environment is open
UNSAFE = "Only agents that break a limit of costs come so far."
HEAD = (
    *("Environment", "Random", "Idle", "Expert", "Bound", "Exploit"),
    *("Learnt", "Score", "Success", "Cost", "Limit", "Learnt by", "Other algorithms", "Imitates the expert"),
)
OPEN_HEAD = ("Environment", "Expert", "Learnt", "Score", "Success", "Expert's success", "Tried", "Found")
BRIEF_HEAD = ("Environment", "Expert", "Learnt", "Score", "Success", "By")
POLICIES_HEAD = ("Policy", "Return", "Score", "Success", "Cost", "Limit")
LARGE, FOUR_DIGITS = 1e5, 1e4  # returns that a terminal shows in thousands, and those without a fraction
HELPED_HEAD = ("Environment", "Learnt", "Without", "Found")


@dataclass(frozen=True)
class Known:
    """What is known of an environment, or of a level that has agents of its own.

    Attributes:
        name: "Name-v0". level: None for the defaults.
        learnt: cards of the agents that learnt by reinforcement, by their files without ending; the best one first.
        imitating: likewise, those that imitate the expert.
    """

    name: str
    level: str | None
    learnt: dict[Path, Card]
    imitating: dict[Path, Card]

    @property
    def world(self) -> World:
        """At that level."""
        return world_of(self.name).level(self.level)

    @cached_property
    def references(self) -> Mapping[str, Score]:
        """What random actions, doing nothing, the expert and the bound have."""
        return references_of(world_of(self.name), self.level)

    @property
    def against(self) -> str | None:
        """Whom the agents were measured against."""
        cards = [*self.learnt.values(), *self.imitating.values()]
        return next((card.score.against for card in cards if card.score), None)

    @property
    def upper(self) -> float | None:
        """The return that counts as 1: the expert's, else the bound."""
        found = self.references.get("expert", self.references.get("bound"))
        return None if found is None else found.mean

    @property
    def goal(self) -> float | None:
        """The expert's share of successes; None where there is neither."""
        told = "expert" in self.references and has_success(self.world)
        return self.references["expert"].success if told else None

    def scale(self, mean: float) -> float | None:
        """A return on the scale from random to `upper`; None where there is no such scale."""
        random = self.references.get("random")
        return normalized(mean, None if random is None else random.mean, self.upper)


def known(names: Iterable[str] | None = None) -> Iterator[Known]:
    """Every environment once, and once more for every level with agents of its own; of all names by default."""
    for name in [world_of(row.id).name for row in documented()] if names is None else names:
        stems = {stem: parse_name(stem.name) for stem in reference_agents(name)}
        for level in (None, *world_of(name).levels):
            cards = {stem: read_card(stem) for stem, said in stems.items() if (said.level, said.seed) == (level, None)}
            ordered = dict(sorted(cards.items(), key=lambda pair: rank_key(pair[1]), reverse=True))
            if level is None or cards:
                learnt = {stem: card for stem, card in ordered.items() if not card.imitates}
                yield Known(name, level, learnt, {stem: ordered[stem] for stem in ordered if stem not in learnt})


def score_rows(everything: Iterable[Known] | None = None) -> Iterator[tuple[str, ...]]:
    """The rows of the table of scores."""
    for one in everything or known():
        others = "; ".join(_in_short(card, one) for card in list(one.learnt.values())[1:])
        imitating = "; ".join(_in_short(card, one, success=True) for card in one.imitating.values())
        yield *_references(one), *_learnt_cells(one), others, imitating


def open_rows(everything: Iterable[Known] | None = None) -> Iterator[tuple[str, ...]]:
    """Rows of the environments, at their defaults, that reinforcement learning has not solved as the expert does."""
    for one in everything or known():
        if one.level is None and is_open(one):
            name, _, _, expert, *_ = _references(one)
            goal = "" if one.goal is None else f"{100 * one.goal:.0f} %"
            tried = [f"{_in_short(card, one)}, {_effort(stem, card)}" for stem, card in one.learnt.items()]
            tried += _tried_in_vain(one)
            found = " ".join([*[UNSAFE] * (standing(one) == "unsafe"), found_of(one.name)]).strip()
            yield name, expert, *_learnt_cells(one)[:3], goal, "; ".join(tried) or "nothing", found


def helped_rows(everything: Iterable[Known] | None = None) -> Iterator[tuple[str, ...]]:
    """Rows of the environments, at their defaults, whose best agent had another reward or start in training."""
    for one in everything or known():
        best = next(iter(one.learnt.values()), None)
        if one.level is None and best is not None and best.settings.get("training"):
            plain = [_in_short(card, one) for card in one.learnt.values() if not card.settings.get("training")]
            plain += _tried_in_vain(one)
            yield one.name, _in_short(best, one, success=True), "; ".join(plain), found_of(one.name)


def _tried_in_vain(one: Known) -> Iterator[str]:
    """The trainings at the defaults of which a curve ships and no agent: what the best evaluation had."""

    known_by_card = {card.algorithm for card in one.learnt.values()}
    for curve in curves_of(one.name):
        if curve.algorithm not in known_by_card:
            columns = curve.columns
            best = float(columns["return"].max())
            scale = one.scale(best)
            reached = f"return {best:.4g}" if scale is None else f"{scale:.3f}"
            steps, minutes = columns["steps"][-1] / 1e6, columns["seconds"][-1] / 60
            name = described(curve.algorithm, one.world)
            yield f"{name} {reached}, {steps:.3g} M steps, seed {curve.seed}, {minutes:.2g} min, curve alone"


def is_open(one: Known) -> bool:
    """Whether there is an expert to reach, and no agent that learnt by reinforcement comes near it safely."""
    return _comparable(one) and standing(one) != "solved"


def standing(one: Known, share: float = SOLVED) -> str:
    """How far agents that learnt by reinforcement have come.

    Returns:
        "solved" where one has this share of the expert's score and success within the limits of costs; "unsafe" where
        one has it, but breaks a limit; "open" where none has it; "nothing" where there is no expert to reach; "none"
        where there are no such agents.
    """
    if not one.learnt:
        return "none"
    if not _comparable(one):
        return "nothing"
    there = [card for card in one.learnt.values() if _reaches(one, card, share)]
    safe = any(card_costs(card)[2] for card in there)
    return "solved" if safe else "unsafe" if there else "open"


def _comparable(one: Known) -> bool:
    """Whether a scripted expert has another return than random actions: elsewhere there is nothing to reach."""
    return "expert" in one.references and one.scale(0.0) is not None


def _reaches(one: Known, card: Card, share: float) -> bool:
    """Whether an agent has this share of the expert's score, and of its success where that is defined."""
    scale = None if card.score is None else one.scale(card.score.mean)
    if card.score is None or scale is None:
        return False
    return scale >= share and (one.goal is None or card.score.success_rate >= share * one.goal)


def summary(everything: Iterable[Known]) -> str:
    """How many environments have been learnt, how well, and how long that took."""
    everything = list(everything)
    defaults = [one for one in everything if one.level is None]
    learnt = [one for one in defaults if one.learnt]
    compared = sum(map(_comparable, learnt))
    well, better = (Counter(standing(one, share) for one in learnt) for share in (SOLVED, 0.9))
    somewhere = len({one.name for one in everything if one.learnt})
    best = [next(iter(one.learnt.values())) for one in learnt]
    helped = sum(card.described != card.algorithm for card in best)
    hours = sum(card.seconds for one in everything for card in one.learnt.values()) / 3600
    return (
        f"Of {len(defaults)} environments, {len(learnt)} have an agent that learnt from reward alone at their default "
        f"settings, {somewhere} at these or at a level. {compared} of the {len(learnt)} have a scripted expert with "
        f"another return than random actions: {well['solved']} reach 0.8 of its score, and of its success where that "
        f"is defined, within the limits of costs; {better['solved']} reach 0.9. {well['unsafe']} more reach 0.8, but "
        f"break a limit. In {helped} of the {len(learnt)} the best agent had another task than the page describes (an "
        f"observation, a reward, an option, a start), or samples its actions: its row says so in brackets. All agents "
        f"that learnt so, at levels and by other algorithms too, took {hours:.1f} hours of one core."
    )


def _references(one: Known) -> tuple[str, ...]:
    """The label of a row, and what random actions, doing nothing, the expert, the bound and an exploit have."""
    label = one.name if one.level is None else f"{one.name} (level={one.level})"
    if one.against:
        label = f"{label} against {one.against}"
    found = one.references
    return label, *(_number(found[name].mean) if name in found else "" for name in (*POLICIES, "bound", "exploit"))


def _learnt_cells(one: Known) -> tuple[str, ...]:
    """Of the best agent that learnt by reinforcement: return, score, success, cost, limit, and what it took."""
    if not one.learnt:
        return ("",) * 6
    stem, card = next(iter(one.learnt.items()))
    score = card.score
    learnt = f"{card.described}, {_effort(stem, card)}"
    if score is None:
        return "not measured", "", "", "", "", learnt
    worst, limit, _ = card_costs(card)
    return f"{score.mean:.4g} ± {score.half_width:.2g}", _scale_cell(score, one), _success(card), worst, limit, learnt


def _in_short(card: Card, one: Known, success: bool = False) -> str:
    """The algorithm with the score, or with the return where there is no scale; for a list of several."""
    if card.score is None:
        return f"{card.described} not measured"
    reached = _scale_cell(card.score, one) or f"return {card.score.mean:.4g}"
    rate = _success(card) if success else success_cell(None, card_costs(card)[2])
    return f"{card.described} {reached}{', ' * bool(rate)}{rate}"


def _effort(stem: Path, card: Card) -> str:
    seeds = sorted(training_seeds(stem))
    which = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"
    return f"{card.steps / 1e6:.3g} M steps, {which}, {max(card.seconds / 60, 0.1):.2g} min"


def _scale_cell(score: AgentScore, one: Known) -> str:
    scale = one.scale(score.mean)
    return "" if scale is None else f"{scale:.3f}"


def _success(card: Card) -> str:
    """The success rate, with a mark where a limit was broken; that alone where success is not defined."""
    assert card.score is not None
    return success_cell(card.score.success_rate if has_success(world_of(card.id)) else None, card_costs(card)[2])


def _number(value: float) -> str:
    """Four digits; what rounding has left of 0 is 0."""
    return f"{0.0 if abs(value) < NOTHING else value:.4g}"


# --- for a terminal ---------------------------------------------------------------------------------------------------


def brief_rows(everything: Iterable[Known]) -> Iterator[tuple[str, ...]]:
    """A row for each environment at its defaults, short enough for 80 columns."""
    for one in everything:
        if one.level is not None:
            continue
        cells = one.name, _short(one.references["expert"].mean) if "expert" in one.references else ""
        card = next(iter(one.learnt.values()), None)
        if card is None or card.score is None:
            yield *cells, *("",) * 4
            continue
        success = _success(card).replace(", unsafe", " !").replace("unsafe", "!")
        told = "*" * (card.described != card.algorithm)
        yield *cells, _short(card.score.mean), _scale_cell(card.score, one), success, f"{card.algorithm}{told}"


def policy_rows(one: Known) -> Iterator[tuple[str, ...]]:
    """A row for each policy of an environment: what is known without learning, and its agents."""
    for name, score in one.references.items():
        scale = one.scale(score.mean)
        worst, limit, safe = cost_cells(score.costs, limits_of(one.world.costs))
        rate = success_cell(score.success if has_success(one.world) else None, safe)
        yield name, _mean_cell(score), "" if scale is None else f"{scale:.3f}", rate, worst, limit
    for stem, card in [*one.learnt.items(), *one.imitating.items()]:
        policy = f"{card.described}, {_effort(stem, card)}"
        if card.score is None:
            yield policy, "not measured", *("",) * 4
        else:
            worst, limit, _ = card_costs(card)
            yield policy, _mean_cell(card.score), _scale_cell(card.score, one), _success(card), worst, limit


def _mean_cell(score: Score | AgentScore) -> str:
    known_width = score.half_width > NOTHING  # not NaN: of one episode, or of a card that does not say
    return f"{_number(score.mean)} ± {score.half_width:.2g}" if known_width else _number(score.mean)


def _short(value: float) -> str:
    """A return in at most seven letters."""
    if abs(value) >= LARGE:
        return f"{value / 1000:.0f}k"
    return f"{value:.0f}" if abs(value) >= FOUR_DIGITS else _number(value)


PAGE = """# Scores

Mean returns over fixed seeds, summed over a team; of agents with the half width of the 95 % interval. Random, idle,
expert and bound are those of the environment's page; of a level without such, what was measured beside its agent.
"Idle" does nothing: zeros, or the choice that does least. "Bound" is a proven bound of the return of any policy,
"Exploit" what the best script has that is known to do without the skill that the task asks for: the page says what.
"Learnt" is the best agent that learnt by reinforcement, from reward alone: its return, its "Score" on the scale on
which the random policy has 0 and the scripted expert 1 (without an expert: the bound), its "Success", the share of
episodes (with several agents, of agents) that the environment's page calls one, and with which algorithm, after how
many environment steps, with which training seeds, and within how many minutes of one of them. In brackets: in what its
task was not the one that the page describes. "Other algorithms" has the scores of the others that learnt so.

"Imitates the expert" has score and success of a network that was taught by the scripted expert (DAgger). It tells that
a policy of that kind can play as the expert does from what it observes, not that it can be found from reward.

{cost} What an unsafe agent reached solves the environment only where costs do not matter.

Agents play without exploration, on the seeds that their cards name. "Against" a scripted player: every seed is played
once from each team, and the returns of the policy's own team are summed over these games, for all policies of the row.

`rlenvs scores` prints them in short, and `rlenvs scores ID` those of one environment, from the cards; `rlenvs scores
--write docs/scores.md` writes this page, and `rlenvs scores --check` plays every agent again and fails where one has
left its interval.

## Agents

{summary}

{scores}
## Open: where reinforcement learning has not yet reached the expert

At their defaults, these environments have no agent that learnt from reward and reaches 0.8 of the expert's score and of
its success within the limits of costs: a challenge. Those without an expert that has another return than random actions
are not among them: there is nothing to reach. "Tried" is what was trained, with what it reached, and "Found" why it
falls short, as far as that is known. Found a way? `rlenvs train ID` writes a run with an agent and a card, and `rlenvs
eval FILE` says what it reaches.

{open}
## Helped in training

These agents had another reward, or another start, in training alone; they are evaluated as all others are. "Without" is
what learnt beside them without such help, where that was tried.

{helped}
## Which algorithm fits

Where several were tried at the defaults of an environment: what the last evaluation of each had, the best one first,
as on the environments' pages. An algorithm whose curve ships alone has no agent. "Updates" are gradient steps, "Time"
is that of one core, and "To 0.9" when the score was first 0.9 of the expert's. So this compares what fits into a few
minutes of a core, not algorithms at their best: most runs of SAC and TD3 made one update for 8 to 16 steps, where
their papers make one for each.

{compared}"""


def page() -> str:
    """The tables as a page in Markdown."""

    everything = list(known())
    return PAGE.format(
        summary=summary(everything),
        cost=COST,
        scores=_markdown(HEAD, score_rows(everything)),
        open=_markdown(OPEN_HEAD, open_rows(everything)),
        helped=_markdown(HELPED_HEAD, helped_rows(everything)),
        compared=_markdown(COMPARED_HEAD, compared_rows()),
    )


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rows])
