"""Networks by rule: grids and arterials as CityFlow's generator makes them, and random cities."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.traffic.geometry import CURVE, _unit
from rlenvs.multi.traffic.networks import Flow, Junction, Lane, LaneLink, Movement, Network, Phase, Point, Road, Vehicle

__all__ = ["Streets", "arterial", "city", "generator_flows", "grid", "grid_flows"]

Place = tuple[int, int]  # column and row, counted from the virtual junctions on the left and below

EAST, NORTH, WEST, SOUTH = range(4)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
CLEARING = 5.0  # s, of phases in which only right turns go


@dataclass(frozen=True)
class Streets:
    """What the streets of a network are like.

    Attributes:
        left, straight, right: lanes of a road for each movement, from the innermost.
        lane_width: in meters.
        max_speed: in m/s.
        width: from the middle of a junction to the ends of its lanes, in meters.
        green: how long phases last in stored plans, in seconds.
        plan: whether the phases are the stored plan of CityFlow's generator, with a clearing phase after each green
            one; otherwise a clearing phase, then all that a controller may choose from.
    """

    left: int = 1
    straight: int = 1
    right: int = 1
    lane_width: float = 4.0
    max_speed: float = 16.67
    width: float = 30.0
    green: float = 30.0
    plan: bool = False

    def __post_init__(self) -> None:
        if min(self.left, self.straight, self.right) < 0 or self.straight < 1:
            raise ParameterError("a road needs a lane for going straight at least, and no negative number of others")

    def kind_of(self, index: int) -> str:
        """The movement for which a lane is."""
        return (
            "turn_left" if index < self.left else "go_straight" if index < self.left + self.straight else "turn_right"
        )


def grid(rows: int, columns: int, spacing: float = 300.0, streets: Streets | None = None) -> Network:
    """A grid of junctions with signals, and a virtual junction at each end of its streets.

    Args:
        rows, columns: of junctions with signals.
        spacing: meters between neighboring junctions.
        streets: what they are like.

    Raises:
        ParameterError: no junction, or streets that the junctions take up whole.
    """
    places = {place: ((place[0] - 1) * spacing, (place[1] - 1) * spacing) for place in _all_places(rows, columns)}
    return _Builder(places, columns, rows, frozenset(), streets or Streets()).network()


def arterial(junctions: int, spacing: float = 300.0, side: float = 200.0, streets: Streets | None = None) -> Network:
    """A main street with junctions in a row.

    Args:
        junctions: with signals.
        spacing: meters between them.
        side: meters of the side streets.
        streets: what all of them are like.

    Raises:
        ParameterError: no junction, or streets that the junctions take up whole.
    """
    places = {place: ((place[0] - 1) * spacing, (place[1] - 1) * side) for place in _all_places(1, junctions)}
    return _Builder(places, junctions, 1, frozenset(), streets or Streets()).network()


def city(
    seed: int,
    rows: int,
    columns: int,
    spacing: float = 300.0,
    uneven: float = 0.3,
    missing: float = 0.15,
    streets: Streets | None = None,
) -> Network:
    """A random city: rows and columns at uneven distances, junctions off their places, and streets missing.

    Args:
        seed: of all that is drawn.
        rows, columns: of junctions with signals.
        spacing: mean meters between neighboring junctions.
        uneven: by how large a part of it distances differ at most, up to 0.5.
        missing: share of the streets between junctions to remove, where at least three roads remain at both ends.
        streets: what they are like.

    Raises:
        ParameterError: no junction, or streets that the junctions take up whole.
    """
    if not 0.0 <= uneven <= 0.5:
        raise ParameterError(f"uneven={uneven} has to be between 0 and 0.5")
    dice = random.Random(seed)
    at_column = _uneven_row(dice, columns + 2, spacing, uneven)
    at_row = _uneven_row(dice, rows + 2, spacing, uneven)
    places = {}
    for column, row in _all_places(rows, columns):
        inside = 0 < column <= columns and 0 < row <= rows
        aside = 0.25 * uneven * spacing if inside else 0.0
        shift = [aside * (2.0 * dice.random() - 1.0) for _ in range(2)]
        places[column, row] = (at_column[column] + shift[0], at_row[row] + shift[1])
    closed = _drawn_closed(dice, rows, columns, missing)
    return _Builder(places, columns, rows, closed, streets or Streets()).network()


def grid_flows(rows: int, columns: int, rate: float = 600.0, turning: float = 0.25) -> tuple[Flow, ...]:
    """Demand on a grid: at the end of each street a flow along it, and flows that turn once, into each of the streets
    that cross it, left and right.

    Args:
        rows, columns: of the grid.
        rate: vehicles per hour at each end of a street.
        turning: share of the vehicles that turn, in equal parts into all streets.
    """
    flows = []
    for place, way in _entries(rows, columns):
        crossed = columns if way in (EAST, WEST) else rows
        routes = [(_walk(place, [way] * (crossed + 1)), rate * (1.0 - turning))]
        for ahead in range(1, crossed + 1):
            corner = place[0] + ahead * STEPS[way][0], place[1] + ahead * STEPS[way][1]
            for side in ((way + 1) % 4, (way + 3) % 4):
                left = {EAST: columns + 1 - corner[0], NORTH: rows + 1 - corner[1], WEST: corner[0], SOUTH: corner[1]}
                route = _walk(place, [way] * ahead + [side] * left[side])
                routes.append((route, rate * turning / (2 * crossed)))
        flows += [Flow(Vehicle(), route, 3600.0 / share) for route, share in routes if share > 0.0]
    return tuple(flows)


def generator_flows(rows: int, columns: int, interval: float = 2.0, turn: bool = False) -> tuple[Flow, ...]:
    """The demand of CityFlow's generator on a grid: a flow along each street in both directions.

    Args:
        rows, columns: of the grid.
        interval: seconds between the vehicles of a flow.
        turn: whether eight flows that turn at every junction are added, from the corners.
    """
    routes = [
        _walk(at, [way] * ((columns if way in (EAST, WEST) else rows) + 1)) for at, way in _entries(rows, columns)
    ]
    if turn:
        corners = (
            ((1, 0), (NORTH, EAST)),
            ((0, 1), (EAST, NORTH)),
            ((columns + 1, rows), (WEST, SOUTH)),
            ((columns, rows + 1), (SOUTH, WEST)),
            ((0, rows), (EAST, SOUTH)),
            ((1, rows + 1), (SOUTH, EAST)),
            ((columns + 1, 1), (WEST, NORTH)),
            ((columns, 0), (NORTH, WEST)),
        )
        for place, ways in corners:
            along, across = (rows, columns) if ways[0] in (EAST, WEST) else (columns, rows)
            count = min(2 * along, 2 * across + 1)
            routes.append(_walk(place, [ways[step % 2] for step in range(count)]))
    return tuple(Flow(Vehicle(), route, interval) for route in routes)


def _entries(rows: int, columns: int) -> list[tuple[Place, int]]:
    """The ends of a grid's streets, with the way into it."""
    flat = [end for row in range(1, rows + 1) for end in (((0, row), EAST), ((columns + 1, row), WEST))]
    return flat + [end for each in range(1, columns + 1) for end in (((each, 0), NORTH), ((each, rows + 1), SOUTH))]


def _walk(place: Place, ways: Sequence[int]) -> tuple[str, ...]:
    """The roads of a route that goes in these directions, one after the other."""
    roads = []
    for way in ways:
        roads.append(_road_id(place, way))
        place = _next(place, way)
    return tuple(roads)


def _next(place: Place, way: int) -> Place:
    return place[0] + STEPS[way][0], place[1] + STEPS[way][1]


def _road_id(place: Place, way: int) -> str:
    return f"road_{place[0]}_{place[1]}_{way}"


def _all_places(rows: int, columns: int) -> list[Place]:
    """All places with junctions, row by row, without the corners of the ring of virtual ones."""
    if rows < 1 or columns < 1:
        raise ParameterError(f"a network needs a row and a column of junctions at least, not {rows} x {columns}")
    places = [(column, row) for row in range(rows + 2) for column in range(columns + 2)]
    return [place for place in places if not (place[0] in (0, columns + 1) and place[1] in (0, rows + 1))]


def _uneven_row(dice: random.Random, count: int, spacing: float, uneven: float) -> list[float]:
    found = [-spacing]
    for _ in range(count - 1):
        found.append(found[-1] + spacing * (1.0 + uneven * (2.0 * dice.random() - 1.0)))
    return found


def _drawn_closed(dice: random.Random, rows: int, columns: int, missing: float) -> frozenset[tuple[Place, int]]:
    """Streets to leave out, each as its two roads: between junctions that keep three arms, and a way to all others."""
    inner = [(column, row) for row in range(1, rows + 1) for column in range(1, columns + 1)]
    streets = [(place, way) for place in inner for way in (EAST, NORTH) if _next(place, way) in inner]
    dice.shuffle(streets)
    arms, closed = dict.fromkeys(inner, 4), set[tuple[Place, int]]()
    for place, way in streets[: round(missing * len(streets))]:
        other = _next(place, way)
        street = {(place, way), (other, (way + 2) % 4)}
        if arms[place] == 4 and arms[other] == 4 and _are_joined(inner, closed | street):
            arms[place] -= 1
            arms[other] -= 1
            closed |= street
    return frozenset(closed)


def _are_joined(inner: list[Place], closed: Set[tuple[Place, int]]) -> bool:
    """Whether streets lead from each of these places to all others."""
    left, waiting = set(inner[1:]), inner[:1]
    while waiting:
        place = waiting.pop()
        for way in range(4):
            other = _next(place, way)
            if other in left and (place, way) not in closed:
                left.remove(other)
                waiting.append(other)
    return not left


class _Builder:
    """Joins junctions in rows and columns by two-way streets."""

    def __init__(
        self,
        places: dict[Place, Point],
        columns: int,
        rows: int,
        closed: frozenset[tuple[Place, int]],
        streets: Streets,
    ) -> None:
        self.places, self.columns, self.rows = places, columns, rows
        self.closed, self.streets = closed, streets
        lanes = streets.left + streets.straight + streets.right
        self.lanes = (Lane(streets.lane_width, streets.max_speed),) * lanes
        self.roads = {
            (place, way): self._road(place, way) for place in places for way in range(4) if self._has(place, way)
        }

    def network(self) -> Network:
        return Network(tuple(self._junction(place) for place in self.places), tuple(self.roads.values()))

    def _inside(self, place: Place) -> bool:
        return 0 < place[0] <= self.columns and 0 < place[1] <= self.rows

    def _has(self, place: Place, way: int) -> bool:
        other = _next(place, way)
        joins = other in self.places and (self._inside(place) or self._inside(other))
        return joins and (place, way) not in self.closed

    def _road(self, place: Place, way: int) -> Road:
        other = _next(place, way)
        points = self.places[place], self.places[other]
        taken = self.streets.width * (self._inside(place) + self._inside(other))
        name = _road_id(place, way)
        x, y = points[1][0] - points[0][0], points[1][1] - points[0][1]
        if x * x + y * y <= taken * taken:
            raise ParameterError(f"{name} is not longer than the {taken:g} m that the junctions at its ends take up")
        return Road(name, _junction_id(place), _junction_id(other), points, self.lanes)

    def _junction(self, place: Place) -> Junction:
        into = [(way, self.roads.get((_next(place, (way + 2) % 4), way))) for way in range(4)]
        out = [(way, self.roads.get((place, way))) for way in range(4)]
        around = tuple(road.id for _, road in [*into, *out] if road is not None)
        name, point = _junction_id(place), self.places[place]
        if not self._inside(place):
            return Junction(name, point, 0.0, around, virtual=True)
        ways = [(a, b, start, end) for a, start in into for b, end in out if start and end and b != (a + 2) % 4]
        made = [(way, self._movement(way, other, start, end)) for way, other, start, end in ways]
        made = [(way, movement) for way, movement in made if movement.lane_links]
        phases = _phases(made, self.streets)
        return Junction(name, point, self.streets.width, around, tuple(movement for _, movement in made), phases)

    def _movement(self, way: int, other: int, start: Road, end: Road) -> Movement:
        kind = {0: "go_straight", 1: "turn_left", 3: "turn_right"}[(other - way) % 4]
        links = [
            LaneLink(lane, to, self._path(start, lane, end, to))
            for lane in range(len(self.lanes))
            if self.streets.kind_of(lane) == kind
            for to in range(len(self.lanes))
        ]
        return Movement(kind, start.id, end.id, tuple(links))

    def _path(self, start: Road, lane: int, end: Road, to: int) -> tuple[Point, ...]:
        """A cubic Hermite curve from the end of a lane to the beginning of another."""
        width = self.streets.width
        ux, uy = _unit(start.points[0], start.points[-1])
        vx, vy = _unit(end.points[0], end.points[-1])
        out, into = start.points[-1], end.points[0]
        shift, other = self._shift(lane), self._shift(to)
        ax, ay = out[0] - ux * width + uy * shift, out[1] - uy * width - ux * shift
        bx, by = into[0] + vx * width + vy * other, into[1] + vy * width - vx * other
        ux, uy, vx, vy = ux * width, uy * width, vx * width, vy * width
        points = []
        for i in range(CURVE + 1):
            t = i / CURVE
            t2, t3 = t * t, t * t * t
            k = 2 * t3 - 3 * t2 + 1, t3 - 2 * t2 + t, -2 * t3 + 3 * t2, t3 - t2
            points.append(
                (k[0] * ax + k[1] * ux + k[2] * bx + k[3] * vx, k[0] * ay + k[1] * uy + k[2] * by + k[3] * vy)
            )
        return tuple(points)

    def _shift(self, lane: int) -> float:
        """From the inner edge of a road to the middle of a lane."""
        shift = 0.0
        for _ in range(lane):
            shift += self.streets.lane_width
        return shift + self.streets.lane_width * 0.5


def _junction_id(place: Place) -> str:
    return f"intersection_{place[0]}_{place[1]}"


def _phases(made: Sequence[tuple[int, Movement]], streets: Streets) -> tuple[Phase, ...]:
    """The phases of a junction. Right turns may always go. Phases that would open the same movements as one before are
    left out, as at junctions with three arms."""

    def of(kinds: str, ways: Iterable[int]) -> tuple[int, ...]:
        ways = set(ways)
        return tuple(
            gate
            for gate, (way, movement) in enumerate(made)
            if movement.kind == "turn_right" or (movement.kind in kinds and way in ways)
        )

    flat, steep = (EAST, WEST), (NORTH, SOUTH)
    clear, both = of("", ()), "go_straight turn_left"
    if streets.plan:
        greens = [of(kind, ways) for ways in (flat, steep) for kind in ("go_straight", "turn_left")]
        pairs = [(Phase(streets.green, green), Phase(CLEARING, clear)) for green in _distinct(greens, clear)]
        return tuple(phase for pair in pairs for phase in pair)
    greens = [of(kind, ways) for kind in ("go_straight", "turn_left") for ways in (flat, steep)]
    greens += [of(both, (way,)) for way in (EAST, WEST, NORTH, SOUTH)]
    return (Phase(CLEARING, clear), *(Phase(streets.green, green) for green in _distinct(greens, clear)))


def _distinct(greens: Sequence[tuple[int, ...]], clear: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(dict.fromkeys(green for green in greens if green != clear))
