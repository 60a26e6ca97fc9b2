"""Meta-World's tasks in which something is carried or pushed, a row per task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlenvs.core import choice, f8, i4
from rlenvs.robotics.metaworld import rows
from rlenvs.robotics.metaworld.carried_scenes import add_peg, add_puck
from rlenvs.robotics.metaworld.rows import SUNK, Task, Triple


@dataclass(frozen=True, kw_only=True)
class Carried(Task):
    """The first place that is drawn is that of a thing with a free joint."""

    clear: float = 0.0  # least horizontal distance of the two drawn places
    fixture: bool = True  # whether the place drawn last is that of a fixture
    # the scripted policy closes the fingers around the thing and brings it to the goal
    seat: Triple = (0.0, 0.0, 0.0)  # from the goal to where the thing goes
    via: Triple = (0.0, 0.0, 0.0)  # from there to where it goes before
    held: float = 1.0  # opening of the fingers, 0 to 1, at which they hold the thing


PUCK: dict[str, Any] = {"fixture": False, "attitude": "xyzw", "clear": 0.15}
GRASPED: dict[str, Any] = {"lead": (-0.005, 0.0, 0.035), "held": 0.6, "fingers": -1.0}

TASKS: dict[str, Carried] = {
    "reach": Carried(
        summary="Reach: move the hand of a Sawyer arm to a goal in the air.",
        thing="puck",
        scene=add_puck,
        low=(-0.1, 0.6, 0.02, -0.1, 0.8, 0.05),
        high=(0.1, 0.7, 0.02, 0.1, 0.9, 0.3),
        radius=0.05,
        measured="hand",
        **PUCK,
    ),
    "push": Carried(
        summary="Push: move a puck over the table to a goal with a Sawyer arm.",
        thing="puck",
        scene=add_puck,
        low=(-0.1, 0.6, SUNK, -0.1, 0.8, SUNK),
        high=(0.1, 0.7, SUNK, 0.1, 0.9, SUNK),
        radius=0.05,
        above=0.15,
        **PUCK,
        **GRASPED,
    ),
    "pick-place": Carried(
        summary="Pick and place: bring a puck to a goal in the air with a Sawyer arm.",
        thing="puck",
        scene=add_puck,
        low=(-0.1, 0.6, 0.02, -0.1, 0.8, 0.05),
        high=(0.1, 0.7, 0.02, 0.1, 0.9, 0.3),
        radius=0.07,
        **PUCK,
        **GRASPED,
    ),
    "peg-insert-side": Carried(
        summary="Peg insertion: put a peg into a hole in the side of a block with a Sawyer arm.",
        thing="peg's tip",
        scene=add_peg,
        low=(0.0, 0.5, 0.02, -0.35, 0.4, 0.0),
        high=(0.2, 0.7, 0.02, -0.25, 0.7, 0.0),
        goal=(0.03, 0.0, 0.13),
        radius=0.07,
        axes=(1.0, 2.0, 2.0),
        measured="mark",
        attitude="xyzw",
        clear=0.1,
        lead=(0.0, 0.0, 0.03),
        seat=(0.1, 0.0, 0.01),
        via=(0.2, 0.0, 0.0),
        held=0.7,
        fingers=-1.0,
    ),
}
TASK = choice(*TASKS, doc="what is to be done")

DATA = {
    **rows.DATA,
    **dict.fromkeys(("seat", "via"), f8(3)),
    **dict.fromkeys(("clear", "held"), f8),
    "fixture": i4,
}
