"""Racetrack: steer along the middle of a lane on a winding track, and overtake slower cars.

## Description
A closed track of two lanes, driven at 10 m/s, with a slower driver ahead of the ego car, or more with `cars`. It
reproduces highway-env's racetrack-v0 (Leurent 2018; version 1.12) step by step; `linked=True` is its racetrack-v1,
whose drivers also see the cars on the lanes before and after their own. The levels `large` and `oval` are its
racetrack-large-v0 and racetrack-oval-v0, with three lanes. Different: on the large track the ego car may also start on
the third lane; the oval has its default length and no roadblocks.

## Action Space
Steering, 45 degrees at 1. With `actions="meta"` meta-actions: aim at the lane to the left or right, or at the next of
the speeds 0, 5 and 10 m/s, or keep both.

## Observation Space
A grid of 12 x 12 cells of 3 m, centered on the ego car and aligned with its heading: whether there is a car, and
whether there is road. Other observation types, such as `observation="kinematics"`, as in Highway.

## Rewards
`centring` is 1 / (1 + 4 d^2) at d meters from the middle of the lane, `action` the size of the action, `collision` 0
in a crash and 1 otherwise. Their weighted sum is in [-0.15, 1]. All are 0 off the road.

## Costs
None.

## Starting State
The ego car is 20 to 50 m along the first straight, on a random lane, at 10 m/s; a driver is in the bend after it, on
the same lane, at 6 to 9 m/s. With `cars` above 1, up to `cars` - 1 more drivers are at random places, at least 20 m
from others.

## Episode End
Termination: a crash, or off the road (`offroad_terminal`). Truncation: 1500 steps, 0.2 s each. Success: the time limit
is reached.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import below, choice, data_option, flag, integer, kernel, only, param, same_as, term, uniform
from rlenvs.kits.roads.lanes import COUNT, FIRST, LENGTH, LIMIT, PLACE, ROAD
from rlenvs.kits.traffic.cars import distance, put_on_lane, steering_of
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import observations as seen
from rlenvs.robotics.driving import originals
from rlenvs.robotics.driving.driving import begin, driving_world, on_road, own_car, simulate
from rlenvs.robotics.driving.experts import calm_slip, expert
from rlenvs.robotics.driving.racetracks import TRACKS, racetrack
from rlenvs.robotics.driving.steering import STEERING, steers

START, BEND = 0, 1  # roads
APART = 20.0  # m between cars at the start
RANGE = 2.0  # of the weighted sum of the terms, which begins at -1
BLOCKED, CLEAR = 25.0, 10.0  # m before the ego car, m beside it, in which its expert looks for others

REWARDS = {"lane_centering_reward": "centring", "action_reward": "action", "collision_reward": "collision"}

SPEC = driving_world(
    "Racetrack-v0",
    doc=__doc__,
    source="highway-env 1.12.1, racetrack-v0 (Leurent 2018)",
    road=lambda values: racetrack(values.track),
    cars=lambda values: values.cars + 1,
    speeds=(0.0, 5.0, 10.0),
    grid=((seen.PRESENCE, seen.ON_ROAD), 12, 3.0, True),
    observation="grid",
    actions="continuous",
    throttle=False,
    hz=(15, 5),
    picture=(96, 96, 1.0, 0.5),
    params={"centring_cost": param(4.0, 0.0, 20.0, "1/m^2", "factor of the squared distance from the middle")},
    options={
        "track": data_option(choice(*TRACKS, doc="which track")),
        "cars": integer(1, 0, 12, "largest number of other cars"),
        "offroad_terminal": flag(True, "whether leaving the road ends the episode"),
    },
    terms={
        "centring": term(0.0, 1.0, 1.0 / RANGE, "1 in the middle of the lane"),
        "action": term(0.0, 1.0, -0.3 / RANGE, "size of the action"),
        "collision": term(0.0, 1.0, 1.0 / RANGE, "0 in a crash, 1 otherwise"),
    },
    horizon=1500,
    original=originals.Config(
        duration=300,
        keys={
            "lane_centering_cost": same_as("centring_cost"),
            "other_vehicles": same_as("cars"),
            "terminate_off_road": same_as("offroad_terminal"),
            "speed_limit": only(10.0, "10 m/s, the speed that others keep"),
        },
        rewards={"lane_centering_reward": 1.0, "action_reward": -0.3, "collision_reward": -1.0},
        paid=originals.normalized(REWARDS, most=1.0),
    ),
    levels={
        "linked": {"linked": True},
        "empty": {"cars": 0},
        "crowd": {"cars": 8},
        "large": {"track": "large"},
        "oval": {"track": "oval"},
    },
)


@SPEC.reset
def reset(p, s, rng):
    begin(p, s, 0, 0, 0)
    place = below(rng, p.road[START, COUNT])
    k, bend = p.road[START, FIRST] + place, p.road[BEND, FIRST]
    put_on_lane(p, s, 0, k, uniform(rng, 20.0, 50.0), p.lane[k, LIMIT])
    own_car(p, s)
    s.movers = s.bodies = 1
    if p.cars > 0:
        add_driver(p, s, rng, bend + place, uniform(rng, 0.0, p.lane[bend, LENGTH]), 0.0)
        for _ in range(below(rng, p.cars)):
            road = below(rng, p.road.shape[0])
            k = p.road[road, FIRST] + below(rng, p.road[road, COUNT])
            add_driver(p, s, rng, k, uniform(rng, 0.0, p.lane[k, LENGTH]), APART)
    locate(p, s)


@kernel
def add_driver(p, s, rng, k, at, apart):
    """Put a driver on a lane, if nobody is near."""
    i = s.movers
    put_on_lane(p, s, i, k, at, 6.0 + uniform(rng, 0.0, 3.0))
    s.driver[i] = 0
    for j in range(i):
        if distance(s, i, j) < apart:
            return
    s.movers = s.bodies = i + 1


@kernel
def size_of(a):
    """Of a continuous action."""
    if isinstance(a, (int, np.int64)):
        return 0.0
    return abs(a[0])


@SPEC.step
def step(p, s, a, rng, r):
    simulate(p, s, a)
    ego = s.ego
    on = 1.0 if on_road(p, s) else 0.0
    r.centring = on / (1.0 + p.centring_cost * s.aside[ego] * s.aside[ego])
    r.action = on * size_of(a)
    r.collision = 0.0 if s.crashed[ego] else on
    r.terminated = s.crashed[ego] or (p.offroad_terminal == 1 and on == 0.0)
    r.success = not r.terminated and s.elapsed + 1 >= p.horizon


@SPEC.expert
def racing_expert(p, s, a):
    """Keeps to its lane; where a slower car is before it, it takes the other one."""
    k = wanted_lane(p, s)
    if steers(p):
        a[0] = min(max(steering_of(calm_slip(p, s, k)) / STEERING, -1.0), 1.0)
        return
    expert(p, s, a)


@kernel
def wanted_lane(p, s):
    """The own lane, or one beside it that is free where the own one is not."""
    k = s.lane_of[s.ego]
    first, count, place = p.road[p.lane_at[k, ROAD], FIRST], p.road[p.lane_at[k, ROAD], COUNT], p.lane_at[k, PLACE]
    if nobody_on(p, s, place, 0.0):
        return k
    for other in (place - 1, place + 1):
        if 0 <= other < count and nobody_on(p, s, other, CLEAR):
            return first + other
    return k


@kernel
def nobody_on(p, s, place, beside):
    """Whether no car is near on the lanes of a place: before the ego car, or so near that it is beside it."""
    ego = s.ego
    for i in range(s.movers):
        right, down = s.x[i] - s.x[ego], s.y[i] - s.y[ego]
        ahead = right * s.cosine[ego] + down * s.sine[ego] > 0.0
        near = distance(s, i, ego) < beside or (ahead and distance(s, i, ego) <= BLOCKED)
        if i != ego and near and p.lane_at[s.lane_of[i], PLACE] == place:
            return False
    return True
