"""UTurn: drive through a U-turn, overtaking six slower cars on two lanes.

## Description
Two lanes, half a circle to the left, two lanes back. Six drivers are on the road, on both lanes, the last four of them
slow. It reproduces highway-env's u-turn-v0 (Leurent 2018; version 1.12) step by step until a car is slower than 0.69
m/s (see `rlenvs/Highway-v0`); `linked=True` is its u-turn-v1, whose drivers also see the cars on the lanes before and
after their own. As there, the outer (right) lane is rewarded, though highway-env calls the term "left lane"; and the
ego car looks no farther ahead along the bend than in other environments, because highway-env never reads the setting
that would change it.

## Action Space
Meta-actions: aim at the lane to the left or right, or at the next of the speeds 8, 16 and 24 m/s, or keep both. With
`actions="continuous"` acceleration (5 m/s^2 at 1) and steering (45 degrees at 1).

## Observation Space
Times to collision: for the current target speed and its neighbors, on the current lane and the adjacent ones, for each
of the next sixteen seconds 1 if there would be a collision, 0.5 for a near miss. Other observation types, such as
`observation="kinematics"`, as in Highway.

## Rewards
`speed` is 0 at 8 m/s and 1 at 24 m/s, `outer_lane` 1 on the right lane, `collision` 0 in a crash and 1 otherwise;
their weighted sum is in [0, 1]. All are 0 off the road.

## Costs
None.

## Starting State
The ego car is at the beginning of the left lane at 16 m/s; the others are around 25 and 56 m ahead of it, 0.5 and 17.5
m along the bend, and 1 and 30 m after it, at 13.5, 14.5, 4.5, 5.5, 3.5 and 5.5 m/s, alternately on its lane and the
other, with standard deviations of 2 m and 2 m/s.

## Episode End
Termination: a crash. Truncation: 10 steps, a second each. Success: no crash.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99. Following the cars on the right lane without watching the traffic is also safe and gives
most of the return; driving faster gives the rest.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import f8, i8, kernel, normal, only, param, same_as, term
from rlenvs.kits.roads.lanes import PLACE, ROAD, lane_count
from rlenvs.kits.roads.network import route_rows
from rlenvs.kits.traffic.cars import put_on_lane, set_route
from rlenvs.kits.traffic.drivers import become_driver
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import networks, originals
from rlenvs.robotics.driving.driving import begin, driving_world, end, on_road, own_car, share, simulate
from rlenvs.robotics.driving.experts import overtaking_expert

NETWORK = networks.u_turn()
STAGES = 3
BEST = 1.5  # what the weighted terms add up to at most, with 1 for no crash
START = (  # of the others: lane, m along it, m/s
    (NETWORK.lane("a", "b", 0), 25.0, 13.5),
    (NETWORK.lane("a", "b", 1), 56.0, 14.5),
    (NETWORK.lane("b", "c", 1), 0.5, 4.5),
    (NETWORK.lane("b", "c", 0), 17.5, 5.5),
    (NETWORK.lane("c", "d", 0), 1.0, 3.5),
    (NETWORK.lane("c", "d", 1), 30.0, 5.5),
)
FIRST = NETWORK.lane("a", "b", 0)

REWARDS = {"high_speed_reward": "speed", "left_lane_reward": "outer_lane", "collision_reward": "collision"}

SPEC = driving_world(
    "UTurn-v0",
    doc=__doc__,
    source="highway-env 1.12.1, u-turn-v0 (Leurent 2018)",
    road=lambda values: NETWORK,
    cars=lambda values: 1 + len(START),
    stages=STAGES,
    speeds=(8.0, 16.0, 24.0),
    time_span=16,
    observation="times",
    picture=(96, 96, 1.0, 0.5),
    params={
        "place_deviation": param(2.0, 0.0, 3.0, "m", "standard deviation of positions at the start"),
        "speed_deviation": param(2.0, 0.0, 3.0, "m/s", "standard deviation of speeds at the start"),
        "low_speed": param(8.0, 0.0, 15.0, "m/s", "speed at which `speed` is 0"),
        "high_speed": param(24.0, 16.0, 40.0, "m/s", "speed at which `speed` is 1"),
    },
    data={"plans": i8("roads", STAGES), "others": f8(len(START), 3)},
    more_data=lambda values: {"plans": plans(), "others": np.array(START)},
    terms={
        "speed": term(0.0, 1.0, 0.4 / BEST, "0 at 8 m/s, 1 at 24 m/s"),
        "outer_lane": term(0.0, 1.0, 0.1 / BEST, "1 on the right lane, the outer one of the bend"),
        "collision": term(0.0, 1.0, 1.0 / BEST, "0 in a crash, 1 otherwise"),
    },
    horizon=10,
    original=originals.Config(
        duration=10,
        keys={
            "reward_speed_range": same_as("low_speed", "high_speed"),
            "normalize_reward": only(True, "rewards are in [0, 1]"),
        },
        rewards={"collision_reward": -1.0, "left_lane_reward": 0.1, "high_speed_reward": 0.4},
        paid=originals.normalized(REWARDS, ("high_speed_reward", "left_lane_reward")),
    ),
    quick={"simulation_hz": 2},
    python_answers=2,
    levels={"linked": {"linked": True}},
)
SPEC.expert(overtaking_expert)


def plans() -> np.ndarray:
    """The roads from each road to the end."""
    return route_rows([NETWORK.route(start, end, "d") for start, end in NETWORK.roads], STAGES)


@kernel
def plan(p, s, i):
    """Give car i the route from where it is to the end."""
    k = s.lane_of[i]
    set_route(s, i, p.plans[p.lane_at[k, ROAD]], p.lane_at[k, PLACE])


@SPEC.reset
def reset(p, s, rng):
    count = 1 + p.others.shape[0]
    begin(p, s, count, count, 0)
    put_on_lane(p, s, 0, FIRST, 0.0, 16.0)
    plan(p, s, 0)
    for n in range(p.others.shape[0]):
        at = p.others[n, 1] + normal(rng) * p.place_deviation
        put_on_lane(p, s, 1 + n, int(p.others[n, 0]), at, p.others[n, 2] + normal(rng) * p.speed_deviation)
        plan(p, s, 1 + n)
        s.driver[1 + n] = 0
    become_driver(p.drivers, s, 1, 0, rng)
    own_car(p, s)
    locate(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    simulate(p, s, a)
    ego = s.ego
    k = s.lane_of[ego]
    on = 1.0 if on_road(p, s) else 0.0
    r.speed = on * share(s.speed[ego], p.low_speed, p.high_speed)
    r.outer_lane = on * p.lane_at[k, PLACE] / max(lane_count(p, k) - 1, 1)
    r.collision = 0.0 if s.crashed[ego] else on
    end(p, s, r, on > 0.0)
