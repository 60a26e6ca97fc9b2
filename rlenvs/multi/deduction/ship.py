"""The rules of the ship: rooms on a grid, tasks, kills, bodies, reports and the emergency button.

Rooms are numbers, row after row; north is towards row 0. Everybody acts at once: kills come first, then moves and tasks
of those who live, then the first report or button.
"""

from rlenvs.core import below, kernel
from rlenvs.multi.deduction.meeting import (
    ACTING,
    EVIL,
    GOOD,
    KILLED,
    NOBODY,
    NOW,
    PASS,
    PRESENT,
    VOTING,
    has_lied,
    is_open,
    is_word,
    learn,
    open_meeting,
    remove,
    support,
    winners,
)

NORTH, SOUTH, WEST, EAST, TASK, REPORT, BUTTON, FIRST_PLAYER = range(1, 9)
NONE, LIES, FRESH = range(3)  # bodies: one that fell in this step is seen from the next one on


@kernel
def start_room(p):
    return (p.width - 1) // 2


@kernel
def room_after(p, room, move):
    """The room that a move leads to, -1 where there is a wall."""
    row, column = room // p.width, room % p.width
    row += 1 if move == SOUTH else -1 if move == NORTH else 0
    column += 1 if move == EAST else -1 if move == WEST else 0
    return row * p.width + column if 0 <= row < p.height and 0 <= column < p.width else -1


@kernel
def has_body(s, room):
    """Whether a body lies in a room."""
    found = False
    for j in range(s.living.size):
        found = found or (s.body[j] == LIES and s.room[j] == room)
    return found


@kernel
def may_kill(s, k, j):
    """Whether player k may kill player j: an impostor another one in its room, after the cooldown."""
    return s.role[k] == EVIL and s.cooldown[k] == 0 and s.living[j] and s.role[j] != EVIL and s.room[j] == s.room[k]


@kernel
def may_act(p, s, k, action):
    """Whether a living player may choose an action outside of meetings."""
    if action <= EAST:
        return action == PASS or room_after(p, s.room[k], action) >= 0
    if action == TASK:
        return s.open[k, s.room[k]] > 0
    if action == REPORT:
        return has_body(s, s.room[k])
    if action == BUTTON:
        return s.buttons > 0 and s.room[k] == start_room(p)
    j = action - FIRST_PLAYER
    return j < s.living.size and may_kill(s, k, j)


@kernel
def is_legal(p, s, k, action):
    n = s.living.size
    if action == PASS or not s.living[k]:
        return action == PASS
    if s.phase == ACTING:
        return may_act(p, s, k, action)
    if s.phase == VOTING:
        return FIRST_PLAYER <= action < FIRST_PLAYER + n and is_open(s, k, action - FIRST_PLAYER)
    return action >= FIRST_PLAYER + n and is_word(s, k, action - FIRST_PLAYER - n + 1)


@kernel
def kill(p, s, k, j, r):
    """Player k kills player j; those in the room see it, and the victim does."""
    for i in range(s.living.size):
        if s.living[i] and s.room[i] == s.room[k]:
            learn(s, i, k)
    s.living[j] = False
    s.body[j] = FRESH
    s.cooldown[k] = p.cooldown
    r.kill[k] = 1.0


@kernel
def act(p, s, a, r):
    """A step outside of meetings."""
    n, caller = s.living.size, NOBODY
    for k in range(n):
        j = min(max(a[k] - FIRST_PLAYER, 0), n - 1)
        if a[k] == FIRST_PLAYER + j and s.living[k] and may_kill(s, k, j):
            kill(p, s, k, j, r)
        elif s.role[k] == EVIL:
            s.cooldown[k] = max(s.cooldown[k] - 1, 0)
    for k in range(n):
        s.worked[k] = False
        if s.living[k] and a[k] < FIRST_PLAYER and may_act(p, s, k, a[k]):
            if a[k] == TASK:
                s.open[k, s.room[k]] -= 1
                s.worked[k] = True
                r.task[k] = 1.0
            elif a[k] == REPORT or a[k] == BUTTON:
                caller = k if caller == NOBODY else caller
            elif a[k] != PASS:
                s.room[k] = room_after(p, s.room[k], a[k])
    for k in range(n):
        s.body[k] = LIES if s.body[k] == FRESH else s.body[k]
    s.clock += 1
    look_around(s)
    if caller != NOBODY:
        s.caller = caller
        s.pressed = a[caller] == BUTTON
        gather(p, s)


@kernel
def gather(p, s):
    """A meeting begins: all learn who has died. Until it ends players count as where it found them."""
    s.buttons -= 1 if s.pressed else 0
    for k in range(s.living.size):
        if not s.living[k] and s.fate[k] == PRESENT:
            remove(s, k, KILLED, p.reveal)
    open_meeting(s)


@kernel
def adjourn(p, s):
    """The meeting is over: all begin in the start room, bodies are gone, impostors have to wait before they kill."""
    s.phase = ACTING
    for k in range(s.living.size):
        s.body[k] = NONE
        s.worked[k] = False
        s.room[k] = start_room(p)
        s.cooldown[k] = p.cooldown if s.role[k] == EVIL else 0
        for j in range(s.living.size):
            s.seen[k, j] = 0
    look_around(s)


@kernel
def is_here(s, k, j):
    """Whether player k sees player j in its room."""
    return j != k and s.living[k] and s.living[j] and s.room[j] == s.room[k]


@kernel
def look_around(s):
    """Who lives notes where it saw the others."""
    for k in range(s.living.size):
        for j in range(s.living.size):
            if is_here(s, k, j):
                s.seen[k, j] = 1 + s.room[j]


@kernel
def side_that_won(p, s):
    """As `winners`; the crew also when its living members have no task left, impostors when the time is over."""
    side, left = winners(s), 0
    if side != NOBODY:
        return side
    for k in range(s.living.size):
        for room in range(s.open.shape[1]):
            left += int(s.open[k, room]) if s.living[k] else 0
    if left == 0:
        return GOOD
    return EVIL if s.clock >= p.time and s.phase == ACTING else NOBODY


# --- what scripted players know of the ship ---------------------------------------------------------------------------


@kernel
def claimed_room(s, i):
    """The room in which player i says that it was, -1 where it said something else."""
    n, rooms = s.living.size, s.open.shape[1]
    word = s.said[i] - 1 - 2 * n
    return word % rooms if word >= 0 else -1


@kernel
def is_caught(s, k, i):
    """Whether player i says that it was elsewhere than player k has seen when the meeting began."""
    room = claimed_room(s, i)
    return i != k and s.living[i] and room >= 0 and is_here(s, k, i) != (room == s.room[k])


@kernel
def step_towards(p, room, goal):
    """A move towards a room, PASS in it."""
    row, column = goal // p.width - room // p.width, goal % p.width - room % p.width
    if column != 0:
        return EAST if column > 0 else WEST
    return PASS if row == 0 else SOUTH if row > 0 else NORTH


@kernel
def nearest_task(p, s, k):
    """The room of the next open task of player k; the start room where none is left."""
    found, least = start_room(p), p.width + p.height
    for room in range(s.open.shape[1]):
        far = abs(room // p.width - s.room[k] // p.width) + abs(room % p.width - s.room[k] % p.width)
        if s.open[k, room] > 0 and far < least:
            found, least = room, far
    return found


@kernel
def random_move(p, s, k, rng):
    """A move to a random room next to this one."""
    count, found = 0, PASS
    for move in range(NORTH, EAST + 1):
        count += room_after(p, s.room[k], move) >= 0
    left = below(rng, count)
    for move in range(NORTH, EAST + 1):
        if room_after(p, s.room[k], move) >= 0:
            found = move if left == 0 else found
            left -= 1
    return found


@kernel
def suspicion(s, k, j):
    """How much speaks against player j in the eyes of player k, who is good. What it has caught itself, and who accuses
    somebody good, counts twice, and so does the word of the player that called the meeting."""
    found = support(s, k, j)
    if s.caller != k and s.living[s.caller] and s.accused[s.caller, j] == NOW and not has_lied(s, k, s.caller):
        found += 1
    return found + (2 if has_lied(s, k, j) or is_caught(s, k, j) or s.accused[k, j] == NOW else 0)


@kernel
def most_suspect(s, k):
    """The player that player k, who is good, finds more suspect than all others, for more than a single accusation;
    else NOBODY."""
    found, most = NOBODY, 1
    for j in range(s.living.size):
        if is_open(s, k, j):
            value = suspicion(s, k, j)
            if value > most:
                found, most = j, value
            elif value == most:
                found = NOBODY
    return found
