"""Demand on any network: random routes from each place where vehicles enter, by shares of turns."""

from __future__ import annotations

import random

from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.traffic.networks import Flow, Movement, Network, Vehicle

__all__ = ["random_flows"]

TRIES = 100  # to find a route that leaves the network without a road twice


def random_flows(
    network: Network,
    seed: int,
    rate: float = 300.0,
    routes: int = 4,
    turning: float = 0.3,
    vehicle: Vehicle | None = None,
) -> tuple[Flow, ...]:
    """Random routes through a network, which take no road twice.

    Args:
        network: with virtual junctions, where vehicles enter and leave.
        seed: of the routes.
        rate: vehicles per hour on each road that enters.
        routes: of each such road, in equal shares.
        turning: probability to turn at a junction, left or right alike, where both and straight on are possible.
        vehicle: what vehicles are like.

    Raises:
        ParameterError: a road from which no way out is found.
    """
    dice = random.Random(seed)
    weight = {"go_straight": 1.0 - turning, "turn_left": turning / 2.0, "turn_right": turning / 2.0}
    leaving: dict[str, list[Movement]] = {}
    for junction in network.signals:
        for movement in junction.movements:
            leaving.setdefault(movement.start, []).append(movement)
    interval = 3600.0 * routes / rate
    entries = [road.id for road in network.roads if network.junction_of[road.start].virtual]
    return tuple(
        Flow(vehicle or Vehicle(), _drawn_route(network, leaving, weight, entry, dice), interval)
        for entry in entries
        for _ in range(routes)
    )


def _drawn_route(
    network: Network, leaving: dict[str, list[Movement]], weight: dict[str, float], entry: str, dice: random.Random
) -> tuple[str, ...]:
    for _ in range(TRIES):
        route = [entry]
        while not network.junction_of[network.roads[network.road_of[route[-1]]].end].virtual:
            ways = [way for way in leaving.get(route[-1], []) if way.end not in route and weight[way.kind] > 0.0]
            if not ways:
                break
            (way,) = dice.choices(ways, [weight[way.kind] for way in ways])
            route.append(way.end)
        else:
            return tuple(route)
    raise ParameterError(f"no way out of the network was found from road {entry!r} in {TRIES} tries")
