"""A million random steps over all tasks of the arm: nothing is lost, nothing sinks in, nothing leaks."""

import os
from pathlib import Path

import numpy as np
import pytest

import rlenvs

mujoco = pytest.importorskip("mujoco")

TASKS = [id for id in rlenvs.list_envs() if "/Panda" in id]
WORLDS = 50
DEEPEST = 0.01  # m; the hand presses with up to 100 N, and a corner of a cube on one contact gives way by millimetres


def resident() -> float:
    """Memory of this process, MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def deepest(engine, i: int) -> float:
    """How far any two shapes of world i sink into each other, m; zones that only sense do not count."""
    model, data = engine.simulations.get_model(i), engine.simulations.get_data(i)
    mujoco.mj_forward(model, data)
    pressing = [contact.dist for contact in data.contact if contact.exclude == 0]
    return -min(pressing, default=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("id", TASKS)
def test_a_hundred_thousand_random_steps(id):
    envs = rlenvs.make_vec(id, WORLDS)
    envs.reset(seed=0)
    envs.action_space.seed(0)
    batch, worst, errors, early = envs.unwrapped.batch, 0.0, 0, 0.0
    steps = 100_000 // WORLDS
    for t in range(steps):
        observations, rewards, _, _, infos = envs.step(envs.action_space.sample())
        assert np.isfinite(observations).all()
        assert np.isfinite(rewards).all()
        errors += infos.get("_simulation_error", np.zeros(1)).sum()
        if t % 50 == 0:
            worst = max(worst, deepest(batch.engine, t // 50 % WORLDS))
        if t == steps // 2:
            early = resident()
    envs.close()
    assert errors == 0
    assert worst < DEEPEST, worst
    assert resident() - early < 20.0
