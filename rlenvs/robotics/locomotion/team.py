"""MultiWalker2d: walk on two legs, each of which is an agent.

## Description

MaMuJoCo of Gymnasium-Robotics (`mamujoco_v1`; Peng et al., "FACMAC: Factored Multi-Agent Centralised Policy Gradients",
NeurIPS 2021; Farama Foundation, Apache 2.0 license): the joints of one of Gymnasium's bodies are shared out among
agents, which see the joints near their own and receive the reward of the whole body. The cost is that of
Safety-Gymnasium's multi-agent velocity tasks (Ji et al., NeurIPS 2023), with its limit for each partition; partitions
and bodies without one have that of the nearest. Spaces are those of MaMuJoCo, float64 without bounds; with
`scaled=True` observations are float32 and bounded. Different: numbers beyond 1000, and contact forces beyond a million,
are clipped in observations; contact forces are those that MuJoCo computes at the beginning of the last physics step;
the central state is float32. `compat=True` repeats mistakes of MaMuJoCo's observations: CoupledHalfCheetah's first
cheetah sees the joints of the second, Humanoid's joints y and z of the abdomen are exchanged, and the segments of
ManySegmentAnt see numbers of other joints, change their motors, and see hips of the segment in front only.

## Action Space

Of each agent the torques of its joints, in the order of the partition, as in the environment of one agent.

`partition` is a name, which every page lists among its levels, or the names of the joints of each agent, such as
`[["thigh_joint", "leg_joint", "foot_joint"], ["thigh_left_joint", "leg_left_joint", "foot_left_joint"]]`: each joint
once.

## Observation Space

Own joints, and those up to `obsk` joints away: nearer ones first, then by name. Of own joints position and velocity,
of others the position. Then, for all agents, height, attitude and velocities of the torso; swimmers see its heading and
its rate, those with many segments nothing of it. Of own joints MultiAnt and ManySegmentAnt also show the contact forces
on the parts of the body that meet there, in [-1, 1], MultiHumanoid inertias, velocities, torques and contact forces,
and the back thighs of CoupledHalfCheetah the rope: how its length changes with x and z of both cheetahs, its length,
and the rate of that. Agents with fewer numbers are padded with zeros in batches. The central state is the observation
of the environment of one agent.

## Rewards

All agents receive the same: `forward` is the mean velocity along x in this step [m/s], `healthy` 1 while the body is
healthy (which bodies without such a rule always are), `control` the negative sum of squares of all actions, and
`contact` that of contact forces. The weights are those of the body of one agent, 0 where it has no such reward.
CoupledHalfCheetah has means over both cheetahs.

## Costs

`velocity`: 1 in every step in which the body is faster than `speed_limit`, swimmers forwards, all others in any
direction.

## Starting State

As for the body of one agent.

## Episode End

For all agents at once: when the body is not healthy (unless `ends_when_unhealthy` is False), or after 1000 steps.
Success is not defined.

## Parameters

`strength` multiplies all torques, `mass` the mass of the body, `friction` its sliding friction, for swimmers the
density of the fluid.

## Reference Scores

Mean return of all agents together over fixed seeds. There is no scripted expert.

## Version History

v0: first version.
"""

import math
from typing import Any

from rlenvs.core import (
    at_most,
    block,
    cost,
    f8,
    flag,
    i4,
    integer,
    kernel,
    maths,
    normal,
    param,
    term,
    uniform,
    world,
)
from rlenvs.core.declare.canvas import AGENT_COLORS
from rlenvs.core.declare.options import data_option
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion import ant, half_cheetah, hopper, humanoid, partitions, swimmer, team_models, walker2d
from rlenvs.robotics.locomotion.partitions import CINERT, CONTACT, CVEL, PAGE, QPOS, QVEL, ROPE, SLOW, TORQUE, TOUCH
from rlenvs.robotics.locomotion.robots import COST_LIMIT, DT, FASTEST, PARAMS, bounded, tell
from rlenvs.robotics.locomotion.sharing import CENTER, MOST_JOINTS, TORSO, Shared, in_segments

HARDEST = 1e6  # N m, N, bound of contact forces observed
CLIPPED = 10.0  # m/s, rad/s, of velocities where they are clipped
WORST = 2e7  # bound of squares of contact forces
ANY = 1000.0  # m, rad, beyond everything healthy
SECOND = 8  # the torso of the second cheetah


def terms(control, healthy=0.0, forward=1.0, contact=0.0):
    """The reward terms with these weights."""
    return {
        "forward": term(-FASTEST, FASTEST, forward, "velocity along x, m/s"),
        "healthy": term(0.0, 1.0, healthy, "1 while healthy"),
        "control": term(-float(MOST_JOINTS), 0.0, control, "negative sum of squares of all actions"),
        "contact": term(-WORST, 0.0, contact, "negative sum of squares of contact forces"),
    }


WALKER = Shared(
    body=lambda partition, compat: partitions.walker(),
    model=lambda values, body: team_models.single(walker2d.SPEC, values),
    partition="2x3",
    frame_skip=4,
    dt=walker2d.DT,
)
SPEC = world(
    "MultiWalker2d-v0",
    doc=__doc__,
    source="Gymnasium-Robotics mamujoco_v1 (Peng et al., NeurIPS 2021); Safety-Gymnasium (Ji et al., NeurIPS 2023)",
    agents=True,
    params={
        "strength": PARAMS["strength"],
        "noise": param(0.005, 0.0, 0.3, "", "noise of the start, of positions and velocities"),
        "mass": param(1.0, 0.4, 2.5, "", "of the body, as a multiple of the original's"),
        "friction": param(1.0, 0.1, 4.0, "", "sliding friction, of swimmers density of the fluid, as a multiple"),
        "lowest": param(
            0.8, -2.0 * ANY, 1.3, "m", "height from which on the torso is healthy; y of swimmers", limit=True
        ),
        "highest": param(
            2.0, -1.0, 2.0 * ANY, "m", "height up to which the torso is healthy; y of swimmers", limit=True
        ),
        "tilt": param(
            1.0, 0.02, 2.0 * ANY, "rad", "tilt below which the torso is healthy; heading of swimmers", limit=True
        ),
        "speed_limit": param(1.641, 0.01, 10.0, "m/s", "speed above which there is a cost", limit=True),
    },
    options={
        "partition": WALKER.option(),
        "obsk": data_option(integer(1, 0, 2 * MOST_JOINTS, "how many joints away others are seen")),
        "compat": data_option(flag(False, "whether observations have the mistakes of MaMuJoCo's")),
        "ends_when_unhealthy": flag(True, "whether the episode ends when the body is not healthy"),
    },
    data={
        "look": i4("agents", "numbers"),
        "motors": i4("agents", "moves"),
        "whole": i4("state_numbers"),
        **Shared.DATA,
    },
    state={
        "xpos": f8("placed", 3),
        "subtree_com": f8("centered", 3),
        "cinert": f8("weighed", 10),
        "cvel": f8("weighed", 6),
        "qfrc_actuator": f8("torques"),
        "cfrc_ext": f8("touched", 6),
        "ten_length": f8("ropes"),
        "ten_velocity": f8("ropes"),
        "x": f8,
        "y": f8,
        **STATE,
    },
    observation={
        "seen": block("numbers", low=-HARDEST, high=HARDEST, doc="see the text", raw=True, constant=True),
    },
    central={"state": block("state_numbers", low=-HARDEST, high=HARDEST, doc="of the whole", raw=True, constant=True)},
    terms=terms(healthy=1.0, control=0.001),
    costs={"velocity": cost(COST_LIMIT, 1.0, "faster than the limit")},
    horizon=1000,
    engine=ENGINE,
    constraints=(at_most("lowest", "highest", doc="no height is healthy; lower `lowest`"),),
    levels={"2x3": {}},
    **WALKER.keywords("Walker2d"),
)
WALKER.hang(SPEC)


@kernel
def place(p, s):
    """Where the body is, along x and y [m]."""
    if p.place == TORSO:
        return s.xpos[1, 0], s.xpos[1, 1]
    if p.place == CENTER:
        return s.subtree_com[0, 0], s.subtree_com[0, 1]
    return 0.5 * (s.qpos[0] + s.qpos[p.second]), 0.0


@kernel
def tilt(p, s):
    """The angle between the torso and the model's [rad]: of flat bodies in their plane, of others from upright."""
    if p.pitch >= 0:
        return abs(s.qpos[p.pitch])
    w, x, y, z = s.qpos[3], s.qpos[4], s.qpos[5], s.qpos[6]
    return 2.0 * maths.atan2(math.sqrt(x * x + y * y), math.sqrt(w * w + z * z))


@kernel
def fine(p, s):
    """Whether the body is healthy."""
    well = p.lowest <= s.qpos[p.height] and s.qpos[p.height] <= p.highest and tilt(p, s) < p.tilt
    for j in range(2, s.qpos.size):
        well = well and abs(s.qpos[j]) < p.most_number
    for j in range(s.qvel.size):
        well = well and abs(s.qvel[j]) < p.most_number
    return well


@kernel
def pressed(p, s):
    """Sum of the squares of contact forces."""
    total = 0.0
    for i in range(s.cfrc_ext.shape[0]):
        for j in range(6):
            force = min(max(s.cfrc_ext[i, j], -p.hardest), p.hardest)
            total += force * force
    return min(total, WORST)


@SPEC.reset
def reset(p, s, rng):
    for j in range(s.qpos.size):
        s.qpos[j] += uniform(rng, -p.noise, p.noise)
    for j in range(s.qvel.size):
        s.qvel[j] = p.noise * normal(rng) if p.normal == 1 else uniform(rng, -p.noise, p.noise)


@SPEC.after_reset
def after_reset(p, s, rng):
    s.x, s.y = place(p, s)


@SPEC.act
def act(p, s, a, rng):
    for k in range(p.motors.shape[0]):
        for j in range(p.motors.shape[1]):
            motor = p.motors[k, j]
            if motor >= 0:
                s.ctrl[motor] = a[k, j]


@SPEC.outcome
def outcome(p, s, a, rng, r):
    x, y = place(p, s)
    vx, vy = (x - s.x) / p.dt, (y - s.y) / p.dt
    s.x, s.y = x, y
    speed = vx if p.forwards == 1 else math.sqrt(vx * vx + vy * vy)
    well, force, squares = fine(p, s), pressed(p, s), 0.0
    for j in range(s.ctrl.size):
        squares += s.ctrl[j] * s.ctrl[j]
    for k in range(p.motors.shape[0]):
        r.forward[k] = min(max(vx, -FASTEST), FASTEST)
        r.healthy[k] = 1.0 if well else 0.0
        r.control[k], r.contact[k] = -squares, -force
        r.velocity[k] = 1.0 if speed > p.speed_limit else 0.0
        r.terminated[k] = p.ends_when_unhealthy == 1 and not well


@kernel
def rope(s, j):
    """Of the rope: the changes of its length with x and z of the first and the second cheetah, its length [m], and the
    rate of that [m/s]."""
    if j == 4:
        return s.ten_length[0]
    if j == 5:
        return s.ten_velocity[0]
    along = s.xpos[SECOND, 2 * (j % 2)] - s.xpos[1, 2 * (j % 2)]
    return (along if j > 1 else -along) / max(s.ten_length[0], 1e-9)


@kernel
def number(p, s, code):
    """The number behind a code."""
    j, array = code % PAGE, code - code % PAGE
    value = 0.0
    if array == QPOS:
        value = bounded(s.qpos[j])
    elif array == QVEL:
        value = bounded(s.qvel[j])
    elif array == SLOW:
        value = min(max(s.qvel[j], -CLIPPED), CLIPPED)
    elif array == CINERT:
        value = bounded(s.cinert[j // 10, j % 10])
    elif array == CVEL:
        value = bounded(s.cvel[j // 6, j % 6])
    elif array == TORQUE:
        value = bounded(s.qfrc_actuator[j])
    elif array == CONTACT:
        value = min(max(s.cfrc_ext[j // 6, j % 6], -HARDEST), HARDEST)
    elif array == TOUCH:
        value = min(max(s.cfrc_ext[j // 6, j % 6], -1.0), 1.0)
    elif array == ROPE:
        value = bounded(rope(s, j))
    return value


@SPEC.observe
def observe(p, s, k, o):
    for j in range(o.seen.size):
        o.seen[j] = number(p, s, p.look[k, j])


@SPEC.central_state
def central_state(p, s, o):
    for j in range(o.state.size):
        o.state[j] = number(p, s, p.whole[j])


@SPEC.draw
def draw(canvas, p, s):
    agents = p.motors.shape[0]
    if agents <= len(AGENT_COLORS):
        canvas.legend(*[(AGENT_COLORS[k], f"agent {k}", "disc") for k in range(agents)])
    tell(canvas, s, math.hypot(s.qvel[0], s.qvel[1]), p.speed_limit)


# --- members ----------------------------------------------------------------------------------------------------------

HOPPER = Shared(
    body=lambda partition, compat: partitions.hopper(),
    model=lambda values, body: team_models.single(hopper.SPEC, values),
    partition="3x1",
    frame_skip=4,
    dt=hopper.DT,
    most_number=100.0,
)
HALF_CHEETAH = Shared(
    body=lambda partition, compat: partitions.cheetah(),
    model=lambda values, body: team_models.single(half_cheetah.SPEC, values),
    partition="6x1",
    frame_skip=5,
    dt=DT,
    normal=1,
)
OF_ANTS: dict[str, Any] = {
    "frame_skip": 5,
    "dt": DT,
    "place": TORSO,
    "height": 2,
    "pitch": -1,
    "normal": 1,
    "hardest": 1.0,
}
ANT = Shared(
    body=lambda partition, compat: partitions.ant(),
    model=lambda values, body: team_models.single(ant.SPEC, values),
    partition="4x2",
    **OF_ANTS,
)
HUMANOID = Shared(
    body=lambda partition, compat: partitions.humanoid(compat),
    model=lambda values, body: team_models.single(humanoid.SPEC, values),
    partition="9|8",
    frame_skip=5,
    dt=humanoid.DT,
    strongest=humanoid.STRONGEST,
    place=CENTER,
    height=2,
    pitch=-1,
)
SWIMMER = Shared(
    body=lambda partition, compat: partitions.swimmer(),
    model=lambda values, body: team_models.single(swimmer.SPEC, values),
    partition="2x1",
    frame_skip=4,
    dt=swimmer.DT,
    forwards=1,
)
CHEETAHS = Shared(
    body=lambda partition, compat: partitions.coupled(compat),
    model=lambda values, body: team_models.coupled_cheetahs(values),
    partition="1p1",
    frame_skip=5,
    dt=DT,
    second=9,
    normal=1,
)
LONG_SWIMMER = Shared(
    body=in_segments(lambda agents, segments, compat: partitions.long_swimmer(agents, segments), 1, 2),
    model=lambda values, body: team_models.long_swimmer(values, len(body.joints)),
    partition="10x2",
    frame_skip=4,
    dt=swimmer.DT,
    forwards=1,
)
LONG_ANT = Shared(
    body=in_segments(partitions.long_ant, 4, 1),
    model=lambda values, body: team_models.long_ant(values, len(body.joints) // 4),
    partition="2x3",
    **OF_ANTS,
)
ANT_TERMS = terms(healthy=1.0, control=0.5, contact=5e-4)
ANT_HEALTH = {"lowest": 0.2, "highest": 1.0, "tilt": ANY, "noise": 0.1}
ALWAYS = {"lowest": -ANY, "highest": ANY, "tilt": ANY, "noise": 0.1}


def member(shared, name, summary, **changes):
    """A body as a member of the kind."""
    made = SPEC.member(name, summary, partition=shared.option(), **shared.keywords(changes.pop("original")), **changes)
    shared.hang(made)
    return made


MULTI_HOPPER = member(
    HOPPER,
    "MultiHopper-v0",
    "MultiHopper: hop on one leg, each joint of which is an agent.",
    original="Hopper",
    terms=terms(healthy=1.0, control=0.001),
    lowest=0.7,
    highest=ANY,
    tilt=0.2,
    speed_limit=0.9613,
    levels={"3x1": {}},
)
MULTI_HALF_CHEETAH = member(
    HALF_CHEETAH,
    "MultiHalfCheetah-v0",
    "MultiHalfCheetah: run on two legs, each joint or each leg of which is an agent.",
    original="HalfCheetah",
    terms=terms(control=0.1),
    **ALWAYS,
    speed_limit=2.932,
    levels={"6x1": {}, "2x3": {"partition": "2x3", "speed_limit": 3.227}},
)
MULTI_ANT = member(
    ANT,
    "MultiAnt-v0",
    "MultiAnt: walk on four legs, which are two or four agents.",
    original="Ant",
    terms=ANT_TERMS,
    **ANT_HEALTH,
    speed_limit=2.418,
    levels={
        "4x2": {},
        "2x4": {"partition": "2x4", "speed_limit": 2.522},
        "2x4d": {"partition": "2x4d", "speed_limit": 2.522},
    },
)
MULTI_HUMANOID = member(
    HUMANOID,
    "MultiHumanoid-v0",
    "MultiHumanoid: walk upright, upper body one agent, legs the other.",
    original="Humanoid",
    terms=terms(forward=1.25, healthy=5.0, control=0.1, contact=5e-7),
    lowest=1.0,
    tilt=ANY,
    noise=0.01,
    speed_limit=0.58,
    levels={"9|8": {}},
)
MULTI_SWIMMER = member(
    SWIMMER,
    "MultiSwimmer-v0",
    "MultiSwimmer: swim by bending two joints, each of which is an agent.",
    original="Swimmer",
    terms=terms(control=0.0001),
    **ALWAYS,
    speed_limit=0.04891,
    levels={"2x1": {}},
)
COUPLED_HALF_CHEETAH = member(
    CHEETAHS,
    "CoupledHalfCheetah-v0",
    "CoupledHalfCheetah: two cheetahs, each an agent, run side by side on a rope.",
    original="CoupledHalfCheetah",
    terms=terms(control=0.05),
    **ALWAYS,
    speed_limit=2.932,
    levels={"1p1": {}},
)
MANY_SEGMENT_SWIMMER = member(
    LONG_SWIMMER,
    "ManySegmentSwimmer-v0",
    "ManySegmentSwimmer: swim with many joints, two for each of ten agents.",
    original="ManySegmentSwimmer",
    terms=terms(control=0.0001),
    **{
        **ALWAYS,  # MuJoCo cannot move a long light swimmer that starts fast in a dense fluid
        "noise": param(0.1, 0.0, 0.12, "", "noise of the start, of positions and velocities"),
        "mass": param(1.0, 0.7, 2.5, "", "of the body, as a multiple of the original's"),
        "friction": param(1.0, 0.1, 1.4, "", "density of the fluid, as a multiple of the original's"),
    },
    speed_limit=0.04891,
    levels={"10x2": {}, "6x1": {"partition": "6x1"}},
)
MANY_SEGMENT_ANT = member(
    LONG_ANT,
    "ManySegmentAnt-v0",
    "ManySegmentAnt: walk on six pairs of legs in a row, three for each of two agents.",
    original="ManySegmentAnt",
    terms=ANT_TERMS,
    **ANT_HEALTH,
    speed_limit=2.418,
    levels={"2x3": {}, "3x1": {"partition": "3x1"}},
)
