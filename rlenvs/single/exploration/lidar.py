"""A lidar on a grid: which cells its rays pass, as tables, and the scan that reads them.

The rule is MarsExplorer's. A ray is 200 points from the rover to the end of the range, each rounded to a cell and
clipped to the map. The first obstacle among them gives the length of the ray, cut to a whole number of cells. What is
seen are the cells of 200 points on the length and half a cell more, but never more than the range.

Rounding is to even numbers, so a point halfway between two cells falls on another one on odd rows or columns: there is
a table for each. With a number of rays that 12 divides and an odd range, the last points of the rays at 30 and 60
degrees to an axis lie within a rounding error of such halves, and the original's choice there depends on where the
rover is.

Maps are flat and padded by the range of the lidar, so that no ray leaves them: each cell of the padding stands for the
one of the map that it is clipped to, its `home`.
"""

import functools
import math
from typing import Any

import numpy as np

from rlenvs.core import i4, i8, kernel
from rlenvs.core.declare.maths import cos, sin

POINTS = 200  # of a ray
UNSEEN, FREE, OBSTACLE, ROVER = range(4)  # what is known of a cell
LONGEST_RANGE, MOST_CHANNELS = 16, 128

BITS = 60  # of a word of a set of cells

LIDAR_DATA = {
    "stride": i4,  # cells from one row of a padded map to the next
    "pad": i4,
    "home": i4("area"),  # the cell of the map that a cell is clipped to: itself, unless it lies in the padding
    "disc": i4("disc_cells"),  # the cells that rays pass, as differences to the rover's, by distance
    "far": i4("disc_cells"),  # their distances in whole cells
    "through": i4("disc_cells", "channels"),  # the rays that pass a cell at full length
    "through_count": i4("disc_cells"),
    "beam": i8(4, "channels", "lengths", "words"),  # the cells of the disc seen by a ray of this length, a bit for each
}


def _cells(angle: float, length: float, row: int, column: int) -> list[tuple[int, int]]:
    """The cells of a ray from a cell, as differences to it."""
    points = [
        np.round(np.linspace(start, start + length * part, POINTS)).astype(int) - start
        for start, part in ((row, cos(angle)), (column, sin(angle)))
    ]
    return list(dict.fromkeys(zip(*(axis.tolist() for axis in points), strict=True)))


@functools.lru_cache(maxsize=8)
def _tables(channels: int, reach: int) -> tuple[list[tuple[int, int]], list[list[int]], np.ndarray]:
    """The cells of the disc, the rays through each, and the beams. The first index is 2 on odd rows, and 1 more on odd
    columns."""
    angles = [channel * (2.0 * math.pi / channels) for channel in range(channels)]
    rays = [_cells(angle, reach, 64, 64) for angle in angles]
    beams = {
        (parity, channel, length): _cells(angle, min(length + 0.5, reach), 64 + parity // 2, 64 + parity % 2)
        for parity in range(4)
        for channel, angle in enumerate(angles)
        for length in range(reach + 1)
    }
    disc = {cell for cells in (*rays, *beams.values()) for cell in cells}
    ordered = sorted(disc, key=lambda cell: (cell[0] ** 2 + cell[1] ** 2, cell))
    number = {cell: i for i, cell in enumerate(ordered)}
    through: list[list[int]] = [[] for _ in ordered]
    for channel, cells in enumerate(rays):
        for cell in cells:
            through[number[cell]].append(channel)
    bits = np.zeros((4, channels, reach + 1, -(-len(ordered) // BITS)), np.int64)
    for place, cells in beams.items():
        for cell in cells:
            bits[(*place, number[cell] // BITS)] |= 1 << (number[cell] % BITS)
    return ordered, through, bits


def lidar_sizes(values: Any) -> dict[str, int]:
    """Sizes of the tables, and of a map with padding as wide as the lidar's range."""
    pad = 2 * values.lidar_range
    disc, _, bits = _tables(values.lidar_channels, values.lidar_range)
    return {
        "area": (values.height + pad) * (values.width + pad),
        "channels": values.lidar_channels,
        "lengths": values.lidar_range + 1,
        "disc_cells": len(disc),
        "words": bits.shape[3],
    }


def lidar_data(values: Any) -> dict[str, Any]:
    """The tables."""
    pad = values.lidar_range
    stride = values.width + 2 * pad
    disc, through, bits = _tables(values.lidar_channels, values.lidar_range)
    rays = np.zeros((len(disc), values.lidar_channels), np.int32)
    for number, channels in enumerate(through):
        rays[number, : len(channels)] = channels
    rows = np.clip(np.arange(values.height + 2 * pad), pad, pad + values.height - 1)
    columns = np.clip(np.arange(stride), pad, pad + values.width - 1)
    return {
        "stride": stride,
        "pad": pad,
        "home": (rows[:, None] * stride + columns).ravel(),
        "disc": [row * stride + column for row, column in disc],
        "far": [min(math.isqrt(row * row + column * column), pad) for row, column in disc],
        "through": rays,
        "through_count": [len(channels) for channels in through],
        "beam": bits,
    }


@kernel
def cell_at(p, row, column):
    """The cell of a padded map at a row and a column of the map."""
    return (row + p.pad) * p.stride + column + p.pad


@kernel
def distance(p, cell, other):
    """The distance between two cells, cut to whole ones."""
    down, right = other // p.stride - cell // p.stride, other % p.stride - cell % p.stride
    return int(math.sqrt(down * down + right * right))


@kernel
def measure(p, obstacle, cell, lengths):
    """The lengths of all rays: the distance to the first obstacle, cut to whole cells, or the range."""
    disc, home = p.disc, p.home
    for channel in range(lengths.size):
        lengths[channel] = -1
    for k in range(disc.size):
        there = cell + disc[k]
        if obstacle[there]:
            length = p.far[k] if home[there] == there else distance(p, cell, home[there])
            for j in range(p.through_count[k]):
                channel = p.through[k, j]
                if lengths[channel] < 0:
                    lengths[channel] = length
    for channel in range(lengths.size):
        if lengths[channel] < 0:
            lengths[channel] = p.pad


@kernel
def scan(p, obstacle, known, counted, cell, lengths):
    """Write what the lidar at a cell sees into `known`, and the lengths of its rays into `lengths`. Returns how many
    cells were not known before, and how many of these are in `counted`."""
    disc, home, beam = p.disc, p.home, p.beam
    measure(p, obstacle, cell, lengths)
    parity = 2 * ((cell // p.stride - p.pad) & 1) + ((cell % p.stride - p.pad) & 1)
    fresh, fresh_counted = 0, 0
    for word in range(beam.shape[3]):
        seen = 0
        for channel in range(lengths.size):
            seen |= beam[parity, channel, lengths[channel], word]
        first = word * BITS
        for k in range(min(BITS, disc.size - first)):
            there = home[cell + disc[first + k]]
            if (seen >> k) & 1 and known[there] == UNSEEN:
                fresh += 1
                fresh_counted += counted[there]
                known[there] = OBSTACLE if obstacle[there] else FREE
    if known[cell] == UNSEEN:
        fresh += 1
        fresh_counted += counted[cell]
    known[cell] = ROVER
    return fresh, fresh_counted
