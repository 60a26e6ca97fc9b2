"""Environments whose observations or rewards running statistics scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.agents.hyperparameters.settings import Settings
from rlenvs.agents.network import form_of

__all__ = ["normalized"]


def normalized(envs: Any, settings: Settings, gamma: float) -> Any:
    """The environments with running means and deviations of what the settings name."""
    from stable_baselines3.common.vec_env import VecNormalize

    parts = getattr(envs.observation_space, "spaces", None)
    row_space = getattr(envs.observation_space, "row_space", envs.observation_space)
    scaled = settings.normalize.get("observations", False) and not isinstance(form_of(row_space), int)
    envs = VecNormalize(
        envs,
        norm_obs_keys=parts and [name for name, part in parts.items() if part.dtype.kind in "fi"],
        norm_obs=scaled,
        norm_reward=settings.normalize.get("rewards", False),
        gamma=gamma,
    )
    if scaled:
        envs.observation_space = _of_floats(envs.observation_space)
    return envs


def _of_floats(space: Any) -> Any:
    """The space of scaled observations. VecNormalize leaves whole numbers their type, and the buffer of rollouts, which
    takes it from there, would cut off what is behind the point."""
    from gymnasium.spaces import Box, Dict

    if isinstance(space, Dict):  # images in it stay what they are
        return Dict({k: _of_floats(part) if _kind(part) == "i" else part for k, part in space.spaces.items()})
    if hasattr(space, "frames"):
        return type(space)(_of_floats(space.row_space), space.frames)
    return Box(-np.inf, np.inf, space.shape, np.float32) if _kind(space) in "iu" else space


def _kind(space: Any) -> str:
    return np.dtype(space.dtype).kind
