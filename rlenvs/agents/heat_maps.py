"""Returns over grids of worlds as images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.robustness import Robustness

SIDE = 3.4  # inches, of a panel
MOST_COLUMNS = 3


def save_heat_maps(results: Sequence[tuple[str, Robustness]], path: Path) -> None:
    """Draw a panel for each result on a grid: the mean return over its first two parameters.

    Of three parameters and more, the smallest mean over the others; of one, a line with the range over seeds.

    Args:
        results: titles, and what was found on a grid.
        path: .png, .pdf or .svg.
    """
    from matplotlib.figure import Figure

    columns = min(len(results), MOST_COLUMNS)
    rows = -(-len(results) // columns)
    figure = Figure(figsize=(1.2 * SIDE * columns, SIDE * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (title, found) in zip(panels, results, strict=False):
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(found.names[0])
        draw = _draw_line if len(found.names) == 1 else _draw_map
        draw(figure, axes, found)
    for axes in panels[len(results) :]:
        axes.set_axis_off()
    figure.savefig(path, dpi=120)


def _draw_line(figure: Any, axes: Any, found: Robustness) -> None:
    values = found.contexts[:, 0]
    axes.fill_between(values, found.returns.min(axis=1), found.returns.max(axis=1), color="#0072b2", alpha=0.2, lw=0)
    axes.plot(values, found.means, "o-", color="#0072b2", markersize=4)
    axes.set_ylabel("mean return")


def _draw_map(figure: Any, axes: Any, found: Robustness) -> None:
    ticks = [np.unique(column) for column in found.contexts.T]
    means = found.means.reshape([len(own) for own in ticks])
    rest = tuple(range(2, means.ndim))
    shown = axes.pcolormesh(ticks[0], ticks[1], means.min(axis=rest).T, cmap="viridis", shading="nearest")
    axes.set_ylabel(found.names[1])
    others = f", worst over {', '.join(found.names[2:])}" if rest else ""
    figure.colorbar(shown, ax=axes).set_label(f"mean return{others}", fontsize=8)
