"""Guards that look ahead: what copies of the worlds foresee, which fallbacks are tried, how safe a shield then is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from support.wrapper_helpers import BUSY, fast, never

import rlenvs
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.shields import TRIALS, TRIED, Shield


def brake(stage, actions, slots):
    """Drive against the motion, and turn as long as there is motion aside; comes to rest in 150 steps at most."""
    ahead, aside = 2.0 * stage.observation[:, 3].astype(np.float64), 2.0 * stage.observation[:, 4].astype(np.float64)
    turn = np.where(np.hypot(ahead, aside) < 0.02, 0.0, np.clip(8.0 * aside, -1.0, 1.0))
    return np.stack([np.clip(-0.2 * ahead, -0.05, 0.05), turn], axis=1)


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
