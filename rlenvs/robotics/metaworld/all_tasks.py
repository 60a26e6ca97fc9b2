"""Meta-World's tasks of both kinds, by their names in the original."""

from __future__ import annotations

from rlenvs.core.declare.spec import World
from rlenvs.robotics.metaworld import carried, fixtures
from rlenvs.robotics.metaworld.rows import Task

ROWS: dict[str, Task] = {**carried.TASKS, **fixtures.TASKS}
WORLDS: dict[str, World] = {
    str(world.options["task"].default): world
    for kind in (carried.SPEC, fixtures.SPEC)
    for world in (kind, *kind.members.values())
}
