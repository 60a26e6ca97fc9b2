"""Levels as text, in the usual symbols: # wall, . target, $ box, * box on a target, @ player, + player on a target."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare import user_files
from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.kits.boards.letters import check_cells, padded

WALL, TARGETS, BOXES, PLAYERS = "#", ".*+", "$*", "@+"
SIGNS = "# -_.$*@+"  # - and _ are floor, as the space is
MEANING = "# (wall), space (floor), . (target), $ (box), * (box on a target), @ (player), + (player on a target)"
LARGEST, MOST_BOXES = 32, 60
LARGEST_FILE = 1 << 22  # bytes


class Level(NamedTuple):
    """A level: what stands in its cells.

    Attributes:
        name: by which it is chosen.
        wall, target, box: bool (rows, columns); outside of the room all is wall.
        player: row and column.
    """

    name: str
    wall: np.ndarray
    target: np.ndarray
    box: np.ndarray
    player: tuple[int, int]


def read_levels(text: str, name: str) -> list[Level]:
    """All levels in a text. A line that begins with ; or is empty lies between two; the rest of it is a title.

    Raises:
        ValueError: with name, line and reason.
    """
    found: list[Level] = []
    rows: list[str] = []
    first = 1
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip() and not line.startswith(";"):
            first = number if not rows else first
            rows.append(line.rstrip())
        elif rows:
            found.append(_read_level(rows, f"{name}:{len(found)}", f"{name}, level {len(found)}", first))
            rows = []
    if not found:
        raise ValueError(f"{name} contains no level; give lines of {MEANING}")
    return found


def _read_level(rows: list[str], name: str, place: str, first: int) -> Level:
    rows = padded(rows)
    try:
        check_cells(rows, SIGNS, MEANING, LARGEST)
    except ValueError as error:
        raise ValueError(f"{place} (from line {first}): {error}") from None
    cells = np.array([list(row) for row in rows])
    box, target, players = (np.isin(cells, list(signs)) for signs in (BOXES, TARGETS, PLAYERS))
    wall = cells == WALL
    place = f"{place} (from line {first})"
    if players.sum() != 1:
        raise ValueError(f"{place} has {players.sum()} players; it needs one, @ or +")
    if box.sum() != target.sum():
        raise ValueError(f"{place} has {box.sum()} boxes and {target.sum()} targets; their numbers must be equal")
    if box.sum() > MOST_BOXES:
        raise ValueError(f"{place} has {box.sum()} boxes; at most {MOST_BOXES} are allowed")
    if not (box & ~target).any():
        raise ValueError(f"{place} has no box that is not on a target; there is nothing to solve")
    row, column = (int(each) for each in np.argwhere(players)[0])
    inside = _reached(wall, (row, column))
    edge = np.ones_like(inside)
    edge[1:-1, 1:-1] = False
    if (inside & edge).any():
        r, c = np.argwhere(inside & edge)[0]
        raise ValueError(f"{place} is open at its line {r + 1}, column {c + 1}; close it with #")
    if (box & ~inside).any():
        r, c = np.argwhere(box & ~inside)[0]
        raise ValueError(f"{place}: the box in its line {r + 1}, column {c + 1} is outside the player's room")
    return Level(name, ~inside, target & inside, box, (row, column))


def _reached(wall: np.ndarray, start: tuple[int, int]) -> np.ndarray:
    """The cells that a walker could reach, were there no boxes."""
    found = np.zeros_like(wall)
    stack = [start]
    while stack:
        row, column = stack.pop()
        if (
            0 <= row < wall.shape[0]
            and 0 <= column < wall.shape[1]
            and not wall[row, column]
            and not found[row, column]
        ):
            found[row, column] = True
            stack += [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return found


def parse_levels(given: Any) -> Any:
    """The option `levels_from`: None, the path of a text file or a folder with such files, a text, a list of texts."""
    if given is None:
        return None
    if isinstance(given, Path):
        given = str(given)
    if isinstance(given, (list, tuple)) and given and all(isinstance(text, str) for text in given):
        given = list(given)
    elif not isinstance(given, str):
        raise ValueError(f"needed: a text, a list of texts, or the path of a file or folder, not {shortened(given)}")
    levels_of(given)
    return given


def levels_of(given: Any) -> tuple[Level, ...]:
    """The levels of a text, a list of texts, a file or a folder."""
    if isinstance(given, list) or "\n" in given:
        return _read(tuple([given] if isinstance(given, str) else given), ())
    files = _files(given)
    return _read((given,), tuple(file.stat().st_mtime for file in files))


@lru_cache(maxsize=8)
def _read(given: tuple[str, ...], times: tuple[float, ...]) -> tuple[Level, ...]:
    if times:
        return tuple(each for file in _files(given[0]) for each in read_levels(_text(file), file.stem))
    return tuple(each for n, text in enumerate(given) for each in read_levels(text, f"text {n}" if n else "text"))


def _files(path: str) -> list[Path]:
    try:
        files = user_files.find_files(path, ".txt")
    except FileNotFoundError:
        files = []
    except OSError as error:
        raise ParameterError(
            f"{shortened(path)} cannot be read: {user_files.reason(error)}; give a file, a folder of files, or a text"
        ) from None
    if not files:
        raise ParameterError(f"there is no text file at {shortened(path)}; give a file, or a folder of such files")
    return files


def _text(file: Path) -> str:
    try:
        return user_files.read_text(file, LARGEST_FILE)
    except OSError as error:
        raise ParameterError(f"{shortened(str(file))} cannot be read: {user_files.reason(error)}") from None
