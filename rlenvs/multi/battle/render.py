"""Images of battles: silhouettes with bars on a field, attacks, and where units died."""

from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas
from rlenvs.multi.battle.figures import (
    BEYOND,
    EDGE,
    GRID,
    GROUND,
    LETTERS,
    ROOM_FOR_BARS,
    SIDE_COLORS,
    directions,
    draw_bars,
    draw_fallen,
    draw_figure,
    draw_flashes,
    draw_shots,
    kinds_told,
    mixed,
)
from rlenvs.multi.battle.units import KINDS

FEWEST, FEW, MANY = 10, 20, 60  # units
LEAST_VIEW = 6.0  # map units above and below the middle
LEAST_RADIUS = (13.0, 8.5, 5.5)  # pixels: of few units, of some, of many


def draw_battle(canvas: Canvas, p: Any, s: Any) -> None:
    """The part of the map in which there are units, with all of them, and whom they attack or heal."""
    standing = [int(np.sum(s.standing[s.side == side])) for side in (0, 1)]
    canvas.caption(f"standing: {standing[0]} allies, {standing[1]} enemies")
    canvas.legend(*_legend(p, s))
    pixel = _show_map(canvas, p, s)
    count = len(s.x)
    least = LEAST_RADIUS[(count > FEW) + (count > MANY)] * pixel
    radius = np.maximum(p.unit_radius[s.kind], least)
    places = np.stack([s.x, s.y], axis=1)
    for i in np.flatnonzero(~s.standing).tolist():
        draw_fallen(canvas, int(s.kind[i]), places[i], radius[i], int(s.side[i]), pixel)
    if count <= FEWEST:
        _draw_ranges(canvas, p, s)
    hits = draw_shots(canvas, p, s, float(p.tick * p.ticks))
    ahead = directions(s)
    for i in np.flatnonzero(s.standing).tolist():
        draw_figure(canvas, int(s.kind[i]), places[i], radius[i], int(s.side[i]), pixel, ahead[i])
    draw_flashes(canvas, s, hits, radius, pixel)
    for i in np.flatnonzero(s.standing).tolist():
        shares = _bars(p, s, i, count)
        if shares and radius[i] >= ROOM_FOR_BARS * pixel:
            draw_bars(canvas, places[i], radius[i], pixel, shares)


def _legend(p: Any, s: Any) -> list[tuple[Any, ...]]:
    entries: list[tuple[Any, ...]] = [(SIDE_COLORS[0], "allies", "disc"), (SIDE_COLORS[1], "enemies", "disc")]
    entries.append(("green", "health"))
    if p.unit_shield[s.kind].max() > 0.0:
        entries.append(("sky", "shield"))
    if len(s.x) <= FEWEST:
        entries += [("yellow", "reload"), (mixed(SIDE_COLORS[0], 0.5), "range", "ring")]
    return [*entries, ("grey", kinds_told(s.kind), "disc")]


def _show_map(canvas: Canvas, p: Any, s: Any) -> float:
    """The map where units are or have fallen. Returns the size of a pixel in map units."""
    room = 1.5 + float(p.unit_radius[s.kind].max())
    low = np.array([s.x.min(), s.y.min()]) - room
    high = np.array([s.x.max(), s.y.max()]) + room
    middle, half = (low + high) / 2.0, np.maximum((high - low) / 2.0, LEAST_VIEW)
    shape = np.array(canvas.scene, dtype=float)
    pixel = float((2.0 * half / shape).max())
    half = pixel * shape / 2.0
    size = np.array([p.width, p.height], dtype=float)
    middle = np.where(half > size / 2.0, size / 2.0, np.clip(middle, half - 1.0, size - half + 1.0))
    (left, bottom), (right, top) = middle - half, middle + half
    canvas.view(left, right, bottom, top)
    canvas.rectangle(left, bottom, right, top, BEYOND)
    canvas.rectangle(-0.25, -0.25, size[0] + 0.25, size[1] + 0.25, EDGE)
    canvas.rectangle(0.0, 0.0, size[0], size[1], GROUND)
    for line in np.arange(2.0, size[0], 2.0):
        canvas.line([(line, 0.0), (line, size[1])], GRID, 1.0)
    for line in np.arange(2.0, size[1], 2.0):
        canvas.line([(0.0, line), (size[0], line)], GRID, 1.0)
    return pixel


def _draw_ranges(canvas: Canvas, p: Any, s: Any) -> None:
    """How far the weapons of allies reach."""
    for i in np.flatnonzero(s.standing & (s.side == 0)):
        reach = float(p.unit_range[s.kind[i]] + (p.unit_radius[s.kind[i]] if p.edge_to_edge else 0.0))
        canvas.circle((s.x[i], s.y[i]), reach, mixed(SIDE_COLORS[0], 0.3), 1.0)


def _bars(p: Any, s: Any, i: int, count: int) -> dict[str, float]:
    """What a unit's bars say; of many units those that are unhurt have none."""
    kind = int(s.kind[i])
    shares = {"health": float(s.health[i] / p.unit_health[kind])}
    if p.unit_shield[kind] > 0.0:
        shares["shield"] = float(s.shield[i] / p.unit_shield[kind])
    if count > FEW and min(shares.values()) >= 1.0:
        return {}
    if count <= FEWEST and p.unit_cooldown[kind] > 0.0 and s.cooldown[i] > 0.0:
        shares["reload"] = 1.0 - float(s.cooldown[i] / p.unit_cooldown[kind])
    return shares


def text_battle(p: Any, s: Any) -> str:
    """A character per map unit across and per two units down: letters of units, capitals for allies."""
    rows, columns = -(-int(p.height) // 2), int(p.width)
    cells = np.full((rows, columns), ".")
    for i in np.flatnonzero(s.standing).tolist():
        row = min(max(int((p.height - s.y[i]) / 2), 0), rows - 1)
        column = min(max(int(s.x[i]), 0), columns - 1)
        letter = LETTERS[KINDS[s.kind[i]]]
        cells[row, column] = letter if s.side[i] == 0 else letter.lower()
    return "\n".join("".join(row) for row in cells)
