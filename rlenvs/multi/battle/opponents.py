"""Scripted players: "kiting", ours; "plain", SMAX's heuristic; "random". Each chooses for one unit."""

import math

from rlenvs.core import below, kernel
from rlenvs.multi.battle.combat import squared_distance, weapon_reach
from rlenvs.multi.battle.orders import (
    comrade_of,
    comrades_of,
    foe_of,
    foes_of,
    healable,
    in_reach,
    legal,
    legal_foe,
    legal_target,
)

KITING, PLAIN, RANDOM = range(3)  # the players, by number
FAR = 1e9
DETOUR = 10.0  # attacks that a map unit of walking to a target is worth
MARGIN = 0.5  # how much further away than the next step's reach of an enemy a unit keeps


@kernel
def move_towards(p, dx, dy):
    """The move that is most aligned with a direction."""
    best = 0
    for move in range(1, 4):
        if p.step_x[move] * dx + p.step_y[move] * dy > p.step_x[best] * dx + p.step_y[best] * dy:
            best = move
    return p.first_move + best


@kernel
def cross_the_map(p, s, i):
    """A move to the point opposite of the unit's start, through the centre of the map."""
    return move_towards(p, p.width - s.start_x[i] - s.x[i], p.height - s.start_y[i] - s.y[i])


@kernel
def sees(p, s, i, j):
    """Whether unit i sees the standing unit j."""
    sight = p.unit_sight[s.kind[i]]
    return s.standing[j] and squared_distance(s, i, j) < sight * sight


@kernel
def heal_somebody(p, s, i):
    """A healer's choice: the closest hurt unit in reach; else a move to the closest, the hurt first."""
    best, hurt, closest, distance = -1, False, -1, FAR
    for slot in range(comrades_of(p, i)):
        j = comrade_of(p, i, slot)
        if not healable(p, s, i, j):
            continue
        needs = s.health[j] < p.unit_health[s.kind[j]]
        away = squared_distance(s, i, j)
        if (needs and not hurt) or (needs == hurt and away < distance):
            closest, distance, hurt = j, away, needs
            best = slot if needs and in_reach(p, s, i, j) else -1
    if best >= 0:
        return p.first_target + best
    if closest < 0 or distance < p.unit_range[s.kind[i]]:
        return p.stop
    return move_towards(p, s.x[closest] - s.x[i], s.y[closest] - s.y[i])


@kernel
def plain(p, s, i, rng):
    """SMAX's heuristic: attacks whom it attacked last while that is legal, else the closest; walks towards a random
    enemy that it sees, else across the map. It never steps back and does not look at its cooldown."""
    if p.unit_heals[s.kind[i]] > 0.0:
        return heal_somebody(p, s, i)
    last = s.last_choice[i] - p.first_target
    if last >= 0 and legal_target(p, s, i, last):
        return s.last_choice[i]
    x, y, standing, kind, count = s.x, s.y, s.standing, s.kind, foes_of(p, i)
    here_x, here_y, sight, reach = x[i], y[i], p.unit_sight[kind[i]], p.unit_reach[kind[i]]
    best, closest, seen = -1, reach * reach, 0
    for slot in range(count):
        j = foe_of(p, i, slot)
        dx = x[j] - here_x
        dy = y[j] - here_y
        away = dx * dx + dy * dy
        if away < sight * sight and standing[j]:
            seen += 1
            if away < closest and p.unit_hits_it[kind[i], kind[j]]:
                best, closest = slot, away
    if best >= 0:
        return p.first_target + best
    if seen > 0:
        left = below(rng, seen)
        for slot in range(count):
            foe = foe_of(p, i, slot)
            if sees(p, s, i, foe):
                if left == 0:
                    return move_towards(p, s.x[foe] - s.x[i], s.y[foe] - s.y[i])
                left -= 1
    return cross_the_map(p, s, i)


@kernel
def comrades_before(p, s, i):
    """How many standing units of the own side with a loaded weapon come before unit i."""
    first = 0 if i < p.allies else p.allies
    count = 0
    for j in range(first, i):
        count += s.standing[j] and loaded(p, s, j) and p.unit_heals[s.kind[j]] == 0.0
    return count


@kernel
def loaded(p, s, i):
    """Whether unit i can attack in the first half of this step."""
    return s.cooldown[i] <= 0.5 * p.tick * p.ticks


@kernel
def toughness(p, s, i, j):
    """The attacks of unit i's kind that unit j can take."""
    return (s.health[j] + s.shield[j]) / (p.unit_damage[s.kind[i], s.kind[j]] * p.unit_hits[s.kind[i]])


@kernel
def shared_target(p, s, i):
    """The weakest legal target that comrades of lower numbers leave to unit i, so that nobody shoots the dead; -1 where
    there is no target."""
    rank = comrades_before(p, s, i)
    chosen, last = -1, -1.0
    for _ in range(foes_of(p, i)):
        best, least = -1, FAR
        for slot in range(foes_of(p, i)):
            j = foe_of(p, i, slot)
            if legal_foe(p, s, i, j):
                walk = max(math.sqrt(squared_distance(s, i, j)) - weapon_reach(p, s, i, j), 0.0)
                # ties go to the lowest slot, and no target comes twice
                value = toughness(p, s, i, j) + DETOUR * walk + 1e-6 * slot
                if value > last and value < least:
                    best, least = slot, value
        if best < 0:
            break
        chosen, last = best, least
        needed = int(toughness(p, s, i, foe_of(p, i, best)) + 0.999)
        if rank < needed:
            break
        rank -= needed
    return chosen


@kernel
def kiting(p, s, i, rng):
    """Ours: units share out the weakest enemies in reach, and while their weapons reload
    those that outrange and outrun the nearest enemy step back."""
    if p.unit_heals[s.kind[i]] > 0.0:
        return heal_somebody(p, s, i)
    nearest, distance = -1, FAR
    for slot in range(foes_of(p, i)):
        j = foe_of(p, i, slot)
        if sees(p, s, i, j):
            away = squared_distance(s, i, j)
            if away < distance:
                nearest, distance = j, away
    if nearest < 0:
        return cross_the_map(p, s, i)
    dx = s.x[nearest] - s.x[i]
    dy = s.y[nearest] - s.y[i]
    slot = shared_target(p, s, i)
    if slot >= 0 and loaded(p, s, i):
        return p.first_target + slot
    kind, theirs = s.kind[i], s.kind[nearest]
    outruns = p.unit_range[kind] > p.unit_range[theirs] + 1.0 and p.unit_speed[kind] >= p.unit_speed[theirs]
    danger = weapon_reach(p, s, nearest, i) + p.unit_speed[theirs] * p.tick * p.ticks + MARGIN
    if outruns and distance < danger * danger:
        return step_back(p, s, i, dx, dy)
    if slot >= 0:
        return p.first_target + slot
    return move_towards(p, dx, dy)


@kernel
def step_back(p, s, i, dx, dy):
    """A move away from a direction that keeps off the border of the map."""
    margin = 1.0 + p.unit_radius[s.kind[i]]
    best, most = 0, -FAR
    step = p.unit_speed[s.kind[i]] * p.tick * p.ticks
    for move in range(4):
        x = s.x[i] + p.step_x[move] * step
        y = s.y[i] + p.step_y[move] * step
        gain = -(p.step_x[move] * dx + p.step_y[move] * dy)
        if x < margin or y < margin or x > p.width - margin or y > p.height - margin:
            gain -= 100.0
        if gain > most:
            best, most = move, gain
    return p.first_move + best


@kernel
def any_legal(p, s, i, rng):
    """One of the legal choices."""
    last = p.first_target + max(p.allies, p.enemies)
    count = 0
    for choice in range(last):
        count += legal(p, s, i, choice)
    left = below(rng, count)
    for choice in range(last):
        if legal(p, s, i, choice):
            if left == 0:
                return choice
            left -= 1
    return p.stop


@kernel
def choose(p, s, i, player, rng):
    """What one of the players chooses for unit i."""
    if not s.standing[i]:
        return p.idle
    if player == KITING:
        return kiting(p, s, i, rng)
    if player == PLAIN:
        return plain(p, s, i, rng)
    return any_legal(p, s, i, rng)
