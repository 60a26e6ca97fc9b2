"""Rewards that help in the first part of a training, and are gone later.

[training]              # in the settings
reward = "shaped"
[anneal]
share = 0.5             # of the training, by which its weights have become those of evaluation
after = 0.2             # share until which they stay as they are (0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["annealed"]


def annealed(algorithm: Any, batch: Any, goal: np.ndarray, share: float, after: float = 0.0) -> Any:
    """The class of an algorithm before whose rollouts the weights of the reward terms go on towards others, linearly.

    Args:
        algorithm: a class of Stable-Baselines3 or sb3-contrib.
        batch: the worlds of the training.
        goal: the weights that hold from `share` of the training on.
        after: the share of the training until which the weights stay as they are, smaller than `share`.
    """
    start = batch.setup.weights.copy()

    def collect(self: Any, *args: Any, **kwargs: Any) -> Any:
        done = 1.0 - self._current_progress_remaining
        gone = min(max(done - after, 0.0) / (share - after), 1.0) if share else 1.0
        batch.param_rows["weights"] = start + gone * (goal - start)
        return algorithm.collect_rollouts(self, *args, **kwargs)

    return type(algorithm.__name__, (algorithm,), {"collect_rollouts": collect})
