"""The kind of Meta-World's tasks of fixtures: doors, drawers, buttons, windows, whose parts move on joints."""

import math

from rlenvs.core import kernel, uniform, world
from rlenvs.core.declare.maths import cos, hypot, sin
from rlenvs.robotics.metaworld.blocks import gap, measure
from rlenvs.robotics.metaworld.fixture_rewards import LEVER, v1, v2
from rlenvs.robotics.metaworld.fixture_rows import DATA, TASK, TASKS
from rlenvs.robotics.metaworld.suite import GAIN, THING, add_tasks, begin, declared, head, judge

SWING = 0.2  # rad, by which the scripted policy goes ahead of what turns, at most
BEHIND = 0.06  # m
UPRIGHT = 0.3  # rad from upright, where the lever is held
LEANING = 0.05  # m, by which the hand is drawn to hold it

SPEC = world(
    **declared(TASKS, TASK, DATA),
    probe={name: {"task": "drawer-close"} for name in ("mass", "friction", "damping", "force_limit")},
)
add_tasks(SPEC, TASKS)


@SPEC.reset
def reset(p, s, rng):
    for j in range(6):
        s.place[j] = uniform(rng, p.low[j], p.high[j])
    begin(p, s)
    at = 0 if p.at_first else p.last
    for j in range(3):
        s.mocap_pos[2, j] = s.place[at + j] + p.stand[j]
        if p.has_loose:
            s.qpos[THING + p.joints + j] = s.place[at + j] + p.loose[j]
    for j in range(p.joints):
        s.qpos[THING + j] = p.joint[j]


@kernel
def off_goal(p, s):
    """Weighted distance from the goal, m; of the lever, its angle from upright, rad."""
    return abs(0.5 * math.pi + s.qpos[THING]) if p.task == LEVER else measure(p, s)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    off = off_goal(p, s)
    judge(p, s, r, off, off <= p.radius, v2(p, s, a, off), v1(p, s))


# --- the scripted policy ----------------------------------------------------------------------------------------------


@kernel
def around(p, s, x, y, angle):
    """The place that lies at (x, y) of the axes of what turns, from its axis, when it has this angle."""
    axis_x, axis_y = s.place[0] + p.pivot[0], s.place[1] + p.pivot[1]
    return axis_x + x * cos(angle) - y * sin(angle), axis_y + x * sin(angle) + y * cos(angle)


@kernel
def turn(p, s, a):
    """Beside the bar, and with it around its axis."""
    x, y, angle = p.bar[0] + p.lead[0], p.bar[1] + p.lead[1], s.qpos[THING]
    at_x, at_y = around(p, s, x, y, angle)
    low = abs(s.hand[2] - s.thing[2] - p.lead[2]) < p.apart
    off = hypot(s.hand[0] - at_x, s.hand[1] - at_y)
    if off < p.stroke and low:
        left = min(max((s.thing[p.along] - s.goal[p.along]) / p.gain, -SWING), SWING)
        to_x, to_y = around(p, s, x, y, angle - left)
        head(s, to_x, to_y, s.thing[2] + p.lead[2], p.fingers, a)
    else:
        head(s, at_x, at_y, s.thing[2] + p.lead[2] + (0.0 if off < p.aside else p.above), p.fingers, a)


@kernel
def towards(p, s, k):
    """Coordinate k of where the hand moves the thing to the goal: across the direction of `push`, only so far that it
    stays behind the thing."""
    way = s.goal[k] - s.thing[k]
    if p.push[1 - k] != 0.0:
        return s.thing[k] + p.lead[k] + min(max(way, -BEHIND), BEHIND)
    return s.hand[k] + way


@kernel
def work(p, s, a):
    """Move the hand in the direction of `push`, or towards the goal, until the thing is there."""
    if p.towards:
        x, y = towards(p, s, 0), towards(p, s, 1)
        head(s, x, y, s.thing[2] + p.lead[2] + p.push[2], p.fingers, a)
        return
    strong, left = math.sqrt(p.push[0] ** 2 + p.push[1] ** 2 + p.push[2] ** 2), 0.0
    for j in range(3):
        left += (s.goal[j] - s.thing[j]) * p.push[j] / strong
    part = min(max(left / strong, 0.0), 1.0)
    x, y, z = s.hand[0] + part * p.push[0], s.hand[1] + part * p.push[1], s.hand[2] + part * p.push[2]
    head(s, x, y, z, p.fingers if p.held == 1.0 else 1.0, a)


@kernel
def height(p, s):
    """Where the hand works."""
    return s.place[2] + p.level if p.level != 0.0 else s.thing[2] + p.lead[2]


@kernel
def press(p, s, a):
    """Draw the hand in the direction of `push`, or back, and after its aim in the others."""
    strong, left = 0.0, 0.0
    for j in range(3):
        strong += p.push[j] ** 2
        left += (s.goal[j] - s.thing[j]) * p.push[j]
    part = min(max(left / strong, -1.0), 1.0)
    for j in range(3):
        way = (height(p, s) if j == 2 else s.thing[j] + p.lead[j]) - s.hand[j]
        if p.push[j] != 0.0:
            way = s.hand[j] + part * p.push[j] - s.mocap_pos[0, j]
        a[j] = min(max(GAIN * way, -1.0), 1.0)
    a[3] = p.fingers


@kernel
def hold_lever(p, s, a):
    """Press as much as keeps the lever, which swings back, upright."""
    ahead = s.hand[1] + LEANING + s.goal[1] - s.thing[1] - s.mocap_pos[0, 1]
    head(s, s.thing[0] + p.lead[0], s.hand[1], s.thing[2] + p.lead[2], p.fingers, a)
    a[1] = min(max(GAIN * ahead, -1.0), 1.0)


@kernel
def aside(p, s, x, y, z):
    """Horizontal distance of the hand from its aim, m; where it works, its way forward does not count."""
    off_x, off_y = s.hand[0] - x, s.hand[1] - y
    if p.stroke > 0.0 and abs(s.hand[2] - z) < p.apart:
        strong = hypot(p.push[0], p.push[1])
        along = min(max((off_x * p.push[0] + off_y * p.push[1]) / strong, 0.0), p.stroke)
        off_x, off_y = off_x - along * p.push[0] / strong, off_y - along * p.push[1] / strong
    return hypot(off_x, off_y)


@SPEC.expert
def expert(p, s, a):
    """Above the aim, down to it, and then to work."""
    if p.gain != 0.0:
        turn(p, s, a)
        return
    if p.task == LEVER and off_goal(p, s) < UPRIGHT:
        hold_lever(p, s, a)
        return
    x, y, z = s.thing[0] + p.lead[0], s.thing[1] + p.lead[1], height(p, s)
    if aside(p, s, x, y, z) > p.aside:
        head(s, x, y, z + p.above, p.fingers, a)
    elif abs(s.hand[2] - z) > p.apart:
        head(s, x, y, z, p.fingers, a)
    elif gap(s) > p.held:
        head(s, x, y, z, 1.0, a)
    elif p.follows:
        press(p, s, a)
    else:
        work(p, s, a)
