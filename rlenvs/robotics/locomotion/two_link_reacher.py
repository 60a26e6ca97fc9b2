"""TwoLinkReacher: hold the tip of a two-link arm near four separate targets.

## Description

mo-reacher-v5 of MO-Gymnasium (Felten et al., NeurIPS 2023; MIT license) on the arm of Gymnasium's Reacher-v5 (Farama
Foundation, MIT license): its rules, observations and starts. The tip cannot be near all targets, so the weights decide
how much each counts. Different: rewards are computed from the position of the tip after a step; the original uses the
position before it, so the last step of an episode has no effect, and the reward of the first is always the same
(`compat=True` restores this, with positions of the tip as last seen by the integrator). The original's documentation
squares the distance; its code, and ours, do not. Numbers beyond 1000 are observed as 1000.

## Action Space

The torques at shoulder and elbow, each backward, none or forward: 200 N m times `strength`.

## Observation Space

As in the original: the cosines of shoulder and elbow, their sines, and a tenth of their rates: 6 numbers, not scaled.

## Rewards

`east`, `west`, `north` and `south`: 1 minus 4 times the distance [m] between the tip of the arm and the target on that
side, each 0.14 m from the shoulder. The original gives no weights; here each is 1/4, and the best position is between
all targets. Other weights make other tasks: `weights={"east": 1, "west": 0, "north": 0, "south": 0}` is reaching.

## Costs

None.

## Starting State

The arm points east, its elbow bent at a right angle, as in the original (3.1415 / 2 rad); both rates are uniform within
`noise`.

## Episode End

After 50 steps (1 s), never earlier. Success is not defined.

## Parameters

`strength` multiplies both torques, `damping` and `armature` are those of the joints. The masses of the links are
negligible compared with the armature. The arm is horizontal, so gravity has no effect.

## Reference Scores

Mean return over fixed seeds. With equal weights no observation is needed: constant forward torques fold the elbow to
its stop, and score more than the expert. The expert folds the arm so that the tip is at the shoulder: it pushes the
elbow until braking stops it there, and does not move the shoulder. The bound: two opposite targets are 0.28 m apart, so
the sum of distances is smallest at the shoulder, where every step has a reward of 0.44.

## Version History

v0: first version.
"""

import math

from rlenvs.core import Score, block, discrete, drop_in, f8, flag, kernel, maths, param, published, term, uniform, world
from rlenvs.core.declare.canvas import COLORS as RGB
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.kits.engines.mujoco_views import VIEWS
from rlenvs.robotics.locomotion.robots import BOUND, PARAMS, asset, bounded, watch

JOINTS = 2
UPPER, LOWER = 0.1, 0.11  # m, from shoulder to elbow, from elbow to tip
REACH = 0.14  # m, from the shoulder to a target
FPS = 50  # two physics steps of 10 ms per control step
START = (0.0, 3.1415 / 2.0)
NEAR, FAR = 1.0, 1.0 - 4.0 * (UPPER + LOWER + REACH)
DIRECTIONS = {"east": (1.0, 0.0), "west": (-1.0, 0.0), "north": (0.0, 1.0), "south": (0.0, -1.0)}
COLORS = {"east": "pink", "west": "blue", "north": "green", "south": "orange"}
FOLDED = 2.98  # rad, of the elbow; it bends up to 3
TIP = 3  # the body
PUSHES = ("backward", "no", "forward")

SPEC = world(
    "TwoLinkReacher-v0",
    doc=__doc__,
    source="MO-Gymnasium mo-reacher-v5 (Felten et al., NeurIPS 2023); Gymnasium Reacher-v5",
    params={
        "strength": PARAMS["strength"],
        "noise": param(0.005, 0.0, 0.5, "rad/s", "noise of the start: rates are uniform within it"),
        "damping": param(1.0, 0.0, 5.0, "N m s/rad", "of the joints"),
        "armature": param(1.0, 0.2, 5.0, "kg m^2", "inertia of the motors"),
    },
    options={
        "compat": flag(False, doc="whether rewards use the position of the tip before the step, as in the original")
    },
    state={"xpos": f8("nbody", 3), "paid": f8(4), **STATE},
    observation={
        "angles": block(2 * JOINTS, low=-1.0, high=1.0, doc="cosines, then sines, of shoulder and elbow", raw=True),
        "rates": block(JOINTS, low=-BOUND, high=BOUND, unit="10 rad/s", doc="of shoulder and elbow", raw=True),
    },
    action=discrete(*(f"{one} at shoulder, {two} at elbow" for one in PUSHES for two in PUSHES), idle=4),
    terms={side: term(FAR, NEAR, 0.25, f"1 - 4 times the distance to the {side}ern target") for side in DIRECTIONS},
    published=published(
        "MO-Gymnasium mo-reacher-v5",
        "float64",
        low=-math.inf,
        high=math.inf,
        reward=lambda values: ([-1.0] * 4, [1.0] * 4),
    ),
    horizon=50,
    fps=FPS,
    scores={"bound": Score(22, 0, "0.44 per step, with the tip at the shoulder")},
    engine=ENGINE,
    drop_in=drop_in(views=VIEWS),
    levels={"easy": {"strength": 0.5}, "medium": {}, "hard": {"noise": 0.5, "damping": 0.2}},
)


@SPEC.model
def model(values):
    spec = asset("reacher.xml")
    spec.delete(spec.body("target"))
    for joint in spec.joints:
        joint.damping, joint.armature = (values.damping, *joint.damping[1:]), values.armature
    for motor in spec.actuators:
        motor.gear = motor.gear * values.strength
    dress(spec)
    return spec


def dress(spec):
    """Targets, colors and a camera: nothing of it is part of the physics."""
    import mujoco

    for geom in spec.geoms:
        if geom.name.startswith("side"):
            geom.rgba = (0.55, 0.60, 0.65, 1.0)
    spec.geom("ground").rgba = (0.93, 0.94, 0.92, 1.0)
    for name, color in (("root", (0.25, 0.28, 0.32)), ("link0", (0.36, 0.42, 0.50)), ("link1", (0.50, 0.57, 0.66))):
        spec.geom(name).rgba = (*color, 1.0)
    spec.geom("fingertip").rgba = (0.1, 0.1, 0.1, 1.0)
    for side, (x, y) in DIRECTIONS.items():
        target = spec.worldbody.add_site(name=side, type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=(0.018, 0.002, 0.0))
        target.pos, target.rgba = (REACH * x, REACH * y, 0.003), (*(c / 255.0 for c in RGB[COLORS[side]]), 1.0)
    sun = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    spec.worldbody.add_light(type=sun, pos=(0.3, -0.3, 1.5), dir=(-0.3, 0.3, -1.0), diffuse=(0.5, 0.5, 0.5))
    watch(spec.worldbody, eye=(0.0, -0.42, 0.85), down=1.11, follow=False)


@kernel
def tip(s):
    """Where the tip of the arm is [m]."""
    one, two = s.qpos[0], s.qpos[0] + s.qpos[1]
    return UPPER * maths.cos(one) + LOWER * maths.cos(two), UPPER * maths.sin(one) + LOWER * maths.sin(two)


@kernel
def nearness(x, y, target_x, target_y):
    """1 less 4 times a distance, within the bounds of rewards where rounding leads beyond."""
    return min(max(1.0 - 4.0 * math.sqrt((x - target_x) ** 2 + (y - target_y) ** 2), FAR), NEAR)


@kernel
def pay(s, x, y):
    """Keeps what a place of the tip is worth."""
    s.paid[0], s.paid[1] = nearness(x, y, REACH, 0.0), nearness(x, y, -REACH, 0.0)
    s.paid[2], s.paid[3] = nearness(x, y, 0.0, REACH), nearness(x, y, 0.0, -REACH)


@SPEC.reset
def reset(p, s, rng):
    for j in range(JOINTS):
        s.qpos[j] = START[j]
        s.qvel[j] = uniform(rng, -p.noise, p.noise)


@SPEC.act
def act(p, s, a, rng):
    if p.compat:  # where the integrator looked last
        pay(s, s.xpos[TIP, 0], s.xpos[TIP, 1])
    s.ctrl[0], s.ctrl[1] = a // 3 - 1.0, a % 3 - 1.0


@SPEC.outcome
def outcome(p, s, a, rng, r):
    if not p.compat:
        x, y = tip(s)
        pay(s, x, y)
    r.east, r.west, r.north, r.south = s.paid[0], s.paid[1], s.paid[2], s.paid[3]


@SPEC.observe
def observe(p, s, o):
    for j in range(JOINTS):
        o.angles[j], o.angles[JOINTS + j] = maths.cos(s.qpos[j]), maths.sin(s.qpos[j])
        o.rates[j] = bounded(0.1 * s.qvel[j])


@kernel
def push(off, rate, strongest):
    """0, 1 or 2: towards the goal, or against the rate where it takes all braking to stop there."""
    stop = off + 0.02 * rate + rate * abs(rate) / (2.0 * strongest)
    return int(stop < -0.04) * 2 + int(abs(stop) <= 0.04)


@SPEC.expert
def expert(p, s, a):
    strongest = 200.0 * p.strength / p.armature
    a[0] = 3 + push(s.qpos[1] - FOLDED, s.qvel[1], strongest)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(*((color, side, "disc") for side, color in COLORS.items()))
    x, y = tip(s)
    canvas.caption(
        "distances "
        + ", ".join(f"{math.dist((x, y), (REACH * u, REACH * v)):.2f}" for u, v in DIRECTIONS.values())
        + " m"
    )
