"""What Karel perceives and does: five perceptions, five actions, on a grid of walls and markers.

Directions are 0 north (up), 1 east, 2 south, 3 west, rows go down, columns right; the border is wall. In Snake and
OneStroke a move leaves a trail: two markers for a cell of the snake, a wall for a cell of the stroke.
"""

from rlenvs.core import below, choice, kernel

ACTIONS = ("move", "turnLeft", "turnRight", "pickMarker", "putMarker")
PERCEPTIONS = ("frontIsClear", "leftIsClear", "rightIsClear", "markersPresent", "noMarkersPresent")
MOVE, TURN_LEFT, TURN_RIGHT, PICK, PUT = range(5)
NORTH, EAST, SOUTH, WEST = range(4)
DOWN, RIGHT = (-1, 0, 1, 0), (0, 1, 0, -1)  # rows and columns of a move in each direction

TASK = choice(
    *("maze", "stair_climber", "four_corners", "top_off", "clean_house"),
    *("harvester", "door_key", "one_stroke", "seeder", "snake"),
    doc="what is to be done",
)
MAZE, STAIR_CLIMBER, FOUR_CORNERS, TOP_OFF, CLEAN_HOUSE = TASK.codes(*TASK.values[:5])
HARVESTER, DOOR_KEY, ONE_STROKE, SEEDER, SNAKE = TASK.codes(*TASK.values[5:])
CRASH = choice(
    "turn_around",
    "stay",
    "end",
    doc="what a move into a wall does: turn Karel around, as published; nothing; or end the episode, as then also does "
    "to pick where there is no marker, and to put where no more fit",
)
TURN_AROUND, STAY, END_EPISODE = CRASH.codes(*CRASH.values)
FIRST_LENGTH, MEALS = 2, 20  # of the snake
LONGEST = FIRST_LENGTH + MEALS
BODY = 2  # markers on a cell of the snake


@kernel
def is_clear(s, direction):
    """Whether the next cell in a direction is no wall."""
    return s.wall[s.row + DOWN[direction], s.column + RIGHT[direction]] == 0


@kernel
def perceives(s, perception):
    """Whether one of `PERCEPTIONS` is true."""
    if perception < 3:
        return is_clear(s, (s.direction + (0, 3, 1)[perception]) % 4)
    return (s.markers[s.row, s.column] > 0) == (perception == 3)


@kernel
def is_free(s, cell):
    """Whether nothing is on a cell: no wall, no marker, not Karel."""
    row, column = cell // s.wall.shape[1], cell % s.wall.shape[1]
    here = row == s.row and column == s.column
    return s.wall[row, column] == 0 and s.markers[row, column] == 0 and not here


@kernel
def place_meal(p, s, rng):
    """A marker for the snake: on the next free cell of the published row, or on any free cell."""
    chosen = -1
    for _ in range(p.meals.size):
        cell = int(p.meals[s.next_meal])
        s.next_meal = (s.next_meal + 1) % p.meals.size
        if is_free(s, cell):
            chosen = cell
            break
    if p.meals.size == 0:
        free = 0
        for cell in range(s.wall.size):
            free += 1 if is_free(s, cell) else 0
        skipped = below(rng, free)
        for cell in range(s.wall.size):
            if is_free(s, cell):
                if skipped == 0:
                    chosen = cell
                skipped -= 1
    if chosen >= 0:
        s.markers[chosen // s.wall.shape[1], chosen % s.wall.shape[1]] = 1


@kernel
def crawl(p, s, row, column, rng):
    """The snake has moved on from a cell, and eats, bites itself, or draws its tail after it."""
    columns = s.wall.shape[1]
    s.markers[row, column] = BODY
    ahead = s.markers[s.row, s.column]
    if ahead == BODY:
        s.bitten = True
        return
    s.body[s.segments] = row * columns + column
    s.segments += 1
    if ahead == 1 and s.length < LONGEST:
        s.length += 1
        s.markers[s.row, s.column] = 0
        place_meal(p, s, rng)
    if s.segments > s.length:
        tail = int(s.body[0])
        s.markers[tail // columns, tail % columns] = 0
        s.segments -= 1
        for k in range(s.segments):
            s.body[k] = s.body[k + 1]


@kernel
def move(p, s, rng):
    """Go to the next cell. Returns whether a wall is there."""
    if not is_clear(s, s.direction):
        if p.crash == TURN_AROUND:
            s.direction = (s.direction + 2) % 4
        return True
    row, column = int(s.row), int(s.column)
    s.row = row + DOWN[s.direction]
    s.column = column + RIGHT[s.direction]
    if p.task == ONE_STROKE:
        s.wall[row, column] = 1
        s.markers[row, column] = 0
        s.visited += 1
    elif p.task == SNAKE:
        crawl(p, s, row, column, rng)
    return False


@kernel
def act(p, s, action, rng):
    """Carry out one of `ACTIONS`. Returns whether it failed: a wall, nothing to pick, or no room for a marker."""
    if action == MOVE:
        return move(p, s, rng)
    if action == TURN_LEFT:
        s.direction = (s.direction + 3) % 4
        return False
    if action == TURN_RIGHT:
        s.direction = (s.direction + 1) % 4
        return False
    here = int(s.markers[s.row, s.column])
    after = here - 1 if action == PICK else here + 1
    if after < 0 or after > p.capacity:
        return True
    s.markers[s.row, s.column] = after
    s.marked += (1 if after > 0 else 0) - (1 if here > 0 else 0)
    return False
