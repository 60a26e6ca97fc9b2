"""What differs between Meta-World's tasks in numbers: a row per task, read by kernels as `p.<name>`.

Boxes of random places, goals and success rules are those of package metaworld 3.1.1; the numbers of the scripted
policy, from `aside` on, are this package's own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rlenvs.core import choice, f8, i4

SUNK = 0.0194046838  # m, where a puck's middle lies when it has sunk into the table by its weight
FAR = 9.0  # m, farther than anything is from anything

# where the hand starts, m, and what the arm's and the fingers' joints are, and how they move, at the end of the
# original's reset, in which it is still moving: metaworld 3.1.1 with MuJoCo 3.3.0
OVER_TABLE = (
    (0.0, 0.6, 0.2),
    (
        *(1.889288181, -0.5757689062, -0.9766593499, 1.641991494, 0.9428596256, 1.04369624, 2.292833312),
        *(-0.0001719061952, 0.0001717454225),
    ),
    (
        *(0.26100214, 0.42891259, -0.4857705, 0.24403764, 0.82910979, 0.098762268, 1.5894718),
        *(5.8427991e-07, 5.9101601e-07),
    ),
)
NEAR_ARM = (
    (0.0, 0.4, 0.2),
    (
        *(2.167490586, -0.5459568452, -1.234721787, 2.171110868, 1.247809374, 1.019476332, 1.901196017),
        *(-0.0001718607795, 0.0001717896541),
    ),
    (
        *(0.085120354, 0.63275259, -0.21596149, 0.17411748, 0.75852351, 0.40106069, 1.0192005),
        *(2.0543034e-07, 2.0096595e-07),
    ),
)
MEASURED = choice("hand", "thing", "mark")  # whose distance from the goal counts
HAND, MARK = MEASURED.codes("hand", "mark")
ATTITUDE = choice("none", "xyzw", "wxyz")  # how the thing's attitude is observed
XYZW, WXYZ = ATTITUDE.codes("xyzw", "wxyz")


class Task(NamedTuple):
    """A row of the table. Lengths in m, vectors in axes of the world."""

    summary: str  # of the page
    thing: str  # its name in images
    low: tuple[float, ...]  # least and largest places that are drawn: of the thing, then, where a task draws two, of
    high: tuple[float, ...]  # the goal or the fixture
    goal: tuple[float, float, float]  # from what is drawn last to the goal
    radius: float  # weighted distance from the goal that is success
    axes: tuple[float, float, float] = (1.0, 1.0, 1.0)  # of the axes in this distance
    start: Any = OVER_TABLE
    measured: str = "thing"
    attitude: str = "none"
    clear: float = 0.0  # least horizontal distance of the two drawn places
    free: bool = False  # whether the first place is that of a thing with a free joint
    fixture: bool = True  # whether the place drawn last is that of the fixture
    joint: float = 0.0  # position of the fixture's joint at the start
    # the scripted policy: it goes `above` its aim, `lead` from the thing, goes down where it is nearer than `aside`
    # horizontally, and works where it is nearer than `apart` vertically, and has not passed the aim by more than
    # `stroke` in the direction of `push` (from the door's handle, in any direction)
    lead: tuple[float, float, float] = (0.0, 0.0, 0.0)
    push: tuple[float, float, float] = (0.0, 0.0, 0.0)
    seat: tuple[float, float, float] = (0.0, 0.0, 0.0)  # from the goal to where the thing goes
    via: tuple[float, float, float] = (0.0, 0.0, 0.0)  # from there to where it goes before
    above: float = 0.1
    aside: float = 0.02
    apart: float = 0.02
    stroke: float = 0.0
    held: float = 1.0  # opening of the fingers, 0 to 1, at which they hold the thing
    fingers: float = 1.0  # their effort where they do not hold: 1 closes them

    @property
    def carried(self) -> bool:
        """Whether the scripted policy brings the thing to the goal, by its fingers."""
        return self.free and self.measured != "hand"


PUCK: dict[str, Any] = {"free": True, "fixture": False, "attitude": "xyzw", "clear": 0.15, "goal": (0.0, 0.0, 0.0)}
GRASPED: dict[str, Any] = {"lead": (-0.005, 0.0, 0.035), "held": 0.6, "fingers": -1.0}
HANDLE: dict[str, Any] = {"aside": 0.02, "above": 0.2}

TASKS: dict[str, Task] = {
    "reach": Task(
        "Reach: move the hand of a Sawyer arm to a goal in the air.",
        "puck",
        (-0.1, 0.6, 0.02, -0.1, 0.8, 0.05),
        (0.1, 0.7, 0.02, 0.1, 0.9, 0.3),
        radius=0.05,
        measured="hand",
        **PUCK,
    ),
    "push": Task(
        "Push: move a puck over the table to a goal with a Sawyer arm.",
        "puck",
        (-0.1, 0.6, SUNK, -0.1, 0.8, SUNK),
        (0.1, 0.7, SUNK, 0.1, 0.9, SUNK),
        radius=0.05,
        above=0.15,
        **PUCK,
        **GRASPED,
    ),
    "pick-place": Task(
        "Pick and place: bring a puck to a goal in the air with a Sawyer arm.",
        "puck",
        (-0.1, 0.6, 0.02, -0.1, 0.8, 0.05),
        (0.1, 0.7, 0.02, 0.1, 0.9, 0.3),
        radius=0.07,
        **PUCK,
        **GRASPED,
    ),
    "door-open": Task(
        "Door open: open the door of a cabinet by its handle with a Sawyer arm.",
        "handle",
        (0.0, 0.85, 0.15),
        (0.1, 0.95, 0.15),
        (-0.3, -0.45, 0.0),
        0.08,
        (1.0, 0.0, 0.0),
        attitude="xyzw",
        lead=(0.01, 0.03, -0.01),
        above=0.2,
        apart=0.03,
        stroke=0.08,
    ),
    "drawer-open": Task(
        "Drawer open: pull a drawer open by its handle with a Sawyer arm.",
        "handle",
        (-0.1, 0.9, 0.0),
        (0.1, 0.9, 0.0),
        (0.0, -0.36, 0.09),
        0.03,
        attitude="wxyz",
        lead=(0.0, -0.005, -0.02),
        push=(0.0, -0.1, 0.0),
        stroke=FAR,
        fingers=-1.0,
        **HANDLE,
    ),
    "drawer-close": Task(
        "Drawer close: push an open drawer shut with a Sawyer arm.",
        "handle",
        (-0.1, 0.9, 0.0),
        (0.1, 0.9, 0.0),
        (0.0, -0.16, 0.09),
        0.065,
        joint=-0.15,
        lead=(0.0, -0.08, -0.03),
        push=(0.0, 0.15, 0.0),
        stroke=0.2,
        **HANDLE,
    ),
    "button-press-topdown": Task(
        "Button press: press a button from above with a Sawyer arm.",
        "button",
        (-0.1, 0.8, 0.115),
        (0.1, 0.9, 0.115),
        (0.0, 0.0, 0.1),
        0.024,
        (0.0, 0.0, 1.0),
        NEAR_ARM,
        attitude="wxyz",
        lead=(0.0, 0.0, 0.05),
        push=(0.0, 0.0, -0.2),
        above=0.04,
        aside=0.03,
        apart=0.06,
        joint=0.00046152,  # where the spring presses it
    ),
    "peg-insert-side": Task(
        "Peg insertion: put a peg into a hole in the side of a block with a Sawyer arm.",
        "peg's tip",
        (0.0, 0.5, 0.02, -0.35, 0.4, 0.0),
        (0.2, 0.7, 0.02, -0.25, 0.7, 0.0),
        (0.03, 0.0, 0.13),
        0.07,
        (1.0, 2.0, 2.0),
        measured="mark",
        attitude="xyzw",
        clear=0.1,
        free=True,
        lead=(0.0, 0.0, 0.03),
        seat=(0.1, 0.0, 0.01),
        via=(0.2, 0.0, 0.0),
        held=0.7,
        fingers=-1.0,
    ),
    "window-open": Task(
        "Window open: slide a window open by its handle with a Sawyer arm.",
        "handle",
        (-0.1, 0.7, 0.16),
        (0.1, 0.9, 0.16),
        (0.2, 0.0, 0.0),
        0.05,
        (1.0, 0.0, 0.0),
        NEAR_ARM,
        lead=(-0.035, -0.01, -0.07),
        push=(0.15, 0.0, 0.0),
        stroke=0.1,
        **HANDLE,
    ),
    "window-close": Task(
        "Window close: slide an open window shut by its handle with a Sawyer arm.",
        "handle",
        (0.0, 0.75, 0.2),
        (0.0, 0.9, 0.2),
        (0.0, 0.0, 0.0),
        0.05,
        (1.0, 0.0, 0.0),
        NEAR_ARM,
        joint=0.2,
        lead=(0.035, -0.01, -0.07),
        push=(-0.15, 0.0, 0.0),
        stroke=0.1,
        **HANDLE,
    ),
}
TASK = choice(*TASKS, doc="what is to be done")

DATA = {
    **dict.fromkeys(("low", "high"), f8(6)),
    **dict.fromkeys(("goal", "axes", "hand", "lead", "push", "seat", "via"), f8(3)),
    **dict.fromkeys(("angles", "rates"), f8(9)),
    **dict.fromkeys(("radius", "clear", "joint", "above", "aside", "apart", "stroke", "held", "fingers"), f8),
    **dict.fromkeys(("measured", "attitude", "free", "fixture", "carried", "last"), i4),
}


def numbers(task: Task) -> dict[str, Any]:
    """The row of a task as kernels see it, by the names in DATA."""
    row = task._asdict()
    hand, angles, rates = task.start
    found = {name: row[name] for name in DATA if name in row}
    for name in ("low", "high"):
        found[name] = np.resize(row[name], 6)  # where one place is drawn, it is also the last
    found |= {"hand": hand, "angles": angles, "rates": rates, "carried": task.carried, "last": len(task.low) - 3}
    return found | {"measured": MEASURED.code(task.measured), "attitude": ATTITUDE.code(task.attitude)}
