"""Gradient noise in the plane: heights and patterns of land, bit-identical everywhere."""

import math

from rlenvs.core import kernel
from rlenvs.core.declare.maths import cos, sin

GAIN = 1.44  # brings the noise to a spread of about 0.9 on both sides
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
