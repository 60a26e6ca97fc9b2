"""Frozen lake: cross the ice to the goal without falling through.

## Description
A walker crosses a frozen lake. The ice is slippery: a step goes in the intended direction with probability
`success_rate`, otherwise to one of its two sides, drawn uniformly. Gymnasium's FrozenLake (toy text, 1.3): its maps,
numbers of states and actions, rewards and keywords, so code and tables carry over. Different: random maps are chosen by
a separate number (`map_name="random"`, where the original has None) and do not change between episodes; a map without a
path from S to G is refused; `is_success` tells the goal from a hole; `env.unwrapped.model` has the exact matrices.

## Action Space
left, down, right, up. At the border a step has no effect.

## Observation Space
The number of the cell, row by row from the upper left. With `encoding="one_hot"` a one-hot vector.

## Rewards
`reward` is 1 for reaching the goal, else 0; or the three numbers of `reward_schedule`: for goal, hole and ice.

## Costs
None.

## Starting State
The cell S; if a map has several, one of them, drawn uniformly.

## Episode End
Termination: on the goal, a success, or in a hole. Truncation: 100 steps, 200 on a map of more than 5 rows.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum within the time limit.

## Version History
v0: first version.
"""

from collections import deque
from typing import Any

import numpy as np

from rlenvs.core import choice, discrete, drop_in, flag, integer, json_option, view
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.drawing import draw_letter, pressed_move
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import letters_of, parse_probability, tabular
from rlenvs.single.tabular.grid import (
    KEYS,
    STEPS,
    cell_of,
    cells_text,
    draw_cells,
    draw_flag,
    draw_hole,
    draw_walker,
    moved,
)

START, ICE, HOLE, GOAL = "SFHG"
MAPS = {
    "4x4": ["SFFF", "FHFH", "FFFH", "HFFG"],
    "8x8": ["SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"],
}
COLORS = {START: (176, 206, 228), ICE: (222, 240, 250), HOLE: (24, 60, 104), GOAL: (120, 190, 120)}
RIM = (150, 186, 208)
LONGEST_SIDE, LARGEST_REWARD = 64, 1000.0
MOST_MAPS = 1000  # drawn until one has a way


def leads_to_goal(rows: list[str]) -> bool:
    """Whether a way over the ice leads from a start to a goal."""
    cells = {(r, c): letter for r, line in enumerate(rows) for c, letter in enumerate(line)}
    seen = {cell for cell, letter in cells.items() if letter == START}
    queue = deque(seen)
    while queue:
        cell = queue.popleft()
        if cells[cell] == GOAL:
            return True
        for step in STEPS:
            beside = moved(*cell, step, len(rows), len(rows[0]))
            if beside not in seen and cells[beside] != HOLE:
                seen.add(beside)
                queue.append(beside)
    return False


def random_map(size: int, frozen: float, number: int) -> list[str]:
    """The map of this number: size x size cells, each ice with probability `frozen`, drawn until the goal in the lower
    right corner can be reached from the start in the upper left one."""
    generator = np.random.default_rng([number, size])
    for _ in range(MOST_MAPS):
        rows = [[ICE if ice else HOLE for ice in line] for line in generator.random((size, size)) < frozen]
        rows[0][0], rows[-1][-1] = START, GOAL
        found = ["".join(row) for row in rows]
        if leads_to_goal(found):
            return found
    raise ParameterError(
        f"frozen={frozen:g}: none of {MOST_MAPS} random maps of {size} x {size} cells has a path to the goal; use a "
        f"larger value"
    )


def parse_desc(given: Any) -> list[str] | None:
    """Rows of letters as a list; ValueError with the row and the reason."""
    if given is None:
        return None
    if isinstance(given, str) or not all(isinstance(row, str) for row in given):
        raise ValueError(f"needed: a list of rows like {MAPS['4x4']}, not {given!r}")
    rows = list(given)
    if not 1 <= len(rows) <= LONGEST_SIDE or not 1 <= len(rows[0]) <= LONGEST_SIDE:
        raise ValueError(f"a map has 1 to {LONGEST_SIDE} rows of 1 to {LONGEST_SIDE} cells")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]) or set(row) - set(COLORS):
            raise ValueError(
                f"row {number} is {row!r}; needed: {len(rows[0])} letters of S (start), F (ice), H (hole), G (goal)"
            )
    if not leads_to_goal(rows):
        raise ValueError("there is no path over the ice from a start S to a goal G")
    return rows


def parse_rewards(given: Any) -> list[float]:
    """What goal, hole and ice are worth."""
    rewards = [float(number) for number in given]
    if len(rewards) != 3 or not np.isfinite(rewards).all() or max(map(abs, rewards)) > LARGEST_REWARD:
        raise ValueError(
            f"needed: rewards for goal, hole and ice, three numbers up to {LARGEST_REWARD:g}, not {given!r}"
        )
    return rewards


def lake_of(values: Any) -> list[str]:
    """The rows of the map."""
    if values.desc is not None:
        return values.desc
    if values.map_name == "random":
        return random_map(values.map_size, values.frozen, values.map_seed)
    return MAPS[values.map_name]


def build(values: Any) -> Table:
    rows = lake_of(values)
    height, width = len(rows), len(rows[0])
    table = Table(height * width, len(STEPS))
    table.map = rows
    side = 0.5 * (1.0 - values.success_rate)
    goal, hole, ice = values.reward_schedule
    for state in range(table.states):
        row, column = cell_of(state, width)
        if rows[row][column] in (HOLE, GOAL):
            table.stay(state)
            continue
        if rows[row][column] == START:
            table.starts[state] = 1.0
        for action in range(4):
            ways = ((-1, side), (0, values.success_rate), (1, side)) if values.is_slippery else ((0, 1.0),)
            for turn, probability in ways:
                if probability > 0.0:
                    r, c = moved(row, column, STEPS[(action + turn) % 4], height, width)
                    letter = rows[r][c]
                    reward = goal if letter == GOAL else hole if letter == HOLE else ice
                    end, won = letter in (HOLE, GOAL), letter == GOAL
                    table.add(state, action, r * width + c, reward, probability=probability, end=end, success=won)
    return table


SPEC = tabular(
    "FrozenLake-v0",
    build,
    (-LARGEST_REWARD, LARGEST_REWARD),
    doc=__doc__,
    source="Gymnasium FrozenLake (Towers et al., arXiv 2407.17032)",
    options={
        "map_name": choice("4x4", "8x8", "random", doc="the map"),
        "desc": json_option(None, parse_desc, "a custom map: rows of S (start), F (ice), H (hole) and G (goal)"),
        "is_slippery": flag(True, "whether steps may slip to a side"),
        "success_rate": json_option(
            1.0 / 3.0, parse_probability, "probability that a step on slippery ice goes in the intended direction"
        ),
        "reward_schedule": json_option([1.0, 0.0, 0.0], parse_rewards, "rewards for goal, hole and ice"),
        "map_seed": integer(0, 0, 2**31 - 1, 'number of the map, for map_name="random"'),
        "map_size": integer(8, 2, LONGEST_SIDE, 'rows and columns, for map_name="random"'),
        "frozen": json_option(0.8, parse_probability, 'fraction of the cells that is ice, for map_name="random"'),
    },
    action=discrete("left", "down", "right", "up"),
    drop_in=drop_in(
        views={
            "desc": view(lambda setup, p, s: np.asarray(lake_of(setup.values), "c"), "the map, a byte for each cell"),
            "nrow": view(lambda setup, p, s: len(lake_of(setup.values)), "rows of the map"),
            "ncol": view(lambda setup, p, s: len(lake_of(setup.values)[0]), "columns of the map"),
        }
    ),
    reward_threshold=0.7,
    horizon=lambda values: 200 if len(lake_of(values)) > 5 else 100,
    fps=4,
    same_start=True,
)

LARGE = SPEC.member(
    "FrozenLake8x8-v0",
    "Frozen lake on the 8 x 8 map: cross the ice to the goal without falling through.",
    map_name="8x8",
    reward_threshold=0.85,
)


@SPEC.draw
def draw(canvas, p, s):
    rows = letters_of(p)
    canvas.legend(
        ("blue", "walker", "disc"),
        (COLORS[START], "start"),
        (COLORS[ICE], "ice"),
        (COLORS[HOLE], "hole", "disc"),
        (COLORS[GOAL], "goal"),
    )
    draw_cells(canvas, rows, {**COLORS, HOLE: COLORS[ICE]})
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            if letter == HOLE:
                draw_hole(canvas, r, c, COLORS[HOLE], RIM)
            elif letter == GOAL:
                draw_flag(canvas, r, c)
            elif letter == START:
                draw_letter(canvas, r, c, "S", 0.3 * canvas.scene[0] / max(len(rows), len(line)), RIM)
    row, column = cell_of(s.number, len(rows[0]))
    draw_walker(canvas, row, column)
    canvas.caption({GOAL: "at the goal", HOLE: "in a hole"}.get(rows[row][column], f"state {s.number}"))


@SPEC.text
def text(p, s):
    rows = letters_of(p)
    return cells_text(rows, *cell_of(s.number, len(rows[0])))


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
