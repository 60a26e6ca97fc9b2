"""Rewards divided by what they vary, or cut off at bounds, term by term."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.masked import clear
from rlenvs.wrappers.reward_vectors import ChangesVector, PerTerm
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class NormalizeRewards(ChangesVector):
    """Normalize each reward term by the standard deviation of its returns, so that weights are comparable.

    With R_k <- discount R_k + r_k per slot, zero at the start of an episode, the term r_k becomes
    r_k / sqrt(variance of R_k + epsilon), as Gymnasium's NormalizeReward does for one reward and MO-Gymnasium's
    MONormalizeReward for one component. The variance is that of all R_k so far (merged as in Chan, Golub and LeVeque,
    1979) and of one sample of unit variance in advance, so that the first rewards are not blown up. Or given numbers:
    (r_k - shift_k) / scale_k.

    `only` leaves the other terms as they are; two of these wrappers may share the terms of a world.

    Under `mo-` ids the reward is the normalized vector, otherwise its sum by the world's weights.

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
        only: names or numbers of the terms that change; None for all. In the parallel form also {agent: such a list},
            where agents that are not named keep what they are paid.
        prior: how many samples of unit variance there were in advance; above 0.
        carry: whether R_k goes on over time limits and resets, and is forgotten before a step that terminates, as
            MONormalizeReward has it.
        frozen: whether statistics stay as they are; may be set while it runs.

    Info: `normalized_rewards` (terms,).

    Raises:
        ParameterError: no vector of rewards, a discount outside [0, 1], a scale that is not positive.
    """

    discount: float = 0.99
    epsilon: float = 1e-8
    shared: bool = True
    scale: PerTerm | None = None
    shift: PerTerm | None = None
    only: Sequence[str | int] | Mapping[str, Sequence[str | int]] | None = None
    prior: float = 1.0
    carry: bool = False
    frozen: bool = False

    def prepare(self) -> None:
        """Check the settings."""
        self._find_vector()
        self.columns = self._columns()
        if (self.columns & self._normalized_below()).any():
            raise ParameterError(f"NormalizeRewards: rewards of {self.name} are already normalized below")
        self.check_number("discount", 0.0, 1.0)
        self.check_number("epsilon")
        if self.shift is not None and self.scale is None:
            raise self.setting_error("shift", "requires scale; running statistics do not shift")
        self.given = None if self.scale is None else self._per_term("scale")
        if self.given is not None and (self.given <= 0.0).any():
            raise self.setting_error("scale", "must be positive")
        self.origin = np.zeros(self.terms) if self.shift is None else self._per_term("shift", 0.0)
        self.check_number("prior")
        if not self.prior > 0.0:
            raise self.setting_error("prior", "must be above 0")
        self._make_room()
        size = (self.terms,)
        for name in ("returns", "mean"):
            self.allocate(name, size)
        self.allocate("variance", size, fill=1.0)
        self.allocate("samples", fill=self.prior)
        rows = len(self.columns) if self.shared or self.given is not None else self.count
        self.spread = np.ones((rows, self.terms))  # what terms are divided by
        if self.given is not None:
            self.spread[:] = np.where(self.columns, self.given, 1.0)
        if self.vectors:
            self.reward_space = spaces.Box(-np.inf, np.inf, size, np.float32)

    def _columns(self) -> np.ndarray:
        """Which terms change, bool (1 or slots, terms)."""
        if self.only is None:
            return np.ones((1, self.terms), np.bool_)
        if not isinstance(self.only, Mapping):
            return self._named(self.only)[None]
        agents = self._agents()
        if not self.only or not set(self.only) <= set(agents):
            raise self.setting_error(
                "only",
                f"must name agents of {agents}" if agents else "names agents, which only parallel environments have",
            )
        none = np.zeros(self.terms, np.bool_)
        return np.array([self._named(self.only[agent]) if agent in self.only else none for agent in agents])

    def _named(self, terms: Any) -> np.ndarray:
        if isinstance(terms, str) or not isinstance(terms, Sequence) or not terms:
            raise self.setting_error("only", f"must be a list with terms of {self.names}, or their numbers")
        found = np.zeros(self.terms, np.bool_)
        for term in terms:
            found[self._column("only", term)] = True
        return found

    def _normalized_below(self) -> np.ndarray:
        found, stage = np.zeros((1, self.terms), np.bool_), self.below
        while isinstance(stage, Wrapper):
            if isinstance(stage, NormalizeRewards):
                found = found | stage.columns
            stage = stage.below
        return found

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Start episodes; with seeds, also reset the statistics."""
        super().reset(slots, seeds, options)
        if seeds is None:
            return
        given = slots & np.repeat([seed is not None for seed in seeds], self.agents)
        if given.all() or not self.shared:
            self.mean[given], self.variance[given], self.samples[given] = 0.0, 1.0, self.prior
            self.returns[given] = 0.0

    def begin_episode(self, slots: np.ndarray) -> None:
        """Reset the returns."""
        super().begin_episode(slots)
        if not self.carry:
            clear(self.returns, slots)

    def __setattr__(self, name: str, value: Any) -> None:
        """Loops are others where statistics stay as they are."""
        object.__setattr__(self, name, value)
        if name == "frozen" and "_calls" in self.__dict__:
            self.unbind()

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Update the statistics, and normalize."""
        vector = self._vector()
        if self.given is None:
            yield accrue, slots, vector, float(self.discount), bool(self.carry), self.below.terminated, self.returns
            if not self.frozen:
                update = update_all if self.shared else update_slots
                yield update, slots, self.returns, self.mean, self.variance, self.samples
            yield spread_of, self.variance, float(self.epsilon), self.columns, self.spread
        yield divide, vector, self.origin, self.spread, slots, self.vector
        yield from self._paying(slots)

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Restore the slots of a world, and the state shared by all slots."""
        super().set_state(state, world)
        if self.shared:
            for array in (self.mean, self.variance, self.samples):
                array[:] = array[world * self.agents]

    def fixed(self) -> NormalizeRewards:
        """A wrapper with the learned statistics frozen, for evaluation; averaged over slots if not shared."""
        spread = np.sqrt(self.variance.mean(axis=0) + self.epsilon) if self.given is None else self.given
        shift = self.origin.tolist() if self.given is not None else None
        fixed = NormalizeRewards(self.discount, self.epsilon, only=self.only)
        return replace(fixed, scale=spread.tolist(), shift=shift)

    def entries(self) -> dict[str, Any]:
        """The normalized vector."""
        return {**self._untouched(), "normalized_rewards": self.vector}


@dataclass
class ClipRewards(ChangesVector):
    """Clip each reward term to its own bounds.

    Under `mo-` ids the reward is the clipped vector, otherwise its sum by the world's weights.

    Attributes:
        low, high: by term; terms not named have no bound. None: no term has one.

    Info: `clipped_rewards` (terms,).

    Raises:
        ParameterError: no vector of rewards, an unknown term, a low bound above the high one.
    """

    low: PerTerm | None = None
    high: PerTerm | None = None

    def prepare(self) -> None:
        """Check the bounds."""
        self._find_vector()
        self.least, self.most = self._bound("low", -np.inf), self._bound("high", np.inf)
        if (self.least > self.most).any():
            raise self.setting_error("low", f"is above high={self.high!r}")
        self._make_room()
        space = self.below.reward_space
        if self.vectors and space is not None:
            low, high = (np.clip(end, self.least, self.most).astype(np.float32) for end in (space.low, space.high))
            self.reward_space = spaces.Box(low, high)

    def _bound(self, setting: str, none: float) -> np.ndarray:
        given = getattr(self, setting)
        if isinstance(given, Mapping):
            found = np.full(self.terms, none)
            for name, value in given.items():
                column = self._column(setting, name)
                if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or np.isnan(value):
                    raise self.setting_error(setting, f"must have numbers for terms of {self.names}")
                found[column] = value
            return found
        return np.full(self.terms, none) if given is None else self._per_term(setting)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Cut."""
        yield cut, self._vector(), self.least, self.most, slots, self.vector
        yield from self._paying(slots)

    def entries(self) -> dict[str, Any]:
        """The clipped vector."""
        return {**self._untouched(), "clipped_rewards": self.vector}


@compiled(nogil=True)
def accrue(
    slots: np.ndarray, vectors: np.ndarray, discount: float, carry: bool, ended: np.ndarray, returns: np.ndarray
) -> None:
    """returns <- discount returns + vectors; where they go on over episodes, not over a step that terminates one."""
    for i in range(slots.size):
        if slots[i]:
            kept = 0.0 if carry and ended[i] else discount
            for j in range(vectors.shape[1]):
                returns[i, j] = kept * returns[i, j] + vectors[i, j]


@compiled(nogil=True)
def spread_of(variance: np.ndarray, epsilon: float, columns: np.ndarray, out: np.ndarray) -> None:
    """Standard deviations of the terms that change, 1 for the others."""
    for i in range(out.shape[0]):
        k = min(i, columns.shape[0] - 1)
        for j in range(out.shape[1]):
            out[i, j] = np.sqrt(variance[i, j] + epsilon) if columns[k, j] else 1.0


@compiled(nogil=True)
def cut(vectors: np.ndarray, low: np.ndarray, high: np.ndarray, slots: np.ndarray, out: np.ndarray) -> None:
    """To the nearest numbers within bounds, one pair a term."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(low.size):
                out[i, j] = min(max(vectors[i, j], low[j]), high[j])


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
