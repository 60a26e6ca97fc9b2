"""Pictures of flights: floor and back walls of the room in perspective, vehicles with their shadows, goals as rings."""

import math
from typing import Any

import numpy as np

from rlenvs.core.canvas import Canvas, agent_color

CAMERA = np.array([3.4, -4.6, 3.4])
TARGET = np.array([0.0, 0.0, 0.9])
MAGNIFIED = 5.0  # vehicles are drawn larger than they are, to be seen
ARM, ROTOR, BODY = 0.028 * MAGNIFIED, 0.0231 * MAGNIFIED, 0.012 * MAGNIFIED
GOAL_RADIUS = 0.1  # m, within which the goal counts as reached
FLOOR, LEFT_WALL, RIGHT_WALL, SHADOW = (214, 216, 214), (236, 237, 234), (228, 230, 228), (172, 176, 176)


def _view() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    forward = TARGET - CAMERA
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward), forward


RIGHT, UP, FORWARD = _view()


def _depth(point: Any) -> float:
    return float((np.asarray(point, float) - CAMERA) @ FORWARD)


def project(point: Any) -> tuple[float, float]:
    """A point of the room on the picture plane, in perspective."""
    offset = np.asarray(point, float) - CAMERA
    depth = max(_depth(point), 0.1)
    return float(offset @ RIGHT) / depth, float(offset @ UP) / depth


def rotation_matrix(q: Any) -> np.ndarray:
    """From body to world, of a quaternion x, y, z, w."""
    x, y, z, w = (float(v) for v in q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _ring(centre: Any, radius: float, first: Any, second: Any) -> list[tuple[float, float]]:
    angles = np.linspace(0.0, 2.0 * math.pi, 32, endpoint=False)
    rim = [math.cos(t) * np.asarray(first, float) + math.sin(t) * np.asarray(second, float) for t in angles]
    return [project(np.asarray(centre, float) + radius * point) for point in rim]


def _panel(canvas: Canvas, corner: Any, first: Any, second: Any, color: tuple[int, int, int]) -> None:
    """A rectangle of the room with lines every half metre, from one corner along two edges."""
    corner, first, second = (np.asarray(v, float) for v in (corner, first, second))
    canvas.polygon([project(corner + v) for v in (0.0 * first, first, first + second, second)], color)
    for along, across in ((first, second), (second, first)):
        length = float(np.linalg.norm(along))
        for place in np.arange(0.0, length + 1e-9, 0.5):
            start = corner + along * (place / length)
            canvas.line([project(start), project(start + across)], "white", 1.0)


def draw_room(canvas: Canvas, room: float, ceiling: float) -> None:
    """Fit the room into the picture; its floor and the two walls that are farthest from the viewer."""
    corners = [project((x, y, z)) for x in (-room, room) for y in (-room, room) for z in (0.0, ceiling)]
    hidden = project((room, -room, ceiling))  # the upper corner next to the viewer is not drawn
    across, up = zip(*(corner for corner in corners if corner != hidden), strict=True)
    margin = 0.03 * (max(across) - min(across))
    canvas.view(min(across) - margin, max(across) + margin, min(up) - margin, max(up) + margin)
    width, height = (0.0, 2.0 * room, 0.0), (0.0, 0.0, ceiling)
    _panel(canvas, (-room, -room, 0.0), (2.0 * room, 0.0, 0.0), width, FLOOR)
    _panel(canvas, (-room, -room, 0.0), width, height, LEFT_WALL)
    _panel(canvas, (-room, room, 0.0), (2.0 * room, 0.0, 0.0), height, RIGHT_WALL)


def draw_shadow(canvas: Canvas, position: Any) -> None:
    """The place below a vehicle."""
    below = (float(position[0]), float(position[1]), 0.0)
    canvas.polygon(_ring(below, ARM + ROTOR, (1, 0, 0), (0, 1, 0)), SHADOW)
    canvas.line([project(below), project(position)], SHADOW, 1.5)


def draw_vehicle(canvas: Canvas, position: Any, attitude: Any, color: str) -> None:
    """Arms and rotor discs; the two front rotors are orange."""
    rotation = rotation_matrix(attitude)
    centre = np.asarray(position, float)
    forward, left = rotation[:, 0], rotation[:, 1]
    rotors = [(front, centre + ARM * (front * forward + side * left)) for front in (1, -1) for side in (1, -1)]
    for _, rotor in rotors:
        canvas.line([project(centre), project(rotor)], "black", 4.0)
    for front, rotor in sorted(rotors, key=lambda pair: -_depth(pair[1])):
        disc = _ring(rotor, ROTOR, forward, left)
        canvas.polygon(disc, "orange" if front > 0 else color)
        canvas.line(disc, "black", 1.5, closed=True)
    canvas.polygon(_ring(centre, BODY, RIGHT, UP), "black")


def draw_goal(canvas: Canvas, goal: Any) -> None:
    """A ring as wide as the distance at which the goal counts as reached, and a mark on the floor below it."""
    below = (float(goal[0]), float(goal[1]), 0.0)
    canvas.line([project(below), project(goal)], "green", 1.5)
    canvas.polygon(_ring(below, 0.05, (1, 0, 0), (0, 1, 0)), "green")
    canvas.line(_ring(goal, GOAL_RADIUS, RIGHT, UP), "green", 4.0, closed=True)


def draw_flight(canvas: Canvas, s: Any, goals: list[Any], room: float, ceiling: float) -> None:
    """The room, the goals and the vehicle, what is far before what is near."""
    draw_room(canvas, room, ceiling)
    draw_shadow(canvas, s.position)
    behind = [goal for goal in goals if _depth(goal) > _depth(s.position)]
    for goal in behind:
        draw_goal(canvas, goal)
    draw_vehicle(canvas, s.position, s.attitude, agent_color(0))
    for goal in goals:
        if not any(goal is other for other in behind):
            draw_goal(canvas, goal)
