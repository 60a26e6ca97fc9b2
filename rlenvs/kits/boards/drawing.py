"""Images of boards: cells of size 1, cell (row, column) with its upper left corner at (column, -row)."""

from __future__ import annotations

from collections.abc import Sequence

from rlenvs.core.declare.canvas import Canvas, Color

TABLE: Color = (212, 204, 190)
ARROWS = (("left", "a"), ("right", "d"), ("up", "w"), ("down", "s"))


def view_board(canvas: Canvas, rows: int, columns: int, around: float = 0.15) -> float:
    """Show rows x columns cells, centered. Returns how many pixels a cell takes."""
    wide, tall = canvas.scene
    half = 0.5 * max(columns + 2 * around, (rows + 2 * around) * wide / tall)
    middle, centre = 0.5 * columns, -0.5 * rows
    canvas.view(middle - half, middle + half, centre - half * tall / wide, centre + half * tall / wide)
    return 0.5 * wide / half


def draw_table(canvas: Canvas) -> None:
    """What a board lies on, as far as one sees."""
    canvas.rectangle(-100.0, -100.0, 100.0, 100.0, TABLE)


def draw_tile(
    canvas: Canvas, row: float, column: float, color: Color, margin: float = 0.03, rounded: float = 0.08
) -> None:
    """One cell."""
    edges = column + margin, -row - 1 + margin, column + 1 - margin, -row - margin
    canvas.rectangle(*edges, color, rounded=rounded)


def draw_letter(canvas: Canvas, row: float, column: float, text: str, size: float, color: Color = "black") -> None:
    """Text in the middle of a cell, `size` pixels high."""
    canvas.text((column + 0.5, -row - 0.5), text, color, max(round(size), 8), "centre")


def pressed_move(pressed: set[str], keys: Sequence[Sequence[str]] = ARROWS) -> int | None:
    """The action of the keys that are pressed, for `SPEC.keys`; None where there is none."""
    return next((action for action, names in enumerate(keys) if pressed.intersection(names)), None)


def cell_names(rows: int, columns: int) -> list[str]:
    """What the cells of a board are called, row by row, for actions that name one."""
    return [f"row {row + 1} column {column + 1}" for row in range(rows) for column in range(columns)]


def cell_places(rows: int, columns: int) -> list[list[tuple[float, float]]]:
    """The same cells in the image, for `SPEC.places`."""
    return [[(column + 0.5, -row - 0.5)] for row in range(rows) for column in range(columns)]
