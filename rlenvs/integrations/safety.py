"""Safety-Gymnasium and OmniSafe APIs: `step` returns the cost next to the reward instead of in info.

Safety-Gymnasium's `step` returns six things, (observation, reward, cost, terminated, truncated, info), where
Gymnasium's returns five. `SixTuple` makes six of five for any environment that has costs. OmniSafe asks for tensors and
for a class in its own register: `omnisafe_env` makes it. OmniSafe 0.5 imports Safety-Gymnasium, which imports parts of
gymnasium that ended with 1.0, and this package needs a newer one. So install OmniSafe with `pip install --no-deps`, and
its other requirements as usual, without Safety-Gymnasium; `omnisafe_env` puts a stand-in in its place.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make, make_vec
from rlenvs.core.declare.errors import ParameterError

__all__ = ["OmniSafeEnv", "SixTuple", "omnisafe_env"]


class SixTuple:
    """An environment whose `step` also returns the cost; everything else is passed to the environment.

    It is no gymnasium.Env any more: put it around everything else.

    Args:
        env: a gymnasium.Env, a vector environment or a PettingZoo parallel environment (whose form Safety-Gymnasium's
            multi-agent tasks have), of this package or not.
        cost: the entry of info that is the cost.

    Raises:
        ParameterError: an environment of this package that has no costs.
    """

    def __init__(self, env: Any, cost: str = "cost") -> None:
        batch = getattr(getattr(env, "unwrapped", env), "batch", None)
        if isinstance(batch, KernelBatch) and not batch.world.costs:
            raise ParameterError(f"SixTuple: {batch.world.name} has no costs")
        self.env = env
        self.cost = cost

    def reset(self, **keywords: Any) -> Any:
        """As for the environment: (observation, info)."""
        return self.env.reset(**keywords)

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Advance by one step.

        Returns:
            observation, reward, cost, terminated, truncated, info. The cost is a float, in vector form float64
            (num_envs,), of the last step of an episode where it ends, and in parallel form a float by agent.

        Raises:
            ParameterError: there is no such entry in info.
        """
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, self._cost_of(info), terminated, truncated, info

    def _cost_of(self, info: dict[str, Any]) -> Any:
        if hasattr(self.env, "possible_agents"):
            return {agent: float(self._entry(own)) for agent, own in info.items()}
        cost = self._entry(info)
        if not isinstance(self.env, gymnasium.vector.VectorEnv):
            return float(cost)
        if "final_info" in info:  # SAME_STEP: info is the next episode's already
            cost = np.where(info["_final_info"], self._entry(info["final_info"]), cost)
        return np.array(cost, np.float64)

    def _entry(self, info: dict[str, Any]) -> Any:
        if self.cost not in info:
            raise ParameterError(f"SixTuple: cost={self.cost!r} is not among the infos {sorted(info)}")
        return info[self.cost]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)


class OmniSafeEnv:
    """OmniSafe's `CMDP` for environments of this package. `omnisafe_env` registers it.

    One environment is handed over without autoreset, which OmniSafe adds itself; several are one vector environment
    with autoreset in the same step, whose last observations are in info["final_observation"]. The time limit is the
    world's own.

    Args:
        env_id: one of `support_envs()`.
        num_envs: at least 1.
        device: where the tensors lie.
        wrappers: wrappers, or their recipes, to put on the environment.
        keywords: of `rlenvs.make`.

    Raises:
        ParameterError: an id that was not registered; observations that are no vector, or actions that are choices.
    """

    need_auto_reset_wrapper: bool = False
    need_time_limit_wrapper: bool = False
    need_evaluation: bool = True
    _support_envs: ClassVar[list[str]] = []

    def __init__(
        self, env_id: str, num_envs: int = 1, device: Any = "cpu", wrappers: Sequence[Any] = (), **keywords: Any
    ) -> None:
        if env_id not in self._support_envs:
            raise ParameterError(f"{env_id!r} is not among the registered environments, {self._support_envs}")
        self._num_envs = num_envs
        self._device = device
        self.need_auto_reset_wrapper = num_envs == 1
        if num_envs == 1:
            env: Any = make(env_id, **keywords)
        else:
            env = make_vec(env_id, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **keywords)
        if wrappers:
            from rlenvs.wrappers.forms import wrap

            env = wrap(env, *wrappers)
        self._env = SixTuple(env)
        self._observation_space = getattr(env, "single_observation_space", env.observation_space)
        self._action_space = getattr(env, "single_action_space", env.action_space)
        for space in (self._observation_space, self._action_space):
            if not isinstance(space, spaces.Box) or len(space.shape) != 1:
                raise ParameterError(f"{env_id}: OmniSafe requires vectors of numbers, not {space}")
        self._metadata = env.metadata

    @property
    def max_episode_steps(self) -> int:
        """The world's time limit, in steps."""
        return int(self._env.unwrapped.batch.setup.horizon)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start episodes; returns the observation as a float32 tensor, and info."""
        observation, info = self._env.reset(seed=seed, options=options)
        return self._tensor(observation), info

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, Any, dict[str, Any]]:
        """Advance by one step with a tensor of actions.

        Returns:
            observation, reward, cost, terminated, truncated as float32 tensors, and info, with "final_observation"
            (num_envs, ...) and "_final_observation" where episodes of several environments have ended.
        """
        *five, info = self._env.step(action.detach().cpu().numpy())
        if "final_obs" in info:
            last = np.zeros((self._num_envs, *self._observation_space.shape), np.float32)
            ended = info["_final_obs"]
            last[ended] = np.stack(info["final_obs"][ended])
            info = {**info, "final_observation": self._tensor(last), "_final_observation": ended}
        observation, reward, cost, terminated, truncated = map(self._tensor, five)
        return observation, reward, cost, terminated, truncated, info

    def _tensor(self, array: Any) -> Any:
        import torch

        return torch.as_tensor(array, dtype=torch.float32, device=self._device)

    def set_seed(self, seed: int) -> None:
        """Seed the environments; world i gets seed + i."""
        self.reset(seed=seed)

    def render(self) -> Any:
        """An image, or one per environment."""
        return self._env.render()

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def omnisafe_env(ids: Sequence[str]) -> type:
    """Register environments of this package with OmniSafe, so that `omnisafe.Agent("PPOLag", id)` finds them.

    Call it before `import omnisafe`; further calls add ids. OmniSafe's own tasks, which are
    Safety-Gymnasium's, are not to be had where that library cannot be imported.

    Args:
        ids: of environments with costs and continuous actions.

    Returns:
        the registered class, an `OmniSafeEnv` and `omnisafe.envs.core.CMDP`.

    Raises:
        ImportError: OmniSafe is not installed.
    """
    try:
        core = _core_of_omnisafe()
    except ImportError as error:
        raise ImportError(
            f"OmniSafe is not installed, or cannot be imported ({error}). Install it next to this package with `pip "
            f"install --no-deps omnisafe`, because it requires an older gymnasium, and its other requirements as usual"
        ) from error

    earlier = getattr(core, "RlenvsEnv", None)
    known = earlier.support_envs() if earlier else []

    class RlenvsEnv(OmniSafeEnv, core.CMDP):  # type: ignore[name-defined]
        """Environments of rlenvs."""

        _support_envs: ClassVar[list[str]] = list(dict.fromkeys([*known, *ids]))

    if earlier:  # OmniSafe refuses another class of this name
        core.env_unregister(earlier)
    core.RlenvsEnv = RlenvsEnv
    return core.env_register(RlenvsEnv)


class _StandIn(types.ModuleType):
    """What OmniSafe imports as Safety-Gymnasium, and uses for Safety-Gymnasium's own tasks only."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"{self.__name__} cannot be imported with gymnasium {gymnasium.__version__}; it needs 0.28.1")


def _core_of_omnisafe() -> Any:
    """OmniSafe's module, with a stand-in where Safety-Gymnasium is missing, or made for another gymnasium."""
    try:
        importlib.import_module("safety_gymnasium")
        return importlib.import_module("omnisafe.envs.core")
    except ImportError:
        sys.modules["safety_gymnasium"] = _StandIn("safety_gymnasium")
    try:
        return importlib.import_module("omnisafe.envs.core")
    except ImportError:
        del sys.modules["safety_gymnasium"]
        raise
