"""Barrier functions for a lander with throttles: it stays upright, and can always brake before it reaches the ground.

A fall at speed v with deceleration a stops within v^2 / (2 a). So a lander at height r, which must touch down no faster
than SOFT, may fall at

    SOFT + sqrt(2 a r),    a = BRAKING (lift cos(LEAN) - gravity),

and the barrier is this minus its falling speed. The lift is the average of the main engine at the largest lean that the
other two barriers allow. These are, to the left and to the right, the angular velocity that the side engines can still
stop before LEAN, sqrt(2 a (LEAN - angle)) with a = BRAKING times their acceleration, minus the current one. The height
is measured above the highest ground that the lander passes, at its current lateral speed, until it stops falling.

The envelope is the braking curve of the double integrator under a bounded force (Rao and Bernstein, "Naive control of
the double integrator", IEEE Control Systems Magazine 21(5), 2001); using it as a barrier is this package's idea. Part
of the force is kept in reserve: impulses are random, those of the main engine by half, and the side engines do nothing
up to half of their power, while the filter assumes that they are proportional. Tested, not proved. Leaving the viewport
sideways is not prevented.
"""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.landing.lander import CHUNKS, HULL, LEFT, MAIN_ENGINE_HEIGHT, RIGHT, chunk_x, chunk_y

SOFT = 1.0  # m/s, of touching down
LEAN = 0.6  # rad
BRAKING = 0.6  # share of what brakes on average


@kernel
def permitted(room, braking):
    """The speed that braking stops within this room; beyond its end, minus the speed with which to come back."""
    speed = math.sqrt(2.0 * braking * abs(room))
    return speed if room > 0.0 else -speed


@kernel
def forces(p, s):
    """What the engines at full power change in a step: speed along the lander [m/s], and speed of turning [rad/s]."""
    mass, inertia = s.mass[HULL], 1.0 / s.inverse_inertia[HULL]
    for b in range(LEFT, RIGHT + 1):
        x, y = s.centre[b, 0] - s.centre[HULL, 0], s.centre[b, 1] - s.centre[HULL, 1]
        mass += s.mass[b]
        inertia += 1.0 / s.inverse_inertia[b] + s.mass[b] * (x * x + y * y)
    arm = p.side_engine_height / p.scale - s.local_centre[HULL, 1]
    lift = p.main_engine_power * MAIN_ENGINE_HEIGHT / p.scale / mass
    return lift, p.side_engine_power * p.side_engine_away / p.scale * arm / inertia


@kernel
def highest(p, s, left, right):
    """The highest ground [m] between two places."""
    wide = chunk_x(p, 1)
    most = max(ground_at(p, s, left), ground_at(p, s, right))
    for i in range(CHUNKS):
        if left < i * wide < right:
            most = max(most, chunk_y(s, i))
    return most


@kernel
def ground_at(p, s, x):
    """The height [m] of the ground at a place."""
    wide = chunk_x(p, 1)
    i = min(max(math.floor(x / wide), 0), CHUNKS - 2)
    share = min(max(x / wide - i, 0.0), 1.0)
    return (1.0 - share) * chunk_y(s, i) + share * chunk_y(s, i + 1)


@kernel
def room_below(p, s, braking):
    """Between the legs and the highest ground until a fall from now is stopped [m]."""
    drift = s.velocity[HULL, 0] * max(-s.velocity[HULL, 1], 0.0) / braking
    left, right, low = math.inf, -math.inf, math.inf
    for b in range(LEFT, RIGHT + 1):
        sine, cosine = maths.sin_cos(s.angle[b])
        wide = (p.leg_w * abs(cosine) + p.leg_h * abs(sine)) / p.scale
        left, right = min(left, s.centre[b, 0] - wide), max(right, s.centre[b, 0] + wide)
        low = min(low, s.centre[b, 1] - (p.leg_w * abs(sine) + p.leg_h * abs(cosine)) / p.scale)
    return low - highest(p, s, left + min(drift, 0.0), right + max(drift, 0.0))


@kernel
def fall_softly(p, s, lift, a, b):
    """Fill the first barrier [m/s]: the speed at which the lander may fall, less that at which it falls."""
    dt, tip = 1.0 / p.fps, maths.cos(s.angle[HULL])
    braking = max(BRAKING * (lift * maths.cos(LEAN) * p.fps + p.gravity), 0.1)
    room, fall = room_below(p, s, braking), -s.velocity[HULL, 1]
    least = 0.5 if a[0] > 0.0 else 0.0  # the power that the smallest action gives
    slow, fast = fall - p.gravity * dt - lift * tip, fall - p.gravity * dt - least * lift * tip
    braked = permitted(max(room - slow * dt, 0.0), braking) - slow
    unbraked = permitted(max(room - fast * dt, 0.0), braking) - fast
    b.low[0] = 0.0
    b.value[0] = SOFT + permitted(max(room, 0.0), braking) - fall
    b.drift[0] = SOFT + unbraked - b.value[0]
    b.slope[0, 0], b.slope[0, 1] = braked - unbraked, 0.0


@kernel
def stay_upright(p, s, turn, b):
    """Fill two barriers [rad/s]: the speed at which the lander may turn to the left, and to the right, less that at
    which it turns."""
    dt, braking = 1.0 / p.fps, BRAKING * turn * p.fps
    for k in range(2):
        sign = 1.0 - 2.0 * k
        room, spin = LEAN - sign * s.angle[HULL], sign * s.spin[HULL]
        right = permitted(room - (spin - sign * turn) * dt, braking) - (spin - sign * turn)
        left = permitted(room - (spin + sign * turn) * dt, braking) - (spin + sign * turn)
        b.value[1 + k] = permitted(room, braking) - spin
        b.drift[1 + k] = 0.5 * (right + left) - b.value[1 + k]
        b.slope[1 + k, 0], b.slope[1 + k, 1] = 0.0, 0.5 * (right - left)


@kernel
def keep_landable(p, s, a, b):
    """Fill the three barriers. There are none while a leg stands on the ground."""
    if s.leg_touches[0] or s.leg_touches[1]:
        for k in range(b.value.size):
            b.value[k] = math.nan
        return
    lift, turn = forces(p, s)
    fall_softly(p, s, lift, a, b)
    stay_upright(p, s, turn, b)
    b.brake[0], b.brake[1] = 1.0, min(max(4.0 * s.angle[HULL] + 2.0 * s.spin[HULL], -1.0), 1.0)
