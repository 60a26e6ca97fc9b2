"""Cliff walking: reach the goal; the shortest path runs along the edge of a cliff.

## Description
A walker goes from the lower left corner of a grid of 4 x 12 cells to the lower right one. The cells between them are a
cliff: falling gives -100 and leads back to the start. On-policy learners (SARSA) keep away from the edge, off-policy
learners (Q-learning) walk along it (Sutton and Barto, "Reinforcement Learning", 2nd edition, example 6.6). Gymnasium's
CliffWalking (1.3): its states, actions, rewards and `is_slippery`. Different: there is a time limit, `is_success`, and
`env.unwrapped.model` has the exact matrices.

## Action Space
up, right, down, left. At the border a step has no effect. With `is_slippery` a step goes in the intended direction or
to either side of it, each with probability 1/3.

## Observation Space
The number of the cell, row by row from the upper left: 36 at the start, 47 at the goal. With `encoding="one_hot"` a
one-hot vector.

## Rewards
`reward` is -1 for every step, -100 for one into the cliff.

## Costs
None.

## Starting State
The lower left corner.

## Episode End
Termination: at the goal, a success. Falling does not end the episode. Truncation: 200 steps.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum: 13 steps.

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import discrete, drop_in, flag, value_of, view
from rlenvs.kits.boards.drawing import draw_letter, pressed_move
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import letters_of, tabular
from rlenvs.single.tabular.grid import cell_of, cells_text, draw_cells, draw_flag, draw_walker, moved

GROUND, CLIFF, START, GOAL = ".CSG"
MAP = ["............", "............", "............", "SCCCCCCCCCCG"]
UP, RIGHT, DOWN, LEFT = (-1, 0), (0, 1), (1, 0), (0, -1)
STEPS = (UP, RIGHT, DOWN, LEFT)
COLORS = {GROUND: (214, 204, 176), CLIFF: (74, 60, 52), START: (190, 200, 210), GOAL: (120, 190, 120)}
EARTH = (150, 122, 96)
KEYS = (("up", "w"), ("right", "d"), ("down", "s"), ("left", "a"))


def build(values: Any) -> Table:
    rows, columns = len(MAP), len(MAP[0])
    table = Table(rows * columns, len(STEPS))
    table.map = MAP
    start = (rows - 1) * columns
    table.starts[start] = 1.0
    turns = (-1, 0, 1) if values.is_slippery else (0,)
    for state in range(table.states):
        row, column = cell_of(state, columns)
        if MAP[row][column] in (CLIFF, GOAL):  # where nobody stands when a step begins
            table.stay(state)
            continue
        for action in range(len(STEPS)):
            for turn in turns:
                r, c = moved(row, column, STEPS[(action + turn) % 4], rows, columns)
                falls, there = MAP[r][c] == CLIFF, MAP[r][c] == GOAL
                state_after, reward = (start, -100.0) if falls else (r * columns + c, -1.0)
                chance = 1.0 / len(turns)
                table.add(state, action, state_after, reward, probability=chance, end=there, success=there)
    return table


SPEC = tabular(
    "CliffWalking-v0",
    build,
    (-100.0, 0.0),
    doc=__doc__,
    source="Gymnasium CliffWalking (Towers et al., arXiv 2407.17032); Sutton and Barto, Reinforcement Learning, 2018",
    options={"is_slippery": flag(False, "whether steps may slip to a side")},
    action=discrete("up", "right", "down", "left"),
    drop_in=drop_in(
        views={
            "shape": view(lambda setup, p, s: (len(MAP), len(MAP[0])), "rows and columns"),
            "start_state_index": view(lambda setup, p, s: (len(MAP) - 1) * len(MAP[0]), "number of the first cell"),
            "is_slippery": value_of("is_slippery"),
        }
    ),
    horizon=200,
    fps=4,
    same_start=True,
)


@SPEC.draw
def draw(canvas, p, s):
    rows = letters_of(p)
    canvas.legend(
        ("blue", "walker", "disc"),
        (COLORS[START], "start"),
        (COLORS[GOAL], "goal"),
        (COLORS[CLIFF], "cliff: -100, and back to the start"),
    )
    draw_cells(canvas, rows, COLORS)
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            if letter == CLIFF:
                draw_edge(canvas, r, c)
            elif letter == GOAL:
                draw_flag(canvas, r, c)
            elif letter == START:
                draw_letter(canvas, r, c, "S", 18.0, "white")
    draw_walker(canvas, *cell_of(s.number, len(rows[0])))
    canvas.caption(f"state {s.number}")


def draw_edge(canvas: Any, row: int, column: int) -> None:
    """The broken edge of the ground above a cell of the cliff."""
    teeth = [
        (0.04, 0.04),
        (0.04, 0.2),
        (0.2, 0.3),
        (0.36, 0.16),
        (0.54, 0.34),
        (0.74, 0.18),
        (0.96, 0.28),
        (0.96, 0.04),
    ]
    canvas.polygon([(column + x, -row - y) for x, y in teeth], EARTH)


@SPEC.text
def text(p, s):
    rows = letters_of(p)
    return cells_text(rows, *cell_of(s.number, len(rows[0])))


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
