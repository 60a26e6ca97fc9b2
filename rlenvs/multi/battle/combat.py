"""The combat rules of one tick: attacks, walking, collisions, death, recovery. Continuous positions, no terrain.

A world of units has the fields of UNIT_STATE in its state (of length "units"), UNIT_DATA (units.py) and COMBAT_DATA in
its data, and the parameter `tick`, the length of a tick in seconds. Before each tick it gives every unit an order:
`s.aim[i]`, the unit that it attacks or heals (-1 for none), and `s.heading_x[i]`, `s.heading_y[i]`, the direction in
which it walks, as a fraction of its speed. All units act simultaneously: positions and health are read before any unit
acts.
"""

import math

from rlenvs.core import b1, f8, i4, kernel, u1, uniform
from rlenvs.multi.battle.units import KINDS

COMBAT_DATA = {
    "width": f8,  # of the map
    "height": f8,
    "edge_to_edge": u1,  # ranges are between the edges of units, not their centres
    "pursues": u1,  # a unit walks up to a target that is out of range
    "walls_kill": u1,  # units that touch the border of the map die
    "abilities": u1,  # shields, health and energy grow back; units may explode
}

UNIT_STATE = {
    "x": f8("units"),
    "y": f8("units"),
    "health": f8("units"),
    "shield": f8("units"),
    "energy": f8("units"),  # of medivacs
    "pace": f8("units"),  # map units walked per tick
    "cooldown": f8("units"),  # seconds until the next attack; below zero the weapon is ready
    "unhurt": f8("units"),  # seconds since the last damage
    "heading_x": f8("units"),
    "heading_y": f8("units"),
    "kind": i4("units").index_of(len(KINDS)),
    "side": i4("units").within(0, 1),
    "aim": i4("units").index_of("units", low=-1),
    "standing": b1("units"),
    "flies": b1("units"),
    "body": f8("units"),  # radius, a little less, since touching is not overlapping; 0 for the fallen
    "push_x": f8("units"),  # scratch
    "push_y": f8("units"),
}

ALMOST_NOTHING = 1e-6
TOUCH = 1e-5  # units that overlap by less only touch
SHIELD_DELAY, SHIELD_GROWTH = 10.0 / 1.4, 2.0 * 1.4  # seconds; points per second
FIRST_ENERGY, MOST_ENERGY, ENERGY_GROWTH = 50.0, 200.0, 0.5625 * 1.4
HEALTH_PER_ENERGY = 3.0
LEAST_DAMAGE = 0.5  # armour does not take off more
BEAM_WIDTH = 0.3


@kernel
def place_unit(p, s, i, kind, side, x, y):
    """A fresh unit."""
    s.kind[i] = kind
    s.side[i] = side
    s.x[i] = x
    s.y[i] = y
    s.health[i] = p.unit_health[kind]
    s.shield[i] = p.unit_shield[kind]
    s.flies[i] = p.unit_flies[kind] != 0
    s.pace[i] = p.unit_speed[kind] * p.tick
    s.body[i] = p.unit_radius[kind] - 0.5 * TOUCH
    s.energy[i] = FIRST_ENERGY if p.unit_heals[kind] > 0.0 else 0.0
    s.cooldown[i] = 0.0
    s.unhurt[i] = SHIELD_DELAY
    s.aim[i] = -1
    s.heading_x[i] = 0.0
    s.heading_y[i] = 0.0
    s.standing[i] = True


@kernel
def squared_distance(s, i, j):
    dx = s.x[j] - s.x[i]
    dy = s.y[j] - s.y[i]
    return dx * dx + dy * dy


@kernel
def weapon_reach(p, s, i, j):
    """The distance of centres from which unit i's weapon (or healing beam) reaches unit j."""
    reach = p.unit_range[s.kind[i]]
    if p.edge_to_edge:
        reach += p.unit_radius[s.kind[i]] + p.unit_radius[s.kind[j]]
    return reach


@kernel
def in_range(p, s, i, j):
    """Whether unit i's weapon (or healing beam) reaches unit j."""
    reach = weapon_reach(p, s, i, j)
    return squared_distance(s, i, j) < reach * reach


@kernel
def hurt(p, s, i, j):
    """One attack of unit i on unit j: shields take damage first, armour takes some off the rest of each hit."""
    kind = s.kind[j]
    s.unhurt[j] = 0.0
    for _ in range(int(p.unit_hits[s.kind[i]])):
        damage = p.unit_damage[s.kind[i], kind]
        absorbed = min(damage, s.shield[j])
        s.shield[j] -= absorbed
        damage -= absorbed
        if damage > 0.0:
            armour = p.unit_armour[kind]
            s.health[j] -= max(damage - armour, LEAST_DAMAGE) if armour > 0.0 else damage


@kernel
def fall(s, i):
    """Unit i is gone."""
    s.health[i] = 0.0
    s.shield[i] = 0.0
    s.standing[i] = False
    s.body[i] = 0.0


@kernel
def explode(p, s, i):
    """Unit i is gone, and hurts all enemies around it that its weapon can hit."""
    fall(s, i)
    for j in range(s.x.size):
        if s.standing[j] and s.side[j] != s.side[i] and p.unit_hits_it[s.kind[i], s.kind[j]]:
            reach = p.unit_splash[s.kind[i]] + p.unit_radius[s.kind[j]]
            if squared_distance(s, i, j) <= reach * reach:
                hurt(p, s, i, j)


@kernel
def set_off(p, s):
    """Units that explode do so when they die, and may set each other off."""
    for _ in range(s.x.size):
        quiet = True
        for i in range(s.x.size):
            if s.standing[i] and s.health[i] <= 0.0 and p.unit_splash[s.kind[i]] > 0.0:
                explode(p, s, i)
                quiet = False
        if quiet:
            break


@kernel
def sweep_beam(p, s, i, aim):
    """Unit i hurts all enemies on a line across its line of fire, through its target."""
    ux = s.x[aim] - s.x[i]
    uy = s.y[aim] - s.y[i]
    length = math.sqrt(ux * ux + uy * uy) + ALMOST_NOTHING
    ux /= length
    uy /= length
    for j in range(s.x.size):
        if s.standing[j] and s.side[j] != s.side[i] and p.unit_hits_it[s.kind[i], s.kind[j]]:
            dx = s.x[j] - s.x[aim]
            dy = s.y[j] - s.y[aim]
            along = max(abs(dx * ux + dy * uy) - 0.5 * BEAM_WIDTH, 0.0)
            across = max(abs(dx * uy - dy * ux) - 0.5 * p.unit_beam[s.kind[i]], 0.0)
            radius = p.unit_radius[s.kind[j]]
            if j == aim or along * along + across * across <= radius * radius:
                hurt(p, s, i, j)


@kernel
def heal(p, s, i, j):
    """Unit i spends energy on the health of unit j."""
    if p.unit_biological[s.kind[j]] and s.health[j] > 0.0:
        missing = p.unit_health[s.kind[j]] - s.health[j]
        healed = min(min(missing, p.unit_heals[s.kind[i]] * p.tick), s.energy[i] * HEALTH_PER_ENERGY)
        s.health[j] += healed
        s.energy[i] -= healed / HEALTH_PER_ENERGY


@kernel
def use_weapon(p, s, i, j):
    """Unit i attacks unit j."""
    if p.unit_splash[s.kind[i]] > 0.0:
        s.health[i] = 0.0  # it explodes when all have acted
    elif p.unit_beam[s.kind[i]] > 0.0:
        sweep_beam(p, s, i, j)
    else:
        hurt(p, s, i, j)


@kernel
def walk_towards(s, i, x, y):
    """Unit i heads for a point."""
    dx = x - s.x[i]
    dy = y - s.y[i]
    distance = math.sqrt(dx * dx + dy * dy)
    s.heading_x[i] = dx / distance if distance > ALMOST_NOTHING else 0.0
    s.heading_y[i] = dy / distance if distance > ALMOST_NOTHING else 0.0


@kernel
def attack(p, s, rng):
    """Every unit with a target attacks or heals it, or, where units pursue, walks up to it."""
    aims, standing, cooldown, kind, length = s.aim, s.standing, s.cooldown, s.kind, p.tick
    for i in range(aims.size):
        ready = cooldown[i] <= 0.0
        cooldown[i] -= length
        j = max(aims[i], 0)
        if aims[i] < 0 or not (standing[i] and standing[j]):
            continue
        reached = in_range(p, s, i, j)
        if p.pursues:
            s.heading_x[i] = 0.0
            s.heading_y[i] = 0.0
            if not reached:
                walk_towards(s, i, s.x[j], s.y[j])
        if not reached or not (ready or p.abilities):
            continue
        if s.side[j] == s.side[i]:
            heal(p, s, i, j)
        elif ready and p.unit_hits_it[kind[i], kind[j]]:
            use_weapon(p, s, i, j)
            # the engine of StarCraft delays attacks by -1 to 2 of its ticks
            cooldown[i] = p.unit_cooldown[kind[i]] + uniform(rng, -length, 2.0 * length)


@kernel
def walk(p, s):
    """All standing units walk where they head, as far as the map goes."""
    walk_along(s.x, s.heading_x, s.pace, s.standing, p.width)
    walk_along(s.y, s.heading_y, s.pace, s.standing, p.height)


@kernel
def walk_along(x, heading, pace, standing, length):
    """One coordinate of a walk."""
    for i in range(x.size):
        ahead = min(max(x[i] + heading[i] * pace[i], 0.0), length)
        x[i] = ahead if standing[i] else x[i]


@kernel
def bury(p, s):
    """Units without health, and where walls are deadly those that touch one, no longer stand."""
    x, y, health, standing, width, height, deadly = s.x, s.y, s.health, s.standing, p.width, p.height, p.walls_kill
    fallen = 0
    for i in range(x.size):
        fallen += standing[i] & (health[i] <= 0.0)
    if deadly:
        for i in range(x.size):
            fallen += standing[i] & ((x[i] <= 0.0) | (y[i] <= 0.0) | (x[i] >= width) | (y[i] >= height))
    if fallen == 0:
        return
    for i in range(x.size):
        outside = x[i] <= 0.0 or y[i] <= 0.0 or x[i] >= width or y[i] >= height
        if standing[i] and (health[i] <= 0.0 or (outside and deadly)):
            fall(s, i)


@kernel
def touches_any(x, y, body, here_x, here_y, here_body):
    """Whether any of some units overlaps one more. Vectorised: all indices start at 0."""
    touches = False
    for j in range(x.size):
        dx = x[j] - here_x
        dy = y[j] - here_y
        near = body[j] + here_body
        touches |= (dx * dx + dy * dy < near * near) & (body[j] > 0.0)
    return touches


@kernel
def push_from(s, i):
    """Unit i and all that it overlaps among those after it: half of the overlap for each, unless only one flies."""
    x, y, body, flies, count = s.x, s.y, s.body, s.flies, s.x.size
    here_x, here_y, here_body = x[i], y[i], body[i]
    for j in range(i + 1, count):
        dx = here_x - x[j]
        dy = here_y - y[j]
        near = here_body + body[j]
        squared = dx * dx + dy * dy
        if squared < near * near and body[j] > 0.0 and flies[j] == flies[i]:
            share = 0.5 * max((near + TOUCH) / (math.sqrt(squared) + ALMOST_NOTHING) - 1.0, 0.0)
            s.push_x[i] += dx * share
            s.push_y[i] += dy * share
            s.push_x[j] -= dx * share
            s.push_y[j] -= dy * share


@kernel
def push_apart(p, s):
    """Units that overlap each shift by half of the overlap, added up over all that they touch."""
    x, y, body = s.x, s.y, s.body
    touched = False
    for i in range(x.size - 1):
        if body[i] > 0.0 and touches_any(x[i + 1 :], y[i + 1 :], body[i + 1 :], x[i], y[i], body[i]):
            push_from(s, i)
            touched = True
    if touched:
        shift(p, s)


@kernel
def shift(p, s):
    """All units that can move go where they are pushed."""
    x, y, push_x, push_y, pace = s.x, s.y, s.push_x, s.push_y, s.pace
    for i in range(x.size):
        x[i] += push_x[i] if pace[i] > 0.0 else 0.0
        push_x[i] = 0.0
    for i in range(y.size):
        y[i] += push_y[i] if pace[i] > 0.0 else 0.0
        push_y[i] = 0.0


@kernel
def recover(p, s):
    """Shields grow back some seconds after the last damage, Zerg health and the energy of medivacs always."""
    for i in range(s.x.size):
        if not s.standing[i]:
            continue
        kind = s.kind[i]
        s.unhurt[i] += p.tick
        if s.unhurt[i] > SHIELD_DELAY:
            s.shield[i] = min(s.shield[i] + SHIELD_GROWTH * p.tick, p.unit_shield[kind])
        s.health[i] = min(s.health[i] + p.unit_regeneration[kind] * p.tick, p.unit_health[kind])
        if p.unit_heals[kind] > 0.0:
            s.energy[i] = min(s.energy[i] + ENERGY_GROWTH * p.tick, MOST_ENERGY)


@kernel
def tick(p, s, rng):
    """One tick of all units."""
    attack(p, s, rng)
    walk(p, s)
    if p.abilities:
        set_off(p, s)
    bury(p, s)
    push_apart(p, s)
    if p.abilities:
        recover(p, s)
