"""HalfCheetah: run forwards as fast as possible on two legs.

## Description

HalfCheetah-v5 of Gymnasium (Wawrzyński's planar cheetah; Farama Foundation, MIT license): its model, observations,
rewards and starts. A flat robot with two legs of three joints each runs along x. The cost is that of
SafetyHalfCheetahVelocity-v1 of Safety-Gymnasium (Ji et al., NeurIPS 2023): running faster than a limit. Spaces are
those of HalfCheetah-v5, float64 without bounds; with `scaled=True` observations are float32 and bounded. Different:
numbers beyond 1000 are observed as 1000. The reward vector is that of MO-Gymnasium's mo-halfcheetah-v5.

## Action Space

The torques at thigh, shin and foot of the back leg, then of the front leg, as fractions of 120, 90, 60, 120, 60 and
30 N m.

## Observation Space

As in the original: 8 positions (height, pitch, six joint angles) and their rates with the forward velocity, 17 numbers,
not scaled.

## Rewards

`forward` is the mean velocity along x in this step [m/s], `control` the negative sum of squares of the action; its
weight is 0.1.

## Costs

`velocity`: 1 in every step that is faster than `speed_limit`.

## Starting State

All positions are uniform within `noise` of the model's, all velocities normal with the standard deviation `noise`.

## Episode End

After 1000 steps (50 s), never earlier. Success is not defined.

## Parameters

`strength` multiplies all torques, `damping` that of all joints, `stiffness` adds springs to them; `mass` is that of the
whole robot. `air`, `viscosity` and wind are those around it: zero in the original. The torso (with the head) and the
back thigh can have explicit masses (not 0), in addition to the share of the other bodies in `mass`; their inertia is
proportional to them. With `compat="rrls"` inertia stays as it is.

## Reference Scores

Mean return over fixed seeds.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, cost, f8, normal, param, published, term, uniform, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.originals import gymnasiums
from rlenvs.robotics.locomotion.robots import (
    BOUND,
    COST_LIMIT,
    DAMPING,
    DT,
    FASTEST,
    FPS,
    PARAMS,
    PLANAR_SURROUNDINGS,
    PLANAR_WINDY,
    Reweighted,
    as_rrls,
    compat,
    damp,
    effort,
    observe_motion,
    robot,
    surround,
    tell,
    touch_floor_only,
    turn_motors,
    without_bounds,
)

POSITIONS, JOINTS = 9, 6
SHARES = {"torso": 6.25020920502092 / 14.0, "bthigh": 1.5435146443514645 / 14.0}  # of the mass of the robot

SPEC = world(
    "HalfCheetah-v0",
    doc=__doc__,
    source="Gymnasium HalfCheetah-v5; Safety-Gymnasium (Ji et al., NeurIPS 2023)",
    params={
        **PARAMS,
        **PLANAR_SURROUNDINGS,
        "mass": param(14.0, 5.0, 30.0, "kg", "of the robot"),
        "torso_mass": param(0.0, 0.0, 7.0, "kg", "of torso and head; 0: their share of `mass`, 6.25 kg"),
        "back_thigh_mass": param(0.0, 0.0, 3.0, "kg", "0: its share of `mass`, 1.54 kg"),
        "friction": param(0.4, 0.1, 4.0, "", "sliding friction of feet and floor"),
        "damping": DAMPING,
        "speed_limit": param(3.2096, 0.5, 10.0, "m/s", "speed above which there is a cost", limit=True),
    },
    options={"compat": compat()},
    state={"x": f8, **STATE},
    observation={
        "positions": block(POSITIONS - 1, low=-BOUND, high=BOUND, unit="m, rad", doc="height, pitch, joints", raw=True),
        "velocities": block(POSITIONS, low=-BOUND, high=BOUND, unit="m/s, rad/s", doc="x, z, pitch, joints", raw=True),
    },
    action=continuous(*(f"{end} {part}" for end in ("back", "front") for part in ("thigh", "shin", "foot"))),
    terms={
        "forward": term(-FASTEST, FASTEST, 1.0, "velocity along x, m/s"),
        "control": term(-float(JOINTS), 0.0, 0.1, "negative sum of squares of the action"),
    },
    costs={"velocity": cost(COST_LIMIT, 1.0, "faster than the limit")},
    published=published("Gymnasium HalfCheetah-v5", "float64", low=-math.inf, high=math.inf, reward=without_bounds(2)),
    horizon=1000,
    fps=FPS,
    engine=ENGINE,
    drop_in=gymnasiums(5),
    reward_threshold=4800.0,
    probe={"speed_limit": {"strength": 2.0}, **PLANAR_WINDY},
    levels={"easy": {"speed_limit": 5.0}, "medium": {}, "hard": {"speed_limit": 2.0, "friction": 0.3}},
)


@SPEC.model
def model(values):
    spec = robot("half_cheetah.xml", values)
    total, masses = values.mass, {"torso": values.torso_mass, "bthigh": values.back_thigh_mass}
    for body, own in masses.items():
        if own > 0.0 and not as_rrls(values):
            usual = SHARES[body] * values.mass
            total += own - usual
            for geom in spec.body(body).geoms:
                geom.density *= own / usual
    spec.compiler.settotalmass = total
    for geom in spec.geoms:
        geom.friction = (values.friction, *geom.friction[1:])
    damp(spec, values.damping)
    surround(spec, values)
    touch_floor_only(spec)
    return Reweighted(spec, **masses) if as_rrls(values) else spec


@SPEC.reset
def reset(p, s, rng):
    for j in range(POSITIONS):
        s.qpos[j] += uniform(rng, -p.noise, p.noise)
        s.qvel[j] = p.noise * normal(rng)
    s.x = s.qpos[0]


@SPEC.act
def act(p, s, a, rng):
    turn_motors(s, a)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    speed = (s.qpos[0] - s.x) / DT
    s.x = s.qpos[0]
    r.forward = min(max(speed, -FASTEST), FASTEST)
    r.control = -effort(a)
    r.velocity = 1.0 if speed > p.speed_limit else 0.0


@SPEC.observe
def observe(p, s, o):
    observe_motion(s, o, 1, BOUND)


@SPEC.draw
def draw(canvas, p, s):
    tell(canvas, s, float(s.qvel[0]), p.speed_limit)
