"""Merge: let a car merge from an access lane at speed, without a collision.

## Description
A road with two lanes and three drivers; a fourth comes from an access lane that ends after 80 m at an obstacle. It
reproduces highway-env's merge-v0 (Leurent 2018; version 1.12) step by step until a car is slower than 0.69 m/s (see
`rlenvs/Highway-v0`); `linked=True` is its merge-v1, whose drivers also see the cars on the lanes before and after their
own. Different: bounds of observations are finite, and there is a time limit, which a car that stays on the road never
reaches.

## Action Space
Meta-actions: aim at the lane to the left or right, or at the next of the speeds 20, 25 and 30 m/s, or keep both. With
`actions="continuous"` acceleration (5 m/s^2 at 1) and steering (45 degrees at 1).

## Observation Space
As in Highway: with `observation="kinematics"` five rows, the ego car and the next four cars ahead of it, including the
obstacle: presence, position in units of 200 m along and 8 m across the road, velocity in units of 80 m/s, those of
other cars relative to the ego car.

## Rewards
`speed` is 0 at 20 m/s and 1 at 30 m/s, not clipped; `right_lane` is the position of the lane, `lane_change` 1 for an
action that changes lanes, `merging` the speed deficit of cars on the access lane relative to their desired speed,
`collision` 1.5, and 0.5 in a crash. Their weighted sum is in [0, 1] unless a car brakes below 20 m/s.

## Costs
None.

## Starting State
The ego car is on the right lane at 30 m/s; three drivers are around 90, 70 and 5 m, at 28 to 32.5 m/s; the fourth is 40
m before the bend of its lane, at 20 m/s.

## Episode End
Termination: a crash, or after 370 m (a success). Truncation: 40 steps, a second each.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99. A high return does not require letting the car merge: always choosing "slower" does as
well as the expert.

## Version History
v0: first version.
"""

from rlenvs.core import below, param, same_as, term, uniform
from rlenvs.kits.roads.lanes import PLACE
from rlenvs.kits.traffic.cars import RAW, put_obstacle, put_on_lane
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import networks, originals
from rlenvs.robotics.driving.driving import begin, changes_lane, driving_world, own_car, simulate

RANGE = 1.8  # of the weighted sum of the terms, which begins at -1.5
LEFT, RIGHT, ACCESS, MERGING, END = 0, 1, 6, 4, 8  # lanes
OTHERS = ((90.0, 29.0), (70.0, 31.0), (5.0, 31.5))  # m, m/s
GOAL = 370.0  # m

SPEC = driving_world(
    "Merge-v0",
    doc=__doc__,
    source="highway-env 1.12.1, merge-v0 (Leurent 2018)",
    road=lambda values: networks.merge(),
    cars=lambda values: 6,
    params={
        "low_speed": param(20.0, 0.0, 29.0, "m/s", "speed at which `speed` is 0"),
        "high_speed": param(30.0, 29.5, 40.0, "m/s", "speed at which `speed` is 1"),
    },
    terms={
        "speed": term(-150.0, 50.0, 0.2 / RANGE, "0 at 20 m/s, 1 at 30 m/s"),
        "right_lane": term(0.0, 2.0, 0.1 / RANGE, "0 on the left lane, 1 on the right one"),
        "lane_change": term(0.0, 1.0, -0.05 / RANGE, "1 for an action that changes lanes"),
        "merging": term(
            -20.0, 20.0, -0.5 / RANGE, "speed deficit of cars on the access lane, as a fraction of their desired speed"
        ),
        "collision": term(0.5, 1.5, 1.0 / RANGE, "0.5 in a crash, 1.5 otherwise"),
    },
    horizon=40,
    original=originals.Config(
        keys={"reward_speed_range": same_as("low_speed", "high_speed")},
        rewards={
            "collision_reward": -1.0,
            "right_lane_reward": 0.1,
            "high_speed_reward": 0.2,
            "merging_speed_reward": -0.5,
            "lane_change_reward": -0.05,
        },
    ),
    levels={"linked": {"linked": True}},
)


@SPEC.reset
def reset(p, s, rng):
    begin(p, s, 5, 6, 0)
    put_on_lane(p, s, 0, RIGHT, 30.0, 30.0)
    for n in range(3):
        k = below(rng, 2)
        at = OTHERS[n][0] + uniform(rng, -5.0, 5.0)
        put_on_lane(p, s, n + 1, LEFT + k, at, OTHERS[n][1] + uniform(rng, -1.0, 1.0))
        s.driver[n + 1] = 0
    put_on_lane(p, s, 4, 7, 110.0, 20.0)
    s.driver[4], s.target_speed[4] = 0, 30.0
    put_obstacle(p, s, 5, 310.0, 8.0, 0.0, 2.0, 2.0)
    own_car(p, s)
    locate(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    simulate(p, s, a)
    ego = s.ego
    r.speed = (s.speed[ego] - p.low_speed) / (p.high_speed - p.low_speed)
    r.right_lane = p.lane_at[s.lane_of[ego], PLACE]
    r.lane_change = 1.0 if changes_lane(a) else 0.0
    missing = 0.0
    for i in range(s.movers):
        if s.lane_of[i] == MERGING and s.driver[i] > RAW:
            missing += (s.target_speed[i] - s.speed[i]) / s.target_speed[i]
    r.merging = missing
    r.collision = 0.5 if s.crashed[ego] else 1.5
    passed = s.x[ego] > GOAL
    r.terminated = s.crashed[ego] or passed
    r.success = passed and not s.crashed[ego]
