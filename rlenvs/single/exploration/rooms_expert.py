"""The scripted expert of the grids: it knows the whole grid, and takes a shortest way to each next thing to do."""

from rlenvs.core import kernel
from rlenvs.kits.gridworld.cells import (
    BALL,
    BOX,
    DOOR,
    GOAL,
    KEY,
    LOCKED,
    NOTHING,
    colour_of,
    inside_of,
    kind_of,
    state_of,
)
from rlenvs.kits.gridworld.routes import FACE, OPEN_SPACE, STAND, beside_mark, mark_reachable, way
from rlenvs.kits.gridworld.rules import DONE, DROP, LEFT, PICK_UP, TOGGLE, ahead_of
from rlenvs.single.exploration.rooms import DYNAMIC, MEMORY


@kernel
def find(s, kind, wanted):
    """The first cell with an object of a kind, or with exactly the object that is wanted; 0 where there is none."""
    for cell in range(s.grid.size):
        there = s.grid[cell]
        if (wanted != 0 and there == wanted) or (wanted == 0 and there != 0 and kind_of(there) == kind):
            return cell
    return 0


@kernel
def locked_door(s):
    """The cell of a locked door, or 0."""
    for cell in range(s.grid.size):
        if kind_of(s.grid[cell]) == DOOR and state_of(s.grid[cell]) == LOCKED:
            return cell
    return 0


@kernel
def full_box(s):
    """The cell of a box that holds something, or 0."""
    for cell in range(s.grid.size):
        if kind_of(s.grid[cell]) == BOX and inside_of(s.grid[cell]):
            return cell
    return 0


@kernel
def use(p, s, cell, action):
    """An action on the way to a cell, or in front of it."""
    found = way(p, s, FACE, cell)
    return action if found == -1 else found


@kernel
def make_room(p, s, needed):
    """An action towards dropping what is carried where it is in the way neither to a cell nor to a locked door."""
    lock = locked_door(s)
    for cell in range(s.grid.size):
        s.first[cell] = 0
    mark_reachable(p, s, 0)
    for cell in range(s.grid.size):
        if s.mark[cell] == 1 and s.grid[cell] == NOTHING:
            s.first[cell] = 1
    for cell in range(s.grid.size):
        if s.first[cell] and cell != s.cell:
            mark_reachable(p, s, cell)
            s.first[cell] = 1 if beside_mark(p, s, needed) and (lock == 0 or beside_mark(p, s, lock)) else 0
    for cell in range(s.grid.size):
        s.mark[cell] = 2 if s.first[cell] and cell != s.cell else 0
    found = way(p, s, OPEN_SPACE, 0)
    return DROP if found == -1 else found


@kernel
def fetch(p, s, cell, needed):
    """An action towards picking up an object, with an empty hand."""
    if s.carried:
        return make_room(p, s, needed)
    return use(p, s, cell, PICK_UP)


@kernel
def ball_beside(p, s, lock):
    """The cell of a ball in front of a door that can be picked up, or 0."""
    for direction in range(4):
        near = ahead_of(p, lock, direction)
        if kind_of(s.grid[near]) == BALL and way(p, s, FACE, near) != -2:
            return near
    return 0


@kernel
def unlock(p, s, lock):
    """An action towards opening a locked door."""
    has_key = kind_of(s.carried) == KEY and colour_of(s.carried) == colour_of(s.grid[lock])
    found = way(p, s, FACE, lock)
    if has_key and found != -2:
        return TOGGLE if found == -1 else found
    ball = ball_beside(p, s, lock) if found == -2 else 0
    if ball:
        return fetch(p, s, ball, ball)
    key = find(s, KEY, 0)
    if key:
        return fetch(p, s, key, key)
    box = full_box(s)
    return use(p, s, box, TOGGLE) if box else make_room(p, s, lock)


@kernel
def advised(p, s):
    """The expert's action."""
    s.avoid = s.wrong_end
    goal = s.right_end if p.task == MEMORY else find(s, GOAL, 0)
    found = -2
    if goal:
        found = way(p, s, STAND, goal)
    elif s.wanted:
        cell = find(s, 0, s.wanted)
        if cell == 0:
            return DONE
        if way(p, s, FACE, cell) != -2:
            found = fetch(p, s, cell, cell)
    if found >= 0:
        return found
    lock = locked_door(s)
    if lock:
        found = unlock(p, s, lock)
    return found if found >= 0 else (LEFT if p.task == DYNAMIC else DONE)
