"""The games in words, for language agents: what a player knows, what was said, and what it may reply.

A reply names players as the parallel API does: <accuse(agent_2)>.
"""

from typing import Any

from rlenvs.core.forms.language import expect, one_of, read_order
from rlenvs.multi.deduction.meeting import (
    ACTING,
    EARLIER,
    EJECTED,
    EVIL,
    KILLED,
    NOBODY,
    NOW,
    PRESENT,
    TALKING,
    VOTING,
    winners,
)
from rlenvs.multi.deduction.ship import LIES, is_here, side_that_won, start_room
from rlenvs.multi.deduction.ship import is_legal as is_legal_on_ship
from rlenvs.multi.deduction.village import DOCTOR, MAJORITY, SEER, WEREWOLF
from rlenvs.multi.deduction.village import is_legal as is_legal_in_village

MOVES = ("north", "south", "west", "east")


def name(j: int) -> str:
    return f"agent_{j}"


def names(players: list[int]) -> str:
    return ", ".join(map(name, players)) or "nobody"


def room_name(p: Any, room: int) -> str:
    return f"room_{room}" + (" (the start room)" if room == start_room(p) else "")


def heard_by(p: Any, s: Any, k: int) -> list[int]:
    """Whose free messages player k hears: of those who had the floor in the last step, which the dead never have."""
    return [j for j in range(len(s.living)) if s.heard[j]]


# --- the table --------------------------------------------------------------------------------------------------------


def fates(s: Any) -> list[str]:
    """Who is in the game, and who is out of it, a line each."""
    in_game = [j for j in range(len(s.fate)) if s.fate[j] == PRESENT]
    lines = [f"In the game, as far as everybody knows: {names(in_game)}."]
    for fate, verb in ((KILLED, "killed"), (EJECTED, "voted out")):
        gone = [j for j in range(len(s.fate)) if s.fate[j] == fate]
        lines += [f"{verb.capitalize()}: {names(gone)}."] if gone else []
    return lines


def knowledge(s: Any, k: int, roles: tuple[str, ...]) -> list[str]:
    """What player k knows of the roles of others, a line each."""
    known = [(j, int(s.known[k, j]) - 1) for j in range(len(s.role)) if j != k and s.known[k, j] > 0]
    return [f"You know that {name(j)} is {roles[role]}." for j, role in known]


def accusations(s: Any) -> list[str]:
    """Who has accused whom, by meeting, a line each."""
    lines = []
    latest = "In the last meeting" if s.phase == ACTING else "In this meeting"
    for when, told in ((EARLIER, "In earlier meetings"), (NOW, latest)):
        pairs = [
            f"{name(i)} accused {name(j)}"
            for i in range(len(s.role))
            for j in range(len(s.role))
            if s.accused[i, j] == when
        ]
        lines += [f"{told}: {', '.join(pairs)}."] if pairs else []
    return lines


def votes(s: Any) -> list[str]:
    cast = [f"{name(i)} for {name(int(j))}" for i, j in enumerate(s.vote) if j != NOBODY]
    return [f"Last vote: {', '.join(cast)}."] if cast else []


def parsed(text: str, orders: list[str]) -> int:
    """The action that a reply stands for; ValueError with the reason when it is none. An empty one passes."""
    if not text:
        return 0
    word, arguments = read_order(text)
    one_of(word, sorted({order[1 : order.index("(")] for order in orders}), "command")
    known = [order[order.index("(") + 1 : -2] for order in orders if order.startswith(f"<{word}(")]
    expect(word, arguments, 1 if known[0] else 0)
    if arguments:
        one_of(arguments[0], known, "argument")
    return orders.index(f"<{word}({''.join(arguments).lower()})>")


# --- the ship ---------------------------------------------------------------------------------------------------------


def ship_orders(s: Any) -> list[str]:
    """What to reply for each action, legal or not."""
    players, rooms = range(len(s.role)), range(s.open.shape[1])
    point = "vote" if s.phase == VOTING else "kill"
    return [
        "<pass()>",
        *(f"<go({move})>" for move in MOVES),
        *("<task()>", "<report()>", "<button()>"),
        *(f"<{verb}({name(j)})>" for verb in (point, "accuse", "vouch") for j in players),
        *(f"<{claim}(room_{room})>" for claim in ("claim_room", "claim_task") for room in rooms),
    ]


def ship_word(s: Any, j: int) -> str:
    """What player j said in the last round."""
    players, rooms, word = len(s.role), s.open.shape[1], int(s.said[j]) - 1
    if word < 0:
        return f"{name(j)} said nothing"
    if word < players:
        return f"{name(j)} accused {name(word)}"
    if word < 2 * players:
        return f"{name(j)} vouched for {name(word - players)}"
    place = word - 2 * players
    what = "have been in" if place < rooms else "have done a task in"
    return f"{name(j)} claimed to {what} room_{place % rooms}"


def ship_situation(p: Any, s: Any, k: int) -> list[str]:
    """Where player k is, and what it sees there."""
    players = range(len(s.role))
    meeting = s.phase != ACTING
    when = "When the meeting began you were" if meeting else "You are"
    here = [j for j in players if is_here(s, k, j)]
    bodies = [j for j in players if s.body[j] == LIES and s.room[j] == s.room[k]]
    lines = [f"{when} in {room_name(p, int(s.room[k]))}, with {names(here)}."]
    lines += [f"The body of {names(bodies)} lay there."] if bodies and meeting else []
    lines += [f"The body of {names(bodies)} lies here."] if bodies and not meeting else []
    seen = [f"{name(j)} in room_{int(s.seen[k, j]) - 1}" for j in players if s.seen[k, j] > 0 and j not in here]
    lines += [f"Since the last meeting you last saw: {', '.join(seen)}."] if seen else []
    if s.role[k] == EVIL:
        wait = int(s.cooldown[k])
        return [*lines, f"Steps until you may kill: {wait}." if wait else "You may kill now."]
    left = [f"{int(steps)} in room_{room}" for room, steps in enumerate(s.open[k]) if steps > 0]
    return [*lines, f"Steps that your tasks still take: {', '.join(left) or 'none'}."]


def ship_phase(p: Any, s: Any) -> str:
    side = side_that_won(p, s)
    if side != NOBODY:
        return f"The game is over: the {'impostors' if side == EVIL else 'crew'} won."
    if s.phase == ACTING:
        return f"You walk and work. {int(p.time - s.clock)} such steps are left until the impostors win."
    how = "pressed the button" if s.pressed else "reported a body"
    called = f"A meeting: {name(int(s.caller))} {how} in {room_name(p, int(s.room[s.caller]))}."
    if s.phase == TALKING:
        return f"{called} Round {int(s.spoken) + 1} of {int(p.rounds)} of the discussion; all speak at once."
    return f"{called} The vote: <pass()> abstains."


def describe_ship(p: Any, s: Any, k: int) -> str:
    """What player k knows, and what it may reply."""
    n, columns = len(s.role), int(p.width)
    orders = ship_orders(s)
    task = (
        "Task: let nobody find you out while you kill" if s.role[k] == EVIL else "Task: do your tasks, find impostors"
    )
    lines = [
        "# Game",
        f"Impostors, step {int(s.elapsed)}. {n} players on a ship, {int(p.impostors)} of them impostors. Its rooms are "
        f"room_0 to room_{s.open.shape[1] - 1}, {columns} in a row from west to east, the next row south of it.",
        "The crew wins when its tasks are done or no impostor lives; impostors when as many of them live as others.",
        "# You",
        f"You are {name(k)}, {'an impostor' if s.role[k] == EVIL else 'a crew member'}.",
        *(knowledge(s, k, ("of the crew", "an impostor"))),
        *(ship_situation(p, s, k) if s.living[k] else ["You are dead: you can only watch."]),
        "# Everybody",
        *fates(s),
        *accusations(s),
        *votes(s),
    ]
    if s.phase != ACTING and s.spoken > 0:
        spoke = [ship_word(s, j) for j in range(n) if s.fate[j] == PRESENT and j != k]
        lines += ["# Said in the last round", *(f"{line}." for line in spoke)]
    lines += [
        "# Now",
        ship_phase(p, s),
        "Valid actions: "
        + ", ".join(order for action, order in enumerate(orders) if is_legal_on_ship(p, s, k, action)),
        f"{task}. Reply with exactly one of the valid actions.",
    ]
    return "\n".join(lines)


def parse_ship(text: str, p: Any, s: Any, k: int) -> int:
    """The action that a reply stands for; ValueError with the reason when it is none."""
    return parsed(text, ship_orders(s))


# --- the village ------------------------------------------------------------------------------------------------------

AT_NIGHT = {EVIL: "attack", SEER: "check", DOCTOR: "protect"}
ROLES = ("a villager", "a werewolf", "the seer", "the doctor")


def heard_in_village(p: Any, s: Any, k: int) -> list[int]:
    """As `heard_by`; what werewolves say at night only they hear."""
    after_night = s.phase == TALKING and s.spoken == 0
    return heard_by(p, s, k) if s.role[k] == EVIL or not after_night else []


def village_orders(s: Any, k: int) -> list[str]:
    """What to reply for each action, legal or not."""
    point = "vote" if s.phase == VOTING else AT_NIGHT.get(int(s.role[k]), "choose")
    verbs = (point, "accuse", "vouch", "claim_werewolf", "claim_innocent")
    return ["<pass()>", *(f"<{verb}({name(j)})>" for verb in verbs for j in range(len(s.role)))]


def village_word(s: Any, j: int) -> str:
    """What player j said in the last round."""
    players, word = len(s.role), int(s.said[j]) - 1
    if word < 0:
        return f"{name(j)} said nothing"
    subject = name(word % players)
    told = (
        f"accused {subject}",
        f"vouched for {subject}",
        f"claimed to be the seer and that {subject} is a werewolf",
        f"claimed to be the seer and that {subject} is not a werewolf",
    )
    return f"{name(j)} {told[word // players]}"


def seer_claims(s: Any) -> list[str]:
    """What those who claim to be the seer have told, a line each."""
    lines = []
    for i in range(len(s.role)):
        told = [(j, int(claim)) for j, claim in enumerate(s.claimed[i]) if claim > 0]
        found = [f"{name(j)} is {'' if claim == WEREWOLF else 'not '}a werewolf" for j, claim in told]
        lines += [f"{name(i)} has claimed to be the seer: {', '.join(found)}."] if found else []
    return lines


def village_phase(p: Any, s: Any, k: int) -> str:
    side = winners(s)
    if side != NOBODY:
        return f"The game is over: the {'werewolves' if side == EVIL else 'village'} won."
    if s.phase == ACTING:
        verb = AT_NIGHT.get(int(s.role[k]))
        return f"Night {int(s.day) + 1}. " + (f"Choose whom you {verb}." if verb and s.living[k] else "You sleep.")
    if s.phase == TALKING:
        return f"Day: round {int(s.spoken) + 1} of {int(p.rounds)} of the discussion; all speak at once."
    return "Day: the vote. <pass()> abstains."


def describe_village(p: Any, s: Any, k: int) -> str:
    """What player k knows, and what it may reply."""
    n, evil = len(s.role), s.role[k] == EVIL
    orders = village_orders(s, k)
    special = [role for role, count in (("a seer", p.seer), ("a doctor", p.doctor)) if count]
    task = "Task: kill the village before it finds you out" if evil else "Task: find the werewolves and vote them out"
    needed = "more than half of the votes of the living" if p.vote == MAJORITY else "most votes"
    lines = [
        "# Game",
        f"Werewolf, step {int(s.elapsed)}. {n} players, {int(p.werewolves)} of them werewolves; among the others "
        f"{' and '.join(special) or 'no special roles'}. Each night the werewolves attack a player, then all talk and "
        f"vote; who gets {needed} is out.",
        "The village wins when no werewolf lives; werewolves when as many of them live as others.",
        "# You",
        f"You are {name(k)}, {ROLES[int(s.role[k])]}." + ("" if s.living[k] else " You are dead: you can only watch."),
        *(knowledge(s, k, ROLES)),
        "# Everybody",
        *fates(s),
        *accusations(s),
        *seer_claims(s),
        *votes(s),
    ]
    if s.phase != ACTING and s.spoken > 0:
        spoke = [village_word(s, j) for j in range(n) if s.fate[j] == PRESENT and j != k]
        lines += ["# Said in the last round", *(f"{line}." for line in spoke)]
    lines += [
        "# Now",
        village_phase(p, s, k),
        "Valid actions: " + ", ".join(order for a, order in enumerate(orders) if is_legal_in_village(s, k, a)),
        f"{task}. Reply with exactly one of the valid actions.",
    ]
    return "\n".join(lines)


def parse_village(text: str, p: Any, s: Any, k: int) -> int:
    """The action that a reply stands for; ValueError with the reason when it is none."""
    return parsed(text, village_orders(s, k))
