"""Pictures of flights: the room in perspective, vehicles with arms and rotors, shadows on the floor."""

import math
from typing import Any

import numpy as np

from rlenvs.core.canvas import Canvas, agent_color

CAMERA = np.array([3.2, -3.6, 2.4])
TARGET = np.array([0.0, 0.0, 0.75])
MAGNIFIED = 3.0  # vehicles are drawn larger than they are, to be seen


def _view() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    forward = TARGET - CAMERA
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward), forward


RIGHT, UP, FORWARD = _view()


def project(point: Any) -> tuple[float, float]:
    """A point of the room on the picture plane, in perspective."""
    offset = np.asarray(point, float) - CAMERA
    depth = max(float(offset @ FORWARD), 0.1)
    return 5.0 * float(offset @ RIGHT) / depth, 5.0 * float(offset @ UP) / depth


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
    angles = np.linspace(0.0, 2.0 * math.pi, 24, endpoint=False)
    return [project(np.asarray(centre) + radius * (math.cos(t) * np.asarray(first) + math.sin(t) * np.asarray(second))) for t in angles]


def draw_room(canvas: Canvas, room: float, ceiling: float) -> None:
    """Floor with a grid of half a metre, and the edges of the room."""
    corners = [(-room, -room), (room, -room), (room, room), (-room, room)]
    canvas.polygon([project((x, y, 0.0)) for x, y in corners], "light")
    for value in np.arange(-room, room + 1e-9, 0.5):
        canvas.line([project((value, -room, 0.0)), project((value, room, 0.0))], "white", 1.0)
        canvas.line([project((-room, value, 0.0)), project((room, value, 0.0))], "white", 1.0)
    for x, y in corners[1:]:
        canvas.line([project((x, y, 0.0)), project((x, y, ceiling))], "grey", 1.0)
    canvas.line([project((x, y, ceiling)) for x, y in corners[1:]], "grey", 1.0)


def draw_vehicle(canvas: Canvas, position: Any, attitude: Any, color: str) -> None:
    """Arms, rotor discs and a shadow; the front arms are red."""
    rotation = rotation_matrix(attitude)
    centre = np.asarray(position, float)
    forward, left = rotation[:, 0], rotation[:, 1]
    shadow = np.array([centre[0], centre[1], 0.0])
    canvas.polygon(_ring(shadow, 0.03 * MAGNIFIED, (1, 0, 0), (0, 1, 0)), "grey")
    canvas.line([project(shadow), project(centre)], "grey", 1.0)
    for front, side in ((1, -1), (-1, -1), (-1, 1), (1, 1)):
        rotor = centre + 0.028 * MAGNIFIED * (front * forward + side * left)
        canvas.line([project(centre), project(rotor)], "red" if front > 0 else "black", 3.0)
        canvas.polygon(_ring(rotor, 0.0231 * MAGNIFIED, forward, left), color, 2.0)
    canvas.circle(project(centre), 0.05, color)


def draw_flight(canvas: Canvas, s: Any, goals: list[Any], room: float, ceiling: float) -> None:
    """The room, goals as rings with a mark on the floor, and the vehicle."""
    canvas.view(-2.9, 2.9, -2.7, 3.1)
    draw_room(canvas, room, ceiling)
    for goal in goals:
        canvas.line([project((goal[0], goal[1], 0.0)), project(goal)], "green", 1.0)
        canvas.circle(project((goal[0], goal[1], 0.0)), 0.04, "green")
        canvas.circle(project(goal), 0.12, "green", 3.0)
    draw_vehicle(canvas, s.position, s.attitude, agent_color(0))
