"""Reference scores of a world: those measured, which lie in `scores.json` beside its file, and those it declares."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rlenvs.core.declare.parts import Score

Rows = dict[str, dict[str, Any]]  # the arguments of a `Score`, by the name of the policy


class ReferenceScores(Mapping[str, Score]):
    """Scores by the name of the policy, the measured ones first; the file is read when one is asked for.

    Args:
        place: gives the address of the world, and "Name-v0" or "Name-v0/level".
        declared: the scores that were not measured.
    """

    def __init__(self, place: Callable[[], tuple[str, str]], declared: Mapping[str, Score]) -> None:
        self._place, self._declared = place, declared
        self._found: Mapping[str, Score] | None = None

    @property
    def _all(self) -> Mapping[str, Score]:
        if self._found is not None:
            return self._found
        address, label = self._place()
        path = scores_file(address)
        rows = _read_once(path, path.stat().st_mtime_ns).get(label, {}) if path and path.exists() else {}
        found = {**self._declared, **{policy: Score(**row) for policy, row in rows.items()}}
        found = {name: found[name] for name in dict.fromkeys((*rows, *found))}
        if address:  # else its module may still be on its way
            self._found = found
        return found

    def __getitem__(self, name: str) -> Score:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return repr(self._all)

    def __reduce__(self) -> tuple[type[dict[str, Score]], tuple[dict[str, Score]]]:
        return dict, (dict(self),)


def scores_file(address: str) -> Path | None:
    """Where the measured scores of a world of this package lie, by its address; None for other worlds."""
    module = address.partition(":")[0]
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file).with_name("scores.json") if file and module.startswith("rlenvs.") else None


def read_scores(path: Path | None) -> dict[str, Rows]:
    """The measured scores by "Name-v0", or "Name-v0/level"; empty when there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}


@functools.lru_cache
def _read_once(path: Path, changed: int) -> dict[str, Rows]:
    """The same, not to be written to, as long as the file was not `changed` [ns] since."""
    return read_scores(path)
