"""Images of a batch's worlds: arrays, text, or a window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.canvas import Canvas, Drawing, Head
from rlenvs.core.declare.errors import EpisodeOverError, ParameterError, shortened
from rlenvs.core.declare.inputs import truth
from rlenvs.core.declare.limits import LONGEST
from rlenvs.core.declare.parts import limits_of
from rlenvs.core.declare.spec import World
from rlenvs.core.forms.language import observed

RENDER_MODES = ["human", "rgb_array", "ansi"]
FEW_TEAMS = 3  # whose returns are shown one by one
UNKNOWN = "-"  # in the place of a number


def has_image(world: World) -> bool:
    """Whether a world says how it looks."""
    return "draw" in world.functions or bool(world.engine)


def check_image(world: World) -> None:
    """ParameterError when the world does not say how it looks."""
    if not has_image(world):
        raise ParameterError(f"{world.name} has no image; declare one with @SPEC.draw")


def check_mode(world: World, mode: str | None) -> None:
    """ParameterError when there is no such mode; all worlds have the same ones."""
    if mode is not None and not (isinstance(mode, str) and mode in RENDER_MODES):
        raise ParameterError(f"{world.name} has no render_mode {shortened(mode)}; it has {RENDER_MODES}")


def draw(batch: KernelBatch, index: int, canvas: Canvas) -> np.ndarray:
    """The image of one world, uint8 (height, width, 3); with numbers in its head where the batch has a totals."""
    compose(batch, index, canvas)
    return canvas.pixels()


def compose(batch: KernelBatch, index: int, canvas: Drawing) -> None:
    """Put all that an image of one world shows on a canvas, or into a recorder."""
    canvas.clear()
    camera_image = batch.camera_image(index, *canvas.scene)
    if camera_image is not None:
        canvas.paste(camera_image)
    if "draw" in batch.world.functions:
        batch.world.functions["draw"](canvas, *batch.records(index))
    elif camera_image is None:
        canvas.caption("no image is declared")
    canvas.head(head_of(batch, index))


def told(batch: KernelBatch, index: int) -> str:
    """A world as text: its own, else what its agents observe."""
    if "text" in batch.world.functions:
        return batch.world.functions["text"](*batch.records(index))
    lines = [f"{batch.world.name}, step {int(batch.states['elapsed'][index])}"]
    for k, role in enumerate(batch.setup.roles):
        lines += [role.name] if batch.world.agents else []
        lines += observed(batch, index, k)
    return "\n".join(lines)


def head_of(batch: KernelBatch, index: int) -> Head:
    """What the head of a world's image says."""
    return batch.totals.head(batch, index) if batch.totals is not None else Head(batch.world.name)


class EpisodeTotals:
    """Return, cost and success of the running episode of every world of a batch, from the steps that it sees.

    A world that was put into the middle of an episode, by a snapshot for example, has no known return until its next
    episode begins.
    """

    def __init__(self, batch: KernelBatch) -> None:
        shape = batch.num_envs, batch.agents
        self._seen = np.full(batch.num_envs, -1, np.int64)  # the step up to which the totals hold
        self._totals = np.full((2, *shape), np.nan)  # of rewards and costs
        self._success, self._playing = np.zeros(shape, np.bool_), np.ones(shape, np.bool_)

    def forget(self, worlds: np.ndarray) -> None:
        """The states of these worlds were set from outside."""
        self._seen[worlds] = -1

    def see_step(self, batch: KernelBatch, only: np.ndarray | None) -> None:
        """Take in the step that a batch, or `only` some of its worlds, has made."""
        moved = np.ones(batch.num_envs, np.bool_) if only is None else only
        elapsed = batch.states["elapsed"]
        first = moved & (elapsed == 1)
        lost = moved & ~first & (elapsed != self._seen + 1)
        self._totals[:, first] = 0.0
        self._totals[:, lost] = np.nan
        self._playing[first] = True
        going = moved & (elapsed > 0)
        self._totals[0, going] += batch.rewards[going]
        self._totals[1, going] += batch.costs[going]
        playing = self._playing & going[:, None]
        self._success[playing] = batch.success[playing]
        self._playing &= ~(batch.terminated | batch.truncated)
        self._seen[moved] = elapsed[moved]

    def totals(self, batch: KernelBatch, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, cost, both NaN where unknown, and success of the agents of a world."""
        elapsed = int(batch.states["elapsed"][index])
        if elapsed != self._seen[index] or elapsed == 0:
            unknown = np.full(batch.agents, math.nan if elapsed else 0.0)
            return unknown, unknown, np.zeros(batch.agents, np.bool_)
        returns, costs = self._totals[:, index]
        return returns, costs, self._success[index]

    def head(self, batch: KernelBatch, index: int) -> Head:
        """What the head of a world's image says; costs are the mean of its agents, for which limits are."""
        state, own = batch.states[index], slice(1 if batch.first_decides else None)
        returns, costs, success = (array[own] for array in self.totals(batch, index))
        horizon = int(batch.records(index)[0]["horizon"])
        told = [f"return {_returns(returns, np.array(batch.setup.teams)[own])}"]
        if limits := limits_of(batch.world.costs):
            limit = f" / {next(iter(limits.values())):g}" if len(set(limits.values())) == 1 else ""
            told.append(f"cost {_number(float(costs.mean()))}{limit}")
        return Head(
            batch.world.name,
            f"step {int(state['elapsed'])}" + (f" / {horizon}" if horizon < LONGEST else ""),
            "   ".join(told),
            _mark(success, bool(state["over"])),
            bool(success.any()),
        )


def _returns(returns: np.ndarray, teams: np.ndarray) -> str:
    """The sum over agents, side by side; from many teams the lowest and the highest."""
    sums = [float(returns[teams == team].sum()) for team in range(int(teams.max()) + 1)]
    if len(sums) > FEW_TEAMS:
        return f"{_number(min(sums))} to {_number(max(sums))}"
    return " : ".join(map(_number, sums))


def _number(value: float) -> str:
    if math.isnan(value):
        return UNKNOWN
    return f"{value:.2f}" if abs(value) < 100.0 else f"{value:.0f}"


def _mark(success: np.ndarray, over: bool) -> str:
    if success.any():
        return "success" if success.all() else f"success {success.sum()} of {len(success)}"
    return "over" if over else ""


class Renderer:
    """Draws the worlds of a batch in one mode, with a canvas made at the first image.

    Args:
        mode: None, or a mode that the world has.
        batch: whose worlds; None only where the mode is None.
        text: whether images have a head and a legend.

    Raises:
        ParameterError: `text` is neither True nor False.
    """

    def __init__(self, mode: str | None, batch: KernelBatch | None, text: bool = True) -> None:
        self._mode, self._batch, self._text = mode, batch, truth("render_text", text)
        self._canvas: Canvas | None = None
        self._window: Any = None
        self._clock: Any = None
        if batch is not None and text and mode in ("human", "rgb_array"):
            batch.totals = batch.totals or EpisodeTotals(batch)

    def image(self, index: int) -> Any:
        """The image of one world; None when the mode is None or "human"."""
        batch = self._batch
        if self._mode is None or batch is None:
            return None
        if not batch.seeds.any:
            raise EpisodeOverError(f"{batch.world.name}: call reset() before render()")
        if self._mode == "ansi":
            return told(batch, index)
        if self._canvas is None:
            self._canvas = Canvas(framed=self._text)
        frame = draw(batch, index, self._canvas)
        if self._mode == "rgb_array":
            return frame
        self._show(self._canvas, batch)
        return None

    def _show(self, canvas: Canvas, batch: KernelBatch) -> None:
        import pygame

        if self._window is None:
            pygame.display.init()
            pygame.display.set_caption(batch.world.name)
            self._window = pygame.display.set_mode((canvas.width, canvas.height))
            self._clock = pygame.time.Clock()
        canvas.show(self._window)
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(batch.setup.fps)

    def close(self) -> None:
        """Close the window, if any."""
        if self._window is not None:
            import pygame

            pygame.display.quit()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_canvas": None, "_window": None, "_clock": None}
