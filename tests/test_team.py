"""Threads that share the pieces of a job."""

import multiprocessing
import os
import threading
import time

import numpy as np
import pytest

import rlenvs
from rlenvs.core.team import Team, team


def share(helpers, pieces, pause=0.0):
    """The pieces that were taken, by the thread that took them."""
    taken, waiting = [], iter(range(pieces))

    def work():
        for piece in waiting:
            time.sleep(pause)
            taken.append((threading.get_ident(), piece))

    helpers.run(work)
    return taken


@pytest.mark.parametrize("count", [1, 3])
def test_every_piece_is_taken_once(count):
    helpers = Team(count)
    for _ in range(200):
        assert sorted(piece for _, piece in share(helpers, 20)) == list(range(20))


def test_helpers_work_too_and_wake_from_sleep():
    helpers = Team(2)
    for pause in (0.0, 0.3):
        time.sleep(pause)
        assert len({thread for thread, _ in share(helpers, 12, 0.01)}) == 3


@pytest.mark.parametrize("who", ["caller", "helper"])
def test_errors_reach_the_caller(who):
    helpers, caller = Team(1), threading.get_ident()

    def work():
        time.sleep(0.02)
        if (threading.get_ident() == caller) == (who == "caller"):
            raise ValueError("a piece failed")

    with pytest.raises(ValueError, match="a piece failed"):
        helpers.run(work)
    assert len(share(helpers, 5)) == 5


def test_a_busy_team_lets_other_callers_work_alone():
    helpers, results = Team(1), []
    threads = [threading.Thread(target=lambda: results.append(share(helpers, 10, 0.002))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sorted(piece for _, piece in taken) for taken in results] == [list(range(10))] * 4


def steps(count):
    batch = rlenvs.make_batch("ParticleSpread-v0", 64, threads=2)
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
    assert team(1) is team(1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(10)
    assert child.exitcode == 0
