"""Bodies as trees of limbs: whole trees as data, and the bodies that are left when limbs are taken out of them.

The numbers are those of the planar robots of Huang, Mordatch and Pathak, "One policy to control them all: shared
modular policies for agent-agnostic control" (ICML 2020).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rlenvs.core.declare.errors import ParameterError

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
class Limb:
    """A limb with the hinge, about y, at which it hangs.

    Attributes:
        name: unique in its tree.
        parent: the limb at which it hangs.
        at: its origin, from that of the parent [m].
        type: the number, of four, that is 1 in what is observed of it; -1 for none.
        range: of the hinge's angle [rad].
        gear: torque at the action 1 [N m].
        shapes: what it is made of.
        hinge: from its origin [m].
        axis: direction of the hinge along y.
        armature, damping, stiffness: of the hinge [kg m^2, N m s/rad, N m/rad].
    """

    name: str
    parent: str
    at: Point
    type: int
    range: tuple[float, float]
    gear: float
    shapes: tuple[Shape, ...]
    hinge: Point = ORIGIN
    axis: float = -1.0
    armature: float = 0.01
    damping: float = 0.1
    stiffness: float = 0.0


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
class Body:
    """What is left of a tree, and while it is healthy.

    Attributes:
        limbs: the torso and the limbs that are left, each after its parent.
        lowest, highest: heights of the torso between which it is healthy, as its slide has them [m].
        start: that height at the start [m].
    """

    limbs: tuple[Limb, ...]
    lowest: float = -math.inf
    highest: float = math.inf
    start: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(limb.name for limb in self.limbs)


@dataclass(frozen=True)
class Tree:
    """A whole tree of limbs, and what all its bodies have in common.

    Attributes:
        limbs: the torso, whose hinge is where the body pitches, then the others, each after its parent.
        above: of the torso's origin above what its slide says [m].
        timestep, runge_kutta: of the physics [s]; whether by Runge and Kutta's method, or Euler's.
        surface, floor: of limbs and floor.
        limits: solref and solimp of the hinges' limits.
        root_armature: of the torso's two slides and hinge.
        tilt: pitch up to which a body is healthy [rad].
        largest: number of the state, but for those of place, up to which it is healthy.
    """

    limbs: tuple[Limb, ...]
    above: float
    timestep: float = 0.002
    runge_kutta: bool = True
    surface: Surface = Surface()
    floor: Surface = Surface()
    limits: tuple[tuple[float, float], tuple[float, ...]] = ((0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0))
    root_armature: float = 0.0
    tilt: float = math.inf
    largest: float = math.inf


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
        place = tuple(a + b - c for a, b, c in zip(gone.at, gone.hinge, limb.hinge, strict=True))
        limb = replace(limb, parent=gone.parent, at=place)
    return limb


def slots(tree: Tree, body: Body) -> tuple[int, ...]:
    """The place of each limb of a body among those of the whole tree: its own one, or else the first free one below the
    place of its parent.

    Raises:
        ParameterError: a limb has no place.
    """
    own = {limb.name: i for i, limb in enumerate(tree.limbs)}
    parents = parents_of(tree)
    taken: dict[str, int] = {}
    for limb in body.limbs:
        above = taken[limb.parent] if limb.parent else -1
        free = [i for i, parent in enumerate(parents) if parent == above and i not in taken.values()]
        if not free:
            raise ParameterError(f"the tree has no place for the limb {limb.name!r} below {limb.parent!r}")
        taken[limb.name] = own[limb.name] if own[limb.name] in free else free[0]
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


# --- the planar robots ------------------------------------------------------------------------------------------------

DEGREES = math.pi / 180.0


def _torso(type: int, hinge: float, *shapes: Shape) -> Limb:
    return Limb(TORSO, "", ORIGIN, type, (0.0, 0.0), 0.0, shapes, (0.0, 0.0, hinge))


def _upright(radius: float, top: float, bottom: float, friction: float) -> Shape:
    return Shape(radius, (0.0, 0.0, top, 0.0, 0.0, bottom), friction=friction)


def _walkers_leg(side: str) -> tuple[Limb, ...]:
    swing = (-75.0 * DEGREES, 75.0 * DEGREES)
    sole = Shape(0.06, (0.0, 0.0, 0.0, 0.2, 0.0, 0.0), friction=0.9)
    return (
        Limb(f"{side}1", TORSO, (0.0, 0.0, -0.6), 1, swing, 100.0, (_upright(0.056, 0.0, -0.48, 0.9),)),
        Limb(f"{side}2", f"{side}1", (0.0, 0.0, -0.48), 2, swing, 100.0, (_upright(0.0448, 0.0, -0.384, 0.9),)),
        Limb(f"{side}3", f"{side}2", (0.0, 0.0, -0.384), 3, swing, 100.0, (sole,)),
    )


WALKER = Tree(
    (_torso(0, -0.35, _upright(0.07, 0.0, -0.6, 0.9)), *_walkers_leg("left"), *_walkers_leg("right")),
    above=0.35,
    tilt=1.0,
)


def _humanoids_leg(side: str, aside: float, armature: float, stiffness: float) -> tuple[Limb, ...]:
    thigh = Shape(0.06, (0.0, 0.0, 0.0, 0.0, aside * -0.01, -0.34))
    shin = (Shape(0.049, (0.0, 0.0, 0.0, 0.0, 0.0, -0.3)), Shape(0.075, center=(0.0, 0.0, -0.35)))
    hip = {"axis": 1.0, "armature": armature, "damping": 5.0, "stiffness": 20.0}
    knee = {"hinge": (0.0, 0.0, 0.02), "armature": 0.006, "damping": 1.0, "stiffness": stiffness}
    bent, far = (-110.0 * DEGREES, 20.0 * DEGREES), (-160.0 * DEGREES, -2.0 * DEGREES)
    return (
        Limb(f"{side}_thigh", TORSO, (0.0, aside * 0.1, -0.465), 0, bent, 150.0, (thigh,), **hip),
        Limb(f"{side}_shin", f"{side}_thigh", (0.0, aside * -0.01, -0.403), 1, far, 100.0, shin, **knee),
    )


def _humanoids_arm(side: str, aside: float, swing: tuple[float, float]) -> tuple[Limb, ...]:
    upper = Shape(0.04, (0.0, 0.0, 0.0, 0.16, aside * 0.16, -0.16))
    lower = Shape(0.031, (0.01, aside * -0.01, 0.01, 0.17, aside * -0.17, 0.17))
    hand = Shape(0.04, center=(0.18, aside * -0.18, 0.18))
    shoulder = {"armature": 0.006, "damping": 1.0, "stiffness": 1.0}
    elbow = {"armature": 0.0028, "damping": 1.0}
    up, down = swing[0] * DEGREES, swing[1] * DEGREES
    bend, place = (-90.0 * DEGREES, 50.0 * DEGREES), (0.18, aside * 0.18, -0.18)
    return (
        Limb(f"{side}_upper_arm", TORSO, (0.0, aside * 0.17, 0.06), 2, (up, down), 12.5, (upper,), **shoulder),
        Limb(f"{side}_lower_arm", f"{side}_upper_arm", place, 3, bend, 12.5, (lower, hand), **elbow),
    )


HUMANOID = Tree(
    (
        _torso(
            -1,
            1.1,
            Shape(0.07, (0.0, -0.07, 0.0, 0.0, 0.07, 0.0)),
            Shape(0.09, center=(0.0, 0.0, 0.19)),
            Shape(0.06, (-0.01, -0.06, -0.12, -0.01, 0.06, -0.12)),
            Shape(0.06, (-0.01, -0.06, -0.26, -0.01, 0.06, -0.26)),
            Shape(0.09, (-0.02, -0.07, -0.425, -0.02, 0.07, -0.425)),
        ),
        *_humanoids_leg("right", -1.0, 0.008, 0.0),
        *_humanoids_leg("left", 1.0, 0.01, 1.0),
        *_humanoids_arm("right", -1.0, (-85.0, 60.0)),
        *_humanoids_arm("left", 1.0, (-60.0, 85.0)),
    ),
    above=0.15,
    root_armature=0.02,
    tilt=1.0,
)


def _cheetahs_limb(name: str, parent: str, at: tuple[float, float], type: int, motor: tuple[float, ...], *shape: float):
    """A limb of the cheetah.

    Args:
        name, parent, type: as in `Limb`.
        at: x and z from the parent's origin.
        motor: lower and upper limit, damping, stiffness, gear.
        shape: x and z of its middle, half its length, its angle.
    """
    low, high, damping, stiffness, gear = motor
    x, z, half, angle = shape
    bone = Shape(0.046, center=(x, 0.0, z), half=half, angle=angle)
    own = {"axis": 1.0, "armature": 0.1, "damping": damping, "stiffness": stiffness}
    return Limb(name, parent, (at[0], 0.0, at[1]), type, (low, high), gear, (bone,), **own)


_SOFT = Surface((0.4, 0.1, 0.1), solimp=(0.0, 0.8, 0.01, 0.5, 2.0))
CHEETAH = Tree(
    (
        _torso(
            0,
            0.0,
            Shape(0.046, (-0.5, 0.0, 0.0, 0.5, 0.0, 0.0)),
            Shape(0.046, center=(0.6, 0.0, 0.1), half=0.15, angle=0.87),
        ),
        _cheetahs_limb("bthigh", TORSO, (-0.5, 0.0), 1, (-0.52, 1.05, 6.0, 240.0, 120.0), 0.1, -0.13, 0.145, -3.8),
        _cheetahs_limb(
            "bshin", "bthigh", (0.16, -0.25), 2, (-0.785, 0.785, 4.5, 180.0, 90.0), -0.14, -0.07, 0.15, -2.03
        ),
        _cheetahs_limb(
            "bfoot", "bshin", (-0.28, -0.14), 3, (-0.4, 0.785, 3.0, 120.0, 60.0), 0.03, -0.097, 0.094, -0.27
        ),
        _cheetahs_limb("fthigh", TORSO, (0.5, 0.0), 1, (-1.0, 0.7, 4.5, 180.0, 120.0), -0.07, -0.12, 0.133, 0.52),
        _cheetahs_limb("fshin", "fthigh", (-0.14, -0.24), 2, (-1.2, 0.87, 3.0, 120.0, 60.0), 0.065, -0.09, 0.106, -0.6),
        _cheetahs_limb("ffoot", "fshin", (0.13, -0.18), 3, (-0.5, 0.5, 1.5, 60.0, 30.0), 0.045, -0.07, 0.07, -0.6),
    ),
    above=0.7,
    timestep=0.01,
    runge_kutta=False,
    surface=_SOFT,
    floor=_SOFT,
    limits=((0.02, 1.0), (0.0, 0.8, 0.03, 0.5, 2.0)),
)


def _hoppers_limb(name: str, parent: str, at: Point, type: int, hinge: Point, bend: float, shape: Shape) -> Limb:
    swing = (-150.0 * DEGREES, 0.0) if bend > 45.0 else (-bend * DEGREES, bend * DEGREES)
    return Limb(name, parent, at, type, swing, 200.0, (shape,), hinge, armature=1.0, damping=1.0)


# the margin is half the original's: MuJoCo adds up those of two shapes, and took the larger one then
_HARD = Surface((1.0, 0.005, 0.0001), 1, 0.0005, solimp=(0.8, 0.8, 0.01, 0.5, 2.0), touch=True)
_SHIN = _upright(0.04, 0.25, -0.25, 0.9)
_SOLE = Shape(0.06, (-0.195, 0.0, 0.0, 0.195, 0.0, 0.0), friction=2.0)
HOPPER = Tree(
    (
        _torso(0, 0.0, _upright(0.05, 0.2, -0.2, 0.9)),
        _hoppers_limb("thigh", TORSO, (0.0, 0.0, -0.2), 1, ORIGIN, 150.0, _upright(0.05, 0.0, -0.45, 0.9)),
        _hoppers_limb("leg", "thigh", (0.0, 0.0, -0.7), 2, (0.0, 0.0, 0.25), 150.0, _SHIN),
        _hoppers_limb("lower_leg", "leg", (0.0, 0.0, -0.5), 2, (0.0, 0.0, 0.25), 150.0, _SHIN),
        _hoppers_limb("foot", "lower_leg", (0.065, 0.0, -0.25), 3, (-0.065, 0.0, 0.0), 45.0, _SOLE),
    ),
    above=0.0,
    surface=_HARD,
    floor=replace(_HARD, dimensions=3),
    tilt=1.0,
    largest=100.0,
)


def _walkers() -> dict[str, Body]:
    """Legs from the hips down; where both have no sole, the torso may come lower."""
    left, right, found = ("left1", "left2", "left3"), ("right1", "right2", "right3"), {}
    for count in range(2, 8):
        limbs = prune(WALKER, (TORSO, *left[: count // 2], *right[: (count - 1) // 2]))
        lower = 0.26 if count < 4 else 0.136 if count == 4 else 0.0
        found[f"walker_{count}"] = Body(limbs, 0.8 - lower, 2.0 - lower, 1.25)
    return found


def _humanoids() -> dict[str, Body]:
    whole = [limb.name for limb in HUMANOID.limbs]
    gone = {
        "7_left_arm": ("left_upper_arm", "left_lower_arm"),
        "7_left_leg": ("left_thigh", "left_shin"),
        "7_lower_arms": ("left_lower_arm", "right_lower_arm"),
        "7_right_arm": ("right_upper_arm", "right_lower_arm"),
        "7_right_leg": ("right_thigh", "right_shin"),
        "8_left_knee": ("left_shin",),
        "8_right_knee": ("right_shin",),
        "9_full": (),
    }
    return {
        f"humanoid_2d_{name}": Body(prune(HUMANOID, [limb for limb in whole if limb not in out]), 0.4, 2.1, 1.25)
        for name, out in gone.items()
    }


def _cheetahs() -> dict[str, Body]:
    """So many limbs behind and in front."""
    legs = {"2_back": (1, 0), "2_front": (0, 1), "3_back": (2, 0), "3_balanced": (1, 1), "3_front": (0, 2)}
    legs |= {"4_allback": (3, 0), "4_allfront": (0, 3), "4_back": (2, 1), "4_front": (1, 2)}
    legs |= {"5_back": (3, 1), "5_balanced": (2, 2), "5_front": (1, 3), "6_back": (3, 2), "6_front": (2, 3)}
    legs |= {"7_full": (3, 3)}
    back, front = ("bthigh", "bshin", "bfoot"), ("fthigh", "fshin", "ffoot")
    return {
        f"cheetah_{name}": Body(prune(CHEETAH, (TORSO, *back[:behind], *front[:ahead])))
        for name, (behind, ahead) in legs.items()
    }


def _hoppers() -> dict[str, Body]:
    """With less and less between thigh and foot."""
    bodies = {
        "hopper_3": (("thigh", "foot"), 0.45, 1.25),
        "hopper_4": (("thigh", "leg", "foot"), 0.6, 1.25),
        "hopper_5": (("thigh", "leg", "lower_leg", "foot"), 0.95, 1.75),
    }
    return {
        name: Body(prune(HOPPER, (TORSO, *limbs), closing=True), lowest, math.inf, start)
        for name, (limbs, lowest, start) in bodies.items()
    }


WALKERS, HUMANOIDS, CHEETAHS, HOPPERS = _walkers(), _humanoids(), _cheetahs(), _hoppers()
