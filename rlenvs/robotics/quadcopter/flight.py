"""The common parts of all tasks: conversion of actions to rotor commands, observations, steering of experts.

A task declares its world from the parts here and adds its own goal, terms and terminations. Vehicles are numbered; a
task with one vehicle uses number 0.
"""

import math
from typing import Any

from rlenvs.core import block, choice, continuous, f4, f8, image, integer, kernel, param, u1
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter.camera import depth_to_bytes, render
from rlenvs.robotics.quadcopter.control import (
    ACTION,
    COMMANDS,
    CONTROL_DATA,
    ONE_D_POSITION,
    ONE_D_RPM,
    POSITION,
    RPM,
    THRUST_RATES,
    VELOCITY,
    control_data,
    control_state,
    limited,
    pid,
    pid_target,
    start_control,
)
from rlenvs.robotics.quadcopter.vehicle import (
    AIR,
    BODY,
    EFFECTS,
    FRAME,
    FRAME_DATA,
    frame_data,
    hover_rpm,
    max_rpm,
    place,
    rotor_thrust,
    vehicle_state,
)

LONGEST_STEP = 1.0  # m, the farthest that position actions set the PID's target away
CLIMB = 0.1  # m, the same for "one_d_position"
STRIDE = 0.2  # m, along each axis, the same for the expert

PARAMS = {
    **BODY,
    **AIR,
    "action_range": param(0.05, 0.01, 1.0, "", "rpm actions: change of rotor speed at full action, relative to hover"),
    "rate_limit": param(6.0, 0.5, 20.0, "rad/s", "thrust_rates actions: rate at full action"),
    "rate_gain": param(20.0, 2.0, 100.0, "1/s", "thrust_rates actions: gain of the rate loop"),
}
CAMERA = choice("none", "depth", "rgb", "rgbd", doc="images of the onboard camera in the observation")
(DEPTH,) = CAMERA.codes("depth")
OPTIONS: dict[str, Any] = {
    **FRAME,
    "action": ACTION,
    "physics_hz": integer(240, 30, 4000, "physics steps per second"),
    "control_hz": integer(30, 1, 1000, "actions per second; must divide physics_hz"),
    **EFFECTS,
    "attitude": choice("euler", "matrix", "quaternion", doc="representation of the attitude in the observation"),
    "history": integer(0, 0, 120, "number of past actions in the observation (15 in the original)"),
    "camera": CAMERA,
    "camera_width": integer(64, 4, 1024, "pixels"),
    "camera_height": integer(48, 4, 1024, "pixels"),
}
DATA = {**FRAME_DATA, **CONTROL_DATA, "lens": f8(3)}
IMAGES = {
    "rgb": image(
        "camera_rows", "camera_columns", "colors", doc="(camera_height, camera_width, 4): red, green, blue, 255"
    ),
    "depth": image(
        "camera_rows",
        "camera_columns",
        "depths",
        doc="(camera_height, camera_width, 1): distance along the axis, 255 is 20 m and more",
    ),
}
LENS = (math.pi / 3, 0.03, 20.0)  # field of view from top to bottom [rad], nearest and farthest distance [m]
ENGINES = {
    "pybullet": "rlenvs.kits.engines.bullet:BulletEngine",
    "pybullet_window": "rlenvs.kits.engines.bullet:BulletWindow",
}
# settings under which parameters show that do nothing by default, for the conformance suite
PROBE: dict[str, dict[str, Any]] = {
    "action_range": {"action": "rpm"},
    "rate_limit": {"action": "thrust_rates"},
    "rate_gain": {"action": "thrust_rates"},
    "speed_limit": {"action": "velocity"},
}


def flight_sizes(values: Any) -> dict[str, int]:
    """The named sizes that observations and actions use.

    Raises:
        ParameterError: the control rate does not divide the physics rate.
    """
    if values.physics_hz % values.control_hz:
        below = max(n for n in range(1, values.control_hz + 1) if values.physics_hz % n == 0)
        raise ParameterError(
            f"control_hz={values.control_hz} does not divide physics_hz={values.physics_hz}; "
            f"the next lower rate that does is {below}"
        )
    seen = values.camera != "none"
    return {
        "commands": len(COMMANDS[values.action]),
        "history": values.history,
        "euler": 2 if values.attitude == "euler" else 0,
        "heading": 1 if values.attitude == "euler" else 0,
        "matrix": 9 if values.attitude == "matrix" else 0,
        "quaternion": 4 if values.attitude == "quaternion" else 0,
        "camera_rows": values.camera_height if seen else 0,
        "camera_columns": values.camera_width if seen else 0,
        "colors": 4 if "rgb" in values.camera else 0,
        "depths": 1 if values.camera in ("depth", "rgbd") else 0,
        "hidden_colors": 4 if values.camera == "depth" else 0,
        "shapes": 0,
    }


def flight_action(values: Any) -> Any:
    """The action space of the form that was chosen."""
    return continuous(*COMMANDS[values.action])


def flight_data(values: Any) -> dict[str, Any]:
    """The arrays of DATA."""
    return {**frame_data(values), **control_data(values), "lens": LENS}


def flight_fps(values: Any) -> float:
    """Control steps per second."""
    return values.control_hz


def lasting(seconds: float) -> Any:
    """A horizon of so many seconds."""
    return lambda values: max(1, round(seconds * values.control_hz))


def flight_state(drones: int | str) -> dict[str, Any]:
    """The state of some vehicles with what their controllers and cameras remember, and the shapes around them."""
    return {
        **vehicle_state(drones),
        **control_state(drones),
        "past": f4(drones, "history", "commands"),
        "shapes": f8("shapes", 12),
        "camera_depth": f4(drones, "camera_rows", "camera_columns"),
        "camera_colors": u1(drones, "camera_rows", "camera_columns", "hidden_colors"),
    }


def kinematics(arena: float, speed: float, tilt: float = math.pi / 2, rate: float = 6.0) -> dict[str, Any]:
    """The observation blocks of a vehicle's own motion, for an arena of this half size [m] and this speed."""
    return {
        "position": block(3, low=-arena, high=arena, unit="m", doc="position, from the middle of the floor"),
        "tilt": block("euler", low=-tilt, high=tilt, unit="rad", doc="roll, pitch"),
        "yaw": block("heading", low=-math.pi, high=math.pi, unit="rad", doc="yaw"),
        "matrix": block("matrix", low=-1.0, high=1.0, doc="rotation matrix from body to world, row by row"),
        "quaternion": block("quaternion", low=-1.0, high=1.0, doc="attitude x, y, z, w, with w nonnegative"),
        "velocity": block(3, low=-speed, high=speed, unit="m/s", doc="velocity, world axes"),
        "rates": block(3, low=-rate, high=rate, unit="rad/s", doc="angular velocity, body axes"),
    }


def past_actions() -> dict[str, Any]:
    """The observation block of past actions."""
    return {"past": block("history", "commands", low=-1.0, high=1.0, doc="past actions, oldest first", raw=True)}


@kernel
def take_off(p, s, k, x, y, z, yaw):
    """Vehicle k at the start of an episode: at rest, level, hovering."""
    place(p, s, k, x, y, z, yaw)
    start_control(s, k)


# --- actions ----------------------------------------------------------------------------------------------------------


@kernel
def command(p, s, k, a, half, ceiling):
    """Turn the action of vehicle k into rotor commands.

    Args:
        a: the action, numbers in [-1, 1].
        half, ceiling: half side and height [m] of the box that position actions span.
    """
    dt = 1.0 / p.control_hz
    x, y, z = s.position[k, 0], s.position[k, 1], s.position[k, 2]
    if p.action == RPM or p.action == ONE_D_RPM:
        hover, limit = hover_rpm(p), max_rpm(p)
        for j in range(4):
            value = a[j] if p.action == RPM else a[0]
            s.command[k, j] = min(max(hover * (1.0 + p.action_range * value), 0.0), limit)
    elif p.action == THRUST_RATES:
        weight = p.mass * p.gravity
        more = p.thrust_to_weight - 1.0 if a[0] > 0.0 else 1.0
        s.target_thrust[k] = weight * (1.0 + more * a[0])
        for j in range(3):
            s.target_rates[k, j] = p.rate_limit * a[1 + j]
    elif p.action == VELOCITY:
        size = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
        speed = p.speed_limit * abs(a[3]) / max(size, 1e-9)
        pid(p, s, k, dt, x, y, z, s.angles[k, 2], speed * a[0], speed * a[1], speed * a[2], 0.0, 0.0, 0.0)
    elif p.action == POSITION:
        ex, ey, ez = half * a[0] - x, half * a[1] - y, 0.5 * ceiling * (1.0 + a[2]) - z
        size = math.sqrt(ex * ex + ey * ey + ez * ez)
        share = min(1.0, LONGEST_STEP / max(size, 1e-9))
        pid(p, s, k, dt, x + share * ex, y + share * ey, z + share * ez, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    else:
        pid(p, s, k, dt, x, y, z + CLIMB * a[0], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    remember(s, k, a)


@kernel
def remember(s, k, a):
    """Keep the action of vehicle k in s.past."""
    rows, columns = s.past.shape[1], s.past.shape[2]
    for row in range(rows - 1):
        for j in range(columns):
            s.past[k, row, j] = s.past[k, row + 1, j]
    if rows > 0:
        for j in range(columns):
            s.past[k, rows - 1, j] = a[j]


# --- observations -----------------------------------------------------------------------------------------------------


@kernel
def observe_motion(p, s, k, o):
    """Fill the blocks of `kinematics` and `past_actions` for vehicle k."""
    qx, qy, qz, qw = s.attitude[k, 0], s.attitude[k, 1], s.attitude[k, 2], s.attitude[k, 3]
    for j in range(3):
        o.position[j] = s.position[k, j]
        o.velocity[j] = s.velocity[k, j]
        o.rates[j] = s.rates[k, j]
    if o.tilt.shape[0] > 0:
        o.tilt[0], o.tilt[1] = s.angles[k, 0], s.angles[k, 1]
        o.yaw[0] = s.angles[k, 2]
    if o.matrix.shape[0] > 0:
        o.matrix[0], o.matrix[1] = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy - qw * qz)
        o.matrix[2], o.matrix[3] = 2.0 * (qx * qz + qw * qy), 2.0 * (qx * qy + qw * qz)
        o.matrix[4], o.matrix[5] = 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz - qw * qx)
        o.matrix[6], o.matrix[7] = 2.0 * (qx * qz - qw * qy), 2.0 * (qy * qz + qw * qx)
        o.matrix[8] = 1.0 - 2.0 * (qx * qx + qy * qy)
    if o.quaternion.shape[0] > 0:
        sign = -1.0 if qw < 0.0 else 1.0
        for j in range(4):
            o.quaternion[j] = sign * s.attitude[k, j]
    for row in range(s.past.shape[1]):
        for j in range(s.past.shape[2]):
            o.past[row, j] = s.past[k, row, j]


@kernel
def look_from(p, s, k, i):
    """Fill the images of vehicle k: a camera at the front of its hull that looks along body x."""
    colors = s.camera_colors[k] if p.camera == DEPTH else i.rgb
    depth = s.camera_depth[k]
    radius, half = p.hull[0], 0.5 * p.hull[1]
    qx, qy, qz, qw = s.attitude[k, 0], s.attitude[k, 1], s.attitude[k, 2], s.attitude[k, 3]
    x = s.position[k, 0] + radius * (1.0 - 2.0 * (qy * qy + qz * qz))
    y = s.position[k, 1] + radius * 2.0 * (qx * qy + qw * qz)
    z = s.position[k, 2] + radius * 2.0 * (qx * qz - qw * qy)
    angle, near, far = p.lens[0], p.lens[1], p.lens[2]
    render(s.shapes, s.position, k, radius, half, x, y, z, s.attitude[k], 0, angle, near, far, colors, depth)
    if i.depth.shape[2] > 0:
        depth_to_bytes(depth, far, i.depth[:, :, 0])


@kernel
def observe_images(p, s, i):
    """`look_from` for worlds with one vehicle."""
    look_from(p, s, 0, i)


# --- terms, ends and costs --------------------------------------------------------------------------------------------


@kernel
def mean_square(a):
    """The mean of the squared numbers of an action."""
    total = 0.0
    for j in range(a.size):
        total += a[j] * a[j]
    return total / a.size


@kernel
def largest_tilt(s, k):
    """The larger of |roll| and |pitch| [rad]; call `euler_angles` before."""
    return max(abs(s.angles[k, 0]), abs(s.angles[k, 1]))


@kernel
def distance_to(s, k, x, y, z):
    """Distance [m] of vehicle k to a place."""
    x, y, z = x - s.position[k, 0], y - s.position[k, 1], z - s.position[k, 2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def nearest_drone(s, k):
    """Distance [m] from vehicle k to the nearest other one that is alive; 1e9 when there is none."""
    best = 1e18
    for j in range(s.position.shape[0]):
        if j != k and s.alive[j]:
            x, y = s.position[j, 0] - s.position[k, 0], s.position[j, 1] - s.position[k, 1]
            z = s.position[j, 2] - s.position[k, 2]
            best = min(best, x * x + y * y + z * z)
    return math.sqrt(best)


# --- the expert -------------------------------------------------------------------------------------------------------


@kernel
def steer_rotors(p, s, k, a, ax, ay, az):
    """The action that accelerates vehicle k by (ax, ay, az) [m/s^2, world], with its nose along x, by rotors or rates;
    one-dimensional actions give `az` alone.

    The wanted direction of thrust gives the wanted attitude, its error the wanted rates, and these the torques.
    """
    if p.action == ONE_D_POSITION:
        _, _, z = pid_target(s, k, 0.0, 0.0, az)
        a[0] = limited((z - s.position[k, 2]) / CLIMB, 1.0)
        return
    qx, qy, qz, qw = s.attitude[k, 0], s.attitude[k, 1], s.attitude[k, 2], s.attitude[k, 3]
    ux, uy, uz = 2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    az += p.gravity
    thrust = p.mass * max(0.0, ax * ux + ay * uy + az * uz)
    if p.action == ONE_D_RPM:
        a[0] = limited((math.sqrt(thrust / (4.0 * p.thrust_coefficient)) / hover_rpm(p) - 1.0) / p.action_range, 1.0)
        return
    size = max(math.sqrt(ax * ax + ay * ay + az * az), 1e-9)
    ax, ay, az = ax / size, ay / size, az / size
    # the turn from the present up to the wanted one, in body axes, and what is left of the yaw
    tx, ty, tz = uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax
    off_x = (1.0 - 2.0 * (qy * qy + qz * qz)) * tx + 2.0 * (qx * qy + qw * qz) * ty + 2.0 * (qx * qz - qw * qy) * tz
    off_y = 2.0 * (qx * qy - qw * qz) * tx + (1.0 - 2.0 * (qx * qx + qz * qz)) * ty + 2.0 * (qy * qz + qw * qx) * tz
    rate_x, rate_y, rate_z = 5.0 * off_x, 5.0 * off_y, limited(-2.0 * s.angles[k, 2], 1.0)
    if p.action == THRUST_RATES:
        relative = thrust / (p.mass * p.gravity) - 1.0
        a[0] = limited(relative / (p.thrust_to_weight - 1.0) if relative > 0.0 else relative, 1.0)
        a[1] = limited(rate_x / p.rate_limit, 1.0)
        a[2] = limited(rate_y / p.rate_limit, 1.0)
        a[3] = limited(rate_z / p.rate_limit, 1.0)
        return
    torque_x = 20.0 * p.inertia_x * (rate_x - s.rates[k, 0])
    torque_y = 20.0 * p.inertia_y * (rate_y - s.rates[k, 1])
    torque_z = 4.0 * p.inertia_z * (rate_z - s.rates[k, 2])
    for j in range(4):
        f = rotor_thrust(p, j, thrust, torque_x, torque_y, torque_z)
        a[j] = limited((math.sqrt(f / p.thrust_coefficient) / hover_rpm(p) - 1.0) / p.action_range, 1.0)


# 13 parameters: a place and a velocity, number by number, as kernels make no arrays
@kernel
def fly_to(p, s, k, a, x, y, z, vx, vy, vz, most, half, ceiling):
    """The expert's action towards a place [m] and velocity [m/s], accelerating by at most `most` [m/s^2] sideways."""
    ex, ey, ez = x - s.position[k, 0], y - s.position[k, 1], z - s.position[k, 2]
    if p.action == POSITION:
        # in steps, because a far target tilts the vehicle far
        a[0] = limited((s.position[k, 0] + limited(ex, STRIDE)) / half, 1.0)
        a[1] = limited((s.position[k, 1] + limited(ey, STRIDE)) / half, 1.0)
        a[2] = limited(2.0 * (s.position[k, 2] + limited(ez, STRIDE)) / ceiling - 1.0, 1.0)
        return
    if p.action == ONE_D_POSITION:
        a[0] = limited(ez / CLIMB, 1.0)
        return
    if p.action == VELOCITY:
        vx, vy, vz = vx + 1.5 * ex, vy + 1.5 * ey, vz + 1.5 * ez
        size = max(math.sqrt(vx * vx + vy * vy + vz * vz), 1e-9)
        a[0], a[1], a[2], a[3] = vx / size, vy / size, vz / size, min(1.0, size / p.speed_limit)
        return
    ax = limited(4.0 * ex + 3.5 * (vx - s.velocity[k, 0]), most)
    ay = limited(4.0 * ey + 3.5 * (vy - s.velocity[k, 1]), most)
    az = limited(6.0 * ez + 4.0 * (vz - s.velocity[k, 2]), 0.5 * most)
    steer_rotors(p, s, k, a, ax, ay, az)


# --- the keyboard -----------------------------------------------------------------------------------------------------


def fly_by_keys(pressed: Any, values: Any) -> list[float]:
    """An action from the keyboard: up and down lift, left and right roll, w and s pitch, a and d yaw."""
    lift = ("up" in pressed) - ("down" in pressed)
    right = ("right" in pressed) - ("left" in pressed)
    ahead = ("w" in pressed) - ("s" in pressed)
    if values.action.startswith("one_d"):
        return [float(lift)]
    if values.action == "rpm":
        return [0.5 * lift + 0.03 * (y * right - x * ahead) for x, y, _ in frame_data(values)["rotor"]]
    if values.action == "thrust_rates":
        turn = ("a" in pressed) - ("d" in pressed)
        return [0.3 * lift, 0.1 * right, 0.1 * ahead, 0.2 * turn]
    if values.action == "velocity":
        return [float(ahead), -float(right), float(lift), 1.0 if lift or right or ahead else 0.0]
    return [0.5 * ahead, -0.5 * right, 0.5 * lift]
