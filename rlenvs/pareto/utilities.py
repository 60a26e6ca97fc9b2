"""Utilities of policies: the utility of the expected return (SER), or the expected utility of the return (ESR)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.pareto.policies import Policy, play_policy

__all__ = ["Utility", "utility_of"]


class Utility(NamedTuple):
    """The utility of a policy.

    Attributes:
        ser: the utility of the mean return, for who plays many times and counts the total.
        esr: the mean utility of a return, for who lives with every single one.
        esr_half_width: of its 95 % confidence interval.
        mean: (terms,) mean return.
    """

    ser: float
    esr: float
    esr_half_width: float
    mean: np.ndarray


def utility_of(
    env: Any,
    policy: Policy,
    utility: Callable[[np.ndarray], float],
    gamma: float = 1.0,
    episodes: int = 1000,
    seed: int = 0,
) -> Utility:
    """Estimate SER and ESR of a policy by playing it in the world.

        front = rlenvs.pareto.coverage_set("Fishwood-v0")
        rlenvs.pareto.utility_of("Fishwood-v0", front.policies[0], lambda v: min(v[0], v[1] // 2))

    For a linear utility the two are the same; for others they differ (Roijers et al., "A survey of multi-objective
    sequential decision-making", JAIR 2013; Hayes et al., JAAMAS 2022).

    Args:
        env, policy, gamma, episodes, seed: as for `play_policy`.
        utility: from a vector of returns to a number.

    Raises:
        ParameterError: as `play_policy`, or the utility gives something other than a finite number.
    """
    played = play_policy(env, policy, gamma, episodes, seed)
    each = np.array([_number(utility, vector) for vector in played.returns])
    spread = float(each.std(ddof=1)) if len(each) > 1 else 0.0
    ser = _number(utility, played.mean)
    return Utility(ser, float(each.mean()), 1.96 * spread / len(each) ** 0.5, played.mean)


def _number(utility: Callable[[np.ndarray], float], vector: np.ndarray) -> float:
    try:
        found = float(utility(vector))
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise ParameterError(f"the utility of {vector.tolist()} must be a finite number")
    return found
