"""Mars explorer: reveal an unknown terrain with a lidar, quickly and without collisions.

## Description
A rover on a grid looks around with a lidar. Obstacles are placed at random in every episode, and the task is complete
when nearly all cells have been seen. The rules and numbers are MarsExplorer's (Koutras et al., Electronics 10(22),
2021): its terrain, lidar, rewards and two frontier planners. `MarsExplorer-v0` is its exploConf-v01, complete at 99 %,
`MarsExplorer95-v0` its explorer-v01, complete at 95 %. Different: every episode has a seed; the step limit truncates,
after 400 steps and not after 401; only the rover's cell shows 0.6, where explorer-v01 shows 0.5 after the first step;
the start is never an obstacle; moves that are known to be impossible are masked; `coverage="reachable"` counts only
reachable cells; a collision can be a cost instead of ending the episode; the bonus can be added to the last step's
reward. Beyond the published square maps: on maps that are not square, the original looks up obstacles at a column
clipped to the shorter side, here the column is right; noise and sizes of obstacles are one number for rows and columns,
where the original has two; freely placed obstacles keep `row_margin` from the rows' border, where the original swaps
its two margins; if the number of rays is a multiple of 12 and the range is odd, the last cell of the rays at 30 and 60
degrees to an axis depends on rounding errors there and can be a neighboring cell here.

## Action Space
One cell down (a higher row), up, right or left.

## Observation Space
A number for each cell: 0 unseen, 0.3 free, 0.6 the rover, 1 obstacle. `encoding` gives bytes, for networks that expect
images.

## Rewards
`explore` is 1 for every cell that is seen for the first time, obstacles too; `move` is minus the movement cost. In the
step that terminates an episode, both are 0 and `bonus`, `collision` or `border` replaces them; with
`bonus_form="additive"` they stay. With weight 0, for information: `explored`, the fraction of all cells seen so far;
`reachable`, the fraction of the reachable cells seen so far; `path_length`, the moves made so far.

## Costs
`collision`: 1 for moving into an obstacle or off the map.

## Starting State
The rover is in a corner, at `initial`, and has looked around. Obstacles are rectangles: placed freely, or on a lattice
with noise. They may overlap.

## Episode End
Termination: when more than `threshold` of the cells have been seen (a success), or at a collision with
`collisions="end"`. Truncation: 400 steps.

## Parameters
With `coverage="all"` unreachable pockets count too, so 99 % may be impossible.

## Reference Scores
Mean return over seeds 0 to 99. The expert walks to the nearest frontier; `planner="cost"` and `planner="utility"` are
those of the original.

## Version History
v0: first version.
"""

from rlenvs.core import (
    block,
    choice,
    cost,
    discrete,
    flag,
    i1,
    i2,
    i4,
    integer,
    json_option,
    kernel,
    param,
    term,
    u1,
    world,
)
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.single.exploration.frontier import PLANNER, find_rover, is_open, planned_move
from rlenvs.single.exploration.lidar import (
    FREE,
    LIDAR_DATA,
    LONGEST_RANGE,
    MOST_CHANNELS,
    cell_at,
    lidar_data,
    lidar_sizes,
    scan,
)
from rlenvs.single.exploration.render import KEYS, draw_terrain, terrain_text
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
    parse_cell,
)

SHADES = (0.0, 0.3, 1.0, 0.6)  # of unseen, free, obstacle, rover
BONUS_FORM = choice(
    "published",
    "additive",
    doc="whether the final reward replaces the other rewards of the last step, or is added to them",
)
(PUBLISHED,) = BONUS_FORM.codes("published")
COVERAGE = choice("all", "reachable", doc="which cells count: all, or only free cells that the rover can reach")
(ALL,) = COVERAGE.codes("all")
COLLISIONS = choice("end", "cost", doc="whether a collision ends the episode, or is a cost and the rover stays")
(END,) = COLLISIONS.codes("end")
CELLS = LARGEST_MAP * LARGEST_MAP
LAST_SHOWN = 32767  # move of the track


def sizes(values):
    check_terrain(values, values.initial)
    return {"height": values.height, "width": values.width, **lidar_sizes(values)}


SPEC = world(
    "MarsExplorer-v0",
    doc=__doc__,
    source="MarsExplorer (Koutras et al., Electronics 10(22) 2751, 2021; arXiv 2107.09996)",
    params={
        "movement_cost": param(0.2, 0.0, 10.0, "", "cost of a step"),
        "bonus_reward": param(400.0, 0.0, 10000.0, "", "reward for covering the terrain"),
        "collision_reward": param(-400.0, -10000.0, 0.0, "", "reward of a step into an obstacle"),
        "out_of_bounds_reward": param(-400.0, -10000.0, 0.0, "", "reward of a step off the map"),
        "threshold": param(
            0.99, 0.1, 0.999, "", "fraction of seen cells above which the terrain counts as covered", limit=True
        ),
    },
    options={
        **TERRAIN_OPTIONS,
        "initial": json_option([0, 0], parse_cell, "row and column of the cell in which the rover starts"),
        "lidar_range": integer(6, 1, LONGEST_RANGE, "cells that a ray of the lidar reaches"),
        "lidar_channels": integer(32, 4, MOST_CHANNELS, "rays of the lidar"),
        "bonus_form": BONUS_FORM,
        "coverage": COVERAGE,
        "collisions": COLLISIONS,
        "masked": flag(True, "whether moves known to end in an obstacle or off the map are masked"),
        "planner": PLANNER,
    },
    sizes=sizes,
    data={"start": i4, **LIDAR_DATA},
    state={
        **TERRAIN_STATE,
        "cell": i4.index_of("area"),  # the rover's
        "known": u1("area").within(0, 3),
        "seen": i4,  # cells that are known
        "in_reach": i4,  # cells that can be reached
        "in_reach_seen": i4,
        "moves": i4,
        "bumps": i4,
        "track": i2("area"),  # the number of the last move onto a cell, for images
        "lengths": i4("channels"),  # of the lidar's rays
        "origin": i1("area"),  # scratch
    },
    probe={"collision_reward": {"masked": False}, "out_of_bounds_reward": {"masked": False}},
    scratch=("queue", "origin"),
    observation={"map": block("height", "width", 1, low=0.0, high=1.0, raw=True, doc="what is known of each cell")},
    action=discrete("down", "up", "right", "left"),
    terms={
        "explore": term(0.0, CELLS, 1.0, "cells that were seen for the first time"),
        "move": term(-10.0, 0.0, 1.0, "minus the movement cost"),
        "bonus": term(0.0, 10000.0, 1.0, "the bonus, when the terrain is covered"),
        "collision": term(-10000.0, 0.0, 1.0, "the penalty for a step into an obstacle"),
        "border": term(-10000.0, 0.0, 1.0, "the penalty for a step off the map"),
        "explored": term(0.0, 1.0, 0.0, "fraction of all cells seen so far"),
        "reachable": term(0.0, 1.0, 0.0, "fraction of the reachable cells seen so far"),
        "path_length": term(0.0, 1e6, 0.0, "moves made so far"),
    },
    costs={"collision_cost": cost(0.0, doc="1 for a step into an obstacle or off the map")},
    horizon=400,
    fps=6,
    levels={
        "easy": {"lattice_rows": 3, "lattice_columns": 3, "noise": 1},
        "hard": {
            "lattice_rows": 3,
            "lattice_columns": 3,
            "noise": 3,
            "largest_obstacle": 4,
            "bonus_reward": 0.0,
        },
        "large": {
            "height": 42,
            "width": 42,
            "lattice_rows": 6,
            "lattice_columns": 6,
            "noise": 2,
            "row_margin": 3,
            "column_margin": 3,
            "bonus_reward": 0.0,
            "collision_reward": -50.0,
            "out_of_bounds_reward": -50.0,
            "horizon": 2500,
        },
        "huge": {"height": 84, "width": 84, "obstacles": 192, "horizon": 10000},
    },
)

EARLY = SPEC.member(
    "MarsExplorer95-v0",
    "Mars explorer that is complete when 95 % of the cells have been seen.",
    threshold=0.95,
    levels={**SPEC.levels},
)


@SPEC.state_fault
def state_fault(p, s):
    return "" if (p.home[s.cell] == s.cell).all() else "the rover is in the padding of the map"


@SPEC.make_data
def data(values):
    made = lidar_data(values)
    row, column = values.initial
    return {**made, "start": (row + values.lidar_range) * made["stride"] + column + values.lidar_range}


@SPEC.reset
def reset(p, s, rng):
    make_terrain(p, s, rng)
    s.obstacle[p.start] = 0
    fill_padding(p, s)
    s.cell = p.start
    s.in_reach = find_reachable(p, s, s.cell)
    s.seen, s.in_reach_seen = scan(p, s.obstacle, s.known, s.reachable, s.cell, s.lengths)


@kernel
def is_covered(p, s):
    """Whether enough has been seen."""
    if p.coverage == ALL:
        return s.seen > p.threshold * (p.height * p.width)
    return s.in_reach_seen > p.threshold * s.in_reach


@SPEC.step
def step(p, s, a, rng, r):
    wanted = s.cell + DOWN[a] * p.stride + RIGHT[a]
    outside = p.home[wanted] != wanted
    blocked = outside or s.obstacle[wanted] != 0
    fresh = 0
    if blocked:
        s.bumps += 1
        r.collision_cost = 1.0
    else:
        s.moves += 1
        s.track[wanted] = min(s.moves, LAST_SHOWN)
        s.known[s.cell] = FREE
        s.cell = wanted
        fresh, fresh_in_reach = scan(p, s.obstacle, s.known, s.reachable, s.cell, s.lengths)
        s.seen += fresh
        s.in_reach_seen += fresh_in_reach
    covered = is_covered(p, s)
    ended = covered or (blocked and p.collisions == END)
    if covered:
        r.bonus = p.bonus_reward
    elif ended and outside:
        r.border = p.out_of_bounds_reward
    elif ended:
        r.collision = p.collision_reward
    if not ended or p.bonus_form != PUBLISHED:
        r.explore = fresh
        r.move = -p.movement_cost
    r.explored = s.seen / (p.height * p.width)
    r.reachable = s.in_reach_seen / s.in_reach
    r.path_length = s.moves
    r.success = covered
    r.terminated = ended


@SPEC.observe
def observe(p, s, o):
    known, shown = s.known, o.map
    width = shown.shape[1]
    for i in range(shown.shape[0]):
        first = cell_at(p, i, 0)
        for j in range(width):
            shown[i, j, 0] = SHADES[known[max(first + j, 0)]]


@SPEC.mask
def mask(p, s, m):
    any_open = 0
    for move in range(4):
        m[move] = 1 if not p.masked or is_open(p, s.known, s.cell + DOWN[move] * p.stride + RIGHT[move]) else 0
        any_open += m[move]
    if any_open == 0:  # walled in: whatever it does, it bumps
        for move in range(4):
            m[move] = 1


@SPEC.expert
def expert(p, s, a):
    a[0] = planned_move(p, s.known, s.queue, s.origin, find_rover(s.known))


@SPEC.draw
def draw(canvas, p, s):
    draw_terrain(canvas, p, s)


@SPEC.text
def text(p, s):
    return terrain_text(p, s, [s.cell])


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
