"""Drift of parameters from episode to episode, and levels that follow each other."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contexts import DRIFTS, LEVELS, episodes, made, made_vec, value

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.contexts import EpisodeDrift, LevelCurriculum

# --- drift ------------------------------------------------------------------------------------------------------------


def drift(count, seed=0, **keywords):
    wrapper = EpisodeDrift(**keywords)
    env = made(wrapper, horizon=1)
    values = []
    for e in range(count):
        _, info = env.reset(seed=seed if e == 0 else None)
        values.append(info[f"drift_{wrapper.param}"])
        assert value(env, wrapper.param) == values[-1]
    return np.array(values)


def test_a_walk_starts_where_it_should_and_has_normal_steps():
    assert drift(1, param="gravity", scale=0.5)[0] == 9.8
    x = drift(2000, param="wind_x", start=0.5, scale=0.01)
    assert x[0] == 0.5
    steps = np.diff(x)
    assert abs(steps.mean()) < 4 * 0.01 / math.sqrt(2000)
    assert abs(steps.std() - 0.01) < 4 * 0.01 / math.sqrt(4000)
    assert abs(np.corrcoef(steps[1:], steps[:-1])[0, 1]) < 4 / math.sqrt(2000)


@settings(max_examples=20)
@given(st.floats(0.001, 50.0), st.integers(0, 100))
def test_a_walk_is_reflected_at_its_bounds(scale, seed):
    x = drift(20, seed, param="wind_x", start=0.0, low=-0.5, high=1.0, scale=scale)
    assert -0.5 <= x.min() <= x.max() <= 1.0
    free = drift(20, seed, param="wind_x", start=0.0, low=-10.0, high=10.0, scale=scale)
    first = free[1]
    if abs(first) < 2.0 and scale < 1.0:  # no more than one reflection at either end, to compare by hand
        wanted = -1.0 - first if first < -0.5 else 2.0 - first if first > 1.0 else first
        assert x[1] == pytest.approx(wanted, abs=1e-9)


def test_a_sine_goes_through_its_period():
    x = drift(9, param="wind_x", process="sine", low=-1.0, high=3.0, period=4)
    assert np.allclose(x, [1.0, 3.0, 1.0, -1.0] * 2 + [1.0])
    assert drift(1, param="wind_x", process="sine", low=-1.0, high=3.0, period=4, phase=math.pi / 2)[0] == 3.0


def test_steps_hold_for_a_period_and_are_uniform():
    x = drift(1500, param="wind_x", process="steps", low=-1.0, high=3.0, period=3).reshape(-1, 3)
    assert (x == x[:, :1]).all()
    assert abs(x[:, 0].mean() - 1.0) < 4 * 4 / math.sqrt(12 * 500)
    assert abs(x[:, 0].var() - 16 / 12) < 0.25
    assert len(set(x[:, 0])) == 500


def test_worlds_drift_by_themselves_and_constantly_within_an_episode():
    env = made_vec(3, DRIFTS[0], horizon=4)
    _, info = env.reset(seed=0)
    first = info["drift_arm"]
    assert (first == first[0]).all()
    for _ in range(3):
        *_, info = env.step(np.zeros((3, 4), np.float32))
        assert np.array_equal(info["drift_arm"], first)
    env.step(np.zeros((3, 4), np.float32))
    *_, info = env.step(np.zeros((3, 4), np.float32))
    assert len(set(info["drift_arm"])) == 3
    _, told = env.reset(seed=0)
    assert np.array_equal(told["drift_arm"], first)  # a new seed begins anew


# --- levels -----------------------------------------------------------------------------------------------------------


@dataclass
class Judged(LevelCurriculum):
    """Levels with successes from a list, one entry per episode."""

    verdicts = ()

    def succeeded(self, worlds):
        return np.array([self.verdicts.pop(0) for _ in worlds], np.float64)


def judged(verdicts, count=1, **keywords):
    wrapper = Judged([{"gravity": 8.0}, {"gravity": 9.0}, {"gravity": 10.0}], **keywords)
    env = made_vec(count, wrapper, horizon=1, autoreset_mode=AutoresetMode.SAME_STEP)
    env.wrappers[0].verdicts = list(verdicts)
    _, info = env.reset(seed=0)
    levels = [info["level"].tolist()]
    while env.wrappers[0].verdicts:
        *_, info = env.step(np.zeros((count, 4), np.float32))
        levels.append(info["level"].tolist())
        assert [env.batch.get_params(i)["gravity"] for i in range(count)] == [8.0 + i for i in levels[-1]]
    return levels if count > 1 else [level for (level,) in levels]


def test_promotion_after_enough_success_in_the_last_episodes():
    assert judged([1, 1, 1, 1, 1, 1, 1], window=3, threshold=1.0) == [0, 0, 0, 1, 1, 1, 2, 2]
    assert judged([1, 0, 1, 1, 1], window=3, threshold=1.0) == [0, 0, 0, 0, 0, 1]  # the last three
    assert judged([1, 0, 1, 0, 1, 1], window=3, threshold=2 / 3) == [0, 0, 0, 1, 1, 1, 2]
    assert judged([0] * 5, window=1) == [0] * 6
    default = judged([1] * 40)
    assert default.index(1) == 20
    assert default.index(2) == 40
    assert max(judged([1] * 15 + [0] * 5)) == 0  # 0.75 is below 0.8
    assert max(judged([1] * 16 + [0] * 4)) == 1


def test_worlds_are_promoted_by_themselves_or_together():
    verdicts = [1, 0, 1, 0, 1, 1]  # of worlds 0, 1, 0, 1, 0, 1
    assert judged(verdicts, 2, window=2, threshold=1.0)[-1] == [1, 0]
    shared = judged([1, 0, 1, 1, 1, 1], 2, window=2, threshold=1.0, shared=True)
    assert shared == [[0, 0], [0, 0], [1, 1], [2, 2]]
    assert judged([0, 0, 1, 0, 1, 0], 2, window=4, threshold=0.5, shared=True)[-1] == [1, 1]


def test_levels_by_episodes_and_anew_with_a_seed():
    env = made(LEVELS[0])
    for _ in range(2):
        assert [info["level"] for info in episodes(env, 6)] == [0, 0, 1, 1, 1, 1]
    assert value(env, "goal_spread") == 0.8
    env.reset(seed=0)
    assert (value(env, "start_spread"), value(env, "goal_spread")) == (0.1, 0.0)


def test_worlds_with_new_seeds_begin_at_the_first_level():
    for shared, wanted in ((False, [1, 0]), (True, [1, 1])):
        wrapper = Judged([{"gravity": 8.0}, {"gravity": 9.0}], window=1, shared=shared)
        env = made_vec(2, wrapper, horizon=1, autoreset_mode=AutoresetMode.SAME_STEP)
        env.wrappers[0].verdicts = [1] * 8
        env.reset(seed=0)
        *_, info = env.step(np.zeros((2, 4), np.float32))
        assert info["level"].tolist() == [1, 1]
        assert env.reset(seed=[None, 5])[1]["level"].tolist() == wanted
        assert env.reset(seed=5)[1]["level"].tolist() == [0, 0]


def test_success_is_read_from_the_world():
    env = made(LevelCurriculum(["easy", "hard"], window=2, threshold=1.0), horizon=240)
    assert [info["level"] for info in episodes(env, 3, actor="expert")] == [0, 0, 1]
    env = made(LevelCurriculum(["easy", "hard"], window=2, threshold=1.0), horizon=240)
    assert [info["level"] for info in episodes(env, 3)] == [0, 0, 0]


def test_all_levels_of_the_world_by_default():
    env = made(LevelCurriculum(schedule="episodes", episodes=1), id="Ant-v0", horizon=1)
    met = []
    for e in range(3):
        env.reset(seed=0 if e == 0 else None)
        met.append((value(env, "speed_limit"), value(env, "friction")))
    assert met == [(4.0, 1.0), (rlenvs.make("Ant-v0").unwrapped.batch.get_params()["speed_limit"], 1.0), (1.5, 0.6)]


def test_options_of_levels_must_be_those_of_the_environment():
    with pytest.raises(ParameterError, match=r"levels.*'original', which sets \[.history., .reward.\]"):
        made(LevelCurriculum(["original", "easy"]))
    env = made(LevelCurriculum(["original", "easy"], schedule="episodes", episodes=1), history=15, reward="original")
    env.reset(seed=0)
    assert value(env, "start_height") == 0.1125
