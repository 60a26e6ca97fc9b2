"""Scores of agents: measured beside chance and the scripted expert, listed, and replayed to see that they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlenvs.agents.agent import Agent
from rlenvs.agents.card import AgentScore, normalized
from rlenvs.agents.evaluate import POLICIES, Evaluation, Policy, evaluate
from rlenvs.agents.files import is_id, load_agent, reference_agents
from rlenvs.core.docs import cost_cells, documented, has_success, success_cell
from rlenvs.core.errors import NoAgentError, ParameterError
from rlenvs.core.registry import entry, world_of
from rlenvs.core.setup import Setup

__all__ = ["measure", "replay_agent"]

SEEDS = 100
NOTHING = 1e-6  # of a mean return
ROUNDING = 1e-4  # of a return, relatively: where every seed gives the same, other arithmetic still changes digits
ALL_HOLD = 2.0  # 95 % half widths for the 1e-4 level: a hundred agents all hold on another machine in 99 of 100 checks


def opponent(id: str, keywords: Mapping[str, Any]) -> str | None:
    """Whom an agent is measured against: the first scripted player where teams play against each other, else None."""
    world = world_of(id)
    two_sided = len(set(Setup(world, **keywords).teams)) > 1
    return world.players[0] if two_sided and world.players else None


def find_agent(source: str, keywords: dict[str, Any]) -> tuple[str, Agent, dict[str, Any]]:
    """The agent in a file, or the reference agent of an id; its environment; its card's keywords with others on top.

    Raises:
        as `load_agent` does.
    """
    agent = load_agent(source, level=keywords.get("level") if is_id(source) else None)
    return agent.card.id, agent, {**agent.card.keywords, **keywords}


def find_agent_or_reason(source: str, keywords: dict[str, Any]) -> tuple[str, Agent | None, dict[str, Any], str]:
    """As `find_agent`; an environment without a reference agent, or with keywords that do not fit it, gives the reason
    in place of the agent."""
    try:
        id, agent, chosen = find_agent(source, keywords)
        agent.check(Setup(world_of(id), **chosen), "the reference agent" if is_id(source) else "the agent")
    except (NoAgentError, ParameterError) as reason:
        if not is_id(source):
            raise
        Setup(world_of(source), **keywords)  # keywords that are wrong anyway
        return entry(source).id, None, keywords, f"No agent: {reason}"
    return id, agent, chosen, ""


def comparison_rows(found: Mapping[str, Evaluation]) -> list[tuple[str, ...]]:
    """Name, mean return, score on the scale from random to expert, success, cost and length of each policy.

    Where a limit is broken the success says so, and the cost names it.
    """
    chance, expert = found["random"].mean, found["expert"].mean if "expert" in found else None
    rows: list[tuple[str, ...]] = []
    for name, row in found.items():
        scale = normalized(row.mean, chance, expert)
        mean = f"{row.mean:.4g} ± {row.half_width:.2g}"
        worst, limit, safe = cost_cells(row.mean_costs, row.limits)
        spent = f"{row.mean_cost:.4g}" if safe else f"{row.mean_cost:.4g} ({worst}, limit {limit})"
        scaled = "" if scale is None else f"{scale:.3f}"
        rows.append((name, mean, scaled, success_cell(row.success_rate, safe), spent, f"{row.mean_length:.1f}"))
    return rows


def compare(
    id: str,
    agent: Policy | None,
    seeds: int | Sequence[int] = SEEDS,
    against: str | None = None,
    **keywords: Any,
) -> dict[str, Evaluation]:
    """An agent, the random policy, doing nothing and the scripted expert (where there is one), on the same seeds.

    Args:
        id: the environment.
        agent: any policy that `rlenvs.evaluate` takes; None for the two others alone.
        seeds, against, keywords: as for `rlenvs.evaluate`; where teams play against each other, `against` is the
            world's first scripted player by default.

    Returns:
        evaluations of "random", "idle", "expert" and "agent".
    """
    against = against or opponent(id, keywords)
    policies: dict[str, Policy] = {name: name for name in POLICIES if name != "expert" or world_of(id).has_expert}
    if agent is not None:
        policies["agent"] = agent
    return {name: evaluate(id, policy, seeds, against=against, **keywords) for name, policy in policies.items()}


def measure(agent: Agent, seeds: int = SEEDS, first_seed: int = 0, against: str | None = None) -> AgentScore:
    """The score for an agent's card, with the keywords of its card.

    Args:
        agent: what plays.
        seeds: how many, at least 2; first_seed: the first of them.
        against: as for `compare`.

    Raises:
        ParameterError: fewer than two seeds.
    """
    if seeds < 2:
        raise ParameterError(f"seeds={seeds} must be at least 2, or there is no confidence interval")
    card = agent.card
    against = against or opponent(card.id, card.keywords)
    chosen = range(first_seed, first_seed + seeds)
    found = compare(card.id, agent, chosen, against, **card.keywords)
    own = found["agent"]
    return AgentScore(
        mean=own.mean,
        half_width=own.half_width,
        success_rate=own.success_rate,
        cost=own.mean_cost,
        length=own.mean_length,
        seeds=seeds,
        first_seed=first_seed,
        against=against,
        random=found["random"].mean,
        expert=found["expert"].mean if "expert" in found else None,
        idle=found["idle"].mean,
        costs=own.mean_costs,
    )


# --- the regression test ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replayed:
    """A reference agent, played again on the seeds of its card.

    Attributes:
        name: of its files. mean: return now. expected: as its card says. half_width: of the interval around it.
        seeds: how many were played.
    """

    name: str
    mean: float
    expected: float
    half_width: float
    seeds: int

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "LEFT ITS INTERVAL"
        return (
            f"{self.name}: {self.mean:.4g} over {self.seeds} seeds, card {self.expected:.4g} ± {self.half_width:.2g}: "
            f"{verdict}"
        )

    @property
    def holds(self) -> bool:
        """Whether the mean return lies within the interval."""
        return abs(self.mean - self.expected) <= self.half_width + ROUNDING * abs(self.expected)


def replay_agent(path: str | Path, seeds: int | None = None) -> Replayed:
    """Play an agent again on its card's seeds, or on the first few of them.

    Small differences of arithmetic (another processor, another number of threads) grow where there are contacts: the
    same seeds then give other episodes, and the replay is a second sample. So the two means are compared by the spread
    of both, at a level at which a hundred agents hold together. With fewer seeds the replay counts as a mean over so
    few, with at least the spread of the card: four episodes alone show too little of it.

    Raises:
        ParameterError: the card holds no score.
        AgentFileError: the files are no agent.
    """
    name, agent = Path(path).name, load_agent(path)
    card, score = agent.card, agent.card.score
    if score is None:
        raise ParameterError(f"{name}: the card holds no score")
    count = min(seeds or score.seeds, score.seeds)
    chosen = range(score.first_seed, score.first_seed + count)
    found = evaluate(card.id, agent, chosen, against=score.against, **card.keywords)
    own = score.half_width * math.sqrt(score.seeds / count)
    if count > 1:
        own = max(own, found.half_width)
    interval = ALL_HOLD * math.hypot(score.half_width, own)
    return Replayed(name, found.mean, score.mean, interval, count)


# --- the table --------------------------------------------------------------------------------------------------------

HEAD = (
    *("Environment", "Random", "Idle", "Expert", "Agent"),
    *("Score", "Success", "Cost", "Limit", "Bound", "Learnt by"),
)


def score_rows() -> Iterator[tuple[str, ...]]:
    """The rows of the table of scores: every environment once, and once more for every level with an own agent."""
    agents: dict[str, list[Agent]] = {}
    for stem in reference_agents():
        agent = load_agent(stem)
        agents.setdefault(world_of(agent.card.id).name, []).append(agent)
    for row in documented():
        name = world_of(row.id).name
        own = sorted(agents.get(name, []), key=lambda agent: str(agent.card.keywords))
        yield from [_row(name, agent) for agent in own] or [_row(name, None)]


def _costs(agent: Agent) -> dict[str, float]:
    """Mean costs of an agent's episode, by name; those of a card without names where the world has one cost alone."""
    card, score, world = agent.card, agent.card.score, world_of(agent.card.id)
    assert score is not None
    if score.costs or len(world.costs) != 1:
        return score.costs
    return {name: score.cost / Setup(world, **card.keywords).agents for name in world.costs}


def _row(name: str, agent: Agent | None) -> tuple[str, ...]:
    keywords = agent.card.keywords if agent else {}
    world = world_of(name).level(keywords.get("level"))
    known = {key: f"{score.mean:.4g}" for key, score in world.scores.items()}
    others, bound = [known.get(key, "") for key in POLICIES], known.get("bound", "")
    if agent is None:
        return name, *others, "", "", "", "", "", bound, ""
    card, score = agent.card, agent.card.score
    label = name
    if keywords:
        label = f"{name} ({', '.join(f'{key}={value}' for key, value in keywords.items())})"
    if set(keywords) - {"level"}:  # scores are of the defaults
        others, bound = [""] * len(POLICIES), ""
    learnt = f"{card.algorithm}, {card.steps / 1e6:.3g} M steps"
    if score is None:
        return label, *others, "not measured", "", "", "", "", bound, learnt
    if score.against:
        label = f"{label} against {score.against}"
    measured = dict(zip(POLICIES, (score.random, score.idle, score.expert), strict=True))
    others = [
        old if (now := measured[name]) is None else _number(now) for name, old in zip(POLICIES, others, strict=True)
    ]
    scale = "" if score.normalized is None else f"{score.normalized:.3f}"
    worst, limit, safe = cost_cells(_costs(agent), {key: cost.limit for key, cost in world.costs.items()})
    mean = f"{score.mean:.4g} ± {score.half_width:.2g}"
    success = success_cell(score.success_rate, safe) if has_success(world) else "" if safe else "unsafe"
    return label, *others, mean, scale, success, worst, limit, bound, learnt


def _number(value: float) -> str:
    """Four digits; what rounding has left of 0 is 0."""
    return f"{0.0 if abs(value) < NOTHING else value:.4g}"


PAGE = """# Scores

Mean returns over fixed seeds, summed over a team; of agents with the half width of the 95 % interval. "Idle" does
nothing: zeros, or the choice that does least. "Score" is the scale on which the random policy has 0 and the scripted
expert 1; "Bound" is a proven bound of the return of any policy. "Success" is the share of episodes (with several
agents, of agents) that the environment's page calls a success.
"Cost" is the mean cost of an agent's episode, and "Limit" the customary limit of it; of several costs, the one that is
highest beside its limit. A success marked *unsafe* was reached by breaking a limit, so it solves the environment only
where costs do not matter.

Agents play without exploration, on the seeds that their cards name. "Against" a scripted player: every seed is played
once from each team, and the returns of the policy's own team are summed over these games, for all policies of the row.

`rlenvs scores` prints this table from the cards, `rlenvs scores --write docs/scores.md` writes this page, and
`rlenvs scores --check` plays every agent again and fails where one has left its interval.

"""


def page() -> str:
    """The table as a page in Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *score_rows()]
    return PAGE + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
