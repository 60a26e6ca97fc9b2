"""A closed road as a strip of cells, and what cars ask of it, each in constant time.

A road is an array (N + 1, COLUMNS). Row i is a **rung**: the center line's point, the ends of the rung on the left
and the right border, progress, heading, curvature and widths there; rungs are equally far apart along the center
line, and row N repeats row 0 with the length as its progress. Between two rungs lies a convex **cell**: borders are
straight there. All quantities are exact on this strip; with cells of 0.25 m it is within 4 mm of the spline where the
radius is 2 m.

A car keeps the number of its cell in its state as a hint: `locate` walks from there to the cell that holds the car, one
or two steps. The strip is followed along itself, so two parts that lie over each other are a bridge: nothing on one is
seen from the other.

Coordinates along the road are progress [m], from 0 to the length, and offset [m] from the center line, positive to the
left. `place` turns them into a pose, `coordinates` gives them.
"""

import math
from typing import Any

from rlenvs.core import kernel, maths
from rlenvs.kits.tracks.splines import ANGLE, X, Y, cubic, on_spline

CENTRE_X, CENTRE_Y, LEFT_X, LEFT_Y, RIGHT_X, RIGHT_Y, AT, HEADING, BEND, LEFT, RIGHT = range(11)
COLUMNS = 11
SOUND, NOT_FINITE, FOLDED, OVERLAPPING = range(4)  # what `fault` finds
FINE = 16  # parts of a spline's interval in which its length is measured
NODE, NODE_WEIGHT, MIDDLE_WEIGHT = math.sqrt(0.6) / 2.0, 5.0 / 18.0, 8.0 / 18.0  # Gauss and Legendre, three points
LEAST_ADVANCE = 0.1  # of a border between two rungs, relative to the centre line's


# --- from a spline to a road ------------------------------------------------------------------------------------------


@kernel
def speed_on(k: Any, i: int, t: float) -> float:
    """Metres per unit of the parameter."""
    _, _, dx, dy = on_spline(k, i, t)
    return math.sqrt(dx * dx + dy * dy)


@kernel
def arc(k: Any, i: int, start: float, end: float) -> float:
    """Length [m] of the spline between two parameters in interval i."""
    span, middle = end - start, 0.5 * (start + end)
    ends = speed_on(k, i, middle - NODE * span) + speed_on(k, i, middle + NODE * span)
    return span * (NODE_WEIGHT * ends + MIDDLE_WEIGHT * speed_on(k, i, middle))


@kernel
def spline_length(k: Any, n: int) -> float:
    """Length [m] of a spline with n intervals."""
    length = 0.0
    for i in range(n):
        part = (k[ANGLE, i + 1] - k[ANGLE, i]) / FINE
        for j in range(FINE):
            length += arc(k, i, k[ANGLE, i] + j * part, k[ANGLE, i] + (j + 1) * part)
    return length


@kernel
def set_rung(road: Any, row: int, k: Any, i: int, t: float, left: float, right: float) -> None:
    """Fill a row but for its progress: the rung at parameter t of the spline, in interval i."""
    x, y, dx, dy = on_spline(k, i, t)
    _, _, x2, x3 = cubic(k, X, i)
    _, _, y2, y3 = cubic(k, Y, i)
    per_angle = 1.0 / (k[ANGLE, i + 1] - k[ANGLE, i])
    b = (t - k[ANGLE, i]) * per_angle
    ddx, ddy = (6.0 * x3 * b + 2.0 * x2) * per_angle * per_angle, (6.0 * y3 * b + 2.0 * y2) * per_angle * per_angle
    size = math.sqrt(dx * dx + dy * dy)
    c, s = dx / size, dy / size
    road[row, CENTRE_X], road[row, CENTRE_Y] = x, y
    road[row, LEFT_X], road[row, LEFT_Y] = x - s * left, y + c * left
    road[row, RIGHT_X], road[row, RIGHT_Y] = x + s * right, y - c * right
    road[row, HEADING], road[row, BEND] = maths.atan2(s, c), (dx * ddy - dy * ddx) / (size * size * size)
    road[row, LEFT], road[row, RIGHT] = left, right


@kernel
def lay_road(road: Any, k: Any, n: int, widths: Any) -> None:
    """Fill a road from a solved spline with n intervals; widths (2, n + 1) [m] left and right of its knots."""
    cells = road.shape[0] - 1
    length = spline_length(k, n)
    step, row, at = length / cells, 0, 0.0
    for i in range(n):
        part = (k[ANGLE, i + 1] - k[ANGLE, i]) / FINE
        for j in range(FINE):
            start = k[ANGLE, i] + j * part
            piece = arc(k, i, start, start + part)
            while row < cells and row * step < at + piece:
                wanted = row * step - at
                t = start + part * wanted / piece
                t -= (arc(k, i, start, t) - wanted) / speed_on(k, i, t)
                share = (t - k[ANGLE, i]) / (k[ANGLE, i + 1] - k[ANGLE, i])
                left = widths[0, i] + share * (widths[0, i + 1] - widths[0, i])
                right = widths[1, i] + share * (widths[1, i + 1] - widths[1, i])
                set_rung(road, row, k, i, t, left, right)
                road[row, AT] = row * step
                row += 1
            at += piece
    for column in range(COLUMNS):
        road[cells, column] = road[0, column]
    road[cells, AT] = length


@kernel
def turns_left(ax: float, ay: float, bx: float, by: float) -> bool:
    """Whether vector b points to the left of vector a."""
    return ax * by - ay * bx > 0.0


@kernel
def cell_is_sound(road: Any, i: int) -> bool:
    """Whether the cell is convex and both borders advance."""
    c, s = maths.cos(road[i, HEADING]), maths.sin(road[i, HEADING])
    lx, ly = road[i + 1, LEFT_X] - road[i, LEFT_X], road[i + 1, LEFT_Y] - road[i, LEFT_Y]
    rx, ry = road[i + 1, RIGHT_X] - road[i, RIGHT_X], road[i + 1, RIGHT_Y] - road[i, RIGHT_Y]
    least = LEAST_ADVANCE * (road[i + 1, AT] - road[i, AT])
    if not (lx * c + ly * s > least and rx * c + ry * s > least):
        return False
    ax, ay = road[i, LEFT_X] - road[i, RIGHT_X], road[i, LEFT_Y] - road[i, RIGHT_Y]
    bx, by = road[i + 1, LEFT_X] - road[i + 1, RIGHT_X], road[i + 1, LEFT_Y] - road[i + 1, RIGHT_Y]
    near = turns_left(lx, ly, ax, ay) and turns_left(rx, ry, ax, ay)
    return near and turns_left(lx, ly, bx, by) and turns_left(rx, ry, bx, by)


@kernel
def overlap_at(road: Any) -> int:
    """A row whose centre is too close to a far part of the road, -1 for none: the parts might overlap.

    Rows are looked at in strides of less than half the narrowest width, and the distance is enlarged by as much.
    """
    cells = road.shape[0] - 1
    length, narrow = road[cells, AT], 1e300
    for i in range(cells):
        narrow = min(narrow, road[i, LEFT] + road[i, RIGHT])
    stride = max(1, int(0.4 * narrow * cells / length))
    slack = (stride * length / cells) * (stride * length / cells) if stride > 1 else 0.0
    for i in range(0, cells, stride):
        for j in range(i + stride, cells, stride):
            wide = max(road[i, LEFT], road[i, RIGHT]) + max(road[j, LEFT], road[j, RIGHT])
            along = road[j, AT] - road[i, AT]
            dx, dy = road[j, CENTRE_X] - road[i, CENTRE_X], road[j, CENTRE_Y] - road[i, CENTRE_Y]
            if min(along, length - along) > 3.0 * wide and dx * dx + dy * dy < wide * wide + slack:
                return i
    return -1


@kernel
def fault(road: Any) -> tuple[int, int]:
    """What is wrong with a road, SOUND ... OVERLAPPING, and in which row."""
    found, row = fault_of_cells(road)
    if found == SOUND:
        row = overlap_at(road)
        if row >= 0:
            return OVERLAPPING, row
        row = 0
    return found, row


@kernel
def fault_of_cells(road: Any) -> tuple[int, int]:
    """What is wrong with a cell of a road, SOUND ... FOLDED, and in which row."""
    cells = road.shape[0] - 1
    for i in range(cells):
        for column in range(COLUMNS):
            if not abs(road[i, column]) < 1e9:
                return NOT_FINITE, i
    for i in range(cells):
        if not cell_is_sound(road, i):
            return FOLDED, i
    return SOUND, 0


# --- where is a point -------------------------------------------------------------------------------------------------


@kernel
def ahead_of(road: Any, i: int, x: float, y: float) -> float:
    """Distance [m] of a point ahead of the line through rung i."""
    nx, ny = road[i, LEFT_X] - road[i, RIGHT_X], road[i, LEFT_Y] - road[i, RIGHT_Y]
    px, py = x - road[i, RIGHT_X], y - road[i, RIGHT_Y]
    return (ny * px - nx * py) / math.sqrt(nx * nx + ny * ny)


@kernel
def locate(road: Any, hint: int, x: float, y: float) -> int:
    """The cell that holds a point, walked to from a hint; of a point beside the road, the cell beside which it lies."""
    cells, i = road.shape[0] - 1, hint
    for _ in range(cells):
        if ahead_of(road, i + 1, x, y) < 0.0:
            break
        i = i + 1 if i + 1 < cells else 0
    for _ in range(cells):
        if ahead_of(road, i, x, y) >= 0.0:
            break
        i = i - 1 if i > 0 else cells - 1
    return i


@kernel
def nearest_cell(road: Any, x: float, y: float) -> int:
    """The cell nearest to a point, looked for everywhere: for points without a hint."""
    best, found = 1e300, 0
    for i in range(road.shape[0] - 1):
        dx, dy = x - road[i, CENTRE_X], y - road[i, CENTRE_Y]
        if dx * dx + dy * dy < best:
            best, found = dx * dx + dy * dy, i
    return locate(road, found, x, y)


@kernel
def coordinates(road: Any, i: int, x: float, y: float) -> tuple[float, float]:
    """Progress [m] and offset [m] of a point in cell i; both are continuous from cell to cell."""
    behind, ahead = ahead_of(road, i, x, y), -ahead_of(road, i + 1, x, y)
    part = 0.5
    if behind + ahead > 0.0:
        part = min(max(behind / (behind + ahead), 0.0), 1.0)
    cx = road[i, CENTRE_X] + part * (road[i + 1, CENTRE_X] - road[i, CENTRE_X])
    cy = road[i, CENTRE_Y] + part * (road[i + 1, CENTRE_Y] - road[i, CENTRE_Y])
    nx, ny = road[i, LEFT_X] - road[i, RIGHT_X], road[i, LEFT_Y] - road[i, RIGHT_Y]
    nx += part * (road[i + 1, LEFT_X] - road[i + 1, RIGHT_X] - nx)
    ny += part * (road[i + 1, LEFT_Y] - road[i + 1, RIGHT_Y] - ny)
    offset = ((x - cx) * nx + (y - cy) * ny) / math.sqrt(nx * nx + ny * ny)
    return road[i, AT] + part * (road[i + 1, AT] - road[i, AT]), offset


@kernel
def gained(length: float, before: float, after: float) -> float:
    """Progress [m] from one place to another on a closed road, the shorter way round, negative backwards."""
    change = after - before
    return change - length * math.floor(change / length + 0.5)


@kernel
def cell_at(road: Any, progress: float) -> tuple[int, float]:
    """The cell that holds a progress [m], any number of laps, and how far into it that is, from 0 to 1."""
    cells = road.shape[0] - 1
    at = progress / road[cells, AT]
    at = (at - math.floor(at)) * cells
    i = min(int(at), cells - 1)
    return i, at - i


@kernel
def place(road: Any, progress: float, offset: float) -> tuple[float, float, float]:
    """The pose (x [m], y [m], heading [rad]) at a progress and an offset."""
    i, part = cell_at(road, progress)
    turn = maths.wrapped(road[i + 1, HEADING] - road[i, HEADING])
    x = road[i, CENTRE_X] + part * (road[i + 1, CENTRE_X] - road[i, CENTRE_X])
    y = road[i, CENTRE_Y] + part * (road[i + 1, CENTRE_Y] - road[i, CENTRE_Y])
    nx, ny = road[i, LEFT_X] - road[i, RIGHT_X], road[i, LEFT_Y] - road[i, RIGHT_Y]
    nx += part * (road[i + 1, LEFT_X] - road[i + 1, RIGHT_X] - nx)
    ny += part * (road[i + 1, LEFT_Y] - road[i + 1, RIGHT_Y] - ny)
    shift = offset / math.sqrt(nx * nx + ny * ny)
    return x + shift * nx, y + shift * ny, road[i, HEADING] + part * turn


@kernel
def bend_at(road: Any, progress: float) -> float:
    """Curvature [1/m] of the centre line, positive to the left."""
    i, part = cell_at(road, progress)
    return road[i, BEND] + part * (road[i + 1, BEND] - road[i, BEND])


# --- borders ----------------------------------------------------------------------------------------------------------


@kernel
def gaps(road: Any, i: int, x: float, y: float) -> tuple[float, float]:
    """Distances [m] of a point in cell i from the left and the right border of this cell, negative beyond them."""
    ex, ey = road[i + 1, LEFT_X] - road[i, LEFT_X], road[i + 1, LEFT_Y] - road[i, LEFT_Y]
    px, py = x - road[i, LEFT_X], y - road[i, LEFT_Y]
    left = (py * ex - px * ey) / math.sqrt(ex * ex + ey * ey)
    ex, ey = road[i + 1, RIGHT_X] - road[i, RIGHT_X], road[i + 1, RIGHT_Y] - road[i, RIGHT_Y]
    px, py = x - road[i, RIGHT_X], y - road[i, RIGHT_Y]
    return -left, (py * ex - px * ey) / math.sqrt(ex * ex + ey * ey)


@kernel
def from_segment(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> float:
    """Distance [m] of a point from a segment."""
    ex, ey, px, py = bx - ax, by - ay, x - ax, y - ay
    part = min(max((px * ex + py * ey) / (ex * ex + ey * ey), 0.0), 1.0)
    dx, dy = px - part * ex, py - part * ey
    return math.sqrt(dx * dx + dy * dy)


@kernel
def from_borders(road: Any, i: int, x: float, y: float) -> float:
    """Distance [m] of a point of cell i on the road from the nearest point of both borders."""
    cells, best = road.shape[0] - 1, 1e300
    for way in (1, -1):
        j = i
        for _ in range(cells):
            left = from_segment(road[j, LEFT_X], road[j, LEFT_Y], road[j + 1, LEFT_X], road[j + 1, LEFT_Y], x, y)
            right = from_segment(road[j, RIGHT_X], road[j, RIGHT_Y], road[j + 1, RIGHT_X], road[j + 1, RIGHT_Y], x, y)
            best = min(best, left, right)
            rung = j + 1 if way > 0 else j
            if abs(ahead_of(road, rung, x, y)) >= best:
                break
            j += way
            j = j - cells if j >= cells else (j + cells if j < 0 else j)
    return best


@kernel
def corner_of(shape: Any, n: int) -> tuple[float, float]:
    """Corner n of a body, anticlockwise from the front left, in its own frame; shape: front, rear, half width [m]."""
    along = shape[0] if n == 0 or n == 3 else -shape[1]
    return along, (shape[2] if n < 2 else -shape[2])


@kernel
def body_gap(road: Any, i: int, x: float, y: float, c: float, s: float, shape: Any) -> float:
    """How far [m] a rectangular body in cell i is from the borders at its corners; negative when it touches them.

    shape: how far the body reaches to the front, to the rear and to either side. (c, s) is the vector of its heading.
    The sign is exact: a body touches where a corner is beyond a border, or a border's vertex is in the body.
    """
    gap, _, _, _, _ = body_contact(road, i, x, y, c, s, shape)
    return gap


@kernel
def body_contact(
    road: Any, i: int, x: float, y: float, c: float, s: float, shape: Any
) -> tuple[float, float, float, float, float]:
    """`body_gap`, with where on the body that is and which way leads out, in the frame of the body.

    Returns:
        the gap [m], how far ahead [m] and to the left [m] the point of the body is, and the unit vector away from
        the border, ahead and to the left: that of the border at a corner, of the body's side at a border's vertex.
    """
    cells, gap, first, last = road.shape[0] - 1, 1e300, 0, 1
    at_along, at_left, row, column = 0.0, 0.0, 0, -1
    for n in range(4):
        along, left = corner_of(shape, n)
        px, py = x + c * along - s * left, y + s * along + c * left
        j = locate(road, i, px, py)
        gap_left, gap_right = gaps(road, j, px, py)
        if min(gap_left, gap_right) < gap:
            gap, at_along, at_left, row = min(gap_left, gap_right), along, left, j
            column = LEFT_X if gap_left < gap_right else RIGHT_X
        away = j - i
        away = away - cells if 2 * away > cells else (away + cells if 2 * away < -cells else away)
        first, last = min(first, away), max(last, away)
    out_ahead, out_left = 0.0, 0.0
    if gap < 0.0:
        ex, ey = road[row + 1, column] - road[row, column], road[row + 1, column + 1] - road[row, column + 1]
        size = math.copysign(math.sqrt(ex * ex + ey * ey), -1.0 if column == LEFT_X else 1.0)
        out_ahead, out_left = (s * ex - c * ey) / size, (c * ex + s * ey) / size
    for away in range(first, last + 1):
        j = i + away
        j = j - cells if j >= cells else (j + cells if j < 0 else j)
        for column in (LEFT_X, RIGHT_X):
            dx, dy = road[j, column] - x, road[j, column + 1] - y
            along, left = c * dx + s * dy, c * dy - s * dx
            deep = min(shape[0] - along, shape[1] + along, shape[2] - abs(left))
            if deep > 0.0 and -deep < gap:
                gap, at_along, at_left = -deep, along, left
                out_ahead = -1.0 if deep == shape[0] - along else (1.0 if deep == shape[1] + along else 0.0)
                out_left = -math.copysign(1.0, left) if out_ahead == 0.0 else 0.0
    return gap, at_along, at_left, out_ahead, out_left


# --- patches and checkpoints ------------------------------------------------------------------------------------------

PATCH = 5  # numbers of a patch: start [m] and length [m] along the road, lowest and highest offset [m], factor


@kernel
def grip_factor(patches: Any, length: float, progress: float, offset: float) -> float:
    """Product of the factors of all patches (M, PATCH) that hold a place; 1 where there is none."""
    factor = 1.0
    for n in range(patches.shape[0]):
        ahead = progress - patches[n, 0]
        ahead -= length * math.floor(ahead / length)
        if ahead < patches[n, 1] and patches[n, 2] <= offset <= patches[n, 3]:
            factor *= patches[n, 4]
    return factor


@kernel
def pass_checkpoints(places: Any, following: int, before: float, change: float, length: float) -> int:
    """How many checkpoints a way passes in order.

    places: their progress [m], ascending; following: the index of the one that comes next; before: progress at the
    start of the way; change: metres gained. Ways backwards pass none.
    """
    passed, count = 0, places.size
    while passed < count:
        to_it = places[(following + passed) % count] - before
        to_it -= length * math.floor(to_it / length)
        if to_it == 0.0:
            to_it = length
        if to_it > change:
            break
        passed += 1
    return passed
