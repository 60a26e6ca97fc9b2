"""A single-track car that slides: brush tires whose grip saturates.

State, limits and parameters are those of `single_track.py`; SPEED and SLIP are size and direction of the velocity of
the center of gravity, as there, but here forces give their change. Tires are Fiala's brush model, as in Hindiyeh and
Gerdes, "A Controller Framework for Autonomous Drifting" (2014): the side force is a cubic of the tangent of the slip
angle up to the angle where the whole contact slides, then friction times load. A tire that drives or brakes has that
much less for the side (the friction ellipse). At small slip angles the model is the linear one of
`single_track.dynamic`.

Inputs are the steering rate and an acceleration, the force at all wheels. It is split between the axles by their
loads, as all-wheel drive and good brakes do; of a drive forwards, `rear_drive` is taken from the front. Below CREEP
m/s the tires' time constants vanish; there slip angles are those at CREEP, which damps instead of dividing by zero,
and the car may stand still.
"""

import math
from typing import Any

from rlenvs.core import kernel, maths
from rlenvs.kits.vehicles.single_track import (
    GRAVITY,
    SLIP,
    SPEED,
    STEER,
    YAW,
    YAW_RATE,
    X,
    Y,
    limited_acceleration,
    limited_steer_rate,
)

CREEP = 1.0  # m/s


@kernel
def brush_force(stiffness: float, grip: float, load: float, slip_tangent: float, along: float) -> float:
    """Side force [N] of an axle against its slip.

    Args:
        stiffness: [N/rad] at no slip.
        grip: coefficient of friction.
        load: [N], not negative.
        slip_tangent: tangent of the slip angle, positive where the axle moves to the left.
        along: force along the wheel [N], cut to what friction gives.
    """
    most = grip * load
    side = math.sqrt(max(most * most - along * along, 0.0))
    if side <= 0.0:
        return 0.0
    sliding = 3.0 * side / stiffness
    if abs(slip_tangent) >= sliding:
        return -math.copysign(side, slip_tangent)
    part = slip_tangent / sliding
    return -side * (3.0 * part - 3.0 * part * abs(part) + part * part * part)


@kernel
def slide(p: Any, grip: float, x: Any, steer_rate: float, acceleration: float, f: Any) -> None:
    """Time derivatives f of the state (U, V instead of SPEED, SLIP: velocity forwards and to the left) of a car."""
    lf, lr, base = p.front_axle, p.rear_axle, p.front_axle + p.rear_axle
    u, v, r = x[SPEED], x[SLIP], x[YAW_RATE]
    turning = limited_steer_rate(p, x[STEER], steer_rate)
    a = limited_acceleration(p, u, acceleration)
    load_f = p.mass * max(GRAVITY * lr - a * p.cg_height, 0.0) / base
    load_r = p.mass * max(GRAVITY * lf + a * p.cg_height, 0.0) / base
    drive_f = p.mass * a * load_f / max(load_f + load_r, 1e-9)
    if a * u > 0.0:
        drive_f *= 1.0 - p.rear_drive
    drive_r = p.mass * a - drive_f
    drive_f = min(max(drive_f, -grip * load_f), grip * load_f)
    drive_r = min(max(drive_r, -grip * load_r), grip * load_r)
    s, c = maths.sin_cos(x[STEER])
    way = 1.0 if u >= 0.0 else -1.0
    ahead_f = way * (u * c + (v + lf * r) * s)
    side_f = (v + lf * r) * c - u * s
    # stiffness per rad as in the linear model: C mu load
    force_f = brush_force(p.front_stiffness * grip * load_f, grip, load_f, side_f / max(ahead_f, CREEP), drive_f)
    force_r = brush_force(p.rear_stiffness * grip * load_r, grip, load_r, (v - lr * r) / max(abs(u), CREEP), drive_r)
    yaw_s, yaw_c = maths.sin_cos(x[YAW])
    f[X], f[Y] = u * yaw_c - v * yaw_s, u * yaw_s + v * yaw_c
    f[STEER], f[YAW] = turning, r
    f[SPEED] = (drive_r + drive_f * c - force_f * s) / p.mass + v * r
    f[SLIP] = (force_r + force_f * c + drive_f * s) / p.mass - u * r
    f[YAW_RATE] = (lf * (force_f * c + drive_f * s) - lr * force_r) / p.inertia


@kernel
def drift(
    p: Any, grip: float, x: Any, steer_rate: float, acceleration: float, dt: float, parts: int, scratch: Any
) -> None:
    """Move a car x (7) for dt seconds in `parts` midpoint steps; scratch: (5, 7), overwritten.

    Steps of 0.005 s are stable within the ranges of `single_track.CAR`.
    """
    y, k, middle = scratch[0], scratch[1], scratch[2]
    for n in range(7):
        y[n] = x[n]
    # SPEED has the sign of the direction of travel: reverse is a negative speed, not a slip of half a turn
    s, c = maths.sin_cos(x[SLIP])
    y[SPEED], y[SLIP] = x[SPEED] * c, x[SPEED] * s
    h = dt / parts
    for _ in range(parts):
        slide(p, grip, y, steer_rate, acceleration, k)
        for n in range(7):
            middle[n] = y[n] + 0.5 * h * k[n]
        slide(p, grip, middle, steer_rate, acceleration, k)
        for n in range(7):
            y[n] += h * k[n]
    for n in range(7):
        x[n] = y[n]
    u, v = y[SPEED], y[SLIP]
    size = math.sqrt(u * u + v * v)
    if u < 0.0 and abs(v) < -u:  # backwards
        x[SPEED], x[SLIP] = -size, maths.atan2(-v, -u)
    else:
        x[SPEED], x[SLIP] = size, maths.atan2(v, u) if size > 0.0 else 0.0
