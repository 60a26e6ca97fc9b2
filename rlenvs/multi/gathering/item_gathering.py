"""Item gathering: a team collects items of three colors in little time; each color is an objective.

## Description
Agents walk on a grid with red, green and blue items, and pick up the items that they step on. Time is short, so it
matters which colors come first (Källström and Heintz, "Tunable dynamics in agent-based simulation using multi-objective
reinforcement learning", ALA 2019; MOMAland's item gathering). On a fixed map where every item reached is picked up,
`rlenvs.pareto.pareto_front` gives the exact front of the team's reward, each point with the walks that attain it. In
the 10 steps of the original, two agents that share the work collect everything, so without a discount this front is one
point; at the level "hurry", with 7 steps, it has nine. The default map has MOMAland's size, starts, and number of items
of each color in its middle. Different: by default every agent is rewarded for every item, there only for its own
(`reward="individual"`); the items in the middle are arranged differently; several agents can be on one cell; the
observation consists of planes instead of an agent's number and a map of codes; moves off the grid are masked; there are
random maps, whose `difficulty` clusters the items of a color, far from the other colors.

## Action Space
Stay, or move one cell up, down, left or right; up is towards row 0. Moves off the grid are masked, and count as staying
if taken.

## Observation Space
Five planes of 0 and 1 over the whole grid: the agent itself, other agents, red, green and blue items.

## Rewards
`red`, `green` and `blue` are the items of that color picked up in this step: with `reward="team"` by any agent, the
same for all; with "individual" by the agent itself; agents on the same cell share an item.

## Costs
None.

## Starting State
As on the map: "A", "B", ... are agents, "r", "g" and "b" items. With `random=True` agents and items are on distinct
random cells. Each color has a center, far from the others, and an item is near the center of its color with probability
`difficulty`, otherwise on any cell.

## Episode End
Termination: when no item is left (a success). Truncation: 10 steps.

## Parameters
`pick_up` is the probability that an item is picked up in a step in which an agent is on its cell.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The bound is the best point of the exact front.

## Version History
v0: first version.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core import (
    PublishedFront,
    Score,
    below,
    block,
    choice,
    discrete,
    f8,
    flag,
    i2,
    i4,
    i8,
    integer,
    json_option,
    kernel,
    param,
    term,
    u1,
    uniform,
    world,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.gathering.planner import FAR, PLANNED, SETS, make_plan, move_towards, nearest_item
from rlenvs.multi.gathering.render import draw_gathering, gathering_text
from rlenvs.multi.gathering.walking import DOWN, RIGHT, allow_moves, walk, walk_of_keys
from rlenvs.pareto.orders import Places, front_of_team, steps_to

MOST_AGENTS, LARGEST, MOST_ITEMS = 8, 20, 20
KINDS = ("red", "green", "blue")
LETTERS = "ABCDEFGH"
DEFAULT_MAP = """
.......A
........
..g.b...
..gr.r..
...bg...
....r...
........
B.......
"""
TEAM, INDIVIDUAL = range(2)
NEAR = 1  # cells from the centre of a colour, at least
CENTRES = 8  # places among which the centre of a colour is the one furthest from the others


def parse_map(value: Any) -> tuple[str, ...]:
    """The rows of a map."""
    rows = tuple(value.split()) if isinstance(value, str) else tuple(map(str, value))
    text = "".join(rows)
    if not rows or not 1 <= len(rows) <= LARGEST or not 1 <= len(rows[0]) <= LARGEST or len(set(map(len, rows))) > 1:
        raise ValueError(f"needs 1 ... {LARGEST} rows of 1 ... {LARGEST} cells, all of one length")
    if set(text) - set(".rgb" + LETTERS):
        raise ValueError(f"cells are '.', 'r', 'g', 'b' and agents 'A' ... '{LETTERS[-1]}'")
    agents = sorted(set(text) & set(LETTERS))
    if not agents or agents != list(LETTERS[: len(agents)]) or any(text.count(agent) > 1 for agent in agents):
        raise ValueError("needs the agents 'A', 'B', ... once each, without a gap")
    if not set(text) & set("rgb"):
        raise ValueError("needs an item")
    return rows


class Item(NamedTuple):
    """Where it lies, and of which kind it is."""

    cell: tuple[int, int]
    kind: int


def on_map(values: Any) -> tuple[list[tuple[int, int]], list[Item]]:
    """Where agents start, and the items, of a given map."""
    cells = {(i, j): cell for i, row in enumerate(values.map) for j, cell in enumerate(row)}
    starts = sorted((cell, place) for place, cell in cells.items() if cell in LETTERS)
    items = [Item(place, "rgb".index(cell)) for place, cell in cells.items() if cell in "rgb"]
    return [place for _, place in starts], items


def sizes(values):
    if values.random:
        rows, columns, agents = values.height, values.width, values.agents
        if rows * columns < agents + values.red + values.green + values.blue:
            raise ParameterError(f"a grid of {rows} x {columns} cells is too small for these agents and items")
    else:
        rows, columns, agents = len(values.map), len(values.map[0]), len(on_map(values)[0])
    return {"agents": agents, "rows": rows, "columns": columns, "cells": rows * columns}


SPEC = world(
    "ItemGathering-v0",
    doc=__doc__,
    source="MOMAland mo-item-gathering-v0 (Felten et al., arXiv 2407.16312); Källström and Heintz, ALA 2019",
    agents=True,
    params={
        "pick_up": param(1.0, 0.0, 1.0, "", "probability that an item is picked up in a step"),
        "difficulty": param(0.5, 0.0, 1.0, "", "probability that an item of a random map is near others of its color"),
    },
    options={
        "map": json_option(DEFAULT_MAP, parse_map, "rows of cells (a string with a line per row, or a list)"),
        "random": flag(False, "whether each episode has a random map; the options below apply to random maps"),
        "height": integer(8, 2, LARGEST, "rows of a random map"),
        "width": integer(8, 2, LARGEST, "columns of a random map"),
        "agents": integer(2, 1, MOST_AGENTS, "agents on a random map"),
        "red": integer(3, 1, MOST_ITEMS, "red items on a random map"),
        "green": integer(3, 0, MOST_ITEMS, "green items on a random map"),
        "blue": integer(2, 0, MOST_ITEMS, "blue items on a random map"),
        "reward": choice("team", "individual", doc="whether agents are rewarded for every item, or only for their own"),
    },
    sizes=sizes,
    data={"starts": i2("agents", 2), "lying": u1("cells"), "rows": i8, "columns": i8},
    state={
        "position": i2("agents", 2).within(0, 127),
        "ground": u1("cells").within(0, 3),  # 0 for none, else 1 + its colour
        "centre": i2(3, 2),  # of colours on random maps; scratch
        "planned": i4(PLANNED),  # scratch: the cells of the items that a plan is about
        "arrival": i2(SETS, PLANNED),  # of an agent, by set of items and the last of them
        "gain": f8("agents", SETS),  # what an agent gets for a set, and
        "best": f8(SETS),  # what it and those after it get for all that is in a set
        "share": i4("agents", SETS),  # how they share it
        "goal": i4("agents").index_of("cells", low=-1),
    },
    scratch=("centre", "planned", "arrival", "gain", "best", "share", "goal"),
    observation={
        "planes": block(
            *(5, "rows", "columns"),
            low=0.0,
            high=1.0,
            doc="the agent itself, other agents, red, green, blue items",
            raw=True,
            constant=True,
            whole=True,
        )
    },
    action=discrete("stay", "up", "down", "left", "right"),
    terms={kind: term(0.0, MOST_AGENTS, 1.0, f"{kind} items picked up") for kind in KINDS},
    horizon=10,
    fps=3,
    same_start=True,
    expert_sees="state",
    players=("planner", "nearest", "picky"),
    probe={"difficulty": {"random": True}},
    levels={
        "hurry": {"horizon": 7},
        "scattered": {"random": True, "difficulty": 0.0, "same_start": False, "starts": 0},
        "clustered": {"random": True, "difficulty": 1.0, "same_start": False, "starts": 0},
        "crowd": {
            "random": True,
            "height": 14,
            "width": 14,
            "agents": 6,
            "red": 10,
            "green": 10,
            "blue": 6,
            "horizon": 16,
            "same_start": False,
            "starts": 0,
        },
        "unreliable": {"pick_up": 0.5},
    },
    scores={"bound": Score(16, 0, "all eight items, rewarded to both agents")},
)


@SPEC.state_fault
def state_fault(p, s):
    inside = (s.position >= 0) & (s.position < (p.rows, p.columns))
    return "" if inside.all() else "an agent is off the grid"


@SPEC.make_data
def data(values):
    made = sizes(values)
    lying, starts = np.zeros(made["cells"], np.uint8), np.zeros((made["agents"], 2), np.int16)
    if not values.random:
        places, items = on_map(values)
        starts[:] = places
        for (row, column), kind in items:
            lying[row * made["columns"] + column] = 1 + kind
    return {"starts": starts, "lying": lying, "rows": made["rows"], "columns": made["columns"]}


@SPEC.reset
def reset(p, s, rng):
    if p.random:
        scatter(p, s, rng)
        return
    for k in range(s.position.shape[0]):
        s.position[k, 0] = p.starts[k, 0]
        s.position[k, 1] = p.starts[k, 1]
    for cell in range(s.ground.size):
        s.ground[cell] = p.lying[cell]


@kernel
def scatter(p, s, rng):
    """A random map."""
    rows, columns = p.height, p.width
    for kind in range(3):
        farthest = -1
        for _ in range(CENTRES):
            row, column = below(rng, rows), below(rng, columns)
            near = FAR
            for other in range(kind):
                near = min(near, abs(row - s.centre[other, 0]) + abs(column - s.centre[other, 1]))
            if near > farthest:
                farthest = near
                s.centre[kind, 0] = row
                s.centre[kind, 1] = column
    for kind in range(3):
        count = p.red if kind == 0 else p.green if kind == 1 else p.blue
        for _ in range(count):
            drop(p, s, rng, kind)
    for k in range(s.position.shape[0]):
        cell = free_cell(s, rng, k, columns)
        s.position[k, 0] = cell // columns
        s.position[k, 1] = cell % columns


@kernel
def taken(s, agents, cell, columns):
    """Whether one of the first agents stands on a cell."""
    found = False
    for j in range(agents):
        found = found or s.position[j, 0] * columns + s.position[j, 1] == cell
    return found


@kernel
def free_cell(s, rng, agents, columns):
    """A random cell without an item and without one of the first agents."""
    left = 0
    for cell in range(s.ground.size):
        left += s.ground[cell] == 0 and not taken(s, agents, cell, columns)
    chosen, left = 0, below(rng, left)
    for cell in range(s.ground.size):
        if s.ground[cell] == 0 and not taken(s, agents, cell, columns):
            chosen = cell if left == 0 else chosen
            left -= 1
    return chosen


@kernel
def drop(p, s, rng, kind):
    """Put an item on a free cell, near the centre of its colour or anywhere; the further from there, the more cells
    near it are taken, and anywhere where all are."""
    rows, columns = p.height, p.width
    if uniform(rng, 0.0, 1.0) < p.difficulty:
        for attempt in range(4 * max(rows, columns)):
            reach = NEAR + attempt // 4
            row = s.centre[kind, 0] - reach + below(rng, 2 * reach + 1)
            column = s.centre[kind, 1] - reach + below(rng, 2 * reach + 1)
            if 0 <= row < rows and 0 <= column < columns and s.ground[row * columns + column] == 0:
                s.ground[row * columns + column] = 1 + kind
                return
    s.ground[free_cell(s, rng, 0, columns)] = 1 + kind


@SPEC.step
def step(p, s, a, rng, r):
    rows, columns = p.rows, p.columns
    agents = s.position.shape[0]
    for k in range(agents):
        walk(s.position, k, a[k], rows, columns)
    for k in range(agents):
        cell = s.position[k, 0] * columns + s.position[k, 1]
        if s.ground[cell] == 0 or taken(s, k, cell, columns):  # the first of those who stand there picks up
            continue
        if p.pick_up == 1.0 or uniform(rng, 0.0, 1.0) < p.pick_up:
            pay(p, s, r, cell, columns)
            s.ground[cell] = 0
    done = nothing_left(s)
    for k in range(agents):
        r.success[k] = done
        r.terminated[k] = done


@kernel
def pay(p, s, r, cell, columns):
    """Pay for an item: all, or those who stand there."""
    agents, there = s.position.shape[0], 0
    for k in range(agents):
        there += s.position[k, 0] * columns + s.position[k, 1] == cell
    for k in range(agents):
        amount = 1.0
        if p.reward == INDIVIDUAL:
            amount = 1.0 / there if s.position[k, 0] * columns + s.position[k, 1] == cell else 0.0
        if s.ground[cell] == 1:
            r.red[k] += amount
        elif s.ground[cell] == 2:
            r.green[k] += amount
        else:
            r.blue[k] += amount


@kernel
def nothing_left(s):
    left = 0
    for cell in range(s.ground.size):
        left += s.ground[cell] > 0
    return left == 0


@SPEC.observe
def observe(p, s, k, o):
    planes, columns = o.planes, p.columns
    for i in range(planes.shape[1]):
        for j in range(planes.shape[2]):
            kind = s.ground[i * columns + j]
            planes[0, i, j] = 0.0
            planes[1, i, j] = 0.0
            planes[2, i, j] = kind == 1
            planes[3, i, j] = kind == 2
            planes[4, i, j] = kind == 3
    for j in range(s.position.shape[0]):
        planes[0 if j == k else 1, s.position[j, 0], s.position[j, 1]] = 1.0


@SPEC.mask
def mask(p, s, k, m):
    allow_moves(s.position, k, m, p.rows, p.columns)


@SPEC.expert
def expert(p, s, a):
    """As the best plan for the team says."""
    make_plan(p, s)
    for k in range(s.position.shape[0]):
        a[k] = move_towards(p, s, k, s.goal[k])


@SPEC.player("planner")
def planner(p, s, k, a, rng):
    """Its part of the best plan for the team."""
    make_plan(p, s)
    a[k] = move_towards(p, s, k, s.goal[k])


@SPEC.player("nearest")
def nearest(p, s, k, a, rng):
    """To the nearest item."""
    a[k] = move_towards(p, s, k, nearest_item(p, s, k, -1))


@SPEC.player("picky")
def picky(p, s, k, a, rng):
    """To the nearest item of its own colour: red for the first agent, green for the second, and so on; to any where
    there is none."""
    cell = nearest_item(p, s, k, k % 3)
    a[k] = move_towards(p, s, k, cell if cell >= 0 else nearest_item(p, s, k, -1))


def places_of(shape: tuple[int, int], starts: Sequence[tuple[int, int]], items: Sequence[Item]) -> Places:
    """A map of so many rows and columns, for the search of its front.

    Raises:
        ParameterError: an item lies where an agent starts.
    """
    here = [k for k, item in enumerate(items) if item.cell in starts]
    if here:
        raise ParameterError(f"item {here[0]} is where an agent starts")
    rows, columns = shape
    steps = [steps_to(np.ones(shape, bool), item.cell).ravel() for item in items]

    def moved(cell: int, action: int) -> int:
        row, column = cell // columns + DOWN[action], cell % columns + RIGHT[action]
        return min(max(row, 0), rows - 1) * columns + min(max(column, 0), columns - 1)

    return Places(
        np.array(steps).reshape(len(items), rows * columns),
        [item.cell[0] * columns + item.cell[1] for item in items],
        [row * columns + column for row, column in starts],
        np.eye(len(KINDS))[[item.kind for item in items]],
        -1,
        moved,
        len(DOWN),
    )


@SPEC.pareto_routes
def front(values, horizon, gamma):
    if values.random or values.reward != "team" or values.pick_up not in (0.0, 1.0):
        raise ParameterError("the exact front requires a fixed map, reward='team' and pick_up=1")
    starts, items = on_map(values)
    shape = len(values.map), len(values.map[0])
    return front_of_team(places_of(shape, starts, items if values.pick_up else []), gamma, horizon)


@SPEC.published_front
def published_front(values, gamma):
    return PublishedFront(None, (0.0, 0.0, 0.0), "no front has been published; MOMAland's reference point")


@SPEC.draw
def draw(canvas, p, s):
    draw_gathering(canvas, s.ground.reshape(int(p.rows), int(p.columns)), s.position, "item")


@SPEC.text
def text(p, s):
    return gathering_text(s.ground.reshape(int(p.rows), int(p.columns)), s.position)


SPEC.keys(walk_of_keys)
