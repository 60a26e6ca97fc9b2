"""What happens to units in one tick: attacks, walking, collisions, death, recovery. Continuous positions, no terrain.

A world of units has the fields of UNIT_STATE in its state (of length "units"), UNIT_DATA (units.py) and COMBAT_DATA in
its data, and the parameter `tick`, the length of a tick in seconds. Before each tick it gives every unit an order:
`s.aim[i]`, the unit that it attacks or heals (-1 for none), and `s.heading_x[i]`, `s.heading_y[i]`, where it walks, as
a share of its speed. All units act at once: who is alive, and where, is read before anybody acts.
"""

import math

from rlenvs.core import b1, f8, i4, i8, kernel, u1, uniform

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
    "cooldown": f8("units"),  # seconds until the next attack; below zero the weapon is ready
    "unhurt": f8("units"),  # seconds since the last damage
    "heading_x": f8("units"),
    "heading_y": f8("units"),
    "kind": i4("units"),
    "side": i4("units"),
    "aim": i4("units"),
    "standing": b1("units"),
    "sweep": i4("units"),  # the standing units from left to right
    "sweep_count": i8,
    "push_x": f8("units"),  # scratch
    "push_y": f8("units"),
}

ALMOST_NOTHING = 1e-6
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
def explode(p, s, i):
    """Unit i is gone, and hurts all enemies around it that its weapon can hit."""
    s.standing[i] = False
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
    x, y, kind, standing, ahead_x, ahead_y = s.x, s.y, s.kind, s.standing, s.heading_x, s.heading_y
    length, width, height = p.tick, p.width, p.height
    for i in range(x.size):
        if standing[i]:
            step = p.unit_speed[kind[i]] * length
            x[i] = min(max(x[i] + ahead_x[i] * step, 0.0), width)
            y[i] = min(max(y[i] + ahead_y[i] * step, 0.0), height)


@kernel
def bury(p, s):
    """Units without health, and where walls are deadly those that touch one, no longer stand."""
    x, y, health, width, height, deadly = s.x, s.y, s.health, p.width, p.height, p.walls_kill
    for i in range(x.size):
        outside = x[i] <= 0.0 or y[i] <= 0.0 or x[i] >= width or y[i] >= height
        if health[i] <= 0.0 or (outside and deadly):
            health[i] = 0.0
            s.shield[i] = 0.0
            s.standing[i] = False


@kernel
def sort_standing(s):
    """Standing units from left to right into s.sweep. Their order hardly changes between ticks, which is when insertion
    sort takes linear time."""
    x, sweep, standing = s.x, s.sweep, s.standing
    count = 0
    for place in range(s.sweep_count):
        i = sweep[place]
        if not standing[i]:
            continue
        hole, here = count, x[i]
        while hole > 0 and x[sweep[max(hole - 1, 0)]] > here:
            sweep[hole] = sweep[max(hole - 1, 0)]
            hole -= 1
        sweep[hole] = i
        count += 1
    s.sweep_count = count


@kernel
def push_apart(p, s):
    """Units that overlap each shift by half of the overlap, added up over all that they touch. From left to right, a
    unit meets only those whose distance in x is below the sum of radii."""
    x, y, kind, sweep, push_x, push_y = s.x, s.y, s.kind, s.sweep, s.push_x, s.push_y
    sort_standing(s)
    count = s.sweep_count
    touched, widest = False, p.largest_radius
    for place in range(count):
        i = sweep[place]
        here_x, here_y, radius = x[i], y[i], p.unit_radius[kind[i]]
        farthest = here_x + radius + widest
        for other in range(place + 1, count):
            j = sweep[other]
            if x[j] >= farthest:
                break
            dx = here_x - x[j]
            dy = here_y - y[j]
            near = radius + p.unit_radius[kind[j]]
            squared = dx * dx + dy * dy
            if squared < near * near and p.unit_flies[kind[i]] == p.unit_flies[kind[j]]:
                share = 0.5 * max(near / (math.sqrt(squared) + ALMOST_NOTHING) - 1.0, 0.0)
                push_x[i] += dx * share
                push_y[i] += dy * share
                push_x[j] -= dx * share
                push_y[j] -= dy * share
                touched = True
    if touched:
        for place in range(count):
            i = sweep[place]
            if p.unit_speed[kind[i]] > 0.0:
                x[i] += push_x[i]
                y[i] += push_y[i]
            push_x[i] = 0.0
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
def begin_sweep(s):
    """All units are sorted from now on; call it once, when all are placed."""
    for i in range(s.x.size):
        s.sweep[i] = i
    s.sweep_count = s.x.size


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
