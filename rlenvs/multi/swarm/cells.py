"""Neighbor search: agents in the cells of a torus, each cell a linked list.

A cell is at least as wide as the radius, so the agents within it are in the same cell or in those around it. A square
with borders is searched as a torus too: what is near only across a border is dropped by its distance.
"""

import math
from typing import Any

from rlenvs.core import f8, i4, kernel, uniform

CELLS = {
    "first": i4("cells").index_of("agents", low=-1),  # of the agents in a cell; -1 for none
    "following": i4("agents").index_of("agents", low=-1),  # the next one; -1 at the end
    "near": i4("agents"),
    "sorted": f8(2),  # the side and the radius for which the lists are made
}


def cells_for(agents: int) -> int:
    """About one cell per agent."""
    return math.ceil(math.sqrt(agents)) ** 2


@kernel
def inside(p: Any, x: float) -> float:
    """The coordinate in [0, side] of a closed square that is the same."""
    return min(max(x - p.side * math.floor(x / p.side), 0.0), p.side)


@kernel
def scatter(p: Any, s: Any, rng: Any) -> None:
    """Agents at uniform places of a closed square."""
    for k in range(s.position.shape[0]):
        for axis in range(2):
            s.position[k, axis] = p.side * uniform(rng, 0.0, 1.0)


@kernel
def columns_of(p: Any, s: Any) -> int:
    """Cells along an axis that are in use: one, or at least three, so that a cell is not its own neighbor twice."""
    most = s.first.size if s.position.shape[1] == 1 else int(math.sqrt(s.first.size))
    columns = min(most, int(p.side / p.radius))
    return columns if columns >= 3 else 1


@kernel
def column_of(p: Any, x: float, columns: int) -> int:
    """The column, or row, of a coordinate."""
    return math.floor(x / p.side * columns) % columns


@kernel
def sort_into_cells(p: Any, s: Any) -> None:
    """Fill the lists with all agents where they are now."""
    columns, agents, dimensions = columns_of(p, s), s.position.shape[0], s.position.shape[1]
    s.sorted[0], s.sorted[1] = p.side, p.radius
    for cell in range(columns if dimensions == 1 else columns * columns):
        s.first[cell] = -1
    for k in range(agents):
        cell = column_of(p, s.position[k, 0], columns)
        if dimensions > 1:
            cell += column_of(p, s.position[k, 1], columns) * columns
        s.following[k] = s.first[cell]
        s.first[cell] = k


@kernel
def gap(p: Any, here: float, there: float, closed: int) -> float:
    """From one coordinate to another, the shorter way around where the sides are closed."""
    apart = there - here
    return apart - p.side * math.floor(apart / p.side + 0.5) if closed else apart


@kernel
def find_neighbors(p: Any, s: Any, k: int, closed: int) -> int:
    """Put the agents within `p.radius` of agent k into s.near, itself included. Returns how many.

    The lists are those of `sort_into_cells`, made again if parameters have changed since; `closed` says whether
    opposite sides of the square are the same.
    """
    if s.sorted[0] != p.side or s.sorted[1] != p.radius:
        sort_into_cells(p, s)
    columns, dimensions, count = columns_of(p, s), s.position.shape[1], 0
    aside = 1 if columns > 1 else 0
    down = aside if dimensions > 1 else 0
    column = column_of(p, s.position[k, 0], columns)
    row = column_of(p, s.position[k, 1], columns) if dimensions > 1 else 0
    for i in range(row - down, row + down + 1):
        for j in range(column - aside, column + aside + 1):
            n = s.first[(i % columns) * columns + j % columns]
            while n >= 0:
                x = gap(p, s.position[k, 0], s.position[n, 0], closed)
                square = x * x
                if dimensions > 1:
                    y = gap(p, s.position[k, 1], s.position[n, 1], closed)
                    square += y * y
                if square <= p.radius * p.radius:
                    s.near[count] = n
                    count += 1
                n = s.following[n]
    return count
