"""Images of the games: the rooms of the ship, the table of the village, and what players say.

A viewer sees the roles that its player knows, and on the ship only who is in its room.
"""

from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.multi.deduction.meeting import ACTING, EVIL, PRESENT, VOTING
from rlenvs.multi.deduction.ship import LIES
from rlenvs.multi.deduction.village import DOCTOR, SEER


def draw_village(canvas, p, s):
    canvas.view(0, 1, 0, 1)


def draw_ship(canvas, p, s):
    canvas.view(0, 1, 0, 1)
