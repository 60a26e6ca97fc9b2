"""A scripted driver: along shortest ways over cells, straight where it can, after robots whose ways cross its own."""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.navigation.grid_walls import (
    DOWN,
    FAR,
    RIGHT,
    cell_of,
    center_of,
    measure,
    nearest_step,
    reach_of,
    stands,
    way_is_clear,
)

STOP_SHORT = 0.35  # m from the goal
STRAIGHT = 0.3  # rad: robots that are farther off turn in place
GAIN = 1.5  # 1/s, of turning
MARGIN = 0.05  # m, beside walls


@kernel
def next_cell(p, s, cell):
    """The next cell on a way to the goal."""
    for j in range(4):
        other = cell + DOWN[j] * p.columns + RIGHT[j]
        if s.steps[other] == s.steps[cell] - 1:
            return other
    return cell


@kernel
def find_way(p, s, k):
    """Fill s.steps with the steps to the goal of robot k, if possible around all that stand. Returns the first cell of
    its way; where there is none, s.steps is FAR there."""
    measure(p, s, s.goal[k, 0], s.goal[k, 1], k, True)
    first = nearest_step(p, s, s.place[k, 0], s.place[k, 1])
    if s.steps[first] == FAR:
        measure(p, s, s.goal[k, 0], s.goal[k, 1], k, False)
        first = nearest_step(p, s, s.place[k, 0], s.place[k, 1])
    return first


@kernel
def next_aim(p, s, k, cell):
    """The farthest place on the way from a cell that robot k can see, and how far before it it stops."""
    x, y = s.place[k, 0], s.place[k, 1]
    aim_x, aim_y = center_of(p, cell)
    while s.steps[cell] > 0:
        cell = next_cell(p, s, cell)
        to_x, to_y = center_of(p, cell)
        if not (way_is_clear(p, s, x, y, to_x, to_y, reach_of(p) + MARGIN) and passes_all(p, s, k, to_x, to_y)):
            return aim_x, aim_y, 0.0
        aim_x, aim_y = to_x, to_y
    return s.goal[k, 0], s.goal[k, 1], STOP_SHORT


@kernel
def passes_all(p, s, k, to_x, to_y):
    """Whether robot k touches none that stands on a straight way."""
    x, y = s.place[k, 0], s.place[k, 1]
    dx, dy = to_x - x, to_y - y
    square = max(dx * dx + dy * dy, 1e-9)
    for j in range(s.heading.size):
        if stands(s, j, k, True):
            along = min(max(((s.place[j, 0] - x) * dx + (s.place[j, 1] - y) * dy) / square, 0.0), 1.0)
            off_x, off_y = s.place[j, 0] - x - along * dx, s.place[j, 1] - y - along * dy
            if off_x * off_x + off_y * off_y < 4.0 * reach_of(p) * reach_of(p):
                return False
    return True


@kernel
def crosses(p, s, cell):
    """Whether the way from a cell leads over the way of a robot with a lower number."""
    while s.steps[cell] > 0:
        if s.taken[cell]:
            return True
        cell = next_cell(p, s, cell)
    return s.taken[cell] == 1


@kernel
def take_way(p, s, k, cell):
    """Mark the cell of robot k and those of its way from a cell on."""
    take(p, s, cell_of(p, s.place[k, 0], s.place[k, 1]))
    take(p, s, cell)
    while s.steps[cell] > 0:
        cell = next_cell(p, s, cell)
        take(p, s, cell)


@kernel
def take(p, s, cell):
    """Mark a cell, and those around in which another robot would touch one in it."""
    around = int(2.0 * reach_of(p) / p.cell)
    row, column = cell // p.columns, cell % p.columns
    for i in range(max(row - around, 0), min(row + around, p.rows - 1) + 1):
        for j in range(max(column - around, 0), min(column + around, p.columns - 1) + 1):
            s.taken[i * p.columns + j] = 1


@kernel
def is_blocked(p, s, k):
    """Whether another robot is ahead within the way that braking takes."""
    c, n, speed = maths.cos(s.heading[k]), maths.sin(s.heading[k]), s.velocity[k, 0]
    wide = 2.0 * reach_of(p)
    ahead = wide + 0.2 + 0.5 * speed * speed / p.acceleration
    for j in range(s.heading.size):
        dx, dy = s.place[j, 0] - s.place[k, 0], s.place[j, 1] - s.place[k, 1]
        along, across = c * dx + n * dy, c * dy - n * dx
        if j != k and 0.0 < along < ahead and abs(across) < wide:
            return True
    return False


@kernel
def drive(p, s, k):
    """The speed [m/s] and the rate of turning [rad/s] of robot k; those with lower numbers must have been asked before,
    since s.taken has their ways."""
    if k == 0:
        for cell in range(s.taken.size):
            s.taken[cell] = 0
    if s.crashed[k] or s.arrived[k]:
        return 0.0, 0.0
    cell = find_way(p, s, k)
    if s.steps[cell] == FAR:
        return 0.0, 0.0
    x, y, short = next_aim(p, s, k, cell)
    waits = crosses(p, s, cell) or is_blocked(p, s, k)
    take_way(p, s, k, cell)
    dx, dy = x - s.place[k, 0], y - s.place[k, 1]
    distance = math.sqrt(dx * dx + dy * dy)
    error = maths.wrapped(maths.atan2(dy, dx) - s.heading[k])
    turn = min(max(GAIN * error, -p.top_turn), p.top_turn)
    speed = min(math.sqrt(2.0 * p.acceleration * max(distance - short, 0.0)), p.top_speed)
    return 0.0 if waits else speed * max(1.0 - abs(error) / STRAIGHT, 0.0), turn
