"""Threads that share the worlds of a batch with their caller, without Python's lock.

A step of a small batch takes less time than it takes to wake a sleeping thread, or to hand the lock over. So helpers
wait, work and report in compiled code, and go to sleep only after they have looked out for the next job for a while.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core.compiler.entries import entry_of
from rlenvs.core.compiler.installed import ADVICE, numba_is_installed, tell_once
from rlenvs.core.compiler.keys import threads_key
from rlenvs.core.compiler.ready import library
from rlenvs.core.compiler.thread_table import DONE, FIRST, JOBS, LINE, LOOKS, LOOP, SLEEP

SLACK = 1_000  # nanoseconds by which Linux may make a helper's nap longer; its own choice would be 50 000
PR_SET_TIMERSLACK = 29
PIECES = 8  # of a job per thread: where another program holds a core, the free one takes more of them
FUNCTIONS = {
    "work": 3,
    "look_out": 3,
    "help_out": 4,
    "announce": 1,
    "close": 1,
    "run_all": 1,
}  # with arguments


@functools.cache
def compiled_loops() -> Any:
    """The loops of `thread_loops` and `chains`, of a library or compiled here; None without such a library
    and numba."""
    functions = library(threads_key(), FUNCTIONS, "threads")
    if functions is not None:
        return SimpleNamespace(**functions)
    if not numba_is_installed():
        return None
    from rlenvs.core.compiler import chains, thread_loops

    return SimpleNamespace(**{name: getattr(thread_loops, name, None) or chains.run_all for name in FUNCTIONS})


def can_share() -> bool:
    """Whether threads can share loops here; if not, that is said once."""
    able = compiled_loops() is not None
    if not able:
        tell_once(f"one thread steps all worlds: what others do has to be compiled. {ADVICE}")
    return able


def _sleeping() -> int:
    """The address of the system's function for short naps; 0 where there is none."""
    if os.name != "posix":
        return 0
    return ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value or 0


class ThreadPool:
    """A caller and its helpers.

    Args:
        threads: how many, the caller's own among them.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._loops = compiled_loops()
        self._table = np.zeros(FIRST + LINE * threads, np.int64)
        self._table[SLEEP] = _sleeping()
        self._address = self._table.ctypes.data
        self._busy = threading.Lock()
        self._sleep, self._sleepers = threading.Condition(), 0
        for me in range(1, threads):
            threading.Thread(target=self._help, args=(me,), name=f"rlenvs-{me}", daemon=True).start()

    def run(self, loop: Any, batch: int, worlds: int, job: int | None = None) -> bool:
        """Call `loop(batch, start, stop)` on pieces that together are all worlds, in all threads.

        Args:
            loop: a compiled function of int64; its result is dropped, and it must not raise.
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
        self._loops.announce(self._address)
        if self._sleepers:
            with self._sleep:
                self._sleep.notify_all()
        self._loops.work(self._address, 0, threads)
        helpers, known = self._loops.close(self._address), 0
        while known != helpers:  # who has not come by now is not waited for
            known = self._loops.look_out(self._address + 8 * DONE, known, LOOKS)
            if known != helpers:
                _let_others_run()

    def _help(self, me: int) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, SLACK, 0, 0, 0)
        known = 0
        while True:
            known = self._loops.help_out(self._address, known, me, self.threads)
            with self._sleep:
                self._sleepers += 1
                while self._table[JOBS] == known:
                    self._sleep.wait()
                self._sleepers -= 1


def _let_others_run() -> None:
    if hasattr(os, "sched_yield"):
        os.sched_yield()


_pools: dict[int, ThreadPool] = {}


def pool(threads: int) -> ThreadPool:
    """The pool of so many threads, shared by all batches of the process. A forked child makes its own."""
    if threads not in _pools:
        _pools[threads] = ThreadPool(threads)
    return _pools[threads]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)
