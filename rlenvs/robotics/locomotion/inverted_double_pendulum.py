"""InvertedDoublePendulum: balance two poles, one on top of the other, on a cart.

## Description

InvertedDoublePendulum-v5 of Gymnasium (Farama Foundation, MIT license): its model, observations, rewards, starts and
terminations. Spaces are those of InvertedDoublePendulum-v5, float64 without bounds; with `scaled=True` observations are
float32 and bounded. Different: numbers beyond 1000 are observed as 1000. Place of the tip and force of the rail are
those that MuJoCo's integrator saw last, as in the original.

## Action Space

The force on the cart, in [-1, 1], as a multiple of 500 N.

## Observation Space

As in the original: position of the cart, sines and cosines of both joints, the rates of cart and joints, and the force
of the end of the rail on the cart [N], the last four clipped to [-10, 10]: 9 numbers, not scaled.

## Rewards

`healthy` is 1 in every step after which the tip is higher than `lowest`, with the weight 10. `place` is minus
0.01 x^2 + (z - 2)^2, the place of the tip [m], and `speed` is minus 0.001 and 0.005 times the squares of the rates of
the joints [rad/s]. Their sum is the reward of InvertedDoublePendulum-v5.

## Costs

None.

## Starting State

All positions are uniform within `noise` of 0, all velocities normal with the standard deviation `noise`.

## Episode End

When the tip is not higher than `lowest`, or after 1000 steps (50 s). Success is not defined.

## Parameters

`strength` multiplies the force, `damping` that of the joints. Cart and poles have explicit masses where these are not
0; their inertia is proportional to them.

## Reference Scores

Mean return over fixed seeds. The expert is linear-quadratic control of the model near upright poles.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, f8, maths, normal, param, published, same_as, term, uniform, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.fixed import on_rail
from rlenvs.robotics.locomotion.originals import NOISE, machines
from rlenvs.robotics.locomotion.robots import BOUND, DAMPING, PARAMS, bounded, damp

FPS = 20  # five physics steps of 10 ms per control step
JOINTS = 3  # the cart's among them
CLIPPED = 10.0  # m/s, rad/s, N, as observed
WORST = 1e6  # bound of what is subtracted
GAINS = (
    0.23,
    1.55,
    4.93,
    0.31,
    0.80,
    0.76,
)  # of cart, joints and their rates; costs 1 each, 0.1 of rates, and 1 of the action

SPEC = world(
    "InvertedDoublePendulum-v0",
    doc=__doc__,
    source="Gymnasium InvertedDoublePendulum-v5",
    params={
        **PARAMS,
        "cart_mass": param(0.0, 0.0, 31.0, "kg", "of the cart; 0: that of the model, 10.5 kg"),
        "pole_mass": param(0.0, 0.0, 31.0, "kg", "of each pole; 0: that of the model, 4.2 kg"),
        "damping": DAMPING,
        "lowest": param(1.0, 0.2, 1.15, "m", "height above which the tip is healthy", limit=True),
    },
    state={"site_xpos": f8(1, 3), "qfrc_constraint": f8("nv"), **STATE},
    observation={
        "cart": block(low=-BOUND, high=BOUND, unit="m", doc="place of the cart", raw=True),
        "sines": block(2, low=-1.0, high=1.0, doc="of the joints", raw=True),
        "cosines": block(2, low=-1.0, high=1.0, doc="of the joints", raw=True),
        "velocities": block(3, low=-CLIPPED, high=CLIPPED, unit="m/s, rad/s", doc="of cart and joints", raw=True),
        "force": block(low=-CLIPPED, high=CLIPPED, unit="N", doc="of the rail's end", raw=True, constant=True),
    },
    action=continuous("force"),
    terms={
        "healthy": term(0.0, 1.0, 10.0, "1 while the tip is high"),
        "place": term(-WORST, 0.0, 1.0, "minus squares of the tip's distance from where it shall be"),
        "speed": term(-WORST, 0.0, 1.0, "minus squares of the joints' rates"),
    },
    published=published("Gymnasium InvertedDoublePendulum-v5", "float64", low=-math.inf, high=math.inf),
    horizon=1000,
    fps=FPS,
    engine=ENGINE,
    drop_in=machines(5, NOISE, {"healthy_reward": same_as("healthy")}),
    reward_threshold=9100.0,
    levels={"easy": {"noise": 0.03}, "medium": {}, "hard": {"noise": 0.15, "strength": 0.5}},
)


@SPEC.model
def model(values):
    spec = on_rail("inverted_double_pendulum.xml", values)
    for body, own in (("cart", values.cart_mass), ("pole", values.pole_mass), ("pole2", values.pole_mass)):
        if own > 0.0:
            spec.body(body).first_geom().mass = own
    damp(spec, values.damping)
    return spec


@SPEC.reset
def reset(p, s, rng):
    for j in range(JOINTS):
        s.qpos[j] = uniform(rng, -p.noise, p.noise)
        s.qvel[j] = p.noise * normal(rng)


@SPEC.act
def act(p, s, a, rng):
    s.ctrl[0] = a[0]


@SPEC.outcome
def outcome(p, s, a, rng, r):
    x, z = s.site_xpos[0, 0], s.site_xpos[0, 2]
    r.terminated = z <= p.lowest
    r.healthy = 0.0 if r.terminated else 1.0
    r.place = max(-(0.01 * (x * x) + (z - 2.0) * (z - 2.0)), -WORST)
    r.speed = max(-(1e-3 * (s.qvel[1] * s.qvel[1]) + 5e-3 * (s.qvel[2] * s.qvel[2])), -WORST)


@SPEC.observe
def observe(p, s, o):
    o.cart = bounded(s.qpos[0])
    for j in range(2):
        o.sines[j], o.cosines[j] = maths.sin(s.qpos[j + 1]), maths.cos(s.qpos[j + 1])
    for j in range(JOINTS):
        o.velocities[j] = min(max(s.qvel[j], -CLIPPED), CLIPPED)
    o.force = min(max(s.qfrc_constraint[0], -CLIPPED), CLIPPED)


@SPEC.expert
def expert(p, s, a):
    force = 0.0
    for j in range(JOINTS):
        force -= GAINS[j] * s.qpos[j] + GAINS[j + JOINTS] * s.qvel[j]
    a[0] = min(max(force, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    one, two = (math.degrees(angle) for angle in (s.qpos[1], s.qpos[1] + s.qpos[2]))
    canvas.caption(f"poles lean by {one:.1f} and {two:.1f} degrees", f"cart at {s.qpos[0]:.2f} m")
