"""Rewards divided by what they vary, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.cache import compiled
from rlenvs.core.errors import ParameterError
from rlenvs.wrappers.masked import clear, put
from rlenvs.wrappers.reward_vectors import NORMALIZED, OfVector, PerTerm, weigh


@dataclass
class NormalizeRewards(OfVector):
    """Each reward term divided by the spread of its returns, so that weights mean about the same for all.

    With R_k <- discount R_k + r_k per slot, zero at the start of an episode, the term r_k becomes
    r_k / sqrt(variance of R_k + epsilon), as Gymnasium's NormalizeReward does for one reward and MO-Gymnasium's
    MONormalizeReward for one component. The variance is that of all R_k so far (merged as in Chan, Golub and LeVeque,
    1979) and of one sample of unit variance in advance, so that the first rewards are not blown up. Or given numbers:
    (r_k - shift_k) / scale_k.

    Under `mo-` ids the reward is the normalised vector, otherwise its sum by the world's weights.

    Statistics that all slots share couple them: the numbers then depend on how many slots there are. Where the same
    numbers are wanted in every API form, take `shared=False` or given numbers. A reset with seeds forgets the
    statistics of the slots that get one (shared ones if all do). Snapshots hold them, and going back takes shared ones
    back for all slots.

    Attributes:
        discount: of the returns whose variance counts, in [0, 1].
        epsilon: added to the variance.
        shared: one statistic for all slots; otherwise one for each.
        scale: by term, positive: no statistics, divide by these. `fixed()` makes such a wrapper of what was learned.
        shift: by term, subtracted before; 0 for terms not named. Wants `scale`.

    Info: `normalized_rewards` (terms,).

    Raises:
        ParameterError: no vector of rewards, a discount outside [0, 1], a scale that is not positive.
    """

    discount: float = 0.99
    epsilon: float = 1e-8
    shared: bool = True
    scale: PerTerm | None = None
    shift: PerTerm | None = None

    def prepare(self) -> None:
        """Check the settings."""
        self._find_vector()
        if self.normalized:
            raise ParameterError(f"NormalizeRewards: rewards of {self.name} are normalised below already")
        self.check_number("discount", 0.0, 1.0)
        self.check_number("epsilon")
        if self.shift is not None and self.scale is None:
            raise self.refuse("shift", "requires scale; running statistics do not shift")
        self.given = None if self.scale is None else self._per_term("scale")
        if self.given is not None and (self.given <= 0.0).any():
            raise self.refuse("scale", "must be positive")
        self.origin = np.zeros(self.terms) if self.shift is None else self._per_term("shift", 0.0)
        size = (self.terms,)
        for name in ("normal", "returns", "mean"):
            self.keep(name, size)
        self.keep("variance", size, fill=1.0)
        self.keep("samples", fill=1.0)
        self.vectors = self.below.reward.ndim == 2
        self.keep("reward", size if self.vectors else ())
        if self.vectors:
            self.reward_space = spaces.Box(-np.inf, np.inf, size, np.float32)
        else:
            self.weights = self.batch.setup.weights[None]

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin episodes; with seeds also statistics."""
        super().reset(slots, seeds, options)
        if seeds is None:
            return
        given = slots & np.repeat([seed is not None for seed in seeds], self.agents)
        if given.all() or not self.shared:
            self.mean[given], self.variance[given], self.samples[given] = 0.0, 1.0, 1.0

    def begin_episode(self, slots: np.ndarray) -> None:
        """No return yet."""
        clear(self.returns, slots)
        clear(self.normal, slots)

    def after_step(self, slots: np.ndarray) -> None:
        """Learn, and normalise."""
        vector = self._vector()
        if self.given is None:
            self._learn(vector, slots)
            variance = self.variance[:1] if self.shared else self.variance
            divide(vector, self.origin, np.sqrt(variance + self.epsilon), slots, self.normal)
        else:
            divide(vector, self.origin, self.given[None], slots, self.normal)
        if self.vectors:
            put(self.reward, self.normal, slots)
        else:
            weigh(self.normal, self.weights, slots, self.reward)

    def _learn(self, vector: np.ndarray, slots: np.ndarray) -> None:
        put(self.returns, self.discount * self.returns + vector, slots)
        if self.shared:
            update_all(slots, self.returns, self.mean, self.variance, self.samples)
        else:
            update_slots(slots, self.returns, self.mean, self.variance, self.samples)

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put the slots of a world back, and what all slots share."""
        super().set_state(state, world)
        if self.shared:
            for array in (self.mean, self.variance, self.samples):
                array[:] = array[world * self.agents]

    def fixed(self) -> NormalizeRewards:
        """A wrapper with what this one has learned as given numbers, for evaluation; the mean over slots not shared."""
        spread = np.sqrt(self.variance.mean(axis=0) + self.epsilon) if self.given is None else self.given
        shift = self.origin.tolist() if self.given is not None else None
        return replace(NormalizeRewards(self.discount, self.epsilon), scale=spread.tolist(), shift=shift)

    def extra_info(self) -> dict[str, Any]:
        """The normalised vector."""
        return {**self._untouched(), NORMALIZED: self.normal}


@compiled(nogil=True)
def divide(vectors: np.ndarray, origin: np.ndarray, spread: np.ndarray, slots: np.ndarray, out: np.ndarray) -> None:
    """(vectors - origin) / spread; spread (slots or 1, terms)."""
    for i in range(slots.size):
        if slots[i]:
            k = min(i, spread.shape[0] - 1)
            for j in range(origin.size):
                out[i, j] = (vectors[i, j] - origin[j]) / spread[k, j]


@compiled(nogil=True)
def update_all(
    slots: np.ndarray, values: np.ndarray, mean: np.ndarray, variance: np.ndarray, samples: np.ndarray
) -> None:
    """A sample of each slot in the statistics that all slots share: each slot's are those of the first."""
    old, new = samples[0], np.sum(slots)
    total = old + new
    for j in range(values.shape[1]):
        average, squares = 0.0, 0.0
        for i in range(slots.size):
            if slots[i]:
                average += values[i, j]
        average /= max(new, 1)
        for i in range(slots.size):
            if slots[i]:
                squares += (values[i, j] - average) ** 2
        step = average - mean[0, j]
        squares += variance[0, j] * old + step * step * (old * new / total)
        mean[:, j] = mean[0, j] + step * new / total
        variance[:, j] = squares / total
    samples[:] = total


@compiled(nogil=True)
def update_slots(
    slots: np.ndarray, values: np.ndarray, mean: np.ndarray, variance: np.ndarray, samples: np.ndarray
) -> None:
    """One more sample in each slot's own statistics."""
    for i in range(slots.size):
        if slots[i]:
            n = samples[i]
            for j in range(values.shape[1]):
                step = values[i, j] - mean[i, j]
                mean[i, j] += step / (n + 1.0)
                variance[i, j] = (variance[i, j] * n + step * step * (n / (n + 1.0))) / (n + 1.0)
            samples[i] = n + 1.0
