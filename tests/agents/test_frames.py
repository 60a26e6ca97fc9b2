"""Several observations side by side: in training, and wherever an agent that learnt so plays."""

import numpy as np
import pytest
from gymnasium.spaces.utils import flatdim
from support.agent_helpers import agent_for, returns_alone

import rlenvs
from rlenvs.agents.agent import Agent
from rlenvs.agents.architecture import expected_tensors
from rlenvs.agents.evaluate import evaluate
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.agents.hyperparameters.settings import settings_from
from rlenvs.agents.network import Network
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup

CART, SIGNS, PUSH, MINES = "CartPoleNoVelocity-v0", "RepeatPrevious-v0", "PendulumNoVelocity-v0", "Minesweeper-v0"
ADVERSARY = "ParticleAdversary-v0"
FRAMES = 3


def looking_back(id, frames=FRAMES, **keywords):
    """An agent with random weights that sees several frames."""
    agent = agent_for(id, **keywords)
    width = frames * flatdim(Setup(world_of(id)).observation_space)
    first, *others = agent.card.architecture["layers"]
    architecture = {**agent.card.architecture, "frames": frames, "layers": [{**first, "inputs": width}, *others]}
    rng = np.random.default_rng(0)
    tensors = {n: rng.normal(size=shape).astype(dtype) for n, shape, dtype in expected_tensors(architecture)}
    card = type(agent.card)(**{**vars(agent.card), "architecture": architecture})
    return Agent(card, Network(architecture, tensors))


def plain(agent):
    """The network of an agent for frames that lie side by side already."""
    return plain_network(agent.network)


def plain_network(network):
    (part,) = network.architecture["observation"]
    wide = {"name": None, "shape": [network.architecture["layers"][0]["inputs"]]}
    found = {name: value for name, value in network.architecture.items() if name != "frames"}
    return Network({**found, "observation": [{**part, **wide}]}, network.tensors)


def test_the_first_observation_of_an_episode_fills_all_frames():
    agent = looking_back(PUSH)
    seen = np.random.default_rng(1).normal(size=(6, 4, 2)).astype(np.float32)
    starts = np.zeros((6, 4), bool)
    starts[0], starts[3, 1] = True, True
    state = None
    for step in range(6):
        actions, state = agent.predict(seen[step], state, starts[step])
        begun = [max(k for k in range(step + 1) if starts[k, row]) for row in range(4)]
        rows = [
            np.concatenate([seen[max(step - back, begun[row]), row] for back in reversed(range(FRAMES))])
            for row in range(4)
        ]
        np.testing.assert_allclose(actions, plain(agent).act(np.stack(rows))[0], atol=1e-6)
        (before,) = state
        assert before.shape == (FRAMES - 1, 4, 2)


@pytest.mark.parametrize("id", [CART, SIGNS, PUSH])
def test_it_plays_alone_as_it_does_in_a_batch(id, tmp_path):
    agent = load_agent(save_agent(tmp_path / "agent", looking_back(id)))
    together = evaluate(id, agent, seeds=3)
    assert returns_alone(id, agent, seeds=3) == pytest.approx(together.returns, rel=1e-4)
    with pytest.raises(ParameterError, match="has memory"):
        agent(rlenvs.make(id).reset(seed=0)[0])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((np.array([[0, np.nan]]),), "row 0.*number 1 is NaN"),
        ((np.zeros((2, 2)), None, np.zeros((2, 2, 2))), "a state of"),
        ((np.zeros((2, 2)), None, (np.zeros((2, 3, 2)),)), r"needed: one array \(2, 2, 2\)"),
        ((np.zeros((2, 2)), None, None, np.zeros(3)), r"starts of shape \(3,\)"),
    ],
)
def test_bad_arguments(arguments, reason):
    with pytest.raises(ParameterError, match=reason):
        looking_back(PUSH).network.act(*arguments)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"frames": 1}, "at least 2"),
        ({"frames": 2.5}, "a whole number"),
        ({"frames": 3, "memory": {"layers": 1, "units": 4}}, "null, with frames"),
        ({"frames": 3, "kinds": [{"name": "a", "size": 1}, {"name": "b", "size": 2}]}, "left out, with frames"),
        ({"frames": 4}, "has 6 inputs, but the previous layer has 8 outputs"),
    ],
)
def test_an_architecture_that_is_none(changes, reason):
    agent = looking_back(PUSH)
    with pytest.raises(ParameterError, match=reason):
        Network({**agent.card.architecture, **changes}, agent.network.tensors)


# --- training ---------------------------------------------------------------------------------------------------------

SMALL = {"n_steps": 16, "batch_size": 32, "n_epochs": 1}


def settings(algorithm="PPO", hyperparameters=SMALL, **tables):
    network = {"layers": [8], "frames": FRAMES}
    given = {"algorithm": algorithm, "steps": 200, "num_envs": 4, "hyperparameters": hyperparameters}
    return settings_from({**given, "network": network, **tables}, "a test")


def test_slots_show_the_last_observations_and_the_very_last_of_an_episode():
    pytest.importorskip("stable_baselines3")
    from rlenvs.agents.frames import Frames
    from rlenvs.integrations.sb3 import sb3_vec_env

    envs, same = (sb3_vec_env(PUSH, 2, horizon=4) for _ in range(2))
    stacked = Frames(envs, FRAMES)
    for found in (envs, same):
        found.seed(0)
    shown, rows = stacked.reset(), [same.reset()]
    assert np.array_equal(shown, np.tile(rows[0], FRAMES))
    for step in range(1, 7):
        actions = np.full((2, 1), 0.1 * step, np.float32)
        shown, _, dones, infos = stacked.step(actions)
        row, _, _, own = same.step(actions)
        if step == 4:
            assert dones.all()
            last = np.concatenate([rows[2][0], rows[3][0], own[0]["terminal_observation"]])
            assert np.array_equal(infos[0]["terminal_observation"], last)
            rows = [row] * (step + 1)
        else:
            rows.append(row)
        past = [rows[max(step - back, 4 if step >= 4 else 0)] for back in reversed(range(FRAMES))]
        assert np.array_equal(shown, np.concatenate(past, axis=1))


@pytest.mark.parametrize(
    ("id", "given"),
    [
        (PUSH, settings(normalize={"observations": True})),
        (SIGNS, settings(normalize={"observations": True})),  # a number of n stays one-hot
        (MINES, settings("MaskablePPO", normalize={"observations": True})),
        (PUSH, settings("SAC", {"learning_starts": 60, "batch_size": 16}, normalize={"observations": True})),
    ],
)
def test_the_agent_does_what_the_model_does(id, given):
    pytest.importorskip("sb3_contrib")
    from rlenvs.agents.export import agent_from_sb3
    from rlenvs.agents.train import train

    model = train(id, given)
    agent = agent_from_sb3(model, id, keywords={}, settings=given.to_dict(), steps=200, seeds=[0], seconds=1.0)
    envs, batch = model.env, rlenvs.make_batch(id, 4)
    if model.get_vec_normalize_env():
        model.get_vec_normalize_env().training = False
    envs.seed(5)
    shown, state, start = envs.reset(), None, np.ones(4, bool)
    inner = envs.unwrapped.batch
    for _ in range(12):
        seen = inner.get_observations((slice(None), 0)).copy()
        masks = inner.masks[:, 0].copy() if agent.network.masked else None
        expected = model.predict(shown, deterministic=True, **({} if masks is None else {"action_masks": masks}))[0]
        actions, state = agent.predict(seen, state, start, action_masks=masks)
        np.testing.assert_allclose(actions, expected, atol=1e-4)
        shown, _, start, _ = envs.step(expected)
    assert batch.setup.continuous == (agent.network.numbers > 0)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"network": {"frames": 0}}, ["frames=0", "positive integer"]),
        ({"algorithm": "RecurrentPPO", "network": {"frames": 2}}, ["frames", "RecurrentPPO"]),
        ({"network": {"frames": 2, "roles": True}}, ["frames", "roles"]),
        ({"network": {"frames": 2, "convolutions": [4]}}, ["frames", "convolutions"]),
        (
            {
                "algorithm": "SAC",
                "network": {"frames": 2},
                "hindsight": {"goals": 4},
                "environment": {"form": "goal"},
            },
            ["frames", "hindsight"],
        ),
    ],
)
def test_what_does_not_go_together_is_refused(tables, words):
    with pytest.raises(ParameterError) as error:
        settings_from({"algorithm": "PPO", "steps": 10, "num_envs": 2, **tables}, "file.toml")
    assert all(word in str(error.value) for word in words)


def test_rivals_in_a_league_see_as_many_frames():
    """What they choose is what the network chooses for the last observations side by side, across ends of episodes."""
    pytest.importorskip("stable_baselines3")
    from rlenvs.agents.checkpoint import wrappers_of
    from rlenvs.agents.export import network_of
    from rlenvs.agents.league import League
    from rlenvs.agents.train import new_model

    league_of_all = {"scripted": 0.0, "past": 0.0}
    model = new_model(ADVERSARY, settings(num_envs=6, league=league_of_all, environment={"horizon": 7}), 0)
    (league,) = (env for env in wrappers_of(model) if isinstance(env, League))
    batch, agent = league.batch, Network(*network_of(model))
    assert agent.frames == FRAMES
    league.meet(model)
    league.reset()
    taken, step = [], league.venv.step_async
    league.venv.step_async = lambda actions: (taken.append(actions.reshape(6, 3)), step(actions))
    foreign = ~np.isin(np.arange(18), league.slots).reshape(6, 3)
    seen: list[np.ndarray] = []
    for _ in range(20):
        now = batch.get_observations().reshape(18, -1)
        seen = [now] * FRAMES if batch.states["elapsed"][0] == 0 else [*seen[1:], now]
        league.step(np.zeros(league.num_envs, np.int64))
        expected = plain_network(agent).act(np.concatenate(seen, axis=1))[0].reshape(6, 3)
        assert (taken[-1][foreign] == expected[foreign]).all()
    assert len(np.unique(taken)) > 1


def test_observations_in_parts_are_refused():
    pytest.importorskip("stable_baselines3")
    from rlenvs.agents.train import train

    with pytest.raises(ParameterError, match="one array of numbers"):
        train("PandaReach-v0", settings(environment={"form": "goal"}))
