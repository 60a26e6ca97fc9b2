"""How the tasks begin."""

from rlenvs.core import below, kernel
from rlenvs.single.karel.rules import (
    BODY,
    CLEAN_HOUSE,
    DOOR_KEY,
    DOWN,
    EAST,
    FIRST_LENGTH,
    HARVESTER,
    MAZE,
    ONE_STROKE,
    RIGHT,
    SEEDER,
    SNAKE,
    STAIR_CLIMBER,
    TOP_OFF,
    place_meal,
)


@kernel
def mark(s, row, column, count):
    """Put markers on an empty cell."""
    s.markers[row, column] = count
    s.marked += 1


@kernel
def face(s, row, column, direction):
    """Put Karel somewhere."""
    s.row, s.column, s.direction = row, column, direction


@kernel
def shuffle_ways(rng, ways):
    """The four directions in random order."""
    for k in range(4):
        ways[k] = k
    for k in range(3):
        j = k + below(rng, 4 - k)
        other = int(ways[j])
        ways[j] = ways[k]
        ways[k] = other


@kernel
def dig_maze(s, rng):
    """A maze without circles, from the lower left corner: each cell opens ways to its untouched neighbors two cells
    away, in random order, and then the last of them goes on."""
    rows, columns = s.wall.shape
    s.wall[rows - 2, 1] = 0
    s.stack[0] = (rows - 2) * columns + 1
    height = 1
    while height > 0:
        height -= 1
        row, column = int(s.stack[height]) // columns, int(s.stack[height]) % columns
        shuffle_ways(rng, s.ways)
        for k in range(4):
            down, right = DOWN[s.ways[k]], RIGHT[s.ways[k]]
            r, c = row + 2 * down, column + 2 * right
            if 0 < r < rows - 1 and 0 < c < columns - 1 and s.wall[r, c] == 1:
                s.wall[row + down, column + right] = 0
                s.wall[r, c] = 0
                s.stack[height] = r * columns + c
                height += 1


@kernel
def begin_maze(s, rng):
    """Dig a maze, and put the marker on any cell but Karel's."""
    rows, columns = s.wall.shape
    dig_maze(s, rng)
    while s.marked == 0:
        row, column = 1 + below(rng, rows - 2), 1 + below(rng, columns - 2)
        if s.wall[row, column] == 0 and not (row == s.row and column == s.column):
            s.goal_row, s.goal_column = row, column
            mark(s, row, column, 1)


@kernel
def begin_stairs(p, s, rng):
    """Karel on a step, and the marker on a higher one."""
    count = p.places.shape[0]
    first, second = below(rng, count), below(rng, count - 1)
    if second >= first:
        second += 1
    lower, upper = min(first, second), max(first, second)
    face(s, int(p.places[lower, 0]), int(p.places[lower, 1]), EAST)
    s.goal_row, s.goal_column = p.places[upper, 0], p.places[upper, 1]
    mark(s, int(s.goal_row), int(s.goal_column), 1)


@kernel
def begin_house(p, s, rng):
    """Some of the places beside walls, each set of them as likely as any other; two markers next to Karel."""
    left = p.litter
    for k in range(p.places.shape[0]):
        if below(rng, p.places.shape[0] - k) < left:
            row, column = int(p.places[k, 0]), int(p.places[k, 1])
            s.wanted[row, column] = 1
            mark(s, row, column, 1)
            left -= 1
    mark(s, s.row + 1, s.column - 1, 2)


@kernel
def begin_door_key(s, rng):
    """Karel and a marker, the key, on the left of the door; another marker on its right."""
    rows, columns = s.wall.shape
    door = columns // 2
    face(s, 1 + below(rng, rows - 2), 1 + below(rng, door - 1), EAST)
    s.key_row, s.key_column = 1 + below(rng, rows - 2), 1 + below(rng, door - 1)
    s.goal_row, s.goal_column = 1 + below(rng, rows - 2), door + 1 + below(rng, columns - door - 2)
    mark(s, int(s.key_row), int(s.key_column), 1)
    mark(s, int(s.goal_row), int(s.goal_column), 1)


@kernel
def begin_snake(p, s, rng):
    """A snake of two cells behind Karel, and its first meal at the end of the row, or anywhere."""
    columns = s.wall.shape[1]
    s.length = s.segments = FIRST_LENGTH
    for k in range(FIRST_LENGTH):
        s.body[k] = columns + 1 + k
        s.markers[1, 1 + k] = BODY
    if p.random_start:
        place_meal(p, s, rng)
    else:
        s.markers[1, columns - 2] = 1


@kernel
def begin(p, s, rng):
    """Walls, markers and Karel at the start."""
    rows, columns = s.wall.shape
    for row in range(rows):
        for column in range(columns):
            s.wall[row, column] = p.plan[row, column]
    start = below(rng, p.starts.shape[0])
    face(s, int(p.starts[start, 0]), int(p.starts[start, 1]), int(p.starts[start, 2]))
    anywhere = p.task == ONE_STROKE or (p.random_start and (p.task == HARVESTER or p.task == SEEDER))
    if anywhere:
        direction = EAST if p.task == ONE_STROKE else below(rng, 4)
        face(s, 1 + below(rng, rows - 2), 1 + below(rng, columns - 2), direction)
    s.visited = 1
    if p.task == MAZE:
        begin_maze(s, rng)
    elif p.task == STAIR_CLIMBER:
        begin_stairs(p, s, rng)
    elif p.task == TOP_OFF:
        for column in range(1, columns - 2):
            if below(rng, 100) < p.marker_percent:
                s.wanted[rows - 2, column] = 1
                mark(s, rows - 2, column, 1)
    elif p.task == CLEAN_HOUSE:
        begin_house(p, s, rng)
    elif p.task == HARVESTER:
        for row in range(1, rows - 1):
            for column in range(1, columns - 1):
                mark(s, row, column, 1)
    elif p.task == DOOR_KEY:
        begin_door_key(s, rng)
    elif p.task == SNAKE:
        begin_snake(p, s, rng)
    s.far = abs(int(s.row) - int(s.goal_row)) + abs(int(s.column) - int(s.goal_column))
