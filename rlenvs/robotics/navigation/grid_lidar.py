"""A lidar among walls on a grid and other robots: each beam shows the first of equally spaced points that is in one.

The points of a beam are `reach` / `last` apart, from the robot on. A walk along the cells of a beam finds the first one
in a wall without a look at the others: a cell counts if a point lies between where the beam enters and leaves it. A
robot counts from the distance on at which the beam meets one of its sides, in whole multiples of `resolution`.
"""

import math

import numpy as np

from rlenvs.core import kernel, maths
from rlenvs.robotics.navigation.grid_walls import reach_of, wall_at

NEVER = 1e30


def fan(beams):
    """Directions (2, beams) relative to the heading, from -180 to 180 degrees, both included."""
    angles = [math.pi * (2.0 * j / max(beams - 1, 1) - 1.0) for j in range(beams)]
    return np.array([[maths.cos(angle) for angle in angles], [maths.sin(angle) for angle in angles]])


@kernel
def last_point(p):
    """The number of the last point of a beam."""
    return int(p.reach / p.resolution + 1e-9) - 1


@kernel
def first_wall(p, s, x, y, dx, dy, last):
    """The number of the first point of a beam that is in a wall, or of the last point."""
    spacing = p.reach / last
    column, row = math.floor(x / p.cell), math.floor(y / p.cell)
    right, down = 1 if dx > 0.0 else -1, 1 if dy > 0.0 else -1
    next_x = ((column + (dx > 0.0)) * p.cell - x) / dx if dx != 0.0 else NEVER
    next_y = ((row + (dy > 0.0)) * p.cell - y) / dy if dy != 0.0 else NEVER
    wide, tall = abs(p.cell / dx) if dx != 0.0 else NEVER, abs(p.cell / dy) if dy != 0.0 else NEVER
    enter = 0.0
    while enter <= p.reach:
        if wall_at(p, s, row, column):
            point = math.ceil(enter / spacing)
            if point * spacing < min(next_x, next_y):
                return min(point, last)
        if next_x < next_y:
            enter = next_x
            next_x += wide
            column += right
        else:
            enter = next_y
            next_y += tall
            row += down
    return last


@kernel
def first_side(p, x, y, dx, dy):
    """How far a beam from (x, y) in the axes of a robot is from its first side; NEVER if it misses the robot."""
    long, wide = 0.5 * p.body_length, 0.5 * p.body_width
    enter, leave = -NEVER, NEVER
    if dx == 0.0:
        if abs(x) > long:
            return NEVER
    else:
        a, b = (-long - x) / dx, (long - x) / dx
        enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    if dy == 0.0:
        if abs(y) > wide:
            return NEVER
    else:
        a, b = (-wide - y) / dy, (wide - y) / dy
        enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    if enter > leave or leave < 0.0:
        return NEVER
    return enter if enter >= 0.0 else leave


@kernel
def look_at_robot(p, s, k, j, c, n):
    """Bring nearer in s.beam[k] what the beams of robot k, whose heading is (c, n), see of robot j."""
    x, y = s.place[k, 0] - s.place[j, 0], s.place[k, 1] - s.place[j, 1]
    round = reach_of(p)
    if x * x + y * y > (p.reach + round) * (p.reach + round):
        return
    cosine, sine = maths.cos(s.heading[j]), maths.sin(s.heading[j])
    along, across = cosine * x + sine * y, cosine * y - sine * x
    rc, rn = c * cosine + n * sine, n * cosine - c * sine  # the heading in the axes of robot j
    for i in range(s.beam.shape[1]):
        dx, dy = rc * p.fan[0, i] - rn * p.fan[1, i], rn * p.fan[0, i] + rc * p.fan[1, i]
        if abs(dx * across - dy * along) > round:
            continue
        distance = first_side(p, along, across, dx, dy)
        if distance <= p.reach:
            s.beam[k, i] = min(s.beam[k, i], int(distance / p.resolution))


@kernel
def scan(p, s, k):
    """Fill s.beam[k] with the numbers of the points that the beams of robot k show."""
    c, n, last = maths.cos(s.heading[k]), maths.sin(s.heading[k]), last_point(p)
    for i in range(s.beam.shape[1]):
        dx, dy = c * p.fan[0, i] - n * p.fan[1, i], n * p.fan[0, i] + c * p.fan[1, i]
        s.beam[k, i] = first_wall(p, s, s.place[k, 0], s.place[k, 1], dx, dy, last)
    for j in range(s.heading.size):
        if j != k:
            look_at_robot(p, s, k, j, c, n)
