"""What agents see: a list of units, cones, SMAC's layout, feature maps; and the central states.

A unit sees live units whose centers are within its sight range. Lists are in a fixed order: own side, then the other;
for enemies from the last unit to the first.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import choice, f8, i4, i8, kernel, maths, u1
from rlenvs.multi.battle.combat import MOST_ENERGY, squared_distance
from rlenvs.multi.battle.orders import comrades_of, foe_of, foes_of, last_move, legal_foe, legal_move
from rlenvs.multi.battle.scenarios import Scenario, has_shields, type_bits
from rlenvs.multi.battle.units import KINDS, MEDIVAC, SMAX

SECTORS, PER_SECTOR = 32, 2  # of the conic form
OBSERVATION = choice("units", "conic", "smac", doc="layout of the observation")
CONIC, SMAC_LAYOUT = OBSERVATION.codes("conic", "smac")
TICKS_PER_SECOND = 22.4  # of StarCraft at the speed "faster"
MAP_PLANES = 6

OBSERVATION_DATA = {
    "has_shield": u1,  # a number for shields in lists of units
    "shield_bit": u1(2),  # by side, in SMAC's layout
    "type_bits": i8,
    "type_bit": i4(len(KINDS)),
    "shows_place": u1,  # SMACv2's layout ends with the own position
    "last_scale": f8(2),  # one over the largest choice, by side
}


def kinds_shown(rules: str) -> int:
    """The length of the one-hot code of a unit's kind in lists of units."""
    return len(SMAX) if rules == "smax" else len(KINDS)


def features(rules: str) -> int:
    """Numbers per unit in lists of units: health, dx, dy, last move x and y, last target, cooldown, (shield), kind."""
    return 7 + (rules == "smac") + kinds_shown(rules)


def own_features(rules: str) -> int:
    """Numbers of the unit itself in lists of units: health, x, y, cooldown, (shield), kind."""
    return 4 + (rules == "smac") + kinds_shown(rules)


def smac_sizes(scenario: Scenario, side: int, choices: int) -> tuple[int, int]:
    """The lengths of the observation of an agent of a side, and of the central state, in SMAC's layout."""
    bits, shields = len(type_bits(scenario)), [has_shields(scenario, index) for index in (0, 1)]
    counts = (len(scenario.allies), len(scenario.enemies))
    other = 1 - side
    seen = counts[other] * (5 + shields[other] + bits) + (counts[side] - 1) * (5 + shields[side] + bits)
    own = 1 + shields[side] + bits + 2 * bool(scenario.pool)
    state = counts[0] * (4 + shields[0] + bits) + counts[1] * (3 + shields[1] + bits) + counts[0] * choices
    return 4 + seen + own, state


def observation_data(scenario: Scenario, rules: str, choices: tuple[int, int]) -> dict[str, Any]:
    """The fields of OBSERVATION_DATA."""
    bits = type_bits(scenario)
    places = np.full(len(KINDS), -1, np.int32)
    for unit, place in bits.items():
        places[KINDS.index(unit)] = place
    return {
        "has_shield": rules == "smac",
        "shield_bit": [has_shields(scenario, side) for side in (0, 1)],
        "type_bits": len(bits),
        "type_bit": places,
        "shows_place": bool(scenario.pool),
        "last_scale": [1.0 / (count - 1) for count in choices],
    }


# --- lists of units ---------------------------------------------------------------------------------------------------


@kernel
def other_unit(p, s, i, slot):
    """The unit in place `slot` of the list that unit i sees."""
    last = s.x.size - 1
    if i < p.allies:
        return slot if slot < i else slot + 1
    return last - slot if last - slot > i else last - slot - 1


@kernel
def reload_share(p, s, i):
    """The cooldown as a share of the usual one, 0 to 1."""
    usual = p.unit_cooldown[s.kind[i]]
    return min(max(s.cooldown[i] / usual, 0.0), 1.0) if usual > 0.0 else 0.0


@kernel
def shield_share(p, s, i):
    full = p.unit_shield[s.kind[i]]
    return s.shield[i] / full if full > 0.0 else 0.0


@kernel
def note_looks(p, s):
    """What all who see a unit see of it alike, once for all observers."""
    look = s.look
    for j in range(s.x.size):
        move = last_move(p, s, j)
        target = s.last_choice[j] >= p.first_target
        side = 0 if j < p.allies else 1
        look[j, 0] = s.health[j] / p.unit_health[s.kind[j]]
        look[j, 3] = p.step_x[move] if move >= 0 else 0.0
        look[j, 4] = p.step_y[move] if move >= 0 else 0.0
        look[j, 5] = s.last_choice[j] * p.last_scale[side] if target else 0.0
        look[j, 6] = reload_share(p, s, j)
        if p.has_shield:
            look[j, 7] = shield_share(p, s, j)


@kernel
def note_kinds(p, s):
    """The part of that which never changes."""
    for j in range(s.x.size):
        s.look[j, (8 if p.has_shield else 7) + s.kind[j]] = 1.0


@kernel
def show_unit(look, dx, dy, hides, o):
    """A unit that is dx and dy sights away; `hides` leaves out what it did last."""
    for f in range(o.size):
        o[f] = look[f]
    o[1] = dx
    o[2] = dy
    if hides:
        o[3] = 0.0
        o[4] = 0.0
        o[5] = 0.0


@kernel
def show_self(p, s, i, o, base):
    """The unit's own numbers, the last of its observation."""
    o[base] = s.look[i, 0]
    o[base + 1] = min(max(s.x[i] / p.width, 0.0), 1.0)
    o[base + 2] = min(max(s.y[i] / p.height, 0.0), 1.0)
    o[base + 3] = s.look[i, 6]
    first = 4
    if p.has_shield:
        o[base + 4] = s.look[i, 7]
        first = 5
    o[base + first + s.kind[i]] = 1.0


@kernel
def observe_units(p, s, i, o):
    """All other units in order, zeros for those that are not seen, and the unit itself."""
    for f in range(o.size):
        o[max(f, 0)] = 0.0
    if not s.standing[i]:
        return
    x, y, standing, look, size = s.x, s.y, s.standing, s.look, s.look.shape[1]
    here_x, here_y, scale = x[i], y[i], 1.0 / p.unit_sight[s.kind[i]]
    allies, open_book = p.allies, p.see_enemy_actions
    j, along, base = 0, 1, 0
    if i >= allies:
        j, along = x.size - 1, -1
    for _ in range(x.size):
        if j != i:
            dx = (x[j] - here_x) * scale
            dy = (y[j] - here_y) * scale
            if standing[j] and dx * dx + dy * dy < 1.0:
                hides = not open_book and (i < allies) != (j < allies)
                show_unit(look[j], dx, dy, hides, o[base : base + size])
            base += size
        j += along
    show_self(p, s, i, o, base)


@kernel
def observe_cones(p, s, i, o):
    """The first two units seen in each of 32 sectors, counted from the west anticlockwise, and the unit itself."""
    for f in range(o.size):
        o[max(f, 0)] = 0.0
    if not s.standing[i]:
        return
    for sector in range(SECTORS):
        s.in_sector[sector] = 0
    scale = 1.0 / p.unit_sight[s.kind[i]]
    for slot in range(s.x.size - 1):
        j = slot if slot < i else slot + 1
        dx = (s.x[j] - s.x[i]) * scale
        dy = (s.y[j] - s.y[i]) * scale
        if s.standing[j] and dx * dx + dy * dy < 1.0:
            sector = min(int((maths.atan2(dy, dx) + math.pi) * (SECTORS / (2.0 * math.pi))), SECTORS - 1)
            if s.in_sector[sector] < PER_SECTOR:
                hides = not p.see_enemy_actions and (i < p.allies) != (j < p.allies)
                base = (sector * PER_SECTOR + s.in_sector[sector]) * s.look.shape[1]
                show_unit(s.look[j], dx, dy, hides, o[base : base + s.look.shape[1]])
                s.in_sector[sector] += 1
    show_self(p, s, i, o, SECTORS * PER_SECTOR * s.look.shape[1])


# --- SMAC's layout ----------------------------------------------------------------------------------------------------


@kernel
def write_kind(p, s, j, o, base):
    """The bit of unit j's type. Returns the place behind the bits."""
    for bit in range(p.type_bits):
        o[base + bit] = 1.0 if p.type_bit[s.kind[j]] == bit else 0.0
    return base + p.type_bits


@kernel
def write_health(p, s, j, o, base):
    """Health, the shield of a Protoss side, and the type of unit j. Returns the place behind them."""
    o[base] = s.health[j] / p.unit_health[s.kind[j]]
    base += 1
    if p.shield_bit[0 if j < p.allies else 1]:
        o[base] = shield_share(p, s, j)
        base += 1
    return write_kind(p, s, j, o, base)


@kernel
def write_seen(p, s, i, j, flag, o, base):
    """Unit j as unit i sees it in SMAC's layout; `flag` is its first number."""
    scale = 1.0 / p.unit_sight[s.kind[i]]
    o[base] = flag
    o[base + 1] = math.sqrt(squared_distance(s, i, j)) * scale
    o[base + 2] = (s.x[j] - s.x[i]) * scale
    o[base + 3] = (s.y[j] - s.y[i]) * scale
    write_health(p, s, j, o, base + 4)


@kernel
def observe_smac(p, s, i, o):
    """Legal moves; by enemy attackable, distance, dx, dy, health, shield, type; by ally the same, visible first; own
    health, shield, type; SMACv2: own position. All zeros when dead."""
    for f in range(o.size):
        o[max(f, 0)] = 0.0
    if not s.standing[i]:
        return
    for move in range(4):
        o[move] = 1.0 if legal_move(p, s, i, move) else 0.0
    sight = p.unit_sight[s.kind[i]]
    side = 0 if i < p.allies else 1
    heals = p.unit_heals[s.kind[i]] > 0.0
    size = 5 + p.shield_bit[1 - side] + p.type_bits
    base = 4
    for slot in range(foes_of(p, i)):
        j = foe_of(p, i, slot)
        if s.standing[j] and squared_distance(s, i, j) < sight * sight:
            write_seen(p, s, i, j, 1.0 if not heals and legal_foe(p, s, i, j) else 0.0, o, base)
        base += size
    size = 5 + p.shield_bit[side] + p.type_bits
    for slot in range(comrades_of(p, i) - 1):
        j = other_unit(p, s, i, slot)
        if s.standing[j] and squared_distance(s, i, j) < sight * sight:
            write_seen(p, s, i, j, 1.0, o, base)
        base += size
    base = write_health(p, s, i, o, base)
    if p.shows_place:
        o[base] = min(max(s.x[i] / p.width, 0.0), 1.0)
        o[base + 1] = min(max(s.y[i] / p.height, 0.0), 1.0)


# --- feature maps -----------------------------------------------------------------------------------------------------


@kernel
def paint_map(p, s, i, cells):
    """What unit i sees as an image around it, north up: health, shield and kind of its side, then of the other. The
    unit is in the middle; the image ends where its sight does."""
    count = cells.shape[0]
    for row in range(count):
        for column in range(count):
            for plane in range(MAP_PLANES):
                cells[row, column, plane] = 0
    if not s.standing[i]:
        return
    sight = p.unit_sight[s.kind[i]]
    scale = count / (2.0 * sight)
    for j in range(s.x.size):
        if s.standing[j] and (j == i or squared_distance(s, i, j) < sight * sight):
            column = min(int((s.x[j] - s.x[i] + sight) * scale), count - 1)
            row = min(int((sight - s.y[j] + s.y[i]) * scale), count - 1)
            plane = 0 if (i < p.allies) == (j < p.allies) else 3
            # a unit that is almost dead is still there
            cells[row, column, plane] = max(1, int(255.0 * s.health[j] / p.unit_health[s.kind[j]]))
            cells[row, column, plane + 1] = int(255.0 * shield_share(p, s, j))
            cells[row, column, plane + 2] = (s.kind[j] + 1) * (255 // len(KINDS))


# --- central states ---------------------------------------------------------------------------------------------------


@kernel
def central_units(p, s, o):
    """By unit health, x, y, cooldown, (shield), kind, zeros when dead; then the sides, then the kinds."""
    count = s.x.size
    size = s.look.shape[1] - 3
    first = 5 if p.has_shield else 4
    for f in range(o.size):
        o[max(f, 0)] = 0.0
    for i in range(count):
        o[count * size + i] = 0.0 if i < p.allies else 1.0
        o[count * (size + 1) + i] = s.kind[i] / (size - first - 1.0)
        if s.standing[i]:
            base = i * size
            o[base] = s.health[i] / p.unit_health[s.kind[i]]
            o[base + 1] = min(max(s.x[i] / p.width, 0.0), 1.0)
            o[base + 2] = min(max(s.y[i] / p.height, 0.0), 1.0)
            o[base + 3] = reload_share(p, s, i)
            if p.has_shield:
                o[base + 4] = shield_share(p, s, i)
            o[base + first + s.kind[i]] = 1.0


@kernel
def write_place(p, s, i, o, base):
    """Where unit i is, from the centre of the map, in sizes of the map."""
    o[base] = min(max(s.x[i] / p.width - 0.5, -0.5), 0.5)
    o[base + 1] = min(max(s.y[i] / p.height - 0.5, -0.5), 0.5)


@kernel
def central_smac(p, s, choices, o):
    """SMAC's state: by ally health, cooldown (of medivacs energy), dx, dy, shield, type; by enemy health, dx, dy,
    shield, type; by ally its last choice, one-hot."""
    for f in range(o.size):
        o[max(f, 0)] = 0.0
    base = 0
    for i in range(s.x.size):
        side = 0 if i < p.allies else 1
        start = base
        base += 4 - side + p.shield_bit[side] + p.type_bits
        if not s.standing[i]:
            continue
        kind = s.kind[i]
        o[start] = s.health[i] / p.unit_health[kind]
        start += 1
        if side == 0:
            if kind == MEDIVAC:
                o[start] = s.energy[i] / MOST_ENERGY
            else:
                ticks = max(s.cooldown[i], 0.0) * TICKS_PER_SECOND
                o[start] = min(ticks / p.unit_full_cooldown[kind], 1.0)
            start += 1
        write_place(p, s, i, o, start)
        start += 2
        if p.shield_bit[side]:
            o[start] = shield_share(p, s, i)
            start += 1
        write_kind(p, s, i, o, start)
    for i in range(p.allies):
        if s.elapsed > 0:
            o[base + s.last_choice[i]] = 1.0
        base += choices
