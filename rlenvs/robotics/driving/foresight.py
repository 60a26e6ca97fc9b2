"""A driver that looks ahead, for cars on parallel lanes along x with meta-actions.

For each meta-action it assumes that all others keep their speed and continue to their target lane, and computes when
the car would come too near to another, and how much room is left ahead. It takes the action with the best of safety,
speed and room.
"""

import math

from rlenvs.core import kernel, maths
from rlenvs.kits.roads.lanes import Y
from rlenvs.kits.traffic.cars import CAR_LENGTH, FASTER, IDLE, LANE_LEFT, LANE_RIGHT, SLOWER, speed_index

HORIZON, MOMENTS, DT = 6.0, 24, 0.25  # s, moments, s
SIDEWAYS, PACE = 0.75, 0.6  # s, time constants of changes of lanes and of speeds
WIDE = 2.4  # m, between the middles of cars that do not touch
BEFORE, BEHIND = (
    2.0,
    4.0,
)  # m, room that is wanted before the car and, while it is on its way to another lane, behind it
BRAKING_SOON = 2.0  # s, after which those behind will have braked
ROOM, TIGHT = 30.0, 12.0  # m before the car that is worth having, m beside a car two lanes away
DANGER, CROWDED, RIVALS, CHANGING = 10.0, 1.0, 1.5, 0.1  # weights, beside that of a speed from 20 to 30 m/s, which is 1


@kernel
def lane_after(p, s, k, action):
    """The lane that car k aims at after an action, within the road."""
    lane = s.target_lane[k]
    if action == LANE_LEFT:
        lane -= 1
    elif action == LANE_RIGHT:
        lane += 1
    return min(max(lane, 0), p.lane.shape[0] - 1)


@kernel
def speed_after(p, s, k, action):
    """The speed [m/s] that car k aims at after an action."""
    if action not in (FASTER, SLOWER):
        return s.target_speed[k]
    wanted = speed_index(p.speeds, s.speed[k]) + (1 if action == FASTER else -1)
    return p.speeds[min(max(wanted, 0), p.speeds.size - 1)]


@kernel
def conflict(p, s, k, i, lane, aim):
    """When car k comes too near to body i on its way to a lane at a speed, HORIZON where it does not, and the least
    room [m] before it."""
    first, last = s.y[k], p.lane[lane, Y]
    other, others_last = s.y[i], p.lane[s.target_lane[i], Y] if s.driver[i] >= -1 and not s.crashed[i] else s.y[i]
    here, speed = s.x[k], s.speed[k]
    there = s.x[i]
    pace = s.speed[i] * s.cosine[i]
    was_behind, room = there < here, math.inf
    share, after, rolling = 1.0, 1.0, 1.0
    fade, settle = maths.exp(-DT / SIDEWAYS), maths.exp(-DT / PACE)
    for n in range(1, MOMENTS + 1):
        share *= fade
        after *= settle
        rolling *= 0.75 if s.crashed[i] else 1.0
        here += (aim + (speed - aim) * after) * DT
        there += pace * rolling * DT
        if abs(last + (first - last) * share - others_last - (other - others_last) * share) >= WIDE:
            continue
        gap = abs(there - here) - CAR_LENGTH
        if there < here and was_behind:
            if n * DT <= BRAKING_SOON and gap < (BEHIND if lane != s.lane_of[k] else 0.0):
                return n * DT, room
            continue
        room = min(room, gap)
        if gap < BEFORE:
            return n * DT, room
    return HORIZON, room


@kernel
def beyond(s, k, i, lane):
    """Whether body i drives on the far side of a lane, seen from car k, and may come to it too."""
    if i >= s.movers or s.crashed[i]:
        return False
    return abs(s.lane_of[i] - lane) == 1 and abs(s.lane_of[i] - s.lane_of[k]) == 2


@kernel
def worth(p, s, k, action):
    """How good an action of car k looks."""
    lane, aim = lane_after(p, s, k, action), speed_after(p, s, k, action)
    soonest, room, rivals = HORIZON, ROOM, 0.0
    for i in range(s.bodies):
        away = s.x[i] - s.x[k]
        if i == k or away > 150.0 or away < -60.0:
            continue
        when, left = conflict(p, s, k, i, lane, aim)
        soonest, room = min(soonest, when), min(room, left)
        if lane != s.target_lane[k] and abs(away) < TIGHT and beyond(s, k, i, lane):
            rivals = 1.0
    value = 0.1 * (aim - 20.0) - DANGER * (1.0 - soonest / HORIZON) - CROWDED * (1.0 - max(room, 0.0) / ROOM)
    return value - RIVALS * rivals - (CHANGING if lane != s.target_lane[k] else 0.0)


@kernel
def best_action(p, s, k):
    """The meta-action that looks best; of equal ones to keep lane and speed."""
    best, most = IDLE, worth(p, s, k, IDLE)
    for action in (FASTER, SLOWER, LANE_LEFT, LANE_RIGHT):
        value = worth(p, s, k, action)
        if value > most + 1e-9:
            best, most = action, value
    return best
