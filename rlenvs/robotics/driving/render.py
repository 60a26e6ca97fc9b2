"""Images of driving worlds: the road around the ego car, and below it, for long roads, a strip of the whole road."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.roads import lanes as at
from rlenvs.kits.roads.lanes import point_on

GRASS, ASPHALT, LINE = (198, 214, 186), (108, 112, 118), (244, 244, 240)
GLASS = (44, 52, 60)
NEAR, STRIP = 72.0, 320.0  # m, width of what is shown
JUNCTION = 25.0  # m, length of the ways across a junction, which have no lines
CLOSE, NARROW = 44.0, 8.0  # m, width of what is shown of a road whose lanes lie closer together than that
FLAT = 2.0  # times as long as wide: a network that has a strip
SAMPLE = 4.0  # m between points of a lane that winds
LEGEND = (("blue", "ego car"), ("orange", "other car"), ("red", "crashed"))
ONCOMING, OBSTACLE, WAY = ("pink", "oncoming car"), ("black", "obstacle"), ("green", "way to go", "line")


def rectangle(x: float, y: float, heading: float, length: float, width: float, ahead: float = 0.0) -> list[Any]:
    """The corners, on a canvas, of a rectangle at (x, y) that is moved ahead by some meters."""
    cosine, sine = math.cos(heading), math.sin(heading)
    corners = ((0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5))
    points = [(u * length + ahead, v * width) for u, v in corners]
    return [(x + cosine * u - sine * v, -(y + sine * u + cosine * v)) for u, v in points]


def _stations(p: Any, k: int, x: float, y: float, reach: float) -> np.ndarray:
    """Meters along lane k at which its outline is drawn: the part within reach, or a whole arc."""
    length, shape = float(p.lane[k, at.LENGTH]), int(p.lane_at[k, at.SHAPE])
    first, last = 0.0, length
    if shape != at.ARC:
        here = float(at.along(p, k, x, y))
        first, last = max(0.0, here - reach), min(length, here + reach)
    last = max(last, first)
    count = {at.STRAIGHT: 2, at.WAVE: max(24, math.ceil((last - first) / SAMPLE)), at.ARC: 24}[shape]
    return np.linspace(first, last, count)


def draw_lanes(canvas: Canvas, p: Any, x: float, y: float, reach: float, lines: bool = True) -> None:
    """The lanes within `reach` meters of a point, with the lines between them."""
    near = [k for k in range(len(p.lane)) if float(at.box_distance(p, k, x, y)) < reach]
    outlines = []
    for k in near:
        half, sides = 0.5 * float(p.lane[k, at.WIDTH]), []
        stations = _stations(p, k, x, y, 1.5 * reach)
        for side in (-half, half):
            points = [point_on(p, k, float(far), side) for far in stations]
            sides.append([(float(a), -float(b)) for a, b in points])
        canvas.polygon([*sides[0], *reversed(sides[1])], ASPHALT)
        outlines.append((k, stations, sides))
    if not lines:
        return
    for k, stations, sides in outlines:
        place, count = int(p.lane_at[k, at.PLACE]), int(at.lane_count(p, k))
        if count == 1 and p.lane[k, at.LENGTH] < JUNCTION:
            continue
        if place == 0:
            canvas.line(sides[0], LINE, 1.5)
        if place == count - 1:
            canvas.line(sides[1], LINE, 1.5)
        else:
            _draw_dashes(canvas, p, k, stations)


def _draw_dashes(canvas: Canvas, p: Any, k: int, stations: np.ndarray) -> None:
    """The broken line at the right side of a lane."""
    half = 0.5 * float(p.lane[k, at.WIDTH])
    for far in np.arange(math.floor(stations[0] / 9.0) * 9.0, stations[-1], 9.0):
        ends = [point_on(p, k, max(float(far) + d, 0.0), half) for d in (0.0, 3.0)]
        canvas.line([(float(a), -float(b)) for a, b in ends], LINE, 1.5)


def is_narrow(p: Any) -> bool:
    """Whether all lanes lie within a few metres, as those of a road for both directions."""
    return float(p.lane[:, at.HIGH_Y].max() - p.lane[:, at.LOW_Y].min()) < NARROW


def draw_cars(canvas: Canvas, p: Any, s: Any, near: bool = True) -> None:
    """All bodies; close up with their windscreens, and where they want to go if that is another lane."""
    narrow = is_narrow(p)
    for i in range(int(s.bodies)):
        own = i == int(s.ego)
        comes = narrow and math.cos(float(s.heading[i]) - float(s.heading[s.ego])) < 0.0
        other = ONCOMING[0] if comes else "orange" if i < s.movers else "black"
        color = "red" if s.crashed[i] and i < s.movers else "blue" if own else other
        x, y, heading = float(s.x[i]), float(s.y[i]), float(s.heading[i])
        length, width = float(s.box[i, 0]), float(s.box[i, 1])
        if not near:
            canvas.circle((x, -y), 3.4 if own else 2.6, color)
            continue
        canvas.polygon(rectangle(x, y, heading, length, width), color)
        if i < s.movers:
            canvas.polygon(rectangle(x, y, heading, 0.18 * length, 0.8 * width, 0.14 * length), GLASS)
            _draw_intention(canvas, p, s, i)


def _draw_intention(canvas: Canvas, p: Any, s: Any, i: int) -> None:
    """An arrow of who changes lanes."""
    k = int(s.target_lane[i])
    if s.driver[i] < -1 or k == int(s.lane_of[i]) or p.lane_at[k, at.ROAD] != p.lane_at[int(s.lane_of[i]), at.ROAD]:
        return
    x, y = float(s.x[i]), float(s.y[i])
    forward, _ = at.along_and_across(p, k, x, y)
    tx, ty = point_on(p, k, float(forward) + 7.0, 0.0)
    canvas.arrow((x, -y), (float(tx), -float(ty)), "white", 2.0)


def draw_traffic(canvas: Canvas, p: Any, s: Any, exits: Sequence[int] = ()) -> None:
    """The image of a driving world.

    Args:
        exits: lanes that are the way to go, where the ego car has no route.
    """
    way = _way_of(p, s, exits)
    rest = ((ONCOMING, is_narrow(p)), (OBSTACLE, s.bodies > s.movers), (WAY, bool(way)))
    canvas.legend(*LEGEND, *(entry for entry, there in rest if there))
    low_x, low_y = (float(p.lane[:, column].min()) for column in (at.LOW_X, at.LOW_Y))
    high_x, high_y = (float(p.lane[:, column].max()) for column in (at.HIGH_X, at.HIGH_Y))
    x, y = float(s.x[s.ego]), float(s.y[s.ego])
    width, height = canvas.scene
    if high_x - low_x < FLAT * (high_y - low_y):
        wide = 1.3 * NEAR
        half = 0.5 * wide * height / width
        canvas.view(x - 0.5 * wide, x + 0.5 * wide, -y - half, -y + half)
        _draw_part(canvas, p, s, (x, y), wide, True, way)
    else:
        close = CLOSE if is_narrow(p) else NEAR
        long = min(STRIP, 1.1 * (high_x - low_x))
        for area, wide, near in (((0.0, 0.0, 1.0, 0.72), close, True), ((0.0, 0.74, 1.0, 1.0), long, False)):
            half = 0.5 * wide * height * (area[3] - area[1]) / width
            across = _middle(y, low_y, high_y, half)
            along = x + 0.2 * wide * math.cos(float(s.heading[s.ego]))
            if wide > high_x - low_x:  # all of it
                along, across = 0.5 * (low_x + high_x), 0.5 * (low_y + high_y)
                wide = max(wide, 1.1 * (high_y - low_y) * wide / (2.0 * half))
                half = 0.5 * wide * height * (area[3] - area[1]) / width
            canvas.view(along - 0.5 * wide, along + 0.5 * wide, -across - half, -across + half, area)
            _draw_part(canvas, p, s, (along, across), wide, near, way)
    k = int(s.lane_of[s.ego])
    said = (
        f"{float(s.speed[s.ego]) * 3.6:.0f} km/h",
        f"lane {int(p.lane_at[k, at.PLACE]) + 1} of {int(at.lane_count(p, k))}",
    )
    canvas.caption(*said, "crash" if s.crashed[s.ego] else f"{int(s.movers) - 1} other cars")


def _middle(y: float, low: float, high: float, half: float) -> float:
    """The middle of a view of 2 `half` around y that shows no more than it must of what lies beside the road."""
    edge = 4.0
    if high - low + 2.0 * edge <= 2.0 * half:
        return 0.5 * (low + high)
    return min(max(y, low - edge + half), high + edge - half)


def _way_of(p: Any, s: Any, exits: Sequence[int]) -> list[list[tuple[float, float]]]:
    """The middle of the lanes that the ego car is to drive, from where it is to the end of its route."""
    ego = int(s.ego)
    k, stage = int(s.lane_of[ego]), int(s.stage[ego])
    roads = [int(road) for road in s.route[ego, stage:] if road >= 0]
    if exits:
        parts = [(lane, 0.0) for lane in exits]
    elif len(roads) > 1 and roads[0] == p.lane_at[k, at.ROAD]:
        place = int(p.lane_at[k, at.PLACE])
        parts = [(k, float(s.station[ego]))]
        for road in roads[1:]:
            parts.append((int(p.road[road, at.FIRST]) + min(place, int(p.road[road, at.COUNT]) - 1), 0.0))
    else:
        return []
    return [_middle_of(p, lane, first) for lane, first in parts]


def _middle_of(p: Any, k: int, first: float) -> list[tuple[float, float]]:
    """The middle of lane k from a place on."""
    length = float(p.lane[k, at.LENGTH])
    count = 2 if p.lane_at[k, at.SHAPE] == at.STRAIGHT else 16
    points = [point_on(p, k, float(far), 0.0) for far in np.linspace(min(first, length), length, count)]
    return [(float(x), -float(y)) for x, y in points]


def _draw_part(
    canvas: Canvas, p: Any, s: Any, middle: tuple[float, float], wide: float, near: bool, way: list[Any]
) -> None:
    x, y = middle
    canvas.rectangle(x - wide, -y - wide, x + wide, -y + wide, GRASS)
    draw_lanes(canvas, p, x, y, wide, near)
    for points in way:
        canvas.line(points, "green", 2.5)
    draw_cars(canvas, p, s, near)


def draw_lane_keeping(canvas: Canvas, p: Any, s: Any) -> None:
    """The lane around the car, and its middle."""
    canvas.legend(("blue", "car"), ("green", "middle of the lane"))
    x, y, heading = (float(s.car[n]) for n in range(3))
    wide = 0.7 * NEAR
    half = 0.5 * wide * canvas.scene[1] / canvas.scene[0]
    canvas.view(x - 0.5 * wide, x + 0.5 * wide, -y - half, -y + half)
    canvas.rectangle(x - wide, -y - wide, x + wide, -y + wide, GRASS)
    draw_lanes(canvas, p, x, y, wide, lines=False)
    k = int(s.lane)
    here, _ = at.along_and_across(p, k, x, y)
    stations = np.clip(np.linspace(float(here) - wide, float(here) + wide, 40), 0.0, float(p.lane[k, at.LENGTH]))
    middle = [point_on(p, k, float(far), 0.0) for far in stations]
    canvas.line([(float(a), -float(b)) for a, b in middle], "green", 2.5)
    canvas.polygon(rectangle(x, y, heading, 5.0, 2.0), "blue")
    canvas.polygon(rectangle(x, y, heading, 0.9, 1.6, 0.7), GLASS)
    canvas.caption(f"{float(s.car[3]) * 3.6:.0f} km/h", f"{abs(float(s.aside)):.2f} m from the middle")


def draw_parking(canvas: Canvas, p: Any, s: Any) -> None:
    """The whole lot, the goal green."""
    canvas.legend(("blue", "car"), ("green", "parking spot"), ("orange", "parked car"), ("black", "wall"))
    canvas.view(-38.0, 38.0, -32.0, 32.0)
    canvas.rectangle(-60.0, -60.0, 60.0, 60.0, GRASS)
    canvas.rectangle(-35.0, -21.0, 35.0, 21.0, ASPHALT)
    for k in range(len(p.lane)):
        sides = [[point_on(p, k, far, side) for far in (0.0, 8.0)] for side in (-2.0, 2.0)]
        lines = [[(float(x), -float(y)) for x, y in side] for side in sides]
        if k == int(s.place):
            canvas.polygon([*lines[0], *reversed(lines[1])], "green")
        for side in lines:
            canvas.line(side, LINE, 1.5)
    draw_cars(canvas, p, s)
    off = -float(np.sqrt(abs(s.achieved[0] - s.desired[0]) + 0.3 * abs(s.achieved[1] - s.desired[1])))
    canvas.caption(f"{float(s.speed[0]) * 3.6:.0f} km/h", f"distance {-off:.2f}", "crash" if s.crashed[0] else "")
