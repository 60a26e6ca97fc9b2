"""Meta-World's tasks of fixtures, a row per task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlenvs.core import choice, f8
from rlenvs.robotics.metaworld import rows
from rlenvs.robotics.metaworld.fixture_scenes import (
    add_button,
    add_door,
    add_drawer,
    add_drawer_to_close,
    add_window,
    add_window_to_close,
)
from rlenvs.robotics.metaworld.rows import FAR, NEAR_ARM, Task, Triple


@dataclass(frozen=True, kw_only=True)
class Fixture(Task):
    """The place that is drawn last is that of the fixture."""

    joint: float = 0.0  # position of the fixture's joint at the start
    # of the reward v1, which pays for the way of the thing to the goal
    span: float = -1.0  # the whole way, m; -1: the horizontal one
    ways: Triple = (1.0, 1.0, 1.0)  # of the axes in what is left of it
    # the scripted policy works in the direction of `push`, while it has not passed its aim by more than `stroke` in
    # this direction (from the door's handle, in any direction)
    push: Triple = (0.0, 0.0, 0.0)
    stroke: float = 0.0


HANDLE: dict[str, Any] = {"aside": 0.02, "above": 0.2}

TASKS: dict[str, Fixture] = {
    "door-open": Fixture(
        summary="Door open: open the door of a cabinet by its handle with a Sawyer arm.",
        thing="handle",
        scene=add_door,
        low=(0.0, 0.85, 0.15),
        high=(0.1, 0.95, 0.15),
        goal=(-0.3, -0.45, 0.0),
        radius=0.08,
        ways=(1.0, 1.0, 0.0),
        axes=(1.0, 0.0, 0.0),
        attitude="xyzw",
        lead=(0.01, 0.03, -0.01),
        above=0.2,
        apart=0.03,
        stroke=0.08,
    ),
    "drawer-open": Fixture(
        summary="Drawer open: pull a drawer open by its handle with a Sawyer arm.",
        thing="handle",
        scene=add_drawer,
        low=(-0.1, 0.9, 0.0),
        high=(0.1, 0.9, 0.0),
        goal=(0.0, -0.36, 0.09),
        radius=0.03,
        span=0.2,
        ways=(0.0, 1.0, 0.0),
        attitude="wxyz",
        lead=(0.0, -0.005, -0.02),
        push=(0.0, -0.1, 0.0),
        stroke=FAR,
        fingers=-1.0,
        **HANDLE,
    ),
    "drawer-close": Fixture(
        summary="Drawer close: push an open drawer shut with a Sawyer arm.",
        thing="handle",
        scene=add_drawer_to_close,
        low=(-0.1, 0.9, 0.0),
        high=(0.1, 0.9, 0.0),
        goal=(0.0, -0.16, 0.09),
        radius=0.065,
        span=0.15,
        ways=(0.0, 1.0, 0.0),
        joint=-0.15,
        lead=(0.0, -0.08, -0.03),
        push=(0.0, 0.15, 0.0),
        stroke=0.2,
        **HANDLE,
    ),
    "button-press-topdown": Fixture(
        summary="Button press: press a button from above with a Sawyer arm.",
        thing="button",
        scene=add_button,
        low=(-0.1, 0.8, 0.115),
        high=(0.1, 0.9, 0.115),
        goal=(0.0, 0.0, 0.1),
        radius=0.024,
        span=0.0935,
        ways=(0.0, 0.0, 1.0),
        axes=(0.0, 0.0, 1.0),
        start=NEAR_ARM,
        attitude="wxyz",
        lead=(0.0, 0.0, 0.05),
        push=(0.0, 0.0, -0.2),
        above=0.04,
        aside=0.03,
        apart=0.06,
        joint=0.00046152,  # where the spring presses it
    ),
    "window-open": Fixture(
        summary="Window open: slide a window open by its handle with a Sawyer arm.",
        thing="handle",
        scene=add_window,
        low=(-0.1, 0.7, 0.16),
        high=(0.1, 0.9, 0.16),
        goal=(0.2, 0.0, 0.0),
        radius=0.05,
        span=0.2,
        ways=(1.0, 0.0, 0.0),
        axes=(1.0, 0.0, 0.0),
        start=NEAR_ARM,
        lead=(-0.035, -0.01, -0.07),
        push=(0.15, 0.0, 0.0),
        stroke=0.1,
        **HANDLE,
    ),
    "window-close": Fixture(
        summary="Window close: slide an open window shut by its handle with a Sawyer arm.",
        thing="handle",
        scene=add_window_to_close,
        low=(0.0, 0.75, 0.2),
        high=(0.0, 0.9, 0.2),
        goal=(0.0, 0.0, 0.0),
        radius=0.05,
        span=0.2,
        ways=(1.0, 0.0, 0.0),
        axes=(1.0, 0.0, 0.0),
        start=NEAR_ARM,
        joint=0.2,
        lead=(0.035, -0.01, -0.07),
        push=(-0.15, 0.0, 0.0),
        stroke=0.1,
        **HANDLE,
    ),
}
TASK = choice(*TASKS, doc="what is to be done")

DATA = {
    **rows.DATA,
    **dict.fromkeys(("push", "ways"), f8(3)),
    **dict.fromkeys(("joint", "stroke", "span"), f8),
}
