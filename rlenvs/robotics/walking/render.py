"""Images of walkers: the ground around them, the lidar, the goal."""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.planar.drawing import draw_shape, outline
from rlenvs.kits.planar.shapes import POLYGON
from rlenvs.robotics.walking.walker import FAN, HULL, RAYS

SKY, GRASS, EDGE, ROCK = (214, 232, 247), (118, 158, 92), (70, 112, 52), (150, 146, 142)
HULL_COLOR, FIRST, SECOND, RAY, FLAG = (110, 78, 168), (0, 114, 178), (230, 159, 0), (213, 94, 0), (213, 94, 0)
WIDTH = 14.0  # m, of the ground that is shown


def draw_walk(canvas: Canvas, p: Any, s: Any) -> None:
    canvas.legend((HULL_COLOR, "hull"), (FIRST, "first leg"), (SECOND, "second leg"), (RAY, "lidar", "line"))
    across, up = canvas.scene
    x, y = float(s.frame[HULL][0]), float(s.frame[HULL][1])
    high = WIDTH * up / across
    left = max(x - 0.35 * WIDTH, -0.5)
    canvas.view(left, left + WIDTH, y - 0.55 * high, y + 0.45 * high)
    canvas.rectangle(left - WIDTH, y - 2.0 * high, left + 2.0 * WIDTH, y + 2.0 * high, SKY)
    _draw_ground(canvas, p, s, left, y - 2.0 * high)
    _draw_lidar(canvas, p, s, x, y)
    first = int(s.first_shape)
    for part, color in ((3, SECOND), (4, SECOND), (0, HULL_COLOR), (1, FIRST), (2, FIRST)):
        draw_shape(canvas, s, first + part, color)
        draw_shape(canvas, s, first + part, "black", 1.5)
    told = "fallen" if s.hull_touched else ""
    length = (s.ground.shape[0] - int(p.terrain_grass)) * float(p.terrain_step)
    canvas.caption(f"{float(s.elapsed) / float(p.fps):.1f} s", f"{x:.1f} of {length:.0f} m", told)


def _draw_ground(canvas: Canvas, p: Any, s: Any, left: float, bottom: float) -> None:
    points = [(float(x), float(y)) for x, y in s.ground if left - 2.0 <= x <= left + WIDTH + 2.0]
    if len(points) > 1:
        if points[0][0] <= 0.0:
            points = [(-WIDTH, points[0][1]), *points]
        canvas.polygon([(points[0][0], bottom), *points, (points[-1][0], bottom)], GRASS)
        canvas.line(points, EDGE, 4.0)
    for k in range(int(s.first_shape)):
        if s.shape_kind[k] == POLYGON:
            corners = outline(s, k)
            if left - 3.0 <= corners[0][0] <= left + WIDTH + 3.0:
                canvas.polygon(corners, ROCK)
                canvas.line([*corners, corners[0]], EDGE, 3.0)
    last = s.ground.shape[0] - int(p.terrain_grass)
    for i, color in ((3, "grey"), (last, FLAG)):
        x, y = (float(number) for number in s.ground[i])
        canvas.line([(x, y), (x, y + 1.7)], "black", 3.0)
        canvas.polygon([(x, y + 1.7), (x, y + 1.2), (x + 0.8, y + 1.45)], color)


def _draw_lidar(canvas: Canvas, p: Any, s: Any, x: float, y: float) -> None:
    for i in range(RAYS):
        angle, far = FAN * i / RAYS, float(s.lidar[i]) * float(p.lidar_range)
        canvas.line([(x, y), (x + far * math.sin(angle), y - far * math.cos(angle))], RAY, 1.0)
