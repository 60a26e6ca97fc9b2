"""The nine rooms of MiniGrid's larger obstructed mazes, and what they share with its two rooms."""

from rlenvs.core import below, between, kernel
from rlenvs.kits.gridworld.cells import (
    ACROSS,
    BALL,
    BLUE,
    BY_NAME,
    CLOSED,
    DOWN,
    GREEN,
    GREY,
    KEY,
    LOCKED,
    NOTHING,
    STONE,
    cell_at,
    door,
    filled_box,
    free_cell,
    kind_of,
    put_room,
    thing,
)
from rlenvs.kits.gridworld.rules import ahead_of

ROOM = 6  # columns and rows of a room, with its walls
MAZE_SIDE = 3 * (ROOM - 1) + 1  # columns and rows of nine rooms, which share walls


@kernel
def place_agent(p, s, rng, left, top, wide, tall):
    """The agent on an empty cell of a rectangle, in a random direction."""
    s.cell = 0
    s.cell = free_cell(p, s, rng, left, top, wide, tall, 1)
    s.direction = below(rng, 4)


@kernel
def place_facing_nothing(p, s, rng, left, top):
    """The agent in a room, not in front of any object."""
    for _ in range(1000):
        place_agent(p, s, rng, left, top, ROOM, ROOM)
        front = s.grid[ahead_of(p, s.cell, s.direction)]
        if front == NOTHING or kind_of(front) == kind_of(STONE):
            break


@kernel
def place_key(p, s, rng, left, top, colour, hidden):
    """A key somewhere in a room, or a box that hides it."""
    key = filled_box(GREY, colour) if hidden else thing(KEY, colour)
    s.grid[free_cell(p, s, rng, left, top, ROOM, ROOM, 2)] = key


@kernel
def place_wanted_ball(p, s, rng, left, top):
    """The blue ball, which is to be picked up, somewhere in a room."""
    s.wanted = thing(BALL, BLUE)
    s.grid[free_cell(p, s, rng, left, top, ROOM, ROOM, 2)] = s.wanted


@kernel
def drawn_place(p, rng, left, top, wall):
    """A cell of a room's right, lower, left or upper wall (0 to 3), but for the corners."""
    along = between(rng, 1, ROOM - 1)
    if wall % 2 == 0:
        return cell_at(p, left + (ROOM - 1 if wall == 0 else 0), top + along)
    return cell_at(p, left + along, top + (ROOM - 1 if wall == 1 else 0))


@kernel
def make_maze(p, s, rng):
    """Nine rooms. A closed door leads from the middle to the side room of each quarter, and two locked doors from there
    to the corners beside it; the keys lie in the side room. The wanted ball is in the first corner of a quarter."""
    step = ROOM - 1
    for room in range(9):
        put_room(p, s, room % 3 * step, room // 3 * step, ROOM, ROOM)
    s.cell = cell_at(p, step + ROOM // 2, step + ROOM // 2)  # from where objects keep away
    colours = s.plan[0]
    for k in range(6):
        other = below(rng, k + 1)
        colours[k] = colours[other]
        colours[other] = BY_NAME[k]
    for quarter in range(p.quarters):
        left, top = (1 + ACROSS[quarter]) * step, (1 + DOWN[quarter]) * step
        s.grid[drawn_place(p, rng, step, step, quarter)] = door(colours[quarter], CLOSED)
        for side in range(-1, 2, 2):
            wall = (quarter + side + 4) % 4
            cell = drawn_place(p, rng, left, top, wall)
            s.grid[cell] = door(colours[(quarter + side + 6) % 6], LOCKED)
            if p.blocked:
                s.grid[ahead_of(p, cell, (wall + 2) % 4)] = thing(BALL, GREEN)
        for side in range(-1, 2, 2):
            place_key(p, s, rng, left, top, colours[(quarter + side + 6) % 6], p.key_in_box)
    corner = below(rng, p.quarters)
    place_wanted_ball(p, s, rng, 2 * step if corner < 2 else 0, 2 * step if corner == 1 or corner == 2 else 0)
    place_facing_nothing(p, s, rng, step if p.start_in_middle else 2 * step, step)
