"""Worlds with turns: what is learned from are decisions, not the steps of agents that wait."""

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from rlenvs.agents import decisions
from rlenvs.agents.decisions import Decisions, first_choices
from rlenvs.agents.hyperparameters.settings import settings_from
from rlenvs.agents.train import learn, new_model
from rlenvs.core.declare.errors import ParameterError

STEPS, SLOTS, CHOICES = 40, 7, 3
OWN = type("Own", (Decisions, MaskableRolloutBuffer), {})
SEEN, CHOSEN = spaces.Box(-1e6, 1e6, (1,), np.float32), spaces.Discrete(CHOICES)
SMALL = {"n_steps": 8, "batch_size": 16, "n_epochs": 1}


def played(seed=0):
    """A rollout: rewards, starts of episodes, values, whether there was a choice; a row per step. The last one is cut
    off, and says only which episodes have ended."""
    rng = np.random.default_rng(seed)
    rewards, values = rng.normal(size=(2, STEPS, SLOTS))
    starts = rng.random((STEPS + 1, SLOTS)) < 0.15
    return rewards, starts, values, rng.random((STEPS, SLOTS)) < 0.4


def filled(kind, rewards, starts, values, chosen):
    """A buffer with a rollout; the number of an observation tells its step and its slot."""
    steps, slots = rewards.shape
    buffer = kind(steps, SEEN, CHOSEN, "cpu", gae_lambda=0.9, gamma=0.8, n_envs=slots)
    for step in range(steps):
        masks = np.where(chosen[step][:, None], 1, np.arange(CHOICES) == 0)
        seen = (1000 * step + np.arange(slots))[:, None]
        numbers = torch.tensor(values[step])
        buffer.add(seen, np.zeros(slots), rewards[step], starts[step], numbers, torch.zeros(slots), action_masks=masks)
    return buffer


def expected(rewards, starts, values, chosen, slot):
    """By observation the advantage of each decision of a slot: GAE by sb3-contrib's own buffer on its decisions alone,
    each with the rewards up to the next one. Where an episode goes on, the last one is only the value that follows."""
    decisions, found = np.flatnonzero(chosen[:, slot]), {}
    episodes = np.cumsum(starts[:, slot])
    for episode in np.unique(episodes[:STEPS]):
        own = [step for step in decisions if episodes[step] == episode]
        last = np.flatnonzero(episodes[:STEPS] == episode)[-1]
        over = bool(starts[last + 1, slot])
        ends = [*own[1:], last + 1] if over else own[1:]
        rows = [rewards[a:b, slot].sum() for a, b in zip(own, ends, strict=False)]
        if rows:
            column = np.array(rows)[:, None]
            first = (np.arange(len(rows)) == 0)[:, None]
            taken = values[own[: len(rows)], slot][:, None]
            buffer = filled(MaskableRolloutBuffer, column, first, taken, np.ones_like(first))
            follows = 0.0 if over else values[own[len(rows)], slot]
            buffer.compute_returns_and_advantage(torch.tensor([follows]), np.array([over]))
            found.update({1000 * own[j] + slot: buffer.advantages[j, 0] for j in range(len(rows))})
    return found


@pytest.mark.parametrize("seed", range(3))
def test_an_agents_decisions_are_an_episode_of_their_own(seed):
    rollout = played(seed)
    buffer = filled(OWN, rollout[0], rollout[1][:-1], *rollout[2:])
    buffer.compute_returns_and_advantage(torch.full((SLOTS,), 1e6), rollout[1][-1])
    wanted = {key: value for slot in range(SLOTS) for key, value in expected(*rollout, slot).items()}
    seen = buffer.observations[:, 0, 0].astype(int)
    assert sorted(seen) == sorted(wanted)
    np.testing.assert_allclose(buffer.advantages[:, 0], [wanted[key] for key in seen], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(buffer.returns, buffer.advantages + buffer.values)


def test_minibatches_are_of_about_one_size_and_hold_each_decision_once():
    rollout = played()
    buffer = filled(OWN, rollout[0], rollout[1][:-1], *rollout[2:])
    buffer.compute_returns_and_advantage(torch.zeros(SLOTS), rollout[1][-1])
    count = len(buffer.observations)
    parts = [part.observations.numpy()[:, 0] for part in buffer.get(count // 2 - 3)]
    assert [len(part) for part in parts] == [count - count // 2, count // 2]
    assert len(np.unique(np.concatenate(parts))) == count
    buffer.reset()
    assert buffer.observations.shape == (STEPS, SLOTS, 1), "the next rollout has room for all steps"


def settings_of(**changes):
    table = {"algorithm": "MaskablePPO", "steps": 256, "num_envs": 8, "hyperparameters": SMALL, **changes}
    return settings_from(table, "these settings")


@pytest.mark.parametrize(
    ("id", "changes", "most"),
    [
        ("Hanabi-v0", {"environment": {"players": 5}}, 8 * 8),  # one of five slots decides
        (
            "ConnectFour-v0",
            {"league": {"scripted": 0.5, "past": 0.0}},
            8 * 8 / 2,
        ),  # the slot of the learner, or a rival
    ],
)
@pytest.mark.budget(15)
def test_training_skips_waiting_agents(id, changes, most):
    settings = settings_of(**changes)
    model = new_model(id, settings, 0)
    learn(model, id, settings.steps)
    buffer = model.rollout_buffer
    assert (buffer.action_masks.sum(axis=-1) > 1).all()
    assert 8 * 2 <= len(buffer.observations) <= most, "the last ones of a world are not known yet"
    assert model.num_timesteps >= settings.steps, "steps are those of all agents"


def learnt(id="Hanabi-v0", hyperparameters=None, **changes):
    """A model whose policy is still that of its rollouts: the step of its learning is too small to change it."""
    settings = settings_of(hyperparameters={**SMALL, "learning_rate": 1e-30, **(hyperparameters or {})}, **changes)
    model = new_model(id, settings, 0)
    model.policy.forward = seen = Seen(model.policy.forward)
    learn(model, id, settings.steps)
    return model, seen


class Seen:
    """A network's rollouts, and how many rows it sees in each step."""

    def __init__(self, forward):
        self.forward, self.rows = forward, []

    def __call__(self, observations, **keywords):
        self.rows.append(len(observations))
        return self.forward(observations, **keywords)


@pytest.mark.budget(15)
@pytest.mark.parametrize("changes", [{}, {"algorithm": "MAPPO"}])
def test_networks_see_the_agents_that_decide(changes):
    model, seen = learnt(environment={"players": 3}, **changes)
    assert set(seen.rows) == {8}, "one of three agents in each of eight worlds"
    batch = next(model.rollout_buffer.get(None))
    masks = batch.action_masks
    chosen = batch.actions.long().flatten()
    with torch.no_grad():
        values, log_probs, _ = model.policy.evaluate_actions(batch.observations, chosen, action_masks=masks)
    assert masks[torch.arange(len(chosen)), chosen].all()
    np.testing.assert_allclose(batch.old_values, values[:, 0], atol=1e-5)
    np.testing.assert_allclose(batch.old_log_prob, log_probs, atol=1e-5)


@pytest.mark.budget(15)
def test_episodes_that_are_cut_off_are_worth_what_follows(monkeypatch):
    monkeypatch.setattr(decisions, "_value", lambda model, observation: 1000.0)
    model, _ = learnt(environment={"horizon": 5, "lives": 10}, hyperparameters={"gamma": 0.5})
    rewards = model.rollout_buffer.rewards
    cut = rewards > 400
    assert cut.sum() == 2 * 2 * 8, "twice in the second rollout of eight steps, both agents of eight worlds"
    assert (rewards[cut] >= 499).all()
    assert (rewards[cut] <= 501).all(), "half of the value, and the reward of a move"


def test_agents_that_wait_take_the_only_choice():
    masks = np.array([[0, 0, 1, 0, 1], [1, 0, 0, 1, 0]], np.bool_)
    assert first_choices(masks, spaces.Discrete(5)).tolist() == [2, 0]
    assert first_choices(masks, spaces.MultiDiscrete([3, 2])).tolist() == [[2, 1], [0, 0]]
    assert first_choices(masks[:, 1:], spaces.MultiBinary(2)).tolist() == [[1, 1], [0, 0]]


def test_other_worlds_and_algorithms_keep_their_buffer():
    for id, changes in (("SameGame-v0", {}), ("Hanabi-v0", {"algorithm": "PPO"})):
        model = new_model(id, settings_of(**changes), 0)
        assert not isinstance(model.rollout_buffer, Decisions), id


def test_rollouts_have_more_steps_than_agents():
    with pytest.raises(ParameterError, match="n_steps=2 is too small: 2 agents take turns in Hanabi-v0"):
        new_model("Hanabi-v0", settings_of(hyperparameters={**SMALL, "n_steps": 2}), 0)
