"""Pictures of races: the whole track from above and, in the free middle, the car's surroundings enlarged."""

import math
from typing import Any

from rlenvs.core.canvas import Canvas

SHOWN = 1.3  # m, half width of the whole picture
CLOSE = 0.2  # m, half width of the enlarged part
INSET = (0.31, 0.31, 0.69, 0.69)
CAR = 0.02  # m, length of the car in the enlarged part


def ring(radii: Any) -> list[tuple[float, float]]:
    """The points of a border, given as radii at equal polar angles."""
    step = 2.0 * math.pi / len(radii)
    return [(float(r) * math.cos(k * step), float(r) * math.sin(k * step)) for k, r in enumerate(radii)]


def hexagon(wall: Any, half: float) -> list[tuple[float, float]]:
    """Outline of a wall: all points at most `half` away from its line along both axes."""
    x0, y0, x1, y1 = (float(v) for v in wall)
    side_x, side_y = math.copysign(half, x1 - x0), math.copysign(half, y1 - y0)
    return [
        *((x0 - side_x, y0 - side_y), (x0 + side_x, y0 - side_y), (x1 + side_x, y1 - side_y)),
        *((x1 + side_x, y1 + side_y), (x1 - side_x, y1 + side_y), (x0 - side_x, y0 + side_y)),
    ]


def triangle(position: Any, heading: float, length: float) -> list[tuple[float, float]]:
    """A car, pointed in front."""
    x, y, c, s = float(position[0]), float(position[1]), math.cos(heading), math.sin(heading)
    return [
        (x + length * (u * c - v * s), y + length * (u * s + v * c)) for u, v in ((0.7, 0.0), (-0.5, 0.4), (-0.5, -0.4))
    ]


def _draw_track(canvas: Canvas, p: Any, s: Any, width: float) -> None:
    inner, outer = ring(s.border[:, 0]), ring(s.border[:, 1])
    step = max(1, len(inner) // 512)
    for k in range(0, len(inner), step):
        j = (k + step) % len(inner)
        canvas.polygon([inner[k], outer[k], outer[j], inner[j]], "light")
    canvas.line(inner, "black", width, closed=True)
    canvas.line(outer, "black", width, closed=True)
    canvas.line([inner[0], outer[0]], "green", 3.0 * width)
    for wall in s.walls:
        if wall.any():
            canvas.polygon(hexagon(wall, 0.25 * p.width + p.kerb), "red")


def _draw_rays(canvas: Canvas, p: Any, s: Any) -> None:
    x, y = float(s.position[0]), float(s.position[1])
    last = len(s.lidar) - 1
    for j, distance in enumerate(s.lidar):
        angle = float(s.heading) + p.field_of_view * (j / last - 0.5)
        end = (x + distance * math.cos(angle), y + distance * math.sin(angle))
        canvas.line([(x, y), end], "sky", 1.0)
        canvas.circle(end, 0.002, "blue")


def draw_race(canvas: Canvas, p: Any, s: Any) -> None:
    """Track, walls, start line, car and lidar, whole and enlarged."""
    canvas.view(-SHOWN, SHOWN, -SHOWN, SHOWN)
    _draw_track(canvas, p, s, 1.0)
    canvas.polygon(triangle(s.position, s.heading, 0.09), "blue")
    x, y = float(s.position[0]), float(s.position[1])
    canvas.view(x - CLOSE, x + CLOSE, y - CLOSE, y + CLOSE, INSET)
    canvas.rectangle(x - CLOSE, y - CLOSE, x + CLOSE, y + CLOSE, "white")
    _draw_track(canvas, p, s, 2.0)
    _draw_rays(canvas, p, s)
    canvas.polygon(triangle((x, y), s.heading, CAR), "blue")
    canvas.rectangle(x - CLOSE, y - CLOSE, x + CLOSE, y + CLOSE, "grey", 1.0)
