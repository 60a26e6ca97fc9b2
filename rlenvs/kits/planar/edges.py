"""Where an edge and another shape touch. Neighbors of an edge keep bodies from catching at the corners of a chain."""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.kits.planar.collide import CIRCLES, FACE_A, FACE_B, add_clipped, add_point, relative_frame, set_face
from rlenvs.kits.planar.shapes import AFTER, ANGULAR_SLOP, BEFORE


@kernel
def collide_edge_circle(s, c, k, other):
    """The manifold of an edge and a circle: at the side or at an end that is no neighbour's."""
    a, b = s.shape_body[k], s.shape_body[other]
    f, g = s.shape_first[k], s.shape_first[other]
    x, y, co, si = relative_frame(s, a, b)
    px, py = s.vertex[g, 0], s.vertex[g, 1]
    qx, qy = x + co * px - si * py, y + si * px + co * py
    x1, y1, x2, y2 = s.vertex[f, 0], s.vertex[f, 1], s.vertex[f + 1, 0], s.vertex[f + 1, 1]
    ex, ey = x2 - x1, y2 - y1
    u, v = ex * (x2 - qx) + ey * (y2 - qy), ex * (qx - x1) + ey * (qy - y1)
    reach = s.shape_radius[k] + s.shape_radius[other]
    s.contact_points[c] = 0
    if u <= 0.0 or v <= 0.0:
        first = v <= 0.0
        cx, cy = (x1, y1) if first else (x2, y2)
        if (qx - cx) * (qx - cx) + (qy - cy) * (qy - cy) > reach * reach:
            return
        if s.shape_neighbours[k] & (BEFORE if first else AFTER):  # is it the neighbour's?
            wx, wy = s.vertex[f + (2 if first else 3), 0], s.vertex[f + (2 if first else 3), 1]
            if (cx - wx) * (cx - qx) + (cy - wy) * (cy - qy) > 0.0:
                return
        set_face(s, c, CIRCLES, cx, cy, 0.0, 0.0)
        add_point(s, c, px, py, 1 if first else 2)
        return
    length = ex * ex + ey * ey
    dx, dy = qx - (u * x1 + v * x2) / length, qy - (u * y1 + v * y2) / length
    if dx * dx + dy * dy > reach * reach:
        return
    nx, ny = -ey, ex
    if nx * (qx - x1) + ny * (qy - y1) < 0.0:
        nx, ny = -nx, -ny
    size = math.sqrt(length)
    set_face(s, c, FACE_A, x1, y1, nx / size, ny / size)
    add_point(s, c, px, py, 3)


@kernel
def _side_normal(x1, y1, x2, y2):
    dx, dy = x2 - x1, y2 - y1
    length = math.sqrt(dx * dx + dy * dy)
    return dy / length, -dx / length


@kernel
def _middle(s, k):
    """The centre of a polygon's area, in its body's frame."""
    f, n = s.shape_first[k], s.shape_size[k]
    x0, y0 = s.vertex[f, 0], s.vertex[f, 1]
    area, cx, cy = 0.0, 0.0, 0.0
    for j in range(f + 1, f + n - 1):
        ax, ay = s.vertex[j, 0] - x0, s.vertex[j, 1] - y0
        bx, by = s.vertex[j + 1, 0] - x0, s.vertex[j + 1, 1] - y0
        twice = ax * by - ay * bx
        area += twice
        cx += twice / 3.0 * (ax + bx)
        cy += twice / 3.0 * (ay + by)
    return x0 + cx / area, y0 + cy / area


@kernel
def _facing(s, k, qx, qy):
    """Which side of an edge a polygon about (qx, qy) collides with: whether the front, its normal, and the normals
    between which the polygon's own may lie, first on the lower side."""
    f, near = s.shape_first[k], s.shape_neighbours[k]
    x1, y1, x2, y2 = s.vertex[f, 0], s.vertex[f, 1], s.vertex[f + 1, 0], s.vertex[f + 1, 1]
    nx, ny = _side_normal(x1, y1, x2, y2)
    front = nx * (qx - x1) + ny * (qy - y1) >= 0.0
    before, after = near & BEFORE != 0, near & AFTER != 0
    n0x, n0y, n2x, n2y = nx, ny, nx, ny
    in0, in2, convex0, convex2 = front, front, False, False
    if before:
        n0x, n0y = _side_normal(s.vertex[f + 2, 0], s.vertex[f + 2, 1], x1, y1)
        convex0 = n0x * ny - n0y * nx >= 0.0
        in0 = n0x * (qx - s.vertex[f + 2, 0]) + n0y * (qy - s.vertex[f + 2, 1]) >= 0.0
        if not convex0:
            front = front and in0
    if after:
        n2x, n2y = _side_normal(x2, y2, s.vertex[f + 3, 0], s.vertex[f + 3, 1])
        convex2 = nx * n2y - ny * n2x > 0.0
        in2 = n2x * (qx - x2) + n2y * (qy - y2) >= 0.0
        if not convex2:
            front = front and in2
    front = front or (before and convex0 and in0) or (after and convex2 and in2)
    if front:
        lx, ly, hx, hy = -nx, -ny, -nx, -ny
        if before:
            lx, ly = (n0x, n0y) if convex0 else (nx, ny)
        if after:
            hx, hy = (n2x, n2y) if convex2 else (nx, ny)
        return True, nx, ny, lx, ly, hx, hy
    lx, ly, hx, hy = nx, ny, nx, ny
    if after:
        lx, ly = (-nx, -ny) if convex2 else (-n2x, -n2y)
    if before:
        hx, hy = (-nx, -ny) if convex0 else (-n0x, -n0y)
    return False, -nx, -ny, lx, ly, hx, hy


@kernel
def collide_edge_polygon(s, c, k, other):
    """The manifold of an edge and a polygon: on the edge, or on a side of the polygon at an end of the edge."""
    a, b = s.shape_body[k], s.shape_body[other]
    f, g, m = s.shape_first[k], s.shape_first[other], s.shape_size[other]
    x, y, co, si = relative_frame(s, a, b)
    reach = s.shape_radius[k] + s.shape_radius[other]
    x1, y1, x2, y2 = s.vertex[f, 0], s.vertex[f, 1], s.vertex[f + 1, 0], s.vertex[f + 1, 1]
    mx, my = _middle(s, other)
    front, nx, ny, lx, ly, hx, hy = _facing(s, k, x + co * mx - si * my, y + si * mx + co * my)
    s.contact_points[c] = 0
    edge_separation, side, separation = 1e300, -1, -1e300
    for j in range(m):
        ux, uy = s.vertex[g + j, 0], s.vertex[g + j, 1]
        vx, vy = x + co * ux - si * uy, y + si * ux + co * uy
        edge_separation = min(edge_separation, nx * (vx - x1) + ny * (vy - y1))
        ux, uy = s.normal[g + j, 0], s.normal[g + j, 1]
        wx, wy = si * uy - co * ux, -(si * ux + co * uy)  # the side's normal, from the polygon's inside
        far = min(wx * (vx - x1) + wy * (vy - y1), wx * (vx - x2) + wy * (vy - y2))
        if far > reach:
            return
        bound_x, bound_y = (hx, hy) if nx * wy - ny * wx >= 0.0 else (lx, ly)
        if (wx - bound_x) * nx + (wy - bound_y) * ny >= -ANGULAR_SLOP and far > separation:
            side, separation = j, far
    if edge_separation > reach:
        return
    if side < 0 or separation <= 0.98 * edge_separation + 0.001:
        _touch_edge(s, c, k, other, front, nx, ny, reach)
    else:
        following = side + 1 if side + 1 < m else 0
        u1, v1 = s.vertex[g + side, 0], s.vertex[g + side, 1]
        u2, v2 = s.vertex[g + following, 0], s.vertex[g + following, 1]
        ux, uy = s.normal[g + side, 0], s.normal[g + side, 1]
        set_face(s, c, FACE_B, u1, v1, ux, uy)
        p1x, p1y = x + co * u1 - si * v1, y + si * u1 + co * v1
        add_clipped(
            s,
            c,
            (p1x, p1y, co * ux - si * uy, si * ux + co * uy),
            (p1x, p1y, x + co * u2 - si * v2, y + si * u2 + co * v2),
            (x1, y1, x2, y2),
            (0.0, 0.0, 1.0, 0.0),
            reach,
            (side + 16, following + 16, 0, 1),
        )


@kernel
def _touch_edge(s, c, k, other, front, nx, ny, reach):
    """The polygon lies on the edge."""
    f, g, m = s.shape_first[k], s.shape_first[other], s.shape_size[other]
    x, y, co, si = relative_frame(s, s.shape_body[k], s.shape_body[other])
    px, py = co * nx + si * ny, co * ny - si * nx
    end, least = 0, 1e300
    for j in range(m):
        along = px * s.normal[g + j, 0] + py * s.normal[g + j, 1]
        if along < least:
            end, least = j, along
    end2 = end + 1 if end + 1 < m else 0
    u1, v1, u2, v2 = s.vertex[g + end, 0], s.vertex[g + end, 1], s.vertex[g + end2, 0], s.vertex[g + end2, 1]
    incident = x + co * u1 - si * v1, y + si * u1 + co * v1, x + co * u2 - si * v2, y + si * u2 + co * v2
    first, second = (f, f + 1) if front else (f + 1, f)
    bx1, by1, bx2, by2 = s.vertex[first, 0], s.vertex[first, 1], s.vertex[second, 0], s.vertex[second, 1]
    set_face(s, c, FACE_A, bx1, by1, nx, ny)
    ends = (0, 1, end, end2) if front else (1, 0, end, end2)
    add_clipped(s, c, (bx1, by1, nx, ny), (bx1, by1, bx2, by2), incident, (x, y, co, si), reach, ends)
