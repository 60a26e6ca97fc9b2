"""Impostors: a crew with tasks on a ship finds out in short discussions who among them kills.

## Description
A game of hidden roles after Among Us, in the form of two published ones: the grid of rooms and the rules are those of
Sarkar, Xia, Liu and Sadigh ("Training Language Models for Social Deduction with Multi-Agent Reinforcement Learning",
AAMAS 2025, and its code), the emergency button, the time after which impostors win and the numbers of the levels "five"
and "seven" those of AmongAgents (Chi, Mao and Tang, 2024).

The crew does tasks in rooms. Impostors, who know each other, kill: one in their room, then not again for `cooldown`
steps. Whoever is there sees it. A body that is reported, or the button in the start room, calls a meeting: everybody
learns who has died, all speak `rounds` times, at once, in a small vocabulary, and vote. Who has most votes is ejected;
nobody is if two have as many, or as many abstain. Then all are back in the start room, and impostors wait for
`cooldown` steps again. The crew wins when its living members have no task left or no impostor lives, impostors when as
many of them live as others, or after `time` steps outside of meetings.

Who is dead does nothing, is heard by nobody, and wins or loses with its side.

Scripted players, each in both roles: "honest" says whom it has caught (killing, lying about its room, accusing somebody
who is good) and where it was, and votes for who is most suspect; as impostor it kills whom it is alone with. "liar" is
an impostor that claims tasks and accuses others, "bold" one that also kills before the eyes of others; "silent" never
speaks; "parrot" repeats what most say; "random" chooses any allowed action. Win rates by role of each pair are in
`benchmarks/deduction.md`.

What differs from the code of Sarkar et al.: a step is a walk to the next room or a step of work, which take five of its
time units, as a task does there, the cooldown 20; tasks take `effort` steps; players speak at once, in words of a
vocabulary; who works still sees the room; impostors may report; players cannot vote for themselves. From AmongAgents:
the map is a grid, of 16 rooms for its 14, without vents and cameras; everybody acts at once; all tasks take equally
long, and impostors have none.

## Action Space
0: pass (wait, be silent, abstain); walk north, south, west, east; do a task; report; press the button; name a player
(`players`: to kill it, in a vote to vote for it); then the words: accuse a player, vouch for a player, claim to have
been in a room, claim to have done a task in a room. Masked: what the rules do not allow; choosing it is a pass.

## Observation Space
What one knows: the own role, place, tasks and cooldown, who and which bodies are in the same room (in a meeting: were
there when it began), where one last saw each player since the last meeting, roles (of other impostors; of whom one saw
killing; of the dead, with `reveal`), who called the meeting and from where, the words of the last round, the last
votes, who has accused whom. Nothing of it depends on roles that the player does not know.

## Rewards
`won`: 1 for each player of the side that wins, -1 for the others, the dead included. `task`: a step of
work. `kill`: a kill.

## Costs
`innocent_ejected`: the votes of a crew member by which others of the crew were ejected, at the end of the game, since
earlier it would tell their roles.

## Starting State
Random roles; `tasks` of each crew member in random rooms, several in one at times; all in the start room, the middle of
the north wall; impostors wait for `cooldown` steps.

## Episode End
Termination: one of the sides wins. Games are never truncated. Success: one's side has won.

## Parameters
`players`, `impostors`, `width`, `height`, `tasks`, `cooldown`, `buttons`, `rounds`, `time`, `reveal`.

## Reference Scores
Mean return over seeds 0 to 99, summed over all players; the expert is "honest", in both roles.

## Version History
v0: first version.
"""

from rlenvs.core import (
    b1,
    below,
    block,
    constraint,
    cost,
    data_option,
    discrete,
    flag,
    i1,
    i4,
    i8,
    integer,
    term,
    world,
)
from rlenvs.multi.deduction.language import describe_ship, heard_by, parse_ship
from rlenvs.multi.deduction.meeting import (
    ACTING,
    EJECTED,
    EVIL,
    MOST_PLAYERS,
    MOST_ROUNDS,
    NOBODY,
    TALKING,
    bits,
    blame,
    counts,
    give_role,
    hold_vote,
    playing,
    remove,
    seat_players,
    settle,
    show_table,
    table_blocks,
    table_state,
    talk,
)
from rlenvs.multi.deduction.render import draw_ship
from rlenvs.multi.deduction.ship import (
    FIRST_PLAYER,
    LIES,
    act,
    adjourn,
    is_here,
    is_legal,
    side_that_won,
)
from rlenvs.multi.deduction.ship_players import (
    choose_bold,
    choose_honest,
    choose_liar,
    choose_parrot,
    choose_random,
    choose_silent,
)

WIDEST, MOST_TASKS, LONGEST = 4, 10, 1000
COOLEST, MOST_BUTTONS, MOST_EFFORT = 20, 10, 5
LARGE = {"width": 4, "height": 4, "effort": 5, "cooldown": 3, "rounds": 3}  # as in AmongAgents, whose map has 14 rooms


def sizes_of(values):
    players, rooms = values.players, values.width * values.height
    words = 1 + 2 * players + 2 * rooms
    return {
        "agents": players,
        "rooms": rooms,
        "words": words,
        "moves": FIRST_PLAYER + players + words - 1,
        "rounds": values.rounds,
    }


def choice_names(values):
    """Of all actions, in their order."""
    players, rooms = range(values.players), range(values.width * values.height)
    acts = ("pass", "go north", "go south", "go west", "go east", "do a task", "report", "press the button")
    said = [f"{verb} agent {j}" for verb in ("kill or vote for", "accuse", "vouch for") for j in players]
    return [*acts, *said, *(f"claim {what} {room}" for what in ("room", "task in room") for room in rooms)]


def horizon_of(values):
    """More steps than a game has: each meeting follows a death or uses up the button."""
    return values.time + (values.players + values.buttons) * (values.rounds + 1) + 1


SPEC = world(
    "Impostors-v0",
    doc=__doc__,
    source="Sarkar, Xia, Liu, Sadigh, AAMAS 2025 (SocialDeductionLLM: rooms, tasks, kills, votes, ends); Chi, Mao, "
    "Tang, AmongAgents, 2024 (button, time limit, sizes of games); Among Us (Innersloth, 2018)",
    agents=True,
    options={
        "players": data_option(integer(5, 3, MOST_PLAYERS, "number of players")),
        "impostors": integer(1, 1, 4, "impostors among them"),
        "width": integer(3, 1, WIDEST, "rooms from west to east"),
        "height": integer(2, 1, WIDEST, "rooms from north to south"),
        "tasks": integer(5, 1, MOST_TASKS, "tasks of each crew member"),
        "effort": integer(3, 1, MOST_EFFORT, "steps that a task takes"),
        "cooldown": integer(4, 0, COOLEST, "steps after a kill or a meeting until an impostor may kill"),
        "buttons": integer(2, 0, MOST_BUTTONS, "how often the button may be pressed, by all together"),
        "rounds": integer(2, 1, MOST_ROUNDS, "how often each speaks in a meeting"),
        "time": integer(50, 5, LONGEST, "steps outside of meetings after which impostors win"),
        "reveal": flag(True, "whether all learn the roles of the dead"),
    },
    constraints=[
        constraint(
            *("players", "impostors"),
            holds=lambda players, impostors: 2 * impostors < players,
            doc="impostors are fewer than the crew: 2 * impostors < players",
        ),
        constraint(
            *("width", "height"),
            holds=lambda width, height: width * height > 1,
            doc="there are two rooms at least: width * height > 1",
        ),
    ],
    sizes=sizes_of,
    players=("honest", "liar", "bold", "silent", "parrot", "random"),
    state={
        **table_state(2),
        "room": i4("agents").index_of("rooms"),
        "body": i1("agents").within(0, 1),
        "open": i1("agents", "rooms").within(0, MOST_TASKS * MOST_EFFORT),  # steps of work to do
        "worked": b1("agents"),  # whether a player worked in its last step
        "cooldown": i8("agents").within(0, COOLEST),
        "seen": i4("agents", "agents").up_to("rooms"),  # 1 + the room where the first last saw the second
        "caller": i8.index_of("agents"),  # of the last meeting
        "pressed": b1,  # whether it was called by the button, not by a report
        "buttons": i8.within(0, MOST_BUTTONS),
        "clock": i8.within(0, LONGEST),  # steps outside of meetings
    },
    observation={
        **table_blocks(2, "between meetings, discussion, vote"),
        "evil": bits(doc="whether one is an impostor"),
        "room": bits("rooms", doc="where one is"),
        "here": bits("agents", doc="who is in the same room"),
        "bodies": bits("agents", doc="whose bodies are in it"),
        "seen": bits("agents", "rooms", doc="where one last saw each player since the last meeting"),
        "tasks": block(
            "rooms", low=0, high=MOST_TASKS, raw=True, constant=True, doc="own tasks to do, parts of them where begun"
        ),
        "caller": bits("agents", doc="who called the meeting that is held"),
        "pressed": bits(doc="whether by the button"),
        "found": bits("rooms", doc="the room from where it was called"),
        "worked": bits(doc="whether one worked on a task in the last step"),
        "cooldown": counts(high=COOLEST, doc="steps until one may kill"),
        "buttons": counts(high=MOST_BUTTONS, doc="presses of the button that are left"),
        "clock": block(low=0, high=1, raw=True, doc="part of the time that has passed"),
    },
    action=lambda values: discrete(*choice_names(values), size="moves"),
    terms={
        "won": term(-1.0, 1.0, 1.0, "1 for the side that wins, -1 for the other one"),
        "task": term(0.0, 1.0, 0.05, "a step of work on a task"),
        "kill": term(0.0, 1.0, 0.05, "a kill"),
    },
    costs={"innocent_ejected": cost(1.0, MOST_PLAYERS, "votes of the crew by which one of them is ejected")},
    horizon=horizon_of,
    fps=2,
    levels={
        "three": {"players": 3},
        "five": {"tasks": 2, **LARGE},
        "seven": {"players": 7, "impostors": 2, "tasks": 3, **LARGE},
        "ten": {"players": 10, "impostors": 2, "width": 4, "height": 4},
        "secret": {"buttons": 0, "reveal": False},
    },
)


@SPEC.reset
def reset(p, s, rng):
    n, rooms = s.living.size, s.open.shape[1]
    give_role(s, EVIL, p.impostors, rng)
    seat_players(s)
    for k in range(n):
        if s.role[k] != EVIL:
            for _ in range(p.tasks):
                s.open[k, below(rng, rooms)] += p.effort
    s.buttons = p.buttons
    adjourn(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(s.living.size):
        s.heard[k] = False
    if s.phase == ACTING:
        act(p, s, a, r)
    elif s.phase == TALKING:
        talk(s, a, FIRST_PLAYER + s.living.size, p.rounds)
    else:
        out = hold_vote(s, a, FIRST_PLAYER, False)
        blame(s, out)
        if out != NOBODY:
            remove(s, out, EJECTED, p.reveal)
        adjourn(p, s)
    settle(s, side_that_won(p, s), r)


@SPEC.mask
def mask(p, s, k, m):
    for action in range(m.size):
        m[action] = is_legal(p, s, k, action)


@SPEC.observe
def observe(p, s, k, o):
    show_table(s, k, o)
    o.evil = s.role[k] == EVIL
    o.worked = s.worked[k]
    o.cooldown = s.cooldown[k]
    o.buttons = s.buttons
    o.clock = s.clock / p.time
    o.seen[:] = 0.0
    meeting = s.phase != ACTING
    o.pressed = meeting and s.pressed
    for room in range(s.open.shape[1]):
        o.room[room] = s.living[k] and s.room[k] == room
        o.tasks[room] = s.open[k, room] / p.effort
        o.found[room] = meeting and s.room[s.caller] == room
    for j in range(s.living.size):
        o.caller[j] = meeting and s.caller == j
        o.here[j] = is_here(s, k, j)
        o.bodies[j] = s.living[k] and s.body[j] == LIES and s.room[j] == s.room[k]
        if s.seen[k, j] > 0:
            o.seen[j, s.seen[k, j] - 1] = 1.0


# --- players ----------------------------------------------------------------------------------------------------------


for name, choose in {
    "honest": choose_honest,
    "liar": choose_liar,
    "bold": choose_bold,
    "silent": choose_silent,
    "parrot": choose_parrot,
}.items():
    SPEC.player(name)(playing(choose))


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k] = choose_random(p, s, k, rng)


# --- words and images -------------------------------------------------------------------------------------------------

SPEC.describe(describe_ship)
SPEC.parse_action(parse_ship)
SPEC.hears(heard_by)


@SPEC.draw
def draw(canvas, p, s):
    draw_ship(canvas, p, s)
