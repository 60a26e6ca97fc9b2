"""Barrier functions for vehicles with velocity commands: they can always come to rest inside a cylinder, or walls.

Horizontally, the velocity controller requires the acceleration (command - v) / T, T = MASS / FORCE_D, and the attitude
follows with the time constant L = TORQUE_D / (2 TORQUE_P) of its inner loop. With tilt acceleration a, then, dv/dt = a
and da/dt = ((command - v) / T - a) / L, and the point where the vehicle would come to rest,

    P = x + T (v + L a),    moves only by the command,    dP/dt = command.

The barriers are the distances of P from the walls minus a margin for how far x may be beyond P. The commanded speed is
linear in the last number of the action; its direction is not changed. A zero command keeps the barrier.

The margin is SWAY times the speed limit, the integral of the absolute impulse response from the command to x - P, plus
a constant for unmodeled effects: at 30 Hz the attitude loop chatters between its torque limits, which moves P by
several centimeters. If this or wind pushes P out, the vehicle flies inwards. Tested, not proved: no vehicle leaves at
filter rates up to 0.5; at rate 1 an adversary gets out in a few steps per million.
"""

import math

from rlenvs.core import kernel
from rlenvs.robotics.quadcopter.control import FORCE_D, MASS, TORQUE_D, TORQUE_P, VELOCITY

SETTLING = MASS / FORCE_D  # s
LEANING = TORQUE_D / (2.0 * TORQUE_P)  # s
SWAY = 0.24  # s, L1
CHATTER = 0.05  # m


def fences(values):
    """How many barriers there are where actions are velocities, in a cylinder: one."""
    return 1 if values.action == "velocity" else 0


def walls(values):
    """The same between four walls."""
    return 4 * fences(values)


@kernel
def resting_place(p, s, k):
    """Where vehicle k would come to rest, x and y [m]."""
    qx, qy, qz, qw = s.attitude[k, 0], s.attitude[k, 1], s.attitude[k, 2], s.attitude[k, 3]
    lean = 2.0 * SETTLING * LEANING * p.gravity / max(1.0 - 2.0 * (qx * qx + qy * qy), 0.1)
    px = s.position[k, 0] + SETTLING * s.velocity[k, 0] + lean * (qx * qz + qw * qy)
    return px, s.position[k, 1] + SETTLING * s.velocity[k, 1] + lean * (qy * qz - qw * qx)


@kernel
def fence_off(p, b, i, room, away, negative):
    """Fill barrier i, from the distance [m] of P from a wall, and how far a step at full speed brings it closer [m].

    Args:
        negative: whether the last number of the action is, of which the size alone counts.
    """
    b.value[i] = room - CHATTER - SWAY * p.speed_limit
    b.drift[i] = 0.0
    b.slope[i, 0], b.slope[i, 1], b.slope[i, 2] = 0.0, 0.0, 0.0
    b.slope[i, 3] = away if negative else -away
    if negative:
        b.high[3] = 0.0
    else:
        b.low[3] = 0.0


@kernel
def brake(b, px, py):
    """Inwards, at full speed."""
    b.brake[0], b.brake[1], b.brake[2], b.brake[3] = -0.5 * px, -0.5 * py, 0.0, 1.0


@kernel
def stay_inside(p, s, k, a, b, radius):
    """Fill the barrier [m] of vehicle k against leaving the upright cylinder of this radius [m] around the origin.

    There is none where actions are no velocities.
    """
    if p.action != VELOCITY:
        return
    px, py = resting_place(p, s, k)
    square = px * px + py * py
    out = math.sqrt(square)
    # how far P moves in a step at full speed [m], away from the axis and across
    scale = math.sqrt(square * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]))
    stride = p.speed_limit / (p.control_hz * max(scale, 1e-9))
    away, across = stride * (px * a[0] + py * a[1]), stride * (px * a[1] - py * a[0])
    # on its straight line it comes closer to the circle by at most across^2 / (2 out) more
    away += across * across / (2.0 * max(out, 0.5 * radius))
    fence_off(p, b, 0, radius - out, away, a[3] < 0.0)
    brake(b, px, py)


@kernel
def stay_between(p, s, k, a, b, reach):
    """Fill the four barriers [m] of vehicle k against leaving |x| <= reach and |y| <= reach [m]; as `stay_inside`. A
    vehicle that does not fly has none."""
    if p.action != VELOCITY:
        return
    px, py = resting_place(p, s, k)
    size = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    stride = p.speed_limit / (p.control_hz * max(size, 1e-9))
    for i in range(2):
        sign = 1.0 - 2.0 * i
        fence_off(p, b, i, reach - sign * px, sign * stride * a[0], a[3] < 0.0)
        fence_off(p, b, 2 + i, reach - sign * py, sign * stride * a[1], a[3] < 0.0)
    if not s.alive[k]:
        for i in range(4):
            b.value[i] = math.nan
    brake(b, px, py)
