"""Parts of what stands on Meta-World's table, built for MuJoCo in code: fixtures, joints, shapes, what is observed.

Places, joints, masses and the shapes that are touched have Meta-World's dimensions (package metaworld 3.1.1). What a
world draws anew in each episode is a mocap body, the third, `fixture`, or has a free joint. The state field `thing`
holds the object's position that is observed, `second` that of a second object, `mark` another point that a reward
needs.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from rlenvs.kits.engines.mujoco_parts import add_sensor
from rlenvs.robotics.metaworld.sawyer import DARK, add_box

UPRIGHT = (1.0, 0.0, 0.0, 0.0)
TURN = 0.5 * math.pi
BLUE, PALE, RED = (0.0, 0.45, 0.70, 1.0), (0.55, 0.72, 0.84, 1.0), (0.84, 0.30, 0.22, 1.0)
ORANGE, YELLOW, GLASS = (0.90, 0.62, 0.0, 1.0), (0.94, 0.80, 0.30, 1.0), (0.55, 0.75, 0.85, 0.35)
HARD: dict[str, Any] = {"solref": (0.01, 1.0), "solimp": (0.99, 0.99, 0.01, 0.5, 2.0)}


def fixture(spec: Any, attitude: tuple[float, ...] = UPRIGHT) -> Any:
    """The body that is placed anew in each episode and then stands still."""
    return spec.worldbody.add_body(name="fixture", mocap=True, quat=attitude, pos=(0.0, 0.85, 0.15))


def touch_frame(spec: Any) -> None:
    """Let what moves in a fixture touch it, as in the original. MuJoCo leaves out contacts of a body with its parent,
    unless the parent belongs to the world; a mocap body does not, so each pair is named."""
    frames = [body for body in spec.worldbody.bodies if body.name == "fixture"]
    for frame, part in ((body, part) for body in frames for part in body.bodies):
        for one, other in itertools.product(_named(frame), _named(part)):
            if one.contype & other.conaffinity or other.contype & one.conaffinity:
                pair = spec.add_pair(geomname1=one.name, geomname2=other.name, condim=max(one.condim, other.condim))
                pair.solref, pair.solimp = other.solref, other.solimp
                slide, spin, roll = (max(each) for each in zip(one.friction, other.friction, strict=True))
                pair.friction = (slide, slide, spin, roll, roll)


def _named(body: Any) -> list[Any]:
    """The shapes of a body, with names."""
    for k, geom in enumerate(body.geoms):
        geom.name = geom.name or f"{body.name}/{k}"
    return list(body.geoms)


def observe(spec: Any, name: str, of: str, attitude: bool) -> None:
    """The position of a body or a site as the state field `name`, and its attitude as `name`_attitude."""
    add_sensor(spec, name, "FRAMEPOS", name, of)
    if attitude:
        add_sensor(spec, f"{name}_attitude", "FRAMEQUAT", name, of)


def slide(body: Any, values: Any, axis: Any, limits: tuple[float, float], damping: float, **spring: float) -> None:
    import mujoco

    kind = mujoco.mjtJoint.mjJNT_SLIDE
    body.add_joint(type=kind, axis=axis, range=limits, armature=0.001, damping=damping * values.damping, **spring)


def hinge(body: Any, values: Any, axis: str, limits: tuple[float, float], damping: float) -> None:
    along = [float(axis == name) for name in "xyz"]
    body.add_joint(axis=along, range=limits, armature=0.001, damping=damping * values.damping)


def rod(body: Any, place: Any, axis: str, radius: float, half: float, color: Any, **more: Any) -> None:
    """A cylinder along an axis of the body, with its center there, m, and more attributes of the geom."""
    import mujoco

    middle, along = place, [0.0, 0.0, 0.0]
    along["xyz".index(axis)] = half
    ends = [m - d for m, d in zip(middle, along, strict=True)] + [m + d for m, d in zip(middle, along, strict=True)]
    kind = mujoco.mjtGeom.mjGEOM_CYLINDER
    body.add_geom(type=kind, size=(radius, 0.0, 0.0), fromto=ends, rgba=color, **more, **HARD)


def ball(body: Any, place: Any, radius: float, color: Any, **more: Any) -> None:
    """A sphere with its center there, m, and more attributes of the geom."""
    import mujoco

    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(radius, 0.0, 0.0), pos=place, rgba=color, **more, **HARD)


def bar(body: Any, start: Any, end: Any, radius: float, color: Any, **weight: float) -> None:
    """A capsule from one point to another, m."""
    import mujoco

    kind = mujoco.mjtGeom.mjGEOM_CAPSULE
    body.add_geom(type=kind, size=(radius, 0.0, 0.0), fromto=(*start, *end), rgba=color, **weight, **HARD)


def coffee_machine(spec: Any, body: Any, color: Any) -> Any:
    """A fixture: a coffee machine without its button, of these colors."""
    machine = fixture(spec)
    for place, size, paint in (
        ((0.069, -0.133, 0.3), (0.031, 0.05, 0.035), color),
        ((-0.069, -0.133, 0.3), (0.031, 0.05, 0.035), color),
        ((0.0, -0.133, 0.352), (0.1, 0.05, 0.018), color),
        ((0.0, -0.133, 0.248), (0.1, 0.05, 0.018), color),
        ((0.0, 0.0, 0.115), (0.1, 0.098, 0.115), body),
        ((0.0, 0.0, 0.3), (0.1, 0.098, 0.07), color),
    ):
        add_box(machine, place, size, paint, **HARD)
    rod(machine, (0.0, -0.109, 0.135), "y", 0.009, 0.018, DARK)
    rod(machine, (0.0, -0.141, 0.152), "z", 0.016, 0.041, DARK)
    return machine


def roughen(body: Any, values: Any) -> None:
    """Sliding friction of all shapes of a body."""
    for geom in body.geoms:
        geom.friction = (values.friction, 0.005, 0.0001)
