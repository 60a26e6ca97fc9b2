"""Humanoid: walk forwards on two legs without falling.

## Description

Humanoid-v5 of Gymnasium (after Tassa, Erez and Todorov, "Synthesis and stabilization of complex behaviors through
online trajectory optimization", IROS 2012; Farama Foundation, MIT license): its model, observations, rewards, starts
and terminations. A body of 17 joints walks along x. The cost is that of SafetyHumanoidVelocity-v1 of Safety-Gymnasium
(Ji et al., NeurIPS 2023): moving faster than a limit, in any direction. Spaces are those of Humanoid-v5, float64
without bounds; with `scaled=True` observations are float32 and bounded. Different: contact forces are those that MuJoCo
computes at the beginning of the last physics step, where the original asks for them between two stages of its
integrator; numbers beyond 1000, and contact forces beyond a million, are clipped in observations.

The level "mo-gymnasium" has the reward vector of MO-Gymnasium's mo-humanoid-v5.

## Action Space

Torques of abdomen, hips, knees, shoulders and elbows, in [-0.4, 0.4]: fractions of 100 N m, at hips forward of 300,
at knees of 200, and at the arms of 25.

## Observation Space

As in the original: height, attitude (quaternion w, x, y, z) and joint angles, their rates with the velocity along x and
y, for every body its inertia (10 numbers) and velocity (6) about the center of mass of the whole, the torques of the
joints, and for every body the torque and force of its contacts: 348 numbers, not scaled.

## Rewards

`forward` is the mean velocity of the center of mass along `heading` (x) in this step [m/s], with the weight 1.25,
`healthy` is 1 while the torso's height lies between `lowest` and `highest`, with the weight 5, `control` is the
negative sum of squares of the action, with the weight 0.1, and `contact` that of the contact forces, down to -2e7, with
the weight 5e-7. The weighted sum is the reward of Humanoid-v5, except for the time at which contact forces are
computed.

With `level="mo-gymnasium"` the terms are `forward` and `control`, each with the weighted healthy and contact rewards
added. With their weights 1.25 and 0.1, which are MO-Gymnasium's, these count 1.35 times; apart from that the sum is the
reward of Humanoid-v5.

## Costs

`velocity`: 1 in every step in which the center of mass is faster than `speed_limit`.

## Starting State

All positions and velocities are uniform within `noise` of the model's.

## Episode End

When the humanoid is not healthy (unless `ends_when_unhealthy` is False), or after 1000 steps (15 s). Success is not
defined.

## Parameters

`strength` multiplies all torques, `damping` the damping of all joints, `stiffness` adds springs to them; the mass of
the robot is proportional to `density`. `air`, `viscosity` and wind are those around it: zero in the original. With
another `heading`, `forward` is the velocity along it. A body with an explicit mass (not 0) keeps its shape, so its
inertia is proportional to that mass.

## Reference Scores

Mean return over fixed seeds. There is no scripted expert, because no simple controller walks well.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, cost, f8, flag, kernel, only, param, published, term, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.originals import HEALTHY, HEIGHTS, always, gymnasiums
from rlenvs.robotics.locomotion.robots import (
    BOUND,
    COST_LIMIT,
    DENSITY,
    FASTEST,
    HEADING,
    PARAMS,
    SURROUNDINGS,
    WINDY,
    Reweighted,
    as_rrls,
    bounded,
    damp,
    effort,
    lighten,
    objectives,
    observe_motion,
    robot,
    start_near,
    surround,
    tell,
    turn_motors,
    turned,
    weigh,
)

POSITIONS, VELOCITIES, JOINTS, BODIES = 24, 23, 17, 14
FPS, DT = 1.0 / 0.015, 0.015  # five physics steps of 3 ms per control step; s
STRONGEST = 0.4  # of an action
HARDEST = 1e6  # N m, N, bound of contact forces observed
MOST_CONTACT = 2e7  # at which the original cuts the squares of contact forces: 10 over the weight
MOST_EFFORT = JOINTS * STRONGEST**2 + 1e-6  # float32 has a larger 0.4
NAMES = (
    *(f"abdomen {axis}" for axis in "yzx"),
    *(f"{side} {joint}" for side in ("right", "left") for joint in ("hip x", "hip z", "hip y", "knee")),
    *(f"{side} {joint}" for side in ("right", "left") for joint in ("shoulder 1", "shoulder 2", "elbow")),
)
TORSO_VOLUME = 8.907462370478262 / 1000.0  # m^3, of torso, head and upper waist
CONTROL_COST, CONTACT_COST, ALIVE = 0.1, 5e-7, 5.0

CLIPPED = '`weights={"contact": ...}`, of squares that are clipped before weighting'
UNCHANGED = {
    "contact_cost_weight": only(CONTACT_COST, CLIPPED),
    "contact_cost_range": only((-math.inf, 10.0), "contact costs are at most 10"),
}
SPEC = world(
    "Humanoid-v0",
    doc=__doc__,
    source="Gymnasium Humanoid-v5; MO-Gymnasium mo-humanoid-v5; Safety-Gymnasium (Ji et al., NeurIPS 2023)",
    params={
        **PARAMS,
        **SURROUNDINGS,
        "noise": param(0.01, 0.0, 0.05, "", "of the start: positions and velocities uniform within it"),
        "density": DENSITY,
        "torso_mass": param(0.0, 0.0, 16.0, "kg", "of torso, head and upper waist; 0: as `density` says, 8.91 kg"),
        "right_foot_mass": param(0.0, 0.0, 8.0, "kg", "of the right foot; 0: as `density` says, 1.77 kg"),
        "left_thigh_mass": param(0.0, 0.0, 8.0, "kg", "of the left thigh; 0: as `density` says, 4.75 kg"),
        "friction": param(1.0, 0.1, 4.0, "", "sliding friction of everything"),
        "damping": param(1.0, 0.2, 2.0, "", "of the joints, as a multiple of the original's"),
        "heading": HEADING,
        "lowest": param(1.0, 0.2, 1.3, "m", "height above which the torso is healthy", limit=True),
        "highest": param(2.0, 1.4, 5.0, "m", "height below which the torso is healthy", limit=True),
        "speed_limit": param(1.4149, 0.1, 10.0, "m/s", "speed above which there is a cost", limit=True),
    },
    options={"ends_when_unhealthy": flag(True, doc="whether the episode ends when the humanoid is not healthy")},
    state={
        "cinert": f8("nbody", 10),
        "cvel": f8("nbody", 6),
        "qfrc_actuator": f8("nv"),
        "cfrc_ext": f8("nbody", 6),
        "subtree_com": f8("nbody", 3),
        "x": f8,
        "y": f8,
        **STATE,
    },
    observation={
        "positions": block(
            POSITIONS - 2, low=-BOUND, high=BOUND, unit="m, rad", doc="height, attitude, joints", raw=True
        ),
        "velocities": block(
            VELOCITIES, low=-BOUND, high=BOUND, unit="m/s, rad/s", doc="of the torso and the joints", raw=True
        ),
        "inertias": block(
            BODIES - 1,
            10,
            low=-BOUND,
            high=BOUND,
            unit="kg m^2, kg m, kg",
            doc="by body, about the center",
            raw=True,
            constant=True,
        ),
        "body_velocities": block(
            BODIES - 1, 6, low=-BOUND, high=BOUND, unit="rad/s, m/s", doc="by body, about the center", raw=True
        ),
        "torques": block(JOINTS, low=-BOUND, high=BOUND, unit="N m", doc="of the joints", raw=True),
        "contacts": block(
            BODIES - 1,
            6,
            low=-HARDEST,
            high=HARDEST,
            unit="N m, N",
            doc="torque, force by body",
            raw=True,
            constant=True,
        ),
    },
    action=continuous(*NAMES, low=-STRONGEST, high=STRONGEST),
    terms={
        "forward": term(-FASTEST, FASTEST, 1.25, "velocity along x, m/s"),
        "healthy": term(0.0, 1.0, ALIVE, "1 while healthy"),
        "control": term(-MOST_EFFORT, 0.0, CONTROL_COST, "negative sum of squares of the action"),
        "contact": term(-MOST_CONTACT, 0.0, CONTACT_COST, "negative sum of squares of contact forces"),
    },
    costs={"velocity": cost(COST_LIMIT, 1.0, "faster than the limit")},
    published=published("Gymnasium Humanoid-v5", "float64", low=-math.inf, high=math.inf),
    horizon=1000,
    fps=FPS,
    engine=ENGINE,
    drop_in=gymnasiums(5, HEALTHY, HEIGHTS, UNCHANGED, always("cinert", "cvel", "qfrc_actuator", "cfrc_ext")),
    probe={"speed_limit": {"strength": 2.0}, **WINDY},
    levels={
        "easy": {"speed_limit": 3.0, "lowest": 0.8},
        "medium": {},
        "hard": {"speed_limit": 0.7, "friction": 0.5},
        "mo-gymnasium": objectives(
            "mo-humanoid-v5",
            forward=term(-FASTEST - 10.0, FASTEST + ALIVE, 1.25, "velocity along x, healthy and contact rewards"),
            control=term(-MOST_EFFORT - 10.0, ALIVE, CONTROL_COST, "negative squares, healthy and contact rewards"),
        ),
    },
)


@SPEC.model
def model(values):
    return embodied("humanoid.xml", values)


def embodied(file, values):
    """One of Gymnasium's two humanoids, which differ in how they lie or stand."""
    import mujoco

    spec = robot(file, values, eye=(0.0, -3.6, 0.35), down=0.2)
    lighten(spec, 0.3, 0.7)
    masses = {"right_foot": values.right_foot_mass, "left_thigh": values.left_thigh_mass}
    weigh(spec, values.density, **({} if as_rrls(values) else masses))
    if values.torso_mass > 0.0 and not as_rrls(values):
        for geom in spec.body("torso").geoms:
            geom.density = values.torso_mass / TORSO_VOLUME
    damp(spec, values.damping)
    surround(spec, values)
    for geom in spec.geoms:
        geom.friction = (values.friction, *geom.friction[1:])
    # contact forces are computed only where a sensor needs them
    sensor = spec.add_sensor(name="acceleration", objname="torso", type=mujoco.mjtSensor.mjSENS_FRAMELINACC)
    sensor.objtype = mujoco.mjtObj.mjOBJ_XBODY
    return Reweighted(spec, torso=values.torso_mass, **masses) if as_rrls(values) else spec


@SPEC.reset
def reset(p, s, rng):
    start_near(p, s, rng)


@SPEC.after_reset
def after_reset(p, s, rng):
    s.x, s.y = s.subtree_com[0, 0], s.subtree_com[0, 1]


@SPEC.act
def act(p, s, a, rng):
    turn_motors(s, a)


@kernel
def judge(p, s, r):
    """Fills what no objective changes; gives the velocity along the heading, bounded, 1.0 while healthy, and the sum of
    squares of contact forces."""
    vx, vy = (s.subtree_com[0, 0] - s.x) / DT, (s.subtree_com[0, 1] - s.y) / DT
    s.x, s.y = s.subtree_com[0, 0], s.subtree_com[0, 1]
    healthy = p.lowest < s.qpos[2] and s.qpos[2] < p.highest
    pressed = 0.0
    for i in range(s.cfrc_ext.shape[0]):
        for j in range(6):
            pressed += s.cfrc_ext[i, j] * s.cfrc_ext[i, j]
    r.velocity = 1.0 if math.sqrt(vx * vx + vy * vy) > p.speed_limit else 0.0
    r.terminated = p.ends_when_unhealthy == 1 and not healthy
    ahead, _ = turned(vx, vy, p.heading)
    return ahead, 1.0 if healthy else 0.0, min(pressed, MOST_CONTACT)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    r.forward, r.healthy, pressed = judge(p, s, r)
    r.control, r.contact = -effort(a), -pressed


@SPEC.level("mo-gymnasium").outcome
def outcome_of_two(p, s, a, rng, r):
    speed, healthy, pressed = judge(p, s, r)
    both = ALIVE * healthy - CONTACT_COST * pressed
    r.forward = speed + both
    r.control = -effort(a) + both


@SPEC.observe
def observe(p, s, o):
    observe_motion(s, o, 2, BOUND)
    for j in range(JOINTS):
        o.torques[j] = bounded(s.qfrc_actuator[j + 6])
    for i in range(BODIES - 1):
        for j in range(10):
            o.inertias[i, j] = bounded(s.cinert[i + 1, j])
        for j in range(6):
            o.body_velocities[i, j] = bounded(s.cvel[i + 1, j])
            o.contacts[i, j] = min(max(s.cfrc_ext[i + 1, j], -HARDEST), HARDEST)


@SPEC.draw
def draw(canvas, p, s):
    tell(canvas, s, math.hypot(s.qvel[0], s.qvel[1]), p.speed_limit)
