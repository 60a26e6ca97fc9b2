"""The driver's loops over the worlds of a batch, and the threads that share them."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np

from rlenvs.core.compiler.driver import ACT, BEGIN, ROLL, STEP
from rlenvs.core.compiler.entries import direct, entry_of
from rlenvs.core.compiler.lanes.blocks import WIDTH, make_blocks
from rlenvs.core.compiler.table import Table
from rlenvs.core.compiler.threads import can_share, pool
from rlenvs.core.declare.setup import Setup

# below this time of a serial step, handing work to threads costs more than it saves
WORTH_THREADS = 300e-6
# calls that are timed; the first may compile
TRIALS = 5
LEAST_IN_LANES = 4 * WIDTH  # fewer worlds are stepped one after the other
FEW = 1 / 64  # part of the worlds; fewer ones begin sooner in one thread


class Loops:
    """The driver's loops over the worlds of a batch.

    Args:
        driver: see `rlenvs.core.compiler.build.driver`.
        table: where it finds the arrays.
        num_envs: N.
        threads: per step; None decides by the time that the first steps take.
        alone: whether one thread does all, whatever `threads` is.
    """

    def __init__(self, driver: Any, table: Table, num_envs: int, threads: int | None, alone: bool) -> None:
        self.driver = driver
        self.table = table
        self.address = table.address
        self.num_envs = num_envs
        self._threads = 1 if alone else threads
        self._serial_time = np.inf
        self._trials = TRIALS if threads is None and num_envs > 1 else 0

    @cached_property
    def step_one(self) -> Callable[[], int]:
        """Check the action of the sole world and step it; gives the driver's code."""
        return partial(direct(self.driver.run_worlds), self.address, 0, 1, ACT)

    def run(self, job: int) -> None:
        """Do one of the jobs of `run_worlds` on all worlds."""
        self._share(self.driver.run_worlds, job)

    def run_some(self, job: int, worlds: np.ndarray) -> None:
        """Do one of these jobs on some worlds, given by ascending indices, in this thread."""
        for start, stop in neighbours(worlds):
            self.driver.run_worlds(self.address, start, stop, job)

    @contextmanager
    def awake(self, worlds: np.ndarray) -> Iterator[None]:
        """Let all worlds sleep but those that the boolean mask selects."""
        asleep = self.table.rows["_asleep"]
        np.logical_not(worlds, out=asleep)
        try:
            yield
        finally:
            asleep[:] = False

    def begin(self, mask: np.ndarray | None) -> None:
        """Start new episodes in all worlds, or in those that the boolean mask selects."""
        self.table.rows["_begin"][:] = True if mask is None else mask
        if mask is not None and np.count_nonzero(mask) < FEW * len(mask):
            self.driver.run_worlds(self.address, 0, self.num_envs, BEGIN)
        else:
            self.run(BEGIN)

    def roll(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `KernelBatch.roll`."""
        rewards, costs = np.zeros((2, *actions.shape[:3]))
        for name, rows in {"plan_action": actions, "plan_reward": rewards, "plan_cost": costs}.items():
            self.table.point(name, rows)
        self.table.record["plan_steps"] = actions.shape[1]
        self.run(ROLL)
        return rewards, costs

    def call(self, function: Any, only: np.ndarray | None = None) -> None:
        """Call another loop on all worlds, or on those that the boolean mask selects."""
        if only is None or only.all():
            self._share(function, None)
            return
        for start, stop in neighbours(np.flatnonzero(only)):
            function(self.address, start, stop)

    def step_blocks(self) -> None:
        """Step all worlds, several at a time."""
        self.make_rooms(self.thread_count())
        self._share(self.driver.run_blocks(self.table.own_params), STEP)

    def timed(self, run: Any, job: int) -> int:
        """Do a job on all worlds in this thread; the first steps tell whether threads are worth their while.

        Returns:
            the driver's code, 0 where nothing had to be refused.
        """
        if self._trials == 0 or job not in (ACT, STEP, ROLL):
            return run(self.address, 0, self.num_envs, job)
        start = time.perf_counter()
        code = run(self.address, 0, self.num_envs, job)
        self._serial_time = min(self._serial_time, time.perf_counter() - start)
        self._trials -= 1
        return code

    def thread_count(self) -> int:
        """How many threads share the loops at present."""
        if self._threads is None and (self._trials > 0 or self._serial_time < WORTH_THREADS):
            return 1
        count = min(self._threads or cores(), self.num_envs)
        return count if count == 1 or can_share() else 1

    def _share(self, function: Any, job: int | None) -> None:
        threads = self.thread_count()
        if threads > 1 and pool(threads).run(function, self.address, self.num_envs, job):
            return
        if job is None:
            function(self.address, 0, self.num_envs)
        else:
            self.timed(function, job)

    def make_rooms(self, count: int) -> None:
        """Rooms for `count` threads that step several worlds at a time, where there are not as many."""
        blocks, record = self.table.blocks, self.table.record
        if blocks is None or len(blocks) < count:
            self.table.blocks = blocks = make_blocks(self.table, count)
            start, size = blocks.ctypes.data, blocks.shape[1]
            record["blocks"], record["block_bytes"], record["blocks_end"] = start, size, start + blocks.nbytes
            record["run_worlds"] = entry_of(self.driver.run_worlds, 4)
        blocks[:, 0] = 0  # a process that was forked in the midst of a step begins anew


def fit_lanes(setup: Setup, num_envs: int, driver: Any) -> bool:
    """Whether worlds that no engine moves can be stepped several at a time, and are many enough to gain by it."""
    many = num_envs >= LEAST_IN_LANES and WIDTH > 1
    return many and setup.world.lanes and getattr(driver, "lanes", False) and not setup.image_shapes


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def neighbours(worlds: np.ndarray) -> Iterator[tuple[int, int]]:
    """The runs of consecutive numbers in ascending indices: first of each, and the one after its last."""
    if len(worlds):
        for run in np.split(worlds, np.flatnonzero(np.diff(worlds) > 1) + 1):
            yield int(run[0]), int(run[-1]) + 1


def indices_of(index: int | slice, num_envs: int) -> np.ndarray:
    """The ascending indices of one world or a slice of worlds; IndexError where there is no such world."""
    everyone = np.arange(num_envs)
    return np.sort(everyone[index]) if isinstance(index, slice) else everyone[[operator.index(index)]]
