"""Scores of agents, compared with random actions and the scripted expert, and their verification by replay."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rlenvs.agents.agent import Agent
from rlenvs.agents.card import AgentScore, normalized
from rlenvs.agents.cluster import spread
from rlenvs.agents.evaluate import POLICIES, Evaluation, Policy, evaluate, opponent
from rlenvs.agents.files import is_id, load_agent
from rlenvs.agents.store import (
    read_card,
    title,
)
from rlenvs.core.batch.loops import cores
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.catalogue.score_cells import cost_cells, success_cell
from rlenvs.core.declare.errors import MissingExtraError, NoAgentError, ParameterError, RlenvsError
from rlenvs.core.declare.setup import Setup

__all__ = ["measure", "replay_agent"]

SEEDS = 100
ROUNDING = 1e-4  # of a return, relatively: where every seed gives the same, other arithmetic still changes digits
ALIKE = 0.05  # of what is above random actions: where episodes begin alike, their spread hides what digits grow to
ALL_HOLD = 2.12  # 95 % half widths for the 3e-5 level: 300 agents all hold on another machine in 99 of 100 checks
CHECKED_STEPS, CHECKED_SEEDS = 5000, (5, 50)  # of an agent in a check: about so many steps, on so many seeds
MOST_PER_PROCESS = 20  # agents, after which a process is replaced by a new one: compiled code stays in its memory


def find_agent(
    source: str, keywords: dict[str, Any], algorithm: str | None = None
) -> tuple[str, Agent, dict[str, Any]]:
    """The agent in a file, or the reference agent of an id; its environment; its card's keywords with others on top.

    Raises:
        as `load_agent` does.
    """
    agent = load_agent(source, level=keywords.get("level") if is_id(source) else None, algorithm=algorithm)
    return agent.card.id, agent, {**agent.card.keywords, **keywords}


def find_agent_or_reason(
    source: str, keywords: dict[str, Any], algorithm: str | None = None
) -> tuple[str, Agent | None, dict[str, Any], str]:
    """As `find_agent`; an environment without a reference agent, or with keywords that do not fit it, gives the reason
    in place of the agent."""
    try:
        id, agent, chosen = find_agent(source, keywords, algorithm)
        agent.check(Setup(world_of(id), **chosen), "the reference agent" if is_id(source) else "the agent")
    except (NoAgentError, ParameterError) as reason:
        if not is_id(source):
            raise
        Setup(world_of(source), **keywords)  # keywords that are wrong anyway
        return entry(source).id, None, keywords, f"No agent: {reason}"
    return id, agent, chosen, ""


def return_cell(row: Evaluation) -> str:
    """A mean return, with the half width of its interval where there are several episodes."""
    width = f" ± {row.half_width:.2g}" if math.isfinite(row.half_width) else ""
    return f"{row.mean:.4g}{width}"


def comparison_rows(found: Mapping[str, Evaluation], succeeds: bool = True) -> list[tuple[str, ...]]:
    """Name, mean return, score on the scale from random to expert, success, cost, limit and length of each policy.

    Of several costs it is the one that is highest beside its limit. Where a limit is broken the success says so.
    `succeeds` says whether the world defines success; otherwise the rate is left out.
    """
    chance, expert = found["random"].mean, found["expert"].mean if "expert" in found else None
    rows: list[tuple[str, ...]] = []
    for name, row in found.items():
        scale = normalized(row.mean, chance, expert)
        worst, limit, safe = cost_cells(row.mean_costs, row.limits)
        scaled = "" if scale is None else f"{scale:.3f}"
        success = success_cell(row.success_rate if succeeds else None, safe)
        rows.append((name, return_cell(row), scaled, success, worst, limit, f"{row.mean_length:.1f}"))
    return rows


def compare(
    id: str,
    agent: Policy | None,
    seeds: int | Sequence[int] = SEEDS,
    against: str | None = None,
    ray: str | None = None,
    **keywords: Any,
) -> dict[str, Evaluation]:
    """An agent, the random policy, doing nothing and the scripted expert (where there is one), on the same seeds.

    Args:
        id: the environment.
        agent: any policy that `rlenvs.evaluate` takes; None for the others alone.
        seeds, against, keywords: as for `rlenvs.evaluate`; where teams play against each other, `against` is the
            world's first scripted player by default.
        ray: the address of a Ray cluster, which plays each policy; see `rlenvs.agents.cluster`.

    Returns:
        evaluations of "random", "idle", "expert" and "agent".
    """
    against = against or opponent(id, keywords)
    policies: dict[str, Policy] = {name: name for name in POLICIES if name != "expert" or world_of(id).has_expert}
    if agent is not None:
        policies["agent"] = agent
    play = partial(_evaluated, id, seeds, against, keywords)
    found = spread(play, [(policy,) for policy in policies.values()], ray)
    return dict(zip(policies, found, strict=True))


def _evaluated(
    id: str, seeds: int | Sequence[int], against: str | None, keywords: Mapping[str, Any], policy: Policy
) -> Evaluation:
    return evaluate(id, policy, seeds=seeds, against=against, **keywords)


def measure(agent: Agent, seeds: int = SEEDS, first_seed: int = 0, against: str | None = None) -> AgentScore:
    """Evaluate an agent for its card, with the keywords of its card.

    Args:
        agent: what plays.
        seeds: how many, at least 2; first_seed: the first of them.
        against: as for `compare`.

    Raises:
        ParameterError: fewer than two seeds.
    """
    if seeds < 2:
        raise ParameterError(f"seeds={seeds} must be at least 2, to compute a confidence interval")
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
        expert_success=found["expert"].success_rate if "expert" in found else None,
    )


# --- the regression test ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replayed:
    """A reference agent, played again on the seeds of its card.

    Attributes:
        name: of its files. learner: what its card says learnt it.
        mean: return now. expected: as its card says. half_width: of the interval around it.
        seeds: how many were played.
    """

    name: str
    learner: str
    mean: float
    expected: float
    half_width: float
    seeds: int

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "LEFT ITS INTERVAL"
        return (
            f"{self.name}, {self.learner}: {self.mean:.4g} over {self.seeds} seeds, "
            f"card {self.expected:.4g} ± {self.half_width:.2g}: {verdict}"
        )

    @property
    def holds(self) -> bool:
        """Whether the mean return lies within the interval."""
        return abs(self.mean - self.expected) <= self.half_width + ROUNDING * abs(self.expected)


def replay_agent(path: str | Path, seeds: int | None = None) -> Replayed:
    """Replay an agent on its card's seeds, or on the first few of them.

    Small differences of arithmetic (another processor, another number of threads) grow where there are contacts: the
    same seeds then give other episodes, and the replay is a second sample. So the two means are compared by the spread
    of both, at a level at which all reference agents hold together. With fewer seeds the replay counts as a mean over
    so few, with at least the spread of the card: four episodes alone show too little of it. Where all episodes begin
    alike there is no spread, while networks round otherwise for another number of worlds: a share of the return counts.

    Raises:
        ParameterError: the card has no score.
        AgentFileError: the files are no agent.
    """
    name, agent = title(Path(path)), load_agent(path)
    card, score = agent.card, agent.card.score
    if score is None:
        raise ParameterError(f"{name}: the card has no score")
    count = min(seeds or score.seeds, score.seeds)
    chosen = range(score.first_seed, score.first_seed + count)
    found = evaluate(card.id, agent, seeds=chosen, against=score.against, **card.keywords)
    own = score.half_width * math.sqrt(score.seeds / count)
    if count > 1:
        own = max(own, found.half_width)
    interval = ALL_HOLD * math.hypot(score.half_width, own)
    if world_of(card.id).same_start and score.random is not None:
        interval = max(interval, ALIKE * abs(score.mean - score.random))
    return Replayed(name, card.learner, found.mean, score.mean, interval, count)


def check_agents(stems: Sequence[Path], seeds: int | None = None, ray: str | None = None) -> Iterator[tuple[str, str]]:
    """Play agents again, as many at a time as there are processors.

    Args:
        stems: their files without ending.
        seeds: of each; by default few enough for about CHECKED_STEPS steps.
        ray: the address of a Ray cluster, whose nodes have the same files; see `rlenvs.agents.cluster`.

    Returns:
        for each agent, in their order, "holds", "broken" or "left out" (what it needs is not installed), and a line.
    """
    if ray is not None:
        yield from spread(_checked, [(stem, seeds) for stem in stems], ray)
        return
    play, processes = partial(_checked, seeds=seeds), min(cores(), len(stems))
    if processes < 2:
        yield from map(play, stems)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, maxtasksperchild=MOST_PER_PROCESS) as pool:
        yield from pool.imap(play, stems)


def _checked(stem: Path, seeds: int | None) -> tuple[str, str]:
    try:
        found = replay_agent(stem, seeds or _few_seeds(read_card(stem).score))
    except MissingExtraError as reason:
        return "left out", f"{title(stem)}: left out. {reason}"
    except RlenvsError as reason:
        return "broken", f"{title(stem)}: BROKEN. {reason}"
    return "holds" if found.holds else "broken", str(found)


def _few_seeds(score: AgentScore | None) -> int | None:
    """How many seeds a check plays: fewer of long episodes."""
    least, most = CHECKED_SEEDS
    return None if score is None else min(max(CHECKED_STEPS // max(round(score.length), 1), least), most)
