"""The scripted survivor of the crafting world. It knows the whole land, fights creatures that come near, drinks, eats,
sleeps behind stone, and pursues one achievement after the other."""

from rlenvs.core import kernel
from rlenvs.single.exploration.crafting_rules import daylight, is_near, may_collect, may_make, may_place
from rlenvs.single.exploration.crafting_things import (
    AREA,
    ATE_COW,
    ATE_PLANT,
    BEAT_SKELETON,
    BEAT_ZOMBIE,
    COAL,
    COW,
    DIAMOND,
    DO,
    DRINK,
    ENERGY,
    FOOD,
    FURNACE,
    FURNACE_STONE,
    GOT_COAL,
    GOT_DIAMOND,
    GOT_DRINK,
    GOT_IRON,
    GOT_STONE,
    GRASS,
    I_COAL,
    I_IRON,
    I_SAPLING,
    I_STONE,
    I_WOOD,
    IRON,
    MAKE,
    MOVE,
    NOOP,
    PLACE_FURNACE,
    PLACE_PLANT,
    PLACE_STONE,
    PLACE_TABLE,
    PLANT,
    PUT_FURNACE,
    PUT_PLANT,
    PUT_STONE,
    RIPE,
    SKELETON,
    SLEEP,
    STEPS,
    STONE,
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
    ZOMBIE,
    apart,
    is_walkable,
)

MATERIAL, THING, DEN = range(3)  # what a way leads to: a material, a thing, stone that is good for a den
READY, NOWHERE = -1, -2
SMALL = 6  # cells of a den, at most


@kernel
def open_sides(s, cell):
    """How many of the four cells around one can be walked on, and the direction of the last of them."""
    count, last = 0, 0
    for direction in range(4):
        if is_walkable(s.material[cell + STEPS[direction]]):
            count += 1
            last = direction
    return count, last


@kernel
def is_den(s, cell, direction):
    """Whether stone in this direction, and what lies behind it, is closed on all other sides."""
    behind = cell + STEPS[direction]
    if s.material[cell] != STONE or s.material[behind] != STONE:
        return False
    return open_sides(s, cell)[0] <= 1 and open_sides(s, behind)[0] == 0


@kernel
def is_wanted(s, aim, wanted, cell, direction):
    """Whether a cell is what a way leads to."""
    if aim == MATERIAL:
        return s.material[cell] == wanted and s.occupant[cell] == 0 and cell != s.cell
    if aim == THING:
        return s.occupant[cell] != 0 and s.kind[s.occupant[cell] - 1] == wanted
    return is_den(s, cell, direction)


@kernel
def may_cross(s, cell):
    """Whether a way may lead over a cell: what can be walked on, and stone that can be dug; not what is close by."""
    material = s.material[cell]
    if s.occupant[cell] and (apart(cell, s.cell) <= 2 or s.kind[s.occupant[cell] - 1] == PLANT):
        return False
    return is_walkable(material) or (material == STONE and s.items[WOOD_PICKAXE] > 0)


@kernel
def step_towards(s, direction):
    """A move, or a blow at the stone that is in its way."""
    if s.facing == direction and not is_walkable(s.material[s.cell + STEPS[direction]]):
        return DO
    return MOVE + direction


@kernel
def approach(s, aim, wanted):
    """The next action of a shortest way to the nearest wanted cell; READY in front of it, NOWHERE without one."""
    first, queue = s.first, s.queue
    for cell in range(AREA):
        first[cell] = -1
    first[s.cell] = 4
    queue[0] = s.cell
    head, count = 0, 1
    while head < count:
        cell = queue[head]
        head += 1
        for direction in range(4):
            near = cell + STEPS[direction]
            if is_wanted(s, aim, wanted, near, direction):
                if cell != s.cell:
                    return step_towards(s, first[cell])
                return READY if s.facing == direction else MOVE + direction
        for direction in range(4):
            near = cell + STEPS[direction]
            if first[near] < 0 and may_cross(s, near):
                first[near] = direction if cell == s.cell else first[cell]
                queue[count] = near
                count += 1
    return NOWHERE


@kernel
def work(s, aim, wanted):
    """Go there, and hit or take it."""
    found = approach(s, aim, wanted)
    return DO if found == READY else found


# --- a den to sleep in ------------------------------------------------------------------------------------------------


@kernel
def room_around(s, blocked):
    """How many cells the player can walk to without one that is blocked, counted up to a few more than a den has."""
    queue, first = s.queue, s.first
    for cell in range(AREA):
        first[cell] = 0
    first[s.cell] = 1
    queue[0] = s.cell
    head, count = 0, 1
    while head < count and count <= SMALL + 4:
        cell = queue[head]
        head += 1
        for direction in range(4):
            near = cell + STEPS[direction]
            if first[near] == 0 and near != blocked and is_walkable(s.material[near]):
                first[near] = 1
                queue[count] = near
                count += 1
    return count


@kernel
def shelter(s):
    """Dig two cells into stone, turn round, close the entrance, sleep."""
    front = s.cell + STEPS[s.facing]
    if room_around(s, -1) <= SMALL:
        return SLEEP
    if is_walkable(s.material[front]) and may_place(s, PLACE_STONE, front) and room_around(s, front) <= SMALL:
        return PLACE_STONE
    if s.items[I_STONE] < 1:
        return work(s, MATERIAL, STONE)
    sides, way = open_sides(s, s.cell)
    if is_walkable(s.material[front]) and s.occupant[front] == 0 and open_sides(s, front)[0] == 1:
        return MOVE + s.facing  # into what was dug
    if sides == 1:
        if open_sides(s, s.cell + STEPS[way])[0] == 2:
            return MOVE + way
        return step_towards(s, way ^ 1)
    return work(s, DEN, 0)


# --- one achievement after the other ----------------------------------------------------------------------------------


@kernel
def put_down(s, action):
    """Place something in front, or go to where it can be placed."""
    if may_place(s, action, s.cell + STEPS[s.facing]):
        return action
    for direction in range(4):
        near = s.cell + STEPS[direction]
        if is_walkable(s.material[near]) and s.occupant[near] == 0:
            beyond = near + STEPS[direction]
            if is_walkable(s.material[beyond]) and s.occupant[beyond] == 0:
                if action == PLACE_FURNACE and not is_near_at(s, near, TABLE):
                    continue
                return MOVE + direction
    return approach(s, MATERIAL, GRASS) if action != PLACE_FURNACE else NOWHERE


@kernel
def is_near_at(s, cell, material):
    """Whether one of the cells beside one is of a material, corners too."""
    here = s.cell
    s.cell = cell
    found = is_near(s, material)
    s.cell = here
    return found


@kernel
def tool(s, number):
    """Get together what a tool takes, have a table and perhaps a furnace close by, make it."""
    if may_make(s, number):
        return MAKE + number
    items, ore = s.items, TOOL_ORE[number]
    has_table, has_furnace = is_near(s, TABLE), ore == 0 or is_near(s, FURNACE)
    if items[I_COAL] < ore:
        return work(s, MATERIAL, COAL)
    if items[I_IRON] < ore:
        return work(s, MATERIAL, IRON)
    stone = TOOL_STONE[number] + (0 if has_furnace else FURNACE_STONE)
    if items[I_STONE] < stone:
        return work(s, MATERIAL, STONE)
    if items[I_WOOD] < TOOL_WOOD[number] + (0 if has_table else TABLE_WOOD + 1):
        return work(s, MATERIAL, TREE)
    if not has_table:
        return put_down(s, PLACE_TABLE)
    found = put_down(s, PLACE_FURNACE)
    return found if found >= 0 else work(s, MATERIAL, TREE)


@kernel
def plant_care(s):
    """Eat a plant when it is ripe, and wait beside it until then; without one, plant one."""
    if s.items[I_SAPLING]:
        return tend(s)
    found = approach(s, THING, PLANT)
    if found == READY:
        k = s.occupant[s.cell + STEPS[s.facing]] - 1
        return DO if s.timer[k] > RIPE else NOOP
    return found if found >= 0 else work(s, MATERIAL, GRASS)


@kernel
def tend(s):
    """Plant a sapling."""
    found = approach(s, MATERIAL, GRASS)
    return PLACE_PLANT if found == READY else found


@kernel
def next_goal(s):
    """An action for the next achievement that can be had now."""
    count, items, found = s.count, s.items, NOWHERE
    if count[PUT_PLANT] == 0:
        found = tend(s) if items[I_SAPLING] else work(s, MATERIAL, GRASS)
    if found < 0 and count[GOT_DRINK] == 0:
        found = work(s, MATERIAL, WATER)
    for number in (0, 3):
        if found < 0 and count[TOOL_ACHIEVEMENT[number]] == 0:
            found = tool(s, number)
    if found < 0 and count[ATE_COW] == 0:
        found = work(s, THING, COW)
    if found < 0 and (count[GOT_STONE] == 0 or (items[I_STONE] < 5 and count[PUT_FURNACE] == 0)):
        found = work(s, MATERIAL, STONE)
    if found < 0 and count[PUT_STONE] == 0 and may_place(s, PLACE_STONE, s.cell + STEPS[s.facing]):
        found = PLACE_STONE
    for number in (1, 4):
        if found < 0 and count[TOOL_ACHIEVEMENT[number]] == 0:
            found = tool(s, number)
    if found < 0 and count[PUT_FURNACE] == 0:
        found = put_down(s, PLACE_FURNACE)
    if found < 0 and count[GOT_COAL] == 0:
        found = work(s, MATERIAL, COAL)
    if found < 0 and count[GOT_IRON] == 0:
        found = work(s, MATERIAL, IRON)
    for number in (2, 5):
        if found < 0 and count[TOOL_ACHIEVEMENT[number]] == 0:
            found = tool(s, number)
    if found < 0 and count[GOT_DIAMOND] == 0:
        found = work(s, MATERIAL, DIAMOND)
    if found < 0 and count[BEAT_ZOMBIE] == 0:
        found = work(s, THING, ZOMBIE)
    if found < 0 and count[BEAT_SKELETON] == 0:
        found = work(s, THING, SKELETON)
    if found < 0 and count[ATE_PLANT] == 0:
        found = plant_care(s)
    return found if found >= 0 else NOOP


@kernel
def advised(s):
    """The survivor's action."""
    if s.sleeping:
        return NOOP
    for direction in range(4):
        other = s.occupant[s.cell + STEPS[direction]]
        if other and ZOMBIE <= s.kind[other - 1] <= SKELETON:
            return DO if s.facing == direction else MOVE + direction
    items, found = s.items, NOWHERE
    if items[DRINK] <= 3:
        found = work(s, MATERIAL, WATER)
    if found < 0 and items[FOOD] <= 3:
        found = work(s, THING, COW)
    tired = items[ENERGY] <= 3 or (items[ENERGY] < 7 and daylight(s.elapsed) < 0.4)
    if found < 0 and items[WOOD_PICKAXE] and (tired or (s.count[WOKE_UP] == 0 and items[ENERGY] < 5)):
        found = shelter(s)
    if found < 0 and items[ENERGY] <= 1:
        found = SLEEP
    if found < 0:
        found = next_goal(s)
    front = s.cell + STEPS[s.facing]
    if found == DO and not may_collect(s, s.material[front]) and s.occupant[front] == 0:
        return NOOP
    return found
