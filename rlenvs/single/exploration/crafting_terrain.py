"""The land of the crafting world: noise, what grows and lies where, and the first creatures."""

import math

from rlenvs.core import below, kernel, uniform
from rlenvs.core.declare.maths import exp
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
from rlenvs.single.exploration.noise import MASK
from rlenvs.single.exploration.simplex import simplex


@kernel
def layer(x, y, z, size, seed):
    """A slice of the noise, whose hills are about so many cells wide."""
    return simplex(x / size, y / size, z, seed)


@kernel
def ground_at(x, y, seed, rng):
    """The material of a cell, and whether it is a tunnel, in which skeletons live."""
    middle = SIDE // 2
    start = 4.0 - math.sqrt((x - middle) ** 2 + (y - middle) ** 2) + 2.0 * layer(x, y, 8.0, 3.0, seed)
    start = 1.0 / (1.0 + exp(-start))
    if start > 0.5:
        return GRASS, 0
    water = layer(x, y, 3.0, 15.0, seed) + 0.15 * layer(x, y, 3.0, 5.0, seed) + 0.1 - 2.0 * start
    mountain = (layer(x, y, 0.0, 15.0, seed) + 0.3 * layer(x, y, 0.0, 5.0, seed)) / 1.3
    mountain -= 4.0 * start + 0.3 * water
    if mountain > 0.15:
        if mountain > 0.3 and layer(x, y, 6.0, 7.0, seed) > 0.15:
            return PATH, 0  # a cave
        if layer(2.0 * x, 0.2 * y, 7.0, 3.0, seed) > 0.4 or layer(0.2 * x, 2.0 * y, 7.0, 3.0, seed) > 0.4:
            return PATH, 1
        if layer(x, y, 1.0, 8.0, seed) > 0.0 and uniform(rng, 0.0, 1.0) > 0.85:
            return COAL, 0
        if layer(x, y, 2.0, 6.0, seed) > 0.4 and uniform(rng, 0.0, 1.0) > 0.75:
            return IRON, 0
        if mountain > 0.18 and uniform(rng, 0.0, 1.0) > 0.994:
            return DIAMOND, 0
        if mountain > 0.3 and layer(x, y, 6.0, 5.0, seed) > 0.35:
            return LAVA, 0
        return STONE, 0
    if 0.25 < water <= 0.35 and layer(x, y, 4.0, 9.0, seed) > -0.2:
        return SAND, 0
    if water > 0.3:
        return WATER, 0
    if layer(x, y, 5.0, 7.0, seed) > 0.0 and uniform(rng, 0.0, 1.0) > 0.8:
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
