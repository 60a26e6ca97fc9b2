"""Maps of the sea: the published ones by name, or any grid of numbers.

A map is a float64 array (rows, columns), row 0 at the surface: 0 is water, -10 rock, a positive number a treasure.
Values and depths of the published maps: MO-Gymnasium 1.3, after Vamplew et al., "Empirical evaluation methods for
multiobjective reinforcement learning algorithms", Machine Learning 2011 (concave) and Yang et al., "A generalized
algorithm for multi-objective reinforcement learning and policy adaptation", NeurIPS 2019 (convex).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError

ROCK, WATER = -10.0, 0.0
RICHEST = 1000.0  # largest value of a treasure
LONGEST_SIDE = 1000
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right
Cell = tuple[int, int]
Map = str | Sequence[Sequence[float]]

DEPTHS = (1, 2, 3, 4, 4, 4, 7, 7, 9, 10)  # row of the sea floor by column
CONVEX = (0.7, 8.2, 11.5, 14.0, 15.1, 16.1, 19.6, 20.3, 22.4, 23.7)
CONCAVE = (1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 24.0, 50.0, 74.0, 124.0)


def _slope(values: Sequence[float]) -> np.ndarray:
    """Ten columns of a sea floor that falls to the right, with a value at the foot of each."""
    grid = np.full((11, 10), WATER)
    for column, (depth, value) in enumerate(zip(DEPTHS, values, strict=True)):
        grid[depth, column] = value
        grid[depth + 1 :, column] = ROCK
    return grid


def _published() -> dict[str, tuple[np.ndarray, Cell]]:
    open_water = np.full((11, 1), WATER)
    barren = np.fliplr(_slope([WATER] * 10))
    return {
        "convex": (np.hstack([_slope(CONVEX), open_water]), (0, 0)),
        "concave": (np.hstack([_slope(CONCAVE), open_water]), (0, 0)),
        "mirrored": (np.hstack([barren, _slope(CONCAVE)]), (0, 10)),
    }


PUBLISHED = _published()


def parse_map(given: Any) -> Map:
    """The name of a published map as it is, or a grid as a list of lists of floats.

    Raises:
        ValueError: an unknown name, rows of different lengths, or a number that a map cannot hold.
    """
    if isinstance(given, str):
        if given not in PUBLISHED:
            raise ValueError(
                f"{given!r} is not one of {', '.join(map(repr, PUBLISHED))}; or give a 2-D grid of numbers"
            )
        return given
    try:
        rows = [[float(value) for value in row] for row in given]
    except Exception:  # whatever a foreign object raises
        raise ValueError(f"a map is a name or a 2-D grid of numbers, not {given!r}") from None
    if not rows or not rows[0]:
        raise ValueError("the map is empty")
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"the rows of the map have different lengths: {[len(row) for row in rows]}")
    if max(len(rows), len(rows[0])) > LONGEST_SIDE:
        raise ValueError(f"a map of {len(rows)} x {len(rows[0])} is too large; at most {LONGEST_SIDE} x {LONGEST_SIDE}")
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if not (value in (WATER, ROCK) or 0.0 < value <= RICHEST):
                raise ValueError(
                    f"{value} at ({i}, {j}) is neither 0 (water), -10 (rock) nor a treasure in (0, {RICHEST:g}]"
                )
    return rows


def parse_start(given: Any) -> list[int] | None:
    """A cell (row, column), or None for the start that belongs to the map; ValueError for anything else."""
    if given is None:
        return None
    numbers = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if len(numbers) != 2 or any(isinstance(n, bool) or not isinstance(n, (int, np.integer)) for n in numbers):
        raise ValueError(f"a start is (row, column), two integers, or None, not {given!r}")
    return [int(n) for n in numbers]


def load_map(given: Map, start: Sequence[int] | None = None) -> tuple[np.ndarray, Cell]:
    """The grid and the start cell of a parsed map.

    Raises:
        ParameterError: the start is off the map or not in water, or no treasure can be reached from it.
    """
    if isinstance(given, str):
        grid, usual = PUBLISHED[given]
    else:
        grid, usual = np.array(given, np.float64), (0, 0)
    row, column = usual if start is None else start
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]):
        raise ParameterError(f"start=({row}, {column}) is outside the map of {grid.shape[0]} x {grid.shape[1]} cells")
    if grid[row, column] != WATER:
        kind = "rock" if grid[row, column] == ROCK else "a treasure"
        raise ParameterError(f"the start ({row}, {column}) is {kind}; choose start=(row, column) in water (0)")
    if not treasures_in_reach(grid, (row, column)):
        raise ParameterError(f"no treasure can be reached from the start ({row}, {column})")
    return grid, (row, column)


def neighbours(grid: np.ndarray, cell: Cell) -> Iterator[tuple[int, Cell]]:
    """The moves that are not blocked, each with the cell that it leads to."""
    for move, (down, right) in enumerate(MOVES):
        row, column = cell[0] + down, cell[1] + right
        if 0 <= row < grid.shape[0] and 0 <= column < grid.shape[1] and grid[row, column] != ROCK:
            yield move, (row, column)


def distances(grid: np.ndarray, sources: Iterable[Cell]) -> dict[Cell, int]:
    """Fewest moves between the sources and each cell in reach. No path leads on from a treasure: the episode ends."""
    found = dict.fromkeys(sources, 0)
    waiting = deque(found)
    while waiting:
        cell = waiting.popleft()
        if grid[cell] > WATER and found[cell] > 0:
            continue
        for _, beside in neighbours(grid, cell):
            if beside not in found:
                found[beside] = found[cell] + 1
                waiting.append(beside)
    return found


def treasures_in_reach(grid: np.ndarray, start: Cell) -> dict[Cell, int]:
    """Treasures that can be reached from the start, with the fewest moves to each."""
    return {cell: steps for cell, steps in distances(grid, [start]).items() if grid[cell] > WATER}
