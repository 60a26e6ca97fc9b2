"""Wrappers from wrappers, and from dictionaries of settings."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.core.declare.renamed import new_keywords
from rlenvs.wrappers.wrapper import Wrapper, named


def unbound(wrapper: Wrapper) -> Wrapper:
    """A wrapper with the same settings, on nothing yet."""
    return type(wrapper)(**copy.deepcopy(wrapper.settings()))


def wrapper_from(recipe: Wrapper | Mapping[str, Any]) -> Wrapper:
    """A wrapper of its own: a copy of one, or made from what `Wrapper.recipe` gave.

    Raises:
        ParameterError: not a wrapper, or a setting that it does not have.
    """
    if isinstance(recipe, Wrapper):
        return copy.deepcopy(recipe)
    if not isinstance(recipe, Mapping) or "wrapper" not in recipe:
        raise ParameterError(f'a wrapper, or a dictionary with the entry "wrapper", is required, not {recipe!r}')
    settings = {name: value for name, value in recipe.items() if name != "wrapper"}
    kind = named(recipe["wrapper"] if ":" in recipe["wrapper"] else f"rlenvs.wrappers:{recipe['wrapper']}")
    if not (isinstance(kind, type) and issubclass(kind, Wrapper)):
        raise ParameterError(f"{recipe['wrapper']!r} is not a wrapper")
    settings = new_keywords(kind, settings)
    known = [field.name for field in fields(kind) if field.init]
    for name in settings:
        if name not in known:
            raise ParameterError(f"{kind.__name__} has no setting {name!r}. {nearest(name, known)}")
    return kind(**copy.deepcopy(settings))
