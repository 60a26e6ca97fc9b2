"""What the threads of a pool do in compiled code, see `rlenvs.core.compiler.threads`."""

from __future__ import annotations

from typing import Any

from rlenvs.core.compiler.cache import compiled
from rlenvs.core.compiler.jit import intrinsic, ir, types
from rlenvs.core.compiler.thread_table import CLOSED, DONE, FIRST, GATE, JOBS, LINE, LOOKS, LOOP, NAP, NAPS, SLEEP

machine_code: Any = intrinsic  # its type asks callers for the context, which numba gives


@machine_code
def _load(context: Any, address: Any) -> Any:
    """The counter at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(types.int64), generate


@machine_code
def _add(context: Any, address: Any, amount: Any) -> Any:
    """Add to the counter at an address; what it was before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", pointer, arguments[1], "acq_rel")

    return types.int64(types.int64, types.int64), generate


@machine_code
def atomic_set(context: Any, address: Any, value: Any) -> Any:
    """Give the counter at an address a value; what it was before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("xchg", pointer, arguments[1], "acq_rel")

    return types.int64(types.int64, types.int64), generate


@machine_code
def call_loop(context: Any, function: Any, batch: Any, start: Any, stop: Any, job: Any) -> Any:
    """Call a compiled loop by its address, see `entries.entry_of`. A loop without a job does not look at the last
    argument."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)] * 4)
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


@machine_code
def _rest(context: Any, sleep: Any, microseconds: Any) -> Any:
    """Let others have the processor for a time, by the system's function at that address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, [builder.trunc(arguments[1], ir.IntType(32))])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@compiled("void(int64, int64, int64)", nogil=True)
def work(table: int, me: int, threads: int) -> None:
    """Take pieces of the job until none is left: first of one's own range, which then stays in one's core's cache."""
    function, batch, size = _load(table + 8 * LOOP), _load(table + 8 * LOOP + 8), _load(table + 8 * LOOP + 16)
    job = _load(table + 8 * LOOP + 24)
    for offset in range(threads):
        range_of = table + 8 * (FIRST + LINE * ((me + offset) % threads))
        stop = _load(range_of + 8)
        while True:
            start = _add(range_of, size)
            if start >= stop:
                break
            call_loop(function, batch, start, min(start + size, stop), job)


@compiled("int64(int64, int64, int64)", nogil=True)
def look_out(counter: int, known: int, looks: int) -> int:
    """The counter at an address, as soon as it is not `known`, or after so many looks."""
    for _ in range(looks):
        now = _load(counter)
        if now != known:
            return now
    return known


@compiled("int64(int64, int64, int64, int64)", nogil=True)
def help_out(table: int, known: int, me: int, threads: int) -> int:
    """Work on one job after the other, until none has come for a while. Returns the number of the last one."""
    while True:
        now = look_out(table + 8 * JOBS, known, LOOKS)
        sleep = _load(table + 8 * SLEEP)
        for _ in range(NAPS if sleep else 0):
            if now != known:
                break
            _rest(sleep, NAP)
            now = _load(table + 8 * JOBS)
        if now == known:
            return known
        known = now
        if _add(table + 8 * GATE, 1) < CLOSED:
            work(table, me, threads)
            _add(table + 8 * DONE, 1)


@compiled("void(int64)", nogil=True)
def announce(table: int) -> None:
    """There is a new job in the table, which must be complete."""
    atomic_set(table + 8 * GATE, 0)
    _add(table + 8 * JOBS, 1)


@compiled("int64(int64)", nogil=True)
def close(table: int) -> int:
    """Nobody may come to help any more; how many have."""
    return _add(table + 8 * GATE, CLOSED)
