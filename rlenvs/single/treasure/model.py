"""The sea as a transition table with a state for each cell, for exact solutions and for the front by dynamic
programming."""

from __future__ import annotations

from collections.abc import Sequence

from rlenvs.kits.tables.table import Table
from rlenvs.single.treasure.maps import MOVES, WATER, Map, load_map, neighbours


def table_of(given: Map, start: Sequence[int] | None, weights: Sequence[float]) -> Table:
    """All moves of a map, with (treasure, time) as reward; cells are numbered row by row."""
    grid, origin = load_map(given, start)
    rows, columns = grid.shape
    table = Table(rows * columns, len(MOVES), weights)
    table.starts[origin[0] * columns + origin[1]] = 1.0
    for row in range(rows):
        for column in range(columns):
            state = row * columns + column
            if grid[row, column] != WATER:  # where nobody is when a step begins
                table.stay(state)
                continue
            ways = dict(neighbours(grid, (row, column)))
            for move in range(len(MOVES)):
                to = ways.get(move, (row, column))
                value = max(float(grid[to]), 0.0)
                table.allowed[state, move] = move in ways
                table.add(state, move, to[0] * columns + to[1], (value, -1.0), end=value > 0.0)
    return table
