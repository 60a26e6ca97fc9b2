"""Plots of fronts with two or three objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.pareto.sets import points_of

__all__ = ["plot"]

MARKS = ("o", "x", "^", "s", "D")


def plot(fronts: Any, objectives: Sequence[str] = ()) -> Any:
    """Plot fronts, each with its own color and marker.

        rlenvs.pareto.plot({"ours": front, "learnt": points}).savefig("front.png")

    Args:
        fronts: a `Front` or points (n, 2) or (n, 3); or several of them by name.
        objectives: names of the axes; those of the first `Front` where none are given.

    Returns:
        matplotlib's Figure.

    Raises:
        ParameterError: one objective, or more than three. MissingExtraError: matplotlib is not installed.
    """
    named = fronts if isinstance(fronts, Mapping) else {"front": fronts}
    names = list(objectives) or next((list(f.objectives) for f in named.values() if hasattr(f, "objectives")), [])
    points = {name: points_of(getattr(front, "values", front), name) for name, front in named.items()}
    counts = {rows.shape[1] for rows in points.values()}
    if len(counts) != 1 or not counts <= {2, 3}:
        raise ParameterError(f"only fronts of two or three objectives can be plotted together, not of {sorted(counts)}")
    figure, axes = _axes(counts.pop())
    for (name, rows), mark in zip(points.items(), MARKS * len(points), strict=False):
        axes.scatter(*rows.T, marker=mark, label=f"{name} ({len(rows)})")
    for axis, label in zip("xyz", names, strict=False):
        getattr(axes, f"set_{axis}label")(label)
    axes.legend()
    return figure


def _axes(count: int) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("plots of fronts", "pareto") from None
    figure = Figure(figsize=(6, 5), layout="constrained")
    return figure, figure.add_subplot(projection="3d" if count == 3 else None)
