"""Copies of the worlds of a stage, to try actions in."""

from __future__ import annotations

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.compiler.loops import compiled
from rlenvs.wrappers.randomness import bits_at
from rlenvs.wrappers.slots import BatchSlots
from rlenvs.wrappers.stage import Observation, Stage
from rlenvs.wrappers.wrapper import Wrapper

ONE = np.uint64(1)


class Copies(Stage):
    """Worlds like those of a stage of this package, to try actions in. Slots are as in the stage.

    Args:
        stage: the stage at the bottom of a stack.
        worlds: how many; None for as many as there.
    """

    def __init__(self, stage: Stage, worlds: int | None = None) -> None:
        source: KernelBatch = stage.batch
        self._stage = stage
        self.count = stage.count if worlds is None else worlds * stage.agents
        self.agents, self.name, self.env = stage.agents, stage.name, stage.env
        self.action_spaces, self.observation_spaces = stage.action_spaces, stage.observation_spaces
        self._team = getattr(getattr(stage.env, "unwrapped", stage.env), "others", None)
        # as the stage hands them to its environment
        self._number = np.float64 if isinstance(stage, BatchSlots) else stage.action_spaces[0].dtype
        self.batch: KernelBatch = source.clone(worlds, source.threads)

    def like(self, worlds: int) -> Copies:
        """So many worlds of the same stage."""
        return Copies(self._stage, worlds)

    def begin(self, seed: int) -> None:
        """Episodes in all worlds, as the world begins them."""
        self.batch.seed([seed * self.batch.num_envs + i for i in range(self.batch.num_envs)])
        self.batch.reset()

    def renew(self) -> None:
        """Begin anew where episodes are over."""
        over = self.batch.over
        if over.any():
            self.batch.reset(over)

    def check_cost(self, cost: str, wrapper: Wrapper) -> None:
        """ParameterError unless the world has a cost."""
        world = self.batch.world
        known = ["cost", *(f"cost_{name}" for name in world.costs)] if world.costs else []
        if cost not in known:
            raise wrapper.setting_error(
                "unsafe",
                f'is not a cost of {self.name}, which has {known}; a function or "module:name" can also be given',
            )

    def match(self, source: KernelBatch, key: np.ndarray, time: np.ndarray) -> None:
        """Make the worlds equal to the true ones but for their generators, which follow from the key and the time."""
        batch = self.batch
        batch.states.view(np.uint8)[...] = source.states.view(np.uint8)  # records as such take long
        if len(source.param_rows) > len(batch.param_rows):
            batch.own_params()
        batch.param_rows[...] = source.param_rows
        for place, name in enumerate(("rng", "players_rng")):
            if name in (batch.states.dtype.names or ()):
                reseed(batch.states[name], key, time, 2 * place)
        if hasattr(batch, "engine"):
            batch.engine.place(np.flatnonzero(~batch.over), False)
        if batch.world.incremental:
            batch.sync_from_state(np.arange(batch.num_envs))

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Advance the worlds of some slots."""
        batch, actions = self.batch, actions.astype(self._number) if self.continuous else actions
        if self.agents > 1:
            worlds = np.any(slots.reshape(-1, self.agents), axis=1)
            here = slots.reshape(-1, *(1,) * (actions.ndim - 1))
            batch.load_actions(np.where(here, actions, 0).reshape(-1, self.agents, *actions.shape[1:]))
        else:
            worlds = slots
            if batch.agents > 1 and self._team is not None:
                batch.set_first_agent_action(actions, self._team)
            else:
                batch.load_actions(actions)
        batch.step_inplace(worlds)

    def cost(self, name: str) -> np.ndarray:
        """A cost of the last step, (slots,)."""
        batch = self.batch
        if name == "cost":
            return batch.costs[:, : self.agents].reshape(-1)
        index = len(batch.world.terms) + list(batch.world.costs).index(name.removeprefix("cost_"))
        return batch.terms[:, index, : self.agents].reshape(-1)

    def read(self, key: str) -> np.ndarray | None:
        """A cost, "action_mask" or "is_success"; None for all else."""
        batch = self.batch
        if batch.world.costs and (key == "cost" or key.removeprefix("cost_") in batch.world.costs):
            return self.cost(key)
        found = {"action_mask": batch.masks, "is_success": batch.success}.get(key)
        return None if found is None else found[:, : self.agents].reshape(self.count, *found.shape[2:])

    @property
    def observation(self) -> Observation:
        """The worlds' own observations."""
        if self.agents == 1:
            return self.batch.get_observations((slice(None), 0), copy=False)
        seen = self.batch.get_observations(copy=False)
        if isinstance(seen, dict):
            return {name: part.reshape(self.count, *part.shape[2:]) for name, part in seen.items()}
        return seen.reshape(self.count, *seen.shape[2:])

    @property
    def reward(self) -> np.ndarray:  # type: ignore[override]
        """The worlds' own rewards, (slots,)."""
        return self.batch.rewards[:, : self.agents].reshape(-1)

    @property
    def terminated(self) -> np.ndarray:  # type: ignore[override]
        """The worlds' own ends."""
        return self.batch.terminated[:, : self.agents].reshape(-1)

    @property
    def truncated(self) -> np.ndarray:  # type: ignore[override]
        """The worlds' own ends."""
        return self.batch.truncated[:, : self.agents].reshape(-1)

    @property
    def over(self) -> np.ndarray:
        """Which slots do not go on, bool (slots,)."""
        states = self.batch.states
        return (states["over"][:, None] | ~states["alive"][:, : self.agents]).reshape(-1)


@compiled(nogil=True)
def reseed(words: np.ndarray, key: np.ndarray, time: np.ndarray, place: int) -> None:
    """Two words for each world's generator (worlds, 2), from the key of its first slot."""
    agents = key.size // len(words)
    for i in range(len(words)):
        for j in range(2):
            words[i, j] = bits_at(key[i * agents], time[i * agents], place + j) | ONE
