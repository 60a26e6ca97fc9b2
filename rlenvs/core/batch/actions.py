"""How actions come into a batch: the shapes and types that are taken, and what is said to all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from rlenvs.core.compiler.driver import EPISODE_OVER, NOT_A_CHOICE, NOT_A_NUMBER
from rlenvs.core.compiler.within import within
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, KernelError, shortened
from rlenvs.core.declare.inputs import actions_of, switches_of
from rlenvs.core.declare.setup import Setup


class ActionLoader:
    """Writes actions into the array of a batch. Shape and type are looked at here, values by the driver's next step.

    Args:
        setup: of the batch.
        actions: its array of actions, (N, A, numbers per action).
        states: its states.

    Attributes:
        row: all numbers of `actions` in a row.
        bare: the types of a number that is taken as it is as the action of the sole agent of the sole world.
        first_numbers: how many numbers an action of the first agent has.
    """

    def __init__(self, setup: Setup, actions: np.ndarray, states: np.ndarray) -> None:
        self._setup, self._actions, self._states = setup, actions, states
        self._dtype, self._full = actions.dtype, actions.shape
        self._choices = setup.own_choices
        self._num_envs, self._agents = actions.shape[:2]
        self.row = actions.reshape(-1)
        self._views = {shape: actions.reshape(shape) for shape in shapes_of(actions, setup.single_choice)}
        self._shape = () if setup.single_choice else actions.shape[2:]  # as the action space has it
        self._binary, self._continuous = setup.binary, setup.continuous
        self._kinds = "fiu" if setup.continuous else "iu"
        # numbers within these are allowed in all places
        self._within: Callable[[], bool] | None = None  # numba takes long to import
        self._least: float
        self._most: float
        if setup.continuous:
            low, high = setup.action_scaling[2:]
            self._least, self._most = float(low.max()), float(high.min())
        else:
            self._least, self._most = 0, int(self._choices.min()) - 1
        self.first_numbers = 1 if setup.single_choice else setup.roles[0].action
        # types of numbers that are taken as they are: for the first of several agents, and for the sole agent
        self._bare_first = (int, np.int64) if self._num_envs == 1 and setup.single_choice else ()
        self.bare = self._bare_first if self._agents == 1 else ()

    # --- taking in ----------------------------------------------------------------------------------------------------

    def load(self, actions: Any) -> None:
        """See `KernelBatch.load_actions`."""
        if type(actions) is ndarray and actions.dtype is self._dtype and actions.shape == self._full:
            self._actions[...] = actions  # in two thirds of the time
            return
        if type(actions) in self.bare and 0 <= actions < self._setup.action_size:
            self._actions[0, 0, 0] = actions  # a third of the time that np.asarray would take
            return
        array = actions if type(actions) is np.ndarray else actions_of(self._setup.world.name, actions)
        array = switches_of(array) if self._binary else array
        view = self._views.get(array.shape)
        if view is None or array.dtype.kind not in self._kinds:
            raise ActionError(self._complaint(actions, array))
        view[...] = array

    def load_one(self, action: Any) -> None:
        """See `KernelBatch.load_action`."""
        array = action if type(action) is np.ndarray else actions_of(self._setup.world.name, action)
        if array.shape != self._shape:
            raise ActionError(self._complaint(action, array))
        self.load(array)

    def first_of(self, actions: Any) -> Any:
        """Actions of the first agents, a number or (N, numbers), not yet in the batch. What a step would refuse is
        refused before anybody's turn: the team's players draw random numbers."""
        if type(actions) in self._bare_first:
            if 0 <= actions < self._choices.item(0):
                return actions  # in a fifth of the time
            actions = [actions]
        setup, size = self._setup, self.first_numbers
        array = actions_of(setup.world.name, actions)
        array = switches_of(array) if self._binary else array
        wanted = (self._num_envs,) if setup.single_choice else (self._num_envs, size)
        if array.shape != wanted or array.dtype.kind not in self._kinds:
            raise ActionError(
                f"{setup.world.name}: actions of shape {array.shape} and type {array.dtype} were given; needed for "
                f"the first agents: {'real numbers' if self._continuous else 'integers'} of shape {wanted}"
            )
        array = array.reshape(-1, size)
        if self._continuous:
            wrong, reason = np.isnan(array), NOT_A_NUMBER
        else:
            wrong, reason = (array < 0) | (array >= self._choices[0, :size]), NOT_A_CHOICE
        if np.count_nonzero(wrong):  # takes less time than `any`
            rows = np.flatnonzero(wrong.any(axis=1) & ~self._states["over"] & self._states["alive"][:, 0])
            for index in rows[:1].tolist():
                self.refuse(4 * index * self._agents + reason, array[index].tolist())
        return array

    @property
    def all_within(self) -> bool:
        """Whether no number has to be refused or clipped, found out in a fraction of the time that CHECK takes."""
        if self._within is None:
            self._within = within(self.row, self._least, self._most)
        return self._within()

    # --- refusing -----------------------------------------------------------------------------------------------------

    def refuse(self, code: int, given: list[Any] | None = None) -> None:
        """Raise the error of a driver's code; `given` is the action, where it does not lie in the batch."""
        if code < 0:  # of a library
            raise KernelError(f"{self._setup.world.name}: a kernel raised an error")
        reason = code % 4
        index, agent = divmod(code // 4, self._agents)
        where = self._setup.world.name + (f", environment {index}" if self._num_envs > 1 else "")
        where += f", agent {agent}" if self._agents > 1 else ""
        if reason == EPISODE_OVER:
            raise EpisodeOverError(f"{where}: the episode is over, or never began; call reset() before step()")
        value = self._actions[index, agent].tolist() if given is None else given
        if reason == NOT_A_NUMBER:
            raise ActionError(f"{where}: action {value} contains NaN")
        raise ActionError(f"{where}: {self.choice_complaint(value, agent)}")

    def choice_complaint(self, value: list[int], agent: int) -> str:
        """What is wrong with an action that is not made of choices."""
        counts = self._choices[agent].tolist()
        if self._setup.single_choice:
            return f"action {value[0]} is not one of 0 ... {counts[0] - 1}"
        j = next(j for j, (number, count) in enumerate(zip(value, counts, strict=False)) if not 0 <= number < count)
        return f"action {value}: {value[j]} is not one of 0 ... {counts[j] - 1} of {self._setup.number_name(j)}"

    def _complaint(self, actions: Any, array: np.ndarray) -> str:
        """What is wrong with the shape or type of actions."""
        wanted = self._actions.shape[:2] if self._setup.single_choice else self._actions.shape
        if self._agents == 1:
            wanted = wanted[:1] + wanted[2:]
        kind = "real numbers" if self._continuous else "integers"
        return (
            f"{self._setup.world.name}: an action of shape {array.shape} and type {array.dtype} was given "
            f"({shortened(actions)}); needed: {kind} of shape {wanted[1:] if self._num_envs == 1 else wanted}"
        )


def shapes_of(actions: np.ndarray, single_choice: bool) -> frozenset[tuple[int, ...]]:
    """The shapes in which actions may come: axes of length one may be left out."""
    full: tuple[int, ...] = actions.shape
    shapes = [full[:2], full] if single_choice else [full]
    if full[1] == 1:
        shapes += [shape[:1] + shape[2:] for shape in shapes]
    if full[0] == 1:
        shapes += [shape[1:] for shape in shapes]
    return frozenset(shapes)


def numbers_in(name: str, value: Any) -> np.ndarray:
    """Real numbers as they are; ActionError, with the name of the world, for anything else."""
    array = actions_of(name, value)
    if array.dtype.kind not in "fiu":
        raise ActionError(f"{name}: {shortened(value)} is not made of real numbers")
    return array
