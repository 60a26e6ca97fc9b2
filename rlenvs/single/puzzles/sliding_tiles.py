"""Sliding tiles: the 8-puzzle and other sizes from 2 x 2 to 5 x 5, solved by moving the gap.

## Description
Numbered tiles on a square board with one gap; a tile next to the gap slides into it. The goal is the order 1, 2, 3, ...
with the gap at the end. 3 x 3 is the 8-puzzle: it has 181 440 solvable orders, and none needs more than 31 moves; 4 x 4
is the 15-puzzle, where none needs more than 80. On boards of up to 3 x 3 the expert's plans are shortest, from a table;
on larger boards it puts row after row into place and finishes with the table.

## Action Space
Where the gap moves: up, right, down, left. Moves off the board are masked; if taken anyway, they change nothing.

## Observation Space
The numbers (size, size), 0 for the gap. With `one_hot=True` a plane of 0 and 1 for each number (size * size, size,
size).

## Rewards
1 for reaching the goal order, -0.01 for every move. With weight 0: `distance`, the decrease in the sum of the tiles'
distances to their places, and `placed`, the change in the number of tiles in place.

## Costs
None.

## Starting State
A uniformly drawn order that is solvable but not solved. With `shuffle_moves=k`, k random moves of the gap from the goal
order, none undoing the previous one.

## Episode End
Termination: the order is reached, a success. Truncation: 100 moves up to 3 x 3, 500 on 4 x 4, 1000 on 5 x 5.

## Parameters
`size`, `shuffle_moves` and `one_hot`.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import below, block, data_option, discrete, flag, i4, integer, kernel, term, u1, world
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.drawing import draw_letter, draw_tile, pressed_move, view_board
from rlenvs.kits.boards.letters import joined

DOWNWARD, RIGHTWARD = (-1, 0, 1, 0), (0, 1, 0, -1)
KEYS = (("up", "w"), ("right", "d"), ("down", "s"), ("left", "a"))
ROUND = 12  # moves of the gap on four cells after which all is as it was
TILE, PLACED, GROUND = (86, 180, 233), (0, 158, 115), (80, 86, 94)


def sizes_of(values):
    """The sizes of arrays.

    Raises:
        ParameterError: a shuffle that always comes back to the aim.
    """
    if values.size == 2 and values.shuffle_moves and values.shuffle_moves % ROUND == 0:
        raise ParameterError(
            f"shuffle_moves={values.shuffle_moves} always returns to the goal order with size=2, where {ROUND} moves "
            f"without undoing one form a cycle; give another number of moves, or 0 for any solvable order"
        )
    cells = values.size**2
    return {"side": values.size, "cells": cells, "depth": cells if values.one_hot else 1}


SPEC = world(
    "SlidingTiles-v0",
    doc=__doc__,
    source="the 15-puzzle (Noyes Chapman, 1880); Korf, Depth-first iterative-deepening, Artificial Intelligence 1985",
    options={
        "size": data_option(integer(3, 2, 5, "rows, and columns")),
        "shuffle_moves": integer(
            0, 0, 10_000, "moves of the gap from the goal order to the start; 0 for any solvable order"
        ),
        "one_hot": flag(False, "a plane for each number"),
    },
    sizes=sizes_of,
    state={"tile": u1("cells").index_of("cells"), "gap": i4.index_of("cells"), "far": i4, "in_place": i4},
    observation={
        "board": block(
            *("depth", "side", "side"),
            low=0,
            high=lambda values: [1.0] * values.size**2 if values.one_hot else [values.size**2 - 1.0],
            raw=True,
            whole=True,
            doc="the number in each cell, 0 for the gap",
        )
    },
    action=discrete("up", "right", "down", "left"),
    terms={
        "solved": term(0.0, 1.0, 1.0, "1 when all tiles are in place"),
        "time": term(-1.0, 0.0, 0.01, "-1 for every move"),
        "distance": term(-1.0, 1.0, 0.0, "decrease in the sum of the tiles' distances to their places"),
        "placed": term(-1.0, 1.0, 0.0, "change in the number of tiles in place"),
    },
    horizon=lambda values: {2: 100, 3: 100, 4: 500, 5: 1000}[values.size],
    fps=5,
    levels={"easy": {"shuffle_moves": 10}, "fifteen": {"size": 4}, "twenty_four": {"size": 5}},
)


@kernel
def side_of(s):
    """Rows, and columns."""
    cells = s.tile.size
    return 2 if cells == 4 else 3 if cells == 9 else 4 if cells == 16 else 5


@kernel
def measure(s, side):
    """Sum of the distances of the tiles to their places, and how many are in place."""
    far, in_place = 0, 0
    for cell in range(s.tile.size):
        number = int(s.tile[cell]) - 1
        if number >= 0:
            far += abs(number // side - cell // side) + abs(number % side - cell % side)
            in_place += 1 if number == cell else 0
    s.far, s.in_place = far, in_place


@kernel
def can_slide(s, action, side):
    row, column = s.gap // side + DOWNWARD[action], s.gap % side + RIGHTWARD[action]
    return 0 <= row < side and 0 <= column < side


@kernel
def slide(s, action, side):
    """Move the gap."""
    cell = s.gap + DOWNWARD[action] * side + RIGHTWARD[action]
    s.tile[s.gap] = s.tile[cell]
    s.tile[cell] = 0
    s.gap = cell


@kernel
def shuffle(s, rng):
    """Any order, with two tiles changed where it could not be solved: half of all permutations cannot."""
    cells = s.tile.size
    for i in range(cells - 1):  # the gap last; it is moved afterwards, which changes nothing of that
        j = i + below(rng, cells - 1 - i)
        number = s.tile[j]
        s.tile[j] = s.tile[i]
        s.tile[i] = number
    swaps = 0
    for i in range(cells - 1):
        for j in range(i):
            swaps += 1 if s.tile[j] > s.tile[i] else 0
    if swaps % 2:
        number = s.tile[0]
        s.tile[0] = s.tile[1]
        s.tile[1] = number


@SPEC.state_fault
def state_fault(p, s):
    whole = np.array_equal(np.sort(s.tile), np.arange(s.tile.size)) and s.tile[s.gap] == 0
    return "" if whole else "it does not hold every tile exactly once, with the gap empty"


@SPEC.reset
def reset(p, s, rng):
    cells = s.tile.size
    side = side_of(s)
    s.in_place = cells - 1
    while s.in_place == cells - 1:
        for cell in range(cells):
            s.tile[cell] = (cell + 1) % cells
        s.gap = cells - 1
        if p.shuffle_moves:
            back = -1
            for _ in range(p.shuffle_moves):
                action = below(rng, 4)
                while action == back or not can_slide(s, action, side):
                    action = below(rng, 4)
                slide(s, action, side)
                back = (action + 2) % 4
        else:
            shuffle(s, rng)
            for _ in range(below(rng, side)):
                slide(s, 0, side)
            for _ in range(below(rng, side)):
                slide(s, 3, side)
        measure(s, side)


@SPEC.step
def step(p, s, a, rng, r):
    side = side_of(s)
    far, in_place = s.far, s.in_place
    if can_slide(s, a, side):
        slide(s, a, side)
        measure(s, side)
    solved = s.in_place == s.tile.size - 1
    r.solved = 1.0 if solved else 0.0
    r.time = -1.0
    r.distance = float(far - s.far)
    r.placed = float(s.in_place - in_place)
    r.terminated = solved
    r.success = solved


@SPEC.mask
def mask(p, s, m):
    side = side_of(s)
    for action in range(4):
        m[action] = 1 if can_slide(s, action, side) else 0


@SPEC.observe
def observe(p, s, o):
    side = o.board.shape[1]
    for row in range(side):
        for column in range(side):
            number = s.tile[row * side + column]
            if p.one_hot:
                for plane in range(side * side):
                    o.board[plane, row, column] = 1.0 if plane == number else 0.0
            else:
                o.board[0, row, column] = number


@SPEC.python_expert
def expert(p, s, a):
    from rlenvs.single.puzzles.sliding_solver import next_move  # compiles

    a[0] = next_move(s.tile)


@SPEC.draw
def draw(canvas, p, s):
    side = side_of(s)
    canvas.caption(f"{int(s.in_place)} of {side * side - 1} in place, distance {int(s.far)}")
    canvas.legend((PLACED, "in place"), (TILE, "not yet"))
    pixels = view_board(canvas, side, side)
    canvas.rectangle(-0.08, -side - 0.08, side + 0.08, 0.08, GROUND, rounded=0.08)
    for cell, number in enumerate(s.tile.tolist()):
        if number:
            row, column = divmod(cell, side)
            draw_tile(canvas, row, column, PLACED if number == cell + 1 else TILE, 0.04, 0.1)
            draw_letter(canvas, row, column, str(number), 0.35 * pixels, "white")


@SPEC.text
def text(p, s):
    side = side_of(s)
    numbers = [f"{number or '.':>2}" for number in s.tile.tolist()]
    return joined((numbers[row * side : (row + 1) * side] for row in range(side)), " ")


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
