"""Whether a state that comes from outside can be one of a world: its numbers lie in the ranges that its fields declare.

Kernels index arrays with numbers of the state, without looking at them, since no kernel writes others. A file may hold
any. `layout.Kind` says how a field declares its range.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import SnapshotError
from rlenvs.core.declare.layout import Layout, Range

if TYPE_CHECKING:
    from rlenvs.core.declare.setup import Setup


class Numbers(NamedTuple):
    """All numbers of one type in a record that have ranges: where they lie, counted in numbers of this type, and the
    least and most of each."""

    code: str
    at: np.ndarray
    least: np.ndarray
    most: np.ndarray


def ranges_of(layout: Layout, sizes: Mapping[str, int]) -> list[Numbers]:
    """The ranges of a layout's fields, by the type of number, for the given sizes."""
    dtype = layout.dtype(sizes)
    assert dtype.fields is not None
    found: dict[str, list[tuple[np.ndarray, float, float]]] = {}
    for name, kind in layout.fields.items():
        allowed = Range(0, 1) if kind.code == "b1" else kind.range
        if allowed is None:
            continue
        code = "u1" if kind.code == "b1" else kind.code
        offset, item = dtype.fields[name][1], np.dtype(code).itemsize
        at = np.arange(offset // item, (offset + dtype[name].itemsize) // item)
        most = sizes[allowed.most] if isinstance(allowed.most, str) else allowed.most
        found.setdefault(code, []).append((at, allowed.least, most + allowed.beyond))
    return [_joined(code, parts) for code, parts in found.items()]


def _joined(code: str, parts: list[tuple[np.ndarray, float, float]]) -> Numbers:
    lengths = [len(at) for at, _, _ in parts]
    least, most = (np.repeat(np.array([part[i] for part in parts], code), lengths) for i in (1, 2))
    return Numbers(code, np.concatenate([at for at, _, _ in parts]), least, most)


def check_states(setup: Setup, states: np.ndarray, params: np.ndarray) -> None:
    """SnapshotError where records of states, (N,), cannot be states of a world with these parameters, (N,) or (1,).

    What is looked at: the declared ranges; that numbers are finite, the time is within its limit, and generators of
    random numbers are not all zero, in which they would stay, unless the episode is over; and `World.state_fault`.
    """
    rows = states.view(np.uint8).reshape(len(states), -1)
    for numbers in setup.state_ranges:
        values = rows.view(numbers.code)[:, numbers.at]
        wrong = ~((values >= numbers.least) & (values <= numbers.most))
        if wrong.any():
            row, column = (int(found[0]) for found in np.nonzero(wrong))
            item = np.dtype(numbers.code).itemsize
            place = _place(states.dtype, int(numbers.at[column]) * item, item)
            least, most = numbers.least[column].item(), numbers.most[column].item()
            raise SnapshotError(
                f"{setup.world.name}: the snapshot has {place} = {values[row, column].item()}, outside [{least:g}, "
                f"{most:g}]; it differs from what get_state returned"
            )
    bits = setup.world.layouts["state"].exponents(setup.sizes)
    infinite = (((rows.view(np.uint32)[:, : len(bits)] & bits) == bits) & (bits != 0)).any(axis=0)
    if infinite.any():
        place = _place(states.dtype, int(infinite.argmax()) * 4, 4)
        raise SnapshotError(f"{setup.world.name}: the snapshot has {place}, which is not finite")
    generators = [name for name in ("rng", "players_rng") if name in (states.dtype.names or ())]
    for name in generators:
        if (~states[name].any(axis=1) & ~states["over"]).any():
            raise SnapshotError(
                f"{setup.world.name}: the snapshot has {name} = 0, which is not a valid generator state"
            )
    if (states["elapsed"] > params["horizon"]).any():
        raise SnapshotError(f"{setup.world.name}: the snapshot is beyond its time limit")
    if fault_of := setup.world.functions.get("state_fault"):
        for state, row in zip(states, np.broadcast_to(params, states.shape), strict=True):
            if fault := fault_of(row, state):
                raise SnapshotError(f"{setup.world.name}: the snapshot is not a valid state of this world: {fault}")


def _place(dtype: np.dtype, byte: int, item: int) -> str:
    """The field, with an index, in which a byte of a record lies."""
    assert dtype.fields is not None
    for name, (kind, offset, *_) in dtype.fields.items():
        if offset <= byte < offset + kind.itemsize:
            if not kind.shape:
                return name
            index = np.unravel_index((byte - offset) // kind.base.itemsize, kind.shape)
            return f"{name}[{', '.join(map(str, index))}]"
    return "a gap"
