"""Random boards, like those of the published generators.

"current" and "paper" are two generations of strakam/generals-bots, "uniform" is the second one's simpler mode. They are
published for two players; more players are placed by the same rules, each relative to all placed before. If a board is
too small for the rules, the originals try forever; here later attempts require less distance and fewer mountains.
"""

import numpy as np

from rlenvs.core import below, choice, kernel, uniform
from rlenvs.multi.generals.board import CITY, FAR, GENERAL, MOUNTAIN, PLAIN, SHOWN, measure, set_owner

GENERATOR = choice("current", "paper", "uniform", doc="generator of random boards")
CURRENT, PAPER = GENERATOR.codes("current", "paper")
TRIES, DEMANDING_TRIES = 60, 30
CANDIDATES = 8  # places tried for the first general ("current")
NEAR_CITY = 6  # steps from a general to its city
ROOM_RADIUS, ROOM_TOLERANCE = 7, 5  # "current": ground within so many steps, and by how much it may differ
FAIR_RADIUS, FAIR_TOLERANCE = 5, 10  # the same of "paper"
FEWEST_CITIES, MOST_CITIES = 9, 11
CITY_SPREAD = 11  # armies of cities: so many values
PAPER_CHOICES = 4  # places tried for the second general ("paper")
NONE, ONE, TWO, FOUR, TOP_BYTE = (np.uint64(n) for n in (0, 1, 2, 4, 56))
PAIRS, FOURS, BYTES, ALL_BYTES = (np.uint64(int(byte * 8, 16)) for byte in ("55", "33", "0f", "01"))


@kernel
def clear_ground(p, s, rng):
    """Draw the size of the board; open ground inside it, mountains outside."""
    s.height = p.rows - below(rng, p.vary + 1)
    s.width = p.columns - below(rng, p.vary + 1)
    cell = 0
    for row in range(p.rows):
        for column in range(p.columns):
            inside = row < s.height and column < s.width
            s.terrain[cell] = PLAIN if inside else MOUNTAIN
            s.army[cell] = 0
            cell += 1
    for k in range(s.home.size):
        s.home[k] = -1


@kernel
def list_cells(p, s, terrain):
    """The cells of the board with some terrain, into s.queue; returns how many."""
    count = 0
    for row in range(s.height):
        for cell in range(row * p.columns, row * p.columns + s.width):
            if s.terrain[cell] == terrain:
                s.queue[count] = cell
                count += 1
    return count


@kernel
def shuffle_first(cells, wanted, count, rng):
    """Bring a random choice of `wanted` among the first `count` cells to the front."""
    for i in range(min(wanted, count)):
        j = i + below(rng, count - i)
        cells[i], cells[j] = cells[j], cells[i]


@kernel
def make_city(p, s, cell, rng):
    """A neutral city with a random garrison."""
    s.terrain[cell] = CITY
    s.army[cell] = int(p.garrison) + below(rng, CITY_SPREAD)


@kernel
def scatter(p, s, wanted, old, new, rng):
    """Turn some random cells of terrain `old` into mountains or cities."""
    count = list_cells(p, s, old)
    shuffle_first(s.queue, wanted, count, rng)
    for i in range(min(wanted, count)):
        if new == CITY:
            make_city(p, s, s.queue[i], rng)
        else:
            s.terrain[s.queue[i]] = new


@kernel
def note_ground(p, s):
    """All that is no mountain, a word of bits per row, into s.ground; and that no room is known yet."""
    cell = 0
    for row in range(s.ground.size):
        word = NONE
        for column in range(p.columns):
            if s.terrain[cell] != MOUNTAIN:
                word |= ONE << np.uint64(column)
            s.room[cell] = -1
            cell += 1
        s.ground[row] = word


@kernel
def count_bits(word):
    """How many bits of a 64-bit word are set: sums of pairs, of fours, of bytes."""
    word -= (word >> ONE) & PAIRS
    word = (word & FOURS) + ((word >> TWO) & FOURS)
    word = (word + (word >> FOUR)) & BYTES
    return int((word * ALL_BYTES) >> TOP_BYTE)


@kernel
def room_at(p, s, cell):
    """How many other cells can be reached from a cell in ROOM_RADIUS steps; kept in s.room. A flood over words of
    bits: in each step every row takes in its neighbours and those of the rows above and below."""
    if s.room[cell] < 0:
        ground, flood, start = s.ground, s.flood, cell // p.columns
        top, bottom = max(start - ROOM_RADIUS, 0), min(start + ROOM_RADIUS, ground.size - 1)
        for row in range(top, bottom + 1):
            flood[row] = NONE
        flood[start] = ONE << np.uint64(cell % p.columns)
        for step in range(1, ROOM_RADIUS + 1):
            above = NONE
            last = min(start + step, bottom)
            for row in range(max(start - step, top), last + 1):
                here = flood[row]
                below_it = flood[row + 1] if row < last else NONE
                flood[row] = (here | (here << ONE) | (here >> ONE) | above | below_it) & ground[row]
                above = here
        count = -1
        for row in range(top, bottom + 1):
            count += count_bits(flood[row])
        s.room[cell] = count
    return int(s.room[cell])


@kernel
def draw_candidates(p, s, rng):
    """Places for the first general, into s.candidate: cells near a city, then any. Returns how many."""
    field, queue = s.field, s.queue
    count = list_cells(p, s, CITY)
    for cell in range(field.size):
        field[cell] = FAR
    for i in range(count):
        field[queue[i]] = 0
    head = 0
    while head < count:
        cell = queue[head]
        head += 1
        for d in range(4):
            near = p.near[cell, d]
            if near >= 0 and field[cell] < NEAR_CITY and field[near] == FAR and s.terrain[near] != MOUNTAIN:
                field[near] = field[cell] + 1
                queue[count] = near
                count += 1
    shuffle_first(queue, CANDIDATES, count, rng)
    chosen = min(CANDIDATES, count)
    for i in range(chosen):
        s.candidate[i] = queue[i]
    others = 0
    for cell in range(field.size):
        if s.terrain[cell] == PLAIN and field[cell] == FAR:
            queue[others] = cell
            others += 1
    shuffle_first(queue, CANDIDATES - chosen, others, rng)
    for i in range(min(CANDIDATES - chosen, others)):
        s.candidate[chosen] = queue[i]
        chosen += 1
    return chosen


@kernel
def rank_candidate(p, s, first, need):
    """How good a place is for the first general: a fair opponent far enough away, else the fairest one that is far
    enough, else the farthest."""
    count = measure(p, s, first, True, FAR)
    span = int(s.field[s.queue[count - 1]])
    room, gap = room_at(p, s, first), s.field.size
    for i in range(1, count):
        cell = s.queue[i]
        if s.field[cell] >= need:
            gap = min(gap, abs(room_at(p, s, cell) - room))
            if gap == 0:
                break
    far = 1 if gap < s.field.size else 0
    fair = 1 if gap <= ROOM_TOLERANCE else 0
    return (2 * fair + far) * 100_000_000 - gap * 10_000 + span


@kernel
def list_far(s, need):
    """Cells at walking distance of at least `need` from all generals, into s.queue; returns how many."""
    count = 0
    for cell in range(s.nearest.size):
        if s.nearest[cell] != FAR and s.nearest[cell] >= need:
            s.queue[count] = cell
            count += 1
    return count


@kernel
def place_next(p, s, k, need, rng):
    """Place general k: on any of the far cells with about as much room as the first general has, else on the one that
    is nearest to that, else as far away as can be. Returns whether there was a cell at all."""
    queue, room = s.queue, room_at(p, s, s.home[0])
    count = list_far(s, need)
    if count == 0:
        span = 0
        for cell in range(s.nearest.size):
            if s.nearest[cell] != FAR:
                span = max(span, int(s.nearest[cell]))
        if span > 0:
            s.home[k] = queue[below(rng, list_far(s, span))]
        return span > 0
    best = -1
    for i in range(count):  # the first fair one in random order: any of them with equal chance
        j = i + below(rng, count - i)
        queue[i], queue[j] = queue[j], queue[i]
        gap = abs(room_at(p, s, queue[i]) - room)
        if best < 0 or gap < best:
            best = gap
            s.home[k] = queue[i]
        if best <= ROOM_TOLERANCE:
            break
    return True


@kernel
def note_distances(p, s, k):
    """Bring s.nearest, the walking distance to the nearest general, up to date after general k was placed."""
    measure(p, s, s.home[k], True, FAR)
    for cell in range(s.nearest.size):
        s.nearest[cell] = s.field[cell] if k == 0 else min(s.nearest[cell], s.field[cell])


@kernel
def try_current(p, s, ease, rng):
    """Mountains, cities carved out of them, then generals at walking distance with comparable ground around."""
    area = s.height * s.width
    least, most = int(p.mountains * area), int((p.mountains + p.mountain_spread) * area)
    mountains = min(least + below(rng, most - least + 1), area // 4)
    scatter(p, s, int(mountains * ease), PLAIN, MOUNTAIN, rng)
    scatter(p, s, FEWEST_CITIES + below(rng, MOST_CITIES - FEWEST_CITIES + 1), MOUNTAIN, CITY, rng)
    need = max(int(p.distance * ease), 1)
    note_ground(p, s)
    best, found = 0, -1
    for i in range(draw_candidates(p, s, rng)):
        rank = rank_candidate(p, s, s.candidate[i], need)
        if found < 0 or rank > best:
            best, found = rank, s.candidate[i]
    s.home[0] = found
    for k in range(1, s.home.size):
        note_distances(p, s, k - 1)
        if not place_next(p, s, k, need, rng):
            return False
    shuffle_first(s.home, s.home.size, s.home.size, rng)
    return True


@kernel
def any_cell(p, s, rng):
    """Any cell of the board."""
    row = below(rng, s.height)
    return row * p.columns + below(rng, s.width)


@kernel
def place_by_walking(p, s, need, rng):
    """Generals on cells drawn at random, some steps apart; a few draws each. Returns whether all stand."""
    s.home[0] = any_cell(p, s, rng)
    for k in range(1, s.home.size):
        note_distances(p, s, k - 1)
        for _ in range(PAPER_CHOICES):
            cell = any_cell(p, s, rng)
            if s.home[k] < 0 and s.nearest[cell] >= need and s.nearest[cell] != FAR:
                s.home[k] = cell
        if s.home[k] < 0:
            return False
    return True


@kernel
def near_city(p, s, k, rng):
    """A city within NEAR_CITY steps of general k, where there is a cell for one; returns how many."""
    count = measure(p, s, s.home[k], True, NEAR_CITY)
    kept = 0
    for i in range(1, count):
        taken = False
        for j in range(s.home.size):
            taken = taken or s.home[j] == s.queue[i]
        if not taken:
            s.queue[kept] = s.queue[i]
            kept += 1
    if kept == 0:
        return 0
    make_city(p, s, s.queue[below(rng, kept)], rng)
    return 1


@kernel
def open_ground(p, s, k):
    """Open cells within FAIR_RADIUS steps of general k, over all that is no mountain."""
    count = measure(p, s, s.home[k], True, FAIR_RADIUS)
    found = 0
    for i in range(1, count):
        if s.terrain[s.queue[i]] == PLAIN:
            found += 1
    return found


@kernel
def try_paper(p, s, ease, rng):
    """Mountains, generals at walking distance, a city near each, the other cities carved out of mountains."""
    area = s.height * s.width
    mountains = int(p.mountains * area + p.mountain_spread * area * uniform(rng, 0.0, 1.0))
    scatter(p, s, int(mountains * ease), PLAIN, MOUNTAIN, rng)
    cities = FEWEST_CITIES + below(rng, MOST_CITIES - FEWEST_CITIES + 1)
    if not place_by_walking(p, s, max(int(p.distance * ease), 1), rng):
        return False
    for k in range(s.home.size):
        cities -= near_city(p, s, k, rng)
    least, most = area, 0
    for k in range(s.home.size):
        ground = open_ground(p, s, k)
        least, most = min(least, ground), max(most, ground)
    scatter(p, s, max(cities, 0), MOUNTAIN, CITY, rng)
    return most - least <= FAIR_TOLERANCE


@kernel
def try_uniform(p, s, ease, rng):
    """Every cell drawn by itself; generals at half the board's longer side, as the crow walks along streets."""
    for row in range(s.height):
        for cell in range(row * p.columns, row * p.columns + s.width):
            chance = uniform(rng, 0.0, 1.0)
            if chance < p.mountains * ease:
                s.terrain[cell] = MOUNTAIN
            elif chance < (p.mountains + p.city_density) * ease:
                make_city(p, s, cell, rng)
    need = max(int(max(s.height, s.width) // 2 * ease), 1)
    for k in range(s.home.size):
        cell = any_cell(p, s, rng)
        for j in range(k):
            rows = abs(cell // p.columns - s.home[j] // p.columns)
            if rows + abs(cell % p.columns - s.home[j] % p.columns) < need:
                return False
        s.home[k] = cell
    return True


@kernel
def connected(p, s, through_cities):
    """Whether all generals stand, on cells of their own, and can reach each other."""
    for k in range(s.home.size):
        if s.home[k] < 0:
            return False
        for j in range(k):
            if s.home[j] == s.home[k]:
                return False
        s.terrain[s.home[k]] = GENERAL
    measure(p, s, s.home[0], through_cities, FAR)
    reached = 0
    for k in range(s.home.size):
        reached += s.field[s.home[k]] != FAR
    return reached == s.home.size


@kernel
def draw_board(p, s, rng):
    """A random board by the chosen generator. Tries again until one is valid; later tries ask for less, and the last
    board has neither mountains nor cities, and always is."""
    for attempt in range(TRIES):
        ease = min(1.0, (TRIES - 1.0 - attempt) / DEMANDING_TRIES)
        clear_ground(p, s, rng)
        if p.generator == CURRENT:
            fine = try_current(p, s, ease, rng)
        elif p.generator == PAPER:
            fine = try_paper(p, s, ease, rng)
        else:
            fine = try_uniform(p, s, ease, rng)
        if fine and connected(p, s, p.generator == CURRENT):
            return
    clear_ground(p, s, rng)
    count = list_cells(p, s, PLAIN)
    shuffle_first(s.queue, s.home.size, count, rng)
    for k in range(s.home.size):
        s.home[k] = s.queue[k]


@kernel
def take_given(p, s):
    """The board that was given."""
    s.height, s.width = p.rows, p.columns
    for cell in range(s.terrain.size):
        s.terrain[cell] = p.given_terrain[cell]
        s.army[cell] = p.given_army[cell]
    for k in range(s.home.size):
        s.home[k] = p.given_home[k]


@kernel
def set_up(p, s):
    """From terrain and homes to the state in which a game begins."""
    if not p.fog:
        for side in range(s.seen.shape[0]):
            for cell in range(s.terrain.size):
                s.seen[side, cell] = SHOWN
    for k in range(s.home.size):
        home = s.home[k]
        s.terrain[home] = GENERAL
        s.army[home] = 1
        set_owner(p, s, home, k + 1)
    for cell in range(s.terrain.size):
        if s.terrain[cell] == CITY and not p.neutral_cities:
            s.terrain[cell] = PLAIN
            s.army[cell] = 0
        if s.terrain[cell] == CITY or s.terrain[cell] == GENERAL:
            s.structure[s.structures] = cell
            s.structures += 1
