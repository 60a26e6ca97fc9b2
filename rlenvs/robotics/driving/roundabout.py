"""Roundabout: enter a busy two-lane roundabout, pass two exits and leave at the third.

## Description
The ego car comes from below and has to leave at the top; four drivers are on the circle or enter it. It reproduces
highway-env's roundabout-v0 (Leurent 2018; version 1.12) step by step until a car is slower than 0.69 m/s (see
`rlenvs/Highway-v0`); `linked=True` is its roundabout-v1, whose drivers also see the cars on the lanes before and after
their own. Different: bounds of observations are finite.

## Action Space
Meta-actions: aim at the lane to the left or right, or at the next of the speeds 0, 8 and 16 m/s, or keep both. With
`actions="continuous"` acceleration (5 m/s^2 at 1) and steering (45 degrees at 1).

## Observation Space
With `observation="kinematics"` five rows, the ego car and the next four cars ahead of it: presence, position in units
of 100 m, velocity in units of 15 m/s, all absolute. Other observation types as in Highway.

## Rewards
`speed` is the rank of the target speed, 0, 0.5 or 1; `lane_change` 1 for an action that changes lanes; `collision` is 0
in a crash and 1 otherwise. Their weighted sum is in [-0.04, 1]. All are 0 off the road.

## Costs
None.

## Starting State
The ego car is 2.5 m before the end of its straight road at 8 m/s; the others are around 5 m on the outer lane, 20 m
before and after the beginning of the inner lane, and 50 m along the road from the right, at 16 m/s with a standard
deviation of 2 m/s, each with one of three exits as its goal.

## Episode End
Termination: a crash. Truncation: 11 steps, a second each. Success: no crash.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99. Slowing down to a halt after the entry is nearly as safe as watching the traffic, and
the published reward gives little for speed.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import below, i8, kernel, normal, only, param, term
from rlenvs.kits.roads.lanes import PLACE, ROAD, heading_on, point_on
from rlenvs.kits.roads.network import route_rows
from rlenvs.kits.traffic.cars import put_car, put_on_lane, set_route, speed_index
from rlenvs.kits.traffic.drivers import become_driver
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import networks, originals
from rlenvs.robotics.driving.driving import begin, changes_lane, driving_world, on_road, own_car, simulate
from rlenvs.robotics.driving.steering import steers

NETWORK = networks.roundabout()
SOUTH, INNER, OUTER, EAST = (
    NETWORK.lane("ser", "ses"),
    NETWORK.lane("we", "sx"),
    NETWORK.lane("we", "sx", 1),
    NETWORK.lane("eer", "ees"),
)
STAGES = 12
GOALS = ("exr", "sxr", "nxr", "nxs")  # of other cars; the last that of the ego car
RANGE = 1.2  # of the weighted sum of the terms, which begins at -1

REWARDS = {"high_speed_reward": "speed", "lane_change_reward": "lane_change", "collision_reward": "collision"}

SPEC = driving_world(
    "Roundabout-v0",
    doc=__doc__,
    source="highway-env 1.12.1, roundabout-v0 (Leurent 2018)",
    road=lambda values: NETWORK,
    cars=lambda values: 5,
    stages=STAGES,
    speeds=(0.0, 8.0, 16.0),
    junctions=True,
    features={"x": 100.0, "y": 100.0, "vx": 15.0, "vy": 15.0},
    absolute=True,
    picture=(96, 96, 1.0, 0.5),
    params={
        "place_deviation": param(2.0, 0.0, 3.0, "m", "standard deviation of positions at the start"),
        "speed_deviation": param(2.0, 0.0, 3.0, "m/s", "standard deviation of speeds at the start"),
    },
    data={"plans": i8("roads", len(GOALS), STAGES)},
    more_data=lambda values: {"plans": plans()},
    terms={
        "speed": term(0.0, 1.0, 0.2 / RANGE, "rank of the target speed, from 0 to 1"),
        "lane_change": term(0.0, 1.0, -0.05 / RANGE, "1 for an action that changes lanes"),
        "collision": term(0.0, 1.0, 1.0 / RANGE, "0 in a crash, 1 otherwise"),
    },
    horizon=11,
    original=originals.Config(
        duration=11,
        keys={
            "incoming_vehicle_destination": only(None, "other cars have random destinations"),
            "right_lane_reward": only(0, "the lane is not rewarded, as in highway-env"),
            "normalize_reward": only(True, "rewards are in [0, 1]"),
        },
        rewards={"collision_reward": -1.0, "high_speed_reward": 0.2, "lane_change_reward": -0.05},
        paid=originals.normalized(REWARDS, ("high_speed_reward",)),
    ),
    levels={"linked": {"linked": True}},
)


def plans() -> np.ndarray:
    """The roads from each road to each goal."""
    routes = [NETWORK.route(start, end, goal) for start, end in NETWORK.roads for goal in GOALS]
    return route_rows(routes, STAGES).reshape(len(NETWORK.roads), len(GOALS), STAGES)


@kernel
def plan(p, s, i, goal):
    """Give car i the route from where it is to a goal."""
    k = s.lane_of[i]
    set_route(s, i, p.plans[p.lane_at[k, ROAD], goal], p.lane_at[k, PLACE])


@kernel
def place_driver(p, s, i, k, at, rng):
    """Put a driver around a place of lane k, with a goal."""
    at += normal(rng) * p.place_deviation
    put_on_lane(p, s, i, k, at, 16.0 + normal(rng) * p.speed_deviation)
    plan(p, s, i, below(rng, 3))
    become_driver(p.drivers, s, i, 0, rng)


@SPEC.reset
def reset(p, s, rng):
    begin(p, s, 5, 5, 0)
    x, y = point_on(p, SOUTH, 125.0, 0.0)
    put_car(p, s, 0, x, y, heading_on(p, SOUTH, 140.0), 8.0)
    plan(p, s, 0, 3)
    place_driver(p, s, 1, OUTER, 5.0, rng)
    place_driver(p, s, 2, INNER, 20.0, rng)
    place_driver(p, s, 3, INNER, -20.0, rng)
    place_driver(p, s, 4, EAST, 50.0, rng)
    own_car(p, s)
    locate(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    simulate(p, s, a)
    ego = s.ego
    on = 1.0 if on_road(p, s) else 0.0
    aim = s.speed[ego] if steers(p) else s.target_speed[ego]
    r.speed = on * speed_index(p.speeds, aim) / 2.0
    r.lane_change = on if changes_lane(a) else 0.0
    r.collision = 0.0 if s.crashed[ego] else on
    r.terminated = s.crashed[ego] or (p.offroad_terminal == 1 and on == 0.0)
    r.success = not r.terminated and s.elapsed + 1 >= p.horizon
