"""Bodies as trees of limbs: whole trees as data, and the bodies that are left when limbs are taken out of them.

`limbs_planar` and `limbs_spatial` have the trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from rlenvs.core.declare.errors import ParameterError

__all__ = ["Body", "Hinge", "Limb", "Shape", "Surface", "Tree", "adjacency", "prune", "slots"]

Point = tuple[float, float, float]
ORIGIN: Point = (0.0, 0.0, 0.0)
TORSO = "torso"


@dataclass(frozen=True)
class Shape:
    """A capsule or a sphere, in the axes of its limb [m].

    Attributes:
        radius: of the capsule or sphere.
        ends: x, y, z of both ends of a capsule; else it lies around `center`.
        center: its middle.
        half: half the length of the capsule without its caps; 0 for a sphere.
        angle: from z, about y [rad].
        friction: sliding friction; None for the tree's.
    """

    radius: float
    ends: tuple[float, ...] = ()
    center: Point = ORIGIN
    half: float = 0.0
    angle: float = 0.0
    friction: float | None = None


@dataclass(frozen=True)
class Hinge:
    """A hinge with its motor.

    Attributes:
        axis: its direction, of any length.
        range: of its angle [rad].
        gear: torque at the action 1 [N m].
        armature, damping, stiffness: [kg m^2, N m s/rad, N m/rad].
    """

    axis: Point
    range: tuple[float, float]
    gear: float
    armature: float = 0.01
    damping: float = 0.1
    stiffness: float = 0.0


@dataclass(frozen=True)
class Limb:
    """A limb with the hinges at which it hangs.

    Attributes:
        name: unique in its tree.
        parent: the limb at which it hangs.
        at: its origin, from that of the parent [m].
        type: the number, of four, that is 1 in what is observed of it; -1 for none.
        hinges: from the parent's to its own; none for the torso.
        shapes: what it is made of.
        joint: where the hinges are, from its origin [m]; of the torso, about which it pitches.
    """

    name: str
    parent: str
    at: Point
    type: int
    hinges: tuple[Hinge, ...]
    shapes: tuple[Shape, ...]
    joint: Point = ORIGIN


@dataclass(frozen=True)
class Surface:
    """How shapes touch: MuJoCo's numbers of friction, dimensions and softness, and whether limbs touch each other."""

    friction: Point = (0.7, 0.1, 0.1)
    dimensions: int = 3
    margin: float = 0.0
    solref: tuple[float, float] = (0.02, 1.0)
    solimp: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)
    touch: bool = False


@dataclass(frozen=True)
class Tree:
    """A whole tree of limbs, and what all its bodies have in common.

    Attributes:
        limbs: the torso, then the others, each after its parent, and all with the same number of hinges.
        above: of the torso's origin above what its joint says [m].
        timestep, runge_kutta: of the physics [s]; whether by Runge and Kutta's method, or Euler's.
        surface, floor: of limbs and floor.
        limits: solref and solimp of the hinges' limits.
        free: whether the torso moves freely, or slides along x and z and pitches.
        root_armature: of these slides, and of the hinge.
        tilt: pitch, and roll, up to which a body is healthy [rad].
        largest: number of the state, but for those of place, up to which it is healthy.
        instead: names of limbs of other trees, and of its own in whose places they go.
    """

    limbs: tuple[Limb, ...]
    above: float
    timestep: float = 0.002
    runge_kutta: bool = True
    surface: Surface = Surface()
    floor: Surface = Surface()
    limits: tuple[tuple[float, float], tuple[float, ...]] = ((0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0))
    free: bool = False
    root_armature: float = 0.0
    tilt: float = math.inf
    largest: float = math.inf
    instead: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Body:
    """What is left of a tree, and while it is healthy.

    Attributes:
        tree: what its limbs were taken from; its physics are the body's.
        limbs: the torso and the limbs that are left, each after its parent.
        lowest, highest: heights of the torso between which it is healthy, as its joint has them [m].
        start: that height at the start [m].
    """

    tree: Tree
    limbs: tuple[Limb, ...]
    lowest: float = -math.inf
    highest: float = math.inf
    start: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(limb.name for limb in self.limbs)


def prune(tree: Tree, names: Iterable[str], closing: bool = False) -> tuple[Limb, ...]:
    """The limbs of a tree that have these names, in its order.

    Args:
        tree: the whole tree.
        names: the torso and the limbs that are left.
        closing: where a limb's parent is taken out, it moves up to where that hung; otherwise this is refused.

    Raises:
        ParameterError: a name twice, or of no limb; no torso; nothing but the torso; a limb that hangs at none.
    """
    kept = list(names)
    every = {limb.name: limb for limb in tree.limbs}
    for name in kept:
        if name not in every:
            raise ParameterError(f"there is no limb {name!r}; there are {', '.join(every)}")
        if kept.count(name) > 1:
            raise ParameterError(f"the limb {name!r} is named twice")
    if TORSO not in kept:
        raise ParameterError(f"a body needs the limb {TORSO!r}, at which all others hang; given: {', '.join(kept)}")
    if len(kept) < 2:
        raise ParameterError(f"a body needs a limb beside the {TORSO!r}: nothing could move it")
    return tuple(_hung(every, set(kept), limb, closing) for limb in tree.limbs if limb.name in kept)


def _hung(every: Mapping[str, Limb], kept: set[str], limb: Limb, closing: bool) -> Limb:
    """A limb as it hangs at what is left."""
    while limb.parent and limb.parent not in kept:
        gone = every[limb.parent]
        if not closing:
            raise ParameterError(
                f"the limb {limb.name!r} hangs at {gone.name!r}, which is taken out: the body falls apart"
            )
        x, y, z = (a + b - c for a, b, c in zip(gone.at, gone.joint, limb.joint, strict=True))
        limb = replace(limb, parent=gone.parent, at=(x, y, z))
    return limb


def slots(tree: Tree, body: Body) -> tuple[int, ...]:
    """The place of each limb of a body among those of a whole tree, its own or another: that of its name, or else the
    first free one below the place of its parent.

    Raises:
        ParameterError: a limb has no place.
    """
    own = {limb.name: i for i, limb in enumerate(tree.limbs)}
    own.update({name: own[place] for name, place in tree.instead.items()})
    parents = parents_of(tree)
    taken: dict[str, int] = {}
    for limb in body.limbs:
        above = taken[limb.parent] if limb.parent else -1
        free = [i for i, parent in enumerate(parents) if parent == above and i not in taken.values()]
        if not free:
            raise ParameterError(f"the tree has no place for the limb {limb.name!r} below {limb.parent!r}")
        taken[limb.name] = own[limb.name] if own.get(limb.name) in free else free[0]
    return tuple(taken.values())


def parents_of(tree: Tree) -> tuple[int, ...]:
    """The place of each limb's parent; -1 for the torso."""
    places = {limb.name: i for i, limb in enumerate(tree.limbs)}
    return tuple(places.get(limb.parent, -1) for limb in tree.limbs)


def adjacency(tree: Tree, body: Body | None = None) -> np.ndarray:
    """Which limbs hang at each other, by place: bool (limbs, limbs), symmetric, without places that a body leaves
    empty."""
    present = range(len(tree.limbs)) if body is None else slots(tree, body)
    found = np.zeros((len(tree.limbs), len(tree.limbs)), bool)
    for i, parent in enumerate(parents_of(tree)):
        if parent >= 0 and i in present:
            found[i, parent] = found[parent, i] = True
    return found


def places(hinges: tuple[Hinge, ...], *chains: tuple[str, ...]) -> tuple[Limb, ...]:
    """A torso and places for limbs of other trees, each below the one before it, the first of a chain below the torso;
    `hinges` say how many a limb has."""
    found = [Limb(TORSO, "", ORIGIN, -1, (), ())]
    for chain in chains:
        found += [Limb(name, parent, ORIGIN, -1, hinges, ()) for parent, name in pairwise((TORSO, *chain))]
    return tuple(found)


DEGREES = math.pi / 180.0


def upright(radius: float, top: float, bottom: float, friction: float | None = None) -> Shape:
    """A capsule along z, from `top` to `bottom`."""
    return Shape(radius, (0.0, 0.0, top, 0.0, 0.0, bottom), friction=friction)
