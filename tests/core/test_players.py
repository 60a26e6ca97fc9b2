"""Scripted players, teams, roles and the central state, on a small world of agents that differ."""

import copy
import dataclasses

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from toys import pursuit

import rlenvs
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.declared_spaces import block, discrete
from rlenvs.core.declare.errors import ActionError, ParameterError, UnknownNameError
from rlenvs.core.declare.parts import term
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import world
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.turn_env import aec_env
from rlenvs.core.forms.vector_env import VectorEnv

NAMES = ["hunter", "hare_0", "hare_1"]


def test_every_rule_holds():
    report = rlenvs.check_env(pursuit.SPEC)
    assert {outcome.number for outcome in report.failures} <= {15, 16}, str(report)


def test_agents_have_their_own_names_and_spaces():
    env = ParallelEnv(pursuit.SPEC)
    observations, _ = env.reset(seed=0)
    assert env.possible_agents == NAMES
    assert [env.observation_space(agent).shape for agent in NAMES] == [(3,), (2,), (2,)]
    assert [env.action_space(agent).n for agent in NAMES] == [2, 3, 3]
    for agent in NAMES:
        assert env.observation_space(agent).contains(observations[agent])
    place = env.batch.records(0)[1]["place"]
    np.testing.assert_allclose(observations["hunter"], [place[0], place[1] - place[0], place[2] - place[0]], rtol=1e-6)
    np.testing.assert_allclose(observations["hare_1"], [place[2], place[0] - place[2]], rtol=1e-6)


def test_a_choice_of_another_role_is_refused():
    env = ParallelEnv(pursuit.SPEC)
    env.reset(seed=0)
    with pytest.raises(ActionError, match=r"agent 0: action 2 is not one of 0 \.\.\. 1"):
        env.step({"hunter": 2, "hare_0": 2, "hare_1": 2})
    env.step({"hunter": 1, "hare_0": 2, "hare_1": 2})


def test_the_single_form_has_the_spaces_of_the_first_agent():
    env = Env(pursuit.SPEC, others="greedy")
    observation, _ = env.reset(seed=0)
    assert env.observation_space.shape == observation.shape == (3,)
    assert env.action_space.n == 2
    vector = VectorEnv(pursuit.SPEC, 2, others="greedy")
    rows, _ = vector.reset(seed=0)
    np.testing.assert_array_equal(rows[0], observation)
    np.testing.assert_array_equal(vector.step(np.array([0, 1]))[0][0], env.step(0)[0])


def test_masks_allow_the_choices_of_the_role():
    batch = KernelBatch(pursuit.SPEC, 2)
    allowed = [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    assert batch.masks[0].tolist() == allowed, "before the first reset, too: a snapshot may be put there"
    batch.seed([0, 1])
    batch.reset()
    batch.step(np.zeros((2, 3), np.int64))
    assert batch.masks.tolist() == [allowed] * 2
    with pytest.raises(ValueError, match="read-only"):  # it would never be written again
        batch.masks[0, 0, 0] = 0


def test_players_take_the_slots_they_are_given():
    batch = KernelBatch(pursuit.SPEC, 4)
    batch.seed(range(4))
    batch.reset()
    batch.actions[:] = 2
    batch.player_actions(["greedy", None, None])
    prey_is_right = batch.states["place"][:, 1] > batch.states["place"][:, 0]
    assert batch.actions[:, 0, 0].tolist() == prey_is_right.astype(int).tolist()
    assert (batch.actions[:, 1:] == 2).all()
    with pytest.raises(UnknownNameError, match=r"no player 'lazy'; it has \('greedy', 'fickle'\)"):
        batch.player_actions("lazy")
    with pytest.raises(ParameterError, match="2 slots were given for 3 agents"):
        batch.player_actions(["greedy", "greedy"])


def test_the_first_player_is_the_expert():
    batch = KernelBatch(pursuit.SPEC, 4)
    batch.seed(range(4))
    batch.reset()
    assert (batch.expert_actions().copy() == batch.player_actions("greedy")).all()
    assert pursuit.SPEC.has_expert


@pytest.mark.parametrize("id", ["SafePointGoal-v0", "ParticleTag-v0", "SlidingTiles-v0"])
def test_experts_advise_the_worlds_that_ask(id):
    """Of kernels, of players, and in plain Python."""
    batch = rlenvs.make_batch(id, 6)
    batch.seed(range(6))
    batch.reset()
    asked = np.array([True, False, True, True, False, True])
    everywhere = batch.expert_actions()
    batch.actions[:] = 0
    advice = batch.expert_actions(asked)
    assert (advice[asked] == everywhere[asked]).all()
    assert (advice[~asked] == 0).all()
    assert (everywhere != 0).any()


def test_players_draw_from_a_generator_of_their_own():
    """Asking for advice changes no future, and a snapshot holds what the players will draw."""
    env = ParallelEnv(pursuit.SPEC)
    env.reset(seed=3)
    words = env.batch.states["rng"].copy()
    snapshot = env.get_state()
    first = [env.player_actions("fickle") for _ in range(20)]
    assert len({tuple(actions.values()) for actions in first}) > 1
    assert (env.batch.states["rng"] == words).all()
    env.set_state(snapshot)
    assert [env.player_actions("fickle") for _ in range(20)] == first
    env.reset()
    assert env.batch.states["players_rng"].any()


def test_teams_by_name():
    with pytest.raises(ParameterError, match="others='lazy' is not one of"):
        Env(pursuit.SPEC, others="lazy")
    places = []
    for team in ("greedy", "idle"):
        env = Env(pursuit.SPEC, others=team)
        env.reset(seed=2)
        env.step(0)
        places.append(env.batch.records(0)[1]["place"].tolist())
    assert places[0] != places[1]


def test_central_state():
    env = ParallelEnv(pursuit.SPEC)
    env.reset(seed=0)
    place = env.batch.records(0)[1]["place"]
    assert env.state_space.contains(env.state())
    np.testing.assert_allclose(env.state(), place / 50.0, rtol=1e-6)
    batch = KernelBatch(pursuit.SPEC, 5)
    batch.seed(range(5))
    batch.reset()
    np.testing.assert_allclose(batch.central(), batch.states["place"] / 50.0, rtol=1e-6)


def test_sides():
    assert KernelBatch(pursuit.SPEC).setup.teams == (0, 1, 1)
    bad = {"teams": lambda values: [0, 2, 2]}
    with pytest.raises(ParameterError, match="must give a team 0, 1, "):
        KernelBatch(declare(agents=True, sizes=lambda values: {"agents": 3}, **bad))


def declare(**more):
    made = world(
        "Nothing-v0",
        doc="",
        state={},
        observation={"zero": block(2, low=0.0, high=1.0, raw=True)},
        action=discrete("wait"),
        terms={"nothing": term(0.0, 1.0)},
        horizon=3,
        **more,
    )
    for role in ("reset", "step", "observe"):
        made.kernels[role] = lambda *arguments: None
    return made


def test_contradictions_in_a_declaration():
    with pytest.raises(ParameterError, match="are for worlds with agents=True"):
        declare(players=("one",))
    with pytest.raises(ParameterError, match="add the player 'two'"):
        declare(agents=True, players=("one",)).player("two")
    with pytest.raises(TypeError, match="has no player one"):
        KernelBatch(declare(agents=True, players=("one",)), backend="python")
    wrong = declare(agents=True, roles=lambda values: [rlenvs.core.role("only", 1, 1)])
    with pytest.raises(ParameterError, match=r"must be 1, with different names"):
        KernelBatch(wrong)


@pytest.mark.usefixtures("strict_kit")
def test_agents_that_differ_in_pettingzoos_test():
    from pettingzoo.test import api_test, parallel_api_test

    parallel_api_test(ParallelEnv(pursuit.SPEC), num_cycles=50)
    api_test(aec_env(world=pursuit.SPEC), num_cycles=50)


def test_gymnasium_passes_the_single_form():
    from gymnasium.utils.env_checker import check_env

    check_env(Env(pursuit.SPEC), skip_render_check=True)
    assert isinstance(Env(pursuit.SPEC), gymnasium.Env)


BATTLE = "rlenvs.multi.battle.battle:SPEC"


def test_idle_is_what_the_world_calls_so():
    """In Battle choice 0 moves north."""
    for env in (Env(BATTLE, others="idle"), VectorEnv(BATTLE, 2, others="idle")):
        env.reset(seed=0)
        env.step(0 if env.action_space.shape == () else np.zeros(2, np.int64))
        assert (env.batch.actions[:, 0] == 0).all()
        assert (env.batch.actions[:, 1:] == env.batch.setup.action.idle).all()
    assert env.batch.setup.action.idle != 0


def test_who_lacks_the_idle_choice_has_its_first():
    spec = copy.copy(pursuit.SPEC)
    spec.action = dataclasses.replace(spec.action, idle=2)
    setup = Setup(spec)
    assert setup.idle.tolist() == [[0], [2], [2]]
    assert setup.idle_in(spaces.Discrete(3), 1) == 2
    assert setup.idle_in(spaces.Discrete(7, start=4), 1) == 4
