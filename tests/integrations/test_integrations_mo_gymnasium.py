"""MO-Gymnasium: its wrappers and vector forms on the ids with vector rewards."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import rlenvs
from rlenvs.core.catalogue.registry import world_of

pytest.importorskip("mo_gymnasium")

import mo_gymnasium
from mo_gymnasium.wrappers import (
    LinearReward,
    MOClipReward,
    MOMaxAndSkipObservation,
    MONormalizeReward,
    MORecordEpisodeStatistics,
)
from mo_gymnasium.wrappers.vector import MORecordEpisodeStatistics as VectorStatistics
from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

import rlenvs.integrations.mo_gymnasium as ours

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


@pytest.mark.parametrize("id", IDS)
def test_their_vector_of_environments_and_ours_agree(id):
    theirs = MOSyncVectorEnv([lambda: mo_gymnasium.make(id, horizon=9) for _ in range(3)])
    own = rlenvs.make_vec(id, 3, horizon=9)
    assert data_equivalence(theirs.reset(seed=2)[0], own.reset(seed=2)[0])
    theirs.action_space.seed(0)
    for _ in range(25):
        actions = theirs.action_space.sample()
        assert data_equivalence(theirs.step(actions)[:4], own.step(actions)[:4])
    theirs.close()


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


# --- the same wrappers of this package --------------------------------------------------------------------------------

PAIRS = {
    "linear": (lambda env: LinearReward(env, np.array([0.7, 0.3])), lambda env: ours.LinearReward(env, [0.7, 0.3])),
    "normalised": (lambda env: MONormalizeReward(env, 1), lambda env: ours.MONormalizeReward(env, 1)),
    "clipped": (lambda env: MOClipReward(env, 0, 0.0, 3.0), lambda env: ours.MOClipReward(env, 0, 0.0, 3.0)),
    "returns": (
        lambda env: MORecordEpisodeStatistics(env, gamma=0.9),
        lambda env: ours.MORecordEpisodeStatistics(env, gamma=0.9),
    ),
    "repeated": (lambda env: MOMaxAndSkipObservation(env, 2), lambda env: ours.MOMaxAndSkipObservation(env, 2)),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("id", [SEA, "rlenvs/mo-BreakableBottles-v0", "rlenvs/mo-HalfCheetah-v0"])
def test_their_wrappers_and_ours_agree(id, name):
    if name in ("linear", "clipped", "normalised") and "Bottles" in id:
        pytest.skip("three objectives; the two others tell the same")
    theirs, own = (put_on(mo_gymnasium.make(id, horizon=20)) for put_on in PAIRS[name])
    for env in (theirs, own):
        env.reset(seed=1)
        env.action_space.seed(1)
    for _ in range(100):
        action = theirs.action_space.sample()
        a, b = theirs.step(action), own.step(action)
        early = name == "repeated" and (a[2] or a[3])  # theirs shows an older observation then
        assert early or np.array_equal(a[0], b[0])
        assert np.allclose(a[1], b[1], rtol=1e-5, atol=1e-7)
        assert a[2:4] == b[2:4]
        assert ("episode" in a[4]) == ("episode" in b[4])
        for key in ("r", "dr", "l") if "episode" in a[4] else ():
            assert np.allclose(a[4]["episode"][key], b[4]["episode"][key], rtol=1e-5)
        for key in ("vector_reward", "reward_weights") if name == "linear" else ():
            assert np.allclose(a[4][key], b[4][key])
        if a[2] or a[3]:
            theirs.reset()
            own.reset()


def test_vector_forms_tell_the_same_returns():
    theirs, own = (
        put_on(rlenvs.make_vec(SEA, 3, horizon=7)) for put_on in (VectorStatistics, ours.MORecordEpisodeStatistics)
    )
    for env in (theirs, own):
        env.reset(seed=2)
    theirs.action_space.seed(0)
    ends = 0
    for _ in range(40):
        actions = theirs.action_space.sample()
        a, b = theirs.step(actions)[4], own.step(actions)[4]
        assert ("episode" in a) == ("episode" in b)
        if "episode" in a:
            ended = a["_episode"]
            assert np.array_equal(ended, b["_episode"])
            for key in ("r", "l"):
                assert np.allclose(a["episode"][key][ended], b["episode"][key][ended])
            ends += ended.sum()
    assert ends > 5
