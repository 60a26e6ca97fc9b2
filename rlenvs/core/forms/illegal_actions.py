"""Choices that the action mask forbids: counted by episode, or refused. Of an action of several choices each counts.

The world says what such a choice does (nothing, in most). The counts lie in the state, so that snapshots have them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.errors import ActionError, RlenvsError
from rlenvs.core.declare.inputs import one_of


class ActionChecker:
    """Steps a batch of a world that has masks, and looks at the choices that lie in its `actions` first.

    Args:
        batch: the batch.
        illegal: "count" adds to `counts`, "error" refuses the step.
        agents: the first so many agents of each world choose by themselves; scripted players choose for the others.
    """

    def __init__(self, batch: KernelBatch, illegal: str, agents: int) -> None:
        self.batch, self.agents = batch, agents
        self.refuses = one_of("illegal", illegal, ("count", "error")) == "error"
        count, size = batch.masks.shape[1:]
        setup = batch.setup
        self._single = batch.num_envs == agents == 1 and batch.autoreset is AutoresetMode.DISABLED
        self._single &= setup.single_choice
        rows = size * (count * np.arange(batch.num_envs)[:, None] + np.arange(agents))
        # where each number's choices begin in the mask of all agents of all worlds
        self._starts = rows[..., None] + np.cumsum((0, *setup.choices[:-1]))
        self._places, self._allowed = np.zeros_like(self._starts), np.zeros(self._starts.shape, np.int8)
        self._choices = setup.own_choices[:agents]
        self._last = int(self._choices[0, 0]) - 1
        self.before = self.counts.copy()

    @property
    def counts(self) -> np.ndarray:
        """Illegal choices in each episode so far, int64 (N, agents); live."""
        return self.batch.states["illegal"][:, : self.agents]

    def step(self, only: np.ndarray | None = None) -> None:
        """`batch.step_inplace`. `before` has the counts of the episodes that end in this step then.

        Raises:
            ActionError: a choice is illegal, and that is to be an error. Nothing has changed then.
            What `step_inplace` raises.
        """
        batch = self.batch
        if self._single and only is None:
            self._step_single()
            return
        illegal = self._find(only)
        if illegal is None:
            self._keep()
            batch.step_inplace(only)
            return
        if self.refuses:
            raise ActionError(self._complaint(illegal))
        counts, more = self.counts, illegal[..., 0] if illegal.shape[2] == 1 else illegal.sum(axis=2)
        counts += more
        self._keep()
        try:
            batch.step_inplace(only)
        except RlenvsError:
            counts -= more
            raise

    def _step_single(self) -> None:
        """The same for one agent of one world, in a tenth of the time."""
        batch = self.batch
        choice = int(batch.actions.item(0))
        if not 0 <= choice <= self._last or batch.masks.item(choice) or batch.over.item(0):
            batch.step_inplace()
        elif self.refuses:
            raise ActionError(self._complaint(np.ones((1, 1, 1), np.bool_)))
        else:
            batch.step_inplace()
            self.counts[0, 0] += 1

    def _keep(self) -> None:
        if self.batch.final_masks.size:  # the next episodes begin in the same step
            self.before[:] = self.counts

    def _find(self, only: np.ndarray | None) -> np.ndarray | None:
        """Which choices are illegal, bool (N, agents, numbers); None where none is."""
        batch = self.batch
        choices = batch.actions[:, : self.agents]
        np.add(self._starts, choices, out=self._places)
        allowed = batch.masks.reshape(-1).take(self._places, mode="clip", out=self._allowed)
        if allowed.all():
            return None
        illegal: np.ndarray = allowed == 0
        illegal &= ~batch.states["over"][:, None, None]
        if batch.agents > 1:
            illegal &= batch.states["alive"][:, : self.agents, None]
        if only is not None:
            illegal &= only[:, None, None]
        if self.refuses:  # a step refuses what is no choice, for another reason, and takes back what was counted
            illegal &= (choices >= 0) & (choices < self._choices)
        return illegal if illegal.any() else None

    def _complaint(self, illegal: np.ndarray) -> str:
        batch = self.batch
        world, agent, number = (int(where[0]) for where in np.nonzero(illegal))
        where = batch.world.name + (f", environment {world}" if batch.num_envs > 1 else "")
        where += f", {batch.setup.roles[agent].name}" if batch.agents > 1 else ""
        legal = np.flatnonzero(batch.setup.parts_of_mask(batch.masks[world, agent])[number]).tolist()
        shown = ", ".join(map(str, legal[:12])) + (", ..." if len(legal) > 12 else "")
        choice = f"choice {batch.actions[world, agent, number]}"
        choice += f" of {batch.setup.number_name(number)}" if len(batch.setup.choices) > 1 else ""
        return f"{where}: the action mask forbids {choice} now; it allows {shown} (illegal='count' plays it)"


def action_checker_of(batch: KernelBatch, illegal: Any, agents: int) -> ActionChecker | None:
    """The action checker of a batch's choices; None where the world has no masks.

    Raises:
        ParameterError: `illegal` is neither "count" nor "error".
    """
    one_of("illegal", illegal, ("count", "error"))
    return ActionChecker(batch, illegal, agents) if "mask" in batch.world.kernels else None
