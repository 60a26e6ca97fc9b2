"""The scripted expert: priority inheritance with backtracking.

Source: Okumura, Machida, Defago and Tamura, "Priority Inheritance with Backtracking for Iterative Multi-agent Path
Finding", Artificial Intelligence 310, 2022. Each step, agents choose in order of priority the neighboring cell that
is nearest to their goal; an agent on that cell has to choose next, and if it finds no free cell, the first agent tries
its second choice.
"""

from rlenvs.core import kernel
from rlenvs.multi.pathfinding.maps import cell_at, cell_of

FAR = 1 << 40
SHUFFLE_TIME = 16


@kernel
def neighbour(cell, j, columns):
    """The cell that action j leads to."""
    if j == 0:
        return cell
    if j < 3:
        return cell - columns if j == 1 else cell + columns
    return cell - 1 if j == 3 else cell + 1


@kernel
def scramble(first, second):
    """A number in 0 ... 1023 that looks random: breaks ties without touching the world's generator."""
    mixed = (first * 7919 + second * 104729 + 12345) % 65521
    return (mixed * mixed % 65521 * 31 + mixed) % 1024


@kernel
def measure_choices(p, s, k, goal):
    """Fill s.ranking[k] with the actions of agent k, best first, and s.choices[k] with their number.

    Breadth-first search from the goal, up to one step beyond the agent's cell. Ties go to cells without an agent.
    """
    distance, queue, blocked = s.mark, s.order, s.blocked
    columns = p.frame.shape[1]
    here = cell_of(p, s, k)
    distance[goal] = 1
    queue[0] = goal
    head, count, limit = 0, 1, FAR
    while head < count:
        cell = queue[head]
        head += 1
        steps = distance[cell]
        if cell == here:
            limit = steps + 1
        if steps >= limit:
            break
        for j in range(1, 5):
            near = neighbour(cell, j, columns)
            if not blocked[near] and not distance[near]:
                distance[near] = steps + 1
                queue[count] = near
                count += 1
    found = 0
    for j in range(5):
        cell = neighbour(here, j, columns)
        if blocked[cell]:
            continue
        crowded = 1 if s.occupant[cell] and j > 0 else 0
        key = (2 * (distance[cell] if distance[cell] else limit + 1) + crowded) * 1024 + scramble(8 * k + j, s.elapsed)
        place = found
        while place > 0 and s.keys[place - 1] > key:
            s.keys[place] = s.keys[place - 1]
            s.ranking[k, place] = s.ranking[k, place - 1]
            place -= 1
        s.keys[place] = key
        s.ranking[k, place] = j
        found += 1
    s.choices[k] = found
    for i in range(count):
        distance[queue[i]] = 0


@kernel
def rank_agents(s):
    """Fill s.sequence with the agents by falling priority: the time since they were last on a goal; every
    SHUFFLE_TIME steps ties fall otherwise, so that no pair blocks itself for ever."""
    sequence, urgency = s.sequence, s.urgency
    for k in range(sequence.size):
        urgency[k] = s.waiting[k] // SHUFFLE_TIME * 1024 + scramble(k, s.elapsed // SHUFFLE_TIME)
        place = k
        while place > 0 and urgency[sequence[place - 1]] < urgency[k]:
            sequence[place] = sequence[place - 1]
            place -= 1
        sequence[place] = k


@kernel
def on_stack(s, depth, k):
    found = False
    for i in range(depth):
        found = found or s.stack[i] == k
    return found


@kernel
def plan_chain(p, s, k, rotations):
    """Plan for agent k and for those that it pushes away. s.target[i] is the planned cell, -1 while there is none."""
    columns = p.frame.shape[1]
    reserved, target, stack, tried = s.mark, s.target, s.stack, s.tried
    stack[0] = k
    tried[k] = 0
    depth = 1
    while depth > 0:
        i = stack[depth - 1]
        here = cell_of(p, s, i)
        if tried[i] == s.choices[i]:
            # no way out: stay, and whoever wanted this cell tries its next choice
            target[i] = here
            reserved[here] = i + 1
            depth -= 1
            continue
        cell = neighbour(here, s.ranking[i, tried[i]], columns)
        tried[i] += 1
        owner = s.occupant[cell] - 1
        if reserved[cell] or (owner >= 0 and target[owner] == here and owner != i):
            continue
        if not rotations and owner != i and owner >= 0 and on_stack(s, depth, owner):
            continue
        target[i] = cell
        reserved[cell] = i + 1
        if owner < 0 or target[owner] >= 0:
            return
        stack[depth] = owner
        tried[owner] = 0
        depth += 1


@kernel
def plan(p, s, a, rotations):
    """One joint step for all living agents, without vertex and swap conflicts."""
    columns = p.frame.shape[1]
    target, agents = s.target, s.target.size
    for k in range(agents):
        a[k] = 0
        target[k] = -1
        if s.alive[k]:
            measure_choices(p, s, k, cell_at(p, s.goal[k, 0], s.goal[k, 1]))
    rank_agents(s)
    for i in range(agents):
        k = s.sequence[i]
        if s.alive[k] and target[k] < 0:
            plan_chain(p, s, k, rotations)
    for k in range(agents):
        if s.alive[k]:
            s.mark[target[k]] = 0
            for j in range(5):
                if neighbour(cell_of(p, s, k), j, columns) == target[k]:
                    a[k] = j
