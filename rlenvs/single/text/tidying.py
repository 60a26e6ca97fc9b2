"""Houses to tidy up: rooms, furniture and misplaced objects, drawn anew by kernels in each episode.

Things are numbered: the objects, those that are held out last; what may hold misplaced things; the other furniture.
Quest k asks for object k. `p.spot` holds the places where objects belong, and the rooms of furniture.
"""

from rlenvs.core import below, kernel
from rlenvs.single.text.maps import (
    ATTEMPTS,
    FETCHED,
    FURNITURE,
    LEARNT,
    LEAST,
    MOST,
    NOT_ASKED,
    ROOM_COUNT,
    SPLIT,
    TEST,
    VALID,
    clear_contents,
    connect,
)

SHARES = 4  # one of so many of the games with learnt objects is kept for validation


@kernel
def open_rooms(p, s, rng):
    """One of the rooms, or two that lie side by side, with their furniture; the player is in the first."""
    rooms, objects = s.exit.shape[0], s.done.shape[0]
    for room in range(rooms):
        for d in range(4):
            s.exit[room, d] = 0
    first = below(rng, rooms)
    second, ways = first, 0
    if below(rng, int(p.levers[ROOM_COUNT])) == 1:
        for d in range(4):
            if p.map_exit[first, d] > 0:
                ways += 1
                if below(rng, ways) == 0:
                    second = int(p.map_exit[first, d]) - 1
        for d in range(4):
            if p.map_exit[first, d] == second + 1:
                connect(s, first, d, second)
    s.here = first
    for x in range(objects, s.place.shape[0]):
        room = p.spot[p.first_spot[x]]
        if room in (first, second):
            s.place[x] = room
    return second


@kernel
def belongs_here(p, s, x):
    """Whether one of the places of an object is in the house."""
    rooms, found = s.exit.shape[0], False
    for k in range(p.first_spot[x], p.first_spot[x + 1]):
        found = found or s.place[p.spot[k] - rooms] < rooms
    return found


@kernel
def wrong_place(p, s, rng, x, second):
    """A place where an object does not belong: a floor, or in or on some of the furniture."""
    rooms, objects = s.exit.shape[0], s.done.shape[0]
    count, found = 1, int(s.here)
    if second != s.here:
        count = 2
        if below(rng, 2) == 0:
            found = second
    for holder in range(objects, objects + int(p.levers[FURNITURE])):
        right = False
        for k in range(p.first_spot[x], p.first_spot[x + 1]):
            right = right or p.spot[k] == rooms + holder
        if s.place[holder] < rooms and not right:
            count += 1
            if below(rng, count) == 0:
                found = rooms + holder
    return found


@kernel
def misplace(p, s, rng, second):
    """Draw the objects of a game, and where they are; False where the house has too few, or the game belongs to the
    other of training and validation."""
    objects, learnt = s.done.shape[0], int(p.levers[LEARNT])
    first, last = (learnt, objects) if p.levers[SPLIT] == TEST else (0, learnt)
    candidates = 0
    for x in range(objects):
        s.done[x] = NOT_ASKED
        candidates += 1 if first <= x < last and belongs_here(p, s, x) else 0
    count = p.levers[LEAST] + below(rng, int(p.levers[MOST] - p.levers[LEAST]) + 1)
    if candidates < count:
        return False
    carried = below(rng, int(count - p.levers[FETCHED]) + 1)
    total = 0
    for x in range(first, last):
        if not belongs_here(p, s, x):
            continue
        if below(rng, candidates) < count:
            s.done[x] = 0
            s.place[x] = s.exit.shape[0] + s.place.shape[0]
            if below(rng, int(count)) < carried:
                carried -= 1
            else:
                s.place[x] = wrong_place(p, s, rng, x, second)
            count -= 1
            total += x + s.place[x]
        candidates -= 1
    return p.levers[SPLIT] == TEST or (total % SHARES == 0) == (p.levers[SPLIT] == VALID)


@kernel
def make_mess(p, s, rng):
    """A house to tidy up."""
    for _ in range(ATTEMPTS):
        clear_contents(p, s)
        if misplace(p, s, rng, open_rooms(p, s, rng)):
            break
