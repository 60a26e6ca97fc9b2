"""A winning plan, from what is asked for back to what can be done now.

The next command for a fact is a command that makes it true, or the next one for the first thing that this command still
lacks. Ways are the cheapest, with what their doors cost. Other plans may be shorter where several things are wanted.
"""

from rlenvs.core import copied, kernel
from rlenvs.single.text.game import AT, IN, IS
from rlenvs.single.text.rule_set import HELD, INSIDE, INVENTORY, NOWHERE, ROOM, SECOND
from rlenvs.single.text.rules import CLOSED, LOCKED, OPEN, fact_holds, perform, settle, won
from rlenvs.single.text.tables import THE_OTHERS, THE_TARGET

NOTHING = -1  # in place of the kind of a fact: nothing is lacking
NO_COMMAND = -1
DEEPEST = 40  # of what a command lacks, what that lacks, ...
LONGEST_PLAN = 1000
FAR = 20_000
UNOPENED = 1000  # steps that a locked door counts for without its key


@kernel
def cost_of_door(p, s, door):
    """How many commands a door takes; `door` is its number + 1, or 0."""
    if door == 0 or s.bits[door - 1] & OPEN:
        return 0
    if s.bits[door - 1] & CLOSED:
        return 1
    key = s.fitting_key[door - 1]
    return 2 if s.bits[door - 1] & LOCKED and key > 0 and s.near[key - 1] == HELD else UNOPENED


@kernel
def measure_ways(p, s, goal):
    """s.steps: the commands from each room to a room, those for doors among them."""
    rooms = s.exit.shape[0]
    for room in range(rooms):
        s.steps[room] = FAR
        s.queued[room] = 0
    s.steps[goal], s.queue[0] = 0, goal
    first, count = 0, 1
    while count > 0:
        room = int(s.queue[first])
        first, count = (first + 1) % rooms, count - 1
        s.queued[room] = 0
        for d in range(4):
            there = int(s.exit[room, d]) - 1
            if there < 0:
                continue
            steps = s.steps[room] + 1 + cost_of_door(p, s, int(s.door[room, d]))
            if steps < s.steps[there]:
                s.steps[there] = steps
                if s.queued[there] == 0:
                    s.queued[there] = 1
                    s.queue[(first + count) % rooms] = there
                    count += 1


@kernel
def direction_from(p, s, room):
    """The direction in which the measured way leads on from a room, or -1."""
    best, least = -1, FAR
    for d in range(4):
        if s.exit[room, d] > 0:
            steps = s.steps[s.exit[room, d] - 1] + cost_of_door(p, s, int(s.door[room, d]))
            if steps < least:
                best, least = d, steps
    return best


@kernel
def missing_key(p, s, goal):
    """The key of the first door on the measured way that cannot be opened without fetching it, or -1."""
    room = int(s.here)
    for _ in range(s.exit.shape[0]):
        d = direction_from(p, s, room)
        if room == goal or d < 0:
            return -1
        door = int(s.door[room, d])
        if cost_of_door(p, s, door) == UNOPENED:
            return int(s.fitting_key[door - 1]) - 1
        room = int(s.exit[room, d]) - 1
    return -1


@kernel
def room_of(s, x):
    """The room that a thing is in, or -1."""
    rooms, things = s.exit.shape[0], s.place.shape[0]
    place = int(s.place[x])
    while rooms <= place < rooms + things:
        place = int(s.place[place - rooms])
    return place if place < rooms else int(s.here) if place == rooms + things else -1


@kernel
def makes_true(p, s, command, kind, what):
    """Whether a command of a thing would make a fact about it true."""
    rule, x, y = int(p.command[command, 0]), int(p.command[command, 1]), int(p.command[command, 2])
    rooms, things = s.exit.shape[0], s.place.shape[0]
    if y >= 0 and p.rule_fits[rule] == 1 and s.fitting_key[x] != y + 1:
        return False
    if kind == IS:
        return (p.rule_gives[rule, 0] >> what) & 1 == 1
    if what == rooms + things:
        where = p.rule_where[rule, 0]
        from_place = s.place[x] < rooms
        if where == INSIDE:
            from_place = s.place[x] == rooms + y
        elif where == NOWHERE:
            from_place = s.place[x] > rooms + things
        return p.rule_goes[rule] == INVENTORY and from_place
    if what >= rooms:
        return p.rule_goes[rule] == SECOND and y == what - rooms
    return p.rule_goes[rule] == ROOM


@kernel
def command_for(p, s, kind, x, what):
    """A command that makes a fact true, one whose thing has the right properties if there is such."""
    best = NO_COMMAND
    for j in range(p.first_command[x], p.first_command[x + 1]):
        if makes_true(p, s, j, kind, what):
            needed = p.rule_needs[p.command[j, 0], 0]
            if s.bits[x] & needed == needed:
                return j
            if best < 0:
                best = j
    return command_with(p, s, x, what) if best < 0 and kind == IS else best


@kernel
def command_with(p, s, x, what):
    """A command that gives its second thing a property, one whose first thing has the right properties if there is
    such."""
    best = NO_COMMAND
    for j in range(p.command.shape[0]):
        rule = p.command[j, 0]
        if p.command[j, 2] == x and (p.rule_gives[rule, 1] >> what) & 1:
            needed = p.rule_needs[rule, 0]
            if s.bits[p.command[j, 1]] & needed == needed:
                return j
            if best < 0:
                best = j
    return best


@kernel
def meant(p, s, facts, row):
    """A fact in a table of the game: kind, thing, place or property."""
    thing = int(facts[row, 2])
    if thing == THE_TARGET:
        thing = int(s.target)
    elif thing == THE_OTHERS:
        thing = int(p.choices[0])
    return int(facts[row, 1]), thing, int(facts[row, 3])


@kernel
def lacking(p, s, command):
    """The first fact (kind, thing, place or property) that a command lacks; the kind is NOTHING if it is possible."""
    rule = int(p.command[command, 0])
    inventory = s.exit.shape[0] + s.place.shape[0]
    for row in range(p.first_rule_fact[rule], p.first_rule_fact[rule + 1]):
        if p.rule_fact[row, 1] != AT and not fact_holds(p, s, p.rule_fact, row):
            return meant(p, s, p.rule_fact, row)
    for i in range(2):
        x = int(p.command[command, 2 - i])  # the second thing first: keys and tools
        if x >= 0 and p.rule_where[rule, 1 - i] == HELD and s.near[x] != HELD:
            return IN, x, inventory
    for i in range(2):
        x = int(p.command[command, 1 + i])
        if x >= 0:
            missing = p.rule_needs[rule, i] & ~s.bits[x]
            for bit in range(62):
                if (missing >> bit) & 1:
                    return IS, x, bit
    for row in range(p.first_rule_fact[rule], p.first_rule_fact[rule + 1]):  # where to be comes after what to carry
        if not fact_holds(p, s, p.rule_fact, row):
            return meant(p, s, p.rule_fact, row)
    for i in range(2):
        x = int(p.command[command, 1 + i])
        if x >= 0 and s.near[x] & p.rule_where[rule, i] == 0:
            return AT, x, room_of(s, x)
    return NOTHING, 0, 0


@kernel
def readiness(p, s, row):
    """How soon a command can make a fact true that puts a thing somewhere: 5 where the player has it and is there, 4 or
    3 where it is in the room (and belongs there, or elsewhere), 2 where it is carried; 0 where its place is nowhere."""
    kind, x, what = meant(p, s, p.fact, row)
    rooms, room = s.exit.shape[0], int(s.here)
    if kind != IN:
        return 1
    if what < rooms + s.place.shape[0]:
        room = what if what < rooms else room_of(s, what - rooms)
    if room < 0:
        return 0
    if s.near[x] == HELD:
        return 5 if room == s.here else 2
    if room_of(s, x) == s.here:
        return 4 if room == s.here else 3
    return 1


@kernel
def is_open(p, s, quest):
    """Whether a quest is still to be won."""
    return s.done[quest] == 0 and p.quest_fails[quest] == 0


@kernel
def first_unmet(p, s):
    """The first fact (kind, thing, place or property) of a quest that is still to come true; of quests for which one
    fact is enough the readiest."""
    for row in range(p.fact.shape[0]):
        quest = p.fact[row, 0]
        if not is_open(p, s, quest) or fact_holds(p, s, p.fact, row):
            continue
        best = row
        if p.quest_any[quest] == 1:
            for other in range(row + 1, p.fact.shape[0]):
                rival = p.fact[other, 0]
                if p.quest_any[rival] == 1 and is_open(p, s, rival) and readiness(p, s, other) > readiness(p, s, best):
                    best = other
        return meant(p, s, p.fact, best)
    return NOTHING, 0, 0


@kernel
def way_to(p, s, goal):
    """What it takes to come nearer to another room: the command to go, or -1, and else the fact (kind, thing, place or
    property) that comes first: a key in the inventory, or an open door."""
    measure_ways(p, s, goal)
    d, key = direction_from(p, s, int(s.here)), missing_key(p, s, goal)
    if d < 0:
        return NO_COMMAND, NOTHING, 0, 0
    if key >= 0:
        return NO_COMMAND, IN, key, s.exit.shape[0] + s.place.shape[0]
    door = int(s.door[s.here, d])
    if door == 0 or s.bits[door - 1] & OPEN:
        return int(p.go[d]), NOTHING, 0, 0
    return NO_COMMAND, IS, door - 1, 0


@kernel
def next_command(p, s):
    """The next command of a winning plan, or NO_COMMAND where none is found."""
    kind, x, what = first_unmet(p, s)
    for _ in range(DEEPEST):
        if kind == IN and what < s.exit.shape[0] and s.near[x] == HELD and s.here != what:
            kind = AT
        if kind == AT:
            if what < 0 or what == s.here:
                return NO_COMMAND
            command, kind, x, what = way_to(p, s, what)
            if command >= 0:
                return command
            continue
        if kind == NOTHING:
            return NO_COMMAND
        command = command_for(p, s, kind, x, what)
        if command < 0:
            return NO_COMMAND
        kind, x, what = lacking(p, s, command)
        if kind == NOTHING:
            return command
    return NO_COMMAND


@kernel
def plan_length(p, s):
    """The number of commands of the plan that wins from here, or -1 where none is found."""
    c = copied(s)
    for length in range(LONGEST_PLAN):
        if won(p, c):
            return length
        command = next_command(p, c)
        if command < 0:
            return -1
        perform(p, c, command)
        if settle(p, c)[1]:
            return -1
    return -1
