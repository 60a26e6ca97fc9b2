"""All trade-offs between occupation and mixture on a beach: a dynamic program over its sections.

Agents of a type are interchangeable, so only the number of each type that ends in each section matters. Sections are on
a line and agents take at most one step at a time. So a distribution is reachable in T steps if, for each type and each
section j, the number in the first j sections at the end is at least the number that cannot leave them (those who start
T or more sections to the left) and at most the number that can get there (those who start up to T to the right): people
can be matched in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rlenvs.core import maths
from rlenvs.core.declare.errors import ParameterError
from rlenvs.pareto.sets import nondominated

MOST_DISTRIBUTIONS = 5_000  # ways to split both types in two: more would take minutes


class Allocation(NamedTuple):
    """A point of the front and what attains it.

    Attributes:
        value: occupation and mixture of the team.
        counts: (sections, 2) agents of each type in each section.
    """

    value: np.ndarray
    counts: np.ndarray


def team_value(counts: np.ndarray, psi: float) -> np.ndarray:
    """Occupation and mixture of a distribution (sections, 2)."""
    occupation, mixture = 0.0, 0.0
    for first, second in np.asarray(counts).tolist():
        total = first + second
        occupation += total * maths.exp(-total / psi)
        mixture += min(first, second) / total if total else 0.0
    return np.array([occupation, mixture / len(counts)])


class _Half:
    """The sections from one end of the beach up to a cut: for all numbers of people in them, what can be had there.

    Attributes:
        fronts: by numbers of both types, (points, 2) occupations and sums of mixtures.
        steps: of each number of sections, these fronts, and beside their points (points, 3): how many of each type are
            in the last section, and which point of the state before goes with them.
    """

    def __init__(self, starts: np.ndarray, reach: int, upto: int, psi: float) -> None:
        self.windows = _all_windows(starts, reach, upto)
        counts = starts.sum(axis=0)
        self.gains = _gains(counts, psi)
        states: dict[tuple[int, int], np.ndarray] = {(0, 0): np.zeros((1, 2))}
        self.steps: list[tuple[dict[tuple[int, int], np.ndarray], dict[tuple[int, int], np.ndarray]]] = [(states, {})]
        for window in self.windows:
            states, roots = self._next(states, window)
            self.steps.append((states, roots))
        self.fronts = states

    def _next(
        self, before: dict[tuple[int, int], np.ndarray], window: tuple[list[int], list[int]]
    ) -> tuple[dict[tuple[int, int], np.ndarray], dict[tuple[int, int], np.ndarray]]:
        """The same with one section more."""
        cells = np.array(list(before))
        sizes = np.array([len(points) for points in before.values()])
        points = np.concatenate(list(before.values()))
        which = np.repeat(np.arange(len(cells)), sizes)
        place = np.concatenate([np.arange(size) for size in sizes])
        owner = cells[which]
        fronts, roots = {}, {}
        for first in range(window[0][0], window[1][0] + 1):
            for second in range(window[0][1], window[1][1] + 1):
                fits = np.flatnonzero((owner[:, 0] <= first) & (owner[:, 1] <= second))
                if not fits.size:
                    continue
                more = np.array([first, second]) - owner[fits]
                values = points[fits] + self.gains[more[:, 0], more[:, 1]]
                kept = np.flatnonzero(nondominated(values))
                fronts[first, second] = values[kept]
                roots[first, second] = np.column_stack([more[kept], place[fits[kept]]])
        return fronts, roots

    def counts(self, state: tuple[int, int], point: int) -> list[tuple[int, int]]:
        """How many of each type stand in each of the sections, for a point of the front of a state."""
        found = []
        for _, roots in self.steps[:0:-1]:
            first, second, point = (int(n) for n in roots[state][point])
            found.append((first, second))
            state = state[0] - first, state[1] - second
        return found[::-1]


def _windows(starts: np.ndarray, reach: int, section: int) -> tuple[list[int], list[int]]:
    """How many of each type stand in the sections up to this one at the end, at least and at most."""
    least = starts[: max(section - reach + 1, 0)].sum(axis=0)
    most = starts[: section + reach + 1].sum(axis=0)
    return least.tolist(), most.tolist()


def _all_windows(starts: np.ndarray, reach: int, upto: int) -> list[tuple[list[int], list[int]]]:
    return [_windows(starts, reach, j) for j in range(upto)]


def _gains(counts: np.ndarray, psi: float) -> np.ndarray:
    """What a section adds, for all numbers of both types in it."""
    first, second = (np.arange(count + 1) for count in counts)
    total = first[:, None] + second[None]
    occupation = np.array([n * maths.exp(-n / psi) for n in range(int(counts.sum()) + 1)])[total]
    mixture = np.minimum(first[:, None], second[None]) / np.maximum(total, 1)
    return np.stack([occupation, mixture], axis=-1)


def exact_front(starts: np.ndarray, reach: int, psi: float) -> list[Allocation]:
    """The Pareto front of all distributions that can be reached, by falling occupation.

    Args:
        starts: (sections, 2) agents of each type in each section at first.
        reach: steps.
        psi: capacity of a section.

    Raises:
        ParameterError: so many agents that it would take minutes.
    """
    starts = np.asarray(starts)
    sections, counts = len(starts), starts.sum(axis=0)
    middle = (sections + 1) // 2
    low, high = (np.array(ends) for ends in _windows(starts, reach, middle - 1))
    if np.prod(high - low + 1) > MOST_DISTRIBUTIONS:
        raise ParameterError(
            f"{int(counts.sum())} agents can be split in {int(np.prod(high - low + 1)):,} ways; the exact front can "
            f"be computed for up to {MOST_DISTRIBUTIONS:,}"
        )
    left = _Half(starts, reach, middle, psi)
    right = left
    if sections - middle != middle or _all_windows(starts[::-1], reach, middle) != left.windows:
        right = _Half(starts[::-1], reach, sections - middle, psi)
    values, names = [], []
    for state, points in left.fronts.items():
        rest = int(counts[0]) - state[0], int(counts[1]) - state[1]
        others = right.fronts.get(rest)
        if others is not None:
            values.append((points[:, None] + others[None]).reshape(-1, 2))
            names += [(state, rest, i, j) for i in range(len(points)) for j in range(len(others))]
    together = np.concatenate(values)
    found = []
    for at in np.flatnonzero(nondominated(together)):
        state, rest, i, j = names[at]
        split = np.array(left.counts(state, i) + right.counts(rest, j)[::-1])
        found.append(Allocation(team_value(split, psi), split))
    return sorted(found, key=lambda each: -each.value[0])


def walks(sections: Sequence[int], kinds: Sequence[int], counts: np.ndarray, steps: int) -> np.ndarray:
    """The moves (steps, agents), -1, 0 or 1, that lead agents from their sections to a distribution: people of a type
    go in the order in which they stand."""
    goal = np.zeros(len(sections), np.int64)
    for kind in (0, 1):
        members = [k for k in np.argsort(sections, kind="stable") if kinds[k] == kind]
        goal[members] = np.repeat(np.arange(len(counts)), counts[:, kind])
    place, moves = np.array(sections, np.int64), []
    for _ in range(steps):
        moves.append(np.sign(goal - place))
        place = place + moves[-1]
    if (place != goal).any():
        raise ParameterError(f"this distribution cannot be reached in {steps} steps")
    return np.array(moves)
