"""Learning curves of training runs, drawn from their folders."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.runs import PROGRESS
from rlenvs.agents.writing import read_file
from rlenvs.core.errors import MissingExtraError, ParameterError, RunError

PANELS = (
    ("return of an episode", "mean_return", "evaluated_return"),
    ("success", "success", "evaluated_success"),
    ("cost of an episode", None, "evaluated_cost"),
)
LARGEST = 1 << 26  # bytes of a table
SUFFIXES = (".png", ".pdf", ".svg")
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


@dataclass(frozen=True)
class Curve:
    """What a run's table of progress holds.

    Attributes:
        folder: of the run. columns: by name, float64 (rows,), NaN where nothing was written.
    """

    folder: Path
    columns: dict[str, np.ndarray]

    def of(self, name: str | None) -> tuple[np.ndarray, np.ndarray]:
        """Steps and values, where there are values."""
        values = self.columns.get(name or "", np.empty(0))
        known = np.isfinite(values)
        return self.columns["steps"][: len(values)][known], values[known]


def read_curves(folder: str | Path) -> list[Curve]:
    """The curves of a run, or of all runs in a folder, by name.

    Raises:
        RunError: there is none, or one cannot be read.
    """
    place = Path(folder)
    try:
        places = [place] if (place / PROGRESS).exists() else sorted(path.parent for path in place.glob(f"*/{PROGRESS}"))
    except OSError as error:
        raise RunError(f"{place} cannot be read: {error.strerror}") from None
    curves = [Curve(path, _columns(path / PROGRESS)) for path in places]
    curves = [curve for curve in curves if len(curve.columns["steps"])]
    if not curves:
        raise RunError(f"{place} holds no run that has begun to learn; rlenvs train writes to runs/ID by default")
    return curves


def _columns(path: Path) -> dict[str, np.ndarray]:
    try:
        text = read_file(path, LARGEST).decode("utf-8")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        names = rows[0].keys() if rows else ["steps"]
        return {name: np.array([float(row[name] or math.nan) for row in rows]) for name in {*names, "steps"}}
    except (OSError, ValueError, TypeError, KeyError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)[:200]
        raise RunError(f"{path} is no table of a run's progress: {reason}") from None


PUBLISHED = {  # columns of a published curve, and those of a run's table
    "steps": "steps",
    "seconds": "seconds",
    **{name: f"evaluated_{name}" for name in ("return", "half_width", "success", "cost")},
}


def published_curve(path: str | Path) -> str:
    """A run's evaluations as a table to be published, from its progress.csv: a line of names, a line per evaluation.

    Raises:
        RunError: there is no such table, or it cannot be read.
    """
    columns = _columns(Path(path))
    evaluated = np.isfinite(columns.get("evaluated_return", np.empty(0)))
    rows = np.transpose([columns[name][evaluated] for name in PUBLISHED.values()] if evaluated.any() else [])
    lines = [",".join(f"{value:.6g}" if value % 1 else f"{value:.0f}" for value in row) for row in rows]
    return "\n".join([",".join(PUBLISHED), *lines]) + "\n"


def check_file(path: Path) -> None:
    """ParameterError for a suffix that is none of a drawing's."""
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{path.name!r} must end in {' or '.join(SUFFIXES)}")


def check_plotting(what: str = "A learning curve") -> None:
    """MissingExtraError where nothing can be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError(what, "sb3") from None


def save_curves(curves: list[Curve], path: Path, title: str = "") -> None:
    """Draw returns, success and costs over environment steps, one colour per run, as a PNG, PDF or SVG.

    Lines are means over the last 100 training episodes, points evaluations without exploration.
    """
    check_plotting()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = [panel for panel in PANELS if any(_interesting(curve.of(panel[2])[1], panel[0]) for curve in curves)]
    panels = panels or [PANELS[0]]
    figure = Figure(figsize=(7, 1 + 2.8 * len(panels)), layout="constrained")
    FigureCanvasAgg(figure)
    grid: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)
    for axes, panel in zip(grid[:, 0], panels, strict=True):
        _draw(axes, curves, panel)
    grid[-1, 0].set_xlabel("environment steps")
    grid[0, 0].set_title(title)
    figure.savefig(path, dpi=120)


def _interesting(values: np.ndarray, label: str) -> bool:
    """Whether a panel shows anything; costs of worlds without costs are all zero."""
    return len(values) > 0 and (label.startswith("return") or bool(values.any()))


def _draw(axes: Any, curves: list[Curve], panel: tuple[str, str | None, str]) -> None:
    label, trained, evaluated = panel
    for k, curve in enumerate(curves):
        color = COLORS[k % len(COLORS)]
        axes.plot(*curve.of(trained), color=color, alpha=0.5, linewidth=1.2)
        axes.plot(*curve.of(evaluated), "o-", color=color, markersize=3.5, label=curve.folder.name)
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    axes.set_xlim(0, None)
    if label == "success":
        axes.set_ylim(-0.03, 1.03)
    if label == PANELS[0][0]:
        axes.legend(loc="best", framealpha=0.9, title="points: evaluated; line: training episodes", fontsize="small")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
