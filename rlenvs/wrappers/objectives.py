"""Several objectives: what makes one number of a vector of rewards.

These wrappers, and those of `normalization` and `weights_shown`, work on the reward terms of a world of this package,
unweighted, under ids with a scalar reward and under `mo-` ids alike; of other packages' environments on a vector of
rewards. A wrapper that scalarizes makes the reward a number; `info["reward_vector"]` stays what the environment said.
Above `NormalizeRewards` the vector is the normalized one. Terms are named as in info (`reward_<name>`), or counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.masked import add_rows, clear
from rlenvs.wrappers.reward_vectors import OfVector, PerTerm, weigh


@dataclass
class LinearScalarization(OfVector):
    """The reward is a weighted sum of the reward terms.

    The keyword `weights` of `make` does the same for worlds of this package; this wrapper also takes vectors of other
    packages and normalized ones.

    Attributes:
        weights: {term: weight}, terms not named weigh 0; or one number per term. In the parallel form also
            {agent: such weights}, with weights of its own for every agent.

    Raises:
        ParameterError: no vector of rewards, an unknown term or agent, the wrong number of weights, one that is not
            finite, weights that are all 0.
    """

    weights: PerTerm | Mapping[str, PerTerm]

    def prepare(self) -> None:
        """Check the weights."""
        self._find_vector()
        self.slot = self._rows()
        self.allocate("reward")

    def set_weights(self, weights: PerTerm | Mapping[str, PerTerm]) -> None:
        """Change the weights from the next step. ParameterError if they are invalid; the old weights are then kept."""
        before = self.weights
        self.weights = weights
        try:
            self.slot = self._rows()
        except ParameterError:
            self.weights = before
            raise
        self.unbind()

    def _rows(self) -> np.ndarray:
        """The weights, (slots or 1, terms)."""
        given: Any = self.weights
        if isinstance(given, Mapping) and given and not any(np.isscalar(own) for own in given.values()):
            agents = self._agents()
            if set(given) != set(agents):
                raise self.setting_error(
                    "weights",
                    f"must have weights for each of {agents}"
                    if agents
                    else "names agents, which only parallel environments have",
                )
            rows = np.array([self._array(given[agent], "weights", 0.0) for agent in agents])
        else:
            rows = self._per_term("weights", 0.0)[None]
        if not rows.any(axis=1).all():
            raise self.setting_error("weights", "are all 0, so nothing would be rewarded")
        return rows

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Weigh."""
        yield weigh, self._vector(), self.slot, slots, self.reward

    def entries(self) -> dict[str, Any]:
        """The vector."""
        return self._untouched()


# --- utilities of the return ------------------------------------------------------------------------------------------


class _OfReturn(OfVector):
    """The reward is what the step adds to the utility of the episode's sum of vectors: u(G_{t+1}) - u(G_t). So the
    rewards of an episode, undiscounted, add up to u(G_T) - u(0)."""

    def _keep_return(self) -> None:
        self.allocate("accrued", (self.terms,))
        self.allocate("worth")
        self.allocate("reward")
        self.utilities = np.zeros(self.count)

    def valuing(self, returns: np.ndarray, out: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Compiled loops that make utilities (slots,) of sums (slots, terms)."""
        raise NotImplementedError

    def telling(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Compiled loops that make what info has of the return, for all slots."""
        raise NotImplementedError

    def utility(self, returns: np.ndarray) -> np.ndarray:
        """Utilities (slots,) of sums (slots, terms)."""
        out = np.empty(len(returns))
        for loop, *arguments in self.valuing(returns, out):
            loop(*arguments)
        return out

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing was paid."""
        clear(self.accrued, slots)
        self.worth[slots] = self.utility(np.zeros((1, self.terms)))
        self.run_all("tell", self.telling, slots)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Pay what the utility has grown by."""
        yield add_rows, self.accrued, self._vector(), slots
        yield from self.valuing(self.accrued, self.utilities)
        yield grow, self.utilities, slots, self.reward, self.worth
        yield from self.telling(slots)

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put the slots of a world back, and what info has of them."""
        super().set_state(state, world)
        self.run_all("tell", self.telling, np.ones(self.count, np.bool_))


def chebyshev(vectors: Any, weights: Any, reference: Any, rho: float = 0.0) -> np.ndarray:
    """The (augmented) weighted Chebyshev distance (...) of vectors (..., terms) from a reference point; less is better.

    max_k w_k (z_k - v_k) + rho sum_k w_k (z_k - v_k). Where the reference is utopian, at least as good as every vector
    in each term, this is the metric that Van Moffaert, Drugan and Nowe use to choose among Q vectors ("Scalarized
    Multi-Objective Reinforcement Learning: Novel Design Techniques", ADPRL 2013); the second part (Steuer and Choo,
    Mathematical Programming 1983) excludes points that are only weakly Pareto optimal. Beyond the reference the
    signed difference still rewards what is better (achievement function of Wierzbicki, 1980).
    """
    arrays = [np.asarray(given, np.float64) for given in (vectors, weights, reference)]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    v, w, z = (np.array(np.broadcast_to(array, shape)).reshape(-1, shape[-1]) for array in arrays)
    out = np.empty(shape[:-1])
    measure(v, w, z, rho, out.reshape(-1))
    return out


@compiled(nogil=True)
def measure(vectors: np.ndarray, weights: np.ndarray, reference: np.ndarray, rho: float, out: np.ndarray) -> None:
    """`chebyshev` of vectors (slots, terms), with weights and references (slots or 1, terms)."""
    for i in range(out.size):
        w, z = min(i, weights.shape[0] - 1), min(i, reference.shape[0] - 1)
        most, total = -np.inf, 0.0
        for j in range(vectors.shape[1]):
            gap = weights[w, j] * (reference[z, j] - vectors[i, j])
            most = max(most, gap)
            total += gap
        out[i] = most + rho * total


@compiled(nogil=True)
def grow(utilities: np.ndarray, slots: np.ndarray, rewards: np.ndarray, worth: np.ndarray) -> None:
    """Rewards: by how much utilities are more than what was worth; and what is worth now."""
    for i in range(slots.size):
        if slots[i]:
            rewards[i] = utilities[i] - worth[i]
            worth[i] = utilities[i]


@compiled(nogil=True)
def negate(numbers: np.ndarray, out: np.ndarray) -> None:
    """Minus numbers."""
    for i in range(out.size):
        out[i] = -numbers[i]


@dataclass
class ChebyshevScalarization(_OfReturn):
    """The reward is the decrease of the Chebyshev distance of the episode's summed reward vector to a reference point.

    With d the distance `chebyshev`, the reward is d(G_t) - d(G_{t+1}): undiscounted it adds up to d(0) - d(G_T), so its
    expectation is maximized where E[d(G_T)] is least (the criterion ESR). Unlike a weighted sum it can prefer points in
    concave parts of a Pareto front. What a step is worth depends on G_t: a policy that is to be optimal must see it,
    `AppendEpisodeReturn`. A learner that applies the distance to Q vectors, as Van Moffaert et al. do, takes the `mo-`
    id and the function `chebyshev`.

    Attributes:
        weights: {term: weight}, terms not named weigh 0; or one number per term. At least 0, not all 0.
        reference: a sum of vectors that no episode exceeds (utopian point), by term; terms of weight 0 may be left out.
        rho: weight of the augmentation, at least 0; small.

    Info: `accrued`, the episode's sum of vectors (terms,); `distance`.

    Raises:
        ParameterError: no vector of rewards, an unknown term, a negative weight, a reference that lacks a term.
    """

    weights: PerTerm
    reference: PerTerm
    rho: float = 0.01

    def prepare(self) -> None:
        """Check the settings."""
        self._find_vector()
        self.check_number("rho")
        self.slot = self._per_term("weights", 0.0)
        if (self.slot < 0.0).any() or not self.slot.any():
            raise self.setting_error("weights", "must be at least 0, and not all 0")
        if isinstance(self.reference, Mapping):
            lacking = [n for n, w in zip(self.names, self.slot, strict=True) if w and n not in self.reference]
            if lacking:
                raise self.setting_error("reference", f"has no entry for {lacking}, which have weights")
        self.point = self._per_term("reference", 0.0)
        self.distance = np.zeros(self.count)
        self._keep_return()

    def valuing(self, returns: np.ndarray, out: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Minus the distance."""
        yield measure, returns, self.slot[None], self.point[None], float(self.rho), out
        yield negate, out, out

    def telling(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """The distance."""
        yield negate, self.worth, self.distance

    def entries(self) -> dict[str, Any]:
        """The sum and its distance."""
        return {**self._untouched(), "accrued": self.accrued, "distance": self.distance}


def lexicographically_better(a: Any, b: Any, thresholds: Any = None, slack: Any = 0.0) -> np.ndarray:
    """Whether vectors a are better than b in the thresholded lexicographic order; (..., terms) -> bool (...).

    Terms are compared one after the other, the most important first, each clipped at its threshold from above; the
    first in which they differ by more than `slack` decides. Thresholds as Gabor, Kalmar and Szepesvari (ICML 1998) and
    Vamplew et al. (Machine Learning 84, 2011) have them; slack after Wray, Zilberstein and Mouaddib (AAAI 2015).

    Args:
        a: vectors with the terms in order of importance. b: the same, or vectors to broadcast with.
        thresholds: one per term, inf or None for none; None for none at all.
        slack: differences that do not count, one number or one per term.
    """
    caps = np.array([np.inf if c is None else c for c in ([None] if thresholds is None else thresholds)], np.float64)
    difference = np.minimum(np.asarray(a, np.float64), caps) - np.minimum(np.asarray(b, np.float64), caps)
    signs = np.sign(difference) * (np.abs(difference) > np.asarray(slack, np.float64))
    first = np.argmax(signs != 0, axis=-1)
    return np.take_along_axis(signs, np.expand_dims(first, -1), -1)[..., 0] > 0


@dataclass
class Lexicographic(_OfReturn):
    """A scalar reward for (thresholded) lexicographic objectives, up to a resolution.

    No function of real vectors into the numbers keeps a lexicographic order (Debreu, 1954), so none of rewards does.
    With bounded returns, and differences below a slack that do not count, one does: u(G) = sum_k m_k c_k, where
    c_k = min(G_k, threshold_k), clipped to the range of returns, m_last = 1 and
    m_k = (sum of m_j width_j over the less important j) / slack_k, and u is scaled to an interval of length 1. If c is
    equal in the first terms and better by slack_k in term k, u is better, whatever follows; differences smaller than
    the slack may be traded. The reward is u(G_{t+1}) - u(G_t): undiscounted it adds up to u(G_T) - u(0). In worlds
    with chance this orders E[u(G_T)] and not the vector of expectations; for that order learn Q vectors of the `mo-`
    id and compare them by `lexicographically_better`. A policy that is to be optimal must see G_t:
    `AppendEpisodeReturn`.

    Attributes:
        order: the terms that count, most important first.
        slack: the smallest difference of returns that counts, by term (the last one needs none); or one number for all.
        thresholds: by term, the return from which on more does not count.
        ranges: by term, [lowest, highest] return. Otherwise bounds of the term times the horizon.

    Info: `accrued`, the episode's sum of vectors (terms,); `lexicographic`, the clipped c in the given order, for
    `lexicographically_better`.

    Raises:
        ParameterError: an unknown term, one twice, a slack that is not positive, an empty or unknown range, an order
            that is too fine for 64-bit numbers.
    """

    order: Sequence[str]
    slack: float | Mapping[str, float]
    thresholds: Mapping[str, float] | None = None
    ranges: Mapping[str, Sequence[float]] | None = None

    def prepare(self) -> None:
        """Check the settings, and compute the multipliers."""
        self._find_vector()
        order = [str(name) for name in self.order]
        if not order or len(set(order)) < len(order) or not set(order) <= set(self.names):
            raise self.setting_error(
                "order", f"must name terms, each once, most important first; there are {self.names}"
            )
        self.columns = np.array([self.names.index(name) for name in order])
        self._check_names("thresholds", order)
        self._check_names("ranges", order)
        self.floor, self.cap = np.array([self._range_of(name) for name in order]).T
        self.multipliers = self._multipliers(order)
        self.counted = np.zeros((self.count, len(order)))
        self._keep_return()

    def _check_names(self, setting: str, order: list[str]) -> None:
        given = getattr(self, setting)
        if given is not None and (not isinstance(given, Mapping) or not set(given) <= set(order)):
            raise self.setting_error(setting, f"must be a dictionary with names of {order}")

    def _range_of(self, name: str) -> tuple[float, float]:
        """The lowest and the highest return that counts of a term."""
        if self.ranges is not None and name in self.ranges:
            low, high = self.ranges[name]
        else:
            k, bounds = self.names.index(name), self._bounds_of_return("ranges")
            low, high = (float(bound[k]) for bound in bounds)
        high = min(high, (self.thresholds or {}).get(name, np.inf))
        if not np.isfinite([low, high]).all() or low >= high:
            raise self.setting_error(
                "ranges", f"and thresholds leave returns of {name} in [{low:g}, {high:g}]: empty, or unbounded"
            )
        return low, high

    def _multipliers(self, order: list[str]) -> np.ndarray:
        """m, scaled so that utilities lie in an interval of length 1."""
        slack = self.slack if isinstance(self.slack, Mapping) else dict.fromkeys(order, self.slack)
        m, total = np.zeros(len(order)), 0.0
        for k in range(len(order) - 1, -1, -1):
            if total:
                step = slack.get(order[k], np.nan)
                if isinstance(step, bool) or not isinstance(step, (int, float)) or not step > 0.0:
                    raise self.setting_error("slack", f"must be a positive number, or have one for {order[k]}")
                m[k] = total * (1.0 + 1e-9) / step
            else:
                m[k] = 1.0
            total += m[k] * (self.cap[k] - self.floor[k])
        if total > 2.0**50 * (self.cap[-1] - self.floor[-1]):
            raise self.setting_error("slack", f"is too fine for 64-bit numbers: {total:.1e} units; narrow the ranges")
        return m / total

    def valuing(self, returns: np.ndarray, out: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """u."""
        yield rank, returns, self.columns, self.floor, self.cap, self.multipliers, out

    def telling(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """The sums that count."""
        yield clip_columns, self.accrued, self.columns, self.floor, self.cap, self.counted

    def entries(self) -> dict[str, Any]:
        """The sums, and those that count."""
        return {**self._untouched(), "accrued": self.accrued, "lexicographic": self.counted}


@compiled(nogil=True)
def clip_columns(returns: np.ndarray, columns: np.ndarray, floor: np.ndarray, cap: np.ndarray, out: np.ndarray) -> None:
    """Columns within bounds."""
    for i in range(out.shape[0]):
        for k in range(columns.size):
            out[i, k] = min(max(returns[i, columns[k]], floor[k]), cap[k])


@compiled(nogil=True)
def rank(
    returns: np.ndarray,
    columns: np.ndarray,
    floor: np.ndarray,
    cap: np.ndarray,
    multipliers: np.ndarray,
    out: np.ndarray,
) -> None:
    """Weighted sums of clipped columns."""
    for i in range(out.size):
        out[i] = 0.0
        for k in range(columns.size):
            out[i] += multipliers[k] * (min(max(returns[i, columns[k]], floor[k]), cap[k]) - floor[k])
