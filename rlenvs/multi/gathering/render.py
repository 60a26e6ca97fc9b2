"""Images of gathering worlds."""

import numpy as np

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.kits.boards.drawing import draw_letter, draw_table, draw_tile, view_board

GROUND: tuple[Color, Color] = ((232, 236, 222), (222, 228, 210))
RED, GREEN, BLUE = (214, 54, 64), (38, 156, 84), (42, 104, 214)
COLORS: tuple[Color, ...] = (RED, GREEN, BLUE)
SHADE, PALE = (70, 74, 80), (246, 240, 222)
LETTERS = "ABCDEFGH"
PLACES = ((0.0, 0.0), (-0.2, 0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, -0.2), (0.0, 0.25), (0.0, -0.25), (0.25, 0.0))


def draw_gathering(canvas: Canvas, ground: np.ndarray, positions: np.ndarray, thing: str) -> None:
    """The grid with items as gems and agents as discs with letters; agents on one cell are drawn smaller.

    Args:
        ground: by row and column, 0 for no item, else 1 + its color.
        positions: row and column, by agent.
        thing: what an item is called.
    """
    rows, columns = ground.shape
    canvas.legend(
        (RED, f"red {thing}"),
        (GREEN, f"green {thing}"),
        (BLUE, f"blue {thing}"),
        ("orange", "first agent", "disc"),
        (SHADE, "others", "ring"),
    )
    pixels = view_board(canvas, rows, columns)
    draw_table(canvas)
    for i in range(rows):
        for j in range(columns):
            draw_tile(canvas, i, j, GROUND[(i + j) % 2], 0.02)
            if ground[i, j]:
                _draw_gem(canvas, i, j, COLORS[int(ground[i, j]) - 1])
    cells = [tuple(place) for place in positions.tolist()]
    for cell in dict.fromkeys(cells):
        here = [k for k in range(len(cells)) if cells[k] == cell]
        for n, k in enumerate(here):
            _draw_agent(canvas, cell, k, PLACES[(n + (len(here) > 1)) % len(PLACES)], len(here), pixels)
    there = [int((ground == kind).sum()) for kind in (1, 2, 3)]
    canvas.caption(f"{there[0]} red, {there[1]} green, {there[2]} blue")


def gathering_text(ground: np.ndarray, positions: np.ndarray) -> str:
    """A line per row: "." no item, "r", "g", "b" items, and agents as letters, the first ones above others."""
    cells = np.array(list(".rgb"))[ground]
    for k in range(len(positions) - 1, -1, -1):
        cells[tuple(positions[k].tolist())] = LETTERS[k]
    return "\n".join("".join(row) for row in cells)


def _draw_gem(canvas: Canvas, row: int, column: int, color: Color) -> None:
    x, y = column + 0.5, -row - 0.5
    outline = [(x - 0.28, y + 0.06), (x - 0.15, y + 0.24), (x + 0.15, y + 0.24), (x + 0.28, y + 0.06), (x, y - 0.28)]
    canvas.polygon(outline, color)
    canvas.polygon([(x - 0.13, y + 0.06), (x - 0.07, y + 0.2), (x + 0.07, y + 0.2), (x + 0.13, y + 0.06)], "white")
    canvas.polygon(outline, SHADE, 1.5)


def _draw_agent(
    canvas: Canvas, cell: tuple[int, ...], k: int, shift: tuple[float, float], there: int, pixels: float
) -> None:
    row, column = cell[0] - shift[1], cell[1] + shift[0]
    radius = 0.36 if there == 1 else 0.22
    canvas.circle((column + 0.5, -row - 0.5), radius + 0.04, "white")
    canvas.circle((column + 0.5, -row - 0.5), radius, SHADE)
    canvas.circle((column + 0.5, -row - 0.5), radius * 0.8, "orange" if k == 0 else PALE)
    draw_letter(canvas, row, column, LETTERS[k], 1.1 * radius * pixels)
