"""Walks on a grid: stay, up, down, left, right, and up is towards row 0."""

from rlenvs.core import kernel
from rlenvs.kits.boards.drawing import pressed_move

DOWN, RIGHT = (0, -1, 1, 0, 0), (0, 0, 0, -1, 1)  # rows and columns of a move
KEYS = (("up", "w"), ("down", "s"), ("left", "a"), ("right", "d"))


@kernel
def walk(position, k, move, rows, columns):
    """Move agent k, whose row and column are position[k], by one cell; at the edge it stays."""
    position[k, 0] = min(max(position[k, 0] + DOWN[move], 0), rows - 1)
    position[k, 1] = min(max(position[k, 1] + RIGHT[move], 0), columns - 1)


@kernel
def allow_moves(position, k, m, rows, columns):
    """Allow staying, and moves that do not leave the grid, in the mask m of agent k."""
    row, column = position[k, 0], position[k, 1]
    m[0] = 1
    m[1] = row > 0
    m[2] = row < rows - 1
    m[3] = column > 0
    m[4] = column < columns - 1


def walk_of_keys(pressed, values):
    """The move that pressed keys stand for."""
    move = pressed_move(pressed, KEYS)
    return 0 if move is None else 1 + move
