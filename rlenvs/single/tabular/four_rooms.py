"""Four rooms: reach the goal through narrow doorways.

## Description
Four rooms joined by four narrow doorways, the standard grid of research on options and transfer (Sutton, Precup and
Singh, "Between MDPs and semi-MDPs", Artificial Intelligence 1999). A step goes in the intended direction with
probability `success_rate`, otherwise in one of the three other directions, drawn uniformly. Walls and the border block.

## Action Space
left, down, right, up.

## Observation Space
The number of the free cell, 0 to 103, row by row from the upper left. With `encoding="one_hot"` a one-hot vector.

## Rewards
`reward` is 1 for reaching the goal.

## Costs
None.

## Starting State
A uniformly drawn free cell other than the goal, or the cell `start`.

## Episode End
Termination: at the goal, a success. Truncation: 500 steps.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum.

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import discrete, integer, json_option
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import letters_of, parse_probability, tabular
from rlenvs.single.tabular.grid import KEYS, STEPS, cells_text, draw_cells, draw_flag, draw_walker

WALL, FREE, GOAL = "#.G"
MAP = [
    "#############",
    "#.....#.....#",
    "#.....#.....#",
    "#...........#",
    "#.....#.....#",
    "#.....#.....#",
    "##.####.....#",
    "#.....###.###",
    "#.....#.....#",
    "#.....#.....#",
    "#...........#",
    "#.....#.....#",
    "#############",
]
CELLS = [(r, c) for r, row in enumerate(MAP) for c, letter in enumerate(row) if letter == FREE]
NUMBER = {cell: number for number, cell in enumerate(CELLS)}
EASTERN_DOORWAY = NUMBER[(7, 9)]  # the goal G1 of the paper
COLORS = {WALL: (84, 92, 104), FREE: (230, 232, 226), GOAL: (120, 190, 120)}


def build(values: Any) -> Table:
    table = Table(len(CELLS), len(STEPS))
    goal = CELLS[values.goal]
    table.map = ["".join(GOAL if (r, c) == goal else each for c, each in enumerate(row)) for r, row in enumerate(MAP)]
    aside = (1.0 - values.success_rate) / 3.0
    for state, (row, column) in enumerate(CELLS):
        if state == values.goal:
            table.stay(state)
            continue
        if values.start in (-1, state):
            table.starts[state] = 1.0
        for action in range(len(STEPS)):
            for way, (down, right) in enumerate(STEPS):
                probability = values.success_rate if way == action else aside
                if probability > 0.0:
                    after = NUMBER.get((row + down, column + right), state)
                    won = after == values.goal
                    table.add(state, action, after, float(won), probability=probability, end=won, success=won)
    return table


SPEC = tabular(
    "FourRooms-v0",
    build,
    (0.0, 1.0),
    doc=__doc__,
    source="Sutton, Precup and Singh, Artificial Intelligence 112 (1999)",
    options={
        "success_rate": json_option(
            2.0 / 3.0, parse_probability, "probability that a step goes in the intended direction"
        ),
        "goal": integer(EASTERN_DOORWAY, 0, len(CELLS) - 1, "number of the goal's cell"),
        "start": integer(-1, -1, len(CELLS) - 1, "number of the cell in which episodes start; -1 for a random one"),
    },
    action=discrete("left", "down", "right", "up"),
    horizon=500,
    fps=8,
)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend((COLORS[WALL], "wall"), (COLORS[GOAL], "goal"), ("blue", "walker", "disc"))
    rows = letters_of(p)
    draw_cells(canvas, rows, COLORS)
    draw_flag(canvas, *next((r, line.index(GOAL)) for r, line in enumerate(rows) if GOAL in line))
    draw_walker(canvas, *CELLS[int(s.number)])
    canvas.caption(f"state {s.number}")


@SPEC.text
def text(p, s):
    return cells_text(letters_of(p), *CELLS[int(s.number)])


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
