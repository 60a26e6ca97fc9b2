import gymnasium
import numpy as np
import pytest
from toys import thermostat

import rlenvs
from rlenvs.core.batch.simulate import PlanRollouts
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.core.forms.gym_env import Env

SPEC = thermostat.load()


@pytest.fixture
def env():
    env = Env(SPEC, horizon=30)
    env.reset(seed=3)
    for _ in range(5):
        env.step(1)
    return env


def test_rollouts_equal_stepping(env):
    plans = np.random.default_rng(0).integers(0, 2, (6, 12))
    before = env.unwrapped.get_state()
    result = rlenvs.rollout_plans(env, plans)
    assert env.unwrapped.get_state() == before
    for k, plan in enumerate(plans):
        env.unwrapped.set_state(before)
        steps = [env.step(int(a)) for a in plan]
        assert result.rewards[k].tolist() == [s[1] for s in steps]
        assert result.costs[k].tolist() == [s[4]["cost"] for s in steps]
        assert np.array_equal(result.observations[k], steps[-1][0])


def test_a_rollout_stops_at_the_end_of_the_episode(env):
    result = rlenvs.rollout_plans(env, np.ones((2, 40), int))
    assert result.lengths.tolist() == [25, 25]
    assert result.over.all()
    assert (result.rewards[:, 25:] == 0).all()


def test_simulator_is_reusable_from_any_snapshot(env):
    simulator = rlenvs.PlanRollouts(env, 3)
    early = env.unwrapped.get_state()
    env.step(0)
    first = simulator(np.ones((3, 4), int), early)
    simulator(np.zeros((3, 7), int))
    again = simulator(np.ones((3, 4), int), early)
    assert np.array_equal(first.rewards, again.rewards)


@pytest.mark.parametrize(
    "plans", [np.zeros((2, 3, 1), int), np.zeros((2, 3)), np.full((2, 3), 5), np.zeros(3, int), []]
)
def test_bad_plans_are_refused(env, plans):
    with pytest.raises(ActionError):
        rlenvs.rollout_plans(env, plans)


def test_continuous_plans_are_clipped_and_checked():
    env = gymnasium.make("rlenvs/QuadHover-v0")
    env.reset(seed=0)
    big, one = np.full((1, 3, 4), 9.0), np.ones((1, 3, 4))
    assert np.array_equal(rlenvs.rollout_plans(env, big).observations, rlenvs.rollout_plans(env, one).observations)
    with pytest.raises(ActionError, match="NaN"):
        rlenvs.rollout_plans(env, one * np.nan)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "num_plans=0 must be a positive integer"),
        (("a",), "num_plans='a' must be a positive integer"),
        ((True,), "num_plans=True must be a positive integer"),
        ((3, 0), "threads=0 must be a positive integer, or None to choose"),
        ((10**15,), "GiB of memory, more than is available"),
    ],
)
def test_numbers_of_a_simulator_that_are_none(arguments, message):
    env = rlenvs.make("DeepSeaTreasure-v0")
    env.reset(seed=0)
    with pytest.raises(ParameterError, match=message):
        PlanRollouts(env, *arguments)
    assert PlanRollouts(env, np.int64(2), np.int64(1)).batch.num_envs == 2
