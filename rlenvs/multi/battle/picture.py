"""Pictures of battles: discs with letters, a bar of health above each, and who attacks whom."""

from typing import Any

import numpy as np

from rlenvs.core.canvas import Canvas
from rlenvs.multi.battle.units import KINDS

LETTERS = dict(zip(KINDS, "MRSZLHVCBXO", strict=True))
SIDE_COLORS = ("blue", "orange")


def draw_battle(canvas: Canvas, p: Any, s: Any) -> None:
    """The map, fallen units as crosses, standing ones as discs, lines to those that they attack or heal."""
    width, height = float(p.width), float(p.height)
    half = _half_view(p, s)
    centre = (0.5 * width, 0.5 * height)
    canvas.view(centre[0] - half, centre[0] + half, centre[1] - half, centre[1] + half, (0.0, 0.07, 1.0, 1.0))
    canvas.rectangle(-0.25, -0.25, width + 0.25, height + 0.25, "grey")
    canvas.rectangle(0, 0, width, height, "white")
    for line in np.arange(4.0, width, 4.0):
        canvas.line([(line, 0), (line, height)], "light", 0.5)
        canvas.line([(0, line), (width, line)], "light", 0.5)
    units = range(len(s.x))
    for i in units:
        if not s.standing[i]:
            _cross(canvas, float(s.x[i]), float(s.y[i]))
    for i in units:
        j = int(s.aim[i])
        if s.standing[i] and j >= 0:
            color = "green" if s.side[i] == s.side[j] else SIDE_COLORS[s.side[i]]
            canvas.line([(s.x[i], s.y[i]), (s.x[j], s.y[j])], color, 1.0)
    for i in units:
        if s.standing[i]:
            _unit(canvas, p, s, i, 240.0 / half)
    counts = [int(np.sum(s.standing[s.side == side])) for side in (0, 1)]
    canvas.caption(f"Battle   step {s.elapsed}   allies {counts[0]}   enemies {counts[1]}")


def _half_view(p: Any, s: Any) -> float:
    """Half the width of a view around the map's centre that holds all units; it changes in steps, not all the time."""
    away = max(float(np.abs(s.x - 0.5 * p.width).max()), float(np.abs(s.y - 0.5 * p.height).max())) + 1.5
    whole = 0.5 * max(float(p.width), float(p.height))
    half = max(4.0 * float(np.ceil(away / 4.0)), 8.0)
    return half if half < whole else whole + 0.5


def _cross(canvas: Canvas, x: float, y: float) -> None:
    for slope in (1.0, -1.0):
        canvas.line([(x - 0.25, y - 0.25 * slope), (x + 0.25, y + 0.25 * slope)], "grey", 1.5)


def _unit(canvas: Canvas, p: Any, s: Any, i: int, pixels: float) -> None:
    x, y, kind = float(s.x[i]), float(s.y[i]), int(s.kind[i])
    radius = float(p.unit_radius[kind])
    canvas.circle((x, y), radius, SIDE_COLORS[s.side[i]])
    size = min(round(1.2 * radius * pixels), 20)
    if size >= 7:
        canvas.text((x, y), LETTERS[KINDS[kind]], "white" if s.side[i] == 0 else "black", size, "centre")
    _bar(canvas, x, y + radius + 0.18, radius, float(s.health[i] / p.unit_health[kind]), "green")
    if p.unit_shield[kind] > 0:
        _bar(canvas, x, y + radius + 0.4, radius, float(s.shield[i] / p.unit_shield[kind]), "sky")


def _bar(canvas: Canvas, x: float, y: float, half: float, share: float, color: str) -> None:
    canvas.line([(x - half, y), (x + half, y)], "grey", 2.5)
    if share > 0.0:
        canvas.line([(x - half, y), (x - half + 2.0 * half * share, y)], color, 2.5)


def text_battle(p: Any, s: Any) -> str:
    """A character per map unit across and per two units down: letters of units, capitals for allies."""
    rows, columns = -(-int(p.height) // 2), int(p.width)
    cells = np.full((rows, columns), ".")
    for i in np.flatnonzero(s.standing):
        row = min(max(int((p.height - s.y[i]) / 2), 0), rows - 1)
        column = min(max(int(s.x[i]), 0), columns - 1)
        letter = LETTERS[KINDS[s.kind[i]]]
        cells[row, column] = letter if s.side[i] == 0 else letter.lower()
    return "\n".join("".join(row) for row in cells)
