"""The games that come with the package: TextWorld's coin collector and treasure hunter, houses to tidy up, seeds of
games, and a house.

The first three are drawn anew in each episode, by `maps` and `tidying` in kernels; levels and sizes are those of
TextWorld 1.7 (arXiv 1806.11532) and TextWorld Commonsense (arXiv 2010.03790). The names are this package's.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rlenvs.core.declare.errors import clipped, nearest
from rlenvs.core.declare.user_files import read_text, reason
from rlenvs.single.text.cooking import cooking_game
from rlenvs.single.text.game import ANOTHER, IN, TARGET, Fact, Game, Quest, Thing, read_exits, read_game
from rlenvs.single.text.household import (
    COMMANDS,
    DIFFICULTIES,
    HELD_OUT,
    HOUSE_ROOMS,
    KEPT,
    LEARNT,
    OPEN_CONTAINERS,
    SPLITS,
    SURFACES,
)
from rlenvs.single.text.names import CONTAINERS, DOORS, KEYS, ROOMS, SUPPORTERS, TREASURES
from rlenvs.single.text.reachable import check_reachable
from rlenvs.single.text.rule_set import KINDS
from rlenvs.single.text.seeds import seed_game

GIVEN, CHAIN, WALK, TIDY = range(4)  # how the map is made
LEVELS = {"coin-collector": 300, "treasure-hunter": 30}
HOUSE = "house"
FOLDER = Path(__file__).parent
SEEDS = ("cleaning", "garden", "supper", "tea")  # ideas, each with many games
EXAMPLES = (HOUSE, "cooking-6-3-0", "coin-collector-10", "treasure-hunter-10", "tidy-medium-train", "seed-tea-0")
LARGEST = 1_000_000  # bytes of a file
LEVERS = (
    *("mode", "quest_length", "grid", "furniture", "keys"),
    *("least", "most", "fetched", "room_count", "split", "learnt"),
)


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


def tidy_house(level: str, split: str) -> Game:
    """A house where objects are out of place; which rooms, furniture and objects there are is drawn in each episode."""
    difficulty = DIFFICULTIES[level]
    belong = {**LEARNT, **HELD_OUT}
    things = {name: Thing(("thing", *KINDS["object"]), places) for name, places in belong.items()}
    for table in (SURFACES, KEPT):
        for room, names in table.items():
            for name in names:
                kind = "container" if name in OPEN_CONTAINERS else "supporter"
                things[name] = Thing(("thing", *KINDS[kind]), (room,), ("open",))
    quests = tuple(
        Quest(tuple(Fact(IN, name, place) for place in places), any_of=True) for name, places in belong.items()
    )
    levers = {
        "mode": TIDY,
        "furniture": sum(map(len, SURFACES.values())),
        "least": difficulty.least,
        "most": difficulty.most,
        "fetched": difficulty.fetched,
        "room_count": difficulty.rooms,
        "split": SPLITS.index(split),
        "learnt": len(LEARNT),
    }
    return Game(
        tuple(HOUSE_ROOMS),
        things,
        quests,
        tuple(HOUSE_ROOMS),
        exits=read_exits(HOUSE_ROOMS, {}),
        objective="Look for what is out of place, and put each thing where it belongs.",
        horizon=COMMANDS,
        levers=levers,
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
        return _read(_as_json(given)) if isinstance(given, dict) else read_game(given)
    if given == HOUSE:
        return _read((FOLDER / "house.json").read_text("utf-8"))
    if given.endswith((".json", ".toml")):
        return _read(_as_json(_file(given)))
    name, _, level = given.rpartition("-")
    if name in LEVELS and re.fullmatch(r"[0-9]{1,3}", level):
        return _published(name, int(level))
    recipe = re.fullmatch(r"cooking-([0-9]{1,2})-([0-9])-([0-9]{1,3})", given)
    if recipe:
        return _read(json.dumps(cooking_game(*map(int, recipe.groups()))))
    tidy = re.fullmatch(f"tidy-({'|'.join(DIFFICULTIES)})-({'|'.join(SPLITS)})", given)
    if tidy:
        return tidy_house(*tidy.groups())
    idea = re.fullmatch(f"seed-({'|'.join(SEEDS)})-([0-9]{{1,6}})", given)
    if idea:
        return _read(json.dumps({"seed": idea[1], "number": int(idea[2])}))
    raise ValueError(f"{clipped(given)!r} is no game: {_known(given)}")


def _known(given: str) -> str:
    """What there is instead of a name."""
    if given.startswith("tidy-"):
        return f"tidy-LEVEL-SPLIT has the levels {', '.join(DIFFICULTIES)} and the splits {', '.join(SPLITS)}"
    if given.startswith("seed-"):
        return f"seed-NAME-NUMBER has the names {', '.join(SEEDS)} and numbers of up to six digits"
    close = nearest(given[:60], EXAMPLES)
    return f"needed is {', '.join(EXAMPLES)} or one with another number, a .json or .toml file, or a table. {close}"


def _as_json(table: Any) -> str:
    """A table as text."""
    try:
        return json.dumps(table)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a game is made of tables, lists, texts and numbers: {clipped(str(error))}") from None


def _file(path: str) -> Any:
    """The table in a file."""
    try:
        text = read_text(path, LARGEST)
        return tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
    except OSError as error:
        raise ValueError(f"{clipped(path)}: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.endswith(".toml") else "JSON"
        raise ValueError(f"{clipped(path)} is not {kind}: {clipped(str(error))}") from None


@lru_cache(maxsize=16)
def _read(text: str) -> Game:
    table = json.loads(text)
    if isinstance(table, dict) and "seed" in table:
        table = _numbered_seed(table)
    game = read_game(seed_game(table) if isinstance(table, dict) and "steps" in table else table)
    check_reachable(game)
    return game


def _numbered_seed(table: dict[str, Any]) -> Any:
    """The seed that a table names, with its number."""
    if set(table) - {"seed", "number"}:
        raise ValueError(
            f"a table with a seed has a number beside it, and not {min(set(table) - {'seed', 'number'})!r}"
        )
    seed = table["seed"]
    if isinstance(seed, str):
        if seed not in SEEDS and not seed.endswith((".json", ".toml")):
            raise ValueError(
                f"{clipped(seed)!r} is no seed: needed is {', '.join(SEEDS)}, or a file. {nearest(seed[:60], SEEDS)}"
            )
        seed = _file(str(FOLDER / "seed_games" / f"{seed}.toml") if seed in SEEDS else seed)
    if not isinstance(seed, dict) or "steps" not in seed:
        raise ValueError("a seed is a table with steps")
    return {**seed, "number": table.get("number", seed.get("number", 0))}


@lru_cache(maxsize=16)
def _published(name: str, level: int) -> Game:
    if not 1 <= level <= LEVELS[name]:
        raise ValueError(f"{name} has the levels 1 to {LEVELS[name]}, not {level}")
    return coin_collector(level) if name == "coin-collector" else treasure_hunter(level)
