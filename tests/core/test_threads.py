"""Threads that share the worlds of a batch."""

import multiprocessing
import os
import threading
import time

import numpy as np
import pytest
from numba import njit

import rlenvs
from rlenvs.core.compiler.thread_loops import _add
from rlenvs.core.compiler.threads import ThreadPool, pool

WORLDS = 1000


@njit(nogil=True)
def mark(address, start, stop):
    """Count each world of a job up, slowly."""
    for i in range(start, stop):
        for _ in range(100):
            _add(address + 8 * i, 1)
        _add(address + 8 * i, -99)


def job(helpers, count=WORLDS):
    """How often each world was worked on."""
    worlds = np.zeros(WORLDS, np.int64)
    assert helpers.run(mark, worlds.ctypes.data, count)
    return worlds.tolist()


@pytest.mark.parametrize(("threads", "worlds"), [(2, WORLDS), (2, 2), (3, 7), (4, 999)])
def test_every_world_has_its_turn_once(threads, worlds):
    helpers = ThreadPool(threads)
    for _ in range(100):
        assert job(helpers, worlds) == [1] * worlds + [0] * (WORLDS - worlds)


def test_helpers_wake_from_sleep():
    helpers = ThreadPool(2)
    for _ in range(3):
        while helpers._sleepers < 1:
            time.sleep(0.01)
        assert job(helpers) == [1] * WORLDS


def test_a_busy_pool_refuses():
    helpers, worlds = ThreadPool(2), np.zeros(WORLDS, np.int64)
    with helpers._busy:  # as while it works for another thread
        refused = not helpers.run(mark, worlds.ctypes.data, WORLDS)
    assert refused
    assert not worlds.any()
    assert job(helpers) == [1] * WORLDS


def test_batches_stepped_from_several_threads_at_once():
    results = []
    threads = [threading.Thread(target=lambda: results.append(steps(30))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [steps(30, threads=1)] * 4


def steps(count, threads=2):
    batch = rlenvs.make_batch("ParticleSpread-v0", 64, threads=threads)
    batch.seed(range(64))
    batch.reset()
    for _ in range(count):
        batch.step(np.ones((64, batch.agents), int))
    return batch.digest()


def in_child(queue):
    queue.put(steps(5))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_has_helpers_of_its_own():
    expected = steps(5)
    assert pool(2) is pool(2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(10)
    assert child.exitcode == 0
