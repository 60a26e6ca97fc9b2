"""Batches of toys/rolling_ball.py, for tests of the MuJoCo engine."""

import numpy as np
import pytest
from toys.rolling_ball import SPEC

from rlenvs.core.batch.engines import EngineBatch


def pushes(steps, worlds, seed=0):
    actions = np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, worlds, 1, 2))
    actions[..., 1] = 0.0
    return actions


def started(worlds=1, seed=0, **choices):
    batch = EngineBatch(SPEC, worlds, **choices)
    batch.seed(range(seed, seed + worlds))
    batch.reset()
    return batch


def play(batch, actions):
    for action in actions:
        batch.step(action)
    return batch


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes a log into the working directory."""
    monkeypatch.chdir(tmp_path)
