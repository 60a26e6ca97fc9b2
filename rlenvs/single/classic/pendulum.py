"""Pendulum: swing up a pendulum with a motor too weak to lift it directly, and keep it upright.

## Description
A rod turns about one end; the motor there is too weak to lift the rod directly, so energy has to be built up by
swinging. Gymnasium's Pendulum-v1 (classic control, 1.4): its equations, spaces, starts, limits, reward and keywords, so
code and policies carry over. From the same state a step gives the same numbers up to rounding. Different: all constants
are parameters; there is one gravity, `g`, while CARL has a second one without effect; torques are computed in float64,
where the original uses float32; the reward is split into three terms. `PendulumNoVelocity-v0` hides the velocity.

## Action Space
The torque in N m, from -2 to 2, positive counterclockwise. If the worlds of a batch have different `max_torque`, the
bounds of the space stand for each world's own value.

## Observation Space
Cosine and sine of the angle, which is zero upright, and the angular velocity. With `velocity="hidden"` only cosine and
sine.

## Rewards
`angle` is minus the angle squared, `speed` (weight 0.1) minus the angular velocity squared, `torque` (weight 0.001)
minus the torque squared; angle and velocity are those before the step. The best reward is 0, the worst -16.27 per step.

## Costs
None.

## Starting State
Angle uniform in [-pi, pi], angular velocity uniform in [-1, 1] rad/s: `initial_angle_max`, `initial_velocity_max`.
`reset(options={"x_init": ..., "y_init": ...})` takes other bounds for this reset, as in the original.

## Episode End
Truncation: 200 steps. `is_success` means that the pendulum is upright now: within 0.2 rad, and slower than 0.5 rad/s.

## Parameters
The contexts of CARL (Benjamins et al., TMLR 2023) under its names, and the limits. Start ranges are symmetric, as in
Gymnasium; CARL's are one-sided.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

import numpy as np

from rlenvs.core import (
    block,
    choice,
    continuous,
    data_option,
    drop_in,
    f8,
    param,
    published,
    term,
    uniform,
    view,
    world,
)
from rlenvs.core.declare.maths import cos, sin, sin_cos

MAX_SPEED, MAX_TORQUE = 20.0, 20.0  # largest that can be set
UPRIGHT, STILL = 0.2, 0.5  # rad, rad/s: what counts as standing
RATE = 0.6  # of the balanced pendulum, squared, in units of the falling one's


def speeds(values):
    return {"speeds": 0 if values.velocity == "hidden" else 1}


SPEC = world(
    "Pendulum-v0",
    doc=__doc__,
    source="Gymnasium Pendulum-v1 (Towers et al., arXiv 2407.17032)",
    params={
        "g": param(10.0, 0.0, 100.0, "m/s^2", "gravity"),
        "m": param(1.0, 0.1, 10.0, "kg", "mass of the rod"),
        "l": param(1.0, 0.1, 10.0, "m", "length of the rod"),
        "dt": param(0.05, 0.005, 0.2, "s", "time per step"),
        "max_torque": param(2.0, 0.1, MAX_TORQUE, "N m", "largest torque"),
        "max_speed": param(8.0, 1.0, MAX_SPEED, "rad/s", "largest angular velocity", limit=True),
        "initial_angle_max": param(math.pi, 0.0, math.pi, "rad", "largest angle at the start"),
        "initial_velocity_max": param(1.0, 0.0, 8.0, "rad/s", "largest angular velocity at the start"),
    },
    options={"velocity": data_option(choice("seen", "hidden", doc="whether the velocity is observed"))},
    sizes=speeds,
    data={"fastest": f8, "strongest": f8},  # the bounds of the spaces
    state={"theta": f8, "theta_dot": f8, "torque": f8},
    observation={
        "cos": block(low=-1.0, high=1.0, doc="cosine of the angle"),
        "sin": block(low=-1.0, high=1.0, doc="sine of the angle"),
        "theta_dot": block(
            "speeds", low=lambda v: -v.max_speed, high=lambda v: v.max_speed, unit="rad/s", doc="angular velocity"
        ),
    },
    action=lambda v: continuous("torque", low=-v.max_torque, high=v.max_torque, doc="N m"),
    terms={
        "angle": term(-(math.pi**2), 0.0, 1.0, "minus the squared angle, with the angle in [-pi, pi)"),
        "speed": term(-(MAX_SPEED**2), 0.0, 0.1, "minus the angular velocity squared"),
        "torque": term(-(MAX_TORQUE**2), 0.0, 0.001, "minus the torque squared"),
    },
    published=published("Gymnasium Pendulum-v1"),
    drop_in=drop_in(
        views={"state": view(lambda setup, p, s: np.array([s.theta, s.theta_dot]), "angle and angular velocity")},
        starts={"x_init": ["initial_angle_max"], "y_init": ["initial_velocity_max"]},
    ),
    lanes=True,
    horizon=200,
    fps=30,
    levels={"easy": {"max_torque": 6.0}, "hard": {"max_torque": 1.0}},
)

NO_VELOCITY = SPEC.member(
    "PendulumNoVelocity-v0",
    "Pendulum without velocity: swing up a pendulum when only its angle is observed.",
    velocity="hidden",
    expert_sees="state",
)


@SPEC.make_data
def data(values):
    return {"fastest": values.max_speed, "strongest": values.max_torque}


@SPEC.reset
def reset(p, s, rng):
    s.theta = uniform(rng, -p.initial_angle_max, p.initial_angle_max)
    s.theta_dot = uniform(rng, -p.initial_velocity_max, p.initial_velocity_max)


@SPEC.step
def step(p, s, a, rng, r):
    torque = a[0] * (p.max_torque / p.strongest)
    theta = s.theta
    angle = theta - 2.0 * math.pi * math.floor((theta + math.pi) / (2.0 * math.pi))
    r.angle = -(angle * angle)
    r.speed = -(s.theta_dot * s.theta_dot)
    r.torque = -(torque * torque)
    turn = 3.0 * p.g / (2.0 * p.l) * sin(theta) + 3.0 / (p.m * (p.l * p.l)) * torque
    s.theta_dot = min(max(s.theta_dot + turn * p.dt, -p.max_speed), p.max_speed)
    s.theta = theta + s.theta_dot * p.dt
    s.torque = torque
    r.success = cos(s.theta) > math.cos(UPRIGHT) and abs(s.theta_dot) < STILL


@SPEC.observe
def observe(p, s, o):
    o.sin, o.cos = sin_cos(s.theta)
    for j in range(o.theta_dot.shape[0]):
        o.theta_dot[j] = min(max(s.theta_dot, -p.fastest), p.fastest)


@SPEC.expert
def expert(p, s, a):
    """Balances where the torque suffices, else brings the energy to that of the upright rod."""
    inertia = p.m * p.l * p.l / 3.0
    weight = 0.5 * p.m * p.g * p.l
    falling = weight / inertia
    angle = s.theta - 2.0 * math.pi * math.floor((s.theta + math.pi) / (2.0 * math.pi))
    rate = math.sqrt(RATE * falling)
    torque = -inertia * ((falling + rate * rate) * angle + 2.0 * rate * s.theta_dot)
    if abs(torque) > 2.0 * p.max_torque and weight > 0.0:
        missing = weight * (1.0 - cos(angle)) - 0.5 * inertia * s.theta_dot * s.theta_dot
        torque = 5.0 * missing / weight * p.max_torque * (1.0 if s.theta_dot >= 0.0 else -1.0)
    a[0] = min(max(torque, -p.max_torque), p.max_torque) * (p.strongest / p.max_torque)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("blue", "rod"), ("orange", "torque", "line"), ("green", "upright", "ring"))
    theta = float(s.theta)
    angle = math.degrees(math.remainder(theta, 2.0 * math.pi))
    canvas.caption(f"{angle:+.0f} degrees from upright, {float(s.theta_dot):+.1f} rad/s, {float(s.torque):+.1f} N m")
    canvas.view(-1.3, 1.3, -1.3, 1.3)
    end = (-sin(theta), cos(theta))
    canvas.circle((0.0, 1.0), 0.12, "green", 5)
    canvas.line([(0.0, 0.0), end], "blue", 22)
    canvas.circle(end, 0.11, "blue")
    canvas.circle((0.0, 0.0), 0.09, "black")
    share = float(s.torque) / float(p.max_torque)
    if abs(share) > 0.02:
        draw_torque(canvas, (0.0, 0.0), 0.35, share)


def draw_torque(canvas, centre, radius, share):
    """An arc about a joint with a head, up to half a turn for a share of 1, counterclockwise where positive."""
    points = []
    for j in range(17):
        angle = 0.5 * math.pi + share * math.pi * (j / 16.0 - 0.5)
        points.append((centre[0] + radius * cos(angle), centre[1] + radius * sin(angle)))
    canvas.line(points[:-1], "orange", 6)
    canvas.arrow(points[-5], points[-1], "orange", 6)


@SPEC.keys
def keys(pressed, values):
    left, right = pressed.intersection(("left", "a")), pressed.intersection(("right", "d"))
    return [values.max_torque * (bool(left) - bool(right))]
