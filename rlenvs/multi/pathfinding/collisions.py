"""Collision rules: the three ways in which POGEMA resolves conflicts between agents.

Every resolver gets the wanted cells in s.target, none of them an obstacle, and resets the target of an agent that has
to stay to its own cell. s.mark is scratch, all zero before and after.
"""

from rlenvs.core import kernel
from rlenvs.multi.pathfinding.maps import cell_of


@kernel
def resolve_priority(p, s):
    """Agents act in order of their index; a move succeeds when the cell is free at that moment."""
    target, occupant = s.target, s.occupant
    for k in range(target.size):
        cell = cell_of(p, s, k)
        if not s.alive[k] or target[k] == cell:
            continue
        if occupant[target[k]]:
            target[k] = cell
        else:
            occupant[cell] = 0
            occupant[target[k]] = k + 1


@kernel
def resolve_block_both(p, s):
    """A cell that two agents want, or that an agent stands on, is closed to all."""
    target, claims = s.target, s.mark
    for k in range(target.size):
        cell = cell_of(p, s, k)
        if s.occupant[target[k]]:
            target[k] = cell
        elif s.alive[k]:
            claims[target[k]] += 1
    for k in range(target.size):
        if claims[target[k]] > 1:
            target[k] = -target[k]  # refused; all claims have to be counted before one is cleared
    for k in range(target.size):
        claims[abs(target[k])] = 0
        if target[k] < 0:
            target[k] = cell_of(p, s, k)


@kernel
def resolve_soft(p, s):
    """No swaps, and of those who want one cell only the lowest index may have it, if its owner leaves: whoever stays
    sends back the agent that was to take its cell, and so on. Chains and rotations of followers pass."""
    target, claimant = s.target, s.mark
    for k in range(target.size):
        cell = cell_of(p, s, k)
        owner = s.occupant[target[k]] - 1
        if s.alive[k] and owner >= 0 and owner != k and target[owner] == cell:
            target[owner] = target[k]
            target[k] = cell
    for k in range(target.size):
        cell = cell_of(p, s, k)
        if s.alive[k] and target[k] != cell:
            if claimant[target[k]]:
                target[k] = cell
            else:
                claimant[target[k]] = k + 1
    for k in range(target.size):
        cell = cell_of(p, s, k)
        if not s.alive[k] or target[k] != cell:
            continue
        while claimant[cell]:
            follower = claimant[cell] - 1
            claimant[cell] = 0
            cell = cell_of(p, s, follower)
            target[follower] = cell
    for k in range(target.size):
        claimant[target[k]] = 0
