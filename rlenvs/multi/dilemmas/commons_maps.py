"""Maps of Harvest and Cleanup: by rule, or from a text. A map is padded by what agents see of its surroundings."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.letters import check_cells, rows_of

VIEW = 15  # cells, in both directions
PAD = VIEW // 2
LARGEST, MOST_AGENTS = 100, 50
EMPTY, WALL, APPLE, RIVER, WASTE, STREAM, BEYOND = range(7)  # what lies in a cell
LETTERS = {"#": WALL, ".": EMPTY, "A": APPLE, "R": RIVER, "W": WASTE, "S": STREAM, "P": EMPTY}
MEANING = "'#' wall, '.' ground, 'A' apples, 'P' a place to start, 'R' clean river, 'W' river with waste, 'S' stream"


def harvest_map() -> tuple[str, ...]:
    """16 x 38 cells with the numbers of the original's map: 31 crosses of five apples, and 20 places to start. Crosses
    are apart, so that one that is picked to the last stays empty."""
    rows, columns = 16, 38
    cells = np.full((rows, columns), "#")
    cells[1:-1, 1:-1] = "."
    middles = [(row, 4 + 2 * (row % 2 == 0) + 4 * n) for row in (3, 6, 9, 12) for n in range(8)][:-1]
    for row, column in middles:
        cells[row - 1 : row + 2, column] = "A"
        cells[row, column - 1 : column + 2] = "A"
    for n in range(10):
        cells[[1, rows - 2], 1 + 35 * n // 9] = "P"
    return tuple("".join(row) for row in cells)


def cleanup_map() -> tuple[str, ...]:
    """25 x 18 cells with the numbers of the original's map: on the left a river of 119 cells, of which the 56 in every
    second row begin as waste; on the right an orchard of 103 apples; between them a stream, and 10 places to start."""
    rows, columns = 25, 18
    mouth = (8, 9)  # rows of the stream
    cells = np.full((rows, columns), "#")
    cells[1:-1, 1:-1] = "."
    for row in range(1, rows - 1):
        wide = row in (1, *mouth, 17)
        cells[row, 1 : 7 if wide else 6] = "R" if row % 2 else "W"
        wide = row not in mouth and row % 2 == (row < mouth[0])
        cells[row, 12 if wide else 13 : -1] = "A"
        if row in mouth:
            cells[row, 7:13] = "S"
    for n, row in enumerate((2, 4, 6, 11, 13, 15, 17, 19, 21, 23)):
        cells[row, 8 + 2 * (n % 2)] = "P"
    return tuple("".join(row) for row in cells)


def parse_map(value: Any) -> tuple[str, ...]:
    """The rows of a map.

    Raises:
        ValueError: no rows, rows of different lengths, too large, unknown letters, no apples, no place to start.
    """
    rows = value.split() if isinstance(value, str) else rows_of(value)
    check_cells(rows, LETTERS, MEANING, LARGEST)
    text = "".join(rows)
    if "A" not in text or "P" not in text:
        raise ValueError("a map needs apples 'A' and places to start 'P'")
    return tuple(map(str, rows))


def letters_of(values: Any) -> np.ndarray:
    """The letters of the padded map; " " beyond it."""
    cells = np.array([list(row) for row in values.map])
    return np.pad(cells, PAD, constant_values=" ")


def check_map(values: Any) -> None:
    """ParameterError if a map has fewer places to start than agents."""
    places = "".join(values.map).count("P")
    if places < values.agents:
        raise ParameterError(
            f"agents={values.agents} do not fit: the map has {places} places to start, 'P'; add some, or take fewer "
            f"agents"
        )


def map_sizes(values: Any) -> dict[str, int]:
    check_map(values)
    cells = letters_of(values)
    return {
        "cells": cells.size,
        "trees": int((cells == "A").sum()),
        "banks": max(int(np.isin(cells, ("R", "W")).sum()), 1),
        "starts": int((cells == "P").sum()),
    }


def map_data(values: Any) -> dict[str, Any]:
    """What kernels know of a map: how it begins, and the cells of trees, river and starts."""
    cells = letters_of(values)
    soil = np.full(cells.shape, BEYOND, np.uint8)
    for letter, code in LETTERS.items():
        soil[cells == letter] = code
    trees = cells == "A"
    if values.growth == "river":
        soil[trees] = EMPTY
    crowd = np.zeros(cells.shape, np.uint8)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            crowd += np.roll(trees, (down, right), (0, 1))
    river = np.isin(cells, ("R", "W"))
    return {
        "soil": soil.ravel(),
        "tree": np.flatnonzero(trees).astype(np.int32),
        "crowd": (crowd - trees).astype(np.uint8).ravel(),
        "bank": np.flatnonzero(river).astype(np.int32) if river.any() else np.zeros(1, np.int32),
        "start": np.flatnonzero(cells == "P").astype(np.int32),
        "stride": cells.shape[1],
        "river": int(river.sum()),
    }
