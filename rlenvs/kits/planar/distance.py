"""How far two convex shapes are apart: the algorithm of Gilbert, Johnson and Keerthi on differences of vertices, with
Voronoi regions (Catto, "Computing Distance", GDC 2010). Distances are between the vertices' hulls, without skins."""

from __future__ import annotations

import math

from rlenvs.core import kernel

ROUNDS = 20
TINY = 1.2e-7


@kernel
def farthest(s, k, dx, dy):
    """The vertex of a shape that lies farthest in a direction, both in the body's frame."""
    f = s.shape_first[k]
    best, most = 0, -1e300
    for j in range(s.shape_size[k]):
        along = dx * s.vertex[f + j, 0] + dy * s.vertex[f + j, 1]
        if along > most:
            best, most = j, along
    return best


@kernel
def _corner(s, i, k, other, j, m, frame):
    """Put the difference of vertex m of the other shape and vertex j of shape k into place i of the simplex. `frame`
    has x, y, cosine, sine of both bodies."""
    f, g = s.shape_first[k] + j, s.shape_first[other] + m
    ax, ay, ac, as_, bx, by, bc, bs = frame
    ux, uy, vx, vy = s.vertex[f, 0], s.vertex[f, 1], s.vertex[g, 0], s.vertex[g, 1]
    s.simplex[i, 0] = bx + bc * vx - bs * vy - (ax + ac * ux - as_ * uy)
    s.simplex[i, 1] = by + bs * vx + bc * vy - (ay + as_ * ux + ac * uy)
    s.simplex[i, 2] = 1.0
    s.simplex_index[i, 0], s.simplex_index[i, 1] = j, m


@kernel
def _keep(s, i, j):
    """Corner j of the simplex in place i."""
    for n in range(3):
        s.simplex[i, n] = s.simplex[j, n]
    s.simplex_index[i, 0], s.simplex_index[i, 1] = s.simplex_index[j, 0], s.simplex_index[j, 1]


@kernel
def _nearest_on_segment(s):
    """Of two corners those that the point nearest to the origin lies between; how many."""
    x1, y1, x2, y2 = s.simplex[0, 0], s.simplex[0, 1], s.simplex[1, 0], s.simplex[1, 1]
    ex, ey = x2 - x1, y2 - y1
    to1, to2 = ex * x2 + ey * y2, -(ex * x1 + ey * y1)
    if to2 <= 0.0:
        s.simplex[0, 2] = 1.0
        return 1
    if to1 <= 0.0:
        _keep(s, 0, 1)
        s.simplex[0, 2] = 1.0
        return 1
    s.simplex[0, 2], s.simplex[1, 2] = to1 / (to1 + to2), to2 / (to1 + to2)
    return 2


@kernel
def _nearest_in_triangle(s):
    """Of three corners; how many stay. Three: the origin lies inside."""
    p = s.simplex
    x1, y1, x2, y2, x3, y3 = p[0, 0], p[0, 1], p[1, 0], p[1, 1], p[2, 0], p[2, 1]
    a12, b12 = (x2 - x1) * x2 + (y2 - y1) * y2, -((x2 - x1) * x1 + (y2 - y1) * y1)
    a13, b13 = (x3 - x1) * x3 + (y3 - y1) * y3, -((x3 - x1) * x1 + (y3 - y1) * y1)
    a23, b23 = (x3 - x2) * x3 + (y3 - y2) * y3, -((x3 - x2) * x2 + (y3 - y2) * y2)
    turn = (x2 - x1) * (y3 - y1) - (y2 - y1) * (x3 - x1)
    d1, d2, d3 = turn * (x2 * y3 - y2 * x3), turn * (x3 * y1 - y3 * x1), turn * (x1 * y2 - y1 * x2)
    if b12 <= 0.0 and b13 <= 0.0:
        p[0, 2] = 1.0
        return 1
    if a12 > 0.0 and b12 > 0.0 and d3 <= 0.0:
        p[0, 2], p[1, 2] = a12 / (a12 + b12), b12 / (a12 + b12)
        return 2
    if a13 > 0.0 and b13 > 0.0 and d2 <= 0.0:
        _keep(s, 1, 2)
        p[0, 2], p[1, 2] = a13 / (a13 + b13), b13 / (a13 + b13)
        return 2
    if a12 <= 0.0 and b23 <= 0.0:
        _keep(s, 0, 1)
        p[0, 2] = 1.0
        return 1
    if a13 <= 0.0 and a23 <= 0.0:
        _keep(s, 0, 2)
        p[0, 2] = 1.0
        return 1
    if a23 > 0.0 and b23 > 0.0 and d1 <= 0.0:
        _keep(s, 0, 2)
        p[0, 2], p[1, 2] = b23 / (a23 + b23), a23 / (a23 + b23)
        return 2
    return 3


@kernel
def distance(s, k, other, frame):
    """How far the hulls of two shapes are apart [m], and how many corners the nearest features have: 1 or 2, whose
    vertices stand in `s.simplex_index`; 3 where the hulls overlap."""
    _, _, ac, as_, _, _, bc, bs = frame
    _corner(s, 0, k, other, 0, 0, frame)
    count = 1
    for _ in range(ROUNDS):
        kept = count
        if count == 2:
            count = _nearest_on_segment(s)
        elif count == 3:
            count = _nearest_in_triangle(s)
        if count == 3:
            break
        x1, y1 = s.simplex[0, 0], s.simplex[0, 1]
        dx, dy = -x1, -y1
        if count == 2:
            ex, ey = s.simplex[1, 0] - x1, s.simplex[1, 1] - y1
            dx, dy = (-ey, ex) if ey * x1 - ex * y1 > 0.0 else (ey, -ex)
        if dx * dx + dy * dy < TINY * TINY:
            break
        j = farthest(s, k, -(ac * dx + as_ * dy), -(ac * dy - as_ * dx))
        m = farthest(s, other, bc * dx + bs * dy, bc * dy - bs * dx)
        known = False
        for i in range(max(count, kept)):
            known = known or (s.simplex_index[i, 0] == j and s.simplex_index[i, 1] == m)
        if known:
            break
        _corner(s, count, k, other, j, m, frame)
        count += 1
    if count == 3:
        return 0.0, 3
    x, y = s.simplex[0, 0], s.simplex[0, 1]
    if count == 2:
        x = s.simplex[0, 2] * x + s.simplex[1, 2] * s.simplex[1, 0]
        y = s.simplex[0, 2] * y + s.simplex[1, 2] * s.simplex[1, 1]
    return math.sqrt(x * x + y * y), count


@kernel
def gap(s, k, other):
    """How far two shapes are apart, skins counted, where their bodies are."""
    a, b = s.shape_body[k], s.shape_body[other]
    ax, ay, ac, as_ = s.frame[a, 0], s.frame[a, 1], s.frame[a, 2], s.frame[a, 3]
    bx, by, bc, bs = s.frame[b, 0], s.frame[b, 1], s.frame[b, 2], s.frame[b, 3]
    return distance(s, k, other, (ax, ay, ac, as_, bx, by, bc, bs))[0] - s.shape_radius[k] - s.shape_radius[other]
