"""Learning curves as images: of training runs, and of the curves that ship."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.curves import Curve, MeanCurve, RunCurve, mean_curves
from rlenvs.agents.learning import all_curves, image_of, title_of
from rlenvs.agents.store import references_of
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import MissingExtraError, NoAgentError, ParameterError
from rlenvs.core.declare.parts import Score
from rlenvs.core.declare.spec import World

SUFFIXES = (".png", ".pdf", ".svg")
X = ("steps", "seconds")
# what can be drawn: its label, and its columns of a run: of training episodes, and of evaluations
Y: dict[str, tuple[str, str | None, str]] = {
    "return": ("return of an episode", "mean_return", "evaluated_return"),
    "success": ("success", "success", "evaluated_success"),
    "cost": ("cost of an episode, of all agents and costs", None, "evaluated_cost"),
}
UNITS = (("h", 3600.0, 3.0), ("min", 60.0, 3.0), ("s", 1.0, 0.0))  # name, seconds, and of how many on it is used
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # of runs
COLOR_OF = {  # an algorithm looks the same in all images
    "PPO": "#0072b2",
    "MaskablePPO": "#009e73",
    "RecurrentPPO": "#56b4e9",
    "PPOLagrangian": "#332288",
    "MAPPO": "#44aa99",
    "SAC": "#d55e00",
    "TQC": "#882255",
    "TD3": "#cc79a7",
    "DDPG": "#a6761d",
    "DQN": "#e69f00",
    "QRDQN": "#999933",
    "DAgger": "#7f3c8d",
    "BC": "#b39ddb",
}
OTHERS = "#000000"  # of algorithms from elsewhere
REFERENCES = {"expert": "--", "random": ":", "bound": "-"}
STRETCH = 0.5  # of the height of all else: a bound further away than that is left out
MOST_COLUMNS = 3
PAGE_DPI, PAGE_COLORS = 100, 64  # few colours make small files


# --- what is asked for ------------------------------------------------------------------------------------------------


def check_file(path: Path) -> None:
    """ParameterError for a suffix that is none of a drawing's."""
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{path.name!r} must end in {' or '.join(SUFFIXES)}")


def check_axes(x: str, y: str | None) -> None:
    """ParameterError for an axis that cannot be drawn."""
    for axis, given, allowed in (("x", x, X), ("y", y or "return", tuple(Y))):
        if given not in allowed:
            raise ParameterError(f"{axis}={given!r} is not one of {', '.join(allowed)}")


def check_plotting(what: str = "A learning curve") -> None:
    """MissingExtraError where nothing can be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError(what, "sb3") from None


# --- of runs ----------------------------------------------------------------------------------------------------------


def save_runs(curves: Sequence[RunCurve], path: Path, title: str = "", x: str = "steps", y: str | None = None) -> None:
    """Draw runs, one color each, as a PNG, PDF or SVG.

    Lines are means over the last 100 training episodes, points evaluations without exploration.

    Args:
        curves: of the runs.
        path: where to.
        title: above all.
        x: "steps" or "seconds".
        y: of Y; None for a panel of each that shows anything.
    """
    shown = [y] if y else [name for name in Y if any(_interesting(curve, name) for curve in curves)] or ["return"]
    figure = _figure(7, 1 + 2.8 * len(shown))
    grid: Any = figure.subplots(len(shown), 1, sharex=True, squeeze=False)
    unit = _unit(max(float(curve.columns[x].max()) for curve in curves)) if x == "seconds" else ("", 1.0)
    for axes, name in zip(grid[:, 0], shown, strict=True):
        for k, curve in enumerate(curves):
            _draw_run(axes, curve, name, COLORS[k % len(COLORS)], x, unit[1])
        _style(axes, name)
    grid[0, 0].legend(loc="best", framealpha=0.9, title="points: evaluated; line: training episodes", fontsize="small")
    _label_x(grid[-1, 0], x, unit[0])
    grid[0, 0].set_title(title)
    figure.savefig(path, dpi=120)


def _interesting(curve: RunCurve, name: str) -> bool:
    """Whether a panel shows anything; costs of worlds without costs are all zero."""
    values = curve.of(Y[name][2])[1]
    return len(values) > 0 and (name == "return" or bool(values.any()))


def _draw_run(axes: Any, curve: RunCurve, name: str, color: str, x: str, scale: float) -> None:
    _, trained, evaluated = Y[name]
    at, values = curve.of(trained, x)
    axes.plot(at / scale, values, color=color, alpha=0.5, linewidth=1.2)
    at, values = curve.of(evaluated, x)
    axes.plot(at / scale, values, "o-", color=color, markersize=3.5, label=curve.folder.name)


# --- of environments --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Panel:
    """One environment, or a level of one.

    Attributes:
        title: above it. means: a curve per algorithm. references: values of policies by name, drawn as level lines.
    """

    title: str
    means: Sequence[MeanCurve]
    references: Mapping[str, float]

    @property
    def digest(self) -> str:
        """Of all that is drawn over steps."""
        digest = hashlib.sha256(f"{self.title} {sorted(self.references.items())}".encode())
        for curve in (curve for mean in self.means for curve in mean.curves):
            numbers = np.concatenate([curve.columns["steps"], curve.columns["return"]])
            digest.update(f"{curve.algorithm} {curve.seed} {numbers.tolist()}".encode())
        return digest.hexdigest()[:32]


def panels_of(id: str, y: str = "return") -> list[Panel]:
    """The panels of an environment: its defaults, and every level with curves of its own.

    Raises:
        UnknownNameError: no such id, or (NoAgentError) no curve for it.
        RunError: a curve is damaged.
    """
    world = world_of(id)
    found = [_panel(world, level, curves, y) for level, curves in all_curves(world).items()]
    if not found:
        raise NoAgentError(
            f"there is no published learning curve for {world.name}; train one with: rlenvs train {world.name}"
        )
    return found


def images_of(world: World) -> dict[str, Panel]:
    """What the images of an environment's page show, by where they lie; none where no curve ships."""
    found = all_curves(world)
    return {image_of(world, level): _panel(world, level, curves, "return") for level, curves in found.items()}


def references_in(scores: Mapping[str, Score]) -> dict[str, Score]:
    """The scores that are drawn as level lines."""
    return {name: scores[name] for name in REFERENCES if name in scores}


def _panel(world: World, level: str | None, curves: Sequence[Curve], y: str) -> Panel:
    known = references_in(references_of(world, level))
    values = {name: score.mean if y == "return" else score.success for name, score in known.items() if y != "cost"}
    return Panel(
        title_of(world, level),
        mean_curves(curves),
        {name: value for name, value in values.items() if value is not None},
    )


def save_panels(panels: Sequence[Panel], path: Path, x: str = "steps", y: str = "return") -> None:
    """Draw panels side by side, as a PNG, PDF or SVG.

    One color per algorithm: the mean over its seeds, a band from the lowest to the highest seed, and each seed thin.

    Args:
        panels: what is drawn.
        path: where to.
        x: "steps" or "seconds".
        y: of Y.
    """
    figure_of_panels(panels, x, y).savefig(path, dpi=120)


def save_for_page(panel: Panel, path: Path) -> None:
    """Draw the image of an environment's page: a small WebP, the same bytes from the same curves and libraries.

    It shows no single seeds, and holds the panel's digest, which `digest_of_image` finds.
    """
    from PIL import Image

    figure = figure_of_panels([panel], each_seed=False)
    figure.set_dpi(PAGE_DPI)
    figure.canvas.draw()
    image = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    image = image.quantize(PAGE_COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).convert("RGB")
    image.save(path, lossless=True, method=6, xmp=panel.digest.encode())


def digest_of_image(path: Path) -> str:
    """Of what an image of a page shows; empty where there is no such image."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return str(image.info.get("xmp", b"").decode())
    except OSError:
        return ""


def figure_of_panels(panels: Sequence[Panel], x: str = "steps", y: str = "return", each_seed: bool = True) -> Any:
    """The drawing of some panels, with one legend below them."""
    columns = min(len(panels), MOST_COLUMNS)
    rows = -(-len(panels) // columns)
    figure = _figure(6.4 if columns == 1 else 3.6 * columns, 0.7 + (3.1 if columns == 1 else 2.6) * rows)
    grid: Any = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, panel, x, y, each_seed)
    for axes in grid[:, 1:].flat:
        axes.set_ylabel("")
    named: dict[str, Any] = {}
    for axes in grid.flat:
        handles, labels = axes.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    named = {name: named[name] for name in sorted(named, key=lambda name: (name in REFERENCES, name))}
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=6, frameon=False, fontsize="small")
    return figure


def figure_of_line(title: str, steps: Sequence[int], returns: Sequence[float], references: Mapping[str, float]) -> Any:
    """The drawing of one run's returns, and of values to compare them with."""
    figure = _figure(6.4, 3.4)
    axes: Any = figure.subplots()
    axes.plot(steps, returns, marker="o" if len(steps) == 1 else None, color=COLORS[0], label="training")
    _draw_references(axes, references)
    axes.set_title(title, fontsize="medium")
    _style(axes, "return")
    _label_x(axes, "steps", "")
    axes.legend(frameon=False, fontsize="small")
    return figure


def _draw_panel(axes: Any, panel: Panel, x: str, y: str, each_seed: bool) -> None:
    unit = _unit(max(float(mean.ends[x].max()) for mean in panel.means)) if x == "seconds" else ("", 1.0)
    for mean in panel.means:
        _draw_mean(axes, mean, x, y, unit[1], each_seed)
    _draw_references(axes, panel.references)
    axes.set_title(panel.title, fontsize="medium")
    _style(axes, y)
    _label_x(axes, x, unit[0])


def _draw_mean(axes: Any, mean: MeanCurve, x: str, y: str, scale: float, each_seed: bool) -> None:
    """Against time, all lines are drawn at the mean time of their steps: a seed is as long as its mean."""
    color, at = color_of(mean.algorithm), mean.columns[x] / scale
    if len(mean.curves) > 1:
        axes.fill_between(at, mean.low[y], mean.high[y], color=color, alpha=0.15, linewidth=0)
        for curve in mean.curves if each_seed else ():
            own = curve.columns["steps"]
            own = own if x == "steps" else np.interp(own, mean.columns["steps"], at, np.nan, np.nan)
            axes.plot(own, curve.columns[y], color=color, alpha=0.5, linewidth=0.7)
    marker = "o" if len(at) == 1 else None
    axes.plot(at, mean.columns[y], marker=marker, color=color, linewidth=1.8, label=mean.algorithm)


def _draw_references(axes: Any, references: Mapping[str, float]) -> None:
    """Level lines; a bound that would flatten all else is left out."""
    for name, value in references.items():
        low, high = axes.get_ylim()
        if name != "bound" or low - STRETCH * (high - low) <= value <= high + STRETCH * (high - low):
            axes.axhline(value, color="#555555", linestyle=REFERENCES[name], linewidth=0.9, label=name, zorder=1.5)


def color_of(algorithm: str) -> str:
    """The color of an algorithm."""
    return COLOR_OF.get(algorithm, OTHERS)


# --- axes -------------------------------------------------------------------------------------------------------------


def _figure(width: float, height: float) -> Any:
    check_plotting()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _unit(seconds: float) -> tuple[str, float]:
    """Name and length in seconds of the unit for a span of time."""
    return next((name, length) for name, length, least in UNITS if seconds >= least * length)


def _label_x(axes: Any, x: str, unit: str) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5))
    if x == "steps":
        axes.xaxis.set_major_formatter(EngFormatter(sep="\N{THIN SPACE}"))
    axes.set_xlabel("environment steps" if x == "steps" else f"wall time [{unit}]")


def _style(axes: Any, name: str) -> None:
    axes.set_ylabel(Y[name][0])
    axes.grid(alpha=0.3)
    axes.set_xlim(0, None)
    if name == "success":
        axes.set_ylim(-0.03, 1.03)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
