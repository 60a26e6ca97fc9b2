"""Which tests passed, with which key: what need not run again.

The record lies in the cache folder; a file with the same content in the repository, tests/green.json, stands in for it
on a machine that has none. It is believed for ten runs at most: an entry falls due in one of ten groups, in turn, so a
wrong one hides a failure for no longer.
"""

from __future__ import annotations

import json
import os
import platform
import time
import zlib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GROUPS = 10
ASSUMED = "assumed"  # of what was never run here: the commit that was checked out
SAMPLED = "sampled"  # of such a unit, one case of each of whose tests has passed here


def folder() -> Path:
    """The cache folder of the package."""
    named = os.environ.get("RLENVS_CACHE_DIR")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rlenvs"


@dataclass
class Record:
    """The green units of tests.

    Attributes:
        run: how many runs there have been, this one included.
        green: by unit its key, the run in which it passed, the processor, the date, seconds of processor time.
    """

    run: int = 1
    green: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Record | None:
        """The record in a file, one run on; None without a file, or where it cannot be read."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return cls(int(found["run"]) + 1, {str(unit): dict(entry) for unit, entry in found["green"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = ",\n".join(f"{json.dumps(unit)}: {json.dumps(self.green[unit])}" for unit in sorted(self.green))
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(f'{{"run": {self.run}, "green": {{\n{rows}\n}}}}\n', encoding="utf-8")
        beside.replace(path)

    def is_green(self, unit: str, key: str, assumed: Container[str] = ()) -> bool:
        """Whether a unit passed with this key, within the last ten runs.

        Args:
            unit: its name.
            key: what it depends on now.
            assumed: what is enough besides, of ASSUMED and SAMPLED.
        """
        entry = self.green.get(unit, {})
        if entry.get("key") != key or not isinstance(entry.get("run"), int):
            return False
        if entry.get("date") == ASSUMED:
            return ASSUMED in assumed
        return (entry.get("date") != SAMPLED or SAMPLED in assumed) and self._is_recent(unit, entry["run"])

    def is_unseen(self, unit: str, key: str) -> bool:
        """Whether a unit is as it was checked out, and no more is known of it."""
        entry = self.green.get(unit, {})
        return entry.get("key") == key and entry.get("date") in (ASSUMED, SAMPLED)

    def _is_recent(self, unit: str, run: int) -> bool:
        group = zlib.crc32(unit.encode()) % GROUPS
        return run <= self.run and (self.run + group) // GROUPS == (run + group) // GROUPS

    def assume(self, keys: Mapping[str, str]) -> None:
        """Take what was checked out for green."""
        for unit, key in keys.items():
            self.green.setdefault(unit, {"key": key, "run": self.run, "date": ASSUMED})

    def passed(self, units: Mapping[str, float], keys: Mapping[str, str], sampled: Container[str] = ()) -> None:
        """Note units that passed, with the processor time that they took; of those that are `sampled` a part."""
        for unit, seconds in units.items():
            date = SAMPLED if unit in sampled else time.strftime("%Y-%m-%d")
            told = {"run": self.run, "date": date, "processor": platform.processor()}
            self.green[unit] = {"key": keys[unit], **told, "seconds": round(seconds, 1)}

    def failed(self, units: Iterable[str]) -> None:
        """Forget units that failed."""
        for unit in units:
            self.green.pop(unit, None)
