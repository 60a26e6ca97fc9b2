"""Quality indicators of Pareto fronts. All objectives are maximized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.pareto.sets import nondominated, points_of

__all__ = ["cardinality", "expected_utility", "hypervolume", "igd_plus", "simplex_weights", "sparsity"]


def hypervolume(front: Any, reference: Sequence[float]) -> float:
    """The volume dominated by the points above a reference point.

    With two objectives the area is summed here, with more by moocore (Fonseca, Paquete and Lopez-Ibanez, CEC 2006).

    Args:
        front: (points, objectives), dominated points allowed.
        reference: (objectives,); points that do not exceed it in all objectives add nothing.

    Raises:
        ParameterError: another shape, or a number that is not finite.
        MissingExtraError: three objectives or more, without moocore.
    """
    points, corner = points_of(front), points_of([reference], "the reference")[0]
    if len(points) and points.shape[1] != len(corner):
        raise ParameterError(f"the points have {points.shape[1]} objectives, the reference has {len(corner)}")
    above = points[(points > corner).all(axis=1)] if len(points) else points
    if not len(above):
        return 0.0
    if len(corner) <= 2:
        return _area(above - corner)
    return float(_moocore("hypervolumes of three objectives or more").hypervolume(above, ref=corner, maximise=True))


def _area(points: np.ndarray) -> float:
    """The area, or the length, between points and the origin."""
    if points.shape[1] == 1:
        return float(points.max())
    area, height = 0.0, 0.0
    for x, y in sorted(points.tolist(), reverse=True):
        if y > height:
            area += x * (y - height)
            height = y
    return area


def igd_plus(front: Any, known: Any) -> float:
    """IGD+: the mean distance of the points of a known front from the region dominated by a front (Ishibuchi et al.,
    EMO 2015). 0 if the front reaches all of them; unlike with IGD, a better front never has a larger value. Computed by
    moocore.

    Raises:
        ParameterError: another shape, or no points. MissingExtraError: moocore is not installed.
    """
    points, target = points_of(front), points_of(known, "the known front")
    if not len(points) or not len(target) or points.shape[1] != target.shape[1]:
        raise ParameterError(f"needed: two fronts with the same objectives, not {points.shape} and {target.shape}")
    return float(_moocore("IGD+").igd_plus(points, ref=target, maximise=True))


def expected_utility(front: Any, weights: Any = 100) -> float:
    """EUM: expected utility metric, the mean over weights of the largest weighted sum of any point of the front
    (Zintgraf et al., 2015).

    Args:
        front: (points, objectives).
        weights: (n, objectives), or how many `simplex_weights` at least.
    """
    points = _some(front)
    rows = simplex_weights(points.shape[1], weights) if isinstance(weights, int) else points_of(weights, "weights")
    if rows.shape[1] != points.shape[1] or not len(rows):
        raise ParameterError(f"needed: weights of shape (n, {points.shape[1]}), not {rows.shape}")
    return float((rows @ points.T).max(axis=1).mean())


def simplex_weights(objectives: int, least: int = 100) -> np.ndarray:
    """Weights that sum to 1, equally spaced on the simplex (Das and Dennis, 1998): float64 (n >= least, objectives)."""
    if not isinstance(objectives, int) or objectives < 1 or not isinstance(least, int) or least < 1:
        raise ParameterError(f"objectives={objectives!r} and least={least!r} must be positive integers")
    parts = 1
    while objectives > 1 and _ways(objectives, parts) < least:
        parts += 1
    return np.array(list(_compositions(parts, objectives)), np.float64) / parts


def _ways(objectives: int, parts: int) -> int:
    from math import comb

    return comb(parts + objectives - 1, objectives - 1)


def _compositions(total: int, count: int) -> list[tuple[int, ...]]:
    if count == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _compositions(total - first, count - 1)]


def sparsity(front: Any) -> float:
    """The sum over objectives of the squared gaps between neighbors, divided by the number of gaps (Xu et al., ICML
    2020); 0 for a single point. A small front far from the true one may be less sparse, so do not optimize this
    measure."""
    points = points_of(front)
    points = points[nondominated(points)] if len(points) else points
    if len(points) < 2:
        return 0.0
    return float((np.diff(np.sort(points, axis=0), axis=0) ** 2).sum() / (len(points) - 1))


def cardinality(front: Any) -> int:
    """The number of nondominated points."""
    points = points_of(front)
    return int(nondominated(points).sum()) if len(points) else 0


def _some(front: Any) -> np.ndarray:
    points = points_of(front)
    if not len(points):
        raise ParameterError("the front is empty")
    return points


def _moocore(feature: str) -> Any:
    try:
        import moocore
    except ImportError:
        raise MissingExtraError(feature, "pareto") from None
    return moocore
