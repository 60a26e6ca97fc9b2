"""The land of the crafting world: noise, what grows and lies where, and the first creatures."""

import math

from rlenvs.core import below, kernel, uniform
from rlenvs.core.maths import cos, exp, sin
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

GAIN = 1.44  # brings the noise to the spread of the simplex noise that the thresholds were chosen for
MASK = 0x7FFFFFFF


@kernel
def mixed(x, y, layer, seed):
    """A whole number of 31 bits that depends on a lattice point, a layer and the seed of a land."""
    h = (x * 374761393 + y * 668265263 + layer * 1013904223 + seed) & MASK
    h = ((h ^ (h >> 13)) * 1274126177) & MASK
    h = ((h ^ (h >> 15)) * 1103515245) & MASK
    return h ^ (h >> 16)


@kernel
def slope(x, y, dx, dy, layer, seed):
    """What the gradient of a lattice point adds at a distance from it."""
    angle = (mixed(x, y, layer, seed) & 1023) * (2.0 * math.pi / 1024.0)
    return cos(angle) * dx + sin(angle) * dy


@kernel
def fade(t):
    """A smooth step from 0 to 1."""
    return t * t * t * (t * (6.0 * t - 15.0) + 10.0)


@kernel
def noise(x, y, layer, seed):
    """Gradient noise in the plane, about -0.9 to 0.9; layers do not depend on each other."""
    x += (mixed(1, 0, layer, seed) & 255) / 256.0  # lattices of layers do not coincide
    y += (mixed(0, 1, layer, seed) & 255) / 256.0
    column, row = math.floor(x), math.floor(y)
    dx, dy = x - column, y - row
    a, b = slope(column, row, dx, dy, layer, seed), slope(column + 1, row, dx - 1.0, dy, layer, seed)
    c = slope(column, row + 1, dx, dy - 1.0, layer, seed)
    d = slope(column + 1, row + 1, dx - 1.0, dy - 1.0, layer, seed)
    across, along = fade(dx), fade(dy)
    upper, lower = a + across * (b - a), c + across * (d - c)
    return GAIN * (upper + along * (lower - upper))


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
