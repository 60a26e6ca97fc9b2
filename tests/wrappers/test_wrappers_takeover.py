"""Agents whose actions another policy takes over."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

import rlenvs
from rlenvs.core.check.playing import Player, difference
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.robustness import AdversarialAgents

SPREAD = "ParticleSpread-v0"


def play_parallel(id, wrapper, steps, seed=0, action=None, **keywords):
    env = wrap(rlenvs.parallel_env(id, **keywords), wrapper)
    env.reset(seed=seed)
    batch, slots = env.unwrapped.batch, []
    for _ in range(steps):
        actions = (
            {agent: 1 + 0 * env.action_space(agent).sample() for agent in env.agents} if action is None else action
        )
        _, rewards, *_, infos = env.step(actions)
        slots.append((batch.actions[0].copy(), rewards, infos))
        if not env.agents:
            break
    return slots


@pytest.mark.parametrize(
    ("id", "player"), [(SPREAD, "random"), (SPREAD, "idle"), (SPREAD, "worst"), (SPREAD, "assigned")]
)
@pytest.mark.filterwarnings("ignore:.*reset ignores")
def test_the_others_play_on(id, player):
    env = wrap(rlenvs.parallel_env(id), AdversarialAgents(1, player))
    parallel_api_test(env, 30)
    assert not difference(Player(env, 3).play(8), Player(pickle.loads(pickle.dumps(env)), 3).play(8))
    for actions, _, infos in play_parallel(id, AdversarialAgents(1, player), 8):
        taken = [info["taken_over"] for info in infos.values()]
        assert sum(taken) == 1
        for k, info in enumerate(infos.values()):
            assert info["raw_action"] == 1
            assert actions[k, 0] == info["action"]
            if not taken[k]:
                assert actions[k, 0] == 1
            elif player == "idle":
                assert actions[k, 0] == 0


def test_who_is_taken_over_changes_by_episode():
    env, counts = wrap(rlenvs.parallel_env(SPREAD), AdversarialAgents(2, "idle")), np.zeros(3)
    for seed in range(400):
        _, infos = env.reset(seed=seed if seed < 200 else None)
        taken = [info["taken_over"] for info in infos.values()]
        assert sum(taken) == 2
        counts += taken
    np.testing.assert_allclose(counts / 400, 2.0 / 3.0, atol=0.08)


def test_random_choices_are_uniform_over_the_allowed_ones():
    counts = np.zeros(5)
    for actions, _, _ in play_parallel(SPREAD, AdversarialAgents(["agent_1"], "random"), 600, horizon=1000):
        counts[actions[1, 0]] += 1
    np.testing.assert_allclose(counts / counts.sum(), 0.2, atol=0.05)
    env = wrap(rlenvs.parallel_env("PathFinding-v0"), AdversarialAgents(1, "random"))
    observations, infos = env.reset(seed=0)
    for _ in range(40):
        allowed = {agent: seen["action_mask"] for agent, seen in observations.items()}
        observations, *_, infos = env.step(dict.fromkeys(env.agents, 0))
        assert all(allowed[agent][info["action"]] for agent, info in infos.items() if info["taken_over"])
        if not env.agents:
            break


def test_numbers_are_uniform_over_the_action_space():
    wrapper, drawn = AdversarialAgents(["agent_0"], "random"), []
    for seed in range(20):
        slots = play_parallel("QuadMultiHover-v0", wrapper, 60, seed=seed)
        drawn += [actions[0] for actions, _, infos in slots if "agent_0" in infos]
    assert len(drawn) > 200
    np.testing.assert_allclose(np.mean(drawn, axis=0), 0.0, atol=3.5 / np.sqrt(3.0 * len(drawn)))
    assert np.std(drawn) == pytest.approx(1.0 / np.sqrt(3.0), rel=0.05)
    assert np.abs(drawn).max() <= 1.0


def test_nobody_taken_over_is_the_identity():
    plain, wrapped = rlenvs.parallel_env(SPREAD), wrap(rlenvs.parallel_env(SPREAD), AdversarialAgents(0))
    for one, other in zip(Player(plain, 2).play(12), Player(wrapped, 2).play(12), strict=True):
        assert not difference(list(one[:-1]), list(other[:-1]))


def test_the_worst_is_worse_than_chance():
    returns = {}
    for player in ("worst", "random"):
        returns[player] = np.mean(
            [
                sum(
                    rewards[agent] for _, rewards, infos in slots for agent in rewards if not infos[agent]["taken_over"]
                )
                for slots in (play_parallel(SPREAD, AdversarialAgents(1, player), 25, seed=seed) for seed in range(6))
            ]
        )
    assert returns["worst"] < returns["random"]


@pytest.mark.parametrize("lookahead", [3, 6])
def test_the_worst_action_is_the_worst_of_all(lookahead):
    """Each choice of the agent taken over, repeated in copies of the environment: none pays the others less."""
    env, different = wrap(rlenvs.parallel_env(SPREAD), AdversarialAgents(["agent_2"], "worst", lookahead=lookahead)), 0
    env.reset(seed=1)
    for _ in range(10):
        paid = []
        for choice in range(5):
            bare, total = copy.deepcopy(env.unwrapped), 0.0
            for _ in range(lookahead):
                _, rewards, *_ = bare.step({"agent_0": 1, "agent_1": 2, "agent_2": choice})
                total += rewards["agent_0"] + rewards["agent_1"]
            paid.append(total)
        *_, infos = env.step({"agent_0": 1, "agent_1": 2, "agent_2": 4})
        assert paid[infos["agent_2"]["action"]] == min(paid)
        different += len(set(paid)) > 1
    assert different > 2


def third(observation):
    return np.full(len(observation), 3)


def test_functions_play_and_bad_ones_are_told():
    slots = play_parallel(SPREAD, AdversarialAgents(2, "test_wrappers_takeover:third"), 3)
    for actions, _, infos in slots:
        assert [actions[k, 0] == 3 for k in range(3)] == [info["taken_over"] for info in infos.values()]
    with pytest.raises(ActionError, match="the agents taken over"):
        play_parallel(SPREAD, AdversarialAgents(2, lambda seen: np.zeros(5)), 1)
    for wrapper, message in (
        (AdversarialAgents(4), "adversaries=4"),
        (AdversarialAgents(["agent_7"]), "agent_7"),
        (AdversarialAgents(1, "expert!"), "player"),
        (AdversarialAgents(1, "random", candidates=1), "candidates"),
        (AdversarialAgents(1, "worst", lookahead=0), "lookahead"),
    ):
        with pytest.raises(ParameterError, match=message):
            wrap(rlenvs.parallel_env(SPREAD), wrapper)
