"""The family of board games: whose turn it is in every form, who plays whom, illegal moves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import nim

import rlenvs
import rlenvs.core.forms.turn_env
from rlenvs.core.check.actions import actions_matter
from rlenvs.core.check.subject import subject_of
from rlenvs.core.check.verdicts import Failed
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError
from rlenvs.core.declare.spec import world
from rlenvs.multi.boards.connect_four import SPEC as CONNECT_FOUR

TWO_SIDED = ["Breakthrough-v0", "ConnectFour-v0"]
ALL = [*TWO_SIDED, "Ingenious-v0", "SameGame-v0"]


def masked(observation, generator):
    return int(generator.choice(np.flatnonzero(observation["action_mask"])))


@pytest.mark.parametrize("name", ALL)
def test_the_aec_form_asks_only_whose_turn_it_is(name):
    env, parallel = rlenvs.aec_env(name), rlenvs.parallel_env(name)
    generator = np.random.default_rng(0)
    env.reset(seed=1)
    seen, _ = parallel.reset(seed=1)
    gained = dict.fromkeys(env.possible_agents, 0.0)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    movers = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        gained[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        np.testing.assert_array_equal(observation["observation"], seen[agent]["observation"])
        np.testing.assert_array_equal(observation["action_mask"], seen[agent]["action_mask"])
        action = masked(observation, generator)
        for other in env.agents:
            if other != agent:
                assert env.observe(other)["action_mask"].tolist() == [1] + [0] * (env.action_space(other).n - 1)
        movers.append(agent)
        env.step(action)
        seen, rewards, *_ = parallel.step({each: action if each == agent else 0 for each in parallel.agents})
        for each, reward in rewards.items():
            paid[each] += reward
    assert not env.agents
    assert not parallel.agents
    assert gained == paid
    assert movers[:4] == (env.possible_agents * 4)[:4]
    with pytest.raises(EpisodeOverError):
        env.step(0)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.usefixtures("strict_kit")
def test_pettingzoos_own_tests(name):
    from pettingzoo.test import api_test, parallel_api_test, seed_test

    api_test(rlenvs.aec_env(name), 20)
    parallel_api_test(rlenvs.parallel_env(name), 20)
    seed_test(lambda: rlenvs.aec_env(name), 10)


@pytest.mark.parametrize("name", TWO_SIDED)
def test_vectors_in_the_aec_form(name):
    env = rlenvs.aec_env(name, vector_reward=True)
    env.reset(seed=0)
    generator = np.random.default_rng(1)
    last = {}
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        assert env.reward_space(agent).contains(reward)
        last[agent] = reward
        env.step(None if terminated or truncated else masked(observation, generator))
    first, second = (last[agent] for agent in env.possible_agents)
    assert first[0] == -second[0] != 0.0
    assert first[1] == -second[1] != 0.0


@pytest.mark.parametrize("name", TWO_SIDED)
def test_an_illegal_move_loses(name):
    env = rlenvs.aec_env(name)
    generator = np.random.default_rng(1)
    mask = np.ones(1)
    while mask.all():
        if not env.agents or any(env.terminations.values()):
            env.reset(seed=0)
        mask = env.observe(env.agent_selection)["action_mask"]
        if mask.all():
            env.step(masked({"action_mask": mask}, generator))
            mask = env.observe(env.agent_selection)["action_mask"] if not any(env.terminations.values()) else mask
    offender = env.agent_selection
    env.step(int(np.flatnonzero(mask == 0)[0]))
    assert env.rewards[offender] == -1.0
    assert sum(env.rewards.values()) == 0.0
    assert all(env.terminations.values())
    assert env.infos[offender]["illegal_actions"] == 1


@pytest.mark.parametrize("name", ALL)
def test_illegal_moves_may_be_refused(name):
    env = rlenvs.parallel_env(name, illegal="error")
    seen, _ = env.reset(seed=0)
    first = int(np.flatnonzero(seen["agent_0"]["action_mask"])[0])
    if len(env.agents) > 1:
        with pytest.raises(ActionError, match=r"agent_1: the action mask forbids choice 1 now; it allows 0 \("):
            env.step({agent: first if agent == "agent_0" else 1 for agent in env.agents})
    env.step({agent: first if agent == "agent_0" else 0 for agent in env.agents})


@pytest.mark.parametrize("name", TWO_SIDED)
def test_what_the_waiting_side_chooses_does_nothing(name):
    batch = rlenvs.make_batch(name, 8)
    batch.seed([0] * 8)
    batch.reset()
    batch.actions[:, 0] = np.flatnonzero(batch.masks[0, 0])[0]
    batch.actions[:, 1, 0] = np.arange(8) % batch.masks.shape[2]
    batch.step_inplace()
    states = batch.states.copy()
    assert len({states[i].tobytes() for i in range(8)}) == 1
    assert (states["turn"] == 1).all()


@pytest.mark.parametrize("name", TWO_SIDED)
def test_one_agent_against_a_scripted_opponent_has_every_move(name):
    for side, moved in (("first", 0), ("second", 1)):
        env = rlenvs.make(name, opponent="random", side=side)
        _, info = env.reset(seed=0)
        state = env.unwrapped.batch.states[0]
        assert state["moves"] == moved
        generator = np.random.default_rng(0)
        steps, over = 0, False
        while not over:
            assert state["turn"] == 0
            action = int(generator.choice(np.flatnonzero(info["action_mask"])))
            _, reward, over, _, info = env.step(action)
            steps += 1
            assert state["moves"] in (moved + 2 * steps, moved + 2 * steps - 1)
        assert reward in (-1.0, 0.0, 1.0)


@pytest.mark.parametrize("name", TWO_SIDED)
def test_sides_are_drawn(name):
    batch = rlenvs.make_batch(name, 64, opponent="random", side="random")
    batch.seed(range(64))
    batch.reset()
    assert 16 < batch.states["seat"].sum() < 48


@pytest.mark.parametrize("name", TWO_SIDED)
def test_the_single_form_lets_others_play(name):
    """With both sides as agents a step is a move of one side; the other's by `others`."""
    env = rlenvs.make(name, others="random")
    _, info = env.reset(seed=0)
    for step in range(6):
        waits = env.unwrapped.batch.states[0]["turn"] == 1
        assert waits == (step % 2 == 1)
        assert not waits or np.flatnonzero(info["action_mask"]).tolist() == [0]
        *_, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert env.unwrapped.batch.states[0]["moves"] == 6


@pytest.mark.parametrize("name", TWO_SIDED)
def test_stronger_players_win(name):
    strongest, *_, weakest = rlenvs.make_batch(name).world.players
    result = rlenvs.tournament(name, [strongest, weakest], games=100)
    assert result.win_rate(strongest, weakest)[0] >= 0.97
    assert weakest == "random"


def test_turns_are_declared():
    parts = {"observation": CONNECT_FOUR.observation, "action": CONNECT_FOUR.action, "terms": CONNECT_FOUR.terms}
    with pytest.raises(ParameterError, match="turns are for worlds"):
        world("Wrong-v0", doc="", state={}, horizon=1, turns=True, agents=True, **parts)


@pytest.mark.budget(4)
def test_the_conformance_suite_holds_worlds_to_their_turns():
    assert "have an effect" in actions_matter(subject_of(nim.declare(), "python", None, {}))
    for fault, complaint in (
        ("waits_with_choices", "allows an agent that waits for its turn more than choice 0"),
        ("reads_all", "the action of an agent that waits for its turn changes something"),
        ("turn_of_nobody", "which has to be an agent in the game"),
    ):
        with pytest.raises(Failed, match=complaint):
            actions_matter(subject_of(nim.declare(**{fault: True}), "python", None, {}))


def test_three_take_turns():
    env = rlenvs.core.forms.turn_env.TurnEnv(world=nim.declare(), backend="python")
    env.reset(seed=0)
    movers = []
    for agent in env.agent_iter():
        *_, over, _, _ = env.last()
        if not over:
            movers.append(agent)
        env.step(None if over else 0)
    assert movers == [f"agent_{i % 3}" for i in range(len(movers))]
    assert len(movers) >= 40


def test_snapshots_in_the_aec_form():
    env = rlenvs.aec_env("ConnectFour-v0")
    env.reset(seed=0)
    for column in (3, 3, 2):
        env.step(column)
    kept, seen = env.get_state(), env.observe("agent_1")["observation"]
    env.step(5)
    env.set_state(kept)
    assert env.agent_selection == "agent_1"
    np.testing.assert_array_equal(env.observe("agent_1")["observation"], seen)
    env.step(5)
    assert env.agent_selection == "agent_0"


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(TWO_SIDED))
def test_games_are_zero_sum_and_end_once(seed, name):
    batch = rlenvs.make_batch(name, 4)
    batch.seed(range(seed, seed + 4))
    batch.reset()
    done = np.zeros(4, bool)
    for _ in range(batch.setup.horizon):
        batch.player_actions("random")
        batch.step_inplace()
        assert (batch.terms[~done, :2].sum(axis=2) == 0.0).all()
        assert not batch.truncated.any()
        done |= batch.over
        if done.all():
            break
    assert done.all()
