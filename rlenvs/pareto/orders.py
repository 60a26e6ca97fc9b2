"""Exact fronts of worlds without chance in which things on a map are picked up, by one or by a team.

What is picked up on a way, and when, is all that counts of it. So a policy is an order of things, with shortest ways
between them. A shortest way may lead over other things; who picks them up at that moment has no less, and this order is
looked at as well. What can still be had hangs on where one is, on what is gone, and on the time that is left: dynamic
programming over these, on sets of vectors, gives the front. Time does not count where there is enough of it for the
longest of the best orders.

Where a team is paid for what any of them picks up, and nobody is in anybody's way, its front is that of all ways to
share the things: for each of them what is not its own is gone. Who passes a thing of another's takes it nevertheless,
no later than the other would; then it is among its own in another way to share them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.pareto.sets import TooManyPointsError, descending, nondominated

FAR = 10_000  # more steps than any way has
MOST_SHARED = 10  # things, by a team
EQUAL = 1e-12  # what differs by less is rounding


def steps_to(open_cells: np.ndarray, target: tuple[int, int]) -> np.ndarray:
    """Moves to a neighboring cell, up to a target, from every cell of a map (rows, columns) that is open; FAR from the
    others."""
    rows, columns = open_cells.shape
    found: np.ndarray = np.full((rows, columns), FAR)
    found[target] = 0
    queue = deque([target])
    while queue:
        row, column = queue.popleft()
        for r, c in ((row, column - 1), (row - 1, column), (row, column + 1), (row + 1, column)):
            inside = 0 <= r < rows and 0 <= c < columns
            if inside and open_cells[r, c] and found[r, c] == FAR:
                found[r, c] = found[row, column] + 1
                queue.append((r, c))
    return found


class Places(NamedTuple):
    """A map, as far as fronts go.

    Attributes:
        steps: (places, cells) of a shortest way to each place from every cell, at least FAR where there is none.
        cells: of the places.
        starts: the cells in which those who pick up start, one or a team.
        gains: (places, objectives), not negative: what each place gives when one comes there first.
        last: of the place that ends the episode, which is the last one; -1 where there is none.
        moved: where an action leads from a cell.
        actions: how many there are.
    """

    steps: np.ndarray
    cells: Sequence[int]
    starts: Sequence[int]
    gains: np.ndarray
    last: int
    moved: Callable[[int, int], int]
    actions: int


class _Front(NamedTuple):
    """What can still be had: vectors, how each goes on (place and vector there; -1 for the end), and steps it takes."""

    values: np.ndarray
    follows: np.ndarray
    lengths: np.ndarray


def front_of(places: Places, gamma: float, horizon: int, most: int = 6000) -> tuple[np.ndarray, list[list[int]]]:
    """The points of the exact front, in descending order, and for each the actions that attain it.

    Raises:
        TooManyPointsError: a front with more points than `most`.
    """
    search = _Search(places, gamma, most)
    root = search.front(0, len(places.cells), horizon)
    order = descending(root.values)
    return root.values[order], [search.actions(0, 0, i, horizon) for i in order]


def front_of_team(places: Places, gamma: float, horizon: int, most: int = 6000) -> tuple[np.ndarray, list[np.ndarray]]:
    """The same for a team: the actions (steps, agents) of each point, up to the horizon. Action 0 is to stay.

    Raises:
        ParameterError: too many things. TooManyPointsError: a front with more points than `most`.
    """
    count = len(places.cells)
    if count > MOST_SHARED:
        raise ParameterError(f"{count} things to share are too many for the exact front; at most {MOST_SHARED}")
    search, last = _Search(places, gamma, most), len(places.starts) - 1
    whole = (1 << count) - 1
    teams = {0: _Shares(np.zeros((1, places.gains.shape[1])), [()])}
    for k in range(last + 1):
        wanted = range(whole + 1) if k < last else [whole]
        teams = {mine: search.shared(teams, k, mine, horizon) for mine in wanted}
    found = teams[whole]
    order = descending(found.values)
    return found.values[order], [search.actions_of_team(found.parts[i], horizon) for i in order]


class _Shares(NamedTuple):
    """What some agents can have of some things, and of each vector what is gone for each agent, and its vector."""

    values: np.ndarray
    parts: list[tuple[tuple[int, int], ...]]


class _Search:
    def __init__(self, places: Places, gamma: float, most: int) -> None:
        self.places, self.gamma, self.most, self.count = places, gamma, most, len(places.cells)
        from_cells = [*places.cells, *places.starts]
        self.between = np.array([[int(places.steps[j, cell]) for j in range(self.count)] for cell in from_cells])
        self.over = [[self._over(i, j) for j in range(self.count)] for i in range(len(from_cells))]
        self.enough: dict[tuple[int, int], _Front] = {}  # by what is gone and the place, with all the time there is
        self.tours: dict[tuple[int, int], int] = {}
        self.short: dict[tuple[int, int, int], _Front] = {}  # with less

    def _over(self, i: int, j: int) -> int:
        """The places that a shortest way from one place to another may lead over, as bits."""
        way, whole = self.between, self.between[i, j]
        return sum(1 << k for k in range(self.count) if k not in (i, j) and way[i, k] + way[k, j] == whole)

    def _nexts(self, gone: int, place: int, left: int) -> list[int]:
        """Places that may be the next one: not gone, near enough, and none that is not gone on a shortest way."""
        way, over = self.between[place], self.over[place]
        near = [j for j in range(self.count) if not gone >> j & 1 and way[j] <= left and way[j] < FAR]
        return [j for j in near if not over[j] & ~gone]

    def front(self, gone: int, place: int, left: int) -> _Front:
        """What can still be had from a place, with what is gone, in the time that is left."""
        if place == self.places.last:
            return _Front(np.zeros((1, self.places.gains.shape[1])), np.array([[-1, 0]]), np.zeros(1, np.int64))
        if self._tour(gone, place) <= left:
            whole = self._with_enough(gone, place)
            if whole.lengths.max() <= left:
                return whole
        key = gone, place, left
        if key not in self.short:
            ways = [(j, self.front(gone | 1 << j, j, left - int(self.between[place, j]))) for j in self._nexts(*key)]
            self.short[key] = self._joined(place, ways)
        return self.short[key]

    def _tour(self, gone: int, place: int) -> int:
        """Steps to all that is not gone, always to the nearest: with less time, time is sure to count."""
        key, steps = (gone, place), 0
        if key not in self.tours:
            while near := [j for j in range(self.count) if not gone >> j & 1 and j != self.places.last]:
                nearest = min(near, key=lambda j: self.between[place, j])
                steps += int(self.between[place, nearest])
                gone, place = gone | 1 << nearest, nearest
            self.tours[key] = steps
        return self.tours[key]

    def _with_enough(self, gone: int, place: int) -> _Front:
        """The same with all the time there is."""
        key = gone, place
        if key not in self.enough:
            ways = [(j, self.front(gone | 1 << j, j, FAR * self.count)) for j in self._nexts(gone, place, FAR)]
            self.enough[key] = self._joined(place, ways)
        return self.enough[key]

    def _joined(self, place: int, ways: Sequence[tuple[int, _Front]]) -> _Front:
        """The best of going to any of some places and on from there."""
        values = [np.zeros((1, self.places.gains.shape[1]))]
        follows, lengths = [np.array([[-1, 0]])], [np.zeros(1, np.int64)]
        for j, front in ways:
            steps = int(self.between[place, j])
            values.append(self.gamma ** (steps - 1) * (self.places.gains[j] + self.gamma * front.values))
            follows.append(np.stack([np.full(len(front.values), j), np.arange(len(front.values))], axis=1))
            lengths.append(steps + front.lengths)
        taken = np.concatenate(lengths)
        self._check(len(taken) // 20)
        order = np.argsort(taken, kind="stable")  # of equals the shortest is kept
        together = np.concatenate(values)[order]
        kept = order[nondominated(together, EQUAL)]
        self._check(len(kept))
        return _Front(np.concatenate(values)[kept], np.concatenate(follows)[kept], taken[kept])

    def _check(self, count: int) -> None:
        if count > self.most:
            raise TooManyPointsError(
                f"a place has more than {self.most} nondominated points; use a larger gamma, or a shorter horizon"
            )

    def actions(self, agent: int, gone: int, i: int, left: int) -> list[int]:
        """The actions that lead an agent to one point of its front; one, if none leads anywhere."""
        found: list[int] = []
        place, cell = self.count + agent, self.places.starts[agent]
        front = self.front(gone, place, left)
        while (j := int(front.follows[i, 0])) >= 0:
            way = self.places.steps[j]
            while cell != self.places.cells[j]:
                nearer = (a for a in range(self.places.actions) if way[self.places.moved(cell, a)] < way[cell])
                found.append(next(nearer))
                cell = self.places.moved(cell, found[-1])
            i, left = int(front.follows[i, 1]), left - int(self.between[place, j])
            gone, place = gone | 1 << j, j
            front = self.front(gone, place, left)
        return found or [0]

    def shared(self, before: Mapping[int, _Shares], agent: int, mine: int, horizon: int) -> _Shares:
        """What an agent and those before it can have of some things: all ways to share them."""
        values, parts = [], []
        for others, shares in before.items():
            if others & ~mine:
                continue
            gone = (1 << self.count) - 1 & ~(mine & ~others)
            own = self.front(gone, self.count + agent, horizon).values
            values.append((shares.values[:, None] + own).reshape(-1, own.shape[1]))
            parts += [(*part, (gone, i)) for part in shares.parts for i in range(len(own))]
        together = np.concatenate(values)
        kept = np.flatnonzero(nondominated(together, EQUAL))
        self._check(len(kept))
        return _Shares(together[kept], [parts[i] for i in kept])

    def actions_of_team(self, parts: Sequence[tuple[int, int]], horizon: int) -> np.ndarray:
        """The actions (horizon, agents) of each of a team; who is done stays."""
        found = np.zeros((horizon, len(parts)), np.int64)
        for agent, (gone, i) in enumerate(parts):
            way = self.actions(agent, gone, i, horizon)
            found[: len(way), agent] = way
        return found
