"""Deep sea treasure: steer a submarine to a treasure; the farther away, the more valuable.

## Description
A submarine starts at the surface and looks for treasure. Every step costs time, and the more valuable treasures are
farther away, so each treasure is optimal for some trade-off. This is the standard multi-objective benchmark with a
front that is known exactly: `env.unwrapped.pareto_front(gamma)` gives it for every map, start and discount. The maps
are MO-Gymnasium's (1.3): "convex" (Yang et al., NeurIPS 2019), "concave" (Vamplew et al., Machine Learning 2011), whose
front cannot be found completely by weighted sums, and "mirrored", the concave map next to a slope without treasures.
Spaces are those of the original. Different: actions are masked; the discounted front works for any map; `scaled=True`
uses another scale than the original's `float_state=True`, which exceeds its own bounds on the mirrored map.

## Action Space
One move to a neighboring cell. Rock and the border block: the submarine stays where it is, and time passes.

## Observation Space
Row and column of the submarine, integers starting at 0. With `scaled=True` each is scaled so that the first cell of the
map is -1 and the last 1 (-1 on a map with only one).

## Rewards
`treasure` is the value of the treasure found, `time` is -1 for every step. The default weights make the most valuable
treasure the best one on the published maps; with `weights={"treasure": 1, "time": 1}` the choice is close.

## Costs
None.

## Starting State
Always the start cell: (0, 0), on the mirrored map (0, 10), or `start`.

## Episode End
Termination: on a treasure. Truncation: 100 steps. `is_success` means that it is the most valuable treasure reachable
from the start, to which the scripted expert takes a shortest path.

## Parameters
A map is a name, or a grid (list of rows) of 0 for water, -10 for rock and a number in (0, 1000] for treasure.
It may have any shape; at least one treasure has to be reachable from the start, which has to be in water.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import PublishedFront, block, discrete, f8, i2, json_option, published, term, u1, world
from rlenvs.single.treasure import maps
from rlenvs.single.treasure.front import pareto_front
from rlenvs.single.treasure.maps import RICHEST, load_map
from rlenvs.single.treasure.model import table_of
from rlenvs.single.treasure.render import draw_scene, sea_text

UP, DOWN, LEFT, RIGHT = range(4)


def map_sizes(values):
    grid, _ = load_map(values.map, values.start)
    return {"rows": grid.shape[0], "columns": grid.shape[1]}


def last_cell(values):
    grid, _ = load_map(values.map, values.start)
    return grid.shape[0] - 1, grid.shape[1] - 1


def sea_bounds(values):
    """As in MO-Gymnasium, the longer side of the map, for rows and columns."""
    return max(last_cell(values)) + 1


def reward_bounds(values):
    grid, _ = load_map(values.map, values.start)
    return [0.0, -1.0], [grid.max(), -1.0]


SPEC = world(
    "DeepSeaTreasure-v0",
    doc=__doc__,
    source="MO-Gymnasium deep-sea-treasure (Vamplew et al., Machine Learning 2011; Yang et al., NeurIPS 2019)",
    options={
        "map": json_option(
            "convex", maps.parse_map, '"convex", "concave", "mirrored", or a grid: 0 water, -10 rock, positive treasure'
        ),
        "start": json_option(None, maps.parse_start, "start cell (row, column); None for the map's default"),
    },
    sizes=map_sizes,
    data={
        "origin": i2(2),  # start cell
        "richest": f8,  # value of the richest treasure in reach
        "sea": f8("rows", "columns"),
        "allowed": u1("rows", "columns", 4),  # 1 for a move that is not blocked
        "route": u1("rows", "columns"),  # the expert's move
    },
    state={"row": i2.index_of("rows"), "column": i2.index_of("columns")},
    observation={"position": block(2, low=0.0, high=last_cell, whole=True, doc="row and column, from 0 on")},
    action=discrete("up", "down", "left", "right"),
    terms={
        "treasure": term(0.0, RICHEST, 1.0, "value of the treasure found"),
        "time": term(-1.0, 0.0, 0.1, "-1 for every step"),
    },
    published=published("MO-Gymnasium deep-sea-treasure-v0", "int32", low=0.0, high=sea_bounds, reward=reward_bounds),
    horizon=100,
    lanes=True,
    fps=5,
    same_start=True,
)


@SPEC.make_data
def data(values):
    sea, origin = load_map(values.map, values.start)
    allowed, route = np.zeros((*sea.shape, 4)), np.zeros(sea.shape)
    in_reach = maps.treasures_in_reach(sea, origin)
    richest = max(sea[cell] for cell in in_reach)
    steps_left = maps.distances(sea, [cell for cell in in_reach if sea[cell] == richest])
    for cell in np.ndindex(*sea.shape):
        for move, beside in maps.neighbours(sea, cell):
            allowed[(*cell, move)] = 1
            if steps_left.get(beside, np.inf) < steps_left.get(cell, 0):
                route[cell] = move
    return {"origin": origin, "richest": richest, "sea": sea, "allowed": allowed, "route": route}


@SPEC.pareto_front
def front(values, horizon, gamma):
    return pareto_front(values.map, gamma, values.start, horizon)


@SPEC.published_front
def published_front(values, gamma):
    if not isinstance(values.map, str) or values.start is not None:
        return None
    points = pareto_front(values.map, gamma)  # the original's own function gives the same, to rounding
    return PublishedFront(points, (0.0, -25.0), "MO-Gymnasium 1.3.2, `pareto_front` of the environment")


@SPEC.exact_model
def exact_model(values):
    from rlenvs.kits.tables.solve import model_of  # SciPy is an extra

    return model_of(table_of(values.map, values.start, [term.weight for term in SPEC.terms.values()]))


@SPEC.state_number
def state_number(values, s):
    return s["row"].astype(int) * map_sizes(values)["columns"] + s["column"]


@SPEC.reset
def reset(p, s, rng):
    s.row, s.column = p.origin[0], p.origin[1]


@SPEC.step
def step(p, s, a, rng, r):
    # arithmetic, not a branch: whether a random move is blocked cannot be predicted
    free = int(p.allowed[s.row, s.column, a])
    row = s.row + free * (int(a == DOWN) - int(a == UP))
    column = s.column + free * (int(a == RIGHT) - int(a == LEFT))
    s.row, s.column = row, column
    value = p.sea[row, column]
    r.treasure = value
    r.time = -1.0
    r.terminated = value > 0.0
    r.success = value == p.richest


@SPEC.observe
def observe(p, s, o):
    o.position[0] = s.row
    o.position[1] = s.column


@SPEC.mask
def mask(p, s, m):
    allowed, row, column = p.allowed, s.row, s.column
    for move in range(4):
        m[move] = allowed[row, column, move]


@SPEC.expert
def expert(p, s, a):
    a[0] = p.route[s.row, s.column]


@SPEC.draw
def draw(canvas, p, s):
    draw_scene(canvas, p.sea, int(s.row), int(s.column))


@SPEC.text
def text(p, s):
    return sea_text(p.sea, s.row, s.column)


@SPEC.keys
def keys(pressed, values):
    for action, names in enumerate((("up", "w"), ("down", "s"), ("left", "a"), ("right", "d"))):
        if pressed.intersection(names):
            return action
    return None  # there is no move that waits
