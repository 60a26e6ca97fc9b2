"""The demo: PPO learns to hover, and is compared with chance and with the scripted expert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.evaluate import Evaluation, Policy, evaluate, scale_score
from rlenvs.agents.train import Progress, greedy, train_ppo
from rlenvs.agents.video import pace, save_gif, video
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import MissingExtraError
from rlenvs.core.declare.setup import Setup

ID = "rlenvs/QuadHover-v0"
STEPS = 500_000
FLIGHT_SEED = 1000  # a flight that no evaluation counts
PANEL = 400  # pixels


@dataclass(frozen=True)
class Demo:
    """What the demo found.

    Attributes:
        evaluations: of "random", "ppo" and "expert", over the same seeds.
        score: PPO's mean return where random has 0 and the expert 1.
        curve: (environment steps, mean return of the last 100 training episodes) after every rollout; with exploration,
            so below the return that is evaluated.
        policy: what was learned, as `rlenvs.evaluate` takes it.
    """

    evaluations: dict[str, Evaluation]
    score: float
    curve: list[tuple[int, float]]
    policy: Policy

    def scaled(self, name: str) -> float:
        """The mean return of one of the evaluations where random has 0 and the expert 1."""
        means = {key: result.mean for key, result in self.evaluations.items()}
        return scale_score(means[name], means["random"], means["expert"])


def run_demo(
    steps: int = STEPS,
    seed: int = 0,
    seeds: int = 100,
    progress: Callable[[Progress], Any] | None = None,
    **keywords: Any,
) -> Demo:
    """Train PPO on QuadHover and evaluate it.

    Args:
        steps: of training, all environments together.
        seed: of training.
        seeds: episodes per evaluation.
        progress: as for `train_ppo`.
        keywords: of the environment.

    Raises:
        MissingExtraError: Stable-Baselines3 is not installed.
    """
    curve = []

    def note(now: Progress) -> None:
        curve.append((now.steps, now.mean_return))
        if progress is not None:
            progress(now)

    policy = greedy(train_ppo(ID, steps, seed=seed, progress=note, **keywords))
    policies: dict[str, Policy] = {"random": "random", "ppo": policy, "expert": "expert"}
    evaluations = {name: evaluate(ID, choice, seeds=seeds, **keywords) for name, choice in policies.items()}
    means = {name: result.mean for name, result in evaluations.items()}
    return Demo(evaluations, scale_score(means["ppo"], means["random"], means["expert"]), curve, policy)


def check_plotting() -> None:
    """MissingExtraError, before minutes of training, when the curve could not be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError("The learning curve", "sb3") from None


def save_curve(demo: Demo, path: Path) -> None:
    """Draw the learning curve between the levels of chance and of the expert, as a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    steps, returns = np.array(demo.curve).T
    axes.plot(steps / 1000, returns, color="#0072b2", label="PPO, last 100 training episodes, exploring")
    axes.plot(steps[-1] / 1000, demo.evaluations["ppo"].mean, "o", color="#0072b2", label="PPO, evaluated")
    for name, label, color in (("expert", "scripted expert", "#009e73"), ("random", "random", "#969696")):
        axes.axhline(demo.evaluations[name].mean, color=color, linestyle="--", label=label)
    axes.set(xlabel="environment steps (thousands)", ylabel="return of an episode", title="PPO learns QuadHover")
    axes.set_xlim(0, None)
    axes.set_ylim(0, None)
    axes.grid(alpha=0.3)
    axes.legend(loc="center right", framealpha=0.9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def save_flight(demo: Demo, path: Path, seconds: float = 6.0, **keywords: Any) -> None:
    """Video random and learned flight side by side, from the same start to the same goal, as a GIF."""
    every, fps = pace(path, Setup(world_of(ID), **keywords).fps)
    videos = [video(ID, policy, FLIGHT_SEED, seconds, every, **keywords) for policy in ("random", demo.policy)]
    labels = ("before: random", "after: PPO")
    path.parent.mkdir(parents=True, exist_ok=True)
    pairs = zip(*videos, strict=True)
    save_gif(path, (np.hstack([_panel(*part) for part in zip(pair, labels, strict=True)]) for pair in pairs), fps)


def _panel(frame: np.ndarray, label: str) -> np.ndarray:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(frame).resize((PANEL, PANEL), Image.Resampling.LANCZOS)
    place = (PANEL - 12, PANEL - 12)
    ImageDraw.Draw(image).text(place, label, (30, 30, 30), ImageFont.load_default(size=18), anchor="rs")
    return np.asarray(image)
