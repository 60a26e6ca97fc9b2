"""Images of F1Tenth: the whole track, the cars and their paths; next to it the surroundings of the leading car."""

import math
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.tracks import files, lidar
from rlenvs.kits.tracks.road import AT, cell_at, place
from rlenvs.robotics.racing.render import CAR_COLORS, FIELD, ROAD, box, turned

LEGEND = (("blue", "car"), ("sky", "lidar", "line"), ("green", "start and finish", "line"))
RIVALS = (("blue", "car 0"), ("orange", "car 1"), ("sky", "lidar", "line"), ("green", "start and finish", "line"))
CLOSE = 4.2  # m, half the width of what is shown around a car
BEAMS, VIEW = 61, 4.7
EDGE = (250, 250, 247)
CAR_LENGTH, CAR_WIDTH = 0.58, 0.31


def rungs_between(road: Any, middle: int, reach: int) -> list[int]:
    """Rows of a road up to `reach` before and behind a row."""
    cells = len(road) - 1
    return [(middle + n) % cells for n in range(-reach, reach + 1)] if 2 * reach < cells else list(range(cells))


def draw_road(canvas: Canvas, road: Any, rows: list[int], width: float) -> None:
    """Asphalt and borders of some cells."""
    left, right = files.polygon(np.asarray(road))
    cells = len(left)
    for i in rows:
        j = (i + 1) % cells
        canvas.polygon([tuple(left[i]), tuple(left[j]), tuple(right[j]), tuple(right[i])], ROAD)
    for i in rows:
        j = (i + 1) % cells
        for side in (left, right):
            canvas.line([tuple(side[i]), tuple(side[j])], EDGE if width > 1.5 else "black", width)


def draw_patches(canvas: Canvas, road: Any, patches: Any) -> None:
    """Slippery patches, as parts of the road."""
    for start, length, low, high, _ in np.asarray(patches):
        steps = [start + length * n / 6 for n in range(7)]
        outline = [place(road, at, high)[:2] for at in steps] + [place(road, at, low)[:2] for at in reversed(steps)]
        canvas.polygon(outline, (120, 160, 190))


def draw_start(canvas: Canvas, road: Any, origin: float, width: float) -> None:
    """The start line."""
    i, _ = cell_at(road, origin)
    canvas.line([tuple(road[i, 2:4]), tuple(road[i, 4:6])], "green", width)


def draw_car(canvas: Canvas, car: Any, color: Any, scale: float = 1.0) -> None:
    """A car from above: body, wheels turned by the steering angle, and a bright front."""
    x, y, steer, yaw = float(car[0]), float(car[1]), float(car[2]), float(car[4])
    length, width = scale * CAR_LENGTH, scale * CAR_WIDTH
    for along in (-0.3, 0.3):
        for side in (-0.46, 0.46):
            turn = steer if along > 0.0 else 0.0
            shape = turned((along * length, side * width), turn, box(0.0, 0.26 * length, 0.2 * width))
            canvas.polygon(turned((x, y), yaw, shape), "black")
    canvas.polygon(turned((x, y), yaw, box(0.0, length, 0.8 * width)), color)
    canvas.polygon(turned((x, y), yaw, box(0.16 * length, 0.2 * length, 0.6 * width)), "white")
    canvas.polygon(turned((x, y), yaw, box(-0.4 * length, 0.14 * length, width)), "black")


def draw_laps(canvas: Canvas, p: Any, s: Any, look: Any) -> None:
    """The track around the leading car, its lidar, and in a corner the whole track with all cars."""
    several = len(s.gone) > 1
    canvas.legend(*(RIVALS if several else LEGEND))
    there = [k for k in range(len(s.gone)) if not s.gone[k]]
    leader = max(there or range(len(s.gone)), key=lambda k: float(s.travelled[k]))
    road, car = np.asarray(s.road), s.car[leader]
    width, height = canvas.scene
    x, y = float(car[0]), float(car[1])
    low = CLOSE * height / width
    cx, cy = x + 0.25 * CLOSE, y + 0.2 * low  # out of the map's corner
    canvas.view(cx - CLOSE, cx + CLOSE, cy - low, cy + low)
    canvas.rectangle(cx - CLOSE, cy - low, cx + CLOSE, cy + low, FIELD)
    reach = int(2.0 * CLOSE / (float(road[-1, AT]) / (len(road) - 1))) + 1
    rows = rungs_between(road, int(s.cell[leader]), reach)
    draw_road(canvas, road, rows, 4.0)
    draw_patches(canvas, road, s.patch)
    draw_start(canvas, road, float(s.origin), 6.0)
    beams, seen = lidar.fan(BEAMS, VIEW), np.zeros(BEAMS)
    look(leader, beams, VIEW, seen)
    yaw = float(car[4])
    for (c, sn), distance in zip(beams.T, seen, strict=True):
        dx, dy = math.cos(yaw) * c - math.sin(yaw) * sn, math.sin(yaw) * c + math.cos(yaw) * sn
        end = (x + float(distance) * dx, y + float(distance) * dy)
        canvas.line([(x, y), end], "sky", 1.0)
        canvas.circle(end, 0.05, "sky")
    for k in there:
        draw_car(canvas, s.car[k], CAR_COLORS[k])
    if leader not in there:
        draw_car(canvas, car, CAR_COLORS[leader])
    draw_map(canvas, s, road, there)


def draw_map(canvas: Canvas, s: Any, road: Any, there: list[int]) -> None:
    """The whole track in the upper right corner."""
    width, height = canvas.scene
    middle = 0.5 * (road[:, :2].max(axis=0) + road[:, :2].min(axis=0))
    half = 0.5 * float((road[:, :2].max(axis=0) - road[:, :2].min(axis=0)).max()) + 2.0
    mx, my = float(middle[0]), float(middle[1])
    share = 0.34
    canvas.view(mx - half, mx + half, my - half, my + half, (0.98 - share, 0.02, 0.98, 0.02 + share * width / height))
    canvas.rectangle(mx - half, my - half, mx + half, my + half, "background")
    draw_road(canvas, road, list(range(len(road) - 1)), 1.0)
    draw_start(canvas, road, float(s.origin), 4.0)
    for k in there:
        canvas.circle((float(s.car[k, 0]), float(s.car[k, 1])), 0.045 * half, "white")
        canvas.circle((float(s.car[k, 0]), float(s.car[k, 1])), 0.035 * half, CAR_COLORS[k])
    canvas.rectangle(mx - half, my - half, mx + half, my + half, "grey", 1.5)
