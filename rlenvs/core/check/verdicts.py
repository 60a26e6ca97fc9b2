"""What rules raise, and how they compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlenvs.core.check.playing import difference


class Failed(Exception):  # noqa: N818
    """A rule is broken; the message says where, with the value found."""


class NotApplicable(Exception):  # noqa: N818
    """A rule that this world has nothing to show for."""


class Doubt(str):
    """What a rule found that may be wrong, and may be meant: the rule is passed, with a warning."""


def present(infos: dict[str, Any]) -> dict[str, Any]:
    """Vector infos without the rows that their "_key" masks call absent."""
    kept: dict[str, Any] = {}
    for key, value in infos.items():
        rows = infos.get(f"_{key}")
        if isinstance(value, dict):
            kept[key] = present(value)
        else:
            kept[key] = value if rows is None else value[rows]
    return kept


def compare(what: str, a: Sequence[Any], b: Sequence[Any]) -> None:
    """Failed when two records differ."""
    for t, (x, y) in enumerate(zip(a, b, strict=True)):
        found = difference(x, y)
        if found:
            names = (
                ("observation", "reward", "terminated", "truncated", "info") if len(x) == 5 else ("observation", "info")
            )
            for i, name in enumerate(names):
                found = found.replace(f"[{i}]", name, 1) if found.startswith(f"[{i}]") else found
            raise Failed(f"{what} differ at call {t}: {found}")


def vector_record(record: Sequence[Any]) -> list[Any]:
    """A record of a vector form without the absent rows of its infos."""
    return [(*out[:-1], present(out[-1])) for out in record]


def rows_from(value: Any, first: int) -> Any:
    """Rows `first` and up of everything that a vector form returned."""
    if isinstance(value, dict):
        return {key: rows_from(item, first) for key, item in value.items()}
    return tuple(rows_from(item, first) for item in value) if isinstance(value, tuple) else value[first:]


def row_of(observations: Any, row: int) -> Any:
    """One row of what a vector form observed."""
    if isinstance(observations, dict):
        return {name: array[row] for name, array in observations.items()}
    # whole numbers of a Discrete space are Python's in the single form
    return observations[row] if observations.ndim > 1 or observations.dtype.kind == "f" else int(observations[row])
