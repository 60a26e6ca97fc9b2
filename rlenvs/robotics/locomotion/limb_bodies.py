"""PlanarWalkers: walk forwards on whichever of six bodies, each of them a walker from which limbs were taken.

## Description

The planar robots of Huang, Mordatch and Pathak, "One policy to control them all: shared modular policies for
agent-agnostic control" (ICML 2020, huangwl18/modular-rl): trees of limbs from which limbs are taken out, for one policy
that moves all that is left. A torso slides and pitches in the plane of x and z; a motor turns each hinge. What the
policy sees and does is listed limb by limb, in places that are the same for all bodies of a tree, so a batch has a
different body in each world: `body` is a parameter. PlanarBodies-v0 has all 32 bodies of the four trees in places that
fit each of them: the paper's sets WHH++ (the first 17: walkers, humanoids, hoppers) and CWHH++ (with cheetahs, all).
`rlenvs.robotics.locomotion.limb_trees` has `prune`, which makes further bodies and refuses those that fall apart, and
`adjacency`, which limbs hang at each other.

Models have the masses, shapes, hinges, motors and contacts of the original's; they are made by taking limbs out of one
tree. Empty places are filled with hinges without weight that touch nothing, which changes the motion by rounding
errors.

Different from the original, whose reading of positions overwrites them: the position along x of every limb is that from
the torso (there it is so for the torso alone, and the others have that from the start); all readings are those of the
state after the step, not of the last physics step but one; the humanoid's limbs show their types (there, names of
joints are looked for among names of limbs, so none is found). The original's names ending in "flipped" are the same
bodies as those ending in "main"; its learner passes messages in the other order.

## Action Space

For each place but the torso's the torque of its hinge, as a fraction of the motor's largest. That of an empty place
does nothing and costs nothing.

## Observation Space

For each place 19 numbers, not scaled: position of the limb's origin, along x from the torso's (3), its velocity,
clipped to [-10, 10] (3), angular velocity (3), rotation as an axis times its angle (3), which of four types it is (4),
the angle of its hinge in its range, from 0 to 1, and both ends of this range, where 0 and 1 are -180 and 180 degrees
(3). Empty places are zero. Then for each place 1 where there is a limb, else 0: the mask.

## Rewards

`forward` is the velocity along x in this step [m/s], `alive` is 1 in every step, `control` is the negative sum of
squares of the actions. Weights are 1, 1 and 0.001; for cheetahs 1, 0 and 0.1. In PlanarBodies-v0, whose bodies share
the weights, the terms of cheetahs are multiplied instead: `alive` is 0, `control` 100 times as large.

## Costs

None.

## Starting State

The body stands upright; all positions and velocities are uniform within `noise`.

## Episode End

Walkers, humanoids and hoppers fall: the torso's height leaves the range of its body, or it pitches by more than 1 rad;
hoppers too when a number of the state reaches 100. Cheetahs go on. After 1000 steps the episode is truncated. Success
is not defined.

## Parameters

`body` is the number of the body, rounded down: that of its level, from 0 on. `randomize={"body": (0.0, 6.0)}` draws one
for each episode, and `make_batch(id, 6, body=[0, 1, 2, 3, 4, 5])` gives each world its own. `strength`, `damping`
and `friction` multiply the original's.

## Reference Scores

Mean return over fixed seeds, of the whole body. The expert is an open-loop oscillator for each joint (Raffin et al.,
RLJ 2024), whose numbers were found by `benchmarks/oscillators.py` for each body; it knows the time, which is not
observed.

## Version History

v0: first version.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from rlenvs.core import block, f8, kernel, term, uniform, world
from rlenvs.core.declare.maths import atan2
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion import limbs_planar as trees
from rlenvs.robotics.locomotion.limb_trees import Body, Tree, slots
from rlenvs.robotics.locomotion.limb_worlds import (
    CONTEXTS,
    MOTION,
    PRESENT,
    TABLE,
    build,
    clipped,
    declared,
    member,
    number_of,
    show_places,
    table,
)
from rlenvs.robotics.locomotion.oscillators import GAITS, PI, RHYTHM, WAVE, follow
from rlenvs.robotics.locomotion.robots import BOUND, FASTEST, effort

SEEN = 19  # numbers of each limb
ROOT = 3  # joints of the torso
TINY = 1.1920928955078125e-07  # the original adds it to a length before it divides by that
FASTEST_LIMB = 10.0  # m/s, up to which it is observed
TREES = {  # whole trees and their bodies, by the world's name
    "PlanarWalkers-v0": (trees.WALKER, trees.WALKERS),
    "PlanarHumanoids-v0": (trees.HUMANOID, trees.HUMANOIDS),
    "PlanarCheetahs-v0": (trees.CHEETAH, trees.CHEETAHS),
    "PlanarHoppers-v0": (trees.HOPPER, trees.HOPPERS),
    "PlanarBodies-v0": (trees.PLACES, trees.ALL),
}


def data_of(tree: Tree, bodies: dict[str, Body]) -> dict[str, np.ndarray]:
    """What kernels need of bodies, what they are paid and their gaits too."""
    gaits = np.zeros((len(bodies), RHYTHM + WAVE * (len(tree.limbs) - 1)))
    for b, (name, body) in enumerate(bodies.items()):
        gaits[b, :RHYTHM] = GAITS[name][:RHYTHM]
        for j, i in enumerate(slots(tree, body)[1:]):
            gaits[b, RHYTHM + WAVE * (i - 1) :][:WAVE] = GAITS[name][RHYTHM + WAVE * j :][:WAVE]
    runs = np.array([tree is trees.PLACES and body.tree is trees.CHEETAH for body in bodies.values()])
    pay = {"alive": np.where(runs, 0.0, 1.0), "toll": np.where(runs, 100.0, 1.0)}  # elsewhere weights say so
    return {**table(tree, bodies), **pay, "gait": gaits}


def own_of(name: str) -> dict[str, Any]:
    """What a world declares of its own."""
    tree, bodies = TREES[name]
    return declared(tree, bodies, numbers=RHYTHM + WAVE * (len(tree.limbs) - 1))


OWN = own_of("PlanarWalkers-v0")
SPEC = world(
    "PlanarWalkers-v0",
    doc=__doc__,
    source="Huang, Mordatch and Pathak (ICML 2020), huangwl18/modular-rl",
    params={
        "body": OWN.pop("body"),
        **CONTEXTS,
    },
    state={
        "x": f8,
        **STATE,
        **MOTION,
    },
    observation={
        "limbs": block(
            "limbs",
            SEEN,
            low=-BOUND,
            high=BOUND,
            unit="m, m/s, rad/s, rad",
            doc="by limb: place, velocity, spin, rotation, type, joint",
            raw=True,
            constant=True,
        ),
        "present": PRESENT,
    },
    terms={
        "forward": term(-FASTEST, FASTEST, 1.0, "velocity along x, m/s"),
        "alive": term(0.0, 1.0, 1.0, "1 in every step"),
        "control": term(-8.0, 0.0, 0.001, "negative sum of squares of the actions"),
    },
    data={
        **TABLE,
        "alive": f8("bodies"),
        "toll": f8("bodies"),
        "gait": f8("bodies", "numbers"),
    },
    horizon=1000,
    engine=ENGINE,
    expert_sees="state",
    **OWN,
)


@SPEC.make_data
def make_data(values):
    return data_of(*TREES[SPEC.name])


@SPEC.model
def model(values):
    return build(TREES[SPEC.name], values)


def other(name: str, summary: str, **changes: Any) -> Any:
    """The world of the bodies of another tree."""
    return member(SPEC, name, summary, TREES[name], own_of(name), data=data_of(*TREES[name]), **changes)


HUMANOIDS = other(
    "PlanarHumanoids-v0",
    "PlanarHumanoids: walk forwards on whichever of eight bodies, each of them a humanoid from which limbs were taken.",
)
CHEETAHS = other(
    "PlanarCheetahs-v0",
    "PlanarCheetahs: run forwards on whichever of fifteen bodies, each of them a cheetah from which limbs were taken.",
    terms={
        **SPEC.terms,
        "alive": replace(SPEC.terms["alive"], weight=0.0),
        "control": replace(SPEC.terms["control"], weight=0.1),
    },
)
HOPPERS = other(
    "PlanarHoppers-v0",
    "PlanarHoppers: hop forwards on whichever of three bodies, with two to four links below the torso.",
)
BODIES = other(
    "PlanarBodies-v0",
    "PlanarBodies: move forwards on whichever of 32 bodies, walkers, humanoids, hoppers and cheetahs in one batch.",
    terms={**SPEC.terms, "control": replace(SPEC.terms["control"], low=-600.0)},
)


@SPEC.reset
def reset(p, s, rng):
    b = number_of(p)
    s.qpos[1] = p.start[b]
    for j in range(s.qpos.size):
        if j < ROOT or p.present[b, j - ROOT + 1] == 1:
            s.qpos[j] += uniform(rng, -p.noise, p.noise)
    for j in range(s.qvel.size):
        if j < ROOT or p.present[b, j - ROOT + 1] == 1:
            s.qvel[j] = uniform(rng, -p.noise, p.noise)
    s.x = s.qpos[0]


@SPEC.act
def act(p, s, a, rng):
    b = number_of(p)
    for j in range(a.size):
        s.ctrl[j] = a[j] if p.present[b, j + 1] == 1 else 0.0


@SPEC.outcome
def outcome(p, s, a, rng, r):
    b = number_of(p)
    r.forward = clipped((s.qpos[0] - s.x) / p.dt[b], FASTEST)
    r.alive, r.control = p.alive[b], -p.toll[b] * effort(s.ctrl)
    s.x = s.qpos[0]
    r.terminated = not is_healthy(p, s, b)


@kernel
def is_healthy(p, s, b):
    """Whether body b stands: its height, its pitch, and that no number is too large."""
    if not (p.healthy[b, 0] < s.qpos[1] and s.qpos[1] < p.healthy[b, 1] and abs(s.qpos[2]) < p.tilt[b]):
        return False
    for j in range(s.qvel.size):
        if abs(s.qvel[j]) >= p.largest[b] or (j > 1 and abs(s.qpos[j]) >= p.largest[b]):
            return False
    return True


@SPEC.observe
def observe(p, s, o):
    b = number_of(p)
    show_places(p, o)
    for i in range(s.place.shape[0]):
        if p.present[b, i] == 1:
            observe_limb(p, s, o, b, i)


@kernel
def observe_limb(p, s, o, b, i):
    """Fill what is observed of limb i."""
    for k in range(3):
        o.limbs[i, k] = clipped(s.place[i, k], BOUND)
        o.limbs[i, 3 + k] = clipped(s.velocity[i, k], FASTEST_LIMB)
        o.limbs[i, 6 + k] = clipped(s.spin[i, k], BOUND)
    o.limbs[i, 0] = clipped(s.place[i, 0] - s.place[0, 0], BOUND)
    half = math.sqrt(s.turn[i, 1] * s.turn[i, 1] + s.turn[i, 2] * s.turn[i, 2] + s.turn[i, 3] * s.turn[i, 3])
    angle = 2.0 * atan2(half, s.turn[i, 0])
    if angle > PI:
        angle -= 2.0 * PI
    for k in range(3):
        o.limbs[i, 9 + k] = angle * s.turn[i, 1 + k] / (half + TINY)
    if p.type[b, i] >= 0:
        o.limbs[i, 12 + p.type[b, i]] = 1.0
    if i > 0:
        low, high = p.range[b, i, 0, 0], p.range[b, i, 0, 1]
        o.limbs[i, 16] = (s.qpos[ROOT + i - 1] - low) / (high - low)
        o.limbs[i, 17], o.limbs[i, 18] = 0.5 + low / (2.0 * PI), 0.5 + high / (2.0 * PI)


@SPEC.expert
def expert(p, s, a):
    b = number_of(p)
    time = p.dt[b] * s.elapsed
    for j in range(a.size):
        a[j] = 0.0
        if p.present[b, j + 1] == 1:
            a[j] = follow(p.gait[b], j, s.qpos[ROOT + j], s.qvel[ROOT + j], time)


@SPEC.draw
def draw(canvas, p, s):
    count = int(np.sum(p.present[number_of(p)]))
    canvas.caption(f"{s.x:.1f} m run", f"{float(s.qvel[0]):.1f} m/s, {count} limbs")
