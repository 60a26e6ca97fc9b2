"""Where lanes and the ways across junctions lie, how long they are, and where they cross.

All lengths are computed with the operations of CityFlow in its order, so that they are equal to the last digit; also
its rule that the distance of a crossing leaves out parts of the second way that are parallel to the first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rlenvs.multi.traffic.networks import Network, Point, Road

EPS = 1e-8
CURVE = 10  # pieces of a way without points
SHORTEST_BEND = 5.0  # m, from a lane's end to where a curve may bend


class Crossing(NamedTuple):
    """Where two ways cross.

    Attributes:
        links: their numbers in the junction, the lower one first.
        at: meters from the beginning of each.
    """

    links: tuple[int, int]
    at: tuple[float, float]


def _unit(tail: Point, head: Point) -> Point:
    x, y = head[0] - tail[0], head[1] - tail[1]
    length = math.sqrt(x * x + y * y)
    return x / length, y / length


def length_of(points: Sequence[Point]) -> float:
    """The length of a line."""
    length = 0.0
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        x, y = x1 - x0, y1 - y0
        length += math.sqrt(x * x + y * y)
    return length


def point_at(points: Sequence[Point], distance: float) -> Point:
    """The point of a line at a distance from its beginning, or its nearer end."""
    distance = min(max(distance, 0.0), length_of(points))
    if distance <= 0.0:
        return points[0]
    for tail, head in itertools.pairwise(points):
        x, y = tail[0] - head[0], tail[1] - head[1]
        length = math.sqrt(x * x + y * y)
        if distance <= length:
            part = distance / length
            return tail[0] + (head[0] - tail[0]) * part, tail[1] + (head[1] - tail[1]) * part
        distance -= length
    return points[-1]


def direction_at(points: Sequence[Point], distance: float) -> Point:
    """The direction of a line at a distance from its beginning."""
    for tail, head in itertools.pairwise(points):
        length = length_of((tail, head))
        if distance < length:
            return _unit(tail, head)
        distance -= length
    return _unit(points[-2], points[-1])


def lane_lines(road: Road, before: float, after: float) -> list[list[Point]]:
    """The middle lines of a road's lanes, which end at the widths of its two junctions."""
    points = list(road.points)
    if before:
        x, y = _unit(points[0], points[1])
        points[0] = points[0][0] + x * before, points[0][1] + y * before
    if after:
        x, y = _unit(points[-2], points[-1])
        points[-1] = points[-1][0] - x * after, points[-1][1] - y * after
    units = [_unit(tail, head) for tail, head in itertools.pairwise(points)]
    ways = [units[0]]
    ways += [_unit((0.0, 0.0), (u[0] + v[0], u[1] + v[1])) for v, u in itertools.pairwise(units)]
    ways.append(units[-1])
    lines, edge = [], 0.0
    for lane in road.lanes:
        middle = (edge + (edge + lane.width)) / 2.0
        lines.append([(x + v * middle, y + -u * middle) for (x, y), (u, v) in zip(points, ways, strict=True)])
        edge += lane.width
    return lines


def road_lines(network: Network) -> list[list[list[Point]]]:
    """By road, the middle lines of its lanes."""
    ends = {each.id: 0.0 if each.virtual else each.width for each in network.junctions}
    return [lane_lines(road, ends[road.start], ends[road.end]) for road in network.roads]


def _curve(start: Sequence[Point], end: Sequence[Point], width: float) -> list[Point]:
    """A smooth way from one lane to another, both given from middle to middle of their junctions."""
    leave = length_of(start) - width
    first, last = point_at(start, leave), point_at(end, 0.0 + width)
    x, y = last[0] - first[0], last[1] - first[1]
    apart = math.sqrt(x * x + y * y)
    ahead, back = direction_at(start, leave), direction_at(end, 0.0 + width)
    out = ahead[0] * apart * 0.5, ahead[1] * apart * 0.5
    into = -back[0] * apart * 0.5, -back[1] * apart * 0.5
    if width >= SHORTEST_BEND:
        if out[0] * out[0] + out[1] * out[1] < SHORTEST_BEND**2:
            out = SHORTEST_BEND * ahead[0], SHORTEST_BEND * ahead[1]
        if into[0] * into[0] + into[1] * into[1] < SHORTEST_BEND**2:
            into = SHORTEST_BEND * back[0], SHORTEST_BEND * back[1]
    bend, other = (first[0] + out[0], first[1] + out[1]), (last[0] + into[0], last[1] + into[1])

    def between(p: Point, q: Point, part: float) -> Point:
        return (q[0] - p[0]) * part + p[0], (q[1] - p[1]) * part + p[1]

    points = []
    for i in range(CURVE + 1):
        part = i / CURVE
        middle = between(bend, other, part)
        one, two = between(between(first, bend, part), middle, part), between(middle, between(other, last, part), part)
        points.append(between(one, two, part))
    return points


def link_lines(network: Network) -> list[list[Point]]:
    """The middle lines of all ways across junctions, in the order of their numbers."""
    found: list[list[Point]] = []
    whole: dict[int, list[list[Point]]] = {}

    def lane_line(road: str, index: int) -> list[Point]:
        number = network.road_of[road]
        if number not in whole:
            whole[number] = lane_lines(network.roads[number], 0.0, 0.0)
        return whole[number][index]

    for junction, movement, link, _, _ in network.links():
        if link.points:
            found.append(list(link.points))
        else:
            start, end = lane_line(movement.start, link.start), lane_line(movement.end, link.end)
            found.append(_curve(start, end, junction.width))
    return found


def crossings_of(lines: Sequence[Sequence[Point]]) -> list[Crossing]:
    """All crossings of the ways across a junction, at most one of each two: the first on the way with the lower
    number."""
    if not lines:
        return []
    points = np.full((len(lines), max(map(len, lines)), 2), np.nan)
    for number, line in enumerate(lines):
        points[number, : len(line)] = line
    found = []
    for one in range(len(lines) - 1):
        found += [
            Crossing((one, one + 1 + other), at) for other, at in _first_crossings(points[one], points[one + 1 :])
        ]
    return found


def _first_crossings(line: np.ndarray, others: np.ndarray) -> list[tuple[int, tuple[float, float]]]:
    """Which of the others a line (points, 2) crosses first where, and at which distances on both."""
    tail, head = line[None, :-1, None], line[None, 1:, None]  # others, pieces of the line, pieces of the other
    tails, heads = others[:, None, :-1], others[:, None, 1:]
    way, ways = head - tail, heads - tails
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = _cross(way, ways)
        place = tail + way * (_cross(tails - tail, ways) / turn)[..., None]
        meet = (np.abs(turn) >= EPS) & _holds(tail, head, place) & _holds(tails, heads, place)
    apart = np.where(np.abs(turn) >= EPS, _length(ways), 0.0)
    at = _sums_before(_length(way))[0, :, 0], _sums_before(apart.swapaxes(1, 2)).swapaxes(1, 2)
    found = []
    for other in np.flatnonzero(meet.any(axis=(1, 2))).tolist():
        i, j = divmod(int(np.argmax(meet[other])), meet.shape[2])
        here = place[other, i, j]
        on_line, on_other = _length(here - tail[0, i, 0]), _length(here - tails[other, 0, j])
        found.append((other, (float(at[0][i] + on_line), float(at[1][other, i, j] + on_other))))
    return found


def _length(way: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(way[..., 0] * way[..., 0] + way[..., 1] * way[..., 1]))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _holds(tail: np.ndarray, head: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Whether pieces of lines hold places on their lines."""
    before, behind = place - tail, place - head
    along = before[..., 0] * behind[..., 0] + before[..., 1] * behind[..., 1]
    return np.asarray((np.abs(_cross(head - tail, before)) < EPS) & (along < EPS))


def _sums_before(lengths: np.ndarray) -> np.ndarray:
    """Along the second axis, the sum of all that come before, added one by one."""
    sums = np.cumsum(lengths, axis=1)
    return np.concatenate([np.zeros_like(sums[:, :1]), sums[:, :-1]], axis=1)
