"""Who acts by a script in a batch: the expert and the players of its world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.core.batch.loops import Loops
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, shortened
from rlenvs.core.declare.setup import Setup


class Players:
    """The scripted expert and the named players of a world. What they choose is written into the batch's `actions`.

    Args:
        setup: of the batch.
        loops: the driver's, over its worlds.
    """

    def __init__(self, setup: Setup, loops: Loops) -> None:
        self._setup, self._world, self._loops = setup, setup.world, loops
        rows = loops.table.rows
        self._actions, self._split, self._slots = rows["actions"], rows["_split"], rows["_slots"]
        self._seated: tuple[str | None, ...] | None = None  # the names behind `_slots`

    def advise(self, only: np.ndarray | None = None) -> None:
        """See `KernelBatch.expert_actions`."""
        kernels = self._world.kernels
        if "python_expert" in kernels:
            self._call_python(kernels["python_expert"], only)
        elif "expert" in kernels:
            self._loops.call(self._loops.driver.advise_worlds, only)
        elif self._world.players:
            self.play_all(self._world.players[0], only)
        else:
            raise NotImplementedError(f"{self._world.name} has no scripted expert")
        if self._setup.continuous:
            self._actions.clip(*self._setup.action_scaling[2:], out=self._actions)  # as a step would

    def _call_python(self, expert: Any, only: np.ndarray | None) -> None:
        worlds = range(len(self._actions)) if only is None else np.flatnonzero(only).tolist()
        for i in worlds:
            expert(*self._loops.table.records(i), self.expert_buffer(i))
        if self._setup.converted:
            gain, offset = self._setup.action_scaling[:2]
            self._actions[...] = (self._split - offset) / gain
        elif self._setup.dimensions:
            self._actions[..., 0] = np.ravel_multi_index(np.moveaxis(self._split, -1, 0), self._setup.dimensions)

    def expert_buffer(self, index: int) -> np.ndarray:
        """See `KernelBatch.expert_buffer`."""
        rows = self._split[index] if len(self._split) else self._actions[index]
        if self._setup.action_kind == "discrete":
            return rows[:, 0]
        return rows if self._world.agents else rows[0]

    def play_all(self, player: str, only: np.ndarray | None = None) -> None:
        """Let one of the players choose for all agents."""
        names = (player,) * self._setup.agents
        if names == self._seated:
            self._loops.call(self._loops.driver.play_worlds, only)
        else:
            self.play(names, only)

    def play(self, names: Sequence[str | None], only: np.ndarray | None = None) -> None:
        """See `KernelBatch.player_actions`: a name per agent, or None."""
        name_of_world, players, agents = self._world.name, self._world.players, self._setup.agents
        if not isinstance(names, Sequence):
            raise ParameterError(
                f"{name_of_world}: slots={shortened(names)} must be a player's name, or a list of names"
            )
        if len(names) != agents:
            raise ParameterError(f"{name_of_world}: {len(names)} slots were given for {agents} agents")
        for name in names:
            if name is not None and not (isinstance(name, str) and name in players):
                raise UnknownNameError(f"{name_of_world} has no player {shortened(name)}; it has {players}")
        self._slots[:] = [-1 if name is None else players.index(name) for name in names]
        self._seated = tuple(names)
        self._loops.call(self._loops.driver.play_worlds, only)
