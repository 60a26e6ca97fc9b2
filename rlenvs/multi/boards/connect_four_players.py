"""Scripted players of Connect Four: a random one, a greedy one, a search."""

from rlenvs.core import below, kernel, uniform
from rlenvs.multi.boards.connect_four_rules import connects, drop, is_full, is_open, lift

WON, HOPELESS = 1_000_000, -10_000_000  # worth of positions to the search


@kernel
def choose_random(s, rng):
    """Any column that is not full."""
    count = 0
    for column in range(s.filled.size):
        count += is_open(s, column)
    left = below(rng, max(count, 1))
    for column in range(s.filled.size):
        if is_open(s, column):
            if left == 0:
                return column
            left -= 1
    return 0


@kernel
def winning_column(p, s, side):
    """A column in which a side would win at once; -1 where there is none."""
    found = -1
    for column in range(s.filled.size):
        if found < 0 and is_open(s, column):
            row = drop(s, column, side)
            if connects(p, s, row, column):
                found = column
            lift(s, column)
    return found


@kernel
def choose_greedy(p, s, rng):
    """Win; else prevent; else the column whose next cell is on the most lines, any of the best."""
    column = winning_column(p, s, s.mover)
    if column < 0:
        column = winning_column(p, s, 1 - s.mover)
    if column >= 0:
        return column
    best, count = -1, 0
    for column in range(s.filled.size):
        if is_open(s, column):
            worth = p.worth[s.cell.shape[0] - 1 - s.filled[column], column]
            if worth > best:
                best, count = worth, 1
            elif worth == best:
                count += 1
    left = below(rng, max(count, 1))
    for column in range(s.filled.size):
        if is_open(s, column) and p.worth[s.cell.shape[0] - 1 - s.filled[column], column] == best:
            if left == 0:
                return column
            left -= 1
    return 0


@kernel
def from_the_middle(i, width, mirrored):
    """The columns by their distance from the middle, and of two alike first the right one, or the left one."""
    column = (width - 1) // 2 + ((i + 1) // 2 if i % 2 == 1 else -(i // 2))
    return width - 1 - column if mirrored else column


@kernel
def enter(s, level):
    """The search comes to a new position, `level` moves ahead."""
    s.tried[level] = 0
    s.best[level] = HOPELESS
    s.low[level] = HOPELESS if level == 0 else -s.high[level - 1]
    s.high[level] = -HOPELESS if level == 0 else -s.low[level - 1]


@kernel
def search(p, s, depth, mirrored):
    """Alpha-beta search without recursion. Returns the best column for the side that is to move; what it is worth is
    s.best[0] then: WON and less for a win, the sooner the more, 0 for a draw."""
    width, level, chosen = s.filled.size, 0, 0
    s.total[0] = 0
    enter(s, 0)
    while True:
        if s.tried[level] == width:  # all that follows is known
            if level == 0:
                return chosen
            value = -s.best[level]
            level -= 1
            column = s.path[level]
            lift(s, column)
        else:
            column = from_the_middle(s.tried[level], width, mirrored)
            s.tried[level] += 1
            if not is_open(s, column):
                continue
            row = drop(s, column, (s.mover + level) % 2)
            total = s.total[level] + p.worth[row, column]
            if connects(p, s, row, column):
                value = WON - level
            elif is_full(s):
                value = 0
            elif level + 1 == depth:
                value = total
            else:
                s.path[level] = column
                level += 1
                s.total[level] = -total
                enter(s, level)
                continue
            lift(s, column)
        if value > s.best[level]:
            s.best[level] = value
            if level == 0:
                chosen = column
        s.low[level] = max(s.low[level], value)
        if s.low[level] >= s.high[level]:
            s.tried[level] = width


@kernel
def choose_negamax(p, s, rng):
    """As an opponent it varies; as the expert it draws nothing."""
    return search(p, s, p.depth, uniform(rng, 0.0, 1.0) < 0.5)
