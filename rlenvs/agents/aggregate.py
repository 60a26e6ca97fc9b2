"""Comparison of algorithms over all environments with learning curves: interquartile means of final scores, and
probabilities of improvement (Agarwal et al., NeurIPS 2021).

The sample is environments. Seeds of one environment are no sample of their own: most environments have one. So an
environment counts once, with the mean over its seeds, and the intervals are those of another draw of environments:
percentiles of BOOTSTRAPS resamples of environments, without strata.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rlenvs.agents.card import normalized
from rlenvs.agents.curves import curves_of
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import MissingExtraError

__all__ = ["Estimate", "final_scores", "improvement", "interquartile_mean"]

CUT = 0.25  # of the environments, at each end
BOOTSTRAPS = 5000
Scores = Mapping[str, np.ndarray]  # of the seeds, by environment


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: the estimate. low, high: of the interval; NaN from one environment.
        environments: of which it is an estimate.
    """

    value: float
    low: float
    high: float
    environments: int


def final_scores() -> dict[str, dict[str, np.ndarray]]:
    """By algorithm and environment: scores (random 0, expert 1) of the last evaluation of every seed, float64 (seeds,).

    Of environments with curves of their defaults, and with an expert.

    Raises:
        RunError: a curve is damaged.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for row in documented():
        scores = world_of(row.id).scores
        if not {"random", "expert"} <= set(scores):
            continue
        for curve in curves_of(row.id):
            end = normalized(curve.columns["return"][-1], scores["random"].mean, scores["expert"].mean)
            if end is not None:
                found.setdefault(curve.algorithm, {}).setdefault(curve.id, []).append(end)
    return {algorithm: {id: np.array(values) for id, values in own.items()} for algorithm, own in sorted(found.items())}


def interquartile_mean(scores: Scores) -> Estimate:
    """The mean over the middle half of the environments (all, if fewer than four), each with the mean over its seeds.

    Args:
        scores: of the seeds, by environment; at least one.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    trim_mean = _stats().trim_mean
    means = np.array([values.mean() for values in scores.values()])
    return _estimate(means, lambda sample, axis: trim_mean(sample, CUT, axis=axis))


def improvement(scores: Scores, others: Scores) -> Estimate | None:
    """The probability that a run of one algorithm ends with a higher score than a run of another on the same
    environment.

    U / (n m) of the Mann-Whitney test on each environment, which counts equal scores as half; then the mean over the
    environments that both have.

    Args:
        scores, others: of the seeds, by environment.

    Returns:
        None without a common environment.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    test = _stats().mannwhitneyu
    common = [id for id in scores if id in others]
    each = [test(scores[id], others[id]).statistic / (len(scores[id]) * len(others[id])) for id in common]
    return _estimate(np.array(each), np.mean) if common else None


def _stats() -> Any:
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtraError("Comparing algorithms", "exact") from None
    return stats


def _estimate(sample: np.ndarray, statistic: Callable[..., Any]) -> Estimate:
    value = float(statistic(sample, axis=0))
    if len(sample) < 2:
        return Estimate(value, np.nan, np.nan, len(sample))
    generator = np.random.default_rng(0)
    found = _stats().bootstrap(
        (sample,), statistic, n_resamples=BOOTSTRAPS, method="percentile", random_state=generator
    )
    low, high = found.confidence_interval
    return Estimate(value, float(low), float(high), len(sample))


# --- tables -----------------------------------------------------------------------------------------------------------

HEAD = ("Algorithm", "Environments", "Runs", "Score", "95 % interval")
PAIRS_HEAD = ("Better", "Than", "Environments", "Probability", "95 % interval")


def score_rows(found: Mapping[str, Scores]) -> list[tuple[str, ...]]:
    """A row per algorithm."""
    return [
        (algorithm, *_cells(interquartile_mean(own), runs=sum(map(len, own.values()))))
        for algorithm, own in found.items()
    ]


def pair_rows(found: Mapping[str, Scores]) -> list[tuple[str, ...]]:
    """A row per pair of algorithms with a common environment, the one that is better more often in front."""
    rows = []
    for first, second in combinations(found, 2):
        estimate = improvement(found[first], found[second])
        if estimate is not None and estimate.value < 0.5:
            first, second, estimate = second, first, improvement(found[second], found[first])
        if estimate is not None:
            rows.append((first, second, *_cells(estimate)))
    return rows


def _cells(estimate: Estimate, runs: int | None = None) -> Sequence[str]:
    interval = "" if np.isnan(estimate.low) else f"{estimate.low:.2f} to {estimate.high:.2f}"
    counts = [str(estimate.environments)] + ([] if runs is None else [str(runs)])
    return [*counts, f"{estimate.value:.2f}", interval]
