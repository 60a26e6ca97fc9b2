"""The scripted expert of the grids: it knows the whole grid, and takes a shortest way to each next thing to do."""

from rlenvs.core import kernel
from rlenvs.kits.gridworld.cells import (
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
    thing,
)
from rlenvs.kits.gridworld.routes import FACE, OPEN_SPACE, STAND, beside_mark, lifts_to, mark_reachable, way
from rlenvs.kits.gridworld.rules import DONE, DROP, LEFT, PICK_UP, TOGGLE
from rlenvs.single.exploration.rooms import DYNAMIC, MEMORY


@kernel
def find(s, kind):
    """The first cell with an object of a kind; 0 where there is none."""
    for cell in range(s.grid.size):
        if s.grid[cell] != 0 and kind_of(s.grid[cell]) == kind:
            return cell
    return 0


@kernel
def find_object(s, what):
    """The first cell with exactly an object; 0 where there is none."""
    for cell in range(s.grid.size):
        if s.grid[cell] == what:
            return cell
    return 0


@kernel
def find_key(s, colour):
    """A cell with a key of a colour, or with a box that hides one; 0 where there is none."""
    for cell in range(s.grid.size):
        there = s.grid[cell]
        if there == thing(KEY, colour) or (kind_of(there) == BOX and inside_of(there) == 1 + colour):
            return cell
    return 0


@kernel
def is_locked(s, cell):
    """Whether a cell has a locked door."""
    return kind_of(s.grid[cell]) == DOOR and state_of(s.grid[cell]) == LOCKED


@kernel
def lock_before(p, s, target):
    """The cell of a locked door between the agent and a cell, the last one of several; 0 where there is none."""
    mark_reachable(p, s, target, 0)
    for cell in range(s.grid.size):
        s.first[cell] = 1 if is_locked(s, cell) and beside_mark(p, s, cell) else 0
    mark_reachable(p, s, s.cell, 0)
    found = 0
    for cell in range(s.grid.size):
        if s.first[cell] and beside_mark(p, s, cell):
            found = cell
    return found


@kernel
def make_room(p, s, needed, lock):
    """An action towards dropping what is carried where it is in the way neither to a cell nor to a door."""
    for cell in range(s.grid.size):
        s.first[cell] = 0
    mark_reachable(p, s, s.cell, 0)
    lifts, lock_lifts = lifts_to(p, s, needed), lifts_to(p, s, lock)
    for cell in range(s.grid.size):
        if s.mark[cell] == 1 and s.grid[cell] == NOTHING and cell != s.cell:
            s.first[cell] = 1
    for cell in range(s.grid.size):
        if s.first[cell]:
            mark_reachable(p, s, s.cell, cell)
            worse = lifts_to(p, s, needed) > lifts or lifts_to(p, s, lock) > lock_lifts
            s.first[cell] = 0 if worse else 1
    for cell in range(s.grid.size):
        s.mark[cell] = 2 if s.first[cell] else 0
    found = way(p, s, OPEN_SPACE, 0)
    return DROP if found == -1 else found


@kernel
def use(p, s, cell, action, lock):
    """An action on the way to a cell, or in front of it; what is in the way is lifted, and dropped elsewhere. -2 where
    no way leads there."""
    needed, found = cell, way(p, s, FACE, cell)
    if found == -2:
        mark_reachable(p, s, s.cell, 0)
        near = beside_mark(p, s, cell)
        if near == 0 or s.queue[near] == 0:
            return -2
        cell, action = s.queue[near], PICK_UP
        found = way(p, s, FACE, cell)
    if action == PICK_UP and s.carried:
        return make_room(p, s, needed, lock)
    return action if found == -1 else found


@kernel
def unlock(p, s, lock):
    """An action towards opening a locked door."""
    colour = colour_of(s.grid[lock])
    if s.carried == thing(KEY, colour) or way(p, s, FACE, lock) == -2:
        return use(p, s, lock, TOGGLE, lock)
    key = find_key(s, colour)
    if key == 0:
        return make_room(p, s, lock, 0)
    return use(p, s, key, TOGGLE if kind_of(s.grid[key]) == BOX else PICK_UP, lock)


@kernel
def aim_of(p, s):
    """The cell that the task is about: the right end of the hallway, what is to be picked up, or the goal; 0 where
    there is none."""
    if p.task == MEMORY:
        return s.right_end
    return find_object(s, s.wanted) if s.wanted else find(s, GOAL)


@kernel
def advised(p, s):
    """The expert's action."""
    s.avoid = s.wrong_end
    target = aim_of(p, s)
    found = -2
    if target:
        found = use(p, s, target, PICK_UP, 0) if s.wanted else way(p, s, STAND, target)
    if found == -2 and target:
        lock = lock_before(p, s, target)
        if lock:
            found = unlock(p, s, lock)
    return found if found >= 0 else (LEFT if p.task == DYNAMIC else DONE)
