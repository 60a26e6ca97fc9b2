"""What scripted players of STORM do: collect tokens of a kind, then face another agent and zap."""

from rlenvs.core import kernel
from rlenvs.multi.dilemmas.storm_rules import (
    CELLS,
    FORWARD,
    LEFT,
    MOST_AGENTS,
    RIGHT,
    STAY,
    ZAP,
    ZAPPED,
    in_reach,
    place,
)

ENOUGH = 2.0  # tokens
NO_WAY = -1


@kernel
def choose_action(s, k, kind):
    """Collect enough tokens of a kind, then meet an agent that has any."""
    if s.frozen[k] > 0:
        return STAY
    if s.tokens[k, 0] + s.tokens[k, 1] < ENOUGH:
        return go(s, k, first_step(s, k, kind, False))
    for j in range(s.gain.size):
        if j != k and in_reach(s, k, j) and may_be_met(s, j):
            return ZAP
    return go(s, k, first_step(s, k, kind, True))


@kernel
def may_be_met(s, j):
    return s.frozen[j] < 0 and s.tokens[j, 0] + s.tokens[j, 1] > 0.0


@kernel
def go(s, k, direction):
    """Turn to a direction, or go that way."""
    if direction == NO_WAY:
        return STAY
    turn = (direction - s.facing[k] + 4) % 4
    if turn == 0:
        return FORWARD
    return RIGHT if turn == 3 else LEFT


@kernel
def is_aim(s, k, cell, kind, meet):
    """Whether a cell is what agent k looks for: a token, or an agent that may be met."""
    code = s.grid[cell]
    if not meet:
        return code == kind
    return 0 < code <= MOST_AGENTS and code - 1 != k and may_be_met(s, code - 1)


@kernel
def first_step(s, k, kind, meet):
    """Direction of the first step of a shortest way around agents and tokens of the other kind."""
    for cell in range(CELLS):
        s.first[cell] = NO_WAY
    s.queue[0] = s.position[k]
    s.first[s.position[k]] = 4
    head, count = 0, 1
    while head < count:
        cell = s.queue[head]
        head += 1
        for direction in range(4):
            near = place(cell, direction, 1, 0)
            if near < 0 or s.first[near] != NO_WAY:
                continue
            s.first[near] = direction if s.first[cell] == 4 else s.first[cell]
            if is_aim(s, k, near, kind, meet):
                return s.first[near]
            code = s.grid[near]
            if code in (0, ZAPPED, kind):
                s.queue[count] = near
                count += 1
    return NO_WAY
