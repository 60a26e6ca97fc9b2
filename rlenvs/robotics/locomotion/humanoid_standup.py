"""HumanoidStandup: get up from the ground.

## Description

HumanoidStandup-v5 of Gymnasium (after Tassa, Erez and Todorov, IROS 2012; Farama Foundation, MIT license): its model,
observations, rewards and starts. The body of Humanoid lies on its back and shall stand up. Spaces are those of
HumanoidStandup-v5, float64 without bounds; with `scaled=True` observations are float32 and bounded. Different: contact
forces are those that MuJoCo computes at the beginning of the last physics step, where the original asks for them
between two stages of its integrator; numbers beyond 1000, and contact forces beyond a million, are clipped in
observations.

## Action Space

Torques of abdomen, hips, knees, shoulders and elbows, in [-0.4, 0.4]: fractions of 100 N m, at hips forward of 300,
at knees of 200, and at the arms of 25.

## Observation Space

As for Humanoid: 348 numbers, not scaled.

## Rewards

`height` is the height of the torso divided by the physics time step of 3 ms [m/s], `alive` is always 1, `control` is
the negative sum of squares of the action, with the weight 0.1, and `contact` that of the contact forces, down to -2e7,
with the weight 5e-7. The weighted sum is the reward of HumanoidStandup-v5, except for the time at which contact forces
are computed.

## Costs

None.

## Starting State

All positions and velocities are uniform within `noise` of the model's, which lies on its back.

## Episode End

After 1000 steps (15 s), never earlier. Success is not defined.

## Parameters

`strength` multiplies all torques, `damping` the damping of all joints; the mass of the robot is proportional to
`density`. A body with an explicit mass (not 0) keeps its shape, so its inertia is proportional to that mass; with
`compat="rrls"` inertia stays as it is.

## Reference Scores

Mean return over fixed seeds. There is no scripted expert, because no simple controller stands up.

## Version History

v0: first version.
"""

import math

from rlenvs.core import continuous, only, published, same_as, term, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion import humanoid
from rlenvs.robotics.locomotion.originals import OF_WALKERS, always, machines
from rlenvs.robotics.locomotion.robots import compat, effort, start_near, turn_motors

TICK = 0.003  # s, of the physics
HIGHEST = 1000.0  # m, bound of the height in rewards
READINGS = ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")
BODY = ("gravity", "strength", "noise", "density", "torso_mass", "right_foot_mass", "left_thigh_mass", "friction")

UNCHANGED = {
    "uph_cost_weight": only(1, 'it has no effect in the original; here `weights={"height": ...}`'),
    "ctrl_cost_weight": same_as("control"),
    "impact_cost_weight": only(humanoid.CONTACT_COST, humanoid.CLIPPED),
    "impact_cost_range": only((-math.inf, 10.0), "contact costs are at most 10"),
}
SPEC = world(
    "HumanoidStandup-v0",
    doc=__doc__,
    source="Gymnasium HumanoidStandup-v5 (Tassa, Erez and Todorov, IROS 2012)",
    params={name: humanoid.SPEC.params[name] for name in (*BODY, "damping")},
    state={**{name: humanoid.SPEC.state[name] for name in READINGS}, **STATE},
    observation=humanoid.SPEC.observation,
    action=continuous(*humanoid.NAMES, low=-humanoid.STRONGEST, high=humanoid.STRONGEST),
    terms={
        "height": term(-HIGHEST / TICK, HIGHEST / TICK, 1.0, "height of the torso over 3 ms, m/s"),
        "alive": term(0.0, 1.0, 1.0, "1 in every step"),
        "control": term(-humanoid.MOST_EFFORT, 0.0, humanoid.CONTROL_COST, "negative sum of squares of the action"),
        "contact": term(
            -humanoid.MOST_CONTACT, 0.0, humanoid.CONTACT_COST, "negative sum of squares of contact forces"
        ),
    },
    published=published("Gymnasium HumanoidStandup-v5", "float64", low=-math.inf, high=math.inf),
    horizon=1000,
    fps=humanoid.FPS,
    engine=ENGINE,
    options={"compat": compat()},
    drop_in=machines(5, UNCHANGED, always(*READINGS), OF_WALKERS),
    levels={"easy": {"strength": 1.5}, "medium": {}, "hard": {"strength": 0.8, "friction": 0.5}},
)


@SPEC.model
def model(values):
    return humanoid.embodied("humanoidstandup.xml", values)


@SPEC.reset
def reset(p, s, rng):
    start_near(p, s, rng)


@SPEC.act
def act(p, s, a, rng):
    turn_motors(s, a)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    pressed = 0.0
    for i in range(s.cfrc_ext.shape[0]):
        for j in range(6):
            pressed += s.cfrc_ext[i, j] * s.cfrc_ext[i, j]
    r.height = min(max(s.qpos[2], -HIGHEST), HIGHEST) / TICK
    r.alive = 1.0
    r.control, r.contact = -effort(a), -min(pressed, humanoid.MOST_CONTACT)


SPEC.observe(humanoid.observe)


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"torso {s.qpos[2]:.2f} m high")
