"""Loops outside of worlds as numba compiles them: how they take their arguments from memory, and leave results there.

numba looks at each argument of a call, 0.1 us or more an array: for one slot that is most of the time. And the threads
of a pool call functions of whole numbers alone. So arguments lie in memory, see `rlenvs.core.compiler.arguments`, and
an entry point takes their address.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import numpy as np

from rlenvs.core.compiler.arguments import FLAG, NOTHING, REAL, UNSIGNED, WHOLE, words_of
from rlenvs.core.compiler.cache import code_cache, stem_of
from rlenvs.core.compiler.compiling import undisturbed
from rlenvs.core.compiler.jit import intrinsic, ir, njit, typeof, typeof_impl, types

machine_code: Any = intrinsic  # its type asks callers for the context, which numba gives


@functools.cache
def let_loops_call(kind: type) -> None:
    """Let compiled code call objects of a class with a `dispatcher`: loops that other loops call."""
    typeof_impl.register(kind)(lambda loop, context: types.Dispatcher(loop.dispatcher))


# --- entry points -----------------------------------------------------------------------------------------------------


def kind_of(value: Any) -> Any:
    """The type of an argument in compiled code. Flags are whole numbers, which take a word as all else does."""
    if isinstance(value, tuple):
        kinds = [kind_of(each) for each in value]
        return types.NamedTuple(kinds, type(value)) if hasattr(value, "_fields") else types.Tuple(kinds)
    if isinstance(value, np.ndarray):
        return typeof(value)
    if isinstance(value, (float, np.floating)):
        return types.float64
    return types.uint64 if isinstance(value, np.uint64) else types.int64


def fetching(kind: Any) -> Any:
    """For compiled code: a function of an address that gives the arguments of these types that lie there."""

    @machine_code
    def fetch(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            pointer = context.get_value_type(kind).as_pointer()
            return builder.load(builder.inttoptr(values[0], pointer))

        return kind(types.int64), generate

    return fetch


@machine_code
def put_result(context: Any, address: Any, value: Any) -> Any:
    """Write a result, and before it its kind, to an address."""
    kind, wide = _result_kind(value)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = ir.IntType(64)
        builder.store(word(kind), builder.inttoptr(values[0], word.as_pointer()))
        if kind != NOTHING:
            number = context.cast(builder, values[1], value, wide)
            place = builder.inttoptr(builder.add(values[0], word(8)), number.type.as_pointer())
            builder.store(number, place)
        return context.get_dummy_value()

    return types.void(types.int64, value), generate


def _result_kind(kind: Any) -> tuple[int, Any]:
    """The number of a kind of results, and the type that is written."""
    if kind is types.none:
        return NOTHING, None
    if isinstance(kind, types.Boolean):
        return FLAG, types.int64
    if isinstance(kind, types.Float):
        return REAL, types.float64
    if isinstance(kind, types.Integer):
        return (WHOLE, types.int64) if kind.signed else (UNSIGNED, types.uint64)
    raise TypeError(f"loops return numbers, not {kind}")


def entry_function(loop: Any, kind: Any, size: int, shared: bool) -> Any:
    """A function for numba, of an address where the arguments of a loop lie; behind it goes the result.

    Args:
        loop: to be called.
        kind: the types of the arguments, as a tuple of numba's.
        size: bytes of the arguments.
        shared: whether it takes a range of slots as well, and calls the loop with that in front.
    """
    fetch = fetching(kind)

    def call(address: int) -> None:
        put_result(address + size, loop(*fetch(address)))

    def share(address: int, start: int, stop: int) -> None:
        loop(start, stop, *fetch(address))

    return share if shared else call


_entries: dict[Any, Any] = {}  # by loop, types and whether they are shared


def entry(loop: Any, arguments: Any, shared: bool) -> Any:
    """`entry_function`, compiled and kept on disk."""
    kind = types.Tuple([kind_of(each) for each in arguments])
    key = loop, kind, shared
    if key not in _entries:
        function = entry_function(loop, kind, len(words_of(arguments)), shared)
        made = undisturbed(njit(nogil=True)(function))
        settings = {**loop.options, "arguments": kind, "shared": shared}
        named = hashlib.sha256(stem_of(loop.py_func, settings).encode()).hexdigest()[:24]
        made._cache = code_cache(lambda: f"{__name__}.{function.__name__}_{named}", function.__name__)
        _entries[key] = made
    return _entries[key]
