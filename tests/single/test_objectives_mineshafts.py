"""Mineshafts: the front in closed form, what weights find of it, and policies that are replayed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs import pareto
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.objectives.mineshafts import DOWN, HOLLOW, LEFT, RIGHT, SHAFTS, TAKE, UP

ID = "Mineshafts-v0"
CORNERS = {None: [(-4, 1), (-11, 40), (-23, 70), (-35, 90)], "hollow": [(-4, 1), (-35, 83)]}
SHARES = {None: 0.8906, "hollow": 0.152}  # of the hypervolume that weights find
ANY_SHAFT = st.tuples(st.integers(0, 12), st.lists(st.integers(0, 60), min_size=1, max_size=5))
ANY_SHAFTS = st.lists(ANY_SHAFT, min_size=1, max_size=4, unique_by=lambda shaft: shaft[0])
NO_SHAFTS = [[], [(2, ())], [(2, (1,)), (2, (3,))], [(50, (1,))], [(1, (-1,))], [(1, (np.nan,))], 3, "ab"]


def closed_form(shafts, gamma=1.0, collapse=0.0):
    """Of every depth: the way, the digs and the taking, discounted, while the shaft holds."""
    points = []
    for column, golds in shafts:
        for depth, gold in enumerate(golds, 1):
            held = (1.0 - collapse) ** np.concatenate([np.zeros(column), np.arange(depth + 1)])
            discounts = gamma ** np.arange(column + depth + 1)
            points.append((-(held * discounts).sum(), held[-1] * discounts[-1] * gold))
    return np.array(sorted(points, reverse=True))


@pytest.mark.parametrize(("level", "shafts"), [(None, SHAFTS), ("hollow", HOLLOW)])
def test_the_front_is_that_of_the_closed_form(level, shafts):
    env = rlenvs.make(ID, level=level)
    front = pareto.pareto_front(env)
    assert len(front) == 24
    np.testing.assert_allclose(front.values, closed_form(shafts), atol=1e-9)
    np.testing.assert_allclose(env.unwrapped.pareto_front(), front.values)
    for value, policy in front:
        np.testing.assert_allclose(pareto.play_policy(env, policy).mean, value, atol=1e-12)


@pytest.mark.parametrize("gamma", [0.99, 0.9])
@pytest.mark.parametrize("collapse", [0.0, 0.05])
def test_with_discount_and_chance(gamma, collapse):
    """Some depths are dominated then; what is left of the closed form is the front, with what the world's own way of
    waiting gives (nothing: time only costs)."""
    env = rlenvs.make(ID, collapse=collapse)
    points = closed_form(SHAFTS, gamma, collapse)
    found = env.unwrapped.pareto_front(gamma)
    np.testing.assert_allclose(found, points[pareto.nondominated(points)], atol=1e-9)


def test_the_front_has_gaps_and_is_hollow():
    """Three arcs with nothing between them; every inner point of an arc lies below the line of its ends."""
    front = rlenvs.make(ID).unwrapped.pareto_front()
    steps = -front[:, 0]
    gaps = np.flatnonzero(np.diff(steps) > 1)
    assert np.diff(steps)[gaps].tolist() == [5, 5]
    for arc in np.split(front, gaps + 1):
        assert len(arc) == 8
        line = np.interp(-arc[:, 0], -arc[[0, -1], 0], arc[[0, -1], 1])
        assert (arc[1:-1, 1] < line[1:-1]).all()


@pytest.mark.parametrize(("level", "found"), CORNERS.items())
def test_weights_find_little(level, found):
    """No weights find more than the corners, neither by the coverage set nor by solving for a thousand weights."""
    env = rlenvs.make(ID, level=level)
    assert pareto.coverage_set(env).values.round(9).tolist() == [list(map(float, point)) for point in found]
    front = env.unwrapped.pareto_front()
    best = {int(np.argmax(front @ (1 - w, w))) for w in np.linspace(0, 1, 1001)}
    assert {tuple(front[i]) for i in best} == set(found)
    reference = (-36.0, 0.0)  # a step beyond the longest way
    share = pareto.hypervolume(np.array(found, float), reference) / pareto.hypervolume(front, reference)
    assert share == pytest.approx(SHARES[level], abs=5e-4)


def test_chebyshev_distances_find_all():
    """What weights miss: each point is the nearest to an ideal one under some weights."""
    front = rlenvs.make(ID).unwrapped.pareto_front()
    ideal = front.max(axis=0) + 0.1
    found = set()
    for point in front:
        distances = ((ideal - front) / (ideal - point)).max(axis=1)
        found.add(int(np.argmin(distances)))
    assert len(found) == 24


def test_moves():
    env = rlenvs.make(ID)
    env.reset(seed=0)
    state = env.unwrapped.batch.states

    def place(*actions):
        env.reset(seed=0)
        for action in actions:
            _, _, terminated, _, info = env.step(action)
            assert info["reward_vector"].tolist() == [-1.0, 0.0]
            assert not terminated
        return tuple(env.unwrapped.batch.records(0)[0].features[state["number"][0]].astype(int).tolist())

    assert place(LEFT) == (0, 0)
    assert place(DOWN) == (0, 0)
    assert place(TAKE) == (0, 0)
    assert place(RIGHT, RIGHT) == (0, 2)
    assert place(RIGHT, RIGHT, DOWN, LEFT, DOWN) == (2, 2)
    assert place(RIGHT, RIGHT, DOWN, UP, RIGHT) == (0, 3)
    assert place(RIGHT, RIGHT, *[DOWN] * 9) == (8, 2)
    assert place(*[RIGHT] * 40) == (0, 27)
    place(RIGHT, RIGHT, DOWN, DOWN, DOWN)
    _, reward, terminated, _, info = env.step(TAKE)
    assert (reward, terminated, info["is_success"]) == (2.0, True, True)  # 4 pieces, and a step that weighs 2
    assert info["reward_vector"].tolist() == [-1, 4]


def test_shafts_break_down_as_often_as_said():
    batch = rlenvs.make_batch(ID, 4000, level="brittle")
    batch.seed(list(range(4000)))
    batch.reset()
    for action in (RIGHT, RIGHT, DOWN):
        batch.step(np.full((4000, 1), action))
    assert batch.terminated.mean() == pytest.approx(0.05, abs=0.012)
    assert not batch.success.any()


@settings(max_examples=20, deadline=None)
@given(ANY_SHAFTS)
def test_any_shafts(shafts):
    shafts = sorted(shafts)
    env = rlenvs.make(ID, shafts=shafts)
    points = closed_form(shafts)
    expected = points[pareto.nondominated(points)]
    expected = expected[expected[:, 1] > 0]  # with no gold at all the best is any end
    found = env.unwrapped.pareto_front()
    assert {tuple(point) for point in found if point[1] > 0} == {tuple(point) for point in expected}


@pytest.mark.parametrize(
    "shafts", [[], [(2, ())], [(2, (1,)), (2, (3,))], [(50, (1,))], [(1, (-1,))], [(1, (np.nan,))], 3, "ab"]
)
def test_bad_shafts(shafts):
    with pytest.raises(ParameterError, match="shafts"):
        rlenvs.make(ID, shafts=shafts)
