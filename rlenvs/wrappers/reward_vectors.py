"""The base of wrappers on vectors of rewards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.wrappers.masked import clear, put_rows
from rlenvs.wrappers.wrapper import Wrapper

PerTerm = Mapping[str, float] | Sequence[float]


class OfVector(Wrapper):
    """A wrapper on the vector of rewards below."""

    def _find_vector(self) -> None:
        """How many terms there are, and their names.

        Raises:
            ParameterError: there is no vector of rewards.
        """
        if self.batch is not None:
            self.names = list(self.batch.world.terms)
        elif self.below.reward.ndim == 2:
            self.names = [str(k) for k in range(self.below.reward.shape[1])]
        else:
            raise ParameterError(
                f"{type(self).__name__}: {self.name} has no reward vector; needed: an environment of this package, or "
                f"one with reward_space"
            )
        self.terms = len(self.names)
        stage = self.below
        while isinstance(stage, Wrapper) and not isinstance(stage, ChangesVector):
            stage = stage.below
        self.changed = stage if isinstance(stage, ChangesVector) else None  # the nearest wrapper that changes it
        known = self.below.reward.ndim == 2 or self.changed is not None
        self.lasts = known or self.lasting("reward_vector") is not None
        # of another package's environment it shows in the first step whether its info has the vector
        self.entries_last = self.batch is not None

    def _vector(self) -> np.ndarray:
        """The vector of rewards of the last step, (slots, terms)."""
        if self.below.reward.ndim == 2:
            return self.below.reward
        if self.changed is not None:
            return self.changed.vector
        vector = self.below.read("reward_vector")
        assert vector is not None
        return vector

    def _untouched(self) -> dict[str, np.ndarray]:
        """The vector that the environment paid, where its info does not have it."""
        if self.batch is not None or self.below.read("reward_vector") is not None:
            return {}
        return {"reward_vector": self._vector()}

    def _bounds_of_return(self, setting: str) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of an episode's sum of vectors; ParameterError, naming the setting that is to give them, without."""
        if self.batch is None or self.changed is not None:
            raise self.setting_error(
                setting, f"must be given: {self.name} does not define bounds for the sums of these vectors"
            )
        horizon, terms = self.batch.setup.horizon, self.batch.world.terms.values()
        ends = np.array([(term.low, term.high) for term in terms], np.float32).astype(np.float64)
        return horizon * ends[:, 0], horizon * ends[:, 1]

    def _per_term(self, setting: str, other: float | None = None) -> np.ndarray:
        """A setting as an array (terms,), for terms that it does not name `other`.

        Raises:
            ParameterError: an unknown term, a missing one, not finite, the wrong number.
        """
        return self._array(getattr(self, setting), setting, other)

    def _agents(self) -> list[str]:
        """The names of the slots in the parallel form; empty in others."""
        stage: Any = self.below
        while isinstance(stage, Wrapper):
            stage = stage.below
        return list(getattr(stage, "possible", []))

    def _column(self, setting: str, term: Any) -> int:
        """The place of a term, given by name or by number."""
        if isinstance(term, str) and term in self.names:
            return self.names.index(term)
        if isinstance(term, (int, np.integer)) and not isinstance(term, bool) and 0 <= term < self.terms:
            return int(term)
        raise ParameterError(
            f"{type(self).__name__}: {setting} names the term {term!r}; {self.name} has {self.names}, or their numbers "
            f"0 ... {self.terms - 1}"
        )

    def _array(self, value: Any, setting: str, other: float | None = None) -> np.ndarray:
        said = f"{type(self).__name__}: {setting}={value!r}"
        if isinstance(value, Mapping):
            for name in value:
                if name not in self.names:
                    raise ParameterError(f"{said}: {self.name} has no term {name!r}. {nearest(name, self.names)}")
            if other is None and len(value) < self.terms:
                raise ParameterError(f"{said} must name all terms: {self.names}")
            value = [value.get(name, other) for name in self.names]
        try:
            array = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            raise ParameterError(f"{said} must be numbers, one per term: {self.names}") from None
        if array.shape != (self.terms,) or not np.isfinite(array).all():
            raise ParameterError(f"{said} must be {self.terms} finite numbers, one per term: {self.names}")
        return array


class ChangesVector(OfVector):
    """A wrapper that makes another vector of the one below: the reward itself where that is a vector, otherwise what
    the reward is weighed from. Call `_make_room` in `prepare`, fill `self.vector`, then do what `_paying` gives."""

    def _make_room(self) -> None:
        size = (self.terms,)
        self.allocate("vector", size)
        self.vectors = self.below.reward.ndim == 2
        self.allocate("reward", size if self.vectors else ())
        if not self.vectors:
            self.worlds_weights = self.batch.setup.weights[None]

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing was paid."""
        clear(self.vector, slots)

    def _paying(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Compiled loops, and their arguments, that make the reward of `self.vector`."""
        if self.vectors:
            yield put_rows, self.reward, self.vector, slots
        else:
            yield weigh, self.vector, self.worlds_weights, slots, self.reward


@compiled(nogil=True)
def weigh(vectors: np.ndarray, weights: np.ndarray, slots: np.ndarray, out: np.ndarray) -> None:
    """Weighted sums; weights (slots or 1, terms). In one order whatever the number of slots, unlike a BLAS."""
    for i in range(slots.size):
        if slots[i]:
            k = min(i, weights.shape[0] - 1)
            total = 0.0
            for j in range(weights.shape[1]):
                total += np.float64(weights[k, j]) * np.float64(vectors[i, j])
            out[i] = total
