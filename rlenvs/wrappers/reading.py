"""What the single form returns of a step, read from the arrays of a stack of wrappers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rlenvs.wrappers.slot_values import plain, says_now, tellers_of
from rlenvs.wrappers.wrapper import Wrapper

Returned = tuple[Any, Any, bool, bool, dict[str, Any]]


def reader_of(wrappers: Sequence[Wrapper], observe: Callable[[], Any]) -> Callable[[], Returned]:
    """A function that gives observation, reward, whether terminated, whether truncated, and info of the sole slot.
    Arrays that stay the same ones are looked up here, once.

    Args:
        wrappers: the stack, the lowest first. observe: gives the observation.
    """
    top: Any = wrappers[-1]
    takes: list[Callable[[], Any]] = []
    keys: list[str | None] = []
    for wrapper, seldom in tellers_of(wrappers):
        lasting = wrapper.one_slot and wrapper.entries_last and type(wrapper).extra_info is Wrapper.extra_info
        if lasting and not seldom:
            for key, value in wrapper.entries().items():
                keys.append(key)
                takes.append(_taker(value))
        else:
            keys.append(None)
            takes.append(partial(_told, wrapper, seldom))
    return _binder(tuple(keys))(wrappers[0].below, observe, *_outcome_of(top), takes)


def _outcome_of(top: Any) -> tuple[Callable[[], Any], ...]:
    """What gives the reward and the two flags."""
    if not top.keeps_arrays:
        return lambda: _paid(top.reward), lambda: top.terminated.item(), lambda: top.truncated.item()
    paid = top.reward.item if top.reward.ndim == 1 else partial(_paid, top.reward)
    return paid, top.terminated.item, top.truncated.item


def _paid(rewards: np.ndarray) -> Any:
    return rewards.item() if rewards.ndim == 1 else rewards[0].astype(np.float32)


def _taker(value: Any) -> Callable[[], Any]:
    """What copies the slot's entry out of an array, as `plain` does."""
    if type(value) is not np.ndarray:
        return partial(plain, value, 0)
    return value.item if value.ndim == 1 else value[0].copy


def _told(wrapper: Wrapper, seldom: bool) -> dict[str, Any]:
    """What a wrapper tells now."""
    if seldom and not says_now(wrapper):
        return {}
    return {key: plain(value, 0) for key, value in wrapper.extra_info().items()}


@functools.cache
def _binder(keys: tuple[str | None, ...]) -> Any:
    """A function to a reader. Made from text, so that entries go by names of their own, without a loop."""
    names = [f"take{k}" for k in range(len(keys))]
    lines = [
        f"info.update({name}())" if key is None else f"info[{key!r}] = {name}()"
        for name, key in zip(names, keys, strict=True)
    ]
    scope: dict[str, Any] = {}
    exec(
        f"""
def bind(bottom, observe, paid, terminated, truncated, takes):
    said, [{", ".join(names)}] = bottom.slot_info, takes

    def read():
        info = said(0).copy()
        {"; ".join(lines)}
        return observe(), paid(), terminated(), truncated(), info

    return read
""",
        scope,
    )
    return scope["bind"]
