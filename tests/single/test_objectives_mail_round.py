"""MailRound: the front of ten objectives, by another algorithm, by all ways, and by replays."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs import pareto
from rlenvs.agents.evaluate import evaluate
from rlenvs.single.objectives import mail_round as town

ID = "MailRound-v0"
MOVES = dict(enumerate(town.MOVES))


@pytest.fixture(scope="module")
def front():
    return pareto.pareto_front(ID)


def earliest():
    """The least time to have visited each set of houses, by the last one (Held and Karp, 1962), int (1024, 10)."""
    steps = town.data(None)["steps"]
    between = np.array([[steps[j][cell] for j in range(10)] for cell in town.HOUSES])
    times = np.full((1024, 10), 10_000)
    for k in range(10):
        times[1 << k, k] = steps[k][town.START]
    for visited in range(1, 1024):
        for k, j in itertools.product(range(10), range(10)):
            if visited >> k & 1 and not visited >> j & 1:
                later = visited | 1 << j
                times[later, j] = min(times[later, j], times[visited, k] + between[k, j])
    return times.min(axis=1)


@pytest.mark.parametrize(("level", "points", "most"), [("short", 36, 5), (None, 68, 6), ("long", 35, 9)])
def test_without_a_discount_the_front_is_the_largest_sets_that_there_is_time_for(level, points, most):
    env = rlenvs.make(ID, level=level)
    possible = np.flatnonzero(earliest() <= env.spec.max_episode_steps)
    largest = [a for a in possible if not any(a != b and a & b == a for b in possible)]
    expected = np.array([[a >> k & 1 for k in range(10)] for a in largest], float)
    found = env.unwrapped.pareto_front()
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))
    assert len(found) == points
    assert found.sum(axis=1).max() == most
    if level is None:
        assert set(found.sum(axis=1)) == {5, 6}
        assert (found.sum(axis=0) > 0).all()  # somebody is for each house


@pytest.mark.parametrize("gamma", [1.0, 0.99])
def test_policies_attain_their_points(gamma):
    front = pareto.pareto_front(ID, gamma)
    assert len(front) == (68 if gamma == 1.0 else 542)
    assert len(front.objectives) == 10
    for value, policy in [*front][:: 1 if gamma == 1.0 else 10]:
        assert len(policy.actions) <= 28
        np.testing.assert_allclose(pareto.play_policy(ID, policy, gamma).mean, value, rtol=0, atol=1e-12)


@pytest.mark.parametrize("horizon", [5, 11, 15])
def test_with_little_time_all_ways_give_the_same_front(horizon):
    ways = {(town.START, frozenset())}
    for step in range(horizon):
        after = set()
        for (r, c), taken in ways:
            for down, right in town.MOVES:
                cell = min(max(r + down, 0), 10), min(max(c + right, 0), 10)
                if town.OPEN[cell]:
                    house = town.HOUSES.index(cell) if cell in town.HOUSES else -1
                    known = {k for k, _ in taken}
                    after.add((cell, taken if house < 0 or house in known else taken | {(house, step)}))
        ways |= after
    points = np.array(sorted({tuple(np.sum([0.9**t * np.eye(10)[k] for k, t in w], axis=0)) if w else (0.0,) * 10
                              for _, w in ways}, reverse=True))  # fmt: skip
    expected = points[pareto.nondominated(points)]
    found = rlenvs.make(ID, horizon=horizon).unwrapped.pareto_front(0.9)
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(expected, axis=0), rtol=0, atol=1e-12)
    assert len(found) == len(expected)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=28, max_size=28))
def test_no_walk_is_better(front, actions):
    value = pareto.play_policy(ID, pareto.OpenLoopPolicy(actions)).mean
    assert (front.values >= value - 1e-9).all(axis=1).any()


def test_steps():
    env = rlenvs.make(f"mo-{ID}")
    observation, _ = env.reset(seed=0)
    assert env.unwrapped.reward_space.shape == (10,)
    np.testing.assert_allclose(observation[:2], [0.2, -0.2], atol=1e-6)  # row 6 and column 4 of 0 to 10
    observation, reward, *_ = env.step(1)
    assert reward.tolist() == [0.0] * 10
    np.testing.assert_allclose(observation[[0, 1, 12]], [0.0, -0.2, 2 / 40 - 1], atol=1e-6)
    assert env.step(0)[0][:2].tolist() == env.unwrapped.batch.observations[0, 0, :2].tolist()  # a hedge
    for k, house in enumerate(town.HOUSES):
        action, cell = next(
            (a, (house[0] - down, house[1] - right))
            for a, (down, right) in MOVES.items()
            if 0 <= house[0] - down <= 10
            and 0 <= house[1] - right <= 10
            and town.OPEN[house[0] - down, house[1] - right]
        )
        state = env.unwrapped.batch.states
        for times in (1, 0):
            state["row"], state["column"] = cell
            observation, reward, terminated, _, _ = env.step(action)
            assert reward.tolist() == (times * np.eye(10)[k]).tolist()
            if terminated:
                break
        assert observation[2 + k] == 1.0
        assert terminated == (k == 9)


def test_the_expert_is_the_best():
    for level in (None, "short", "long"):
        best = rlenvs.make(ID, level=level).unwrapped.pareto_front().sum(axis=1).max()
        assert evaluate(ID, "expert", 1, level=level).mean == best
    assert rlenvs.core.catalogue.registry.world_of(ID).scores["bound"].mean == 6


def test_a_utility_tells_points_apart_that_have_the_same_sum(front):
    """Two streets: the one that fares worse counts."""
    worth = [min(value[:5].sum(), value[5:].sum()) for value in front.values[front.values.sum(axis=1) == 6]]
    assert len(set(worth)) > 1
    found = pareto.utility_of(ID, front.policies[0], lambda value: min(value[:5].sum(), value[5:].sum()), episodes=2)
    assert found.ser == found.esr
