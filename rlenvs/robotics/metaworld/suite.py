"""Reach: move the hand of a Sawyer arm to a goal in the air.

## Description

A task of Meta-World (Yu et al., arXiv 1910.10897; package metaworld 3.1.1), the benchmark of multi-task and meta
reinforcement learning: all tasks share one arm, one action and one observation, so that one network can learn all of
them. The arm is built in code; its hand moves as the original's (within 0.3 mm over 100 random actions), and places,
objects' dimensions, success rules and rewards are the original's. Different: `reset(seed=)` repeats thing and goal, and
every episode draws new ones; the observation of an episode's start is that of its first state in every task; shapes
are boxes, cylinders and capsules, which is what the original's objects are to contacts; objects start exactly as they
were drawn, on MuJoCo of today instead of 3.3.0.

## Action Space

The first three numbers move the point to which the hand is welded, by up to 1 cm per axis, in a box. The fourth is the
effort of the fingers: 1 closes them, -1 opens them. The weld is soft: the hand hangs half a centimeter lower.

## Observation Space

39 numbers, float64: 18 of this step, the same of the step before (in an episode's first observation, of the same
step), and the goal (with `goal_visible=False` zeros, as for meta reinforcement learning). The 18 are the hand's
position, the opening of the fingers, the position and the attitude of the thing, and seven for a second thing, which
are 0 in these tasks. Attitudes are as in the original, whose tasks differ: x, y, z, w of pucks, pegs and the door's
handle; w, x, y, z of the drawer to be opened and the button; zeros of windows and the drawer to be closed.

## Rewards

`reward="v2"`, the default, is Meta-World's reward of today, between 0 and 10; `reward="v1"` the one of the first paper,
without bounds. Published results of the two cannot be compared. `reward="sparse"` is 1 where the task is done. The
term `distance` has the weight 0: the negative distance that the success rule compares, in meters, with the rule's
weights of the axes.

## Costs

None.

## Starting State

The hand is at its start, the arm and the fingers as the original's reset leaves them, which is not quite at rest.
Places are uniform in the original's boxes; where a thing and its goal are drawn, they are redrawn until they are 15 cm
apart (a peg and its block, 10 cm).

## Episode End

Truncation after 500 steps (6.25 s). Success, the thing within its distance from the goal, ends nothing, as in the
original; with `ends_at_success` it does.

## Parameters

`mass`, `friction` and `damping` are contexts. Of two shapes that touch, the rougher one counts: the table and the other
fixtures have 1, the pads of the fingers 2.

## Reference Scores

Mean return over fixed seeds.

## Version History

v0: first version.
"""

import math

import numpy as np

from rlenvs.core import (
    block,
    choice,
    continuous,
    f8,
    flag,
    kernel,
    param,
    published,
    term,
    uniform,
    world,
)
from rlenvs.core.declare.maths import cos, hypot, sin
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.kits.engines.overlays import Way, apart, draw_ways
from rlenvs.robotics.metaworld import sawyer
from rlenvs.robotics.metaworld.rewards import DOOR, gap, measure, tcp, v1, v2
from rlenvs.robotics.metaworld.scenes import HANDLE, SCENES
from rlenvs.robotics.metaworld.tasks import DATA, FAR, HAND, TASK, TASKS, WXYZ, XYZW, numbers

SOURCE = "Meta-World {}-v3 (Yu et al., arXiv 1910.10897; McLean et al., arXiv 2505.11289)"
STEP = 0.01  # m per control step at full action
LOW, HIGH = (-0.5, 0.4, 0.05), (0.5, 1.0, 0.5)  # m, where the point may be to which the hand is welded
# m, to which the observation of the hand is clipped
HAND_LOW, HAND_HIGH = (-0.525, 0.348, -0.0525), (0.525, 1.025, 0.7)
BOUND = 10.0  # m
TRIES = 1000  # to draw places that are far enough apart
FRAME = 18  # numbers of an observation of one step
TIP = 0.045  # m, from the hand down to its finger tips
GAIN = 15.0  # 1/m, of the scripted policy
SWING = 0.2  # rad, by which the scripted policy goes ahead of the door
THING = sawyer.ARM_QPOS  # where the joint of what is moved begins in qpos


def least(values):
    """The lower bounds of the published observations."""
    return observed(values, HAND_LOW, -1.0, -math.inf, LOW, TASKS[values.task].low)


def largest(values):
    """The upper bounds of the published observations."""
    return observed(values, HAND_HIGH, 1.0, math.inf, HIGH, TASKS[values.task].high)


def observed(values, hand, fingers, things, anywhere, drawn):
    """Numbers for the parts of an observation; for the goal, those of what is drawn, where a task draws goals."""
    goal = np.add(drawn[3:], TASKS[values.task].goal) if drawn[3:] else anywhere
    return [*(*hand, fingers, *[things] * 14) * 2, *(goal if values.goal_visible else (0.0, 0.0, 0.0))]


def original(task):
    """The published environment of a task."""
    return published(f"Meta-World {task}-v3", "float64", low=least, high=largest)


SPEC = world(
    "MetaWorldReach-v0",
    doc=__doc__,
    source=SOURCE.format("reach"),
    params={
        "mass": param(1.0, 0.2, 5.0, "", "of what is moved, times the original's"),
        "friction": param(1.0, 1.0, 4.0, "", "sliding friction of what is moved"),
        "damping": param(1.0, 0.1, 5.0, "", "of the joint of doors, drawers, buttons, windows, times the original's"),
    },
    options={
        "task": TASK,
        "reward": choice(
            *("v2", "v1", "sparse"),
            doc="the version of the reward",
            sets={
                "v2": {},
                "v1": {"v2": 0.0, "v1": 1.0},
                "sparse": {"v2": 0.0, "sparse": 1.0},
            },
        ),
        "goal_visible": flag(True, doc="whether the goal is observed; otherwise the last three numbers are 0"),
        "ends_at_success": flag(False, doc="whether the episode ends at success"),
    },
    data=DATA,
    state={
        **dict.fromkeys(("hand", "thing", "mark"), f8(3)),
        **dict.fromkeys(("claws", "pads", "tips"), f8(2, 3)),
        "thing_attitude": f8(4),
        **STATE,
        "place": f8(6),  # what was drawn
        "goal": f8(3),
        "tcp0": f8(3),  # between the finger tips, at the start
        "thing0": f8(3),
        "before": f8(FRAME),  # observed in the step before
    },
    observation={
        "hand": block(3, low=-BOUND, high=BOUND, unit="m", doc="position of the hand", raw=True),
        "fingers": block(low=0.0, high=1.0, unit="10 cm", doc="opening of the fingers", raw=True),
        "thing": block(7, low=-BOUND, high=BOUND, unit="m, -", doc="position and attitude", raw=True, constant=True),
        "second": block(7, low=-1.0, high=1.0, doc="zeros", raw=True, constant=True),
        "before": block(FRAME, low=-BOUND, high=BOUND, doc="these 18 of the step before", raw=True, constant=True),
        "goal": block(3, low=-2.0, high=2.0, unit="m", doc="zeros without `goal_visible`", raw=True, constant=True),
    },
    action=continuous("dx", "dy", "dz", "fingers"),
    terms={
        "v2": term(0.0, 10.0, 1.0, "version v2 of the reward"),
        "v1": term(-1000.0, 5000.0, 0.0, "version v1"),
        "sparse": term(0.0, 1.0, 0.0, "1 where the task is done"),
        "distance": term(-FAR, 0.0, 0.0, "negative weighted distance from the goal, m"),
    },
    horizon=500,
    fps=sawyer.CONTROL_HZ,
    engine=ENGINE,
    published=original("reach"),
    expert_sees="state",
    probe={"mass": {"task": "push"}, "friction": {"task": "push"}, "damping": {"task": "drawer-close"}},
)


@SPEC.make_data
def data(values):
    return numbers(TASKS[values.task])


@SPEC.model
def model(values):
    spec = sawyer.scene(values)
    SCENES[values.task](spec, values)
    return spec


@SPEC.reset
def reset(p, s, rng):
    for j in range(sawyer.ARM_QPOS):
        s.qpos[j], s.qvel[j] = p.angles[j], p.rates[j]
    for _ in range(TRIES):
        for j in range(6):
            s.place[j] = uniform(rng, p.low[j], p.high[j])
        if hypot(s.place[0] - s.place[3], s.place[1] - s.place[4]) >= p.clear or p.last == 0:
            break
    for j in range(3):
        if p.free:
            s.qpos[THING + j] = s.place[j]
        last = s.place[p.last + j]
        s.goal[j] = last + p.goal[j]
        s.mocap_pos[0, j] = p.hand[j]
        s.mocap_pos[1, j] = s.goal[j]
        if p.fixture:
            s.mocap_pos[2, j] = last
    if not p.free:
        s.qpos[THING] = p.joint


@SPEC.after_reset
def after_reset(p, s, rng):
    for j in range(3):
        s.tcp0[j] = tcp(s, j)
        s.thing0[j] = s.thing[j]
    look(p, s, s.before)


@SPEC.act
def act(p, s, a, rng):
    look(p, s, s.before)
    for j in range(3):
        s.mocap_pos[0, j] = min(max(s.mocap_pos[0, j] + STEP * a[j], LOW[j]), HIGH[j])
    s.ctrl[0], s.ctrl[1] = a[3], -a[3]


@SPEC.outcome
def outcome(p, s, a, rng, r):
    off = measure(p, s)
    r.success = off <= p.radius
    r.sparse = 1.0 if r.success else 0.0
    r.distance = -min(off, FAR)
    r.v2 = v2(p, s, a, off)
    r.v1 = min(max(v1(p, s, a), -1000.0), 5000.0)
    r.terminated = p.ends_at_success == 1 and r.success


@kernel
def look(p, s, seen):
    """The 18 numbers that are observed of one step."""
    for j in range(3):
        seen[j] = min(max(s.hand[j], HAND_LOW[j]), HAND_HIGH[j])
        seen[4 + j] = min(max(s.thing[j], -BOUND), BOUND)
    seen[3] = gap(s)
    q = s.thing_attitude
    if p.attitude == WXYZ:
        for j in range(4):
            seen[7 + j] = q[j]
    elif p.attitude == XYZW:  # of the two quaternions of an attitude the one whose largest number is positive
        largest = 0
        for j in range(1, 4):
            if abs(q[j]) > abs(q[largest]):
                largest = j
        sign = 1.0 if q[largest] >= 0.0 else -1.0
        for j in range(4):
            seen[7 + j] = sign * q[(j + 1) % 4]


@SPEC.observe
def observe(p, s, o):
    now = o.before
    look(p, s, now)
    for j in range(3):
        o.hand[j] = now[j]
        o.goal[j] = s.goal[j] if p.goal_visible else 0.0
    o.fingers = now[3]
    for j in range(7):
        o.thing[j] = now[4 + j]
    for j in range(FRAME):
        o.before[j] = s.before[j]


# --- the scripted policy ----------------------------------------------------------------------------------------------


@kernel
def head(s, x, y, z, fingers, a):
    """Actions that bring the hand to a place."""
    a[0] = min(max(GAIN * (x - s.hand[0]), -1.0), 1.0)
    a[1] = min(max(GAIN * (y - s.hand[1]), -1.0), 1.0)
    a[2] = min(max(GAIN * (z - s.hand[2]), -1.0), 1.0)
    a[3] = fingers


@kernel
def bring(p, s, a):
    """Bring the thing that the fingers hold to its seat, by the way of `via` until it is in line with it."""
    x, y, z = s.goal[0] + p.seat[0], s.goal[1] + p.seat[1], s.goal[2] + p.seat[2]
    aligned = hypot(s.thing[1] - y, s.thing[2] - z) < 0.01
    if p.via[0] > 0.0 and not aligned:
        x += p.via[0]
    head(s, s.hand[0] + x - s.thing[0], s.hand[1] + y - s.thing[1], s.hand[2] + z - s.thing[2], 1.0, a)


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
    if p.measured == HAND:
        head(s, s.goal[0], s.goal[1], s.goal[2] + TIP, 0.0, a)
        return
    if p.task == DOOR:
        open_door(p, s, a)
        return
    x, y, z = s.thing[0] + p.lead[0], s.thing[1] + p.lead[1], s.thing[2] + p.lead[2]
    if aside(p, s, x, y, z) > p.aside:
        head(s, x, y, z + p.above, p.fingers, a)
    elif abs(s.hand[2] - z) > p.apart:
        head(s, x, y, z, p.fingers, a)
    elif not p.carried:
        work(p, s, a)
    elif gap(s) > p.held:
        head(s, x, y, z, 1.0, a)
    else:
        bring(p, s, a)


@SPEC.draw
def draw(canvas, p, s):
    task = tuple(TASKS.values())[int(p.task)]
    at = s.thing if task.measured == "thing" else s.mark if task.measured == "mark" else s.tips.mean(axis=0)
    name = "fingers" if task.measured == "hand" else task.thing
    legend = [("green", "goal", "ring"), ("orange", name, "disc")]
    told = f"{name} {apart(at, s.goal)} from the goal"
    draw_ways(canvas, [Way(at, s.goal, task.radius)], legend, told, view=sawyer.OVERVIEW)


for name, row in TASKS.items():
    if name != "reach":
        id = f"MetaWorld{name.title().replace('-', '')}-v0"
        SPEC.member(id, row.summary, task=name, published=original(name), source=SOURCE.format(name))


def world_of(task):
    """The world of a task of Meta-World, such as "drawer-open"."""
    worlds = (SPEC, *SPEC.members.values())
    return next(each for each in worlds if each.options["task"].default == task)
