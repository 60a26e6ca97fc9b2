"""Item gathering: the published map's facts, pick-ups and rewards, exact fronts with replayed walks, random maps."""

import itertools

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs import pareto
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.gathering import item_gathering
from rlenvs.pareto.orders import front_of_team

GATHERING = "ItemGathering-v0"
STAY, UP, DOWN, LEFT, RIGHT = range(5)
MOVES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))


def made(**keywords):
    env = rlenvs.make(GATHERING, **keywords)
    env.reset(seed=0)
    return env, env.unwrapped.batch


def test_the_default_map():
    """8 x 8 cells, agents at (0, 7) and (7, 0), 3 + 3 + 2 items in the inner 4 x 4, 10 steps."""
    env, batch = made()
    assert batch.states["position"][0].tolist() == [[0, 7], [7, 0]]
    ground = batch.states["ground"][0].reshape(8, 8)
    assert [int((ground == kind).sum()) for kind in (1, 2, 3)] == [3, 3, 2]
    assert ground[2:6, 2:6].astype(bool).sum() == 8
    assert batch.setup.horizon == 10
    assert env.action_space.n == 5


@pytest.mark.parametrize(
    ("reward", "paid"),
    [("team", [[1, 0, 1], [1, 0, 1], [1, 0, 1]]), ("individual", [[0.5, 0, 0], [0.5, 0, 0], [0, 0, 1]])],
)
def test_who_is_paid_for_what(reward, paid):
    _, batch = made(map="Ar.B..\nC.....\nb....g", reward=reward)
    batch.states["position"][0, 1] = [0, 2]
    batch.sync_from_state(np.zeros(1, np.int64))
    batch.step(np.array([[RIGHT, LEFT, DOWN]]))  # two onto the red item, one onto the blue
    assert batch.terms[0].T.tolist() == paid
    assert not batch.terminated.any()
    batch.states["position"][0, 1] = [2, 4]
    batch.step(np.array([[STAY, RIGHT, STAY]]))
    assert batch.terms[0, 1].tolist() == ([1, 1, 1] if reward == "team" else [0, 1, 0])
    assert batch.terminated.all()
    assert batch.success.all()
    assert not batch.truncated.any()


def test_items_are_picked_up_with_their_probability():
    batch = rlenvs.make_batch(GATHERING, 4000, map="Ar", pick_up=0.3, autoreset=AutoresetMode.DISABLED)
    batch.seed(0)
    batch.reset()
    batch.step(np.full((4000, 1), RIGHT))
    first = batch.terms[:, 0, 0].mean()
    assert first == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 4000))
    again = ~batch.terminated[:, 0]
    batch.step_inplace(only=again)  # into the wall, and so another try
    assert batch.terms[again, 0, 0].mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 2600))


# --- fronts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "gamma", "points"), [(None, 1.0, 1), (None, 0.95, 27), ("hurry", 1.0, 9)])
def test_walks_attain_the_front(level, gamma, points):
    env, batch = made(level=level)
    front = pareto.pareto_front(env, gamma)
    assert len(front) == points
    assert front.horizon == batch.setup.horizon == (10 if level is None else 7)
    np.testing.assert_allclose(env.unwrapped.pareto_front(gamma), front.values)
    for value, walks in front:
        assert np.shape(walks.actions) == (front.horizon, 2)
        played = pareto.play_policy(env, walks, gamma)
        np.testing.assert_allclose(played.mean, value, atol=1e-12)
    corners = pareto.coverage_set(env, gamma)
    assert 1 <= len(corners) <= points
    assert {tuple(value) for value in corners.values} <= {tuple(value) for value in front.values}


@pytest.mark.parametrize("agents", [1, 2, 3])
def test_fronts_of_teams_of_any_size_are_attained(agents):
    """More agents gather more: their front dominates that of fewer, and every point is played."""
    text = "A..r.g\n.b....\nr..B.g\n....b.\nC.g..."
    for name in "ABC"[agents:]:
        text = text.replace(name, ".")
    env, _ = made(map=text, horizon=5)
    front = pareto.pareto_front(env, 0.9)
    assert len(front) == {1: 3, 2: 9, 3: 11}[agents]
    for value, walks in front:
        np.testing.assert_allclose(pareto.play_policy(env, walks, 0.9).mean, value, atol=1e-12)


@settings(max_examples=12, deadline=None)
@given(st.permutations(list(range(9))), st.integers(1, 4), st.sampled_from([1.0, 0.9]))
def test_the_front_is_that_of_all_joint_actions(places, steps, gamma):
    """By brute force on 3 x 3 cells with two agents and three items, in the world itself."""
    cells = [divmod(place, 3) for place in places[:5]]
    grid = np.full((3, 3), ".")
    for cell, mark in zip(cells, "ABrgb", strict=True):
        grid[cell] = mark
    text = "\n".join("".join(row) for row in grid)
    items = [item_gathering.Item(cell, kind) for kind, cell in enumerate(cells[2:])]
    found, _ = front_of_team(item_gathering.places_of((3, 3), cells[:2], items), gamma, steps)
    own = [best_visits(cell, cells[2:], steps) for cell in cells[:2]]
    values = [
        [gamma ** (min(a, b) - 1) if min(a, b) <= steps else 0.0 for a, b in zip(first, second, strict=True)]
        for first, second in itertools.product(*own)
    ]
    best = np.array(values)[pareto.nondominated(values)]
    assert sorted(np.round(found, 9).tolist()) == sorted(np.round(best, 9).tolist())
    front = rlenvs.make(GATHERING, map=text, horizon=steps).unwrapped.pareto_front(gamma)
    np.testing.assert_allclose(front, found)


def best_visits(start, cells, steps):
    """The times at which a walk first steps on each cell, of all walks."""
    reached = {(start, (99, 99, 99))}
    for step in range(1, steps + 1):
        after = set()
        for (row, column), times in reached:
            for down, right in MOVES:
                at = row + down, column + right
                if 0 <= at[0] < 3 and 0 <= at[1] < 3:
                    after.add(
                        (at, tuple(min(t, step) if at == cell else t for t, cell in zip(times, cells, strict=True)))
                    )
        reached = after
    return {times for _, times in reached}


@pytest.mark.parametrize("level", [None, "hurry"])
def test_the_expert_attains_the_best_sum(level):
    env, batch = made(level=level)
    total = 0.0
    while not batch.over[0]:
        batch.step(batch.expert_actions())
        total += batch.terms[0, :, 0].sum()
    assert total == env.unwrapped.pareto_front().sum(axis=1).max() == (8 if level is None else 4)


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
def test_the_expert_is_exact_on_random_maps(difficulty):
    for seed in range(6):
        env = rlenvs.make(GATHERING, random=True, difficulty=difficulty, horizon=6)
        env.reset(seed=seed)
        batch = env.unwrapped.batch
        starts = [tuple(place) for place in batch.states["position"][0].tolist()]
        ground = batch.states["ground"][0].reshape(8, 8)
        items = [item_gathering.Item((i, j), int(ground[i, j]) - 1) for i, j in np.argwhere(ground).tolist()]
        front, _ = front_of_team(item_gathering.places_of((8, 8), starts, items), 1.0, 6)
        total = 0.0
        while not batch.over[0]:
            batch.step(batch.expert_actions())
            total += batch.terms[0, :, 0].sum()
        assert total == front.sum(axis=1).max()


def test_what_has_no_exact_front():
    for keywords in ({"random": True}, {"pick_up": 0.5}, {"reward": "individual"}, {"map": "A" + "r" * 11}):
        with pytest.raises(ParameterError, match="exact front"):
            rlenvs.make(GATHERING, **keywords).unwrapped.pareto_front()


# --- maps -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A.\n.", "length"),
        ("A.x", "cells are"),
        ("..r", "agents"),
        ("B.r", "agents"),
        ("AAr", "agents"),
        ("A..", "item"),
    ],
)
def test_maps_that_are_refused(text, reason):
    with pytest.raises(ParameterError, match=reason):
        rlenvs.make(GATHERING, map=text)


def test_a_grid_that_is_too_small_is_refused():
    with pytest.raises(ParameterError, match="too small"):
        rlenvs.make(GATHERING, random=True, height=2, width=4, agents=1, red=8)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(3, 9), st.integers(3, 9), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2), st.floats(0.0, 1.0)
)
def test_random_maps_have_everything_once(height, width, agents, red, blue, difficulty):
    keywords = {"height": height, "width": width, "agents": agents, "red": red, "green": 0, "blue": blue}
    _, batch = made(random=True, difficulty=difficulty, **keywords)
    ground = batch.states["ground"][0]
    assert np.bincount(ground, minlength=4).tolist() == [height * width - red - blue, red, 0, blue]
    places = batch.states["position"][0]
    cells = (places[:, 0] * width + places[:, 1]).tolist()
    assert len(set(cells)) == agents
    assert not ground[cells].any()


@pytest.mark.parametrize(
    ("size", "items", "agents"),
    [((8, 2), (3, 9, 1), 2), ((4, 4), (5, 5, 4), 2), ((5, 5), (9, 9, 5), 2), ((3, 6), (9, 5, 0), 4)],
)
def test_crowded_maps_are_filled_in_a_bounded_time(size, items, agents):
    keywords = dict(zip(("height", "width", "red", "green", "blue", "agents"), (*size, *items, agents), strict=True))
    batch = rlenvs.make_batch(GATHERING, 40, random=True, difficulty=1.0, backend="python", **keywords)
    batch.seed(0)
    batch.reset()
    for ground in batch.states["ground"]:
        assert np.bincount(ground, minlength=4)[1:].tolist() == list(items)


def test_difficulty_puts_colours_together():
    def spread(difficulty):
        batch = rlenvs.make_batch(GATHERING, 200, random=True, difficulty=difficulty)
        batch.seed(0)
        batch.reset()
        grounds = batch.states["ground"].reshape(-1, 8, 8)
        return np.mean([np.argwhere(ground == kind).std(axis=0).sum() for ground in grounds for kind in (1, 2)])

    assert spread(1.0) < 0.5 * spread(0.0)
