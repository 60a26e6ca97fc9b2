"""Images of RallyRacer: course, patches, checkpoints and car from above."""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.tracks.road import LEFT_X, RIGHT_X, place
from rlenvs.kits.vehicles.single_track import STEER, YAW, X, Y
from rlenvs.robotics.racing.rally_camera import height
from rlenvs.robotics.racing.render_kart import box, outline

FIELD, ROAD, BOARDS, LOOSE = (196, 208, 170), (168, 148, 116), (190, 60, 50), (218, 200, 160)
CAR = 0.8  # m, half the length of the car as drawn, larger than it is
LEGEND = (("blue", "car"), ("green", "next checkpoint", "ring"), (LOOSE, "loose ground"), ((190, 170, 136), "hill"))


def draw_rally(canvas: Canvas, p: Any, s: Any) -> None:
    """The whole course."""
    canvas.legend(*LEGEND)
    road = p.road
    low_x, low_y = (float(min(road[:, a].min(), road[:, b].min())) for a, b in ((2, 4), (3, 5)))
    high_x, high_y = (float(max(road[:, a].max(), road[:, b].max())) for a, b in ((2, 4), (3, 5)))
    canvas.view(low_x - 0.6, high_x + 0.6, low_y - 0.6, high_y + 0.6)
    canvas.rectangle(low_x - 50.0, low_y - 50.0, high_x + 50.0, high_y + 50.0, FIELD)
    left = [(float(row[LEFT_X]), float(row[LEFT_X + 1])) for row in road]
    right = [(float(row[RIGHT_X]), float(row[RIGHT_X + 1])) for row in road]
    for i in range(len(road) - 1):
        middle = (left[i][0] + right[i][0]) / 2.0, (left[i][1] + right[i][1]) / 2.0
        light = 1.0 + 0.06 * height(s.waves, *middle)
        color = (int(ROAD[0] * light), int(ROAD[1] * light), int(ROAD[2] * light))
        canvas.polygon([left[i], right[i], right[i + 1], left[i + 1]], color)
    for start, length, low, high, _ in s.patches:
        steps = [float(start) + float(length) * k / 8 for k in range(9)]
        edge = [place(road, at, min(max(float(high), -1.05), 1.05))[:2] for at in steps]
        edge += [place(road, at, min(max(float(low), -1.05), 1.05))[:2] for at in reversed(steps)]
        canvas.polygon(edge, LOOSE)
    canvas.line(left, BOARDS, 3.0)
    canvas.line(right, BOARDS, 3.0)
    for n, (x, y) in enumerate(p.places):
        if n == int(s.goal):
            canvas.circle((float(x), float(y)), float(p.radius), "green", 4.0)
        canvas.circle((float(x), float(y)), 0.14, "green" if n == int(s.goal) else "grey")
    draw_car(canvas, float(s.car[X]), float(s.car[Y]), float(s.car[YAW]), float(s.car[STEER]))


def draw_car(canvas: Canvas, x: float, y: float, heading: float, steer: float) -> None:
    """A car with its front wheels turned."""
    for u in (-0.6 * CAR, 0.6 * CAR):
        for v in (-0.5 * CAR, 0.5 * CAR):
            turn = steer if u > 0.0 else 0.0
            wheel = [
                (u + a * math.cos(turn) - b * math.sin(turn), v + a * math.sin(turn) + b * math.cos(turn))
                for a, b in box(0.0, 0.0, 0.4 * CAR, 0.2 * CAR)
            ]
            canvas.polygon(outline(x, y, heading, wheel), "black")
    canvas.polygon(outline(x, y, heading, box(0.0, 0.0, 1.9 * CAR, 0.85 * CAR)), "blue")
    canvas.polygon(outline(x, y, heading, box(0.2 * CAR, 0.0, 0.4 * CAR, 0.65 * CAR)), "white")
