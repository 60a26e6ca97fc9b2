"""The common parts of tasks that move one object to a goal: Push, Slide, PickAndPlace."""

from __future__ import annotations

from typing import Any

from rlenvs.core import block, choice, f4, kernel, maths, term
from rlenvs.kits.engines.overlays import Way, apart, draw_ways
from rlenvs.robotics.manipulation import arm, panda

FARTHEST = 2.0  # m, farther than an object gets from its goal
CLEAR = 1.5  # thresholds between the object and its goal at the start
ORANGE = (0.90, 0.62, 0.0, 1.0)


def reward(nearness: str, **shaped: float) -> Any:
    """The option `reward`: sparse, dense, or shaped with the weights of its terms; `nearness` says what shapes it."""
    none = dict.fromkeys(("reached", "distance", *shaped), 0.0)
    return choice(
        *("sparse", "dense", "shaped"),
        doc=f"-1 until the goal is reached, the negative distance to it, or {nearness}",
        sets={
            "sparse": {**none, "reached": 1.0},
            "dense": {**none, "distance": 1.0},
            "shaped": {**none, **shaped},
        },
    )


def terms(name: str) -> dict[str, Any]:
    """Those of the goal, and how near the hand is to the object, and the object to the goal."""
    return {
        **arm.goal_terms(FARTHEST),
        "near": term(0.0, 1.0, 0.0, f"1 if the hand is at the {name}, decreasing with the distance"),
        "placed": term(0.0, 1.0, 0.0, f"1 if the {name} is at the goal, decreasing with the distance"),
    }


def state(name: str) -> dict[str, Any]:
    """The arm, the object and the goals."""
    return {**arm.state(), **arm.object_state(name), "achieved": f4(3), "desired": f4(3)}


def blocks(name: str, farthest: float, level: bool) -> dict[str, Any]:
    """The arm, the object, its place relative to the hand, up to `farthest`, and the goals, `level` on the table."""
    return {
        **arm.ARM_BLOCKS,
        **arm.object_blocks(name, f"the {name}"),
        "offset": block(3, low=-farthest, high=farthest, unit="m", doc=f"from the hand to the {name}"),
        "achieved": block(3, low=-2.0, high=2.0, unit="m", doc=f"position of the {name}", raw=True),
        "desired": block(3, low=-2.0, high=2.0, unit="m", doc="goal", raw=True, constant=level),
    }


@kernel
def act(p, s, a, rng):
    arm.drive(p, s, a, 0)


@kernel
def start(s, place):
    """Let the target be where the hand is, and what is achieved where the object is."""
    arm.start(s, 0)
    for j in range(3):
        s.achieved[j] = place[j]


@kernel
def goal_outcome(p, achieved, desired, r):
    r.placed = 1.0 - maths.tanh(5.0 * arm.goal_outcome(p, achieved, desired, FARTHEST, r))


@kernel
def outcome(p, s, place, r):
    """All terms of `terms`, with the object at `place`."""
    for j in range(3):
        s.achieved[j] = min(max(place[j], -2.0), 2.0)
    goal_outcome(p, s.achieved, s.desired, r)
    r.near = 1.0 - maths.tanh(10.0 * arm.distance(s.grip[0], place))


@kernel
def observe(p, s, place, o):
    """The arm, the offset of the object at `place`, and the goals."""
    arm.observe_arm(p, s, 0, o)
    for j in range(3):
        o.offset[j] = place[j] - s.grip[0, j]
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


def draw(canvas, p, s, place, name, view=panda.OVERVIEW):
    """The object at `place` and its goal."""
    legend = [("green", "goal", "ring"), ("orange", name, "disc")]
    told = f"{name} {apart(place, s.desired)} from its goal"
    draw_ways(canvas, [Way(place, s.desired, p.threshold)], legend, told, view=view)
