"""Images of LogReplay: the raster for agents, and the picture for people."""

import math
from typing import Any

from rlenvs.core import kernel, maths
from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.raster.draw import span
from rlenvs.kits.roads.lanes import LENGTH, WIDTH, along, box_distance, heading_on, point_on
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH
from rlenvs.robotics.driving.logs import HEADING, X, Y
from rlenvs.robotics.driving.render import GLASS, GRASS, draw_lanes, rectangle

PIXELS = 64  # of a metre, along both sides
EGO_COLUMN = 16  # of the ego car, which heads to the right
REACH = 60.0  # m along a lane from the ego car that may be seen
GROUND, ROAD, MIDDLE, OTHER, EGO = (0, 0, 0), (90, 90, 90), (150, 150, 150), (250, 180, 60), (60, 140, 255)
WIDE = 66.0  # m, of the image
LEGEND = (("blue", "ego car"), ("green", "logged ego car"), ("orange", "replayed"), ("pink", "reacts"), ("red", "hit"))


@kernel
def paint(p, s, pixels):
    """The surroundings of the ego car from above, in its own frame."""
    ego = s.ego
    for row in range(PIXELS):
        span(pixels, row, 0, PIXELS, GROUND)
    for k in range(p.lane.shape[0]):
        if box_distance(p, k, s.x[ego], s.y[ego]) < REACH:
            paint_lane(p, s, k, pixels)
    for j in range(s.movers):
        right, down = s.x[j] - s.x[ego], s.y[j] - s.y[ego]
        if j != ego and right * right + down * down < REACH * REACH:
            paint_car(s, j, pixels, OTHER)
    paint_car(s, ego, pixels, EGO)


@kernel
def paint_lane(p, s, k, pixels):
    """A lane, and its middle over it: points half a metre from each other."""
    ego, half = s.ego, 0.5 * p.lane[k, WIDTH]
    here = along(p, k, s.x[ego], s.y[ego])
    first, last = max(here - REACH, 0.0), min(here + REACH, p.lane[k, LENGTH])
    count, places = int(2.0 * (last - first)), int(4.0 * half)
    for layer in range(2):
        for n in range(count + 1):
            at = first + 0.5 * n
            x, y = point_on(p, k, at, 0.0)
            right, down = x - s.x[ego], y - s.y[ego]
            ahead = right * s.cosine[ego] + down * s.sine[ego] + EGO_COLUMN
            aside = down * s.cosine[ego] - right * s.sine[ego] + 0.5 * PIXELS
            if layer == 1:
                paint_point(pixels, ahead, aside, MIDDLE)
                continue
            sine, cosine = maths.sin_cos(heading_on(p, k, at) - s.heading[ego])
            for m in range(places):
                across = 0.5 * (m + 0.5) - half
                paint_point(pixels, ahead - across * sine, aside + across * cosine, ROAD)


@kernel
def paint_point(pixels, column, row, color):
    """The pixel in which a point lies, if it is one of the image."""
    if 0.0 <= column < PIXELS and 0.0 <= row < PIXELS:
        span(pixels, int(row), int(column), int(column) + 1, color)


@kernel
def paint_car(s, j, pixels, color):
    """A car: the pixels whose middles lie in it."""
    ego = s.ego
    right, down = s.x[j] - s.x[ego], s.y[j] - s.y[ego]
    ahead = right * s.cosine[ego] + down * s.sine[ego]
    aside = down * s.cosine[ego] - right * s.sine[ego]
    cosine = s.cosine[ego] * s.cosine[j] + s.sine[ego] * s.sine[j]
    sine = s.cosine[ego] * s.sine[j] - s.sine[ego] * s.cosine[j]
    top, left = aside + 0.5 * PIXELS, ahead + EGO_COLUMN
    for row in range(max(int(top - 4.0), 0), min(int(top + 5.0), PIXELS)):
        for column in range(max(int(left - 4.0), 0), min(int(left + 5.0), PIXELS)):
            u, v = column + 0.5 - left, row + 0.5 - top
            if abs(u * cosine + v * sine) <= 0.5 * CAR_LENGTH and abs(v * cosine - u * sine) <= 0.5 * CAR_WIDTH:
                span(pixels, row, column, column + 1, color)


def draw_log(canvas: Canvas, p: Any, s: Any) -> None:
    """The road around the ego car, its logged way green, its own way blue."""
    canvas.legend(*LEGEND)
    ego, row = int(s.ego), int(s.row)
    x, y = float(s.x[ego]), float(s.y[ego])
    width, height = canvas.scene
    half = 0.5 * WIDE * height / width
    ahead_x, ahead_y = x + 15.0 * float(s.cosine[ego]), y + 15.0 * float(s.sine[ego])
    canvas.view(ahead_x - 0.5 * WIDE, ahead_x + 0.5 * WIDE, -ahead_y - half, -ahead_y + half)
    canvas.rectangle(ahead_x - WIDE, -ahead_y - WIDE, ahead_x + WIDE, -ahead_y + WIDE, GRASS)
    draw_lanes(canvas, p, ahead_x, ahead_y, 0.8 * WIDE)
    logged = p.log[int(s.first_row) : min(int(s.last_row), int(s.first_row) + 32) + 1, ego]
    canvas.line([(float(a), -float(b)) for a, b in logged[:, :2]], "green", 4.0)
    driven = s.trail[: min(int(s.elapsed), len(s.trail) - 1) + 1]
    if len(driven) > 1:
        canvas.line([(float(a), -float(b)) for a, b in driven], "blue", 2.5)
    for j in range(int(s.movers)):
        if math.hypot(float(s.x[j]) - x, float(s.y[j]) - y) < WIDE and j != ego:
            _draw_car(canvas, s.x[j], s.y[j], s.heading[j], "pink" if s.driver[j] >= 0 else "orange")
    _draw_car(canvas, p.log[row, ego, X], p.log[row, ego, Y], p.log[row, ego, HEADING], "green")
    _draw_car(canvas, x, y, s.heading[ego], "red" if s.side >= 0 else "blue", 0.85)
    error = math.hypot(x - float(p.log[row, ego, X]), y - float(p.log[row, ego, Y]))
    mean = float(s.error_sum) / max(int(s.elapsed), 1)
    canvas.caption(f"{float(s.speed[ego]) * 3.6:.0f} km/h", f"{error:.2f} m off", f"on average {mean:.2f} m")


def _draw_car(canvas: Canvas, x: Any, y: Any, heading: Any, color: Any, size: float = 1.0) -> None:
    x, y, heading = float(x), float(y), float(heading)
    canvas.polygon(rectangle(x, y, heading, size * CAR_LENGTH, size * CAR_WIDTH), color)
    canvas.polygon(rectangle(x, y, heading, 0.18 * CAR_LENGTH, 0.8 * size * CAR_WIDTH, 0.14 * CAR_LENGTH), GLASS)
