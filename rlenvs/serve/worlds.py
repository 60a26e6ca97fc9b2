"""A batch that a trainer outside plays: what each world does in an exchange, and what all agents are told."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random as make_generator
from gymnasium.vector import AutoresetMode

from rlenvs.bridge.layout import Do
from rlenvs.bridge.spaces import WHOLE, told_names
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.forms.illegal_actions import action_checker_of
from rlenvs.serve.sessions import scalar_id

__all__ = ["Worlds"]


class Worlds:
    """The worlds of one environment, all agents of each.

    Args:
        id: of the environment.
        num: how many worlds.
        autoreset, keywords: of the batch.

    Attributes:
        name: the full id.
        agents: their names.
        observation_space, action_space: of an agent; those that see or choose less have the largest ones.

    Raises:
        UnknownNameError, UnknownKeywordError, ParameterError: as for `rlenvs.make_batch`.
    """

    def __init__(
        self, id: str, num: int = 1, *, autoreset: AutoresetMode = AutoresetMode.DISABLED, **keywords: Any
    ) -> None:
        self.name = scalar_id(id)
        self.batch = batch = make_batch(id, num, autoreset=autoreset, **keywords)
        self.agents = [role.name for role in batch.setup.roles]
        self.observation_space, self.action_space = batch.setup.observation_space, batch.setup.action_space
        self._checker = action_checker_of(batch, "count", batch.agents)
        self._generator = make_generator()[0]

    def begin(self, seeds: np.ndarray, mask: np.ndarray | None = None) -> None:
        """Start episodes in all worlds or in those of the mask, with generators seeded where seeds are 0 or more."""
        chosen = np.ones(len(seeds), np.bool_) if mask is None else mask
        pairs = zip(seeds.tolist(), chosen.tolist(), strict=True)
        self.batch.seed([seed if at and seed >= 0 else None for seed, at in pairs])
        self.batch.seed_unseeded(self._generator)
        self.batch.reset(mask)

    def step(self, actions: np.ndarray, only: np.ndarray | None = None) -> None:
        """Advance all worlds or some with actions (worlds, agents, ...) of the action space. A choice that others have
        and an agent has not is its choice 0.

        Raises:
            ActionError, EpisodeOverError: as for a batch. Nothing has changed then.
        """
        setup = self.batch.setup
        if self.batch.world.roles and not setup.continuous:
            own, choices = setup.own_choices, actions.reshape(*actions.shape[:2], -1)
            actions = np.where((choices >= own) & (choices < own.max(axis=0)), 0, choices).reshape(actions.shape)
        self.batch.load_actions(actions)
        if self._checker is None:
            self.batch.step_inplace(only)
        else:
            self._checker.step(only)

    def exchange(self, asked: dict[str, np.ndarray], told: dict[str, np.ndarray]) -> None:
        """Do what a request asks, and fill its answer.

        Raises:
            ParameterError, ActionError, EpisodeOverError: there is no such request. Nothing has changed then.
        """
        do, seeds = asked["do"], asked["seeds"]
        if (do > Do.BEGIN).any():
            raise ParameterError(f"do has {do.max()}; needed: 0 waits, 1 steps, 2 begins an episode")
        if (seeds < -1).any():
            raise ParameterError(f"seeds have {seeds.min()}; needed: 0 or more, or -1 for none")
        steps, begins = do == Do.STEP, do == Do.BEGIN
        if steps.any():
            self.step(asked["actions"], None if steps.all() else steps)
        if begins.any():
            self.begin(seeds, begins)
        self._tell(told, steps[:, None])

    def _tell(self, told: dict[str, np.ndarray], steps: np.ndarray) -> None:
        batch = self.batch
        found = batch.get_observations(copy=False)
        for part, name in told_names("observations", self.observation_space).items():
            told[name][...] = found if part == WHOLE else found[part]
        told["rewards"][...] = np.where(steps, batch.rewards, 0.0)
        told["terminated"][...] = steps & batch.terminated
        told["truncated"][...] = steps & batch.truncated
        for name, values in self.infos().items():
            told[f"info/{name}"][...] = values

    def infos(self) -> dict[str, np.ndarray]:
        """What agents are told besides, (worlds, agents, ...) by name; the batch's own arrays."""
        batch, world = self.batch, self.batch.world
        terms = [f"reward_{name}" for name in world.terms] + [f"cost_{name}" for name in world.costs]
        infos = {name: batch.terms[:, i] for i, name in enumerate(terms)}
        infos["is_success"] = batch.success
        if world.costs:
            infos["cost"] = batch.costs
        if self._checker is not None:
            infos["action_mask"], infos["illegal_actions"] = batch.masks, self._checker.counts
        return infos

    def close(self) -> None:
        """Release what the batch holds outside Python."""
        self.batch.close()
