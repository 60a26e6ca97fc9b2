"""Worlds of the same kind as another: members, and levels, whose defaults and declarations differ."""

from __future__ import annotations

import functools
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from rlenvs.core.declare.errors import UnknownKeywordError, nearest

if TYPE_CHECKING:
    from rlenvs.core.declare.spec import World


def no_sizes(values: Any) -> dict[str, Any]:
    """Of worlds without names of dimensions."""
    return {}


def _joined(function: Callable[[Any], Mapping[str, Any]], more: Mapping[str, Any], values: Any) -> dict[str, Any]:
    """What a function of the values gives, with more or in the place of it."""
    return {**function(values), **more}


def doc_of_member(doc: str | None, summary: str) -> str:
    """The doc string of a kind with another first paragraph."""
    _, blank, rest = (doc or "").partition("\n\n")
    return summary + blank + rest


def _defaulting(declared: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the declarations whose default changes, or whose place another one takes."""
    return {
        name: values[name] if isinstance(values[name], type(part)) else part.defaulting(values[name], name)
        for name, part in declared.items()
        if name in values
    }


def changed(world: World, changes: dict[str, Any]) -> World:
    """A world of the same kind with other defaults and other keywords of `world`."""
    name, known = changes.get("name", world.name), {*world.params, *world.options}
    values = {key: changes.pop(key) for key in tuple(changes) if key in known}
    unknown = set(changes) - {each.name for each in fields(world)}
    if unknown:
        raise UnknownKeywordError(f"{name}: a {world.name} has no {min(unknown)!r}. {nearest(min(unknown), known)}")
    given = {"sizes": changes.pop("sizes", {}), "data": changes.pop("data", {})}
    functions = ChainMap({}, world.functions)
    if callable(given["sizes"]):
        changes["sizes"] = given["sizes"]
    elif given["sizes"]:
        changes["sizes"] = functools.partial(_joined, world.sizes, given["sizes"])
    if given["data"]:
        functions["data"] = functools.partial(_joined, world.functions.get("data", no_sizes), given["data"])
    made = replace(
        world,
        params={**world.params, **_defaulting(world.params, values)},
        options={**world.options, **_defaulting(world.options, values)},
        kernels=ChainMap({}, world.kernels),
        functions=functions,
        **{"scores": {}, "reward_threshold": None, **changes},
    )
    made.kind = world.kind
    made.given = {**world.given, **values}
    return made
