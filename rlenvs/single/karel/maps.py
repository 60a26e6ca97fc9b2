"""The grids of the tasks, as data: walls, places where Karel may start, and what the published tasks fix."""

from typing import Any

import numpy as np

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


def size_of(values: Any) -> tuple[int, int]:
    """Rows and columns: of the house always its own; for the snake so many that its tail has room, and an even number
    of columns, which gives a closed path through all cells."""
    if values.task == "clean_house":
        return HOUSE_SIZE
    if values.task == "snake":
        return max(values.rows, 7), max(values.columns + values.columns % 2, 8)
    return values.rows, values.columns


def stairs(rows: int, columns: int) -> list[tuple[int, int]]:
    """The steps, from the lowest."""
    return [(rows - 2 - k, 1 + k) for k in range(min(rows, columns) - 2)]


def wall_of(values: Any) -> np.ndarray:
    """The walls at the start, uint8 (rows, columns); all of it, for a maze."""
    rows, columns = size_of(values)
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
    path = np.zeros(size_of(values), np.uint8)
    if values.task == "stair_climber":
        for row, column in stairs(*size_of(values)):
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
    rows, columns = size_of(values)
    low, right = rows - 2, columns - 2
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
    return stairs(*size_of(values)) if values.task == "stair_climber" else []


def meals_of(values: Any) -> list[int]:
    """The cells of the snake's meals in their order; none where they are drawn."""
    published = values.task == "snake" and not values.random_start and size_of(values) == (USUAL, USUAL)
    return [row * USUAL + column for row, column in MEALS_AT] if published else []


def guide_of(values: Any) -> str:
    """The expert's program: a given one, or the task's."""
    return values.expert_program or guide_text(values.task, *size_of(values), values.random_start)


def sizes(values: Any) -> dict[str, int]:
    rows, columns = size_of(values)
    program = values.actions == "program"
    guide = len(guide_of(values).split())
    return {
        "height": rows,
        "width": columns,
        "cells": rows * columns,
        "seen_rows": rows if values.observation == "grid" else 0,
        "seen_columns": columns if values.observation == "grid" else 0,
        "percepts": 5 if values.observation == "perceptions" else 0,
        "guide_tokens": guide,
        "program_tokens": values.program_length if program else 0,
        "run_tokens": values.program_length if program else guide,
        "starts": len(starts_of(values)),
        "places": len(places_of(values)),
        "meals": len(meals_of(values)),
        "body": LONGEST + 2 if values.task == "snake" else 0,
    }
