"""Learning curves: those of training runs, and the published ones that ship with the agents.

    <store>/QuadHover-v0/curves/PPO-seed-0.csv
    <store>/QuadHover-v0/curves/hard-PPO-seed-0.csv     of the level hard

A shipped curve has a row per evaluation without exploration, with the columns of PUBLISHED: environment steps, seconds
of wall time, mean return and its 95 % half width, success rate, mean cost of an episode.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rlenvs.agents.runs import PROGRESS
from rlenvs.agents.store import CURVES, stores
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import RunError, nearest
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.user_files import read_file

__all__ = ["Curve", "MeanCurve", "curves_of", "mean_curve", "published_curve"]

PUBLISHED = ("steps", "seconds", "return", "half_width", "success", "cost")
MAY_BE_EMPTY = ("success",)  # of worlds without it
NAME = re.compile(r"(?:(?P<level>.+)-)?(?P<algorithm>[^-]+)-seed-(?P<seed>\d{1,18})\.csv")
LARGEST = 1 << 26  # bytes of a table
DIGITS = 5  # of what was measured: episodes of an evaluation differ by far more


# --- tables -----------------------------------------------------------------------------------------------------------


def _columns(path: Path, whole: bool) -> dict[str, np.ndarray]:
    """The numbers of a table by column, NaN for empty cells.

    Args:
        path: the file.
        whole: whether it must be complete; the table of a run may lack the end of its last line.

    Raises:
        OSError: the file cannot be read. ValueError: it holds something else than numbers, or is not complete.
    """
    text = read_file(path, LARGEST).decode("utf-8")
    if whole and not text.endswith("\n"):
        raise ValueError("it is truncated")
    head, *rows = list(csv.reader(io.StringIO(text, newline=""))) or [[]]
    for number, row in enumerate(rows, 2):
        row += [""] * (0 if whole else len(head) - len(row))
        if len(row) != len(head):
            raise ValueError(f"line {number} has {len(row)} cells, the head {len(head)}")
    numbers = np.array([[float(cell or math.nan) for cell in row] for row in rows]).reshape(len(rows), len(head))
    return dict(zip(head, numbers.T, strict=True))


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)[:200]


# --- of runs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunCurve:
    """What a run's table of progress holds.

    Attributes:
        folder: of the run. columns: by name, float64 (rows,), NaN where nothing was written.
    """

    folder: Path
    columns: dict[str, np.ndarray]

    def of(self, name: str | None, against: str = "steps") -> tuple[np.ndarray, np.ndarray]:
        """Steps, or seconds, and values, where there are values."""
        values = self.columns.get(name or "", np.empty(0))
        known = np.isfinite(values)
        return self.columns[against][: len(values)][known], values[known]


def read_curves(folder: str | Path) -> list[RunCurve]:
    """The curves of a run, or of all runs in a folder, by name.

    Raises:
        RunError: there is none, or one cannot be read.
    """
    place = Path(folder)
    try:
        places = [place] if (place / PROGRESS).exists() else sorted(path.parent for path in place.glob(f"*/{PROGRESS}"))
    except OSError as error:
        raise RunError(f"{place} cannot be read: {error.strerror}") from None
    curves = [RunCurve(path, _progress(path / PROGRESS)) for path in places]
    curves = [curve for curve in curves if len(curve.columns["steps"])]
    if not curves:
        raise RunError(f"{place} contains no run with training progress; rlenvs train writes to runs/ID by default")
    return curves


def _progress(path: Path) -> dict[str, np.ndarray]:
    try:
        columns = _columns(path, whole=False)
        if "steps" not in columns or "seconds" not in columns:
            raise ValueError("it has no columns steps and seconds")
    except (OSError, ValueError, csv.Error) as error:
        raise RunError(f"{path} is not a progress table of a run: {_reason(error)}") from None
    return columns


# --- that ship --------------------------------------------------------------------------------------------------------


def published_curve(progress: str | Path) -> str:
    """The text of the published curve, from a run's progress table.

    Args:
        progress: the progress.csv of a run.

    Returns:
        CSV with the columns of PUBLISHED, a row per evaluation. Of two at the same step, which an interruption leaves,
        the later one counts.

    Raises:
        RunError: the file cannot be read, is no such table, or holds no evaluation.
    """
    path = Path(progress)
    columns = _progress(path)
    wanted = [columns.get(name if name in ("steps", "seconds") else f"evaluated_{name}") for name in PUBLISHED]
    if any(column is None for column in wanted):
        raise RunError(f"{path} is not a progress table of a run: it has no columns of evaluations")
    rows = {row[0]: row for row in zip(*wanted, strict=True) if math.isfinite(row[2])}
    if not rows:
        raise RunError(
            f"{path} contains no evaluation yet; a training run is evaluated twenty times, the last time at its end"
        )
    return "\n".join(map(",".join, [PUBLISHED, *(map(_short, row) for row in rows.values())])) + "\n"


def _short(value: float) -> str:
    """A number with DIGITS digits, steps and others that are whole with all; empty for NaN."""
    if math.isnan(value):
        return ""
    rounded = value if value.is_integer() else float(f"{value:.{DIGITS}g}")
    return f"{rounded + 0.0:.15g}"


@dataclass(frozen=True)
class Curve:
    """A published learning curve.

    Attributes:
        id: the environment, such as "QuadHover-v0". level: of it; None for the defaults.
        algorithm, seed: of the training.
        columns: by the names of PUBLISHED, float64 (evaluations,), steps increasing; success is NaN where unknown.
    """

    id: str
    level: str | None
    algorithm: str
    seed: int
    columns: dict[str, np.ndarray]


def curves_of(id: str, level: str | None = None, algorithm: str | None = None) -> list[Curve]:
    """The published curves of an environment, by algorithm and seed.

    Args:
        id: the environment.
        level: of it; None for the defaults.
        algorithm: one alone; None for all.

    Raises:
        UnknownNameError: no such id or level.
        RunError: a file in the folder of curves is none, or damaged, or of a level that does not exist.
    """
    world = world_of(id)
    world.level(level)  # which must exist
    found: dict[str, Path] = {}
    for store in reversed(stores()):  # those in front win
        found |= {path.name: path for path in (store / world.name / CURVES).glob("*.csv")}
    named = [(path, _parts(path, world)) for path in found.values()]
    wanted = [pair for pair in named if pair[1]["level"] == level and algorithm in (None, pair[1]["algorithm"])]
    return sorted((_published(world.name, *pair) for pair in wanted), key=lambda curve: (curve.algorithm, curve.seed))


def _parts(path: Path, world: World) -> re.Match[str]:
    """Level, algorithm and seed, by the name of a file."""
    parts = NAME.fullmatch(path.name)
    if parts is None:
        raise RunError(f"{path} is not a curve: its name must be [LEVEL-]ALGORITHM-seed-K.csv, such as PPO-seed-0.csv")
    if parts["level"] not in (None, *world.levels):
        raise RunError(
            f"{path} belongs to a level that {world.name} does not have. {nearest(parts['level'], world.levels)}"
        )
    return parts


def _published(id: str, path: Path, parts: re.Match[str]) -> Curve:
    try:
        columns = _columns(path, whole=True)
        _check(columns)
    except (OSError, ValueError, csv.Error) as error:
        raise RunError(f"{path} is not a curve, or is damaged: {_reason(error)}") from None
    return Curve(id, parts["level"], parts["algorithm"], int(parts["seed"]), columns)


def _check(columns: dict[str, np.ndarray]) -> None:
    """ValueError unless these are the columns of a curve."""
    if tuple(columns) != PUBLISHED:
        raise ValueError(f"its columns are {','.join(columns)[:100]}; needed: {','.join(PUBLISHED)}")
    if not len(columns["steps"]):
        raise ValueError("it has no rows")
    for name, values in columns.items():
        if not (np.isfinite(values) | (np.isnan(values) & (name in MAY_BE_EMPTY))).all():
            raise ValueError(f"{name} must be a finite number in every row")
    if columns["steps"][0] < 0 or (np.diff(columns["steps"]) <= 0).any() or (np.diff(columns["seconds"]) < 0).any():
        raise ValueError("steps must increase from row to row, and seconds must not decrease")


# --- means over seeds -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeanCurve:
    """The mean curve over the seeds of one algorithm, at the steps of their evaluations.

    Attributes:
        algorithm: of all. curves: of the seeds.
        columns: means by the names of PUBLISHED, float64 (rows,); between its evaluations a seed is interpolated.
        low, high: by these names, the lowest and highest seed.
    """

    algorithm: str
    curves: Sequence[Curve]
    columns: dict[str, np.ndarray]
    low: dict[str, np.ndarray]
    high: dict[str, np.ndarray]

    @property
    def ends(self) -> dict[str, np.ndarray]:
        """The last row of every seed by the names of PUBLISHED, float64 (seeds,)."""
        return {name: np.array([curve.columns[name][-1] for curve in self.curves]) for name in PUBLISHED}


def mean_curve(curves: Sequence[Curve]) -> MeanCurve:
    """The mean of curves of one algorithm, over the steps covered by all of them.

    Raises:
        RunError: one ends before another begins.
    """
    begin = max(curve.columns["steps"][0] for curve in curves)
    end = min(curve.columns["steps"][-1] for curve in curves)
    if begin > end:
        first = curves[0]
        raise RunError(f"the curves of {first.id} by {first.algorithm} have no step in common: one ends at {end:.0f}")
    steps = np.unique(np.concatenate([curve.columns["steps"] for curve in curves]))
    steps = steps[(begin <= steps) & (steps <= end)]
    each = {
        name: np.array([np.interp(steps, curve.columns["steps"], curve.columns[name]) for curve in curves])
        for name in PUBLISHED
    }
    mean, low, high = (
        {name: over(values, axis=0) for name, values in each.items()} for over in (np.mean, np.min, np.max)
    )
    return MeanCurve(curves[0].algorithm, curves, mean, low, high)


def mean_curves(curves: Iterable[Curve]) -> list[MeanCurve]:
    """The mean curve of each algorithm, in the order in which they come."""
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.algorithm, []).append(curve)
    return [mean_curve(group) for group in groups.values()]
