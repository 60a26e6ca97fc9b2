"""Cells of a grid, each a whole number that holds kind, color, state and what is hidden inside; and how they are seen.

Kinds, colors and states have the numbers of MiniGrid. A grid is a flat array of columns, padded so that no view leaves
it: the cell at column x and row y is (x + pad) * stride + y + pad. What lies outside, all zero, is seen as wall. The
numbers of directions are 0 right, 1 down, 2 left, 3 up.
"""

from rlenvs.core import between, kernel

UNSEEN, EMPTY, WALL, FLOOR, DOOR, KEY, BALL, BOX, GOAL, LAVA, AGENT = range(11)
RED, GREEN, BLUE, PURPLE, YELLOW, GREY = range(6)
BY_NAME = (BLUE, GREEN, GREY, PURPLE, RED, YELLOW)  # the colours in the order of their names
OPEN, CLOSED, LOCKED = range(3)
ACROSS, DOWN = (1, 0, -1, 0), (0, 1, 0, -1)  # columns and rows of a step in each direction

NOTHING = EMPTY
STONE = WALL | GREY << 4
EXIT = GOAL | GREEN << 4
FIRE = LAVA | RED << 4


@kernel
def thing(kind, colour):
    """The number of a cell with an object."""
    return kind | colour << 4


@kernel
def door(colour, state):
    """The number of a cell with a door."""
    return DOOR | colour << 4 | state << 7


@kernel
def filled_box(colour, key_colour):
    """The number of a cell with a box that hides a key."""
    return BOX | colour << 4 | (1 + key_colour) << 9


@kernel
def kind_of(cell):
    """The kind of a cell's object."""
    return cell & 15


@kernel
def colour_of(cell):
    """The colour of a cell's object."""
    return (cell >> 4) & 7


@kernel
def state_of(cell):
    """The state of a cell's object, 0 for all but doors."""
    return (cell >> 7) & 3


@kernel
def inside_of(cell):
    """What a box holds: 0 nothing, else 1 + the colour of a key."""
    return cell >> 9


@kernel
def may_enter(cell):
    """Whether one can step onto a cell: nothing, floor, a goal, lava, an open door."""
    kind = cell & 15
    return kind in (EMPTY, FLOOR, GOAL, LAVA) or (kind == DOOR and (cell >> 7) & 3 == OPEN)


@kernel
def may_lift(cell):
    """Whether an object can be picked up: a key, a ball, a box."""
    kind = cell & 15
    return KEY <= kind <= BOX


@kernel
def is_opaque(cell):
    """Whether nothing behind a cell is seen: a wall, or a door that is not open."""
    kind = cell & 15
    return kind in (UNSEEN, WALL) or (kind == DOOR and (cell >> 7) & 3 != OPEN)


# --- what is seen -----------------------------------------------------------------------------------------------------


@kernel
def spread(seen, opaque, size):
    """What is seen of a row of a view and, shifted by `size`, what is seen of the next because of it. Sight goes from a
    cell that is seen, and does not block it, to its neighbours and to the three cells ahead of it."""
    ahead = 0
    for i in range(size - 1):
        if (seen >> i) & 1 and not (opaque >> i) & 1:
            seen |= 2 << i
            ahead |= 3 << i
    for i in range(size - 1, 0, -1):
        if (seen >> i) & 1 and not (opaque >> i) & 1:
            seen |= 1 << (i - 1)
            ahead |= 3 << (i - 1)
    return seen | ahead << size


@kernel
def look(grid, cell, stride, direction, carried, through_walls, view):
    """Write what is seen from a cell into a view, (size, size, 3) bytes of kind, colour and state: columns from left to
    right, rows from the farthest to the viewer's own, whose middle shows what is carried."""
    size = view.shape[0]
    all_seen = (1 << size) - 1
    ahead = ACROSS[direction] * stride + DOWN[direction]
    right = -DOWN[direction] * stride + ACROSS[direction]
    middle = size // 2
    seen = all_seen if through_walls else 1 << middle
    for row in range(size - 1, -1, -1):
        first = cell + ahead * (size - 1 - row) - right * middle
        if not through_walls:
            opaque = 0
            for i in range(size):
                if is_opaque(grid[first + i * right]):
                    opaque |= 1 << i
            both = spread(seen, opaque, size)
            seen = both & all_seen
        else:
            both = all_seen << size
        for i in range(size):
            if (seen >> i) & 1:
                there = grid[first + i * right]
                if there == UNSEEN:
                    there = STONE
                view[i, row, 0] = there & 15
                view[i, row, 1] = (there >> 4) & 7
                view[i, row, 2] = (there >> 7) & 3
            else:
                view[i, row, 0] = 0
                view[i, row, 1] = 0
                view[i, row, 2] = 0
        seen = both >> size
    shown = carried if carried else NOTHING
    view[middle, size - 1, 0] = shown & 15
    view[middle, size - 1, 1] = (shown >> 4) & 7
    view[middle, size - 1, 2] = (shown >> 7) & 3


@kernel
def look_from_above(grid, pad, stride, cell, direction, view):
    """Write the whole grid into a view, (columns, rows, 3) bytes, with the agent as a kind of its own, whose state is
    its direction."""
    for x in range(view.shape[0]):
        for y in range(view.shape[1]):
            at = (x + pad) * stride + y + pad
            there = grid[at] if grid[at] else NOTHING
            view[x, y, 0] = there & 15
            view[x, y, 1] = (there >> 4) & 7
            view[x, y, 2] = (there >> 7) & 3
            if at == cell:
                view[x, y, 0] = AGENT
                view[x, y, 1] = RED
                view[x, y, 2] = direction


# --- making grids -----------------------------------------------------------------------------------------------------


@kernel
def cell_at(p, x, y):
    """The cell at a column and a row."""
    return (x + p.pad) * p.stride + y + p.pad


@kernel
def put(p, s, x, y, what):
    """Put something on a cell."""
    s.grid[cell_at(p, x, y)] = what


@kernel
def put_rectangle(p, s, left, top, wide, tall, what):
    """Put something on all cells of a rectangle."""
    for x in range(left, left + wide):
        for y in range(top, top + tall):
            put(p, s, x, y, what)


@kernel
def put_room(p, s, left, top, wide, tall):
    """Walls around a rectangle."""
    put_rectangle(p, s, left, top, wide, 1, STONE)
    put_rectangle(p, s, left, top + tall - 1, wide, 1, STONE)
    put_rectangle(p, s, left, top, 1, tall, STONE)
    put_rectangle(p, s, left + wide - 1, top, 1, tall, STONE)


@kernel
def free_cell(p, s, rng, left, top, wide, tall, apart):
    """A cell of a rectangle, drawn until it is empty and at least `apart` steps from the agent; 0 after 1e4 tries."""
    for _ in range(10000):
        x, y = between(rng, left, min(left + wide, p.width)), between(rng, top, min(top + tall, p.height))
        cell = cell_at(p, x, y)
        if s.grid[cell] == NOTHING and steps_apart(p, cell, s.cell) >= apart:
            return cell
    return 0


@kernel
def steps_apart(p, cell, other):
    """Steps between two cells, along columns and rows; far for a cell outside of the grid, such as 0."""
    return abs(cell // p.stride - other // p.stride) + abs(cell % p.stride - other % p.stride)
