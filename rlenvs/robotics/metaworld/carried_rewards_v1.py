"""Meta-World's rewards, version v1, of tasks in which something is carried, as in package metaworld 3.1.1."""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.core.declare.maths import exp, hypot
from rlenvs.robotics.metaworld.blocks import distance, flat, from_tcp, tcp, way
from rlenvs.robotics.metaworld.carried_rows import TASK

REACH, REACH_WALL, SWEEP, INTO, COFFEE_PULL, PEG, INSERT_HAND, HOLE, UNPLUG, BIN = TASK.codes(
    *("reach", "reach-wall", "sweep", "sweep-into", "coffee-pull", "peg-insert-side", "hand-insert"),
    *("pick-out-of-hole", "peg-unplug-side", "bin-picking"),
)
ASSEMBLY, DISASSEMBLE, HAMMER, STICK_PUSH, STICK_PULL = TASK.codes(
    *("assembly", "disassemble", "hammer", "stick-push", "stick-pull"),
)
JUG = (0.2, 0.6)  # m, where the original takes the jug to be at the start
NAIL = 0.105  # m, from the nail's head at the start to the goal


@kernel
def go_to(s, a, height, near, steep, at):
    """What version v1 pays for the way to a thing that is grasped from above: where the hand is not above it, less for
    other heights than this; where it is at the thing, more for closing the fingers."""
    away = from_tcp(s, s.thing)
    if away < at:
        return -away + max(a[3], 0.0) / 50.0
    aside = hypot(s.thing[0] - tcp(s, 0), s.thing[1] - tcp(s, 1))
    return -away if aside < near else -aside - steep * abs(tcp(s, 2) - height)


@kernel
def picked_up(p, s, high, left):
    """Whether the thing has been lifted, and is not on the table away from the goal and the hand."""
    dropped = s.thing[2] < s.place[2] + p.level + 0.005 and left > 0.02 and from_tcp(s, s.thing) > 0.02
    return s.thing[2] >= high - 0.01 and not dropped


@kernel
def lift(p, s, high, up):
    """What version v1 pays for a height, in the pit for the height above its bottom."""
    paid_from = s.place[2] - 0.02 if p.task == HOLE else 0.0
    if up:
        return 100.0 * (high - paid_from)
    if from_tcp(s, s.thing) < 0.1 and s.thing[2] > s.place[2] + p.level + 0.005:
        return 100.0 * (min(high, s.thing[2]) - paid_from)
    return 0.0


@kernel
def pick_v1(p, s, a):
    """To the thing, up with it, to the goal."""
    high = s.place[2] + p.level + p.rise
    x, y, z = s.place[0] - s.goal[0], s.place[1] - s.goal[1], high - s.goal[2]
    left = distance(s.thing, s.goal)
    up = picked_up(p, s, high, left)
    paid = go_to(s, a, s.tcp0[2], 0.05, 1.0 if p.task == PEG else 2.0, 0.05) + lift(p, s, high, up)
    if up and from_tcp(s, s.thing) < 0.1:
        if p.task == PEG and distance(s.mark, s.goal) > 0.05:
            left = distance(s.mark, s.goal)
        paid += max(way(math.sqrt(x * x + y * y + z * z) + high, left), 0.0)
    return paid


@kernel
def bin_v1(p, s, a):
    """The same, horizontally; above and in the second bin open fingers pay."""
    high, left = s.place[2] + p.rise, flat(s.thing, s.goal)
    arrived = max(way(flat(s.place, s.goal) + high, left), 0.0)
    inside = abs(s.thing[0] - s.goal[0]) < 0.05 and abs(s.thing[1] - s.goal[1]) < 0.05
    if inside:
        arrived -= 200.0 * a[3]
        if s.thing[2] < s.place[2] + 0.05:
            return arrived
    up = picked_up(p, s, high, left)
    paid = go_to(s, a, s.tcp0[2], 0.06, 1.0, 0.05) + lift(p, s, high, up)
    return paid + arrived if up and from_tcp(s, s.thing) < 0.1 else paid


@kernel
def assemble_v1(p, s, a):
    """To the handle, up with the nut, over the peg and down."""
    high, left, away = s.place[2] + p.rise, flat(s.mark, s.goal), from_tcp(s, s.thing)
    down = abs(s.mark[2] - s.place[2])
    over = abs(s.mark[0] - s.goal[0]) < 0.03 and abs(s.mark[1] - s.goal[1]) < 0.03
    dropped = s.mark[2] < s.place[2] + 0.005 and left > 0.02 and away > 0.02
    up = s.mark[2] >= high - 0.01 and away < 0.03 and not dropped
    paid = go_to(s, a, s.tcp0[2], 0.04, 1.0, 0.04)
    if over or up:
        x, y, z = s.place[0] - s.goal[0], s.place[1] - s.goal[1], high - s.goal[2]
        arrived = way(math.sqrt(x * x + y * y + z * z) + high, left)
        if over:
            arrived += 2000.0 * (high - down + exp(-down * down / 0.003) + exp(-down * down / 0.0003))
        return paid + 100.0 * high + max(arrived, 0.0)
    return paid + 100.0 * min(high, s.mark[2]) if away < 0.04 and s.mark[2] > s.place[2] + 0.005 else paid


@kernel
def disassemble_v1(p, s, a):
    """To the handle and up with the nut, until it is off the peg."""
    high, left, away = s.place[2] + p.rise, distance(s.thing, s.goal), from_tcp(s, s.thing)
    up = away < 0.04 and picked_up(p, s, high, left)
    paid = go_to(s, a, s.tcp0[2], 0.04, 2.0, 0.04)
    if up:
        paid += 100.0 * high
    elif away < 0.04 and s.thing[2] > s.place[2] + 0.005:
        paid += 100.0 * min(high, s.thing[2])
    if abs(s.mark[0] - s.place[0]) > 0.05 or abs(s.mark[1] - s.place[1]) > 0.05:
        paid = 100.0 * high
    if up and away < 0.03:
        x, y, z = s.place[0] - s.goal[0], s.place[1] - s.goal[1], high - s.goal[2]
        paid += max(way(math.sqrt(x * x + y * y + z * z) + high, left), 0.0)
    return paid


@kernel
def strike_v1(p, s, a):
    """To the hammer, up with it, and with its head to where the nail's head was."""
    away, high = from_tcp(s, s.thing), s.place[2] + p.rise
    x, y, z = s.mark[0] - s.goal[0], s.mark[1] - s.goal[1] + NAIL, s.mark[2] - s.goal[2]
    left = math.sqrt(x * x + y * y + z * z)
    paid = -away + (max(a[3], 0.0) / 50.0 if away < 0.05 else 0.0)
    up = picked_up(p, s, high, left)
    paid += lift(p, s, high, up)
    if up and away < 0.1:
        paid += max(way(p.rise + high + abs(s.place[1] - s.goal[1]), left + NAIL), 0.0)
    return paid


@kernel
def stick_v1(p, s, a):
    """To the stick, up with it, to the jug and with the jug to the goal; for the jug's place the original takes the
    stick's height and the first two numbers of its attitude."""
    away, high = from_tcp(s, s.thing), s.place[2] + p.rise
    sign = 1.0 if s.thing_attitude[0] >= 0.0 else -1.0
    x, y, z = s.thing[2], sign * s.thing_attitude[1], sign * s.thing_attitude[2]
    left = hypot(x - s.goal[0], y - s.goal[1])
    paid = -away + (max(a[3], 0.0) / 50.0 if away < 0.05 else 0.0)
    up = picked_up(p, s, high, left)
    paid += lift(p, s, high, up)
    if not up or away >= 0.1:
        return paid
    x0, y0, z0 = JUG[0] - s.place[0], JUG[1] - s.place[1], high - s.place[2]
    dx, dy, dz = x - s.thing[0], y - s.thing[1], z - s.thing[2]
    apart = math.sqrt(dx * dx + dy * dy + dz * dz)
    arrived = way(math.sqrt(x0 * x0 + y0 * y0 + z0 * z0) + high, apart)
    if apart < 0.05:
        wide = 0.01 if p.task == STICK_PULL else 0.001
        arrived += 1000.0 * (hypot(JUG[0] - s.goal[0], JUG[1] - s.goal[1]) - left)
        arrived += 2000.0 * (exp(-left * left / wide) + exp(-10.0 * left * left / wide))
    return paid + max(arrived, 0.0)


@kernel
def insert_v1(p, s):
    """Above the hole, then down."""
    aside = hypot(tcp(s, 0) - s.goal[0], tcp(s, 1) - s.goal[1])
    if aside >= 0.05:
        return -aside
    return max(way(abs(p.hand[2] - s.goal[2]), abs(tcp(s, 2) - s.goal[2])), 0.0) - aside


@kernel
def push_v1(p, s):
    """To the thing, and with it to the goal; what has fallen through the table is there."""
    away, left = from_tcp(s, s.thing), flat(s.thing, s.goal)
    cost = away
    if p.task == COFFEE_PULL:  # the original's distance to the mug is that of the mug from the arm's foot
        cost = math.sqrt(s.thing[0] ** 2 + s.thing[1] ** 2 + s.tcp0[2] ** 2)
    off_table = p.task == INTO and not 0.4 < s.thing[1] < 1.0
    if (p.task == SWEEP or p.task == INTO) and s.thing[2] < s.thing0[2] - 0.05 and not off_table:
        cost, left = 0.0, 0.0
    return max(way(flat(s.thing0, s.goal), left), 0.0) - cost if away < 0.05 else -cost


@kernel
def v1(p, s, a):
    """Version v1 of a task's reward."""
    if p.task == REACH or p.task == REACH_WALL:
        return max(way(distance(s.tcp0, s.goal), from_tcp(s, s.goal)), 0.0)
    if p.task == INSERT_HAND:
        return insert_v1(p, s)
    if p.task == BIN:
        return bin_v1(p, s, a)
    if p.task == ASSEMBLY:
        return assemble_v1(p, s, a)
    if p.task == DISASSEMBLE:
        return disassemble_v1(p, s, a)
    if p.task == HAMMER:
        return strike_v1(p, s, a)
    if p.task == STICK_PUSH or p.task == STICK_PULL:
        return stick_v1(p, s, a)
    if p.task == UNPLUG:
        there = from_tcp(s, s.thing) < 0.05
        paid = max(way(distance(s.thing0, s.goal), flat(s.thing, s.goal)), 0.0) if there else 0.0
        return go_to(s, a, p.hand[2], 0.05, 2.0, 0.05) + paid
    return pick_v1(p, s, a) if p.rise > 0.0 else push_v1(p, s)
