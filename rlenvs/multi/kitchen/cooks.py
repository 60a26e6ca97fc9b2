"""Scripted cooks. They see the whole kitchen and know the recipe; what differs is what they do with it.

A cook decides what it wants (an ingredient, a pot that takes what it holds, a free counter, ...), looks for the nearest
cell that gives it, and walks there around others. Where rooms are apart, things pass over counters that both touch.
"""

from rlenvs.core import kernel
from rlenvs.multi.kitchen.layouts import COOKED, COUNTER, FLOOR, IN_POT, PILE, PLATE, PLATES, POT, WINDOW
from rlenvs.multi.kitchen.rules import INTERACT, STAY, ahead, ingredients_in, is_ingredient, taken

PLANNER, GREEDY, STUBBORN, ONION_ONLY, LEFT_HAND = range(5)
NOTHING, INGREDIENT, PLATE_SOURCE, SOUP, POT_FOR, POT_SOUP, POT_START, SERVE, HAND_OVER, PUT_AWAY, DISCARD = range(11)
OWN_COUNTER, ANY_COUNTER = 11, 12  # where to put it
FAR = 10_000
KINDS = 10  # of ingredients
PHASE = 8  # steps for which a cook goes around others, before it waits for them to do so


# --- the state of affairs ---------------------------------------------------------------------------------------------


@kernel
def rooms_with(p, kind):
    """Bit mask of the rooms that touch something of a kind."""
    mask = 0
    for cell in range(p.ground.shape[0]):
        if p.ground[cell] == kind:
            mask |= p.touch[cell]
    return mask


@kernel
def own_room(p, s, k):
    return 1 << p.room[s.cell[k]]


@kernel
def part(item, i):
    """How much of ingredient i is in an item."""
    return item >> 2 * (i + 1) & 3


@kernel
def spoiled(s, cell):
    """Whether the pot holds something that the recipe does not have."""
    found = False
    for i in range(KINDS):
        found = found or part(s.items[cell], i) > part(s.recipe, i)
    return found


@kernel
def is_idle(s, cell):
    return s.timer[cell] == 0 and s.items[cell] & COOKED == 0


@kernel
def lying(p, s, item, rooms):
    """How many of an item lie on counters that touch one of the rooms."""
    count = 0
    for cell in range(s.items.shape[0]):
        count += p.ground[cell] == COUNTER and s.items[cell] == item and p.touch[cell] & rooms != 0
    return count


@kernel
def held_by_others(p, s, k, item, pots):
    """How many others who reach a pot hold an item."""
    count = 0
    for j in range(s.held.shape[0]):
        count += j != k and s.held[j] == item and own_room(p, s, j) & pots != 0
    return count


@kernel
def rooms_to_windows(p):
    """Bit mask of the rooms from which a soup gets to a window: through it, or over a counter."""
    rooms = rooms_with(p, WINDOW)
    for cell in range(p.ground.shape[0]):
        if p.ground[cell] == COUNTER and p.touch[cell] & rooms != 0:
            rooms |= p.touch[cell]
    return rooms


@kernel
def soup_under_way(p, s):
    """Whether there is a correct soup that can be served, or one that cooks."""
    done, found, rooms = s.recipe | COOKED, False, rooms_to_windows(p)
    for k in range(s.held.shape[0]):
        found = found or (s.held[k] == done | PLATE and own_room(p, s, k) & rooms != 0)
    for cell in range(s.items.shape[0]):
        item = s.items[cell]
        ready = item | PLATE == done | PLATE or (s.timer[cell] > 0 and item == s.recipe)
        found = found or (ready and p.touch[cell] & rooms != 0)
    return found


@kernel
def list_needs(p, s, k, style):
    """How many of each ingredient pots lack, in s.need. What others bring counts for those who share the work, and for
    those who only hand things over what lies there already."""
    pots = rooms_with(p, POT)
    supplier = pots & own_room(p, s, k) == 0
    shares = style in (PLANNER, LEFT_HAND)
    may_change = p.new_recipe and p.recipes.shape[0] > 1 and soup_under_way(p, s)
    for i in range(KINDS):
        s.need[i] = 0
        if part(s.recipe, i) == 0 or may_change:
            continue
        for n in range(p.clocks.shape[0]):
            cell = p.clocks[n]
            if p.ground[cell] != POT:
                continue
            if not is_idle(s, cell):
                s.need[i] += 0 if supplier else part(s.recipe, i)  # for the next soup
            elif spoiled(s, cell):
                s.need[i] += IN_POT - ingredients_in(s.items[cell])
            else:
                s.need[i] += part(s.recipe, i) - part(s.items[cell], i)
        if shares:
            s.need[i] -= held_by_others(p, s, k, 4 << 2 * i, pots)
        if supplier:
            s.need[i] -= lying(p, s, 4 << 2 * i, pots)


@kernel
def plates_wanted(p, s, k, style):
    """How many plates are missing for the soups that are in pots."""
    pots, count = rooms_with(p, POT), 0
    if pots & own_room(p, s, k) != 0 and rooms_to_windows(p) & own_room(p, s, k) == 0:
        return 0  # others have to take the soups
    for n in range(p.clocks.shape[0]):
        count += p.ground[p.clocks[n]] == POT and not is_idle(s, p.clocks[n])
    if style in (PLANNER, LEFT_HAND):
        count -= held_by_others(p, s, k, PLATE, pots)
    if pots & own_room(p, s, k) == 0:
        count -= lying(p, s, PLATE, pots)
    return count


@kernel
def spare_counters(p, s, k, rooms):
    """How many empty counters lie between the cook's room and one of these rooms."""
    count = 0
    for cell in range(s.items.shape[0]):
        between = p.touch[cell] & own_room(p, s, k) != 0 and p.touch[cell] & rooms != 0
        count += p.ground[cell] == COUNTER and s.items[cell] == 0 and between
    return count


# --- what a cook wants ------------------------------------------------------------------------------------------------


@kernel
def want(p, s, k, style):
    """What the cook does next: one of the wants above."""
    hand = s.held[k]
    if style == ONION_ONLY and hand != 0 and not is_ingredient(hand):
        return PUT_AWAY
    if hand & COOKED:
        return want_with_soup(p, s, k)
    if hand == PLATE:
        return want_with_plate(p, s, k, style)
    list_needs(p, s, k, style)
    if hand != 0:
        return want_with_ingredient(p, s, k, style)
    if style != ONION_ONLY:
        if best_cell(p, s, k, SOUP, style) >= 0:
            return SOUP
        if best_cell(p, s, k, POT_START, style) >= 0:
            return POT_START
        if plates_wanted(p, s, k, style) > 0:
            return PLATE_SOURCE
    for i in range(KINDS):
        if s.need[i] > 0:
            return INGREDIENT
    return NOTHING


@kernel
def has_window(p, s, k):
    return rooms_with(p, WINDOW) & own_room(p, s, k) != 0


@kernel
def want_with_soup(p, s, k):
    if s.held[k] != s.recipe | PLATE | COOKED:
        return DISCARD
    if has_window(p, s, k):
        return SERVE
    return HAND_OVER


@kernel
def want_with_plate(p, s, k, style):
    pots = rooms_with(p, POT)
    if pots & own_room(p, s, k) == 0:
        reserved = 1 if pots & rooms_with(p, WINDOW) == 0 else 0  # for the soup that comes back
        if spare_counters(p, s, k, pots) > reserved:
            return HAND_OVER
        return PUT_AWAY if plates_wanted(p, s, k, style) <= 0 else NOTHING
    soups, before = 0, 0
    if rooms_to_windows(p) & own_room(p, s, k) == 0:
        return PUT_AWAY
    for n in range(p.clocks.shape[0]):
        soups += p.ground[p.clocks[n]] == POT and not is_idle(s, p.clocks[n])
    for j in range(k):
        before += s.held[j] == PLATE
    shares = style in (PLANNER, LEFT_HAND)
    return PUT_AWAY if soups == 0 or (shares and before >= soups) else POT_SOUP


@kernel
def needed(s, item):
    """Whether an item is an ingredient that a pot lacks, by s.need."""
    found = False
    for i in range(KINDS):
        found = found or (item == 4 << 2 * i and s.need[i] > 0)
    return found


@kernel
def want_with_ingredient(p, s, k, style):
    pots = rooms_with(p, POT)
    hungry = style != ONION_ONLY and plates_wanted(p, s, k, style) > 0
    if pots & own_room(p, s, k) == 0:
        reserved = 2 if pots & rooms_with(p, WINDOW) == 0 else 1  # for plates, and the soup that comes back
        if spare_counters(p, s, k, pots) > reserved:
            return HAND_OVER
        waiting = has_window(p, s, k) and lying(p, s, s.recipe | PLATE | COOKED, own_room(p, s, k)) > 0
        return PUT_AWAY if hungry or waiting or not needed(s, s.held[k]) else NOTHING
    for n in range(p.clocks.shape[0]):
        if suits(p, s, k, POT_FOR, p.clocks[n]):
            return POT_FOR
    usable, cooking = False, False
    for i in range(KINDS):
        usable = usable or (s.held[k] == 4 << 2 * i and part(s.recipe, i) > 0)
    for n in range(p.clocks.shape[0]):
        cooking = cooking or (p.ground[p.clocks[n]] == POT and not is_idle(s, p.clocks[n]))
    return NOTHING if usable and cooking and not hungry else PUT_AWAY


@kernel
def suits(p, s, k, wanted, cell):
    """Whether a cell gives what is wanted."""
    kind, item = p.ground[cell], s.items[cell]
    if kind == POT:
        if wanted == POT_SOUP:
            return not is_idle(s, cell)
        if not is_idle(s, cell):
            return False
        if wanted == POT_START:
            ready = p.start_cooking and item != 0 and (item == s.recipe or spoiled(s, cell))
            return ready or ingredients_in(item) == IN_POT
        return wanted == POT_FOR and takes(s, cell, s.held[k])
    if wanted == SERVE:
        return kind == WINDOW
    if kind == COUNTER and item == 0:
        own = wanted == OWN_COUNTER and p.touch[cell] == own_room(p, s, k)
        return own or wanted == ANY_COUNTER or (wanted == HAND_OVER and hands_over(p, s, k, cell))
    if wanted == SOUP:
        near = has_window(p, s, k) or p.touch[cell] & rooms_with(p, WINDOW) == 0  # not those handed over already
        leads = own_room(p, s, k) & rooms_to_windows(p) != 0
        return kind == COUNTER and item == s.recipe | PLATE | COOKED and near and leads
    if wanted != PLATE_SOURCE and wanted != INGREDIENT:
        return False
    if kind == COUNTER:
        pots = rooms_with(p, POT)
        if pots & own_room(p, s, k) == 0 and p.touch[cell] & pots != 0:
            return False  # it is handed over already
    if wanted == PLATE_SOURCE:
        return kind == PLATES or (kind == COUNTER and item == PLATE)
    return needed(s, 4 << 2 * (kind - PILE) if kind >= PILE else item)


@kernel
def takes(s, cell, hand):
    """Whether an ingredient brings an idle pot nearer to the recipe, or a spoiled one nearer to its end."""
    if ingredients_in(s.items[cell]) == IN_POT:
        return False
    if spoiled(s, cell):
        return True
    useful = False
    for i in range(KINDS):
        useful = useful or (hand == 4 << 2 * i and part(s.items[cell], i) < part(s.recipe, i))
    return useful


@kernel
def hands_over(p, s, k, cell):
    """Whether an empty counter leads to where the thing in hand is needed."""
    rooms = rooms_with(p, WINDOW) if s.held[k] & COOKED else rooms_with(p, POT)
    return p.touch[cell] & rooms != 0


# --- how it gets there ------------------------------------------------------------------------------------------------


@kernel
def search(p, s, k, around):
    """Steps from the cook to each floor cell, and the side to which the way begins; around other cooks, or not."""
    queue, steps, first = s.queue, s.steps, s.first
    for cell in range(steps.shape[0]):
        steps[cell] = -1
    queue[0] = s.cell[k]
    steps[s.cell[k]] = 0
    begin, end = 0, 1
    while begin < end:
        cell = queue[begin]
        begin += 1
        for side in range(4):
            near = ahead(p, cell, side)
            if p.ground[near] != FLOOR or steps[near] >= 0 or (around and taken(s, s.cell.shape[0], near)):
                continue
            steps[near] = steps[cell] + 1
            first[near] = side if cell == s.cell[k] else first[cell]
            queue[end] = near
            end += 1


@kernel
def stand_at(p, s, station):
    """The floor cell next to a station that is nearest to the cook; -1 where none can be reached."""
    found, least = -1, FAR
    for side in range(4):
        near = ahead(p, station, side)
        if near < 0 or near >= s.steps.shape[0]:
            continue
        if s.steps[near] >= 0 and s.steps[near] < least:
            found, least = near, s.steps[near]
    return found


@kernel
def best_cell(p, s, k, wanted, style):
    """The nearest cell that gives what is wanted, or the leftmost; -1 for none."""
    found, least = -1, FAR * FAR
    for cell in range(p.ground.shape[0]):
        if p.ground[cell] == FLOOR or not suits(p, s, k, wanted, cell):
            continue
        stand = stand_at(p, s, cell)
        if stand < 0:
            continue
        price = s.steps[stand] + s.timer[cell]
        if style == LEFT_HAND:
            price += FAR * (cell % p.columns)
        if price < least:
            found, least = cell, price
    return found


@kernel
def walk(p, s, k, station, wanted):
    """The action that brings the cook to a station, turns it there, and uses it."""
    stand = stand_at(p, s, station)
    if s.steps[stand] > 0:
        return s.first[stand]
    for side in range(4):
        if ahead(p, s.cell[k], side) == station and s.facing[k] != side:
            return side
    return STAY if wanted == POT_SOUP and s.timer[station] > 0 else INTERACT


@kernel
def give_way(p, s, k, wish):
    """The wish; or a wait, where another cook faces the same free cell and is first; or, now and then where another
    stands in the way, a step to any free side."""
    cooks, wished = s.cell.shape[0], ahead(p, s.cell[k], wish)
    if wish >= STAY or p.ground[wished] != FLOOR:
        return wish
    if not taken(s, cooks, wished):
        for j in range(cooks):
            if j != k and ahead(p, s.cell[j], s.facing[j]) == wished and (j < k) != (s.elapsed % 4 == 3):
                return STAY
        return wish
    if (s.elapsed + k) % 3 > 0:
        return wish
    for turn in range(4):
        side = (s.elapsed + k + turn) % 4
        near = ahead(p, s.cell[k], side)
        if p.ground[near] == FLOOR and not taken(s, cooks, near):
            return side
    return wish


@kernel
def is_quiet(p, cell):
    """Whether a floor cell is next to no pot and no window, where others may want to stand."""
    quiet = True
    for side in range(4):
        kind = p.ground[ahead(p, cell, side)]
        quiet = quiet and kind not in (POT, WINDOW)
    return quiet


@kernel
def step_aside(p, s, k):
    """What a cook does that has nothing to do: it leaves the cell if another faces it, and those next to pots."""
    cooks = s.cell.shape[0]
    for j in range(cooks):
        if j != k and ahead(p, s.cell[j], s.facing[j]) == s.cell[k]:
            for turn in range(4):
                side = (s.facing[j] + turn) % 4
                near = ahead(p, s.cell[k], side)
                if p.ground[near] == FLOOR and not taken(s, cooks, near):
                    return side
    if is_quiet(p, s.cell[k]):
        return STAY
    found, least = STAY, FAR
    for cell in range(s.steps.shape[0]):
        if 0 < s.steps[cell] < least and is_quiet(p, cell):
            found, least = s.first[cell], s.steps[cell]
    return found


@kernel
def place_for(p, s, k, wanted, style):
    """The cell to go to for what is wanted. What is put away does not block the counters to other rooms while there are
    others; a wrong soup rather goes out of the window than onto those."""
    if wanted == NOTHING:
        return -1
    found = best_cell(p, s, k, OWN_COUNTER if wanted in (PUT_AWAY, DISCARD) else wanted, style)
    if found < 0 and wanted == DISCARD:
        found = best_cell(p, s, k, SERVE, style)
    if found < 0 and wanted in (PUT_AWAY, DISCARD):
        found = best_cell(p, s, k, ANY_COUNTER, style)
    return found


@kernel
def chosen(p, s, k, style):
    """The action of a cook of a style."""
    search(p, s, k, style != STUBBORN and (s.elapsed // PHASE + k) % 2 == 0)
    wanted = want(p, s, k, style)
    station = place_for(p, s, k, wanted, style)
    if station < 0 and wanted != NOTHING:
        search(p, s, k, False)
        station = place_for(p, s, k, wanted, style)
    if station < 0:
        return STAY if style == STUBBORN else step_aside(p, s, k)
    wish = walk(p, s, k, station, wanted)
    return wish if style == STUBBORN else give_way(p, s, k, wish)
