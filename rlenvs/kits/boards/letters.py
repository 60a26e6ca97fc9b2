"""Maps in letters: reading them with errors that name the place, and writing them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

from rlenvs.core.declare.errors import shortened


def rows_of(text: Any) -> list[str]:
    """The lines of a map, given as one text or as a list of lines; empty lines at its ends are left out."""
    lines = text.splitlines() if isinstance(text, str) else list(text)
    if isinstance(text, (Mapping, Set)) or not all(isinstance(line, str) for line in lines):
        raise ValueError(f"needed: a text, or a list of its lines, not {shortened(text)}")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def check_cells(rows: Sequence[Sequence[str]], allowed: Collection[str], meaning: str, most: int) -> None:
    """ValueError with line, column and reason, where rows of cells are not equally long, or a cell is not allowed.

    Args:
        rows: of the map, from line 1 on.
        allowed: what may stand in a cell.
        meaning: the same, in words, for the error.
        most: rows and columns that there may be.
    """
    if not rows or not rows[0]:
        raise ValueError("the map is empty; give a line for each row")
    for line, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise ValueError(f"line {line} has {len(row)} cells and line 1 has {len(rows[0])}; make them equal")
        for column, cell in enumerate(row, start=1):
            if cell not in allowed:
                raise ValueError(f"line {line}, column {column}: {cell!r} is unknown; allowed are {meaning}")
    if max(len(rows), len(rows[0])) > most:
        raise ValueError(f"the map has {len(rows)} x {len(rows[0])} cells; at most {most} x {most} are allowed")


def padded(rows: Sequence[str], fill: str = " ") -> list[str]:
    """Rows made equally long."""
    longest = max(map(len, rows), default=0)
    return [row.ljust(longest, fill) for row in rows]


def joined(rows: Iterable[Iterable[Any]], between: str = "") -> str:
    """Cells as one text, a line for each row."""
    return "\n".join(between.join(map(str, row)) for row in rows)
