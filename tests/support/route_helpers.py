"""A car of RouteDrive put where a test wants it, and what a step then tells."""

import math
from functools import partial

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.kits.roads.lanes import LENGTH, SIGN, heading_on, point_on
from rlenvs.kits.traffic import signals
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import route_drive
from rlenvs.robotics.driving import route_rewards as rewards
from support.batches import begun

DRIVE = "RouteDrive-v0"
TERMS = ("completion", "crash", "pace", "offset", "angle", "turn", "end", "synthesis", "arrived")
COSTS = ("red_light", "stop_sign", "collision", "pedestrian", "offroad", "blocked", "deviation")
ALONE = {"cars": 0, "walkers": 0}
UNHELD = {"held": 1}


made = partial(begun, DRIVE, autoreset=AutoresetMode.DISABLED)


def step(batch, force=0.0, steering=0.0):
    """One step of a single world; terms and costs by name."""
    batch.step(np.array([[force, steering]], np.float32))
    return dict(zip((*TERMS, *COSTS), batch.terms[0, :, 0].tolist(), strict=True))


def put(batch, leg, along, aside=0.0, speed=0.0, turned=0.0):
    """Put the ego car elsewhere on its way, as if it had come there."""
    p, s = batch.records(0)
    k = int(s.way[leg])
    s.leg, s.behind = leg, sum(float(p.lane[n, LENGTH]) for n in s.way[:leg]) - float(s.start)
    s.x[0], s.y[0] = point_on(p, k, along, aside)
    s.heading[0] = heading_on(p, k, along) + turned
    s.cosine[0], s.sine[0], s.speed[0] = math.cos(s.heading[0]), math.sin(s.heading[0]), speed
    locate(p, s)
    route_drive.follow_way(p, s)
    s.made = s.behind + s.along
    s.history[rewards.HEADING] = s.heading[0]
    return p, s


def with_signal(kind, **keywords):
    """A world whose way has a lane with a signal of a kind, and this lane's place in the way."""
    for seed in range(20):
        batch = made(seed=seed, **ALONE, **keywords)
        p, s = batch.records(0)
        for leg in range(s.legs - 2):
            sign = p.lane_at[s.way[leg], SIGN]
            if sign >= 0 and p.signal[sign, signals.KIND] == kind:
                return batch, leg, int(sign)
    raise AssertionError("no such way")


def show(batch, sign, colour):
    """Turn the clock to where a light has just begun to show a colour."""
    p, s = batch.records(0)
    begin = (0.0, p.signal[sign, signals.GREEN_TIME], sum(p.signal[sign, signals.GREEN_TIME : signals.YELLOW_TIME + 1]))
    s.clock = 10.0 * p.signal[sign, signals.CYCLE] - p.signal[sign, signals.SHIFT] + begin[colour] + 0.05


def play(batch, choose):
    """Play all worlds to their end; sums of terms and costs, who succeeded."""
    count = batch.num_envs
    totals, success, alive = np.zeros((count, len(TERMS) + len(COSTS))), np.zeros(count, bool), np.ones(count, bool)
    while alive.any():
        batch.load_actions(choose(batch))
        batch.step_inplace(only=alive)
        totals[alive] += batch.terms[alive, :, 0]
        success[alive] = batch.success[alive, 0]
        alive &= ~(batch.terminated | batch.truncated)[:, 0]
    return totals, success


def beside(batch, x, y, speed, turned=0.0):
    """Car 1 in the frame of the ego car."""
    p, s = batch.records(0)
    cosine, sine = float(s.cosine[0]), float(s.sine[0])
    s.x[1], s.y[1] = s.x[0] + x * cosine - y * sine, s.y[0] + y * cosine + x * sine
    s.heading[1], s.speed[1] = s.heading[0] + turned, speed
    s.cosine[1], s.sine[1] = math.cos(s.heading[1]), math.sin(s.heading[1])
    return p, s


def first_metre(batch):
    """Where on its first lane the car of world 0 begins."""
    return batch.records(0)[1].start
