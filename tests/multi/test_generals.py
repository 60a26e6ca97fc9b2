"""Generals-v0: parity with generals-bots, its rules one by one, boards, what players see, players, memory, replays."""

import itertools
import json

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

import rlenvs
from rlenvs.agents.replay import Recorder, Replay
from rlenvs.core.errors import EpisodeOverError, ParameterError, ReplayError
from rlenvs.multi.generals.board import CITY, GENERAL, MOUNTAIN, PLAIN, parse_board, set_owner
from rlenvs.multi.generals.commander import Commander
from rlenvs.multi.generals.generals import SPEC
from rlenvs.multi.generals.memory import PLANES, GeneralsMemory, remember
from rlenvs.multi.generals.rules import price
from rlenvs.wrappers.forms import wrap

UP, DOWN, LEFT, RIGHT = range(4)
PASS = 0
OPEN = "A.......\n........\n........\n........\n........\n........\n.......B"  # 7 x 8


def make(n=1, **choices):
    return rlenvs.make_batch("Generals-v0", n, autoreset=AutoresetMode.DISABLED, threads=1, **choices)


def game(board=OPEN, cells=None, time=0, **choices):
    """One game on a board, with some cells set to {(row, column): (player or None, army)}."""
    batch = make(board=board, **choices)
    batch.seed([0])
    batch.reset()
    put(batch, cells or {}, time)
    return batch


def put(batch, cells, time=0):
    p, s = batch.records(0)
    for (row, column), (player, army) in cells.items():
        cell = row * int(p.columns) + column
        set_owner(p, s, cell, 0)
        s.army[cell] = army
        set_owner(p, s, cell, 0 if player is None else player + 1)
    s.elapsed = time
    batch.set_state(batch.get_state())  # observe again


def move(batch, row, column, direction, half=0):
    p, _ = batch.records(0)
    return 1 + (direction + 4 * half) * int(p.rows * p.columns) + row * int(p.columns) + column


def site(batch, row, column):
    p, _ = batch.records(0)
    return 1 + 8 * int(p.rows * p.columns) + row * int(p.columns) + column


def play(batch, *orders):
    """One tick; the other players pass."""
    batch.step(np.array([list(orders) + [PASS] * (batch.agents - len(orders))]))
    return batch.records(0)[1]


def grid(batch, name):
    p, s = batch.records(0)
    return np.asarray(s[name]).reshape(p.rows, p.columns)


def at(batch, row, column):
    """Owner (None for nobody) and army of a cell."""
    owner = int(grid(batch, "owner")[row, column])
    return (owner - 1 if owner else None), int(grid(batch, "army")[row, column])


# --- parity -----------------------------------------------------------------------------------------------------------

VERSIONS = {
    "paper": {"order": "larger_first", "mutual_capture": "first"},
    "current": {},
    "competition": {"build": True, "deathtouch": 60},
}


@pytest.mark.parametrize("version", VERSIONS)
def test_games_of_the_original_play_out_alike(version):
    """All numbers are whole but the rewards, which the original computes in float32; so comparisons are exact."""
    with np.load(DATA / f"generals_{version}.npz") as file:
        data = dict(file)
    for g in range(len(data["boards"])):
        batch = game(data["boards"][g].tolist(), **VERSIONS[version], reward="shaped")
        length = int(data["lengths"][g])
        for t in range(length + 1):
            last = t == length and length < data["actions"].shape[1]
            if last and version == "competition":
                break  # where generals fall to each other the original hands over land all the same
            np.testing.assert_array_equal(grid(batch, "army"), data["armies"][g, t])
            np.testing.assert_array_equal(grid(batch, "owner"), data["owners"][g, t])
            np.testing.assert_array_equal(batch.observations[0], data["planes"][g, t])
            if t == length:
                break
            if "hunter" in data:
                for name in ("hunter", "harvester"):
                    assert batch.play(name)[0, :, 0].tolist() == data[name][g, t].tolist(), (name, g, t)
            batch.step(data["actions"][g, t][None])
            if "rewards" in data and t < length - 1:
                np.testing.assert_allclose(batch.rewards[0], data["rewards"][g, t], atol=2e-6)
        if last:
            winner = int(data["winners"][g])
            assert batch.terminated.all()
            assert batch.success[0].tolist() == [k == winner for k in range(2)]
            assert batch.rewards[0].tolist() == [0.0 if winner < 0 else 1.0 if k == winner else -1.0 for k in range(2)]


# --- moves ------------------------------------------------------------------------------------------------------------


def test_growth_at_2_50_and_100():
    batch = game("A.......\n........\n........\n.......B")
    put(batch, {(1, 0): (0, 3)})
    for tick in range(1, 101):
        play(batch)
        assert at(batch, 0, 0)[1] == 1 + tick // 2 + tick // 50
        assert at(batch, 1, 0)[1] == 3 + tick // 50
    assert at(batch, 2, 0) == (None, 0)


def test_own_cities_grow_and_neutral_ones_do_not():
    batch = game("A.......\n..0.....\n..x.....\n.......B", {(1, 2): (0, 5)})
    for _ in range(4):
        play(batch)
    assert at(batch, 1, 2) == (0, 7)
    assert at(batch, 2, 2) == (None, 50)


def test_no_growth_in_the_tick_that_ends_the_game():
    batch = game(cells={(6, 6): (0, 10), (3, 3): (0, 4)}, time=49)
    play(batch, move(batch, 6, 6, RIGHT))
    assert batch.terminated.all()
    assert at(batch, 3, 3) == (0, 4)


@pytest.mark.parametrize(("army", "half", "moved"), [(7, 1, 3), (7, 0, 6), (2, 1, 1), (2, 0, 1), (3, 1, 1), (8, 1, 4)])
def test_all_but_one_or_half(army, half, moved):
    batch = game(cells={(3, 3): (0, army)})
    play(batch, move(batch, 3, 3, RIGHT, half))
    assert at(batch, 3, 3) == (0, army - moved)
    assert at(batch, 3, 4) == (0, moved)


def test_directions():
    for direction, place in {UP: (2, 3), DOWN: (4, 3), LEFT: (3, 2), RIGHT: (3, 4)}.items():
        batch = game(cells={(3, 3): (0, 5)})
        play(batch, move(batch, 3, 3, direction))
        assert at(batch, *place) == (0, 4)


def test_fights():
    for defence, result in {3: (0, 2), 5: (1, 0), 7: (1, 2)}.items():
        batch = game(cells={(3, 3): (0, 6), (3, 4): (1, defence)})
        s = play(batch, move(batch, 3, 3, RIGHT))
        assert at(batch, 3, 4) == result
        assert at(batch, 3, 3) == (0, 1)
        assert s.troops.tolist() == [1 + 6 - min(5, defence), 1 + defence - min(5, defence)]


def test_equal_army_leaves_the_owner_with_nothing():
    batch = game(cells={(3, 3): (0, 6), (3, 4): (1, 5)})
    play(batch, move(batch, 3, 3, RIGHT))
    assert at(batch, 3, 4) == (1, 0)


def test_own_armies_add():
    batch = game(cells={(3, 3): (0, 6), (3, 4): (0, 5)})
    play(batch, move(batch, 3, 3, RIGHT))
    assert at(batch, 3, 4) == (0, 10)


@pytest.mark.parametrize(
    "wrong",
    [(3, 3, UP, 0), (5, 5, UP, 0), (1, 1, UP, 0), (0, 2, UP, 0), (2, 7, RIGHT, 0), (3, 0, LEFT, 0), (6, 2, DOWN, 1)],
)
def test_impossible_moves_pass_and_count(wrong):
    board = "A.......\n.#......\n........\n........\n........\n........\n.......B"
    cells = {(2, 1): (0, 9), (0, 2): (0, 9), (2, 7): (0, 9), (3, 0): (0, 9), (6, 2): (0, 9), (5, 5): (1, 9)}
    batch = game(board, {**cells, (3, 3): (0, 1)})
    before = grid(batch, "army").copy()
    assert not batch.masks[0, 0, move(batch, *wrong)]
    play(batch, move(batch, *wrong))
    assert batch.costs[0].tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(grid(batch, "army"), before)


def test_moves_into_mountains_pass():
    batch = game("A.......\n.#......\n........\n.......B", {(2, 1): (0, 9)})
    play(batch, move(batch, 2, 1, UP))
    assert at(batch, 2, 1) == (0, 9)
    assert batch.costs[0, 0] == 1.0


# --- the order of moves -----------------------------------------------------------------------------------------------

ORDERS = ("smaller_first", "larger_first")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("slot", [0, 1])
def test_who_chases_moves_first(order, slot):
    """The chaser attacks the cell that the other one leaves: it meets the army that has not left yet."""
    batch = game(cells={(3, 3): (slot, 6), (3, 4): (1 - slot, 9)}, order=order)
    orders = [0, 0]
    orders[slot] = move(batch, 3, 3, RIGHT)
    orders[1 - slot] = move(batch, 3, 4, RIGHT)
    play(batch, *orders)
    assert at(batch, 3, 4) == (1 - slot, 1)  # 9 - 5 = 4, of which 3 left
    assert at(batch, 3, 5) == (1 - slot, 3)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("slot", [0, 1])
def test_who_reinforces_moves_before_who_attacks(order, slot):
    cells = {(3, 2): (slot, 4), (3, 3): (slot, 2), (3, 4): (1 - slot, 6)}
    batch = game(cells=cells, order=order)
    orders = [0, 0]
    orders[slot] = move(batch, 3, 2, RIGHT)
    orders[1 - slot] = move(batch, 3, 4, LEFT)
    play(batch, *orders)
    assert at(batch, 3, 3) == (slot, 0)  # 2 + 3 - 5: held


@pytest.mark.parametrize("slot", [0, 1])
def test_army_size_decides_the_rest_one_way_or_the_other(slot):
    """A city that costs 41: with the smaller army first the larger one takes it at the end."""
    for order, winner in zip(ORDERS, (slot, 1 - slot), strict=True):
        batch = game(
            "A.......\n........\n....1...\n.......B", {(2, 3): (slot, 60), (2, 5): (1 - slot, 30)}, order=order
        )
        orders = [0, 0]
        orders[slot] = move(batch, 2, 3, RIGHT)
        orders[1 - slot] = move(batch, 2, 5, LEFT)
        play(batch, *orders)
        # smaller first: 41 - 29 = 12, then 59 takes it with 47; larger first: 59 takes it with 18, then 29 with 11
        assert at(batch, 2, 4) == (winner, 47 if winner == slot else 11)


@pytest.mark.parametrize("order", ORDERS)
def test_equal_armies_go_by_slot(order):
    batch = game("A.......\n........\n........\n.......B", {(2, 3): (0, 9), (2, 5): (1, 9)}, order=order)
    play(batch, move(batch, 2, 3, RIGHT), move(batch, 2, 5, LEFT))
    assert at(batch, 2, 4) == (0, 0)  # player 0 took it with 8, and 8 came against that


@pytest.mark.parametrize(
    ("order", "armies", "halves", "result"),
    [
        ("smaller_first", (9, 5), (1, 0), [(0, 3), (0, 1)]),  # 4 against 9, then half of 5 against 1
        ("larger_first", (9, 5), (1, 0), [(0, 5), (1, 1)]),  # 4 against 5; then there is none to send
        ("smaller_first", (5, 9), (0, 1), [(1, 1), (1, 3)]),
        ("larger_first", (5, 9), (0, 1), [(1, 1), (1, 3)]),  # by slot: 4 against 9, then half of 5 against 1
    ],
)
def test_head_on_ties_go_by_size_today_and_by_slot_in_the_paper(order, armies, halves, result):
    batch = game(cells={(3, 3): (0, armies[0]), (3, 4): (1, armies[1])}, order=order)
    play(batch, move(batch, 3, 3, RIGHT, halves[0]), move(batch, 3, 4, LEFT, halves[1]))
    assert [at(batch, 3, 3), at(batch, 3, 4)] == result


def test_the_second_move_is_checked_again():
    batch = game(cells={(3, 3): (0, 9), (3, 4): (1, 3)})
    play(batch, move(batch, 3, 3, RIGHT), move(batch, 3, 4, RIGHT))
    assert at(batch, 3, 4) == (0, 5)
    assert at(batch, 3, 5) == (None, 0)  # its army was gone
    assert batch.costs[0].tolist() == [0.0, 0.0]  # it was possible when it was given


# --- captures ---------------------------------------------------------------------------------------------------------


def test_capture_wins_and_takes_all_land():
    batch = game(cells={(6, 6): (0, 9), (2, 2): (1, 7), (2, 3): (1, 4)})
    s = play(batch, move(batch, 6, 6, RIGHT))
    assert batch.terminated[0].tolist() == [True, True]
    assert batch.rewards[0].tolist() == [1.0, -1.0]
    assert batch.success[0].tolist() == [True, False]
    assert at(batch, 2, 2) == (0, 7)
    assert s.land.tolist() == [5, 0]
    assert s.troops.tolist() == [1 + 1 + 7 + 7 + 4, 0]


BOTH = {(6, 6): (0, 9), (0, 1): (1, 9)}


def both_strike(**choices):
    batch = game(cells=BOTH, **choices)
    play(batch, move(batch, 6, 6, RIGHT), move(batch, 0, 1, LEFT))
    return batch


def test_capturing_each_other_in_one_tick_is_a_draw():
    batch = both_strike()
    assert batch.terminated[0].tolist() == [True, True]
    assert batch.rewards[0].tolist() == [0.0, 0.0]
    assert batch.success[0].tolist() == [False, False]


def test_or_the_first_move_wins():
    assert both_strike(mutual_capture="first").rewards[0].tolist() == [1.0, -1.0]
    batch = game(cells={**BOTH, (0, 1): (1, 8)}, mutual_capture="first")
    play(batch, move(batch, 6, 6, RIGHT), move(batch, 0, 1, LEFT))
    assert batch.rewards[0].tolist() == [-1.0, 1.0]  # the smaller army moves first


def test_deathtouch():
    cells = {(6, 6): (0, 3), (6, 7): (1, 50)}
    for time, over in ((799, False), (800, True)):
        batch = game(cells=cells, time=time, deathtouch=800)
        play(batch, move(batch, 6, 6, RIGHT))
        assert batch.terminated.all() == over
        assert batch.rewards[0, 0] == float(over)
    batch = game(cells=cells, time=900)
    play(batch, move(batch, 6, 6, RIGHT))
    assert not batch.terminated.any()


def test_both_touching_is_a_draw():
    batch = game(cells={(6, 6): (0, 3), (6, 7): (1, 50), (0, 0): (0, 50), (0, 1): (1, 3)}, time=800, deathtouch=800)
    play(batch, move(batch, 6, 6, RIGHT), move(batch, 0, 1, LEFT))
    assert batch.terminated.all()
    assert batch.rewards[0].tolist() == [0.0, 0.0]


# --- castles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("column", "cost"), [(1, 47), (2, 45), (3, 43), (6, 37), (7, 35)])
def test_price_of_a_castle(column, cost):
    batch = game(build=True, cells={(0, column): (0, cost)})
    p, s = batch.records(0)
    assert price(p, s, 0, column) == cost
    assert batch.masks[0, 0, site(batch, 0, column)]
    play(batch, site(batch, 0, column))
    assert at(batch, 0, column) == (0, 0)
    assert grid(batch, "terrain")[0, column] == CITY
    assert s.cities.tolist() == [1, 0]
    put(batch, {(1, column): (0, cost - 1)})
    assert not batch.masks[0, 0, site(batch, 0, column)]  # it is a city now


def test_a_castle_that_cannot_be_paid_or_stands_elsewhere_passes():
    batch = game(build=True, cells={(0, 3): (0, 42), (6, 0): (1, 99)})
    for place in ((0, 3), (6, 0), (0, 0), (3, 3)):
        assert not batch.masks[0, 0, site(batch, *place)]
        play(batch, site(batch, *place))
        assert batch.costs[0, 0] == 1.0
    assert (grid(batch, "terrain") == CITY).sum() == 0


def test_castles_crowd_and_grow():
    batch = game(build=True, cells={(3, 3): (0, 60), (3, 4): (0, 60)})
    p, s = batch.records(0)
    alone = price(p, s, 0, 3 * 8 + 4)
    play(batch, site(batch, 3, 3))
    assert price(p, s, 0, 3 * 8 + 4) == alone + 12
    army = at(batch, 3, 3)[1]
    play(batch)
    play(batch)
    assert at(batch, 3, 3)[1] == army + 1


def test_no_building_without_the_option():
    assert make().setup.action_size == 1 + 8 * 144
    assert make(build=True).setup.action_size == 1 + 9 * 144


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


LIVELY = {"height": 8, "width": 9, "distance": 5.0, "mountains": 0.1}


def lively(seed, ticks, n=1, **choices):
    """Games some ticks in, played by expanders."""
    batch = make(n, **{**LIVELY, **choices})
    batch.seed(range(seed, seed + n))
    batch.reset()
    for _ in range(ticks):
        if batch.over.any():
            break
        batch.play("expander")
        batch.step_loaded()
    return batch


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
        wanted = batch.play(name)[0].copy()
        for k in range(2):
            kept = batch.get_state()
            for cell in np.flatnonzero(np.asarray(s.seen[p.side[k]]) == 0):
                s.army[cell] = dice.integers(0, 99)
                if s.terrain[cell] in (CITY, MOUNTAIN):
                    s.terrain[cell] = CITY + MOUNTAIN - s.terrain[cell]
                else:
                    s.terrain[cell] = PLAIN
                    s.owner[cell], s.camp[cell] = (2 - k, 2 - k) if dice.random() < 0.5 else (0, 0)
            assert batch.play(name)[0, k].tolist() == wanted[k].tolist()
            batch.set_state(kept)


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
            np.testing.assert_array_equal(fast.play(name), slow.play(name))
            fast.step_loaded()
            slow.step_loaded()
        np.testing.assert_array_equal(fast.observations, slow.observations)
        np.testing.assert_array_equal(fast.masks, slow.masks)


# --- boards -----------------------------------------------------------------------------------------------------------


def test_boards_in_every_form():
    rows = ("A..#", "....", ".7x.", "...B")
    for form in ("A..#\n....\n.7x.\n...B", "\n A..#\n ....\n .7x.\n ...B\n", list(rows)):
        assert parse_board(form) == rows
    batch = game(rows)
    assert at(batch, 2, 1) == (None, 47)
    assert at(batch, 2, 2) == (None, 50)
    assert batch.setup.observation_shape == (14, 4, 4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("A...\n....\n...\n...B", "row 2 has 3 cells"),
        ("A..y\n....\n....\n...B", "'y' is not one of"),
        ("A...\n....\n....\n....", "general B is missing"),
        ("....\n....\n....\n....", "general A is missing"),
        ("A...\n..A.\n....\n...B", "general A stands on the board 2 times"),
        ("A...\n..C.\n....\n....", "general B is missing"),
        ("A...\n..C.\n....\n...B", "3 generals and players=2"),
        ("A.#.\n..#.\n..#.\n..#B", "keep general B from general A"),
        ("A..\n...\n..B", "at least 4 x 4"),
        ("A..B\n" + "....\n" * 64, "at most 64 x 64"),
        ("", "empty"),
        ([[0, 1]], "give strings"),
        (7, "board"),
    ],
)
def test_bad_boards_are_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        make(board=given)


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"players": 5, "teams": 2}, "teams=2 cannot be made of players=5"),
        ({"players": 4, "teams": 1}, "teams=1"),
        ({"players": 9}, "players=9"),
        ({"height": 3}, "height=3"),
        ({"width": 65}, "width=65"),
        ({"height": 8, "vary": 5}, "at most 4"),
        ({"opponent": "nobody"}, "opponent='nobody'"),
        ({"garrison": -1}, "garrison"),
    ],
)
def test_bad_choices_are_refused(choices, words):
    with pytest.raises(ParameterError, match=words):
        make(**choices)


def walks(p, s, start, blocked):
    """Walking distances, by repeated spreading; written differently from the kernel on purpose."""
    rows, columns = int(p.rows), int(p.columns)
    field = np.full((rows + 2, columns + 2), 9999)
    inner = field[1:-1, 1:-1]
    free = ~np.isin(np.asarray(s.terrain).reshape(rows, columns), blocked)
    inner.flat[start] = 0
    while True:
        near = np.minimum.reduce([field[:-2, 1:-1], field[2:, 1:-1], field[1:-1, :-2], field[1:-1, 2:]]) + 1
        new = np.where(free, np.minimum(inner, near), inner)
        if (new == inner).all():
            return inner
        inner[:] = new


def boards(n, **choices):
    batch = make(n, **choices)
    batch.seed(range(n))
    batch.reset()
    return [batch.records(i) for i in range(n)]


@pytest.mark.parametrize("generator", ["current", "paper", "uniform"])
def test_generals_can_always_reach_each_other(generator):
    for sizes in ({}, {"height": 4, "width": 4, "players": 8}, {"height": 6, "width": 20, "players": 3, "vary": 2}):
        for p, s in boards(30, generator=generator, **sizes, mountains=0.3):
            blocked = [MOUNTAIN] if generator == "current" else [MOUNTAIN, CITY]
            field = walks(p, s, s.home[0], blocked)
            assert all(field.flat[home] < 9999 for home in s.home)
            assert len(set(s.home.tolist())) == len(s.home)
            assert all(s.terrain[home] == GENERAL and s.army[home] == 1 for home in s.home)
            outside = np.ones((int(p.rows), int(p.columns)), bool)
            outside[: int(s.height), : int(s.width)] = False
            assert (np.asarray(s.terrain).reshape(outside.shape)[outside] == MOUNTAIN).all()
            listed = set(s.structure[: int(s.structures)].tolist())
            assert listed == set(np.flatnonzero(np.isin(s.terrain, (CITY, GENERAL))).tolist())


def test_boards_of_the_paper():
    shapes, cities, gaps = set(), set(), []
    for p, s in boards(60, level="paper"):
        height, width = int(s.height), int(s.width)
        shapes |= {height, width}
        terrain = np.asarray(s.terrain).reshape(int(p.rows), int(p.columns))[:height, :width]
        count = int((terrain == CITY).sum())
        cities.add(count)
        assert 8 <= count <= 11  # a city may be lost under a general
        area = height * width
        assert int(0.2 * area) - 12 <= (terrain == MOUNTAIN).sum() <= int(0.22 * area)
        garrisons = np.asarray(s.army)[np.asarray(s.terrain) == CITY]
        assert ((garrisons >= 40) & (garrisons <= 50)).all()
        assert walks(p, s, s.home[0], [MOUNTAIN, CITY]).flat[s.home[1]] < 9999
        ground = []
        for home in s.home:
            near = walks(p, s, home, [MOUNTAIN]).ravel()
            assert (near[np.asarray(s.terrain) == CITY] <= 6).any()
            ground.append(int(((near <= 5) & (near > 0) & (np.asarray(s.terrain) == PLAIN)).sum()))
        gaps.append(abs(ground[0] - ground[1]))
    assert shapes == set(range(18, 24))
    assert cities >= {9, 10, 11}
    # at most 10 when the generals were placed; cities carved out of mountains later open a little more ground
    assert np.mean(np.array(gaps) > 10) < 0.1
    assert max(gaps) <= 14


def test_boards_of_today():
    far, gaps = [], []
    for p, s in boards(60, height=20, width=18, distance=17.0):
        terrain = np.asarray(s.terrain)
        area = 360
        cities = int((terrain == CITY).sum())
        assert 7 <= cities <= 11  # a general may stand where a city was
        assert 64 - 11 <= (terrain == MOUNTAIN).sum() <= 90 - 7  # 18 to 25 % of 360, less those turned into cities
        assert area == terrain.size
        fields = [walks(p, s, home, [MOUNTAIN]).ravel() for home in s.home]
        far.append(fields[0][s.home[1]])
        rooms = [int(((field <= 7) & (field > 0)).sum()) for field in fields]
        gaps.append(abs(rooms[0] - rooms[1]))
    assert min(far) >= 17
    assert max(gaps) <= 5
    assert len(set(far)) > 8


def test_uniform_boards():
    share = np.zeros(2)
    for p, s in boards(60, generator="uniform", height=20, width=16, mountains=0.2, mountain_spread=0.0):
        share += [(s.terrain == kind).mean() / 60 for kind in (MOUNTAIN, CITY)]
        places = [divmod(int(home), int(p.columns)) for home in s.home]
        assert abs(places[0][0] - places[1][0]) + abs(places[0][1] - places[1][1]) >= 10
    assert share[0] == pytest.approx(0.2, abs=0.02)
    assert share[1] == pytest.approx(0.05, abs=0.012)


def test_competition_boards_have_no_cities():
    batch = make(20, level="competition")
    batch.seed(range(20))
    batch.reset()
    assert batch.setup.observation_shape == (14, 21, 21)
    assert batch.setup.horizon == 1200
    assert batch.setup.action_size == 1 + 9 * 441
    for i in range(20):
        p, s = batch.records(i)
        assert not (s.terrain == CITY).any()
        assert 18 <= s.height <= 21
        assert 18 <= s.width <= 21
        assert p.deathtouch == 800
        assert p.build


# --- rewards ----------------------------------------------------------------------------------------------------------


def test_shaping():
    """Five cells and 20 soldiers each; then six cells to five, then 24 soldiers to 20, then far more than counts."""
    ours = {(3, 3): (0, 16), (4, 0): (0, 1), (5, 0): (0, 1), (6, 0): (0, 1)}
    theirs = {(2, 7): (1, 16), (3, 7): (1, 1), (4, 7): (1, 1), (5, 7): (1, 1)}
    batch = game(cells={**ours, **theirs}, reward="shaped")
    weights = dict(zip(SPEC.terms, batch.setup.weights.tolist(), strict=True))
    assert weights == {"win": 1, "army": 0.3, "land": 0.3, "city": 0.4}
    play(batch)
    assert batch.rewards[0].tolist() == [0.0, 0.0]
    play(batch, move(batch, 3, 3, RIGHT))
    land = np.log(6 / 5) / np.log(1.3)
    np.testing.assert_allclose(batch.terms[0, :4], [[0, 0], [0, 0], [land, -land], [0, 0]], atol=1e-12)
    assert batch.rewards[0, 0] == pytest.approx(0.3 * land)
    put(batch, {(4, 0): (0, 5)}, 2)  # with the growth of tick 2: 25 to 21
    play(batch)
    army = np.log(25 / 21) / np.log(1.6)
    np.testing.assert_allclose(batch.terms[0, 1], [army, -army], atol=1e-12)
    put(batch, {(5, 0): (0, 50)}, 3)
    play(batch)
    np.testing.assert_allclose(batch.terms[0, 1], [1 - army, army - 1], atol=1e-12)


def test_cities_count():
    batch = game("A.......\n........\n.0......\n.......B", {(2, 0): (0, 60)}, reward="shaped")
    play(batch, move(batch, 2, 0, RIGHT))
    assert batch.terms[0, 3].tolist() == [1.0, 0.0]


def test_nothing_shapes_the_last_tick():
    batch = game(cells={(6, 6): (0, 9), (2, 2): (1, 7)}, reward="shaped")
    play(batch, move(batch, 6, 6, RIGHT))
    assert batch.terms[0, 1:4].tolist() == [[0, 0]] * 3
    assert batch.rewards[0].tolist() == [1.0, -1.0]


# --- scripted players and forms ---------------------------------------------------------------------------------------


def tournament(first, second, n, **choices):
    """How often each wins, sides swapped half way."""
    wins = np.zeros(2)
    for slots in ((first, second), (second, first)):
        batch = make(n, **choices)
        batch.seed(range(n))
        batch.reset()
        going, won = np.ones(n, bool), np.zeros((n, 2), bool)
        while going.any():
            batch.roll(batch.play(slots).reshape(n, 1, 2, 1).copy())
            won[going] = batch.success[going]
            going = ~batch.over
        wins += won.sum(axis=0)[[slots.index(first), slots.index(second)]]
    return wins / (2 * n)


def test_expander_beats_random():
    wins = tournament("expander", "random", 200, height=10, width=10)
    assert wins[0] >= 0.95


def test_hunters_beat_expander():
    for name in ("hunter", "harvester"):
        wins = tournament(name, "expander", 60, horizon=500)
        assert wins[0] > 5 * wins[1]


@pytest.mark.parametrize(
    ("beside", "scores"), [(2, {RIGHT: 180, DOWN: 90, LEFT: 9}), (1, {RIGHT: 9, DOWN: 90, LEFT: 9})]
)
def test_expander_draws_in_proportion(beside, scores):
    """An army of 9 between its own general, open ground, and a cell of the enemy (2) or its own (1)."""
    batch = make(4000, board="A...\n....\n....\n...B")
    batch.seed(range(4000))
    batch.reset()
    for i in range(4000):
        p, s = batch.records(i)
        for cell, (owner, army) in {1: (1, 9), 2: (beside, 1)}.items():
            set_owner(p, s, cell, 0)
            s.army[cell] = army
            set_owner(p, s, cell, owner)
    found = batch.play("expander")[:, 0, 0]
    shares = {d: np.mean(found == 1 + d * 16 + 1) for d in scores}
    assert sum(shares.values()) == 1.0
    for d, score in scores.items():
        assert shares[d] == pytest.approx(score / sum(scores.values()), abs=0.02)


def test_random_draws_evenly():
    batch = make(4000, board="A...\n....\n....\n...B")
    batch.seed(range(4000))
    batch.reset()
    for i in range(4000):
        p, s = batch.records(i)
        set_owner(p, s, 1, 0)
        s.army[1] = 9
        set_owner(p, s, 1, 1)
    found = batch.play("random")[:, 0, 0]
    assert np.mean(found == 0) == pytest.approx(0.05, abs=0.015)
    halves = (found - 1) // 16 >= 4
    assert np.mean(halves[found > 0]) == pytest.approx(0.25, abs=0.03)
    for d in (DOWN, LEFT, RIGHT):
        assert np.mean((found > 0) & ((found - 1) % 64 == d * 16 + 1)) == pytest.approx(0.95 / 3, abs=0.03)


@pytest.mark.parametrize("opponent", ["hunter", "harvester", "expander", "random"])
def test_one_player_against_scripted_ones(opponent):
    env = gymnasium.make("rlenvs/Generals-v0", opponent=opponent, players=3, height=9, width=9)
    assert env.unwrapped.batch.agents == 1
    env.reset(seed=3)
    over = False
    while not over:
        _, reward, terminated, truncated, info = env.step(env.unwrapped.expert_action())
        over = terminated or truncated
    assert reward in (-1.0, 0.0, 1.0)
    assert info["is_success"] == (reward == 1.0)


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo.test")  # masks need a Dict
@pytest.mark.filterwarnings("ignore:.*reset ignores the options")
def test_pettingzoo():
    from pettingzoo.test import api_test, parallel_api_test

    for choices in ({}, {"players": 4, "teams": 2, "build": True}, {"players": 3}):
        parallel_api_test(rlenvs.parallel_env("Generals-v0", height=6, width=7, distance=3.0, **choices), 60)
        api_test(rlenvs.aec_env("Generals-v0", height=6, width=7, distance=3.0, **choices), 30)


def test_players_leave_when_their_general_falls():
    env = rlenvs.parallel_env("Generals-v0", players=4, height=8, width=8, distance=4.0)
    env.reset(seed=1)
    left = [len(env.agents)]
    total = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        orders = {
            **env.player_actions("random"),
            **{k: v for k, v in env.player_actions("hunter").items() if k == "agent_0"},
        }
        _, rewards, *_ = env.step(orders)
        for agent, reward in rewards.items():
            total[agent] += reward
        left.append(len(env.agents))
    assert sorted(set(left)) == sorted(set(left) | {4, 0})
    assert sorted(total.values()) == [-1.0, -1.0, -1.0, 1.0]


def test_sides():
    assert list(SPEC.teams(make(players=4, teams=2).setup.values)) == [0, 0, 1, 1]
    assert list(SPEC.teams(make(players=3).setup.values)) == [0, 1, 2]
    assert list(SPEC.teams(make(players=3, opponent="hunter").setup.values)) == [0]


def test_text_and_image():
    batch = game("A.#.\n.3..\n....\n...B", {(0, 1): (0, 5)}, opponent="hunter")
    p, s = batch.records(0)
    assert SPEC.functions["text"](p, s).split("\n")[0].split() == ["A1", "a5", "#", "~"]
    assert SPEC.functions["text"](p, s).split("\n")[3].split() == ["~"] * 4
    assert "B1" in SPEC.functions["text"](*game("A.#.\n.3..\n....\n...B").records(0))
    env = gymnasium.make("rlenvs/Generals-v0", render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    assert image.shape == (512, 512, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20


# --- memory -----------------------------------------------------------------------------------------------------------


def remembered(planes, name):
    return planes[14 + PLANES.index(name)]


def test_memory_by_hand():
    batch = game("A..1....\n........\n........\n.......B", {(0, 2): (0, 2), (1, 3): (1, 9), (0, 4): (0, 9)})
    batch.set_state(batch.get_state())
    known = remember(np.zeros((1, len(PLANES) + 4, 4, 8), np.float32), batch.observations[:, 0], None, 2)
    first = known[0]
    names = dict(zip(PLANES, first, strict=False))
    assert np.argwhere(names["cities"]).tolist() == [[0, 3]]
    assert np.argwhere(names["enemies"]).tolist() == [[1, 3]]
    assert names["armies"][1, 3] == 9
    np.testing.assert_array_equal(np.argwhere(names["watched"]), [[i, j] for i in (0, 1, 2) for j in (2, 3, 4)])
    lost = {(0, 2): (1, 5), (0, 4): (1, 5)}  # the land around is gone, and with it the sight
    put(batch, lost)
    play(batch, move(batch, 0, 0, DOWN))
    known = remember(known, batch.observations[:, 0], batch.actions[:, 0, 0], 2)
    names = dict(zip(PLANES, known[0], strict=False))
    assert batch.observations[0, 0, 7, 1, 3] == 1
    assert np.argwhere(names["cities"]).tolist() == [[0, 3]]
    assert names["armies"][1, 3] == 9
    assert names["age"][1, 3] == 1
    assert names["age"][3, 3] == 1  # never seen, tick 1
    assert names["age"][0, 0] == 0
    assert not names["watched"].any()
    put(batch, {(0, 0): (0, 8)}, 1)
    play(batch, move(batch, 0, 0, RIGHT))
    planes = remember(known, batch.observations[:, 0], batch.actions[:, 0, 0], 2)[0]
    assert [np.argwhere(plane).tolist() for plane in planes[-4:]] == [[[0, 0]], [[0, 1]], [[0, 0]], [[1, 0]]]


def test_memory_forgets_generals_that_are_seen_gone():
    batch = game("A......C\n........\n........\n.......B", {(0, 6): (0, 30)}, players=3)
    known = remember(np.zeros((1, len(PLANES), 4, 8), np.float32), batch.observations[:, 0], None, 0)
    assert np.argwhere(known[0, PLANES.index("generals")]).tolist() == [[0, 7]]
    play(batch, move(batch, 0, 6, RIGHT))
    later = remember(known, batch.observations[:, 0], batch.actions[:, 0, 0], 0)[0]
    assert not later[PLANES.index("generals")].any()
    assert later[PLANES.index("cities"), 0, 7] == 1


def test_memory_in_every_form_is_the_same():
    choices = {"height": 6, "width": 7, "distance": 3.0, "opponent": "expander", "horizon": 30}
    single = wrap(gymnasium.make("rlenvs/Generals-v0", **choices), GeneralsMemory(moves=2))
    vectors = {
        mode: wrap(rlenvs.make_vec("Generals-v0", 3, autoreset_mode=mode, **choices), GeneralsMemory(moves=2))
        for mode in AutoresetMode
    }
    parallel = wrap(rlenvs.parallel_env("Generals-v0", **choices), GeneralsMemory(moves=2))
    seen, info = single.reset(seed=1)
    assert single.observation_space.shape == seen.shape == (14 + 8 + 4, 6, 7)
    together, _ = parallel.reset(seed=1)
    rows = {mode: env.reset(seed=0)[0] for mode, env in vectors.items()}
    dice = np.random.default_rng(0)
    masks = {mode: np.ones((3, 1 + 8 * 42)) for mode in vectors}
    over = False
    while not over:
        np.testing.assert_array_equal(seen, together["agent_0"]["observation"])
        assert single.observation_space.contains(seen)
        assert parallel.observation_space("agent_0").contains(together["agent_0"])
        action = int(dice.choice(np.flatnonzero(info["action_mask"])))
        for mode, env in vectors.items():
            np.testing.assert_array_equal(rows[mode][1], seen)
            rows[mode], *_, infos = env.step(np.array([0, action, 0]))
            masks[mode] = infos["action_mask"]
            assert env.observation_space.contains(rows[mode])
        seen, _, terminated_now, truncated_now, info = single.step(action)
        together, *_ = parallel.step({"agent_0": action})
        over = terminated_now or truncated_now
        if over and "final_obs" in infos:
            np.testing.assert_array_equal(infos["final_obs"][1], seen)
    same_step = rows[AutoresetMode.SAME_STEP][1]
    rows[AutoresetMode.NEXT_STEP] = vectors[AutoresetMode.NEXT_STEP].step(np.zeros(3, int))[0]
    vector = vectors[AutoresetMode.DISABLED]
    rows[AutoresetMode.DISABLED] = vector.reset(options={"reset_mask": np.array([True] * 3)})[0]
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED):
        np.testing.assert_array_equal(rows[mode][1], same_step)
    np.testing.assert_array_equal(single.reset()[0], same_step)


def test_memory_refuses_other_worlds():
    with pytest.raises(ParameterError, match="not those of Generals"):
        wrap(gymnasium.make("rlenvs/PathFinding-v0"), GeneralsMemory())
    with pytest.raises(ParameterError, match="moves=-1"):
        wrap(gymnasium.make("rlenvs/Generals-v0"), GeneralsMemory(moves=-1))


# --- replays ----------------------------------------------------------------------------------------------------------

SMALL = {"height": 6, "width": 7, "distance": 3.0, "horizon": 40}


def recorded(path=None, env=None, seed=4):
    env = Recorder(env or rlenvs.parallel_env("Generals-v0", **SMALL, vary=1, build=True))
    env.reset(seed=seed)
    while env.agents:
        env.step(env.player_actions("expander"))
    if path:
        env.replay().save(path)
    return env.replay()


def test_replays_come_back(tmp_path):
    for n, env in enumerate(
        [None, rlenvs.parallel_env("Generals-v0", board=OPEN, horizon=30, fog=False, garrison=7.0)]
    ):
        kept = recorded(tmp_path / f"{n}.json", env)
        found = Replay.load(tmp_path / f"{n}.json")
        assert (found.id, found.keywords, found.seed, found.digest) == (kept.id, kept.keywords, kept.seed, kept.digest)
        np.testing.assert_array_equal(found.actions, kept.actions)
        assert found.start.split()[0]
        frames = list(found.frames(every=8))
        assert len(frames) == len(range(0, len(found), 8)) + 1
        assert frames[0].shape == (512, 512, 3)


def test_one_player_s_games_are_recorded_too(tmp_path):
    env = Recorder(gymnasium.make("rlenvs/Generals-v0", opponent="hunter", **SMALL))
    with pytest.raises(EpisodeOverError):
        env.replay()
    for options in (None, {"params": {"garrison": 3.0, "distance": 2.0}}):
        env.reset(options=options)  # goes on with the generator
        over = False
        while not over:
            *_, terminated, truncated, _ = env.step(env.unwrapped.expert_action())
            over = terminated or truncated
        env.replay().save(tmp_path / "one.json")
        assert len(Replay.load(tmp_path / "one.json")) > 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.update(format="other"), "is no replay"),
        (lambda t: t.update(version=2), "has version 2"),
        (lambda t: t.pop("actions"), "'actions' is missing"),
        (lambda t: t.update(seed=[1, 2, 3]), "two unsigned"),
        (lambda t: t.update(seed=[1, -2]), "two unsigned"),
        (lambda t: t.update(id="rlenvs/General-v0"), "Generals-v0"),
        (lambda t: t["keywords"].update(hight=6), "height"),
        (lambda t: t["keywords"].update(height=2), "height=2"),
        (lambda t: t["actions"][3].append([0]), "cannot be played"),
        (lambda t: t["actions"][3].__setitem__(0, [99999]), "99999"),
        (lambda t: t["actions"][3].__setitem__(0, ["up"]), "must be numbers"),
        (lambda t: t["actions"].extend(t["actions"] * 2), "episode is over"),
        (lambda t: t["actions"][3].__setitem__(0, [7]), "the end of the episode differs"),
        (lambda t: t["actions"].pop(), "the end of the episode differs"),
        (lambda t: t["keywords"].update(order="larger_first", garrison=3.0), "differs"),
        (lambda t: t["seed"].__setitem__(0, 5), "the start of the episode differs"),
        (lambda t: t.update(start="A" + t["start"]), "the start of the episode differs"),
        (lambda t: t.update(digest="0" * 16), "the end of the episode differs"),
    ],
)
def test_replays_that_were_changed_are_refused(tmp_path, change, words):
    recorded(tmp_path / "a.json")
    table = json.loads((tmp_path / "a.json").read_text())
    change(table)
    (tmp_path / "a.json").write_text(json.dumps(table))
    with pytest.raises(ReplayError, match=words):
        Replay.load(tmp_path / "a.json")


def test_files_that_are_no_replays(tmp_path):
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(ReplayError, match="is not JSON"):
        Replay.load(tmp_path / "a.json")
    with pytest.raises(ReplayError, match="cannot be read"):
        Replay.load(tmp_path / "b.json")
    (tmp_path / "c.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ReplayError, match="is not JSON"):
        Replay.load(tmp_path / "c.json")
    with pytest.raises(ParameterError, match="cannot be recorded"):
        Recorder(rlenvs.make_vec("Generals-v0", 2))


def test_watching(tmp_path):
    from typer.testing import CliRunner

    from rlenvs.cli import app

    recorded(tmp_path / "a.json")
    result = CliRunner().invoke(app, ["replay", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.gif")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "a.gif").stat().st_size > 1000
    (tmp_path / "bad.json").write_text("{}")
    assert CliRunner().invoke(app, ["replay", str(tmp_path / "bad.json")]).exit_code == 2


# --- a person ---------------------------------------------------------------------------------------------------------


def test_keys():
    batch = game("A.......\n........\n........\n.......B", {(0, 0): (0, 9)}, build=True, opponent="random")
    p, s = batch.records(0)
    hand = Commander(batch.setup.values)
    assert hand.press([], p, s) == PASS
    assert hand.press(["right", "down"], p, s) == move(batch, 0, 0, RIGHT)
    assert hand.mark == (1, 1)
    assert hand.press([], p, s) == move(batch, 0, 1, DOWN)
    assert hand.press(["space", "left", "left", "left", "b"], p, s) == move(batch, 1, 1, LEFT, 1)
    assert hand.press([], p, s) == site(batch, 1, 0)  # it did not leave the board
    hand.press(["d", "d", "down", "down", "q"], p, s)
    assert not hand.orders
    assert hand.mark == (3, 2)
    hand.begin()
    assert hand.press(["s"], p, s) == PASS
    assert hand.mark == (1, 0)


def test_the_window():
    import pygame

    from rlenvs.play import Game, key_table

    assert ("arrows", "send the army of the marked cell") in key_table("Generals-v0")
    lines = []
    play_it = Game("Generals-v0", report=lines.append, opponent="random", board=OPEN, horizon=3)
    pygame.display.init()
    for key in (pygame.K_RIGHT, pygame.K_RIGHT):
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))
    for _ in range(3):
        play_it._listen(pygame)
        play_it._advance()
    assert lines
    assert "step 3 of 3" in lines[0]
    assert play_it.hand.mark == (0, 2)
    pygame.display.quit()


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
    for i in range(batch.num_worlds):
        batch.set_state(batch.get_state(i), i)
    np.testing.assert_array_equal(shown, batch.observations)
    np.testing.assert_array_equal(allowed, batch.masks)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(CHANGES), st.integers(0, 10**6), st.integers(1, 4))
def test_changes_add_up_to_the_whole_observation(choices, seed, stride):
    batch = rlenvs.make_batch("Generals-v0", 3, threads=1, horizon=120, **choices)
    batch.seed(range(seed, seed + 3))
    batch.reset()
    dice = np.random.default_rng(seed)
    for t in range(130):
        batch.play(dice.choice(SPEC.players, batch.agents).tolist())
        if dice.random() < 0.1 and not batch.over.any():  # several steps that nobody observes
            batch.roll(np.repeat(batch.actions[:, None], 3, axis=1))
        else:
            batch.step_loaded()
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
