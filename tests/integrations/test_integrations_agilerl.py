"""AgileRL: its trainers on our vector form and on teams, with masks from info."""

import numpy as np
import pytest

pytest.importorskip("agilerl")

import torch
from agilerl.algorithms import DQN, IPPO, MADDPG, PPO
from agilerl.components import ReplayBuffer
from agilerl.training.train_multi_agent_off_policy import train_multi_agent_off_policy
from agilerl.training.train_multi_agent_on_policy import train_multi_agent_on_policy
from agilerl.training.train_off_policy import train_off_policy
from agilerl.training.train_on_policy import train_on_policy
from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv

import rlenvs

SMALL = {"encoder_config": {"hidden_size": [16]}, "head_config": {"hidden_size": [16]}}
BOARD = {
    "encoder_config": {"channel_size": [4, 4], "kernel_size": [3, 3], "stride_size": [1, 1]},
    "head_config": {"hidden_size": [16]},
}


def weights(agent):
    """Copies of all parameters of an agent's networks."""
    found = []
    for network in agent.evolvable_attributes(networks_only=True).values():
        modules = network.values() if isinstance(network, dict) else [network]
        found += [weight.detach().clone() for module in modules for weight in module.parameters()]
    return found


def learnt(agent, before):
    after = weights(agent)
    assert all(torch.isfinite(weight).all() for weight in after)
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))


def train_ppo(env, network):
    spaces = env.single_observation_space, env.single_action_space
    agent = PPO(*spaces, net_config=network, learn_step=64, batch_size=32, num_envs=4)
    before = weights(agent)
    train_on_policy(env, "rlenvs", "PPO", [agent], max_steps=128, evo_steps=128, eval_steps=10, verbose=False)
    learnt(agent, before)


@pytest.mark.parametrize("id", ["QuadHover-v0", "DeepSeaTreasure-v0"])
def test_ppo_on_one_batch(id):
    train_ppo(rlenvs.make_vec(id, 4, horizon=20), SMALL)


def test_convolutions_over_a_board():
    train_ppo(rlenvs.make_vec("PathFinding-v0", 4, encoding="uint8", horizon=20), BOARD)


def test_dqn_takes_the_masks_of_info():
    env = rlenvs.make_vec("DeepSeaTreasure-v0", 4, horizon=20, illegal="error")
    agent = DQN(env.single_observation_space, env.single_action_space, net_config=SMALL, learn_step=4, batch_size=16)
    before = weights(agent)
    memory = ReplayBuffer(max_size=500)
    train_off_policy(env, "sea", "DQN", [agent], memory, max_steps=200, evo_steps=200, eval_steps=10, verbose=False)
    learnt(agent, before)


def team_of(id):
    """Without masks: AgileRL 2.58.0's IPPO looks for None in a list of arrays, and fails on masks of two choices."""
    return rlenvs.parallel_env(id, masks=False, finished="keep", horizon=10)


@pytest.mark.parametrize("id", ["PathFinding-v0", "Battle-v0", "ParticleSpread-v0", "QuadMultiHover-v0"])
def test_ippo_on_teams(id):
    env = AsyncPettingZooVecEnv([lambda: team_of(id) for _ in range(2)])
    try:
        agent = IPPO(
            [env.single_observation_space(name) for name in env.possible_agents],
            [env.single_action_space(name) for name in env.possible_agents],
            agent_ids=env.possible_agents,
            net_config=BOARD if id == "PathFinding-v0" else SMALL,
            learn_step=32,
            batch_size=16,
        )
        before = weights(agent)
        train_multi_agent_on_policy(env, id, "IPPO", [agent], max_steps=64, evo_steps=64, eval_steps=5, verbose=False)
        learnt(agent, before)
    finally:
        env.close()


def test_maddpg():
    env = AsyncPettingZooVecEnv([lambda: team_of("ParticleSpread-v0") for _ in range(2)])
    try:
        agent = MADDPG(
            [env.single_observation_space(name) for name in env.possible_agents],
            [env.single_action_space(name) for name in env.possible_agents],
            agent_ids=env.possible_agents,
            net_config=SMALL,
            learn_step=8,
            batch_size=16,
            vect_noise_dim=2,
        )
        before = weights(agent)
        memory = ReplayBuffer(max_size=500)
        train_multi_agent_off_policy(
            env, "spread", "MADDPG", [agent], memory, max_steps=100, evo_steps=100, eval_steps=5, verbose=False
        )
        learnt(agent, before)
    finally:
        env.close()


def test_what_agilerl_sees_is_ours():
    env, team = AsyncPettingZooVecEnv([lambda: team_of("PathFinding-v0")]), team_of("PathFinding-v0")
    try:
        theirs, ours = env.reset(seed=3)[0], team.reset(seed=3)[0]
        for _ in range(5):
            for name in team.possible_agents:
                assert np.array_equal(theirs[name][0], ours[name])
            actions = team.expert_actions()
            theirs = env.step({name: np.array([actions.get(name, 0)]) for name in team.possible_agents})[0]
            ours = team.step(actions)[0]
    finally:
        env.close()
