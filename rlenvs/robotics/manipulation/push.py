"""Push a cube to a goal on the table with a robot arm.

## Description
PandaPush of panda-gym (Gallouédec et al., arXiv 2106.13687), on MuJoCo: a Panda with closed fingers pushes a cube of
4 cm and 1 kg to a goal on the table. Different from the original: actions move a target ahead of the hand, not the hand
relative to its current position; the friction is 0.5, where Bullet multiplies those of cube and table to 0.25; a goal
is never within 1.5 thresholds of the cube at the start; the hand starts low, as in Fetch, since this arm is
gravity-compensated and random actions would keep it in the air (panda-gym's sinks); the cube's position relative to the
hand is also observed, and its attitude is a quaternion; an episode continues after success (`ends_at_success` changes
that); contacts are MuJoCo's. `level="panda-gym"` has the original's actions, friction, start and termination; goals and
observation are unchanged.

## Action Space
Depending on `control`: the target of the hand in world axes, the same with three rotations, seven joints, or
displacements of the hand. The target stays within `reach` of the hand, and is observed only with `target`.

## Observation Space
The hand, then the cube, its position relative to the hand, and last the goals: the achieved goal is the position of the
cube.

## Rewards
With `reward="sparse"` -1 for each step that ends without reaching the goal, otherwise 0. With `reward="dense"` the
negative distance from the cube to the goal, in meters. With `reward="shaped"`, 0.3 for a hand at the cube and 0.7 for a
cube at the goal, both decreasing with the distance.

## Costs
None.

## Starting State
The hand is 5 cm above the table, fingers closed; with `start="neutral"` the arm is in panda-gym's neutral pose, 20 cm
above it. Cube and goal are uniform in squares around the middle of the table, drawn jointly until they are 1.5
thresholds apart and the cube is clear of the hand. The cube is aligned with the axes.

## Episode End
Truncation: 50 steps (2 s). Termination: with `ends_at_success`, when the cube is within the threshold of the goal.
Success means that it is there at the end of a step.

## Parameters
The ranges of widths are limited so that the hand can get behind the cube with its fingers down. Squares in which cube
and goal cannot be three thresholds apart are refused, because hardly any draw would be far enough from success.

## Reference Scores
Mean return over fixed seeds.

## Version History
v0: first version.
"""

import math

from rlenvs.core import choice, kernel, maths, param, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco_parts import add_goal
from rlenvs.robotics.manipulation import arm, moving, panda

CUBE = panda.ARM_QPOS  # where the cube's free joint begins in qpos
ASIDE = 0.07  # m in the plane, between a low hand and the cube at the start
# the scripted expert's, m
FINGER = 0.01  # half of the closed finger tips
HEIGHT = 0.02  # of the hand when it pushes
BEFORE = 0.01  # between fingers and cube when it comes down
OVER = 0.03  # of the hand above the cube when it goes over it
GAP = 0.03  # behind a face and nearer than that it pushes
CONTACT = 0.006  # nearer than that it counts as touching
SLACK = 0.025  # to either side of the place from which it pushes
OFFSET = 0.01  # of that place from the middle of a face, at most
LEAD = 0.1  # of the target before the hand, at most
LAG = 0.08  # s, by which the hand follows its target at constant speed
BRAKE = 0.05  # s, of travel by which the target is taken back
# in panda-gym's control
STAND_OFF, CROSSING = 0.05, 0.12  # m, behind the cube, and above the table on the way there
FASTEST = 0.03  # m per control step, of the hand when it pushes

START = choice("low", "neutral", doc="where the hand starts: near the table, or in panda-gym's pose")
LOW, NEUTRAL = START.codes("low", "neutral")

SPEC = arm.task(
    "PandaPush-v0",
    doc=__doc__,
    source="panda-gym PandaPush (Gallouédec et al., arXiv 2106.13687)",
    params={
        "mass": param(1.0, 0.1, 2.0, "kg", "of the cube"),
        "friction": param(0.5, 0.1, 1.0, "", "sliding friction between cube and table"),
        "side": param(0.04, 0.03, 0.05, "m", "of the cube"),
        "threshold": param(0.05, 0.005, 0.1, "m", "distance at which the goal counts as reached"),
        "start_width": param(0.3, 0.1, 0.3, "m", "side of the square in which the cube starts"),
        "goal_width": param(0.3, 0.0, 0.36, "m", "side of the square of goals"),
    },
    options={
        "fingers": arm.NO_FINGERS,
        "reward": moving.reward("terms for the closeness of hand, cube and goal", near=0.3, placed=0.7),
        "start": START,
        "ends_at_success": arm.ENDS,
    },
    state=moving.state("cube"),
    observation=moving.blocks("cube", farthest=0.5, level=True),
    goal=("achieved", "desired"),
    terms=moving.terms("cube"),
    horizon=50,
    levels={
        "easy": {"start_width": 0.2, "goal_width": 0.2},
        "medium": {},
        "hard": {"threshold": 0.025},
        "panda-gym": {**arm.AS_PUBLISHED, "friction": 0.25, "start": "neutral"},
    },
)


@SPEC.model
def model(values):
    farthest, needed = math.sqrt(0.5) * (values.start_width + values.goal_width), 2.0 * moving.CLEAR
    if farthest < needed * values.threshold:
        raise ParameterError(
            f"start_width={values.start_width:g} and goal_width={values.goal_width:g} leave at most {farthest:.3g} m "
            f"between cube and goal, and {needed:g} thresholds are needed, threshold={values.threshold:g}; widen the "
            "squares or lower the threshold"
        )
    spec = panda.scene(values)
    half = 0.5 * values.side
    panda.add_object(spec, "cube", "BOX", (half, half, half), values.mass, values.friction, rgba=moving.ORANGE)
    add_goal(spec, "goal", values.threshold)
    return spec


@SPEC.reset
def reset(p, s, rng):
    if p.start == LOW:
        arm.crouch(p, s, 0)
    else:
        arm.pose(p, s, 0)
    x = y = 0.0
    for _ in range(arm.TRIES):
        x = uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
        y = uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
        for j in range(2):
            s.desired[j] = uniform(rng, -0.5 * p.goal_width, 0.5 * p.goal_width)
        aside = p.start == NEUTRAL or maths.hypot(x - panda.LOW_GRIP[0], y - panda.LOW_GRIP[1]) > ASIDE
        if aside and maths.hypot(s.desired[0] - x, s.desired[1] - y) > moving.CLEAR * p.threshold:
            break
    s.desired[2] = 0.5 * p.side
    arm.put(s, CUBE, x, y, 0.5 * p.side, 0.0)
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


@SPEC.observe
def observe(p, s, o):
    moving.observe(p, s, s.cube, o)
    arm.observe_object(
        *(s.cube, s.cube_attitude, s.cube_velocity, s.cube_spin),
        *(o.cube, o.cube_attitude, o.cube_velocity, o.cube_spin),
    )


@SPEC.draw
def draw(canvas, p, s):
    moving.draw(canvas, p, s, s.cube, "cube")


# --- the scripted expert ----------------------------------------------------------------------------------------------


@SPEC.expert
def expert(p, s, a):
    """Go around the cube or over it to behind a face, and push so that the cube goes straight to the goal.

    Made for the spring of the hand; in joint control, whose targets lag more, it succeeds in a third of episodes. In
    panda-gym's the hand follows at once, and it pushes straight, whatever the faces.
    """
    if p.control == arm.FROM_HAND:
        push_straight(p, s, a)
        return
    axis = choose_face(p, s)
    _, ahead, across = stand(p, s, axis)
    nx, ny = maths.cos(axis), maths.sin(axis)
    x, y = s.desired[0] - s.cube[0], s.desired[1] - s.cube[1]
    distance = maths.hypot(x, y)
    z = HEIGHT - BRAKE * min(s.grip_velocity[0, 2], 0.0)
    if distance < 0.2 * p.threshold or (distance < 0.95 * p.threshold and not ready(s, ahead, across)):
        arm.bring(p, s, s.grip[0, 0], s.grip[0, 1], s.grip[0, 2], -1.0, a)
        return
    if ready(s, ahead, across):
        forward, sideways = push(s, x * nx + y * ny, y * nx - x * ny, ahead, across, nx, ny)
    else:
        forward, sideways, z = go_behind(p, s, ahead + BEFORE, across, nx, ny, z)
    x, y = forward * nx - sideways * ny, forward * ny + sideways * nx
    arm.bring(p, s, s.grip[0, 0] + x, s.grip[0, 1] + y, z, -1.0, a)


@kernel
def push_straight(p, s, a):
    """Over the cube to behind it, down, and along the line to the goal."""
    x, y = s.desired[0] - s.cube[0], s.desired[1] - s.cube[1]
    distance = maths.hypot(x, y) + 1e-9
    nx, ny = x / distance, y / distance
    hx, hy, z = s.grip[0, 0] - s.cube[0], s.grip[0, 1] - s.cube[1], s.grip[0, 2]
    start_x, start_y = s.cube[0] - STAND_OFF * nx, s.cube[1] - STAND_OFF * ny
    off = maths.hypot(start_x - s.grip[0, 0], start_y - s.grip[0, 1])
    if distance < 0.4 * p.threshold:
        arm.bring(p, s, s.grip[0, 0], s.grip[0, 1], z, -1.0, a)
    elif hx * nx + hy * ny < -0.02 and abs(hy * nx - hx * ny) < 0.012 and z < HEIGHT + 0.02:
        step, aside = min(0.5 * distance, FASTEST), hy * nx - hx * ny
        arm.bring(p, s, s.grip[0, 0] + step * nx + aside * ny, s.grip[0, 1] + step * ny - aside * nx, HEIGHT, -1.0, a)
    elif off < 0.02:
        arm.bring(p, s, start_x, start_y, HEIGHT, -1.0, a)
    elif z > CROSSING - 0.04 or off < 0.03:
        arm.bring(p, s, start_x, start_y, CROSSING, -1.0, a)
    else:
        arm.bring(p, s, s.grip[0, 0], s.grip[0, 1], CROSSING, -1.0, a)


@kernel
def choose_face(p, s):
    """The way into the face from which to push, rad about z: it leads to the goal, or the hand is there already."""
    chosen, best = 0.0, -2.0
    for k in range(4):
        axis = turn(s.cube_attitude) + 0.5 * math.pi * k
        cosine, ahead, across = stand(p, s, axis)
        score = cosine + (0.3 if ready(s, ahead, across) else 0.0)
        if score > best:
            chosen, best = axis, score
    return chosen


@kernel
def turn(attitude):
    """Where one of the upright faces of a cube looks, rad about z, whatever face the cube lies on."""
    w, x, y, z = attitude[0], attitude[1], attitude[2], attitude[3]
    if abs(2.0 * (x * z - w * y)) < 0.7:  # the cube's x axis lies rather flat
        return maths.atan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z))
    return maths.atan2(1.0 - 2.0 * (x * x + z * z), 2.0 * (x * y - w * z))


@kernel
def stand(p, s, axis):
    """How the hand stands to push along an axis.

    Returns the cosine between the axis and the way to the goal, and by how much the hand is ahead of and across from
    the place where it touches the face and pushes through the middle of the cube.
    """
    nx, ny = maths.cos(axis), maths.sin(axis)
    x, y = s.desired[0] - s.cube[0], s.desired[1] - s.cube[1]
    distance = maths.hypot(x, y) + 1e-9
    cosine, sine = (x * nx + y * ny) / distance, (y * nx - x * ny) / distance
    offset = min(max(-0.5 * p.side * sine / max(cosine, 0.1), -OFFSET), OFFSET)
    hx, hy = s.grip[0, 0] - s.cube[0], s.grip[0, 1] - s.cube[1]
    return cosine, hx * nx + hy * ny + 0.5 * p.side + FINGER, hy * nx - hx * ny - offset


@kernel
def ready(s, ahead, across):
    """Whether the hand is low and close behind the face."""
    return s.grip[0, 2] < HEIGHT + 0.015 and -GAP < ahead < CONTACT and abs(across) < SLACK


@kernel
def push(s, along, aside, ahead, across, nx, ny):
    """Where the target goes from the hand, forward and sideways, when the cube has `along` and `aside` to go."""
    if ahead < -CONTACT:
        return GAP - ahead, -across
    speed = s.grip_velocity[0, 0] * nx + s.grip_velocity[0, 1] * ny
    # near the end of its reach the arm is slower forward than sideways, so sideways follows from the speed forward
    slope = aside / max(along, 0.3 * maths.hypot(along, aside))
    return min(along, LEAD) - BRAKE * speed, slope * LAG * max(speed, 0.0) - across


@kernel
def go_behind(p, s, ahead, across, nx, ny, z):
    """Where the target goes from the hand, forward and sideways, and its height."""
    if ahead < 0.008:
        return -ahead, -across, z
    hx, hy = s.grip[0, 0] - s.cube[0], s.grip[0, 1] - s.cube[1]
    over = s.cube[2] + 0.5 * p.side + OVER
    if s.grip[0, 2] < HEIGHT + 0.015 and abs(hy * nx - hx * ny) > 0.5 * p.side + FINGER + 0.002:
        return -ahead, 0.0, z  # beside the cube: back along it
    if s.grip[0, 2] < over - 0.02:
        return 0.0, 0.0, over
    return -ahead, -across, over
