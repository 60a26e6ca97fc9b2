"""Random closed tracks and the lidar on them.

The recipe is MicroRacer's (Asperti and Del Brutto, arXiv 2203.10494): control points at equal polar angles, a periodic
cubic spline through them as midline, borders half a width to either side, through 119 samples of which a second spline
is fitted in their polar angle. The original then paints the track on a raster of 1300 x 1300 cells. Here both borders
become a radius at each of GATES polar angles, 8 kB; between neighboring gates they are straight, within 0.00015 m of
the spline, within 0.0004 m at the bends of a chicane. Every quantity a car needs (inside or not, distance along a ray)
is exact on these polylines.

A ray keeps turning the same way about the origin, so it passes gate after gate in one direction until it leaves the
interval between the two radii; of adjacent rays, the outermost leave first.
"""

import math

import numpy as np

from rlenvs.core import below, f4, f8, i8, kernel, maths, prefetch, u8, uniform
from rlenvs.kits.tracks.splines import ANGLE, X, Y, close_spline, cubic, interval, on_spline

CONTROLS = 20  # control points, the first and the last on the same ray
CHICANE_POINTS = 4
SAMPLES = 119  # distinct samples per border
GATES = 1024
TRIES = 100  # improper tracks are rare: none in thousands at the default width
WALLS = 6
CLEAR = 0.03  # m, walls that far away do not matter
REACH = 1.3  # m, tracks that leave the square of this half width are drawn again

GATE_ANGLE = 2.0 * math.pi / GATES
UNITS = np.array([maths.sin_cos(j * GATE_ANGLE)[::-1] for j in range(GATES)])  # vectors of the gates
BASE_RADIUS = 0.7
SHARPEST = 1.0  # largest |2 r_i - r_(i-1) - r_(i+1)| of the raw radii
CHICANE_OUTER, CHICANE_INNER, CHICANE_PUSH = 1.0 / 3.0, 1.0 / 25.0, 0.02
WALL_ANGLE = math.pi / 150.0
FAR_SIDE, NEAR_SIDE = 0.85, 0.15

INNER, OUTER = 0, 1

# survives resets: the track follows from its number and four parameters
TRACK_MEMO = {
    "fan": f8(5),  # rad, field of view; sine and cosine of half of it and of the angle between rays
    "walls": f8(WALLS, 4),  # m, x, y of both ends; all zero without obstacles
    "built": f8(5),  # number + 1, width, spread, chicanes, obstacles of the track below
    "track": i8,  # the number of the track: the same number gives the same track
    "track_rng": u8(2),
    "knots": i8,  # intervals of the midline: 19, with a chicane 23
    "midline": f8(7, CONTROLS + CHICANE_POINTS),
    "edge": f8(7, SAMPLES + 1),  # the spline of the border built last, the outer one
    "border": f4(GATES, 2),  # m, inner and outer radius at each gate
}


# --- generator --------------------------------------------------------------------------------------------------------


@kernel
def soften(before, radius, after):
    """The radius moved so far that the bend at it is not sharper than SHARPEST."""
    bend = 2.0 * radius - before - after
    if abs(bend) <= SHARPEST:
        return radius
    return 0.5 * (before + after + math.copysign(SHARPEST, bend))


@kernel
def place_controls(s, spread):
    """From raw radii in [0, 1), in the row X of the midline, to control points."""
    k = s.midline
    n = CONTROLS - 1
    for i in range(CONTROLS):
        k[X, i] = soften(k[X, (i + n) % CONTROLS], k[X, i], k[X, (i + 1) % CONTROLS])
    for i in range(CONTROLS):
        radius, angle = BASE_RADIUS + spread * k[X, i], 2.0 * math.pi * i / n
        k[ANGLE, i], k[X, i], k[Y, i] = angle, radius * maths.cos(angle), radius * maths.sin(angle)
    s.knots = n


@kernel
def insert_chicane(s, at, push):
    """Straighten the track around control point `at`, then bend it outwards by `push` before and inwards after."""
    k = s.midline
    step, angle = k[ANGLE, at] - k[ANGLE, at - 1], k[ANGLE, at]
    x0, y0 = k[X, at - 1], k[Y, at - 1]
    x1, y1 = k[X, at + 1], k[Y, at + 1]
    for row in (ANGLE, X, Y):
        for i in range(CONTROLS - 1, at, -1):
            k[row, i + CHICANE_POINTS] = k[row, i]
    for j in range(-2, 3):
        shift = (abs(j) > 1) * CHICANE_OUTER + (abs(j) == 1) * CHICANE_INNER
        theta = angle + math.copysign(shift, j) * step
        c, sn = maths.cos(theta), maths.sin(theta)
        radius = (x0 * y1 - y0 * x1) / (c * (y1 - y0) - sn * (x1 - x0))
        if abs(j) == 1:
            radius *= 1.0 - j * push
        i = at + 2 + j
        k[ANGLE, i], k[X, i], k[Y, i] = theta, radius * c, radius * sn
    s.knots += CHICANE_POINTS


@kernel
def sample_edge(s, offset):
    """Spline through samples `offset` to the left of the midline, over their polar angle; False if that turns back."""
    k, m, n = s.edge, s.midline, s.knots
    i, last = 0, -math.pi
    for j in range(SAMPLES):
        theta = 2.0 * math.pi * j / SAMPLES
        i = interval(m, n, theta, i)
        x, y, dx, dy = on_spline(m, i, theta)
        shift = offset / math.sqrt(dx * dx + dy * dy)
        k[X, j], k[Y, j] = x - dy * shift, y + dx * shift
        angle = maths.atan2(k[Y, j], k[X, j])
        if angle < last - math.pi:
            angle += 2.0 * math.pi
        if j > 0 and angle <= last:
            return False
        k[ANGLE, j] = angle
        last = angle
    k[ANGLE, SAMPLES] = k[ANGLE, 0] + 2.0 * math.pi
    if k[ANGLE, SAMPLES] <= last:
        return False
    close_spline(k, SAMPLES)
    return True


@kernel
def tabulate_edge(s, side):
    """Radius of the edge at every gate; False if the edge turns back or leaves the square.

    In an interval of the spline a point's distance from a gate's line is a cubic of the part b of the interval. Its
    root is found by Newton's method, from where it is at both ends; no gate has to wait for the one before.
    """
    k, border, sound = s.edge, s.border, True
    for i in range(SAMPLES):
        begin, per_angle = k[ANGLE, i], 1.0 / (k[ANGLE, i + 1] - k[ANGLE, i])
        x0, x1, x2, x3 = cubic(k, X, i)
        y0, y1, y2, y3 = cubic(k, Y, i)
        for gate in range(math.ceil(begin / GATE_ANGLE), math.ceil(k[ANGLE, i + 1] / GATE_ANGLE)):
            c, sn = UNITS[gate & (GATES - 1), 0], UNITS[gate & (GATES - 1), 1]
            d0, d1, d2, d3 = c * y0 - sn * x0, c * y1 - sn * x1, c * y2 - sn * x2, c * y3 - sn * x3
            b, change = (gate * GATE_ANGLE - begin) * per_angle, 0.0
            slope = (3.0 * d3 * b + 2.0 * d2) * b + d1
            per_slope = 1.0 / slope
            for _ in range(2):
                change = (((d3 * b + d2) * b + d1) * b + d0) * per_slope
                b -= change
            radius = c * (((x3 * b + x2) * b + x1) * b + x0) + sn * (((y3 * b + y2) * b + y1) * b + y0)
            border[gate & (GATES - 1), side] = radius
            ahead, found = slope * per_angle >= 0.05 * radius, abs(change) * slope <= 1e-5 * radius
            sound = sound and ahead and found and radius * max(abs(c), abs(sn)) < REACH
    return sound


@kernel
def build_borders(s, width):
    """Midline and borders from the control points; False when they make no proper track."""
    close_spline(s.midline, s.knots)
    if not (sample_edge(s, 0.5 * width) and tabulate_edge(s, INNER)):
        return False
    return sample_edge(s, -0.5 * width) and tabulate_edge(s, OUTER)


@kernel
def place_walls(s, rng, width):
    """One wall in each of sectors 1 to 6 of 8, near the outer or the inner border."""
    k, walls = s.edge, s.walls
    sector = 2.0 * math.pi / (WALLS + 2)
    for w in range(WALLS):
        inward = (FAR_SIDE if uniform(rng, 0.0, 1.0) < 0.5 else NEAR_SIDE) * width
        theta = (w + 1) * sector + uniform(rng, 0.5 * sector, sector)
        for end in range(2):
            angle = theta - end * WALL_ANGLE
            x, y, dx, dy = on_spline(k, interval(k, SAMPLES, angle, 0), angle)
            shift = inward / math.sqrt(dx * dx + dy * dy)
            walls[w, 2 * end], walls[w, 2 * end + 1] = x - dy * shift, y + dx * shift


@kernel
def generate(s, number, width, spread, chicanes, obstacles):
    """The track of this number, unless it is there already."""
    built = s.built
    same = built[0] == number + 1.0 and built[1] == width and built[2] == spread
    if same and built[3] == chicanes and built[4] == obstacles:
        return
    built[0], built[1], built[2], built[3], built[4] = number + 1.0, width, spread, chicanes, obstacles
    build_track(s, number, width, spread, chicanes, obstacles)


@kernel
def build_track(s, number, width, spread, chicanes, obstacles):
    """Control points, borders and walls; improper tracks are drawn again."""
    s.track = number
    rng = s.track_rng
    rng[0], rng[1] = number + 1, 1
    for _ in range(20):  # small seeds take a few draws to mix
        uniform(rng, 0.0, 1.0)
    for gate in range(GATES):  # nothing of the last track may show, should no try succeed
        s.border[gate, INNER] = s.border[gate, OUTER] = 0.0
    for _ in range(TRIES):
        for i in range(CONTROLS):
            s.midline[X, i] = uniform(rng, 0.0, 1.0)
        place_controls(s, spread)
        if chicanes:
            at = 1 + below(rng, CONTROLS - 3)
            insert_chicane(s, at, CHICANE_PUSH if uniform(rng, 0.0, 1.0) < 0.5 else -CHICANE_PUSH)
        if build_borders(s, width):
            break
    for w in range(WALLS):
        for j in range(4):
            s.walls[w, j] = 0.0
    if obstacles:
        place_walls(s, rng, width)


@kernel
def prefetch_border(s):
    """Ask for the gates about the car: many tracks do not fit into the caches."""
    gate = math.floor(s.angle / GATE_ANGLE)
    for lines in range(-2, 3):
        prefetch(s.border, (gate + 8 * lines) & (GATES - 1))


# --- where is a point -------------------------------------------------------------------------------------------------


@kernel
def border_gap(border, angle, x, y):
    """Distance [m] of a point from the nearer border, negative outside of the track; `angle` is its polar angle."""
    cell = math.floor(angle / GATE_ANGLE)
    part, r = angle / GATE_ANGLE - cell, math.sqrt(x * x + y * y)
    j, k = cell & (GATES - 1), (cell + 1) & (GATES - 1)
    inner, outer = float(border[j, INNER]) * 1.0, float(border[j, OUTER]) * 1.0  # no longer f4
    rise_in, rise_out = float(border[k, INNER]) - inner, float(border[k, OUTER]) - outer
    run_in, run_out = GATE_ANGLE * inner, GATE_ANGLE * outer
    gap_in = (r - inner - part * rise_in) * run_in / math.sqrt(run_in * run_in + rise_in * rise_in)
    gap_out = (outer + part * rise_out - r) * run_out / math.sqrt(run_out * run_out + rise_out * rise_out)
    return min(gap_in, gap_out)


@kernel
def may_hold(walls, w, low, high):
    """Whether there is a wall w, and the half sector that it may lie in is within 32 gates of gates `low` to `high`."""
    start = (2 * w + 3) * GATES // 16 - 32
    return (high - start) & (GATES - 1) <= high - low + GATES // 16 + 64 and walls[w, 0] != 0.0


@kernel
def wall_gap(walls, thickness, angle, x, y):
    """About the distance [m] of a point from the nearest wall, negative in it, at most CLEAR.

    A wall is all points whose distance from its line is at most half the thickness along both axes: a hexagon, the
    common part of three strips.
    """
    gap, half, gate = CLEAR, 0.5 * thickness, math.floor(angle / GATE_ANGLE)
    for w in range(WALLS):
        if may_hold(walls, w, gate, gate):
            ex, ey = walls[w, 2] - walls[w, 0], walls[w, 3] - walls[w, 1]
            px, py = x - 0.5 * (walls[w, 2] + walls[w, 0]), y - 0.5 * (walls[w, 3] + walls[w, 1])
            across = (abs(ex * py - ey * px) - half * (abs(ex) + abs(ey))) / math.sqrt(ex * ex + ey * ey)
            gap = min(gap, max(abs(px) - half - 0.5 * abs(ex), abs(py) - half - 0.5 * abs(ey), across))
    return gap


# --- lidar ------------------------------------------------------------------------------------------------------------


@kernel
def gate_ends(border, slack, gate, mirror, x, y):
    """Outer and inner end of a gate, relative to (x, y); both borders are taken `slack` metres further out."""
    j = gate & (GATES - 1)
    c, sn = UNITS[j, 0], mirror * UNITS[j, 1]
    outer, inner = float(border[j, OUTER]) + slack, float(border[j, INNER]) - slack
    return outer * c - x, outer * sn - y, inner * c - x, inner * sn - y


@kernel
def distance_to_line(ax, ay, bx, by, dx, dy):
    """Distance [m] in direction (dx, dy) to the line through two points that are given relative to the ray's start."""
    return max(0.0, (ax * by - ay * bx) / (dx * (by - ay) - dy * (bx - ax)))


# 15 parameters: the first and the last ray and the turn between two, number by number, as kernels make no arrays
@kernel
def sweep(border, out, x, y, angle, slack, step, first, first_x, first_y, last, last_x, last_y, turn_c, turn_s):
    """Distances [m] to the border along rays that turn the same way about the origin; returns the last gate they reach.

    A ray hits the outer border before a gate if it passes the gate's outer end on the outside, the inner border if it
    passes the inner end on the inside. Only the outermost rays can do the former, only the innermost the latter: what
    lies between need not be looked at. Rays that turn clockwise (step -1) are handled as their mirror images.
    """
    if step < 0:  # first the outermost
        first, first_x, first_y, last, last_x, last_y = last, last_x, last_y, first, first_x, first_y
    gate = math.floor(angle / GATE_ANGLE) + (step < 0)
    y, first_y, last_y = step * y, step * first_y, step * last_y
    ox, oy, ix, iy = gate_ends(border, slack, gate, step, x, y)
    for _ in range(GATES):
        gate += step
        ox_1, oy_1, ix_1, iy_1 = gate_ends(border, slack, gate, step, x, y)
        while first_x * oy_1 >= first_y * ox_1:
            out[first] = distance_to_line(ox, oy, ox_1, oy_1, first_x, first_y)
            if first == last:
                return gate
            first += step
            first_x, first_y = first_x * turn_c - first_y * turn_s, first_y * turn_c + first_x * turn_s
        while last_x * iy_1 <= last_y * ix_1:
            out[last] = distance_to_line(ix, iy, ix_1, iy_1, last_x, last_y)
            if first == last:
                return gate
            last -= step
            last_x, last_y = last_x * turn_c + last_y * turn_s, last_y * turn_c - last_x * turn_s
        ox, oy, ix, iy = ox_1, oy_1, ix_1, iy_1
    return gate


@kernel
def wall_distance(walls, w, thickness, x, y, dx, dy, reach):
    """Distance [m] to wall w in direction (dx, dy), `reach` if it is not hit before."""
    ex, ey = walls[w, 2] - walls[w, 0], walls[w, 3] - walls[w, 1]
    px, py = 0.5 * (walls[w, 2] + walls[w, 0]) - x, 0.5 * (walls[w, 3] + walls[w, 1]) - y
    half = 0.5 * thickness
    enter, leave = 0.0, reach
    for strip in range(3):
        if strip == 0:
            speed, centre, size = dx, px, half + 0.5 * abs(ex)
        elif strip == 1:
            speed, centre, size = dy, py, half + 0.5 * abs(ey)
        else:
            speed, centre, size = ex * dy - ey * dx, ex * py - ey * px, half * (abs(ex) + abs(ey))
        if abs(speed) < 1e-12:
            speed = 1e-12
        first, second = (centre - size) / speed, (centre + size) / speed
        enter, leave = max(enter, min(first, second)), min(leave, max(first, second))
    return enter if enter < leave else reach


@kernel
def scan(s, out, x, y, heading, angle, thickness, view, gap, c, sn):
    """Lidar: distances [m] to border or wall along rays spread evenly over the angle `view`, from right to left.

    For a car beyond a border or in the rim of a wall, borders and walls recede so far that it is just not. The car is
    at (x, y), `angle` is the polar angle there, `gap` the distance from the borders; (c, sn) is the vector of heading.
    """
    fan, last, slack = s.fan, out.size - 1, max(0.0, 1e-6 - gap)
    turn, right = view / last, heading - 0.5 * view
    if fan[0] != view:
        fan[0] = view
        fan[1], fan[2] = maths.sin_cos(0.5 * view)
        fan[3], fan[4] = maths.sin_cos(turn)
    half_s, half_c, turn_s, turn_c = fan[1], fan[2], fan[3], fan[4]
    right_x, right_y = c * half_c + sn * half_s, sn * half_c - c * half_s
    left_x, left_y = c * half_c - sn * half_s, sn * half_c + c * half_s
    # rays turn anticlockwise from the car's polar angle on, clockwise from half a turn later on: at most one change
    half_turns = (right - angle) / math.pi
    passed = math.floor(half_turns)
    step = 1 - 2 * (passed & 1)
    change = math.ceil((passed + 1 - half_turns) * math.pi / turn)
    other = math.floor(angle / GATE_ANGLE)
    border = s.border
    if change <= last:
        mid_y, mid_x = maths.sin_cos(right + change * turn)
        other = sweep(
            border, out, x, y, angle, slack, -step, change, mid_x, mid_y, last, left_x, left_y, turn_c, turn_s
        )
        last, left_x, left_y = change - 1, mid_x * turn_c + mid_y * turn_s, mid_y * turn_c - mid_x * turn_s
    seen = sweep(border, out, x, y, angle, slack, step, 0, right_x, right_y, last, left_x, left_y, turn_c, turn_s)
    low, high = min(seen, other), max(seen, other)
    scan_walls(s.walls, out, x, y, angle, thickness, low, high, right_x, right_y, turn_c, turn_s)


@kernel
def scan_walls(walls, out, x, y, angle, thickness, low, high, right_x, right_y, turn_c, turn_s):
    """Shorten the distances where walls, between two gates, are nearer than borders."""
    for w in range(WALLS):
        if may_hold(walls, w, low, high):
            thin = thickness - 2.0 * max(0.0, 1e-6 - wall_gap(walls, thickness, angle, x, y))
            dx, dy = right_x, right_y
            for j in range(out.size):
                out[j] = wall_distance(walls, w, thin, x, y, dx, dy, out[j])
                dx, dy = dx * turn_c - dy * turn_s, dy * turn_c + dx * turn_s


@kernel
def scan_disc(fan, out, x, y, c, sn, disc_x, disc_y, radius):
    """Shorten the distances of rays that a disc is in the way of; from within it all are 0. `fan` is that of `scan`."""
    ex, ey = disc_x - x, disc_y - y
    inside = radius * radius - ex * ex - ey * ey
    half_s, half_c, turn_s, turn_c = fan[1], fan[2], fan[3], fan[4]
    dx, dy = c * half_c + sn * half_s, sn * half_c - c * half_s
    for j in range(out.size):
        ahead = ex * dx + ey * dy
        reaches = inside + ahead * ahead  # the square of half the chord
        if inside >= 0.0:
            out[j] = 0.0
        elif ahead > 0.0 and reaches > 0.0:
            out[j] = min(out[j], max(ahead - math.sqrt(reaches), 0.0))
        dx, dy = dx * turn_c - dy * turn_s, dy * turn_c + dx * turn_s


# --- planning ---------------------------------------------------------------------------------------------------------


@kernel
def free_middle(border, walls, thickness, angle):
    """Radius [m] of the middle of the track at a polar angle; near a wall, of the half that it leaves free."""
    gate = math.floor(angle / GATE_ANGLE) & (GATES - 1)
    inner, outer = float(border[gate, INNER]), float(border[gate, OUTER])
    c, sn = maths.cos(angle), maths.sin(angle)
    part = 0.5
    for w in range(WALLS):
        x, y = 0.5 * (walls[w, 0] + walls[w, 2]), 0.5 * (walls[w, 1] + walls[w, 3])
        ahead, across = c * x + sn * y, abs(c * y - sn * x)
        if ahead > 0.0 and across < 0.5 * WALL_ANGLE * ahead + thickness:
            at = math.floor(maths.atan2(y, x) / GATE_ANGLE) & (GATES - 1)
            middle = 0.5 * (float(border[at, INNER]) + float(border[at, OUTER]))
            part = 0.25 if math.sqrt(x * x + y * y) > middle else 0.75
    return inner + part * (outer - inner)


@kernel
def sees(s, x, y, angle, thickness, margin, tx, ty):
    """Whether the straight way from (x, y) to (tx, ty) keeps `margin` metres, or what there is now, from all edges."""
    border, walls = s.border, s.walls
    away = math.sqrt((tx - x) ** 2 + (ty - y) ** 2)
    dx, dy = (tx - x) / away, (ty - y) / away
    thickness += 2.0 * min(margin, wall_gap(walls, thickness, angle, x, y) - 1e-6)
    for w in range(WALLS):
        if wall_distance(walls, w, thickness, x, y, dx, dy, away) < away:
            return False
    slack = max(-margin, 1e-6 - border_gap(border, angle, x, y))
    step = 1 if x * dy - y * dx >= 0.0 else -1  # as in `sweep`, for one ray
    gate, y, dy = math.floor(angle / GATE_ANGLE) + (step < 0), step * y, step * dy
    ox, oy, ix, iy = gate_ends(border, slack, gate, step, x, y)
    for _ in range(GATES):
        gate += step
        ox_1, oy_1, ix_1, iy_1 = gate_ends(border, slack, gate, step, x, y)
        if dx * oy_1 >= dy * ox_1:
            return distance_to_line(ox, oy, ox_1, oy_1, dx, dy) >= away
        if dx * iy_1 <= dy * ix_1:
            return distance_to_line(ix, iy, ix_1, iy_1, dx, dy) >= away
        ox, oy, ix, iy = ox_1, oy_1, ix_1, iy_1
    return False
