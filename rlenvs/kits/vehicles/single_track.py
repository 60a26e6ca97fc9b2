"""Single-track models of a car: both wheels of an axle in one, in its middle.

Equations, limits and names of states are CommonRoad's (Althoff, Koschi and Manzinger, "CommonRoad: Composable
benchmarks for motion planning on roads", IV 2017, vehicle models of 2020), numbers those of F1TENTH's simulator
(f1tenth/f1tenth_gym, `f110_env.py`). The dynamic model has linear tires with load transfer. It divides by the speed,
so below 0.5 m/s the kinematic model takes over, and its tires have no limit of grip: at large slip angles forces are
too large, see `drift.py`.
"""

import math
from typing import Any

from rlenvs.core import kernel, maths, param

X, Y, STEER, SPEED, YAW, YAW_RATE, SLIP = range(7)
STATES = 7
GRAVITY = 9.81  # m/s^2
SLOW = 0.5  # m/s, below which the kinematic model holds
STEER_DEADBAND = 1e-4  # rad
GAIN_FORWARD, GAIN_REVERSE = 10.0, 2.0
STABLE = 2.7  # largest decay per step that Runge and Kutta's method holds down (2.78)

# of a 1:10 race car (F1TENTH); stiffnesses are per rad and per unit of friction and load
CAR = {
    "friction": param(1.0489, 0.2, 1.5, "", "coefficient of friction of the road"),
    "front_stiffness": param(4.718, 2.0, 6.0, "1/rad", "cornering stiffness of the front axle"),
    "rear_stiffness": param(5.4562, 2.0, 7.0, "1/rad", "cornering stiffness of the rear axle"),
    "front_axle": param(0.15875, 0.12, 0.2, "m", "from the center of gravity to the front axle"),
    "rear_axle": param(0.17145, 0.12, 0.2, "m", "from the center of gravity to the rear axle"),
    "cg_height": param(0.074, 0.0, 0.1, "m", "height of the center of gravity"),
    "mass": param(3.74, 2.5, 5.0, "kg", "mass of the car"),
    "inertia": param(0.04712, 0.03, 0.08, "kg m^2", "moment of inertia about the vertical axis"),
    "max_steer": param(0.4189, 0.2, 0.6, "rad", "largest steering angle"),
    "steer_rate": param(3.2, 1.0, 6.0, "rad/s", "largest rate of the steering angle"),
    "switch_speed": param(7.319, 3.0, 15.0, "m/s", "speed above which the motor's power limits the acceleration"),
    "max_acceleration": param(9.51, 3.0, 12.0, "m/s^2", "largest acceleration, and deceleration"),
    "top_speed": param(20.0, 5.0, 25.0, "m/s", "largest speed", limit=True),
    "reverse_speed": param(5.0, 1.0, 8.0, "m/s", "largest speed backwards"),
    "rear_drive": param(
        0.0, 0.0, 1.0, "", "share of the drive for the rear wheels alone (sliding tires); 0: all wheels"
    ),
}


@kernel
def least_speed(p: Any, grip: float, dt: float) -> float:
    """The speed [m/s] below which the kinematic model holds: SLOW, or more where steps are too long for the tyres.

    Yaw rate and slip decay the faster the slower the car is; a step of Runge and Kutta's method follows up to STABLE.
    """
    base = p.front_axle + p.rear_axle
    front = p.front_stiffness * p.rear_axle / base * grip * GRAVITY  # forces per mass and angle
    rear = p.rear_stiffness * p.front_axle / base * grip * GRAVITY
    yaw = p.mass / p.inertia * (p.front_axle * p.front_axle * front + p.rear_axle * p.rear_axle * rear)
    return max(SLOW, dt * max(yaw, front + rear) / STABLE)


# --- limits -----------------------------------------------------------------------------------------------------------


@kernel
def limited_acceleration(p: Any, speed: float, wanted: float) -> float:
    """The acceleration [m/s^2] that motor, brakes and the limits of speed allow."""
    most = p.max_acceleration
    if speed > p.switch_speed:
        most = p.max_acceleration * p.switch_speed / speed
    if (speed <= -p.reverse_speed and wanted <= 0.0) or (speed >= p.top_speed and wanted >= 0.0):
        return 0.0
    if wanted <= -p.max_acceleration:
        return -p.max_acceleration
    return min(wanted, most)


@kernel
def limited_steer_rate(p: Any, steer: float, wanted: float) -> float:
    """The rate [rad/s] of the steering angle that servo and stops allow."""
    if (steer <= -p.max_steer and wanted <= 0.0) or (steer >= p.max_steer and wanted >= 0.0):
        return 0.0
    return min(max(wanted, -p.steer_rate), p.steer_rate)


# --- models -----------------------------------------------------------------------------------------------------------


@kernel
def kinematic(p: Any, x: Any, steer_rate: float, acceleration: float, f: Any) -> None:
    """Time derivatives f of the first five states: the wheels roll without slip."""
    sine, cosine = maths.sin_cos(x[YAW])
    f[X], f[Y] = x[SPEED] * cosine, x[SPEED] * sine
    f[STEER] = limited_steer_rate(p, x[STEER], steer_rate)
    f[SPEED] = limited_acceleration(p, x[SPEED], acceleration)
    f[YAW] = x[SPEED] / (p.front_axle + p.rear_axle) * maths.tan(x[STEER])


@kernel
def dynamic(p: Any, grip: float, slow: float, x: Any, steer_rate: float, acceleration: float, f: Any) -> None:
    """Time derivatives f of all seven states, with linear tyres; `grip` is the coefficient of friction.

    Below the speed `slow` [m/s] they are those of the kinematic model; SLOW, or `least_speed`. Backwards too, where the
    linear equations diverge (the original uses them below -0.5 m/s).
    """
    base, speed = p.front_axle + p.rear_axle, x[SPEED]
    if speed < slow:
        kinematic(p, x, steer_rate, acceleration, f)
        c = maths.cos(x[STEER])
        f[YAW_RATE] = f[SPEED] / base * maths.tan(x[STEER]) + speed / (base * (c * c)) * f[STEER]
        f[SLIP] = 0.0
        return
    turning = limited_steer_rate(p, x[STEER], steer_rate)
    a = limited_acceleration(p, speed, acceleration)
    lf, lr, c_f, c_r = p.front_axle, p.rear_axle, p.front_stiffness, p.rear_stiffness
    load_f, load_r = GRAVITY * lr - a * p.cg_height, GRAVITY * lf + a * p.cg_height
    sine, cosine = maths.sin_cos(x[SLIP] + x[YAW])
    f[X], f[Y] = speed * cosine, speed * sine
    f[STEER], f[SPEED], f[YAW] = turning, a, x[YAW_RATE]
    spin = grip * p.mass / (p.inertia * base)
    f[YAW_RATE] = (
        -grip * p.mass / (speed * p.inertia * base) * (lf * lf * c_f * load_f + lr * lr * c_r * load_r) * x[YAW_RATE]
        + spin * (lr * c_r * load_r - lf * c_f * load_f) * x[SLIP]
        + spin * lf * c_f * load_f * x[STEER]
    )
    f[SLIP] = (
        (grip / (speed * speed * base) * (c_r * load_r * lr - c_f * load_f * lf) - 1.0) * x[YAW_RATE]
        - grip / (speed * base) * (c_r * load_r + c_f * load_f) * x[SLIP]
        + grip / (speed * base) * (c_f * load_f) * x[STEER]
    )


@kernel
def add_scaled(out: Any, x: Any, h: float, f: Any) -> None:
    """out = x + h f, of all states."""
    for n in range(STATES):
        out[n] = x[n] + h * f[n]


@kernel
def runge_kutta(p: Any, grip: float, x: Any, steer_rate: float, acceleration: float, dt: float, scratch: Any) -> None:
    """Move a car x (7) by the dynamic model for dt seconds; scratch: (5, 7), overwritten."""
    k1, k2, k3, k4, y = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    slow = least_speed(p, grip, dt)
    dynamic(p, grip, slow, x, steer_rate, acceleration, k1)
    add_scaled(y, x, 0.5 * dt, k1)
    dynamic(p, grip, slow, y, steer_rate, acceleration, k2)
    add_scaled(y, x, 0.5 * dt, k2)
    dynamic(p, grip, slow, y, steer_rate, acceleration, k3)
    add_scaled(y, x, dt, k3)
    dynamic(p, grip, slow, y, steer_rate, acceleration, k4)
    for n in range(STATES):
        x[n] += dt / 6.0 * (k1[n] + 2.0 * k2[n] + 2.0 * k3[n] + k4[n])


@kernel
def euler(p: Any, grip: float, x: Any, steer_rate: float, acceleration: float, dt: float, scratch: Any) -> None:
    """Move a car x (7) by one step of Euler's method; scratch: (5, 7), overwritten.

    It follows decays of up to 2 per step only, so the kinematic model holds up to a larger speed.
    """
    dynamic(p, grip, 1.4 * least_speed(p, grip, dt), x, steer_rate, acceleration, scratch[0])
    add_scaled(x, x, dt, scratch[0])


@kernel
def roll(p: Any, x: Any, steer_rate: float, acceleration: float, dt: float, scratch: Any) -> None:
    """Move a car x (7) by the kinematic model for dt seconds, at the midpoint; scratch: (5, 7), overwritten.

    Yaw rate follows from speed and angle; the slip angle is 0, as the place of the car is that of its rear axle.
    """
    kinematic(p, x, steer_rate, acceleration, scratch[0])
    for n in range(YAW + 1):
        scratch[1, n] = x[n] + 0.5 * dt * scratch[0, n]
    kinematic(p, scratch[1], steer_rate, acceleration, scratch[2])
    for n in range(YAW + 1):
        x[n] += dt * scratch[2, n]
    x[YAW_RATE] = x[SPEED] / (p.front_axle + p.rear_axle) * maths.tan(x[STEER])
    x[SLIP] = 0.0


@kernel
def wrap_yaw(x: Any) -> None:
    """The same yaw in [0, 2 pi]."""
    if x[YAW] > 2.0 * math.pi:
        x[YAW] -= 2.0 * math.pi
    elif x[YAW] < 0.0:
        x[YAW] += 2.0 * math.pi


@kernel
def turning_radius(p: Any, steer: float) -> float:
    """Radius [m] of the rear axle's circle at a steering angle, without slip; infinite, as 1e9, straight ahead."""
    bend = abs(maths.tan(steer)) / (p.front_axle + p.rear_axle)
    return 1.0 / max(bend, 1e-9)


# --- controllers ------------------------------------------------------------------------------------------------------


@kernel
def steer_rate_towards(p: Any, x: Any, wanted: float) -> float:
    """Rate [rad/s] of the steering angle towards a wanted angle [rad]: all or nothing, as F1TENTH's servo."""
    error = wanted - x[STEER]
    if abs(error) <= STEER_DEADBAND:
        return 0.0
    return p.steer_rate if error > 0.0 else -p.steer_rate


@kernel
def acceleration_towards(p: Any, x: Any, wanted: float) -> float:
    """Acceleration [m/s^2] towards a wanted speed [m/s], proportional to what is missing, as F1TENTH's motor driver."""
    error = wanted - x[SPEED]
    gain = GAIN_FORWARD if x[SPEED] > 0.0 else GAIN_REVERSE
    return gain * p.max_acceleration / (p.top_speed if error > 0.0 else p.reverse_speed) * error


@kernel
def delayed(buffer: Any, filled: int, wanted: float) -> float:
    """Put a command into a delay line, newest first; returns the oldest, 0 until it is full (`filled` of its size)."""
    size = buffer.size
    oldest = buffer[size - 1] if filled >= size else 0.0
    for n in range(size - 1, 0, -1):
        buffer[n] = buffer[n - 1]
    buffer[0] = wanted
    return oldest
