"""Puzzles as text, in the format of PushWorld's .pwp files: a line per row, elements between spaces.

`.` is an empty cell, `A` the agent, `W` a wall, `AW` a wall that stops only the agent, `Mk` a part of the movable
object k and `Gk` a cell where that object has to go, for any text k. `+` joins the elements of one cell. Case does not
matter. The map is surrounded by a ring of walls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from rlenvs.core.declare import user_files
from rlenvs.core.declare.errors import shortened

Cell = tuple[int, int]  # row, column

LARGEST = 60  # rows and columns of a map; with the ring of walls 62, the bits of a whole number
MOST_OBJECTS, MOST_GOALS = 60, 20
LARGEST_FILE = 1 << 20  # bytes
ELEMENT = re.compile(r"\.|a|w|aw|[mg].*")


@dataclass(frozen=True)
class Puzzle:
    """A puzzle with its ring of walls.

    Attributes:
        name: by which it is chosen.
        rows, columns: of the grid.
        walls, agent_walls: cells.
        objects: cells of the movable objects: the agent, then the objects with goals, then the others.
        goals: cells of the goals; goal k is that of object k + 1.
        plan: a shortest plan in letters L, R, U, D; empty where none is known.
    """

    name: str
    rows: int
    columns: int
    walls: frozenset[Cell]
    agent_walls: frozenset[Cell]
    objects: tuple[frozenset[Cell], ...]
    goals: tuple[frozenset[Cell], ...]
    plan: str = field(default="", compare=False)


def corner(cells: frozenset[Cell]) -> Cell:
    """The upper left corner of the box around some cells."""
    return min(row for row, _ in cells), min(column for _, column in cells)


def read_puzzle(text: str, name: str, plan: str = "") -> Puzzle:
    """The puzzle that a text describes.

    Raises:
        ValueError: the text is no puzzle; with name, line and reason.
    """
    lines = text.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    places = _places(lines, name)
    rows, columns = len(lines) + 2, len(lines[0].split()) + 2
    ring = {(r, c) for r in range(rows) for c in range(columns) if r in (0, rows - 1) or c in (0, columns - 1)}
    goals = sorted((each for each in places if each[0] == "g"), reverse=True)
    targets = ["m" + each[1:] for each in goals]
    others = [each for each in places if each[0] == "m" and each not in targets]
    for goal, target in zip(goals, targets, strict=True):
        line, column = min(places[goal])
        if target not in places:
            raise ValueError(
                f"{name}, line {line}, column {column}: the goal {goal.upper()} has no object {target.upper()}; "
                "add the object or remove the goal"
            )
    if len(goals) > MOST_GOALS or len(targets) + len(others) >= MOST_OBJECTS:
        raise ValueError(
            f"{name} has {len(goals)} goals and {len(targets) + len(others)} objects; at most {MOST_GOALS} and "
            f"{MOST_OBJECTS - 1} are allowed"
        )
    if not goals:
        raise ValueError(f"{name}: the puzzle has no goal; mark one, for example with G1 for the object M1")
    return Puzzle(
        name,
        rows,
        columns,
        frozenset(places.get("w", set()) | ring),
        frozenset(places.get("aw", set())),
        tuple(frozenset(places[each]) for each in ("a", *targets, *others)),
        tuple(frozenset(places[each]) for each in goals),
        plan,
    )


def _places(lines: list[str], name: str) -> dict[str, set[Cell]]:
    """The cells of each element, counted from 1, in the order of the text."""
    if not lines or not lines[0].split():
        raise ValueError(f"{name}, line 1: the puzzle is empty; give a line for each row, cells between spaces")
    places: dict[str, set[Cell]] = {}
    width = len(lines[0].split())
    if max(len(lines), width) > LARGEST:
        raise ValueError(f"{name} has {len(lines)} x {width} cells; at most {LARGEST} x {LARGEST} are allowed")
    for row, line in enumerate(lines, start=1):
        cells = line.split()
        if len(cells) != width:
            raise ValueError(f"{name}, line {row} has {len(cells)} cells and line 1 has {width}; make them equal")
        for column, cell in enumerate(cells, start=1):
            found = cell.lower().split("+")
            for element in found:
                if not ELEMENT.fullmatch(element):
                    raise ValueError(
                        f"{name}, line {row}, column {column}: the element {element!r} is unknown; allowed are "
                        "., A, W, AW, Mk and Gk with a number k, and several of them joined by +"
                    )
                if element != ".":
                    places.setdefault(element, set()).add((row, column))
            _check_cell(found, f"{name}, line {row}, column {column}: {cell!r}")
    if "a" not in places:
        raise ValueError(f"{name}: there is no agent; mark its cells with A")
    return places


def _check_cell(found: list[str], place: str) -> None:
    movable = [each for each in found if each == "a" or each[0] == "m"]
    if len(set(movable)) > 1:
        raise ValueError(f"{place} puts two objects into one cell")
    if movable and "w" in found:
        raise ValueError(f"{place} puts an object into a wall")
    if "a" in found and "aw" in found:
        raise ValueError(f"{place} puts the agent into an agent-only wall")


def find_files(path: str) -> list[tuple[Path, str]]:
    """The .pwp files at a path, a file or a folder with folders in it, with their names; sorted.

    Raises:
        ValueError: there is none.
    """
    place = Path(path)
    try:
        found = user_files.find_files(path, ".pwp")
    except OSError as error:
        raise ValueError(f"{shortened(path)} cannot be read: {user_files.reason(error)}") from None
    if not found:
        raise ValueError(f"there is no .pwp file at {shortened(path)}; give a file, or a folder of such files")
    if found == [place]:
        return [(place, place.stem)]
    return [(each, each.relative_to(place).with_suffix("").as_posix()) for each in found]


def read_file(path: Path, name: str) -> Puzzle:
    """The puzzle in a file; ValueError with file, line and reason."""
    try:
        text = user_files.read_text(path, LARGEST_FILE)
    except OSError as error:
        raise ValueError(f"{shortened(str(path))} cannot be read: {user_files.reason(error)}") from None
    puzzle = read_puzzle(text, str(path))
    return Puzzle(**{**puzzle.__dict__, "name": name})
