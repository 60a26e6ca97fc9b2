"""One step of a planar world.

1. Contacts are found at the bodies' positions. 2. Forces change velocities. 3. Impulses of the step before, then
iterations over joints and contacts, until velocities fit together. 4. Velocities change positions. 5. Iterations over
contacts and joints take overlaps and gaps out of the positions. 6. Boxes, new pairs. 7. Shapes that would pass through
what does not move are stopped where they meet it, and the rest of the step is theirs alone.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.kits.planar.bodies import set_frame
from rlenvs.kits.planar.broad import find_pairs, sort_shapes
from rlenvs.kits.planar.contacts import (
    CORRECTED,
    CORRECTED_AT_IMPACT,
    is_sensed,
    place_contact,
    remove_contact,
    solve_contacts,
    start_contact,
    tell,
    update_contact,
    warm_contact,
)
from rlenvs.kits.planar.impact import meeting_time, stays_away
from rlenvs.kits.planar.joints import place_joint, solve_joints, start_joint
from rlenvs.kits.planar.shapes import MARGIN, SLOP, boxes_nearer, boxes_overlap

SETTLED = 1e-9  # m/s, rad/s: further iterations change nothing that matters
FARTHEST, FASTEST_TURN = 2.0, 0.5 * math.pi  # m, rad in one step
STILL_SPEED, STILL_SPIN = 0.01, 2.0 / 180.0 * math.pi  # m/s, rad/s
MOST_IMPACTS, IMPACT_ITERATIONS = 8, 20  # of a contact in a step; of positions
NEARLY = 2.0 * MARGIN - 1e-5  # m, of two margins, within which rounding does not matter
AT_ONCE = 1.0 - 1.2e-6  # impacts after this share of a step are left to the next


@kernel
def prepare(s):
    """Once, when all bodies, shapes and joints are there."""
    for b in range(s.body_count):
        _start_sweep(s, b)
    for c in range(s.contact_order.size):
        s.contact_order[c] = c
    s.contact_count = 0
    sort_shapes(s)
    find_pairs(s)


@kernel
def _start_sweep(s, b):
    s.swept[b, 0], s.swept[b, 1], s.swept[b, 2], s.swept[b, 3] = s.centre[b, 0], s.centre[b, 1], s.angle[b], 0.0


@kernel
def solid(s, c):
    """Whether a contact stops its bodies."""
    return s.contact_touching[c] and s.contact_enabled[c] and not is_sensed(s, c)


@kernel
def update_contacts(s):
    """The newest first; those whose shapes have gone apart are removed, and those that are near look where they touch,
    unless the boxes without their margins say that they do not."""
    i = s.contact_count - 1
    while i >= 0:
        c = s.contact_order[i]
        k, other = s.contact_shapes[c, 0], s.contact_shapes[c, 1]
        if boxes_overlap(s, k, other):
            if s.contact_touching[c] or s.placed or boxes_nearer(s, k, other, NEARLY):
                update_contact(s, c)
            else:
                s.contact_points[c], s.contact_enabled[c] = 0, 1
        else:
            if s.contact_touching[c]:
                tell(s, c, -1)
            remove_contact(s, i)
        i -= 1


@kernel
def change_velocities(s, dt, gx, gy):
    """By forces and gravity; then damping."""
    for b in range(s.body_count):
        _start_sweep(s, b)
        if s.body_kind[b] == 2:
            scale = s.weight_scale[b]
            slower = 1.0 / (1.0 + dt * s.damping[b, 0])
            s.velocity[b, 0] = (s.velocity[b, 0] + dt * (scale * gx + s.inverse_mass[b] * s.force[b, 0])) * slower
            s.velocity[b, 1] = (s.velocity[b, 1] + dt * (scale * gy + s.inverse_mass[b] * s.force[b, 1])) * slower
            turned = s.spin[b] + dt * s.inverse_inertia[b] * s.torque[b]
            s.spin[b] = turned / (1.0 + dt * s.damping[b, 1])
        s.force[b, 0], s.force[b, 1], s.torque[b] = 0.0, 0.0, 0.0


@kernel
def move_body(s, b, dt):
    """By its velocity, which is cut where it is too fast."""
    vx, vy, w = s.velocity[b, 0], s.velocity[b, 1], s.spin[b]
    far, turn = dt * math.sqrt(vx * vx + vy * vy), dt * abs(w)
    if far > FARTHEST:
        s.velocity[b, 0], s.velocity[b, 1] = vx * (FARTHEST / far), vy * (FARTHEST / far)
    if turn > FASTEST_TURN:
        s.spin[b] = w * (FASTEST_TURN / turn)
    s.centre[b, 0] += dt * s.velocity[b, 0]
    s.centre[b, 1] += dt * s.velocity[b, 1]
    s.angle[b] += dt * s.spin[b]
    set_frame(s, b)


@kernel
def choose_contacts(s):
    """Those that stop their bodies, the newest first; how many."""
    count = 0
    for i in range(s.contact_count - 1, -1, -1):
        if solid(s, s.contact_order[i]):
            s.contact_solved[count] = s.contact_order[i]
            count += 1
    return count


@kernel
def solve_velocities(s, count, dt, iterations, settled):
    """Impulses at joints and contacts, until no velocity changes by more than `settled`, or as often as is said."""
    for i in range(count):
        start_contact(s, s.contact_solved[i], True)
    for i in range(count):
        warm_contact(s, s.contact_solved[i])
    for j in range(s.joint_count):
        start_joint(s, j)
    for _ in range(iterations):
        changed = solve_joints(s, dt, settled)
        if solve_contacts(s, count, changed, settled) < settled:
            break


@kernel
def solve_positions(s, count, iterations):
    """Whether they are good enough."""
    for _ in range(iterations):
        smallest, good = 0.0, True
        for i in range(count):
            smallest = min(smallest, place_contact(s, s.contact_solved[i], CORRECTED, -1, -1))
        for j in range(s.joint_count):
            good = place_joint(s, j) and good
        if good and smallest >= -3.0 * SLOP:
            return 1
    return 0


@kernel
def advance(s, dt, gx, gy, velocity_iterations, position_iterations, settled):
    """One step of dt seconds under a gravity (gx, gy) [m/s^2]."""
    s.event_count = 0
    update_contacts(s)
    change_velocities(s, dt, gx, gy)
    count = choose_contacts(s)
    solve_velocities(s, count, dt, velocity_iterations, settled)
    for b in range(s.body_count):
        if s.body_kind[b] != 0:
            move_body(s, b, dt)
    s.position_solved = solve_positions(s, count, position_iterations)
    for b in range(s.body_count):
        if s.body_kind[b] == 2:
            v2 = s.velocity[b, 0] * s.velocity[b, 0] + s.velocity[b, 1] * s.velocity[b, 1]
            quick = v2 > STILL_SPEED * STILL_SPEED or abs(s.spin[b]) > STILL_SPIN
            s.still[b] = 0.0 if quick else s.still[b] + dt
    find_pairs(s)
    solve_impacts(s, dt, velocity_iterations, settled)


# --- impacts ----------------------------------------------------------------------------------------------------------


@kernel
def sweep_on(s, b, share):
    """Begin the sweep of a body at a later share of the step."""
    done = s.swept[b, 3]
    t = (share - done) / (1.0 - done)
    s.swept[b, 0] += t * (s.centre[b, 0] - s.swept[b, 0])
    s.swept[b, 1] += t * (s.centre[b, 1] - s.swept[b, 1])
    s.swept[b, 2] += t * (s.angle[b] - s.swept[b, 2])
    s.swept[b, 3] = share


@kernel
def stop_at(s, b, share):
    """Put a body where it was at a share of the step."""
    if share > s.swept[b, 3]:
        sweep_on(s, b, share)
    if s.body_kind[b] == 0:
        return
    s.centre[b, 0], s.centre[b, 1], s.angle[b] = s.swept[b, 0], s.swept[b, 1], s.swept[b, 2]
    set_frame(s, b)


@kernel
def _meeting(s, c):
    """The share of the step at which the shapes of a contact meet; 1 where they do not, or need not be stopped."""
    k, other = s.contact_shapes[c, 0], s.contact_shapes[c, 1]
    a, b = s.shape_body[k], s.shape_body[other]
    done = max(s.swept[a, 3], s.swept[b, 3])
    if s.swept[a, 3] < done:
        sweep_on(s, a, done)
    if s.swept[b, 3] < done:
        sweep_on(s, b, done)
    if stays_away(s, k, other):
        return 1.0
    return min(done + (1.0 - done) * meeting_time(s, k, other), 1.0)


@kernel
def _stoppable(s, c):
    k, other = s.contact_shapes[c, 0], s.contact_shapes[c, 1]
    both = s.body_kind[s.shape_body[k]] == 2 and s.body_kind[s.shape_body[other]] == 2
    return s.contact_enabled[c] and s.contact_tries[c] <= MOST_IMPACTS and not both and not is_sensed(s, c)


@kernel
def next_impact(s):
    """The contact whose shapes meet first, and when; -1 where none is left in this step."""
    first, earliest = -1, 1.0
    for i in range(s.contact_count - 1, -1, -1):
        c = s.contact_order[i]
        if not _stoppable(s, c):
            continue
        if s.contact_time[c] < 0.0:
            s.contact_time[c] = _meeting(s, c)
        if s.contact_time[c] < earliest:
            first, earliest = c, s.contact_time[c]
    return (first, earliest) if earliest < AT_ONCE else (-1, 1.0)


@kernel
def solve_impacts(s, dt, iterations, settled):
    """One after the other, the earliest first."""
    for i in range(s.contact_count):
        c = s.contact_order[i]
        s.contact_time[c], s.contact_tries[c], s.contact_enabled[c] = -1.0, 0, 1
    while True:
        c, share = next_impact(s)
        if c < 0:
            break
        solve_impact(s, c, share, dt, iterations, settled)


@kernel
def _stop(s, c, body, share):
    """Bring the body that moves in contact c, unless it is this one, to a share of the step; whether they touch."""
    a, b = s.shape_body[s.contact_shapes[c, 0]], s.shape_body[s.contact_shapes[c, 1]]
    x0, y0, t0, d0 = s.swept[a, 0], s.swept[a, 1], s.swept[a, 2], s.swept[a, 3]
    x1, y1, t1, d1 = s.swept[b, 0], s.swept[b, 1], s.swept[b, 2], s.swept[b, 3]
    xa, ya, ta, xb, yb, tb = s.centre[a, 0], s.centre[a, 1], s.angle[a], s.centre[b, 0], s.centre[b, 1], s.angle[b]
    if a != body:
        stop_at(s, a, share)
    if b != body:
        stop_at(s, b, share)
    update_contact(s, c)
    if s.contact_touching[c]:
        return True
    s.swept[a, 0], s.swept[a, 1], s.swept[a, 2], s.swept[a, 3] = x0, y0, t0, d0
    s.swept[b, 0], s.swept[b, 1], s.swept[b, 2], s.swept[b, 3] = x1, y1, t1, d1
    s.centre[a, 0], s.centre[a, 1], s.angle[a] = xa, ya, ta
    s.centre[b, 0], s.centre[b, 1], s.angle[b] = xb, yb, tb
    set_frame(s, a)
    set_frame(s, b)
    return False


@kernel
def solve_impact(s, c, share, dt, iterations, settled):
    """Two shapes meet: their bodies stop there, are pushed apart, and have the rest of the step, with all that they
    touch and that does not move by itself; joints come into it in the next step."""
    s.contact_time[c] = -1.0
    s.contact_tries[c] += 1
    if not _stop(s, c, -1, share):
        s.contact_enabled[c] = 0
        return
    a, b = s.shape_body[s.contact_shapes[c, 0]], s.shape_body[s.contact_shapes[c, 1]]
    mover = a if s.body_kind[a] == 2 else b
    other = b if mover == a else a
    s.contact_solved[0] = c
    count = 1
    for i in range(s.contact_count - 1, -1, -1):
        d = s.contact_order[i]
        beside = d != c and _shares(s, d, mover) and not is_sensed(s, d) and not _between_movers(s, d)
        if beside and _stop(s, d, mover, share):
            s.contact_solved[count] = d
            count += 1
    for _ in range(IMPACT_ITERATIONS):
        smallest = 0.0
        for i in range(count):
            smallest = min(smallest, place_contact(s, s.contact_solved[i], CORRECTED_AT_IMPACT, mover, other))
        if smallest >= -1.5 * SLOP:
            break
    for body in (a, b):
        s.swept[body, 0], s.swept[body, 1], s.swept[body, 2] = s.centre[body, 0], s.centre[body, 1], s.angle[body]
    for i in range(count):
        _keep_impulses(s, s.contact_solved[i], True)
        start_contact(s, s.contact_solved[i], False)
    for _ in range(iterations):
        if solve_contacts(s, count, 0.0, settled) < settled:
            break
    for i in range(count):
        _keep_impulses(s, s.contact_solved[i], False)
    _finish_impact(s, mover, share, dt)


@kernel
def _shares(s, d, body):
    return s.shape_body[s.contact_shapes[d, 0]] == body or s.shape_body[s.contact_shapes[d, 1]] == body


@kernel
def _between_movers(s, d):
    a, b = s.shape_body[s.contact_shapes[d, 0]], s.shape_body[s.contact_shapes[d, 1]]
    return s.body_kind[a] == 2 and s.body_kind[b] == 2


@kernel
def _keep_impulses(s, d, kept):
    """Put away, or take back, the impulses with which the next step begins: those of an impact are too large for it."""
    for j in range(2):
        for n in range(2):
            if kept:
                s.contact_kept[d, j, n] = s.contact_impulse[d, j, n]
            else:
                s.contact_impulse[d, j, n] = s.contact_kept[d, j, n]


@kernel
def _finish_impact(s, mover, share, dt):
    """The rest of the step; contacts of the body look again when they will meet."""
    for b in range(s.body_count):
        if b == mover or (s.body_kind[b] == 1 and s.swept[b, 3] == share):
            move_body(s, b, (1.0 - share) * dt)
    for i in range(s.contact_count):
        d = s.contact_order[i]
        if _shares(s, d, mover):
            s.contact_time[d] = -1.0
    find_pairs(s)
