"""Maps of walls on a grid: from a text, at random, or smoothed to caves; starts and goals on them."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import below, kernel, maths, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.navigation.grid_walls import (
    ALONE,
    FAR,
    center_of,
    disc_hits,
    mark_clear,
    measure,
    nearest_step,
    reach_of,
)

LARGEST, MOST_ROBOTS = 64, 26
MAPS, TRIES, ANYWHERE = 5, 300, 150  # maps that are drawn, pairs for a robot, and those that are not middles of cells
ROOM = 4.0  # m^2, for a robot
GOAL_CLEAR, START_CLEAR = 0.3, 1.5  # m; radii
CROWDED, LONELY = 3, 1  # of the cells around one: more than so many fill it, no more than so many empty it


def parse_map(value: Any) -> tuple[str, ...] | None:
    """The rows of a map; None for a random one.

    Args:
        value: None, a string with a line per row, or a list of rows: "#" is wall, "." is free, "A" the start of the
            first robot and "a" its goal, and so on.

    Raises:
        ValueError: rows of different lengths, other characters, no wall all around, a map that is too small or large,
            starts without goals, letters that are left out or stand twice.
    """
    if value is None:
        return None
    rows = value.strip().splitlines() if isinstance(value, str) else list(value)
    rows = [str(row).strip() for row in rows]
    if len({len(row) for row in rows}) != 1:
        raise ValueError("all rows of a map must have the same length")
    if not (3 <= len(rows) <= LARGEST and 3 <= len(rows[0]) <= LARGEST):
        raise ValueError(f"a map has 3 to {LARGEST} rows and columns, not {len(rows)} x {len(rows[0])}")
    if set(rows[0] + rows[-1]) | {row[0] for row in rows} | {row[-1] for row in rows} != {"#"}:
        raise ValueError("the first and last row and column of a map must be '#'")
    text = "".join(rows)
    letters = sorted(letter for letter in text if letter not in "#.")
    count = len(letters) // 2
    names = [chr(65 + k) for k in range(min(count, MOST_ROBOTS))]
    if letters != names + [name.lower() for name in names]:
        raise ValueError(
            f"a map consists of '#' (wall), '.' (free), and for each robot, from 'A' on, a start 'A' and a goal 'a'; "
            f"besides the first two there are {''.join(letters)!r}"
        )
    return tuple(rows)


def map_sizes(values: Any) -> dict[str, int]:
    """Sizes of the grid; a given map overrules height and width."""
    rows, columns = (len(values.map), len(values.map[0])) if values.map else (values.height, values.width)
    return {"rows": rows, "columns": columns, "cells": rows * columns}


def map_data(values: Any) -> dict[str, Any]:
    """The walls that every episode starts from, and where robots start and go, or -1.

    Raises:
        ParameterError: the map has starts for another number of robots, no room for the robots, or no way to a goal.
    """
    sizes = map_sizes(values)
    plan = np.ones((sizes["rows"], sizes["columns"]), np.uint8)
    plan[1:-1, 1:-1] = 0
    ends = np.full((values.agents, 2), -1, np.int32)
    if values.map:
        text = "".join(reversed(values.map))  # the last line is at y = 0
        plan = np.array([letter == "#" for letter in text], np.uint8).reshape(plan.shape)
        named = sum(letter.isupper() for letter in text)
        if named not in (0, values.agents):
            raise ParameterError(f"agents={values.agents}, but the map has starts for {named}; make them equal")
        if named:
            ends[:] = [[text.index(chr(65 + k)), text.index(chr(97 + k))] for k in range(values.agents)]
    made = {"plan": plan.ravel(), "ends": ends, "drawn": values.map is None}
    made |= {name: sizes[name] for name in ("rows", "columns")}
    _check_room(values, made)
    return made


def _check_room(values: Any, made: dict[str, Any]) -> None:
    """Refuse a map that is too small for its robots, or on which one cannot get to its goal."""
    free = int((made["plan"] == 0).sum()) * values.cell**2
    if free < ROOM * values.agents:
        raise ParameterError(
            f"agents={values.agents} need {ROOM:g} m^2 each, and the map has {free:g} m^2 without walls; use fewer "
            f"agents or a larger map"
        )
    if values.map is None:
        return
    cells = made["rows"] * made["columns"]
    p = SimpleNamespace(**made, cell=values.cell, body_length=values.body_length, body_width=values.body_width)
    s = SimpleNamespace(
        wall=made["plan"], clear=np.zeros(cells, int), steps=np.zeros(cells, int), queue=np.zeros(cells, int)
    )
    mark_clear(p, s)
    for k, (start, goal) in enumerate(made["ends"].tolist()):
        if start >= 0:
            x, y = center_of(p, goal)
            measure(p, s, x, y, ALONE, False)
            if s.steps[start] == FAR:
                raise ParameterError(f"on the map no way that is wide enough leads from {chr(65 + k)} to {chr(97 + k)}")
    if made["ends"][0, 0] < 0 and int(s.clear.sum()) < 2 * values.agents:
        raise ParameterError(
            f"agents={values.agents} need two cells each in which they can turn, and the map has {int(s.clear.sum())}"
        )


@kernel
def scatter_walls(p, s, rng, share):
    """Make so many cells within the border walls, none to less than `share` of them, all choices equally likely."""
    free = (p.rows - 2) * (p.columns - 2)
    wanted = below(rng, max(int(free * share), 1))
    for cell in range(s.wall.size):
        s.wall[cell] = p.plan[cell]
        if p.drawn and p.plan[cell] == 0:
            s.wall[cell] = 1 if below(rng, free) < wanted else 0
            wanted -= s.wall[cell]
            free -= 1


@kernel
def smooth_walls(p, s):
    """Fill cells with many walls around them, and empty those with few; the border does not count."""
    for cell in range(s.wall.size):
        s.clear[cell] = s.wall[cell]
    for row in range(1, p.rows - 1):
        for column in range(1, p.columns - 1):
            around = 0
            for i in range(max(row - 1, 1), min(row + 2, p.rows - 1)):
                for j in range(max(column - 1, 1), min(column + 2, p.columns - 1)):
                    if i != row or j != column:
                        around += s.clear[i * p.columns + j]
            cell = row * p.columns + column
            s.wall[cell] = 1 if around > LONELY and (around > CROWDED or s.clear[cell]) else 0


@kernel
def draw_pair(p, s, k, rng, anywhere):
    """A start and a goal for robot k: any places, the goal in a random direction and distance; or middles of cells."""
    width, height, edge = p.columns * p.cell, p.rows * p.cell, p.cell + p.radius
    if anywhere:
        s.place[k, 0], s.place[k, 1] = uniform(rng, edge, width - edge), uniform(rng, edge, height - edge)
        distance = uniform(rng, 1.0 + p.radius, max(height - edge, 1.0 + p.radius))
        angle = uniform(rng, -math.pi, math.pi)
        s.goal[k, 0] = min(max(s.place[k, 0] + distance * maths.cos(angle), edge), width - edge)
        s.goal[k, 1] = min(max(s.place[k, 1] + distance * maths.sin(angle), edge), height - edge)
    else:
        s.place[k, 0], s.place[k, 1] = center_of(p, below(rng, s.wall.size))
        s.goal[k, 0], s.goal[k, 1] = center_of(p, below(rng, s.wall.size))
    s.heading[k] = uniform(rng, -math.pi, math.pi)


@kernel
def apart(places, k, far):
    """Whether place k is farther than that from those before it."""
    for j in range(k):
        dx, dy = places[k, 0] - places[j, 0], places[k, 1] - places[j, 1]
        if dx * dx + dy * dy <= far * far:
            return False
    return True


@kernel
def pair_is_good(p, s, k):
    """Whether start and goal of robot k are off the walls, those of other robots and each other, and connected. A robot
    that is longer than `radius` allows touches nothing at its start either."""
    x, y, goal_x, goal_y = s.place[k, 0], s.place[k, 1], s.goal[k, 0], s.goal[k, 1]
    clear = max(START_CLEAR * p.radius, reach_of(p))
    near = 2.0 * clear
    if disc_hits(p, s, x, y, clear) or disc_hits(p, s, goal_x, goal_y, GOAL_CLEAR):
        return False
    dx, dy = goal_x - x, goal_y - y
    if dx * dx + dy * dy <= 4.0 * p.radius * p.radius or not (apart(s.place, k, near) and apart(s.goal, k, near)):
        return False
    measure(p, s, goal_x, goal_y, ALONE, False)
    return s.steps[nearest_step(p, s, x, y)] < FAR


@kernel
def place_robots(p, s, rng):
    """Starts, goals and headings of all robots. Returns whether good ones were found for all."""
    all_found = True
    for k in range(s.heading.size):
        if p.ends[k, 0] >= 0:
            s.place[k, 0], s.place[k, 1] = center_of(p, p.ends[k, 0])
            s.goal[k, 0], s.goal[k, 1] = center_of(p, p.ends[k, 1])
            s.heading[k] = uniform(rng, -math.pi, math.pi)
            continue
        found = False
        for n in range(TRIES):
            draw_pair(p, s, k, rng, n < ANYWHERE)
            found = pair_is_good(p, s, k)
            if found:
                break
        all_found = all_found and found
    return all_found


@kernel
def make_scene(p, s, rng):
    """Walls, starts and goals. A random map on which they are not found is drawn again with fewer walls, at last none;
    if that is in vain too, the last draw stays."""
    for n in range(MAPS):
        scatter_walls(p, s, rng, p.density * (MAPS - 1 - n) / (MAPS - 1))
        for _ in range(p.smoothing if p.drawn else 0):
            smooth_walls(p, s)
        mark_clear(p, s)
        if place_robots(p, s, rng):
            return
