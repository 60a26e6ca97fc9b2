"""Bring the hand to a point.

## Description

PandaReach of panda-gym (Gallouédec et al., arXiv 2106.13687), on MuJoCo: a Panda moves its hand to a goal that is drawn
anew for every episode. The fingers are closed.

## Starting State

The arm is in its neutral pose. The goal is uniform in a box around the middle of the table, at least the threshold away
from the hand.

## Episode End

After 50 steps (2 s), or, with `ends_at_success`, when the hand is within the threshold of the goal.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, f4, param, uniform, world
from rlenvs.core.errors import ParameterError
from rlenvs.robotics.engines.mujoco import ENGINE
from rlenvs.robotics.manipulation import arm, panda

FARTHEST = 2.0  # m, more than the arm reaches

SPEC = world(
    "PandaReach-v0",
    doc=__doc__,
    params={
        **arm.PARAMS,
        "threshold": param(0.05, 0.005, 0.1, "m", "distance at which the goal counts as reached"),
        "goal_width": param(0.3, 0.05, 0.6, "m", "side of the square of goals"),
        "goal_height": param(0.3, 0.05, 0.6, "m", "of the highest goal above the table"),
    },
    options={**arm.OPTIONS, "fingers": arm.NO_FINGERS, "reward": arm.REWARD, "ends_at_success": arm.ENDS},
    state={**arm.state(), "achieved": f4(3), "desired": f4(3)},
    observation={
        **arm.ARM_BLOCKS,
        "achieved": block(3, low=-2.0, high=2.0, unit="m", doc="position of the hand", raw=True),
        "desired": block(3, low=-2.0, high=2.0, unit="m", doc="goal", raw=True),
    },
    goal=("achieved", "desired"),
    action=arm.action,
    terms=arm.goal_terms(FARTHEST),
    horizon=50,
    fps=arm.FPS,
    sizes=arm.sizes,
    engine=ENGINE,
    levels={
        "easy": {"goal_width": 0.2, "goal_height": 0.2},
        "medium": {},
        "hard": {"goal_width": 0.5, "goal_height": 0.45, "threshold": 0.02},
    },
)


@SPEC.model
def model(values):
    farthest = math.hypot(panda.NEUTRAL_GRIP[0] + 0.5 * values.goal_width, 0.5 * values.goal_width)
    if farthest <= 1.5 * values.threshold:
        raise ParameterError(
            f"all goals lie within 1.5 thresholds of the hand's start: goal_width={values.goal_width:g}, "
            f"threshold={values.threshold:g}; widen the goals or lower the threshold"
        )
    spec = panda.scene(values)
    panda.add_goal(spec, "goal", values.threshold)
    return spec


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    for _ in range(arm.TRIES):
        for j in range(2):
            s.desired[j] = uniform(rng, -0.5 * p.goal_width, 0.5 * p.goal_width)
        s.desired[2] = uniform(rng, 0.02, p.goal_height)
        if arm.distance(s.desired, panda.NEUTRAL_GRIP) > 1.5 * p.threshold:
            break
    for j in range(3):
        s.mocap_pos[1, j] = s.desired[j]


@SPEC.placed
def placed(p, s, rng):
    arm.start(s, 0)
    for j in range(3):
        s.achieved[j] = s.grip[0, j]


@SPEC.act
def act(p, s, a, rng):
    arm.drive(p, s, a, 0)


@SPEC.grade
def grade(p, achieved, desired, r):
    distance = arm.distance(achieved, desired)
    r.success = distance <= p.threshold
    r.reached = 0.0 if r.success else -1.0
    r.distance = -min(distance, FARTHEST)
    r.terminated = p.ends_at_success == 1 and r.success


@SPEC.judge
def judge(p, s, a, rng, r):
    for j in range(3):
        s.achieved[j] = s.grip[0, j]
    grade(p, s.achieved, s.desired, r)


@SPEC.observe
def observe(p, s, o):
    arm.observe_arm(p, s, 0, o)
    for j in range(3):
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


@SPEC.expert
def expert(p, s, a):
    arm.steer(s, 0, s.desired[0], s.desired[1], s.desired[2], a)
