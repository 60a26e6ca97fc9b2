"""The rules of Ingenious: the bag and the racks, scoring, turns, the winner, and the meaning of choices. The board is
declared in `ingenious.py`.
"""

from rlenvs.core import below, kernel

COLORS, RACK, MOST = 6, 6, 18


@kernel
def tiles_in_bag(s):
    left = 0
    for kind in range(s.bag.size):
        left += s.bag[kind]
    return left


@kernel
def draw_tiles(p, s, k, rng):
    """Fill the empty slots of a rack."""
    for slot in range(RACK):
        left = tiles_in_bag(s)
        if s.rack[k, slot, 0] >= 0 or left == 0:
            continue
        chosen = below(rng, left)
        for kind in range(s.bag.size):
            if 0 <= chosen < s.bag[kind]:
                s.rack[k, slot, 0] = p.kind[kind, 0]
                s.rack[k, slot, 1] = p.kind[kind, 1]
                s.bag[kind] -= 1
                chosen = -1
            elif chosen >= 0:
                chosen -= s.bag[kind]


@kernel
def is_free(p, s, place):
    """Whether a tile may lie in a place."""
    first, second = p.place[place, 0], p.place[place, 1]
    if s.cell[first] > 0 or s.cell[second] > 0:
        return False
    if not p.opening or s.moves >= s.alive.size:
        return True
    one, other = p.beside[first], p.beside[second]
    return (one >= 0 and not s.begun[one]) or (other >= 0 and not s.begun[other])


@kernel
def length(p, s, cell, direction, color):
    """How many hexes of a colour follow each other from a hex in a direction, itself not counted."""
    count = 0
    cell = p.near[cell, direction]
    while cell >= 0 and s.cell[cell] == 1 + color:
        count += 1
        cell = p.near[cell, direction]
    return count


@kernel
def points_at(p, s, cell, other, color):
    """What a hex of a tile scores whose other hex lies in `other`."""
    total = 0
    for direction in range(6):
        if p.near[cell, direction] != other:
            total += length(p, s, cell, direction, color)
    return total


@kernel
def can_move(p, s, k):
    """Whether an agent has a tile, and a place for it."""
    tiles, free = 0, False
    for slot in range(RACK):
        tiles += s.rack[k, slot, 0] >= 0
    for place in range(p.place.shape[0]):
        free = free or (s.cell[p.place[place, 0]] == 0 and s.cell[p.place[place, 1]] == 0)
    return free and tiles > 0


@kernel
def lowest_score(p, s, k):
    lowest = MOST
    for color in range(p.colors):
        lowest = min(lowest, s.score[k, color])
    return lowest


@kernel
def lay(p, s, k, slot, place):
    """A tile onto the board; its points lie in s.gain."""
    for color in range(COLORS):
        s.gain[color] = 0
    for half in range(2):
        cell, other = p.place[place, half], p.place[place, 1 - half]
        color = s.rack[k, slot, half]
        s.gain[color] += points_at(p, s, cell, other, color)
    for half in range(2):
        cell = p.place[place, half]
        s.cell[cell] = 1 + s.rack[k, slot, half]
        if p.beside[cell] >= 0 and s.moves < s.alive.size:
            s.begun[p.beside[cell]] = True
        s.rack[k, slot, half] = -1
    s.last = place


@kernel
def score_gain(p, s, k, r):
    """Add s.gain to the scores of an agent; returns whether all of them are full."""
    before, full = lowest_score(p, s, k), 0
    for color in range(COLORS):
        old = s.score[k, color]
        new = min(old + s.gain[color], MOST)
        s.score[k, color] = new
        full += new == MOST
        if p.again and old < MOST and new == MOST:
            s.again += 1
        s.gain[color] = new - old
    r.lowest[k] = lowest_score(p, s, k) - before
    r.red[k] = s.gain[0]
    r.orange[k] = s.gain[1]
    r.yellow[k] = s.gain[2]
    r.green[k] = s.gain[3]
    r.blue[k] = s.gain[4]
    r.violet[k] = s.gain[5]
    return full == p.colors


@kernel
def may_exchange(p, s, k):
    """Whether no tile of an agent has a colour of its lowest score, a place is free, and the bag holds enough tiles."""
    lowest, lacks = lowest_score(p, s, k), can_move(p, s, k)
    for slot in range(RACK):
        for half in range(2):
            color = s.rack[k, slot, half]
            lacks = lacks and (color < 0 or s.score[k, max(color, 0)] > lowest)
    return lacks and tiles_in_bag(s) >= RACK


@kernel
def exchange_tiles(p, s, k, rng):
    """Six tiles of the bag for all of a rack, which go back into the bag afterwards."""
    for kind in range(s.bag.size):
        s.aside[kind] = 0
    for slot in range(RACK):
        one = min(s.rack[k, slot, 0], s.rack[k, slot, 1])
        two = max(s.rack[k, slot, 0], s.rack[k, slot, 1])
        for kind in range(s.bag.size):
            if p.kind[kind, 0] == one and p.kind[kind, 1] == two:
                s.aside[kind] += 1
        s.rack[k, slot, 0] = -1
        s.rack[k, slot, 1] = -1
    draw_tiles(p, s, k, rng)
    for kind in range(s.bag.size):
        s.bag[kind] += s.aside[kind]


@kernel
def keeping(p):
    """The choice that keeps one's tiles; the next one exchanges them."""
    return 0 if p.planes else RACK * p.place.shape[0]


@kernel
def kind_at(p, s, k, slot):
    """Which pair of colours a tile is, -1 for an empty slot."""
    one, two = s.rack[k, slot, 0], s.rack[k, slot, 1]
    return one * p.colors - one * (one - 1) // 2 + two - one if one >= 0 else -1


@kernel
def choice_of(p, s, k, slot, place):
    if not p.planes:
        return slot * p.place.shape[0] + place
    return 2 * p.exchange + kind_at(p, s, k, slot) * p.place_at.size + p.spot[place]


@kernel
def slot_of(p, s, k, choice):
    """The slot of the tile that a choice lays, -1 where there is none."""
    if not p.planes:
        slot = choice // p.place.shape[0]
        return slot if slot < RACK and s.rack[k, min(slot, RACK - 1), 0] >= 0 else -1
    kind = (choice - 2 * p.exchange) // p.place_at.size
    for slot in range(RACK):
        if choice >= 2 * p.exchange and kind_at(p, s, k, slot) == kind:
            return slot
    return -1


@kernel
def place_of(p, choice):
    """The place where a choice lays a tile, -1 where that is not on the board."""
    if not p.planes:
        return choice % p.place.shape[0]
    return p.place_at[max(choice - 2 * p.exchange, 0) % p.place_at.size]


@kernel
def pass_turn(p, s):
    """The next agent who has a tile moves; whether there is none."""
    waits = 0
    while waits < s.alive.size:
        s.turn = (s.turn + 1) % s.alive.size
        waits += 1
        if can_move(p, s, s.turn):
            waits = s.alive.size + 1
    return waits == s.alive.size


@kernel
def end_game(s, r):
    """Whose scores, in ascending order, are the highest."""
    for k in range(s.alive.size):
        for color in range(COLORS):
            rank = 0
            for other in range(COLORS):
                rank += s.score[k, other] < s.score[k, color] or (
                    s.score[k, other] == s.score[k, color] and other < color
                )
            s.order[k, rank] = s.score[k, color]
    for k in range(s.alive.size):
        r.terminated[k] = True
        r.success[k] = True
        for other in range(s.alive.size):
            if is_behind(s, k, other):
                r.success[k] = False


@kernel
def is_behind(s, k, other):
    for rank in range(COLORS):
        if s.order[k, rank] != s.order[other, rank]:
            return s.order[k, rank] < s.order[other, rank]
    return False
