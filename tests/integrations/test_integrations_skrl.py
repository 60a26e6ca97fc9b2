"""skrl: PPO on one batch of worlds, and IPPO and MAPPO on teams, by skrl's own trainer."""

import numpy as np
import pytest

pytest.importorskip("skrl")

import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, GaussianMixin, Model
from skrl.multi_agents.torch.ippo import IPPO, IPPO_CFG
from skrl.multi_agents.torch.mappo import MAPPO, MAPPO_CFG
from skrl.trainers.torch import SequentialTrainer
from torch import nn

import rlenvs

ROLLOUTS, STEPS = 16, 48


class Numbers(GaussianMixin, Model):
    """A policy of numbers."""

    def __init__(self, observation_space, action_space):
        Model.__init__(self, observation_space=observation_space, action_space=action_space, device="cpu")
        GaussianMixin.__init__(self, clip_actions=True)
        self.net = nn.Linear(self.num_observations, self.num_actions)
        self.log_std = nn.Parameter(torch.zeros(self.num_actions))

    def compute(self, inputs, role=""):
        return self.net(inputs["observations"]), {"log_std": self.log_std}


class Choices(CategoricalMixin, Model):
    """A policy of choices."""

    def __init__(self, observation_space, action_space):
        Model.__init__(self, observation_space=observation_space, action_space=action_space, device="cpu")
        CategoricalMixin.__init__(self)
        self.net = nn.Linear(self.num_observations, self.num_actions)

    def compute(self, inputs, role=""):
        return self.net(inputs["observations"]), {}


class Value(DeterministicMixin, Model):
    """A critic of the observation, or of the central state."""

    def __init__(self, observation_space, action_space, state_space=None):
        Model.__init__(
            self,
            observation_space=observation_space,
            state_space=state_space,
            action_space=action_space,
            device="cpu",
        )
        DeterministicMixin.__init__(self)
        self.sees = "observations" if state_space is None else "states"
        self.net = nn.Linear(self.num_states if state_space is not None else self.num_observations, 1)

    def compute(self, inputs, role=""):
        return self.net(inputs[self.sees]), {}


def quiet(tmp_path):
    return {"directory": str(tmp_path), "write_interval": 0, "checkpoint_interval": 0}


def nothing(env):
    """Empty settings for each agent: skrl 2.1.1 refuses its own empty defaults."""
    names = ("learning_rate_scheduler", "observation_preprocessor", "state_preprocessor", "value_preprocessor")
    return {f"{name}_kwargs": {agent: {} for agent in env.possible_agents} for name in names}


def train(env, agent):
    """Some updates by skrl's trainer; whether the parameters moved and stayed finite."""
    models = [
        model for entry in agent.models.values() for model in (entry.values() if isinstance(entry, dict) else [entry])
    ]
    before = [weight.detach().clone() for model in models for weight in model.parameters()]
    cfg = {"timesteps": STEPS, "headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(env=env, agents=agent, cfg=cfg).train()
    after = [weight for model in models for weight in model.parameters()]
    assert all(torch.isfinite(weight).all() for weight in after)
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))


def train_ppo(env, policy, folder):
    models = {
        "policy": policy(env.observation_space, env.action_space),
        "value": Value(env.observation_space, env.action_space),
    }
    agent = PPO(
        models=models,
        memory=RandomMemory(memory_size=ROLLOUTS, num_envs=env.num_envs, device="cpu"),
        observation_space=env.observation_space,
        action_space=env.action_space,
        device="cpu",
        cfg=PPO_CFG(rollouts=ROLLOUTS, learning_epochs=1, experiment=quiet(folder)),
    )
    train(env, agent)


@pytest.mark.parametrize(("id", "policy"), [("QuadHover-v0", Numbers), ("DeepSeaTreasure-v0", Choices)])
def test_ppo_on_one_batch(id, policy, tmp_path):
    env = wrap_env(rlenvs.make_vec(id, 8, autoreset_mode="SAME_STEP", horizon=20), verbose=False)
    assert env.num_envs == 8
    train_ppo(env, policy, tmp_path)


def test_ppo_on_one_world(tmp_path):
    env = wrap_env(rlenvs.make("QuadHover-v0", horizon=20), verbose=False)
    train_ppo(env, Numbers, tmp_path)


@pytest.mark.parametrize("id", ["PathFinding-v0", "Battle-v0", "ParticleSpread-v0", "QuadMultiHover-v0"])
def test_teams(id, tmp_path):
    """Agents that finish stay to the end; masks are left out, as skrl's models know none."""
    env = wrap_env(rlenvs.parallel_env(id, masks=False, finished="keep", horizon=10), verbose=False)
    policy = Numbers if id.startswith("Quad") else Choices
    models, memories = {}, {}
    for agent in env.possible_agents:
        spaces = env.observation_spaces[agent], env.action_spaces[agent]
        models[agent] = {"policy": policy(*spaces), "value": Value(*spaces)}
        memories[agent] = RandomMemory(memory_size=ROLLOUTS, num_envs=1, device="cpu")
    team = IPPO(
        possible_agents=env.possible_agents,
        models=models,
        memories=memories,
        observation_spaces=env.observation_spaces,
        state_spaces=env.state_spaces,
        action_spaces=env.action_spaces,
        device="cpu",
        cfg=IPPO_CFG(rollouts=ROLLOUTS, learning_epochs=1, experiment=quiet(tmp_path), **nothing(env)),
    )
    train(env, team)


def test_central_critics(tmp_path):
    env = wrap_env(rlenvs.parallel_env("Battle-v0", masks=False, finished="keep", horizon=10), verbose=False)
    models, memories = {}, {}
    for agent in env.possible_agents:
        spaces = env.observation_spaces[agent], env.action_spaces[agent]
        models[agent] = {"policy": Choices(*spaces), "value": Value(*spaces, env.state_spaces[agent])}
        memories[agent] = RandomMemory(memory_size=ROLLOUTS, num_envs=1, device="cpu")
    team = MAPPO(
        possible_agents=env.possible_agents,
        models=models,
        memories=memories,
        observation_spaces=env.observation_spaces,
        state_spaces=env.state_spaces,
        action_spaces=env.action_spaces,
        device="cpu",
        cfg=MAPPO_CFG(rollouts=ROLLOUTS, learning_epochs=1, experiment=quiet(tmp_path), **nothing(env)),
    )
    train(env, team)


def test_what_skrl_sees_is_ours():
    theirs = wrap_env(rlenvs.make_vec("QuadHover-v0", 3, autoreset_mode="SAME_STEP", horizon=7), verbose=False)
    ours = rlenvs.make_vec("QuadHover-v0", 3, autoreset_mode="SAME_STEP", horizon=7)
    theirs._seed = 5
    assert np.array_equal(theirs.reset()[0].numpy(), ours.reset(seed=5)[0])
    ours.action_space.seed(0)
    for _ in range(20):
        actions = ours.action_space.sample()
        found, wanted = theirs.step(torch.as_tensor(actions)), ours.step(actions)
        assert np.array_equal(found[0].numpy(), wanted[0])
        for k in (1, 2, 3):
            assert np.array_equal(found[k].numpy()[:, 0], wanted[k].astype(found[k].numpy().dtype))
