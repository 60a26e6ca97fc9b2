"""Vector environments of several tasks: equal to each task's own, codes, recurrent inputs, refusals."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

import rlenvs
from rlenvs.agents.benchmarks import Benchmark
from rlenvs.agents.mixed_vector import MixedVectorEnv
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError, SnapshotError

pytest.importorskip("mujoco")
IDS = ("MetaWorldReach-v0", "MetaWorldDrawerClose-v0")
SHORT = {"horizon": 3, "backend": "python"}
WORLDS = 3  # two of reach, one of drawer-close
OWN = ((slice(0, 2), IDS[0]), (slice(2, 3), IDS[1]))


def made(num_envs=WORLDS, **keywords):
    return Benchmark("Two", IDS, (0,), {**SHORT}, held_out=IDS[1:]).vector(num_envs, **keywords)


def actions_at(t, num_envs=WORLDS):
    return np.random.default_rng(t).uniform(-1.0, 1.0, (num_envs, 4)).astype(np.float32)


def assert_same(whole, part, own):
    """The worlds `own` of a mixed info are those of the info of their task."""
    for key, value in part.items():
        if isinstance(value, dict):
            assert_same(whole[key], value, own)
        elif value.dtype == object:
            for mine, theirs in zip(whole[key][own], value, strict=True):
                np.testing.assert_array_equal(mine, theirs)
        else:
            np.testing.assert_array_equal(whole[key][own], value)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_worlds_are_those_of_their_tasks(mode):
    mixed = made(autoreset_mode=mode)
    alone = [rlenvs.make_vec(id, own.stop - own.start, autoreset_mode=mode, **SHORT) for own, id in OWN]
    assert mixed.task_of.tolist() == [0, 0, 1]
    assert mixed.autoreset_mode is mode is mixed.metadata["autoreset_mode"]
    seen, infos = mixed.reset(seed=5)
    for (own, _), env in zip(OWN, alone, strict=True):
        their_seen, their_infos = env.reset(seed=list(range(5, 8))[own])
        np.testing.assert_array_equal(seen[own], their_seen)
        assert_same(infos, their_infos, own)
    for t in range(2 if mode is AutoresetMode.DISABLED else 5):
        found = mixed.step(actions_at(t))
        assert mixed.observation_space.contains(found[0])
        for (own, _), env in zip(OWN, alone, strict=True):
            theirs = env.step(actions_at(t)[own])
            for mine, their in zip(found[:4], theirs[:4], strict=True):
                np.testing.assert_array_equal(mine[own], their)
            assert_same(found[4], theirs[4], own)
    mixed.close()


def test_codes_and_recurrent_inputs():
    env = made(one_hot=True, recurrent=True)
    assert env.single_observation_space.shape == (39 + 2 + 4 + 2,)
    assert env.observation_space == batch_space(env.single_observation_space, WORLDS)
    seen, _ = env.reset(seed=0)
    np.testing.assert_array_equal(seen[:, 39:41], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(seen[:, 41:], 0.0)
    for t in range(4):
        seen, rewards, _, truncated, _ = env.step(3.0 * actions_at(t))
        assert env.observation_space.contains(seen)
        if t == 3:  # the next episode has begun
            np.testing.assert_array_equal(seen[:, 41:], 0.0)
            continue
        np.testing.assert_array_equal(seen[:, 41:45], np.clip(3.0 * actions_at(t), -1.0, 1.0))
        np.testing.assert_array_equal(seen[:, 45], rewards)
        np.testing.assert_array_equal(seen[:, 46], [float(t == 2)] * 3)
        assert truncated.all() == (t == 2)


def test_the_last_observation_of_an_episode_has_recurrent_inputs_too():
    env = made(one_hot=True, recurrent=True, autoreset_mode="SAME_STEP")
    env.reset(seed=0)
    for t in range(3):
        seen, rewards, _, _, infos = env.step(actions_at(t))
    np.testing.assert_array_equal(seen[:, 41:], 0.0)
    last = np.stack(infos["final_obs"])
    np.testing.assert_array_equal(last[:, 39:41], seen[:, 39:41])
    np.testing.assert_array_equal(last[:, 41:45], actions_at(2))
    np.testing.assert_array_equal(last[:, 45], rewards)
    np.testing.assert_array_equal(last[:, 46], 1.0)


def test_worlds_end_apart():
    """One task's worlds end while the other's go on: its final observations alone are there."""
    env = made(autoreset_mode="SAME_STEP")
    env.reset(seed=0)
    env.step(actions_at(0))
    env.reset(seed=1, options={"reset_mask": np.array([True, True, False])})
    env.step(actions_at(1))
    infos = env.step(actions_at(2))[4]
    assert infos["_final_obs"].tolist() == [False, False, True]
    assert infos["final_obs"][0] is None
    assert infos["final_obs"][2].shape == (39,)
    assert infos["final_info"]["_is_success"].tolist() == [False, False, True]


def test_resets_of_some_worlds():
    env = made()
    seen, _ = env.reset(seed=0)
    env.step(actions_at(0))
    again, infos = env.reset(seed=0, options={"reset_mask": np.array([False, True, False])})
    np.testing.assert_array_equal(again[1], seen[1])
    assert (again[[0, 2], :3] != seen[[0, 2], :3]).any(axis=1).all()
    assert infos["_is_success"].tolist() == [False, True, False]
    with pytest.raises(ParameterError, match="reset_mask"):
        env.reset(options={"reset_mask": np.array([True, False])})


def test_pickles_copies_and_snapshots_go_on_alike():
    env = made(one_hot=True, recurrent=True)
    env.reset(seed=3)
    env.step(actions_at(0))
    others = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env), made(one_hot=True, recurrent=True)]
    others[2].set_state(env.get_state())
    for t in range(1, 5):
        ours = env.step(actions_at(t))
        for other in others:
            theirs = other.step(actions_at(t))
            for mine, their in zip(ours[:4], theirs[:4], strict=True):
                np.testing.assert_array_equal(mine, their)
    swapped = env.get_state()[::-1]
    before = env.get_state()
    with pytest.raises((ParameterError, SnapshotError)):
        env.set_state(swapped)
    with pytest.raises(ParameterError, match="3 snapshots"):
        env.set_state(before[:2])
    np.testing.assert_array_equal(env.set_state(before)[:, :39], ours[0][:, :39])


def test_a_refused_call_changes_nothing():
    env = made(autoreset_mode="DISABLED")
    with pytest.raises(EpisodeOverError, match="environment 0"):
        env.step(actions_at(0))
    seen, _ = env.reset(seed=0)
    wrong = actions_at(0)
    wrong[2, 1] = np.nan
    for actions in (wrong, actions_at(0)[:2], "up", [[1.0], [2.0, 3.0]], np.full((3, 4), None)):
        with pytest.raises(ActionError):
            env.step(actions)
    for params in ({"mass": 1e9}, {"mass": [1.0, 1.0, -1.0]}, {"mass": [1.0, 1.0]}, {"weight": 1.0}):
        with pytest.raises(ParameterError):
            env.reset(seed=1, options={"params": params})
    with pytest.raises(ParameterError):
        env.set_attr("mass", [1.0, 1.0, 1e9])
    assert env.get_attr("mass") == (1.0, 1.0, 1.0)
    np.testing.assert_array_equal(env.set_state(env.get_state()), seen)
    env.reset(options={"params": {"mass": [1.0, 2.0, 3.0]}})
    assert env.get_attr("mass") == (1.0, 2.0, 3.0)
    for t in range(3):
        env.step(actions_at(t))
    with pytest.raises(EpisodeOverError, match="over"):
        env.step(actions_at(3))
    env.close()
    env.close()
    with pytest.raises(EpisodeOverError, match="closed"):
        env.step(actions_at(0))


def test_what_cannot_be_mixed_is_refused():
    with pytest.raises(ParameterError, match="2 tasks"):
        made(1)
    with pytest.raises(ParameterError, match="have no codes"):
        made(held_out=True, one_hot=True)
    with pytest.raises(ParameterError, match="holds no task out"):
        rlenvs.benchmark("MT10").vector(10, held_out=True)
    with pytest.raises(ParameterError, match="one_hot"):
        made(one_hot="yes")
    with pytest.raises(ParameterError, match="vector_reward"):
        made(recurrent=True, vector_reward=True)
    with pytest.raises(ParameterError, match="one Box"):
        MixedVectorEnv("Other", ("MetaWorldReach-v0", "FrozenLake-v0"), 2, backend="python")
    with pytest.raises(ParameterError, match="one shape"):
        MixedVectorEnv("Other", ("MetaWorldReach-v0", "PandaPickAndPlace-v0"), 2, backend="python")
    held_out = made(2, held_out=True)
    assert held_out.ids == IDS[1:]
    assert held_out.name == "Two, held out"


def test_seeds_generators_and_experts():
    env = made()
    env.np_random = np.random.default_rng(0)
    first, _ = env.reset()
    env.np_random = np.random.default_rng(0)
    np.testing.assert_array_equal(env.reset()[0], first)
    assert (env.reset()[0] != first).any()
    assert env.expert_actions().shape == (3, 4)
    assert env.call("observation_space") == (env.single_observation_space,) * 3
    assert made(mass=[1.0, 2.0, 3.0]).get_attr("mass") == (1.0, 2.0, 3.0)


def test_goals_of_all_tasks_are_in_the_space():
    low, high = made().single_observation_space.low[36:], made().single_observation_space.high[36:]
    for id in IDS:
        space = rlenvs.make(id, **SHORT).observation_space
        assert (low <= space.low[36:]).all()
        assert (space.high[36:] <= high).all()


def test_codes_follow_the_numbers_beside_images():
    env = made(one_hot=True, recurrent=True, camera="rgb", camera_width=8, camera_height=9, touch=True)
    seen, _ = env.reset(seed=0)
    assert seen["hand"].shape == (3, 9, 8, 3)
    assert seen["state"].shape == (3, 44 + 2 + 6)
    assert env.observation_space.contains(seen)
    assert env.observation_space.contains(env.step(actions_at(0))[0])
