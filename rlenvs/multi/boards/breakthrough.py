"""Breakthrough: be the first to bring a piece to the other end of the board.

## Description
The game of Dan Troyka (2000). Each side begins with two rows of pieces. A piece moves one cell forward, straight or
diagonally, onto an empty cell; diagonally it also captures. A side wins by reaching the last row or by capturing all
pieces of the other side. Some piece can always move, so there are no draws. Every move brings a piece a row forward, so
a game has at most 2 * width * (2 * height - 5) + 1 moves, 177 on the usual board. With `opponent` "self" both sides are
agents, and they move in turn: the AEC API asks only the agent whose turn it is; in the other APIs the waiting agent can
only choose 0, which does nothing. With another `opponent`, as in the levels easy, medium and hard, there is one agent,
on the side given by `side`, and a step is its move plus the reply: the usual setting for a single learner. Scripted
players: "negamax" searches `depth` moves ahead with alpha-beta pruning and evaluates the number of pieces and their
advance; "racer" considers only its own moves: it wins, blocks, runs where it cannot be stopped, and captures and
advances where that loses nothing; "random". Different from MOMAland's breakthrough: each side sees the board and moves
from its own end, there both from the end of the first; `fast_win` divides by the maximum number of moves of a game,
177, there by 161; captures to the left follow the rules, there the mask looks at the cell on the right; an illegal move
loses, there it raises an error; boards have up to 12 rows and columns, there 20.

## Action Space
x * 3 * height + y * 3 + direction: the piece in column x, from the left, and row y, from the agent's own end, goes left
(0), straight (1) or right (2). Each side sees the board from its own end, so left is its own left. Illegal moves are
masked; making one anyway loses the game.

## Observation Space
Planes, last (height, width, 2): own pieces, those of the other side, in [y, x] as in actions; row 0 is the agent's own
end.

## Rewards
`win` is 1 for the winner and -1 for the loser. The others have weight 0. `fast_win` is 1 - moves / (maximum moves of a
game) for the winner and the negative of it for the loser, counting the moves of both sides: win early, lose late.
`captures` is 1 / (pieces of a side) for each captured piece, `losses` -1 / (pieces of a side) for each lost piece.

## Costs
None.

## Starting State
Two full rows at each end; if the opponent moves first, after its move.

## Episode End
Termination: a piece on the last row, no piece left, or an illegal move. Games are never truncated. Success: the game is
won.

## Parameters
`height` and `width`, and the players: `opponent`, `side`, `depth`.

## Reference Scores
Mean return over seeds 0 to 99 of two games together, one from each side, against "negamax".

## Version History
v0: first version.
"""

from rlenvs.core import (
    Score,
    b1,
    block,
    choice,
    data_option,
    discrete,
    i1,
    i4,
    i8,
    integer,
    kernel,
    prefetch,
    term,
    uniform,
    world,
)
from rlenvs.kits.boards.drawing import draw_table, draw_tile, view_board
from rlenvs.kits.boards.letters import joined
from rlenvs.multi.boards.breakthrough_players import choose_racer, choose_random, search
from rlenvs.multi.boards.breakthrough_rules import (
    LEFT,
    RIGHT,
    STRAIGHT,
    advance,
    column_of,
    may_move,
    most_moves,
    note_move,
    number_of,
    place,
    row_of,
)
from rlenvs.multi.boards.sides import SIDE, agents_of, seat_against, side_of

OPPONENT = choice("self", "negamax", "racer", "random", doc="who plays the other side; self: both are agents")
SELF, NEGAMAX, RACER, RANDOM = OPPONENT.codes("self", "negamax", "racer", "random")
LARGEST, DEEPEST = 12, 6


def move_names(height, width):
    """Of all moves, in their order, by the cell as its side sees it."""
    ways = ("left", "straight", "right")
    return [f"column {x + 1} row {y + 1} {way}" for x in range(width) for y in range(height) for way in ways]


SPEC = world(
    "Breakthrough-v0",
    doc=__doc__,
    source="Breakthrough (Dan Troyka, 2000); MOMAland mo-breakthrough-v0 (its actions and objectives)",
    agents=True,
    turns=True,
    options={
        "height": data_option(integer(8, 4, LARGEST, "rows")),
        "width": data_option(integer(8, 2, LARGEST, "columns")),
        "opponent": OPPONENT,
        "side": SIDE,
        "depth": integer(3, 1, DEEPEST, "moves that negamax looks ahead"),
    },
    sizes=lambda values: {
        "agents": agents_of(values),
        "height": values.height,
        "width": values.width,
        "moves": 3 * values.height * values.width,
        "options": 6 * values.width,
    },
    teams=lambda values: list(range(agents_of(values))),
    players=("negamax", "racer", "random"),
    state={
        "turn": i8,  # the agent that is to move, -1 when the game is over
        "mover": i8.within(0, 1),  # the side that is to move, 0 or 1
        "seat": i8.within(0, 1),  # the side of the first agent
        "moves": i8,
        "last": i8(4),  # row and column from which and to which the last move went
        # the board as each side sees it, in [y, x]: 1 for its own piece, 2 for the other's, 0 for none
        "board": i1(2, "height", "width").within(0, 2),
        "pieces": i8(2),
        "tried": i8(DEEPEST + 1),  # from here on scratch of the search, a number for each of its depths
        "path": i8(DEEPEST + 1),
        "taken": b1(DEEPEST + 1),
        "captures": i8(DEEPEST + 1),
        "quiet": i8(DEEPEST + 1),
        "option": i4(DEEPEST + 1, "options"),
        "best": i8(DEEPEST + 1),
        "low": i8(DEEPEST + 1),
        "high": i8(DEEPEST + 1),
        "total": i8(DEEPEST + 1),
    },
    scratch=("tried", "path", "taken", "captures", "quiet", "option", "best", "low", "high", "total"),
    observation={
        "board": block("height", "width", 2, low=0, high=1, raw=True, whole=True, doc="own pieces, the other side's")
    },
    action=lambda values: discrete(*move_names(values.height, values.width), size="moves"),
    terms={
        "win": term(-1.0, 1.0, 1.0, "1 for the winner, -1 for the loser"),
        "fast_win": term(-1.0, 1.0, 0.0, "1 - moves / most moves for the winner, the negative of it for the loser"),
        "captures": term(0.0, 1.0, 0.0, "fraction of the other side's pieces captured"),
        "losses": term(-1.0, 0.0, 0.0, "minus the fraction of the own pieces lost"),
    },
    horizon=lambda values: most_moves(values.height, values.width) + 1,
    fps=3,
    same_start=True,
    levels={
        "easy": {"opponent": "random"},
        "medium": {"opponent": "racer", "side": "random"},
        "hard": {"opponent": "negamax", "side": "random"},
        "small": {"height": 5, "width": 5},
    },
    scores={"bound": Score(2, 0, "both games won")},
)


# --- rules ------------------------------------------------------------------------------------------------------------


@kernel
def play_move(p, s, action, r):
    """The move of the side whose turn it is."""
    height, width = s.board.shape[1], s.board.shape[2]
    side, d, y, x = s.mover, action % 3, action // 3 % height, action // (3 * height)
    winner = -1
    if not may_move(s, side, x, y, d):
        winner = 1 - side
    else:
        captured = advance(s, side, x, y, d)
        note_move(s, side, x, y, d)
        for k in range(s.alive.size if captured else 0):
            if side_of(s, k) == side:
                r.captures[k] += 1.0 / (2 * width)
            else:
                r.losses[k] -= 1.0 / (2 * width)
        if y + 1 == height - 1 or s.pieces[1 - side] == 0:
            winner = side
    s.mover = 1 - side
    s.turn = s.mover if p.opponent == SELF else 0
    if winner >= 0:
        s.turn = -1
        s.mover = 1 - winner
        for k in range(s.alive.size):
            sign = 1.0 if side_of(s, k) == winner else -1.0
            r.terminated[k] = True
            r.success[k] = sign > 0.0
            r.win[k] = sign
            r.fast_win[k] = sign * (1.0 - s.moves / most_moves(height, width))


@kernel
def choose(p, s, player, rng):
    """The move of a scripted opponent."""
    if player == NEGAMAX:
        return search(s, p.depth, uniform(rng, 0.0, 1.0) < 0.5)  # varies; the expert draws nothing
    return choose_racer(s, rng) if player == RACER else choose_random(s, rng)


@SPEC.reset
def reset(p, s, rng):
    height, width = s.board.shape[1], s.board.shape[2]
    for side in range(2):
        for y in range(2):
            for x in range(width):
                place(s, side, x, y, 1)
    s.pieces[0] = 2 * width
    s.pieces[1] = 2 * width
    s.last[0] = -1
    if p.opponent != SELF:
        s.seat = seat_against(p, rng)
    if s.seat == 1:  # the opponent begins
        action = choose(p, s, p.opponent, rng)
        x, y, d = action // (3 * height), action // 3 % height, action % 3
        advance(s, 0, x, y, d)
        note_move(s, 0, x, y, d)
        s.mover = 1


@SPEC.fetch
def fetch(p, s):
    """The board, and where masks note the pieces."""
    prefetch(s.board, 0)
    prefetch(s.board, 1)
    prefetch(s.option, 0)


@SPEC.step
def step(p, s, a, rng, r):
    play_move(p, s, a[max(s.turn, 0)], r)
    if p.opponent != SELF and s.turn >= 0 and s.mover != s.seat:
        play_move(p, s, choose(p, s, p.opponent, rng), r)


@SPEC.mask
def mask(p, s, k, m):
    for action in range(m.size):
        m[action] = 0
    if s.turn != k:
        m[0] = 1
        return
    # where its pieces stand comes first, without a branch, since that cannot be predicted: the number of the move to
    # the left, the column and the cell in one number
    own, height, width, found, count = side_of(s, k), s.board.shape[1], s.board.shape[2], s.option[0], 0
    cells = s.board[own].ravel()
    for y in range(height - 1):
        place = (number_of(s, 0, y, LEFT) << 12) + y * width
        for i in range(y * width, (y + 1) * width):
            found[count] = place
            count += int(cells[i] == 1)
            place += ((3 * height) << 12) + (1 << 8) + 1
    for i in range(count):
        first, x, ahead = found[i] >> 12, found[i] >> 8 & 15, (found[i] & 255) + width
        m[first + LEFT] = int(x > 0) & int(cells[ahead - 1] != 1)
        m[first + STRAIGHT] = int(cells[ahead] == 0)
        m[first + RIGHT] = int(x < width - 1) & int(cells[min(ahead + 1, cells.size - 1)] != 1)


@SPEC.observe
def observe(p, s, k, o):
    cells, board = s.board[side_of(s, k)].ravel(), o.board.ravel()
    for i in range(cells.size):
        board[2 * i] = 1.0 if cells[i] == 1 else 0.0
        board[2 * i + 1] = 1.0 if cells[i] == 2 else 0.0


# --- players ----------------------------------------------------------------------------------------------------------


@SPEC.player("negamax")
def play_negamax(p, s, k, a, rng):
    a[k] = search(s, p.depth, False) if s.turn == k else 0


@SPEC.player("racer")
def play_racer(p, s, k, a, rng):
    a[k] = choose_racer(s, rng) if s.turn == k else 0


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k] = choose_random(s, rng) if s.turn == k else 0


# --- images -----------------------------------------------------------------------------------------------------------


BORDER, LIGHT, DARK, GOAL = (92, 62, 40), (236, 213, 174), (196, 157, 110), (120, 170, 110)
PIECES = ((250, 246, 236), (48, 48, 52))
RIMS = ((150, 140, 122), (16, 16, 18))
NAMES = ("white", "black")


@SPEC.draw
def draw(canvas, p, s):
    height, width = s.board.shape[1], s.board.shape[2]
    told = f"{NAMES[int(s.mover)]} to move" if s.turn >= 0 else f"{NAMES[int(s.mover)]} has lost"
    canvas.caption(f"move {int(s.moves)}", f"{int(s.pieces[0])} : {int(s.pieces[1])} pieces", told)
    canvas.legend((RIMS[0], "white, the first side, goes up", "ring"), (PIECES[1], "black goes down", "disc"))
    view_board(canvas, height, width, 0.3)
    draw_table(canvas)
    canvas.rectangle(-0.16, -height - 0.16, width + 0.16, 0.16, BORDER, rounded=0.12)
    for row in range(height):
        for column in range(width):
            top = height - 1 - row
            draw_tile(canvas, top, column, LIGHT if (row + column) % 2 else DARK, 0.0, 0.0)
    if s.last[0] >= 0:
        ends = [(int(s.last[i + 1]) + 0.5, int(s.last[i]) - height + 0.5) for i in (0, 2)]
        draw_tile(canvas, height - 1 - int(s.last[0]), int(s.last[1]), (226, 190, 60), 0.0, 0.0)
        canvas.arrow(ends[0], ends[1], (150, 60, 20), 3.0)
    for row in range(height):
        for column in range(width):
            piece = int(s.board[0, row, column])
            if piece:
                centre = (column + 0.5, row - height + 0.5)
                canvas.circle((centre[0] + 0.03, centre[1] - 0.04), 0.37, (110, 84, 56))
                canvas.circle(centre, 0.36, RIMS[piece - 1])
                canvas.circle(centre, 0.32, PIECES[piece - 1])
                canvas.circle(centre, 0.2, RIMS[piece - 1] if piece == 1 else (96, 96, 100), 1.5)


@SPEC.places
def places(canvas, p, s):
    """From where to where each move goes."""
    _, height, width = s.board.shape

    def middle(x, y):
        return column_of(s, s.seat, x) + 0.5, row_of(s, s.seat, y) - height + 0.5

    return [[middle(x, y), middle(x + d - 1, y + 1)] for x in range(width) for y in range(height) for d in range(3)]


@SPEC.text
def text(p, s):
    return joined(([".WB"[int(piece)] for piece in row] for row in s.board[0, ::-1]), " ")


@SPEC.keys
class Hand:
    """A mark that arrows move; a, w and d move the piece under it, which is what the first agent sees from its end."""

    help = (
        ("arrows", "move the mark"),
        ("a w d", "move the marked piece to the left, straight on, to the right"),
    )

    def __init__(self, values):
        self.values = values
        self.begin()

    def begin(self):
        """The mark stands on the first row of pieces."""
        self.x, self.y = 0, 1

    def press(self, keys, p, s):
        """The move of the last letter, if it is allowed; None while there was none."""
        if s.turn != 0:
            return 0
        for key in keys:
            self.x = min(max(self.x + (key == "right") - (key == "left"), 0), self.values.width - 1)
            self.y = min(max(self.y + (key == "up") - (key == "down"), 0), self.values.height - 1)
            if key in ("a", "w", "d"):
                d = ("a", "w", "d").index(key)
                if may_move(s, int(s.seat), self.x, self.y, d):
                    return int(number_of(s, self.x, self.y, d))
        return None

    def draw(self, canvas, p, s):
        """The board and the mark."""
        draw(canvas, p, s)
        row, column = int(row_of(s, int(s.seat), self.y)), int(column_of(s, int(s.seat), self.x))
        left, low = column, row - self.values.height
        corners = [(left, low), (left + 1, low), (left + 1, low + 1), (left, low + 1)]
        canvas.line(corners, "blue", 3.0, closed=True)
