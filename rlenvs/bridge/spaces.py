"""Spaces as JSON: what the engine's side of our protocol declares once, and the trainer's side makes again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.bridge.layout import TYPES
from rlenvs.core.declare.errors import BridgeError, ParameterError, shortened

MOST_NUMBERS = 1 << 26  # of a space
WHOLE = ""  # the name of a space that has no parts


def described(space: spaces.Space) -> dict[str, Any]:
    """A space as JSON.

    Raises:
        ParameterError: a space without such a form.
    """
    if isinstance(space, spaces.Dict):
        return {"space": "dict", "parts": {name: described(part) for name, part in space.spaces.items()}}
    if isinstance(space, spaces.Box):
        low, high = _bound(space.low), _bound(space.high)
        return {"space": "box", "type": _type(space.dtype), "shape": list(space.shape), "low": low, "high": high}
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return {"space": "discrete", "n": int(space.n)}
    if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
        return {"space": "multi_discrete", "n": space.nvec.tolist()}
    if isinstance(space, spaces.MultiBinary) and len(space.shape) == 1:
        return {"space": "multi_binary", "n": space.shape[0]}
    raise ParameterError(f"there is no form for {space} in a bridge")


def _type(dtype: Any) -> str:
    return np.dtype(dtype).newbyteorder("<").str


def _bound(values: np.ndarray) -> Any:
    """One number where all are the same; null for no bound."""
    same = values.size and (values == values.flat[0]).all()
    return _json(values.flat[0].item() if same else values.tolist())


def _json(value: Any) -> Any:
    """Numbers in lists, with null for infinities."""
    if isinstance(value, list):
        return [_json(part) for part in value]
    return value if np.isfinite(value) else None


def space_of(told: Any, parts: bool = True) -> spaces.Space:
    """The space that the other side has described.

    Raises:
        BridgeError: it is none, or too large.
    """
    kinds: dict[str, Callable[[Mapping[str, Any]], spaces.Space]] = {
        "box": _box,
        "discrete": lambda told: spaces.Discrete(_counts(told["n"], ())),
        "multi_discrete": lambda told: spaces.MultiDiscrete(_counts(told["n"], (len(told["n"]),))),
        "multi_binary": lambda told: spaces.MultiBinary(_counts(told["n"], ())),
    }
    try:
        if told["space"] == "dict" and parts:
            items = [(str(name), space_of(part, parts=False)) for name, part in told["parts"].items()]
            if not items:
                raise ValueError("no parts")
            return spaces.Dict(items)  # in this order
        return kinds[told["space"]](told)
    except BridgeError:
        raise
    except (TypeError, KeyError, ValueError, AttributeError, AssertionError, OverflowError) as error:
        raise BridgeError(f"no space is {shortened(told, 200)}: {error}") from None


def _box(told: Mapping[str, Any]) -> spaces.Box:
    shape, dtype = told["shape"], told["type"]
    if dtype not in TYPES:
        raise ValueError(f"type {dtype!r} is not one of {', '.join(TYPES)}")
    if not all(type(n) is int and n >= 0 for n in shape) or np.prod(shape, dtype=float) > MOST_NUMBERS:
        raise ValueError(f"shape {shape} is none, or too large")
    native = np.dtype(dtype).newbyteorder("=")
    low, high = (_limit(told[name], native, tuple(shape), sign) for name, sign in (("low", -1), ("high", 1)))
    return spaces.Box(low, high, tuple(shape), native.type)


def _limit(told: Any, dtype: np.dtype, shape: tuple[int, ...], sign: int) -> np.ndarray:
    given = np.asarray(told, object)
    numbers = np.where(given == None, sign * np.inf, given).astype(np.float64)  # noqa: E711 (element by element)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.broadcast_to(np.clip(numbers, info.min, info.max), shape).astype(dtype)
    with np.errstate(over="ignore"):  # what is too large for the type is no bound
        return np.broadcast_to(numbers, shape).astype(dtype)


def _counts(told: Any, shape: tuple[int, ...]) -> Any:
    array = np.asarray(told)
    if array.shape != shape or array.dtype.kind != "i" or not array.size or (array < 1).any():
        raise ValueError("n must be counts of 1 or more")
    return array if shape else int(array)


def told_names(title: str, space: spaces.Space) -> dict[str, str]:
    """The names of a space's fields in messages, by the names of its parts."""
    if isinstance(space, spaces.Dict):
        return {name: f"{title}/{name}" for name in space.spaces}
    return {WHOLE: title}


def arrays_of(title: str, space: spaces.Space, leading: tuple[int, ...]) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """Type and shape of the arrays of a space's elements, by the names of the fields, with leading axes."""
    parts = space.spaces if isinstance(space, spaces.Dict) else {WHOLE: space}
    names = told_names(title, space)
    return {names[name]: (part.dtype, (*leading, *(part.shape or ()))) for name, part in parts.items()}
