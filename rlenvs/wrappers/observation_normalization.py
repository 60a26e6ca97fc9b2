"""Observations with mean 0 and variance 1, number by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.masked import flat
from rlenvs.wrappers.normalization import update_all, update_slots
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class NormalizeObservations(Wrapper):
    """Normalize observations with running statistics: (o - mean) / sqrt(variance + epsilon) for each number.

    Mean and variance are those of all observations so far, the first ones of episodes too, as Gymnasium's
    NormalizeObservation has them (merged as in Chan, Golub and LeVeque, 1979). Or given numbers: `fixed()` makes such a
    wrapper of what was learned, for evaluation.

    Statistics that all slots share couple them: the numbers then depend on how many slots there are. Where the same
    numbers are wanted in every API form, take `shared=False` or given numbers. A reset with seeds forgets the
    statistics of the slots that get one (shared ones if all do). Snapshots hold them, and going back takes shared ones
    back for all slots.

    Attributes:
        epsilon: added to the variance.
        clip: bound of the absolute value of what is shown.
        shared: one statistic for all slots; otherwise one for each.
        prior: how many observations with mean 0 and variance 1 there were in advance; above 0.
        mean, variance: numbers of an observation: no statistics, take these. Both or none.
        frozen: whether statistics stay as they are; may be set while it runs.

    Raises:
        ParameterError: observations that are not vectors of real numbers, `mean` without `variance`, another number of
            them than an observation has, a variance below 0.
    """

    epsilon: float = 1e-8
    clip: float = 10.0
    shared: bool = True
    prior: float = 1e-4
    mean: Sequence[float] | None = None
    variance: Sequence[float] | None = None
    frozen: bool = False

    def prepare(self) -> None:
        """Check the settings."""
        space = self.below.observation_space
        if not isinstance(space, spaces.Box) or len(space.shape) != 1 or space.dtype.kind != "f":
            raise ParameterError(
                f"NormalizeObservations: the observations of {self.name}, {space}, are not vectors of real numbers"
            )
        for setting in ("epsilon", "clip", "prior"):
            self.check_number(setting)
        for setting in ("clip", "prior"):
            if not getattr(self, setting) > 0.0:
                raise self.setting_error(setting, "must be above 0")
        if (self.mean is None) != (self.variance is None):
            raise self.setting_error(
                "variance" if self.variance is None else "mean", "is missing; give both, or neither"
            )
        size = space.shape
        self.learns = self.mean is None
        self.allocate("centre", size)
        self.allocate("spread", size, fill=1.0)
        self.allocate("samples", fill=self.prior)
        if not self.learns:
            self.centre[:], self.spread[:] = self._given("mean", size), self._given("variance", size)
        self.allocate("observation", size, space.dtype)
        dtype: Any = space.dtype.type
        self.observation_spaces = [spaces.Box(-self.clip, self.clip, size, dtype)] * self.agents

    def _given(self, setting: str, size: tuple[int, ...]) -> np.ndarray:
        self.check_number(setting, -np.inf if setting == "mean" else 0.0)
        numbers = np.asarray(getattr(self, setting), np.float64)
        if numbers.shape != size:
            raise self.setting_error(setting, f"must have {size[0]} numbers, one for each of an observation")
        return numbers

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Start episodes; with seeds, also reset the statistics."""
        given = slots & np.repeat([seed is not None for seed in seeds or [None] * self.count], self.agents)
        if self.learns and given.any() and (given.all() or not self.shared):
            self.centre[given], self.spread[given], self.samples[given] = 0.0, 1.0, self.prior
        super().reset(slots, seeds, options)

    def begin_episode(self, slots: np.ndarray) -> None:
        """The first observation."""
        self.after_step(slots)

    def after_step(self, slots: np.ndarray) -> None:
        """Update the statistics, and normalize."""
        seen = self._seen()
        if self.learns and not self.frozen:
            update = update_all if self.shared else update_slots
            update(slots, seen, self.centre, self.spread, self.samples)
        self._show(slots, seen)

    def refresh_observation(self, slots: np.ndarray) -> None:
        """Normalize the new observation without updating the statistics."""
        super().refresh_observation(slots)
        self._show(slots, self._seen())

    def _seen(self) -> np.ndarray:
        return flat(self.below.observation).astype(np.float64)

    def _show(self, slots: np.ndarray, seen: np.ndarray) -> None:
        normalize(slots, seen, self.centre, self.spread, self.epsilon, self.clip, self.observation)

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Restore the slots of a world, and the state shared by all slots."""
        super().set_state(state, world)
        if self.shared:
            for array in (self.centre, self.spread, self.samples):
                array[:] = array[world * self.agents]

    def fixed(self) -> NormalizeObservations:
        """A wrapper with the learned statistics frozen, for evaluation; averaged over slots if not shared."""
        mean, variance = self.centre.mean(axis=0), self.spread.mean(axis=0)
        return NormalizeObservations(self.epsilon, self.clip, mean=mean.tolist(), variance=variance.tolist())


@compiled(nogil=True)
def normalize(
    slots: np.ndarray,
    seen: np.ndarray,
    centre: np.ndarray,
    spread: np.ndarray,
    epsilon: float,
    clip: float,
    out: np.ndarray,
) -> None:
    """(seen - center) / sqrt(spread + epsilon) within [-clip, clip]; 0 where the divisor is 0."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(seen.shape[1]):
                scale = np.sqrt(spread[i, j] + epsilon)
                number = (seen[i, j] - centre[i, j]) / scale if scale > 0.0 else 0.0
                out[i, j] = min(max(number, -clip), clip)
