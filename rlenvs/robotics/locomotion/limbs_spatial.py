"""The robots in three dimensions of Chen, Xue, Zhang et al., "Subequivariant graph reinforcement learning in 3D
environments" (ICML 2023, alpc91/SGRL): whole trees, and their bodies by name, those held out for tests too."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import product

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

HELD_OUT = frozenset(
    {
        *("3d_walker_3_left_knee_right_knee", "3d_walker_6_right_foot"),
        *("3d_humanoid_7_left_leg", "3d_humanoid_8_right_knee"),
        *("3d_cheetah_11_leftbkneen_rightffoot", "3d_cheetah_12_tail_leftffoot"),
    }
)
ASIDE = {"right": 1.0, "left": -1.0}
STILL = (-1.0, 1.0)  # degrees, of hinges that no motor turns
Swing = tuple[tuple[float, float], float]  # range in degrees, and gear


def hinges(side: float, *swings: Swing, **own: float) -> tuple[Hinge, ...]:
    """Hinges about x, -y and z, the first and the last the other way round on the left side; `own` is of all."""
    axes = ((side, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, side))
    return tuple(
        Hinge(axis, (low * DEGREES, high * DEGREES), gear, **own)
        for axis, ((low, high), gear) in zip(axes, swings, strict=True)
    )


def _torso(*shapes: Shape) -> Limb:
    return Limb(TORSO, "", ORIGIN, 0, (), shapes)


def _walkers_leg(side: str) -> tuple[Limb, ...]:
    sign, sole = ASIDE[side], Shape(0.06, (0.0, 0.0, 0.0, 0.2, 0.0, 0.0), friction=0.9)
    hip = hinges(sign, ((-25.0, 5.0), 100.0), ((-20.0, 110.0), 100.0), ((-60.0, 35.0), 100.0))
    knee = hinges(sign, (STILL, 0.0), ((-160.0, -2.0), 100.0), (STILL, 0.0))
    ankle = hinges(sign, (STILL, 0.0), ((-45.0, 45.0), 100.0), ((-30.0, 5.0), 100.0))
    thigh, shin = upright(0.056, 0.0, -0.48, 0.9), upright(0.0448, 0.0, -0.384, 0.9)
    return (
        Limb(f"{side}_thigh", TORSO, (0.0, 0.0, -0.6), 1, hip, (thigh,)),
        Limb(f"{side}_shin", f"{side}_thigh", (0.0, 0.0, -0.48), 2, knee, (shin,)),
        Limb(f"{side}_foot", f"{side}_shin", (0.0, 0.0, -0.384), 3, ankle, (sole,)),
    )


WALKER = Tree(
    (_torso(upright(0.07, 0.0, -0.6, 0.9)), *_walkers_leg("right"), *_walkers_leg("left")),
    above=0.0,
    free=True,
    tilt=1.0,
)


def _humanoids_leg(side: str) -> tuple[Limb, ...]:
    sign = ASIDE[side]
    thigh = Shape(0.06, (0.0, 0.0, 0.0, 0.0, sign * 0.01, -0.34))
    shin = (Shape(0.049, (0.0, 0.0, 0.0, 0.0, 0.0, -0.3)), Shape(0.075, center=(0.0, 0.0, -0.35)))
    swings = ((-25.0, 5.0), 100.0), ((-20.0, 110.0), 300.0), ((-60.0, 35.0), 100.0)
    x, y, z = hinges(sign, *swings, armature=0.01, damping=5.0, stiffness=10.0)
    hip = (x, replace(y, armature=0.008 if side == "right" else 0.01, stiffness=20.0), z)
    swings = (STILL, 0.0), ((-160.0, -2.0), 200.0), (STILL, 0.0)
    knee = hinges(sign, *swings, armature=0.006, damping=1.0, stiffness=1.0)
    return (
        Limb(f"{side}_thigh", TORSO, (0.0, sign * -0.1, -0.299625), 1, hip, (thigh,)),
        Limb(f"{side}_shin", f"{side}_thigh", (0.0, sign * 0.01, -0.403), 2, knee, shin, (0.0, 0.0, 0.02)),
    )


def _humanoids_arm(side: str, swing: tuple[float, float], armature: float) -> tuple[Limb, ...]:
    """The shoulder's axes are aslant; `swing` is the range of two of them, `armature` that of the third."""
    sign = ASIDE[side]
    upper = Shape(0.04, (0.0, 0.0, 0.0, 0.16, sign * -0.16, -0.16))
    lower = Shape(0.031, (0.01, sign * 0.01, 0.01, 0.17, sign * 0.17, 0.17))
    hand = Shape(0.04, center=(0.18, sign * 0.18, 0.18))
    axes = ((2.0, sign, 1.0), (0.0, -sign, 1.0), (0.0, 0.0, sign))
    x, y, z = hinges(sign, (swing, 25.0), (swing, 25.0), (STILL, 0.0), damping=1.0, stiffness=1.0)
    shoulder = (
        replace(x, axis=axes[0], armature=0.0068),
        replace(y, axis=axes[1], armature=0.0051),
        replace(z, axis=axes[2], armature=armature),
    )
    x, y, z = hinges(sign, (STILL, 0.0), ((-90.0, 50.0), 25.0), (STILL, 0.0), armature=0.0028, damping=1.0)
    elbow = (x, replace(y, axis=(0.0, -1.0, sign)), z)
    place: Point = (0.18, sign * -0.18, -0.18)
    return (
        Limb(f"{side}_upper_arm", TORSO, (0.0, sign * -0.17, 0.225375), -1, shoulder, (upper,)),
        Limb(f"{side}_lower_arm", f"{side}_upper_arm", place, -1, elbow, (lower, hand)),
    )


def _across(radius: float, x: float, half: float, z: float) -> Shape:
    """A capsule along y."""
    return Shape(radius, (x, -half, z, x, half, z))


HUMANOID = Tree(
    (
        _torso(
            _across(0.07, 0.0, 0.07, 0.165375),
            Shape(0.09, center=(0.0, 0.0, 0.355375)),
            _across(0.06, -0.01, 0.06, 0.045375),
            _across(0.06, -0.01, 0.06, -0.094625),
            _across(0.09, -0.02, 0.07, -0.259625),
        ),
        *_humanoids_leg("right"),
        *_humanoids_leg("left"),
        *_humanoids_arm("right", (-85.0, 60.0), 0.0051),
        *_humanoids_arm("left", (-60.0, 85.0), 0.0028),
    ),
    above=0.0,
    free=True,
    tilt=1.0,
)


def _bone(radius: float, x: float, z: float, half: float, degrees: float) -> Shape:
    return Shape(radius, center=(x, 0.0, z), half=half, angle=degrees * DEGREES)


def _cheetahs_leg(side: str, end: str) -> tuple[Limb, ...]:
    sign, back = ASIDE[side], end == "b"
    thigh, shin, foot = (f"{side}_{end}{part}" for part in ("thigh", "shin", "foot"))
    if back:
        at: tuple[Point, ...] = ((-0.445, sign * -0.12, 0.0), (0.16, 0.0, -0.25), (-0.28, 0.0, -0.14))
        swings = ((-10.0, 0.0), (-60.0, 30.0), (-15.0, 5.0)), ((-45.0, 45.0),), ((-45.0, 25.0), (-15.0, 5.0))
        gears, dampings, stiffnesses = (120.0, 90.0, 60.0), (6.0, 4.5, 3.0), (240.0, 180.0, 120.0)
        bones = (
            _bone(0.06, 0.1, -0.13, 0.145, -217.7239621497),
            _bone(0.046, -0.14, -0.07, 0.15, -116.3104324116),
            _bone(0.046, 0.03, -0.097, 0.094, -15.4698604685),
        )
    else:
        at = ((0.4, sign * -0.09, 0.0), (-0.14, 0.0, -0.24), (0.13, 0.0, -0.18))
        swings = ((-15.0, 5.0), (-40.0, 60.0), (-20.0, 10.0)), ((-50.0, 70.0),), ((-30.0, 30.0), (-20.0, 5.0))
        gears, dampings, stiffnesses = (120.0, 60.0, 30.0), (4.5, 3.0, 1.5), (180.0, 120.0, 60.0)
        bones = (
            _bone(0.055, -0.07, -0.12, 0.133, 29.7938053468),
            _bone(0.046, 0.065, -0.09, 0.106, -34.3774677078),
            _bone(0.046, 0.045, -0.07, 0.07, -34.3774677078),
        )
    own = [
        {"armature": 0.1, "damping": damping, "stiffness": stiffness}
        for damping, stiffness in zip(dampings, stiffnesses, strict=True)
    ]
    hip = hinges(sign, *((swing, gears[0]) for swing in swings[0]), **own[0])
    knee = hinges(sign, (STILL, 0.0), (swings[1][0], gears[1]), (STILL, 0.0), **own[1])
    ankle = hinges(sign, (STILL, 0.0), *((swing, gears[2]) for swing in swings[2]), **own[2])
    return (
        Limb(thigh, TORSO, at[0], 1, hip, bones[:1]),
        Limb(shin, thigh, at[1], 2, knee, bones[1:2]),
        Limb(foot, shin, at[2], 3, ankle, bones[2:]),
    )


def _cheetahs_tail() -> Limb:
    swings = ((-20.0, 20.0), 70.0), ((-80.0, 80.0), 70.0), (STILL, 0.0)
    base = hinges(1.0, *swings, armature=0.1, damping=3.5)
    return Limb(
        "upper_tail",
        TORSO,
        (-0.445, 0.0, 0.0),
        -1,
        base,
        (_bone(0.04, -0.25, 0.0, 0.25, -90.0), _bone(0.04, -0.55, 0.05, 0.07, -45.0)),
    )


_SOFT = Surface((0.4, 0.1, 0.1), solimp=(0.0, 0.8, 0.01, 0.5, 2.0))
CHEETAH = Tree(
    (
        _torso(
            _across(0.07, 0.4, 0.08, 0.0),
            _across(0.06, 0.28, 0.07, -0.01),
            _across(0.06, 0.14, 0.07, -0.01),
            _across(0.06, 0.0, 0.06, -0.01),
            _across(0.06, -0.14, 0.06, -0.01),
            _across(0.06, -0.28, 0.06, -0.01),
            _across(0.09, -0.445, 0.09, -0.02),
            Shape(0.09, center=(0.5, 0.0, 0.1)),
        ),
        _cheetahs_tail(),
        *_cheetahs_leg("right", "b"),
        *_cheetahs_leg("right", "f"),
        *_cheetahs_leg("left", "b"),
        *_cheetahs_leg("left", "f"),
    ),
    above=0.0,
    timestep=0.01,
    runge_kutta=False,
    surface=_SOFT,
    floor=_SOFT,
    limits=((0.02, 1.0), (0.0, 0.8, 0.03, 0.5, 2.0)),
    free=True,
    tilt=1.35,
)


def _hoppers_limb(name: str, parent: str, at: Point, type: int, joint: Point, shape: Shape) -> Limb:
    bend = (-45.0, 45.0) if name == "foot" else (-150.0, 0.0)
    turns = hinges(1.0, ((-10.0, 10.0), 200.0), (bend, 200.0), ((-10.0, 10.0), 200.0), armature=1.0, damping=1.0)
    return Limb(name, parent, at, type, turns, (shape,), joint)


# the margin is half the original's: MuJoCo adds up those of two shapes, and took the larger one then
_HARD = Surface((1.0, 0.005, 0.0001), 1, 0.0005, solimp=(0.8, 0.8, 0.01, 0.5, 2.0), touch=True)
_SHIN, _SOLE = upright(0.04, 0.25, -0.25, 0.9), Shape(0.06, (-0.195, 0.0, 0.0, 0.195, 0.0, 0.0), friction=2.0)
HOPPER = Tree(
    (
        _torso(upright(0.05, 0.2, -0.2, 0.9)),
        _hoppers_limb("thigh", TORSO, (0.0, 0.0, -0.2), 1, ORIGIN, upright(0.05, 0.0, -0.45, 0.9)),
        _hoppers_limb("shin", "thigh", (0.0, 0.0, -0.7), 2, (0.0, 0.0, 0.25), _SHIN),
        _hoppers_limb("lower_shin", "shin", (0.0, 0.0, -0.5), 2, (0.0, 0.0, 0.25), _SHIN),
        _hoppers_limb("foot", "lower_shin", (0.065, 0.0, -0.25), 3, (-0.065, 0.0, 0.0), _SOLE),
    ),
    above=0.0,
    surface=_HARD,
    floor=replace(_HARD, dimensions=3),
    free=True,
    tilt=1.0,
    largest=100.0,
)


def without(tree: Tree, gone: Iterable[str]) -> tuple[Limb, ...]:
    """The limbs of a tree but those that are gone."""
    out = set(gone)
    return prune(tree, [limb.name for limb in tree.limbs if limb.name not in out])


def _walkers() -> dict[str, Body]:
    knee, leg = ("_shin", "_foot"), ("_thigh", "_shin", "_foot")
    gone = {  # what is taken out at the right and at the left, and by how much lower and upper height change
        "7_full": ((), (), 0.0, 0.0),
        "2_right_leg_left_knee": (leg, knee, 0.26, 0.26),
        "3_left_knee_right_knee": (knee, knee, 0.26, 0.26),
        "3_left_leg_right_foot": (("_foot",), leg, 0.136, 0.0),
        "4_right_knee_left_foot": (knee, ("_foot",), 0.136, 0.136),
        "5_foot": (("_foot",), ("_foot",), 0.0, 0.0),
        "5_left_knee": ((), knee, 0.136, 0.0),
        "6_right_foot": (("_foot",), (), 0.0, 0.0),
    }
    found = {}
    for name, (right, left, lower, upper) in gone.items():
        limbs = without(WALKER, [f"right{part}" for part in right] + [f"left{part}" for part in left])
        found[f"3d_walker_{name}"] = Body(WALKER, limbs, 0.8 - lower, 2.0 - upper, 1.6)
    return found


def _humanoids() -> dict[str, Body]:
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
    low, high, start = 1.0 - 0.165375, 2.0 - 0.165375, 1.234625
    return {
        f"3d_humanoid_{name}": Body(HUMANOID, without(HUMANOID, out), low, high, start) for name, out in gone.items()
    }


def _cheetahs() -> dict[str, Body]:
    tail, legs = ("upper_tail",), ("thigh", "shin", "foot")
    gone = {
        "14_full": (),
        "10_tail_leftbleg": (*tail, *(f"left_b{part}" for part in legs)),
        "11_leftbkneen_rightffoot": ("left_bshin", "left_bfoot", "right_ffoot"),
        "11_leftfleg": tuple(f"left_f{part}" for part in legs),
        "11_tail_rightfknee": (*tail, "right_fshin", "right_ffoot"),
        "12_rightbknee": ("right_bshin", "right_bfoot"),
        "12_tail_leftbfoot": (*tail, "left_bfoot"),
        "12_tail_leftffoot": (*tail, "left_ffoot"),
        "13_rightffoot": ("right_ffoot",),
        "13_tail": tail,
    }
    return {
        f"3d_cheetah_{name}": Body(CHEETAH, without(CHEETAH, out), 0.26, math.inf, 0.7) for name, out in gone.items()
    }


def _hoppers() -> dict[str, Body]:
    """With less and less between thigh and foot."""
    bodies = {
        "5_full": (("thigh", "shin", "lower_shin", "foot"), 0.95, 1.75),
        "4_lower_shin": (("thigh", "shin", "foot"), 0.6, 1.25),
        "3_shin": (("thigh", "foot"), 0.45, 1.25),
    }
    return {
        f"3d_hopper_{name}": Body(HOPPER, prune(HOPPER, (TORSO, *limbs), closing=True), lowest, math.inf, start)
        for name, (limbs, lowest, start) in bodies.items()
    }


WALKERS, HUMANOIDS, CHEETAHS, HOPPERS = _walkers(), _humanoids(), _cheetahs(), _hoppers()
LEFT, RIGHT = ("left_thigh", "left_shin", "left_foot", "left_toe"), ("right_thigh", "right_shin", "right_foot")
ARMS = tuple(tuple(f"{side}_{part}" for part in ("upper_arm", "lower_arm", "hand")) for side in ("right", "left"))
ALL = {**WALKERS, **HUMANOIDS, **HOPPERS, **CHEETAHS}
PLACES = Tree(  # for all of them
    places(hinges(1.0, *[((0.0, 0.0), 0.0)] * 3), LEFT, RIGHT, *ARMS, ("upper_tail",)),
    above=0.0,
    free=True,
    instead={
        **dict(zip(("thigh", "shin", "lower_shin", "foot"), LEFT, strict=True)),
        **{
            f"{side}_{end}{part}": place
            for (side, end), chain in zip(
                product(("right", "left"), "bf"), (RIGHT, ARMS[0], LEFT, ARMS[1]), strict=True
            )
            for part, place in zip(("thigh", "shin", "foot"), chain, strict=False)
        },
    },
)
