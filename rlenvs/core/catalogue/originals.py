"""The part of a page that says what code for the re-implemented environment finds in a world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlenvs.core.catalogue.markdown import markdown_table
from rlenvs.core.declare.drop_in import Instead
from rlenvs.core.declare.spec import World


def original_tables(world: World) -> list[str]:
    """Its keywords, its options of `reset`, its attributes; nothing where there are none."""
    named, parts = world.drop_in, []
    if named.keywords:
        parts += [
            "Keywords of the original are understood too:",
            markdown_table(("Keyword of the original", "Here"), _lines(named.keywords, world)),
        ]
    if named.starts:
        starts = [(f"`{name}`", ", ".join(f"`{param}`" for param in names)) for name, names in named.starts.items()]
        parts += [
            "Options of `reset`, as the original has them, for this reset alone:",
            markdown_table(("Option", "Sets"), starts),
        ]
    if named.views:
        parts += [
            "Attributes of `env.unwrapped` under the original's names, to be read:",
            markdown_table(("Attribute", "What it is"), _lines(named.views, world)),
        ]
    return parts


def _lines(named: Mapping[str, Any], world: World) -> list[tuple[str, str]]:
    weights = {f"`{term}`" for term in world.terms} - {f"`{name}`" for name in (*world.params, *world.options)}
    lines = []
    for name, each in named.items():
        doc = f"the weight of {each.doc}" if each.doc in weights else each.doc
        lines.append((f"`{name}`", f"none: {doc}" if isinstance(each, Instead) else doc))
    return lines
