"""Robots among walls on a grid: what touches what, and which cells a robot can reach.

Cells are square, x runs along the columns and y along the rows, and everything outside the map is wall. A robot is a
rectangle, `body_length` along its heading and `body_width` across it.
"""

import math

from rlenvs.core import kernel, maths

FAR = 30000  # cells: no way leads there
ALONE = -1
DOWN, RIGHT = (-1, 1, 0, 0), (0, 0, -1, 1)


@kernel
def wall_at(p, s, row, column):
    """Whether a cell is wall."""
    if row < 0 or column < 0 or row >= p.rows or column >= p.columns:
        return True
    return s.wall[row * p.columns + column] == 1


@kernel
def cell_of(p, x, y):
    """The cell of a place on the map."""
    row = min(max(math.floor(y / p.cell), 0), p.rows - 1)
    return row * p.columns + min(max(math.floor(x / p.cell), 0), p.columns - 1)


@kernel
def center_of(p, cell):
    """x and y of the middle of a cell."""
    return (cell % p.columns + 0.5) * p.cell, (cell // p.columns + 0.5) * p.cell


@kernel
def disc_hits(p, s, x, y, radius):
    """Whether a disc touches a wall."""
    for row in range(math.floor((y - radius) / p.cell), math.floor((y + radius) / p.cell) + 1):
        for column in range(math.floor((x - radius) / p.cell), math.floor((x + radius) / p.cell) + 1):
            if wall_at(p, s, row, column):
                dx = x - min(max(x, column * p.cell), (column + 1) * p.cell)
                dy = y - min(max(y, row * p.cell), (row + 1) * p.cell)
                if dx * dx + dy * dy <= radius * radius:
                    return True
    return False


@kernel
def body_hits(p, s, k):
    """Whether robot k touches a wall: no axis of the cell or of the robot separates them."""
    x, y = s.place[k, 0], s.place[k, 1]
    c, n = maths.cos(s.heading[k]), maths.sin(s.heading[k])
    long, wide, half = 0.5 * p.body_length, 0.5 * p.body_width, 0.5 * p.cell
    along, up = abs(c) * long + abs(n) * wide, abs(n) * long + abs(c) * wide
    turned = half * (abs(c) + abs(n))
    for row in range(math.floor((y - up) / p.cell), math.floor((y + up) / p.cell) + 1):
        for column in range(math.floor((x - along) / p.cell), math.floor((x + along) / p.cell) + 1):
            if wall_at(p, s, row, column):
                dx, dy = (column + 0.5) * p.cell - x, (row + 0.5) * p.cell - y
                if abs(c * dx + n * dy) <= long + turned and abs(c * dy - n * dx) <= wide + turned:
                    return True
    return False


@kernel
def bodies_touch(p, s, j, k):
    """Whether two robots touch."""
    long, wide = 0.5 * p.body_length, 0.5 * p.body_width
    dx, dy = s.place[j, 0] - s.place[k, 0], s.place[j, 1] - s.place[k, 1]
    if dx * dx + dy * dy > 4.0 * (long * long + wide * wide):
        return False
    c, n = maths.cos(s.heading[j] - s.heading[k]), maths.sin(s.heading[j] - s.heading[k])
    along, across = long + abs(c) * long + abs(n) * wide, wide + abs(n) * long + abs(c) * wide
    for i in (j, k):
        cosine, sine = maths.cos(s.heading[i]), maths.sin(s.heading[i])
        if abs(cosine * dx + sine * dy) > along or abs(cosine * dy - sine * dx) > across:
            return False
    return True


@kernel
def reach_of(p):
    """How far a robot reaches from its middle, in meters."""
    return 0.5 * math.sqrt(p.body_length * p.body_length + p.body_width * p.body_width)


@kernel
def way_is_clear(p, s, x, y, to_x, to_y, radius):
    """Whether a disc can go straight from one place to another: looked at every 10 cm and at the end."""
    dx, dy = to_x - x, to_y - y
    pieces = int(math.sqrt(dx * dx + dy * dy) / 0.1) + 1
    free = True
    for n in range(1, pieces + 1):
        free = free and not disc_hits(p, s, x + dx * n / pieces, y + dy * n / pieces, radius)
    return free


@kernel
def mark_clear(p, s):
    """Mark the cells in whose middle a robot can stand in any direction, with a centimeter to spare."""
    radius = reach_of(p) + 0.01
    for cell in range(s.wall.size):
        x, y = center_of(p, cell)
        s.clear[cell] = 0 if disc_hits(p, s, x, y, radius) else 1


@kernel
def stands(s, j, k, waiting):
    """Whether robot j is in the way of robot k for good; with `waiting`, also if it has a higher number and waits."""
    if s.arrived[j] or s.crashed[j]:
        return j != k
    return waiting and j > k and s.velocity[j, 0] < 0.1


@kernel
def is_free(p, s, k, waiting, cell):
    """Whether robot k would touch none that stands in the middle of a cell."""
    x, y = center_of(p, cell)
    for j in range(s.heading.size):
        dx, dy = s.place[j, 0] - x, s.place[j, 1] - y
        if stands(s, j, k, waiting) and dx * dx + dy * dy <= 4.0 * reach_of(p) * reach_of(p):
            return False
    return True


@kernel
def measure(p, s, goal_x, goal_y, k, waiting):
    """Fill s.steps with the steps from every clear cell to a goal, around robots that stand for robot k, unless it is
    ALONE; FAR where no way leads there."""
    for cell in range(s.steps.size):
        s.steps[cell] = FAR
    first = cell_of(p, goal_x, goal_y)
    s.steps[first], s.queue[0] = 0, first
    head, count = 0, 1
    while head < count:
        cell = s.queue[head]
        head += 1
        row, column = cell // p.columns, cell % p.columns
        for j in range(4):
            below, beside = row + DOWN[j], column + RIGHT[j]
            if 0 <= below < p.rows and 0 <= beside < p.columns:
                near = below * p.columns + beside
                if s.clear[near] and s.steps[near] == FAR and (k == ALONE or is_free(p, s, k, waiting, near)):
                    s.steps[near] = s.steps[cell] + 1
                    s.queue[count] = near
                    count += 1


@kernel
def nearest_step(p, s, x, y):
    """Of the nine cells around a place, that with the fewest steps to the goal."""
    here = cell_of(p, x, y)
    best = here
    for i in range(-1, 2):
        for j in range(-1, 2):
            row, column = here // p.columns + i, here % p.columns + j
            if 0 <= row < p.rows and 0 <= column < p.columns and s.steps[row * p.columns + column] < s.steps[best]:
                center_x, center_y = center_of(p, row * p.columns + column)
                if way_is_clear(p, s, x, y, center_x, center_y, reach_of(p)):
                    best = row * p.columns + column
    return best
