"""Curricula: which context an episode gets, given how episodes went.

A curriculum chooses among the numbered contexts of `rlenvs.wrappers.contexts.Contexts` (`ADR` draws its own values). It
has no generator: chance comes from the stream of a world and the number of its episode, as everywhere in wrappers, so
all that a curriculum remembers is what it has learned. `state()` gives that as numbers and lists, fit for JSON.

    curriculum = SPaCE(eta=0.05)
    curriculum.begin(10)                                  # ten contexts; `Contexts` does this
    curriculum.choose(streams, episodes)                  # numbers of contexts; so does it this,
    curriculum.report(ids, contexts, returns, successes)  # and this, when an episode has ended

The baselines are here too: contexts at random, in turn, or always the same one.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.renamed import renamed
from rlenvs.wrappers.randomness import bits_at, mix, normal_of, uniform_of


def uniforms(streams: np.ndarray, episodes: np.ndarray, place: int) -> np.ndarray:
    """A number in [0, 1) for each world.

    Args:
        streams: uint64 (worlds,): what the seed of a world has made.
        episodes: uint64 (worlds,): 1 for the first episode after seeding.
        place: below 2^20; for several numbers in one episode.
    """
    out = np.empty(streams.size)
    _put_uniforms(streams, episodes, place, out)
    return out


@compiled(nogil=True)
def _put_uniforms(streams: np.ndarray, episodes: np.ndarray, place: int, out: np.ndarray) -> None:
    for i in range(streams.size):
        out[i] = uniform_of(bits_at(mix(streams[i] ^ mix(episodes[i])), 0, place))


def normals(streams: np.ndarray, episodes: np.ndarray, place: int) -> np.ndarray:
    """As `uniforms`, standard normal."""
    out = np.empty(streams.size)
    _put_normals(streams, episodes, place, out)
    return out


@compiled(nogil=True)
def _put_normals(streams: np.ndarray, episodes: np.ndarray, place: int, out: np.ndarray) -> None:
    for i in range(streams.size):
        out[i] = normal_of(bits_at(mix(streams[i] ^ mix(episodes[i])), 0, place))


@renamed
@dataclass
class Curriculum:
    """Base of all curricula: a dataclass of settings, all of JSON's types."""

    listens: ClassVar[bool] = False  # whether it requires reports
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
        """All that was learned since `begin_episode`, as numbers, lists and strings."""
        return {name: _listed(getattr(self, name)) for name in self.learned}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` gave; after `begin_episode` with as many contexts.

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

    def setting_error(self, setting: str, why: str) -> ParameterError:
        """The error for a setting."""
        return ParameterError(f"{type(self).__name__}: {setting}={getattr(self, setting)!r} {why}")

    def check(self, setting: str, low: float, high: float = math.inf, whole: bool = False) -> None:
        """ParameterError unless a setting is a finite number within [low, high]."""
        value = getattr(self, setting)
        kinds: tuple[type, ...] = (int, np.integer) if whole else (int, float, np.number)
        right = isinstance(value, kinds) and not isinstance(value, bool)
        if not right or not (low <= value <= high and math.isfinite(value)):
            kind = "a whole number" if whole else "a number"
            raise self.setting_error(setting, f"must be {kind} within [{low:g}, {high:g}]")


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else copy.deepcopy(value)


@dataclass
class RandomContexts(Curriculum):
    """Draw the context of each episode uniformly."""

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        return (uniforms(streams, episodes, 0) * self.count).astype(np.int64)


@dataclass
class RoundRobin(Curriculum):
    """Give the episodes of a world the contexts in order.

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
                raise self.setting_error("offset", 'must be a whole number, or "seed"')
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
    """Use the same context in every episode, for training specialists and for tests.

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
