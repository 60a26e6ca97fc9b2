"""Minesweeper: open all cells without mines, using the numbers of neighboring mines as hints.

## Description
The classical game on a board of 10 x 10 cells with 10 mines by default, as in Jumanji (Bonnet et al., 2024), whose
rewards it has. Different: a cell that is already open is masked, and opening it has no effect (there it ends the
episode); the first cell can be made safe, and openings can spread as in the classic desktop games. The scripted expert
opens cells that are safe according to the numbers, taken singly and in pairs, and otherwise the cell least likely to be
a mine.

## Action Space
The cell to open, counted row by row.

## Observation Space
The board (rows, columns): -1 for a closed cell, otherwise the number of mines around it. With `one_hot=True` ten planes
of 0 and 1 (10, rows, columns): closed, then one for each number from 0 to 8.

## Rewards
1 for every move that opens a cell without a mine, as in Jumanji; also with `spread=True`, however many cells it opens.
`mine` (weight 0) is -1 for a mine.

## Costs
None.

## Starting State
Mines are on uniformly drawn cells, and all cells are closed. `first_click` says what the first opened cell can be:
"any" cell, including a mine; "safe", not a mine (a mine there moves to the first free cell); "clear", with no mine
around it, if possible.

## Episode End
Termination: on a mine; or all cells without mines are open, a success. Truncation: as many steps as there are cells.

## Parameters
`rows`, `columns`, `mines`, `first_click`, `spread`. At least one cell has no mine.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import (
    below,
    block,
    choice,
    data_option,
    discrete,
    f8,
    flag,
    i1,
    i2,
    i4,
    integer,
    kernel,
    term,
    u1,
    world,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.drawing import cell_names, cell_places, draw_letter, draw_tile, view_board
from rlenvs.kits.boards.letters import joined

FIRST = choice("any", "safe", "clear", doc="what the first opened cell can be")
ANY, SAFE, CLEAR = FIRST.codes("any", "safe", "clear")
PLANES = 10
UNKNOWN, FREE, MINED = range(3)  # what the expert knows of a closed cell
LARGEST = 32
CLOSED, OPEN, MINE = (130, 140, 150), (232, 231, 226), (30, 30, 30)
INK = {1: "blue", 2: "green", 3: "red", 4: (90, 40, 130), 5: (130, 40, 40), 6: (0, 130, 130), 7: "black", 8: "grey"}


def sizes(values):
    cells = values.rows * values.columns
    if values.mines >= cells:
        raise ParameterError(
            f"mines={values.mines} on {values.rows} x {values.columns} cells leave none to open; at most {cells - 1}"
        )
    return {
        "height": values.rows,
        "width": values.columns,
        "cells": cells,
        "depth": PLANES if values.one_hot else 1,
    }


SPEC = world(
    "Minesweeper-v0",
    doc=__doc__,
    source="Minesweeper as in Jumanji (Bonnet et al., ICLR 2024)",
    options={
        "rows": data_option(integer(10, 2, LARGEST, "of the board")),
        "columns": data_option(integer(10, 2, LARGEST, "of the board")),
        "mines": integer(10, 1, LARGEST * LARGEST - 1, "how many there are"),
        "first_click": FIRST,
        "spread": flag(False, "whether a cell without mines around it also opens its neighbors, recursively"),
        "one_hot": flag(False, "planes of 0 and 1"),
    },
    sizes=sizes,
    state={
        "mine": u1("height", "width"),
        "seen": i1("height", "width"),
        "opened": i4,
        "moves_made": i4,
        "order": i2("cells"),
        "known": u1("height", "width"),
        "risk": f8("height", "width"),
    },
    scratch=("known", "risk"),
    observation={
        "board": block(
            *("depth", "height", "width"),
            low=lambda values: [0.0] * PLANES if values.one_hot else [-1.0],
            high=lambda values: [1.0] * PLANES if values.one_hot else [8.0],
            raw=True,
            whole=True,
            constant=True,
            doc="-1 for a closed cell, else the number of mines around it",
        )
    },
    action=lambda values: discrete(
        *cell_names(values.rows, values.columns), size="cells", doc="the cell to open, row by row"
    ),
    terms={
        "opened": term(0.0, 1.0, 1.0, "1 for opening a cell without a mine"),
        "mine": term(-1.0, 0.0, 0.0, "-1 for opening a mine"),
    },
    horizon=lambda values: values.rows * values.columns,
    fps=3,
    same_start=True,
    levels={
        "easy": {"rows": 6, "columns": 6, "mines": 3},
        "windows": {"rows": 16, "columns": 16, "mines": 40, "first_click": "clear", "spread": True},
        "hard": {"rows": 16, "columns": 30, "mines": 99, "first_click": "clear", "spread": True},
    },
)


@kernel
def mines_around(mine, row, column):
    """How many of the eight cells around a cell are mines."""
    found = 0
    for r in range(max(row - 1, 0), min(row + 2, mine.shape[0])):
        for c in range(max(column - 1, 0), min(column + 2, mine.shape[1])):
            found += int(mine[r, c])
    return found - int(mine[row, column])


@SPEC.reset
def reset(p, s, rng):
    height, width = s.mine.shape
    cells = height * width
    for i in range(cells):
        s.order[i] = i
        s.seen[i // width, i % width] = -1
    for i in range(p.mines):
        j = i + below(rng, cells - i)
        cell = s.order[j]
        s.order[j] = s.order[i]
        s.order[i] = cell
        s.mine[cell // width, cell % width] = 1


@kernel
def move_mine(s, row, column, around):
    """Put the mine of a cell on the first one that has none and lies outside of the cells around."""
    for r in range(s.mine.shape[0]):
        for c in range(s.mine.shape[1]):
            if not s.mine[r, c] and (abs(r - around // s.mine.shape[1]) > 1 or abs(c - around % s.mine.shape[1]) > 1):
                s.mine[r, c] = 1
                s.mine[row, column] = 0
                return


@kernel
def clear_first(p, s, row, column):
    """Make the first cell what `first_click` says."""
    height, width = s.mine.shape
    if p.first_click == CLEAR:
        for r in range(max(row - 1, 0), min(row + 2, height)):
            for c in range(max(column - 1, 0), min(column + 2, width)):
                if s.mine[r, c]:
                    move_mine(s, r, c, row * width + column)
    if s.mine[row, column]:
        for r in range(height):
            for c in range(width):
                if s.mine[row, column] and not s.mine[r, c]:
                    s.mine[r, c] = 1
                    s.mine[row, column] = 0


@kernel
def open_cell(s, row, column):
    s.seen[row, column] = mines_around(s.mine, row, column)
    s.opened += 1


@kernel
def spread(s, row, column):
    """Open the neighbours of cells without mines around them, and so on; `order` holds those that are to be done."""
    height, width = s.mine.shape
    s.order[0] = row * width + column
    first, last = 0, 1
    while first < last:
        cell = int(s.order[first])
        first += 1
        row, column = cell // width, cell % width
        if s.seen[row, column] != 0:
            continue
        for r in range(max(row - 1, 0), min(row + 2, height)):
            for c in range(max(column - 1, 0), min(column + 2, width)):
                if s.seen[r, c] < 0:
                    open_cell(s, r, c)
                    s.order[last] = r * width + c
                    last += 1


@SPEC.step
def step(p, s, a, rng, r):
    height, width = s.mine.shape
    row, column = a // width, a % width
    if s.seen[row, column] < 0:
        if s.moves_made == 0 and p.first_click != ANY:
            clear_first(p, s, row, column)
        s.moves_made += 1
        if s.mine[row, column]:
            r.mine = -1.0
            r.terminated = True
            s.seen[row, column] = 9
        else:
            r.opened = 1.0
            open_cell(s, row, column)
            if p.spread:
                spread(s, row, column)
    r.success = not r.terminated and s.opened == height * width - p.mines
    r.terminated = r.terminated or r.success


@SPEC.observe
def observe(p, s, o):
    for row in range(s.seen.shape[0]):
        for column in range(s.seen.shape[1]):
            number = min(int(s.seen[row, column]), 8)
            if p.one_hot:
                for plane in range(PLANES):
                    o.board[plane, row, column] = 1.0 if plane == number + 1 else 0.0
            else:
                o.board[0, row, column] = number


@SPEC.mask
def mask(p, s, m):
    width = s.seen.shape[1]
    for cell in range(s.order.size):
        m[cell] = 1 if s.seen[cell // width, cell % width] < 0 else 0


# --- the expert -------------------------------------------------------------------------------------------------------


@kernel
def closed_around(s, row, column):
    """How many cells around an open one are closed and may be mines, and how many mines are left for them."""
    closed, left = 0, int(s.seen[row, column])
    for r in range(max(row - 1, 0), min(row + 2, s.seen.shape[0])):
        for c in range(max(column - 1, 0), min(column + 2, s.seen.shape[1])):
            if s.seen[r, c] < 0:
                closed += 1 if s.known[r, c] == UNKNOWN else 0
                left -= 1 if s.known[r, c] == MINED else 0
    return closed, left


@kernel
def note(s, row, column, what, other_row, other_column, apart):
    """Say what the unknown cells around an open cell are; with `apart` only those that are not around another one.
    Returns how many there are."""
    count = 0
    for r in range(max(row - 1, 0), min(row + 2, s.seen.shape[0])):
        for c in range(max(column - 1, 0), min(column + 2, s.seen.shape[1])):
            beside = abs(r - other_row) <= 1 and abs(c - other_column) <= 1
            if s.seen[r, c] < 0 and s.known[r, c] == UNKNOWN and not (apart and beside):
                s.known[r, c] = what
                count += 1
    return count


@kernel
def shared(s, row, column, other_row, other_column):
    """How many unknown cells lie around both of two open cells."""
    count = 0
    for r in range(max(row, other_row) - 1, min(row, other_row) + 2):
        for c in range(max(column, other_column) - 1, min(column, other_column) + 2):
            if 0 <= r < s.seen.shape[0] and 0 <= c < s.seen.shape[1]:
                count += 1 if s.seen[r, c] < 0 and s.known[r, c] == UNKNOWN else 0
    return count


@kernel
def reason_about(s, row, column):
    """What follows from an open cell, alone and beside each other one. Returns how many cells became known."""
    closed, left = closed_around(s, row, column)
    if closed == 0:
        return 0
    if left == 0:
        return note(s, row, column, FREE, row, column, False)
    if left == closed:
        return note(s, row, column, MINED, row, column, False)
    for r in range(max(row - 2, 0), min(row + 3, s.seen.shape[0])):
        for c in range(max(column - 2, 0), min(column + 3, s.seen.shape[1])):
            if s.seen[r, c] < 0 or (r == row and c == column):
                continue
            others, others_left = closed_around(s, r, c)
            both = shared(s, row, column, r, c)
            # at least left - (closed - both) of the shared cells are mines
            if others > both and others_left == left - (closed - both):
                return note(s, r, c, FREE, row, column, True)
            # at most `left` of the shared cells are mines
            if others > both and others_left - left == others - both:
                return note(s, r, c, MINED, row, column, True)
    return 0


@kernel
def assess(p, s):
    """Put into s.risk how likely each closed cell is to be a mine: the largest of what the numbers beside it say."""
    height, width = s.seen.shape
    hidden, left = 0, int(p.mines)
    for row in range(height):
        for column in range(width):
            hidden += 1 if s.seen[row, column] < 0 and s.known[row, column] == UNKNOWN else 0
            left -= 1 if s.known[row, column] == MINED else 0
    for row in range(height):
        for column in range(width):
            s.risk[row, column] = max(left, 0) / max(hidden, 1)
            found = False
            for r in range(max(row - 1, 0), min(row + 2, height)):
                for c in range(max(column - 1, 0), min(column + 2, width)):
                    if s.seen[r, c] >= 0:
                        closed, mines = closed_around(s, r, c)
                        share = mines / max(closed, 1)
                        s.risk[row, column] = max(s.risk[row, column], share) if found else share
                        found = True


@SPEC.expert
def expert(p, s, a):
    height, width = s.seen.shape
    for row in range(height):
        for column in range(width):
            s.known[row, column] = UNKNOWN
    found = 1
    while found:
        found = 0
        for row in range(height):
            for column in range(width):
                if s.seen[row, column] >= 0:
                    found += reason_about(s, row, column)
    assess(p, s)
    best, least = 0, 3.0
    for row in range(height):
        for column in range(width):
            if s.seen[row, column] < 0 and s.known[row, column] != MINED:
                risk = -1.0 if s.known[row, column] == FREE else s.risk[row, column]
                if risk < least:
                    best, least = row * width + column, risk
    a[0] = best


# --- images -----------------------------------------------------------------------------------------------------------


@SPEC.draw
def draw(canvas, p, s):
    height, width = s.seen.shape
    canvas.caption(f"{int(s.opened)} of {height * width - int(p.mines)} open", f"{int(p.mines)} mines")
    canvas.legend((CLOSED, "closed"), (OPEN, "open, with the number of mines around"), ("red", "mine", "disc"))
    pixels = view_board(canvas, height, width)
    for row in range(height):
        for column in range(width):
            number = int(s.seen[row, column])
            draw_tile(canvas, row, column, CLOSED if number < 0 else OPEN, 0.03, 0.08)
            if number == 9:
                canvas.circle((column + 0.5, -row - 0.5), 0.32, "red")
            elif number > 0:
                draw_letter(canvas, row, column, str(number), 0.5 * pixels, INK[number])


@SPEC.places
def places(canvas, p, s):
    return cell_places(*s.seen.shape)


@SPEC.text
def text(p, s):
    signs = {-1: "#", 0: ".", 9: "*"}
    return joined([signs.get(int(number), str(int(number))) for number in row] for row in s.seen)
