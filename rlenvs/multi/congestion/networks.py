"""Road networks by equations: Braess's paradox in all its sizes, random grids, random series-parallel networks."""

from __future__ import annotations

import functools
import heapq
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import ParameterError

Point = tuple[float, float]


class Link(NamedTuple):
    """A road from one node to another.

    Attributes:
        tail, head: nodes.
        slope: how much time all agents together add, in units of the parameter `congestion`.
        fixed: time when it is empty, in units of the parameter `free_flow`.
        via: where its line bends in images; None for a straight one.
    """

    tail: int
    head: int
    slope: float
    fixed: float
    via: Point | None = None


class Network(NamedTuple):
    """A network with what agents choose from.

    Attributes:
        nodes: where they lie in images, in [0, 1].
        links: the roads.
        pairs: origin and destination of each kind of agent.
        routes: by pair, the routes, as tuples of numbers of links.
    """

    nodes: tuple[Point, ...]
    links: tuple[Link, ...]
    pairs: tuple[tuple[int, int], ...]
    routes: tuple[tuple[tuple[int, ...], ...], ...]


def network_of(values: Any) -> Network:
    """The network that the options of a world ask for.

    Raises:
        ParameterError: more pairs than there are.
    """
    if values.network == "braess":
        if values.pairs > 2:
            raise ParameterError(f"pairs={values.pairs}: a Braess network has one or two pairs of places")
        return braess(values.degree, values.bypass, values.pairs)
    if values.network == "series_parallel":
        if values.pairs > 1:
            raise ParameterError(f"pairs={values.pairs}: a series-parallel network has one pair of places")
        return series_parallel(values.streets, values.routes, values.instance)
    return grid(values.streets, values.pairs, values.routes, values.instance)


@functools.lru_cache(maxsize=64)
def braess(degree: int, bypass: bool, pairs: int) -> Network:
    """The network of Roughgarden ("On the severity of Braess's paradox", JCSS 2006) with linear times.

    From the origin, roads lead to v_1 ... v_k and w_k; to the destination, from w_1 ... w_k and v_1; and from each v_i
    to w_i, the bypasses, and to w_(i-1). The roads from the origin to v_i and from w_i to the destination get slow with
    traffic, by k (k - i + 1) and k i units for all agents; bypasses take no time, all others a unit. Everybody takes
    k + 1 units with bypasses, and (k^2 + k + 1) / (k + 1) without. A second pair of places begins at v_1.
    """
    origin, end, k = 0, 2 * degree + 1, degree
    v, w = [1 + i for i in range(k)], [1 + k + i for i in range(k)]
    height = [0.5 if k == 1 else 0.08 + 0.84 * i / (k - 1) for i in range(k)]
    if k == 1:
        nodes = [(0.0, 0.5), (0.5, 0.9), (0.5, 0.1), (1.0, 0.5)]
    else:
        nodes = [(0.0, 0.5), *((0.34, y) for y in height), *((0.66, y) for y in height), (1.0, 0.5)]
    links: list[Link] = []
    number: dict[tuple[str, int], int] = {}

    def add(name: tuple[str, int], tail: int, head: int, slope: float, fixed: float, via: Point | None = None) -> None:
        number[name] = len(links)
        links.append(Link(tail, head, slope, fixed, via))

    for i in range(1, k + 1):
        add(("out", i), origin, v[i - 1], k * (k - i + 1.0), 0.0)
        add(("in", i), w[i - 1], end, k * float(i), 0.0)
    for i in range(2, k + 1):
        add(("across", i), v[i - 1], w[i - 2], 0.0, 1.0)
    add(("late", k), origin, w[k - 1], 0.0, 1.0, None if k == 1 else (0.5, 1.02))
    add(("early", 1), v[0], end, 0.0, 1.0, None if k == 1 else (0.5, -0.02))
    if bypass:
        for i in range(1, k + 1):
            add(("bypass", i), v[i - 1], w[i - 1], 0.0, 0.0)
    first: list[tuple[Any, ...]] = [("out", i, "bypass", i, "in", i) for i in range(1, k + 1)] if bypass else []
    first += [("out", i, "across", i, "in", i - 1) for i in range(2, k + 1)]
    first += [("out", 1, "early", 1), ("late", k, "in", k)]
    second: list[tuple[Any, ...]] = [("bypass", 1, "in", 1)] if bypass else []
    second += [("early", 1)]

    def links_of(names: Sequence[Any]) -> tuple[int, ...]:
        return tuple(number[names[n], names[n + 1]] for n in range(0, len(names), 2))

    ways = [first, second][:pairs]
    places = [(origin, end), (v[0], end)][:pairs]
    return Network(
        tuple(nodes), tuple(links), tuple(places), tuple(tuple(links_of(names) for names in way) for way in ways)
    )


@functools.lru_cache(maxsize=64)
def grid(size: int, pairs: int, routes: int, instance: int) -> Network:
    """Streets in both directions between the crossings of a square, with random times; random pairs of places that are
    far from each other, and the shortest routes between them when the streets are empty."""
    chooser = random.Random(instance)
    nodes = [(j / (size - 1.0), i / (size - 1.0)) for i in range(size) for j in range(size)]
    links = []
    for i in range(size):
        for j in range(size):
            for down, right in ((0, 1), (1, 0)):
                if i + down < size and j + right < size:
                    here, there = i * size + j, (i + down) * size + j + right
                    links += [_street(chooser, here, there), _street(chooser, there, here)]
    places: list[tuple[int, int]] = []
    while len(places) < pairs:
        origin, end = (int(chooser.random() * size * size) for _ in range(2))
        apart = abs(origin // size - end // size) + abs(origin % size - end % size)
        if apart >= size - 1 and (origin, end) not in places:
            places.append((origin, end))
    ways = tuple(shortest_routes(links, origin, end, routes) for origin, end in places)
    return Network(tuple(nodes), tuple(links), tuple(places), ways)


def _street(chooser: random.Random, tail: int, head: int, via: Point | None = None) -> Link:
    return Link(tail, head, 2.0 * chooser.random(), 0.2 + 0.8 * chooser.random(), via)


@functools.lru_cache(maxsize=64)
def series_parallel(size: int, routes: int, instance: int) -> Network:
    """Two roads side by side. Again and again, `size` squared times, a random road is replaced by two, one after the
    other or side by side. Times are random, and routes the shortest ones when roads are empty."""
    chooser = random.Random(instance)
    nodes: list[Point] = [(0.0, 0.5), (1.0, 0.5)]
    # each road with the rectangle that is free for its line
    roads = [(0, 1, (0.0, 1.0, 0.0, 0.5)), (0, 1, (0.0, 1.0, 0.5, 1.0))]
    for _ in range(size * size):
        widest = sorted(roads, key=lambda road: -(road[2][1] - road[2][0]) * (road[2][3] - road[2][2]))
        tail, head, (left, right, low, high) = widest[int(chooser.random() * min(4, len(widest)))]
        roads.remove((tail, head, (left, right, low, high)))
        if chooser.random() < 0.65:
            middle = (left + right) / 2
            nodes.append((middle, (low + high) / 2))
            between = len(nodes) - 1
            roads += [(tail, between, (left, middle, low, high)), (between, head, (middle, right, low, high))]
        else:
            middle = (low + high) / 2
            roads += [(tail, head, (left, right, low, middle)), (tail, head, (left, right, middle, high))]
    links = []
    for tail, head, (left, right, low, high) in roads:
        links.append(_street(chooser, tail, head, ((left + right) / 2, (low + high) / 2)))
    ways = shortest_routes(links, 0, 1, routes)
    return Network(tuple(nodes), tuple(links), ((0, 1),), (ways,))


def shortest_routes(links: Sequence[Link], origin: int, end: int, count: int) -> tuple[tuple[int, ...], ...]:
    """The shortest routes without a node twice when roads are empty, the shortest first: best-first search with the
    distance that is left, so that routes are completed in their order."""
    left = _distances(links, end)
    leaving: dict[int, list[int]] = {}
    for number, link in enumerate(links):
        leaving.setdefault(link.tail, []).append(number)
    found: list[tuple[int, ...]] = []
    waiting: list[tuple[float, tuple[int, ...]]] = [(left[origin], ())]
    while waiting and len(found) < count:
        _, route = heapq.heappop(waiting)
        here = links[route[-1]].head if route else origin
        if here == end:
            found.append(route)
            continue
        seen = {origin, *(links[number].head for number in route)}
        length = sum(links[number].fixed for number in route)
        for number in leaving.get(here, ()):
            link = links[number]
            if link.head not in seen and link.head in left:
                heapq.heappush(waiting, (length + link.fixed + left[link.head], (*route, number)))
    return tuple(found)


def _distances(links: Sequence[Link], end: int) -> dict[int, float]:
    """From each node to the end when roads are empty (Dijkstra)."""
    found: dict[int, float] = {}
    waiting = [(0.0, end)]
    while waiting:
        length, node = heapq.heappop(waiting)
        if node not in found:
            found[node] = length
            for link in links:
                if link.head == node and link.tail not in found:
                    heapq.heappush(waiting, (length + link.fixed, link.tail))
    return found


@functools.lru_cache(maxsize=64)
def tolled_links(network: Network, instance: int) -> tuple[int, ...]:
    """A tenth of the links, at least one, chosen at random."""
    chooser = random.Random(f"toll {instance}")
    numbers = list(range(len(network.links)))
    return tuple(numbers.pop(int(chooser.random() * len(numbers))) for _ in range(-(-len(network.links) // 10)))


def lines_of(network: Network) -> np.ndarray:
    """Where the roads lie in images, (links, 3, 2): both ends and a point between; those in both directions side by
    side."""
    nodes, both = np.array(network.nodes), {(link.tail, link.head) for link in network.links}
    lines = []
    for link in network.links:
        tail, head = nodes[link.tail], nodes[link.head]
        line = np.stack([tail, (tail + head) / 2 if link.via is None else np.array(link.via), head])
        if (link.head, link.tail) in both:
            right = np.array([head[1] - tail[1], tail[0] - head[0]])
            line = line + 0.05 * right
        lines.append(line)
    return np.array(lines)
