"""Shortest ways on a grid of cells for an agent that turns and goes, and what can be reached at all.

The state has the arrays `queue` and `first` (a number for each pose), `mark` and `line` (a number for each cell); what
is in them is lost.
"""

from rlenvs.core import kernel
from rlenvs.kits.gridworld.cells import DOOR, LAVA, LOCKED, NOTHING, kind_of, may_enter, state_of
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
def mark_reachable(p, s, blocked):
    """Mark the cells that ways lead to from the agent's, without one that is `blocked`."""
    mark, line = s.mark, s.line
    for cell in range(mark.size):
        mark[cell] = 0
    mark[s.cell] = 1
    line[0] = s.cell
    head, count = 0, 1
    while head < count:
        cell = line[head]
        head += 1
        for direction in range(4):
            near = ahead_of(p, cell, direction)
            if not mark[near] and near != blocked and may_pass(s, near):
                mark[near] = 1
                line[count] = near
                count += 1


@kernel
def beside_mark(p, s, cell):
    """Whether one of the four cells around one is marked."""
    found = 0
    for direction in range(4):
        found += s.mark[ahead_of(p, cell, direction)]
    return found > 0


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
