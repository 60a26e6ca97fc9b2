"""Pictures of the board: cells in the colours of their owners, armies as numbers, generals as crowns, cities as towers.

With a scripted opponent the picture shows what the player sees; otherwise, and when the game is over, all of the board.
"""

from typing import Any

import numpy as np

from rlenvs.core.canvas import Canvas
from rlenvs.multi.generals.board import CITY, GENERAL, GENERALS, MOUNTAIN

COLOURS = ("blue", "red", "green", "pink", "orange", "sky", "yellow", "black")
FOG, HIDDEN, ROCK, GROUND, WALLS = (176, 176, 170), (150, 150, 146), (112, 112, 108), "white", (128, 128, 128)
SMALLEST_NUMBER = 7  # pixels; smaller digits cannot be read
SELF = 0


def seat_shown(p: Any, s: Any) -> int | None:
    """Through whose eyes the picture is: the only agent's, or nobody's."""
    return None if p.opponent == SELF or s.over else 0


def in_sight(p: Any, s: Any, seat: int | None) -> np.ndarray:
    """The cells that a player sees, bool (cells,); all for nobody."""
    return np.ones(len(s.terrain), bool) if seat is None else np.asarray(s.seen[p.side[seat]]) > 0


def draw_board_picture(canvas: Canvas, p: Any, s: Any, seat: int | None) -> None:
    """The board as a player sees it (nobody: all of it), and above it the tick, land and armies."""
    height, width = int(s.height), int(s.width)
    sight = in_sight(p, s, seat)
    canvas.view(-0.2, width + 0.2, -0.2, height + 0.2, (0.0, 0.09, 1.0, 1.0))
    pixels = 460.0 / max(height, width)
    for row in range(height):
        for column in range(width):
            _draw_cell(canvas, p, s, row, column, height, bool(sight[row * int(p.columns) + column]), pixels)
    for column in range(width + 1):
        canvas.line([(column, 0), (column, height)], "grey", 0.5)
    for row in range(height + 1):
        canvas.line([(0, row), (width, row)], "grey", 0.5)
    for k in range(len(s.home)):
        _draw_order(canvas, p, s, k, height, sight)
    canvas.view(0.0, 1.0, 0.0, 0.09, (0.0, 0.0, 1.0, 0.09))
    canvas.text((0.015, 0.045), f"tick {int(s.elapsed)}", "black", 15)
    _draw_scores(canvas, s)


def _draw_cell(canvas: Canvas, p: Any, s: Any, row: int, column: int, height: int, seen: bool, pixels: float) -> None:
    cell = row * int(p.columns) + column
    kind, owner, army = int(s.terrain[cell]), int(s.owner[cell]), int(s.army[cell])
    box = (column, height - row - 1, column + 1, height - row)
    centre = (column + 0.5, height - row - 0.5)
    structure = kind in (MOUNTAIN, CITY)
    if not seen:
        canvas.rectangle(*box, HIDDEN if structure else FOG)
        if structure:
            canvas.text(centre, "?", ROCK, min(round(0.45 * pixels), 22), "centre")
        return
    if kind == MOUNTAIN:
        canvas.rectangle(*box, "light")
        left, low = column, height - row - 1
        canvas.polygon([(left + 0.1, low + 0.15), (left + 0.5, low + 0.85), (left + 0.9, low + 0.15)], ROCK)
        return
    colour = COLOURS[owner - 1] if owner else GROUND
    canvas.rectangle(*box, WALLS if kind == CITY and not owner else colour)
    if kind == CITY:
        _draw_tower(canvas, column, height - row - 1)
    elif kind == GENERAL:
        _draw_crown(canvas, column, height - row - 1)
    size = min(round(0.36 * pixels), 20)
    if (army or owner) and size >= SMALLEST_NUMBER:
        ink = "black" if colour in (GROUND, "yellow", "sky", "orange") and kind != CITY else "white"
        canvas.text(centre, str(army), ink, min(size, round(0.9 * pixels / len(str(army)))), "centre")


def _draw_crown(canvas: Canvas, x: float, y: float) -> None:
    tips = [(0.1, 0.1), (0.1, 0.85), (0.32, 0.6), (0.5, 0.92), (0.68, 0.6), (0.9, 0.85), (0.9, 0.1)]
    canvas.polygon([(x + dx, y + dy) for dx, dy in tips], "black")


def _draw_tower(canvas: Canvas, x: float, y: float) -> None:
    canvas.rectangle(x + 0.12, y + 0.1, x + 0.88, y + 0.68, (70, 70, 70))
    for left in (0.12, 0.4, 0.68):
        canvas.rectangle(x + left, y + 0.68, x + left + 0.2, y + 0.88, (70, 70, 70))


def _draw_order(canvas: Canvas, p: Any, s: Any, k: int, height: int, sight: np.ndarray) -> None:
    """An arrow for the move of the last tick."""
    cells, order = len(s.terrain), int(s.orders[k]) - 1
    if order < 0 or order >= 8 * cells or s.kind[k] == 0:
        return
    cell = order % cells
    near = int(p.near[cell, order // cells % 4])
    if not sight[cell] and not sight[near]:
        return
    middles = [(c % int(p.columns) + 0.5, height - c // int(p.columns) - 0.5) for c in (cell, near)]
    (x0, y0), (x1, y1) = middles
    start, end = (x0 + 0.3 * (x1 - x0), y0 + 0.3 * (y1 - y0)), (x0 + 0.75 * (x1 - x0), y0 + 0.75 * (y1 - y0))
    canvas.arrow(start, end, "white", 1.5)


def _draw_scores(canvas: Canvas, s: Any) -> None:
    players = len(s.home)
    step = 0.82 / players
    for k in range(players):
        x = 0.17 + k * step
        canvas.rectangle(x, 0.015, x + step - 0.01, 0.075, COLOURS[k], rounded=0.01)
        ink = "black" if COLOURS[k] in ("yellow", "sky", "orange") else "white"
        told = "out" if s.out[k] else f"{int(s.land[k])} land   {int(s.troops[k])} army"
        if players > 3 and not s.out[k]:
            told = f"{int(s.land[k])} / {int(s.troops[k])}"
        canvas.text((x + (step - 0.01) / 2, 0.045), told, ink, 13, "centre")


def text_board(p: Any, s: Any) -> str:
    """Rows of cells, four characters each: "#" mountain, "?" structure in the fog, "~" fog, "." open ground; owned
    cells as the player's letter and its army, small for land, capital for the general, and with "+" for a city; neutral
    cities as "+" and their army."""
    sight = in_sight(p, s, seat_shown(p, s))
    rows = []
    for row in range(int(s.height)):
        cells = [row * int(p.columns) + column for column in range(int(s.width))]
        rows.append(" ".join(f"{_cell_text(s, cell, bool(sight[cell])):>4}" for cell in cells))
    return "\n".join(rows)


def _cell_text(s: Any, cell: int, seen: bool) -> str:
    kind, owner, army = int(s.terrain[cell]), int(s.owner[cell]), int(s.army[cell])
    if not seen:
        return "?" if kind in (MOUNTAIN, CITY) else "~"
    if kind == MOUNTAIN:
        return "#"
    if not owner:
        return f"+{army}" if kind == CITY else f".{army}" if army else "."
    letter = GENERALS[owner - 1]
    return f"{letter if kind == GENERAL else letter.lower()}{'+' if kind == CITY else ''}{army}"
