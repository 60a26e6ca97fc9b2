"""Rooms as kernels: carved by a random walker, then played backwards, so every room can be solved."""

from rlenvs.core import below, kernel, uniform

DOWNWARD, RIGHTWARD = (-1, 0, 1, 0), (0, 1, 0, -1)  # rows and columns of up, right, down, left
TURN, PULL, CROOKED = 0.35, 0.8, 0.5
FLOOR_SHARE = 0.45  # of the inside, before the walker stops
STEPS_PER_CELL, TRIES = 12, 50


@kernel
def floor_of(height, width):
    """How many cells the walker makes floor."""
    return int(FLOOR_SHARE * (height - 2) * (width - 2))


@kernel
def carve(wall, rng):
    """Fill the room with walls and let a walker dig corridors and corners."""
    height, width = wall.shape
    for r in range(height):
        for c in range(width):
            wall[r, c] = 1
    row, column = 1 + below(rng, height - 2), 1 + below(rng, width - 2)
    direction, floor = below(rng, 4), 0
    while floor < floor_of(height, width):
        floor += dig(wall, row, column)
        if uniform(rng, 0.0, 1.0) < CROOKED:
            floor += dig(wall, row + 1 - 2 * below(rng, 2), column)
        if uniform(rng, 0.0, 1.0) < CROOKED:
            floor += dig(wall, row, column + 1 - 2 * below(rng, 2))
        if uniform(rng, 0.0, 1.0) < TURN:
            direction = below(rng, 4)
        row = min(max(row + DOWNWARD[direction], 1), height - 2)
        column = min(max(column + RIGHTWARD[direction], 1), width - 2)


@kernel
def dig(wall, row, column):
    """Make a cell floor, but for the border; returns 1 where it was wall."""
    if 0 < row < wall.shape[0] - 1 and 0 < column < wall.shape[1] - 1 and wall[row, column]:
        wall[row, column] = 0
        return 1
    return 0


@kernel
def free_cell(s, rng):
    """A floor cell without a box, drawn uniformly."""
    height, width = s.wall.shape
    cell = below(rng, height * width)
    while s.wall[cell // width, cell % width] or s.box[cell // width, cell % width]:
        cell = below(rng, height * width)
    return cell


@kernel
def place(s, boxes, rng):
    """Boxes on their targets, and the player."""
    width = s.wall.shape[1]
    for r in range(s.wall.shape[0]):
        for c in range(width):
            s.box[r, c] = 0
            s.target[r, c] = 0
    for k in range(boxes):
        cell = free_cell(s, rng)
        s.box[cell // width, cell % width] = 1
        s.target[cell // width, cell % width] = 1
        s.origin[k] = cell
        s.current[k] = cell
    s.player = free_cell(s, rng)


@kernel
def play_backwards(s, boxes, rng):
    """Walk at random and pull boxes along; ends where the boxes were farthest from their targets. Returns how far."""
    width, far, farthest = s.wall.shape[1], 0, 0
    wall, box, target, player = s.wall.ravel(), s.box.ravel(), s.target.ravel(), int(s.player)
    for _ in range(STEPS_PER_CELL * wall.size):
        direction = below(rng, 4)
        step = DOWNWARD[direction] * width + RIGHTWARD[direction]
        free = 1 - int(wall[player + step] | box[player + step])  # branches that nobody can foretell are slow
        behind = player - step
        if box[behind] & free and uniform(rng, 0.0, 1.0) < PULL:
            box[behind], box[player] = 0, 1
            loose = 0
            for k in range(boxes):
                if s.current[k] == behind:
                    far += apart(player, s.origin[k], width) - apart(behind, s.origin[k], width)
                    s.current[k] = player
                loose += 0 if target[s.current[k]] else 1
            if far + loose * width > farthest:
                farthest = far + loose * width
                s.best_player = player + step
                for k in range(boxes):
                    s.best[k] = s.current[k]
        player += step * free
    return farthest


@kernel
def apart(cell, other, width):
    """Rows and columns between two cells."""
    return abs(cell // width - other // width) + abs(cell % width - other % width)


@kernel
def make_room(s, boxes, rng):
    """A room that can be solved, with every box off the targets if that is found."""
    height, width = s.wall.shape
    for _ in range(TRIES):
        carve(s.wall, rng)
        place(s, boxes, rng)
        farthest = play_backwards(s, boxes, rng)
        if farthest == 0:
            continue
        for r in range(height):
            for c in range(width):
                s.box[r, c] = 0
        for k in range(boxes):
            s.box[s.best[k] // width, s.best[k] % width] = 1
        s.player = s.best_player
        if farthest >= boxes * width:
            return


@kernel
def count_pushes(s):
    """Put into `pushes` of each cell 1 + the pushes that would bring a box from there to the nearest target, were it
    alone and the player anywhere; 0 where none do. Pushes backwards from the targets."""
    height, width = s.wall.shape
    first, last = 0, 0
    for r in range(height):
        for c in range(width):
            s.pushes[r, c] = 1 if s.target[r, c] else 0
            if s.target[r, c]:
                s.queue[last] = r * width + c
                last += 1
    while first < last:
        row, column = s.queue[first] // width, s.queue[first] % width
        first += 1
        for d in range(4):
            r, c = row - DOWNWARD[d], column - RIGHTWARD[d]
            if s.wall[r, c] or s.pushes[r, c] or s.wall[r - DOWNWARD[d], c - RIGHTWARD[d]]:
                continue
            s.pushes[r, c] = s.pushes[row, column] + 1
            s.queue[last] = r * width + c
            last += 1
