"""When two moving shapes meet: conservative advancement along axes of separation (Catto, "Continuous Collision", GDC
2013). Bodies move from `s.swept` to where they are, evenly; shapes have met when their hulls are `aim` apart."""

from __future__ import annotations

import math

from rlenvs.core import kernel, maths
from rlenvs.kits.planar.distance import distance, farthest
from rlenvs.kits.planar.shapes import MARGIN, SLOP, boxes_nearer

ROUNDS, AXES, ROOTS = 20, 8, 50
POINTS, SIDE_A, SIDE_B = range(3)  # what an axis of separation comes from


@kernel
def frame_at(s, b, t):
    """A body's frame after a share t of what is left of its sweep."""
    if t == 1.0 or s.body_kind[b] == 0:
        return s.frame[b, 0], s.frame[b, 1], s.frame[b, 2], s.frame[b, 3]
    rest = 1.0 - t
    sn, c = maths.sin_cos(rest * s.swept[b, 2] + t * s.angle[b])
    lx, ly = s.local_centre[b, 0], s.local_centre[b, 1]
    x = rest * s.swept[b, 0] + t * s.centre[b, 0]
    y = rest * s.swept[b, 1] + t * s.centre[b, 1]
    return x - (c * lx - sn * ly), y - (sn * lx + c * ly), c, sn


@kernel
def frames_at(s, a, b, t):
    """The frames of both bodies."""
    ax, ay, ac, as_ = frame_at(s, a, t)
    bx, by, bc, bs = frame_at(s, b, t)
    return ax, ay, ac, as_, bx, by, bc, bs


@kernel
def _side_axis(s, k, first, second):
    """Middle and unit normal of the side between two vertices of a shape, in its body's frame."""
    f = s.shape_first[k]
    x1, y1, x2, y2 = s.vertex[f + first, 0], s.vertex[f + first, 1], s.vertex[f + second, 0], s.vertex[f + second, 1]
    dx, dy = x2 - x1, y2 - y1
    length = math.sqrt(dx * dx + dy * dy)
    return 0.5 * (x1 + x2), 0.5 * (y1 + y2), dy / length, -dx / length


@kernel
def separating_axis(s, k, other, count, frame):
    """An axis along which the nearest features of two shapes are apart: what it comes from, a point and a direction in
    the frame of that body (POINTS: the direction in the world, from k to the other)."""
    ax, ay, ac, as_, bx, by, bc, bs = frame
    f, g = s.shape_first[k], s.shape_first[other]
    i0, j0 = s.simplex_index[0, 0], s.simplex_index[0, 1]
    ux, uy, vx, vy = s.vertex[f + i0, 0], s.vertex[f + i0, 1], s.vertex[g + j0, 0], s.vertex[g + j0, 1]
    pax, pay = ax + ac * ux - as_ * uy, ay + as_ * ux + ac * uy
    pbx, pby = bx + bc * vx - bs * vy, by + bs * vx + bc * vy
    if count == 1:
        dx, dy = pbx - pax, pby - pay
        length = math.sqrt(dx * dx + dy * dy)
        return POINTS, 0.0, 0.0, dx / length, dy / length
    i1, j1 = s.simplex_index[1, 0], s.simplex_index[1, 1]
    if i0 == i1:
        x, y, nx, ny = _side_axis(s, other, j0, j1)
        wx, wy = bc * nx - bs * ny, bs * nx + bc * ny
        if (pax - bx - (bc * x - bs * y)) * wx + (pay - by - (bs * x + bc * y)) * wy < 0.0:
            nx, ny = -nx, -ny
        return SIDE_B, x, y, nx, ny
    x, y, nx, ny = _side_axis(s, k, i0, i1)
    wx, wy = ac * nx - as_ * ny, as_ * nx + ac * ny
    if (pbx - ax - (ac * x - as_ * y)) * wx + (pby - ay - (as_ * x + ac * y)) * wy < 0.0:
        nx, ny = -nx, -ny
    return SIDE_A, x, y, nx, ny


@kernel
def separation_of(s, k, other, axis, i, j, frame):
    """Along the axis, between vertex i of shape k and vertex j of the other (of a side: its own)."""
    kind, px, py, nx, ny = axis
    ax, ay, ac, as_, bx, by, bc, bs = frame
    f, g = s.shape_first[k] + i, s.shape_first[other] + j
    ux, uy, vx, vy = s.vertex[f, 0], s.vertex[f, 1], s.vertex[g, 0], s.vertex[g, 1]
    pax, pay = ax + ac * ux - as_ * uy, ay + as_ * ux + ac * uy
    pbx, pby = bx + bc * vx - bs * vy, by + bs * vx + bc * vy
    if kind == POINTS:
        return (pbx - pax) * nx + (pby - pay) * ny
    if kind == SIDE_A:
        wx, wy = ac * nx - as_ * ny, as_ * nx + ac * ny
        return (pbx - ax - (ac * px - as_ * py)) * wx + (pby - ay - (as_ * px + ac * py)) * wy
    wx, wy = bc * nx - bs * ny, bs * nx + bc * ny
    return (pax - bx - (bc * px - bs * py)) * wx + (pay - by - (bs * px + bc * py)) * wy


@kernel
def deepest(s, k, other, axis, frame):
    """The two vertices that are nearest to each other along the axis."""
    kind, _, _, nx, ny = axis
    _, _, ac, as_, _, _, bc, bs = frame
    wx, wy = nx, ny
    if kind == SIDE_A:
        wx, wy = ac * nx - as_ * ny, as_ * nx + ac * ny
    elif kind == SIDE_B:
        wx, wy = -(bc * nx - bs * ny), -(bs * nx + bc * ny)
    i = farthest(s, k, ac * wx + as_ * wy, ac * wy - as_ * wx)
    j = farthest(s, other, -(bc * wx + bs * wy), -(bc * wy - bs * wx))
    return i, j


@kernel
def _root(s, k, other, axis, i, j, t1, t2, s1, s2, aim, near):
    """When, between t1 and t2, two vertices are `aim` apart along the axis: secants and halves in turn."""
    a, b = s.shape_body[k], s.shape_body[other]
    for n in range(ROOTS):
        t = t1 + (aim - s1) * (t2 - t1) / (s2 - s1) if n & 1 else 0.5 * (t1 + t2)
        apart = separation_of(s, k, other, axis, i, j, frames_at(s, a, b, t))
        if abs(apart - aim) < near:
            return t
        if apart > aim:
            t1, s1 = t, apart
        else:
            t2, s2 = t, apart
    return t2


@kernel
def _bulge(s, k):
    """How far the vertices of a shape may leave the box around its places at both ends of the sweep, which a turn takes
    along arcs [m]."""
    b = s.shape_body[k]
    if s.body_kind[b] == 0:
        return 0.0
    x, y, turn = s.centre[b, 0], s.centre[b, 1], s.angle[b] - s.swept[b, 2]
    wide = max(x - s.shape_box[k, 0], s.shape_box[k, 2] - x)
    high = max(y - s.shape_box[k, 1], s.shape_box[k, 3] - y)
    return 0.125 * turn * turn * (wide + high)


@kernel
def stays_away(s, k, other):
    """Whether two shapes certainly do not meet in what is left of the sweep, by their boxes without the margins."""
    return not boxes_nearer(s, k, other, 2.0 * MARGIN - 2.0 * SLOP - _bulge(s, k) - _bulge(s, other))


@kernel
def meeting_time(s, k, other):
    """The share of what is left of the sweep after which two shapes meet; 1.0 where they do not; and 1.0 where they
    overlap from the beginning, since contacts then take care of them."""
    a, b = s.shape_body[k], s.shape_body[other]
    aim = max(SLOP, s.shape_radius[k] + s.shape_radius[other] - 3.0 * SLOP)
    near = 0.25 * SLOP
    t = 0.0
    for _ in range(ROUNDS):
        frame = frames_at(s, a, b, t)
        far, count = distance(s, k, other, frame)
        if far <= 0.0:
            return 1.0
        if far < aim + near:
            return t
        axis = separating_axis(s, k, other, count, frame)
        later = 1.0
        for _ in range(AXES):
            frame2 = frames_at(s, a, b, later)
            i, j = deepest(s, k, other, axis, frame2)
            s2 = separation_of(s, k, other, axis, i, j, frame2)
            if s2 > aim + near:
                if later == 1.0:
                    return 1.0
                break
            if s2 > aim - near:
                break
            s1 = separation_of(s, k, other, axis, i, j, frame)
            if s1 < aim - near:
                return 1.0
            if s1 <= aim + near:
                return t
            later = _root(s, k, other, axis, i, j, t, later, s1, s2, aim, near)
        t = later
    return 1.0
