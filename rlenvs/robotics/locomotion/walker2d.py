"""Walker2d: walk forwards on two legs without falling.

## Description

Walker2d-v5 of Gymnasium (after Erez, Tassa and Todorov, "Infinite-horizon model predictive control for periodic tasks
with contacts", RSS 2011; Farama Foundation, MIT license): its model, observations, rewards, starts and terminations. A
flat robot with two legs of three joints each walks along x. The cost is that of SafetyWalker2dVelocity-v1 of
Safety-Gymnasium (Ji et al., NeurIPS 2023): moving faster than a limit. Spaces are those of Walker2d-v5, float64 without
bounds; with `scaled=True` observations are float32 and bounded. Different: positions beyond 1000 are observed as 1000.

The level "mo-gymnasium" has the reward vector of MO-Gymnasium's mo-walker2d-v5.

## Action Space

The torques at thigh, leg and foot of the right leg, then of the left leg, as fractions of 100 N m.

## Observation Space

As in the original: 8 positions (height, pitch, six joint angles) and 9 rates with the forward velocity, these clipped
to [-10, 10]: 17 numbers, not scaled.

## Rewards

`forward` is the mean velocity along x in this step [m/s], `healthy` is 1 while the torso's height lies between
`lowest` and `highest` and its pitch is less than `tilt`, and `control` is the negative sum of squares of the action;
its weight is 0.001. The weighted sum is the reward of Walker2d-v5.

With `level="mo-gymnasium"` the terms are `forward` and `control`, each with the healthy reward added. With their
weights 1 and 0.001 that reward counts 1.001 times; apart from that the sum is the reward of Walker2d-v5.

## Costs

`velocity`: 1 in every step that is faster than `speed_limit`.

## Starting State

All positions and velocities are uniform within `noise` of the model's.

## Episode End

When the walker is not healthy (unless `ends_when_unhealthy` is False), or after 1000 steps (8 s). Success is not
defined.

## Parameters

`strength` multiplies all torques, `damping` that of all joints, `stiffness` adds springs to them; the mass of the robot
is proportional to `density`. `air`, `viscosity` and wind are those around it: zero in the original. A body with an
explicit mass (not 0) keeps its shape, so its inertia is proportional to that mass. With `compat="rrls"` inertia stays
as it is, and `friction` is that of the floor. Contacts have the larger friction of floor and feet, 1.9, so lower values
have no effect.

## Reference Scores

Mean return over fixed seeds. The expert's legs track a periodic reference, half a period apart, with PD control, with
feedback from the torso's pitch, height and velocity; its parameters were found with `benchmarks/gaits.py`. It walks at
2.4 m/s, and rarely falls; it knows the time, which is not observed.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, cost, f8, flag, kernel, param, published, term, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.gaits import walk
from rlenvs.robotics.locomotion.originals import ANGLES, HEALTHY, HEIGHTS, gymnasiums
from rlenvs.robotics.locomotion.robots import (
    BOUND,
    COST_LIMIT,
    DAMPING,
    DENSITY,
    EVEN_NOISE,
    FASTEST,
    PARAMS,
    PLANAR_SURROUNDINGS,
    PLANAR_WINDY,
    Reweighted,
    as_rrls,
    compat,
    damp,
    effort,
    lighten,
    objectives,
    observe_motion,
    refuse_no_height,
    robot,
    rub,
    start_near,
    surround,
    tell,
    touch_floor_only,
    turn_motors,
    weigh,
)

POSITIONS, JOINTS = 9, 6
FPS, DT = 125, 0.008  # four physics steps of 2 ms per control step; s
FOOT = 1.9  # sliding friction of the model's feet
GAIT = (  # as `walk` takes it: the frequency, then thigh, leg and foot
    *(15.9,),
    *(0.38, 0.33, 0.34, -0.1, -0.13, 4.02, 0.07, 0.18, -0.05, 0.13, 1.91, 1.42),
    *(0.21, -0.62, 0.6, -0.74, -0.07, 3.35, 0.16, -0.05, -0.04, -0.1, -0.26, -0.47),
    *(1.32, 0.0, 0.84, 0.2, -0.04, 1.82, 0.14, -3.93, 0.02, -0.19, -0.83, 0.01),
)

SPEC = world(
    "Walker2d-v0",
    doc=__doc__,
    source="Gymnasium Walker2d-v5; MO-Gymnasium mo-walker2d-v5; Safety-Gymnasium (Ji et al., NeurIPS 2023)",
    params={
        **PARAMS,
        **PLANAR_SURROUNDINGS,
        "noise": EVEN_NOISE,
        "density": DENSITY,
        "torso_mass": param(0.0, 0.0, 10.0, "kg", "of the torso; 0: as `density` says, 3.67 kg"),
        "thigh_mass": param(0.0, 0.0, 10.0, "kg", "of the right thigh; 0: as `density` says, 4.06 kg"),
        "friction": param(FOOT, 0.1, 4.0, "", "sliding friction of the feet; other frictions in proportion"),
        "damping": DAMPING,
        "lowest": param(0.8, 0.2, 1.2, "m", "height above which the torso is healthy", limit=True),
        "highest": param(2.0, 1.2, 5.0, "m", "height below which the torso is healthy", limit=True),
        "tilt": param(1.0, 0.1, 2.0, "rad", "pitch up to which the torso is healthy", limit=True),
        "speed_limit": param(2.3415, 0.1, 10.0, "m/s", "speed above which there is a cost", limit=True),
    },
    options={
        "ends_when_unhealthy": flag(True, doc="whether the episode ends when the walker is not healthy"),
        "compat": compat(friction=0.7),
    },
    state={"x": f8, **STATE},
    observation={
        "positions": block(POSITIONS - 1, low=-BOUND, high=BOUND, unit="m, rad", doc="height, pitch, joints", raw=True),
        "velocities": block(POSITIONS, low=-10.0, high=10.0, unit="m/s, rad/s", doc="x, z, pitch, joints", raw=True),
    },
    action=continuous(*(f"{side} {part}" for side in ("right", "left") for part in ("thigh", "leg", "foot"))),
    terms={
        "forward": term(-FASTEST, FASTEST, 1.0, "velocity along x, m/s"),
        "healthy": term(0.0, 1.0, 1.0, "1 while healthy"),
        "control": term(-float(JOINTS), 0.0, 0.001, "negative sum of squares of the action"),
    },
    costs={"velocity": cost(COST_LIMIT, 1.0, "faster than the limit")},
    published=published("Gymnasium Walker2d-v5", "float64", low=-math.inf, high=math.inf),
    horizon=1000,
    fps=FPS,
    engine=ENGINE,
    drop_in=gymnasiums(4, HEALTHY, HEIGHTS, ANGLES),
    expert_sees="state",
    probe={"speed_limit": {"strength": 2.0}, **PLANAR_WINDY},
    levels={
        "easy": {"speed_limit": 4.0, "tilt": 1.5},
        "medium": {},
        "hard": {"speed_limit": 1.0, "friction": 0.8},
        "mo-gymnasium": objectives(
            "mo-walker2d-v5",
            forward=term(-FASTEST, FASTEST + 1.0, 1.0, "velocity along x, and 1 while healthy"),
            control=term(-float(JOINTS), 1.0, 0.001, "negative sum of squares of the action, and 1 while healthy"),
        ),
    },
)


@SPEC.model
def model(values):
    refuse_no_height(values)
    spec = robot("walker2d_v5.xml", values, eye=(0.0, -3.2, 0.1), down=0.14)
    lighten(spec, 0.32, 0.6)
    masses = {"torso": values.torso_mass, "thigh": values.thigh_mass}
    weigh(spec, values.density, **({} if as_rrls(values) else masses))
    damp(spec, values.damping)
    surround(spec, values)
    rub(spec, values.friction, FOOT, as_rrls(values))
    touch_floor_only(spec)
    return Reweighted(spec, **masses) if as_rrls(values) else spec


@SPEC.reset
def reset(p, s, rng):
    start_near(p, s, rng)
    s.x = s.qpos[0]


@SPEC.act
def act(p, s, a, rng):
    turn_motors(s, a)


@kernel
def judge(p, s, r):
    """Fills what no objective changes; gives the velocity along x, bounded, and 1.0 while healthy."""
    speed = (s.qpos[0] - s.x) / DT
    s.x = s.qpos[0]
    healthy = p.lowest < s.qpos[1] and s.qpos[1] < p.highest and abs(s.qpos[2]) < p.tilt
    r.velocity = 1.0 if speed > p.speed_limit else 0.0
    r.terminated = p.ends_when_unhealthy == 1 and not healthy
    return min(max(speed, -FASTEST), FASTEST), 1.0 if healthy else 0.0


@SPEC.outcome
def outcome(p, s, a, rng, r):
    r.forward, r.healthy = judge(p, s, r)
    r.control = -effort(a)


@SPEC.level("mo-gymnasium").outcome
def outcome_of_two(p, s, a, rng, r):
    speed, healthy = judge(p, s, r)
    r.forward = speed + healthy
    r.control = -effort(a) + healthy


@SPEC.observe
def observe(p, s, o):
    observe_motion(s, o, 1, 10.0)


@SPEC.expert
def expert(p, s, a):
    walk(GAIT, s.qpos, s.qvel, DT * s.elapsed, a)


@SPEC.draw
def draw(canvas, p, s):
    tell(canvas, s, float(s.qvel[0]), p.speed_limit)
