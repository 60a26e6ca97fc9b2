"""Hit a puck with a robot arm so that it slides to a goal out of reach.

## Description
PandaSlide of panda-gym (Gallouédec et al., arXiv 2106.13687), on MuJoCo: a Panda with closed fingers makes a puck of 6
cm and 1 kg slide on a slippery table to a goal beyond the reach of the hand. Different from the original: actions move
a target ahead of the hand, not the hand relative to its current position; the friction of puck and table is 0.04, where
Bullet multiplies frictions to 0.02, and the fingers can drag the puck, with hardly any friction there (0.04); a goal is
never within 1.5 thresholds of the puck at the start; the puck's position relative to the hand is also observed, and its
attitude is a quaternion; an episode goes on at success (`ends_at_success` changes that) and has 75 steps, not 50, since
a puck slides for up to 1.8 s; the puck starts on the table and goals are at the center height of a resting puck, both
15 mm lower than there; contacts are MuJoCo's. All moments of inertia of the puck are set to the largest one; with the
true values it would gain energy in the air. `level="panda-gym"` has the original's actions, frictions, length and
termination.

## Action Space
Depending on `control`: the target of the hand in world axes, the same with three rotations, seven joints, or
displacements of the hand. The target stays within `reach` of the hand, and is observed only with `target`.

## Observation Space
The hand, then the puck, its position relative to the hand, and last the goals: the achieved goal is the position of the
puck.

## Rewards
With `reward="sparse"` -1 for each step that ends without reaching the goal, otherwise 0. With `reward="dense"` the
negative distance from the puck to the goal, in meters. With `reward="shaped"`, 0.3 for a hand at the puck and 0.7 for a
puck at the goal, both decreasing with the distance; a hand that follows the puck receives more than one that stays.

## Costs
None.

## Starting State
The arm is in panda-gym's neutral pose, fingers closed. The puck is uniform in a square around the middle of the table,
the goal in a rectangle beyond it, drawn jointly until they are 1.5 thresholds apart.

## Episode End
Truncation: 75 steps (3 s). Termination: with `ends_at_success`, when the puck is within the threshold of the goal.
Success means that it is there at the end of a step, sliding or not.

## Parameters
The table extends from x = -0.8 m to 0.6 m, 5 cm beyond the farthest allowed goal. Within the ranges, starts and goals
can always be 1.5 thresholds apart.

## Reference Scores
Mean return over fixed seeds. The expert drags the puck with the spring of the hand. It succeeds in 100 of 100
episodes, also with `control="pose"`, and in none with "joints". With "panda-gym" it can only hit the puck, which slides
past the goal: 98 of 100 with `ends_at_success` (95 with `level="panda-gym"`), but 8 without, because the puck has to be
at the goal at the end.

## Version History
v0: first version.
"""

import math
from dataclasses import replace

from rlenvs.core import kernel, maths, param, uniform
from rlenvs.kits.engines.mujoco_parts import add_camera, add_goal
from rlenvs.kits.engines.overlays import View
from rlenvs.robotics.manipulation import arm, moving, panda

TABLE = (-0.8, 0.6)  # m, along x, longer than for other tasks
PUCK = panda.ARM_QPOS  # where the puck's free joint begins in qpos
GRAVITY = 9.81  # m/s^2, MuJoCo's
# the scripted expert's
TIP = 0.009  # m, of the finger tips below the hand's position
AROUND = 0.02  # m, from the middle of the puck, where the hand presses on it
PRESS = 0.027  # m, of the target below the top of the puck
CLEARANCE = 0.06  # m, of the lifted hand
STANDS = 0.05  # m/s, slower counts as standing
DRIFT = 0.09  # of the wanted speed, aside, at most
BACK, SHIFT = 0.16, 0.3  # m, and s of the wanted speed: x where a run begins
RUN, MUST = 0.1, 0.85  # m, of a run, and the share of the wanted speed that it has to give
FASTEST = 0.5  # m/s, of the hand
BOOST = 1.12  # of the wanted speed, since the hand stays behind its target
SOFT = 0.4  # m/s, of feedback at most, so that the puck does not slip
LAG = 0.07  # s, by which the hand follows its target at constant speed
KEEP = 0.8  # of its speed when the hand lets go, so that it does not speed up
BRAKE = 0.05  # s, of travel by which the hand stops early
# in panda-gym's control
TIP_HALF = (0.009, 0.01)  # m, half sides of the closed finger tips
HIT_HEIGHT, CROSSING, WAIT = 0.02, 0.12, 0.15  # m, of the hand when it hits, goes over the puck, and has hit it
RUN_UP = 0.06  # m
VIEW = View((0.9, -0.9, 0.72), (0.1, 0.0, 0.06), 45.0)

SPEC = arm.task(
    "PandaSlide-v0",
    doc=__doc__,
    source="panda-gym PandaSlide (Gallouédec et al., arXiv 2106.13687)",
    params={
        "finger_friction": replace(arm.PARAMS["finger_friction"], low=0.04),
        "mass": param(1.0, 0.1, 2.0, "kg", "of the puck"),
        "friction": param(0.04, 0.02, 0.2, "", "sliding friction between puck and table"),
        "radius": param(0.03, 0.02, 0.04, "m", "of the puck"),
        "height": param(0.03, 0.02, 0.05, "m", "of the puck"),
        "threshold": param(0.05, 0.005, 0.1, "m", "distance at which the goal counts as reached"),
        "start_width": param(0.3, 0.0, 0.3, "m", "side of the square in which the puck starts"),
        "goal_near": param(0.25, 0.2, 0.4, "m", "x of the nearest goal"),
        "goal_far": param(0.55, 0.4, 0.55, "m", "x of the farthest goal"),
        "goal_width": param(0.3, 0.0, 0.6, "m", "range of goals along y"),
    },
    options={
        "fingers": arm.NO_FINGERS,
        "reward": moving.reward("terms for the closeness of hand, puck and goal", near=0.3, placed=0.7),
        "ends_at_success": arm.ENDS,
    },
    state=moving.state("puck"),
    observation=moving.blocks("puck", farthest=1.0, level=True),
    goal=("achieved", "desired"),
    terms=moving.terms("puck"),
    horizon=75,
    levels={
        "easy": {"start_width": 0.2, "goal_far": 0.4, "goal_width": 0.2},
        "medium": {},
        "hard": {"goal_near": 0.35, "goal_width": 0.4},
        "panda-gym": {**arm.AS_PUBLISHED, "friction": 0.02, "finger_friction": 0.04, "horizon": 50},
    },
)


@SPEC.model
def model(values):
    spec = panda.scene(values, table=TABLE)
    spec.delete(spec.camera("overview"))
    add_camera(spec, "overview", *VIEW)
    size = (values.radius, 0.5 * values.height)
    panda.add_object(spec, "puck", "CYLINDER", size, values.mass, values.friction, rgba=moving.ORANGE)
    add_goal(spec, "goal", values.threshold)
    return spec


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    x = y = 0.0
    for _ in range(arm.TRIES):
        x = uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
        y = uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
        s.desired[0] = uniform(rng, p.goal_near, p.goal_far)
        s.desired[1] = uniform(rng, -0.5 * p.goal_width, 0.5 * p.goal_width)
        if maths.hypot(s.desired[0] - x, s.desired[1] - y) > moving.CLEAR * p.threshold:
            break
    s.desired[2] = 0.5 * p.height
    arm.put(s, PUCK, x, y, 0.5 * p.height, 0.0)
    for j in range(3):
        s.mocap_pos[1, j] = s.desired[j]


@SPEC.after_reset
def after_reset(p, s, rng):
    moving.start(s, s.puck)


SPEC.act(moving.act)
SPEC.goal_outcome(moving.goal_outcome)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    moving.outcome(p, s, s.puck, r)


@SPEC.observe
def observe(p, s, o):
    moving.observe(p, s, s.puck, o)
    arm.observe_object(
        *(s.puck, s.puck_attitude, s.puck_velocity, s.puck_spin),
        *(o.puck, o.puck_attitude, o.puck_velocity, o.puck_spin),
    )


@SPEC.draw
def draw(canvas, p, s):
    moving.draw(canvas, p, s, s.puck, "puck", view=VIEW)


# --- the scripted expert ----------------------------------------------------------------------------------------------


@SPEC.expert
def expert(p, s, a):
    """Press on the puck from above, drag it until it has the speed with which it slides to the goal, and lift the hand.

    Dragged so, it neither turns nor drifts aside; a puck that is hit does both. Made for the spring of the hand: in
    joint control it fails. In panda-gym's, where the hand follows at once, it hits, and the puck passes the goal.
    """
    if p.control == arm.FROM_HAND:
        hit(p, s, a)
        return
    x, y = s.desired[0] - s.puck[0], s.desired[1] - s.puck[1]
    distance = maths.hypot(x, y) + 1e-9
    nx, ny = x / distance, y / distance
    speed = s.puck_velocity[0] * nx + s.puck_velocity[1] * ny
    drift = s.puck_velocity[1] * nx - s.puck_velocity[0] * ny
    wanted = math.sqrt(2.0 * p.friction * GRAVITY * distance)
    top = s.puck[2] + 0.5 * p.height + TIP  # of the hand when its tips touch the puck
    back = BACK - SHIFT * wanted
    vx, vy, z = 0.0, 0.0, top - PRESS
    if not (on_puck(s) and s.grip[0, 2] < top + 0.003):
        vx, vy, z = approach(p, s, distance, top)
    elif speed < wanted * min((s.puck[0] - back) / RUN, MUST):  # it would not get fast enough: take a run
        vx = -min(FASTEST, 10.0 * (s.puck[0] - back + 0.02))
    elif fast_enough(s, speed, wanted) and abs(drift) < DRIFT * wanted:
        vx, vy, z = KEEP * s.grip_velocity[0, 0], KEEP * s.grip_velocity[0, 1], top + CLEARANCE
    else:
        vx, vy = BOOST * wanted * nx, BOOST * wanted * ny
        vx += min(max(vx - s.grip_velocity[0, 0], -SOFT), SOFT)
        vy += min(max(vy - s.grip_velocity[0, 1], -SOFT), SOFT)
    arm.bring(p, s, s.grip[0, 0] + LAG * vx, s.grip[0, 1] + LAG * vy, z, -1.0, a)


@kernel
def hit(p, s, a):
    """Stand behind the puck, and hit it along the way to the goal with a corner of the finger tips, whose faces would
    give it their own direction; lift the hand when it is fast enough."""
    x, y = s.desired[0] - s.puck[0], s.desired[1] - s.puck[1]
    distance = maths.hypot(x, y) + 1e-9
    nx, ny = x / distance, y / distance
    wanted = math.sqrt(2.0 * p.friction * GRAVITY * distance)
    # where the hand is when its corner touches the puck
    touch_x = s.puck[0] - p.radius * nx - math.copysign(TIP_HALF[0], nx)
    touch_y = s.puck[1] - p.radius * ny - math.copysign(TIP_HALF[1], ny)
    hx, hy, z = s.grip[0, 0] - touch_x, s.grip[0, 1] - touch_y, s.grip[0, 2]
    ahead, aside = hx * nx + hy * ny, hy * nx - hx * ny
    start_x, start_y = touch_x - RUN_UP * nx, touch_y - RUN_UP * ny
    off = maths.hypot(start_x - s.grip[0, 0], start_y - s.grip[0, 1])
    stands = maths.hypot(s.puck_velocity[0], s.puck_velocity[1]) < STANDS
    low = z < HIT_HEIGHT + 0.02 and ahead < 0.03 and abs(aside) < 0.02
    if not stands and (s.puck_velocity[0] * nx + s.puck_velocity[1] * ny > BOOST * wanted or ahead > 0.1):
        arm.bring(p, s, s.grip[0, 0], s.grip[0, 1], WAIT, -1.0, a)
    elif low and (not stands or abs(aside) < 0.003):
        step = BOOST * wanted / panda.CONTROL_HZ
        x, y = s.grip[0, 0] + step * nx + aside * ny, s.grip[0, 1] + step * ny - aside * nx
        arm.bring(p, s, x, y, HIT_HEIGHT, -1.0, a)
    elif low or off < 0.012:
        arm.bring(p, s, start_x, start_y, HIT_HEIGHT, -1.0, a)
    elif z > 0.08 or off < 0.03:
        arm.bring(p, s, start_x, start_y, CROSSING, -1.0, a)
    else:
        arm.bring(p, s, s.grip[0, 0], s.grip[0, 1], CROSSING, -1.0, a)


@kernel
def on_puck(s):
    return maths.hypot(s.puck[0] - s.grip[0, 0], s.puck[1] - s.grip[0, 1]) < AROUND


@kernel
def approach(p, s, distance, top):
    """The hand's velocity and height on its way to the puck; while the puck slides, it waits above."""
    if maths.hypot(s.puck_velocity[0], s.puck_velocity[1]) > STANDS or distance < 0.9 * p.threshold:
        return 0.0, 0.0, top + CLEARANCE
    hx, hy = s.puck[0] - s.grip[0, 0], s.puck[1] - s.grip[0, 1]
    z = top - PRESS if on_puck(s) else top + 0.015
    return 12.0 * (hx - BRAKE * s.grip_velocity[0, 0]), 12.0 * (hy - BRAKE * s.grip_velocity[0, 1]), z


@kernel
def fast_enough(s, speed, wanted):
    """Whether to let go; far out the arm will not make the puck faster, so a little less has to do."""
    less = 0.04 + 0.4 * max(s.puck[0] - 0.03, 0.0)
    return -less * wanted < speed - wanted < 0.01 * wanted
