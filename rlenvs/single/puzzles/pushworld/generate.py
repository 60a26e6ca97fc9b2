"""Regenerate the puzzle sets: python -m rlenvs.single.puzzles.pushworld.generate

The seven categories of the published level 0, each with puzzles for training and others for testing: "base" has 5 x 5
cells, one object with a goal, one other object and three walls, all of one cell; the others change one thing, "all"
changes everything. A puzzle is kept if a shortest plan is found, and there are no duplicates. The sets are stored with
these plans, so this script needs to run only when the generator changes.
"""

from __future__ import annotations

import argparse
import lzma
from typing import NamedTuple

import numpy as np

from rlenvs.single.puzzles.pushworld.files import read_puzzle
from rlenvs.single.puzzles.pushworld.sets import STORED, text_of
from rlenvs.single.puzzles.pushworld.tables import Tables

COUNTS = {"train": 2000, "test": 200}
SIMPLE = (((0, 0),),)
SHAPES = (  # rows and columns of up to three cells
    ((0, 0),),
    ((0, 0), (0, 1)),
    ((0, 0), (1, 0)),
    ((0, 0), (0, 1), (0, 2)),
    ((0, 0), (1, 0), (2, 0)),
    ((0, 0), (0, 1), (1, 0)),
    ((0, 0), (0, 1), (1, 1)),
    ((0, 0), (1, 0), (1, 1)),
    ((0, 1), (1, 0), (1, 1)),
)
DOMINO = SHAPES[1:3]


class Recipe(NamedTuple):
    """What a category's puzzles are made of: ranges with both ends, and shapes.

    Attributes:
        side: rows, and columns.
        walls, goals, others: how many walls, objects with goals and other objects.
        shapes: of the agent and the objects.
        second: of the second object with a goal, which differs from the first.
    """

    side: tuple[int, int] = (5, 5)
    walls: tuple[int, int] = (3, 3)
    goals: tuple[int, int] = (1, 1)
    others: tuple[int, int] = (1, 1)
    shapes: tuple[tuple[tuple[int, int], ...], ...] = SIMPLE
    second: tuple[tuple[tuple[int, int], ...], ...] = DOMINO


RECIPES = {
    "base": Recipe(),
    "size": Recipe(side=(5, 10)),
    "walls": Recipe(walls=(3, 5)),
    "obstacles": Recipe(others=(2, 2)),
    "shapes": Recipe(shapes=SHAPES),
    "goals": Recipe(goals=(2, 2)),
    "all": Recipe((5, 9), (3, 5), (1, 2), (1, 2), SHAPES, SHAPES),
}
MOST_STATES = 400_000  # of a search; puzzles that take more are left out
TRIES = 50


def draw_puzzle(recipe: Recipe, rng: np.random.Generator) -> str | None:
    """Rows of symbols with / between them; None where something found no room."""

    def drawn_from(ends: tuple[int, int]) -> int:
        return int(rng.integers(*ends, endpoint=True))

    def one_of(shapes: tuple[tuple[tuple[int, int], ...], ...]) -> tuple[tuple[int, int], ...]:
        return shapes[int(rng.integers(len(shapes)))]

    grid = np.full((drawn_from(recipe.side), drawn_from(recipe.side)), ".")
    goals, others = drawn_from(recipe.goals), drawn_from(recipe.others)
    shapes = [one_of(recipe.shapes)]
    if goals == 2:
        left = tuple(shape for shape in recipe.second if shape != shapes[0])
        shapes.append(one_of(left))
    parts = [(symbol, shapes[k]) for k in range(goals) for symbol in (str(k + 1), "ab"[k])]
    parts.append(("A", one_of(recipe.shapes)))
    parts += [(str(goals + 1 + k), one_of(recipe.shapes)) for k in range(others)]
    parts += [("#", SIMPLE[0])] * drawn_from(recipe.walls)
    for symbol, shape in parts:
        if not _place(grid, symbol, shape, rng):
            return None
    return "/".join("".join(row) for row in grid)


def _place(grid: np.ndarray, symbol: str, shape: tuple[tuple[int, int], ...], rng: np.random.Generator) -> bool:
    rows, columns = (grid.shape[axis] - max(cell[axis] for cell in shape) for axis in (0, 1))
    if rows < 1 or columns < 1:
        return False
    for _ in range(TRIES):
        row, column = int(rng.integers(rows)), int(rng.integers(columns))
        cells = [(row + r, column + c) for r, c in shape]
        if all(grid[cell] == "." for cell in cells):
            for cell in cells:
                grid[cell] = symbol
            return True
    return False


def shortest_plan(rows: str) -> str | None:
    """Of a puzzle in symbols; None where there is none, or the search gave up."""
    from rlenvs.single.puzzles.pushworld.solver import Arrays, solve

    puzzle = read_puzzle(text_of(rows), "generated")
    arrays = Tables([puzzle], puzzle.rows, puzzle.columns, None).arrays
    try:
        return solve(Arrays(arrays), 0, arrays["start"][0], MOST_STATES)
    except RuntimeError:
        return None


def make_set(category: str, counts: dict[str, int]) -> dict[str, list[tuple[str, str]]]:
    """Puzzles and plans of a category by split; a test puzzle is none of those to train on."""
    seen: set[str] = set()
    found: dict[str, list[tuple[str, str]]] = {}
    for number, (split, count) in enumerate(counts.items()):
        rng = np.random.default_rng([list(RECIPES).index(category), number])
        found[split] = []
        while len(found[split]) < count:
            rows = draw_puzzle(RECIPES[category], rng)
            if rows is None or rows in seen:
                continue
            seen.add(rows)
            plan = shortest_plan(rows)
            if plan:
                found[split].append((rows, plan))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    lines = []
    for category in RECIPES:
        for split, puzzles in make_set(category, COUNTS).items():
            lines += [f":{category}/{split}", *(f"{rows} {plan}" for rows, plan in puzzles)]
            longest = max(len(plan) for _, plan in puzzles)
            print(f"{category}/{split}: {len(puzzles)} puzzles, plans of up to {longest} moves", flush=True)
    STORED.write_bytes(lzma.compress(("\n".join(lines) + "\n").encode("ascii"), preset=9 | lzma.PRESET_EXTREME))
    print(f"{STORED.name}: {STORED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
