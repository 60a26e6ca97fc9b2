"""Noise that depends on the state: exploration that is smooth, because the same state gives the same noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.actuators import saturate
from rlenvs.wrappers.masked import fill, flat, put_rows
from rlenvs.wrappers.randomness import PLACES, bits_at, normal_of
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class StateDependentNoise(Wrapper):
    """Add exploration noise theta z(s) to an action, with a matrix theta that is redrawn at the start of an episode and
    every `every` steps: generalized state-dependent exploration (gSDE; Raffin, Kober and Stulp, "Smooth Exploration for
    Robotic Reinforcement Learning", CoRL 2021, arXiv 2005.05719).

    The entries of theta are normal with standard deviation `scale`, so that of the noise in a state is scale |z(s)|:
    white noise of this size with `every=1`, a fixed disturbance of the policy's parameters with `every=0`. The sum is
    clipped to the bounds of the action space.

    Attributes:
        scale: standard deviation of the entries of theta, in the action's unit; one number, or one per channel.
        every: steps until theta is drawn anew; 0: it is kept for the episode.
        features: z, a function from observations (n, *shape) to numbers (n, features), or its address "module:name":
            such as the last hidden layer of the policy, which the paper takes. None: the observation's own numbers.

    Info: `action`, what the environment got; `raw_action`, what the policy chose.

    Raises:
        ParameterError: actions are not a Box; a negative scale, not one number per channel; observations that are
            dictionaries, without `features`; features of another shape.
    """

    scale: Any = 0.1
    every: int = 0
    features: Callable[[np.ndarray], np.ndarray] | str | None = None

    def prepare(self) -> None:
        """Check the settings."""
        space = self.action_space
        if not isinstance(space, spaces.Box) or len(space.shape) != 1:
            raise ParameterError(f"StateDependentNoise: {self.name} has the actions {space}; needed: a Box, a vector")
        self.check_number("scale")
        size = space.shape[0]
        if np.shape(self.scale) not in ((), (size,)):
            raise self.setting_error("scale", f"must be one number, or {size}, one per channel of the action")
        self.check_whole("every")
        self.deviations = np.broadcast_to(np.asarray(self.scale, np.float64), (size,)).copy()
        self.low, self.high = space.low.astype(np.float64)[None], space.high.astype(np.float64)[None]
        self.neutral = np.clip(np.zeros((1, size)), space.low, space.high)
        if self.features is None and isinstance(self.below.observation, dict):
            raise self.setting_error("features", f"must be given, because observations of {self.name} are dictionaries")
        self.z = flat if self.features is None else self.function("features")
        self.passed = self.allocate("action", space.shape, space.dtype)
        self.allocate("raw_action", space.shape, space.dtype)
        self.wanted = np.zeros((self.count, size))
        self.info_below = self.below.read("action") is not None
        self.entries_last = not self.info_below or self.lasting("action") is not None
        self.numbers = self._features() if self.features is None else None  # of the last observation

    def begin_episode(self, slots: np.ndarray) -> None:
        """Reset the actions."""
        fill(self.raw_action, self.neutral, slots)
        fill(self.action, self.neutral, slots)

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The actions with noise."""
        if not self.acts_in_python:
            return super().act(actions, slots)
        self.numbers, self.wanted[...] = self._features(), actions
        self.run_all("noise", self.acting, slots, lasting=False)
        return self.action

    @property
    def acts_in_python(self) -> bool:
        """Whether a Python function gives the features."""
        return self.features is not None

    def acting(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Compute the features from the observation, unless a function gives them, and add the noise."""
        yield put_rows, self.raw_action, self.wanted, slots
        if self.features is None:
            yield put_rows, self.numbers, flat(self.below.observation), slots
        noise = self.key, self.time, self.every, self.numbers, self.deviations
        yield add_noise, slots, *noise, self.wanted
        yield saturate, self.wanted, self.low, self.high
        yield put_rows, self.action, self.wanted, slots

    def _features(self) -> np.ndarray:
        found = np.array(self.z(self.below.observation), np.float64, order="C")
        if found.ndim != 2 or len(found) != self.count or found.size > len(found) * int(PLACES) // len(self.deviations):
            raise self.setting_error("features", f"gives {found.shape}; needed: {self.count} rows of numbers")
        return found

    def entries(self) -> dict[str, Any]:
        """The chosen and the executed actions."""
        executed = self.below.read("action") if self.info_below else self.action
        return {"raw_action": self.raw_action, "action": executed}


@compiled(nogil=True)
def add_noise(
    slots: np.ndarray,
    key: np.ndarray,
    time: np.ndarray,
    every: int,
    features: np.ndarray,
    deviations: np.ndarray,
    actions: np.ndarray,
) -> None:
    """actions[i, j] += sum over f of theta[f, j] features[i, f]; theta belongs to the time at which it was drawn."""
    channels = deviations.size
    for i in range(slots.size):
        if slots[i]:
            drawn = time[i] - time[i] % every if every > 0 else 0
            for f in range(features.shape[1]):
                for j in range(channels):
                    theta = deviations[j] * normal_of(bits_at(key[i], drawn, f * channels + j))
                    actions[i, j] += theta * features[i, f]
