"""Where two shapes touch: a manifold of one or two points, with features by which they are known again.

A manifold is a face (a point and a normal) in the frame of one body and points in the frame of the other, so that
separations can be measured again while bodies move; of two round things it is two points.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.kits.planar.shapes import SLOP

CIRCLES, FACE_A, FACE_B = range(3)
TOLERANCE = 0.1 * SLOP  # m, by which the second polygon's face has to be better than the first's
TINY = 1.2e-7


@kernel
def relative_frame(s, a, b):
    """What takes points of body b's frame into that of a: x, y, cosine, sine."""
    ca, sa, cb, sb = s.frame[a, 2], s.frame[a, 3], s.frame[b, 2], s.frame[b, 3]
    dx, dy = s.frame[b, 0] - s.frame[a, 0], s.frame[b, 1] - s.frame[a, 1]
    return ca * dx + sa * dy, ca * dy - sa * dx, ca * cb + sa * sb, ca * sb - sa * cb


@kernel
def set_face(s, c, kind, x, y, nx, ny):
    """Begin a manifold: its face (or first point), no points yet."""
    s.contact_manifold[c] = kind
    s.contact_face[c, 0], s.contact_face[c, 1], s.contact_face[c, 2], s.contact_face[c, 3] = x, y, nx, ny
    s.contact_points[c] = 0


@kernel
def add_point(s, c, x, y, feature):
    """A point of the manifold, in the frame of the other body."""
    j = s.contact_points[c]
    s.contact_points[c] = j + 1
    s.contact_point[c, j, 0], s.contact_point[c, j, 1] = x, y
    s.contact_feature[c, j] = feature


@kernel
def clip(x1, y1, feature1, x2, y2, feature2, nx, ny, offset, feature):
    """A segment on the inner side of a plane: whether there is any, and its two ends."""
    d1, d2 = nx * x1 + ny * y1 - offset, nx * x2 + ny * y2 - offset
    if d1 > 0.0 and d2 > 0.0:
        return False, x1, y1, feature1, x2, y2, feature2
    if d1 * d2 < 0.0:
        t = d1 / (d1 - d2)
        x, y = x1 + t * (x2 - x1), y1 + t * (y2 - y1)
        if d1 > 0.0:
            return True, x2, y2, feature2, x, y, feature  # what is cut comes last
        return True, x1, y1, feature1, x, y, feature
    return (d1 <= 0.0 and d2 <= 0.0), x1, y1, feature1, x2, y2, feature2


@kernel
def add_clipped(s, c, face, bounds, incident, frame, reach, features):
    """The points of an incident side that lie below a face, between its ends.

    All in one frame: `face` is a point and the normal, `bounds` the ends of the face, `incident` the ends of the other
    side; `frame` takes the points into the frame in which they are kept; `features` are numbers of the ends of both.
    """
    fx, fy, nx, ny = face
    bx1, by1, bx2, by2 = bounds
    x1, y1, x2, y2 = incident
    tx, ty, co, si = frame
    face1, face2, end1, end2 = features
    tangent_x, tangent_y = -ny, nx  # from the first end of the face to the second
    f1, f2 = (face1 * 32 + end1) * 2, (face1 * 32 + end2) * 2
    cut1, cut2 = (face1 * 32 + end1) * 2 + 1, (face2 * 32 + end1) * 2 + 1
    low, high = tangent_x * bx1 + tangent_y * by1, tangent_x * bx2 + tangent_y * by2
    some, x1, y1, f1, x2, y2, f2 = clip(x1, y1, f1, x2, y2, f2, -tangent_x, -tangent_y, -low, cut1)
    if not some:
        return
    some, x1, y1, f1, x2, y2, f2 = clip(x1, y1, f1, x2, y2, f2, tangent_x, tangent_y, high, cut2)
    if not some:
        return
    for j in range(2):
        x, y, feature = (x1, y1, f1) if j == 0 else (x2, y2, f2)
        if nx * (x - fx) + ny * (y - fy) <= reach:
            dx, dy = x - tx, y - ty
            add_point(s, c, co * dx + si * dy, co * dy - si * dx, feature)


@kernel
def best_face(s, k, other, x, y, co, si):
    """The side of polygon k that lies farthest from the other: (side, separation). The frame takes points of polygon
    k's body into the other's."""
    f, n, g, m = s.shape_first[k], s.shape_size[k], s.shape_first[other], s.shape_size[other]
    best, separation = 0, -1e300
    for j in range(n):
        vx, vy, ux, uy = s.vertex[f + j, 0], s.vertex[f + j, 1], s.normal[f + j, 0], s.normal[f + j, 1]
        nx, ny = co * ux - si * uy, si * ux + co * uy
        offset = nx * (x + co * vx - si * vy) + ny * (y + si * vx + co * vy)
        nearest = 1e300
        for i in range(g, g + m):
            nearest = min(nearest, nx * s.vertex[i, 0] + ny * s.vertex[i, 1] - offset)
        if nearest > separation:
            best, separation = j, nearest
    return best, separation


@kernel
def collide_polygons(s, c, k, other):
    """The manifold of two polygons: the side of either that lies farthest from the other is its face."""
    a, b = s.shape_body[k], s.shape_body[other]
    reach = s.shape_radius[k] + s.shape_radius[other]
    x, y, co, si = relative_frame(s, b, a)  # from k to other
    side, separation = best_face(s, k, other, x, y, co, si)
    s.contact_points[c] = 0
    if separation > reach:
        return
    x, y, co, si = relative_frame(s, a, b)  # from other to k
    side2, separation2 = best_face(s, other, k, x, y, co, si)
    if separation2 > reach:
        return
    flip = separation2 > separation + TOLERANCE
    if flip:
        k, other, side, a, b = other, k, side2, b, a
        x, y, co, si = relative_frame(s, a, b)
    f, n, g, m = s.shape_first[k], s.shape_size[k], s.shape_first[other], s.shape_size[other]
    following = side + 1 if side + 1 < n else 0
    nx, ny = s.normal[f + side, 0], s.normal[f + side, 1]
    # the other's side that faces it most
    lx, ly = co * nx + si * ny, co * ny - si * nx
    end, least = 0, 1e300
    for j in range(m):
        along = lx * s.normal[g + j, 0] + ly * s.normal[g + j, 1]
        if along < least:
            end, least = j, along
    end2 = end + 1 if end + 1 < m else 0
    u1, v1, u2, v2 = s.vertex[g + end, 0], s.vertex[g + end, 1], s.vertex[g + end2, 0], s.vertex[g + end2, 1]
    bx1, by1 = s.vertex[f + side, 0], s.vertex[f + side, 1]
    bx2, by2 = s.vertex[f + following, 0], s.vertex[f + following, 1]
    set_face(s, c, FACE_B if flip else FACE_A, 0.5 * (bx1 + bx2), 0.5 * (by1 + by2), nx, ny)
    add_clipped(
        s,
        c,
        (bx1, by1, nx, ny),
        (bx1, by1, bx2, by2),
        (x + co * u1 - si * v1, y + si * u1 + co * v1, x + co * u2 - si * v2, y + si * u2 + co * v2),
        (x, y, co, si),
        reach,
        (side + 16 * flip, following + 16 * flip, end, end2),
    )


@kernel
def collide_circles(s, c, k, other):
    """The manifold of two circles: two centres."""
    a, b = s.shape_body[k], s.shape_body[other]
    f, g = s.shape_first[k], s.shape_first[other]
    x, y, co, si = relative_frame(s, a, b)
    ux, uy, vx, vy = s.vertex[f, 0], s.vertex[f, 1], s.vertex[g, 0], s.vertex[g, 1]
    dx, dy = x + co * vx - si * vy - ux, y + si * vx + co * vy - uy
    reach = s.shape_radius[k] + s.shape_radius[other]
    s.contact_points[c] = 0
    if dx * dx + dy * dy > reach * reach:
        return
    set_face(s, c, CIRCLES, ux, uy, 0.0, 0.0)
    add_point(s, c, vx, vy, 0)


@kernel
def collide_polygon_circle(s, c, k, other):
    """The manifold of a polygon and a circle: one point, at a side or at a corner."""
    a, b = s.shape_body[k], s.shape_body[other]
    f, n, g = s.shape_first[k], s.shape_size[k], s.shape_first[other]
    x, y, co, si = relative_frame(s, a, b)
    px, py = s.vertex[g, 0], s.vertex[g, 1]
    cx, cy = x + co * px - si * py, y + si * px + co * py
    reach = s.shape_radius[k] + s.shape_radius[other]
    s.contact_points[c] = 0
    side, separation = 0, -1e300
    for j in range(f, f + n):
        far = s.normal[j, 0] * (cx - s.vertex[j, 0]) + s.normal[j, 1] * (cy - s.vertex[j, 1])
        if far > reach:
            return
        if far > separation:
            side, separation = j - f, far
    following = side + 1 if side + 1 < n else 0
    x1, y1, x2, y2 = (
        s.vertex[f + side, 0],
        s.vertex[f + side, 1],
        s.vertex[f + following, 0],
        s.vertex[f + following, 1],
    )
    nx, ny = s.normal[f + side, 0], s.normal[f + side, 1]
    qx, qy = 0.5 * (x1 + x2), 0.5 * (y1 + y2)
    if separation >= TINY:
        before = (cx - x1) * (x2 - x1) + (cy - y1) * (y2 - y1) <= 0.0
        after = (cx - x2) * (x1 - x2) + (cy - y2) * (y1 - y2) <= 0.0
        if before or after:
            qx, qy = (x1, y1) if before else (x2, y2)
            dx, dy = cx - qx, cy - qy
            far = math.sqrt(dx * dx + dy * dy)
            if far > reach:
                return
            nx, ny = dx / far, dy / far
    set_face(s, c, FACE_A, qx, qy, nx, ny)
    add_point(s, c, px, py, 0)
