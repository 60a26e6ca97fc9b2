"""Hopper: hop forwards on one leg without falling.

## Description

Hopper-v5 of Gymnasium (after Erez, Tassa and Todorov, "Infinite-horizon model predictive control for periodic tasks
with contacts", RSS 2011; Farama Foundation, MIT license): its model, observations, rewards, starts and terminations. A
flat robot with one leg of three joints hops along x. The cost is that of SafetyHopperVelocity-v1 of Safety-Gymnasium
(Ji et al., NeurIPS 2023): moving faster than a limit. Spaces are those of Hopper-v5, float64 without bounds; with
`scaled=True` observations are float32 and bounded. Different: positions beyond 1000 are observed as 1000.

Levels "mo-gymnasium" and "mo-gymnasium-2obj" have the reward vectors of MO-Gymnasium's mo-hopper-v5 and
mo-hopper-2obj-v5.

## Action Space

The torques at thigh, leg and foot, as fractions of 200 N m.

## Observation Space

As in the original: 5 positions (height, pitch, three joint angles) and 6 rates with the forward velocity, these clipped
to [-10, 10]: 11 numbers, not scaled.

## Rewards

`forward` is the mean velocity along x in this step [m/s], `healthy` is 1 while the torso is higher than `lowest`,
pitched by less than `tilt`, and no other number of the state is 100 or more, and `control` is the negative sum of
squares of the action; its weight is 0.001. The weighted sum is the reward of Hopper-v5.

With `level="mo-gymnasium"` the terms are `forward`, `height` (10 times the height above the start, m) and `control`,
each with the healthy reward added. With their weights 1, 0 and 0.001 that reward counts 1.001 times; apart from that
the sum is the reward of Hopper-v5. With `level="mo-gymnasium-2obj"` the weighted squares are also added to both other
terms, and the weights 1 and 0 give the reward of Hopper-v5.

## Costs

`velocity`: 1 in every step that is faster than `speed_limit`.

## Starting State

All positions and velocities are uniform within `noise` of the model's.

## Episode End

When the hopper is not healthy (unless `ends_when_unhealthy` is False), or after 1000 steps (8 s). Success is not
defined.

## Parameters

`strength` multiplies all torques, `damping` that of all joints, `stiffness` adds springs to them; the mass of the robot
is proportional to `density`. `air`, `viscosity` and wind are those around it: zero in the original. A body with an
explicit mass (not 0) keeps its shape, so its inertia is proportional to that mass. With `compat="rrls"` inertia stays
as it is, and `friction` is that of the floor. Contacts have the larger friction of floor and foot, 2.0, so lower values
have no effect.

## Reference Scores

Mean return over fixed seeds. The expert's torques are a linear function of the observation, found by random search
(Mania, Guy and Recht, NeurIPS 2018, whose best linear policy scores 3909): it hops, and stays up for the whole episode.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, cost, f8, flag, kernel, param, published, term, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.originals import ABOVE, ANGLES, HEALTHY, OTHERS, gymnasiums
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
    robot,
    rub,
    start_near,
    surround,
    tell,
    touch_floor_only,
    turn_motors,
    weigh,
)

POSITIONS, JOINTS = 6, 3
FPS, DT = 125, 0.008  # four physics steps of 2 ms per control step; s
STANDING = 1.25  # m, of the torso in the model
HIGHEST = 20.0  # m, bound of the height in rewards
FOOT = 2.0  # sliding friction of the model's foot
# of height, pitch and joints, and of the rates of x, z, pitch and joints: what each motor makes of them, and a constant
GAIT = (
    (0.51, -4.75, 20.80, -0.04, -0.20, -0.17, -0.03, 0.08, 0.32, -0.10, -0.01),
    (-0.12, -4.11, 1.61, -0.25, -0.45, -0.24, -0.12, -0.40, -0.67, -0.13, -0.02),
    (2.02, -3.27, 0.62, 0.63, -0.58, -0.23, -0.65, 0.04, 0.17, 0.33, -0.04),
)
PUSH = (-0.45, 0.06, -1.27)

SPEC = world(
    "Hopper-v0",
    doc=__doc__,
    source="Gymnasium Hopper-v5; MO-Gymnasium mo-hopper-v5; Safety-Gymnasium (Ji et al., NeurIPS 2023)",
    params={
        **PARAMS,
        **PLANAR_SURROUNDINGS,
        "noise": EVEN_NOISE,
        "density": DENSITY,
        "torso_mass": param(0.0, 0.0, 10.0, "kg", "of the torso; 0: as `density` says, 3.67 kg"),
        "thigh_mass": param(0.0, 0.0, 10.0, "kg", "of the thigh; 0: as `density` says, 4.06 kg"),
        "friction": param(FOOT, 0.1, 4.0, "", "sliding friction of the foot; other frictions in proportion"),
        "damping": DAMPING,
        "lowest": param(0.7, 0.2, 1.2, "m", "height above which the torso is healthy", limit=True),
        "tilt": param(0.2, 0.05, 1.5, "rad", "pitch up to which the torso is healthy", limit=True),
        "speed_limit": param(0.7402, 0.1, 10.0, "m/s", "speed above which there is a cost", limit=True),
    },
    options={
        "ends_when_unhealthy": flag(True, doc="whether the episode ends when the hopper is not healthy"),
        "compat": compat(friction=0.7),
    },
    state={"x": f8, **STATE},
    observation={
        "positions": block(POSITIONS - 1, low=-BOUND, high=BOUND, unit="m, rad", doc="height, pitch, joints", raw=True),
        "velocities": block(POSITIONS, low=-10.0, high=10.0, unit="m/s, rad/s", doc="x, z, pitch, joints", raw=True),
    },
    action=continuous("thigh", "leg", "foot"),
    terms={
        "forward": term(-FASTEST, FASTEST, 1.0, "velocity along x, m/s"),
        "healthy": term(0.0, 1.0, 1.0, "1 while healthy"),
        "control": term(-float(JOINTS), 0.0, 0.001, "negative sum of squares of the action"),
    },
    costs={"velocity": cost(COST_LIMIT, 1.0, "faster than the limit")},
    published=published("Gymnasium Hopper-v5", "float64", low=-math.inf, high=math.inf),
    horizon=1000,
    fps=FPS,
    engine=ENGINE,
    drop_in=gymnasiums(4, HEALTHY, ABOVE, ANGLES, OTHERS),
    reward_threshold=3800.0,
    probe={"speed_limit": {"strength": 2.0}, **PLANAR_WINDY},
    levels={
        "easy": {"speed_limit": 2.0, "tilt": 0.4},
        "medium": {},
        "hard": {"speed_limit": 0.4, "friction": 0.8},
        "mo-gymnasium": objectives(
            "mo-hopper-v5",
            forward=term(-FASTEST, FASTEST + 1.0, 1.0, "velocity along x, and 1 while healthy"),
            height=term(-HIGHEST, HIGHEST + 1.0, 0.0, "10 times the height above the start, and 1 while healthy"),
            control=term(-float(JOINTS), 1.0, 0.001, "negative sum of squares of the action, and 1 while healthy"),
        ),
        "mo-gymnasium-2obj": objectives(
            "mo-hopper-2obj-v5",
            forward=term(-FASTEST - 1.0, FASTEST + 1.0, 1.0, "the reward of Hopper-v5"),
            height=term(-HIGHEST - 1.0, HIGHEST + 1.0, 0.0, "10 times the height, instead of the velocity"),
        ),
    },
)


@SPEC.model
def model(values):
    spec = robot("hopper.xml", values, eye=(0.0, -3.0, 0.15), down=0.14)
    lighten(spec, 0.32, 0.6)
    masses = {"torso": values.torso_mass, "thigh": values.thigh_mass}
    weigh(spec, values.density, **({} if as_rrls(values) else masses))
    damp(spec, values.damping)
    surround(spec, values)
    rub(spec, values.friction, FOOT, as_rrls(values))
    touch_floor_only(spec, ("torso_geom", "leg_geom"), ("torso_geom", "foot_geom"), ("thigh_geom", "foot_geom"))
    return Reweighted(spec, **masses) if as_rrls(values) else spec


@SPEC.reset
def reset(p, s, rng):
    start_near(p, s, rng)
    s.x = s.qpos[0]


@SPEC.act
def act(p, s, a, rng):
    turn_motors(s, a)


@kernel
def healthy(p, s):
    """1.0 while the hopper is healthy."""
    held = p.lowest < s.qpos[1] and abs(s.qpos[2]) < p.tilt
    for j in range(2, POSITIONS):
        held = held and abs(s.qpos[j]) < 100.0
    for j in range(POSITIONS):
        held = held and abs(s.qvel[j]) < 100.0
    return 1.0 if held else 0.0


@kernel
def judge(p, s, r):
    """Fills what no objective changes; gives the velocity along x, bounded, and 1.0 while healthy."""
    speed, held = (s.qpos[0] - s.x) / DT, healthy(p, s)
    s.x = s.qpos[0]
    r.velocity = 1.0 if speed > p.speed_limit else 0.0
    r.terminated = p.ends_when_unhealthy == 1 and held == 0.0
    return min(max(speed, -FASTEST), FASTEST), held


@SPEC.outcome
def outcome(p, s, a, rng, r):
    r.forward, r.healthy = judge(p, s, r)
    r.control = -effort(a)


@kernel
def height(s):
    """10 times the height above the start, bounded."""
    return min(max(10.0 * (s.qpos[1] - STANDING), -HIGHEST), HIGHEST)


@SPEC.level("mo-gymnasium").outcome
def outcome_of_three(p, s, a, rng, r):
    speed, held = judge(p, s, r)
    r.forward = speed + held
    r.height = height(s) + held
    r.control = -effort(a) + held


@SPEC.level("mo-gymnasium-2obj").outcome
def outcome_of_two(p, s, a, rng, r):
    speed, held = judge(p, s, r)
    both = held - 0.001 * effort(a)
    r.forward = speed + both
    r.height = height(s) + both


@SPEC.observe
def observe(p, s, o):
    observe_motion(s, o, 1, 10.0)


@SPEC.expert
def expert(p, s, a):
    for motor in range(JOINTS):
        torque, gains = PUSH[motor], GAIT[motor]
        for j in range(POSITIONS - 1):
            torque += gains[j] * s.qpos[j + 1]
        for j in range(POSITIONS):
            torque += gains[j + POSITIONS - 1] * min(max(s.qvel[j], -10.0), 10.0)
        a[motor] = min(max(torque, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    tell(canvas, s, float(s.qvel[0]), p.speed_limit)
