"""Ant: walk forwards on four legs without falling.

## Description

Ant-v5 of Gymnasium (after Schulman et al., arXiv 1506.02438; Farama Foundation, MIT license): its model, observations,
rewards, starts and terminations. The cost is that of SafetyAntVelocity-v1 of Safety-Gymnasium (Ji et al., NeurIPS
2023): moving faster than a limit, in any direction. Spaces are those of Ant-v5, float64 without bounds; with
`scaled=True` observations are float32 and bounded. Different: contact forces are those that MuJoCo computes at the
beginning of the last physics step, where the original asks for them between two stages of its integrator; numbers
beyond 1000 are observed as 1000.

Levels "mo-gymnasium" and "mo-gymnasium-2obj" have the reward vectors of MO-Gymnasium's mo-ant-v5 and mo-ant-2obj-v5.

## Action Space

Torques at hip and ankle of the legs 4, 1, 2, 3, in this order, as fractions of 150 N m.

## Observation Space

As in the original: height, attitude (quaternion w, x, y, z) and joint angles, their rates with the velocity along x and
y, and for every body the torque and force of its contacts [N m, N], clipped to [-1, 1]: 105 numbers, not scaled.

## Rewards

`forward` is the mean velocity of the torso along `heading` (x) in this step [m/s], `healthy` is 1 while the torso's
height lies within [`lowest`, `highest`], `control` is the negative sum of squares of the action, with weight 0.5, and
`contact` that of the clipped contact forces, with weight 0.0005.

With `level="mo-gymnasium"` the terms are `forward`, `sideways` (the velocity along y) and `control`, each with the
healthy and weighted contact rewards added: the vector of mo-ant-v5. The original gives no weights for it; with 1, 0 and
0.5 these two rewards count 1.5 times, and apart from that the sum is the reward of Ant-v5. With
`level="mo-gymnasium-2obj"`, the vector of mo-ant-2obj-v5, the weighted squares are also added to both other terms, and
the weights 1 and 0 give the reward of Ant-v5.

## Costs

`velocity`: 1 in every step in which the torso is faster than `speed_limit`.

## Starting State

All positions are uniform within `noise` of the model's, all velocities normal with the standard deviation `noise`.

## Episode End

When the ant is not healthy (unless `ends_when_unhealthy` is False), or after 1000 steps (50 s). Success is not
defined.

## Parameters

`strength` multiplies all torques, `damping` that of all joints, `stiffness` adds springs to them; the mass of the robot
is proportional to `density`. `air`, `viscosity` and wind are those around it: zero in the original. With another
`heading`, `forward` is the velocity along it, and `sideways` that to its left. A body with an explicit mass (not
0) keeps its shape, so its inertia is proportional to that mass; with `compat="rrls"` it stays as it is.

## Reference Scores

Mean return over fixed seeds.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, cost, f8, flag, kernel, normal, only, param, published, term, uniform, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.originals import CONTACT, HEALTHY, HEIGHTS, always, gymnasiums
from rlenvs.robotics.locomotion.robots import (
    BOUND,
    COST_LIMIT,
    DAMPING,
    DT,
    FASTEST,
    FPS,
    HEADING,
    PARAMS,
    SURROUNDINGS,
    WINDY,
    Reweighted,
    as_rrls,
    compat,
    damp,
    effort,
    objectives,
    observe_motion,
    refuse_no_height,
    robot,
    surround,
    tell,
    touch_floor_only,
    turn_motors,
    turned,
)

POSITIONS, VELOCITIES, JOINTS, BODIES = 15, 14, 8, 14
TORSO = 1
CONTROL_COST, CONTACT_COST = 0.5, 5e-4
MOST_CONTACT = 6.0 * BODIES * CONTACT_COST

UNCHANGED = {
    "contact_force_range": only((-1.0, 1.0), "contact forces are clipped to [-1, 1]"),
    "main_body": only(1, "the torso is the tracked body"),
}
SPEC = world(
    "Ant-v0",
    doc=__doc__,
    source="Gymnasium Ant-v5 (Schulman et al., arXiv 1506.02438); Safety-Gymnasium (Ji et al., NeurIPS 2023)",
    params={
        **PARAMS,
        **SURROUNDINGS,
        "density": param(5.0, 2.0, 20.0, "kg/m^3", "of the robot"),
        "torso_mass": param(0.0, 0.0, 3.0, "kg", "of the torso; 0: as `density` says, 0.327 kg"),
        "front_left_leg_mass": param(0.0, 0.0, 3.0, "kg", "of this leg's first part; 0: as `density` says, 0.0392 kg"),
        "front_right_leg_mass": param(0.0, 0.0, 3.0, "kg", "of this leg's first part; 0: as `density` says, 0.0392 kg"),
        "friction": param(1.0, 0.2, 2.0, "", "sliding friction of feet and floor"),
        "damping": DAMPING,
        "heading": HEADING,
        "lowest": param(0.2, 0.0, 0.5, "m", "height at which the torso is still healthy", limit=True),
        "highest": param(1.0, 0.5, 2.0, "m", "height at which the torso is still healthy", limit=True),
        "speed_limit": param(2.6222, 0.5, 10.0, "m/s", "speed above which there is a cost", limit=True),
    },
    options={
        "ends_when_unhealthy": flag(True, doc="whether the episode ends when the ant is not healthy"),
        "compat": compat(),
    },
    state={"xpos": f8("nbody", 3), "cfrc_ext": f8("nbody", 6), "x": f8, "y": f8, **STATE},
    observation={
        "positions": block(
            POSITIONS - 2, low=-BOUND, high=BOUND, unit="m, rad", doc="height, attitude, joints", raw=True
        ),
        "velocities": block(
            VELOCITIES, low=-BOUND, high=BOUND, unit="m/s, rad/s", doc="of the torso and the joints", raw=True
        ),
        "contacts": block(
            BODIES - 1, 6, low=-1.0, high=1.0, doc="contact torque and force by body", raw=True, constant=True
        ),
    },
    action=continuous(*(f"{joint} {leg}" for leg in (4, 1, 2, 3) for joint in ("hip", "ankle"))),
    terms={
        "forward": term(-FASTEST, FASTEST, 1.0, "velocity along x, m/s"),
        "healthy": term(0.0, 1.0, 1.0, "1 while healthy"),
        "control": term(-float(JOINTS), 0.0, CONTROL_COST, "negative sum of squares of the action"),
        "contact": term(-6.0 * BODIES, 0.0, CONTACT_COST, "negative sum of squares of clipped contact forces"),
    },
    costs={"velocity": cost(COST_LIMIT, 1.0, "faster than the limit")},
    published=published("Gymnasium Ant-v5", "float64", low=-math.inf, high=math.inf),
    horizon=1000,
    fps=FPS,
    engine=ENGINE,
    drop_in=gymnasiums(5, CONTACT, HEALTHY, HEIGHTS, UNCHANGED, always("cfrc_ext")),
    reward_threshold=6000.0,
    probe={"speed_limit": {"strength": 2.0}, **WINDY},
    levels={
        "easy": {"speed_limit": 4.0},
        "medium": {},
        "hard": {"speed_limit": 1.5, "friction": 0.6},
        "mo-gymnasium": objectives(
            "mo-ant-v5",
            forward=term(-FASTEST - MOST_CONTACT, FASTEST + 1.0, 1.0, "velocity along x, healthy, contact"),
            sideways=term(-FASTEST - MOST_CONTACT, FASTEST + 1.0, 0.0, "velocity along y, healthy, contact"),
            control=term(-JOINTS - MOST_CONTACT, 1.0, CONTROL_COST, "negative squares of the action, healthy, contact"),
        ),
        "mo-gymnasium-2obj": objectives(
            "mo-ant-2obj-v5",
            forward=term(-FASTEST - MOST_CONTACT - 4.0, FASTEST + 1.0, 1.0, "the reward of Ant-v5"),
            sideways=term(-FASTEST - MOST_CONTACT - 4.0, FASTEST + 1.0, 0.0, "velocity along y instead"),
        ),
    },
)


@SPEC.model
def model(values):
    refuse_no_height(values)
    spec = robot("ant.xml", values)
    for geom in spec.geoms:
        geom.density = values.density
        geom.friction = (values.friction, *geom.friction[1:])
    masses = {body: getattr(values, f"{body}_mass") for body in ("torso", "front_left_leg", "front_right_leg")}
    for body, own in masses.items():
        if own > 0.0 and not as_rrls(values):
            spec.body(body).first_geom().mass = own
    damp(spec, values.damping)
    surround(spec, values)
    touch_floor_only(spec)
    feel_contacts(spec)
    return Reweighted(spec, **masses) if as_rrls(values) else spec


def feel_contacts(spec):
    """Have the contact forces computed, which MuJoCo does only where a sensor needs them."""
    import mujoco

    sensor = spec.add_sensor(name="acceleration", objname="torso", type=mujoco.mjtSensor.mjSENS_FRAMELINACC)
    sensor.objtype = mujoco.mjtObj.mjOBJ_XBODY


@SPEC.reset
def reset(p, s, rng):
    for j in range(POSITIONS):
        s.qpos[j] += uniform(rng, -p.noise, p.noise)
    for j in range(VELOCITIES):
        s.qvel[j] = p.noise * normal(rng)


@SPEC.after_reset
def after_reset(p, s, rng):
    s.x, s.y = s.xpos[TORSO, 0], s.xpos[TORSO, 1]


@SPEC.act
def act(p, s, a, rng):
    turn_motors(s, a)


@kernel
def judge(p, s, r):
    """Fills what no objective changes; gives the velocity along the heading and to the left of it, bounded, 1.0 while
    healthy, and the sum of squares of clipped contact forces."""
    vx, vy = (s.xpos[TORSO, 0] - s.x) / DT, (s.xpos[TORSO, 1] - s.y) / DT
    s.x, s.y = s.xpos[TORSO, 0], s.xpos[TORSO, 1]
    healthy = p.lowest <= s.qpos[2] and s.qpos[2] <= p.highest
    pressed = 0.0
    for i in range(s.cfrc_ext.shape[0]):
        for j in range(6):
            force = min(max(s.cfrc_ext[i, j], -1.0), 1.0)
            pressed += force * force
    r.velocity = 1.0 if math.sqrt(vx * vx + vy * vy) > p.speed_limit else 0.0
    r.terminated = p.ends_when_unhealthy == 1 and not healthy
    ahead, aside = turned(vx, vy, p.heading)
    return ahead, aside, 1.0 if healthy else 0.0, pressed


@SPEC.outcome
def outcome(p, s, a, rng, r):
    r.forward, _, r.healthy, pressed = judge(p, s, r)
    r.control, r.contact = -effort(a), -pressed


@SPEC.level("mo-gymnasium").outcome
def outcome_of_three(p, s, a, rng, r):
    vx, vy, healthy, pressed = judge(p, s, r)
    both = healthy - CONTACT_COST * pressed
    r.forward, r.sideways, r.control = vx + both, vy + both, -effort(a) + both


@SPEC.level("mo-gymnasium-2obj").outcome
def outcome_of_two(p, s, a, rng, r):
    vx, vy, healthy, pressed = judge(p, s, r)
    both = healthy - CONTACT_COST * pressed - CONTROL_COST * effort(a)
    r.forward, r.sideways = vx + both, vy + both


@SPEC.observe
def observe(p, s, o):
    observe_motion(s, o, 2, BOUND)
    for i in range(BODIES - 1):
        for j in range(6):
            o.contacts[i, j] = min(max(s.cfrc_ext[i + 1, j], -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    tell(canvas, s, math.hypot(s.qvel[0], s.qvel[1]), p.speed_limit)
