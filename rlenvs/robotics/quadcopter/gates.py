"""Gates: upright squares in the air that have to be flown through in one direction.

Gates are rows x, y, z, yaw of an array (G, 4): the center [m] and the direction of flight [rad], 0 along x and pi/2
along y. A gate's own axes are ahead (along the flight), left, and up. Its frame is the flat square ring between
`half_opening` and `half_outer` [m, half sides]; a frame has no depth. For a vehicle with a radius, make the opening
smaller and the outside larger by the radius.
"""

import math

from rlenvs.core import kernel, maths, uniform

MISSED, PASSED, HIT, BACKWARDS = 0, 1, 2, 3

# random courses
SPACING = 3.0  # least distance between two centres in the plan, in units of half_outer: frames stay half_outer apart
STEEPEST = 1.0  # rise of a leg over its length in the plan
TRIES = 30  # for a gate, and for a course


@kernel
def gate_frame(gates, g, x, y, z):
    """A point of the world in the axes of gate g: metres ahead of it, to its left, and above its centre."""
    dx, dy = x - gates[g, 0], y - gates[g, 1]
    cosine, sine = maths.cos(gates[g, 3]), maths.sin(gates[g, 3])
    return cosine * dx + sine * dy, cosine * dy - sine * dx, z - gates[g, 2]


@kernel
def crossing(gates, g, half_opening, half_outer, x0, y0, z0, x1, y1, z1):
    """What the straight way from point 0 to point 1 does at gate g.

    MISSED (0): it stays on one side of the gate's plane, or crosses it outside the frame. PASSED (1): through the
    opening in the direction of flight. HIT (2): through the frame, in either direction. BACKWARDS (3): through the
    opening against the direction of flight. Points in the plane count as ahead of it, so that a flight in many steps
    crosses once, in one of them.
    """
    ahead0, left0, up0 = gate_frame(gates, g, x0, y0, z0)
    ahead1, left1, up1 = gate_frame(gates, g, x1, y1, z1)
    if (ahead0 < 0.0) == (ahead1 < 0.0):
        return MISSED
    part = ahead0 / (ahead0 - ahead1)
    off = max(abs(left0 + part * (left1 - left0)), abs(up0 + part * (up1 - up0)))
    if off > half_outer:
        return MISSED
    if off > half_opening:
        return HIT
    return PASSED if ahead0 < 0.0 else BACKWARDS


@kernel
def gate_corners(gates, g, half_opening, x, y, z, corners):
    """Fill corners (4, 3) with the corners of an opening minus the point x, y, z [m, world axes].

    Seen in the direction of flight: left and right at the bottom, right and left at the top.
    """
    dx, dy, dz = gates[g, 0] - x, gates[g, 1] - y, gates[g, 2] - z
    left_x, left_y = -half_opening * maths.sin(gates[g, 3]), half_opening * maths.cos(gates[g, 3])
    for j in range(4):
        side = 1.0 if j == 0 or j == 3 else -1.0
        corners[j, 0] = dx + side * left_x
        corners[j, 1] = dy + side * left_y
        corners[j, 2] = dz - half_opening if j < 2 else dz + half_opening


@kernel
def end_distance(gates, g, other, side, half_outer):
    """Distance [m] in the plan from one end of the frame of gate g (side 1.0 left, -1.0 right) to another frame."""
    x = gates[g, 0] - side * half_outer * maths.sin(gates[g, 3])
    y = gates[g, 1] + side * half_outer * maths.cos(gates[g, 3])
    ahead, left, _ = gate_frame(gates, other, x, y, 0.0)
    beyond = max(abs(left) - half_outer, 0.0)
    return math.sqrt(ahead * ahead + beyond * beyond)


@kernel
def frame_gap(gates, a, b, half_outer):
    """Distance [m] between the outer squares of two gates, openings included; 0 where they meet.

    Both squares are a line in the plan times an interval of heights, so the distances in plan and height combine. In
    the plan, lines that do not cross are nearest to each other at an end of one of them.
    """
    ahead_a, _, up = gate_frame(gates, a, gates[b, 0], gates[b, 1], gates[b, 2])
    ahead_b, _, _ = gate_frame(gates, b, gates[a, 0], gates[a, 1], gates[a, 2])
    turn = abs(maths.sin(gates[b, 3] - gates[a, 3]))
    # lines cross where each has an end on either side of the other; parallel ones are left to their ends
    if turn > 1e-9 and max(abs(ahead_a), abs(ahead_b)) <= half_outer * turn:
        plan = 0.0
    else:
        plan = min(end_distance(gates, a, b, 1.0, half_outer), end_distance(gates, a, b, -1.0, half_outer))
        plan = min(plan, end_distance(gates, b, a, 1.0, half_outer), end_distance(gates, b, a, -1.0, half_outer))
    height = max(abs(up) - 2.0 * half_outer, 0.0)
    return math.sqrt(plan * plan + height * height)


@kernel
def bisector(gates, g):
    """The yaw [rad] midway between the legs into and out of gate g, in the plan.

    Three gates and more form a loop. With two, both face from the first to the second; a single gate faces along x.
    A leg between gates above one another has no direction; where the two legs are opposite, the one out of g counts.
    """
    count = gates.shape[0]
    x, y, out_x, out_y = 0.0, 0.0, 0.0, 0.0
    for leg in range(2):
        start, end = (g + count - 1 + leg) % count, (g + leg) % count
        if count < 3 and start > end:
            continue
        dx, dy = gates[end, 0] - gates[start, 0], gates[end, 1] - gates[start, 1]
        length = math.sqrt(dx * dx + dy * dy)
        if length > 1e-9:
            out_x, out_y = dx / length, dy / length
            x += out_x
            y += out_y
    if x * x + y * y < 1e-12:
        x, y = out_x, out_y
    return maths.atan2(y, x)


# --- random courses ---------------------------------------------------------------------------------------------------


@kernel
def turn(gates, a, b, c):
    """The change of direction [rad, 0 to pi] at gate b between the legs a-b and b-c, in the plan."""
    x0, y0 = gates[b, 0] - gates[a, 0], gates[b, 1] - gates[a, 1]
    x1, y1 = gates[c, 0] - gates[b, 0], gates[c, 1] - gates[b, 1]
    return abs(maths.atan2(x0 * y1 - y0 * x1, x0 * x1 + y0 * y1))


@kernel
def gate_fits(gates, g, half_outer, max_turn):
    """Whether gate g is far enough from those before it and asks for no sharper turns; the last one closes the loop."""
    count = gates.shape[0]
    for other in range(g):
        x, y = gates[g, 0] - gates[other, 0], gates[g, 1] - gates[other, 1]
        if math.sqrt(x * x + y * y) < SPACING * half_outer:
            return False
    if g >= 2 and turn(gates, g - 2, g - 1, g) > max_turn:
        return False
    if g < 2 or g < count - 1:
        return True
    x, y = gates[g, 0] - gates[0, 0], gates[g, 1] - gates[0, 1]
    level = abs(gates[g, 2] - gates[0, 2]) <= STEEPEST * math.sqrt(x * x + y * y)
    return level and turn(gates, g - 1, g, 0) <= max_turn and turn(gates, g, 0, 1) <= max_turn


@kernel
def place_gate(rng, gates, g, half_x, half_y, height, half_outer, max_turn):
    """Draw gate g until it fits; False when it never did."""
    for _ in range(TRIES):
        gates[g, 0] = uniform(rng, half_outer - half_x, half_x - half_outer)
        gates[g, 1] = uniform(rng, half_outer - half_y, half_y - half_outer)
        low, high = half_outer, height - half_outer
        if g > 0:
            x, y = gates[g, 0] - gates[g - 1, 0], gates[g, 1] - gates[g - 1, 1]
            rise = STEEPEST * math.sqrt(x * x + y * y)
            low, high = max(low, gates[g - 1, 2] - rise), min(high, gates[g - 1, 2] + rise)
        gates[g, 2] = uniform(rng, low, high)
        if gate_fits(gates, g, half_outer, max_turn):
            return True
    return False


@kernel
def legs_are_free(gates, half_outer):
    """Whether the straight leg between two gates meets no other gate."""
    count = gates.shape[0]
    for g in range(count):
        after = (g + 1) % count
        for other in range(count):
            if other != g and other != after:
                x0, y0, z0 = gates[g, 0], gates[g, 1], gates[g, 2]
                x1, y1, z1 = gates[after, 0], gates[after, 1], gates[after, 2]
                if crossing(gates, other, 0.0, half_outer, x0, y0, z0, x1, y1, z1) != MISSED:
                    return False
    return True


@kernel
def ring_course(rng, gates, half_x, half_y, height, half_outer):
    """Gates at equal angles on the largest circle of the arena, at half its height; the first angle is random."""
    count = gates.shape[0]
    radius = min(half_x, half_y) - half_outer
    first = uniform(rng, 0.0, 2.0 * math.pi)
    for g in range(count):
        angle = first + 2.0 * math.pi * g / count
        gates[g, 0], gates[g, 1], gates[g, 2] = radius * maths.cos(angle), radius * maths.sin(angle), 0.5 * height
    for g in range(count):
        gates[g, 3] = bisector(gates, g)


@kernel
def random_course(rng, gates, half_x, half_y, height, half_outer, max_turn):
    """Fill gates (G, 4) with a random course, of three gates and more a loop; False when it is the ring instead.

    Frames stay in the arena (half sizes along x and y, height, all m) and half_outer apart, legs turn by at most
    max_turn [rad] at a gate, rise by at most 45 degrees and meet no other gate. The yaw of a gate is midway between
    its legs; a single gate has any. After TRIES courses that came to nothing the gates stand on a ring, which keeps all
    this for whatever `courses.check_random_course` accepts. (Loops of three gates hardly vary below 2.4 rad.)
    """
    count = gates.shape[0]
    for _ in range(TRIES):
        placed = 0
        while placed < count and place_gate(rng, gates, placed, half_x, half_y, height, half_outer, max_turn):
            placed += 1
        if placed == count:
            for g in range(count):
                gates[g, 3] = bisector(gates, g) if count > 1 else uniform(rng, -math.pi, math.pi)
            if legs_are_free(gates, half_outer):
                return True
    ring_course(rng, gates, half_x, half_y, height, half_outer)
    return False
