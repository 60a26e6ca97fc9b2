"""Training with Stable-Baselines3's PPO on the native vector form."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rlenvs.core.errors import MissingExtraError, ParameterError
from rlenvs.core.registry import entry

if TYPE_CHECKING:
    from stable_baselines3 import PPO

# found on QuadHover: half a million steps in some 20 s of processor time
SETTINGS: dict[str, Any] = {"n_steps": 64, "batch_size": 1024, "n_epochs": 10, "gamma": 0.98, "gae_lambda": 0.95}
LEARNING_RATE = 1e-3  # at the start; falls linearly to 0
LOG_STD = -0.5


@dataclass(frozen=True)
class Progress:
    """How far a training run is.

    Attributes:
        steps, total: environment steps done and to do.
        seconds: since the start.
        mean_return: mean over the last 100 episodes, played with exploration; NaN before the first one has ended.
    """

    steps: int
    total: int
    seconds: float
    mean_return: float


def train_ppo(
    id: str,
    steps: int,
    *,
    num_envs: int = 64,
    seed: int = 0,
    threads: int = 1,
    settings: dict[str, Any] | None = None,
    progress: Callable[[Progress], Any] | None = None,
    **keywords: Any,
) -> PPO:
    """Train PPO with a network of two layers of 64 units.

    Args:
        id: the environment.
        steps: environment steps, all environments together; rounded up to whole rollouts of num_envs * n_steps.
        num_envs: environments side by side.
        seed: of the environments, the network and the exploration. The same seed on the same machine gives the same
            policy.
        threads: of torch; for networks of this size one is the fastest.
        settings: keywords of `stable_baselines3.PPO` that replace those of SETTINGS.
        progress: called after every rollout.
        keywords: of the environment: parameters, options, level, ...

    Returns:
        The model; `greedy(model)` is the policy that `rlenvs.evaluate` takes.

    Raises:
        MissingExtraError: Stable-Baselines3 is not installed.
        ParameterError: steps is not a positive integer.
        UnknownNameError: an id or keyword that does not exist.
    """
    entry(id)
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ParameterError(f"steps={steps!r} must be a positive integer")
    try:
        from stable_baselines3 import PPO
    except ImportError:
        raise MissingExtraError("Training", "sb3") from None
    from rlenvs.integrations.sb3 import sb3_vec_env

    envs = sb3_vec_env(id, num_envs, **keywords)
    chosen = {
        **SETTINGS,
        "learning_rate": lambda remaining: LEARNING_RATE * remaining,
        "policy_kwargs": _network(envs.action_space),
        **(settings or {}),
    }
    model = PPO("MlpPolicy", envs, seed=seed, device="cpu", **chosen)
    with _torch_threads(threads):
        model.learn(steps, callback=_reporter(steps, progress))
    return model


def greedy(model: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The policy of a Stable-Baselines3 model without exploration, as a function from observations to actions."""
    return lambda observations: model.predict(observations, deterministic=True)[0]


def _network(action_space: Any) -> dict[str, Any]:
    network: dict[str, Any] = {"net_arch": {"pi": [64, 64], "vf": [64, 64]}}
    if hasattr(action_space, "low"):
        network["log_std_init"] = LOG_STD
    return network


def _reporter(total: int, progress: Callable[[Progress], Any] | None) -> Any:
    """A callback of Stable-Baselines3 that reports after every rollout."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Reporter(BaseCallback):
        def _on_training_start(self) -> None:
            self.start = time.perf_counter()

        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            if progress is None:
                return
            returns = [episode["r"] for episode in self.model.ep_info_buffer or ()]
            mean_return = float(np.mean(returns)) if returns else float("nan")
            progress(Progress(self.num_timesteps, total, time.perf_counter() - self.start, mean_return))

    return Reporter()


@contextmanager
def _torch_threads(threads: int) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
