"""A world whose numbers stop being finite ends, truncated, with the reason, and harms nobody else."""

import math

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from toys import explosive

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.vector_env import VectorEnv

BACKENDS = ["numba", "python"]


def blown_up(backend, **keywords):
    """An environment after the step in which x becomes infinite."""
    env = Env(explosive.SPEC, backend=backend, growth=1e308, **keywords)
    env.reset(seed=0)
    seen = [env.step([1.0]) for _ in range(2)]
    return env, seen


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_infinite_state_ends_the_episode_with_the_reason(backend):
    env, (fine, broken) = blown_up(backend)
    observation, reward, terminated, truncated, info = fine
    assert (reward, terminated, truncated) == (1.0, False, False)
    assert "simulation_error" not in info
    observation, reward, terminated, truncated, info = broken
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert "state" in info["simulation_error"]
    assert info["reward_bulk"] == 0.0
    assert not info["is_success"]
    assert np.array_equal(observation, fine[0])  # the last one that was finite
    assert env.observation_space.contains(observation)
    _, info = env.reset()
    assert "simulation_error" not in info
    assert "simulation_error" not in env.step([0.0])[4]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("option", "word"), [("odd_reward", "reward"), ("odd_view", "observation")])
def test_a_reward_or_an_observation_that_is_not_a_number_ends_it_too(backend, option, word):
    env = Env(explosive.SPEC, backend=backend, **{option: True})
    env.reset(seed=0)
    for _ in range(2):
        assert not env.step([0.0])[3]
    observation, reward, terminated, truncated, info = env.step([0.0])
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert word in info["simulation_error"]
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_in_a_batch_the_others_go_on(mode):
    envs = VectorEnv(explosive.SPEC, 3, autoreset_mode=mode, growth=np.array([0.0, 1e308, 0.0]))
    envs.reset(seed=0)
    envs.step(np.ones((3, 1), np.float32))
    observations, rewards, terminated, truncated, infos = envs.step(np.ones((3, 1), np.float32))
    assert truncated.tolist() == [False, True, False]
    assert not terminated.any()
    assert rewards.tolist() == [1.0, 0.0, 1.0]
    told = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
    assert told["_simulation_error"].tolist() == [False, True, False]
    assert told["simulation_error"].astype(bool).tolist() == [False, True, False]
    assert np.isfinite(observations).all()
    infos = envs.step(np.zeros((3, 1), np.float32))[4]
    assert "simulation_error" not in infos


def test_planned_actions_stop_at_the_broken_step():
    batch = KernelBatch(explosive.SPEC, 2, growth=np.array([0.0, 1e308]))
    batch.seed([0, 1])
    batch.reset()
    rewards, _ = batch.rollout(np.ones((2, 5, 1, 1)))
    assert rewards[:, :, 0].tolist() == [[1.0] * 5, [1.0, 0.0, 0.0, 0.0, 0.0]]
    assert batch.over.tolist() == [False, True]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 2])
def test_every_float_of_the_state_is_looked_at(value, place):
    batch = KernelBatch(explosive.SPEC, 1)
    batch.seed([0])
    batch.reset()
    batch.records(0)[1]["trail"][place] = value
    batch.step([[0.0]])
    assert bool(batch.truncated[0, 0]) == (place == 0)  # the step writes the last one anew
