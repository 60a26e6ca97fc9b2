"""Connect Four: take turns dropping discs into columns, and be the first to get four in a line.

## Description
The game of Howard Wexler and Ned Strongin (1974), with the rules and the observation of PettingZoo's `connect_four_v3`.
Allis ("A Knowledge-based Approach of Connect-Four", 1988) proved that the first player wins on 7 columns and 6 rows.
With `opponent` "self" both sides are agents, and they move in turn: the AEC API asks only the agent whose turn it is;
in the other APIs the waiting agent can only choose 0, which does nothing. With another `opponent`, as in the levels
easy, medium and hard, there is one agent, on the side given by `side`, and a step is its move plus the reply: the usual
setting for a single learner. Scripted players: "negamax" searches `depth` moves ahead with alpha-beta pruning and
counts the lines that its discs could still complete; "greedy" wins if it can, blocks if it must, and prefers the
middle; "random".

## Action Space
The column, from the left. Full columns are masked. Choosing one anyway loses the game, as under PettingZoo's
`TerminateIllegalWrapper`; here the other side wins.

## Observation Space
Planes, last as in the original (rows, columns, 2): own discs, those of the other side; row 0 is the top.

## Rewards
`win` is 1 for the winner and -1 for the loser, 0 in a draw. `fast_win` (weight 0) is 1 - moves / cells for the winner
and the negative of it for the loser, counting the moves of both sides: win early, lose late. The level "columns" has
more objectives: at the end, `column_0` to `column_6` (weight 0) are 1 for the side with more discs in a column, -1 for
the side with fewer.

## Costs
None.

## Starting State
The empty board; if the opponent moves first, after its move.

## Episode End
Termination: `connect` in a line, an illegal move, or a full board, which is a draw. Games are never truncated. Success:
the game is won.

## Parameters
`height`, `width`, `connect`, and the players: `opponent`, `side`, `depth`.

## Reference Scores
Mean return over seeds 0 to 99 of two games together, one from each side, against "negamax".

## Version History
v0: first version.
"""

from rlenvs.core import (
    Score,
    block,
    choice,
    data_option,
    discrete,
    i1,
    i8,
    integer,
    kernel,
    term,
    world,
)
from rlenvs.kits.boards.drawing import draw_table, draw_tile, view_board
from rlenvs.kits.boards.letters import joined
from rlenvs.multi.boards.connect_four_players import choose_greedy, choose_negamax, choose_random, search
from rlenvs.multi.boards.connect_four_rules import DIRECTIONS, connects, drop, is_full, is_open, reach
from rlenvs.multi.boards.sides import SIDE, agents_of, seat_against, side_of

OPPONENT = choice("self", "negamax", "greedy", "random", doc="who plays the other side; self: both are agents")
SELF, NEGAMAX, GREEDY, RANDOM = OPPONENT.codes("self", "negamax", "greedy", "random")

LARGEST, DEEPEST, COLUMNS = 12, 10, 7

TERMS = {
    "win": term(-1.0, 1.0, 1.0, "1 for the winner, -1 for the loser"),
    "fast_win": term(-1.0, 1.0, 0.0, "1 - moves / cells for the winner, the negative of it for the loser"),
}
SPEC = world(
    "ConnectFour-v0",
    doc=__doc__,
    source='PettingZoo connect_four_v3; MOMAland mo-connect4-v0 (its objectives); Allis, "A Knowledge-based Approach '
    'of Connect-Four", 1988',
    agents=True,
    turns=True,
    options={
        "height": data_option(integer(6, 3, LARGEST, "rows")),
        "width": data_option(integer(7, 3, LARGEST, "columns")),
        "connect": integer(4, 3, 6, "discs in a line that win"),
        "opponent": OPPONENT,
        "side": SIDE,
        "depth": integer(4, 1, DEEPEST, "moves that negamax looks ahead"),
    },
    sizes=lambda values: {
        "agents": agents_of(values),
        "height": values.height,
        "width": values.width,
    },
    teams=lambda values: list(range(agents_of(values))),
    players=("negamax", "greedy", "random"),
    data={"worth": i8("height", "width")},
    state={
        "turn": i8,  # the agent that is to move, -1 when the game is over
        "mover": i8.within(0, 1),  # the side that is to move, 0 or 1
        "seat": i8.within(0, 1),  # the side of the first agent
        "moves": i8,
        "last": i8(2).index_of("width", low=-1),  # row and column of the last disc
        "cell": i1("height", "width").within(0, 2),  # 1 + side, 0 for nobody
        "filled": i8("width").up_to("height"),  # how many discs lie in a column
        "tried": i8(DEEPEST + 1),  # from here on scratch of the search, a number for each of its depths
        "path": i8(DEEPEST + 1),
        "best": i8(DEEPEST + 1),
        "low": i8(DEEPEST + 1),
        "high": i8(DEEPEST + 1),
        "total": i8(DEEPEST + 1),
    },
    scratch=("tried", "path", "best", "low", "high", "total"),
    observation={
        "board": block("height", "width", 2, low=0, high=1, raw=True, whole=True, doc="own discs, the other side's")
    },
    action=lambda values: discrete(*(f"column {n + 1}" for n in range(values.width)), size="width"),
    terms=TERMS,
    horizon=lambda values: values.height * values.width + 1,
    fps=2,
    same_start=True,
    levels={
        "easy": {"opponent": "random"},
        "medium": {"opponent": "greedy", "side": "random"},
        "hard": {"opponent": "negamax", "side": "random"},
        "columns": {
            "terms": TERMS
            | {
                f"column_{i}": term(-1.0, 1.0, 0.0, f"1 for more discs in column {i}, -1 for fewer")
                for i in range(COLUMNS)
            }
        },
    },
    scores={"bound": Score(2, 0, "both games won")},
)


@SPEC.make_data
def data(values):
    """How many lines go through each cell."""
    height, width, count = values.height, values.width, values.connect
    worth = [[0] * width for _ in range(height)]
    for row in range(height):
        for column in range(width):
            for down, right in DIRECTIONS:
                line = [(row + down * i, column + right * i) for i in range(count)]
                if all(0 <= r < height and 0 <= c < width for r, c in line):
                    for r, c in line:
                        worth[r][c] += 1
    return {"worth": worth}


# --- rules ------------------------------------------------------------------------------------------------------------


@kernel
def play_move(p, s, column, r):
    """The move of the side whose turn it is."""
    side, winner = s.mover, -1
    over = not is_open(s, column)
    if over:
        winner = 1 - side
    else:
        row = drop(s, column, side)
        s.last[0] = row
        s.last[1] = column
        s.moves += 1
        if connects(p, s, row, column):
            winner = side
        over = winner >= 0 or is_full(s)
    s.mover = 1 - side
    s.turn = s.mover if p.opponent == SELF else 0
    if over:
        s.turn = -1
        end_game(s, winner, r)


@kernel
def end_game(s, winner, r):
    for k in range(s.alive.size):
        r.terminated[k] = True
        r.success[k] = side_of(s, k) == winner
        if winner >= 0:
            sign = 1.0 if side_of(s, k) == winner else -1.0
            r.win[k] = sign
            r.fast_win[k] = sign * (1.0 - s.moves / s.cell.size)


@kernel
def choose(p, s, rng):
    """The move of the scripted opponent."""
    if p.opponent == NEGAMAX:
        return choose_negamax(p, s, rng)
    return choose_greedy(p, s, rng) if p.opponent == GREEDY else choose_random(s, rng)


@kernel
def play_round(p, s, a, rng, r):
    """A move, and the answer of a scripted opponent where it is its turn."""
    play_move(p, s, a[max(s.turn, 0)], r)
    if p.opponent != SELF and s.turn >= 0 and s.mover != s.seat:
        play_move(p, s, choose(p, s, rng), r)


@SPEC.reset
def reset(p, s, rng):
    s.last[0] = -1
    if p.opponent != SELF:
        s.seat = seat_against(p, rng)
    if s.seat == 1:  # the opponent begins
        column = choose(p, s, rng)
        s.last[0] = drop(s, column, 0)
        s.last[1] = column
        s.moves = 1
        s.mover = 1


@SPEC.step
def step(p, s, a, rng, r):
    play_round(p, s, a, rng, r)


@SPEC.level("columns").step
def step_columns(p, s, a, rng, r):
    play_round(p, s, a, rng, r)
    if s.turn < 0:
        for k in range(s.alive.size):
            r.column_0[k] = majority(s, side_of(s, k), 0)
            r.column_1[k] = majority(s, side_of(s, k), 1)
            r.column_2[k] = majority(s, side_of(s, k), 2)
            r.column_3[k] = majority(s, side_of(s, k), 3)
            r.column_4[k] = majority(s, side_of(s, k), 4)
            r.column_5[k] = majority(s, side_of(s, k), 5)
            r.column_6[k] = majority(s, side_of(s, k), 6)


@kernel
def majority(s, side, column):
    """1 where a side has more discs in a column than the other, -1 where it has fewer; 0 for columns not there."""
    lead = 0
    if column < s.cell.shape[1]:
        for row in range(s.cell.shape[0]):
            if s.cell[row, column] > 0:
                lead += 1 if s.cell[row, column] == 1 + side else -1
    return float((lead > 0) - (lead < 0))


@SPEC.mask
def mask(p, s, k, m):
    moves = s.turn == k
    for column in range(m.size):
        m[column] = 1 if moves and is_open(s, column) else 0
    if not moves:
        m[0] = 1


@SPEC.observe
def observe(p, s, k, o):
    own, cells, board = 1 + side_of(s, k), s.cell.ravel(), o.board.ravel()
    for i in range(cells.size):
        board[2 * i] = 1.0 if cells[i] == own else 0.0
        board[2 * i + 1] = 1.0 if cells[i] == 3 - own else 0.0


# --- players ----------------------------------------------------------------------------------------------------------


@SPEC.player("negamax")
def play_negamax(p, s, k, a, rng):
    a[k] = search(p, s, p.depth, False) if s.turn == k else 0


@SPEC.player("greedy")
def play_greedy(p, s, k, a, rng):
    a[k] = choose_greedy(p, s, rng) if s.turn == k else 0


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k] = choose_random(s, rng) if s.turn == k else 0


# --- images -----------------------------------------------------------------------------------------------------------


FRAME, HOLE = (25, 74, 140), (234, 238, 244)
DISCS = ((222, 58, 47), (245, 199, 42))
RIMS = ((176, 38, 30), (206, 158, 16))
NAMES = ("red", "yellow")


def won_cells(p, s):
    """The cells of the lines that won."""
    row, column = (int(i) for i in s.last)
    found = set()
    for down, right in DIRECTIONS if row >= 0 else ():
        ahead, behind = (int(reach(s, row, column, d * down, d * right)) for d in (1, -1))
        if 1 + ahead + behind >= p.connect:
            found |= {(row + down * i, column + right * i) for i in range(-behind, ahead + 1)}
    return found


@SPEC.draw
def draw(canvas, p, s):
    height, width = s.cell.shape
    won = won_cells(p, s)
    if s.turn >= 0:
        told = f"{NAMES[int(s.mover)]} to move"
    else:
        told = f"{NAMES[int(s.cell[s.last[0], s.last[1]]) - 1]} wins" if won else "no line"
    canvas.caption(f"move {int(s.moves)}", told)
    canvas.legend((DISCS[0], "red, the first side", "disc"), (DISCS[1], "yellow, the second side", "disc"))
    view_board(canvas, height, width, 0.3)
    draw_table(canvas)
    canvas.rectangle(-0.16, -height - 0.16, width + 0.16, 0.16, (16, 52, 104), rounded=0.22)
    for row in range(height):
        for column in range(width):
            disc, centre = int(s.cell[row, column]), (column + 0.5, -row - 0.5)
            draw_tile(canvas, row, column, FRAME, 0.0, 0.0)
            canvas.circle(centre, 0.42, RIMS[disc - 1] if disc else (14, 44, 90))
            canvas.circle(centre, 0.36 if disc else 0.38, DISCS[disc - 1] if disc else HOLE)
            if disc:
                canvas.circle(centre, 0.24, RIMS[disc - 1], 2.0)
            if (row, column) in won:
                canvas.circle(centre, 0.42, "white", 4.0)
            elif (row, column) == tuple(s.last):
                canvas.circle(centre, 0.12, "white", 2.5)


@SPEC.places
def places(canvas, p, s):
    return [[(column + 0.5, -0.5)] for column in range(s.cell.shape[1])]


@SPEC.text
def text(p, s):
    rows = [[".XO"[int(disc)] for disc in row] for row in s.cell]
    return joined([*rows, [f"{column % 10}" for column in range(s.cell.shape[1])]], " ")


@SPEC.keys
class Hand:
    """A digit drops a disc into that column, counted from 1; what is pressed while the other side moves is nothing."""

    help = (("1 2 3 ...", "drop a disc into this column"), ("0 - =", "columns 10, 11, 12"))

    def __init__(self, values):
        self.keys = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "-", "=")[: values.width]

    def begin(self):
        """Nothing is kept from game to game."""

    def press(self, keys, p, s):
        """The column of the last key; None while nothing was pressed."""
        if s.turn != 0:
            return 0
        return next((self.keys.index(key) for key in reversed(keys) if key in self.keys), None)

    def draw(self, canvas, p, s):
        """The board."""
        draw(canvas, p, s)
