"""The land of the crafting world: noise, what grows and lies where, and the first creatures."""

import math

from rlenvs.core import below, kernel, uniform
from rlenvs.core.maths import exp
from rlenvs.single.exploration.crafting_things import (
    COAL,
    COW,
    DIAMOND,
    GRASS,
    IRON,
    LAVA,
    PATH,
    SAND,
    SIDE,
    SKELETON,
    STONE,
    TREE,
    WATER,
    ZOMBIE,
    add_thing,
    cell_at,
    is_walkable,
)
from rlenvs.single.exploration.noise import MASK, noise


@kernel
def ground_at(x, y, seed, rng):
    """The material of a cell, and whether it is a tunnel, in which skeletons live."""
    middle = SIDE // 2
    start = 4.0 - math.sqrt((x - middle) ** 2 + (y - middle) ** 2) + 2.0 * noise(x / 3.0, y / 3.0, 8, seed)
    start = 1.0 / (1.0 + exp(-start))
    water = noise(x / 15.0, y / 15.0, 3, seed) + 0.15 * noise(x / 5.0, y / 5.0, 9, seed) + 0.1 - 2.0 * start
    mountain = (noise(x / 15.0, y / 15.0, 0, seed) + 0.3 * noise(x / 5.0, y / 5.0, 10, seed)) / 1.3
    mountain -= 4.0 * start + 0.3 * water
    if start > 0.5:
        return GRASS, 0
    if mountain > 0.15:
        if mountain > 0.3 and noise(x / 7.0, y / 7.0, 6, seed) > 0.15:
            return PATH, 0  # a cave
        if noise(2.0 * x / 3.0, y / 15.0, 7, seed) > 0.4 or noise(x / 15.0, 2.0 * y / 3.0, 11, seed) > 0.4:
            return PATH, 1
        if noise(x / 8.0, y / 8.0, 1, seed) > 0.0 and uniform(rng, 0.0, 1.0) > 0.85:
            return COAL, 0
        if noise(x / 6.0, y / 6.0, 2, seed) > 0.4 and uniform(rng, 0.0, 1.0) > 0.75:
            return IRON, 0
        if mountain > 0.18 and uniform(rng, 0.0, 1.0) > 0.994:
            return DIAMOND, 0
        if mountain > 0.3 and noise(x / 5.0, y / 5.0, 12, seed) > 0.35:
            return LAVA, 0
        return STONE, 0
    if 0.25 < water <= 0.35 and noise(x / 9.0, y / 9.0, 4, seed) > -0.2:
        return SAND, 0
    if water > 0.3:
        return WATER, 0
    if noise(x / 7.0, y / 7.0, 5, seed) > 0.0 and uniform(rng, 0.0, 1.0) > 0.8:
        return TREE, 0
    return GRASS, 0


@kernel
def make_land(s, rng):
    """The materials of all cells, then cows, zombies and, in tunnels, skeletons."""
    seed = below(rng, MASK)
    for x in range(SIDE):
        for y in range(SIDE):
            cell = cell_at(x, y)
            s.material[cell], s.tunnel[cell] = ground_at(x, y, seed, rng)
    middle = SIDE // 2
    for x in range(SIDE):
        for y in range(SIDE):
            cell = cell_at(x, y)
            material = s.material[cell]
            if not is_walkable(material):
                continue
            apart = math.sqrt((x - middle) ** 2 + (y - middle) ** 2)
            if apart > 3.0 and material == GRASS and uniform(rng, 0.0, 1.0) > 0.985:
                add_thing(s, COW, cell)
            elif apart > 10.0 and uniform(rng, 0.0, 1.0) > 0.993:
                add_thing(s, ZOMBIE, cell)
            elif s.tunnel[cell] and uniform(rng, 0.0, 1.0) > 0.95:
                add_thing(s, SKELETON, cell)
