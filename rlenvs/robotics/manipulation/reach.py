"""Move the hand of a robot arm to a goal position.

## Description
PandaReach of panda-gym (Gallouédec et al., arXiv 2106.13687), on MuJoCo: a Panda moves its hand to a random goal. The
fingers are closed. Size of the box of goals, threshold and control rate are the original's. Different: actions move a
target ahead of the hand, not the hand relative to its current position, so at full action it moves 3 cm per step,
compared with 4 to 5 cm in the original (`control="panda-gym"` has the original's meaning, and `level="panda-gym"` also
its termination at success); goals start 2 cm above the table instead of on it, and none is at the hand's start; the
hand is driven by a spring, not by inverse kinematics; an episode continues after success, unless `ends_at_success` is
set.

## Action Space
Depending on `control`: the target of the hand in world axes, the same with three rotations, seven joints, or
displacements of the hand. The target stays within `reach` of the hand; joint targets stay within 0.15 rad of the
joints. The target is observed only with `target`.

## Observation Space
The end effector is the point between the finger tips. In the order above: position and velocity of the hand, the width
of the fingers if they move, the joints if they are controlled; then the position of the hand again as the achieved
goal, and the desired goal. With `form="goal"` these two are `achieved_goal` and `desired_goal`, the others
`observation`, which by default has panda-gym's six numbers.

## Rewards
With `reward="sparse"` -1 for each step that ends without reaching the goal, otherwise 0. With `reward="dense"` the
negative distance to the goal, in meters.

## Costs
None.

## Starting State
The arm is in panda-gym's neutral pose, the hand at (0.038, 0, 0.199) m. The goal is uniform in a box over the middle
of the table, redrawn until it is at least 1.5 thresholds from the hand and can be reached with the fingers down (at the
default size the whole box can; at the corners of the hard level's box the arm is too short).

## Episode End
Truncation: 50 steps (2 s). Termination: with `ends_at_success`, when the hand is within the threshold of the goal.
Success means that it is there at the end of a step.

## Parameters
The parameters of arm and controller are shared by all arm tasks. Boxes in which less than a fifth of the goals can be
reached and are not too near the start are refused. A small `reach` makes the hand slow: at most `stiffness` times
`reach` over `damping`.

## Reference Scores
Mean return over fixed seeds.

## Version History
v0: first version.
"""

import functools
from types import SimpleNamespace

from rlenvs.core import block, f4, kernel, param, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco_parts import add_goal
from rlenvs.kits.engines.overlays import Way, apart, draw_ways
from rlenvs.robotics.manipulation import arm, panda

FARTHEST = 2.0  # m, more than the arm reaches
LOWEST = 0.02  # m, of goals
APART = 1.5  # thresholds between the hand's start and the goal
LEAST = 0.2  # of the goals have to fit, for TRIES to find one

SPEC = arm.task(
    "PandaReach-v0",
    doc=__doc__,
    source="panda-gym PandaReach (Gallouédec et al., arXiv 2106.13687)",
    params={
        "threshold": param(0.05, 0.005, 0.1, "m", "distance at which the goal counts as reached"),
        "goal_width": param(0.3, 0.05, 0.6, "m", "side of the square of goals"),
        "goal_height": param(0.3, 0.05, 0.6, "m", "height of the highest goal"),
    },
    options={"fingers": arm.NO_FINGERS, "reward": arm.REWARD, "ends_at_success": arm.ENDS},
    state={**arm.state(), "achieved": f4(3), "desired": f4(3)},
    observation={
        **arm.ARM_BLOCKS,
        "achieved": block(3, low=-2.0, high=2.0, unit="m", doc="position of the hand", raw=True),
        "desired": block(3, low=-2.0, high=2.0, unit="m", doc="goal", raw=True),
    },
    goal=("achieved", "desired"),
    terms=arm.goal_terms(FARTHEST),
    horizon=50,
    levels={
        "easy": {"goal_width": 0.2, "goal_height": 0.2},
        "medium": {},
        "hard": {"goal_width": 0.6, "goal_height": 0.6, "threshold": 0.02},
        "panda-gym": {"control": "panda-gym", "ends_at_success": True},
    },
)


@kernel
def fits(p, x, y, z):
    """Whether a goal can be reached and is not at the hand's start."""
    return arm.stretch(x, y, z) <= arm.STRETCH and arm.distance((x, y, z), panda.NEUTRAL_GRIP) > APART * p.threshold


@functools.lru_cache(maxsize=256)
def share_that_fits(width, height, threshold):
    """The part of the goals of a box that fit."""
    parts = [i / 6.0 for i in range(7)]
    goals = [
        (width * (x - 0.5), width * (y - 0.5), LOWEST + (height - LOWEST) * z)
        for x in parts
        for y in parts
        for z in parts
    ]
    return sum(fits(SimpleNamespace(threshold=threshold), *goal) for goal in goals) / len(goals)


@SPEC.model
def model(values):
    width, height = values.goal_width, values.goal_height
    share = share_that_fits(width, height, values.threshold)
    if share < LEAST:
        raise ParameterError(
            f"of the goals in goal_width={width:g}, goal_height={height:g} only {share:.0%} can be reached and are "
            f"{APART} thresholds from the hand's start, at least {LEAST:.0%} are required; change the box or lower "
            f"threshold={values.threshold:g}"
        )
    spec = panda.scene(values)
    add_goal(spec, "goal", values.threshold)
    return spec


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    for _ in range(arm.TRIES):
        for j in range(2):
            s.desired[j] = uniform(rng, -0.5 * p.goal_width, 0.5 * p.goal_width)
        s.desired[2] = uniform(rng, LOWEST, p.goal_height)
        if fits(p, s.desired[0], s.desired[1], s.desired[2]):
            break
    for j in range(3):
        s.mocap_pos[1, j] = s.desired[j]


@SPEC.after_reset
def after_reset(p, s, rng):
    arm.start(s, 0)
    for j in range(3):
        s.achieved[j] = s.grip[0, j]


@SPEC.act
def act(p, s, a, rng):
    arm.drive(p, s, a, 0)


@SPEC.goal_outcome
def goal_outcome(p, achieved, desired, r):
    arm.goal_outcome(p, achieved, desired, FARTHEST, r)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    for j in range(3):
        s.achieved[j] = s.grip[0, j]
    goal_outcome(p, s.achieved, s.desired, r)


@SPEC.observe
def observe(p, s, o):
    arm.observe_arm(p, s, 0, o)
    for j in range(3):
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


@SPEC.expert
def expert(p, s, a):
    if p.control == arm.JOINTS:
        arm.steer_joints(s, s.desired[0], s.desired[1], s.desired[2], a)
    else:
        arm.steer(s, 0, s.desired[0], s.desired[1], s.desired[2], a)


@SPEC.draw
def draw(canvas, p, s):
    way = Way(s.grip[0], s.desired, p.threshold, "orange")
    legend = [("green", "goal", "ring"), ("orange", "hand", "disc")]
    told = f"hand {apart(s.grip[0], s.desired)} from the goal"
    draw_ways(canvas, [way], legend, told, view=panda.OVERVIEW)
