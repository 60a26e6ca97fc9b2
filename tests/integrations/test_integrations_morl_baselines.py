"""MORL-Baselines: Pareto Q-learning finds the exact front; envelope Q-learning and scalarised Q-learning update."""

import numpy as np
import pytest

pytest.importorskip("morl_baselines")

import mo_gymnasium
from morl_baselines.common.performance_indicators import hypervolume, igd
from morl_baselines.multi_policy.envelope.envelope import Envelope
from morl_baselines.multi_policy.pareto_q_learning.pql import PQL
from morl_baselines.single_policy.ser.mo_q_learning import MOQLearning

import rlenvs  # noqa: F401

SEA = "rlenvs/mo-DeepSeaTreasure-v0"
SMALL = [[0, 0, 0, 0], [1, 0, 0, 0], [-10, 4, 0, 0], [-10, -10, 9, 0]]


def test_pareto_q_learning_finds_the_front():
    gamma = 0.9
    env = mo_gymnasium.make(SEA, map=SMALL, horizon=30)
    agent = PQL(env, ref_point=np.array([0.0, -25.0]), gamma=gamma, epsilon_decay_steps=4000, seed=1, log=False)
    found = np.array(sorted(agent.train(total_timesteps=6000, eval_env=env)))
    front = env.unwrapped.pareto_front(gamma)
    assert len(front) == 3
    np.testing.assert_allclose(found, front[np.lexsort(front.T[::-1])], atol=1e-3)  # float32 rewards
    assert igd(list(front), list(found)) == pytest.approx(0, abs=1e-3)
    reference = np.array([0.0, -25.0])
    assert hypervolume(reference, list(found)) == pytest.approx(hypervolume(reference, list(front)), rel=1e-4)
    followed = np.array(agent._eval_all_policies(env))  # what the policies get when they are played
    np.testing.assert_allclose(followed[np.lexsort(followed.T[::-1])], found, atol=1e-3)


def test_pareto_q_learning_refuses_the_scaled_form():
    with pytest.raises(Exception, match="discretizable"):
        PQL(mo_gymnasium.make(SEA, scaled=True), ref_point=np.array([0.0, -25.0]), log=False)


def test_tables_of_one_policy_learn_the_richest_treasure():
    env = mo_gymnasium.make(SEA, map=SMALL, horizon=30)
    agent = MOQLearning(env, weights=np.array([0.9, 0.1]), gamma=0.95, initial_epsilon=1.0, seed=0, log=False)
    agent.train(total_timesteps=4000, start_time=0.0)
    observation, _ = env.reset(seed=0)
    ended, info = False, {}
    while not ended:
        observation, _, terminated, truncated, info = env.step(agent.eval(observation))
        ended = terminated or truncated
    assert info["is_success"]


def test_envelope_q_learning_updates():
    env = mo_gymnasium.make(SEA)
    agent = Envelope(
        env, learning_starts=50, batch_size=16, net_arch=[16], buffer_size=500, log=False, seed=0, device="cpu"
    )
    before = [weight.detach().clone() for weight in agent.q_net.parameters()]
    agent.train(
        total_timesteps=200,
        eval_env=mo_gymnasium.make(SEA),
        ref_point=np.array([0.0, -25.0]),
        known_pareto_front=env.unwrapped.pareto_front(agent.gamma),
        total_episodes=None,
    )
    after = list(agent.q_net.parameters())
    assert any(not np.array_equal(a.numpy(), b.detach().numpy()) for a, b in zip(before, after, strict=True))
    action = agent.eval(env.reset(seed=0)[0], np.array([0.5, 0.5]))
    assert env.action_space.contains(int(action))
