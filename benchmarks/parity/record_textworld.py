"""Record games of TextWorld 1.7 (ebae03b2) and what happens in them, for tests/data/textworld.json.

Its generator and logic need no compiler of games, only its sources:

    python benchmarks/parity/record_textworld.py CHECKOUT_OF_TEXTWORLD OUTPUT

Each game is written as a table, as `game=` takes it, with three sequences of commands: before each the admissible
commands, the score, whether the game is won or lost, and the length of TextWorld's winning plan where it has one.
`jericho` and the compiler of Inform are not needed.
"""

import json
import sys
import types

import numpy as np

GAMES = (
    ("coin_collector", 1),
    ("coin_collector", 7),
    ("coin_collector", 105),
    ("coin_collector", 206),
    ("treasure_hunter", 1),
    ("treasure_hunter", 8),
    ("treasure_hunter", 14),
    ("treasure_hunter", 20),
    ("treasure_hunter", 24),
    ("treasure_hunter", 28),
)
DIRECTIONS = ("north", "south", "east", "west")
KINDS = {"c": "container", "s": "supporter", "d": "door", "k": "key", "f": "food", "o": "object"}
STEPS = 40


def load(checkout):
    """TextWorld's modules."""
    stand_in = types.ModuleType("jericho")
    stand_in.__getattr__ = lambda name: UserWarning
    sys.modules["jericho"] = stand_in
    sys.path.insert(0, checkout)
    from textworld.generator.maker import GameMaker

    GameMaker.set_walkthrough = lambda self, commands: None  # it would compile the game
    from textworld.challenges.tw_coin_collector import coin_collector
    from textworld.challenges.tw_treasure_hunter import treasure_hunter

    return {"coin_collector": coin_collector, "treasure_hunter": treasure_hunter}


def rename(game):
    """Give things names that tables may have: no words such as "the" or "of", all different."""
    numbers = {}
    for info in game.infos.values():
        if info.type in ("P", "I"):
            continue
        kind = "room" if info.type == "r" else KINDS[info.type]
        numbers[kind] = numbers.get(kind, 0) + 1
        info.name = "coin" if info.name == "coin" else f"{kind} {numbers[kind]}"


def table_of(game):
    """A game as a table."""
    name = {key: info.name for key, info in game.infos.items()}
    name["I"] = "inventory"
    rooms = {name[room.id]: {} for room in game.world.rooms}
    kinds = {key: KINDS[info.type] for key, info in game.infos.items() if info.type in KINDS}
    things = {name[key]: {"kind": kind, "is": []} for key, kind in kinds.items()}
    doors = {(f.names[0], f.names[2]): f.names[1] for f in game.world.facts if f.name == "link"}
    for fact in game.world.facts:
        names = fact.names
        if fact.name.endswith("_of"):  # names[0] lies there of names[1]
            door = doors.get((names[1], names[0]))
            rooms[name[names[1]]][fact.name[:-3]] = [name[names[0]], *([name[door]] if door else [])]
        elif fact.name in ("at", "in", "on") and names[0] != "P":
            things[name[names[0]]]["in"] = name[names[1]]
        elif fact.name in ("open", "closed", "locked"):
            things[name[names[0]]]["is"].append(fact.name)
        elif fact.name == "match":
            things[name[names[0]]]["fits"] = name[names[1]]
    start = next(name[f.names[1]] for f in game.world.facts if f.name == "at" and f.names[0] == "P")
    quests = []
    for quest in game.quests:
        for entry, events in (("win", quest.win_events), ("fail", quest.fail_events)):
            for event in events:
                facts = event.condition.preconditions
                held = [f"{name[f.names[0]]} in {name[f.names[1]]}" for f in facts if f.name == "in"]
                quests.append({entry: held})
    return {"start": start, "rooms": rooms, "things": things, "quests": quests}


def play(game, rng, follow):
    """A sequence of commands: a share `follow` of them from the winning plan, the others by chance."""
    from textworld.generator.game import GameProgression
    from textworld.generator.inform7 import Inform7Game

    progress, inform = GameProgression(game), Inform7Game(game)
    steps = []
    for _ in range(STEPS):
        actions = progress.valid_actions
        commands = inform.gen_commands_from_actions(actions)
        policy = progress.winning_policy
        row = {"admissible": sorted(set(commands)), "plan": len(policy) if policy else -1}
        steps.append(row)
        row.update(score=progress.score, won=progress.completed, lost=progress.failed)
        if progress.done:
            break
        pick = int(rng.integers(len(actions)))
        if policy and rng.random() < follow:
            wanted = inform.gen_commands_from_actions(policy[:1])[0]
            pick = commands.index(wanted)
        row["command"] = commands[pick]
        progress.update(actions[pick])
    return steps


def main(checkout, output):
    """Write the recordings."""
    challenges = load(checkout)
    from textworld.generator.game import GameOptions

    games = []
    for name, level in GAMES:
        options = GameOptions()
        options.seeds = level
        game = challenges[name].make({"level": level}, options)
        rename(game)
        rng = np.random.default_rng(level)
        plays = [play(game, rng, follow) for follow in (1.0, 0.7, 0.0)]
        games.append({"name": name, "level": level, "game": table_of(game), "plays": plays})
        print(
            name, level, len(game.world.rooms), [len(each) for each in plays], plays[0][0]["plan"], plays[0][-1]["won"]
        )
    with open(output, "w", encoding="utf-8") as file:
        json.dump(games, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("needed: CHECKOUT_OF_TEXTWORLD OUTPUT; the docstring of this script says more")
    main(*sys.argv[1:])
