"""2048: push all tiles to one side; equal tiles merge into their sum.

## Description
Gabriele Cirulli's game (2014). A move pushes all tiles as far as they go; two equal tiles that meet merge into one of
twice the number, once per move, those nearest the side of the push first. After every move that changed something, a
tile appears on an empty cell: 2 with probability 0.9, otherwise 4. The scripted expert considers every move, every tile
that may follow and every reply (expectimax), and prefers empty cells and large tiles in snake order.

## Action Space
up, right, down, left. Moves that change nothing are masked; if taken anyway, they change nothing, and no tile appears.

## Observation Space
The board (size, size): 0 for an empty cell, k for the tile 2^k. With `one_hot=True` a plane of 0 and 1 for each k from
0 to 16 (17, size, size), larger tiles in the last one.

## Rewards
`merged` is the sum of the tiles that a move made, the game's score. `moved` (weight 0) is 1 for a move that changes
something.

## Costs
None.

## Starting State
Two tiles, drawn like those that appear later.

## Episode End
Termination: no move changes anything. Truncation: 10 000 moves. `is_success` means that a tile of `target` was made;
the game goes on.

## Parameters
`size`, `target`, `one_hot`, and the probability of a 4.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import (
    below,
    block,
    data_option,
    discrete,
    flag,
    i4,
    integer,
    kernel,
    param,
    term,
    u1,
    uniform,
    world,
)
from rlenvs.kits.boards.drawing import draw_letter, draw_tile, pressed_move, view_board
from rlenvs.kits.boards.letters import joined

UP, RIGHT, DOWN, LEFT = range(4)
KEYS = (("up", "w"), ("right", "d"), ("down", "s"), ("left", "a"))
PLANES, LARGEST_SUM = 17, 2.0**40
GROUND, EMPTY = (150, 141, 130), (196, 186, 175)
COLORS = (
    *((238, 228, 218), (236, 224, 200), (242, 177, 121), (245, 149, 99), (246, 124, 95), (246, 94, 59)),
    *((237, 207, 114), (237, 204, 97), (222, 180, 60), (200, 160, 40), (0, 158, 115), (0, 114, 178), (90, 60, 130)),
)
HOPELESS = -1.0e9

SPEC = world(
    "Game2048-v0",
    doc=__doc__,
    source="2048 (Gabriele Cirulli, 2014)",
    params={"four": param(0.1, 0.0, 1.0, "", "probability that a new tile is a 4")},
    options={
        "size": data_option(integer(4, 2, 6, "rows, and columns")),
        "target": integer(11, 3, 16, "exponent of the tile that counts as success: 11 for 2048"),
        "one_hot": flag(False, "a plane for each exponent"),
    },
    sizes=lambda values: {"side": values.size, "depth": PLANES if values.one_hot else 1},
    state={
        "exponent": u1("side", "side").within(0, 30),
        "largest": i4,
        "tried": u1("side", "side"),
        "answered": u1("side", "side"),
    },
    scratch=("tried", "answered"),
    observation={
        "board": block(
            *("depth", "side", "side"),
            low=0,
            high=lambda values: [1.0] * PLANES if values.one_hot else [40.0],
            raw=True,
            whole=True,
            constant=True,
            doc="k for the tile 2^k, 0 for an empty cell",
        )
    },
    action=discrete("up", "right", "down", "left"),
    terms={
        "merged": term(0.0, LARGEST_SUM, 1.0, "sum of the tiles that were made"),
        "moved": term(0.0, 1.0, 0.0, "1 when something changed"),
    },
    horizon=10_000,
    fps=6,
    levels={"small": {"size": 3, "target": 8}},
)


@kernel
def cell_of(line, place, action, side):
    """Row and column of a place in a line, counted from the side to which is pushed."""
    away = place if action in (UP, LEFT) else side - 1 - place
    if action in (UP, DOWN):
        return away, line
    return line, away


@kernel
def push(board, action):
    """Push all tiles; returns the sum of those that were made, -1 where nothing changed."""
    side = board.shape[0]
    made, changed = 0, False
    for line in range(side):
        free, last = 0, 0  # where the next tile comes to lie, and the one before it, 0 where it may not merge
        for place in range(side):
            row, column = cell_of(line, place, action, side)
            tile = int(board[row, column])
            if tile == 0:
                continue
            board[row, column] = 0
            if tile == last:
                r, c = cell_of(line, free - 1, action, side)
                board[r, c] = tile + 1
                made += 1 << (tile + 1)
                last = 0
                changed = True
            else:
                r, c = cell_of(line, free, action, side)
                board[r, c] = tile
                changed = changed or free != place
                free += 1
                last = tile
    return made if changed else -1


@kernel
def can_push(board, action):
    """Whether a push changes something: a tile behind an empty cell, or two equal ones that meet."""
    side = board.shape[0]
    for line in range(side):
        before = -1
        for place in range(side):
            row, column = cell_of(line, place, action, side)
            tile = int(board[row, column])
            if tile and (before == 0 or tile == before):
                return True
            before = tile
    return False


@kernel
def add_tile(board, rng, four):
    """A new tile on one of the empty cells."""
    side = board.shape[0]
    empty = 0
    for row in range(side):
        for column in range(side):
            empty += 1 if board[row, column] == 0 else 0
    chosen = below(rng, empty)
    exponent = 2 if uniform(rng, 0.0, 1.0) < four else 1
    for row in range(side):
        for column in range(side):
            if board[row, column] == 0:
                if chosen == 0:
                    board[row, column] = exponent
                chosen -= 1


@kernel
def largest_of(board):
    found = 0
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            found = max(found, int(board[row, column]))
    return found


@kernel
def copy_board(source, target):
    for row in range(source.shape[0]):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@SPEC.reset
def reset(p, s, rng):
    add_tile(s.exponent, rng, p.four)
    add_tile(s.exponent, rng, p.four)
    s.largest = largest_of(s.exponent)


@SPEC.step
def step(p, s, a, rng, r):
    made = push(s.exponent, a)
    if made >= 0:
        add_tile(s.exponent, rng, p.four)
        s.largest = largest_of(s.exponent)
        r.moved = 1.0
        r.merged = float(made)
    over = True
    for action in range(4):
        over = over and not can_push(s.exponent, action)
    r.terminated = over
    r.success = s.largest >= p.target


@SPEC.mask
def mask(p, s, m):
    for action in range(4):
        m[action] = 1 if can_push(s.exponent, action) else 0


@SPEC.observe
def observe(p, s, o):
    side = o.board.shape[1]
    for row in range(side):
        for column in range(side):
            exponent = int(s.exponent[row, column])
            if p.one_hot:
                for plane in range(PLANES):
                    o.board[plane, row, column] = 1.0 if plane == min(exponent, PLANES - 1) else 0.0
            else:
                o.board[0, row, column] = exponent


@kernel
def worth(board):
    """How good a board is: large tiles along a snake from one of the corners, the best of four, and empty cells."""
    side = board.shape[0]
    total, empty, best = 0.0, 0, -1.0
    for corner in range(4):
        score, weight = 0.0, 1.0
        for i in range(side):
            row = i if corner < 2 else side - 1 - i
            for j in range(side):
                along = j if (i + corner) % 2 == 0 else side - 1 - j
                tile = int(board[row, along])
                score += weight * (1 << tile) if tile else 0.0
                weight *= 0.5
        best = max(best, score)
    for row in range(side):
        for column in range(side):
            tile = int(board[row, column])
            empty += 1 if tile == 0 else 0
            total += (1 << tile) if tile else 0
    return best + 0.15 * total * min(empty, 6) / 6.0


@kernel
def answer(s):
    """The best that a move makes of s.tried."""
    best = HOPELESS
    for action in range(4):
        copy_board(s.tried, s.answered)
        made = push(s.answered, action)
        if made >= 0:
            best = max(best, worth(s.answered))
    return best if best > HOPELESS else 0.0


@SPEC.expert
def expert(p, s, a):
    side = s.exponent.shape[0]
    best, chosen = HOPELESS, 0
    for action in range(4):
        copy_board(s.exponent, s.tried)
        made = push(s.tried, action)
        if made < 0:
            continue
        total, count = 0.0, 0
        for row in range(side):
            for column in range(side):
                if s.tried[row, column] == 0:
                    s.tried[row, column] = 1
                    total += answer(s)
                    s.tried[row, column] = 0
                    count += 1
        value = total / max(count, 1)
        if value > best:
            best, chosen = value, action
    a[0] = chosen


@SPEC.draw
def draw(canvas, p, s):
    side = s.exponent.shape[0]
    canvas.caption(f"largest tile {2 ** int(s.largest)}", f"target {2 ** int(p.target)}")
    pixels = view_board(canvas, side, side)
    canvas.rectangle(-0.08, -side - 0.08, side + 0.08, 0.08, GROUND, rounded=0.1)
    for row in range(side):
        for column in range(side):
            k = int(s.exponent[row, column])
            draw_tile(canvas, row, column, COLORS[min(k - 1, len(COLORS) - 1)] if k else EMPTY, 0.05, 0.1)
            if k:
                number = str(2**k)
                size = pixels * (0.34 if len(number) < 4 else 0.26 if len(number) < 5 else 0.19)
                draw_letter(canvas, row, column, number, size, "white" if k > 2 else (110, 100, 90))


@SPEC.text
def text(p, s):
    return joined(([f"{2 ** int(k) if k else '.':>6}" for k in row] for row in s.exponent), "")


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
