"""stable_baselines3.common.vec_env.VecEnv: a batch, with or without wrappers, and no process per environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Space
from gymnasium.utils.seeding import np_random as make_generator
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.catalogue.registry import NAMESPACE, entry
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.core.declare.inputs import actions_of, params_of, seed_of
from rlenvs.core.declare.spec import World, load_world
from rlenvs.core.forms.illegal_actions import action_checker_of
from rlenvs.core.forms.info import InfoKeys
from rlenvs.core.forms.render import Renderer, check_mode
from rlenvs.integrations.sb3_vectors import MonitoredVecEnv, VectorVecEnv, check_vector
from rlenvs.wrappers.forms import WrappedVectorEnv
from rlenvs.wrappers.slot_values import slot_of
from rlenvs.wrappers.wrapped_states import WrappedState, check_state

__all__ = ["BatchVecEnv", "SB3VecEnv", "WrappedVecEnv", "as_sb3", "sb3_vec_env"]


class BatchVecEnv(MonitoredVecEnv):
    """Common base of the `VecEnv`s of one batch, with and without wrappers: seeds, images, single slots."""

    def __init__(
        self, batch: KernelBatch, slots: list[Slot], renderer: Renderer, monitor: bool, observed: Space, action: Space
    ) -> None:
        self.batch, self._slots, self.renderer = batch, slots, renderer
        super().__init__(len(slots), observed, action, monitor)
        self.metadata: dict[str, Any] = {**self.metadata, "render_fps": round(batch.setup.fps)}

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed world i with seed + i at the next reset; returns the seed of every slot."""
        super().seed(seed_of(seed))
        self._seeds = [self._seeds[0] + slot.world for slot in self._slots]  # type: ignore[operator]
        return self._seeds

    def _take_options(self) -> None:
        """Set the parameters among the options of the next reset, in every world those of its first slot."""
        given = zip(self._slots, self._options, strict=True)
        own = [params_of(options, {})[0] for slot, options in given if slot.agent == 0]
        names = {name: None for params in own for name in params}  # in order
        if names:
            now = [self.batch.get_params(i) for i in range(self.batch.num_envs)]
            slots = [{**before, **params} for before, params in zip(now, own, strict=True)]
            self.batch.set_params({name: [slot.get(name) for slot in slots] for name in names})

    def set_options(self, options: list[dict] | dict | None = None) -> None:
        """Options of the next reset: one dictionary for all slots, or one for each.

        Raises:
            ParameterError: something else.
        """
        several = options if isinstance(options, (list, tuple)) else [options] * self.num_envs
        if len(several) != self.num_envs:
            raise ParameterError(f"{len(several)} options were given for {self.num_envs} environments")
        super().set_options([{"params": params_of(options, {})[0]} for options in several])

    def close(self) -> None:
        """Close the window and the physics engine, if any."""
        self.renderer.close()
        self.batch.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """One image per world (not per slot), uint8 (height, width, 3); Nones where render_mode is not "rgb_array"."""
        if self.render_mode != "rgb_array":
            return [None] * self.batch.num_envs
        return [self.renderer.image(i) for i in range(self.batch.num_envs)]

    # --- single slots -------------------------------------------------------------------------------------------------

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the slots: one of `Slot`, or a physical parameter."""
        return [getattr(slot, attr_name) for slot in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set a physical parameter in the worlds of the slots, effective from their next step.

        Raises:
            ParameterError: not a physical parameter, or outside its range.
        """
        worlds = np.zeros(self.batch.num_envs, np.bool_)
        worlds[[slot.world for slot in self._chosen(indices)]] = True
        self.batch.set_params({attr_name: value}, worlds)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of `Slot` on the slots."""
        return [getattr(slot, method_name)(*method_args, **method_kwargs) for slot in self._chosen(indices)]

    def _chosen(self, indices: Any) -> list[Slot]:
        return [self._slots[i] for i in self._get_indices(indices)]


class SB3VecEnv(BatchVecEnv):
    """N worlds behind Stable-Baselines3's vector API. Made by `rlenvs.sb3_vec_env("rlenvs/Name-v0", N)`.

    `num_envs` is N times the number of agents: all agents of a multi-agent world share one policy, and slot
    i * agents + k is agent k of world i. A slot whose agent dies is done at that step; until its world begins anew, it
    goes on as an idle slot: its actions are ignored, its reward is 0, its infos are {"idle": True}, and it is done once
    more when the world's episode ends, so that no return crosses into the next episode.

    Infos are fresh, empty dictionaries but where an episode ended: there they hold what `gymnasium.make` gives, and
    "terminal_observation" and "TimeLimit.truncated".

    Args:
        world: the world, or its address "module:name".
        num_envs: N, at least 1.
        render_mode: None, "rgb_array", "human" or "ansi".
        render_text: False leaves out head and legend of images, as for `Env`.
        monitor: keep returns and lengths, info["episode"] at the end of an episode, as SB3's Monitor does; leave it to
            VecMonitor with False.
        threads, illegal, backend, choices: as for `VectorEnv`; a parameter may be an array of N numbers.

    Raises:
        UnknownKeywordError, UnknownNameError, ParameterError: a keyword, level or value that the world does not have.
    """

    def __init__(
        self,
        world: World | str,
        num_envs: int = 1,
        *,
        render_mode: str | None = None,
        render_text: bool = True,
        monitor: bool = True,
        threads: int | None = None,
        illegal: str = "count",
        backend: str = "numba",
        **choices: Any,
    ) -> None:
        world = load_world(world) if isinstance(world, str) else world
        check_mode(world, render_mode)
        batch = new_batch(
            world, num_envs, autoreset=AutoresetMode.SAME_STEP, threads=threads, backend=backend, **choices
        )
        self._keys = InfoKeys(batch)
        self._action_checker = action_checker_of(batch, illegal, batch.agents)
        self._generator = make_generator()[0]
        self._alive = np.ones((batch.num_envs, batch.agents), np.bool_)  # before the step
        slots = [Slot(self, i, k, render_mode) for i in range(batch.num_envs) for k in range(batch.agents)]
        renderer = Renderer(render_mode, batch, render_text)
        super().__init__(batch, slots, renderer, monitor, batch.setup.observation_space, batch.setup.action_space)

    def reset(self) -> np.ndarray:
        """Start episodes in all worlds.

        Options of `set_options` are those of `Env.reset`; a world takes those of its first agent.

        Raises:
            ParameterError: an unknown option or parameter, or a value outside its range.
        """
        batch, agents = self.batch, self.batch.agents
        self._take_options()
        batch.seed(self._seeds[::agents])
        batch.seed_unseeded(self._generator)
        batch.reset()
        self._alive[:] = True
        self._begun()
        return self._observations()

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of `Slot` on the slots; `action_masks`, which MaskablePPO calls in every step, is fast."""
        if method_name == "action_masks" and indices is None:
            return list(self.action_masks())
        return super().env_method(method_name, *method_args, indices=indices, **method_kwargs)

    def action_masks(self) -> np.ndarray:
        """Which choices are allowed now, bool (num_envs, choices)."""
        return self.batch.masks.reshape(self.num_envs, -1).astype(np.bool_)

    def all_states(self) -> dict[str, Any]:
        """The complete state of all slots, bit-exact, as arrays and plain numbers; for `restore`."""
        return {
            "arrays": self.batch.arrays(),
            "returns": self._returns.copy(),
            "lengths": self._lengths.copy(),
            "alive": self._alive.copy(),
            "generator": self._generator.bit_generator.state,
        }

    def restore(self, states: Mapping[str, Any]) -> None:
        """Restore all slots from `all_states` of an environment of the same world and size; pending seeds and options
        are discarded.

        Raises:
            SnapshotError: the states are of another world, of other options or of another number of slots.
        """
        self.batch.restore(states["arrays"])
        self._returns, self._lengths, self._alive = (states[name] for name in ("returns", "lengths", "alive"))
        self._generator.bit_generator.state = states["generator"]
        self._reset_seeds()

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step, (num_envs, ...).

        Raises:
            ActionError: wrong shape or type.
        """
        batch = self.batch
        actions = actions_of(batch.world.name, actions)
        if len(actions.shape) == 0 or actions.shape[0] != self.num_envs:
            raise ActionError(
                f"{batch.world.name}: actions of shape {actions.shape} were given for {self.num_envs} slots"
            )
        batch.load_actions(actions.reshape(batch.num_envs, batch.agents, *actions.shape[1:]))

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Advance all worlds; finished ones start their next episode immediately.

        Returns:
            observations, rewards (float32), dones (bool) and infos, one slot or entry per environment.

        Raises:
            ActionError: NaN, or not a choice; with illegal="error" one that the action mask forbids. No world has moved
                then.
            EpisodeOverError: there was no reset yet.
        """
        batch = self.batch
        if self._action_checker is None:
            batch.step_inplace()
        else:
            self._action_checker.step()
        self._returns += batch.rewards.reshape(-1)
        self._lengths += 1
        # fresh ones take some 30 ns a slot; in kept ones, what wrappers write would show up again at later steps
        infos: list[dict[str, Any]] = [{} for _ in self._slots]
        ended = batch.terminated | batch.truncated
        if batch.agents == 1:
            restarted = ended
        else:
            # a world that stepped and has no step behind it has just begun anew
            restarted = np.broadcast_to(batch.at_start[:, None], ended.shape)
            for slot in np.flatnonzero(~self._alive):
                infos[slot]["idle"] = True
        if ended.any():
            self._fill(infos, ended, restarted)
        dones = (ended | restarted).reshape(-1)
        if batch.agents > 1:
            self._alive = (self._alive & ~ended) | restarted
        self._returns[dones], self._lengths[dones] = 0.0, 0
        return self._observations(), batch.rewards.reshape(-1).astype(np.float32), dones, infos

    def _observations(self) -> Any:
        def slots(array: np.ndarray) -> np.ndarray:
            return array.reshape(self.num_envs, *array.shape[2:]).copy()

        found = self.batch.get_observations(copy=False)
        return {name: slots(array) for name, array in found.items()} if isinstance(found, dict) else slots(found)

    def _fill(self, infos: list[dict[str, Any]], ended: np.ndarray, restarted: np.ndarray) -> None:
        """The infos of the slots whose episode ended: set aside where the world began anew, live where it went on."""
        batch, keys = self.batch, self._keys
        for again in (True, False):
            at = world, agent = np.nonzero(ended & (restarted == again))
            if len(world) == 0:
                continue
            if again:
                terms, success, costs = batch.final_terms, batch.final_success, batch.final_costs
                masks = batch.final_masks[at]
            else:
                terms, success, costs = batch.terms, batch.success, batch.costs
                masks = batch.masks[at]
            values = terms[world, :, agent]
            vectors, numbers = values[:, : keys.rewards].astype(np.float32), values.tolist()
            truncated = (batch.truncated[at] & ~batch.terminated[at]).tolist()
            successes, spent = success[at].tolist(), costs[at].tolist()
            for j, slot in enumerate((world * batch.agents + agent).tolist()):
                info = infos[slot]
                info.update(zip(keys.terms, numbers[j], strict=True))
                info["is_success"] = successes[j]
                info["reward_vector"] = vectors[j]
                if keys.has_costs:
                    info["cost"] = spent[j]
                if self._action_checker is not None:
                    info["action_mask"] = masks[j]
                    counts = self._action_checker.before if again else self._action_checker.counts
                    info["illegal_actions"] = counts.item(world[j], agent[j])
                if error := batch.error(int(world[j]), again):
                    info["simulation_error"] = error
                self._note_end(info, slot, truncated[j], self._last_of(world[j], agent[j], again))

    def _last_of(self, world: int, agent: int, final: bool) -> Any:
        """An agent's observation as the slots have it: those of agents that see less are padded."""
        found = self.batch.get_observations(int(world), final=final, copy=False)
        if isinstance(found, dict):
            return {name: part[agent].copy() for name, part in found.items()}
        return found[agent].copy()


class WrappedVecEnv(BatchVecEnv):
    """N worlds with wrappers behind Stable-Baselines3's vector API: a slot per world. Made by `as_sb3`.

    Infos are as those of `SB3VecEnv`, with what the wrappers add.

    Args:
        env: what `rlenvs.wrappers.wrap` made of a vector environment.
        monitor: as for `SB3VecEnv`; returns are those after the wrappers.

    Raises:
        ParameterError: another autoreset mode than SAME_STEP, or vector rewards.
    """

    def __init__(self, env: WrappedVectorEnv, monitor: bool = True) -> None:
        check_vector(env, env.batch.world.name, env.top.reward.ndim > 1)
        self.env = env
        slots: list[Slot] = [WrappedSlot(self, i, 0, env.render_mode) for i in range(env.num_envs)]
        renderer = env.unwrapped.renderer  # type: ignore[attr-defined]
        super().__init__(env.batch, slots, renderer, monitor, env.single_observation_space, env.single_action_space)

    def reset(self) -> Any:
        """Start episodes in all worlds; options as for `SB3VecEnv`."""
        self._take_options()
        seeded = any(seed is not None for seed in self._seeds)
        observations, _ = self.env.reset(seed=self._seeds if seeded else None)
        self._begun()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step, (num_envs, ...)."""
        self._actions = actions_of(self.batch.world.name, actions)

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Advance all worlds; finished ones start their next episode immediately.

        Returns:
            observations, rewards (float32), dones (bool) and infos, one slot or entry per environment.

        Raises:
            ActionError: wrong shape or type, NaN, or not a choice. No world has moved then.
            EpisodeOverError: there was no reset yet.
        """
        return self._vector_step(self.env, self._actions)


class Slot:
    """One agent of one world of a batch, as `get_attr` and `env_method` see it."""

    def __init__(self, venv: BatchVecEnv, world: int, agent: int, render_mode: str | None) -> None:
        self._venv = venv
        self.world, self.agent = world, agent
        self.render_mode = render_mode

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._venv.batch.world.params:
            return self._venv.batch.get_params(self.world)[name]
        known = ("observation_space", "action_space", "metadata")
        if name in known:
            return getattr(self._venv, name)
        raise AttributeError(f"{self._venv.batch.world.name} has no attribute or parameter {name!r}")

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> np.ndarray:
        """Rewards for achieved goals where others were desired; what SB3's HerReplayBuffer calls."""
        return self._venv.batch.compute_reward(achieved_goal, desired_goal)[0]

    def action_masks(self) -> np.ndarray:
        """Which choices are allowed now, bool (choices,); the name that sb3-contrib's MaskablePPO calls."""
        return self._venv.batch.masks[self.world, self.agent].astype(np.bool_)

    def expert_action(self) -> Any:
        """The scripted expert's action for the current state, in the action space."""
        batch = self._venv.batch
        return batch.setup.shown_action(batch.expert_actions()[self.world, self.agent], agent=None)

    def get_state(self) -> Snapshot:
        """A snapshot of the slot's world."""
        return self._venv.batch.get_state(self.world)

    def set_state(self, snapshot: Snapshot) -> np.ndarray:
        """Put the slot's world back to a snapshot; returns the slot's observation."""
        self._venv.batch.set_state(snapshot, self.world)
        return self._venv.batch.get_observations((self.world, self.agent))

    def render(self) -> Any:
        """The image of the slot's world; with "human", the window shows the first world."""
        if self.render_mode == "human" and (self.world or self.agent):
            return None
        return self._venv.renderer.image(self.world)


class WrappedSlot(Slot):
    """A slot of a form with wrappers: its snapshots are of the world and of the wrappers."""

    _venv: WrappedVecEnv

    def get_state(self) -> Any:
        """A snapshot of the slot's world and wrappers."""
        return WrappedState(self._venv.env.top.get_state(self.world))

    def set_state(self, snapshot: Any) -> Any:
        """Put the slot back to a snapshot; returns its observation."""
        env = self._venv.env
        env.top.set_state(check_state(snapshot, env.wrappers, env.top.name), self.world)
        return slot_of(env.top.observation, self.world, env.single_observation_space)


def as_sb3(env: gymnasium.vector.VectorEnv, monitor: bool = True) -> VectorVecEnv | WrappedVecEnv:
    """Wrap a vector environment as a Stable-Baselines3 `VecEnv`.

        venv = as_sb3(wrap(rlenvs.make_vec("QuadHover-v0", 16, autoreset_mode="SAME_STEP"), Sensor(noise=0.02)))
        venv = as_sb3(rlenvs.benchmark("MT10").vector(64, one_hot=True, autoreset_mode="SAME_STEP"))

    Args:
        env: with or without wrappers, with autoreset_mode="SAME_STEP". It must not be stepped by itself from now on.
        monitor: keep returns and lengths, as SB3's Monitor does.

    Raises:
        TypeError: another environment. ParameterError: another autoreset mode, vector rewards, or copy=False.
        MissingExtraError: stable-baselines3 is not installed.
    """
    return WrappedVecEnv(env, monitor) if isinstance(env, WrappedVectorEnv) else VectorVecEnv(env, monitor)


def sb3_vec_env(id: str, num_envs: int = 1, **keywords: Any) -> SB3VecEnv:
    """Make an environment as a Stable-Baselines3 `VecEnv`.

    Args:
        id: with or without "rlenvs/".
        num_envs: the number of worlds; a multi-agent world gives a slot per agent.
        keywords: as for `SB3VecEnv`.

    Raises:
        UnknownNameError: no such id. ParameterError: a vector reward, which SB3 cannot take.
        MissingExtraError: stable-baselines3 is not installed.
    """
    slot = entry(id)
    if slot.id.startswith(f"{NAMESPACE}/mo-"):
        raise ParameterError(
            f"Stable-Baselines3 does not support vector rewards; use {slot.id.replace('/mo-', '/')!r} with "
            f"weights={{...}}"
        )
    return SB3VecEnv(slot.address, num_envs, **keywords)
