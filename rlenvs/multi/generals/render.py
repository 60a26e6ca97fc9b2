"""Images of the board: cells in the colors of their owners, armies as numbers, generals as crowns, cities as towers.

With a scripted opponent, and to a person who plays, the image shows what the player sees; otherwise, and when the game
is over, the whole board.
"""

from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas
from rlenvs.multi.generals.board import CITY, GENERAL, GENERALS, MOUNTAIN
from rlenvs.multi.generals.players import SELF

COLOURS = ("blue", "red", "green", "pink", "orange", "sky", "yellow", "black")
FOG, HIDDEN, ROCK, GROUND, WALLS = (176, 176, 170), (150, 150, 146), (112, 112, 108), (250, 249, 244), (128, 128, 128)
EDGE, LINES, TOWER = (58, 62, 68), (120, 120, 116), (70, 70, 70)
DARK_INK = ("yellow", "sky", "orange")
SMALLEST_NUMBER = 7  # pixels; smaller digits cannot be read
PANEL, MARGIN = 84, 0.15  # width of the scores in pixels; around the board, in cells


def slot_shown(p: Any, s: Any, viewer: int | None = None) -> int | None:
    """Through whose eyes the image is: the only agent's, else the viewer's; nobody's when the game is over."""
    return None if s.over else 0 if p.opponent != SELF else viewer


def in_sight(p: Any, s: Any, slot: int | None) -> np.ndarray:
    """The cells that a player sees, bool (cells,); all for nobody."""
    return np.ones(len(s.terrain), bool) if slot is None else np.asarray(s.seen[p.side[slot]]) > 0


def draw_board_image(canvas: Canvas, p: Any, s: Any, slot: int | None) -> None:
    """The board as a player sees it (nobody: all of it), and beside it the land and armies of all. The view is that of
    the board afterwards: a unit per cell, upwards from its lowest row."""
    canvas.caption(f"tick {int(s.elapsed)}, {'the whole board' if slot is None else f'as {GENERALS[slot]} sees it'}")
    canvas.legend(
        ("black", "general (crown)", "triangle"),
        (TOWER, "city"),
        (ROCK, "mountain", "triangle"),
        *([(FOG, "fog; ? hides a city or mountain")] if slot is not None else []),
        ("black", "last move", "line"),
    )
    height, width = int(s.height), int(s.width)
    sight = in_sight(p, s, slot)
    scene_width, scene_height = canvas.scene
    pixels = min((scene_width - PANEL) / (width + 2 * MARGIN), scene_height / (height + 2 * MARGIN))
    share = min((width + 2 * MARGIN) * pixels / scene_width, 1.0 - PANEL / scene_width)
    _draw_scores(canvas, s, share)
    along, across = 0.5 * scene_height / pixels, 0.5 * share * scene_width / pixels
    view = (width / 2 - across, width / 2 + across, height / 2 - along, height / 2 + along)
    canvas.view(*view, (0.0, 0.0, share, 1.0))
    canvas.rectangle(view[0], view[2], view[1], view[3], EDGE)
    for row in range(height):
        for column in range(width):
            _draw_cell(canvas, p, s, row, column, height, bool(sight[row * int(p.columns) + column]), pixels)
    for column in range(width + 1):
        canvas.line([(column, 0), (column, height)], LINES, 0.5)
    for row in range(height + 1):
        canvas.line([(0, row), (width, row)], LINES, 0.5)
    for k in range(len(s.home)):
        _draw_order(canvas, p, s, k, height, sight)


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
    size = min(round(0.48 * pixels), round(1.4 * pixels / len(str(army))), 20)
    if (army or owner) and size >= SMALLEST_NUMBER:
        ink = "black" if colour in (GROUND, *DARK_INK) and kind not in (CITY, GENERAL) else "white"
        canvas.text(centre, str(army), ink, size, "centre")


def _draw_crown(canvas: Canvas, x: float, y: float) -> None:
    tips = [(0.1, 0.1), (0.1, 0.85), (0.32, 0.6), (0.5, 0.92), (0.68, 0.6), (0.9, 0.85), (0.9, 0.1)]
    canvas.polygon([(x + dx, y + dy) for dx, dy in tips], "black")


def _draw_tower(canvas: Canvas, x: float, y: float) -> None:
    canvas.rectangle(x + 0.12, y + 0.1, x + 0.88, y + 0.68, TOWER)
    for left in (0.12, 0.4, 0.68):
        canvas.rectangle(x + left, y + 0.68, x + left + 0.2, y + 0.88, TOWER)


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
    canvas.arrow(start, end, "black", 3.0)
    canvas.arrow(start, end, "white", 1.5)


def _draw_scores(canvas: Canvas, s: Any, share: float) -> None:
    """A box per player right of the board: letter, land, army."""
    width, height = canvas.scene
    players, left = len(s.home), share * width
    tall = min(height / players, 92.0)
    canvas.view(0.0, width, 0.0, height)
    canvas.rectangle(left, 0.0, width, height, EDGE)
    middle = (left + width) / 2.0
    for k in range(players):
        top, colour = height - k * tall - 5.0, COLOURS[k]
        canvas.rectangle(left + 5.0, top - tall + 6.0, width - 5.0, top, colour, rounded=5.0)
        ink = "black" if colour in DARK_INK else "white"
        told = ["out"] if s.out[k] else [f"land {int(s.land[k])}", f"army {int(s.troops[k])}"]
        lines = [GENERALS[k], *told] if tall > 60.0 else [f"{GENERALS[k]}: {told[0]}", *told[1:]]
        for row, line in enumerate(lines):
            y = top - (row + 1) * (tall - 6.0) / (len(lines) + 1)
            canvas.text((middle, y), line, ink, 17 if len(line) == 1 else 13, "centre")


def text_board(p: Any, s: Any) -> str:
    """Rows of cells, four characters each: "#" mountain, "?" structure in the fog, "~" fog, "." open ground; owned
    cells as the player's letter and its army, small for land, capital for the general, and with "+" for a city; neutral
    cities as "+" and their army."""
    sight = in_sight(p, s, slot_shown(p, s))
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
