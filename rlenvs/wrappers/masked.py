"""Compiled loops over the slots of a mask. NumPy's own masks cost more than the environment's step, and for one slot
calls of compiled loops do."""

from __future__ import annotations

import numpy as np

from rlenvs.core.compiler.loops import compiled


def flat(array: np.ndarray) -> np.ndarray:
    """The array as (slots, numbers), without a copy where it is contiguous."""
    return array.reshape(len(array), -1)


def put(target: np.ndarray, values: np.ndarray, slots: np.ndarray) -> None:
    """target[slots] = values[slots], for arrays of equal shape, in the target's type."""
    if len(slots) == 1 and target.ndim == values.ndim:
        if slots.item():
            target[...] = values
        return
    put_rows(flat(target), flat(values), slots)


def add(target: np.ndarray, values: np.ndarray, slots: np.ndarray) -> None:
    """target[slots] += values[slots], for arrays of equal shape."""
    if len(slots) == 1 and target.ndim == values.ndim:
        if slots[0]:
            target[0] = target[0] + values[0]
        return
    add_rows(flat(target), flat(values), slots)


def any_of(slots: np.ndarray) -> bool:
    """`slots.any()`."""
    return slots.item() if len(slots) == 1 else bool(slots.any())


def put_number(target: np.ndarray, value: float, slots: np.ndarray) -> None:
    """target[slots] = value."""
    if len(slots) == 1:
        if slots[0]:
            target[0] = value
        return
    _put_number(flat(target), value, slots)


def clear(target: np.ndarray, slots: np.ndarray) -> None:
    """target[slots] = 0."""
    if len(slots) == 1:
        if slots[0]:
            target[0] = 0
        return
    clear_rows(flat(target), slots)


def count(counter: np.ndarray, slots: np.ndarray) -> None:
    """counter[slots] += 1, of one number per slot."""
    if len(slots) == 1:
        if slots.item():
            counter[0] += 1
        return
    count_rows(counter, slots)


def fill(target: np.ndarray, values: np.ndarray, slots: np.ndarray) -> None:
    """target[i, ..., :] = values[i modulo their number] for the slots i of the mask; values (agents, n)."""
    _fill(target.reshape(len(target), -1, values.shape[1]), values, slots)


@compiled(nogil=True)
def count_rows(counter: np.ndarray, slots: np.ndarray) -> None:
    """`count`."""
    for i in range(slots.size):
        counter[i] += np.int64(slots[i])


@compiled(nogil=True)
def load(numbers: np.ndarray, out: np.ndarray) -> bool:
    """Copy numbers, one-dimensional arrays of equal length; whether there is a NaN."""
    wrong = False
    for i in range(out.size):
        out[i] = numbers[i]
        wrong |= out[i] != out[i]
    return wrong


@compiled(nogil=True)
def _put_number(target: np.ndarray, value: float, slots: np.ndarray) -> None:
    for i in range(slots.size):
        if slots[i]:
            for j in range(target.shape[1]):
                target[i, j] = value


@compiled(nogil=True)
def put_rows(target: np.ndarray, values: np.ndarray, slots: np.ndarray) -> None:
    """`put`, of arrays (slots, numbers)."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(target.shape[1]):
                target[i, j] = values[i, j]


@compiled(nogil=True)
def add_rows(target: np.ndarray, values: np.ndarray, slots: np.ndarray) -> None:
    """`add`, of arrays (slots, numbers)."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(target.shape[1]):
                target[i, j] += values[i, j]


@compiled(nogil=True)
def clear_rows(target: np.ndarray, slots: np.ndarray) -> None:
    """`clear`, of an array (slots, numbers)."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(target.shape[1]):
                target[i, j] = 0


@compiled(nogil=True)
def _fill(target: np.ndarray, values: np.ndarray, slots: np.ndarray) -> None:
    for i in range(slots.size):
        if slots[i]:
            for s in range(target.shape[1]):
                for j in range(target.shape[2]):
                    target[i, s, j] = values[i % values.shape[0], j]
