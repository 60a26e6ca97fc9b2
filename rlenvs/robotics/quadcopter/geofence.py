"""The barrier of a vehicle that flies by velocity commands: it can always come to rest inside an upright cylinder.

Horizontally, the velocity controller requires the acceleration (command - v) / T, T = MASS / FORCE_D, and the attitude
follows with the time constant L = TORQUE_D / (2 TORQUE_P) that the gains of its inner loop give. With tilt acceleration
a, then, dv/dt = a and da/dt = ((command - v) / T - a) / L, and the place where the vehicle would come to rest,

    P = x + T (v + L a),    moves by the command alone,    dP/dt = command.

The barrier is the distance of P from the wall less a margin for how far x may be outside of P. The speed that is
commanded is linear in the last number of the action; its direction is left alone. Command zero keeps the barrier.

The margin is SWAY times the speed limit, the integral of the absolute impulse response from the command to x - P, and a
constant for what the model leaves out: at 30 Hz of control the attitude loop chatters between its limits of torque,
which moves P by several centimetres. When P is pushed out by that, or by wind, the vehicle brakes: it flies inwards.
Tested, not proved: nobody gets out at rates of the filter up to 0.5; at rate 1 an adversary does in some steps per
million.
"""

import math

from rlenvs.core import kernel
from rlenvs.robotics.quadcopter.control import FORCE_D, MASS, TORQUE_D, TORQUE_P, VELOCITY

SETTLING = MASS / FORCE_D  # s
LEANING = TORQUE_D / (2.0 * TORQUE_P)  # s
SWAY = 0.24  # s, L1
CHATTER = 0.05  # m


def fences(values):
    """How many barriers there are: one, where actions are velocities."""
    return 1 if values.action == "velocity" else 0


@kernel
def stay_inside(p, s, k, a, b, radius):
    """Fill the barrier [m] of vehicle k against leaving the upright cylinder of this radius [m] around the origin.

    There is none where actions are no velocities.
    """
    if p.action != VELOCITY:
        return
    qx, qy, qz, qw = s.attitude[k, 0], s.attitude[k, 1], s.attitude[k, 2], s.attitude[k, 3]
    lean = 2.0 * SETTLING * LEANING * p.gravity / max(1.0 - 2.0 * (qx * qx + qy * qy), 0.1)
    px = s.position[k, 0] + SETTLING * s.velocity[k, 0] + lean * (qx * qz + qw * qy)
    py = s.position[k, 1] + SETTLING * s.velocity[k, 1] + lean * (qy * qz - qw * qx)
    square = px * px + py * py
    out = math.sqrt(square)
    # how far P moves in a step at full speed [m], away from the axis and across
    scale = math.sqrt(square * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]))
    stride = p.speed_limit / (p.control_hz * max(scale, 1e-9))
    away, across = stride * (px * a[0] + py * a[1]), stride * (px * a[1] - py * a[0])
    # on its straight line it comes closer to the circle by at most across^2 / (2 out) more
    away += across * across / (2.0 * max(out, 0.5 * radius))
    b.value[0] = radius - CHATTER - SWAY * p.speed_limit - out
    b.drift[0] = 0.0
    b.slope[0, 0], b.slope[0, 1], b.slope[0, 2] = 0.0, 0.0, 0.0
    if a[3] < 0.0:
        b.slope[0, 3], b.high[3] = away, 0.0
    else:
        b.slope[0, 3], b.low[3] = -away, 0.0
    b.brake[0], b.brake[1], b.brake[2], b.brake[3] = -0.5 * px, -0.5 * py, 0.0, 1.0
