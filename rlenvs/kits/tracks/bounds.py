"""Times that no car can beat on a road, whatever its line: proved bounds, beside the laps that `line.py` computes.

Two arguments, both about gates, which are rungs without their outer `margin` meters, where a car's middle must pass:

- From gate to gate it drives no shorter way than their distance, and a motor, from rest, needs a time for the whole way
  (`least_distance`, `time_from_rest`). This holds for all tires.
- Let it pass three gates at p1, p2 and p3 within a time T, p2 after the share r of it. Its mean velocities before and
  after p2 differ by |r p3 + (1 - r) p1 - p2| / (r (1 - r) T), and an acceleration of at most A changes mean velocities
  of neighboring times by at most A T / 2. So T^2 >= 2 |r p3 + (1 - r) p1 - p2| / (A r (1 - r)), and T is no less than
  the least of this over all r and all points of the gates (`least_sectors`). It holds where friction bounds all forces
  of the tires together: of tires that slide. Laps are cut into sectors of this kind so that the sum is greatest.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import maths
from rlenvs.kits.tracks.line import GRAVITY, on_rung
from rlenvs.kits.tracks.road import LEFT, RIGHT

DIRECTIONS, SHARES = 64, 24  # in which gates are projected; intervals of r
LONGEST = 24  # gates of a sector
APART = 4  # rungs from gate to gate
START_ROOM = 0.1  # m by which the place of a start may be another


def gates(road: np.ndarray, margin: float) -> np.ndarray:
    """The ends (G + 1, 2, 2) of every APARTth gate of a lap, the last one being the first again."""
    rows = [*range(0, len(road) - 1, APART), len(road) - 1]
    return np.array([[on_rung(road, i, o) for o in (margin - road[i, RIGHT], road[i, LEFT] - margin)] for i in rows])


def reaches(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest (G, DIRECTIONS) that gates reach in directions all around."""
    turns = [2.0 * math.pi * n / DIRECTIONS for n in range(DIRECTIONS)]
    along = sum(
        ends[:, :, None, axis] * np.array([f(turn) for turn in turns]) for axis, f in ((0, maths.cos), (1, maths.sin))
    )
    return along.min(axis=1), along.max(axis=1)


def distances(low: np.ndarray, high: np.ndarray, first: np.ndarray | int, last: np.ndarray) -> np.ndarray:
    """Distances [m] between gates that their shadows in all directions prove."""
    return np.maximum((low[last] - high[first]).max(axis=-1), 0.0)


def least_sums(parts: np.ndarray) -> np.ndarray:
    """For each gate the greatest sum of parts[i, k] over ways from it to the last one, in steps i -> k."""
    most = np.zeros(len(parts))
    for i in range(len(parts) - 2, -1, -1):
        ends = np.arange(i + 1, min(i + LONGEST, len(parts) - 1) + 1)
        most[i] = (parts[i, ends] + most[ends]).max()
    return most


def pairs(count: int) -> Any:
    """Each gate with those up to LONGEST behind it."""
    return ((i, np.arange(i + 1, min(i + LONGEST, count - 1) + 1)) for i in range(count - 1))


def least_distances(ends: np.ndarray) -> np.ndarray:
    """For each gate a distance [m] to the end of the lap that no way is shorter than."""
    low, high = reaches(ends)
    parts = np.zeros((len(ends), len(ends)))
    for i, behind in pairs(len(ends)):
        parts[i, behind] = distances(low, high, i, behind)
    return least_sums(parts)


def least_sectors(ends: np.ndarray, most: float, top: float) -> np.ndarray:
    """Seconds (G, G) that no way from gate i to gate k can beat with accelerations up to `most` and speeds up to `top`.

    In a direction, r p3 + (1 - r) p1 - p2 is no less than what the gates' shadows give at either end of an interval of
    r; the largest of all directions is no more than the length of the vector.
    """
    low, high = reaches(ends)
    share = np.linspace(0.0, 1.0, SHARES + 1)
    nearest = np.clip(0.5, share[:-1], share[1:])  # where r (1 - r) is largest in an interval
    seconds = np.zeros((len(ends), len(ends)))
    for i, behind in pairs(len(ends)):
        for k in behind:
            best = distances(low, high, i, np.array([k]))[0] / top
            if k > i + 1:
                middle = np.arange(i + 1, k)
                outer = share[:, None] * low[k] + (1.0 - share[:, None]) * low[i]
                outer = np.minimum(outer[:-1], outer[1:])
                aside = (outer[None] - high[middle][:, None]).max(axis=-1)
                square = (2.0 / most * np.maximum(aside, 0.0) / (nearest * (1.0 - nearest))).min(axis=1)
                best = max(best, float(np.sqrt(square.max())))
            seconds[i, k] = best
    return seconds


def time_from_rest(distance: float, drive: float, switch: float, top: float) -> float:
    """Seconds in which a motor that accelerates by `drive` up to the speed `switch`, and by its power then, drives a
    distance [m] from rest, at a speed of `top` at most."""
    way = 0.5 * switch * switch / drive
    if distance <= way:
        return math.sqrt(2.0 * distance / drive)
    power = drive * switch
    fast = min((switch**3 + 3.0 * power * (distance - way)) ** (1.0 / 3.0), top)
    time = switch / drive + (fast * fast - switch * switch) / (2.0 * power)
    return time + max(distance - way - (fast**3 - switch**3) / (3.0 * power), 0.0) / top


def least_laps(
    road: np.ndarray, start: tuple[float, float], margin: float, laps: int, drive: float, switch: float, top: float,
    grip: float | None = None,
) -> float:  # fmt: skip
    """Seconds that no car can beat from rest at a place near the first rung to the end of some laps.

    Args:
        start: x, y [m], up to START_ROOM from the true place.
        margin: meters that the car's middle keeps from the borders.
        drive, switch, top: as in `time_from_rest`.
        grip: the coefficient of friction that bounds all forces together; None for tires that hold more.
    """
    ends = gates(road, margin)
    low, high = reaches(np.concatenate([[[start, start]], ends]))
    away = np.maximum(distances(low, high, 0, np.arange(1, len(ends) + 1)) - START_ROOM, 0.0)
    away = np.where(np.arange(len(ends)) <= LONGEST, away, 0.0)
    ways = least_distances(ends)
    least = time_from_rest(float((away + ways).max() + (laps - 1) * ways[0]), drive, switch, top)
    if grip is None:
        return least
    times = least_sums(least_sectors(ends, grip * GRAVITY, top))
    first = max(time_from_rest(float(a), drive, switch, top) + float(b) for a, b in zip(away, times, strict=True))
    return max(least, first + (laps - 1) * float(times[0]))
