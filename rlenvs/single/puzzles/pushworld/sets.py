"""Sets of puzzles: the generated ones that come with the package, files, folders and texts."""

from __future__ import annotations

import lzma
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, nearest, shortened
from rlenvs.single.puzzles.pushworld.files import Puzzle, find_files, read_file, read_puzzle
from rlenvs.single.puzzles.pushworld.frames import Tiles
from rlenvs.single.puzzles.pushworld.tables import Tables, grid_size, sizes_of

CATEGORIES = ("base", "size", "walls", "obstacles", "shapes", "goals", "all")
LISTED = 300  # names that are looked through for the nearest one
STORED = Path(__file__).parent / "generated.txt.xz"
SYMBOLS = {".": ".", "#": "W", "A": "A", "1": "M1", "2": "M2", "3": "M3", "4": "M4", "a": "G1", "b": "G2"}


@lru_cache(maxsize=1)
def stored_lines() -> dict[str, list[tuple[str, str]]]:
    """The generated puzzles by "category/split": rows of symbols with / between them, and a shortest plan."""
    found: dict[str, list[tuple[str, str]]] = {}
    part = ""
    for line in lzma.decompress(STORED.read_bytes()).decode("ascii").splitlines():
        if line.startswith(":"):
            part = line[1:]
            found[part] = []
        else:
            rows, plan = line.split()
            found[part].append((rows, plan))
    return found


def text_of(rows: str) -> str:
    """The text of a stored puzzle, as in a .pwp file."""
    return "\n".join("  ".join(SYMBOLS[symbol] for symbol in row) for row in rows.split("/"))


@lru_cache(maxsize=16)
def generated(category: str, split: str) -> tuple[Puzzle, ...]:
    """The generated puzzles of a category, with their shortest plans."""
    part = f"{category}/{split}"
    return tuple(
        read_puzzle(text_of(rows), f"{part}/{number}", plan) for number, (rows, plan) in enumerate(stored_lines()[part])
    )


def parse_puzzles(given: Any) -> Any:
    """The option `puzzles`, looked at: a category, the path of a file or folder, a text or a list of texts.

    Raises:
        ValueError: a file or text that is no puzzle; with file, line and reason.
    """
    if isinstance(given, Path):
        given = str(given)
    if isinstance(given, (list, tuple)):
        given = list(given)
        if not given or not all(isinstance(each, str) for each in given):
            raise ValueError("needed: a list of texts, each a puzzle")
    elif not isinstance(given, str):
        raise ValueError(
            f"needed: one of {', '.join(CATEGORIES)}, the path of a .pwp file or a folder, or a text, "
            f"not {shortened(given)}"
        )
    if given not in CATEGORIES:
        if isinstance(given, str) and "\n" not in given and not os.path.exists(given):
            raise ValueError(
                f"{shortened(given)} is neither a generated set ({', '.join(CATEGORIES)}) nor a file or folder. "
                f"{nearest(given[:LISTED], CATEGORIES)}"
            )
        _read(*_stamped(given))
    return given


def _stamped(given: Any) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Texts, or a path with the times of its files, by which `_read` knows that they are the same."""
    if isinstance(given, list):
        return tuple(given), ()
    if "\n" in given:
        return (given,), ()
    return (given,), tuple(path.stat().st_mtime for path, _ in find_files(given))


@lru_cache(maxsize=8)
def _read(given: tuple[str, ...], times: tuple[float, ...]) -> tuple[Puzzle, ...]:
    if times:
        return tuple(read_file(path, name) for path, name in find_files(given[0]))
    return tuple(read_puzzle(text, f"text {number}") for number, text in enumerate(given))


def puzzles_of(puzzles: Any, split: str, puzzle: str | int | None, longest_plan: int = 0) -> tuple[Puzzle, ...]:
    """The puzzles that are played.

    Raises:
        ParameterError: there is no puzzle of this name or number, or none with so short a plan.
    """
    found = _read(*_stamped(puzzles)) if puzzles not in CATEGORIES else ()
    if not found:
        splits = ("train", "test") if split == "both" else (split,)
        found = tuple(each for part in splits for each in generated(puzzles, part))
    if longest_plan:
        found = tuple(each for each in found if 0 < len(each.plan) <= longest_plan)
        if not found:
            raise ParameterError(
                f"longest_plan={longest_plan}: no puzzle of the set has a known plan of so few moves; only generated "
                f"sets ({', '.join(CATEGORIES)}) have plans"
            )
    if puzzle is None:
        return found
    if isinstance(puzzle, int):
        if not 0 <= puzzle < len(found):
            raise ParameterError(
                f"puzzle={puzzle} is not one of the numbers 0 ... {len(found) - 1} of the set's puzzles"
            )
        return (found[puzzle],)
    names = {each.name: each for each in found}
    if puzzle not in names:
        close = f"Names run from {found[0].name!r} to {found[-1].name!r}."
        close = nearest(puzzle, names) if len(names) < LISTED else close
        raise ParameterError(f"the set has no puzzle {puzzle!r}. {close}")
    return (names[puzzle],)


@lru_cache(maxsize=4)
def _loaded(puzzles: tuple[Puzzle, ...], rows: int, columns: int, tile: int, border: int) -> Tables:
    tiles = Tiles(tile, border) if tile else None
    return Tables(puzzles, *grid_size(puzzles, rows, columns), tiles)


def played(values: Any) -> tuple[Puzzle, ...]:
    """The puzzles that the options ask for."""
    return puzzles_of(values.puzzles, values.split, values.puzzle, values.longest_plan)


def tables_of(values: Any) -> Tables:
    """The tables of the set that the options ask for."""
    puzzles = played(values)
    tile = values.pixels_per_cell if values.observation == "pixels" else 0
    return _loaded(puzzles, values.rows_at_least, values.columns_at_least, tile, values.border_width)


def sizes(values: Any) -> dict[str, int]:
    """The named sizes of the world."""
    tables = tables_of(values)
    tile = tables.tiles.size if tables.tiles else 0
    shown = (0, 0) if tile else (tables.rows, tables.columns)
    return {
        **sizes_of(played(values)),
        "rows": tables.rows,
        "columns": tables.columns,
        "shown_rows": shown[0],
        "shown_columns": shown[1],
        "framed_rows": tables.rows if tile else 0,
        "framed_columns": tables.columns if tile else 0,
        "frame_rows": tables.rows * tile,
        "frame_columns": tables.columns * tile,
        "tile_size": tile,
        "tile_count": len(tables.tiles.images) if tables.tiles else 0,
        "moves": 5 if values.undo else 4,
        "undo_room": values.undo,
    }


def data(values: Any) -> dict[str, np.ndarray]:
    """The arrays that kernels read."""
    tables = tables_of(values)
    found = dict(tables.arrays)
    found["tile_image"] = tables.tiles.images if tables.tiles else np.zeros((0, 0, 0, 3), np.uint8)
    found["tile_opaque"] = tables.tiles.opaque if tables.tiles else np.zeros((0, 0, 0), np.uint8)
    return found
