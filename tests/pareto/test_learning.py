"""Pareto Q-learning finds exact fronts from steps alone; what its policies are worth; settings that are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs import pareto
from rlenvs.core.declare.errors import ParameterError
from rlenvs.pareto.learning_tables import insert

SEA = "DeepSeaTreasure-v0"


def share(env, gamma, front):
    """The hypervolume of what policies are worth in the model, as a share of the exact front's, and of its points."""
    known = pareto.pareto_front(env, gamma).values
    found = np.array([pareto.exact_value(env, policy, gamma) for policy in front.policies])
    low, high = known.min(axis=0), known.max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    known, found = (known - low) / size, (found - low) / size
    corner = [-0.1] * len(low)
    attained = [(found >= point - 0.01).all(axis=1).any() for point in known]
    return pareto.hypervolume(found, corner) / pareto.hypervolume(known, corner), np.mean(attained)


@pytest.mark.parametrize(
    ("id", "keywords", "gamma", "steps", "how"),
    [
        (SEA, {}, 1.0, 20_000, {}),
        (SEA, {"map": "concave"}, 0.98, 20_000, {}),
        ("FruitTree-v0", {"depth": 5}, 0.99, 3_000, {}),
        ("ResourceGathering-v0", {}, 0.99, 30_000, {"resolution": 1e-3}),
        ("ResourceGathering-v0", {}, 1.0, 60_000, {"resolution": 1e-3, "timed": True}),
        ("BreakableBottles-v0", {}, 1.0, 60_000, {"resolution": 0.05}),
    ],
)
def test_exact_fronts_are_learnt(id, keywords, gamma, steps, how):
    env = rlenvs.make(id, **keywords)
    front = pareto.pareto_q_learning(env, gamma, steps, **how)
    volume, attained = share(env, gamma, front)
    assert volume > 0.99
    assert attained == 1.0


def test_what_was_learnt_is_what_playing_gives():
    front = pareto.pareto_q_learning(SEA, 0.98, 20_000, seed=3)
    for value, policy in front:
        assert pareto.play_policy(SEA, policy, 0.98).mean == pytest.approx(value)
    assert (np.diff(front.values[:, 0]) < 0).all()  # in descending order, as exact fronts are
    assert front.objectives == ("treasure", "time")


def test_chances_are_learnt():
    front = pareto.pareto_q_learning("ResourceGathering-v0", 0.99, 60_000, resolution=1e-3)
    for value, policy in front:
        found = pareto.play_policy("ResourceGathering-v0", policy, 0.99, episodes=3000)
        exact = pareto.exact_value("ResourceGathering-v0", policy, 0.99)
        assert (np.abs(found.mean - exact) <= 2.0 * found.half_width + 1e-9).all()
        assert value == pytest.approx(exact, abs=0.05)


@given(
    points=st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=30),
    seed=st.integers(0, 100),
)
@settings(max_examples=100, deadline=None)
def test_sets_hold_what_no_other_dominates(points, seed):
    rows = np.random.default_rng(seed).permutation(np.array(points, float))
    values, first, taken = np.zeros((40, 3)), np.zeros(40, np.int64), np.zeros((40, 2), np.int64)
    size = 0
    for i, row in enumerate(rows):
        size = insert(row, i, np.full(2, i), np.full(3, 1e-9), values, first, taken, size)
    expected = np.unique(rows[pareto.nondominated(rows)], axis=0)
    assert np.array_equal(np.unique(values[:size], axis=0), expected)
    assert np.array_equal(rows[first[:size]], values[:size])
    assert (taken[:size, 0] == first[:size]).all()


def test_a_set_without_room_says_so():
    values, first, taken = np.zeros((1, 2)), np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    size = insert(np.array([1.0, 0.0]), 0, np.zeros(1, np.int64), np.zeros(2), values, first, taken, 0)
    assert size == 1
    assert insert(np.array([0.0, 1.0]), 0, np.zeros(1, np.int64), np.zeros(2), values, first, taken, 1) == -1
    assert insert(np.array([2.0, 0.0]), 0, np.zeros(1, np.int64), np.zeros(2), values, first, taken, 1) == 1


def test_sets_grow_up_to_their_bound():
    with pytest.raises(pareto.TooManyPointsError, match="resolution"):
        pareto.pareto_q_learning("FruitTree-v0", 1.0, 20_000, most=16)


def test_learning_can_go_on():
    learner = pareto.ParetoQ("FruitTree-v0", 1.0, num_envs=8, seed=1)
    learner.learn(80)
    few = len(learner.front())
    learner.learn(5_000)
    assert few < len(learner.front()) == 64
    assert learner.steps == 5_080


def test_the_same_seed_learns_the_same():
    one, two = (pareto.pareto_q_learning(SEA, 1.0, 3_000, seed=5) for _ in range(2))
    assert np.array_equal(one.values, two.values)


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"gamma": 0.0}, "gamma"),
        ({"num_envs": 0}, "num_envs"),
        ({"most": 1.5}, "most"),
        ({"exploring": True}, "exploring"),
        ({"least_exploration": 1.5}, "least_exploration"),
        ({"least_exploration": float("nan")}, "least_exploration"),
        ({"resolution": -1.0}, "resolution"),
        ({"resolution": float("nan")}, "resolution"),
        ({"resolution": [0.1, 0.1, 0.1]}, "resolution"),
    ],
)
def test_settings_that_are_none(keywords, said):
    with pytest.raises(ParameterError, match=said):
        pareto.ParetoQ(SEA, **keywords)


@pytest.mark.parametrize("id", ["QuadHover-v0", "ParticleSpread-v0"])
def test_worlds_that_are_not_finite(id):
    env = rlenvs.make(id) if id.startswith("Quad") else rlenvs.parallel_env(id)
    with pytest.raises(ParameterError, match="numbered states"):
        pareto.ParetoQ(env)


def test_policies_of_exact_fronts_are_worth_what_the_front_says():
    for id, gamma in [(SEA, 0.9), ("ResourceGathering-v0", 0.99), ("BreakableBottles-v0", 1.0)]:
        for value, policy in pareto.pareto_front(id, gamma):
            assert pareto.exact_value(id, policy, gamma) == pytest.approx(value, abs=1e-9)
