"""Random closed roads: points around a circle, whose radii are a sum of waves, and chicanes; harder ones bend more.

`draw_road` is a kernel, for a new road in every episode; `random_road` makes one in plain Python. A road whose borders
fold, that bends more than it may or comes too close to itself is drawn again, with less of everything: in the end it
is a circle, so there is always a road.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import below, f8, kernel, maths, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.rng import seed_words
from rlenvs.kits.tracks.road import BEND, COLUMNS, SOUND, fault, lay_road, spline_length
from rlenvs.kits.tracks.splines import ANGLE, ROWS, X, Y, close_spline

CONTROLS, CHICANES, WAVES = 24, 3, 5
MOST_KNOTS = CONTROLS
TRIES, CALMER = 60, 0.93
EASY_SPREAD, HARD_SPREAD = 0.1, 0.6  # of the points' radii, relative to their mean
PUSH = 0.1  # of a chicane's points to either side, relative to the mean radius

# fields that a road drawn in every episode needs; "rungs" is the number of cells + 1
ROAD_STATE = {
    "road": f8("rungs", COLUMNS),
    "spline": f8(ROWS, MOST_KNOTS + 1),
    "widths": f8(2, MOST_KNOTS + 1),
}


@kernel
def place_controls(rng: Any, k: Any, spread: float, chicanes: int, push: float) -> int:
    """Draw the points of the spline, around a circle of radius 1. Returns how many there are.

    Radii are a sum of waves, of 2 to WAVES periods around the circle. A chicane pushes two neighbours apart, at one
    place in each third of the circle.
    """
    mirror = 1.0 if uniform(rng, 0.0, 1.0) < 0.5 else -1.0
    for j in range(CONTROLS):
        k[X, j] = 1.0
    for wave in range(2, WAVES + 1):
        high, phase = spread * uniform(rng, 0.3, 1.0) / math.sqrt(wave), uniform(rng, 0.0, 2.0 * math.pi)
        for j in range(CONTROLS):
            k[X, j] += high * maths.cos(2.0 * math.pi * wave * j / CONTROLS + phase)
    for chicane in range(CHICANES):
        at = chicane * CONTROLS // CHICANES + 2 + below(rng, 4)
        side = push if uniform(rng, 0.0, 1.0) < 0.5 else -push
        if chicane < chicanes:
            k[X, at] += side
            k[X, at + 1] -= side
    for j in range(CONTROLS):
        radius, angle = max(k[X, j], 0.15), 2.0 * math.pi * j / CONTROLS
        k[X, j], k[Y, j] = radius * maths.cos(angle), mirror * radius * maths.sin(angle)
    return CONTROLS


@kernel
def close_through(k: Any, n: int, scale: float) -> None:
    """Scale n points and solve the spline through them, whose parameter is the length of the chords."""
    for i in range(n):
        k[X, i], k[Y, i] = scale * k[X, i], scale * k[Y, i]
    k[X, n], k[Y, n] = k[X, 0], k[Y, 0]
    k[ANGLE, 0] = 0.0
    for i in range(n):
        dx, dy = k[X, i + 1] - k[X, i], k[Y, i + 1] - k[Y, i]
        k[ANGLE, i + 1] = k[ANGLE, i] + math.sqrt(dx * dx + dy * dy)
    close_spline(k, n)


@kernel
def sharpest_bend(road: Any) -> float:
    """Largest curvature [1/m] of the centre line."""
    most = 0.0
    for i in range(road.shape[0]):
        most = max(most, abs(road[i, BEND]))
    return most


@kernel
def draw_road(
    rng: Any, k: Any, widths: Any, road: Any, length: float, width: float, difficulty: float, radius: float
) -> None:
    """Fill a road of a length and width [m] that bends nowhere tighter than a radius [m].

    difficulty: 0 for a few wide bends, 1 for many tight ones with three chicanes. The spread of the control points
    grows with it, and with the number of chicanes what they push. k (ROWS, MOST_KNOTS + 1) and widths
    (2, MOST_KNOTS + 1) are overwritten. length has to be at least 14 times radius, and radius at least 0.75 times
    the width.
    """
    spread, push = EASY_SPREAD + difficulty * (HARD_SPREAD - EASY_SPREAD), PUSH
    chicanes = int(difficulty * CHICANES + 0.5)
    for j in range(widths.shape[1]):
        widths[0, j] = widths[1, j] = 0.5 * width
    for attempt in range(TRIES):
        calm = attempt == TRIES - 1
        n = place_controls(rng, k, 0.0 if calm else spread, 0 if calm else chicanes, push)
        close_through(k, n, 1.0)
        close_through(k, n, length / spline_length(k, n))
        lay_road(road, k, n, widths)
        if sharpest_bend(road) * radius <= 1.0:
            found, _ = fault(road)
            if found == SOUND:
                return
        spread, push = spread * CALMER, push * CALMER


def random_road(
    seed: int, *, length: float = 60.0, width: float = 2.2, difficulty: float = 0.5, radius: float = 1.8,
    cells: int = 256,
) -> np.ndarray:  # fmt: skip
    """A road (cells + 1, COLUMNS), the same for the same arguments.

    Raises:
        ParameterError: a road that could not even be a circle, or whose difficulty is not in [0, 1].
    """
    if not (
        0.0 <= difficulty <= 1.0 and width > 0.0 and radius >= 0.75 * width and length >= 14.0 * radius and cells >= 16
    ):
        raise ParameterError(
            f"no road of length={length}, width={width}, difficulty={difficulty}, radius={radius}, cells={cells}: "
            "needed are difficulty in [0, 1], radius >= 0.75 width > 0, length >= 14 radius, cells >= 16"
        )
    road, k, widths = np.zeros((cells + 1, COLUMNS)), np.zeros((ROWS, MOST_KNOTS + 1)), np.zeros((2, MOST_KNOTS + 1))
    with np.errstate(over="ignore"):  # the generator's words wrap around
        draw_road(seed_words(np.random.default_rng(seed)), k, widths, road, length, width, difficulty, radius)
    return road
