"""Pusher: push a cylinder to a goal with an arm of seven joints.

## Description

Pusher-v5 of Gymnasium (Farama Foundation, MIT license): its model, observations, rewards and starts. The arm ends in a
fork, which lies on a table, and the cylinder slides there. Spaces are those of Pusher-v5, float64 without bounds; with
`scaled=True` observations are float32 and bounded. Different: numbers beyond 1000 are observed as 1000. As in the
original, places of bodies in rewards and observations are those at the beginning of the last physics step.

## Action Space

The torques at shoulder (pan, lift), upper arm (roll), elbow, forearm (roll) and wrist (flex, roll), in [-2, 2], as
multiples of 1 N m.

## Observation Space

As in the original: the angles of the seven joints and their rates, then the places of wrist, cylinder and goal [m]: 23
numbers, not scaled.

## Rewards

`distance` is minus the distance [m] between cylinder and goal, `near` minus the distance [m] between cylinder and
wrist, with the weight 0.5, and `control` minus the sum of squares of the action, with the weight 0.1. The weighted sum
is the reward of Pusher-v5.

## Costs

None.

## Starting State

The arm is straight, its rates uniform within `noise`. The cylinder is uniform in a rectangle of 0.4 m x 0.3 m beside
the goal, which is always at the same place, and at least 0.17 m from it; it rests, unless `slide` lets it move.

## Episode End

After 100 steps (5 s), never earlier. Success is not defined.

## Parameters

`strength` multiplies all torques, `damping` the damping of all joints of the arm, `density` is that of the cylinder,
`drag` the damping of its motion on the table. The original has no gravity.

## Reference Scores

Mean return over fixed seeds. There is no scripted expert.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, f8, kernel, param, published, same_as, term, uniform, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.fixed import BLUE, GREEN, ORANGE, PAPER, STEEL, machine
from rlenvs.robotics.locomotion.originals import machines
from rlenvs.robotics.locomotion.robots import BOUND, PARAMS, bounded, effort, turn_motors

JOINTS = 7
OBJECT_Y, OBJECT_X = 7, 8  # in qpos
WRIST, OBJECT, GOAL = 10, 11, 12  # the bodies
FPS = 20  # five physics steps of 10 ms per control step
STRONGEST = 2.0  # N m, of an action
FARTHEST = 1000.0  # m, bound of distances in rewards
CLEAR = 0.17  # m, between cylinder and goal at first

SPEC = world(
    "Pusher-v0",
    doc=__doc__,
    source="Gymnasium Pusher-v5",
    params={
        "strength": PARAMS["strength"],
        "noise": param(0.005, 0.0, 0.5, "rad/s", "noise of the start: rates are uniform within it"),
        "damping": param(1.0, 0.2, 5.0, "", "of the joints of the arm, as a multiple of the original's"),
        "slide": param(0.0, 0.0, 2.0, "m/s", "speed of the cylinder at the start: x and y are uniform within it"),
        "density": param(0.01, 0.001, 100.0, "kg/m^3", "of the cylinder"),
        "drag": param(0.5, 0.05, 5.0, "N s/m", "damping of the cylinder's motion"),
    },
    state={"xpos": f8("nbody", 3), **STATE},
    observation={
        "angles": block(JOINTS, low=-BOUND, high=BOUND, unit="rad", doc="of the joints", raw=True),
        "rates": block(JOINTS, low=-BOUND, high=BOUND, unit="rad/s", doc="of the joints", raw=True),
        "places": block(
            3, 3, low=-BOUND, high=BOUND, unit="m", doc="of wrist, cylinder and goal", raw=True, constant=True
        ),
    },
    action=continuous(
        *("shoulder pan", "shoulder lift", "upper arm roll", "elbow flex", "forearm roll", "wrist flex", "wrist roll"),
        low=-STRONGEST,
        high=STRONGEST,
    ),
    terms={
        "distance": term(-FARTHEST, 0.0, 1.0, "minus the distance from cylinder to goal, m"),
        "near": term(-FARTHEST, 0.0, 0.5, "minus the distance from wrist to cylinder, m"),
        "control": term(-JOINTS * STRONGEST**2, 0.0, 0.1, "negative sum of squares of the action"),
    },
    published=published("Gymnasium Pusher-v5", "float64", low=-math.inf, high=math.inf),
    horizon=100,
    fps=FPS,
    engine=ENGINE,
    drop_in=machines(
        5,
        {
            "reward_near_weight": same_as("near"),
            "reward_dist_weight": same_as("distance"),
            "reward_control_weight": same_as("control"),
        },
    ),
    reward_threshold=0.0,
    probe={name: {"slide": 1.0} for name in ("density", "drag")},  # random actions hardly reach the cylinder
    levels={"easy": {"strength": 1.5}, "medium": {}, "hard": {"slide": 0.5}},
)


@SPEC.model
def model(values):
    spec = machine("pusher_v5.xml", values, eye=(0.42, -0.95, 1.5), down=1.2)
    for joint in spec.joints:
        if joint.name.startswith("r_"):
            joint.damping = joint.damping * values.damping
    for name in ("obj_slidey", "obj_slidex"):
        joint = spec.joint(name)
        joint.damping = (values.drag, *joint.damping[1:])
    cylinder = spec.body("object").first_geom()
    cylinder.density, cylinder.rgba = values.density, ORANGE
    spec.body("goal").first_geom().rgba = GREEN
    spec.geom("table").rgba = PAPER
    for shape in spec.geoms:
        if shape.name not in ("table", "") or shape.parent.name == "r_wrist_roll_link":
            shape.rgba = STEEL if shape.name in ("sp", "sl") else BLUE
    return spec


@SPEC.reset
def reset(p, s, rng):
    x, y = 0.0, 0.0
    while math.sqrt(x * x + y * y) <= CLEAR:
        y, x = uniform(rng, -0.3, 0.0), uniform(rng, -0.2, 0.2)
    s.qpos[OBJECT_Y], s.qpos[OBJECT_X] = y, x
    for j in range(JOINTS):
        s.qvel[j] = uniform(rng, -p.noise, p.noise)
    if p.slide > 0.0:
        s.qvel[OBJECT_Y], s.qvel[OBJECT_X] = uniform(rng, -p.slide, p.slide), uniform(rng, -p.slide, p.slide)


@SPEC.act
def act(p, s, a, rng):
    turn_motors(s, a)


@kernel
def apart(s, one, two):
    """The distance of two bodies [m]."""
    x, y = s.xpos[one, 0] - s.xpos[two, 0], s.xpos[one, 1] - s.xpos[two, 1]
    z = s.xpos[one, 2] - s.xpos[two, 2]
    return math.sqrt(x * x + y * y + z * z)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    r.distance = -min(apart(s, OBJECT, GOAL), FARTHEST)
    r.near = -min(apart(s, OBJECT, WRIST), FARTHEST)
    r.control = -effort(a)


@SPEC.observe
def observe(p, s, o):
    for j in range(JOINTS):
        o.angles[j], o.rates[j] = bounded(s.qpos[j]), bounded(s.qvel[j])
    for i in range(3):
        for j in range(3):
            o.places[i, j] = bounded(s.xpos[WRIST + i, j])


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("green", "goal", "disc"), ("orange", "cylinder", "disc"))
    canvas.caption(f"distance to the goal {100.0 * apart(s, OBJECT, GOAL):.1f} cm")
