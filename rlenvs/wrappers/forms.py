"""From a stack of wrappers to environments: the single, vector and parallel forms, and `wrap`, which makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import parallel_to_aec, parallel_to_aec_wrapper
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError
from rlenvs.core.declare.inputs import reset_mask_of, seeds_of
from rlenvs.core.forms.gym_env import refuse_closed
from rlenvs.wrappers.action_checks import check_action, check_actions
from rlenvs.wrappers.futures import Futures
from rlenvs.wrappers.masked import clear
from rlenvs.wrappers.reading import Returned, reader_of
from rlenvs.wrappers.recipes import unbound, wrapper_from
from rlenvs.wrappers.slot_values import added, all_present, copied, plain, slot_of, tellers_of, told_by
from rlenvs.wrappers.slots import BatchSlots, put, slots_of
from rlenvs.wrappers.stage import Stage
from rlenvs.wrappers.wrapped_states import WrappedState, check_state
from rlenvs.wrappers.wrapper import Wrapper

ONE = np.ones(1, np.bool_)
DOUBLE = np.dtype(np.float64)


def wrap(env: Any, *wrappers: Wrapper | Mapping[str, Any]) -> Any:
    """Apply wrappers to an environment; the first one is innermost.

    Args:
        env: a gymnasium.Env or a PettingZoo parallel environment (of this package or not), the AEC form of one, or a
            vector environment of this package; wrapped ones too.
        wrappers: `Wrapper` objects, which are copied, or the dictionaries that their `recipe()` gives.

    Returns:
        an environment of the same form.

    Raises:
        ParameterError: a setting is impossible, or does not fit the environment; the message names it.
        TypeError: not an environment.
    """
    if isinstance(env, gymnasium.vector.VectorEnv):
        return WrappedVectorEnv(env, wrappers)
    if isinstance(env, AECEnv):
        return parallel_to_aec(WrappedParallelEnv(_parallel_behind(env), wrappers))
    return WrappedEnv(env, wrappers) if isinstance(env, gymnasium.Env) else WrappedParallelEnv(env, wrappers)


def _parallel_behind(env: AECEnv) -> Any:
    """The parallel environment that an AEC form was made of; what was put around the AEC form is left out.

    Raises:
        TypeError: it was made of none.
    """
    inner: Any = env
    while isinstance(inner, BaseWrapper):
        inner = inner.env
    if not isinstance(inner, parallel_to_aec_wrapper):
        raise TypeError(
            f"{type(inner).__name__} was not made from a parallel environment; only such AEC environments support "
            f"wrappers"
        )
    return inner.env


def stacked(env: Any, wrappers: Sequence[Wrapper | Mapping[str, Any]]) -> tuple[Any, list[Wrapper]]:
    """The environment at the bottom, and bound wrappers on it: those that it has, and new ones on top."""
    if not wrappers:
        raise ParameterError("wrap: no wrappers were given")
    known = env.wrappers if isinstance(env, (WrappedEnv, WrappedVectorEnv, WrappedParallelEnv)) else []
    inner = env.env if known else env
    made = [*map(unbound, known), *map(wrapper_from, wrappers)]
    below: Stage = env.bottom if known else slots_of(env)
    for depth, wrapper in enumerate(made):
        wrapper.bind(below, depth)
        below = wrapper
    return inner, made


def recipe_of(wrappers: Sequence[Wrapper]) -> list[dict[str, Any]]:
    """The dictionaries that make the same wrappers again."""
    return [wrapper.recipe() for wrapper in wrappers]


class WrappedEnv(gymnasium.Wrapper, RecordConstructorArgs):
    """gymnasium.Env with wrappers. Made by `wrap`.

    Args:
        env: the environment.
        wrappers: wrappers, or their recipes.
    """

    def __init__(self, env: gymnasium.Env, wrappers: Sequence[Wrapper | Mapping[str, Any]]) -> None:
        inner, self.wrappers = stacked(env, wrappers)
        RecordConstructorArgs.__init__(self, wrappers=recipe_of(self.wrappers))
        gymnasium.Wrapper.__init__(self, inner)
        self.bottom, self.top = self.wrappers[0].below, self.wrappers[-1]
        self.observation_space, self.action_space = self.top.observation_spaces[0], self.top.action_spaces[0]
        if self.top.reward.ndim == 2:
            self.reward_space = self.top.reward_space
        self._ready = False
        self._read: Callable[[], Returned] | None = None
        space, seen = self.action_space, self.top.observation
        self._vector = space.shape if isinstance(space, spaces.Box) and len(space.shape) == 1 else None
        self._choices = None
        if isinstance(space, spaces.Discrete):
            self._choices = range(int(space.start), int(space.start + space.n))
        vector = isinstance(seen, np.ndarray) and seen.ndim == 2
        self._shows_vectors = vector and seen.shape[1:] == self.observation_space.shape

    @property
    def recipe(self) -> list[dict[str, Any]]:
        """The dictionaries that make the same wrappers again."""
        return recipe_of(self.wrappers)

    def same_wrappers_on(self, env: Any) -> Any:
        """The same wrappers, with nothing behind them yet, on another environment in any form."""
        return wrap(env, *map(unbound, self.wrappers))

    def futures(self, count: int, threads: int | None = None) -> Any:
        """Copies of the world with their wrappers, for `rlenvs.PlanRollouts`."""
        return Futures(self, count, threads)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, of the environment and of the wrappers."""
        self.top.reset(ONE, [seed], options)
        self._ready = not self.top.over[0]
        observation, _, _, _, info = (self._read or self._make_reader())()
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Advance by one step.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice. Nothing has moved then.
            EpisodeOverError: the episode is over, or the environment is closed.
        """
        if not self._ready:
            raise EpisodeOverError(f"{self.top.name}: the episode is over, or never began; call reset() before step()")
        self.top.step(self._check(action), ONE)
        returned = (self._read or self._make_reader())()
        self._ready = not (returned[2] or returned[3])
        return returned

    def _make_reader(self) -> Callable[[], Returned]:
        """What gives observation, reward, flags and info as they are now."""
        top = self.top
        lasting = self._shows_vectors and top.keeps_arrays
        self._read = reader_of(self.wrappers, top.observation[0].copy if lasting else self._observation)
        return self._read

    def __getstate__(self) -> dict[str, Any]:
        """All but what is bound to arrays."""
        return {**self.__dict__, "_read": None}

    def _check(self, action: Any) -> np.ndarray:
        """The action as an array (1, ...); the usual ones sooner than `check_action` does it."""
        if type(action) is np.ndarray:
            if action.shape == self._vector and action.dtype.char in "fd":
                total = sum(action.tolist()) if action.size < 32 else action.dot(action)
                if total == total:  # no NaN
                    return action.astype(DOUBLE)[None]
        elif type(action) is int and self._choices is not None and action in self._choices:
            return np.array([action])
        return check_action(action, self.action_space, self.top.name)[None]

    def _observation(self) -> Any:
        if self._shows_vectors:
            return self.top.observation.flatten()
        return slot_of(self.top.observation, 0, self.observation_space)

    def get_state(self) -> WrappedState:
        """A snapshot of the environment and the wrappers, exact to the bit."""
        return WrappedState(self.top.get_state(0))

    def set_state(self, state: WrappedState) -> Any:
        """Go back to a snapshot; returns the observation. SnapshotError when it is not one of such a stack."""
        self.top.set_state(check_state(state, self.wrappers, self.top.name), 0)
        self._ready = not self.top.over[0]
        return self._observation()

    def action_masks(self) -> np.ndarray:
        """Which choices are allowed now, bool; the name that sb3-contrib's MaskablePPO calls."""
        mask = self.top.read("action_mask")
        return self.env.get_wrapper_attr("action_masks")() if mask is None else mask[0].astype(np.bool_)

    def expert_action(self) -> Any:
        """What the scripted expert, who sees the world's state, would do now."""
        return self.env.get_wrapper_attr("expert_action")()


class WrappedVectorEnv(gymnasium.vector.VectorWrapper):
    """This package's vector environment with wrappers, in the autoreset mode that it had. Made by `wrap`.

    Args:
        env: the environment; it must not be stepped by itself from now on.
        wrappers: wrappers, or their recipes.
    """

    def __init__(self, env: gymnasium.vector.VectorEnv, wrappers: Sequence[Wrapper | Mapping[str, Any]]) -> None:
        inner, self.wrappers = stacked(env, wrappers)
        super().__init__(inner)
        self.bottom: BatchSlots = self.wrappers[0].below  # type: ignore[assignment]
        self.top = self.wrappers[-1]
        self.mode: AutoresetMode = inner.metadata["autoreset_mode"]
        self.single_observation_space = self.top.observation_spaces[0]
        self.single_action_space = self.top.action_spaces[0]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        if self.top.reward.ndim == 2:
            self.reward_space = self.top.reward_space
        self._everyone = np.ones(self.num_envs, np.bool_)
        self._begun, self._all_begun = np.zeros(self.num_envs, np.bool_), False

    @property
    def recipe(self) -> list[dict[str, Any]]:
        """The dictionaries that make the same wrappers again."""
        return recipe_of(self.wrappers)

    def same_wrappers_on(self, env: Any) -> Any:
        """The same wrappers, with nothing behind them yet, on another environment in any form."""
        return wrap(env, *map(unbound, self.wrappers))

    def futures(self, count: int, threads: int | None = None) -> Any:
        """Copies of the first world with their wrappers, for `rlenvs.PlanRollouts`."""
        return Futures(self, count, threads)

    @property
    def batch(self) -> Any:
        """The batch at the bottom."""
        return self.bottom.batch

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes in all worlds, or in those of options["reset_mask"]; as the form without wrappers."""
        inner: Any = self.env
        options = dict(options or {})
        seeds = seeds_of(seed, self.num_envs)
        mask = reset_mask_of(options.pop("reset_mask", None), self.num_envs)
        slots = self._everyone if mask is None else mask
        if isinstance(seed, (int, np.integer)):
            gymnasium.vector.VectorEnv.reset(inner, seed=int(seed))
        if seeds is not None and mask is not None:
            seeds = [s if mask[i] else None for i, s in enumerate(seeds)]
        self.top.reset(slots, seeds, options)
        self._begun |= slots
        self._all_begun = bool(self._begun.all())
        return copied(self.top.observation), self._infos(slots)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all worlds by one step.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice. No world has moved then.
            EpisodeOverError: autoreset is disabled and an episode is over, there was no reset yet, or the environments
                are closed.
        """
        if self.env.closed:
            refuse_closed(self.top.name)
        top, over = self.top, self.top.over
        waiting = np.count_nonzero(over)
        if not self._all_begun or (waiting and self.mode is AutoresetMode.DISABLED):
            slot = int(np.argmax(over | ~self._begun))
            raise EpisodeOverError(
                f"{top.name}, environment {slot}: the episode is over, or never began; call reset() before step()"
            )
        slots = ~over if waiting else self._everyone
        actions = check_actions(actions, self.single_action_space, slots, top.name)
        if waiting < self.num_envs:
            top.step(actions, slots)
        if waiting:
            top.reset(over)
        return self._returned(over if waiting else None)

    def _returned(self, begun: np.ndarray | None) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """What `step` returns. begun: the slots that were reset instead."""
        top = self.top
        rewards, terminated, truncated = top.reward.copy(), top.terminated.copy(), top.truncated.copy()
        if begun is not None:
            clear(rewards, begun)
        final: dict[str, Any] = {}
        if self.mode is AutoresetMode.SAME_STEP:
            ended = terminated | truncated
            if ended.any():
                final = self._final(ended)
                top.reset(ended)
        if rewards.ndim == 2:
            rewards = rewards.astype(np.float32)
        return copied(top.observation), rewards, terminated, truncated, {**self._infos(self._everyone), **final}

    def _infos(self, slots: np.ndarray) -> dict[str, Any]:
        return all_present(self.bottom.info(copy=True), self.wrappers, slots)

    def _final(self, ended: np.ndarray) -> dict[str, Any]:
        """The last observations and infos of episodes that end in this step (SAME_STEP)."""
        observations = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(ended).tolist():
            observations[i] = slot_of(self.top.observation, i, self.single_observation_space)
        infos = _only(all_present(self.bottom.info(), self.wrappers, ended), ended)
        return {
            "final_obs": observations, "_final_obs": ended.copy(), "final_info": infos, "_final_info": ended.copy()
        }  # fmt: skip

    def get_state(self) -> list[WrappedState]:
        """Snapshots of all worlds with their wrappers."""
        return [WrappedState(self.top.get_state(i)) for i in range(self.num_envs)]

    def set_state(self, states: Sequence[WrappedState]) -> Any:
        """Restore snapshots, one per world; returns the observations."""
        if len(states) != self.num_envs:
            raise ParameterError(f"{len(states)} snapshots were given for {self.num_envs} environments")
        for state in states:
            check_state(state, self.wrappers, self.top.name)
        for i, state in enumerate(states):
            self.top.set_state(state, i)
        self._begun[:], self._all_begun = True, True
        return copied(self.top.observation)

    def expert_actions(self) -> np.ndarray:
        """The scripted expert's actions."""
        return self.bottom.env.expert_actions()


def _only(value: Any, slots: np.ndarray) -> Any:
    """A copy with the slots that do not count blank."""
    if isinstance(value, dict):
        return {name: _only(part, slots) for name, part in value.items()}
    kept = value.copy()
    kept[~slots] = "" if kept.dtype == object else 0
    return kept


class WrappedParallelEnv(BaseParallelWrapper):
    """A PettingZoo parallel environment with wrappers. Made by `wrap`.

    Args:
        env: the environment.
        wrappers: wrappers, or their recipes.
    """

    def __init__(self, env: Any, wrappers: Sequence[Wrapper | Mapping[str, Any]]) -> None:
        inner, self.wrappers = stacked(env, wrappers)
        super().__init__(inner)
        self.bottom, self.top = self.wrappers[0].below, self.wrappers[-1]
        self.possible_agents = list(self.bottom.possible)  # type: ignore[attr-defined]
        self.agents: list[str] = []
        self.metadata = dict(inner.metadata)
        self._slots = {agent: slot for slot, agent in enumerate(self.possible_agents)}

    @property
    def recipe(self) -> list[dict[str, Any]]:
        """The dictionaries that make the same wrappers again."""
        return recipe_of(self.wrappers)

    def same_wrappers_on(self, env: Any) -> Any:
        """The same wrappers, with nothing behind them yet, on another environment in any form."""
        return wrap(env, *map(unbound, self.wrappers))

    def futures(self, count: int, threads: int | None = None) -> Any:
        """Refused: `rlenvs.PlanRollouts` plays wrappers in the single and vector forms.

        Raises:
            ParameterError: always.
        """
        raise ParameterError(
            f"rollout_plans: the wrappers of {self.top.name} are on a parallel environment. Step copies of it, "
            f"`copy.deepcopy(env)`, put the wrappers on the single-agent environment, or simulate the unwrapped "
            f"environment, `env.unwrapped`"
        )

    def observation_space(self, agent: str) -> spaces.Space:
        """The observation space of an agent, the same object on every call."""
        return self.top.observation_spaces[self._slots[agent]]

    def action_space(self, agent: str) -> spaces.Space:
        """The action space of an agent, the same object on every call."""
        return self.top.action_spaces[self._slots[agent]]

    def reward_space(self, agent: str) -> spaces.Box | None:
        """The space of the reward vector of an agent; None where rewards are numbers."""
        return self.top.reward_space if self.top.reward.ndim == 2 else None

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Begin an episode, of the environment and of the wrappers."""
        self.top.reset(np.ones(len(self._slots), np.bool_), [seed], options)
        self._count_living()
        return self._observations(self.agents), self._infos(self.agents)

    def _count_living(self) -> None:
        """See whose episodes go on."""
        over = self.top.over
        self.agents = [agent for agent, slot in self._slots.items() if not over[slot]]

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Advance by one step, with an action for every living agent.

        Raises:
            ActionError: an action is missing, or has the wrong shape or type, NaN, or is not a choice.
            EpisodeOverError: no agent is alive, or the environment is closed.
        """
        top, acting = self.top, self.agents
        if not acting:
            raise EpisodeOverError(f"{top.name}: the episode is over, or never began; call reset() before step()")
        slots = np.zeros(len(self._slots), np.bool_)
        slots[[self._slots[agent] for agent in acting]] = True
        top.step(self._check(actions), slots)
        terminated, truncated = top.terminated, top.truncated
        paid = top.reward if top.reward.ndim == 1 else top.reward.astype(np.float32)
        rewards = {agent: plain(paid, self._slots[agent]) for agent in acting}
        ends = {agent: bool(terminated[self._slots[agent]]) for agent in acting}
        cuts = {agent: bool(truncated[self._slots[agent]]) for agent in acting}
        self.agents = [agent for agent in acting if not (ends[agent] or cuts[agent])]
        return self._observations(acting), rewards, ends, cuts, self._infos(acting)

    def _check(self, actions: dict[str, Any]) -> np.ndarray:
        """The actions as an array; slots of agents that do not act are zero."""
        top = self.top
        if not self._slots.keys() >= actions.keys():
            unknown = sorted(set(actions) - set(self._slots))
            raise ActionError(f"{top.name}: there are no agents {unknown}; there are {self.possible_agents}")
        largest = max(space.shape or () for space in top.action_spaces)
        array = np.zeros((len(self._slots), *largest), np.float64 if top.continuous else np.int64)
        for agent in self.agents:
            if agent not in actions:
                raise ActionError(f"{top.name}: no action was given for {agent}")
            slot = self._slots[agent]
            own = check_action(actions[agent], top.action_spaces[slot], f"{top.name}, {agent}")
            put(array, slot, own)
        return array

    def _observations(self, agents: list[str]) -> dict[str, Any]:
        top = self.top
        slots = self._slots
        return {agent: slot_of(top.observation, slots[agent], top.observation_spaces[slots[agent]]) for agent in agents}

    def _infos(self, agents: list[str]) -> dict[str, Any]:
        told, infos = told_by(tellers_of(self.wrappers)), {}
        for agent in agents:
            slot = self._slots[agent]
            infos[agent] = {**self.bottom.slot_info(slot), **added(told, slot)}  # type: ignore[attr-defined]
        return infos

    def get_state(self) -> WrappedState:
        """A snapshot of the world and the wrappers of all agents."""
        return WrappedState(self.top.get_state(0))

    def set_state(self, state: WrappedState) -> dict[str, Any]:
        """Go back to a snapshot; returns the observations of the agents alive in it."""
        self.top.set_state(check_state(state, self.wrappers, self.top.name), 0)
        self._count_living()
        return self._observations(self.agents)

    def expert_actions(self) -> dict[str, Any]:
        """What the scripted expert would do now, for every living agent of the world."""
        return self.env.expert_actions()
