"""Swimmer: swim forwards through a viscous fluid by bending two joints.

## Description

Swimmer-v5 of Gymnasium (after Coulom, "Reinforcement learning using neural networks, with applications to motor
control", thesis, INPG 2002; Farama Foundation, MIT license): its model, observations, rewards and starts. Three rods in
a plane, joined end to end, swim along x in a viscous fluid. The cost is that of SafetySwimmerVelocity-v1 of
Safety-Gymnasium (Ji et al., NeurIPS 2023): swimming faster than a limit. Spaces are those of Swimmer-v5, float64
without bounds; with `scaled=True` observations are float32 and bounded. Different: numbers beyond 1000 are observed as
1000.

The reward vector is that of MO-Gymnasium's mo-swimmer-v5.

## Action Space

The torques at the two joints, starting from the head, as fractions of 150 N m.

## Observation Space

As in the original: heading and two joint angles, and the rates of x, y, heading and joints: 8 numbers, not scaled.

## Rewards

`forward` is the mean velocity of the head along x in this step [m/s], `control` the negative sum of squares of the
action; its weight is 0.0001. The weighted sum is the reward of Swimmer-v5.

## Costs

`velocity`: 1 in every step that is faster than `speed_limit`.

## Starting State

All positions and velocities are uniform within `noise` of the model's.

## Episode End

After 1000 steps (40 s), never earlier. Success is not defined.

## Parameters

`strength` multiplies all torques, `damping` and `stiffness` are those of the joints (the original's have none),
`density` is that of the swimmer, `fluid` and `viscosity` are the density and the viscosity of the fluid, `wind_x` and
`wind_y` its flow. There is no gravity.

## Reference Scores

Mean return over fixed seeds. The expert's torques are a linear function of the observation, found by random search
(Mania, Guy and Recht, NeurIPS 2018, whose best linear policy scores 365): a wave runs from the head to the tail.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, cost, f8, param, published, term, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.originals import gymnasiums
from rlenvs.robotics.locomotion.robots import (
    BOUND,
    COST_LIMIT,
    FASTEST,
    PARAMS,
    SURROUNDINGS,
    effort,
    observe_motion,
    robot,
    start_near,
    tell,
    turn_motors,
    without_bounds,
)

POSITIONS, JOINTS = 5, 2
WATER = ((0.80, 0.90, 0.95), (0.70, 0.84, 0.92))
FPS, DT = 25, 0.04  # four physics steps of 10 ms per control step; s
# of heading, front and rear joint, and of the rates of x, y, heading and joints: what each of both motors makes of them
GAIT = (
    (-0.10, 0.00, -0.33, 0.02, 0.23, -0.11, 0.43, -0.26),
    (-0.12, 0.25, -0.63, -0.14, 0.16, -0.37, 0.14, 0.05),
)

SPEC = world(
    "Swimmer-v0",
    doc=__doc__,
    source="Gymnasium Swimmer-v5; MO-Gymnasium mo-swimmer-v5; Safety-Gymnasium (Ji et al., NeurIPS 2023)",
    params={
        "strength": PARAMS["strength"],
        "noise": param(0.1, 0.0, 0.3, "", "noise of the start: positions and velocities are uniform within it"),
        "density": param(1000.0, 400.0, 2500.0, "kg/m^3", "of the swimmer"),
        "fluid": param(4000.0, 1000.0, 8000.0, "kg/m^3", "density of the fluid"),
        "viscosity": param(0.1, 0.0, 10.0, "Pa s", "of the fluid"),
        "damping": param(0.0, 0.0, 20.0, "N m s/rad", "of the joints"),
        "stiffness": SURROUNDINGS["stiffness"],
        "wind_x": param(0.0, -1.0, 1.0, "m/s", "flow of the fluid along x"),
        "wind_y": param(0.0, -1.0, 1.0, "m/s", "flow of the fluid along y"),
        "speed_limit": param(0.2282, 0.01, 2.0, "m/s", "speed above which there is a cost", limit=True),
    },
    state={"x": f8, **STATE},
    observation={
        "positions": block(POSITIONS - 2, low=-BOUND, high=BOUND, unit="rad", doc="heading, joints", raw=True),
        "velocities": block(
            POSITIONS, low=-BOUND, high=BOUND, unit="m/s, rad/s", doc="x, y, heading, joints", raw=True
        ),
    },
    action=continuous("front joint", "rear joint"),
    terms={
        "forward": term(-FASTEST, FASTEST, 1.0, "velocity along x, m/s"),
        "control": term(-float(JOINTS), 0.0, 0.0001, "negative sum of squares of the action"),
    },
    costs={"velocity": cost(COST_LIMIT, 1.0, "faster than the limit")},
    published=published("Gymnasium Swimmer-v5", "float64", low=-math.inf, high=math.inf, reward=without_bounds(2)),
    horizon=1000,
    fps=FPS,
    engine=ENGINE,
    drop_in=gymnasiums(4),
    reward_threshold=360.0,
    levels={"easy": {"speed_limit": 0.5}, "medium": {}, "hard": {"speed_limit": 0.1, "viscosity": 1.0}},
)


@SPEC.model
def model(values):
    import mujoco

    spec = robot("swimmer.xml", values, eye=(0.0, -3.2, 4.2), down=0.92)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT  # nothing can touch: a tenth faster, same numbers
    spec.lights[0].diffuse, spec.lights[0].specular = (0.65, 0.65, 0.65), (0.0, 0.0, 0.0)  # it falls straight down
    spec.option.density, spec.option.viscosity = values.fluid, values.viscosity
    spec.option.wind = (values.wind_x, values.wind_y, 0.0)
    floor = spec.material(spec.geoms[0].material).textures[mujoco.mjtTextureRole.mjTEXROLE_RGB]
    spec.texture(floor).rgb1, spec.texture(floor).rgb2 = WATER
    for geom in spec.geoms[1:]:
        geom.density = values.density
    for joint in spec.joints[3:]:
        joint.damping = (values.damping, *joint.damping[1:])
        joint.stiffness = (values.stiffness, *joint.stiffness[1:])
    return spec


@SPEC.reset
def reset(p, s, rng):
    start_near(p, s, rng)
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
    observe_motion(s, o, 2, BOUND)


@SPEC.expert
def expert(p, s, a):
    for motor in range(JOINTS):
        torque, gains = 0.0, GAIT[motor]
        for j in range(POSITIONS - 2):
            torque += gains[j] * s.qpos[j + 2]
        for j in range(POSITIONS):
            torque += gains[j + POSITIONS - 2] * s.qvel[j]
        a[motor] = min(max(torque, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    tell(canvas, s, float(s.qvel[0]), p.speed_limit)
    canvas.view(0.0, 1.0, 0.0, canvas.scene[1] / canvas.scene[0])
    canvas.text((0.04, 0.1), "forward", "black", 16)
    canvas.arrow((0.04, 0.05), (0.24, 0.05), "green", 5.0)
