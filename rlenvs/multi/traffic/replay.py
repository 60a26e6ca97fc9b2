"""Replays in the files that CityFlow's viewer shows: a JSON file of the roads, and a line for each step.

replay = Replay(batch)
for _ in range(steps):
    batch.step(actions)
    replay.note()
replay.save("folder")
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlenvs.multi.traffic.crossing import is_open
from rlenvs.multi.traffic.geometry import direction_at, point_at
from rlenvs.multi.traffic.networks import Junction, Network, Point
from rlenvs.multi.traffic.scenario import network_of

if TYPE_CHECKING:
    from rlenvs.core.batch.kernel_batch import KernelBatch

__all__ = ["Replay"]

NARROWEST = 5.0  # m of a road's width beyond the end of its lanes, in the outline of a junction
ROADNET, REPLAY = "replay_roadnet.json", "replay.txt"  # names of the files, CityFlow's by default


class Replay:
    """Notes the steps of a world of a batch.

    Args:
        batch: of a traffic world.
        index: which of its worlds.
    """

    def __init__(self, batch: KernelBatch, index: int = 0) -> None:
        self.network = network_of(batch.setup.values)
        self._batch, self._index = batch, index
        p, _ = batch.records(index)
        begins = p.line_begins.tolist()
        points: list[Point] = [(float(x), float(y)) for x, y in p.line]
        self._lines = [points[begin:end] for begin, end in itertools.pairwise(begins)]
        self._rows = list[str]()

    def note(self) -> None:
        """Note where vehicles are and which lanes are open, as a line."""
        p, s = self._batch.records(self._index)
        cars = ",".join([*(self._car(p, s, v) for v in vehicles(s)), ""])
        self._rows.append(f"{cars};{self._signals(p, s)}")

    def save(self, folder: str | Path) -> None:
        """Write both files into a folder, which is created if needed."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        (path / ROADNET).write_text(json.dumps({"static": roads_of(self.network)}), encoding="utf-8")
        (path / REPLAY).write_text("".join(f"{row}\n" for row in self._rows), encoding="utf-8")

    def _car(self, p: Any, s: Any, v: int) -> str:
        line, kind = self._lines[int(s.drivable[v])], int(s.kind[v])
        place, way = point_at(line, float(s.position[v])), direction_at(line, float(s.position[v]))
        lane, aside = int(s.drivable[v]), float(s.aside[v])
        if aside != 0.0:
            beside = lane + (1 if aside > 0.0 else -1)
            other = point_at(self._lines[beside], float(s.position[v]))
            share = 2.0 * abs(aside) / float(p.lane_width[lane] + p.lane_width[beside])
            place = (place[0] + share * (other[0] - place[0]), place[1] + share * (other[1] - place[1]))
        numbers = (*place, math.atan2(way[1], way[0]))
        side = (aside > 0.0) - (aside < 0.0)
        name = f"flow_{int(s.flow[v])}_{int(s.number[v])}"
        size = float(p.car_length[kind]), float(p.car_width[kind])
        return " ".join([*map(repr, numbers), name, str(side), *map(repr, size)])

    def _signals(self, p: Any, s: Any) -> str:
        """Of each road that leads to a signal, whether all links of each lane are open: g or r."""
        parts = []
        for road, each in enumerate(self.network.roads):
            if self.network.junction_of[each.end].virtual:
                continue
            lanes = range(self.network.first_lane[road], self.network.first_lane[road + 1])
            marks = ["g" if _all_open(p, s, lane) else "r" for lane in lanes]
            parts.append(f"{' '.join((each.id, *marks))},")
        return "".join(parts)


def _all_open(p: Any, s: Any, lane: int) -> bool:
    links = p.leaving[p.leaving_begins[lane] : p.leaving_begins[lane + 1]]
    return all(is_open(p, s, link) for link in links.tolist())


def vehicles(s: Any) -> list[int]:
    """The vehicles on lanes and links, without shadows, by drivable, the first one ahead."""
    found = []
    for v in s.first.tolist():
        while v >= 0:
            if not s.shadow[v]:
                found.append(v)
            v = int(s.behind[v])
    return found


def roads_of(network: Network) -> dict[str, Any]:
    """The network as CityFlow's viewer reads it."""
    return {
        "nodes": [
            {
                "id": each.id,
                "point": list(each.point),
                "virtual": each.virtual,
                **({} if each.virtual else {"width": each.width}),
                "outline": [number for point in _outline(network, each) for number in point],
            }
            for each in network.junctions
        ],
        "edges": [
            {
                "id": each.id,
                "from": each.start,
                "to": each.end,
                "points": [list(point) for point in each.points],
                "nLane": len(each.lanes),
                "laneWidths": [lane.width for lane in each.lanes],
            }
            for each in network.roads
        ],
    }


def _outline(network: Network, junction: Junction) -> list[Point]:
    """The convex hull of the junction's middle and the ends of its roads."""
    (x, y), points = junction.point, [junction.point]
    for name in junction.roads:
        road = network.roads[network.road_of[name]]
        (from_x, from_y), (to_x, to_y) = (network.junction_of[end].point for end in (road.start, road.end))
        length = math.hypot(to_x - from_x, to_y - from_y)
        way = ((to_x - from_x) / length, (to_y - from_y) / length)
        inwards = 1.0 if road.end == junction.id else -1.0
        wide = sum(lane.width for lane in road.lanes)
        for back in (junction.width, junction.width + max(0.5 * min(junction.width, wide), NARROWEST)):
            edge = (x - inwards * way[0] * back, y - inwards * way[1] * back)
            points += [edge, (edge[0] + way[1] * wide, edge[1] - way[0] * wide)]
    return convex_hull(points)


def convex_hull(points: list[Point]) -> list[Point]:
    """The convex hull, counterclockwise."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    return [*lower[:-1], *upper[:-1]]


def _chain(points: list[Point]) -> list[Point]:
    """The points of a row that leave all others on one side."""
    found = list[Point]()
    for x, y in points:
        while len(found) > 1:
            (ax, ay), (bx, by) = found[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            found.pop()
        found.append((x, y))
    return found
