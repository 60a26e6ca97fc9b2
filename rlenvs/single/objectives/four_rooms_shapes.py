"""Four rooms with shapes: pick up squares, triangles and circles on the way to the goal.

## Description
Four rooms with twelve shapes, four of each of three kinds, and a goal in the corner opposite to the start (after
Barreto et al., "Successor features for transfer in reinforcement learning", NeurIPS 2017). Map, spaces, rewards and
time limit are MO-Gymnasium's four-room (1.3), which draws its initial state from Python's global generator and ignores
the seed. Different: `is_success`.

There is enough time to pick up everything, so without a discount the front is one point, (5, 5, 5), which no policy can
exceed and the scripted expert attains. With a discount the kinds are traded off against each other: with 0.99 the exact
front has 240 points, with 0.95 652, with 0.9 1642. `rlenvs.pareto.pareto_front` gives each with the moves that attain
it.

`level="features"` is the form in which successor features are learned (as in Gimelfarb's "Shapes", the source of
MO-Gymnasium's): the goal is a separate feature, and a task is given by the weights of the kinds, from -1 to 1, while
the goal has weight 1: `weights={"square": 1, "triangle": -1, "circle": 0}`.

## Action Space
One move to a neighboring cell. Walls and the border block.

## Observation Space
Row and column, from 0 on, and for each shape whether it was picked up (0 or 1), shapes in the order of their columns,
whole numbers. Scaled to [-1, 1] with `scaled=True`.

## Rewards
`square`, `triangle` and `circle` are 1 for a shape of this kind, when it is picked up, and all three are 1 at the goal.
At the level `features`, only `goal` is 1 there. The default weights are all 1.

## Costs
None.

## Starting State
The lower left corner, (12, 0), with nothing picked up.

## Episode End
Termination: at the goal, (0, 12). Truncation: 200 steps. `is_success` means that all shapes were picked up before
reaching the goal.

## Parameters
None.

## Reference Scores
Mean return over seeds 0 to 99. The scripted expert goes to the nearest remaining shape; no policy has a higher return.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import PublishedFront, block, discrete, i2, kernel, published, term, u1, world
from rlenvs.kits.boards.drawing import draw_tile, pressed_move, view_board
from rlenvs.pareto.orders import Places, front_of, steps_to

MAP = (
    "1    2X     G",
    "      X      ",
    "      1      ",
    "             ",
    "      X      ",
    "2    3X      ",
    "XX3 XXXXX 1XX",
    "      X2    3",
    "      X      ",
    "             ",
    "      2      ",
    "      X      ",
    "_     X3    1",
)
SIZE, START, GOAL = 13, (12, 0), (0, 12)
SHAPES = tuple((r, c) for c in range(SIZE) for r in range(SIZE) if MAP[r][c] in "123")
KINDS = tuple(int(MAP[r][c]) - 1 for r, c in SHAPES)
COUNT = len(SHAPES)
OPEN = np.array([[letter not in "XG" for letter in row] for row in MAP])  # episodes end at the goal
MOVES = ((0, -1), (-1, 0), (0, 1), (1, 0))  # left, up, right, down
KEYS = (("left", "a"), ("up", "w"), ("right", "d"), ("down", "s"))


def rewards(count: int) -> Any:
    return published(
        "MO-Gymnasium four-room-v0",
        "int32",
        low=0.0,
        high=float(SIZE),
        reward=lambda values: ([0.0] * count, [1.0] * count),
    )


KIND_TERMS = {kind: term(0.0, 1.0, 1.0, f"1 for a {kind}") for kind in ("square", "triangle", "circle")}
FEATURES = rewards(4)
NOBODY = "no front has been published; the reference point is ours"

SPEC = world(
    "FourRoomsShapes-v0",
    doc=__doc__,
    source="MO-Gymnasium four-room (after Barreto et al., NeurIPS 2017)",
    data={
        "wall": u1(SIZE, SIZE),
        "number": i2(SIZE, SIZE),  # its number, -1 where there is none
        "kind": i2(COUNT),
        "steps": i2(COUNT + 1, SIZE, SIZE),  # to each shape, and to the goal
    },
    state={"row": i2.index_of(SIZE), "column": i2.index_of(SIZE), "taken": u1(COUNT)},
    observation={
        "position": block(2, low=0.0, high=SIZE - 1.0, whole=True, doc="row and column, from 0 on"),
        "taken": block(COUNT, low=0.0, high=1.0, whole=True, doc="whether each shape was picked up"),
    },
    action=discrete("left", "up", "right", "down"),
    terms={
        "square": term(0.0, 1.0, 1.0, "1 for a square, and at the goal"),
        "triangle": term(0.0, 1.0, 1.0, "1 for a triangle, and at the goal"),
        "circle": term(0.0, 1.0, 1.0, "1 for a circle, and at the goal"),
    },
    published=rewards(3),
    horizon=200,
    lanes=True,
    levels={"features": {"terms": {**KIND_TERMS, "goal": term(0.0, 1.0, 1.0, "1 at the goal")}, "published": FEATURES}},
    fps=8,
    same_start=True,
)


@SPEC.make_data
def data(values):
    number = np.full((SIZE, SIZE), -1)
    for k, cell in enumerate(SHAPES):
        number[cell] = k
    wall = np.array([[letter == "X" for letter in row] for row in MAP])
    return {
        "wall": wall,
        "number": number,
        "kind": KINDS,
        "steps": np.stack([steps_to(OPEN, c) for c in (*SHAPES, GOAL)]),
    }


@SPEC.reset
def reset(p, s, rng):
    s.row, s.column = START[0], START[1]


@kernel
def moved(s, move):
    """Row and column after a move, if there is no wall."""
    row = min(max(s.row + int(move == 3) - int(move == 1), 0), SIZE - 1)
    return row, min(max(s.column + int(move == 2) - int(move == 0), 0), SIZE - 1)


@kernel
def move_and_pick(p, s, a, r):
    """A move, and what is picked up; whether it leads to the goal."""
    row, column = moved(s, a)
    if p.wall[row, column] == 1:
        row, column = s.row, s.column
    s.row, s.column = row, column
    k = p.number[row, column]
    if k >= 0 and s.taken[k] == 0:
        s.taken[k] = 1
        r.square = 1.0 if p.kind[k] == 0 else 0.0
        r.triangle = 1.0 if p.kind[k] == 1 else 0.0
        r.circle = 1.0 if p.kind[k] == 2 else 0.0
    if row != GOAL[0] or column != GOAL[1]:
        return False
    r.terminated = True
    found = 0
    for j in range(COUNT):
        found += s.taken[j]
    r.success = found == COUNT
    return True


@SPEC.step
def step(p, s, a, rng, r):
    if move_and_pick(p, s, a, r):
        r.square, r.triangle, r.circle = 1.0, 1.0, 1.0


@SPEC.level("features").step
def step_of_features(p, s, a, rng, r):
    if move_and_pick(p, s, a, r):
        r.goal = 1.0


@SPEC.observe
def observe(p, s, o):
    o.position[0] = s.row
    o.position[1] = s.column
    for k in range(COUNT):
        o.taken[k] = s.taken[k]


@SPEC.expert
def expert(p, s, a):
    best = COUNT
    for k in range(COUNT):
        if s.taken[k] == 0 and (best == COUNT or p.steps[k, s.row, s.column] < p.steps[best, s.row, s.column]):
            best = k
    for move in range(4):
        row, column = moved(s, move)
        if p.steps[best, row, column] < p.steps[best, s.row, s.column]:
            a[0] = move


@SPEC.pareto_routes
def front(values, horizon, gamma):
    return _front(horizon, gamma, np.ones((1, 3)))


@SPEC.level("features").pareto_routes
def front_of_features(values, horizon, gamma):
    return _front(horizon, gamma, np.array([[0.0, 0.0, 0.0, 1.0]]))


def _front(horizon: int, gamma: float, goal: np.ndarray) -> Any:
    cells = [r * SIZE + c for r, c in (*SHAPES, GOAL)]
    steps = data(None)["steps"].reshape(COUNT + 1, SIZE * SIZE)
    gains = np.concatenate([np.eye(goal.shape[1])[list(KINDS)], goal])
    places = Places(steps, cells, [START[0] * SIZE + START[1]], gains, COUNT, _after, len(MOVES))
    return front_of(places, gamma, horizon)


def _after(cell: int, action: int) -> int:
    """The cell after a move; walls are kept out by the ways."""
    r, c = divmod(cell, SIZE)
    return min(max(r + MOVES[action][0], 0), SIZE - 1) * SIZE + min(max(c + MOVES[action][1], 0), SIZE - 1)


@SPEC.published_front
def published_front(values, gamma):
    return PublishedFront(None, (0.0, 0.0, 0.0), NOBODY)


@SPEC.level("features").published_front
def published_front_of_features(values, gamma):
    return PublishedFront(None, (0.0, 0.0, 0.0, 0.0), NOBODY)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(
        ("black", "walker", "disc"),
        ("blue", "square"),
        ("green", "triangle"),
        ("red", "circle", "disc"),
        ("yellow", "goal"),
    )
    view_board(canvas, SIZE, SIZE)
    for r in range(SIZE):
        for c in range(SIZE):
            color = "grey" if MAP[r][c] == "X" else "yellow" if (r, c) == GOAL else (226, 230, 234)
            draw_tile(canvas, r, c, color)
    for k, (r, c) in enumerate(SHAPES):
        if not s.taken[k]:
            _draw_shape(canvas, KINDS[k], c + 0.5, -r - 0.5)
    x, y = float(s.column) + 0.5, -float(s.row) - 0.5
    canvas.circle((x, y), 0.42, "white")
    canvas.circle((x, y), 0.36, "black")
    counts = [sum(int(taken) for taken, kind in zip(s.taken, KINDS, strict=True) if kind == n) for n in range(3)]
    canvas.caption(f"squares {counts[0]}, triangles {counts[1]}, circles {counts[2]}")


def _draw_shape(canvas: Any, kind: int, x: float, y: float) -> None:
    if kind == 0:
        canvas.rectangle(x - 0.36, y - 0.36, x + 0.36, y + 0.36, "blue")
    elif kind == 1:
        canvas.polygon([(x - 0.4, y - 0.36), (x + 0.4, y - 0.36), (x, y + 0.4)], "green")
    else:
        canvas.circle((x, y), 0.38, "red")


@SPEC.text
def text(p, s):
    rows = [list(row.replace(" ", ".").replace("_", ".")) for row in MAP]
    for k, (r, c) in enumerate(SHAPES):
        if s.taken[k]:
            rows[r][c] = "."
    rows[s.row][s.column] = "@"
    return "\n".join(map("".join, rows))


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
