"""Gems: who is paid how much, where gems appear again, rewards as values times terms, players, refused options."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError, SnapshotError

GEMS = "rlenvs/Gems-v0"
STAY, UP, DOWN, LEFT, RIGHT = range(5)
RED, GREEN, BLUE = 1, 2, 3
TERMS = ("own", "others", "red", "green", "blue")
VALUES = ((1.0, 0.5, -0.5), (-0.5, 0.5, 1.0))


def batch_of(count=1, seed=0, **keywords):
    batch = rlenvs.make_batch(GEMS, count, **keywords)
    batch.seed(seed)
    batch.reset()
    batch.disable_autoreset()
    return batch


def arranged(positions, gems, **keywords):
    """One world with agents and gems on given cells; gems by color, so many as there are."""
    counts = {name: max(list(gems.values()).count(1 + k), k == 0) for k, name in enumerate(("red", "green", "blue"))}
    batch = batch_of(**counts, **keywords)
    s = batch.records(0)[1]
    s.position[:], s.ground[:] = positions, 0
    for cell, color in gems.items():
        s.ground[cell] = color
    return batch, s


def act(batch, *actions):
    batch.load_actions(np.array([actions]))
    batch.step_inplace()
    return {name: terms.tolist() for name, terms in zip(TERMS, batch.terms[0], strict=True)}


def test_a_gem_is_worth_what_its_finder_thinks_of_it():
    batch, s = arranged([(0, 0), (5, 5)], {(0, 1): BLUE, (5, 4): BLUE, (3, 3): RED}, concern=0.25)
    terms = act(batch, RIGHT, LEFT)
    assert terms["own"] == [-0.5, 1.0]
    assert terms["others"] == [0.25, -0.125]
    assert (terms["red"], terms["green"], terms["blue"]) == ([0, 0], [0, 0], [1, 1])
    assert batch.rewards[0].tolist() == [-0.25, 0.875]
    assert [(s.ground == color).sum() for color in (RED, GREEN, BLUE)] == [1, 0, 2]


def test_agents_on_a_cell_share_a_gem():
    batch, s = arranged([(2, 1), (2, 3)], {(2, 2): GREEN, (0, 0): RED})
    terms = act(batch, RIGHT, LEFT)
    assert (terms["own"], terms["green"]) == ([0.25, 0.25], [0.5, 0.5])
    assert (s.ground == GREEN).sum() == 1


def test_gems_appear_again_on_each_free_cell_alike():
    batch = batch_of(3000, height=2, width=3, red=1, green=0, blue=0)
    for i in range(3000):
        s = batch.records(i)[1]
        s.position[:], s.ground[:] = [(0, 0), (1, 2)], 0
        s.ground[0, 1] = RED
    batch.load_actions(np.tile([RIGHT, STAY], (3000, 1)))
    batch.step_inplace()
    found = np.mean([batch.records(i)[1].ground > 0 for i in range(3000)], axis=0)
    assert found[[0, 1], [1, 2]].tolist() == [0, 0]
    assert abs(found[[0, 0, 1, 1], [0, 2, 0, 1]] - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 3000)


def test_where_agents_are_on_all_other_cells_a_gem_appears_under_one():
    batch, s = arranged(
        [(0, 0), (0, 1), (1, 0), (1, 1)], {(0, 0): RED}, valuations=[[1, 0, 0]] * 2 + [[0, 0, 1]] * 2, height=3, width=2
    )
    s.ground[2] = [RED, RED]  # no longer what the options say, but full
    act(batch, STAY, STAY, STAY, STAY)
    assert (s.ground == RED).sum() == 3


def test_worlds_begin_on_distinct_cells():
    batch = batch_of(200)
    for i in range(200):
        s = batch.records(i)[1]
        cells = [tuple(place) for place in s.position.tolist()] + [tuple(cell) for cell in np.argwhere(s.ground > 0)]
        assert len(set(cells)) == 2 + 5


def test_the_tabular_level_has_3528_states():
    batch, rng = batch_of(4000, level="tabular"), np.random.default_rng(0)
    seen = set()
    for _ in range(batch.setup.horizon):
        cells = [batch.states[name].reshape(4000, -1) for name in ("position", "ground")]
        seen |= set(map(tuple, np.hstack(cells).tolist()))
        batch.load_actions(rng.integers(0, 5, (4000, 2)))
        batch.step_inplace()
    assert 3520 < len(seen) <= 3528  # some are rare


def test_rewards_are_values_times_terms():
    batch = batch_of(50, concern=-1.0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        batch.load_actions(rng.integers(0, 5, (50, 2)))
        batch.step_inplace()
        worth = (batch.terms[:, 2:] * np.transpose(VALUES)).sum(1)
        np.testing.assert_array_equal(worth, batch.terms[:, TERMS.index("own")])
        np.testing.assert_allclose(batch.rewards.sum(1), 0.0, atol=1e-12)


def test_rivals_of_two_have_a_sum_of_zero_and_teams_equal_rewards():
    for level, other in (("rivals", -1.0), ("team", 1.0)):
        batch = batch_of(1, level=level)
        total = np.zeros(2)
        for _ in range(50):
            batch.load_actions(batch.expert_actions())
            batch.step_inplace()
            total += batch.rewards[0]
        assert total[1] == pytest.approx(other * total[0])
        assert total[0] != 0.0


def test_the_observation_says_who_wants_what():
    batch, _ = arranged([(0, 0), (5, 5)], {(0, 1): BLUE, (3, 3): RED})
    batch.recompute_observations()
    first, second = batch.get_observations()[0]
    planes = first[:180].reshape(5, 6, 6)
    assert [tuple(np.argwhere(plane)[0]) for plane in planes[[0, 1, 2, 4]]] == [(0, 0), (5, 5), (3, 3), (0, 1)]
    assert (first[180:].tolist(), second[180:].tolist()) == ([1.0, 0.5, -0.5], [-0.5, 0.5, 1.0])


def test_a_player_leaves_a_gem_to_whom_is_nearer_and_walks_around_what_it_dislikes():
    batch, s = arranged([(0, 0), (0, 5)], {(0, 4): GREEN, (3, 0): RED})
    batch.load_actions(batch.expert_actions())
    assert batch.actions[0].ravel().tolist() == [DOWN, LEFT]
    s.ground[:], s.position[0] = 0, (2, 2)
    s.ground[2, 3], s.ground[1, 3] = BLUE, RED
    batch.load_actions(batch.expert_actions())
    assert batch.actions[0].ravel()[0] == UP


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"valuations": []}, "1 ... 6 rows"),
        ({"valuations": [[1, 2]]}, "1 ... 6 rows"),
        ({"valuations": [[1, 0, 0]] * 7}, "1 ... 6 rows"),
        ({"valuations": [[1, 0, 1.5]]}, r"values are in \[-1, 1\]"),
        ({"valuations": [[1, 0, float("nan")]]}, r"values are in \[-1, 1\]"),
        ({"valuations": [[1, 0], [1]]}, "needs numbers"),
        ({"valuations": "red"}, "needs numbers"),
        ({"height": 2, "width": 3}, "too small for 2 agents, 5 gems"),
    ],
)
def test_malformed_options_are_refused(keywords, message):
    with pytest.raises(ParameterError, match=message):
        rlenvs.make_batch(GEMS, 1, **keywords)


def test_impossible_states_are_refused():
    batch = batch_of()
    snapshot, s = batch.get_state(), batch.records(0)[1]
    s.ground[:] = 0
    forged = batch.get_state()
    batch.set_state(snapshot)
    with pytest.raises(SnapshotError, match=r"there are \[0, 0, 0\] red, green and blue gems, and not \[2, 1, 2\]"):
        batch.set_state(forged)
