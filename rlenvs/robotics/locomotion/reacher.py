"""Reacher: bring the tip of a two-link arm to a target, and hold it there.

## Description

Reacher-v5 of Gymnasium (Farama Foundation, MIT license): its model, observations, rewards and starts. Spaces are those
of Reacher-v5, float64 without bounds; with `scaled=True` observations are float32 and bounded. Different: numbers
beyond 1000 are observed as 1000. As in the original, the place of the tip in rewards and observations is the one that
MuJoCo's integrator saw last. TwoLinkReacher is MO-Gymnasium's task for the same arm: choices of pushes, four targets
that do not move.

## Action Space

The torques at shoulder and elbow, as multiples of 200 N m.

## Observation Space

As in the original: the cosines of shoulder and elbow, their sines, the place of the target [m], the rates of the joints
[rad/s], and the tip minus the target [m]: 10 numbers, not scaled.

## Rewards

`distance` is minus the distance [m] between tip and target, `control` minus the sum of squares of the action. Their sum
is the reward of Reacher-v5.

## Costs

None.

## Starting State

Both angles are uniform within 0.1 rad of 0, their rates uniform within `noise`, and the target is uniform in a disc of
radius 0.2 m around the shoulder.

## Episode End

After 50 steps (1 s), never earlier. Success is not defined.

## Parameters

`strength` multiplies both torques, `damping` and `armature` are those of the joints. The masses of the links are
negligible compared with the armature. The arm is horizontal, so gravity has no effect.

## Reference Scores

Mean return over fixed seeds. The expert computes the angles at which the tip is at the target, takes the nearer of the
two ways to bend the elbow, and moves the joints there as springs with dampers would.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, f8, kernel, maths, param, published, same_as, term, uniform, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.fixed import BLUE, GREEN, ORANGE, PAPER, STEEL, disc, machine
from rlenvs.robotics.locomotion.originals import machines
from rlenvs.robotics.locomotion.robots import BOUND, PARAMS, bounded, effort, turn_motors

JOINTS = 2
UPPER, LOWER = 0.1, 0.11  # m, from shoulder to elbow, from elbow to tip
TIP, TARGET = 3, 4  # the bodies
FPS = 50  # two physics steps of 10 ms per control step
FARTHEST = 100.0  # m, bound of distances in rewards
RADIUS = 0.2  # m, of the disc of targets
STIFFNESS, BRAKE = 0.25, 0.05  # of the expert, in actions per rad and per rad/s

SPEC = world(
    "Reacher-v0",
    doc=__doc__,
    source="Gymnasium Reacher-v5",
    params={
        "strength": PARAMS["strength"],
        "noise": param(0.005, 0.0, 0.5, "rad/s", "noise of the start: rates are uniform within it"),
        "damping": param(1.0, 0.0, 5.0, "N m s/rad", "of the joints"),
        "armature": param(1.0, 0.2, 5.0, "kg m^2", "inertia of the motors"),
    },
    state={"xpos": f8("nbody", 3), **STATE},
    observation={
        "angles": block(2 * JOINTS, low=-1.0, high=1.0, doc="cosines, then sines, of shoulder and elbow", raw=True),
        "target": block(2, low=-BOUND, high=BOUND, unit="m", doc="place of the target", raw=True),
        "rates": block(JOINTS, low=-BOUND, high=BOUND, unit="rad/s", doc="of shoulder and elbow", raw=True),
        "off": block(2, low=-BOUND, high=BOUND, unit="m", doc="the tip minus the target", raw=True),
    },
    action=continuous("shoulder", "elbow"),
    terms={
        "distance": term(-FARTHEST, 0.0, 1.0, "minus the distance from tip to target, m"),
        "control": term(-float(JOINTS), 0.0, 1.0, "negative sum of squares of the action"),
    },
    published=published("Gymnasium Reacher-v5", "float64", low=-math.inf, high=math.inf),
    horizon=50,
    fps=FPS,
    engine=ENGINE,
    drop_in=machines(2, {"reward_dist_weight": same_as("distance"), "reward_control_weight": same_as("control")}),
    reward_threshold=-3.75,
    levels={"easy": {"strength": 0.5}, "medium": {}, "hard": {"noise": 0.5, "damping": 0.2}},
)


@SPEC.model
def model(values):
    spec = machine("reacher.xml", values, eye=(0.0, -0.42, 0.85), down=1.11)
    for name in ("joint0", "joint1"):
        joint = spec.joint(name)
        joint.damping, joint.armature = (values.damping, *joint.damping[1:]), values.armature
    for shape in spec.geoms:
        if shape.name.startswith("side"):
            shape.rgba = STEEL
    spec.geom("ground").rgba = PAPER
    for name, color in (("root", STEEL), ("link0", BLUE), ("link1", BLUE)):
        spec.geom(name).rgba = color
    disc(spec.body("target"), 0.02, GREEN)
    disc(spec.body("fingertip"), 0.015, ORANGE)
    return spec


@SPEC.reset
def reset(p, s, rng):
    for j in range(JOINTS):
        s.qpos[j] = uniform(rng, -0.1, 0.1)
        s.qvel[j] = uniform(rng, -p.noise, p.noise)
    x, y = 1.0, 1.0
    while math.sqrt(x * x + y * y) >= RADIUS:
        x, y = uniform(rng, -RADIUS, RADIUS), uniform(rng, -RADIUS, RADIUS)
    s.qpos[JOINTS], s.qpos[JOINTS + 1] = x, y


@SPEC.act
def act(p, s, a, rng):
    turn_motors(s, a)


@kernel
def off(s, j):
    """Coordinate j of the tip minus the target [m]."""
    return s.xpos[TIP, j] - s.xpos[TARGET, j]


@SPEC.outcome
def outcome(p, s, a, rng, r):
    x, y, z = off(s, 0), off(s, 1), off(s, 2)
    r.distance = -min(math.sqrt(x * x + y * y + z * z), FARTHEST)
    r.control = -effort(a)


@SPEC.observe
def observe(p, s, o):
    for j in range(JOINTS):
        o.angles[j], o.angles[JOINTS + j] = maths.cos(s.qpos[j]), maths.sin(s.qpos[j])
        o.target[j], o.rates[j], o.off[j] = bounded(s.qpos[JOINTS + j]), bounded(s.qvel[j]), bounded(off(s, j))


@kernel
def bend(s, side):
    """How far shoulder and elbow have to turn until the tip is at the target, the elbow bent to one side [rad]."""
    x, y = s.qpos[JOINTS], s.qpos[JOINTS + 1]
    cosine = (x * x + y * y - UPPER * UPPER - LOWER * LOWER) / (2.0 * UPPER * LOWER)
    cosine = min(max(cosine, -1.0), 1.0)
    sine = side * math.sqrt(1.0 - cosine * cosine)
    elbow = maths.atan2(sine, cosine)
    shoulder = maths.atan2(y, x) - maths.atan2(LOWER * sine, UPPER + LOWER * cosine)
    return maths.wrapped(shoulder - s.qpos[0]), elbow - s.qpos[1]


@SPEC.expert
def expert(p, s, a):
    one, two = bend(s, 1.0)
    other_one, other_two = bend(s, -1.0)
    if other_one * other_one + other_two * other_two < one * one + two * two:
        one, two = other_one, other_two
    a[0] = min(max(STIFFNESS * one - BRAKE * s.qvel[0], -1.0), 1.0)
    a[1] = min(max(STIFFNESS * two - BRAKE * s.qvel[1], -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("green", "target", "disc"), ("orange", "tip", "disc"))
    canvas.caption(f"distance {100.0 * math.hypot(off(s, 0), off(s, 1)):.1f} cm")
