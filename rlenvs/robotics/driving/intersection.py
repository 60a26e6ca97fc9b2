"""Intersection: turn left at a busy junction without traffic lights, giving way to the crossing road.

## Description
Four two-lane roads meet. Drivers come in from all sides, follow the car ahead, and give way: twice a second the routes
of each pair are predicted for 2.75 s, and if two would collide, the one of lower priority stops. The ego car comes from
below and turns left. It reproduces highway-env's intersection-v0 (Leurent 2018; version 1.12) step by step until a car
is slower than 0.69 m/s (see `rlenvs/Highway-v0`); `linked=True` is its intersection-v2. Different: bounds of
observations are finite; driver parameters are not shared with other environments; there are at most 40 cars.

## Action Space
Meta-actions: aim at the next lower of the speeds 0, 4.5 and 9 m/s, keep it, or aim at the next higher one. With
`actions="continuous"` acceleration (5 m/s^2 at 1) and steering (45 degrees at 1).

## Observation Space
With `observation="kinematics"` fifteen rows, the ego car and the next cars ahead of it: presence, position in units of
100 m, velocity in units of 20 m/s, cosine and sine of the heading, all absolute. Other observation types as in Highway.

## Rewards
`speed` is 0 at 7 m/s and 1 at 9 m/s, `collision` -1 in a crash, with weight 5, `arrived` is 1 past the junction,
instead of the other terms. All are 0 off the road.

## Costs
None.

## Starting State
Nine times a driver enters with probability `spawn_chance`, on one of the roads; after three seconds one more comes,
which drives straight on, and then the ego car, around 65 m along its road at 10 m/s. Cars within 20 m of it are
removed.

## Episode End
Termination: a crash, or 25 m into the exit road (a success). Truncation: 13 steps, a second each.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import b1, below, i8, kernel, normal, only, param, same_as, term, uniform
from rlenvs.kits.roads.lanes import LENGTH, LIMIT, PLACE, ROAD, heading_on, point_on
from rlenvs.kits.roads.network import route_rows
from rlenvs.kits.traffic.cars import (
    CAR_LENGTH,
    FASTER,
    IDLE,
    SLOWER,
    copy_car,
    distance,
    put_car,
    put_on_lane,
    set_route,
)
from rlenvs.kits.traffic.drivers import AT_JUNCTIONS, become_driver
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import networks, originals
from rlenvs.robotics.driving.crossing import is_there, regulate
from rlenvs.robotics.driving.driving import begin, command, driving_world, on_road, own_car, share
from rlenvs.robotics.driving.experts import crossing_expert
from rlenvs.robotics.driving.steering import steps_per_action

NETWORK = networks.intersection()
ROADS_IN = tuple(NETWORK.lane(f"o{k}", f"ir{k}") for k in range(4))
LEAVING = [int(start.startswith("il")) for start, _ in NETWORK.roads]
STAGES, GOALS, MOST = 6, 4, 40
LEFT = 1  # the road on which the ego car leaves
ENTERING, SPACE, EGO_SPACE = 9, 15.0, 20.0  # drivers at the start; m between cars that enter
WARM_UP = 3  # s before the ego car comes

REWARDS = {"high_speed_reward": "speed", "arrived_reward": "arrived", "collision_reward": "collision"}

SPEC = driving_world(
    "Intersection-v0",
    doc=__doc__,
    source="highway-env 1.12.1, intersection-v0 (Leurent 2018)",
    road=lambda values: NETWORK,
    cars=lambda values: MOST,
    scratch=("ease",),
    stages=STAGES,
    speeds=(0.0, 4.5, 9.0),
    moves=(SLOWER, IDLE, FASTER),
    drivers=(AT_JUNCTIONS,),
    junctions=True,
    quick={"simulation_hz": 2},
    python_answers=2,
    features={"x": 100.0, "y": 100.0, "vx": 20.0, "vy": 20.0, "cos_h": 0.0, "sin_h": 0.0},
    absolute=True,
    rows=15,
    picture=(96, 96, 1.0, 0.5),
    params={
        "spawn_chance": param(0.6, 0.0, 1.0, "", "probability that a driver enters, in each step"),
        "low_speed": param(7.0, 0.0, 8.0, "m/s", "speed at which `speed` is 0"),
        "high_speed": param(9.0, 8.5, 20.0, "m/s", "speed at which `speed` is 1"),
    },
    state={"ticks": i8, "entered": b1},
    data={"plans": i8("roads", GOALS, STAGES), "leaving": i8("roads")},
    more_data=lambda values: {"plans": plans(), "leaving": np.array(LEAVING)},
    terms={
        "speed": term(0.0, 1.0, 1.0, "0 at 7 m/s, 1 at 9 m/s"),
        "collision": term(-1.0, 0.0, 5.0, "-1 in a crash"),
        "arrived": term(0.0, 1.0, 1.0, "1 past the junction, where the other terms are 0"),
    },
    horizon=13,
    original=originals.Config(
        duration=13,
        keys={
            "spawn_probability": same_as("spawn_chance"),
            "reward_speed_range": same_as("low_speed", "high_speed"),
            "destination": only("o1", "the ego car turns left"),
            "initial_vehicle_count": only(10, "ten drivers are there at the start"),
            "normalize_reward": only(False, "rewards are summed"),
        },
        rewards={"collision_reward": -5.0, "high_speed_reward": 1.0, "arrived_reward": 1.0},
        paid=originals.weights(REWARDS, negated=("collision_reward",)),
    ),
    levels={"linked": {"linked": True}, "quiet": {"spawn_chance": 0.2}},
)
SPEC.expert(crossing_expert)


def plans() -> np.ndarray:
    """The roads from each road to each exit."""
    routes = [NETWORK.route(start, end, f"o{goal}") for start, end in NETWORK.roads for goal in range(GOALS)]
    return route_rows(routes, STAGES).reshape(len(NETWORK.roads), GOALS, STAGES)


@kernel
def plan(p, s, i, goal):
    """Give car i the route from where it is to an exit."""
    k = s.lane_of[i]
    set_route(s, i, p.plans[p.lane_at[k, ROAD], goal], p.lane_at[k, PLACE])


@kernel
def enter(p, s, rng, at, chance, deviation, speed_deviation, straight):
    """Let a driver enter on some road, if it does and if there is room."""
    if uniform(rng, 0.0, 1.0) > chance or s.movers >= MOST:
        return
    start = below(rng, GOALS)
    goal = (start + 1 + below(rng, GOALS - 1)) % GOALS
    if straight:
        goal = (start + 2) % GOALS
    i = s.movers
    at += 5.0 + normal(rng) * deviation
    put_on_lane(p, s, i, ROADS_IN[start], at, 8.0 + normal(rng) * speed_deviation)
    for j in range(s.movers):
        if distance(s, i, j) < SPACE:
            return
    plan(p, s, i, goal)
    become_driver(p.drivers, s, i, 0, rng)
    s.movers += 1
    s.bodies = s.movers


@kernel
def is_gone(p, s, i):
    """Whether a car is near the end of an exit."""
    k = s.lane_of[i]
    return p.leaving[p.lane_at[k, ROAD]] == 1 and s.station[i] >= p.lane[k, LENGTH] - 4.0 * CAR_LENGTH


@kernel
def remove(s, i):
    """Take car i away; those behind it move up, so that the order stays."""
    for j in range(i, s.movers - 1):
        copy_car(s, j + 1, j)
    s.movers -= 1
    s.bodies = s.movers
    s.sorted = 0
    if s.ego > i:
        s.ego -= 1


@kernel
def clear(p, s):
    """Take away who has left."""
    i = 0
    while i < s.movers:
        if i != s.ego and is_gone(p, s, i):
            remove(s, i)
        else:
            i += 1


@SPEC.reset
def reset(p, s, rng):
    begin(p, s, 0, 0, -1)
    for n in range(ENTERING):
        enter(p, s, rng, 80.0 * n / ENTERING, p.spawn_chance, 1.0, 1.0, False)
    locate(p, s)
    regulate(p, s, WARM_UP * p.simulation_hz)
    enter(p, s, rng, 60.0, 1.0, 0.1, 0.0, True)
    k, ego = ROADS_IN[0], min(s.movers, MOST - 1)
    x, y = point_on(p, k, 60.0 + 5.0 * (1.0 + normal(rng)), 0.0)
    put_car(p, s, ego, x, y, heading_on(p, k, 60.0), p.lane[k, LIMIT])
    s.movers, s.bodies, s.ego = ego + 1, ego + 1, ego
    plan(p, s, ego, LEFT)
    i = 0
    while i < s.movers:
        if i != s.ego and distance(s, i, s.ego) < EGO_SPACE:
            remove(s, i)
        else:
            i += 1
    own_car(p, s)
    locate(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    if s.elapsed > 0 and not s.entered:
        clear(p, s)
        enter(p, s, rng, 0.0, p.spawn_chance, 1.0, 1.0, False)
        locate(p, s)
    s.entered = False
    command(p, s, a)
    regulate(p, s, steps_per_action(p))
    ego = s.ego
    on, there = on_road(p, s), is_there(p, s)
    if on and there:
        r.arrived = 1.0
    elif on:
        r.speed = share(s.speed[ego], p.low_speed, p.high_speed)
        r.collision = -1.0 if s.crashed[ego] else 0.0
    r.terminated = s.crashed[ego] or there or (p.offroad_terminal == 1 and not on)
    r.success = there and not s.crashed[ego]
