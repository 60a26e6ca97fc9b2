"""The fields of a planar world, and its bodies."""

from __future__ import annotations

from rlenvs.core import f8, i1, i4, i8, kernel, maths
from rlenvs.core.declare.layout import Kind

STATIC, KINEMATIC, DYNAMIC = range(3)  # stands still; moves as told; moves by forces


def fields(
    bodies: int | str,
    shapes: int | str,
    vertices: int | str,
    joints: int | str,
    contacts: int | str,
    events: int | str = 32,
    strips: int | str = 64,
) -> dict[str, Kind]:
    """The fields of the state, for `world(state={**fields(...), ...})`.

    Numbers are compiled in; names of sizes let one compiled kernel serve several sizes, a little slower.

    Args:
        bodies, shapes, joints: how many there may be.
        vertices: of all shapes together: 1 of a circle, 4 of an edge, as many as there are of a polygon.
        contacts: pairs of shapes that are near each other (their boxes overlap) at most.
        events: touches that begin or end in one step at most; further ones are left out.
        strips: of x, in which shapes of static bodies are looked for: about one for two of them.
    """
    return {
        **_body_fields(bodies),
        **_shape_fields(bodies, shapes, vertices),
        **_joint_fields(bodies, joints),
        **_contact_fields(bodies, shapes, contacts),
        "event_count": i8.up_to(events),
        "events": i4(events, 3),
        "position_solved": i8,
        **_search_fields(shapes, strips),
        # of a distance between two shapes
        "simplex": f8(3, 3),
        "simplex_index": i8(3, 2),
    }


def _body_fields(bodies: int | str) -> dict[str, Kind]:
    return {
        "body_count": i8.up_to(bodies),
        "body_kind": i1(bodies).within(0, 2),
        "centre": f8(bodies, 2),  # m, of mass
        "angle": f8(bodies),  # rad
        "velocity": f8(bodies, 2),  # m/s, of the centre of mass
        "spin": f8(bodies),  # rad/s
        "force": f8(bodies, 2),  # N, until the end of the next step
        "torque": f8(bodies),  # N m
        "mass": f8(bodies),  # kg
        "inertia": f8(bodies),  # kg m^2, about the origin
        "inverse_mass": f8(bodies),
        "inverse_inertia": f8(bodies),  # about the centre of mass
        "local_centre": f8(bodies, 2),  # m, of mass, in the body's frame
        "damping": f8(bodies, 2),  # 1/s, of velocity and spin
        "weight_scale": f8(bodies),  # share of gravity that acts
        "still": f8(bodies),  # s since it moved noticeably
        "frame": f8(bodies, 4),  # x, y of the origin, cosine, sine
        "placed": i8,  # whether one has been put elsewhere by hand since its shapes were boxed in
        "swept": f8(bodies, 4),  # centre and angle at the beginning of the step; share of the step that is done
    }


def _shape_fields(bodies: int | str, shapes: int | str, vertices: int | str) -> dict[str, Kind]:
    return {
        "shape_count": i8.up_to(shapes),
        "vertex_count": i8.up_to(vertices),
        "shape_kind": i1(shapes),
        "shape_body": i4(shapes).index_of(bodies),
        "shape_first": i4(shapes).up_to(vertices),  # its first vertex
        "shape_size": i4(shapes).up_to(vertices),  # how many vertices
        "shape_neighbours": i1(shapes),  # of an edge: 1 before it, 2 after it
        "shape_sensor": i1(shapes),
        "shape_category": i4(shapes),
        "shape_mask": i4(shapes),
        "shape_radius": f8(shapes),
        "shape_friction": f8(shapes),
        "shape_restitution": f8(shapes),
        "shape_box": f8(shapes, 4),  # m, around all of the step, with a margin: left, bottom, right, top
        "vertex": f8(vertices, 2),  # m, in the frame of the body
        "normal": f8(vertices, 2),  # of the side from this vertex to the next
    }


def _joint_fields(bodies: int | str, joints: int | str) -> dict[str, Kind]:
    return {
        "joint_count": i8.up_to(joints),
        "joint_kind": i1(joints),
        "joint_body": i4(joints, 2).index_of(bodies),
        "joint_anchor": f8(joints, 4),  # m, in the frames of the two bodies
        "joint_axis": f8(joints, 2),  # of a prismatic joint, in the frame of the first
        "joint_reference": f8(joints),  # rad, difference of the angles that counts as 0
        "joint_limited": i1(joints),
        "joint_range": f8(joints, 2),  # rad or m
        "motor_on": i1(joints),
        "motor_speed": f8(joints),  # rad/s or m/s
        "motor_limit": f8(joints),  # N m or N, largest
        "joint_collides": i1(joints),  # whether its two bodies collide with each other
        "joint_impulse": f8(joints, 3),
        "motor_impulse": f8(joints),
        "joint_state": i1(joints),
        "joint_rows": f8(joints, 3, 4),
        "joint_gain": f8(joints, 14),
    }


def _contact_fields(bodies: int | str, shapes: int | str, contacts: int | str) -> dict[str, Kind]:
    return {
        "contact_count": i8.up_to(contacts),
        # slots in use, the oldest first; behind them those that are free
        "contact_order": i4(contacts).index_of(contacts),
        # the first contact of a shape, and the one after a contact; -1: none
        "contact_head": i4(shapes).index_of(contacts, low=-1),
        "contact_next": i4(contacts).index_of(contacts, low=-1),
        "contact_shapes": i4(contacts, 2).index_of(shapes),
        "contact_bodies": i4(contacts, 2).index_of(bodies),
        "contact_solved": i4(contacts),  # slots of those that stop their bodies in this step, in the order of solving
        "contact_touching": i1(contacts),
        "contact_manifold": i1(contacts),
        "contact_points": i1(contacts).within(0, 2),
        "contact_rows": i1(contacts).within(0, 2),
        "contact_feature": i4(contacts, 2),
        "contact_tries": i1(contacts),
        "contact_enabled": i1(contacts),
        "contact_friction": f8(contacts),
        "contact_restitution": f8(contacts),
        "contact_face": f8(contacts, 4),  # a point and the normal, in the frame of one body
        "contact_point": f8(contacts, 2, 2),  # in the frame of the other
        "contact_impulse": f8(contacts, 2, 2),  # normal and tangential, N s
        "contact_kept": f8(contacts, 2, 2),  # the same, during an impact
        "contact_normal": f8(contacts, 2),
        "contact_arm": f8(contacts, 2, 4),  # m, from both centres of mass
        # inverse masses, normal and tangential; the velocity that restitution asks for; masses
        "contact_gain": f8(contacts, 2, 5),
        "contact_block": f8(contacts, 6),
        "contact_time": f8(contacts),  # share of the step after which they meet; -1 where it is not known
        "contacts_left_out": i8,
    }


def _search_fields(shapes: int | str, strips: int | str) -> dict[str, Kind]:
    """Where shapes are looked for."""
    return {
        "strip_start": i4(strips).up_to(shapes),
        "strip_left": f8,
        "strip_width": f8,
        "strip_reach": f8,  # m, of the widest static shape
        "static_count": i8.up_to(shapes),
        "static_shapes": i4(shapes).index_of(shapes),
        "moving_count": i8.up_to(shapes),
        "moving_shapes": i4(shapes).index_of(shapes),  # by the left ends of their boxes
    }


@kernel
def add_body(s, kind, x, y, angle):
    """A body with its origin at (x, y) [m], turned by an angle [rad]. Returns its number; shapes give it its mass."""
    b = s.body_count
    s.body_count = b + 1
    s.body_kind[b] = kind
    s.centre[b, 0], s.centre[b, 1], s.angle[b] = x, y, angle
    s.weight_scale[b] = 1.0
    set_frame(s, b)
    return b


@kernel
def set_frame(s, b):
    """The frame that follows from centre and angle."""
    sn, c = maths.sin_cos(s.angle[b])
    lx, ly = s.local_centre[b, 0], s.local_centre[b, 1]
    s.frame[b, 0] = s.centre[b, 0] - (c * lx - sn * ly)
    s.frame[b, 1] = s.centre[b, 1] - (sn * lx + c * ly)
    s.frame[b, 2] = c
    s.frame[b, 3] = sn


@kernel
def place(s, b, x, y, angle):
    """Put a body's origin at (x, y), turned by an angle."""
    s.placed = 1
    s.angle[b] = angle
    sn, c = maths.sin_cos(angle)
    lx, ly = s.local_centre[b, 0], s.local_centre[b, 1]
    s.centre[b, 0] = x + c * lx - sn * ly
    s.centre[b, 1] = y + sn * lx + c * ly
    set_frame(s, b)


@kernel
def add_mass(s, b, mass, x, y, inertia):
    """What a shape adds to its body: mass [kg], its centre in the body's frame, inertia about the body's origin."""
    if s.body_kind[b] != DYNAMIC or mass <= 0.0:
        return
    total = s.mass[b] + mass
    ox, oy = s.frame[b, 0], s.frame[b, 1]
    s.local_centre[b, 0] = (s.mass[b] * s.local_centre[b, 0] + mass * x) / total
    s.local_centre[b, 1] = (s.mass[b] * s.local_centre[b, 1] + mass * y) / total
    s.mass[b] = total
    s.inertia[b] += inertia
    lx, ly = s.local_centre[b, 0], s.local_centre[b, 1]
    s.inverse_mass[b] = 1.0 / total
    s.inverse_inertia[b] = 1.0 / (s.inertia[b] - total * (lx * lx + ly * ly))
    place(s, b, ox, oy, s.angle[b])


@kernel
def fix_rotation(s, b):
    """The body turns no more; call it when it has all its shapes."""
    s.inverse_inertia[b] = 0.0
    s.spin[b] = 0.0


@kernel
def origin(s, b):
    """Where a body's origin is, (x, y)."""
    return s.frame[b, 0], s.frame[b, 1]


@kernel
def world_point(s, b, x, y):
    """A point of the body's frame, in the world."""
    c, sn = s.frame[b, 2], s.frame[b, 3]
    return s.frame[b, 0] + c * x - sn * y, s.frame[b, 1] + sn * x + c * y


@kernel
def local_velocity(s, b, x, y):
    """Velocity of the body's matter at a point of the world."""
    return (
        s.velocity[b, 0] - s.spin[b] * (y - s.centre[b, 1]),
        s.velocity[b, 1] + s.spin[b] * (x - s.centre[b, 0]),
    )


@kernel
def push(s, b, fx, fy):
    """A force [N] on the centre of mass during the next step."""
    s.force[b, 0] += fx
    s.force[b, 1] += fy


@kernel
def push_at(s, b, fx, fy, x, y):
    """A force [N] at a point of the world during the next step."""
    s.force[b, 0] += fx
    s.force[b, 1] += fy
    s.torque[b] += (x - s.centre[b, 0]) * fy - (y - s.centre[b, 1]) * fx


@kernel
def kick(s, b, jx, jy, x, y):
    """An impulse [N s] at a point of the world, now."""
    s.velocity[b, 0] += s.inverse_mass[b] * jx
    s.velocity[b, 1] += s.inverse_mass[b] * jy
    s.spin[b] += s.inverse_inertia[b] * ((x - s.centre[b, 0]) * jy - (y - s.centre[b, 1]) * jx)
