"""The water reservoir: steps of the original, its numbers, and what no policy can exceed."""

import math

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import DATA

import rlenvs
from rlenvs.agents.evaluate import evaluate
from rlenvs.core.catalogue.docs import page
from rlenvs.single.objectives import water_reservoir

RECORD = np.load(DATA / "mo_gymnasium_physics.npz")
ID = "WaterReservoir-v0"
KEYWORDS = {"plain": {}, "penalized": {"penalize": True}, "normalized": {"normalized_action": True}}
LEVELS = (None, "hydropower", "downstream")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", KEYWORDS)
def test_every_recorded_step(name, level):
    """From the recorded levels, with the recorded rain, in one step: exactly what the original computes in float64, and
    what it computes in float32 but for rounding."""
    keys = ("before", "rain", "action", "after", "reward")
    before, rain, action, after, reward = (RECORD[f"{name}_{key}"] for key in keys)
    batch = rlenvs.make_batch(
        ID, len(before), autoreset=AutoresetMode.DISABLED, level=level, inflow_mean=rain, inflow_std=0.0,
        **KEYWORDS[name],
    )  # fmt: skip
    batch.seed(list(range(len(before))))
    batch.reset()
    batch.states["level"] = before
    batch.step(action.reshape(-1, 1, 1))
    count = len(batch.world.terms)
    assert count == 2 + LEVELS.index(level)
    for number, slack in enumerate((1e-9, 2e-4)):  # float32 has 2e-5 at 230, and a fine is a difference of two such
        np.testing.assert_allclose(batch.states["level"], after[number], rtol=0, atol=slack)
        np.testing.assert_allclose(batch.terms[:, :count, 0], reward[number][:, :count], rtol=0, atol=slack)
    assert (reward[0].min(axis=0) < [-5, -5, -4, -5]).all()
    assert (reward[0].max(axis=0) == 0).all() or name == "penalized"


@pytest.mark.parametrize(("level", "count"), [*zip(LEVELS, (2, 3, 4), strict=True)])
def test_spaces_of_the_original(level, count):
    env = rlenvs.make(f"mo-{ID}", level=level)
    assert env.observation_space == gymnasium.spaces.Box(0.0, np.inf, (1,), np.float32)
    assert env.unwrapped.reward_space == gymnasium.spaces.Box(-np.inf, np.float32(0.0), (count,), np.float32)
    env.reset(seed=0)
    reward = env.step(env.action_space.sample())[1]
    assert reward.shape == (count,)
    assert env.action_space == gymnasium.spaces.Box(0.0, 200.0, (1,), np.float32)
    normalized = rlenvs.make(ID, normalized_action=True)
    assert normalized.action_space == gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32)


def test_pages_say_what_the_levels_pay():
    found = page(rlenvs.core.catalogue.registry.world_of(ID))
    two, three, four = found[found.index("| Term |") :].split("At the level `")[:3]
    assert [("`power`" in part, "`valley`" in part.partition("##")[0]) for part in (two, three, four)] == [
        (False, False), (True, False), (True, True)
    ]  # fmt: skip


def first_levels(count, **keywords):
    batch = rlenvs.make_batch(ID, count, **keywords)
    batch.seed(list(range(count)))
    batch.reset()
    return batch.states["level"]


def test_first_levels():
    published = {
        96.855361,
        58.046026,
        116.15767,
        20.164311,
        79.191,
        140.13098,
        131.01816,
        44.351321,
        13.185943,
        73.508622,
    }
    found = first_levels(400)
    assert set(found) == published
    assert min(np.unique(found, return_counts=True)[1]) > 20
    whole = first_levels(4000, start="uniform")
    assert (whole == whole.round()).all()
    assert len(np.unique(whole)) == 160
    assert (whole.min(), whole.max()) == (0, 159)
    assert set(first_levels(4, start="given", initial_level=12.5)) == {12.5}


def test_rain_is_normal():
    batch = rlenvs.make_batch(ID, 2000)
    batch.seed(list(range(2000)))
    batch.reset()
    rains = []
    for _ in range(10):
        batch.step(np.full((2000, 1, 1), 100.0))
        rains.append(batch.states["rain"].copy())
    rains = np.array(rains)
    assert rains.mean() == pytest.approx(40.0, abs=0.3)
    assert rains.std() == pytest.approx(10.0, abs=0.2)
    assert (rains < 20).mean() == pytest.approx(0.0228, abs=0.004)


def totals(action_of, count=4000, **keywords):
    """The mean return of a policy from levels to releases, float64 (terms,)."""
    batch = rlenvs.make_batch(ID, count, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(list(range(count)))
    batch.reset()
    sums = np.zeros((count, len(batch.world.terms)))
    for _ in range(100):
        batch.step(action_of(batch.states["level"]).reshape(-1, 1, 1))
        sums += batch.terms[:, : sums.shape[1], 0]
    return sums.mean(axis=0)


def proved():
    """What no policy exceeds in the mean, by objective: the level at the end of a step is at least its rain, and what
    is released in 100 steps is at most the first level and the rain of 99 steps (and what would be missing below 0)."""
    density, tail = math.exp(-0.5) / math.sqrt(2 * math.pi), 0.5 * math.erfc(1 / math.sqrt(2))
    below = 10 * (math.exp(-8) / math.sqrt(2 * math.pi) - 4 * 0.5 * math.erfc(4 / math.sqrt(2)))
    upstream = -100 * 10 * (density - tail)
    return np.array([upstream, -(5000 - np.mean(water_reservoir.LEVELS) - 99 * (40 + below))])


def test_what_no_policy_exceeds():
    bounds = proved()
    np.testing.assert_allclose(bounds, [-83.3, -962.7], atol=0.05)
    assert bounds.sum() == pytest.approx(rlenvs.core.catalogue.registry.world_of(ID).scores["bound"].mean, abs=0.5)
    policies = {
        "all": lambda level: level,
        "demand": lambda level: np.minimum(level, 50),
        "expert": lambda level: np.maximum(np.minimum(level, 50), level - 12.5),
        "hold": lambda level: np.maximum(level - 100, 0),
    }
    found = {name: totals(policy) for name, policy in policies.items()}
    assert all((value <= bounds + 2.0).all() for value in found.values()), found
    assert found["all"][0] == pytest.approx(bounds[0], abs=2.0)  # attained: nothing floods less
    assert found["demand"][1] == pytest.approx(bounds[1], abs=45.0)  # but for what is left at the end
    assert found["hold"][0] < -5000
    assert found["expert"].sum() == pytest.approx(-1115.9, abs=4.0)
    assert max(found, key=lambda name: found[name].sum()) == "expert"


@pytest.mark.parametrize("keywords", [{}, {"normalized_action": True}, {"level": "downstream", "penalize": True}])
def test_the_expert_releases_what_the_docstring_says(keywords):
    env = rlenvs.make(ID, **keywords)
    env.reset(seed=1)
    for _ in range(100):
        level = float(env.unwrapped.batch.states["level"][0])
        env.step(env.unwrapped.batch.expert_actions()[0, 0].astype(np.float32))
        wanted = max(min(level, 50.0), level - 12.5)
        assert env.unwrapped.batch.states["released"][0] == pytest.approx(wanted, abs=1e-4)
    assert evaluate(ID, "expert", 20, **keywords).mean > 2 * evaluate(ID, "random", 20, **keywords).mean or keywords


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0, 160), st.floats(0, 200), st.floats(0, 80), st.floats(0, 15), st.floats(50, 150), st.booleans(),
    st.integers(0, 1000),
)  # fmt: skip
def test_water_is_neither_lost_nor_made(level, asked, mean, deviation, capacity, penalize, seed):
    env = rlenvs.make(
        ID, level="downstream", start="given", initial_level=level, inflow_mean=mean, inflow_std=deviation,
        capacity=capacity, penalize=penalize,
    )  # fmt: skip
    env.reset(seed=seed)
    _, _, terminated, truncated, info = env.step(np.array([asked], np.float32))
    state = env.unwrapped.batch.states[0]
    released, rain = float(state["released"]), float(state["rain"])
    assert max(level - capacity, 0) - 1e-9 <= released <= level + 1e-9
    assert float(state["level"]) == pytest.approx(max(level + rain - released, 0), abs=1e-9)
    fine = abs(float(np.float32(asked)) - released) if penalize else 0.0
    power = max(4.36 - 9.81 * 1000 * float(state["level"]) * released / 3.6e6, 0)
    expected = (max(state["level"] - 50, 0), max(50 - released, 0), power, max(released - 30, 0))
    np.testing.assert_allclose(info["reward_vector"], [-part - fine for part in expected], rtol=1e-6, atol=1e-5)
    assert not terminated
    assert not truncated


@pytest.mark.parametrize("level", LEVELS)
def test_bounds_of_the_terms_hold_at_the_ends_of_all_ranges(level):
    rng = np.random.default_rng(0)
    world = rlenvs.core.catalogue.registry.world_of(ID)
    params = {name: rng.choice([declared.low, declared.high], 500) for name, declared in world.params.items()}
    batch = rlenvs.make_batch(ID, 500, level=level, penalize=True, start="uniform", **params)
    batch.seed(list(range(500)))
    batch.reset()
    terms = list(batch.world.terms.values())
    for _ in range(200):
        batch.step(rng.choice([0.0, 200.0, 60.0], (500, 1, 1)))
        for j, term in enumerate(terms):
            assert (batch.terms[:, j] >= term.low).all()
            assert (batch.terms[:, j] <= term.high).all()
