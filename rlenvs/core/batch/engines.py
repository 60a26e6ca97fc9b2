"""Batches whose bodies are moved by a physics engine. All else of a step stays with the world's kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.compiler.driver import CHECK, COMMAND, JUDGE, LOAD, NOT_MOVED, PLACE
from rlenvs.core.compiler.table import AUTORESET
from rlenvs.core.declare.errors import RlenvsError
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.values import engine_of, load_engine


class Engine(Protocol):
    """What moves the bodies of a batch's worlds, between the kernels `act` and `outcome`.

    Made as Class(batch). It reads and writes the live state of the worlds, `batch.states` or the records
    `batch.records(i)`, and may call `batch.before_physics(i)` before each of its physics steps. `worlds` are ascending
    indices.
    """

    def adopt(self, worlds: np.ndarray) -> None:
        """Take over the parameters of some worlds, whether or not episodes go on there.

        Raises:
            ParameterError, EngineError: the engine refuses them; it can be given others then.
        """

    def place(self, worlds: np.ndarray, begun: bool) -> None:
        """Put the bodies where the states say, with the masses that the parameters say. `begun`: new episodes begin,
        and readings of the engine that are part of the state have to be filled."""

    def move(self, worlds: np.ndarray) -> Mapping[int, str]:
        """Advance by one control step and write the states. Returns, by world, why it could not; such a world's state
        is left as it was."""

    def observe_images(self, worlds: np.ndarray) -> None:
        """Fill the images `batch.images`."""

    def camera_image(self, i: int, width: int, height: int) -> np.ndarray | None:
        """The image of world i, uint8 (height, width, 3); None where the world draws itself."""

    def close(self) -> None:
        """Give everything back. Can be called twice."""


class EngineBatch(KernelBatch):
    """N worlds whose motion is an engine's: the form physics="pybullet" of a world, for example.

    The engine's class is named in the world's declaration and imported when a batch is made.
    """

    moved_by_engine = True

    def _open_resources(self) -> None:
        rows = self.loops.table.rows
        self._begin, self._asleep, self._blank = rows["_begin"], rows["_asleep"], rows["_blank"]
        keywords = {"physics": self.setup.values.physics} if self.world.engines else {}
        self.engine: Engine = load_engine(engine_of(self.world, keywords))(self)
        self.loops.table.record["has_images"] = False  # the engine draws, not the kernel `observe_images`
        self._everyone = np.arange(self.num_envs)
        self._check_ends()
        self.engine.adopt(self._everyone)
        self.engine.place(np.flatnonzero(~self.over), False)  # copied or unpickled in the middle of an episode

    def _check_ends(self) -> None:
        """Show the engine both ends of every range that parameters are drawn from, one after the other.

        Raises:
            ParameterError, EngineError: the engine refuses one, which else would show at a reset.
        """
        row, usual = self.param_rows[:1], self.param_rows[:1].copy()
        for name, ends in self.setup.random_ranges.items():
            for end in ends:
                row[name] = end
                self.engine.adopt(self._everyone[:1])
            row[:] = usual

    @property
    def blank(self) -> np.ndarray:
        """One record: the state that a new episode has before the kernel `reset`. Zero, unless the engine fills it."""
        return self._blank

    def before_physics(self, i: int) -> None:
        """Run the kernel `before_physics` of world i."""
        self.loops.driver.run_worlds(self.loops.address, i, i + 1, LOAD)

    def reset(self, mask: np.ndarray | None = None) -> None:
        """Start new episodes in all worlds, or in those that the boolean mask selects."""
        super().reset(mask)
        self._place_begun()

    def _advance(self) -> None:
        run, address, worlds = self.loops.driver.run_worlds, self.loops.address, self.num_envs
        code = run(address, 0, 0, CHECK)
        if code:
            self.loader.refuse(code)
        begun = run(address, 0, worlds, COMMAND)
        if begun:
            self._place_begun()
        before = self._begin.copy()
        moved = np.flatnonzero(~(before | self._asleep)) if begun or self._asleep.any() else self._everyone
        self._move(moved)
        self._look(moved)
        if run(address, 0, worlds, JUDGE):
            self._begin &= ~before
            self._place_begun()

    def _move(self, worlds: np.ndarray) -> None:
        reasons, told = self.engine.move(worlds), self._reasons.by_engine
        if reasons:
            self.failures[list(reasons)] = NOT_MOVED
        if reasons or told:  # who is asleep goes on being told
            self._reasons.by_engine = {**{i: why for i, why in told.items() if self._asleep[i]}, **reasons}

    def _place_begun(self) -> None:
        begun = np.flatnonzero(self._begin)
        self.engine.place(begun, True)
        self.loops.driver.run_worlds(self.loops.address, 0, self.num_envs, PLACE)
        self._look(begun)

    def _look(self, worlds: np.ndarray) -> None:
        if self.images:
            self.engine.observe_images(worlds)

    def set_params(self, values: dict[str, Any], worlds: np.ndarray | None = None) -> None:
        """As for kernels; the engine's bodies change too, and what the engine refuses changes nothing either."""
        if not values:
            return
        before = self.param_rows.copy()
        super().set_params(values, worlds)
        changed = self._everyone if worlds is None else np.flatnonzero(worlds)
        try:
            self.engine.adopt(changed)
        except RlenvsError:
            self.own_params()[:] = before
            self.engine.adopt(changed)
            raise
        self.engine.place(np.flatnonzero(~self.over), False)

    def sync_from_state(self, worlds: np.ndarray) -> None:
        """As for kernels. Exact where the state holds all that the engine remembers: always with MuJoCo, in free flight
        with PyBullet, which keeps contacts of its own."""
        super().sync_from_state(worlds)
        self.engine.place(worlds, False)
        self._look(worlds)

    def rollout(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As for kernels, a step at a time."""
        rewards, costs = np.zeros((2, *actions.shape[:3]))
        record = self.loops.table.record[0]
        record["autoreset"] = AUTORESET[AutoresetMode.DISABLED]
        for t in range(actions.shape[1]):
            live = np.flatnonzero(~self.over)
            if not len(live):
                break
            self.actions[live] = actions[live, t]
            self.loops.run_some(COMMAND, live)
            self._move(live)
            self.loops.run_some(JUDGE, live)
            rewards[live, t], costs[live, t] = self.rewards[live], self.costs[live]
        record["autoreset"] = AUTORESET[self.autoreset]
        return rewards, costs

    def camera_image(self, index: int, width: int, height: int) -> np.ndarray | None:
        """As for kernels; the engine's image."""
        return self.engine.camera_image(index, width, height)

    def close(self) -> None:
        """Close the engine. Can be called twice."""
        self.engine.close()


def new_batch(world: World, num_envs: int = 1, **keywords: Any) -> KernelBatch:
    """A batch of the class that the keyword `physics` asks for; arguments as for `KernelBatch`."""
    return (EngineBatch if engine_of(world, keywords) else KernelBatch)(world, num_envs, **keywords)
