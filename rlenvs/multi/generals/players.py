"""Scripted players, after those of strakam/generals-bots. Each sees only what its slot observes: the cells in sight,
and the structures in the fog.

A player is a kernel that fills orders[k]; the numbers of orders are explained in `rlenvs.multi.generals.rules`.
"""

from rlenvs.core import below, choice, kernel, uniform
from rlenvs.multi.generals.board import CITY, FAR, GENERAL, MOUNTAIN

OPPONENT = choice("self", "hunter", "harvester", "expander", "random", doc="policy of all players except the first")
SELF, HUNTER, HARVESTER, EXPANDER = OPPONENT.codes("self", "hunter", "harvester", "expander")

IDLE_CHANCE, SPLIT_CHANCE = 0.05, 0.25  # of the random player
EXPANSION, ENEMY = 10.0, 2.0  # by how much the expander prefers to capture, and to capture from others
KEPT = 4  # army that the hunter keeps on its general; it sends half of twice as much


@kernel
def may_move(p, s, k, cell, d):
    """Where a move of player k from a cell in direction d leads; -1 when the rules forbid it."""
    if s.owner[cell] != k + 1 or s.army[cell] < 2:
        return -1
    near = p.near[cell, d]
    return -1 if near < 0 or s.terrain[near] == MOUNTAIN else near


@kernel
def order_of(s, cell, d, half):
    """The number of a move."""
    return 1 + (d + 4 * half) * s.terrain.size + cell


@kernel
def play_random(p, s, k, orders, rng):
    """Any legal move, sometimes with half of the army; seldom none."""
    legal = 0
    for cell in range(s.terrain.size):
        if s.owner[cell] == k + 1 and s.army[cell] > 1:
            for d in range(4):
                legal += may_move(p, s, k, cell, d) >= 0
    orders[k] = 0
    if legal == 0 or uniform(rng, 0.0, 1.0) < IDLE_CHANCE:
        return
    half = 1 if uniform(rng, 0.0, 1.0) < SPLIT_CHANCE else 0
    left = below(rng, legal)
    for cell in range(s.terrain.size):
        if s.owner[cell] == k + 1 and s.army[cell] > 1:
            for d in range(4):
                if may_move(p, s, k, cell, d) >= 0:
                    if left == 0:
                        orders[k] = order_of(s, cell, d, half)
                        return
                    left -= 1


@kernel
def score_move(p, s, k, cell, near):
    """What the expander thinks of a move: nothing when it could not capture the cell that it leads to."""
    army = s.army[cell]
    if army <= s.army[near] + 1:
        return 0.0
    if s.owner[near] == k + 1:
        return float(army)
    if s.owner[near] == 0:
        return EXPANSION * army
    return ENEMY * EXPANSION * army if s.camp[near] != p.side[k] + 1 else float(army)


@kernel
def play_expander(p, s, k, orders, rng):
    """A move drawn in proportion to its score; where no move has one, any legal move."""
    total, legal = 0.0, 0
    for cell in range(s.terrain.size):
        if s.owner[cell] == k + 1 and s.army[cell] > 1:
            for d in range(4):
                near = may_move(p, s, k, cell, d)
                if near >= 0:
                    total += score_move(p, s, k, cell, near)
                    legal += 1
    orders[k] = 0
    if legal == 0:
        return
    left = uniform(rng, 0.0, 1.0) * (total if total > 0.0 else legal)
    for cell in range(s.terrain.size):
        if s.owner[cell] == k + 1 and s.army[cell] > 1:
            for d in range(4):
                near = may_move(p, s, k, cell, d)
                if near >= 0:
                    share = score_move(p, s, k, cell, near) if total > 0.0 else 1.0
                    if share > 0.0:
                        orders[k] = order_of(s, cell, d, 0)
                        left -= share
                        if left < 0.0:
                            return


# --- hunter and harvester ---------------------------------------------------------------------------------------------

CLOSED, OPEN, FOG = 0, 1, 2  # what the hunter knows of a cell: no way, a way, a way perhaps


@kernel
def affordable(s, cell, strongest):
    """Whether a city in sight could be taken from neutral hands."""
    return s.terrain[cell] == CITY and s.owner[cell] == 0 and strongest - 1 > s.army[cell]


@kernel
def survey(p, s, k, strongest, buys):
    """What player k knows of every cell, into s.known. Cities of others are walls, but for those it would buy."""
    side = p.side[k]
    for cell in range(s.terrain.size):
        terrain, built = s.terrain[cell], s.terrain[cell] == MOUNTAIN or s.terrain[cell] == CITY
        if s.seen[side, cell] == 0:
            s.known[cell] = CLOSED if built else FOG
        elif terrain == MOUNTAIN or (terrain == CITY and s.owner[cell] != k + 1):
            s.known[cell] = OPEN if buys and affordable(s, cell, strongest) else CLOSED
        else:
            s.known[cell] = OPEN


@kernel
def spread(p, s, field, count):
    """Walking distances from the first `count` cells of s.queue over cells that are not CLOSED, into a field that is 0
    there and FAR elsewhere."""
    queue, known, beside, head = s.queue, s.known, p.near, 0
    while head < count:
        cell = queue[head]
        head += 1
        for d in range(4):
            near = beside[cell, d]
            if near >= 0 and field[near] == FAR and known[near] != CLOSED:
                field[near] = field[cell] + 1
                queue[count] = near
                count += 1


@kernel
def add_goal(s, count, cell):
    """One more goal in s.queue and s.field."""
    s.queue[count] = cell
    s.field[cell] = 0
    return count + 1


@kernel
def is_goal(p, s, k, cell, kind, strongest):
    """Whether a cell in sight is what the hunter looks for: an enemy general (0), a city to buy (1), enemy land (2)."""
    if s.seen[p.side[k], cell] == 0:
        return False
    if kind == 1:
        return affordable(s, cell, strongest)
    enemy = s.camp[cell] > 0 and s.camp[cell] != p.side[k] + 1
    return enemy and (s.terrain[cell] == GENERAL if kind == 0 else s.terrain[cell] != CITY)


@kernel
def choose_goals(p, s, k, strongest, buys):
    """Put the cells that player k walks to into s.queue and s.field; returns how many. Enemy generals in sight, cities
    to buy, enemy land, or the farthest cell in the fog, or the farthest that is not its own."""
    cells = s.terrain.size
    for cell in range(cells):
        s.field[cell] = FAR
    count = 0
    for kind in range(3):
        if kind != 1 or buys:
            for cell in range(cells):
                if is_goal(p, s, k, cell, kind, strongest):
                    count = add_goal(s, count, cell)
        if count > 0:
            return count
    for cell in range(cells):
        s.nearest[cell] = FAR
    s.queue[0] = s.home[k]
    s.nearest[s.home[k]] = 0
    spread(p, s, s.nearest, 1)
    for wanted in (FOG, OPEN):
        span = -1
        for cell in range(cells):
            if s.known[cell] >= wanted and s.owner[cell] != k + 1 and s.nearest[cell] != FAR:
                span = max(span, s.nearest[cell])
        for cell in range(cells):
            if s.known[cell] >= wanted and s.owner[cell] != k + 1 and s.nearest[cell] == span:
                count = add_goal(s, count, cell)
        if count > 0:
            return count
    return 0


@kernel
def step_to_goal(p, s, cell):
    """The direction of the neighbour that is nearest to a goal; -1 when none is nearer than the cell itself."""
    best, found = s.field[cell], -1
    for d in range(4):
        near = p.near[cell, d]
        if near >= 0 and s.known[near] != CLOSED and s.field[near] < best:
            best, found = s.field[near], d
    return found


@kernel
def hunt(p, s, k, orders, buys):
    """Capture a general; else send half of a full garrison out; else bring the largest army nearer to the goal."""
    orders[k] = 0
    if s.out[k]:
        return
    strongest, home = 0, s.home[k]
    for cell in range(s.terrain.size):
        if s.owner[cell] == k + 1:
            strongest = max(strongest, s.army[cell])
    survey(p, s, k, strongest, buys)
    spread(p, s, s.field, choose_goals(p, s, k, strongest, buys))
    killer, killer_way, mover, mover_way = -1, 0, -1, 0
    for cell in range(s.terrain.size):
        if s.owner[cell] != k + 1 or s.army[cell] < 2:
            continue
        way = step_to_goal(p, s, cell)
        if way < 0:
            continue
        near = p.near[cell, way]
        kills = s.terrain[near] == GENERAL and s.camp[near] != p.side[k] + 1 and s.army[cell] - 1 > s.army[near]
        if kills and (killer < 0 or s.army[cell] > s.army[killer]):
            killer, killer_way = cell, way
        if cell != home and (mover < 0 or s.army[cell] > s.army[mover]):
            mover, mover_way = cell, way
    feed_way = step_to_goal(p, s, home)
    if killer >= 0:
        orders[k] = order_of(s, killer, killer_way, 0)
    elif s.army[home] >= 2 * KEPT and feed_way >= 0:
        orders[k] = order_of(s, home, feed_way, 1)
    elif mover >= 0:
        orders[k] = order_of(s, mover, mover_way, 0)


@kernel
def play_hunter(p, s, k, orders, rng):
    """Sends what its general can spare towards the enemy, and takes the enemy's general when it can. Draws nothing."""
    hunt(p, s, k, orders, False)


@kernel
def play_harvester(p, s, k, orders, rng):
    """A hunter that takes the neutral cities which it can afford on its way."""
    hunt(p, s, k, orders, True)
