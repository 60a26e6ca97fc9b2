"""Parking: drive a car nose first into one of 28 parking spots.

## Description
An aisle between two rows of parking spots, surrounded by walls, with a car in the middle that turns like a real car. It
reproduces highway-env's parking-v0 (Leurent 2018; version 1.12) step by step; `level="parked"` is its
parking-parked-v0, with ten parked cars, `level="slow"` its parking-ActionRepeat-v0. Different: observations are float32
and their bounds finite; they are one vector by default, and dictionaries for hindsight experience replay with
`form="goal"`; goals have a seventh number, whether there was a crash, so that the reward is a function of the goals,
which it is not in the original.

## Action Space
Acceleration (5 m/s^2 at 1) and steering (45 degrees at 1, to the right).

## Observation Space
Position in units of 100 m, velocity in units of 5 m/s, cosine and sine of the heading; the achieved goal, the same
again and 1 after a crash; and the desired goal, that of the parking spot and 0.

## Rewards
`distance` is minus the square root of the weighted sum of differences between the achieved and the desired goal, with
the weights 1, 0.3, 0, 0, 0.02 and 0.02; `collision` is -1 in a crash, with weight 5.

## Costs
None.

## Starting State
In the middle of the aisle, at rest, with a random heading; the goal is any spot except the one nearest to the car.

## Episode End
Termination: the distance is less than 0.12 (a success), or a crash. Truncation: 500 steps, a fifth of a second each.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99. The distance is penalized in each step and a crash ends the episode, so an early crash
has a higher return than the expert: look at the success rate instead.

## Version History
v0: first version.
"""

import math
from typing import Any

from rlenvs.core import (
    below,
    block,
    continuous,
    f4,
    flag,
    i8,
    integer,
    kernel,
    maths,
    meaning,
    only,
    param,
    same_as,
    term,
    uniform,
    world,
)
from rlenvs.kits.roads.lanes import HEADING, ROAD_DATA, point_on, wrapped
from rlenvs.kits.traffic.cars import CARS, RAW, car_sizes, put_car, put_obstacle, put_on_lane, slip_of, steering_of
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.kits.traffic.simulation import move_all
from rlenvs.kits.traffic.soundness import state_fault
from rlenvs.robotics.driving import networks, originals
from rlenvs.robotics.driving.render import draw_parking
from rlenvs.robotics.driving.steering import FORCE, STEERING

NETWORK = networks.parking_lot()
WALLS = (
    (0.0, -21.0, 0.0, 70.0),
    (0.0, 21.0, 0.0, 70.0),
    (-35.0, 0.0, 0.5 * math.pi, 42.0),
    (35.0, 0.0, 0.5 * math.pi, 42.0),
)
FEATURES, GOAL = 6, 7  # numbers of the car, and of a goal, which say whether there was a crash too
SCALES = (100.0, 100.0, 5.0, 5.0, 1.0, 1.0)
WEIGHTS = (1.0, 0.3, 0.0, 0.0, 0.02, 0.02)
RADIUS, SPEED, ENTRY = 6.0, 3.0, 5.0  # of the expert: m of its turns, m/s, m before the middle of a place
AXLE = 2.5  # m from the middle of a car to its rear axle, which moves where the car looks
MOST_SLIP = AXLE / math.sqrt(AXLE * AXLE + RADIUS * RADIUS)
EDGE = 33.0  # m from the middle to which its turns may reach


def with_goals(value):
    """Highway-env's observation is the goal form."""
    if not isinstance(value, dict) or value.get("type") != "KinematicsGoal":
        raise ValueError("needed: {'type': 'KinematicsGoal'}")
    return {"form": "goal"}


SPEC = world(
    "Parking-v0",
    doc=__doc__,
    source="highway-env 1.12.1, parking-v0 (Leurent 2018)",
    params={"near": param(0.12, 0.02, 0.5, "", "distance below which the car is parked")},
    options={
        "parked": integer(0, 0, 26, "parked cars"),
        "walls": flag(True, "walls around the lot"),
        "simulation_hz": integer(15, 1, 60, "simulation steps per second"),
        "policy_hz": integer(5, 1, 60, "decisions per second"),
    },
    sizes=lambda v: {**NETWORK.sizes, **car_sizes(1 + v.parked + len(WALLS), 1, NETWORK.sizes["lanes"])},
    data=ROAD_DATA,
    state={
        **CARS,
        "driver": i8("cars").within(-3, -1),
        "ego": i8.index_of("cars"),
        "place": i8.index_of("lanes"),  # the lane that is the goal
        "free": i8("lanes"),  # places without a car, while an episode begins
        "achieved": f4(GOAL),
        "desired": f4(GOAL),
    },
    observation={
        "car": block(FEATURES, low=-10.0, high=10.0, raw=True, doc="position, velocity, direction"),
        "achieved": block(GOAL, low=-10.0, high=10.0, raw=True, constant=True, doc="the same, and 1 after a crash"),
        "desired": block(GOAL, low=-10.0, high=10.0, raw=True, constant=True, doc="that of the parking spot, and 0"),
    },
    goal=("achieved", "desired"),
    action=continuous("acceleration", "steering", doc="5 m/s^2 and 45 degrees at 1; steering to the right is positive"),
    terms={
        "distance": term(-10.0, 0.0, 1.0, "minus the root of the weighted differences from the goal"),
        "collision": term(-1.0, 0.0, 5.0, "-1 in a crash"),
    },
    horizon=500,
    drop_in=originals.names(
        originals.config(
            {
                **originals.hz_keys(),
                "vehicles_count": same_as("parked"),
                "add_walls": same_as("walls"),
                "success_goal_reward": same_as("near"),
                "controlled_vehicles": originals.ONE_CAR,
                "observation": meaning('`form="goal"`', with_goals),
                "reward_weights": only([1, 0.3, 0, 0, 0.02, 0.02], "differences have these weights"),
            },
            {"collision_reward": -5.0},
            originals.weights({"collision_reward": "collision"}, negated=("collision_reward",)),
            duration=100,
            hz=5,
        )
    ),
    fps=lambda v: float(v.policy_hz),
    levels={"parked": {"parked": 10}, "slow": {"policy_hz": 1, "horizon": 20}},
)


SPEC.state_fault(state_fault)


@SPEC.make_data
def make_data(values: Any) -> Any:
    return NETWORK.arrays()


@kernel
def take(p, s, rng, left):
    """Draw one of the first `left` free places, and take it off the list."""
    j = below(rng, left)
    k = s.free[j]
    for n in range(j, left - 1):
        s.free[n] = s.free[n + 1]
    return k


@SPEC.reset
def reset(p, s, rng):
    s.movers, s.ego = 1 + p.parked, 0
    s.bodies = s.movers + (len(WALLS) if p.walls else 0)
    put_car(p, s, 0, 0.0, 0.0, 2.0 * math.pi * uniform(rng, 0.0, 1.0), 0.0)
    left = 0
    for k in range(p.lane.shape[0]):
        if k != s.lane_of[0]:
            s.free[left] = k
            left += 1
    s.place = take(p, s, rng, left)
    for i in range(1, s.movers):
        put_on_lane(p, s, i, take(p, s, rng, left - i), 4.0, 0.0)
        s.driver[i] = RAW
    for n in range(s.bodies - s.movers):
        wall = WALLS[n]
        put_obstacle(p, s, s.movers + n, wall[0], wall[1], wall[2], wall[3], 1.0)
    s.driver[0] = RAW
    locate(p, s)
    x, y = point_on(p, s.place, 4.0, 0.0)
    sine, cosine = maths.sin_cos(p.lane[s.place, HEADING])
    fill(s.desired, x, y, 0.0, cosine, sine)
    see(s)


@kernel
def fill(goal, x, y, speed, cosine, sine):
    """What is achieved, or desired: position, velocity and direction, scaled."""
    goal[0], goal[1] = x / SCALES[0], y / SCALES[1]
    goal[2], goal[3] = speed * cosine / SCALES[2], speed * sine / SCALES[3]
    goal[4], goal[5] = cosine, sine


@kernel
def see(s):
    """Fill what is achieved."""
    fill(s.achieved, s.x[0], s.y[0], s.speed[0], s.cosine[0], s.sine[0])
    s.achieved[FEATURES] = 1.0 if s.crashed[0] else 0.0


@SPEC.goal_outcome
def goal_outcome(p, achieved, desired, r):
    total = 0.0
    for j in range(FEATURES):
        total += WEIGHTS[j] * abs(float(achieved[j]) - float(desired[j]))
    r.distance = -math.sqrt(total)
    r.collision = -1.0 if float(achieved[FEATURES]) > 0.5 else 0.0
    r.success = r.distance > -p.near
    r.terminated = r.success or r.collision < 0.0


@SPEC.step
def step(p, s, a, rng, r):
    s.acceleration[0], s.slip[0] = FORCE * a[0], slip_of(STEERING * a[1])
    for _ in range(max(p.simulation_hz // p.policy_hz, 1)):
        move_all(p, s, 1.0 / p.simulation_hz)
    see(s)
    goal_outcome(p, s.achieved, s.desired, r)


@SPEC.observe
def observe(p, s, o):
    for j in range(FEATURES):
        o.car[j] = s.achieved[j]
    for j in range(GOAL):
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


@SPEC.expert
def expert(p, s, a):
    """Two turns of the rear axle and a straight line between them (Dubins 1957) to the place's entry, then in."""
    turn, cosine, sine = 0.0, float(s.desired[4]), float(s.desired[5])
    goal = maths.atan2(sine, cosine)
    x = SCALES[0] * float(s.desired[0]) - (ENTRY + AXLE) * cosine
    y = SCALES[1] * float(s.desired[1]) - (ENTRY + AXLE) * sine
    rear_x, rear_y = s.x[0] - AXLE * s.cosine[0], s.y[0] - AXLE * s.sine[0]
    right, down = rear_x - x, rear_y - y
    ahead, aside = right * cosine + down * sine, down * cosine - right * sine
    heading = maths.atan2(s.sine[0], s.cosine[0])
    off = wrapped(goal - heading)
    if abs(aside) < 1.0 and abs(off) < 0.5 and ahead > -1.5:
        turn = min(max(off - 0.35 * aside, -0.8), 0.8)
    else:
        turn = first_turn(rear_x, rear_y, heading, x, y, goal)
    a[0] = min(max((SPEED - s.speed[0]) * p.policy_hz / FORCE, -1.0), 1.0)
    slip = min(max(AXLE * turn / (0.4 * SPEED), -MOST_SLIP), MOST_SLIP)
    a[1] = min(max(steering_of(slip) / STEERING, -1.0), 1.0)


@kernel
def first_turn(x, y, heading, gx, gy, goal):
    """The angle by which to turn next on the shortest way of two turns; positive to the right."""
    least, best = math.inf, 0.0
    sine, cosine = maths.sin_cos(heading)
    goal_sine, goal_cosine = maths.sin_cos(goal)
    for one in (-1.0, 1.0):
        for two in (-1.0, 1.0):
            ax, ay = x - one * RADIUS * sine, y + one * RADIUS * cosine
            bx, by = gx - two * RADIUS * goal_sine, gy + two * RADIUS * goal_cosine
            far = math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
            way = maths.atan2(by - ay, bx - ax)
            length = far
            if one != two:
                if far < 2.0 * RADIUS:
                    continue
                length = math.sqrt(far * far - 4.0 * RADIUS * RADIUS)
                way += one * maths.atan2(2.0 * RADIUS, length)
            first, last = turned(one * (way - heading)), turned(two * (goal - way))
            total = RADIUS * (first + last) + length
            if abs(bx) + RADIUS > EDGE or abs(ax) + RADIUS > EDGE:
                total += 1000.0
            if total < least:
                least = total
                best = one * first if first > 0.02 or length > 0.5 else two * last
    return best


@kernel
def turned(angle):
    """In [0, 2 pi); what is just below a full turn is none."""
    rest = angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi))
    return 0.0 if rest > 2.0 * math.pi - 0.12 else rest


@SPEC.draw
def draw(canvas, p, s):
    draw_parking(canvas, p, s)


@SPEC.keys
def keys(pressed, values):
    return [float(("up" in pressed) - ("down" in pressed)), float(("right" in pressed) - ("left" in pressed))]
