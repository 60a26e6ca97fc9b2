"""The hyperparameters of settings as keywords of an algorithm: names that it knows, numbers in their ranges."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import Any

from rlenvs.agents.hyperparameters.settings import Settings
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened

# keywords of the algorithms that are not hyper-parameters: they follow from other settings, or are objects
RESERVED = (
    *("self", "policy", "env", "seed", "device", "verbose", "tensorboard_log", "policy_kwargs", "monitor_wrapper"),
    *("replay_buffer_class", "replay_buffer_kwargs", "rollout_buffer_class", "rollout_buffer_kwargs"),
    *("optimize_memory_usage", "_init_setup_model"),
)
SCHEDULES = ("learning_rate", "clip_range", "clip_range_vf")
# outside of these the algorithms break down after the first rollout, or run and learn nothing that they name
FROM_ONE = ("n_epochs", "batch_size", "buffer_size", "train_freq", "target_update_interval")
FROM_ZERO_TO_ONE = (
    *("gamma", "gae_lambda", "tau"),
    *("exploration_fraction", "exploration_initial_eps", "exploration_final_eps"),
)
FROM_ZERO = ("max_grad_norm", "learning_starts", "clip_range", "clip_range_vf", "action_noise", "target_policy_noise")
RANGES = {
    **dict.fromkeys(FROM_ONE, (1, math.inf)),
    **dict.fromkeys(FROM_ZERO_TO_ONE, (0, 1)),
    **dict.fromkeys(FROM_ZERO, (0, math.inf)),
}


def keywords_of(algorithm: Any, settings: Settings) -> dict[str, Any]:
    """The keywords of the algorithm, with schedules in place of texts.

    Raises:
        UnknownNameError: the algorithm has no hyperparameter of such a name.
        ParameterError: a value is not of its kind, or out of its range.
    """
    known = {
        name: parameter.default
        for name, parameter in inspect.signature(algorithm.__init__).parameters.items()
        if name not in RESERVED
    }
    chosen = {}
    for name, value in settings.hyperparameters.items():
        if name not in known:
            raise UnknownNameError(f"{settings.algorithm} has no hyperparameter {name!r}. {nearest(name, known)}")
        if name in SCHEDULES and isinstance(value, str):
            value = Falling(_number_of(name, value))
        elif name == "train_freq" and isinstance(value, list):
            value = _frequency_of(value)
        elif not isinstance(value, str) or name != "ent_coef":  # which may be "auto"
            _check_kind(name, value, known[name])
            _check_range(name, value)
        chosen[name] = value
    return chosen


def _check_kind(name: str, value: Any, usual: Any) -> None:
    """ParameterError where the usual value is a number, or a whole number, and this one is none."""
    if name == "action_noise":  # None by default; here the standard deviation of normal noise
        usual = 0.1
    if isinstance(usual, bool) or not isinstance(usual, (int, float)):
        return
    whole = isinstance(usual, int)
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not fits or (whole and not isinstance(value, int)):
        kind = "a whole number" if whole else "a finite number"
        raise ParameterError(f"{name}={shortened(value)} must be {kind}, such as {usual!r}")


def _check_range(name: str, value: Any) -> None:
    low, high = RANGES.get(name, (-math.inf, math.inf))
    if isinstance(value, (int, float)) and not low <= value <= high:
        allowed = f"at least {low}" if high == math.inf else f"from {low} to {high}"
        raise ParameterError(f"{name}={shortened(value)} must be {allowed}")


def _frequency_of(value: list[Any]) -> tuple[int, str]:
    """How often to train, as so many steps or episodes."""
    match value:
        case [int(count), "step" | "episode" as unit] if count >= 1 and not isinstance(count, bool):
            return count, unit
    raise ParameterError(
        f"train_freq={shortened(value)} must be a whole number of at least 1, "
        'or such a number and "step" or "episode", such as [1, "episode"]'
    )


def _number_of(name: str, text: str) -> float:
    kind, _, number = text.partition(" ")
    try:
        if kind == "linear":
            return float(number)
    except ValueError:
        pass
    raise ParameterError(f'{name}={text!r} must be a number, or "linear" and a number, such as "linear 1e-3"')


@dataclass(frozen=True)
class Falling:
    """A schedule that falls linearly to 0."""

    start: float

    def __call__(self, remaining: float) -> float:
        """The value where this share of the training, from 1 to 0, remains."""
        return self.start * remaining
