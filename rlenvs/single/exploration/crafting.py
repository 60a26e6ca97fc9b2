"""Crafting: survive in an open world with forests, caves and monsters, and unlock 22 achievements.

## Description
A player explores a land of 64 x 64 cells that is generated anew for every episode. It has to drink, eat and sleep,
avoid or fight zombies and skeletons, gather wood, stone, coal, iron and diamonds, and craft tools, each of which
requires others. The rules and numbers are Crafter's (Hafner, "Benchmarking the Spectrum of Agent Capabilities", ICLR
2022; version 1.8.3 with the recipes of its data file). Different: the observation is symbolic, and with `pixels=True`
also an image, drawn with this package's own tiles; two achievements in one step give a reward of 2; actions without
effect are masked; slots of removed creatures are reused, which changes the order in which creatures move; night adds no
noise to the image; tables near the border of the land are detected as everywhere else. Lands are generated as in
Crafter: the same simplex noise, layers and thresholds, but different seeds. `score` of
`rlenvs.single.exploration.crafting_score` is the benchmark's score.

## Action Space
noop, move left, right, up, down (which also turns), do (take, hit, drink, eat what is in front), sleep, place stone,
table (2 wood), furnace (4 stone), plant; make pickaxe and sword of wood (1 wood), stone (1 wood, 1 stone) and iron
(1 wood, 1 coal, 1 iron, beside table and furnace), beside a table. While the player sleeps, every action means "keep
sleeping".

## Observation Space
For each of the 9 x 7 cells around the player, columns from the left, rows from the top: the material (one-hot, 12
numbers; all 0 outside the land), and what is on it (6 numbers: cow, zombie, skeleton, arrow, plant, ripe plant). The 16
items of the inventory, in the order health, food, drink, energy, sapling, wood, stone, coal, iron, diamond, wood, stone
and iron pickaxe, wood, stone and iron sword, each 0 to 9. The direction that the player faces (left, right, up, down),
whether it sleeps, and the daylight. With `pixels=True` a dictionary of these numbers and an image of 64 x 64 pixels.

## Rewards
1 for each achievement when it is unlocked, plus a tenth of the change in health.

## Costs
`damage`: the health lost in a step.

## Starting State
The player in the middle of a new land, on grass, with 9 of health, food, drink and energy.

## Episode End
Termination: no health left. Truncation: 10 000 steps. `is_success`: all 22 achievements are unlocked.

## Parameters
The creatures of each chunk of 12 x 12 cells are rebalanced every 10 steps: zombies appear on grass in the dark,
skeletons on paths in caves.

## Reference Scores
Mean return over seeds 0 to 99. The expert is a scripted survivor that knows the whole land; it does not find all
achievements in every land.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    block,
    cost,
    discrete,
    f8,
    flag,
    i1,
    i2,
    i4,
    image,
    kernel,
    term,
    u1,
    world,
)
from rlenvs.single.exploration.crafting_creatures import balance_chunks, things_move
from rlenvs.single.exploration.crafting_expert import advised
from rlenvs.single.exploration.crafting_render import (
    ICON,
    PLAYER,
    SHOT,
    TILES,
    UNIT,
    draw_land,
    land_text,
    make_tiles,
    paint,
)
from rlenvs.single.exploration.crafting_rules import daylight, does_something, player_acts, player_lives
from rlenvs.single.exploration.crafting_terrain import make_land
from rlenvs.single.exploration.crafting_things import (
    ACHIEVEMENTS,
    ACTIONS,
    AREA,
    ARROW,
    CHUNKS,
    ENERGY,
    FULL,
    HEALTH,
    ITEMS,
    MOST,
    PLANT,
    RIPE,
    SIDE,
    STRIDE,
    cell_at,
)

WIDE, TALL, SCREEN = 9, 7, 64


def sizes(values):
    return {"screen_side": SCREEN if values.pixels else 0, "tiles": TILES, "unit": UNIT}


SPEC = world(
    "Crafting-v0",
    doc=__doc__,
    source="Crafter 1.8.3 (Hafner, ICLR 2022)",
    options={"pixels": flag(False, "whether the observation is a dictionary with an image of 64 x 64 pixels")},
    sizes=sizes,
    data={"tiles": u1("tiles", "unit", "unit", 4)},
    state={
        "cell": i4.index_of(AREA),  # the player's
        "facing": i4.within(0, 3),
        "sleeping": i4,
        "hunger": f8,
        "thirst": f8,
        "fatigue": f8,
        "recover": f8,
        "felt": i4,  # health after the last action, by which it notices blows
        "last_health": i4,  # after the last step
        "items": i4(len(ITEMS)).within(-FULL, FULL),
        "count": i4(len(ACHIEVEMENTS)),
        "unlocked": u1(len(ACHIEVEMENTS)),
        "fresh": u1(len(ACHIEVEMENTS)),  # unlocked in this step
        "things": i4.up_to(MOST),  # numbers of creatures, plants and arrows that are in use are below
        "kind": u1(MOST).within(0, 5),
        "at": i4(MOST).index_of(AREA),
        "strength": i4(MOST),
        "timer": i4(MOST),  # of zombies and skeletons until the next blow, of plants their age
        "heading": i4(MOST).within(0, 3),  # of arrows
        "born": i4(MOST),
        "lively": u1(CHUNKS * CHUNKS),  # chunks in which there was a creature
        "material": u1(AREA).within(0, 12),
        "occupant": i2(AREA).up_to(MOST),  # 1 + number of a creature, plant or arrow
        "tunnel": u1(AREA),
        "tally": i4(CHUNKS * CHUNKS, 4),  # from here on scratch
        "queue": i4(AREA),
        "first": i1(AREA),
    },
    scratch=("queue", "first"),
    expert_sees="state",
    observation={
        "materials": block(WIDE, TALL, 12, low=0.0, high=1.0, raw=True, constant=True, doc="of the cells around"),
        "things": block(WIDE, TALL, 6, low=0.0, high=1.0, raw=True, constant=True, doc="what is on them"),
        "inventory": block(len(ITEMS), low=0.0, high=FULL, whole=True, constant=True, doc="items"),
        "facing": block(4, low=0.0, high=1.0, raw=True, doc="the direction that the player faces"),
        "asleep": block(low=0.0, high=1.0, raw=True, constant=True, doc="1 while the player sleeps"),
        "daylight": block(low=0.0, high=1.0, raw=True, doc="how bright it is"),
    },
    images={"screen": image("screen_side", "screen_side", 3, doc="9 x 7 cells, and the inventory below")},
    action=discrete(*ACTIONS),
    terms={
        **{name: term(0.0, 1.0, 1.0, "1 when it is unlocked") for name in ACHIEVEMENTS},
        "health": term(-0.9, 0.9, 1.0, "a tenth of the change of the health"),
    },
    costs={"damage": cost(20.0, high=9.0, doc="the health that was lost")},
    horizon=10_000,
    fps=8,
)


@SPEC.state_fault
def state_fault(p, s):
    inside = np.zeros(s.material.size, bool)
    for x in range(SIDE):
        inside[cell_at(x, 0) : cell_at(x, SIDE)] = True
    things = s.at[: int(s.things)][s.kind[: int(s.things)] > 0]
    if not inside[s.cell] or not inside[things].all():
        return "something is off the land"
    taken = s.occupant[s.occupant > 0]
    if (taken > s.things).any() or not s.kind[taken - 1].all():
        return "a cell is taken by nothing"
    return "there is land outside" if s.material[~inside].any() else ""


@SPEC.make_data
def data(values):
    return {"tiles": make_tiles()}


@SPEC.reset
def reset(p, s, rng):
    s.cell, s.facing = cell_at(SIDE // 2, SIDE // 2), 3
    for item in range(ENERGY + 1):
        s.items[item] = FULL
    s.felt = s.last_health = FULL
    make_land(s, rng)
    for k in range(s.things):
        s.born[k] = 0


@kernel
def unlock(s):
    """Note the achievements that are new in this step; whether all are unlocked."""
    all_unlocked = True
    for k in range(s.count.size):
        s.fresh[k] = 1 if s.count[k] > 0 and not s.unlocked[k] else 0
        s.unlocked[k] |= s.fresh[k]
        all_unlocked = all_unlocked and s.unlocked[k] != 0
    return all_unlocked


@SPEC.step
def step(p, s, a, rng, r):
    player_acts(s, a, rng)
    player_lives(s)
    things_move(s, rng)
    if (s.elapsed + 1) % 10 == 0:
        balance_chunks(s, daylight(s.elapsed + 1), rng)
    health = s.items[HEALTH]
    r.health = (health - s.last_health) / 10.0
    r.damage = max(s.last_health - health, 0)
    s.last_health = health
    r.success = unlock(s)
    pay(s.fresh, r)
    r.terminated = health <= 0


@kernel
def pay(fresh, r):
    """The terms of the achievements, in their order."""
    r.collect_coal = fresh[0]
    r.collect_diamond = fresh[1]
    r.collect_drink = fresh[2]
    r.collect_iron = fresh[3]
    r.collect_sapling = fresh[4]
    r.collect_stone = fresh[5]
    r.collect_wood = fresh[6]
    r.defeat_skeleton = fresh[7]
    r.defeat_zombie = fresh[8]
    r.eat_cow = fresh[9]
    r.eat_plant = fresh[10]
    r.make_iron_pickaxe = fresh[11]
    r.make_iron_sword = fresh[12]
    r.make_stone_pickaxe = fresh[13]
    r.make_stone_sword = fresh[14]
    r.make_wood_pickaxe = fresh[15]
    r.make_wood_sword = fresh[16]
    r.place_furnace = fresh[17]
    r.place_plant = fresh[18]
    r.place_stone = fresh[19]
    r.place_table = fresh[20]
    r.wake_up = fresh[21]


@SPEC.observe
def observe(p, s, o):
    materials, things = o.materials, o.things
    corner = s.cell - (WIDE // 2) * STRIDE - TALL // 2
    for x in range(WIDE):
        for y in range(TALL):
            cell = corner + x * STRIDE + y
            for j in range(12):
                materials[x, y, j] = 0.0
            for j in range(6):
                things[x, y, j] = 0.0
            if s.material[cell]:
                materials[x, y, s.material[cell] - 1] = 1.0
            if s.occupant[cell]:
                k = s.occupant[cell] - 1
                ripe = s.kind[k] == PLANT and s.timer[k] > RIPE
                things[x, y, s.kind[k] - 1 + int(ripe)] = 1.0
    for j in range(s.items.size):
        o.inventory[j] = s.items[j]
    for j in range(4):
        o.facing[j] = 1.0 if s.facing == j else 0.0
    o.asleep = s.sleeping
    o.daylight = daylight(s.elapsed)


@SPEC.observe_images
def observe_images(p, s, i):
    """The land around the player, darker at night and grey in its sleep; then its items with their numbers."""
    if not p.pixels:
        return
    screen, tiles, light = i.screen, p.tiles, daylight(s.elapsed)
    for row in range(screen.shape[0]):
        for column in range(screen.shape[1]):
            for j in range(3):
                screen[row, column, j] = 0
    corner = s.cell - (WIDE // 2) * STRIDE - TALL // 2
    for x in range(WIDE):
        for y in range(TALL):
            cell = corner + x * STRIDE + y
            paint(screen, tiles, s.material[cell], x, y, light, s.sleeping)
            if cell == s.cell:
                paint(screen, tiles, PLAYER + (4 if s.sleeping else s.facing), x, y, light, s.sleeping)
            elif s.occupant[cell]:
                k = s.occupant[cell] - 1
                tile = 12 + s.kind[k]
                if s.kind[k] == ARROW:
                    tile = SHOT + s.heading[k]
                elif s.kind[k] == PLANT and s.timer[k] > RIPE:
                    tile += 1
                paint(screen, tiles, tile, x, y, light, s.sleeping)
    for k in range(s.items.size):
        if s.items[k] > 0:
            paint(screen, tiles, ICON + k, k % WIDE, TALL + k // WIDE, 1.0, 0)
            paint(screen, tiles, ICON + s.items.size + s.items[k], k % WIDE, TALL + k // WIDE, 1.0, 0)


@SPEC.mask
def mask(p, s, m):
    for action in range(len(ACTIONS)):
        m[action] = 1 if does_something(s, action) else 0


@SPEC.expert
def expert(p, s, a):
    a[0] = advised(s)


@SPEC.draw
def draw(canvas, p, s):
    unlocked = int(np.count_nonzero(s.unlocked))
    state = "asleep" if s.sleeping else "night" if daylight(int(s.elapsed)) < 0.4 else "day"
    canvas.caption(f"achievements {unlocked} of {len(ACHIEVEMENTS)}", state)
    draw_land(canvas, p, s, daylight(int(s.elapsed)))


@SPEC.text
def text(p, s):
    return land_text(s)


@SPEC.keys
def keys(pressed, values):
    keys = ("left", "right", "up", "down", "space", "z", "r", "t", "f", "p", "1", "2", "3", "4", "5", "6")
    return next((action for action, key in enumerate(keys, 1) if key in pressed), 0)
