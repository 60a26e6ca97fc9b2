"""A stage: slots of an environment as arrays. Of slots and stages: `rlenvs.wrappers.wrapper`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.action_form import first_action
from rlenvs.core.declare.errors import ParameterError

Observation = Any  # an array (slots, ...), or a dictionary of such arrays


class Stage:
    """Slots of an environment as arrays. A mask `slots`, bool (slots,), says which ones a call is about.

    Attributes:
        count: number of slots. agents: slots per world.
        observation_spaces: the space of a slot, one per agent of a world; equal where agents are alike.
        action_space: of a slot; of the largest one where agents differ.
        reward_space: of a slot, where rewards are vectors.
        name: what to call it in errors.
        env: the environment at the bottom.
        batch: its batch; None where it is not one of this package.
    """

    count: int
    agents: int = 1
    form: str  # of stages at the bottom: the API form behind them
    observation_spaces: list[spaces.Space]
    action_spaces: list[spaces.Space]
    reward_space: spaces.Box | None = None
    name: str
    env: Any
    batch: Any = None
    keeps_arrays: bool = False  # whether the arrays are the same objects for ever, written to in place

    # arrays: the last observation, reward (slots,) or (slots, k), and whether the episode has ended, and how
    observation: Observation
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray

    # of wrappers: the stage below, and where their random numbers come from
    below: Stage
    key: np.ndarray
    time: np.ndarray

    def info(self) -> dict[str, np.ndarray]:
        """What the info dictionaries hold, by key: arrays (slots, ...)."""
        raise NotImplementedError

    def read(self, key: str) -> np.ndarray | None:
        """One entry of `info`; None where there is none."""
        return self.info().get(key)

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin episodes. seeds: one per world, or None to go on; options: as the environment below has them."""
        raise NotImplementedError

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Advance slots whose episode goes on, by actions (slots, ...); those of other slots are not looked at."""
        raise NotImplementedError

    def get_state(self, world: int) -> tuple[Any, ...]:
        """Everything that the future of a world's slots depends on, picklable: an entry per stage, the lowest first."""
        raise NotImplementedError

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put the slots of a world back to what `get_state` gave."""
        raise NotImplementedError

    def check_part(self, part: Any) -> None:
        """SnapshotError unless this is the lowest entry of what `get_state` gives for such an environment."""
        raise NotImplementedError

    def slots_of_world(self, world: int) -> slice:
        """The slots of a world's agents."""
        return slice(world * self.agents, (world + 1) * self.agents)

    def set_params(self, values: Mapping[str, Any], slots: np.ndarray) -> None:
        """Give the worlds of some slots other physical parameters, from their next step on."""
        raise NotImplementedError

    def refresh_observation(self, slots: np.ndarray) -> None:
        """The worlds of these slots were put into another state, or played on, before the episode is shown: observe
        them anew, without a reward, cost, success or end."""
        raise NotImplementedError

    @property
    def seconds(self) -> float | None:
        """Simulated seconds per step; None where unknown."""
        if self.batch is not None:
            return 1.0 / self.batch.setup.fps
        own = getattr(getattr(self.env, "unwrapped", self.env), "dt", None)
        rate = (getattr(self.env, "metadata", None) or {}).get("render_fps")
        return own if isinstance(own, float) else 1.0 / rate if rate else None

    def idle_slots(self, actions: np.ndarray) -> np.ndarray:
        """Actions like those given, with which nobody does anything: the world's idle ones, or the first choices of a
        space whose meaning is not known. There may be more worlds than this stage has."""
        if not hasattr(self, "_idle_numbers"):
            of = self.batch.setup.idle_in if self.batch else lambda space, agent: first_action(space)
            self._idle_numbers = [of(space, agent) for agent, space in enumerate(self.action_spaces)]
        worlds = len(actions) // len(self._idle_numbers)
        own = [np.broadcast_to(numbers, actions.shape[1:]) for numbers in self._idle_numbers]
        return np.tile(np.array(own, actions.dtype), (worlds, *(1,) * (actions.ndim - 1)))

    @property
    def over(self) -> np.ndarray:
        """Which slots' episodes have ended, bool (slots,)."""
        return self.terminated | self.truncated

    @property
    def observation_space(self) -> spaces.Space:
        """The space of every slot's observation.

        Raises:
            ParameterError: the agents' spaces differ.
        """
        first = self.observation_spaces[0]
        if any(space != first for space in self.observation_spaces[1:]):
            raise ParameterError(f"{self.name}: the agents' observations differ; this wrapper requires equal ones")
        return first

    @property
    def action_space(self) -> spaces.Space:
        """The space of every slot's action; ParameterError where they differ."""
        first = self.action_spaces[0]
        if any(space != first for space in self.action_spaces[1:]):
            raise ParameterError(f"{self.name}: the agents' actions differ; this wrapper requires equal ones")
        return first

    @property
    def continuous(self) -> bool:
        """Whether actions are numbers; otherwise they are choices."""
        return isinstance(self.action_spaces[0], spaces.Box)


def horizon_of(stage: Stage) -> int | None:
    """The steps after which an episode is truncated; None where that is not known."""
    if stage.batch is not None:
        return int(stage.batch.setup.horizon)
    return getattr(getattr(stage.env, "spec", None), "max_episode_steps", None)
