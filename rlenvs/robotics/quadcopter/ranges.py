"""Range sensors: the distance along a ray to the shapes of a scene, exact for every kind of shape.

Shapes are the rows of scene.py. They are convex, so a ray is inside one between the point where it has entered all its
sides and the point where it leaves the first.
"""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.quadcopter.scene import BOX, CYLINDER, KIND, NO_SHAPE, SPHERE, YAW, A, B, C, X, Y, Z, clearance

FINEST = 0.005  # m, the smallest step of a march along a way


@kernel
def _between(start, slope, half):
    """When start + t slope enters and leaves [-half, half]; (NO_SHAPE, -NO_SHAPE) if never."""
    if abs(slope) < 1e-12:
        return (-NO_SHAPE, NO_SHAPE) if abs(start) <= half else (NO_SHAPE, -NO_SHAPE)
    first, second = (-half - start) / slope, (half - start) / slope
    return min(first, second), max(first, second)


@kernel
def _within(square, along, off, radius):
    """The same for a distance, off + 2 t along + t^2 square its square, below a radius."""
    if square < 1e-24:
        return (-NO_SHAPE, NO_SHAPE) if off <= radius * radius else (NO_SHAPE, -NO_SHAPE)
    inside = along * along - square * (off - radius * radius)
    if inside < 0.0:
        return NO_SHAPE, -NO_SHAPE
    root = math.sqrt(inside)
    return (-along - root) / square, (-along + root) / square


@kernel
def ray_to_shape(shapes, row, x, y, z, dx, dy, dz):
    """Distance [m] from a point to one shape along a direction (dx, dy, dz) of length 1.

    0 where the point is inside, NO_SHAPE where the ray misses the shape or the row is empty.
    """
    kind = shapes[row, KIND]
    x, y, z = x - shapes[row, X], y - shapes[row, Y], z - shapes[row, Z]
    enter, leave = NO_SHAPE, -NO_SHAPE
    if kind == SPHERE:
        enter, leave = _within(1.0, x * dx + y * dy + z * dz, x * x + y * y + z * z, shapes[row, A])
    elif kind == CYLINDER:
        enter, leave = _within(dx * dx + dy * dy, x * dx + y * dy, x * x + y * y, shapes[row, A])
        low, high = _between(z, dz, shapes[row, B])
        enter, leave = max(enter, low), min(leave, high)
    elif kind == BOX:
        cosine, sine = maths.cos(shapes[row, YAW]), maths.sin(shapes[row, YAW])
        enter, leave = _between(cosine * x + sine * y, cosine * dx + sine * dy, shapes[row, A])
        low, high = _between(cosine * y - sine * x, cosine * dy - sine * dx, shapes[row, B])
        enter, leave = max(enter, low), min(leave, high)
        low, high = _between(z, dz, shapes[row, C])
        enter, leave = max(enter, low), min(leave, high)
    return max(enter, 0.0) if leave >= max(enter, 0.0) else NO_SHAPE


@kernel
def outline_radius(shapes, row):
    """Radius [m] of the circle around a shape, seen from above; 0 for an empty row."""
    if shapes[row, KIND] == BOX:
        return math.sqrt(shapes[row, A] ** 2 + shapes[row, B] ** 2)
    return shapes[row, A]


@kernel
def half_height(shapes, row):
    """How far [m] a shape reaches up and down from its middle; 0 for an empty row."""
    kind = shapes[row, KIND]
    return shapes[row, A] if kind == SPHERE else shapes[row, B] if kind == CYLINDER else shapes[row, C]


@kernel
def measure_ranges(shapes, x, y, z, yaw, farthest, ranges):
    """Fill `ranges` with the horizontal distances [m] around a point, at most `farthest`.

    The first ray points along `yaw`, the others follow counter-clockwise at equal angles.
    """
    count = ranges.size
    between = 2.0 * math.pi / max(count, 1)
    for ray in range(count):
        ranges[ray] = farthest
    for row in range(shapes.shape[0] if count > 0 else 0):
        ox, oy, radius = shapes[row, X] - x, shapes[row, Y] - y, outline_radius(shapes, row)
        away = math.sqrt(ox * ox + oy * oy)
        if away - radius >= farthest or abs(shapes[row, Z] - z) > half_height(shapes, row):
            continue
        # only the rays that meet the circle around the shape
        first, last = 0, count - 1
        if away > radius:
            middle, half = maths.atan2(oy, ox) - yaw, maths.asin(radius / away)
            first, last = math.ceil((middle - half) / between), math.floor((middle + half) / between)
        for number in range(first, last + 1):
            ray = number % count
            angle = yaw + between * ray
            distance = ray_to_shape(shapes, row, x, y, z, maths.cos(angle), maths.sin(angle), 0.0)
            ranges[ray] = min(ranges[ray], distance)


@kernel
def gap_on_way(shapes, x, y, z, to_x, to_y, to_z, radius):
    """The distance [m] of a ball to the nearest shape after it has moved straight from one point to another.

    It is not positive if the ball has touched a shape on its way, however long this is.
    """
    dx, dy, dz = to_x - x, to_y - y, to_z - z
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    after = clearance(shapes, to_x, to_y, to_z) - radius
    gap, gone = after, 0.0
    # backwards: mostly one look at the end says that nothing was near; no body goes farther than NO_SHAPE in a step
    while gap > 0.0 and gone + gap < length <= NO_SHAPE:
        gone += max(gap, FINEST)
        part = max(0.0, 1.0 - gone / length)
        gap = clearance(shapes, x + part * dx, y + part * dy, z + part * dz) - radius
    return after if gap > 0.0 else min(gap, after)
