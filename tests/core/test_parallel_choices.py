"""The parallel form as learners want it: masks elsewhere, a constant team, equal spaces."""

import inspect

import numpy as np
import pettingzoo.test as kit
import pytest
from gymnasium import spaces
from toys import countdown

import rlenvs
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.turn_env import aec_env
from rlenvs.core.forms.vector_env import VectorEnv
from rlenvs.integrations.sb3 import SB3VecEnv

MASKED = {"agents": 3, "width": 8, "height": 8}
IGNORED = ["ignore:Observation", "ignore:.*reset ignores the options"]


def play(env, seed=0, steps=40):
    """An episode of random legal actions: (observations, rewards, ends, cuts, infos) of every step."""
    rng = np.random.default_rng(seed)
    _, infos = env.reset(seed=seed)
    told = []
    while env.agents and len(told) < steps:
        masks = {agent: info.get("action_mask") for agent, info in infos.items()}
        actions = {}
        for agent in env.agents:
            space = env.action_space(agent)
            legal = np.arange(space.n) if masks[agent] is None else np.flatnonzero(masks[agent])
            actions[agent] = int(rng.choice(legal))
        told.append(env.step(actions))
        infos = told[-1][4]
    return told


def in_space(env, told):
    return all(env.observation_space(agent).contains(seen) for step in told for agent, seen in step[0].items())


# --- masks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masks", ["observation", "info", False])
def test_where_masks_are(masks):
    env = rlenvs.parallel_env("PathFinding-v0", masks=masks, **MASKED)
    observations, infos = env.reset(seed=0)
    for agent in env.agents:
        assert isinstance(env.observation_space(agent), spaces.Dict) == (masks == "observation")
        assert env.observation_space(agent).contains(observations[agent])
        assert ("action_mask" in infos[agent]) == bool(masks)
        if masks == "observation":
            assert np.array_equal(observations[agent]["action_mask"], infos[agent]["action_mask"])
            assert not np.shares_memory(observations[agent]["action_mask"], infos[agent]["action_mask"])
    env.step(dict.fromkeys(env.agents, 0))


def test_masks_do_not_change_the_world():
    told = {
        masks: play(rlenvs.parallel_env("PathFinding-v0", masks=masks, **MASKED)) for masks in ("observation", "info")
    }
    for one, two in zip(*told.values(), strict=True):
        assert one[1:4] == two[1:4]
        for agent, seen in one[0].items():
            assert np.array_equal(seen["observation"], two[0][agent])


def test_a_world_without_masks_takes_every_choice():
    for masks in ("observation", "info", False):
        env = ParallelEnv(countdown.SPEC, masks=masks)
        assert isinstance(env.observation_space("agent_0"), spaces.Box)
        assert "action_mask" not in env.reset(seed=0)[1]["agent_0"]


@pytest.mark.parametrize(
    "keywords",
    [{"masks": "infos"}, {"masks": True}, {"masks": None}, {"finished": "stay"}, {"finished": True}, {"pad": 1}],
    ids=str,
)
def test_unknown_choices_are_refused(keywords):
    with pytest.raises(ParameterError, match=next(iter(keywords))):
        ParallelEnv(countdown.SPEC, **keywords)


def test_worlds_and_forms_have_no_keywords_in_common():
    forms = (Env, VectorEnv, ParallelEnv, SB3VecEnv, KernelBatch, Setup)
    taken = {name for form in forms for name in inspect.signature(form).parameters}
    for id in rlenvs.list_envs():
        world = world_of(id)
        assert not taken & {*world.params, *world.options}, id


# --- those who have finished ------------------------------------------------------------------------------------------


def test_a_constant_team():
    """Agent k dies after k + 1 steps."""
    env = ParallelEnv(countdown.SPEC, finished="keep")
    everyone = list(env.possible_agents)
    _, infos = env.reset(seed=0)
    assert [info["alive"] for info in infos.values()] == [True] * 3
    for step in (1, 2, 3):
        seen, rewards, ends, cuts, infos = env.step(dict.fromkeys(everyone, 1))
        assert list(seen) == list(rewards) == list(ends) == list(cuts) == list(infos) == everyone
        last = step == 3
        for k, agent in enumerate(everyone):
            acted = k + 1 >= step
            assert (seen[agent][0] != 0.0) == acted
            assert rewards[agent] == float(acted)
            assert infos[agent]["reward_vector"].tolist() == [float(acted)]
            assert infos[agent]["reward_alive"] == float(acted)
            assert infos[agent]["alive"] == (k + 1 > step)
            assert (ends[agent], cuts[agent]) == (last, False)
        assert env.agents == ([] if last else everyone)


def test_the_time_limit_truncates_those_who_live():
    env = ParallelEnv(countdown.SPEC, finished="keep", horizon=2)
    env.reset(seed=0)
    env.step(dict.fromkeys(env.agents, 0))
    _, _, ends, cuts, _ = env.step(dict.fromkeys(env.agents, 0))
    assert list(cuts.values()) == [False, True, True]  # the second dies in the last step
    assert list(ends.values()) == [True, True, False]
    assert env.agents == []


def test_actions_of_the_dead_may_be_anything_or_nothing():
    env = ParallelEnv(countdown.SPEC, finished="keep")
    for rest in ({}, {"agent_0": 99}, {"agent_0": None}):
        env.reset(seed=0)
        env.step(dict.fromkeys(env.agents, 0))
        env.step({"agent_1": 0, "agent_2": 0, **rest})
        assert env.agents == env.possible_agents
    with pytest.raises(ActionError, match="no action was given for agent_2"):
        env.step({})


def test_the_dead_may_choose_nothing_but_the_first_choice():
    for masks in ("observation", "info"):
        env = rlenvs.parallel_env("Battle-v0", dead="leave", finished="keep", masks=masks)
        fallen = 0
        for _, _, _, _, infos in play(env, steps=150):
            assert list(infos) == env.possible_agents
            for info in infos.values():
                if not info["alive"]:
                    fallen += 1
                    assert info["action_mask"].tolist() == [1] + [0] * (len(info["action_mask"]) - 1)
        assert fallen > 0


def test_keeping_the_dead_does_not_change_the_world():
    told = {finished: play(ParallelEnv(countdown.SPEC, finished=finished), steps=2) for finished in ("keep", "remove")}
    for kept, removed in zip(*told.values(), strict=True):
        assert {agent: kept[1][agent] for agent in removed[1]} == removed[1]
        for agent, seen in removed[0].items():
            assert np.array_equal(seen, kept[0][agent])


def test_snapshots_with_the_dead_in_them():
    env = ParallelEnv(countdown.SPEC, finished="keep")
    env.reset(seed=0)
    env.step(dict.fromkeys(env.agents, 0))
    snapshot = env.get_state()
    first = env.step(dict.fromkeys(env.agents, 0))
    env.reset(seed=1)
    seen = env.set_state(snapshot)
    assert list(seen) == env.agents == env.possible_agents
    assert seen["agent_0"].tolist() == [0.0]
    again = env.step(dict.fromkeys(env.agents, 0))
    assert str(first) == str(again)


# --- equal spaces -----------------------------------------------------------------------------------------------------


def test_padded_spaces():
    env, plain = (rlenvs.parallel_env("ParticleSpeakerListener-v0", pad=pad) for pad in (True, False))
    assert len({str(env.observation_space(agent)) for agent in env.possible_agents}) == 1
    assert {env.action_space(agent).n for agent in env.possible_agents} == {5}
    assert sorted(plain.action_space(agent).n for agent in plain.possible_agents) == [3, 5]
    one, _ = env.reset(seed=0)
    two, _ = plain.reset(seed=0)
    for agent, seen in two.items():
        assert env.observation_space(agent).contains(one[agent])
        assert np.array_equal(one[agent][: len(seen)], seen)
        assert not one[agent][len(seen) :].any()
    few = next(agent for agent in plain.agents if plain.action_space(agent).n == 3)
    many = next(agent for agent in plain.agents if agent != few)
    env.step({few: 4, many: 2})
    after = env.get_state()
    env.reset(seed=0)
    env.step({few: 0, many: 2})
    assert env.get_state() == after, "a choice that the agent does not have is its choice 0"
    with pytest.raises(ActionError, match="action 5 is not one of"):
        env.step({few: 5, many: 0})
    with pytest.raises(ActionError, match="action -1 is not one of"):
        env.step({few: -1, many: 0})
    with pytest.raises(ActionError, match=r"action 4 is not one of 0 \.\.\. 2"):
        plain.step({few: 4, many: 0})


def test_padded_masks():
    env = rlenvs.parallel_env("Battle-v0", scenario="3s5z", pad=True)
    told = play(env)
    assert in_space(env, told)
    sizes = {env.action_space(agent).n for agent in env.possible_agents}
    assert len(sizes) == 1
    assert all(len(info["action_mask"]) in sizes for info in told[-1][4].values())


def test_experts_of_padded_teams():
    env = rlenvs.parallel_env("ParticleTag-v0", pad=True)
    env.reset(seed=0)
    for agent, action in env.expert_actions().items():
        assert env.action_space(agent).contains(action)
    env.step(env.expert_actions())


# --- nobody, and PettingZoo's own tests -------------------------------------------------------------------------------


def test_no_actions_of_nobody():
    env = ParallelEnv(countdown.SPEC, horizon=1)
    with pytest.raises(EpisodeOverError, match="never began"):
        env.step({})
    env.reset(seed=0)
    with pytest.raises(ActionError, match="no action was given for agent_0"):
        env.step({})
    env.step(dict.fromkeys(env.agents, 0))
    assert env.step({}) == ({}, {}, {}, {}, {})
    with pytest.raises(EpisodeOverError):
        env.step({"agent_0": 0})
    with pytest.raises(EpisodeOverError):
        env.step(None)


@pytest.mark.filterwarnings(*IGNORED)
@pytest.mark.parametrize("masks", ["observation", "info", False])
@pytest.mark.parametrize("finished", ["remove", "keep"])
def test_pettingzoo_accepts_every_choice(masks, finished):
    for world, keywords in ((countdown.SPEC, {}), ("rlenvs.multi.pathfinding.path_finding:SPEC", MASKED)):
        kit.parallel_api_test(ParallelEnv(world, masks=masks, finished=finished, pad=True, **keywords), num_cycles=40)
        kit.api_test(aec_env(world=world, masks=masks, finished=finished, pad=True, **keywords), num_cycles=40)
