"""Compiled loops that are called with the address of their arguments alone.

numba looks at each argument of a call, 0.1 us or more an array: for one slot that is most of the time. Loops
whose arrays stay the same ones write down once where these lie.
"""

from __future__ import annotations

import functools
import hashlib
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rlenvs.core.compiler.cache import code_cache, compiled, stem_of
from rlenvs.core.compiler.compiling import undisturbed
from rlenvs.core.compiler.entries import direct, entry_of
from rlenvs.core.compiler.jit import njit, typeof, types
from rlenvs.core.compiler.slot_loops import fetching
from rlenvs.core.compiler.thread_loops import call_loop


def bound(loops: Sequence[tuple[Any, ...]]) -> Callable[[], None]:
    """A function that calls loops, one after the other, in one call of compiled code.

    Args:
        loops: (loop, *arguments) each: compiled by numba, without a result, and must not raise; of numbers, arrays and
            tuples of them. The arrays are read and written where they are now.
    """
    given = [arguments for _, *arguments in loops]
    words = [b"".join(map(_words_of, arguments)) for arguments in given]
    block = np.frombuffer(b"".join(words), np.int64)
    kinds = tuple(types.Tuple([_kind_of(each) for each in arguments]) for arguments in given)
    return _at(_entry(tuple(loop for loop, *_ in loops), kinds, tuple(map(len, words))), block, given)


def chained(calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """A function that makes calls of `bound`, one after the other, in one call of compiled code, which exists."""
    if len(calls) == 1:
        return calls[0]
    places = [len(calls), *(word for call in calls for word in call.__dict__["place"])]
    return _at(_run_all, np.array(places, np.int64), list(calls))


def _at(entry: Any, block: np.ndarray, alive: Any) -> Callable[[], None]:
    """Compiled code with its arguments, which lie in a block; what they point to stays alive as long as this."""
    place = entry_of(entry, 1), block.ctypes.data
    call = partial(direct(entry), place[1])
    call.__dict__.update(place=place, alive=(block, alive))
    return call


_word = fetching(types.int64)


@compiled(nogil=True)
def _run_all(address: int) -> None:
    """Make calls: their number lies there, and behind it where the code and the arguments of each are."""
    for k in range(_word(address)):
        place = address + 8 + 16 * k
        call_loop(_word(place), _word(place + 8), 0, 0, 0)


def _kind_of(value: Any) -> Any:
    """The type of an argument in compiled code. Flags are whole numbers, which take a word as all else does."""
    if isinstance(value, tuple):
        kinds = [_kind_of(each) for each in value]
        return types.NamedTuple(kinds, type(value)) if hasattr(value, "_fields") else types.Tuple(kinds)
    if isinstance(value, np.ndarray):
        return typeof(value)
    return types.float64 if isinstance(value, (float, np.floating)) else types.int64


def _words_of(value: Any) -> bytes:
    """An argument as compiled code has it, in words of eight bytes: of an array no owner, size, size of a number,
    address, shape and strides."""
    if isinstance(value, tuple):
        return b"".join(map(_words_of, value))
    if isinstance(value, np.ndarray):
        head = 0, 0, value.size, value.itemsize, value.ctypes.data
        return struct.pack(f"{5 + 2 * value.ndim}q", *head, *value.shape, *value.strides)
    return struct.pack("d" if isinstance(value, (float, np.floating)) else "q", value)


@functools.cache
def _entry(loops: tuple[Any, ...], kinds: tuple[Any, ...], sizes: tuple[int, ...]) -> Any:
    """A compiled function (address) that calls loops with the arguments of these types and sizes [bytes] that lie there
    one after the other."""
    scope: dict[str, Any] = {"__name__": __name__}  # which numba wants to find again
    lines = ["def call(address):", "    pass"]
    for k, (loop, kind) in enumerate(zip(loops, kinds, strict=True)):
        scope |= {f"loop{k}": loop, f"fetch{k}": fetching(kind)}
        lines.append(f"    loop{k}(*fetch{k}(address + {sum(sizes[:k])}))")
    exec("\n".join(lines), scope)
    call = undisturbed(njit(nogil=True)(scope["call"]))
    parts = [stem_of(loop.py_func, {"arguments": kind}) for loop, kind in zip(loops, kinds, strict=True)]
    stem = f"{__name__}.call_{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:24]}"
    call._cache = code_cache(lambda: stem, "call")
    return call
