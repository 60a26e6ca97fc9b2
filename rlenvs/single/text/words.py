"""Text adventures in words: what the player reads, from the facts, and how a reply is understood."""

from __future__ import annotations

from typing import Any

from rlenvs.core.declare.errors import nearest, shortened
from rlenvs.single.text.game import FILLERS
from rlenvs.single.text.rule_set import DIRECTIONS, DOOR, HELD, SEEN
from rlenvs.single.text.rules import OPEN, possible, reached_by_rules

LONGEST_LIST = 60  # commands that a description lists
SYNONYMS = {
    "l": "look",
    "i": "inventory",
    "n": "go north",
    "s": "go south",
    "e": "go east",
    "w": "go west",
    **{name: f"go {name}" for name in DIRECTIONS},
}
VERBS = {"walk": "go", "get": "take", "grab": "take", "x": "examine", "inspect": "examine", "place": "put"}


def spelled(row: Any) -> str:
    """The text of a row of characters."""
    return "".join([chr(int(letter)) for letter in row if letter > 0])


def name_of(p: Any, s: Any, x: int) -> str:
    """The name of a thing."""
    return spelled(p.name[len(s.exit) + x])


def command_text(p: Any, s: Any, command: int) -> str:
    """The text of a command."""
    rule, first, second = [int(number) for number in p.command[command]]
    text = spelled(p.rule_text[rule])
    for mark, x in (("{0}", first), ("{1}", second)):
        if x >= 0:
            text = text.replace(mark, name_of(p, s, x))
    return text


def is_shown(s: Any, x: int) -> bool:
    """Whether the player is told of a thing in this step."""
    near = int(s.near[x])
    return near & SEEN > 0 and bool(s.stock_shown if near == HELD else s.room_shown)


def named(p: Any, s: Any, x: int) -> str:
    """A thing with its properties, and with what is in or on it."""
    words = [spelled(p.property_name[k]) for k in range(len(p.property_name)) if (int(s.bits[x]) >> k) & 1]
    if p.holds[x] and not p.lids[x]:
        words = [word for word in words if word != "open"]
    text = name_of(p, s, x) + (f" ({', '.join(words)})" if words else "")
    inside = [y for y in range(len(s.place)) if int(s.place[y]) == len(s.exit) + x]
    if inside and s.bits[x] & OPEN:
        text += " with " + ", ".join([named(p, s, y) for y in inside])
    return text


def scene(p: Any, s: Any) -> list[str]:
    """What the player is told of the room and of what is carried."""
    lines = []
    rooms, here = len(s.exit), int(s.here)
    if s.room_shown:
        lines.append(f"You are in the {spelled(p.name[here])}.")
        things = [named(p, s, x) for x in range(len(s.place)) if int(s.place[x]) == here and s.near[x] != DOOR]
        lines.append(f"You see: {'; '.join(things) or 'nothing'}.")
        ways = []
        for d in range(4):
            if s.exit[here, d] > 0:
                door = int(s.door[here, d]) - 1
                ways.append(DIRECTIONS[d] + (f" through {named(p, s, door)}" if door >= 0 else ""))
        lines.append(f"Exits: {'; '.join(ways) or 'none'}.")
    if s.stock_shown:
        held = [named(p, s, x) for x in range(len(s.place)) if int(s.place[x]) == rooms + len(s.place)]
        lines.append(f"You carry: {'; '.join(held) or 'nothing'}.")
    return lines


def objective(p: Any, s: Any) -> str:
    """What is to be done."""
    return spelled(p.objective).replace("{target}", name_of(p, s, int(s.target)))


def possible_commands(p: Any, s: Any) -> dict[int, str]:
    """The commands that are possible now, by number, with their texts."""
    ends = [int(end) for end in p.first_command]
    reached = reached_by_rules(p)
    near = [x for x in range(len(s.place)) if s.near[x] & reached > 0]
    numbers = [*range(ends[0]), *[j for x in near for j in range(ends[x], ends[x + 1])]]
    return {j: command_text(p, s, j) for j in numbers if possible(p, s, j)}


def admissible(p: Any, s: Any) -> list[str]:
    """The texts of the commands that are possible now, sorted."""
    return sorted(set(possible_commands(p, s).values()))


def describe(p: Any, s: Any, k: int) -> str:
    """What the player reads."""
    commands = admissible(p, s)
    more = f", and {len(commands) - LONGEST_LIST} others" if len(commands) > LONGEST_LIST else ""
    last = [f"> {command_text(p, s, int(s.last) - 1)}"] if s.last > 0 else []
    return "\n".join(
        [
            *last,
            *scene(p, s),
            f"Objective: {objective(p, s)}",
            f"Commands: {', '.join(commands[:LONGEST_LIST])}{more}",
            "Reply with one command.",
        ]
    )


def normal(reply: str) -> str:
    """A reply in small letters, without articles and marks, with the verbs of the rules."""
    words = [word.strip(".,!?;:\"'<>()") for word in reply.lower().split()]
    words = [word for word in words if word and word not in FILLERS]
    text = " ".join(words)
    if text in SYNONYMS:
        return SYNONYMS[text]
    if words[:2] == ["pick", "up"]:
        words = ["take", *words[2:]]
    elif words[:2] == ["look", "at"]:
        words = ["examine", *words[2:]]
    elif words:
        words[0] = VERBS.get(words[0], words[0])
    return " ".join(words)


def parse_reply(text: str, p: Any, s: Any, k: int) -> int:
    """The command that a reply means; an empty one means to look.

    A command as the player reads it comes first, also where a rule of the game begins with a word of `VERBS`. A thing
    may go without the place that it is taken from where that leaves one possible command.

    Raises:
        ValueError: there is no such command, or it is not possible now.
    """
    told, wanted = possible_commands(p, s), normal(text) or "look"
    able = {j: normal(command) for j, command in told.items()}
    found = [j for j, command in told.items() if command.lower() == " ".join(text.lower().split())]
    found = found or [j for j, command in able.items() if command == wanted]
    if not found:
        found = [j for j, command in able.items() if command.startswith(f"{wanted} ")]
        if len(found) > 1:
            raise ValueError(f"{wanted!r} may mean {able[found[0]]!r} or {able[found[1]]!r}")
    if found:
        return found[0]
    known = [normal(command_text(p, s, j)) for j in range(len(p.command))]
    if wanted in known:
        raise ValueError(f"{wanted!r} is not possible now")
    raise ValueError(f"{shortened(wanted)} is no command. {nearest(wanted, known)}")
