"""A live learning curve in notebooks for Stable-Baselines3."""

from __future__ import annotations

import io
import time
from typing import Any

import numpy as np

from rlenvs.agents.plots import figure_of_line, references_in
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import MissingExtraError

try:
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError as error:
    raise MissingExtraError("A live curve of Stable-Baselines3", "sb3") from error

__all__ = ["LiveCurveCallback"]


class LiveCurveCallback(BaseCallback):
    """A callback for `learn`: it plots the mean return of the last 100 episodes against environment steps, with random
    actions and the scripted expert for comparison. In a notebook the plot is updated during training; elsewhere nothing
    is shown; `figure` gives the image.

        model.learn(50_000, callback=rlenvs.LiveCurveCallback("CartPole-v0"))

    Args:
        id: the environment, with its default parameters, for the lines to compare with; None for no lines.
        every: seconds from image to image.

    Attributes:
        steps, returns: what is drawn.

    Raises:
        UnknownNameError: an id that does not exist. MissingExtraError: Stable-Baselines3 is not installed.
    """

    def __init__(self, id: str | None = None, every: float = 1.0) -> None:
        super().__init__()
        self.title, self.references = "", {}
        if id is not None:
            world = world_of(id)
            self.title = world.name
            self.references = {name: score.mean for name, score in references_in(world.scores).items()}
        self.every, self._last = every, time.monotonic()
        self._shown: Any = None
        self.steps: list[int] = []
        self.returns: list[float] = []

    @property
    def figure(self) -> Any:
        """The image, a matplotlib figure."""
        return figure_of_line(self.title, self.steps, self.returns, self.references)

    def _on_step(self) -> bool:
        if time.monotonic() - self._last >= self.every:
            self._take()
        return True

    def _on_training_end(self) -> None:
        self._take()

    def _take(self) -> None:
        episodes = self.model.ep_info_buffer
        if episodes:
            self.steps.append(self.num_timesteps)
            self.returns.append(float(np.mean([episode["r"] for episode in episodes])))
            self._display()
        self._last = time.monotonic()

    def _display(self) -> None:
        try:
            from IPython import get_ipython
            from IPython.display import Image, display
        except ImportError:
            return
        shell = get_ipython()
        if shell is None or not hasattr(shell, "kernel"):  # a terminal shows no images
            return
        file = io.BytesIO()
        self.figure.savefig(file, format="png", dpi=100)
        image = Image(file.getvalue())
        if self._shown is None:
            self._shown = display(image, display_id=True)
        else:
            self._shown.update(image)
