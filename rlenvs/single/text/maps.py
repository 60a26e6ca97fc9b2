"""Episodes: where things are, and the maps and quests of the published games, drawn anew by kernels."""

from rlenvs.core import below, kernel
from rlenvs.single.text.rule_set import OPPOSITE
from rlenvs.single.text.rules import CLOSED, LOCKED, OPEN

MODE, QUEST_LENGTH, GRID, FURNITURE, KEY_COUNT = range(5)  # of p.levers
LEAST, MOST, FETCHED, ROOM_COUNT, SPLIT, LEARNT = range(5, 11)
TRAIN, VALID, TEST = range(3)  # whose games p.levers[SPLIT] asks for
ATTEMPTS = 1000
NOT_ASKED = 2  # in s.done: a quest that this episode does not have
FLOOR = -1  # in place of the number of what the target is in


@kernel
def connect(s, room, d, there):
    """Join two rooms."""
    s.exit[room, d] = there + 1
    s.exit[there, OPPOSITE[d]] = room + 1


@kernel
def free_exit(s, room, rng):
    """A direction in which a room has no exit yet, or -1."""
    count = 0
    for d in range(4):
        count += 1 if s.exit[room, d] == 0 else 0
    if count == 0:
        return -1
    left = below(rng, count)
    for d in range(4):
        if s.exit[room, d] == 0:
            if left == 0:
                return d
            left -= 1
    return -1


@kernel
def shuffle_rooms(s, rng):
    """s.queue: the rooms in a random order, so that their names say nothing about where they are."""
    rooms = s.exit.shape[0]
    for k in range(rooms):
        s.queue[k] = k
    for k in range(rooms - 1, 0, -1):
        j = below(rng, k + 1)
        s.queue[k], s.queue[j] = s.queue[j], s.queue[k]


@kernel
def make_chain(p, s, rng):
    """The coin collector: a chain of rooms, and dead ends one by one along it."""
    rooms, length = s.exit.shape[0], int(p.levers[QUEST_LENGTH])
    shuffle_rooms(s, rng)
    for k in range(1, rooms):
        room = int(s.queue[k - 1]) if k < length else int(s.queue[k % length])
        connect(s, room, free_exit(s, room, rng), int(s.queue[k]))
    s.here = s.queue[0]
    s.place[0] = s.queue[length - 1]


@kernel
def make_walk(p, s, rng):
    """A random walk on a grid, each step of it a way between two rooms; the rooms are s.queue in the walk's order."""
    rooms, side = s.exit.shape[0], int(p.levers[GRID])
    for room in range(rooms):
        for d in range(4):
            s.exit[room, d] = 0
            s.door[room, d] = 0
    for cell in range(side * side):
        s.cell[cell] = 0
    shuffle_rooms(s, rng)
    row, column, count = below(rng, side - 1), below(rng, side - 1), 1
    room = int(s.queue[0])
    s.cell[row * side + column] = room + 1
    while count < rooms:
        d = below(rng, 4)
        down, right = (1 if d == 1 else 0) - (1 if d == 0 else 0), (1 if d == 2 else 0) - (1 if d == 3 else 0)
        if row + down < 0 or row + down >= side or column + right < 0 or column + right >= side:
            continue
        row, column = row + down, column + right
        there = int(s.cell[row * side + column]) - 1
        if there < 0:
            there = int(s.queue[count])
            s.cell[row * side + column] = there + 1
            count += 1
        connect(s, room, d, there)
        room = there


@kernel
def is_joint(s, room):
    """Whether the other rooms fall apart without this one."""
    rooms = s.exit.shape[0]
    for other in range(rooms):
        s.queued[other] = 0
    first = 1 if room == 0 else 0
    s.queued[room], s.queued[first], s.steps[0] = 1, 1, first
    seen, done = 1, 0
    while done < seen:
        here = int(s.steps[done])
        done += 1
        for d in range(4):
            there = int(s.exit[here, d]) - 1
            if there >= 0 and s.queued[there] == 0:
                s.queued[there] = 1
                s.steps[seen] = there
                seen += 1
    return seen < rooms - 1


@kernel
def hang_doors(s, door, count):
    """Put open doors, from a number on, between rooms without each of which others fall apart."""
    rooms = s.exit.shape[0]
    for room in range(rooms):
        s.joint[room] = 1 if is_joint(s, room) else 0
    hung = 0
    for room in range(rooms):
        for d in range(4):
            there = int(s.exit[room, d]) - 1
            if there > room and s.joint[room] == 1 and s.joint[there] == 1 and hung < count:
                s.door[room, d] = door + hung + 1
                s.door[there, OPPOSITE[d]] = door + hung + 1
                s.place[door + hung] = room
                hung += 1


@kernel
def spot_in(p, s, rng, room, any_state):
    """Where a thing can be in a room: on the floor, or in or on one of the things there; only in open ones if not
    `any_state`. The number of that thing, or FLOOR."""
    count, found = 1, FLOOR
    for x in range(s.place.shape[0]):
        if p.holds[x] == 1 and s.place[x] == room and (any_state or s.bits[x] & OPEN):
            count += 1
            if below(rng, count) == 0:
                found = x
    return found


@kernel
def clear_contents(p, s):
    """All things are nowhere, with their first properties."""
    for x in range(s.place.shape[0]):
        s.place[x] = s.exit.shape[0] + s.place.shape[0] + 1
        s.bits[x] = p.first_bits[x]
        s.fitting_key[x] = 0


@kernel
def furnish(s, rng, first, count):
    """Containers, which are open, closed or locked, and supporters; each is one or the other by chance."""
    for k in range(count):
        room = below(rng, s.exit.shape[0])
        if below(rng, 2) == 0:
            s.place[first + k] = room
            s.bits[first + k] = 1 << below(rng, 3)
        else:
            s.place[first + count + k] = room


@kernel
def way_back(p, s, rng, room, spot, first_key):
    """Go back from the target as long as the quest is, by open doors into new rooms, and close or lock what was passed;
    returns how many commands it became. s.here is where it ends."""
    rooms, things, length = s.exit.shape[0], s.place.shape[0], int(p.levers[QUEST_LENGTH])
    for other in range(rooms):
        s.queued[other] = 0
    s.queued[room], s.here = 1, room
    shuttable, used, count = spot, 0, 1
    if spot >= 0 and p.lids[spot] == 0:
        shuttable = FLOOR
    while count < length:
        options = 0
        if shuttable >= 0 and (s.bits[shuttable] & OPEN or used < p.levers[KEY_COUNT]):
            options = 1
        ways = 0
        for d in range(4):
            there = int(s.exit[s.here, d]) - 1
            if there >= 0 and s.queued[there] == 0:
                ways += 1
        if options + ways == 0:
            break
        drawn = below(rng, options + ways)
        count += 1
        if drawn < options:
            if s.bits[shuttable] & OPEN:
                s.bits[shuttable] = CLOSED
            else:
                s.bits[shuttable] = LOCKED
                s.fitting_key[shuttable] = first_key + used + 1
                s.place[first_key + used] = rooms + things
                used += 1
                shuttable = FLOOR
            continue
        drawn -= options
        for d in range(4):
            there = int(s.exit[s.here, d]) - 1
            if there >= 0 and s.queued[there] == 0:
                if drawn == 0:
                    door = int(s.door[s.here, d])
                    shuttable = door - 1 if door > 0 and s.bits[door - 1] & OPEN else FLOOR
                    s.here = there
                    s.queued[there] = 1
                    break
                drawn -= 1
    return count


@kernel
def make_hunt(p, s, rng):
    """The treasure hunter: a map, furniture, the target and another treasure, and where the player starts."""
    rooms, things, furniture = s.exit.shape[0], s.place.shape[0], int(p.levers[FURNITURE])
    treasures = p.choices.shape[0]
    first_key = treasures + 2 * furniture
    first_door = first_key + int(p.levers[KEY_COUNT])
    for _ in range(ATTEMPTS):
        clear_contents(p, s)
        make_walk(p, s, rng)
        hang_doors(s, first_door, things - first_door)
        furnish(s, rng, treasures, furniture)
        s.target = below(rng, treasures)
        other = (s.target + 1 + below(rng, treasures - 1)) % treasures
        room = below(rng, rooms)
        spot = spot_in(p, s, rng, room, True)
        s.place[other] = room if spot == FLOOR else rooms + spot
        room = below(rng, rooms)
        spot = spot_in(p, s, rng, room, False)
        s.place[s.target] = room if spot == FLOOR else rooms + spot
        if way_back(p, s, rng, room, spot, first_key) == p.levers[QUEST_LENGTH]:
            break


@kernel
def make_given(p, s, rng):
    """A map as it is given, with things in one of the places where they may be."""
    for room in range(s.exit.shape[0]):
        for d in range(4):
            s.exit[room, d] = p.map_exit[room, d]
            s.door[room, d] = p.map_door[room, d]
    for x in range(s.place.shape[0]):
        first = p.first_spot[x]
        s.place[x] = p.spot[first + below(rng, p.first_spot[x + 1] - first)]
        s.bits[x] = p.first_bits[x]
        s.fitting_key[x] = p.fitting_key[x]
    for group in range(p.shuffled.shape[0]):
        for k in range(p.shuffled.shape[1] - 1, 0, -1):
            x = int(p.shuffled[group, k])
            if x >= 0:
                y = int(p.shuffled[group, below(rng, k + 1)])
                s.place[x], s.place[y] = s.place[y], s.place[x]
    if p.choices.shape[0] > 0:
        s.target = p.choices[below(rng, p.choices.shape[0])]
    s.here = p.start[below(rng, p.start.shape[0])]
