"""Uncertainty sets, parameters drawn by episode, and evaluation over sets."""

from __future__ import annotations

import itertools
import json

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.wrapper_helpers import HOVER, QUAD, hover

import rlenvs
from rlenvs.agents import robustness
from rlenvs.agents.evaluate import evaluate
from rlenvs.agents.robustness import Robustness, evaluate_robustness
from rlenvs.agents.rrls import robot_of
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.wrappers.adversary import ActionAdversary, ParameterAdversary
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.robustness import (
    RRLS_SETS,
    AdversarialAgents,
    DomainRandomization,
    UncertaintySet,
    uncertainty_set,
)
from rlenvs.wrappers.slots import slots_of

# --- uncertainty sets -------------------------------------------------------------------------------------------------

# the table of RRLS; the nominal masses are those of the installed models
PUBLISHED = {
    "rrls-ant-1": [("torso_mass", 0.1, 3.0)],
    "rrls-ant-2": [("torso_mass", 0.1, 3.0), ("front_left_leg_mass", 0.01, 3.0)],
    "rrls-ant-3": [
        ("torso_mass", 0.1, 3.0),
        ("front_left_leg_mass", 0.01, 3.0),
        ("front_right_leg_mass", 0.01, 3.0),
    ],
    "rrls-half-cheetah-1": [("friction", 0.1, 3.0)],
    "rrls-half-cheetah-2": [("friction", 0.1, 4.0), ("torso_mass", 0.1, 7.0)],
    "rrls-half-cheetah-3": [("friction", 0.1, 4.0), ("torso_mass", 0.1, 7.0), ("back_thigh_mass", 0.1, 3.0)],
    "rrls-hopper-1": [("friction", 0.1, 3.0)],
    "rrls-hopper-2": [("friction", 0.1, 3.0), ("torso_mass", 0.1, 3.0)],
    "rrls-hopper-3": [("friction", 0.1, 3.0), ("torso_mass", 0.1, 3.0), ("thigh_mass", 0.1, 4.0)],
    "rrls-humanoid-standup-1": [("torso_mass", 0.1, 16.0)],
    "rrls-humanoid-standup-2": [("torso_mass", 0.1, 16.0), ("right_foot_mass", 0.1, 8.0)],
    "rrls-humanoid-standup-3": [
        ("torso_mass", 0.1, 16.0),
        ("right_foot_mass", 0.1, 8.0),
        ("left_thigh_mass", 0.1, 5.0),
    ],
    "rrls-inverted-pendulum-1": [("pole_mass", 1.0, 31.0)],
    "rrls-inverted-pendulum-2": [("pole_mass", 1.0, 31.0), ("cart_mass", 1.0, 11.0)],
    "rrls-walker2d-1": [("friction", 0.1, 4.0)],
    "rrls-walker2d-2": [("friction", 0.1, 4.0), ("torso_mass", 0.1, 5.0)],
    "rrls-walker2d-3": [("friction", 0.1, 4.0), ("torso_mass", 0.1, 5.0), ("thigh_mass", 0.1, 6.0)],
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sets_fit_their_worlds(name):
    region = RRLS_SETS[name]
    slots = [(name, values[0], values[-1]) for name, values in region.ranges.items()]
    assert slots == PUBLISHED[name]
    assert uncertainty_set(name) is region
    region.check(world_of(robot_of(name)))


def test_all_published_sets_are_in_the_table():
    assert set(RRLS_SETS) == set(PUBLISHED)


def test_sets_refuse_what_is_none():
    world = world_of(HOVER)
    for ranges in (
        {},
        {"mass": (0.04, 0.02)},
        {"mass": 0.02},
        {"mass": (0.02, np.inf)},
        {"mass": (0.02, 0.05, 0.04)},
        3,
    ):
        with pytest.raises(ParameterError, match=r"range|requires"):
            UncertaintySet(ranges)
    with pytest.raises(ParameterError, match="mass"):
        UncertaintySet({"maas": (0.02, 0.03)}).check(world)
    for ends in ((0.001, 0.03), (0.02, 9.0)):
        with pytest.raises(ParameterError, match=r"mass may be within \[0\.01, 2\] kg"):
            UncertaintySet({"mass": ends}).check(world)
    with pytest.raises(UnknownNameError, match="rrls-ant-2"):
        uncertainty_set("rrls-ant-4")


@given(st.integers(2, 6), st.integers(1, 3))
def test_grids_have_both_ends(points, dimensions):
    region = UncertaintySet({f"p{j}": (-j - 1.0, 2.0 * j) for j in range(dimensions)})
    grid = region.grid(points)
    assert grid.shape == (points**dimensions, dimensions)
    assert len({tuple(slot) for slot in grid}) == len(grid)
    assert (grid.min(axis=0) == region.low).all()
    assert (grid.max(axis=0) == region.high).all()
    steps = np.diff(np.unique(grid[:, 0]))
    np.testing.assert_allclose(steps, steps[0])


def test_a_set_is_the_linear_image_of_a_cube():
    region = UncertaintySet({"a": (1.0, 3.0), "b": (-2.0, 0.0)})
    assert region.at([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.5]]).tolist() == [[1.0, -2.0], [3.0, 0.0], [2.0, -0.5]]
    assert region.nominal({"a": 1.5, "b": -1.0}).tolist() == [1.5, -1.0]
    assert UncertaintySet({"a": (1.0, 1.2, 3.0)}).nominal({"a": 9.0}).tolist() == [1.2]
    with pytest.raises(ParameterError, match=r"a=9 .*\(low, nominal, high\)"):
        region.nominal({"a": 9.0, "b": -1.0})
    drawn = region.sample(4000, seed=3)
    assert (drawn == region.sample(4000, seed=3)).all()
    assert (drawn >= region.low).all()
    assert (drawn <= region.high).all()
    np.testing.assert_allclose(drawn.mean(axis=0), [2.0, -1.0], atol=0.05)
    with pytest.raises(ParameterError, match="points=1"):
        region.grid(1)


def test_grids_of_rrls_leave_out_the_upper_ends():
    for region in RRLS_SETS.values():
        for j, (low, *_, high) in enumerate(region.ranges.values()):
            original = np.arange(low, high, (high - low) / 10)
            np.testing.assert_allclose(np.unique(region.grid(10, endpoint=False)[:, j]), original, rtol=1e-15)


# --- the robots' parameters -------------------------------------------------------------------------------------------


def model_of(id, **keywords):
    return rlenvs.make(id, **keywords).unwrapped.batch.engine.model


def masses(model):
    return {model.body(i).name: model.body_mass[i] for i in range(1, model.nbody) if model.body(i).name}


BODIES = {"torso_mass": "torso", "back_thigh_mass": "bthigh", "front_left_leg_mass": "front_left_leg"}
BODIES["front_right_leg_mass"] = "front_right_leg"


@pytest.mark.parametrize(("id", "name"), [("Ant-v0", "rrls-ant-3"), ("HalfCheetah-v0", "rrls-half-cheetah-3")])
def test_masses_of_published_sets_reach_single_bodies(mujoco, id, name):
    region = RRLS_SETS[name]
    usual = model_of(id)
    for j, end in itertools.product(range(3), (0, -1)):
        parameter = region.names[j]
        if parameter not in BODIES:
            continue
        body, value = BODIES[parameter], region.ranges[parameter][end]
        nominal = region.ranges[parameter][1]
        assert masses(usual)[body] == pytest.approx(nominal, rel=1e-15)
        own = model_of(id, **{parameter: value})
        expected = {**masses(usual), body: value}
        assert masses(own) == pytest.approx(expected, rel=1e-12)
        k = usual.body(body).id
        np.testing.assert_allclose(own.body_inertia[k], usual.body_inertia[k] * value / nominal, rtol=1e-9)


def test_masses_of_their_own_add_to_the_rest_of_the_cheetah(mujoco):
    own = model_of("HalfCheetah-v0", mass=28.0, torso_mass=1.0, back_thigh_mass=2.0)
    whole = masses(model_of("HalfCheetah-v0", mass=28.0))
    assert masses(own) == pytest.approx({**whole, "torso": 1.0, "bthigh": 2.0}, rel=1e-12)


# --- parameters by episode --------------------------------------------------------------------------------------------


def test_random_parameters_are_uniform_and_seeded():
    env = hover(DomainRandomization({"mass": (0.02, 0.04), "gravity": (8.0, 11.0)}), count=4096)
    _, first = env.reset(seed=5)
    values = first["parameters"]
    params = env.batch.param_rows
    assert (params["mass"] == values[:, 0]).all()
    assert (params["gravity"] == values[:, 1]).all()
    unit = (values - [0.02, 8.0]) / [0.02, 3.0]
    assert unit.min() >= 0.0
    assert unit.max() <= 1.0
    assert unit.max() > 0.999
    np.testing.assert_allclose(unit.mean(axis=0), 0.5, atol=0.015)
    np.testing.assert_allclose(unit.std(axis=0), np.sqrt(1.0 / 12.0), atol=0.01)
    assert abs(np.corrcoef(unit.T)[0, 1]) < 0.05
    _, second = env.reset()
    assert (second["parameters"] != values).all()
    assert abs(np.corrcoef(values[:, 0], second["parameters"][:, 0])[0, 1]) < 0.05
    assert (env.reset(seed=5)[1]["parameters"] == values).all()


def test_random_parameters_leave_the_worlds_own_numbers_alone():
    plain, drawn = rlenvs.make_vec(HOVER, 8), hover(DomainRandomization({"mass": (0.02, 0.04)}), count=8)
    for seed in (3, None):
        assert (plain.reset(seed=seed)[0] == drawn.reset(seed=seed)[0]).all()
    assert (plain.batch.states["rng"] == drawn.batch.states["rng"]).all()


def test_random_parameters_hold_from_the_first_observation_on():
    env = wrap(rlenvs.make(HOVER, start_spread=0.0), DomainRandomization({"start_height": (0.2, 1.4)}))
    for seed in range(5):
        _, info = env.reset(seed=seed)
        assert env.unwrapped.batch.states["position"].ravel()[2] == pytest.approx(info["parameters"][0])


def test_agents_of_a_world_share_its_parameters():
    wrappers = [
        DomainRandomization({"mass": (0.02, 0.04)}),
        ParameterAdversary({"gravity": (8.0, 9.8, 11.0)}, rate=0.1),
    ]
    env = wrap(rlenvs.parallel_env("QuadMultiHover-v0"), *wrappers)
    _, infos = env.reset(seed=2)
    mass = env.unwrapped.batch.get_params(0)["mass"]
    single = wrap(rlenvs.make("QuadMultiHover-v0"), *wrappers)
    single.reset(seed=2)
    for _ in range(3):
        *_, infos = env.step({agent: np.zeros(env.action_space(agent).shape) for agent in env.agents})
        *_, info = single.step(np.zeros(single.action_space.shape))
        params = env.unwrapped.batch.get_params(0)
        assert params["mass"] == mass == single.unwrapped.batch.get_params(0)["mass"]
        assert len({own["parameters"][0] for own in infos.values()}) == 1
        assert infos["agent_0"]["parameters"][0] == params["gravity"] == info["parameters"][0]


@pytest.mark.parametrize("wrapper", [DomainRandomization, ParameterAdversary])
def test_sets_that_do_not_fit_are_refused(wrapper):
    for ranges, message in (
        ({"maas": (0.02, 0.04)}, "maas"),
        ({"mass": (0.001, 0.027, 0.04)}, "mass may be within"),
        ({"mass": (0.04, 0.02)}, "range of mass"),
        ({"inertia_z": (1e-5, 2e-5, 0.01)}, "inertia_z=0.01 violate a constraint"),
    ):
        with pytest.raises(ParameterError, match=message):
            hover(wrapper(ranges))
    with pytest.raises(ParameterError, match="mass is set by randomize"):
        hover(wrapper({"mass": (0.02, 0.027, 0.04)}), randomize={"mass": (0.02, 0.03)})
    with pytest.raises(ParameterError, match="mass is set by the wrapper"):
        hover(DomainRandomization({"mass": (0.02, 0.04)}), wrapper({"mass": (0.02, 0.027, 0.04)}))
    with pytest.raises(ParameterError, match="not an environment of this package"):
        wrap(gymnasium.make("Pendulum-v1"), wrapper({"g": (5.0, 15.0)}))


def test_sets_become_json():
    recipe = hover(DomainRandomization(UncertaintySet(QUAD))).recipe
    again = wrap(rlenvs.make_vec(HOVER, 2), *json.loads(json.dumps(recipe)))
    assert again.wrappers[0].region.ranges == QUAD


# --- evaluation -------------------------------------------------------------------------------------------------------


def test_every_world_of_the_grid_is_the_world_alone():
    found = evaluate_robustness(HOVER, "expert", {"mass": (0.02, 0.04), "gravity": (8.0, 11.0)}, points=2, seeds=[4, 9])
    assert found.contexts.tolist() == [[0.02, 8.0], [0.02, 11.0], [0.04, 8.0], [0.04, 11.0]]
    for k, (mass, gravity) in enumerate(found.contexts.tolist()):
        alone = evaluate(HOVER, "expert", seeds=[4, 9], mass=mass, gravity=gravity)
        for name in ("returns", "costs", "lengths", "successes"):
            assert (getattr(found, name)[k] == getattr(alone, name)).all()
    assert found.average == pytest.approx(found.returns.mean())
    assert found.worst == found.means.min()


def test_batches_do_not_matter(monkeypatch):
    whole = evaluate_robustness(HOVER, "random", {"mass": (0.02, 0.04)}, points=5, seeds=3)
    monkeypatch.setattr(robustness, "SIDE_BY_SIDE", 7)
    parts = evaluate_robustness(HOVER, "random", {"mass": (0.02, 0.04)}, points=5, seeds=3)
    assert (whole.returns == parts.returns).all()
    assert whole.returns.shape == (5, 3)


def test_worst_case_average_and_tail():
    returns = np.array([[4.0, 6.0], [1.0, 3.0], [9.0, 11.0], [7.0, 9.0]])
    blank = np.zeros((4, 2))
    found = Robustness(("mass",), np.array([[1.0], [2.0], [3.0], [4.0]]), np.arange(2), returns, blank, blank, blank)
    assert found.means.tolist() == [5.0, 2.0, 10.0, 8.0]
    assert (found.average, found.worst, found.worst_context) == (6.25, 2.0, {"mass": 2.0})
    assert found.cvar(1.0) == 6.25
    assert found.cvar(0.5) == 3.5
    assert found.cvar(0.375) == pytest.approx((2.0 + 0.5 * 5.0) / 1.5)
    assert found.cvar(0.1) == found.cvar(0.25) == 2.0
    assert "worst 2.00 (mass=2)" in str(found)
    with pytest.raises(ParameterError, match="share=0"):
        found.cvar(0.0)


def test_drawn_worlds_and_wrappers():
    found = evaluate_robustness(HOVER, "random", QUAD, seeds=2, samples=6, sample_seed=4)
    assert (found.contexts == UncertaintySet(QUAD).sample(6, 4)).all()
    adverse = evaluate_robustness(HOVER, "random", {"mass": (0.02, 0.04)}, 2, 4, wrappers=[ActionAdversary(weight=0.9)])
    alone = evaluate_robustness(HOVER, "random", {"mass": (0.02, 0.04)}, 2, 4)
    assert (adverse.returns != alone.returns).any()


def test_published_sets_can_be_evaluated(mujoco):
    found = evaluate_robustness("HalfCheetah-v0", "random", "rrls-half-cheetah-2", points=2, seeds=1, horizon=5)
    assert found.contexts.tolist() == [[0.1, 0.1], [0.1, 7.0], [4.0, 0.1], [4.0, 7.0]]
    assert len(np.unique(found.returns)) == 4


def test_what_an_evaluation_refuses():
    for keywords, message in (
        ({"set": {"maas": (1, 2)}}, "maas"),
        ({"set": {"mass": (0.0, 0.03)}}, "may be within"),
        ({"set": {"mass": (0.02, 0.03)}, "points": 1}, "points=1"),
        ({"set": {"mass": (0.02, 0.03)}, "samples": 0}, "samples=0"),
        ({"set": {"mass": (0.02, 0.03)}, "seeds": 0}, "seeds=0"),
        ({"set": {"mass": (0.02, 0.03)}, "mass": 0.03}, "leave out one"),
    ):
        with pytest.raises(ParameterError, match=message):
            evaluate_robustness(HOVER, "random", **keywords)


def test_idle_agents_do_what_the_world_calls_so():
    """In Battle choice 0 moves north."""
    env = wrap(rlenvs.parallel_env("Battle-v0"), AdversarialAgents(["ally_1"], "idle"))
    env.reset(seed=0)
    *_, infos = env.step(dict.fromkeys(env.agents, 0))
    idle = env.unwrapped.batch.setup.action.idle
    assert idle != 0
    assert infos["ally_1"]["action"] == idle
    slots = slots_of(rlenvs.parallel_env("Battle-v0"))
    slots.reset(np.ones(slots.count, np.bool_), [0])
    slots.step(np.zeros(slots.count, np.int64), np.arange(slots.count) == 0)
    assert slots.batch.actions[0, :, 0].tolist() == [0] + [idle] * (slots.count - 1)
