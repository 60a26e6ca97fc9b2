"""The benchmark RRLS (Zouitine et al., arXiv 2406.08406): worst case and average over grids of bodies.

Every set of `RRLS_SETS`, of one, two or three parameters, is a grid of 10, 100 or 1000 bodies of one robot. A policy
plays the same seeds with each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.agents.agent import Agent
from rlenvs.agents.evaluate import Policy
from rlenvs.agents.robustness import Robustness, evaluate_robustness
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.wrappers.robustness import RRLS_SETS

__all__ = ["HEAD", "RrlsScore", "robot_of", "rrls", "score_rows"]

ROBOTS = {
    "ant": "Ant-v0",
    "half-cheetah": "HalfCheetah-v0",
    "hopper": "Hopper-v0",
    "humanoid-standup": "HumanoidStandup-v0",
    "inverted-pendulum": "InvertedPendulum-v0",
    "walker2d": "Walker2d-v0",
}


def robot_of(set: str) -> str:
    """The id of the robot of a set, such as "Ant-v0" of "rrls-ant-2"."""
    return ROBOTS[set.removeprefix("rrls-").rpartition("-")[0]]


@dataclass(frozen=True)
class RrlsScore:
    """What a policy is worth on a set.

    Attributes:
        set: its name. policy: its name. found: its returns in all bodies.
    """

    set: str
    policy: str
    found: Robustness

    def to_dict(self) -> dict[str, Any]:
        """The score in JSON types, with the mean return in every body."""
        return {"set": self.set, "id": robot_of(self.set), "policy": self.policy, **self.found.to_dict()}


def rrls(
    set: str,
    policies: Mapping[str, Policy],
    n_episodes: int = 10,
    points: int = 10,
    compat: str = "none",
    ray: str | None = None,
    **keywords: Any,
) -> list[RrlsScore]:
    """Play policies on one of RRLS's sets.

    Args:
        set: a key of `RRLS_SETS`, such as "rrls-hopper-2".
        policies: by name, as for `rlenvs.evaluate`; an agent has to fit the robot.
        n_episodes: episodes in each body, on the seeds 0 ... n_episodes - 1.
        points: of the grid, per parameter.
        compat: "rrls": the robots of RRLS (their option `compat`) and its grids, which leave out the upper ends.
        ray: the address of a Ray cluster; see `rlenvs.agents.cluster`.
        keywords: of `rlenvs.make_batch`.

    Raises:
        UnknownNameError: no such set. ParameterError: an agent of another robot, no episodes.
    """
    id = robot_of(checked_set(set))
    scores = []
    for name, policy in policies.items():
        if isinstance(policy, Agent) and world_of(policy.card.id).name != id:
            raise ParameterError(f"{name} is an agent for {policy.card.id}, and {set} is of {id}")
        own = {**(policy.card.keywords if isinstance(policy, Agent) else {}), **keywords}
        found = evaluate_robustness(
            id, policy, set, points, n_episodes, endpoint=compat != "rrls", ray=ray, **own, compat=compat
        )
        scores.append(RrlsScore(set, name, found))
    return scores


def checked_set(name: str) -> str:
    """The key of `RRLS_SETS`, from "rrls-hopper-2" or "hopper-2"; UnknownNameError where there is none."""
    full = name if name.startswith("rrls-") else f"rrls-{name}"
    if full not in RRLS_SETS:
        raise UnknownNameError(f"RRLS has no set {name!r}. {nearest(full, RRLS_SETS)}")
    return full


# --- tables -----------------------------------------------------------------------------------------------------------

HEAD = ("Set", "Policy", "Worst", "95 % interval", "In the body", "CVaR 10 %", "Average", "95 % interval ")


def score_rows(scores: Sequence[RrlsScore]) -> list[tuple[str, ...]]:
    """A row for each score; behind those of several policies on one set their mean, with its interval over policies."""
    rows = []
    for name in dict.fromkeys(score.set for score in scores):
        own = [score for score in scores if score.set == name]
        rows += [_row(score) for score in own]
        if len(own) > 1:
            rows.append(_mean_row(own))
    return rows


def _row(score: RrlsScore) -> tuple[str, ...]:
    found = score.found
    where = ", ".join(f"{name} {value:.3g}" for name, value in found.worst_context.items())
    worst, average = _interval(*found.worst_interval), _interval(*found.average_interval)
    numbers = f"{found.worst:.4g}", worst, where, f"{found.cvar():.4g}", f"{found.average:.4g}", average
    return (score.set, score.policy, *numbers)


def _mean_row(scores: Sequence[RrlsScore]) -> tuple[str, ...]:
    worst, cvar, average = (
        np.array([numbers(score.found) for score in scores])
        for numbers in (lambda found: found.worst, Robustness.cvar, lambda found: found.average)
    )
    ends = [_interval(*_normal(values)) for values in (worst, average)]
    numbers = f"{worst.mean():.4g}", ends[0], "", f"{cvar.mean():.4g}", f"{average.mean():.4g}", ends[1]
    return (scores[0].set, f"mean of {len(scores)}", *numbers)


def _normal(values: np.ndarray) -> tuple[float, float]:
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f"{low:.4g} to {high:.4g}"
