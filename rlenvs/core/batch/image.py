"""The memory of a batch in one piece, for compiled code that runs elsewhere, such as a WebAssembly module."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlenvs.core.compiler.table import Table

ALIGNED = 64  # bytes


class MemoryImage:
    """A copy of the arrays of a batch, and of the record in which the driver finds them.

    Args:
        table: of the batch; it must be complete, and must not change.
        rows: arrays by name: those of the batch, and those of calls.

    Attributes:
        content: the bytes.
        places: where each array begins, by name.
        record: where the record lies.
        addresses: where an address of 8 bytes lies that is counted from the start of the image; who copies the image to
            a place adds that place.
    """

    def __init__(self, table: Table, rows: Mapping[str, np.ndarray]) -> None:
        self.content = bytearray()
        self.addresses: list[int] = []
        self._parts: list[tuple[int, int, int]] = []  # where they begin and end, and the place
        self.places = {name: self._put(array) for name, array in rows.items()}
        metas = table.metas.values()
        parts = [*metas, *([] if table.blocks is None else [table.blocks]), table.record]
        placed = [(self._put(part), part) for part in parts]
        self.record = placed[-1][0]
        for place, part in placed[len(metas) :]:
            self._note_addresses(place, part)

    def _put(self, array: np.ndarray) -> int:
        """Where an array lies in the image; once for those that share their memory, as images that are all that is
        observed."""
        first = array.ctypes.data
        for start, end, place in self._parts:
            if start <= first and first + array.nbytes <= end:
                return place + first - start
        self.content.extend(bytes(-len(self.content) % ALIGNED))
        place = len(self.content)
        self.content.extend(array.tobytes())
        self._parts.append((first, first + max(array.nbytes, 1), place))
        return place

    def _note_addresses(self, place: int, table: np.ndarray) -> None:
        """Find the addresses in a table. One behind a part's end, where rows end, belongs to no other part as well."""
        words = np.frombuffer(table.tobytes(), np.int64)
        for n in np.flatnonzero(words > 1 << 32).tolist():
            value = int(words[n])
            inside = [part for part in self._parts if part[0] <= value < part[1]]
            for start, _, moved in inside or [part for part in self._parts if value == part[1]]:
                at = place + 8 * n
                self.content[at : at + 8] = (moved + value - start).to_bytes(8, "little")
                self.addresses.append(at)
                break

    def place_of(self, array: np.ndarray) -> int:
        """Where an array that is in the image, or a part of one, begins."""
        start = array.ctypes.data
        return next(moved + start - first for first, end, moved in self._parts if first <= start < end)
