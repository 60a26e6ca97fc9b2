"""MailRound: deliver letters to ten houses, with time for at most six.

## Description
A postman goes from house to house. Each house is a separate objective, and the shift is too short for all of them, so
the postman has to choose. A front over ten objectives cannot be drawn, and most methods are designed for fewer; here
the exact front is known. Without a discount it has 68 points of 5 or 6 houses. Only a utility ranks them: the sum over
all houses, the mean of a few, or the worst-off house over several rounds (`rlenvs.pareto.utility_of`). With a discount,
early letters are worth more and the order matters too: for 0.99 the front has 542 points. `rlenvs.pareto.pareto_front`
gives each with the path that attains it.

## Action Space
One move to a neighboring cell. Hedges and the border block.

## Observation Space
Row and column, for each house whether it has its letter, and the steps so far, up to 40. Scaled to [-1, 1].

## Rewards
`house_0` to `house_9` are 1 when the postman first reaches that house. The default weights are all 1.

## Costs
None.

## Starting State
At the post office, (6, 4), with all letters.

## Episode End
Termination: all letters are delivered, for which no level has enough time. Truncation: 28 steps; 20 at the level
`short`, 40 at the level `long`. Success is not defined.

## Parameters
None.

## Reference Scores
Mean return over seeds 0 to 99. The expert tries all pairs of next houses, each followed by nearest-neighbor moves. The
bound is exact: the best point of the front under the default weights.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import PublishedFront, Score, block, discrete, i2, kernel, term, u1, world
from rlenvs.kits.boards.drawing import draw_letter, draw_tile, pressed_move, view_board
from rlenvs.pareto.orders import Places, front_of, steps_to

MAP = (
    "0..........",
    ".#.###.#.#.",
    ".#.1...#.#.",
    ".#.#.#2..#.",
    "3..#.#.#..4",
    ".###.#.###.",
    "....S...5..",
    ".#.###.#.#.",
    ".#.#..6..#7",
    ".#.#.###.#.",
    ".8......9..",
)
SIZE, COUNT, LONGEST = len(MAP), 10, 40.0
PLACES = {letter: (r, c) for r, row in enumerate(MAP) for c, letter in enumerate(row) if letter not in ".#"}
HOUSES, START = tuple(PLACES[str(k)] for k in range(COUNT)), PLACES["S"]
OPEN = np.array([[letter != "#" for letter in row] for row in MAP])
MOVES = ((0, -1), (-1, 0), (0, 1), (1, 0))  # left, up, right, down
HEDGE = (110, 140, 90)
KEYS = (("left", "a"), ("up", "w"), ("right", "d"), ("down", "s"))

SPEC = world(
    "MailRound-v0",
    doc=__doc__,
    source="this package; a team orienteering problem with an objective per customer",
    data={"steps": i2(COUNT, SIZE, SIZE), "open": u1(SIZE, SIZE), "house": i2(SIZE, SIZE)},
    state={"row": i2.index_of(SIZE), "column": i2.index_of(SIZE), "has_letter": u1(COUNT), "planned": u1(COUNT)},
    scratch=("planned",),
    observation={
        "position": block(2, low=0.0, high=SIZE - 1.0, whole=True, doc="row and column, from 0 on"),
        "has_letter": block(COUNT, low=0.0, high=1.0, whole=True, doc="whether each house has its letter"),
        "time": block(low=0.0, high=LONGEST, doc="steps so far"),
    },
    action=discrete("left", "up", "right", "down"),
    terms={f"house_{k}": term(0.0, 1.0, 1.0, f"1 for the letter to house {k}") for k in range(COUNT)},
    horizon=28,
    fps=8,
    same_start=True,
    levels={"short": {"horizon": 20}, "long": {"horizon": 40}},
    scores={"bound": Score(6, 0, "exact: the best point of the front")},
)


@SPEC.make_data
def data(values):
    house = np.full((SIZE, SIZE), -1)
    for k, cell in enumerate(HOUSES):
        house[cell] = k
    return {"steps": np.stack([steps_to(OPEN, cell) for cell in HOUSES]), "open": OPEN, "house": house}


@SPEC.reset
def reset(p, s, rng):
    s.row, s.column = START[0], START[1]


@kernel
def moved(p, s, move):
    """Row and column after a move, if nothing is in the way."""
    row = min(max(s.row + int(move == 3) - int(move == 1), 0), SIZE - 1)
    column = min(max(s.column + int(move == 2) - int(move == 0), 0), SIZE - 1)
    if p.open[row, column] == 0:
        return int(s.row), int(s.column)
    return row, column


@SPEC.step
def step(p, s, a, rng, r):
    s.row, s.column = moved(p, s, a)
    k = int(p.house[s.row, s.column])
    if k >= 0 and s.has_letter[k] == 0:
        s.has_letter[k] = 1
        r.house_0 = 1.0 if k == 0 else 0.0
        r.house_1 = 1.0 if k == 1 else 0.0
        r.house_2 = 1.0 if k == 2 else 0.0
        r.house_3 = 1.0 if k == 3 else 0.0
        r.house_4 = 1.0 if k == 4 else 0.0
        r.house_5 = 1.0 if k == 5 else 0.0
        r.house_6 = 1.0 if k == 6 else 0.0
        r.house_7 = 1.0 if k == 7 else 0.0
        r.house_8 = 1.0 if k == 8 else 0.0
        r.house_9 = 1.0 if k == 9 else 0.0
    r.terminated = s.has_letter.sum() == COUNT


@SPEC.observe
def observe(p, s, o):
    o.position[0] = s.row
    o.position[1] = s.column
    for k in range(COUNT):
        o.has_letter[k] = s.has_letter[k]
    o.time = min(float(s.elapsed), LONGEST)


@kernel
def letters_of_plan(p, s, first, second, left):
    """How many letters a plan delivers: two houses, and then always the nearest one."""
    for k in range(COUNT):
        s.planned[k] = s.has_letter[k]
    row, column, delivered = int(s.row), int(s.column), 0
    for turn in range(COUNT):
        k = first if turn == 0 else second
        if turn > 1:
            k = -1
            for j in range(COUNT):
                if s.planned[j] == 0 and (k < 0 or p.steps[j, row, column] < p.steps[k, row, column]):
                    k = j
        if k < 0 or s.planned[k] == 1:
            break
        left -= p.steps[k, row, column]
        if left < 0:
            break
        s.planned[k] = 1
        delivered += 1
        row, column = HOUSES_ROW[k], HOUSES_COLUMN[k]
    return delivered


HOUSES_ROW, HOUSES_COLUMN = tuple(r for r, _ in HOUSES), tuple(c for _, c in HOUSES)


@SPEC.expert
def expert(p, s, a):
    left = p.horizon - s.elapsed
    best, most = -1, 0
    for first in range(COUNT):
        for second in range(COUNT):
            if s.has_letter[first] == 0:
                letters = letters_of_plan(p, s, first, second, left)
                nearer = best >= 0 and p.steps[first, s.row, s.column] < p.steps[best, s.row, s.column]
                if letters > most or (letters == most and letters > 0 and nearer):
                    best, most = first, letters
    a[0] = 0
    if best >= 0:
        for move in range(4):
            row, column = moved(p, s, move)
            if p.steps[best, row, column] < p.steps[best, s.row, s.column]:
                a[0] = move


@SPEC.pareto_routes
def front(values, horizon, gamma):
    cells = [r * SIZE + c for r, c in HOUSES]
    steps = data(values)["steps"].reshape(COUNT, SIZE * SIZE)
    return front_of(Places(steps, cells, [START[0] * SIZE + START[1]], np.eye(COUNT), -1, _after, 4), gamma, horizon)


def _after(cell: int, action: int) -> int:
    """The cell after a move."""
    r, c = divmod(cell, SIZE)
    row, column = min(max(r + MOVES[action][0], 0), SIZE - 1), min(max(c + MOVES[action][1], 0), SIZE - 1)
    return row * SIZE + column if OPEN[row, column] else cell


@SPEC.published_front
def published_front(values, gamma):
    return PublishedFront(None, (-1.0,) * COUNT, "no front has been published; the reference point is ours")


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(
        ("blue", "postman", "disc"), ("orange", "house"), ("green", "has its letter"), ((110, 140, 90), "hedge")
    )
    canvas.caption(f"{int(s.has_letter.sum())} letters of {COUNT} delivered")
    size = view_board(canvas, SIZE, SIZE)
    for r in range(SIZE):
        for c in range(SIZE):
            draw_tile(canvas, r, c, (226, 222, 210) if OPEN[r, c] else HEDGE, 0.01)
    draw_tile(canvas, *START, (170, 186, 214), 0.06)
    draw_letter(canvas, *START, "P", 0.5 * size, "white")
    for k, (r, c) in enumerate(HOUSES):
        _draw_house(canvas, r, c, "green" if s.has_letter[k] else "orange")
        draw_letter(canvas, r + 0.12, c, str(k), 0.42 * size, "white")
    x, y = s.column + 0.5, -s.row - 0.5
    canvas.circle((x, y), 0.3, "white")
    canvas.circle((x, y), 0.25, "blue")


def _draw_house(canvas: Any, r: int, c: int, color: str) -> None:
    canvas.rectangle(c + 0.14, -r - 0.94, c + 0.86, -r - 0.4, color)
    canvas.polygon([(c + 0.04, -r - 0.42), (c + 0.96, -r - 0.42), (c + 0.5, -r - 0.06)], color)


@SPEC.text
def text(p, s):
    rows = [list(row.replace("S", "P")) for row in MAP]
    for k, (r, c) in enumerate(HOUSES):
        if s.has_letter[k]:
            rows[r][c] = "*"
    rows[int(s.row)][int(s.column)] = "@"
    return "\n".join("".join(row) for row in rows)


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
