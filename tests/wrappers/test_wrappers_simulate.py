"""`rlenvs.rollout_plans` on environments with wrappers plays the wrappers, as stepping does, to the bit."""

from __future__ import annotations

import copy

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.core.check.playing import difference
from rlenvs.core.declare.errors import ActionError, ParameterError, SnapshotError
from rlenvs.wrappers import (
    ActionRepeat,
    ActionSequence,
    Actuator,
    ClipRewards,
    CostBudget,
    ObservationAdversary,
    Sensor,
    wrap,
)

HOVER, DIVE = "QuadHover-v0", "DeepSeaTreasure-v0"
STACKS = {
    "repeat": (HOVER, [ActionRepeat(3)]),
    "noise": (HOVER, [Actuator(delay=2, noise=0.1, lag=0.05), Sensor("position", noise=0.1, delay=1)]),
    "many": (HOVER, [Actuator(noise=0.1), ActionRepeat([1, 3]), ObservationAdversary(eps=0.1), CostBudget(limit=5.0)]),
    "plans": (HOVER, [ActionSequence(2), Sensor(noise=0.1)]),
    "choices": (DIVE, [Actuator(random=0.3, hold=0.3)]),
    "vectors": ("mo-" + DIVE, [ClipRewards(low=[-0.5, -0.5])]),
}


def stepped(env, state, plans):
    """What stepping gives: rewards, costs, last observations, lengths."""
    found = []
    for plan in plans:
        seen = env.set_state(state)
        rewards, costs, over = [], [], False
        for action in plan:
            if over:
                break
            seen, reward, ended, cut, info = env.step(action)
            rewards.append(reward)
            costs.append(info.get("cost", 0.0))
            over = ended or cut
        found.append((np.array(rewards), np.array(costs), seen, len(rewards), over))
    return found


@pytest.mark.parametrize("name", STACKS)
def test_plans_play_the_wrappers(name):
    id, stack = STACKS[name]
    env = wrap(rlenvs.make(id, horizon=30), *stack)
    env.reset(seed=2)
    env.action_space.seed(0)
    for _ in range(2):
        env.step(env.action_space.sample())
    plans = np.array([[env.action_space.sample() for _ in range(12)] for _ in range(5)])
    before, twin = env.get_state(), copy.deepcopy(env)
    played = rlenvs.rollout_plans(env, plans)
    assert not difference(before, env.get_state())
    for k, (rewards, costs, seen, length, over) in enumerate(stepped(twin, before, plans)):
        assert (played.lengths[k], played.over[k]) == (length, over)
        assert np.array_equal(played.rewards[k, :length].astype(rewards.dtype), rewards)
        assert np.array_equal(played.costs[k, :length], costs)
        assert not played.rewards[k, length:].any()
        assert np.array_equal(played.observations[k], seen)


def test_a_simulator_begins_at_any_snapshot_of_the_stack_and_of_any_form():
    single, vector = (wrap(form, *STACKS["noise"][1]) for form in (rlenvs.make(HOVER), rlenvs.make_vec(HOVER, 2)))
    single.reset(seed=0), vector.reset(seed=0)
    early = vector.get_state()[0]
    for _ in range(3):
        single.step(np.full(4, 0.1, np.float32))
    plans = np.zeros((2, 4, 4), np.float32)
    simulator = rlenvs.PlanRollouts(single, 2)
    later = simulator(plans)
    assert np.array_equal(simulator(plans, early).rewards, rlenvs.PlanRollouts(vector, 2)(plans).rewards)
    assert np.array_equal(simulator(plans).rewards, later.rewards)
    with pytest.raises(SnapshotError, match="wrappers"):
        simulator(plans, single.unwrapped.get_state())


def test_wrappers_of_gymnasium_on_top_are_left_out():
    env = gymnasium.wrappers.RecordEpisodeStatistics(wrap(rlenvs.make(HOVER), ActionRepeat(3)))
    env.reset(seed=0)
    plans = np.zeros((2, 3, 4), np.float32)
    assert np.array_equal(rlenvs.rollout_plans(env, plans).rewards, rlenvs.rollout_plans(env.env, plans).rewards)
    assert not np.array_equal(
        rlenvs.rollout_plans(env, plans).rewards, rlenvs.rollout_plans(env.unwrapped, plans).rewards
    )


def test_what_cannot_be_played_is_refused_with_the_way_out():
    team = wrap(rlenvs.parallel_env("ParticleSpread-v0"), Sensor(noise=0.1))
    team.reset(seed=0)
    with pytest.raises(ParameterError, match="deepcopy"):
        rlenvs.rollout_plans(team, np.zeros((2, 3, 3), int))
    inside = wrap(gymnasium.wrappers.ClipAction(rlenvs.make(HOVER)), ActionRepeat(2))
    inside.reset(seed=0)
    with pytest.raises(ParameterError, match="ClipAction is below"):
        rlenvs.rollout_plans(inside, np.zeros((2, 3, 4)))
    env = wrap(rlenvs.make(HOVER), ActionRepeat(2))
    env.reset(seed=0)
    for plans in (np.zeros((2, 3, 5)), np.zeros((2, 3)), np.full((2, 3, 4), np.nan)):
        with pytest.raises(ActionError, match="QuadHover"):
            rlenvs.rollout_plans(env, plans)
