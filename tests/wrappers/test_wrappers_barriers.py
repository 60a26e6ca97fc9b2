"""Barriers of worlds, the filter that keeps them, and the projection onto a set of actions."""

from __future__ import annotations

import copy
import json
import math
import pickle
import sys

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wrapper_helpers import FENCED, assert_conforms, assert_forms_agree
from toys import double_integrator

import rlenvs
from rlenvs.core import block, continuous, discrete, f8, term, world
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check.playing import difference
from rlenvs.core.declare.errors import ActionError, MissingExtraError, ParameterError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.vector_env import VectorEnv
from rlenvs.wrappers.barriers import BarrierFilter, SafeActions
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.projections import AS_PROPOSED, INFEASIBLE, MOVED, TOLERANCE, UNSOLVED, push, settle, solve

daqp = pytest.importorskip("daqp")


# --- the kernel of a world --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numba", "python"])
def test_a_batch_fills_the_barriers_of_all_worlds(backend):
    batch = KernelBatch(double_integrator.SPEC, 3, backend=backend, braking=True)
    batch.seed([0, 1, 2])
    batch.reset()
    found = batch.barriers(np.zeros((3, 1)))
    speed = batch.states["speed"]
    np.testing.assert_array_equal(found["value"], np.stack([1.0 - speed, 1.0 + speed], axis=1))
    np.testing.assert_array_equal(found["slope"][:, :, 0], np.tile([-0.1, 0.1], (3, 1)))
    assert (found["low"] == -1.0).all()
    assert (found["high"] == 1.0).all()
    assert (found["brake"] == 0.25).all()
    assert found is batch.barriers(np.zeros((3, 1)))  # no new arrays


def test_a_world_that_knows_no_brake_says_so():
    batch = KernelBatch(double_integrator.SPEC, 1, backend="python")
    assert np.isnan(batch.barriers(np.zeros((1, 1)))["brake"]).all()


def test_barriers_of_a_batch_refuse_other_shapes_and_worlds_without():
    batch = KernelBatch(double_integrator.SPEC, 2, backend="python")
    with pytest.raises(ActionError, match=r"shape \(2,\).*needed: \(2, 1\)"):
        batch.barriers(np.zeros(2))
    with pytest.raises(NotImplementedError, match="no barriers"):
        rlenvs.make_batch("rlenvs/QuadTakeoff-v0").barriers(np.zeros((1, 4)))


def test_declarations_of_barriers_that_cannot_work_are_refused():
    parts = {
        "doc": "",
        "state": {"x": f8},
        "observation": {"x": block(low=-1.0, high=1.0)},
        "terms": {"x": term(-1.0, 1.0)},
        "horizon": 3,
        "barriers": 1,
    }
    with pytest.raises(ParameterError, match="barriers are for worlds with continuous actions"):
        world("Wrong-v0", **parts, action=discrete("a", "b"))
    spec = world("Bare-v0", action=continuous("a"), **parts)
    for role in ("reset", "step", "observe"):
        getattr(spec, role)(lambda *_: None)
    with pytest.raises(TypeError, match=r"no barrier; add a function under @SPEC\.barrier"):
        KernelBatch(spec, backend="python")


# --- the nearest action -----------------------------------------------------------------------------------------------


def random_problem(seed, numbers, constraints):
    rng = np.random.default_rng(seed)
    low, high = -rng.uniform(0.1, 1.0, numbers), rng.uniform(0.1, 1.0, numbers)
    slopes = rng.normal(size=(constraints, numbers)) * (rng.random((constraints, numbers)) < 0.8)
    proposed = rng.normal(size=numbers)  # often beyond the bounds
    return proposed, slopes, rng.normal(size=constraints), low, high


def nearest(proposed, slopes, needs, low, high):
    """The projection onto bounds and half-spaces by a solver of quadratic programs, and whether there is one."""
    upper, lower = np.concatenate([high, np.full(len(needs), 1e30)]), np.concatenate([low, needs])
    found, _, flag, _ = daqp.solve(np.eye(len(proposed)), -proposed, slopes, upper, lower, None, primal_tol=1e-9)
    return found, flag > 0


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 10**9), st.integers(1, 6))
def test_the_closed_form_for_one_constraint_is_the_quadratic_programs_solution(seed, numbers):
    proposed, slopes, needs, low, high = random_problem(seed, numbers, 1)
    found = proposed.copy()
    push(found, slopes[0], needs[0], low, high)
    best, feasible = nearest(proposed, slopes, needs, low, high)
    assert feasible == (np.maximum(slopes[0] * low, slopes[0] * high).sum() >= needs[0])
    if feasible:
        np.testing.assert_allclose(found, best, atol=1e-7)
        if slopes[0] @ np.clip(proposed, low, high) < needs[0]:
            assert slopes[0] @ found == pytest.approx(needs[0], abs=1e-9)
    elif not feasible:  # as close as the bounds allow
        assert slopes[0] @ found == pytest.approx(np.maximum(slopes[0] * low, slopes[0] * high).sum())


def test_the_closed_form_without_bounds_is_the_safety_wrappers():
    """a - l g with l = max(0, (g . a + c - C) / (g . g)): Dalal et al. 2018."""
    proposed, g, offset = np.array([0.3, -0.2, 0.1]), np.array([1.0, 2.0, -1.0]), -0.5
    found, wide = proposed.copy(), np.full(3, 10.0)
    push(found, -g, -offset, -wide, wide)
    multiplier = max(0.0, (g @ proposed - offset) / (g @ g))
    np.testing.assert_allclose(found, proposed - multiplier * g, atol=1e-15)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**9), st.integers(1, 5), st.integers(2, 6))
def test_with_several_constraints_the_result_is_right_or_left_to_the_solver(seed, numbers, constraints):
    proposed, slopes, needs, low, high = random_problem(seed, numbers, constraints)
    found = np.clip(proposed, low, high)
    outcome = settle(proposed, slopes, needs, low, high, found)
    best, feasible = solve(proposed, slopes, needs, low, high)
    assert feasible == nearest(proposed, slopes, needs, low, high)[1]
    if feasible:
        np.testing.assert_allclose(best, nearest(proposed, slopes, needs, low, high)[0], atol=1e-6)
    if outcome in (MOVED, AS_PROPOSED):
        np.testing.assert_allclose(found, best, atol=1e-6)
    elif outcome == INFEASIBLE:
        assert not feasible
    if feasible:
        assert (slopes @ best >= needs - TOLERANCE).all()
        assert (low <= best).all()
        assert (best <= high).all()
        for other in np.random.default_rng(seed).uniform(low, high, (50, numbers)):  # none is nearer
            if (slopes @ other >= needs).all():
                assert ((other - proposed) ** 2).sum() >= ((best - proposed) ** 2).sum() - 1e-6


def test_few_problems_are_left_to_the_solver():
    """Those whose borders are nearly parallel."""
    outcomes = []
    for seed in range(1000):
        proposed, slopes, needs, low, high = random_problem(seed, 4, 3)
        if solve(proposed, slopes, needs - 0.5, low, high)[1]:
            outcomes.append(settle(proposed, slopes, needs - 0.5, low, high, np.clip(proposed, low, high)))
    assert outcomes.count(MOVED) > 300
    assert outcomes.count(UNSOLVED) < 0.1 * outcomes.count(MOVED)


def test_where_nothing_is_allowed_the_solver_misses_by_least_squares():
    """x >= 0.8 and x <= -0.2: the middle misses both by half a unit. The second number is free."""
    slopes, needs = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.8, 0.2])
    found, feasible = solve(np.array([0.9, 0.4]), slopes, needs, -np.ones(2), np.ones(2))
    assert not feasible
    np.testing.assert_allclose(found, [0.3, 0.4], atol=1e-5)


# --- the filter -------------------------------------------------------------------------------------------------------


def carts(count, *wrappers, **keywords):
    return wrap(VectorEnv(double_integrator.SPEC, num_envs=count, **keywords), *wrappers)


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
def test_the_double_integrator_stays_within_its_speeds_for_a_million_random_actions(rate):
    env, rng = carts(5000, BarrierFilter(rate)), np.random.default_rng(0)
    env.reset(seed=0)
    free = VectorEnv(double_integrator.SPEC, num_envs=5000)
    free.reset(seed=0)
    violations, unfiltered, infeasible = 0, 0, 0
    for t in range(200):
        push_on = rng.choice([-1.0, 1.0], (5000, 1)) if t % 40 < 20 else np.ones((5000, 1))
        info = env.step(push_on)[4]
        violations += info["cost_fast"].sum()
        infeasible += info["infeasible"].max()
        unfiltered += free.step(push_on)[4]["cost_fast"].sum()
    assert violations == 0
    assert infeasible == 0
    assert unfiltered > 100_000


def test_the_filter_keeps_exactly_the_share_that_the_rate_allows():
    env = carts(1, BarrierFilter(0.1))
    env.reset(seed=1)
    env.unwrapped.batch.states["speed"] = 0.8
    info = env.step(np.ones((1, 1)))[4]
    assert env.unwrapped.batch.states["speed"][0] == pytest.approx(1.0 - 0.9 * 0.2)
    assert info["barrier"] == pytest.approx(0.2)
    assert info["action"] == pytest.approx(0.2)
    assert info["raw_action"] == 1.0
    assert info["intervened"]
    assert info["interventions"] == 1
    info = env.step(-np.ones((1, 1)))[4]
    assert info["action"] == -1.0
    assert not info["intervened"]
    assert info["interventions"] == 1


def test_a_margin_is_taken_off_every_barrier():
    env = carts(1, BarrierFilter(0.1, margin=0.05))
    env.reset(seed=1)
    env.unwrapped.batch.states["speed"] = 0.8
    info = env.step(np.ones((1, 1)))[4]
    assert info["barrier"] == pytest.approx(0.2)
    assert env.unwrapped.batch.states["speed"][0] == pytest.approx(0.95 - 0.9 * 0.15)


def test_info_of_a_reset_tells_how_safe_the_start_is():
    env = carts(2, BarrierFilter())
    info = env.reset(seed=0)[1]
    np.testing.assert_allclose(info["barrier"], 1.0 - np.abs(env.unwrapped.batch.states["speed"]))
    stepped = env.step(np.ones((2, 1)))[4]
    assert set(info) == set(stepped)
    env.reset(seed=0)
    assert (env.wrappers[0].interventions == 0).all()


def test_a_filter_may_believe_in_other_parameters_than_the_worlds():
    heavy = carts(2, BarrierFilter(1.0), randomize={"dt": (0.2, 0.2)})
    wrong = carts(2, BarrierFilter(1.0, model={}), randomize={"dt": (0.2, 0.2)})
    worse = carts(2, BarrierFilter(1.0, model={"dt": 0.4}), randomize={"dt": (0.2, 0.2)})
    for env, action in ((heavy, 0.5), (wrong, 1.0), (worse, 0.25)):
        env.reset(seed=0)
        env.unwrapped.batch.states["speed"] = 0.9
        info = env.step(np.ones((2, 1)))[4]
        np.testing.assert_allclose(info["action"], action, rtol=1e-6)
        assert env.unwrapped.batch.states["speed"] == pytest.approx(0.9 + 0.2 * action, abs=1e-6)
        json.dumps(env.recipe)


@pytest.mark.parametrize("braking", [False, True])
def test_an_infeasible_step_falls_back_and_is_counted(braking):
    env = carts(2, BarrierFilter(1.0), braking=braking)
    env.reset(seed=0)
    env.unwrapped.batch.states["speed"] = [1.5, 0.0]
    info = env.step(np.ones((2, 1)))[4]
    np.testing.assert_allclose(info["action"][:, 0], [0.25 if braking else -1.0, 1.0])
    np.testing.assert_array_equal(info["infeasible"], [1, 0])
    np.testing.assert_array_equal(info["interventions"], [1, 0])


def test_a_function_serves_as_barrier_for_any_environment():
    """Pendulum: the speed after a step of 0.05 s is w + 0.75 sin(angle) + 0.15 u, and may not exceed 1 rad/s."""

    def slow(below, actions):
        _, sine, speed = below.observation.T.astype(np.float64)
        value = np.stack([1.0 - speed, 1.0 + speed], axis=1)
        drift = 0.75 * sine
        return value, np.stack([-drift, drift], axis=1), np.tile([[[-0.15], [0.15]]], (len(speed), 1, 1))

    speeds = []
    for wrappers in ([], [BarrierFilter(1.0, barrier=slow)]):
        env = gymnasium.make("Pendulum-v1")
        env = wrap(env, *wrappers) if wrappers else env
        env.reset(seed=0)
        env.unwrapped.state = np.array([math.pi, 0.0])  # hanging
        env.step(np.zeros(1, np.float32))  # so that the wrappers see it
        outcomes = [env.step(np.array([2.0 if t % 16 < 8 else -2.0], np.float32)) for t in range(90)]
        speeds.append(max(abs(outcome[0][2]) for outcome in outcomes))
    assert speeds[0] > 1.5
    assert speeds[1] == pytest.approx(1.0, abs=1e-4)
    assert env.wrappers[0].infeasible[0] == 0


def wrong_shapes(below, actions):
    return np.zeros(3), np.zeros(1), np.zeros((1, 1))


def constant(below, actions):
    return np.ones(len(actions)), np.zeros(len(actions)), np.zeros(actions.shape)


def test_functions_are_checked_and_may_be_given_by_address():
    env = wrap(gymnasium.make("Pendulum-v1"), BarrierFilter(barrier=wrong_shapes))
    with pytest.raises(ParameterError, match=r"gave arrays of shapes \(3, 1\).*slots=1 and m=1"):
        env.reset(seed=0)
    sys.modules["here_be_barriers"] = sys.modules[__name__]
    env = wrap(gymnasium.make("Pendulum-v1"), BarrierFilter(barrier="here_be_barriers:constant"))
    json.dumps(env.recipe)
    env.reset(seed=0)
    assert not env.step(np.ones(1, np.float32))[4]["intervened"]


@pytest.mark.parametrize(
    ("id", "keywords", "wrapper", "message"),
    [
        ("SafePointGoal", {}, BarrierFilter(0.0), r"rate=0.0 must be one number in \(0, 1\]"),
        ("SafePointGoal", {}, BarrierFilter(1.5), r"rate=1.5 must be finite and within \[0, 1\]"),
        ("SafePointGoal", {}, BarrierFilter([0.1, 0.2]), "must be one number"),
        ("SafePointGoal", {}, BarrierFilter("fast"), "is not a number"),
        ("SafePointGoal", {}, BarrierFilter(margin=-0.1), "margin=-0.1 must be finite and at least 0"),
        ("SafePointGoal", {}, BarrierFilter(margin=[0.1]), "margin=.* must be one number"),
        ("SafePointGoal", {"level": "0"}, BarrierFilter(), "has no barriers with these options"),
        ("QuadHover", {}, BarrierFilter(), "has no barriers with these options; it has with action='velocity'"),
        ("QuadTakeoff", {}, BarrierFilter(), r"has no barriers; give a function, BarrierFilter\(barrier=...\)"),
        ("DeepSeaTreasure", {}, BarrierFilter(), "has discrete actions; it needs continuous ones"),
        ("SafePointGoal", {}, BarrierFilter(barrier="nowhere:nothing"), "cannot import 'nowhere:nothing'"),
        ("SafePointGoal", {}, BarrierFilter(model={"dragg": 1}), "no parameter 'dragg'. Did you mean 'drag'"),
        ("SafePointGoal", {}, BarrierFilter(model={"drag": 9}), "drag=9 is outside its range"),
        ("SafePointGoal", {}, BarrierFilter(model={"drag": [0.01, 0.02]}), "must give one number for drag"),
        ("SafePointGoal", {}, BarrierFilter(model=3), "must be a dictionary"),
        ("SafePointGoal", {}, BarrierFilter(barrier=constant, model={}), "applies only to the world's own barriers"),
        ("SafePointGoal", {}, BarrierFilter(barrier=3), "must be a function, or the address"),
        ("DeepSeaTreasure", {}, SafeActions(), "has discrete actions"),
        ("SafePointGoal", {}, SafeActions(low=[0, 0, 0]), r"low=\[0, 0, 0\] must be one number or 2"),
        ("SafePointGoal", {}, SafeActions(low=0.5, high=[0.0, 1.0]), "exceeds high"),
        ("SafePointGoal", {}, SafeActions(high=-2.0), "exceeds high"),
        ("SafePointGoal", {}, SafeActions(normals=[1, 1]), "must be given together"),
        ("SafePointGoal", {}, SafeActions(offsets=[1]), "must be given together"),
        ("SafePointGoal", {}, SafeActions(normals=[[1, 1, 1]], offsets=[1]), r"must have the shape \(1, 2\)"),
        ("SafePointGoal", {}, SafeActions(normals=[[1, 1]], offsets=[1, 2]), r"must have the shape \(2, 2\)"),
        ("SafePointGoal", {}, SafeActions(normals=[[0, 0]], offsets=[1]), "row of zeros"),
        ("SafePointGoal", {}, SafeActions(normals=[[1, math.nan]], offsets=[1]), "must be finite"),
        ("SafePointGoal", {}, SafeActions(normals=[[1, 0]], offsets=[-3]), "no action within the bounds"),
        ("SafePointGoal", {}, SafeActions(normals=[[1, 0], [-1, 0]], offsets=[-0.1, -0.1]), "no action within"),
    ],
)
def test_bad_settings_are_refused_when_wrapping(id, keywords, wrapper, message):
    with pytest.raises(ParameterError, match=message):
        wrap(rlenvs.make(f"rlenvs/{id}-v0", **keywords), wrapper)


def test_without_the_solver_several_constraints_are_refused_when_wrapping(monkeypatch):
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(MissingExtraError, match=r"rlenvs-suite\[safety\]"):
        wrap(rlenvs.make("rlenvs/SafePointGoal-v0"), BarrierFilter())
    with pytest.raises(MissingExtraError, match=r"rlenvs-suite\[safety\]"):
        wrap(rlenvs.make("rlenvs/SafePointGoal-v0"), SafeActions(normals=[[1, 0], [0, 1]], offsets=[0, 0]))
    wrap(rlenvs.make("rlenvs/QuadHover-v0", action="velocity"), BarrierFilter())
    wrap(rlenvs.make("rlenvs/SafePointGoal-v0"), SafeActions(normals=[1, 1], offsets=0.5))


def test_the_filter_wants_the_worlds_own_actions():
    class Halved(SafeActions):
        def prepare(self):
            super().prepare()
            self.action_spaces = [gymnasium.spaces.Box(-2.0, 2.0, (2,), np.float32)]

    with pytest.raises(ParameterError, match="put the filter innermost"):
        wrap(rlenvs.make("rlenvs/SafePointGoal-v0"), Halved(), BarrierFilter())


# --- the set of actions -----------------------------------------------------------------------------------------------

POLYTOPE = {"normals": [[1, 1, 0, 0], [-1, 0, 1, 0], [0, 0.5, 0, -1]], "offsets": [0.3, 0.2, 0.1]}


def test_projection_is_idempotent_and_the_identity_inside():
    env = wrap(rlenvs.make_vec("rlenvs/QuadHover-v0", 500, horizon=3), SafeActions(low=-0.9, high=0.8, **POLYTOPE))
    env.reset(seed=0)
    wrapper, slots = env.wrappers[0], np.ones(500, np.bool_)
    proposed = np.random.default_rng(0).uniform(-1, 1, (500, 4)).astype(np.float32).astype(np.float64)
    once = wrapper.act(proposed, slots).copy()
    normals, offsets = np.array(POLYTOPE["normals"]), np.array(POLYTOPE["offsets"])
    assert (once @ normals.T <= offsets + 2 * TOLERANCE).all()
    assert (once >= -0.9 - 1e-7).all()
    assert (once <= 0.8 + 1e-7).all()
    inside = (proposed @ normals.T <= offsets).all(axis=1) & (np.clip(proposed, -0.9, 0.8) == proposed).all(axis=1)
    assert 10 < inside.sum() < 490
    np.testing.assert_array_equal(once[inside], proposed[inside])
    np.testing.assert_array_equal(wrapper.extra_info()["intervened"], ~inside)
    np.testing.assert_allclose(wrapper.act(once, slots), once, atol=1e-6)
    for i in range(50):
        best, _ = solve(proposed[i], -normals, -offsets, np.full(4, -0.9), np.full(4, 0.8))
        np.testing.assert_allclose(once[i], best, atol=1e-5)


@pytest.mark.parametrize("constraints", [0, 1, 3])
def test_actions_go_to_the_nearest_of_the_set_from_wherever_they_are(constraints):
    """Random sets, among them empty ones, which `wrap` refuses, and actions beyond the bounds of the set."""
    envs, empty = rlenvs.make_vec("rlenvs/QuadHover-v0", 20, horizon=3), 0
    for seed in range(40):
        _, slopes, needs, low, high = random_problem(seed, 4, max(constraints, 1))
        low, high = low.astype(np.float32), high.astype(np.float32)
        slopes[:, 0] += 0.01  # none is zero
        half_spaces = {"normals": -slopes, "offsets": -needs} if constraints else {}
        slopes, needs = slopes[:constraints], needs[:constraints]
        bounds = low.astype(np.float64), high.astype(np.float64)
        if not nearest(np.zeros(4), slopes, needs, *bounds)[1]:
            with pytest.raises(ParameterError, match="no action within the bounds"):
                wrap(envs, SafeActions(low=low, high=high, **half_spaces))
            empty += 1
            continue
        (wrapper,) = wrap(envs, SafeActions(low=low, high=high, **half_spaces)).wrappers
        proposed = np.random.default_rng(seed).uniform(-1.0, 1.0, (20, 4))
        found = wrapper.act(proposed, np.ones(20, np.bool_))
        for own, action in zip(proposed, found, strict=True):
            np.testing.assert_allclose(action, nearest(own, slopes, needs, *bounds)[0], atol=2e-6)
    assert constraints < 2 or 5 < empty < 35


def test_a_set_that_holds_everything_changes_nothing():
    plain, env = rlenvs.make("rlenvs/QuadHover-v0"), wrap(rlenvs.make("rlenvs/QuadHover-v0"), SafeActions())
    seen, expected = env.reset(seed=3)[0], plain.reset(seed=3)[0]
    rng = np.random.default_rng(0)
    for _ in range(10):
        np.testing.assert_array_equal(seen, expected)
        action = rng.uniform(-1, 1, 4).astype(np.float32)
        seen, expected = env.step(action)[0], plain.step(action)[0]


# --- the forms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "wrapper", "keywords"),
    [
        ("rlenvs/SafePointGoal-v0", BarrierFilter(), {}),
        ("rlenvs/QuadHover-v0", BarrierFilter(0.05), FENCED),
        ("rlenvs/QuadHover-v0", SafeActions(low=-0.5, **POLYTOPE), {}),
        ("rlenvs/ParticleSpread-v0", BarrierFilter(), {"actions": "continuous"}),
    ],
)
def test_all_forms_do_the_same(id, wrapper, keywords):
    assert_forms_agree(id, wrapper, **keywords)


def test_the_parallel_form_projects_every_agents_actions():
    env = wrap(rlenvs.parallel_env("rlenvs/QuadMultiHover-v0"), SafeActions(low=-0.2, high=0.3))
    env.reset(seed=0)
    infos = env.step({agent: np.ones(env.action_space(agent).shape, np.float32) for agent in env.agents})[4]
    for info in infos.values():
        np.testing.assert_allclose(info["action"], 0.3, rtol=1e-6)
        assert info["intervened"]


@pytest.mark.parametrize(
    ("id", "keywords"),
    [
        ("rlenvs/SafePointGoal-v0", {}),
        ("rlenvs/QuadHover-v0", FENCED),
        ("rlenvs/ParticleSpread-v0", {"actions": "continuous"}),
    ],
)
def test_filtered_environments_conform(id, keywords):
    assert_conforms(id, BarrierFilter(), **keywords)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_mid_episode_go_on_alike(again):
    env = wrap(rlenvs.make("rlenvs/SafePointGoal-v0"), BarrierFilter(0.3))
    env.reset(seed=4)
    actions = np.random.default_rng(0).uniform(-1, 1, (60, 2)).astype(np.float32)
    for action in actions[:30]:
        env.step(action)
    twin, snapshot = again(env), env.get_state()
    first, second = [env.step(action) for action in actions[30:]], [twin.step(action) for action in actions[30:]]
    env.set_state(snapshot)
    third = [env.step(action) for action in actions[30:]]
    assert not difference(first, second)
    assert not difference(first, third)


def test_the_specification_makes_the_same_environment():
    env = wrap(gymnasium.make("rlenvs/QuadHover-v0", action="velocity"), BarrierFilter(0.2))
    twin = gymnasium.make(env.spec)
    assert twin.wrappers[0].rate == 0.2
    assert not difference(env.reset(seed=0), twin.reset(seed=0))


def test_the_form_of_one_world_in_plain_python():
    env = wrap(Env(double_integrator.SPEC, backend="python"), BarrierFilter(1.0))
    env.reset(seed=0)
    for _ in range(30):
        info = env.step(np.ones(1, np.float32))[4]
        assert info["cost_fast"] == 0.0
    assert info["interventions"] > 10
