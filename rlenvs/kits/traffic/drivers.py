"""Drivers in kernels: how fast to follow (IDM), when to change lanes (MOBIL), and the types of drivers.

IDM is Treiber, Hennecke and Helbing, "Congested traffic states in empirical observations and microscopic simulations",
Physical Review E 62 (2000); MOBIL is Kesting, Treiber and Helbing, "General lane-changing model MOBIL for car-following
models", Transportation Research Record 1999 (2007), with the numbers and the order of decisions of highway-env 1.12.
AGGRESSIVE, DEFENSIVE and POLITE are the types of iPLAN (Wu et al., "iPLAN: Intent-aware planning in heterogeneous
traffic via distributed multi-agent reinforcement learning", CoRL 2023).

A world has a table of drivers, `DRIVER_DATA`, a row for each type; `c.driver[i]` is the row of car i.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import f8, kernel, maths
from rlenvs.core.declare.rng import uniform
from rlenvs.kits.roads.lanes import COSINE, COUNT, LIMIT, PLACE, ROAD, SHAPE, STRAIGHT, reachable
from rlenvs.kits.traffic.cars import OBSTACLE, RAW, TRACKER, follow_road, not_zero, stage_road, steer_all, track
from rlenvs.kits.traffic.lane_lists import distance_along, neighbours

# columns: largest acceleration either way, comfortable acceleration and braking [m/s^2], distance at a halt [m, from
# middle to middle], time gap [s], range of the exponent, politeness, least gain of a lane change and most braking that
# it may impose [m/s^2], time between two decisions [s]
LIMIT_OF, COMFORT, BRAKING, GAP, TIME_GAP, LOW, HIGH, POLITENESS, GAIN, IMPOSED, DELAY = range(11)
CALM = 11  # a column that follows from others: 2 sqrt(COMFORT BRAKING), of IDM
DRIVER_NUMBERS = 12
FARTHEST_ASIDE = 50.0  # m between cars of one road, across it
BACKWARDS = 10.0  # m/s, the most that is reckoned with
NORMAL = (6.0, 3.0, 5.0, 10.0, 1.5, 3.5, 4.5, 0.0, 0.2, 2.0, 1.0)  # of highway-env
AT_JUNCTIONS = (6.0, 6.0, 3.0, 7.0, 1.5, 3.5, 4.5, 0.0, 0.2, 2.0, 1.0)  # of its intersections
AGGRESSIVE = (9.0, 6.0, 9.0, 5.5, 1.2, 3.5, 4.5, 0.0, 0.1, 9.0, 0.5)  # of iPLAN, as the next two
POLITE = (6.0, 3.0, 5.0, 10.0, 1.5, 3.5, 4.5, 0.2, 0.2, 2.0, 1.0)
DEFENSIVE = (5.0, 2.0, 4.0, 13.0, 1.8, 3.0, 4.0, 0.5, 0.3, 2.0, 1.0)

DRIVER_DATA = {"drivers": f8("driver_types", DRIVER_NUMBERS)}


def driver_table(*types: tuple[float, ...]) -> dict[str, Any]:
    """The data of `DRIVER_DATA`, a row for each type."""
    rows = [(*row, 2.0 * math.sqrt(row[COMFORT] * row[BRAKING])) for row in types]
    return {"drivers": np.array(rows, np.float64)}


def equilibrium_gap(driver: tuple[float, ...], speed: float, wanted: float, exponent: float = 4.0) -> float:
    """The distance [m] at which a driver follows at a constant speed [m/s] that is below the wanted one."""
    return (driver[GAP] + speed * driver[TIME_GAP]) / math.sqrt(1.0 - (speed / wanted) ** exponent)


@kernel
def become_driver(drivers, c, i, row, rng):
    """Make car i a driver of this type, with an exponent of its own."""
    c.driver[i] = row
    c.exponent[i] = uniform(rng, drivers[row, LOW], drivers[row, HIGH])


@kernel
def row_of(c, i):
    """The row of the table that car i decides by: the first where it does not decide for itself."""
    return max(c.driver[i], 0)


@kernel
def wish(net, c, car):
    """Speed of a car in parts of the one that it wants and may drive."""
    wanted = min(max(c.target_speed[car], 0.0), net.lane[c.lane_of[car], LIMIT])
    return max(c.speed[car], 0.0) / abs(not_zero(wanted))


@kernel
def ease_all(net, c):
    """Fill what all cars need of the same function: in one loop, which the processor takes several cars at a time."""
    for i in range(c.movers):
        c.ease[i] = wish(net, c, i)
    ease, exponent = c.ease[: c.movers], c.exponent[: c.movers]
    for i in range(ease.size):
        ease[i] = maths.exp(maths.log(ease[i]) * exponent[i])


@kernel
def idm(net, drivers, c, i, car, front):
    """Acceleration [m/s^2] that driver i supposes of a car behind a body (-1: a free road), with its own numbers."""
    if car < 0 or c.driver[car] == OBSTACLE:
        return 0.0
    return idm_with(net, drivers, c, i, car, front, maths.exp(maths.log(wish(net, c, car)) * c.exponent[i]))


@kernel
def own_idm(net, drivers, c, i, front):
    """The same of car i itself, while cars act."""
    if c.driver[i] < 0:
        return idm(net, drivers, c, i, i, front)
    return idm_with(net, drivers, c, i, i, front, c.ease[i])


@kernel
def idm_with(net, drivers, c, i, car, front, ease):
    """IDM with (speed / wanted speed) ** exponent."""
    distance = distance_along(net, c, car, front) if front >= 0 else 0.0
    return idm_at(drivers, c, i, car, front, distance, ease)


@kernel
def idm_at(drivers, c, i, car, front, distance, ease):
    """The same with the distance [m] from the car to who is before it."""
    comfort = drivers[row_of(c, i), COMFORT]
    acceleration = comfort * (1.0 - ease)
    if front >= 0:
        gap = wanted_gap(drivers, c, i, car, front) / not_zero(distance)
        acceleration -= comfort * (gap * gap)
    return acceleration


@kernel
def follow_all(net, drivers, c):
    """Fill the acceleration with which each driver follows who is next on its own lane."""
    driver, own_entry, following, ease, station = c.driver, c.own_entry, c.following, c.ease, c.station
    entry_next, entry_body, entry_at = c.entry_next, c.entry_body, c.entry_at
    for i in range(c.movers):
        if driver[i] < 0:
            continue
        own, front, distance = own_entry[i], -1, 0.0
        if own >= 0 and not c.linked:
            ahead = entry_next[own]
            if ahead >= 0:
                front, distance = entry_body[ahead], entry_at[ahead] - station[i]
        else:
            front, _ = neighbours(net, c, i, c.lane_of[i])
            if front >= 0:
                distance = distance_along(net, c, i, front)
        following[i] = idm_at(drivers, c, i, i, front, distance, ease[i])


@kernel
def wanted_gap(drivers, c, i, car, front):
    """Distance [m] that driver i wants between a car and the body before it."""
    row, speed = row_of(c, i), c.speed[car]
    right = speed * c.cosine[car] - c.speed[front] * c.cosine[front]
    down = speed * c.sine[car] - c.speed[front] * c.sine[front]
    closing = right * c.cosine[car] + down * c.sine[car]
    return drivers[row, GAP] + speed * drivers[row, TIME_GAP] + speed * closing / drivers[row, CALM]


@kernel
def gains(net, drivers, c, i, k):
    """MOBIL: whether driver i finds a change to lane k safe and worth it."""
    row = row_of(c, i)
    before, behind = neighbours(net, c, i, k)
    own = own_idm(net, drivers, c, i, before)
    place = c.route_lane[i, c.stage[i]] if stage_road(c, i, 0) >= 0 else -1
    if place >= 0:
        here = net.lane_at[c.target_lane[i], PLACE]
        aside, planned = net.lane_at[k, PLACE] - here, place - here
        agree = (aside > 0) == (planned > 0) and (aside < 0) == (planned < 0)
        if not agree or own < -drivers[row, IMPOSED]:
            return False
        return idm(net, drivers, c, i, behind, i) >= -drivers[row, IMPOSED]
    old_before, old_behind = neighbours(net, c, i, c.lane_of[i])
    old = c.following[i] if c.driver[i] >= 0 else own_idm(net, drivers, c, i, old_before)
    gain, polite = own - old, drivers[row, POLITENESS]
    if polite == 0.0 and not gain >= drivers[row, GAIN]:
        return False
    imposed = idm(net, drivers, c, i, behind, i)
    if polite != 0.0:
        others = imposed - idm(net, drivers, c, i, behind, before)
        others += idm(net, drivers, c, i, old_behind, old_before) - idm(net, drivers, c, i, old_behind, i)
        gain += polite * others
    return imposed >= -drivers[row, IMPOSED] and gain >= drivers[row, GAIN]


@kernel
def taken(net, drivers, c, i):
    """Whether somebody else who changes into the same lane is so near before driver i that it gives up."""
    row, k, speed = row_of(c, i), c.target_lane[i], c.speed[i]
    calm = drivers[row, CALM]
    farthest = drivers[row, GAP] + abs(speed) * drivers[row, TIME_GAP] + abs(speed) * (abs(speed) + BACKWARDS) / calm
    straight = net.lane_at[c.lane_of[i], SHAPE] == STRAIGHT
    along_x = net.lane[c.lane_of[i], COSINE] if straight else 0.0
    for way in (-1, 1):
        if way * along_x < -0.9:
            continue  # behind
        m = c.rank[i] + way
        while 0 <= m < c.bodies:
            j = c.order[m]
            if straight and abs(c.x[j] - c.x[i]) > farthest + FARTHEST_ASIDE:
                break
            m += way
            if j >= c.movers or c.lane_of[j] == k or c.driver[j] <= RAW or c.target_lane[j] != k:
                continue
            if 0.0 < distance_along(net, c, i, j) < wanted_gap(drivers, c, i, i, j):
                return True
    return False


@kernel
def think_of_lanes(net, drivers, c, i):
    """Let driver i decide on a change of lanes, or give one up."""
    k, target = c.lane_of[i], c.target_lane[i]
    if k != target:
        if net.lane_at[k, ROAD] == net.lane_at[target, ROAD] and taken(net, drivers, c, i):
            c.target_lane[i] = k
        return
    if not drivers[row_of(c, i), DELAY] < c.timer[i]:
        return
    c.timer[i] = 0.0
    place, count = net.lane_at[k, PLACE], net.road[net.lane_at[k, ROAD], COUNT]
    for aside in (-1, 1):
        if place + aside < 0 or place + aside >= count or abs(c.speed[i]) < 1.0:
            continue
        if reachable(net, k + aside, c.x[i], c.y[i]) and gains(net, drivers, c, i, k + aside):
            c.target_lane[i] = k + aside


@kernel
def drive(net, drivers, c, i):
    """Let driver i choose its lane and its acceleration."""
    if c.crashed[i]:
        return
    follow_road(net, c, i)
    if c.changes[i]:
        think_of_lanes(net, drivers, c, i)
    acceleration = c.following[i]
    if c.lane_of[i] != c.target_lane[i]:
        front, _ = neighbours(net, c, i, c.target_lane[i])
        acceleration = min(acceleration, own_idm(net, drivers, c, i, front))
    most = drivers[row_of(c, i), LIMIT_OF]
    c.acceleration[i] = min(max(acceleration, -most), most)


@kernel
def act_all(net, drivers, c):
    """Let all cars act, one after the other: drivers by themselves, trackers by what was chosen for them.

    What depends on no choice of another car's is found for all at once, before and behind.
    """
    ease_all(net, c)
    follow_all(net, drivers, c)
    for i in range(c.movers):
        if c.driver[i] >= 0:
            drive(net, drivers, c, i)
        elif c.driver[i] == TRACKER:
            track(net, c, i)
    steer_all(net, c)
