"""Actions for engines outside, looked at before anything is sent."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.bridge.spaces import WHOLE
from rlenvs.core.declare.errors import ActionError, shortened


def checked_actions(space: spaces.Space, actions: Any, leading: tuple[int, ...] = ()) -> dict[str, np.ndarray]:
    """Actions as arrays (*leading, ...), by the names of the space's parts; numbers are clipped to their bounds.

    Args:
        space: of one action; a Dict has parts, all others one.
        actions: an array, or of a Dict a dictionary of arrays.
        leading: the axes before an action's own.

    Raises:
        ActionError: other shapes, types or names, numbers that are not finite, or no choices.
    """
    if not isinstance(space, spaces.Dict):
        return {WHOLE: _checked(space, actions, leading, "actions")}
    if not isinstance(actions, dict) or actions.keys() != space.spaces.keys():
        names = ", ".join(map(repr, space.spaces))
        raise ActionError(f"actions={shortened(actions)} must be a dictionary with {names}")
    return {name: _checked(part, actions[name], leading, name) for name, part in space.spaces.items()}


def _checked(space: spaces.Space, given: Any, leading: tuple[int, ...], name: str) -> np.ndarray:
    try:
        array = np.asarray(given)
    except Exception:  # ragged lists, and whatever a foreign __array__ raises
        array = np.empty(0, object)
    shape = (*leading, *(space.shape or ()))
    continuous = isinstance(space, spaces.Box)
    if array.dtype.kind not in ("fiu" if continuous else "iu") or array.shape != shape:
        kind = "real numbers" if continuous else "integers"
        raise ActionError(
            f"{name} of shape {array.shape} and type {array.dtype} were given ({shortened(given)}); "
            f"needed: {kind} of shape {shape}"
        )
    if isinstance(space, spaces.Box):
        if not np.isfinite(array).all():
            raise ActionError(f"{name}={shortened(given)} has numbers that are not finite")
        return np.clip(array, space.low, space.high)
    if not ((array >= 0) & (array < _choices(space))).all():
        raise ActionError(f"{name}={shortened(given)} has numbers that are no choices of {space}")
    return array


def _choices(space: spaces.Space) -> Any:
    if isinstance(space, spaces.MultiDiscrete):
        return space.nvec
    return space.n if isinstance(space, spaces.Discrete) else 2
