"""Rays against shapes."""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.kits.planar.broad import strip_of
from rlenvs.kits.planar.shapes import CIRCLE, EDGE


@kernel
def cast_ray(s, x1, y1, x2, y2, mask):
    """How far a ray from (x1, y1) gets on its way to (x2, y2), as a share of it; 1.0 where nothing is in its way.

    `mask`: bits of the categories that it hits. Sensors too are hit. A ray that begins inside of a polygon or a circle
    does not see it."""
    best = 1.0
    if s.static_count > 0:
        first, last = strip_of(s, min(x1, x2) - s.strip_reach), strip_of(s, max(x1, x2))
        for j in range(s.strip_start[first], s.strip_start[last + 1]):
            best = _nearer(s, s.static_shapes[j], x1, y1, x2, y2, mask, best)
    for j in range(s.moving_count):
        best = _nearer(s, s.moving_shapes[j], x1, y1, x2, y2, mask, best)
    return best


@kernel
def _nearer(s, k, x1, y1, x2, y2, mask, best):
    """The share, where the ray hits this shape before it has come as far as `best`."""
    if s.shape_category[k] & mask == 0:
        return best
    ex, ey = x1 + best * (x2 - x1), y1 + best * (y2 - y1)
    beside = s.shape_box[k, 0] > max(x1, ex) or s.shape_box[k, 2] < min(x1, ex)
    if beside or s.shape_box[k, 1] > max(y1, ey) or s.shape_box[k, 3] < min(y1, ey):
        return best
    b = s.shape_body[k]
    c, sn = s.frame[b, 2], s.frame[b, 3]
    ax, ay = x1 - s.frame[b, 0], y1 - s.frame[b, 1]
    ax, ay = c * ax + sn * ay, c * ay - sn * ax
    dx, dy = c * (x2 - x1) + sn * (y2 - y1), c * (y2 - y1) - sn * (x2 - x1)
    return min(best, ray_to_shape(s, k, ax, ay, dx, dy))


@kernel
def ray_to_shape(s, k, ax, ay, dx, dy):
    """The share of a ray, in the frame of the shape's body, at which it meets the shape; 2.0 where it does not."""
    f, n = s.shape_first[k], s.shape_size[k]
    if s.shape_kind[k] == CIRCLE:
        px, py, radius = ax - s.vertex[f, 0], ay - s.vertex[f, 1], s.shape_radius[k]
        beyond = px * px + py * py - radius * radius
        along, length = px * dx + py * dy, dx * dx + dy * dy
        under = along * along - length * beyond
        if under < 0.0 or length < 1e-14:
            return 2.0
        share = -(along + math.sqrt(under)) / length
        return share if share >= 0.0 else 2.0
    if s.shape_kind[k] == EDGE:
        ex, ey = s.vertex[f + 1, 0] - s.vertex[f, 0], s.vertex[f + 1, 1] - s.vertex[f, 1]
        across = dx * ey - dy * ex
        if across == 0.0:
            return 2.0
        wx, wy = s.vertex[f, 0] - ax, s.vertex[f, 1] - ay
        share, place = (wx * ey - wy * ex) / across, (wx * dy - wy * dx) / across
        return share if share >= 0.0 and 0.0 <= place <= 1.0 else 2.0
    enters, leaves, some = 0.0, 2.0, False
    for j in range(f, f + n):
        nx, ny = s.normal[j, 0], s.normal[j, 1]
        above = nx * (s.vertex[j, 0] - ax) + ny * (s.vertex[j, 1] - ay)
        speed = nx * dx + ny * dy
        if speed == 0.0:
            if above < 0.0:
                return 2.0
        elif speed < 0.0 and above < enters * speed:
            enters, some = above / speed, True
        elif speed > 0.0 and above < leaves * speed:
            leaves = above / speed
        if leaves < enters:
            return 2.0
    return enters if some else 2.0
