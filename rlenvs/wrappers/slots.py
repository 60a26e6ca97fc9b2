"""The stages at the bottom of a stack: the API forms of environments as slots of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces, wrappers

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.compiler.loops import bound
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.info import InfoKeys
from rlenvs.core.forms.vector_env import VectorEnv
from rlenvs.wrappers.loops import SOLE
from rlenvs.wrappers.masked import flat, put_rows
from rlenvs.wrappers.outcomes import came_to, check_part, outcome_of, put_outcome
from rlenvs.wrappers.stage import Observation, Stage

# of Gymnasium's wrappers those that show what the environment shows
UNCHANGING = (wrappers.OrderEnforcing, wrappers.PassiveEnvChecker, wrappers.TimeLimit, wrappers.RecordEpisodeStatistics)


def slots_of(env: Any) -> Stage:
    """The stage of an environment in any form.

    Raises:
        TypeError: a vector environment that is not this package's own, or no environment at all.
    """
    if isinstance(env, VectorEnv):
        return BatchSlots(env)
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise TypeError(
            f"{type(env).__name__}: the only vector environments that support these wrappers are those of this "
            f"package. Apply these wrappers before others; for environments of other packages, wrap each one, "
            "`gymnasium.make_vec(id, wrappers=[lambda env: wrap(env, ...)])`"
        )
    if isinstance(env, gymnasium.Env):
        return WorldSlot(env) if type(env) is Env else EnvSlots(env)
    if hasattr(env, "possible_agents") and not hasattr(env, "agent_iter"):
        return AgentRows(env)
    raise TypeError(f"{type(env).__name__} is neither a gymnasium.Env nor a vector or parallel environment")


def _batch_of(env: Any) -> KernelBatch | None:
    batch = getattr(getattr(env, "unwrapped", env), "batch", None)
    return batch if isinstance(batch, KernelBatch) else None


def _reward_space_of(env: Any, batch: KernelBatch | None) -> spaces.Box | None:
    """The space of vectors of rewards, of any agent; None where rewards are numbers."""
    if batch is not None and not env.unwrapped.vector_reward:
        return None
    found = getattr(env, "reward_space", None)
    space = found(env.possible_agents[0]) if callable(found) else found
    return space if isinstance(space, spaces.Box) and space.shape else None


def blank(space: spaces.Space, count: int) -> Observation:
    """Zero arrays for `count` observations of a space.

    Raises:
        ParameterError: neither numbers nor a dictionary of numbers.
    """
    if isinstance(space, spaces.Dict):
        return {name: blank(part, count) for name, part in space.items()}
    if not isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)):
        raise ParameterError(f"wrappers require observations of numbers, or dictionaries of them, not {space}")
    return np.zeros((count, *(space.shape or ())), space.dtype)


def put(target: Observation, slot: int, value: Any) -> None:
    """Write one observation into a slot; a shorter vector leaves the rest as it is."""
    if isinstance(target, dict):
        for name, array in target.items():
            put(array, slot, value[name])
    elif target.ndim == 2:
        target[slot, : len(value)] = value
    else:
        target[slot] = value


def action_at(actions: np.ndarray, slot: int, space: spaces.Space, exact: bool) -> Any:
    """One slot's action, as its space has it; `exact`: numbers stay float64, as in the batches of this package."""
    if isinstance(space, spaces.Box):
        own = actions[slot, : space.shape[0]] if len(space.shape) == 1 else actions[slot]
        return own if exact else own.astype(space.dtype)
    return int(actions[slot]) if isinstance(space, spaces.Discrete) else actions[slot]


class _Called(Stage):
    """Slots of an environment that is called through its API; what it returned is written into arrays."""

    keeps_arrays = True

    def _allocate(self, env: Any, count: int) -> None:
        self.env, self.count = env, count
        self.batch = _batch_of(env)
        self.reward_space = _reward_space_of(env, self.batch)
        size = () if self.reward_space is None else self.reward_space.shape
        widest = max(self.observation_spaces, key=lambda space: sum(spaces.utils.flatdim(p) for p in [space]))
        self.observation = blank(widest, count)
        self.reward = np.zeros((count, *size))
        self.terminated, self.truncated = np.ones(count, np.bool_), np.zeros(count, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(count)]

    def info(self) -> dict[str, np.ndarray]:
        """Entries that every slot has now, as arrays; what has no fixed shape as objects."""
        keys = [key for key in self._infos[0] if all(key in info for info in self._infos)]
        return {key: _column([info[key] for info in self._infos]) for key in keys}

    def read(self, key: str) -> np.ndarray | None:
        """One entry."""
        if self.count == 1:
            value = self._infos[0].get(key, self)
            if type(value) is float:
                return np.array([value])
            return None if value is self else _column([value])
        if not all(key in info for info in self._infos):
            return None
        return _column([info[key] for info in self._infos])

    def slot_info(self, slot: int) -> dict[str, Any]:
        """What the environment said about a slot, itself."""
        return self._infos[slot]

    def check_part(self, part: Any) -> None:
        """SnapshotError unless this is what `get_state` gives here or, for worlds of this package, in another form."""
        check_part(self, part)


def _column(values: list[Any]) -> np.ndarray:
    if all(isinstance(value, (bool, int, float, np.ndarray, np.generic)) for value in values):
        arrays = [np.asarray(value) for value in values]
        if all(array.shape == arrays[0].shape for array in arrays):
            return np.stack(arrays)
    column = np.empty(len(values), object)
    column[:] = values
    return column


class EnvSlots(_Called):
    """A gymnasium.Env, of this package or not: one slot."""

    form = "single"

    def __init__(self, env: gymnasium.Env) -> None:
        self.observation_spaces, self.action_spaces = [env.observation_space], [env.action_space]
        self.name = self._name_of(env)
        self._allocate(env, 1)

    @staticmethod
    def _name_of(env: gymnasium.Env) -> str:
        batch = _batch_of(env)
        return batch.world.name if batch else env.spec.id if env.spec else type(env.unwrapped).__name__

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Reset."""
        seen, info = self.env.reset(seed=seeds[0] if seeds else None, options=options)
        self._take(seen, 0.0, False, False, info)

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Step."""
        self._take(*self.env.step(action_at(actions, 0, self.action_spaces[0], self.batch is not None)))

    def _take(self, seen: Any, reward: Any, terminated: bool, truncated: bool, info: dict[str, Any]) -> None:
        put(self.observation, 0, seen)
        self.reward[0], self.terminated[0], self.truncated[0] = reward, terminated, truncated
        self._infos[0] = info

    def get_state(self, world: int) -> tuple[Any, ...]:
        """The environment's snapshot, the outcome of its world, and what it returned last with the flags."""
        told = self.reward[0].copy(), self.over[0], self.terminated[0], self._infos[0]
        return ((self.env.get_wrapper_attr("get_state")(), outcome_of(self.batch, 0), self.form, told),)

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put the environment back."""
        snapshot, outcome, form, told = state[0]
        seen = self.env.get_wrapper_attr("set_state")(snapshot)  # refuses a damaged one before anything is written
        put_outcome(self.batch, 0, outcome)
        if form == self.form:
            reward, over, terminated, info = told
            self._take(seen, reward, terminated, over and not terminated, info)
        else:
            self._take(*self.env.unwrapped.current())

    def refresh_observation(self, slots: np.ndarray) -> None:
        """Take in the world's state as if the episode began there; behind other packages' code only: no reward."""
        self.reward[0] = 0.0
        if self.batch is not None and stranger_on(self.env) is None:
            seen, info = self.env.unwrapped.sync_from_state()
            self._take(seen, 0.0, False, False, info)

    def set_params(self, values: Mapping[str, Any], slots: np.ndarray) -> None:
        """Set physical parameters of a world of this package."""
        _world_of(self).set_params({name: np.asarray(value).reshape(-1)[0] for name, value in values.items()})


class WorldSlot(EnvSlots):
    """This package's single form, with nothing around it: what `EnvSlots` does, in less time.

    Attributes:
        came: copies of the arrays of `came_to`, the same ones in every step.
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        space = self.action_spaces[0]
        self._one_number = isinstance(space, spaces.Discrete)
        self._numbers = isinstance(space, spaces.Box) and len(space.shape) == 1
        self.came = {name: source.copy() for name, source in came_to(self.batch).items()}
        self._entries: dict[str, np.ndarray] = {}
        self._bound_to: Any = None  # the views of the batch that these two read
        self._take_in: Callable[[], None] | None = None
        self._told: Callable[[], tuple[Any, ...]]

    def read(self, key: str) -> np.ndarray | None:
        """One entry; rewards and costs, which wrappers read in every step, are lasting arrays."""
        lasting = self._entries or self._name_entries()
        return lasting[key] if key in lasting else super().read(key)

    def _name_entries(self) -> dict[str, np.ndarray]:
        """By name what `came` has: terms as views."""
        world = self.batch.world
        keys = [*(f"reward_{name}" for name in world.terms), *(f"cost_{name}" for name in world.costs)]
        self._entries = {key: self.came["terms"][:, k] for k, key in enumerate(keys)}
        self._entries |= {key: self.came[key] for key in ("reward_vector", *(["cost"] if world.costs else []))}
        return self._entries

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Step."""
        first = self.batch.first
        if first is not self._bound_to:
            self._bind()
        if self._take_in is not None and self._numbers and first.advance is not None:
            self.batch.actions[...] = actions
            first.advance()
            self._infos[0] = self._told()[-1]
            self._take_in()
            return
        came = self.env.step(actions.item() if self._one_number else actions[0])
        if self._take_in is None:
            self._take(*came)
        else:
            self._infos[0] = came[-1]
            self._take_in()

    def _bind(self) -> None:
        """Find out what copies the outcome of a step from the batch's own arrays; None where what users see differs
        from them."""
        batch, seen = self.batch, self.observation
        self._bound_to, self._take_in = batch.first, None
        own = batch.first.observation[None]
        alike = isinstance(seen, np.ndarray) and (seen.shape, seen.dtype) == (own.shape, own.dtype)
        if not alike or batch.setup.encode is not None:
            return
        self._told = InfoKeys(batch).reader(batch, int, False)  # nobody looks at its observation
        paid = batch.rewards[:, :1] if self.reward.ndim == 1 else batch.reward_vectors[:, 0]
        pairs = [(seen, own), (self.reward, paid)]
        pairs += [(self.terminated, batch.terminated[:, :1]), (self.truncated, batch.truncated[:, :1])]
        pairs += [(self.came[name], source) for name, source in came_to(batch).items()]
        self._take_in = bound([(put_rows, flat(array), flat(source), SOLE) for array, source in pairs])

    def __getstate__(self) -> dict[str, Any]:
        """All but what is bound to arrays."""
        return {**self.__dict__, "_bound_to": None, "_take_in": None, "_told": None, "_entries": {}}

    def _take(self, seen: Any, reward: Any, terminated: bool, truncated: bool, info: dict[str, Any]) -> None:
        super()._take(seen, reward, terminated, truncated, info)
        for name, source in came_to(self.batch).items():
            self.came[name][...] = source


class AgentRows(_Called):
    """A PettingZoo parallel environment, of this package or not: a slot per possible agent, in their order.

    An agent whose episode a wrapper has ended stays idle in the world.
    """

    form = "parallel"

    def __init__(self, env: Any) -> None:
        self.possible = list(env.possible_agents)
        self.agents = len(self.possible)
        self.observation_spaces = [env.observation_space(agent) for agent in self.possible]
        self.action_spaces = [env.action_space(agent) for agent in self.possible]
        batch = _batch_of(env)
        self.name = batch.world.name if batch else str(env.metadata.get("name", type(env.unwrapped).__name__))
        self._allocate(env, self.agents)

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Reset all agents together."""
        seen, infos = self.env.reset(seed=seeds[0] if seeds else None, options=options)
        self.terminated[:], self.truncated[:], self.reward[:] = True, False, 0.0
        for slot, agent in enumerate(self.possible):
            if agent in seen:
                self._take(slot, seen[agent], infos[agent])
                self.terminated[slot] = False

    def _take(self, slot: int, seen: Any, info: dict[str, Any]) -> None:
        put(self.observation, slot, seen)
        self._infos[slot] = info

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Step the world, with the actions of these slots; the other living agents are idle."""
        given, idle = {}, actions if slots.all() else self.idle_slots(actions)
        for slot, agent in enumerate(self.possible):
            if agent in self.env.agents:
                action = actions if slots[slot] else idle
                given[agent] = action_at(action, slot, self.action_spaces[slot], self.batch is not None)
        seen, rewards, ends, cuts, infos = self.env.step(given)
        for slot, agent in enumerate(self.possible):
            if agent in seen:
                self._take(slot, seen[agent], infos[agent])
                self.reward[slot], self.terminated[slot], self.truncated[slot] = (
                    rewards[agent],
                    ends[agent],
                    cuts[agent],
                )

    def get_state(self, world: int) -> tuple[Any, ...]:
        """The world's snapshot, its outcome, and what all agents were told."""
        told = self.reward.copy(), self.terminated.copy(), self.truncated.copy(), list(self._infos)
        return ((self.env.get_state(), outcome_of(self.batch, 0), self.form, told),)

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put the world back."""
        snapshot, outcome, form, told = state[0]
        observations = self.env.set_state(snapshot)  # refuses a damaged one before anything is written
        put_outcome(self.batch, 0, outcome)
        if form == self.form:
            self.reward[:], self.terminated[:], self.truncated[:], infos = told
            self._infos = list(infos)
        else:
            observations, *found = self.env.unwrapped.current()
            rewards, ends, cuts, infos = ([each[agent] for agent in self.possible] for each in found)
            self.reward[:], self.terminated[:], self.truncated[:], self._infos = rewards, ends, cuts, infos
        for agent, seen in observations.items():
            put(self.observation, self.possible.index(agent), seen)

    def refresh_observation(self, slots: np.ndarray) -> None:
        """Take in the world's state as if the episode began there, with the agents alive in it."""
        self.reward[:] = 0.0
        if self.batch is None or stranger_on(self.env) is not None:
            return
        seen, infos = self.env.unwrapped.sync_from_state()
        for slot, agent in enumerate(self.possible):
            self._take(slot, seen[agent], infos[agent])
        self.terminated[:], self.truncated[:] = ~self.batch.states["alive"][0], False

    def set_params(self, values: Mapping[str, Any], slots: np.ndarray) -> None:
        """Set physical parameters of the world; the first slot's where slots differ."""
        _world_of(self).set_params({name: np.asarray(value).reshape(-1)[0] for name, value in values.items()})


class BatchSlots(Stage):
    """This package's vector environment: a slot per world. Works on the batch's own arrays."""

    form = "vector"

    def __init__(self, env: VectorEnv) -> None:
        self.env = env
        self.batch.disable_autoreset()
        self.count = env.num_envs
        self.name = self.batch.world.name
        self.observation_spaces, self.action_spaces = [env.single_observation_space], [env.single_action_space]
        self.reward_space = getattr(env, "reward_space", None)
        self._keys = frozenset(self.info())

    @property
    def batch(self) -> KernelBatch:
        """The batch."""
        return self.env.batch

    @property
    def observation(self) -> Observation:
        """The batch's observations of the first agents."""
        return self.batch.get_observations((slice(None), 0), copy=False)

    @property
    def reward(self) -> np.ndarray:  # type: ignore[override]
        """The batch's rewards, or vectors of rewards."""
        return self.batch.reward_vectors[:, 0] if self.env.vector_reward else self.batch.rewards[:, 0]

    @property
    def terminated(self) -> np.ndarray:  # type: ignore[override]
        """The batch's flags."""
        return self.batch.terminated[:, 0]

    @property
    def truncated(self) -> np.ndarray:  # type: ignore[override]
        """The batch's flags."""
        return self.batch.truncated[:, 0]

    def info(self, copy: bool = False) -> dict[str, np.ndarray]:
        """The batch's own arrays, or copies of them."""
        return self.env.current_infos(copy)

    def read(self, key: str) -> np.ndarray | None:
        """One entry, without the others."""
        if key == "cost" and self.batch.world.costs:
            return self.batch.costs[:, 0]
        return self.info().get(key) if key in self._keys else None

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin episodes in these worlds."""
        if seeds is None and not options and self.batch.seeds.all:
            self.batch.reset(slots)
        else:
            self.env.reset(seed=seeds, options={**(options or {}), "reset_mask": slots})

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Step these worlds."""
        batch = self.batch
        if batch.agents > 1:
            batch.set_first_agent_action(actions, self.env.others)
        else:
            batch.load_actions(actions)
        self.env.step_inplace(None if slots.all() else slots)

    def get_state(self, world: int) -> tuple[Any, ...]:
        """The world's snapshot and its outcome."""
        return ((self.batch.get_state(world), outcome_of(self.batch, world), self.form, None),)

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put a world back."""
        snapshot, outcome, _, _ = state[0]
        self.batch.set_state(snapshot, world)
        put_outcome(self.batch, world, outcome)

    def check_part(self, part: Any) -> None:
        """SnapshotError unless this is what `get_state` gives in this form or another."""
        check_part(self, part)

    def set_params(self, values: Mapping[str, Any], slots: np.ndarray) -> None:
        """Set physical parameters of these worlds."""
        self.batch.set_params(dict(values), None if slots.all() else slots)

    def refresh_observation(self, slots: np.ndarray) -> None:
        """Observe these worlds as if their episodes began in the state that they are in."""
        self.batch.sync_from_state(np.flatnonzero(slots))


def stranger_on(env: Any) -> Any:
    """The outermost wrapper of an environment that may change what it shows; None where there is none."""
    while env is not env.unwrapped:
        if not isinstance(env, UNCHANGING):
            return env
        env = env.env
    return None


def _world_of(stage: Stage) -> KernelBatch:
    if stage.batch is None:
        raise ParameterError(f"{stage.name} is not an environment of this package, and has no parameters to set")
    return stage.batch
