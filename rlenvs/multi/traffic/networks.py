"""Road networks as CityFlow describes them: roads with lanes, junctions with movements between them, plans of signals.

Traffic drives on the right. Lane 0 of a road is the innermost one, next to the middle of the street. Lengths are in
meters, times in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Flow", "Junction", "Lane", "LaneLink", "Movement", "Network", "Phase", "Road", "Vehicle"]

Point = tuple[float, float]

KINDS = {"turn_right": 1, "turn_left": 2, "go_straight": 3}  # of movements, by their priority where they cross


@dataclass(frozen=True)
class Lane:
    """A lane of a road.

    Attributes:
        width: in meters.
        max_speed: speed limit, in m/s.
    """

    width: float
    max_speed: float


@dataclass(frozen=True)
class Road:
    """A road in one direction.

    Attributes:
        id: its name.
        start, end: ids of the junctions that it joins.
        points: its inner edge, from the middle of one junction to the middle of the other.
        lanes: from the innermost to the outermost.
    """

    id: str
    start: str
    end: str
    points: tuple[Point, ...]
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class LaneLink:
    """A way across a junction.

    Attributes:
        start, end: index of the lane from which it comes, on the movement's first road, and to which it leads.
        points: its middle line; empty for a smooth curve from lane to lane.
    """

    start: int
    end: int
    points: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Movement:
    """From one road to another across a junction (CityFlow: road link).

    Attributes:
        kind: "go_straight", "turn_left" or "turn_right".
        start, end: ids of the roads.
        lane_links: its ways.
    """

    kind: str
    start: str
    end: str
    lane_links: tuple[LaneLink, ...]


@dataclass(frozen=True)
class Phase:
    """A phase of a signal.

    Attributes:
        time: how long it lasts in the stored plan, in seconds.
        green: movements that may go, as indices of the junction's movements.
    """

    time: float
    green: tuple[int, ...]


@dataclass(frozen=True)
class Junction:
    """A junction, or an end of the network.

    Attributes:
        id: its name.
        point: its middle.
        width: how far from its middle the lanes of its roads end, in meters.
        roads: ids of all roads that begin or end here.
        movements: across it.
        phases: of its signal.
        virtual: whether vehicles enter and leave the network here; it has no movements then.
    """

    id: str
    point: Point
    width: float
    roads: tuple[str, ...]
    movements: tuple[Movement, ...] = ()
    phases: tuple[Phase, ...] = ()
    virtual: bool = False


@dataclass(frozen=True)
class Network:
    """A road network. The order of junctions and roads is that of all arrays made from it.

    Attributes:
        junctions: with the virtual ones.
        roads: all roads.
    """

    junctions: tuple[Junction, ...]
    roads: tuple[Road, ...]

    @cached_property
    def junction_of(self) -> dict[str, Junction]:
        """Junctions by their ids."""
        return {junction.id: junction for junction in self.junctions}

    @cached_property
    def road_of(self) -> dict[str, int]:
        """Numbers of roads by their ids."""
        return {road.id: number for number, road in enumerate(self.roads)}

    @cached_property
    def first_lane(self) -> tuple[int, ...]:
        """The number of the first lane of each road, and last the number of all lanes."""
        found = [0]
        for road in self.roads:
            found.append(found[-1] + len(road.lanes))
        return tuple(found)

    @property
    def signals(self) -> tuple[Junction, ...]:
        """The junctions that are not virtual; each has a signal."""
        return tuple(junction for junction in self.junctions if not junction.virtual)

    def links(self) -> Iterator[tuple[Junction, Movement, LaneLink, int, int]]:
        """All ways across junctions in the order of their numbers, with the lanes that they join."""
        for junction in self.signals:
            for movement in junction.movements:
                before, after = self.road_of[movement.start], self.road_of[movement.end]
                for link in movement.lane_links:
                    yield (
                        junction,
                        movement,
                        link,
                        self.first_lane[before] + link.start,
                        self.first_lane[after] + link.end,
                    )


@dataclass(frozen=True)
class Vehicle:
    """The vehicles of a flow; those of CityFlow's grids by default.

    Attributes:
        length, width: in meters.
        speed_up, slow_down: largest acceleration and deceleration, in m/s^2.
        usual_up, usual_down: those that drivers prefer.
        gap: what they keep between them when they stand, in meters.
        max_speed: in m/s.
        headway: time to the vehicle ahead that drivers prefer, in seconds.
    """

    length: float = 5.0
    width: float = 2.0
    speed_up: float = 2.0
    slow_down: float = 4.5
    usual_up: float = 2.0
    usual_down: float = 4.5
    gap: float = 2.5
    max_speed: float = 16.67
    headway: float = 1.5


@dataclass(frozen=True)
class Flow:
    """Vehicles that take the same way, one every `interval`.

    Attributes:
        vehicle: what they are like.
        route: ids of roads; where they do not follow each other, the shortest way between them is taken.
        interval: seconds from one vehicle to the next.
        start, end: first and last second in which one may enter; an end of -1 is never.
    """

    vehicle: Vehicle
    route: tuple[str, ...]
    interval: float
    start: int = 0
    end: int = -1
