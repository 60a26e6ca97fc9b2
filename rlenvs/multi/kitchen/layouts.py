"""Layouts of kitchens: the published ones, layouts from a text, and what is refused.

A layout is a text with a line per row: W counter, A start of a cook, X serving window, B plates, P pot, O or 0 ... 9
ingredients, R recipe indicator, L indicator with a button, and " " or "." floor. Cooks are numbered in reading order;
"a", "b", "c" ... in place of A number them.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.letters import rows_of

LARGEST, MOST_COOKS, MOST_RECIPES, IN_POT = 16, 8, 220, 3
FLOOR, COUNTER, WINDOW, POT, INDICATOR, BUTTON, PLATES, PILE = range(8)  # of ingredient i: PILE + i
LETTERS = {"W": COUNTER, "X": WINDOW, "P": POT, "R": INDICATOR, "L": BUTTON, "B": PLATES, "O": PILE}
CODES = LETTERS | {str(i): PILE + i for i in range(10)} | dict.fromkeys(" .Aabcdefgh", FLOOR)
NAMES = {WINDOW: "serving window 'X'", POT: "pot 'P'", PLATES: "pile of plates 'B'"}
PLATE, COOKED = 1, 2  # bits of an item; ingredient i counts by 4 << 2 i
SIDES = ((-1, 0), (1, 0), (0, 1), (0, -1))  # up, down, right, left

# Overcooked-AI's five (Carroll et al., NeurIPS 2019), with the cooks numbered as in JaxMARL's Overcooked
CLASSIC = {
    "cramped_room": "WWPWW/OA AO/W   W/WBWXW",
    "asymm_advantages": "WWWWWWWWW/O WXWOW X/W   P   W/W A PA  W/WWWBWBWWW",
    "coord_ring": "WWWPW/W A P/BAW W/O   W/WOXWW",
    "forced_coord": "WWWPW/O WbP/OaW W/B W W/WWWXW",
    "counter_circuit": "WWWPPWWW/W A    W/B WWWW X/W     AW/WWWOOWWW",
}
# OvercookedV2's own (Gessler et al., ICLR 2025)
ADAPTED = {
    "cramped_room_v2": "WWPWW/0A A1/W   R/WBWXW",
    "asymm_advantages_recipes_center": "WWWWWWWWW/0 WXR01 X/1   P   W/W A PA  W/WWWBWBWWW",
    "asymm_advantages_recipes_right": "WWWWWWWWW/0 WXW01 X/1   P   R/W A PA  W/WWWBWBWWW",
    "asymm_advantages_recipes_left": "WWWWWWWWW/0 WXW01 X/1   P   R/R A PA  W/WWWBWBWWW",
    "two_rooms": "WWWWWB10W/W   W   R/P A W A W/W   W   X/WWWWWWWWW",
    "two_rooms_both": "W01BWB10W/W   W   R/P A W A W/W   W   X/WWWWWWWWW",
    "long_room": "WWWWWWWWWWWWWWW/B            AP/0             X/WWWWWWWWWWWWWWW",
    "fun_coordination": "WWWWWWWWW/0   X   2/RA  P  AW/1   B   3/WWWWWWWWW",
    "more_fun_coordination": "WWWWWWWWW/W   X   W/RA  P  A1/0   P   2/W   B   W/WWWWWWWWW",
    "fun_symmetries": "WWWWBWW/2  W  0/R APA X/2  W  1/WWWWBWW",
    "fun_symmetries_plates": "WWWWWWW/B  W  0/R APA X/B  W  1/WWWWWWW",
    "fun_symmetries1": "WWWWWBWW/2  WW  0/R AWPA X/2  WW  1/WWWWWBWW",
    "grounded_coord_simple": "WW2WWWWW/W  WB  0/R ALPA X/W  WB  1/WW2WWWWW",
    "grounded_coord_ring": "WWW2R2WWW/W       W/W WWLWW W/2 0   B 2/RAXAP X R/2 1   B 2/W WWLWW W/W       W/WWW2R2WWW",
    "test_time_simple": "WW2WWWWW/W  WB  0/R AWPA X/W  WB  1/WW2WWWWW",
    "test_time_wide": "WWXBWW/0 A  0/1    1/WPWPWW/3 A  3/W    W/WWRWWW",
    "demo_cook_simple": "WWWWWR2W0WW/0      W  B/W     APA X/1      W  B/WWWWWR2W1WW",
    "demo_cook_wide": "WWWWBXBWWWW/WWW0 A 1WWW/WWWWWPWWWWW/W    A    W/0  W3R3W  0/W1WWWWWWW1W",
}
PUBLISHED = CLASSIC | ADAPTED
TWO_SOUPS = [[0, 0, 0], [1, 1, 1]]
RECIPES: dict[str, list[list[int]]] = {  # of published layouts that do not have all recipes of their ingredients
    "fun_coordination": [[0, 0, 2], [1, 1, 3]],
    "more_fun_coordination": [[0, 1, 1], [0, 2, 2]],
    **{name: TWO_SOUPS for name in ADAPTED if name.startswith(("fun_symm", "grounded", "test_time", "demo"))},
}


# --- reading ----------------------------------------------------------------------------------------------------------


def parse_layout(value: Any) -> tuple[str, ...]:
    """The rows of a layout: of the published one of this name, or of a text, or a list of rows.

    Raises:
        TypeError, ValueError: something else, rows of different lengths, unknown letters, floor at the edge, no cook,
            both ways of numbering.
    """
    if isinstance(value, str):
        text = PUBLISHED.get(value, value)
        if "\n" not in text and "/" not in text:
            raise ValueError(f"no published layout of this name; there are {', '.join(PUBLISHED)}")
        value = text.replace("/", "\n")
    rows = tuple(row for row in rows_of(value) if row)
    if not rows or not 3 <= len(rows) <= LARGEST or not 3 <= len(rows[0]) <= LARGEST or len(set(map(len, rows))) > 1:
        raise ValueError(f"needs 3 ... {LARGEST} rows of 3 ... {LARGEST} cells, all of one length; fill up with 'W'")
    strange = sorted(set("".join(rows)) - set(CODES))
    if strange:
        raise ValueError(f"{strange[0]!r} is no cell; cells are {''.join(sorted(set(CODES) - set('bcdefgh')))!r}")
    for row, column, code in cells_of(rows):
        if code == FLOOR and (row in (0, len(rows) - 1) or column in (0, len(rows[0]) - 1)):
            raise ValueError(f"floor at the edge, row {row}, column {column}; surround the kitchen with 'W'")
    starts_of(rows)
    return rows


def cells_of(rows: Sequence[str]) -> Iterable[tuple[int, int, int]]:
    """Row, column and code of each cell."""
    return ((i, j, CODES[cell]) for i, row in enumerate(rows) for j, cell in enumerate(row))


def starts_of(rows: Sequence[str]) -> list[int]:
    """The cells where cooks start, in the order of their numbers.

    Raises:
        ValueError: there is none, or their letters contradict each other.
    """
    found = [(letter, cell) for cell, letter in enumerate("".join(rows)) if letter in "Aabcdefgh"]
    numbered = sorted(pair for pair in found if pair[0] != "A")
    if not found:
        raise ValueError("no cook; mark where cooks start with 'A'")
    if len(found) > MOST_COOKS:
        raise ValueError(f"{len(found)} cooks; at most {MOST_COOKS} are allowed")
    if numbered and [letter for letter, _ in numbered] != list("abcdefgh"[: len(found)]):
        raise ValueError("cooks are 'A' in reading order, or 'a', 'b', 'c' ... once each without a gap")
    return [cell for _, cell in numbered or found]


def homes_of(values: Any) -> list[int]:
    """The cell whose room each cook works in: that of its start; cooks beyond the starts begin with the first again."""
    starts = starts_of(values.layout)
    return [starts[k % len(starts)] for k in range(values.cooks or len(starts))]


def parse_recipes(value: Any) -> tuple[tuple[int, ...], ...] | None:
    """Recipes as sorted triples of ingredients; None for those of the layout. TypeError, ValueError for others."""
    if value is None:
        return None
    recipes = tuple(tuple(sorted(map(operator.index, recipe))) for recipe in value)
    if not recipes or len(recipes) > MOST_RECIPES or any(len(recipe) != IN_POT for recipe in recipes):
        raise ValueError(f"needs 1 ... {MOST_RECIPES} recipes of {IN_POT} ingredients, such as [[0, 0, 1], [1, 1, 1]]")
    if any(not 0 <= ingredient <= 9 for recipe in recipes for ingredient in recipe):
        raise ValueError("ingredients are 0 ... 9")
    return recipes


def ground_of(rows: Sequence[str]) -> np.ndarray:
    """What stands on each cell, (rows, columns)."""
    return np.array([[CODES[cell] for cell in row] for row in rows], np.uint8)


def offsets_of(rows: Sequence[str]) -> list[int]:
    """From a cell to the one at which each action aims: up, down, right, left; stay and interact at none."""
    return [*(down * len(rows[0]) + right for down, right in SIDES), 0, 0]


def walks_of(rows: Sequence[str]) -> np.ndarray:
    """Where each action leads from each cell if nobody else is there, (cells, 6)."""
    ground = ground_of(rows).ravel()
    stay = np.arange(ground.size)
    near = stay[:, None] + offsets_of(rows)
    near = np.clip(near, 0, ground.size - 1)  # beyond the edge, where no cook is
    return np.where(ground[near] == FLOOR, near, stay[:, None])


def ingredients_of(rows: Sequence[str]) -> int:
    """How many kinds of ingredients a kitchen knows: one more than the largest number of a pile."""
    return max(int(ground_of(rows).max()) - PILE + 1, 1)


PUBLISHED_RECIPES = {parse_layout(name): recipes for name, recipes in RECIPES.items()}


def recipes_of(values: Any) -> list[tuple[int, ...]]:
    """The recipes from which one is drawn: those given; or those published with the layout; or, where an indicator
    shows which, all of the ingredients; or three of ingredient 0."""
    known = values.recipes or PUBLISHED_RECIPES.get(values.layout)
    if known:
        return [tuple(recipe) for recipe in known]
    shown = np.isin(ground_of(values.layout), (INDICATOR, BUTTON)).any()
    kinds = ingredients_of(values.layout) if shown else 1
    return list(itertools.combinations_with_replacement(range(kinds), IN_POT))


def packed(recipe: Iterable[int]) -> int:
    """A recipe as the number of an item that holds its ingredients."""
    return sum(4 << 2 * ingredient for ingredient in recipe)


# --- what can be cooked -----------------------------------------------------------------------------------------------


class Rooms(NamedTuple):
    """How a kitchen hangs together.

    Attributes:
        label: the room of each floor cell, from 0; -1 of cells that no cook can reach. (rows, columns)
        touch: bit mask of the rooms next to each cell. (rows, columns)
    """

    label: np.ndarray
    touch: np.ndarray


def rooms_of(values: Any) -> Rooms:
    """The rooms in which cooks start: floor cells that are connected."""
    ground = ground_of(values.layout)
    label, touch = np.full(ground.shape, -1), np.zeros(ground.shape, np.uint8)
    for start in homes_of(values):
        first = divmod(start, ground.shape[1])
        if label[first] >= 0:
            continue
        room, found = int(label.max()) + 1, [first]
        label[first] = room
        for row, column in found:  # grows while it is read
            for down, right in SIDES:
                near = row + down, column + right
                touch[near] |= 1 << room
                if ground[near] == FLOOR and label[near] < 0:
                    label[near] = room
                    found.append(near)
    return Rooms(label, touch)


def _joined(groups: list[int], touch: int) -> list[int]:
    """Sets of rooms, those merged that a counter lies between."""
    there = [group for group in groups if group & touch]
    merged = 0
    for group in there:
        merged |= group
    return [*(group for group in groups if group not in there), *([merged] if merged else [])]


def check_kitchen(values: Any) -> None:
    """Refuse a kitchen in which no soup can be served.

    Raises:
        ParameterError: what is missing or out of reach, and what to do.
    """
    ground = ground_of(values.layout)
    for code, name in NAMES.items():
        if not (ground == code).any():
            raise ParameterError(f"layout: no {name}; put one next to the floor")
    recipes = recipes_of(values)
    for ingredient in sorted({ingredient for recipe in recipes for ingredient in recipe}):
        if not (ground == PILE + ingredient).any():
            raise ParameterError(f"layout: no pile of ingredient '{ingredient}', which a recipe has; add one")
    rooms = rooms_of(values)
    groups = [1 << room for room in range(int(rooms.label.max()) + 1)]
    for touch in rooms.touch[ground == COUNTER].tolist():
        groups = _joined(groups, touch)

    def reached(code: int) -> list[set[int]]:
        """The groups of rooms that reach something of a kind, for each of its cells."""
        return [
            {i for i, group in enumerate(groups) if group & touch} for touch in rooms.touch[ground == code].tolist()
        ]

    def anywhere(code: int) -> set[int]:
        return set().union(*reached(code))

    serving = anywhere(WINDOW) & anywhere(PLATES)
    left_out = len(starts_of(values.layout)) - len(homes_of(values))
    fewer = f", or use more cooks than cooks={values.cooks}" if left_out > 0 else ""
    if not anywhere(WINDOW):
        raise ParameterError(
            f"layout: no cook reaches a serving window 'X'; move it next to floor that a cook reaches{fewer}"
        )
    if not anywhere(POT):
        raise ParameterError(f"layout: no cook reaches a pot 'P'; move it next to floor that a cook reaches{fewer}")
    needed = {ingredient for recipe in recipes for ingredient in recipe}
    for pot in reached(POT):
        if pot & serving and all(pot & anywhere(PILE + ingredient) for ingredient in needed):
            return
    raise ParameterError(
        "layout: no soup can be served: from no pot the ingredients, plates and a serving window can be reached by "
        f"cooks who hand things over counters; move them next to the same floor, or to both sides of a counter{fewer}"
    )


def check_cooks(values: Any) -> int:
    """How many cooks there are.

    Raises:
        ParameterError: more than the layout has starts, or room.
    """
    starts = starts_of(values.layout)
    cooks = values.cooks or len(starts)
    if values.start in ("fixed", "turned") and cooks > len(starts):
        raise ParameterError(
            f"cooks={cooks}, and the layout has {len(starts)} cells 'A' where cooks start; mark more of them, or "
            f"choose start='placed', which puts cooks on any floor of their rooms"
        )
    label = rooms_of(values).label
    homes = [int(label.flat[home]) for home in homes_of(values)]
    for room in set(homes):
        if homes.count(room) > (label == room).sum():
            raise ParameterError(
                f"cooks={cooks}: {homes.count(room)} start in a room of {(label == room).sum()} cells; use fewer"
            )
    return cooks
