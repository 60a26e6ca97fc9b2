"""Text games as their authors write them: rooms, things, rules and quests in a table, such as a JSON file has.

    {
        "objective": "Put the {target} on the stove.",
        "start": "hall",
        "rooms": {"hall": {"east": ["kitchen", "white door"]}, "kitchen": {}},
        "things": {
            "white door": {"kind": "door", "is": "closed"},
            "stove": {"kind": "supporter", "in": "kitchen"},
            "apple": {"kind": "food", "in": ["hall", "kitchen"]},
            "egg": {"kind": "food", "in": "hall"}
        },
        "targets": ["apple", "egg"],
        "quests": [{"win": "target on stove"}, {"fail": "target is eaten"}]
    }

An exit names the room, and the door in between if there is one; the way back needs no entry. A thing that may be in
several places is in one of them by chance in each episode, as is the player where "start" is a list. Of the targets one
is drawn: "target" in a fact is this one, "another target" any of the others. The things of each list in "shuffled"
exchange their places at random. A quest is won, or the game is lost, when all its facts hold: "THING in PLACE", "THING
on PLACE", "THING in inventory", "THING is PROPERTY", "player in ROOM"; with "any": true as soon as one of them does.
"reward" is 1 where it is not given. "rules" adds commands, see `rule_set`:

    "rules": {"fry {0} on {1}": {"first": {"kind": "food", "where": "held", "becomes": "fried"},
                                 "second": {"kind": "stove"}, "requires": ["player in kitchen"]}}

Kinds are object, food, key (with "fits": what it locks), container, supporter, door, fixture, or a list of one of these
and words of one's own that rules ask for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rlenvs.core.declare.errors import nearest, shortened
from rlenvs.single.text.rule_set import (
    DIRECTIONS,
    KINDS,
    MOST_PROPERTIES,
    OPPOSITE,
    PROPERTIES,
    USUAL,
    Rule,
    check_text,
    read_rule,
    words,
)

FILLERS = ("the", "a", "an", "my", "please")  # words that replies may contain
TARGET, ANOTHER = "target", "another target"
TAKEN = ("player", "inventory", "nowhere", "target", "in", "on", "is", *FILLERS)  # words that no name contains
IN, IS, AT = range(3)  # what a fact says
MOST_ROOMS, MOST_THINGS, MOST_QUESTS, LONGEST, LONGEST_OBJECTIVE = 300, 200, 60, 60, 1000
MOST_RULES, MOST_COMMANDS = 200, 20_000
ENTRIES = ("objective", "start", "rooms", "things", "targets", "shuffled", "quests", "rules", "horizon")


@dataclass
class Thing:
    """A thing: its tags, where it may be, its properties, and what it locks, by name."""

    tags: tuple[str, ...]
    places: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    fits: str = ""


@dataclass(frozen=True)
class Fact:
    """`kind` is IN, IS or AT; `thing` a name, TARGET or ANOTHER; `what` a place or a property."""

    kind: int
    thing: str
    what: str


@dataclass(frozen=True)
class Quest:
    """Facts that are all to hold (with `any_of` one of them), for a reward or for the loss of the game."""

    facts: tuple[Fact, ...]
    reward: float = 1.0
    fails: bool = False
    any_of: bool = False


@dataclass
class Game:
    """A game. `exits` holds by room the neighbour and the door ("" for none) in each direction, `levers` how its map is
    made in each episode, `last` the things that end the game when they are taken."""

    rooms: tuple[str, ...]
    things: dict[str, Thing]
    quests: tuple[Quest, ...]
    start: tuple[str, ...] = ()
    exits: dict[str, dict[int, tuple[str, str]]] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    shuffled: tuple[tuple[str, ...], ...] = ()
    objective: str = ""
    rules: tuple[Rule, ...] = USUAL
    horizon: int = 100
    levers: dict[str, int] = field(default_factory=dict)
    last: tuple[str, ...] = ()

    @property
    def properties(self) -> tuple[str, ...]:
        """All properties that things may have, the usual ones first."""
        found = dict.fromkeys(PROPERTIES)
        for rule in self.rules:
            for part in rule.parts:
                found.update(dict.fromkeys((*part.needs, *part.lacks, *part.becomes, *part.loses)))
        for thing in self.things.values():
            found.update(dict.fromkeys(thing.properties))
        return tuple(found)


def read_game(given: Any) -> Game:
    """A game from its table.

    Raises:
        ValueError: what is wrong with it: an unknown name, kind, property or rule, a thing that is in itself, ...
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"a game is a table, not {type(given).__name__}")
    _known(given, ENTRIES, "a game")
    for name in ("rooms", "things", "quests"):
        if not given.get(name):
            raise ValueError(f"a game needs {name}")
    rooms = _names(given["rooms"], "rooms", MOST_ROOMS)
    _names(given["things"], "things", MOST_THINGS)
    things = {name: read_thing(name, table) for name, table in given["things"].items()}
    for name in ("shuffled", "quests"):
        if not isinstance(given.get(name, ()), (list, tuple)):
            raise ValueError(f"{name}: needed is a list, not {shortened(given[name])}")
    game = Game(rooms, things, ())
    game.rules = (*USUAL, *(read_rule(text, table) for text, table in _table(given.get("rules", {}), "rules").items()))
    game.exits = read_exits(_table(given["rooms"], "rooms"), things)
    game.start = words(given.get("start", rooms[0]), "start")
    game.targets = words(given.get("targets", ()), "targets")
    game.shuffled = tuple(words(group, "shuffled") for group in given.get("shuffled", ()))
    game.objective = given.get("objective", "")
    check_text(game.objective, "the objective", LONGEST_OBJECTIVE)
    game.horizon = _horizon(given.get("horizon", 100))
    _check_things(game)
    _check_commands(game)
    for rule in game.rules:
        for text in rule.requires:
            read_fact(text, game)
    game.quests = tuple(_quest(table, game) for table in given["quests"])
    if all(quest.fails for quest in game.quests):
        raise ValueError("a game needs a quest that can be won")
    if len(game.quests) > MOST_QUESTS:
        raise ValueError(f"a game has at most {MOST_QUESTS} quests, not {len(game.quests)}")
    return game


def _table(given: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{what}: needed is a table, not {shortened(given)}")
    return given


def _known(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(
            f"{what} has an unknown entry {shortened(unknown[0])}. {nearest(str(unknown[0])[:LONGEST], known)}"
        )


def _names(given: Any, what: str, most: int) -> tuple[str, ...]:
    names = tuple(_table(given, what))
    if not names or len(names) > most:
        raise ValueError(f"a game has 1 to {most} {what}, not {len(names)}")
    for name in names:
        plain = isinstance(name, str) and name.isascii() and name == " ".join(name.lower().split())
        plain = plain and name.replace(" ", "").replace("-", "").isalnum()
        if not plain or not 0 < len(name) <= LONGEST or set(name.split()) & set(TAKEN):
            raise ValueError(
                f"{what}: {shortened(name)} is no name; names are words of small letters and digits, at most {LONGEST} "
                f"in all, and none of {', '.join(TAKEN)}"
            )
    return names


def _horizon(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 100_000:
        raise ValueError(f"horizon={shortened(given)} is not a number of steps from 1 to 100000")
    return given


def read_thing(name: str, given: Any) -> Thing:
    """A thing from its table; ValueError where it is none."""
    table = _table(given, f"{name}")
    _known(table, ("kind", "in", "is", "fits"), f"{name}")
    tags: dict[str, None] = {"thing": None}
    kinds = words(table.get("kind", "object"), name)
    for kind in kinds:
        tags.update(dict.fromkeys(KINDS.get(kind, (kind,))))
    properties = words(table.get("is", ()), name)
    if "supporter" in tags or ("lid" in tags and not set(properties) & {"open", "closed", "locked"}):
        properties = (*properties, "open")
    if len(set(properties) & {"open", "closed", "locked"}) > 1:
        raise ValueError(f"{name} is {' and '.join(properties)}; it can be one of open, closed and locked")
    return Thing(tuple(tags), words(table.get("in", ()), name), properties, str(table.get("fits", "")))


def read_exits(rooms: Mapping[str, Any], things: Mapping[str, Thing]) -> dict[str, dict[int, tuple[str, str]]]:
    """Of each room, by direction, the neighbour and the door or ""; ValueError where they contradict each other."""
    exits: dict[str, dict[int, tuple[str, str]]] = {room: {} for room in rooms}
    for room, table in rooms.items():
        for name, given in _table(table, room).items():
            if name not in DIRECTIONS:
                raise ValueError(f"{room}: {name!r} is not one of {', '.join(DIRECTIONS)}")
            there, door = (*(found := words(given, room)), "", "")[:2]
            if len(found) not in (1, 2):
                raise ValueError(f"{room}: its exit {name} is a room, or a room and a door, not {shortened(given)}")
            if there not in rooms or there == room:
                raise ValueError(
                    f"{room}: its exit {name} leads to {shortened(there)}. {nearest(there[:LONGEST], rooms)}"
                )
            if door and (door not in things or "door" not in things[door].tags):
                raise ValueError(f"{room}: {shortened(door)} is no door. {nearest(door[:LONGEST], things)}")
            d = DIRECTIONS.index(name)
            for here, way, other in ((room, d, there), (there, OPPOSITE[d], room)):
                if exits[here].setdefault(way, (other, door)) != (other, door):
                    raise ValueError(f"{here} has two exits {DIRECTIONS[way]}: {exits[here][way][0]} and {other}")
    return exits


def _check_things(game: Game) -> None:
    """ValueError where names, kinds and places of things contradict each other."""
    _check_names(game)
    asked = {part.kind for rule in game.rules for part in rule.parts}
    doors = [door for table in game.exits.values() for _, door in table.values() if door]
    for name, thing in game.things.items():
        unknown = [tag for tag in thing.tags if tag not in asked and not any(tag in tags for tags in KINDS.values())]
        if unknown:
            close = nearest(unknown[0][:LONGEST], [*KINDS, *asked])
            raise ValueError(f"{name}: no rule is about the kind {shortened(unknown[0])}. {close}")
        if "door" in thing.tags and doors.count(name) != 2:
            raise ValueError(f"{name} is a door and needs one exit that it is in; it is in {doors.count(name) // 2}")
        if thing.fits and ("key" not in thing.tags or "lid" not in game.things[thing.fits].tags):
            raise ValueError(f"{name} fits {thing.fits}; it must be a key, and the other a container or door")
        if not thing.places and "door" not in thing.tags:
            raise ValueError(f"{name} is nowhere; its entry 'in' says where it may be")
        for place in thing.places:
            elsewhere = place in game.rooms or place in ("inventory", "nowhere")
            if not elsewhere and "holder" not in game.things[place].tags:
                raise ValueError(f"{name} cannot be in {place}; it is neither room, container nor supporter")
    words([name for group in game.shuffled for name in group], "shuffled")
    places, sound = places_of(game), set[str]()
    for name in game.things:
        _check_containment(places, name, (), sound)
    if any(len(game.things[name].places) != 1 for group in game.shuffled for name in group):
        raise ValueError("things that are shuffled have one place each")
    for name in game.properties:
        if not (name.isascii() and name.isalpha() and name.islower() and len(name) <= LONGEST):
            raise ValueError(f"{shortened(name)} is no property; properties are words of small letters")
    if len(game.properties) > MOST_PROPERTIES:
        raise ValueError(f"a game has at most {MOST_PROPERTIES} properties, not {len(game.properties)}")


def _check_names(game: Game) -> None:
    locks = [thing.fits for thing in game.things.values() if thing.fits]
    named = [
        *((name, game.rooms) for name in game.start),
        *((name, game.things) for name in (*game.targets, *locks)),
        *((name, game.things) for group in game.shuffled for name in group),
        *(
            (place, (*game.rooms, "inventory", "nowhere", *game.things))
            for thing in game.things.values()
            for place in thing.places
        ),
    ]
    for name, known in named:
        if name not in known:
            raise ValueError(f"there is no {shortened(name)}. {nearest(name[:LONGEST], known)}")
    for name in set(game.rooms) & set(game.things):
        raise ValueError(f"{name!r} is a room and a thing")
    if len(set(locks)) < len(locks):
        raise ValueError(f"two keys fit {max(locks, key=locks.count)}")


def places_of(game: Game) -> dict[str, tuple[str, ...]]:
    """Where each thing may be at the start; things that are shuffled have their places in common."""
    places = {name: thing.places for name, thing in game.things.items()}
    for group in game.shuffled:
        shared = tuple(dict.fromkeys(place for name in group for place in places[name]))
        places |= dict.fromkeys(group, shared)
    return places


def _check_containment(
    places: Mapping[str, tuple[str, ...]], name: str, path: tuple[str, ...], sound: set[str]
) -> None:
    """ValueError where a thing is in itself; those that are not are added to `sound`."""
    if name in path:
        raise ValueError(f"cyclic containment: {' in '.join((*path[path.index(name) :], name))}")
    if name in sound:
        return
    for place in places[name]:
        if place in places:
            _check_containment(places, place, (*path, name), sound)
    sound.add(name)


def _check_commands(game: Game) -> None:
    """ValueError where rules and things make too many commands."""
    if len(game.rules) > MOST_RULES:
        raise ValueError(f"a game has at most {MOST_RULES} rules with the usual ones, not {len(game.rules)}")
    tags = [thing.tags for thing in game.things.values()]
    count = sum(math.prod(sum(part.kind in each for each in tags) for part in rule.parts) for rule in game.rules)
    if count > MOST_COMMANDS:
        raise ValueError(f"the game has {count} commands; at most {MOST_COMMANDS} are played")


def _quest(given: Any, game: Game) -> Quest:
    table = _table(given, "a quest")
    _known(table, ("win", "fail", "any", "reward"), "a quest")
    if ("win" in table) == ("fail" in table):
        raise ValueError("a quest has either win or fail")
    facts = tuple(read_fact(text, game) for text in words(table.get("win", table.get("fail")), "a quest"))
    if not facts:
        raise ValueError("a quest needs at least one fact")
    reward = table.get("reward", 1.0)
    if isinstance(reward, bool) or not isinstance(reward, (int, float)) or not 0 <= reward <= 100:
        raise ValueError(f"a quest's reward is a number from 0 to 100, not {shortened(reward)}")
    if not isinstance(table.get("any", False), bool):
        raise ValueError(f"a quest's entry any is true or false, not {shortened(table['any'])}")
    return Quest(facts, float(reward), "fail" in table, table.get("any", False))


def read_fact(text: str, game: Game) -> Fact:
    """A fact from its words; ValueError where it names what there is not."""
    for word, kind in ((" in ", IN), (" on ", IN), (" is ", IS)):
        thing, found, what = text.partition(word)
        if not found:
            continue
        if thing == "player" and kind == IN:
            kind, known = AT, game.rooms
        else:
            things = (*game.things, *((TARGET, ANOTHER) if game.targets else ()))
            if thing not in things:
                raise ValueError(
                    f"the fact {shortened(text)}: there is no thing {shortened(thing)}. "
                    f"{nearest(thing[:LONGEST], things)}"
                )
            known = game.properties if kind == IS else ("inventory", "nowhere", *game.rooms, *game.things)
        if what not in known:
            raise ValueError(
                f"the fact {shortened(text)}: there is no {shortened(what)}. {nearest(what[:LONGEST], known)}"
            )
        return Fact(kind, thing, what)
    raise ValueError(f"{shortened(text)} is no fact: 'THING in PLACE', 'THING is PROPERTY' or 'player in ROOM'")
