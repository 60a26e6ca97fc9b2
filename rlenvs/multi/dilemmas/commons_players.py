"""Scripted players of Harvest and Cleanup."""

from rlenvs.core import kernel
from rlenvs.multi.dilemmas.commons_maps import APPLE, WASTE
from rlenvs.multi.dilemmas.commons_rules import (
    CLEAN,
    FIRE,
    NEIGHBORS,
    REACH,
    STAY,
    TURN_LEFT,
    TURN_RIGHT,
    ahead,
    apples_around,
    is_open,
)

SPARING, GREEDY, CLEANING = range(3)  # what is looked for: apples that grow again, any apple, waste
ENOUGH = 3  # apples around one that make it grow again soon
NO_WAY, HERE = -1, 4
MOVES = (2, 1, 3, 0)  # forward, right, back, left
CLEANERS = 3  # one agent of so many cleans


@kernel
def is_aim(p, s, cell, aim):
    """Whether a cell is what is looked for."""
    if aim == CLEANING:
        return s.ground[cell] == WASTE
    if s.ground[cell] != APPLE:
        return False
    return aim == GREEDY or (apples_around(p, s, cell) >= min(ENOUGH, p.crowd[cell]) and has_ways_out(p, s, cell))


@kernel
def has_ways_out(p, s, cell):
    """Whether there are two ways out of a cell on which no apple is: one may grow while an agent stands there."""
    found = 0
    for direction in range(4):
        near = cell + ahead(p, direction)
        found += is_open(s, near) and s.ground[near] != APPLE
    return found >= 2


@kernel
def way_to(p, s, k, aim):
    """Direction of the first step of a shortest way; the sparing walk around apples that they leave."""
    for cell in range(s.first.size):
        s.first[cell] = NO_WAY
    s.queue[0] = s.position[k]
    s.first[s.position[k]] = HERE
    head, count = 0, 1
    while head < count:
        cell = s.queue[head]
        head += 1
        for direction in range(4):
            near = cell + ahead(p, direction)
            if s.first[near] != NO_WAY or not is_open(s, near) or s.occupant[near]:
                continue
            s.first[near] = direction if s.first[cell] == HERE else s.first[cell]
            if is_aim(p, s, near, aim):
                return s.first[near]
            if aim != SPARING or s.ground[near] != APPLE:
                s.queue[count] = near
                count += 1
    return NO_WAY


@kernel
def gather(p, s, k, aim):
    """A step towards an apple."""
    direction = way_to(p, s, k, aim)
    return STAY if direction == NO_WAY else MOVES[(direction - s.facing[k] + 4) % 4]


@kernel
def sees_ahead(p, s, k, waste):
    """Whether the middle row of a beam reaches waste, or else an agent."""
    cell = s.position[k]
    for _ in range(REACH):
        cell += ahead(p, s.facing[k])
        if not is_open(s, cell):
            return False
        if s.occupant[cell]:
            return not waste
        if waste and s.ground[cell] == WASTE:
            return True
    return False


@kernel
def clean(p, s, k):
    """Clean waste that is ahead, or turn and go to the nearest."""
    if p.growth == NEIGHBORS:
        return STAY
    if sees_ahead(p, s, k, True):
        return CLEAN
    direction = way_to(p, s, k, CLEANING)
    turn = (direction - s.facing[k] + 4) % 4
    if direction == NO_WAY:
        return STAY
    if turn == 0:
        return MOVES[0]
    return TURN_LEFT if turn == 3 else TURN_RIGHT


@kernel
def cooperate(p, s, k):
    """Take apples that grow again; by a river, a third of the agents clean it, and the others take any."""
    if p.growth == NEIGHBORS:
        return gather(p, s, k, SPARING)
    if k % CLEANERS == 0 and s.waste > 0:
        return clean(p, s, k)
    return gather(p, s, k, GREEDY)


@kernel
def attack(p, s, k):
    """Fire at agents ahead, or take any apple."""
    return FIRE if sees_ahead(p, s, k, False) else gather(p, s, k, GREEDY)
