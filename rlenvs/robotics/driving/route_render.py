"""The image of RouteDrive: the streets around the car with its route, lights and crossings, and a map of the town."""

import math

import numpy as np

from rlenvs.kits.roads import lanes as at
from rlenvs.kits.roads.lanes import heading_on, point_on
from rlenvs.kits.roads.towns import REACH
from rlenvs.kits.traffic import signals
from rlenvs.robotics.driving.render import GLASS, GRASS, draw_lanes, rectangle
from rlenvs.robotics.driving.route_senses import way_point

WIDE = 78.0  # m of what is shown
STRIPE = (236, 236, 232)
PEOPLE = (150, 40, 170)
WAY = (120, 190, 240)
SHOWN = ((0, 170, 70), (245, 210, 0), (215, 25, 35))  # of lights
PLAN = (0.71, 0.02, 0.99, 0.28)


def _near(p, k, x, y, reach):
    return float(at.box_distance(p, k, x, y)) < reach


def _draw_way(canvas, p, s, ahead, width):
    left = max(float(p.route_length) - float(s.behind) - float(s.along), 0.0)
    points = [way_point(p, s, float(far)) for far in np.arange(0.0, min(ahead, left) + 1.0, 2.0)]
    if len(points) > 1:
        canvas.line([(float(x), -float(y)) for x, y in points], WAY, width)
    if left < ahead:
        x, y = way_point(p, s, left)
        canvas.circle((float(x), -float(y)), 2.5 if width < 20 else 4.0, "green")


def _draw_crossings(canvas, p, x, y):
    for x0, y0, x1, y1 in np.asarray(p.crossing, float):
        if abs(0.5 * (x0 + x1) - x) > WIDE or abs(0.5 * (y0 + y1) - y) > WIDE:
            continue
        length = math.hypot(x1 - x0, y1 - y0)
        heading = math.atan2(y1 - y0, x1 - x0)
        for n in range(8):
            share = 0.5 + (n - 3.5) / length
            across = 0.5 * (x0 + x1) + (x1 - x0) * (share - 0.5), 0.5 * (y0 + y1) + (y1 - y0) * (share - 0.5)
            canvas.polygon(rectangle(*across, heading + 0.5 * math.pi, 2.6, 0.5), STRIPE)


def _draw_lines(canvas, p, s, x, y):
    """Lights as bars across the end of their lanes; stop signs as red discs beside theirs."""
    for k in range(len(p.lane)):
        sign = int(p.lane_at[k, at.SIGN])
        if sign < 0 or not _near(p, k, x, y, WIDE):
            continue
        length, heading = float(p.lane[k, at.LENGTH]), float(heading_on(p, k, float(p.lane[k, at.LENGTH])))
        ex, ey = (float(v) for v in point_on(p, k, length, 0.0))
        if p.signal[sign, signals.KIND] == signals.STOP:
            canvas.polygon(rectangle(ex, ey, heading, 0.6, 3.6), STRIPE)
            sx, sy = (float(v) for v in point_on(p, k, length, 3.6))
            canvas.circle((sx, -sy), 1.6, SHOWN[2])
            canvas.text((sx, -sy), "S", "white", 12)
        else:
            shown = SHOWN[int(signals.colour(p.signal, sign, float(s.clock)))]
            canvas.polygon(rectangle(ex, ey, heading, 1.6, 3.8), shown)


def _draw_people(canvas, s):
    for n in range(len(s.walker_at)):
        canvas.circle((float(s.walker_x[n]), -float(s.walker_y[n])), 0.9, PEOPLE)


def _draw_cars(canvas, s, x, y):
    for i in range(int(s.movers) - 1, -1, -1):
        cx, cy, heading = float(s.x[i]), float(s.y[i]), float(s.heading[i])
        if abs(cx - x) > WIDE or abs(cy - y) > WIDE:
            continue
        color = "red" if s.crashed[i] else "blue" if i == 0 else "orange"
        canvas.polygon(rectangle(cx, cy, heading, 5.0, 2.0), color)
        canvas.polygon(rectangle(cx, cy, heading, 0.9, 1.6, 0.7), GLASS)


def _draw_plan(canvas, p, s):
    """The whole town, the way and the car."""
    first, last = (int(v) for v in p.slots_of[s.town])
    lanes = np.unique(p.slot[first:last, 0].astype(int))
    ends = np.array([point_on(p, k, far, 0.0) for k in lanes for far in (0.0, float(p.lane[k, at.LENGTH]))])
    low, high = ends.min(0) - 14.0, ends.max(0) + 14.0
    canvas.view(low[0], high[0], -high[1], -low[1], PLAN)
    canvas.rectangle(low[0] - 200.0, -high[1] - 200.0, high[0] + 200.0, -low[1] + 200.0, "white")
    for k in lanes:
        points = [point_on(p, k, far, 0.0) for far in (-REACH, float(p.lane[k, at.LENGTH]) + REACH)]
        canvas.line([(float(a), -float(b)) for a, b in points], (150, 154, 160), 3.0)
    _draw_way(canvas, p, s, 1e4, 3.0)
    canvas.circle((float(s.x[0]), -float(s.y[0])), 7.0, "blue")


def draw(canvas, p, s):
    """The streets around the car; in the corner a plan of the town."""
    canvas.legend(
        ("blue", "car"),
        (WAY, "its way"),
        ("orange", "other car"),
        (PEOPLE, "pedestrian"),
        ("green", "end of the route"),
    )
    x, y = float(s.x[0]), float(s.y[0])
    width, height = canvas.scene
    half = 0.5 * WIDE * height / width
    canvas.view(x - 0.5 * WIDE, x + 0.5 * WIDE, -y - half, -y + half)
    canvas.rectangle(x - WIDE, -y - WIDE, x + WIDE, -y + WIDE, GRASS)
    draw_lanes(canvas, p, x, y, WIDE)
    _draw_crossings(canvas, p, x, y)
    _draw_way(canvas, p, s, WIDE, 5.0)
    _draw_lines(canvas, p, s, x, y)
    _draw_people(canvas, s)
    _draw_cars(canvas, s, x, y)
    _draw_plan(canvas, p, s)
    k = int(s.way[s.leg])
    limit = f"limit {float(p.lane[k, at.LIMIT]) * 3.6:.0f}"
    said = f"{float(s.speed[0]) * 3.6:.0f} km/h, {limit}"
    done = 100.0 * float(s.made) / float(p.route_length)
    waits = f"standing for {float(s.waited):.0f} s" if s.waited >= 1.0 else ""
    canvas.caption(said, f"{done:.0f} % of the route", waits)
