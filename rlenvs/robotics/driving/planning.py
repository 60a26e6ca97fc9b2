"""A driver that plans a few decisions ahead, for cars on roads with several lanes.

It simulates all sequences of decisions in a copy of the world, including the other drivers, and takes the first
decision of the sequence with the best safety, speed and lane. Decisions are meta-actions; with continuous actions, the
car in the copy carries them out like its expert.
"""

import math

from rlenvs.core import copied, kernel
from rlenvs.kits.roads.lanes import COUNT, PLACE, ROAD
from rlenvs.kits.traffic.cars import IDLE, choose, speed_index
from rlenvs.kits.traffic.drivers import act_all
from rlenvs.kits.traffic.simulation import move_all
from rlenvs.robotics.driving.steering import decided, find_way, steer_in_time, steers

DECISIONS, SECONDS = 3, 7  # decisions that are tried, a second each; s that are looked ahead
CHOICES = 5
DANGER, TROUBLE = 100.0, 0.02  # weights of a crash and of an action


@kernel
def place_of(p, k):
    """How many lanes lie to the left of lane k; of a branch as many as of the landmark, which leads to it."""
    branches = p.landmark >= 0 and p.road[p.lane_at[k, ROAD], COUNT] == 1
    return p.lane_at[p.landmark if branches else k, PLACE]


@kernel
def worth(p, s, plan, lane_worth, speed_worth):
    """How good a sequence of decisions is: its digits, the last of them the first decision."""
    c = copied(s)
    ego, last = c.ego, p.speeds.size - 1
    aim = p.speeds[speed_index(p.speeds, c.speed[ego])]
    if steers(p):
        find_way(p, c)
    value, span = 0.0, max(p.speeds[last] - p.speeds[0], 1.0)
    for second in range(SECONDS):
        action = (plan % CHOICES + 1) % CHOICES if second < DECISIONS else IDLE  # a digit of 0 is IDLE
        plan //= CHOICES
        if action != IDLE:
            value -= TROUBLE
        if steers(p):
            aim = decided(p, c, action, aim)
        else:
            choose(p, c, ego, p.speeds, action)
        for moment in range(p.simulation_hz):
            steer_in_time(p, c, aim, moment)
            act_all(p, p.drivers, c)
            move_all(p, c, 1.0 / p.simulation_hz)
        if c.crashed[ego]:
            return value - DANGER * (1.0 - second / (SECONDS + 1.0))
        value += speed_worth * (c.speed[ego] - p.speeds[0]) / span + lane_worth * place_of(p, c.target_lane[ego])
    return value


@kernel
def planned_action(p, s, lane_worth, speed_worth):
    """The first decision of the best sequence; of equal ones to keep lane and speed."""
    best, most = IDLE, -math.inf
    for plan in range(CHOICES**DECISIONS):
        value = worth(p, s, plan, lane_worth, speed_worth)
        first = (plan % CHOICES + 1) % CHOICES
        if value > most + 1e-9 or (value > most - 1e-9 and first == IDLE):
            best, most = first, value
    return best
