"""Fronts of finite worlds beside brute force, closed forms and the world itself; indicators; utilities."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs import pareto
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.tables.solve import Model
from rlenvs.pareto.sets import nondominated, supported

SEA = "mo-DeepSeaTreasure-v0"


def descending(points):
    return np.array(sorted(np.asarray(points).tolist(), reverse=True))


# --- fronts against brute force ---------------------------------------------------------------------------------------


def random_model(seed, states=2, actions=2, objectives=2):
    """Numbers with few values, so that there are ties; some of the probability ends the episode."""
    rng = np.random.default_rng(seed)
    P = []
    for _ in range(actions):
        rows = rng.integers(0, 3, (states, states)) / (2 * states)
        P.append(scipy.sparse.csr_array(rows))
    terms = rng.integers(-2, 3, (states, actions, objectives)).astype(float)
    start = rng.integers(0, 3, states) + np.eye(states)[0]
    allowed = rng.random((states, actions)) < 0.8
    allowed |= ~allowed.any(axis=1, keepdims=True)
    return Model(tuple(P), terms.sum(axis=2), start / start.sum(), allowed, terms)


def all_values(model, gamma, steps):
    """Of every deterministic policy with a memory, by state: nothing is left out."""
    count = len(model.start)
    values = [np.zeros((1, model.terms.shape[2]))] * count
    for _ in range(steps):
        values = [
            np.unique(
                np.round(
                    [
                        model.terms[state, action]
                        + gamma * sum(model.P[action].toarray()[state, k] * v for k, v in enumerate(tails))
                        for action in np.flatnonzero(model.allowed[state])
                        for tails in itertools.product(*values)
                    ],
                    12,
                ),
                axis=0,
            )
            for state in range(count)
        ]
    return np.array([sum(p * v for p, v in zip(model.start, t, strict=True)) for t in itertools.product(*values)])


def front_by_definition(points):
    points = np.unique(np.round(points, 9), axis=0)
    worse = [((points >= p).all(1) & (points > p).any(1)).any() for p in points]
    return descending(points[~np.array(worse)])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1.0, 0.9, 0.5]), st.integers(1, 3), st.integers(1, 3))
@example(2, 0.9, 3, 3)  # points that differ in the last bit of the first objective
def test_fronts_are_those_of_all_policies(seed, gamma, steps, objectives):
    model = random_model(seed, objectives=objectives)
    values = all_values(model, gamma, steps)
    front = pareto.pareto_front(model, gamma, steps)
    np.testing.assert_allclose(front.values, front_by_definition(values), atol=1e-8)
    coverage = pareto.coverage_set(model, gamma, steps)
    np.testing.assert_allclose(coverage.values, front.convex().values, atol=1e-8)


@pytest.mark.budget(4)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_coverage_sets_have_the_best_value_for_all_weights(seed, objectives):
    model = random_model(seed, states=4, actions=3, objectives=objectives)
    coverage = pareto.coverage_set(model, 0.9, None)
    rng = np.random.default_rng(seed)
    for weights in rng.dirichlet(np.ones(objectives), 20):
        best = rlenvs.solve_mdp(model._replace(R=model.terms @ weights), 0.9).start_value
        assert coverage.best(weights)[0] @ weights == pytest.approx(best, abs=1e-7)


# --- the sea: closed form, and the world itself -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["convex", "concave", "mirrored"])
@pytest.mark.parametrize("gamma", [1.0, 0.98])
def test_the_front_of_the_sea_is_the_closed_form_and_is_replayed(name, gamma):
    env = rlenvs.make(SEA, map=name)
    front = pareto.pareto_front(env, gamma)
    assert front.objectives == ("treasure", "time")
    np.testing.assert_allclose(front.values[::-1], env.unwrapped.pareto_front(gamma), atol=1e-10)
    for value, policy in front:
        np.testing.assert_allclose(pareto.play_policy(env, policy, gamma).mean, value, atol=1e-10)
    for value, policy in pareto.coverage_set(env, gamma):
        np.testing.assert_allclose(pareto.play_policy(env, policy, gamma).mean, value, atol=1e-10)


def test_weighted_sums_find_two_points_of_the_concave_sea():
    assert pareto.coverage_set(rlenvs.make(SEA, map="concave")).values.tolist() == [[124.0, -19.0], [1.0, -1.0]]


def test_a_time_limit_cuts_the_front_off():
    front = pareto.pareto_front(rlenvs.make(SEA, horizon=8))
    assert front.horizon == 8
    assert front.values[0].tolist() == [15.1, -8.0]
    assert len(pareto.pareto_front(SEA, horizon=None)) == 10


def test_states_of_the_sea_are_numbered_as_in_its_model():
    env = rlenvs.make(SEA, map="mirrored")
    env.reset(seed=0)
    model, number = env.unwrapped.model, env.unwrapped.batch.world.functions["state_number"]
    values, states = env.unwrapped.batch.setup.values, env.unwrapped.batch.states
    at = int(number(values, states)[0])
    assert model.start[at] == 1.0
    for action in (3, 1, 3, 1, 0, 2):
        env.step(action)
        follows = int(number(values, states)[0])
        assert model.P[action][[at]].toarray()[0, follows] == 1.0
        at = follows


def test_a_route_is_replayed_where_states_have_no_number():
    played = pareto.play_policy("MountainCar-v0", pareto.OpenLoopPolicy([2]))
    assert played.returns.shape == (1, 1)
    with pytest.raises(ParameterError, match="only an OpenLoopPolicy"):
        pareto.play_policy("MountainCar-v0", pareto.TabularPolicy(np.zeros(3, int)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pareto.pareto_front(SEA, 0.0), "gamma=0.0"),
        (lambda: pareto.pareto_front(SEA, horizon=0), "horizon=0"),
        (lambda: pareto.pareto_front(SEA, horizon=2.5), "horizon=2.5"),
        (lambda: pareto.coverage_set(SEA, gamma=2), "gamma=2"),
        (lambda: pareto.pareto_front(random_model(0)._replace(terms=None), 0.9, 3), "no terms"),
        (lambda: pareto.pareto_front(random_model(3, 4, 3), 0.9, 60, most=50), "coverage_set"),
        (lambda: pareto.play_policy(SEA, pareto.OpenLoopPolicy([0]), episodes=0), "episodes=0"),
        (lambda: pareto.nondominated([[1.0, np.nan]]), "finite"),
        (lambda: pareto.nondominated([1.0, 2.0]), "shape"),
        (lambda: pareto.hypervolume([[1.0, 2.0]], (0, 0, 0)), "3"),
        (lambda: pareto.igd_plus([[1.0, 2.0]], [[1.0]]), "same objectives"),
        (lambda: pareto.expected_utility(np.zeros((0, 2))), "empty"),
        (lambda: pareto.expected_utility([[1.0, 2.0]], [[1.0]]), "weights"),
        (lambda: pareto.simplex_weights(0), "objectives=0"),
        (lambda: pareto.utility_of(SEA, pareto.OpenLoopPolicy([1]), lambda v: np.nan), "finite"),
        (lambda: pareto.plot([[1.0, 2.0, 3.0, 4.0]]), "two or three"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


# --- sets and indicators ----------------------------------------------------------------------------------------------

small = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.tuples(*[st.integers(0, 4)] * k), min_size=1, max_size=9).map(lambda x: np.array(x, float))
)


@given(small)
def test_points_that_are_kept_are_those_that_none_dominates(points):
    assert descending(points[nondominated(points)]).tolist() == front_by_definition(points).tolist()


@settings(max_examples=60, deadline=None)
@given(small)
def test_supported_points_are_best_for_some_weights_and_suffice_for_all(points):
    kept = points[supported(points)]
    assert len(np.unique(kept, axis=0)) == len(kept)
    rng = np.random.default_rng(0)
    for weights in rng.dirichlet(np.ones(points.shape[1]), 30):
        assert (kept @ weights).max() == pytest.approx((points @ weights).max())
    for i in range(len(kept)):
        others = np.delete(kept, i, axis=0)
        assert supported(np.vstack([others, kept[i]]))[-1]


@settings(max_examples=60, deadline=None)
@given(small)
def test_hypervolume_counts_the_cells_below_the_points(points):
    reference = np.ones(points.shape[1])
    covered = {c for p in points for c in itertools.product(*(range(1, int(x)) for x in p))}
    assert pareto.hypervolume(points, reference) == pytest.approx(len(covered))


def test_indicators_by_hand():
    front = [[0.0, 2.0], [1.0, 1.0], [3.0, 0.0], [0.5, 0.5]]
    assert pareto.cardinality(front) == 3
    assert pareto.sparsity(front) == ((1 + 4) + (1 + 1)) / 2
    assert pareto.sparsity([[1.0, 2.0]]) == 0.0
    # (3, 3) misses (4, 3) by 1 and dominates (2, 2)
    assert pareto.igd_plus([[3.0, 3.0]], [[4.0, 3.0], [2.0, 2.0]]) == 0.5
    assert pareto.expected_utility([[0.0, 1.0], [1.0, 0.0]], [[1, 0], [0.5, 0.5], [0, 1]]) == pytest.approx(2.5 / 3)
    assert pareto.expected_utility([[1.0, 1.0]]) == pytest.approx(1.0)
    weights = pareto.simplex_weights(3, 100)
    assert len(weights) == 105
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert pareto.hypervolume([[2.0], [3.0]], [1.0]) == 2.0
    assert pareto.hypervolume(np.zeros((0, 2)), [0.0, 0.0]) == 0.0


def test_plots_of_two_and_three_objectives():
    matplotlib = pytest.importorskip("matplotlib")
    assert matplotlib
    front = pareto.pareto_front(SEA)
    figure = pareto.plot({"front": front, "some": front.values[::2]})
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("treasure", "time")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["front (10)", "some (5)"]
    assert pareto.plot(np.eye(3)).axes[0].name == "3d"


def test_replayed_episodes_may_differ_in_length():
    played = pareto.play_policy(
        "BreakableBottles-v0", pareto.pareto_front("BreakableBottles-v0").policies[0], episodes=300
    )
    assert len(np.unique(played.returns[:, 0])) > 2
    assert (played.returns[:, 1] == 50.0).all()
