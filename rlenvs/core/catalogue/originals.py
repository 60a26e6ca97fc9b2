"""The part of a page on compatibility with the original environment: keywords, reset options and attributes."""

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
            "Keywords of the original that are also accepted:",
            markdown_table(("Keyword of the original", "Here"), _lines(named.keywords, world)),
        ]
    if named.starts:
        starts = [(f"`{name}`", ", ".join(f"`{param}`" for param in names)) for name, names in named.starts.items()]
        parts += [
            "Options of `reset`, as in the original, which apply only to this reset:",
            markdown_table(("Option", "Sets"), starts),
        ]
    if named.views:
        parts += [
            "Read-only attributes of `env.unwrapped` under the original's names:",
            markdown_table(("Attribute", "Meaning"), _lines(named.views, world)),
        ]
    return parts


def _lines(named: Mapping[str, Any], world: World) -> list[tuple[str, str]]:
    weights = {f"`{term}`" for term in world.terms} - {f"`{name}`" for name in (*world.params, *world.options)}
    lines = []
    for name, each in named.items():
        doc = f"the weight of {each.doc}" if each.doc in weights else each.doc
        lines.append((f"`{name}`", f"none: {doc}" if isinstance(each, Instead) else doc))
    return lines
