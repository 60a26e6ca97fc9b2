"""Images of CarRacing: the road around the car from above, and in a corner the whole track."""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas

AROUND, AHEAD = 34.0, 12.0  # m: half the width of what is shown; how far its middle lies before the car
MAP = 0.3  # share of the image's width
FIELD, PATCH, ROAD, SEEN, EDGE = (132, 186, 108), (124, 178, 100), (104, 106, 112), (112, 114, 120), (240, 240, 236)
KERBS = ((246, 246, 246), (214, 40, 40))
TYRE, GLASS = (24, 24, 28), (30, 40, 60)
COLORS = ((200, 20, 30), "blue", "orange", "pink", "sky", "yellow", "black", "white")
KERB = 8.0 / 6.0


def gates_of(p: Any, s: Any) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Left and right end of every gate."""
    return [((float(e[0]), float(e[1])), (float(e[2]), float(e[3]))) for e in s.edge[: int(s.tiles)]]


def placed(body: Any, points: Any) -> list[tuple[float, float]]:
    """Points of a body's frame in the world."""
    x, y, angle = (float(v) for v in body[:3])
    cs, sn = math.cos(angle), math.sin(angle)
    return [(x + cs * u - sn * v, y + sn * u + cs * v) for u, v in points]


def draw_car(canvas: Canvas, p: Any, s: Any, c: int, color: Any) -> None:
    half, radius = float(p.build[4]), float(p.build[5])
    for w in range(4):
        tyre = [(-half, radius), (half, radius), (half, -radius), (-half, -radius)]
        canvas.polygon(placed(s.body[c, 1 + w], tyre), TYRE)
    parts = [[(float(u), float(v)) for u, v in part] for part in p.part]
    for part in parts:
        canvas.polygon(placed(s.body[c, 0], part), color)
    top, bottom = max(v for part in parts for _, v in part), min(v for part in parts for _, v in part)
    middle = 0.5 * (top + bottom)
    cockpit = [(-0.28, middle + 0.35), (0.28, middle + 0.35), (0.4, middle - 0.45), (-0.4, middle - 0.45)]
    canvas.polygon(placed(s.body[c, 0], cockpit), GLASS)


def draw_field(canvas: Canvas, p: Any, x: float, y: float) -> None:
    """Grass in squares around a place."""
    side = float(p.playfield) / 20.0
    for i in range(math.floor((x - 1.5 * AROUND) / side), math.ceil((x + 1.5 * AROUND) / side)):
        for j in range(math.floor((y - 1.5 * AROUND) / side), math.ceil((y + 1.5 * AROUND) / side)):
            if (i + j) % 2 == 0:
                corners = [(i * side, j * side), ((i + 1) * side, j * side)]
                corners += [((i + 1) * side, (j + 1) * side), (i * side, (j + 1) * side)]
                canvas.polygon(corners, PATCH)


def draw_road(canvas: Canvas, p: Any, s: Any, x: float, y: float) -> None:
    ends = gates_of(p, s)
    near = [i for i in range(len(ends)) if math.dist(s.gate[i, :2], (x, y)) < 2.0 * AROUND]
    for i in near:
        (left, right), (last_left, last_right) = ends[i], ends[i - 1]
        canvas.polygon([left, right, last_right, last_left], SEEN if s.visited[:, i].any() else ROAD)
    for i in near:
        (left, right), (last_left, last_right) = ends[i], ends[i - 1]
        for a, b in ((left, last_left), (right, last_right)):
            canvas.line([a, b], EDGE, 2.0)
        if s.kerb[i]:
            side = int(s.kerb[i])
            inner = [left, last_left] if side < 0 else [right, last_right]
            outer = []
            for k in (i, i - 1):
                across, reach = float(s.gate[k, 2]), side * (float(p.track_width) + KERB)
                outer.append(
                    (float(s.gate[k, 0]) + reach * math.cos(across), float(s.gate[k, 1]) + reach * math.sin(across))
                )
            canvas.polygon([inner[0], outer[0], outer[1], inner[1]], KERBS[i % 2])
    canvas.line([ends[0][0], ends[0][1]], "white", 5.0)


def draw_map(canvas: Canvas, p: Any, s: Any) -> None:
    """The whole track in the upper right corner, tiles that are done in green."""
    ends = gates_of(p, s)
    middles = [(0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])) for a, b in ends]
    size = max(max(abs(x), abs(y)) for x, y in middles) + 15.0
    height = MAP * canvas.scene[0] / canvas.scene[1]
    canvas.view(-size, size, -size, size, (1.0 - MAP, 0.0, 1.0, height))
    canvas.polygon([(-size, -size), (size, -size), (size, size), (-size, size)], (244, 246, 240))
    canvas.line([*middles, middles[0]], (150, 152, 156), 4.0)
    for i in range(len(middles)):
        if s.visited[:, i].any():
            canvas.line([middles[i - 1], middles[i]], "green", 4.0)
    for c in range(s.body.shape[0]):
        canvas.circle((float(s.body[c, 0, 0]), float(s.body[c, 0, 1])), 0.045 * size, COLORS[c % len(COLORS)])


def draw_drive(canvas: Canvas, p: Any, s: Any, c: int = 0) -> None:
    """Around car c, which looks upwards in no frame but the world's: north is up."""
    x, y, angle = (float(v) for v in s.body[c, 0, :3])
    x, y = x - AHEAD * math.sin(angle), y + AHEAD * math.cos(angle)
    high = AROUND * canvas.scene[1] / canvas.scene[0]
    canvas.view(x - AROUND, x + AROUND, y - high, y + high)
    canvas.polygon(
        [(x - AROUND, y - high), (x + AROUND, y - high), (x + AROUND, y + high), (x - AROUND, y + high)], FIELD
    )
    draw_field(canvas, p, x, y)
    draw_road(canvas, p, s, x, y)
    for k in range(s.body.shape[0]):
        draw_car(canvas, p, s, k, COLORS[k % len(COLORS)])
    draw_map(canvas, p, s)
