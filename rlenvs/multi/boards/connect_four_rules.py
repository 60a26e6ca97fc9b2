"""How discs of Connect Four fall, and when they form a line."""

from rlenvs.core import kernel

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


@kernel
def is_open(s, column):
    return s.filled[column] < s.cell.shape[0]


@kernel
def is_full(s):
    found = 0
    for column in range(s.filled.size):
        found += is_open(s, column)
    return found == 0


@kernel
def drop(s, column, side):
    """A disc into a column that is not full; returns its row."""
    row = s.cell.shape[0] - 1 - s.filled[column]
    s.cell[row, column] = 1 + side
    s.filled[column] += 1
    return row


@kernel
def lift(s, column):
    """The last disc out of a column."""
    s.filled[column] -= 1
    s.cell[s.cell.shape[0] - 1 - s.filled[column], column] = 0


@kernel
def reach(s, row, column, down, right):
    """How many discs like the one in a cell follow it in a direction."""
    disc, count = s.cell[row, column], 0
    row += down
    column += right
    while 0 <= row < s.cell.shape[0] and 0 <= column < s.cell.shape[1] and s.cell[row, column] == disc:
        count += 1
        row += down
        column += right
    return count


@kernel
def connects(p, s, row, column):
    """Whether the disc in a cell is part of a line that wins."""
    for down, right in DIRECTIONS:
        if 1 + reach(s, row, column, down, right) + reach(s, row, column, -down, -right) >= p.connect:
            return True
    return False
