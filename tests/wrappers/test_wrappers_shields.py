"""Shields and reflexes: what they let pass, what they replace, and that copies of worlds tell the truth and no more."""

from __future__ import annotations

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.costs import CostBudget
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.reflexes import EmergencyOverride
from rlenvs.wrappers.shields import TRIALS, TRIED, Shield
from rlenvs.wrappers.wrapper import Wrapper

# hazards so dense that random actions pay for them soon
BUSY = {"hazards": 20, "extent": 0.8, "hazard_radius": 0.4}


def fast(stage, actions, slots):
    """Full thrust forward is dangerous."""
    return actions[:, 0] > 0.5


def first_half(stage, actions, slots):
    """Danger that depends on the state alone."""
    return np.asarray(stage.observation[:, 0] > 0.0)


def never(stage, actions, slots):
    return np.zeros(stage.count, np.bool_)


def always(stage, actions, slots):
    return np.ones(stage.count, np.bool_)


def odd(stage, actions, slots):
    return actions % 2 == 1


def half(stage, actions, slots):
    return np.full_like(actions, 0.5)


def brake(stage, actions, slots):
    """Drive against the motion, and turn as long as there is motion aside; comes to rest in 150 steps at most."""
    ahead, aside = 2.0 * stage.observation[:, 3].astype(np.float64), 2.0 * stage.observation[:, 4].astype(np.float64)
    turn = np.where(np.hypot(ahead, aside) < 0.02, 0.0, np.clip(8.0 * aside, -1.0, 1.0))
    return np.stack([np.clip(-0.2 * ahead, -0.05, 0.05), turn], axis=1)


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


# --- looking ahead ----------------------------------------------------------------------------------------------------


def test_copies_do_what_the_worlds_will_do():
    env = wrap(rlenvs.make_vec("SafePointGoal-v0", 6, **BUSY), Shield(lookahead=0, fallback="idle"))
    env.reset(seed=5)
    (wrapper,) = env.wrappers
    rng = np.random.default_rng(0)
    everyone, judged = np.ones(6, np.bool_), 0
    twin = rlenvs.make_vec("SafePointGoal-v0", 6, **BUSY)
    twin.reset(seed=5)
    for _ in range(30):
        actions = rng.uniform(-1, 1, (6, 2))
        verdict = wrapper._verdict(actions, everyone, 0)
        *_, info = twin.step(actions)
        assert np.array_equal(verdict, info["cost"] > 0.0)
        assert np.array_equal(wrapper._copies.batch.states["position"], twin.batch.states["position"])
        judged += verdict.sum()
        for i in range(6):
            env.batch.set_state(twin.batch.get_state(i), i)
    assert 0 < judged < 180


def test_copies_know_the_parameters_of_each_world():
    env = wrap(rlenvs.make_vec("SafePointGoal-v0", 3), Shield(fallback="idle", lookahead=0))
    env.reset(seed=0, options={"params": {"drag": np.array([0.005, 0.01, 0.03])}})
    (wrapper,) = env.wrappers
    for _ in range(3):
        env.step(np.ones((3, 2)))
    speeds = np.linalg.norm(env.batch.states["velocity"], axis=1)
    assert np.array_equal(wrapper._copies.batch.states["velocity"], env.batch.states["velocity"])
    assert speeds[0] > speeds[1] > speeds[2]


def test_copies_of_physics_engines_do_what_the_engines_will_do():
    env = wrap(rlenvs.make_vec("HalfCheetah-v0", 2), Shield(fallback="idle", lookahead=1))
    env.reset(seed=0, options={"params": {"mass": np.array([8.0, 20.0])}})
    (wrapper,) = env.wrappers
    actions = np.full((2, 6), 0.4)
    for _ in range(3):
        env.step(actions)
    wrapper._copies.match(env.batch, wrapper.key, wrapper.time)
    wrapper._copies.step(actions, np.ones(2, np.bool_))
    foreseen = wrapper._copies.observation.copy()
    assert np.array_equal(foreseen, env.step(actions)[0])


def test_copies_do_not_see_the_random_numbers_to_come():
    env = wrap(rlenvs.make_vec("QuadHover-v0", 3), Shield(fallback="idle"))
    env.reset(seed=0)
    (wrapper,) = env.wrappers
    copies = wrapper._copies
    copies.match(env.batch, wrapper.key, wrapper.time)
    names = [name for name in env.batch.states.dtype.names if name not in ("rng", "players_rng")]
    assert np.array_equal(copies.batch.states[names], env.batch.states[names])
    first = copies.batch.states["rng"].copy()
    assert (first != env.batch.states["rng"]).all()
    assert len(np.unique(first)) == first.size
    before = env.batch.states["rng"].copy()
    env.batch.states["rng"] += np.uint64(1)  # other true numbers, the same imagined ones
    copies.match(env.batch, wrapper.key, wrapper.time)
    assert np.array_equal(copies.batch.states["rng"], first)
    env.batch.states["rng"] = before
    env.step(np.zeros((3, 4)))
    copies.match(env.batch, wrapper.key, wrapper.time)
    assert (copies.batch.states["rng"] != first).all()


def test_a_shield_that_can_brake_in_time_is_never_charged():
    costs, interventions = {}, 0
    for name, wrappers in {"bare": (), "shielded": (Shield(fallback=brake, lookahead=60),)}.items():
        env = rlenvs.make_vec("SafePointGoal-v0", 32, hazard_radius=0.4)
        env = wrap(env, *wrappers) if wrappers else env
        env.reset(seed=1)
        rng = np.random.default_rng(0)
        costs[name] = 0.0
        for _ in range(120):
            *_, info = env.step(rng.uniform(-1, 1, (32, 2)))
            costs[name] += info["cost"].sum()
            if wrappers:
                interventions += info["intervened"].sum()
    assert costs["bare"] > 0.0
    assert costs["shielded"] == 0.0
    assert 0 < interventions < 0.05 * 32 * 120
    assert info["infeasible"].sum() == 0


@pytest.mark.slow
def test_a_shielded_expert_is_never_charged_and_keeps_most_of_its_return():
    """The robot drives fast, so the fallback needs time to stop it."""
    returns = {}
    for name, wrappers in {"bare": (), "shielded": (Shield(fallback=brake, lookahead=150),)}.items():
        env = rlenvs.make_vec("SafePointGoal-v0", 32)
        env = wrap(env, *wrappers) if wrappers else env
        env.reset(seed=1)
        returns[name] = cost = 0.0
        for _ in range(500):
            _, rewards, _, _, info = env.step(env.expert_actions())
            returns[name] += rewards.mean()
            cost += info["cost"].sum()
        assert cost == 0.0
    assert info["infeasible"].sum() == 0
    assert returns["shielded"] > 0.8 * returns["bare"]


def test_a_longer_look_is_at_least_as_careful():
    """What is safe with n steps of the fallback behind it is safe with fewer."""
    envs = [rlenvs.make_vec("SafePointGoal-v0", 8, **BUSY) for _ in range(3)]
    wrappers = [
        wrap(env, Shield(fallback="idle", lookahead=n)).wrappers[0] for env, n in zip(envs, (0, 3, 12), strict=True)
    ]
    for wrapper in wrappers:
        wrapper.reset(np.ones(8, np.bool_), list(range(8)))
    rng = np.random.default_rng(3)
    for _ in range(20):
        actions = rng.uniform(-1, 1, (8, 2))
        verdicts = [wrapper._verdict(actions, np.ones(8, np.bool_), wrapper.look) for wrapper in wrappers]
        assert (verdicts[1] | ~verdicts[0]).all()
        assert (verdicts[2] | ~verdicts[1]).all()
        for wrapper in wrappers:
            wrapper.below.step(actions, np.ones(8, np.bool_))


def in_a_hazard(env):
    """Put the robots to rest in the middle of a hazard, nose to the right."""
    states = env.unwrapped.batch.states
    states["hazards"], states["vases"], states["goal"] = 9.0, 9.0, 9.0
    states["hazards"][:, 0], states["position"], states["velocity"] = 0.0, 0.0, 0.0
    states["heading"], states["spin"] = 0.0, 0.0


@pytest.mark.parametrize(
    ("shield", "look"),
    [
        (Shield(fallback="idle"), 60),  # the robot coasts for more than 20 steps
        (Shield(), 20),
        (Shield(lookahead=5), 5),
        (Shield(unsafe=fast), 0),
        (Shield(unsafe=fast, lookahead=3), 3),
    ],
)
def test_a_look_ahead_is_found_where_none_is_given(shield, look):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if look == 5 else "error")
        assert wrap(rlenvs.make("SafePointGoal-v0"), shield).wrappers[0].look == look


def creep(stage, actions, slots):
    """Drives on, but slowly."""
    return np.broadcast_to([0.01, 0.0], actions.shape)


def test_a_fallback_that_is_safe_for_a_moment_only_does_not_take_over():
    """The robot stands before a hazard. The proposed action drives into it at once, the fallback some steps later."""
    env = wrap(rlenvs.make_vec("SafePointGoal-v0", 1), Shield(unsafe="cost_hazards", fallback=creep, lookahead=0))
    env.reset(seed=0)
    in_a_hazard(env)
    radius = env.unwrapped.batch.param_rows["hazard_radius"][0]
    env.unwrapped.batch.states["hazards"][:, 0] = [radius + 0.0004, 0.0]
    shield, ahead, here = env.wrappers[0], np.array([[1.0, 0.0]]), np.ones(1, np.bool_)
    assert shield._verdict(ahead, here, 0)
    assert not shield._verdict(np.array([[0.01, 0.0]]), here, 0)
    *_, info = env.step(ahead)
    assert info["action"][0, 0] <= 0.0
    for _ in range(20):
        assert not info["cost_hazards"].any()
        *_, info = env.step(np.zeros((1, 2)))


def test_ways_are_compared_for_no_shorter_than_the_look_ahead():
    """Else danger that the verdict sees would be out of sight there, and the proposed action would always pass."""
    env = wrap(rlenvs.make("SafePointGoal-v0"), Shield(fallback="idle", lookahead=60))
    assert env.wrappers[0]._looks == (61, 105)


def roll(stage, actions, slots):
    return np.broadcast_to([0.3, 0.3, -0.3, -0.3], actions.shape)


@pytest.mark.filterwarnings("ignore:Shield")
@pytest.mark.parametrize("fallback", ["idle", roll])
def test_no_override_is_foreseen_to_be_worse_than_what_it_replaces(fallback):
    """Over the steps in which ways are compared; where a way leads out within them."""
    env = wrap(rlenvs.make_vec("QuadTrack-v0", 4), Shield(fallback=fallback, lookahead=0))
    env.reset(seed=0)
    shield, everyone, rng, overridden = env.wrappers[0], np.ones(4, np.bool_), np.random.default_rng(0), 0
    for step in range(20):
        if step % 10 == 0:
            proposed = rng.uniform(-1.0, 1.0, (4, 4)).astype(np.float32).astype(np.float64)
        live = everyone & ~shield.over
        executed, steps = shield.act(proposed, live).copy(), []
        for first in (proposed, executed):
            ways = ["fallback", "expert", proposed, *shield._ways]
            steps.append(np.min([shield._unsafe_steps(first, way, live, 21) for way in ways], axis=0))
        known = steps[0] < 21
        assert (steps[1] <= steps[0])[known].all()
        overridden += (live & known & (executed != proposed).any(axis=1)).sum()
        env.step(proposed)
    assert overridden > 0


def first_of_all(stage, actions, slots):
    SEEN.append(slots.copy())
    return np.arange(stage.count) == 0


SEEN: list[np.ndarray] = []


def test_who_comes_to_harm_goes_on_in_the_copies_of_a_team():
    """Agents in danger do not stop acting while others are judged."""
    env = wrap(rlenvs.parallel_env("ParticleSpread-v0"), Shield(unsafe=first_of_all, lookahead=3, fallback="idle"))
    env.reset(seed=0)
    SEEN.clear()
    env.wrappers[0]._verdict(np.zeros(3, np.int64), np.ones(3, np.bool_), 3)
    assert np.array(SEEN).tolist() == [[True] * 3] * 4


def test_in_danger_what_leads_out_soonest_passes():
    """The fallback would stay for ever, and every action is unsafe for a while."""
    env = wrap(rlenvs.make_vec("SafePointGoal-v0", 3), Shield(unsafe="cost_hazards", fallback="idle", lookahead=60))
    env.reset(seed=0)
    in_a_hazard(env)
    *_, info = env.step(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]))
    assert info["cost_hazards"].all()
    assert info["infeasible"].tolist() == [1, 1, 1]
    assert info["action"][:2].tolist() == [[1.0, 0.0], [-1.0, 0.0]]  # straight on, and straight back
    assert info["intervened"].tolist() == [False, False, True]
    assert abs(info["action"][2, 0]) == 1.0
    for _ in range(50):
        *_, info = env.step(np.zeros((3, 2)))  # the policy would rather stay
        if not info["cost_hazards"].any():
            break
    assert not info["cost_hazards"].any()


def test_masks_leave_danger_by_the_way_that_is_soonest_out():
    env = wrap(rlenvs.make_vec("MarsExplorer-v0", 4), Shield(mask=True, fallback="idle", lookahead=20))
    env.reset(seed=0)
    unsafe = 0.0
    for _ in range(60):
        unsafe += env.step(np.zeros(4, np.int64))[4]["cost"].sum()
    assert unsafe == 0.0


def test_a_crash_is_worse_than_all_steps_in_danger():
    """Lava ends the episode: driving into it counts for more than the steps that are looked at."""
    env = wrap(rlenvs.make_vec("MiniGridLavaCrossingS9N2-v0", 8), Shield(lookahead=4))
    env.reset(seed=0)
    shield, rng, forward, everyone = env.wrappers[0], np.random.default_rng(0), np.full(8, 2), np.ones(8, np.bool_)
    found = set()
    for _ in range(20):
        found |= set(shield._unsafe_steps(forward, forward, everyone & ~shield.over, 21).tolist())
        env.step(rng.integers(0, 3, 8))
    assert 0 in found
    assert max(found) > 21
    assert all(steps > 21 for steps in found - {0})


def test_the_time_limit_is_no_crash():
    """Who is in danger when the time is over has had as many unsafe steps as there were."""
    env = wrap(rlenvs.make_vec("SafePointGoal-v0", 1), Shield(unsafe="cost_hazards", fallback="idle", lookahead=60))
    env.reset(seed=0)
    in_a_hazard(env)
    batch, rest, here = env.unwrapped.batch, np.zeros((1, 2)), np.ones(1, np.bool_)
    batch.states["elapsed"] = batch.setup.horizon - 5
    assert env.wrappers[0]._unsafe_steps(rest, rest, here, 21) == 5


def test_wrap_says_where_a_fallback_is_hardly_ever_safe():
    """On a road where who is ahead brakes, and the left lane costs, there is no way without an unsafe step."""
    told = r"TwoWay-v0 safe with lookahead=60: it is safe for 61 steps in 0 of 96 .* or one cost .*'cost_collision'"
    with pytest.warns(UserWarning, match=told):
        wrap(rlenvs.make("TwoWay-v0"), Shield(fallback="idle"))


@pytest.mark.filterwarnings("ignore:Shield")
def test_fallbacks_are_tried_in_the_midst_of_episodes():
    env = wrap(rlenvs.make("TwoWay-v0"), Shield(fallback="idle"))
    (shield,) = env.wrappers
    copies, began = shield._copies.like(TRIED), set()
    for trial in range(TRIALS):
        copies.begin(trial)
        shield._wander(copies, np.random.default_rng(trial))
        assert not copies.over.any()
        began |= set(copies.batch.states["elapsed"].tolist())
    assert len(began) > 3


def test_wrap_says_where_a_fallback_does_not_keep_what_it_finds_safe():
    with pytest.warns(UserWarning, match="SafePointGoal-v0 safe with lookahead=0: .* in 20 steps more"):
        wrap(rlenvs.make("SafePointGoal-v0"), Shield(fallback="idle", lookahead=0))
    with pytest.warns(UserWarning, match="SafePointGoal-v0 safe with lookahead=20: of [0-9]+ states in which"):
        wrap(rlenvs.make("SafePointGoal-v0"), Shield(fallback="idle", lookahead=20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrap(rlenvs.make("SafePointGoal-v0"), Shield(fallback="idle", lookahead=60))


@pytest.mark.parametrize("shield", [Shield(fallback="idle", lookahead=20), Shield(fallback=brake, lookahead=5)])
def test_trying_the_fallback_changes_nothing(shield):
    bare, env = (rlenvs.make_vec("SafePointGoal-v0", 2) for _ in range(2))
    bare.reset(seed=3), env.reset(seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrap(env, shield)
    assert bare.batch.digest() == env.batch.digest()


def test_looking_ahead_changes_nothing_but_actions():
    bare = rlenvs.make_vec("ParticleSpread-v0", 4)
    env = wrap(rlenvs.make_vec("ParticleSpread-v0", 4), Shield(unsafe=never, lookahead=3, fallback="idle"))
    bare.reset(seed=0), env.reset(seed=0)
    for _ in range(20):
        actions = bare.action_space.sample()
        assert np.array_equal(env.step(actions)[0], bare.step(actions)[0])


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
