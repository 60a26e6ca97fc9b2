"""What every task of the arm shares: parameters, options, state, actions, and the part of the observation that is the arm."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from rlenvs.core import block, choice, continuous, f8, flag, kernel, param, term
from rlenvs.robotics.engines.mujoco import STATE
from rlenvs.robotics.manipulation.panda import ARM_QPOS, CONTROL_HZ, FINGER_OPEN, NEUTRAL

STEP = 0.05  # m per control step at full action; rad for the joints
TURN = 0.1  # rad per control step at full action
TRIES = 100  # to draw a start or a goal that fits; `model` refuses parameters with which none would
WIDTH_STEP = 0.1  # m per finger and control step
# m: where the target of the hand may be
LOW, HIGH = (-0.5, -0.45, 0.012), (0.6, 0.45, 0.75)

PARAMS = {
    "stiffness": param(2000.0, 500.0, 3000.0, "N/m", "of the spring between hand and target"),
    "damping": param(89.0, 50.0, 180.0, "N s/m", "of the hand"),
    "turn_stiffness": param(150.0, 75.0, 300.0, "N m/rad", "of the spring that turns the hand"),
    "turn_damping": param(7.0, 4.0, 15.0, "N m s/rad", "of the turning hand"),
    "reach": param(0.05, 0.002, 0.1, "m", "largest stretch that the spring answers; bounds the force of contacts"),
    "turn_reach": param(0.3, 0.02, 0.5, "rad", "largest turn that the spring answers"),
    "joint_damping": param(1.0, 0.0, 5.0, "N m s/rad", "of every joint"),
    "payload": param(0.0, 0.0, 1.0, "kg", "at the hand, not compensated"),
    "finger_friction": param(1.0, 0.2, 2.0, "", "sliding friction of the finger tips"),
    "grip_force": param(40.0, 5.0, 70.0, "N", "largest force of the fingers"),
}
OPTIONS = {
    "control": choice(
        *("hand", "pose", "joints"),
        doc="what actions move: the hand with its fingers down, the hand and its attitude, or the seven joints",
    ),
    "fingers": flag(True, doc="the last action opens and closes the fingers; without them they stay closed"),
}
NO_FINGERS = replace(OPTIONS["fingers"], default=False)
REWARD = choice(
    *("sparse", "dense"),
    doc="-1 until the goal is reached, or the negative distance to it",
    sets={"sparse": {"reached": 1.0, "distance": 0.0}, "dense": {"reached": 0.0, "distance": 1.0}},
)
ENDS = flag(False, doc="end the episode at success")


def goal_terms(farthest: float) -> dict[str, Any]:
    """The terms of a task with a goal; `farthest` bounds the distance, m."""
    return {
        "reached": term(-1.0, 0.0, doc="-1 where the goal is not reached"),
        "distance": term(-farthest, 0.0, weight=0.0, doc="negative distance to the goal, m"),
    }


def state(arms: int = 1) -> dict[str, Any]:
    """The state fields of the arms: the readings of their sensors, and MuJoCo's own."""
    return {"grip": f8(arms, 3), "grip_velocity": f8(arms, 3), **STATE}


ARM_BLOCKS = {
    "grip": block(3, low=-1.0, high=1.0, unit="m", doc="position of the end effector", raw=True),
    "grip_velocity": block(3, low=-2.0, high=2.0, unit="m/s", doc="its velocity"),
    "fingers": block("fingers", low=0.0, high=2.0 * FINGER_OPEN, unit="m", doc="width between the fingers"),
    "joints": block("joints", low=-3.8, high=3.8, unit="rad", doc="angles, in joint control"),
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
    """The named sizes of ARM_BLOCKS."""
    return {"fingers": int(values.fingers), "joints": 7 if values.control == "joints" else 0}


def action(values: Any) -> Any:
    """The action for the chosen control."""
    moved = {
        "hand": ("dx", "dy", "dz"),
        "pose": ("dx", "dy", "dz", "rx", "ry", "rz"),
        "joints": tuple(f"joint {j + 1}" for j in range(7)),
    }[values.control]
    return continuous(*moved, *(["fingers"] if values.fingers else []), doc=ACTION_DOC)


ACTION_DOC = (
    f"the target of the hand moves by up to {STEP} m per axis and turns by up to {TURN} rad; joints turn by up to {STEP} rad; "
    "the fingers open by up to 0.2 m"
)
FPS = CONTROL_HZ


@kernel
def drive(p, s, a, k):
    """Actions `a` of arm k to targets."""
    used = 3
    if p.control == 2:
        turn_joints(s, a, k)
        used = 7
    else:
        move_target(p, s, a, k)
        if p.control == 1:
            turn_target(s, a, k)
            used = 6
    if p.fingers:
        first = k * (s.ctrl.size // s.grip.shape[0])
        width = s.qpos[ARM_QPOS * k + 7] + WIDTH_STEP * a[used]
        s.ctrl[first] = min(max(width, 0.0), FINGER_OPEN)


@kernel
def move_target(p, s, a, k):
    """The target goes ahead of the hand, but not farther than the spring answers."""
    for j in range(3):
        wanted = s.mocap_pos[k, j] + STEP * a[j]
        wanted = min(max(wanted, s.grip[k, j] - p.reach), s.grip[k, j] + p.reach)
        s.mocap_pos[k, j] = min(max(wanted, LOW[j]), HIGH[j])


@kernel
def turn_joints(s, a, k):
    first = k * (s.ctrl.size // s.grip.shape[0]) + 1
    for j in range(7):
        s.ctrl[first + j] = s.qpos[ARM_QPOS * k + j] + STEP * a[j]


@kernel
def turn_target(s, a, k):
    """Turn the target by the rotation vector in a[3:6], in world axes."""
    x, y, z = 0.5 * TURN * a[3], 0.5 * TURN * a[4], 0.5 * TURN * a[5]
    w = 1.0 - 0.5 * (x * x + y * y + z * z)
    q = s.mocap_quat[k]
    q0, q1, q2, q3 = q[0], q[1], q[2], q[3]
    n0, n1 = w * q0 - x * q1 - y * q2 - z * q3, w * q1 + x * q0 + y * q3 - z * q2
    n2, n3 = w * q2 - x * q3 + y * q0 + z * q1, w * q3 + x * q2 - y * q1 + z * q0
    norm = (n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3) ** 0.5
    q[0], q[1], q[2], q[3] = n0 / norm, n1 / norm, n2 / norm, n3 / norm


@kernel
def pose(p, s, k):
    """Put arm k in its neutral pose; called by `reset`."""
    for j in range(7):
        s.qpos[ARM_QPOS * k + j] = NEUTRAL[j]
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
    if p.control == 2:
        for j in range(7):
            o.joints[j] = s.qpos[ARM_QPOS * k + j]


@kernel
def put(s, first, x, y, z, yaw):
    """Put the object whose free joint begins at qpos[first] upright at a place; called by `reset`."""
    s.qpos[first], s.qpos[first + 1], s.qpos[first + 2] = x, y, z
    s.qpos[first + 3], s.qpos[first + 6] = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
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
def steer(s, k, x, y, z, a):
    """The scripted expert's way of moving the hand: actions that bring the target to (x, y, z)."""
    a[0] = min(max((x - s.mocap_pos[k, 0]) / STEP, -1.0), 1.0)
    a[1] = min(max((y - s.mocap_pos[k, 1]) / STEP, -1.0), 1.0)
    a[2] = min(max((z - s.mocap_pos[k, 2]) / STEP, -1.0), 1.0)
