"""Overcooked: two cooks or more share a kitchen and serve as many onion soups as they can.

## Description
Three onions into a pot, 20 steps of cooking, a soup onto a plate, out of the window: cooks share the work and get in
each other's way. The rules, the five layouts and the 26 layers are those of JaxMARL's Overcooked 0.2.0 (Rutherford et
al., NeurIPS 2024), after Overcooked-AI (Carroll et al., NeurIPS 2019), whose pots wait for a hand
(`start_cooking=True`), and whose layer of counters shows those with something on them, too. Recorded games of both
replay move for move.
`OvercookedV2-v0` is the same kind with the rules of OvercookedV2 (Gessler et al., ICLR 2025): recipes, indicators that
show them, partial sight. Any kitchen is a text:

    rlenvs.parallel_env("Overcooked-v0", layout="WWPPWW/OA A B/W  A W/WWXWWW")

W is a counter, A where a cook starts (or a, b, c ... in the order of cooks), X the window, B plates, P a pot, O or a
digit an ingredient, R a recipe indicator, L one with a button, a space or "." floor; "/" or a new line ends a row. A
layout without a pot, a window, plates or a needed ingredient, or in which no soup can reach a window, is refused;
things may pass over counters between rooms where cooks start. Scripted cooks, for teams with strangers: planner (shares
the work, goes around others), left_hand (the same, but takes the leftmost pot and pile), greedy (does everything
itself), stubborn (greedy, and never gives way), onion_only (fills pots). `rlenvs tournament Overcooked-v0` prints what
each pair serves together. Different from the originals: `start="anything"` draws as OvercookedV2 does, and leaves cooks
in their rooms, while version 1 may put both into one half of forced_coord, where no soup can be served; actions have
version 1's order in both. In JaxMARL's repository of July 2026, before the release of 0.2.0, version 1 never
gave this term, because it also took the color of walls for plates.

## Action Space
Up, down, right, left turn the cook, and move it unless a counter or a cook is there; stay; interact with the cell
ahead: take or put down, put into a pot, take a soup with a plate, serve, press a button. Cooks who want the same cell,
or to swap, all stay. Interactions are carried out in the order of the cooks.

## Observation Space
Layers over the kitchen, (rows, columns, layers). With `layers="onions"`, 26: own cell, other cooks; own direction (up,
down, right, left), others' direction; pots, empty counters, onion piles, nothing, plate piles, windows; onions in pots
that do not cook, nothing, onions in soups, nothing, steps that a pot still cooks, soups that are done; plates, onions,
nothing; all 1 when fewer than 40 steps are left. With `layers="recipes"`, for n ingredients: own cell, own direction,
what the cook holds (plate, cooked, number of each ingredient); the same of others; counters, windows, pots, indicators,
buttons, plate piles, piles of each ingredient; what lies there (plate, cooked, each ingredient); the recipe on
indicators that show it (the same); steps that a pot still cooks; with `show_delivery` windows in the step after a
correct soup. `radius=2` shows the 5 x 5 cells around the cook, zero outside the kitchen.

## Rewards
`served`, with weight 20, is the number of correct soups that any cook served in this step, the same for all. `wrong`
counts other soups, `button` (weight -5) indicators that were pressed. Shaped terms are of the cook that did it, with
weight 0: `ingredient` into a pot that needs it, `soup` taken out, `start` of cooking the right soup by hand, `plate`
taken when fewer are in hands than pots are in use and none lies on a counter (hands after the interactions of the cooks
before it; with `layers="recipes"` before those of all, as in version 2). `reward="shaped"` gives them the weights
3, 5, 5 and 3.

## Costs
None.

## Starting State
With `start="turned"` cooks stand on their starts in random directions, as in version 1; with "fixed" they face up; with
"placed" they are on random cells of the rooms of their starts; with "anything" things are also in hands (plate 0.1,
ingredient 0.25, soup 0.15), in pots (not cooking 0.35, cooking 0.15, done 0.1) and on counters (0.1, 0.3, 0.1). The
recipe is drawn from `recipes`.

## Episode End
Truncation: 400 steps. Success: at least one correct soup was served.

## Parameters
`cooks=3` needs three starts in the layout, or `start="placed"`. With `recipes=None` the recipe is one of those that are
published with the layout: [0, 0, 2] or [1, 1, 3] of `fun_coordination`, [0, 1, 1] or [0, 2, 2] of
`more_fun_coordination`, [0, 0, 0] or [1, 1, 1] of those that begin with "fun_symmetries", "grounded", "test_time" and
"demo"; of other layouts any three of the ingredients if an indicator can show it, and three onions otherwise. Other
recipes than in training are, for example, `level="cramped_room_v2", recipes=[[0, 0, 1]]`.

## Reference Scores
Mean return of all cooks together over seeds 0 to 99; for two cooks, divided by 40 it is the number of soups. The expert
is a planner for each cook. Planners serve 12 soups in cramped_room, 16 in asymm_advantages, 11 in coord_ring, 10 in
forced_coord, 9 in counter_circuit, and some in all published layouts; where rooms are apart, what `start="anything"`
leaves on counters and in pots can stop them.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import (
    b1,
    block,
    choice,
    data_option,
    discrete,
    f4,
    flag,
    i1,
    i2,
    i4,
    i8,
    integer,
    json_option,
    term,
    u1,
    world,
)
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.multi.kitchen.cooks import GREEDY, KINDS, LEFT_HAND, ONION_ONLY, PLANNER, STUBBORN, chosen
from rlenvs.multi.kitchen.layouts import (
    ADAPTED,
    BUTTON,
    CLASSIC,
    INDICATOR,
    MOST_COOKS,
    POT,
    WINDOW,
    check_cooks,
    check_kitchen,
    ground_of,
    ingredients_of,
    offsets_of,
    packed,
    parse_layout,
    parse_recipes,
    recipes_of,
    rooms_of,
    starts_of,
    walks_of,
)
from rlenvs.multi.kitchen.planes import MOST_IN_LAYER, backdrop_of, layers_of, show
from rlenvs.multi.kitchen.render import draw_kitchen, text_of
from rlenvs.multi.kitchen.rules import (
    ACTIONS,
    ANYTHING,
    COOK_TIME,
    INTERACT,
    LAYERS,
    START,
    draw_recipe,
    interact,
    move_cooks,
    place_cooks,
    scatter,
    tick,
)

KEYS = (("up", "w"), ("down", "s"), ("right", "d"), ("left", "a"), (), ("space",))
STYLES = {
    "planner": PLANNER,
    "greedy": GREEDY,
    "stubborn": STUBBORN,
    "onion_only": ONION_ONLY,
    "left_hand": LEFT_HAND,
}
SHAPED = {"ingredient": 3.0, "soup": 5.0, "start": 5.0, "plate": 3.0}


def sizes(values: Any) -> dict[str, int]:
    check_kitchen(values)
    ground = ground_of(values.layout)
    whole, window = ground.shape, (2 * values.radius + 1,) * 2
    seen = window if values.radius else whole
    return {
        "agents": check_cooks(values),
        "cells": ground.size,
        "starts": len(starts_of(values.layout)),
        "clocks": int(np.isin(ground, (POT, BUTTON)).sum()),
        "recipes": len(recipes_of(values)),
        "layers": layers_of(values),
        "seen_rows": seen[0],
        "seen_columns": seen[1],
    }


SPEC = world(
    "Overcooked-v0",
    doc=__doc__,
    source="JaxMARL 0.2.0 Overcooked and OvercookedV2 (Rutherford et al., NeurIPS 2024; Gessler et al., ICLR 2025); "
    "Overcooked-AI (Carroll et al., NeurIPS 2019)",
    agents=True,
    options={
        "layout": json_option("cramped_room", parse_layout, "a published layout, or a text with a line per row"),
        "recipes": json_option(None, parse_recipes, "triples of ingredients to draw from; None: see the text"),
        "cooks": data_option(integer(0, 0, MOST_COOKS, "number of cooks; 0: one for each start of the layout")),
        "start": START,
        "layers": LAYERS,
        "radius": integer(0, 0, 8, "cells that a cook sees in each direction; 0: the whole kitchen"),
        "reward": choice("sparse", "shaped", doc="soups alone, or also the steps on the way", sets={"shaped": SHAPED}),
        "start_cooking": flag(False, "whether pots wait for an empty hand to start them"),
        "new_recipe": flag(False, "whether a correct soup draws another recipe"),
        "show_delivery": flag(False, 'whether a layer shows that a correct soup was served, with layers="recipes"'),
    },
    sizes=sizes,
    data={
        "ground": u1("cells"),
        "place": i2("cells", 2),  # row and column
        "offset": i2(ACTIONS),  # from a cell to the one at which each action aims
        "walk": i2("cells", ACTIONS),  # where each action leads if nobody else is there
        "room": i1("cells"),
        "touch": u1("cells"),
        "starts": i2("starts"),
        "clocks": i2("clocks"),
        "live": u1("cells"),  # what may show something though nothing lies there
        "recipes": i4("recipes"),
        "backdrop": f4("cells", "layers"),
        "rows": i8,
        "columns": i8,
        "ingredients": i8,
    },
    state={
        "cell": i2("agents").index_of("cells"),
        "facing": i1("agents").within(0, 3),
        "held": i4("agents"),
        "items": i4("cells"),  # on counters and in pots
        "timer": i1("cells").within(0, COOK_TIME),  # of pots and buttons
        "recipe": i4,
        "fresh": b1,  # whether a correct soup was served in the last step
        "served": i4,
        "changed": i2("cells").index_of("cells"),  # what changed since it was observed last: cells,
        "changes": i2.up_to("cells"),  # how many,
        "noted": b1("cells"),  # and which,
        "redraw": b1,  # or everything
        "seen_urgent": b1("agents"),  # whether the layer of urgency was on then,
        "seen_cell": i2("agents").index_of("cells"),  # and how each cook was
        "seen_facing": i1("agents").within(0, 3),
        "target": i2("agents"),  # scratch, as what follows
        "had": i4("agents"),  # in hands before the interactions of a step
        "need": i2(KINDS),
        "queue": i2("cells"),
        "steps": i2("cells"),
        "first": i1("cells"),
    },
    scratch=(
        *("changed", "changes", "noted", "redraw"),
        *("seen_urgent", "seen_cell", "seen_facing"),
        *("target", "had", "need", "queue", "steps", "first"),
    ),
    incremental=True,
    observation={
        "planes": block(
            *("seen_rows", "seen_columns", "layers"),
            low=0.0,
            high=MOST_IN_LAYER,
            doc="the layers of each cell, as above",
            raw=True,
            constant=True,
            whole=True,
        )
    },
    action=discrete("up", "down", "right", "left", "stay", "interact", idle=4),
    terms={
        "served": term(0.0, MOST_COOKS, 20.0, "correct soups served, by any cook"),
        "wrong": term(0.0, MOST_COOKS, 0.0, "other soups served, by any cook"),
        "button": term(0.0, MOST_COOKS, -5.0, "recipe indicators activated, by any cook"),
        "ingredient": term(0.0, 1.0, 0.0, "an ingredient put into a pot that needs it"),
        "soup": term(0.0, 1.0, 0.0, "a correct soup taken out of a pot"),
        "start": term(0.0, 1.0, 0.0, "a pot with the right ingredients started by hand"),
        "plate": term(0.0, 1.0, 0.0, "a plate taken that is of use"),
    },
    horizon=400,
    starts=16,
    fps=6,
    expert_sees="state",
    players=tuple(STYLES),
    levels={name: {"layout": name} for name in CLASSIC if name != "cramped_room"},
)

SPEC.member(
    "OvercookedV2-v0",
    "OvercookedV2: cooks with partial sight and a recipe that only some of them can see.",
    layout="grounded_coord_simple",
    layers="recipes",
    radius=2,
    start="placed",
    starts=0,
    new_recipe=True,
    terms={**SPEC.terms, "wrong": term(0.0, MOST_COOKS, -20.0, "other soups served, by any cook")},
    levels={name: {"layout": name} for name in (*CLASSIC, *ADAPTED) if name != "grounded_coord_simple"},
)


@SPEC.state_fault
def state_fault(p, s):
    if (p.room[s.cell] < 0).any():
        return "a cook is where no cook can be"
    if len(set(s.cell.tolist())) < len(s.cell):
        return "two cooks are in one cell"
    if s.recipe not in p.recipes:
        return "the recipe is none of this kitchen"
    return ""


@SPEC.make_data
def data(values):
    ground, rooms = ground_of(values.layout), rooms_of(values)
    return {
        "ground": ground.ravel(),
        "place": np.argwhere(np.ones(ground.shape)),
        "offset": offsets_of(values.layout),
        "walk": walks_of(values.layout),
        "room": rooms.label.ravel(),
        "touch": rooms.touch.ravel(),
        "starts": starts_of(values.layout),
        "clocks": np.flatnonzero(np.isin(ground, (POT, BUTTON))),
        "live": np.isin(ground, (WINDOW, INDICATOR, BUTTON)).ravel(),
        "recipes": [packed(recipe) for recipe in recipes_of(values)],
        "backdrop": backdrop_of(values),
        "rows": ground.shape[0],
        "columns": ground.shape[1],
        "ingredients": ingredients_of(values.layout),
    }


@SPEC.reset
def reset(p, s, rng):
    s.recipe = draw_recipe(p, rng)
    place_cooks(p, s, rng)
    if p.start == ANYTHING:
        scatter(p, s, rng)


@SPEC.step
def step(p, s, a, rng, r):
    cooks = s.cell.shape[0]
    s.redraw = s.redraw or s.fresh
    s.fresh = False
    move_cooks(p, s, a)
    for k in range(cooks):
        s.had[k] = s.held[k]
    for k in range(cooks):
        if a[k] == INTERACT:
            interact(p, s, r, k)
    tick(p, s)
    s.redraw = s.redraw or s.fresh
    if s.fresh and p.new_recipe:
        s.recipe = draw_recipe(p, rng)
    for k in range(cooks):
        r.success[k] = s.served > 0


@SPEC.observe
def observe(p, s, k, o):
    show(p, s, k, o.planes)


@SPEC.expert
def expert(p, s, a):
    for k in range(s.cell.shape[0]):
        a[k] = chosen(p, s, k, PLANNER)


def playing(style):
    """A scripted player of a style."""

    def play(p, s, k, a, rng):
        a[k] = chosen(p, s, k, style)

    return play


for name, style in STYLES.items():
    SPEC.player(name)(playing(style))


@SPEC.draw
def draw(canvas, p, s):
    draw_kitchen(canvas, p, s)


@SPEC.text
def text(p, s):
    return text_of(p, s)


@SPEC.keys
def keys(pressed, values):
    move = pressed_move(pressed, KEYS)
    return 4 if move is None else move
