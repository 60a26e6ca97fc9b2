"""RL Baselines3 Zoo on batched environments: `python -m rl_zoo3.train --gym-packages rlenvs.integrations.rl_zoo3 --env
rlenvs/...`

`--gym-packages rlenvs` is enough for the zoo to find the environments; it steps them one by one then. Importing this
module besides makes the zoo put all environments of a run into one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium

from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.core.forms.gym_env import Env
from rlenvs.integrations.sb3 import SB3VecEnv, sb3_vec_env

try:
    from rl_zoo3.exp_manager import ExperimentManager
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
except ImportError as error:
    raise MissingExtraError("RL Baselines3 Zoo on batches", "zoo") from error

__all__ = ["batched"]


def batched(env_fns: Sequence[Callable[[], gymnasium.Env]], **keywords: Any) -> Any:
    """A replacement for the zoo's `DummyVecEnv`: one batch for environments of this package.

    Args:
        env_fns: functions that make one environment each, all of one id with the same keywords.
        keywords: of `DummyVecEnv`, for environments of other packages.

    Returns:
        an `SB3VecEnv`, with the zoo's monitor file where it requires one, or a `DummyVecEnv`.

    Raises:
        ParameterError: wrappers around single environments, which a batch has no place for.
    """
    first = env_fns[0]()
    if not isinstance(first.unwrapped, Env):
        first.close()
        return DummyVecEnv(list(env_fns), **keywords)
    spec, monitor = first.spec, first if isinstance(first, Monitor) else None
    inner = monitor.env if monitor else first
    file = monitor.results_writer.file_handler.name if monitor and monitor.results_writer else None
    first.close()
    assert spec is not None
    if inner is not inner.unwrapped:
        raise ParameterError(
            f"{spec.id}: env_wrapper={type(inner).__name__} wraps single environments; run the zoo with "
            "--gym-packages rlenvs, or use the wrappers of rlenvs.wrappers"
        )
    choices = {name: value for name, value in spec.kwargs.items() if name not in ("world", "vector_reward")}
    venv: SB3VecEnv = sb3_vec_env(spec.id, len(env_fns), monitor=False, **choices)
    return VecMonitor(venv, file)


ExperimentManager.default_vec_env_cls = staticmethod(batched)
