"""The point robot: a ball with a nose on a plane, driven along its nose and turned about its center.

The numbers are those of Safety-Gymnasium's point.xml (Ji et al., NeurIPS 2023). MuJoCo integrates it in steps of 2 ms,
velocities first, joint damping implicitly and the motors explicitly; so does this file, and agrees with MuJoCo up to
rounding. One side effect is kept: the turning servo is too stiff for the step. Unless it turns at full rate, the spin
oscillates by about 0.95 rad/s from one physics step to the next, and the gyro, read after an even number of them, is
off by half of that, although the heading is correct.
"""

import math

from rlenvs.core import f8, kernel, maths, param

POINT = {
    "body_mass": param(0.001 * 4.0 / 3.0 * math.pi, 0.002, 0.008, "kg", "mass of the ball"),
    "nose_mass": param(0.001, 0.0, 0.002, "kg", "mass of the nose, a cube that also moves the center of mass forward"),
    "drag": param(0.01, 0.005, 0.03, "N s/m", "resistance to moving"),
    "spin_drag": param(0.005, 0.002, 0.02, "N m s/rad", "resistance to turning"),
    "thrust": param(0.015, 0.005, 0.03, "N", "largest force of the drive"),
    "torque": param(0.015, 0.005, 0.03, "N m", "largest torque of the turning servo"),
    "turn_rate": param(1.0 / 0.3, 1.0, 10.0, "rad/s", "target rate of the turning servo at full action"),
    "saturation": param(
        0.05, 0.02, 1.0, "", "action at which the drive saturates, and error at which the servo saturates"
    ),
}

STATE = {
    "position": f8(2),  # m
    "heading": f8,  # rad, not wrapped
    "velocity": f8(2),  # m/s, world axes
    "spin": f8,  # rad/s
    "acceleration": f8(2),  # m/s^2, robot's axes, at the end of the step
}

TIMESTEP = 0.002  # s
BALL, NOSE, NOSE_AT = 0.1, 0.05, 0.1  # m: radius of the ball, half side of the nose, its distance from the centre


@kernel
def clipped(value):
    return min(max(value, -1.0), 1.0)


@kernel
def drive(p, s, throttle, turn, substeps):
    """Advance the robot by `substeps` physics steps under actions in [-1, 1].

    The equations of motion in the robot's axes, for its origin (not its centre of mass), with mass m, first moment
    b = nose mass x nose distance and moment of inertia J:  m ax = fx,  m ay + b alpha = fy,  b ay + J alpha = tz.
    """
    mass = p.body_mass + p.nose_mass
    moment = p.nose_mass * NOSE_AT
    inertia = 0.4 * p.body_mass * BALL**2 + p.nose_mass * (2.0 / 3.0 * NOSE**2 + NOSE_AT**2)
    drag, spin_drag, torque = p.drag, p.spin_drag, p.torque
    thrust = p.thrust * clipped(throttle / p.saturation)
    # implicit damping: the masses as they act over one step
    heavy, stiff = mass + TIMESTEP * drag, inertia + TIMESTEP * spin_drag
    coupled = 1.0 / (heavy * stiff - moment * moment)

    x, y, vx, vy = s.position[0], s.position[1], s.velocity[0], s.velocity[1]
    heading, spin = s.heading, s.spin
    for _ in range(substeps):
        cosine, sine = maths.cos(heading), maths.sin(heading)
        fx = thrust - drag * (cosine * vx + sine * vy) + moment * spin * spin
        fy = -drag * (cosine * vy - sine * vx)
        tz = torque * clipped((turn - spin / p.turn_rate) / p.saturation) - spin_drag * spin
        ax = fx / heavy
        ay = coupled * (stiff * fy - moment * tz)
        spin += TIMESTEP * coupled * (heavy * tz - moment * fy)
        vx += TIMESTEP * (cosine * ax - sine * ay)
        vy += TIMESTEP * (sine * ax + cosine * ay)
        x += TIMESTEP * vx
        y += TIMESTEP * vy
        heading += TIMESTEP * spin
    s.position[0], s.position[1], s.velocity[0], s.velocity[1] = x, y, vx, vy
    s.heading, s.spin = heading, spin

    # the accelerometer reads the true accelerations at the end of the step, without the implicit part
    cosine, sine = maths.cos(heading), maths.sin(heading)
    fx = thrust - drag * (cosine * vx + sine * vy) + moment * spin * spin
    fy = -drag * (cosine * vy - sine * vx)
    tz = torque * clipped((turn - spin / p.turn_rate) / p.saturation) - spin_drag * spin
    s.acceleration[0] = fx / mass
    s.acceleration[1] = (inertia * fy - moment * tz) / (mass * inertia - moment * moment)
