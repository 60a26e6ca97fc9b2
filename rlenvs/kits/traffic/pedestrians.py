"""Pedestrians who cross roads, in kernels, and drivers who stop for them.

A world merges `WALKERS` into its state, `CROSSING_DATA` into its data, and "walkers" and "crossings" into its sizes.
Each pedestrian belongs to a crossing, a line from one pavement to the other. It waits for a time, then walks over when
no car would reach its way within `SAFE_TIME` (a bold one always), stops where a car is right before it, and waits on
the other side. A step calls `walk_all` once for each moment of simulation, and `stop_for_walkers` behind `act_all`.
"""

import math

from rlenvs.core import b1, f8, i8, kernel
from rlenvs.core.declare.rng import uniform
from rlenvs.kits.roads.lanes import LENGTH, WIDTH, along_and_across
from rlenvs.kits.traffic.drivers import LIMIT_OF, row_of
from rlenvs.kits.traffic.signals import braking_for

WALKING = (1.0, 1.8)  # m/s, range of walking speeds
WAITING = (2.0, 12.0)  # s, range of waiting times
SAFE_TIME, SEEN = 3.0, 40.0  # s; m before a crossing
RADIUS, ROOM = 0.3, 0.5  # m; m that pedestrians keep from cars before them
CROSSING_DATA = {"crossing": f8("crossings", 4)}  # the two ends, x y x y [m]
WALKERS = {
    "walker_crossing": i8("walkers").index_of("crossings"),
    "walker_at": f8("walkers"),  # 0 ... 1 of the way
    "walker_way": f8("walkers"),  # 1 or -1 while it walks, 0 while it waits
    "walker_wait": f8("walkers"),  # s
    "walker_speed": f8("walkers"),  # m/s
    "walker_bold": b1("walkers"),
    "walker_x": f8("walkers"),  # m
    "walker_y": f8("walkers"),
}


@kernel
def place_walkers(net, c, rng, bold):
    """Put pedestrians at either end of crossings, in turn; `bold` is the share that does not look."""
    for n in range(c.walker_at.size):
        c.walker_crossing[n] = n % net.crossing.shape[0]
        c.walker_at[n] = 0.0 if uniform(rng, 0.0, 1.0) < 0.5 else 1.0
        c.walker_way[n] = 0.0
        c.walker_wait[n] = uniform(rng, 0.0, WAITING[1])
        c.walker_speed[n] = uniform(rng, WALKING[0], WALKING[1])
        c.walker_bold[n] = uniform(rng, 0.0, 1.0) < bold
        put_walker(net, c, n)


@kernel
def put_walker(net, c, n):
    """Fill the position of a pedestrian."""
    k, at = c.walker_crossing[n], c.walker_at[n]
    c.walker_x[n] = net.crossing[k, 0] + at * (net.crossing[k, 2] - net.crossing[k, 0])
    c.walker_y[n] = net.crossing[k, 1] + at * (net.crossing[k, 3] - net.crossing[k, 1])


@kernel
def safe_to_cross(net, c, n):
    """Whether no moving car would reach the middle of the crossing soon."""
    k = c.walker_crossing[n]
    x = 0.5 * (net.crossing[k, 0] + net.crossing[k, 2])
    y = 0.5 * (net.crossing[k, 1] + net.crossing[k, 3])
    for i in range(c.movers):
        right, down = x - c.x[i], y - c.y[i]
        ahead = right * c.cosine[i] + down * c.sine[i]
        aside = abs(down * c.cosine[i] - right * c.sine[i])
        if -0.5 * c.box[i, 0] < ahead < c.speed[i] * SAFE_TIME + c.box[i, 0] and aside < 6.0:
            return False
    return True


@kernel
def is_blocked(c, n, ahead_x, ahead_y):
    """Whether a car stands or passes right before a pedestrian who walks in a direction: nobody walks into a car."""
    x, y = c.walker_x[n] + ROOM * ahead_x, c.walker_y[n] + ROOM * ahead_y
    for i in range(c.movers):
        if abs(c.x[i] - x) > 5.0 or abs(c.y[i] - y) > 5.0:
            continue
        if covered(c, i, x, y):
            return True
    return False


@kernel
def walk_all(net, c, dt, rng):
    """Move all pedestrians for a time [s]."""
    for n in range(c.walker_at.size):
        if c.walker_way[n] == 0.0:
            c.walker_wait[n] -= dt
            if c.walker_wait[n] <= 0.0 and (c.walker_bold[n] or safe_to_cross(net, c, n)):
                c.walker_way[n] = 1.0 if c.walker_at[n] < 0.5 else -1.0
            continue
        k = c.walker_crossing[n]
        right, down = net.crossing[k, 2] - net.crossing[k, 0], net.crossing[k, 3] - net.crossing[k, 1]
        length = max(math.sqrt(right * right + down * down), 1e-6)
        if is_blocked(c, n, c.walker_way[n] * right / length, c.walker_way[n] * down / length):
            continue
        c.walker_at[n] += c.walker_way[n] * c.walker_speed[n] * dt / length
        if not 0.0 < c.walker_at[n] < 1.0:
            c.walker_at[n] = min(max(c.walker_at[n], 0.0), 1.0)
            c.walker_way[n], c.walker_wait[n] = 0.0, uniform(rng, WAITING[0], WAITING[1])
        put_walker(net, c, n)


@kernel
def walker_distance(net, c, i):
    """How far before the front of car i somebody walks on its lane or is about to; infinity for nobody."""
    k, nearest = c.target_lane[i], math.inf
    for n in range(c.walker_at.size):
        right, down = c.walker_x[n] - c.x[i], c.walker_y[n] - c.y[i]
        if c.walker_way[n] == 0.0 or right * right + down * down > SEEN * SEEN:
            continue
        far, across = along_and_across(net, k, c.walker_x[n], c.walker_y[n])
        own, _ = along_and_across(net, k, c.x[i], c.y[i])
        ahead = far - own - 0.5 * c.box[i, 0]
        if 0.0 < ahead < nearest and abs(across) < 0.5 * net.lane[k, WIDTH] + 2.0 and far < net.lane[k, LENGTH] + SEEN:
            nearest = ahead
    return nearest


@kernel
def stop_for_walkers(net, drivers, c):
    """Let all drivers brake for pedestrians."""
    for i in range(c.movers):
        if c.driver[i] < 0 or c.crashed[i]:
            continue
        far = walker_distance(net, c, i)
        if far < SEEN:
            most = drivers[row_of(c, i), LIMIT_OF]
            c.acceleration[i] = max(min(c.acceleration[i], braking_for(drivers, c, i, far - 2.0)), -most)


@kernel
def walker_hit(c, i):
    """Which pedestrian car i touches; -1 for none."""
    for n in range(c.walker_at.size):
        if covered(c, i, c.walker_x[n], c.walker_y[n]):
            return n
    return -1


@kernel
def covered(c, i, x, y):
    """Whether car i touches who stands at a point."""
    right, down = x - c.x[i], y - c.y[i]
    ahead, aside = abs(right * c.cosine[i] + down * c.sine[i]), abs(down * c.cosine[i] - right * c.sine[i])
    return ahead < 0.5 * c.box[i, 0] + RADIUS and aside < 0.5 * c.box[i, 1] + RADIUS
