"""Seeds of games, after STARLING (Basavatia et al. 2024): an idea in a small table, of which numbered games are made.

    {
        "objective": "Serve the {food} on the table.",
        "rooms": ["kitchen", "pantry"],
        "slots": {"food": ["potato", "carrot"]},
        "skills": ["cut", "cook"],
        "steps": ["cut {food} with knife", "cook {food} on stove", "put {food} on table"],
        "things": {
            "{food}": {"kind": "food", "in": ["kitchen", "pantry"], "is": ["raw", "whole"]},
            "knife": {"kind": ["object", "blade"], "in": "table"},
            "stove": {"kind": ["fixture", "heater"], "in": "kitchen"},
            "table": {"kind": "supporter", "in": "kitchen"}
        },
        "extras": {"umbrella": {"in": "pantry"}},
        "number": 7
    }

The number draws a word for each slot, which takes the place of "{slot}" in all texts; which of the extras there are;
and, where "rooms" is a list, how they are joined. Each step is a command of a skill (`skills.SKILLS`), of a rule of
one's own ("rules") or of the usual ones. What it changes is a quest with a reward of 1. Steps may be taken in any order
that the rules allow: what a step needs, the steps before it give. "things", "rules", "start" and "horizon" are those of
`game`. STARLING has its tables written by a language model, and compiles them with Inform7.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

from rlenvs.core.declare.errors import nearest, shortened
from rlenvs.single.text.game import MOST_ROOMS, Thing, read_thing
from rlenvs.single.text.rule_set import AWAY, DIRECTIONS, INVENTORY, SECOND, USUAL, Rule, read_rule, words
from rlenvs.single.text.skills import SKILLS

ENTRIES = (
    *("objective", "rooms", "slots", "skills", "steps", "things", "extras", "number", "rules", "start", "horizon"),
)
MOST_NUMBER, MOST_STEPS = 999_999, 40
KEPT_MARKS = ("0", "1")  # of rules


def seed_game(given: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a game, see `game`, that a seed and its number make.

    Raises:
        ValueError: what is wrong with it: an unknown entry, slot, skill, rule or thing, a step that changes nothing or
            the same as another.
    """
    unknown = [name for name in given if name not in ENTRIES]
    if unknown:
        raise ValueError(
            f"a seed has an unknown entry {shortened(unknown[0])}. {nearest(str(unknown[0])[:60], ENTRIES)}"
        )
    for name in ("rooms", "things", "steps"):
        if not given.get(name):
            raise ValueError(f"a seed needs {name}")
    number = given.get("number", 0)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_NUMBER:
        raise ValueError(f"number={shortened(number)} is not a number from 0 to {MOST_NUMBER}")
    idea = {name: entry for name, entry in given.items() if name != "number"}
    random = Random(f"{json.dumps(idea, sort_keys=True)} {number}")
    filled = _filled(idea, _drawn_words(idea.get("slots", {}), random))
    things = {**_table(filled["things"], "things"), **_extras(_table(filled.get("extras", {}), "extras"), random)}
    rules = {**_skills(filled.get("skills", ())), **_table(filled.get("rules", {}), "rules")}
    rooms = filled["rooms"]
    exits = rooms if isinstance(rooms, Mapping) else joined(words(rooms, "rooms"), random)
    return {
        "objective": filled.get("objective", ""),
        "start": filled.get("start", list(exits)),
        "rooms": exits,
        "things": things,
        "rules": rules,
        "quests": _quests(words(filled["steps"], "steps"), things, rules),
        "horizon": filled.get("horizon", 100),
    }


def _table(given: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{what}: needed is a table, not {shortened(given)}")
    return given


def _drawn_words(slots: Any, random: Random) -> dict[str, str]:
    """The word of each slot."""
    drawn = {}
    for name, options in _table(slots, "slots").items():
        found = words(options, f"the slot {name!r}")
        if not found or not name.isidentifier() or name == "target":
            raise ValueError(f"the slot {name!r} needs a name of letters other than 'target', and words to draw from")
        drawn[name] = random.choice(found)
    return drawn


def _filled(given: Any, drawn: Mapping[str, str]) -> Any:
    """A table with the words of its slots."""

    def word(found: re.Match[str]) -> str:
        if found[1] in KEPT_MARKS:
            return found[0]
        if found[1] not in drawn:
            raise ValueError(f"unknown slot {shortened(found[1])}. {nearest(found[1][:60], drawn)}")
        return drawn[found[1]]

    if isinstance(given, str):
        return re.sub(r"\{([^{}]*)\}", word, given)
    if isinstance(given, Mapping):
        pairs = [(_filled(name, drawn), entry) for name, entry in given.items()]
        twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
        if twice:
            raise ValueError(f"there are two {twice[0]!r} once slots are filled")
        return {name: entry if name == "slots" else _filled(entry, drawn) for name, entry in pairs}
    return [_filled(entry, drawn) for entry in given] if isinstance(given, (list, tuple)) else given


def _extras(extras: Mapping[str, Any], random: Random) -> dict[str, Any]:
    names = sorted(extras)
    return {name: extras[name] for name in random.sample(names, random.randint(0, len(names)))}


def _skills(given: Any) -> dict[str, Any]:
    rules = {}
    for name in words(given, "skills"):
        if name not in SKILLS:
            raise ValueError(f"unknown skill {shortened(name)}. {nearest(name[:60], SKILLS)}")
        text, rule = SKILLS[name]
        rules[text] = rule
    return rules


def joined(names: tuple[str, ...], random: Random) -> dict[str, dict[str, str]]:
    """A map in which each room lies beside one of those before it, on a grid. ValueError for too many rooms."""
    if len(names) > MOST_ROOMS:
        raise ValueError(f"a game has 1 to {MOST_ROOMS} rooms, not {len(names)}")
    steps = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
    exits: dict[str, dict[str, str]] = {name: {} for name in names}
    places = {names[0]: (0, 0)}
    for name in names[1:]:
        taken = set(places.values())
        free = [
            (anchor, way, (x + steps[way][0], y + steps[way][1]))
            for anchor, (x, y) in places.items()
            for way in DIRECTIONS
            if (x + steps[way][0], y + steps[way][1]) not in taken
        ]
        anchor, way, places[name] = random.choice(free)
        exits[anchor][way] = name
    return exits


# --- steps ------------------------------------------------------------------------------------------------------------


def _quests(steps: tuple[str, ...], things: Mapping[str, Any], rules: Mapping[str, Any]) -> list[dict[str, Any]]:
    if len(steps) > MOST_STEPS:
        raise ValueError(f"a seed has at most {MOST_STEPS} steps, not {len(steps)}")
    known = {name: read_thing(name, table) for name, table in things.items()}
    read = (*(read_rule(text, table) for text, table in rules.items()), *USUAL)
    found: dict[tuple[str, ...], str] = {}
    for step in steps:
        facts = tuple(_facts(step, read, known))
        if facts in found:
            raise ValueError(f"the steps {found[facts]!r} and {step!r} make the same true: {', '.join(facts)}")
        found[facts] = step
    return [{"win": list(facts)} for facts in found]


def _facts(step: str, rules: tuple[Rule, ...], things: Mapping[str, Thing]) -> list[str]:
    """What a step makes true."""
    rule, names = _meant(step, rules, things)
    facts = [f"{name} is {word}" for part, name in zip(rule.parts, names, strict=True) for word in part.becomes]
    if rule.goes == INVENTORY:
        facts.append(f"{names[0]} in inventory")
    elif rule.goes == SECOND:
        facts.append(f"{names[0]} in {names[1]}")
    elif rule.goes == AWAY:
        facts.append(f"{names[0]} in nowhere")
    if not facts:
        raise ValueError(f"the step {shortened(step)} changes nothing that a quest can ask for")
    return facts


def _meant(step: str, rules: tuple[Rule, ...], things: Mapping[str, Thing]) -> tuple[Rule, tuple[str, ...]]:
    """The rule of a step, and its things."""
    reason = ""
    for rule in rules:
        pattern = re.escape(rule.text).replace(r"\{0\}", "(.+)").replace(r"\{1\}", "(.+)")
        match = re.fullmatch(pattern, step)
        if match is None:
            continue
        names = (
            match.groups()
            if rule.text.find("{0}") <= rule.text.find("{1}") or len(rule.parts) < 2
            else match.groups()[::-1]
        )
        strange = [name for name in names if name not in things]
        if strange:
            reason = reason or f"there is no thing {shortened(strange[0])}. {nearest(strange[0][:60], things)}"
            continue
        wrong = [
            (part, name) for part, name in zip(rule.parts, names, strict=True) if part.kind not in things[name].tags
        ]
        if not wrong:
            return rule, names
        reason = f"{rule.text!r} is for things of the kind {wrong[0][0].kind!r}, which {wrong[0][1]} is not"
    if not reason:
        reason = f"unknown rule. {nearest(step[:60], [rule.text for rule in rules])}"
    raise ValueError(f"the step {shortened(step)}: {reason}")
