"""How agents of Harvest and Cleanup move, eat, fire and clean, and how apples and waste grow.

Cells of the padded map are numbers, row after row. Direction 0 is up, towards row 0; 1 right, 2 down, 3 left.
"""

from rlenvs.core import below, choice, kernel, uniform
from rlenvs.multi.dilemmas.commons_maps import APPLE, BEYOND, EMPTY, RIVER, WALL, WASTE

GROWTH = choice("neighbors", "river", doc="what apples grow by: apples around them (Harvest), a clean river (Cleanup)")
(NEIGHBORS,) = GROWTH.codes("neighbors")

ACTIONS = ("left", "right", "forward", "back", "stay", "turn right", "turn left", "fire", "clean")
STAY, TURN_RIGHT, TURN_LEFT, FIRE, CLEAN = range(4, 9)
TURNED = (3, 1, 0, 2)  # the direction of a move, clockwise from where the agent faces
REACH = 5  # cells of a beam


@kernel
def ahead(p, direction):
    """How much higher the number of the next cell in a direction is."""
    if direction % 2 == 0:
        return -p.stride if direction == 0 else p.stride
    return 1 if direction == 1 else -1


@kernel
def is_open(s, cell):
    return s.ground[cell] != WALL and s.ground[cell] != BEYOND


@kernel
def shuffle(s, rng):
    """A random order of the agents."""
    for k in range(s.order.size):
        s.order[k] = k
    for k in range(s.order.size - 1, 0, -1):
        j = below(rng, k + 1)
        kept = s.order[k]
        s.order[k] = s.order[j]
        s.order[j] = kept


@kernel
def move_agents(p, s, a):
    """All agents move at once. Of those who want to go to one cell the first in `order` may; nobody goes where another
    agent stays, and two never change places, but a row or a circle of agents moves on."""
    agents = s.order.size
    for k in range(agents):
        s.wanted[k] = s.position[k]
        if s.away[k]:
            continue
        if a[k] == TURN_RIGHT or a[k] == TURN_LEFT:
            s.facing[k] = (s.facing[k] + (1 if a[k] == TURN_RIGHT else 3)) % 4
        if a[k] < STAY:
            cell = s.position[k] + ahead(p, (s.facing[k] + TURNED[a[k]]) % 4)
            if is_open(s, cell):
                s.wanted[k] = cell
    for n in range(agents):
        k = s.order[n]
        cell, there = s.wanted[k], s.occupant[s.wanted[k]] - 1
        if s.away[k] or cell == s.position[k]:
            continue
        if s.claim[cell] or (there >= 0 and s.wanted[there] == s.position[k]):
            s.wanted[k] = s.position[k]
        else:
            s.claim[cell] = k + 1
    for k in range(agents):
        if not s.away[k] and s.wanted[k] == s.position[k]:
            send_back(s, s.position[k])
    for k in range(agents):
        s.claim[s.wanted[k]] = 0
        if not s.away[k]:
            s.occupant[s.position[k]] = 0
    for k in range(agents):
        if not s.away[k]:
            s.position[k] = s.wanted[k]
            s.occupant[s.position[k]] = k + 1


@kernel
def send_back(s, cell):
    """An agent stays in a cell: who was to go there stays too, and so on."""
    while s.claim[cell]:
        follower = s.claim[cell] - 1
        s.claim[cell] = 0
        cell = s.position[follower]
        s.wanted[follower] = cell


@kernel
def beam(p, s, k, kind, r):
    """A beam of three rows of cells: those on both sides begin next to the agent, the middle one in front of it. A row
    ends at walls and agents, and that of a cleaning beam at the first waste."""
    step, side = ahead(p, s.facing[k]), ahead(p, (s.facing[k] + 1) % 4)
    for row in range(3):
        cell = s.position[k] + (step if row == 0 else (side if row == 1 else -side))
        for _ in range(REACH):
            if not is_open(s, cell):
                break
            cleaned = kind == CLEAN and s.ground[cell] == WASTE
            if cleaned:
                s.ground[cell] = RIVER
                s.waste -= 1
            hit = s.occupant[cell] - 1
            if hit >= 0 and kind == FIRE:
                r.hit[hit] -= 1.0
            if hit >= 0 or cleaned:
                break
            cell += step


@kernel
def apples_around(p, s, cell):
    """Apples in the eight cells around one."""
    found = 0
    for down in range(-1, 2):
        first = cell + down * p.stride - 1
        for near in range(first, first + 3):
            found += s.ground[near] == APPLE and near != cell
    return found


@kernel
def density(p, s):
    """The share of waste in the river; 0 where there is none."""
    return s.waste / p.river if p.river > 0 else 0.0


@kernel
def apple_chance(p, s):
    """How likely an apple grows by a river with so much waste."""
    share = density(p, s)
    if share >= p.depletion:
        return 0.0
    if share <= p.restoration:
        return p.by_river
    return (1.0 - (share - p.restoration) / (p.depletion - p.restoration)) * p.by_river


@kernel
def grow_apples(p, s, rng):
    """Apples grow in empty cells of trees, all at once."""
    chance = 0.0 if p.growth == NEIGHBORS else apple_chance(p, s)
    for n in range(p.tree.size):
        cell = p.tree[n]
        s.grown[n] = 0
        if s.ground[cell] != EMPTY or s.occupant[cell]:
            continue
        if p.growth == NEIGHBORS:
            near = apples_around(p, s, cell)
            chance = 0.0 if near == 0 else (p.by_one if near == 1 else (p.by_two if near == 2 else p.by_three))
        if chance > 0.0 and uniform(rng, 0.0, 1.0) < chance:
            s.grown[n] = 1
    for n in range(p.tree.size):
        if s.grown[n]:
            s.ground[p.tree[n]] = APPLE


@kernel
def grow_waste(p, s, rng):
    """One cell of the river becomes waste: the clean ones are tried in random order, up to the first success."""
    clean = p.river - s.waste
    if clean == 0 or density(p, s) >= p.depletion:
        return
    missed = 1.0
    for _ in range(clean):
        missed *= 1.0 - p.pollution
    if uniform(rng, 0.0, 1.0) < missed:
        return
    chosen = below(rng, clean)
    for n in range(p.bank.size):
        if s.ground[p.bank[n]] == RIVER:
            if chosen == 0:
                s.ground[p.bank[n]] = WASTE
            chosen -= 1
    s.waste += 1


@kernel
def grow(p, s, rng):
    """What grows in a step."""
    grow_apples(p, s, rng)
    if p.growth != NEIGHBORS:
        grow_waste(p, s, rng)
