"""Images of walkers under their package, with the ground around them and the end of the ground."""

from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.planar.drawing import draw_shape
from rlenvs.multi.planar.walkers import GRASS, PACKAGE, PARTS

SKY, GROUND, EDGE = (214, 232, 247), (118, 158, 92), (70, 112, 52)
PARCEL, FLAG = (200, 146, 84), (213, 94, 0)
HULLS = ((110, 78, 168), (0, 114, 178), (0, 140, 110), (166, 86, 40), (180, 60, 120))
NEAR, FAR = 0.75, 0.45  # how bright the near and the far leg are


def draw_team(canvas: Canvas, p: Any, s: Any) -> None:
    canvas.legend((PARCEL, "package"), (HULLS[0], "walkers"), (FLAG, "end", "line"))
    across, up = canvas.scene
    x, y = float(s.frame[PACKAGE][0]), float(p.terrain_height)
    length = 240.0 / 30.0 * s.fallen.size / 1.75
    wide = max(1.35 * length, 14.0)
    high = wide * up / across
    left = max(x - 0.5 * wide, -1.0)
    bottom = y - 0.35 * high
    canvas.view(left, left + wide, bottom, bottom + high)
    canvas.rectangle(left - wide, bottom - high, left + 2.0 * wide, bottom + 2.0 * high, SKY)
    _draw_ground(canvas, p, s, left, wide, bottom - high)
    first = int(s.ground.shape[0]) - 1
    draw_shape(canvas, s, first, PARCEL)
    draw_shape(canvas, s, first, "black", 1.5)
    for k in range(s.fallen.size):
        if not s.gone[k]:
            _draw_walker(canvas, s, k, first + 1 + PARTS * k)
    told = "dropped" if s.dropped else "fallen" if s.fallen.any() else ""
    start = 0.5 * float(p.terrain_step) * (20 + 10 * (s.fallen.size - 1))
    canvas.caption(f"{float(s.elapsed) / float(p.fps):.1f} s", f"package carried {x - start:.1f} m", told)


def _draw_walker(canvas: Canvas, s: Any, k: int, shape: int) -> None:
    color = HULLS[k % len(HULLS)]
    for part, bright in ((3, FAR), (4, FAR), (0, 1.0), (1, NEAR), (2, NEAR)):
        red, green, blue = (int(255 - bright * (255 - number)) for number in color)
        draw_shape(canvas, s, shape + part, (red, green, blue))
        draw_shape(canvas, s, shape + part, "black", 1.5)


def _draw_ground(canvas: Canvas, p: Any, s: Any, left: float, wide: float, bottom: float) -> None:
    points = [(float(x), float(y)) for x, y in s.ground if left - 2.0 <= x <= left + wide + 2.0]
    if len(points) > 1:
        if points[0][0] <= 0.0:
            points = [(-wide, points[0][1]), *points]
        canvas.polygon([(points[0][0], bottom), *points, (points[-1][0], bottom)], GROUND)
        canvas.line(points, EDGE, 4.0)
    for i, color in ((3, "grey"), (s.ground.shape[0] - GRASS, FLAG)):
        x, y = (float(number) for number in s.ground[i])
        canvas.line([(x, y), (x, y + 2.2)], "black", 3.0)
        canvas.polygon([(x, y + 2.2), (x, y + 1.6), (x + 1.1, y + 1.9)], color)
