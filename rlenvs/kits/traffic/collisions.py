"""Collisions of rectangles in kernels, as in highway-env: who overlaps has crashed; who will overlap is pushed apart.

Whether two bodies overlap, or will within a step at their present velocities, is asked on the four axes of their sides.
"""

import math

from rlenvs.core import kernel
from rlenvs.kits.traffic.cars import OBSTACLE


@kernel
def interval_gap(low_a, high_a, low_b, high_b):
    """From one interval to another; negative where they overlap."""
    return low_b - high_a if low_a < low_b else low_a - high_b


@kernel
def meeting(c, i, j, dt):
    """Whether bodies i and j overlap, whether they will within a step, and the way [m] that i then has to give.

    The shortest way out is looked for along both directions of each axis; of equal ones the first is taken.
    """
    overlap, later, shortest, away_x, away_y = True, True, math.inf, 0.0, 0.0
    right, down = c.x[j] - c.x[i], c.y[j] - c.y[i]
    closing_x = (c.speed[i] * c.cosine[i] - c.speed[j] * c.cosine[j]) * dt
    closing_y = (c.speed[i] * c.sine[i] - c.speed[j] * c.sine[j]) * dt
    for side in range(8):
        body = i if side < 4 else j
        cosine, sine = c.cosine[body], c.sine[body]
        axis_x, axis_y = (cosine, sine) if side % 2 == 0 else (-sine, cosine)
        if side % 4 == 0 or side % 4 == 3:
            axis_x, axis_y = -axis_x, -axis_y
        half_a, half_b = half_width(c, i, axis_x, axis_y), half_width(c, j, axis_x, axis_y)
        middle = right * axis_x + down * axis_y
        low, high = -half_a, half_a
        if interval_gap(low, high, middle - half_b, middle + half_b) > 0.0:
            overlap = False
        closing = closing_x * axis_x + closing_y * axis_y
        if closing < 0.0:
            low += closing
        else:
            high += closing
        gap = interval_gap(low, high, middle - half_b, middle + half_b)
        if gap > 0.0:
            later = False
        if not overlap and not later:
            return False, False, 0.0, 0.0
        if abs(gap) < shortest:
            shortest = abs(gap)
            sign = 1.0 if middle < 0.0 else -1.0
            away_x, away_y = sign * axis_x, sign * axis_y
    return overlap, later, shortest * away_x, shortest * away_y


@kernel
def half_width(c, i, axis_x, axis_y):
    """Of body i along an axis."""
    ahead = abs(c.cosine[i] * axis_x + c.sine[i] * axis_y)
    aside = abs(c.cosine[i] * axis_y - c.sine[i] * axis_x)
    return 0.5 * (c.box[i, 0] * ahead + c.box[i, 1] * aside)


@kernel
def collide(c, i, j, dt):
    """What comes of bodies i and j being near each other."""
    overlap, later, way_x, way_y = meeting(c, i, j, dt)
    if later:
        share = 1.0 if c.driver[j] == OBSTACLE else 0.5
        c.shift[i, 0], c.shift[i, 1], c.hit[i] = share * way_x, share * way_y, True
        if c.driver[j] != OBSTACLE:
            c.shift[j, 0], c.shift[j, 1], c.hit[j] = -0.5 * way_x, -0.5 * way_y, True
    if overlap:
        c.crashed[i], c.crashed[j] = True, True


@kernel
def half_diagonal(c, i):
    """Of the rectangle of body i."""
    return 0.5 * math.sqrt(c.box[i, 0] * c.box[i, 0] + c.box[i, 1] * c.box[i, 1])


@kernel
def next_near(c, i, last, own, longest):
    """The body with the smallest number above `last` that is near car i; -1 for none. `own` is how far car i reaches
    in a step, `longest` how far any body reaches from its middle."""
    order, right_of, down_of, checked = c.order, c.x, c.y, c.checked
    found, x, y, bodies, own_checked = c.bodies, right_of[i], down_of[i], c.bodies, checked[i]
    for way in (-1, 1):
        m = c.rank[i] + way
        while 0 <= m < bodies:
            j = order[m]
            right = right_of[j] - x
            if abs(right) > own + longest:
                break
            m += way
            if last < j < found and (own_checked or checked[j]):
                down = down_of[j] - y
                if math.sqrt(right * right + down * down) <= own + half_diagonal(c, j):
                    found = j
    return found if found < bodies else -1


@kernel
def collide_all(c, dt):
    """Collisions of all cars with all bodies, in the order of their numbers."""
    longest = 0.0
    for i in range(c.bodies):
        longest = max(longest, 0.5 * (c.box[i, 0] + c.box[i, 1]))
    for i in range(c.movers):
        own = half_diagonal(c, i) + c.speed[i] * dt
        j = next_near(c, i, i, own, longest)
        while j >= 0:
            collide(c, i, j, dt)
            j = next_near(c, i, j, own, longest)
