"""Meta-World's tasks in which something is carried, pushed or swept, a row per task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlenvs.core import choice, f8, i4
from rlenvs.robotics.metaworld import carried_scenes as scenes
from rlenvs.robotics.metaworld import rows
from rlenvs.robotics.metaworld.rows import FAR, NEAR_ARM, SUNK, Task, Triple

FIXTURE = choice("none", "first", "last")  # which of the drawn places a fixture stands at
NONE, FIRST, LAST = FIXTURE.codes("none", "first", "last")


@dataclass(frozen=True, kw_only=True)
class Carried(Task):
    """The first place that is drawn is that of a thing with a free joint."""

    clear: float = 0.0  # least horizontal distance of the two drawn places
    rest: Triple = (0.0, 0.0, 0.0)  # from the first place to the thing
    pose: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)  # the thing's attitude at the start, w, x, y, z
    fixture: int = NONE
    stand: Triple = (0.0, 0.0, 0.0)  # from the drawn place to the fixture
    rise: float = 0.0  # above its place at which version v1 takes a thing for picked up; 0 where it is pushed
    # the scripted policy closes the fingers around the thing and brings it to the goal
    seat: Triple = (0.0, 0.0, 0.0)  # from the goal to where the thing goes
    via: Triple = (0.0, 0.0, 0.0)  # from there to where it goes before
    over: float = 0.0  # height, at which it goes sideways
    held: float = 1.0  # opening of the fingers, 0 to 1, at which they hold the thing
    inside: tuple[float, float] = (-FAR, FAR)  # y, between which the hand goes down


PUCK: dict[str, Any] = {"thing": "puck", "attitude": "xyzw", "clear": 0.15}
GRASPED: dict[str, Any] = {"lead": (-0.005, 0.0, 0.035), "held": 0.6, "fingers": -1.0}
MUG: dict[str, Any] = {
    "thing": "mug",
    "scene": scenes.add_mug_and_machine,
    "radius": 0.07,
    "start": NEAR_ARM,
    "attitude": "xyzw",
    "clear": 0.15,
    "pose": (0.9995403, 0.0047077, -0.0026129, -0.0298371),  # turned as the original drops it
    "stand": (0.0, 0.22, 0.0),
    "lead": (0.0, 0.0, 0.06),
    "held": 0.8,
    "fingers": -1.0,
}

TASKS: dict[str, Carried] = {
    "reach": Carried(
        summary="Reach: move the hand of a Sawyer arm to a goal in the air.",
        scene=scenes.add_puck,
        low=(-0.1, 0.6, 0.02, -0.1, 0.8, 0.05),
        high=(0.1, 0.7, 0.02, 0.1, 0.9, 0.3),
        contacts="several",
        radius=0.05,
        measured="hand",
        **PUCK,
    ),
    "push": Carried(
        summary="Push: move a puck over the table to a goal with a Sawyer arm.",
        scene=scenes.add_puck,
        low=(-0.1, 0.6, SUNK, -0.1, 0.8, SUNK),
        high=(0.1, 0.7, SUNK, 0.1, 0.9, SUNK),
        contacts="several",
        radius=0.05,
        above=0.15,
        **PUCK,
        **GRASPED,
    ),
    "pick-place": Carried(
        summary="Pick and place: bring a puck to a goal in the air with a Sawyer arm.",
        scene=scenes.add_puck,
        low=(-0.1, 0.6, 0.02, -0.1, 0.8, 0.05),
        high=(0.1, 0.7, 0.02, 0.1, 0.9, 0.3),
        contacts="several",
        radius=0.07,
        rise=0.04,
        **PUCK,
        **GRASPED,
    ),
    "peg-insert-side": Carried(
        summary="Peg insertion: put a peg into a hole in the side of a block with a Sawyer arm.",
        thing="peg's tip",
        scene=scenes.add_peg,
        low=(0.0, 0.5, 0.02, -0.35, 0.4, 0.0),
        high=(0.2, 0.7, 0.02, -0.25, 0.7, 0.0),
        goal=(0.03, 0.0, 0.13),
        contacts="several",
        radius=0.07,
        axes=(1.0, 2.0, 2.0),
        measured="mark",
        attitude="xyzw",
        clear=0.1,
        fixture=LAST,
        rise=0.11,
        lead=(0.0, 0.0, 0.03),
        seat=(0.1, 0.0, 0.01),
        via=(0.2, 0.0, 0.0),
        held=0.7,
        fingers=-1.0,
    ),
    "reach-wall": Carried(
        summary="Reach over a wall: move the hand of a Sawyer arm to a goal in the air behind a wall.",
        scene=scenes.add_flat_puck_and_wall,
        low=(-0.05, 0.6, 0.015, -0.05, 0.85, 0.05),
        high=(0.05, 0.65, 0.015, 0.05, 0.9, 0.3),
        radius=0.05,
        measured="hand",
        over=0.2,
        **PUCK,
    ),
    "push-wall": Carried(
        summary="Push past a wall: bring a puck to a goal on the table behind a wall with a Sawyer arm.",
        scene=scenes.add_puck_and_wall,
        low=(-0.05, 0.6, SUNK, -0.05, 0.85, SUNK),
        high=(0.05, 0.65, SUNK, 0.05, 0.9, SUNK),
        goals=((-0.05, 0.85, 0.01), (0.05, 0.9, 0.02)),
        radius=0.07,
        via=(0.0, 0.0, 0.16),
        over=0.15,
        **PUCK,
        **GRASPED,
    ),
    "pick-place-wall": Carried(
        summary="Pick and place over a wall: bring a puck to a goal in the air behind a wall with a Sawyer arm.",
        scene=scenes.add_puck_and_wall,
        low=(-0.05, 0.6, 0.015, -0.05, 0.85, 0.05),
        high=(0.05, 0.65, 0.015, 0.05, 0.9, 0.3),
        radius=0.07,
        rise=0.04,
        over=0.15,
        via=(0.0, 0.0, 0.12),
        **PUCK,
        **GRASPED,
    ),
    "push-back": Carried(
        summary="Push back: move a cube over the table towards the foot of a Sawyer arm.",
        scene=scenes.add_rough_cube,
        low=(-0.1, 0.8, 0.0199365, -0.1, 0.6, 0.0199365),
        high=(0.1, 0.85, 0.0199365, 0.1, 0.7, 0.0199365),
        goals=((-0.1, 0.6, 0.0199), (0.1, 0.7, 0.0201)),
        radius=0.07,
        **{**PUCK, "thing": "cube"},
        **GRASPED,
    ),
    "soccer": Carried(
        summary="Soccer: kick a ball into a goal with the hand of a Sawyer arm.",
        thing="ball",
        scene=scenes.add_ball_and_net,
        low=(-0.1, 0.6, 0.03, -0.1, 0.8, 0.0),
        high=(0.1, 0.7, 0.03, 0.1, 0.9, 0.0),
        radius=0.07,
        attitude="xyzw",
        clear=0.15,
        fixture=LAST,
        lead=(0.0, 0.0, 0.025),
        seat=(0.0, -0.02, 0.026),
        via=(0.0, -0.15, 0.0),
        held=0.7,
        fingers=-1.0,
    ),
    "sweep": Carried(
        summary="Sweep: move a cube off the middle of the table, to its right, with a Sawyer arm.",
        thing="cube",
        scene=scenes.add_cube,
        low=(-0.1, 0.6, 0.02),
        high=(0.1, 0.7, 0.02),
        keep=(0.0, 1.0, 0.0),
        goal=(0.5, 0.0, 0.01),
        goals=((0.49, 0.6, 0.0), (0.51, 0.7, 0.02)),
        radius=0.05,
        attitude="wxyz",
        lead=(-0.005, 0.0, 0.055),
        held=0.6,
        fingers=-1.0,
    ),
    "sweep-into": Carried(
        summary="Sweep into: move a cube over a hole in the table with a Sawyer arm.",
        thing="cube",
        scene=scenes.add_cube_and_hole,
        low=(-0.1, 0.6, 0.0699365, -0.001, 0.8399, 0.0199),
        high=(0.1, 0.7, 0.0699365, 0.001, 0.8401, 0.0201),
        keep=(0.0, 0.0, 0.0),
        goal=(0.0, 0.84, 0.02),
        goals=((-0.001, 0.8399, 0.0199), (0.001, 0.8401, 0.0201)),
        radius=0.05,
        axes=(1.0, 1.0, 0.0),
        attitude="xyzw",
        clear=0.15,
        seat=(0.0, 0.0, 0.06),
        **GRASPED,
    ),
    "coffee-push": Carried(
        summary="Coffee push: bring a mug to a coffee machine with a Sawyer arm.",
        low=(-0.1, 0.55, -0.001, -0.05, 0.7, -0.001),
        high=(0.1, 0.65, 0.001, 0.05, 0.75, 0.001),
        fixture=LAST,
        seat=(0.0, -0.02, 0.0),
        **MUG,
    ),
    "coffee-pull": Carried(
        summary="Coffee pull: bring a mug away from a coffee machine with a Sawyer arm.",
        low=(-0.05, 0.7, -0.001, -0.1, 0.55, -0.001),
        high=(0.05, 0.75, 0.001, 0.1, 0.65, 0.001),
        fixture=FIRST,
        above=0.06,
        **MUG,
    ),
    "hand-insert": Carried(
        summary="Hand insertion: bring a cube down into a hole in the table with the hand of a Sawyer arm.",
        thing="cube",
        scene=scenes.add_cube_and_hole,
        low=(-0.1, 0.6, 0.05, -0.04, 0.8, -0.0201),
        high=(0.1, 0.7, 0.05, 0.04, 0.88, -0.0199),
        radius=0.05,
        lowest=(-0.5, 0.4, -0.15),
        attitude="wxyz",
        clear=0.15,
        seat=(0.0, 0.0, 0.02),
        via=(0.0, 0.0, 0.12),
        over=0.08,
        **GRASPED,
    ),
    "shelf-place": Carried(
        summary="Shelf placing: put a cube onto the board of a shelf with a Sawyer arm.",
        thing="cube",
        scene=scenes.add_cube_and_shelf,
        low=(-0.1, 0.5, 0.0199365, -0.1, 0.8, 0.299),
        high=(0.1, 0.6, 0.0199365, 0.1, 0.9, 0.301),
        radius=0.07,
        attitude="xyzw",
        clear=0.1,
        fixture=LAST,
        stand=(0.0, 0.0, -0.3),
        rise=0.04,
        via=(0.0, -0.25, 0.0),
        **GRASPED,
    ),
    "pick-out-of-hole": Carried(
        summary="Pick out of a hole: bring a puck out of a pit in the table to a goal in the air with a Sawyer arm.",
        thing="puck",
        scene=scenes.add_puck_in_pit,
        low=(0.0, 0.75, 0.02, -0.1, 0.5, 0.15),
        high=(0.0, 0.75, 0.02, 0.1, 0.6, 0.3),
        radius=0.07,
        lowest=(-0.5, 0.4, -0.05),
        attitude="wxyz",
        clear=0.15,
        rise=0.11,
        over=0.12,
        **GRASPED,
    ),
    "peg-unplug-side": Carried(
        summary="Unplug: pull a plug out of a socket at its side with a Sawyer arm.",
        thing="plug",
        scene=scenes.add_plug,
        low=(-0.25, 0.6, -0.001),
        high=(-0.15, 0.8, 0.001),
        goal=(0.194, 0.0, 0.131),
        goals=((-0.056, 0.6, 0.13), (0.044, 0.8, 0.132)),
        radius=0.07,
        attitude="wxyz",
        fixture=LAST,
        rest=(0.044, 0.0, 0.131),
        lead=(-0.015, 0.0, 0.02),
        aside=0.045,
        apart=0.04,
        held=0.93,
        fingers=-1.0,
    ),
    "basketball": Carried(
        summary="Basketball: bring a ball over a hoop with a Sawyer arm.",
        thing="ball",
        scene=scenes.add_ball_and_hoop,
        low=(-0.1, 0.6, 0.03, -0.1, 0.85, 0.0),
        high=(0.1, 0.7, 0.03, 0.1, 0.9, 0.0),
        goal=(0.0, -0.083, 0.25),
        goals=((-0.1, 0.767, 0.2499), (0.1, 0.8170001, 0.2501)),
        off=(0.0, 0.0, 0.05),
        radius=0.08,
        axes=(1.0, 1.0, 2.0),
        attitude="wxyz",
        clear=0.15,
        fixture=LAST,
        rise=0.3,
        lead=(0.0, 0.0, 0.02),
        seat=(0.0, 0.0, 0.06),
        over=0.28,
        held=0.8,
        fingers=-1.0,
    ),
    "bin-picking": Carried(
        summary="Bin picking: bring a cube from one bin into another with a Sawyer arm.",
        thing="cube",
        scene=scenes.add_cube_and_bins,
        low=(-0.21, 0.65, 0.03, 0.1199, 0.699, -0.001),
        high=(-0.03, 0.75, 0.03, 0.1201, 0.701, 0.001),
        keep=(0.0, 0.0, 0.0),
        goal=(0.12, 0.7, 0.0),
        goals=((0.1199, 0.699, -0.001), (0.1201, 0.701, 0.001)),
        radius=0.05,
        lowest=(-0.5, 0.4, 0.07),
        attitude="wxyz",
        rise=0.1,
        seat=(0.0, 0.0, 0.03),
        via=(0.0, 0.0, 0.15),
        over=0.12,
        inside=(0.675, 0.725),
        lead=(0.0, 0.0, 0.04),
        held=0.6,
        fingers=-1.0,
    ),
}
TASK = choice(*TASKS, doc="what is to be done")

DATA = {
    **rows.DATA,
    **dict.fromkeys(("rest", "stand", "seat", "via"), f8(3)),
    **dict.fromkeys(("clear", "rise", "over", "held"), f8),
    "pose": f8(4),
    "inside": f8(2),
    "fixture": i4,
}
