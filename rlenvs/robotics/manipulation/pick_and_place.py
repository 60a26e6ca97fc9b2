"""Pick up a cube and move it to a goal on the table or in the air with a robot arm.

## Description
PandaPickAndPlace of panda-gym (Gallouédec et al., arXiv 2106.13687), on MuJoCo: a Panda grips a cube of 4 cm and 1 kg
and moves it to a goal; 30 % of the goals are on the table. Different from the original: actions move targets ahead of
the hand and of the fingers, not the hand and the fingers relative to their current positions; the friction of cube and
table is 0.5 and that of the fingers 1, where Bullet multiplies frictions to 0.25 and 0.5; a goal is never within 1.5
thresholds of the cube at the start; the cube's position relative to the hand is also observed, and its attitude is a
quaternion; an episode continues after success (`ends_at_success` changes that); contacts are MuJoCo's.
`level="panda-gym"` has the original's actions, frictions and termination.

## Action Space
Depending on `control`: the target of the hand in world axes, the same with three rotations, seven joints, or
displacements of the hand; the last number controls the fingers. The action also moves a target of the fingers: closed
fingers keep holding with an action of 0, except with `control="panda-gym"`, where they let go, as in the original. They
move at up to 0.2 m/s each. Targets are observed only with `target`.

## Observation Space
The hand, then the cube, its position relative to the hand, and last the goals: the achieved goal is the position of the
cube.

## Rewards
With `reward="sparse"` -1 for each step that ends without reaching the goal, otherwise 0. With `reward="dense"` the
negative distance from the cube to the goal, in meters. With `reward="shaped"`, 0.2 for a hand at the cube, 0.3 for
holding it, 0.5 for a cube at the goal, the first and the last decreasing with the distance.

## Costs
None.

## Starting State
The arm is in panda-gym's neutral pose, fingers open. The cube is on the table, uniform in a square around the middle,
rotated by up to `yaw` to either side. The goal is uniform over a square; with probability `on_table` it is on the
table, otherwise its height is uniform; it is redrawn until it is 1.5 thresholds from the cube.

## Episode End
Truncation: 50 steps (2 s). Termination: with `ends_at_success`, when the cube is within the threshold of the goal.
Success means that it is there at the end of a step; the hand may hold it.

## Parameters
The ranges of widths and heights are limited to what the hand can reach with its fingers down. A square of goals smaller
than four thresholds is refused, because every goal might be reached at the start.

## Reference Scores
Mean return over fixed seeds.

## Version History
v0: first version.
"""

from rlenvs.core import param, term, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco_parts import add_goal
from rlenvs.robotics.manipulation import arm, moving, panda

CUBE = panda.ARM_QPOS  # where the cube's free joint begins in qpos

SPEC = arm.task(
    "PandaPickAndPlace-v0",
    doc=__doc__,
    source="panda-gym PandaPickAndPlace (Gallouédec et al., arXiv 2106.13687)",
    params={
        "mass": param(1.0, 0.1, 2.0, "kg", "of the cube"),
        "friction": param(0.5, 0.1, 1.0, "", "sliding friction between cube and table"),
        "side": param(0.04, 0.03, 0.06, "m", "of the cube"),
        "threshold": param(0.05, 0.005, 0.07, "m", "distance at which the goal counts as reached"),
        "start_width": param(0.3, 0.0, 0.34, "m", "side of the square in which the cube starts"),
        "goal_width": param(0.3, 0.2, 0.34, "m", "side of the square of goals"),
        "goal_height": param(0.2, 0.05, 0.3, "m", "height of the highest goal above those on the table"),
        "on_table": param(0.3, 0.0, 1.0, "", "fraction of goals on the table"),
        "yaw": param(0.0, 0.0, 0.5, "rad", "largest rotation of the cube at the start"),
    },
    options={
        "reward": moving.reward("terms for reaching, holding and placing", near=0.2, held=0.3, placed=0.5),
        "ends_at_success": arm.ENDS,
    },
    state=moving.state("cube"),
    observation=moving.blocks("cube", farthest=0.5, level=False),
    goal=("achieved", "desired"),
    terms={**moving.terms("cube"), "held": term(0.0, 1.0, 0.0, "1 while the fingers hold the cube")},
    horizon=50,
    levels={
        "easy": {"start_width": 0.2, "goal_width": 0.2, "goal_height": 0.1},
        "medium": {},
        "hard": {"goal_height": 0.3, "threshold": 0.02, "yaw": 0.4},
        "panda-gym": {**arm.AS_PUBLISHED, "friction": 0.25},
    },
)


@SPEC.model
def model(values):
    if not values.fingers:
        raise ParameterError("fingers=False: nothing can be picked up without them; leave them on, or use PandaPush-v0")
    if values.goal_width < 4.0 * values.threshold - 1e-9:
        raise ParameterError(
            f"goal_width={values.goal_width:g} is less than four thresholds, threshold={values.threshold:g}: a goal "
            f"might be reached at the start; widen the goals or lower the threshold"
        )
    spec = panda.scene(values)
    half = 0.5 * values.side
    panda.add_object(spec, "cube", "BOX", (half, half, half), values.mass, values.friction, rgba=moving.ORANGE)
    add_goal(spec, "goal", values.threshold, (0.0, 0.62, 0.45, 0.3))
    return spec


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    half = 0.5 * p.side
    x = uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
    y = uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
    arm.put(s, CUBE, x, y, half, uniform(rng, -p.yaw, p.yaw))
    for _ in range(arm.TRIES):
        for j in range(2):
            s.desired[j] = uniform(rng, -0.5 * p.goal_width, 0.5 * p.goal_width)
        s.desired[2] = half
        if uniform(rng, 0.0, 1.0) >= p.on_table:
            s.desired[2] = half + uniform(rng, 0.0, p.goal_height)
        if arm.distance(s.desired, s.qpos[CUBE : CUBE + 3]) > moving.CLEAR * p.threshold:
            break
    for j in range(3):
        s.mocap_pos[1, j] = s.desired[j]


@SPEC.after_reset
def after_reset(p, s, rng):
    moving.start(s, s.cube)


SPEC.act(moving.act)
SPEC.goal_outcome(moving.goal_outcome)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    moving.outcome(p, s, s.cube, r)
    r.held = 1.0 if arm.holds(s, s.cube) else 0.0


@SPEC.observe
def observe(p, s, o):
    moving.observe(p, s, s.cube, o)
    arm.observe_object(
        *(s.cube, s.cube_attitude, s.cube_velocity, s.cube_spin),
        *(o.cube, o.cube_attitude, o.cube_velocity, o.cube_spin),
    )


@SPEC.expert
def expert(p, s, a):
    if arm.holds(s, s.cube):
        arm.carry(p, s, s.cube, s.desired[0], s.desired[1], s.desired[2], 0.5 * p.side + 0.01, a)
    else:
        arm.take(p, s, s.cube, s.cube[2] + 0.5 * p.side + 0.02, a)


@SPEC.draw
def draw(canvas, p, s):
    moving.draw(canvas, p, s, s.cube, "cube")
