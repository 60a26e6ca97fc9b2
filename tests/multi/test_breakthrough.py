"""Breakthrough: numbers of move sequences from first principles, the objectives, and players."""

import itertools

import numpy as np
import pytest

import rlenvs
from rlenvs.multi.boards.breakthrough import SPEC
from rlenvs.multi.boards.breakthrough_rules import most_moves

EMPTY, UP, DOWN = ".", "w", "b"


def first_board(height, width):
    """Cells by (row, column), seen from above: `w` goes to higher rows, `b` to lower ones."""
    rows = {0: UP, 1: UP, height - 2: DOWN, height - 1: DOWN}
    return {(r, c): rows.get(r, EMPTY) for r in range(height) for c in range(width)}


def followers(board, mover):
    """All boards after one move, each with the move, and whether it wins."""
    ahead, other = (1, DOWN) if mover == UP else (-1, UP)
    for (r, c), piece in board.items():
        for aside in (-1, 0, 1):
            target = (r + ahead, c + aside)
            if piece != mover or target not in board:
                continue
            if board[target] == EMPTY or (aside and board[target] == other):
                after = {**board, (r, c): EMPTY, target: mover}
                won = (target[0] + ahead, c) not in board or other not in after.values()
                yield ((r, c), target), after, won


def count(board, mover, depth):
    """The number of sequences of `depth` moves; games that ended go no further."""
    if depth == 0:
        return 1
    return sum(
        (depth == 1) if won else count(after, DOWN if mover == UP else UP, depth - 1)
        for _, after, won in followers(board, mover)
    )


def ours(depth, **size):
    """The same number, from masks and steps of a batch."""
    batch = rlenvs.make_batch("Breakthrough-v0", 1, **size)
    batch.seed([0])
    batch.reset()
    states, total = batch.states.copy(), 0
    for left in range(depth, 0, -1):
        batch = rlenvs.make_batch("Breakthrough-v0", len(states), **size)
        batch.seed([0] * len(states))
        batch.reset()
        batch.states[:] = states
        batch.recompute_observations()
        parents, choices = np.nonzero(batch.masks[np.arange(len(states)), states["turn"]])
        if left == 1:
            return len(choices)
        more = rlenvs.make_batch("Breakthrough-v0", len(choices), **size)
        more.states[:] = states[parents]
        more.actions[np.arange(len(choices)), states["turn"][parents], 0] = choices
        more.step_inplace()
        states = more.states[~more.over].copy()
    return total


def test_numbers_of_move_sequences():
    """22, 484 and 11 132 on the usual board."""
    board = first_board(8, 8)
    assert [count(board, UP, depth) for depth in (1, 2, 3)] == [22, 484, 11132]
    assert [ours(depth) for depth in (1, 2, 3)] == [22, 484, 11132]


@pytest.mark.parametrize(("height", "width", "depth"), [(4, 2, 6), (4, 3, 5), (5, 3, 6), (6, 4, 4)])
def test_numbers_of_move_sequences_on_small_boards(height, width, depth):
    """With captures, wins and blocked pieces among them."""
    assert ours(depth, height=height, width=width) == count(first_board(height, width), UP, depth)


@pytest.mark.parametrize(("height", "width"), [(8, 8), (5, 7)])
def test_whole_games_by_the_plain_rules(height, width):
    """The mask is the plain enumerator's list of moves, from both ends, and its boards are ours."""
    batch = rlenvs.make_batch("Breakthrough-v0", 1, height=height, width=width)
    generator = np.random.default_rng(0)
    for seed in range(6):
        batch.seed([seed])
        batch.reset()
        board, mover, over, moves = first_board(height, width), UP, False, 0
        while not over:
            side = 0 if mover == UP else 1
            legal = {}
            for ((r, c), (_, to)), after, won in followers(board, mover):
                x, y, d = (c, r, to - c + 1) if side == 0 else (width - 1 - c, height - 1 - r, c - to + 1)
                legal[x * 3 * height + y * 3 + d] = (after, won)
            assert sorted(legal) == np.flatnonzero(batch.masks[0, side]).tolist()
            action = sorted(legal)[int(generator.integers(len(legal)))]
            lost = sum(piece != EMPTY for piece in board.values())
            board, over = legal[action]
            lost -= sum(piece != EMPTY for piece in board.values())
            batch.actions[...] = 0
            batch.actions[0, side, 0] = action
            batch.step_inplace()
            moves += 1
            cell = batch.states["board"][0, 0]
            assert {place: ".wb"[cell[place]] for place in board} == board
            assert batch.over[0] == over
            terms = dict(zip(SPEC.terms, batch.terms[0], strict=True))
            assert terms["captures"][side] == lost / (2 * width) == -terms["losses"][1 - side]
            assert terms["captures"][1 - side] == terms["losses"][side] == 0.0
            mover = DOWN if mover == UP else UP
        assert terms["win"][side] == 1.0
        assert terms["fast_win"].tolist() == [
            s * (1 - moves / most_moves(height, width)) for s in ((1, -1), (-1, 1))[side]
        ]


@pytest.mark.parametrize(("height", "width"), [(4, 2), (4, 3), (5, 2)])
def test_no_game_is_longer_than_most_moves(height, width):
    """The longest of all games, by search over all positions, keeps to the bound; 177 moves on the usual board."""
    known = {}

    def longest(board, mover):
        key = (tuple(board.values()), mover)
        if key not in known:
            known[key] = max(
                (
                    1 if won else 1 + longest(after, DOWN if mover == UP else UP)
                    for _, after, won in followers(board, mover)
                ),
                default=-(10**6),
            )
        return known[key]

    if (height, width) == (4, 2):
        assert 0 < longest(first_board(height, width), UP) <= most_moves(height, width)
        assert min(known.values()) > 0, "some piece can always move"
    assert most_moves(8, 8) == 177
    batch = rlenvs.make_batch("Breakthrough-v0", 64, height=height, width=width)
    assert batch.setup.horizon == most_moves(height, width) + 1


def test_the_observation_is_the_board_from_ones_own_end():
    batch = rlenvs.make_batch("Breakthrough-v0", 1, height=6, width=5)
    batch.seed([0])
    batch.reset()
    batch.actions[0, :, 0] = [(1 * 6 + 1) * 3 + 2, 0]  # the piece in column 1 goes right
    batch.step_inplace()
    first, second = batch.observations[0]
    assert first.shape == (6, 5, 2)
    assert first[2, 2, 0] == 1.0
    assert first[1, 1, 0] == 0.0
    np.testing.assert_array_equal(second[::-1, ::-1, 1], first[..., 0])
    np.testing.assert_array_equal(second[::-1, ::-1, 0], first[..., 1])


def put(batch, pieces):
    """Put pieces, 1 for white, 2 for black, on an empty board, as both sides see it."""
    board = batch.states["board"]
    board[...] = 0
    for (row, column), side in pieces.items():
        board[:, 0, row, column] = side
        board[:, 1, 7 - row, 7 - column] = 3 - side


def test_players_win_at_once_and_prevent():
    batch = rlenvs.make_batch("Breakthrough-v0", 3)
    batch.seed(range(3))
    batch.reset()
    batch.states["pieces"][:] = 2
    # white would win by any of its first piece's moves, and so would black
    put(batch, {(6, 3): 1, (1, 6): 2, (0, 0): 1, (7, 7): 2})
    for player in ("negamax", "racer"):
        action = batch.player_actions(player)[:, 0, 0]
        assert set((action // 3).tolist()) == {3 * 8 + 6}
    put(batch, {(4, 3): 1, (1, 6): 2, (0, 5): 1, (7, 7): 2})  # the only way to prevent is to capture to the right
    for player in ("negamax", "racer"):
        assert set(batch.player_actions(player)[:, 0, 0].tolist()) == {(5 * 8 + 0) * 3 + 2}


def test_both_sides_see_one_board():
    batch = rlenvs.make_batch("Breakthrough-v0", 8)
    batch.seed(range(8))
    batch.reset()
    for _ in range(40):
        batch.player_actions("random")
        batch.step_inplace()
        first, second = batch.states["board"][:, 0], batch.states["board"][:, 1, ::-1, ::-1]
        np.testing.assert_array_equal(second, np.array([0, 2, 1])[first])


def test_the_racer_beats_random_and_negamax_the_racer():
    result = rlenvs.tournament("Breakthrough-v0", games=60)
    assert result.players == ("negamax", "racer", "random")
    assert result.win_rate("racer", "random")[0] >= 0.97
    assert result.win_rate("negamax", "racer")[0] > 0.5


def solve(board, mover, known):
    """Whether the side that is to move wins, both playing best."""
    key = (tuple(board.values()), mover)
    if key not in known:
        other = DOWN if mover == UP else UP
        known[key] = any(won or not solve(after, other, known) for _, after, won in followers(board, mover))
    return known[key]


def test_the_search_is_right_about_small_boards():
    """Where the game is decided within its depth it says so, and the plain solver agrees."""
    batch = rlenvs.make_batch("Breakthrough-v0", 1, height=4, width=3, depth=6)
    known, decided = {}, 0
    for seed in range(30):
        batch.seed([seed])
        batch.reset()
        while not batch.over[0]:
            cell, side = batch.states["board"][0, 0], int(batch.states["mover"][0])
            board = {place: ".wb"[cell[place]] for place in itertools.product(range(4), range(3))}
            batch.player_actions("negamax")
            value = int(batch.states["best"][0, 0])
            if abs(value) > 10_000:
                decided += 1
                assert (value > 0) == solve(board, (UP, DOWN)[side], known)
            batch.player_actions("random")
            batch.step_inplace()
    assert decided > 60


def test_keys():
    batch = rlenvs.make_batch("Breakthrough-v0")
    batch.seed([0])
    batch.reset()
    hand = SPEC.functions["keys"](batch.setup.values)
    assert hand.press(["right", "w"], *batch.records(0)) == (1 * 8 + 1) * 3 + 1
    assert hand.press(["down", "w"], *batch.records(0)) is None
