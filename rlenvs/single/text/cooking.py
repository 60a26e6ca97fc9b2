"""Cooking games after TextWorld's (First TextWorld Problems): fetch, cut and cook what a recipe asks for.

`cooking-ROOMS-INGREDIENTS-NUMBER` is a table, as users write them: the map, the recipe and the foods follow from its
number, and each episode draws where the player and the foods are. Rooms, foods, where they are found and the tools are
TextWorld's; its cookbook is the objective here, all its skills but the limited inventory are asked for, and what was
cooked stays in the inventory beside the meal.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from rlenvs.single.text.rule_set import DIRECTIONS

SIZES, MOST_INGREDIENTS, MOST_NUMBER = (1, 6, 9, 12), 5, 999
GROUPS = (
    ("kitchen",),
    ("pantry", "livingroom", "corridor", "bedroom", "bathroom"),
    ("backyard", "shed", "garden"),
    ("driveway", "street", "supermarket"),
)
NEIGHBORS = {
    "kitchen": ("livingroom", "backyard", "corridor", "pantry"),
    "livingroom": ("bedroom", "driveway", "corridor"),
    "corridor": ("bedroom", "bathroom", "driveway", "backyard"),
    "backyard": ("garden", "shed"),
    "driveway": ("street",),
    "street": ("supermarket",),
}
DOORS = {
    ("pantry", "kitchen"): "plain door",
    ("kitchen", "backyard"): "patio door",
    ("corridor", "backyard"): "screen door",
    ("backyard", "shed"): "barn door",
    ("livingroom", "driveway"): "front door",
    ("corridor", "driveway"): "fiberglass door",
    ("supermarket", "street"): "sliding door",
}
FURNITURE = {  # in which room, and what it is
    "counter": ("kitchen", "supporter"),
    "table": ("kitchen", "supporter"),
    "fridge": ("kitchen", "container"),
    "stove": ("kitchen", "stove"),
    "oven": ("kitchen", "oven"),
    "bbq": ("backyard", "bbq"),
    "shelf": ("pantry", "supporter"),
    "showcase": ("supermarket", "supporter"),
    "toolbox": ("shed", "container"),
    "workbench": ("shed", "supporter"),
    "sofa": ("livingroom", "supporter"),
    "bed": ("bedroom", "supporter"),
}
STEPS = {(0, -1): 0, (0, 1): 1, (1, 0): 2, (-1, 0): 3}  # to directions
COOKED = {"stove": "fried", "oven": "roasted", "bbq": "grilled"}
CUT = {"chop": "chopped", "slice": "sliced", "dice": "diced"}
EITHER = ("fridge", "showcase")


class Food(NamedTuple):
    """Where a food is found, and whether it can be cooked, must be, and can be cut."""

    places: tuple[str, ...]
    cookable: bool = True
    needs_cooking: bool = False
    cuttable: bool = True


_RAW = {"cookable": False, "cuttable": False}
FOODS = {
    "egg": Food(EITHER, True, True, False),
    "milk": Food(EITHER, **_RAW),
    "water": Food(EITHER, **_RAW),
    "olive oil": Food(("shelf", "showcase"), **_RAW),
    "chicken wing": Food(EITHER, True, True, False),
    "chicken leg": Food(EITHER, True, True, False),
    "chicken breast": Food(EITHER, True, True, False),
    "pork chop": Food(EITHER, True, True),
    "red tuna": Food(EITHER, True, True),
    "white tuna": Food(EITHER, True, True),
    **dict.fromkeys(("carrot", "lettuce", "red onion", "white onion", "yellow onion"), Food(("fridge", "garden"))),
    **dict.fromkeys(("red potato", "yellow potato", "purple potato"), Food(("counter", "garden"), True, True)),
    **dict.fromkeys(("red apple", "yellow apple", "green apple", "banana", "tomato"), Food(("counter", "garden"))),
    **dict.fromkeys(("red hot pepper", "green hot pepper"), Food(("counter", "garden"))),
    **dict.fromkeys(("red bell pepper", "green bell pepper", "orange bell pepper"), Food(("fridge", "garden"))),
    **dict.fromkeys(("black pepper", "flour", "salt", "sugar"), Food(("shelf", "showcase"), **_RAW)),
    "block of cheese": Food(EITHER),
    **dict.fromkeys(("cilantro", "parsley"), Food(("fridge", "garden"), False)),
}


def cooking_game(rooms: int, ingredients: int, number: int) -> dict[str, Any]:
    """The table of a cooking game.

    Raises:
        ValueError: there is no such game.
    """
    if rooms not in SIZES or not 1 <= ingredients <= MOST_INGREDIENTS or not 0 <= number <= MOST_NUMBER:
        raise ValueError(
            f"cooking games have {', '.join(map(str, SIZES))} rooms, 1 to {MOST_INGREDIENTS} ingredients and numbers "
            f"up to {MOST_NUMBER}, not {rooms}-{ingredients}-{number}"
        )
    random = Random(f"{rooms} {ingredients} {number}")
    names = [room for group in GROUPS[: SIZES.index(rooms) + 1] for room in group]
    exits = _map(random, names)
    things = _furniture(names, exits)
    found = {name: [p for p in food.places if p in things or p in names] for name, food in FOODS.items()}
    known = [name for name, places in found.items() if places]
    foods = random.sample(known, min(len(known), 2 * ingredients + 2))
    recipe = [(name, *_preparation(random, FOODS[name], names)) for name in sorted(foods[:ingredients])]
    for name in foods:
        states = [word for word, has in (("raw", FOODS[name].cookable), ("uncut", FOODS[name].cuttable)) if has]
        things[name] = {"kind": "food", "in": found[name], "is": states}
    things["knife"] = {"kind": ["object", "sharp"], "in": ["counter", "table"]}
    things["meal"] = {"kind": ["food", "meal"], "in": "nowhere"}
    steps = ", ".join(" ".join([*filter(None, how[::-1]), name]) for name, *how in recipe)
    return {
        "objective": f"Prepare a meal in the kitchen and eat it. The recipe: {steps}.",
        "start": names,
        "rooms": exits,
        "things": things,
        "rules": _rules([name for name, *_ in recipe]),
        "quests": _quests(recipe),
        "horizon": 100,
    }


def _map(random: Random, names: list[str]) -> dict[str, dict[str, Any]]:
    """The rooms on a grid, each beside one that it belongs to, with ways to all neighbors that lie side by side."""
    while True:
        places = {"kitchen": (0, 0)}
        for name in names[1:]:
            anchors = [room for room in places if name in NEIGHBORS.get(room, ()) or room in NEIGHBORS.get(name, ())]
            free = [
                (places[room][0] + x, places[room][1] + y)
                for room in anchors
                for x, y in STEPS
                if (places[room][0] + x, places[room][1] + y) not in places.values()
            ]
            if not free:
                break
            places[name] = random.choice(free)
        if len(places) == len(names):
            return _exits(places)


def _exits(places: dict[str, tuple[int, int]]) -> dict[str, dict[str, Any]]:
    exits: dict[str, dict[str, Any]] = {name: {} for name in places}
    for name, others in NEIGHBORS.items():
        for other in others:
            if name not in places or other not in places:
                continue
            step = (places[other][0] - places[name][0], places[other][1] - places[name][1])
            if step in STEPS:
                door = DOORS.get((name, other)) or DOORS.get((other, name))
                exits[name][DIRECTIONS[STEPS[step]]] = [other, *([door] if door else [])]
    return exits


def _furniture(names: list[str], exits: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    things: dict[str, dict[str, Any]] = {
        way[1]: {"kind": "door", "is": "closed"} for ways in exits.values() for way in ways.values() if len(way) > 1
    }
    for name, (room, kind) in FURNITURE.items():
        if room in names:
            plain = kind in ("supporter", "container")
            things[name] = {"kind": kind if plain else ["fixture", kind], "in": room}
            if kind == "container":
                things[name]["is"] = "closed"
    return things


def _preparation(random: Random, food: Food, names: list[str]) -> tuple[str, str]:
    """How a food is cooked and cut for the recipe; "" for not at all."""
    ways = [cooked for tool, cooked in COOKED.items() if FURNITURE[tool][0] in names]
    cooking = [*ways, *([] if food.needs_cooking else [""])] if food.cookable else [""]
    cutting = ["", *CUT.values()] if food.cuttable else [""]
    return random.choice(cooking), random.choice(cutting)


def _rules(recipe: list[str]) -> dict[str, Any]:
    held, knife = {"kind": "food", "where": "held"}, {"kind": "sharp", "where": "held"}
    rules: dict[str, Any] = {
        f"{verb} {{0}} with {{1}}": {
            "first": {**held, "is": "uncut", "becomes": cut, "loses": "uncut"},
            "second": knife,
        }
        for verb, cut in CUT.items()
    }
    for tool, cooked in COOKED.items():
        verb = {"fried": "fry", "roasted": "roast", "grilled": "grill"}[cooked]
        raw = {**held, "is": "raw", "becomes": [cooked, "cooked"], "loses": "raw"}
        rules[f"{verb} {{0}} on {{1}}"] = {"first": raw, "second": {"kind": tool}}
        done = {**held, "is": "cooked", "not": "burned", "becomes": "burned"}
        rules[f"{verb} {{0}} again on {{1}}"] = {"first": done, "second": {"kind": tool}}
    rules["prepare {0}"] = {
        "first": {"kind": "meal", "where": "nowhere"},
        "goes": "inventory",
        "requires": ["player in kitchen", *(f"{name} in inventory" for name in recipe)],
    }
    return rules


def _quests(recipe: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """A point for each ingredient that is held, cooked and cut, for the meal and for eating it; what spoils the recipe
    loses."""
    quests: list[dict[str, Any]] = [{"win": f"{name} in inventory"} for name, *_ in recipe]
    for name, *how in recipe:
        quests += [{"win": f"{name} is {word}"} for word in how if word]
    quests += [{"win": "meal in inventory"}, {"win": "meal is eaten"}]
    for name, cooking, cutting in recipe:
        wrong = ["eaten", "burned", *({*COOKED.values()} - {cooking}), *({*CUT.values()} - {cutting})]
        quests += [{"fail": f"{name} is {word}"} for word in sorted(wrong)]
    return quests
