"""OpenSimplex noise in space (Spencer, 2014), of which the layers of a land are slices.

Its lattice is that of whole numbers, drawn out along (1, 1, 1): (i, j, k) lies at (i, j, k) + (i + j + k) / 3.
Each point within a distance of the square root of 2 adds (2 - d^2)^4 times the product of its gradient, one of 24, with
the way from it; the sum is divided by 103.
"""

import itertools
import math

import numpy as np

from rlenvs.core import kernel
from rlenvs.single.exploration.noise import mixed

# around the cell of whole numbers in which a place lies: the points that may be near enough
NEAR = np.array(
    [
        point
        for point in itertools.product((-1, 0, 1, 2), repeat=3)
        if sum(part in (-1, 2) for part in point) == 0
        or (sum(part in (-1, 2) for part in point) == 1 and sorted(point) not in ([-1, 0, 0], [1, 1, 2]))
    ],
    np.float64,
)
GRADIENTS = np.array(
    [
        (long_x * signs[0], long_y * signs[1], long_z * signs[2])
        for long_x, long_y, long_z in ((11, 4, 4), (4, 11, 4), (4, 4, 11))
        for signs in itertools.product((-1, 1), repeat=3)
    ],
    np.float64,
)


@kernel
def gradient_at(i, j, k, seed):
    """Which of the 24 gradients a lattice point has."""
    return mixed(i, j, k, seed) % 24


@kernel
def simplex(x, y, z, seed):
    """The noise at a place, about -0.9 to 0.9."""
    back = (x + y + z) / 6.0
    u, v, w = x - back, y - back, z - back
    i, j, k = math.floor(u), math.floor(v), math.floor(w)
    u, v, w = u - i, v - j, w - k
    total = 0.0
    for n in range(NEAR.shape[0]):
        dx, dy, dz = u - NEAR[n, 0], v - NEAR[n, 1], w - NEAR[n, 2]
        along = dx + dy + dz
        near = 2.0 - dx * dx - dy * dy - dz * dz - along * along
        if near > 0.0:
            g = gradient_at(i + int(NEAR[n, 0]), j + int(NEAR[n, 1]), k + int(NEAR[n, 2]), seed)
            out = along / 3.0
            slope = GRADIENTS[g, 0] * (dx + out) + GRADIENTS[g, 1] * (dy + out) + GRADIENTS[g, 2] * (dz + out)
            total += near * near * near * near * slope
    return total / 103.0
