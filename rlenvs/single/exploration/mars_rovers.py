"""Mars rovers: a team reveals an unknown terrain on a shared map, without collisions.

## Description
Several rovers with lidars share one map. Terrain, lidar and rewards are those of `MarsExplorer-v0`; the team is an
extension by this package. Rovers move one after the other, in their order; a rover that moves into an obstacle, off the
map or into another rover stays where it is and is penalized; with `collisions="end"` it is out of the game.

## Action Space
One cell down (a higher row), up, right or left, or stay.

## Observation Space
A number for each cell: 0 unseen, 0.3 free, 0.6 the rover itself, 0.8 another rover, 1 obstacle.

## Rewards
`explore` is 1 for every cell that this rover has seen first; `move` is minus the movement cost. `bonus` goes to every
rover still in the game when the terrain is covered, `collision` to the rover that collides. With weight 0: `explored`,
the fraction of all cells that the team has seen.

## Costs
`collision_cost`: 1 for a step into an obstacle, off the map or into another rover.

## Starting State
The rovers stand side by side in the upper left corner.

## Episode End
Termination: of all rovers, when more than `threshold` of the cells have been seen (a success); of a rover that
collides, with `collisions="end"`. Truncation: 400 steps.

## Parameters
The larger the team, the less is left to reveal for each rover.

## Reference Scores
Mean return of an agent over seeds 0 to 99. The expert sends each rover to its nearest frontier, around the others.

## Version History
v0: first version.
"""

from rlenvs.core import block, choice, cost, discrete, i1, i4, integer, kernel, param, term, u1, world
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.single.exploration.frontier import is_open, path_move
from rlenvs.single.exploration.lidar import (
    FREE,
    LIDAR_DATA,
    LONGEST_RANGE,
    MOST_CHANNELS,
    OBSTACLE,
    cell_at,
    lidar_data,
    lidar_sizes,
    scan,
)
from rlenvs.single.exploration.render import KEYS, draw_team, terrain_text
from rlenvs.single.exploration.terrain import (
    DOWN,
    LARGEST_MAP,
    RIGHT,
    TERRAIN_OPTIONS,
    TERRAIN_STATE,
    check_terrain,
    fill_padding,
    find_reachable,
    make_terrain,
)

SHADES = (0.0, 0.3, 1.0, 0.3)  # of unseen, free, obstacle, and where a rover has been
SELF, OTHER, STAY = 0.6, 0.8, 4
COLLISIONS = choice("cost", "end", doc="whether a collision is only a cost, or takes the rover out of the game")
(END,) = COLLISIONS.codes("end")
CORNER = [0, 0]


def sizes(values):
    check_terrain(values, CORNER)
    return {"agents": values.agents, "height": values.height, "width": values.width, **lidar_sizes(values)}


SPEC = world(
    "MarsRovers-v0",
    doc=__doc__,
    source="MarsExplorer (Koutras et al., Electronics 10(22) 2751, 2021), for a team",
    agents=True,
    params={
        "movement_cost": param(0.2, 0.0, 10.0, "", "cost of a step"),
        "bonus_reward": param(400.0, 0.0, 10000.0, "", "reward for covering the terrain"),
        "collision_reward": param(-10.0, -10000.0, 0.0, "", "reward of a collision"),
        "threshold": param(
            0.99, 0.1, 0.999, "", "fraction of seen cells above which the terrain counts as covered", limit=True
        ),
    },
    options={
        "agents": integer(3, 1, 16, "number of rovers"),
        **TERRAIN_OPTIONS,
        "lidar_range": integer(6, 1, LONGEST_RANGE, "cells that a ray of the lidar reaches"),
        "lidar_channels": integer(32, 4, MOST_CHANNELS, "rays of the lidar"),
        "collisions": COLLISIONS,
    },
    sizes=sizes,
    data={"start": i4, **LIDAR_DATA},
    state={
        **TERRAIN_STATE,
        "cell": i4("agents").index_of("area"),
        "rover": u1("area").up_to("agents"),  # 1 + number of the rover on a cell
        "known": u1("area").within(0, 3),
        "seen": i4,  # cells that are known
        "in_reach": i4,
        "lengths": i4("channels"),  # from here on scratch
        "origin": i1("area"),
        "plan": u1("area"),
        "taken": i4("agents"),
    },
    scratch=("queue", "origin", "plan", "taken"),
    observation={"map": block("height", "width", 1, low=0.0, high=1.0, raw=True, doc="what is known of each cell")},
    action=discrete("down", "up", "right", "left", "stay", idle=STAY),
    terms={
        "explore": term(0.0, LARGEST_MAP**2, 1.0, "cells that this rover has seen first"),
        "move": term(-10.0, 0.0, 1.0, "minus the movement cost"),
        "bonus": term(0.0, 10000.0, 1.0, "the bonus, when the terrain is covered"),
        "collision": term(-10000.0, 0.0, 1.0, "the penalty for a collision"),
        "explored": term(0.0, 1.0, 0.0, "fraction of all cells that the team has seen so far"),
    },
    costs={"collision_cost": cost(0.0, doc="1 for a collision")},
    horizon=400,
    fps=6,
    levels={
        "pair": {"agents": 2},
        "large": {"agents": 6, "height": 42, "width": 42, "obstacles": 48, "horizon": 1000},
    },
)


@SPEC.state_fault
def state_fault(p, s):
    return "" if (p.home[s.cell] == s.cell).all() else "a rover is in the padding of the map"


@SPEC.make_data
def data(values):
    made = lidar_data(values)
    return {**made, "start": values.lidar_range * (made["stride"] + 1)}


@kernel
def look_around(p, s, k):
    """What a rover sees; returns how many cells are new."""
    fresh, _ = scan(p, s.obstacle, s.known, s.reachable, s.cell[k], s.lengths)
    s.known[s.cell[k]] = FREE
    s.seen += fresh
    return fresh


@SPEC.reset
def reset(p, s, rng):
    make_terrain(p, s, rng)
    for j in range(s.cell.size):  # a row of its own for the team
        s.obstacle[p.start + min(j, p.width - 1)] = 0
    fill_padding(p, s)
    s.in_reach = find_reachable(p, s, p.start)
    for k in range(s.cell.size):
        s.cell[k] = s.queue[min(k, s.in_reach - 1)]
        s.rover[s.cell[k]] = k + 1
    for k in range(s.cell.size):
        look_around(p, s, k)


@SPEC.step
def step(p, s, a, rng, r):
    cells = p.height * p.width
    for k in range(s.cell.size):
        if not s.alive[k]:
            continue
        r.move[k] = -p.movement_cost
        if a[k] == STAY:
            continue
        to = s.cell[k] + DOWN[a[k]] * p.stride + RIGHT[a[k]]
        if p.home[to] != to or s.obstacle[to] or s.rover[to]:
            r.collision[k] = p.collision_reward
            r.collision_cost[k] = 1.0
            r.terminated[k] = p.collisions == END
            if p.collisions == END:
                s.rover[s.cell[k]] = 0
            continue
        s.rover[s.cell[k]] = 0
        s.cell[k] = to
        s.rover[to] = k + 1
        r.explore[k] = look_around(p, s, k)
    covered = s.seen > p.threshold * cells
    for k in range(s.cell.size):
        r.explored[k] = s.seen / cells
        if covered and s.alive[k] and not r.terminated[k]:
            r.bonus[k] = p.bonus_reward
            r.success[k] = True
            r.terminated[k] = True


@SPEC.observe
def observe(p, s, k, o):
    known, rover, shown = s.known, s.rover, o.map
    for i in range(shown.shape[0]):
        first = cell_at(p, i, 0)
        for j in range(shown.shape[1]):
            cell = max(first + j, 0)
            here = rover[cell]
            shown[i, j, 0] = SHADES[known[cell]] if here == 0 else (SELF if here == k + 1 else OTHER)


@SPEC.mask
def mask(p, s, k, m):
    for move in range(4):
        to = s.cell[k] + DOWN[move] * p.stride + RIGHT[move]
        m[move] = 1 if is_open(p, s.known, to) and s.rover[to] == 0 else 0
    m[STAY] = 1


@SPEC.expert
def expert(p, s, a):
    """Each rover to its nearest frontier, around the places of the others and those that they move to."""
    plan = s.plan
    for k in range(s.cell.size):
        a[k] = STAY
        s.taken[k] = s.cell[k]
        if not s.alive[k]:
            continue
        for cell in range(plan.size):
            plan[cell] = s.known[cell]
        for other in range(s.cell.size):
            if other != k and s.alive[other]:
                plan[s.cell[other]] = OBSTACLE
                if other < k:
                    plan[s.taken[other]] = OBSTACLE
        move = path_move(p, plan, s.queue, s.origin, s.cell[k])
        to = s.cell[k] + DOWN[move] * p.stride + RIGHT[move]
        if is_open(p, plan, to):
            a[k] = move
            s.taken[k] = to


@SPEC.draw
def draw(canvas, p, s):
    draw_team(canvas, p, s)


@SPEC.text
def text(p, s):
    return terrain_text(p, s, s.cell)


@SPEC.keys
def keys(pressed, values):
    move = pressed_move(pressed, KEYS)
    return STAY if move is None else move
