"""What Pareto Q-learning keeps of a world, and the compiled loops that learn it and sum sets from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.compiler.loops import compiled, helper

FOLLOWERS = 8  # states that may follow an action, before room is made for more
DEPTH = 16  # vectors in a set, before room is made for more
FULL = -1.0  # said by loops that found no room


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


@compiled(nogil=True)
def choose(
    rows: np.ndarray,
    time: np.ndarray,
    allowed: np.ndarray,
    draws: np.ndarray,
    exploration: float,
    known: Known,
    chosen: np.ndarray,
) -> None:
    """An action for each world: one that was tried least, or the first of a vector of the state's set."""
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


@helper
def copy_rows(target: np.ndarray, source: np.ndarray, count: int) -> None:
    """The first rows of an array, into another one."""
    for i in range(count):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


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
        copy_rows(found, sums, size)
        copy_rows(taken, sums_taken, size)
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
    copy_rows(known.values[place], own, size)
    copy_rows(known.next[place], own_following, size)
    known.first[place, :size] = own_first[:size]
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
