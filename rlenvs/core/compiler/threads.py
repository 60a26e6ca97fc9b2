"""Threads that share the worlds of a batch with their caller, without Python's lock.

A step of a small batch takes less time than it takes to wake a sleeping thread, or to hand the lock over. So helpers
wait, work and report in compiled code, and go to sleep only after they have looked out for the next job for a while.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from typing import Any

import numpy as np

from rlenvs.core.compiler.cache import compiled
from rlenvs.core.compiler.jit import cgutils, intrinsic, ir, types

LOOKS = 200_000  # for the next job, before a helper begins to nap: some 0.1 ms
# naps of a helper that looks between them whether there is a job, before it goes to sleep: some 20 ms. To go to sleep,
# and to be woken, takes Python's lock, which the caller may need for what it does between two jobs
NAPS, NAP = (500, 20) if os.name == "posix" else (0, 0)  # how many, microseconds
SLACK = 1_000  # nanoseconds by which Linux may make a helper's nap longer; its own choice would be 50 000
PR_SET_TIMERSLACK = 29
PIECES = 8  # of a job per thread: where another program holds a core, the free one takes more of them
# the table that all threads of a pool share, in rows of a cache line
LINE = 8
JOBS, DONE, GATE, LOOP, FIRST = (LINE * k for k in range(5))  # FIRST: per thread the next world, and its range's end
CLOSED = 1 << 32  # in GATE, which counts who has come to help with the job: who comes now is too late

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
    """Call a compiled loop by its address. numba's functions take where to put the result and the error first; a loop
    without a job does not look at the last argument."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.IntType(32), [word] * 6)
        outputs = [builder.ptrtoint(cgutils.alloca_once(builder, word), word) for _ in range(2)]
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [*outputs, *arguments[1:]])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


@machine_code
def _rest(context: Any, microseconds: Any) -> Any:
    """Let others have the processor for a time."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        usleep = cgutils.get_or_insert_function(builder.module, kind, "usleep")
        builder.call(usleep, [builder.trunc(arguments[0], ir.IntType(32))])
        return context.get_dummy_value()

    return types.void(types.int64), generate


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
        for _ in range(NAPS):
            if now != known:
                break
            _rest(NAP)
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


class ThreadPool:
    """A caller and its helpers.

    Args:
        threads: how many, the caller's own among them.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._table = np.zeros(FIRST + LINE * threads, np.int64)
        self._address = self._table.ctypes.data
        self._busy = threading.Lock()
        self._sleep, self._sleepers = threading.Condition(), 0
        for me in range(1, threads):
            threading.Thread(target=self._help, args=(me,), name=f"rlenvs-{me}", daemon=True).start()

    def run(self, loop: Any, batch: int, worlds: int, job: int | None = None) -> bool:
        """Call `loop(batch, start, stop)` on pieces that together are all worlds, in all threads.

        Args:
            loop: a function compiled by numba, of int64; its result is dropped, and it must not raise.
            batch: its first argument.
            worlds: how many; at least as many as there are threads.
            job: its fourth argument; None where it has but three.

        Returns:
            False, with nothing done, where another thread's job keeps the pool busy.
        """
        if not self._busy.acquire(blocking=False):
            return False
        try:
            self._share(entry_of(loop, 3 if job is None else 4), batch, worlds, job or 0)
        finally:
            self._busy.release()
        return True

    def _share(self, function: int, batch: int, worlds: int, job: int) -> None:
        table, threads = self._table, self.threads
        table[LOOP : LOOP + 4] = function, batch, -(-worlds // (PIECES * threads)), job
        for k in range(threads):
            table[FIRST + LINE * k : FIRST + LINE * k + 2] = worlds * k // threads, worlds * (k + 1) // threads
        table[DONE] = 0
        announce(self._address)
        if self._sleepers:
            with self._sleep:
                self._sleep.notify_all()
        work(self._address, 0, threads)
        helpers, known = close(self._address), 0
        while known != helpers:  # who has not come by now is not waited for
            known = look_out(self._address + 8 * DONE, known, LOOKS)
            if known != helpers:
                _let_others_run()

    def _help(self, me: int) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, SLACK, 0, 0, 0)
        known = 0
        while True:
            known = help_out(self._address, known, me, self.threads)
            with self._sleep:
                self._sleepers += 1
                while self._table[JOBS] == known:
                    self._sleep.wait()
                self._sleepers -= 1


def _let_others_run() -> None:
    if hasattr(os, "sched_yield"):
        os.sched_yield()


_entries: dict[Any, int] = {}


def entry_of(loop: Any, arguments: int) -> int:
    """The address of a compiled function of so many int64."""
    if loop not in _entries:
        signature = (types.int64,) * arguments
        loop.compile(signature)
        compiled = loop.overloads[signature]
        _entries[loop] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return _entries[loop]


_pools: dict[int, ThreadPool] = {}


def pool(threads: int) -> ThreadPool:
    """The pool of so many threads, shared by all batches of the process. A forked child makes its own."""
    if threads not in _pools:
        _pools[threads] = ThreadPool(threads)
    return _pools[threads]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)
