"""Road networks in plain Python: lanes between named nodes, made into the arrays that kernels read.

    network = Network()
    network.straight("a", "b", (0.0, 0.0), (200.0, 0.0), speed_limit=30.0)
    network.arc("b", "c", centre=(200.0, 20.0), radius=20.0, start=-90.0, stop=0.0)
    sizes, data = network.sizes, network.arrays()

Lanes that are added between the same nodes are one road, from left to right.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core import maths
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.roads import lanes as at

RADIANS = math.pi / 180.0
WIDEST = 5.0  # m
NONE, STRIPED, CONTINUOUS = range(3)  # lines at the sides of a lane, for images


@dataclass
class Lane:
    """One lane: its row of numbers, its shape, the lines at its left and right side, and the number of its signal."""

    shape: int
    numbers: list[float]
    lines: tuple[int, int]
    sign: int = -1


class Network:
    """Lanes between named nodes.

    Args:
        widest: width [m] of a lane, at most; the cars of `rlenvs.kits.traffic` find their lanes up to WIDEST.

    Attributes:
        roads: the lanes by (node, node), in the order in which nodes first appear as beginnings, then as ends.
    """

    def __init__(self, widest: float = WIDEST) -> None:
        self._widest = widest
        self._graph: dict[str, dict[str, list[Lane]]] = {}

    def straight(
        self,
        start: str,
        end: str,
        begin: Sequence[float],
        stop: Sequence[float],
        *,
        width: float = 4.0,
        speed_limit: float = 20.0,
        priority: int = 0,
        forbidden: bool = False,
        lines: tuple[int, int] = (STRIPED, STRIPED),
        wave: tuple[float, float, float] = (0.0, 0.0, 0.0),
        sign: int = -1,
    ) -> None:
        """A straight lane.

        Args:
            start, end: nodes.
            begin, stop: points [m] of its middle.
            width: [m]. speed_limit: [m/s]. priority: who has less waits at a junction.
            forbidden: nobody changes into it from the side.
            lines: at its left and right side, for images.
            wave: amplitude [m], pulsation [rad/m] and phase [rad] of a sine around it.
            sign: the number of the signal at its end, -1 for none.
        """
        right, down = stop[0] - begin[0], stop[1] - begin[1]
        length = math.sqrt(right * right + down * down)
        numbers = [0.0] * at.LANE_NUMBERS
        numbers[at.X], numbers[at.Y] = begin[0], begin[1]
        numbers[at.COSINE], numbers[at.SINE] = right / length, down / length
        numbers[at.HEADING], numbers[at.LENGTH] = maths.atan2(down, right), length
        numbers[at.AMPLITUDE], numbers[at.PULSATION], numbers[at.PHASE] = wave
        room = abs(wave[0])
        box = [min(begin[0], stop[0]) - room, min(begin[1], stop[1]) - room]
        box += [max(begin[0], stop[0]) + room, max(begin[1], stop[1]) + room]
        shape = at.WAVE if wave[0] else at.STRAIGHT
        self._add(start, end, shape, numbers, box, width, speed_limit, priority, forbidden, lines, sign)

    def arc(
        self,
        start: str,
        end: str,
        centre: Sequence[float],
        radius: float,
        begin: float,
        stop: float,
        *,
        width: float = 4.0,
        speed_limit: float = 20.0,
        priority: int = 0,
        forbidden: bool = False,
        lines: tuple[int, int] = (STRIPED, STRIPED),
        sign: int = -1,
    ) -> None:
        """An arc from one angle [rad] around its center to another; it bends to the right where these grow."""
        turn = 1.0 if stop >= begin else -1.0
        numbers = [0.0] * at.LANE_NUMBERS
        numbers[at.X], numbers[at.Y] = centre[0], centre[1]
        numbers[at.RADIUS], numbers[at.START_PHASE], numbers[at.TURN] = radius, begin, turn
        numbers[at.LENGTH] = radius * (stop - begin) * turn
        numbers[at.HEADING] = begin + 0.5 * math.pi * turn
        numbers[at.COSINE], numbers[at.SINE] = maths.cos(numbers[at.HEADING]), maths.sin(numbers[at.HEADING])
        box = _box_of_arc(centre, radius, min(begin, stop), max(begin, stop))
        self._add(start, end, at.ARC, numbers, box, width, speed_limit, priority, forbidden, lines, sign)

    def _add(
        self,
        start: str,
        end: str,
        shape: int,
        numbers: list[float],
        box: list[float],
        width: float,
        speed_limit: float,
        priority: int,
        forbidden: bool,
        lines: tuple[int, int],
        sign: int,
    ) -> None:
        if not 0.0 < width <= self._widest:
            raise ParameterError(f"a lane is at most {self._widest:g} m wide, not {width:g}")
        numbers[at.WIDTH], numbers[at.LIMIT] = width, speed_limit
        numbers[at.PRIORITY], numbers[at.FORBIDDEN] = float(priority), float(forbidden)
        numbers[at.LOW_X : at.HIGH_Y + 1] = box
        self._graph.setdefault(start, {}).setdefault(end, []).append(Lane(shape, numbers, lines, sign))

    @property
    def roads(self) -> dict[tuple[str, str], list[Lane]]:
        """The lanes of each road, by its nodes."""
        return {(start, end): lanes for start, ends in self._graph.items() for end, lanes in ends.items()}

    @property
    def nodes(self) -> list[str]:
        """The names of nodes, in the order of their numbers."""
        ends = [end for _, end in self.roads]
        return list(dict.fromkeys([*self._graph, *ends]))

    @property
    def lanes(self) -> list[Lane]:
        """All lanes, in the order of their numbers."""
        return [lane for lanes in self.roads.values() for lane in lanes]

    def lane(self, start: str, end: str, place: int = 0) -> int:
        """The number of a lane; a negative place counts from the right."""
        number = 0
        for road, lanes in self.roads.items():
            if road == (start, end):
                return number + place % len(lanes)
            number += len(lanes)
        raise KeyError(f"there is no road from {start!r} to {end!r}")

    def road(self, start: str, end: str) -> int:
        """The number of a road."""
        return list(self.roads).index((start, end))

    def path(self, start: str, goal: str) -> list[str]:
        """The nodes of a way with the fewest roads, the alphabetically first of these; empty where there is none."""
        queue = deque([[start]])
        while queue:
            path = queue.popleft()
            for end in sorted(set(self._graph.get(path[-1], ())) - set(path)):
                if end == goal:
                    return [*path, end]
                if end in self._graph:
                    queue.append([*path, end])
        return []

    def route(self, start: str, end: str, goal: str) -> list[int]:
        """The numbers of the roads of a way to a node, that from `start` to `end` first."""
        path = [start, *(self.path(end, goal) or [end])]
        return [self.road(a, b) for a, b in itertools.pairwise(path)]

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of `rlenvs.kits.roads.lanes.ROAD_DATA`."""
        branches = [len(ends) for ends in self._graph.values()]
        ends = [end for _, end in self.roads]
        branches += [ends.count(end) for end in ends]
        return {
            "lanes": len(self.lanes),
            "roads": len(self.roads),
            "nodes": len(self.nodes),
            "branches": max(branches),
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of `rlenvs.kits.roads.lanes.ROAD_DATA`."""
        sizes, nodes, roads = self.sizes, self.nodes, list(self.roads.items())
        road = np.zeros((len(roads), 4), np.int64)
        branch = np.full((len(nodes), 2, sizes["branches"]), -1, np.int64)
        places: list[tuple[int, int, int, int]] = []
        taken: dict[tuple[int, int], int] = {}
        for n, ((start, end), lanes) in enumerate(roads):
            road[n] = len(places), len(lanes), nodes.index(start), nodes.index(end)
            for node, side in ((nodes.index(start), at.OUT), (nodes.index(end), at.IN)):
                branch[node, side, taken.get((node, side), 0)] = n
                taken[node, side] = taken.get((node, side), 0) + 1
            places += [(lane.shape, n, place, lane.sign) for place, lane in enumerate(lanes)]
        numbers = np.array([lane.numbers for lane in self.lanes], np.float64)
        return {"lane": numbers, "lane_at": np.array(places, np.int64), "road": road, "branch": branch}


def _box_of_arc(centre: Sequence[float], radius: float, low: float, high: float) -> list[float]:
    """Low x, low y, high x, high y of an arc between two angles [rad], and a hair's breadth more."""
    quarter = 0.5 * math.pi
    angles = [low, high, *(quarter * n for n in range(math.ceil(low / quarter), math.floor(high / quarter) + 1))]
    xs = [centre[0] + radius * maths.cos(angle) for angle in angles]
    ys = [centre[1] + radius * maths.sin(angle) for angle in angles]
    return [min(xs) - 1e-6, min(ys) - 1e-6, max(xs) + 1e-6, max(ys) + 1e-6]


def route_rows(routes: Sequence[Sequence[int]], length: int) -> np.ndarray:
    """Routes as rows of equal length, int64, -1 behind the last road."""
    rows = np.full((len(routes), length), -1, np.int64)
    for row, route in zip(rows, routes, strict=True):
        row[: len(route)] = route
    return rows


def highway(lanes: int, length: float = 1_000_000.0, speed_limit: float = 30.0, width: float = 4.0) -> Network:
    """Parallel lanes along x, the leftmost at y = 0."""
    network = Network()
    for k in range(lanes):
        sides: Any = (CONTINUOUS if k == 0 else STRIPED, CONTINUOUS if k == lanes - 1 else NONE)
        network.straight("0", "1", (0.0, k * width), (length, k * width), speed_limit=speed_limit, lines=sides)
    return network


WINDING = (  # metres of a straight, or radius [m] and degrees, to the right where these are positive, of a bend
    *((200.0, 0.0), (200.0, 50.0), (80.0, 0.0), (200.0, -50.0), (80.0, 0.0), (160.0, -60.0), (80.0, 0.0)),
    *((160.0, 60.0), (120.0, 0.0), (240.0, 40.0), (80.0, 0.0), (160.0, -40.0), (300.0, 0.0)),
)


def winding(lanes: int, speed_limit: float = 25.0, width: float = 4.0) -> Network:
    """Parallel lanes of straights and bends, 1.7 km long, that begins along x with the leftmost lane at y = 0."""
    network = Network()
    x, y, heading = 0.0, 0.0, 0.0
    for n, (size, degrees) in enumerate(WINDING):
        sine, cosine = maths.sin(heading), maths.cos(heading)
        turn = degrees * RADIANS
        side = 1.0 if degrees > 0.0 else -1.0
        centre = x - side * size * sine, y + side * size * cosine
        for k in range(lanes):
            sides: Any = (CONTINUOUS if k == 0 else STRIPED, CONTINUOUS if k == lanes - 1 else NONE)
            usual: Any = {"speed_limit": speed_limit, "width": width, "lines": sides}
            if degrees == 0.0:
                begin = x - k * width * sine, y + k * width * cosine
                stop = begin[0] + size * cosine, begin[1] + size * sine
                network.straight(str(n), str(n + 1), begin, stop, **usual)
            else:
                begins = heading - side * 0.5 * math.pi
                radius = size - side * k * width
                network.arc(str(n), str(n + 1), centre, radius, begins, begins + turn, **usual)
        if degrees == 0.0:
            x, y = x + size * cosine, y + size * sine
            continue
        heading += turn
        x, y = centre[0] + side * size * maths.sin(heading), centre[1] - side * size * maths.cos(heading)
    return network
