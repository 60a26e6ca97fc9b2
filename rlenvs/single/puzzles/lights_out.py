"""Lights out: press lamps, each toggling itself and its neighbors, until all are dark.

## Description
The electronic game of 1995 (Tiger): a square of lamps, some lit. Pressing a lamp toggles it and its neighbors above,
below, left and right. The order of presses does not matter, and pressing twice cancels out, so a shortest solution is a
set of lamps: a solution of linear equations over the numbers 0 and 1. The expert takes the smallest one. On 5 x 5 lamps
no start needs more than 15 presses.

## Action Space
The lamp to press, counted row by row. Every press changes something.

## Observation Space
The lamps (size, size), 1 if lit.

## Rewards
1 when all lamps are dark, -0.01 for every press. `dark` has weight 0: the change in the number of dark lamps.

## Costs
None.

## Starting State
Starting from all lamps dark, each lamp is pressed with probability 1/2, so every start can be solved; redrawn if all
lamps stay dark. With `presses=k`, k different lamps are pressed, so there is a solution of at most k presses. With
`fewest_presses=j` as well, the number is uniform in j to k: a curriculum.

## Episode End
Termination: all lamps are dark, a success. Truncation: four presses per lamp, 100 on 5 x 5.

## Parameters
`size`, `presses` and `fewest_presses`.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    at_most,
    below,
    block,
    data_option,
    discrete,
    drawn_from,
    integer,
    kernel,
    term,
    u1,
    world,
)
from rlenvs.kits.boards.drawing import cell_names, cell_places, draw_tile, view_board
from rlenvs.kits.boards.letters import joined
from rlenvs.single.puzzles.binary import quiet_patterns, solving_matrix

LARGEST = 10
LIT, DARK = (240, 228, 66), (52, 58, 66)


def effects(size: int) -> np.ndarray:
    """Which lamps (rows) are switched by pressing each lamp (columns), uint8."""
    found = np.zeros((size * size,) * 2, np.uint8)
    for row, column in np.ndindex(size, size):
        for r, c in ((row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= r < size and 0 <= c < size:
                found[r * size + c, row * size + column] = 1
    return found


SPEC = world(
    "LightsOut-v0",
    doc=__doc__,
    source="Lights Out (Tiger Electronics, 1995); Anderson and Feil, Turning Lights Out with Linear Algebra, 1998",
    options={
        "size": data_option(integer(5, 2, LARGEST, "lamps in a row, and rows")),
        "presses": integer(0, 0, LARGEST * LARGEST, "lamps pressed at the start; 0 for each with probability 1/2"),
        "fewest_presses": integer(
            0, 0, LARGEST * LARGEST, "if not 0, the number of lamps pressed is uniform between it and `presses`"
        ),
    },
    constraints=(at_most("fewest_presses", "presses"),),
    sizes=lambda values: {
        "side": values.size,
        "lamps": values.size**2,
        "patterns": len(quiet_patterns(effects(values.size))),
    },
    data={
        "solving": u1("lamps", "lamps"),  # times the lamps that are lit, a set of presses
        "quiet": u1("patterns", "lamps"),  # presses that change nothing
    },
    state={"lit": u1("side", "side"), "order": u1("lamps"), "presses_left": u1("lamps")},
    scratch=("presses_left",),
    observation={"lamps": block("side", "side", low=0, high=1, raw=True, whole=True, doc="1 where a lamp is lit")},
    action=lambda values: discrete(
        *cell_names(values.size, values.size), size="lamps", doc="the lamp to press, row by row"
    ),
    terms={
        "solved": term(0.0, 1.0, 1.0, "1 when all lamps are dark"),
        "time": term(-1.0, 0.0, 0.01, "-1 for every press"),
        "dark": term(-5.0, 5.0, 0.0, "change in the number of dark lamps"),
    },
    horizon=lambda values: 4 * values.size**2,
    fps=4,
    levels={"easy": {"size": 3}, "few": {"presses": 4}, "hard": {"size": 8}},
)


@SPEC.make_data
def data(values):
    matrix = effects(values.size)
    return {"solving": solving_matrix(matrix), "quiet": quiet_patterns(matrix)}


@kernel
def press(lit, row, column):
    """Switch a lamp and its neighbours."""
    size = lit.shape[0]
    lit[row, column] ^= 1
    if row > 0:
        lit[row - 1, column] ^= 1
    if row < size - 1:
        lit[row + 1, column] ^= 1
    if column > 0:
        lit[row, column - 1] ^= 1
    if column < size - 1:
        lit[row, column + 1] ^= 1


@kernel
def count_lit(lit):
    found = 0
    for row in range(lit.shape[0]):
        for column in range(lit.shape[1]):
            found += int(lit[row, column])
    return found


@SPEC.reset
def reset(p, s, rng):
    size = s.lit.shape[0]
    lamps = size * size
    presses = drawn_from(rng, p.fewest_presses, p.presses)
    while count_lit(s.lit) == 0:
        for i in range(lamps):
            s.order[i] = i
        for i in range(lamps):
            j = i + below(rng, lamps - i)
            lamp = int(s.order[j])
            s.order[j] = s.order[i]
            s.order[i] = lamp
            chosen = i < presses if presses else below(rng, 2) == 1
            if chosen:
                press(s.lit, lamp // size, lamp % size)


@SPEC.step
def step(p, s, a, rng, r):
    size = s.lit.shape[0]
    before = count_lit(s.lit)
    press(s.lit, a // size, a % size)
    after = count_lit(s.lit)
    r.solved = 1.0 if after == 0 else 0.0
    r.time = -1.0
    r.dark = float(before - after)
    r.terminated = after == 0
    r.success = after == 0


@SPEC.observe
def observe(p, s, o):
    size = s.lit.shape[0]
    for row in range(size):
        for column in range(size):
            o.lamps[row, column] = s.lit[row, column]


@kernel
def shortest_solution(p, s):
    """Put a smallest set of presses that leads to darkness into s.presses_left. Returns how many there are."""
    size, lamps = s.lit.shape[0], p.solving.shape[0]
    least, best = lamps + 1, 0
    for lamp in range(lamps):
        total = 0
        for other in range(lamps):
            total += p.solving[lamp, other] & s.lit[other // size, other % size]
        s.presses_left[lamp] = total & 1
    for pattern in range(p.quiet.shape[0]):
        total = 0
        for lamp in range(lamps):
            total += s.presses_left[lamp] ^ p.quiet[pattern, lamp]
        if total < least:
            least, best = total, pattern
    for lamp in range(lamps):
        s.presses_left[lamp] ^= p.quiet[best, lamp]
    return least


@SPEC.expert
def expert(p, s, a):
    shortest_solution(p, s)
    a[0] = 0
    for lamp in range(p.solving.shape[0]):
        if s.presses_left[lamp]:
            a[0] = lamp
            break


@SPEC.draw
def draw(canvas, p, s):
    size = s.lit.shape[0]
    canvas.caption(f"{int(s.lit.sum())} lit")
    canvas.legend((LIT, "lit"), (DARK, "dark"))
    view_board(canvas, size, size)
    for row in range(size):
        for column in range(size):
            draw_tile(canvas, row, column, (150, 150, 145), 0.04, 0.16)
            draw_tile(canvas, row, column, LIT if s.lit[row, column] else DARK, 0.09, 0.14)


@SPEC.places
def places(canvas, p, s):
    return cell_places(*s.lit.shape)


@SPEC.text
def text(p, s):
    return joined(["*" if lamp else "." for lamp in row] for row in s.lit)
