"""Logs of lock-step runs: their files, what each field is, writing and reading."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from rlenvs.core.declare.errors import ParameterError, clipped, shortened
from rlenvs.core.declare.user_files import read_file

RUN, STEPS, EPISODES = "run.json", "steps.jsonl", "episodes.jsonl"
LARGEST = 1 << 30  # bytes of a file
MOST_RETURN = 1e150  # whose square is finite
Row = dict[str, Any]


class Field(NamedTuple):
    """What a value of a log is.

    Attributes:
        kinds: its types. low, high: the range of a number.
    """

    kinds: tuple[type, ...]
    low: float = -math.inf
    high: float = math.inf

    def check(self, name: str, value: Any) -> None:
        """ParameterError where a value is something else."""
        outside = isinstance(value, (int, float)) and not self.low <= value <= self.high
        if type(value) not in self.kinds or outside:
            kinds = " or ".join(kind.__name__ for kind in self.kinds)
            between = f" in [{self.low:g}, {self.high:g}]" if self.low > -math.inf else ""
            raise ParameterError(f"{name} is {shortened(value)}; expected {kinds}{between}")


class OfAgents(NamedTuple):
    """What each value of a mapping from agents is."""

    field: Field

    def check(self, name: str, value: Any) -> None:
        """ParameterError where one is something else."""
        MAPPING.check(name, value)
        for own in value.values():
            self.field.check(name, own)


TEXT, MAPPING = Field((str,)), Field((dict,))
COUNT = Field((int,), 0, 1 << 32)  # whose sums over all agents and episodes of a log are below 2^63
SEED, NUMBER = Field((int,), 0), Field((int, float), -MOST_RETURN, MOST_RETURN)

HEADER: dict[str, Field | OfAgents] = {  # of run.json
    "id": TEXT,
    "keywords": MAPPING,
    "version": TEXT,
    "seed": SEED,
    "fixed_seed": Field((bool,)),
    "measured": Field((list,)),
    "line_ups": MAPPING,
}
EPISODE: dict[str, Field | OfAgents] = {  # of a row of episodes.jsonl
    "run": TEXT,
    "episode": COUNT,
    "seed": SEED,
    "return": NUMBER,
    "success": Field((bool, int, type(None)), 0, 1),
    "steps": COUNT,
    "returns": OfAgents(NUMBER),
    "illegal_actions": OfAgents(COUNT),
    "decisions": OfAgents(COUNT),
    "seconds": OfAgents(NUMBER),
}


def check(fields: Mapping[str, Field | OfAgents], row: Any) -> None:
    """ParameterError where a row lacks a field, or has another value in it."""
    MAPPING.check("a row", row)
    for name, field in fields.items():
        if name not in row:
            raise ParameterError(f"{name} is missing")
        field.check(name, row[name])


def plain(value: Any) -> Any:
    """A value in types of JSON, with None for numbers that it does not have; others as they are."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Log:
    """The folder of a log.

    Args:
        folder: is made; it must not have a log yet. header: the content of run.json.

    Raises:
        ParameterError: it has one, or cannot be written.
    """

    def __init__(self, folder: str | Path, header: Row) -> None:
        check(HEADER, header)
        if folder == "":
            raise ParameterError("log='' names no folder; give one, or None for no log")
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
            with (place / RUN).open("x", encoding="utf-8") as file:
                file.write(json.dumps(header, indent=1) + "\n")
            self._files: dict[str, TextIO] = {
                name: (place / name).open("w", encoding="utf-8") for name in (STEPS, EPISODES)
            }
        except FileExistsError:
            raise ParameterError(f"{place} has a log already, or is a file; give another folder") from None
        except OSError as error:
            raise ParameterError(f"{shortened(str(place))} cannot be written: {error.strerror}") from None

    def write_steps(self, rows: list[Row]) -> None:
        """Add rows of steps."""
        self._write(STEPS, rows)

    def write_episodes(self, rows: list[Row]) -> None:
        """Add rows of episodes."""
        for row in rows:
            check(EPISODE, row)
        self._write(EPISODES, rows)

    def _write(self, name: str, rows: list[Row]) -> None:
        self._files[name].writelines(json.dumps(plain(row), default=str) + "\n" for row in rows)
        self._files[name].flush()

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


def read_log(folder: str | Path) -> tuple[Row, list[Row]]:
    """The header and the rows of the episodes of a log, also of one that was broken off.

    Raises:
        ParameterError: there is none, or a damaged one.
    """
    try:
        header = json.loads(read_file(Path(folder) / RUN, LARGEST))
        lines = read_file(Path(folder) / EPISODES, LARGEST).decode("utf-8").splitlines(keepends=True)
        rows = [json.loads(line) for line in lines if line.endswith("\n")]
        check(HEADER, header)
        seeds: dict[int, int] = {}
        for row in rows:
            check(EPISODE, row)
            if (seed := seeds.setdefault(row["episode"], row["seed"])) != row["seed"]:
                raise ParameterError(f"episode {row['episode']} has the seeds {seed} and {row['seed']}")
    except OSError as error:
        raise ParameterError(f"{folder} has no log of a lock-step run: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"the log in {folder} is damaged: {clipped(str(error))}") from None
    return header, rows
