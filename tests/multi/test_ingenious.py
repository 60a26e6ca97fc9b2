"""Ingenious: the board and the tiles, every score against lines of coordinates, turns, the end, and players."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.multi.boards.ingenious import NAMES, SPEC, STEPS, cells_of
from rlenvs.multi.boards.ingenious_rules import lowest_score

AXES = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)]


def begun(worlds=1, **choices):
    batch = rlenvs.make_batch("Ingenious-v0", worlds, **choices)
    batch.seed(range(worlds))
    batch.reset()
    return batch


@pytest.mark.parametrize("players", range(2, 7))
def test_the_board_has_players_and_four_hexes_along_an_edge(players):
    batch = begun(players=players)
    side = players + 4
    cells = cells_of(side)
    assert len(cells) == batch.states["cell"].shape[1] == 1 + 6 * sum(range(side))
    rows = Counter(r for r, _ in cells)
    assert (min(rows.values()), max(rows.values()), rows[-(side - 1)]) == (side, 2 * side - 1, side)
    touching = sum((r + dr, c + dc) in set(cells) for r, c in cells for dr, dc in AXES)
    assert batch.setup.sizes["places"] == touching
    assert rlenvs.make("Ingenious-v0", players=players).action_space.n == 6 * touching
    assert np.bincount(batch.states["cell"][0]).tolist() == [len(cells) - 6, *[1] * 6]
    if players == 2:
        assert (len(cells), touching) == (91, 480)


def test_tiles():
    """120: six of each pair of colours, five of each double; six are on each rack."""
    for players in (2, 6):
        batch = begun(players=players)
        p, s = batch.records(0)
        tiles = Counter({tuple(kind): int(n) for kind, n in zip(p["kind"].tolist(), s["bag"], strict=True)})
        tiles.update(tuple(tile) for rack in s["rack"].tolist() for tile in rack)
        assert sum(tiles.values()) == 120
        assert len(tiles) == 21
        assert {n for (a, b), n in tiles.items() if a == b} == {5}
        assert {n for (a, b), n in tiles.items() if a != b} == {6}
        assert s["rack"].shape == (players, 6, 2)
        assert (s["rack"] >= 0).all()


def points(board, cell, other, color):
    """Hexes of a colour in unbroken lines from a cell, in all directions but that of the other half."""
    total = 0
    for dr, dc in AXES:
        r, c = cell[0] + dr, cell[1] + dc
        if (r, c) == other:
            continue
        while board.get((r, c)) == color:
            total += 1
            r, c = r + dr, c + dc
    return total


@settings(max_examples=8, deadline=None)
@example(seed=0, players=2, extra=4, again=True, opening=True, player="balanced")
@example(seed=1, players=6, extra=2, again=True, opening=True, player="balanced")
@given(
    seed=st.integers(0, 10**6),
    players=st.integers(2, 3),
    extra=st.integers(2, 3),
    again=st.booleans(),
    opening=st.booleans(),
    player=st.sampled_from(["balanced", "greedy", "random"]),
)
def test_whole_games_by_the_plain_rules(seed, players, extra, again, opening, player):
    batch = rlenvs.make_batch("Ingenious-v0", 1, players=players, extra=extra, again=again, opening=opening)
    batch.seed([seed])
    batch.reset()
    side = players + extra
    cells = cells_of(side)
    p, s = batch.records(0)
    board = {place: int(color) - 1 for place, color in zip(cells, s["cell"], strict=True)}
    corners = {place for place, color in board.items() if color >= 0}
    assert all(max(abs(r), abs(c), abs(r + c)) == side - 1 and 0 in (r, c, r + c) for r, c in corners)
    scores, used, mover, left = np.zeros((players, 6), int), set(), 0, 1
    for move in range(len(cells)):
        racks = s["rack"].copy()
        assert s["turn"] == mover
        free = [
            (i, cells[a], cells[b])
            for i, (a, b) in enumerate(p["place"])
            if board[cells[a]] < 0 and board[cells[b]] < 0
        ]
        if opening and move < players:
            touched = {i: {(x[0] + dr, x[1] + dc) for x in (a, b) for dr, dc in AXES} & corners for i, a, b in free}
            free = [each for each in free if touched[each[0]] - used]
        legal = [slot * len(p["place"]) + i for slot in range(6) if racks[mover, slot, 0] >= 0 for i, _, _ in free]
        assert np.flatnonzero(batch.masks[0, mover]).tolist() == sorted(legal)
        batch.player_actions(player)
        action = int(batch.actions[0, mover, 0])
        assert action in legal
        slot, place = divmod(action, len(p["place"]))
        first, second = (cells[i] for i in p["place"][place])
        one, two = (int(color) for color in racks[mover, slot])
        if opening and move < players:
            used |= touched[place]
        gains = np.zeros(6, int)
        gains[one] += points(board, first, second, one)
        gains[two] += points(board, second, first, two)
        board[first], board[second] = one, two
        before = scores[mover].copy()
        scores[mover] = np.minimum(before + gains, 18)
        full = int(((before < 18) & (scores[mover] == 18)).sum())
        batch.step_inplace()
        np.testing.assert_array_equal(s["score"], scores)
        assert {place: int(color) - 1 for place, color in zip(cells, s["cell"], strict=True)} == board
        wanted = np.zeros((7, players))
        wanted[0, mover] = scores[mover].min() - before.min()
        wanted[1:, mover] = scores[mover] - before
        np.testing.assert_array_equal(batch.terms[0], wanted)
        if s["turn"] < 0:
            break
        left += (full if again else 0) - 1
        if left == 0:
            mover, left = (mover + 1) % players, 1
    places = [(a, b) for a in cells for b in ((a[0] + dr, a[1] + dc) for dr, dc in AXES) if board.get(b, 0) < 0]
    stuck = not any(board[a] < 0 for a, _ in places)
    assert stuck or (scores[mover] == 18).all() or not (s["rack"] >= 0).any()
    ranked = [sorted(row) for row in scores.tolist()]
    assert batch.success[0].tolist() == [row == max(ranked) for row in ranked]
    assert batch.terminated.all()


def test_a_double_scores_from_both_hexes():
    batch = begun(opening=False)
    p, s = batch.records(0)
    middle = cells_of(6).index((0, 0))
    right = int(p["near"][middle, 0])
    place = p["place"].tolist().index([middle, right])
    s["cell"][p["near"][middle, 3]] = 1  # one red hex behind the first half
    s["cell"][p["near"][right, 0]] = 1  # and two behind the second
    s["cell"][p["near"][p["near"][right, 0], 0]] = 1
    s["cell"][p["near"][middle, 1]] = 1  # and one that touches both
    s["rack"][0, 2] = 0
    batch.actions[0, 0, 0] = 2 * len(p["place"]) + place
    batch.step_inplace()
    assert s["score"][0].tolist() == [1 + 2 + 2, 0, 0, 0, 0, 0]
    assert p["near"][middle, 1] == p["near"][right, 2]


@pytest.mark.parametrize("again", [True, False])
def test_eighteen_gives_another_move(again):
    batch = begun(opening=False, again=again)
    p, s = batch.records(0)
    middle = cells_of(6).index((0, 0))
    s["score"][0, 0] = 17
    s["cell"][p["near"][middle, 3]] = 1
    s["rack"][0, 0] = (0, 1)
    batch.actions[0, 0, 0] = p["place"].tolist().index([middle, int(p["near"][middle, 0])])
    batch.step_inplace()
    assert s["score"][0, 0] == 18
    assert s["turn"] == (0 if again else 1)
    assert (s["rack"][0, 0] >= 0).all() == (not again)  # tiles are drawn at the end of the turn
    if again:
        batch.actions[0, 0, 0] = int(np.flatnonzero(batch.masks[0, 0])[0])
        batch.step_inplace()
        assert s["turn"] == 1
        assert (s["rack"] >= 0).all()


def test_all_eighteen_end_the_game():
    batch = begun(opening=False)
    p, s = batch.records(0)
    middle = cells_of(6).index((0, 0))
    s["score"][0] = [17, 18, 18, 18, 18, 18]
    s["cell"][p["near"][middle, 3]] = 1
    s["rack"][0, 0] = (0, 1)
    batch.actions[0, 0, 0] = p["place"].tolist().index([middle, int(p["near"][middle, 0])])
    batch.step_inplace()
    assert batch.over[0]
    assert batch.success[0].tolist() == [True, False]


def test_an_illegal_choice_passes_the_turn():
    batch = begun(players=3)
    before = batch.states["cell"].copy()
    batch.actions[0, :, 0] = [int(np.flatnonzero(batch.masks[0, 0] == 0)[0]), 0, 0]
    batch.step_inplace()
    np.testing.assert_array_equal(batch.states["cell"], before)
    assert batch.states["turn"][0] == 1


def all_tiles(p, s):
    """Tiles of each kind in the bag and on the racks."""
    tiles = Counter({tuple(kind): int(n) for kind, n in zip(p["kind"].tolist(), s["bag"], strict=True)})
    tiles.update(tuple(sorted(tile)) for rack in s["rack"].tolist() for tile in rack if tile[0] >= 0)
    return tiles


@pytest.mark.parametrize(
    ("scores", "rack", "bag", "offered"),
    [
        ([0, 9, 9, 9, 9, 9], (1, 2), 1, True),
        ([0, 0, 9, 9, 9, 9], (2, 3), 1, True),
        ([0, 9, 9, 9, 9, 9], (0, 2), 1, False),  # a tile with the colour
        ([0, 0, 9, 9, 9, 9], (1, 2), 1, False),  # a tile with one of the two colours
        ([0, 9, 9, 9, 9, 9], (1, 2), 0, False),  # no six tiles to draw
    ],
)
def test_who_has_no_tile_for_its_lowest_score_may_exchange_all(scores, rack, bag, offered):
    batch = begun(8, opening=False, exchange=True)
    places = batch.setup.sizes["places"]
    assert rlenvs.make("Ingenious-v0", exchange=True).action_space.n == 6 * places + 2
    assert rlenvs.make("Ingenious-v0").action_space.n == 6 * places
    p, _ = batch.records(0)
    middle = cells_of(6).index((0, 0))
    batch.states["score"][:, 0], batch.states["bag"][:] = scores, bag
    batch.states["rack"][:, 0], batch.states["rack"][:, 0, 0] = rack, (1, 1)
    batch.actions[:, 0, 0] = p["place"].tolist().index([middle, int(p["near"][middle, 0])])  # where it scores nothing
    batch.step_inplace()
    full = (batch.states["rack"][:, 0] >= 0).all(axis=(1, 2))
    assert (full == (not offered and bag > 0)).all()
    assert (batch.states["turn"] == (0 if offered else 1)).all()
    if not offered:
        return
    assert np.flatnonzero(batch.masks[0, 0]).tolist() == [6 * places, 6 * places + 1]
    assert np.flatnonzero(batch.masks[0, 1]).tolist() == [0]
    tiles = [all_tiles(*batch.records(i)) for i in range(8)]
    begin = [batch.get_state(i) for i in range(8)]
    for choice, kept in ((6 * places, 5), (6 * places + 1, 0), (0, 5)):  # to keep, to exchange, and what is masked
        for i in range(8):
            batch.set_state(begin[i], i)
        batch.actions[:, 0, 0] = choice
        batch.step_inplace()
        assert (batch.states["turn"] == 1).all()
        assert (batch.states["moves"] == 1).all()
        assert (batch.states["rack"] >= 0).all()
        assert not batch.terms.any()
        assert [all_tiles(*batch.records(i)) for i in range(8)] == tiles
        for own in batch.states["rack"][:, 0].tolist():
            assert own.count(list(rack)) in (kept, kept + 1)
            # with one tile of each kind in the bag, none comes twice: what is put aside goes back later
            assert kept or len(set(map(tuple, own))) == 6


@pytest.mark.parametrize("player", ["balanced", "greedy", "random"])
def test_exchanges_occur_where_they_may(player):
    """In whole games: only at the end of a turn, and without a colour of the lowest score."""
    batch = begun(8, players=3, extra=3, exchange=True)
    offers = np.zeros(8, int)
    for _ in range(60):
        mover, again = batch.states["turn"].copy(), batch.states["again"].copy()
        was = batch.states["offered"].copy()
        batch.player_actions(player)
        batch.step_inplace()
        for i in np.flatnonzero(~batch.over & ~was & (mover >= 0)):
            _, s = batch.records(i)
            rack, scores = s["rack"][mover[i]], s["score"][mover[i]]
            lowest = set(np.flatnonzero(scores == scores.min()).tolist())
            if s["turn"] == mover[i] and s["again"] > 0:
                assert again[i] > 1 or not s["offered"]  # another move of the same turn
            elif s["offered"]:
                assert s["turn"] == mover[i]
                assert not lowest & set(rack[rack[:, 0] >= 0].ravel().tolist())
                offers[i] += 1
    assert offers.sum() > 0


def test_every_agent_sees_its_own_scores_first():
    batch = begun(players=3)
    batch.states["score"][0] = np.arange(18).reshape(3, 6)
    batch.recompute_observations()
    cells = batch.setup.sizes["cells"]
    for k in range(3):
        seen = batch.observations[0, k]
        scores = seen[6 * cells + 72 : 6 * cells + 72 + 18].reshape(3, 6) * 18
        np.testing.assert_allclose(scores, np.roll(np.arange(18).reshape(3, 6), -k, axis=0), atol=1e-5)
        rack = seen[6 * cells : 6 * cells + 72].reshape(6, 2, 6)
        np.testing.assert_array_equal(rack.argmax(axis=2), batch.states["rack"][0, k])
        assert seen[-1] == np.float32((120 - 18) / 120)


def test_better_players_win():
    result = rlenvs.tournament("Ingenious-v0", games=200)
    assert result.win_rate("balanced", "random")[0] >= 0.98
    assert result.win_rate("balanced", "greedy")[0] > 0.5


def test_objectives():
    assert rlenvs.make("mo-Ingenious-v0").unwrapped.reward_space.shape == (7,)
    assert list(SPEC.terms) == ["lowest", *NAMES]
    assert len(set(STEPS)) == 6
    assert set(STEPS) == set(AXES)


def test_with_fewer_colors_the_first_of_them_alone_are_played():
    batch = begun(4, level="few")
    for seed in range(4):
        p, s = batch.records(seed)
        assert int(s.bag.sum()) + 12 == 3 * 5 + 3 * 6  # doubles, and pairs of three colours
        assert {int(x) for x in s.rack.ravel()} <= {0, 1, 2}
        assert [int(s["cell"][corner]) for corner in p["corner"]] == [1, 2, 3, 1, 2, 3]
        s.score[0] = [4, 3, 2, 0, 0, 0]
        assert lowest_score(p, s, 0) == 2


# --- as planes --------------------------------------------------------------------------------------------------------


def moves(batch, i, k):
    """What an agent may do: which colours come onto which hexes; -2 and -1 are for exchanges."""
    p, s = batch.records(i)
    cells, kinds, found = cells_of(4), [(a, b) for a in range(3) for b in range(a, 3)], set()
    for choice in np.flatnonzero(batch.masks[i, k]).tolist():
        if batch.setup.values.planes:
            spot, cell = divmod(choice - 2 * batch.setup.values.exchange, 49)
            first = cell // 7 - 3, cell % 7 - 3
            ends, colors = [first, tuple(np.add(first, STEPS[spot % 6]).tolist())], kinds[spot // 6]
            exchange = choice - 2 if spot < 0 else None
        else:
            slot, place = divmod(choice, len(p["place"]))
            ends, exchange = [cells[cell] for cell in p["place"][place].tolist()], place - 2 if slot == 6 else None
            colors = s["rack"][k, min(slot, 5)].tolist()
        found.add(frozenset(zip(ends, colors, strict=True)) if exchange is None else exchange)
    return found


@pytest.mark.parametrize("exchange", [False, True])
def test_games_as_planes_are_the_same_games(exchange):
    forms = [begun(4, level="few", exchange=exchange, planes=planes) for planes in (False, True)]
    for _ in range(40):
        for i in range(4):
            mover = int(forms[0].states["turn"][i])
            if mover >= 0:
                numbers, planes = (moves(batch, i, mover) for batch in forms)
                assert planes == numbers
        for batch in forms:
            batch.player_actions("balanced")
            batch.step_inplace()
        for name in ("cell", "score", "turn", "rack"):
            np.testing.assert_array_equal(*(batch.states[name] for batch in forms))
        np.testing.assert_array_equal(*(batch.rewards for batch in forms))


def test_planes_show_what_the_numbers_show():
    numbers, planes = (begun(1, level="few", planes=planes) for planes in (False, True))
    assert planes.observations.shape == (1, 2, 3 + 1 + 6 + 2 * 3 + 1, 7, 7)
    for _ in range(12):
        for batch in (numbers, planes):
            batch.player_actions("balanced")
            batch.step_inplace()
        for k in range(2):
            seen, shown = numbers.observations[0, k], planes.observations[0, k]
            board, rack, scores = seen[: 37 * 6].reshape(37, 6), seen[222:294].reshape(6, 2, 6), seen[294:306]
            for cell, (row, column) in enumerate(cells_of(4)):
                assert shown[:3, row + 3, column + 3].tolist() == board[cell, :3].tolist()
                assert shown[3, row + 3, column + 3] == 1 - board[cell].sum()
            assert shown[:4].sum() == 37
            tiles = Counter(tuple(tile.argmax(1).tolist()) for tile in rack if tile.any())
            held = [tiles[a, b] / 6 for a in range(3) for b in range(a, 3)]
            rest = [*held, *scores.reshape(2, 6)[:, :3].ravel(), seen[306]]
            np.testing.assert_array_equal(shown[4:], np.float32(rest)[:, None, None] + np.zeros((1, 7, 7), np.float32))


def test_a_choice_beside_the_board_lays_nothing():
    batch = begun(1, level="few", planes=True)
    assert batch.setup.sizes["choices"] == 6 * 6 * 49
    batch.step(np.zeros((1, 2), np.int64))  # the corner of the planes is beside the hexagon
    assert batch.states["cell"][0].astype(bool).sum() == 6
    assert batch.states["turn"][0] == 1
