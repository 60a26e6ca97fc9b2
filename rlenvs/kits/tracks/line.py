"""Lines to drive on a road: one of little curvature, the speeds that friction allows on it, and lap times.

A line is an offset [m] from the center line for each rung of a road. `straighten` makes the one whose squared second
differences are least within the borders, coarse rungs first. `fastest_speeds` then gives, in passes forwards and
backwards over a line, the largest speeds of a point mass that may accelerate by `grip * g` in all, by `drive` forwards
and `brake` backwards, and drives no faster than `top`: quasi-steady-state lap simulation. On the given line this is the
least time of the point mass, up to the length of a cell; `quicken` changes the line for less of it. That other lines
are slower is not proved: the times of `lap_time` are computed, not lower bounds. `least_time` is a proved bound, and
weak.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import kernel
from rlenvs.core.compiler.loops import compiled
from rlenvs.kits.tracks.road import CENTRE_X, CENTRE_Y, LEFT, LEFT_X, LEFT_Y, RIGHT, RIGHT_X, RIGHT_Y, from_segment

GRAVITY = 9.81  # m/s^2
COARSEST, SWEEPS = 16, 60


@kernel
def on_rung(road: Any, i: int, offset: float) -> tuple[float, float]:
    """The point of a rung at an offset [m]."""
    part = offset / (road[i, LEFT] + road[i, RIGHT])
    x = road[i, CENTRE_X] + part * (road[i, LEFT_X] - road[i, RIGHT_X])
    return x, road[i, CENTRE_Y] + part * (road[i, LEFT_Y] - road[i, RIGHT_Y])


@kernel
def pulled(road: Any, line: Any, i: int, stride: int, margin: float) -> float:
    """The offset at rung i at which fourth differences over neighbours `stride` apart vanish, within the borders."""
    cells = road.shape[0] - 1
    a, b = (i - 2 * stride) % cells, (i - stride) % cells
    d, e = (i + stride) % cells, (i + 2 * stride) % cells
    ax, ay = on_rung(road, a, line[a])
    bx, by = on_rung(road, b, line[b])
    dx, dy = on_rung(road, d, line[d])
    ex, ey = on_rung(road, e, line[e])
    wx, wy = (4.0 * (bx + dx) - ax - ex) / 6.0, (4.0 * (by + dy) - ay - ey) / 6.0
    width = road[i, LEFT] + road[i, RIGHT]
    nx, ny = (road[i, LEFT_X] - road[i, RIGHT_X]) / width, (road[i, LEFT_Y] - road[i, RIGHT_Y]) / width
    wanted = (wx - road[i, CENTRE_X]) * nx + (wy - road[i, CENTRE_Y]) * ny
    low, high = margin - road[i, RIGHT], road[i, LEFT] - margin
    return 0.5 * (low + high) if low > high else min(max(wanted, low), high)


@kernel
def straighten(road: Any, line: Any, margin: float) -> None:
    """Fill a line of least squared second differences that keeps `margin` metres from the borders."""
    cells = road.shape[0] - 1
    for i in range(cells + 1):
        line[i] = 0.0
    stride = COARSEST
    while stride >= 1:
        if cells % stride == 0:
            for sweep in range(SWEEPS):
                for n in range(cells // stride):
                    i = n * stride if sweep % 2 == 0 else cells - stride - n * stride
                    line[i] = pulled(road, line, i, stride, margin)
            half = stride // 2
            if half > 0:
                for i in range(0, cells, stride):
                    line[i + half] = 0.5 * (line[i] + line[(i + stride) % cells])
        stride //= 2
    line[cells] = line[0]


@kernel
def bend_between(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> float:
    """Curvature [1/m] of the circle through three points, positive to the left."""
    ux, uy, vx, vy, wx, wy = bx - ax, by - ay, cx - bx, cy - by, cx - ax, cy - ay
    sizes = math.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy) * (wx * wx + wy * wy))
    return 2.0 * (ux * vy - uy * vx) / max(sizes, 1e-12)


@kernel
def bend_of_line(road: Any, line: Any, i: int) -> float:
    """Curvature [1/m] of a line at rung i, from the rungs before and after it."""
    cells = road.shape[0] - 1
    before, after = (i - 1) % cells, (i + 1) % cells
    ax, ay = on_rung(road, before, line[before])
    bx, by = on_rung(road, i % cells, line[i % cells])
    cx, cy = on_rung(road, after, line[after])
    return bend_between(ax, ay, bx, by, cx, cy)


@kernel
def step_of_line(road: Any, line: Any, i: int) -> float:
    """Length [m] of a line from rung i to the next."""
    ax, ay = on_rung(road, i, line[i])
    bx, by = on_rung(road, i + 1, line[i + 1])
    return math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))


@kernel
def reached(speed: float, bend: float, step: float, grip: float, push: float, top: float) -> float:
    """The speed [m/s] after `step` metres with what acceleration is left beside the centripetal one, at most `push`."""
    across = speed * speed * abs(bend)
    most = grip * GRAVITY
    along = math.sqrt(max(most * most - across * across, 0.0))
    return min(math.sqrt(speed * speed + 2.0 * step * min(along, push)), top)


@kernel
def fastest_speeds(
    road: Any, line: Any, speeds: Any, grip: float, drive: float, brake: float, switch: float, top: float
) -> None:
    """Fill the largest speeds [m/s] at the rungs of a closed line, for a flying lap.

    grip: coefficient of friction; drive, brake: largest acceleration and deceleration [m/s^2]; above the speed
    `switch` [m/s] the drive is that of constant power; top: largest speed [m/s].
    """
    cells = road.shape[0] - 1
    for i in range(cells):
        speeds[i] = min(math.sqrt(grip * GRAVITY / max(abs(bend_of_line(road, line, i)), 1e-9)), top)
    speeds[cells] = speeds[0]
    for _ in range(2):  # twice around, as a lap ends where it begins
        for i in range(cells):
            speed = speeds[i]
            push = drive if speed <= switch else drive * switch / speed
            bend = bend_of_line(road, line, i)
            speeds[i + 1] = min(speeds[i + 1], reached(speed, bend, step_of_line(road, line, i), grip, push, top))
        speeds[0] = speeds[cells] = min(speeds[0], speeds[cells])
        for i in range(cells - 1, -1, -1):
            bend = bend_of_line(road, line, i + 1)
            step = step_of_line(road, line, i)
            speeds[i] = min(speeds[i], reached(speeds[i + 1], bend, step, grip, brake, top))
        speeds[0] = speeds[cells] = min(speeds[0], speeds[cells])


@kernel
def lap_time(road: Any, line: Any, speeds: Any) -> float:
    """Seconds of a lap at the speeds of the rungs, which change by constant accelerations in between."""
    time = 0.0
    for i in range(road.shape[0] - 1):
        time += 2.0 * step_of_line(road, line, i) / (speeds[i] + speeds[i + 1])
    return time


@kernel
def quicken(
    road: Any, line: Any, trial: Any, speeds: Any, margin: float, grip: float, drive: float, brake: float,
    switch: float, top: float, rounds: int,
) -> float:  # fmt: skip
    """Change a line, bump by bump, wherever that makes the lap of `fastest_speeds` shorter. Returns its time [s]."""
    cells = road.shape[0] - 1
    fastest_speeds(road, line, speeds, grip, drive, brake, switch, top)
    best = lap_time(road, line, speeds)
    for round_ in range(rounds):
        high = 0.2 / (1.0 + 0.5 * round_)
        width = max(cells // 10 // (1 + round_ % 4), 3)
        for at in range(0, cells, max(width // 2, 1)):
            for sign in (-1.0, 1.0):
                for i in range(cells):
                    trial[i] = line[i]
                for away in range(-width + 1, width):
                    i = (at + away) % cells
                    bump = 1.0 - (away / width) * (away / width)
                    wanted = line[i] + sign * high * bump * bump
                    trial[i] = min(max(wanted, margin - road[i, RIGHT]), road[i, LEFT] - margin)
                trial[cells] = trial[0]
                fastest_speeds(road, trial, speeds, grip, drive, brake, switch, top)
                time = lap_time(road, trial, speeds)
                if time < best - 1e-9:
                    best = time
                    for i in range(cells + 1):
                        line[i] = trial[i]
    fastest_speeds(road, line, speeds, grip, drive, brake, switch, top)
    return best


@compiled(error_model="numpy")
def search(
    road: Any, line: Any, trial: Any, speeds: Any, margin: float, grip: float, drive: float, brake: float,
    switch: float, top: float, rounds: int,
) -> float:  # fmt: skip
    """`straighten` and `quicken` as one compiled function. Returns the time of a lap [s]."""
    straighten(road, line, margin)
    return float(quicken(road, line, trial, speeds, margin, grip, drive, brake, switch, top, rounds))


def smooth_line(road: np.ndarray, margin: float) -> np.ndarray:
    """The line of `straighten`, compiled."""
    line, trial, speeds = (np.zeros(len(road)) for _ in range(3))
    search(road, line, trial, speeds, float(margin), 1.0, 1.0, 1.0, 1.0, 1.0, 0)
    return line


def fast_line(
    road: np.ndarray, *, margin: float, grip: float, drive: float, brake: float, switch: float, top: float,
    rounds: int = 40,
) -> tuple[np.ndarray, np.ndarray, float]:  # fmt: skip
    """The best line found on a road, the speeds at its rungs [m/s], and the time of a flying lap [s].

    Arguments are those of `fastest_speeds`; margin: what the line keeps from the borders [m].
    """
    line, trial, speeds = (np.zeros(len(road)) for _ in range(3))
    time = search(
        *(road, line, trial, speeds, float(margin), float(grip), float(drive), float(brake)),
        *(float(switch), float(top), rounds),
    )
    return line, speeds, float(time)


def standing_time(road: np.ndarray, line: np.ndarray, speeds: np.ndarray, laps: int, limits: Any) -> float:
    """Seconds of some laps of a line from rest at the start, at no more than the speeds of a flying lap.

    limits: grip, drive, switch, top as in `fastest_speeds`.
    """
    grip, drive, switch, top = limits
    speed, time, cells = 0.0, 0.0, len(road) - 1
    for n in range(laps * cells):
        i = n % cells
        push = drive if speed <= switch else drive * switch / speed
        step = step_of_line(road, line, i)
        following = min(reached(speed, bend_of_line(road, line, i), step, grip, push, top), float(speeds[i + 1]))
        time += 2.0 * step / (speed + following)
        speed = following
    return time


def least_time(road: np.ndarray, margin: float, top: float) -> float:
    """A time [s] that no lap within the borders can beat, at a largest speed of `top` [m/s].

    A lap crosses every cell from rung to rung, and no crossing is shorter than the distance of the two rungs, without
    their outer `margin` meters.
    """
    total = sum(shortest_crossing(road, i, margin) for i in range(len(road) - 1))
    return total / top


def shortest_crossing(road: np.ndarray, i: int, margin: float) -> float:
    """Shortest distance [m] between two neighboring rungs without their outer `margin` meters."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = (
        on_rung(road, row, side) for row in (i, i + 1) for side in (road[row, LEFT] - margin, margin - road[row, RIGHT])
    )
    return min(
        from_segment(cx, cy, dx, dy, ax, ay),
        from_segment(cx, cy, dx, dy, bx, by),
        from_segment(ax, ay, bx, by, cx, cy),
        from_segment(ax, ay, bx, by, dx, dy),
    )
