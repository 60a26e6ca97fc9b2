"""All trade-offs between kinds of items that a team can gather in time: routes of each agent, put together.

Nobody is in anybody's way, so what an agent can do does not depend on the others, but that an item is there once. An
agent's route is an order of items, walked along shortest ways; waiting never helps. For each set of items and each last
one, only those routes are kept that no other beats in time and in everything that is paid. The team's front is that of
all ways to share items among agents. Who passes an item without having it in the plan takes it nevertheless: that is
another route, with the item in the order, which is among those kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rlenvs.core.errors import ParameterError
from rlenvs.pareto.sets import TOLERANCE, nondominated

MOST_ITEMS = 10
MOVES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))  # stay, up, down, left, right
Cell = tuple[int, int]


class Item(NamedTuple):
    """Where it lies, and of which kind it is."""

    cell: Cell
    kind: int


class TeamPlan(NamedTuple):
    """A point of the front and what attains it.

    Attributes:
        value: (kinds,) discounted sum of items.
        actions: (steps, agents).
    """

    value: np.ndarray
    actions: np.ndarray


class _Route(NamedTuple):
    value: tuple[float, ...]
    time: int
    order: tuple[int, ...]


def exact_front(starts: Sequence[Cell], items: Sequence[Item], kinds: int, steps: int, gamma: float) -> list[TeamPlan]:
    """The Pareto front of what a team gathers in some steps, where every item that is reached is picked up.

    Raises:
        ParameterError: too many items.
    """
    if len(items) > MOST_ITEMS:
        raise ParameterError(f"{len(items)} items are too many for the exact front; at most {MOST_ITEMS}")
    here = [k for k, item in enumerate(items) if item.cell in starts]
    if here:
        raise ParameterError(f"item {here[0]} lies where an agent starts")
    teams: dict[int, list[tuple[tuple[float, ...], tuple[_Route, ...]]]] = {0: [((0.0,) * kinds, ())]}
    for start in starts:
        teams = _joined(teams, _routes(start, items, kinds, steps, gamma))
    found = [team for each in teams.values() for team in each]
    values = np.array([value for value, _ in found])
    plans = []
    for at in np.flatnonzero(nondominated(values)):
        walks = [_walk(start, items, route.order, steps) for start, route in zip(starts, found[at][1], strict=True)]
        plans.append(TeamPlan(values[at], np.array(walks).T))
    return sorted(plans, key=lambda plan: tuple(-plan.value))


def _routes(start: Cell, items: Sequence[Item], kinds: int, steps: int, gamma: float) -> dict[int, list[_Route]]:
    """The routes of an agent that are worth keeping, by set of items."""
    fronts: dict[tuple[int, int], list[_Route]] = {}
    for i, item in enumerate(items):
        _keep(fronts, 1 << i, i, _extended(_Route((0.0,) * kinds, 0, ()), start, item, i, gamma), steps)
    for members in range(1, 1 << len(items)):
        for last in range(len(items)):
            for route in fronts.get((members, last), ()):
                for i, item in enumerate(items):
                    if not members >> i & 1:
                        more = _extended(route, items[last].cell, item, i, gamma)
                        _keep(fronts, members | 1 << i, i, more, steps)
    found: dict[int, list[_Route]] = {0: [_Route((0.0,) * kinds, 0, ())]}
    for (members, _), routes in fronts.items():
        found.setdefault(members, []).extend(routes)
    return {members: _best(routes) for members, routes in found.items()}


def _extended(route: _Route, cell: Cell, item: Item, number: int, gamma: float) -> _Route:
    time = route.time + abs(cell[0] - item.cell[0]) + abs(cell[1] - item.cell[1])
    value = list(route.value)
    value[item.kind] += gamma ** (time - 1)
    return _Route(tuple(value), time, (*route.order, number))


def _keep(fronts: dict[tuple[int, int], list[_Route]], members: int, last: int, route: _Route, steps: int) -> None:
    """Add a route that is in time, unless one that is kept is as good; those that it beats go."""
    if route.time > steps:
        return
    kept = fronts.setdefault((members, last), [])
    if not any(_as_good(other, route) for other in kept):
        fronts[members, last] = [*(other for other in kept if not _as_good(route, other)), route]


def _as_good(a: _Route, b: _Route) -> bool:
    return a.time <= b.time and all(x >= y - TOLERANCE for x, y in zip(a.value, b.value, strict=True))


def _best(routes: list[_Route]) -> list[_Route]:
    """Those that no other dominates in value."""
    return [routes[i] for i in np.flatnonzero(nondominated([route.value for route in routes]))]


def _joined(
    teams: dict[int, list[tuple[tuple[float, ...], tuple[_Route, ...]]]], routes: dict[int, list[_Route]]
) -> dict[int, list[tuple[tuple[float, ...], tuple[_Route, ...]]]]:
    """The same with one agent more, who gathers what the others leave."""
    found: dict[int, list[tuple[tuple[float, ...], tuple[_Route, ...]]]] = {}
    for taken, before in teams.items():
        for members, own in routes.items():
            if taken & members:
                continue
            for value, others in before:
                for route in own:
                    total = tuple(a + b for a, b in zip(value, route.value, strict=True))
                    found.setdefault(taken | members, []).append((total, (*others, route)))
    return {
        taken: [each[i] for i in np.flatnonzero(nondominated([value for value, _ in each]))]
        for taken, each in found.items()
    }


def _walk(start: Cell, items: Sequence[Item], order: Sequence[int], steps: int) -> list[int]:
    """The actions along a route; then it stays."""
    (row, column), actions = start, []
    for number in order:
        goal = items[number].cell
        actions += [2 if goal[0] > row else 1] * abs(goal[0] - row)
        actions += [4 if goal[1] > column else 3] * abs(goal[1] - column)
        row, column = goal
    return actions + [0] * (steps - len(actions))
