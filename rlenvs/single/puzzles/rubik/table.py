"""The distance to the solved 2 x 2 x 2 cube, in turns, for all of its 3 674 160 positions."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.single.puzzles.rubik.turns import rotations, stickers, turns

FAR, ORDERS, TWISTS = 255, 5040, 729
POSITIONS = ORDERS * TWISTS
SIDES = 3  # stickers of a corner


@lru_cache(maxsize=1)
def corners() -> np.ndarray:
    """The three stickers of each of the eight corners, clockwise from the one that looks up or down; int (8, 3)."""
    places = stickers(2)
    found = []
    for corner in sorted({tuple(place) for place in places[:, :3].tolist()}):
        three = [k for k in range(len(places)) if tuple(places[k, :3]) == corner]
        three.sort(key=lambda k: -abs(int(places[k, 5])))
        first, second, third = (places[k, 3:] for k in three)
        if np.dot(np.cross(first, second), third) > 0:
            three[1], three[2] = three[2], three[1]
        found.append(three)
    return np.array(found)


@compiled()
def _rank(colors: np.ndarray, corner: np.ndarray, which: np.ndarray) -> int:
    """The number of a position whose last corner is where it belongs. `which` says which corner three colors are, and
    how far it is twisted."""
    order, twist = np.zeros(7, np.int64), 0
    for k in range(7):
        a, b, c = colors[corner[k, 0]], colors[corner[k, 1]], colors[corner[k, 2]]
        found = which[a, b, c]
        order[k] = found // 3
        if k < 6:
            twist = 3 * twist + found % 3
    rank = 0
    for i in range(7):
        smaller = 0
        for j in range(i + 1, 7):
            smaller += 1 if order[j] < order[i] else 0
        rank = rank * (7 - i) + smaller
    return rank * TWISTS + twist


@compiled()
def _fill(table: np.ndarray, start: int, order_after: np.ndarray, twist_after: np.ndarray, queue: np.ndarray) -> int:
    """Breadth first from the aim; returns how many positions there are."""
    queue[0] = start
    table[start] = 0
    first, last = 0, 1
    while first < last:
        position = queue[first]
        first += 1
        for turn in range(order_after.shape[1]):
            after = order_after[position // TWISTS, turn] * TWISTS + twist_after[position % TWISTS, turn]
            if table[after] == FAR:
                table[after] = table[position] + 1
                queue[last] = after
                last += 1
    return last


def _after(start: np.ndarray, still: np.ndarray, number: Callable[[np.ndarray], int], count: int) -> np.ndarray:
    """What turns make of one part of a position, the order or the twists of its corners, which are independent."""
    found = np.zeros((count, len(still)), np.int64)
    seen, queue = {number(start)}, [start]
    for colors in queue:  # grows
        for turn, permutation in enumerate(still):
            after = colors[permutation]
            found[number(colors), turn] = number(after)
            if number(after) not in seen:
                seen.add(number(after))
                queue.append(after)
    return found


@lru_cache(maxsize=1)
def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The table of distances, the stickers of the corners, and which corner three colors are."""
    corner = corners()
    start = np.repeat(np.arange(6, dtype=np.uint8), 4)
    which = np.full((6, 6, 6), -1, np.int64)
    for k, three in enumerate(corner):
        for twist in range(SIDES):
            a, b, c = (start[three[(side - twist) % SIDES]] for side in range(SIDES))
            which[a, b, c] = 3 * k + twist
    fixed = corner[7]
    still = np.array([turn for turn in turns(2) if all(turn[k] == k for k in fixed)])
    table = np.full(POSITIONS, FAR, np.uint8)
    order_after = _after(start, still, lambda colors: _rank(colors, corner, which) // TWISTS, ORDERS)
    twist_after = _after(start, still, lambda colors: _rank(colors, corner, which) % TWISTS, TWISTS)
    _fill(table, _rank(start, corner, which), order_after, twist_after, np.zeros(POSITIONS, np.int64))
    return table, corner, which


def table() -> np.ndarray:
    """Turns to the aim by number of the position, uint8."""
    return _tables()[0]


def distance(colors: np.ndarray) -> int:
    """In how few turns, quarter or half, the cube can be solved; uint8 (24,)."""
    distances, corner, which = _tables()
    held = np.asarray(colors, np.uint8)
    for rotation in rotations(2):
        turned = held[rotation]
        a, b, c = (int(turned[k]) for k in corner[7])
        if which[a, b, c] == 3 * 7:
            return int(distances[_rank(turned, corner, which)])
    raise ValueError("these are not the stickers of a cube")


def best_turn(colors: np.ndarray) -> int:
    """The first of the turns that lead nearest to the aim."""
    return int(np.argmin([distance(np.asarray(colors)[turn]) for turn in turns(2)]))
