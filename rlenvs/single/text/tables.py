"""Games as tables, which kernels read: things by number, properties as bits, commands as rows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from rlenvs.single.text.game import ANOTHER, AT, IS, TARGET, Fact, Game, read_fact
from rlenvs.single.text.published import LEVERS, game_of
from rlenvs.single.text.rule_set import HELD, SEEN, Part

THE_TARGET, THE_OTHERS = -1, -2  # in place of the number of a thing in a fact


class Tables:
    """The tables of a game. Places are numbered: the rooms, the things, the inventory, nowhere.

    Attributes:
        game: the game.
        commands: of every command the rule, and its first and second thing, or -1.
        texts: their texts.
        vocabulary: the words of names.
        arrays: what kernels read, by name.
    """

    def __init__(self, game: Game) -> None:
        self.game, self.things = game, tuple(game.things)
        self.places = {name: k for k, name in enumerate((*game.rooms, *self.things, "inventory", "nowhere"))}
        self.bits = {name: k for k, name in enumerate(game.properties)}
        self.commands = self._commands()
        self.texts = tuple(self._text(*row) for row in self.commands)
        names = (*game.rooms, *self.things)
        self.vocabulary = tuple(sorted({word for name in (*names, *game.properties) for word in name.split()}))
        self.arrays = {**self._map(), **self._contents(), **self._rules(), **self._quests(), **self._words()}

    def _commands(self) -> list[tuple[int, int, int]]:
        """All commands, sorted by their first thing: those without any come first."""
        found = []
        for number, rule in enumerate(self.game.rules):
            fitting = [[k for k, name in enumerate(self.things) if self._fits(part, name)] for part in rule.parts]
            first, second = (*fitting, [-1], [-1])[:2]
            found += [(number, x, y) for x in first for y in second if x != y or x < 0]
        return sorted(found, key=lambda row: (row[1], row[0], row[2]))

    def _fits(self, part: Part, name: str) -> bool:
        """Whether a thing can ever be what a rule asks for."""
        return part.kind in self.game.things[name].tags and not (part.where == HELD and name in self.game.last)

    def _text(self, rule: int, first: int, second: int) -> str:
        text = self.game.rules[rule].text
        for mark, x in (("{0}", first), ("{1}", second)):
            text = text.replace(mark, self.things[x]) if x >= 0 else text
        return text

    def _map(self) -> dict[str, np.ndarray]:
        game = self.game
        exits, doors = np.zeros((2, len(game.rooms), 4), np.int16)
        for room, table in game.exits.items():
            for d, (there, door) in table.items():
                exits[game.rooms.index(room), d] = 1 + game.rooms.index(there)
                doors[game.rooms.index(room), d] = 1 + self.things.index(door) if door else 0
        return {"map_exit": exits, "map_door": doors, "start": self._numbers(game.start)}

    def _numbers(self, names: Any) -> np.ndarray:
        return np.array([self.places[name] for name in names], np.int16)

    def _set(self, names: Any) -> int:
        """Properties as bits of a number."""
        return sum(1 << self.bits[name] for name in names)

    def _contents(self) -> dict[str, np.ndarray]:
        game = self.game
        spots = [thing.places or self._room_of(name) or ("nowhere",) for name, thing in game.things.items()]
        keys = np.zeros(len(self.things), np.int16)  # 1 + the key of each thing
        for k, thing in enumerate(game.things.values()):
            if thing.fits:
                keys[self.things.index(thing.fits)] = k + 1
        groups = np.full((len(game.shuffled), len(self.things)), -1, np.int16)
        for row, group in zip(groups, game.shuffled, strict=True):
            row[: len(group)] = [self.things.index(name) for name in group]
        return {
            "spot": self._numbers([place for places in spots for place in places]),
            "first_spot": np.cumsum([0, *map(len, spots)]).astype(np.int32),
            "first_bits": np.array([self._set(thing.properties) for thing in game.things.values()], np.int64),
            "fitting_key": keys,
            "shuffled": groups,
            "holds": np.array(["holder" in thing.tags for thing in game.things.values()], np.uint8),
            "lids": np.array(["lid" in thing.tags for thing in game.things.values()], np.uint8),
            "choices": self._numbers(game.targets) - len(game.rooms),
            "levers": np.array([game.levers.get(name, 0) for name in LEVERS], np.int32),
        }

    def _room_of(self, door: str) -> tuple[str, ...]:
        """A room that a door leads from."""
        return tuple(room for room, table in self.game.exits.items() if door in [way[1] for way in table.values()])[:1]

    def _rules(self) -> dict[str, np.ndarray]:
        rules = self.game.rules
        required = [[self._fact(read_fact(text, self.game)) for text in rule.requires] for rule in rules]
        rows = [(k, *fact) for k, facts in enumerate(required) for fact in facts]
        parts = [(*rule.parts, *[Part("", SEEN)] * 2)[:2] for rule in rules]
        where = [[part.where for part in pair] for pair in parts]
        go = np.full(4, -1, np.int16)
        for j, (rule, _, _) in enumerate(self.commands):
            if rules[rule].direction >= 0:
                go[rules[rule].direction] = j
        firsts = [x for _, x, _ in self.commands]
        return {
            "command": np.array(self.commands, np.int16),
            "first_command": np.searchsorted(firsts, np.arange(len(self.things) + 1)).astype(np.int32),
            "go": go,
            "rule_where": np.array(where, np.uint8),
            "rule_needs": np.array([[self._set(part.needs) for part in pair] for pair in parts], np.int64),
            "rule_lacks": np.array([[self._set(part.lacks) for part in pair] for pair in parts], np.int64),
            "rule_gives": np.array([[self._set(part.becomes) for part in pair] for pair in parts], np.int64),
            "rule_takes": np.array([[self._set(part.loses) for part in pair] for pair in parts], np.int64),
            "rule_goes": np.array([rule.goes for rule in rules], np.uint8),
            "rule_fits": np.array([rule.fits for rule in rules], np.uint8),
            "rule_fact": np.array(rows, np.int16).reshape(-1, 4),
            "first_rule_fact": np.cumsum([0, *map(len, required)]).astype(np.int32),
            "rule_direction": np.array([rule.direction for rule in rules], np.int8),
        }

    def _quests(self) -> dict[str, np.ndarray]:
        quests = self.game.quests
        rows = [(k, *self._fact(fact)) for k, quest in enumerate(quests) for fact in quest.facts]
        return {
            "fact": np.array(rows, np.int16),
            "quest_reward": np.array([quest.reward for quest in quests]),
            "quest_fails": np.array([quest.fails for quest in quests], np.uint8),
            "quest_any": np.array([quest.any_of for quest in quests], np.uint8),
        }

    def _fact(self, fact: Fact) -> tuple[int, int, int]:
        """Kind, thing, and place or property."""
        known = {TARGET: THE_TARGET, ANOTHER: THE_OTHERS}
        thing = 0 if fact.kind == AT else known.get(fact.thing, self.places.get(fact.thing, 0) - len(self.game.rooms))
        return fact.kind, thing, self.bits[fact.what] if fact.kind == IS else self.places[fact.what]

    def _words(self) -> dict[str, np.ndarray]:
        names = (*self.game.rooms, *self.things)
        index = {word: k for k, word in enumerate(self.vocabulary)}
        tokens = np.zeros((len(names), 1 + max(len(name.split()) for name in names)), np.int16)
        for row, name in zip(tokens, names, strict=True):
            numbers = [index[word] for word in name.split()]
            row[: 1 + len(numbers)] = [len(numbers), *numbers]
        return {
            "token": tokens,
            "property_token": np.array([index[name] for name in self.game.properties], np.int16),
            "name": letters(names),
            "property_name": letters(self.game.properties),
            "rule_text": letters([rule.text for rule in self.game.rules]),
            "objective": letters([self.game.objective])[0],
        }


def letters(texts: Any) -> np.ndarray:
    """Texts as rows of characters, padded with zeros."""
    found = np.zeros((len(texts), max(map(len, texts), default=0) + 1), np.uint8)
    for row, text in zip(found, texts, strict=True):
        row[: len(text)] = list(text.encode("ascii", "replace"))
    return found


@lru_cache(maxsize=16)
def _named(name: str) -> Tables:
    return Tables(game_of(name))


def tables_of(values: Any) -> Tables:
    """The tables of the game that the options ask for."""
    game = values.game
    return _named(game) if isinstance(game, str) and not game.endswith((".json", ".toml")) else Tables(game_of(game))


def sizes(values: Any) -> dict[str, int]:
    """The named sizes of the world."""
    tables = tables_of(values)
    game, arrays, rooms, things = tables.game, tables.arrays, len(tables.game.rooms), len(tables.things)
    shows = values.observation != "tokens", values.observation != "facts"
    return {
        "rooms": rooms,
        "things": things,
        "places": rooms + things + 2,
        "thing_ends": things + 1,
        "grid_cells": game.levers.get("grid", 0) ** 2,
        "commands": len(tables.commands),
        "rules": len(game.rules),
        "quests": len(game.quests),
        "facts": len(arrays["fact"]),
        "rule_facts": len(arrays["rule_fact"]),
        "rule_ends": len(game.rules) + 1,
        "target_count": len(game.targets),
        "starts": len(game.start),
        "spots": len(arrays["spot"]),
        "groups": len(game.shuffled),
        "named": rooms + things,
        "most_tokens": arrays["token"].shape[1],
        "longest_name": arrays["name"].shape[1],
        "properties": len(game.properties),
        "longest_property": arrays["property_name"].shape[1],
        "longest_rule": arrays["rule_text"].shape[1],
        "longest_objective": len(arrays["objective"]),
        "shown_rooms": rooms * shows[0],
        "shown_things": things * shows[0],
        "shown_exits": 4 * shows[0],
        "shown_choices": len(game.targets) * shows[0],
        "shown_tokens": len(tables.vocabulary) * shows[1],
        "remembered_rooms": rooms * values.memory,
        "remembered_things": things * values.memory,
    }


def data(values: Any) -> dict[str, np.ndarray]:
    """The arrays that kernels read."""
    return tables_of(values).arrays
