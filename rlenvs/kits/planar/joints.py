"""Revolute and prismatic joints with motors and limits.

A joint is three rows of constraints on the relative velocity of its bodies: two that hold always, and a third along the
direction that is free, for the motor and the limits. A row is a direction n and two arms a, b:
n . (vB - vA) + b wB - a wA. Revolute: x, y, angle. Prismatic: across the axis, angle, along the axis.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.kits.planar.bodies import set_frame
from rlenvs.kits.planar.shapes import ANGULAR_SLOP, SLOP

REVOLUTE, PRISMATIC = 1, 2
FREE, AT_LOWER, AT_UPPER, EQUAL = range(4)
LARGEST_CORRECTION = 0.2  # m, of positions, per iteration
LARGEST_TURN = 8.0 / 180.0 * math.pi  # rad
# columns of joint_gain: inverse of the two rows that hold, of all three, of the third alone; the third with the others
TWO, THREE, ONE, LAST = 0, 3, 9, 10


@kernel
def add_revolute(s, a, b, ax, ay, bx, by):
    """Hinge bodies a and b together at points of their frames; their angle now counts as 0. Returns its number."""
    j = s.joint_count
    s.joint_count = j + 1
    s.joint_kind[j] = REVOLUTE
    s.joint_body[j, 0], s.joint_body[j, 1] = a, b
    s.joint_anchor[j, 0], s.joint_anchor[j, 1], s.joint_anchor[j, 2], s.joint_anchor[j, 3] = ax, ay, bx, by
    s.joint_reference[j] = s.angle[b] - s.angle[a]
    return j


@kernel
def add_prismatic(s, a, b, ax, ay, bx, by, axis_x, axis_y):
    """Let b slide along an axis (a unit vector in the frame of a), which does not turn against a."""
    j = add_revolute(s, a, b, ax, ay, bx, by)
    s.joint_kind[j] = PRISMATIC
    s.joint_axis[j, 0], s.joint_axis[j, 1] = axis_x, axis_y
    return j


@kernel
def set_limits(s, j, lower, upper):
    """Between what angles [rad] or translations [m] the joint moves."""
    s.joint_limited[j] = 1
    s.joint_range[j, 0], s.joint_range[j, 1] = lower, upper


@kernel
def set_motor(s, j, speed, limit):
    """A motor that brings the joint to a speed [rad/s, m/s] with at most this torque or force [N m, N]."""
    s.motor_on[j] = 1
    s.motor_speed[j] = speed
    s.motor_limit[j] = limit


@kernel
def joint_angle(s, j):
    """Angle [rad] of a revolute joint; translation [m] of a prismatic one."""
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    if s.joint_kind[j] == REVOLUTE:
        return s.angle[b] - s.angle[a] - s.joint_reference[j]
    dx, dy, ux, uy = _apart(s, j)[:4]
    return dx * ux + dy * uy


@kernel
def joint_speed(s, j):
    """Speed of that [rad/s, m/s]."""
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    if s.joint_kind[j] == REVOLUTE:
        return s.spin[b] - s.spin[a]
    dx, dy, ux, uy, rax, ray, rbx, rby = _apart(s, j)
    arm_a = (dx + rax) * uy - (dy + ray) * ux
    arm_b = rbx * uy - rby * ux
    along = (s.velocity[b, 0] - s.velocity[a, 0]) * ux + (s.velocity[b, 1] - s.velocity[a, 1]) * uy
    return along + arm_b * s.spin[b] - arm_a * s.spin[a]


@kernel
def _arms(s, j):
    """Anchors from the centres of mass, turned into the world."""
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    x, y = s.joint_anchor[j, 0] - s.local_centre[a, 0], s.joint_anchor[j, 1] - s.local_centre[a, 1]
    u, v = s.joint_anchor[j, 2] - s.local_centre[b, 0], s.joint_anchor[j, 3] - s.local_centre[b, 1]
    ca, sa, cb, sb = s.frame[a, 2], s.frame[a, 3], s.frame[b, 2], s.frame[b, 3]
    return ca * x - sa * y, sa * x + ca * y, cb * u - sb * v, sb * u + cb * v


@kernel
def _apart(s, j):
    """From one anchor to the other, the axis, and the arms."""
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    rax, ray, rbx, rby = _arms(s, j)
    dx = s.centre[b, 0] + rbx - s.centre[a, 0] - rax
    dy = s.centre[b, 1] + rby - s.centre[a, 1] - ray
    c, sn = s.frame[a, 2], s.frame[a, 3]
    x, y = s.joint_axis[j, 0], s.joint_axis[j, 1]
    return dx, dy, c * x - sn * y, sn * x + c * y, rax, ray, rbx, rby


@kernel
def _set_row(s, j, row, nx, ny, arm_a, arm_b):
    s.joint_rows[j, row, 0], s.joint_rows[j, row, 1] = nx, ny
    s.joint_rows[j, row, 2], s.joint_rows[j, row, 3] = arm_a, arm_b


@kernel
def _set_rows(s, j):
    """The rows at the bodies' positions. Returns the distance between the anchors, and the prismatic offset angle."""
    dx, dy, ux, uy, rax, ray, rbx, rby = _apart(s, j)
    if s.joint_kind[j] == REVOLUTE:
        _set_row(s, j, 0, 1.0, 0.0, -ray, -rby)
        _set_row(s, j, 1, 0.0, 1.0, rax, rbx)
        _set_row(s, j, 2, 0.0, 0.0, 1.0, 1.0)
    else:
        ax, ay = dx + rax, dy + ray
        _set_row(s, j, 0, -uy, ux, ax * ux + ay * uy, rbx * ux + rby * uy)
        _set_row(s, j, 1, 0.0, 0.0, 1.0, 1.0)
        _set_row(s, j, 2, ux, uy, ax * uy - ay * ux, rbx * uy - rby * ux)
    return dx, dy


@kernel
def _coupling(s, j, row, other):
    """How much an impulse along one row changes the velocity along another."""
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    mass = s.inverse_mass[a] + s.inverse_mass[b]
    across = s.joint_rows[j, row, 0] * s.joint_rows[j, other, 0] + s.joint_rows[j, row, 1] * s.joint_rows[j, other, 1]
    return (
        mass * across
        + s.inverse_inertia[a] * s.joint_rows[j, row, 2] * s.joint_rows[j, other, 2]
        + s.inverse_inertia[b] * s.joint_rows[j, row, 3] * s.joint_rows[j, other, 3]
    )


@kernel
def _reciprocal(x):
    return 1.0 / x if x != 0.0 else 0.0


@kernel
def _set_gains(s, j):
    """Inverses of the couplings; zero where they have none, as of bodies that do not turn."""
    k11, k12, k22 = _coupling(s, j, 0, 0), _coupling(s, j, 0, 1), _coupling(s, j, 1, 1)
    k13, k23, k33 = _coupling(s, j, 0, 2), _coupling(s, j, 1, 2), _coupling(s, j, 2, 2)
    if k22 == 0.0:  # both bodies cannot turn: the angle holds by itself
        k22 = 1.0
    g = s.joint_gain
    inverse = _reciprocal(k11 * k22 - k12 * k12)
    g[j, 0], g[j, 1], g[j, 2] = inverse * k22, -inverse * k12, inverse * k11
    c11, c12, c13 = k22 * k33 - k23 * k23, k13 * k23 - k12 * k33, k12 * k23 - k13 * k22
    inverse = _reciprocal(k11 * c11 + k12 * c12 + k13 * c13)
    g[j, 3], g[j, 4], g[j, 5] = inverse * c11, inverse * c12, inverse * c13
    g[j, 6], g[j, 7] = inverse * (k11 * k33 - k13 * k13), inverse * (k12 * k13 - k11 * k23)
    g[j, 8] = inverse * (k11 * k22 - k12 * k12)
    g[j, ONE] = _reciprocal(k33)
    g[j, LAST], g[j, LAST + 1], g[j, LAST + 2] = k13, k23, k33
    g[j, 13] = k11 + k22


@kernel
def _apply(s, j, p0, p1, p2):
    """Impulses along the three rows."""
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    rows = s.joint_rows
    px = p0 * rows[j, 0, 0] + p1 * rows[j, 1, 0] + p2 * rows[j, 2, 0]
    py = p0 * rows[j, 0, 1] + p1 * rows[j, 1, 1] + p2 * rows[j, 2, 1]
    s.velocity[a, 0] -= s.inverse_mass[a] * px
    s.velocity[a, 1] -= s.inverse_mass[a] * py
    s.spin[a] -= s.inverse_inertia[a] * (p0 * rows[j, 0, 2] + p1 * rows[j, 1, 2] + p2 * rows[j, 2, 2])
    s.velocity[b, 0] += s.inverse_mass[b] * px
    s.velocity[b, 1] += s.inverse_mass[b] * py
    s.spin[b] += s.inverse_inertia[b] * (p0 * rows[j, 0, 3] + p1 * rows[j, 1, 3] + p2 * rows[j, 2, 3])


@kernel
def _speed_along(s, j, row):
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    rows = s.joint_rows
    return (
        rows[j, row, 0] * (s.velocity[b, 0] - s.velocity[a, 0])
        + rows[j, row, 1] * (s.velocity[b, 1] - s.velocity[a, 1])
        + rows[j, row, 3] * s.spin[b]
        - rows[j, row, 2] * s.spin[a]
    )


@kernel
def _limit_state(s, j):
    if not s.joint_limited[j]:
        return FREE
    lower, upper = s.joint_range[j, 0], s.joint_range[j, 1]
    value = joint_angle(s, j)
    if upper - lower < (2.0 * ANGULAR_SLOP if s.joint_kind[j] == REVOLUTE else 2.0 * SLOP):
        return EQUAL
    if value <= lower:
        return AT_LOWER
    return AT_UPPER if value >= upper else FREE


@kernel
def start_joint(s, j):
    """What stays the same during a step, and the impulses of the step before."""
    _set_rows(s, j)
    _set_gains(s, j)
    state = _limit_state(s, j)
    if state != s.joint_state[j] or state == FREE:
        if state != EQUAL:
            s.joint_impulse[j, 2] = 0.0
        s.joint_state[j] = state
    if not s.motor_on[j]:
        s.motor_impulse[j] = 0.0
    _apply(s, j, s.joint_impulse[j, 0], s.joint_impulse[j, 1], s.joint_impulse[j, 2] + s.motor_impulse[j])


@kernel
def solve_joints(s, dt, settled):
    """One iteration of velocities: the motor, then what holds always. Returns about how much it changed them, which
    need not be all where that is more than `settled`.

    Most of a step's time is spent here, waiting for one result after the other, so what a hinge does is written out in
    local variables."""
    changed, g, rows, impulse = 0.0, s.joint_gain, s.joint_rows, s.joint_impulse
    for j in range(s.joint_count):
        if s.joint_kind[j] != REVOLUTE:
            changed = max(changed, _solve_prismatic(s, j, dt))
            continue
        a, b, state = s.joint_body[j, 0], s.joint_body[j, 1], s.joint_state[j]
        vax, vay, wa, ma, ia = s.velocity[a, 0], s.velocity[a, 1], s.spin[a], s.inverse_mass[a], s.inverse_inertia[a]
        vbx, vby, wb, mb, ib = s.velocity[b, 0], s.velocity[b, 1], s.spin[b], s.inverse_mass[b], s.inverse_inertia[b]
        ay, by, ax, bx = rows[j, 0, 2], rows[j, 0, 3], rows[j, 1, 2], rows[j, 1, 3]
        g11, g12, g22 = g[j, 0], g[j, 1], g[j, 2]
        if s.motor_on[j] and state != EQUAL:
            step = _motor_step(s, j, dt, wb - wa)
            wa, wb = wa - ia * step, wb + ib * step
            if changed < settled:
                changed = max(changed, abs(step) * g[j, LAST + 2])
        c0, c1 = vbx + by * wb - vax - ay * wa, vby + bx * wb - vay - ax * wa
        p0, p1 = -(g11 * c0 + g12 * c1), -(g12 * c0 + g22 * c1)
        turn_a, turn_b = ay * p0 + ax * p1, by * p0 + bx * p1
        if state != FREE and g[j, ONE] != 0.0:
            p0, p1, p2 = _hold_at_limit(s, j, c0, c1, wb - wa)
            turn_a, turn_b = ay * p0 + ax * p1 + p2, by * p0 + bx * p1 + p2
            changed = max(changed, abs(p2) * g[j, LAST + 2])
        s.velocity[a, 0], s.velocity[a, 1], s.spin[a] = vax - ma * p0, vay - ma * p1, wa - ia * turn_a
        s.velocity[b, 0], s.velocity[b, 1], s.spin[b] = vbx + mb * p0, vby + mb * p1, wb + ib * turn_b
        impulse[j, 0] += p0
        impulse[j, 1] += p1
        if changed < settled:
            changed = max(changed, (abs(p0) + abs(p1)) * g[j, 13])
    return changed


@kernel
def _solve_prismatic(s, j, dt):
    g, changed = s.joint_gain, 0.0
    if s.motor_on[j] and s.joint_state[j] != EQUAL:
        step = _motor_step(s, j, dt, _speed_along(s, j, 2))
        _apply(s, j, 0.0, 0.0, step)
        changed = abs(step) * g[j, LAST + 2]
    c0, c1, p2 = _speed_along(s, j, 0), _speed_along(s, j, 1), 0.0
    p0, p1 = -(g[j, 0] * c0 + g[j, 1] * c1), -(g[j, 1] * c0 + g[j, 2] * c1)
    if s.joint_state[j] != FREE and g[j, ONE] != 0.0:
        p0, p1, p2 = _hold_at_limit(s, j, c0, c1, _speed_along(s, j, 2))
    s.joint_impulse[j, 0] += p0
    s.joint_impulse[j, 1] += p1
    _apply(s, j, p0, p1, p2)
    return max(changed, (abs(p0) + abs(p1)) * g[j, 13], abs(p2) * g[j, LAST + 2])


@kernel
def _motor_step(s, j, dt, speed):
    """The change of a motor's impulse, which stays within its limit."""
    old, strongest = s.motor_impulse[j], dt * s.motor_limit[j]
    wanted = old + (s.motor_speed[j] - speed) * s.joint_gain[j, ONE]
    s.motor_impulse[j] = min(max(wanted, -strongest), strongest)
    return s.motor_impulse[j] - old


@kernel
def _hold_at_limit(s, j, c0, c1, c2):
    """Impulses along the three rows that stop these speeds; the third, of a limit, only pushes."""
    g, old, state = s.joint_gain, s.joint_impulse[j, 2], s.joint_state[j]
    p0 = -(g[j, 3] * c0 + g[j, 4] * c1 + g[j, 5] * c2)
    p1 = -(g[j, 4] * c0 + g[j, 6] * c1 + g[j, 7] * c2)
    p2 = -(g[j, 5] * c0 + g[j, 7] * c1 + g[j, 8] * c2)
    total = old + p2
    if (state == AT_LOWER and total < 0.0) or (state == AT_UPPER and total > 0.0):
        p2 = -old
        c0, c1 = c0 + p2 * g[j, LAST], c1 + p2 * g[j, LAST + 1]
        p0, p1 = -(g[j, 0] * c0 + g[j, 1] * c1), -(g[j, 1] * c0 + g[j, 2] * c1)
    s.joint_impulse[j, 2] = old + p2
    return p0, p1, p2


# --- positions --------------------------------------------------------------------------------------------------------


@kernel
def _turn_back(s, j):
    """The angle of a revolute joint back to its limits. Returns how far it is off."""
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    value, state = joint_angle(s, j), s.joint_state[j]
    if state == EQUAL:
        off = min(max(value - s.joint_range[j, 0], -LARGEST_TURN), LARGEST_TURN)
        error = abs(off)
    elif state == AT_LOWER:
        error = s.joint_range[j, 0] - value
        off = min(max(ANGULAR_SLOP - error, -LARGEST_TURN), 0.0)
    else:
        error = value - s.joint_range[j, 1]
        off = min(max(error - ANGULAR_SLOP, 0.0), LARGEST_TURN)
    turn = off * _reciprocal(s.inverse_inertia[a] + s.inverse_inertia[b])
    s.angle[a] += s.inverse_inertia[a] * turn
    s.angle[b] -= s.inverse_inertia[b] * turn
    set_frame(s, a)
    set_frame(s, b)
    return error


@kernel
def _move(s, j, p0, p1, p2):
    """Positions by pseudo-impulses along the rows."""
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    rows = s.joint_rows
    px = p0 * rows[j, 0, 0] + p1 * rows[j, 1, 0] + p2 * rows[j, 2, 0]
    py = p0 * rows[j, 0, 1] + p1 * rows[j, 1, 1] + p2 * rows[j, 2, 1]
    s.centre[a, 0] -= s.inverse_mass[a] * px
    s.centre[a, 1] -= s.inverse_mass[a] * py
    s.angle[a] -= s.inverse_inertia[a] * (p0 * rows[j, 0, 2] + p1 * rows[j, 1, 2] + p2 * rows[j, 2, 2])
    s.centre[b, 0] += s.inverse_mass[b] * px
    s.centre[b, 1] += s.inverse_mass[b] * py
    s.angle[b] += s.inverse_inertia[b] * (p0 * rows[j, 0, 3] + p1 * rows[j, 1, 3] + p2 * rows[j, 2, 3])
    set_frame(s, a)
    set_frame(s, b)


@kernel
def _place_hinge(s, j):
    """The same as of a prismatic joint below, with the rows of a hinge in local variables."""
    angular = _turn_back(s, j) if s.joint_state[j] != FREE else 0.0
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    ma, ia, mb, ib = s.inverse_mass[a], s.inverse_inertia[a], s.inverse_mass[b], s.inverse_inertia[b]
    rax, ray, rbx, rby = _arms(s, j)
    c0 = s.centre[b, 0] + rbx - s.centre[a, 0] - rax
    c1 = s.centre[b, 1] + rby - s.centre[a, 1] - ray
    k11 = ma + mb + ia * ray * ray + ib * rby * rby
    k12 = -(ia * ray * rax) - ib * rby * rbx
    k22 = ma + mb + ia * rax * rax + ib * rbx * rbx
    inverse = _reciprocal(k11 * k22 - k12 * k12)
    p0, p1 = -inverse * (k22 * c0 - k12 * c1), -inverse * (k11 * c1 - k12 * c0)
    s.centre[a, 0] -= ma * p0
    s.centre[a, 1] -= ma * p1
    s.angle[a] -= ia * (rax * p1 - ray * p0)
    s.centre[b, 0] += mb * p0
    s.centre[b, 1] += mb * p1
    s.angle[b] += ib * (rbx * p1 - rby * p0)
    set_frame(s, a)
    set_frame(s, b)
    return math.sqrt(c0 * c0 + c1 * c1) <= SLOP and angular <= ANGULAR_SLOP


@kernel
def place_joint(s, j):
    """One iteration of positions. Returns whether they were good enough."""
    g = s.joint_gain
    if s.joint_kind[j] == REVOLUTE:
        return _place_hinge(s, j)
    dx, dy = _set_rows(s, j)
    _set_gains(s, j)
    a, b = s.joint_body[j, 0], s.joint_body[j, 1]
    c0 = s.joint_rows[j, 0, 0] * dx + s.joint_rows[j, 0, 1] * dy
    c1 = s.angle[b] - s.angle[a] - s.joint_reference[j]
    linear, angular = abs(c0), abs(c1)
    c2, stops = 0.0, False
    if s.joint_limited[j]:
        value = s.joint_rows[j, 2, 0] * dx + s.joint_rows[j, 2, 1] * dy
        lower, upper = s.joint_range[j, 0], s.joint_range[j, 1]
        if upper - lower < 2.0 * SLOP:
            c2, stops = min(max(value - lower, -LARGEST_CORRECTION), LARGEST_CORRECTION), True
            linear = max(linear, abs(value - lower))
        elif value <= lower:
            c2, stops = min(max(value - lower + SLOP, -LARGEST_CORRECTION), 0.0), True
            linear = max(linear, lower - value)
        elif value >= upper:
            c2, stops = min(max(value - upper - SLOP, 0.0), LARGEST_CORRECTION), True
            linear = max(linear, value - upper)
    if stops:
        p0 = g[j, 3] * c0 + g[j, 4] * c1 + g[j, 5] * c2
        p1 = g[j, 4] * c0 + g[j, 6] * c1 + g[j, 7] * c2
        _move(s, j, -p0, -p1, -(g[j, 5] * c0 + g[j, 7] * c1 + g[j, 8] * c2))
    else:
        _move(s, j, -(g[j, 0] * c0 + g[j, 1] * c1), -(g[j, 1] * c0 + g[j, 2] * c1), 0.0)
    return linear <= SLOP and angular <= ANGULAR_SLOP
