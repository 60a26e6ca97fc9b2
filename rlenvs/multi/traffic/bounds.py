"""Lower bounds of travel times: what no signals, however good, can beat.

A vehicle enters at rest. In each step its speed grows by at most its largest acceleration, up to its largest speed and
the speed limit of the lane on which it is; only in the first meters of a lane it may still be faster, as it brakes at
most by its largest deceleration. So its speed at each place is at most that of an envelope, whatever signals and other
vehicles do. The time from its entry until it leaves is the integral of the inverse of its speed, and is at least that
of the envelope.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rlenvs.multi.traffic.geometry import length_of, link_lines, road_lines
from rlenvs.multi.traffic.networks import Flow, Network, Vehicle
from rlenvs.multi.traffic.routes import Router

__all__ = ["average_bound", "travel_time_bounds"]

Piece = tuple[float, float]  # length [m] and largest speed [m/s]


def travel_time_bounds(network: Network, flows: Sequence[Flow], interval: float = 1.0) -> list[float]:
    """The least travel time of the vehicles of each flow, in seconds, as CityFlow counts it: from the step in which a
    vehicle is made to that in which it leaves. Vehicles may choose and change lanes.

    Args:
        network: the network.
        flows: its demand.
        interval: seconds per step.
    """
    router = Router(network)
    lanes = [[length_of(line) for line in lines] for lines in road_lines(network)]
    links = [length_of(line) for line in link_lines(network)]
    found: list[float] = []
    known: dict[tuple[tuple[str, ...], Vehicle], float] = {}
    for number, flow in enumerate(flows):
        if (flow.route, flow.vehicle) in known:
            found.append(known[flow.route, flow.vehicle])
            continue
        roads = router.route(flow, f"flow {number}").roads
        pieces: list[Piece] = []
        for step, road in enumerate(roads):
            limit = max(lane.max_speed for lane in network.roads[road].lanes)
            pieces += _lane_pieces(min(lanes[road]), limit, flow.vehicle, interval, first=step == 0)
            if step < len(roads) - 1:
                ways = (way for lane in router.lanes(road) for way in router.links_to(lane, roads[step + 1]))
                pieces.append((min(links[way] for way in ways), flow.vehicle.max_speed))
        steps = math.ceil(least_time(pieces, flow.vehicle.speed_up) / interval - 1e-9)
        found.append((steps - 1) * interval)
        known[flow.route, flow.vehicle] = found[-1]
    return found


def average_bound(network: Network, flows: Sequence[Flow], seconds: float, interval: float = 1.0) -> float:
    """The least average travel time that CityFlow may report after so many seconds. A vehicle that is still there
    counts with its time so far.

    Args:
        network: the network.
        flows: its demand.
        seconds: simulated.
        interval: seconds per step.
    """
    total, count = 0.0, 0
    for flow, least in zip(flows, travel_time_bounds(network, flows, interval), strict=True):
        for entered in emission_times(flow, seconds, interval):
            total += min(least, seconds - entered)
            count += 1
    return total / count if count else 0.0


def emission_times(flow: Flow, seconds: float, interval: float = 1.0) -> list[float]:
    """When the vehicles of a flow are made, in a simulation of so many seconds."""
    times, since, now = [], flow.interval, 0.0
    for step in range(round(seconds / interval)):
        if flow.end != -1 and now > flow.end:
            break
        if now >= flow.start:
            while since >= flow.interval:
                times.append(step * interval)
                since -= flow.interval
            since += interval
        now += interval
    return times


def least_time(pieces: Sequence[Piece], speed_up: float) -> float:
    """The least time over pieces of a way from rest, with a largest speed on each and a largest acceleration."""
    speed, time = 0.0, 0.0
    for length, limit in pieces:
        speed = min(speed, limit)
        rise = (limit * limit - speed * speed) / (2.0 * speed_up)
        if rise >= length:
            after = math.sqrt(speed * speed + 2.0 * speed_up * length)
            time += (after - speed) / speed_up
            speed = after
        else:
            time += (limit - speed) / speed_up + (length - rise) / limit
            speed = limit
    return time


def _lane_pieces(length: float, limit: float, vehicle: Vehicle, interval: float, first: bool) -> list[Piece]:
    """A lane: on its first part a vehicle may still be as fast as on the link before."""
    if limit >= vehicle.max_speed:
        return [(length, vehicle.max_speed)]
    if first:
        return [(length, limit)]
    steps = math.ceil((vehicle.max_speed - limit) / (vehicle.slow_down * interval)) + 1
    fast = min(length, steps * vehicle.max_speed * interval)
    return [(fast, vehicle.max_speed), (length - fast, limit)]
