"""Turn a cube to a goal orientation with a robot arm.

## Description

PandaFlip of panda-gym (Gallouédec et al., arXiv 2106.13687), on MuJoCo: a Panda turns a cube of 4 cm and 1 kg until its
attitude matches the goal; its position does not matter. The hand can also rotate (`control="pose"`); in the original it
cannot, and no agent is known to have solved that task. Other differences: there are three kinds of goals (`goals`), of
which "any" are the published ones, uniform over all rotations; no goal is reached at the start; the cube's position
relative to the hand and the hand's attitude are observed; an episode lasts 100 steps, because the hand turns by 0.1 rad
per step, and continues after success (`ends_at_success` changes that); the physics has another contact model.
`level="panda-gym"` has the original's actions, frictions, goals, length and termination; its hand cannot rotate, so the
expert does nothing.

The colors of the faces show the attitude; the translucent cube beside the arm shows the goal.

## Action Space

The target of the hand moves, but never farther than `reach` from the hand, and rotates about the world axes. It is
observed only with `target`.

## Observation Space

The hand and its attitude, then the cube, its position relative to the hand, and last the goals: quaternions w, x, y, z
with w >= 0.

## Rewards

With q and q' the attitudes of cube and goal, their difference is 1 - <q, q'>^2, the squared sine of half the angle
between them. `sparse`: -1 in every step that ends with a difference above the threshold. `dense`: the negative
difference. `shaped`: the same, plus the negative distance from hand to cube, so that a learner without hindsight finds
the cube, plus 0.3 while the fingers hold it. Success is a difference of at most the threshold at the end of the step:
the published 0.2 is an angle of 53 degrees.

## Costs

None.

## Starting State

The arm is in its neutral pose. The cube is on the table, uniform in a square around its middle, rotated by up to
`start_turn` (0 in the original). With start="held", and in half of the episodes with "any", it is in the hand instead,
0.2 m above the table; with `fingers=False` the hand stays closed around it. The goal is the cube's attitude rotated
about the vertical ("yaw"), about a random horizontal axis ("tilt"), or about any axis ("any"), by an angle of at most
`goal_angle` and at least 1.1 times the angle of the threshold. Angles are uniform; with "any" all rotations are equally
likely.

## Episode End

After 100 steps (4 s), or, with `ends_at_success`, at success.

## Parameters

Parameters are refused when they leave no goal between 1.1 times the threshold's angle and `goal_angle`.

## Reference Scores

Mean return over seeds 0 to 99.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, choice, f4, f8, kernel, maths, param, term, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco_parts import add_camera, add_sensor
from rlenvs.kits.engines.overlays import View, look_through, project
from rlenvs.robotics.manipulation import arm, held, panda, rotations

CUBE = panda.ARM_QPOS  # where the cube's free joint begins in qpos
CLEAR = 1.1  # angles of the threshold between start and goal
FARTHEST = 2.0  # m, farther than the hand is from the cube
SHOWN = (0.05, 0.30, 0.25)  # m, where the goal is shown
VIEW = View((0.60, -0.64, 0.58), (-0.04, 0.03, 0.28), 48.0)  # cubes are turned half a metre above the table
# colours of the faces +x, -x, +y, -y, +z, -z: the palette of Okabe and Ito
FACES = (
    (0.84, 0.37, 0.0),
    (0.90, 0.62, 0.0),
    (0.0, 0.62, 0.45),
    (0.94, 0.89, 0.26),
    (0.0, 0.45, 0.70),
    (0.80, 0.47, 0.65),
)

# the expert's
GRASP_TILT = 0.6  # rad, of the hand at the grasp: left, none or right
MOST_TWIST, MOST_TILT = 2.3, 1.8  # rad, how far the hand turns and tilts without its joints' ending
ASIDE = 0.008  # m, from the line along the fingers to the cube, where they approach
SHORTEST, LONGEST = 0.32, 0.67  # m, from the shoulder to the wrist, of an arm that still tilts the hand
HOVER = 0.09  # m, before the cube, where the hand turns
NEAR, HELD = (
    0.012,
    0.0015,
)  # m, from hand to cube where the fingers close; wider than half the cube a finger holds nothing
LIFTED = 0.18  # m, where the hand begins to turn the cube
AIM = (-0.1, 0.0, 0.55)  # m, where it turns the cube: all attitudes in reach

GOALS = choice("tilt", "yaw", "any", doc="axis of the rotation to the goal: horizontal, vertical, or any")
TILT, YAW, ANY = GOALS.codes("tilt", "yaw", "any")
START = choice("table", "held", "any", doc="where the cube starts: on the table, in the hand, or either")
HELD_START, ANY_START = START.codes("held", "any")

SPEC = arm.task(
    "PandaFlip-v0",
    doc=__doc__,
    source="panda-gym PandaFlip (Gallouédec et al., arXiv 2106.13687)",
    params={
        "mass": param(1.0, 0.1, 2.0, "kg", "of the cube"),
        "friction": param(0.5, 0.1, 1.0, "", "sliding friction between cube and table"),
        "side": param(0.04, 0.03, 0.05, "m", "of the cube"),
        "threshold": param(0.2, 0.01, 0.3, "", "difference of attitudes at which the goal counts as reached"),
        "start_width": param(0.3, 0.0, 0.32, "m", "side of the square in which the cube starts"),
        "start_turn": param(0.0, 0.0, math.pi, "rad", "largest rotation of the cube about the vertical at the start"),
        "goal_angle": param(0.5 * math.pi, 1.1, math.pi, "rad", "largest angle between start and goal"),
    },
    options={
        "control": arm.OPTIONS["control"].defaulting("pose"),
        "goals": GOALS,
        "start": START,
        "reward": choice(
            *("sparse", "dense", "shaped"),
            doc="-1 until the goal is reached, the negative difference to it, or that with terms for reaching and "
            "grasping",
            sets={
                "sparse": {"reached": 1.0, "difference": 0.0, "approach": 0.0, "grasp": 0.0},
                "dense": {"reached": 0.0, "difference": 1.0, "approach": 0.0, "grasp": 0.0},
                "shaped": {"reached": 0.0, "difference": 1.0, "approach": 1.0, "grasp": 0.3},
            },
        ),
        "ends_at_success": arm.ENDS,
    },
    state={
        **arm.state(),
        **arm.object_state("cube"),
        "hand_attitude": f8(4),
        "achieved": f4(4),
        "desired": f4(4),
    },
    observation={
        **arm.ARM_BLOCKS,
        "hand_attitude": block(
            4, low=-1.0, high=1.0, doc="quaternion w, x, y, z with x >= 0; 0, 1, 0, 0 is down", raw=True
        ),
        **arm.object_blocks("cube", "the cube"),
        "offset": block(3, low=-0.5, high=0.5, unit="m", doc="from the hand to the cube"),
        "achieved": block(4, low=-1.0, high=1.0, doc="attitude of the cube", raw=True),
        "desired": block(4, low=-1.0, high=1.0, doc="goal", raw=True, constant=True),
    },
    goal=("achieved", "desired"),
    terms={
        "reached": term(-1.0, 0.0, doc="-1 while the goal is not reached"),
        "difference": term(-1.0, 0.0, weight=0.0, doc="negative difference of the attitudes of cube and goal"),
        "approach": term(-FARTHEST, 0.0, weight=0.0, doc="negative distance from hand to cube, m"),
        "grasp": term(0.0, 1.0, weight=0.0, doc="1 while the fingers hold the cube"),
    },
    horizon=100,
    levels={
        "easy": {"goals": "yaw", "goal_angle": math.pi},
        "medium": {"goals": "tilt", "goal_angle": 0.5 * math.pi},
        "hard": {"goals": "any", "goal_angle": math.pi},
        "held": {"start": "held", "fingers": False},
        "panda-gym": {**arm.AS_PUBLISHED, "friction": 0.25, "goals": "any", "goal_angle": math.pi, "horizon": 50},
    },
)


@kernel
def nearest_goal(p):
    """The least angle between start and goal, rad."""
    return CLEAR * 2.0 * maths.asin(math.sqrt(p.threshold))


@SPEC.model
def model(values):
    if nearest_goal(values) >= values.goal_angle:
        raise ParameterError(
            f"no goals are left: they start {nearest_goal(values):.3g} rad from the start and end at "
            f"goal_angle={values.goal_angle:g} rad; lower the threshold={values.threshold:g} or raise goal_angle"
        )
    spec = panda.scene(values)
    half = 0.5 * values.side
    white = (0.94, 0.94, 0.94, 1.0)
    cube = panda.add_object(spec, "cube", "BOX", (half, half, half), values.mass, values.friction, rgba=white)
    add_faces(cube, half, 1.0)
    spec.delete(spec.camera("overview"))
    add_camera(spec, "overview", *VIEW)
    goal = spec.worldbody.add_body(name="goal", mocap=True, pos=SHOWN)
    add_faces(goal, 3.0 * half, 0.8)
    add_sensor(spec, "hand_attitude", "FRAMEQUAT", "grip/0", "SITE")
    return spec


def add_faces(body, half, opacity):
    """Plates on the faces of a cube that nothing collides with."""
    import mujoco

    thin = 0.01 * half
    for face, color in enumerate(FACES):
        axis, sign = divmod(face, 2)
        place, size = [0.0, 0.0, 0.0], [0.8 * half, 0.8 * half, 0.8 * half]
        place[axis], size[axis] = (1 - 2 * sign) * half, thin
        body.add_site(type=mujoco.mjtGeom.mjGEOM_BOX, pos=place, size=size, rgba=(*color, opacity))


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    x, y = (
        uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width),
        uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width),
    )
    arm.put(s, CUBE, x, y, 0.5 * p.side, uniform(rng, -p.start_turn, p.start_turn))
    if p.start == HELD_START or (p.start == ANY_START and uniform(rng, 0.0, 1.0) < 0.5):
        held.give(s, 0, 0.5 * p.side, CUBE, 0.0)
    goal = rotations.product(draw_turn(p, rng), s.qpos[CUBE + 3 : CUBE + 7])
    sign = 1.0 if goal[0] >= 0.0 else -1.0
    for j in range(4):
        s.desired[j] = sign * goal[j]
        s.mocap_quat[1, j] = goal[j]


@kernel
def draw_turn(p, rng):
    """The rotation from start to goal."""
    angle = 0.0
    for _ in range(arm.TRIES):
        angle = uniform(rng, nearest_goal(p), p.goal_angle)
        # of rotations that are all equally likely, those by an angle are as frequent as 1 - cos(angle)
        if p.goals != ANY or uniform(rng, 0.0, 2.0) < 1.0 - maths.cos(angle):
            break
    up = 2.0 * uniform(rng, 0.0, 1.0) - 1.0
    if p.goals == TILT:
        up = 0.0
    elif p.goals == YAW:
        up = 1.0 if up >= 0.0 else -1.0
    side, bearing = math.sqrt(1.0 - up * up), uniform(rng, -math.pi, math.pi)
    return rotations.rotation(angle * side * maths.cos(bearing), angle * side * maths.sin(bearing), angle * up)


@SPEC.after_reset
def after_reset(p, s, rng):
    held.start(s, 0)
    achieve(s)


@kernel
def achieve(s):
    sign = 1.0 if s.cube_attitude[0] >= 0.0 else -1.0
    for j in range(4):
        s.achieved[j] = sign * s.cube_attitude[j]


@SPEC.act
def act(p, s, a, rng):
    arm.drive(p, s, a, 0)


@SPEC.goal_outcome
def goal_outcome(p, achieved, desired, r):
    difference = rotations.difference(achieved, desired)
    r.success = difference <= p.threshold
    r.reached = 0.0 if r.success else -1.0
    r.difference = -difference
    r.terminated = p.ends_at_success == 1 and r.success


@SPEC.outcome
def outcome(p, s, a, rng, r):
    achieve(s)
    goal_outcome(p, s.achieved, s.desired, r)
    r.approach = -min(arm.distance(s.grip[0], s.cube), FARTHEST)
    r.grasp = 1.0 if arm.holds(s, s.cube) else 0.0


@SPEC.observe
def observe(p, s, o):
    arm.observe_arm(p, s, 0, o)
    arm.observe_object(
        s.cube, s.cube_attitude, s.cube_velocity, s.cube_spin, o.cube, o.cube_attitude, o.cube_velocity, o.cube_spin
    )
    sign = 1.0 if s.hand_attitude[1] >= 0.0 else -1.0
    for j in range(3):
        o.offset[j] = s.cube[j] - s.grip[0, j]
    for j in range(4):
        o.hand_attitude[j] = sign * s.hand_attitude[j]
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


@SPEC.draw
def draw(canvas, p, s):
    half_turn = math.asin(min(math.sqrt(rotations.difference(s.cube_attitude, s.desired)), 1.0))
    look_through(canvas, ())
    x, y, _ = project(VIEW, [(SHOWN[0], SHOWN[1], SHOWN[2] - 2.5 * p.side)])[0]
    canvas.text((x, y), "goal, larger", "black", 13, "centre", ground="background")
    canvas.caption(f"cube turned by {math.degrees(2.0 * half_turn):.0f} degrees against the goal")


# --- expert -----------------------------------------------------------------------------------------------------------


@SPEC.expert
def expert(p, s, a):
    """Grasp the cube with a hand so turned and tilted that it can turn the cube to the goal from there, and do so."""
    distance = arm.distance(s.grip[0], s.cube)
    between = distance < 0.8 * p.side and s.qpos[panda.ARM_QPOS - 2] < 0.5 * p.side + HELD
    if p.control != arm.POSE or (not p.fingers and not between):  # a hand that cannot turn or grasp stays where it is
        for j in range(a.size):
            a[j] = 0.0
    elif between:
        carry(p, s, a)
    elif distance < NEAR:
        grasp(s, a)
    else:
        fetch(p, s, a)


@kernel
def fetch(p, s, a):
    """Turn the hand for the grasp at some distance from the cube, then approach along the fingers.

    Where the arm cannot tilt the hand as far as wanted, less tilt will do, but the fingers have to be level.
    """
    q = s.mocap_quat[0]
    wanted = q[0], q[1], q[2], q[3]
    if arm.distance(s.grip[0], s.cube) > 0.5 * HOVER:
        wanted = best_grasp(s)
    turn_hand(s, wanted, a)
    x, y, z = pointing(s.hand_attitude)
    ahead = x * (s.cube[0] - s.grip[0, 0]) + y * (s.cube[1] - s.grip[0, 1]) + z * (s.cube[2] - s.grip[0, 2])
    aside = math.sqrt(max(arm.distance(s.grip[0], s.cube) ** 2 - ahead**2, 0.0))
    ready = aside < ASIDE and fingers_apart(wanted, s.hand_attitude) < 0.06
    ready = ready and rotations.difference(wanted, s.mocap_quat[0]) < 1e-4
    back = 0.0 if ready else HOVER
    arm.steer(s, 0, s.cube[0] - back * x, s.cube[1] - back * y, s.cube[2] - back * z, a)
    a[6] = 1.0


@kernel
def fingers_apart(q, other):
    """Between the axes along which the fingers of two hands move, rad."""
    turn = rotations.product(rotations.inverse(q), other)
    return maths.acos(min(abs(1.0 - 2.0 * (turn[1] ** 2 + turn[3] ** 2)), 1.0))


@kernel
def grasp(s, a):
    for j in range(6):
        a[j] = 0.0
    a[6] = -1.0


@kernel
def carry(p, s, a):
    """Lift the cube, and turn the hand by what the cube has still to turn."""
    arm.steer(s, 0, AIM[0], AIM[1], AIM[2], a)
    rest = rotations.product(s.desired, rotations.inverse(s.cube_attitude))
    for j in range(3):
        a[3 + j] = 0.0
    if s.cube[2] > LIFTED:
        turn_hand(s, within_reach(rotations.product(rest, s.hand_attitude)), a)
    if p.fingers:
        a[6] = -1.0


@kernel
def pointing(q):
    """Where the fingers of a hand point."""
    return (2.0 * (q[1] * q[3] + q[0] * q[2]), 2.0 * (q[2] * q[3] - q[0] * q[1]), 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2))


@kernel
def within_reach(q):
    """The attitude in the hand's reach that is near q."""
    twist, x, y = rotations.twist_and_tilt(q)
    scale = min(MOST_TILT / max(math.sqrt(x * x + y * y), 1e-9), 1.0)
    return rotations.turned(min(max(twist, -MOST_TWIST), MOST_TWIST), scale * x, scale * y)


@kernel
def turn_hand(s, wanted, a):
    """Turn to an attitude in the hand's reach on a way that stays there, not across the end of the last joint's."""
    twist, x, y = rotations.twist_and_tilt(s.mocap_quat[0])
    to_twist, to_x, to_y = rotations.twist_and_tilt(wanted)
    d_twist, d_x, d_y = to_twist - twist, to_x - x, to_y - y
    scale = min(arm.TURN / max(abs(d_twist), math.sqrt(d_x * d_x + d_y * d_y), 1e-9), 1.0)
    rotations.turn_towards(s, 0, rotations.turned(twist + scale * d_twist, x + scale * d_x, y + scale * d_y), a)


@kernel
def best_grasp(s):
    """Of the hand's attitudes that grasp two faces of the standing cube, the one from which it turns the cube nearest
    to the goal, and where several do, with the least turning."""
    rest = rotations.product(s.desired, rotations.inverse(s.cube_attitude))
    now_twist, now_x, now_y = rotations.twist_and_tilt(s.mocap_quat[0])
    best, least = rotations.turned(0.0, 0.0, 0.0), math.inf
    for side in range(4):
        twist = rotations.wrapped(heading(s.cube_attitude) + 0.5 * math.pi * side)
        if abs(twist) > MOST_TWIST:
            continue
        for k in range(3):
            tilt = (k - 1) * GRASP_TILT
            x, y = -tilt * maths.sin(twist), tilt * maths.cos(twist)
            start = rotations.turned(twist, x, y)
            if k != 1 and not SHORTEST < stretch(s, start) < LONGEST:
                continue
            ideal = rotations.product(rest, start)
            end = within_reach(ideal)
            missing = 2.0 * maths.asin(math.sqrt(rotations.difference(ideal, end)))
            end_twist, end_x, end_y = rotations.twist_and_tilt(end)
            way = abs(twist - now_twist) + maths.hypot(x - now_x, y - now_y)
            way += abs(end_twist - twist) + maths.hypot(end_x - x, end_y - y)
            cost = 10.0 * max(missing - 0.3, 0.0) + way
            if cost < least:
                best, least = start, cost
    return best


@kernel
def stretch(s, q):
    """From the shoulder to the wrist, m, when a hand with attitude q begins to approach the cube."""
    x, y, z = pointing(q)
    along, across = s.cube[0] - panda.BASE[0], s.cube[1] - panda.BASE[1]
    far = math.sqrt(along**2 + across**2)
    inwards = -(x * along + y * across) / far
    far += (arm.ABOVE + HOVER) * inwards - arm.BEHIND * math.sqrt(1.0 - inwards**2)
    up = s.cube[2] - (arm.ABOVE + HOVER) * z + arm.BEHIND * inwards - arm.SHOULDER
    return math.sqrt(far**2 + up**2)


@kernel
def heading(q):
    """The angle, up to quarter turns, by which a cube that stands on a face is turned about the vertical."""
    for j in range(3):
        # the horizontal axes of the cube's own that are not upright
        x, y = column(q, j)
        if x * x + y * y > 0.5:
            return maths.atan2(y, x)
    return 0.0


@kernel
def column(q, j):
    """The horizontal part of axis j of a body with attitude q."""
    if j == 0:
        return (1.0 - 2.0 * (q[2] ** 2 + q[3] ** 2), 2.0 * (q[1] * q[2] + q[0] * q[3]))
    if j == 1:
        return (2.0 * (q[1] * q[2] - q[0] * q[3]), 1.0 - 2.0 * (q[1] ** 2 + q[3] ** 2))
    return (2.0 * (q[1] * q[3] + q[0] * q[2]), 2.0 * (q[2] * q[3] - q[0] * q[1]))
