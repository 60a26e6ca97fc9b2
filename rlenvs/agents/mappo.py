"""MAPPO: PPO with a centralized critic (Yu et al., "The Surprising Effectiveness of PPO in Cooperative Multi-Agent
Games", 2022).

All agents share one actor, which sees an agent's own observation. The critic sees that, the world's central state, and
which agent it is: the paper's agent-specific global state. An agent that is exported has the actor alone.

    rlenvs train ParticleSpread-v0 --algorithm MAPPO
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.vec_env import VecEnvWrapper

from rlenvs.agents.models import ppo_class
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.renamed import old_names

__all__ = ["mappo_class"]
if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

VECTOR = 1  # axes of observations that can have a central state behind them


class Central(VecEnvWrapper):
    """Slots that show, behind an agent's own observation, the central state, and 1 at the agent's number.

    At the end of an episode that is the central state in which it ended; where the world has a central state of its
    own, which is gone by then, the one a step before.

    Args:
        venv: an `SB3VecEnv` of a world with several agents, whose observations are one row of numbers; or `Roles`.

    Attributes:
        own_space: of an agent's own observations.

    Raises:
        ParameterError: a world of one agent, or other observations.
    """

    def __init__(self, venv: Any) -> None:
        setup, own = venv.batch.setup, venv.observation_space
        if setup.agents == 1:
            raise ParameterError(f"MAPPO requires several agents; {setup.world.name} has one. Use PPO")
        if not isinstance(own, spaces.Box) or len(own.shape) != VECTOR:
            raise ParameterError(f"MAPPO requires one observation vector per agent, not {own}. Use PPO")
        central = setup.central_space
        low = np.concatenate([own.low, central.low.ravel(), np.zeros(setup.agents)])
        high = np.concatenate([own.high, central.high.ravel(), np.ones(setup.agents)])
        super().__init__(venv, spaces.Box(low.astype(np.float32), high.astype(np.float32)))
        self.own_space = own
        self._numbers = np.eye(setup.agents, dtype=np.float32)

    def reset(self) -> np.ndarray:
        """Start episodes in all worlds."""
        return self._all(self.venv.reset(), self._batch.central())

    @property
    def _batch(self) -> Any:
        return self.venv.batch  # type: ignore[attr-defined]

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step."""
        self._before = self._batch.central() if self._batch.world.central else None
        self.venv.step_async(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Advance all worlds, as `SB3VecEnv.step_wait` does."""
        observations, rewards, dones, infos = self.venv.step_wait()
        batch = self._batch
        central: np.ndarray = batch.central()
        last: Any = self._before
        if dones.any():
            if last is None:
                last = batch.setup.central_of(batch.final_observations)
            restarted = batch.at_start.reshape(-1, *[1] * (central.ndim - 1))
            last = np.where(restarted, last, central)
        for slot in np.flatnonzero(dones):
            if "terminal_observation" in infos[slot]:
                world, agent = divmod(slot, batch.agents)
                parts = infos[slot]["terminal_observation"], last[world].ravel(), self._numbers[agent]
                infos[slot]["terminal_observation"] = np.concatenate(parts, dtype=np.float32)
        return self._all(observations, central), rewards, dones, infos

    def _all(self, own: Any, central: np.ndarray) -> np.ndarray:
        worlds, agents = len(central), len(self._numbers)
        rows = np.repeat(central.reshape(worlds, -1), agents, axis=0)
        return np.concatenate([own, rows, np.tile(self._numbers, (worlds, 1))], axis=1, dtype=np.float32)


class OwnAndAll(MlpExtractor):
    """Layers of an actor that sees the first numbers alone, and of a critic that sees all.

    Args:
        own: how many the actor sees.
        size: how many there are.
        args: as `MlpExtractor` has them behind the size.
    """

    def __init__(self, own: int, size: int, *args: Any) -> None:
        super().__init__(size, *args)
        actor = MlpExtractor(own, *args)
        self.own, self.policy_net, self.latent_dim_pi = own, actor.policy_net, actor.latent_dim_pi

    def forward_actor(self, features: Any) -> Any:
        """What the actor makes of its own observation."""
        return self.policy_net(features[:, : self.own])


def with_central_critic(policy: Any, own: spaces.Box) -> Any:
    """The class of an actor-critic policy for `Central` environments.

    Args:
        policy: the class for others.
        own: the space of an agent's own observations.
    """

    class CentralPolicy(policy):
        own_space = own

        def _build_mlp_extractor(self) -> None:
            sizes = own.shape[0], self.features_dim
            self.mlp_extractor = OwnAndAll(*sizes, self.net_arch, self.activation_fn, self.device)

        def predict(self, observation: np.ndarray, *args: Any, **kwargs: Any) -> Any:
            """As always; an agent's own observation is enough."""
            missing = self.observation_space.shape[0] - observation.shape[-1]
            padded = np.pad(observation, [*[(0, 0)] * (observation.ndim - 1), (0, missing)])
            return super().predict(padded, *args, **kwargs)

    return CentralPolicy


def mappo_class(masked: bool) -> Any:
    """The class of MAPPO models, with the interface and hyperparameters of PPO.

    Args:
        masked: whether they are MaskablePPO, for worlds where not every choice is always allowed.

    Raises:
        MissingExtraError: sb3-contrib is not installed.
    """
    return type("MAPPO", (ppo_class(masked),), {"__doc__": "PPO with `with_central_critic`.", "__module__": __name__})
