"""TextAdventure: find your way through rooms, and do in words what the objective asks for.

## Description
A text adventure: rooms with exits and doors, containers, supporters and things to carry, and commands such as "take
apple from refrigerator". The world is a set of facts, and rules say which commands are possible and which facts they
change, as in TextWorld (Cote et al. 2018), without a compiler for games. The game is data: here the `house` of six
rooms, and any that you write in a file (`game="path.json"`, `"path.toml"`, or a table):

    rlenvs.make("TextAdventure-v0", game={
        "objective": "Put the {target} where it belongs.",
        "rooms": {"hall": {"north": "kitchen"}, "kitchen": {}},
        "things": {"dishwasher": {"kind": "container", "in": "kitchen", "is": "closed"},
                   "plate": {"in": "hall"}, "cup": {"in": ["hall", "kitchen"]}},
        "targets": ["plate", "cup"],
        "quests": [{"win": "target in dishwasher"}]})

`rlenvs/single/text/game.py` describes all entries: rules of one's own, things with several possible places, quests
that lose. A game with a mistake is refused with the name of what is wrong: an unknown room, thing, kind or property, a
thing that is in itself, a goal that no command can reach.

CoinCollector-v0, TreasureHunter-v0 and TidyHouse-v0 are members of this kind. Two sorts of games have numbers.

`game="cooking-ROOMS-INGREDIENTS-NUMBER"` is a cooking game after TextWorld's, with 1, 6, 9 or 12 rooms, 1 to 5
ingredients and a recipe that follows from the number (0 to 999): fetch the ingredients through closed doors and
containers, cut and cook them as the objective says, prepare the meal and eat it. What spoils an ingredient loses.

`game="seed-NAME-NUMBER"` is made of a seed, `tea`, `supper`, `garden` or `cleaning`: the idea of a game in a file, with
skills that build on each other, after STARLING (Basavatia et al. 2024). `rlenvs/single/text/seeds.py` describes such
files, of which you can write your own.

## Action Space
One of all commands of the game, each of which names a rule and things. The mask allows those that are possible now; a
command that is not does what "look" does.
`rlenvs.text_env` takes replies in words, such as "pick up the apple", "n" or "open the trunk".

## Observation Space
Facts, each 0 or 1: the room, what each thing that is told of is (in the room, carried, in or on something; and its
properties), for each direction whether there is an exit and whether one can go, the target, and the quests done. With
`observation="tokens"` the number of times that the text contains each word of a name or property; with "both", both.

With `auto_look=False` the room is told only after "look" and after going somewhere, and what is carried only after
"inventory". With `memory=True` the rooms visited and the place where each thing was last seen are added.

## Rewards
`score` is the reward of each quest when it is won. `intermediate` (weight 0) is TextWorld's intermediate reward, for
`intermediate=True`: 1 if the winning plan became shorter, -1 if it became longer, and 1 or -1 for the command that wins
or loses the game.

## Costs
None.

## Starting State
The house: the player is locked in the bedroom, with the key in a drawer or a trunk. Six kinds of food are in six places
at random, and one of them is wanted; a soap and a shovel lie about.

## Episode End
Termination: all quests are won (a success), or the game is lost. Truncation: 100 commands.

## Parameters
None. Options choose the game and what is told. Levels: `cooking-easy`, `cooking` and `cooking-hard` are cooking games
with 1, 6 and 12 rooms and 1, 3 and 5 ingredients; `tea`, `supper`, `garden` and `cleaning` the games 0 of these seeds.

## Reference Scores
Mean return over seeds 0 to 99. The expert follows a plan that is made backwards from the goal.

## Version History
v0: first version.
"""

from rlenvs.core import block, choice, data_option, discrete, f8, flag, i2, i4, i8, json_option, kernel, term, u1, world
from rlenvs.single.text import tables
from rlenvs.single.text.maps import MODE, NOT_ASKED, clear_contents, make_chain, make_given, make_hunt
from rlenvs.single.text.pictures import draw_rooms, draw_words
from rlenvs.single.text.planning import next_command, plan_length
from rlenvs.single.text.published import CHAIN, HOUSE, SEEDS, TIDY, WALK, parse_game
from rlenvs.single.text.rule_set import HELD, LOOK, SEEN, TAKE_STOCK
from rlenvs.single.text.rules import (
    OPEN,
    changes_something,
    look_around,
    perform,
    possible,
    reached_by_rules,
    settle,
    way_through,
    won,
)
from rlenvs.single.text.tidying import make_mess
from rlenvs.single.text.words import admissible, command_text, describe, objective, parse_reply, scene

SPEC = world(
    "TextAdventure-v0",
    doc=__doc__,
    source="TextWorld 1.7 (Cote et al. 2018, arXiv 1806.11532)",
    options={
        "game": data_option(
            json_option(
                HOUSE,
                parse_game,
                "house, cooking-ROOMS-INGREDIENTS-NUMBER, coin-collector-LEVEL, treasure-hunter-LEVEL, "
                "tidy-LEVEL-SPLIT, seed-NAME-NUMBER, the path of a .json or .toml file, or a table",
            )
        ),
        "observation": data_option(choice("facts", "tokens", "both", doc="facts, counts of words, or both")),
        "memory": data_option(flag(False, "whether rooms visited and places of things last seen are observed")),
        "auto_look": flag(True, "whether room and inventory are told after every command"),
        "intermediate": flag(False, "whether plans are made, for the intermediate reward"),
    },
    sizes=tables.sizes,
    data={
        "levers": i4(11),
        "map_exit": i2("rooms", 4),
        "map_door": i2("rooms", 4),
        "start": i2("starts"),
        "spot": i2("spots"),
        "first_spot": i4("thing_ends"),
        "first_bits": i8("things"),
        "fitting_key": i2("things"),
        "shuffled": i2("groups", "things"),
        "holds": u1("things"),
        "lids": u1("things"),
        "choices": i2("target_count"),
        "command": i2("commands", 3),
        "first_command": i4("thing_ends"),
        "go": i2(4),
        "rule_where": u1("rules", 2),
        "rule_needs": i8("rules", 2),
        "rule_lacks": i8("rules", 2),
        "rule_gives": i8("rules", 2),
        "rule_takes": i8("rules", 2),
        "rule_goes": u1("rules"),
        "rule_fits": u1("rules"),
        "rule_direction": i2("rules"),
        "rule_fact": i2("rule_facts", 4),
        "first_rule_fact": i4("rule_ends"),
        "fact": i2("facts", 4),
        "quest_reward": f8("quests"),
        "quest_fails": u1("quests"),
        "quest_any": u1("quests"),
        "token": i2("named", "most_tokens"),
        "property_token": i2("properties"),
        "name": u1("named", "longest_name"),
        "property_name": u1("properties", "longest_property"),
        "rule_text": u1("rules", "longest_rule"),
        "objective": u1("longest_objective"),
    },
    state={
        "here": i2.index_of("rooms"),
        "exit": i2("rooms", 4).up_to("rooms"),  # 1 + the neighbour, or 0
        "door": i2("rooms", 4).up_to("things"),  # 1 + the door, or 0
        "place": i2("things").index_of("places"),
        "bits": i8("things"),  # properties
        "fitting_key": i2("things").up_to("things"),  # 1 + the key, or 0
        "near": u1("things").within(0, 16),  # how things are within reach
        "target": i2.index_of("things"),
        "done": u1("quests").within(0, NOT_ASKED),
        "last": i4.up_to("commands"),  # 1 + the last command
        "room_shown": u1.within(0, 1),
        "stock_shown": u1.within(0, 1),
        "left": i4,  # commands of the winning plan
        "visited": u1("rooms").within(0, 1),
        "last_seen": i2("things").up_to("places"),  # 1 + the place
        "steps": i4("rooms"),
        "queue": i2("rooms"),
        "queued": u1("rooms"),
        "joint": u1("rooms"),
        "cell": i2("grid_cells"),
    },
    scratch=("steps", "queue", "queued"),
    expert_sees="state",
    observation={
        "room": block("shown_rooms", low=0.0, high=1.0, whole=True, constant=True, doc="1 for the room"),
        "near": block(
            "shown_things",
            3,
            low=0.0,
            high=1.0,
            whole=True,
            constant=True,
            doc="in the room, carried, in a thing",
        ),
        "has": block(
            "shown_things", "properties", low=0.0, high=1.0, whole=True, constant=True, doc="properties of things"
        ),
        "exits": block(
            "shown_exits", 2, low=0.0, high=1.0, whole=True, constant=True, doc="whether there is a way, and it is open"
        ),
        "target": block("shown_choices", low=0.0, high=1.0, whole=True, constant=True, doc="1 for the target"),
        "done": block("quests", low=0.0, high=1.0, whole=True, constant=True, doc="quests done"),
        "tokens": block("shown_tokens", low=0.0, high=20.0, whole=True, constant=True, doc="how often words are told"),
        "visited": block("remembered_rooms", low=0.0, high=1.0, whole=True, constant=True, doc="rooms visited"),
        "last_seen": block(
            "remembered_things",
            low=0.0,
            high=512.0,
            whole=True,
            constant=True,
            doc="1 + the place where each thing was last seen, 0 for never",
        ),
    },
    action=lambda values: discrete(*tables.tables_of(values).texts, size="commands", idle=LOOK),
    terms={
        "score": term(0.0, 6000.0, 1.0, "rewards of the quests that are won"),
        "intermediate": term(-1.0, 1.0, 0.0, "1 if the winning plan became shorter, -1 if it became longer"),
    },
    horizon=lambda values: tables.tables_of(values).game.horizon,
    fps=2,
    levels={
        "cooking-easy": {"game": "cooking-1-1-2"},
        "cooking": {"game": "cooking-6-3-0"},
        "cooking-hard": {"game": "cooking-12-5-0"},
        **{name: {"game": f"seed-{name}-0"} for name in SEEDS},
    },
)

SPEC.make_data(tables.data)


@SPEC.state_fault
def state_fault(p, s):
    rooms, things = len(s.exit), len(s.place)
    for x in range(things):
        place, depth = int(s.place[x]), 0
        while rooms <= place < rooms + things and depth <= things:
            place, depth = int(s.place[place - rooms]), depth + 1
        if depth > things:
            return "a thing is in itself"
    return ""


@SPEC.reset
def reset(p, s, rng):
    if p.levers[MODE] == WALK:
        make_hunt(p, s, rng)
    elif p.levers[MODE] == CHAIN:
        clear_contents(p, s)
        make_chain(p, s, rng)
    elif p.levers[MODE] == TIDY:
        make_mess(p, s, rng)
    else:
        make_given(p, s, rng)
    look_around(p, s)
    s.room_shown, s.stock_shown = 1, p.auto_look
    remember(p, s)
    if p.intermediate:
        s.left = plan_length(p, s)


@kernel
def is_told(s, x):
    """Whether the player is told of a thing now."""
    if s.near[x] == HELD:
        return s.stock_shown == 1
    return s.near[x] & SEEN > 0 and s.room_shown == 1


@kernel
def remember(p, s):
    """Note the room, and where the things are of which the player is told."""
    if s.room_shown == 1:
        s.visited[s.here] = 1
    for x in range(s.place.shape[0]):
        if is_told(s, x):
            s.last_seen[x] = s.place[x] + 1


@kernel
def plan_changes(p, s, planned, command, lost):
    """The intermediate reward of a command; s.left becomes the length of the plan."""
    before = s.left
    if won(p, s):
        s.left = 0
        return 1.0
    if lost:
        s.left = -1
        return -1.0
    if command == planned and before > 0:
        s.left = before - 1
    elif changes_something(p, command):
        s.left = plan_length(p, s)
    if s.left < 0 or before < 0:
        return 0.0 if s.left == before else -1.0 if s.left < 0 else 1.0
    return float(min(max(before - s.left, -1), 1))


@SPEC.step
def step(p, s, a, rng, r):
    planned = next_command(p, s) if p.intermediate else -1
    command = a if possible(p, s, a) else LOOK
    perform(p, s, command)
    rule = p.command[command, 0]
    s.last = command + 1
    s.room_shown = 1 if p.auto_look or rule == LOOK or p.rule_direction[rule] >= 0 else 0
    s.stock_shown = 1 if p.auto_look or rule == TAKE_STOCK else 0
    remember(p, s)
    reward, lost = settle(p, s)
    r.score = reward
    if p.intermediate:
        r.intermediate = plan_changes(p, s, planned, command, lost)
    r.success = won(p, s) and not lost
    r.terminated = won(p, s) or lost


@SPEC.mask
def mask(p, s, m):
    for j in range(p.first_command[0]):
        m[j] = 1 if possible(p, s, j) else 0
    reached = reached_by_rules(p)
    for x in range(s.place.shape[0]):
        near = s.near[x] & reached > 0
        for j in range(p.first_command[x], p.first_command[x + 1]):
            m[j] = 1 if near and possible(p, s, j) else 0


@kernel
def show_facts(p, s, o):
    """The facts of which the player is told."""
    for room in range(o.room.shape[0]):
        o.room[room] = 1.0 if s.room_shown == 1 and room == s.here else 0.0
    for d in range(4):
        o.exits[d, 0] = 1.0 if s.room_shown == 1 and s.exit[s.here, d] > 0 else 0.0
        o.exits[d, 1] = 1.0 if s.room_shown == 1 and way_through(p, s, d) else 0.0
    for x in range(s.place.shape[0]):
        told = is_told(s, x)
        for k in range(3):
            o.near[x, k] = 1.0 if told and (s.near[x] >> k) & 1 else 0.0
        for k in range(o.has.shape[1]):
            o.has[x, k] = 1.0 if told and (s.bits[x] >> k) & 1 else 0.0
    for k in range(o.target.shape[0]):
        o.target[k] = 1.0 if p.choices[k] == s.target else 0.0


@kernel
def count_words(p, row, o):
    """Add the words of a name."""
    for k in range(p.token[row, 0]):
        o.tokens[p.token[row, 1 + k]] += 1.0


@kernel
def show_tokens(p, s, o):
    """The words of names and properties in the text that the player is told."""
    for word in range(o.tokens.shape[0]):
        o.tokens[word] = 0.0
    if s.room_shown == 1:
        count_words(p, s.here, o)
    for x in range(s.place.shape[0]):
        if is_told(s, x):
            count_words(p, s.exit.shape[0] + x, o)
            bits = s.bits[x] & ~OPEN if p.holds[x] == 1 and p.lids[x] == 0 else s.bits[x]
            for k in range(p.property_token.shape[0]):
                if (bits >> k) & 1:
                    o.tokens[p.property_token[k]] += 1.0


@SPEC.observe
def observe(p, s, o):
    if o.room.shape[0] > 0:
        show_facts(p, s, o)
    if o.tokens.shape[0] > 0:
        show_tokens(p, s, o)
    for k in range(s.done.shape[0]):
        o.done[k] = 1.0 if s.done[k] == 1 else 0.0
    for k in range(o.visited.shape[0]):
        o.visited[k] = s.visited[k]
    for x in range(o.last_seen.shape[0]):
        o.last_seen[x] = s.last_seen[x]


@SPEC.expert
def expert(p, s, a):
    a[0] = max(next_command(p, s), LOOK)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("blue", "player"), ("green", "target", "disc"), ("green", "open door"), ("red", "closed door"))
    asked = [k for k in range(len(s.done)) if s.done[k] != NOT_ASKED and p.quest_fails[k] == 0]
    canvas.caption(f"{len([k for k in asked if s.done[k] == 1])} of {len(asked)} quests done")
    draw_rooms(canvas, p, s)
    draw_words(canvas, p, s, command_text(p, s, int(s.last) - 1) if s.last > 0 else "")


@SPEC.text
def text(p, s):
    return "\n".join([*scene(p, s), f"Objective: {objective(p, s)}", f"Commands: {', '.join(admissible(p, s))}"])


SPEC.describe(describe)
SPEC.parse_action(parse_reply, free=True)
