"""Actions as they are given, of one slot or of many, checked and as arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.errors import ActionError
from rlenvs.core.declare.inputs import switches_of
from rlenvs.wrappers.masked import load


def check_action(action: Any, space: spaces.Space, name: str) -> np.ndarray:
    """An action as an array.

    Raises:
        ActionError: the wrong shape or type, NaN, or not a choice; the message names the environment.
    """
    array = np.asarray(action)
    array = switches_of(array) if isinstance(space, spaces.MultiBinary) else array
    numbers = isinstance(space, spaces.Box)
    wanted = "real numbers" if numbers else "an integer" if isinstance(space, spaces.Discrete) else "integers"
    if array.shape != space.shape or array.dtype.kind not in ("fiu" if numbers else "iu"):
        raise ActionError(
            f"{name}: an action of shape {array.shape} and type {array.dtype} was given ({action!r}); "
            f"needed: {wanted} of shape {space.shape}"
        )
    if numbers:
        wide = array.astype(np.float64)
        square = wide.dot(wide) if wide.ndim == 1 else math.nan  # NaN where one is: sooner than to ask each
        if square != square and np.isnan(wide).any():
            raise ActionError(f"{name}: action {array.tolist()} contains NaN")
        return wide
    if isinstance(space, spaces.Discrete) and not space.start <= array < space.start + space.n:
        raise ActionError(f"{name}: action {array} is not one of {space.start} ... {space.start + space.n - 1}")
    if _outside(array, space).any():
        raise ActionError(f"{name}: action {array.tolist()} is not in {space}")
    return array.astype(np.int64)


def check_actions(actions: Any, space: spaces.Space, slots: np.ndarray, name: str) -> np.ndarray:
    """The actions of many slots as an array; those of slots that do not step are not looked at."""
    array = np.asarray(actions)
    array = switches_of(array) if isinstance(space, spaces.MultiBinary) else array
    shape = (len(slots), *(space.shape or ()))
    numbers = isinstance(space, spaces.Box)
    if array.shape != shape or array.dtype.kind not in ("fiu" if numbers else "iu"):
        raise ActionError(
            f"{name}: actions of shape {array.shape} and type {array.dtype} were given; "
            f"needed: {'real numbers' if numbers else 'integers'} of shape {shape}"
        )
    if numbers:
        given, array = array, np.empty(shape, np.float64)
        if load(np.ascontiguousarray(given).reshape(-1), array.reshape(-1)):
            wrong = np.isnan(array).any(axis=tuple(range(1, array.ndim))) & slots
            if wrong.any():
                slot = int(np.argmax(wrong))
                raise ActionError(f"{name}, environment {slot}: action {array[slot].tolist()} contains NaN")
            array = np.nan_to_num(array)  # of slots that do not step
        return array
    if isinstance(space, spaces.Discrete):
        wrong = ((array < space.start) | (array >= space.start + space.n)) & slots
        if wrong.any():
            slot = int(np.argmax(wrong))
            last = space.start + space.n - 1
            raise ActionError(
                f"{name}, environment {slot}: action {array[slot]} is not one of {space.start} ... {last}"
            )
        return np.where(slots, array, space.start).astype(np.int64)
    wrong = _outside(array, space).reshape(len(slots), -1).any(axis=1) & slots
    if wrong.any():
        slot = int(np.argmax(wrong))
        raise ActionError(f"{name}, environment {slot}: action {array[slot].tolist()} is not in {space}")
    return array.astype(np.int64)


def _outside(array: np.ndarray, space: spaces.Space) -> np.ndarray:
    """Which integers, of the right shape or with an axis of slots, are no choices of a space of several."""
    if isinstance(space, spaces.MultiDiscrete):
        return (array < space.start) | (array >= space.start + space.nvec)
    return (array < 0) | (array > 1) if isinstance(space, spaces.MultiBinary) else np.zeros(array.shape, np.bool_)
