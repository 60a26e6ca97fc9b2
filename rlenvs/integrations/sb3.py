"""stable_baselines3.common.vec_env.VecEnv: a batch, without a wrapper or a process per environment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random as make_generator
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch import Snapshot
from rlenvs.core.engines import new_batch
from rlenvs.core.errors import ActionError, MissingExtraError, ParameterError
from rlenvs.core.gym_env import params_from
from rlenvs.core.info import InfoKeys
from rlenvs.core.registry import NAMESPACE, entry
from rlenvs.core.render import Renderer, check_mode
from rlenvs.core.spec import World, load_world

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise MissingExtraError("The Stable-Baselines3 form of an environment", "sb3") from error


class SB3VecEnv(VecEnv):
    """N worlds behind Stable-Baselines3's vector API. Made by `rlenvs.sb3_vec_env("rlenvs/Name-v0", N)`.

    `num_envs` is N times the number of agents: all agents of a multi-agent world share one policy, and row
    i * agents + k is agent k of world i. A row whose agent dies is done at that step; until its world begins anew, it
    goes on as an idle row: its actions are ignored, its reward is 0, its infos are {"idle": True}, and it is done once
    more when the world's episode ends, so that no return crosses into the next episode.

    Infos are fresh, empty dictionaries but where an episode ended: there they hold what `gymnasium.make` gives, and
    "terminal_observation" and "TimeLimit.truncated".

    Args:
        world: the world, or its address "module:name".
        num_worlds: N, at least 1.
        render_mode: None, "rgb_array", "human" or, where a world has one, "ansi".
        monitor: keep returns and lengths, info["episode"] at the end of an episode, as SB3's Monitor does; leave it to
            VecMonitor with False.
        threads, backend, choices: as for `VectorEnv`; a parameter may be an array of N numbers.

    Raises:
        UnknownKeywordError, UnknownNameError, ParameterError: a keyword, level or value that the world does not have.
    """

    def __init__(
        self,
        world: World | str,
        num_worlds: int = 1,
        *,
        render_mode: str | None = None,
        monitor: bool = True,
        threads: int | None = None,
        backend: str = "numba",
        **choices: Any,
    ) -> None:
        world = load_world(world) if isinstance(world, str) else world
        check_mode(world, render_mode)
        batch = new_batch(
            world, num_worlds, autoreset=AutoresetMode.SAME_STEP, threads=threads, backend=backend, **choices
        )
        self.batch = batch
        self.monitor = monitor
        self._keys = InfoKeys(batch)
        self._renderer = Renderer(render_mode, batch.setup.fps)
        self._generator = make_generator()[0]
        self._rows = [Row(self, i, k, render_mode) for i in range(batch.num_worlds) for k in range(batch.agents)]
        self._alive = np.ones((batch.num_worlds, batch.agents), np.bool_)  # before the step
        self._returns, self._lengths = np.zeros(len(self._rows)), np.zeros(len(self._rows), np.int64)
        self._start = time.time()
        super().__init__(len(self._rows), batch.setup.observation_space, batch.setup.action_space)
        self.metadata: dict[str, Any] = {**self.metadata, "render_fps": round(batch.setup.fps)}

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed world i with seed + i at the next reset; returns the seed of every row."""
        super().seed(seed)
        self._seeds = [self._seeds[0] + row.world for row in self._rows]  # type: ignore[operator]
        return self._seeds

    def reset(self) -> np.ndarray:
        """Start episodes in all worlds.

        Options of `set_options` are those of `Env.reset`; a world takes those of its first agent.

        Raises:
            ParameterError: an unknown option or parameter, or a value outside its range.
        """
        batch, agents = self.batch, self.batch.agents
        for i, options in enumerate(self._options[::agents]):
            if options:
                batch.set_params(params_from(options), np.arange(batch.num_worlds) == i)
        batch.seed(self._seeds[::agents])
        batch.seed_unseeded(self._generator)
        batch.reset()
        self._alive[:] = True
        self._returns[:], self._lengths[:] = 0.0, 0
        self.reset_infos = [{} for _ in self._rows]
        self._reset_seeds()
        self._reset_options()
        return self._observations()

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step, (num_envs, ...).

        Raises:
            ActionError: wrong shape or type.
        """
        batch, actions = self.batch, np.asarray(actions)
        if len(actions.shape) == 0 or actions.shape[0] != self.num_envs:
            raise ActionError(
                f"{batch.world.name}: actions of shape {actions.shape} were given for {self.num_envs} rows"
            )
        batch.load_actions(actions.reshape(batch.num_worlds, batch.agents, *actions.shape[1:]))

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Advance all worlds; finished ones begin their next episode at once.

        Returns:
            observations, rewards (float32), dones (bool) and infos, one row or entry per environment.

        Raises:
            ActionError: NaN, or not a choice. No world has moved then.
            EpisodeOverError: there was no reset yet.
        """
        batch = self.batch
        batch.step_loaded()
        self._returns += batch.rewards.reshape(-1)
        self._lengths += 1
        # fresh ones take some 30 ns a row; in kept ones, what wrappers write would show up again at later steps
        infos: list[dict[str, Any]] = [{} for _ in self._rows]
        ended = batch.terminated | batch.truncated
        if batch.agents == 1:
            restarted = ended
        else:
            # a world that stepped and has no step behind it has just begun anew
            restarted = np.broadcast_to((batch._states["elapsed"] == 0)[:, None], ended.shape)
            for row in np.flatnonzero(~self._alive):
                infos[row]["idle"] = True
        if ended.any():
            self._fill(infos, ended, restarted)
        dones = (ended | restarted).reshape(-1)
        if batch.agents > 1:
            self._alive = (self._alive & ~ended) | restarted
        self._returns[dones], self._lengths[dones] = 0.0, 0
        return self._observations(), batch.rewards.reshape(-1).astype(np.float32), dones, infos

    def _observations(self) -> Any:
        def rows(array: np.ndarray) -> np.ndarray:
            return array.reshape(self.num_envs, *array.shape[2:]).copy()

        found = self.batch.observed(copy=False)
        return {name: rows(array) for name, array in found.items()} if isinstance(found, dict) else rows(found)

    def _fill(self, infos: list[dict[str, Any]], ended: np.ndarray, restarted: np.ndarray) -> None:
        """The infos of the rows whose episode ended: set aside where the world began anew, live where it went on."""
        batch, keys = self.batch, self._keys
        now = round(time.time() - self._start, 6)
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
            for j, row in enumerate((world * batch.agents + agent).tolist()):
                info = infos[row]
                info.update(zip(keys.terms, numbers[j], strict=True))
                info["is_success"] = successes[j]
                info["reward_vector"] = vectors[j]
                if keys.has_costs:
                    info["cost"] = spent[j]
                if keys.has_mask:
                    info["action_mask"] = masks[j]
                errors = batch.final_errors if again else batch.errors
                if errors is not None:
                    info["simulation_error"] = errors[world[j]]
                info["TimeLimit.truncated"] = truncated[j]
                info["terminal_observation"] = batch.observed((world[j], agent[j]), final=again)
                if self.monitor:
                    total, length = self._returns.item(row), self._lengths.item(row)
                    info["episode"] = {"r": round(total, 6), "l": length, "t": now}

    def close(self) -> None:
        """Close the window and the physics engine, if any."""
        self._renderer.close()
        self.batch.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """One picture per world (not per row), uint8 (height, width, 3); Nones where render_mode is not "rgb_array"."""
        if self.render_mode != "rgb_array":
            return [None] * self.batch.num_worlds
        return [self._renderer.picture(self.batch, i) for i in range(self.batch.num_worlds)]

    # --- single rows --------------------------------------------------------------------------------------------------

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the rows: what `Row` has, or a physical parameter by its name."""
        return [getattr(row, attr_name) for row in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set a physical parameter in the worlds of the rows, from their next step on.

        Raises:
            ParameterError: not a physical parameter, or outside its range.
        """
        worlds = np.zeros(self.batch.num_worlds, np.bool_)
        worlds[[row.world for row in self._chosen(indices)]] = True
        self.batch.set_params({attr_name: value}, worlds)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of `Row` on the rows."""
        return [getattr(row, method_name)(*method_args, **method_kwargs) for row in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """False, except that `monitor` does what SB3's Monitor would."""
        return [self.monitor and issubclass(wrapper_class, Monitor) for _ in self._chosen(indices)]

    def _chosen(self, indices: Any) -> list[Row]:
        return [self._rows[i] for i in self._get_indices(indices)]


class Row:
    """One agent of one world of a batch, as `get_attr` and `env_method` see it."""

    def __init__(self, venv: SB3VecEnv, world: int, agent: int, render_mode: str | None) -> None:
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
        """What the scripted expert would do now: an action of the action space."""
        action = self._venv.batch.advise()[self.world, self.agent]
        return action.astype(np.float32) if self._venv.batch.setup.continuous else int(action[0])

    def get_state(self) -> Snapshot:
        """A snapshot of the row's world."""
        return self._venv.batch.get_state(self.world)

    def set_state(self, snapshot: Snapshot) -> np.ndarray:
        """Put the row's world back to a snapshot; returns the row's observation."""
        self._venv.batch.set_state(snapshot, self.world)
        return self._venv.batch.observed((self.world, self.agent))

    def render(self) -> Any:
        """The picture of the row's world; with "human", the window shows the first world."""
        if self.render_mode == "human" and (self.world or self.agent):
            return None
        return self._venv._renderer.picture(self._venv.batch, self.world)


def sb3_vec_env(id: str, num_envs: int = 1, **keywords: Any) -> SB3VecEnv:
    """Stable-Baselines3's form of a world.

    Args:
        id: with or without "rlenvs/".
        num_envs: the number of worlds; a multi-agent world gives a row per agent.
        keywords: as for `SB3VecEnv`.

    Raises:
        UnknownNameError: no such id. ParameterError: a vector reward, which SB3 cannot take.
        MissingExtraError: stable-baselines3 is not installed.
    """
    row = entry(id)
    if row.id.startswith(f"{NAMESPACE}/mo-"):
        raise ParameterError(
            f"Stable-Baselines3 takes no vector rewards; use {row.id.replace('/mo-', '/')!r} with weights={{...}}"
        )
    return SB3VecEnv(row.address, num_envs, **keywords)
