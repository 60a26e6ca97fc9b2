"""Meta-World's rewards, versions v2 and v1, of tasks in which something is carried, as in package metaworld 3.1.1."""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.core.declare.maths import hypot
from rlenvs.robotics.metaworld.blocks import (
    both,
    distance,
    flat,
    from_tcp,
    gap,
    grasp,
    pads_around,
    pads_around_puck,
    tail,
    tcp,
    way,
)
from rlenvs.robotics.metaworld.carried_rows import TASK

REACH, PUSH, PICK, PEG = TASK.codes("reach", "push", "pick-place", "peg-insert-side")
PEG_TIP = (-0.1, 0.6, 0.015)  # m, where the original takes the peg's tip to be at the start, whatever was drawn
HELD_HEIGHT = 0.04  # m, above its place on the table at which a thing counts as picked up in version v1
PEG_HEIGHT = 0.11  # m, the same of the peg


@kernel
def push(p, s, a, off):
    placed = tail(off, 0.0, 0.05, distance(s.thing0, s.goal))
    paid = 2.0 * grasp(s, a, s.thing0, pads_around(s, s.thing[1], s.thing0[1], 0.015, 0.05), 0.005)
    if from_tcp(s, s.thing) < 0.02 and gap(s) > 0.0:
        paid += 1.0 + paid + 5.0 * placed
    return 10.0 if off < 0.05 else paid


@kernel
def pick_and_place(p, s, a, off):
    placed = tail(off, 0.0, 0.05, distance(s.thing0, s.goal))
    paid = both(grasp(s, a, s.thing0, pads_around_puck(s, s.thing[1], 0.015, 0.05), 0.005), placed)
    if from_tcp(s, s.thing) < 0.02 and gap(s) > 0.0 and s.thing[2] - 0.01 > s.thing0[2]:
        paid += 1.0 + 5.0 * placed
    return 10.0 if off < 0.05 else paid


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
    placed = tail(off, 0.0, 0.05, math.sqrt(margin))
    clear = both(
        in_prism(s, 0.11, 0.17, 0.1, -0.1, 0.16, 0.19),
        in_prism(s, 0.11, 0.15, 0.1, -0.1, 0.01, 0.096),
    )
    placed = both(placed, clear)
    held = grasp(s, a, s.place, pads_around(s, s.thing[1], s.place[1], 0.0075, 0.03), 0.005)
    lifted = from_tcp(s, s.thing) < 0.08 and gap(s) > 0.0 and s.thing[2] - 0.01 > s.place[2]
    paid = both(1.0 if lifted else held, placed)
    if lifted:
        paid += 1.0 + 5.0 * placed
    return 10.0 if off <= 0.07 else paid


@kernel
def v2(p, s, a, off):
    """Version v2 of a task's reward, with the weighted distance from the goal."""
    if p.task == PUSH:
        return push(p, s, a, off)
    if p.task == PICK:
        return pick_and_place(p, s, a, off)
    if p.task == PEG:
        return insert(p, s, a, off)
    return 10.0 * tail(off, 0.0, 0.05, distance(p.hand, s.goal))


# --- version v1 -------------------------------------------------------------------------------------------------------


@kernel
def pick_v1(p, s, a):
    """Of pick-place and peg insertion: to the thing, up with it, to the goal."""
    high = s.place[2] + (PEG_HEIGHT if p.task == PEG else HELD_HEIGHT)
    x, y, z = s.place[0] - s.goal[0], s.place[1] - s.goal[1], high - s.goal[2]
    span = math.sqrt(x * x + y * y + z * z) + high
    away, left = from_tcp(s, s.thing), distance(s.thing, s.goal)
    aside = hypot(s.thing[0] - tcp(s, 0), s.thing[1] - tcp(s, 1))
    paid = -away
    if aside >= 0.05:
        paid = -aside - (1.0 if p.task == PEG else 2.0) * abs(tcp(s, 2) - s.tcp0[2])
    if away < 0.05:
        paid = -away + max(a[3], 0.0) / 50.0
    on_table = s.thing[2] < s.place[2] + 0.005
    picked = s.thing[2] >= high - 0.01 and not (on_table and left > 0.02 and away > 0.02)
    if picked:
        paid += 100.0 * high
    elif away < 0.1 and not on_table:
        paid += 100.0 * min(high, s.thing[2])
    if picked and away < 0.1:
        if p.task == PEG and distance(s.mark, s.goal) > 0.05:
            left = distance(s.mark, s.goal)
        paid += max(way(span, left), 0.0)
    return paid


@kernel
def v1(p, s, a):
    """Version v1 of a task's reward."""
    if p.task == REACH:
        off = from_tcp(s, s.goal)
        return max(way(distance(s.tcp0, s.goal), off), 0.0)
    if p.task == PICK or p.task == PEG:
        return pick_v1(p, s, a)
    away = from_tcp(s, s.thing)
    return max(way(flat(s.thing0, s.goal), flat(s.thing, s.goal)), 0.0) - away if away < 0.05 else -away
