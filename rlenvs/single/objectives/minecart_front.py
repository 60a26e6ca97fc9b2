"""Minecart's fronts: the results and bounds of the search in benchmarks/minecart_front.py, and the front that
MO-Gymnasium assumes.

Values are (first ore, second ore, fuel), discounted; fuel is negative.
"""

import functools
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core import PublishedFront
from rlenvs.core.declare.errors import ParameterError
from rlenvs.pareto.sets import nondominated
from rlenvs.single.objectives.family import SOURCE
from rlenvs.single.objectives.minecart_facts import ACCELERATE, BRAKE, DIG, LEFT, MINES, NONE, RIGHT, START

ROUTES = Path(__file__).with_name("minecart_routes.json")  # written by benchmarks/minecart_front.py
LONGEST = 60  # actions of a route, at most
MIRRORED_MINE, MIRRORED_ACTION = (4, 3, 2, 1, 0), (DIG, RIGHT, LEFT, ACCELERATE, BRAKE, NONE)


def step_fuel(action: int) -> float:
    """Fuel of an action with the published parameters, negative."""
    return -0.02 - (0.1 if action == ACCELERATE else 0.2 if action == DIG else 0.0)


def load_after(trip: Sequence[int]) -> np.ndarray:
    """What is in the cart after a digging action at each of these mines, without chance."""
    load = np.zeros(2)
    for mine in trip:
        dug = 4.0 * np.array(MINES[mine][2:])
        load = load + dug * min(1.0, (1.5 - load.sum()) / dug.sum())
    return load


@functools.cache
def known_routes(gamma: float) -> tuple[tuple[tuple[float, ...], tuple[int, ...]], ...]:
    """The exact front at a discount, as values with actions, best first ore first.

    Of routes that the search found, those that no other dominates; mines that mirror each other have mirrored routes.
    """
    rows = json.loads(ROUTES.read_text(encoding="utf-8"))["routes"].get(f"{gamma:g}", [])
    routes = [(trip, [int(action) for action in actions]) for trip, actions in rows]
    routes += [([MIRRORED_MINE[k] for k in trip], [MIRRORED_ACTION[a] for a in way]) for trip, way in routes]
    found = []
    for trip, way in routes:
        fuel = sum(gamma**n * step_fuel(action) for n, action in enumerate(way))
        found.append((*(gamma ** (len(way) - 1) * load_after(trip)).tolist(), fuel))
    kept: Any = nondominated(np.array(found)) if found else []
    return tuple(sorted(((found[i], tuple(routes[i][1])) for i in np.flatnonzero(kept)), reverse=True))


def front_of(published: bool, horizon: int, gamma: float) -> Any:
    """Values and actions, of the world as published and without chance; ParameterError where the front is not known."""
    routes = known_routes(gamma)
    if not routes or not published or horizon < LONGEST:
        raise ParameterError(
            f"gamma={gamma:g} with horizon={horizon}: the front of Minecart-v0 is known for its level 'deterministic' "
            f"at gamma 1, 0.99 and 0.98, with a horizon of at least {LONGEST}; benchmarks/minecart_front.py can "
            f"compute others"
        )
    return routes


@functools.cache
def outer_bound(gamma: float) -> np.ndarray:
    """What no policy exceeds: the search's bounds on fuel, for each trip and number of steps, as points."""
    rows = json.loads(ROUTES.read_text(encoding="utf-8"))["bounds"][f"{gamma:g}"]
    points = []
    for trip, steps, fuel in rows:
        first, second = (gamma ** max(steps - 1, 0) * load_after(trip)).tolist()
        points += [(first, second, -fuel), (second, first, -fuel)]
    kept = np.array(points)[nondominated(np.array(points))]
    return np.array(sorted(kept.tolist(), reverse=True))


DIG_FUEL = 0.22  # of a digging action, which moves nothing: without it the same route burns so much less


def chance_bound(spread: float, capacity: float = 1.5) -> np.ndarray:
    """Where the yield is left to chance, undiscounted: points of which one is worth no less than any policy, whatever
    the weights.

    Let a policy come home after n digging actions. Its route without all but one of them, at mine k, is one of those
    that the search of the deterministic level has closed, so it burns at least the least fuel of a trip to k and
    DIG_FUEL for each of the others, whose mean yields are at most the largest of each ore. A frame is dug before it is
    drawn what it yields, so by Wald's equation no more of an ore is expected than the expected sum of these means; and
    both ores together are never more than the capacity. So the mean of what a policy gets lies below the hull of these
    points: of the trips with one digging action; with so many more that an ore, or both, fill the cart; of mixtures of
    two trips that just fill it; and of the empty trip.
    """
    rows = json.loads(ROUTES.read_text(encoding="utf-8"))["bounds"]["1"]
    closed = {tuple(trip): burnt for trip, _, burnt in rows}
    fuel = [closed[(k if (k,) in closed else MIRRORED_MINE[k],)] for k in range(len(MINES))]
    trips = [
        np.array([*(4.0 * mean_drawn(mean, spread) for mean in row[2:]), -f])
        for row, f in zip(MINES, fuel, strict=True)
    ]
    more = np.array([*np.max(trips, axis=0)[:2], -DIG_FUEL])  # of another digging action
    corners = list(trips)
    for amount in (np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0])):
        for trip in trips:
            room = capacity - amount @ trip
            if room > 0.0:
                fuller = [other for other in trips if amount @ other > capacity]
                corners += [trip + room / (amount @ more) * more]
                corners += [trip + room / (amount @ (other - trip)) * (other - trip) for other in fuller]
    points = [np.array([0.0, 0.0, -closed[()]])]
    for first, second, burnt in np.minimum(corners, capacity):
        points += [np.array([first, min(second, capacity - first), burnt])]
        points += [np.array([min(first, capacity - second), second, burnt])]
    kept = np.array(points)[nondominated(np.array(points))]
    return np.array(sorted(kept.tolist(), reverse=True))


def mean_drawn(mean: float, spread: float) -> float:
    """The mean of a normal distribution of which 0 is taken instead of what is below, as the world has it."""
    if spread == 0.0:
        return mean
    z = mean / spread
    above = 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))
    return mean * above + spread * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def mean_yield(mean: float, spread: float) -> float:
    """The mean of a normal distribution that is cut off at 0, as the published front has it: what is below is drawn
    again. (The world takes 0 instead.)"""
    if spread == 0.0:
        return mean
    above = 0.5 * (1.0 + math.erf(mean / spread / math.sqrt(2.0)))
    return mean + spread * math.exp(-0.5 * (mean / spread) ** 2) / math.sqrt(2.0 * math.pi) / above


def scripted_ways(distance: float) -> list[list[int]]:
    """All ways to cover a distance that begin by accelerating and then accelerate or roll on."""
    found, open_ways = [], [([ACCELERATE], 0.03, distance - 0.075)]
    while open_ways:
        way, speed, left = open_ways.pop()
        for action, faster in ((ACCELERATE, speed + 0.03), (NONE, speed)):
            rest = left - 4.0 * speed - (0.075 if action == ACCELERATE else 0.0)
            if rest <= 0.0:
                found.append([*way, action])
            else:
                open_ways.append(([*way, action], faster, rest))
    return found


def scripted_trips(spread: float) -> Iterator[tuple[list[int], np.ndarray]]:
    """The actions that MO-Gymnasium supposes, and what they are to bring home: the same way there and back."""
    corner = (0.15 / math.sqrt(2.0),) * 2
    for x, y, *means in [*MINES, (*corner, 0.0, 0.0)]:
        turns = [LEFT] * math.ceil(round(abs(math.degrees(math.atan2(y, x)) - START), 9) / 40.0)
        dug = 4.0 * np.array([mean_yield(mean, spread) for mean in means]) if (x, y) != corner else np.zeros(2)
        for way in scripted_ways(math.hypot(x, y) - 0.14 - 0.075):
            if not dug.any():
                yield [*turns, *way, *[LEFT] * 4, NONE, *way[1:]], dug
                continue
            for digs in range(1, math.ceil(1.5 / dug.sum()) + 1):
                load = dug * digs / max(1.0, dug.sum() * digs / 1.5)
                yield [*turns, *way, BRAKE, *[LEFT] * 4, *[DIG] * digs, *way], load


def supposed_front(spread: float, gamma: float) -> PublishedFront:
    """The trips that MO-Gymnasium supposes; their values are computed there too, and not played."""
    points = []
    for actions, load in scripted_trips(spread):
        fuel = sum(gamma**n * step_fuel(action) for n, action in enumerate(actions))
        points.append((*(gamma ** (len(actions) - 1) * load).tolist(), fuel))
    kept = nondominated(np.array(points))
    note = f"{SOURCE}, `pareto_front` of the environment: scripted trips, their values computed and not played"
    return PublishedFront(np.array(points)[kept], (-1.0, -1.0, -200.0), note)
