"""Frame stacking: training on the last few observations, for information that a single one lacks, such as velocities
(Mnih et al., "Human-level control through deep reinforcement learning", 2015).

[network]               # in the settings
frames = 4
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnvWrapper

from rlenvs.agents.network import form_of
from rlenvs.core.declare.errors import ParameterError

__all__ = ["Frames"]


class Stack(spaces.Box):
    """The space of several rows of numbers, one behind the other.

    Args:
        row_space: of a single observation: numbers of any shape, or one of n whole numbers, which becomes n numbers.
        frames: how many observations there are.
    """

    def __init__(self, row_space: Any, frames: int) -> None:
        form = form_of(row_space)
        if isinstance(form, int):
            low, high, dtype = np.zeros(form), np.ones(form), np.dtype(np.float32)
        else:
            low, high, dtype = row_space.low.reshape(-1), row_space.high.reshape(-1), row_space.dtype
        super().__init__(np.tile(low, frames).astype(dtype), np.tile(high, frames).astype(dtype), dtype=dtype)
        self.row_space, self.frames = row_space, frames


class Frames(VecEnvWrapper):
    """A `VecEnv` with stacked observations, the current one last; at the start of an episode its first observation
    fills all frames.

    Args:
        venv: an `SB3VecEnv` whose observations are one array of numbers, or one of n whole numbers.
        frames: how many observations are shown.

    Raises:
        ParameterError: other observations.
    """

    def __init__(self, venv: Any, frames: int) -> None:
        own = venv.observation_space
        if not isinstance(own, spaces.Box) and not isinstance(form_of(own), int):
            raise ParameterError(f"[network] frames needs observations that are one array of numbers, not {own}")
        stack = Stack(own, frames)
        super().__init__(venv, stack)
        form = form_of(own)
        self._choices = form if isinstance(form, int) else 0
        self._seen = np.zeros((venv.num_envs, frames, stack.shape[0] // frames), stack.dtype)

    @property
    def state(self) -> np.ndarray:
        """The stacked observations of all slots, for a checkpoint."""
        return self._seen.copy()

    @state.setter
    def state(self, seen: np.ndarray) -> None:
        self._seen[:] = seen

    def reset(self) -> np.ndarray:
        """Start episodes in all worlds."""
        self._seen[:] = self._rows(self.venv.reset())[:, None]
        return self._shown

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Advance all worlds, as `SB3VecEnv.step_wait` does."""
        observations, rewards, dones, infos = self.venv.step_wait()
        self._seen[:, :-1] = self._seen[:, 1:]
        for slot in np.flatnonzero(dones):
            if "terminal_observation" in infos[slot]:
                self._seen[slot, -1] = self._rows(np.asarray(infos[slot]["terminal_observation"])[None])[0]
                infos[slot]["terminal_observation"] = self._seen[slot].reshape(-1).copy()
        rows = self._rows(observations)
        self._seen[:, -1] = rows
        self._seen[dones] = rows[dones][:, None]
        return self._shown, rewards, dones, infos

    @property
    def _shown(self) -> np.ndarray:
        return self._seen.reshape(len(self._seen), -1).copy()

    def _rows(self, observations: Any) -> np.ndarray:
        """(slots, numbers)."""
        found = np.asarray(observations)
        return (found[:, None] == np.arange(self._choices)) if self._choices else found.reshape(len(found), -1)
