"""Procedural towns in plain Python: a grid of streets, some of them missing, with junctions of three kinds.

    town = Town(seed=3, columns=4, rows=3)
    town.network.arrays(), town.signals, town.crossings

Streets have a lane each way (right-hand traffic) and a speed limit; at a junction with three or four arms there are
traffic lights, or stop signs on the minor street, or the right of way of the street along x. Every junction can be
reached from every other: no street is removed that would change this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.kits.roads import lanes as at
from rlenvs.kits.roads.network import CONTINUOUS, NONE, STRIPED, Network

LANE = 4.0  # m, width
RIGHT_RADIUS = 9.0  # m, of right turns; left turns are a lane wider
REACH = RIGHT_RADIUS + 0.5 * LANE  # m from the middle of a junction to where its arms begin
ARMS = ((0, 1), (-1, 0), (0, -1), (1, 0))  # columns, rows: below, left, above, right
SPEED_LIMITS = (8.3, 11.1, 13.9)  # m/s: 30, 40 and 50 km/h
LIGHTS, STOPS, PRIORITY = range(3)  # kinds of junctions
BETWEEN = 300.0  # m, between towns that lie side by side


class Town:
    """A town.

    Args:
        seed: of all that is drawn.
        columns, rows: of junctions.
        block: meters between neighboring junctions.
        missing: share of the streets to remove where that cuts nobody off.

    Attributes:
        network: its `Network`.
        kinds: of junctions, by (column, row).
        signals: rows for `rlenvs.kits.traffic.signals.signal_table`.
        crossings: ends of pedestrian crossings, x y x y [m], on a street's two sides.
        streets: its two-way streets, pairs of junctions.
    """

    def __init__(self, seed: int, columns: int = 4, rows: int = 3, block: float = 80.0, missing: float = 0.2) -> None:
        self._dice = np.random.default_rng(seed)
        self.columns, self.rows, self.block = columns, rows, block
        self.network = Network()
        self.signals: list[tuple[float, ...]] = []
        self.crossings: list[tuple[float, float, float, float]] = []
        self.streets = self._draw_streets(missing)
        self.kinds = {place: self._draw_kind(place) for place in self._places()}
        self._signs: dict[tuple[Any, int], int] = {}
        self._make_signals()
        for place in self._places():
            self._make_junction(place)
        for one, two in self.streets:
            self._make_street(one, two)

    def _places(self) -> list[tuple[int, int]]:
        return [(column, row) for row in range(self.rows) for column in range(self.columns)]

    def _draw_streets(self, missing: float) -> list[Any]:
        streets = [(a, (a[0] + 1, a[1])) for a in self._places() if a[0] + 1 < self.columns]
        streets += [(a, (a[0], a[1] + 1)) for a in self._places() if a[1] + 1 < self.rows]
        kept = list(streets)
        for n in self._dice.permutation(len(streets)):
            rest = [street for street in kept if street != streets[n]]
            if len(streets) - len(rest) <= missing * len(streets) and self._is_whole(rest):
                kept = rest
        return kept

    def _is_whole(self, streets: list[Any]) -> bool:
        """Whether these streets join all junctions, at least two at each so that nobody has to turn around."""
        near: dict[Any, list[Any]] = {place: [] for place in self._places()}
        for a, b in streets:
            near[a].append(b)
            near[b].append(a)
        if min(len(others) for others in near.values()) < 2:
            return False
        seen, waiting = {(0, 0)}, [(0, 0)]
        while waiting:
            for other in near[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return len(seen) == len(near)

    def arms(self, place: tuple[int, int]) -> list[int]:
        """The arms of a junction that have a street."""
        found = []
        for arm, (right, down) in enumerate(ARMS):
            other = place[0] + right, place[1] + down
            if (place, other) in self.streets or (other, place) in self.streets:
                found.append(arm)
        return found

    def _draw_kind(self, place: tuple[int, int]) -> int:
        return int(self._dice.integers(3)) if len(self.arms(place)) > 2 else PRIORITY

    def _make_signals(self) -> None:
        for place, kind in self.kinds.items():
            if kind == PRIORITY:
                continue
            shift = float(self._dice.uniform(0.0, 24.0))
            for arm in self.arms(place):
                along_x = arm % 2 == 1
                if kind == STOPS and along_x:
                    continue
                row = (
                    (0.0, 9.0, 3.0, 24.0, shift + (12.0 if along_x else 0.0)) if kind == LIGHTS else (1.0, 0, 0, 1.0, 0)
                )
                self._signs[place, arm] = len(self.signals)
                self.signals.append(tuple(map(float, row)))

    def middle(self, place: tuple[int, int]) -> tuple[float, float]:
        """Of a junction."""
        return place[0] * self.block, place[1] * self.block

    def node(self, place: tuple[int, int], arm: int, into: bool) -> str:
        """Where cars enter a junction from an arm, or leave it."""
        return f"{place[0]},{place[1]} {'in' if into else 'out'} {arm}"

    def _at(self, place: tuple[int, int], arm: int, right: float, down: float) -> tuple[float, float]:
        """A point that is given for the arm below, turned to another arm."""
        x, y = self.middle(place)
        for _ in range(arm):
            right, down = -down, right
        return x + right, y + down

    def _make_junction(self, place: tuple[int, int]) -> None:
        """All ways from one arm to another: below to above, to the right and to the left, and so on around."""
        arms = self.arms(place)
        for arm in arms:
            priority = 3 if arm % 2 else 1
            turn = 0.5 * math.pi * arm
            usual: dict[str, Any] = {"speed_limit": SPEED_LIMITS[0]}
            into = self.node(place, arm, True)
            right, left, ahead = (arm - 1) % 4, (arm + 1) % 4, (arm + 2) % 4
            if right in arms:
                middle = self._at(place, arm, REACH, REACH)
                out = self.node(place, right, False)
                lines = {"lines": (NONE, CONTINUOUS), "priority": priority, **usual}
                self.network.arc(into, out, middle, RIGHT_RADIUS, turn + math.pi, turn + 1.5 * math.pi, **lines)
            if left in arms:
                middle = self._at(place, arm, -REACH, REACH)
                out, radius = self.node(place, left, False), RIGHT_RADIUS + LANE
                lines = {"lines": (NONE, NONE), "priority": priority - 1, **usual}
                self.network.arc(into, out, middle, radius, turn, turn - 0.5 * math.pi, **lines)
            if ahead in arms:
                begin = self._at(place, arm, 0.5 * LANE, REACH)
                stop = self._at(place, arm, 0.5 * LANE, -REACH)
                out = self.node(place, ahead, False)
                self.network.straight(into, out, begin, stop, lines=(NONE, NONE), priority=priority, **usual)

    def _make_street(self, one: tuple[int, int], two: tuple[int, int]) -> None:
        """A lane each way, and a crossing for pedestrians in the middle."""
        arm = next(n for n, (right, down) in enumerate(ARMS) if (one[0] + right, one[1] + down) == two)
        limit = float(self._dice.choice(SPEED_LIMITS))
        for a, b, side in ((one, two, arm), (two, one, (arm + 2) % 4)):
            begin = self._at(a, side, -0.5 * LANE, REACH)
            stop = self._at(b, (side + 2) % 4, 0.5 * LANE, REACH)
            sign = self._signs.get((b, (side + 2) % 4), -1)
            ends = self.node(a, side, False), self.node(b, (side + 2) % 4, True)
            usual: dict[str, Any] = {"speed_limit": limit, "priority": 3 if side % 2 else 1, "sign": sign}
            self.network.straight(*ends, begin, stop, lines=(STRIPED, CONTINUOUS), **usual)
        x, y = (0.5 * (u + v) for u, v in zip(self.middle(one), self.middle(two), strict=True))
        right, down = (0.0, LANE + 2.0) if arm % 2 else (LANE + 2.0, 0.0)
        self.crossings.append((x - right, y - down, x + right, y + down))


def side_by_side(towns: Sequence[Town]) -> tuple[dict[str, np.ndarray], list[tuple[float, ...]], np.ndarray]:
    """Several towns as one network, from left to right, `BETWEEN` meters apart: what an episode may take place in.

    Returns:
        The arrays of `rlenvs.kits.roads.lanes.ROAD_DATA`; rows for `rlenvs.kits.traffic.signals.signal_table`; ends of
        crossings, (crossings, 4). Those of each town follow those of the one before.
    """
    parts: list[dict[str, np.ndarray]] = []
    signals: list[tuple[float, ...]] = []
    crossings: list[np.ndarray] = []
    branches = max(town.network.sizes["branches"] for town in towns)
    lanes = roads = nodes = 0
    left = 0.0
    for town in towns:
        part, sizes = town.network.arrays(), town.network.sizes
        part["lane"][:, [at.X, at.LOW_X, at.HIGH_X]] += left
        part["lane_at"][:, at.ROAD] += roads
        part["lane_at"][:, at.SIGN] += np.where(part["lane_at"][:, at.SIGN] >= 0, len(signals), 0)
        part["road"][:, at.FIRST] += lanes
        part["road"][:, [at.START, at.END]] += nodes
        branch = np.full((sizes["nodes"], 2, branches), -1, np.int64)
        branch[:, :, : sizes["branches"]] = part["branch"]
        part["branch"] = np.where(branch >= 0, branch + roads, -1)
        parts.append(part)
        signals += town.signals
        crossings.append(np.array(town.crossings) + np.array([left, 0.0, left, 0.0]))
        lanes, roads, nodes = lanes + sizes["lanes"], roads + sizes["roads"], nodes + sizes["nodes"]
        left += (town.columns - 1) * town.block + BETWEEN
    return (
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]},
        signals,
        np.concatenate(crossings),
    )
