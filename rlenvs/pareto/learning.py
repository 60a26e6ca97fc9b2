"""Pareto Q-learning: the whole front of a finite world, learnt from its steps."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.compiler.cache import compiled
from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.pareto.fronts import Front, checked_gamma
from rlenvs.pareto.policies import batch_of
from rlenvs.pareto.sets import TooManyPointsError, descending

__all__ = ["ParetoQ", "pareto_q_learning"]

FOLLOWERS = 8  # states that may follow an action, before room is made for more
SWEEPS = 500  # over all states, at most, when a front is asked for
STILL = 1e-9  # sets that change by less have settled
DEPTH = 16  # vectors in a set, before room is made for more
FULL = -1.0  # said by loops that found no room


def pareto_q_learning(env: Any, gamma: float = 1.0, steps: int = 100_000, **settings: Any) -> Front:
    """Learn the Pareto front of a finite world from its steps alone, with a policy for each point.

        front = rlenvs.pareto.pareto_q_learning("DeepSeaTreasure-v0", steps=50_000)
        rlenvs.pareto.replay("DeepSeaTreasure-v0", front.policies[0]).mean

    Args:
        env: the id of a world, or an environment made with the options that are meant. It is not touched.
        gamma: discount in (0, 1].
        steps: of all worlds of the batch together.
        settings: of `ParetoQ`.

    Returns:
        a front whose values are what was learnt. What its policies are really worth is for `replay` to say, and, where
        there is an exact model, for `exact_value`.

    Raises:
        As `ParetoQ`.
    """
    learner = ParetoQ(env, gamma, **settings)
    learner.learn(steps)
    return learner.front()


class ParetoQ:
    """Pareto Q-learning (Van Moffaert and Nowe, "Multi-Objective Reinforcement Learning using Sets of Pareto Dominating
    Policies", JMLR 2014), in compiled loops over a batch of worlds.

    Of each action in each state it learns the mean reward vector and how often which state followed. The set of an
    action is the mean reward plus all discounted sums of a vector of each state that may follow, weighted by how often
    it did; the set of a state, what no other dominates of its actions' sets. In worlds without chance these are the
    paper's sets; the sums over the states that may follow are those of White ("Multi-objective infinite-horizon
    discounted Markov decision processes", 1982). Sets are computed anew backwards along each episode that has ended.
    A policy follows a vector of the set of the first state, then the vectors that it was summed from.

    Actions are, with a chance that falls from 1 to `least_exploration`, those that were tried least in the state,
    otherwise the first action of a vector drawn from the set of the state (choice by cardinality, as in the paper).

    Args:
        env: the id of a world that numbers its states, or an environment made with the options that are meant.
        gamma: discount in (0, 1].
        worlds: how many of them learn together.
        resolution: vectors that are nowhere better by more than this count as equal. In worlds with chance, where means
            are never quite the same, sets stay small with it. One number, or one per objective.
        timed: whether sets depend on the steps that were made, so that the time limit counts: for worlds in which one
            does something else shortly before the end, and for those where nothing, neither a discount nor a price of
            a step, keeps a policy from waiting for ever.
        most: vectors in a set; more are refused.
        exploring: steps after which exploration is at its least.
        least_exploration: in [0, 1].
        seed: of worlds and choices.

    Raises:
        ParameterError: a setting out of range, or a world that does not number its states, has several agents or other
            actions than single choices.
    """

    def __init__(
        self,
        env: Any,
        gamma: float = 1.0,
        *,
        worlds: int = 32,
        resolution: Any = 1e-6,
        timed: bool = False,
        most: int = 512,
        exploring: int = 50_000,
        least_exploration: float = 0.2,
        seed: int = 0,
    ) -> None:
        for name, value in (("worlds", worlds), ("most", most), ("exploring", exploring)):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ParameterError(f"{name}={shortened(value)} must be a whole number from 1 on")
        if not 0.0 <= least_exploration <= 1.0:
            raise ParameterError(f"least_exploration={shortened(least_exploration)} must be in [0, 1]")
        self.gamma = checked_gamma(gamma)
        self.batch = batch_of(env).clone(int(worlds))
        setup, world = self.batch.setup, self.batch.world
        numbered = world.functions.get("state_number")
        if (
            numbered is None
            or self.batch.agents > 1
            or setup.continuous
            or self.batch.actions.shape[2:] not in ((), (1,))
        ):
            raise ParameterError(
                f"Pareto Q-learning is for worlds that number their states, with one agent and single choices; "
                f"{world.name} is none"
            )
        self._number_of: Callable[..., np.ndarray] = numbered
        self.objectives = tuple(world.terms)
        size = len(self.objectives)
        try:
            self.resolution = np.broadcast_to(np.asarray(resolution, np.float64), (size,)).copy()
        except ValueError:
            self.resolution = np.full(1, np.nan)
        if not (self.resolution >= 0.0).all():
            raise ParameterError(f"resolution={shortened(resolution)} must be numbers from 0 on, one or {size}")
        self.horizon = setup.horizon
        self._rule = Rule(self.gamma, self.horizon, self.resolution)
        self.exploring, self.least_exploration, self.most = int(exploring), float(least_exploration), int(most)
        self.steps = 0
        self._random = np.random.default_rng(seed)
        self.tables = Tables(setup.action_size, size, self.horizon if timed else 1)
        self.batch.seed([seed * 1_000_003 + i for i in range(int(worlds))])
        self.batch.reset()
        self._path = np.zeros((2, int(worlds), self.horizon), np.int64)  # states and actions of the episodes
        self._rows = self._states()
        self._starts = np.zeros(0, np.int64)
        self._begin(np.ones(int(worlds), np.bool_))

    def _states(self) -> np.ndarray:
        """The rows of the states that the worlds are in."""
        numbers = np.asarray(self._number_of(self.batch.setup.values, self.batch.states), np.int64)
        return self.tables.rows_of(numbers)

    def _begin(self, worlds: np.ndarray) -> None:
        self._starts = np.union1d(self._starts, self._rows[worlds])

    def learn(self, steps: int) -> None:
        """Make so many steps more, of all worlds together."""
        batch, tables, count = self.batch, self.tables, self.batch.num_worlds
        masked = "mask" in batch.world.kernels
        until = self.steps + int(steps)
        terms = len(self.objectives)
        while self.steps < until:
            exploration = max(self.least_exploration, 1.0 - self.steps / self.exploring)
            allowed = batch.masks[:, 0] > 0 if masked else np.ones((count, tables.actions), np.bool_)
            elapsed = np.array(batch.states["elapsed"], np.int64)
            time = np.minimum(elapsed, tables.layers - 1)
            draws = self._random.random((count, 3))
            before = self._rows
            actions = choose(before, time, allowed, draws, exploration, tables.all)
            batch.load_actions(actions.reshape(count, 1))
            batch.step_loaded()
            after = self._states()
            paid = np.ascontiguousarray(batch.terms[:, :terms, 0])
            ended = np.ascontiguousarray(batch.terminated[:, 0])
            left = np.ones(count, np.bool_)
            while note(left, before, actions, paid, after, ended, tables.all):
                tables.widen()
            self._path[:, np.arange(count), elapsed] = before, actions
            over = batch.over.copy()
            for world in np.flatnonzero(over).tolist():
                path = self._path[0, world, : elapsed[world] + 1]
                while replay_backwards(path, self._rule, tables.all):
                    self._deepen()
            self._rows = after
            if over.any():
                batch.reset(over)
                self._rows = self._states()
                self._begin(over)
            self.steps += count

    def _deepen(self) -> None:
        if self.tables.depth >= self.most:
            raise TooManyPointsError(
                f"a state has more than {self.most} vectors that no other dominates; take a coarser `resolution` or a "
                "larger `most`"
            )
        self.tables.deepen(self.most)

    def settle(self) -> None:
        """Compute the sets of all states anew, the newest first, until they stay as they are."""
        tables = self.tables
        for _ in range(SWEEPS):
            change = sweep(tables.known, self._rule, tables.all)
            if change == FULL:
                self._deepen()
            elif change < STILL:
                return

    def front(self) -> Front:
        """What was learnt: the vectors of the state in which episodes begin, each with the policy that follows it.

        Raises:
            ParameterError: episodes begin in several states.
        """
        if len(self._starts) != 1:
            raise ParameterError(
                f"episodes of {self.batch.world.name} begin in {len(self._starts)} states, and a set is of one"
            )
        self.settle()
        start = int(self._starts[0]) * self.tables.layers
        values = self.tables.values[start, : self.tables.sizes[start]].copy()
        order = descending(values)
        links = Links(self.tables)
        policies = [Followed(links, start, i) for i in order]
        return Front(values[order], policies, self.objectives, self.gamma, self.horizon, stochastic=False)


class Rule(NamedTuple):
    """By what sets are summed: discount, time limit, and the differences that count as none."""

    gamma: float
    horizon: int
    resolution: np.ndarray


class Known(NamedTuple):
    """The arrays of `Tables`, for compiled loops."""

    layers: int
    tries: np.ndarray
    means: np.ndarray
    follows: np.ndarray
    counts: np.ndarray
    values: np.ndarray
    sizes: np.ndarray
    first: np.ndarray
    next: np.ndarray


class Tables:
    """What is known of a world: of each action in each state, and the set of each state in each layer of time.

    Attributes:
        known: how many states.
        tries, means, follows, counts: (states, actions, ...): how often tried, mean vector, the states that followed
            (-1 for none), how often.
        values, sizes: (states * layers, depth, objectives) sets, and how many vectors they have.
        first, next: the action of each vector, and which vector it takes of each state that may follow.
    """

    tries: np.ndarray
    means: np.ndarray
    follows: np.ndarray
    counts: np.ndarray
    values: np.ndarray
    sizes: np.ndarray
    first: np.ndarray
    next: np.ndarray

    def __init__(self, actions: int, objectives: int, layers: int) -> None:
        self.actions, self.objectives, self.layers = actions, objectives, layers
        self.known, self.room, self.followers = 0, 0, FOLLOWERS
        self.row_of = np.full(1, -1, np.int64)
        self.depth = DEPTH
        self._grow(64)

    def _grow(self, room: int) -> None:
        """Room for so many states, sets as deep as `depth`, and as many followers."""
        pairs, sets = (room, self.actions), (room * self.layers, self.depth)
        shapes: dict[str, tuple[tuple[int, ...], Any, int]] = {
            "tries": (pairs, np.int64, 0),
            "means": ((*pairs, self.objectives), np.float64, 0),
            "follows": ((*pairs, self.followers), np.int64, -1),
            "counts": ((*pairs, self.followers), np.int64, 0),
            "values": ((*sets, self.objectives), np.float64, 0),
            "sizes": (sets[:1], np.int64, 0),
            "first": (sets, np.int64, 0),
            "next": ((*sets, self.followers), np.int64, 0),
        }
        for name, (shape, dtype, blank) in shapes.items():
            array = np.full(shape, blank, dtype)
            old = getattr(self, name, None)
            if old is not None:
                array[tuple(slice(size) for size in old.shape)] = old
            setattr(self, name, array)
        self.room = room

    def widen(self) -> None:
        """Room for twice as many states that may follow an action."""
        self.followers *= 2
        self._grow(self.room)

    def rows_of(self, numbers: np.ndarray) -> np.ndarray:
        """The rows of states by their numbers; new ones for those not seen before."""
        highest = int(numbers.max())
        if highest >= len(self.row_of):
            longer = np.full(2 * highest + 2, -1, np.int64)
            longer[: len(self.row_of)] = self.row_of
            self.row_of = longer
        for number in np.unique(numbers[self.row_of[numbers] < 0]).tolist():
            self.row_of[number] = self.known
            self.known += 1
        if self.known > self.room:
            self._grow(2 * self.known)
        return self.row_of[numbers]

    def deepen(self, most: int) -> None:
        """Room for twice as many vectors in each set, up to a number."""
        self.depth = min(2 * self.depth, most)
        self._grow(self.room)

    @property
    def all(self) -> Known:
        """What the compiled loops take."""
        arrays = self.tries, self.means, self.follows, self.counts, self.values, self.sizes, self.first, self.next
        return Known(self.layers, *arrays)


# --- compiled loops ---------------------------------------------------------------------------------------------------


@compiled(nogil=True)
def choose(
    rows: np.ndarray,
    time: np.ndarray,
    allowed: np.ndarray,
    draws: np.ndarray,
    exploration: float,
    known: Known,
) -> np.ndarray:
    """An action for each world: one that was tried least, or the first of a vector of the state's set."""
    chosen = np.zeros(rows.size, np.int64)
    layers = known.layers
    for i in range(rows.size):
        place = rows[i] * layers + time[i]
        if known.sizes[place] and draws[i, 0] >= exploration:
            action = known.first[place, np.int64(draws[i, 1] * known.sizes[place])]
            if allowed[i, action]:
                chosen[i] = action
                continue
        least, ties = 1 << 62, 0
        for a in range(known.tries.shape[1]):
            if allowed[i, a]:
                if known.tries[rows[i], a] < least:
                    least, ties = known.tries[rows[i], a], 0
                if known.tries[rows[i], a] == least:
                    ties += 1
        left = np.int64(draws[i, 2] * ties)
        for a in range(known.tries.shape[1]):
            if allowed[i, a] and known.tries[rows[i], a] == least:
                if left == 0:
                    chosen[i] = a
                    break
                left -= 1
    return chosen


@compiled(nogil=True)
def note(
    going: np.ndarray,
    before: np.ndarray,
    actions: np.ndarray,
    paid: np.ndarray,
    after: np.ndarray,
    ended: np.ndarray,
    known: Known,
) -> bool:
    """Take in a step of each world, and mark in `going` that it was. Whether there was no room for a state that
    followed; the call is then to be made again, with more."""
    for i in range(going.size):
        if not going[i]:
            continue
        s, a = before[i], actions[i]
        if not ended[i]:
            k = 0
            while k < known.follows.shape[2] and known.follows[s, a, k] != after[i] and known.follows[s, a, k] >= 0:
                k += 1
            if k == known.follows.shape[2]:
                return True
            known.follows[s, a, k] = after[i]
            known.counts[s, a, k] += 1
        known.tries[s, a] += 1
        for j in range(known.means.shape[2]):
            known.means[s, a, j] += (paid[i, j] - known.means[s, a, j]) / known.tries[s, a]
        going[i] = False
    return False


@compiled(nogil=True)
def insert(
    vector: np.ndarray,
    action: int,
    taken: np.ndarray,
    resolution: np.ndarray,
    values: np.ndarray,
    first: np.ndarray,
    following: np.ndarray,
    size: int,
) -> int:
    """Put a vector into a set, unless one of it is as good everywhere, and take out those that it makes superfluous.
    The new size; -1 where there was no room."""
    m = vector.size
    for i in range(size):
        worse = False
        for j in range(m):
            if values[i, j] < vector[j] - resolution[j]:
                worse = True
                break
        if not worse:
            return size
    kept = 0
    for i in range(size):
        better = False
        for j in range(m):
            if values[i, j] > vector[j] + resolution[j]:
                better = True
                break
        if better:
            if kept != i:
                values[kept], first[kept], following[kept] = values[i], first[i], following[i]
            kept += 1
    if kept == values.shape[0]:
        return -1
    values[kept], first[kept], following[kept] = vector, action, taken
    return kept + 1


@compiled(nogil=True)
def sum_sets(
    s: int,
    a: int,
    layer: int,
    rule: Rule,
    known: Known,
    found: np.ndarray,
    taken: np.ndarray,
) -> int:
    """The set of an action, into `found`, and which vectors of the states that may follow were summed, into `taken`.
    Its size; 0 where a state that may follow has no set yet, -1 where there was no room."""
    m, depth = known.means.shape[2], known.values.shape[1]
    found[0], taken[0] = known.means[s, a], 0
    size = 1
    if known.layers > 1 and layer + 1 == rule.horizon:
        return size
    sums, sums_taken, none = np.empty_like(found), np.empty_like(taken), np.zeros(depth, np.int64)
    vector, row = np.empty(m), np.empty(known.follows.shape[2], np.int64)
    for k in range(known.follows.shape[2]):
        if known.follows[s, a, k] < 0:
            break
        place = known.follows[s, a, k] * known.layers + (layer + 1 if known.layers > 1 else 0)
        if known.sizes[place] == 0:
            return 0
        weight = rule.gamma * known.counts[s, a, k] / known.tries[s, a]
        number = 0
        for i in range(size):
            for n in range(known.sizes[place]):
                for j in range(m):
                    vector[j] = found[i, j] + weight * known.values[place, n, j]
                row[:] = taken[i]
                row[k] = n
                number = insert(vector, 0, row, rule.resolution, sums, none, sums_taken, number)
                if number < 0:
                    return -1
        size = number
        found[:size], taken[:size] = sums[:size], sums_taken[:size]
    return size


@compiled(nogil=True)
def back_up(
    s: int,
    layer: int,
    rule: Rule,
    known: Known,
) -> float:
    """Compute the set of a state anew. By how much it has changed, inf where its size has; FULL without room."""
    m, depth, place = known.means.shape[2], known.values.shape[1], s * known.layers + layer
    found, taken = np.empty((depth, m)), np.empty((depth, known.follows.shape[2]), np.int64)
    own, own_first = np.empty((depth, m)), np.empty(depth, np.int64)
    own_following = np.empty((depth, known.follows.shape[2]), np.int64)
    size = 0
    for a in range(known.tries.shape[1]):
        if known.tries[s, a] == 0:
            continue
        count = sum_sets(s, a, layer, rule, known, found, taken)
        if count < 0:
            return FULL
        for i in range(count):
            size = insert(found[i], a, taken[i], rule.resolution, own, own_first, own_following, size)
            if size < 0:
                return FULL
    change = 0.0 if size == known.sizes[place] else np.inf
    for i in range(min(size, known.sizes[place])):
        for j in range(m):
            change = max(change, abs(own[i, j] - known.values[place, i, j]))
    known.sizes[place] = size
    known.values[place, :size], known.first[place, :size] = own[:size], own_first[:size]
    known.next[place, :size] = own_following[:size]
    return change


@compiled(nogil=True)
def replay_backwards(
    path: np.ndarray,
    rule: Rule,
    known: Known,
) -> bool:
    """Compute the sets of the states of an episode anew, the last one first. Whether there was no room."""
    for t in range(path.size - 1, -1, -1):
        layer = t if known.layers > 1 else 0
        if back_up(path[t], layer, rule, known) == FULL:
            return True
    return False


@compiled(nogil=True)
def sweep(
    states: int,
    rule: Rule,
    known: Known,
) -> float:
    """Compute all sets anew, the newest states and the last layers first. The largest change; FULL without room."""
    most = 0.0
    for layer in range(known.layers - 1, -1, -1):
        for s in range(states - 1, -1, -1):
            change = back_up(s, layer, rule, known)
            if change == FULL:
                return FULL
            most = max(most, change)
    return most


# --- policies ---------------------------------------------------------------------------------------------------------


class Links:
    """What policies need of tables: copies, which learning does not change any more."""

    def __init__(self, tables: Tables) -> None:
        self.layers, self.row_of = tables.layers, tables.row_of.copy()
        self.follows, self.first, self.next = tables.follows.copy(), tables.first.copy(), tables.next.copy()
        self.sizes = tables.sizes.copy()

    def row(self, state: int) -> int:
        """The row of a state; -1 of one that was never seen."""
        return int(self.row_of[state]) if state < len(self.row_of) else -1


class Followed:
    """The policy that follows a vector, then the vectors that it was summed from. Its memory is the place of a set, and
    the number of the vector; in a state that was never seen after the action, the first vector of that state.

    Args:
        links: of the tables.
        place: of the set of the first state.
        number: of the vector.
    """

    def __init__(self, links: Links, place: int, number: int) -> None:
        self.links, self.place, self.number = links, place, number

    def first(self, state: int) -> tuple[int, int]:
        """The vector to follow."""
        return self.place, self.number

    def action(self, memory: tuple[int, int], state: int) -> int:
        """The action of the vector."""
        place, number = memory
        return int(self.links.first[place, number]) if place >= 0 else 0

    def after(self, memory: tuple[int, int], state: int) -> tuple[int, int]:
        """The vector that it was summed from."""
        links, (place, number) = self.links, memory
        row = links.row(state)
        if row < 0:
            return -1, 0
        old, layer = divmod(place, links.layers)
        to = row * links.layers + min(layer + 1, links.layers - 1)
        if place < 0:
            return (to, 0) if links.sizes[to] else (-1, 0)
        among = np.flatnonzero(links.follows[old, links.first[place, number]] == row)
        known = int(links.next[place, number, among[0]]) if len(among) else 0
        return (to, known) if known < links.sizes[to] else (-1, 0)
