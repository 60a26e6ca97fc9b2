"""The two-player game of an agent and an adversary."""

from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import parallel_api_test
from support.wrapper_helpers import HOVER, QUAD

import rlenvs
from rlenvs.core.check.playing import Player, difference
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError
from rlenvs.wrappers.adversarial_game import AdversarialGame
from rlenvs.wrappers.adversary import ActionAdversary, ForceAdversary, ObservationAdversary, ParameterAdversary
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.robustness import DomainRandomization

GAMES = {
    "perturbation": ObservationAdversary(0.2, coupling=0.05),
    "action_perturbation": ActionAdversary(weight=0.3, coupling=0.4),
    "parameters": ParameterAdversary(QUAD, rate=0.2),
}


@pytest.mark.parametrize("key", GAMES)
@pytest.mark.filterwarnings("ignore:.*reset ignores")
def test_the_game_is_the_wrapper_with_moves_of_a_player(key):
    """What a scripted adversary does, a second player can do, and all numbers are the same."""
    wrapper = GAMES[key]
    alone = wrap(rlenvs.make(HOVER), wrapper)
    game = AdversarialGame(rlenvs.make(HOVER), wrapper)
    parallel_api_test(game, 40)
    for seed in (3, 4):
        seen, info = alone.reset(seed=seed)
        options = {"move": alone.wrappers[-1].move[0].copy()} if key == "perturbation" else None
        observations, infos = game.reset(seed=seed, options=options)
        rng = np.random.default_rng(seed)
        for _ in range(20):
            assert (observations["agent"] == seen).all()
            assert not difference(infos["agent"], info)
            own = alone.wrappers[-1]
            truth = info.get("true_obs", seen)
            expected = np.concatenate([truth, own.perturbation[0]]).astype(np.float32)
            assert (observations["adversary"] == expected).all()
            action = rng.uniform(-1.0, 1.0, 4).astype(np.float32)
            seen, reward, terminated, truncated, info = alone.step(action)
            move = own.move[0].copy()
            observations, rewards, ends, _, infos = game.step({"agent": action, "adversary": move})
            assert rewards == {"agent": reward, "adversary": -reward}
            assert ends == {"agent": terminated, "adversary": terminated}
            if terminated or truncated:
                assert not game.agents
                break


def test_the_game_with_force_and_other_packages(mujoco):
    game = AdversarialGame(rlenvs.make("HalfCheetah-v0"), ForceAdversary())
    game.reset(seed=0)
    zeros = {agent: np.zeros(game.action_space(agent).shape, np.float32) for agent in game.agents}
    *_, infos = game.step({**zeros, "adversary": np.full(6, 0.5, np.float32)})
    assert (infos["agent"]["force"] == 1.5).all()
    assert (infos["adversary"]["perturbation"] == 1.5).all()
    pendulum = AdversarialGame(gymnasium.make("Pendulum-v1"), ActionAdversary(eps=0.5))
    observations, _ = pendulum.reset(seed=1)
    assert all(pendulum.observation_space(agent).contains(observations[agent]) for agent in pendulum.agents)


def test_the_first_observation_of_a_game():
    game = AdversarialGame(rlenvs.make(HOVER), ObservationAdversary(0.2))
    observations, infos = game.reset(seed=0)
    assert (observations["agent"] == infos["agent"]["true_obs"]).all()
    observations, infos = game.reset(seed=0, options={"move": np.full(15, 0.5)})
    assert (infos["adversary"]["perturbation"] == 0.1).all()
    assert (observations["agent"] != infos["agent"]["true_obs"]).all()


def test_snapshots_and_copies_of_a_game():
    game = AdversarialGame(rlenvs.make(HOVER), ObservationAdversary(0.2, coupling=0.05))
    player = Player(game, 3)
    player.play(4)
    other, state = pickle.loads(pickle.dumps(player)), game.get_state()
    record = player.play(5)
    assert not difference(record, other.play(5))
    zeros = {agent: np.zeros(game.action_space(agent).shape, np.float32) for agent in game.agents}
    steps = []
    for _ in range(2):
        game.set_state(state)
        steps.append(game.step(zeros))
    assert not difference(*steps)


def test_what_a_game_refuses():
    game = AdversarialGame(rlenvs.make(HOVER), ObservationAdversary(0.2))
    zeros = {agent: np.zeros(game.action_space(agent).shape) for agent in game.possible_agents}
    with pytest.raises(EpisodeOverError, match="call reset"):
        game.step(zeros)
    game.reset(seed=0)
    with pytest.raises(ActionError, match="both players"):
        game.step({"agent": zeros["agent"]})
    for move in (np.zeros(3), np.full(15, np.nan)):
        with pytest.raises(ActionError, match="finite numbers"):
            game.step({**zeros, "adversary": move})
    with pytest.raises(TypeError, match=r"gymnasium\.Env"):
        AdversarialGame(rlenvs.make_vec(HOVER, 2), ObservationAdversary(0.2))
    with pytest.raises(TypeError, match="adversary such as"):
        AdversarialGame(rlenvs.make(HOVER), DomainRandomization(QUAD))
    with pytest.raises(ParameterError, match="one reward"):
        AdversarialGame(gymnasium.make("rlenvs/mo-QuadHover-v0"), ObservationAdversary(0.2))
