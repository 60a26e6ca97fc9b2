"""The rules of a tick: orders are read, castles built, moves made one after the other, captures resolved, armies grow.

Orders are numbered as actions are: 0 passes; 1 + (direction + 4 * half) * cells + cell moves from a cell up, down, left
or right; 1 + 8 * cells + cell builds a castle.
"""

from rlenvs.core import choice, kernel
from rlenvs.kits.boards.changes import note_change
from rlenvs.multi.generals.board import CITY, GENERAL, MOUNTAIN, PLAIN, set_owner

ORDER = choice("smaller_first", "larger_first", doc="which move is made first when nothing else decides")
(SMALLER_FIRST,) = ORDER.codes("smaller_first")
MUTUAL_CAPTURE = choice("draw", "first", doc="who wins when generals capture each other in one tick")
(FIRST,) = MUTUAL_CAPTURE.codes("first")
NOTHING, MOVE, BUILD = 0, 1, 2
CHASE, REINFORCE = 2, 1  # ranks of moves
PRICE, CROWDING, RELIEF = 35, 14, 2  # of a castle: alone, more beside a structure, less per cell of distance
LAND_PERIOD, STRUCTURE_PERIOD = 50, 2  # ticks between the growth of all land, of generals and cities


@kernel
def price(p, s, k, cell):
    """What a castle costs player k: more near the structures it has."""
    row, column = cell // p.columns, cell % p.columns
    total = PRICE
    for i in range(s.structures):
        other = s.structure[i]
        if s.owner[other] == k + 1:
            apart = abs(other // p.columns - row) + abs(other % p.columns - column)
            total += max(0, CROWDING - RELIEF * apart)
    return total


@kernel
def read_order(p, s, k):
    """Decode order k into s.kind, s.source, s.target and s.half; an impossible one becomes NOTHING. Returns whether it
    was possible, as passing is."""
    order, cells = s.orders[k], s.terrain.size
    s.kind[k] = NOTHING
    s.source[k] = s.target[k] = -1
    if order == 0:
        return True
    plane, cell = (order - 1) // cells, (order - 1) % cells
    if s.out[k] or s.owner[cell] != k + 1:
        return False
    if plane == 8:
        if s.terrain[cell] != PLAIN or s.army[cell] < price(p, s, k, cell):
            return False
        s.kind[k] = BUILD
    else:
        near = p.near[cell, plane % 4]
        if s.army[cell] < 2 or near < 0 or s.terrain[near] == MOUNTAIN:
            return False
        s.kind[k] = MOVE
        s.half[k] = plane >= 4
        s.target[k] = near
    s.source[k] = cell
    return True


@kernel
def build_castle(p, s, k):
    """The castle that order k asks for."""
    cell = s.source[k]
    cost = price(p, s, k, cell)
    s.army[cell] -= cost
    note_change(s, cell)
    s.troops[k] -= cost
    s.cities[k] += 1
    s.terrain[cell] = CITY
    s.structure[s.structures] = cell
    s.structures += 1


@kernel
def urgency(p, s, k):
    """A number that says when move k is made; the largest first."""
    chases, army = 0, int(s.army[s.source[k]])
    for j in range(s.kind.size):
        if j != k and s.kind[j] == MOVE and s.source[j] == s.target[k]:
            chases = CHASE
    reinforces = REINFORCE if s.owner[s.target[k]] == k + 1 else 0
    if p.order == SMALLER_FIRST:
        rank = chases + reinforces
        size = 2_000_000_000 - army
    else:
        rank = max(chases, reinforces)
        size = army if rank == 0 else 0
    return (rank * 4_000_000_000 + size) * s.kind.size - k


@kernel
def capture(p, s, k, cell):
    """Player k takes or touches the general on a cell; its owner is out."""
    for j in range(s.home.size):
        if s.home[j] == cell and not s.out[j] and s.captor[j] < 0 and p.side[j] != p.side[k]:
            s.captor[j] = k
            if p.mutual_capture == FIRST:
                settle_captures(p, s)


@kernel
def make_move(p, s, k):
    """Move k, as far as the board still allows it."""
    source, target = s.source[k], s.target[k]
    army = s.army[source]
    amount = army // 2 if s.half[k] else army - 1
    if s.owner[source] != k + 1 or amount < 1:
        return
    s.army[source] -= amount
    note_change(s, source)
    note_change(s, target)
    holder, enemy = s.owner[target], s.camp[target] != p.side[k] + 1
    if not enemy:
        s.army[target] += amount
        s.troops[k] -= amount
        s.troops[holder - 1] += amount
        if s.terrain[target] != GENERAL:
            set_owner(p, s, target, k + 1)
        return
    defence = s.army[target]
    lost = min(amount, defence)
    s.troops[k] -= lost
    if holder > 0:
        s.troops[holder - 1] -= lost
    s.army[target] = defence - lost
    touches = p.deathtouch > 0 and s.elapsed >= p.deathtouch and s.terrain[target] == GENERAL
    if amount > defence:
        # the cell changes hands empty; those who took it move in
        set_owner(p, s, target, k + 1)
        s.army[target] = amount - lost
    if s.terrain[target] == GENERAL and (amount > defence or touches):
        capture(p, s, k, target)


@kernel
def make_moves(p, s):
    """All moves, in their order."""
    for k in range(s.kind.size):
        s.rank[k] = urgency(p, s, k) if s.kind[k] == MOVE else -1
    for _ in range(s.kind.size):
        first = 0
        for k in range(1, s.kind.size):
            if s.rank[k] > s.rank[first]:
                first = k
        if s.rank[first] < 0:
            return
        s.rank[first] = -1
        make_move(p, s, first)


@kernel
def heir(s, k):
    """Who gets the cells of player k: its captor, or whoever captured that one in turn; -1 when they captured each
    other in a circle, or nobody captured k."""
    for _ in range(s.captor.size):
        k = s.captor[k]
        if k < 0 or s.captor[k] < 0:
            return k
    return -1


@kernel
def settle_captures(p, s):
    """Players whose generals were captured are out, and their captors get their cells. Those of players who captured
    each other fall to nobody, unless the game ends with that."""
    for k in range(s.captor.size):
        if s.captor[k] >= 0:
            s.out[k] = True
    if living_sides(p, s) == 0:
        return
    for k in range(s.captor.size):
        if s.captor[k] < 0:
            continue
        for cell in range(s.owner.size):
            if s.owner[cell] == k + 1:
                set_owner(p, s, cell, heir(s, k) + 1)
    for k in range(s.captor.size):
        s.captor[k] = -1


@kernel
def living_sides(p, s):
    """How many sides have a player that is not out."""
    count = 0
    for k in range(s.out.size):
        if s.out[k]:
            continue
        count += 1
        for j in range(k):
            if not s.out[j] and p.side[j] == p.side[k]:
                count -= 1
                break
    return count


@kernel
def turn_generals(s):
    """The generals of those who are out become cities, where the game goes on."""
    for k in range(s.out.size):
        home = s.home[k]
        if s.out[k] and s.terrain[home] == GENERAL:
            s.terrain[home] = CITY
            note_change(s, home)
            if s.owner[home] > 0:
                s.cities[s.owner[home] - 1] += 1


@kernel
def grow(s, tick):
    """More soldiers: on generals and cities every second tick, on all land every fiftieth."""
    if tick % LAND_PERIOD == 0:
        for cell in range(s.army.size):
            if s.owner[cell] > 0:
                s.army[cell] += 1
                note_change(s, cell)
        for k in range(s.land.size):
            s.troops[k] += s.land[k]
    if tick % STRUCTURE_PERIOD == 0:
        for i in range(s.structures):
            cell = s.structure[i]
            if s.owner[cell] > 0:
                s.army[cell] += 1
                note_change(s, cell)
                s.troops[s.owner[cell] - 1] += 1


@kernel
def play_tick(p, s):
    """One tick, when s.kind, s.source, ... say what everybody wants. Returns how many sides are left."""
    for k in range(s.kind.size):
        s.captor[k] = -1
        if s.kind[k] == BUILD:
            build_castle(p, s, k)
    make_moves(p, s)
    captured = False
    for k in range(s.captor.size):
        captured = captured or s.captor[k] >= 0
    if captured:
        settle_captures(p, s)
    left = living_sides(p, s)
    if left > 1:
        turn_generals(s)
        grow(s, s.elapsed + 1)
    return left
