"""All trade-offs between kinds of gems that villages can attain: variable elimination along a chain of mines.

A mine can be reached only from a few villages with neighboring numbers, so its yield depends on few decisions. Villages
are processed in order, keeping track of how many workers already go to the mines that later villages can also reach.
For each such state, the nondominated sums of gems are kept, with the choices that lead to them (Roijers, Whiteson and
Oliehoek, "Computing convex coverage sets for faster multi-objective coordination", JAIR 2015).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rlenvs.pareto.sets import TooManyPointsError, nondominated, supported

MOST_POINTS = 20_000  # of a memory, before a front is given up


class Mining(NamedTuple):
    """A point of the front and what attains it.

    Attributes:
        value: expected gems of each kind.
        choices: (villages,) which of its mines each village works in.
    """

    value: np.ndarray
    choices: np.ndarray


class _Sums(NamedTuple):
    """What no other sum dominates, with the choice of the last village, and where the sum before it stands."""

    values: np.ndarray
    roots: np.ndarray  # (points, 3): choice, number of the memory before, number of the point there


def exact_front(workers: np.ndarray, reach: np.ndarray, gems: np.ndarray, convex: bool = False) -> list[Mining]:
    """The Pareto front of expected gems, by falling number of the first kind.

    Args:
        workers: (villages,) that live in each.
        reach: (villages,) how many mines, from that with its own number on, each village can choose from.
        gems: (mines, workers + 1, kinds), what each mine is expected to give to so many workers.
        convex: only the corners, which are the best for some weights.

    Raises:
        TooManyPointsError: more than MOST_POINTS sums that no other dominates.
    """
    keep = supported if convex else nondominated
    width, villages = int(reach.max()), len(workers)
    memories = [((0,) * width, _Sums(np.zeros((1, gems.shape[2])), np.zeros((1, 3), np.int64)))]
    steps = []
    for village in range(villages):
        gathered: dict[tuple[int, ...], list[tuple[np.ndarray, np.ndarray]]] = {}
        for number, (memory, sums) in enumerate(memories):
            for choice in range(int(reach[village])):
                full = list(memory)
                full[choice] += int(workers[village])
                # nobody after this village reaches the mine with its number
                values = sums.values + gems[village, full[0]]
                points = np.arange(len(values))
                roots = np.column_stack([np.full(len(values), choice), np.full(len(values), number), points])
                gathered.setdefault((*full[1:], 0), []).append((values, roots))
        memories = [(memory, _best(parts, keep)) for memory, parts in gathered.items()]
        steps.append(memories)
    ends = []
    for number, (memory, sums) in enumerate(memories):
        rest = sum(gems[villages + k, count] for k, count in enumerate(memory[: width - 1]))
        roots = np.column_stack([np.full(len(sums.values), number), np.arange(len(sums.values))])
        ends.append((sums.values + rest, roots))
    last = _best(ends, keep)
    found = []
    for value, (number, point) in zip(last.values, last.roots.tolist(), strict=True):
        choices = []
        for memories in reversed(steps):
            choice, number, point = memories[number][1].roots[point].tolist()
            choices.append(choice)
        found.append(Mining(value, np.array(choices[::-1])))
    return sorted(found, key=lambda each: tuple(-each.value))


def _best(parts: list[tuple[np.ndarray, np.ndarray]], keep: Callable[[np.ndarray], np.ndarray]) -> _Sums:
    values = np.concatenate([value for value, _ in parts])
    roots = np.concatenate([root for _, root in parts])
    kept = np.flatnonzero(keep(values))
    if len(kept) > MOST_POINTS:
        raise TooManyPointsError(f"more than {MOST_POINTS:,} nondominated sums of gems; use fewer villages")
    return _Sums(values[kept], roots[kept])
