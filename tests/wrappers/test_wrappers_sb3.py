"""Wrapped environments in Stable-Baselines3: the same numbers as without that library, and fit for its learners."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.core.check.playing import difference
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError, SnapshotError
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.guides import JumpStart
from rlenvs.wrappers.snapshots import SnapshotReset
from rlenvs.wrappers.wrapper import Wrapper

pytest.importorskip("stable_baselines3")

from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from rlenvs.integrations.sb3 import as_sb3

QUAD, SEA = "QuadHover-v0", "DeepSeaTreasure-v0"


@dataclass
class Same(Wrapper):
    """Changes nothing."""


@dataclass
class Half(Wrapper):
    """Half of the reward, and an end after some steps; a nested entry of info."""

    steps: int = 9

    def prepare(self) -> None:
        self.allocate("reward")
        self.allocate("truncated", dtype=np.bool_)

    def after_step(self, slots: np.ndarray) -> None:
        self.reward[slots] = 0.5 * self.below.reward[slots]
        self.truncated[slots] = (self.below.truncated | (self.time >= self.steps))[slots]

    def extra_info(self) -> dict:
        return {"half": {"of": self.below.reward, "time": self.time}}


def wrapped(id, *wrappers, count=4, **keywords):
    return as_sb3(wrap(rlenvs.make_vec(id, count, autoreset_mode="SAME_STEP", **keywords), *wrappers), monitor=False)


@pytest.mark.parametrize("id", [QUAD, SEA])
def test_a_wrapper_that_changes_nothing_gives_the_numbers_of_the_form_without_wrappers(id):
    ours = wrapped(id, Same(), horizon=15)
    theirs = rlenvs.sb3_vec_env(id, 4, horizon=15, monitor=False)
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    for venv in (ours, theirs):
        assert venv.seed(7) == [7, 8, 9, 10]
    assert np.array_equal(ours.reset(), theirs.reset())
    ours.action_space.seed(3)
    ends = 0
    for _ in range(60):
        actions = np.array([ours.action_space.sample() for _ in range(4)])
        one, two = ours.step(actions), theirs.step(actions)
        assert not difference(list(one), list(two))
        assert one[1].dtype == two[1].dtype == np.float32
        for done, a, b in zip(one[2], one[3], two[3], strict=True):
            assert bool(a) == done
            assert {key: type(value) for key, value in a.items()} == {key: type(value) for key, value in b.items()}
        ends += one[2].sum()
    assert ends >= 8


def test_ends_and_returns_are_those_of_the_wrappers():
    venv = as_sb3(wrap(rlenvs.make_vec(QUAD, 2, autoreset_mode="SAME_STEP"), Half(6)))
    plain = VecMonitor(wrapped(QUAD, Half(6), count=2))
    for each in (venv, plain):
        each.seed(0)
        each.reset()
    total = np.zeros(2)
    for k in range(12):
        before = venv.env.top.observation.copy()
        found, rewards, dones, infos = venv.step(venv.env.expert_actions())
        total += rewards
        others = plain.step(venv.env.unwrapped.batch.actions[:, 0].astype(np.float32))[3]
        assert dones.all() == (k % 6 == 5)
        if dones.all():
            for i, info in enumerate(infos):
                assert info["episode"]["l"] == 6
                assert info["episode"]["r"] == pytest.approx(total[i], abs=1e-5)
                assert info["TimeLimit.truncated"] is True
                assert not np.array_equal(info["terminal_observation"], found[i])
                assert np.abs(info["terminal_observation"] - before[i]).max() < 0.2
                assert info["half"]["time"] == 6
                assert info["half"].keys() == {"of", "time"}
                assert others[i]["episode"]["l"] == 6
            total[:] = 0.0
        else:
            assert infos == [{}, {}]


def test_nothing_is_shared_between_steps():
    venv = wrapped(QUAD, Half(3), count=2)
    first = venv.reset()
    kept = first.copy()
    one, two = (venv.step(np.full((2, 4), 0.1, np.float32)) for _ in range(2))
    assert np.array_equal(first, kept)
    for a, b in zip(one[:3], two[:3], strict=True):
        assert not np.shares_memory(a, b)


def test_learns_on_layered_worlds():
    bank = rlenvs.collect_snapshots(QUAD, episodes=2, every=20)
    venv = wrap(
        rlenvs.make_vec(QUAD, 4, autoreset_mode="SAME_STEP"), SnapshotReset(bank, 0.5, max_steps=20), JumpStart(steps=3)
    )
    model = PPO("MlpPolicy", VecNormalize(as_sb3(venv)), n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(256)
    assert model.ep_info_buffer
    assert model.ep_success_buffer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_policy(
            model, as_sb3(wrap(rlenvs.make_vec(QUAD, 2, autoreset_mode="SAME_STEP"), Same())), n_eval_episodes=2
        )


@pytest.mark.parametrize("id", [QUAD, SEA])
def test_sb3s_checker_is_content_with_the_single_form(id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(wrap(rlenvs.make(id), Half(5), Same()), warn=True)


def test_attributes_methods_options_and_snapshots():
    venv = wrapped(QUAD, Half(5), count=3)
    venv.set_options({"params": {"mass": 0.03}})
    venv.reset()
    assert venv.get_attr("mass") == [0.03] * 3
    venv.set_attr("mass", 0.02, indices=[1])
    assert venv.get_attr("mass") == [0.03, 0.02, 0.03]
    action = np.full((3, 4), 0.1, np.float32)
    venv.step(action)
    state = venv.env_method("get_state", indices=1)[0]
    moved = venv.step(action)[0]
    venv.step(action)
    venv.env_method("set_state", state, indices=1)
    assert np.array_equal(venv.step(action)[0][1], moved[1])
    assert venv.env.wrappers[0].time.tolist() == [4, 2, 4]
    with pytest.raises(SnapshotError):
        venv.env_method("set_state", "nothing", indices=1)
    assert len(venv.env_method("expert_action")) == 3
    assert venv.env_is_wrapped(Half) == [False] * 3


def test_images():
    venv = wrapped(SEA, Same(), count=2, render_mode="rgb_array")
    venv.reset()
    assert venv.render_mode == "rgb_array"
    assert len(venv.get_images()) == 2
    assert venv.get_images()[0].ndim == 3


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_other_autoreset_modes_are_refused(mode):
    with pytest.raises(ParameterError, match=r"autoreset_mode.*SAME_STEP"):
        as_sb3(wrap(rlenvs.make_vec(QUAD, 2, autoreset_mode=mode), Same()))


def test_what_sb3_cannot_take_is_refused():
    with pytest.raises(TypeError, match="as_sb3 requires a vector environment"):
        as_sb3(rlenvs.make(QUAD))
    with pytest.raises(ParameterError, match="vector rewards"):
        wrapped("mo-SafePointGoal-v0", Same())
    venv = wrapped(SEA, Same(), count=2)
    with pytest.raises(EpisodeOverError):
        venv.step(np.zeros(2, int))
    venv.reset()
    for wrong in (np.zeros(3, int), np.array([0, 4])):
        with pytest.raises(ActionError):
            venv.step(wrong)
