"""Whether a game can be won at all: what could ever come true if nothing that was true once became false."""

from __future__ import annotations

from itertools import product

from rlenvs.single.text.game import ANOTHER, AT, IS, TARGET, Fact, Game, places_of, read_fact
from rlenvs.single.text.rule_set import AWAY, DOOR, HELD, HERE, INSIDE, INVENTORY, NOWHERE, ROOM, SECOND, Part, Rule


class Reached:
    """What can come true in a game: rooms, places of things and their properties. It only grows.

    Attributes:
        rooms: that the player can come to.
        places: of each thing; properties: of each thing.
    """

    def __init__(self, game: Game) -> None:
        self.game, self.rooms = game, set(game.start)
        self.places = {name: set(places) for name, places in places_of(game).items()}
        self.properties = {name: set(thing.properties) for name, thing in game.things.items()}
        self._open: set[str] = set()  # things that can be open and within reach
        self._doors: set[str] = set()  # of these rooms

    def grow(self) -> None:
        """Add all that follows."""
        size = -1
        while size != self._size():
            size = self._size()
            self._walk()
            self._open_more()
            for rule in self.game.rules:
                self._apply(rule)

    def _walk(self) -> None:
        """Add the rooms that open ways lead to, and the doors that are found there."""
        left = list(self.rooms)
        while left:
            ways = self.game.exits.get(left.pop(), {}).values()
            self._doors.update(door for _, door in ways if door)
            new = {there for there, door in ways if not door or "open" in self.properties[door]} - self.rooms
            self.rooms |= new
            left += new

    def _size(self) -> int:
        parts = (*self.places.values(), *self.properties.values())
        return len(self.rooms) + sum(map(len, parts))

    def _apply(self, rule: Rule) -> None:
        if not all(self.says(read_fact(text, self.game)) for text in rule.requires):
            return
        fitting = [[name for name in self.game.things if self._holds(part, name)] for part in rule.parts]
        for things in product(*fitting):
            if len(things) == 2 and not self._go_together(rule, *things):
                continue
            for name, part in zip(things, rule.parts, strict=True):
                self.properties[name].update(part.becomes)
            if things:
                self._move(rule, things)

    def _move(self, rule: Rule, things: tuple[str, ...]) -> None:
        if rule.goes == INVENTORY:
            self.places[things[0]].add("inventory")
        elif rule.goes == ROOM:
            self.places[things[0]] |= self.rooms
        elif rule.goes == SECOND:
            self.places[things[0]].add(things[1])
        elif rule.goes == AWAY:
            self.places[things[0]].add("nowhere")

    def _holds(self, part: Part, name: str) -> bool:
        if part.kind not in self.game.things[name].tags or not set(part.needs) <= self.properties[name]:
            return False
        places = self.places[name]
        return bool(
            (part.where & HELD and "inventory" in places)
            or (part.where & HERE and not places.isdisjoint(self.rooms))
            or (part.where & DOOR and name in self._doors)
            or (part.where & NOWHERE and "nowhere" in places)
            or (part.where & INSIDE and not places.isdisjoint(self._open))
        )

    def _open_more(self) -> None:
        size = -1
        while size != len(self._open):
            size, near = len(self._open), self.rooms | self._open | {"inventory"}
            self._open |= {
                name for name, places in self.places.items() if "open" in self.properties[name] and places & near
            }

    def _go_together(self, rule: Rule, first: str, second: str) -> bool:
        if first == second or (rule.fits and self.game.things[second].fits != first):
            return False
        return rule.parts[0].where != INSIDE or second in self.places[first]

    def says(self, fact: Fact) -> bool:
        """Whether a fact can come true."""
        if fact.kind == AT:
            return fact.what in self.rooms
        things = self.game.targets if fact.thing in (TARGET, ANOTHER) else (fact.thing,)
        held = self.properties if fact.kind == IS else self.places
        found = [fact.what in held[name] for name in things]
        return any(found) if fact.thing == ANOTHER else all(found)


def check_reachable(game: Game) -> None:
    """ValueError where a quest needs a fact that can never come true."""
    reached = Reached(game)
    reached.grow()
    for quest in game.quests:
        lost = [fact for fact in quest.facts if not reached.says(fact)]
        if lost and not quest.fails and not (quest.any_of and len(lost) < len(quest.facts)):
            words = ("in", "is", "in")[lost[0].kind]
            who = "player" if lost[0].kind == AT else lost[0].thing
            raise ValueError(f"unreachable goal: no command ever makes true that {who} {words} {lost[0].what}")
