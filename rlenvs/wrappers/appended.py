"""Numbers that wrappers show to the policy beside the observation: contexts, weights, what is left of a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.stage import Observation
from rlenvs.wrappers.wrapper import Wrapper


class Appends(Wrapper):
    """Shows more numbers: at the end of observations that are vectors, as a part of those that are dictionaries.

    Call `make_room` in `prepare`, fill `self.shown` (slots, numbers) in `begin_episode` and `after_step`, then call
    `join`.
    """

    part = ""  # of a dictionary; empty where observations are vectors

    def make_room(self, part: str, low: Sequence[float] | np.ndarray, high: Sequence[float] | np.ndarray) -> None:
        """Change the observation spaces.

        Args:
            part: name in a dictionary.
            low, high: bounds of the numbers, (numbers,).

        Raises:
            ParameterError: observations are neither vectors nor dictionaries, or have a part of this name already.
        """
        own = spaces.Box(np.asarray(low, np.float32), np.asarray(high, np.float32))
        self.allocate("shown", own.shape, np.float32)
        below = self.below.observation_spaces
        self.observation_spaces = [self._wider(space, part, own) for space in below]
        if isinstance(below[0], spaces.Dict):
            self.part = part
        else:
            self.ends = np.array([spaces.utils.flatdim(space) for space in below], np.int64)
            self.allocate("joined", (int(self.ends.max()) + own.shape[0],), self.observation_spaces[0].dtype)
        self.shows_own()

    def _wider(self, space: spaces.Space, part: str, own: spaces.Box) -> spaces.Space:
        if isinstance(space, spaces.Dict):
            if part in space.spaces:
                raise ParameterError(f"{type(self).__name__}: observations of {self.name} already have {part!r}")
            return spaces.Dict({**space.spaces, part: own})
        if not isinstance(space, spaces.Box) or len(space.shape) != 1 or space.dtype.kind not in "fi":
            raise ParameterError(
                f"{type(self).__name__}: the observations of {self.name}, {space}, cannot be extended; vectors of "
                f"floats or integers and dictionaries can"
            )
        low, high = np.concatenate([space.low, own.low]), np.concatenate([space.high, own.high])
        dtype: Any = space.dtype.type if space.dtype.kind == "f" else np.float32  # whole numbers become real ones
        return spaces.Box(low.astype(dtype), high.astype(dtype), dtype=dtype)

    def join(self, slots: np.ndarray) -> None:
        """Put the observations below and the numbers together, in these slots."""
        self.run_all("join", self.joining, slots)

    def joining(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """What `join` does, as compiled loops and their arguments."""
        if not self.part:
            yield join_slots, slots, self.below.observation, self.shown, self.ends, self.joined

    def seen(self) -> Observation:
        """The observation."""
        return {**self.below.observation, self.part: self.shown} if self.part else self.joined


@compiled(nogil=True)
def join_slots(slots: np.ndarray, below: np.ndarray, shown: np.ndarray, ends: np.ndarray, joined: np.ndarray) -> None:
    """joined[i] = below[i], up to the end of an agent's own observation, and shown[i] behind it."""
    for i in range(slots.size):
        if slots[i]:
            end = ends[i % ends.size]
            for j in range(end):
                joined[i, j] = below[i, j]
            for j in range(shown.shape[1]):
                joined[i, end + j] = shown[i, j]
