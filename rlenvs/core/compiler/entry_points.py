"""The functions that a library of a kind has: the entry points of the driver that its world needs."""

from __future__ import annotations

from rlenvs.core.compiler.driver import ENTRY_POINTS
from rlenvs.core.compiler.lanes.blocks import WIDTH
from rlenvs.core.declare.spec import World

RUN = "run_worlds"
LANES = {"run_blocks_shared": False, "run_blocks_own": True}  # forms of `run_blocks`: whether parameters are own ones
# of what world each of the other entry points is
ASKED = {
    RUN: lambda world: True,
    "advise_worlds": lambda world: "expert" in world.kernels,
    "play_worlds": lambda world: bool(world.players),
    "central_worlds": lambda world: bool(world.central),
    "bar_worlds": lambda world: bool(world.barriers),
    "grade_goals": lambda world: bool(world.goal),
}
# how many whole numbers they take
ARGUMENTS = dict.fromkeys((*ASKED, *LANES), 3) | dict.fromkeys((RUN, *LANES), 4) | {"grade_goals": 2}
assert {*ASKED, "run_blocks"} == set(ENTRY_POINTS)


def entry_names(world: World, engine: bool, images: bool) -> list[str]:
    """The functions that the library of a world has.

    Args:
        world: the declaration.
        engine: whether an engine moves the bodies.
        images: whether observations hold images.
    """
    lanes = LANES if world.lanes and WIDTH > 1 and not engine and not images else ()
    return [*(name for name, asked in ASKED.items() if asked(world)), *lanes]
