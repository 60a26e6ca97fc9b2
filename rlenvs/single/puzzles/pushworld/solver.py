"""Shortest plans by breadth-first search over the places of all objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.single.puzzles.pushworld.rules import achieved, move, push_set
from rlenvs.single.puzzles.pushworld.tables import NOWHERE

LETTERS = "LRUD"
BITS = 62  # in which a state is packed
MOST_REMEMBERED = 100_000
FIELDS = ("walls", "agent_walls", "outline", "tall", "goal", "distance")


@compiled()
def _find(keys: np.ndarray, place: np.ndarray, key: int) -> int:
    """Where a key lies in the hash table, or would; `place` holds 1 + the number of its node."""
    mask = place.size - 1
    at = (((key ^ (key >> 29)) * 0x1E3779B97F4A7C15) >> 17) & mask
    while place[at] and keys[place[at] - 1] != key:
        at = (at + 1) & mask
    return at


@compiled()
def _search(  # 13 parameters: the arrays of a puzzle and of a search, which compiled code takes one by one
    walls: np.ndarray,
    agent_walls: np.ndarray,
    shape: np.ndarray,
    tall: np.ndarray,
    goal: np.ndarray,
    distance: np.ndarray,
    start: np.ndarray,
    table: np.ndarray,
    bits: int,
    columns: int,
    keys: np.ndarray,
    parent: np.ndarray,
    action: np.ndarray,
) -> int:
    """The node in which all goals are reached, -1 where there is none, -2 where there are more nodes than room."""
    count, goals = start.shape[0], goal.shape[0]
    at, after = start.copy(), start.copy()
    pushed = np.zeros(count, np.uint8)
    key = 0
    for i in range(count):
        key = (key << bits) | (at[i, 0] * columns + at[i, 1])
    keys[0], parent[0] = key, -1
    table[_find(keys, table, key)] = 1
    nodes, node = 1, 0
    mask = (1 << bits) - 1
    while node < nodes:
        key = keys[node]
        for i in range(count):
            cell = (key >> (bits * (count - 1 - i))) & mask
            at[i, 0], at[i, 1] = cell // columns, cell % columns
        for a in range(4):
            if not push_set(walls, agent_walls, shape, tall, at, count, pushed, a):
                continue
            for i in range(count):
                after[i, 0], after[i, 1] = at[i, 0], at[i, 1]
            move(after, pushed, count, a)
            dead, key = False, 0
            for i in range(count):
                key = (key << bits) | (after[i, 0] * columns + after[i, 1])
                if 0 < i <= goals and distance[i - 1, after[i, 0], after[i, 1]] == NOWHERE:
                    dead = True
            if dead:
                continue
            where = _find(keys, table, key)
            if table[where]:
                continue
            if nodes == keys.size:
                return -2
            keys[nodes], parent[nodes], action[nodes] = key, node, a
            nodes += 1
            table[where] = nodes
            if achieved(after, goal, goals) == goals:
                return nodes - 1
        node += 1
    return -1


def solve(tables: Any, k: int, at: np.ndarray, most: int = 1_000_000) -> str | None:
    """A shortest plan in letters L, R, U, D; None where there is none.

    Args:
        tables: of a set, its arrays as attributes or fields of a record.
        k: number of the puzzle.
        at: places of its objects, or of all that there is room for.
        most: states that are looked at before the search gives up.

    Raises:
        RuntimeError: it gave up, or the places of so many objects do not fit into a number.
    """
    table = {name: np.ascontiguousarray(getattr(tables, name)[k]) for name in FIELDS}
    count, goals = int(tables.object_count[k]), int(tables.goal_count[k])
    rows, columns = table["distance"].shape[1:]
    bits = (rows * columns - 1).bit_length()
    if bits * count > BITS:
        raise RuntimeError(
            f"{count} objects on {rows} x {columns} cells have more states than fit into a 64-bit number"
        )
    room = 1 << (2 * most - 1).bit_length()
    parent, action = np.zeros(most, np.int32), np.zeros(most, np.uint8)
    node = _search(
        table["walls"],
        table["agent_walls"],
        table["outline"][:count],
        table["tall"][:count],
        table["goal"][:goals],
        table["distance"][:goals],
        np.ascontiguousarray(at[:count], dtype=np.int64),
        np.zeros(room, np.int32),
        bits,
        columns,
        np.zeros(most, np.int64),
        parent,
        action,
    )
    if node == -2:
        raise RuntimeError(f"the search gave up after {most} states")
    if node == -1:
        return None
    plan = []
    while parent[node] >= 0:
        plan.append(LETTERS[action[node]])
        node = parent[node]
    return "".join(reversed(plan))


class Arrays:
    """The tables of a set as attributes.

    Args:
        arrays: by name.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.__dict__.update(arrays)


_first: dict[tuple[bytes, ...], int | None] = {}  # first moves by puzzle and places


def first_move(tables: Any, k: int, at: np.ndarray) -> int | None:
    """The first action of a shortest plan; None where there is none, or the search gave up.

    The search finds the first of all shortest plans in the order of letters, and its end is the first one from where it
    begins. So what follows on a plan is known too, and does not depend on what was asked before.
    """
    puzzle = tuple(getattr(tables, name)[k].tobytes() for name in ("walls", "agent_walls", "outline", "goal"))
    key = (*puzzle, at.tobytes())
    if key not in _first:
        if len(_first) >= MOST_REMEMBERED:
            _first.clear()
        try:
            plan = solve(tables, k, at)
        except RuntimeError:
            plan = None
        if not plan:
            _first[key] = None
            return None
        places, pushed = at.copy(), np.zeros(len(at), np.uint8)
        rules = tables.walls[k], tables.agent_walls[k], tables.outline[k], tables.tall[k]
        count = int(tables.object_count[k])
        for letter in plan:
            action = LETTERS.index(letter)
            _first[(*puzzle, places.tobytes())] = action
            push_set(*rules, places, count, pushed, action)
            move(places, pushed, count, action)
    return _first[key]
