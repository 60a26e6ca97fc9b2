"""A courteous driver in a town: it follows its route, and yields to the car nearer to the place where paths meet.

Each car has a path, the points of its route ahead. Where it first comes too near to the path of another car, one of the
two goes first, by a rule shared by both; the other is able to stop before that place.
"""

import math

from rlenvs.core import choice, kernel
from rlenvs.kits.roads.lanes import LENGTH, LIMIT, RADIUS
from rlenvs.kits.traffic.cars import CAR_LENGTH, steering_of
from rlenvs.robotics.driving.town_cars import FASTEST, FORCE, STEERING, point_ahead

ACTIONS = choice("continuous", "discrete", doc="numbers, or choices")
(CONTINUOUS,) = ACTIONS.codes("continuous")
SPACING = 2.0  # m between the points of a path
CLEAR = 2.7  # m between the middles of two paths that do not meet
CALM, SIDE = 2.5, 3.0  # m/s^2, of braking and in curves
ROOM = CAR_LENGTH + 2.0  # m between the middle of a car that waits and what it waits for


@kernel
def fill_path(p, s, k):
    """Points of the route of car k, from its middle on."""
    for m in range(s.path.shape[1]):
        s.path[k, m, 0], s.path[k, m, 1] = point_ahead(p, s, k, SPACING * m)


@kernel
def free_speed(p, s, k):
    """The highest speed [m/s] for the limits and curves ahead, and the goal."""
    n, far = s.stage[k], -s.station[k]
    most = FASTEST
    while n < s.legs[k] and far < 40.0:
        lane = s.route[k, n]
        limit = p.lane[lane, LIMIT]
        if p.lane[lane, RADIUS] > 0.0:
            limit = min(limit, math.sqrt(SIDE * p.lane[lane, RADIUS]))
        most = min(most, math.sqrt(limit * limit + 2.0 * CALM * max(far, 0.0)))
        far += p.lane[lane, LENGTH]
        n += 1
    return most


@kernel
def reach(s, k):
    """How many points of its path car k will soon need."""
    return min(int((2.5 * max(s.speed[k], 0.0) + 10.0) / SPACING), s.path.shape[1] - 1)


@kernel
def meeting(s, k, j):
    """The first points of the paths of cars k and j that are too near to the other path, -1 where none are."""
    mine, other = -1, -1
    tail_x, tail_y = s.x[j] - 0.5 * CAR_LENGTH * s.cosine[j], s.y[j] - 0.5 * CAR_LENGTH * s.sine[j]
    last = reach(s, j)
    for m in range(reach(s, k) + 1):
        x, y = s.path[k, m, 0], s.path[k, m, 1]
        if (x - tail_x) ** 2 + (y - tail_y) ** 2 < CLEAR * CLEAR:
            return m if mine < 0 else mine, 0
        for n in range(last + 1 if other < 0 else other):
            if (x - s.path[j, n, 0]) ** 2 + (y - s.path[j, n, 1]) ** 2 < CLEAR * CLEAR:
                mine, other = m if mine < 0 else mine, n
                break
    return mine, other


@kernel
def goes_first(s, k, j, mine, other):
    """Whether car k goes before car j where their ways meet: who cannot stop any more, or who is nearer to it."""
    bound = SPACING * mine - ROOM < s.speed[k] * s.speed[k] / (2.0 * CALM)
    other_bound = SPACING * other - ROOM < s.speed[j] * s.speed[j] / (2.0 * CALM)
    if bound != other_bound:
        return bound
    return mine < other or (mine == other and k < j)


@kernel
def allowed_speed(p, s, k):
    """The highest speed [m/s] that lets car k stop behind, or yield to, all others."""
    most = free_speed(p, s, k)
    for side in (-1, 1):
        r = s.rank[k] + side
        while 0 <= r < p.agents:
            j = s.order[r]
            r += side
            if abs(s.x[j] - s.x[k]) > 60.0:
                break
            if not s.here[j] or abs(s.y[j] - s.y[k]) > 60.0:
                continue
            mine, other = meeting(s, k, j)
            if mine < 0:
                continue
            same = s.cosine[k] * s.cosine[j] + s.sine[k] * s.sine[j]
            body = other <= 1
            if body and mine == 0 and j > k:
                continue
            if not body and goes_first(s, k, j, mine, other):
                continue
            gap = SPACING * mine - ROOM
            pace = max(s.speed[j] * same, 0.0) if body else 0.0
            most = min(most, math.sqrt(max(2.0 * CALM * gap, 0.0) + pace * pace) if gap > 0.0 else 0.0)
    return most


@kernel
def drive(p, s, k, row):
    """Follow the route (pure pursuit), at the speed that is allowed."""
    far = min(max(int((3.0 + 0.4 * abs(s.speed[k])) / SPACING + 0.5), 2), s.path.shape[1] - 1)
    right, down = s.path[k, far, 0] - s.x[k], s.path[k, far, 1] - s.y[k]
    across = down * s.cosine[k] - right * s.sine[k]
    square = max(right * right + down * down, 1.0)
    slip = min(max(CAR_LENGTH * across / square, -0.44), 0.44)
    force = (allowed_speed(p, s, k) - s.speed[k]) / (0.4 * FORCE)
    force, angle = min(max(force, -1.0), 1.0), min(max(steering_of(slip) / STEERING, -1.0), 1.0)
    if p.actions == CONTINUOUS:
        row[0], row[1] = force, angle
    else:
        row[0], row[1] = nearest(p.forces, force), nearest(p.angles, angle)


@kernel
def nearest(values, wanted):
    """The number of the nearest of some values."""
    best = 0
    for n in range(values.size):
        if abs(values[n] - wanted) < abs(values[best] - wanted):
            best = n
    return best
