"""Shields and reflexes: what they let pass, what they replace, and that copies of worlds tell the truth and no more."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wrapper_helpers import BUSY, assert_conforms, assert_forms_agree, fast, never

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.costs import CostBudget
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.reflexes import EmergencyOverride
from rlenvs.wrappers.shields import Shield
from rlenvs.wrappers.wrapper import Wrapper


def first_half(stage, actions, slots):
    """Danger that depends on the state alone."""
    return np.asarray(stage.observation[:, 0] > 0.0)


def always(stage, actions, slots):
    return np.ones(stage.count, np.bool_)


def odd(stage, actions, slots):
    return actions % 2 == 1


def half(stage, actions, slots):
    return np.full_like(actions, 0.5)


class Line(gymnasium.Env):
    """A walk along a line, with the action as its step; ends at +-1. The reward and the cost are the distance to 0."""

    observation_space = spaces.Box(-2.0, 2.0, (1,), np.float64)
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = 0.0, 0
        return np.array([self.at]), {"cost": 0.0}

    def step(self, action):
        self.at += float(action[0])
        self.steps += 1
        return np.array([self.at]), abs(self.at), abs(self.at) >= 1.0, False, {"cost": abs(self.at)}


# --- predicates -------------------------------------------------------------------------------------------------------


def test_a_dangerous_action_is_replaced_and_all_others_pass():
    env = wrap(rlenvs.make_vec("SafePointGoal-v0", 3), Shield(unsafe=fast, fallback=half))
    _, info = env.reset(seed=0)
    assert not info["intervened"].any()
    actions = np.array([[0.6, 0.1], [0.5, 0.2], [-1.0, 0.3]])
    for step in (1, 2):
        *_, info = env.step(actions)
        assert info["intervened"].tolist() == [True, False, False]
        assert info["interventions"].tolist() == [step, 0, 0]
        assert info["action"].tolist() == [[0.5, 0.5], [0.5, 0.2], [-1.0, 0.3]]
        assert info["raw_action"].tolist() == actions.tolist()
        assert info["infeasible"].tolist() == [0, 0, 0]
    assert env.batch.actions[0, 0].tolist() == [0.5, 0.5]


def test_what_the_fallback_cannot_make_safe_is_counted():
    env = wrap(rlenvs.make("SafePointGoal-v0"), Shield(unsafe=always, fallback="idle"))
    env.reset(seed=0)
    for step in (1, 2, 3):
        info = env.step(np.ones(2, np.float32))[4]
        assert (info["infeasible"], info["interventions"], info["action"].tolist()) == (step, step, [0.0, 0.0])
    assert env.reset()[1]["infeasible"] == 0


@pytest.mark.parametrize("wrapper", [Shield(unsafe=never), EmergencyOverride(unsafe=never, times=1)])
def test_without_danger_nothing_changes(wrapper):
    bare, shielded = rlenvs.make_vec("QuadHover-v0", 4), wrap(rlenvs.make_vec("QuadHover-v0", 4), wrapper)
    bare.reset(seed=0), shielded.reset(seed=0)
    for _ in range(40):
        actions = bare.action_space.sample()
        ours, theirs = shielded.step(actions), bare.step(actions)
        for k in range(4):
            assert np.array_equal(ours[k], theirs[k])


def test_the_expert_takes_over():
    env = wrap(rlenvs.make_vec("SafePointGoal-v0", 4), Shield(unsafe=always))
    twin = rlenvs.make_vec("SafePointGoal-v0", 4)
    env.reset(seed=0), twin.reset(seed=0)
    for _ in range(20):
        seen = env.step(np.zeros((4, 2), np.float32))[0]
        assert np.array_equal(seen, twin.step(twin.expert_actions())[0])


def some(stage, actions, slots):
    return np.arange(stage.count) == 0


def test_players_who_are_asked_for_advice_draw_no_numbers(monkeypatch):
    """Players may draw random numbers, from a generator that is part of the state."""
    env = wrap(rlenvs.make_vec("ParticleTag-v0", 3), Shield(unsafe=some))
    env.reset(seed=0)
    advise, before = env.batch.expert_actions, env.batch.states["players_rng"].copy()

    def draw(only):
        env.batch.states["players_rng"] += np.uint64(1)
        return advise(only)

    monkeypatch.setattr(env.batch, "expert_actions", draw)
    (wrapper,) = env.wrappers
    wrapper.act(np.zeros(3, np.int64), np.ones(3, np.bool_))
    assert wrapper.intervened.tolist() == [True, False, False]
    assert np.array_equal(env.batch.states["players_rng"], before)


def test_guards_on_guards():
    env = wrap(rlenvs.make("SafePointGoal-v0"), Shield(unsafe=always, fallback=half), Shield(unsafe=never))
    env.reset(seed=0)
    info = env.step(np.array([-1.0, 1.0], np.float32))[4]
    assert info["raw_action"].tolist() == [-1.0, 1.0]
    assert info["action"].tolist() == [0.5, 0.5]
    assert info["intervened"]
    assert info["interventions"] == 1


# --- choices ----------------------------------------------------------------------------------------------------------


def test_masks_allow_what_is_safe():
    env = wrap(rlenvs.make("ParticleSpread-v0"), Shield(unsafe=odd, mask=True, fallback="idle"))
    _, info = env.reset(seed=0)
    assert info["action_mask"].dtype == np.int8
    assert info["action_mask"].tolist() == [1, 0, 1, 0, 1]
    assert env.action_masks().tolist() == [True, False, True, False, True]
    info = env.step(2)[4]
    assert (info["action"], info["intervened"]) == (2, False)
    info = env.step(3)[4]
    assert (info["action"], info["raw_action"], info["intervened"], info["infeasible"]) == (0, 3, True, 0)


def third(stage, actions, slots):
    return np.full_like(actions, 3)


def test_an_unsafe_fallback_gives_way_to_the_nearest_safe_choice():
    env = wrap(rlenvs.make("ParticleSpread-v0"), Shield(unsafe=odd, mask=True, fallback=third))
    env.reset(seed=0)
    infos = [env.step(choice)[4] for choice in (1, 3)]
    assert [info["action"] for info in infos] == [0, 2]
    assert infos[-1]["infeasible"] == 0


def test_masks_are_never_empty():
    env = wrap(rlenvs.make("ParticleSpread-v0"), Shield(unsafe=always, mask=True, fallback=third))
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 1, 1, 1, 1]
    info = env.step(0)[4]
    assert (info["action"], info["infeasible"]) == (3, 1)


def test_masks_of_the_world_and_of_the_shield_come_together():
    env = wrap(rlenvs.make("DeepSeaTreasure-v0"), Shield(unsafe=odd, mask=True, fallback="idle"))
    bare = rlenvs.make("DeepSeaTreasure-v0")
    _, info = env.reset(seed=0)
    assert bare.reset(seed=0)[1]["action_mask"].tolist() == [0, 1, 0, 1]
    assert info["action_mask"].tolist() == [0, 1, 0, 1]  # both safe choices are barred
    for choice in (3, 3, 1):
        own = bare.step(choice)[4]["action_mask"]
        env.wrappers[0].below.step(np.array([choice]), np.ones(1, np.bool_))
        env.wrappers[0]._judge_choices(np.ones(1, np.bool_))
    assert own.tolist() == [1, 1, 1, 1]
    assert env.wrappers[0].action_mask[0].tolist() == [1, 0, 1, 0]


# --- reflexes ---------------------------------------------------------------------------------------------------------


def outside(stage, actions, slots):
    """Further than 0.5 from the middle, and driving on."""
    return np.abs(stage.observation[:, 0] + actions[:, 0]) > 0.5


def inwards(stage, actions, slots):
    return np.sign(-stage.observation) * 0.25


def test_the_reflex_acts_between_the_decisions_of_the_policy():
    env = wrap(Line(), EmergencyOverride(unsafe=outside, fallback=inwards, times=4))
    env.reset()
    seen, reward, ended, _, info = env.step(np.array([0.3]))
    at = [0.3, 0.05, 0.35, 0.1]  # the policy, the reflex, and so on
    assert seen[0] == pytest.approx(at[-1], abs=1e-15)
    assert reward == pytest.approx(sum(at))
    assert info["cost"] == pytest.approx(sum(at))
    assert (info["intervened"], info["reflexes"], info["interventions"], ended) == (True, 2, 2, False)
    assert (info["action"].tolist(), info["raw_action"].tolist()) == ([-0.25], [0.3])
    info = env.step(np.array([0.1]))[4]
    assert (info["intervened"], info["reflexes"], info["interventions"]) == (False, 0, 2)


def test_a_reflex_steps_no_further_than_the_end():
    env = wrap(Line(), EmergencyOverride(unsafe=never, times=4))
    env.reset()
    seen, reward, ended, _, _ = env.step(np.array([0.6]))
    assert ended
    assert env.unwrapped.steps == 2
    assert (seen[0], reward) == (1.2, pytest.approx(1.8))


def test_the_sums_of_a_reflex_are_those_of_single_steps():
    env = wrap(rlenvs.make_vec("QuadHover-v0", 3), EmergencyOverride(unsafe=never, times=5))
    twin = rlenvs.make_vec("QuadHover-v0", 3)
    env.reset(seed=0), twin.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(2):
        actions = rng.uniform(-0.1, 0.1, (3, 4))
        _, rewards, _, _, info = env.step(actions)
        steps = [twin.step(actions) for _ in range(5)]
        np.testing.assert_allclose(rewards, sum(step[1] for step in steps), rtol=1e-14)
        for key in ("cost", "cost_tilt", *[key for key in info if key.startswith("reward_")]):
            np.testing.assert_allclose(info[key], sum(step[4][key] for step in steps), rtol=1e-6, atol=1e-12)


def test_wrappers_below_a_reflex_see_every_step():
    env = wrap(Line(), CostBudget(limit=0.5), EmergencyOverride(unsafe=never, times=4))
    env.reset()
    _, _, ended, _, info = env.step(np.array([0.2]))
    assert ended
    assert info["cost_sum"] == pytest.approx(0.2 + 0.4)
    assert env.unwrapped.steps == 2


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=12), st.integers(1, 6))
def test_the_reflex_keeps_the_walker_inside(actions, times):
    env = wrap(Line(), EmergencyOverride(unsafe=outside, fallback=inwards, times=times))
    env.reset()
    for action in actions:
        seen, _, ended, _, info = env.step(np.array([action]))
        assert abs(seen[0]) <= 0.5 + 1e-12
        assert not ended
        assert info["reflexes"] <= times


# --- all forms --------------------------------------------------------------------------------------------------------

GUARDS = {
    "predicate": ("SafePointGoal-v0", Shield(unsafe=first_half, fallback="idle"), {}),
    "expert": ("SafePointGoal-v0", Shield(unsafe=fast), {}),
    "one step": ("SafePointGoal-v0", Shield(fallback="idle"), BUSY),
    "look ahead": ("SafePointGoal-v0", Shield(fallback="idle", lookahead=4), BUSY),
    "advice ahead": ("SafePointGoal-v0", Shield(unsafe="cost_hazards", lookahead=4), BUSY),
    "predicate ahead": ("SafePointGoal-v0", Shield(unsafe=first_half, fallback="idle", lookahead=2), {}),
    "noise": ("QuadHover-v0", Shield(fallback="idle", lookahead=2), {}),
    "mask": ("DeepSeaTreasure-v0", Shield(unsafe=odd, mask=True, fallback="idle"), {}),
    "mask ahead": ("PathFinding-v0", Shield(mask=True, lookahead=1, fallback="idle"), {}),
    "team": ("ParticleSpread-v0", Shield(fallback="idle", lookahead=2), {}),
    "reflex": ("SafePointGoal-v0", EmergencyOverride(unsafe=first_half), {}),
    "reflex of choices": ("DeepSeaTreasure-v0", EmergencyOverride(unsafe=odd, times=2), {}),
}


@pytest.mark.parametrize("name", GUARDS)
def test_forms_agree(name):
    id, wrapper, keywords = GUARDS[name]
    assert_forms_agree(id, wrapper, **keywords)


FIRST = ["advice ahead", "mask ahead", "team", "reflex"]


@pytest.mark.budget(8)
@pytest.mark.parametrize("name", FIRST)
def test_conformance(name):
    id, wrapper, keywords = GUARDS[name]
    assert_conforms(id, wrapper, **keywords)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in GUARDS if name not in FIRST])
def test_conformance_of_the_others(name):
    test_conformance(name)


@pytest.mark.slow
def test_conformance_with_a_physics_engine():
    assert_conforms("HalfCheetah-v0", Shield(lookahead=1, fallback="idle"))


@pytest.mark.parametrize("name", [name for name in GUARDS if name not in ("mask ahead", "team")])
def test_the_parallel_form_of_one_agent_agrees(name):
    id, wrapper, keywords = GUARDS[name]
    single, parallel = wrap(rlenvs.make(id, **keywords), wrapper), wrap(rlenvs.parallel_env(id, **keywords), wrapper)
    (agent,) = parallel.possible_agents
    seen, told = parallel.reset(seed=4)
    log = [(seen[agent], told[agent])]
    same = [single.reset(seed=4)]
    single.action_space.seed(0)
    while parallel.agents and len(log) < 20:
        action = single.action_space.sample()
        log.append([part[agent] for part in parallel.step({agent: action})])
        same.append(single.step(action))
    for ours, theirs in zip(log, same, strict=True):
        assert list(ours[-1]) == list(theirs[-1])
        if isinstance(ours[0], dict):  # PettingZoo's masks are in the observation too
            assert np.array_equal(ours[0]["action_mask"], theirs[-1]["action_mask"])
            ours = [ours[0]["observation"], *ours[1:]]
        for one, other in zip([*ours[:-1], *ours[-1].values()], [*theirs[:-1], *theirs[-1].values()], strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("name", GUARDS)
def test_copies_and_snapshots_go_on_alike(name):
    id, wrapper, keywords = GUARDS[name]
    env = wrap(rlenvs.make_vec(id, 3, **keywords), wrapper)
    env.reset(seed=2)
    env.action_space.seed(0)
    for _ in range(7):
        env.step(env.action_space.sample())
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env]
    state = env.get_state()
    actions = [env.action_space.sample() for _ in range(12)]
    records = [record(twin, actions) for twin in twins]
    env.set_state(state)
    records.append(record(env, actions))
    for other in records[1:]:
        assert other == records[0]


def record(env, actions):
    log = [env.step(action) for action in actions]
    return [[part.tolist() for part in (*step[:4], *step[4].values())] for step in log]


def test_a_parallel_world_goes_back_to_a_snapshot():
    env = wrap(rlenvs.parallel_env("QuadMultiHover-v0"), Shield(lookahead=2, fallback="idle"))
    env.reset(seed=0)
    plan = [{agent: env.action_space(agent).sample() for agent in env.possible_agents} for _ in range(12)]
    for actions in plan[:4]:
        env.step(actions)
    state = env.get_state()
    futures = []
    for _ in range(2):
        env.set_state(state)
        steps = [env.step({agent: actions[agent] for agent in env.agents}) for actions in plan[4:] if env.agents]
        futures.append([{agent: seen.tolist() for agent, seen in step[0].items()} for step in steps])
    assert futures[0] == futures[1]


@pytest.mark.parametrize("name", GUARDS)
def test_made_again_from_its_spec(name):
    id, wrapper, keywords = GUARDS[name]
    env = wrap(rlenvs.make(id, **keywords), wrapper)
    assert gymnasium.make(env.spec).get_wrapper_attr("recipe") == env.recipe


def test_functions_may_be_given_by_their_address():
    wrapper = Shield(unsafe="test_wrappers_shields:fast", fallback="test_wrappers_shields:half")
    env = wrap(rlenvs.make("SafePointGoal-v0"), wrapper)
    env.reset(seed=0)
    assert env.step(np.ones(2, np.float32))[4]["action"].tolist() == [0.5, 0.5]


# --- refusals ---------------------------------------------------------------------------------------------------------


class Turns(Wrapper):
    """A wrapper that changes actions."""

    def act(self, actions, slots):
        return -actions


@pytest.mark.parametrize(
    ("id", "wrappers", "message"),
    [
        ("DeepSeaTreasure-v0", [Shield(fallback="idle")], "not a cost"),
        ("SafePointGoal-v0", [Shield(unsafe="cost_hazard")], "cost_hazards"),
        ("SafePointGoal-v0", [Shield(lookahead=-1)], "lookahead"),
        ("SafePointGoal-v0", [Shield(lookahead=1.5)], "lookahead"),
        ("SafePointGoal-v0", [Shield(unsafe=3)], "unsafe=3"),
        ("SafePointGoal-v0", [Shield(mask="yes")], "mask='yes'"),
        ("SafePointGoal-v0", [Shield(unsafe="nowhere:nothing")], "nowhere"),
        ("SafePointGoal-v0", [Shield(fallback="nobody")], "fallback='nobody'"),
        ("SafePointGoal-v0", [Shield(unsafe=fast, mask=True)], "mask=True"),
        ("SafePointGoal-v0", [Turns(), Shield(lookahead=1)], "Turns"),
        ("SafePointGoal-v0", [EmergencyOverride(unsafe=never), Shield()], "EmergencyOverride"),
        ("SafePointGoal-v0", [EmergencyOverride()], "unsafe=None"),
        ("SafePointGoal-v0", [EmergencyOverride(unsafe=never, times=0)], "times"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made(id, wrappers, message):
    with pytest.raises(ParameterError, match=message):
        wrap(rlenvs.make(id), *wrappers)


def test_environments_of_other_packages_have_no_copies_and_no_expert():
    with pytest.raises(ParameterError, match="not an environment of rlenvs"):
        wrap(Line(), Shield(fallback="idle"))
    with pytest.raises(ParameterError, match="not an environment of rlenvs"):
        wrap(Line(), Shield(unsafe=never))


def test_contacts_of_pybullet_cannot_be_copied():
    pytest.importorskip("pybullet")
    env = rlenvs.make("QuadHover-v0", physics="pybullet")
    with pytest.raises(ParameterError, match="PyBullet"):
        wrap(env, Shield(fallback="idle"))
    env.close()


def test_functions_that_return_something_else_are_told_so():
    for given_settings, message in (
        ({"unsafe": lambda stage, actions, slots: True}, "needed: bool of shape"),
        ({"unsafe": always, "fallback": lambda stage, actions, slots: 0.0}, "needed: finite actions"),
        ({"unsafe": always, "fallback": lambda stage, actions, slots: actions * np.nan}, "needed: finite actions"),
    ):
        env = wrap(rlenvs.make("SafePointGoal-v0"), Shield(**{"fallback": "idle", **given_settings}))
        env.reset(seed=0)
        with pytest.raises(ParameterError, match=message):
            env.step(np.ones(2, np.float32))


def test_an_idle_fallback_does_what_the_world_calls_so():
    """In Battle choice 0 moves north."""
    env = wrap(rlenvs.make("Battle-v0", others="idle"), Shield(unsafe=always, fallback="idle"))
    env.reset(seed=0)
    info = env.step(0)[-1]
    assert info["intervened"]
    assert info["action"] == env.unwrapped.batch.setup.action.idle != 0


def test_tried_actions_do_not_count_in_images():
    env = wrap(rlenvs.make("SafePointGoal-v0", render_mode="rgb_array"), Shield(unsafe="cost", lookahead=5))
    env.reset(seed=0)
    env.render()
    paid = sum(env.step(np.array([0.5, 0.1]))[1] for _ in range(5))
    env.render()
    assert env.unwrapped.batch.totals._totals[0, 0, 0] == pytest.approx(paid)
