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


# --- learners with networks, a few hundred steps ----------------------------------------------------------------------

SMALL_NET = {"net_arch": [16, 16], "batch_size": 16, "buffer_size": 1000, "log": False, "device": "cpu"}
LOOKS = {"num_eval_weights_for_front": 4, "num_eval_episodes_for_front": 1, "num_eval_weights_for_eval": 4}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some save weights beside themselves


def both(id, **keywords):
    """An environment to learn in, and one to look at what was learnt."""
    return (mo_gymnasium.make(f"rlenvs/mo-{id}", **keywords) for _ in range(2))


@pytest.mark.parametrize(
    ("id", "reference"), [("DeepSeaTreasure-v0", [0.0, -25.0]), ("ResourceGathering-v0", [-1.0, -1.0, -1.0])]
)
def test_gpi_ls_with_choices(id, reference):
    pytest.importorskip("cdd")
    pytest.importorskip("cvxpy")
    from morl_baselines.multi_policy.gpi_pd.gpi_pd import GPILS

    env, eval_env = both(id, horizon=30)
    agent = GPILS(env, learning_starts=50, gradient_updates=1, seed=0, **SMALL_NET)
    looks = {**LOOKS, "timesteps_per_iter": 100, "eval_freq": 100, "eval_mo_freq": 100, "checkpoints": False}
    agent.train(total_timesteps=200, eval_env=eval_env, ref_point=np.array(reference), **looks)
    assert env.action_space.contains(int(agent.eval(env.reset(seed=0)[0], np.full(len(reference), 0.5))))


@pytest.mark.parametrize(
    ("id", "reference", "scale", "most"),
    [
        ("DeepSeaTreasure-v0", [0.0, -25.0], [0.1, 0.1, 0.01], [23.7, 0.0]),
        ("BreakableBottles-v0", [-101.0, -1.0, -2.0], [0.1, 0.1, 0.1, 0.01], [0.0, 50.0, 0.0]),
    ],
)
def test_pareto_conditioned_networks(id, reference, scale, most):
    from morl_baselines.multi_policy.pcn.pcn import PCN

    env, eval_env = both(id)
    agent = PCN(env, np.array(scale), batch_size=32, hidden_dim=16, log=False, seed=0, device="cpu")
    agent.train(
        total_timesteps=400, eval_env=eval_env, ref_point=np.array(reference), num_er_episodes=5, num_step_episodes=2,
        num_model_updates=2, max_return=np.array(most), max_buffer_size=20, num_points_pf=5,
    )  # fmt: skip


def test_numbers_as_actions():
    pytest.importorskip("mujoco")
    from morl_baselines.multi_policy.capql.capql import CAPQL
    from morl_baselines.single_policy.ser.mosac_continuous_action import MOSAC

    env, eval_env = both("HalfCheetah-v0")
    MOSAC(env, weights=np.array([0.5, 0.5]), learning_starts=100, **SMALL_NET).train(150)
    agent = CAPQL(env, learning_starts=100, seed=0, **SMALL_NET)
    agent.train(total_timesteps=150, eval_env=eval_env, ref_point=np.array([-100.0, -100.0]), eval_freq=1000, **LOOKS)


def test_pgmorl_makes_its_own_vector_of_environments():
    from morl_baselines.multi_policy.pgmorl.pgmorl import PGMORL

    agent = PGMORL(
        "rlenvs/mo-HalfCheetah-v0", np.array([-100.0, -100.0]), num_envs=2, pop_size=6, warmup_iterations=2,
        steps_per_iteration=64, evolutionary_iterations=1, num_minibatches=4, update_epochs=1, net_arch=[16],
        log=False, seed=0, device="cpu",
    )  # fmt: skip
    assert agent.env.step(agent.env.action_space.sample())[1].shape == (2, 2)
