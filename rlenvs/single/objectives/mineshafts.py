"""Mineshafts: trade gold against time, with a front of three concave arcs; linear weights find only their ends.

## Description
There are three shafts along a road, far apart. In each, the amount of gold grows with depth, faster and faster. The
agent can take the gold once, at its current depth, which ends the episode. Every depth of every shaft is optimal for
some trade-off between gold and time, 24 in all. But the points of a shaft curve inwards (the front is not convex), and
there is a gap between shafts (it is not connected). A weighted sum of gold and time is always largest at a bottom or at
the first gold: 4 of the 24 points. The others require more than linear weights, such as thresholds, Chebyshev distances
or sets of policies. At the level `hollow`, weights find only the first and the last of all points, and 15 % of the
hypervolume above (-36, 0) (89 % without a level).

The front is known in closed form: taking the gold at depth k of a shaft in column c takes c + k + 1 steps. With
`collapse` a shaft may collapse at every dig, and points are expected returns. `env.unwrapped.pareto_front(gamma)`
computes it for any discount, by dynamic programming.

## Action Space
Left and right along the road; down, to dig; up; and take the gold. Impossible actions change nothing.

## Observation Space
Depth and column. Scaled to [-1, 1].

## Rewards
`time` is -1 for every step, `gold` the gold taken. By default a step weighs as much as two pieces of gold, so the
bottom of the second shaft is optimal.

## Costs
None.

## Starting State
At the left end of the road.

## Episode End
Termination: gold was taken (a success), or a shaft collapsed. Truncation: 100 steps.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum under the default weights. Success only means that some
gold was taken, which random actions do in two of three episodes: look at the return or the front instead.

## Version History
v0: first version.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.core import PublishedFront, block, discrete, json_option, term
from rlenvs.kits.boards.drawing import draw_letter, draw_tile, pressed_move, view_board
from rlenvs.kits.tables.table import FIRST_MOST, Table
from rlenvs.kits.tables.world import outcome, parse_probability
from rlenvs.single.objectives.family import multi_objective, weights_of

SHAFTS = (
    (2, (1, 2, 4, 7, 12, 19, 28, 40)),
    (14, (41, 42, 44, 47, 51, 56, 62, 70)),
    (26, (71, 72, 73, 75, 78, 81, 85, 90)),
)
HOLLOW = (
    (2, (1, 2, 3, 4, 5, 6, 7, 8)),
    (14, (10, 12, 14, 16, 18, 21, 24, 27)),
    (26, (32, 37, 42, 48, 55, 63, 72, 83)),
)
MOST_GOLD, FARTHEST, DEEPEST = 1000.0, 40, 12
LEFT, RIGHT, DOWN, UP, TAKE = range(5)
GOLD = (196, 170, 30)
TERMS = {
    "time": term(-1.0, 0.0, 2.0, "-1 for every step"),
    "gold": term(0.0, MOST_GOLD, 1.0, "the gold taken"),
}
Shafts = tuple[tuple[int, tuple[float, ...]], ...]


def parse_shafts(given: Any) -> Shafts:
    """Columns, from the left, with the gold at each depth; ValueError where they are none."""
    shafts = tuple((int(column), tuple(float(gold) for gold in depths)) for column, depths in given)
    columns = [column for column, _ in shafts]
    if not columns or columns != sorted(set(columns)) or not 0 <= columns[0] <= columns[-1] <= FARTHEST:
        raise ValueError(f"needed: shafts in increasing columns from 0 to {FARTHEST}, not in {columns}")
    for column, depths in shafts:
        if not 1 <= len(depths) <= DEEPEST or not all(0.0 <= gold <= MOST_GOLD for gold in depths):
            raise ValueError(
                f"the shaft in column {column} needs 1 to {DEEPEST} depths with gold from 0 to {MOST_GOLD:g}"
            )
    return shafts


def cells_of(shafts: Shafts) -> list[tuple[int, int]]:
    """Depth and column of each state: the road, and then the shafts."""
    road = [(0, column) for column in range(shafts[-1][0] + 2)]
    return road + [(depth, column) for column, golds in shafts for depth in range(1, len(golds) + 1)]


def build(values: Any) -> Table:
    shafts = dict(values.shafts)
    cells = cells_of(values.shafts)
    numbers = {cell: number for number, cell in enumerate(cells)}
    table = Table(len(cells), 5, weights_of(TERMS))
    table.starts[0] = 1.0
    table.features = np.array(cells, float)
    for state, (depth, column) in enumerate(cells):
        sides = {LEFT: (depth, column - 1), RIGHT: (depth, column + 1), UP: (depth - 1, column)}
        for action, cell in sides.items():
            table.add(state, action, numbers.get(cell, state), (-1.0, 0.0))
        deeper = numbers.get((depth + 1, column))
        risk = values.collapse if deeper is not None else 0.0
        if risk > 0.0:
            table.add(state, DOWN, state, (-1.0, 0.0), probability=risk, end=True)
        if risk < 1.0:
            table.add(state, DOWN, state if deeper is None else deeper, (-1.0, 0.0), probability=1.0 - risk)
        if depth > 0:
            table.add(state, TAKE, state, (-1.0, shafts[column][depth - 1]), end=True, success=True)
        else:
            table.add(state, TAKE, state, (-1.0, 0.0))
    return table


def largest(values: Any) -> Sequence[float]:
    cells = np.array(cells_of(values.shafts))
    return cells.max(axis=0).tolist()


SPEC = multi_objective(
    "Mineshafts-v0",
    build,
    TERMS,
    doc=__doc__,
    source="this package; after Vamplew et al., Machine Learning 2011, on fronts that linear weights do not find",
    options={
        "shafts": json_option(SHAFTS, parse_shafts, "column of each shaft, with the gold at each depth"),
        "collapse": json_option(0.0, parse_probability, "probability that a shaft collapses at a dig"),
    },
    seen=block(2, low=0.0, high=largest, whole=True, doc="depth, column"),
    action=discrete("left", "right", "down", "up", "take", idle=TAKE),
    horizon=100,
    fps=8,
    same_start=True,
    levels={"hollow": {"shafts": HOLLOW}, "brittle": {"collapse": 0.05}},
)


@SPEC.step
def step(p, s, a, rng, r):
    j = outcome(p, s, a, rng, r)
    r.time = p.gain[j, 0]
    r.gold = p.gain[j, 1]


@SPEC.published_front
def published_front(values, gamma):
    return PublishedFront(None, (-100.0, 0.0), "no front has been published; the reference point is ours")


def parts_of(p: Any, s: Any) -> tuple[int, int, dict[tuple[int, int], float]]:
    """Depth, column, and the gold of every cell of the shafts."""
    gold = {}
    for state, (depth, column) in enumerate(p.features.astype(int).tolist()):
        if depth > 0:
            gold[depth, column] = float(p.gain[int(p.span[state, TAKE]) & FIRST_MOST, 1])
    depth, column = p.features[int(s.number)].astype(int).tolist()
    return depth, column, gold


@SPEC.draw
def draw(canvas, p, s):
    depth, column, gold = parts_of(p, s)
    deepest, wide = max(row for row, _ in gold), int(p.features[:, 1].max()) + 1
    canvas.legend(("blue", "miner", "disc"), (GOLD, "gold"))
    canvas.caption(
        f"on the road, column {column}" if depth == 0 else f"depth {depth}: {gold[depth, column]:g} pieces of gold"
    )
    shafts = sorted({c for _, c in gold})
    places = {c: 2.5 + 3.0 * n for n, c in enumerate(shafts)}  # shafts side by side, the road shortened
    rows, across = deepest + 2, int(3.0 * len(shafts)) + 2
    size = view_board(canvas, rows, across)
    canvas.rectangle(-1.0, -1.0, across + 1.0, 2.0, (190, 220, 240))
    canvas.rectangle(-1.0, -rows - 2.0, across + 1.0, -2.0, (150, 116, 80))
    canvas.rectangle(-1.0, -2.0, across + 1.0, -1.0, (120, 150, 84))
    most = max(max(gold.values()), 1e-9)
    for (r, c), pieces in gold.items():
        x = places[c] - 0.5
        draw_tile(canvas, r + 1, x, (70, 56, 46), 0.02)
        part = 0.3 + 0.7 * pieces / most
        canvas.rectangle(x + 0.5 - 0.46 * part, -r - 1.96, x + 0.5 + 0.46 * part, -r - 1.04, GOLD, rounded=0.1)
        draw_letter(canvas, r + 1, x, f"{pieces:g}", 0.3 * size, "white")
    x = _place_of(column, shafts, places, wide, across) if depth == 0 else places[column] - 0.55
    y = -1.5 if depth == 0 else -depth - 1.5
    canvas.circle((x, y), 0.36, "white")
    canvas.circle((x, y), 0.31, "blue")
    for c in shafts:
        canvas.text((places[c], -0.6), f"column {c}", "black", 15, "centre")


def _place_of(column: int, shafts: list[int], places: dict[int, float], wide: int, across: int) -> float:
    """Where a column of the road lies in the image, whose shafts are nearer to each other than they are."""
    known = [-0.001, *shafts, wide]
    shown = [0.5, *(places[c] for c in shafts), across - 0.5]
    return float(np.interp(column, known, shown))


@SPEC.text
def text(p, s):
    depth, column, gold = parts_of(p, s)
    wide = int(p.features[:, 1].max()) + 1
    rows = [["_"] * wide] + [[" "] * wide for _ in range(max(r for r, _ in gold))]
    for r, c in gold:
        rows[r][c] = "$"
    rows[depth][column] = "@"
    return "\n".join("".join(row).rstrip() for row in rows)


@SPEC.keys
def keys(pressed, values):
    if pressed.intersection(("space", "return")):
        return TAKE
    return pressed_move(pressed, (("left", "a"), ("right", "d"), ("down", "s"), ("up", "w")))
