"""Creatures, arrows and plants of the crafting world: what each does in a step, and how many come and go."""

from rlenvs.core import below, kernel, uniform
from rlenvs.single.exploration.crafting_things import (
    ARROW,
    CHUNK,
    CHUNKS,
    COW,
    FURNACE,
    GRASS,
    HEALTH,
    LAVA,
    PATH,
    SIDE,
    SKELETON,
    STEPS,
    STRIDE,
    TABLE,
    WATER,
    ZOMBIE,
    add_thing,
    apart,
    cell_at,
    chunk_of,
    is_walkable,
    move_thing,
    remove_thing,
)

NEAR = 18  # steps from the player within which creatures move


# --- creatures --------------------------------------------------------------------------------------------------------


@kernel
def toward(cell, target, long_axis):
    """The direction from one cell to another along the longer axis, or the shorter; -1 where there is none to go."""
    across, down = target // STRIDE - cell // STRIDE, target % STRIDE - cell % STRIDE
    along_x = abs(across) > abs(down) if long_axis else abs(across) <= abs(down)
    if along_x:
        return -1 if across == 0 else (1 if across > 0 else 0)
    return -1 if down == 0 else (3 if down > 0 else 2)


@kernel
def go(s, k, direction):
    """Move a creature; whether it could."""
    return direction >= 0 and move_thing(s, k, s.at[k] + STEPS[direction])


@kernel
def cow_moves(s, k, rng):
    """A cow strolls."""
    if s.strength[k] <= 0:
        remove_thing(s, k)
    if uniform(rng, 0.0, 1.0) < 0.5:
        go(s, k, below(rng, 4))


@kernel
def zombie_moves(s, k, rng):
    """A zombie comes, and hits who is beside it; harder who sleeps."""
    if s.strength[k] <= 0:
        remove_thing(s, k)
    if apart(s.at[k], s.cell) <= 8 and uniform(rng, 0.0, 1.0) < 0.9:
        go(s, k, toward(s.at[k], s.cell, uniform(rng, 0.0, 1.0) < 0.8))
    else:
        go(s, k, below(rng, 4))
    if apart(s.at[k], s.cell) <= 1:
        if s.timer[k]:
            s.timer[k] -= 1
        else:
            s.items[HEALTH] = max(s.items[HEALTH] - (7 if s.sleeping else 2), 0)
            s.timer[k] = 5


@kernel
def skeleton_moves(s, k, rng):
    """A skeleton keeps its distance, and shoots."""
    if s.strength[k] <= 0:
        remove_thing(s, k)
    s.timer[k] = max(s.timer[k] - 1, 0)
    far = apart(s.at[k], s.cell)
    if far <= 3:
        direction = toward(s.at[k], s.cell, uniform(rng, 0.0, 1.0) < 0.6)
        if direction >= 0 and go(s, k, direction ^ 1):
            return
    if far <= 5 and uniform(rng, 0.0, 1.0) < 0.5:
        direction = toward(s.at[k], s.cell, True)
        if s.timer[k] == 0 and direction >= 0:
            cell = s.at[k] + STEPS[direction]
            if arrow_may_fly(s, cell) and s.occupant[cell] == 0 and cell != s.cell:
                shot = add_thing(s, ARROW, cell)
                if shot >= 0:
                    s.heading[shot] = direction
                    s.timer[k] = 4
    elif far <= 8 and uniform(rng, 0.0, 1.0) < 0.3:
        go(s, k, toward(s.at[k], s.cell, uniform(rng, 0.0, 1.0) < 0.6))
    elif uniform(rng, 0.0, 1.0) < 0.2:
        go(s, k, below(rng, 4))


@kernel
def arrow_may_fly(s, cell):
    """Whether an arrow can be over a cell."""
    material = s.material[cell]
    return is_walkable(material) or material in (WATER, LAVA)


@kernel
def arrow_moves(s, k):
    """An arrow flies on, takes 2 of what it hits, and breaks tables and furnaces."""
    to = s.at[k] + STEPS[s.heading[k]]
    if to == s.cell:
        s.items[HEALTH] = max(s.items[HEALTH] - 2, 0)
        remove_thing(s, k)
    elif s.occupant[to]:
        hit = s.occupant[to] - 1
        s.strength[hit] = max(s.strength[hit] - 2, 0)
        remove_thing(s, k)
    elif not arrow_may_fly(s, to):
        remove_thing(s, k)
        if s.material[to] in (TABLE, FURNACE):
            s.material[to] = PATH
    else:
        s.occupant[s.at[k]] = 0
        s.occupant[to] = k + 1
        s.at[k] = to
        s.lively[chunk_of(to)] = 1


@kernel
def plant_grows(s, k):
    """A plant grows, unless creatures beside it eat it."""
    s.timer[k] += 1
    eaten = False
    for direction in range(4):
        other = s.occupant[s.at[k] + STEPS[direction]]
        if other and s.kind[other - 1] in (COW, ZOMBIE, SKELETON):
            eaten = True
    if eaten:
        s.strength[k] = max(s.strength[k] - 1, 0)
    if s.strength[k] <= 0:
        remove_thing(s, k)


@kernel
def things_move(s, rng):
    """All creatures, plants and arrows near the player, but for those that have come in this step."""
    for k in range(s.things):
        kind = s.kind[k]
        if kind == 0:
            continue
        if s.born[k] == s.elapsed + 1 or apart(s.at[k], s.cell) >= NEAR:
            continue
        if kind == COW:
            cow_moves(s, k, rng)
        elif kind == ZOMBIE:
            zombie_moves(s, k, rng)
        elif kind == SKELETON:
            skeleton_moves(s, k, rng)
        elif kind == ARROW:
            arrow_moves(s, k)
        else:
            plant_grows(s, k)


# --- balance ----------------------------------------------------------------------------------------------------------


@kernel
def nth_cell(s, chunk, material, wanted):
    """How many cells of a chunk are of a material; or, for a `wanted` number from 0 on, that one of them."""
    left, top = (chunk // CHUNKS) * CHUNK, (chunk % CHUNKS) * CHUNK
    count = 0
    for x in range(left, min(left + CHUNK, SIDE)):
        first = cell_at(x, top)
        for cell in range(first, first + min(CHUNK, SIDE - top)):
            if s.material[cell] == material:
                if count == wanted:
                    return cell
                count += 1
    return count


@kernel
def nth_thing(s, chunk, kind, wanted):
    """How many creatures of a kind are in a chunk; or, for a `wanted` number from 0 on, that one of them."""
    count = 0
    for k in range(s.things):
        if s.kind[k] == kind and chunk_of(s.at[k]) == chunk:
            if count == wanted:
                return k
            count += 1
    return count


@kernel
def balance(s, chunk, kind, count, space, fewest, most, rng):
    """Let a creature come where there are too few, and one go where there are too many, now and then."""
    material = PATH if kind == SKELETON else GRASS
    comes = 0.3 if kind == ZOMBIE else (0.1 if kind == SKELETON else 0.01)
    goes = 0.4 if kind == ZOMBIE else 0.1
    away = 6 if kind == ZOMBIE else (7 if kind == SKELETON else 5)
    if count < fewest and uniform(rng, 0.0, 1.0) < comes:
        cell = nth_cell(s, chunk, material, below(rng, space))
        if s.occupant[cell] == 0 and apart(cell, s.cell) >= away:
            add_thing(s, kind, cell)
    elif count > most and uniform(rng, 0.0, 1.0) < goes:
        k = nth_thing(s, chunk, kind, below(rng, count))
        if kind == ZOMBIE or apart(s.at[k], s.cell) >= away:
            remove_thing(s, k)


@kernel
def balance_chunks(s, light, rng):
    """Zombies, skeletons and cows of all chunks in which there ever was a creature."""
    for chunk in range(CHUNKS * CHUNKS):
        for kind in range(1, 4):
            s.tally[chunk, kind] = 0
    for k in range(s.things):
        if COW <= s.kind[k] <= SKELETON:
            s.tally[chunk_of(s.at[k]), s.kind[k]] += 1
    for chunk in range(CHUNKS * CHUNKS):
        if s.lively[chunk] == 0:
            continue
        grass, path = nth_cell(s, chunk, GRASS, -1), nth_cell(s, chunk, PATH, -1)
        dark = int(3.5 - 3.0 * light)
        balance(s, chunk, ZOMBIE, s.tally[chunk, ZOMBIE], grass, dark if grass >= 50 else 0, dark, rng)
        balance(s, chunk, SKELETON, s.tally[chunk, SKELETON], path, 1 if path >= 6 else 0, 2, rng)
        balance(s, chunk, COW, s.tally[chunk, COW], grass, 1 if grass >= 30 else 0, int(1.5 + light), rng)
