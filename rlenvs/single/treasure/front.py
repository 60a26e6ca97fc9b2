"""The exact Pareto front of deep sea treasure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.treasure.maps import Map, load_map, parse_map, parse_start, treasures_in_reach

__all__ = ["pareto_front"]


def pareto_front(
    map: Map = "convex", gamma: float = 1.0, start: Sequence[int] | None = None, horizon: int = 100
) -> np.ndarray:
    """The returns of all Pareto-optimal deterministic policies of DeepSeaTreasure.

    Args:
        map, start, horizon: as for the environment.
        gamma: discount in (0, 1].

    Returns:
        float64 (points, 2), the nearest treasure first: a treasure of value v in n steps gives
        (v gamma^(n-1), -(1 + gamma + ... + gamma^(n-1))).

    Raises:
        ParameterError: a discount outside (0, 1], a horizon below 1, or a map or start that the environment refuses.
    """
    if not isinstance(gamma, (int, float, np.number)) or not 0.0 < gamma <= 1.0:
        raise ParameterError(f"gamma={gamma!r} must be a number in (0, 1]")
    if horizon < 1:
        raise ParameterError(f"horizon={horizon} must be a positive integer")
    try:
        grid, origin = load_map(parse_map(map), parse_start(start))
    except ValueError as error:
        raise ParameterError(str(error)) from None

    # Shortest paths are enough. One step more to the same treasure multiplies its worth by gamma <= 1 and takes another
    # gamma^n > 0 of time: worse in one objective and no better in the other, for every gamma in (0, 1]. For the same
    # reason an episode without a treasure loses to any with one, and counts only where the horizon allows no other.
    ways = sorted((steps, -grid[cell]) for cell, steps in treasures_in_reach(grid, origin).items() if steps <= horizon)
    points: list[tuple[float, float]] = []
    for steps, negative in ways:
        worth = -negative * gamma ** (steps - 1)
        if not points or worth > points[-1][0]:  # later than all before: it has to bring more than all before
            points.append((worth, -_time(steps, gamma)))
    return np.array(points or [(0.0, -_time(horizon, gamma))])


def _time(steps: int, gamma: float) -> float:
    return float(sum(gamma**i for i in range(steps)))
