"""Learners, saved agents, wrappers and adapters on worlds of images alone and of several choices at once."""

import gymnasium
import numpy as np
import pytest
from toys.spaces import CATCH, LIGHTS, MEET, PORTER, PORTERS, WALK

import rlenvs
from rlenvs.core.catalogue.registry import catalogue
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.core.forms.vector_env import VectorEnv
from rlenvs.wrappers import (
    ActionRepeat,
    ActionSequence,
    Actuator,
    CameraNoise,
    EmergencyOverride,
    JumpStart,
    NormalizeRewards,
    wrap,
)

pytest.importorskip("stable_baselines3")

from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import VecFrameStack
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from rlenvs.agents.evaluate import evaluate
from rlenvs.agents.export import agent_from_sb3, network_of
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.agents.network import Network
from rlenvs.agents.plain import agent_from_torch
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.integrations.sb3 import SB3VecEnv

SMALL = {"n_steps": 8, "batch_size": 16, "n_epochs": 1, "device": "cpu", "seed": 0}
MADE = {"settings": {}, "steps": 64, "seeds": [0], "seconds": 1.0, "keywords": {}}


@pytest.fixture(autouse=True)
def registered():
    before = dict(catalogue), dict(gymnasium.registry)
    for world in (CATCH, PORTER, PORTERS, LIGHTS, MEET, WALK):
        rlenvs.register(world.name, world)
    yield
    for table, saved in zip((catalogue, gymnasium.registry), before, strict=True):
        table.clear()
        table.update(saved)


def rows(world, count=4, **keywords) -> VecEnv:
    return SB3VecEnv(world, count, backend="python", **keywords)


# --- learners ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", [CATCH, MEET], ids=lambda world: world.name)
def test_ppo_learns_from_images(world):
    model = PPO("CnnPolicy", rows(world, horizon=6), **SMALL).learn(64)
    assert model.policy.features_extractor.cnn is not None
    with pytest.raises(ParameterError, match="an image with convolutions"):
        network_of(model)


def test_frames_are_stacked():
    stacked = VecFrameStack(rows(CATCH, horizon=6), 3)
    assert stacked.observation_space.shape == (36, 36, 3)
    PPO("CnnPolicy", stacked, **SMALL).learn(64)


@pytest.mark.parametrize("world", [PORTER, PORTERS], ids=lambda world: world.name)
def test_maskable_ppo_keeps_to_the_masks(world):
    contrib = pytest.importorskip("sb3_contrib")
    venv = rows(world, illegal="error")
    model = contrib.MaskablePPO("MlpPolicy", venv, **SMALL).learn(128)
    seen = venv.reset()
    for _ in range(20):
        masks = venv.action_masks()
        assert masks.shape == (venv.num_envs, 6)
        seen, *_ = venv.step(model.predict(seen, action_masks=masks)[0])


def test_dqn_learns_from_whole_numbers_and_flat_actions():
    DQN("MlpPolicy", rows(WALK), learning_starts=8, device="cpu").learn(40)
    DQN("MlpPolicy", rows(PORTER, flat_actions=True), learning_starts=8, device="cpu").learn(40)


# --- saved agents -----------------------------------------------------------------------------------------------------


def same_actions(model, agent, venv, masked=False):
    seen = venv.reset()
    for _ in range(20):
        masks = {"action_masks": venv.action_masks()} if masked else {}
        wanted, found = model.predict(seen, deterministic=True, **masks)[0], agent.predict(seen, **masks)[0]
        assert np.array_equal(wanted, found)
        seen, *_ = venv.step(np.array([venv.action_space.sample() for _ in range(venv.num_envs)]))


@pytest.mark.parametrize("world", [PORTER, LIGHTS], ids=lambda world: world.name)
@pytest.mark.parametrize("masked", [False, True])
def test_agents_of_several_choices_do_what_their_models_do(world, masked, tmp_path):
    contrib = pytest.importorskip("sb3_contrib")
    venv = rows(world)
    model = (contrib.MaskablePPO if masked else PPO)("MlpPolicy", venv, **SMALL).learn(64)
    agent = agent_from_sb3(model, world.name, **MADE)
    agent = load_agent(save_agent(tmp_path / "agent", agent))
    assert agent.network.counts == ((3, 3) if world is PORTER else (2,) * 6)
    if world is PORTER or not masked:
        same_actions(model, agent, venv, masked)
    action, _ = agent.act(Env(world, backend="python").reset(seed=0)[0])
    assert action.shape == (len(agent.network.counts),)
    assert np.isfinite(evaluate(world.name, agent, 3, backend="python").returns).all()
    with pytest.raises(ParameterError, match="trained for actions of"):
        agent.check(rlenvs.core.declare.setup.Setup(world, flat_actions=True))


def test_agents_that_look_at_images(tmp_path):
    from rlenvs.agents.boards import BoardFeatures

    torch = pytest.importorskip("torch")
    venv = rows(CATCH)
    extractor = {
        "features_extractor_class": BoardFeatures,
        "features_extractor_kwargs": {"channels": [4, 4], "activation": torch.nn.ReLU},
    }
    model = PPO("CnnPolicy", venv, policy_kwargs=extractor, **SMALL).learn(64)
    agent = load_agent(save_agent(tmp_path / "agent", agent_from_sb3(model, CATCH.name, **MADE)))
    same_actions(model, agent, venv)
    assert len(evaluate(CATCH.name, agent, 3, backend="python").returns) == 3


def test_agents_see_whole_numbers_as_stable_baselines3_does(tmp_path):
    venv = rows(WALK)
    model = PPO("MlpPolicy", venv, **SMALL).learn(64)
    agent = load_agent(save_agent(tmp_path / "agent", agent_from_sb3(model, WALK.name, **MADE)))
    assert agent.network.forms == {None: 7}
    same_actions(model, agent, venv)
    assert len(evaluate(WALK.name, agent, 3, backend="python").returns) == 3


def test_what_cannot_become_an_agent_is_said():
    torch = pytest.importorskip("torch")
    wrappers = [torch.nn.Linear(3, 6)]
    common = {"algorithm": "own", **MADE}
    assert agent_from_torch(wrappers, PORTER.name, **common).network.counts == (3, 3)
    with pytest.raises(ParameterError, match="requires vectors"):
        agent_from_torch(wrappers, CATCH.name, **common)


def test_networks_check_their_counts():
    part = {"name": None, "shape": [2], "normalised": False, "image": False}
    architecture = {
        "observation": [part],
        "normalisation": None,
        "convolutions": None,
        "memory": None,
        "layers": [{"inputs": 2, "units": 5, "activation": "identity"}],
        "action": {"kind": "choices", "counts": [2, 3], "masked": True},
    }
    weights = {"layers.0.weight": np.ones((5, 2), np.float32), "layers.0.bias": np.arange(5, dtype=np.float32)}
    network = Network(architecture, weights)
    assert network.act(np.zeros((1, 2)))[0].tolist() == [[1, 2]]
    assert network.act(np.zeros((1, 2)), masks=np.array([[1, 0, 1, 1, 0]]))[0].tolist() == [[0, 1]]
    architecture["action"] = {"kind": "choices", "counts": [2, 2], "masked": True}
    with pytest.raises(ParameterError):
        Network(architecture, weights)


@pytest.mark.parametrize("world", [PORTER, PORTERS, LIGHTS], ids=lambda world: world.name)
def test_imitation_of_several_choices(world):
    from rlenvs.agents.imitate import dagger_class

    masked = "mask" in world.kernels
    if masked:
        pytest.importorskip("sb3_contrib")
    model = dagger_class(masked)("MlpPolicy", rows(world), rounds=2, device="cpu", seed=0).learn(64)
    assert len(model.answers)


# --- policies and players ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["random", "idle", "expert"])
@pytest.mark.parametrize("world", [CATCH, MEET, PORTER, PORTERS, LIGHTS, WALK], ids=lambda world: world.name)
def test_policies_are_evaluated(world, policy):
    found = evaluate(world.name, policy, 3, backend="python")
    assert np.isfinite(found.returns).all()


def test_experts_bring_their_parcels():
    assert evaluate(PORTER.name, "expert", 5, backend="python").success_rate == 1.0
    assert evaluate(PORTERS.name, "expert", 5, backend="python").success_rate == 1.0
    assert evaluate(PORTER.name, "expert", 5, backend="python", flat_actions=True).success_rate == 1.0


# --- wrappers ---------------------------------------------------------------------------------------------------------


def test_wrappers_on_images():
    noisy = wrap(VectorEnv(CATCH, 3, backend="python"), CameraNoise(noise=5.0))
    clear = VectorEnv(CATCH, 3, backend="python")
    seen, infos = noisy.reset(seed=0)
    true, _ = clear.reset(seed=0)
    assert seen.dtype == np.uint8
    assert not np.array_equal(seen, true)
    assert np.array_equal(infos["true_obs"], true)


def test_wrappers_pass_several_choices_on():
    plain, wrapped = (VectorEnv(PORTER, 3, backend="python") for _ in range(2))
    wrapped = wrap(wrapped, NormalizeRewards())
    assert wrapped.single_action_space == plain.single_action_space
    plain.reset(seed=0)
    wrapped.reset(seed=0)
    plain.action_space.seed(0)
    for _ in range(8):
        actions = plain.action_space.sample()
        assert np.array_equal(plain.step(actions)[0], wrapped.step(actions)[0])
    with pytest.raises(ActionError, match="environment 1: action"):
        wrapped.step(np.array([[0, 0], [3, 0], [0, 0]]))


def test_wrappers_refuse_several_choices_that_they_cannot_take():
    for form in (Env(PORTER, backend="python"), ParallelEnv(PORTERS, backend="python")):
        with pytest.raises(ParameterError, match="MultiDiscrete"):
            wrap(form, ActionSequence(2))
        with pytest.raises(ParameterError, match="needed: Box or Discrete"):
            wrap(form, Actuator(delay=1))


@pytest.mark.parametrize(
    "form",
    [
        lambda: VectorEnv(PORTER, 3, backend="python"),
        lambda: Env(PORTER, backend="python"),
        lambda: ParallelEnv(PORTERS, backend="python"),
        lambda: VectorEnv(CATCH, 3, backend="python"),
        lambda: VectorEnv(WALK, 3, backend="python"),
    ],
    ids=["vector", "single", "parallel", "images", "whole numbers"],
)
def test_worlds_with_wrappers_keep_the_rules(form):
    rlenvs.check_env(wrap(form(), ActionRepeat(2)), only={1, 2, 3, 4, 7, 8, 9, 10, 18}).raise_on_failure()


def test_guides_and_guards_act_by_several_choices():
    for fallback, wanted in (("idle", [1, 0]), ("expert", None)):
        env = wrap(Env(PORTER, backend="python"), EmergencyOverride(unsafe=always, fallback=fallback, times=1))
        env.reset(seed=0)
        wanted = wanted or env.unwrapped.expert_action().tolist()
        assert env.step(np.array([0, 2]))[-1]["action"].tolist() == wanted
    guided = wrap(VectorEnv(PORTER, 3, backend="python"), JumpStart(steps=2, guide="expert", random=False))
    guided.reset(seed=0)
    assert (guided.batch.states["elapsed"] == 2).all()


def always(stage, actions, rows):
    return np.ones(len(rows), bool)
