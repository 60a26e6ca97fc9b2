"""The grid of STORM: its cells, directions, what lies on it, and who may go where.

Cells are numbers, row after row. Direction 0 is towards higher columns, 1 towards higher rows, 2 and 3 back.
"""

import numpy as np

from rlenvs.core import below, kernel

SIDE, VIEW, MOST_AGENTS = 8, 5, 8
CELLS = SIDE * SIDE
ACTIONS = ("left", "right", "forward", "zap", "stay")
LEFT, RIGHT, FORWARD, ZAP, STAY = range(5)
COOPERATION, DEFECTION, WALL, ZAPPED = range(9, 13)  # on the grid: 0 nothing, 1 ... 8 agents
TOKENS = 6  # of each kind
DOWN, ACROSS = (0, 1, 0, -1), (1, 0, -1, 0)
AHEAD = np.array([(1, 0), (2, 0), (1, 1), (1, -1)])  # cells that a zap reaches: steps ahead, to the left
PLACES = np.array(
    [
        *((1, 1), (1, 2), (2, 1), (1, 6), (2, 6), (1, 5)),
        *((6, 2), (5, 1), (6, 1), (6, 6), (6, 5), (5, 6)),
    ]
)  # of tokens, in turn of cooperation and of defection
SPAWNS = np.array(
    [
        i * SIDE + j
        for i, j in (
            *((0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (0, 7), (0, 6), (0, 5), (1, 7)),
            *((7, 0), (7, 1), (7, 2), (6, 0), (7, 7), (7, 6), (7, 5), (6, 7), (6, 5)),
        )
    ]
)  # cells where agents start


@kernel
def cell_at(n):
    """The cell of the n-th place of a token."""
    return PLACES[n, 0] * SIDE + PLACES[n, 1]


@kernel
def place(cell, facing, ahead, left):
    """The cell so many steps ahead and to the left of one; -1 where that is off the grid."""
    side = (facing + 1) % 4
    row = cell // SIDE + ahead * DOWN[facing] + left * DOWN[side]
    column = cell % SIDE + ahead * ACROSS[facing] + left * ACROSS[side]
    return row * SIDE + column if 0 <= row < SIDE and 0 <= column < SIDE else -1


@kernel
def in_reach(s, k, j):
    """Whether agent k's zap reaches agent j."""
    found = False
    for n in range(4):
        found = found or place(s.position[k], s.facing[k], AHEAD[n, 0], AHEAD[n, 1]) == s.position[j]
    return found


@kernel
def resolve(s, rng):
    """Let `wanted` of an agent be its own cell where the wanted one stays taken, or another agent gets it: of those who
    want to go to one cell, a random one does. Agents may change places."""
    agents = s.wanted.size
    changed = True
    while changed:
        changed = False
        for k in range(agents):
            if s.wanted[k] == s.position[k]:
                continue
            movers = 0
            for j in range(agents):
                if s.wanted[j] == s.wanted[k]:
                    movers = -agents if s.wanted[j] == s.position[j] else movers + 1
            if movers == 1:
                continue
            changed = True
            goes = below(rng, movers) if movers > 1 else -1
            cell = s.wanted[k]
            for j in range(agents):
                if s.wanted[j] == cell and s.position[j] != cell:
                    if goes != 0:
                        s.wanted[j] = s.position[j]
                    goes -= 1
