"""Generals-v0: parity with generals-bots; moves, their order, captures, castles."""

import numpy as np
import pytest
from support.generals_games import DOWN, LEFT, ORDERS, RIGHT, UP, at, game, grid, make, move, play, put, site
from support.places import DATA

from rlenvs.multi.generals.board import CITY
from rlenvs.multi.generals.rules import price

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
                    assert batch.player_actions(name)[0, :, 0].tolist() == data[name][g, t].tolist(), (name, g, t)
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
