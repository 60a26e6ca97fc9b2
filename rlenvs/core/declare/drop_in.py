"""What code that was written for another package's environment finds in the world that re-implements it.

Keywords of `make`, attributes, and options of resets under the names that they have there, where they mean the same;
else an error that says what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, UnknownKeywordError, shortened

if TYPE_CHECKING:
    from rlenvs.core.declare.spec import World


@dataclass(frozen=True)
class Keyword:
    """A keyword of the original.

    Attributes:
        doc: what it is here, for pages.
        read: function of the value that gives values of parameters, options and weights of reward terms, by name.
            The time limit is "horizon". ValueError says what is wrong.
    """

    doc: str
    read: Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Instead:
    """A keyword or attribute of the original that the world does not have.

    Attributes:
        doc: what takes its place.
    """

    doc: str


@dataclass(frozen=True)
class View:
    """An attribute of the original.

    Attributes:
        read: function of a `Setup`, and of the parameters and the state of one world, that gives its value.
        doc: what it is, for pages.
    """

    read: Callable[[Any, Any, Any], Any]
    doc: str


@dataclass(frozen=True)
class DropIn:
    """See `drop_in`."""

    keywords: Mapping[str, Keyword | Instead] = field(default_factory=dict)
    views: Mapping[str, View | Instead] = field(default_factory=dict)
    starts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def but(self, **changes: Mapping[str, Any]) -> DropIn:
        """The same with other keywords, views or starts, or more of them."""
        parts = {name: {**getattr(self, name), **more} for name, more in changes.items()}
        return replace(self, **parts)


def drop_in(
    keywords: Mapping[str, Keyword | Instead] | None = None,
    views: Mapping[str, View | Instead] | None = None,
    starts: Mapping[str, Sequence[str]] | None = None,
) -> DropIn:
    """The original environment's keywords, attributes and reset options that a world supports.

    Args:
        keywords: of `make`, by the original's name: `same_as(...)`, `only(...)`, `meaning(...)` or `instead(...)`.
        views: attributes of environments, by the original's name: `view(...)` or `instead(...)`. They are read-only.
        starts: by the name of an option of `reset`, the parameters that it sets for this reset alone.
    """
    return DropIn(dict(keywords or {}), dict(views or {}), dict(starts or {}))


def same_as(*names: str) -> Keyword:
    """A keyword that is a parameter, an option or the weight of a reward term under another name; with several names,
    a sequence with a value for each."""
    if len(names) == 1:
        return Keyword(f"`{names[0]}`", lambda value: {names[0]: value})

    def read(value: Any) -> dict[str, Any]:
        values = list(value)
        if len(values) != len(names):
            raise ValueError(f"needed: {len(names)} values, for {', '.join(names)}")
        return dict(zip(names, values, strict=True))

    return Keyword("(" + ", ".join(f"`{name}`" for name in names) + ")", read)


def only(usual: Any, otherwise: str) -> Keyword:
    """A keyword with a single supported value; `otherwise` says what to do for others."""

    def read(value: Any) -> dict[str, Any]:
        if not _equal(value, usual):
            raise ValueError(otherwise)
        return {}

    return Keyword(f"only `{usual!r}`: {otherwise}", read)


def meaning(doc: str, read: Callable[[Any], Mapping[str, Any]]) -> Keyword:
    """A keyword of the original that is converted to keywords of this package.

    Args:
        doc: what it is here, for pages.
        read: function of the value that gives values of parameters, options and weights of reward terms, by name;
            ValueError says what is wrong.
    """
    return Keyword(doc, read)


def instead(doc: str) -> Instead:
    """A keyword or attribute that the world does not have, with its replacement: a sentence for the error message."""
    return Instead(doc)


def view(read: Callable[[Any, Any, Any], Any], doc: str) -> View:
    """An attribute computed from the setup, the parameters and the state of one world.

    Args:
        read: function of a `Setup`, and of the parameters and the state of one world.
        doc: what it is, for pages.
    """
    return View(read, doc)


def value_of(name: str, doc: str = "") -> View:
    """An attribute that returns a parameter or an option."""

    def read(setup: Any, p: Any, s: Any) -> Any:
        return float(p[name]) if name in setup.world.params else getattr(setup.values, name)

    return View(read, doc or f"`{name}`")


def translated(
    world: World, given: Mapping[str, Any], weights: Mapping[str, float]
) -> tuple[dict[str, Any], Mapping[str, float]]:
    """Values of parameters and options, and weights, where some are given under the names of the original.

    Raises:
        UnknownKeywordError: a keyword of the original that the world does not have; it says what takes its place.
        ParameterError: a value that the world cannot have, or one that is given twice.
    """
    known = world.drop_in.keywords
    own = {name: value for name, value in given.items() if name not in known}
    if len(own) == len(given):
        return own, weights
    taken: dict[str, str] = {}  # by what was meant, the keyword that said it
    more: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            continue
        for target, meant in _read(world, name, value).items():
            is_weight = target in world.base.terms and target not in world.params and target not in world.options
            if is_weight and world.terms is not world.base.terms:
                raise ParameterError(f"{world.name}: {name} is not for level={world.level_name!r}; give `weights`")
            before = taken.get(target) or (target if target in (weights if is_weight else own) else "")
            if before:
                raise ParameterError(f"{world.name}: {name} and {before} have the same meaning; give one of them")
            taken[target] = name
            (more if is_weight else own)[target] = meant
    return own, {**weights, **more}


def _read(world: World, name: str, value: Any) -> Mapping[str, Any]:
    """What a keyword of the original means."""
    keyword = world.drop_in.keywords[name]
    if isinstance(keyword, Instead):
        raise UnknownKeywordError(f"{world.name} has no keyword argument {name!r}: {keyword.doc}")
    declared = {**world.params, **world.options}
    try:
        found = keyword.read(value)
        for target, meant in found.items():
            if target in declared:
                declared[target].check(target, meant)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"{world.name}: {name}={shortened(value)}: {error}") from None
    return found


def _equal(value: Any, usual: Any) -> bool:
    try:
        return bool(np.all(np.asarray(value) == np.asarray(usual)))
    except (ValueError, TypeError):
        return False
