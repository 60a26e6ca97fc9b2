"""A driver that plans how to cross a junction by trying each plan in a copy of the world.

A plan is to drive for some seconds, then to wait or drive at the lower speed for some more, and then to go. Of the
plans that arrive, it takes the one that loses the least time; if none arrives, the one that gets farthest without a
crash. It does not know which cars are about to enter the roads.
"""

import math

from rlenvs.core import copied, kernel
from rlenvs.kits.roads.lanes import ROAD
from rlenvs.kits.traffic.cars import FASTER, IDLE, SLOWER, choose, speed_index
from rlenvs.kits.traffic.drivers import act_all
from rlenvs.kits.traffic.priorities import give_way
from rlenvs.kits.traffic.simulation import move_all
from rlenvs.robotics.driving.steering import find_way, steer_in_time, steers

ARRIVED = 25.0  # m of the exit
LONGEST, WAITS, BEGINS = 13, 7, 6  # s that are looked ahead; s that plans wait, at most; s when they begin to


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
def aim_of(p, aim, begin, wait, second):
    """The number of the speed at which a plan drives in a second."""
    return aim if begin <= second < begin + wait else p.speeds.size - 1


@kernel
def outcome_of(p, s, aim, begin, wait):
    """How good a plan is: how soon it arrives, how far it comes, or how late it crashes."""
    c = copied(s)
    ego = c.ego
    if steers(p):
        find_way(p, c)
    value, seconds = 0.0, min(LONGEST, max(p.horizon - c.elapsed, 1))
    for second in range(seconds):
        best = aim_of(p, aim, begin, wait, second)
        if not steers(p):
            choose(p, c, ego, p.speeds, wanted_action(p, c, best))
        for moment in range(p.simulation_hz):
            steer_in_time(p, c, p.speeds[best], moment)
            regulate(p, c, 1)
        value += 0.1 * c.speed[ego]
        if c.crashed[ego]:
            return second - 1000.0
        if is_there(p, c):
            return 1000.0 - second
    return value


@kernel
def planned_speed(p, s):
    """The number of the speed at which the best plan begins."""
    best, most = 0, -math.inf
    for lost in range(2 * WAITS):  # half seconds, about: a second at the lower speed loses one
        for aim in range(2):
            wait = lost // (2 - aim)
            if lost % (2 - aim) != 0 or (lost == 0 and aim == 1):
                continue
            for begin in range(BEGINS if lost > 0 else 1):
                value = outcome_of(p, s, aim, begin, wait)
                if value > most:
                    best, most = aim_of(p, aim, begin, wait, 0), value
        if most >= 900.0:
            break
    return best
