"""What there is to know of every environment without importing its file: `rlenvs/catalogue.json`.

Generated from the declarations by `python docs/generate.py`, committed, and read by the registry, the command line and
the docs. One line per environment.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from rlenvs.core.catalogue.dimensions import space_text
from rlenvs.core.catalogue.docs import shape_text, summary
from rlenvs.core.catalogue.registry import tags_of
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

ID = re.compile(r"\w+-v\d+")


def worlds_of(packages: Iterable[ModuleType]) -> Iterator[World]:
    """All worlds and members with the name of an id, "Name-v0", that the modules of packages hold."""
    for package in packages:
        for found in sorted(pkgutil.walk_packages(package.__path__, f"{package.__name__}."), key=lambda m: m.name):
            held = [value for value in vars(importlib.import_module(found.name)).values() if isinstance(value, World)]
            for world in dict.fromkeys(each for value in held for each in (value, *value.members.values())):
                if ID.fullmatch(world.name) and world.address.startswith(f"{found.name}:"):
                    yield world


def catalogue_row(world: World) -> dict[str, Any]:
    """What the catalogue says of a world."""
    setup = Setup(world)
    return {
        "id": world.name,
        "address": world.address,
        "kind": world.kind.name,
        "tags": tags_of(world),
        "summary": summary(world.doc),
        "action": space_text(setup),
        "observation": shape_text(setup),
        "agents": setup.agents if world.agents else 1,
        "source": world.source,
        **({} if world.reward_threshold is None else {"reward_threshold": world.reward_threshold}),
    }


def catalogue_text(packages: Iterable[ModuleType]) -> str:
    """The whole catalogue as it is committed: JSON, a line per environment, by family.

    Raises:
        ValueError: two worlds with one name.
    """
    rows = [catalogue_row(world) for world in worlds_of(packages)]
    names = [row["id"] for row in rows]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"several worlds are named {sorted(twice)}; ids must be unique")
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"
