"""Trash grid: robots collect small and big trash, compress the big, and bring it to a station before time is up.

## Description
After the Trash-Grid of GMAH (Xu et al., "Subgoal-based hierarchical reinforcement learning for multi-agent
collaboration", 2024), where high-level policies choose who looks for trash, picks it up, compresses it or puts it
down. Three robots with directions share ten pieces of trash on 10 x 10 cells, and carry up to three each. Small trash
can be picked up as it is, big trash after it was compressed, which takes an action. What is put down on the station is
recycled. Grid, starts, places of trash and station, actions, capacity and time limit are those of the original's
texts and records. Its program is not published, so the rest is this package's: all robots act in the same step (there
one after the other), several may be on one cell, any robot may compress, a compressed piece is small trash, and the
rewards.

## Action Space
Forward, turn left, turn right, pick up, compress, put down. The mask allows what changes something.

## Observation Space
Five planes of 0 and 1 over the whole grid: the robot itself, other robots, small trash, big trash, the station. Then
the robot's direction (north, east, south, west), what it carries, and what others carry, as a plane.

## Rewards
`recycled` is the number of pieces that are put down on the station in this step: with `reward="team"` by any robot, the
same for all, with "individual" by the robot itself. With weight 0, for training: `picked` and `compressed`, the pieces
that the robot itself has picked up and compressed.

## Costs
None.

## Starting State
Robots in the upper row, in every second column from the left, facing south. Pieces of trash are on distinct random
cells, from the fourth row on and not in the last two rows and the last column. The station is in the last two rows, in
the last four columns.

## Episode End
Termination: all trash is recycled (a success). Truncation: 200 steps.

## Parameters
None. Options set the numbers of robots, pieces, rows and columns.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert sends each robot to the nearest piece that no robot
before it goes to, and to the station when it is full or nothing is left for it.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import below, block, choice, discrete, flag, i1, i2, i4, integer, kernel, term, u1, world
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.gathering.trash_render import draw_trash, trash_text

MOST_AGENTS, LARGEST, MOST_PIECES, MOST_CARRIED = 6, 20, 20, 10
ACTIONS = ("forward", "left", "right", "pick up", "compress", "put down")
FORWARD, LEFT, RIGHT, PICK_UP, COMPRESS, PUT_DOWN = range(6)
NORTH, EAST, SOUTH, WEST = range(4)
DOWN, ACROSS = (-1, 0, 1, 0), (0, 1, 0, -1)
NONE, SMALL, BIG = range(3)
FIRST_ROW, BELOW = 3, 2  # of trash; rows below it
STATION_ROWS, STATION_COLUMNS = 2, 4
REWARD = choice("team", "individual", doc="whether robots are rewarded for all pieces, or only for their own")
(INDIVIDUAL,) = REWARD.codes("individual")


def sizes(values: Any) -> dict[str, int]:
    places = (values.rows - FIRST_ROW - BELOW) * (values.columns - 1)
    if values.small + values.big > places:
        raise ParameterError(
            f"small={values.small} and big={values.big} pieces are more than the {places} cells for them on "
            f"{values.rows} x {values.columns} cells"
        )
    if values.small + values.big == 0:
        raise ParameterError("small=0 and big=0: there is nothing to recycle; set one of them to at least 1")
    if 2 * values.agents - 1 > values.columns:
        raise ParameterError(f"agents={values.agents} need columns={2 * values.agents - 1}, not {values.columns}")
    return {"agents": values.agents, "height": values.rows, "width": values.columns}


SPEC = world(
    "TrashGrid-v0",
    doc=__doc__,
    source="GMAH's Trash-Grid (Xu et al., arXiv 2408.11416)",
    agents=True,
    options={
        "agents": integer(3, 1, MOST_AGENTS, "robots"),
        "rows": integer(10, 6, LARGEST, "rows"),
        "columns": integer(10, 5, LARGEST, "columns"),
        "small": integer(5, 0, MOST_PIECES, "pieces of small trash"),
        "big": integer(5, 0, MOST_PIECES, "pieces of big trash"),
        "capacity": integer(3, 1, MOST_CARRIED, "pieces that a robot carries"),
        "reward": REWARD,
        "random_start": flag(False, "whether robots begin on random cells, in random directions"),
    },
    sizes=sizes,
    state={
        "row": i2("agents").index_of("height"),
        "column": i2("agents").index_of("width"),
        "direction": i1("agents").within(0, 3),
        "load": i1("agents").within(0, MOST_CARRIED),
        "trash": u1("height", "width").within(0, 2),
        "left": i4.within(0, 2 * MOST_PIECES),  # pieces that are not recycled
        "claimed": u1("height", "width"),
    },
    scratch=("claimed",),
    observation={
        "planes": block(
            *(5, "height", "width"),
            low=0.0,
            high=1.0,
            raw=True,
            whole=True,
            constant=True,
            doc="the robot itself, other robots, small trash, big trash, the station",
        ),
        "direction": block(4, low=0.0, high=1.0, raw=True, whole=True, constant=True, doc="north, east, south, west"),
        "load": block(low=0.0, high=float(MOST_CARRIED), whole=True, constant=True, doc="pieces that it carries"),
        "loads": block(
            *("height", "width"),
            low=0.0,
            high=float(MOST_AGENTS * MOST_CARRIED),
            whole=True,
            constant=True,
            doc="pieces that other robots carry",
        ),
    },
    action=discrete(*ACTIONS, idle=LEFT),
    terms={
        "recycled": term(0.0, float(MOST_AGENTS * MOST_CARRIED), 1.0, "pieces put down on the station"),
        "picked": term(0.0, 1.0, 0.0, "1 for a piece that the robot has picked up"),
        "compressed": term(0.0, 1.0, 0.0, "1 for a piece that the robot has compressed"),
    },
    horizon=200,
    fps=6,
    players=("nearest",),
    levels={
        "pair": {"agents": 2},
        "individual": {"reward": "individual"},
        "crowd": {"agents": 6, "rows": 16, "columns": 16, "small": 12, "big": 12, "horizon": 300},
    },
)


@kernel
def scatter(p, s, rng):
    """Lay the pieces on distinct cells, each way to do so as likely as any other."""
    rows, columns = s.trash.shape
    small, big = p.small, p.big
    cells = (rows - FIRST_ROW - BELOW) * (columns - 1)
    for row in range(FIRST_ROW, rows - BELOW):
        for column in range(columns - 1):
            drawn = below(rng, cells)
            if drawn < small:
                s.trash[row, column] = SMALL
                small -= 1
            elif drawn < small + big:
                s.trash[row, column] = BIG
                big -= 1
            cells -= 1


@SPEC.reset
def reset(p, s, rng):
    rows, columns = s.trash.shape
    for k in range(s.row.size):
        s.row[k], s.column[k], s.direction[k] = 0, 2 * k, SOUTH
        if p.random_start:
            s.row[k], s.column[k], s.direction[k] = below(rng, rows), below(rng, columns), below(rng, 4)
    scatter(p, s, rng)
    s.left = p.small + p.big


@kernel
def is_station(s, row, column):
    return row >= s.trash.shape[0] - STATION_ROWS and column >= s.trash.shape[1] - STATION_COLUMNS


@kernel
def is_possible(p, s, k, action):
    """Whether an action of robot k changes something."""
    row, column = int(s.row[k]), int(s.column[k])
    if action == FORWARD:
        row += DOWN[s.direction[k]]
        column += ACROSS[s.direction[k]]
        return 0 <= row < s.trash.shape[0] and 0 <= column < s.trash.shape[1]
    if action == PICK_UP:
        return s.trash[row, column] == SMALL and s.load[k] < p.capacity
    if action == COMPRESS:
        return s.trash[row, column] == BIG
    return action in (LEFT, RIGHT) or (s.load[k] > 0 and is_station(s, row, column))


@kernel
def act(p, s, k, action, r):
    """An action of robot k that is possible."""
    row, column = int(s.row[k]), int(s.column[k])
    if action == FORWARD:
        s.row[k] = row + DOWN[s.direction[k]]
        s.column[k] = column + ACROSS[s.direction[k]]
    elif action == LEFT:
        s.direction[k] = (s.direction[k] + 3) % 4
    elif action == RIGHT:
        s.direction[k] = (s.direction[k] + 1) % 4
    elif action == PICK_UP:
        s.trash[row, column] = NONE
        s.load[k] += 1
        r.picked[k] = 1.0
    elif action == COMPRESS:
        s.trash[row, column] = SMALL
        r.compressed[k] = 1.0
    else:
        for other in range(s.row.size):
            if other == k or p.reward != INDIVIDUAL:
                r.recycled[other] += float(s.load[k])
        s.left -= s.load[k]
        s.load[k] = 0


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(s.row.size):
        if is_possible(p, s, k, a[k]):
            act(p, s, k, a[k], r)
    for k in range(s.row.size):
        r.success[k] = s.left <= 0
        r.terminated[k] = s.left <= 0


@SPEC.mask
def mask(p, s, k, m):
    for action in range(6):
        m[action] = is_possible(p, s, k, action)


@SPEC.observe
def observe(p, s, k, o):
    rows, columns = s.trash.shape
    for row in range(rows):
        for column in range(columns):
            o.planes[0, row, column] = 0.0
            o.planes[1, row, column] = 0.0
            o.planes[2, row, column] = 1.0 if s.trash[row, column] == SMALL else 0.0
            o.planes[3, row, column] = 1.0 if s.trash[row, column] == BIG else 0.0
            o.planes[4, row, column] = 1.0 if is_station(s, row, column) else 0.0
            o.loads[row, column] = 0.0
    for j in range(s.row.size):
        o.planes[0 if j == k else 1, s.row[j], s.column[j]] = 1.0
        if j != k:
            o.loads[s.row[j], s.column[j]] += float(s.load[j])
    for direction in range(4):
        o.direction[direction] = 1.0 if s.direction[k] == direction else 0.0
    o.load = float(s.load[k])


# --- the expert -------------------------------------------------------------------------------------------------------


@kernel
def nearest_piece(s, k):
    """The cell of the nearest piece that is not claimed; -1 where there is none."""
    rows, columns = s.trash.shape
    best, least = -1, 1000
    for row in range(rows):
        for column in range(columns):
            far = abs(row - int(s.row[k])) + abs(column - int(s.column[k]))
            if s.trash[row, column] != NONE and s.claimed[row, column] == 0 and far < least:
                best, least = row * columns + column, far
    return best


@kernel
def way_to(s, k, row, column):
    """The action that leads robot k to another cell: forward where that comes nearer, else the shorter turn."""
    down, across = row - int(s.row[k]), column - int(s.column[k])
    fewest, wanted = 9, 0
    for direction in range(4):
        if DOWN[direction] * down + ACROSS[direction] * across > 0:
            turns = (direction - int(s.direction[k])) % 4
            if min(turns, 4 - turns) < fewest:
                fewest, wanted = min(turns, 4 - turns), turns
    return FORWARD if fewest == 0 else LEFT if wanted == 3 else RIGHT


@kernel
def advised(p, s, k):
    """What robot k does: claim the nearest piece and deal with it, or empty its load on the station."""
    rows, columns = s.trash.shape
    row, column = int(s.row[k]), int(s.column[k])
    piece = nearest_piece(s, k) if s.load[k] < p.capacity else -1
    if piece >= 0:
        s.claimed[piece // columns, piece % columns] = 1
        if piece == row * columns + column:
            return COMPRESS if s.trash[row, column] == BIG else PICK_UP
        return way_to(s, k, piece // columns, piece % columns)
    if s.load[k] == 0:
        return LEFT
    if is_station(s, row, column):
        return PUT_DOWN
    return way_to(s, k, max(row, rows - STATION_ROWS), max(column, columns - STATION_COLUMNS))


@SPEC.expert
def expert(p, s, a):
    s.claimed[:, :] = 0
    for k in range(s.row.size):
        a[k] = advised(p, s, k)


@SPEC.player("nearest")
def nearest(p, s, k, a, rng):
    """To the nearest piece, whoever else goes there."""
    s.claimed[:, :] = 0
    a[k] = advised(p, s, k)


SPEC.draw(draw_trash)
SPEC.text(trash_text)


@SPEC.keys
def keys(pressed, values):
    return next((n for n, key in enumerate(("up", "left", "right", "p", "c", "d")) if key in pressed), LEFT)


@SPEC.state_fault
def state_fault(p, s):
    held = int(np.sum(s.load)) + int(np.count_nonzero(s.trash))
    return "" if held == int(s.left) else f"{held} pieces lie about and are carried, {int(s.left)} are left"
