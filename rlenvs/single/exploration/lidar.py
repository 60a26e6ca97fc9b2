"""A lidar on a grid: which cells its rays pass, as tables, and the scan that reads them.

The rule is MarsExplorer's. A ray is 200 points from the rover to the end of the range, each rounded to a cell and
clipped to the map. The first obstacle among them gives the length of the ray, cut to a whole number of cells. What is
seen are the cells of 200 points on the length and half a cell more, but never more than the range.

Rounding is to even numbers, so a point halfway between two cells falls on another one on odd rows or columns: there is
a table for each. With a number of rays that 12 divides, rays of 30 degrees have points within a rounding error of such
halves, and the original's choice there depends on where the rover is.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import i1, i2, kernel
from rlenvs.core.maths import cos, sin

POINTS = 200  # of a ray
UNSEEN, FREE, OBSTACLE, ROVER = range(4)  # what is known of a cell
LONGEST_RANGE, MOST_CHANNELS = 16, 128

LIDAR_DATA = {
    "ray": i1("channels", "ray_cells", 2),  # the cells of a ray of full length: rows and columns away
    "ray_count": i2("channels"),
    "beam": i1(4, "channels", "lengths", "ray_cells", 2),  # the cells seen by a ray of this length
    "beam_count": i2(4, "channels", "lengths"),
}


def lidar_sizes(values: Any) -> dict[str, int]:
    """Sizes of the tables."""
    return {
        "channels": values.lidar_channels,
        "lengths": values.lidar_range + 1,
        "ray_cells": 2 * values.lidar_range + 3,
    }


def _cells(angle: float, length: float, row: int, column: int) -> list[tuple[int, int]]:
    """The cells of a ray from a cell, in their order, as differences to it."""
    points = [
        np.round(np.linspace(start, start + length * part, POINTS)).astype(int) - start
        for start, part in ((row, cos(angle)), (column, sin(angle)))
    ]
    return list(dict.fromkeys(zip(*(axis.tolist() for axis in points), strict=True)))


def lidar_data(values: Any) -> dict[str, Any]:
    """The tables. The first index of `beam` is 2 on odd rows, and 1 more on odd columns."""
    sizes = lidar_sizes(values)
    channels, lengths, most = sizes["channels"], sizes["lengths"], sizes["ray_cells"]
    ray, beam = np.zeros((channels, most, 2), np.int8), np.zeros((4, channels, lengths, most, 2), np.int8)
    ray_count, beam_count = np.zeros(channels, np.int16), np.zeros((4, channels, lengths), np.int16)
    for channel in range(channels):
        angle = channel * (2.0 * math.pi / channels)
        cells = _cells(angle, values.lidar_range, 64, 64)
        ray[channel, : len(cells)], ray_count[channel] = cells, len(cells)
        for parity in range(4):
            for length in range(lengths):
                reach = min(length + 0.5, values.lidar_range)
                cells = _cells(angle, reach, 64 + parity // 2, 64 + parity % 2)
                beam[parity, channel, length, : len(cells)] = cells
                beam_count[parity, channel, length] = len(cells)
    return {"ray": ray, "ray_count": ray_count, "beam": beam, "beam_count": beam_count}


@kernel
def ray_length(p, obstacles, row, column, channel):
    """The length of a ray: the distance to the first obstacle, cut to whole cells, or the range."""
    last_row, last_column = obstacles.shape[0] - 1, obstacles.shape[1] - 1
    ray = p.ray
    longest = p.beam.shape[2] - 1
    for j in range(p.ray_count[channel]):
        at_row = min(max(row + ray[channel, j, 0], 0), last_row)
        at_column = min(max(column + ray[channel, j, 1], 0), last_column)
        if obstacles[at_row, at_column]:
            down, right = at_row - row, at_column - column
            return min(int(math.sqrt(down * down + right * right)), longest)
    return longest


@kernel
def scan(p, obstacles, known, counted, row, column):
    """Write what the lidar at a cell sees into `known`. Returns how many cells were not known before, and how many of
    these are in `counted`."""
    last_row, last_column = obstacles.shape[0] - 1, obstacles.shape[1] - 1
    beam = p.beam
    parity = 2 * (row & 1) + (column & 1)
    fresh, fresh_counted = 0, 0
    for channel in range(beam.shape[1]):
        length = ray_length(p, obstacles, row, column, channel)
        for j in range(p.beam_count[parity, channel, length]):
            at_row = min(max(row + beam[parity, channel, length, j, 0], 0), last_row)
            at_column = min(max(column + beam[parity, channel, length, j, 1], 0), last_column)
            if known[at_row, at_column] == UNSEEN:
                fresh += 1
                fresh_counted += counted[at_row, at_column]
            known[at_row, at_column] = OBSTACLE if obstacles[at_row, at_column] else FREE
    if known[row, column] == UNSEEN:
        fresh += 1
        fresh_counted += counted[row, column]
    known[row, column] = ROVER
    return fresh, fresh_counted
