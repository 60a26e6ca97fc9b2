"""Turns of a cube as permutations of its stickers, from geometry.

A sticker has a position on a face, counted row by row when looking at the face. Faces are up, front, right, back, left,
down; up is seen with the back at the top, down with the front at the top, the four others with up at the top.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

FACES = ("up", "front", "right", "back", "left", "down")
AMOUNTS = ("clockwise", "anticlockwise", "half")
# of each face: outward, and the directions in which columns and rows count; x to the right, y to the back, z up
AXES = {
    "up": ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    "front": ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    "right": ((1, 0, 0), (0, 1, 0), (0, 0, -1)),
    "back": ((0, 1, 0), (-1, 0, 0), (0, 0, -1)),
    "left": ((-1, 0, 0), (0, -1, 0), (0, 0, -1)),
    "down": ((0, 0, -1), (1, 0, 0), (0, 1, 0)),
}


@lru_cache(maxsize=8)
def stickers(size: int) -> np.ndarray:
    """Twice the place of each sticker's small cube, and where the sticker looks, int (6 * size * size, 6)."""
    found = []
    for face in FACES:
        outward, along, downward = (np.array(axis) for axis in AXES[face])
        for row, column in product(range(size), repeat=2):
            place = (size - 1) * outward + (2 * column - size + 1) * along + (2 * row - size + 1) * downward
            found.append(np.concatenate([place, outward]))
    return np.array(found)


def _quarter(axis: np.ndarray) -> np.ndarray:
    """The matrix of a quarter turn clockwise, as one looks at the cube from the tip of an axis."""
    x, y, z = (int(part) for part in axis)
    # -90 degrees around the axis: v -> (axis . v) axis + v x axis
    cross = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
    return np.outer(axis, axis) + cross


def _permutation(size: int, matrix: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """From where each sticker comes when those that move are turned by a matrix."""
    before = stickers(size)
    after = before.copy()
    after[moves] = np.concatenate([before[moves, :3] @ matrix.T, before[moves, 3:] @ matrix.T], axis=1)
    number = {tuple(place): k for k, place in enumerate(before.tolist())}
    found = np.zeros(len(before), np.int64)
    for k, place in enumerate(after.tolist()):
        found[number[tuple(place)]] = k
    return found


@lru_cache(maxsize=8)
def turns(size: int) -> np.ndarray:
    """From where each sticker comes in a turn, uint8 (turns, stickers).

    Turns are counted by face, then by depth of the layer, from the face on, then by amount.
    """
    found = []
    for face in FACES:
        outward = np.array(AXES[face][0])
        quarter = _quarter(outward)
        for depth in range(size // 2):
            moves = stickers(size)[:, :3] @ outward == size - 1 - 2 * depth
            once = _permutation(size, quarter, moves)
            found += [once, once[once][once], once[once]]
    return np.array(found, np.uint8)


@lru_cache(maxsize=8)
def rotations(size: int) -> np.ndarray:
    """The 24 ways to hold a cube, as turns of all of it."""
    everything = np.ones(len(stickers(size)), np.bool_)
    steps = [_permutation(size, _quarter(np.array(axis)), everything) for axis in ((0, 0, 1), (1, 0, 0))]
    found = [np.arange(len(everything))]
    for each in found:  # grows
        for step in steps:
            if not any(np.array_equal(each[step], known) for known in found):
                found.append(each[step])
    return np.array(found, np.uint8)


def turn_names(size: int) -> list[str]:
    """Of the turns, in their order: "up clockwise", "front 2 half" for the second layer."""
    depths = range(1, size // 2 + 1)
    return [
        f"{face}{f' {depth}' if depth > 1 else ''} {amount}" for face in FACES for depth in depths for amount in AMOUNTS
    ]


def inverse(turn: int) -> int:
    """The turn that takes another one back."""
    return (turn // 3) * 3 + (1, 0, 2)[turn % 3]
