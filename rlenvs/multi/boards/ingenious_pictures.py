"""Images of Ingenious: the board of hexes, the rack of the player to move, and all scores."""

import math
from collections.abc import Sequence
from typing import Any

from rlenvs.core.declare.canvas import Canvas

INKS = ((206, 60, 52), (232, 132, 36), (240, 206, 60), (62, 158, 84), (48, 116, 196), (140, 84, 178))
BOARD, FREE, EDGE, PANEL, TRACK = (46, 50, 60), (222, 220, 212), (176, 174, 166), (236, 236, 232), (206, 206, 200)
SHARE = 0.74  # of the scene's width that the board takes
WIDE = math.sqrt(3.0)
SLOT = 3.9  # of the rack: its width in sides of a hex


def middle_of(place: tuple[int, int]) -> tuple[float, float]:
    """Where a hex lies in the image, by its row and column of slanted axes."""
    row, column = place
    return WIDE * (column + 0.5 * row), -1.5 * row


def draw_hex(canvas: Canvas, centre: tuple[float, float], size: float, color: Any) -> None:
    x, y = centre
    angles = [math.radians(60 * i + 30) for i in range(6)]
    canvas.polygon([(x + size * math.cos(angle), y + size * math.sin(angle)) for angle in angles], color)


def draw_symbol(canvas: Canvas, centre: tuple[float, float], size: float, color: int) -> None:
    """A color as a figure of its own, for eyes that see some alike."""
    x, y = centre
    if color == 0:
        canvas.circle(centre, 0.8 * size, "white")
    elif color == 1:
        canvas.polygon([(x, y + size), (x + size, y), (x, y - size), (x - size, y)], "white")
    elif color == 2:
        points = [(size * (1.0 if i % 2 == 0 else 0.45), math.radians(36 * i + 90)) for i in range(10)]
        canvas.polygon([(x + d * math.cos(angle), y + d * math.sin(angle)) for d, angle in points], "white")
    elif color == 3:
        canvas.polygon([(x - size, y - 0.7 * size), (x + size, y - 0.7 * size), (x, y + size)], "white")
    elif color == 4:
        canvas.circle(centre, 0.85 * size, "white", 2.5)
    else:
        canvas.rectangle(x - 0.7 * size, y - 0.7 * size, x + 0.7 * size, y + 0.7 * size, "white")


def draw_colored(canvas: Canvas, centre: tuple[float, float], color: int) -> None:
    draw_hex(canvas, centre, 0.98, tuple(round(0.75 * part) for part in INKS[color]))
    draw_hex(canvas, centre, 0.86, INKS[color])
    draw_symbol(canvas, centre, 0.38, color)


def view_hexes(canvas: Canvas, side: int) -> float:
    """Show the board with so many hexes along an edge. Returns how far its corners are from the middle."""
    outline = WIDE * (side - 1) + 1.5
    canvas.view(-outline - 0.3, outline + 0.3, -1.5 * side, 1.5 * side, (0.0, 0.0, SHARE, 0.82))
    return outline


def draw_board(canvas: Canvas, p: Any, s: Any, cells: Sequence[tuple[int, int]]) -> None:
    """The hexes with their colors, and a line through the last tile."""
    outline = view_hexes(canvas, 1 + max(row for row, _ in cells))
    angles = [math.radians(60 * i) for i in range(6)]
    canvas.polygon([(outline * math.cos(angle), outline * math.sin(angle)) for angle in angles], BOARD)
    for cell, place in enumerate(cells):
        color = int(s.cell[cell]) - 1
        if color < 0:
            draw_hex(canvas, middle_of(place), 0.94, EDGE)
            draw_hex(canvas, middle_of(place), 0.86, FREE)
        else:
            draw_colored(canvas, middle_of(place), color)
    if s.last >= 0:
        ends = [middle_of(cells[int(cell)]) for cell in p.place[int(s.last)]]
        canvas.line(ends, "white", 3.0)
        canvas.line(ends, "black", 1.0)


def draw_rack(canvas: Canvas, s: Any) -> None:
    """The tiles of the player who is to move, below the board."""
    k = max(int(s.turn), 0)
    canvas.view(-0.6, s.rack.shape[1] * SLOT + 0.6, -1.5, 1.5, (0.0, 0.84, SHARE, 1.0))
    canvas.rectangle(-0.4, -1.35, s.rack.shape[1] * SLOT + 0.4, 1.35, PANEL, rounded=0.3)
    for slot in range(s.rack.shape[1]):
        for half in range(2):
            color = int(s.rack[k, slot, half])
            if color >= 0:
                draw_colored(canvas, (slot * SLOT + 1.1 + WIDE * half, 0.0), color)


def draw_scores(canvas: Canvas, s: Any, colors: int, most: int) -> None:
    """A row of bars for each player, as long as its scores in the colors that count; the mover's framed."""
    players = len(s.score)
    width, height = canvas.scene
    canvas.view(0.0, width, 0.0, height)
    left, tall = SHARE * width + 4.0, (height - 8.0) / players
    for k in range(players):
        top = height - 4.0 - k * tall
        low = max(top - tall + 4.0, top - 150.0)
        canvas.rectangle(left, low, width - 6.0, top, "blue" if k == s.turn else TRACK, rounded=6.0)
        canvas.rectangle(left + 2.0, low + 2.0, width - 8.0, top - 2.0, PANEL, rounded=5.0)
        canvas.text((left + 8.0, top - 10.0), f"player {k + 1}: {int(min(s.score[k, :colors]))}", "black", 11, "left")
        room = min((top - 20.0 - low - 4.0) / colors, 26.0)
        for color in range(colors):
            y = top - 20.0 - (color + 1) * room
            start, end, score = left + 8.0, width - 32.0, int(s.score[k, color])
            canvas.rectangle(start, y + 0.15 * room, end, y + 0.85 * room, TRACK, rounded=2.0)
            if score:
                reached = start + (end - start) * score / most
                canvas.rectangle(start, y + 0.15 * room, reached, y + 0.85 * room, INKS[color], rounded=2.0)
            canvas.text((width - 20.0, y + 0.5 * room), str(score), "black", min(11, max(round(room), 8)), "centre")
