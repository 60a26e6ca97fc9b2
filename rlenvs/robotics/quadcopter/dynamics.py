"""The motion: a rigid body under four rotors in air, integrated explicitly, over a floor.

Equations: Panerati et al., "Learning to Fly", IROS 2021, explicit dynamics of gym-pybullet-drones' branch main, with
its ground effect and drag. Known errors are corrected: vehicles do not fall through the floor, and drag acts along the
body axes with the relative air velocity. Rotor lag, battery and wind are added by this package.

`before_physics` computes what an engine applies in one physics step, `fly` does the whole motion in this package's
kernels; both take forces and torques from `wrench`.
"""

import math

from rlenvs.core import kernel, maths, normal
from rlenvs.robotics.quadcopter.control import THRUST_RATES, hold_rates
from rlenvs.robotics.quadcopter.vehicle import RADIANS

FRICTION = 0.5  # of the floor
FASTEST = 1000.0  # rad/s, beyond which nothing turns: what is integrated explicitly would grow without bound there


@kernel
def constants(p, dt):
    """What `drive` and `wrench` need again and again: numbers that follow from the parameters.

    Returns:
        share of the way to its command that a rotor makes in `dt` seconds, charge lost per watt, lowest height that
        ground effect knows [m], its strength [m^2], drag torque per thrust [m], drag per speed and RPM across and
        along the axis of the rotors.
    """
    gain = 1.0 - maths.exp(-dt / max(p.lag_time, 1e-9)) if p.rotor_lag else 1.0
    drain = dt / p.battery_energy if p.battery else 0.0
    clip = max(0.25 * p.propeller_radius * math.sqrt(3.75 * p.ground_coefficient), 1e-9)
    lift = p.ground_coefficient * (0.25 * p.propeller_radius) ** 2
    drag_torque = p.torque_coefficient / p.thrust_coefficient
    return gain, drain, clip, lift, drag_torque, RADIANS * p.drag_xy, RADIANS * p.drag_z


@kernel
def drive(p, s, k, c):
    """Turn the rotors of vehicle k towards their commands, and empty its battery; c: `constants`."""
    gain, drain = c[0], c[1]
    supply = 1.0 - p.battery_sag * (1.0 - s.charge[k]) if p.battery else 1.0
    power = 0.0
    for j in range(4):
        s.rpm[k, j] += gain * (supply * s.command[k, j] - s.rpm[k, j])
        power += s.rpm[k, j] ** 3
    if p.battery:
        s.charge[k] = max(0.0, s.charge[k] - drain * RADIANS * p.torque_coefficient * power)


@kernel
def ground_lift(height, c):
    """Thrust of a rotor close to the floor relative to that far away; at most 19/15 (4/15 more). c: `constants`."""
    height = max(height, c[2])
    return 1.0 + c[3] / (height * height)


@kernel
def wrench(p, s, k, c, height, qx, qy, qz, qw, vx, vy, vz):
    """Force [N] and torque [N m] on vehicle k but for its weight, in body axes, at a height, attitude and velocity.

    Returns:
        force x, y, z, torque x, y, z.
    """
    fx, fy, fz, tx, ty, tz = 0.0, 0.0, -s.wash[k], 0.0, 0.0, 0.0
    # the world's z in body axes
    ux, uy, uz = 2.0 * (qx * qz - qw * qy), 2.0 * (qy * qz + qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    near_floor = p.ground_effect and uz > 0.0
    turning = 0.0
    for j in range(4):
        x, y = p.arm * p.rotor[j, 0], p.arm * p.rotor[j, 1]
        f = p.thrust_coefficient * s.rpm[k, j] * s.rpm[k, j]
        tz += p.rotor[j, 2] * c[4] * f
        if near_floor:
            f *= ground_lift(height + ux * x + uy * y, c)
        fz += f
        tx += y * f
        ty -= x * f
        turning += s.rpm[k, j]
    if p.drag or p.wind:
        vx, vy, vz = vx - s.wind[0], vy - s.wind[1], vz - s.wind[2]
        # at most what takes all the speed in a step: more would throw the vehicle back ever faster
        most = p.mass * p.physics_hz
        across, along = min(turning * c[5], most), min(turning * c[6], most)
        yy, zz, xy = qy * qy, qz * qz, qx * qy
        fx -= across * ((1.0 - 2.0 * (yy + zz)) * vx + 2.0 * (xy + qw * qz) * vy + ux * vz)
        fy -= across * (2.0 * (xy - qw * qz) * vx + (1.0 - 2.0 * (qx * qx + zz)) * vy + uy * vz)
        fz -= along * (2.0 * (qx * qz + qw * qy) * vx + 2.0 * (qy * qz - qw * qx) * vy + uz * vz)
    return fx, fy, fz, tx, ty, tz


@kernel
def load(p, s, rng):
    """What an engine applies to every vehicle in its next physics step: s.force and s.torque, in body axes."""
    changing = p.ground_effect or p.drag or p.wind or p.rotor_lag or p.battery or p.action == THRUST_RATES
    s.steady = not changing
    c = constants(p, 1.0 / p.physics_hz)
    for k in range(s.position.shape[0]):
        if not s.alive[k]:
            continue
        if p.action == THRUST_RATES:
            hold_rates(p, s, k, s.rates[k, 0], s.rates[k, 1], s.rates[k, 2])
        drive(p, s, k, c)
        q, v, f, t = s.attitude, s.velocity, s.force, s.torque
        f[k, 0], f[k, 1], f[k, 2], t[k, 0], t[k, 1], t[k, 2] = wrench(
            p, s, k, c, s.position[k, 2], q[k, 0], q[k, 1], q[k, 2], q[k, 3], v[k, 0], v[k, 1], v[k, 2]
        )


@kernel
def cosine_and_sinc(square):
    """cos(x) and sin(x) / x from x^2; for small x by their series, whose next terms are below 3e-17."""
    if square > 1e-3:
        x = math.sqrt(square)
        return maths.cos(x), maths.sin(x) / x
    fourth = square * square
    cosine = (1.0 - square * (1.0 / 2.0)) + fourth * (1.0 / 24.0 - square * (1.0 / 720.0))
    sinc = (1.0 - square * (1.0 / 6.0)) + fourth * (1.0 / 120.0 - square * (1.0 / 5040.0))
    return cosine, sinc


@kernel
def pushed(airborne, per_mass, gravity_dt, fx, fy, fz, qx, qy, qz, qw):
    """What a force in body axes and gravity add to the velocity; fx and fy count with `airborne` alone."""
    lift = 2.0 * per_mass * fz
    ax = lift * (qx * qz + qw * qy)
    ay = lift * (qy * qz - qw * qx)
    az = lift * (0.5 - (qx * qx + qy * qy)) - gravity_dt
    if airborne:
        ax += per_mass * ((1.0 - 2.0 * (qy * qy + qz * qz)) * fx + 2.0 * (qx * qy - qw * qz) * fy)
        ay += per_mass * (2.0 * (qx * qy + qw * qz) * fx + (1.0 - 2.0 * (qx * qx + qz * qz)) * fy)
        az += per_mass * (2.0 * (qx * qz - qw * qy) * fx + 2.0 * (qy * qz + qw * qx) * fy)
    return ax, ay, az


@kernel
def turned(qx, qy, qz, qw, wx, wy, wz, half_dt):
    """An attitude after a turn at body rates [rad/s] for twice `half_dt` seconds, and the rates, at most FASTEST."""
    hx, hy, hz = half_dt * wx, half_dt * wy, half_dt * wz
    square, fastest = hx * hx + hy * hy + hz * hz, half_dt * FASTEST
    if square > fastest * fastest:
        share = fastest / math.sqrt(square)
        wx, wy, wz = share * wx, share * wy, share * wz
        hx, hy, hz = share * hx, share * hy, share * hz
        square = fastest * fastest
    cosine, sine = cosine_and_sinc(square)
    nx = cosine * qx + sine * (hz * qy - hy * qz + hx * qw)
    ny = cosine * qy + sine * (hx * qz - hz * qx + hy * qw)
    nz = cosine * qz + sine * (hy * qx - hx * qy + hz * qw)
    nw = cosine * qw - sine * (hx * qx + hy * qy + hz * qz)
    return nx, ny, nz, nw, wx, wy, wz


@kernel
def set_attitude(s, k, qx, qy, qz, qw):
    """Note the attitude of vehicle k, of length 1."""
    scale = 1.0 / math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    s.attitude[k, 0], s.attitude[k, 1] = qx * scale, qy * scale
    s.attitude[k, 2], s.attitude[k, 3] = qz * scale, qw * scale


@kernel
def fly_alone(p, s, k, substeps, dt):
    """Advance vehicle k by `substeps` steps of `dt` seconds.

    Semi-implicit Euler: velocities first, then the position with the new velocity and the attitude by the exact
    rotation of the new body rates.
    """
    couple_x = dt * (p.inertia_y - p.inertia_z) / p.inertia_x
    couple_y = dt * (p.inertia_z - p.inertia_x) / p.inertia_y
    couple_z = dt * (p.inertia_x - p.inertia_y) / p.inertia_z
    turn_x, turn_y, turn_z = dt / p.inertia_x, dt / p.inertia_y, dt / p.inertia_z
    per_mass, gravity_dt, half_dt, rest = dt / p.mass, dt * p.gravity, 0.5 * dt, 0.5 * p.hull[1]
    damping = dt * p.damping
    c = constants(p, dt)
    airborne = p.drag or p.wind
    held = p.action == THRUST_RATES
    driven = p.rotor_lag or p.battery or held
    steady = not (driven or airborne or p.ground_effect)
    touching = False
    # locals, because the compiler cannot keep record fields in registers
    px, py, pz = s.position[k, 0], s.position[k, 1], s.position[k, 2]
    qx, qy, qz, qw = s.attitude[k, 0], s.attitude[k, 1], s.attitude[k, 2], s.attitude[k, 3]
    vx, vy, vz = s.velocity[k, 0], s.velocity[k, 1], s.velocity[k, 2]
    wx, wy, wz = s.rates[k, 0], s.rates[k, 1], s.rates[k, 2]
    if not driven:
        for j in range(4):
            s.rpm[k, j] = s.command[k, j]
    fx, fy, fz, tx, ty, tz = wrench(p, s, k, c, pz, qx, qy, qz, qw, vx, vy, vz)
    for _ in range(substeps):
        if not steady:
            if held:
                hold_rates(p, s, k, wx, wy, wz)
            if driven:
                drive(p, s, k, c)
            fx, fy, fz, tx, ty, tz = wrench(p, s, k, c, pz, qx, qy, qz, qw, vx, vy, vz)
        ax, ay, az = pushed(airborne, per_mass, gravity_dt, fx, fy, fz, qx, qy, qz, qw)
        slow, calm = 1.0, 1.0
        if damping > 0.0:
            slow = max(0.0, slow - damping * (1.0 + math.sqrt(vx * vx + vy * vy + vz * vz)))
            calm = max(0.0, calm - damping * (1.0 + math.sqrt(wx * wx + wy * wy + wz * wz)))
        vx = slow * vx + ax
        vy = slow * vy + ay
        vz = slow * vz + az
        # torques and gyroscopic couplings
        ax = turn_x * tx + couple_x * wy * wz
        ay = turn_y * ty + couple_y * wz * wx
        az = turn_z * tz + couple_z * wx * wy
        wx = calm * wx + ax
        wy = calm * wy + ay
        wz = calm * wz + az
        px += dt * vx
        py += dt * vy
        pz += dt * vz
        if pz < rest:
            touching = True
            pz = rest
            speed = math.sqrt(vx * vx + vy * vy)
            kept = max(0.0, 1.0 - FRICTION * gravity_dt / max(speed, 1e-12))
            vx, vy, vz = kept * vx, kept * vy, max(vz, 0.0)
            wx, wy, wz = 0.0, 0.0, 0.0
        qx, qy, qz, qw, wx, wy, wz = turned(qx, qy, qz, qw, wx, wy, wz, half_dt)
    set_attitude(s, k, qx, qy, qz, qw)
    s.position[k, 0], s.position[k, 1], s.position[k, 2] = px, py, pz
    s.velocity[k, 0], s.velocity[k, 1], s.velocity[k, 2] = vx, vy, vz
    s.rates[k, 0], s.rates[k, 1], s.rates[k, 2] = wx, wy, wz
    s.touching[k] = touching


@kernel
def fly(p, s, rng):
    """Advance all living vehicles by one control step, each on its own."""
    for k in range(s.position.shape[0]):
        if s.alive[k]:
            fly_alone(p, s, k, p.physics_hz // p.control_hz, 1.0 / p.physics_hz)


@kernel
def blow(p, s, rng):
    """New wind for the coming control step: its mean and gusts that are forgotten exponentially."""
    if not p.wind:
        return
    kept = 0.0 if s.elapsed == 0 else maths.exp(-1.0 / (p.control_hz * p.gust_time))
    fresh = p.gust * math.sqrt(1.0 - kept * kept)
    s.wind[0] = p.wind_x + kept * (s.wind[0] - p.wind_x) + fresh * normal(rng)
    s.wind[1] = p.wind_y + kept * (s.wind[1] - p.wind_y) + fresh * normal(rng)
    s.wind[2] = p.wind_z + kept * (s.wind[2] - p.wind_z) + fresh * normal(rng)
