"""Evaluation of robustness over an uncertainty set: worst case, average and tail, with all worlds in parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.agents.evaluate import Policy, check_policy, episode_seeds, evaluate
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.inputs import positive
from rlenvs.core.declare.progress import progress
from rlenvs.wrappers.robustness import UncertaintySet, uncertainty_set

__all__ = ["Robustness", "evaluate_robustness"]

SIDE_BY_SIDE = 4096  # worlds in a batch


@dataclass(frozen=True)
class Robustness:
    """One episode per seed in each of C worlds of an uncertainty set.

    Attributes:
        names: the parameters, k. contexts: their values by world, float64 (C, k).
        seeds: int64 (S,), the same in every world.
        returns, costs: float64 (C, S). lengths: int64 (C, S). successes: float64 (C, S).
    """

    names: tuple[str, ...]
    contexts: np.ndarray
    seeds: np.ndarray
    returns: np.ndarray
    costs: np.ndarray
    lengths: np.ndarray
    successes: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """Mean return in each world, (C,)."""
        return self.returns.mean(axis=1)

    @property
    def average(self) -> float:
        """Mean of the worlds' mean returns."""
        return float(self.means.mean())

    @property
    def worst(self) -> float:
        """Smallest of the worlds' mean returns."""
        return float(self.means.min())

    @property
    def worst_context(self) -> dict[str, float]:
        """The parameters of the world with the smallest mean return (the first, if there are ties)."""
        return dict(zip(self.names, self.contexts[int(np.argmin(self.means))].tolist(), strict=True))

    def cvar(self, share: float = 0.1) -> float:
        """Conditional value at risk: mean of the worlds' mean returns over the worst `share` of the worlds, (0, 1].

        A world at the edge counts in part, so that 1 gives the average, and 1 / C and less the worst case.
        """
        if not 0.0 < share <= 1.0:
            raise ParameterError(f"share={share!r} must be within (0, 1]")
        ascending, count = np.sort(self.means), share * len(self.means)
        weights = np.clip(max(count, 1.0) - np.arange(len(ascending)), 0.0, 1.0)
        return float(weights @ ascending / weights.sum())

    def __str__(self) -> str:
        where = ", ".join(f"{name}={value:g}" for name, value in self.worst_context.items())
        return (
            f"worst {self.worst:.2f} ({where}), CVaR 10 % {self.cvar():.2f}, average {self.average:.2f} "
            f"({len(self.contexts)} worlds, {len(self.seeds)} seeds)"
        )


def evaluate_robustness(
    id: str,
    policy: Policy,
    set: UncertaintySet | Mapping[str, Sequence[float]] | str,
    points: int = 10,
    n_episodes: int = 10,
    *,
    seeds: int | Sequence[int] | None = None,
    samples: int | None = None,
    sample_seed: int = 0,
    **keywords: Any,
) -> Robustness:
    """Evaluate robustness: play one episode per seed at each point of a grid over an uncertainty set, or at random
    points of it.

    The protocol of RRLS (Zouitine et al., arXiv 2406.08406): `points` values per parameter, worst case and average of
    the mean returns. The grid has both ends of each range; the original's leaves out the upper ones.

    Args:
        id: the environment. policy: as for `evaluate`.
        set: an `UncertaintySet`, its ranges {name: (low, high)}, or the name of a published one ("rrls-ant-2").
        points: of the grid, per parameter; points ** k worlds.
        n_episodes: episodes in each world, on the seeds 0 ... n_episodes - 1.
        seeds: the seeds themselves, or their number; every world is played with the same ones.
        samples: worlds drawn uniformly from the set by `sample_seed`, in place of the grid.
        keywords: of `rlenvs.make_batch`.

    Raises:
        ParameterError: a parameter that the world does not have or a range wider than it allows, no worlds, no seeds.
    """
    region, chosen = uncertainty_set(set), episode_seeds(n_episodes, seeds)
    region.check(world_of(id))
    check_policy(world_of(id), policy)
    if {*region.names} & {*keywords}:
        raise ParameterError(f"{sorted({*region.names} & {*keywords})} are in the set, and keywords too; leave out one")
    contexts = region.grid(points) if samples is None else region.sample(positive("samples", samples), sample_seed)
    at_once = max(1, SIDE_BY_SIDE // len(chosen))
    parts = []
    with progress("worlds of the uncertainty set", total=len(contexts)) as tell:
        for start in range(0, len(contexts), at_once):
            some = contexts[start : start + at_once]
            own = {name: np.repeat(some[:, j], len(chosen)) for j, name in enumerate(region.names)}
            parts.append(evaluate(id, policy, seeds=chosen * len(some), **{**keywords, **own}))
            tell(start + len(some))

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts]).reshape(len(contexts), len(chosen))

    return Robustness(
        region.names, contexts, np.array(chosen), *map(column, ("returns", "costs", "lengths", "successes"))
    )
