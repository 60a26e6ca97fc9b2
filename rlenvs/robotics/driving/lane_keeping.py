"""LaneKeeping: steer a car with slipping tires along the middle of a lane, from noisy measurements.

## Description
A straight lane is followed by a sinusoidal one. The car drives at constant speed and can slide sideways: a bicycle
model with tire forces linear in the slip angle (Rajamani, Vehicle Dynamics and Control, 2011, chapter 2). It reproduces
highway-env's lane-keeping-v0 (Leurent 2018; version 1.12) step by step. Different: observations are measured after the
motion (`compat=True`: before it, with the steering that follows, as there); the reward is bounded below when the car
cannot be brought back.

## Action Space
Steering, 60 degrees at 1.

## Observation Space
`state`: y [m], heading [rad], speed to the right [m/s], yaw rate [rad/s], with noise; `derivative`: their rates of
change, with noise; `reference`: y of the nearest point on the middle of the lane, as far as the lane points along x,
the direction of the lane, 0 and 0.

## Rewards
`centring` is 1 minus the square of the distance from the middle in lane widths.

## Costs
`off_lane`: 1 in a step that ends off the lane. Some steps between the two lanes are off both.

## Starting State
The car is 50 m along the straight lane, 4 m to the left of its middle, heading in its direction, at 8.3 m/s.

## Episode End
Truncation: 200 steps, 0.1 s each. Termination with `offroad_terminal`: off the lane. Success: on the sinusoidal lane at
the end.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99. The published reward does not require progress: at full steering the car circles near
the middle of the first lane, for a return of 182.

## Version History
v0: first version.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import (
    block,
    continuous,
    cost,
    drop_in,
    f8,
    flag,
    i8,
    integer,
    kernel,
    maths,
    param,
    same_as,
    term,
    uniform,
    world,
)
from rlenvs.kits.roads.lanes import ROAD_DATA, WIDTH, along_and_across, heading_on, is_on, point_on, wrapped
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH
from rlenvs.robotics.driving import networks, originals
from rlenvs.robotics.driving.render import draw_lane_keeping

NETWORK = networks.lane_keeping()
STRAIGHT, WINDING = NETWORK.lane("c", "d"), NETWORK.lane("a", "b")
STEERING = math.pi / 3.0  # rad at a full action
AXLE = 0.5 * CAR_LENGTH  # m from the middle of the car to each axle
INERTIA = (CAR_LENGTH * CAR_LENGTH + CAR_WIDTH * CAR_WIDTH) / 12.0  # m^2, of turning, for each kg
MOST_TURNING = 2.0 * math.pi  # rad/s
CRAWL = 1.0  # m/s, below which tyres only damp
CAR = 6  # numbers of the car:
X, Y, YAW, SPEED, SLIDE, TURNING = range(CAR)  # m, m, rad, m/s, m/s to the right, rad/s
MEASURED = (Y, YAW, SLIDE, TURNING)
FARTHEST = 40.0  # widths of the lane from its middle, at which the reward has its bound
LOOK = 0.6  # s, which the expert looks ahead

CONFIG = {
    **originals.hz_keys(),
    "state_noise": same_as("state_noise"),
    "derivative_noise": same_as("derivative_noise"),
}

SPEC = world(
    "LaneKeeping-v0",
    doc=__doc__,
    source="highway-env 1.12.1, lane-keeping-v0 (Leurent 2018)",
    params={
        "speed": param(8.3, 6.0, 20.0, "m/s", "of the car"),
        "friction": param(15.0, 8.0, 16.0, "N/rad", "lateral force of a tire per kg of the car"),
        "state_noise": param(0.05, 0.0, 0.5, "", "largest noise of measured states"),
        "derivative_noise": param(0.05, 0.0, 0.5, "", "largest noise of measured derivatives"),
    },
    options={
        "simulation_hz": integer(10, 10, 60, "simulation steps per second"),
        "policy_hz": integer(10, 1, 60, "decisions per second"),
        "offroad_terminal": flag(False, "whether leaving the lane ends the episode"),
        "compat": flag(False, "whether observations are taken before the motion, as in the original"),
    },
    sizes=lambda values: NETWORK.sizes,
    data={**ROAD_DATA, "measured": i8(4)},
    state={
        "car": f8(CAR),
        "rates": f8(CAR),  # their rates of change
        "middle": f8(CAR),  # what Runge and Kutta's method looks at on the way,
        "change": f8(CAR),  # and the change that comes of it
        "steering": f8,  # rad
        "lane": i8.index_of("lanes"),
        "aside": f8,  # m to the right of the middle of the lane
        "seen": f8(12),
    },
    scratch=("rates", "middle", "change"),
    observation={
        "state": block(4, low=-600.0, high=600.0, raw=True, doc="y, heading, speed to the right, yaw rate"),
        "derivative": block(4, low=-600.0, high=600.0, raw=True, doc="their rates of change"),
        "reference": block(4, low=-600.0, high=600.0, raw=True, constant=True, doc="y and heading of the lane, 0, 0"),
    },
    action=continuous("steering", doc="60 degrees at 1; to the right is positive"),
    terms={"centring": term(-FARTHEST * FARTHEST, 1.0, 1.0, "1 in the middle, 0.75 at the side of the lane")},
    costs={"off_lane": cost(10.0, 1.0, doc="1 off the lane")},
    horizon=200,
    drop_in=drop_in({"config": originals.config(CONFIG, {}, originals.unchanged)}),
    fps=lambda values: float(values.policy_hz),
    expert_sees="state",
)


@SPEC.make_data
def make_data(values: Any) -> Any:
    return {**NETWORK.arrays(), "measured": np.array(MEASURED, np.int64)}


@SPEC.reset
def reset(p, s, rng):
    s.lane = STRAIGHT
    s.car[X], s.car[Y] = point_on(p, STRAIGHT, 50.0, -4.0)
    s.car[YAW], s.car[SPEED] = heading_on(p, STRAIGHT, 0.0), p.speed
    follow(p, s)
    look(p, s, rng)


@kernel
def change(p, s, car):
    """Fill the rates of change of a car."""
    speed, slide, turning = car[SPEED], car[SLIDE], car[TURNING]
    if abs(speed) < CRAWL:
        front, rear = -slide - INERTIA / AXLE * turning, -slide + INERTIA / AXLE * turning
    else:
        front = 2.0 * p.friction * (s.steering - maths.atan2(slide + AXLE * turning, speed))
        rear = -2.0 * p.friction * maths.atan2(slide - AXLE * turning, speed)
    sine, cosine = maths.sin_cos(car[YAW])
    s.rates[X], s.rates[Y] = cosine * speed - sine * slide, sine * speed + cosine * slide
    s.rates[YAW], s.rates[SPEED] = turning, 0.0
    s.rates[SLIDE] = front + rear - turning * speed
    s.rates[TURNING] = AXLE * (front - rear) / INERTIA


@kernel
def move(p, s, dt):
    """Move the car for a time [s], by Runge and Kutta's method of fourth order."""
    s.car[TURNING] = min(max(s.car[TURNING], -MOST_TURNING), MOST_TURNING)
    change(p, s, s.car)
    for n in range(3):
        part, weight = (dt if n == 2 else 0.5 * dt), (1.0 if n == 0 else 2.0)
        for j in range(CAR):
            s.change[j] = weight * s.rates[j] + (s.change[j] if n > 0 else 0.0)
            s.middle[j] = s.car[j] + part * s.rates[j]
        change(p, s, s.middle)
    for j in range(CAR):
        s.car[j] += dt / 6.0 * (s.change[j] + s.rates[j])


@kernel
def follow(p, s):
    """Find where the car is on its lane."""
    _, s.aside = along_and_across(p, s.lane, s.car[X], s.car[Y])


@kernel
def is_on_lane(p, s):
    """Whether the car is on its lane."""
    station, aside = along_and_across(p, s.lane, s.car[X], s.car[Y])
    return is_on(p, s.lane, station, aside, 0.0)


@kernel
def look(p, s, rng):
    """Fill what is measured."""
    change(p, s, s.car)
    station, aside = along_and_across(p, s.lane, s.car[X], s.car[Y])
    for n in range(4):
        j = p.measured[n]
        s.seen[n] = s.car[j] + uniform(rng, -p.state_noise, p.state_noise)
        s.seen[4 + n] = s.rates[j] + uniform(rng, -p.derivative_noise, p.derivative_noise)
        s.seen[8 + n] = 0.0
    s.seen[8], s.seen[9] = s.car[Y] - aside, heading_on(p, s.lane, station)


@SPEC.step
def step(p, s, a, rng, r):
    if s.lane == STRAIGHT and not is_on_lane(p, s):
        s.lane = WINDING
    s.steering = STEERING * a[0]
    if p.compat:
        look(p, s, rng)
    for _ in range(max(p.simulation_hz // p.policy_hz, 1)):
        move(p, s, 1.0 / p.simulation_hz)
    follow(p, s)
    if not p.compat:
        look(p, s, rng)
    off = s.aside / p.lane[s.lane, WIDTH]
    r.centring = 1.0 - min(off * off, FARTHEST * FARTHEST)
    on = is_on_lane(p, s)
    r.off_lane = 0.0 if on else 1.0
    r.terminated = p.offroad_terminal == 1 and not on
    r.success = on and s.lane == WINDING and s.elapsed + 1 >= p.horizon


@SPEC.observe
def observe(p, s, o):
    for n in range(4):
        o.state[n], o.derivative[n], o.reference[n] = s.seen[n], s.seen[4 + n], s.seen[8 + n]


@SPEC.expert
def expert(p, s, a):
    """Turns towards the direction in which the lane points ahead, and to its middle."""
    k = s.lane
    station, aside = along_and_across(p, k, s.car[X], s.car[Y])
    if k == STRAIGHT and not is_on_lane(p, s):
        k = WINDING
        station, aside = along_and_across(p, k, s.car[X], s.car[Y])
    ahead = LOOK * s.car[SPEED]
    aim = heading_on(p, k, station + ahead) - maths.atan(aside / ahead)
    course = s.car[YAW] + maths.atan2(s.car[SLIDE], s.car[SPEED])
    turning = wrapped(aim - course) / LOOK
    angle = maths.atan(CAR_LENGTH * turning / s.car[SPEED])
    a[0] = min(max(angle / STEERING, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    draw_lane_keeping(canvas, p, s)


@SPEC.keys
def keys(pressed, values):
    return [float(("right" in pressed) - ("left" in pressed))]
