"""How the records that kernels see lie in memory.

A record (state, parameters, observation, ...) is one contiguous row of bytes per world. Its fields are scalars or
arrays; a dimension is an integer or the name of a size ("agents", "height"), known only when a batch is made.
One compiled kernel serves all sizes, because named dimensions and the offsets behind them are read at run time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as declared
from typing import NamedTuple

import numpy as np

RESERVED = frozenset(dir(np.record)) | {"data", "meta"}


class Range(NamedTuple):
    """The values of a field: least ... most + beyond, where `most` is a number or the name of a size."""

    least: float
    most: float | str
    beyond: int = 0


@dataclass(frozen=True)
class Kind:
    """The type of a field: an element type and, after a call, a shape. `f8` is a float, `f8(3)` three of them.

    A field of a state may say which values it takes, such as `i4("agents").index_of("cells")`. Compiled code does not
    look at them: they are for states from outside, of which `KernelBatch.set_state` refuses those with other values. A
    field that kernels use as an index, or as a count of what they go through, or cast to one, needs such a range.
    """

    code: str
    shape: tuple[int | str, ...] = ()
    range: Range | None = declared(default=None, compare=False)

    def __call__(self, *shape: int | str) -> Kind:
        return replace(self, shape=shape)

    def within(self, low: float, high: float) -> Kind:
        """The same with values in [low, high]."""
        return replace(self, range=Range(low, high))

    def index_of(self, size: int | str, low: int = 0) -> Kind:
        """The same with values low ... size - 1, where `size` is a number or the name of a size."""
        return replace(self, range=Range(low, size, -1))

    def up_to(self, size: int | str, low: int = 0) -> Kind:
        """The same with values low ... size, where `size` is a number or the name of a size."""
        return replace(self, range=Range(low, size))

    def fixed(self, sizes: Mapping[str, int]) -> Kind:
        """The same with constants for the sizes that are known."""
        return replace(self, shape=tuple(sizes.get(d, d) if isinstance(d, str) else d for d in self.shape))


f8, f4 = Kind("f8"), Kind("f4")
i8, i4, i2, i1 = Kind("i8"), Kind("i4"), Kind("i2"), Kind("i1")
u8, u4, u1, b1 = Kind("u8"), Kind("u4"), Kind("u1"), Kind("b1")


class Slot(NamedTuple):
    """A number that is read from a record's meta row at run time."""

    row: int


class Place(NamedTuple):
    """Where a field lies: element type, byte offset and dimensions, each a constant or a Slot; and whether compiled
    code reads that of the first row for all rows."""

    code: str
    offset: int | Slot
    shape: tuple[int | Slot, ...]
    shared: bool = False


class Layout:
    """The fields of one kind of record, in order of memory.

    Args:
        name: shown in error messages.
        fields: name to Kind.
        packed: keep the declared order and leave no gaps (observations, results). Otherwise fields of fixed size
            come first, so that their offsets are constants in compiled code.
        by_size: among fields of fixed size, as among the others, those with the longest numbers come first, so that
            there are no gaps and numbers of one length are copied together.
        last: names of fields that come after all others.
        shared: names of fields that are the same in all rows. Compiled code reads them in the first row, so that rows
            of a large batch take less of the processor's cache.

    Raises:
        ValueError: a field name that is not an identifier, or that NumPy records already use.
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, Kind],
        packed: bool = False,
        by_size: bool = False,
        last: Iterable[str] = (),
        shared: Iterable[str] = (),
    ) -> None:
        for field in fields:
            if not field.isidentifier() or field in RESERVED or field.startswith("_"):
                raise ValueError(f"{name}: {field!r} cannot name a field; choose another identifier")
        self.name = name
        self.packed = packed
        self.by_size = by_size
        self.last = frozenset(last) & fields.keys()
        self.shared = frozenset(shared) & fields.keys()
        ordered = list(fields.items())
        if not packed:
            ordered = sorted(ordered, key=self._rank)
        self.fields: dict[str, Kind] = dict(ordered)
        self.places: dict[str, Place] = {}
        self._slots: list[tuple[str, str | None]] = []
        self._dtypes: dict[tuple[int, ...], np.dtype] = {}
        self._place_fields()

    def _rank(self, field: tuple[str, Kind]) -> tuple[bool, bool, int]:
        name, kind = field
        size = np.dtype(kind.code).itemsize if self.by_size else 0
        return name in self.last, any(isinstance(d, str) for d in kind.shape), -size

    def _place_fields(self) -> None:
        offset: int | None = 0
        for field, kind in self.fields.items():
            item = np.dtype(kind.code).itemsize
            if offset is None:
                at: int | Slot = self._slot(field, None)
            else:
                offset = self._align(offset, item)
                at = offset
            shape = tuple(self._slot(field, d) if isinstance(d, str) else d for d in kind.shape)
            self.places[field] = Place(kind.code, at, shape, field in self.shared)
            if any(isinstance(d, Slot) for d in shape):
                offset = None
            elif offset is not None:
                offset += item * math.prod(d for d in shape if not isinstance(d, Slot))

    def _slot(self, field: str, size: str | None) -> Slot:
        self._slots.append((field, size))
        return Slot(len(self._slots) - 1)

    def _align(self, offset: int, item: int) -> int:
        return offset if self.packed else -(-offset // item) * item

    @functools.cached_property
    def size_names(self) -> list[str]:
        """Names of the sizes that the fields use, in order."""
        return sorted({d for kind in self.fields.values() for d in kind.shape if isinstance(d, str)})

    def dtype(self, sizes: Mapping[str, int]) -> np.dtype:
        """The NumPy record type for the given sizes."""
        key = tuple([sizes[name] for name in self.size_names])
        if key not in self._dtypes:
            self._dtypes[key] = self._make_dtype(sizes)
        return self._dtypes[key]

    def _make_dtype(self, sizes: Mapping[str, int]) -> np.dtype:
        names, formats, offsets, end = [], [], [], 0

        def add(name: str, kind: str, shape: tuple[int, ...], start: int) -> int:
            names.append(name)
            formats.append((kind, shape) if shape else kind)
            offsets.append(start)
            return start + np.dtype(kind).itemsize * math.prod(shape)

        def fill(start: int, stop: int) -> None:
            # gaps are fields too, or copies of a record would hold whatever memory held before
            if stop > start:
                add(f"_gap{start}", "u1", (stop - start,), start)

        for name, kind in self.fields.items():
            start = self._align(end, np.dtype(kind.code).itemsize)
            fill(end, start)
            end = add(name, kind.code, resolved(kind.shape, sizes), start)
        total = max(end if self.packed else -(-end // 8) * 8, 1)
        fill(end, total)
        plain = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": total})
        return np.dtype((np.record, plain))

    def exponents(self, sizes: Mapping[str, int]) -> np.ndarray:
        """Where the exponents of floats lie in front of the `last` fields, by words of 4 bytes: the bits that are all
        set when a number is not finite; 0 in words without an exponent. uint32, up to the last float."""
        dtype = self.dtype(sizes)
        assert dtype.fields is not None
        bits = np.zeros(dtype.itemsize // 4, np.uint32)
        for name, kind in self.fields.items():
            if kind.code not in ("f4", "f8") or name in self.last:
                continue
            first = dtype.fields[name][1] // 4
            words = dtype[name].itemsize // 4
            if kind.code == "f4":
                bits[first : first + words] = 0x7F800000
            else:  # the higher word of a little-endian number
                bits[first + 1 : first + words : 2] = 0x7FF00000
        used = np.flatnonzero(bits)
        return bits[: used[-1] + 1 if len(used) else 0]

    def bytes_before_last(self, sizes: Mapping[str, int]) -> int:
        """The size of the part of a record in front of its `last` fields."""
        dtype = self.dtype(sizes)
        assert dtype.fields is not None
        return min((dtype.fields[name][1] for name in self.last), default=dtype.itemsize)

    def meta(self, sizes: Mapping[str, int]) -> np.ndarray:
        """The run-time numbers of compiled code: an offset or a dimension per slot, the bytes of a record; int64."""
        dtype = self.dtype(sizes)
        assert dtype.fields is not None
        row = [dtype.fields[field][1] if size is None else sizes[size] for field, size in self._slots]
        return np.array([*row, dtype.itemsize], np.int64)

    @property
    def size_slot(self) -> Slot:
        """Where in the meta row the bytes of a record stand."""
        return Slot(len(self._slots))

    def __repr__(self) -> str:
        return f"Layout({self.name}: {', '.join(self.fields)})"


def resolved(shape: Iterable[int | str], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """A shape with numbers for the names of sizes."""
    return tuple(sizes[d] if isinstance(d, str) else d for d in shape)
