"""Arguments of loops without numba: their types in words, and how they lie in memory for compiled code."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

RESULT = 16  # bytes behind the arguments: the kind of the result, and the result
NOTHING, WHOLE, REAL, FLAG, UNSIGNED = range(5)  # kinds of results
FORMATS = {WHOLE: "q", REAL: "d", FLAG: "q", UNSIGNED: "Q"}


def described(values: Iterable[Any]) -> str | None:
    """The types of arguments in words, the same with all versions of Python and NumPy; None where compiled code has no
    form of one.

    Args:
        values: numbers, arrays of numbers, and (named) tuples of these.
    """
    parts = [_described(value) for value in values]
    return None if None in parts else ",".join(map(str, parts))


def _described(value: Any) -> str | None:
    if isinstance(value, np.ndarray):
        return _array_described(value)
    if isinstance(value, tuple):
        inside = described(value)
        fields = getattr(value, "_fields", None)
        named = "" if fields is None else f"{type(value).__name__}[{','.join(fields)}]"
        return None if inside is None else f"{named}({inside})"
    if isinstance(value, (float, np.floating)):
        return "float"
    if isinstance(value, (int, np.bool_, np.integer)):
        return "unsigned" if isinstance(value, np.uint64) else "int"
    return None


def _array_described(array: np.ndarray) -> str | None:
    """Kind and bytes of a number, axes, layout, and whether it may only be read."""
    flags, dtype = array.flags, array.dtype
    if dtype.kind not in "biuf" or not dtype.isnative:
        return None
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return f"{dtype.kind}{dtype.itemsize}:{array.ndim}{layout}{'' if flags.writeable else 'r'}"


def function_name(key: str, described: str, shared: bool) -> str:
    """The name of the function of a library for a loop with arguments.

    Args:
        key: of the loop.
        described: their types.
        shared: whether the function takes a range of slots in front of them, see `loops.share`.
    """
    return f"{'share' if shared else 'call'}_{key}_{hashlib.sha256(described.encode()).hexdigest()[:16]}"


def words_of(values: Iterable[Any]) -> bytes:
    """Arguments as compiled code has them, in words of eight bytes: of an array no owner, size, size of a number,
    address, shape and strides."""
    return b"".join(map(_words_of, values))


def _words_of(value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        head = 0, 0, value.size, value.itemsize, value.ctypes.data
        return struct.pack(f"{5 + 2 * value.ndim}q", *head, *value.shape, *value.strides)
    if isinstance(value, tuple):
        return words_of(value)
    if isinstance(value, (float, np.floating)):
        return struct.pack("d", value)
    return struct.pack("Q" if isinstance(value, np.uint64) else "q", value)


def result_in(memory: bytes) -> Any:
    """The result of a loop, from the RESULT bytes behind its arguments."""
    kind = int.from_bytes(memory[:8], "little")
    if kind == NOTHING:
        return None
    (value,) = struct.unpack(FORMATS[kind], memory[8:])
    return bool(value) if kind == FLAG else value


def tuples_in(values: Sequence[Any]) -> list[type]:
    """The classes of the tuples among arguments, and in these."""
    found = []
    for value in values:
        if isinstance(value, tuple):
            found += [type(value), *tuples_in(value)]
    return found
