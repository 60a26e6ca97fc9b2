"""CartPole: keep a pole upright on a cart by pushing the cart left and right.

## Description
A pole is hinged on a cart that runs on a frictionless track; every step pushes the cart left or right with a fixed
force. Gymnasium's CartPole-v1 (classic control, 1.4): its equations, integration, spaces, starts, limits, reward and
keywords, so code and policies carry over. From the same state a step gives the same numbers up to rounding (sines here
are the same on every processor). Different: all constants are parameters, and derived quantities are recomputed from
them (total mass, moment, bounds of the space); positions and angles are clipped to the observation space, which the
original can leave after its last step; an episode that has ended cannot be stepped further. `CartPoleNoVelocity-v0`
hides both velocities.

## Action Space
0 pushes the cart to the left, 1 to the right, with `force_mag`.

## Observation Space
Position and velocity of the cart, angle and angular velocity of the pole; the angle is zero upright. The bounds of the
space are twice the limits at which episodes end; velocities are unbounded. With `velocity="hidden"` only position and
angle.

## Rewards
`balance` is 1 for every step, the last one included. With `sutton_barto_reward=True` it is -1 in the step in which the
pole falls or the cart leaves the track, and 0 before.

## Costs
None.

## Starting State
All four numbers uniform in [-0.05, 0.05]: between `initial_state_lower` and `initial_state_upper`.
`reset(options={"low": ..., "high": ...})` takes other bounds for this reset, as in the original.

## Episode End
Termination: the pole is more than 12 degrees from upright, or the cart more than 2.4 m from the middle. Truncation: 500
steps (Gymnasium's CartPole-v0: `horizon=200`). `is_success` means that the episode lasted until the time limit.

## Parameters
The contexts of CARL (Benjamins et al., TMLR 2023) under its names, and the limits. CARL starts in a range twice as wide
as Gymnasium's; here the default is Gymnasium's.

## Reference Scores
Mean return over seeds 0 to 99. The bound is 1 per step up to the time limit.

## Version History
v0: first version.
"""

import math

import numpy as np

from rlenvs.core import (
    Score,
    at_most,
    block,
    choice,
    data_option,
    discrete,
    drop_in,
    f8,
    flag,
    param,
    published,
    term,
    uniform,
    value_of,
    view,
    world,
)
from rlenvs.single.classic.cart import CART, accelerations, balancing_force, draw_cart

INTEGRATOR = choice("euler", "semi-implicit euler", doc="whether positions move with the old or the new velocities")
EULER, _ = INTEGRATOR.codes("euler", "semi-implicit euler")


def ends(values):
    """Of the published observation space."""
    speed = [math.inf] * speeds(values)["speeds"]
    return [2.0 * values.x_threshold, *speed, 2.0 * values.theta_threshold_radians, *speed]


def speeds(values):
    return {"speeds": 0 if values.velocity == "hidden" else 1}


def state(setup, p, s):
    return np.array([s.x, s.x_dot, s.theta, s.theta_dot])


BOUND = {"bound": Score(500, 0, "1 per step up to the time limit")}
SPEC = world(
    "CartPole-v0",
    doc=__doc__,
    source="Gymnasium CartPole-v1 (Towers et al., arXiv 2407.17032); Barto, Sutton and Anderson, IEEE SMC 1983",
    params={
        **CART,
        "tau": param(0.02, 0.002, 0.2, "s", "time per step"),
        "x_threshold": param(2.4, 0.5, 10.0, "m", "distance from the middle at which episodes end", limit=True),
        "theta_threshold_radians": param(
            12 * 2 * math.pi / 360, 0.05, 1.5, "rad", "angle at which episodes end", limit=True
        ),
        "initial_state_lower": param(-0.05, -0.2, 0.2, "m, m/s, rad, rad/s", "least value of all four numbers"),
        "initial_state_upper": param(0.05, -0.2, 0.2, "m, m/s, rad, rad/s", "largest value of all four numbers"),
    },
    constraints=[
        at_most(
            "initial_state_lower",
            "initial_state_upper",
            doc="initial_state_lower is at most initial_state_upper",
        )
    ],
    options={
        "kinematics_integrator": INTEGRATOR,
        "sutton_barto_reward": flag(False, "reward -1 for failing, instead of 1 for every step"),
        "velocity": data_option(choice("seen", "hidden", doc="whether velocities are observed")),
    },
    sizes=speeds,
    data={"seen": f8(2)},  # the largest position and angle of the observation space
    state={"x": f8, "x_dot": f8, "theta": f8, "theta_dot": f8},
    observation={
        "x": block(
            low=lambda v: -2.0 * v.x_threshold, high=lambda v: 2.0 * v.x_threshold, unit="m", doc="position of the cart"
        ),
        "x_dot": block("speeds", low=-4.0, high=4.0, unit="m/s", doc="velocity of the cart"),
        "theta": block(
            low=lambda v: -2.0 * v.theta_threshold_radians,
            high=lambda v: 2.0 * v.theta_threshold_radians,
            unit="rad",
            doc="angle of the pole, positive to the right",
        ),
        "theta_dot": block("speeds", low=-4.0, high=4.0, unit="rad/s", doc="angular velocity of the pole"),
    },
    action=discrete("push left", "push right"),
    terms={"balance": term(-1.0, 1.0, 1.0, "1 for every step; with sutton_barto_reward -1 for a fall, else 0")},
    published=published("Gymnasium CartPole-v1", low=lambda v: [-end for end in ends(v)], high=ends),
    drop_in=drop_in(
        views={
            "state": view(state, "position, velocity, angle and angular velocity: float64 (4,)"),
            "kinematics_integrator": value_of("kinematics_integrator"),
            "total_mass": view(lambda setup, p, s: float(p.masscart + p.masspole), "of cart and pole, kg"),
            "polemass_length": view(lambda setup, p, s: float(p.masspole * p.length), "kg m"),
        },
        starts={"low": ["initial_state_lower"], "high": ["initial_state_upper"]},
    ),
    reward_threshold=475.0,
    lanes=True,
    horizon=500,
    fps=50,
    levels={
        "easy": {"length": 1.0, "force_mag": 5.0},
        "hard": {"length": 0.15, "initial_state_lower": -0.1, "initial_state_upper": 0.1},
    },
    scores=BOUND,
)

NO_VELOCITY = SPEC.member(
    "CartPoleNoVelocity-v0",
    "CartPole without velocities: keep a pole upright when only positions are observed, not velocities.",
    velocity="hidden",
    expert_sees="state",
    scores=BOUND,
)


@SPEC.make_data
def data(values):
    return {"seen": [2.0 * values.x_threshold, 2.0 * values.theta_threshold_radians]}


@SPEC.reset
def reset(p, s, rng):
    s.x = uniform(rng, p.initial_state_lower, p.initial_state_upper)
    s.x_dot = uniform(rng, p.initial_state_lower, p.initial_state_upper)
    s.theta = uniform(rng, p.initial_state_lower, p.initial_state_upper)
    s.theta_dot = uniform(rng, p.initial_state_lower, p.initial_state_upper)


@SPEC.step
def step(p, s, a, rng, r):
    force = p.force_mag if a == 1 else -p.force_mag
    x_acc, theta_acc = accelerations(p, s.theta, s.theta_dot, force)
    x_dot, theta_dot = s.x_dot + p.tau * x_acc, s.theta_dot + p.tau * theta_acc
    if p.kinematics_integrator == EULER:
        s.x += p.tau * s.x_dot
        s.theta += p.tau * s.theta_dot
    else:
        s.x += p.tau * x_dot
        s.theta += p.tau * theta_dot
    s.x_dot, s.theta_dot = x_dot, theta_dot
    fallen = abs(s.x) > p.x_threshold or abs(s.theta) > p.theta_threshold_radians
    if p.sutton_barto_reward:
        r.balance = -1.0 if fallen else 0.0
    else:
        r.balance = 1.0
    r.terminated = fallen
    r.success = s.elapsed + 1 >= p.horizon and not fallen


@SPEC.observe
def observe(p, s, o):
    o.x = min(max(s.x, -p.seen[0]), p.seen[0])
    o.theta = min(max(s.theta, -p.seen[1]), p.seen[1])
    for j in range(o.x_dot.shape[0]):
        o.x_dot[j] = s.x_dot
        o.theta_dot[j] = s.theta_dot


@SPEC.expert
def expert(p, s, a):
    a[0] = balancing_force(p, s.x, s.x_dot, s.theta, s.theta_dot) > 0.0


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("blue", "cart"), ("black", "pole"), ("red", "end of the track"))
    angle = float(s.theta)
    canvas.caption(f"pole {math.degrees(angle):+.1f} of {math.degrees(p.theta_threshold_radians):.0f} degrees")
    draw_cart(canvas, float(s.x), [(angle, 2.0 * float(p.length), "black")], float(p.x_threshold))


@SPEC.keys
def keys(pressed, values):
    return 1 if pressed.intersection(("right", "d")) else 0
