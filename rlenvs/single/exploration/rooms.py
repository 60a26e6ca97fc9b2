"""The grids of MiniGrid's tasks: a function for each, which places walls, objects and the agent."""

from typing import Any

from rlenvs.core import below, between, choice, kernel
from rlenvs.kits.gridworld.cells import (
    BALL,
    BLUE,
    BOX,
    BY_NAME,
    CLOSED,
    EXIT,
    FIRE,
    GREEN,
    KEY,
    LOCKED,
    NOTHING,
    STONE,
    YELLOW,
    cell_at,
    door,
    free_cell,
    put,
    put_rectangle,
    put_room,
    thing,
)
from rlenvs.single.exploration.rooms_maze import (
    MAZE_SIDE,
    ROOM,
    make_maze,
    place_agent,
    place_facing_nothing,
    place_key,
    place_wanted_ball,
)

TASK = choice(
    "empty",
    "four_rooms",
    "door_key",
    "multi_room",
    "unlock_pickup",
    "obstructed_maze",
    "crossing",
    "dynamic_obstacles",
    "memory",
    doc="layout of the grid and goal of the task",
)
EMPTY_ROOM, FOUR_ROOMS, DOOR_KEY, MULTI_ROOM, UNLOCK, MAZE, CROSSING, DYNAMIC, MEMORY = TASK.codes(*TASK.values)
RIVER = choice("lava", "wall", doc='what the rivers are made of, for task="crossing"')
(OF_LAVA,) = RIVER.codes("lava")
LARGEST, MOST_ROOMS, MOST_BALLS = 31, 8, 32
SMALLEST = {"four_rooms": 9, "multi_room": 25, "crossing": 7, "memory": 7}
MISSIONS = {
    "empty": "get to the green goal square",
    "four_rooms": "reach the goal",
    "door_key": "use the key to open the door and then get to the goal",
    "multi_room": "traverse the rooms to get to the goal",
    "unlock_pickup": "pick up the box",
    "obstructed_maze": "pick up the blue ball",
    "crossing": "get to the green goal square",
    "dynamic_obstacles": "get to the green goal square",
    "memory": "go to the matching object at the end of the hallway",
}


def side_of(values: Any) -> int:
    """Columns and rows of a task's square grid: `grid_size`, or the next that the task can have."""
    side = max(values.grid_size, SMALLEST.get(values.task, 5))
    return side + 1 if values.task in ("crossing", "memory") and side % 2 == 0 else side


def grid_sizes(values: Any) -> tuple[int, int]:
    """Columns and rows of a task's grid."""
    if values.task == "obstructed_maze" and values.quarters:
        return MAZE_SIDE, MAZE_SIDE
    if values.task in ("unlock_pickup", "obstructed_maze"):
        return 2 * ROOM - 1, ROOM
    return side_of(values), side_of(values)


def rooms_entered(values: Any) -> int:
    """How many rooms the time limit of an obstructed maze allows for."""
    if not values.quarters:
        return 2
    return 7 * values.quarters - 3 + (values.quarters == 1 and values.start_in_middle)


def usual_steps(values: Any) -> int:
    """The time limit of a task, as MiniGrid has it."""
    size = side_of(values)
    return {
        "empty": 4 * size**2,
        "four_rooms": 100,
        "door_key": 10 * size**2,
        "multi_room": 20 * values.rooms,
        "unlock_pickup": 8 * ROOM**2,
        "obstructed_maze": 4 * rooms_entered(values) * ROOM**2,
        "crossing": 4 * size**2,
        "dynamic_obstacles": 4 * size**2,
        "memory": 5 * size**2,
    }[values.task]


@kernel
def place_start(p, s, rng):
    """The agent in the upper left corner, or anywhere."""
    if p.random_start:
        place_agent(p, s, rng, 0, 0, p.width, p.height)
    else:
        s.cell = cell_at(p, 1, 1)


@kernel
def make_empty(p, s, rng):
    """A room with the goal in its lower right corner; balls that move, where there are any."""
    put(p, s, p.width - 2, p.height - 2, EXIT)
    place_start(p, s, rng)
    if p.task == DYNAMIC:
        count = p.balls if 2 * p.balls <= p.width + 2 else p.width // 2
        s.balls = min(count, s.ball.size)
        for k in range(s.balls):
            s.ball[k] = free_cell(p, s, rng, 0, 0, p.width, p.height, 1)
            s.grid[s.ball[k]] = thing(BALL, BLUE)


@kernel
def make_four_rooms(p, s, rng):
    """Two walls that cross, each half with a gap."""
    wide, tall = p.width // 2, p.height // 2
    for half in range(2):
        top, left = half * tall, half * wide
        put_rectangle(p, s, wide, top, 1, tall, STONE)
        put(p, s, wide, between(rng, top + 1, top + tall), NOTHING)
        put_rectangle(p, s, left, tall, wide, 1, STONE)
        put(p, s, between(rng, left + 1, left + wide), tall, NOTHING)
    place_agent(p, s, rng, 0, 0, p.width, p.height)
    s.grid[free_cell(p, s, rng, 0, 0, p.width, p.height, 1)] = EXIT


@kernel
def make_door_key(p, s, rng):
    """A wall with a locked door; the agent and the key are on its left, the goal on its right."""
    put(p, s, p.width - 2, p.height - 2, EXIT)
    split = between(rng, 2, p.width - 2)
    put_rectangle(p, s, split, 0, 1, p.height, STONE)
    place_agent(p, s, rng, 0, 0, split, p.height)
    put(p, s, split, between(rng, 1, p.height - 2), door(YELLOW, LOCKED))
    s.grid[free_cell(p, s, rng, 0, 0, split, p.height, 1)] = thing(KEY, YELLOW)


# --- a chain of rooms -------------------------------------------------------------------------------------------------


@kernel
def room_fits(p, plan, count, left, top, wide, tall):
    """Whether a room lies on the grid and apart from all rooms of a plan but the last."""
    if left < 0 or top < 0 or left + wide > p.width or top + tall >= p.height:
        return False
    for k in range(count - 1):
        apart = left + wide < plan[k, 0] or plan[k, 0] + plan[k, 2] <= left
        if not (apart or top + tall < plan[k, 1] or plan[k, 1] + plan[k, 3] <= top):
            return False
    return True


@kernel
def add_room(p, rng, plan, count, wall, x, y):
    """Try to put a room behind a door, which is in its right, lower, left or upper wall (0 to 3); whether it fits."""
    wide, tall = between(rng, 4, p.largest_room + 1), between(rng, 4, p.largest_room + 1)
    left, top = x, y
    if count > 0 and wall % 2 == 0:
        left = x - wide + 1 if wall == 0 else x
        top = between(rng, y - tall + 2, y)
    elif count > 0:
        left = between(rng, x - wide + 2, x)
        top = y - tall + 1 if wall == 1 else y
    if not room_fits(p, plan, count, left, top, wide, tall):
        return False
    plan[count, 0], plan[count, 1], plan[count, 2], plan[count, 3] = left, top, wide, tall
    plan[count, 4], plan[count, 5] = x, y
    return True


@kernel
def plan_rooms(p, rng, plan):
    """A chain of rooms, each up to eight times tried to be put behind a door of the one before; how many there are."""
    x, y, wall, count = below(rng, p.width - 2), below(rng, p.width - 2), 2, 0
    if not add_room(p, rng, plan, 0, wall, x, y):
        return 0
    count = 1
    while count < p.rooms:
        last, placed = count - 1, False
        for _ in range(8):
            out = below(rng, 3)
            out += 1 if out >= wall else 0  # any wall but that of the entrance
            left, top, wide, tall = plan[last, 0], plan[last, 1], plan[last, 2], plan[last, 3]
            if out % 2 == 0:
                x, y = left + wide - 1 if out == 0 else left, top + between(rng, 1, tall - 1)
            else:
                x, y = left + between(rng, 1, wide - 1), top + tall - 1 if out == 1 else top
            if add_room(p, rng, plan, count, (out + 2) % 4, x, y):
                wall, placed = (out + 2) % 4, True
                break
        if not placed:
            return count
        count += 1
    return count


@kernel
def make_multi_room(p, s, rng):
    """A chain of rooms with closed doors between them; the goal is in the last. Chains are drawn until one is long
    enough; the longest counts where none of 1000 is."""
    most = 0
    for _ in range(1000):
        count = plan_rooms(p, rng, s.plan)
        if count > most:
            most = count
            for k in range(count):
                for j in range(6):
                    s.chain[k, j] = s.plan[k, j]
        if most >= p.rooms:
            break
    colour = -1
    for k in range(most):
        room = s.chain[k]
        put_room(p, s, room[0], room[1], room[2], room[3])
        if k > 0:
            new = BY_NAME[below(rng, 6)]
            while new == colour:
                new = BY_NAME[below(rng, 6)]
            colour = new
            put(p, s, room[4], room[5], door(colour, CLOSED))
    first, last = s.chain[0], s.chain[most - 1]
    place_agent(p, s, rng, first[0], first[1], first[2], first[3])
    s.grid[free_cell(p, s, rng, last[0], last[1], last[2], last[3], 1)] = EXIT


# --- two rooms with a locked door -------------------------------------------------------------------------------------


@kernel
def make_two_rooms(p, s, rng):
    """Two rooms; what is to be picked up lies on the right, behind a locked door. The key lies on the left, in the
    obstructed maze perhaps in a box, and perhaps with a ball in front of the door."""
    put_room(p, s, 0, 0, ROOM, ROOM)
    put_room(p, s, ROOM - 1, 0, ROOM, ROOM)
    row = between(rng, 1, ROOM - 1)
    s.cell = cell_at(p, ROOM - 1 + ROOM // 2, ROOM // 2)  # from where objects keep away
    colour = BY_NAME[below(rng, 6)]
    if p.task == UNLOCK:
        s.wanted = thing(BOX, BY_NAME[below(rng, 6)])
        s.grid[free_cell(p, s, rng, ROOM - 1, 0, ROOM, ROOM, 2)] = s.wanted
    put(p, s, ROOM - 1, row, door(colour, LOCKED))
    if p.task == MAZE and p.blocked:
        put(p, s, ROOM - 2, row, thing(BALL, GREEN))
    place_key(p, s, rng, 0, 0, colour, p.task == MAZE and p.key_in_box)
    if p.task == MAZE:
        place_wanted_ball(p, s, rng, ROOM - 1, 0)
    place_facing_nothing(p, s, rng, 0, 0)


# --- rivers, memory ---------------------------------------------------------------------------------------------------


@kernel
def next_river(rivers, size, after):
    """The first river behind a line, or the border."""
    line = after + 1
    while line < size - 1 and not rivers[line]:
        line += 1
    return line


@kernel
def make_crossing(p, s, rng):
    """Rivers across the room, each with one gap, so that a way leads to the goal."""
    size = p.width
    down, across = s.lines[0], s.lines[1]  # 1 where a river takes a column, a row
    for line in range(size):
        down[line], across[line] = 0, 0
    each, downs, acrosses = (size - 3) // 2, 0, 0
    while downs + acrosses < min(p.crossings, 2 * each):
        drawn = below(rng, 2 * each)
        line = 2 + 2 * (drawn % each)
        if drawn < each and not down[line]:
            down[line] = 1
            downs += 1
        elif drawn >= each and not across[line]:
            across[line] = 1
            acrosses += 1
    what = FIRE if p.river == OF_LAVA else STONE
    for line in range(2, size - 2, 2):
        if across[line]:
            put_rectangle(p, s, 1, line, size - 2, 1, what)
        if down[line]:
            put_rectangle(p, s, line, 1, 1, size - 2, what)
    s.cell = cell_at(p, 1, 1)
    put(p, s, size - 2, size - 2, EXIT)
    left, top = 0, 0
    while downs + acrosses > 0:
        right, bottom = next_river(down, size, left), next_river(across, size, top)
        if below(rng, downs + acrosses) < downs:
            put(p, s, right, between(rng, top + 1, bottom), NOTHING)
            left = right
            downs -= 1
        else:
            put(p, s, between(rng, left + 1, right), bottom, NOTHING)
            top = bottom
            acrosses -= 1


@kernel
def make_memory(p, s, rng):
    """A room with an object, a hallway, and at its end two objects, one of them the same."""
    size = p.width
    middle, end = size // 2, size - 3
    if p.random_length:
        end = between(rng, 4, size - 2)
    for x in range(1, 5):
        put(p, s, x, middle - 2, STONE)
        put(p, s, x, middle + 2, STONE)
    for x in range(4, max(end, 5)):
        put(p, s, x, middle - 1, STONE)
        put(p, s, x, middle + 1, STONE)
    for y in range(size):
        if y != middle:
            put(p, s, end, y, STONE)
        put(p, s, end + 2, y, STONE)
    s.cell = cell_at(p, between(rng, 1, end + 1), middle)
    if p.random_start:
        s.direction = below(rng, 4)
    first = below(rng, 2)
    upper = below(rng, 2)
    put(p, s, 1, middle - 1, thing(KEY + first, GREEN))
    put(p, s, end + 1, middle - 2, thing(KEY + upper, GREEN))
    put(p, s, end + 1, middle + 2, thing(KEY + 1 - upper, GREEN))
    above, under = cell_at(p, end + 1, middle - 1), cell_at(p, end + 1, middle + 1)
    s.right_end, s.wrong_end = (above, under) if first == upper else (under, above)


@kernel
def make_grid(p, s, rng):
    """The grid of an episode."""
    if p.task != MULTI_ROOM:  # whose rooms have their own walls
        put_rectangle(p, s, 0, 0, p.width, p.height, NOTHING)
        put_room(p, s, 0, 0, p.width, p.height)
    else:
        put_rectangle(p, s, 0, 0, p.width, p.height, NOTHING)
    if p.task == EMPTY_ROOM or p.task == DYNAMIC:
        make_empty(p, s, rng)
    elif p.task == FOUR_ROOMS:
        make_four_rooms(p, s, rng)
    elif p.task == DOOR_KEY:
        make_door_key(p, s, rng)
    elif p.task == MULTI_ROOM:
        make_multi_room(p, s, rng)
    elif p.task == CROSSING:
        make_crossing(p, s, rng)
    elif p.task == MEMORY:
        make_memory(p, s, rng)
    elif p.task == MAZE and p.quarters > 0:
        make_maze(p, s, rng)
    else:
        make_two_rooms(p, s, rng)
