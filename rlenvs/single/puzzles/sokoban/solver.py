"""Shortest solutions by breadth-first search over the places of player and boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled

BITS = 62
MOST_REMEMBERED = 200_000
MOST_STATES = 1_000_000  # that a search looks at before it gives up
LARGE, FEWER = 200, 200_000  # cells of a room that hardly any search finishes, and so many states there


@compiled()
def _find(keys: np.ndarray, place: np.ndarray, key: int) -> int:
    """Where a key lies in the hash table, or would; `place` holds 1 + the number of its node."""
    mask = place.size - 1
    at = (((key ^ (key >> 29)) * 0x1E3779B97F4A7C15) >> 17) & mask
    while place[at] and keys[place[at] - 1] != key:
        at = (at + 1) & mask
    return at


@compiled()
def _pack(player: int, boxes: np.ndarray, bits: int) -> int:
    """Player and boxes, in their order, as one number."""
    key = player
    for k in range(boxes.size):
        key = (key << bits) | boxes[k]
    return key


@compiled()
def _sort(boxes: np.ndarray) -> None:
    """All but one are in order."""
    for k in range(1, boxes.size):
        for j in range(k, 0, -1):
            if boxes[j] < boxes[j - 1]:
                boxes[j], boxes[j - 1] = boxes[j - 1], boxes[j]


@compiled()
def _search(
    wall: np.ndarray,
    target: np.ndarray,
    alive: np.ndarray,
    width: int,
    player: int,
    boxes: np.ndarray,
    bits: int,
    table: np.ndarray,
    keys: np.ndarray,
    parent: np.ndarray,
    action: np.ndarray,
) -> int:
    """The node in which all boxes are on targets, -1 where there is none, -2 where there are more nodes than room."""
    boxes = boxes.copy()
    count, mask = boxes.size, (1 << bits) - 1
    occupied = np.zeros(wall.size, np.uint8)
    keys[0], parent[0] = _pack(player, boxes, bits), -1
    table[_find(keys, table, keys[0])] = 1
    nodes, node = 1, 0
    while node < nodes:
        key = keys[node]
        for k in range(count):
            boxes[count - 1 - k] = (key >> (bits * k)) & mask
        player = key >> (bits * count)
        for k in range(count):
            occupied[boxes[k]] = 1
        for a in range(4):
            step = -width if a == 0 else 1 if a == 1 else width if a == 2 else -1
            ahead = player + step
            if wall[ahead]:
                continue
            after = (ahead << (bits * count)) | (key & ((1 << (bits * count)) - 1))
            solved = False
            if occupied[ahead]:
                beyond = ahead + step
                if wall[beyond] or occupied[beyond] or not alive[beyond]:
                    continue
                moved = boxes.copy()
                on = 0
                for k in range(count):
                    moved[k] = beyond if moved[k] == ahead else moved[k]
                    on += target[moved[k]]
                solved = on == count
                _sort(moved)
                after = _pack(ahead, moved, bits)
            where = _find(keys, table, after)
            if table[where]:
                continue
            if nodes == keys.size:
                return -2
            keys[nodes], parent[nodes], action[nodes] = after, node, a
            nodes += 1
            table[where] = nodes
            if solved:
                return nodes - 1
        for k in range(count):
            occupied[boxes[k]] = 0
        node += 1
    return -1


def solve(s: Any, most: int = MOST_STATES) -> list[int] | None:
    """The actions of a shortest solution from the state of a record; None where there is none.

    Raises:
        RuntimeError: the search gave up after so many states, or there are too many boxes to number their places.
    """
    width = s.wall.shape[1]
    boxes = np.flatnonzero(s.box.ravel()).astype(np.int64)
    bits = (s.wall.size - 1).bit_length()
    if bits * (len(boxes) + 1) > BITS:
        raise RuntimeError(f"{len(boxes)} boxes on {s.wall.size} cells have more states than fit into a 64-bit number")
    keys, parent, action = np.zeros(most, np.int64), np.zeros(most, np.int32), np.zeros(most, np.uint8)
    table = np.zeros(1 << (2 * most - 1).bit_length(), np.int32)
    alive = (np.asarray(s.pushes) > 0).astype(np.uint8)
    grids = (np.ascontiguousarray(grid).ravel() for grid in (s.wall, s.target, alive))
    node = _search(*grids, width, int(s.player), boxes, bits, table, keys, parent, action)
    if node == -2:
        raise RuntimeError(f"the search gave up after {most} states")
    if node == -1:
        return None
    plan = []
    while parent[node] >= 0:
        plan.append(int(action[node]))
        node = parent[node]
    return plan[::-1]


_first: dict[tuple[bytes, bytes, bytes, int], int | None] = {}


def first_move(s: Any) -> int | None:
    """The first action of a shortest solution; None where there is none, or the search gave up.

    The search finds the first of all shortest solutions in the order of actions, and its end is the first one from
    where it begins. So what follows on it is known too, and does not depend on what was asked before.
    """
    room = s.wall.tobytes(), s.target.tobytes()
    key = (*room, s.box.tobytes(), int(s.player))
    if key not in _first:
        if len(_first) >= MOST_REMEMBERED:
            _first.clear()
        try:
            plan = solve(s, FEWER if s.wall.size > LARGE else MOST_STATES)
        except RuntimeError:
            plan = None
        _first[key] = None
        box, player, width = s.box.copy(), int(s.player), s.wall.shape[1]
        for action in plan or ():
            _first[(*room, box.tobytes(), player)] = action
            step = (-width, 1, width, -1)[action]
            player += step
            cells = box.reshape(-1)
            if cells[player]:
                cells[player], cells[player + step] = 0, 1
    return _first[key]
