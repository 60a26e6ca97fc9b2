"""Grids given as letters: moves on them, their images, their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.kits.boards.drawing import draw_tile, view_board

LEFT, DOWN, RIGHT, UP = range(4)  # as in Gymnasium's toy text
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # rows and columns of these moves
KEYS = (("left", "a"), ("down", "s"), ("right", "d"), ("up", "w"))
MARGIN, SMALLEST_LETTER = 0.04, 8


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


def cells_text(letters: Sequence[str], row: int, column: int) -> str:
    """The grid in letters, with brackets around the cell of who walks on it."""
    lines = []
    for r, line in enumerate(letters):
        lines.append("".join(f"[{each}]" if (r, c) == (row, column) else f" {each} " for c, each in enumerate(line)))
    return "\n".join(lines)


def cell_of(number: Any, columns: int) -> tuple[int, int]:
    """Row and column of a state that is the number of a cell."""
    return divmod(int(number), columns)
