"""Neighbor search: entities in the cells of a square grid, each cell a linked list.

Entities are numbered: agents, then their goals, then obstacles. A cell is at least `reach` wide, so entities within
`reach` of a point are in its cell or in the eight around it. Points outside the square belong to the cell at its edge.
"""

import math
from typing import Any

from rlenvs.core import i4, kernel

CELLS = {
    "first": i4("cells").index_of("entities", low=-1),  # of the entities in a cell; -1 for none
    "following": i4("entities").index_of("entities", low=-1),  # the next one; -1 at the end
    "near": i4("entities"),  # scratch
}


def cells_along(entities: int) -> int:
    """Cells along an axis: about one per entity in all."""
    return max(1, math.ceil(math.sqrt(entities)))


@kernel
def place_of(s: Any, entity: int, axis: int) -> float:
    """A coordinate of an entity."""
    agents = s.position.shape[0]
    if entity < agents:
        return s.position[entity, axis]
    if entity < 2 * agents:
        return s.goal[entity - agents, axis]
    return s.obstacle[entity - 2 * agents, axis]


@kernel
def columns_of(p: Any, s: Any, reach: float) -> int:
    """Cells along an axis that are in use."""
    most = int(math.sqrt(s.first.size))
    return max(1, min(most, int(p.side / reach)))


@kernel
def column_of(p: Any, x: float, columns: int) -> int:
    """The column, or row, of a coordinate."""
    return min(max(math.floor((x / p.side + 0.5) * columns), 0), columns - 1)


@kernel
def empty_cells(p: Any, s: Any, reach: float) -> None:
    """No entity anywhere."""
    columns = columns_of(p, s, reach)
    for cell in range(columns * columns):
        s.first[cell] = -1


@kernel
def insert(p: Any, s: Any, entity: int, reach: float) -> None:
    """Put an entity into its cell."""
    columns = columns_of(p, s, reach)
    cell = column_of(p, place_of(s, entity, 1), columns) * columns + column_of(p, place_of(s, entity, 0), columns)
    s.following[entity] = s.first[cell]
    s.first[cell] = entity


@kernel
def sort_into_cells(p: Any, s: Any, reach: float) -> None:
    """Fill the lists with all entities where they are now."""
    empty_cells(p, s, reach)
    for entity in range(s.following.size):
        insert(p, s, entity, reach)


@kernel
def gather(p: Any, s: Any, x: float, y: float, reach: float) -> int:
    """Put the entities in the cells around a point into s.near. Returns how many."""
    columns, count = columns_of(p, s, reach), 0
    column, row = column_of(p, x, columns), column_of(p, y, columns)
    for down in range(max(row - 1, 0), min(row + 2, columns)):
        for across in range(max(column - 1, 0), min(column + 2, columns)):
            entity = s.first[down * columns + across]
            while entity >= 0:
                s.near[count] = entity
                count += 1
                entity = s.following[entity]
    return count
