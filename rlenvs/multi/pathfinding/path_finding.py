"""Path finding: many agents on one grid walk to their own goals without collisions.

## Description
Agents walk to their goals on a grid with obstacles, and see only a window around themselves. The rules are POGEMA's
(Skrynnik et al., "POGEMA: Partially Observable Grid Environment for Multiple Agents", 2022, and "POGEMA: A Benchmark
Platform for Cooperative Multi-Agent Pathfinding", ICLR 2025): its three rules for collisions and its three rules for an
agent on its goal. "finish": the agent leaves the grid. "nothing": agents stay, and the task is solved when all are on
their goals at the same time. "restart" (lifelong): the agent gets a new goal. Maps are random, or given as `map`.
Different from the original: four agents by default (not one), action masks, under "soft" the window shows agents that
follow each other (the original loses some of them), and an agent that steps off its goal in the last step does not
count as arrived. `rlenvs.multi.pathfinding.metrics.metrics(p, s)` gives success rates, sum of costs, makespan and
throughput.

## Action Space
Stay, or move one cell up, down, left or right; up is towards row 0. Moves into obstacles are masked; if taken anyway,
they leave the agent where it is, like moves blocked by another agent.

## Observation Space
Three planes of 0 and 1, centered on the agent, `radius` cells in each direction: obstacles; agents, also itself; its
goal, drawn on the nearest cell of the window's border if it is outside the window. The map is surrounded by a wall, and
the cells beyond the wall are free. An agent that has left the grid sees its last position without itself.

## Rewards
`goal` is POGEMA's reward: with "finish" and "restart" 1 on arrival, with "nothing" 1 for all agents in the step that
solves the task. `time` and `distance` have weight 0: the two classical objectives, sum of costs and number of moves.

## Costs
`blocked` is 1 when another agent blocked a move. Under "soft" and "block_both" this includes moves into a cell that
another agent also tried to enter.

## Starting State
Each cell is an obstacle with probability `density`, unless a map is given. Starts and goals are distinct cells, drawn
uniformly, with the start and the goal of an agent in the same connected component. A random map without room for all
agents is redrawn, ten times at the same density and then with fewer and fewer obstacles; with a custom map this is an
error.

## Episode End
Termination: with "finish" of each agent on arrival, with "nothing" of all agents when all are on their goals, with
"restart" never. Truncation: 64 steps. Success: with "finish" arrival, with "nothing" being on the goal, with "restart"
having reached a goal in this episode.

## Parameters
A custom `map` overrides `height`, `width` and `density`.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    Score,
    b1,
    block,
    choice,
    cost,
    discrete,
    i1,
    i2,
    i4,
    i8,
    integer,
    json_option,
    kernel,
    param,
    term,
    u1,
    world,
)
from rlenvs.multi.pathfinding.collisions import resolve_block_both, resolve_priority, resolve_soft
from rlenvs.multi.pathfinding.language import describe, parse_action
from rlenvs.multi.pathfinding.maps import (
    LARGEST,
    cell_of,
    draw_goal,
    make_map,
    map_data,
    map_sizes,
    parse_map,
    place_agents,
)
from rlenvs.multi.pathfinding.metrics import FINISH, NOTHING, ON_TARGET, RESTART
from rlenvs.multi.pathfinding.planner import neighbour, plan
from rlenvs.multi.pathfinding.render import draw_map, text_map

COLLISION = choice("priority", "block_both", "soft", doc="how conflicts between agents are resolved")
PRIORITY, BLOCK_BOTH, SOFT = COLLISION.codes("priority", "block_both", "soft")
DOWN, RIGHT = (0, -1, 1, 0, 0), (0, 0, 0, -1, 1)

SPEC = world(
    "PathFinding-v0",
    doc=__doc__,
    source="POGEMA (Skrynnik et al., ICLR 2025)",
    agents=True,
    params={"density": param(0.3, 0.0, 0.9, "", "probability that a cell of a random map is an obstacle")},
    options={
        "agents": integer(4, 1, 4096, "number of agents"),
        "height": integer(8, 1, LARGEST, "rows of a random map"),
        "width": integer(8, 1, LARGEST, "columns of a random map"),
        "map": json_option(None, parse_map, "rows of '.' and '#' (a string with a line per row), or of 0 and 1"),
        "collision": COLLISION,
        "on_target": ON_TARGET,
        "radius": integer(5, 1, 64, "cells that an agent sees in each direction"),
    },
    sizes=map_sizes,
    data={"frame": u1("rows", "columns"), "random_map": b1},
    state={
        "position": i2("agents", 2),  # row and column on the map
        "goal": i2("agents", 2),
        "arrivals": i4("agents"),  # goals reached
        "settled": i4("agents"),  # step in which the agent reached the goal that it is on; 0 when it is on none
        "waiting": i4("agents"),  # steps since it was last on a goal
        "target": i4("agents"),  # scratch: cells that agents move to
        "blocked": u1("cells"),
        "occupant": i2("cells").up_to("agents"),  # 1 + index of the agent; 0 for none
        "component": i4("cells").up_to("area"),
        "members": i4("area").index_of("cells"),
        "extent": i4("area").up_to("area"),
        "free_cells": i8,
        "mark": i4("cells"),  # scratch, all zero between kernels
        "order": i4("area"),  # from here on scratch
        "ranking": i1("agents", 5),
        "choices": i1("agents"),
        "tried": i1("agents"),
        "keys": i8(5),
        "urgency": i4("agents"),
        "sequence": i2("agents"),
        "stack": i2("agents"),
    },
    expert_sees="state",
    scratch=("target", "order", "ranking", "choices", "tried", "keys", "urgency", "sequence", "stack"),
    observation={
        # constant: the agent's own cell, in the middle of the first plane, is never an obstacle
        "planes": block(
            *(3, "window", "window"),
            low=0.0,
            high=1.0,
            doc="obstacles, agents, own goal",
            raw=True,
            constant=True,
            whole=True,
        )
    },
    action=discrete("stay", "up", "down", "left", "right"),
    terms={
        "goal": term(0.0, 1.0, 1.0, "1 on arrival; with on_target='nothing' when all agents are on their goals"),
        "time": term(-1.0, 0.0, 0.0, "-1 for a step that does not end on the goal"),
        "distance": term(-1.0, 0.0, 0.0, "-1 for a move to another cell"),
    },
    costs={"blocked": cost(5.0, doc="1 when another agent blocked a move")},
    horizon=64,
    fps=4,
    levels={
        "single": {"agents": 1},
        "easy": {"density": 0.1},
        "hard": {"agents": 32, "height": 16, "width": 16},
        "large": {"agents": 64, "height": 32, "width": 32, "density": 0.2},
    },
    scores={"bound": Score(4, 0, "every agent arrives")},
)


@SPEC.state_fault
def state_fault(p, s):
    rows, columns = (side - 2 * int(p.radius) for side in p.frame.shape)
    if not all(((place >= 0) & (place < (rows, columns))).all() for place in (s.position, s.goal)):
        return "an agent or a goal is off the map"
    border = np.ones(p.frame.shape, bool)
    border[p.radius : -p.radius, p.radius : -p.radius] = False
    if (s.blocked.reshape(p.frame.shape) != p.frame)[border].any():
        return "the map is open at its border"
    beyond = np.arange(s.extent.size) + s.extent > s.extent.size
    return "a part of the map is larger than the whole map" if beyond.any() else ""


@SPEC.make_data
def data(values):
    return map_data(values)


@SPEC.reset
def reset(p, s, rng):
    make_map(p, s, rng)
    place_agents(p, s, rng)


@kernel
def want_moves(p, s, a, r):
    """Set s.target to the cells that agents ask for; obstacles are refused at once."""
    columns = p.frame.shape[1]
    for k in range(s.target.size):
        cell = cell_of(p, s, k)
        wanted = neighbour(cell, a[k], columns)
        if not s.alive[k] or s.blocked[wanted]:
            wanted = cell
        elif wanted != cell:
            r.blocked[k] = 1.0  # until the move is made
        s.target[k] = wanted


@kernel
def make_moves(p, s, a, r):
    """Move agents to their targets."""
    position, target, occupant = s.position, s.target, s.occupant
    for k in range(target.size):
        cell = cell_of(p, s, k)
        if target[k] != cell and occupant[cell] == k + 1:
            occupant[cell] = 0
    for k in range(target.size):
        if target[k] != cell_of(p, s, k):
            occupant[target[k]] = k + 1
            position[k, 0] += DOWN[a[k]]
            position[k, 1] += RIGHT[a[k]]
            r.blocked[k] = 0.0
            r.distance[k] = -1.0


@kernel
def note_arrivals(s, r):
    """Keep the record of who is on its goal since when. Returns how many agents are."""
    position, goal = s.position, s.goal
    arrived = 0
    for k in range(s.target.size):
        if not s.alive[k]:
            continue
        if position[k, 0] == goal[k, 0] and position[k, 1] == goal[k, 1]:
            arrived += 1
            s.waiting[k] = 0
            if s.settled[k] == 0:
                s.settled[k] = s.elapsed + 1
                s.arrivals[k] += 1
        else:
            s.settled[k] = 0
            s.waiting[k] += 1
            r.time[k] = -1.0
    return arrived


@SPEC.step
def step(p, s, a, rng, r):
    want_moves(p, s, a, r)
    if p.collision == PRIORITY:
        resolve_priority(p, s)
    elif p.collision == BLOCK_BOTH:
        resolve_block_both(p, s)
    else:
        resolve_soft(p, s)
    make_moves(p, s, a, r)
    solved = note_arrivals(s, r) == s.target.size
    for k in range(s.target.size):
        on_goal = s.settled[k] > 0
        r.success[k] = on_goal
        if p.on_target == NOTHING:
            r.goal[k] = 1.0 if solved else 0.0
            r.terminated[k] = solved
        elif on_goal and s.alive[k]:
            r.goal[k] = 1.0
            if p.on_target == FINISH:
                r.terminated[k] = True
                s.occupant[cell_of(p, s, k)] = 0
            else:
                draw_goal(p, s, k, rng)
                s.settled[k] = 0
        if p.on_target == RESTART:
            r.success[k] = s.arrivals[k] > 0


@kernel
def fill_window(planes, obstacles, agents, first, columns):
    """Copy the window whose upper left cell is `first`; the goal's plane becomes empty."""
    window = planes.shape[1]
    for i in range(window):
        for j in range(window):
            # never negative; `max` tells the compiler, which can vectorise the loop then
            cell = max(first + j, 0)
            planes[0, i, j] = obstacles[cell]
            planes[1, i, j] = agents[cell] > 0
            planes[2, i, j] = 0.0
        first += columns


@SPEC.observe
def observe(p, s, k, o):
    columns, radius = p.frame.shape[1], p.radius
    row, column = s.position[k, 0], s.position[k, 1]
    fill_window(o.planes, s.blocked, s.occupant, row * columns + column, columns)
    down, right = s.goal[k, 0] - row, s.goal[k, 1] - column
    o.planes[2, radius + min(max(down, -radius), radius), radius + min(max(right, -radius), radius)] = 1.0


@SPEC.mask
def mask(p, s, k, m):
    cell, columns = cell_of(p, s, k), p.frame.shape[1]
    for j in range(5):
        m[j] = 0 if s.blocked[neighbour(cell, j, columns)] else 1


@SPEC.expert
def expert(p, s, a):
    """Priority inheritance with backtracking; only "soft" lets agents rotate."""
    plan(p, s, a, p.collision == SOFT)


@SPEC.draw
def draw(canvas, p, s):
    draw_map(canvas, p, s)


@SPEC.text
def text(p, s):
    return text_map(p, s)


@SPEC.keys
def keys(pressed, values):
    for action, key in enumerate(("up", "down", "left", "right"), start=1):
        if key in pressed:
            return action
    return 0


SPEC.describe(describe)
SPEC.parse_action(parse_action)
