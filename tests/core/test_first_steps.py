"""All environments in plain Python, as no compiling is needed: made, reset, ten steps, the recorded numbers."""

import math

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.check.records import HASHES, golden_digest, read_golden, start_digest
from rlenvs.core.check.subject import golden_file

LAST_BIT = {"rlenvs/Parking-v0", "rlenvs/RallyRacer-v0"}  # where a sum in plain Python ends on another one


@pytest.mark.parametrize("id", rlenvs.list_envs())
def test_first_steps(id):
    env = gymnasium.make(id, backend="python", disable_env_checker=True)
    observation, _ = env.reset(seed=0)
    env.action_space.seed(0)
    assert observation in env.observation_space
    for _ in range(2):  # ten are behind the recorded numbers below
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert np.isfinite(reward).all()
        if terminated or truncated:
            env.reset()
    env.close()


@pytest.mark.parametrize("id", [id for id in rlenvs.list_envs() if "/mo-" not in entry(id).id])
def test_recorded_numbers_of_the_first_steps(id):
    world = world_of(id)
    recorded = read_golden(golden_file(world))[world.name]
    if "start" in recorded and id not in LAST_BIT:
        assert start_digest(world, "python") == recorded["start"]
        return
    found = golden_digest(world, "python")
    for name in recorded.keys() - set(HASHES):
        assert math.isclose(found[name], recorded[name], rel_tol=1e-5, abs_tol=1e-5), name
