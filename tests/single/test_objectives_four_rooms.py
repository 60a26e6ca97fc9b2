"""Four rooms with shapes: the exact front, proved by replays and by trying all ways, and the form of features."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs import pareto
from rlenvs.pareto.orders import Places, front_of
from rlenvs.single.objectives import four_rooms_shapes as rooms

ID = "FourRoomsShapes-v0"
LEVELS = (None, "features")


def made(level=None, **keywords):
    return rlenvs.make(ID, level=level, **keywords)


@pytest.fixture(scope="module")
def fronts():
    """Of both levels with a discount of 0.95."""
    return {level: pareto.pareto_front(made(level), 0.95) for level in LEVELS}


@pytest.mark.parametrize(("gamma", "points"), [(1.0, 1), (0.99, 240), (0.95, 652), (0.9, 1642)])
def test_the_number_of_points(gamma, points):
    assert len(made().unwrapped.pareto_front(gamma)) == points


@pytest.mark.budget(5)
@pytest.mark.parametrize("level", LEVELS)
def test_policies_attain_their_points(fronts, level):
    front = fronts[level]
    assert front.objectives == ("square", "triangle", "circle", "goal")[: front.values.shape[1]]
    assert pareto.nondominated(front.values).all()
    assert (np.diff(front.values[:, 0]) <= 1e-9).all()
    for value, policy in [*front][:: len(front) // 60]:
        assert isinstance(policy, pareto.OpenLoopPolicy)
        played = pareto.play_policy(made(level), policy, 0.95)
        np.testing.assert_allclose(played.mean, value, rtol=0, atol=1e-12)


def all_ways(level, horizon, gamma):
    """The points of the front from every way of so many moves, step by step, by nothing but the rules."""
    wall = np.array([[letter == "X" for letter in row] for row in rooms.MAP])
    ways = {(rooms.START, frozenset(), (0.0,) * (3 if level is None else 4))}
    done = set()
    for step in range(horizon):
        after = set()
        for (r, c), taken, value in ways:
            for down, right in rooms.MOVES:
                r1, c1 = min(max(r + down, 0), 12), min(max(c + right, 0), 12)
                cell = (r, c) if wall[r1, c1] else (r1, c1)
                now, picked = list(value), taken
                if cell == rooms.GOAL:
                    for j in range(3) if level is None else [3]:
                        now[j] += gamma**step
                    done.add(tuple(now))
                    continue
                if cell in rooms.SHAPES and cell not in taken:
                    now[rooms.KINDS[rooms.SHAPES.index(cell)]] += gamma**step
                    picked = taken | {cell}
                after.add((cell, picked, tuple(now)))
        ways = after
    points = np.array(sorted(done | {value for *_, value in ways}, reverse=True))
    return points[pareto.nondominated(points)]


@pytest.mark.parametrize(("level", "horizon"), [(None, 9), (None, 19), ("features", 25)])
def test_with_little_time_all_ways_give_the_same_front(level, horizon):
    """Little time matters: some go for the goal in 24 steps, others for shapes; the longest plans do not fit."""
    found = made(level, horizon=horizon).unwrapped.pareto_front(0.9)
    expected = all_ways(level, horizon, 0.9)
    order = np.lexsort(-np.round(expected.T[::-1], 9))
    np.testing.assert_allclose(found, expected[order], rtol=0, atol=1e-9)
    front = pareto.pareto_front(made(level), 0.9, horizon)
    np.testing.assert_allclose(front.values, found, rtol=0, atol=1e-12)
    for value, policy in front:
        assert len(policy.actions) <= horizon
        played = pareto.play_policy(made(level, horizon=horizon), policy, 0.9)
        np.testing.assert_allclose(played.mean, value, rtol=0, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(12)), st.integers(0, 12), st.sampled_from(LEVELS))
def test_no_order_of_shapes_is_better(fronts, order, count, level):
    """Any shapes in any order, by shortest ways, and then the goal: never more than the front."""
    steps = rooms.data(None)["steps"]
    (r, c), actions = rooms.START, []
    for target in [*order[:count], 12]:
        while steps[target][r, c] > 0:
            for action, (down, right) in enumerate(rooms.MOVES):
                r1, c1 = min(max(r + down, 0), 12), min(max(c + right, 0), 12)
                if steps[target][r1, c1] < steps[target][r, c]:
                    (r, c), actions = (r1, c1), [*actions, action]
                    break
    value = pareto.play_policy(made(level), pareto.OpenLoopPolicy(actions), 0.95).mean
    assert (fronts[level].values >= value - 1e-9).all(axis=1).any()


def test_the_front_of_shapes_is_that_of_features_with_the_goal_added(fronts):
    """Adding the goal's feature to the others maps one world on the other, and so the fronts."""
    four = fronts["features"].values
    three = four[:, :3] + four[:, 3:]
    three = three[pareto.nondominated(three)]
    assert len(three) == len(fronts[None])
    np.testing.assert_allclose(np.sort(three, axis=0), np.sort(fronts[None].values, axis=0), atol=1e-9)


def test_weights_of_a_task_of_features():
    env = made("features", weights={"square": 1.0, "triangle": -1.0, "circle": 0.0})
    env.reset(seed=0)
    shapes = {kind: rooms.SHAPES[rooms.KINDS.index(kind)] for kind in range(3)}
    for kind, expected in ((0, 1.0), (1, -1.0), (2, 0.0)):
        r, c = shapes[kind]
        beside = next(
            (a, r - down, c - right)
            for a, (down, right) in enumerate(rooms.MOVES)
            if 0 <= r - down < 13 and 0 <= c - right < 13
        )
        state = env.unwrapped.batch.states
        state["row"], state["column"] = beside[1], beside[2]
        _, reward, _, _, info = env.step(beside[0])
        assert reward == expected
        assert info["reward_vector"].tolist() == np.eye(4)[kind].tolist()
    state["row"], state["column"] = 0, 11
    _, reward, terminated, _, info = env.step(2)
    assert (reward, terminated) == (1.0, True)
    assert info["reward_vector"].tolist() == [0, 0, 0, 1]
    assert made("features").unwrapped.batch.world.published.reward(None) == ([0.0] * 4, [1.0] * 4)


def test_a_line_of_places():
    """Places at -2 and +3 of a line that ends at +5, by hand, with a discount of 0.5."""
    cells = [3, 8, 10]
    steps = np.abs(np.array(cells)[:, None] - np.arange(11))
    gains = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    places = Places(steps, cells, [5], gains, 2, lambda cell, a: cell + (1 if a else -1), 2)
    values, actions = front_of(places, 0.5, 100)
    np.testing.assert_allclose(values, [[0.5, 0.5**6], [0.5**7, 0.25]])
    assert actions == [[0] * 2 + [1] * 5, [1] * 3 + [0] * 5]  # the end is worth nothing
    little = {1: [[0, 0]], 2: [[0.5, 0]], 3: [[0.5, 0], [0, 0.25]], 7: [[0.5, 0.5**6], [0, 0.25]]}
    for horizon, expected in little.items():
        np.testing.assert_allclose(front_of(places, 0.5, horizon)[0], expected)
    for horizon in (7, 20):
        values, actions = front_of(places, 1.0, horizon)
        assert values.tolist() == [[1.0, 1.0]]
        assert len(actions[0]) == 7


def test_coverage_set_of_routes():
    env = made()
    corners, front = pareto.coverage_set(env, 0.99, 40), pareto.pareto_front(env, 0.99, 40)
    assert corners.stochastic
    assert 1 < len(corners) < len(front)
    for weights in itertools.product((0.1, 0.5, 1.0), repeat=3):
        assert (corners.values @ weights).max() == pytest.approx((front.values @ weights).max())
