"""Scenes: the static shapes above the floor, as an array with a row per shape.

A row is kind, x, y, z, a, b, c, yaw, red, green, blue and a spare number; lengths in meters, yaw in radians, colors 0
to 1. a, b, c are the radius of a sphere, the radius and half height of an upright cylinder, the half sizes of a box
along its own axes. The floor, z = 0, is not a shape. Kernels fill rows when an episode starts and measure distances in
every step; the camera draws the same rows.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import kernel, maths

KIND, X, Y, Z, A, B, C, YAW, RED, GREEN, BLUE, SPARE = range(12)
COLUMNS = 12
NOTHING, SPHERE, BOX, CYLINDER = range(4)
KIND_NAMES = ("nothing", "sphere", "box", "cylinder")
GATE_ROWS = 4
NO_SHAPE = 1e9  # m, the clearance in an empty scene
TOUCH = 1e-9  # m, shapes that overlap by less only touch


# 13 parameters: a row of the table, number by number
@kernel
def _put(shapes, row, kind, x, y, z, a, b, c, yaw, red, green, blue):
    shapes[row, KIND], shapes[row, YAW], shapes[row, SPARE] = kind, yaw, 0.0
    shapes[row, X], shapes[row, Y], shapes[row, Z] = x, y, z
    shapes[row, A], shapes[row, B], shapes[row, C] = a, b, c
    shapes[row, RED], shapes[row, GREEN], shapes[row, BLUE] = red, green, blue


@kernel
def put_sphere(shapes, row, x, y, z, radius, red, green, blue):
    _put(shapes, row, SPHERE, x, y, z, radius, 0.0, 0.0, 0.0, red, green, blue)


@kernel
def put_box(shapes, row, x, y, z, half_x, half_y, half_z, yaw, red, green, blue):
    """A box with these half sizes along its own axes, turned by `yaw` about the vertical."""
    _put(shapes, row, BOX, x, y, z, half_x, half_y, half_z, yaw, red, green, blue)


@kernel
def put_cylinder(shapes, row, x, y, z, radius, half_height, red, green, blue):
    """An upright cylinder."""
    _put(shapes, row, CYLINDER, x, y, z, radius, half_height, 0.0, 0.0, red, green, blue)


@kernel
def put_gate(shapes, row, x, y, z, yaw, half_opening, thickness, red, green, blue):
    """An upright square frame around (x, y, z) that is flown through in the direction `yaw`; four rows from `row` on.

    The opening is 2 `half_opening` wide and high; the bars around it (left, right, lower, upper) are square,
    `thickness` wide. They touch and do not overlap.
    """
    half = 0.5 * thickness
    middle = half_opening + half
    left_x, left_y = -maths.sin(yaw) * middle, maths.cos(yaw) * middle
    put_box(shapes, row, x + left_x, y + left_y, z, half, half, half_opening, yaw, red, green, blue)
    put_box(shapes, row + 1, x - left_x, y - left_y, z, half, half, half_opening, yaw, red, green, blue)
    put_box(shapes, row + 2, x, y, z - middle, half, half_opening + thickness, half, yaw, red, green, blue)
    put_box(shapes, row + 3, x, y, z + middle, half, half_opening + thickness, half, yaw, red, green, blue)


@kernel
def distance_to_shape(shapes, row, x, y, z):
    """Signed distance [m] from a point to the surface of one shape, negative inside; NO_SHAPE for an empty row."""
    kind = shapes[row, KIND]
    x, y, z = x - shapes[row, X], y - shapes[row, Y], z - shapes[row, Z]
    if kind == SPHERE:
        return math.sqrt(x * x + y * y + z * z) - shapes[row, A]
    if kind == CYLINDER:
        out_side = math.sqrt(x * x + y * y) - shapes[row, A]
        out_end = abs(z) - shapes[row, B]
        beyond_side, beyond_end = max(out_side, 0.0), max(out_end, 0.0)
        return math.sqrt(beyond_side**2 + beyond_end**2) + min(max(out_side, out_end), 0.0)
    if kind == BOX:
        cosine, sine = maths.cos(shapes[row, YAW]), maths.sin(shapes[row, YAW])
        out_x = abs(cosine * x + sine * y) - shapes[row, A]
        out_y = abs(cosine * y - sine * x) - shapes[row, B]
        out_z = abs(z) - shapes[row, C]
        beyond_x, beyond_y, beyond_z = max(out_x, 0.0), max(out_y, 0.0), max(out_z, 0.0)
        return math.sqrt(beyond_x**2 + beyond_y**2 + beyond_z**2) + min(max(out_x, out_y, out_z), 0.0)
    return NO_SHAPE


@kernel
def clearance(shapes, x, y, z):
    """Signed distance [m] from a point to the nearest shape, negative inside it; NO_SHAPE where there is none."""
    nearest = NO_SHAPE
    for row in range(shapes.shape[0]):
        nearest = min(nearest, distance_to_shape(shapes, row, x, y, z))
    return nearest


def check_scene(shapes: np.ndarray) -> None:
    """Refuse a scene in which two shapes overlap; touching is allowed. Plain Python, for scenes made at build time.

    Args:
        shapes: (S, 12), a row per shape.

    Raises:
        ValueError: if a row has no known kind, or two shapes overlap by more than TOUCH.
    """
    for row, kind in enumerate(shapes[:, KIND]):
        if kind not in range(len(KIND_NAMES)):
            known = ", ".join(f"{number} {name}" for number, name in enumerate(KIND_NAMES))
            raise ValueError(
                f"shape {row} has kind {kind:g}; known are {known}: fill rows with put_sphere, put_box, ..."
            )
    rows = [row for row in range(len(shapes)) if shapes[row, KIND] != NOTHING]
    for place, first in enumerate(rows):
        for second in rows[place + 1 :]:
            overlap = _overlap(shapes, first, second)
            if overlap > TOUCH:
                raise ValueError(
                    f"{_name(shapes, first)} and {_name(shapes, second)} overlap by {overlap:.3g} m; "
                    "move one of them away or make it smaller"
                )


def _name(shapes: np.ndarray, row: int) -> str:
    x, y, z = shapes[row, X : Z + 1]
    return f"shape {row} ({KIND_NAMES[int(shapes[row, KIND])]} at {x:g}, {y:g}, {z:g})"


def _overlap(shapes: np.ndarray, first: int, second: int) -> float:
    """How deep two shapes reach into each other [m]; negative if they are apart."""
    for ball, other in ((first, second), (second, first)):
        if shapes[ball, KIND] == SPHERE:
            return shapes[ball, A] - distance_to_shape(shapes, other, *shapes[ball, X : Z + 1])
    return min(_overlap_upright(shapes, first, second), _overlap_from_above(shapes, first, second))


def _overlap_upright(shapes: np.ndarray, first: int, second: int) -> float:
    half_heights = (shapes[row, C if shapes[row, KIND] == BOX else B] for row in (first, second))
    return sum(half_heights) - abs(shapes[first, Z] - shapes[second, Z])


def _overlap_from_above(shapes: np.ndarray, first: int, second: int) -> float:
    """The same for the outlines of boxes and cylinders, by separating directions."""
    offset = shapes[second, X : Y + 1] - shapes[first, X : Y + 1]
    directions: list[Any] = [_axes(shapes, row) for row in (first, second) if shapes[row, KIND] == BOX]
    if shapes[first, KIND] == shapes[second, KIND] == CYLINDER:
        return shapes[first, A] + shapes[second, A] - float(np.hypot(*offset))
    if len(directions) == 1:
        disc, box = (first, second) if shapes[first, KIND] == CYLINDER else (second, first)
        return shapes[disc, A] - distance_to_shape(shapes, box, shapes[disc, X], shapes[disc, Y], shapes[box, Z])
    reach = [sum(_half_width(shapes, row, axis) for row in (first, second)) for axis in np.vstack(directions)]
    return min(r - abs(float(axis @ offset)) for r, axis in zip(reach, np.vstack(directions), strict=True))


def _axes(shapes: np.ndarray, row: int) -> np.ndarray:
    cosine, sine = math.cos(shapes[row, YAW]), math.sin(shapes[row, YAW])
    return np.array([[cosine, sine], [-sine, cosine]])


def _half_width(shapes: np.ndarray, row: int, direction: np.ndarray) -> float:
    """Of a box seen from above, along a direction."""
    return float(np.abs(_axes(shapes, row) @ direction) @ shapes[row, A : B + 1])
