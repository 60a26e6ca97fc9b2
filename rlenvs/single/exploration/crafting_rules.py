"""What the player of the crafting world can do, and what a step does to it."""

import math

from rlenvs.core import kernel, uniform
from rlenvs.core.declare.maths import cos
from rlenvs.single.exploration.crafting_things import (
    ARROW,
    ATE_COW,
    ATE_PLANT,
    BEAT_SKELETON,
    BEAT_ZOMBIE,
    COAL,
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
    is_walkable,
)

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
