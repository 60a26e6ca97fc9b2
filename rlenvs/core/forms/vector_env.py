"""gymnasium.vector.VectorEnv: a batch, without a wrapper per world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.batch.parameters import for_once
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.inputs import (
    actions_of,
    autoreset_of,
    generator_of,
    params_of,
    reset_mask_of,
    seeds_of,
    truth,
)
from rlenvs.core.declare.renamed import renamed
from rlenvs.core.declare.spec import World, load_world
from rlenvs.core.forms.attributes import model_of, set_values, values_by_world
from rlenvs.core.forms.gym_env import others_of, refuse_closed
from rlenvs.core.forms.illegal_actions import action_checker_of
from rlenvs.core.forms.info import InfoKeys, add_errors
from rlenvs.core.forms.render import RENDER_MODES, Renderer, check_mode
from rlenvs.core.forms.time_limit import ShowsLimit


@renamed
class VectorEnv(ShowsLimit, gymnasium.vector.VectorEnv):
    """N worlds behind Gymnasium's vector API. Made by `gymnasium.make_vec("rlenvs/Name-v0", num_envs=N, ...)`.

    Args:
        world: the world, or its address "module:name".
        num_envs: N, at least 1.
        autoreset_mode: when finished worlds start anew, an AutoresetMode or its name: NEXT_STEP, SAME_STEP, DISABLED.
        copy: False returns the batch's own arrays, overwritten by the next step, instead of copies.
        threads: threads per step; None decides by the time that a step takes.
        render_mode, render_text, vector_reward, team, illegal, backend, choices: as for `Env`; a parameter may be
            an array of N numbers.

    Raises:
        UnknownKeywordError, UnknownNameError, ParameterError: a keyword, level or value that the world does not have.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 30, "autoreset_mode": AutoresetMode.NEXT_STEP}

    _given_generator = False  # whether `np_random` was set since the last reset
    renderer = Renderer(None, None)  # gymnasium closes even what its constructor refused

    def __init__(
        self,
        world: World | str,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = None,
        render_mode: str | None = None,
        render_text: bool = True,
        vector_reward: bool = False,
        others: str | None = None,
        illegal: str = "count",
        backend: str = "numba",
        **choices: Any,
    ) -> None:
        world = load_world(world) if isinstance(world, str) else world
        check_mode(world, render_mode)
        mode, copy = autoreset_of(autoreset_mode), truth("copy", copy)
        vector_reward = truth("vector_reward", vector_reward)
        batch = new_batch(
            world, num_envs, autoreset=mode, threads=threads, backend=backend, first_decides=True, **choices
        )
        chosen = others_of(world, others)
        self._show(batch, copy, render_mode, render_text, vector_reward, chosen, illegal)

    @classmethod
    def of(cls, batch: KernelBatch, *, vector_reward: bool, others: str, illegal: str) -> Self:
        """The vector environment of an existing batch; keywords as above."""
        env = cls.__new__(cls)
        env._show(batch, True, None, False, vector_reward, others, illegal)  # noqa: SLF001
        return env

    def _show(
        self,
        batch: KernelBatch,
        copy: bool,
        render_mode: str | None,
        render_text: bool,
        vector_reward: bool,
        others: str,
        illegal: str,
    ) -> None:
        self.batch, setup, world, mode = batch, batch.setup, batch.world, batch.autoreset
        self.num_envs = self.batch.num_envs
        self.single_observation_space, self.single_action_space = setup.agent_spaces(0)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        if vector_reward:
            self.reward_space = setup.reward_space
            self.reward_dim = len(world.terms)  # MO-Gymnasium's name
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": round(setup.fps), "autoreset_mode": mode}
        self.autoreset_mode = mode
        self.copy = copy
        self.others, self.illegal = others, illegal
        self.render_mode = render_mode
        self.vector_reward = vector_reward
        self._keys = InfoKeys(self.batch)
        self._action_checker = action_checker_of(self.batch, illegal, agents=1)
        self._everyone = np.ones(self.num_envs, np.bool_)
        # room for observations in another type, where they are not to be copies
        other = setup.encode.plain if setup.encode and not (copy or setup.in_parts or world.roles) else None
        self._shown = None if other is None else np.zeros(self.batch.observations[:, 0].shape, other)
        self.renderer = Renderer(render_mode, self.batch, render_text)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes in all worlds, or in those of options["reset_mask"].

        Args:
            seed: world i is seeded with seed + i, or with seed[i]; None goes on with the generators.
            options: "reset_mask" (bool, (num_envs,)), "params" ({name: number or array}), and those of the published
                environment, as for `Env.reset`.

        Raises:
            ParameterError: a mask of the wrong shape or type, an unknown option or parameter, a value outside its
                range, a wrong number of seeds. Nothing has changed then.
        """
        params, once, others = params_of(options, self.batch.world.drop_in.starts, "reset_mask")
        mask = reset_mask_of(others.get("reset_mask"), self.num_envs)
        seeds = seeds_of(seed, self.num_envs)
        self.batch.set_params(params, mask)
        with for_once(self.batch, once, mask):
            self._begin(seed, seeds, mask)
        return self._observations(), self._infos(mask)

    def _begin(self, seed: Any, seeds: list[int | None] | None, mask: np.ndarray | None) -> None:
        batch = self.batch
        if seeds is not None and not isinstance(seed, (Sequence, np.ndarray)):
            super().reset(seed=seeds[0])
        if seeds is not None:
            batch.seed([s if mask is None or mask[i] else None for i, s in enumerate(seeds)])
        if self._given_generator and seeds is None:
            for i in range(self.num_envs) if mask is None else np.flatnonzero(mask).tolist():
                batch.seed_from(self.np_random, i)
        self._given_generator = False
        batch.seed_unseeded(self.np_random)
        batch.reset(mask)

    @property
    def np_random(self) -> np.random.Generator:
        """The generator that seeds worlds without a seed. After setting a new one, the next reset without a seed
        reseeds all worlds that it starts."""
        return gymnasium.vector.VectorEnv.np_random.fget(self)  # type: ignore[attr-defined]

    @np_random.setter
    def np_random(self, generator: np.random.Generator) -> None:
        self._np_random, self._np_random_seed, self._given_generator = generator_of(generator), -1, True

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all worlds by one step.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice; with illegal="error" one that the action mask forbids.
                No world has moved then.
            EpisodeOverError: autoreset is disabled and an episode is over; or the environments are closed.
        """
        batch = self.batch
        if self.closed:
            refuse_closed(batch.world.name)
        actions = actions_of(batch.world.name, actions)
        if batch.agents > 1:
            batch.set_first_agent_action(actions, self.others)
        else:
            batch.load_actions(actions)
        self.step_inplace()
        infos = self._infos(None)
        rewards, terminated, truncated = batch.rewards[:, 0], batch.terminated[:, 0], batch.truncated[:, 0]
        if self.vector_reward:
            rewards = batch.reward_vectors[:, 0]
        if self.copy:
            rewards, terminated, truncated = rewards.copy(), terminated.copy(), truncated.copy()
        if batch.autoreset is AutoresetMode.SAME_STEP:
            ended = terminated | truncated
            rewards = self._final_vectors(rewards, ended) if self.vector_reward else rewards
            self._add_final(infos, ended)
        return self._observations(), rewards, terminated, truncated, infos

    def step_inplace(self, only: np.ndarray | None = None) -> None:
        """Step the worlds with the actions in `batch.actions`; actions that the masks forbid are counted, or refused.

        Args:
            only: bool (num_envs,): the worlds to step; None for all.
        """
        if self._action_checker is None:
            self.batch.step_inplace(only)
        else:
            self._action_checker.step(only)

    def _observations(self) -> Any:
        if self._shown is None:
            return self.batch.get_observations((slice(None), 0), copy=self.copy)
        self._shown[...] = self.batch.observations[:, 0]
        return self._shown

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> np.ndarray:
        """Rewards for achieved and desired goals, as `Env.compute_reward`; (..., goal) -> (...)."""
        return self.batch.compute_reward(achieved_goal, desired_goal)[0]

    def current_infos(self, copy: bool = True) -> dict[str, Any]:
        """The current info of all worlds, arrays (num_envs, ...) by name, without the masks of Gymnasium's vector info:
        the batch's arrays, which the next step overwrites, or copies."""
        return self._keys.all(self.batch, copy)

    def _infos(self, mask: np.ndarray | None) -> dict[str, Any]:
        batch = self.batch
        infos = self.current_infos(self.copy)
        present = self._everyone if mask is None else mask
        infos.update({f"_{key}": present.copy() if self.copy else present for key in tuple(infos)})
        if np.count_nonzero(batch.failures):  # in a fraction of the time that `any` takes
            add_errors(infos, batch.errors, present)
        return infos

    def _final_vectors(self, vectors: np.ndarray, ended: np.ndarray) -> np.ndarray:
        """The reward vectors of a step, those of finished worlds as they were set aside."""
        vectors = vectors if self.copy else vectors.copy()  # info has the new episodes' own
        vectors[ended] = self.batch.final_terms[ended, : self._keys.rewards, 0]
        return vectors

    def _add_final(self, infos: dict[str, Any], ended: np.ndarray) -> None:
        """Say how the episodes that a step ended were at their end."""
        if not ended.any():
            return
        batch = self.batch
        final = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended).tolist():
            final[i] = batch.get_observations((i, 0), final=True)
        kept = np.where(ended[:, None, None], batch.final_terms, 0.0)
        success = np.where(ended[:, None], batch.final_success, False)
        masks = np.where(ended[:, None, None], batch.final_masks, np.int8(0))
        costs = np.where(ended[:, None], batch.final_costs, 0.0)
        vectors = kept[:, : self._keys.rewards].transpose(0, 2, 1).astype(np.float32)
        final_info = self._keys.columns(kept, success, costs, vectors, masks, True)
        if self._action_checker is not None:
            final_info["illegal_actions"] = np.where(ended, self._action_checker.before[:, 0], 0)
        final_info.update({f"_{key}": ended.copy() for key in tuple(final_info)})
        add_errors(final_info, batch.final_errors, ended)
        infos.update({"final_obs": final, "_final_obs": ended.copy()})
        infos.update({"final_info": final_info, "_final_info": ended.copy()})

    def render(self) -> Any:
        """One image per world, as a tuple."""
        return tuple(self.renderer.image(i) for i in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window and the physics engine, if any."""
        self.renderer.close()
        if hasattr(self, "batch"):
            self.batch.close()

    def get_state(self) -> list[Snapshot]:
        """Snapshots of all worlds."""
        return [self.batch.get_state(i) for i in range(self.num_envs)]

    def set_state(self, snapshots: Sequence[Snapshot]) -> Any:
        """Restore snapshots, one per world; returns the observations."""
        given = len(snapshots) if isinstance(snapshots, (list, tuple)) and not isinstance(snapshots, Snapshot) else 1
        if given != self.num_envs or isinstance(snapshots, Snapshot):
            raise ParameterError(f"needed: a list of {self.num_envs} snapshots, one per environment, not {given}")
        for snapshot in snapshots:
            self.batch.check_snapshot(snapshot)
        for i, snapshot in enumerate(snapshots):
            self.batch.set_state(snapshot, i)
        return self._observations()

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute of every environment, or the result of a method, as in `SyncVectorEnv`.

        Args:
            name: a physical parameter, an attribute that the world's page names, "render", "get_state", "set_state",
                "action_masks", "expert_action", or an attribute of this object that is the same for all.

        Raises:
            AttributeError: nothing of that name is there for single environments of a batch.
        """
        found = values_by_world(self, name)
        return tuple(value(*args, **kwargs) if callable(value) else value for value in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of every environment, see `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set a physical parameter of all environments, or of each: a list or array with one number each.

        Raises:
            AttributeError: no parameter of that name. ParameterError: a number outside its range.
            ValueError: another number of values.
        """
        set_values(self.batch, name, values)

    @property
    def model(self) -> Any:
        """The exact model with these options, as in `Env.model`."""
        return model_of(self.batch)

    def pareto_front(self, gamma: float = 1.0) -> np.ndarray:
        """The exact Pareto front with these options, as in `Env.pareto_front`."""
        return self.batch.setup.pareto_front(gamma)

    def expert_actions(self) -> np.ndarray:
        """The scripted expert's actions, in the batched action space."""
        return self.batch.setup.shown_action(self.batch.expert_actions()[:, 0])
