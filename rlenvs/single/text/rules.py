"""What happens in a text adventure: which commands are possible, what they do, and which quests are won."""

from rlenvs.core import kernel
from rlenvs.single.text.game import AT, IN
from rlenvs.single.text.rule_set import AWAY, DOOR, HELD, HERE, INSIDE, INVENTORY, NOWHERE, ROOM, SECOND
from rlenvs.single.text.tables import THE_OTHERS, THE_TARGET

OPEN, CLOSED, LOCKED = 1, 2, 4  # bits of the first properties


@kernel
def reach(p, s, x):
    """How a thing is within reach: `HERE` in the room, `HELD`, `INSIDE` something open that is; 0 if it is not."""
    rooms, things = s.exit.shape[0], s.place.shape[0]
    place, within = int(s.place[x]), False
    while rooms <= place < rooms + things:
        if s.bits[place - rooms] & OPEN == 0:
            return 0
        place, within = int(s.place[place - rooms]), True
    if place == rooms + things:
        return INSIDE if within else HELD
    if place == s.here:
        return INSIDE if within else HERE
    return NOWHERE if place > rooms + things and not within else 0


@kernel
def look_around(p, s):
    """Find what is within reach."""
    for x in range(s.place.shape[0]):
        s.near[x] = reach(p, s, x)
    for d in range(4):
        if s.door[s.here, d] > 0:
            s.near[s.door[s.here, d] - 1] = DOOR


@kernel
def way_through(p, s, d):
    """Whether the player can go in a direction."""
    if s.exit[s.here, d] == 0:
        return False
    door = s.door[s.here, d]
    return door == 0 or s.bits[door - 1] & OPEN != 0


@kernel
def part_holds(p, s, rule, i, x):
    """Whether a thing is as a rule asks it to be."""
    bits = s.bits[x]
    if s.near[x] & p.rule_where[rule, i] == 0:
        return False
    return bits & p.rule_needs[rule, i] == p.rule_needs[rule, i] and bits & p.rule_lacks[rule, i] == 0


@kernel
def says(p, s, kind, thing, what):
    """Whether a fact holds for one thing."""
    if kind == AT:
        return s.here == what
    if kind == IN:
        return s.place[thing] == what
    return (s.bits[thing] >> what) & 1 == 1


@kernel
def fact_holds(p, s, facts, row):
    """Whether a fact in a table of the game holds."""
    kind, thing, what = int(facts[row, 1]), int(facts[row, 2]), int(facts[row, 3])
    if thing == THE_OTHERS:
        for k in range(p.choices.shape[0]):
            if p.choices[k] != s.target and says(p, s, kind, int(p.choices[k]), what):
                return True
        return False
    return says(p, s, kind, int(s.target) if thing == THE_TARGET else thing, what)


@kernel
def possible(p, s, command):
    """Whether a command is admissible."""
    rule, x, y = int(p.command[command, 0]), int(p.command[command, 1]), int(p.command[command, 2])
    if x >= 0 and not part_holds(p, s, rule, 0, x):
        return False
    if y >= 0:
        if not part_holds(p, s, rule, 1, y):
            return False
        if p.rule_where[rule, 0] == INSIDE and s.place[x] != s.exit.shape[0] + y:
            return False
        if p.rule_fits[rule] == 1 and s.fitting_key[x] != y + 1:
            return False
    for row in range(p.first_rule_fact[rule], p.first_rule_fact[rule + 1]):
        if not fact_holds(p, s, p.rule_fact, row):
            return False
    return p.rule_direction[rule] < 0 or way_through(p, s, p.rule_direction[rule])


@kernel
def reached_by_rules(p):
    """How things are within reach of which any rule is about, as its first thing."""
    found = 0
    for rule in range(p.rule_where.shape[0]):
        found |= p.rule_where[rule, 0]
    return found


@kernel
def change(p, s, rule, i, x):
    """Give a thing the properties that a rule gives it."""
    s.bits[x] = (s.bits[x] & ~p.rule_takes[rule, i]) | p.rule_gives[rule, i]


@kernel
def perform(p, s, command):
    """Execute a command that is possible."""
    rule, x, y = int(p.command[command, 0]), int(p.command[command, 1]), int(p.command[command, 2])
    rooms, things = s.exit.shape[0], s.place.shape[0]
    if x >= 0:
        change(p, s, rule, 0, x)
    if y >= 0:
        change(p, s, rule, 1, y)
    goes = p.rule_goes[rule]
    if goes == INVENTORY:
        s.place[x] = rooms + things
    elif goes == ROOM:
        s.place[x] = s.here
    elif goes == SECOND:
        s.place[x] = rooms + y
    elif goes == AWAY:
        s.place[x] = rooms + things + 1
    if p.rule_direction[rule] >= 0:
        s.here = s.exit[s.here, p.rule_direction[rule]] - 1
    look_around(p, s)


@kernel
def changes_something(p, command):
    """Whether a command does more than to look at something."""
    rule = p.command[command, 0]
    if p.rule_goes[rule] > 0 or p.rule_direction[rule] >= 0:
        return True
    given = p.rule_gives[rule, 0] | p.rule_gives[rule, 1]
    return given | p.rule_takes[rule, 0] | p.rule_takes[rule, 1] != 0


@kernel
def quest_holds(p, s, quest):
    """Whether all facts of a quest hold, or one where one is enough."""
    enough = p.quest_any[quest] == 1
    for row in range(p.fact.shape[0]):
        if p.fact[row, 0] == quest and fact_holds(p, s, p.fact, row) == enough:
            return enough
    return not enough


@kernel
def settle(p, s):
    """Find the quests that are won now; returns their rewards, and whether the game is lost."""
    reward, lost = 0.0, False
    for quest in range(s.done.shape[0]):
        if s.done[quest] == 0 and quest_holds(p, s, quest):
            s.done[quest] = 1
            reward += 0.0 if p.quest_fails[quest] == 1 else p.quest_reward[quest]
            lost = lost or p.quest_fails[quest] == 1
    return reward, lost


@kernel
def won(p, s):
    """Whether all quests are won."""
    left = 0
    for quest in range(s.done.shape[0]):
        left += 1 if s.done[quest] == 0 and p.quest_fails[quest] == 0 else 0
    return left == 0
