"""Scripted players of Breakthrough: a random one, a greedy one, a search."""

from rlenvs.core import below, kernel
from rlenvs.multi.boards.breakthrough_rules import STRAIGHT, advance, may_move, number_of, seen, take_back

WON, HOPELESS = 1_000_000, -10_000_000  # worth of positions to players
RUNS, PREVENTS = 100_000, 50_000
PIECE = 12  # worth of a piece on its first row; one that came y rows has y^2 more


@kernel
def choose_random(s, rng):
    """Any move that is allowed."""
    count = 0
    for x in range(s.board.shape[2]):
        for y in range(s.board.shape[1]):
            for d in range(3):
                count += may_move(s, s.mover, x, y, d)
    left = below(rng, max(count, 1))
    for x in range(s.board.shape[2]):
        for y in range(s.board.shape[1]):
            for d in range(3):
                if may_move(s, s.mover, x, y, d):
                    if left == 0:
                        return number_of(s, x, y, d)
                    left -= 1
    return 0


@kernel
def worth_of(y):
    """Of a piece that stands y rows from its own end."""
    return PIECE + y * y


@kernel
def lost_at(s, side, x, y):
    """What a side has to fear for its piece in (x, y): all of its worth, or a quarter where it is defended."""
    attackers = (seen(s, side, x - 1, y + 1) == 2) + (seen(s, side, x + 1, y + 1) == 2)
    defenders = (seen(s, side, x - 1, y - 1) == 1) + (seen(s, side, x + 1, y - 1) == 1)
    if attackers == 0:
        return 0
    return worth_of(y) if attackers > defenders else worth_of(y) // 4


@kernel
def runs_free(s, side, x, y):
    """Whether no piece of the other side can meet a piece that runs from (x, y) to the last row: none stands in the
    cells ahead that are at most as far to the side as they are ahead, and one more."""
    height = s.board.shape[1]
    for ahead in range(1, height - y):
        for aside in range(-ahead - 1, ahead + 2):
            if seen(s, side, x + aside, y + ahead) == 2:
                return False
    return True


@kernel
def rows_missing(s, side):
    """How many rows the foremost piece of a side is away from the last."""
    height, found = s.board.shape[1], s.board.shape[1]
    for y in range(height):
        for x in range(s.board.shape[2]):
            if seen(s, side, x, y) == 1:
                found = min(found, height - 1 - y)
    return found


@kernel
def judge_move(s, side, x, y, d):
    """What the racer thinks of a move, which is taken back again."""
    height, width = s.board.shape[1], s.board.shape[2]
    captured = advance(s, side, x, y, d)
    x += d - 1
    y += 1
    value = worth_of(y) - worth_of(y - 1)
    if captured:
        value += worth_of(height - 1 - y)
    missing = rows_missing(s, 1 - side)
    if y == height - 1 or s.pieces[1 - side] == 0:
        value = WON
    elif missing == 1:
        value -= PREVENTS
    else:
        value -= lost_at(s, side, x, y)
        if runs_free(s, side, x, y) and height - 1 - y <= missing - 1:
            value += RUNS - 1000 * (height - 1 - y)
        for column in range(width):  # what stands close to our end has to be met
            if seen(s, side, column, 2) == 2 or seen(s, side, column, 3) == 2:
                value -= 6
        if y == 1:  # the last row keeps the ways closed
            value -= 5
    take_back(s, side, x - d + 1, y - 1, d, captured)
    return value


@kernel
def choose_racer(s, rng):
    """The move that looks best by itself, any of these."""
    side, best, chosen, count = s.mover, HOPELESS, 0, 0
    for x in range(s.board.shape[2]):
        for y in range(s.board.shape[1]):
            for d in range(3):
                if may_move(s, side, x, y, d):
                    value = judge_move(s, side, x, y, d)
                    count = 1 if value > best else count + (value == best)
                    if value > best or (value == best and below(rng, count) == 0):
                        best, chosen = value, number_of(s, x, y, d)
    return chosen


@kernel
def enter(s, level, flipped):
    """The search comes to a new position, `level` moves ahead: its moves, captures first, then the foremost pieces."""
    height, width = s.board.shape[1], s.board.shape[2]
    side = (s.mover + level) % 2
    captures, quiet = 0, s.option.shape[1]  # quiet moves are kept from the other end of the list
    for ahead in range(1, height):
        y = height - 1 - ahead
        for i in range(width):
            x = width - 1 - i if flipped else i
            if seen(s, side, x, y) == 1:
                for d in range(3):
                    there = seen(s, side, x + d - 1, y + 1)
                    if there == 2 and d != STRAIGHT:
                        s.option[level, captures] = number_of(s, x, y, d)
                        captures += 1
                    elif there == 0:
                        quiet -= 1
                        s.option[level, quiet] = number_of(s, x, y, d)
    s.captures[level] = captures
    s.quiet[level] = quiet
    s.tried[level] = 0
    s.best[level] = HOPELESS
    s.low[level] = HOPELESS if level == 0 else -s.high[level - 1]
    s.high[level] = -HOPELESS if level == 0 else -s.low[level - 1]


@kernel
def next_move(s, level):
    """The next move to be looked at; -1 when there are no more."""
    n = s.tried[level]
    s.tried[level] += 1
    if n < s.captures[level]:
        return s.option[level, n]
    n = s.option.shape[1] - 1 - (n - s.captures[level])
    return s.option[level, n] if n >= s.quiet[level] else -1


@kernel
def search(s, depth, flipped):
    """Alpha-beta search without recursion. Returns the best action for the side that is to move; what it is worth is
    s.best[0] then: WON and less for a win, the sooner the more."""
    height = s.board.shape[1]
    level, chosen = 0, 0
    s.total[0] = 0
    enter(s, 0, flipped)
    while True:
        action = -1 if s.low[level] >= s.high[level] else next_move(s, level)
        if action < 0:  # all that follows is known
            if level == 0:
                return chosen
            value = -s.best[level]
            level -= 1
            action = s.path[level]
            side = (s.mover + level) % 2
            take_back(s, side, action // (3 * height), action // 3 % height, action % 3, s.taken[level])
        else:
            side = (s.mover + level) % 2
            x, y, d = action // (3 * height), action // 3 % height, action % 3
            captured = advance(s, side, x, y, d)
            total = s.total[level] + worth_of(y + 1) - worth_of(y)
            if captured:
                total += worth_of(height - 2 - y)
            if y + 1 == height - 1 or s.pieces[1 - side] == 0:
                value = WON - level
            elif level + 1 == depth:
                value = total - lost_at(s, side, x + d - 1, y + 1)
            else:
                s.path[level] = action
                s.taken[level] = captured
                level += 1
                s.total[level] = -total
                enter(s, level, flipped)
                continue
            take_back(s, side, x, y, d, captured)
        if value > s.best[level]:
            s.best[level] = value
            if level == 0:
                chosen = action
        s.low[level] = max(s.low[level], value)
