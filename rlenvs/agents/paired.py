"""Comparisons of line-ups that played the same seeds: means, and pairs of line-ups episode by episode."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.lockstep_log import read_log
from rlenvs.agents.ratings import aligned, student, wilson
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest

__all__ = ["Comparison", "Pair"]

SAME = 1e-9  # returns that differ by less are equal


@dataclass(frozen=True)
class Pair:
    """One line-up against another, on the same seeds.

    Attributes:
        first, second: their names.
        wins, draws, losses: episodes in which the first has the higher, an equal, the lower return.
        win_rate: share of wins; win_low, win_high: its 95 % interval (Wilson). Draws are not won.
        difference: mean of first - second over episodes; low, high: its 95 % interval (Student's t of the differences);
            -inf and inf of one episode.
    """

    first: str
    second: str
    wins: int
    draws: int
    losses: int
    win_rate: float
    win_low: float
    win_high: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """What line-ups reach on the same seeds. Arrays have a row per line-up and a column per episode.

    Attributes:
        id: the environment. keywords: it was made with. seeds: of the episodes.
        names: of the line-ups, in the order in which they were given.
        returns: mean return of the agents of the first team, float64.
        success: of that team, 0 or 1, NaN where the environment does not say; float64.
        steps: of the episode. decisions: of all agents together. illegal: of these that were replaced. int64.
    """

    id: str
    keywords: Mapping[str, Any]
    seeds: tuple[int, ...]
    names: tuple[str, ...]
    returns: np.ndarray
    success: np.ndarray
    steps: np.ndarray
    decisions: np.ndarray
    illegal: np.ndarray

    @classmethod
    def of(cls, header: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Comparison:
        """From the content of run.json and of episodes.jsonl; an episode counts when all line-ups have played it.

        Raises:
            ParameterError: there is none.
        """
        names = tuple(header["line_ups"])
        by_episode: dict[int, dict[str, Mapping[str, Any]]] = {}
        for row in rows:
            by_episode.setdefault(row["episode"], {})[row["run"]] = row
        whole = [found for _, found in sorted(by_episode.items()) if set(found) == set(names)]
        if not whole:
            raise ParameterError("no episode has been played by all line-ups")
        table = [[found[name] for found in whole] for name in names]

        def read(of: Any, kind: Any) -> np.ndarray:
            return np.array([[of(row) for row in own] for own in table], kind)

        return cls(
            header["id"],
            header["keywords"],
            tuple(found[names[0]]["seed"] for found in whole),
            names,
            read(lambda row: row["return"], np.float64),
            read(lambda row: math.nan if row["success"] is None else row["success"], np.float64),
            read(lambda row: row["steps"], np.int64),
            read(lambda row: sum(row["decisions"].values()), np.int64),
            read(lambda row: sum(row["illegal_actions"].values()), np.int64),
        )

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """From the folder of a log, also of one that was broken off.

        Raises:
            ParameterError: it has no log, or a damaged one.
        """
        return cls.of(*read_log(folder))

    def pair(self, first: str, second: str) -> Pair:
        """One line-up against another. UnknownNameError where there is none of a name."""
        gaps = self.returns[self._index(first)] - self.returns[self._index(second)]
        count, wins, losses = len(gaps), int((gaps > SAME).sum()), int((gaps < -SAME).sum())
        half = student(count - 1) * float(gaps.std(ddof=1)) / math.sqrt(count) if count > 1 else math.inf
        mean = float(gaps.mean())
        return Pair(
            first,
            second,
            wins,
            count - wins - losses,
            losses,
            wins / count,
            *wilson(wins, count),
            mean,
            mean - half,
            mean + half,
        )

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError(f"there is no line-up {name!r}. {nearest(str(name), self.names)}")
        return self.names.index(name)

    @property
    def pairs(self) -> list[Pair]:
        """All pairs of line-ups."""
        return [self.pair(*names) for names in itertools.combinations(self.names, 2)]

    def to_dict(self) -> dict[str, Any]:
        """In JSON types."""
        line_ups = [
            {
                "name": name,
                "return": float(self.returns[i].mean()),
                "success": None if np.isnan(self.success[i]).any() else float(self.success[i].mean()),
                "steps": float(self.steps[i].mean()),
                "decisions": int(self.decisions[i].sum()),
                "illegal_actions": int(self.illegal[i].sum()),
            }
            for i, name in enumerate(self.names)
        ]
        pairs = [
            {name: None if isinstance(value, float) and math.isinf(value) else value for name, value in vars(p).items()}
            for p in self.pairs
        ]
        head = {"id": self.id, "keywords": dict(self.keywords), "seeds": list(self.seeds)}
        return {**head, "line_ups": line_ups, "pairs": pairs}

    def save(self, file: str | Path) -> None:
        """Write `to_dict()` as JSON."""
        Path(file).write_text(json.dumps(self.to_dict(), indent=1) + "\n")

    def __str__(self) -> str:
        count = len(self.seeds)
        lines = [f"{self.id}, {count} episodes of each line-up on the same seeds from {self.seeds[0]}", ""]
        head: tuple[str, ...] = ("line-up", "return", "95 %", "success", "steps", "illegal")
        lines += aligned([head, *map(self._row, range(len(self.names)))])
        if len(self.names) > 1:
            head = ("line-up", "against", "won-drawn-lost", "won, 95 % interval", "difference, 95 % interval")
            lines += ["", *aligned([head, *map(_pair_row, self.pairs)])]
        return "\n".join(lines)

    def _row(self, i: int) -> tuple[str, ...]:
        own, count = self.returns[i], len(self.seeds)
        half = f"± {student(count - 1) * own.std(ddof=1) / math.sqrt(count):.2f}" if count > 1 else ""
        solved = self.success[i]
        return (
            self.names[i],
            f"{own.mean():.2f}",
            half,
            "" if np.isnan(solved).any() else f"{100 * solved.mean():.0f} %",
            f"{self.steps[i].mean():.1f}",
            f"{self.illegal[i].sum()} of {self.decisions[i].sum()}",
        )


def _pair_row(pair: Pair) -> tuple[str, ...]:
    share, low, high = (100 * number for number in (pair.win_rate, pair.win_low, pair.win_high))
    difference = f"{pair.difference:.2f}" + (f" ({pair.low:.2f} to {pair.high:.2f})" if math.isfinite(pair.low) else "")
    record = f"{pair.wins}-{pair.draws}-{pair.losses}"
    return pair.first, pair.second, record, f"{share:.0f} % ({low:.0f} - {high:.0f})", difference
