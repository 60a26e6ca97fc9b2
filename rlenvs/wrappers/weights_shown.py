"""Objectives in the observation: rewards accrued so far, and the weights that a policy is asked to follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.maths import log1p
from rlenvs.wrappers.appended import Appends
from rlenvs.wrappers.masked import add_rows, clear, put
from rlenvs.wrappers.randomness import bits_at, uniform_of
from rlenvs.wrappers.reward_vectors import OfVector, PerTerm, weigh


@dataclass
class AppendEpisodeReturn(OfVector, Appends):
    """Append the sum of reward vectors of the episode so far to the observation.

    For utilities that are not linear (`ChebyshevScalarization`, `Lexicographic`) the best action depends on it
    (Roijers, Steckelmacher and Nowe, "Multi-objective Reinforcement Learning for the Expected Utility of the Return",
    2018).

    Attributes:
        scale: by term, the sum that is shown as 1; sums are clipped to [-1, 1]. None: the larger bound of the
            term times the horizon.

    Observations: a vector gets one number per term at its end, a dictionary the part "accrued".

    Raises:
        ParameterError: a scale that is not positive, or an unknown one; neither vector nor dictionary.
    """

    scale: PerTerm | None = None

    def prepare(self) -> None:
        """Check the scale."""
        self._find_vector()
        self.sizes = self._natural() if self.scale is None else self._per_term("scale")
        if (self.sizes <= 0.0).any():
            raise self.setting_error("scale", "must be positive")
        self.allocate("accrued", (self.terms,))
        self.make_room("accrued", [-1.0] * self.terms, [1.0] * self.terms)

    def _natural(self) -> np.ndarray:
        largest = np.abs(self._bounds_of_return("scale")).max(axis=0)
        return np.where(largest > 0.0, largest, 1.0)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing was paid."""
        clear(self.accrued, slots)
        self._fill(slots)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Add."""
        yield add_rows, self.accrued, self._vector(), slots
        yield from self._filling(slots)

    def _fill(self, slots: np.ndarray) -> None:
        self.run_all("fill", self._filling, slots)

    def _filling(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        yield shrink, self.accrued, self.sizes, slots, self.shown
        yield from self.joining(slots)

    def entries(self) -> dict[str, Any]:
        """The sum."""
        return {**self._untouched(), "accrued": self.accrued}


@compiled(nogil=True)
def shrink(sums: np.ndarray, sizes: np.ndarray, slots: np.ndarray, out: np.ndarray) -> None:
    """Sums by their sizes, clipped to [-1, 1]."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(sizes.size):
                out[i, j] = min(max(sums[i, j] / sizes[j], -1.0), 1.0)


@dataclass
class WeightConditioned(OfVector, Appends):
    """One policy for all preferences: append the weights of the objectives to the observation, and use the weighted sum
    as reward.

    Weights are drawn uniformly from the simplex for every episode (as the conditioned network of Abels et al., "Dynamic
    Weights in Multi-Objective Deep Reinforcement Learning", ICML 2019, is trained). `reset(options={"weights": w})`
    sets those of the episodes that this reset begins: one number per term, {term: weight}, or an array (slots, terms).

    Attributes:
        weights: weights of all episodes, as {term: weight} or numbers, at least 0, with the sum 1. None: drawn.
        low: each drawn weight is at least this.

    Observations: a vector gets the weights at its end, a dictionary the part "weights"; within [0, 1].
    Info: `weights`.

    Raises:
        ParameterError: no vector of rewards, an unknown term, weights that are negative or do not have the sum 1, a
            `low` for which there are none.
    """

    weights: PerTerm | None = None
    low: float = 0.0

    def prepare(self) -> None:
        """Check the settings."""
        self._find_vector()
        self.check_number("low", 0.0, 1.0 / self.terms)
        self.fixed = None if self.weights is None else self._simplex(self.weights)
        if self.fixed is not None and self.low:
            raise self.setting_error("low", "is for random weights, and weights are given")
        self.make_room("weights", [0.0] * self.terms, [1.0] * self.terms)
        self.allocate("reward")

    def _simplex(self, value: Any) -> np.ndarray:
        array = self._array(value, "weights", 0.0)
        if (array < 0.0).any() or abs(array.sum() - 1.0) > 1e-6:
            raise ParameterError(f"WeightConditioned: weights={value!r} must be at least 0 and have the sum 1")
        return array

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Start episodes with new weights."""
        options = dict(options or {})
        chosen = self._chosen(options.pop("weights", None))
        self.below.reset(slots, seeds, options or None)
        self._start(slots, seeds)
        if chosen is None:
            draw_simplex(slots, self.key, self.low, self.shown)
        else:
            put(self.shown, np.broadcast_to(chosen, self.shown.shape), slots)
        self.join(slots)

    def _chosen(self, given: Any) -> np.ndarray | None:
        """The weights for a reset; None for drawn ones."""
        if given is None:
            return self.fixed
        if isinstance(given, Mapping) or np.ndim(given) == 1:
            return self._simplex(given)
        if np.shape(given) != (self.count, self.terms):
            raise ParameterError(
                f"WeightConditioned: options['weights'] has the shape {np.shape(given)}; needed: {self.terms} numbers, "
                f"or ({self.count}, {self.terms})"
            )
        return np.array([self._simplex(slot) for slot in given])

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Weigh."""
        yield weigh, self._vector(), self.shown, slots, self.reward
        yield from self.joining(slots)

    def entries(self) -> dict[str, Any]:
        """The weights."""
        return {**self._untouched(), "weights": self.shown}


@compiled(nogil=True)
def draw_simplex(slots: np.ndarray, key: np.ndarray, low: float, out: np.ndarray) -> None:
    """Uniform on the simplex, each coordinate at least `low`: exponential variates divided by their sum."""
    terms = out.shape[1]
    draws = np.empty(terms)
    for i in range(slots.size):
        if slots[i]:
            total = 0.0
            for j in range(terms):
                draws[j] = -log1p(-uniform_of(bits_at(key[i], 0, j)))
                total += draws[j]
            for j in range(terms):
                out[i, j] = low + (1.0 - low * terms) * draws[j] / total
