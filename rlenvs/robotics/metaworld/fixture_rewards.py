"""Meta-World's rewards, versions v2 and v1, of tasks of fixtures, as in package metaworld 3.1.1."""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.core.declare.maths import exp, hypot, log
from rlenvs.robotics.metaworld.blocks import (
    bell,
    both,
    distance,
    flat,
    from_tcp,
    gap,
    grasp,
    pads_around,
    tail,
    tcp,
    way,
)
from rlenvs.robotics.metaworld.fixture_rows import TASK

DOOR, SHUT_DOOR, LOCK, UNLOCK, PULL, CLOSE = TASK.codes(
    *("door-open", "door-close", "door-lock", "door-unlock", "drawer-open", "drawer-close"),
)
BUTTON, WALL, TOP, TOP_WALL, COFFEE, OPEN_WINDOW, CLOSE_WINDOW = TASK.codes(
    *("button-press", "button-press-wall", "button-press-topdown", "button-press-topdown-wall", "coffee-button"),
    *("window-open", "window-close"),
)
DIAL, OPEN_FAUCET, CLOSE_FAUCET, PRESS, PRESS_SIDE, LIFT, LIFT_SIDE, LEVER, PLATE = TASK.codes(
    *("dial-turn", "faucet-open", "faucet-close", "handle-press", "handle-press-side", "handle-pull"),
    *("handle-pull-side", "lever-pull", "plate-slide"),
)
ALOFT = (0.0, 0.055, 0.07)  # m, from the hand to the wrist's front, which pushes bolt and lever
DIAL_SIDE = (0.05, 0.02, 0.09)  # m, from the dial's point to where the hand pushes it
BUTTON_WAY = 0.0935  # m
LEVER_START = (0.12, -0.2, 0.25)  # m, of the lever's ball, from the fixture


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
def press(p, s, off):
    """Of the buttons, each in its own way."""
    away, open_part = from_tcp(s, s.thing), gap(s)
    margin = distance(s.thing, s.tcp0)
    if p.task == BUTTON or p.task == COFFEE:
        paid = 2.0 * both(open_part, tail(away, 0.0, 0.05, margin))
        return paid + 8.0 * tail(off, 0.0, 0.005, p.span) if away <= 0.05 else paid
    pressed, near = tail(off, 0.0, 0.005, BUTTON_WAY), tail(away, 0.0, 0.01, margin)
    if p.task == WALL:
        if away > 0.07:
            return 2.0 * both(0.5 * (1.0 - open_part), near)
        return 2.0 + 2.0 * (1.0 + open_part) + 4.0 * pressed * pressed
    paid = 5.0 * both(1.0 - open_part if p.task == TOP else open_part, near)
    return paid + 5.0 * pressed if away <= 0.03 else paid


@kernel
def scaled(x, y, z, a, b, c):
    """Length of a vector, m, with weights of the axes."""
    return math.sqrt((a * x) ** 2 + (b * y) ** 2 + (c * z) ** 2)


@kernel
def lock(s, off):
    """The original's margin of the way to the bolt follows the finger."""
    x, y, z = s.thing[0] - s.pads[1, 0], s.thing[1] - s.pads[1, 1], s.thing[2] - s.pads[1, 2]
    away = scaled(x, y, z, 0.25, 1.0, 0.5)
    return 2.0 * both(gap(s), tail(away, 0.0, 0.01, away)) + 8.0 * tail(off, 0.0, 0.005, 0.1)


@kernel
def wrist_to(s, point, a, b, c):
    """Weighted distance of the wrist's front from a point, m."""
    hand = s.hand
    return scaled(hand[0] - point[0], hand[1] + ALOFT[1] - point[1], hand[2] + ALOFT[2] - point[2], a, b, c)


@kernel
def wrist_at_first(s, x, y, z, a, b, c):
    """The same at the start, from between the finger tips, as the original has it, to a point of the fixture."""
    x, y, z = s.tcp0[0] - s.place[0] - x, s.tcp0[1] + ALOFT[1] - s.place[1] - y, s.tcp0[2] + ALOFT[2] - s.place[2] - z
    return scaled(x, y, z, a, b, c)


@kernel
def unlock(s, off):
    margin = wrist_at_first(s, 0.0, -0.118, 0.061, 0.25, 1.0, 0.5)
    ready = tail(wrist_to(s, s.thing, 0.25, 1.0, 0.5), 0.0, 0.02, margin)
    return 2.0 * ready + 8.0 * tail(off, 0.0, 0.005, 0.1)


@kernel
def pull_lever(s):
    margin = wrist_at_first(s, LEVER_START[0], LEVER_START[1], LEVER_START[2], 4.0, 1.0, 4.0)
    ready = tail(wrist_to(s, s.thing, 4.0, 1.0, 4.0), 0.0, 0.02, margin)
    return 10.0 * both(ready, tail(distance(s.thing, s.goal), 0.0, 0.04, 0.2 * math.sqrt(2.0)))


@kernel
def shut_door(p, s, off):
    placed = bell(off, 0.05, distance(s.place, s.goal))
    near = bell(from_tcp(s, s.goal), 0.0125, distance(p.hand, s.thing) + 0.1)
    return 10.0 if off < 0.05 else 3.0 * near + 6.0 * placed


@kernel
def turn_dial(s, a, off):
    away = margin = first = 0.0
    for k in range(3):
        away += (s.thing[k] + DIAL_SIDE[k] - tcp(s, k)) ** 2
        margin += (s.thing0[k] + DIAL_SIDE[k] - s.tcp0[k]) ** 2
        first += (s.thing0[k] + DIAL_SIDE[k] - s.goal[k]) ** 2
    placed = tail(off, 0.0, 0.07, abs(math.sqrt(first) - 0.07))
    near = bell(math.sqrt(away), 0.005, abs(math.sqrt(margin) - 0.005))
    return 10.0 * both(both(near, min(max(a[3], 0.0), 1.0)), placed)


@kernel
def turn_faucet(p, s, off):
    away = 0.0
    for k in range(3):
        away += (s.thing[k] - p.off[k] - tcp(s, k)) ** 2
    placed = tail(off, 0.0, 0.07, abs(distance(s.place, s.goal) - 0.07))
    near = bell(math.sqrt(away), 0.01, abs(distance(s.place, s.tcp0) - 0.01))
    return 10.0 if off <= 0.07 else 2.0 * (2.0 * near + 3.0 * placed)


@kernel
def press_handle(s, off):
    placed = tail(off, 0.0, 0.02, abs(abs(s.thing0[2] - s.goal[2]) - 0.02))
    near = tail(from_tcp(s, s.thing), 0.0, 0.02, abs(distance(s.thing0, s.tcp0) - 0.02))
    return 10.0 if off <= 0.02 else 10.0 * both(near, placed)


@kernel
def lift_handle(p, s, a, off):
    """The handle in front is taken to begin where its box stands, so that it always counts as lifted."""
    if off < 0.05:
        return 10.0
    if p.task == LIFT:
        placed = tail(off, 0.0, 0.05, abs(s.goal[2] - s.place[2]))
        held = grasp(s, a, s.place, pads_around(s, s.thing[1], s.place[1], 0.022, 0.05), 0.01, 1.0)
        lifted = s.thing[1] - 0.01 > s.place[2]
    else:
        placed = tail(off, 0.0, 0.05, distance(s.thing0, s.goal))
        held = grasp(s, a, s.thing0, pads_around(s, s.thing[1], s.thing0[1], 0.032, 0.06), 0.01, 1.0)
        lifted = s.thing[2] - 0.01 > s.thing0[2]
    paid = both(held, placed)
    if from_tcp(s, s.thing) < 0.035 and gap(s) > 0.0 and lifted:
        paid += 1.0 + 5.0 * placed
    return paid


@kernel
def slide_plate(p, s, off):
    if off < 0.05:
        return 10.0
    less = 0.0 if p.task == PLATE else 0.05
    away = from_tcp(s, s.thing)
    placed = tail(off, 0.0, 0.05, distance(s.place, s.goal) - less)
    near = tail(away, 0.0, 0.05, distance(s.place, s.tcp0) - less)
    if p.task == PLATE:
        return 8.0 * both(near, placed)
    return 2.0 + 7.0 * placed if tcp(s, 2) <= 0.03 and away < 0.07 else 1.5 * near


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
    if p.task == SHUT_DOOR:
        return shut_door(p, s, off)
    if p.task == LOCK:
        return lock(s, off)
    if p.task == UNLOCK:
        return unlock(s, off)
    if p.task == PULL:
        return open_drawer(s, off)
    if p.task == CLOSE:
        return close_drawer(s, a, off)
    if p.task == OPEN_WINDOW or p.task == CLOSE_WINDOW:
        return slide_window(p, s, off)
    if p.task == DIAL:
        return turn_dial(s, a, off)
    if p.task == OPEN_FAUCET or p.task == CLOSE_FAUCET:
        return turn_faucet(p, s, off)
    if p.task == PRESS or p.task == PRESS_SIDE:
        return press_handle(s, off)
    if p.task == LIFT or p.task == LIFT_SIDE:
        return lift_handle(p, s, a, off)
    if p.task == LEVER:
        return pull_lever(s)
    if p.joints == 2:
        return slide_plate(p, s, off)
    return press(p, s, off)


@kernel
def v1(p, s):
    """Version v1 of a task's reward: what is left of the thing's way is weighted by axis."""
    away = distance(s.thing, s.tips[1]) if p.by_left_finger else from_tcp(s, s.thing)
    if away >= 0.05:
        return -away
    x, y = p.ways[0] * (s.thing[0] - s.goal[0]), p.ways[1] * (s.thing[1] - s.goal[1])
    z, across = p.ways[2] * (s.thing[2] - s.goal[2]), hypot(x, y)
    left = across if z == 0.0 else math.sqrt(across * across + z * z)
    if p.task == DIAL:
        paid = 1000.0 * (p.span - left + exp(-left * left / 0.001) + exp(-left * left / 0.0001))
    else:
        paid = way(p.span if p.span >= 0.0 else flat(s.thing0, s.goal), left)
    return (paid if p.task == OPEN_WINDOW or p.task == CLOSE_WINDOW else max(paid, 0.0)) - away
