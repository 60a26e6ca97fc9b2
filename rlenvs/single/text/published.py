"""The games that come with the package: TextWorld's coin collector and treasure hunter, and a house.

The first two are drawn anew in each episode, by `maps` in kernels; their levels and sizes are TextWorld's 1.7
(arXiv 1806.11532). The names are this package's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rlenvs.core.declare.errors import clipped, nearest
from rlenvs.core.declare.user_files import read_text, reason
from rlenvs.single.text.cooking import cooking_game
from rlenvs.single.text.game import ANOTHER, IN, TARGET, Fact, Game, Quest, Thing, read_game
from rlenvs.single.text.names import CONTAINERS, DOORS, KEYS, ROOMS, SUPPORTERS, TREASURES
from rlenvs.single.text.reachable import check_reachable
from rlenvs.single.text.rule_set import KINDS

GIVEN, CHAIN, WALK = range(3)  # how the map is made
LEVELS = {"coin-collector": 300, "treasure-hunter": 30}
HOUSE = "house"
LARGEST = 1_000_000  # bytes of a file
LEVERS = ("mode", "quest_length", "grid", "furniture", "keys")


def numbered(names: tuple[str, ...], count: int) -> tuple[str, ...]:
    """`count` different names: kitchen, attic, ..., kitchen 2, ..."""
    return tuple(names[k % len(names)] + (f" {k // len(names) + 1}" if k >= len(names) else "") for k in range(count))


def coin_collector(level: int) -> Game:
    """Level 1 to 300: a chain of rooms with a coin in the last one; 100 levels without dead ends, 100 with one for each
    room of the chain, 100 with two."""
    length, distractors = (level - 1) % 100 + 1, (level - 1) // 100
    quest = Quest((Fact(IN, "coin", "inventory"),))
    rooms = numbered(ROOMS, length * (distractors + 1))
    things = {"coin": Thing(("thing", *KINDS["object"]), rooms[:1])}
    levers = {"mode": CHAIN, "quest_length": length}
    return Game(
        rooms,
        things,
        (quest,),
        rooms[:1],
        objective="Find the coin and take it.",
        horizon=10 * length,
        levers=levers,
        last=tuple(things),
    )


def treasure_hunter(level: int) -> Game:
    """Level 1 to 30: 5, 10 or 20 rooms; nothing but two objects, then doors and containers that may be closed, then
    such that may be locked, with the keys in the inventory."""
    mode, step = (level - 1) // 10, (level - 1) % 10
    count, first, last = ((5, 1, 5), (10, 2, 10), (20, 3, 20))[mode]
    length = round(first + step * (last - first) / 9)  # no half occurs
    rooms = numbered(ROOMS, count)
    furniture, doors, keys = 10 * mode, (0, 10, 20)[mode], (0, 0, len(KEYS))[mode]
    groups: list[tuple[str, Sequence[str]]] = [
        ("object", TREASURES),
        ("container", CONTAINERS[:furniture]),
        ("supporter", SUPPORTERS[:furniture]),
        ("key", [f"{name} key" for name in KEYS[:keys]]),
        ("door", [f"{name} door" for name in DOORS[:doors]]),
    ]
    things = {
        name: Thing(("thing", *KINDS[kind]), (), ("open",) if kind in ("supporter", "container", "door") else ())
        for kind, names in groups
        for name in names
    }
    quests = (
        Quest((Fact(IN, TARGET, "inventory"),)),
        Quest((Fact(IN, ANOTHER, "inventory"),), fails=True),
    )
    levers = {
        "mode": WALK,
        "quest_length": length,
        "grid": math.isqrt(count) + 1,  # the published side: the root of count + 1, rounded up
        "furniture": furniture,
        "keys": keys,
    }
    return Game(
        rooms,
        things,
        quests,
        rooms[:1],
        targets=tuple(TREASURES),
        objective="Find the {target} and take it. Take nothing else.",
        horizon=10 * length,
        levers=levers,
        last=tuple(TREASURES),
    )


def parse_game(given: Any) -> Any:
    """The option `game`, looked at: the name of a game, the path of a JSON file, or a table.

    Raises:
        ValueError: what is wrong with it.
    """
    given = str(given) if isinstance(given, Path) else given
    game_of(given)
    return given


def game_of(given: Any) -> Game:
    """The game that the option `game` asks for.

    Raises:
        ValueError: what is wrong with it.
    """
    if not isinstance(given, str):
        return _read(json.dumps(given)) if isinstance(given, dict) else read_game(given)
    if given == HOUSE:
        return _read((Path(__file__).parent / "house.json").read_text("utf-8"))
    recipe = re.fullmatch(r"cooking-([0-9]{1,2})-([0-9])-([0-9]{1,3})", given)
    if recipe:
        return _read(json.dumps(cooking_game(*map(int, recipe.groups()))))
    found = re.fullmatch(r"([a-z-]+)-([0-9]{1,3})", given)
    if found and found[1] in LEVELS:
        return _published(found[1], int(found[2]))
    if not given.endswith(".json"):
        raise ValueError(
            f"{clipped(given)!r} is no game: needed is 'house', a game such as 'cooking-6-3-0', 'coin-collector-1' to "
            f"'coin-collector-300', 'treasure-hunter-1' to 'treasure-hunter-30', the path of a .json file, or a table. "
            f"{nearest(given[:60], (HOUSE, 'cooking-6-3-0', *(f'{name}-1' for name in LEVELS)))}"
        )
    try:
        return _read(read_text(given, LARGEST))
    except OSError as error:
        raise ValueError(f"{clipped(given)}: {reason(error)}") from None


@lru_cache(maxsize=16)
def _read(text: str) -> Game:
    try:
        game = read_game(json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {clipped(str(error))}") from None
    check_reachable(game)
    return game


@lru_cache(maxsize=16)
def _published(name: str, level: int) -> Game:
    if not 1 <= level <= LEVELS[name]:
        raise ValueError(f"{name} has the levels 1 to {LEVELS[name]}, not {level}")
    return coin_collector(level) if name == "coin-collector" else treasure_hunter(level)
