"""What an agent of Harvest and Cleanup sees: 15 x 15 cells, itself in the middle, the cells ahead above; as planes or
as pixels in the colors of the original."""

import numpy as np

from rlenvs.core import kernel
from rlenvs.multi.dilemmas.commons_maps import APPLE, PAD, RIVER, STREAM, VIEW, WALL, WASTE
from rlenvs.multi.dilemmas.commons_rules import ahead

PLANES = ("wall", "apple", "other agent", "clean water", "waste")
COLORS = np.array(  # of the codes of ground, then of agents
    [
        *((0, 0, 0), (180, 180, 180), (0, 255, 0), (113, 75, 24)),
        *((99, 156, 194), (113, 75, 24), (0, 0, 0)),
        *((0, 0, 255), (2, 81, 154), (204, 0, 204), (216, 30, 54), (254, 151, 0)),
        *((100, 255, 255), (99, 99, 255), (250, 204, 255), (238, 223, 16)),
    ],
    np.uint8,
)
FIRST_AGENT, AGENT_COLORS = 7, 9
FULL = 255


@kernel
def show_planes(p, s, k, planes):
    """Planes, (row, column, plane), 255 where a cell belongs to it."""
    down, right = -ahead(p, s.facing[k]), ahead(p, (s.facing[k] + 1) % 4)
    for i in range(VIEW):
        cell = s.position[k] + (i - PAD) * down - PAD * right
        for j in range(VIEW):
            code = s.ground[cell]
            planes[i, j, 0] = FULL * (code == WALL)
            planes[i, j, 1] = FULL * (code == APPLE)
            planes[i, j, 2] = FULL * (s.occupant[cell] > 0)
            planes[i, j, 3] = FULL * (code in (RIVER, STREAM))
            planes[i, j, 4] = FULL * (code == WASTE)
            cell += right
    planes[PAD, PAD, 2] = 0


@kernel
def show_pixels(p, s, k, pixels):
    """The colors of the cells, (row, column, color)."""
    down, right = -ahead(p, s.facing[k]), ahead(p, (s.facing[k] + 1) % 4)
    ground, occupant = s.ground, s.occupant  # views, whose places are read once
    for i in range(VIEW):
        cell, line = s.position[k] + (i - PAD) * down - PAD * right, pixels[i]
        for j in range(VIEW):
            code, there = ground[max(cell, 0)], occupant[max(cell, 0)]
            if there > 0:
                code = FIRST_AGENT + (there - 1) % AGENT_COLORS
            line[j, 0], line[j, 1], line[j, 2] = COLORS[code, 0], COLORS[code, 1], COLORS[code, 2]
            cell += right
