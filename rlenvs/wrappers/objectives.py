"""Several objectives: vectors of rewards, and what makes one number of them.

All layers here work on the reward terms of a world of this package, unweighted, under ids with a scalar reward and
under `mo-` ids alike; of other packages' environments on a vector of rewards. A layer that scalarises makes the reward
a number; `info["reward_vector"]` stays what the environment said. Above `NormalizeRewards` the vector is the
normalised one. Terms are named as in info (`reward_<name>`), or counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.cache import compiled
from rlenvs.core.errors import ParameterError, nearest
from rlenvs.wrappers.appended import Appends
from rlenvs.wrappers.layer import Layer
from rlenvs.wrappers.masked import add, clear, put
from rlenvs.wrappers.randomness import bits_at, uniform_of

PerTerm = Mapping[str, float] | Sequence[float]

NORMALIZED = "normalized_rewards"  # what NormalizeRewards tells


class _OfVector(Layer):
    """A layer on the vector of rewards below."""

    def _find_vector(self) -> None:
        """How many terms there are, and their names.

        Raises:
            ParameterError: there is no vector of rewards.
        """
        if self.batch is not None:
            self.names = list(self.batch.world.terms)
        elif self.below.reward.ndim == 2:
            self.names = [str(k) for k in range(self.below.reward.shape[1])]
        else:
            raise ParameterError(
                f"{type(self).__name__}: {self.name} has no vector of rewards; an environment of this package is "
                "needed, or one with reward_space"
            )
        self.terms = len(self.names)
        self.normalized = self.below.read(NORMALIZED) is not None

    def _vector(self) -> np.ndarray:
        """The vector of rewards of the last step, (rows, terms)."""
        if self.below.reward.ndim == 2:
            return self.below.reward
        vector = self.below.read(NORMALIZED if self.normalized else "reward_vector")
        assert vector is not None
        return vector

    def _untouched(self) -> dict[str, np.ndarray]:
        """The vector that the environment paid, where its info does not have it."""
        if self.batch is not None or self.below.read("reward_vector") is not None:
            return {}
        return {"reward_vector": self._vector()}

    def _bounds_of_return(self, setting: str) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of an episode's sum of vectors; ParameterError, naming the setting that is to give them, without."""
        if self.batch is None or self.normalized:
            raise self.refuse(setting, f"must be given: {self.name} does not tell bounds of the sums of these vectors")
        setup = self.batch.setup
        return tuple(
            setup.horizon * bound.astype(np.float64) for bound in (setup.reward_space.low, setup.reward_space.high)
        )

    def _per_term(self, setting: str, other: float | None = None) -> np.ndarray:
        """A setting as an array (terms,), for terms that it does not name `other`.

        Raises:
            ParameterError: an unknown term, a missing one, not finite, the wrong number.
        """
        return self._array(getattr(self, setting), setting, other)

    def _array(self, value: Any, setting: str, other: float | None = None) -> np.ndarray:
        said = f"{type(self).__name__}: {setting}={value!r}"
        if isinstance(value, Mapping):
            for name in value:
                if name not in self.names:
                    raise ParameterError(f"{said}: {self.name} has no term {name!r}. {nearest(name, self.names)}")
            if other is None and len(value) < self.terms:
                raise ParameterError(f"{said} must name all terms: {self.names}")
            value = [value.get(name, other) for name in self.names]
        try:
            array = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            raise ParameterError(f"{said} must be numbers, one per term: {self.names}") from None
        if array.shape != (self.terms,) or not np.isfinite(array).all():
            raise ParameterError(f"{said} must be {self.terms} finite numbers, one per term: {self.names}")
        return array


@compiled(nogil=True)
def weigh(vectors: np.ndarray, weights: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Weighted sums; weights (rows or 1, terms). In one order whatever the number of rows, unlike a BLAS."""
    for i in range(rows.size):
        if rows[i]:
            k = min(i, weights.shape[0] - 1)
            total = 0.0
            for j in range(weights.shape[1]):
                total += np.float64(weights[k, j]) * np.float64(vectors[i, j])
            out[i] = total


@dataclass
class LinearScalarization(_OfVector):
    """The reward is a weighted sum of the reward terms.

    The keyword `weights` of `make` does the same for worlds of this package; this layer also takes vectors of other
    packages and normalised ones.

    Attributes:
        weights: {term: weight}, terms not named weigh 0; or one number per term.

    Raises:
        ParameterError: no vector of rewards, an unknown term, the wrong number of weights.
    """

    weights: PerTerm

    def prepare(self) -> None:
        """Check the weights."""
        self._find_vector()
        self.row = self._per_term("weights", 0.0)[None]
        self.keep("reward")

    def after(self, rows: np.ndarray) -> None:
        """Weigh."""
        weigh(self._vector(), self.row, rows, self.reward)

    def told(self) -> dict[str, Any]:
        """The vector."""
        return self._untouched()


# --- utilities of the return ------------------------------------------------------------------------------------------


class _OfReturn(_OfVector):
    """The reward is what the step adds to the utility of the episode's sum of vectors: u(G_{t+1}) - u(G_t). So the
    rewards of an episode, undiscounted, add up to u(G_T) - u(0)."""

    def _keep_return(self) -> None:
        self.keep("accrued", (self.terms,))
        self.keep("worth")
        self.keep("reward")

    def utility(self, returns: np.ndarray) -> np.ndarray:
        """Utilities (rows,) of sums (rows, terms)."""
        raise NotImplementedError

    def begin(self, rows: np.ndarray) -> None:
        """Nothing was paid."""
        clear(self.accrued, rows)
        self.worth[rows] = self.utility(np.zeros((1, self.terms)))

    def after(self, rows: np.ndarray) -> None:
        """Pay what the utility has grown by."""
        add(self.accrued, self._vector(), rows)
        worth = self.utility(self.accrued)
        put(self.reward, worth - self.worth, rows)
        put(self.worth, worth, rows)


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
    """`chebyshev` of vectors (rows, terms), with weights and references (rows or 1, terms)."""
    for i in range(out.size):
        w, z = min(i, weights.shape[0] - 1), min(i, reference.shape[0] - 1)
        most, total = -np.inf, 0.0
        for j in range(vectors.shape[1]):
            gap = weights[w, j] * (reference[z, j] - vectors[i, j])
            most = max(most, gap)
            total += gap
        out[i] = most + rho * total


@dataclass
class ChebyshevScalarization(_OfReturn):
    """The reward is by how much the step brings the episode's sum of vectors nearer to a reference point.

    With d the distance `chebyshev`, the reward is d(G_t) - d(G_{t+1}): undiscounted it adds up to d(0) - d(G_T), so its
    expectation is maximised where E[d(G_T)] is least (the criterion ESR). Unlike a weighted sum it can prefer points in
    concave parts of a Pareto front. What a step is worth depends on G_t: a policy that is to be optimal must see it,
    `AccruedRewards`. A learner that applies the distance to Q vectors, as Van Moffaert et al. do, takes the `mo-` id
    and the function `chebyshev`.

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
        self.row = self._per_term("weights", 0.0)
        if (self.row < 0.0).any() or not self.row.any():
            raise self.refuse("weights", "must be at least 0, and not all 0")
        if isinstance(self.reference, Mapping):
            lacking = [n for n, w in zip(self.names, self.row, strict=True) if w and n not in self.reference]
            if lacking:
                raise self.refuse("reference", f"says nothing of {lacking}, which have weights")
        self.point = self._per_term("reference", 0.0)
        self._keep_return()

    def utility(self, returns: np.ndarray) -> np.ndarray:
        """Minus the distance."""
        distances = np.empty(len(returns))
        measure(returns, self.row[None], self.point[None], self.rho, distances)
        return -distances

    def told(self) -> dict[str, Any]:
        """The sum and its distance."""
        return {**self._untouched(), "accrued": self.accrued, "distance": -self.worth}


def better(a: Any, b: Any, thresholds: Any = None, slack: Any = 0.0) -> np.ndarray:
    """Whether vectors a come before b in the thresholded lexicographic order; (..., terms) -> bool (...).

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
    """Objectives in order of importance: the reward that follows them, up to a resolution.

    No function of real vectors into the numbers keeps a lexicographic order (Debreu, 1954), so none of rewards does.
    With bounded returns, and differences below a slack that do not count, one does: u(G) = sum_k m_k c_k, where
    c_k = min(G_k, threshold_k), clipped to the range of returns, m_last = 1 and
    m_k = (sum of m_j width_j over the less important j) / slack_k, and u is scaled to an interval of length 1. If c is
    equal in the first terms and better by slack_k in term k, u is better, whatever follows; differences smaller than
    the slack may be traded. The reward is u(G_{t+1}) - u(G_t): undiscounted it adds up to u(G_T) - u(0). In worlds
    with chance this orders E[u(G_T)] and not the vector of expectations; for that order learn Q vectors of the `mo-`
    id and compare them by `better`. A policy that is to be optimal must see G_t: `AccruedRewards`.

    Attributes:
        order: the terms that count, most important first.
        slack: the smallest difference of returns that counts, by term (the last one needs none); or one number for all.
        thresholds: by term, the return from which on more does not count.
        ranges: by term, [lowest, highest] return. Otherwise bounds of the term times the horizon.

    Info: `accrued`, the episode's sum of vectors (terms,); `lexicographic`, the clipped c in the given order, for
    `better`.

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
            raise self.refuse("order", f"must name terms, each once, most important first; there are {self.names}")
        self.columns = np.array([self.names.index(name) for name in order])
        self._check_names("thresholds", order)
        self._check_names("ranges", order)
        self.floor, self.cap = np.array([self._range_of(name) for name in order]).T
        self.multipliers = self._multipliers(order)
        self._keep_return()

    def _check_names(self, setting: str, order: list[str]) -> None:
        given = getattr(self, setting)
        if given is not None and (not isinstance(given, Mapping) or not set(given) <= set(order)):
            raise self.refuse(setting, f"must be a dictionary with names of {order}")

    def _range_of(self, name: str) -> tuple[float, float]:
        """The lowest and the highest return that counts of a term."""
        if self.ranges is not None and name in self.ranges:
            low, high = self.ranges[name]
        else:
            k, bounds = self.names.index(name), self._bounds_of_return("ranges")
            low, high = (float(bound[k]) for bound in bounds)
        high = min(high, (self.thresholds or {}).get(name, np.inf))
        if not np.isfinite([low, high]).all() or low >= high:
            raise self.refuse(
                "ranges", f"and thresholds leave returns of {name} in [{low:g}, {high:g}]: none, or no end"
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
                    raise self.refuse("slack", f"must be a positive number, or have one for {order[k]}")
                m[k] = total * (1.0 + 1e-9) / step
            else:
                m[k] = 1.0
            total += m[k] * (self.cap[k] - self.floor[k])
        if total > 2.0**50 * (self.cap[-1] - self.floor[-1]):
            raise self.refuse("slack", f"is too fine for 64-bit numbers: {total:.1e} units; narrow the ranges")
        return m / total

    def utility(self, returns: np.ndarray) -> np.ndarray:
        """u."""
        out = np.empty(len(returns))
        rank(returns, self.columns, self.floor, self.cap, self.multipliers, out)
        return out

    def _clipped(self, returns: np.ndarray) -> np.ndarray:
        return np.clip(returns[:, self.columns], self.floor, self.cap)

    def told(self) -> dict[str, Any]:
        """The sums, and those that count."""
        return {**self._untouched(), "accrued": self.accrued, "lexicographic": self._clipped(self.accrued)}


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


# --- numbers beside the observation -----------------------------------------------------------------------------------


@dataclass
class AccruedRewards(_OfVector, Appends):
    """Shows the policy what the episode has paid so far: the sum of its reward vectors.

    For utilities that are not linear (`ChebyshevScalarization`, `Lexicographic`) the best action depends on it
    (Roijers, Steckelmacher and Nowe, "Multi-objective Reinforcement Learning for the Expected Utility of the Return",
    2018).

    Attributes:
        scale: by term, the sum that is shown as 1; sums are clipped to [-1, 1]. None: the larger bound of the
            term times the horizon.

    Observations: a vector gets one number per term at its end, a dictionary the part "accrued".

    Raises:
        ParameterError: a scale that is not positive, or that nothing tells; neither vector nor dictionary.
    """

    scale: PerTerm | None = None

    def prepare(self) -> None:
        """Check the scale."""
        self._find_vector()
        self.sizes = self._natural() if self.scale is None else self._per_term("scale")
        if (self.sizes <= 0.0).any():
            raise self.refuse("scale", "must be positive")
        self.keep("accrued", (self.terms,))
        self.make_room("accrued", [-1.0] * self.terms, [1.0] * self.terms)

    def _natural(self) -> np.ndarray:
        largest = np.abs(self._bounds_of_return("scale")).max(axis=0)
        return np.where(largest > 0.0, largest, 1.0)

    def begin(self, rows: np.ndarray) -> None:
        """Nothing was paid."""
        clear(self.accrued, rows)
        self._fill(rows)

    def after(self, rows: np.ndarray) -> None:
        """Add."""
        add(self.accrued, self._vector(), rows)
        self._fill(rows)

    def _fill(self, rows: np.ndarray) -> None:
        shrink(self.accrued, self.sizes, rows, self.shown)
        self.join(rows)

    def told(self) -> dict[str, Any]:
        """The sum."""
        return {**self._untouched(), "accrued": self.accrued}


@compiled(nogil=True)
def shrink(sums: np.ndarray, sizes: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Sums by their sizes, clipped to [-1, 1]."""
    for i in range(rows.size):
        if rows[i]:
            for j in range(sizes.size):
                out[i, j] = min(max(sums[i, j] / sizes[j], -1.0), 1.0)


@dataclass
class WeightConditioned(_OfVector, Appends):
    """One policy for all preferences: it sees weights of the objectives, and is paid the weighted sum.

    Weights are drawn uniformly from the simplex for every episode (as the conditioned network of Abels et al., "Dynamic
    Weights in Multi-Objective Deep Reinforcement Learning", ICML 2019, is trained). `reset(options={"weights": w})`
    sets those of the episodes that this reset begins: one number per term, {term: weight}, or an array (rows, terms).

    Attributes:
        weights: weights of all episodes, as {term: weight} or numbers, at least 0, with the sum 1. None: drawn.
        low: each drawn weight is at least this.

    Observations: a vector gets the weights at its end, a dictionary the part "weights"; within [0, 1].
    Info: `weights`.

    Raises:
        ParameterError: no vector of rewards, an unknown term, weights that are negative or do not have the sum 1, a
            `low` for which there are none.
    """

    weights: PerTerm | None = None
    low: float = 0.0

    def prepare(self) -> None:
        """Check the settings."""
        self._find_vector()
        self.check_number("low", 0.0, 1.0 / self.terms)
        self.fixed = None if self.weights is None else self._simplex(self.weights)
        if self.fixed is not None and self.low:
            raise self.refuse("low", "is for drawn weights, and weights are given")
        self.make_room("weights", [0.0] * self.terms, [1.0] * self.terms)
        self.keep("reward")

    def _simplex(self, value: Any) -> np.ndarray:
        array = self._array(value, "weights", 0.0)
        if (array < 0.0).any() or abs(array.sum() - 1.0) > 1e-6:
            raise ParameterError(f"WeightConditioned: weights={value!r} must be at least 0 and have the sum 1")
        return array

    def reset(self, rows: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin episodes with weights of their own."""
        options = dict(options or {})
        chosen = self._chosen(options.pop("weights", None))
        self.below.reset(rows, seeds, options or None)
        self._start(rows, seeds)
        if chosen is None:
            draw_simplex(rows, self.key, self.low, self.shown)
        else:
            put(self.shown, np.broadcast_to(chosen, self.shown.shape), rows)
        self.join(rows)

    def _chosen(self, given: Any) -> np.ndarray | None:
        """The weights for a reset; None for drawn ones."""
        if given is None:
            return self.fixed
        if isinstance(given, Mapping) or np.ndim(given) == 1:
            return self._simplex(given)
        if np.shape(given) != (self.count, self.terms):
            raise ParameterError(
                f"WeightConditioned: options['weights'] has the shape {np.shape(given)}; needed: {self.terms} numbers, "
                f"or ({self.count}, {self.terms})"
            )
        return np.array([self._simplex(row) for row in given])

    def after(self, rows: np.ndarray) -> None:
        """Weigh."""
        weigh(self._vector(), self.shown, rows, self.reward)
        self.join(rows)

    def told(self) -> dict[str, Any]:
        """The weights."""
        return {**self._untouched(), "weights": self.shown}


@compiled(nogil=True)
def draw_simplex(rows: np.ndarray, key: np.ndarray, low: float, out: np.ndarray) -> None:
    """Uniform on the simplex, each coordinate at least `low`: exponential variates divided by their sum."""
    terms = out.shape[1]
    draws = np.empty(terms)
    for i in range(rows.size):
        if rows[i]:
            total = 0.0
            for j in range(terms):
                draws[j] = -np.log1p(-uniform_of(bits_at(key[i], 0, j)))
                total += draws[j]
            for j in range(terms):
                out[i, j] = low + (1.0 - low * terms) * draws[j] / total


# --- normalisation ----------------------------------------------------------------------------------------------------


@dataclass
class NormalizeRewards(_OfVector):
    """Each reward term divided by the spread of its returns, so that weights mean about the same for all.

    With R_k <- discount R_k + r_k per row, zero at the start of an episode, the term r_k becomes
    r_k / sqrt(variance of R_k + epsilon), as Gymnasium's NormalizeReward does for one reward and MO-Gymnasium's
    MONormalizeReward for one component. The variance is that of all R_k so far (merged as in Chan, Golub and LeVeque,
    1979) and of one sample of unit variance in advance, so that the first rewards are not blown up. Or given numbers:
    (r_k - shift_k) / scale_k.

    Under `mo-` ids the reward is the normalised vector, otherwise its sum by the world's weights.

    Statistics that all rows share couple them: the numbers then depend on how many rows there are. Where the same
    numbers are wanted in every API form, take `shared=False` or given numbers. A reset with seeds forgets the
    statistics of the rows that get one (shared ones if all do). Snapshots hold them, and going back takes shared ones
    back for all rows.

    Attributes:
        discount: of the returns whose variance counts, in [0, 1].
        epsilon: added to the variance.
        shared: one statistic for all rows; otherwise one for each.
        scale: by term, positive: no statistics, divide by these. `fixed()` makes such a layer of what was learned.
        shift: by term, subtracted before; 0 for terms not named. Wants `scale`.

    Info: `normalized_rewards` (terms,).

    Raises:
        ParameterError: no vector of rewards, a discount outside [0, 1], a scale that is not positive.
    """

    discount: float = 0.99
    epsilon: float = 1e-8
    shared: bool = True
    scale: PerTerm | None = None
    shift: PerTerm | None = None

    def prepare(self) -> None:
        """Check the settings."""
        self._find_vector()
        if self.normalized:
            raise ParameterError(f"NormalizeRewards: rewards of {self.name} are normalised below already")
        self.check_number("discount", 0.0, 1.0)
        self.check_number("epsilon")
        if self.shift is not None and self.scale is None:
            raise self.refuse("shift", "wants scale; running statistics do not shift")
        self.given = None if self.scale is None else self._per_term("scale")
        if self.given is not None and (self.given <= 0.0).any():
            raise self.refuse("scale", "must be positive")
        self.origin = np.zeros(self.terms) if self.shift is None else self._per_term("shift", 0.0)
        size = (self.terms,)
        for name in ("normal", "returns", "mean"):
            self.keep(name, size)
        self.keep("variance", size, fill=1.0)
        self.keep("samples", fill=1.0)
        self.vectors = self.below.reward.ndim == 2
        self.keep("reward", size if self.vectors else ())
        if self.vectors:
            self.reward_space = spaces.Box(-np.inf, np.inf, size, np.float32)
        else:
            self.weights = self.batch.setup.weights[None]

    def reset(self, rows: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin episodes; with seeds also statistics."""
        super().reset(rows, seeds, options)
        if seeds is None:
            return
        given = rows & np.repeat([seed is not None for seed in seeds], self.agents)
        if given.all() or not self.shared:
            self.mean[given], self.variance[given], self.samples[given] = 0.0, 1.0, 1.0

    def begin(self, rows: np.ndarray) -> None:
        """No return yet."""
        clear(self.returns, rows)
        clear(self.normal, rows)

    def after(self, rows: np.ndarray) -> None:
        """Learn, and normalise."""
        vector = self._vector()
        if self.given is None:
            self._learn(vector, rows)
            variance = self.variance[:1] if self.shared else self.variance
            divide(vector, self.origin, np.sqrt(variance + self.epsilon), rows, self.normal)
        else:
            divide(vector, self.origin, self.given[None], rows, self.normal)
        if self.vectors:
            put(self.reward, self.normal, rows)
        else:
            weigh(self.normal, self.weights, rows, self.reward)

    def _learn(self, vector: np.ndarray, rows: np.ndarray) -> None:
        put(self.returns, self.discount * self.returns + vector, rows)
        if self.shared:
            update_all(rows, self.returns, self.mean, self.variance, self.samples)
        else:
            update_rows(rows, self.returns, self.mean, self.variance, self.samples)

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put the rows of a world back, and what all rows share."""
        super().set_state(state, world)
        if self.shared:
            for array in (self.mean, self.variance, self.samples):
                array[:] = array[world * self.agents]

    def fixed(self) -> NormalizeRewards:
        """A layer with what this one has learned as given numbers, for evaluation; the mean over rows not shared."""
        spread = np.sqrt(self.variance.mean(axis=0) + self.epsilon) if self.given is None else self.given
        shift = self.origin.tolist() if self.given is not None else None
        return replace(NormalizeRewards(self.discount, self.epsilon), scale=spread.tolist(), shift=shift)

    def told(self) -> dict[str, Any]:
        """The normalised vector."""
        return {**self._untouched(), NORMALIZED: self.normal}


@compiled(nogil=True)
def divide(vectors: np.ndarray, origin: np.ndarray, spread: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """(vectors - origin) / spread; spread (rows or 1, terms)."""
    for i in range(rows.size):
        if rows[i]:
            k = min(i, spread.shape[0] - 1)
            for j in range(origin.size):
                out[i, j] = (vectors[i, j] - origin[j]) / spread[k, j]


@compiled(nogil=True)
def update_all(
    rows: np.ndarray, values: np.ndarray, mean: np.ndarray, variance: np.ndarray, samples: np.ndarray
) -> None:
    """A sample of each row in the statistics that all rows share: each row's are those of the first."""
    old, new = samples[0], np.sum(rows)
    total = old + new
    for j in range(values.shape[1]):
        average, squares = 0.0, 0.0
        for i in range(rows.size):
            if rows[i]:
                average += values[i, j]
        average /= max(new, 1)
        for i in range(rows.size):
            if rows[i]:
                squares += (values[i, j] - average) ** 2
        step = average - mean[0, j]
        squares += variance[0, j] * old + step * step * (old * new / total)
        mean[:, j] = mean[0, j] + step * new / total
        variance[:, j] = squares / total
    samples[:] = total


@compiled(nogil=True)
def update_rows(
    rows: np.ndarray, values: np.ndarray, mean: np.ndarray, variance: np.ndarray, samples: np.ndarray
) -> None:
    """One more sample in each row's own statistics."""
    for i in range(rows.size):
        if rows[i]:
            n = samples[i]
            for j in range(values.shape[1]):
                step = values[i, j] - mean[i, j]
                mean[i, j] += step / (n + 1.0)
                variance[i, j] = (variance[i, j] * n + step * step * (n / (n + 1.0))) / (n + 1.0)
            samples[i] = n + 1.0
