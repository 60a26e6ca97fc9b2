"""TwoWay: overtake slower cars on a two-way road, using the lane of the oncoming traffic.

## Description
Three drivers are ahead on the ego car's lane, and two are oncoming. It reproduces highway-env's two-way-v0 (Leurent
2018; version 1.12) step by step until a car is slower than 0.69 m/s (see `rlenvs/Highway-v0`). Its reward favors speed
and the left lane, and does not penalize crashes. The constraint that it mentions, to keep out of the left lane, is a
cost here, and so is a crash. Different: if the ego car turns around on the left lane, where the original divides by
zero, `left_lane` is 0.

## Action Space
Meta-actions: aim at the lane to the left or right, or at the next of the speeds 20, 25 and 30 m/s, or keep both. With
`actions="continuous"` acceleration (5 m/s^2 at 1) and steering (45 degrees at 1).

## Observation Space
Times to collision: for the current target speed and its neighbors, on the current lane and the adjacent ones, for each
of the next five seconds 1 if there would be a collision, 0.5 for a near miss. Other observation types, such as
`observation="kinematics"`, as in Highway.

## Rewards
`speed` is the rank of the target speed, 0, 0.5 or 1; `left_lane` is 1 if the target is the left lane. Weighted with 0.8
and 0.2 they give a reward in [0, 1].

## Costs
`collision` and `oncoming_lane`: 1 in a step that ends in a crash, and in one that ends on the left lane.

## Starting State
The ego car is 30 m along the right lane at 30 m/s; three drivers are around 70, 110 and 150 m at 24 m/s; two oncoming
ones are around 200 and 300 m from the other end of the road, which is 800 m long, at 20 m/s. Standard deviations: 10 m,
2 m/s, and 5 m/s for oncoming cars.

## Episode End
Termination: a crash. Truncation: 15 steps, a second each. Success: no crash.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99. Since crashes are costs, the highest return comes from staying on the left lane until a
car comes: look at return, success and costs together.

## Version History
v0: first version.
"""

from rlenvs.core import cost, normal, only, param, term
from rlenvs.kits.roads.lanes import PLACE, lane_count
from rlenvs.kits.traffic.cars import TRACKER, put_on_lane, speed_index
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import networks, originals
from rlenvs.robotics.driving.driving import begin, driving_world, end, on_road, own_car, simulate
from rlenvs.robotics.driving.experts import overtaking_expert

LEFT, RIGHT, ONCOMING = 0, 1, 2  # lanes
SAME_WAY, OTHER_WAY = 3, 2  # drivers

SPEC = driving_world(
    "TwoWay-v0",
    doc=__doc__,
    source="highway-env 1.12.1, two-way-v0 (Leurent 2018)",
    road=lambda values: networks.two_way(),
    cars=lambda values: 1 + SAME_WAY + OTHER_WAY,
    time_span=5,
    observation="times",
    params={
        "place_deviation": param(10.0, 0.0, 12.0, "m", "standard deviation of positions at the start"),
        "speed_deviation": param(
            2.0, 0.0, 4.0, "m/s", "standard deviation of speeds; two and a half times as much for oncoming cars"
        ),
    },
    terms={
        "speed": term(0.0, 1.0, 0.8, "rank of the target speed, from 0 to 1"),
        "left_lane": term(0.0, 1.0, 0.2, "1 if the target is the left lane"),
    },
    costs={
        "collision": cost(0.0, 1.0, doc="1 in a crash"),
        "oncoming_lane": cost(5.0, 1.0, doc="1 on the lane of oncoming cars"),
    },
    horizon=15,
    original=originals.Config(
        keys={
            "collision_reward": only(0, "crashes are a cost"),
            "left_lane_constraint": only(1, "the lane of oncoming cars is a cost"),
        },
        rewards={"left_lane_reward": 0.2, "high_speed_reward": 0.8},
        paid=originals.weights({"high_speed_reward": "speed", "left_lane_reward": "left_lane"}),
    ),
    quick={"simulation_hz": 2},
    python_answers=2,
)
SPEC.expert(overtaking_expert)


@SPEC.reset
def reset(p, s, rng):
    begin(p, s, 1 + SAME_WAY + OTHER_WAY, 1 + SAME_WAY + OTHER_WAY, 0)
    put_on_lane(p, s, 0, RIGHT, 30.0, 30.0)
    for n in range(SAME_WAY):
        at = 70.0 + 40.0 * n + normal(rng) * p.place_deviation
        put_on_lane(p, s, 1 + n, RIGHT, at, 24.0 + normal(rng) * p.speed_deviation)
        s.driver[1 + n], s.changes[1 + n] = 0, False
    for n in range(OTHER_WAY):
        i, at = 1 + SAME_WAY + n, 200.0 + 100.0 * n + normal(rng) * p.place_deviation
        put_on_lane(p, s, i, ONCOMING, at, 20.0 + 2.5 * normal(rng) * p.speed_deviation)
        s.driver[i], s.changes[i], s.target_lane[i] = 0, False, ONCOMING
    own_car(p, s)
    locate(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    simulate(p, s, a)
    ego = s.ego
    k = s.lane_of[ego]
    lane = s.target_lane[ego] if s.driver[ego] == TRACKER else k
    aim = s.target_speed[ego] if s.driver[ego] == TRACKER else s.speed[ego]
    r.speed = speed_index(p.speeds, aim) / 2.0
    others = lane_count(p, k) - 1
    r.left_lane = max(others - p.lane_at[lane, PLACE], 0.0) / others if others > 0 else 0.0
    r.collision = 1.0 if s.crashed[ego] else 0.0
    r.oncoming_lane = 1.0 if k != RIGHT else 0.0
    end(p, s, r, on_road(p, s))
