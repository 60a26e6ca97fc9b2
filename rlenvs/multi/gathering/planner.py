"""Which agent gathers which items: the best assignment of the nearest ones, in the remaining time."""

from rlenvs.core import kernel

PLANNED = 8  # items that the scripted plan is about, and sets of them
SETS = 1 << PLANNED
FAR = 10_000  # steps


@kernel
def way(s, k, cell, columns):
    """Steps from an agent to a cell."""
    return abs(s.position[k, 0] - cell // columns) + abs(s.position[k, 1] - cell % columns)


@kernel
def choose_items(p, s):
    """The items nearest to anybody, as many as a plan is about. Returns how many there are."""
    found, columns = 0, p.columns
    for distance in range(p.rows + columns):
        for cell in range(s.ground.size):
            if s.ground[cell] == 0 or found == PLANNED:
                continue
            least = FAR
            for k in range(s.position.shape[0]):
                least = min(least, way(s, k, cell, columns))
            if least == distance:
                s.planned[found] = cell
                found += 1
    return found


@kernel
def route(p, s, k, count):
    """The times at which an agent has gathered a set of items, by the last of them, on its shortest routes."""
    arrival, columns = s.arrival, p.columns
    for members in range(1, 1 << count):
        for last in range(count):
            arrival[members, last] = FAR
            if (members >> last) & 1 == 0:
                continue
            before = members ^ (1 << last)
            cell = s.planned[last]
            if before == 0:
                arrival[members, last] = way(s, k, cell, columns)
            for i in range(count):
                if (before >> i) & 1 == 1:
                    other = s.planned[i]
                    steps = abs(cell // columns - other // columns) + abs(cell % columns - other % columns)
                    arrival[members, last] = min(arrival[members, last], arrival[before, i] + steps)


@kernel
def earliest(s, members, count):
    """The last item of the shortest route to all of a set; -1 where there is none."""
    best, last = FAR, -1
    for i in range(count):
        if (members >> i) & 1 == 1 and s.arrival[members, i] < best:
            best, last = s.arrival[members, i], i
    return last


@kernel
def make_plan(p, s):
    """The best sharing of the nearest items among agents, under the weights, in the time that is left: exactly, where
    there are no more items than a plan is about. Gives each agent the cell where it goes first, -1 for none."""
    count, agents = choose_items(p, s), s.position.shape[0]
    left, everything = p.horizon - s.elapsed, (1 << count) - 1
    for k in range(agents):
        route(p, s, k, count)
        s.gain[k, 0] = 0.0
        for members in range(1, everything + 1):
            last = earliest(s, members, count)
            s.gain[k, members] = -1.0
            if last >= 0 and s.arrival[members, last] <= left:
                total = -1e-6 * s.arrival[members, last]
                for i in range(count):
                    if (members >> i) & 1 == 1:
                        total += p.weights[s.ground[s.planned[i]] - 1]
                s.gain[k, members] = total
    share_out(s, agents, everything)
    rest = everything
    for k in range(agents):
        members = s.share[k, rest]
        rest ^= members
        s.goal[k] = -1
        if members > 0:
            route(p, s, k, count)
            s.goal[k] = s.planned[first_of(p, s, members, count)]
    for k in range(agents):
        if s.goal[k] < 0 and count == PLANNED:
            s.goal[k] = nearest_unplanned(p, s, k)


@kernel
def nearest_unplanned(p, s, k):
    """The nearest item that neither the plan nor another agent is about; -1 for none."""
    found, least = -1, FAR
    for cell in range(s.ground.size):
        if s.ground[cell] == 0 or way(s, k, cell, p.columns) >= least:
            continue
        free = True
        for i in range(PLANNED):
            free = free and s.planned[i] != cell
        for j in range(s.goal.size):
            free = free and s.goal[j] != cell
        if free:
            found, least = cell, way(s, k, cell, p.columns)
    return found


@kernel
def share_out(s, agents, everything):
    """For each set of items, how the last agents share it best; agent after agent from the last one on."""
    for members in range(everything + 1):
        s.best[members] = 0.0
    for k in range(agents - 1, -1, -1):
        for members in range(everything, -1, -1):  # smaller sets are still those of the agents after this one
            most, own = s.best[members], 0
            part = members
            while part > 0:
                if s.gain[k, part] + s.best[members ^ part] > most:
                    most, own = s.gain[k, part] + s.best[members ^ part], part
                part = (part - 1) & members
            s.best[members] = most
            s.share[k, members] = own


@kernel
def first_of(p, s, members, count):
    """The first item of the shortest route to all of a set: back from the last one."""
    columns = p.columns
    last = earliest(s, members, count)
    while members ^ (1 << last) != 0:
        before, cell = members ^ (1 << last), s.planned[last]
        for i in range(count):
            if (before >> i) & 1 == 1:
                other = s.planned[i]
                steps = abs(cell // columns - other // columns) + abs(cell % columns - other % columns)
                if s.arrival[before, i] + steps == s.arrival[members, last]:
                    members, last = before, i
                    break
    return last


@kernel
def move_towards(p, s, k, cell):
    """The move that brings an agent nearer to a cell, or none."""
    if cell < 0:
        return 0
    down, right = cell // p.columns - s.position[k, 0], cell % p.columns - s.position[k, 1]
    if down != 0:
        return 2 if down > 0 else 1
    if right != 0:
        return 4 if right > 0 else 3
    return 0


@kernel
def nearest_item(p, s, k, kind):
    """The nearest item, of a colour if that is not -1; -1 for none."""
    found, least = -1, FAR
    for cell in range(s.ground.size):
        if s.ground[cell] > 0 and (kind < 0 or s.ground[cell] == 1 + kind):
            steps = way(s, k, cell, p.columns)
            if steps < least:
                found, least = cell, steps
    return found
