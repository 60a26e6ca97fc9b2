"""Observations and infos of slots: copies of one slot, and what wrappers add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.wrappers.stage import Observation
from rlenvs.wrappers.wrapper import Wrapper


def slot_of(value: Observation, slot: int, space: spaces.Space) -> Any:
    """A copy of one slot's observation, as long as its space says."""
    if isinstance(value, dict):
        assert isinstance(space, spaces.Dict)
        return {name: slot_of(array, slot, space[name]) for name, array in value.items()}
    own = value[slot]
    if isinstance(space, spaces.Discrete):
        return int(own)
    if own.shape == space.shape:
        return own.copy()
    if own.ndim == 1 and space.shape is not None and len(space.shape) == 1 and len(own) != space.shape[0]:
        own = own[: space.shape[0]]
    return own.copy()


def plain(array: Any, slot: int) -> Any:
    """A copy of one slot of an info array; numbers as plain Python."""
    if type(array) is np.ndarray:
        return array.item(slot) if array.ndim == 1 else array[slot].copy()
    if isinstance(array, dict):
        return {name: plain(part, slot) for name, part in array.items()}
    value = array[slot]
    return value.item() if isinstance(value, np.generic) else value


def copied(value: Any) -> Any:
    """A copy of an array, or of a dictionary of arrays."""
    return {name: copied(part) for name, part in value.items()} if isinstance(value, dict) else value.copy()


def present(infos: dict[str, Any], slots: np.ndarray) -> dict[str, Any]:
    """Vector infos with the masks "_key" that say which slots have an entry, as Gymnasium has them."""
    nested = {key: present(value, slots) if isinstance(value, dict) else value for key, value in infos.items()}
    return {**nested, **{f"_{key}": slots.copy() for key in infos}}


def tellers_of(wrappers: Sequence[Wrapper]) -> list[tuple[Wrapper, bool]]:
    """The wrappers that add to info, and whether they do so for some slots only now and then."""
    return [
        (wrapper, type(wrapper).info_mask is not Wrapper.info_mask)
        for wrapper in wrappers
        if type(wrapper).extra_info is not Wrapper.extra_info or type(wrapper).entries is not Wrapper.entries
    ]


def told_by(tellers: Sequence[tuple[Wrapper, bool]]) -> list[tuple[np.ndarray | None, dict[str, Any]]]:
    """What each wrapper adds to info, and for which slots it does so now; None for all."""
    return [(wrapper.info_mask() if seldom else None, wrapper.extra_info()) for wrapper, seldom in tellers]


def says_now(wrapper: Wrapper) -> bool:
    """Whether a wrapper tells something of the first slot now."""
    told = wrapper.info_mask()
    return told is None or bool(told[0])


def added(told: list[tuple[np.ndarray | None, dict[str, Any]]], slot: int) -> dict[str, Any]:
    """What wrappers add to the info of a slot."""
    entries: dict[str, Any] = {}
    for slots, own in told:
        if slots is None or slots[slot]:
            for key, value in own.items():
                entries[key] = plain(value, slot)
    return entries


def all_present(infos: dict[str, Any], wrappers: Sequence[Wrapper], slots: np.ndarray) -> dict[str, Any]:
    """Vector infos, with masks, of what the environment said and what its wrappers add, about these slots."""
    infos = present(infos, slots)
    for told, own in told_by(tellers_of(wrappers)):
        about = slots if told is None else slots & told
        if told is None or about.any():
            infos.update(present(copied(own), about))
    return infos
