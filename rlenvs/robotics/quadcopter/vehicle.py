"""The vehicle: a rigid body under four rotors, integrated explicitly.

Equations and the CF2X numbers: Panerati et al., "Learning to Fly", IROS 2021 (gym-pybullet-drones, explicit dynamics of
branch main). Its vehicle falls through the floor; here a floor stops it.
"""

import math

from rlenvs.core import f8, kernel, param

# Crazyflie 2.x, "X" configuration
CF2X = {
    "mass": param(0.027, 0.015, 0.06, "kg", "mass of the vehicle"),
    "arm": param(0.0397, 0.02, 0.08, "m", "distance from the centre to a rotor"),
    "inertia_x": param(1.4e-5, 5e-6, 5e-5, "kg m^2", "moment of inertia about body x"),
    "inertia_y": param(1.4e-5, 5e-6, 5e-5, "kg m^2", "moment of inertia about body y"),
    "inertia_z": param(2.17e-5, 5e-6, 1e-4, "kg m^2", "moment of inertia about body z"),
    "thrust_coefficient": param(3.16e-10, 1e-10, 1e-9, "N/RPM^2", "thrust of a rotor per squared speed"),
    "torque_coefficient": param(7.94e-12, 2e-12, 3e-11, "N m/RPM^2", "drag torque of a rotor per squared speed"),
    "thrust_to_weight": param(2.25, 1.2, 5.0, "", "largest thrust over weight; limits the rotor speed"),
    "gravity": param(9.8, 1.0, 25.0, "m/s^2", "gravitational acceleration"),
}

STATE = {
    "position": f8(3),  # m, world
    "attitude": f8(4),  # quaternion x, y, z, w from body to world
    "velocity": f8(3),  # m/s, world
    "rates": f8(3),  # rad/s, body
    "rpm": f8(4),  # rotor speeds; rotors 0, 1 are on the right (y < 0), 0, 3 in front (x > 0)
}

REST_HEIGHT = 0.0125  # m, centre of the vehicle when it stands on the floor


@kernel
def hover_rpm(p):
    """The rotor speed at which thrust equals weight."""
    return math.sqrt(p.mass * p.gravity / (4.0 * p.thrust_coefficient))


@kernel
def max_rpm(p):
    """The largest rotor speed."""
    return math.sqrt(p.thrust_to_weight * p.mass * p.gravity / (4.0 * p.thrust_coefficient))


@kernel
def euler_angles(s, angles):
    """Roll, pitch and yaw [rad] of the attitude, rotations about x, y, z of the world in this order."""
    x, y, z, w = s.attitude[0], s.attitude[1], s.attitude[2], s.attitude[3]
    angles[0] = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    angles[1] = math.asin(min(1.0, max(-1.0, 2.0 * (w * y - z * x))))
    angles[2] = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@kernel
def cosine_and_sinc(square):
    """cos(x) and sin(x) / x from x^2; for small x by their series, whose next terms are below 3e-17."""
    if square > 1e-3:
        x = math.sqrt(square)
        return math.cos(x), math.sin(x) / x
    fourth = square * square
    cosine = (1.0 - square * (1.0 / 2.0)) + fourth * (1.0 / 24.0 - square * (1.0 / 720.0))
    sinc = (1.0 - square * (1.0 / 6.0)) + fourth * (1.0 / 120.0 - square * (1.0 / 5040.0))
    return cosine, sinc


@kernel
def fly(p, s, substeps, dt):
    """Advance the vehicle by `substeps` steps of `dt` seconds at the rotor speeds s.rpm.

    Semi-implicit Euler: velocities first, then the position with the new velocity and the attitude by the exact
    rotation of the new body rates.
    """
    f0 = p.thrust_coefficient * s.rpm[0] * s.rpm[0]
    f1 = p.thrust_coefficient * s.rpm[1] * s.rpm[1]
    f2 = p.thrust_coefficient * s.rpm[2] * s.rpm[2]
    f3 = p.thrust_coefficient * s.rpm[3] * s.rpm[3]
    lever = p.arm / math.sqrt(2.0)
    drag = p.torque_coefficient / p.thrust_coefficient
    torque_x = -(f0 + f1 - f2 - f3) * lever
    torque_y = (-f0 + f1 + f2 - f3) * lever
    torque_z = (-f0 + f1 - f2 + f3) * drag
    lift = (f0 + f1 + f2 + f3) / p.mass
    # changes of the body rates per substep: by the torques, and by the gyroscopic couplings
    turn_x, turn_y, turn_z = dt * torque_x / p.inertia_x, dt * torque_y / p.inertia_y, dt * torque_z / p.inertia_z
    couple_x = dt * (p.inertia_y - p.inertia_z) / p.inertia_x
    couple_y = dt * (p.inertia_z - p.inertia_x) / p.inertia_y
    couple_z = dt * (p.inertia_x - p.inertia_y) / p.inertia_z
    lift_dt, gravity_dt, half_dt = 2.0 * dt * lift, dt * p.gravity, 0.5 * dt

    # locals, because the compiler cannot keep record fields in registers
    px, py, pz = s.position[0], s.position[1], s.position[2]
    qx, qy, qz, qw = s.attitude[0], s.attitude[1], s.attitude[2], s.attitude[3]
    vx, vy, vz = s.velocity[0], s.velocity[1], s.velocity[2]
    wx, wy, wz = s.rates[0], s.rates[1], s.rates[2]
    for _ in range(substeps):
        vx += lift_dt * (qx * qz + qw * qy)
        vy += lift_dt * (qy * qz - qw * qx)
        vz += lift_dt * (0.5 - (qx * qx + qy * qy)) - gravity_dt
        ax = turn_x + couple_x * wy * wz
        ay = turn_y + couple_y * wz * wx
        az = turn_z + couple_z * wx * wy
        wx += ax
        wy += ay
        wz += az
        px += dt * vx
        py += dt * vy
        pz += dt * vz
        if pz < REST_HEIGHT:
            pz = REST_HEIGHT
            vx, vy, vz = 0.0, 0.0, max(vz, 0.0)
            wx, wy, wz = 0.0, 0.0, 0.0
        hx, hy, hz = half_dt * wx, half_dt * wy, half_dt * wz
        square = hx * hx + hy * hy + hz * hz
        cosine, sine = cosine_and_sinc(square)
        hx, hy, hz = hx * sine, hy * sine, hz * sine
        nx = cosine * qx + (hz * qy - hy * qz + hx * qw)
        ny = cosine * qy + (-hz * qx + hx * qz + hy * qw)
        nz = cosine * qz + (hy * qx - hx * qy + hz * qw)
        qw = cosine * qw - (hx * qx + hy * qy + hz * qz)
        qx, qy, qz = nx, ny, nz
    scale = 1.0 / math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    qx, qy, qz, qw = qx * scale, qy * scale, qz * scale, qw * scale
    s.position[0], s.position[1], s.position[2] = px, py, pz
    s.attitude[0], s.attitude[1], s.attitude[2], s.attitude[3] = qx, qy, qz, qw
    s.velocity[0], s.velocity[1], s.velocity[2] = vx, vy, vz
    s.rates[0], s.rates[1], s.rates[2] = wx, wy, wz


@kernel
def rotor_speeds(p, thrust, torque_x, torque_y, torque_z, rpm):
    """The inverse of the mixer: rotor speeds [RPM] that give a thrust [N] and torques [N m], as far as they can."""
    lever = 4.0 * p.arm / math.sqrt(2.0)
    drag = 4.0 * p.torque_coefficient / p.thrust_coefficient
    roll, pitch, yaw, share = torque_x / lever, torque_y / lever, torque_z / drag, 0.25 * thrust
    rpm[0] = math.sqrt(max(0.0, share - roll - pitch - yaw) / p.thrust_coefficient)
    rpm[1] = math.sqrt(max(0.0, share - roll + pitch + yaw) / p.thrust_coefficient)
    rpm[2] = math.sqrt(max(0.0, share + roll + pitch - yaw) / p.thrust_coefficient)
    rpm[3] = math.sqrt(max(0.0, share + roll - pitch + yaw) / p.thrust_coefficient)
