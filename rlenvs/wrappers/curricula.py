"""Curricula that learn which context comes next, and all curricula by name.

`rlenvs.wrappers.curriculum` says what a curriculum is; `rlenvs.wrappers.distributions` has those over ranges.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.wrappers.curriculum import Curriculum, OneContext, RandomContexts, RoundRobin, uniforms
from rlenvs.wrappers.distributions import ADR, SelfPaced
from rlenvs.wrappers.wrapper import named


def curriculum_from(recipe: str | Mapping[str, Any], count: int) -> Curriculum:
    """A curriculum that has begun, from the name of one or what `Curriculum.recipe` gave.

    Raises:
        ParameterError: no curriculum of this name, or a setting that it does not have, or an impossible one.
    """
    settings: dict[str, Any] = {"curriculum": recipe} if isinstance(recipe, str) else dict(recipe)
    name, state = str(settings.pop("curriculum", "")), settings.pop("state", None)
    kind = named(name) if ":" in name else KINDS.get(name)
    if kind is None:
        raise ParameterError(f"there is no curriculum {name!r}. {nearest(name, KINDS)}")
    known = [f.name for f in fields(kind)]
    for setting in settings:
        if setting not in known:
            raise ParameterError(f"{kind.__name__} has no setting {setting!r}. {nearest(setting, known)}")
    curriculum = kind(**copy.deepcopy(settings))
    curriculum.begin(count)
    if state is not None:
        curriculum.load(state)
    return curriculum


# --- self-paced -------------------------------------------------------------------------------------------------------


@dataclass
class SPaCE(Curriculum):
    """Self-paced context evaluation (Eimer et al., ICML 2021; automl/SPaCE): train on a set of contexts that grows when
    its value no longer changes, and contains the contexts on which the policy improves most.

    After every piece of training, `update(values)` with the values V_t(s0, i) of the contexts' initial states:

    1. mean_t = mean of the values over the set; the set grows by `kappa` if |mean_t - mean_(t-1)| <= eta |mean_t|.
       The first update does not grow it.
    2. Contexts are ordered by V_t(s0, i) - V_(t-1)(s0, i), largest first (V_0 = 0, ties by number); the first ones make
       the set.

    Episodes get any context of the set, all with the same chance.

    Args:
        eta: relative change of the mean value below which the set grows.
        kappa: contexts by which it grows.
        first: contexts in it at the beginning.
        every: 0, or the number of ended episodes after which the set is updated with each context's last return in
            place of its value (0 for contexts that were never met). For learners without a value function.
    """

    listens = True
    learned = ("size", "order", "last_values", "last_mean", "returns", "heard")

    eta: float = 0.1
    kappa: int = 1
    first: int = 1
    every: int = 0

    def begin(self, count: int) -> None:
        """See `Curriculum`."""
        super().begin(count)
        self.check("eta", 0.0)
        self.check("kappa", 1, whole=True)
        self.check("first", 1, count, whole=True)
        self.check("every", 0, whole=True)
        self.size, self.order = self.first, np.arange(count)
        self.last_values = np.zeros(count)
        self.last_mean: float | None = None
        self.returns, self.heard = np.zeros(count), 0

    @property
    def active(self) -> np.ndarray:
        """The contexts of the set, int64 (size,)."""
        return self.order[: self.size]

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        return self.active[(uniforms(streams, episodes, 0) * self.size).astype(np.int64)]

    def update(self, values: Any) -> None:
        """Report the values of all contexts' initial states, (contexts,), after a phase of training."""
        values = np.array(values, np.float64)
        if values.shape != (self.count,) or not np.isfinite(values).all():
            raise ParameterError(f"SPaCE: values of shape {values.shape} were given; needed: finite, ({self.count},)")
        mean = float(values[self.active].mean())
        if self.last_mean is not None and abs(mean - self.last_mean) <= self.eta * abs(mean):
            self.size = min(self.size + self.kappa, self.count)
        self.order = np.argsort(self.last_values - values, kind="stable")
        self.last_values, self.last_mean = values, mean

    def report(self, ids: np.ndarray, contexts: np.ndarray, returns: np.ndarray, successes: np.ndarray) -> None:
        """Keep the last returns; with `every`, update from them."""
        self.returns[ids] = returns
        self.heard += len(ids)
        if self.every and self.heard >= self.every:
            self.heard = 0
            self.update(self.returns)


@dataclass
class PrioritizedLevelReplay(Curriculum):
    """Prioritized level replay (Jiang, Grefenstette and Rocktaeschel, ICML 2021; facebookresearch/level-replay).

    Context i is replayed with the probability (1 - staleness) P_S + staleness P_C, where P_S is proportional to
    rank(score_i)^(-1 / temperature), rank 1 for the highest score, and P_C to the number of choices since i was chosen
    last. Contexts without a score are chosen, with equal chances, until the share `seen` of all has one, and later with
    the probability 1 - share. Worlds that begin together are drawn from the same distribution.

    The paper's score is the mean size of the advantages of an episode (GAE); a learner that knows it calls `score`.
    Without one, `by="returns"` takes |return - last return| in this context, a measure of learning progress.

    Args:
        temperature: the lower, the more the highest scores are preferred. Defaults are those for Procgen.
        staleness: weight of the second distribution, 0 to 1.
        seen: share of contexts with a score from which on replaying begins, 0 to 1.
        smoothing: weight of a new score against the old one, 0 to 1.
        by: "returns", or "score": only what `score` is given.
    """

    listens = True
    learned = ("scores", "met", "stale", "last_returns")

    temperature: float = 0.1
    staleness: float = 0.1
    seen: float = 1.0
    smoothing: float = 1.0
    by: str = "returns"

    def begin(self, count: int) -> None:
        """See `Curriculum`."""
        super().begin(count)
        self.check("temperature", 1e-3)
        for setting in ("staleness", "seen", "smoothing"):
            self.check(setting, 0.0, 1.0)
        if self.by not in ("returns", "score"):
            raise self.setting_error(
                "by", f"is not one of ['returns', 'score']. {nearest(str(self.by), ['returns', 'score'])}"
            )
        self.scores, self.stale = np.zeros(count), np.zeros(count)
        self.met, self.last_returns = np.zeros(count, np.bool_), np.zeros(count)

    def probabilities(self) -> np.ndarray:
        """The replay distribution, (contexts,); zeros while no context has a score."""
        seen = np.flatnonzero(self.met)
        replay = np.zeros(self.count)
        if not len(seen):
            return replay
        rank = np.empty(len(seen))
        rank[np.argsort(-self.scores[seen], kind="stable")] = np.arange(1, len(seen) + 1)
        weight = np.exp(-np.log(rank) / self.temperature)
        replay[seen] = weight / weight.sum()
        stale = np.where(self.met, self.stale, 0.0)
        if stale.any():
            replay = (1.0 - self.staleness) * replay + self.staleness * stale / stale.sum()
        return replay

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        share = self.met.mean()
        old = (uniforms(streams, episodes, 0) < share) & bool(self.met.any() and share >= self.seen)
        ids = np.empty(len(streams), np.int64)
        draw = uniforms(streams, episodes, 1)
        ids[old] = _drawn(self.probabilities(), draw[old])
        ids[~old] = _drawn((~self.met).astype(np.float64), draw[~old])
        self.stale += len(ids)
        self.stale[ids] = 0.0
        return ids

    def score(self, ids: Any, scores: Any) -> None:
        """Report scores of episodes: contexts (episodes,), and scores (episodes,), at least 0."""
        for i, score in zip(np.atleast_1d(ids), np.atleast_1d(scores), strict=True):
            self.scores[i] += self.smoothing * (score - self.scores[i])
            self.met[i] = True

    def report(self, ids: np.ndarray, contexts: np.ndarray, returns: np.ndarray, successes: np.ndarray) -> None:
        """Compute scores from returns, unless they are given by `score`; 0 before a context's first return."""
        if self.by == "returns":
            for i, value in zip(ids, returns, strict=True):
                self.score(i, abs(value - self.last_returns[i]))
                self.last_returns[i] = value


def _drawn(weights: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Indices with chances proportional to weights, from numbers in [0, 1)."""
    if not len(draws):
        return np.empty(0, np.int64)
    edges = np.cumsum(weights)
    return np.searchsorted(edges, draws * edges[-1], side="right")


# --- model-based ------------------------------------------------------------------------------------------------------


LENGTHS = np.logspace(2.0, -2.0, 81)
SIZES = np.logspace(-3.0, 3.0, 121)


def gaussian_process(x: np.ndarray, y: np.ndarray, at: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian-process regression with zero mean and the kernel c exp(-d^2 / (2 l^2)) (Rasmussen and Williams, 2006).

    c and l are those of a logarithmic grid (c from 1e-3 to 1e3, l from 1e-2 to 1e2, the bounds of jhoon-cho/MBTL) with
    the largest marginal likelihood; where lengths are equally good, as for a single sample, the longest.

    Args:
        x, y: places and values of the samples, (n,). noise: their standard deviation.
        at: places to predict, (m,).

    Returns:
        mean and standard deviation of the function without noise, (m,).
    """
    best, length, size = -math.inf, 1.0, 1.0
    for candidate in LENGTHS:
        roots, vectors = np.linalg.eigh(_likeness(x, x, candidate))
        spectrum = SIZES[:, None] * np.maximum(roots, 0.0) + noise**2
        evidence = -0.5 * ((vectors.T @ y) ** 2 / spectrum + np.log(spectrum)).sum(axis=1)
        k = int(np.argmax(evidence))
        if evidence[k] > best + 1e-9:
            best, length, size = evidence[k], candidate, SIZES[k]
    inverse = np.linalg.inv(size * _likeness(x, x, length) + noise**2 * np.eye(len(x)))
    cross = size * _likeness(at, x, length)
    variance = size - np.einsum("ij,jk,ik->i", cross, inverse, cross)
    return cross @ inverse @ y, np.sqrt(np.maximum(variance, 0.0))


def _likeness(a: np.ndarray, b: np.ndarray, length: float) -> np.ndarray:
    return np.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


@dataclass
class MBTL(Curriculum):
    """Model-based transfer learning (Cho et al., NeurIPS 2024; jhoon-cho/MBTL): train policies in one context after the
    other, chosen so that for every context of a one-dimensional grid one of these policies does well.

    The contexts are the grid, in order; places x are their numbers. A policy trained at x is expected to reach
    J(x) - slope |x - x'| at x'. J is a Gaussian process on the performances so far. With k policies trained, the next
    one is trained at the place, not yet taken, with the largest mean over x' of

        max(0, J_mean(x) + sqrt(log(k + 1)) J_std(x) - slope |x - x'| - best performance at x' so far).

    The first is the middle of the grid. All worlds get the context `source` until `update` reports the policy's
    performance. Ties go to the lower number.

    Args:
        slope: loss of performance per step of the grid, in units of performance, which is best normalized to [0, 1].
        noise: standard deviation of measured performances.
    """

    learned = ("sources", "performances", "source")

    slope: float = 0.005
    noise: float = 0.1

    def begin(self, count: int) -> None:
        """See `Curriculum`."""
        super().begin(count)
        self.check("slope", 0.0)
        self.check("noise", 1e-6)
        self.sources: list[int] = []
        self.performances: list[list[float]] = []
        self.source = (count - 1) // 2

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        return np.full(len(streams), self.source, np.int64)

    def update(self, performance: Any) -> int:
        """Report the performance of the policy trained at `source`; returns the next source.

        Args:
            performance: at the source alone, and that elsewhere follows from the slope; or at all places, (contexts,).

        Raises:
            ParameterError: the wrong shape, not finite, or all contexts have been sources.
        """
        if len(self.sources) == self.count:
            raise ParameterError(f"MBTL: all {self.count} contexts have been sources")
        x = np.arange(self.count, dtype=np.float64)
        told = np.asarray(performance, np.float64)
        if told.shape == ():
            told = told - self.slope * abs(x - self.source)
        if told.shape != (self.count,) or not np.isfinite(told).all():
            raise ParameterError(f"MBTL: performance must be one number or {self.count}, finite, not {performance!r}")
        self.sources.append(self.source)
        self.performances.append(told.tolist())
        if len(self.sources) < self.count:
            gain = self.acquisition()
            gain[self.sources] = -1.0
            self.source = int(np.argmax(gain))
        return self.source

    def acquisition(self) -> np.ndarray:
        """The expected gain of training at each context, (contexts,); after at least one `update`."""
        x = np.arange(self.count, dtype=np.float64)
        trained = np.array(self.sources)
        own = np.array([told[i] for i, told in zip(self.sources, self.performances, strict=True)])
        mean, std = gaussian_process(x[trained], own, x, self.noise)
        hope = mean + math.sqrt(math.log(len(trained) + 1)) * std
        reach = hope[:, None] - self.slope * abs(x[:, None] - x[None, :])
        return np.maximum(reach - self.best, 0.0).mean(axis=1)

    @property
    def best(self) -> np.ndarray:
        """The best performance at each context so far, (contexts,)."""
        return np.max(self.performances, axis=0)

    @property
    def policies(self) -> np.ndarray:
        """The source whose policy to use at each context, int64 (contexts,)."""
        return np.array(self.sources)[np.argmax(self.performances, axis=0)]


ALL = (RandomContexts, RoundRobin, OneContext, SPaCE, PrioritizedLevelReplay, MBTL, ADR, SelfPaced)
KINDS: dict[str, type[Curriculum]] = {
    "random": RandomContexts,
    "round_robin": RoundRobin,
    "static": OneContext,
    **{kind.__name__: kind for kind in ALL},
}
