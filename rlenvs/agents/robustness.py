"""Evaluation of robustness over an uncertainty set: worst case, average and tail, with all worlds in parallel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.agents.cluster import spread
from rlenvs.agents.evaluate import Evaluation, Policy, check_policy, episode_seeds, evaluate
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.inputs import positive
from rlenvs.core.declare.progress import progress
from rlenvs.wrappers.robustness import UncertaintySet, uncertainty_set

__all__ = ["Robustness", "evaluate_robustness"]

SIDE_BY_SIDE = 4096  # worlds in a batch
BOOTSTRAPS = 2000
INTERVALS = ("worst_interval", "average_interval")


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

    @property
    def average_interval(self) -> tuple[float, float]:
        """95 % interval of `average` over seeds, by bootstrap: (low, high); NaN for one seed."""
        return self._interval(lambda means: means.mean(axis=0))

    @property
    def worst_interval(self) -> tuple[float, float]:
        """95 % interval of `worst` over seeds, by bootstrap: (low, high); NaN for one seed."""
        return self._interval(lambda means: means.min(axis=0))

    def _interval(self, statistic: Callable[[np.ndarray], np.ndarray]) -> tuple[float, float]:
        """Of a statistic of means (worlds, resamples); a resample has the same seeds in every world."""
        count = len(self.seeds)
        if count < 2:
            return math.nan, math.nan
        times = np.random.default_rng(0).multinomial(count, [1.0 / count] * count, BOOTSTRAPS)
        low, high = np.percentile(statistic(self.returns @ times.T / count), (2.5, 97.5))
        return float(low), float(high)

    def cvar(self, share: float = 0.1) -> float:
        """Conditional value at risk: mean of the worlds' mean returns over the worst `share` of the worlds, (0, 1].

        A world at the edge counts in part, so that 1 gives the average, and 1 / C and less the worst case.
        """
        if not 0.0 < share <= 1.0:
            raise ParameterError(f"share={share!r} must be within (0, 1]")
        ascending, count = np.sort(self.means), share * len(self.means)
        weights = np.clip(max(count, 1.0) - np.arange(len(ascending)), 0.0, 1.0)
        return float(weights @ ascending / weights.sum())

    def to_dict(self) -> dict[str, Any]:
        """The result in JSON types, with the mean return in every world; numbers that do not exist are None."""
        intervals = {name: [None if math.isnan(end) else end for end in getattr(self, name)] for name in INTERVALS}
        return {
            "seeds": self.seeds.tolist(),
            "parameters": list(self.names),
            "worst": self.worst,
            "worst_context": self.worst_context,
            "cvar": self.cvar(),
            "average": self.average,
            **intervals,
            "contexts": self.contexts.tolist(),
            "means": self.means.tolist(),
        }

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
    endpoint: bool = True,
    ray: str | None = None,
    **keywords: Any,
) -> Robustness:
    """Evaluate robustness: play one episode per seed at each point of a grid over an uncertainty set, or at random
    points of it.

    The protocol of RRLS (Zouitine et al., arXiv 2406.08406): `points` values per parameter, worst case and average of
    the mean returns. `rlenvs.agents.rrls` is that benchmark.

    Args:
        id: the environment. policy: as for `evaluate`.
        set: an `UncertaintySet`, its ranges {name: (low, high)}, or the name of a published one ("rrls-ant-2").
        points: of the grid, per parameter; points ** k worlds.
        n_episodes: episodes in each world, on the seeds 0 ... n_episodes - 1.
        seeds: the seeds themselves, or their number; every world is played with the same ones.
        samples: worlds drawn uniformly from the set by `sample_seed`, in place of the grid.
        endpoint: whether the grid includes the upper end of each range; RRLS's own leaves it out.
        ray: the address of a Ray cluster, which computes the batches; see `rlenvs.agents.cluster`.
        keywords: of `rlenvs.make_batch`.

    Raises:
        ParameterError: a parameter that the world does not have or a range wider than it allows, no worlds, no seeds.
    """
    region, chosen = uncertainty_set(set), episode_seeds(n_episodes, seeds)
    region.check(world_of(id))
    contexts = (
        region.grid(points, endpoint) if samples is None else region.sample(positive("samples", samples), sample_seed)
    )
    return evaluate_worlds(id, policy, region.names, contexts, chosen, ray, keywords)


def evaluate_worlds(
    id: str,
    policy: Policy,
    names: tuple[str, ...],
    contexts: np.ndarray,
    seeds: list[int],
    ray: str | None,
    keywords: Mapping[str, Any],
) -> Robustness:
    """Play one episode per seed in each of some worlds; contexts: the values of their parameters, (C, k).

    Raises:
        ParameterError: a keyword that is one of the parameters.
    """
    check_policy(world_of(id), policy)
    if {*names} & {*keywords}:
        raise ParameterError(f"{sorted({*names} & {*keywords})} are in the set, and keywords too; leave out one")
    at_once = max(1, SIDE_BY_SIDE // len(seeds))
    some = [contexts[start : start + at_once] for start in range(0, len(contexts), at_once)]
    parts: list[Evaluation] = []
    with progress("worlds of the uncertainty set", total=len(contexts)) as tell:
        pieces = [(id, policy, names, part, seeds, keywords) for part in some]
        for found in spread(_evaluated, pieces, ray):
            parts.append(found)
            tell(sum(map(len, some[: len(parts)])))
    return joined(names, contexts, seeds, parts)


def joined(
    names: tuple[str, ...], contexts: np.ndarray, seeds: Sequence[int], parts: Sequence[Evaluation]
) -> Robustness:
    """The evaluations of some worlds after each other, the seeds of a world one after the other."""

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts]).reshape(len(contexts), len(seeds))

    return Robustness(names, contexts, np.array(seeds), *map(column, ("returns", "costs", "lengths", "successes")))


def _evaluated(
    id: str, policy: Policy, names: Sequence[str], contexts: np.ndarray, seeds: list[int], keywords: Mapping[str, Any]
) -> Evaluation:
    """One batch: every seed in each of some worlds, the seeds of a world one after the other."""
    own = {name: np.repeat(contexts[:, j], len(seeds)) for j, name in enumerate(names)}
    return evaluate(id, policy, seeds=seeds * len(contexts), **{**keywords, **own})
