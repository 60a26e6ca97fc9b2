"""Materials, items, achievements and creatures of the crafting world, and where creatures are.

The land is a flat array of columns with a border: the cell at column x and row y is (x + PAD) * STRIDE + y + PAD.
"""

from rlenvs.core import kernel

SIDE, PAD = 64, 5
STRIDE = SIDE + 2 * PAD
AREA = STRIDE * STRIDE
CHUNK, CHUNKS = 12, 6  # cells along a side of a chunk, chunks along a side of the land
MOST = 384  # creatures, plants and arrows

MATERIALS = ("water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron", "diamond", "table", "furnace")
WATER, GRASS, STONE, PATH, SAND, TREE, LAVA, COAL, IRON, DIAMOND, TABLE, FURNACE = range(1, 13)  # 0 lies outside
THINGS = ("cow", "zombie", "skeleton", "arrow", "plant")
COW, ZOMBIE, SKELETON, ARROW, PLANT = range(1, 6)
FIRST_HEALTH = (0, 3, 5, 3, 0, 1)  # by kind of thing
RIPE = 300  # steps after which a plant is ripe

ITEMS: tuple[str, ...] = ("health", "food", "drink", "energy", "sapling", "wood", "stone", "coal", "iron", "diamond")
ITEMS += ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword")
HEALTH, FOOD, DRINK, ENERGY, I_SAPLING, I_WOOD, I_STONE, I_COAL, I_IRON, I_DIAMOND = range(10)
WOOD_PICKAXE, STONE_PICKAXE, IRON_PICKAXE, WOOD_SWORD, STONE_SWORD, IRON_SWORD = range(10, 16)
FULL = 9  # the most of an item

ACHIEVEMENTS = (
    *("collect_coal", "collect_diamond", "collect_drink", "collect_iron", "collect_sapling", "collect_stone"),
    *("collect_wood", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant", "make_iron_pickaxe"),
    *("make_iron_sword", "make_stone_pickaxe", "make_stone_sword", "make_wood_pickaxe", "make_wood_sword"),
    *("place_furnace", "place_plant", "place_stone", "place_table", "wake_up"),
)
GOT_COAL, GOT_DIAMOND, GOT_DRINK, GOT_IRON, GOT_SAPLING, GOT_STONE, GOT_WOOD = range(7)
BEAT_SKELETON, BEAT_ZOMBIE, ATE_COW, ATE_PLANT = range(7, 11)
MADE_IRON_PICKAXE, MADE_IRON_SWORD, MADE_STONE_PICKAXE, MADE_STONE_SWORD = range(11, 15)
MADE_WOOD_PICKAXE, MADE_WOOD_SWORD, PUT_FURNACE, PUT_PLANT, PUT_STONE, PUT_TABLE, WOKE_UP = range(15, 22)

ACTIONS: tuple[str, ...] = ("noop", "move_left", "move_right", "move_up", "move_down", "do", "sleep")
ACTIONS += ("place_stone", "place_table", "place_furnace", "place_plant", "make_wood_pickaxe", "make_stone_pickaxe")
ACTIONS += ("make_iron_pickaxe", "make_wood_sword", "make_stone_sword", "make_iron_sword")
NOOP, MOVE, DO, SLEEP = 0, 1, 5, 6  # MOVE to MOVE + 3 are the directions
PLACE_STONE, PLACE_TABLE, PLACE_FURNACE, PLACE_PLANT, MAKE = 7, 8, 9, 10, 11  # MAKE to MAKE + 5 are the tools

ACROSS, DOWN = (-1, 1, 0, 0), (0, 0, -1, 1)  # left, right, up, down
STEPS = (-STRIDE, STRIDE, -1, 1)

# what each tool takes: wood, stone, coal, iron; and whether a furnace has to be near, beside the table
TOOL_WOOD, TOOL_STONE = (1, 1, 1, 1, 1, 1), (0, 1, 0, 0, 1, 0)
TOOL_ORE = (0, 0, 1, 0, 0, 1)  # coal, iron and the furnace
TOOL_ACHIEVEMENT = (
    *(MADE_WOOD_PICKAXE, MADE_STONE_PICKAXE, MADE_IRON_PICKAXE),
    *(MADE_WOOD_SWORD, MADE_STONE_SWORD, MADE_IRON_SWORD),
)
TABLE_WOOD, FURNACE_STONE = 2, 4


@kernel
def cell_at(x, y):
    """The cell at a column and a row."""
    return (x + PAD) * STRIDE + y + PAD


@kernel
def is_walkable(material):
    """Whether creatures walk on a material."""
    return material in (GRASS, PATH, SAND)


@kernel
def is_free(s, cell):
    """Whether a creature can go to a cell."""
    return is_walkable(s.material[cell]) and s.occupant[cell] == 0 and cell != s.cell


@kernel
def apart(cell, other):
    """Steps between two cells, along columns and rows."""
    return abs(cell // STRIDE - other // STRIDE) + abs(cell % STRIDE - other % STRIDE)


@kernel
def chunk_of(cell):
    """The number of the chunk in which a cell lies."""
    return ((cell // STRIDE - PAD) // CHUNK) * CHUNKS + (cell % STRIDE - PAD) // CHUNK


@kernel
def add_thing(s, kind, cell):
    """Put a creature, a plant or an arrow on a cell; its number, or -1 where there is no room for more."""
    for k in range(MOST):
        if s.kind[k] == 0:
            s.kind[k], s.at[k] = kind, cell
            s.strength[k], s.timer[k], s.heading[k] = FIRST_HEALTH[kind], 0, 0
            s.born[k] = s.elapsed + 1
            s.occupant[cell] = k + 1
            s.lively[chunk_of(cell)] = 1
            s.things = max(s.things, k + 1)
            return k
    return -1


@kernel
def remove_thing(s, k):
    """Take a creature, a plant or an arrow away."""
    if s.kind[k]:
        s.occupant[s.at[k]] = 0
        s.kind[k] = 0


@kernel
def move_thing(s, k, cell):
    """Put a creature on another cell, where it is free; whether it was."""
    if s.kind[k] == 0 or not is_free(s, cell):
        return False
    s.occupant[s.at[k]] = 0
    s.occupant[cell] = k + 1
    s.at[k] = cell
    s.lively[chunk_of(cell)] = 1
    return True
