"""Images of races: the car and its surroundings, and in a corner the whole track."""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas

CLOSE = 0.17  # m, half the width of what is shown around the car
AHEAD = 0.05  # m, how far the image's middle is in front of the car
CAR = (0.034, 0.018)  # m, length and width of the car as drawn
WHOLE = 1.3  # m, half width of the whole track
MAP = 0.3  # share of the image's width
GRID = 0.1  # m
FIELD, LINES = (222, 230, 214), (208, 219, 198)
ROAD, LIGHT_ROAD, EDGE = (104, 108, 114), (150, 154, 158), (250, 250, 247)
SMALL = 0.6  # size of a car in a race, relative to one alone: they would hide each other
RIM = (196, 200, 204)  # what others may not touch
CAR_COLORS = ("blue", "orange", "pink", "yellow", "red", "sky", "light", "black")
LEGEND = (("blue", "car"), ("sky", "lidar", "line"), ("red", "wall"), ("green", "start and finish", "line"))

RACE_COLORS = (*CAR_COLORS[:4], "black", "sky", "light", "grey")  # red are walls
CARS_LEGEND = (("blue", "car 0"), ("orange", "car 1"), *LEGEND[1:])


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


def turned(position: Any, heading: float, shape: Any) -> list[tuple[float, float]]:
    """Points of a shape that lies at a position and looks along a heading."""
    x, y, c, s = float(position[0]), float(position[1]), math.cos(heading), math.sin(heading)
    return [(x + u * c - v * s, y + u * s + v * c) for u, v in shape]


def box(middle: float, length: float, width: float, offset: float = 0.0) -> list[tuple[float, float]]:
    """A rectangle along the heading, `offset` to the left."""
    return [(middle + i * 0.5 * length, offset + j * 0.5 * width) for i, j in ((1, 1), (1, -1), (-1, -1), (-1, 1))]


def _draw_track(canvas: Canvas, p: Any, s: Any, centre: Any, reach: float, color: Any, width: float) -> None:
    """What of the track lies within `reach` [m] of a place: asphalt, borders `width` pixels wide, walls, start line."""
    inner, outer = ring(s.border[:, 0]), ring(s.border[:, 1])
    step = max(1, len(inner) // 512) if reach > CLOSE * 4.0 else 1
    places = [k for k in range(0, len(inner), step) if math.dist(inner[k], centre) < reach]
    for k in places:
        j = (k + step) % len(inner)
        canvas.polygon([inner[k], outer[k], outer[j], inner[j]], color)
    for k in places:
        j = (k + step) % len(inner)
        for side in (inner, outer):
            canvas.line([side[k], side[j]], EDGE if width > 2.0 else "black", width)
    canvas.line([inner[0], outer[0]], "green", max(2.0 * width, 3.0))
    for wall in s.walls:
        if wall.any():
            canvas.polygon(hexagon(wall, 0.25 * p.width + p.kerb), "red")


def _draw_rays(canvas: Canvas, position: Any, heading: float, lidar: Any, view: float) -> None:
    x, y = float(position[0]), float(position[1])
    last = len(lidar) - 1
    for j, distance in enumerate(lidar):
        angle = heading + view * (j / last - 0.5)
        end = (x + float(distance) * math.cos(angle), y + float(distance) * math.sin(angle))
        canvas.line([(x, y), end], "sky", 1.0)
        canvas.circle(end, 0.0022, "sky")


def _draw_car(canvas: Canvas, position: Any, heading: float, color: Any = "blue", scale: float = 1.0) -> None:
    length, width = scale * CAR[0], scale * CAR[1]
    for along in (-0.3, 0.3):
        for side in (-0.46, 0.46):
            wheel = box(along * length, 0.28 * length, 0.2 * width, side * width)
            canvas.polygon(turned(position, heading, wheel), "black")
    canvas.polygon(turned(position, heading, box(0.0, length, 0.84 * width)), color)
    canvas.polygon(turned(position, heading, box(0.12 * length, 0.2 * length, 0.66 * width)), "white")
    canvas.polygon(turned(position, heading, box(-0.34 * length, 0.12 * length, 0.66 * width)), "black")


def _draw_field(canvas: Canvas, p: Any, s: Any, position: Any, heading: float) -> None:
    """Grass, a grid and the track around a car; sets the view."""
    width, height = canvas.scene
    x, y = float(position[0]), float(position[1])
    cx, cy = x + AHEAD * math.cos(heading), y + AHEAD * math.sin(heading)
    low = CLOSE * height / width
    cx, cy = cx + 0.2 * CLOSE, cy + 0.2 * low  # out of the map's corner
    canvas.view(cx - CLOSE, cx + CLOSE, cy - low, cy + low)
    canvas.rectangle(cx - CLOSE, cy - low, cx + CLOSE, cy + low, FIELD)
    for k in range(-4, 5):  # a grid, by which one sees how fast the car is
        across, up = (math.floor(cx / GRID) + k) * GRID, (math.floor(cy / GRID) + k) * GRID
        canvas.line([(across, cy - low), (across, cy + low)], LINES, 1.0)
        canvas.line([(cx - CLOSE, up), (cx + CLOSE, up)], LINES, 1.0)
    _draw_track(canvas, p, s, (cx, cy), 1.6 * CLOSE, ROAD, 3.0)


def _draw_map(canvas: Canvas, p: Any, s: Any) -> None:
    """The whole track in the upper right corner; sets the view."""
    width, height = canvas.scene
    canvas.view(-WHOLE, WHOLE, -WHOLE, WHOLE, (0.98 - MAP, 0.02, 0.98, 0.02 + MAP * width / height))
    canvas.rectangle(-WHOLE, -WHOLE, WHOLE, WHOLE, "background")
    _draw_track(canvas, p, s, (0.0, 0.0), 2.0 * WHOLE, LIGHT_ROAD, 1.0)


def draw_race(canvas: Canvas, p: Any, s: Any) -> None:
    """Track, walls, start line, car and lidar around the car, and the whole track in the upper right corner."""
    canvas.legend(*LEGEND)
    x, y, heading = float(s.position[0]), float(s.position[1]), float(s.heading)
    _draw_field(canvas, p, s, (x, y), heading)
    _draw_rays(canvas, (x, y), heading, s.lidar, p.field_of_view)
    _draw_car(canvas, (x, y), heading)
    _draw_map(canvas, p, s)
    canvas.circle((x, y), 0.11, "white")
    canvas.polygon(turned((x, y), heading, [(0.16, 0.0), (-0.1, 0.1), (-0.1, -0.1)]), "blue")
    canvas.rectangle(-WHOLE, -WHOLE, WHOLE, WHOLE, "grey", 1.5)


def draw_cars(canvas: Canvas, p: Any, s: Any, leader: int, there: list[int]) -> None:
    """The same of several cars, around the leader, with those that are still `there`."""
    canvas.legend(*CARS_LEGEND)
    heading = float(s.heading[leader])
    _draw_field(canvas, p, s, s.position[leader], heading)
    _draw_rays(canvas, s.position[leader], heading, s.lidar[leader], p.field_of_view)
    for k in there or [leader]:
        canvas.circle(tuple(float(v) for v in s.position[k]), p.car_size, RIM)
        _draw_car(canvas, s.position[k], float(s.heading[k]), RACE_COLORS[k], SMALL)
    _draw_map(canvas, p, s)
    for k in there or [leader]:
        place = float(s.position[k, 0]), float(s.position[k, 1])
        canvas.circle(place, 0.1, "white")
        canvas.circle(place, 0.08, RACE_COLORS[k])
    canvas.rectangle(-WHOLE, -WHOLE, WHOLE, WHOLE, "grey", 1.5)
