"""What an agent with a direction and a hand does on a grid of cells: MiniGrid's seven actions."""

from rlenvs.core import kernel
from rlenvs.kits.gridworld.cells import (
    ACROSS,
    BOX,
    CLOSED,
    DOOR,
    DOWN,
    KEY,
    LOCKED,
    NOTHING,
    OPEN,
    colour_of,
    door,
    inside_of,
    kind_of,
    may_enter,
    may_lift,
    state_of,
    thing,
)

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")


@kernel
def ahead_of(p, cell, direction):
    """The cell in front of one."""
    return cell + ACROSS[direction] * p.stride + DOWN[direction]


@kernel
def toggled(cell, carried):
    """What a cell becomes when it is toggled: doors open and close, locked ones open for a key of their colour, boxes
    give way to what they hold."""
    kind = kind_of(cell)
    if kind == BOX:
        return thing(KEY, inside_of(cell) - 1) if inside_of(cell) else NOTHING
    if kind != DOOR:
        return cell
    colour, state = colour_of(cell), state_of(cell)
    if state != LOCKED:
        return door(colour, OPEN if state == CLOSED else CLOSED)
    if kind_of(carried) == KEY and colour_of(carried) == colour:
        return door(colour, OPEN)
    return cell


@kernel
def act(p, s, action):
    """Turn, go, lift, drop or toggle. Returns what was in front before a step that was made, else 0."""
    front = ahead_of(p, s.cell, s.direction)
    there = s.grid[front]
    if action == LEFT:
        s.direction = (s.direction + 3) % 4
    elif action == RIGHT:
        s.direction = (s.direction + 1) % 4
    elif action == FORWARD:
        if may_enter(there):
            s.cell = front
            return there
    elif action == PICK_UP:
        if may_lift(there) and s.carried == 0:
            s.carried = there
            s.grid[front] = NOTHING
    elif action == DROP:
        if there == NOTHING and s.carried != 0:
            s.grid[front] = s.carried
            s.carried = 0
    elif action == TOGGLE:
        s.grid[front] = toggled(there, s.carried)
    return 0
