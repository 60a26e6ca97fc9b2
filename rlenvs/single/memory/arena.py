"""The arena of Mortar Mayhem: tiles, commands and their symbols, drawn in code."""

import math

import numpy as np

from rlenvs.core import kernel
from rlenvs.kits.raster.draw import copy_image, copy_patch, line, outline, rectangle, ring, stamp
from rlenvs.single.memory.agent import SIDE, draw_agent

TILE = 14  # px
BLUE, LIGHT_BLUE, RED, LIGHT_RED, WHITE = (21, 43, 77), (29, 60, 107), (81, 18, 26), (112, 24, 36), (255, 255, 255)
COMMANDS = ("right", "down", "left", "up", "stay", "right down", "right up", "left down", "left up")
COMMAND_X = (1, 0, -1, 0, 0, 1, 1, -1, -1)
COMMAND_Y = (0, 1, 0, -1, 0, 1, -1, 1, -1)
SYMBOL, TURNED = 22, 31  # px of a symbol, and of one turned by 45 degrees
CORNER = (SIDE - SYMBOL) // 2  # upper left corner of all symbols, so that turned ones are a little off the centre


def make_arena(size: int, colors: tuple[tuple[int, int, int], tuple[int, int, int]]) -> np.ndarray:
    """The screen with nothing but the tiles."""
    image = np.zeros((SIDE, SIDE, 3), np.uint8)
    first = (SIDE - TILE * size) // 2
    for row in range(size):
        for column in range(size):
            place = first + TILE * column, first + TILE * row, TILE, TILE
            rectangle(image, *place, colors[0])
            outline(image, *place, 1, colors[1])
    return image


def _turned(mask: np.ndarray, degrees: int) -> np.ndarray:
    """A square mask turned to the left about its center, in a square that holds it; the nearest pixel."""
    if degrees % 90 == 0:
        return np.rot90(mask, degrees // 90)
    rows, columns = np.mgrid[0:TURNED, 0:TURNED] - (TURNED - 1) / 2
    cosine, sine = (math.copysign(math.sqrt(0.5), part) for part in _signs(degrees))
    x = np.floor(cosine * columns - sine * rows + SYMBOL / 2).astype(int)
    y = np.floor(sine * columns + cosine * rows + SYMBOL / 2).astype(int)
    inside = (x >= 0) & (x < SYMBOL) & (y >= 0) & (y < SYMBOL)
    turned = np.zeros((TURNED, TURNED), bool)
    turned[inside] = mask[y[inside], x[inside]]
    return turned


def _signs(degrees: int) -> tuple[int, int]:
    """Signs of cosine and sine of 45, 135, 225, 315 degrees."""
    return (1 if degrees in (45, 315) else -1), (1 if degrees < 180 else -1)


def make_symbols() -> np.ndarray:
    """A mask of each command's symbol, (commands, 31, 31), in its upper left corner."""
    arrow, circle = (np.zeros((SYMBOL, SYMBOL, 3), np.uint8) for _ in range(2))
    middle, tip = 10, 20
    line(arrow, 0, middle, tip, middle, 2, WHITE)
    line(arrow, tip, middle, middle, 0, 2, WHITE)
    line(arrow, tip, middle, middle, tip, 2, WHITE)
    ring(circle, middle, middle, middle, 2, WHITE)
    line(circle, 0, middle - 1, tip - 1, middle - 1, 2, WHITE)
    symbols = np.zeros((len(COMMANDS), TURNED, TURNED), np.uint8)
    for command, degrees in enumerate((0, 270, 180, 90, None, 315, 45, 225, 135)):
        mask = circle[:, :, 0] > 0 if degrees is None else _turned(arrow[:, :, 0] > 0, degrees)
        symbols[command, : mask.shape[0], : mask.shape[1]] = mask
    return symbols


@kernel
def first_pixel(p):
    """Where the arena begins, in both axes."""
    return (SIDE - TILE * p.arena_size) // 2


@kernel
def tile_at(p, pixel):
    """The row or column of a pixel; outside of 0 ... arena_size - 1 beside the arena."""
    return (pixel - first_pixel(p)) // TILE


@kernel
def middle_of(p, tile):
    """The middle of a row or column, px."""
    return first_pixel(p) + TILE * tile + TILE // 2


@kernel
def draw_arena(p, s, image, scale):
    """What the player sees."""
    if s.burning and p.visual_feedback:
        copy_image(image, p.burnt)
        first = first_pixel(p)
        copy_patch(image, p.calm, first + TILE * s.target_x, first + TILE * s.target_y, TILE, TILE)
    else:
        copy_image(image, p.calm)
    draw_agent(image, s.x, s.y, s.facing, scale)
    if s.cue >= 0:
        stamp(image, p.symbols[s.cue], CORNER, CORNER, WHITE)
