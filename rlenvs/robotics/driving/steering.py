"""How experts drive a car with continuous actions: along the lanes of its route, with each action held until the next.

A car controlled by meta-actions stores its target lane and target speed. With continuous actions the world has neither;
they are inferred from its position and heading in a copy of the world, which is then simulated.
"""

import math

from rlenvs.core import choice, kernel, maths
from rlenvs.kits.roads.lanes import (
    COUNT,
    END,
    FIRST,
    LENGTH,
    ROAD,
    START,
    along,
    along_and_across,
    beside,
    entered,
    heading_on,
    nearest_exit,
    point_on,
    reachable,
    wrapped,
)
from rlenvs.kits.traffic.cars import (
    FASTER,
    LANE_LEFT,
    LANE_RIGHT,
    SLOWER,
    next_lane,
    slip_of,
    speed_index,
    stage_road,
    steering_of,
)

ACTIONS = choice("meta", "continuous", doc="meta-actions, or acceleration and steering")
(CONTINUOUS,) = ACTIONS.codes("continuous")
FORCE, STEERING = 5.0, 0.25 * math.pi  # of full continuous actions: m/s^2, rad
SHORTEST = 0.6  # s, in which a speed is reached, and half of the time in which the middle of a lane is
PARTS = 4  # of a stretch of the way, in which its direction is looked at
LEAN = 0.6  # rad, at most, between the car and its lane


@kernel
def steers(p):
    """Whether actions are acceleration and steering."""
    return p.actions == CONTINUOUS


@kernel
def steps_per_action(p):
    """Moments of simulation from one action to the next."""
    return max(p.simulation_hz // p.policy_hz, 1)


@kernel
def find_way(p, c):
    """Let the ego car of a copy aim at the lane of its route to which it heads, and find how much of that is done."""
    ego = c.ego
    x, y, heading = c.x[ego], c.y[ego], c.heading[ego]
    road, least = p.lane_at[c.lane_of[ego], ROAD], math.inf
    for n in range(c.route.shape[1]):
        leg = c.route[ego, n]
        if leg < 0:
            break
        for k in range(p.road[leg, FIRST], p.road[leg, FIRST] + p.road[leg, COUNT]):
            forward, across = along_and_across(p, k, x, y)
            away = abs(across) + max(forward - p.lane[k, LENGTH], 0.0) + max(-forward, 0.0)
            away += abs(wrapped(heading - heading_on(p, k, forward)))
            if away < least:
                road, least, c.stage[ego] = leg, away, n
    time, least = max(1.0 / p.policy_hz, SHORTEST), math.inf
    for k in range(p.road[road, FIRST], p.road[road, FIRST] + p.road[road, COUNT]):
        forward, across = along_and_across(p, k, x, y)
        lean = wrapped(heading - heading_on(p, k, forward))
        soon = abs(across + 0.5 * time * c.speed[ego] * maths.sin(lean))
        if soon < least:
            c.target_lane[ego], least = k, soon


@kernel
def heading_ahead(p, c, k, far):
    """The direction [rad] of the ego car's way as many metres along lane k, or beyond its end along the next lanes."""
    stage = 0
    while far > p.lane[k, LENGTH]:
        road = p.lane_at[k, ROAD]
        if stage_road(c, c.ego, stage) == road:
            stage += 1
        following = stage_road(c, c.ego, stage)
        x, y = point_on(p, k, p.lane[k, LENGTH], 0.0)
        if following >= 0 and p.road[following, START] == p.road[road, END]:
            j = entered(p, k, following, -1, x, y)
        else:
            j = nearest_exit(p, k, x, y)
        if j < 0:
            break
        far -= p.lane[k, LENGTH]
        k = j
    return heading_on(p, k, far)


@kernel
def follow_way(p, c):
    """Let the ego car aim at the lane behind the end of its own, where it has passed it; that lane."""
    ego = c.ego
    for _ in range(4):
        k = c.target_lane[ego]
        if along(p, k, c.x[ego], c.y[ego]) <= p.lane[k, LENGTH]:
            break
        c.target_lane[ego] = next_lane(p, c, ego, k)
    return c.target_lane[ego]


@kernel
def decided(p, c, action, aim):
    """Let the ego car aim at the lane of a meta-action; the speed [m/s] at which it then aims."""
    ego, k = c.ego, follow_way(p, c)
    if action in (FASTER, SLOWER):
        wanted = speed_index(p.speeds, c.speed[ego]) + (1 if action == FASTER else -1)
        return p.speeds[min(max(wanted, 0), p.speeds.size - 1)]
    if action in (LANE_LEFT, LANE_RIGHT):
        j = beside(p, k, -1 if action == LANE_LEFT else 1)
        if reachable(p, j, c.x[ego], c.y[ego]):
            c.target_lane[ego] = j
    return aim


@kernel
def force_towards(p, speed, aim):
    """The acceleration [m/s^2] that reaches a speed when the next action comes, as far as actions can."""
    return min(max((aim - speed) / max(1.0 / p.policy_hz, SHORTEST), -FORCE), FORCE)


@kernel
def steer(p, c, aim):
    """Let the ego car of a copy hold the action that brings it nearer to its lane and a speed [m/s].

    Two actions, with a constant turn each, can bring it to the middle of its lane, in the direction of the lane there:
    this is the first of them. To the right of the middle by e, it moves across the lane as its heading differs from
    that of the lane: e' = v (heading - heading of the lane), and by half its length times the turn.
    """
    ego, time = c.ego, max(1.0 / p.policy_hz, SHORTEST)
    k = follow_way(p, c)
    forward, across = along_and_across(p, k, c.x[ego], c.y[ego])
    speed, heading = c.speed[ego], c.heading[ego]
    c.acceleration[ego] = force_towards(p, speed, aim)
    later = speed + c.acceleration[ego] * time
    one = max(0.5 * time * (speed + later), 0.5)  # m, in each of the two actions
    two = max(time * (later + 0.5 * time * force_towards(p, later, aim)), 0.5)
    bent, way, middle = 0.0, 0.0, 0.0
    for n in range(2 * PARTS):
        part = (one if n < PARTS else two) / PARTS
        bent += part * wrapped(heading_ahead(p, c, k, max(forward + way + 0.5 * part, 0.0)) - heading)
        way += part
        if n == PARTS - 1:
            middle = wrapped(heading_ahead(p, c, k, max(forward + way, 0.0)) - heading)
    last = wrapped(heading_ahead(p, c, k, max(forward + way, 0.0)) - heading)
    half = 0.5 * c.box[ego, 0]
    turn = (bent - across - half * last - 0.5 * two * last) / (0.5 * (one + two))
    turn = min(max(turn, middle - LEAN), middle + LEAN)
    most = slip_of(STEERING)
    c.slip[ego] = min(max(half * turn / max(one, 1.0), -most), most)


@kernel
def steer_in_time(p, c, aim, moment):
    """Let the ego car of a copy steer as its actions come; `moment` counts those of simulation, from 0 in a second."""
    if steers(p) and moment % steps_per_action(p) == 0:
        steer(p, c, aim)


@kernel
def write_action(c, a):
    """The action that the ego car of a copy holds."""
    a[0] = min(max(c.acceleration[c.ego] / FORCE, -1.0), 1.0)
    a[1] = min(max(steering_of(c.slip[c.ego]) / STEERING, -1.0), 1.0)
