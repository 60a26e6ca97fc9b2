"""Evaluation of policies that decide less often than the environment steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.agents.evaluate import Policy, check_policy, episode_seeds, evaluate
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.inputs import positive
from rlenvs.wrappers.action_repeat import ActionRepeat
from rlenvs.wrappers.wrapper import Wrapper

__all__ = ["DecisionFrequencies", "evaluate_frequencies"]


@dataclass(frozen=True)
class DecisionFrequencies:
    """One episode per seed at each of P decision periods.

    Attributes:
        periods: steps of the environment per decision, int64 (P,), ascending.
        seeds: int64 (S,), the same at every period.
        returns: float64 (P, S).
    """

    periods: np.ndarray
    seeds: np.ndarray
    returns: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """Mean return at each period, (P,)."""
        return self.returns.mean(axis=1)

    def score(self, reference: float | None = None, base: float = 0.0) -> float:
        """The frequency-averaged score: the area under the curve of (mean return - base) / (reference - base) over the
        decision frequency 1 / period, divided by the width of the curve. For equally spaced frequencies, or a single
        one, it is the mean of the curve.

        Args:
            reference: the return that counts as 1; None: the mean return at the shortest period.
            base: the return that counts as 0, such as the random policy's where returns are negative.

        Raises:
            ParameterError: reference and base are equal.
        """
        top = float(self.means[0]) if reference is None else float(reference)
        if not np.isfinite([top, base]).all() or top == base:
            raise ParameterError(f"reference={top:g} and base={base:g} must be finite and different to define a scale")
        curve, frequency = (self.means - base) / (top - base), 1.0 / self.periods
        gaps = -np.diff(frequency)
        if not len(gaps) or np.allclose(gaps, gaps[0]):
            return float(curve.mean())
        return float((gaps * (curve[1:] + curve[:-1]) / 2.0).sum() / gaps.sum())

    def __str__(self) -> str:
        told = ", ".join(f"{period}: {mean:.4g}" for period, mean in zip(self.periods, self.means, strict=True))
        return f"mean return by steps per decision {told} ({len(self.seeds)} seeds)"


def evaluate_frequencies(
    id: str,
    policy: Policy,
    periods: Sequence[int] = (1, 2, 4, 8),
    n_episodes: int = 10,
    *,
    seeds: int | Sequence[int] | None = None,
    wrappers: Sequence[Wrapper] = (),
    **keywords: Any,
) -> DecisionFrequencies:
    """Evaluate a policy at several decision frequencies: one episode per seed with a decision in every step, every
    second step, and so on, and repeated actions in between (`ActionRepeat`). The protocol of "Overcoming Slow Decision
    Frequencies in Continuous Control", arXiv 2410.08979, whose score is `DecisionFrequencies.score`; the paper does not
    state its grid of periods.

    Args:
        id: the environment. policy: as for `evaluate`.
        periods: steps of the environment per decision, whole numbers of at least 1.
        n_episodes: episodes at each period, on the seeds 0 ... n_episodes - 1.
        seeds: the seeds themselves, or their number; every period is played with the same ones.
        wrappers: between the environment and the repeated actions.
        keywords: of `rlenvs.make_vec`.

    Raises:
        ParameterError: no periods, one below 1 or twice the same, no seeds.
    """
    chosen = episode_seeds(n_episodes, seeds)
    check_policy(world_of(id), policy)
    steps = sorted(positive("periods", period) for period in periods)
    if not steps or len(set(steps)) < len(steps):
        raise ParameterError(f"periods={list(periods)!r} must be different positive integers")
    found = [evaluate(id, policy, seeds=chosen, wrappers=[*wrappers, ActionRepeat(n)], **keywords) for n in steps]
    return DecisionFrequencies(np.array(steps), np.array(chosen), np.array([each.returns for each in found]))
