"""Gems: agents share a grid of gems, and each has its own values for their colors; made for inverse learning.

## Description
Agents walk on a grid with red, green and blue gems, and pick up those that they step on; a gem of the same color
appears elsewhere at once. What a color is worth is an agent's own affair: by default the first agent wants red, the
second blue, both like green, and each had better leave the other's favorite alone. The game has a general sum, and
`concern` moves it from rivalry to a team. After the domain of the same name in "Multi-Agent Inverse Q-Learning from
Demonstrations" (Haynam et al., 2025), of which only its idea is published in a form that can be read: sizes, values and
rules are this package's. Rewards and what they are made of are known exactly (`valuations` times the terms `red`,
`green` and `blue`), so rewards that were recovered from demonstrations can be compared with the true ones; at the level
"tabular" with its 3528 states this needs no network (`benchmarks/inverse_rewards.py`).

## Action Space
Stay, or move one cell up, down, left or right; up is towards row 0. Moves off the grid are masked, and count as staying
if taken.

## Observation Space
Five planes of 0 and 1 over the whole grid: the agent itself, other agents, red, green and blue gems. Then what the
three colors are worth to the agent.

## Rewards
`own` is what the gem that the agent picks up in this step is worth to it; agents on the same cell share a gem equally.
`others` is `concern` times what all others pick up, as worth to them. With weight 0: `red`, `green` and `blue`, the
agent's shares of gems of these colors.

## Costs
None.

## Starting State
Agents and gems are on distinct random cells. A gem that appears again is on a random cell with no gem and no agent, or
with no gem where agents are on all of these.

## Episode End
Truncation: 50 steps. Success is not defined.

## Parameters
`concern` is how much an agent gains by what others gain: 1 makes a team, 0 makes everyone selfish, and with -1 the
rewards of two agents add up to 0.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert goes for the most worth per step, and expects others
to be first where they are nearer.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import below, block, discrete, f8, i2, i4, integer, json_option, kernel, param, term, u1, world
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.gathering.render import draw_gathering, gathering_text
from rlenvs.multi.gathering.walking import DOWN, RIGHT, allow_moves, walk, walk_of_keys

MOST_AGENTS, LARGEST, MOST_GEMS, COLORS = 6, 20, 20, 3
LATE = 0.5  # what a gem is worth, as a share, that another agent wants and is nearer to
DEFAULT_VALUATIONS = ((1.0, 0.5, -0.5), (-0.5, 0.5, 1.0))


def parse_valuations(given: Any) -> tuple[tuple[float, ...], ...]:
    """What red, green and blue gems are worth, a row for each agent."""
    try:
        table = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError("needs numbers: a row for each agent, with the values of red, green and blue gems") from None
    if table.ndim != 2 or not 1 <= len(table) <= MOST_AGENTS or table.shape[1] != COLORS:
        raise ValueError(f"needs 1 ... {MOST_AGENTS} rows, one for each agent, of {COLORS} values: red, green, blue")
    if not (np.abs(table) <= 1.0).all():
        raise ValueError("values are in [-1, 1]")
    return tuple(map(tuple, table.tolist()))


def sizes(values: Any) -> dict[str, int]:
    agents, gems = len(values.valuations), values.red + values.green + values.blue
    if values.height * values.width < agents + gems + 1:
        raise ParameterError(
            f"a grid of {values.height} x {values.width} cells is too small for {agents} agents, {gems} gems and a "
            "free cell"
        )
    return {"agents": agents, "height": values.height, "width": values.width}


SPEC = world(
    "Gems-v0",
    doc=__doc__,
    source="the Gems domain of MAMQL (Haynam et al., arXiv 2503.04679)",
    agents=True,
    params={"concern": param(0.0, -1.0, 1.0, "", "how much an agent gains by what others gain")},
    options={
        "valuations": json_option(
            DEFAULT_VALUATIONS, parse_valuations, "a row for each agent: worth of red, green, blue gems"
        ),
        "height": integer(6, 2, LARGEST, "rows"),
        "width": integer(6, 2, LARGEST, "columns"),
        "red": integer(2, 1, MOST_GEMS, "red gems"),
        "green": integer(1, 0, MOST_GEMS, "green gems"),
        "blue": integer(2, 0, MOST_GEMS, "blue gems"),
    },
    sizes=sizes,
    data={"worth": f8("agents", COLORS)},
    state={
        "position": i2("agents", 2).within(0, LARGEST - 1),
        "ground": u1("height", "width").within(0, COLORS),  # 0 for none, else 1 + its color
        "gained": f8("agents"),
        "gone": i4(COLORS),  # gems that were picked up in this step
    },
    scratch=("gained", "gone"),
    observation={
        "planes": block(
            *(5, "height", "width"),
            low=0.0,
            high=1.0,
            raw=True,
            whole=True,
            constant=True,
            doc="the agent itself, other agents, red, green, blue gems",
        ),
        "worth": block(COLORS, low=-1.0, high=1.0, raw=True, constant=True, doc="of red, green, blue gems"),
    },
    action=discrete("stay", "up", "down", "left", "right"),
    terms={
        "own": term(-1.0, 1.0, 1.0, "worth of the gem that it picked up"),
        "others": term(1.0 - MOST_AGENTS, MOST_AGENTS - 1.0, 1.0, "concern times the worth of others' gems to them"),
        "red": term(0.0, 1.0, 0.0, "share of a red gem"),
        "green": term(0.0, 1.0, 0.0, "share of a green gem"),
        "blue": term(0.0, 1.0, 0.0, "share of a blue gem"),
    },
    horizon=50,
    fps=4,
    players=("nearest",),
    levels={
        "tabular": {"height": 3, "width": 3, "red": 1, "green": 0, "blue": 1},
        "rivals": {"concern": -1.0},
        "team": {"concern": 1.0},
        "crowd": {
            "valuations": ((1, 0.5, -0.5), (-0.5, 1, 0.5), (0.5, -0.5, 1), (1, 1, 1)),
            "height": 10,
            "width": 10,
            "red": 4,
            "green": 4,
            "blue": 4,
        },
    },
)


@SPEC.make_data
def data(values):
    return {"worth": np.array(values.valuations, np.float64)}


@SPEC.state_fault
def state_fault(p, s):
    if not ((s.position >= 0) & (s.position < s.ground.shape)).all():
        return "an agent is off the grid"
    there = [int((s.ground == 1 + color).sum()) for color in range(COLORS)]
    wanted = [int(p.red), int(p.green), int(p.blue)]
    return "" if there == wanted else f"there are {there} red, green and blue gems, and not {wanted}"


@kernel
def stands(s, agents, row, column):
    """How many of the first agents stand on a cell."""
    there = 0
    for k in range(agents):
        there += s.position[k, 0] == row and s.position[k, 1] == column
    return there


@kernel
def free_cell(s, rng, agents):
    """A random cell with no gem and none of the first agents; one with no gem where there is no other."""
    rows, columns = s.ground.shape
    free, bare = 0, 0
    for row in range(rows):
        for column in range(columns):
            if s.ground[row, column] == 0:
                bare += 1
                free += stands(s, agents, row, column) == 0
    crowded = free == 0
    left, chosen = below(rng, bare if crowded else free), 0
    for row in range(rows):
        for column in range(columns):
            if s.ground[row, column] == 0 and (crowded or stands(s, agents, row, column) == 0):
                chosen = row * columns + column if left == 0 else chosen
                left -= 1
    return chosen


@kernel
def put(s, rng, color, agents):
    cell = free_cell(s, rng, agents)
    s.ground[cell // s.ground.shape[1], cell % s.ground.shape[1]] = 1 + color


@SPEC.reset
def reset(p, s, rng):
    for color in range(COLORS):
        for _ in range(p.red if color == 0 else p.green if color == 1 else p.blue):
            put(s, rng, color, 0)
    for k in range(s.position.shape[0]):
        cell = free_cell(s, rng, k)
        s.position[k, 0] = cell // s.ground.shape[1]
        s.position[k, 1] = cell % s.ground.shape[1]


@kernel
def pick_up(p, s, k, r):
    """The share of agent k in the gem on its cell."""
    row, column = s.position[k, 0], s.position[k, 1]
    s.gained[k] = 0.0
    if s.ground[row, column] > 0:
        color, share = int(s.ground[row, column]) - 1, 1.0 / stands(s, s.position.shape[0], row, column)
        s.gained[k] = p.worth[k, color] * share
        if color == 0:
            r.red[k] = share
        elif color == 1:
            r.green[k] = share
        else:
            r.blue[k] = share


@SPEC.step
def step(p, s, a, rng, r):
    rows, columns = s.ground.shape
    agents = s.position.shape[0]
    for k in range(agents):
        walk(s.position, k, a[k], rows, columns)
    total = 0.0
    for k in range(agents):
        pick_up(p, s, k, r)
        total += s.gained[k]
    for k in range(agents):
        r.own[k] = s.gained[k]
        r.others[k] = p.concern * (total - s.gained[k])
    renew(s, rng)


@kernel
def renew(s, rng):
    """Take away the gems under agents, and put as many elsewhere."""
    for color in range(COLORS):
        s.gone[color] = 0
    for k in range(s.position.shape[0]):
        found = s.ground[s.position[k, 0], s.position[k, 1]]
        if found > 0:
            s.gone[found - 1] += 1
            s.ground[s.position[k, 0], s.position[k, 1]] = 0
    for color in range(COLORS):
        for _ in range(s.gone[color]):
            put(s, rng, color, s.position.shape[0])


@SPEC.observe
def observe(p, s, k, o):
    rows, columns = s.ground.shape
    for row in range(rows):
        for column in range(columns):
            found = s.ground[row, column]
            o.planes[0, row, column] = 0.0
            o.planes[1, row, column] = 0.0
            o.planes[2, row, column] = 1.0 if found == 1 else 0.0
            o.planes[3, row, column] = 1.0 if found == 2 else 0.0
            o.planes[4, row, column] = 1.0 if found == 3 else 0.0
    for j in range(s.position.shape[0]):
        o.planes[0 if j == k else 1, s.position[j, 0], s.position[j, 1]] = 1.0
    for color in range(COLORS):
        o.worth[color] = p.worth[k, color]


@SPEC.mask
def mask(p, s, k, m):
    allow_moves(s.position, k, m, s.ground.shape[0], s.ground.shape[1])


# --- players ----------------------------------------------------------------------------------------------------------


@kernel
def distance(s, k, row, column):
    return abs(row - int(s.position[k, 0])) + abs(column - int(s.position[k, 1]))


@kernel
def is_late(p, s, k, row, column, color):
    """Whether another agent wants a gem and is nearer to it."""
    late = False
    for j in range(s.position.shape[0]):
        nearer = distance(s, j, row, column) < distance(s, k, row, column)
        late = late or (j != k and p.worth[j, color] > 0.0 and nearer)
    return late


@kernel
def chosen_gem(p, s, k, heeds):
    """The cell of the gem with the most worth per step for agent k, with or without heed to others; -1: no gem."""
    rows, columns = s.ground.shape
    best, most = -1, 0.0
    for row in range(rows):
        for column in range(columns):
            if s.ground[row, column] == 0:
                continue
            color = int(s.ground[row, column]) - 1
            worth = p.worth[k, color] / max(distance(s, k, row, column), 1)
            if heeds and is_late(p, s, k, row, column, color):
                worth *= LATE
            if worth > most:
                best, most = row * columns + column, worth
    return best


@kernel
def move_towards(p, s, k, cell):
    """A move that leads agent k to a cell, over a gem that it had better leave alone only if there is no other."""
    if cell < 0:
        return 0
    rows, columns = s.ground.shape
    row, column = cell // columns, cell % columns
    best, most = 0, -3.0
    for action in range(1, 5):
        i, j = int(s.position[k, 0]) + DOWN[action], int(s.position[k, 1]) + RIGHT[action]
        if 0 <= i < rows and 0 <= j < columns and abs(row - i) + abs(column - j) < distance(s, k, row, column):
            worth = p.worth[k, int(s.ground[i, j]) - 1] if s.ground[i, j] > 0 else 0.0
            if worth > most:
                best, most = action, worth
    return best


@SPEC.expert
def expert(p, s, a):
    for k in range(s.position.shape[0]):
        a[k] = move_towards(p, s, k, chosen_gem(p, s, k, True))


@SPEC.player("nearest")
def nearest(p, s, k, a, rng):
    """To the most worth per step, without heed to others."""
    a[k] = move_towards(p, s, k, chosen_gem(p, s, k, False))


@SPEC.draw
def draw(canvas, p, s):
    draw_gathering(canvas, s.ground, s.position, "gem")


@SPEC.text
def text(p, s):
    return gathering_text(s.ground, s.position)


SPEC.keys(walk_of_keys)
