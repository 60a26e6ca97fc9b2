"""Threads that help a caller with a job, as fast as they can be called together.

A step of a small batch takes less time than it takes to wake a sleeping thread. Helpers therefore look out for the next
job for a tenth of a millisecond before they go to sleep, without holding Python's lock, and a caller that has done its
share looks out for them to finish.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.extending import intrinsic

LOOKS = 200_000  # for the next job, before a helper goes to sleep: some 0.1 ms
JOB, DONE, ROW = 0, 8, 16  # places in the array of counters, in cache lines of their own


@intrinsic
def _load(context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(types.int64), generate


@intrinsic
def _add(context: Any, address: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", pointer, arguments[1], "acq_rel")

    return types.int64(types.int64, types.int64), generate


@njit("int64(int64, int64, int64)", nogil=True, cache=True)
def look_out(address: int, old: int, looks: int) -> int:
    """The counter at an address, as soon as it is not `old`, or after so many looks."""
    for _ in range(looks):
        now = _load(address)
        if now != old:
            return now
    return old


@njit("int64(int64, int64)", nogil=True, cache=True)
def count_up(address: int, amount: int) -> int:
    """Add to the counter at an address, which other threads may read or change at the same time."""
    return _add(address, amount)


class Team:
    """A caller's helpers.

    Args:
        helpers: how many threads, beside the caller's own.
    """

    def __init__(self, helpers: int) -> None:
        self._helpers = helpers
        self._counters = np.zeros(ROW, np.int64)
        start = self._counters.ctypes.data
        self._job, self._done = start + 8 * JOB, start + 8 * DONE
        self._busy = threading.Lock()
        self._asleep = threading.Condition()
        self._work: Callable[[], None] = lambda: None
        self._errors: list[BaseException] = []
        for n in range(helpers):
            threading.Thread(target=self._help, name=f"rlenvs-{n}", daemon=True).start()

    def run(self, work: Callable[[], None]) -> None:
        """Call `work` in the caller's thread and in all helpers; it takes pieces of the job until none is left. While
        the team is busy with a job of another thread, the caller works alone. Raises what `work` raised."""
        if not self._busy.acquire(blocking=False):
            work()
            return
        try:
            self._share(work)
        finally:
            self._busy.release()

    def _share(self, work: Callable[[], None]) -> None:
        self._work = work
        done = int(self._counters[DONE])
        with self._asleep:
            count_up(self._job, 1)
            self._asleep.notify_all()
        try:
            work()
        finally:
            for n in range(self._helpers):
                while look_out(self._done, done + n, LOOKS) <= done + n:
                    os.sched_yield() if hasattr(os, "sched_yield") else None
        if self._errors:
            raise self._errors.pop()

    def _help(self) -> None:
        job = 0
        while True:
            now = look_out(self._job, job, LOOKS)
            if now == job:
                with self._asleep:
                    while self._counters[JOB] == job:
                        self._asleep.wait()
                now = int(self._counters[JOB])
            job = now
            try:
                self._work()
            except BaseException as error:  # noqa: BLE001  the caller raises it
                self._errors.append(error)
            count_up(self._done, 1)


_teams: dict[int, Team] = {}


def team(helpers: int) -> Team:
    """The team of so many helpers, shared by all batches of the process. A forked child makes its own."""
    if helpers not in _teams:
        _teams[helpers] = Team(helpers)
    return _teams[helpers]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_teams.clear)
