"""Kernels of logged traffic: replayed cars, the error of the ego car, and contacts by side.

The state has `CARS` of `rlenvs.kits.traffic`, and `row`, the current row of `p.log`.
"""

import math

from rlenvs.core import kernel
from rlenvs.kits.roads.lanes import (
    LENGTH,
    WIDTH,
    along_and_across,
    heading_on,
    nearest_exit,
    nearest_lane,
    point_on,
    wrapped,
)
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH, RAW, advance, distance, put_car, set_direction
from rlenvs.kits.traffic.drivers import act_all
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving.logs import HEADING, PRESENT, SPEED, STEP, X, Y
from rlenvs.robotics.driving.town_cars import overlap

NOWHERE = -1.0e6  # m, where cars are that are not there
FRONT, REAR, LEFT, RIGHT = range(4)  # sides of a car
MOST_STEER, MOST_FORCE = math.radians(20.0), 6.0  # of full kinematic actions: rad/s, m/s^2


@kernel
def put_logged(p, s, i):
    """Put car i where the log has it now."""
    if p.log[s.row, i, PRESENT] == 0.0:
        s.x[i], s.y[i], s.heading[i], s.speed[i] = NOWHERE - 50.0 * i, 0.0, 0.0, 0.0
    else:
        s.x[i], s.y[i] = p.log[s.row, i, X], p.log[s.row, i, Y]
        s.heading[i], s.speed[i] = p.log[s.row, i, HEADING], p.log[s.row, i, SPEED]
    set_direction(s, i)


@kernel
def put_all(p, s):
    """Fill all cars from the log at the beginning of an episode."""
    s.movers, s.bodies, s.linked = s.x.size, s.x.size, 1
    for i in range(s.movers):
        put_logged(p, s, i)
        put_car(p, s, i, s.x[i], s.y[i], s.heading[i], s.speed[i])
        s.driver[i], s.changes[i] = RAW, False
    locate(p, s)


@kernel
def locate_ego(p, s):
    """Fill where the ego car is on the road."""
    ego = s.ego
    k = nearest_lane(p, s.x[ego], s.y[ego], s.heading[ego])
    s.lane_of[ego] = k
    s.station[ego], s.aside[ego] = along_and_across(p, k, s.x[ego], s.y[ego])


@kernel
def wake(p, s, within):
    """Let logged cars within so many metres of the ego car drive by themselves from now on, on the lane where they
    are, at most as fast as their log has them."""
    for i in range(s.movers):
        if i != s.ego and s.driver[i] == RAW and p.log[s.row, i, PRESENT] > 0.0 and distance(s, s.ego, i) < within:
            s.driver[i], s.target_lane[i] = 0, s.lane_of[i]
            s.target_speed[i] = p.fastest[s.row // p.frames, i]


@kernel
def move_others(p, s, some_react):
    """Move all other cars for a step: those that drive by themselves, and those that the log moves, whose `row` is
    already that behind the step."""
    if some_react:
        act_all(p, p.drivers, s)
    for i in range(s.movers):
        if i != s.ego and s.driver[i] >= 0:
            advance(s, i, STEP)
        elif i != s.ego:
            put_logged(p, s, i)


# --- the ego car ------------------------------------------------------------------------------------------------------


@kernel
def move_by(s, ahead, aside, turn):
    """Displace the ego car, in its own frame, and turn it. Its speed is that of the displacement."""
    ego = s.ego
    s.x[ego] += ahead * s.cosine[ego] - aside * s.sine[ego]
    s.y[ego] += ahead * s.sine[ego] + aside * s.cosine[ego]
    s.heading[ego] = wrapped(s.heading[ego] + turn)
    s.speed[ego] = math.copysign(math.sqrt(ahead * ahead + aside * aside), ahead) / STEP
    set_direction(s, ego)


@kernel
def drive_by(s, steer, force):
    """Drive the ego car as DriverGym's unicycle: it turns, then changes its speed, then moves on."""
    ego = s.ego
    s.heading[ego] = wrapped(s.heading[ego] + MOST_STEER * STEP * steer)
    s.speed[ego] += MOST_FORCE * STEP * force
    set_direction(s, ego)
    s.x[ego] += s.speed[ego] * s.cosine[ego] * STEP
    s.y[ego] += s.speed[ego] * s.sine[ego] * STEP


@kernel
def displacement(p, s, row):
    """Metres of the ego car from where the log has it in a row."""
    right, down = s.x[s.ego] - p.log[row, s.ego, X], s.y[s.ego] - p.log[row, s.ego, Y]
    return math.sqrt(right * right + down * down)


@kernel
def off_path(p, s, first, last):
    """Metres of the ego car from the nearest point that the log has of it in some rows."""
    least, x, y = math.inf, s.x[s.ego], s.y[s.ego]
    for row in range(first, last + 1):
        right, down = x - p.log[row, s.ego, X], y - p.log[row, s.ego, Y]
        least = min(least, right * right + down * down)
    return math.sqrt(least)


@kernel
def is_on_road(p, s):
    """Whether the middle of the ego car is on a lane, that where it is mostly, or another."""
    ego = s.ego
    for n in range(-1, p.lane.shape[0]):
        k = s.lane_of[ego] if n < 0 else n
        station, aside = along_and_across(p, k, s.x[ego], s.y[ego])
        if abs(aside) <= 0.5 * p.lane[k, WIDTH] and -0.5 <= station <= p.lane[k, LENGTH] + 0.5:
            return True
    return False


# --- collisions -------------------------------------------------------------------------------------------------------


@kernel
def length_inside(ax, ay, bx, by):
    """How much of a line, in metres, lies in the rectangle of a car at the origin that heads along x."""
    first, last = 0.0, 1.0
    right, down = bx - ax, by - ay
    for side in range(2):
        start, way = (ax, right) if side == 0 else (ay, down)
        half = 0.5 * (CAR_LENGTH if side == 0 else CAR_WIDTH)
        if abs(way) < 1e-12:
            if abs(start) > half:
                return 0.0
            continue
        one, two = (-half - start) / way, (half - start) / way
        first, last = max(first, min(one, two)), min(last, max(one, two))
    return max(last - first, 0.0) * math.sqrt(right * right + down * down)


@kernel
def touched_side(s, j):
    """The side of the ego car that lies deepest in car j: the longest part of it, of equal ones the first."""
    ego = s.ego
    cosine = s.cosine[ego] * s.cosine[j] + s.sine[ego] * s.sine[j]
    sine = s.sine[ego] * s.cosine[j] - s.cosine[ego] * s.sine[j]
    right, down = s.x[ego] - s.x[j], s.y[ego] - s.y[j]
    x, y = right * s.cosine[j] + down * s.sine[j], down * s.cosine[j] - right * s.sine[j]
    best, most = FRONT, -1.0
    for side in range(4):
        u, v, du, dv = 0.5 * CAR_LENGTH, -0.5 * CAR_WIDTH, 0.0, CAR_WIDTH
        if side == REAR:
            u = -u
        elif side != FRONT:
            u, v, du, dv = -u, v if side == LEFT else -v, CAR_LENGTH, 0.0
        ax, ay = x + cosine * u - sine * v, y + sine * u + cosine * v
        long = length_inside(ax, ay, ax + cosine * du - sine * dv, ay + sine * du + cosine * dv)
        if long > most:
            best, most = side, long
    return best


@kernel
def collision(s):
    """The side at which the ego car is touched, by the first of the others that overlaps it; -1 for none."""
    for j in range(s.movers):
        if j != s.ego and distance(s, s.ego, j) < CAR_LENGTH + CAR_WIDTH and overlap(s, s.ego, j):
            return touched_side(s, j)
    return -1


# --- the road ahead ---------------------------------------------------------------------------------------------------


@kernel
def lane_point(p, s, ahead):
    """The point so many metres ahead on the lane of the ego car and those that follow it, and the heading there."""
    k, at = s.lane_of[s.ego], s.station[s.ego] + ahead
    for _ in range(64):
        if at <= p.lane[k, LENGTH]:
            break
        x, y = point_on(p, k, p.lane[k, LENGTH], 0.0)
        following = nearest_exit(p, k, x, y)
        if following < 0:
            break
        at -= p.lane[k, LENGTH]
        k = following
    x, y = point_on(p, k, at, 0.0)
    return x, y, heading_on(p, k, at)
