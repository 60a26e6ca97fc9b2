"""What a batch is asked beside its steps: rewards of other goals, central states, barriers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.batch.actions import numbers_in
from rlenvs.core.batch.loops import Loops
from rlenvs.core.declare.errors import ActionError
from rlenvs.core.declare.setup import Setup


def graded_goals(setup: Setup, loops: Loops, achieved: Any, desired: Any) -> tuple[np.ndarray, np.ndarray]:
    """See `KernelBatch.compute_reward`."""
    name, size = setup.world.name, setup.goal_size
    if not setup.world.goal:
        raise ActionError(f"{name} has no goals, so it has no compute_reward")
    setup.check_goal_reward("compute_reward", "leave it out")
    goals = [numbers_in(name, goal).astype(np.float32) for goal in (achieved, desired)]
    if goals[0].shape != goals[1].shape or goals[0].shape[-1:] != (size,):
        raise ActionError(
            f"{name}: goals of shape {goals[0].shape} and {goals[1].shape} were given; needed: two arrays (..., {size})"
        )
    pairs = np.ascontiguousarray(np.stack([goal.reshape(-1, size) for goal in goals], axis=1))
    grades = loops.table.empty("grades", len(pairs))
    loops.table.point("goals", pairs)
    loops.table.point("grades", grades)
    loops.driver.grade_goals(loops.address, len(pairs))
    shape = goals[0].shape[:-1]
    return grades["reward"].reshape(shape), grades["terminated"].reshape(shape)


def central_states(setup: Setup, loops: Loops, observations: np.ndarray) -> np.ndarray:
    """See `KernelBatch.central`."""
    if not setup.world.central:
        return setup.central_of(observations)
    states = np.zeros((loops.num_envs, *setup.central_space.shape), np.float32)
    loops.table.point("central", states)
    loops.call(loops.driver.central_worlds)
    return states


class Barriers:
    """The barriers of all worlds for proposed actions.

    Args:
        setup: of the batch.
        loops: the driver's, over its worlds.

    Attributes:
        shape: of the actions that `find` takes: (N, numbers), with agents (N, A, numbers).
    """

    def __init__(self, setup: Setup, loops: Loops) -> None:
        self._world, self._loops, self._converted = setup.world, loops, setup.converted
        agents = (setup.agents,) if setup.world.agents else ()
        self.shape = (loops.num_envs, *agents, setup.action_size)
        self._rooms: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # made when they are needed

    @property
    def count(self) -> int:
        """How many barriers a world has with these options; they are about actions as the world takes them, so none
        where `scaled` converts these."""
        return 0 if self._converted else self._loops.table.empty("barrier", 0).dtype["value"].shape[0]

    def find(self, actions: Any, believed: np.ndarray | None) -> np.ndarray:
        """See `KernelBatch.barriers`."""
        name, table = self._world.name, self._loops.table
        if self._rooms is None and not self.count:
            options = " with these options" if self._world.barriers else ""
            raise NotImplementedError(f"{name} has no barriers{options}")
        proposed = numbers_in(name, actions)
        if proposed.shape != self.shape:
            raise ActionError(f"{name}: proposed actions of shape {proposed.shape} were given; needed: {self.shape}")
        if self._rooms is None:
            self._rooms = self._made()
        found, barriers, proposals = self._rooms
        proposals[...] = proposed.swapaxes(0, 1) if self._world.agents else proposed
        if believed is None:
            self._fill(barriers, proposals)
        else:
            own, blocks = table.rows["param_rows"], table.blocks  # those of the worlds' own parameters stay good
            table.point("param_rows", believed)
            self._fill(barriers, proposals)
            table.point("param_rows", own)
            table.blocks = blocks
        return found

    def _made(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Room for what `find` returns, and the same for the driver, the agents one after the other, as proposals are,
        which come last."""
        agents = self.shape[1] if self._world.agents else 1
        barriers = self._loops.table.empty("barrier", agents, self._loops.num_envs)
        if self._world.agents:
            barriers["agent"] = np.arange(agents)[:, None]
        proposals = np.zeros((*barriers.shape, self.shape[-1]))
        return barriers.T if self._world.agents else barriers[0], barriers, proposals

    def _fill(self, barriers: np.ndarray, proposals: np.ndarray) -> None:
        for rows, proposed in zip(barriers, proposals, strict=True):
            self._loops.table.point("barrier", rows)
            self._loops.table.point("proposal", proposed)
            self._loops.call(self._loops.driver.bar_worlds)
