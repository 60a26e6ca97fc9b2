"""The kind of Meta-World's tasks in which something is carried or pushed."""

from rlenvs.core import kernel, uniform, world
from rlenvs.core.declare.maths import hypot
from rlenvs.robotics.metaworld.blocks import gap, measure
from rlenvs.robotics.metaworld.carried_rewards import v1, v2
from rlenvs.robotics.metaworld.carried_rows import DATA, TASK, TASKS
from rlenvs.robotics.metaworld.rows import HAND
from rlenvs.robotics.metaworld.suite import THING, TRIES, add_tasks, begin, declared, head, judge

TIP = 0.045  # m, from the hand down to its finger tips

SPEC = world(**declared(TASKS, TASK, DATA), probe={name: {"task": "push"} for name in ("mass", "friction")})
add_tasks(SPEC, TASKS)


@SPEC.reset
def reset(p, s, rng):
    for _ in range(TRIES):
        for j in range(6):
            s.place[j] = uniform(rng, p.low[j], p.high[j])
        if hypot(s.place[0] - s.place[3], s.place[1] - s.place[4]) >= p.clear or p.last == 0:
            break
    begin(p, s)
    for j in range(3):
        s.qpos[THING + j] = s.place[j]
        if p.fixture:
            s.mocap_pos[2, j] = s.place[p.last + j]


@SPEC.outcome
def outcome(p, s, a, rng, r):
    off = measure(p, s)
    judge(p, s, r, off, off <= p.radius, v2(p, s, a, off), v1(p, s, a))


@kernel
def bring(p, s, a):
    """Bring the thing that the fingers hold to its seat, by the way of `via` until it is in line with it."""
    x, y, z = s.goal[0] + p.seat[0], s.goal[1] + p.seat[1], s.goal[2] + p.seat[2]
    aligned = hypot(s.thing[1] - y, s.thing[2] - z) < 0.01
    if p.via[0] > 0.0 and not aligned:
        x += p.via[0]
    head(s, s.hand[0] + x - s.thing[0], s.hand[1] + y - s.thing[1], s.hand[2] + z - s.thing[2], 1.0, a)


@SPEC.expert
def expert(p, s, a):
    """Above the aim, down to it, and with the thing to the goal."""
    if p.measured == HAND:
        head(s, s.goal[0], s.goal[1], s.goal[2] + TIP, 0.0, a)
        return
    x, y, z = s.thing[0] + p.lead[0], s.thing[1] + p.lead[1], s.thing[2] + p.lead[2]
    if hypot(s.hand[0] - x, s.hand[1] - y) > p.aside:
        head(s, x, y, z + p.above, p.fingers, a)
    elif abs(s.hand[2] - z) > p.apart:
        head(s, x, y, z, p.fingers, a)
    elif gap(s) > p.held:
        head(s, x, y, z, 1.0, a)
    else:
        bring(p, s, a)
