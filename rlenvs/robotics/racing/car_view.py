"""CarRacing's image, 96 x 96: the road from above, rotated with the car, and below it a panel with indicators.

The original draws polygons on 1000 x 800 pixels and averages them. Here 4 x 4 samples of each pixel are painted with
color indices, in bands of 12 rows, four samples per word; pixels with samples of a single color need no averaging.
"""

import math

from rlenvs.core import f8, i4, i8, kernel, maths
from rlenvs.robotics.racing.car import (
    ANGLE,
    CORNERS,
    HULL,
    OMEGA,
    PARTS,
    PHASE,
    SPIN,
    VX,
    VY,
    WHEELS,
    X,
    Y,
    hull_origin,
)
from rlenvs.robotics.racing.car_track import MOST

SIDE, FINE = 96, 4  # pixels; samples of a pixel along each side
BAND = 12  # rows of pixels that are painted at a time; the last band is the panel
BANDS = SIDE // BAND
ROWS, WORDS = BAND * FINE, SIDE
PER_X, PER_Y = SIDE * FINE / 1000.0, SIDE * FINE / 800.0  # samples per pixel of the original's window
SHIFTED = 20  # bits between the sums of red, green and blue
GRASS = 20  # patches along half the field's side
KERB = 8.0 / 6.0  # m
BLACK, GROUND, PATCH, ROAD_0, ROAD_1, ROAD_2, WHITE, RED, TYRE, RIM, PAINT, BLUE, VIOLET, GREEN, RIVAL = range(15)
FIXED = (  # colours that never change: number, red, green, blue
    *((BLACK, 0, 0, 0), (WHITE, 255, 255, 255), (RED, 255, 0, 0), (TYRE, 0, 0, 0), (RIM, 77, 77, 77)),
    *((PAINT, 204, 0, 0), (BLUE, 0, 0, 255), (VIOLET, 51, 0, 255), (GREEN, 0, 255, 0), (RIVAL, 40, 90, 220)),
)
PLAIN = (102.0, 102.0, 102.0, 102.0, 204.0, 102.0, 102.0, 230.0, 102.0)  # road, ground, patches of grass
# the segments of each digit: top, upper left, upper right, middle, lower left, lower right, bottom
SEGMENTS = (119, 36, 93, 109, 46, 107, 123, 37, 127, 111)

VIEW = {
    "color": f8(9),  # road, ground, patches
    "words": i4(ROWS, WORDS),  # from here on scratch
    "palette": i8(16),
    "shown_edge": f8(MOST, 4),  # samples: the ends of each gate
    "corner": f8(CORNERS, 2),
    "camera": f8(6),  # cosine and sine of the turn, samples per metre, place of the origin
}
SCRATCH = ("words", "palette", "shown_edge", "corner", "camera")


@kernel
def packed(red, green, blue):
    return int(red) + (int(green) << SHIFTED) + (int(blue) << 2 * SHIFTED)


@kernel
def mix_colors(s):
    """The colours of an episode as numbers that can be added."""
    road, step = s.color, 0.01 * 255.0
    for j in range(3):
        s.palette[ROAD_0 + j] = packed(road[0] + j * step, road[1] + j * step, road[2] + j * step)
    s.palette[GROUND] = packed(s.color[3], s.color[4], s.color[5])
    s.palette[PATCH] = packed(s.color[6], s.color[7], s.color[8])
    for k in range(len(FIXED)):
        s.palette[FIXED[k][0]] = packed(FIXED[k][1], FIXED[k][2], FIXED[k][3])


@kernel
def fill_row(s, row, left, right, color):
    """Samples whose middles lie in [left, right) of a row of the band."""
    first, last = int(max(math.ceil(left - 0.5), 0.0)), int(min(math.ceil(right - 0.5), SIDE * FINE * 1.0))
    if first >= last:
        return
    full = color * 0x01010101
    head, tail = first >> 2, (last - 1) >> 2
    head_mask = (0xFFFFFFFF << (8 * (first & 3))) & 0xFFFFFFFF
    tail_mask = 0xFFFFFFFF >> (8 * (3 - ((last - 1) & 3)))
    if head == tail:
        mask = head_mask & tail_mask
        s.words[row, head] = (int(s.words[row, head]) & ~mask) | (full & mask)
        return
    s.words[row, head] = (int(s.words[row, head]) & ~head_mask) | (full & head_mask)
    for k in range(head + 1, tail):
        s.words[row, k] = full
    s.words[row, tail] = (int(s.words[row, tail]) & ~tail_mask) | (full & tail_mask)


@kernel
def fill(s, top, n, color):
    """Paint the convex polygon of the first n corners, in samples, where it meets the band that begins at row `top`."""
    low, high = 1e9, -1e9
    for k in range(n):
        low, high = min(low, s.corner[k, 1]), max(high, s.corner[k, 1])
    first, last = int(max(math.ceil(low - 0.5) - top, 0.0)), int(min(math.ceil(high - 0.5) - top, ROWS * 1.0))
    for row in range(first, last):
        y = top + row + 0.5
        left, right = 1e9, -1e9
        ax, ay = s.corner[n - 1, 0], s.corner[n - 1, 1]
        for k in range(n):
            bx, by = s.corner[k, 0], s.corner[k, 1]
            if (ay <= y) != (by <= y):
                x = ax + (y - ay) * (bx - ax) / (by - ay)
                left, right = min(left, x), max(right, x)
            ax, ay = bx, by
        fill_row(s, row, left, right, color)


@kernel
def set_corner(s, k, x, y):
    """A corner of the next polygon, from metres."""
    c, sn, scale = s.camera[0], s.camera[1], s.camera[2]
    dx, dy = x - s.camera[3], y - s.camera[4]
    s.corner[k, 0] = 500.0 * PER_X + PER_X * scale * (dx * c + dy * sn)
    s.corner[k, 1] = 600.0 * PER_Y - PER_Y * scale * (dy * c - dx * sn)


@kernel
def point_camera(p, s, c):
    """At the car; during the first second it comes down from above."""
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    seconds = 0.02 * (s.elapsed + 1)
    s.camera[0], s.camera[1] = cs, sn
    s.camera[2] = 0.6 * max(1.0 - seconds, 0.0) + 6.0 * p.zoom * min(seconds, 1.0)
    s.camera[3], s.camera[4] = hull_origin(p, s, c)
    s.camera[5] = 1000.0 / s.camera[2]  # m, farther away nothing is seen
    for i in range(s.tiles):
        dx, dy = s.gate[i, 0] - s.camera[3], s.gate[i, 1] - s.camera[4]
        if dx * dx + dy * dy < (s.camera[5] + 20.0) * (s.camera[5] + 20.0):
            for side in range(2):
                set_corner(s, 0, s.edge[i, 2 * side], s.edge[i, 2 * side + 1])
                s.shown_edge[i, 2 * side], s.shown_edge[i, 2 * side + 1] = s.corner[0, 0], s.corner[0, 1]
        else:
            s.shown_edge[i, 1] = 1e12


@kernel
def paint_field(p, s, top):
    field, patch = p.playfield, p.playfield / GRASS
    set_corner(s, 0, -field, -field)
    set_corner(s, 1, field, -field)
    set_corner(s, 2, field, field)
    set_corner(s, 3, -field, field)
    fill(s, top, 4, GROUND)
    reach = s.camera[5]
    first_x, last_x = math.floor((s.camera[3] - reach) / patch), math.floor((s.camera[3] + reach) / patch)
    first_y, last_y = math.floor((s.camera[4] - reach) / patch), math.floor((s.camera[4] + reach) / patch)
    for i in range(int(max(first_x, -GRASS)), int(min(last_x, GRASS - 1)) + 1):
        for j in range(int(max(first_y, -GRASS)), int(min(last_y, GRASS - 1)) + 1):
            if (i | j) & 1 == 0:
                x, y = i * patch, j * patch
                set_corner(s, 0, x, y)
                set_corner(s, 1, x + patch, y)
                set_corner(s, 2, x + patch, y + patch)
                set_corner(s, 3, x, y + patch)
                fill(s, top, 4, PATCH)


@kernel
def paint_road(p, s, c, top):
    for i in range(s.tiles):
        j = i - 1 if i > 0 else s.tiles - 1
        a, b, d, e = s.shown_edge[i, 1], s.shown_edge[i, 3], s.shown_edge[j, 1], s.shown_edge[j, 3]
        if a > 1e11 or d > 1e11:
            continue
        margin = KERB * s.camera[2] if s.kerb[i] != 0 else 0.0
        if min(min(a, b), min(d, e)) - margin > top + ROWS or max(max(a, b), max(d, e)) + margin < top:
            continue
        s.corner[0, 0], s.corner[0, 1] = s.shown_edge[i, 0], a
        s.corner[1, 0], s.corner[1, 1] = s.shown_edge[i, 2], b
        s.corner[2, 0], s.corner[2, 1] = s.shown_edge[j, 2], e
        s.corner[3, 0], s.corner[3, 1] = s.shown_edge[j, 0], d
        fill(s, top, 4, ROAD_0 if s.painted[c, i] else ROAD_0 + i % 3)
        if s.kerb[i] != 0:
            paint_kerb(p, s, i, j, top)


@kernel
def paint_kerb(p, s, i, j, top):
    """Outside of the edge on the kerb's side, its end turned with the tile."""
    near, far = s.kerb[i] * p.track_width, s.kerb[i] * (p.track_width + KERB)
    sn, cs = maths.sin_cos(s.gate[i, 2])
    last_sn, last_cs = maths.sin_cos(s.gate[j, 2])
    set_corner(s, 0, s.gate[i, 0] + near * cs, s.gate[i, 1] + near * sn)
    set_corner(s, 1, s.gate[i, 0] + far * cs, s.gate[i, 1] + far * sn)
    set_corner(s, 2, s.gate[j, 0] + far * last_cs, s.gate[j, 1] + far * last_sn)
    set_corner(s, 3, s.gate[j, 0] + near * last_cs, s.gate[j, 1] + near * last_sn)
    fill(s, top, 4, WHITE if i % 2 == 0 else RED)


@kernel
def set_wheel_corners(s, c, w, half_width, low, high):
    """Those of a strip across a wheel."""
    sn, cs = maths.sin_cos(s.body[c, 1 + w, ANGLE])
    x, y = s.body[c, 1 + w, X], s.body[c, 1 + w, Y]
    set_corner(s, 0, x - half_width * cs - low * sn, y - half_width * sn + low * cs)
    set_corner(s, 1, x + half_width * cs - low * sn, y + half_width * sn + low * cs)
    set_corner(s, 2, x + half_width * cs - high * sn, y + half_width * sn + high * cs)
    set_corner(s, 3, x - half_width * cs - high * sn, y - half_width * sn + high * cs)


@kernel
def sign(x):
    return math.copysign(1.0, x) if x != 0.0 else 0.0


@kernel
def paint_car(p, s, c, top, color):
    half, radius = p.build[4], p.build[5]
    for w in range(WHEELS):
        set_wheel_corners(s, c, w, half, -radius, radius)
        fill(s, top, 4, TYRE)
        s1, c1 = maths.sin_cos(s.wheel[c, w, PHASE])
        s2, c2 = maths.sin_cos(s.wheel[c, w, PHASE] + 1.2)
        if not (s1 > 0.0 and s2 > 0.0):  # the bright part of the rim is on top
            low, high = sign(c1) if s1 > 0.0 else c1, sign(c2) if s2 > 0.0 else c2
            set_wheel_corners(s, c, w, half, radius * low, radius * high)
            fill(s, top, 4, RIM)
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    x, y = s.body[c, HULL, X], s.body[c, HULL, Y]
    for k in range(PARTS):
        for j in range(CORNERS):
            u, v = p.part[k, j, 0], p.part[k, j, 1]
            set_corner(s, j, x + cs * u - sn * v, y + sn * u + cs * v)
        fill(s, top, CORNERS, color)


# --- the panel --------------------------------------------------------------------------------------------------------


@kernel
def bar(s, x0, y0, x1, y1, color):
    """A rectangle of the panel, in units of 1/40 of the window, y from the window's lower edge up."""
    left, right = min(x0, x1) * SIDE * FINE / 40.0, max(x0, x1) * SIDE * FINE / 40.0
    low, high = ROWS - max(y0, y1) * SIDE * FINE / 40.0, ROWS - min(y0, y1) * SIDE * FINE / 40.0
    for row in range(int(max(math.ceil(low - 0.5), 0.0)), int(min(math.ceil(high - 0.5), ROWS * 1.0))):
        fill_row(s, row, left, right, color)


@kernel
def paint_digit(s, x, digit):
    """Seven segments, 0.8 wide and 1.5 high."""
    lit = 0
    for k in range(10):
        if k == digit:
            lit = SEGMENTS[k]
    for segment in range(7):
        if not lit >> segment & 1:
            continue
        if segment == 0 or segment == 3 or segment == 6:
            y = 3.0 if segment == 0 else (2.4 if segment == 3 else 1.75)
            bar(s, x, y, x + 0.75, y + 0.25, WHITE)
        else:
            side = x if segment == 1 or segment == 4 else x + 0.5
            y = 2.5 if segment < 3 else 1.75
            bar(s, side, y, side + 0.25, y + 0.75, WHITE)


@kernel
def paint_score(s, score):
    """At least four places, as `{:04.0f}` has them."""
    rounded = math.floor(abs(score) + 0.5)
    number, x = int(min(rounded, 9999.0)), 0.6
    negative = score < 0.0
    thousand = 1000
    for place in range(4):
        if place == 0 and negative and number < 1000:
            bar(s, x, 2.4, x + 0.7, 2.65, WHITE)
        else:
            paint_digit(s, x, number // thousand % 10)
        thousand //= 10
        x += 0.92


@kernel
def paint_panel(s, c, score):
    speed = math.sqrt(s.body[c, HULL, VX] ** 2 + s.body[c, HULL, VY] ** 2)
    bar(s, 5.0, 1.0, 6.0, 1.0 + 0.02 * speed, WHITE)
    for w in range(WHEELS):
        bar(s, 7.0 + w, 1.0, 8.0 + w, 1.0 + 0.01 * s.wheel[c, w, OMEGA], BLUE if w < 2 else VIOLET)
    steered = s.body[c, 1, ANGLE] - s.body[c, HULL, ANGLE]
    bar(s, 20.0, 2.0, 20.0 - 10.0 * steered, 4.0, GREEN)
    bar(s, 30.0, 2.0, 30.0 - 0.8 * s.body[c, HULL, SPIN], 4.0, RED)
    paint_score(s, score)


# --- the picture ------------------------------------------------------------------------------------------------------


@kernel
def average(s, row, column):
    """The sum over the samples of a pixel, all three colours in one number."""
    total = 0
    for j in range(FINE):
        word = int(s.words[row + j, column])
        total += s.palette[word & 255] + s.palette[word >> 8 & 255]
        total += s.palette[word >> 16 & 255] + s.palette[word >> 24 & 255]
    return total


@kernel
def develop(s, image, band):
    """The pixels of a band from its samples."""
    mask = (1 << SHIFTED) - 1
    for y in range(BAND):
        row = y * FINE
        for x in range(SIDE):
            a = s.words[row, x]
            color = a & 255
            if a == s.words[row + 1, x] == s.words[row + 2, x] == s.words[row + 3, x] and a == color * 0x01010101:
                mixed = s.palette[color] * (FINE * FINE)
            else:
                mixed = average(s, row, x)
            image[band * BAND + y, x, 0] = (mixed & mask) // (FINE * FINE)
            image[band * BAND + y, x, 1] = (mixed >> SHIFTED & mask) // (FINE * FINE)
            image[band * BAND + y, x, 2] = (mixed >> 2 * SHIFTED) // (FINE * FINE)


@kernel
def show(p, s, c, score, image):
    """What car c's driver sees."""
    mix_colors(s)
    point_camera(p, s, c)
    for band in range(BANDS):
        for row in range(ROWS):
            for k in range(WORDS):
                s.words[row, k] = 0
        if band < BANDS - 1:
            top = band * ROWS
            paint_field(p, s, top)
            paint_road(p, s, c, top)
            for other in range(s.body.shape[0]):
                if other != c:
                    paint_car(p, s, other, top, RIVAL)
            paint_car(p, s, c, top, PAINT)
        else:
            paint_panel(s, c, score)
        develop(s, image, band)
