"""Boards: parsing custom ones, sizes and tables that follow from the options, and small kernels on cells.

A board is flat: cell = row * width + column. Random boards may be smaller than the arrays; cells beyond them, to the
right and below, are mountains.
"""

from typing import Any

import numpy as np

from rlenvs.core import kernel
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.changes import note_change

SMALLEST, LARGEST, MOST_PLAYERS = 4, 64, 8
PLAIN, MOUNTAIN, CITY, GENERAL = 0, 1, 2, 3
GARRISON = 40  # army of a neutral city written as 0
CITIES = "0123456789x"
GENERALS = "ABCDEFGH"
FAR = 30000  # more than any walking distance
SHOWN = 16  # visibility of a board without fog; more than the nine cells from which a cell can be seen


def parse_board(value: Any) -> tuple[str, ...] | None:
    """The rows of a board as strings; None for a random one.

    Args:
        value: None, a string with a line per row, or a list of rows. "." is open ground, "#" a mountain, "A" to "H" the
            generals of the players, a digit a neutral city with an army of 40 + digit, "x" one of 50.

    Raises:
        ValueError: an empty board, rows of different lengths, unknown characters, a board that is too small or too
            large, the same general twice, or one left out.
    """
    if value is None:
        return None
    lines = value.strip().splitlines() if isinstance(value, str) else value
    rows = [_row(line) for line in lines]
    if not rows or not rows[0]:
        raise ValueError("the board is empty; give a line of '.', '#', digits and capitals for each row")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"row {number} has {len(row)} cells and row 0 has {len(rows[0])}; make all rows equally long"
            )
        unknown = set(row) - set(".#" + CITIES + GENERALS)
        if unknown:
            raise ValueError(
                f"row {number} is {row!r}; {sorted(unknown)[0]!r} is not one of '.' (open), '#' (mountain), "
                "0 ... 9 and x (cities), A ... H (generals)"
            )
    shape = f"{len(rows)} x {len(rows[0])}"
    if min(len(rows), len(rows[0])) < SMALLEST:
        raise ValueError(f"the board has {shape} cells; at least {SMALLEST} x {SMALLEST} are needed")
    if max(len(rows), len(rows[0])) > LARGEST:
        raise ValueError(f"the board has {shape} cells; at most {LARGEST} x {LARGEST} are allowed")
    _check_generals("".join(rows))
    return tuple(rows)


def _row(line: Any) -> str:
    if not isinstance(line, str):
        raise ValueError(f"a row is {line!r}; give strings, or one string with a line per row")
    return line.strip()


def _check_generals(cells: str) -> None:
    present = [letter for letter in GENERALS if letter in cells]
    for letter in present:
        if cells.count(letter) > 1:
            raise ValueError(
                f"general {letter} is on the board {cells.count(letter)} times; it must be there exactly once"
            )
    needed = GENERALS[: max(len(present), 2)]
    for letter in needed:
        if letter not in cells:
            raise ValueError(f"general {letter} is missing; {len(needed)} players need {', '.join(needed)}, each once")


def sides_of(values: Any) -> list[int]:
    """The side of each player: its team, or itself."""
    if not values.teams:
        return list(range(values.players))
    return [k * values.teams // values.players for k in range(values.players)]


def board_sizes(values: Any) -> dict[str, int]:
    """Sizes of arrays; a given board overrules height and width."""
    board = values.board
    height, width = (len(board), len(board[0])) if board else (values.height, values.width)
    return {
        "agents": values.players if values.opponent == "self" else 1,
        "players": values.players,
        "sides": values.teams or values.players,
        "height": height,
        "width": width,
        "cells": height * width,
        "channels": 15 if values.teams else 14,
    }


def choices_of(values: Any) -> int:
    """The number of actions: pass, eight moves from every cell, and a building site on every cell."""
    return 1 + (9 if values.build else 8) * board_sizes(values)["cells"]


def choice_names(values: Any) -> list[str]:
    """Of the choices, in their order."""
    sizes, ways = board_sizes(values), ("up", "down", "left", "right")
    cells = [f"row {i // sizes['width'] + 1} column {i % sizes['width'] + 1}" for i in range(sizes["cells"])]
    sent = [f"{share} {way} from {cell}" for share in ("all", "half") for way in ways for cell in cells]
    return ["pass", *sent, *(f"build at {cell}" for cell in cells if values.build)]


def board_data(values: Any) -> dict[str, Any]:
    """What stands on a given board, who is on which side, and the neighbors of every cell.

    Raises:
        ParameterError: teams that cannot be equally large, another number of generals than players, generals that
            cannot reach each other, or a size variation that leaves too small a board.
    """
    _check_players(values)
    sizes = board_sizes(values)
    height, width, cells = sizes["height"], sizes["width"], sizes["cells"]
    terrain, army = np.zeros(cells, np.uint8), np.zeros(cells, np.int32)
    homes = np.zeros(values.players, np.int32)
    if values.board:
        text = "".join(values.board)
        _check_reach(values, text, width)
        for cell, letter in enumerate(text):
            terrain[cell] = MOUNTAIN if letter == "#" else CITY if letter in CITIES else PLAIN
            army[cell] = GARRISON + CITIES.index(letter) if letter in CITIES else 0
            if letter in GENERALS:
                homes[GENERALS.index(letter)] = cell
    return {
        "rows": height,
        "columns": width,
        "given": values.board is not None,
        "given_terrain": terrain,
        "given_army": army,
        "given_home": homes,
        "side": np.array(sides_of(values), np.int32),
        "near": neighbours(height, width),
    }


def _check_players(values: Any) -> None:
    if values.teams and (values.teams == 1 or values.players % values.teams):
        raise ParameterError(
            f"teams={values.teams} does not divide players={values.players}: give 0 (no teams), or a number of at "
            f"least 2 that divides the players"
        )
    if not values.board and min(values.height, values.width) - values.vary < SMALLEST:
        raise ParameterError(
            f"vary={values.vary} allows boards smaller than {SMALLEST} x {SMALLEST}; give at most "
            f"{min(values.height, values.width) - SMALLEST}"
        )
    if values.board:
        count = sum(letter in GENERALS for row in values.board for letter in row)
        if count != values.players:
            raise ParameterError(
                f"the board has {count} generals and players={values.players}; give players={count}, or another board"
            )


def _check_reach(values: Any, text: str, width: int) -> None:
    near = neighbours(len(text) // width, width)
    reached, waiting = {text.index("A")}, [text.index("A")]
    while waiting:
        for cell in near[waiting.pop()].tolist():
            if cell >= 0 and cell not in reached and text[cell] != "#":
                reached.add(cell)
                waiting.append(cell)
    for letter in GENERALS[: values.players]:
        if text.index(letter) not in reached:
            raise ParameterError(f"mountains separate general {letter} from general A; open a path between them")


def neighbours(height: int, width: int) -> np.ndarray:
    """The cells above, below, left and right of every cell, int32 (cells, 4); -1 beyond the edge."""
    cells = np.arange(height * width, dtype=np.int32).reshape(height, width)
    padded = np.pad(cells, 1, constant_values=-1)
    sides = padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]
    return np.stack(sides, axis=-1).reshape(-1, 4)


@kernel
def add_sight(p, s, side, cell, amount):
    """A side sees the nine cells around `cell` once more (1) or once less (-1)."""
    row = cell // p.columns
    column = cell - row * p.columns
    for i in range(max(row - 1, 0), min(row + 2, p.rows)):
        for j in range(max(column - 1, 0), min(column + 2, p.columns)):
            beside = i * p.columns + j
            s.seen[side, beside] += amount
            note_change(s, beside)


@kernel
def set_owner(p, s, cell, new):
    """Give a cell to player new - 1, or to nobody (0), and keep all that is counted by owner."""
    old = s.owner[cell]
    if old == new:
        return
    city = 1 if s.terrain[cell] == CITY else 0
    if old > 0:
        s.land[old - 1] -= 1
        s.troops[old - 1] -= s.army[cell]
        s.cities[old - 1] -= city
        add_sight(p, s, p.side[old - 1], cell, -1)
    if new > 0:
        s.land[new - 1] += 1
        s.troops[new - 1] += s.army[cell]
        s.cities[new - 1] += city
        add_sight(p, s, p.side[new - 1], cell, 1)
    note_change(s, cell)
    s.owner[cell] = new
    s.camp[cell] = p.side[new - 1] + 1 if new > 0 else 0


@kernel
def measure(p, s, start, through_cities, most):
    """Fill s.field with walking distances from a cell, FAR where there is no way of at most `most` steps. The cells
    that were reached lie in s.queue, nearest first; returns how many."""
    field, queue, terrain, beside = s.field, s.queue, s.terrain, p.near
    for cell in range(field.size):
        field[cell] = FAR
    field[start] = 0
    queue[0] = start
    head, count = 0, 1
    while head < count:
        cell = queue[head]
        head += 1
        if field[cell] == most:
            break
        for d in range(4):
            near = beside[cell, d]
            if near < 0 or field[near] != FAR or terrain[near] == MOUNTAIN:
                continue
            if terrain[near] == CITY and not through_cities:
                continue
            field[near] = field[cell] + 1
            queue[count] = near
            count += 1
    return count
