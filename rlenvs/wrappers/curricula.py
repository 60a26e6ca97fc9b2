"""Curricula: which context an episode gets, given how episodes went.

A curriculum chooses among the numbered contexts of `rlenvs.wrappers.contexts.Contexts` (`ADR` draws its own values). It
has no generator: chance comes from the stream of a world and the number of its episode, as everywhere in layers, so all
that a curriculum remembers is what it has learned. `state()` gives that as numbers and lists, fit for JSON.

    curriculum = SPaCE(eta=0.05)
    curriculum.begin(10)                                  # ten contexts; `Contexts` does this
    curriculum.choose(streams, episodes)                  # numbers of contexts; so does it this,
    curriculum.report(ids, contexts, returns, successes)  # and this, when an episode has ended
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from rlenvs.core.cache import compiled
from rlenvs.core.errors import ParameterError, nearest
from rlenvs.wrappers.layer import named
from rlenvs.wrappers.randomness import bits_at, mix, normal_of, uniform_of


@compiled(nogil=True)
def uniforms(streams: np.ndarray, episodes: np.ndarray, place: int) -> np.ndarray:
    """A number in [0, 1) for each world.

    Args:
        streams: uint64 (worlds,): what the seed of a world has made.
        episodes: uint64 (worlds,): 1 for the first episode after seeding.
        place: below 2^20; for several numbers in one episode.
    """
    out = np.empty(streams.size)
    for i in range(streams.size):
        out[i] = uniform_of(bits_at(mix(streams[i] ^ mix(episodes[i])), 0, place))
    return out


@compiled(nogil=True)
def normals(streams: np.ndarray, episodes: np.ndarray, place: int) -> np.ndarray:
    """As `uniforms`, standard normal."""
    out = np.empty(streams.size)
    for i in range(streams.size):
        out[i] = normal_of(bits_at(mix(streams[i] ^ mix(episodes[i])), 0, place))
    return out


@dataclass
class Curriculum:
    """Base of all curricula: a dataclass of settings, all of JSON's types."""

    listens: ClassVar[bool] = False  # whether it wants reports
    learned: ClassVar[tuple[str, ...]] = ()  # attributes that `state` holds

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters whose values the curriculum draws itself; none where it chooses from given contexts."""
        return ()

    def begin(self, count: int) -> None:
        """Check the settings and forget everything.

        Args:
            count: number of contexts.

        Raises:
            ParameterError: an impossible setting.
        """
        self.count = count

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """The numbers of contexts for worlds that begin an episode, int64 (worlds,). Arguments as for `uniforms`."""
        raise NotImplementedError

    def values(self, ids: np.ndarray, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """What was chosen, float64 (worlds, features), by a curriculum that draws values for the parameters `names`."""
        raise NotImplementedError

    def fit(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """Keep the parameters `names` within their declared ranges [low, high]; ParameterError where that cannot be."""

    def report(self, ids: np.ndarray, contexts: np.ndarray, returns: np.ndarray, successes: np.ndarray) -> None:
        """Hear of episodes that have ended.

        Args:
            ids: numbers of their contexts, (episodes,).
            contexts: what these were, (episodes, features).
            returns: sums of rewards, (episodes,). successes: 0 to 1, (episodes,).
        """

    def state(self) -> dict[str, Any]:
        """All that was learned since `begin`, as numbers, lists and strings."""
        return {name: _listed(getattr(self, name)) for name in self.learned}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` gave; after `begin` with as many contexts.

        Raises:
            ParameterError: the state of another curriculum, or of another number of contexts.
        """
        for name in self.learned:
            own = getattr(self, name)
            if name not in state or (isinstance(own, np.ndarray) and np.shape(state[name]) != own.shape):
                raise ParameterError(f"{type(self).__name__}: this is not a state for {self.count} contexts: {name!r}")
        for name in self.learned:
            own = getattr(self, name)
            value = copy.deepcopy(state[name])
            setattr(self, name, np.array(value, own.dtype) if isinstance(own, np.ndarray) else value)

    def recipe(self) -> dict[str, Any]:
        """A dictionary that `curriculum_from` makes the same again of, with what was learned."""
        settings = {f.name: copy.deepcopy(getattr(self, f.name)) for f in fields(self)}
        began = {"state": self.state()} if self.learned and hasattr(self, "count") else {}
        kind = type(self)
        name = kind.__qualname__ if kind.__module__ == __name__ else f"{kind.__module__}:{kind.__qualname__}"
        return {"curriculum": name, **settings, **began}

    def refuse(self, setting: str, why: str) -> ParameterError:
        """The error for a setting."""
        return ParameterError(f"{type(self).__name__}: {setting}={getattr(self, setting)!r} {why}")

    def check(self, setting: str, low: float, high: float = math.inf, whole: bool = False) -> None:
        """ParameterError unless a setting is a finite number within [low, high]."""
        value = getattr(self, setting)
        kinds: tuple[type, ...] = (int, np.integer) if whole else (int, float, np.number)
        right = isinstance(value, kinds) and not isinstance(value, bool)
        if not right or not (low <= value <= high and math.isfinite(value)):
            kind = "a whole number" if whole else "a number"
            raise self.refuse(setting, f"must be {kind} within [{low:g}, {high:g}]")


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else copy.deepcopy(value)


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


# --- the baselines ----------------------------------------------------------------------------------------------------


@dataclass
class RandomContexts(Curriculum):
    """Each episode gets any context, all with the same chance."""

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        return (uniforms(streams, episodes, 0) * self.count).astype(np.int64)


@dataclass
class RoundRobin(Curriculum):
    """A world's episodes get the contexts in order.

    Args:
        offset: the first episode's context, for every world; or "seed": a start that follows from a world's seed, so
            that the worlds of a batch cover the contexts from the beginning.
    """

    offset: int | str = 0

    def begin(self, count: int) -> None:
        """See `Curriculum`."""
        super().begin(count)
        if self.offset != "seed":
            if isinstance(self.offset, str):
                raise self.refuse("offset", 'must be a whole number, or "seed"')
            self.check("offset", 0, count - 1, whole=True)

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        if self.offset == "seed":
            first = (uniforms(streams, np.zeros_like(episodes), 0) * self.count).astype(np.int64)
        else:
            first = np.full(len(streams), self.offset, np.int64)
        return (first + episodes.astype(np.int64) - 1) % self.count


@dataclass
class OneContext(Curriculum):
    """Every episode gets the same context: for training specialists, and for tests.

    Args:
        number: of the context.
    """

    number: int = 0

    def begin(self, count: int) -> None:
        """See `Curriculum`."""
        super().begin(count)
        self.check("number", 0, count - 1, whole=True)

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        return np.full(len(streams), self.number, np.int64)


# --- self-paced -------------------------------------------------------------------------------------------------------


@dataclass
class SPaCE(Curriculum):
    """Self-paced context evaluation (Eimer et al., ICML 2021; automl/SPaCE): train on a set that grows when its value
    no longer changes, and holds the contexts on which the policy improves most.

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
        """Take the values of all contexts' initial states, (contexts,), after a piece of training."""
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
class PrioritizedLevels(Curriculum):
    """Prioritised level replay (Jiang, Grefenstette and Rocktaeschel, ICML 2021; facebookresearch/level-replay).

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
        by: "returns", or "score": only what `score` is told.
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
            raise self.refuse(
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
        """Tell scores of episodes: contexts (episodes,), and scores (episodes,), at least 0."""
        for i, score in zip(np.atleast_1d(ids), np.atleast_1d(scores), strict=True):
            self.scores[i] += self.smoothing * (score - self.scores[i])
            self.met[i] = True

    def report(self, ids: np.ndarray, contexts: np.ndarray, returns: np.ndarray, successes: np.ndarray) -> None:
        """Make scores of returns, unless they are told by `score`; before a context's first return stands 0."""
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
    """Model-based transfer learning (Cho et al., NeurIPS 2024; jhoon-cho/MBTL): train a policy in one context after the
    other, chosen so that the best of these policies does well in every context of a one-dimensional grid.

    The contexts are the grid, in order; places x are their numbers. A policy trained at x is expected to reach
    J(x) - slope |x - x'| at x'. J is a Gaussian process on the performances so far. With k policies trained, the next
    one is trained at the place, not yet taken, with the largest mean over x' of

        max(0, J_mean(x) + sqrt(log(k + 1)) J_std(x) - slope |x - x'| - best performance at x' so far).

    The first is the middle of the grid. All worlds get the context `source` until `update` tells the policy's
    performance. Ties go to the lower number.

    Args:
        slope: loss of performance per step of the grid, in units of performance, which is best normalised to [0, 1].
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
        """Tell how the policy trained at `source` does; choose the next source, which is returned.

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
        """The gain expected of training at each place, (contexts,); after at least one `update`."""
        x = np.arange(self.count, dtype=np.float64)
        trained = np.array(self.sources)
        own = np.array([told[i] for i, told in zip(self.sources, self.performances, strict=True)])
        mean, std = gaussian_process(x[trained], own, x, self.noise)
        hope = mean + math.sqrt(math.log(len(trained) + 1)) * std
        reach = hope[:, None] - self.slope * abs(x[:, None] - x[None, :])
        return np.maximum(reach - self.best, 0.0).mean(axis=1)

    @property
    def best(self) -> np.ndarray:
        """The best performance at each place so far, (contexts,)."""
        return np.max(self.performances, axis=0)

    @property
    def policies(self) -> np.ndarray:
        """The source whose policy to use at each place, int64 (contexts,)."""
        return np.array(self.sources)[np.argmax(self.performances, axis=0)]


# --- automatic domain randomisation -----------------------------------------------------------------------------------


@dataclass
class ADR(Curriculum):
    """Automatic domain randomisation (OpenAI et al., "Solving Rubik's Cube with a Robot Hand", 2019, algorithm 1).

    Parameters are uniform between bounds. With the probability `boundary` one parameter, any, stands at one of its
    bounds, either; the performances of these episodes are kept per bound. When a bound has `buffer` of them, their mean
    decides and they are forgotten: at `high` or above the bound moves out by `step`, at `low` or below in. Bounds
    stay within `limits`, and the range keeps what it had at the start.

    Numbers of contexts are -1 for an episode inside, 2 j for the lower and 2 j + 1 for the upper bound of parameter j.

    Args:
        start: [low, high] at the beginning, by parameter; equal, or a range.
        step: how far a bound moves, by parameter, in its unit.
        limits: [low, high] that the range may grow to, by parameter; the declared range where not given.
        low, high: performances, low < high.
        measure: what performance is: "return" or "success".
        boundary: probability of an episode at a bound; paper: 0.5.
        buffer: episodes per decision; paper: 240.
    """

    listens = True
    learned = ("bounds", "buffers")

    start: dict[str, list[float]] = field(default_factory=dict)
    step: dict[str, float] = field(default_factory=dict)
    limits: dict[str, list[float]] = field(default_factory=dict)
    low: float = 0.2
    high: float = 0.8
    measure: str = "success"
    boundary: float = 0.5
    buffer: int = 240

    def begin(self, count: int = 0) -> None:
        """See `Curriculum`."""
        super().begin(count)
        self._check_settings()
        self.bounds = np.array([self.start[name] for name in self.names], np.float64)
        self.outer = np.array([self.limits.get(name, [-math.inf, math.inf]) for name in self.names], np.float64)
        self.steps = np.array([self.step[name] for name in self.names], np.float64)
        self.buffers: list[list[float]] = [[] for _ in range(2 * len(self.names))]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of `start`."""
        return tuple(self.start)

    def fit(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """See `Curriculum`."""
        for j, name in enumerate(self.names):
            low, high = ranges[name]
            least, most = self.limits.get(name, self.start[name])
            if least < low or most > high:
                setting = "limits" if name in self.limits else "start"
                raise self.refuse(setting, f"leaves the range of {name}, [{low:g}, {high:g}]")
            self.outer[j] = self.limits.get(name, [low, high])

    def _check_settings(self) -> None:
        if not self.start or self.step.keys() != self.start.keys():
            raise self.refuse("step", f"must have an entry for each parameter of start={self.start}, at least one")
        if not self.limits.keys() <= self.start.keys():
            raise self.refuse("limits", f"has parameters that start={self.start} does not have")
        for name, (low, high) in self.start.items():
            least, most = self.limits.get(name, [-math.inf, math.inf])
            if not least <= low <= high <= most:
                raise self.refuse("start", f"needs low <= high within limits={self.limits}, for {name}")
            if not 0.0 < self.step[name] < math.inf:
                raise self.refuse("step", f"must be above 0, for {name}")
        if not self.low < self.high:
            raise self.refuse("low", f"must be below high={self.high}")
        if self.measure not in ("return", "success"):
            raise self.refuse("measure", "is not one of ['return', 'success']")
        self.check("boundary", 0.0, 1.0)
        self.check("buffer", 1, whole=True)

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        any_bound = (uniforms(streams, episodes, 1) * len(self.buffers)).astype(np.int64)
        return np.where(uniforms(streams, episodes, 0) < self.boundary, any_bound, -1)

    def values(self, ids: np.ndarray, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        values = np.empty((len(ids), len(self.names)))
        for j, (low, high) in enumerate(self.bounds):
            inside = low + uniforms(streams, episodes, 2 + j) * (high - low)
            values[:, j] = np.where(ids == 2 * j, low, np.where(ids == 2 * j + 1, high, inside))
        return values

    def report(self, ids: np.ndarray, contexts: np.ndarray, returns: np.ndarray, successes: np.ndarray) -> None:
        """Keep performances at bounds; move a bound when it has enough of them."""
        performances = returns if self.measure == "return" else successes
        for i, performance in zip(ids, performances, strict=True):
            if i >= 0:
                self.buffers[i].append(float(performance))
                if len(self.buffers[i]) >= self.buffer:
                    self._decide(int(i))

    def _decide(self, i: int) -> None:
        j, side = divmod(i, 2)
        mean = float(np.mean(self.buffers[i]))
        self.buffers[i] = []
        outwards = int(mean >= self.high) - int(mean <= self.low)
        moved = self.bounds[j, side] + outwards * self.steps[j] * (1 if side else -1)
        first = self.start[self.names[j]]
        low, high = (first[1], self.outer[j, 1]) if side else (self.outer[j, 0], first[0])
        self.bounds[j, side] = min(max(moved, low), high)


# --- self-paced, continuous -------------------------------------------------------------------------------------------


@dataclass
class SelfPaced(Curriculum):
    """Self-paced deep reinforcement learning (Klink et al., NeurIPS 2020; in automl/SPaCE): a normal distribution of
    contexts moves from an easy one to the target, as fast as the values allow.

    Each update makes one natural-gradient step on mean and log standard deviation, uphill on

        mean of w_i V_i - alpha KL(p || target),   w_i = p(c_i) / p_old(c_i),

    shortened until it goes uphill and KL(p_old || p) <= max_kl. alpha is 0 in the first `offset` updates, and then
    zeta max(mean of V, 0) / KL(p_old || target). Here the parameters are independent of each other; the original has a
    full covariance. Draws outside of the limits are put on them.

    Numbers of contexts are all -1. `update` takes contexts and the values V of their initial states; or, with `every`,
    returns stand in for values. The defaults are those of the original's point mass.

    Args:
        start, target: [mean, standard deviation] by parameter, in its unit.
        limits: [low, high] by parameter; the declared range where not given.
        max_kl: how far one update may go, in nats.
        zeta: weight of the target against the value.
        offset: updates before the target pulls.
        least_std: lower bounds of standard deviations by parameter, while KL(p || target) is above `kl_threshold`.
        kl_threshold: in nats.
        every: 0, or the number of ended episodes after which an update is made of their returns.
    """

    listens = True
    learned = ("mean", "std", "updates", "contexts", "returns")

    start: dict[str, list[float]] = field(default_factory=dict)
    target: dict[str, list[float]] = field(default_factory=dict)
    limits: dict[str, list[float]] = field(default_factory=dict)
    max_kl: float = 0.05
    zeta: float = 1.6
    offset: int = 70
    least_std: dict[str, float] = field(default_factory=dict)
    kl_threshold: float = 8000.0
    every: int = 0

    def begin(self, count: int = 0) -> None:
        """See `Curriculum`."""
        super().begin(count)
        self._check_settings()
        self.mean, self.std = np.array([self.start[name] for name in self.names], np.float64).T.copy()
        self.goal, self.goal_std = np.array([self.target[name] for name in self.names], np.float64).T
        self.outer = np.array([self.limits.get(name, [-math.inf, math.inf]) for name in self.names], np.float64)
        self.least = np.array([self.least_std.get(name, 0.0) for name in self.names], np.float64)
        self.updates = 0
        self.contexts: list[list[float]] = []
        self.returns: list[float] = []

    def _check_settings(self) -> None:
        if not self.start or self.target.keys() != self.start.keys():
            raise self.refuse("target", f"must have an entry for each parameter of start={self.start}, at least one")
        for setting in ("start", "target"):
            for name, (mean, std) in getattr(self, setting).items():
                low, high = self.limits.get(name, [-math.inf, math.inf])
                if not low <= mean <= high or not 0.0 < std < math.inf:
                    raise self.refuse(
                        setting, f"needs a mean within limits={self.limits} and a std above 0, for {name}"
                    )
        for setting in ("limits", "least_std"):
            if not getattr(self, setting).keys() <= self.start.keys():
                raise self.refuse(setting, f"has parameters that start={self.start} does not have")
        self.check("max_kl", 1e-9)
        self.check("zeta", 0.0)
        self.check("kl_threshold", 0.0)
        self.check("offset", 0, whole=True)
        self.check("every", 0, whole=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of `start`."""
        return tuple(self.start)

    def fit(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """See `Curriculum`."""
        for j, name in enumerate(self.names):
            low, high = ranges[name]
            given = [*self.limits.get(name, []), self.start[name][0], self.target[name][0]]
            if min(given) < low or max(given) > high:
                setting = "limits" if name in self.limits else "start"
                raise self.refuse(setting, f"or target leaves the range of {name}, [{low:g}, {high:g}]")
            self.outer[j] = self.limits.get(name, [low, high])

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        return np.full(len(streams), -1, np.int64)

    def values(self, ids: np.ndarray, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        draws = np.stack([normals(streams, episodes, j) for j in range(len(self.names))], axis=1)
        return np.clip(self.mean + self.std * draws, self.outer[:, 0], self.outer[:, 1])

    def update(self, contexts: Any, values: Any) -> None:
        """Move the distribution, given contexts drawn from it, (n, features), and values of their initial states, (n,).

        Raises:
            ParameterError: the wrong shapes, or not finite.
        """
        c, v = np.array(contexts, np.float64), np.array(values, np.float64)
        if c.shape != (len(v), len(self.names)) or not len(v) or not (np.isfinite(c).all() and np.isfinite(v).all()):
            raise ParameterError(
                f"SelfPaced: contexts {c.shape} and values {v.shape}; needed: finite, (n, features), (n,)"
            )
        far = normal_kl(self.mean, self.std, self.goal, self.goal_std)
        alpha = min(self.zeta * max(v.mean(), 0.0) / max(far, 1e-10), 1e5) if self.updates >= self.offset else 0.0
        self.updates += 1
        up_mean, up_log = self.gradient(c, v, alpha)
        step_mean, step_log = self.std**2 * up_mean, 0.5 * up_log  # the Fisher information is 1 / std^2, and 2
        length = float(step_mean @ up_mean + step_log @ up_log)
        if length > 1e-20:
            self._move(c, v, alpha, step_mean, step_log, math.sqrt(2.0 * self.max_kl / length))

    def _move(
        self, c: np.ndarray, v: np.ndarray, alpha: float, step_mean: np.ndarray, step_log: np.ndarray, size: float
    ) -> None:
        """Take the step, or the largest part of it that is allowed."""
        before = self.objective(self.mean, self.std, c, v, alpha)
        for _ in range(40):
            mean, std = self.mean + size * step_mean, self.std * np.exp(np.clip(size * step_log, -30.0, 30.0))
            near = normal_kl(self.mean, self.std, mean, std) <= self.max_kl
            if near and self.objective(mean, std, c, v, alpha) >= before:
                if normal_kl(mean, std, self.goal, self.goal_std) > self.kl_threshold:
                    std = np.maximum(std, self.least)
                self.mean, self.std = mean, std
                return
            size *= 0.8

    def objective(self, mean: np.ndarray, std: np.ndarray, c: np.ndarray, v: np.ndarray, alpha: float) -> float:
        """What an update increases, for a distribution in place of the present one."""
        ratio = np.exp(_log_normal(c, mean, std) - _log_normal(c, self.mean, self.std))
        return float((ratio * v).mean() - alpha * normal_kl(mean, std, self.goal, self.goal_std))

    def gradient(self, c: np.ndarray, v: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """The objective's gradient at the present distribution, by mean and by log standard deviation."""
        scaled = (c - self.mean) / self.std
        value_mean = (v[:, None] * scaled / self.std).mean(axis=0)
        value_log = (v[:, None] * (scaled**2 - 1.0)).mean(axis=0)
        pull_mean = (self.mean - self.goal) / self.goal_std**2
        pull_log = (self.std / self.goal_std) ** 2 - 1.0
        return value_mean - alpha * pull_mean, value_log - alpha * pull_log

    def report(self, ids: np.ndarray, contexts: np.ndarray, returns: np.ndarray, successes: np.ndarray) -> None:
        """With `every`, keep contexts and returns, and update from them."""
        if self.every:
            self.contexts += contexts.tolist()
            self.returns += returns.tolist()
            if len(self.returns) >= self.every:
                self.update(self.contexts, self.returns)
                self.contexts, self.returns = [], []


def normal_kl(mean: np.ndarray, std: np.ndarray, other: np.ndarray, other_std: np.ndarray) -> float:
    """KL divergence from one normal distribution of independent numbers to another, in nats."""
    parts = np.log(other_std / std) + (std**2 + (mean - other) ** 2) / (2.0 * other_std**2) - 0.5
    return float(parts.sum())


def _log_normal(x: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    return (-0.5 * ((x - mean) / std) ** 2 - np.log(std)).sum(axis=1)


ALL = (RandomContexts, RoundRobin, OneContext, SPaCE, PrioritizedLevels, MBTL, ADR, SelfPaced)
KINDS: dict[str, type[Curriculum]] = {
    "random": RandomContexts,
    "round_robin": RoundRobin,
    "static": OneContext,
    **{kind.__name__: kind for kind in ALL},
}
