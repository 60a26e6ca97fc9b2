"""Taxi: pick up the passenger and drive them to their destination.

## Description
A taxi drives on a grid of 5 x 5 cells with walls. A passenger waits at one of four places and wants to go to another
(Dietterich, "Hierarchical reinforcement learning with the MAXQ value function decomposition", JAIR 2000). Gymnasium's
Taxi (1.3): its states, actions, rewards, masks and keywords. With `is_rainy` a drive not stopped by a wall goes in the
intended direction with probability `rainy_probability`, otherwise to the left or right of it, with equal probability.
With `fickle_passenger` 30 % of the passengers change their destination, once, when the taxi first moves with them.
Different: whether a passenger is fickle is a hidden part of the state, so `env.unwrapped.model` has the exact matrices
of this case too: 1000 states, pairs of which share the same observation.

## Action Space
down, up, right, left, pick up, drop off. The mask allows only actions that change something.

## Observation Space
One number: ((row 5 + column) 5 + passenger) 4 + destination. The passenger is at place 0 to 3 or in the taxi (4). With
`encoding="one_hot"` a one-hot vector.

## Rewards
`reward` is -1 for a step, 20 for bringing the passenger to the destination, -10 for picking up or dropping off where
that is impossible.

## Costs
None.

## Starting State
Any cell for the taxi, two different places for passenger and destination: 300 states, drawn uniformly.

## Episode End
Termination: the passenger is at the destination, a success. Truncation: 200 steps.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import discrete, drop_in, flag, json_option, view
from rlenvs.kits.boards.drawing import draw_letter, pressed_move, view_board
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import parse_probability, tabular
from rlenvs.single.tabular.grid import draw_flag, moved

SIDE = 5
PLACES = ((0, 0), (0, 4), (4, 0), (4, 3))
PASSENGER, YELLOW, GLASS, STREET, WALL = (150, 60, 170), (250, 196, 20), (190, 220, 236), (226, 226, 220), (60, 64, 70)
COLORS = ("red", "green", "yellow", "blue")
TINTS = ((240, 160, 140), (140, 208, 170), (246, 236, 130), (140, 184, 232))
IN_TAXI = len(PLACES)
# walls to the right of (row, column)
WALLS = frozenset({(0, 1), (1, 1), (3, 0), (4, 0), (3, 2), (4, 2)})
DOWN, UP, RIGHT, LEFT, PICK_UP, DROP_OFF = range(6)
STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))
TURNED = {DOWN: (RIGHT, LEFT), UP: (LEFT, RIGHT), RIGHT: (UP, DOWN), LEFT: (DOWN, UP)}  # to the left, to the right
STEP, DELIVERED, IMPOSSIBLE = -1.0, 20.0, -10.0
SHOWN = SIDE * SIDE * (IN_TAXI + 1) * len(PLACES)  # numbers that are observed; fickle states come behind them
KEYS = (("down", "s"), ("up", "w"), ("right", "d"), ("left", "a"), ("p", "space"), ("o", "return"))
Drive = tuple[float, int, int]  # probability, row, column


def number_of(row: int, column: int, passenger: int, destination: int) -> int:
    return ((row * SIDE + column) * (IN_TAXI + 1) + passenger) * len(PLACES) + destination


def parts_of(number: int) -> tuple[int, int, int, int]:
    """Row, column, passenger and destination of a number that is observed."""
    rest, destination = divmod(number, len(PLACES))
    cell, passenger = divmod(rest, IN_TAXI + 1)
    return (*divmod(cell, SIDE), passenger, destination)


def driven(row: int, column: int, action: int) -> tuple[int, int]:
    """The cell after a drive; walls and the border stop it."""
    if (action == RIGHT and (row, column) in WALLS) or (action == LEFT and (row, column - 1) in WALLS):
        return row, column
    return moved(row, column, STEPS[action], SIDE, SIDE)


def drives(values: Any, row: int, column: int, action: int) -> list[Drive]:
    """Where a drive may lead."""
    there = driven(row, column, action)
    if not values.is_rainy or there == (row, column):
        return [(1.0, *there)]
    aside = 0.5 * (1.0 - values.rainy_probability)
    found = [(values.rainy_probability, *there), *((aside, *driven(row, column, turn)) for turn in TURNED[action])]
    return [drive for drive in found if drive[0] > 0.0]


def add_drives(table: Table, values: Any, number: int, fickle: bool) -> None:
    """What the four drives do in a state."""
    row, column, passenger, destination = parts_of(number)
    here = number + SHOWN * fickle
    for action in range(len(STEPS)):
        table.allowed[here, action] = driven(row, column, action) != (row, column)
        for probability, r, c in drives(values, row, column, action):
            wanted, still = [destination], fickle
            if fickle and passenger == IN_TAXI and (r, c) != (row, column):
                wanted, still = [place for place in range(len(PLACES)) if place != destination], False
            for place in wanted:
                after = number_of(r, c, passenger, place) + SHOWN * still
                table.add(here, action, after, STEP, probability=probability / len(wanted))


def add_stops(table: Table, number: int, fickle: bool) -> None:
    """What picking up and dropping off do in a state."""
    row, column, passenger, destination = parts_of(number)
    here, at = number + SHOWN * fickle, (row, column)
    waits = passenger < IN_TAXI and at == PLACES[passenger]
    table.allowed[here, PICK_UP] = waits
    after = number_of(row, column, IN_TAXI if waits else passenger, destination) + SHOWN * fickle
    table.add(here, PICK_UP, after, STEP if waits else IMPOSSIBLE)
    can_leave = passenger == IN_TAXI and at in PLACES
    table.allowed[here, DROP_OFF] = can_leave
    arrived = can_leave and at == PLACES[destination]
    leaves = PLACES.index(at) if can_leave else passenger
    reward = DELIVERED if arrived else STEP if can_leave else IMPOSSIBLE
    after = number_of(row, column, leaves, destination) + SHOWN * fickle
    table.add(here, DROP_OFF, after, reward, end=arrived, success=arrived)


def build(values: Any) -> Table:
    kinds = {False: 1.0 - values.fickle_probability, True: values.fickle_probability}
    if not values.fickle_passenger:
        kinds = {False: 1.0}
    table = Table(SHOWN * len(kinds), 6)
    for fickle, part in kinds.items():
        for number in range(SHOWN):
            add_drives(table, values, number, fickle)
            add_stops(table, number, fickle)
            table.shown[number + SHOWN * fickle] = number
            _, _, passenger, destination = parts_of(number)
            if passenger != IN_TAXI and passenger != destination and part > 0.0:
                table.starts[number + SHOWN * fickle] = part
    return table


def decoded(number: Any) -> tuple[int, int, int, int]:
    """Row, column, passenger and destination of a number that is observed, which is in range."""
    if not 0 <= number < SHOWN:
        raise ValueError(f"a state is 0 ... {SHOWN - 1}, not {number}")
    return parts_of(int(number))


def written() -> list[str]:
    """The town as Gymnasium writes it: a wall is |, an open side :, places are the first letters of their colors."""
    letters = {place: color[0].upper() for place, color in zip(PLACES, COLORS, strict=True)}
    frame, rows = f"+{'-' * (2 * SIDE - 1)}+", []
    for r in range(SIDE):
        cells = (letters.get((r, c), " ") + ("|" if (r, c) in WALLS or c == SIDE - 1 else ":") for c in range(SIDE))
        rows.append("|" + "".join(cells))
    return [frame, *rows, frame]


def masks(setup: Any, p: Any, s: Any) -> Any:
    return lambda state: np.array([int(p.allowed[state, 0]) >> action & 1 for action in range(6)], np.int8)


SPEC = tabular(
    "Taxi-v0",
    build,
    (IMPOSSIBLE, DELIVERED),
    doc=__doc__,
    source="Gymnasium Taxi (Towers et al., arXiv 2407.17032); Dietterich, JAIR 13 (2000)",
    options={
        "is_rainy": flag(False, "whether drives may drift to a side"),
        "fickle_passenger": flag(False, "whether some passengers change their destination"),
        "rainy_probability": json_option(
            0.8, parse_probability, "probability that a drive in the rain goes in the intended direction"
        ),
        "fickle_probability": json_option(
            0.3, parse_probability, "fraction of the passengers who change their destination, with fickle_passenger"
        ),
    },
    action=discrete("down", "up", "right", "left", "pick up", "drop off"),
    drop_in=drop_in(
        views={
            "desc": view(lambda setup, p, s: np.asarray(written(), "c"), "the town in letters, a byte for each"),
            "locs": view(lambda setup, p, s: list(PLACES), "row and column of each place"),
            "encode": view(lambda setup, p, s: number_of, "row, column, passenger, destination to the number"),
            "decode": view(lambda setup, p, s: decoded, "the number to row, column, passenger, destination"),
            "action_mask": view(masks, "function of a state that gives the mask of its actions"),
        }
    ),
    reward_threshold=8.0,
    horizon=200,
    fps=4,
)


@SPEC.draw
def draw(canvas, p, s):
    row, column, passenger, destination = parts_of(int(p.shown[s.number]))
    canvas.legend((YELLOW, "taxi"), (PASSENGER, "passenger", "disc"), ("black", "destination: flag"), (WALL, "wall"))
    pixels = view_board(canvas, SIDE, SIDE)
    canvas.rectangle(0.0, -SIDE, SIDE, 0.0, (206, 206, 200))
    canvas.rectangle(-0.05, -SIDE - 0.05, SIDE + 0.05, 0.05, WALL, 5.0)
    for cell in range(SIDE * SIDE):
        r, c = divmod(cell, SIDE)
        canvas.rectangle(c + 0.02, -r - 0.98, c + 0.98, -r - 0.02, STREET)
    for (r, c), color, tint in zip(PLACES, COLORS, TINTS, strict=True):
        canvas.rectangle(c + 0.04, -r - 0.96, c + 0.96, -r - 0.04, tint)
        draw_letter(canvas, r - 0.3, c - 0.32, color[0].upper(), 0.22 * pixels)
    r, c = PLACES[destination]
    draw_flag(canvas, r - 0.26, c + 0.3, "black", 0.55)
    for r, c in WALLS:
        canvas.line([(c + 1, -r), (c + 1, -r - 1)], WALL, 7.0)
    if passenger != IN_TAXI:
        r, c = PLACES[passenger]
        draw_person(canvas, c + 0.24, -r - 0.66)
    draw_taxi(canvas, column + 0.56, -row - 0.6, passenger == IN_TAXI)
    told = "in the taxi" if passenger == IN_TAXI else f"waits at {COLORS[passenger]}"
    canvas.caption(f"passenger {told}, destination {COLORS[destination]}")


def draw_person(canvas: Any, x: float, y: float) -> None:
    """The passenger, who waits at the left of the cell."""
    canvas.circle((x, y + 0.1), 0.1, PASSENGER)
    canvas.polygon([(x - 0.13, y - 0.26), (x + 0.13, y - 0.26), (x + 0.08, y), (x - 0.08, y)], PASSENGER)


def draw_taxi(canvas: Any, x: float, y: float, taken: bool) -> None:
    """The taxi from its side; a passenger shows in its window."""
    roof = [(x - 0.2, y + 0.02), (x - 0.12, y + 0.2), (x + 0.14, y + 0.2), (x + 0.24, y + 0.02)]
    canvas.polygon(roof, YELLOW)
    canvas.polygon([(x - 0.14, y + 0.03), (x - 0.08, y + 0.16), (x + 0.11, y + 0.16), (x + 0.17, y + 0.03)], GLASS)
    if taken:
        canvas.circle((x, y + 0.09), 0.075, PASSENGER)
    canvas.rectangle(x - 0.34, y - 0.16, x + 0.36, y + 0.04, YELLOW, rounded=0.05)
    for square in range(7):
        canvas.rectangle(x - 0.31 + 0.095 * square, y - 0.06, x - 0.265 + 0.095 * square, y - 0.02, "black")
    canvas.rectangle(x - 0.06, y + 0.2, x + 0.08, y + 0.26, "black")
    for wheel in (-0.2, 0.22):
        canvas.circle((x + wheel, y - 0.16), 0.09, "black")
        canvas.circle((x + wheel, y - 0.16), 0.04, "grey")


@SPEC.text
def text(p, s):
    row, column, passenger, destination = parts_of(int(p.shown[s.number]))
    lines = []
    for r in range(SIDE):
        cells = ["T" if (r, c) == (row, column) else "." for c in range(SIDE)]
        for place, (pr, pc) in enumerate(PLACES):
            if pr == r and (pr, pc) != (row, column):
                cells[pc] = "P" if place == passenger else "D" if place == destination else "o"
        lines.append("".join(cell + ("|" if (r, c) in WALLS else " ") for c, cell in enumerate(cells)))
    return "\n".join(lines)


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
