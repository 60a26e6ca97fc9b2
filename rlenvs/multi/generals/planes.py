"""Observations as planes over the board.

The view of a cell is one number: 32 armies + 8 holder + 2 terrain + 1 if the cell is in sight; in the fog, 2 if there
is a structure. Few cells change in a tick, and only planes that change with them are written.
"""

from rlenvs.core import kernel
from rlenvs.multi.generals.board import CITY, GENERAL, MOUNTAIN, PLAIN

MOST = 1_000_000  # shown of an army or a number of ticks
NOBODY, OWN, ALLY, ENEMY = 0, 1, 2, 3  # who holds a cell, as a player sees it


@kernel
def look_of(p, s, k, cell):
    """What player k sees of a cell, as one number."""
    terrain = s.terrain[cell]
    if s.seen[p.side[k], cell] == 0:
        return 2 if terrain in (CITY, MOUNTAIN) else 0
    holder = NOBODY
    if s.owner[cell] == k + 1:
        holder = OWN
    elif s.camp[cell] != 0:
        holder = ALLY if s.camp[cell] == p.side[k] + 1 else ENEMY
    return 32 * min(s.army[cell], MOST) + 8 * holder + 2 * terrain + 1


@kernel
def show_change(p, s, k, planes, cell):
    """A cell that may look different from before."""
    look, old = look_of(p, s, k, cell), s.drawn[k, cell]
    if look != old:
        s.drawn[k, cell] = look
        show_army(planes, cell, look)
        if (look ^ old) & 31:
            show_cell(p, planes, cell, s.terrain.size, look)


@kernel
def show_army(planes, cell, look):
    planes[cell] = look >> 5


@kernel
def show_cell(p, planes, cell, cells, look):
    """All of a cell but the army."""
    seen = (look & 1) == 1
    terrain = (look >> 1) & 3 if seen else PLAIN
    holder = (look >> 3) & 3
    planes[cells + cell] = terrain == GENERAL
    planes[2 * cells + cell] = terrain == CITY
    planes[3 * cells + cell] = terrain == MOUNTAIN
    planes[4 * cells + cell] = seen and holder == NOBODY and terrain != MOUNTAIN
    planes[5 * cells + cell] = holder == OWN
    planes[6 * cells + cell] = holder == ENEMY
    planes[7 * cells + cell] = look == 0
    planes[8 * cells + cell] = look == 2
    if p.teams > 0:
        planes[14 * cells + cell] = holder == ALLY


@kernel
def show_number(s, plane, number):
    """A plane of one number."""
    value = min(number, MOST)
    if not s.shown or plane[0] != value:
        for cell in range(plane.size):
            plane[cell] = value
