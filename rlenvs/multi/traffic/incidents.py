"""Incidents: for a time nobody passes a place on a lane, or enters it at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core import b1, f8, i4, kernel
from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.multi.traffic.files import MOST
from rlenvs.multi.traffic.following import safe_speed, sight
from rlenvs.multi.traffic.networks import Network

NOWHERE_AHEAD, NEVER = 1e300, 1e300  # m, s
STOPS = 1.0  # m/s^2: any, of what stands already

INCIDENT_DATA = {
    "incident_begins": i4("lane_ends"),  # incidents on a lane
    "incident_at": f8("incidents"),  # m, from the start of the lane
    "incident_start": f8("incidents"),  # s
    "incident_end": f8("incidents"),
}
INCIDENT_STATE = {"happens": b1("incidents")}  # which incidents there are in this episode


@kernel
def blocked_at(p: Any, s: Any, lane: int, place: float) -> float:
    """Where [m] the next incident on a lane is, from a place on; NOWHERE_AHEAD without one."""
    nearest, now = NOWHERE_AHEAD, s.ticks * p.interval
    for i in range(p.incident_begins[lane], p.incident_begins[lane + 1]):
        if s.happens[i] and p.incident_start[i] <= now and now < p.incident_end[i] and p.incident_at[i] >= place:
            nearest = min(nearest, p.incident_at[i])
    return nearest


@kernel
def closed_to(p: Any, s: Any, lane: int, kind: int) -> bool:
    """Whether a lane has no room before an incident for a vehicle of a kind."""
    return blocked_at(p, s, lane, 0.0) < p.car_length[kind] + p.car_gap[kind]


@kernel
def way_to_incident(p: Any, s: Any, v: int, d: int) -> float:
    """How far [m] along its route the next incident is, as far as a vehicle looks; NOWHERE_AHEAD without one."""
    lanes, most = p.lane_road.size, sight(p, s.kind[v])
    leg, place, away = s.leg[v], s.position[v], 0.0
    while away <= most:
        if d < lanes:
            at = blocked_at(p, s, d, place)
            if at < NOWHERE_AHEAD:
                return away + at - place
            link = p.route_link[leg, p.lane_index[d]]
            if link < 0:
                return NOWHERE_AHEAD
            away += p.length[d] - place
            d = lanes + link
        else:
            away += p.length[d] - place
            d = p.link_end[d - lanes]
            leg += 1
        place = 0.0
    return NOWHERE_AHEAD


@kernel
def incident_speed(p: Any, s: Any, v: int, d: int) -> float:
    """The next speed [m/s] with which a vehicle stops before an incident."""
    kind, way = s.kind[v], way_to_incident(p, s, v, d)
    if way == NOWHERE_AHEAD:
        return p.car_max_speed[kind]
    return safe_speed(p, 0.0, STOPS, s.speed[v], p.car_slow_down[kind], way, p.car_gap[kind])


# --- from the option to arrays ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Incident:
    """A place that nobody passes.

    Attributes:
        lane: its number in the network.
        at: meters from the start of the lane; 0 if nobody enters it.
        start, end: seconds; an end of -1 is never.
    """

    lane: int
    at: float
    start: float
    end: float


def incidents_from(content: Any, network: Network) -> tuple[Incident, ...]:
    """Incidents from their JSON form: objects with "road", and, if they are not as here, "lane" (all lanes), "at" (0),
    "startTime" (0) and "endTime" (-1).

    Raises:
        ParameterError: anything else, or a road or lane that the network does not have.
    """
    if not isinstance(content, list):
        raise ParameterError("incidents= has to be a list of objects")
    return tuple(each for n, entry in enumerate(content) for each in _read(entry, f"incident {n}", network))


def _read(entry: Any, place: str, network: Network) -> list[Incident]:
    known = ("road", "lane", "at", "startTime", "endTime")
    if not isinstance(entry, dict) or set(entry) - set(known):
        raise ParameterError(f"{place} has to be an object with some of {', '.join(known)}")
    if not isinstance(entry.get("road"), str) or entry["road"] not in network.road_of:
        raise ParameterError(f"{place}: there is no road {shortened(entry.get('road'))}")
    at, start, end = (_number(entry, name, place) for name in ("at", "startTime", "endTime"))
    if at < 0.0 or start < 0.0 or (end < start and end != -1.0):
        raise ParameterError(f"{place}: at and startTime are at least 0, and endTime is not before startTime, or -1")
    road = network.road_of[entry["road"]]
    first, count = network.first_lane[road], len(network.roads[road].lanes)
    lane = entry.get("lane")
    if lane is not None and (isinstance(lane, bool) or lane not in range(count)):
        raise ParameterError(f"{place}: lane {shortened(lane)} is none of the {count} lanes of road {entry['road']!r}")
    lanes = range(count) if lane is None else [int(lane)]
    return [Incident(first + index, at, start, NEVER if end == -1.0 else end) for index in lanes]


def _number(entry: dict[str, Any], name: str, place: str) -> float:
    value = entry.get(name, -1 if name == "endTime" else 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST:
        raise ParameterError(f"{place}: {name} has to be a number of up to {MOST:g}, not {shortened(value)}")
    return float(value)


def incident_arrays(incidents: Sequence[Incident], lanes: int) -> dict[str, np.ndarray]:
    """The arrays of INCIDENT_DATA."""
    rows = sorted(incidents, key=lambda each: each.lane)
    counts = np.bincount([each.lane for each in rows], minlength=lanes) if rows else np.zeros(lanes, np.int64)
    return {
        "incident_begins": np.array([0, *np.cumsum(counts)], np.int32),
        **{
            f"incident_{name}": np.array([getattr(each, name) for each in rows], np.float64)
            for name in ("at", "start", "end")
        },
    }
