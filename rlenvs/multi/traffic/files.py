"""CityFlow's files: roadnet, flow and config, in JSON. What is malformed is refused, with its place in the file.

CityFlow's parser reads long decimal fractions as numbers that may be off in the last place. So that networks are equal
to the last bit, `parse` reads them as it does.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.core.declare.user_files import read_text, reason
from rlenvs.multi.traffic.geometry import lane_lines, length_of
from rlenvs.multi.traffic.networks import (
    KINDS,
    Flow,
    Junction,
    Lane,
    LaneLink,
    Movement,
    Network,
    Phase,
    Point,
    Road,
    Vehicle,
)
from rlenvs.multi.traffic.routes import Router

__all__ = ["load_config", "load_flows", "load_network", "load_scenario", "save_config", "save_flows", "save_network"]

LARGEST = 500_000_000  # bytes of a file
EXACT = 2**53 - 1  # whole numbers of more digits are rounded
DIGITS = 17  # of a fraction that are read, without the first one
MOST = 1e9  # of any number in a file, in meters, seconds and the like
VEHICLE = {
    "length": "length",
    "width": "width",
    "speed_up": "maxPosAcc",
    "slow_down": "maxNegAcc",
    "usual_up": "usualPosAcc",
    "usual_down": "usualNegAcc",
    "gap": "minGap",
    "max_speed": "maxSpeed",
    "headway": "headwayTime",
}


@dataclass(frozen=True)
class Config:
    """A config file: what CityFlow simulates.

    Attributes:
        interval: seconds per step.
        seed: of its random numbers.
        dir: folder of all other files.
        roadnet_file, flow_file: names of the files in it.
        rl_traffic_light: whether signals are set from outside; otherwise they follow the stored plans.
        lane_change: whether vehicles change lanes.
        save_replay: whether CityFlow writes a replay, to the two files that follow.
        roadnet_log_file, replay_log_file: names of files for its viewer.
    """

    interval: float = 1.0
    seed: int = 0
    dir: str = "./"
    roadnet_file: str = "roadnet.json"
    flow_file: str = "flow.json"
    rl_traffic_light: bool = False
    lane_change: bool = False
    save_replay: bool = False
    roadnet_log_file: str = "replay_roadnet.json"
    replay_log_file: str = "replay.txt"


class _Node:
    """A value in a file, with the way to it for errors."""

    def __init__(self, value: Any, place: str) -> None:
        self.value, self.place = value, place

    def wrong(self, what: str) -> ParameterError:
        return ParameterError(f"{self.place}: {what}")

    def __getitem__(self, name: str) -> _Node:
        if not isinstance(self.value, dict):
            raise self.wrong(f"needs an object, not {_type(self.value)}")
        if name not in self.value:
            raise self.wrong(f"{name} is missing")
        return _Node(self.value[name], f"{self.place}/{name}")

    def get(self, name: str, default: Any) -> _Node:
        """A member, or its default."""
        return self[name] if not isinstance(self.value, dict) or name in self.value else _Node(default, self.place)

    def items(self) -> Iterator[_Node]:
        if not isinstance(self.value, list):
            raise self.wrong(f"needs a list, not {_type(self.value)}")
        return (_Node(value, f"{self.place}[{number}]") for number, value in enumerate(self.value))

    def number(self, least: float = -math.inf, more: bool = False) -> float:
        """A number of at least `least`, or of more than that, and of MOST at most."""
        ok = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not ok or not abs(self.value) <= MOST:
            raise self.wrong(f"needs a number of up to {MOST:g}, not {shortened(self.value)}")
        if self.value < least or (more and self.value == least):
            raise self.wrong(f"{self.value!r} has to be {'more than' if more else 'at least'} {least:g}")
        return float(self.value)

    def integer(self, count: int | None = None, of: str = "") -> int:
        """A whole number, an index of `count` things where that is given."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong(f"needs a whole number, not {shortened(self.value)}")
        self.number()
        if count is not None and not 0 <= self.value < count:
            raise self.wrong(f"there is no {of} {self.value}, only {count} of them, counted from 0")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong(f"needs a text, not {shortened(self.value)}")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong(f"needs true or false, not {shortened(self.value)}")
        return self.value

    def name(self, known: Any, what: str) -> str:
        """A text that names something."""
        if self.text() not in known:
            raise self.wrong(f"there is no {what} {shortened(self.value)}")
        return self.text()

    def point(self) -> Point:
        return self["x"].number(), self["y"].number()


def _type(value: Any) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}
    return names.get(type(value), shortened(value))


def parse(text: str) -> Any:
    """What a text in JSON contains, with numbers as CityFlow reads them.

    Raises:
        json.JSONDecodeError: it is not JSON.
    """
    return json.loads(text, parse_float=_number)


def _number(text: str) -> float:
    """A number with a fraction or an exponent, as RapidJSON reads it at normal precision: its digits as a whole number,
    divided by a power of ten."""
    fraction, _, power = text.lower().lstrip("-").partition("e")
    whole, _, rest = fraction.partition(".")
    if len(whole) > DIGITS:
        return float(text)
    digits, found, place = len(whole) - 1, int(whole), 0
    while place < len(rest) and found <= EXACT:
        found = 10 * found + int(rest[place])
        place += 1
        digits += found > 0
    value = float(found)
    while place < len(rest) and digits < DIGITS:
        value = 10.0 * value + int(rest[place])
        place += 1
        digits += 1
    power_of_ten = int(power or 0) - place
    if abs(power_of_ten) > 300:
        return float(text)
    scale = float(f"1e{abs(power_of_ten)}")
    value = value * scale if power_of_ten >= 0 else value / scale
    return -value if text.startswith("-") else value


def _read(path: str | Path) -> _Node:
    try:
        return _Node(parse(read_text(path, LARGEST)), Path(path).name)
    except OSError as error:
        raise ParameterError(f"{path}: {reason(error)}") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ParameterError(f"{path}: it is not JSON ({error})") from None


def _write(path: str | Path, value: Any) -> None:
    Path(path).write_text(json.dumps(value, allow_nan=False), encoding="utf-8")


# --- networks ---------------------------------------------------------------------------------------------------------


def load_network(path: str | Path) -> Network:
    """A roadnet file.

    Raises:
        ParameterError: it cannot be read, or is malformed; the message names the place.
    """
    return network_from(_read(path).value, Path(path).name)


def network_from(value: Any, name: str = "roadnet") -> Network:
    """A network from what a roadnet file contains.

    Args:
        value: the file's content, as `parse` reads it.
        name: the file, for errors.

    Raises:
        ParameterError: it is malformed.
    """
    root = _Node(value, name)
    junction_nodes = _by_id(root["intersections"], "intersection")
    road_nodes = _by_id(root["roads"], "road")
    roads = {each: _road(node, each, junction_nodes) for each, node in road_nodes.items()}
    if not roads:
        raise root.wrong("it has no road")
    junctions = tuple(_junction(node, each, roads) for each, node in junction_nodes.items())
    network = Network(junctions, tuple(roads.values()))
    _check_lengths(network, road_nodes)
    return network


def _by_id(node: _Node, what: str) -> dict[str, _Node]:
    found: dict[str, _Node] = {}
    for each in node.items():
        name = each["id"].text()
        if name in found:
            raise each.wrong(f"there are two of the id {shortened(name)}")
        found[name] = _Node(each.value, f"{node.place.rpartition('/')[0]}/{what} {name}")
    return found


def _road(node: _Node, name: str, junctions: dict[str, _Node]) -> Road:
    points = tuple(each.point() for each in node["points"].items())
    if len(points) < 2:
        raise node["points"].wrong(f"a road needs 2 points at least, not {len(points)}")
    for number, (tail, head) in enumerate(itertools.pairwise(points)):
        if tail == head:
            raise node["points"].wrong(f"points {number} and {number + 1} are the same, {tail}")
    lanes = tuple(
        Lane(each["width"].number(0.0, more=True), each["maxSpeed"].number(0.0, more=True))
        for each in node["lanes"].items()
    )
    if not lanes:
        raise node["lanes"].wrong("a road needs a lane at least")
    start, end = (node[key].name(junctions, "intersection") for key in ("startIntersection", "endIntersection"))
    return Road(name, start, end, points, lanes)


def _check_lengths(network: Network, nodes: dict[str, _Node]) -> None:
    """Refuse roads that the widths of their junctions take up whole, or whose lanes have no direction somewhere: where
    a junction's width ends exactly at one of the points, two of them are the same."""
    width = {each.id: 0.0 if each.virtual else each.width for each in network.junctions}
    for road in network.roads:
        whole, taken = length_of(road.points), width[road.start] + width[road.end]
        if whole <= taken:
            raise nodes[road.id].wrong(
                f"its length is {whole - taken:g} m: {whole:g} m less the {taken:g} m that its intersections take up"
            )
        try:
            lines = lane_lines(road, width[road.start], width[road.end])
        except ZeroDivisionError:
            raise nodes[road.id].wrong("two of its points are the same, or it turns straight back") from None
        if not all(length_of(line) > 0.0 for line in lines):
            raise nodes[road.id].wrong("a lane has no length")


def _junction(node: _Node, name: str, roads: dict[str, Road]) -> Junction:
    around = tuple(each.name(roads, "road") for each in node["roads"].items())
    for number, road in enumerate(around):
        if name not in (roads[road].start, roads[road].end):
            raise node["roads"].wrong(f"road {road!r}, number {number}, neither begins nor ends here")
    width, virtual = node.get("width", 0.0).number(0.0), node["virtual"].flag()
    if virtual:
        return Junction(name, node["point"].point(), width, around, virtual=True)
    node["width"].number(0.0)
    movements = tuple(_movement(each, name, roads, around) for each in node["roadLinks"].items())
    phases = tuple(_phase(each, len(movements)) for each in node["trafficLight"]["lightphases"].items())
    if not phases:
        raise node["trafficLight"].wrong(
            "it has no phase; an intersection without a signal is virtual, or has one phase"
        )
    if not sum(phase.time for phase in phases) > 0.0:
        raise node["trafficLight"].wrong("its phases take no time")
    return Junction(name, node["point"].point(), width, around, movements, phases)


def _movement(node: _Node, junction: str, roads: dict[str, Road], around: Sequence[str]) -> Movement:
    start, end = (roads[node[key].name(roads, "road")] for key in ("startRoad", "endRoad"))
    for key, road, at in (("startRoad", start, start.end), ("endRoad", end, end.start)):
        if at != junction or road.id not in around:
            side = "end" if key == "startRoad" else "begin"
            raise node[key].wrong(f"unconnected: road {road.id!r} does not {side} at intersection {junction!r}")
    links = tuple(_lane_link(each, start, end) for each in node["laneLinks"].items())
    return Movement(node["type"].name(KINDS, "type"), start.id, end.id, links)


def _lane_link(node: _Node, start: Road, end: Road) -> LaneLink:
    points = tuple(each.point() for each in node.get("points", []).items())
    if len(points) == 1 or (points and not length_of(points) > 0.0):
        raise node["points"].wrong("a lane link needs 2 different points at least, or none")
    return LaneLink(
        node["startLaneIndex"].integer(len(start.lanes), f"lane of road {start.id!r}"),
        node["endLaneIndex"].integer(len(end.lanes), f"lane of road {end.id!r}"),
        points,
    )


def _phase(node: _Node, movements: int) -> Phase:
    green = {each.integer(movements, "road link"): None for each in node["availableRoadLinks"].items()}
    return Phase(node["time"].number(0.0), tuple(green))


def save_network(network: Network, path: str | Path) -> None:
    """Write a roadnet file."""
    _write(path, network_to(network))


def network_to(network: Network) -> dict[str, Any]:
    """What a roadnet file of a network contains."""
    return {
        "intersections": [_junction_to(junction) for junction in network.junctions],
        "roads": [
            {
                "id": road.id,
                "points": _points_to(road.points),
                "lanes": [{"width": lane.width, "maxSpeed": lane.max_speed} for lane in road.lanes],
                "startIntersection": road.start,
                "endIntersection": road.end,
            }
            for road in network.roads
        ],
    }


def _junction_to(junction: Junction) -> dict[str, Any]:
    return {
        "id": junction.id,
        "point": _points_to([junction.point])[0],
        "width": junction.width,
        "roads": list(junction.roads),
        "roadLinks": [
            {
                "type": movement.kind,
                "startRoad": movement.start,
                "endRoad": movement.end,
                "laneLinks": [
                    {"startLaneIndex": link.start, "endLaneIndex": link.end, "points": _points_to(link.points)}
                    for link in movement.lane_links
                ],
            }
            for movement in junction.movements
        ],
        "trafficLight": {
            "roadLinkIndices": list(range(len(junction.movements))),
            "lightphases": [{"time": phase.time, "availableRoadLinks": list(phase.green)} for phase in junction.phases],
        },
        "virtual": junction.virtual,
    }


def _points_to(points: Sequence[Point]) -> list[dict[str, float]]:
    return [{"x": x, "y": y} for x, y in points]


# --- flows and config -------------------------------------------------------------------------------------------------


def load_flows(path: str | Path, network: Network) -> tuple[Flow, ...]:
    """A flow file for a network.

    Raises:
        ParameterError: it cannot be read, is malformed, or has a route that is not possible on the network.
    """
    return flows_from(_read(path).value, network, Path(path).name)


def flows_from(value: Any, network: Network, name: str = "flow") -> tuple[Flow, ...]:
    """Flows from what a flow file contains.

    Args:
        value: the file's content, as `parse` reads it.
        network: on which they drive.
        name: the file, for errors.

    Raises:
        ParameterError: it is malformed, or has a route that is not possible on the network.
    """
    nodes = list(_Node(value, name).items())
    flows = tuple(_flow(node) for node in nodes)
    router, checked = Router(network), set()
    for node, flow in zip(nodes, flows, strict=True):
        if flow.route not in checked:
            router.route(flow, node.place)
            checked.add(flow.route)
    return flows


def _flow(node: _Node) -> Flow:
    vehicle = node["vehicle"]
    least: dict[str, Callable[[_Node], float]] = {"gap": lambda each: each.number(0.0)}
    values = {
        own: least.get(own, lambda each: each.number(0.0, more=True))(vehicle[key]) for own, key in VEHICLE.items()
    }
    start, end = node.get("startTime", 0).integer(), node.get("endTime", -1).integer()
    interval = node["interval"].number(0.0, more=start == end)
    if interval < 1.0 and start != end:
        raise node["interval"].wrong(f"{interval:g} s: at least 1 s has to pass between vehicles of a flow")
    route = tuple(each.text() for each in node["route"].items())
    if not route:
        raise node["route"].wrong("it names no road")
    return Flow(Vehicle(**values), route, interval, start, end)


def save_flows(flows: Sequence[Flow], path: str | Path) -> None:
    """Write a flow file."""
    _write(path, flows_to(flows))


def flows_to(flows: Sequence[Flow]) -> list[dict[str, Any]]:
    """What a flow file contains."""
    return [
        {
            "vehicle": {key: getattr(flow.vehicle, own) for own, key in VEHICLE.items()},
            "route": list(flow.route),
            "interval": flow.interval,
            "startTime": flow.start,
            "endTime": flow.end,
        }
        for flow in flows
    ]


def load_config(path: str | Path) -> Config:
    """A config file.

    Raises:
        ParameterError: it cannot be read, or is malformed.
    """
    node, default = _read(path), Config()
    values: dict[str, Any] = {}
    for each in fields(Config):
        given, usual = node.get(_camel(each.name), getattr(default, each.name)), getattr(default, each.name)
        read: dict[type, Callable[[], Any]] = {bool: given.flag, int: given.integer, str: given.text}
        values[each.name] = read[type(usual)]() if type(usual) in read else given.number(0.0, more=True)
    return Config(**values)


def save_config(config: Config, path: str | Path) -> None:
    """Write a config file."""
    _write(path, {_camel(name): value for name, value in asdict(config).items()})


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def load_scenario(path: str | Path) -> tuple[Config, Network, tuple[Flow, ...]]:
    """A config file with the network and the flows that it names; its `dir` is a folder beside it, unless it begins
    with "/".

    Raises:
        ParameterError: one of them cannot be read, or is malformed.
    """
    config = load_config(path)
    folder = Path(path).parent / config.dir
    network = load_network(folder / config.roadnet_file)
    return config, network, load_flows(folder / config.flow_file, network)
