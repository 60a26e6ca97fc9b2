"""MO-Gymnasium's wrappers under their names, for environments of this package with any API.

    env = LinearReward(rlenvs.make("mo-DeepSeaTreasure-v0"), weight=[0.7, 0.3])

They are wrappers of `rlenvs.wrappers` with other settings, and need nothing of MO-Gymnasium. `env.wrappers[-1]` has
what can be changed or asked: `set_weights` of linear rewards, `frozen` of normalized ones, `return_queue` of sums.

Where they differ from MO-Gymnasium 1.3.2's, on purpose: the vector form's discounted returns begin anew with each
episode (there they add up from episode to episode); the maximum of the last two observations is that of the last two
that were made, also where an episode ends early (there older ones are left over); weights that are all 0, not finite,
or more or fewer than objectives are refused; a reset with a seed forgets running statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.action_repeat import ActionRepeat
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.normalization import ClipRewards, NormalizeRewards
from rlenvs.wrappers.objectives import LinearScalarization
from rlenvs.wrappers.statistics import EpisodeStatistics

__all__ = [
    "LinearReward",
    "MOClipReward",
    "MOMaxAndSkipObservation",
    "MONormalizeReward",
    "MORecordEpisodeStatistics",
]

PRIOR = 1e-4  # samples of unit variance with which Gymnasium's running statistics begin


@dataclass
class PublishedLinear(LinearScalarization):
    """`LinearScalarization` that says what it weighed, and how.

    Attributes:
        weights: as there; None for 1 each.

    Info: `vector_reward`, `reward_weights`.
    """

    weights: Any = None

    def prepare(self) -> None:
        """Check the weights."""
        if self.weights is None:
            self._find_vector()
            self.weights = [1.0] * self.terms
        super().prepare()

    def extra_info(self) -> dict[str, Any]:
        """The vector, and its weights."""
        weights = np.broadcast_to(self.slot, (self.count, self.terms))
        vector = self._vector().astype(np.float32)
        return {**super().extra_info(), "vector_reward": vector, "reward_weights": weights}


def LinearReward(env: Any, weight: Sequence[float] | np.ndarray | None = None) -> Any:  # noqa: N802
    """Linear scalarization: the reward is the weighted sum of the vector.

    Args:
        env: in any form.
        weight: one per objective; None for 1 each. `env.wrappers[-1].set_weights(weight)` changes it.
    """
    return wrap(env, PublishedLinear(None if weight is None else np.asarray(weight).tolist()))


def MONormalizeReward(env: Any, idx: int, gamma: float = 0.99, epsilon: float = 1e-8) -> Any:  # noqa: N802
    """Normalize one objective by the standard deviation of its discounted returns; in vector environments over all
    worlds.

    Args:
        env: in any form.
        idx: number of the objective, or its name.
        gamma: discount of the returns.
        epsilon: added to the variance.
    """
    settings: Any = {"only": [idx], "prior": PRIOR, "carry": True}
    return wrap(env, NormalizeRewards(gamma, epsilon, **settings))


def MOClipReward(env: Any, idx: int, min_r: float | None, max_r: float | None) -> Any:  # noqa: N802
    """Clip one objective to two bounds.

    Args:
        env: in any form.
        idx: number of the objective, or its name.
        min_r, max_r: the bounds; None for none.
    """
    low, high = ({} if bound is None else {idx: bound} for bound in (min_r, max_r))
    settings: Any = {"low": low, "high": high}
    return wrap(env, ClipRewards(**settings))


def MORecordEpisodeStatistics(  # noqa: N802
    env: Any, gamma: float = 1.0, buffer_length: int = 100, stats_key: str = "episode"
) -> Any:
    """Record the sum of an episode's reward vectors, also discounted, with its length and duration, in the info of its
    last step.

    Args:
        env: in any form.
        gamma: discount.
        buffer_length: how many returns and lengths are kept in `env.wrappers[-1].return_queue` and `length_queue`.
        stats_key: of info.
    """
    return wrap(env, EpisodeStatistics(gamma, buffer_length, stats_key, at_end=True, clock=True))


def MOMaxAndSkipObservation(env: Any, skip: int = 4) -> Any:  # noqa: N802
    """Repeat actions, sum the reward vectors, and take the maximum of the last two observations.

    Args:
        env: in any form, with observations that are arrays.
        skip: steps per action, 2 or more.
    """
    if isinstance(skip, bool) or not isinstance(skip, (int, np.integer)) or skip < 2:
        raise ParameterError(f"skip={skip!r} must be a whole number, at least 2")
    return wrap(env, ActionRepeat(int(skip), show="max"))
