"""What happens in a step of the crafting world: the player acts and lives, creatures move, chunks are balanced."""

import math

from rlenvs.core import below, kernel, uniform
from rlenvs.core.declare.maths import cos
from rlenvs.single.exploration.crafting_things import (
    ARROW,
    ATE_COW,
    ATE_PLANT,
    BEAT_SKELETON,
    BEAT_ZOMBIE,
    CHUNK,
    CHUNKS,
    COAL,
    COW,
    DIAMOND,
    DO,
    DRINK,
    ENERGY,
    FOOD,
    FULL,
    FURNACE,
    FURNACE_STONE,
    GOT_COAL,
    GOT_DIAMOND,
    GOT_DRINK,
    GOT_IRON,
    GOT_SAPLING,
    GOT_STONE,
    GOT_WOOD,
    GRASS,
    HEALTH,
    I_COAL,
    I_DIAMOND,
    I_IRON,
    I_SAPLING,
    I_STONE,
    I_WOOD,
    IRON,
    IRON_PICKAXE,
    IRON_SWORD,
    LAVA,
    MAKE,
    MOVE,
    PATH,
    PLACE_FURNACE,
    PLACE_PLANT,
    PLACE_STONE,
    PLACE_TABLE,
    PLANT,
    PUT_FURNACE,
    PUT_PLANT,
    PUT_STONE,
    PUT_TABLE,
    RIPE,
    SIDE,
    SKELETON,
    SLEEP,
    STEPS,
    STONE,
    STONE_PICKAXE,
    STONE_SWORD,
    STRIDE,
    TABLE,
    TABLE_WOOD,
    TOOL_ACHIEVEMENT,
    TOOL_ORE,
    TOOL_STONE,
    TOOL_WOOD,
    TREE,
    WATER,
    WOKE_UP,
    WOOD_PICKAXE,
    WOOD_SWORD,
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
DAY = 300  # steps


@kernel
def daylight(steps):
    """How bright it is, 0 to 1, after some steps of an episode."""
    turn = (steps % DAY) / DAY + 0.3
    dark = abs(cos(math.pi * turn))
    return 1.0 - dark * dark * dark


# --- the player -------------------------------------------------------------------------------------------------------


@kernel
def gain(s, achievement):
    """Note an achievement."""
    s.count[achievement] += 1


@kernel
def may_collect(s, material):
    """Whether the player has what it takes to collect a material."""
    item = s.items
    if material in (STONE, COAL):
        return item[WOOD_PICKAXE] > 0
    if material == IRON:
        return item[STONE_PICKAXE] > 0
    if material == DIAMOND:
        return item[IRON_PICKAXE] > 0
    return material in (TREE, WATER, GRASS)


@kernel
def collect(s, cell, rng):
    """Take what a cell holds: trees leave grass, minerals a path, water stays, grass has a sapling now and then."""
    material = s.material[cell]
    if material == WATER:
        s.thirst = 0.0
    if not may_collect(s, material):
        return
    if material == WATER:
        s.items[DRINK] += 1
        gain(s, GOT_DRINK)
    elif material == GRASS:
        if uniform(rng, 0.0, 1.0) <= 0.1:
            s.items[I_SAPLING] += 1
            gain(s, GOT_SAPLING)
    elif material == TREE:
        s.material[cell] = GRASS
        s.items[I_WOOD] += 1
        gain(s, GOT_WOOD)
    else:
        s.material[cell] = PATH
        if material == STONE:
            s.items[I_STONE] += 1
            gain(s, GOT_STONE)
        elif material == COAL:
            s.items[I_COAL] += 1
            gain(s, GOT_COAL)
        elif material == IRON:
            s.items[I_IRON] += 1
            gain(s, GOT_IRON)
        else:
            s.items[I_DIAMOND] += 1
            gain(s, GOT_DIAMOND)


@kernel
def damage_of(s):
    """What a blow of the player takes."""
    if s.items[IRON_SWORD]:
        return 5
    if s.items[STONE_SWORD]:
        return 3
    return 2 if s.items[WOOD_SWORD] else 1


@kernel
def strike(s, k):
    """The player hits a creature, or eats a plant that is ripe."""
    kind = s.kind[k]
    if kind == PLANT:
        if s.timer[k] > RIPE:
            s.timer[k] = 0
            s.items[FOOD] += 4
            gain(s, ATE_PLANT)
        return
    if kind == ARROW:
        return
    s.strength[k] = max(s.strength[k] - damage_of(s), 0)
    if s.strength[k] > 0:
        return
    if kind == ZOMBIE:
        gain(s, BEAT_ZOMBIE)
    elif kind == SKELETON:
        gain(s, BEAT_SKELETON)
    else:
        s.items[FOOD] += 6
        s.hunger = 0.0
        gain(s, ATE_COW)


@kernel
def may_place(s, action, cell):
    """Whether the player can place what an action says on a cell."""
    material, item = s.material[cell], s.items
    if s.occupant[cell] or cell == s.cell:
        return False
    if action == PLACE_STONE:
        return item[I_STONE] >= 1 and (is_walkable(material) or material in (WATER, LAVA))
    if action == PLACE_TABLE:
        return item[I_WOOD] >= TABLE_WOOD and is_walkable(material)
    if action == PLACE_FURNACE:
        return item[I_STONE] >= FURNACE_STONE and is_walkable(material)
    return item[I_SAPLING] >= 1 and material == GRASS


@kernel
def place(s, action, cell):
    """Place stone, a table, a furnace or a plant."""
    if not may_place(s, action, cell):
        return
    if action == PLACE_STONE:
        s.items[I_STONE] -= 1
        s.material[cell] = STONE
        gain(s, PUT_STONE)
    elif action == PLACE_TABLE:
        s.items[I_WOOD] -= TABLE_WOOD
        s.material[cell] = TABLE
        gain(s, PUT_TABLE)
    elif action == PLACE_FURNACE:
        s.items[I_STONE] -= FURNACE_STONE
        s.material[cell] = FURNACE
        gain(s, PUT_FURNACE)
    elif add_thing(s, PLANT, cell) >= 0:
        s.items[I_SAPLING] -= 1
        gain(s, PUT_PLANT)


@kernel
def is_near(s, material):
    """Whether one of the nine cells at and around the player is of a material."""
    for column in range(-1, 2):
        for row in range(-1, 2):
            if s.material[s.cell + column * STRIDE + row] == material:
                return True
    return False


@kernel
def may_make(s, tool):
    """Whether the player has the means for a tool, and a table, perhaps a furnace, close by."""
    item = s.items
    if item[I_WOOD] < TOOL_WOOD[tool] or item[I_STONE] < TOOL_STONE[tool]:
        return False
    if item[I_COAL] < TOOL_ORE[tool] or item[I_IRON] < TOOL_ORE[tool]:
        return False
    return is_near(s, TABLE) and (TOOL_ORE[tool] == 0 or is_near(s, FURNACE))


@kernel
def make_tool(s, tool):
    """Make a pickaxe or a sword."""
    if not may_make(s, tool):
        return
    s.items[I_WOOD] -= TOOL_WOOD[tool]
    s.items[I_STONE] -= TOOL_STONE[tool]
    s.items[I_COAL] -= TOOL_ORE[tool]
    s.items[I_IRON] -= TOOL_ORE[tool]
    s.items[WOOD_PICKAXE + tool] += 1
    gain(s, TOOL_ACHIEVEMENT[tool])


@kernel
def may_step(s, cell):
    """Whether the player can go to a cell; into lava, too."""
    return s.occupant[cell] == 0 and (is_walkable(s.material[cell]) or s.material[cell] == LAVA)


@kernel
def player_acts(s, action, rng):
    """The player's action; asleep, it sleeps on until its energy is full."""
    front = s.cell + STEPS[s.facing]
    if s.sleeping:
        if s.items[ENERGY] < FULL:
            action = SLEEP
        else:
            s.sleeping = 0
            gain(s, WOKE_UP)
    if MOVE <= action < DO:
        s.facing = action - MOVE
        to = s.cell + STEPS[s.facing]
        if may_step(s, to):
            s.cell = to
            if s.material[to] == LAVA:
                s.items[HEALTH] = 0
    elif action == DO:
        if s.occupant[front]:
            strike(s, s.occupant[front] - 1)
        else:
            collect(s, front, rng)
    elif action == SLEEP:
        if s.items[ENERGY] < FULL:
            s.sleeping = 1
    elif PLACE_STONE <= action <= PLACE_PLANT:
        place(s, action, front)
    elif action >= MAKE:
        make_tool(s, action - MAKE)


@kernel
def player_lives(s):
    """Hunger, thirst, weariness, and what they do to the health."""
    item, pace = s.items, 0.5 if s.sleeping else 1.0
    s.hunger += pace
    if s.hunger > 25.0:
        s.hunger = 0.0
        item[FOOD] -= 1
    s.thirst += pace
    if s.thirst > 20.0:
        s.thirst = 0.0
        item[DRINK] -= 1
    s.fatigue = min(s.fatigue - 1.0, 0.0) if s.sleeping else s.fatigue + 1.0
    if s.fatigue < -10.0:
        s.fatigue = 0.0
        item[ENERGY] += 1
    if s.fatigue > 30.0:
        s.fatigue = 0.0
        item[ENERGY] -= 1
    if item[FOOD] > 0 and item[DRINK] > 0 and (item[ENERGY] > 0 or s.sleeping):
        s.recover += 2.0 if s.sleeping else 1.0
    else:
        s.recover -= 0.5 if s.sleeping else 1.0
    if s.recover > 25.0:
        s.recover = 0.0
        item[HEALTH] += 1
    if s.recover < -15.0:
        s.recover = 0.0
        item[HEALTH] = max(item[HEALTH] - 1, 0)
    for k in range(item.size):
        item[k] = min(max(item[k], 0), FULL)
    if item[HEALTH] < s.felt:
        s.sleeping = 0
    s.felt = item[HEALTH]


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


# --- what an action can do --------------------------------------------------------------------------------------------


@kernel
def does_something(s, action):
    """Whether an action can have an effect."""
    front = s.cell + STEPS[s.facing]
    if action == 0:
        return True
    if s.sleeping and s.items[ENERGY] < FULL:
        return False
    if action < DO:
        return s.facing != action - MOVE or may_step(s, s.cell + STEPS[action - MOVE])
    if action == DO:
        if s.occupant[front]:
            k = s.occupant[front] - 1
            return s.kind[k] != ARROW and (s.kind[k] != PLANT or s.timer[k] > RIPE)
        return may_collect(s, s.material[front])
    if action == SLEEP:
        return s.items[ENERGY] < FULL
    if action < MAKE:
        return may_place(s, action, front)
    return may_make(s, action - MAKE)
