"""Who may move: the three ways in which POGEMA settles conflicts between agents.

Every resolver gets the wanted cells in s.target and sets the target of an agent that has to stay back to its own cell.
s.mark is scratch, all zero before and after.
"""

from rlenvs.core import kernel


@kernel
def cell_of(p, s, k):
    """The cell of agent k in the flat grids."""
    return (s.position[k, 0] + p.radius) * p.frame.shape[1] + s.position[k, 1] + p.radius


@kernel
def resolve_priority(p, s):
    """Agents act in order of their index; a move succeeds when the cell is free at that moment."""
    target, occupant = s.target, s.occupant
    for k in range(target.size):
        cell = cell_of(p, s, k)
        if target[k] == cell:
            continue
        if occupant[target[k]]:
            target[k] = cell
        else:
            occupant[cell] = 0
            occupant[target[k]] = k + 1


@kernel
def resolve_block_both(p, s):
    """A cell that two agents want, or that an agent stands on, is closed to all."""
    target, occupant, claims = s.target, s.occupant, s.mark
    for k in range(target.size):
        claims[target[k]] += 2 if occupant[target[k]] else 1
    for k in range(target.size):
        wanted = target[k]
        if claims[wanted] > 1:
            target[k] = cell_of(p, s, k)
    for k in range(target.size):
        claims[target[k]] = 0


@kernel
def resolve_soft(p, s):
    """No swaps, and of those who want one cell only the lowest index may have it, once its owner leaves: whoever
    stays sends back the agent that wanted its cell, and so on. Chains and rotations of followers pass."""
    target, occupant, claimant = s.target, s.occupant, s.mark
    for k in range(target.size):
        cell = cell_of(p, s, k)
        owner = occupant[target[k]] - 1
        if owner >= 0 and owner != k and target[owner] == cell:
            target[owner] = target[k]
            target[k] = cell
    for k in range(target.size):
        cell = cell_of(p, s, k)
        if target[k] != cell:
            if claimant[target[k]]:
                target[k] = cell
            else:
                claimant[target[k]] = k + 1
    for k in range(target.size):
        cell = cell_of(p, s, k)
        if target[k] != cell or not s.alive[k]:
            continue
        while claimant[cell]:
            follower = claimant[cell] - 1
            claimant[cell] = 0
            cell = cell_of(p, s, follower)
            target[follower] = cell
    for k in range(target.size):
        claimant[target[k]] = 0
