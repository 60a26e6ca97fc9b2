"""One network for several kinds of agents: which kind a row is of, in training and wherever an agent plays."""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.agent_helpers import SPEAKER, agent_for, edit, pair, refused

import rlenvs
from rlenvs.agents.architecture import check_architecture
from rlenvs.agents.evaluate import chooser
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.agents.kinds import in_blocks, kind_of, kinds_in, names_in
from rlenvs.agents.network import Network
from rlenvs.agents.rollouts import agent_player, rollouts
from rlenvs.agents.video import video
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.wrappers.guides import JumpStart
from rlenvs.wrappers.robustness import AdversarialAgents

TAG, TALK, CRYPTO, ADVERSARY = "ParticleTag-v0", "ParticleWorldComm-v0", "ParticleCrypto-v0", "ParticleAdversary-v0"
KINDS = {
    TAG: {"adversary": 16, "agent": 14},
    ADVERSARY: {"adversary": 8, "agent": 10},
    "ParticlePush-v0": {"adversary": 8, "agent": 19},
    CRYPTO: {"eve": 4, "bob": 8, "alice": 8},
    TALK: {"leadadversary": 34, "adversary": 34, "agent": 28},
    SPEAKER: {"speaker": 3, "listener": 11},
}


def rows_of(id, worlds=5, seed=0, **keywords):
    """Observations (worlds, agents, size) and masks of all agents, some steps into an episode."""
    batch = rlenvs.make_batch(id, worlds, **keywords)
    batch.seed(range(seed, seed + worlds))
    batch.reset()
    for _ in range(3):
        batch.step(np.broadcast_to(batch.setup.idle, batch.actions.shape))
    return batch.get_observations(), batch.masks.copy(), names_in(batch.setup)


def expected(agent, rows, masks, names):
    """What the network of an agent gives for these rows, each asked for by itself."""
    kinds = agent.network.kinds_of(names)
    chosen = [
        agent.network.act(rows[:, k], masks[:, k] if agent.network.masked else None, kinds=np.full(len(rows), kinds[k]))
        for k in range(len(names))
    ]
    return np.stack([actions for actions, _ in chosen], axis=1)


# --- kinds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", KINDS)
def test_kinds_are_what_names_share_in_front_of_their_numbers(id):
    assert {kind["name"]: kind["size"] for kind in kinds_in(Setup(world_of(id)))} == KINDS[id]


@pytest.mark.parametrize(
    ("name", "kind"), [("adversary_12", "adversary"), ("eve", "eve"), ("red1", "red"), ("a_1_b_2", "a_1_b"), ("7", "7")]
)
def test_the_kind_of_a_name(name, kind):
    assert kind_of(name) == kind


def test_a_row_lies_in_the_block_of_its_kind():
    found = in_blocks(np.array([[1.0, 2.0], [3.0, 0.0]], np.float32), np.array([1, 0]), 3)
    assert found.tolist() == [[0, 0, 0, 1, 2, 1, 0, 0, 0], [3, 0, 1, 0, 0, 0, 0, 0, 0]]
    assert found.dtype == np.float32


# --- acting -----------------------------------------------------------------------------------------------------------


def test_in_a_batch_the_kind_follows_from_the_place():
    for id, masked in ((TAG, False), (TALK, True), (CRYPTO, False)):
        agent, (rows, masks, names) = agent_for(id, masked=masked, roles=True), rows_of(id)
        options = {"action_masks": masks} if masked else {}
        wanted = expected(agent, rows, masks, names)
        assert np.array_equal(agent.predict(rows, **options)[0], wanted)
        assert np.array_equal(agent.predict(rows, agent=names, **options)[0], wanted)
        options = {"action_masks": masks[2]} if masked else {}
        assert np.array_equal(agent.predict(rows[2], **options)[0], wanted[2])
        for k, name in enumerate(names):
            options = {"action_masks": masks[:, k]} if masked else {}
            assert np.array_equal(agent.predict(rows[:, k], agent=name, **options)[0], wanted[:, k])
            assert agent.act(rows[1, k], masks[1, k] if masked else None, agent=name)[0] == wanted[1, k]


def test_kinds_make_a_difference():
    agent, (rows, _, _) = agent_for(TAG, roles=True), rows_of(TAG, 50)
    hunters, prey = (agent.predict(rows[:, 0], agent=name)[0] for name in ("adversary_0", "agent_0"))
    assert (hunters != prey).any()


def test_one_row_without_a_name_is_of_the_kind_that_sees_so_much():
    agent, (rows, _, names) = agent_for(TAG, roles=True), rows_of(TAG)
    for k, name in enumerate(names):
        own = rows[1, k, : KINDS[TAG][kind_of(name)]]
        assert agent.act(own)[0] == agent.act(own, agent=name)[0] == agent.predict(rows)[0][1, k]
    several = rows[:, 3, :14]  # shorter than rows that are padded
    assert agent.predict(several)[0].tolist() == agent.predict(rows)[0][:, 3].tolist()
    env = rlenvs.parallel_env(TAG)
    total, (seen, _) = 0.0, env.reset(seed=1)
    while env.agents:
        seen, rewards, *_ = env.step({name: agent.act(row)[0] for name, row in seen.items()})
        total += sum(rewards.values())
    assert total == pytest.approx(rlenvs.evaluate(TAG, agent, seeds=[1]).returns[0], rel=1e-4)


def test_where_it_does_not_follow_a_name_is_asked_for():
    talk, tag = agent_for(TALK, roles=True), agent_for(TAG, roles=True)
    for agent, row, words in (
        (talk, np.zeros(34), ["34 numbers", "leadadversary", "pass agent=", "agent='leadadversary_0'"]),
        (agent_for(CRYPTO, roles=True), np.zeros(8), ["8 numbers", "bob", "alice", "pass agent="]),
        (tag, np.zeros(15), ["15 numbers", "adversary (16 numbers), agent (14 numbers)"]),
        (tag, np.zeros((3, 16)), ["(3,)", "16 numbers", "pass agent="]),
        (tag, np.zeros((4, 2, 16)), ["(4, 2)", "pass agent="]),
    ):
        with pytest.raises(ParameterError) as error:
            agent.predict(row)
        assert all(word in str(error.value) for word in words), error.value
    for name, row, words in (
        ("hunter_0", np.zeros(16), ["agent='hunter_0'", "adversary (16 numbers)", "'adversary_0'"]),
        (3, np.zeros(16), ["agent=3", "'adversary_0'"]),
        ("agent_0", np.zeros(15), ["15 numbers", "agent_0", "14, or 16 padded with zeros"]),
        ("adversary_0", np.zeros(14), ["14 numbers", "adversary_0", "needed: 16"]),
        (["adversary_0", "agent_0"], np.zeros((5, 3, 16)), ["2 agents", "(5, 3)"]),
    ):
        with pytest.raises(ParameterError) as error:
            tag.predict(row, agent=name)
        assert all(word in str(error.value) for word in words), error.value
    with pytest.raises(ParameterError, match="one array"):
        tag.predict({"state": np.zeros(16)})
    with pytest.raises(ParameterError, match="number 3 is NaN"):
        tag.act(np.where(np.arange(14) == 3, np.nan, 0.0))
    with pytest.raises(ParameterError, match="kinds is None; needed: 4 whole numbers below 2"):
        tag.network.act(np.zeros((4, 16)))


def test_agents_without_kinds_take_no_notice_of_names():
    agent, (rows, _, names) = agent_for(TAG), rows_of(TAG)
    plain = agent.network.act(rows.reshape(-1, 16))[0].reshape(rows.shape[:2])
    for given in (None, names, "anyone"):
        assert np.array_equal(agent.predict(rows, agent=given)[0], plain)


@pytest.mark.parametrize(
    ("id", "keywords"),
    [(TALK, {"adversaries": 2, "good": 3}), (TAG, {"adversaries": 1, "good": 2}), (TAG, {"prey": "scripted"})],
)
def test_worlds_with_other_agents_are_played_as_far_as_their_rows_fit(id, keywords):
    agent, (rows, masks, names) = agent_for(id, roles=True), rows_of(id, **keywords)
    batch = rlenvs.make_batch(id, 5, **keywords)
    batch.seed(range(5))
    batch.reset()
    rows = batch.get_observations()
    chosen = chooser(batch, agent, range(5))().reshape(rows.shape[:2])
    assert np.array_equal(chosen, expected(agent, rows, masks, names))
    assert np.array_equal(chosen, agent.predict(rows, agent=names)[0])
    with pytest.raises(ParameterError, match="pass agent="):
        agent.predict(rows)


def test_kinds_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match=r"observations \(16,\); those of ParticleTag-v0 are \(18,\)"):
        rlenvs.evaluate(TAG, agent_for(TAG, roles=True), seeds=2, adversaries=4)
    pursuers = agent_for(TAG, roles=True)
    kinds = [{"name": "adversary", "size": 16}, {"name": "agent", "size": 13}]
    architecture = {**pursuers.network.architecture, "kinds": kinds}
    other = replace(pursuers, network=Network(architecture, pursuers.network.tensors))
    with pytest.raises(ParameterError) as error:
        rlenvs.evaluate(TAG, other, seeds=2)
    assert "agent (13 numbers); those of ParticleTag-v0 are adversary (16 numbers), agent (14" in str(error.value)


# --- wherever an agent plays ------------------------------------------------------------------------------------------


class Spy:
    """Notes the kinds with which a network is asked."""

    def __init__(self, monkeypatch):
        self.kinds, plain = [], Network.act

        def act(network, observations, masks=None, state=None, starts=None, kinds=None, noise=None):
            self.kinds.append(None if kinds is None else kinds.tolist())
            return plain(network, observations, masks, state, starts, kinds, noise)

        monkeypatch.setattr(Network, "act", act)


def test_evaluation_and_videos_tell_the_kinds(monkeypatch):
    agent, spy = agent_for(TAG, roles=True), Spy(monkeypatch)
    rlenvs.evaluate(TAG, agent, seeds=3, horizon=2)
    assert spy.kinds == [[0, 0, 0, 1] * 3] * 2
    spy.kinds.clear()
    rlenvs.evaluate(TAG, agent, seeds=2, horizon=1, against="pursuit")
    assert spy.kinds == [[0, 0, 0, 1] * 2] * 2
    spy.kinds.clear()
    assert sum(1 for _ in video(TAG, agent, seconds=0.3)) > 1
    assert spy.kinds
    assert all(kinds == [0, 0, 0, 1] for kinds in spy.kinds)


def test_the_single_form_shows_rows_of_the_first_agent(monkeypatch):
    agent, spy = agent_for(TAG, roles=True), Spy(monkeypatch)
    rlenvs.evaluate(TAG, agent, seeds=4, horizon=2, wrappers=[JumpStart(agent, steps=1)])
    list(rollouts(TAG, agent_player(agent), range(4), {"horizon": 2}))
    assert spy.kinds == [[0] * 4] * len(spy.kinds)
    assert len(spy.kinds) >= 4


def test_guides_of_all_agents_are_told_the_kinds(monkeypatch):
    agent, spy = agent_for(TAG, roles=True), Spy(monkeypatch)
    env = rlenvs.wrap(rlenvs.parallel_env(TAG), JumpStart(agent, steps=1))
    env.reset(seed=0)
    assert spy.kinds == [[0, 0, 0, 1]]


def test_who_takes_agents_over_is_told_their_kinds(monkeypatch):
    agent, spy = agent_for(TAG, roles=True), Spy(monkeypatch)
    env = rlenvs.wrap(rlenvs.parallel_env(TAG), AdversarialAgents(["adversary_1", "agent_0"], player=agent))
    env.reset(seed=0)
    env.step(dict.fromkeys(env.agents, 0))
    assert spy.kinds == [[0, 1]]


def test_players_of_tournaments_are_told_whom_they_play(monkeypatch):
    for id, kinds in ((TAG, {0, 1}), (CRYPTO, {0, 1, 2})):
        agent, spy = agent_for(id, roles=True), Spy(monkeypatch)
        rlenvs.tournament(id, {"learnt": agent, "any": "random"}, games=4)
        assert all(len(set(asked)) == 1 for asked in spy.kinds)  # agents that differ are asked one by one
        assert {asked[0] for asked in spy.kinds} == kinds


# --- files ------------------------------------------------------------------------------------------------------------


def test_what_was_saved_is_loaded_and_plays_alike(tmp_path):
    agent, (rows, masks, _) = agent_for(TALK, masked=True, roles=True), rows_of(TALK)
    loaded = load_agent(save_agent(tmp_path / "a", agent), id=TALK)
    assert loaded.network.kinds == KINDS[TALK]
    assert np.array_equal(agent.predict(rows, action_masks=masks)[0], loaded.predict(rows, action_masks=masks)[0])
    save_agent(tmp_path / "old", agent_for(TALK, masked=True))
    assert "kinds" not in json.loads(pair(tmp_path / "old")[1].read_text())["architecture"]


HUNTER, PREY = {"name": "adversary", "size": 16}, {"name": "agent", "size": 14}


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [
        (None, "has 34 inputs, but the previous layer has 16 outputs"),
        ([HUNTER, PREY, {"name": "more", "size": 3}], "has 34 inputs, but the previous layer has 51 outputs"),
        ([HUNTER], "at least two of different names"),
        ([HUNTER, HUNTER], "at least two of different names"),
        ([], "a list of at least one"),
        ("adversary", "a list of at least one"),
        ([HUNTER, "agent"], "exactly the entries name, size"),
        ([HUNTER, {**PREY, "name": 3}], "a printable text"),
        ([HUNTER, {**PREY, "name": "a\x1b"}], "a printable text"),
        ([HUNTER, {**PREY, "size": 0}], "size is 0"),
        ([{**HUNTER, "size": 15}, PREY], "16, the length of a row, as the largest"),
        ([HUNTER, {**PREY, "name": "bird"}], r"kinds adversary \(16 numbers\), bird"),
        ([HUNTER, {**PREY, "size": 13}], r"agent \(13 numbers\); those of ParticleTag-v0 are"),
    ],
)
def test_a_card_whose_kinds_cannot_be_is_refused(tmp_path, kinds, reason):
    stem = tmp_path / "a"
    save_agent(stem, agent_for(TAG, roles=True))
    architecture = json.loads(pair(stem)[1].read_text())["architecture"]
    architecture.pop("kinds")
    edit(stem, architecture=architecture if kinds is None else {**architecture, "kinds": kinds})
    refused(stem, reason)


def test_kinds_are_for_one_row_of_numbers():
    found = agent_for(TAG, roles=True).network.architecture
    for changes in (
        {"observation": [{**found["observation"][0], "shape": [4, 4]}]},
        {"observation": [{**found["observation"][0], "name": name} for name in ("a", "b")]},
    ):
        with pytest.raises(ParameterError, match="one part that is a row of numbers, with kinds"):
            check_architecture({**found, **changes})


# --- training ---------------------------------------------------------------------------------------------------------

ON = {"n_steps": 16, "batch_size": 32, "n_epochs": 1}
LEAGUE = {"size": 2, "every": 100, "scripted": 0.5, "past": 0.5}


def model_for(id, algorithm, steps=400, **tables):
    """A model that has learnt for some steps."""
    pytest.importorskip("sb3_contrib")
    from rlenvs.agents.hyperparameters.settings import settings_from
    from rlenvs.agents.train import new_model

    usual = {"algorithm": algorithm, "steps": steps, "num_envs": 4, "hyperparameters": ON}
    usual |= {"network": {"layers": [8], "roles": True}, "normalize": {"observations": True, "rewards": True}}
    model = new_model(id, settings_from({**usual, **tables}, "a test"), 0)
    model.learn(steps)
    return model


def wrapper_of(model, name):
    from rlenvs.agents.checkpoint import wrappers_of

    return next(env for env in wrappers_of(model) if type(env).__name__ == name)


def exported(model, id):
    from rlenvs.agents.export import agent_from_sb3

    return agent_from_sb3(model, id, keywords={}, settings={}, steps=0, seeds=[0], seconds=0.0)


@pytest.mark.parametrize(
    ("id", "algorithm", "tables"),
    [
        (TAG, "PPO", {}),
        (TAG, "PPO", {"normalize": {}}),
        (TAG, "PPO", {"league": LEAGUE}),
        (TAG, "MAPPO", {}),
        (TAG, "DQN", {"normalize": {}, "hyperparameters": {"learning_starts": 60, "buffer_size": 250}}),
        (TALK, "MaskablePPO", {}),
        (TALK, "MaskablePPO", {"league": LEAGUE}),
        (CRYPTO, "RecurrentPPO", {}),
    ],
)
def test_an_agent_plays_as_its_model_does(tmp_path, id, algorithm, tables):
    model = model_for(id, algorithm, **tables)
    agent = load_agent(save_agent(tmp_path / "a", exported(model, id)))
    assert agent.network.kinds == KINDS[id]
    rows, masks, names = rows_of(id, 40)
    flat = in_blocks(rows.reshape(-1, rows.shape[2]), np.tile(agent.network.kinds_of(names), 40), len(KINDS[id]))
    behind = model.observation_space.shape[0] - flat.shape[1]  # a central critic's
    flat, normalizer = np.pad(flat, ((0, 0), (0, behind))), model.get_vec_normalize_env()
    seen = flat if normalizer is None else normalizer.normalize_obs(flat)
    options = {"action_masks": masks.reshape(len(flat), -1)} if agent.network.masked else {}
    wanted = model.predict(seen, deterministic=True, **options)[0].reshape(rows.shape[:2])
    options = {"action_masks": masks} if agent.network.masked else {}
    assert np.array_equal(agent.predict(rows, **options)[0], wanted)


def test_every_slot_is_shown_its_kind_and_ends_too():
    from rlenvs.agents.roles import Roles
    from rlenvs.integrations.sb3 import sb3_vec_env

    plain, envs = sb3_vec_env(TALK, 3, horizon=3), Roles(sb3_vec_env(TALK, 3, horizon=3))
    kinds = np.tile([0, 1, 1, 1, 2, 2], 3)
    for env in (plain, envs):
        env.seed(0)
    assert np.array_equal(in_blocks(plain.reset(), kinds, 3), envs.reset())
    assert envs.observation_space.shape == (105,)
    for step in range(4):
        actions = np.arange(18) % 5
        (rows, _, dones, told), (shown, _, _, infos) = plain.step(actions), envs.step(actions)
        assert np.array_equal(in_blocks(rows, kinds, 3), shown)
        assert dones.all() == (step == 2)
        assert envs.observation_space.contains(shown[0])
        for slot in np.flatnonzero(dones):
            last = in_blocks(told[slot]["terminal_observation"][None], kinds[slot : slot + 1], 3)[0]
            assert np.array_equal(infos[slot]["terminal_observation"], last)


def test_rivals_of_a_league_are_shown_their_own_kinds():
    model = model_for(TAG, "PPO", league={**LEAGUE, "scripted": 0.0, "past": 0.5})
    league, roles = wrapper_of(model, "League"), wrapper_of(model, "Roles")
    assert roles.kinds.tolist() == [0, 0, 0, 1] * 2  # hunters of every other world, the prey of those between
    league.meet(model)
    assert league.past[0].kinds == KINDS[TAG]
    seen = league.batch.get_observations()
    for worlds, agents, chosen in league._of_networks():
        rivals = [league._present, *league.past]
        kinds = (agents == 3).astype(int)
        answers = [rival.act(seen[worlds, agents], kinds=kinds)[0].tolist() for rival in rivals]
        assert chosen.tolist() in answers
        assert {(world % 2, agent) for world, agent in zip(worlds, agents, strict=True)} <= {
            *((0, 3), (1, 0), (1, 1), (1, 2))
        }


def test_a_model_that_was_saved_still_knows_its_kinds(tmp_path):
    model = model_for(TAG, "PPO", steps=64, normalize={})
    model.save(tmp_path / "model.zip")
    again = exported(type(model).load(tmp_path / "model.zip"), TAG)
    rows = rows_of(TAG)[0]
    assert np.array_equal(again.predict(rows)[0], exported(model, TAG).predict(rows)[0])
    with pytest.raises(ParameterError, match="was trained for"):
        rlenvs.tournament(TAG, {"model": str(tmp_path / "model.zip"), "any": "random"}, games=2)
