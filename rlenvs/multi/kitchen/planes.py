"""What cooks see: layers over the kitchen, or over the cells near a cook.

Two sets of layers, both in the order of their originals: the 26 of Overcooked, which know onions alone, and those of
OvercookedV2, with layers for each ingredient. What never changes is a backdrop, copied cell by cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core import kernel
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.changes import forget_changes
from rlenvs.multi.kitchen.layouts import (
    BUTTON,
    COOKED,
    COUNTER,
    INDICATOR,
    PILE,
    PLATE,
    PLATES,
    POT,
    WINDOW,
    ground_of,
    ingredients_of,
    recipes_of,
)
from rlenvs.multi.kitchen.rules import COOK_TIME, ONIONS, ingredients_in

URGENT = 40  # steps: the layer of urgency is on when fewer are left
MOST_IN_LAYER = 20  # of a pot's time
# of the 26
SELF, OTHER, SELF_SIDE, OTHER_SIDE = 0, 1, 2, 6
POTS, COUNTERS, ONION_PILES, PLATE_PILES, WINDOWS = 10, 11, 12, 14, 15
POT_ONIONS, SOUP_ONIONS, TIME, DONE, PLATE_HERE, ONION_HERE, URGENCY = 16, 18, 20, 21, 22, 23, 25
CLASSIC_LAYERS = 26


def layers_of(values: Any) -> int:
    """How many layers there are.

    Raises:
        ParameterError: the layers of onions for a kitchen with other ingredients.
    """
    kinds = ingredients_of(values.layout)
    if values.layers == "onions":
        used = max(max(recipe) for recipe in recipes_of(values)) + 1
        if max(kinds, used) > 1:
            raise ParameterError("layers='onions' show ingredient '0' alone; choose layers='recipes' for this layout")
        return CLASSIC_LAYERS
    return 17 + kinds + 4 * (kinds + 2) + values.show_delivery


def backdrop_of(values: Any) -> np.ndarray:
    """The layers of a kitchen in which nothing is, (cells, layers)."""
    ground, kinds = ground_of(values.layout).ravel(), ingredients_of(values.layout)
    if values.layers == "onions":
        standing = {POTS: POT, COUNTERS: COUNTER, ONION_PILES: PILE, PLATE_PILES: PLATES, WINDOWS: WINDOW}
    else:
        first = 2 * (7 + kinds)  # after the layers of cooks
        order = (COUNTER, WINDOW, POT, INDICATOR, BUTTON, PLATES, *(PILE + i for i in range(kinds)))
        standing = {first + i: code for i, code in enumerate(order)}
    made = np.zeros((ground.size, layers_of(values)), np.float32)
    for layer, code in standing.items():
        made[:, layer] = ground == code
    return made


# --- the 26 layers of Overcooked --------------------------------------------------------------------------------------


@kernel
def show_onions(p, s, cell, out):
    """What lies on a counter or is in a pot."""
    item = s.items[cell]
    if p.ground[cell] == POT:
        time, count = s.timer[cell], ingredients_in(item)
        soup = item & COOKED != 0 or 0 < time < COOK_TIME
        out[POT_ONIONS] = 0.0 if soup else count
        out[SOUP_ONIONS] = count if soup else 0.0
        out[TIME] = time if soup else 0.0
        out[DONE] = item & COOKED != 0
    elif p.ground[cell] == COUNTER:
        out[COUNTERS] = item == 0
        show_onion_item(item, out)


@kernel
def show_onion_item(item, out):
    soup = item & COOKED != 0
    out[SOUP_ONIONS] = ingredients_in(item) if soup else 0.0
    out[DONE] = soup
    out[PLATE_HERE] = item == PLATE
    out[ONION_HERE] = item > PLATE and not soup


@kernel
def show_onion_cook(own, facing, held, out):
    """A cook on its cell, oneself or another."""
    out[SELF if own else OTHER] = 1.0
    out[(SELF_SIDE if own else OTHER_SIDE) + facing] = 1.0
    show_onion_item(held, out)


@kernel
def hide_onion_cook(own, facing, out):
    out[SELF if own else OTHER] = 0.0
    out[(SELF_SIDE if own else OTHER_SIDE) + facing] = 0.0
    show_onion_item(0, out)


# --- the layers of OvercookedV2 ---------------------------------------------------------------------------------------


@kernel
def show_item(item, kinds, first, out):
    """Plate, cooked, and how many of each ingredient."""
    out[first] = item & PLATE
    out[first + 1] = item >> 1 & 1
    for i in range(kinds):
        out[first + 2 + i] = item >> 2 * (i + 1) & 3


@kernel
def show_cell(p, s, cell, out):
    """What lies on a cell or is in a pot, the recipe on an indicator that shows it, the time of a pot."""
    kinds, ground = p.ingredients, p.ground[cell]
    first = 2 * (7 + kinds) + 6 + kinds
    show_item(s.items[cell], kinds, first, out)
    if ground == INDICATOR:
        show_item(s.recipe, kinds, first + 2 + kinds, out)
    elif ground == BUTTON:
        show_item(s.recipe if s.timer[cell] > 0 else 0, kinds, first + 2 + kinds, out)
    elif ground == POT:
        out[first + 2 * (2 + kinds)] = s.timer[cell]
    elif ground == WINDOW and p.show_delivery:
        out[first + 2 * (2 + kinds) + 1] = s.fresh


@kernel
def show_cook(p, own, facing, held, out):
    """A cook on its cell, oneself or another."""
    first = 0 if own else 7 + p.ingredients
    out[first] = 1.0
    out[first + 1 + facing] = 1.0
    show_item(held, p.ingredients, first + 5, out)


@kernel
def hide_cook(p, own, facing, out):
    first = 0 if own else 7 + p.ingredients
    out[first] = 0.0
    out[first + 1 + facing] = 0.0
    show_item(0, p.ingredients, first + 5, out)


# --- both -------------------------------------------------------------------------------------------------------------


@kernel
def show_things(p, s, cell, out):
    """All that may change on a cell where no cook can be."""
    if p.layers == ONIONS:
        show_onions(p, s, cell, out)
    else:
        show_cell(p, s, cell, out)


@kernel
def redraw(p, s, k, planes, top, left):
    """The kitchen without cooks; zero outside."""
    rows, columns, layers = planes.shape
    for i in range(rows):
        for j in range(columns):
            row, column, out = top + i, left + j, planes[i, j]
            inside = 0 <= row < p.rows and 0 <= column < p.columns
            cell = row * p.columns + column if inside else 0
            stood = p.backdrop[cell]
            for layer in range(layers):
                out[layer] = stood[layer] if inside else 0.0
            if inside and (s.items[cell] != 0 or p.live[cell]):
                show_things(p, s, cell, out)
            if inside and s.seen_urgent[k]:
                out[URGENCY] = 1.0


@kernel
def show(p, s, k, planes):
    """All layers that cook k sees, (rows, columns, layers), or those that changed; zero outside."""
    rows, columns, cooks = planes.shape[0], planes.shape[1], s.cell.shape[0]
    top, left = 0, 0
    if p.radius > 0:
        top, left = p.place[s.cell[k], 0] - p.radius, p.place[s.cell[k], 1] - p.radius
    urgent = p.layers == ONIONS and p.horizon - s.elapsed < URGENT
    still = p.radius == 0 or s.seen_cell[k] == s.cell[k]
    changed = s.shown and still and urgent == s.seen_urgent[k] and not s.redraw
    if changed:
        for n in range(s.changes):
            i, j = p.place[s.changed[n], 0] - top, p.place[s.changed[n], 1] - left
            if 0 <= i < rows and 0 <= j < columns:
                show_things(p, s, s.changed[n], planes[i, j])
        hide_cooks(p, s, k, planes, top, left)  # all, before others come
    else:
        s.seen_urgent[k] = urgent
        redraw(p, s, k, planes, top, left)
    put_cooks(p, s, k, planes, top, left)
    if k == cooks - 1:
        forget_changes(s)
        s.redraw = False
        for j in range(cooks):
            s.seen_cell[j], s.seen_facing[j] = s.cell[j], s.facing[j]


@kernel
def hide_cooks(p, s, k, planes, top, left):
    """Take cooks from where cook k saw them, in a window whose upper left cell is (top, left)."""
    for j in range(s.cell.shape[0]):
        row, column = p.place[s.seen_cell[j], 0] - top, p.place[s.seen_cell[j], 1] - left
        if not (0 <= row < planes.shape[0] and 0 <= column < planes.shape[1]):
            continue
        if p.layers == ONIONS:
            hide_onion_cook(j == k, s.seen_facing[j], planes[row, column])
        else:
            hide_cook(p, j == k, s.seen_facing[j], planes[row, column])


@kernel
def put_cooks(p, s, k, planes, top, left):
    """Show cooks where they are."""
    for j in range(s.cell.shape[0]):
        row, column = p.place[s.cell[j], 0] - top, p.place[s.cell[j], 1] - left
        if not (0 <= row < planes.shape[0] and 0 <= column < planes.shape[1]):
            continue
        if p.layers == ONIONS:
            show_onion_cook(j == k, s.facing[j], s.held[j], planes[row, column])
        else:
            show_cook(p, j == k, s.facing[j], s.held[j], planes[row, column])
