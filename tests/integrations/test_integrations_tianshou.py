"""Tianshou: PPO and DQN by its trainer on single environments, and teams through its PettingZoo form."""

import gymnasium
import numpy as np
import pytest

pytest.importorskip("tianshou")

import torch
from tianshou.algorithm import DQN, PPO
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy, ProbabilisticActorPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv, SubprocVectorEnv
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.continuous import ContinuousActorProbabilistic, ContinuousCritic
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
from torch.distributions import Independent, Normal

import rlenvs


def net(space):
    return Net(state_shape=space.shape, hidden_sizes=[16])


def normal(parts):
    mean, std = parts
    return Independent(Normal(mean, std), 1)


def ppo(observed, action):
    """PPO for choices or numbers."""
    if hasattr(action, "n"):
        actor = DiscreteActor(preprocess_net=net(observed), action_shape=action.n, softmax_output=False)
        policy = DiscreteActorPolicy(actor=actor, action_space=action)
        critic = DiscreteCritic(preprocess_net=net(observed))
    else:
        actor = ContinuousActorProbabilistic(preprocess_net=net(observed), action_shape=action.shape, unbounded=True)
        policy = ProbabilisticActorPolicy(actor=actor, dist_fn=normal, action_space=action)
        critic = ContinuousCritic(preprocess_net=net(observed))
    return PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3))


def dqn(observed, action):
    """Q-learning of choices."""
    model = Net(state_shape=observed.shape, action_shape=action.n, hidden_sizes=[16])
    policy = DiscreteQLearningPolicy(model=model, action_space=action, observation_space=observed, eps_training=0.5)
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=10)


def trains(algorithm, envs, **params):
    """Some updates by Tianshou's trainer; whether the parameters moved and stayed finite."""
    before = [weight.detach().clone() for weight in algorithm.parameters()]
    collector = Collector(algorithm, envs, VectorReplayBuffer(2000, len(envs)))
    on_policy = "update_step_num_gradient_steps_per_sample" not in params
    kind = OnPolicyTrainerParams if on_policy else OffPolicyTrainerParams
    result = algorithm.run_training(
        kind(
            max_epochs=1,
            epoch_num_steps=200,
            training_collector=collector,
            test_collector=None,
            collection_step_num_env_steps=100,
            batch_size=32,
            show_progress=False,
            verbose=False,
            **params,
        )
    )
    after = list(algorithm.parameters())
    assert all(torch.isfinite(weight).all() for weight in after)
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
    return result


@pytest.mark.parametrize("id", ["QuadHover-v0", "DeepSeaTreasure-v0"])
def test_ppo(id):
    envs = DummyVectorEnv([lambda: rlenvs.make(id, horizon=25) for _ in range(4)])
    envs.seed(3)
    one = rlenvs.make(id)
    trains(ppo(one.observation_space, one.action_space), envs)


def test_dqn_takes_the_masks():
    """Observations with a mask, as the team's form has them, keep Tianshou's Q-learning off what is forbidden."""
    envs = DummyVectorEnv([lambda: Masked(rlenvs.make("DeepSeaTreasure-v0", horizon=25)) for _ in range(3)])
    one = rlenvs.make("DeepSeaTreasure-v0")
    assert "mask" in envs.reset()[0][0]
    trains(dqn(one.observation_space, one.action_space), envs, update_step_num_gradient_steps_per_sample=0.1)
    assert [worker.env.illegal for worker in envs.workers] == [0, 0, 0]


class Masked(gymnasium.Wrapper):
    """A single environment that shows its mask as Tianshou requires it, and counts what was illegal."""

    def __init__(self, env):
        super().__init__(env)
        self.illegal = 0

    def reset(self, seed=None, options=None):
        observation, info = self.env.reset(seed=seed, options=options)
        return {"obs": observation, "mask": info["action_mask"].astype(bool)}, info

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.illegal = max(self.illegal, int(info["illegal_actions"]))
        return {"obs": observation, "mask": info["action_mask"].astype(bool)}, reward, terminated, truncated, info


@pytest.mark.parametrize(("id", "keywords"), [("PathFinding-v0", {"agents": 2}), ("ParticleTag-v0", {"pad": True})])
def test_teams(id, keywords):
    """Agents take turns; a Q-function each, with masks where the world has them."""

    def make():
        return PettingZooEnv(rlenvs.aec_env(id, finished="keep", horizon=10, **keywords))

    envs, one = DummyVectorEnv([make for _ in range(2)]), make()
    observed = one.observation_space
    space = observed["observation"] if isinstance(observed, gymnasium.spaces.Dict) else observed
    team = MultiAgentOffPolicyAlgorithm(algorithms=[dqn(space, one.action_space) for _ in one.agents], env=one)
    trains(team, envs, update_step_num_gradient_steps_per_sample=0.1)


def test_processes():
    envs = SubprocVectorEnv([lambda: rlenvs.make("DeepSeaTreasure-v0") for _ in range(2)])
    ours = rlenvs.make_vec("DeepSeaTreasure-v0", 2)
    try:
        envs.seed(4)
        observations, _ = envs.reset()
        assert np.array_equal(observations, ours.reset(seed=4)[0])
        for action in (3, 1, 2):
            found, wanted = envs.step(np.array([action, action])), ours.step(np.array([action, action]))
            assert np.array_equal(np.stack(found[0]), wanted[0])
    finally:
        envs.close()
