"""Generals-v0: books that balance, observations that are written where something changed."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.generals_games import (
    OPEN,
    ORDERS,
    RIGHT,
    game,
    make,
    move,
    play,
    site,
)

import rlenvs
from rlenvs.multi.generals.board import CITY, GENERAL, MOUNTAIN, PLAIN
from rlenvs.multi.generals.generals import SPEC

# --- invariants -------------------------------------------------------------------------------------------------------


def rules_mask(p, s, k):
    """Legal actions, written down another way than in the kernel."""
    rows, columns = int(p.rows), int(p.columns)
    owner, army, terrain = (np.asarray(s[name]).reshape(rows, columns) for name in ("owner", "army", "terrain"))
    allowed = np.zeros((9, rows, columns), bool)
    for i, j in itertools.product(range(rows), range(columns)):
        if owner[i, j] != k + 1:
            continue
        for d, (down, right) in enumerate([(-1, 0), (1, 0), (0, -1), (0, 1)]):
            inside = 0 <= i + down < rows and 0 <= j + right < columns
            allowed[d, i, j] = army[i, j] > 1 and inside and terrain[i + down, j + right] != MOUNTAIN
        own = [divmod(c, columns) for c in np.flatnonzero((owner == k + 1) & np.isin(terrain, (CITY, GENERAL)))]
        cost = 35 + sum(max(0, 14 - 2 * (abs(a - i) + abs(b - j))) for a, b in own)
        allowed[8, i, j] = terrain[i, j] == PLAIN and army[i, j] >= cost
    allowed[4:8] = allowed[:4]
    return np.concatenate([[True], allowed.ravel()])


def counted(p, s):
    """Land, army and cities of every player, counted on the board."""
    rows = [np.asarray(s.owner) == k + 1 for k in range(len(s.home))]
    cities = np.asarray(s.terrain) == CITY
    return [[int(x.sum()) for x in rows], [int(s.army[x].sum()) for x in rows], [int((x & cities).sum()) for x in rows]]


@pytest.mark.budget(4)
@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 9999), st.sampled_from([(2, 0), (2, 0), (3, 0), (4, 2), (5, 0), (6, 3), (8, 0)]),
    st.sampled_from(ORDERS), st.sampled_from(["draw", "first"]), st.booleans(), st.integers(4, 12), st.integers(4, 12),
)  # fmt: skip
def test_books_balance(seed, crowd, order, mutual, deathtouch, height, width):
    """Totals are those of the board; soldiers come by growth and go in fights; the mask says what the rules say."""
    batch = make(
        players=crowd[0], teams=crowd[1], height=height, width=width, distance=3.0, mountains=0.1, garrison=3.0,
        order=order, mutual_capture=mutual, build=True, deathtouch=20 if deathtouch else 0, horizon=120,
    )  # fmt: skip
    batch.seed([seed])
    batch.reset()
    p, s = batch.records(0)
    dice = np.random.default_rng(seed)
    while not s.over:
        total, alive = int(s.army.sum()), s.alive.copy()
        for k in range(crowd[0]):
            np.testing.assert_array_equal(batch.masks[0, k], rules_mask(p, s, k))
        grown = [int(np.sum(s.owner > 0)), int(np.sum((s.owner > 0) & np.isin(s.terrain, (CITY, GENERAL))))]
        scores = dice.random(batch.masks[0].shape) * batch.masks[0]
        scores[:, 0] *= 0.1
        batch.step(scores.argmax(axis=1)[None])
        assert batch.costs.sum() == 0
        land, troops, cities = counted(p, s)
        assert [s.land.tolist(), s.troops.tolist(), s.cities.tolist()] == [land, troops, cities]
        assert (s.army >= 0).all()
        rise = (grown[0] if s.elapsed % 50 == 0 else 0) + (grown[1] if s.elapsed % 2 == 0 else 0)
        # fights and castles cost soldiers; captures in this tick may add a few growing cells
        assert s.army.sum() - total <= rise + (2 * crowd[0] if s.elapsed % 2 == 0 else 0)
        for side in range(len(s.seen)):
            mine = np.pad(np.isin(s.owner, 1 + np.flatnonzero(p.side == side)).reshape(p.rows, p.columns), 1)
            windows = np.lib.stride_tricks.sliding_window_view(mine, (3, 3)).sum(axis=(2, 3))
            np.testing.assert_array_equal(s.seen[side].reshape(p.rows, p.columns), windows)
        assert (s.alive <= alive).all()
        camps = np.where(s.owner > 0, p.side[np.maximum(s.owner, 1) - 1] + 1, 0)
        np.testing.assert_array_equal(s.camp, camps)


def test_armies_are_conserved_without_fights():
    batch = game(cells={(3, 3): (0, 30), (2, 2): (0, 9)})
    dice = np.random.default_rng(0)
    for _ in range(40):
        _, s = batch.records(0)
        total, t = int(s.army.sum()), int(s.elapsed) + 1
        land = int(np.sum(s.owner > 0))
        legal = np.flatnonzero(batch.masks[0, 0])
        play(batch, int(dice.choice(legal)))
        gained = int(np.sum(s.owner > 0)) if t % 50 == 0 else 0
        assert s.army.sum() == total + gained + (2 if t % 2 == 0 else 0)
        assert np.sum(s.owner > 0) >= land


def test_compiled_and_plain_python_agree():
    for choices in (
        {},
        {"players": 4, "teams": 2, "build": True, "generator": "paper"},
        {"generator": "uniform", "vary": 2},
    ):
        fast, slow = (make(2, height=9, width=8, distance=4.0, backend=b, **choices) for b in ("numba", "python"))
        for batch in (fast, slow):
            batch.seed([4, 5])
            batch.reset()
        for t in range(24):
            name = ("hunter", "harvester", "expander", "random")[t % 4]
            np.testing.assert_array_equal(fast.player_actions(name), slow.player_actions(name))
            fast.step_inplace()
            slow.step_inplace()
        np.testing.assert_array_equal(fast.observations, slow.observations)
        np.testing.assert_array_equal(fast.masks, slow.masks)


# --- observations that are written only where something changed -------------------------------------------------------


CHANGES = [
    {"height": 6, "width": 5, "players": 4, "distance": 3.0},
    {"height": 6, "width": 6, "players": 4, "teams": 2, "distance": 3.0, "order": "larger_first"},
    {"height": 8, "width": 8, "build": True, "deathtouch": 30, "neutral_cities": False, "distance": 4.0},
    {"height": 5, "width": 7, "fog": False, "distance": 3.0, "mutual_capture": "first"},
    {"height": 9, "width": 9, "vary": 3, "opponent": "hunter", "distance": 4.0},
]


def assert_shown_whole(batch):
    """What was written change by change is what is written at once."""
    shown, allowed = batch.observations.copy(), batch.masks.copy()
    for i in range(batch.num_envs):
        batch.set_state(batch.get_state(i), i)
    np.testing.assert_array_equal(shown, batch.observations)
    np.testing.assert_array_equal(allowed, batch.masks)


@pytest.mark.budget(4)
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(CHANGES), st.integers(0, 10**6), st.integers(1, 4))
def test_changes_add_up_to_the_whole_observation(choices, seed, stride):
    batch = rlenvs.make_batch("Generals-v0", 3, threads=1, horizon=120, **choices)
    batch.seed(range(seed, seed + 3))
    batch.reset()
    dice = np.random.default_rng(seed)
    for t in range(130):
        batch.player_actions(dice.choice(SPEC.players, batch.agents).tolist())
        if dice.random() < 0.1 and not batch.over.any():  # several steps that nobody observes
            batch.rollout(np.repeat(batch.actions[:, None], 3, axis=1))
        else:
            batch.step_inplace()
        if t % stride == 0:
            assert_shown_whole(batch)


def test_castles_and_cities_that_were_generals_are_shown():
    batch = game(OPEN, {(3, 3): (0, 100)}, build=True)
    play(batch, site(batch, 3, 3))
    assert batch.observations[0, 0, 2, 3, 3] == 1
    assert_shown_whole(batch)
    three = "A..B\n....\n....\n...C"
    batch = game(three, {(0, 2): (0, 50)}, players=3)
    play(batch, move(batch, 0, 2, RIGHT))
    assert batch.observations[0, 0, 2, 0, 3] == 1
    assert_shown_whole(batch)


def test_arrays_that_are_written_by_changes_are_read_only():
    batch = game()
    with pytest.raises(ValueError, match="read-only"):
        batch.observations[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        batch.masks[0, 0] = 1
    envs = rlenvs.make_vec("Generals-v0", 2, opponent="random")
    observations, _ = envs.reset(seed=0)
    first = observations["observation"] if isinstance(observations, dict) else observations
    first[:] = 0  # a copy is the user's own
