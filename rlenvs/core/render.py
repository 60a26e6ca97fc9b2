"""Pictures of a batch's worlds: arrays, text, or a window."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.batch import KernelBatch
from rlenvs.core.canvas import Canvas
from rlenvs.core.errors import EpisodeOverError, ParameterError
from rlenvs.core.spec import World

RENDER_MODES = ["human", "rgb_array", "ansi"]


def render_modes(world: World) -> list[str]:
    """The modes that a world offers."""
    modes = ["human", "rgb_array"] if world.draw_function or world.engine else []
    return modes + (["ansi"] if world.text_function else [])


def check_mode(world: World, mode: str | None) -> None:
    """ParameterError when the world cannot be rendered in this mode."""
    if mode is not None and mode not in render_modes(world):
        raise ParameterError(f"{world.name} has no render_mode {mode!r}; it has {render_modes(world)}")


def draw(batch: KernelBatch, index: int, canvas: Canvas) -> np.ndarray:
    """The picture of one world, uint8 (height, width, 3)."""
    canvas.clear()
    photo = batch.photo(index, canvas.width, canvas.height)
    if photo is not None:
        canvas.photo(photo)
    if batch.world.draw_function is not None:
        batch.world.draw_function(canvas, *batch.records(index))
    return canvas.pixels()


class Renderer:
    """Draws worlds in one mode, with a canvas made at the first picture."""

    def __init__(self, mode: str | None, fps: float) -> None:
        self._mode = mode
        self._fps = fps
        self._canvas: Canvas | None = None
        self._window: Any = None
        self._clock: Any = None

    def picture(self, batch: KernelBatch, index: int) -> Any:
        """The picture of one world; None when the mode is None or "human"."""
        if self._mode is None:
            return None
        if not batch.seeded:
            raise EpisodeOverError(f"{batch.world.name}: call reset() before render()")
        if self._mode == "ansi":
            assert batch.world.text_function is not None
            return batch.world.text_function(*batch.records(index))
        if self._canvas is None:
            self._canvas = Canvas()
        frame = draw(batch, index, self._canvas)
        if self._mode == "rgb_array":
            return frame
        self._show(self._canvas, batch.world.name)
        return None

    def _show(self, canvas: Canvas, title: str) -> None:
        import pygame

        if self._window is None:
            pygame.display.init()
            pygame.display.set_caption(title)
            self._window = pygame.display.set_mode((canvas.width, canvas.height))
            self._clock = pygame.time.Clock()
        canvas.show(self._window)
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Close the window, if any."""
        if self._window is not None:
            import pygame

            pygame.display.quit()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_mode": self._mode, "_fps": self._fps, "_canvas": None, "_window": None, "_clock": None}
