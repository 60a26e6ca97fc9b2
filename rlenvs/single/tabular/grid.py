"""Grids given as letters: moves on them, their images, their texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.kits.boards.drawing import draw_tile, view_board

LEFT, DOWN, RIGHT, UP = range(4)  # as in Gymnasium's toy text
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # rows and columns of these moves
KEYS = (("left", "a"), ("down", "s"), ("right", "d"), ("up", "w"))
MARGIN, SMALLEST_LETTER = 0.04, 8
EDGE = (1.0, 0.86, 0.98, 0.84, 1.0, 0.92, 0.85, 1.0, 0.88, 0.96, 0.84)  # of a hole, from its middle


def moved(row: int, column: int, step: tuple[int, int], rows: int, columns: int) -> tuple[int, int]:
    """The cell after a step; at the border one stays."""
    return min(max(row + step[0], 0), rows - 1), min(max(column + step[1], 0), columns - 1)


def draw_cells(canvas: Canvas, letters: Sequence[str], colors: Mapping[str, Color]) -> None:
    """The cells of a grid, in the color of their letter."""
    view_board(canvas, len(letters), len(letters[0]))
    for row, line in enumerate(letters):
        for column, letter in enumerate(line):
            draw_tile(canvas, row, column, colors[letter], MARGIN)


def draw_walker(canvas: Canvas, row: float, column: float, color: Color = "blue") -> None:
    """Who walks on the grid."""
    x, y = column + 0.5, -row - 0.5
    canvas.circle((x, y), 0.3, "white")
    canvas.circle((x, y), 0.26, color)
    for side in (-0.09, 0.09):
        canvas.circle((x + side, y + 0.06), 0.045, "white")


def draw_flag(canvas: Canvas, row: float, column: float, color: Color = "white", size: float = 1.0) -> None:
    """The flag of a goal, in the middle of its cell."""
    x, y = column + 0.5 - 0.14 * size, -row - 0.5 - 0.3 * size
    canvas.line([(x, y), (x, y + 0.6 * size)], color, 3.0)
    canvas.polygon([(x, y + 0.6 * size), (x + 0.38 * size, y + 0.44 * size), (x, y + 0.28 * size)], color)


def draw_hole(canvas: Canvas, row: float, column: float, water: Color, rim: Color) -> None:
    """A hole with broken edges in the ground of a cell."""
    for size, color in ((0.42, rim), (0.36, water)):
        points = []
        for k, part in enumerate(EDGE):
            angle = 2.0 * math.pi * k / len(EDGE)
            points.append((column + 0.5 + size * part * math.cos(angle), -row - 0.5 + size * part * math.sin(angle)))
        canvas.polygon(points, color)
    canvas.line([(column + 0.34, -row - 0.5), (column + 0.52, -row - 0.5)], rim, 2.0)
    canvas.line([(column + 0.46, -row - 0.62), (column + 0.66, -row - 0.62)], rim, 2.0)


def cells_text(letters: Sequence[str], row: int, column: int) -> str:
    """The grid in letters, with brackets around the cell of who walks on it."""
    lines = []
    for r, line in enumerate(letters):
        lines.append("".join(f"[{each}]" if (r, c) == (row, column) else f" {each} " for c, each in enumerate(line)))
    return "\n".join(lines)


def cell_of(number: Any, columns: int) -> tuple[int, int]:
    """Row and column of a state that is the number of a cell."""
    return divmod(int(number), columns)
