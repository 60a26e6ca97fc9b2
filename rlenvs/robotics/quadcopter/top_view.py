"""The map in a corner of a flight's image: the surroundings from above."""

import math
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.robotics.quadcopter.painter import SHADOW, mix, nice_length, rectangle, shape_color
from rlenvs.robotics.quadcopter.scene import BOX, KIND, YAW, A, B, X, Y, Z

FLOOR, LINK = (232, 233, 230), (120, 124, 124)
FEW = 12  # so many vehicles or goals are drawn large


def draw_map(canvas: Canvas, flight: Any, centre: Any, half: Any, size: float, corner: Any) -> None:
    """The surroundings from above, y up, in a panel whose longer side is `size` of the scene's width.

    Its place is given by the free space left of it and above it, 0 or 1 of what there is.
    """
    (x, y), (half_x, half_y), edge = centre, half, max(half)
    left, right, top = x - half_x - 0.12 * edge, x + half_x + 0.12 * edge, y + half_y + 0.12 * edge
    bottom = y - half_y - 0.36 * edge  # with a strip for the scale
    scale = size / max(right - left, top - bottom)
    scene_width, scene_height = canvas.scene
    pixel = 1.0 / (scale * scene_width)
    width, height = scale * (right - left), scale * (top - bottom) * scene_width / scene_height
    x0, y0 = 0.02 + corner[0] * (0.96 - width), 0.02 + corner[1] * (0.96 - height)
    canvas.view(left, right, bottom, top, (x0, y0, x0 + width, y0 + height))
    canvas.rectangle(left, bottom, right, top, "white")
    canvas.rectangle(x - half_x, y - half_y, x + half_x, y + half_y, FLOOR)
    canvas.rectangle(x - half_x, y - half_y, x + half_x, y + half_y, SHADOW, 1.0)
    _draw_plan(canvas, flight, pixel)
    low, high = np.array([left, bottom]) + 6.0 * pixel, np.array([right, top]) - 6.0 * pixel
    for k, goal in enumerate(flight.goals):
        radius = 4.0 if len(flight.goals) <= FEW else 2.5
        canvas.circle(np.clip(goal[:2], low, high), radius * pixel, flight.goal_color(k), 1.5)
    for k, position in enumerate(flight.position):
        length = 11.0 if len(flight.position) == 1 else 8.0 if len(flight.position) <= FEW else 5.0
        ahead = flight.rotation[k, :2, 0]
        yaw = math.atan2(ahead[1], ahead[0])
        _draw_pointer(canvas, np.clip(position[:2], low, high), yaw, length * pixel, flight.color(k))
    bar, level = nice_length(0.6 * half_x), bottom + 0.14 * edge
    canvas.line([(x - half_x, level), (x - half_x + bar, level)], "black", 2.0)
    canvas.text((x - half_x + bar + 4.0 * pixel, level), f"{bar:g} m", "black", 10)
    _draw_wind(canvas, flight.wind, (x + half_x, level), pixel)
    canvas.rectangle(left, bottom, right, top, LINK, 1.5)
    canvas.view(0.0, 1.0, 0.0, 1.0)


def _draw_plan(canvas: Canvas, flight: Any, pixel: float) -> None:
    """Shapes, path, gates and links from above; `pixel` is a pixel's length in meters."""
    for row in flight.shapes:
        if row[KIND] == BOX:
            canvas.polygon(rectangle(row[X : Z + 1], row[A], row[B], row[YAW]), shape_color(row))
        else:
            canvas.circle(row[X : Y + 1], row[A], shape_color(row))
    canvas.line(flight.path, "pink", 1.0)
    for pair in flight.links:
        canvas.line(flight.position[pair], LINK, 1.0)
    for g, (gate, color) in enumerate(zip(flight.gates, flight.gate_colors, strict=True)):
        ahead = np.array([math.cos(gate[3]), math.sin(gate[3])])
        left = np.array([-ahead[1], ahead[0]])
        reach = max(flight.half_outer, 4.0 * pixel)
        canvas.line([gate[:2] - reach * left, gate[:2] + reach * left], color, 3.0)
        canvas.text(gate[:2] + 9.0 * pixel * ahead, str(g + 1), mix(color, "black", 0.3), 10, "centre")


def _draw_pointer(canvas: Canvas, position: Any, yaw: float, length: float, color: Color) -> None:
    """A vehicle from above, its tip in front."""
    c, s = math.cos(yaw), math.sin(yaw)
    outline = [
        (float(position[0]) + length * (u * c - v * s), float(position[1]) + length * (u * s + v * c))
        for u, v in ((0.65, 0.0), (-0.5, 0.45), (-0.25, 0.0), (-0.5, -0.45))
    ]
    canvas.polygon(outline, color)


def _draw_wind(canvas: Canvas, wind: np.ndarray, end: Any, pixel: float) -> None:
    """An arrow along the wind and its speed, to the left of a point."""
    speed = math.hypot(wind[0], wind[1])
    if speed < 0.05:
        return
    canvas.text(end, f"{speed:.1f} m/s", "blue", 10, "right")
    reach = 7.0 * pixel * wind[:2] / speed
    middle = np.array([end[0] - 52.0 * pixel, end[1]])
    canvas.arrow((middle - reach).tolist(), (middle + reach).tolist(), "blue", 1.5)
