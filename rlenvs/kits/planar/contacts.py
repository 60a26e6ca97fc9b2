"""Contacts: pairs of shapes that are near each other, what begins and ends between them, and impulses where they touch.

Impulses are accumulated and clamped (never pulling, friction within its cone), and begin with those of the step before
at features that are the same; the two points of a manifold are solved together. Restitution acts above 1 m/s.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.kits.planar.bodies import KINEMATIC, set_frame
from rlenvs.kits.planar.collide import CIRCLES, FACE_A, collide_circles, collide_polygon_circle, collide_polygons
from rlenvs.kits.planar.distance import gap
from rlenvs.kits.planar.edges import collide_edge_circle, collide_edge_polygon
from rlenvs.kits.planar.joints import LARGEST_CORRECTION
from rlenvs.kits.planar.shapes import CIRCLE, EDGE, POLYGON, SLOP

BOUNCE_SPEED = 1.0  # m/s, of approach, above which restitution acts
CORRECTED, CORRECTED_AT_IMPACT = 0.2, 0.75  # share of an overlap that an iteration takes away
WORST_CONDITION = 1000.0  # of two points that are solved together
TOUCHING = 1.2e-6  # m, between a sensor and what it senses


@kernel
def may_collide(s, k, other):
    """Filters; and whether a body may move, is another one, and is not jointed to this one."""
    a, b = s.shape_body[k], s.shape_body[other]
    if a == b or (s.body_kind[a] != 2 and s.body_kind[b] != 2):
        return False
    if s.shape_category[k] & s.shape_mask[other] == 0 or s.shape_category[other] & s.shape_mask[k] == 0:
        return False
    if s.shape_kind[k] == EDGE and s.shape_kind[other] == EDGE:
        return False
    for j in range(s.joint_count):
        c, d = s.joint_body[j, 0], s.joint_body[j, 1]
        if ((a == c and b == d) or (a == d and b == c)) and not s.joint_collides[j]:
            return False
    return True


@kernel
def _holder(s, k, other):
    """The shape in whose list a contact is kept: one that moves."""
    if s.body_kind[s.shape_body[k]] == 0:
        return other
    return k if s.body_kind[s.shape_body[other]] == 0 else max(k, other)


@kernel
def _link(s, c):
    k = _holder(s, s.contact_shapes[c, 0], s.contact_shapes[c, 1])
    s.contact_next[c] = s.contact_head[k]
    s.contact_head[k] = c


@kernel
def link_contacts(s):
    """A list of its contacts for each shape that moves."""
    for i in range(s.moving_count):
        s.contact_head[s.moving_shapes[i]] = -1
    for i in range(s.contact_count):
        _link(s, s.contact_order[i])


@kernel
def has_contact(s, k, other):
    """Whether there is one of these two shapes, touching or not."""
    c = s.contact_head[_holder(s, k, other)]
    while c >= 0:
        first, second = s.contact_shapes[c, 0], s.contact_shapes[c, 1]
        if (first == k and second == other) or (first == other and second == k):
            return True
        c = s.contact_next[c]
    return False


@kernel
def add_contact(s, k, other):
    """A new contact, of which nothing is known yet; the lists have to be linked."""
    if s.contact_count == s.contact_order.size:
        s.contacts_left_out += 1
        return
    c = s.contact_order[s.contact_count]
    s.contact_count += 1
    if s.shape_kind[k] > s.shape_kind[other] or (s.shape_kind[k] == s.shape_kind[other] and k > other):
        k, other = other, k
    s.contact_shapes[c, 0], s.contact_shapes[c, 1] = k, other
    s.contact_bodies[c, 0], s.contact_bodies[c, 1] = s.shape_body[k], s.shape_body[other]
    s.contact_touching[c] = 0
    s.contact_points[c] = 0
    s.contact_enabled[c] = 1
    s.contact_tries[c] = 0
    s.contact_time[c] = -1.0
    s.contact_friction[c] = math.sqrt(s.shape_friction[k] * s.shape_friction[other])
    s.contact_restitution[c] = max(s.shape_restitution[k], s.shape_restitution[other])
    _link(s, c)


@kernel
def remove_contact(s, i):
    """Take the i-th contact out of the order."""
    c = s.contact_order[i]
    s.contact_count -= 1
    for j in range(i, s.contact_count):
        s.contact_order[j] = s.contact_order[j + 1]
    s.contact_order[s.contact_count] = c


@kernel
def is_sensed(s, c):
    """Whether one of the two shapes is a sensor."""
    return s.shape_sensor[s.contact_shapes[c, 0]] or s.shape_sensor[s.contact_shapes[c, 1]]


@kernel
def touching(s, k):
    """How many shapes a shape touches."""
    count = 0
    for i in range(s.contact_count):
        c = s.contact_order[i]
        if s.contact_touching[c] and (s.contact_shapes[c, 0] == k or s.contact_shapes[c, 1] == k):
            count += 1
    return count


@kernel
def tell(s, c, change):
    """An event: 1 for a touch that began, -1 for one that ended."""
    e = s.event_count
    if e < s.events.shape[0]:
        s.events[e, 0], s.events[e, 1], s.events[e, 2] = s.contact_shapes[c, 0], s.contact_shapes[c, 1], change
        s.event_count = e + 1


@kernel
def remove_body(s, b):
    """Take a body out of the world: it stands still where it is, weightless, and nothing meets or sees it any more.
    What touched it is told by events. The bodies that its joints lead to have to go with it."""
    s.body_kind[b] = KINEMATIC
    s.velocity[b, 0], s.velocity[b, 1], s.spin[b] = 0.0, 0.0, 0.0
    s.force[b, 0], s.force[b, 1], s.torque[b] = 0.0, 0.0, 0.0
    s.inverse_mass[b], s.inverse_inertia[b] = 0.0, 0.0
    for k in range(s.shape_count):
        if s.shape_body[k] == b:
            s.shape_category[k], s.shape_mask[k] = 0, 0
    for i in range(s.contact_count - 1, -1, -1):
        c = s.contact_order[i]
        if s.contact_bodies[c, 0] == b or s.contact_bodies[c, 1] == b:
            if s.contact_touching[c]:
                tell(s, c, -1)
            remove_contact(s, i)


@kernel
def _find_manifold(s, c):
    k, other = s.contact_shapes[c, 0], s.contact_shapes[c, 1]
    if s.shape_kind[k] == EDGE:
        if s.shape_kind[other] == POLYGON:
            collide_edge_polygon(s, c, k, other)
        else:
            collide_edge_circle(s, c, k, other)
    elif s.shape_kind[k] == CIRCLE:
        collide_circles(s, c, k, other)
    elif s.shape_kind[other] == POLYGON:
        collide_polygons(s, c, k, other)
    else:
        collide_polygon_circle(s, c, k, other)


@kernel
def update_contact(s, c):
    """The manifold at the bodies' positions, with the impulses of features that stay; events."""
    before = s.contact_touching[c]
    s.contact_enabled[c] = 1
    if is_sensed(s, c):
        s.contact_points[c] = 0
        s.contact_touching[c] = gap(s, s.contact_shapes[c, 0], s.contact_shapes[c, 1]) < TOUCHING
    else:
        count, first, second = s.contact_points[c], s.contact_feature[c, 0], s.contact_feature[c, 1]
        n0, t0 = s.contact_impulse[c, 0, 0], s.contact_impulse[c, 0, 1]
        n1, t1 = s.contact_impulse[c, 1, 0], s.contact_impulse[c, 1, 1]
        _find_manifold(s, c)
        for j in range(s.contact_points[c]):
            normal, tangent = 0.0, 0.0
            if count > 0 and s.contact_feature[c, j] == first:
                normal, tangent = n0, t0
            elif count > 1 and s.contact_feature[c, j] == second:
                normal, tangent = n1, t1
            s.contact_impulse[c, j, 0], s.contact_impulse[c, j, 1] = normal, tangent
        s.contact_touching[c] = s.contact_points[c] > 0
    if s.contact_touching[c] != before:
        tell(s, c, 1 if s.contact_touching[c] else -1)


@kernel
def contact_place(s, c, j):
    """Point j in the world: x, y on the surface that is not the face's, the normal from the first shape to the second,
    and the separation [m]."""
    k, other = s.contact_shapes[c, 0], s.contact_shapes[c, 1]
    a, b = s.shape_body[k], s.shape_body[other]
    ra, rb = s.shape_radius[k], s.shape_radius[other]
    kind = s.contact_manifold[c]
    face, point = (b, a) if kind > FACE_A else (a, b)
    fx, fy, px, py = s.contact_face[c, 0], s.contact_face[c, 1], s.contact_point[c, j, 0], s.contact_point[c, j, 1]
    co, si = s.frame[face, 2], s.frame[face, 3]
    qx, qy = s.frame[face, 0] + co * fx - si * fy, s.frame[face, 1] + si * fx + co * fy
    nx, ny = (
        co * s.contact_face[c, 2] - si * s.contact_face[c, 3],
        si * s.contact_face[c, 2] + co * s.contact_face[c, 3],
    )
    co, si = s.frame[point, 2], s.frame[point, 3]
    x, y = s.frame[point, 0] + co * px - si * py, s.frame[point, 1] + si * px + co * py
    if kind == CIRCLES:
        nx, ny = x - qx, y - qy
        far = math.sqrt(nx * nx + ny * ny)
        nx, ny = (nx / far, ny / far) if far > 1e-9 else (1.0, 0.0)
        return 0.5 * (x + qx), 0.5 * (y + qy), nx, ny, far - ra - rb
    far = nx * (x - qx) + ny * (y - qy)
    if kind > FACE_A:
        return x, y, -nx, -ny, far - ra - rb
    return x, y, nx, ny, far - ra - rb


@kernel
def start_contact(s, c, warm):
    """What stays the same during a step; with `warm` the impulses of the step before, else none."""
    k, other = s.contact_shapes[c, 0], s.contact_shapes[c, 1]
    a, b = s.shape_body[k], s.shape_body[other]
    ra, rb = s.shape_radius[k], s.shape_radius[other]
    ma, mb, ia, ib = s.inverse_mass[a], s.inverse_mass[b], s.inverse_inertia[a], s.inverse_inertia[b]
    kind, count = s.contact_manifold[c], s.contact_points[c]
    g, arm = s.contact_gain, s.contact_arm
    for j in range(count):
        x, y, nx, ny, far = contact_place(s, c, j)
        # in the middle between the two surfaces
        if kind == CIRCLES:
            shift = 0.5 * (ra - rb)
        elif kind == FACE_A:
            shift = 0.5 * (ra - rb - (far + ra + rb))
        else:
            shift = -0.5 * (rb - ra - (far + ra + rb))
        x, y = x + shift * nx, y + shift * ny
        s.contact_normal[c, 0], s.contact_normal[c, 1] = nx, ny
        ax, ay, bx, by = x - s.centre[a, 0], y - s.centre[a, 1], x - s.centre[b, 0], y - s.centre[b, 1]
        arm[c, j, 0], arm[c, j, 1], arm[c, j, 2], arm[c, j, 3] = ax, ay, bx, by
        an, bn, at, bt = ax * ny - ay * nx, bx * ny - by * nx, -ax * nx - ay * ny, -bx * nx - by * ny
        g[c, j, 0] = ma + mb + ia * an * an + ib * bn * bn
        g[c, j, 1] = ma + mb + ia * at * at + ib * bt * bt
        g[c, j, 3], g[c, j, 4] = 1.0 / g[c, j, 0], 1.0 / g[c, j, 1]
        approach = _normal_speed(s, c, j, a, b)
        g[c, j, 2] = -s.contact_restitution[c] * approach if approach < -BOUNCE_SPEED else 0.0
        if not warm:
            s.contact_impulse[c, j, 0], s.contact_impulse[c, j, 1] = 0.0, 0.0
    s.contact_rows[c] = count
    if count == 2:
        nx, ny = s.contact_normal[c, 0], s.contact_normal[c, 1]
        a0, b0 = arm[c, 0, 0] * ny - arm[c, 0, 1] * nx, arm[c, 0, 2] * ny - arm[c, 0, 3] * nx
        a1, b1 = arm[c, 1, 0] * ny - arm[c, 1, 1] * nx, arm[c, 1, 2] * ny - arm[c, 1, 3] * nx
        k11, k22, k12 = g[c, 0, 0], g[c, 1, 0], ma + mb + ia * a0 * a1 + ib * b0 * b1
        determinant = k11 * k22 - k12 * k12
        if k11 * k11 < WORST_CONDITION * determinant:
            block = s.contact_block
            block[c, 0], block[c, 1], block[c, 2] = k22 / determinant, -k12 / determinant, k11 / determinant
            block[c, 3] = k12
        else:
            s.contact_rows[c] = 1  # the two points are as good as one


@kernel
def warm_contact(s, c):
    """Begin with the impulses of the step before."""
    for j in range(s.contact_rows[c]):
        _apply(s, c, j, s.contact_impulse[c, j, 0], s.contact_impulse[c, j, 1])


@kernel
def _apply(s, c, j, normal, tangent):
    """Impulses at a point along the normal and, to its right, the tangent."""
    a, b = s.shape_body[s.contact_shapes[c, 0]], s.shape_body[s.contact_shapes[c, 1]]
    nx, ny = s.contact_normal[c, 0], s.contact_normal[c, 1]
    px, py = normal * nx + tangent * ny, normal * ny - tangent * nx
    arm = s.contact_arm
    s.velocity[a, 0] -= s.inverse_mass[a] * px
    s.velocity[a, 1] -= s.inverse_mass[a] * py
    s.spin[a] -= s.inverse_inertia[a] * (arm[c, j, 0] * py - arm[c, j, 1] * px)
    s.velocity[b, 0] += s.inverse_mass[b] * px
    s.velocity[b, 1] += s.inverse_mass[b] * py
    s.spin[b] += s.inverse_inertia[b] * (arm[c, j, 2] * py - arm[c, j, 3] * px)


@kernel
def _relative_speed(s, c, j, a, b):
    """Of the second body against the first at a point, (x, y)."""
    arm = s.contact_arm
    return (
        s.velocity[b, 0] - s.spin[b] * arm[c, j, 3] - s.velocity[a, 0] + s.spin[a] * arm[c, j, 1],
        s.velocity[b, 1] + s.spin[b] * arm[c, j, 2] - s.velocity[a, 1] - s.spin[a] * arm[c, j, 0],
    )


@kernel
def _normal_speed(s, c, j, a, b):
    vx, vy = _relative_speed(s, c, j, a, b)
    return vx * s.contact_normal[c, 0] + vy * s.contact_normal[c, 1]


@kernel
def solve_contacts(s, count, changed, settled):
    """One iteration of velocities at the contacts chosen for it: friction, then what keeps the shapes apart. Returns
    how much it changed them, if not `changed` before, which need not be all where that is more than `settled`."""
    g, impulse, arm = s.contact_gain, s.contact_impulse, s.contact_arm
    for i in range(count):
        c = s.contact_solved[i]
        a, b = s.contact_bodies[c, 0], s.contact_bodies[c, 1]
        nx, ny = s.contact_normal[c, 0], s.contact_normal[c, 1]
        ma, ia, mb, ib = s.inverse_mass[a], s.inverse_inertia[a], s.inverse_mass[b], s.inverse_inertia[b]
        vax, vay, wa = s.velocity[a, 0], s.velocity[a, 1], s.spin[a]
        vbx, vby, wb = s.velocity[b, 0], s.velocity[b, 1], s.spin[b]
        rows, friction = s.contact_rows[c], s.contact_friction[c]
        for j in range(rows):
            ax, ay, bx, by = arm[c, j, 0], arm[c, j, 1], arm[c, j, 2], arm[c, j, 3]
            slip = (vbx - wb * by - vax + wa * ay) * ny - (vby + wb * bx - vay - wa * ax) * nx
            most = friction * impulse[c, j, 0]
            total = min(max(impulse[c, j, 1] - slip * g[c, j, 4], -most), most)
            step = total - impulse[c, j, 1]
            impulse[c, j, 1] = total
            px, py = step * ny, -step * nx
            vax, vay, wa = vax - ma * px, vay - ma * py, wa - ia * (ax * py - ay * px)
            vbx, vby, wb = vbx + mb * px, vby + mb * py, wb + ib * (bx * py - by * px)
            if changed < settled:
                changed = max(changed, abs(step) * g[c, j, 1])
        ax, ay, bx, by = arm[c, 0, 0], arm[c, 0, 1], arm[c, 0, 2], arm[c, 0, 3]
        away = (vbx - wb * by - vax + wa * ay) * nx + (vby + wb * bx - vay - wa * ax) * ny - g[c, 0, 2]
        if rows == 2:
            ax1, ay1, bx1, by1 = arm[c, 1, 0], arm[c, 1, 1], arm[c, 1, 2], arm[c, 1, 3]
            away1 = (vbx - wb * by1 - vax + wa * ay1) * nx + (vby + wb * bx1 - vay - wa * ax1) * ny - g[c, 1, 2]
            d0, d1 = _solve_two(s, c, away, away1)
            wa -= ia * d1 * (ax1 * ny - ay1 * nx)
            wb += ib * d1 * (bx1 * ny - by1 * nx)
            if changed < settled:
                changed = max(changed, abs(d1) * g[c, 1, 0])
        else:
            d0, d1 = max(impulse[c, 0, 0] - away * g[c, 0, 3], 0.0) - impulse[c, 0, 0], 0.0
            impulse[c, 0, 0] += d0
        px, py = (d0 + d1) * nx, (d0 + d1) * ny
        wa, wb = wa - ia * d0 * (ax * ny - ay * nx), wb + ib * d0 * (bx * ny - by * nx)
        s.velocity[a, 0], s.velocity[a, 1], s.spin[a] = vax - ma * px, vay - ma * py, wa
        s.velocity[b, 0], s.velocity[b, 1], s.spin[b] = vbx + mb * px, vby + mb * py, wb
        if changed < settled:
            changed = max(changed, abs(d0) * g[c, 0, 0])
    return changed


@kernel
def _solve_two(s, c, away0, away1):
    """Both points together: the impulses x >= 0 with speeds K x + q >= 0 of which one of each pair is zero. Returns
    their changes."""
    g, impulse, block = s.contact_gain, s.contact_impulse, s.contact_block
    k11, k22, k12 = g[c, 0, 0], g[c, 1, 0], block[c, 3]
    old0, old1 = impulse[c, 0, 0], impulse[c, 1, 0]
    q0, q1 = away0 - (k11 * old0 + k12 * old1), away1 - (k12 * old0 + k22 * old1)
    x0, x1 = -(block[c, 0] * q0 + block[c, 1] * q1), -(block[c, 1] * q0 + block[c, 2] * q1)
    if not (x0 >= 0.0 and x1 >= 0.0):
        x0, x1 = -q0 * g[c, 0, 3], 0.0
        if not (x0 >= 0.0 and k12 * x0 + q1 >= 0.0):
            x0, x1 = 0.0, -q1 * g[c, 1, 3]
            if not (x1 >= 0.0 and k12 * x1 + q0 >= 0.0):
                x0, x1 = 0.0, 0.0
                if not (q0 >= 0.0 and q1 >= 0.0):
                    return 0.0, 0.0  # no case holds, for rounding
    impulse[c, 0, 0], impulse[c, 1, 0] = x0, x1
    return x0 - old0, x1 - old1


@kernel
def place_contact(s, c, share, only_a, only_b):
    """One iteration of positions. Returns the smallest separation. Where `only_a` is not negative, only these two
    bodies move."""
    a, b = s.shape_body[s.contact_shapes[c, 0]], s.shape_body[s.contact_shapes[c, 1]]
    ma, mb, ia, ib = s.inverse_mass[a], s.inverse_mass[b], s.inverse_inertia[a], s.inverse_inertia[b]
    if only_a >= 0:
        if a != only_a and a != only_b:
            ma, ia = 0.0, 0.0
        if b != only_a and b != only_b:
            mb, ib = 0.0, 0.0
    smallest = 0.0
    for j in range(s.contact_points[c]):
        x, y, nx, ny, far = contact_place(s, c, j)
        smallest = min(smallest, far)
        wanted = min(max(share * (far + SLOP), -LARGEST_CORRECTION), 0.0)
        if wanted == 0.0:
            continue
        ax, ay, bx, by = x - s.centre[a, 0], y - s.centre[a, 1], x - s.centre[b, 0], y - s.centre[b, 1]
        an, bn = ax * ny - ay * nx, bx * ny - by * nx
        mass = ma + mb + ia * an * an + ib * bn * bn
        p = -wanted / mass if mass > 0.0 else 0.0
        if ma > 0.0 or ia > 0.0:
            s.centre[a, 0] -= ma * p * nx
            s.centre[a, 1] -= ma * p * ny
            s.angle[a] -= ia * an * p
            set_frame(s, a)
        if mb > 0.0 or ib > 0.0:
            s.centre[b, 0] += mb * p * nx
            s.centre[b, 1] += mb * p * ny
            s.angle[b] += ib * bn * p
            set_frame(s, b)
    return smallest
