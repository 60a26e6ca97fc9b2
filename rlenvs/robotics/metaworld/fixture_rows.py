"""Meta-World's tasks of fixtures, a row per task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core import choice, f8, i4
from rlenvs.robotics.metaworld import fixture_scenes as scenes
from rlenvs.robotics.metaworld import rows
from rlenvs.robotics.metaworld.rows import COFFEE, FAR, LATER, NEAR_ARM, ON_THE_LEFT, Task, Triple


@dataclass(frozen=True, kw_only=True)
class Fixture(Task):
    """A place that is drawn is that of the fixture."""

    joint: tuple[float, ...] = (0.0,)  # positions of the moving part's joints at the start
    first: bool = False  # whether the fixture stands at the place drawn first; otherwise at the last
    loose: Triple | None = None  # from the fixture to a thing that stands beside it
    # of the reward v1, which pays for the way of the thing to the goal
    span: float = -1.0  # the whole way, m; -1: the horizontal one
    ways: Triple = (1.0, 1.0, 1.0)  # of the axes in what is left of it
    by_left_finger: bool = False  # whether the way to the thing is measured from the left finger
    # the scripted policy works in the direction of `push`, while it has not passed its aim by more than `stroke` in
    # this direction
    push: Triple = (0.0, 0.0, 0.0)
    stroke: float = 0.0
    towards: bool = False  # whether it pushes towards the goal, and in the direction of `push` only along z
    held: float = 1.0  # opening of the fingers, 0 to 1, at which they hold the thing
    # where something turns about the vertical, its axis, from the fixture, and from there the point that is pushed:
    # the hand goes ahead of it by the way to the goal, along the axis `along` (0: x), divided by `gain` [m]
    pivot: Triple = (0.0, 0.0, 0.0)
    bar: Triple = (0.0, 0.0, 0.0)
    along: int = 0
    gain: float = 0.0


HANDLE: dict[str, Any] = {"aside": 0.02, "above": 0.2}
HINGE = (-0.185, -0.1, 0.0)  # m, of the door, from the cabinet
LOW = (-0.5, 0.4, -0.15)  # lower bounds of the hand in some tasks
AHEAD: dict[str, Any] = {"axes": (0.0, 1.0, 0.0), "ways": (0.0, 1.0, 0.0), "by_left_finger": True}
UP: dict[str, Any] = {"axes": (0.0, 0.0, 1.0), "ways": (0.0, 0.0, 1.0)}
BOLT: dict[str, Any] = {"thing": "bolt", "low": (-0.1, 0.8, 0.15), "high": (0.1, 0.85, 0.15), "lowest": LOW}
FAUCET: dict[str, Any] = {
    **{"radius": 0.07, "span": math.sqrt(0.175**2 + 0.125**2), "start": NEAR_ARM, "lowest": LOW, "attitude": "wxyz"},
    **{"bar": (0.0, -0.175, 0.0), "gain": 0.05, "stroke": 0.06},
}
PRESSED: dict[str, Any] = {
    **{"radius": 0.02, "joint": (-0.001,), "span": 0.096, "by_left_finger": True, **UP},
    **{"lead": (0.0, 0.0, 0.05), "push": (0.0, 0.0, -0.2), "above": 0.06, "apart": 0.06},
}
PULLED: dict[str, Any] = {"joint": (-0.1,), "by_left_finger": True, "push": (0.0, 0.0, 0.05), "fingers": -1.0}
SLID: dict[str, Any] = {"thing": "plate", "radius": 0.07, "ways": (1.0, 1.0, 0.0), "attitude": "xyzw", "towards": True}
SIDE_X, SIDE_Y = 0.216 * math.sin(1.57), -0.216 * math.cos(1.57)  # m, of goals of handles on the right

TASKS: dict[str, Fixture] = {
    "door-open": Fixture(
        summary="Door open: open the door of a cabinet by its handle with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_door,
        low=(0.0, 0.85, 0.15),
        high=(0.1, 0.95, 0.15),
        goal=(-0.3, -0.45, 0.0),
        radius=0.08,
        ways=(1.0, 1.0, 0.0),
        axes=(1.0, 0.0, 0.0),
        attitude="xyzw",
        pivot=HINGE,
        bar=scenes.HANDLE,
        gain=scenes.HANDLE[0],
        lead=(0.01, 0.03, -0.01),
        above=0.2,
        apart=0.03,
        stroke=0.08,
    ),
    "drawer-open": Fixture(
        summary="Drawer open: pull a drawer open by its handle with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_drawer,
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
        scene=scenes.add_drawer_to_close,
        low=(-0.1, 0.9, 0.0),
        high=(0.1, 0.9, 0.0),
        goal=(0.0, -0.16, 0.09),
        radius=0.065,
        span=0.15,
        ways=(0.0, 1.0, 0.0),
        joint=(-0.15,),
        lead=(0.0, -0.08, -0.03),
        push=(0.0, 0.15, 0.0),
        stroke=0.2,
        **HANDLE,
    ),
    "button-press-topdown": Fixture(
        summary="Button press: press a button from above with a Sawyer arm.",
        thing="button",
        scene=scenes.add_button_on_top,
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
        joint=(0.00046152,),  # where the spring presses it
    ),
    "window-open": Fixture(
        summary="Window open: slide a window open by its handle with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_window,
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
        scene=scenes.add_window_to_close,
        low=(0.0, 0.75, 0.2),
        high=(0.0, 0.9, 0.2),
        goal=(0.0, 0.0, 0.0),
        radius=0.05,
        span=0.2,
        ways=(1.0, 0.0, 0.0),
        axes=(1.0, 0.0, 0.0),
        start=NEAR_ARM,
        joint=(0.2,),
        lead=(0.035, -0.01, -0.07),
        push=(-0.15, 0.0, 0.0),
        stroke=0.1,
        **HANDLE,
    ),
    "button-press": Fixture(
        summary="Button: press a button in the side of a box with a Sawyer arm.",
        thing="button",
        scene=scenes.add_button,
        low=(-0.1, 0.85, 0.115),
        high=(0.1, 0.9, 0.115),
        goal=(0.0, -0.1, 0.0),
        radius=0.02,
        span=0.0935,
        start=NEAR_ARM,
        attitude="wxyz",
        lead=(0.0, -0.03, 0.03),
        push=(0.0, 0.2, 0.0),
        stroke=FAR,
        **AHEAD,
    ),
    "button-press-wall": Fixture(
        summary="Button behind a wall: reach over a wall and press a button with a Sawyer arm.",
        thing="button",
        scene=scenes.add_button_behind_wall,
        low=(-0.05, 0.85, 0.1149),
        high=(0.05, 0.9, 0.1151),
        goal=(0.0, -0.1, 0.0),
        radius=0.03,
        span=0.0,
        start=NEAR_ARM,
        attitude="wxyz",
        lead=(0.0, -0.02, 0.03),
        push=(0.0, 0.2, 0.0),
        stroke=FAR,
        above=0.2,
        aside=0.01,
        **AHEAD,
    ),
    "button-press-topdown-wall": Fixture(
        summary="Button press behind a wall: reach over a wall and press a button from above with a Sawyer arm.",
        thing="button",
        scene=scenes.add_button_on_top_behind_wall,
        low=(-0.1, 0.8, 0.115),
        high=(0.1, 0.9, 0.115),
        goal=(0.0, 0.0, 0.1),
        radius=0.024,
        span=0.0935,
        start=NEAR_ARM,
        attitude="wxyz",
        lead=(0.0, 0.0, 0.05),
        push=(0.0, 0.0, -0.2),
        above=0.04,
        aside=0.03,
        apart=0.06,
        joint=(0.00046152,),  # where the spring presses it
        **UP,
    ),
    "coffee-button": Fixture(
        summary="Coffee button: press the button of a coffee machine with a Sawyer arm.",
        thing="button",
        scene=scenes.add_coffee_machine,
        low=(-0.1, 0.8, -0.001),
        high=(0.1, 0.9, 0.001),
        goal=(0.0, -0.19, 0.3),
        goals=((-0.101, 0.609, 0.298), (0.101, 0.711, 0.302)),
        radius=0.02,
        span=0.03,
        start=COFFEE,
        attitude="wxyz",
        loose=(0.0, -0.22, 0.0),
        lead=(0.0, -0.04, 0.03),
        push=(0.0, 0.2, 0.0),
        stroke=FAR,
        **AHEAD,
    ),
    "door-lock": Fixture(
        summary="Door lock: turn a bolt down to lock a door with a Sawyer arm.",
        scene=scenes.add_lock,
        goal=(0.0, -0.158, -0.039),
        radius=0.02,
        axes=(0.0, 0.0, 1.0),
        span=math.sqrt(0.04**2 + 0.1**2),
        start=LATER,
        attitude="wxyz",
        joint=(0.00013,),  # as far as it has sunk
        lead=(-0.05, 0.016, 0.06),
        push=(0.002, 0.0, -0.2),
        stroke=0.08,
        apart=0.06,
        **BOLT,
    ),
    "door-unlock": Fixture(
        summary="Door unlock: turn a bolt up to unlock a door with a Sawyer arm.",
        scene=scenes.add_lock_to_open,
        goal=(0.1, -0.158, 0.061),
        goals=((0.0, 0.64, 0.21), (0.2, 0.7, 0.2111)),
        radius=0.02,
        axes=(1.0, 0.0, 0.0),
        span=math.sqrt(0.04**2 + 0.1**2),
        attitude="wxyz",
        joint=(1.5708,),
        lead=(-0.05, -0.03, -0.03),
        push=(0.1, 0.0, 0.08),
        stroke=FAR,
        **BOLT,
    ),
    "door-close": Fixture(
        summary="Door close: close the open door of a cabinet with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_door,
        low=(0.0, 0.85, 0.15),
        high=(0.1, 0.95, 0.15),
        goal=(0.2, -0.2, 0.0),
        goals=((0.2, 0.65, 0.1499), (0.3, 0.75, 0.1501)),
        radius=0.08,
        ways=(1.0, 1.0, 0.0),
        start=ON_THE_LEFT,
        attitude="xyzw",
        joint=(-1.5708,),
        pivot=HINGE,
        bar=scenes.HANDLE,
        gain=scenes.HANDLE[0],
        lead=(0.0, -0.07, -0.01),
        above=0.2,
        apart=0.03,
        stroke=0.08,
    ),
    "dial-turn": Fixture(
        summary="Dial: turn a dial by half a turn with a Sawyer arm.",
        thing="dial",
        scene=scenes.add_dial,
        low=(-0.1, 0.7, 0.0),
        high=(0.1, 0.8, 0.0),
        goal=(0.0, 0.03, 0.03),
        goals=((-0.1, 0.73, 0.0299), (0.1, 0.83, 0.0301)),
        radius=0.07,
        span=0.03,
        ways=(0.0, 1.0, 0.0),
        attitude="wxyz",
        bar=(0.0, -0.05, 0.0),
        along=1,
        gain=-0.1,
        lead=(0.035, 0.015, 0.09),
        stroke=0.05,
    ),
    "faucet-open": Fixture(
        summary="Faucet open: turn the handle of a faucet to the right with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_faucet,
        low=(-0.05, 0.8, 0.0),
        high=(0.05, 0.85, 0.0),
        goal=(0.175, 0.0, 0.125),
        off=(0.04, 0.0, -0.03),
        lead=(-0.045, 0.055, 0.02),
        **FAUCET,
    ),
    "faucet-close": Fixture(
        summary="Faucet close: turn the handle of a faucet to the left with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_faucet_to_close,
        low=(-0.1, 0.8, 0.0),
        high=(0.1, 0.85, 0.0),
        goal=(-0.175, 0.0, 0.125),
        lead=(0.045, 0.055, 0.02),
        **FAUCET,
    ),
    "handle-press": Fixture(
        summary="Handle press: press a handle down with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_handle,
        low=(-0.1, 0.8, -0.001),
        high=(0.1, 0.9, 0.001),
        goal=(0.0, -0.216, 0.075),
        goals=((-0.1, 0.55, 0.04), (0.1, 0.7, 0.08)),
        **PRESSED,
    ),
    "handle-press-side": Fixture(
        summary="Handle press, sideways: press a handle on the right of its box down with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_handle_sideways,
        low=(-0.35, 0.65, -0.001),
        high=(-0.25, 0.75, 0.001),
        goal=(SIDE_X, SIDE_Y, 0.075),
        **PRESSED,
    ),
    "handle-pull": Fixture(
        summary="Handle pull: pull a handle up with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_handle_to_pull,
        low=(-0.1, 0.8, -0.001),
        high=(0.1, 0.9, 0.001),
        goal=(0.0, -0.216, 0.172),
        goals=((-0.1, 0.55, 0.04), (0.1, 0.7, 0.18)),
        radius=0.05,
        span=0.15,
        lead=(-0.02, 0.0, 0.0),
        held=0.65,
        **PULLED,
        **UP,
    ),
    "handle-pull-side": Fixture(
        summary="Handle pull, sideways: pull a handle on the right of its box up with a Sawyer arm.",
        thing="handle",
        scene=scenes.add_handle_sideways_to_pull,
        low=(-0.35, 0.65, 0.0),
        high=(-0.25, 0.75, 0.0),
        goal=(SIDE_X, SIDE_Y, 0.172),
        radius=0.08,
        span=0.1,
        ways=(0.0, 0.0, 1.0),
        held=0.85,
        **PULLED,
    ),
    "lever-pull": Fixture(
        summary="Lever: lift a lever until it is upright with a Sawyer arm.",
        thing="lever",
        scene=scenes.add_lever,
        low=(-0.1, 0.7, 0.0),
        high=(0.1, 0.8, 0.0),
        goal=(0.12, 0.0, 0.45),
        lowest=LOW,
        radius=math.pi / 24.0,
        span=math.sqrt(0.12**2 + 0.45**2),
        start=NEAR_ARM,
        attitude="xyzw",
        joint=(0.00089,),  # as far as it has sunk
        lead=(0.0, -0.055, -0.08),
        push=(0.0, 0.1, 0.1),
        above=-0.05,
        stroke=FAR,
    ),
    "plate-slide": Fixture(
        summary="Plate slide: push a plate into a net with a Sawyer arm.",
        scene=scenes.add_plate,
        low=(0.0, 0.6, 0.0, -0.1, 0.85, 0.0),
        high=(0.0, 0.6, 0.0, 0.1, 0.9, 0.0),
        joint=(0.0, 0.0),
        lead=(0.0, -0.08, 0.035),
        push=(0.0, 0.1, 0.0),
        stroke=0.2,
        **SLID,
    ),
    "plate-slide-side": Fixture(
        summary="Plate slide, sideways: push a plate to the left into a net with a Sawyer arm.",
        scene=scenes.add_plate_and_net_on_the_left,
        low=(0.0, 0.6, 0.0, -0.3, 0.54, 0.0),
        high=(0.0, 0.6, 0.0, -0.25, 0.66, 0.0),
        joint=(0.0, 0.0),
        first=True,
        lead=(0.08, 0.0, 0.035),
        push=(-0.1, 0.0, 0.0),
        stroke=0.2,
        **SLID,
    ),
    "plate-slide-back": Fixture(
        summary="Plate slide back: draw a plate out of a net with a Sawyer arm.",
        scene=scenes.add_plate,
        low=(0.0, 0.85, 0.0, -0.1, 0.6, 0.015),
        high=(0.0, 0.85, 0.0, 0.1, 0.6, 0.015),
        joint=(0.0, 0.15),
        first=True,
        lead=(0.0, -0.02, 0.06),
        push=(0.0, 0.0, -0.02),
        **SLID,
    ),
    "plate-slide-back-side": Fixture(
        summary="Plate slide back, sideways: draw a plate out of a net to the right with a Sawyer arm.",
        scene=scenes.add_plate_in_net_on_the_left,
        low=(-0.25, 0.6, 0.0, -0.05, 0.6, 0.015),
        high=(-0.25, 0.6, 0.0, 0.15, 0.6, 0.015),
        joint=(-0.15, 0.0),
        first=True,
        lead=(0.02, 0.0, 0.06),
        push=(0.0, 0.0, -0.02),
        **SLID,
    ),
}
TASK = choice(*TASKS, doc="what is to be done")

DATA = {
    **rows.DATA,
    **dict.fromkeys(("push", "ways", "pivot", "bar", "loose"), f8(3)),
    **dict.fromkeys(("stroke", "span", "held", "gain"), f8),
    **dict.fromkeys(("by_left_finger", "towards", "along", "stand", "joints", "has_loose"), i4),
    "joint": f8(2),
}


def numbers(task: Fixture) -> dict[str, Any]:
    """What kernels see of a row."""
    found = rows.numbers(task, DATA)
    found |= {"joint": np.resize(task.joint, 2), "joints": len(task.joint), "stand": 0 if task.first else found["last"]}
    return found | {"loose": task.loose or (0.0, 0.0, 0.0), "has_loose": task.loose is not None}
