"""Two potentials of a grid: the distance to the goal, and how much work is left (doors, keys, balls, boxes).

Their differences are the reward terms `progress` and `subgoal`, which have weight 0 and may help in training: the
rewards of a potential sum to the same value on all paths between two states, so they do not change the optimal policy
(Ng, Harada and Russell, ICML 1999; here without a discount factor).
"""

from rlenvs.core import kernel
from rlenvs.kits.gridworld.cells import (
    BALL,
    BOX,
    DOOR,
    KEY,
    LAVA,
    LOCKED,
    OPEN,
    UNSEEN,
    WALL,
    cell_at,
    colour_of,
    inside_of,
    kind_of,
    state_of,
    steps_apart,
    thing,
)
from rlenvs.kits.gridworld.rules import ahead_of
from rlenvs.single.exploration.rooms import DYNAMIC, EMPTY_ROOM
from rlenvs.single.exploration.rooms_expert import aim_of


@kernel
def is_open(p):
    """Whether nothing stands on the way to the goal, which is in the corner, and nothing has to be seen to."""
    return p.task == EMPTY_ROOM or p.task == DYNAMIC


@kernel
def begin_potentials(p, s):
    """What both are at the start. In an open room both follow from the agent's cell, and where balls move, episodes are
    so short that to measure all ways would take a sixth of the time of a step."""
    if not is_open(p):
        measure_ways(p, s)
        s.things_left = things_left(p, s)


@kernel
def steps_left(p, s, cell):
    """From a cell to the aim."""
    return steps_apart(p, cell, cell_at(p, p.width - 2, p.height - 2)) if is_open(p) else int(s.far[cell])


@kernel
def measure_ways(p, s):
    """Put into `s.far` how many steps each cell is from the aim, around walls and lava, through doors and objects. An
    episode changes neither walls nor lava, so this is done once."""
    far, line, aim = s.far, s.line, aim_of(p, s)
    for cell in range(far.size):
        far[cell] = 0
    line[0] = aim
    head, count = 0, 1
    while head < count:
        cell = line[head]
        head += 1
        for direction in range(4):
            near = ahead_of(p, cell, direction)
            kind = kind_of(s.grid[near])
            if far[near] == 0 and near != aim and kind != UNSEEN and kind != WALL and kind != LAVA:
                far[near] = far[cell] + 1
                line[count] = near
                count += 1


@kernel
def things_left(p, s):
    """What is left to be done: 1 for each door that is not open, 1 for each lock whose key is not in the hand, 1 for
    each ball that lies beside a lock, 1 for each box with a key in it."""
    count = 0
    for cell in range(s.grid.size):
        there = s.grid[cell]
        kind = kind_of(there)
        if kind == BOX and inside_of(there):
            count += 1
        elif kind == DOOR and state_of(there) != OPEN:
            count += 1
            if state_of(there) == LOCKED:
                count += 0 if s.carried == thing(KEY, colour_of(there)) else 1
                for direction in range(4):
                    count += 1 if kind_of(s.grid[ahead_of(p, cell, direction)]) == BALL else 0
    return count
