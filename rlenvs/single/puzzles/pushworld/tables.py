"""A set of puzzles as arrays, padded to the largest one, and what can be computed from them in advance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlenvs.single.puzzles.pushworld.files import Puzzle, corner
from rlenvs.single.puzzles.pushworld.frames import Tiles

PLANES = (
    "agent",
    "walls",
    "agent walls",
    "objects with goals",
    "goals",
    "other objects",
    "joined right",
    "joined down",
)
AGENT, WALLS, AGENT_WALLS, OBJECTS, GOALS, OTHERS, JOINED_RIGHT, JOINED_DOWN = range(8)
FULL, FADING, FAINTEST = 255, 24, 39  # the first goal and its object, how much less the next ones are, the least
MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))  # rows and columns of left, right, up, down
BESIDE = ((0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))  # the bits of a cell's neighbours
NOTHING = -1  # in place of a tile outside of a puzzle
NOWHERE = -1  # the distance of a place from which an object cannot get to its goal


def grid_size(puzzles: Sequence[Puzzle], rows: int, columns: int) -> tuple[int, int]:
    """Rows and columns that hold all puzzles, and are at least so many."""
    return max(rows, *(each.rows for each in puzzles)), max(columns, *(each.columns for each in puzzles))


def sizes_of(puzzles: Sequence[Puzzle]) -> dict[str, int]:
    """How much room a set needs in its arrays."""
    return {
        "puzzle_count": len(puzzles),
        "objects": max(len(each.objects) for each in puzzles),
        "goal_slots": max(len(each.goals) for each in puzzles),
        "tallest": max(_tall(cells) for each in puzzles for cells in each.objects),
        "most_cells": max(sum(map(len, each.objects)) for each in puzzles),
        "most_goal_cells": max(sum(map(len, each.goals)) for each in puzzles),
    }


def _tall(cells: frozenset[tuple[int, int]]) -> int:
    return 1 + max(row for row, _ in cells) - min(row for row, _ in cells)


def brightness(goal: int) -> int:
    """Of a goal and its object in the planes."""
    return max(FULL - FADING * goal, FAINTEST)


def neighbours(cells: frozenset[tuple[int, int]], cell: tuple[int, int]) -> int:
    """A bit for each of the eight cells around a cell that is one of these cells."""
    return sum(1 << bit for bit, (r, c) in enumerate(BESIDE) if (cell[0] + r, cell[1] + c) in cells)


class Tables:
    """The arrays of a set, by name in `arrays`.

    Args:
        puzzles: the set.
        rows, columns: of the grid.
        tiles: images of cells, or None where frames are not asked for.
    """

    def __init__(self, puzzles: Sequence[Puzzle], rows: int, columns: int, tiles: Tiles | None) -> None:
        size = sizes_of(puzzles)
        n, objects, slots = size["puzzle_count"], size["objects"], size["goal_slots"]
        self.rows, self.columns, self.tiles = rows, columns, tiles
        shown, framed = ((0, 0), (rows, columns))[:: 1 if tiles else -1]
        self.arrays: dict[str, np.ndarray] = {
            "walls": np.zeros((n, rows), np.int64),
            "agent_walls": np.zeros((n, rows), np.int64),
            "outline": np.zeros((n, objects, size["tallest"]), np.int64),
            "tall": np.zeros((n, objects), np.uint8),
            "object_count": np.zeros(n, np.uint8),
            "goal_count": np.zeros(n, np.uint8),
            "start": np.zeros((n, objects, 2), np.int16),
            "goal": np.zeros((n, slots, 2), np.int16),
            "distance": np.full((n, slots, rows, columns), NOWHERE, np.int16),
            "cell_count": np.zeros(n, np.int32),
            "cell": np.zeros((n, size["most_cells"], 4), np.uint8),
            "goal_cell_count": np.zeros(n, np.int32),
            "goal_cell": np.zeros((n, size["most_goal_cells"], 4), np.uint8),
            "board": np.zeros((n, *shown, len(PLANES)), np.uint8),
            "ground": np.full((n, *framed), NOTHING, np.int32),
            "shift": np.zeros((n, 2), np.int16),
            "tile": np.zeros((n, size["most_cells"]), np.int32),
            "goal_tile": np.zeros((n, size["most_goal_cells"]), np.int32),
        }
        for k, puzzle in enumerate(puzzles):
            self._fill(k, puzzle)

    def _fill(self, k: int, puzzle: Puzzle) -> None:
        a = self.arrays
        down, right = (self.rows - puzzle.rows) // 2, (self.columns - puzzle.columns) // 2
        solid = np.zeros((puzzle.rows, puzzle.columns), np.bool_)
        for name, cells in (("walls", puzzle.walls), ("agent_walls", puzzle.agent_walls)):
            for row, column in cells:
                a[name][k, row + down] |= np.int64(1 << (column + right))
                if name == "walls":
                    solid[row, column] = True
        a["object_count"][k], a["goal_count"][k] = len(puzzle.objects), len(puzzle.goals)
        for i, cells in enumerate(puzzle.objects):
            top, left = corner(cells)
            a["start"][k, i] = top + down, left + right
            a["tall"][k, i] = _tall(cells)
            for row, column in cells:
                a["outline"][k, i, row - top] |= np.int64(1 << (column - left))
        for i, cells in enumerate(puzzle.goals):
            top, left = corner(cells)
            a["goal"][k, i] = top + down, left + right
            inside = slice(down, down + puzzle.rows), slice(right, right + puzzle.columns)
            a["distance"][k, i][inside] = distances(solid, puzzle.objects[i + 1], (top, left))
        self._fill_cells(k, puzzle)
        if self.tiles is None:
            self._fill_board(k, puzzle, down, right)
        else:
            self._fill_tiles(k, puzzle, down, right)

    def _fill_cells(self, k: int, puzzle: Puzzle) -> None:
        """Object, row and column in its box, and neighbors, of the cells of all objects; the same of the goals."""
        for name, groups in (("cell", puzzle.objects), ("goal_cell", puzzle.goals)):
            place = 0
            for i, cells in enumerate(groups):
                top, left = corner(cells)
                for row, column in sorted(cells):
                    around = neighbours(cells, (row, column))
                    self.arrays[name][k, place] = i, row - top, column - left, around
                    place += 1
            self.arrays[name + "_count"][k] = place

    def _fill_board(self, k: int, puzzle: Puzzle, down: int, right: int) -> None:
        """The planes of what never moves."""
        board = self.arrays["board"][k]
        for plane, cells in ((WALLS, puzzle.walls), (AGENT_WALLS, puzzle.agent_walls)):
            for row, column in cells:
                board[row + down, column + right, plane] = FULL
        for i, cells in enumerate(puzzle.goals):
            for row, column in cells:
                board[row + down, column + right, GOALS] = brightness(i)

    def _fill_tiles(self, k: int, puzzle: Puzzle, down: int, right: int) -> None:
        """The numbers of the images of all cells."""
        a, tiles = self.arrays, self.tiles
        assert tiles is not None
        inside = slice(down, down + puzzle.rows), slice(right, right + puzzle.columns)
        a["ground"][k][inside] = tiles.number("empty", 0)
        # frames are centred by pixels, which is half a cell more where the cells that are left over are odd
        odd = np.array([(self.rows - puzzle.rows) % 2, (self.columns - puzzle.columns) % 2])
        a["shift"][k] = odd * (tiles.size // 2)
        both = puzzle.agent_walls | puzzle.walls  # no line is drawn from the agent's walls towards walls
        for kind, cells, group in (("agent wall", puzzle.agent_walls, both), ("wall", puzzle.walls, puzzle.walls)):
            for row, column in cells:
                a["ground"][k, row + down, column + right] = tiles.number(kind, neighbours(group, (row, column)))
        for j in range(a["cell_count"][k]):
            i, around = int(a["cell"][k, j, 0]), int(a["cell"][k, j, 3])
            kind = "agent" if i == 0 else "object" if i <= len(puzzle.goals) else "other"
            a["tile"][k, j] = tiles.number(kind, around)
        for j in range(a["goal_cell_count"][k]):
            a["goal_tile"][k, j] = tiles.number("goal", int(a["goal_cell"][k, j, 3]))


def distances(solid: np.ndarray, cells: frozenset[tuple[int, int]], goal: tuple[int, int]) -> np.ndarray:
    """In how many moves an object could get to its goal from each place of its corner, were it alone; NOWHERE where it
    cannot.

    It moves only where there is room for what pushes it: a cell behind one of its cells that is no wall.
    """
    top, left = corner(cells)
    offsets = {(row - top, column - left) for row, column in cells}
    fits = ~_any_at(solid, offsets, True)
    ways = []
    for move in MOVES:
        behind = {(row - move[0], column - move[1]) for row, column in offsets} - offsets
        ways.append(fits & _any_at(~solid, behind, False))
    found = np.full(solid.shape, NOWHERE, np.int16)
    front = np.zeros(solid.shape, np.bool_)
    front[goal] = fits[goal]
    steps = 0
    while front.any():
        found[front] = steps
        steps += 1
        reached = np.zeros_like(front)
        for move, way in zip(MOVES, ways, strict=True):
            reached |= _shifted(front, (-move[0], -move[1]), False) & way
        front = reached & (found == NOWHERE)
    return found


def _any_at(marked: np.ndarray, offsets: set[tuple[int, int]], outside: bool) -> np.ndarray:
    """Whether one of the cells at these offsets from a cell is marked, for each cell."""
    found = np.zeros(marked.shape, np.bool_)
    for row, column in offsets:
        found |= _shifted(marked, (-row, -column), outside)
    return found


def _shifted(marked: np.ndarray, by: tuple[int, int], outside: bool) -> np.ndarray:
    """Marks moved by rows and columns."""
    found = np.full(marked.shape, outside, np.bool_)
    rows, columns = marked.shape
    down, right = by
    if abs(down) < rows and abs(right) < columns:
        found[max(down, 0) : rows + min(down, 0), max(right, 0) : columns + min(right, 0)] = marked[
            max(-down, 0) : rows + min(-down, 0), max(-right, 0) : columns + min(-right, 0)
        ]
    return found
