"""The fixtures of Meta-World's tasks, whose parts move on joints, built for MuJoCo in code."""

from __future__ import annotations

import math
from typing import Any

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
    bar,
    fixture,
    hinge,
    observe,
    rod,
    roughen,
    slide,
)
from rlenvs.robotics.metaworld.sawyer import DARK, HIDDEN, METAL, WHITE, WOOD, add_box, set_inertia

HANDLE = (0.37572177, -0.10714, 0.0)  # m, the point of the door's handle that is observed, from the hinge
HANDLE_AXES = (0.151171, 0.690758, -0.150621, 0.690879)  # its attitude as observed, w, x, y, z


def add_door(spec: Any, values: Any) -> None:
    """A cabinet whose door turns about a vertical axis on its left; the handle is a bar in front of the door."""
    safe = fixture(spec)
    for place, size in (
        ((-0.204, 0.0, 0.0), (0.016, 0.106, 0.15)),
        ((0.204, 0.0, 0.0), (0.016, 0.106, 0.15)),
        ((0.0, 0.0, 0.138), (0.188, 0.106, 0.012)),
        ((0.0, 0.0, -0.138), (0.189, 0.106, 0.012)),
        ((0.0, 0.094, 0.0), (0.188, 0.012, 0.126)),
    ):
        add_box(safe, place, size, PALE, **HARD)
    door = safe.add_body(name="door", pos=(-0.185, -0.1, 0.0))
    hinge(door, values)
    rod(door, (0.325, -0.006, 0.0), "y", 0.028, 0.012, DARK, 1000.0 * values.mass)
    rod(door, (0.325, -0.065, 0.0), "y", 0.013, 0.047, ORANGE, 1000.0 * values.mass)
    rod(door, (0.381, -0.12, 0.0), "x", 0.019, 0.075, ORANGE, 1000.0 * values.mass)
    rod(door, (0.395, -0.12, 0.0), "x", 0.023, 0.054, ORANGE, 1000.0 * values.mass)
    add_box(door, (0.185, 0.0, 0.0), (0.18, 0.01, 0.123), BLUE, density=1000.0 * values.mass, **HARD)
    door.add_site(name="thing", pos=HANDLE, quat=HANDLE_AXES, rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    roughen(door, values)


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


def add_button(spec: Any, values: Any) -> None:
    """A box with a button on top, held up by a spring."""
    box = fixture(spec, (math.cos(0.5 * TURN), -math.sin(0.5 * TURN), 0.0, 0.0))
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
        rod(pane, (-0.014, -0.028, z), "y", 0.012, 0.003, ORANGE, dense)
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
