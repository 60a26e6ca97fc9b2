"""A vector environment whose worlds are of several tasks that share spaces, each task's a batch of its own inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from rlenvs.core.batch.parameters import checked_values
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.catalogue.make import make_vec
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError, shortened
from rlenvs.core.declare.inputs import actions_of, generator_of, params_of, positive, reset_mask_of, seeds_of, truth
from rlenvs.core.forms.gym_env import refuse_closed
from rlenvs.core.forms.vector_env import VectorEnv

__all__ = ["MixedVectorEnv"]


class MixedVectorEnv(gymnasium.vector.VectorEnv):
    """N worlds of several tasks behind Gymnasium's vector API.

    The worlds lie in the order of the tasks, each task's one after the other, as evenly as N allows: the first tasks
    have one more where it does not divide. Every world does what it does in a vector environment of its task alone.

    Args:
        name: of the whole, for messages.
        ids: of the tasks, in the order of their codes.
        num_envs: N, at least one per task.
        one_hot: append the code of the task to the observation, (tasks,).
        recurrent: then append the action before (as clipped to its space), the reward that it had and whether it ended
            the episode, zeros at the start of an episode: what recurrent policies of meta reinforcement learning see.
        keywords: of `rlenvs.make_vec`, of all tasks. A parameter may be an array of N numbers.

    Attributes:
        ids: as above.
        task_of: int (N,), which task each world plays.
        groups: (worlds as a slice, their vector environment) for each task.

    Raises:
        ParameterError: fewer worlds than tasks; tasks that differ in actions, or in observations by more than bounds;
            actions that are choices; `one_hot` or `recurrent` without numbers in the observation, `recurrent` with
            `vector_reward`; a keyword that a task refuses.
    """

    def __init__(
        self,
        name: str,
        ids: Sequence[str],
        num_envs: int,
        *,
        one_hot: bool = False,
        recurrent: bool = False,
        **keywords: Any,
    ) -> None:
        self.name, self.ids, self.num_envs = name, tuple(ids), positive("num_envs", num_envs)
        self.one_hot, self.recurrent = truth("one_hot", one_hot), truth("recurrent", recurrent)
        if self.num_envs < len(self.ids):
            raise ParameterError(f"{name} has {len(self.ids)} tasks; num_envs={num_envs} must be that many or more")
        parts = np.array_split(np.arange(self.num_envs), len(self.ids))
        self.task_of = np.repeat(np.arange(len(self.ids)), [len(part) for part in parts])
        slices = [slice(int(part[0]), int(part[-1]) + 1) for part in parts]
        self.groups: tuple[tuple[slice, VectorEnv], ...] = tuple(
            (own, self._group(id, own, keywords)) for id, own in zip(self.ids, slices, strict=True)
        )
        first = self.groups[0][1]
        if recurrent and first.vector_reward:
            raise ParameterError(f"{name}: recurrent appends one reward; leave out vector_reward")
        self.metadata, self.autoreset_mode = dict(first.metadata), first.autoreset_mode
        self.render_mode, self.vector_reward = first.render_mode, first.vector_reward
        self._codes = np.eye(len(self.ids))[self.task_of]
        self._started = np.zeros(self.num_envs, np.bool_)
        self._set_spaces([env for _, env in self.groups])

    def _group(self, id: str, own: slice, keywords: Mapping[str, Any]) -> VectorEnv:
        """The worlds of one task."""
        params = world_of(id).params
        single = {name: value for name, value in keywords.items() if name not in params}
        several = _own({name: value for name, value in keywords.items() if name in params}, own, self.num_envs)
        return cast(VectorEnv, make_vec(id, own.stop - own.start, **{**single, **several, "copy": False}))

    def _set_spaces(self, envs: Sequence[VectorEnv]) -> None:
        actions, observations = envs[0].single_action_space, [env.single_observation_space for env in envs]
        self.single_action_space = actions
        if not isinstance(actions, spaces.Box) or any(env.single_action_space != actions for env in envs):
            raise ParameterError(f"{self.name}: tasks of a mixed batch need one Box of actions")
        self.single_observation_space = self._with_extras(_union(self.name, observations), actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _with_extras(self, space: Any, action: spaces.Box[Any]) -> Any:
        """The observation space with what is appended to its numbers."""
        low, high = np.zeros(len(self.ids) * self.one_hot), np.ones(len(self.ids) * self.one_hot)
        if self.recurrent:
            low = np.concatenate([low, action.low.ravel(), [-np.inf, 0.0]])
            high = np.concatenate([high, action.high.ravel(), [np.inf, 1.0]])
        if not len(low):
            return space
        numbers = space.get("state") if isinstance(space, spaces.Dict) else space
        if not isinstance(numbers, spaces.Box) or len(numbers.shape) != 1:
            raise ParameterError(f"{self.name}: one_hot and recurrent need numbers in the observation; leave them out")
        kind = numbers.dtype.type
        low, high = np.concatenate([numbers.low, low]).astype(kind), np.concatenate([numbers.high, high]).astype(kind)
        extended = spaces.Box(low, high, dtype=kind)
        return spaces.Dict({**space.spaces, "state": extended}) if isinstance(space, spaces.Dict) else extended

    # --- episodes -----------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes in all worlds, or in those of options["reset_mask"]; as `VectorEnv.reset`.

        Args:
            seed: world i is seeded with seed + i, or with seed[i].
            options: "reset_mask" (bool, (num_envs,)), "params" ({name: number or array}).

        Raises:
            ParameterError: as in `VectorEnv.reset`. Nothing has changed then.
        """
        if self.closed:
            refuse_closed(self.name)
        params, _, others = params_of(options, {}, "reset_mask")
        mask, seeds = reset_mask_of(others.get("reset_mask"), self.num_envs), seeds_of(seed, self.num_envs)
        self._check_params(params)
        if seeds is not None and not isinstance(seed, (Sequence, np.ndarray)):
            super().reset(seed=seeds[0])
        infos = []
        for own, env in self.groups:
            chosen = np.ones(env.num_envs, np.bool_) if mask is None else mask[own]
            if chosen.any():
                told = {"params": _own(params, own, self.num_envs), "reset_mask": chosen.copy()}
                infos.append(env.reset(seed=None if seeds is None else seeds[own], options=told)[1])
            else:
                info = env.current_infos(copy=False)
                infos.append({**info, **{f"_{key}": chosen for key in info}})
        self._started |= True if mask is None else mask
        return self._observations(None), self._joined(infos)

    def _check_params(self, params: Mapping[str, Any]) -> None:
        """Raise ParameterError if a world would refuse these, before any has changed."""
        for own, env in self.groups:
            batch = env.batch
            values = _own(params, own, self.num_envs)
            checked_values(batch.setup, batch.param_rows, values, batch.num_envs, slice(None))

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all worlds by one step; as `VectorEnv.step`.

        Raises:
            ActionError: wrong shape or type, NaN. No world has moved then.
            EpisodeOverError: autoreset is disabled and an episode is over; not every world was reset; closed.
        """
        given = self._checked(actions)
        results = [env.step(given[own])[1:] for own, env in self.groups]
        rewards, terminated, truncated = (np.concatenate(parts) for parts in list(zip(*results, strict=True))[:3])
        extras = None
        if self.recurrent:
            space = self.single_action_space
            clipped = np.clip(given, space.low, space.high)  # type: ignore[attr-defined]
            flat = clipped.reshape(self.num_envs, -1)
            extras = np.column_stack([flat, rewards, terminated | truncated])
        infos = self._joined([result[3] for result in results])
        for i in np.flatnonzero(infos.get("_final_obs", ())).tolist():
            infos["final_obs"][i] = self._extended(infos["final_obs"][i], i, None if extras is None else extras[i])
        return self._observations(extras), rewards, terminated, truncated, infos

    def _checked(self, actions: Any) -> np.ndarray:
        """Actions as an array that no world refuses."""
        if self.closed:
            refuse_closed(self.name)
        found, shape = actions_of(self.name, actions), self.action_space.shape
        if found.shape != shape or found.dtype.kind not in "fiu":
            raise ActionError(f"{self.name}: actions have shape {found.shape} and type {found.dtype}; needed: {shape}")
        if np.isnan(found).any():
            i = int(np.argwhere(np.isnan(found))[0, 0])
            raise ActionError(f"{self.name}, environment {i}: action {found[i].tolist()} contains NaN")
        over = ~self._started
        if self.autoreset_mode is AutoresetMode.DISABLED:
            over = over | self._gathered(lambda env: env.batch.over)
        if over.any():
            raise EpisodeOverError(
                f"{self.name}, environment {int(np.argmax(over))}: the episode is over, or never began; call reset() "
                "before step()"
            )
        return found

    def _gathered(self, read: Callable[[VectorEnv], np.ndarray]) -> np.ndarray:
        """An array of all groups, along the first axis."""
        return np.concatenate([read(env) for _, env in self.groups])

    def _observations(self, extras: np.ndarray | None) -> Any:
        """The observations of all worlds, new arrays.

        Args:
            extras: (N, numbers), what came before, for `recurrent`; None for zeros.
        """
        parts = [env.batch.get_observations((slice(None), 0), copy=False) for _, env in self.groups]
        seen = (
            {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
            if isinstance(parts[0], dict)
            else np.concatenate(parts)
        )
        if extras is not None:
            extras[self._gathered(lambda env: env.batch.at_start)] = 0.0
        return self._extended(seen, slice(None), extras)

    def _extended(self, seen: Any, worlds: Any, extras: np.ndarray | None) -> Any:
        """Observations of some worlds with code and extras after their numbers."""
        if not (self.one_hot or self.recurrent):
            return seen
        numbers = seen["state"] if isinstance(seen, dict) else seen
        parts = [numbers, *([self._codes[worlds]] if self.one_hot else [])]
        if self.recurrent:
            size = int(np.prod(self.single_action_space.shape)) + 2  # type: ignore[arg-type]
            parts.append(np.zeros((*numbers.shape[:-1], size)) if extras is None else extras)
        longer = np.concatenate(parts, axis=-1).astype(numbers.dtype)
        return {**seen, "state": longer} if isinstance(seen, dict) else longer

    def _joined(self, infos: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The infos of all groups; zeros, or None, where a group has no such key."""
        found: dict[str, Any] = {}
        for key in dict.fromkeys(chain.from_iterable(infos)):
            present = [info.get(key) for info in infos]
            if any(isinstance(part, dict) for part in present):
                found[key] = self._joined([part or {} for part in present])
                continue
            like = next(part for part in present if part is not None)
            whole = np.zeros((self.num_envs, *like.shape[1:]), like.dtype)
            if like.dtype == object:
                whole[...] = None
            for (own, _), part in zip(self.groups, present, strict=True):
                if part is not None:
                    whole[own] = part
            found[key] = whole
        return found

    # --- the rest of the API ------------------------------------------------------------------------------------------

    @property
    def np_random(self) -> np.random.Generator:
        """The generator that seeds worlds without a seed; see `VectorEnv.np_random`."""
        return gymnasium.vector.VectorEnv.np_random.fget(self)  # type: ignore[attr-defined]

    @np_random.setter
    def np_random(self, generator: np.random.Generator) -> None:
        self._np_random, self._np_random_seed = generator_of(generator), -1
        for _, env in self.groups:
            env.np_random = generator

    def render(self) -> Any:
        """One image per world, as a tuple."""
        return tuple(chain.from_iterable(env.render() for _, env in self.groups))

    def close_extras(self, **kwargs: Any) -> None:
        """Close all groups."""
        for _, env in getattr(self, "groups", ()):
            env.close()

    def get_state(self) -> list[Snapshot]:
        """Snapshots of all worlds."""
        return list(chain.from_iterable(env.get_state() for _, env in self.groups))

    def set_state(self, snapshots: Sequence[Snapshot]) -> Any:
        """Restore snapshots, one per world, each of its task; returns the observations, zeros where `recurrent` shows
        what came before.

        Raises:
            ParameterError: another number of snapshots. SnapshotError: one of another task. Nothing has changed then.
        """
        given = list(snapshots) if isinstance(snapshots, (list, tuple)) else []
        if len(given) != self.num_envs:
            raise ParameterError(
                f"{self.name} needs a list of {self.num_envs} snapshots, one for each, not {shortened(snapshots)}"
            )
        for own, env in self.groups:
            for snapshot in given[own]:
                env.batch.check_snapshot(snapshot)
        for own, env in self.groups:
            env.set_state(given[own])
        self._started[:] = True
        return self._observations(None)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute of every environment, or the result of a method, as `VectorEnv.call`; spaces are this one's."""
        if name in ("observation_space", "action_space"):
            return (getattr(self, f"single_{name}"),) * self.num_envs
        return tuple(chain.from_iterable(env.call(name, *args, **kwargs) for _, env in self.groups))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of every environment, see `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set a physical parameter of all environments, or of each, as `VectorEnv.set_attr`."""
        if isinstance(values, (list, tuple, np.ndarray)) and len(values) != self.num_envs:
            raise ParameterError(f"{name}: {len(values)} values were given for {self.num_envs} environments")
        if all(name in env.batch.world.params for _, env in self.groups):
            self._check_params({name: values})
        for own, env in self.groups:
            env.set_attr(name, _own({name: values}, own, self.num_envs)[name])

    def expert_actions(self) -> np.ndarray:
        """The scripted experts' actions, in the batched action space."""
        return self._gathered(lambda env: env.expert_actions())


def _own(values: Mapping[str, Any], own: slice, worlds: int) -> dict[str, Any]:
    """Values of a group: of lists and arrays with a number for each of all worlds, its part."""
    several = {name for name, value in values.items() if isinstance(value, (list, tuple, np.ndarray))}
    return {
        name: value[own] if name in several and np.ndim(value) == 1 and len(value) == worlds else value
        for name, value in values.items()
    }


def _union(name: str, found: Sequence[Any]) -> Any:
    """The space that holds what any of some spaces holds, which differ in their bounds alone."""
    if all(space == found[0] for space in found):
        return found[0]
    if all(isinstance(space, spaces.Dict) and set(space) == set(found[0]) for space in found):
        return spaces.Dict({key: _union(name, [space[key] for space in found]) for key in found[0]})
    if not all(isinstance(s, spaces.Box) and (s.shape, s.dtype) == (found[0].shape, found[0].dtype) for s in found):
        raise ParameterError(f"{name}: the observations of the tasks of a mixed batch must have one shape and type")
    low, high = np.min([space.low for space in found], axis=0), np.max([space.high for space in found], axis=0)
    return spaces.Box(low, high, dtype=found[0].dtype.type)
