"""CartPoleSwingUp: swing a hanging pole up by driving its cart, and balance it over the middle of the track.

## Description
The cart and pole of CartPole, but the pole starts hanging down and turns freely. Moving has a small penalty, and there
is a reward only while the pole is up. An agent that has not found this reward does best by standing still: a test of
exploration. Equations, times, limits, starts and reward are those of bsuite's cartpole_swingup (Osband et al., ICLR
2020), whose three pushes are the actions -1, 0 and 1. Different: pushes of any size; the observation leaves out the
time and the flags that follow from the other numbers; the time limit truncates, one step earlier.

## Action Space
The force on the cart, as a fraction of `force_mag`, positive to the right.

## Observation Space
Position and velocity of the cart, cosine and sine of the pole's angle, which is zero upright, and its angular velocity.

## Rewards
`upright` is 1 while the pole is up (cosine above 0.5), slow (below 1 rad/s) and in the middle (within 1 m). `effort`
(weight 0.1) is minus the size of the action.

## Costs
None.

## Starting State
The pole hangs down and the cart is in the middle, both nearly at rest: all four numbers deviate by up to 0.05.

## Episode End
Termination: the cart is more than 3 m from the middle. Truncation: 1000 steps (10 s). `is_success` says that the pole
is up, slow and in the middle now.

## Parameters
Masses and lengths as for CartPole.

## Reference Scores
Mean return over seeds 0 to 99. The bound is 1 per step.

## Version History
v0: first version.
"""

import math

from rlenvs.core import Score, block, continuous, f8, param, term, uniform, world
from rlenvs.core.declare.maths import cos, sin_cos
from rlenvs.single.classic.cart import CART, accelerations, balancing_force, draw_cart

TWO_PI = 2.0 * math.pi
NEAR = 0.7  # cosine from which the expert may balance
GAIN, FULL, SPRING, DAMPER = 3.0, 0.7, 1.0, 1.0  # of the swing of the expert

SPEC = world(
    "CartPoleSwingUp-v0",
    doc=__doc__,
    source="bsuite cartpole_swingup (Osband et al., ICLR 2020)",
    params={
        **CART,
        "tau": param(0.01, 0.002, 0.05, "s", "time per step"),
        "x_threshold": param(3.0, 1.0, 10.0, "m", "distance from the middle at which episodes end", limit=True),
        "height_threshold": param(0.5, 0.0, 0.99, "", "cosine above which the pole is up", limit=True),
        "theta_dot_threshold": param(1.0, 0.1, 10.0, "rad/s", "angular velocity below which it is slow", limit=True),
        "x_reward_threshold": param(1.0, 0.1, 10.0, "m", "distance up to which it is in the middle", limit=True),
        "start": param(0.05, 0.0, 0.5, "m, m/s, rad, rad/s", "largest distance of a start from rest"),
    },
    state={"x": f8, "x_dot": f8, "theta": f8, "theta_dot": f8, "push": f8},
    observation={
        "x": block(low=-10.0, high=10.0, unit="m", doc="position of the cart"),
        "x_dot": block(low=-10.0, high=10.0, unit="m/s", doc="velocity of the cart"),
        "cos": block(low=-1.0, high=1.0, doc="cosine of the angle"),
        "sin": block(low=-1.0, high=1.0, doc="sine of the angle"),
        "theta_dot": block(low=-20.0, high=20.0, unit="rad/s", doc="angular velocity of the pole"),
    },
    action=continuous("force"),
    terms={
        "upright": term(0.0, 1.0, 1.0, "1 while the pole is up, slow and in the middle"),
        "effort": term(-1.0, 0.0, 0.1, "minus the size of the action"),
    },
    lanes=True,
    horizon=1000,
    fps=100,
    levels={"easy": {"height_threshold": 0.0, "theta_dot_threshold": 10.0}, "hard": {"force_mag": 5.0, "length": 0.7}},
    scores={"bound": Score(1000, 0, "1 per step up to the time limit")},
)


@SPEC.reset
def reset(p, s, rng):
    s.x = uniform(rng, -p.start, p.start)
    s.x_dot = uniform(rng, -p.start, p.start)
    s.theta = math.pi + uniform(rng, -p.start, p.start)
    s.theta_dot = uniform(rng, -p.start, p.start)


@SPEC.step
def step(p, s, a, rng, r):
    s.push = a[0]
    x_acc, theta_acc = accelerations(p, s.theta, s.theta_dot, a[0] * p.force_mag)
    s.x += p.tau * s.x_dot
    theta = s.theta + p.tau * s.theta_dot
    s.theta = theta - TWO_PI * math.floor(theta / TWO_PI)
    s.x_dot += p.tau * x_acc
    s.theta_dot += p.tau * theta_acc
    slow = abs(s.theta_dot) < p.theta_dot_threshold and abs(s.x) < p.x_reward_threshold
    up = cos(s.theta) > p.height_threshold and slow
    r.upright = 1.0 if up else 0.0
    r.effort = -abs(a[0])
    r.success = up
    r.terminated = abs(s.x) > p.x_threshold


@SPEC.observe
def observe(p, s, o):
    o.x = s.x
    o.x_dot = s.x_dot
    o.sin, o.cos = sin_cos(s.theta)
    o.theta_dot = s.theta_dot


@SPEC.expert
def expert(p, s, a):
    """Brings the pole's energy to that of the upright one, then balances."""
    sine, cosine = sin_cos(s.theta)
    angle = s.theta if s.theta < math.pi else s.theta - TWO_PI
    force = balancing_force(p, s.x, s.x_dot, angle, s.theta_dot)
    if cosine < NEAR or abs(force) > 2.0 * p.force_mag:
        energy = 2.0 / 3.0 * p.length * (s.theta_dot * s.theta_dot) / p.gravity + cosine - 1.0
        most = FULL * p.force_mag / (p.masscart + p.masspole)
        side = 1.0 if s.theta_dot * cosine >= 0.0 else -1.0
        wanted = most * min(max(GAIN * energy, -1.0), 1.0) * side - SPRING * s.x - DAMPER * s.x_dot
        turn = (p.gravity * sine - wanted * cosine) * 0.75 / p.length
        moment = p.masspole * p.length
        force = (p.masscart + p.masspole) * wanted + moment * (turn * cosine - s.theta_dot * s.theta_dot * sine)
    a[0] = min(max(force / p.force_mag, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("blue", "cart"), ("black", "pole"), ("orange", "push", "line"), ("red", "end of the track"))
    angle = math.remainder(float(s.theta), TWO_PI)
    canvas.caption(f"pole {math.degrees(angle):+.0f} degrees from upright, cart {float(s.x):+.2f} m")
    draw_cart(canvas, float(s.x), [(angle, 2.0 * float(p.length), "black")], float(p.x_threshold), float(s.push))


@SPEC.keys
def keys(pressed, values):
    return [float(bool(pressed.intersection(("right", "d")))) - float(bool(pressed.intersection(("left", "a"))))]
