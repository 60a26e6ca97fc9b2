"""Meta-World's rewards, versions v2 and v1, as in package metaworld 3.1.1.

A version v2 is between 0 and 10 and made of two blocks: tolerances, 1 within a bound and decreasing to 0.1 at a margin
beyond it, and Hamacher products of these, which are near 1 where both are. A version v1 has no bounds: it is the
negative distance to the thing, and pays for its way to the goal while the hand is there.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.core.declare.maths import exp, hypot, log
from rlenvs.robotics.metaworld.tasks import HAND, MARK, TASK

REACH, PUSH, PICK, DOOR, PULL, CLOSE, BUTTON, PEG, OPEN_WINDOW, CLOSE_WINDOW = TASK.codes(
    *("reach", "push", "pick-place", "door-open", "drawer-open", "drawer-close", "button-press-topdown"),
    *("peg-insert-side", "window-open", "window-close"),
)
TAIL, BELL = 9.0, -math.log(0.1)  # of the two shapes of tolerances: 0.1 at the margin
PEG_TIP = (-0.1, 0.6, 0.015)  # m, where the original takes the peg's tip to be at the start, whatever was drawn
HELD_HEIGHT = 0.04  # m, above its place on the table at which a thing counts as picked up in version v1
PEG_HEIGHT = 0.11  # m, the same of the peg


@kernel
def distance(a, b):
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@kernel
def beyond(x, low, high, margin):
    """How far x is outside of [low, high], in margins; -1 inside."""
    if low <= x <= high:
        return -1.0
    return (low - x if x < low else x - high) / margin if margin != 0.0 else 1e6


@kernel
def tail(x, low, high, margin):
    """Tolerance with a long tail."""
    far = beyond(x, low, high, margin)
    return 1.0 if far < 0.0 else 1.0 / (1.0 + TAIL * far * far)


@kernel
def bell(x, high, margin):
    """Tolerance of the shape of a normal distribution, above 0."""
    far = beyond(x, 0.0, high, margin)
    return 1.0 if far < 0.0 else exp(-BELL * far * far)


@kernel
def both(a, b):
    """The Hamacher product."""
    whole = a + b - a * b
    return a * b / whole if whole > 0.0 else 0.0


@kernel
def gap(s):
    """Opening of the fingers as observed: 0 to 1."""
    d = distance(s.claws[0], s.claws[1])
    return min(d / 0.1, 1.0)


@kernel
def tcp(s, k):
    """Coordinate k of the point between the finger tips, m."""
    return 0.5 * (s.tips[0, k] + s.tips[1, k])


@kernel
def from_tcp(s, point):
    """Distance of a point from that between the finger tips, m."""
    x, y, z = point[0] - tcp(s, 0), point[1] - tcp(s, 1), point[2] - tcp(s, 2)
    return math.sqrt(x * x + y * y + z * z)


@kernel
def measure(p, s):
    """Weighted distance of the measured point from the goal, m."""
    total = 0.0
    for k in range(3):
        at = s.thing[k]
        if p.measured == HAND:
            at = tcp(s, k)
        elif p.measured == MARK:
            at = s.mark[k]
        total += (p.axes[k] * (at - s.goal[k])) ** 2
    return math.sqrt(total)


@kernel
def pads_around(s, y, start, radius, reach):
    """How well a thing at y, `start` in the beginning, lies between the pads: nearer than `reach`, but not closer than
    its radius."""
    right, left = s.pads[0, 1], s.pads[1, 1]
    return both(
        tail(abs(left - y), radius, reach, abs(abs(left - start) - reach)),
        tail(abs(right - y), radius, reach, abs(abs(right - start) - reach)),
    )


@kernel
def pads_around_puck(s, y, radius, reach):
    """The same for pick-place, in which the margin follows the pads."""
    right, left = y - s.pads[0, 1], s.pads[1, 1] - y
    return both(
        tail(left, radius, reach, abs(abs(left) - reach)),
        tail(right, radius, reach, abs(abs(right) - reach)),
    )


@kernel
def grasp(s, a, start, around, xz):
    """How well the fingers hold the thing, which was at `start`: `around` for the pads, their tips nearer than `xz` in
    the plane across them, and their effort."""
    off = hypot(s.thing[0] - tcp(s, 0), s.thing[2] - tcp(s, 2))
    margin = hypot(start[0] - s.tcp0[0], start[2] - s.tcp0[2]) - xz
    caged = both(around, tail(off, 0.0, xz, margin))
    effort = min(max(a[3], 0.0), 1.0) if caged > 0.97 else 0.0
    return 0.5 * (both(caged, effort) + caged)


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
    if p.task == REACH:
        return 10.0 * tail(off, 0.0, 0.05, distance(p.hand, s.goal))
    if p.task == PUSH:
        return push(p, s, a, off)
    if p.task == PICK:
        return pick_and_place(p, s, a, off)
    if p.task == PEG:
        return insert(p, s, a, off)
    if p.task == DOOR:
        return open_door(s, a, off)
    if p.task == PULL:
        return open_drawer(s, off)
    if p.task == CLOSE:
        return close_drawer(s, a, off)
    if p.task == BUTTON:
        return press(s, off)
    return slide_window(p, s, off)


# --- version v1 -------------------------------------------------------------------------------------------------------


@kernel
def way(span, left):
    """What version v1 pays for a way: `left` of `span`, m."""
    return 1000.0 * (span - left + exp(-left * left / 0.01) + exp(-left * left / 0.001))


@kernel
def flat(a, b):
    """Horizontal distance of two points, m."""
    return hypot(a[0] - b[0], a[1] - b[1])


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
    if away >= 0.05:
        return -away
    if p.task == PUSH or p.task == DOOR:
        return max(way(flat(s.thing0, s.goal), flat(s.thing, s.goal)), 0.0) - away
    if p.task == PULL:
        return max(way(0.2, abs(s.thing[1] - s.goal[1])), 0.0) - away
    if p.task == CLOSE:
        return max(way(0.15, abs(s.thing[1] - s.goal[1])), 0.0) - away
    if p.task == BUTTON:
        return max(way(0.0935, abs(s.thing[2] - s.goal[2])), 0.0) - away
    return way(0.2, abs(s.thing[0] - s.goal[0])) - away
