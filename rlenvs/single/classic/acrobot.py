"""Acrobot: swing the tip of a two-link arm above a line, using only a motor at the elbow.

## Description
Two links hang from a fixed joint that turns freely; a motor drives the joint between them. Gymnasium's Acrobot-v1
(classic control, 1.4): its equations (Sutton, NIPS 1996, in the form of the book), Runge-Kutta step, spaces, starts,
limits and reward, so code and policies carry over. From the same state a step gives the same numbers up to rounding.
Different: all constants are parameters, including gravity, which is not a context in CARL; the goal is a height, so
both lengths matter (the second has no effect in CARL); starts are not rounded to float32; noise of the torque has no
negative range. `AcrobotNoVelocity-v0` hides both velocities.

## Action Space
0, 1, 2: the torque -1, 0 or 1 N m on the joint between the links.

## Observation Space
Cosine and sine of the first angle, which is zero hanging down, and of the second, relative to the first link; both
angular velocities. With `velocity="hidden"` only the cosines and sines.

## Rewards
`time` is -1 for every step, and 0 for the one that reaches the goal.

## Costs
None.

## Starting State
Angles and velocities uniform in [-0.1, 0.1]: between `initial_angle_lower` and so on.
`reset(options={"low": ..., "high": ...})` takes other bounds for this reset, as in the original.

## Episode End
Termination, a success: the tip is higher above the fixed joint than the links are long, 1 m (the mean where they
differ). Truncation: 500 steps.

## Parameters
The contexts of CARL (Benjamins et al., TMLR 2023), in lower case. Each link has the same moment of inertia about its
center of mass.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

import numpy as np

from rlenvs.core import (
    at_most,
    block,
    choice,
    data_option,
    discrete,
    drop_in,
    f8,
    kernel,
    param,
    published,
    term,
    uniform,
    value_of,
    view,
    world,
)
from rlenvs.core.declare.maths import cos, sin, sin_cos
from rlenvs.single.classic.pendulum import draw_torque

EQUATIONS = choice("book", "nips", doc="the equations of Sutton and Barto's book, or of the paper, which lack a term")
BOOK, _ = EQUATIONS.codes("book", "nips")
TWO_PI = 2.0 * math.pi
FAR = 200  # steps after which the expert gives up a plan


def bounds(values):
    speed = [] if values.velocity == "hidden" else [values.max_vel_1, values.max_vel_2]
    return [1.0, 1.0, 1.0, 1.0, *speed]


def speeds(values):
    return {"speeds": 0 if values.velocity == "hidden" else 1}


CONSTANTS = (
    *(f"link_{what}_{link}" for what in ("length", "mass", "com_pos") for link in (1, 2)),
    *("link_moi", "max_vel_1", "max_vel_2"),
)


def state(setup, p, s):
    return np.array([s.theta1, s.theta2, s.dtheta1, s.dtheta2])


SPEC = world(
    "Acrobot-v0",
    doc=__doc__,
    source="Gymnasium Acrobot-v1 (Towers et al., arXiv 2407.17032); Sutton, NIPS 1996",
    params={
        "gravity": param(9.8, 0.1, 30.0, "m/s^2", "gravity"),
        "link_length_1": param(1.0, 0.1, 10.0, "m", "length of the first link"),
        "link_length_2": param(1.0, 0.1, 10.0, "m", "length of the second link"),
        "link_mass_1": param(1.0, 0.1, 10.0, "kg", "mass of the first link"),
        "link_mass_2": param(1.0, 0.1, 10.0, "kg", "mass of the second link"),
        "link_com_pos_1": param(0.5, 0.0, 1.0, "m", "center of mass of the first link, from its joint"),
        "link_com_pos_2": param(0.5, 0.0, 1.0, "m", "center of mass of the second link, from its joint"),
        "link_moi": param(1.0, 0.1, 10.0, "kg m^2", "moment of inertia of each link"),
        "max_vel_1": param(4 * math.pi, 0.4 * math.pi, 40 * math.pi, "rad/s", "largest first velocity", limit=True),
        "max_vel_2": param(9 * math.pi, 0.9 * math.pi, 90 * math.pi, "rad/s", "largest second velocity", limit=True),
        "torque": param(1.0, 0.1, 10.0, "N m", "torque of the motor"),
        "torque_noise_max": param(0.0, 0.0, 1.0, "N m", "largest noise of the torque, uniform"),
        "dt": param(0.2, 0.02, 0.2, "s", "time per step"),
        "target": param(1.0, 0.0, 1.9, "", "target height of the tip, in mean lengths of the links"),
        "initial_angle_lower": param(-0.1, -1.0, 1.0, "rad", "least angles at the start"),
        "initial_angle_upper": param(0.1, -1.0, 1.0, "rad", "largest angles at the start"),
        "initial_velocity_lower": param(-0.1, -1.0, 1.0, "rad/s", "least velocities at the start"),
        "initial_velocity_upper": param(0.1, -1.0, 1.0, "rad/s", "largest velocities at the start"),
    },
    constraints=[
        at_most(
            f"initial_{what}_lower",
            f"initial_{what}_upper",
            doc=f"initial_{what}_lower is at most initial_{what}_upper",
        )
        for what in ("angle", "velocity")
    ],
    options={
        "book_or_nips": EQUATIONS,
        "velocity": data_option(choice("seen", "hidden", doc="whether velocities are observed")),
    },
    sizes=speeds,
    data={"fastest": f8(2)},  # bounds of the observation space
    state={"theta1": f8, "theta2": f8, "dtheta1": f8, "dtheta2": f8, "motor": f8},
    observation={
        "cos1": block(low=-1.0, high=1.0, doc="cosine of the first angle"),
        "sin1": block(low=-1.0, high=1.0, doc="sine of the first angle"),
        "cos2": block(low=-1.0, high=1.0, doc="cosine of the second angle"),
        "sin2": block(low=-1.0, high=1.0, doc="sine of the second angle"),
        "dtheta1": block(
            "speeds", low=lambda v: -v.max_vel_1, high=lambda v: v.max_vel_1, unit="rad/s", doc="first velocity"
        ),
        "dtheta2": block(
            "speeds", low=lambda v: -v.max_vel_2, high=lambda v: v.max_vel_2, unit="rad/s", doc="second velocity"
        ),
    },
    action=discrete("torque -1", "no torque", "torque +1", idle=1),
    terms={"time": term(-1.0, 0.0, 1.0, "-1 for every step except the one that reaches the goal")},
    published=published("Gymnasium Acrobot-v1", low=lambda v: [-end for end in bounds(v)], high=bounds),
    drop_in=drop_in(
        views={
            "state": view(state, "both angles and both velocities: float64 (4,)"),
            **{name.upper(): value_of(name) for name in CONSTANTS},
        },
        starts={
            "low": ["initial_angle_lower", "initial_velocity_lower"],
            "high": ["initial_angle_upper", "initial_velocity_upper"],
        },
    ),
    reward_threshold=-100.0,
    lanes=True,
    horizon=500,
    fps=15,
    levels={"easy": {"torque": 2.0}, "hard": {"torque": 0.6, "target": 1.5}},
)

NO_VELOCITY = SPEC.member(
    "AcrobotNoVelocity-v0",
    "Acrobot without velocities: swing up two links when only their angles are observed.",
    velocity="hidden",
    expert_sees="state",
)


@SPEC.make_data
def data(values):
    return {"fastest": [values.max_vel_1, values.max_vel_2]}


@SPEC.reset
def reset(p, s, rng):
    s.theta1 = uniform(rng, p.initial_angle_lower, p.initial_angle_upper)
    s.theta2 = uniform(rng, p.initial_angle_lower, p.initial_angle_upper)
    s.dtheta1 = uniform(rng, p.initial_velocity_lower, p.initial_velocity_upper)
    s.dtheta2 = uniform(rng, p.initial_velocity_lower, p.initial_velocity_upper)


@kernel
def accelerations(p, angle1, angle2, speed1, speed2, torque):
    """Of both joints [rad/s^2]."""
    sine, cosine = sin_cos(angle2)
    coupling = p.link_mass_2 * p.link_length_1 * p.link_com_pos_2
    own = p.link_mass_2 * (p.link_com_pos_2 * p.link_com_pos_2) + p.link_moi
    d2 = own + coupling * cosine
    first = p.link_mass_1 * (p.link_com_pos_1 * p.link_com_pos_1) + p.link_moi
    d1 = first + own + p.link_mass_2 * (p.link_length_1 * p.link_length_1) + 2.0 * coupling * cosine
    weight2 = p.link_mass_2 * p.link_com_pos_2 * p.gravity * sin(angle1 + angle2)
    weight1 = (p.link_mass_1 * p.link_com_pos_1 + p.link_mass_2 * p.link_length_1) * p.gravity * sin(angle1)
    phi1 = weight1 + weight2 - coupling * sine * speed2 * (speed2 + 2.0 * speed1)
    pulled = coupling * (speed1 * speed1) * sine if p.book_or_nips == BOOK else 0.0
    turn2 = (torque + d2 / d1 * phi1 - pulled - weight2) / (own - d2 * d2 / d1)
    return -(d2 * turn2 + phi1) / d1, turn2


@kernel
def above_target(p, angle1, angle2):
    """How far the tip is above the height to be passed [m]."""
    height = -p.link_length_1 * cos(angle1) - p.link_length_2 * cos(angle1 + angle2)
    return height - p.target * (0.5 * (p.link_length_1 + p.link_length_2))


@kernel
def wrapped(angle):
    """In [-pi, pi]."""
    return angle - TWO_PI * math.floor((angle + math.pi) / TWO_PI) if abs(angle) > math.pi else angle


@kernel
def swing(p, angle1, angle2, speed1, speed2, torque):
    """Angles and velocities after a step of Runge and Kutta's fourth order."""
    h = 0.5 * p.dt
    a1, a2 = accelerations(p, angle1, angle2, speed1, speed2, torque)
    v1, v2 = speed1 + h * a1, speed2 + h * a2
    b1, b2 = accelerations(p, angle1 + h * speed1, angle2 + h * speed2, v1, v2, torque)
    w1, w2 = speed1 + h * b1, speed2 + h * b2
    c1, c2 = accelerations(p, angle1 + h * v1, angle2 + h * v2, w1, w2, torque)
    u1, u2 = speed1 + p.dt * c1, speed2 + p.dt * c2
    d1, d2 = accelerations(p, angle1 + p.dt * w1, angle2 + p.dt * w2, u1, u2, torque)
    sixth = p.dt / 6.0
    angle1 += sixth * (speed1 + 2.0 * v1 + 2.0 * w1 + u1)
    angle2 += sixth * (speed2 + 2.0 * v2 + 2.0 * w2 + u2)
    speed1 += sixth * (a1 + 2.0 * b1 + 2.0 * c1 + d1)
    speed2 += sixth * (a2 + 2.0 * b2 + 2.0 * c2 + d2)
    speed1 = min(max(speed1, -p.max_vel_1), p.max_vel_1)
    speed2 = min(max(speed2, -p.max_vel_2), p.max_vel_2)
    return wrapped(angle1), wrapped(angle2), speed1, speed2


@SPEC.step
def step(p, s, a, rng, r):
    torque = float(a - 1) * p.torque
    if p.torque_noise_max > 0.0:
        torque += uniform(rng, -p.torque_noise_max, p.torque_noise_max)
    s.motor = torque
    s.theta1, s.theta2, s.dtheta1, s.dtheta2 = swing(p, s.theta1, s.theta2, s.dtheta1, s.dtheta2, torque)
    there = above_target(p, s.theta1, s.theta2) > 0.0
    r.time = 0.0 if there else -1.0
    r.terminated = there
    r.success = there


@SPEC.observe
def observe(p, s, o):
    o.sin1, o.cos1 = sin_cos(s.theta1)
    o.sin2, o.cos2 = sin_cos(s.theta2)
    for j in range(o.dtheta1.shape[0]):
        o.dtheta1[j] = min(max(s.dtheta1, -p.fastest[0]), p.fastest[0])
        o.dtheta2[j] = min(max(s.dtheta2, -p.fastest[1]), p.fastest[1])


@kernel
def steps_to_goal(p, s, first, most):
    """How long it takes with a first torque, and then one that always adds energy."""
    angle1, angle2, speed1, speed2 = s.theta1, s.theta2, s.dtheta1, s.dtheta2
    torque = first
    for t in range(most):
        angle1, angle2, speed1, speed2 = swing(p, angle1, angle2, speed1, speed2, torque)
        if above_target(p, angle1, angle2) > 0.0:
            return t
        torque = p.torque if 2.0 * speed2 >= speed1 else -p.torque
    return most


@SPEC.expert
def expert(p, s, a):
    """The torque that leads to the goal soonest, with one that adds energy afterwards."""
    best, choice = FAR, 2 if 2.0 * s.dtheta2 >= s.dtheta1 else 0
    for j in range(3):
        needed = steps_to_goal(p, s, float(j - 1) * p.torque, best)
        if needed < best:
            best = needed
            choice = j
    a[0] = choice


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("blue", "links"), ("orange", "torque", "line"), ("green", "height to be passed", "line"))
    first, second = float(p.link_length_1), float(p.link_length_2)
    lean = float(s.theta1) + float(s.theta2)
    height = float(p.target) * 0.5 * (first + second)
    reached = -first * cos(float(s.theta1)) - second * cos(lean)
    canvas.caption(f"tip at {reached:+.2f} m, target {height:.2f} m")
    half = 1.12 * (first + second)
    canvas.view(-half, half, -half, half)
    canvas.line([(-half, height), (half, height)], "green", 6)
    elbow = (first * sin(float(s.theta1)), -first * cos(float(s.theta1)))
    tip = (elbow[0] + second * sin(lean), elbow[1] - second * cos(lean))
    canvas.line([(0.0, 0.0), elbow, tip], "blue", 18)
    for joint in ((0.0, 0.0), elbow, tip):
        canvas.circle(joint, 0.05 * half, "black" if joint != tip else "blue")
    share = float(s.motor) / float(p.torque)
    if abs(share) > 0.02:
        draw_torque(canvas, elbow, 0.14 * half, min(max(share, -1.0), 1.0))


@SPEC.keys
def keys(pressed, values):
    return 1 + bool(pressed.intersection(("left", "a"))) - bool(pressed.intersection(("right", "d")))
