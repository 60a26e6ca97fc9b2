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

from rlenvs.core import combine_run, kernel, maths
from rlenvs.core.declare.kernels import RUN
from rlenvs.core.declare.splitmix import FIRST, GOLDEN, SECOND
from rlenvs.kits.tracks.road import LEFT_X, RIGHT_X, gaps

INSIDE = 1e-6  # m; a lidar at a border or beyond it sees from this far inside
TURN = 2.0 * math.pi
TOUCHING = 1e-12  # m^2
ONE, LEAST = np.float32(1.0), 1e-30  # 1/m

_8, _16, _27, _30, _31, _32 = (np.uint64(n) for n in (8, 16, 27, 30, 31, 32))
BYTES, PAIRS, LOW_HALF = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF), np.uint64(0xFFFFFFFF)
MEAN_OF_BYTES, PER_BYTE = np.float32(510.0), np.float32(1.0 / math.sqrt(65535.0 / 3.0))  # to a deviation of 1
FIT_1, FIT_3, FIT_5, FIT_7, FIT_9 = (
    np.float32(each) for each in (0.966391173, 2.7792485e-3, 4.65309547e-3, -8.20677505e-4, 6.19453408e-5)
)


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
def hit(beams: Any, first: int, last: int, u: float, v: float, near: Any) -> None:
    """How near the line of `seen_line` is along the beams first ... last."""
    for j in range(max(first, 0), last + 1):
        near[j] = beams[0, j] * u - beams[1, j] * v


@kernel
def angle_about(x: float, y: float) -> float:
    """The angle [rad] of a vector within 3e-8, without a branch (a polynomial of Abramowitz and Stegun, 4.4.49)."""
    along, across = abs(x), abs(y)
    part = min(along, across) / max(along, across, 1e-300)
    z = part * part
    z2 = z * z
    low = (1.0 - 0.3333314528 * z) + z2 * (0.1999355085 - 0.1420889944 * z)
    high = (0.1065626393 - 0.0752896400 * z) + z2 * (0.0429096138 - 0.0161657367 * z)
    z4 = z2 * z2
    angle = part * (low + z4 * (high + z4 * 0.0028662257))
    angle = 0.5 * math.pi - angle if across > along else angle
    angle = math.pi - angle if x < 0.0 else angle
    return -angle if y < 0.0 else angle


@kernel
def between(cosines: Any, sines: Any, first: int, last: int, found: int, x: float, y: float) -> bool:
    """Whether of the beams first ... last those before `found` pass to the right of a point, and the others do not.

    One question in place of four, as processors guess each of them badly.
    """
    before, there = max(found - 1, 0), max(min(found, last), 0)
    right = (cosines[before] * y - sines[before] * x > 0.0) | (found == first)
    left = (cosines[there] * y - sines[there] * x <= 0.0) | (found > last)
    return right & left


@kernel
def search_left(beams: Any, first: int, last: int, x: float, y: float) -> int:
    """The first of the beams first ... last that does not pass to the right of a point; last + 1 where all do."""
    while first <= last and beams[0, max(first, 0)] * y - beams[1, max(first, 0)] * x > 0.0:
        first += 1
    return first


@kernel
def beam_about(per_angle: float, half: float, x: float, y: float) -> int:
    """About the first beam that does not pass to the right of a point."""
    return int((angle_about(x, y) + half) * per_angle + 1.0)


@kernel
def next_row(row: int, way: int, cells: int) -> int:
    """The rung after or before one on a closed road."""
    row += way
    return row - cells if row > cells else (row + cells if row < 0 else row)


@kernel
def sweep(  # 13 parameters: road and place number by number, as loops hold them in registers
    road: Any, row: int, way: int, x: float, y: float, c: float, s: float, beams: Any, view: float, first: int,
    last: int, reach: float, near: Any,
) -> None:  # fmt: skip
    """How near borders are along the beams first ... last, which pass rung `row` forwards (way 1) or backwards (-1).

    What is hit is written in runs, over beams that have not hit anything yet.
    """
    cells, cosines, sines = road.shape[0] - 1, beams[0], beams[1]
    right, left = (RIGHT_X, LEFT_X) if way > 0 else (LEFT_X, RIGHT_X)
    rx, ry = seen_from(road, row, right, x, y, c, s)
    lx, ly = seen_from(road, row, left, x, y, c, s)
    row = next_row(row, way, cells)
    rx_1, ry_1 = seen_from(road, row, right, x, y, c, s)
    lx_1, ly_1 = seen_from(road, row, left, x, y, c, s)
    per_angle, half = spread_of(beams, view)
    if way < 0:  # angles are those to straight behind, so that none of them jumps there
        half += math.copysign(math.pi, first + last - beams.shape[1])
    about = beam_about(per_angle, half, way * rx_1, way * ry_1)
    about_1 = beam_about(per_angle, half, way * lx_1, way * ly_1)
    u, v = seen_line(rx, ry, rx_1, ry_1)
    u_1, v_1 = seen_line(lx, ly, lx_1, ly_1)
    for _ in range(cells):
        # what does not depend on where this cell's beams end is computed before that is asked: of the cell after it
        row = next_row(row, way, cells)
        rx_2, ry_2 = seen_from(road, row, right, x, y, c, s)
        lx_2, ly_2 = seen_from(road, row, left, x, y, c, s)
        about_2 = beam_about(per_angle, half, way * rx_2, way * ry_2)
        about_3 = beam_about(per_angle, half, way * lx_2, way * ly_2)
        u_2, v_2 = seen_line(rx_1, ry_1, rx_2, ry_2)
        u_3, v_3 = seen_line(lx_1, ly_1, lx_2, ly_2)
        begin, end = first, last
        first = max(min(about, last + 1), begin)
        if not between(cosines, sines, begin, end, first, rx_1, ry_1):
            first = search_left(beams, begin, end, rx_1, ry_1)
        last = max(min(about_1, end + 1), first)
        if not between(cosines, sines, first, end, last, lx_1, ly_1):
            last = search_left(beams, first, end, lx_1, ly_1)
        last -= 1
        if last - first >= RUN:
            j = begin
            combine_run(near, j, cosines, u, sines, -v)
            while j + RUN < first:
                j += RUN
                combine_run(near, j, cosines, u, sines, -v)
            j = end + 1 - RUN
            combine_run(near, j, cosines, u_1, sines, -v_1)
            while j > last + 1:
                j -= RUN
                combine_run(near, j, cosines, u_1, sines, -v_1)
        else:
            hit(beams, begin, first - 1, u, v, near)
            hit(beams, last + 1, end, u_1, v_1, near)
        if first > last:
            return
        if rx_1 * rx_1 + ry_1 * ry_1 > reach * reach and lx_1 * lx_1 + ly_1 * ly_1 > reach * reach:
            across = math.sqrt((lx_1 - rx_1) * (lx_1 - rx_1) + (ly_1 - ry_1) * (ly_1 - ry_1))
            beyond = (reach + across) * (reach + across)
            if lx_1 * lx_1 + ly_1 * ly_1 > beyond and rx_1 * rx_1 + ry_1 * ry_1 > beyond:
                break
        rx_1, ry_1, lx_1, ly_1 = rx_2, ry_2, lx_2, ly_2
        about, about_1, u, v, u_1, v_1 = about_2, about_3, u_2, v_2, u_3, v_3
    for j in range(max(first, 0), last + 1):
        near[j] = 0.0


@kernel
def see_borders(
    road: Any, cell: int, x: float, y: float, c: float, s: float, beams: Any, view: float, reach: float, near: Any
) -> None:
    """How near [1/m] the borders are from a place in a cell, along the beams of `fan`; beyond `reach` less than 1 / it.

    (c, s) is the vector of the lidar's heading. Everything is computed in the lidar's frame, so a beam's direction is a
    row of a table. A place beyond a border sees from the border, for nobody can look out of a wall.
    """
    gap_left, gap_right = gaps(road, cell, x, y)
    if gap_left < INSIDE or gap_right < INSIDE:
        x, y = pulled_in(road, cell, x, y, gap_left, gap_right)
    count = beams.shape[1]
    per_angle, half = spread_of(beams, view)
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
            sweep(road, ahead, 1, x, y, c, s, beams, view, k0, k1 - 1, reach, near)
        hit(beams, k1, k2 - 1, *seen_line(lx, ly, qx, qy), near)
        if k2 < k3:
            sweep(road, cell, -1, x, y, c, s, beams, view, k2, k3 - 1, reach, near)
        hit(beams, k3, k4 - 1, *seen_line(px, py, rx, ry), near)


@kernel
def distances(near: Any, reach: float) -> None:
    """From how near something is [1/m] to how far [m], at most `reach`, in the same array and in its kind of float."""
    least, most = near.dtype.type(LEAST), near.dtype.type(reach)
    for j in range(near.size):
        near[j] = min(ONE / max(near[j], least), most)


@kernel
def scan(
    road: Any, cell: int, x: float, y: float, c: float, s: float, beams: Any, view: float, reach: float, out: Any
) -> None:
    """Distances [m] to the borders, at most `reach`, where nothing else is in the way; see `see_borders`."""
    see_borders(road, cell, x, y, c, s, beams, view, reach, out)
    distances(out, reach)


@kernel
def spread_of(beams: Any, view: float) -> tuple[float, float]:
    """Beams per angle [1/rad], and the angle [rad] from the first to straight ahead."""
    count = beams.shape[1]
    return ((count - 1) / view, 0.5 * view) if count > 1 else (1.0, 0.0)


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
def see_body(
    x: float, y: float, c: float, s: float, beams: Any, view: float, near: Any,
    other_x: float, other_y: float, other_c: float, other_s: float, shape: Any,
) -> None:  # fmt: skip
    """Bring nearer [1/m] what beams from a lidar at (x, y) see of a rectangular body.

    shape: how far the body reaches from its place to the front, to the rear and to either side. From within the body
    all distances are 0.
    """
    dx, dy = x - other_x, y - other_y
    ox, oy = other_c * dx + other_s * dy, other_c * dy - other_s * dx  # the lidar in the body's frame
    rc, rs = c * other_c + s * other_s, s * other_c - c * other_s  # and its heading
    front, rear, half = shape[0], shape[1], shape[2]
    if -rear <= ox <= front and abs(oy) <= half:
        for j in range(beams.shape[1]):
            near[j] = math.inf
    elif oy > half:
        see_side(rc, rs, -rear - ox, half - oy, front - ox, half - oy, beams, view, near)
    elif oy < -half:
        see_side(rc, rs, front - ox, -half - oy, -rear - ox, -half - oy, beams, view, near)
    if ox > front:
        see_side(rc, rs, front - ox, half - oy, front - ox, -half - oy, beams, view, near)
    elif ox < -rear:
        see_side(rc, rs, -rear - ox, -half - oy, -rear - ox, half - oy, beams, view, near)


@kernel
def see_side(
    c: float, s: float, right_x: float, right_y: float, left_x: float, left_y: float, beams: Any, view: float, near: Any
) -> None:
    """Bring nearer what beams hit of a segment, whose ends are where the heading is (c, s)."""
    ax, ay = c * right_x + s * right_y, c * right_y - s * right_x
    bx, by = c * left_x + s * left_y, c * left_y - s * left_x
    u, v = seen_line(ax, ay, bx, by)
    right = maths.atan2(ay, ax)
    left = after(maths.atan2(by, bx), right)
    per_angle, half = spread_of(beams, view)
    for lap in range(2):
        back = half - lap * TURN
        stop = first_beam((left + back) * per_angle, beams.shape[1])
        for j in range(max(first_beam((right + back) * per_angle, beams.shape[1]), 0), stop):
            near[j] = max(near[j], beams[0, j] * u - beams[1, j] * v)


@kernel
def normal_number(total: Any) -> Any:
    """A number of the normal distribution from the sum of four random bytes.

    The sum, which reaches 3.5 standard deviations, is stretched by a polynomial to what it is for the normal
    distribution: within 0.01 up to 3.5, within 0.03 up to 4.5; it reaches 5.1, in steps of 0.007. A least-squares fit
    of our own.
    """
    x = (np.float32(total) - MEAN_OF_BYTES) * PER_BYTE
    y = x * x
    return x * (FIT_1 + y * (FIT_3 + y * (FIT_5 + y * (FIT_7 + y * FIT_9))))


@kernel
def add_noise(first: Any, second: Any, deviation: float, out: Any) -> None:
    """Add normal noise to distances [m], which stay positive: the same for the same two words of 64 bits.

    Each half of a word serves a beam, one of the first and one of the last half of them. The word follows from the
    beam's number (SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014),
    not from that of the beam before.
    """
    pairs, size = out.size // 2, out.dtype.type(deviation)
    none = size - size
    for j in range(pairs):
        sums = random_sums(first, second, j)
        out[j] = max(out[j] + size * normal_number(np.int64(sums & LOW_HALF)), none)
        out[pairs + j] = max(out[pairs + j] + size * normal_number(np.int64(sums >> _32)), none)
    if 2 * pairs < out.size:
        sums = random_sums(first, second, pairs)
        out[2 * pairs] = max(out[2 * pairs] + size * normal_number(np.int64(sums & LOW_HALF)), none)


@kernel
def random_sums(first: Any, second: Any, j: int) -> Any:
    """Two sums of four random bytes, in either half of a word."""
    word = (first + np.uint64(j) * GOLDEN) ^ second
    word = (word ^ (word >> _30)) * FIRST
    word = (word ^ (word >> _27)) * SECOND
    word = word ^ (word >> _31)
    word = (word & BYTES) + ((word >> _8) & BYTES)
    return (word & PAIRS) + ((word >> _16) & PAIRS)
