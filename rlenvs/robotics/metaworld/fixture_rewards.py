"""Meta-World's rewards, versions v2 and v1, of tasks of fixtures, as in package metaworld 3.1.1."""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.core.declare.maths import hypot, log
from rlenvs.robotics.metaworld.blocks import bell, both, distance, flat, from_tcp, gap, tail, way
from rlenvs.robotics.metaworld.fixture_rows import TASK

DOOR, PULL, CLOSE, BUTTON, OPEN_WINDOW, CLOSE_WINDOW = TASK.codes(
    *("door-open", "drawer-open", "drawer-close", "button-press-topdown", "window-open", "window-close"),
)


@kernel
def open_door(s, a, off):
    x, y = s.thing[0] - 0.05, s.thing[1]
    radius = hypot(s.hand[0] - x, s.hand[1] - y)
    floor = 0.0 if radius <= 0.12 else 0.04 * log(radius - 0.12) + 0.4
    above = 1.0
    if s.hand[2] < floor:
        above = tail(floor - s.hand[2], 0.0, 0.01, 0.5 * floor)
    x, y, z = s.hand[0] - s.thing[0], s.hand[1] - y - 0.03, s.hand[2] - s.thing[2] + 0.01
    ready = both(above, tail(math.sqrt(x * x + y * y + z * z), 0.0, 0.06, 0.5))
    angle = s.qpos[9]
    opened = 0.8 * tail(2.0 * math.pi / 3.0 + angle, 0.0, 0.5, math.pi / 3.0)
    if angle < -math.pi / 90.0:
        opened += 0.2
    paid = 2.0 * both(ready, 0.5 * (a[3] + 1.0)) + 8.0 * opened
    return 10.0 if off <= 0.08 else paid


@kernel
def thrice(x, y, z):
    """Length of a vector, m, with x and y counted three times."""
    return math.sqrt(9.0 * x * x + 9.0 * y * y + z * z)


@kernel
def open_drawer(s, off):
    away = thrice(s.thing[0] - s.hand[0], s.thing[1] - s.hand[1], s.thing[2] - s.hand[2])
    # the original's handle begins 0.2 m behind the goal, 1 cm from where it is observed
    margin = thrice(s.goal[0] - s.tcp0[0], s.goal[1] + 0.2 - s.tcp0[1], s.goal[2] - s.tcp0[2])
    near = tail(away, 0.0, 0.01, margin)
    return 5.0 * (near + tail(off, 0.0, 0.02, 0.2))


@kernel
def close_drawer(s, a, off):
    if off <= 0.065:
        return 10.0
    placed = tail(off, 0.0, 0.05, abs(distance(s.thing0, s.goal) - 0.05))
    near = bell(from_tcp(s, s.thing), 0.005, abs(distance(s.thing0, s.tcp0) - 0.005))
    return 10.0 * both(both(near, min(max(a[3], 0.0), 1.0)), placed)


@kernel
def press(s, off):
    away = from_tcp(s, s.thing)
    near = tail(away, 0.0, 0.01, distance(s.thing, s.tcp0))
    paid = 5.0 * both(1.0 - gap(s), near)
    return paid + 5.0 * tail(off, 0.0, 0.005, 0.0935) if away <= 0.03 else paid


@kernel
def slide_window(p, s, off):
    """The pane's way is 0.2 m to open it; to close it, 0.2 m from where its handle would be behind the goal."""
    away, margin = from_tcp(s, s.thing), abs(distance(s.thing0, s.tcp0) - 0.02)
    if p.task == OPEN_WINDOW:
        return 10.0 * both(tail(away, 0.0, 0.02, margin), tail(off, 0.0, 0.05, 0.15))
    return 10.0 * both(bell(away, 0.02, margin), tail(off, 0.0, 0.05, abs(abs(s.thing0[0] - s.goal[0]) - 0.05)))


@kernel
def v2(p, s, a, off):
    """Version v2 of a task's reward, with the weighted distance from the goal."""
    if p.task == DOOR:
        return open_door(s, a, off)
    if p.task == PULL:
        return open_drawer(s, off)
    if p.task == CLOSE:
        return close_drawer(s, a, off)
    if p.task == BUTTON:
        return press(s, off)
    return slide_window(p, s, off)


@kernel
def v1(p, s):
    """Version v1 of a task's reward: what is left of the thing's way is weighted by axis."""
    away = from_tcp(s, s.thing)
    if away >= 0.05:
        return -away
    x, y = p.ways[0] * (s.thing[0] - s.goal[0]), p.ways[1] * (s.thing[1] - s.goal[1])
    z, across = p.ways[2] * (s.thing[2] - s.goal[2]), hypot(x, y)
    left = across if z == 0.0 else math.sqrt(across * across + z * z)
    paid = way(p.span if p.span >= 0.0 else flat(s.thing0, s.goal), left)
    return (paid if p.task == OPEN_WINDOW or p.task == CLOSE_WINDOW else max(paid, 0.0)) - away
