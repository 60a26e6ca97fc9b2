"""Compiled loops over the slots of arrays, shared among the threads of a pool.

A pool's threads call loops of three numbers (see `rlenvs.core.compiler.threads`). So the arrays go into a block of
memory, as the compiled code has them, and each thread takes them out again there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlenvs.core.compiler.compiling import undisturbed
from rlenvs.core.compiler.jit import cgutils, njit, types
from rlenvs.core.compiler.thread_loops import machine_code
from rlenvs.core.compiler.threads import pool

ROOM = 16_384  # bytes for the arguments of a loop; an array takes 64 or so

_kinds: list[Any] = []  # the types of arguments that `pack` was compiled for
_loops: dict[tuple[Any, int], Any] = {}


def borrowed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An argument without what counts references to it: its owner keeps it alive."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value=value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = cgutils.unpack_tuple(builder, value, len(kind))
        kinds: Any = kind
        own = [borrowed(context, builder, each, part) for each, part in zip(kinds, parts, strict=True)]
        return context.make_tuple(builder, kind, own)
    return value


@machine_code
def _store(context: Any, address: Any, arguments: Any) -> Any:
    """Write arguments to an address; returns where their types are in `_kinds`."""
    _kinds.append(arguments)
    number = len(_kinds) - 1

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        value = borrowed(context, builder, arguments, values[1])
        assert context.get_abi_sizeof(value.type) <= ROOM
        builder.store(value, builder.inttoptr(values[0], value.type.as_pointer()))
        return context.get_constant(types.int64, number)

    return types.int64(types.int64, arguments), generate


@undisturbed
@njit(nogil=True)
def pack(address: int, arguments: Any) -> int:
    """Write a tuple of arguments to an address; returns the number of their types."""
    return _store(address, arguments)


def fetching(kind: Any) -> Any:
    """For compiled code: a function of an address that gives the arguments of these types that lie there."""

    @machine_code
    def fetch(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            pointer = context.get_value_type(kind).as_pointer()
            return builder.load(builder.inttoptr(values[0], pointer))

        return kind(types.int64), generate

    return fetch


def loop_on(kernel: Any, kind: Any) -> Any:
    """A loop (address, start, stop) that calls `kernel(start, stop, *arguments)`, with arguments of these types."""
    fetch = fetching(kind)

    @undisturbed
    @njit(nogil=True)
    def loop(address: int, start: int, stop: int) -> None:
        kernel(start, stop, *fetch(address))

    return loop


def share_compiled(kernel: Callable[..., None], threads: int, slots: int, *arguments: Any) -> None:
    """See `rlenvs.core.compiler.loops.share`; two threads at least."""
    block = np.empty(ROOM // 8, np.int64)
    address = block.ctypes.data
    kind = pack(address, arguments)
    loop = _loops.get((kernel, kind))
    if loop is None:
        loop = _loops[kernel, kind] = loop_on(kernel, _kinds[kind])
    if not pool(threads).run(loop, address, slots):
        kernel(0, slots, *arguments)
