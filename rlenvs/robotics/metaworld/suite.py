"""What Meta-World's worlds have in common: declaration, page, starts, actions, observations, images.

They are two kinds: `carried`, of things with a free joint, and `fixtures`, of parts on joints. A task is a row of
`carried_rows` or `fixture_rows`, with a scene, and a reward where no other task has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlenvs.core import (
    block,
    choice,
    continuous,
    cost,
    f8,
    flag,
    kernel,
    param,
    published,
    term,
)
from rlenvs.core.declare.spec import World
from rlenvs.kits.engines.cameras import CAMERA, IMAGES, image_sizes
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.kits.engines.overlays import Way, apart, draw_ways
from rlenvs.robotics.metaworld import sawyer
from rlenvs.robotics.metaworld.blocks import gap, tcp
from rlenvs.robotics.metaworld.parts import touch_frame
from rlenvs.robotics.metaworld.rows import FAR, WXYZ, XYZW, Task, numbers

SOURCE = "Meta-World {}-v3 (Yu et al., arXiv 1910.10897; McLean et al., arXiv 2505.11289)"
STEP = 0.01  # m per control step at full action
HIGH = (0.5, 1.0, 0.5)  # m, upper bounds of the point to which the hand is welded
# m, to which the observation of the hand is clipped
HAND_LOW, HAND_HIGH = (-0.525, 0.348, -0.0525), (0.525, 1.025, 0.7)
BOUND = 10.0  # m
STRONGEST = 1000.0  # N, of forces that are reported
LEAST, MOST = -1000.0, 10_000.0  # of the reward v1; in assembly it comes to 6700
TRIES = 1000  # to draw places that are far enough apart
FRAME = 18  # numbers of an observation of one step
GAIN = 15.0  # 1/m, of scripted policies
THING = sawyer.ARM_QPOS  # where the joints of what is moved begin in qpos
DOC = """
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
position, the opening of the fingers, the position and the attitude of the thing, and seven for a second thing, zeros
where there is none. Attitudes are as in the original, whose tasks differ: x, y, z, w; w, x, y, z; or zeros.

Options append the arm's joints (`joint_state`) and contact forces (`touch`), or put images beside the numbers
(`camera`): observations are dictionaries then, of "state" and the images.

## Rewards

`reward="v2"`, the default, is Meta-World's reward of today, between 0 and 10; `reward="v1"` the one of the first paper,
without bounds. Published results of the two cannot be compared. `reward="sparse"` is 1 where the task is done. The
term `distance` has the weight 0: the negative distance that the success rule compares, in meters, with the rule's
weights of the axes.

## Costs

The original has none. `force` is by how much the force that the hand exerts on all it touches but the table, in sum,
exceeds `force_limit`: what the fingers press against each other does not count, what is pulled or pushed against its
stop does. `table` is 1 in each step in which the hand touches the table. No reward depends on them.

## Starting State

The hand is at its start, the arm and the fingers as the original's reset leaves them, which is not quite at rest.
Places are uniform in the original's boxes; where a thing and its goal are drawn, they are redrawn until they are 15 cm
apart (pegs, nuts, sticks, things for the shelf 10 cm, a lid and its box 25 cm).

## Episode End

Truncation after 500 steps (6.25 s). Success, the thing within its distance from the goal, ends nothing, as in the
original; with `ends_at_success` it does. Some tasks ask for more: a nut below the top of the peg, or above the goal; a
stick in the handle of the jug that it pulls, or between the fingers and off the table where it pushes.

## Parameters

`mass`, `friction`, `damping` and `force_limit` are contexts. Of two shapes that touch, the rougher one counts: the
table and the other fixtures have 1, the pads of the fingers 2.

## Reference Scores

Mean return over fixed seeds.

## Version History

v0: first version.
"""
PARAMS = {
    "mass": param(1.0, 0.2, 5.0, "", "of what is moved, times the original's"),
    "friction": param(1.0, 1.0, 4.0, "", "sliding friction of what is moved"),
    "damping": param(1.0, 0.1, 5.0, "", "of the joint of doors, drawers, buttons, windows, times the original's"),
    "force_limit": param(50.0, 5.0, 500.0, "N", "contact force above which there are costs"),
}
OPTIONS = {
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
    "joint_state": flag(False, doc="whether angles and rates of the seven joints are observed"),
    "touch": flag(False, doc="whether the contact force of the hand and the pressure on the finger tips are observed"),
    **CAMERA,
}
FIELDS = {
    **dict.fromkeys(("hand", "thing", "second", "mark"), f8(3)),
    **dict.fromkeys(("claws", "pads", "tips"), f8(2, 3)),
    "pressed": f8(2),  # N, on the right and the left pad
    **dict.fromkeys(("force", "table_force"), f8(3)),  # N, that the hand exerts on all it touches, and on the table
    **dict.fromkeys(("thing_attitude", "second_attitude"), f8(4)),
    **STATE,
    "place": f8(6),  # what was drawn
    "goal": f8(3),
    "tcp0": f8(3),  # between the finger tips, at the start
    "thing0": f8(3),
    "before": f8(FRAME),  # observed in the step before
}
SEEN = {
    "hand": block(3, low=-BOUND, high=BOUND, unit="m", doc="position of the hand", raw=True),
    "fingers": block(low=0.0, high=1.0, unit="10 cm", doc="opening of the fingers", raw=True),
    "thing": block(7, low=-BOUND, high=BOUND, unit="m, -", doc="position and attitude", raw=True, constant=True),
    "second": block(7, low=-BOUND, high=BOUND, unit="m, -", doc="the same of a second thing", raw=True, constant=True),
    "before": block(FRAME, low=-BOUND, high=BOUND, doc="these 18 of the step before", raw=True, constant=True),
    "goal": block(3, low=-2.0, high=2.0, unit="m", doc="zeros without `goal_visible`", raw=True, constant=True),
    "joints": block("joints", low=-4.8, high=4.8, unit="rad", doc="angles, with `joint_state`"),
    "joint_rates": block("joints", low=-10.0, high=10.0, unit="rad/s", doc="their rates"),
    "force": block("force", low=-100.0, high=100.0, unit="N", doc="that the hand exerts, world axes, with `touch`"),
    "touch": block("touch", low=0.0, high=100.0, unit="N", doc="on the right and the left pad, with `touch`"),
}
MORE = {"joint_state": 14, "touch": 5}  # numbers that an option adds to the observation
TERMS = {
    "v2": term(0.0, 10.0, 1.0, "version v2 of the reward"),
    "v1": term(LEAST, MOST, 0.0, "version v1"),
    "sparse": term(0.0, 1.0, 0.0, "1 where the task is done"),
    "distance": term(-FAR, 0.0, 0.0, "negative weighted distance from the goal, m; of the lever its angle, rad"),
}
COSTS = {
    "force": cost(1000.0, STRONGEST, "contact force above the limit, but for the table's, N"),
    "table": cost(25.0, 1.0, "1 while the hand touches the table"),
}


def goal_box(row: Task) -> tuple[Any, Any]:
    """The lowest and the highest coordinates [m] of a task's goals."""
    if row.goals:
        return row.goals
    low, high = (
        np.multiply(places[3:], row.keep) + row.goal if places[3:] else anywhere
        for places, anywhere in ((row.low, row.lowest), (row.high, HIGH))
    )
    return low, high


def of_task(task: str, rows: Mapping[str, Task]) -> dict[str, Any]:
    """Keywords of `world` and of members that a task has of its own: the published environment, whose bounds of goals
    are those of the task that is played."""

    def bounds(hand: Any, fingers: float, things: float, side: int) -> Callable[[Any], list[float]]:
        def limits(values: Any) -> list[float]:
            goals = goal_box(rows[values.task])[side] if values.goal_visible else (0.0,) * 3
            more = [things] * sum(count for option, count in MORE.items() if getattr(values, option))
            return [*(*hand, fingers, *[things] * 14) * 2, *goals, *more]

        return limits

    low, high = bounds(HAND_LOW, -1.0, -math.inf, 0), bounds(HAND_HIGH, 1.0, math.inf, 1)
    return {
        "published": published(f"Meta-World {task}-v3", "float64", low=low, high=high),
        "source": SOURCE.format(task),
    }


def sizes(values: Any) -> dict[str, int]:
    """The named sizes of SEEN and IMAGES."""
    return {
        "joints": 7 * values.joint_state,
        "force": 3 * values.touch,
        "touch": 2 * values.touch,
        **image_sizes(values),
    }


def id_of(task: str) -> str:
    """The id of a task, such as "drawer-open"."""
    return f"MetaWorld{task.title().replace('-', '')}-v0"


def declared(rows: Mapping[str, Task], choices: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """What a kind declares: its first task, and what all have in common.

    Args:
        rows: by task.
        choices: the option that chooses among them.
        data: types of the data of a row.
    """
    task, row = next(iter(rows.items()))
    return {
        "name": id_of(task),
        "doc": f"{row.summary}\n{DOC}",
        "params": PARAMS,
        "options": {"task": choices, **OPTIONS},
        "data": data,
        "state": FIELDS,
        "observation": SEEN,
        "images": IMAGES,
        "sizes": sizes,
        "action": continuous("dx", "dy", "dz", "fingers"),
        "terms": TERMS,
        "costs": COSTS,
        "horizon": 500,
        "fps": sawyer.CONTROL_HZ,
        "engine": ENGINE,
        "expert_sees": "state",
        **of_task(task, rows),
    }


def add_tasks(kind: World, rows: Mapping[str, Task]) -> None:
    """Give a kind the kernels that all have, its models and images, and a member per task."""
    kind.after_reset(after_reset)
    kind.act(act)
    kind.observe(observe)
    names = tuple(kind.data)

    @kind.make_data
    def data(values: Any) -> dict[str, Any]:
        return numbers(rows[values.task], names)

    @kind.model
    def model(values: Any) -> Any:
        spec, row = sawyer.scene(values), rows[values.task]
        row.scene(spec, values)
        if row.contacts == "one":
            sawyer.touch_once(spec)
            touch_frame(spec)
        return spec

    @kind.draw
    def draw(canvas: Any, p: Any, s: Any) -> None:
        row = tuple(rows.values())[int(p.task)]
        at = s.tips.mean(axis=0) if row.measured == "hand" else getattr(s, row.measured)
        name = "fingers" if row.measured == "hand" else row.thing
        legend = [("green", "goal", "ring"), ("orange", name, "disc")]
        left = apart(np.multiply(at, row.axes), np.multiply(np.add(s.goal, row.off), row.axes))  # of the success rule
        told = f"{name} {left} from the goal"
        draw_ways(canvas, [Way(at, s.goal, row.radius)], legend, told, view=sawyer.OVERVIEW)

    for task, row in list(rows.items())[1:]:
        kind.member(id_of(task), row.summary, task=task, **of_task(task, rows))


# --- kernels ----------------------------------------------------------------------------------------------------------


@kernel
def begin(p, s):
    """The arm, and the marks of the goal and of the hand's place, at the start, when places are drawn."""
    for j in range(sawyer.ARM_QPOS):
        s.qpos[j], s.qvel[j] = p.angles[j], p.rates[j]
    for j in range(3):
        s.goal[j] = p.keep[j] * s.place[p.last + j] + p.goal[j]
        s.mocap_pos[0, j] = p.hand[j]
        s.mocap_pos[1, j] = s.goal[j]


@kernel
def after_reset(p, s, rng):
    for j in range(3):
        s.tcp0[j] = tcp(s, j)
        s.thing0[j] = s.thing[j]
    look(p, s, s.before)


@kernel
def act(p, s, a, rng):
    look(p, s, s.before)
    for j in range(3):
        s.mocap_pos[0, j] = min(max(s.mocap_pos[0, j] + STEP * a[j], p.lowest[j]), HIGH[j])
    s.ctrl[0], s.ctrl[1] = a[3], -a[3]


@kernel
def judge(p, s, r, off, done, new, old):
    """Fill terms, costs, ends: `off` is the weighted distance from the goal, `new` and `old` the rewards v2 and v1."""
    r.success = done
    r.sparse = 1.0 if done else 0.0
    r.distance = -min(off, FAR)
    r.v2 = new
    r.v1 = min(max(old, LEAST), MOST)
    r.terminated = p.ends_at_success == 1 and done
    table = strength(s.table_force[0], s.table_force[1], s.table_force[2])
    exerted = strength(s.force[0] - s.table_force[0], s.force[1] - s.table_force[1], s.force[2] - s.table_force[2])
    r.force = min(max(exerted - p.force_limit, 0.0), STRONGEST)
    r.table = 1.0 if table > 0.0 else 0.0


@kernel
def strength(x, y, z):
    """Of a force, N."""
    return math.sqrt(x * x + y * y + z * z)


@kernel
def look(p, s, seen):
    """The 18 numbers that are observed of one step."""
    for j in range(3):
        seen[j] = min(max(s.hand[j], HAND_LOW[j]), HAND_HIGH[j])
        seen[4 + j] = min(max(s.thing[j], -BOUND), BOUND)
        seen[11 + j] = min(max(s.second[j], -BOUND), BOUND)
    seen[3] = gap(s)
    for j in range(4):
        seen[14 + j] = s.second_attitude[j]
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


@kernel
def observe(p, s, o):
    now = o.before
    look(p, s, now)
    for j in range(3):
        o.hand[j] = now[j]
        o.goal[j] = s.goal[j] if p.goal_visible else 0.0
    o.fingers = now[3]
    for j in range(7):
        o.thing[j] = now[4 + j]
        o.second[j] = now[11 + j]
    for j in range(FRAME):
        o.before[j] = s.before[j]
    if p.joint_state:
        for j in range(sawyer.JOINTS):
            o.joints[j], o.joint_rates[j] = s.qpos[j], s.qvel[j]
    if p.touch:
        for j in range(3):
            o.force[j] = s.force[j]
        for j in range(2):
            o.touch[j] = s.pressed[j]


@kernel
def head(s, x, y, z, fingers, a):
    """Actions that bring the hand to a place."""
    a[0] = min(max(GAIN * (x - s.hand[0]), -1.0), 1.0)
    a[1] = min(max(GAIN * (y - s.hand[1]), -1.0), 1.0)
    a[2] = min(max(GAIN * (z - s.hand[2]), -1.0), 1.0)
    a[3] = fingers
