"""Collisions of CarRacing's cars: each is a capsule around its hull, and a contact is one impulse."""

from __future__ import annotations

import math

import numpy as np

from rlenvs.core import f8, kernel, maths
from rlenvs.robotics.racing.car import ANGLE, HULL, SPIN, VX, VY, WHEELS, X, Y, masses

CAPSULE = {"capsule": f8(3)}  # m: its radius; from where to where its middle line goes along the hull


def capsule_of(part: np.ndarray) -> np.ndarray:
    """As wide and as long as a hull of these parts."""
    radius = float(np.abs(part[..., 0]).max())
    return np.array([radius, float(part[..., 1].min()) + radius, float(part[..., 1].max()) - radius])


@kernel
def whole(p):
    """Mass of a car with its wheels, its centre in the hull's frame (x, y), inertia about that."""
    heavy, inertia, light, small = masses(p)
    total, x, y = heavy + WHEELS * light, 0.0, 0.0
    for w in range(WHEELS):
        hx, hy = p.hinge[w, 0], p.hinge[w, 1]
        x, y = x + light * hx / total, y + light * hy / total
        inertia += light * (hx * hx + hy * hy) + small
    return total, x, y, inertia - total * (x * x + y * y)


@kernel
def centre_of(p, s, c):
    """The centre of mass of a car with its wheels, as they hang on the hull."""
    _, x, y, _ = whole(p)
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    return s.body[c, HULL, X] + cs * x - sn * y, s.body[c, HULL, Y] + sn * x + cs * y


@kernel
def kick_car(p, s, c, jx, jy, x, y):
    """An impulse [N s] on a car at a point of the world; the wheels move with it."""
    total, _, _, inertia = whole(p)
    cx, cy = centre_of(p, s, c)
    turn = ((x - cx) * jy - (y - cy) * jx) / inertia
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    for b in range(1 + WHEELS):
        hx, hy = (p.hinge[b - 1, 0], p.hinge[b - 1, 1]) if b > 0 else (0.0, 0.0)
        ax, ay = s.body[c, HULL, X] + cs * hx - sn * hy - cx, s.body[c, HULL, Y] + sn * hx + cs * hy - cy
        s.body[c, b, VX] += jx / total - turn * ay
        s.body[c, b, VY] += jy / total + turn * ax
        s.body[c, b, SPIN] += turn


@kernel
def shift_car(s, c, dx, dy):
    """Put a car elsewhere."""
    for b in range(1 + WHEELS):
        s.body[c, b, X] += dx
        s.body[c, b, Y] += dy


@kernel
def yielding(p, s, c, nx, ny, x, y):
    """How much speed along n a car takes at a point, per impulse along n there."""
    total, _, _, inertia = whole(p)
    cx, cy = centre_of(p, s, c)
    arm = (x - cx) * ny - (y - cy) * nx
    return 1.0 / total + arm * arm / inertia


@kernel
def speed_at(s, c, nx, ny, x, y):
    """Speed along n of a car's hull at a point."""
    vx = s.body[c, HULL, VX] - s.body[c, HULL, SPIN] * (y - s.body[c, HULL, Y])
    vy = s.body[c, HULL, VY] + s.body[c, HULL, SPIN] * (x - s.body[c, HULL, X])
    return vx * nx + vy * ny


@kernel
def spine(p, s, c):
    """The middle line of a car's capsule, from its tail to its nose."""
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    x, y = s.body[c, HULL, X], s.body[c, HULL, Y]
    low, high = p.capsule[1], p.capsule[2]
    return x - sn * low, y + cs * low, x - sn * high, y + cs * high


@kernel
def share_along(ax, ay, bx, by, x, y):
    """The share of the way from a to b that is nearest to a point."""
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    return min(max(((x - ax) * dx + (y - ay) * dy) / square, 0.0), 1.0) if square > 1e-12 else 0.0


@kernel
def nearest_points(ax, ay, bx, by, cx, cy, dx, dy):
    """Where two lines from a to b and from c to d come nearest: a point of each. Where they cross, the crossing."""
    ux, uy, vx, vy = bx - ax, by - ay, dx - cx, dy - cy
    cross = ux * vy - uy * vx
    if abs(cross) > 1e-12:
        t = ((cx - ax) * vy - (cy - ay) * vx) / cross
        q = ((cx - ax) * uy - (cy - ay) * ux) / cross
        if 0.0 <= t <= 1.0 and 0.0 <= q <= 1.0:
            return ax + t * ux, ay + t * uy, ax + t * ux, ay + t * uy
    best, px, py, qx, qy = 1e18, ax, ay, cx, cy
    for end in range(4):  # else an end of one of them is nearest to the other
        if end < 2:
            fx, fy = (ax, ay) if end == 0 else (bx, by)
            t = share_along(cx, cy, dx, dy, fx, fy)
            gx, gy = cx + t * vx, cy + t * vy
        else:
            gx, gy = (cx, cy) if end == 2 else (dx, dy)
            t = share_along(ax, ay, bx, by, gx, gy)
            fx, fy = ax + t * ux, ay + t * uy
        far = (gx - fx) * (gx - fx) + (gy - fy) * (gy - fy)
        if far < best:
            best, px, py, qx, qy = far, fx, fy, gx, gy
    return px, py, qx, qy


@kernel
def collide(p, s, c, d):
    """Take two cars apart where they overlap, and change their velocities. Returns whether they touch."""
    ax, ay, bx, by = spine(p, s, c)
    ex, ey, fx, fy = spine(p, s, d)
    px, py, qx, qy = nearest_points(ax, ay, bx, by, ex, ey, fx, fy)
    nx, ny = qx - px, qy - py
    far = math.sqrt(nx * nx + ny * ny)
    if far >= 2.0 * p.capsule[0]:
        return False
    if far < 1e-9:  # one on the other: from hull to hull
        nx, ny = s.body[d, HULL, X] - s.body[c, HULL, X], s.body[d, HULL, Y] - s.body[c, HULL, Y]
        long = math.sqrt(nx * nx + ny * ny)
        nx, ny = (nx / long, ny / long) if long > 1e-9 else (1.0, 0.0)
    else:
        nx, ny = nx / far, ny / far
    deep = 0.5 * (2.0 * p.capsule[0] - far)
    shift_car(s, c, -deep * nx, -deep * ny)
    shift_car(s, d, deep * nx, deep * ny)
    x, y = 0.5 * (px + qx), 0.5 * (py + qy)
    closing = speed_at(s, c, nx, ny, x, y) - speed_at(s, d, nx, ny, x, y)
    if closing > 0.0:
        size = (1.0 + p.bounce) * closing / (yielding(p, s, c, nx, ny, x, y) + yielding(p, s, d, nx, ny, x, y))
        kick_car(p, s, c, -size * nx, -size * ny, x, y)
        kick_car(p, s, d, size * nx, size * ny, x, y)
    return True
