"""Overlays on MuJoCo's image of an arm: goals, which the hand would hide, and the objects that belong there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.canvas import Canvas, Color

LEAST_RING = 12.0  # pixels, the radius of a goal's ring at least
DOT = 4.5  # pixels, the radius of the dot on what is to go to the goal


class View(NamedTuple):
    """A camera: where it is and what it looks at, m, and its vertical field of view, degrees."""

    eye: tuple[float, float, float]
    focus: tuple[float, float, float]
    fov: float


class Way(NamedTuple):
    """Something that is to go to a goal: their places and the radius of the goal, m, and their colors."""

    thing: Any
    goal: Any
    radius: float
    color: Color = "orange"
    goal_color: Color = "green"


def project(view: View, points: Any) -> np.ndarray:
    """Where a camera sees points: to the right and up, in half heights of its image, and their depth, m; (n, 3)."""
    back = np.subtract(view.eye, view.focus)
    right = np.cross((0.0, 0.0, 1.0), back)
    axes = np.stack([right, np.cross(back, right), back])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    seen = (np.reshape(np.asarray(points, float), (-1, 3)) - view.eye) @ axes.T
    depth = np.maximum(-seen[:, 2:], 0.01)
    return np.hstack([seen[:, :2] / (depth * math.tan(0.5 * math.radians(view.fov))), depth])


def look_through(canvas: Canvas, legend: Sequence[Any]) -> float:
    """Set a canvas with an engine's image to the coordinates of `project`, whose part below the legend is covered.

    Returns:
        the length of a pixel.
    """
    width, height = canvas.scene
    canvas.legend(*legend)
    wide = width / height
    canvas.view(-wide, wide, -1.0, 1.0, (0.0, 0.0, 1.0, height / canvas.scene[1]))
    return 2.0 / height


def draw_ways(canvas: Canvas, ways: Sequence[Way], legend: Sequence[Any], *caption: str, view: View) -> None:
    """Over the image of a task: a ring around each goal, a dot on what is to go there, and a line between them."""
    pixel = look_through(canvas, legend)
    for way in ways:
        (x0, y0, _), (x1, y1, depth) = project(view, [way.thing, way.goal])
        radius = max(way.radius / (depth * math.tan(0.5 * math.radians(view.fov))), LEAST_RING * pixel)
        apart = math.hypot(x1 - x0, y1 - y0)
        if apart > radius:
            end = (x1 - radius * (x1 - x0) / apart, y1 - radius * (y1 - y0) / apart)
            canvas.line([(x0, y0), end], "white", 3.5)
            canvas.line([(x0, y0), end], way.goal_color, 1.5)
        canvas.circle((x1, y1), radius + 1.5 * pixel, "white", 6.0)
        canvas.circle((x1, y1), radius, way.goal_color, 3.0)
        canvas.circle((x0, y0), (DOT + 1.5) * pixel, "white")
        canvas.circle((x0, y0), DOT * pixel, way.color)
    canvas.caption(*caption)


def apart(a: Any, b: Any) -> str:
    """The distance between two places, as text."""
    distance = float(np.linalg.norm(np.subtract(np.asarray(a, float)[:3], np.asarray(b, float)[:3])))
    return f"{100.0 * distance:.1f} cm"
