"""Rules of kitchens: moves, what an interaction does, pots and indicators over time, starts of episodes.

An item is a number: 1 for a plate, 2 for cooked, and 4 << 2 i for each ingredient i, so that a soup on a plate is the
sum of its parts. What a pot holds is such a number too.
"""

from rlenvs.core import below, choice, kernel, uniform
from rlenvs.kits.boards.changes import note_change
from rlenvs.multi.kitchen.layouts import (
    BUTTON,
    COOKED,
    COUNTER,
    IN_POT,
    PILE,
    PLATE,
    PLATES,
    POT,
    WINDOW,
)

COOK_TIME, SHOWN_TIME = 20, 10  # steps
ACTIONS = 6
UP, DOWN, RIGHT, LEFT, STAY, INTERACT = range(ACTIONS)
START = choice(
    "turned",
    "fixed",
    "placed",
    "anything",
    doc="how episodes start: cooks on their starts in random directions, or all facing up; on random cells of their "
    "rooms; there, with things in hands, in pots and on counters",
)
LAYERS = choice("onions", "recipes", doc="the 26 layers of Overcooked, or those of OvercookedV2")
ONIONS, RECIPE_LAYERS = LAYERS.codes("onions", "recipes")
TURNED, FIXED, PLACED, ANYTHING = START.codes("turned", "fixed", "placed", "anything")


@kernel
def ahead(p, cell, side):
    """The next cell on a side of a cell: 0 up, 1 down, 2 right, 3 left."""
    return cell + p.offset[side]


@kernel
def ingredients_in(item):
    """How many ingredients an item has."""
    left, count = item >> 2, 0
    while left > 0:
        count += left & 3
        left >>= 2
    return count


@kernel
def is_ingredient(item):
    return item > 3 and item & PLATE == 0


# --- moves ------------------------------------------------------------------------------------------------------------


@kernel
def move_cooks(p, s, a):
    """Turn and move. Who would share a cell with another stays, until nobody does, and so do two who would swap."""
    cooks, target = s.cell.shape[0], s.target
    for k in range(cooks):
        target[k] = p.walk[s.cell[k], a[k]]
        s.facing[k] = a[k] if a[k] < STAY else s.facing[k]
    free = True
    for k in range(cooks):
        for j in range(k):
            free &= target[k] != target[j]
            free &= (target[k] != s.cell[j]) | (target[j] != s.cell[k])
    if not free:
        hold_back(s)
    for k in range(cooks):
        s.cell[k] = target[k]


@kernel
def hold_back(s):
    """Make stay who has to."""
    cooks, target = s.cell.shape[0], s.target
    collided = True
    while collided:  # all who collide now go back at once
        collided, back = False, 0
        for k in range(cooks):
            for j in range(k):
                if target[k] == target[j]:
                    collided = True
                    back |= 1 << k | 1 << j
        stay(s, back)
    back = 0
    for k in range(cooks):
        for j in range(k):
            if target[k] == s.cell[j] and target[j] == s.cell[k]:
                back |= 1 << k | 1 << j
    stay(s, back)


@kernel
def stay(s, back):
    """Let the cooks of a bit mask stay."""
    for k in range(s.cell.shape[0]):
        if back >> k & 1 == 1:
            s.target[k] = s.cell[k]


# --- interactions -----------------------------------------------------------------------------------------------------


@kernel
def note_plate(p, s, r, k):
    """Reward a plate that is of use: there is none on a counter, and there are fewer in hands than pots in use."""
    held, lying, used = 0, 0, 0
    for j in range(s.held.shape[0]):
        held += (s.had[j] if p.layers == RECIPE_LAYERS else s.held[j]) == PLATE
    for cell in range(s.items.shape[0]):
        lying += s.items[cell] == PLATE
    for i in range(p.clocks.shape[0]):
        used += p.ground[p.clocks[i]] == POT and s.items[p.clocks[i]] != 0
    if lying == 0 and held < used:
        r.plate[k] = 1.0


@kernel
def use_pot(p, s, r, k, cell):
    """Put an ingredient in, take a soup out, or start to cook."""
    hand, inside = s.held[k], s.items[cell]
    if s.timer[cell] > 0:
        return
    if inside & COOKED:
        if hand == PLATE:
            s.held[k] = inside | PLATE
            s.items[cell] = 0
            if s.held[k] == s.recipe | PLATE | COOKED:
                r.soup[k] = 1.0
        return
    if is_ingredient(hand) and ingredients_in(inside) < IN_POT:
        kind = hand | hand << 1
        if inside & kind < s.recipe & kind:
            r.ingredient[k] = 1.0
        s.items[cell] = inside + hand
        s.held[k] = 0
    elif p.start_cooking and hand == 0 and inside != 0:
        s.timer[cell] = COOK_TIME
        if inside == s.recipe:
            r.start[k] = 1.0
    if not p.start_cooking and ingredients_in(s.items[cell]) == IN_POT:
        s.timer[cell] = COOK_TIME


@kernel
def serve(s, r, k):
    """Hand a soup out, whatever soup it is."""
    right = s.held[k] == s.recipe | PLATE | COOKED
    for j in range(s.held.shape[0]):
        if right:
            r.served[j] += 1.0
        else:
            r.wrong[j] += 1.0
    if right:
        s.fresh = True
        s.served += 1
    s.held[k] = 0


@kernel
def interact(p, s, r, k):
    """What cook k does with what it faces."""
    cell = ahead(p, s.cell[k], s.facing[k])
    kind, hand = p.ground[cell], s.held[k]
    if kind == POT:
        use_pot(p, s, r, k, cell)
    elif kind == COUNTER:
        if hand == 0 or s.items[cell] == 0:
            s.held[k] = s.items[cell]
            s.items[cell] = hand
    elif kind == WINDOW:
        if hand & COOKED:
            serve(s, r, k)
    elif kind == BUTTON:
        if hand == 0:
            s.timer[cell] = SHOWN_TIME
            for j in range(s.held.shape[0]):
                r.button[j] += 1.0
    elif hand == 0 and kind == PLATES:
        note_plate(p, s, r, k)
        s.held[k] = PLATE
    elif hand == 0 and kind >= PILE:
        s.held[k] = 4 << 2 * (kind - PILE)
    if s.held[k] != hand:
        note_change(s, cell)


@kernel
def tick(p, s):
    """One step of the pots that cook, and of the indicators that show."""
    for i in range(p.clocks.shape[0]):
        cell = p.clocks[i]
        if s.timer[cell] > 0:
            note_change(s, cell)
            s.timer[cell] -= 1
            if s.timer[cell] == 0 and p.ground[cell] == POT:
                s.items[cell] |= COOKED


@kernel
def draw_recipe(p, rng):
    return p.recipes[below(rng, p.recipes.shape[0])]


# --- starts -----------------------------------------------------------------------------------------------------------


@kernel
def place_cooks(p, s, rng):
    """Each cook on its start; or on a random cell of the room of its start, where no other stands."""
    cooks, starts, cells = s.cell.shape[0], p.starts.shape[0], s.items.shape[0]
    for k in range(cooks):
        home = p.starts[k % starts]
        s.cell[k] = home
        s.facing[k] = UP if p.start == FIXED else below(rng, 4)
        if p.start == FIXED or p.start == TURNED:
            continue
        free = 0
        for turn in range(2):  # count the free cells, then go to a random one of them
            left = below(rng, free) if turn == 1 else 0
            for cell in range(cells):
                if p.room[cell] != p.room[home] or taken(s, k, cell):
                    continue
                if turn == 0:
                    free += 1
                else:
                    s.cell[k] = cell if left == 0 else s.cell[k]
                    left -= 1


@kernel
def taken(s, cooks, cell):
    """Whether one of the first cooks stands on a cell."""
    found = False
    for j in range(cooks):
        found = found or s.cell[j] == cell
    return found


@kernel
def some_ingredient(p, rng):
    return 4 << 2 * below(rng, p.ingredients)


@kernel
def some_item(p, rng, plate, ingredient, soup):
    """Nothing, a plate, an ingredient or a soup of one of the recipes, with these probabilities."""
    drawn = uniform(rng, 0.0, 1.0)
    if drawn < plate:
        return PLATE
    if drawn < plate + ingredient:
        return some_ingredient(p, rng)
    if drawn < plate + ingredient + soup:
        return draw_recipe(p, rng) | PLATE | COOKED
    return 0


@kernel
def fill_pot(p, s, rng, cell):
    """A pot in any state: as it was 0.4, not cooking 0.35, cooking 0.15, done 0.1."""
    drawn = uniform(rng, 0.0, 1.0)
    if drawn < 0.4:
        return
    cooking, count = drawn >= 0.75, 1 + below(rng, IN_POT)
    if cooking and not p.start_cooking:
        count = IN_POT  # without a button a pot cooks when it is full
    for _ in range(count):
        s.items[cell] += some_ingredient(p, rng)
    if drawn >= 0.9:
        s.items[cell] |= COOKED
    elif cooking:
        s.timer[cell] = 1 + below(rng, COOK_TIME)


@kernel
def scatter(p, s, rng):
    """Things in hands, in pots and on counters."""
    for k in range(s.held.shape[0]):
        s.held[k] = some_item(p, rng, 0.1, 0.25, 0.15)
    for cell in range(s.items.shape[0]):
        if p.ground[cell] == POT:
            fill_pot(p, s, rng, cell)
        elif p.ground[cell] == COUNTER:
            s.items[cell] = some_item(p, rng, 0.1, 0.3, 0.1)
