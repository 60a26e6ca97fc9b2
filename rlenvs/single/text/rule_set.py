"""Rules of text adventures: their declarative form, and those that all games have.

A rule is the text of a command, with {0} and {1} for the things that it names, and what it asks of these things and
does to them. The usual rules are those of TextWorld's logic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlenvs.core.declare.errors import shortened

DIRECTIONS = ("north", "south", "east", "west")
OPPOSITE = (1, 0, 3, 2)
HERE, HELD, INSIDE, DOOR, NOWHERE = 1, 2, 4, 8, 16  # how a thing is within reach, see `rules.reach`
SEEN = HERE | HELD | INSIDE | DOOR
WHERE = {
    "here": HERE,
    "held": HELD,
    "inside": INSIDE,
    "door": DOOR,
    "near": HERE | DOOR,
    "seen": SEEN,
    "nowhere": NOWHERE,
}
STAYS, INVENTORY, ROOM, SECOND, AWAY = range(5)  # where the first thing goes
GOES = {"inventory": INVENTORY, "room": ROOM, "second": SECOND, "away": AWAY}
KINDS = {  # the tags by which rules know things of a kind; all are a "thing"
    "object": ("portable",),
    "food": ("portable", "food"),
    "key": ("portable", "key"),
    "container": ("container", "holder", "lid"),
    "supporter": ("supporter", "holder"),
    "door": ("door", "lid"),
    "fixture": (),
}
PROPERTIES = ("open", "closed", "locked", "eaten")  # supporters are open
MOST_PROPERTIES = 60
LONGEST_COMMAND = 200  # characters of a rule's text


@dataclass(frozen=True)
class Part:
    """What a rule asks of one of its things, and does to it.

    Attributes:
        kind: the tag that the thing has.
        where: how it is within reach, bits of `WHERE`; "inside" is in or on the second thing.
        needs, lacks: properties that it has, and has not.
        becomes, loses: properties that it gets and loses.
    """

    kind: str
    where: int
    needs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    becomes: tuple[str, ...] = ()
    loses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A command and its effects.

    Attributes:
        text: of the command, with {0} and {1} for its things.
        parts: of its things, at most two.
        goes: where the first thing goes, one of `STAYS` ... `AWAY`.
        fits: whether the second thing must be the key of the first.
        direction: into which the player goes, or -1.
        requires: facts that must hold, as quests have them.
    """

    text: str
    parts: tuple[Part, ...] = ()
    goes: int = STAYS
    fits: bool = False
    direction: int = -1
    requires: tuple[str, ...] = ()


def read_rule(text: Any, given: Any) -> Rule:
    """A rule from its declarative form.

    Raises:
        ValueError: what is wrong with it.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"a rule is a command with a table, not {shortened(text)}: {shortened(given)}")
    check_text(text, "a rule's command", LONGEST_COMMAND)
    _only(given, ("first", "second", "goes", "fits", "requires"), text)
    parts = tuple(_part(given[name], text) for name in ("first", "second") if name in given)
    if not parts or ("second" in given and "first" not in given):
        raise ValueError(f"the rule {text!r} needs a first thing")
    if any((f"{{{i}}}" in text) != (i < len(parts)) for i in range(2)):
        raise ValueError(f"the rule {text!r} names its things by {{0}} and {{1}}; it has {len(parts)}")
    goes = given.get("goes")
    if goes is not None and goes not in tuple(GOES):
        raise ValueError(f"the rule {text!r}: goes={shortened(goes)} is not one of {', '.join(GOES)}")
    if len(parts) == 1 and (goes == "second" or given.get("fits") or parts[0].where == INSIDE):
        raise ValueError(f"the rule {text!r} has no second thing")
    if goes == "second" and not parts[1].where & (HERE | HELD) == parts[1].where:
        raise ValueError(f"the rule {text!r} puts things into what is not here or held")
    requires = words(given.get("requires", ()), f"the rule {text!r}")
    return Rule(text, parts, GOES[goes] if goes else STAYS, bool(given.get("fits", False)), requires=requires)


def _part(given: Any, text: str) -> Part:
    if not isinstance(given, Mapping) or not isinstance(given.get("kind"), str):
        raise ValueError(f"the rule {text!r}: a thing is a table with a kind, not {shortened(given)}")
    _only(given, ("kind", "where", "is", "not", "becomes", "loses"), text)
    where = given.get("where", "here")
    if where not in tuple(WHERE):
        raise ValueError(f"the rule {text!r}: where={shortened(where)} is not one of {', '.join(WHERE)}")
    names = ("is", "not", "becomes", "loses")
    found = [words(given.get(name, ()), f"the rule {text!r}") for name in names]
    return Part(given["kind"], WHERE[where], *found)


def _only(given: Mapping[str, Any], known: tuple[str, ...], text: str) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(
            f"the rule {text!r} has an unknown entry {shortened(unknown[0])}; entries are {', '.join(known)}"
        )


def words(given: Any, what: str) -> tuple[str, ...]:
    """A word or a list of different words as a tuple; ValueError where it is neither."""
    found = (given,) if isinstance(given, str) else given
    if not isinstance(found, (list, tuple)) or not all(isinstance(word, str) and word for word in found):
        raise ValueError(f"{what}: needed are words, not {shortened(given)}")
    twice = [word for word, count in Counter(found).items() if count > 1]
    if twice:
        raise ValueError(f"{what}: {shortened(twice[0])} is there twice")
    return tuple(found)


def check_text(given: Any, what: str, longest: int) -> None:
    """ValueError where it is no line of printable ASCII, or too long."""
    if not isinstance(given, str) or not (given.isascii() and given.isprintable()) or len(given) > longest:
        raise ValueError(
            f"{what} is a line of at most {longest} letters, digits and marks of ASCII, not {shortened(given)}"
        )


_HELD, _HOLDER = {"kind": "portable", "where": "held"}, {"kind": "holder", "is": "open"}
_LID, _KEY = {"kind": "lid", "where": "near"}, {"kind": "key", "where": "held"}
_TABLE: dict[str, dict[str, Any]] = {
    "examine {0}": {"first": {"kind": "thing", "where": "seen"}},
    "take {0}": {"first": {"kind": "portable"}, "goes": "inventory"},
    "take {0} from {1}": {
        "first": {"kind": "portable", "where": "inside"},
        "second": _HOLDER,
        "goes": "inventory",
    },
    "drop {0}": {"first": _HELD, "goes": "room"},
    "insert {0} into {1}": {"first": _HELD, "second": {**_HOLDER, "kind": "container"}, "goes": "second"},
    "put {0} on {1}": {"first": _HELD, "second": {**_HOLDER, "kind": "supporter"}, "goes": "second"},
    "open {0}": {"first": {**_LID, "is": "closed", "becomes": "open", "loses": "closed"}},
    "close {0}": {"first": {**_LID, "is": "open", "becomes": "closed", "loses": "open"}},
    "unlock {0} with {1}": {
        "first": {**_LID, "is": "locked", "becomes": "closed", "loses": "locked"},
        "second": _KEY,
        "fits": True,
    },
    "lock {0} with {1}": {
        "first": {**_LID, "is": "closed", "becomes": "locked", "loses": "closed"},
        "second": _KEY,
        "fits": True,
    },
    "eat {0}": {"first": {"kind": "food", "where": "held", "becomes": "eaten"}, "goes": "away"},
}
LOOK, TAKE_STOCK = 0, 1  # the first two rules
USUAL = (
    Rule("look"),
    Rule("inventory"),
    *(Rule(f"go {name}", direction=d) for d, name in enumerate(DIRECTIONS)),
    *(read_rule(text, given) for text, given in _TABLE.items()),
)
