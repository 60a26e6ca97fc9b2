"""Cars of a town in kernels: a bicycle model on a route of lanes, overlaps, road areas, and the remaining distance.

The cars are fields of a world's state: position, heading, speed, whether they are `here`, their `route` of `legs`
lanes, their current `stage` of it, and `station` and `aside` on that lane; `order` sorts them by x.
"""

import math

from rlenvs.core import kernel, maths
from rlenvs.kits.roads.lanes import LENGTH, WIDTH, along_and_across, box_distance, point_on
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH, slip_of

DT = 0.1  # s
FORCE, STEERING = 5.0, 0.25 * math.pi  # of full actions: m/s^2, rad
FASTEST, BACKWARDS = 20.0, 2.0  # m/s
DIAGONAL = math.sqrt(CAR_LENGTH * CAR_LENGTH + CAR_WIDTH * CAR_WIDTH)


@kernel
def metres_left(p, s, k):
    """From car k to its goal, along its route."""
    total = s.goal_at[k] - s.station[k]
    for n in range(s.stage[k], s.legs[k] - 1):
        total += p.lane[s.route[k, n], LENGTH]
    return total


@kernel
def point_ahead(p, s, k, ahead):
    """The point so many metres ahead on the route of car k."""
    n, at = s.stage[k], s.station[k] + ahead
    while n < s.legs[k] - 1 and at > p.lane[s.route[k, n], LENGTH]:
        at -= p.lane[s.route[k, n], LENGTH]
        n += 1
    return point_on(p, s.route[k, n], at, 0.0)


@kernel
def advance(p, s, k, force, steering):
    """Move car k: a bicycle, one step of Euler's method."""
    speed, slip = s.speed[k], slip_of(STEERING * steering)
    straight = math.sqrt(1.0 - slip * slip)
    s.x[k] += speed * (s.cosine[k] * straight - s.sine[k] * slip) * DT
    s.y[k] += speed * (s.sine[k] * straight + s.cosine[k] * slip) * DT
    s.heading[k] += speed * slip / (0.5 * CAR_LENGTH) * DT
    if s.heading[k] > math.pi:
        s.heading[k] -= 2.0 * math.pi
    elif s.heading[k] < -math.pi:
        s.heading[k] += 2.0 * math.pi
    s.sine[k], s.cosine[k] = maths.sin_cos(s.heading[k])
    s.speed[k] = min(max(speed + FORCE * p.grip * force * DT, -BACKWARDS), FASTEST)
    lane = s.route[k, s.stage[k]]
    station, aside = along_and_across(p, lane, s.x[k], s.y[k])
    if station > p.lane[lane, LENGTH] and s.stage[k] < s.legs[k] - 1:
        s.stage[k] += 1
        station, aside = along_and_across(p, s.route[k, s.stage[k]], s.x[k], s.y[k])
    s.station[k], s.aside[k] = station, aside


@kernel
def overlap(s, i, j):
    """Whether cars i and j overlap: on none of the four axes of their sides they lie apart."""
    right, down = s.x[j] - s.x[i], s.y[j] - s.y[i]
    turn_cosine = abs(s.cosine[i] * s.cosine[j] + s.sine[i] * s.sine[j])
    turn_sine = abs(s.sine[i] * s.cosine[j] - s.cosine[i] * s.sine[j])
    long = 0.5 * (CAR_LENGTH + CAR_LENGTH * turn_cosine + CAR_WIDTH * turn_sine)
    wide = 0.5 * (CAR_WIDTH + CAR_WIDTH * turn_cosine + CAR_LENGTH * turn_sine)
    for k in (i, j):
        if abs(right * s.cosine[k] + down * s.sine[k]) > long or abs(down * s.cosine[k] - right * s.sine[k]) > wide:
            return False
    return True


@kernel
def collide(p, s):
    """Mark who overlaps another."""
    for k in range(p.agents):
        s.hit[k] = False
    for n in range(p.agents):
        i = s.order[n]
        if not s.here[i]:
            continue
        for m in range(n + 1, p.agents):
            j = s.order[m]
            if s.x[j] - s.x[i] > DIAGONAL:
                break
            if s.here[j] and abs(s.y[j] - s.y[i]) <= DIAGONAL and overlap(s, i, j):
                s.hit[i], s.hit[j] = True, True


@kernel
def on_road(p, s, k):
    """Whether the middle of car k is on a lane, mostly on that of its route."""
    lane = s.route[k, s.stage[k]]
    if abs(s.aside[k]) <= 0.5 * p.lane[lane, WIDTH] and 0.0 <= s.station[k] <= p.lane[lane, LENGTH]:
        return True
    for n in range(p.lane.shape[0]):
        if box_distance(p, n, s.x[k], s.y[k]) <= 0.5 * p.lane[n, WIDTH]:
            station, aside = along_and_across(p, n, s.x[k], s.y[k])
            if abs(aside) <= 0.5 * p.lane[n, WIDTH] and -0.5 <= station <= p.lane[n, LENGTH] + 0.5:
                return True
    return False
