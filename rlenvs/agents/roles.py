"""Training of one network for several kinds of agents, with the kind as an input.

[network]               # in the settings, where a world's agents differ (ParticleTag-v0, ParticleCrypto-v0, ...)
roles = true
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnvWrapper

from rlenvs.agents.kinds import in_blocks, kind_of, kinds_in
from rlenvs.core.declare.errors import ParameterError

__all__ = ["Roles"]

VECTOR = 1  # axes of observations that can be put into blocks


class Blocks(spaces.Box):
    """The space of rows in blocks, `rlenvs.agents.kinds.in_blocks`.

    Args:
        row_space: of the rows, padded to equal length.
        kinds: as `kinds_in` gives them.
    """

    def __init__(self, row_space: spaces.Box, kinds: list[dict[str, Any]]) -> None:
        low, high = np.minimum(row_space.low, 0), np.maximum(row_space.high, 0)  # the zeros in all other blocks
        low, high = np.append(low, 0), np.append(high, 1)
        dtype: Any = row_space.dtype
        super().__init__(np.tile(low, len(kinds)).astype(dtype), np.tile(high, len(kinds)).astype(dtype), dtype=dtype)
        self.row_space, self.kinds = row_space, kinds


class Roles(VecEnvWrapper):
    """A `VecEnv` whose observations are placed in the block of their agent's kind.

    Args:
        venv: an `SB3VecEnv` of a world with several kinds of agents, whose observations are one row of numbers; or a
            `League` around one.

    Raises:
        ParameterError: all agents are of one kind, or other observations.
    """

    def __init__(self, venv: Any) -> None:
        setup, own = venv.batch.setup, venv.observation_space
        kinds = kinds_in(setup)
        names = [kind["name"] for kind in kinds]
        if len(names) == 1:
            raise ParameterError(
                f"[network] roles requires several kinds of agents; with these keywords all agents of "
                f"{setup.world.name} are of the kind {names[0]!r}. Leave it out"
            )
        if not isinstance(own, spaces.Box) or len(own.shape) != VECTOR:
            raise ParameterError(f"[network] roles requires one observation vector per agent, not {own}")
        super().__init__(venv, Blocks(own, kinds))
        agents = np.array([names.index(kind_of(role.name)) for role in setup.roles])
        slots = getattr(venv, "slots", np.arange(venv.num_envs))
        self.kinds: np.ndarray = agents[slots % len(agents)]
        self._count = len(names)

    def reset(self) -> np.ndarray:
        """Start episodes in all worlds."""
        return in_blocks(np.asarray(self.venv.reset()), self.kinds, self._count)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Advance all worlds, as `SB3VecEnv.step_wait` does."""
        observations, rewards, dones, infos = self.venv.step_wait()
        ended = [slot for slot in np.flatnonzero(dones) if "terminal_observation" in infos[slot]]
        if ended:
            last = np.stack([infos[slot]["terminal_observation"] for slot in ended])
            for slot, row in zip(ended, in_blocks(last, self.kinds[ended], self._count), strict=True):
                infos[slot]["terminal_observation"] = row
        return in_blocks(np.asarray(observations), self.kinds, self._count), rewards, dones, infos
