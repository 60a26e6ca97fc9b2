"""Sets of vectors to maximize: which are nondominated, which are on the convex hull."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import MissingExtraError, ParameterError

__all__ = ["TooManyPointsError", "nondominated", "supported"]

TOLERANCE = 1e-9  # what differs by less is equal


class TooManyPointsError(ParameterError):
    """A front has more points than allowed; use `coverage_set`, which has few."""


def points_of(given: Any, name: str = "points") -> np.ndarray:
    """Finite float64 points (n, objectives).

    Raises:
        ParameterError: another shape, or a number that is not finite.
    """
    try:
        points = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} are rows of numbers (points, objectives), all of one length") from None
    if points.ndim != 2 or points.shape[1] < 1:
        raise ParameterError(f"{name} have the shape (points, objectives), not {points.shape}")
    if not np.isfinite(points).all():
        raise ParameterError(f"{name} must be finite")
    return points


def nondominated(points: Any, tolerance: float = TOLERANCE) -> np.ndarray:
    """Which points are nondominated: bool (n,). Of equal points only the first one counts.

    Args:
        points: (n, objectives), all to be maximized.
        tolerance: what differs by less is equal.
    """
    rows = points_of(points)
    if rows.shape[1] == 2:
        return _nondominated_pairs(rows, tolerance)
    kept = np.zeros(len(rows), bool)
    best = np.empty_like(rows)
    count = 0
    for i in np.argsort(-rows.sum(axis=1), kind="stable"):  # who dominates has the larger sum
        if not (best[:count] >= rows[i] - tolerance).all(axis=1).any():
            best[count] = rows[i]
            kept[i] = True
            count += 1
    return kept


def _nondominated_pairs(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """The same for two objectives, in one sweep from the largest first number down."""
    order = np.lexsort((-rows[:, 1], -rows[:, 0]))
    second = rows[order, 1]
    before = np.concatenate([[-np.inf], np.maximum.accumulate(second)[:-1]])
    kept = np.zeros(len(rows), bool)
    kept[order] = second > before + tolerance
    return kept


def supported(points: Any) -> np.ndarray:
    """Which points are optimal for some weights and not a mixture of others: bool (n,), the corners of the upper convex
    hull. Stochastic policies reach the hull, so with them all other points are dominated.

    Raises:
        MissingExtraError: SciPy is not installed, and there are more than two objectives.
    """
    rows = points_of(points)
    kept = np.flatnonzero(nondominated(rows))
    kept = kept[_corners_of_pairs(rows[kept])] if rows.shape[1] == 2 else kept[_corners(rows[kept])]
    found = np.zeros(len(rows), bool)
    found[kept] = True
    return found


def _corners_of_pairs(rows: np.ndarray) -> np.ndarray:
    """The corners of an upper hull in two objectives (Andrew's sweep)."""
    hull: list[int] = []
    for i in np.argsort(rows[:, 0]):
        while len(hull) > 1 and _turn(rows[hull[-2]], rows[hull[-1]], rows[i]) >= -TOLERANCE:
            hull.pop()
        hull.append(int(i))
    return np.array(sorted(hull), np.int64)


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Above 0 where b lies below the line from a to c."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _corners(rows: np.ndarray) -> np.ndarray:
    """By a linear program for each point: whether a mixture of those that are left is as good everywhere."""
    solved: Callable[..., Any] = linear_program()
    left = list(range(len(rows)))
    for i in range(len(rows)):
        others = [j for j in left if j != i]
        if others and _advantage(rows[i], rows[others], solved) <= TOLERANCE:
            left = others
    return np.array(left, np.int64)


def _advantage(point: np.ndarray, others: np.ndarray, solved: Callable[..., Any]) -> float:
    """By how much a point is better than all others under the weights that suit it most."""
    count = len(point)
    above = np.hstack([others - point, np.ones((len(others), 1))])  # w . other + x <= w . point
    found = solved(
        np.append(np.zeros(count), -1.0),
        A_ub=above,
        b_ub=np.zeros(len(others)),
        A_eq=[[*[1.0] * count, 0.0]],
        b_eq=[1.0],
        bounds=[*[(0.0, 1.0)] * count, (None, None)],
    )
    return float(-found.fun)


def linear_program() -> Callable[..., Any]:
    """SciPy's solver; MissingExtraError where it is not installed."""
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtraError("convex coverage sets", "exact") from None
    return linprog


def descending(values: Any) -> list[int]:
    """The order of vectors, largest first; differences by rounding alone decide nothing."""
    rounded = -np.round(np.asarray(values), 9)
    return sorted(range(len(rounded)), key=lambda i: tuple(rounded[i]))
