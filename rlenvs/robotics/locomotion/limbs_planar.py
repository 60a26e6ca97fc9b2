"""The planar robots of Huang, Mordatch and Pathak, "One policy to control them all: shared modular policies for
agent-agnostic control" (ICML 2020): whole trees, and their bodies by name."""

from __future__ import annotations

import math
from dataclasses import replace

from rlenvs.robotics.locomotion.limb_trees import (
    DEGREES,
    ORIGIN,
    TORSO,
    Body,
    Hinge,
    Limb,
    Point,
    Shape,
    Surface,
    Tree,
    places,
    prune,
    upright,
)

BACK, FORTH = (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)


def _torso(type: int, pitching: float, *shapes: Shape) -> Limb:
    return Limb(TORSO, "", ORIGIN, type, (), shapes, (0.0, 0.0, pitching))


def _walkers_leg(side: str) -> tuple[Limb, ...]:
    swing = (Hinge(BACK, (-75.0 * DEGREES, 75.0 * DEGREES), 100.0),)
    sole = Shape(0.06, (0.0, 0.0, 0.0, 0.2, 0.0, 0.0), friction=0.9)
    return (
        Limb(f"{side}1", TORSO, (0.0, 0.0, -0.6), 1, swing, (upright(0.056, 0.0, -0.48, 0.9),)),
        Limb(f"{side}2", f"{side}1", (0.0, 0.0, -0.48), 2, swing, (upright(0.0448, 0.0, -0.384, 0.9),)),
        Limb(f"{side}3", f"{side}2", (0.0, 0.0, -0.384), 3, swing, (sole,)),
    )


WALKER = Tree(
    (_torso(0, -0.35, upright(0.07, 0.0, -0.6, 0.9)), *_walkers_leg("left"), *_walkers_leg("right")),
    above=0.35,
    tilt=1.0,
)


def _humanoids_leg(side: str, aside: float, armature: float, stiffness: float) -> tuple[Limb, ...]:
    thigh = Shape(0.06, (0.0, 0.0, 0.0, 0.0, aside * -0.01, -0.34))
    shin = (Shape(0.049, (0.0, 0.0, 0.0, 0.0, 0.0, -0.3)), Shape(0.075, center=(0.0, 0.0, -0.35)))
    hip = Hinge(FORTH, (-110.0 * DEGREES, 20.0 * DEGREES), 150.0, armature, 5.0, 20.0)
    knee = Hinge(BACK, (-160.0 * DEGREES, -2.0 * DEGREES), 100.0, 0.006, 1.0, stiffness)
    below = (0.0, aside * -0.01, -0.403)
    return (
        Limb(f"{side}_thigh", TORSO, (0.0, aside * 0.1, -0.465), 0, (hip,), (thigh,)),
        Limb(f"{side}_shin", f"{side}_thigh", below, 1, (knee,), shin, (0.0, 0.0, 0.02)),
    )


def _humanoids_arm(side: str, aside: float, swing: tuple[float, float]) -> tuple[Limb, ...]:
    upper = Shape(0.04, (0.0, 0.0, 0.0, 0.16, aside * 0.16, -0.16))
    lower = Shape(0.031, (0.01, aside * -0.01, 0.01, 0.17, aside * -0.17, 0.17))
    hand = Shape(0.04, center=(0.18, aside * -0.18, 0.18))
    shoulder = Hinge(BACK, (swing[0] * DEGREES, swing[1] * DEGREES), 12.5, 0.006, 1.0, 1.0)
    elbow = Hinge(BACK, (-90.0 * DEGREES, 50.0 * DEGREES), 12.5, 0.0028, 1.0)
    place = (0.18, aside * 0.18, -0.18)
    return (
        Limb(f"{side}_upper_arm", TORSO, (0.0, aside * 0.17, 0.06), 2, (shoulder,), (upper,)),
        Limb(f"{side}_lower_arm", f"{side}_upper_arm", place, 3, (elbow,), (lower, hand)),
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
    hinge = Hinge(FORTH, (low, high), gear, 0.1, damping, stiffness)
    return Limb(name, parent, (at[0], 0.0, at[1]), type, (hinge,), (bone,))


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


def _hoppers_limb(name: str, parent: str, at: Point, type: int, joint: Point, shape: Shape) -> Limb:
    swing = (-45.0 * DEGREES, 45.0 * DEGREES) if name == "foot" else (-150.0 * DEGREES, 0.0)
    return Limb(name, parent, at, type, (Hinge(BACK, swing, 200.0, 1.0, 1.0),), (shape,), joint)


# the margin is half the original's: MuJoCo adds up those of two shapes, and took the larger one then
_HARD = Surface((1.0, 0.005, 0.0001), 1, 0.0005, solimp=(0.8, 0.8, 0.01, 0.5, 2.0), touch=True)
_SHIN = upright(0.04, 0.25, -0.25, 0.9)
_SOLE = Shape(0.06, (-0.195, 0.0, 0.0, 0.195, 0.0, 0.0), friction=2.0)
HOPPER = Tree(
    (
        _torso(0, 0.0, upright(0.05, 0.2, -0.2, 0.9)),
        _hoppers_limb("thigh", TORSO, (0.0, 0.0, -0.2), 1, ORIGIN, upright(0.05, 0.0, -0.45, 0.9)),
        _hoppers_limb("leg", "thigh", (0.0, 0.0, -0.7), 2, (0.0, 0.0, 0.25), _SHIN),
        _hoppers_limb("lower_leg", "leg", (0.0, 0.0, -0.5), 2, (0.0, 0.0, 0.25), _SHIN),
        _hoppers_limb("foot", "lower_leg", (0.065, 0.0, -0.25), 3, (-0.065, 0.0, 0.0), _SOLE),
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
    for count in range(7, 1, -1):
        limbs = prune(WALKER, (TORSO, *left[: count // 2], *right[: (count - 1) // 2]))
        lower = 0.26 if count < 4 else 0.136 if count == 4 else 0.0
        found[f"walker_{count}"] = Body(WALKER, limbs, 0.8 - lower, 2.0 - lower, 1.25)
    return found


def _humanoids() -> dict[str, Body]:
    whole = [limb.name for limb in HUMANOID.limbs]
    gone = {
        "9_full": (),
        "7_left_arm": ("left_upper_arm", "left_lower_arm"),
        "7_left_leg": ("left_thigh", "left_shin"),
        "7_lower_arms": ("left_lower_arm", "right_lower_arm"),
        "7_right_arm": ("right_upper_arm", "right_lower_arm"),
        "7_right_leg": ("right_thigh", "right_shin"),
        "8_left_knee": ("left_shin",),
        "8_right_knee": ("right_shin",),
    }
    return {
        f"humanoid_2d_{name}": Body(
            HUMANOID, prune(HUMANOID, [limb for limb in whole if limb not in out]), 0.4, 2.1, 1.25
        )
        for name, out in gone.items()
    }


def _cheetahs() -> dict[str, Body]:
    """So many limbs behind and in front."""
    legs = {"7_full": (3, 3)}
    legs |= {"2_back": (1, 0), "2_front": (0, 1), "3_back": (2, 0), "3_balanced": (1, 1), "3_front": (0, 2)}
    legs |= {"4_allback": (3, 0), "4_allfront": (0, 3), "4_back": (2, 1), "4_front": (1, 2)}
    legs |= {"5_back": (3, 1), "5_balanced": (2, 2), "5_front": (1, 3), "6_back": (3, 2), "6_front": (2, 3)}
    back, front = ("bthigh", "bshin", "bfoot"), ("fthigh", "fshin", "ffoot")
    return {
        f"cheetah_{name}": Body(CHEETAH, prune(CHEETAH, (TORSO, *back[:behind], *front[:ahead])))
        for name, (behind, ahead) in legs.items()
    }


def _hoppers() -> dict[str, Body]:
    """With less and less between thigh and foot."""
    bodies = {
        "hopper_5": (("thigh", "leg", "lower_leg", "foot"), 0.95, 1.75),
        "hopper_4": (("thigh", "leg", "foot"), 0.6, 1.25),
        "hopper_3": (("thigh", "foot"), 0.45, 1.25),
    }
    return {
        name: Body(HOPPER, prune(HOPPER, (TORSO, *limbs), closing=True), lowest, math.inf, start)
        for name, (limbs, lowest, start) in bodies.items()
    }


WALKERS, HUMANOIDS, CHEETAHS, HOPPERS = _walkers(), _humanoids(), _cheetahs(), _hoppers()
LEFT, RIGHT = ("left_thigh", "left_shin", "left_foot", "left_toe"), ("right_thigh", "right_shin", "right_foot")
ALL = {**WALKERS, **HUMANOIDS, **HOPPERS, **CHEETAHS}
PLACES = Tree(  # for all of them
    places(
        (Hinge(BACK, (0.0, 0.0), 0.0),),
        *(LEFT, RIGHT, ("right_upper_arm", "right_lower_arm"), ("left_upper_arm", "left_lower_arm")),
    ),
    above=0.0,
    instead={
        **dict(zip(("left1", "left2", "left3", "right1", "right2", "right3"), (*LEFT[:3], *RIGHT), strict=True)),
        **dict(zip(("bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot"), (*LEFT[:3], *RIGHT), strict=True)),
        **dict(zip(("thigh", "leg", "lower_leg", "foot"), LEFT, strict=True)),
    },
)
