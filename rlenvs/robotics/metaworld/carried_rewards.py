"""Meta-World's rewards, version v2, of tasks in which something is carried, as in package metaworld 3.1.1."""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.core.declare.maths import hypot, log
from rlenvs.robotics.metaworld.blocks import (
    both,
    caged,
    caged_at,
    distance,
    from_tcp,
    gap,
    grasp,
    held,
    pads_around,
    pads_around_puck,
    tail,
    tcp,
)
from rlenvs.robotics.metaworld.carried_rows import TASK

PUSH, BACK, PUSH_WALL, SOCCER, SWEEP, INTO, COFFEE_PUSH, COFFEE_PULL = TASK.codes(
    *("push", "push-back", "push-wall", "soccer", "sweep", "sweep-into", "coffee-push"),
    "coffee-pull",
)
(
    PICK,
    PICK_WALL,
    PEG,
    INSERT_HAND,
    SHELF,
    HOLE,
    UNPLUG,
    BASKET,
    BIN,
    BOX,
    ASSEMBLY,
    DISASSEMBLE,
    HAMMER,
    STICK_PUSH,
    STICK_PULL,
) = TASK.codes(
    *("pick-place", "pick-place-wall", "peg-insert-side", "hand-insert", "shelf-place", "pick-out-of-hole"),
    *(
        "peg-unplug-side",
        "basketball",
        "bin-picking",
        "box-close",
        "assembly",
        "disassemble",
        "hammer",
        "stick-push",
        "stick-pull",
    ),
)
PEG_TIP = (-0.1, 0.6, 0.015)  # m, where the original takes the peg's tip to be at the start, whatever was drawn
PADS = 0.05  # m, from a thing's middle to pads that lie around it
QUARTER = 0.707  # of a quaternion's numbers, where it turns by a quarter
JUG = (0.2, 0.6, 0.0)  # m, where the original takes the jug to be at the start
WALL_Y = 0.77  # m, behind the wall


@kernel
def placed(s, off):
    """How near the thing is to the goal, from how far it was at the start."""
    return tail(off, 0.0, 0.05, distance(s.thing0, s.goal))


@kernel
def lifted(s, by):
    """Whether the thing is higher than at the start, m."""
    return s.thing[2] - by > s.thing0[2]


@kernel
def around(s, radius, reach):
    """How well the pads lie around the thing."""
    return pads_around(s, s.thing[1], s.thing0[1], radius, reach)


@kernel
def squeezed(s, radius, slack, xz):
    """How well the thing is caged, and the pads are nearer to it than its radius and `slack`; efforts do not count."""
    y = s.thing[1]
    cage = caged(s, s.thing0, pads_around_puck(s, y, radius, PADS), xz)
    if cage <= 0.95:
        return 0.5 * cage
    right, left = y - s.pads[0, 1], s.pads[1, 1] - y
    return 0.5 * (
        cage
        + both(
            tail(left, radius, radius + slack, abs(abs(left) - PADS)),
            tail(right, radius, radius + slack, abs(abs(right) - PADS)),
        )
    )


@kernel
def to_point(s, x, y, z, weight_x, weight_z):
    """How near the thing is to a place on its way, from how far it was at the start, with weights of two axes."""
    off, start = s.thing, s.thing0
    dx, dy, dz = weight_x * (off[0] - x), off[1] - y, weight_z * (off[2] - z)
    dx0, dy0, dz0 = weight_x * (start[0] - x), start[1] - y, weight_z * (start[2] - z)
    return tail(math.sqrt(dx * dx + dy * dy + dz * dz), 0.0, 0.05, math.sqrt(dx0 * dx0 + dy0 * dy0 + dz0 * dz0))


@kernel
def below_funnel(height, radius, steep, deep, narrow, margin):
    """1 above a funnel around an axis, `narrow` at its bottom; less below it, where walls are."""
    if radius <= narrow:
        return 1.0
    floor = steep * log(radius - narrow) + deep
    return 1.0 if height >= floor else tail(floor - height, 0.0, 0.01, margin)


@kernel
def push(s, a, off):
    paid = 2.0 * grasp(s, a, s.thing0, around(s, 0.015, PADS), 0.005, 1.0)
    if from_tcp(s, s.thing) < 0.02 and gap(s) > 0.0:
        paid += 1.0 + paid + 5.0 * placed(s, off)
    return 10.0 if off < 0.05 else paid


@kernel
def push_back(s, off):
    near = placed(s, off)
    paid = both(squeezed(s, 0.007, 0.003, 0.01), near)
    if from_tcp(s, s.thing) < 0.01 and 0.0 < gap(s) < 0.55 and distance(s.thing0, s.goal) - off > 0.01:
        paid += 1.0 + 5.0 * near
    return 10.0 if off < 0.05 else paid


@kernel
def push_around_wall(s, a, off):
    paid = 2.0 * grasp(s, a, s.thing0, around(s, 0.015, PADS), 0.005, 1.0)
    if from_tcp(s, s.thing) < 0.02 and gap(s) > 0.0:
        if s.thing[1] > 0.75:
            paid += 5.0 + 3.0 * placed(s, off)
        else:
            paid += 1.0 + 4.0 * to_point(s, -0.05, WALL_Y, s.thing[2], 3.0, 1.0)
    return 10.0 if off < 0.05 else paid


@kernel
def pick_and_place(s, a, off):
    near = placed(s, off)
    paid = both(grasp(s, a, s.thing0, pads_around_puck(s, s.thing[1], 0.015, PADS), 0.005, 1.0), near)
    if from_tcp(s, s.thing) < 0.02 and gap(s) > 0.0 and lifted(s, 0.01):
        paid += 1.0 + 5.0 * near
    return 10.0 if off < 0.05 else paid


@kernel
def pick_over_wall(s, a, off):
    over = to_point(s, s.goal[0], WALL_Y, 0.25, 1.0, 3.0)
    paid = both(held(a, caged(s, s.thing0, around(s, 0.015, PADS), 0.005), 1.0), over)
    if from_tcp(s, s.thing) < 0.02 and gap(s) > 0.0 and lifted(s, 0.015):
        paid += 5.0 + 3.0 * placed(s, off) if s.thing[1] > 0.75 else 1.0 + 4.0 * over
    return 10.0 if off < 0.05 else paid


@kernel
def shoot(s):
    """The margin is how far the ball has rolled; beside the goal, behind its line, the ball pays less."""
    x, y, z = 3.0 * (s.thing[0] - s.goal[0]), s.thing[1] - s.goal[1], s.thing[2] - s.goal[2]
    rolled_x, rolled_y = 3.0 * (s.thing[0] - s.thing0[0]), s.thing[1] - s.thing0[1]
    rolled = math.sqrt(rolled_x**2 + rolled_y**2 + (s.thing[2] - s.thing0[2]) ** 2)
    left = math.sqrt(x * x + y * y + z * z)
    if left < 0.07:
        return 10.0
    near = tail(left, 0.0, 0.07, rolled)
    line = s.goal[1] - 0.1
    if s.thing[1] > line and abs(s.thing[0] - s.goal[0]) > 0.1:
        near = min(max(near - 2.0 * (s.thing[1] - line) / (1.0 - line), 0.0), 1.0)
    return 3.0 * squeezed(s, 0.013, 0.01, 0.005) + 6.5 * near


@kernel
def sweep(s, off, start, slack, xz):
    """`start` is how far the thing was from the goal at the start."""
    if off < 0.05:
        return 10.0
    grip = squeezed(s, 0.02, slack, xz)
    return 2.0 * grip + 6.0 * both(grip, tail(off, 0.0, 0.05, start))


@kernel
def move_mug(s, a):
    x, y, z = 2.0 * (s.thing[0] - s.goal[0]), 2.0 * (s.thing[1] - s.goal[1]), s.thing[2] - s.goal[2]
    x0, y0, z0 = 2.0 * (s.thing0[0] - s.goal[0]), 2.0 * (s.thing0[1] - s.goal[1]), s.thing0[2] - s.goal[2]
    off = math.sqrt(x * x + y * y + z * z)
    if off < 0.05:
        return 10.0
    near = tail(off, 0.0, 0.05, math.sqrt(x0 * x0 + y0 * y0 + z0 * z0))
    away = from_tcp(s, s.thing)
    reach = tail(away, 0.0, 0.04, abs(distance(s.thing0, s.tcp0) - 0.04))
    grip = 0.5 * (held(a, caged(s, s.thing0, around(s, 0.02, PADS), 0.05), 0.7) + reach)
    return both(grip, near) + (1.0 + 5.0 * near if away < 0.04 and gap(s) > 0.0 else 0.0)


@kernel
def insert_hand(s, a, off):
    near = placed(s, off)
    paid = both(grasp(s, a, s.thing0, around(s, 0.015, PADS), 0.005, 1.0), near)
    if from_tcp(s, s.thing) < 0.02 and gap(s) > 0.0:
        paid += 1.0 + 7.0 * near
    return 10.0 if off < 0.05 else paid


@kernel
def place_on_shelf(s, a, off):
    """Below the board and in front of the goal, and inside of the shelf, nearness pays less."""
    near = placed(s, off)
    paid = both(held(a, caged(s, s.thing0, around(s, 0.02, PADS), 0.01), 1.0), near)
    depth, height = s.thing[1] - s.goal[1] + 0.15, s.thing[2]
    if 0.0 < height < 0.24 and abs(s.thing[0] - s.goal[0]) < 0.15:
        if 0.0 < depth < 0.15:
            near = min(max(near - both(depth / 0.15, (0.24 - height) / 0.24), 0.0), 1.0)
        elif depth > 0.15:
            near = 0.0
    if from_tcp(s, s.thing) < 0.025 and gap(s) > 0.0 and lifted(s, 0.01):
        paid += 1.0 + 5.0 * near
    return 10.0 if off < 0.05 else paid


@kernel
def pick_out(s, a, off):
    near = tail(off, 0.0, 0.02, distance(s.thing0, s.goal))
    paid = both(grasp(s, a, s.thing0, around(s, 0.015, 0.02), 0.03, 0.1), near)
    if from_tcp(s, s.thing) < 0.04 and gap(s) >= 0.33 and lifted(s, 0.02):
        radius = hypot(tcp(s, 0) - s.thing0[0], tcp(s, 1) - s.thing0[1])
        paid += 1.0 + 5.0 * both(near, below_funnel(tcp(s, 2), radius, 0.015, 0.15, 0.03, 0.02))
    return 10.0 if off < 0.05 else paid


@kernel
def unplug(s, a, off):
    if off <= 0.05:
        return 10.0
    paid = 2.0 * grasp(s, a, s.thing0, around(s, 0.025, PADS), 0.005, 0.8)
    if from_tcp(s, s.thing) < 0.035 and gap(s) > 0.5 and s.thing[0] - s.thing0[0] > 0.015:
        paid += 1.0 + 5.0 * placed(s, off)
    return paid


@kernel
def throw_in(s, a, off):
    if off < 0.08:
        return 10.0
    x, y, z = s.thing0[0] - s.goal[0], s.thing0[1] - s.goal[1], 2.0 * (s.thing0[2] - s.goal[2] - 0.05)
    near = tail(off, 0.0, 0.08, math.sqrt(x * x + y * y + z * z))
    if from_tcp(s, s.thing) < 0.035 and gap(s) > 0.0 and lifted(s, 0.01):
        return both(1.0, near) + 1.0 + 5.0 * near
    return both(grasp(s, a, s.thing0, around(s, 0.025, 0.06), 0.005, 1.0), near)


@kernel
def pick_from_bin(s, a, off):
    """A hand below two funnels, around where the cube was and around the goal, pays less."""
    near = placed(s, off)
    paid = both(grasp(s, a, s.thing0, around(s, 0.015, PADS), 0.01, 0.7), near)
    if distance(s.thing, s.hand) < 0.04 and gap(s) >= 0.43 and lifted(s, 0.02):
        from_start = hypot(s.hand[0] - s.thing0[0], s.hand[1] - s.thing0[1])
        from_goal = hypot(s.hand[0] - s.goal[0], s.hand[1] - s.goal[1])
        above = below_funnel(s.hand[2], min(from_start, from_goal), 0.02, 0.2, 0.03, 0.05)
        paid += 1.0 + 5.0 * both(above, near)
    return 10.0 if off < 0.05 else paid


@kernel
def turned(s, w, z, slack):
    """1 where the thing has this attitude, turned about the vertical axis; less in others."""
    q = s.thing_attitude
    error = math.sqrt((q[0] - w) ** 2 + q[1] ** 2 + q[2] ** 2 + (q[3] - z) ** 2)
    return max(1.0 - error / slack, 0.0)


@kernel
def close_box(s, a, done):
    x, y, z = s.thing[0], s.thing[1], s.thing[2] + 0.02
    hand_x, hand_y, hand_z = s.hand[0] - x, s.hand[1] - y, s.hand[2] - z
    radius, above = hypot(hand_x, hand_y), 1.0
    if radius > 0.02:
        floor = 0.04 * log(radius - 0.02) + 0.4
        if s.hand[2] < floor:
            above = tail(floor - s.hand[2], 0.0, 0.01, 0.5 * floor)
    off = math.sqrt(hand_x * hand_x + hand_y * hand_y + hand_z * hand_z)
    ready = both(above, tail(off, 0.0, 0.02, 0.5))
    x, y, z_off = s.goal[0] - x, s.goal[1] - y, 3.0 * (s.goal[2] - z)
    closed = 0.8 * tail(math.sqrt(x * x + y * y + z_off * z_off), 0.0, 0.05, 0.25) + (0.2 if z > 0.04 else 0.0)
    paid = 2.0 * both(0.5 * (a[3] + 1.0), ready) + 8.0 * closed
    return (10.0 if done else paid) * turned(s, QUARTER, QUARTER, 0.2)


@kernel
def part_x(s, half):
    """x of the part of a handle, so long to either side, that is nearest to the hand; its middle, if the hand is not
    there."""
    return s.hand[0] if abs(s.thing[0] - s.hand[0]) < half else s.thing[0]


@kernel
def assemble(s, a, done):
    """The nut's height should follow a funnel around the peg, wider once the nut is over it."""
    if done:
        return 10.0
    x = part_x(s, 0.01)
    dx, dy, dz = x - tcp(s, 0), s.thing[1] - tcp(s, 1), s.thing[2] - tcp(s, 2)
    reach = tail(math.sqrt(dx * dx + dy * dy + dz * dz), 0.0, 0.01, abs(distance(s.place, s.tcp0) - 0.01))
    grip = 0.5 * (held(a, caged_at(s, x, s.place, around(s, 0.015, 0.02), 0.01), 1.0) + reach)
    x, y = s.goal[0] - s.mark[0], s.goal[1] - s.mark[1]
    radius, height = hypot(x, y), 0.0
    if radius > 0.01:
        height = 0.02 * log(radius - 0.01) + 0.2
    z = 3.0 * (height - s.mark[2])
    near = 0.9 * tail(math.sqrt(x * x + y * y + z * z), 0.0, 0.02, 0.4)
    near += 0.1 if s.mark[2] > 0.02 or radius < 0.01 else 0.0
    return (2.0 * grip + 6.0 * near) * turned(s, QUARTER, QUARTER, 0.4)


@kernel
def disassemble(s, a, done):
    if done:
        return 10.0
    cage = caged_at(s, part_x(s, 0.01), s.place, around(s, 0.015, 0.02), 0.01)
    x, y, z = s.goal[0] - s.mark[0], s.goal[1] - s.mark[1], s.goal[2] + 0.1 - s.mark[2]
    near = 0.9 * tail(math.sqrt(x * x + y * y + z * z), 0.0, 0.02, 0.2) + (0.1 if s.mark[2] > 0.02 else 0.0)
    return (held(a, cage, 1.0) + cage + 6.0 * near) * turned(s, QUARTER, QUARTER, 0.4)


@kernel
def strike(s, a, done):
    """The hammer's face should come to the goal; the nail itself counts where the hammer is held well."""
    cage = caged_at(s, part_x(s, 0.07), s.place, around(s, 0.015, 0.02), 0.01)
    x, y, z = s.goal[0] - s.thing[0] - 0.16, s.goal[1] - s.thing[1] - 0.06, s.goal[2] - s.thing[2]
    near = 0.9 * tail(math.sqrt(x * x + y * y + z * z), 0.0, 0.02, 0.2) + (0.1 if s.thing[2] > 0.02 else 0.0)
    paid = (held(a, cage, 1.0) + cage + 6.0 * near) * turned(s, 1.0, 0.0, 0.4)
    return 10.0 if done and paid > 5.0 else paid


@kernel
def from_stick(s, shift):
    """Distance from the finger tips of a point that lies `shift` along x from the stick's middle, m."""
    dx, dy, dz = s.thing[0] + shift - tcp(s, 0), s.thing[1] - tcp(s, 1), s.thing[2] - tcp(s, 2)
    return math.sqrt(dx * dx + dy * dy + dz * dz)


@kernel
def push_jug(s, a, off):
    dx, dy, dz = s.thing[0] + 0.015 - s.goal[0], s.thing[1] - s.goal[1], s.thing[2] - s.goal[2]
    if from_stick(s, 0.015) < 0.02 and gap(s) > 0.0 and lifted(s, 0.01):
        if off <= 0.12:
            return 10.0
        stick = tail(math.sqrt(dx * dx + dy * dy + dz * dz), 0.0, 0.12, distance(s.thing0, s.goal) - 0.12)
        return 2.0 + 5.0 * stick + 3.0 * tail(off, 0.0, 0.12, distance(JUG, s.goal) - 0.12)
    cage = caged_at(s, s.thing[0] + 0.015, s.thing0, around(s, 0.04, PADS), 0.01)
    return 0.5 * (held(a, cage, 1.0) + cage)


@kernel
def hooked(s):
    """Whether the stick's end is in the jug's handle."""
    beside, above = abs(s.mark[1] - s.second[1]) <= 0.04, abs(s.mark[2] - s.second[2]) <= 0.06
    return s.mark[0] >= s.second[0] and beside and above


@kernel
def pull_jug(s, a, off):
    x, y, z = s.thing[0] - s.second[0] - 0.05, s.thing[1] - s.second[1], 2.0 * (s.thing[2] - s.second[2])
    x0, y0, z0 = s.thing0[0] - JUG[0] - 0.05, s.thing0[1] - JUG[1], 2.0 * (s.thing0[2] - JUG[2])
    near = tail(math.sqrt(x * x + y * y + z * z), 0.0, 0.05, math.sqrt(x0 * x0 + y0 * y0 + z0 * z0))
    if not (from_tcp(s, s.thing) < 0.02 and gap(s) > 0.0 and lifted(s, 0.01)):
        return both(grasp(s, a, JUG, pads_around(s, s.thing[1], JUG[1], 0.014, PADS), 0.01, 1.0), near)
    if not hooked(s):
        return 1.0 + both(1.0, near) + 5.0 * near
    if off <= 0.12:
        return 10.0
    x, y, z = s.second[0] + 0.05 - s.goal[0], s.second[1] - s.goal[1], s.second[2] - s.goal[2]
    jug = tail(math.sqrt(x * x + y * y + z * z), 0.0, 0.05, distance(JUG, s.goal))
    stick = tail(distance(s.thing, s.goal), 0.0, 0.05, distance(s.thing0, s.goal))
    return 6.0 + both(1.0, near) + 2.0 * stick + jug


@kernel
def in_prism(s, x0, x1, y0, y1, z0, z1):
    """The product of how far the peg's tip is from the first edges to the second, within a box around the hole, from
    the block's middle; 1 outside."""
    x, y, z = s.mark[0] - s.place[3] - x0, s.mark[1] - s.place[4] - y0, s.mark[2] - s.place[5] - z0
    x, y, z = x / (x1 - x0), y / (y1 - y0), z / (z1 - z0)
    inside = 0.0 <= x <= 1.0 and 0.0 <= y <= 1.0 and 0.0 <= z <= 1.0
    return x * y * z if inside else 1.0


@kernel
def insert(p, s, a, off):
    margin = 0.0
    for k in range(3):
        margin += (p.axes[k] * (PEG_TIP[k] - s.goal[k])) ** 2
    near = tail(off, 0.0, 0.05, math.sqrt(margin))
    clear = both(
        in_prism(s, 0.11, 0.17, 0.1, -0.1, 0.16, 0.19),
        in_prism(s, 0.11, 0.15, 0.1, -0.1, 0.01, 0.096),
    )
    near = both(near, clear)
    grip = grasp(s, a, s.place, pads_around(s, s.thing[1], s.place[1], 0.0075, 0.03), 0.005, 1.0)
    up = from_tcp(s, s.thing) < 0.08 and gap(s) > 0.0 and s.thing[2] - 0.01 > s.place[2]
    paid = both(1.0 if up else grip, near)
    if up:
        paid += 1.0 + 5.0 * near
    return 10.0 if off <= 0.07 else paid


@kernel
def v2(p, s, a, off, done):
    """Version v2 of a task's reward, with the weighted distance from the goal."""
    if p.task == PUSH:
        return push(s, a, off)
    if p.task == BACK:
        return push_back(s, off)
    if p.task == PUSH_WALL:
        return push_around_wall(s, a, off)
    if p.task == SOCCER:
        return shoot(s)
    if p.task == SWEEP:
        return sweep(s, off, distance(s.thing0, s.goal), 0.01, 0.005)
    if p.task == INTO:
        x, y, z = s.thing0[0] - s.goal[0], s.thing0[1] - s.goal[1], s.thing0[2] - s.thing[2]
        return sweep(s, off, math.sqrt(x * x + y * y + z * z), 0.005, 0.01)
    if p.task == COFFEE_PUSH or p.task == COFFEE_PULL:
        return move_mug(s, a)
    if p.task == UNPLUG:
        return unplug(s, a, off)
    if p.task == BOX:
        return close_box(s, a, done)
    if p.task == ASSEMBLY:
        return assemble(s, a, done)
    if p.task == DISASSEMBLE:
        return disassemble(s, a, done)
    if p.task == HAMMER:
        return strike(s, a, done)
    if p.task == STICK_PUSH:
        return push_jug(s, a, off)
    if p.task == STICK_PULL:
        return pull_jug(s, a, off)
    return v2_of_lifting(p, s, a, off)


@kernel
def v2_of_lifting(p, s, a, off):
    """The same of tasks in which something is lifted, and of reaching."""
    if p.task == PICK:
        return pick_and_place(s, a, off)
    if p.task == PICK_WALL:
        return pick_over_wall(s, a, off)
    if p.task == PEG:
        return insert(p, s, a, off)
    if p.task == INSERT_HAND:
        return insert_hand(s, a, off)
    if p.task == SHELF:
        return place_on_shelf(s, a, off)
    if p.task == HOLE:
        return pick_out(s, a, off)
    if p.task == BASKET:
        return throw_in(s, a, off)
    if p.task == BIN:
        return pick_from_bin(s, a, off)
    return 10.0 * tail(off, 0.0, 0.05, distance(p.hand, s.goal))
