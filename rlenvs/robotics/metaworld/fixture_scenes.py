"""The fixtures of Meta-World's tasks, whose parts move on joints, built for MuJoCo in code."""

from __future__ import annotations

import math
from typing import Any

from rlenvs.kits.engines.mujoco_parts import add_sensor
from rlenvs.robotics.metaworld.parts import (
    BLUE,
    GLASS,
    HARD,
    ORANGE,
    PALE,
    RED,
    TURN,
    UPRIGHT,
    YELLOW,
    ball,
    bar,
    coffee_machine,
    fixture,
    hinge,
    observe,
    rod,
    roughen,
    slide,
)
from rlenvs.robotics.metaworld.sawyer import DARK, HIDDEN, METAL, STANDING, UNTOUCHED, WHITE, WOOD, add_box, set_inertia

HANDLE = (0.37572177, -0.10714, 0.0)  # m, the point of the door's handle that is observed, from the hinge
HANDLE_AXES = (0.151171, 0.690758, -0.150621, 0.690879)  # its attitude as observed, w, x, y, z
LEVER_AXES = (0.6625, 0.6625, -0.24717, 0.24717)  # the same of the lever's ball
SIDEWAYS = (math.cos(0.785), 0.0, 0.0, math.sin(0.785))  # the original's 1.57 about the vertical


def _cabinet(spec: Any) -> Any:
    """The body that is the frame of the door."""
    safe = fixture(spec)
    add_box(safe, (-0.204, 0.0, 0.0), (0.016, 0.106, 0.15), PALE, **HARD)
    for place, size in (
        ((0.204, 0.0, 0.0), (0.016, 0.106, 0.15)),
        ((0.0, 0.0, 0.138), (0.188, 0.106, 0.012)),
        ((0.0, 0.0, -0.138), (0.189, 0.106, 0.012)),
        ((0.0, 0.094, 0.0), (0.188, 0.012, 0.126)),
    ):
        add_box(safe, place, size, PALE, **HARD)
    return safe


def add_door(spec: Any, values: Any) -> None:
    """A cabinet whose door turns about a vertical axis on its left; the handle is a bar in front of the door."""
    safe = _cabinet(spec)
    door = safe.add_body(name="door", pos=(-0.185, -0.1, 0.0))
    hinge(door, values, "z", (-2.0, 0.0), 2.0)
    rod(door, (0.325, -0.006, 0.0), "y", 0.028, 0.012, DARK, density=1000.0 * values.mass)
    rod(door, (0.325, -0.065, 0.0), "y", 0.013, 0.047, ORANGE, density=1000.0 * values.mass)
    rod(door, (0.381, -0.12, 0.0), "x", 0.019, 0.075, ORANGE, density=1000.0 * values.mass)
    rod(door, (0.395, -0.12, 0.0), "x", 0.023, 0.054, ORANGE, density=1000.0 * values.mass)
    add_box(door, (0.185, 0.0, 0.0), (0.18, 0.01, 0.123), BLUE, density=1000.0 * values.mass, **HARD)
    door.add_site(name="thing", pos=HANDLE, quat=HANDLE_AXES, rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    roughen(door, values)


def add_lock(spec: Any, values: Any, point: float = 0.01) -> None:
    """The cabinet, closed, with a bolt that turns about an axis across the door, from level down; `point` [m] above the
    middle of its end is what is observed."""
    safe = _cabinet(spec)
    for place, size, color in (
        ((0.0, -0.1, 0.0), (0.184, 0.01, 0.124), BLUE),
        ((0.0, -0.109, 0.061), (0.047, 0.013, 0.047), DARK),
        ((0.14, -0.106, -0.05), (0.028, 0.012, 0.028), DARK),
        ((0.14, -0.165, -0.05), (0.013, 0.047, 0.013), WHITE),
        ((0.196, -0.22, -0.05), (0.075, 0.019, 0.019), WHITE),
        ((0.21, -0.22, -0.05), (0.054, 0.023, 0.023), WHITE),
    ):
        add_box(safe, place, size, color, **HARD)
    bolt = safe.add_body(name="bolt", pos=(0.0, -0.118, 0.061))
    hinge(bolt, values, "y", (0.0, 1.57), 2.0)
    add_box(bolt, (0.042, -0.024, 0.0), (0.05, 0.019, 0.01), ORANGE, mass=0.001 * values.mass, **HARD)
    bolt.add_site(name="thing", pos=(0.09, -0.04, point), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=False)
    add_sensor(spec, "thing_attitude", "FRAMEQUAT", "fixture")
    roughen(bolt, values)


def add_lock_to_open(spec: Any, values: Any) -> None:
    """The bolt, observed on its other side."""
    add_lock(spec, values, -0.01)


def add_drawer(spec: Any, values: Any, above: float = 0.0) -> None:
    """A cabinet with a drawer that slides towards the arm; `above` its handle [m] lies the point that is observed."""
    cabinet = fixture(spec)
    for place, size in (
        ((-0.11, 0.0, 0.084), (0.008, 0.1, 0.084)),
        ((0.11, 0.0, 0.084), (0.008, 0.1, 0.084)),
        ((0.0, 0.092, 0.076), (0.102, 0.008, 0.076)),
        ((0.0, -0.008, 0.014), (0.102, 0.092, 0.014)),
        ((0.0, 0.0, 0.16), (0.102, 0.1, 0.008)),
    ):
        add_box(cabinet, place, size, PALE, **HARD)
    drawer = cabinet.add_body(name="drawer", pos=(0.0, -0.01, 0.09))
    slide(drawer, values, (0.0, 1.0, 0.0), (-0.16, 0.0), 2.0)
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
        bar(drawer, start, end, 0.009, ORANGE, mass=0.06 * values.mass)
    drawer.add_site(name="thing", pos=(0.0, -0.16, above), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    roughen(drawer, values)


def add_drawer_to_close(spec: Any, values: Any) -> None:
    """The drawer, observed 5 cm above its handle."""
    add_drawer(spec, values, 0.05)


def add_button(spec: Any, values: Any, attitude: Any = UPRIGHT) -> None:
    """A box with a button towards the arm, held out by a spring."""
    box = fixture(spec, attitude)
    for place, size in (
        ((0.0, 0.012, 0.072), (0.12, 0.102, 0.048)),
        ((0.0, 0.012, -0.072), (0.12, 0.102, 0.048)),
        ((-0.073, 0.012, 0.0), (0.047, 0.102, 0.024)),
        ((0.073, 0.012, 0.0), (0.047, 0.102, 0.024)),
    ):
        add_box(box, place, size, YELLOW, **HARD)
    button = box.add_body(name="button")
    set_inertia(button, 0.01 * values.mass, (0.0, -0.1935, 0.0), UPRIGHT, (0.001, 0.001, 0.001))
    slide(button, values, (0.0, -1.0, 0.0), (-0.06, 0.0), 1.0, stiffness=0.5, springref=0.5)
    rod(button, (0.0, -0.128, 0.0), "y", 0.021, 0.039, DARK)
    rod(button, (0.0, -0.166, 0.0), "y", 0.026, 0.008, DARK)
    rod(button, (0.0, -0.183, 0.0), "y", 0.043, 0.011, RED)
    button.add_site(name="thing", pos=(0.0, -0.193, 0.0), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    roughen(button, values)


def add_button_on_top(spec: Any, values: Any) -> None:
    """The box, with its button on top."""
    add_button(spec, values, (math.cos(0.5 * TURN), -math.sin(0.5 * TURN), 0.0, 0.0))


def add_button_behind_wall(spec: Any, values: Any) -> None:
    """The button towards the arm, behind a low wall."""
    add_button(spec, values)
    _wall(spec, 0.6)


def add_button_on_top_behind_wall(spec: Any, values: Any) -> None:
    """The button on top, behind a low wall."""
    add_button_on_top(spec, values)
    _wall(spec, 0.7)


def _wall(spec: Any, y: float) -> None:
    """A wall of 20 cm that stands there, y [m], whatever is drawn."""
    add_box(spec.worldbody, (0.1, y, 0.075), (0.1, 0.01, 0.075), WOOD, **STANDING, **HARD)


def add_coffee_machine(spec: Any, values: Any) -> None:
    """A coffee machine with a button in front, and a mug below it."""
    machine = coffee_machine(spec, RED, RED)
    button = machine.add_body(name="button")
    slide(button, values, (0.0, 1.0, 0.0), (0.0, 0.03), 1.0)
    rod(button, (0.0, -0.19, 0.3), "y", 0.032, 0.03, METAL, mass=0.1 * values.mass)
    button.add_site(name="thing", pos=(0.0, -0.22, 0.3), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    roughen(button, values)
    mug = spec.worldbody.add_body(name="mug", pos=(0.0, 0.6, 0.1))
    mug.add_freejoint(name="mug")
    rod(mug, (0.0, 0.0, 0.035), "z", 0.028, 0.033, WHITE, mass=0.1)
    rod(mug, (0.034, 0.0, 0.042), "y", 0.02, 0.005, WHITE, mass=0.01)


def add_window(spec: Any, values: Any, point: float = -0.04) -> None:
    """A window whose left pane slides to the right by its handle; at `point` [m] along x from the middle of the window
    lies what is observed of the handle, when the pane is on the left."""
    frame = fixture(spec)
    for place, size in (
        ((-0.216, 0.0, 0.0), (0.015, 0.03, 0.181)),
        ((0.0, 0.0, -0.192), (0.25, 0.06, 0.01)),
        ((0.216, 0.0, 0.0), (0.015, 0.03, 0.181)),
        ((0.0, 0.0, -0.166), (0.201, 0.03, 0.015)),
        ((0.0, 0.0, 0.166), (0.201, 0.03, 0.015)),
    ):
        add_box(frame, place, size, WOOD, **HARD)
    pane = frame.add_body(name="pane")
    slide(pane, values, (1.0, 0.0, 0.0), (0.0, 0.2), 2.0)
    dense = 1000.0 * values.mass
    for z in (-0.045, 0.045):
        rod(pane, (-0.014, -0.028, z), "y", 0.012, 0.003, ORANGE, density=dense)
        bar(pane, (-0.014, -0.025, z), (-0.014, -0.095, z), 0.008, ORANGE, density=dense)
    bar(pane, (-0.014, -0.095, -0.045), (-0.014, -0.095, 0.045), 0.008, ORANGE, density=dense)
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
    observe(spec, "thing", "SITE", attitude=False)
    roughen(pane, values)


def add_window_to_close(spec: Any, values: Any) -> None:
    """The window, whose handle is observed at another point."""
    add_window(spec, values, 0.01)


def add_dial(spec: Any, values: Any) -> None:
    """A dial that turns about the vertical, with a knob across it; at the knob's end is what is observed."""
    dial = fixture(spec).add_body(name="dial")
    hinge(dial, values, "z", (-3.14, 3.14), 1.0)
    rod(dial, (0.0, 0.0, 0.018), "z", 0.05, 0.018, DARK, density=1000.0 * values.mass, **STANDING)
    add_box(dial, (0.0, 0.0, 0.051), (0.015, 0.046, 0.015), METAL, density=1000.0 * values.mass, **STANDING, **HARD)
    add_box(dial, (0.0, -0.038, 0.067), (0.004, 0.01, 0.002), RED, **UNTOUCHED)
    dial.add_site(name="thing", pos=(0.0, -0.05, 0.0), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    roughen(dial, values)


def add_faucet(spec: Any, values: Any, point: float = -0.015) -> None:
    """A faucet whose handle turns about the vertical; what is observed lies `point` [m] along x from its end."""
    base = fixture(spec)
    rod(base, (0.0, 0.0, 0.009), "z", 0.046, 0.009, METAL)
    rod(base, (0.0, 0.0, 0.061), "z", 0.017, 0.044, METAL)
    handle = base.add_body(name="handle", pos=(0.0, 0.0, 0.124))
    hinge(handle, values, "z", (-1.57, 1.57), 2.0)
    dense = 1000.0 * values.mass
    rod(handle, (0.0, -0.05, 0.001), "y", 0.012, 0.021, METAL, density=dense)
    bar(handle, (0.0, -0.065, 0.001), (0.0, -0.175, 0.001), 0.017, ORANGE, density=dense)
    rod(handle, (0.0, 0.0, 0.001), "z", 0.032, 0.02, METAL, density=dense)
    handle.add_site(name="thing", pos=(point, -0.175, -0.01), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=False)
    add_sensor(spec, "thing_attitude", "FRAMEQUAT", "fixture")
    roughen(handle, values)


def add_faucet_to_close(spec: Any, values: Any) -> None:
    """The faucet, observed on the other side of its handle."""
    add_faucet(spec, values, 0.015)


def add_handle(spec: Any, values: Any, point: Any = (0.0, -0.166, 0.022), attitude: Any = UPRIGHT) -> None:
    """A box with a handle in front that slides up and down; `point` [m] of the handle is observed."""
    box = fixture(spec, attitude)
    for x, half in ((0.0604, 0.0259), (-0.0606, 0.0259)):  # the sides, rounded in front at the top
        add_box(box, (x, 0.0, 0.0475), (half, 0.11, 0.0475), PALE, **STANDING, **HARD)
        add_box(box, (x, 0.0623, 0.15735), (half, 0.0477, 0.06235), PALE, **STANDING, **HARD)
        rod(box, (x, 0.0146, 0.095), "x", 0.1246, half - 0.0005, PALE, **STANDING)
    add_box(box, (-0.0002, 0.0277, 0.10985), (0.0349, 0.0823, 0.10985), PALE, **STANDING, **HARD)
    add_box(box, (0.0, -0.082, 0.014), (0.035, 0.028, 0.014), PALE, **STANDING, **HARD)
    handle = box.add_body(name="handle", pos=(0.0, -0.05, 0.15))
    slide(handle, values, (0.0, 0.0, 1.0), (-0.1, 0.0), 30.0)
    light = 0.001 * values.mass
    add_box(handle, (0.0, -0.081, 0.0), (0.032, 0.075, 0.011), DARK, mass=light, **STANDING, **HARD)
    rod(handle, (0.0, -0.166, 0.0), "x", 0.022, 0.07, ORANGE, mass=light, **STANDING)
    handle.add_site(name="thing", pos=point, rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=False)
    roughen(handle, values)


def add_handle_sideways(spec: Any, values: Any) -> None:
    """The handle on the right of its box."""
    add_handle(spec, values, attitude=SIDEWAYS)


def add_handle_to_pull(spec: Any, values: Any) -> None:
    """The handle, observed on its right."""
    add_handle(spec, values, (0.05, -0.166, 0.014))


def add_handle_sideways_to_pull(spec: Any, values: Any) -> None:
    """The handle on the right of its box, observed where the lever joins it."""
    add_handle(spec, values, (0.0, -0.12, 0.0), SIDEWAYS)


def add_lever(spec: Any, values: Any) -> None:
    """A lever with a ball at its end, that turns about an axis across the table."""
    base = fixture(spec)
    add_box(base, (0.0, 0.0, 0.125), (0.041, 0.083, 0.125), PALE, **HARD)
    add_box(base, (0.0, 0.0, 0.013), (0.05, 0.092, 0.013), PALE, **HARD)
    rod(base, (0.0, 0.0, 0.25), "x", 0.083, 0.041, PALE)
    lever = base.add_body(name="lever", pos=(0.12, 0.0, 0.25))
    hinge(lever, values, "x", (0.0, 1.57), 2.0)
    light = 0.001 * values.mass
    rod(lever, (0.0, 0.0, 0.0), "x", 0.038, 0.016, METAL, mass=light)
    rod(lever, (-0.025, 0.0, 0.0), "x", 0.016, 0.046, METAL, mass=light)
    rod(lever, (0.0, -0.091, 0.0), "y", 0.012, 0.1, METAL, mass=light)
    ball(lever, (0.0, -0.2, 0.0), 0.03, BLUE, mass=light)
    lever.add_site(name="thing", pos=(0.0, -0.2, 0.0), quat=LEVER_AXES, rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    roughen(lever, values)


def add_plate(spec: Any, values: Any, attitude: Any = UPRIGHT) -> None:
    """A plate that slides over the table, and a net whose opening is towards the arm."""
    plate = spec.worldbody.add_body(name="thing", pos=(0.0, 0.6, 0.015))
    slide(plate, values, (1.0, 0.0, 0.0), (-0.2, 0.2), 1.0)
    slide(plate, values, (0.0, 1.0, 0.0), (0.0, 0.3), 1.0)
    add_box(plate, (0.0, 0.0, 0.0), (0.05, 0.05, 0.015), ORANGE, mass=0.05 * values.mass, **HARD)
    observe(spec, "thing", "BODY", attitude=True)
    roughen(plate, values)
    net = fixture(spec, attitude)
    for x in (-0.1, 0.1):
        add_box(net, (1.015 * x, 0.0, 0.0914), (0.0035, 0.0698, 0.082), GLASS, **HARD)
        bar(net, (x, -0.069, 0.009), (x, 0.077, 0.009), 0.008, RED)
        bar(net, (x, -0.0685, 0.009), (x, -0.0685, 0.173), 0.008, RED)
    tilt = (math.cos(0.1236), math.sin(0.1236), 0.0, 0.0)
    add_box(net, (0.0, 0.0577, 0.0915), (0.1, 0.0025, 0.0846), GLASS, quat=tilt, **HARD)
    add_box(net, (0.0, -0.016, 0.1767), (0.1, 0.0535, 0.0027), GLASS, **HARD)
    bar(net, (-0.1, -0.0685, 0.174), (0.1, -0.0685, 0.174), 0.008, RED)
    bar(net, (-0.1, 0.077, 0.009), (0.1, 0.077, 0.009), 0.008, RED)


def add_plate_and_net_to_the_right(spec: Any, values: Any) -> None:
    """The plate, and a net whose opening is on the right."""
    add_plate(spec, values, SIDEWAYS)
