"""Generals-v0: more than two players, teams, what each sees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.generals_games import DOWN, LEFT, RIGHT, UP, at, game, grid, lively, move, play, put

from rlenvs.multi.generals.board import CITY, MOUNTAIN, PLAIN

# --- more players and teams -------------------------------------------------------------------------------------------


FOUR = "A......C\n........\n........\n........\n........\n........\nB......D"


def test_a_captured_general_becomes_a_city_and_its_player_leaves():
    batch = game(FOUR, {(6, 1): (0, 9), (3, 3): (1, 5)}, players=4)
    s = play(batch, move(batch, 6, 1, LEFT))
    assert batch.terminated[0].tolist() == [False, True, False, False]
    assert batch.rewards[0].tolist() == [0.0, -1.0, 0.0, 0.0]
    assert at(batch, 3, 3) == (0, 5)
    assert grid(batch, "terrain")[6, 0] == CITY
    assert s.cities.tolist() == [1, 0, 0, 0]
    play(batch)
    assert at(batch, 6, 0)[1] == 7 + 1  # it grows for its captor
    assert batch.masks[0, 1].sum() == 1


def test_the_last_player_wins():
    batch = game(
        "A..\n...\n...\nBC.\n...".replace("...", "....").replace("A..", "A...").replace("BC.", "BC.."), players=3
    )
    put(batch, {(2, 0): (0, 50), (2, 1): (0, 50)})
    play(batch, move(batch, 2, 0, DOWN))
    assert batch.success[0].tolist() == [False] * 3
    play(batch, move(batch, 2, 1, DOWN))
    assert batch.terminated[0].tolist() == [True, False, True]
    assert batch.rewards[0].tolist() == [1.0, 0.0, -1.0]
    assert batch.success[0].tolist() == [True, False, False]


def test_land_of_players_that_capture_each_other_falls_to_nobody():
    batch = game(FOUR, {(6, 1): (0, 9), (0, 1): (1, 9), (3, 3): (0, 5), (4, 4): (1, 5)}, players=4)
    s = play(batch, move(batch, 6, 1, LEFT), move(batch, 0, 1, LEFT))
    assert batch.terminated[0].tolist() == [True, True, False, False]
    assert at(batch, 3, 3) == at(batch, 4, 4) == (None, 5)
    assert s.land.tolist() == [0, 0, 1, 1]


def test_a_chain_of_captures_ends_at_the_one_who_lives():
    batch = game(FOUR, {(6, 1): (0, 9), (1, 7): (1, 9), (5, 5): (2, 6)}, players=4)
    s = play(batch, move(batch, 6, 1, LEFT), move(batch, 1, 7, UP))
    assert at(batch, 5, 5) == (0, 6)
    assert s.land[0] == sum(grid(batch, "owner").ravel() == 1)


def test_teams_share_sight_victory_and_defeat():
    batch = game(FOUR, {(6, 6): (0, 9), (1, 7): (0, 9)}, players=4, teams=2)
    assert batch.records(0)[0].side.tolist() == [0, 0, 1, 1]
    assert batch.observations.shape[2] == 15
    assert batch.observations[0, 0, 14].sum() == 1  # the ally's general
    assert batch.observations[0, 0, 5].sum() == 3
    assert batch.observations[0, 0, 7, 5, 0] == 0  # sees around the ally's general
    play(batch, move(batch, 6, 6, RIGHT))
    assert not batch.terminated.any()
    play(batch, move(batch, 1, 7, UP))
    assert batch.terminated.all()
    assert batch.rewards[0].tolist() == [1.0, 1.0, -1.0, -1.0]
    assert batch.success[0].tolist() == [True, True, False, False]


def test_a_player_without_general_stays_while_its_team_fights():
    batch = game(FOUR, {(1, 0): (2, 9), (6, 6): (1, 9), (1, 7): (1, 9)}, players=4, teams=2)
    play(batch, 0, 0, move(batch, 1, 0, UP))
    assert not batch.terminated.any()
    assert batch.masks[0, 0].sum() == 1
    play(batch, 0, move(batch, 6, 6, RIGHT))
    play(batch, 0, move(batch, 1, 7, UP))
    assert batch.rewards[0].tolist() == [1.0, 1.0, -1.0, -1.0]
    assert batch.success[0].tolist() == [True, True, False, False]


def test_armies_join_allies():
    batch = game(FOUR, {(3, 3): (0, 6), (3, 4): (1, 5), (5, 0): (0, 4)}, players=4, teams=2)
    s = play(batch, move(batch, 3, 3, RIGHT))
    assert at(batch, 3, 4) == (0, 10)
    play(batch, move(batch, 5, 0, DOWN))
    assert at(batch, 6, 0) == (1, 1 + 3 + 1)  # a general stays its owner's, and it is tick 2
    assert s.troops.tolist()[:2] == [1 + 1 + 10 + 1 + 1, 5]


def test_three_cornered_order_puts_the_chaser_first():
    batch = game("A..C....\n........\n........\n.......B", {(2, 2): (0, 20), (2, 3): (1, 6), (2, 5): (2, 3)}, players=3)
    play(batch, move(batch, 2, 2, RIGHT), move(batch, 2, 3, RIGHT), move(batch, 2, 5, LEFT))
    assert at(batch, 2, 3) == (0, 13)  # caught before it left
    assert at(batch, 2, 4) == (2, 2)


# --- what players see -------------------------------------------------------------------------------------------------


def test_planes():
    board = "A.....#.\n.1......\n........\n.......B"
    batch = game(board, {(0, 1): (0, 5), (1, 0): (None, 0), (3, 6): (1, 4)}, time=6)
    planes = batch.observations[0, 0]
    sight = np.zeros((4, 8), bool)
    sight[:2, :3] = True
    np.testing.assert_array_equal(planes[0], np.where(sight, grid(batch, "army"), 0))
    assert np.argwhere(planes[1]).tolist() == [[0, 0]]
    assert np.argwhere(planes[2]).tolist() == [[1, 1]]
    assert not planes[3].any()
    assert planes[4].sum() == 4  # of six cells in sight two are owned
    assert np.argwhere(planes[5]).tolist() == [[0, 0], [0, 1]]
    assert not planes[6].any()
    np.testing.assert_array_equal(planes[7], ~sight & (np.array([list(row) for row in board.split()]) != "#"))
    assert np.argwhere(planes[8]).tolist() == [[0, 6]]
    assert [float(planes[c].min()) for c in range(9, 14)] == [2, 6, 2, 5, 6]
    assert (planes[9:14].min(axis=(1, 2)) == planes[9:14].max(axis=(1, 2))).all()


def test_structures_in_the_fog_look_the_same():
    images = [game(board).observations[0, 0] for board in ("A...\n....\n..3.\n...B", "A...\n....\n..#.\n...B")]
    np.testing.assert_array_equal(*images)
    assert images[0][8, 2, 2] == 1


def test_without_fog_everything_is_in_sight():
    batch = game("A..#\n....\n..3.\n...B", fog=False)
    assert not batch.observations[0, :, 7:9].any()
    assert (
        batch.observations[0, 0, 2, 2, 2] == batch.observations[0, 0, 3, 0, 3] == batch.observations[0, 0, 6, 3, 3] == 1
    )


def test_sight_is_lost_with_the_land():
    batch = game(cells={(3, 3): (0, 2), (3, 4): (1, 9)})
    assert batch.observations[0, 0, 7, 2, 3] == 0
    play(batch, 0, move(batch, 3, 4, LEFT))
    assert batch.observations[0, 0, 7, 2, 3] == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.integers(0, 150), st.integers(2, 5), st.booleans(), st.integers(0, 99))
def test_what_is_hidden_does_not_show(seed, ticks, players, team, salt):
    teams = 2 if team and players == 4 else 0
    batch = lively(seed, ticks, players=players, teams=teams)
    p, s = batch.records(0)
    for k in range(players):
        before, mask = batch.observations[0, k].copy(), batch.masks[0, k].copy()
        kept = batch.get_state()
        dice = np.random.default_rng(salt)
        for cell in np.flatnonzero(np.asarray(s.seen[p.side[k]]) == 0):
            s.army[cell] = dice.integers(0, 99)  # what enemies have in all is public, and kept apart
            if s.terrain[cell] in (CITY, MOUNTAIN):
                s.terrain[cell] = CITY + MOUNTAIN - s.terrain[cell]
            elif s.terrain[cell] == PLAIN:
                s.owner[cell], s.camp[cell] = 0, 0
            else:
                s.terrain[cell] = PLAIN
        batch.set_state(batch.get_state())
        np.testing.assert_array_equal(batch.observations[0, k], before)
        np.testing.assert_array_equal(batch.masks[0, k], mask)
        batch.set_state(kept)


@pytest.mark.parametrize("name", ["hunter", "harvester"])
def test_players_do_not_see_through_the_fog(name):
    dice = np.random.default_rng(5)
    for seed in range(12):
        batch = lively(seed, int(dice.integers(0, 120)))
        p, s = batch.records(0)
        wanted = batch.player_actions(name)[0].copy()
        for k in range(2):
            kept = batch.get_state()
            for cell in np.flatnonzero(np.asarray(s.seen[p.side[k]]) == 0):
                s.army[cell] = dice.integers(0, 99)
                if s.terrain[cell] in (CITY, MOUNTAIN):
                    s.terrain[cell] = CITY + MOUNTAIN - s.terrain[cell]
                else:
                    s.terrain[cell] = PLAIN
                    s.owner[cell], s.camp[cell] = (2 - k, 2 - k) if dice.random() < 0.5 else (0, 0)
            assert batch.player_actions(name)[0, k].tolist() == wanted[k].tolist()
            batch.set_state(kept)
