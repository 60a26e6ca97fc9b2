"""The kind of Meta-World's tasks of fixtures: doors, drawers, buttons, windows, whose parts move on joints."""

import math

from rlenvs.core import kernel, uniform, world
from rlenvs.core.declare.maths import cos, hypot, sin
from rlenvs.robotics.metaworld.blocks import measure
from rlenvs.robotics.metaworld.fixture_rewards import DOOR, v1, v2
from rlenvs.robotics.metaworld.fixture_rows import DATA, TASK, TASKS
from rlenvs.robotics.metaworld.fixture_scenes import HANDLE
from rlenvs.robotics.metaworld.suite import THING, add_tasks, begin, declared, head, judge

SWING = 0.2  # rad, by which the scripted policy goes ahead of the door

SPEC = world(
    **declared(TASKS, TASK, DATA),
    probe={name: {"task": "drawer-close"} for name in ("mass", "friction", "damping")},
)
add_tasks(SPEC, TASKS)


@SPEC.reset
def reset(p, s, rng):
    for j in range(6):
        s.place[j] = uniform(rng, p.low[j], p.high[j])
    begin(p, s)
    for j in range(3):
        s.mocap_pos[2, j] = s.place[p.last + j]
    s.qpos[THING] = p.joint


@SPEC.outcome
def outcome(p, s, a, rng, r):
    off = measure(p, s)
    judge(p, s, r, off, off <= p.radius, v2(p, s, a, off), v1(p, s))


# --- the scripted policy ----------------------------------------------------------------------------------------------


@kernel
def around_hinge(s, x, y, angle):
    """The place that lies at (x, y) of the door's axes, from its hinge, when the door has this angle."""
    hinge_x, hinge_y = s.place[0] - 0.185, s.place[1] - 0.1
    return hinge_x + x * cos(angle) - y * sin(angle), hinge_y + x * sin(angle) + y * cos(angle)


@kernel
def open_door(p, s, a):
    """Behind the handle's bar, and with it around the hinge."""
    x, y, angle = HANDLE[0] + p.lead[0], HANDLE[1] + p.lead[1], s.qpos[THING]
    at_x, at_y = around_hinge(s, x, y, angle)
    low = abs(s.hand[2] - s.thing[2] - p.lead[2]) < p.apart
    off = hypot(s.hand[0] - at_x, s.hand[1] - at_y)
    if off < p.stroke and low:
        left = min(max((s.thing[0] - s.goal[0]) / HANDLE[0], -SWING), SWING)
        to_x, to_y = around_hinge(s, x, y, angle - left)
        head(s, to_x, to_y, s.thing[2] + p.lead[2], p.fingers, a)
    else:
        head(s, at_x, at_y, s.thing[2] + p.lead[2] + (0.0 if off < p.aside else p.above), p.fingers, a)


@kernel
def work(p, s, a):
    """Move the hand in the direction of `push`, until the thing is at the goal."""
    strong, left = math.sqrt(p.push[0] ** 2 + p.push[1] ** 2 + p.push[2] ** 2), 0.0
    for j in range(3):
        left += (s.goal[j] - s.thing[j]) * p.push[j] / strong
    part = min(max(left / strong, 0.0), 1.0)
    head(s, s.hand[0] + part * p.push[0], s.hand[1] + part * p.push[1], s.hand[2] + part * p.push[2], p.fingers, a)


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
    if p.task == DOOR:
        open_door(p, s, a)
        return
    x, y, z = s.thing[0] + p.lead[0], s.thing[1] + p.lead[1], s.thing[2] + p.lead[2]
    if aside(p, s, x, y, z) > p.aside:
        head(s, x, y, z + p.above, p.fingers, a)
    elif abs(s.hand[2] - z) > p.apart:
        head(s, x, y, z, p.fingers, a)
    else:
        work(p, s, a)
