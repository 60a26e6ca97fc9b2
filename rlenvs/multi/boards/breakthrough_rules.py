"""How pieces of Breakthrough move. `x` and `y` are a column and a row as seen by a side, from its own end."""

from rlenvs.core import kernel

LEFT, STRAIGHT, RIGHT = range(3)


@kernel
def most_moves(height, width):
    """How long a game may be."""
    return 2 * width * (2 * height - 5) + 1


@kernel
def row_of(s, side, y):
    return y if side == 0 else s.board.shape[1] - 1 - y


@kernel
def column_of(s, side, x):
    return x if side == 0 else s.board.shape[2] - 1 - x


@kernel
def seen(s, side, x, y):
    """What a side sees in a cell: 1 for its own piece, 2 for the other's, 0 for none, 3 beyond the board."""
    if x < 0 or y < 0 or x >= s.board.shape[2] or y >= s.board.shape[1]:
        return 3
    return int(s.board[side, y, x])


@kernel
def place(s, side, x, y, piece):
    """Put a piece (1 own, 2 the other's, 0 none) where a side sees (x, y)."""
    s.board[side, y, x] = piece
    s.board[1 - side, s.board.shape[1] - 1 - y, s.board.shape[2] - 1 - x] = 3 - piece if piece else 0


@kernel
def may_move(s, side, x, y, d):
    """Whether a side may move what it sees in (x, y) in direction d."""
    if seen(s, side, x, y) != 1:
        return False
    ahead = seen(s, side, x + d - 1, y + 1)
    return ahead == 0 or (ahead == 2 and d != STRAIGHT)


@kernel
def advance(s, side, x, y, d):
    """A move that is allowed; returns whether it captures."""
    captured = seen(s, side, x + d - 1, y + 1) == 2
    place(s, side, x, y, 0)
    place(s, side, x + d - 1, y + 1, 1)
    s.pieces[1 - side] -= captured
    return captured


@kernel
def take_back(s, side, x, y, d, captured):
    place(s, side, x, y, 1)
    place(s, side, x + d - 1, y + 1, 2 if captured else 0)
    s.pieces[1 - side] += captured


@kernel
def number_of(s, x, y, d):
    """The action that moves what lies in (x, y) in direction d."""
    return (x * s.board.shape[1] + y) * 3 + d


@kernel
def note_move(s, side, x, y, d):
    s.moves += 1
    s.last[0] = row_of(s, side, y)
    s.last[1] = column_of(s, side, x)
    s.last[2] = row_of(s, side, y + 1)
    s.last[3] = column_of(s, side, x + d - 1)
