"""Random terrain with rectangular obstacles, new in every episode, and which of its cells can be reached."""

from collections.abc import Sequence
from typing import Any

from rlenvs.core import below, i2, integer, kernel, u1
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.exploration.lidar import cell_at

SMALLEST_MAP, LARGEST_MAP = 5, 128
DOWN, RIGHT = (1, -1, 0, 0), (0, 0, 1, -1)  # the four moves: +row, -row, +column, -column

TERRAIN_OPTIONS = {
    "height": integer(21, SMALLEST_MAP, LARGEST_MAP, "rows of the map"),
    "width": integer(21, SMALLEST_MAP, LARGEST_MAP, "columns of the map"),
    "obstacles": integer(12, 0, 1024, "number of freely placed obstacles"),
    "lattice_rows": integer(0, 0, 32, "rows of a lattice of obstacles; 0 places them freely"),
    "lattice_columns": integer(0, 0, 32, "columns of a lattice of obstacles; 0 places them freely"),
    "noise": integer(0, 0, 16, "on a lattice: an obstacle is moved by -noise to noise - 1 cells along each axis"),
    "row_margin": integer(1, 0, 32, "rows at the border without obstacles"),
    "column_margin": integer(1, 0, 32, "columns at the border without obstacles"),
    "smallest_obstacle": integer(2, 1, 16, "shortest side of an obstacle; on a lattice it is 1"),
    "largest_obstacle": integer(2, 1, 16, "longest side of an obstacle; on a lattice the longest is one less"),
}
TERRAIN_STATE = {
    "obstacle": u1("area").within(0, 1),  # in the padding, that of the cell's home
    "reachable": u1("area"),  # free cells that the rover can get to
    "queue": i2("area"),  # scratch
}


def parse_cell(given: Any) -> list[int]:
    """A cell as row and column; ValueError where it is none."""
    cell = [int(number) for number in given]
    if len(cell) != 2 or min(cell) < 0 or any(number != whole for number, whole in zip(given, cell, strict=True)):
        raise ValueError(f"needed: a row and a column, two integers of at least 0, not {given!r}")
    return cell


def check_terrain(values: Any, initial: Sequence[int]) -> None:
    """ParameterError where there is no such terrain."""
    for side, margin in (("height", "row_margin"), ("width", "column_margin")):
        length, free = getattr(values, side), getattr(values, margin)
        if length - 2 - 2 * free < 1:
            raise ParameterError(f"{margin}={free} leaves no room for obstacles: {side}={length}; make it smaller")
    if values.smallest_obstacle > values.largest_obstacle:
        raise ParameterError(
            f"smallest_obstacle={values.smallest_obstacle} is above largest_obstacle={values.largest_obstacle}"
        )
    row, column = initial
    if row >= values.height or column >= values.width:
        raise ParameterError(f"initial={list(initial)} is outside the map of {values.height} x {values.width} cells")


@kernel
def put_rectangle(p, s, height, width, row, column, tall, wide):
    """An obstacle, cut off at the border."""
    for i in range(row, min(row + tall, height)):
        first = cell_at(p, i, column)
        for j in range(min(wide, width - column)):
            s.obstacle[first + j] = 1


@kernel
def lattice_place(number, count, margin, length):
    """The place of one of `count` obstacles, evenly spaced from margin to length - 1 - margin."""
    if count == 1:
        return margin
    return margin + (number * (length - 1 - 2 * margin)) // (count - 1)


@kernel
def make_terrain(p, s, rng):
    """Draw the obstacles."""
    height, width = p.height, p.width
    rows, columns = p.lattice_rows, p.lattice_columns
    if rows == 0 or columns == 0:
        sides = p.largest_obstacle - p.smallest_obstacle + 1
        for _ in range(p.obstacles):
            row = p.row_margin + below(rng, height - 1 - 2 * p.row_margin)
            column = p.column_margin + below(rng, width - 1 - 2 * p.column_margin)
            tall, wide = p.smallest_obstacle + below(rng, sides), p.smallest_obstacle + below(rng, sides)
            put_rectangle(p, s, height, width, row, column, tall, wide)
        return
    sides = max(p.largest_obstacle - 1, 1)
    for i in range(rows):
        for j in range(columns):
            row = lattice_place(i, rows, p.row_margin, height)
            column = lattice_place(j, columns, p.column_margin, width)
            if p.noise > 0:
                row = min(max(row - p.noise + below(rng, 2 * p.noise), 0), height - 1)
                column = min(max(column - p.noise + below(rng, 2 * p.noise), 0), width - 1)
            tall, wide = 1 + below(rng, sides), 1 + below(rng, sides)
            put_rectangle(p, s, height, width, row, column, tall, wide)


@kernel
def fill_padding(p, s):
    """The padding shows what its homes hold."""
    obstacle, home = s.obstacle, p.home
    for cell in range(home.size):
        obstacle[cell] = obstacle[home[cell]]


@kernel
def find_reachable(p, s, start):
    """Mark the free cells that can be reached from a cell, by flood fill; returns how many there are."""
    obstacle, reachable, queue, home = s.obstacle, s.reachable, s.queue, p.home
    reachable[start] = 1
    queue[0] = start
    head, count = 0, 1
    while head < count:
        cell = queue[head]
        head += 1
        for move in range(4):
            near = cell + DOWN[move] * p.stride + RIGHT[move]
            if home[near] == near and not obstacle[near] and not reachable[near]:
                reachable[near] = 1
                queue[count] = near
                count += 1
    return count
