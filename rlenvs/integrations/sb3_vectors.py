"""Any vector environment of Gymnasium's API as a `stable_baselines3.common.vec_env.VecEnv`, without its processes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Space
from gymnasium.vector import AutoresetMode

from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.core.declare.inputs import seed_of, truth
from rlenvs.wrappers.slot_values import plain

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise MissingExtraError("The Stable-Baselines3 form of an environment", "sb3") from error

__all__ = ["MonitoredVecEnv", "VectorVecEnv"]

Stepped = tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]  # observations, rewards, dones, infos


class MonitoredVecEnv(VecEnv):
    """Common base of all `VecEnv`s here: returns and lengths of episodes, what infos say at their end.

    Args:
        num_envs: slots.
        observed: the observation space of one.
        action: the action space of one.
        monitor: keep returns and lengths, as SB3's Monitor does.
    """

    def __init__(self, num_envs: int, observed: Space, action: Space, monitor: bool) -> None:
        self.monitor = truth("monitor", monitor)
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._start = time.time()
        super().__init__(num_envs, observed, action)

    def _begun(self) -> None:
        """All episodes have begun."""
        self._returns[:], self._lengths[:] = 0.0, 0
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()

    def _note_end(self, info: dict[str, Any], slot: int, truncated: bool, last: Any) -> None:
        """What SB3 wants to know of an episode that ended."""
        info["TimeLimit.truncated"] = truncated
        info["terminal_observation"] = last
        if self.monitor:
            total, length = self._returns.item(slot), self._lengths.item(slot)
            info["episode"] = {"r": round(total, 6), "l": length, "t": round(time.time() - self._start, 6)}

    def _vector_step(self, env: gymnasium.vector.VectorEnv, actions: np.ndarray) -> Stepped:
        """Step a vector environment, a slot per world, whose finished worlds begin anew in the same step."""
        observations, rewards, terminated, truncated, told = env.step(actions)
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        dones = terminated | truncated
        for i in np.flatnonzero(dones).tolist():
            infos[i].update(_entries(told["final_info"], i))
            self._note_end(infos[i], i, bool(truncated[i] and not terminated[i]), told["final_obs"][i])
        self._returns[dones], self._lengths[dones] = 0.0, 0
        return observations, rewards.astype(np.float32), dones, infos

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """False, except that `monitor` does what SB3's Monitor would."""
        return [self.monitor and issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]


def _entries(infos: dict[str, Any], slot: int) -> dict[str, Any]:
    """One slot of a vector environment's infos."""
    own = {key: value for key, value in infos.items() if not key.startswith("_")}  # the others are masks
    return {key: _entries(v, slot) if isinstance(v, dict) else plain(v, slot) for key, v in own.items()}


def check_vector(env: Any, name: str, vector_reward: bool) -> None:
    """Refuse vector environments that Stable-Baselines3 cannot step.

    Raises:
        TypeError: no vector environment.
        ParameterError: another autoreset mode than SAME_STEP, or vector rewards.
    """
    if not isinstance(env, gymnasium.vector.VectorEnv):
        raise TypeError(
            f"as_sb3 requires a vector environment, such as rlenvs.make_vec(id, 16, autoreset_mode='SAME_STEP'), with "
            f"or without wrappers, not a {type(env).__name__}"
        )
    mode = env.metadata.get("autoreset_mode")
    if mode is not AutoresetMode.SAME_STEP:
        raise ParameterError(
            f"{name}: autoreset_mode={getattr(mode, 'name', mode)!r} is not supported by Stable-Baselines3; make the "
            f"environment with autoreset_mode='SAME_STEP'"
        )
    if vector_reward:
        raise ParameterError(f"{name}: Stable-Baselines3 does not support vector rewards; put a scalarization on top")


class VectorVecEnv(MonitoredVecEnv):
    """A vector environment behind Stable-Baselines3's vector API, a slot per world. Made by `as_sb3`.

    Infos are empty but where an episode ended: there they hold its "final_info", "terminal_observation" and
    "TimeLimit.truncated".

    Args:
        env: with autoreset_mode="SAME_STEP", such as `rlenvs.benchmark("MT10").vector(64, one_hot=True, ...)`. It must
            not be stepped by itself from now on.
        monitor: keep returns and lengths, as SB3's Monitor does.

    Raises:
        TypeError: another environment. ParameterError: another autoreset mode, vector rewards, or copy=False.
    """

    def __init__(self, env: gymnasium.vector.VectorEnv, monitor: bool = True) -> None:
        spec = getattr(env, "spec", None)
        self.env: Any = env
        self.name = getattr(env, "name", type(env).__name__ if spec is None else spec.id)
        check_vector(env, self.name, bool(getattr(env, "vector_reward", False)))
        if not getattr(env, "copy", True):
            raise ParameterError(
                f"{self.name}: copy=False overwrites observations that learners still hold; make the environment with "
                "copy=True"
            )
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space, monitor)
        self.metadata = {**env.metadata}

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed world i with seed + i at the next reset; returns the seed of every slot."""
        return super().seed(seed_of(seed))

    def set_options(self, options: list[dict] | dict | None = None) -> None:
        """Options of the next reset of the vector environment: one dictionary for all slots.

        Raises:
            ParameterError: something else.
        """
        if options is not None and not isinstance(options, dict):
            raise ParameterError(
                f"{self.name}: options are one dictionary for all worlds, not a list; parameters of "
                "single worlds are arrays in it"
            )
        super().set_options(options)

    def reset(self) -> Any:
        """Start episodes in all worlds."""
        seeded = any(seed is not None for seed in self._seeds)
        observations, _ = self.env.reset(seed=self._seeds if seeded else None, options=self._options[0])
        self._begun()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step, (num_envs, ...)."""
        self._actions = actions

    def step_wait(self) -> Stepped:
        """Advance all worlds; finished ones start their next episode immediately. Errors are those of `env.step`.

        Returns:
            observations, rewards (float32), dones (bool) and infos, one slot or entry per world.
        """
        return self._vector_step(self.env, self._actions)

    def close(self) -> None:
        """Close the vector environment."""
        self.env.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """One image per world, uint8 (height, width, 3); Nones where render_mode is not "rgb_array"."""
        return list(self.env.render()) if self.render_mode == "rgb_array" else [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the worlds, see `get_attr` of the vector environment."""
        found = self.env.get_attr(attr_name)
        return [found[i] for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set a physical parameter of all worlds.

        Raises:
            ParameterError: `indices` of some worlds alone. Errors of `set_attr` of the vector environment.
        """
        self._check_all(indices)
        self.env.set_attr(attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method on all worlds.

        Raises:
            ParameterError: `indices` of some worlds alone. Errors of `call` of the vector environment.
        """
        self._check_all(indices)
        return list(self.env.call(method_name, *method_args, **method_kwargs))

    def _check_all(self, indices: Any) -> None:
        if list(self._get_indices(indices)) != list(range(self.num_envs)):
            raise ParameterError(
                f"{self.name}: a vector environment has this for all of its {self.num_envs} worlds "
                f"alone; leave out indices={indices!r}"
            )
