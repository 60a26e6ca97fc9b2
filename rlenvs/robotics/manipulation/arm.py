"""The common parts of all arm tasks: parameters, options, state, actions, and observations of the arm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rlenvs.core import World, block, choice, continuous, f4, f8, flag, integer, kernel, param, term, world
from rlenvs.core.declare.maths import acos, asin, atan2, cos, hypot, sin
from rlenvs.kits.engines.cameras import CAMERA, IMAGES, image_sizes
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.manipulation.panda import (
    ARM_QPOS,
    BASE,
    CONTROL_HZ,
    FINGER_OPEN,
    HAND_ACTUATORS,
    LOW_NEUTRAL,
    NEUTRAL,
    RANGES,
    SECOND_BASE,
)

STEP = 0.05  # m per control step at full action; rad for the joints
TURN = 0.1  # rad per control step at full action
LEAD = 0.15  # rad, of the targets before the joints: what the servos need for one STEP per control step
TRIES = 100  # to draw a start or a goal that fits; `model` refuses parameters with which none would
WIDTH_STEP = 0.1  # m per finger and control step
# m: where the target of the hand may be
LOW, HIGH = (-0.5, -0.45, 0.012), (0.6, 0.45, 0.75)
# m: the wrist behind and above the grip when the fingers point down; the elbow's joint to shoulder and wrist
SHOULDER, BEHIND, ABOVE, OFFSET = 0.333, 0.088, 0.2104, 0.0825
UPPER, LOWER = hypot(0.316, OFFSET), hypot(0.384, OFFSET)
STRETCH = 0.7  # m, from shoulder to wrist; with the arm straighter than that the hand tilts

PARAMS = {
    "stiffness": param(2000.0, 500.0, 3000.0, "N/m", "of the spring between hand and target"),
    "damping": param(89.0, 50.0, 180.0, "N s/m", "of the hand"),
    "turn_stiffness": param(150.0, 75.0, 300.0, "N m/rad", "of the spring that turns the hand"),
    "turn_damping": param(7.0, 4.0, 15.0, "N m s/rad", "of the turning hand"),
    "reach": param(0.05, 0.002, 0.1, "m", "largest extension of the spring; bounds contact forces"),
    "turn_reach": param(0.3, 0.02, 0.5, "rad", "largest rotation of the spring", limit=True),
    "joint_damping": param(1.0, 0.0, 5.0, "N m s/rad", "of every joint"),
    "payload": param(0.0, 0.0, 1.0, "kg", "at the hand, not compensated"),
    "finger_friction": param(1.0, 0.2, 2.0, "", "sliding friction of the finger tips"),
    "grip_force": param(40.0, 5.0, 70.0, "N", "largest force of each finger"),
}
CONTROL = choice(
    *("hand", "pose", "joints", "panda-gym"),
    doc="what actions control: the target of the hand with the fingers down, the target and its attitude, the targets "
    "of the seven joints, or, as in panda-gym, displacements of the hand with the fingers down",
)
POSE, JOINTS, FROM_HAND = CONTROL.codes("pose", "joints", "panda-gym")
OPTIONS: dict[str, Any] = {
    "control": CONTROL,
    "fingers": flag(True, doc="whether the last action opens and closes the fingers; otherwise they stay closed"),
    "touch": flag(False, doc="whether the contact force of the hand and the pressure on the finger tips are observed"),
    "target": flag(False, doc="whether the target that actions move is observed; their effect depends on it"),
    "points": integer(0, 0, 2048, doc="number of points in the point cloud of the camera in front of the table"),
}
NO_FINGERS = replace(OPTIONS["fingers"], default=False)
REWARD = choice(
    *("sparse", "dense"),
    doc="-1 until the goal is reached, or the negative distance to it",
    sets={"sparse": {"reached": 1.0, "distance": 0.0}, "dense": {"reached": 0.0, "distance": 1.0}},
)
ENDS = flag(False, doc="whether the episode ends at success")
# of the levels with panda-gym's control; Bullet multiplies the frictions of two bodies, 1 of the fingers and 0.5 of all
# other things but the puck's 0.04
AS_PUBLISHED = {"control": "panda-gym", "ends_at_success": True, "finger_friction": 0.5, "grip_force": 70.0}


def goal_terms(farthest: float) -> dict[str, Any]:
    """The terms of a task with a goal; `farthest` bounds the distance, m."""
    return {
        "reached": term(-1.0, 0.0, doc="-1 while the goal is not reached"),
        "distance": term(-farthest, 0.0, weight=0.0, doc="negative distance to the goal, m"),
    }


def state(arms: int = 1) -> dict[str, Any]:
    """The state fields of the arms: the readings of their sensors, and MuJoCo's own."""
    readings = {"grip": f8(arms, 3), "grip_velocity": f8(arms, 3), "force": f8(arms, 3), "touch": f8(2 * arms)}
    readings["front_cloud"] = f4("points", 3)
    return {**readings, **STATE}


ARM_BLOCKS = {
    "grip": block(3, low=-2.0, high=2.0, unit="m", doc="position of the end effector", raw=True),
    "grip_velocity": block(3, low=-2.0, high=2.0, unit="m/s", doc="its velocity"),
    "fingers": block("fingers", low=0.0, high=2.0 * FINGER_OPEN, unit="m", doc="width between the fingers"),
    "joints": block("joints", low=-3.8, high=3.8, unit="rad", doc="angles, in joint control"),
    "force": block("force", low=-100.0, high=100.0, unit="N", doc="that the hand exerts, world axes, with `touch`"),
    "touch": block("touch", low=0.0, high=100.0, unit="N", doc="on the left and the right finger tip, with `touch`"),
    "target": block(
        "target",
        low=-3.8,
        high=3.8,
        raw=True,
        doc="with `target`: from the hand to its target [m], in pose control its "
        "attitude, in joint control the joints' [rad]; last a finger's [m]",
    ),
    "cloud": block("points", 3, low=-4.0, high=4.0, unit="m", doc="that a camera sees", raw=True, constant=True),
}


def object_state(name: str) -> dict[str, Any]:
    """The state fields that `panda.add_object` fills."""
    return {name: f8(3), f"{name}_attitude": f8(4), f"{name}_velocity": f8(3), f"{name}_spin": f8(3)}


def object_blocks(name: str, doc: str) -> dict[str, Any]:
    """What is observed of an object."""
    return {
        name: block(3, low=-2.0, high=2.0, unit="m", doc=f"position of {doc}", raw=True),
        f"{name}_attitude": block(
            4, low=-1.0, high=1.0, doc="its attitude, quaternion w, x, y, z with w >= 0", raw=True
        ),
        f"{name}_velocity": block(3, low=-2.0, high=2.0, unit="m/s", doc="its velocity"),
        f"{name}_spin": block(3, low=-20.0, high=20.0, unit="rad/s", doc="its angular velocity"),
    }


def sizes(values: Any) -> dict[str, int]:
    """The named sizes of ARM_BLOCKS and IMAGES."""
    joints = 7 if values.control == "joints" else 0
    numbers = {"fingers": int(values.fingers), "joints": joints, "force": 3 * values.touch, "touch": 2 * values.touch}
    aimed = {"hand": 3, "pose": 7, "joints": 7, "panda-gym": 3}[values.control] + int(values.fingers)
    numbers["target"] = aimed * values.target
    return {**numbers, "points": values.points, **image_sizes(values)}


def action(values: Any) -> Any:
    """The action for the chosen control."""
    moved = {
        "hand": ("dx", "dy", "dz"),
        "pose": ("dx", "dy", "dz", "rx", "ry", "rz"),
        "joints": tuple(f"joint {j + 1}" for j in range(7)),
        "panda-gym": ("dx", "dy", "dz"),
    }[values.control]
    return continuous(*moved, *(["fingers"] if values.fingers else []), doc=ACTION_DOC)


ACTION_DOC = (
    f"the target of the hand moves by up to {STEP} m per axis and turns by up to {TURN} rad; joints turn by up to "
    f"{STEP} rad; the fingers open by up to 0.2 m"
)
FPS = CONTROL_HZ


def task(name: str, *, params: Mapping[str, Any], options: Mapping[str, Any], **own: Any) -> World:
    """The world of a task for one arm: PARAMS, OPTIONS and CAMERA before its own, images, actions, sizes, engine and
    keys.

    Args:
        name, own: as for `world`.
        params, options: the task's own.
    """
    made = world(
        name,
        params={**PARAMS, **params},
        options={**OPTIONS, **CAMERA, **options},
        images=IMAGES,
        action=action,
        fps=FPS,
        engine=ENGINE,
        expert_sees="state",  # its target, which is observed with the option `target` alone
        **{"sizes": sizes, **own},
    )
    made.keys(keys)
    return made


@kernel
def drive(p, s, a, k):
    """Actions `a` of arm k to targets."""
    used = 3
    if p.control == JOINTS:
        turn_joints(s, a, k)
        used = 7
    elif p.control == FROM_HAND:
        go_from_hand(s, a, k)
    else:
        move_target(p, s, a, k)
        if p.control == POSE:
            turn_target(s, a, k)
            used = 6
    if p.fingers:
        first = k * (s.ctrl.size // s.grip.shape[0])
        start = s.qpos[ARM_QPOS * k + 7] if p.control == FROM_HAND else s.ctrl[first]
        s.ctrl[first] = min(max(start + WIDTH_STEP * a[used], 0.0), FINGER_OPEN)


@kernel
def go_from_hand(s, a, k):
    """panda-gym's way: the hand is to go STEP from where it is, and the joints get the angles that put it there."""
    for j in range(3):
        s.mocap_pos[k, j] = min(max(s.grip[k, j] + STEP * a[j], LOW[j]), HIGH[j])
    x, y, z = s.mocap_pos[k, 0], s.mocap_pos[k, 1], s.mocap_pos[k, 2]
    if k == 1:  # the arm that stands opposite is the first one turned by half a turn
        x, y = BASE[0] + SECOND_BASE[0] - x, -y
    joint2, joint4 = bends(x, y, z)
    first = k * (s.ctrl.size // s.grip.shape[0]) + 1
    s.ctrl[first] = atan2(y - BASE[1], x - BASE[0])
    s.ctrl[first + 1], s.ctrl[first + 3], s.ctrl[first + 5] = joint2, joint4, joint2 - joint4
    s.ctrl[first + 2] = s.ctrl[first + 4] = 0.0
    s.ctrl[first + 6] = 0.25 * math.pi + s.ctrl[first]
    for j in range(7):
        s.ctrl[first + j] = min(max(s.ctrl[first + j], RANGES[j][0]), RANGES[j][1])


@kernel
def move_target(p, s, a, k):
    """The target goes ahead of the hand, but not farther than the spring answers."""
    for j in range(3):
        wanted = s.mocap_pos[k, j] + STEP * a[j]
        wanted = min(max(wanted, s.grip[k, j] - p.reach), s.grip[k, j] + p.reach)
        s.mocap_pos[k, j] = min(max(wanted, LOW[j]), HIGH[j])


@kernel
def turn_joints(s, a, k):
    """The targets go ahead of the joints, but not farther than LEAD; without actions they stay, and so does the arm."""
    first = k * (s.ctrl.size // s.grip.shape[0]) + 1
    for j in range(7):
        angle, wanted = s.qpos[ARM_QPOS * k + j], s.ctrl[first + j] + STEP * a[j]
        wanted = min(max(wanted, angle - LEAD), angle + LEAD)
        s.ctrl[first + j] = min(max(wanted, RANGES[j][0]), RANGES[j][1])


@kernel
def turn_target(s, a, k):
    """Turn the target by the rotation vector in a[3:6], in world axes."""
    x, y, z = 0.5 * TURN * a[3], 0.5 * TURN * a[4], 0.5 * TURN * a[5]
    w = 1.0 - 0.5 * (x * x + y * y + z * z)
    q = s.mocap_quat[k]
    q0, q1, q2, q3 = q[0], q[1], q[2], q[3]
    n0, n1 = w * q0 - x * q1 - y * q2 - z * q3, w * q1 + x * q0 + y * q3 - z * q2
    n2, n3 = w * q2 - x * q3 + y * q0 + z * q1, w * q3 + x * q2 - y * q1 + z * q0
    norm = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3)
    q[0], q[1], q[2], q[3] = n0 / norm, n1 / norm, n2 / norm, n3 / norm


@kernel
def pose(p, s, k):
    """Put arm k in its neutral pose; called by `reset`."""
    bend(p, s, k, NEUTRAL)


@kernel
def crouch(p, s, k):
    """Put arm k with its hand near the table; called by `reset`."""
    bend(p, s, k, LOW_NEUTRAL)


@kernel
def bend(p, s, k, angles):
    for j in range(7):
        s.qpos[ARM_QPOS * k + j] = angles[j]
    for j in range(7, 9):
        s.qpos[ARM_QPOS * k + j] = FINGER_OPEN if p.fingers else 0.0


@kernel
def start(s, k):
    """Let the target be where the hand is; called when the engine has placed the arm."""
    for j in range(3):
        s.mocap_pos[k, j] = s.grip[k, j]
    if s.ctrl.size // s.grip.shape[0] == 8:
        for j in range(7):
            s.ctrl[8 * k + 1 + j] = s.qpos[ARM_QPOS * k + j]
    s.ctrl[k * (s.ctrl.size // s.grip.shape[0])] = s.qpos[ARM_QPOS * k + 7]


@kernel
def observe_arm(p, s, k, o):
    """The blocks of ARM_BLOCKS."""
    for j in range(3):
        o.grip[j] = s.grip[k, j]
        o.grip_velocity[j] = s.grip_velocity[k, j]
    if p.fingers:
        o.fingers[0] = s.qpos[ARM_QPOS * k + 7] + s.qpos[ARM_QPOS * k + 8]
    if p.control == JOINTS:
        for j in range(7):
            o.joints[j] = s.qpos[ARM_QPOS * k + j]
    if p.touch:
        for j in range(3):
            o.force[j] = s.force[k, j]
        for j in range(2):
            o.touch[j] = s.touch[2 * k + j]
    if p.target:
        observe_target(p, s, k, o)
    for i in range(p.points):
        for j in range(3):
            o.cloud[i, j] = s.front_cloud[i, j]


@kernel
def observe_target(p, s, k, o):
    first, used = k * (s.ctrl.size // s.grip.shape[0]), 3
    for j in range(3):
        o.target[j] = s.mocap_pos[k, j] - s.grip[k, j]
    if p.control == POSE:
        used = 7
        for j in range(4):
            o.target[3 + j] = s.mocap_quat[k, j]
    if p.control == JOINTS:
        used = 7
        for j in range(7):
            o.target[j] = s.ctrl[first + 1 + j]
    if p.fingers:
        o.target[used] = s.ctrl[first]


@kernel
def put(s, first, x, y, z, yaw):
    """Put the object whose free joint begins at qpos[first] upright at a place; called by `reset`."""
    s.qpos[first], s.qpos[first + 1], s.qpos[first + 2] = x, y, z
    s.qpos[first + 3], s.qpos[first + 6] = cos(0.5 * yaw), sin(0.5 * yaw)
    s.qpos[first + 4] = s.qpos[first + 5] = 0.0


@kernel
def observe_object(position, attitude, velocity, spin, o_position, o_attitude, o_velocity, o_spin):
    """The blocks of `object_blocks`."""
    sign = 1.0 if attitude[0] >= 0.0 else -1.0
    for j in range(3):
        o_position[j] = min(max(position[j], -2.0), 2.0)
        o_velocity[j] = velocity[j]
        o_spin[j] = spin[j]
    for j in range(4):
        o_attitude[j] = sign * attitude[j]


@kernel
def distance(a, b):
    """Between two points."""
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@kernel
def goal_outcome(p, achieved, desired, farthest, r):
    """The terms of `goal_terms`, success, and the end where `ends_at_success` asks for it; returns the distance."""
    off = distance(achieved, desired)
    r.success = off <= p.threshold
    r.reached = 0.0 if r.success else -1.0
    r.distance = -min(off, farthest)
    r.terminated = p.ends_at_success == 1 and r.success
    return off


@kernel
def steer(s, k, x, y, z, a):
    """The scripted expert's way of moving the hand: actions that bring the target to (x, y, z)."""
    start = s.mocap_pos[k] if s.ctrl.size // s.grip.shape[0] == HAND_ACTUATORS else s.grip[k]
    a[0] = min(max((x - start[0]) / STEP, -1.0), 1.0)
    a[1] = min(max((y - start[1]) / STEP, -1.0), 1.0)
    a[2] = min(max((z - start[2]) / STEP, -1.0), 1.0)


def keys(pressed: set[str], values: Any) -> list[float]:
    """Keyboard control of the hand: arrows move it over the table, w and s up and down, space closes the fingers."""
    along, across = ("up" in pressed) - ("down" in pressed), ("left" in pressed) - ("right" in pressed)
    up = ("w" in pressed) - ("s" in pressed)
    turned = {"pose": 3, "joints": 4}.get(values.control, 0)
    fingers = [-1.0 if "space" in pressed else 1.0] if values.fingers else []
    return [0.4 * along, 0.4 * across, 0.4 * up, *[0.0] * turned, *fingers]


@kernel
def stretch(x, y, z):
    """From the shoulder to the wrist of arm 0, m, when its grip is at (x, y, z) with the fingers down; the hand gets
    there with at most STRETCH."""
    along = math.sqrt((x - BASE[0]) ** 2 + (y - BASE[1]) ** 2) - BEHIND
    return math.sqrt(along**2 + (z + ABOVE - SHOULDER) ** 2)


@kernel
def bends(x, y, z):
    """Joints 2 and 4 of arm 0, with joints 3 and 5 at 0, when its grip is at (x, y, z) with the fingers down;
    joint 6 is then their difference, and joint 1 looks there."""
    along = math.sqrt((x - BASE[0]) ** 2 + (y - BASE[1]) ** 2) - BEHIND
    up = z + ABOVE - SHOULDER
    reach = min(stretch(x, y, z), UPPER + LOWER)
    elbow = acos(max((UPPER**2 + LOWER**2 - reach**2) / (2.0 * UPPER * LOWER), -1.0))
    lift = acos(min((UPPER**2 + reach**2 - LOWER**2) / (2.0 * UPPER * reach), 1.0))
    joint2 = atan2(along, up) - lift - asin(OFFSET / UPPER)
    joint4 = elbow - math.pi - asin(OFFSET / UPPER) - asin(OFFSET / LOWER)
    return joint2, joint4


@kernel
def steer_joints(s, x, y, z, a):
    """`steer` in joint control, for arm 0: two joints reach in the vertical plane of the place, the wrist keeps the
    fingers down."""
    joint2, joint4 = bends(x, y, z)
    turn_towards(s, 0, atan2(y - BASE[1], x - BASE[0]), a)
    turn_towards(s, 1, joint2, a)
    turn_towards(s, 2, 0.0, a)
    turn_towards(s, 3, joint4, a)
    turn_towards(s, 4, 0.0, a)
    turn_towards(s, 5, joint2 - joint4, a)
    turn_towards(s, 6, NEUTRAL[6], a)


@kernel
def turn_towards(s, j, angle, a):
    """The action that brings joint j of arm 0 to an angle."""
    a[j] = min(max((angle - s.ctrl[1 + j]) / STEP, -1.0), 1.0)


# --- the scripted expert's way with cubes -----------------------------------------------------------------------------

AROUND = 0.012  # m between hand and cube: near enough to close the fingers
BRAKE = 0.04  # s, times the velocity of the hand: how far short the expert aims, or the hand would swing past


@kernel
def bring(p, s, x, y, z, fingers, a):
    """Actions of arm 0, in any control, that bring the hand to (x, y, z) and move the fingers, where these move."""
    used = 3
    if p.control == JOINTS:
        steer_joints(s, x, y, z, a)
        used = 7
    else:
        steer(s, 0, x, y, z, a)
        if p.control == POSE:
            a[3] = a[4] = a[5] = 0.0
            used = 6
    if p.fingers:
        a[used] = fingers


@kernel
def width(s):
    """Between the fingers of arm 0, m."""
    return s.qpos[7] + s.qpos[8]


@kernel
def holds(s, thing):
    """Whether the fingers of arm 0 are stopped by what is between them, and press on it."""
    stopped = abs(s.qvel[7] + s.qvel[8]) < 0.05 and s.ctrl[0] < 0.5 * width(s) - 0.005
    return stopped and distance(s.grip[0], thing) < 1.5 * AROUND


@kernel
def glide(p, s, x, y, z, fingers, a):
    """`bring`, without swinging past."""
    v, brake = s.grip_velocity[0], 0.0 if p.control == FROM_HAND else BRAKE
    bring(p, s, x - brake * v[0], y - brake * v[1], z - brake * v[2], fingers, a)


@kernel
def take(p, s, cube, clear, a):
    """Grip a cube: the hand goes there at the height `clear`, down, and closes the fingers."""
    x, y, z = cube[0], cube[1], cube[2]
    high, off = s.grip[0, 2] > clear - 0.01, hypot(x - s.grip[0, 0], y - s.grip[0, 1])
    if off > (AROUND if high else 2.0 * AROUND):
        z = clear
        if not high:
            x, y = s.grip[0, 0], s.grip[0, 1]
    glide(p, s, x, y, z, -1.0 if distance(s.grip[0], cube) < AROUND else 1.0, a)


@kernel
def carry(p, s, cube, x, y, z, clear, a):
    """Bring the cube that the fingers hold to (x, y, z): at least at the height `clear` on the way, then down."""
    if hypot(x - cube[0], y - cube[1]) > 0.007:
        z = max(z, clear)
        if cube[2] < clear - 0.02:
            x, y = cube[0], cube[1]
    glide(p, s, x + s.grip[0, 0] - cube[0], y + s.grip[0, 1] - cube[1], z + s.grip[0, 2] - cube[2], -1.0, a)
