"""Hidden paths of Mystery Path: how they are drawn at random, and what can be seen.

A path is found in a square of 7 x 7 tiles with some walls by a best-first search whose steps cost 1 to 8 at random, so
that it winds. Tiles are numbered column by column: 7 * column + row.
"""

import math

import numpy as np

from rlenvs.core import below, f8, i1, i2, kernel, u1
from rlenvs.kits.raster.draw import line

SIZE, TILE = 7, 12  # tiles of a side, px of a tile
TILES = SIZE * SIZE
MIDDLE = TILE // 2
WALL_PERCENT = 33
TRIES = 1000
UNSEEN, OPEN, CLOSED = 0, 1, 2
STEP_X, STEP_Y = (1, -1, 0, 0), (0, 0, 1, -1)  # east, west, south, north: the order of the search
RED, GREEN, BLUE, WHITE, PALE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (210, 210, 210)
CROSS = 10  # px

SEARCH_STATE = {
    "wall": u1(TILES),
    "candidates": i1(TILES),
    "stage": u1(TILES),  # of the search
    "spent": i2(TILES),
    "promise": f8(TILES),
    "before": i1(TILES),  # the tile from which each was reached
    "queue": i1(TILES),
    "found": i1(TILES),  # the path, from its end to its beginning
}


def make_cross() -> np.ndarray:
    """A mask of the sign for a fall."""
    image = np.zeros((CROSS, CROSS, 3), np.uint8)
    line(image, 0, 0, CROSS - 1, CROSS - 1, 3, WHITE)
    line(image, CROSS - 1, 0, 0, CROSS - 1, 3, WHITE)
    return (image[:, :, 0] > 0).astype(np.uint8)


@kernel
def is_border(tile):
    column, row = tile // SIZE, tile % SIZE
    return column == 0 or column == SIZE - 1 or row == 0 or row == SIZE - 1


@kernel
def apart(tile, other):
    """Steps between two tiles."""
    return abs(tile // SIZE - other // SIZE) + abs(tile % SIZE - other % SIZE)


@kernel
def touches_wall(s, tile):
    """Whether one of the eight tiles around is a wall."""
    column, row = tile // SIZE, tile % SIZE
    found = False
    for x in range(max(column - 1, 0), min(column + 2, SIZE)):
        for y in range(max(row - 1, 0), min(row + 2, SIZE)):
            found = found or (s.wall[SIZE * x + y] > 0 and SIZE * x + y != tile)
    return found


@kernel
def build_walls(s, rng, start, goal):
    """Walls inside, and a few at the border, away from those, from the start and from the goal."""
    for tile in range(TILES):
        column, row = tile // SIZE, tile % SIZE
        inside = 0 < column < SIZE - 2 and 0 < row < SIZE - 2
        s.wall[tile] = 1 if inside and below(rng, 100) < WALL_PERCENT else 0
    count = 0
    for tile in range(TILES):
        if is_border(tile) and apart(tile, start) > 1 and apart(tile, goal) > 1 and not touches_wall(s, tile):
            s.candidates[count] = tile
            count += 1
    for _ in range(4 if below(rng, 2) == 0 else 8):
        if count > 0:
            k = below(rng, count)
            s.wall[s.candidates[k]] = 1
            count -= 1
            s.candidates[k] = s.candidates[count]


@kernel
def next_of_queue(s, count):
    """The first one, unless there is a better one: then the first of these. It leaves the queue."""
    best = 0
    for k in range(1, count):
        if s.promise[s.queue[k]] < s.promise[s.queue[0]]:
            best = k
            break
    tile = int(s.queue[best])
    for k in range(best, count - 1):
        s.queue[k] = s.queue[k + 1]
    return tile


@kernel
def search(s, rng, start, goal):
    """Whether there is a path; then `before` leads back from the goal."""
    for tile in range(TILES):
        s.stage[tile] = UNSEEN
        s.before[tile] = -1
    s.queue[0] = start
    s.stage[start] = OPEN
    s.spent[start] = 0
    s.promise[start] = 0.0
    count = 1
    while count > 0:
        here = next_of_queue(s, count)
        count -= 1
        if here == goal:
            return True
        s.stage[here] = CLOSED
        for k in range(4):
            column, row = here // SIZE + STEP_X[k], here % SIZE + STEP_Y[k]
            if not (0 <= column < SIZE and 0 <= row < SIZE):
                continue
            tile = SIZE * column + row
            if s.wall[tile] or s.stage[tile] == CLOSED:
                continue
            spent = s.spent[here] + 1 + below(rng, 8)
            if s.stage[tile] == UNSEEN:
                s.stage[tile] = OPEN
                s.spent[tile] = spent
                across, down = column - goal // SIZE, row - goal % SIZE
                s.promise[tile] = spent + math.sqrt(float(across * across + down * down))
                s.before[tile] = here
                s.queue[count] = tile
                count += 1
            elif spent < s.spent[tile]:  # as in the original, the way changes and its cost does not
                s.before[tile] = here
    return False


@kernel
def find_path(s, rng, start, goal):
    """Draw a path into `found`, from the goal to the start. Returns its length."""
    for _ in range(TRIES):
        build_walls(s, rng, start, goal)
        if search(s, rng, start, goal):
            break
    length = 0
    tile = goal
    while tile >= 0 and length < TILES:
        s.found[length] = tile
        length += 1
        tile = int(s.before[tile])
    return length
