"""Images of navigation tasks: the floor from above."""

import math
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas
from rlenvs.robotics.navigation.lidar import scan
from rlenvs.robotics.navigation.point import BALL, NOSE, NOSE_AT
from rlenvs.robotics.navigation.vases import HALF

# mixtures with the colour of the floor, because the canvas has no transparency
GOAL, HAZARD, FLOOR = (150, 214, 190), (244, 206, 186), (238, 238, 233)
LEGEND: dict[str, Any] = {
    "goal": ("green", "goal", "ring"),
    "hazards": ("red", "hazard", "ring"),
    "vases": ("orange", "vase"),
}
RINGS = (("goal", "green", 0.2), ("hazards", "red", 0.26), ("vases", "orange", 0.32))


def _box(x: float, y: float, cosine: float, sine: float, half: float) -> list[tuple[float, float]]:
    corners = ((half, half), (-half, half), (-half, -half), (half, -half))
    return [(x + cosine * u - sine * v, y + sine * u + cosine * v) for u, v in corners]


def draw_floor(canvas: Canvas, extent: float, s: Any) -> None:
    """The square in which things are placed, with a grid of half a meter, and around it as much as shows the robot."""
    edge = max(1.12 * extent, float(np.abs(s.position).max()) + 2.0 * BALL)
    width, height = canvas.scene
    wide = edge * width / height
    canvas.view(-wide, wide, -edge, edge)
    canvas.rectangle(-wide, -edge, wide, edge, FLOOR)
    for value in np.arange(-math.floor(wide / 0.5) * 0.5, wide, 0.5):
        canvas.line([(value, -edge), (value, edge)], "background", 1.5)
        canvas.line([(-wide, value), (wide, value)], "background", 1.5)
    canvas.rectangle(-extent, -extent, extent, extent, "grey", 1.0)


def draw_things(canvas: Canvas, p: Any, s: Any) -> None:
    """Hazards as red discs, the goal as a green one, vases as orange boxes."""
    for x, y in s.hazards:
        canvas.circle((x, y), p.hazard_radius, HAZARD)
        canvas.circle((x, y), p.hazard_radius, "red", 1.5)
    canvas.circle(s.goal[0], p.goal_radius, GOAL)
    canvas.circle(s.goal[0], p.goal_radius, "green", 2.5)
    for (x, y), (cosine, sine) in zip(s.vases, s.vase_axis, strict=True):
        canvas.polygon(_box(x, y, cosine, sine, HALF), "orange")
        canvas.polygon(_box(x, y, cosine, sine, HALF), "black", 1.0)


def draw_legend(canvas: Canvas, s: Any) -> None:
    """What there is in this task."""
    found = [entry for name, entry in LEGEND.items() if len(s[name])]
    canvas.legend(("black", "robot", "disc"), *found, ("grey", "lidar: the larger, the closer", "disc"))


def draw_robot(canvas: Canvas, s: Any, alarmed: bool) -> None:
    """The ball with its nose; a red ring around it while it costs."""
    x, y = float(s.position[0]), float(s.position[1])
    cosine, sine = math.cos(s.heading), math.sin(s.heading)
    canvas.circle((x, y), BALL, "red" if alarmed else "black")
    canvas.polygon(_box(x + NOSE_AT * cosine, y + NOSE_AT * sine, cosine, sine, NOSE), "yellow")
    canvas.polygon(_box(x + NOSE_AT * cosine, y + NOSE_AT * sine, cosine, sine, NOSE), "black", 1.0)


def draw_lidar(canvas: Canvas, p: Any, s: Any) -> None:
    """A ring of dots around the robot for each kind of object: the larger, the closer."""
    x, y = float(s.position[0]), float(s.position[1])
    readings = np.zeros(p.lidar_bins)
    for name, color, radius in RINGS:
        if len(s[name]) == 0:
            continue
        scan(readings, s[name], x, y, s.heading, p.lidar_range)
        for k, closeness in enumerate(readings):
            angle = s.heading + 2.0 * math.pi * (k + 0.5) / len(readings)
            if closeness > 0.0:
                canvas.circle((x + radius * math.cos(angle), y + radius * math.sin(angle)), 0.04 * closeness, color)
