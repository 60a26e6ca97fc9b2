"""What stands on the table in each of Meta-World's tasks, built for MuJoCo in code.

Places, joints, masses and the shapes that are touched have Meta-World's dimensions (package metaworld 3.1.1). What a
world draws anew in each episode is a mocap body, the third, `fixture`, or has a free joint. The state field `thing`
holds the object's position that is observed, `mark` another point that a reward needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rlenvs.kits.engines.mujoco_parts import add_sensor
from rlenvs.robotics.metaworld.sawyer import DARK, HIDDEN, METAL, WHITE, WOOD, add_box, set_inertia

UPRIGHT = (1.0, 0.0, 0.0, 0.0)
TURN = 0.5 * math.pi
BLUE, PALE, RED = (0.0, 0.45, 0.70, 1.0), (0.55, 0.72, 0.84, 1.0), (0.84, 0.30, 0.22, 1.0)
ORANGE, YELLOW, GLASS = (0.90, 0.62, 0.0, 1.0), (0.94, 0.80, 0.30, 1.0), (0.55, 0.75, 0.85, 0.35)
HARD: dict[str, Any] = {"solref": (0.01, 1.0), "solimp": (0.99, 0.99, 0.01, 0.5, 2.0)}
HANDLE = (0.37572177, -0.10714, 0.0)  # m, the point of the door's handle that is observed, from the hinge
HANDLE_AXES = (0.151171, 0.690758, -0.150621, 0.690879)  # its attitude as observed, w, x, y, z


def add_puck(spec: Any, values: Any) -> None:
    """A cylinder of 4 cm that lies on the table."""
    import mujoco

    body = spec.worldbody.add_body(name="thing", pos=(0.0, 0.6, 0.02))
    body.add_freejoint(name="thing")
    set_inertia(body, 0.75 * values.mass, (0.0, 0.0, 0.0), UPRIGHT, (8.80012e-4 * values.mass,) * 3)
    disc = body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=(0.02, 0.02, 0.0), condim=4, rgba=ORANGE, **HARD)
    disc.friction = (values.friction, 0.1, 0.002)
    _observe(spec, "thing", "BODY", attitude=True)


def add_peg(spec: Any, values: Any) -> None:
    """A peg that does not turn (its moments of inertia are huge, as in the original), and a block with a hole."""
    import mujoco

    body = spec.worldbody.add_body(name="peg", pos=(0.0, 0.6, 0.03))
    body.add_joint(name="peg", type=mujoco.mjtJoint.mjJNT_FREE, damping=0.005)
    set_inertia(body, 0.1 * values.mass, (0.0, 0.0, 0.0), UPRIGHT, (1e5, 1e5, 1e5))
    add_box(body, (0.0, 0.0, 0.0), (0.12, 0.015, 0.015), ORANGE, friction=(values.friction, 0.005, 0.0001))
    body.add_site(name="thing", pos=(0.03, 0.0, 0.01), rgba=HIDDEN)
    body.add_site(name="mark", pos=(-0.1, 0.0, 0.0), size=(0.006, 0.006, 0.006), rgba=RED)
    _observe(spec, "thing", "SITE", attitude=True)
    add_sensor(spec, "mark", "FRAMEPOS", "mark", "SITE")
    block = _fixture(spec, (math.cos(0.5 * TURN), 0.0, 0.0, math.sin(0.5 * TURN)))
    for place, size, color in (
        ((0.0, 0.0, 0.195), (0.09, 0.1, 0.005), PALE),
        ((0.0, 0.0, 0.05), (0.09, 0.096, 0.05), BLUE),
        ((-0.06, 0.0, 0.13), (0.03, 0.096, 0.03), BLUE),
        ((0.06, 0.0, 0.13), (0.03, 0.096, 0.03), BLUE),
        ((0.0, 0.0, 0.175), (0.09, 0.096, 0.015), BLUE),
        ((0.095, 0.0, 0.1), (0.005, 0.1, 0.1), PALE),
        ((-0.095, 0.0, 0.1), (0.005, 0.1, 0.1), PALE),
    ):
        add_box(block, place, size, color, **HARD)


def add_door(spec: Any, values: Any) -> None:
    """A cabinet whose door turns about a vertical axis on its left; the handle is a bar in front of the door."""
    safe = _fixture(spec)
    for place, size in (
        ((-0.204, 0.0, 0.0), (0.016, 0.106, 0.15)),
        ((0.204, 0.0, 0.0), (0.016, 0.106, 0.15)),
        ((0.0, 0.0, 0.138), (0.188, 0.106, 0.012)),
        ((0.0, 0.0, -0.138), (0.189, 0.106, 0.012)),
        ((0.0, 0.094, 0.0), (0.188, 0.012, 0.126)),
    ):
        add_box(safe, place, size, PALE, **HARD)
    door = safe.add_body(name="door", pos=(-0.185, -0.1, 0.0))
    _hinge(door, values)
    _rod(door, (0.325, -0.006, 0.0), "y", 0.028, 0.012, DARK, 1000.0 * values.mass)
    _rod(door, (0.325, -0.065, 0.0), "y", 0.013, 0.047, ORANGE, 1000.0 * values.mass)
    _rod(door, (0.381, -0.12, 0.0), "x", 0.019, 0.075, ORANGE, 1000.0 * values.mass)
    _rod(door, (0.395, -0.12, 0.0), "x", 0.023, 0.054, ORANGE, 1000.0 * values.mass)
    add_box(door, (0.185, 0.0, 0.0), (0.18, 0.01, 0.123), BLUE, density=1000.0 * values.mass, **HARD)
    door.add_site(name="thing", pos=HANDLE, quat=HANDLE_AXES, rgba=HIDDEN)
    _observe(spec, "thing", "SITE", attitude=True)
    _roughen(door, values)


def add_drawer(spec: Any, values: Any, above: float = 0.0) -> None:
    """A cabinet with a drawer that slides towards the arm; `above` its handle [m] lies the point that is observed."""
    cabinet = _fixture(spec)
    for place, size in (
        ((-0.11, 0.0, 0.084), (0.008, 0.1, 0.084)),
        ((0.11, 0.0, 0.084), (0.008, 0.1, 0.084)),
        ((0.0, 0.092, 0.076), (0.102, 0.008, 0.076)),
        ((0.0, -0.008, 0.014), (0.102, 0.092, 0.014)),
        ((0.0, 0.0, 0.16), (0.102, 0.1, 0.008)),
    ):
        add_box(cabinet, place, size, PALE, **HARD)
    drawer = cabinet.add_body(name="drawer", pos=(0.0, -0.01, 0.09))
    _slide(drawer, values, (0.0, 1.0, 0.0), (-0.16, 0.0), 2.0)
    for place, size in (
        ((0.0, -0.082, 0.008), (0.1, 0.008, 0.052)),
        ((0.0, 0.082, 0.008), (0.1, 0.008, 0.052)),
        ((-0.092, 0.0, 0.008), (0.008, 0.074, 0.052)),
        ((0.092, 0.0, 0.008), (0.008, 0.074, 0.052)),
        ((0.0, 0.0, -0.052), (0.1, 0.09, 0.008)),
    ):
        add_box(drawer, place, size, BLUE, mass=0.04 * values.mass, **HARD)
    for start, end in (
        ((-0.05, -0.09, 0.0), (-0.05, -0.15, 0.0)),
        ((-0.05, -0.15, 0.0), (0.05, -0.15, 0.0)),
        ((0.05, -0.09, 0.0), (0.05, -0.15, 0.0)),
    ):
        _bar(drawer, start, end, 0.009, ORANGE, mass=0.06 * values.mass)
    drawer.add_site(name="thing", pos=(0.0, -0.16, above), rgba=HIDDEN)
    _observe(spec, "thing", "SITE", attitude=True)
    _roughen(drawer, values)


def add_drawer_to_close(spec: Any, values: Any) -> None:
    """The drawer, observed 5 cm above its handle."""
    add_drawer(spec, values, 0.05)


def add_button(spec: Any, values: Any) -> None:
    """A box with a button on top, held up by a spring."""
    box = _fixture(spec, (math.cos(0.5 * TURN), -math.sin(0.5 * TURN), 0.0, 0.0))
    for place, size in (
        ((0.0, 0.012, 0.072), (0.12, 0.102, 0.048)),
        ((0.0, 0.012, -0.072), (0.12, 0.102, 0.048)),
        ((-0.073, 0.012, 0.0), (0.047, 0.102, 0.024)),
        ((0.073, 0.012, 0.0), (0.047, 0.102, 0.024)),
    ):
        add_box(box, place, size, YELLOW, **HARD)
    button = box.add_body(name="button")
    set_inertia(button, 0.01 * values.mass, (0.0, -0.1935, 0.0), UPRIGHT, (0.001, 0.001, 0.001))
    _slide(button, values, (0.0, -1.0, 0.0), (-0.06, 0.0), 1.0, stiffness=0.5, springref=0.5)
    _rod(button, (0.0, -0.128, 0.0), "y", 0.021, 0.039, DARK)
    _rod(button, (0.0, -0.166, 0.0), "y", 0.026, 0.008, DARK)
    _rod(button, (0.0, -0.183, 0.0), "y", 0.043, 0.011, RED)
    button.add_site(name="thing", pos=(0.0, -0.193, 0.0), rgba=HIDDEN)
    _observe(spec, "thing", "SITE", attitude=True)
    _roughen(button, values)


def add_window(spec: Any, values: Any, point: float = -0.04) -> None:
    """A window whose left pane slides to the right by its handle; at `point` [m] along x from the middle of the window
    lies what is observed of the handle, when the pane is on the left."""
    frame = _fixture(spec)
    for place, size in (
        ((-0.216, 0.0, 0.0), (0.015, 0.03, 0.181)),
        ((0.0, 0.0, -0.192), (0.25, 0.06, 0.01)),
        ((0.216, 0.0, 0.0), (0.015, 0.03, 0.181)),
        ((0.0, 0.0, -0.166), (0.201, 0.03, 0.015)),
        ((0.0, 0.0, 0.166), (0.201, 0.03, 0.015)),
    ):
        add_box(frame, place, size, WOOD, **HARD)
    pane = frame.add_body(name="pane")
    _slide(pane, values, (1.0, 0.0, 0.0), (0.0, 0.2), 2.0)
    dense = 1000.0 * values.mass
    for z in (-0.045, 0.045):
        _rod(pane, (-0.014, -0.028, z), "y", 0.012, 0.003, ORANGE, dense)
        _bar(pane, (-0.014, -0.025, z), (-0.014, -0.095, z), 0.008, ORANGE, density=dense)
    _bar(pane, (-0.014, -0.095, -0.045), (-0.014, -0.095, 0.045), 0.008, ORANGE, density=dense)
    for place, size, color in (
        ((-0.014, -0.013, 0.0), (0.014, 0.012, 0.15), WHITE),
        ((-0.19, -0.013, 0.0), (0.01, 0.012, 0.15), WHITE),
        ((-0.104, -0.013, 0.14), (0.076, 0.012, 0.01), WHITE),
        ((-0.104, -0.013, -0.14), (0.076, 0.012, 0.01), WHITE),
        ((-0.104, -0.018, 0.0), (0.076, 0.001, 0.13), GLASS),
        ((-0.104, -0.022, 0.0), (0.076, 0.003, 0.005), WHITE),
    ):
        add_box(pane, place, size, color, density=dense, **HARD)
    for place, size, color in (
        ((0.1, 0.013, -0.14), (0.08, 0.012, 0.01), METAL),
        ((0.1, 0.013, 0.14), (0.08, 0.012, 0.01), METAL),
        ((0.1, 0.008, 0.0), (0.08, 0.001, 0.13), GLASS),
        ((0.1, 0.004, 0.0), (0.08, 0.003, 0.005), METAL),
        ((0.01, 0.013, 0.0), (0.01, 0.012, 0.15), METAL),
        ((0.19, 0.013, 0.0), (0.01, 0.012, 0.15), METAL),
    ):
        add_box(frame, place, size, color, **HARD)
    pane.add_site(name="thing", pos=(point, -0.095, 0.0), rgba=HIDDEN)
    _observe(spec, "thing", "SITE", attitude=False)
    _roughen(pane, values)


def add_window_to_close(spec: Any, values: Any) -> None:
    """The window, whose handle is observed at another point."""
    add_window(spec, values, 0.01)


# by task, in the order of the option `task`
SCENES: dict[str, Callable[[Any, Any], None]] = {
    "reach": add_puck,
    "push": add_puck,
    "pick-place": add_puck,
    "door-open": add_door,
    "drawer-open": add_drawer,
    "drawer-close": add_drawer_to_close,
    "button-press-topdown": add_button,
    "peg-insert-side": add_peg,
    "window-open": add_window,
    "window-close": add_window_to_close,
}


def _fixture(spec: Any, attitude: tuple[float, ...] = UPRIGHT) -> Any:
    """The body that is placed anew in each episode and then stands still."""
    return spec.worldbody.add_body(name="fixture", mocap=True, quat=attitude, pos=(0.0, 0.85, 0.15))


def _observe(spec: Any, name: str, of: str, attitude: bool) -> None:
    """The position of a body or a site as the state field `name`, and its attitude as `name`_attitude."""
    add_sensor(spec, name, "FRAMEPOS", name, of)
    if attitude:
        add_sensor(spec, f"{name}_attitude", "FRAMEQUAT", name, of)


def _slide(body: Any, values: Any, axis: Any, limits: tuple[float, float], damping: float, **spring: float) -> None:
    import mujoco

    kind = mujoco.mjtJoint.mjJNT_SLIDE
    body.add_joint(type=kind, axis=axis, range=limits, armature=0.001, damping=damping * values.damping, **spring)


def _hinge(body: Any, values: Any) -> None:
    body.add_joint(axis=(0.0, 0.0, 1.0), range=(-2.0, 0.0), armature=0.001, damping=2.0 * values.damping)


def _rod(body: Any, place: Any, axis: str, radius: float, half: float, color: Any, density: float = 1000.0) -> None:
    """A cylinder along an axis of the body, with its center there, m."""
    import mujoco

    middle, along = place, [0.0, 0.0, 0.0]
    along["xyz".index(axis)] = half
    ends = [m - d for m, d in zip(middle, along, strict=True)] + [m + d for m, d in zip(middle, along, strict=True)]
    kind = mujoco.mjtGeom.mjGEOM_CYLINDER
    body.add_geom(type=kind, size=(radius, 0.0, 0.0), fromto=ends, rgba=color, density=density, **HARD)


def _bar(body: Any, start: Any, end: Any, radius: float, color: Any, **weight: float) -> None:
    """A capsule from one point to another, m."""
    import mujoco

    kind = mujoco.mjtGeom.mjGEOM_CAPSULE
    body.add_geom(type=kind, size=(radius, 0.0, 0.0), fromto=(*start, *end), rgba=color, **weight, **HARD)


def _roughen(body: Any, values: Any) -> None:
    """Sliding friction of all shapes of a body."""
    for geom in body.geoms:
        geom.friction = (values.friction, 0.005, 0.0001)
