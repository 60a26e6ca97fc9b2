"""Snapshots of single worlds and copies of whole batches, and whether those from outside fit a batch."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import ParameterError, SnapshotError
from rlenvs.core.declare.ranges import check_states

if TYPE_CHECKING:
    from rlenvs.core.batch.kernel_batch import KernelBatch


class Snapshot(NamedTuple):
    """One world at one moment: state, random generator, physical parameters, time limit and reward weights. Picklable,
    comparable, exact.

    world: name, layout and sizes of what it was taken from. state, params: records as bytes. checksum: of all three.
    """

    world: str
    state: bytes
    params: bytes
    checksum: int

    @staticmethod
    def of(world: str, state: bytes, params: bytes) -> Snapshot:
        """A snapshot of these records, with their checksum."""
        return Snapshot(world, state, params, _checksum(world, state, params))

    @property
    def is_whole(self) -> bool:
        """Whether it is as it was taken: types and checksum are right."""
        kinds = [type(part) for part in self]
        return kinds == [str, bytes, bytes, int] and self.checksum == _checksum(*self[:3])


def _checksum(world: str, state: bytes, params: bytes) -> int:
    return zlib.crc32(params, zlib.crc32(state, zlib.crc32(world.encode())))


def checked_snapshot(batch: KernelBatch, snapshot: Any, worlds: int) -> Any:
    """The record of parameters of a snapshot that fits so many worlds of a batch.

    Raises:
        SnapshotError: it was damaged, belongs to another environment, to other sizes or to other options, or holds
            numbers that the world never has.
    """
    name = batch.world.name
    if not isinstance(snapshot, Snapshot):
        raise SnapshotError(f"{name}: needed: a snapshot returned by get_state, not a {type(snapshot).__name__}")
    if not snapshot.is_whole:
        raise SnapshotError(f"{name}: the snapshot is damaged: it differs from what get_state returned")
    if snapshot.world != batch.setup.fingerprint:
        raise SnapshotError(f"a snapshot of {snapshot.world} does not fit {batch.setup.fingerprint}")
    if (len(snapshot.state), len(snapshot.params)) != (batch.states.itemsize, batch.param_rows.itemsize):
        raise SnapshotError(f"{name}: the snapshot has a different size")
    rows: Any = np.frombuffer(bytearray(snapshot.params), batch.param_rows.dtype)
    row, own = rows[0], batch.param_rows[0]
    if batch.world.published is not None:
        row["scaled"] = own["scaled"]  # how one looks is no part of the world
    coded = set(batch.world.options) & set(batch.param_rows.dtype.names or ()) - set(batch.world.data)
    other = sorted(option for option in coded if row[option] != own[option])
    if other:
        raise SnapshotError(
            f"{name}: the snapshot was made with a different value of {', '.join(other)}; make the environment with "
            f"that value"
        )
    _check_data(batch, row, worlds)
    _check_params(batch, row)
    check_states(batch.setup, np.frombuffer(snapshot.state, batch.states.dtype), rows)
    return row


def _check_data(batch: KernelBatch, row: Any, worlds: int) -> None:
    """SnapshotError where static data of a snapshot differ from the batch's and cannot go into so many worlds."""
    name, own = batch.world.name, batch.param_rows[0]
    data = [field for field in batch.world.data if not np.array_equal(row[field], own[field])]
    if whole := [field for field in data if batch.world.data[field].code not in ("f4", "f8")]:
        raise SnapshotError(
            f"{name}: the snapshot was made with a different {', '.join(whole)}; make the environment with the same "
            f"options"
        )
    if data and worlds < batch.num_envs:
        raise SnapshotError(
            f"{name}: the snapshot was made with a different {', '.join(data)}, which all worlds of a batch share; "
            f"restore it in all of them, or in a batch with its options"
        )


def _check_params(batch: KernelBatch, row: Any) -> None:
    """SnapshotError where parameters of a snapshot are none that `make` would take."""
    values = {name: float(row[name]) for name in batch.world.params}
    try:
        for name, value in values.items():
            batch.world.params[name].check(name, value)
        batch.setup.check_together({**vars(batch.setup.values), **values})
    except ParameterError as error:
        raise SnapshotError(f"{batch.world.name}: the snapshot's parameters are invalid: {error}") from None
    if row["horizon"] < 1 or not np.isfinite(row["weights"]).all():
        raise SnapshotError(f"{batch.world.name}: the snapshot's time limit or weights are not allowed by `make`")


def checked_arrays(batch: KernelBatch, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of `KernelBatch.arrays` in their types and shapes again.

    Raises:
        SnapshotError: arrays of another size, or no states of the batch's world.
    """
    found = {}
    for name, own in batch.loops.table.kept().items():
        given = arrays.get(name)
        # parameters: one row, or one per world
        rows = (1, batch.num_envs) if name == "param_rows" else (len(own),)
        if given is None or len(given) not in [own.nbytes // max(len(own), 1) * count for count in rows]:
            raise SnapshotError(
                f"{batch.world.name}: the arrays belong to other worlds, or to a different number of worlds"
            )
        array = np.frombuffer(bytearray(given), own.dtype)
        found[name] = array if name == "param_rows" else array.reshape(own.shape)
    check_states(batch.setup, found["states"], found["param_rows"])
    return found
