"""Exact lidar on a road of `road.py`: all beams of a car in one walk along the borders.

Seen from a car in its cell, directions fall into four sectors: through the rung ahead, at the left border, through the
rung behind, at the right border. Beams through a rung enter the next cell, which is convex; those at the right end of
what is left hit the right border before the next rung's right end, those at the left end the left border, and the rest
goes on. So every beam is looked at once and every cell once: a scan costs beams + cells that are seen, whatever the
distances, and nothing is rastered.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import kernel, maths
from rlenvs.kits.tracks.road import LEFT_X, RIGHT_X, gaps

INSIDE = 1e-6  # m; a lidar at a border or beyond it sees from this far inside
TURN = 2.0 * math.pi
TOUCHING = 1e-12  # m^2
RUN = 8  # beams that are looked at together where many hit the same piece of a border

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_16, _27, _30, _31, _32, _48 = (np.uint64(n) for n in (16, 27, 30, 31, 32, 48))
PART = np.uint64(65535)
MEAN_OF_PARTS, PER_PART = 131070.0, math.sqrt(3.0) / 65536.0  # of the sum of four parts; to a deviation of 1


def fan(beams: int, view: float) -> np.ndarray:
    """Directions (2, beams) spread evenly over the angle `view` < 2 pi, from right to left; a single one is ahead."""
    angles = [0.0] if beams == 1 else [view * (j / (beams - 1) - 0.5) for j in range(beams)]
    return np.array([[maths.cos(angle) for angle in angles], [maths.sin(angle) for angle in angles]])


@kernel
def seen_from(road: Any, row: int, column: int, x: float, y: float, c: float, s: float) -> tuple[float, float]:
    """A border's vertex in the frame of the lidar."""
    dx, dy = road[row, column] - x, road[row, column + 1] - y
    return c * dx + s * dy, c * dy - s * dx


@kernel
def seen_line(ax: float, ay: float, bx: float, by: float) -> tuple[float, float]:
    """Of the line through two points: (u, v), with which 1 over the distance of beam j is cos_j u - sin_j v.

    A beam costs two products so, and a division for all of them comes later, several at a time.
    """
    across = ax * by - ay * bx
    per = 1.0 / across if abs(across) > TOUCHING else 1.0 / TOUCHING
    return per * (by - ay), per * (bx - ax)


@kernel
def hit(beams: Any, first: int, last: int, ax: float, ay: float, bx: float, by: float, out: Any) -> None:
    """1 over the distances of the beams first ... last to the line through two points."""
    u, v = seen_line(ax, ay, bx, by)
    for j in range(max(first, 0), last + 1):
        out[j] = beams[0, j] * u - beams[1, j] * v


@kernel
def rightmost(beams: Any, first: int, last: int, x: float, y: float) -> int:
    """The first of the beams first ... last that does not pass to the right of a point; last + 1 where all do."""
    while first + RUN <= last and beams[0, first + RUN] * y - beams[1, first + RUN] * x > 0.0:
        first += RUN + 1
    for j in range(max(first, 0), last + 1):
        if not beams[0, j] * y - beams[1, j] * x > 0.0:
            return j
    return max(first, last + 1)


@kernel
def leftmost(beams: Any, first: int, last: int, x: float, y: float) -> int:
    """The last of the beams first ... last that does not pass to the left of a point; first - 1 where all do."""
    while first + RUN <= last and beams[0, last - RUN] * y - beams[1, last - RUN] * x <= 0.0:
        last -= RUN + 1
    while first <= last and beams[0, last] * y - beams[1, last] * x <= 0.0:
        last -= 1
    return last


@kernel
def sweep(
    road: Any, row: int, way: int, x: float, y: float, c: float, s: float, beams: Any, first: int, last: int,
    reach: float, out: Any,
) -> None:  # fmt: skip
    """1 over the distances of the beams first ... last, which pass rung `row` forwards (way 1) or backwards (-1)."""
    cells = road.shape[0] - 1
    right, left = (RIGHT_X, LEFT_X) if way > 0 else (LEFT_X, RIGHT_X)
    rx, ry = seen_from(road, row, right, x, y, c, s)
    lx, ly = seen_from(road, row, left, x, y, c, s)
    for _ in range(cells):
        row += way
        row = row - cells if row > cells else (row + cells if row < 0 else row)
        rx_1, ry_1 = seen_from(road, row, right, x, y, c, s)
        lx_1, ly_1 = seen_from(road, row, left, x, y, c, s)
        begin, end = first, last
        first = rightmost(beams, first, last, rx_1, ry_1)
        if begin < first:
            hit(beams, begin, first - 1, rx, ry, rx_1, ry_1, out)
        last = leftmost(beams, first, last, lx_1, ly_1)
        if last < end:
            hit(beams, last + 1, end, lx, ly, lx_1, ly_1, out)
        if first > last:
            return
        rx, ry, lx, ly = rx_1, ry_1, lx_1, ly_1
        if rx * rx + ry * ry > reach * reach and lx * lx + ly * ly > reach * reach:
            beyond = reach + math.sqrt((lx - rx) * (lx - rx) + (ly - ry) * (ly - ry))
            if lx * lx + ly * ly > beyond * beyond and rx * rx + ry * ry > beyond * beyond:
                break
    for j in range(max(first, 0), last + 1):
        out[j] = 0.0


@kernel
def scan(
    road: Any, cell: int, x: float, y: float, c: float, s: float, beams: Any, view: float, reach: float, out: Any
) -> None:
    """Distances [m] to the borders from a place in a cell, at most `reach`, along the beams of `fan`.

    (c, s) is the vector of the lidar's heading. Everything is computed in the lidar's frame, so a beam's direction is a
    row of a table. A place beyond a border sees from the border, for nobody can look out of a wall.
    """
    gap_left, gap_right = gaps(road, cell, x, y)
    if gap_left < INSIDE or gap_right < INSIDE:
        x, y = pulled_in(road, cell, x, y, gap_left, gap_right)
    count = beams.shape[1]
    per_angle, half = ((count - 1) / view, 0.5 * view) if count > 1 else (1.0, 0.0)
    ahead = cell + 1
    rx, ry = seen_from(road, ahead, RIGHT_X, x, y, c, s)
    lx, ly = seen_from(road, ahead, LEFT_X, x, y, c, s)
    qx, qy = seen_from(road, cell, LEFT_X, x, y, c, s)
    px, py = seen_from(road, cell, RIGHT_X, x, y, c, s)
    right = maths.atan2(ry, rx)
    left = after(maths.atan2(ly, lx), right)
    left_behind = after(maths.atan2(qy, qx), left)
    right_behind = min(after(maths.atan2(py, px), left_behind), right + TURN)
    for lap in range(2):  # the sectors begin within half a turn of ahead, and may reach beyond
        back = half - lap * TURN
        k0 = first_beam((right + back) * per_angle, count)
        k1 = first_beam((left + back) * per_angle, count)
        k2 = first_beam((left_behind + back) * per_angle, count)
        k3 = first_beam((right_behind + back) * per_angle, count)
        k4 = count if lap == 0 else first_beam((right + half) * per_angle, count)
        if k0 < k1:
            sweep(road, ahead, 1, x, y, c, s, beams, k0, k1 - 1, reach, out)
        hit(beams, k1, k2 - 1, lx, ly, qx, qy, out)
        if k2 < k3:
            sweep(road, cell, -1, x, y, c, s, beams, k2, k3 - 1, reach, out)
        hit(beams, k3, k4 - 1, px, py, rx, ry, out)
    for j in range(count):
        out[j] = 1.0 / max(out[j], 1.0 / reach)


@kernel
def after(angle: float, start: float) -> float:
    """The angle plus as many turns as make it at least `start`."""
    while angle < start:
        angle += TURN
    return angle


@kernel
def first_beam(at: float, count: int) -> int:
    """The first beam at or after a place among them, from 0 to their number."""
    return int(min(max(math.ceil(at), 0.0), float(count)))


@kernel
def pulled_in(road: Any, i: int, x: float, y: float, gap_left: float, gap_right: float) -> tuple[float, float]:
    """The place just inside of the nearer border; in the middle of a road that is narrower than that."""
    column = LEFT_X if gap_left < gap_right else RIGHT_X
    ex, ey = road[i + 1, column] - road[i, column], road[i + 1, column + 1] - road[i, column + 1]
    inward = (INSIDE - min(gap_left, gap_right)) / math.sqrt(ex * ex + ey * ey)
    if column == LEFT_X:
        inward = -inward
    return x - ey * inward, y + ex * inward


@kernel
def scan_body(
    x: float, y: float, c: float, s: float, beams: Any, view: float, out: Any,
    other_x: float, other_y: float, other_c: float, other_s: float, shape: Any,
) -> None:  # fmt: skip
    """Shorten the distances of beams from a lidar at (x, y) that a rectangular body is in the way of.

    shape: how far the body reaches from its place to the front, to the rear and to either side. From within the body
    all distances are 0.
    """
    dx, dy = x - other_x, y - other_y
    ox, oy = other_c * dx + other_s * dy, other_c * dy - other_s * dx  # the lidar in the body's frame
    rc, rs = c * other_c + s * other_s, s * other_c - c * other_s  # and its heading
    front, rear, half = shape[0], shape[1], shape[2]
    if -rear <= ox <= front and abs(oy) <= half:
        for j in range(beams.shape[1]):
            out[j] = 0.0
        return
    middle = maths.atan2(-rs * -ox + rc * -oy, rc * -ox + rs * -oy)  # direction of the body's place
    low = high = 0.0
    for n in range(4):
        ax = (front if n == 0 or n == 3 else -rear) - ox
        ay = (half if n < 2 else -half) - oy
        angle = maths.atan2(rc * ay - rs * ax, rc * ax + rs * ay) - middle
        angle -= TURN * math.floor(angle / TURN + 0.5)
        low, high = min(low, angle), max(high, angle)
    count = beams.shape[1]
    per_angle, half_view = ((count - 1) / view, 0.5 * view) if count > 1 else (1.0, 0.0)
    for lap in range(-1, 2):
        back = middle + half_view + lap * TURN
        for j in range(first_beam((low + back) * per_angle, count), first_beam((high + back) * per_angle, count)):
            out[j] = min(out[j], to_box(ox, oy, rc * beams[0, j] - rs * beams[1, j],
                                        rs * beams[0, j] + rc * beams[1, j], front, rear, half))  # fmt: skip


@kernel
def to_box(ox: float, oy: float, dx: float, dy: float, front: float, rear: float, half: float) -> float:
    """Distance from (ox, oy) in direction (dx, dy) to a box around the origin, 1e300 where it is missed."""
    dx = dx if abs(dx) > 1e-12 else 1e-12
    dy = dy if abs(dy) > 1e-12 else 1e-12
    x1, x2 = (-rear - ox) / dx, (front - ox) / dx
    y1, y2 = (-half - oy) / dy, (half - oy) / dy
    enter, leave = max(min(x1, x2), min(y1, y2)), min(max(x1, x2), max(y1, y2))
    return enter if 0.0 <= enter <= leave else 1e300


@kernel
def normal_number(word: Any) -> float:
    """A number of the normal distribution from 64 random bits, in steps that compilers do for many words at a time.

    The sum of four parts of the word, which reaches 3.5 standard deviations, is stretched by a polynomial to what it is
    for the normal distribution: within 0.01 up to 3.5, within 0.03 up to 4.5; it reaches 5.3. A least-squares fit of
    our own.
    """
    parts = (word & PART) + ((word >> _16) & PART) + ((word >> _32) & PART) + (word >> _48)
    x = (float(np.int64(parts)) - MEAN_OF_PARTS) * PER_PART
    y = x * x
    return x * (0.966391173 + y * (2.7792485e-3 + y * (4.65309547e-3 + y * (-8.20677505e-4 + y * 6.19453408e-5))))


@kernel
def add_noise(first: Any, second: Any, deviation: float, out: Any) -> None:
    """Add normal noise to distances [m], which stay positive: the same for the same two words of 64 bits.

    The word of a beam follows from its number (SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
    Generators", OOPSLA 2014), not from that of the beam before.
    """
    for j in range(out.size):
        word = (first + np.uint64(j) * GOLDEN) ^ second
        word = (word ^ (word >> _30)) * FIRST
        word = (word ^ (word >> _27)) * SECOND
        out[j] = max(out[j] + deviation * normal_number(word ^ (word >> _31)), 0.0)
