"""Controllers: the Crazyflie's cascaded PID, a rate loop, and the geometric controller of the scripted experts.

The PID and its gains: DSLPIDControl of gym-pybullet-drones (Panerati et al., IROS 2021). There it exists only for the
Crazyflies; here it works for every vehicle, because its gains are scaled so that the same error gives the same relative
change of thrust and the same angular acceleration. Fixed: it is reset with every episode, from the attitude at the
start, and its yaw rate does not jump at +-180 degrees.
"""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import choice, f8, kernel, maths
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter.vehicle import BODY, VEHICLES, command_wrench, euler_angles, frame_data, hover_rpm

COMMANDS = {
    "rpm": ("rotor 0", "rotor 1", "rotor 2", "rotor 3"),
    "one_d_rpm": ("all rotors",),
    "thrust_rates": ("thrust", "roll rate", "pitch rate", "yaw rate"),
    "velocity": ("velocity x", "velocity y", "velocity z", "speed"),
    "position": ("x", "y", "z"),
    "one_d_position": ("climb",),
}
ACTION = choice(*COMMANDS, doc="what an action commands")
RPM, ONE_D_RPM, THRUST_RATES = ACTION.codes("rpm", "one_d_rpm", "thrust_rates")
VELOCITY, POSITION, ONE_D_POSITION = ACTION.codes("velocity", "position", "one_d_position")

# the PID's gains, for x and y, and for z
FORCE_P, FORCE_P_Z = 0.4, 1.25
FORCE_I, FORCE_I_Z = 0.05, 0.05
FORCE_D, FORCE_D_Z = 0.2, 0.5
TORQUE_P, TORQUE_P_Z = 70000.0, 60000.0
TORQUE_I_Z = 500.0
TORQUE_D, TORQUE_D_Z = 20000.0, 12000.0
INTEGRAL, INTEGRAL_Z = 2.0, 0.15  # limits of the integrals of position [m s]
ANGLE_INTEGRAL, ANGLE_INTEGRAL_Z = 1.0, 1500.0  # and of attitude
TORQUE = 3200.0  # limit of the attitude loop's output
PWM_LOW, PWM_HIGH = 20000.0, 65535.0
RPM_PER_PWM, RPM_AT_ZERO = 0.2685, 4070.3

# the vehicle that these gains are made for
MASS = BODY["mass"].default
HOVER = math.sqrt(MASS * BODY["gravity"].default / (4.0 * BODY["thrust_coefficient"].default))

CONTROL_DATA = {"pid_inertia": f8(3), "pid_mix": f8(4, 3)}


def control_data(values: Any) -> dict[str, np.ndarray]:
    """The PID's mixer, (4, 3), and the (3,) relative inertias for which its gains hold as they are.

    A relative inertia is a moment of inertia over the torque of the weight at an arm (about z: its drag torque).
    """
    rotor = frame_data(values)["rotor"]
    plus = bool((np.abs(rotor[:, :2]) < 1e-9).any())
    gain = 1.0 if plus else 0.5
    mix = np.stack([gain * np.sign(rotor[:, 1]), -gain * np.sign(rotor[:, 0]), rotor[:, 2]], axis=1)
    usual = {name: p.default for name, p in BODY.items()} | VEHICLES["cf2p" if plus else "cf2x"]
    weight = usual["mass"] * usual["gravity"]
    arms = [1.0, 1.0] if plus else (np.abs(rotor[:, 1::-1]).mean(axis=0) * math.sqrt(2.0)).tolist()
    drag = usual["torque_coefficient"] / usual["thrust_coefficient"]
    inertia = [
        usual["inertia_x"] / (usual["arm"] * weight) * arms[0],
        usual["inertia_y"] / (usual["arm"] * weight) * arms[1],
        usual["inertia_z"] / (drag * weight),
    ]
    return {"pid_inertia": np.array(inertia), "pid_mix": mix}


def control_state(drones: int | str) -> dict[str, Any]:
    """What the controllers remember; a row per vehicle."""
    return {
        "target_rates": f8(drones, 3),  # rad/s, body; and the thrust [N] that goes with them
        "target_thrust": f8(drones),
        "place_integral": f8(drones, 3),
        "angle_integral": f8(drones, 3),
        "last_angles": f8(drones, 3),
    }


@kernel
def limited(value, limit):
    """A value cut to [-limit, limit]."""
    return min(max(value, -limit), limit)


@kernel
def start_control(s, k):
    """Forget the past: no integrals, no rates."""
    for j in range(3):
        s.place_integral[k, j] = 0.0
        s.angle_integral[k, j] = 0.0
        s.last_angles[k, j] = s.angles[k, j]


# 14 parameters: the target's place and motion, number by number, as kernels make no arrays
@kernel
def pid(p, s, k, dt, x, y, z, yaw, speed_x, speed_y, speed_z, turn_x, turn_y, turn_z):
    """Command vehicle k's rotors, once per control step of `dt` seconds.

    Args:
        x, y, z: the target place [m]; yaw: the target yaw [rad].
        speed_x, speed_y, speed_z: the target velocity [m/s]. turn_x, turn_y, turn_z: the target rates of roll, pitch
            and yaw [rad/s].
    """
    qx, qy, qz, qw = s.attitude[k, 0], s.attitude[k, 1], s.attitude[k, 2], s.attitude[k, 3]
    heavier = p.mass / MASS
    integral = s.place_integral
    ex, ey, ez = x - s.position[k, 0], y - s.position[k, 1], z - s.position[k, 2]
    integral[k, 0] = limited(integral[k, 0] + dt * ex, INTEGRAL)
    integral[k, 1] = limited(integral[k, 1] + dt * ey, INTEGRAL)
    integral[k, 2] = limited(limited(integral[k, 2] + dt * ez, INTEGRAL), INTEGRAL_Z)
    fx = heavier * (FORCE_P * ex + FORCE_I * integral[k, 0] + FORCE_D * (speed_x - s.velocity[k, 0]))
    fy = heavier * (FORCE_P * ey + FORCE_I * integral[k, 1] + FORCE_D * (speed_y - s.velocity[k, 1]))
    fz = heavier * (FORCE_P_Z * ez + FORCE_I_Z * integral[k, 2] + FORCE_D_Z * (speed_z - s.velocity[k, 2]))
    fz += p.mass * p.gravity

    # rotation matrices: r of the vehicle, d that is wanted (z along the force, x as the yaw says)
    rxx, rxy, rxz = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy - qw * qz), 2.0 * (qx * qz + qw * qy)
    ryx, ryy, ryz = 2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz - qw * qx)
    rzx, rzy, rzz = 2.0 * (qx * qz - qw * qy), 2.0 * (qy * qz + qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    thrust = max(0.0, fx * rxz + fy * ryz + fz * rzz)
    size = max(math.sqrt(fx * fx + fy * fy + fz * fz), 1e-12)
    dxz, dyz, dzz = fx / size, fy / size, fz / size
    cosine, sine = maths.cos(yaw), maths.sin(yaw)
    dxy, dyy, dzy = -dzz * sine, dzz * cosine, dxz * sine - dyz * cosine
    size = max(math.sqrt(dxy * dxy + dyy * dyy + dzy * dzy), 1e-12)
    dxy, dyy, dzy = dxy / size, dyy / size, dzy / size
    dxx, dyx, dzx = dyy * dzz - dzy * dyz, dzy * dxz - dxy * dzz, dxy * dyz - dyy * dxz
    # twice the vector part of d^T r
    off_x = (dxz * rxy + dyz * ryy + dzz * rzy) - (dxy * rxz + dyy * ryz + dzy * rzz)
    off_y = (dxx * rxz + dyx * ryz + dzx * rzz) - (dxz * rxx + dyz * ryx + dzz * rzx)
    off_z = (dxy * rxx + dyy * ryx + dzy * rzx) - (dxx * rxy + dyx * ryy + dzx * rzy)

    euler_angles(s, k)
    last, angles = s.last_angles, s.angles
    rate_x, rate_y = (angles[k, 0] - last[k, 0]) / dt, (angles[k, 1] - last[k, 1]) / dt
    turned = angles[k, 2] - last[k, 2]
    rate_z = (turned - 2.0 * math.pi * math.floor(turned / (2.0 * math.pi) + 0.5)) / dt
    for j in range(3):
        last[k, j] = angles[k, j]
    angle = s.angle_integral
    angle[k, 0] = limited(angle[k, 0] - dt * off_x, ANGLE_INTEGRAL)
    angle[k, 1] = limited(angle[k, 1] - dt * off_y, ANGLE_INTEGRAL)
    angle[k, 2] = limited(angle[k, 2] - dt * off_z, ANGLE_INTEGRAL_Z)
    weight = p.mass * p.gravity
    drag = p.torque_coefficient / p.thrust_coefficient
    about_x = limited(-TORQUE_P * off_x + TORQUE_D * (turn_x - rate_x), TORQUE)
    about_y = limited(-TORQUE_P * off_y + TORQUE_D * (turn_y - rate_y), TORQUE)
    about_z = limited(-TORQUE_P_Z * off_z + TORQUE_D_Z * (turn_z - rate_z) + TORQUE_I_Z * angle[k, 2], TORQUE)
    about_x *= p.inertia_x / (p.arm * weight) / p.pid_inertia[0]
    about_y *= p.inertia_y / (p.arm * weight) / p.pid_inertia[1]
    # racers can hardly yaw: what more their inertia asks for would take the thrust that keeps them upright
    about_z = limited(about_z * p.inertia_z / (drag * weight) / p.pid_inertia[2], TORQUE)
    faster = hover_rpm(p) / HOVER
    base = (math.sqrt(thrust / (4.0 * p.thrust_coefficient)) / faster - RPM_AT_ZERO) / RPM_PER_PWM
    for j in range(4):
        pwm = base + p.pid_mix[j, 0] * about_x + p.pid_mix[j, 1] * about_y + p.pid_mix[j, 2] * about_z
        s.command[k, j] = faster * (RPM_PER_PWM * min(max(pwm, PWM_LOW), PWM_HIGH) + RPM_AT_ZERO)


@kernel
def pid_target(s, k, ax, ay, az):
    """The place [m] towards which the PID, with what its integrals hold, accelerates vehicle k by (ax, ay, az) [m/s^2].

    Its gains are those of the Crazyflie; for other vehicles they are scaled to accelerate alike.
    """
    x, v, held = s.position, s.velocity, s.place_integral
    return (
        x[k, 0] + (MASS * ax + FORCE_D * v[k, 0] - FORCE_I * held[k, 0]) / FORCE_P,
        x[k, 1] + (MASS * ay + FORCE_D * v[k, 1] - FORCE_I * held[k, 1]) / FORCE_P,
        x[k, 2] + (MASS * az + FORCE_D_Z * v[k, 2] - FORCE_I_Z * held[k, 2]) / FORCE_P_Z,
    )


@kernel
def hold_rates(p, s, k, rate_x, rate_y, rate_z):
    """Command vehicle k's rotors to turn with s.target_rates at the thrust s.target_thrust, given its present rates."""
    gain = p.rate_gain
    ax, ay = gain * (s.target_rates[k, 0] - rate_x), gain * (s.target_rates[k, 1] - rate_y)
    az = gain * (s.target_rates[k, 2] - rate_z)
    torque_x = p.inertia_x * ax + (p.inertia_z - p.inertia_y) * rate_y * rate_z
    torque_y = p.inertia_y * ay + (p.inertia_x - p.inertia_z) * rate_z * rate_x
    torque_z = p.inertia_z * az + (p.inertia_y - p.inertia_x) * rate_x * rate_y
    command_wrench(p, s, k, s.target_thrust[k], torque_x, torque_y, torque_z)


class PIDController:
    """The cascaded PID as a class of its own, to fly anything with.

    Args:
        vehicle: "cf2x", "cf2p", "racer", "hb", "stmcfb" or "cpc".
        control_hz: calls of `rpm` per second.
        changes: parameters that differ from the vehicle's, such as mass=0.03.

    Raises:
        ParameterError: an unknown vehicle, parameter or value.
    """

    def __init__(self, vehicle: str = "cf2x", control_hz: float = 48.0, **changes: float) -> None:
        if vehicle not in VEHICLES:
            raise ParameterError(f"vehicle={vehicle!r} is not one of {', '.join(VEHICLES)}")
        unknown = sorted(set(changes) - set(BODY))
        if unknown:
            raise ParameterError(f"a vehicle has no parameters {unknown}; it has {sorted(BODY)}")
        if not control_hz > 0:
            raise ParameterError(f"control_hz={control_hz!r} must be positive")
        chosen = {name: p.default for name, p in BODY.items()} | VEHICLES[vehicle] | changes
        numbers = {name: float(p.check(name, chosen[name])) for name, p in BODY.items()}
        frame = SimpleNamespace(vehicle=vehicle, rotors=None, hull=None)
        self._p = SimpleNamespace(**numbers, **frame_data(frame), **control_data(frame))
        self._dt = 1.0 / control_hz
        self.reset()

    def reset(self, yaw: float = 0.0) -> None:
        """Begin anew, level and at a yaw [rad]."""
        names = ("position", "velocity", "angles", "place_integral", "angle_integral", "last_angles")
        self._s = SimpleNamespace(**{name: np.zeros((1, 3)) for name in names})
        self._s.attitude, self._s.command = np.array([[0.0, 0.0, 0.0, 1.0]]), np.zeros((1, 4))
        self._s.last_angles[0, 2] = yaw

    def rpm(
        self,
        position: Any,
        attitude: Any,
        velocity: Any,
        target: Any,
        target_yaw: float = 0.0,
        target_velocity: Any = (0.0, 0.0, 0.0),
        target_rates: Any = (0.0, 0.0, 0.0),
    ) -> np.ndarray:
        """The rotor speeds [RPM], (4,), for the next control step.

        Args:
            position, velocity: (3,), world axes, m and m/s.
            attitude: (4,), quaternion x, y, z, w.
            target, target_velocity: (3,), m and m/s. target_yaw: rad.
            target_rates: (3,), of roll, pitch and yaw, rad/s.
        """
        s = self._s
        s.position[0], s.attitude[0], s.velocity[0] = position, attitude, velocity
        wanted = [*target, target_yaw, *target_velocity, *target_rates]
        pid(self._p, s, 0, self._dt, *map(float, wanted))
        return s.command[0].copy()
