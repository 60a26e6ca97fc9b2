"""SpatialWalkers: run to a far target on whichever of eight bodies, each of them a walker from which limbs were taken.

## Description

The robots in three dimensions of Chen, Xue, Zhang et al., "Subequivariant graph reinforcement learning in 3D
environments" (ICML 2023, alpc91/SGRL): trees of limbs from which limbs are taken out, for one policy that moves all
that is left. The torso is free, and three hinges hold each limb. As in PlanarWalkers-v0 what the policy sees and does
is listed limb by limb, in places that are the same for all bodies of a tree, and `body` is a parameter: a batch has a
different body in each world. SpatialBodies-v0 has all 29 bodies of the four trees in places that fit each of them: the
sets WHH++ (the first 19: walkers, humanoids, hoppers) and CWHH++ (with cheetahs, all). The paper trains on some bodies
and holds others out; `rlenvs.robotics.locomotion.limbs_spatial.HELD_OUT` has the names of these.

Models have the masses, shapes, hinges, motors and contacts of the original's. Empty places are filled with hinges
without weight that touch nothing, which changes the motion by rounding errors.

Different from the original: all readings are those of the state after the step, not of the last physics step but one;
an episode ends by the pitch and roll after the step, not before it; a target is drawn around the torso, not around the
origin. Its versions "v2" have targets at 10 to 20 m: `nearest=10.0, farthest=20.0`.

## Action Space

For each place but the torso's the torques of its three hinges, as fractions of the motors' largest. Some motors have
none. Those of an empty place do nothing and cost nothing.

## Observation Space

For each place 41 numbers, not scaled: the place of the limb's origin from the torso's (3), gravity (3), the direction
to the target along x and y (2), a zero, velocity, clipped to [-10, 10] (3), angular velocity (3), the axes of the three
hinges (9), their angles (3), of each its angle in its range, from 0 to 1, and both ends of this range, where 0 and 1
are -180 and 180 degrees (9), which of four types the limb is (4), the height of its origin (1). Empty places are zero.
Then for each place 1 where there is a limb, else 0: the mask.

## Rewards

`approach` is the velocity towards the target in this step [m/s], `ahead` the velocity in the direction in which the
torso faced before it [m/s], `alive` is 1 in every step, `control` is the negative sum of squares of the actions.
Weights are 1, 1, 1 and 0.001; hoppers have none for `ahead`, cheetahs none for `alive`; in SpatialBodies-v0, whose
bodies share the weights, these terms are 0 instead.

## Costs

None.

## Starting State

The body stands upright and faces a random direction, the target lies in another one. All positions and velocities are
uniform within `noise`; cheetahs have a noise of 0.1 (in SpatialBodies-v0 20 times `noise`), and their velocities are
normal with this standard deviation.

## Episode End

The torso's height leaves the range of its body, or it pitches or rolls by more than 1 rad, cheetahs by more than 1.35;
hoppers when they lean by more than 1 rad, or a number of the state reaches 100; cheetahs also when the origin of a
front thigh is lower than 0.26 m, or the sum of the squares of all velocities is at most 1. After 1000 steps the episode
is truncated. A target that is closer than 1 m is replaced by a new one. Success is not defined.

## Parameters

`body` is the number of the body, rounded down: that of its level, from 0 on. `randomize={"body": (0.0, 8.0)}` draws one
for each episode, and `make_batch(id, 4, body=[0, 1, 2, 3])` gives each world its own. `strength`, `damping` and
`friction` multiply the original's. Targets are drawn at a distance between `nearest` and `farthest`.

## Reference Scores

Mean return over fixed seeds, of the whole body. There is no scripted expert, because no simple controller runs well.

## Version History

v0: first version.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from rlenvs.core import at_most, block, f8, i8, kernel, normal, param, term, uniform, world
from rlenvs.core.declare.maths import atan2, hypot, sin_cos
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion import limbs_spatial as trees
from rlenvs.robotics.locomotion.limb_trees import slots
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
from rlenvs.robotics.locomotion.robots import BOUND, FASTEST, effort

SEEN = 41  # numbers of each limb
HINGES = 3
ROOT_QPOS, ROOT_QVEL = 7, 6
FASTEST_LIMB = 10.0  # m/s, up to which it is observed
REACHED = 1.0  # m, from a target
PI = 3.141592653589793
TREES = {  # whole trees and their bodies, by the world's name
    "SpatialWalkers-v0": (trees.WALKER, trees.WALKERS),
    "SpatialHumanoids-v0": (trees.HUMANOID, trees.HUMANOIDS),
    "SpatialCheetahs-v0": (trees.CHEETAH, trees.CHEETAHS),
    "SpatialHoppers-v0": (trees.HOPPER, trees.HOPPERS),
    "SpatialBodies-v0": (trees.PLACES, trees.ALL),
}


def data_of(name: str) -> dict[str, np.ndarray]:
    """What kernels need of the bodies of a world: of each, how it falls and how much it begins to move; what it is paid
    where others of the batch are paid otherwise, and weights cannot say so."""
    tree, bodies = TREES[name]
    watched = np.zeros((len(bodies), len(tree.limbs)), np.int64)
    for b, body in enumerate(bodies.values()):
        for i, limb in zip(slots(tree, body), body.limbs, strict=True):
            watched[b, i] = limb.name.endswith("fthigh")
    mixed = tree is trees.PLACES
    leans, runs = (
        np.array([body.tree is of for body in bodies.values()], np.int64) for of in (trees.HOPPER, trees.CHEETAH)
    )
    pay = {"ahead": 1.0 - mixed * leans, "alive": 1.0 - mixed * runs}
    return {
        **table(tree, bodies),
        "watched": watched,
        "leans": leans,
        "runs": runs,
        **pay,
        "unrest": 1.0 + 19.0 * mixed * runs,
    }


def own_of(name: str) -> dict[str, Any]:
    """What a world declares of its own."""
    tree, bodies = TREES[name]
    return declared(tree, bodies, axes=1 + HINGES * (len(tree.limbs) - 1))


OWN = own_of("SpatialWalkers-v0")
SPEC = world(
    "SpatialWalkers-v0",
    doc=__doc__,
    source="Chen, Xue, Zhang et al. (ICML 2023), alpc91/SGRL",
    params={
        "body": OWN.pop("body"),
        **CONTEXTS,
        "noise": replace(CONTEXTS["noise"], high=0.2),
        "nearest": param(1e4, 2.0, 1e4, "m", "least distance of a new target"),
        "farthest": param(1e4, 2.0, 1e4, "m", "largest distance of a new target"),
    },
    state={
        "target": f8(2),
        "before": f8(2),
        "facing": f8(2),
        **STATE,
        **MOTION,
        "xaxis": f8("axes", 3),
    },
    observation={
        "limbs": block(
            *("limbs", SEEN),
            low=-BOUND,
            high=BOUND,
            unit="m, m/s, rad/s, rad",
            doc="by limb: place, gravity, target, velocity, spin, axes, joints, type, height",
            raw=True,
            constant=True,
        ),
        "present": PRESENT,
    },
    terms={
        "approach": term(-FASTEST, FASTEST, 1.0, "velocity towards the target, m/s"),
        "ahead": term(-FASTEST, FASTEST, 1.0, "velocity in the direction that the torso faces, m/s"),
        "alive": term(0.0, 1.0, 1.0, "1 in every step"),
        "control": term(-39.0, 0.0, 0.001, "negative sum of squares of the actions"),
    },
    data={
        **TABLE,
        "watched": i8("bodies", "limbs"),
        "leans": i8("bodies"),
        "runs": i8("bodies"),
        "ahead": f8("bodies"),
        "alive": f8("bodies"),
        "unrest": f8("bodies"),
    },
    constraints=(at_most("nearest", "farthest"),),
    horizon=1000,
    engine=ENGINE,
    probe={"nearest": {"farthest": 1e4}, "farthest": {"nearest": 2.0}},
    **OWN,
)


def without(*names: str) -> dict[str, Any]:
    """The terms, some of them without a weight."""
    return {**SPEC.terms, **{name: replace(SPEC.terms[name], weight=0.0) for name in names}}


@SPEC.make_data
def make_data(values):
    return data_of(SPEC.name)


@SPEC.model
def model(values):
    return build(TREES[SPEC.name], values)


def other(name: str, summary: str, **changes: Any) -> Any:
    """The world of the bodies of another tree."""
    return member(SPEC, name, summary, TREES[name], own_of(name), data=data_of(name), **changes)


HUMANOIDS = other(
    "SpatialHumanoids-v0",
    "SpatialHumanoids: run to a far target on whichever of eight bodies, humanoids from which limbs were taken.",
)
CHEETAHS = other(
    "SpatialCheetahs-v0",
    "SpatialCheetahs: run to a far target on whichever of ten bodies, cheetahs from which limbs were taken.",
    noise=0.1,
    terms=without("alive"),
)
HOPPERS = other(
    "SpatialHoppers-v0",
    "SpatialHoppers: hop to a far target on whichever of three bodies, with two to four links below the torso.",
    terms=without("ahead"),
)
BODIES = other(
    "SpatialBodies-v0",
    "SpatialBodies: run to a far target on whichever of 29 bodies: walkers, humanoids, hoppers, cheetahs in one batch.",
    noise=replace(SPEC.params["noise"], high=0.01),  # of which cheetahs have 20 times
)


@SPEC.reset
def reset(p, s, rng):
    b = number_of(p)
    noise = p.unrest[b] * p.noise
    s.qpos[2] = p.start[b]
    sine, cosine = sin_cos(0.5 * uniform(rng, -PI, PI))
    s.qpos[3], s.qpos[6] = cosine, sine
    for j in range(s.qpos.size):
        if j < ROOT_QPOS or p.present[b, (j - ROOT_QPOS) // HINGES + 1] == 1:
            s.qpos[j] += uniform(rng, -noise, noise)
    for j in range(s.qvel.size):
        if j < ROOT_QVEL or p.present[b, (j - ROOT_QVEL) // HINGES + 1] == 1:
            s.qvel[j] = noise * normal(rng) if p.runs[b] == 1 else uniform(rng, -noise, noise)
    length = 0.0
    for j in range(3, ROOT_QPOS):
        length += s.qpos[j] * s.qpos[j]
    for j in range(3, ROOT_QPOS):
        s.qpos[j] /= math.sqrt(length)
    aim(p, s, rng)


@kernel
def aim(p, s, rng):
    """Draw a target."""
    sine, cosine = sin_cos(uniform(rng, -PI, PI))
    distance = uniform(rng, p.nearest, p.farthest)
    s.target[0], s.target[1] = s.qpos[0] + distance * cosine, s.qpos[1] + distance * sine


@SPEC.act
def act(p, s, a, rng):
    b = number_of(p)
    for j in range(a.size):
        s.ctrl[j] = a[j] if p.present[b, j // HINGES + 1] == 1 else 0.0
    w, x, y, z = s.turn[0, 0], s.turn[0, 1], s.turn[0, 2], s.turn[0, 3]
    ahead, aside = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)
    length = max(hypot(ahead, aside), 1e-12)
    s.facing[0], s.facing[1] = ahead / length, aside / length
    s.before[0], s.before[1] = s.qpos[0], s.qpos[1]


@SPEC.outcome
def outcome(p, s, a, rng, r):
    b = number_of(p)
    dx, dy = s.qpos[0] - s.before[0], s.qpos[1] - s.before[1]
    far = hypot(s.target[0] - s.before[0], s.target[1] - s.before[1])
    near = hypot(s.target[0] - s.qpos[0], s.target[1] - s.qpos[1])
    r.approach = clipped((far - near) / p.dt[b], FASTEST)
    r.ahead = p.ahead[b] * clipped((dx * s.facing[0] + dy * s.facing[1]) / p.dt[b], FASTEST)
    r.alive, r.control = p.alive[b], -effort(s.ctrl)
    r.terminated = not is_healthy(p, s)
    if near < REACHED:
        aim(p, s, rng)


@kernel
def is_healthy(p, s):
    """Whether the body stands and moves: its heights, how it leans, and that no number is too large."""
    b, height, motion = number_of(p), s.qpos[2], 0.0
    for i in range(s.place.shape[0]):
        if p.watched[b, i] == 1:
            height = min(height, s.place[i, 2])
    if not (p.healthy[b, 0] < height and height < p.healthy[b, 1] and leans(p, s) < p.tilt[b]):
        return False
    for j in range(s.qvel.size):
        motion += s.qvel[j] * s.qvel[j]
        if abs(s.qvel[j]) >= p.largest[b]:
            return False
    for j in range(3, s.qpos.size):
        if abs(s.qpos[j]) >= p.largest[b]:
            return False
    return p.runs[b] == 0 or motion > 1.0


@kernel
def leans(p, s):
    """How much the torso leans [rad]: the whole angle, or the larger one of pitch and roll."""
    w, x, y, z = s.turn[0, 0], s.turn[0, 1], s.turn[0, 2], s.turn[0, 3]
    if p.leans[number_of(p)] == 1:
        return 2.0 * atan2(hypot(x, y), hypot(w, z))
    right, up = 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    pitch = atan2(-2.0 * (x * z - w * y), hypot(right, up))
    return max(abs(pitch), abs(atan2(right, up)))


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
    dx, dy = s.target[0] - s.place[0, 0], s.target[1] - s.place[0, 1]
    distance = max(hypot(dx, dy), 1e-12)
    o.limbs[i, 5], o.limbs[i, 6], o.limbs[i, 7] = -p.gravity, dx / distance, dy / distance
    for k in range(3):
        o.limbs[i, k] = clipped(s.place[i, k] - s.place[0, k], BOUND)
        o.limbs[i, 9 + k] = clipped(s.velocity[i, k], FASTEST_LIMB)
        o.limbs[i, 12 + k] = clipped(s.spin[i, k], BOUND)
        for n in range(3):
            o.limbs[i, 27 + 3 * k + n] = 0.5
        if i > 0:
            observe_hinge(p, s, o, b, i, k)
    if p.type[b, i] >= 0:
        o.limbs[i, 36 + p.type[b, i]] = 1.0
    o.limbs[i, 40] = clipped(s.place[i, 2], BOUND)


@kernel
def observe_hinge(p, s, o, b, i, k):
    """Fill what is observed of hinge k of limb i."""
    j = HINGES * (i - 1) + k
    low, high, angle = p.range[b, i, k, 0], p.range[b, i, k, 1], s.qpos[ROOT_QPOS + j]
    for n in range(3):
        o.limbs[i, 15 + 3 * k + n] = s.xaxis[1 + j, n]
    o.limbs[i, 24 + k] = clipped(angle, BOUND)
    o.limbs[i, 27 + 3 * k] = clipped((angle - low) / (high - low), BOUND)
    o.limbs[i, 28 + 3 * k], o.limbs[i, 29 + 3 * k] = 0.5 + low / (2.0 * PI), 0.5 + high / (2.0 * PI)


@SPEC.draw
def draw(canvas, p, s):
    count = int(np.sum(p.present[number_of(p)]))
    dx, dy = float(s.target[0] - s.qpos[0]), float(s.target[1] - s.qpos[1])
    distance = max(math.hypot(dx, dy), 1e-9)
    speed = (float(s.qvel[0]) * dx + float(s.qvel[1]) * dy) / distance
    canvas.caption(f"{distance:.1f} m to the target", f"{speed:.1f} m/s towards it, {count} limbs")
    canvas.view(0.0, 1.0, 0.0, canvas.scene[1] / canvas.scene[0])
    canvas.text((0.04, 0.2), "target", "black", 16)
    canvas.arrow((0.12, 0.1), (0.12 + 0.08 * dx / distance, 0.1 + 0.08 * dy / distance), "green", 5.0)
