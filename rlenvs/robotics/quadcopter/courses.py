"""Courses for gate racing: named, custom and random ones, and a proven lower bound on the flight time.

The CPC course is the track of Foehn, Romero and Scaramuzza, "Time-Optimal Planning for Quadrotor Waypoint Flight",
Science Robotics 2021, whose points have no direction; the yaws here follow the path. The other courses are this
package's.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.robotics.quadcopter.gates import SPACING, bisector, frame_gap

Gate = tuple[float, float, float, float]
Point = tuple[float, float, float]
MOST_GATES = 100
SMALLEST_GAP = 0.1  # m between two frames, whose bars have some thickness


@dataclass(frozen=True)
class Course:
    """Gates to be passed in order, again from the first when the last is passed.

    Attributes:
        gates: x, y, z [m] and yaw [rad] of each gate, see `gates.py`.
        start: where a flight begins, at rest [m].
        passes: gates to pass until the flight is over; None where laps go on forever.
        end: where a flight ends, at rest [m]; None where it ends at the last gate, at any speed.
        arena: half sizes along x and y around the origin, and height [m].
        half_opening, half_outer: half sides of the opening and of the frame [m].
    """

    gates: tuple[Gate, ...]
    start: Point
    arena: Point
    passes: int | None = None
    end: Point | None = None
    half_opening: float = 0.6
    half_outer: float = 0.8


def _degrees(*rows: Gate) -> tuple[Gate, ...]:
    return tuple((x, y, z, math.radians(yaw)) for x, y, z, yaw in rows)


COURSES = {
    # two loops and five gates, then the place of the sixth; gates 3 and 4 are the split-S: in above, back out below
    "cpc": Course(
        _degrees(
            *((-1.1, -1.6, 3.6, -20.0), (9.2, 6.6, 1.0, -25.0), (9.2, -4.0, 1.2, -130.0), (-4.5, -6.0, 3.5, -160.0)),
            *((-4.5, -6.0, 0.8, 20.0), (4.75, -0.9, 1.2, 80.0), (-2.8, 6.8, 1.2, -150.0)),
        ),
        start=(-5.0, 4.5, 1.2),
        arena=(14.0, 11.0, 8.0),
        passes=19,
        end=(4.75, -0.9, 1.2),
    ),
    # right lobe counter-clockwise, left lobe clockwise; the ways cross in the middle, where no gate stands
    "eight": Course(
        _degrees(
            *((2.5, -2.0, 1.2, 0.0), (4.5, 0.0, 1.5, 90.0), (2.5, 2.0, 1.2, 180.0)),
            *((-2.5, -2.0, 1.2, 180.0), (-4.5, 0.0, 1.5, 90.0), (-2.5, 2.0, 1.2, 0.0)),
        ),
        start=(0.0, 0.0, 1.2),
        arena=(6.5, 4.0, 3.0),
        half_opening=0.5,
        half_outer=0.7,
    ),
    # counter-clockwise in a room of 6 m x 6 m x 3 m
    "circle": Course(
        _degrees((1.8, 0.0, 1.2, 90.0), (0.0, 1.8, 1.2, 180.0), (-1.8, 0.0, 1.2, -90.0), (0.0, -1.8, 1.2, 0.0)),
        start=(1.2, -1.2, 1.2),
        arena=(3.0, 3.0, 3.0),
        half_opening=0.35,
        half_outer=0.5,
    ),
    # 10 m from rest to rest, with a gate half way
    "straight": Course(
        _degrees((0.0, 0.0, 1.5, 0.0)),
        start=(-5.0, 0.0, 1.5),
        arena=(7.0, 3.0, 3.0),
        passes=1,
        end=(5.0, 0.0, 1.5),
    ),
}


def named_course(name: str) -> Course:
    """One of COURSES; UnknownNameError for another name."""
    if name not in COURSES:
        raise UnknownNameError(f"there is no course {name!r}. {nearest(str(name), COURSES)}")
    return COURSES[name]


# --- given courses ----------------------------------------------------------------------------------------------------


def parse_rows(given: Any, what: str, columns: Sequence[str], fewest: int, most: int) -> list[list[float]]:
    """Rows of finite numbers, each at least three.

    Args:
        given: an array or nested lists.
        what: the name of a row in messages, such as "gate".
        columns: names of the numbers of a row; those after the third may be left out.
        fewest, most: how many rows are allowed.

    Raises:
        ParameterError: another shape, other values than finite numbers, too few or too many rows.
    """
    form = f"[{', '.join(columns)}]" if len(columns) == 3 else f"[x, y, z] or [{', '.join(columns)}]"
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, dict)):
        raise ParameterError(f"{given!r} is not a list of {what}s; give one {form} for each {what}")
    given = list(given)
    if not fewest <= len(given) <= most:
        raise ParameterError(f"{len(given)} {what}s were given; allowed: {fewest} to {most}; add or remove some")
    rows = []
    for i, row in enumerate(given):
        numbers = list(row) if isinstance(row, Iterable) and not isinstance(row, (str, bytes, dict)) else []
        if not 3 <= len(numbers) <= len(columns):
            raise ParameterError(f"{what} {i} is {row!r}; write it as {form}")
        for name, value in zip(columns, numbers, strict=False):
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not math.isfinite(value):
                raise ParameterError(f"{name} of {what} {i} is {value!r}; give a finite number")
        rows.append([float(value) for value in numbers])
    return rows


def check_inside(what: str, name: str, value: float, low: float, high: float, fix: str) -> None:
    """ParameterError that names what was given, the allowed range and the fix, unless low <= value <= high."""
    if not low - 1e-9 <= value <= high + 1e-9:
        raise ParameterError(f"{name} of {what} is {value:g} m; allowed is [{low:g}, {high:g}] m; {fix}")


def parse_gates(given: Any, arena: Point, half_opening: float, half_outer: float) -> tuple[Gate, ...]:
    """Checked gates from a list of [x, y, z] or [x, y, z, yaw]; a missing yaw follows the path from gate to gate.

    Args:
        given: at least one gate, m and rad.
        arena: half sizes along x and y around the origin, and height [m]; no frame may reach out of it.
        half_opening, half_outer: half sides of the opening and of the frame [m].

    Raises:
        ParameterError: wrong shape or numbers, a gate that reaches out of the arena, an opening below the floor, or
            frames that are less than SMALLEST_GAP apart. The message names gate, value, allowed range and fix.
    """
    rows = parse_rows(given, "gate", ("x", "y", "z", "yaw"), 1, MOST_GATES)
    gates = np.array([[*row[:3], 0.0] for row in rows])
    for g, row in enumerate(rows):
        gates[g, 3] = row[3] if len(row) == 4 else bisector(gates, g)
    for g, (x, y, z, yaw) in enumerate(gates):
        reach_x = arena[0] - half_outer * abs(math.sin(yaw))
        reach_y = arena[1] - half_outer * abs(math.cos(yaw))
        fix = "move the gate, or make the arena larger or the gates smaller"
        check_inside(f"gate {g}", "x", x, -reach_x, reach_x, fix)
        check_inside(f"gate {g}", "y", y, -reach_y, reach_y, fix)
        check_inside(
            f"gate {g}", "z", z, half_opening, arena[2] - half_outer, f"{fix}; openings must be above the floor"
        )
        for other in range(g):
            gap = frame_gap(gates, other, g, half_outer)
            if gap < SMALLEST_GAP:
                raise ParameterError(
                    f"the frames of gates {other} and {g} are {gap:.3g} m apart; at least {SMALLEST_GAP} m are needed; "
                    f"move one of them, or make the gates smaller than {2.0 * half_outer:g} m"
                )
    return tuple((float(x), float(y), float(z), float(yaw)) for x, y, z, yaw in gates)


def check_random_course(gates: int, arena: Point, half_outer: float, max_turn: float) -> None:
    """Whether `gates.random_course` can always give a valid course, on its ring if need be.

    Raises:
        ParameterError: too many gates, too large ones, an arena too small for them, or turns that close no loop.
    """
    radius = min(arena[0], arena[1]) - half_outer
    if not (half_outer > 0.0 and 2.0 * half_outer <= arena[2] and radius > 0.0):
        most = min(arena[0], arena[1], 0.5 * arena[2])
        raise ParameterError(
            f"gates of half_outer={half_outer:g} m do not fit into the arena of half sizes {arena[0]:g} and "
            f"{arena[1]:g} m and height {arena[2]:g} m; allowed is (0, {most:g}) m; use smaller gates or a larger arena"
        )
    # the chords of the ring must be SPACING half_outer long: 2 radius sin(pi / gates)
    angle = math.asin(min(1.0, 0.5 * SPACING * half_outer / radius))
    most = min(MOST_GATES, int(math.pi / angle + 1e-9)) if 2.0 * radius >= SPACING * half_outer else 1
    if not 1 <= gates <= most:
        raise ParameterError(
            f"{gates} random gates of {2.0 * half_outer:g} m do not fit into the arena of half sizes {arena[0]:g} and "
            f"{arena[1]:g} m; allowed are 1 to {most}; use fewer or smaller gates, or a larger arena"
        )
    if gates >= 3 and not 2.0 * math.pi / gates < max_turn <= math.pi:
        raise ParameterError(
            f"max_turn={max_turn:g} rad cannot close a loop of {gates} gates; allowed is ({2.0 * math.pi / gates:.4g}, "
            f"{math.pi:.4g}] rad; allow sharper turns or use more gates"
        )


# --- a bound on the time ----------------------------------------------------------------------------------------------


def lower_bound_time(course: Course, acceleration: float, start: Point | None = None, gravity: float = 9.8) -> float:
    """Seconds that no vehicle can beat from rest at the start through the course's `passes` gates (or all, once).

    For a point mass whose thrust gives at most `acceleration` a [m/s^2] in any direction, gravity apart. Along a fixed
    direction e its acceleration lies within [-(a + g_e), a - g_e], g_e being gravity's part. Seen along e the openings
    are intervals, visited in order. Whenever one lies wholly behind an earlier one, the flight along e has turned round
    at or beyond the farther one, with speed 0. So it consists of ways from rest to rest over at least the gaps between
    such intervals, and a way of length d takes at least sqrt(2 d (1 / (a - g_e) + 1 / (a + g_e))): full thrust forward,
    then back; without gravity 2 sqrt(d / a). Only the last way may end at speed. Every direction gives a bound; the
    result is the largest of 288.

    Raises:
        ParameterError: an acceleration that does not exceed gravity.
    """
    if not acceleration > gravity:
        raise ParameterError(
            f"acceleration={acceleration} must exceed gravity={gravity}; give the largest thrust over the mass in m/s^2"
        )
    gates = np.array(course.gates)
    gates = gates[np.arange(course.passes or len(gates)) % len(gates)]
    lefts = np.stack([-np.sin(gates[:, 3]), np.cos(gates[:, 3]), 0.0 * gates[:, 3]], axis=1)
    best = 0.0
    for azimuth in np.radians(np.arange(0.0, 360.0, 7.5)):
        for elevation in np.radians(np.arange(0.0, 90.0, 15.0)):
            direction = np.array(
                [math.cos(azimuth) * math.cos(elevation), math.sin(azimuth) * math.cos(elevation), math.sin(elevation)]
            )
            middles = gates[:, :3] @ direction
            halves = course.half_opening * (abs(lefts @ direction) + abs(direction[2]))
            lows, highs = list(middles - halves), list(middles + halves)
            if course.end is not None:
                lows.append(float(np.dot(course.end, direction)))
                highs.append(lows[-1])
            begin = float(np.dot(course.start if start is None else start, direction))
            pull = gravity * direction[2]
            bound = _time_along(begin, lows, highs, acceleration - pull, acceleration + pull, course.end is not None)
            best = max(best, bound)
    return best


def _time_along(begin: float, lows: list[float], highs: list[float], up: float, down: float, rest: bool) -> float:
    """The least time along a line from rest through intervals in order, accelerating by at most `up` and `down`."""
    turn, farthest, way = begin, begin, 0  # the last turning point, the extreme since then, the direction of this way
    time = 0.0
    for low, high in zip(lows, highs, strict=True):
        if (way >= 0 and high < farthest) or (way <= 0 and low > farthest):
            time += math.sqrt(2.0 * abs(farthest - turn) * (1.0 / up + 1.0 / down))
            turn, farthest, way = (farthest, high, -1) if high < farthest else (farthest, low, 1)
        elif way > 0:
            farthest = max(farthest, low)
        elif way < 0:
            farthest = min(farthest, high)
    if rest:
        return time + math.sqrt(2.0 * abs(farthest - turn) * (1.0 / up + 1.0 / down))
    return time + math.sqrt(2.0 * abs(farthest - turn) / (up if way > 0 else down))


def level_flight_time(distance: float, acceleration: float, gravity: float = 9.8) -> float:
    """The least time [s] of a point mass with bounded thrust > gravity from rest to rest, `distance` m away, level.

    Pontryagin: full thrust along a vector that changes linearly in time, here (1 - 2 t / T, r). Level flight as a whole
    needs r asinh(1 / r) = g / a; then T = 2 sqrt(d / (a sqrt(1 + r^2) - g r)), and 2 sqrt(d / a) without gravity. The
    problem is convex, so this is the optimum. Bang-bang control that holds the height exactly takes
    2 sqrt(d / sqrt(a^2 - g^2)), a little longer.
    """
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle * math.asinh(1.0 / middle) < gravity / acceleration:
            low = middle
        else:
            high = middle
    return 2.0 * math.sqrt(distance / (acceleration * math.sqrt(1.0 + low * low) - gravity * low))
