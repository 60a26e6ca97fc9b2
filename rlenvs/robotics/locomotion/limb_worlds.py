"""What worlds of bodies made of limbs have in common: the parameter that chooses the body, tables of bodies, models."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlenvs.core import block, continuous, f8, i8, kernel, param
from rlenvs.core.declare.spec import World
from rlenvs.robotics.locomotion.limb_models import model_of
from rlenvs.robotics.locomotion.limb_trees import Body, Tree, slots
from rlenvs.robotics.locomotion.robots import DAMPING, DENSITY, EVEN_NOISE, PARAMS

STEPS = 4  # physics steps per control step
CONTEXTS = {
    "gravity": PARAMS["gravity"],
    "strength": PARAMS["strength"],
    "noise": EVEN_NOISE,
    "density": DENSITY,
    "damping": DAMPING,
    "friction": param(1.0, 0.2, 3.0, "", "sliding friction, as a multiple of the original's"),
}
MOTION = {"place": f8("limbs", 3), "turn": f8("limbs", 4), "velocity": f8("limbs", 3), "spin": f8("limbs", 3)}
PRESENT = block("limbs", low=0.0, high=1.0, doc="1 where there is a limb", raw=True, constant=True)
TABLE = {  # what `table` gives
    "present": i8("bodies", "limbs"),
    "type": i8("bodies", "limbs"),
    "range": f8("bodies", "limbs", "hinges", 2),
    "healthy": f8("bodies", 2),
    "tilt": f8("bodies"),
    "largest": f8("bodies"),
    "start": f8("bodies"),
    "dt": f8("bodies"),
}


def declared(tree: Tree, bodies: Mapping[str, Body], **sizes: int) -> dict[str, Any]:
    """What a world of these bodies declares of its own, the numbers of `table` apart.

    Args:
        tree, bodies: the whole tree, and its bodies by name; the first is that without a level.
        sizes: more named sizes.
    """
    names, places, hinges = list(bodies), tree.limbs[1:], len(tree.limbs[-1].hinges)
    motors = [f"{limb.name.replace('_', ' ')}{axis}" for limb in places for axis in ("xyz" if hinges == 3 else ("",))]
    found = {"limbs": len(tree.limbs), "bodies": len(names), "hinges": hinges, **sizes}
    told = f"number of the body, rounded down; from 0 on: {', '.join(names)}"
    return {
        "body": param(0.0, 0.0, len(names), "", told),
        "action": continuous(*motors),
        "fps": lambda values: 1.0 / (STEPS * body_of(bodies, values).tree.timestep),
        "levels": {name: {"body": float(i)} for i, name in enumerate(names)},
        "sizes": lambda values: found,
    }


def table(tree: Tree, bodies: Mapping[str, Body]) -> dict[str, np.ndarray]:
    """What kernels need of bodies, a row each: which limbs there are, of which types, with which ranges of hinges; the
    heights, the tilt and the largest number with which it is healthy; its height at the start; seconds of a step."""
    count, places = len(bodies), len(tree.limbs)
    present, types = np.zeros((count, places), np.int64), np.full((count, places), -1, np.int64)
    ranges = np.zeros((count, places, len(tree.limbs[-1].hinges), 2))
    for b, body in enumerate(bodies.values()):
        for i, limb in zip(slots(tree, body), body.limbs, strict=True):
            present[b, i], types[b, i] = 1, limb.type
            for k, hinge in enumerate(limb.hinges):
                ranges[b, i, k] = hinge.range
    rows = bodies.values()
    return {
        "present": present,
        "type": types,
        "range": ranges,
        "healthy": np.array([(body.lowest, body.highest) for body in rows]),
        "tilt": np.array([body.tree.tilt for body in rows]),
        "largest": np.array([body.tree.largest for body in rows]),
        "start": np.array([body.start for body in rows]),
        "dt": np.array([STEPS * body.tree.timestep for body in rows]),
    }


def member(
    kind: World, name: str, summary: str, family: tuple[Tree, dict[str, Body]], own: dict[str, Any], **changes: Any
) -> World:
    """A member of a kind, for other bodies.

    Args:
        kind, name, summary: as for `World.member`.
        family: the whole tree, and its bodies by name.
        own: what `declared` gives.
        changes: more keywords of `World.member`, `data` among them.
    """
    made = kind.member(name, summary, **own, **changes)
    made.model(functools.partial(build, family))
    return made


def build(family: tuple[Tree, dict[str, Body]], values: Any) -> Any:
    """The model of the body that the values ask for."""
    tree, bodies = family
    return model_of(tree, bodies, body_of(bodies, values), values)


def body_of(bodies: Mapping[str, Body], values: Any) -> Body:
    """The body that the values ask for."""
    return list(bodies.values())[min(int(values.body), len(bodies) - 1)]


@kernel
def number_of(p):
    """The number of the body."""
    return min(int(p.body), p.start.size - 1)


@kernel
def show_places(p, o):
    """Fill the mask, and all numbers of limbs with 0."""
    b = number_of(p)
    for i in range(o.present.size):
        o.present[i] = p.present[b, i]
        for k in range(o.limbs.shape[1]):
            o.limbs[i, k] = 0.0


@kernel
def clipped(value, most):
    """A number within both bounds of its size."""
    return min(max(value, -most), most)
