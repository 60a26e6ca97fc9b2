"""DoublePole: balance two poles of different lengths on one cart.

## Description
Two poles stand side by side on a cart, each on its own hinge. They can be balanced together because the short one falls
faster than the long one. A standard benchmark of neuroevolution: equations of Wieland (IJCNN 1991), with friction, and
constants, Runge-Kutta steps, limits and force of Gomez and Miikkulainen (IJCAI 1999) and of Stanley and Miikkulainen
(Evolutionary Computation 2002). Different: the long pole starts at a random angle up to theirs, episodes are shorter
than their 100 000 steps, and the friction of the cart acts, which their program declares but does not apply. The level
"published" has their start, length and friction. `DoublePoleNoVelocity-v0` hides all velocities, as in the harder of
their two tasks.

## Action Space
The force on the cart, as a fraction of `force_mag`, positive to the right.

## Observation Space
Position and velocity of the cart, angle and angular velocity of the long pole, then of the short one; angles are zero
upright. With `velocity="hidden"` only position and angles.

## Rewards
`balance` is 1 for every step, the last one included.

## Costs
None.

## Starting State
Everything is at rest and upright except the long pole: its angle is uniform between `initial_angle_lower` and
`initial_angle_upper`.

## Episode End
Termination: a pole is more than 36 degrees from upright, or the cart more than 2.4 m from the middle. Truncation: 1000
steps (20 s). `is_success` means that the episode lasted until the time limit.

## Parameters
The more similar the poles, the harder the task (level "alike").

## Reference Scores
Mean return over seeds 0 to 99. The bound is 1 per step up to the time limit.

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    Score,
    at_most,
    block,
    choice,
    continuous,
    data_option,
    f8,
    kernel,
    param,
    term,
    uniform,
    world,
)
from rlenvs.core.declare.maths import sin_cos
from rlenvs.single.classic.cart import draw_cart
from rlenvs.single.classic.regulator import gains

START = 0.07  # rad, of the long pole
STATE_COSTS, ACTION_COST = (1.0, 0.1, 10.0, 0.1, 10.0, 0.1), 0.01  # of the expert


def speeds(values):
    return {"speeds": 0 if values.velocity == "hidden" else 1}


def angle(doc):
    return block(low=lambda v: -2.0 * v.theta_threshold, high=lambda v: 2.0 * v.theta_threshold, unit="rad", doc=doc)


def rate(doc):
    return block("speeds", low=-10.0, high=10.0, unit="rad/s", doc=doc)


BOUND = {"bound": Score(1000, 0, "1 per step up to the time limit")}
SPEC = world(
    "DoublePole-v0",
    doc=__doc__,
    source="Wieland, IJCNN 1991; Gomez and Miikkulainen, IJCAI 1999; Stanley and Miikkulainen, Evol. Comp. 2002",
    params={
        "gravity": param(9.8, 0.1, 30.0, "m/s^2", "gravity"),
        "masscart": param(1.0, 0.1, 10.0, "kg", "mass of the cart"),
        "masspole_1": param(0.1, 0.01, 1.0, "kg", "mass of the long pole"),
        "masspole_2": param(0.01, 0.001, 1.0, "kg", "mass of the short pole"),
        "length_1": param(0.5, 0.06, 5.0, "m", "half of the long pole's length"),
        "length_2": param(0.05, 0.02, 1.0, "m", "half of the short pole's length"),
        "cart_friction": param(0.0005, 0.0, 1.0, "N", "friction between cart and track"),
        "hinge_friction": param(0.000002, 0.0, 0.01, "N m s", "friction of each hinge"),
        "force_mag": param(10.0, 1.0, 100.0, "N", "force of a full push"),
        "time_step": param(0.02, 0.004, 0.04, "s", "time per step, two steps of Runge and Kutta"),
        "x_threshold": param(2.4, 0.5, 10.0, "m", "distance from the middle at which episodes end", limit=True),
        "theta_threshold": param(math.radians(36), 0.1, 1.5, "rad", "angle at which episodes end", limit=True),
        "initial_angle_lower": param(-START, -0.2, 0.2, "rad", "least angle of the long pole at the start"),
        "initial_angle_upper": param(START, -0.2, 0.2, "rad", "its largest angle at the start"),
    },
    constraints=[
        at_most(
            "initial_angle_lower",
            "initial_angle_upper",
            doc="initial_angle_lower is at most initial_angle_upper",
        ),
        at_most(
            "length_2",
            "length_1",
            0.9,
            doc="length_2 is at most 0.9 of length_1, since poles that fall at the same rate cannot be balanced "
            "together",
        ),
    ],
    options={"velocity": data_option(choice("seen", "hidden", doc="whether velocities are observed"))},
    sizes=speeds,
    data={"gains": f8(6)},  # of the expert
    state={"x": f8, "x_dot": f8, "theta": f8(2), "theta_dot": f8(2), "push": f8},
    observation={
        "x": block(
            low=lambda v: -2.0 * v.x_threshold, high=lambda v: 2.0 * v.x_threshold, unit="m", doc="position of the cart"
        ),
        "x_dot": block("speeds", low=-5.0, high=5.0, unit="m/s", doc="velocity of the cart"),
        "long": angle("angle of the long pole, positive to the right"),
        "long_dot": rate("its angular velocity"),
        "short": angle("angle of the short pole"),
        "short_dot": rate("its angular velocity"),
    },
    action=continuous("force"),
    terms={"balance": term(0.0, 1.0, 1.0, "1 for every step")},
    lanes=True,
    horizon=1000,
    fps=50,
    levels={
        "published": {
            "initial_angle_lower": START,
            "initial_angle_upper": START,
            "cart_friction": 0.0,
            "horizon": 100_000,
        },
        "alike": {"length_2": 0.2, "masspole_2": 0.04},
    },
    scores=BOUND,
)

NO_VELOCITY = SPEC.member(
    "DoublePoleNoVelocity-v0",
    "DoublePole without velocities: balance two poles when only positions and angles are observed.",
    velocity="hidden",
    expert_sees="state",
    scores=BOUND,
)


@SPEC.make_data
def data(values):
    """Gains for x, x_dot, long, long_dot, short, short_dot near the top."""
    v, total = values, values.masscart + 0.25 * (values.masspole_1 + values.masspole_2)
    poles = ((2, v.masspole_1, v.length_1), (4, v.masspole_2, v.length_2))
    a, b = [[0.0] * 6 for _ in range(6)], [[0.0] for _ in range(6)]
    a[0][1], b[1][0] = 1.0, 1.0 / total
    for place, mass, _ in poles:
        a[1][place] = -0.75 * mass * v.gravity / total
    for place, _, length in poles:
        a[place][place + 1] = 1.0
        a[place + 1] = [-0.75 / length * number for number in a[1]]
        a[place + 1][place] += 0.75 / length * v.gravity
        b[place + 1][0] = -0.75 / length / total
    return {"gains": gains(a, b, STATE_COSTS, ACTION_COST, v.time_step)}


@SPEC.reset
def reset(p, s, rng):
    s.theta[0] = uniform(rng, p.initial_angle_lower, p.initial_angle_upper)


@kernel
def pole_on_cart(p, mass, length, theta, theta_dot):
    """What a pole adds to the force on the cart and to its mass, and the part of its own acceleration [rad/s^2] that
    does not come from the cart's; the cosine of its angle."""
    sine, cosine = sin_cos(theta)
    pull = p.hinge_friction * theta_dot / (mass * length) - p.gravity * sine
    force = mass * length * (theta_dot * theta_dot) * sine + 0.75 * mass * cosine * pull
    return force, mass * (1.0 - 0.75 * (cosine * cosine)), pull, cosine


@kernel
def accelerations(p, x_dot, theta1, theta_dot1, theta2, theta_dot2, force):
    """Of the cart [m/s^2], the long and the short pole [rad/s^2]."""
    force1, mass1, pull1, cosine1 = pole_on_cart(p, p.masspole_1, p.length_1, theta1, theta_dot1)
    force2, mass2, pull2, cosine2 = pole_on_cart(p, p.masspole_2, p.length_2, theta2, theta_dot2)
    sign = (1.0 if x_dot > 0.0 else 0.0) - (1.0 if x_dot < 0.0 else 0.0)
    x_acc = (force - p.cart_friction * sign + force1 + force2) / (p.masscart + mass1 + mass2)
    turn1 = -0.75 / p.length_1 * (x_acc * cosine1 + pull1)
    return x_acc, turn1, -0.75 / p.length_2 * (x_acc * cosine2 + pull2)


@kernel
def move(p, x, v, q1, w1, q2, w2, force, dt):
    """The state after a step of Runge and Kutta's fourth order."""
    h = 0.5 * dt
    a, a1, a2 = accelerations(p, v, q1, w1, q2, w2, force)
    vb, wb1, wb2 = v + h * a, w1 + h * a1, w2 + h * a2
    b, b1, b2 = accelerations(p, vb, q1 + h * w1, wb1, q2 + h * w2, wb2, force)
    vc, wc1, wc2 = v + h * b, w1 + h * b1, w2 + h * b2
    c, c1, c2 = accelerations(p, vc, q1 + h * wb1, wc1, q2 + h * wb2, wc2, force)
    vd, wd1, wd2 = v + dt * c, w1 + dt * c1, w2 + dt * c2
    d, d1, d2 = accelerations(p, vd, q1 + dt * wc1, wd1, q2 + dt * wc2, wd2, force)
    sixth = dt / 6.0
    x += sixth * (v + 2.0 * vb + 2.0 * vc + vd)
    q1 += sixth * (w1 + 2.0 * wb1 + 2.0 * wc1 + wd1)
    q2 += sixth * (w2 + 2.0 * wb2 + 2.0 * wc2 + wd2)
    v += sixth * (a + 2.0 * b + 2.0 * c + d)
    w1 += sixth * (a1 + 2.0 * b1 + 2.0 * c1 + d1)
    w2 += sixth * (a2 + 2.0 * b2 + 2.0 * c2 + d2)
    return x, v, q1, w1, q2, w2


@SPEC.step
def step(p, s, a, rng, r):
    s.push = a[0]
    force, dt = p.force_mag * a[0], 0.5 * p.time_step
    x, v, q1, w1, q2, w2 = s.x, s.x_dot, s.theta[0], s.theta_dot[0], s.theta[1], s.theta_dot[1]
    for _ in range(2):
        x, v, q1, w1, q2, w2 = move(p, x, v, q1, w1, q2, w2, force, dt)
    s.x, s.x_dot = x, v
    s.theta[0], s.theta[1] = q1, q2
    s.theta_dot[0], s.theta_dot[1] = w1, w2
    fallen = abs(x) > p.x_threshold or abs(q1) > p.theta_threshold or abs(q2) > p.theta_threshold
    r.balance = 1.0
    r.terminated = fallen
    r.success = s.elapsed + 1 >= p.horizon and not fallen


@SPEC.observe
def observe(p, s, o):
    o.x = s.x
    o.long = s.theta[0]
    o.short = s.theta[1]
    for j in range(o.x_dot.shape[0]):
        o.x_dot[j] = s.x_dot
        o.long_dot[j] = s.theta_dot[0]
        o.short_dot[j] = s.theta_dot[1]


@SPEC.expert
def expert(p, s, a):
    """The linear regulator for the parameters that `make` was given."""
    force = p.gains[0] * s.x + p.gains[1] * s.x_dot
    for j in range(2):
        force += p.gains[2 + 2 * j] * s.theta[j] + p.gains[3 + 2 * j] * s.theta_dot[j]
    a[0] = min(max(-force / p.force_mag, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(
        ("black", "long pole"),
        ("pink", "short pole, drawn longer"),
        ("orange", "push", "line"),
        ("red", "end of the track"),
    )
    long, short = float(s.theta[0]), float(s.theta[1])
    canvas.caption(f"long {math.degrees(long):+.1f}, short {math.degrees(short):+.1f} degrees")
    poles = [(long, 2.0 * float(p.length_1), "black"), (short, 2.0 * float(p.length_2), "pink")]
    draw_cart(canvas, float(s.x), poles, float(p.x_threshold), float(s.push))


@SPEC.keys
def keys(pressed, values):
    return [float(bool(pressed.intersection(("right", "d")))) - float(bool(pressed.intersection(("left", "a"))))]
