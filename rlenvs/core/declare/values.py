"""Keywords of `make` that a world declares: parameters and options, looked up and checked."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core.declare.drop_in import translated
from rlenvs.core.declare.errors import ParameterError, UnknownKeywordError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.inputs import numbers
from rlenvs.core.declare.limits import LIMIT_NAMES, check_limit, one_limit
from rlenvs.core.declare.options import Choice
from rlenvs.core.declare.spec import World

# what every world knows beside its own
COMMON = ("level", "horizon", "weights", "randomize", "encoding", "flat_actions")
# what users of other packages call these keywords
ALIASES = {"max_steps": "horizon", "difficulty": "level"}


def engine_of(world: World, keywords: Mapping[str, Any]) -> str:
    """The address of the engine that the keywords of a batch ask for; empty where kernels move the bodies."""
    if not world.engines:
        return world.engine
    option = world.level(keywords.get("level")).options["physics"]
    return world.engines.get(str(option.check("physics", keywords.get("physics", option.default))), "")


def load_engine(address: str) -> Any:
    """The engine's class at "module:class"."""
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)


def values_of(world: World, chosen: Mapping[str, Any]) -> tuple[SimpleNamespace, dict[str, np.ndarray]]:
    """All parameters and options where some are chosen, and by name those parameters that have one value per world.

    Raises:
        UnknownKeywordError: neither a parameter nor an option.
        ParameterError: a value outside its range.
    """
    known = {**world.params, **world.options}
    for name in chosen:
        if name not in known:
            _refuse_keyword(world, name, [*known, *COMMON, *world.drop_in.keywords])
    presets = {name: value for name, value in presets_of(world, chosen).items() if name in world.params}
    given = {name: world.params[name].default for name in world.given if name in world.params}
    chosen = {**presets, **given, **chosen}
    values: dict[str, Any] = {}
    contexts: dict[str, np.ndarray] = {}
    for name, declared in known.items():
        value: Any = declared.check(name, chosen.get(name, declared.default))
        if name in world.params:
            if value.ndim > 1:
                raise ParameterError(f"{name} must be one number or one per environment, not {value.shape}")
            if value.ndim == 1:
                contexts[name] = value
                value = value[0] if len(value) else declared.default
            value = float(value)
        values[name] = value
    return SimpleNamespace(**values), contexts


def horizon_of(world: World, keywords: Mapping[str, Any]) -> int:
    """The time limit that keywords of any form ask for, or that follows from them; what forms know is passed over.

    Raises:
        What `Setup` raises of these.
    """
    wish = one_limit(**{name: keywords.get(name) for name in LIMIT_NAMES})
    if wish is not None:
        return wish
    world = world.level(keywords.get("level"))
    known = {*world.params, *world.options, *world.drop_in.keywords}
    chosen, _ = translated(world, {name: value for name, value in keywords.items() if name in known}, {})
    usual = chosen.pop("horizon", None)
    values, _ = values_of(world, chosen)
    return check_limit("horizon", world.horizon_of(values) if usual is None else usual)


def presets_of(world: World, chosen: Mapping[str, Any]) -> dict[str, float]:
    """The parameters and weights that go with the choices made."""
    values: dict[str, float] = {}
    for name, option in world.options.items():
        if isinstance(option, Choice) and option.sets:
            values.update(option.sets.get(option.check(name, chosen.get(name, option.default)), {}))
    return values


def weights_of(world: World, values: SimpleNamespace, wanted: Mapping[str, float]) -> np.ndarray:
    """The weight of each reward term: what is wanted, else what goes with the choices made, else the declared one.

    Raises:
        UnknownNameError: no such term.
        ParameterError: a weight that is not one finite number, or no term left with a weight.
    """
    terms = world.terms
    for name in wanted:
        if name not in terms:
            raise UnknownNameError(f"{world.name} has no reward term {name!r}. {nearest(name, terms)}")
        number = numbers(f"weights[{name!r}]", wanted[name])
        if number.ndim or not np.isfinite(number):
            raise ParameterError(f"weights[{name!r}]={shortened(wanted[name])} must be one finite number")
    chosen = {**presets_of(world, vars(values)), **wanted}
    found = np.array([chosen.get(name, term.weight) for name, term in terms.items()], np.float64)
    if wanted and not found.any():
        raise ParameterError(f"weights={shortened(wanted)} leave no term of {world.name} with a nonzero weight")
    return found


def random_ranges_of(world: World, wanted: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """(low, high) by parameter, to be drawn from at every reset.

    Raises:
        UnknownNameError: no such parameter.
        ParameterError: no range, or one that the parameter's own does not contain.
    """
    found = {}
    for name, bounds in wanted.items():
        declared = world.params.get(name)
        if declared is None:
            raise UnknownNameError(f"randomize: {world.name} has no parameter {name!r}. {nearest(name, world.params)}")
        pair = declared.check(f"randomize[{name!r}]", bounds)
        if pair.shape != (2,) or pair[0] > pair[1]:
            raise ParameterError(f"randomize[{name!r}]={shortened(bounds)} must be (low, high) with low <= high")
        found[name] = (float(pair[0]), float(pair[1]))
    return found


def range_example(world: World) -> dict[str, tuple[float, float]]:
    """Ranges as `randomize` takes them, for error messages."""
    return {name: (declared.low, declared.default) for name, declared in world.params.items()}


def _refuse_keyword(world: World, name: str, known: list[str]) -> None:
    if name == "scaled":
        hint = "`scaled` is only for environments that have the spaces of a published environment by default."
    elif name in ALIASES:
        hint = f"Use {ALIASES[name]!r}."
    elif difflib.get_close_matches(name, known, n=1, cutoff=0.5):
        hint = nearest(name, known)
    else:
        hint = f"Known: {', '.join(sorted(known))}."
    raise UnknownKeywordError(f"{world.name}: unexpected keyword argument {name!r}. {hint}")
