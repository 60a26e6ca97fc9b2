"""Routes over a network: the shortest way between roads, and the lanes that lead along it, by CityFlow's rules.

Where several ways are equally short, the order in which a binary heap gives equal entries decides; that of `heapq` is
that of the C++ library, with which CityFlow is built.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.multi.traffic.geometry import length_of, road_lines
from rlenvs.multi.traffic.networks import Flow, Network


@dataclass(order=True)
class _Entry:
    distance: float
    road: int = field(compare=False)


class Route(NamedTuple):
    """A way through a network.

    Attributes:
        roads: their numbers.
        links: by road, and by index of its lane, the number of the way across the junction that is taken from there;
            -1 if none leads on, and on the last road.
        starts: numbers of the lanes on which vehicles may enter.
    """

    roads: tuple[int, ...]
    links: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]


class Router:
    """Finds routes on a network.

    Args:
        network: the network.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.ends = [(start, end) for *_, start, end in network.links()]
        lanes = network.first_lane[-1]
        self.leaving: list[list[int]] = [[] for _ in range(lanes)]
        for number, (start, _) in enumerate(self.ends):
            self.leaving[start].append(number)
        self.road_of_lane = [road for road, each in enumerate(network.roads) for _ in each.lanes]

    @cached_property
    def mean_length(self) -> list[float]:
        """Of the lanes of each road, in meters."""
        found = []
        for lines in road_lines(self.network):
            total = 0.0
            for line in lines:
                total += length_of(line)
            found.append(total / len(lines))
        return found

    @cached_property
    def following(self) -> list[list[int]]:
        """The roads to which some lane of a road leads, in the order in which its junction names them."""
        network, found = self.network, []
        for number, road in enumerate(network.roads):
            reached = {
                self.road_of_lane[self.ends[link][1]] for lane in self.lanes(number) for link in self.leaving[lane]
            }
            around = (network.road_of[name] for name in network.junction_of[road.end].roads)
            found.append([other for other in around if other in reached])
        return found

    def lanes(self, road: int) -> range:
        """The numbers of a road's lanes."""
        return range(self.network.first_lane[road], self.network.first_lane[road + 1])

    def shortest(self, start: int, end: int) -> list[int] | None:
        """The roads after `start` on the shortest way to `end`; None if there is no way."""
        best, seen = {start: 0.0}, set()
        before: dict[int, int] = {}
        waiting = [_Entry(0.0, start)]
        while waiting:
            here = waiting[0].road
            if here == end:
                way = [end]
                while before.get(way[-1], start) != start:
                    way.append(before[way[-1]])
                return way[::-1]
            heapq.heappop(waiting)
            if here in seen:
                continue
            seen.add(here)
            for other in self.following[here]:
                distance = best[here] + self.mean_length[other]
                if other not in best or distance < best[other]:
                    best[other], before[other] = distance, here
                    heapq.heappush(waiting, _Entry(distance, other))
        return None

    def links_to(self, lane: int, road: int) -> list[int]:
        """The ways from a lane to a road."""
        return [link for link in self.leaving[lane] if self.road_of_lane[self.ends[link][1]] == road]

    def link_from(self, lane: int, roads: Sequence[int], step: int) -> int:
        """The way that vehicles take from a lane of the road at a step of a route, or -1: of those whose lane leads on
        to the road after the next one, that to the lane with the nearest index."""
        if step == len(roads) - 1:
            return -1
        links = self.links_to(lane, roads[step + 1])
        if step < len(roads) - 2:
            links = [link for link in links if self.links_to(self.ends[link][1], roads[step + 2])]
        here = lane - self.network.first_lane[roads[step]]

        def aside(link: int) -> int:
            return abs(self.ends[link][1] - self.network.first_lane[roads[step + 1]] - here)

        return min(links, key=aside, default=-1)

    def route(self, flow: Flow, name: str) -> Route:
        """The route of a flow.

        Args:
            flow: vehicles with the same anchors.
            name: of the flow, for errors.

        Raises:
            ParameterError: a road that does not exist, no way between two roads, or a lane from which none leads on.
        """
        anchors = []
        for road in flow.route:
            if road not in self.network.road_of:
                raise ParameterError(
                    f"{name}: its route names the road {shortened(road)}, which the network does not have"
                )
            anchors.append(self.network.road_of[road])
        roads = anchors[:1]
        for start, end in itertools.pairwise(anchors):
            way = self.shortest(start, end) if start != end else []
            if way is None:
                names = self.network.roads[start].id, self.network.roads[end].id
                raise ParameterError(f"{name}: no way leads from road {names[0]} to road {names[1]}")
            roads += way
        if len(roads) < 2:
            raise ParameterError(f"{name}: its route has one road only; it needs two different ones at least")
        links = tuple(
            tuple(self.link_from(lane, roads, step) for lane in self.lanes(road)) for step, road in enumerate(roads)
        )
        starts = tuple(lane for lane in self.lanes(roads[0]) if self.links_to(lane, roads[1]))
        self._walk(roads, links, starts, name)
        return Route(tuple(roads), links, starts)

    def _walk(self, roads: Sequence[int], links: Sequence[Sequence[int]], starts: Sequence[int], name: str) -> None:
        """Refuse a route on which some vehicle would be stuck in a lane."""
        first, lanes = self.network.first_lane, set(starts)
        for step, road in enumerate(roads[:-1]):
            reached = set()
            for lane in sorted(lanes):
                link = links[step][lane - first[road]]
                if link < 0:
                    here, ahead = (
                        self.network.roads[road].id,
                        [self.network.roads[n].id for n in roads[step + 1 : step + 3]],
                    )
                    index, way = lane - first[road], " and on to ".join(ahead)
                    raise ParameterError(f"{name}: lane {index} of road {here} has no lane link to {way}")
                reached.add(self.ends[link][1])
            lanes = reached
