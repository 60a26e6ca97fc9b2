"""Tables: finite Markov decision processes as data, for kernels that play them and for solvers.

A table lists, for every state and action, what may come of it: with which probability which state is next, what reward
that gives (a number, or one for each objective), and whether the episode ends there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import ParameterError

MOST_SWEEPS = 2000
TIE = 1e-9  # values that differ by less, relative to their size, are equal
FIRST_BITS, FIRST_MOST = 32, 2**32 - 1  # of a number with the first outcome and how many there are
BITS = 63  # of a word that kernels read, without the sign
FEATURES, SHIFT, MOST = 7, 9, 2**9 - 1  # in a word: how many, bits of each, the largest
CERTAIN = 1e-9  # how far the probabilities of all outcomes together may be from 1


def better_policy(q: np.ndarray, policy: np.ndarray) -> np.ndarray:
    """The policy with the first action of the largest value (states, actions) where its own is worth less.

    Ties keep the action: where waiting costs nothing, waiting forever is worth as much as going, by the values of one
    more step, and a policy would never go.
    """
    largest = q.max(axis=1)
    slack = TIE * np.maximum(1.0, np.abs(largest))
    worse = q[np.arange(len(q)), policy] < largest - slack
    return np.where(worse, np.argmax(q >= (largest - slack)[:, None], axis=1), policy)


def packed(numbers: np.ndarray, each: int) -> np.ndarray:
    """Whole numbers (rows, columns) as words, int64 (rows, words): so many numbers in each, the first one lowest."""
    shift = BITS // each
    words = np.zeros((len(numbers), -(-numbers.shape[1] // each)), np.int64)
    for column in range(numbers.shape[1]):
        words[:, column // each] |= numbers[:, column].astype(np.int64) << (shift * (column % each))
    return words


class Outcome(NamedTuple):
    """What may come of an action.

    Attributes:
        next_state: the state that follows.
        reward: what it is worth; a number for each objective where a table has several.
        probability: above 0.
        end: whether the episode ends there.
        success: whether it is what the task asks for.
    """

    next_state: int
    reward: float | tuple[float, ...] = 0.0
    probability: float = 1.0
    end: bool = False
    success: bool = False


class Table:
    """A finite Markov decision process, filled outcome by outcome.

    Args:
        states: how many there are.
        actions: how many there are, the same in all states.
        weights: of the objectives, where each outcome has a reward for each of several.
        costs: how many costs follow the rewards of each outcome; an outcome has weights then.

    Attributes:
        starts: the probability of each state in which episodes may begin.
        allowed: (states, actions) uint8, 0 for an action that changes nothing.
        shown: (states,) the number that is observed in each state, from 0 on; its own by default. States that show the
            same number cannot be told apart.
        map: rows of letters of the same length, for images; none by default.
        features: (states, numbers) what is observed in each state in place of its number; none by default.
    """

    def __init__(self, states: int, actions: int, weights: Sequence[float] = (), costs: int = 0) -> None:
        self.states, self.actions, self.weights, self.costs = states, actions, tuple(weights), costs
        self.starts: dict[int, float] = {}
        self.allowed = np.ones((states, actions), np.uint8)
        self.shown = np.arange(states)
        self.map: Sequence[str] = ()
        self.features = np.zeros((states, 0))
        self._outcomes: list[list[Outcome]] = [[] for _ in range(states * actions)]

    def add(
        self, state: int, action: int, next_state: int, reward: float | tuple[float, ...] = 0.0, **more: Any
    ) -> None:
        """One more outcome of an action; `more` are the other fields of `Outcome`."""
        self._outcomes[state * self.actions + action].append(Outcome(next_state, reward, **more))
        self.__dict__.pop("columns", None)  # they are no longer all

    def stay(self, state: int) -> None:
        """A state in which nothing happens any more: every action leads back to it and ends the episode."""
        for action in range(self.actions):
            self.add(state, action, state, (0.0,) * (len(self.weights) + self.costs) or 0.0, end=True)

    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """What may come of an action."""
        return self._outcomes[state * self.actions + action]

    def transitions(self) -> Mapping[int, Mapping[int, tuple[tuple[float, int, Any, bool], ...]]]:
        """By state and action what may come of it, as Gymnasium's toy texts have it: probability, next state, reward,
        and whether the episode ends there."""
        return MappingProxyType(
            {
                state: MappingProxyType({action: self._listed(state, action) for action in range(self.actions)})
                for state in range(self.states)
            }
        )

    def _listed(self, state: int, action: int) -> tuple[tuple[float, int, Any, bool], ...]:
        return tuple((o.probability, o.next_state, o.reward, o.end) for o in self.outcomes(state, action))

    def start_probabilities(self) -> np.ndarray:
        """(states,): how likely an episode begins in each state."""
        found = np.zeros(self.states)
        found[list(self.starts)] = list(self.starts.values())
        return found / found.sum()

    @property
    def sizes(self) -> dict[str, int]:
        """The named sizes of a world that plays the table."""
        return {
            "states": self.states,
            "moves": self.actions,
            "mask_words": -(-self.actions // BITS),
            "outcomes": sum(map(len, self._outcomes)),
            "starts": len(self.starts),
            "rows": len(self.map),
            "columns": len(self.map[0]) if self.map else 0,
            **({"objectives": len(self.weights) + self.costs} if self.weights else {}),
            **({"features": self.features.shape[1]} if self.features.size else {}),
            **({"feature_words": self.packed_features().shape[1]} if self.features.size else {}),
        }

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The outcomes of all pairs of a state and an action, one after the other, as arrays of one length."""
        pairs = [number for number, found in enumerate(self._outcomes) for _ in found]
        flat = [outcome for found in self._outcomes for outcome in found]
        named = {name: np.array([getattr(each, name) for each in flat]) for name in Outcome._fields}
        return {"pair": np.array(pairs, np.int64), **named}

    def data(self) -> dict[str, np.ndarray]:
        """The arrays that kernels read, see `rlenvs.kits.tables.world`.

        Raises:
            ParameterError: probabilities that do not add up to 1, or a state that is not there.
        """
        found = self.columns
        first = np.searchsorted(found["pair"], np.arange(self.states * self.actions + 1))
        total = np.add.accumulate(found["probability"])
        before = np.concatenate([[0.0], total])[first[:-1]]
        chance = total - before[found["pair"]]
        self._check(found, np.concatenate([[0.0], total])[first[1:]] - before)
        chance[first[1:] - 1] = 1.0  # rounding leaves no draw without an outcome
        begins = np.add.accumulate(np.array(list(self.starts.values()), float))
        begins /= begins[-1]
        return {
            "span": (first[:-1] + (np.diff(first) << FIRST_BITS)).reshape(self.states, self.actions),
            "chance": chance,
            "follows": 4 * found["next_state"] + 2 * found["end"] + found["success"],
            "gain": found["reward"],
            "start": np.array(list(self.starts), np.int64),
            "begins": begins,
            "allowed": packed(self.allowed > 0, BITS),
            "best": self.best_actions(),
            "shown": self.shown,
            "map": np.frombuffer("".join(self.map).encode(), np.uint8).reshape(
                self.sizes["rows"], self.sizes["columns"]
            ),
            **({"features": self.features, "packed": self.packed_features()} if self.features.size else {}),
        }

    def packed_features(self) -> np.ndarray:
        """(states, words): the features, where all are whole numbers that fit; otherwise no words."""
        whole = (self.features == np.clip(np.floor(self.features), 0, MOST)).all()
        return packed(self.features, FEATURES) if whole else np.zeros((self.states, 0), np.int64)

    def open_actions(self) -> np.ndarray:
        """(states, actions) bool: those that are allowed; all of them in a state where none is."""
        return (self.allowed > 0) | ~self.allowed.any(axis=1, keepdims=True)

    def expected_rewards(self) -> np.ndarray:
        """(states, actions, objectives), one objective where rewards are numbers."""
        return self._expected()[:, :, : len(self.weights) or 1]

    def expected_costs(self) -> np.ndarray:
        """(states, actions, costs)."""
        return self._expected()[:, :, len(self.weights) or 1 :]

    def _expected(self) -> np.ndarray:
        found, pairs = self.columns, self.states * self.actions
        gains = found["reward"].reshape(len(found["pair"]), -1)
        sums = [np.bincount(found["pair"], found["probability"] * gain, pairs) for gain in gains.T]
        return np.stack(sums, axis=-1).reshape(self.states, self.actions, -1)

    def best_actions(self) -> np.ndarray:
        """An allowed action (states,) of the largest value in each state, by value iteration over as many steps as
        there are states: the scripted expert."""
        found, pairs, shape = self.columns, self.states * self.actions, (self.states, self.actions)
        rewards = self.expected_rewards() @ (self.weights or (1.0,))
        weights = found["probability"] * ~found["end"]
        open_to = self.open_actions()
        values, policy = np.zeros(self.states), np.argmax(open_to, axis=1)
        for _ in range(min(self.states + 1, MOST_SWEEPS)):
            worth = np.bincount(found["pair"], weights * values[found["next_state"]], pairs).reshape(shape)
            q = np.where(open_to, rewards + worth, -np.inf)
            policy, before, values = better_policy(q, policy), values, q.max(axis=1)
            if np.array_equal(values, before):
                break
        return policy

    def _check(self, found: Mapping[str, np.ndarray], sums: np.ndarray) -> None:
        wrong = np.flatnonzero(~(np.abs(sums - 1.0) <= CERTAIN))
        if wrong.size:
            state, action = divmod(int(wrong[0]), self.actions)
            raise ParameterError(
                f"the probabilities of action {action} in state {state} add up to {sums[wrong[0]]:.12g}, not to 1; "
                "give all possible outcomes"
            )
        for name, numbers in (
            ("a next state", found["next_state"]),
            ("a start", np.array(list(self.starts), np.int64)),
        ):
            outside = numbers[(numbers < 0) | (numbers >= self.states)]
            if outside.size or not numbers.size:
                raise ParameterError(
                    f"{name} is one of 0 ... {self.states - 1}, not {outside[0] if outside.size else None}"
                )
        if not (np.isfinite(found["reward"]).all() and (found["probability"] > 0.0).all()):
            raise ParameterError("rewards are finite and probabilities above 0; leave out impossible outcomes")
