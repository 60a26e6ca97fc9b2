"""MO-Gymnasium: its wrappers and vector forms on the ids with vector rewards."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core.registry import world_of

pytest.importorskip("mo_gymnasium")

import mo_gymnasium
from mo_gymnasium.wrappers import LinearReward, MOClipReward, MONormalizeReward, MORecordEpisodeStatistics
from mo_gymnasium.wrappers.vector import MORecordEpisodeStatistics as VectorStatistics
from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

SEA = "rlenvs/mo-DeepSeaTreasure-v0"
IDS = [id for id in rlenvs.list_envs("multi-objective") if "/mo-" in id]


def play(env, seed=0, steps=60):
    """Rewards of random steps, and the infos of the last one."""
    env.action_space.seed(seed)
    env.reset(seed=seed)
    rewards = []
    for _ in range(steps):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        rewards.append(reward)
        if terminated or truncated:
            break
    return np.array(rewards), info


@pytest.mark.parametrize("id", IDS)
def test_every_id(id):
    env = mo_gymnasium.make(id, horizon=20)
    assert env.unwrapped.reward_space.shape == (len(world_of(id).terms),)
    rewards, info = play(
        LinearReward(MORecordEpisodeStatistics(env, gamma=0.9), weight=np.ones(len(world_of(id).terms)))
    )
    assert rewards[-1] == pytest.approx(info["vector_reward"].sum(), abs=1e-5)
    assert info["episode"]["r"].shape == env.unwrapped.reward_space.shape
    env.close()


def test_the_weights_of_the_world_give_its_scalar_reward():
    weights = np.array([term.weight for term in world_of(SEA).terms.values()])
    ours, _ = play(rlenvs.make("DeepSeaTreasure-v0"), 3)
    theirs, _ = play(LinearReward(mo_gymnasium.make(SEA), weight=weights), 3)
    assert theirs == pytest.approx(ours)


def test_returns_of_an_episode():
    rewards, info = play(MORecordEpisodeStatistics(mo_gymnasium.make(SEA, horizon=30), gamma=0.9), 1)
    assert info["episode"]["r"] == pytest.approx(rewards.sum(axis=0), abs=1e-4)
    assert info["episode"]["dr"] == pytest.approx(0.9 ** np.arange(len(rewards)) @ rewards, abs=1e-4)
    assert info["episode"]["l"] == len(rewards)


def test_one_objective_clipped_and_normalised():
    plain, _ = play(mo_gymnasium.make(SEA), 5)
    clipped, _ = play(MOClipReward(mo_gymnasium.make(SEA), idx=1, min_r=-0.25, max_r=0.0), 5)
    assert np.all(clipped[:, 1] == -0.25)
    assert np.array_equal(clipped[:, 0], plain[:, 0])
    changed, _ = play(MONormalizeReward(mo_gymnasium.make(SEA), idx=1), 5)
    assert np.array_equal(changed[:, 0], plain[:, 0])
    assert not np.array_equal(changed[:, 1], plain[:, 1])


def test_their_vector_of_environments_and_ours_agree():
    theirs = MOSyncVectorEnv([lambda: mo_gymnasium.make(SEA, horizon=9) for _ in range(3)])
    ours = rlenvs.make_vec(SEA, 3, horizon=9)
    assert np.array_equal(theirs.reset(seed=2)[0], ours.reset(seed=2)[0])
    theirs.action_space.seed(0)
    for _ in range(30):
        actions = theirs.action_space.sample()
        for a, b in zip(theirs.step(actions)[:4], ours.step(actions)[:4], strict=True):
            assert np.array_equal(a, b)


def test_returns_of_our_vector_form():
    env = VectorStatistics(rlenvs.make_vec(SEA, 4, horizon=9))
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(9):
        info = env.step(env.action_space.sample())[4]
    ended = info["_episode"]
    assert ended.any()
    assert info["episode"]["r"].shape == (4, 2)
    assert np.array_equal(info["episode"]["r"][ended, 1], -info["episode"]["l"][ended])  # a step costs 1
