"""The grids of the tasks, as data: walls, places where Karel may start, and what the published tasks fix."""

from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.karel.programs import guide_text
from rlenvs.single.karel.rules import EAST, LONGEST, NORTH, SOUTH, WEST

LITTER = 10  # markers in the house
HOUSE = (  # LEAPS' map: "." is floor
    "######################",
    "#..##########.#......#",
    "#..#..........#####.##",
    "##.#................##",
    "##........#.........##",
    "###.#.###.#..###.#.###",
    "#...#...#....#...#..##",
    "#...#...#....#...#...#",
    "#...#...#....#...##..#",
    "#...#...##..##...##.##",
    "#...#...##..##...#..##",
    "#...#...##..##...#..##",
    "#...#...##..##...#..##",
    "######################",
)
HOUSE_SIZE = len(HOUSE), len(HOUSE[0])
HOUSE_START = (1, 13, SOUTH)
TWO_MARKERS = (2, 12)  # in the house, next to the start
FREE_OF_LITTER = ((1, 13), (2, 12), (3, 10), (4, 11), (5, 11), (6, 10))
LITTERED_COLUMNS = 13  # the part of the house in which markers lie
# the order in which HPRL's snake finds its meals on 8 x 8 cells
MEALS_AT = (
    *((6, 6), (6, 1), (1, 1), (2, 2), (2, 5), (5, 5), (5, 2), (3, 3), (5, 3), (4, 4), (6, 4), (3, 2)),
    *((1, 4), (6, 2), (2, 6), (4, 1), (1, 3), (2, 1), (3, 6), (4, 3), (5, 1), (2, 4), (5, 4), (1, 5)),
    *((3, 5), (4, 6), (5, 6), (3, 1), (4, 2), (6, 5), (2, 3), (1, 2), (4, 5), (3, 4), (6, 3)),
)
USUAL = 8  # rows and columns


def stairs(rows: int, columns: int) -> list[tuple[int, int]]:
    """The steps, from the lowest."""
    return [(rows - 2 - k, 1 + k) for k in range(min(rows, columns) - 2)]


def wall_of(values: Any) -> np.ndarray:
    """The walls at the start, uint8 (rows, columns); all of it, for a maze."""
    rows, columns = values.rows, values.columns
    wall = np.zeros((rows, columns), np.uint8)
    wall[[0, -1]] = wall[:, [0, -1]] = 1
    if values.task == "maze":
        wall[:] = 1
    elif values.task == "clean_house":
        wall[:] = [[cell == "#" for cell in line] for line in HOUSE]
    elif values.task == "door_key":
        wall[:, columns // 2] = 1
    elif values.task == "stair_climber":
        for row, column in stairs(rows, columns):
            wall[row, column + 1] = wall[row + 1, column + 1] = 1
    return wall


def path_of(values: Any) -> np.ndarray:
    """The steps and the cells above them, uint8 (rows, columns)."""
    path = np.zeros((values.rows, values.columns), np.uint8)
    if values.task == "stair_climber":
        for row, column in stairs(values.rows, values.columns):
            path[row, column] = 1
            path[max(row - 1, 1), column] = 1
    return path


def litter_places() -> list[tuple[int, int]]:
    """Where markers may lie in the house: beside a wall."""
    rows = len(HOUSE)
    found = set()
    for row in range(rows):
        for column in range(LITTERED_COLUMNS):
            if HOUSE[row][column] == "#":
                near = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
                found |= {
                    (r, c) for r, c in near if 0 < r < rows - 1 and 0 < c < LITTERED_COLUMNS and HOUSE[r][c] == "."
                }
    return sorted(found - set(FREE_OF_LITTER))


def starts_of(values: Any) -> list[tuple[int, int, int]]:
    """Rows, columns and directions in which Karel may start; none where they are drawn otherwise."""
    low, right = values.rows - 2, values.columns - 2
    if values.task == "four_corners":
        return [
            *((low - 1, right, way) for way in (NORTH, SOUTH)),
            *((low, 2, way) for way in (EAST, WEST)),
            *((2, 1, way) for way in (SOUTH, NORTH)),
            *((1, right - 1, way) for way in (WEST, EAST)),
        ]
    if values.task == "clean_house":
        return [HOUSE_START]
    if values.task == "snake":
        return [(1, 3, EAST)]
    return [(low, 1, EAST)]


def places_of(values: Any) -> list[tuple[int, int]]:
    """Cells among which something is drawn: markers of the house, or steps of the stairs."""
    if values.task == "clean_house":
        return litter_places()
    return stairs(values.rows, values.columns) if values.task == "stair_climber" else []


def meals_of(values: Any) -> list[int]:
    """The cells of the snake's meals in their order; none where they are drawn."""
    published = values.task == "snake" and not values.random_start and (values.rows, values.columns) == (USUAL, USUAL)
    return [row * values.columns + column for row, column in MEALS_AT] if published else []


def check(values: Any) -> None:
    """ParameterError where a task cannot be done on so many rows and columns."""
    given = f'rows={values.rows} and columns={values.columns} with task="{values.task}"'
    if values.task == "clean_house" and (values.rows, values.columns) != HOUSE_SIZE:
        raise ParameterError(f"{given}: the house has rows={HOUSE_SIZE[0]} and columns={HOUSE_SIZE[1]}")
    if values.task == "snake":
        room = (values.rows - 2) * (values.columns - 2)
        if room < LONGEST + 4 or values.columns % 2:
            raise ParameterError(
                f"{given}: the snake needs {LONGEST + 4} cells inside the walls, here {room}, and an even number of "
                "columns, for a closed path through all cells"
            )


def sizes(values: Any) -> dict[str, int]:
    program = values.actions == "program"
    guide = len(guide_text(values).split())
    return {
        "height": values.rows,
        "width": values.columns,
        "cells": values.rows * values.columns,
        "seen_rows": values.rows if values.observation == "grid" else 0,
        "seen_columns": values.columns if values.observation == "grid" else 0,
        "percepts": 5 if values.observation == "perceptions" else 0,
        "guide_tokens": guide,
        "program_tokens": values.program_length if program else 0,
        "run_tokens": values.program_length if program else guide,
        "starts": len(starts_of(values)),
        "places": len(places_of(values)),
        "meals": len(meals_of(values)),
        "body": LONGEST + 2 if values.task == "snake" else 0,
    }
