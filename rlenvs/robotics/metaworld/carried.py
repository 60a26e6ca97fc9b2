"""The kind of Meta-World's tasks in which something is carried, pushed or swept."""

from rlenvs.core import kernel, uniform, world
from rlenvs.core.declare.maths import hypot
from rlenvs.robotics.metaworld.blocks import flat, gap, measure
from rlenvs.robotics.metaworld.carried_rewards import (
    ASSEMBLY,
    DISASSEMBLE,
    JUG,
    STICK_PULL,
    STICK_PUSH,
    hooked,
    v2,
)
from rlenvs.robotics.metaworld.carried_rewards_v1 import v1
from rlenvs.robotics.metaworld.carried_rows import DATA, FIRST, LAST, TASK, TASKS
from rlenvs.robotics.metaworld.rows import HAND
from rlenvs.robotics.metaworld.suite import THING, TRIES, add_tasks, begin, declared, head, judge

TIP = 0.045  # m, from the hand down to its finger tips
NEAR = 0.03  # m, horizontally from the goal, where the hand comes down behind a wall
ALIGNED = 0.01  # m, from the way to the goal, where a thing is in line with it

PROBE = {
    **{name: {"task": "push"} for name in ("mass", "friction")},
    "damping": {"task": "stick-push"},
    "force_limit": {"task": "hand-insert"},
}
SPEC = world(**declared(TASKS, TASK, DATA), probe=PROBE)
add_tasks(SPEC, TASKS)


@SPEC.reset
def reset(p, s, rng):
    for _ in range(TRIES):
        for j in range(6):
            s.place[j] = uniform(rng, p.low[j], p.high[j])
        if hypot(s.place[0] - s.place[3], s.place[1] - s.place[4]) >= p.clear:
            break
    begin(p, s)
    for j in range(3):
        s.qpos[THING + j] = s.place[j] + p.rest[j]
        if p.fixture == FIRST:
            s.mocap_pos[2, j] = s.place[j] + p.stand[j]
        elif p.fixture == LAST:
            s.mocap_pos[2, j] = s.place[3 + j] + p.stand[j]
    for j in range(4):
        s.qpos[THING + 3 + j] = p.pose[j]


@SPEC.outcome
def outcome(p, s, a, rng, r):
    off = measure(p, s)
    done = off <= p.radius
    if p.task == ASSEMBLY:
        done = done and s.mark[2] < s.goal[2]
    elif p.task == DISASSEMBLE:
        done = s.thing[2] > s.goal[2]
        off = 0.0 if done else off
    elif p.task == STICK_PULL:
        done = done and hooked(s)
    elif p.task == STICK_PUSH:  # with the stick between the pads, off the table
        done = done and s.pressed[0] > 0.0 and s.pressed[1] > 0.0 and s.thing[2] - 0.01 > s.place[2]
    judge(p, s, r, off, done, v2(p, s, a, off, done), v1(p, s, a))


@kernel
def bring(p, s, a):
    """Bring the thing that the fingers hold to its seat, by the way of `via` until it is in line with it, and not aside
    before it is `over` the table."""
    x, y, z = s.goal[0] + p.seat[0], s.goal[1] + p.seat[1], s.goal[2] + p.seat[2]
    if p.task == STICK_PUSH:  # straight on, whatever the goal
        y = JUG[1]
    dx, dy, dz = x - s.thing[0], y - s.thing[1], z - s.thing[2]
    length = p.via[0] ** 2 + p.via[1] ** 2 + p.via[2] ** 2
    if length > 0.0:
        along = (dx * p.via[0] + dy * p.via[1] + dz * p.via[2]) / length
        across = (dx - along * p.via[0]) ** 2 + (dy - along * p.via[1]) ** 2 + (dz - along * p.via[2]) ** 2
        if across > ALIGNED * ALIGNED:
            x, y, z = x + p.via[0], y + p.via[1], z + p.via[2]
    if s.thing[2] < p.over and hypot(dx, dy) > NEAR:
        x, y, z = s.thing[0], s.thing[1], max(z, p.over + NEAR)
    head(s, s.hand[0] + x - s.thing[0], s.hand[1] + y - s.thing[1], s.hand[2] + z - s.thing[2], 1.0, a)


@kernel
def hook(s, a):
    """The stick into the handle, and with it to the goal."""
    x, y, z = s.second[0] - s.thing[0], s.second[1] - s.thing[1], s.second[2] - s.thing[2]
    if s.mark[0] > s.second[0] + ALIGNED and abs(y) < 0.04 and abs(z) < 0.06:
        x, y = s.goal[0] - s.second[0], s.goal[1] - s.second[1]
    elif hypot(y, z) > ALIGNED and s.mark[0] < s.second[0]:
        x -= 0.12
    head(s, s.hand[0] + x, s.hand[1] + y, s.hand[2] + z, 1.0, a)


@kernel
def reach(p, s, a):
    """Straight to the goal, or over the wall and down."""
    z = s.goal[2] + TIP
    head(s, s.goal[0], s.goal[1], max(z, p.over) if flat(s.hand, s.goal) > NEAR else z, 0.0, a)


@SPEC.expert
def expert(p, s, a):
    """Above the aim, down to it, and with the thing to the goal."""
    if p.measured == HAND:
        reach(p, s, a)
        return
    x, y, z = s.thing[0] + p.lead[0], s.thing[1] + p.lead[1], s.thing[2] + p.lead[2]
    if gap(s) > p.held:
        y = min(max(y, p.inside[0]), p.inside[1])
    if hypot(s.hand[0] - x, s.hand[1] - y) > p.aside:
        head(s, x, y, z + p.above, p.fingers, a)
    elif abs(s.hand[2] - z) > p.apart:
        head(s, x, y, z, p.fingers, a)
    elif gap(s) > p.held:
        head(s, x, y, z, 1.0, a)
    elif p.task == STICK_PULL:
        hook(s, a)
    else:
        bring(p, s, a)
