"""A driver who plans how to cross a junction: it moves all cars as the world does, for each plan, and puts them back.

A plan is to wait, or to drive at the lower speed, for some seconds, and then to go. It takes the first that arrives;
where none does, the one that goes farthest without a crash. Who is about to enter the roads it does not know.
"""

import math

from rlenvs.core import kernel
from rlenvs.kits.roads.lanes import ROAD
from rlenvs.kits.traffic.cars import FASTER, IDLE, SLOWER, TRACKER, choose, copy_car, speed_index
from rlenvs.kits.traffic.drivers import act_all
from rlenvs.kits.traffic.priorities import give_way
from rlenvs.kits.traffic.simulation import move_all

ARRIVED = 25.0  # m of the exit
LONGEST, WAITS = 10, 7  # s that are looked ahead; plans of each kind, which wait 0, 1 ... seconds


@kernel
def regulate(p, s, steps):
    """Move all cars, and let them give way twice a second."""
    dt, every = 1.0 / p.simulation_hz, max(p.simulation_hz // 2, 1)
    for _ in range(steps):
        act_all(p, p.drivers, s)
        s.ticks += 1
        if s.ticks % every == 0:
            give_way(p, s)
        move_all(p, s, dt)


@kernel
def is_there(p, s):
    """Whether the ego car is behind the junction."""
    return p.leaving[p.lane_at[s.lane_of[s.ego], ROAD]] == 1 and s.station[s.ego] >= ARRIVED


@kernel
def wanted_action(p, s, best):
    """The meta-action that brings the ego car nearer to one of its speeds."""
    ego = s.ego
    now, aim = speed_index(p.speeds, s.speed[ego]), speed_index(p.speeds, s.target_speed[ego])
    return IDLE if best == aim else FASTER if best > now else SLOWER if best < now else IDLE


@kernel
def aim_of(p, plan, second):
    """The number of the speed at which a plan drives in a second."""
    return p.speeds.size - 1 if second >= plan // 2 else plan % 2


@kernel
def outcome_of(p, s, plan):
    """How good a plan is: how soon it arrives, how far it comes, or how late it crashes. Puts the cars back."""
    ego, ticks = s.ego, s.ticks
    keep(s)
    if s.driver[ego] != TRACKER:
        s.driver[ego], s.target_speed[ego] = TRACKER, p.speeds[speed_index(p.speeds, s.speed[ego])]
    value, seconds = 0.0, min(LONGEST, max(p.horizon - s.elapsed, 1))
    for second in range(seconds):
        choose(p, s, ego, p.speeds, wanted_action(p, s, aim_of(p, plan, second)))
        regulate(p, s, p.simulation_hz)
        value += 0.1 * s.speed[ego]
        if s.crashed[ego]:
            value = second - 1000.0
            break
        if is_there(p, s):
            value = 1000.0 - second
            break
    put_back(s)
    s.ticks = ticks
    return value


@kernel
def keep(s):
    """Copy all cars, their order and their places on the lists of lanes into the upper half of the rows.

    The lists are kept as they are and not made anew: cars may have moved since."""
    half, entries = s.x.size // 2, s.x.size // 2 * (s.entry_at.size // s.x.size)
    for i in range(s.movers):
        copy_car(s, i, half + i)
        s.order[half + i], s.own_entry[half + i] = s.order[i], s.own_entry[i]
    for k in range(s.first_on.size):
        s.first_kept[k] = s.first_on[k]
    for n in range(entries):
        s.entry_next[entries + n], s.entry_back[entries + n] = s.entry_next[n], s.entry_back[n]
        s.entry_body[entries + n], s.entry_at[entries + n] = s.entry_body[n], s.entry_at[n]


@kernel
def put_back(s):
    """Put all back to where it was, and leave the upper half as empty as before."""
    half, entries, last = s.x.size // 2, s.x.size // 2 * (s.entry_at.size // s.x.size), s.x.size - 1
    for i in range(s.movers):
        copy_car(s, half + i, i)
        copy_car(s, last, half + i)
        s.order[i], s.order[half + i] = s.order[half + i], 0
        s.own_entry[i], s.own_entry[half + i] = s.own_entry[half + i], s.own_entry[last]
        s.rank[s.order[i]] = i
    for k in range(s.first_on.size):
        s.first_on[k], s.first_kept[k] = s.first_kept[k], 0
    for n in range(entries):
        s.entry_next[n], s.entry_back[n] = s.entry_next[entries + n], s.entry_back[entries + n]
        s.entry_body[n], s.entry_at[n] = s.entry_body[entries + n], s.entry_at[entries + n]
        s.entry_next[entries + n], s.entry_back[entries + n] = 0, 0
        s.entry_body[entries + n], s.entry_at[entries + n] = 0, 0.0


@kernel
def planned_speed(p, s):
    """The number of the speed at which the best plan begins."""
    best, most = 0, -math.inf
    for plan in range(2 * WAITS):
        if plan == 1:
            continue  # the same as plan 0: no waiting
        value = outcome_of(p, s, plan)
        if value > most:
            best, most = aim_of(p, plan, 0), value
        if most >= 900.0:
            break
    return best
