"""Shortest ways on a grid of cells for an agent that turns and goes, and what can be reached at all.

The state has the arrays `queue` and `first` (a number for each pose), `mark` and `line` (a number for each cell); what
is in them is lost.
"""

from rlenvs.core import kernel
from rlenvs.kits.gridworld.cells import DOOR, LAVA, LOCKED, NOTHING, kind_of, may_enter, may_lift, state_of
from rlenvs.kits.gridworld.rules import FORWARD, LEFT, TOGGLE, ahead_of

STAND, FACE, OPEN_SPACE = range(3)  # what a way leads to: a cell, a pose in front of a cell, one in front of free space


@kernel
def may_pass(s, cell):
    """Whether a way may lead over a cell: what can be entered, but for lava; doors that are closed can be opened."""
    there = s.grid[cell]
    if cell == s.avoid or kind_of(there) == LAVA:
        return False
    return may_enter(there) or (kind_of(there) == DOOR and state_of(there) != LOCKED)


@kernel
def mark_reachable(p, s, start, blocked):
    """Mark the cells that ways lead to from one, without one that is `blocked`: with 1 where nothing is in the way, and
    1 more for each thing that has to be lifted, the first of which stands in `queue`."""
    mark, line, lifted = s.mark, s.line, s.queue
    for cell in range(mark.size):
        mark[cell] = 0
    mark[start], lifted[start] = 1, 0
    line[0] = start
    head, count, lifts = 0, 1, 0
    while head < count:
        while head < count:
            cell = line[head]
            head += 1
            for direction in range(4):
                near = ahead_of(p, cell, direction)
                if not mark[near] and near != blocked and may_pass(s, near):
                    mark[near], lifted[near] = 1 + lifts, lifted[cell]
                    line[count] = near
                    count += 1
        lifts += 1
        for k in range(count):
            for direction in range(4):
                near = ahead_of(p, line[k], direction)
                if not mark[near] and near != blocked and may_lift(s.grid[near]):
                    mark[near], lifted[near] = 1 + lifts, lifted[line[k]] if lifted[line[k]] else near
                    line[count] = near
                    count += 1


@kernel
def beside_mark(p, s, cell):
    """Of the four cells around one, that with the smallest mark; 0 where none is marked."""
    best = 0
    for direction in range(4):
        near = ahead_of(p, cell, direction)
        if s.mark[near] and (best == 0 or s.mark[near] < s.mark[best]):
            best = near
    return best


@kernel
def lifts_to(p, s, cell):
    """How many things have to be lifted before one stands beside a cell, as marked; many where no way leads there, none
    to cell 0."""
    if cell == 0:
        return 0
    best = beside_mark(p, s, cell)
    return s.mark[best] - 1 if best else 255


@kernel
def is_reached(p, s, pose, aim, target):
    """Whether a pose is what a way leads to."""
    cell, front = pose // 4, ahead_of(p, pose // 4, pose % 4)
    if aim == STAND:
        return cell == target
    if aim == FACE:
        return front == target
    return s.grid[front] == NOTHING and s.mark[front] == 2


@kernel
def way(p, s, aim, target):
    """The first action of a shortest way; -1 where one is there already, -2 where there is none."""
    queue, first = s.queue, s.first
    for pose in range(first.size):
        first[pose] = -1
    start = s.cell * 4 + s.direction
    if is_reached(p, s, start, aim, target):
        return -1
    queue[0] = start
    first[start] = 99
    head, count = 0, 1
    while head < count:
        pose = queue[head]
        head += 1
        cell, direction = pose // 4, pose % 4
        for action in range(3):
            if action == FORWARD:
                front = ahead_of(p, cell, direction)
                if not may_pass(s, front):
                    continue
                near = front * 4 + direction
            elif action == LEFT:
                near = cell * 4 + (direction + 3) % 4
            else:
                near = cell * 4 + (direction + 1) % 4
            if first[near] >= 0:
                continue
            first[near] = action if pose == start else first[pose]
            if is_reached(p, s, near, aim, target):
                return opened(p, s, first[near])
            queue[count] = near
            count += 1
    return -2


@kernel
def opened(p, s, action):
    """The same action, but for a step into a closed door, which has to be opened first."""
    if action == FORWARD and not may_enter(s.grid[ahead_of(p, s.cell, s.direction)]):
        return TOGGLE
    return action
