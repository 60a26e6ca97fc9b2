"""Roads from center lines: points in code, CSV files, named tracks, rungs for other programs.

A CSV file has a row per point of the center line, in order, closed by itself: x, y and optionally the widths to the
right and to the left [m], as in the racetrack databases of TUM and F1TENTH. Separators are commas, semicolons or
blanks; lines that begin with # are comments, and one line of names may come first.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.user_files import read_text, reason
from rlenvs.kits.tracks.generator import close_through
from rlenvs.kits.tracks.road import (
    AT,
    CENTRE_X,
    CENTRE_Y,
    COLUMNS,
    FOLDED,
    LEFT,
    NOT_FINITE,
    OVERLAPPING,
    RIGHT,
    SOUND,
    fault_of_cells,
    lay_road,
)
from rlenvs.kits.tracks.splines import ROWS, X, Y

FEWEST_POINTS, MOST_POINTS = 6, 20_000
FEWEST_CELLS, MOST_CELLS = 16, 4096
LONGEST = 25_000.0  # m of a centre line; the longest race track has 21 km
LARGEST = 1 << 22  # bytes of a file

# points x, y [m] of centre lines of our own
CENTRE_LINES: dict[str, tuple[tuple[float, float], ...]] = {
    # two straights and two bends of 4 m
    "oval": (
        *((0.0, -4.0), (5.0, -4.0), (9.0, -4.0), (11.83, -2.83), (13.0, 0.0), (11.83, 2.83), (9.0, 4.0), (5.0, 4.0)),
        *((0.0, 4.0), (-4.0, 4.0), (-6.83, 2.83), (-8.0, 0.0), (-6.83, -2.83), (-4.0, -4.0)),
    ),
    # a straight, a fast bend, a chicane, a hairpin and a slow double bend
    "club": (
        *((0.0, 0.0), (6.0, 0.0), (12.0, 0.4), (16.4, 2.8), (17.6, 7.0), (15.2, 10.4), (11.4, 10.6), (8.0, 9.4)),
        *((4.4, 9.4), (1.2, 11.0), (-2.0, 12.8), (-5.4, 12.4), (-7.0, 9.6), (-6.4, 6.6), (-7.6, 3.9), (-9.2, 1.4)),
        *((-8.2, -1.2), (-4.6, -1.4)),
    ),
    # crosses itself on a bridge
    "eight": (
        *((0.0, 0.0), (4.0, 2.6), (8.0, 4.0), (12.0, 2.9), (13.5, 0.0), (12.0, -2.9), (8.0, -4.0), (4.0, -2.6)),
        *((0.0, 0.0), (-4.0, 2.6), (-8.0, 4.0), (-12.0, 2.9), (-13.5, 0.0), (-12.0, -2.9), (-8.0, -4.0), (-4.0, -2.6)),
    ),
}
BRIDGES = ("eight",)


def road_through(
    points: Sequence[Sequence[float]] | np.ndarray,
    *,
    width: float = 2.2,
    cells: int = 256,
    bridge: bool = False,
    name: str = "the track",
) -> np.ndarray:
    """A road whose center line is the spline through points.

    Args:
        points: rows x, y, or x, y, width to the right, width to the left [m].
        width: of the road where rows have none [m].
        cells: how many cells the road has.
        bridge: accept a road whose parts lie over each other or so near that they might; nothing on one part is seen
            from the other.
        name: for messages.

    Returns:
        The road, (cells + 1, COLUMNS).

    Raises:
        ParameterError: too few or too many points, numbers that are not finite, widths that are not positive, two equal
            points in a row, borders that fold over (a road wider than its bends), parts that overlap.
    """
    rows = np.asarray(points, float)
    if rows.ndim != 2 or rows.shape[1] not in (2, 4):
        raise ParameterError(f"{name}: needed: rows of 2 or 4 numbers, not an array of shape {rows.shape}")
    if not np.isfinite(rows).all():
        row = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise ParameterError(f"{name}: row {row} is {rows[row].tolist()}; all numbers must be finite")
    if len(rows) > 1 and np.allclose(rows[0, :2], rows[-1, :2], rtol=0.0, atol=1e-9):
        rows = rows[:-1]
    if not FEWEST_POINTS <= len(rows) <= MOST_POINTS:
        raise ParameterError(f"{name}: {len(rows)} points; needed: {FEWEST_POINTS} to {MOST_POINTS}")
    if not FEWEST_CELLS <= cells <= MOST_CELLS:
        raise ParameterError(f"{name}: cells={cells}; needed: {FEWEST_CELLS} to {MOST_CELLS}")
    with np.errstate(over="ignore"):  # of numbers near the largest, which are too long then
        apart = np.hypot(*(np.roll(rows[:, :2], -1, axis=0) - rows[:, :2]).T)
        length = apart.sum()
    if apart.min() < 1e-6:
        raise ParameterError(f"{name}: points {int(apart.argmin())} and the next are the same")
    if not length <= LONGEST:
        raise ParameterError(f"{name}: {length:g} m long; at most {LONGEST:g} m are allowed. Are its points in meters?")
    sides = np.full((2, len(rows) + 1), 0.5 * width)
    if rows.shape[1] == 4:
        sides[0, :-1], sides[1, :-1] = rows[:, 3], rows[:, 2]
        sides[:, -1] = sides[:, 0]
    if not sides.min() > 0.0:
        raise ParameterError(f"{name}: a width of {sides.min()} m; widths must be positive")
    spline, road = np.zeros((ROWS, len(rows) + 1)), np.zeros((cells + 1, COLUMNS))
    spline[X, :-1], spline[Y, :-1] = rows[:, 0], rows[:, 1]
    close_through(spline, len(rows), 1.0)
    lay_road(road, spline, len(rows), sides)
    return checked(road, bridge, name)


def checked(road: np.ndarray, bridge: bool, name: str) -> np.ndarray:
    """The road itself, if it is sound."""
    found, row = fault_of_cells(road)
    if found == SOUND and (row := overlap_of(road)) >= 0:
        found = OVERLAPPING
    at = f"{road[row, AT]:.1f} m from its start"
    if found == NOT_FINITE:
        raise ParameterError(f"{name}: not finite {at}")
    if found == FOLDED:
        raise ParameterError(
            f"{name}: a border folds over {at}: the road is wider than its bend allows, or bends within a cell; "
            "make it narrower, smoother, or of more cells"
        )
    if found == OVERLAPPING and not bridge:
        raise ParameterError(
            f"{name}: crosses itself or comes within its own width {at}; "
            "with bridge=True the parts pass over each other"
        )
    return road


def overlap_of(road: np.ndarray) -> int:
    """What `road.overlap_at` finds, a row of pairs at a time: one by one, in plain Python, they would take a minute."""
    cells = len(road) - 1
    length, narrow = road[cells, AT], (road[:-1, LEFT] + road[:-1, RIGHT]).min()
    stride = max(1, int(0.4 * narrow * cells / length))
    slack = (stride * length / cells) ** 2 if stride > 1 else 0.0
    rows = road[:cells:stride]
    widest, at, centre = rows[:, [LEFT, RIGHT]].max(axis=1), rows[:, AT], rows[:, [CENTRE_X, CENTRE_Y]]
    for i in range(len(rows) - 1):
        wide, along = widest[i] + widest[i + 1 :], at[i + 1 :] - at[i]
        apart = ((centre[i + 1 :] - centre[i]) ** 2).sum(axis=1)
        if ((np.minimum(along, length - along) > 3.0 * wide) & (apart < wide * wide + slack)).any():
            return i * stride
    return -1


def read_centre_line(path: str | Path) -> np.ndarray:
    """The rows (M, 2) or (M, 4) of a CSV file: x, y, and the widths to the right and to the left [m].

    Raises:
        ParameterError: no such file, rows that are no numbers or differ in length.
    """
    try:
        lines = read_text(path, LARGEST).splitlines()
    except OSError as error:
        raise ParameterError(f"{shortened(str(path))} cannot be read as a center line: {reason(error)}") from None
    rows: list[list[float]] = []
    for number, line in enumerate(lines, 1):
        cells = line.replace(";", " ").replace(",", " ").split()
        if not cells or cells[0].startswith("#"):
            continue
        try:
            rows.append([float(cell) for cell in cells[:4]] if len(cells) != 3 else [float(c) for c in cells[:2]])
        except ValueError:
            if rows or number > 3:
                raise ParameterError(f"{path}, line {number}: {line[:60]!r} is not a row of numbers") from None
            continue  # names of columns
        if len(rows[-1]) != len(rows[0]):
            raise ParameterError(f"{path}, line {number}: {len(rows[-1])} numbers, {len(rows[0])} in the rows before")
    if not rows:
        raise ParameterError(f"{path} has no points")
    return np.array(rows)


def centre_line(given: Any) -> Any:
    """What an option takes for a road of one's own: None, a path, or rows of numbers, as JSON has them."""
    return given if given is None or isinstance(given, str) else np.asarray(given, float).tolist()


def rows_text(given: Any) -> str:
    """The rows of such an option as a text, read anew where they are a file's; "" for none."""
    if isinstance(given, str):
        given = read_centre_line(given).tolist()
    return "" if given is None else json.dumps(given)


def road_of_text(text: str, *, spacing: float, width: float = 2.2, multiple: int = 1) -> np.ndarray:
    """The road of `rows_text`, with a rung about every `spacing` m and a multiple of so many cells.

    Raises:
        ParameterError: rows that `road_through` refuses.
    """
    rows = json.loads(text)
    rough = road_through(rows, width=width, name="centre_line")
    cells = -(-cells_for(rough[-1, AT], spacing) // multiple) * multiple
    return road_through(rows, width=width, cells=cells, name="centre_line")


def load_road(path: str | Path, *, width: float = 2.2, cells: int = 256, bridge: bool = False) -> np.ndarray:
    """The road of a CSV file; see `road_through`."""
    return road_through(read_centre_line(path), width=width, cells=cells, bridge=bridge, name=str(path))


def named_road(name: str, *, width: float = 2.2, cells: int = 256) -> np.ndarray:
    """One of CENTRE_LINES as a road.

    Raises:
        UnknownNameError: none of this name.
    """
    if name not in CENTRE_LINES:
        raise UnknownNameError(f"no track {name!r}. {nearest(name, CENTRE_LINES)}")
    return road_through(CENTRE_LINES[name], width=width, cells=cells, bridge=name in BRIDGES, name=f"track {name!r}")


def rounded(corners: Sequence[Sequence[float]] | np.ndarray, spacing: float = 1.0) -> np.ndarray:
    """Points (M, 2) about `spacing` meters apart on a closed polygon whose corners, rows x, y, radius [m], are arcs.

    Raises:
        ParameterError: corners so near to each other that their arcs overlap.
    """
    rows = np.asarray(corners, float)
    ends = []  # of each arc: where it begins and ends, its centre, its radius, the turn
    for before, here, after in zip(np.roll(rows, 1, axis=0), rows, np.roll(rows, -1, axis=0), strict=True):
        into, out = math.atan2(*(here - before)[1::-1]), math.atan2(*(after - here)[1::-1])
        turn = math.remainder(out - into, 2.0 * math.pi)
        cut = here[2] * math.tan(0.5 * abs(turn))
        start = here[:2] - cut * np.array([math.cos(into), math.sin(into)])
        side = math.copysign(here[2], turn)
        ends.append((start, here[:2] + cut * np.array([math.cos(out), math.sin(out)]), into, turn, side, cut))
    points: list[np.ndarray] = []
    for n, (start, end, into, turn, side, cut) in enumerate(ends):
        steps = max(2, round(abs(side * turn) / spacing))
        centre = start + side * np.array([-math.sin(into), math.cos(into)])
        for k in range(steps):
            angle = into + turn * k / steps
            points.append(centre - side * np.array([-math.sin(angle), math.cos(angle)]))
        following, _, _, _, _, cut_there = ends[(n + 1) % len(ends)]
        apart = math.dist(rows[n, :2], rows[(n + 1) % len(rows), :2])
        if cut + cut_there > apart:
            raise ParameterError(
                f"corners {n} and {(n + 1) % len(rows)} are {apart:.2f} m apart, too near for their radii"
            )
        steps = max(1, round((apart - cut - cut_there) / spacing))
        points.extend(end + (following - end) * k / steps for k in range(steps))
    return np.array(points)


def cells_for(length: float, spacing: float = 0.25) -> int:
    """How many cells give a road of a length [m] this spacing [m], within what is allowed."""
    return min(max(math.ceil(length / spacing), FEWEST_CELLS), MOST_CELLS)


def polygon(road: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left and right border, (N, 2) each [m], for drawing and for other programs."""
    return road[:-1, 2:4].copy(), road[:-1, 4:6].copy()
