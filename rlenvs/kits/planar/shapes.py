"""Shapes of bodies: polygons, circles, edges; materials and filters; the boxes around them."""

from __future__ import annotations

import math

from rlenvs.core import kernel, maths
from rlenvs.kits.planar.bodies import add_mass

EDGE, POLYGON, CIRCLE = 1, 2, 3  # of two shapes in contact the first has the lower number
SLOP = 0.005  # m, how far shapes may overlap in a contact
SKIN = 2.0 * SLOP  # m, around polygons and edges
ANGULAR_SLOP = 2.0 / 180.0 * math.pi  # rad, how far joints may be off
MARGIN = 0.1  # m, around the boxes of shapes
BEFORE, AFTER = 1, 2  # neighbours of an edge
ALL = 0xFFFF


@kernel
def new_shape(s, b, kind, size, places, radius):
    """A shape with `size` vertices that takes so many places among them."""
    k = s.shape_count
    s.shape_count = k + 1
    s.shape_kind[k] = kind
    s.shape_body[k] = b
    s.shape_first[k] = s.vertex_count
    s.shape_size[k] = size
    s.vertex_count += places
    s.shape_radius[k] = radius
    s.shape_friction[k] = 0.2
    s.shape_category[k] = 1
    s.shape_mask[k] = ALL
    return k


@kernel
def add_circle(s, b, radius, x, y, density):
    """A circle [m] about a point of the body's frame. Returns the number of the shape."""
    k = new_shape(s, b, CIRCLE, 1, 1, radius)
    set_vertex(s, k, 0, x, y)
    mass = density * math.pi * radius * radius
    add_mass(s, b, mass, x, y, mass * (0.5 * radius * radius + x * x + y * y))
    return k


@kernel
def add_edge(s, b, x1, y1, x2, y2):
    """A segment, which both sides collide with, without mass. Returns the number of the shape."""
    k = new_shape(s, b, EDGE, 2, 4, SKIN)
    set_vertex(s, k, 0, x1, y1)
    set_vertex(s, k, 1, x2, y2)
    return k


@kernel
def link_edges(s, first, last):
    """Make a chain of edges that follow each other, so that nothing catches at its inner corners; the free side is the
    right one on the way."""
    for k in range(first, last + 1):
        f = s.shape_first[k]
        if k > first:
            s.shape_neighbours[k] |= BEFORE
            g = s.shape_first[k - 1]
            s.vertex[f + 2, 0], s.vertex[f + 2, 1] = s.vertex[g, 0], s.vertex[g, 1]
        if k < last:
            s.shape_neighbours[k] |= AFTER
            g = s.shape_first[k + 1] + 1
            s.vertex[f + 3, 0], s.vertex[f + 3, 1] = s.vertex[g, 0], s.vertex[g, 1]


@kernel
def start_polygon(s, b, size):
    """A convex polygon: then its vertices, counter-clockwise, by `set_vertex`, then `finish_polygon`."""
    return new_shape(s, b, POLYGON, size, size, SKIN)


@kernel
def set_vertex(s, k, j, x, y):
    """Vertex j of a shape, in the frame of its body [m]."""
    f = s.shape_first[k] + j
    s.vertex[f, 0], s.vertex[f, 1] = x, y


@kernel
def finish_polygon(s, k, density):
    """Its normals and what it adds to the mass of its body (density in kg/m^2)."""
    f, n = s.shape_first[k], s.shape_size[k]
    area, cx, cy, inertia = 0.0, 0.0, 0.0, 0.0
    x0, y0 = s.vertex[f, 0], s.vertex[f, 1]
    for j in range(n):
        x1, y1 = s.vertex[f + j, 0], s.vertex[f + j, 1]
        following = f + (j + 1 if j + 1 < n else 0)
        x2, y2 = s.vertex[following, 0], s.vertex[following, 1]
        dx, dy = x2 - x1, y2 - y1
        length = math.sqrt(dx * dx + dy * dy)
        s.normal[f + j, 0], s.normal[f + j, 1] = dy / length, -dx / length
        ax, ay, bx, by = x1 - x0, y1 - y0, x2 - x0, y2 - y0
        twice = ax * by - ay * bx
        area += 0.5 * twice
        cx += twice / 6.0 * (ax + bx)
        cy += twice / 6.0 * (ay + by)
        inertia += twice / 12.0 * (ax * ax + ax * bx + bx * bx + ay * ay + ay * by + by * by)
    cx, cy = cx / area, cy / area
    mass = density * area
    central = density * inertia - mass * (cx * cx + cy * cy)
    cx, cy = cx + x0, cy + y0
    add_mass(s, s.shape_body[k], mass, cx, cy, central + mass * (cx * cx + cy * cy))


@kernel
def add_box(s, b, half_width, half_height, density):
    """A rectangle about the body's origin, half of its sides in m. Returns the number of the shape."""
    return add_box_at(s, b, half_width, half_height, 0.0, 0.0, 0.0, density)


@kernel
def add_box_at(s, b, half_width, half_height, x, y, angle, density):
    """A rectangle about a point of the body's frame, turned by an angle."""
    k = start_polygon(s, b, 4)
    sn, c = maths.sin_cos(angle)
    for j in range(4):
        dx = half_width if j == 1 or j == 2 else -half_width
        dy = half_height if j >= 2 else -half_height
        set_vertex(s, k, j, x + c * dx - sn * dy, y + sn * dx + c * dy)
    finish_polygon(s, k, density)
    return k


@kernel
def add_quad(s, b, x1, y1, x2, y2, x3, y3, x4, y4, density):
    """A convex polygon of four vertices, counter-clockwise."""
    k = start_polygon(s, b, 4)
    set_vertex(s, k, 0, x1, y1)
    set_vertex(s, k, 1, x2, y2)
    set_vertex(s, k, 2, x3, y3)
    set_vertex(s, k, 3, x4, y4)
    finish_polygon(s, k, density)
    return k


@kernel
def set_material(s, k, friction, restitution):
    """Friction of two shapes is the root of the product, restitution the larger of both."""
    s.shape_friction[k] = friction
    s.shape_restitution[k] = restitution


@kernel
def set_filter(s, k, category, mask):
    """Bits: the categories it is of, and those it collides with. Two shapes collide where both want it."""
    s.shape_category[k] = category
    s.shape_mask[k] = mask


@kernel
def set_sensor(s, k):
    """The shape has events, and stops nothing."""
    s.shape_sensor[k] = 1


@kernel
def box_of(s, k, x, y, c, sn):
    """The box around a shape whose body has this frame: left, bottom, right, top."""
    f = s.shape_first[k]
    left, bottom, right, top = 1e300, 1e300, -1e300, -1e300
    for j in range(f, f + s.shape_size[k]):
        vx, vy = s.vertex[j, 0], s.vertex[j, 1]
        wx, wy = x + c * vx - sn * vy, y + sn * vx + c * vy
        left, right = min(left, wx), max(right, wx)
        bottom, top = min(bottom, wy), max(top, wy)
    around = s.shape_radius[k]
    return left - around, bottom - around, right + around, top + around


@kernel
def set_box(s, k):
    """The box around a shape from the beginning of the step to now, with the margin."""
    b = s.shape_body[k]
    left, bottom, right, top = box_of(s, k, s.frame[b, 0], s.frame[b, 1], s.frame[b, 2], s.frame[b, 3])
    if s.body_kind[b] != 0:
        sn, c = maths.sin_cos(s.swept[b, 2])
        lx, ly = s.local_centre[b, 0], s.local_centre[b, 1]
        x, y = s.swept[b, 0] - (c * lx - sn * ly), s.swept[b, 1] - (sn * lx + c * ly)
        left0, bottom0, right0, top0 = box_of(s, k, x, y, c, sn)
        left, bottom, right, top = min(left, left0), min(bottom, bottom0), max(right, right0), max(top, top0)
    s.shape_box[k, 0], s.shape_box[k, 1] = left - MARGIN, bottom - MARGIN
    s.shape_box[k, 2], s.shape_box[k, 3] = right + MARGIN, top + MARGIN


@kernel
def boxes_overlap(s, k, other):
    """Whether the boxes of two shapes do."""
    return (
        s.shape_box[k, 0] <= s.shape_box[other, 2]
        and s.shape_box[other, 0] <= s.shape_box[k, 2]
        and s.shape_box[k, 1] <= s.shape_box[other, 3]
        and s.shape_box[other, 1] <= s.shape_box[k, 3]
    )


@kernel
def boxes_nearer(s, k, other, less):
    """Whether the boxes of two shapes would overlap if they were this much nearer to each other than they need be."""
    return (
        s.shape_box[k, 0] + less <= s.shape_box[other, 2]
        and s.shape_box[other, 0] + less <= s.shape_box[k, 2]
        and s.shape_box[k, 1] + less <= s.shape_box[other, 3]
        and s.shape_box[other, 1] + less <= s.shape_box[k, 3]
    )
