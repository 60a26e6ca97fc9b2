"""Maps: parsing custom ones, drawing random ones, connected components, and placing starts and goals.

Grids are flat and padded: a map of height x width is stored in (height + 2 radius) x (width + 2 radius) cells, so an
observation never leaves the grid. The ring next to the map is wall, the cells beyond it are free but unreachable.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import below, kernel, uniform
from rlenvs.core.declare.errors import ParameterError

LARGEST = 1024
TRIES, TRIES_AT_FULL_DENSITY = 20, 10


def parse_map(value: Any) -> tuple[str, ...] | None:
    """The rows of a map as strings of "." and "#"; None for a random map.

    Args:
        value: None, a string with a line per row, or rows of 0 (free) and 1 (obstacle).

    Raises:
        ValueError: other characters or numbers, rows of different lengths, an empty or an overlarge map.
    """
    if value is None:
        return None
    if isinstance(value, str):
        rows = [line.strip() for line in value.strip().splitlines()]
    else:
        rows = [row if isinstance(row, str) else "".join(_symbol(cell) for cell in row) for row in value]
    if not rows or not rows[0]:
        raise ValueError("the map is empty; give a line of '.' and '#' for each row")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"row {number} has {len(row)} cells and row 0 has {len(rows[0])}; make all rows equally long"
            )
        if set(row) - set(".#"):
            raise ValueError(f"row {number} is {row!r}; allowed are '.' (free) and '#' (obstacle)")
    if max(len(rows), len(rows[0])) > LARGEST:
        raise ValueError(f"the map has {len(rows)} x {len(rows[0])} cells; at most {LARGEST} x {LARGEST} are allowed")
    return tuple(rows)


def _symbol(cell: Any) -> str:
    if cell not in (0, 1):
        raise ValueError(f"a cell is {cell!r}; allowed are 0 (free) and 1 (obstacle)")
    return "#" if cell else "."


def map_sizes(v: Any) -> dict[str, int]:
    """Sizes of the grids; a given map overrules height and width."""
    height, width = (len(v.map), len(v.map[0])) if v.map else (v.height, v.width)
    rows, columns = height + 2 * v.radius, width + 2 * v.radius
    window = 2 * v.radius + 1
    return {
        "agents": v.agents,
        "area": height * width,
        "rows": rows,
        "columns": columns,
        "cells": rows * columns,
        "window": window,
    }


def map_data(v: Any) -> dict[str, Any]:
    """The padded grid that every episode starts from: walls around the map, and a given map's obstacles.

    Raises:
        ParameterError: the map cannot hold the agents, each with a start and a goal of its own in one component.
    """
    sizes, r = map_sizes(v), v.radius
    frame = np.zeros((sizes["rows"], sizes["columns"]), np.uint8)
    frame[r - 1 : sizes["rows"] - r + 1, r - 1 : sizes["columns"] - r + 1] = 1
    inside = frame[r:-r, r:-r]
    inside[:] = [[cell == "#" for cell in row] for row in v.map] if v.map else 0
    pairs = inside.size // 2
    if v.map:
        grids = {name: [0] * frame.size for name in ("component", "members", "extent")}
        pairs = find_components(
            SimpleNamespace(frame=frame, radius=r), SimpleNamespace(blocked=frame.ravel().tolist(), **grids)
        )
    if pairs < v.agents:
        shape = f"{inside.shape[0]} x {inside.shape[1]} map"
        raise ParameterError(
            f"agents={v.agents} do not fit: the {shape} has room for at most {pairs} agents with distinct starts and "
            f"goals that are connected in pairs; use fewer agents or a larger map"
        )
    return {"frame": frame, "random_map": v.map is None}


@kernel
def cell_at(p, row, column):
    """The cell in the flat grids of a row and column of the map."""
    return (row + p.radius) * p.frame.shape[1] + column + p.radius


@kernel
def cell_of(p, s, k):
    """The cell on which agent k stands."""
    return cell_at(p, s.position[k, 0], s.position[k, 1])


@kernel
def find_components(p, s):
    """Label connected components by flood fill; returns how many pairs of start and goal they hold.

    The free cells end up in s.members, component by component. s.component of a cell is 1 + the index at which its
    component begins there, and s.extent of that index is the component's number of cells.
    """
    blocked, component, members, extent = s.blocked, s.component, s.members, s.extent
    columns, radius = p.frame.shape[1], p.radius
    count, pairs = 0, 0
    for row in range(radius, p.frame.shape[0] - radius):
        for first in range(row * columns + radius, (row + 1) * columns - radius):
            if blocked[first] or component[first]:
                continue
            begin = count
            component[first] = begin + 1
            members[count] = first
            count += 1
            head = begin
            while head < count:
                cell = members[head]
                head += 1
                for j in range(4):
                    step = 1 if j < 2 else columns
                    near = cell + step if j % 2 == 0 else cell - step
                    if not blocked[near] and not component[near]:
                        component[near] = begin + 1
                        members[count] = near
                        count += 1
            extent[begin] = count - begin
            pairs += (count - begin) // 2
    s.free_cells = count
    return pairs


@kernel
def make_map(p, s, rng):
    """Fill s.blocked and label its components. A random map that cannot hold the agents is drawn again; after
    TRIES_AT_FULL_DENSITY tries the density falls, to nothing at the last try, which always fits."""
    blocked, component = s.blocked, s.component
    columns, radius = p.frame.shape[1], p.radius
    cells, agents = blocked.size, s.position.shape[0]
    for attempt in range(TRIES):
        for row in range(p.frame.shape[0]):
            for column in range(columns):
                blocked[row * columns + column] = p.frame[row, column]
        if p.random_map:
            density = p.density * min(1.0, (TRIES - 1.0 - attempt) / TRIES_AT_FULL_DENSITY)
            for row in range(radius, p.frame.shape[0] - radius):
                for cell in range(row * columns + radius, (row + 1) * columns - radius):
                    if uniform(rng, 0.0, 1.0) < density:
                        blocked[cell] = 1
        for cell in range(cells):
            component[cell] = 0
        if find_components(p, s) >= agents:
            return


@kernel
def place_agents(p, s, rng):
    """Walk through the free cells in random order: a cell becomes the goal of the agent that waits for one in its
    component, or else the start of the next agent. All these cells are distinct."""
    order, waiting, component, extent = s.order, s.mark, s.component, s.extent
    columns, radius = p.frame.shape[1], p.radius
    agents, count = s.position.shape[0], s.free_cells
    for j in range(count):
        order[j] = s.members[j]
    started, finished = 0, 0
    for i in range(count):
        if finished == agents:
            break
        j = i + below(rng, count - i)
        cell = order[j]
        order[j] = order[i]
        row = cell // columns
        home = component[cell] - 1
        if waiting[home]:
            k = waiting[home] - 1
            waiting[home] = 0
            s.goal[k, 0] = row - radius
            s.goal[k, 1] = cell - row * columns - radius
            finished += 1
        elif started < agents and extent[home] >= 2:
            waiting[home] = started + 1
            extent[home] -= 2
            s.position[started, 0] = row - radius
            s.position[started, 1] = cell - row * columns - radius
            s.occupant[cell] = started + 1
            started += 1
    for k in range(agents):
        home = component[cell_of(p, s, k)] - 1
        extent[home] += 2


@kernel
def draw_goal(p, s, k, rng):
    """A new goal for agent k: any other cell of its component."""
    columns, radius = p.frame.shape[1], p.radius
    here = cell_of(p, s, k)
    begin = s.component[here] - 1
    # the last member stands in for the agent's own cell
    cell = s.members[begin + below(rng, s.extent[begin] - 1)]
    if cell == here:
        cell = s.members[begin + s.extent[begin] - 1]
    row = cell // columns
    s.goal[k, 0] = row - radius
    s.goal[k, 1] = cell - row * columns - radius
