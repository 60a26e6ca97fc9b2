"""A network and its demand as flat arrays, which the engine's kernels read.

Roads, lanes, ways across junctions ("links"), movements ("gates") and phases are numbered in the order of the network.
A drivable is a lane, or link k as number lanes + k. Arrays named `..._begins` have one entry more than their subject:
its part of another array is `begins[i] : begins[i + 1]`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.multi.traffic.geometry import Crossing, crossings_of, length_of, link_lines, road_lines
from rlenvs.multi.traffic.networks import KINDS, Flow, Network, Vehicle
from rlenvs.multi.traffic.routes import Route, Router

LINK_LIMIT = 10_000.0  # m/s: none
SEGMENT = 70.0  # m, of lanes, in which lane changes look for neighbors
TURN_SPEED, YIELD = 8.3333, 5.0  # m/s and m, of all vehicles
FEW = 16  # entries that the C++ library sorts by insertion


class Flat(NamedTuple):
    """A network and its demand as arrays.

    Attributes:
        sizes: by name, how many there are of everything; `..._ends` for arrays of beginnings.
        arrays: by name.
    """

    sizes: dict[str, int]
    arrays: dict[str, np.ndarray]


def flatten(network: Network, flows: Sequence[Flow]) -> Flat:
    """The arrays of a network and its demand.

    Raises:
        ParameterError: a flow whose route is not possible.
    """
    arrays = {**_lane_arrays(network), **_link_arrays(network), **_signal_arrays(network)}
    arrays |= _crossing_arrays(network)
    arrays |= _route_arrays(network, flows)
    arrays |= _flow_arrays(flows)
    count = {
        "lanes": len(arrays["lane_road"]),
        "links": len(arrays["link_start"]),
        "roads": len(network.roads),
        "road_lanes": max(len(road.lanes) for road in network.roads),
        "junctions": len(network.signals),
        "gates": len(arrays["gate_kind"]),
        "phases": len(arrays["phase_time"]),
        "greens": len(arrays["green"]),
        "crossings": len(arrays["cross_at"]),
        "routes": len(flows),
        "route_steps": len(arrays["route_road"]),
        "starts": len(arrays["start_lane"]),
        "flows": len(flows),
        "kinds": len(arrays["car_length"]),
        "points": len(arrays["line"]),
    }
    count["drivables"] = count["lanes"] + count["links"]
    for name in ("road", "lane", "junction", "phase", "link", "route", "drivable"):
        count[f"{name}_ends"] = count[f"{name}s"] + 1
    return Flat(count, arrays)


def mersenne(seed: int, count: int) -> np.ndarray:
    """The first numbers of C++'s `std::mt19937(seed)`, uint32."""
    generator = np.random.MT19937()
    generator._legacy_seeding(seed)  # noqa: SLF001 - NumPy's only way to the seeding of the C++ library
    return generator.random_raw(count).astype(np.uint32)


def _begins(parts: Iterable[Sequence[Any]]) -> np.ndarray:
    return np.array([0, *itertools.accumulate(map(len, parts))], np.int32)


def _joined(parts: Iterable[Iterable[Any]], kind: Any) -> np.ndarray:
    return np.array([each for part in parts for each in part], kind)


def _lane_arrays(network: Network) -> dict[str, np.ndarray]:
    lanes = [
        (road, each, index, lane) for road, each in enumerate(network.roads) for index, lane in enumerate(each.lanes)
    ]
    lines = [line for road in road_lines(network) for line in road] + link_lines(network)
    links = len(lines) - len(lanes)
    return {
        "length": np.array([length_of(line) for line in lines]),
        "limit": np.array([lane.max_speed for *_, lane in lanes] + [LINK_LIMIT] * links),
        "lane_road": np.array([road for road, *_ in lanes], np.int32),
        "lane_index": np.array([index for *_, index, _ in lanes], np.int32),
        "lane_width": np.array([lane.width for *_, lane in lanes]),
        "road_begins": np.array(network.first_lane, np.int32),
        "segments": np.array([max(math.ceil(length_of(each.points) / SEGMENT), 1) for _, each, *_ in lanes], np.int32),
        "line_begins": _begins(lines),
        "line": _joined(lines, np.float64).reshape(-1, 2),
        "place": np.array([junction.point for junction in network.signals], np.float64).reshape(-1, 2),
    }


def _link_arrays(network: Network) -> dict[str, np.ndarray]:
    router = Router(network)
    movements = [(number, each) for number, junction in enumerate(network.signals) for each in junction.movements]
    return {
        "leaving_begins": _begins(router.leaving),
        "leaving": _joined(router.leaving, np.int32),
        "link_start": np.array([start for start, _ in router.ends], np.int32),
        "link_end": np.array([end for _, end in router.ends], np.int32),
        "link_gate": np.array([gate for gate, (_, each) in enumerate(movements) for _ in each.lane_links], np.int32),
        "gate_kind": np.array([KINDS[each.kind] for _, each in movements], np.int32),
        "gate_junction": np.array([number for number, _ in movements], np.int32),
        "gate_begins": _begins(junction.movements for junction in network.signals),
        "link_begins": _begins(
            [link for each in junction.movements for link in each.lane_links] for junction in network.signals
        ),
    }


def _signal_arrays(network: Network) -> dict[str, np.ndarray]:
    phases = [(phase, len(junction.movements)) for junction in network.signals for phase in junction.phases]
    rows = [[gate in phase.green for gate in range(gates)] for phase, gates in phases]
    return {
        "phase_begins": _begins(junction.phases for junction in network.signals),
        "phase_time": np.array([phase.time for phase, _ in phases], np.float64),
        "green_begins": _begins(rows),
        "green": _joined(rows, np.uint8),
    }


def _crossing_arrays(network: Network) -> dict[str, np.ndarray]:
    """Two entries per crossing, one on each link, sorted along the links."""
    lines, first = link_lines(network), 0
    on_link: list[list[tuple[float, int, int]]] = []
    for junction in network.signals:
        count = sum(len(each.lane_links) for each in junction.movements)
        crossings = crossings_of(lines[first : first + count])
        on_link += [_along(crossings, link, first) for link in range(count)]
        first += count
    entries = [entry for link in on_link for entry in link]
    number = {(link, foe): n for n, (_, link, foe) in enumerate(entries)}
    return {
        "cross_begins": _begins(on_link),
        "cross_at": np.array([at for at, *_ in entries], np.float64),
        "cross_foe": np.array([number[foe, link] for _, link, foe in entries], np.int32),
        "cross_link": np.array([link for _, link, _ in entries], np.int32),
    }


def _along(crossings: Sequence[Crossing], link: int, first: int) -> list[tuple[float, int, int]]:
    """The crossings on a link of a junction, by distance: (distance, link, the other link)."""
    found = []
    for (one, two), (at, other) in crossings:
        if link == one:
            found.append((at, first + one, first + two))
        elif link == two:
            found.append((other, first + two, first + one))
    return _sorted(found, lambda entry: entry[0])


def _sorted(entries: list[Any], key: Callable[[Any], float]) -> list[Any]:
    """Sorted with equal entries in the order in which the C++ library's sort leaves them: it halves long lists around
    the median of three entries, which moves equal ones about, and ends with an insertion sort, which does not."""
    parts, values = [(0, len(entries))], list(entries)
    while parts:
        low, high = parts.pop()
        if high - low <= FEW:
            continue
        cut = _halved(values, low, high, key)
        parts += [(low, cut), (cut, high)]
    return sorted(values, key=key)


def _halved(values: list[Any], low: int, high: int, key: Callable[[Any], float]) -> int:
    """Move the smaller entries of a part before the larger ones; returns where the larger ones begin."""
    a, b, c = low + 1, (low + high) // 2, high - 1
    x, y, z = (key(values[place]) for place in (a, b, c))
    if x < y:
        middle = b if y < z else c if x < z else a
    else:
        middle = a if x < z else c if y < z else b
    values[low], values[middle] = values[middle], values[low]
    pivot, left, right = key(values[low]), low + 1, high
    while True:
        while key(values[left]) < pivot:
            left += 1
        right -= 1
        while pivot < key(values[right]):
            right -= 1
        if left >= right:
            return left
        values[left], values[right] = values[right], values[left]
        left += 1


def _route_arrays(network: Network, flows: Sequence[Flow]) -> dict[str, np.ndarray]:
    router, known = Router(network), {}
    routes: list[Route] = []
    for number, flow in enumerate(flows):
        if flow.route not in known:
            known[flow.route] = router.route(flow, f"flow {number}")
        routes.append(known[flow.route])
    widest = max(len(road.lanes) for road in network.roads)
    return {
        "route_begins": _begins(route.roads for route in routes),
        "route_road": _joined((route.roads for route in routes), np.int32),
        "route_link": np.array(
            [(*links, *[-1] * (widest - len(links))) for route in routes for links in route.links], np.int32
        ).reshape(-1, widest),
        "start_begins": _begins(route.starts for route in routes),
        "start_lane": _joined((route.starts for route in routes), np.int32),
    }


def _flow_arrays(flows: Sequence[Flow]) -> dict[str, np.ndarray]:
    kinds: dict[Vehicle, int] = {}
    for flow in flows:
        kinds.setdefault(flow.vehicle, len(kinds))
    names = ("length", "width", "speed_up", "slow_down", "usual_up", "usual_down", "gap", "max_speed", "headway")
    cars = {f"car_{name}": np.array([getattr(kind, name) for kind in kinds], np.float64) for name in names}
    return {
        **cars,
        "car_turn_speed": np.full(len(kinds), TURN_SPEED),
        "car_yield": np.full(len(kinds), YIELD),
        "flow_kind": np.array([kinds[flow.vehicle] for flow in flows], np.int32),
        "flow_interval": np.array([flow.interval for flow in flows], np.float64),
        "flow_start": np.array([flow.start for flow in flows], np.float64),
        "flow_end": np.array([flow.end for flow in flows], np.float64),
    }
