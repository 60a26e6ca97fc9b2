"""Batches whose bodies are moved by a physics engine. All else of a step stays with the world's kernels."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch import AUTORESET, KernelBatch, Snapshot
from rlenvs.core.setup import physics_of
from rlenvs.core.spec import World


class Engine(Protocol):
    """What moves the bodies of a batch's worlds, between the kernels `act` and `judge`.

    Made as Class(batch). It reads and writes the live records `batch.records(i)` of world i, and calls `batch.load(i)`
    before each physics step.
    """

    def place(self, i: int) -> None:
        """Put the bodies of world i where its state says, with the masses that its parameters say."""

    def move(self, i: int) -> None:
        """Advance world i by one control step and write its state."""

    def look(self, i: int) -> None:
        """Fill the pictures of world i, `batch.images`."""

    def close(self) -> None:
        """Give everything back. May be called twice."""


class EngineBatch(KernelBatch):
    """N worlds whose motion is an engine's: the form physics="pybullet" of a world, for example.

    The engine's class is named in the world's declaration and imported when a batch is made.
    """

    def _open(self) -> None:
        module, _, name = self.world.engines[self.setup.values.physics].partition(":")
        self.engine: Engine = getattr(importlib.import_module(module), name)(self)
        for i in np.flatnonzero(~self.over):  # copied or unpickled in the middle of an episode
            self.engine.place(int(i))

    def load(self, i: int) -> None:
        """Run the kernel `load` of world i."""
        self._driver.load_worlds(self._address, i, i + 1)

    def reset(self, mask: np.ndarray | None = None) -> None:
        """Start new episodes in all worlds, or in those that the boolean mask selects."""
        super().reset(mask)
        self._place_begun()
        self._look()

    def step_loaded(self) -> None:
        """Advance every world by the actions that lie in `actions`."""
        code = self._driver.check_actions(self._address)
        if code:
            self._refuse(code)
        self._driver.command_worlds(self._address, 0, self.num_worlds)
        self._place_begun()
        for i in np.flatnonzero(~self._begin).tolist():
            self.engine.move(i)
        begun = self._begin.copy()
        self._driver.judge_worlds(self._address, 0, self.num_worlds)
        self._begin &= ~begun
        self._place_begun()
        self._look()

    def _place_begun(self) -> None:
        for i in np.flatnonzero(self._begin).tolist():
            self.engine.place(i)

    def _look(self) -> None:
        if self.images:
            for i in range(self.num_worlds):
                self.engine.look(i)

    def set_params(self, values: dict[str, Any], worlds: np.ndarray | None = None) -> None:
        """As for kernels; the engine's bodies change too."""
        super().set_params(values, worlds)
        for i in np.flatnonzero(~self.over).tolist() if values else ():
            self.engine.place(i)

    def set_state(self, snapshot: Snapshot, index: int | slice = 0) -> None:
        """As for kernels. Exact in free flight; engines keep contacts of their own, which no snapshot holds."""
        super().set_state(snapshot, index)
        for i in range(self.num_worlds)[index] if isinstance(index, slice) else (index,):
            self.engine.place(i)
        self._look()

    def roll(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As for kernels, a step at a time."""
        rewards, costs = np.zeros((2, *actions.shape[:3]))
        table, autoreset = self._table[0], self._table[0]["autoreset"]
        table["autoreset"] = AUTORESET[AutoresetMode.DISABLED]
        for i in range(self.num_worlds):
            for t in range(actions.shape[1]):
                if self.over[i]:
                    break
                self.actions[i] = actions[i, t]
                self._driver.command_worlds(self._address, i, i + 1)
                self.engine.move(i)
                self._driver.judge_worlds(self._address, i, i + 1)
                rewards[i, t], costs[i, t] = self.rewards[i], self.costs[i]
        table["autoreset"] = autoreset
        return rewards, costs

    def close(self) -> None:
        """Close the engine. May be called twice."""
        self.engine.close()


def new_batch(world: World, num_worlds: int = 1, **keywords: Any) -> KernelBatch:
    """A batch of the class that the keyword `physics` asks for; arguments as for `KernelBatch`."""
    engine = physics_of(world, keywords) in world.engines
    return (EngineBatch if engine else KernelBatch)(world, num_worlds, **keywords)
