"""Banks of snapshots, their files, and classes of states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import SnapshotError, shortened
from rlenvs.core.declare.user_files import read_arrays, reason

FORMAT = "rlenvs snapshots 1"
PARTS = ("format", "world", "states", "params", "checksums")
LARGEST = 1 << 32  # bytes of a file's arrays
ITERATIONS = 100  # of k-means, which ends before when nothing changes


@dataclass(frozen=True, eq=False, repr=False)
class SnapshotBuffer:
    """A buffer of snapshots of one world, for `SnapshotReset`, which can be saved to a file.

    Attributes:
        world: the fingerprint that all snapshots have.
        states, params: uint8 (number of snapshots, bytes).
        checksums: int64 (number of snapshots,).
    """

    world: str
    states: np.ndarray
    params: np.ndarray
    checksums: np.ndarray

    @classmethod
    def of(cls, snapshots: Iterable[Snapshot]) -> SnapshotBuffer:
        """A bank from snapshots returned by `get_state`.

        Raises:
            SnapshotError: none, a damaged one, or not all of one world.
        """
        snapshots = list(snapshots)
        if not snapshots or not all(isinstance(snapshot, Snapshot) for snapshot in snapshots):
            raise SnapshotError("a bank requires at least one snapshot, and only snapshots returned by `get_state`")
        if not all(snapshot.is_whole for snapshot in snapshots):
            raise SnapshotError("a snapshot is damaged: it differs from what `get_state` returned")
        worlds = {snapshot.world for snapshot in snapshots}
        if len(worlds) > 1:
            raise SnapshotError(f"a bank requires snapshots of one world, not of {sorted(worlds)}")
        states, params = ([getattr(snapshot, part) for snapshot in snapshots] for part in ("state", "params"))
        checksums = np.array([snapshot.checksum for snapshot in snapshots])
        return cls(worlds.pop(), _matrix(states), _matrix(params), checksums)

    def save(self, path: str | Path) -> None:
        """Write a compressed .npz file, which holds arrays only."""
        with open(path, "wb") as file:
            np.savez_compressed(
                file,
                format=np.array(FORMAT),
                world=np.array(self.world),
                states=self.states,
                params=self.params,
                checksums=self.checksums,
            )

    @classmethod
    def load(cls, path: str | Path) -> SnapshotBuffer:
        """Read a file. Loading runs no code from it, and a damaged file is refused. Whether its states are valid for a
        world is checked where they are used (`SnapshotReset`, `set_state`).

        Raises:
            SnapshotError: no file, or none that `save` wrote.
        """
        try:
            found = read_arrays(path, PARTS, LARGEST)
        except OSError as error:
            raise SnapshotError(
                f"{shortened(str(path))} is not a snapshot file ({reason(error)}); `SnapshotBuffer.save` writes them"
            ) from None
        if (given := str(found.get("format", FORMAT))) != FORMAT:
            raise SnapshotError(f"{path} has the format {shortened(given)}; this package reads {FORMAT!r}")
        if missing := [name for name in PARTS if name not in found]:
            raise SnapshotError(f"{path} is not a snapshot file, without {missing}; `SnapshotBuffer.save` writes them")
        bank = cls(str(found["world"]), found["states"], found["params"], found["checksums"])
        arrays = (bank.states, bank.params, bank.checksums)
        kinds, counts = [(array.dtype, array.ndim) for array in arrays], {array.shape[:1] for array in arrays}
        if kinds != [(np.uint8, 2)] * 2 + [(np.int64, 1)] or len(counts) > 1 or not len(bank):
            raise SnapshotError(f"{path} is not a snapshot file; `SnapshotBuffer.save` writes them")
        if not all(snapshot.is_whole for snapshot in bank):
            raise SnapshotError(f"{path} is damaged")
        return bank

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, index: int) -> Snapshot:
        state, params = self.states[index].tobytes(), self.params[index].tobytes()
        return Snapshot(self.world, state, params, int(self.checksums[index]))

    def __iter__(self) -> Iterator[Snapshot]:
        return (self[i] for i in range(len(self)))

    def __deepcopy__(self, memo: Any) -> SnapshotBuffer:
        return self  # nothing changes it, and wrappers are copied often

    def __repr__(self) -> str:
        return f"<SnapshotBuffer: {len(self)} snapshots of {self.world}>"


def circumstances(params: np.ndarray) -> set[bytes]:
    """What decides how the worlds of some records of parameters move; not when an episode ends, or what it pays."""
    names = [name for name in params.dtype.names or () if name not in ("horizon", "weights")]
    return {b"".join(slot[name].tobytes() for name in names) for slot in params}


def _matrix(slots: list[bytes]) -> np.ndarray:
    if len({len(slot) for slot in slots}) > 1:
        raise SnapshotError("the snapshots differ in length; they belong to different worlds")
    return np.frombuffer(b"".join(slots), np.uint8).reshape(len(slots), -1)


def classes_of(points: np.ndarray, count: int) -> np.ndarray:
    """k-means, begun as k-means++ does (Arthur and Vassilvitskii, SODA 2007), on columns of unit variance.

    Args:
        points: (n, numbers).
        count: classes, 1 ... n.

    Returns:
        the class of every point, int64 (n,); the same ones for the same points. Equal points leave classes empty.
    """
    rng = np.random.default_rng(0)
    spread = points.std(axis=0)
    points = points[:, spread > 0] / spread[spread > 0]
    centres = points[[rng.integers(len(points))]]
    for _ in range(count - 1):
        weights = _squares(points, centres).min(axis=1)
        total = weights.sum()
        chosen = rng.choice(len(points), p=weights / total) if total > 0 else 0
        centres = np.vstack([centres, points[chosen]])
    found = np.full(len(points), -1)
    for _ in range(ITERATIONS):
        before, found = found, _squares(points, centres).argmin(axis=1)
        if np.array_equal(before, found):
            break
        for k in np.unique(found):
            centres[k] = points[found == k].mean(axis=0)
    return found


def _squares(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distances, (points, centers)."""
    return np.stack([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
