"""Observations of RouteDrive, as kernels: the line ahead, the route, cars, pedestrians, top-down masks; and which part
of the car is on the road."""

import math

from rlenvs.core import kernel, maths
from rlenvs.kits.roads.lanes import (
    LENGTH,
    SIGN,
    WIDTH,
    along_and_across,
    box_distance,
    heading_on,
    point_on,
)
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH
from rlenvs.kits.traffic.signals import KIND, RED, STOP, YELLOW, colour
from rlenvs.robotics.driving.route_rewards import walker_pace
from rlenvs.robotics.driving.town_cars import FASTEST

AHEAD = (4.0, 8.0, 14.0, 22.0, 32.0, 45.0)  # m, of the points of the way that are seen
FAR = 50.0  # m, how far cars and pedestrians are seen
PACE = 2.0  # m/s, which is 1
STOP_SHOWN, HALTED_SHOWN = 3, 4  # of `shown`, behind the colours
PIXELS, CHANNELS, BELOW = 64, 5, 25  # of masks; pixels between the car and the bottom
ROAD, WAY, LINES, OTHERS, PEOPLE = range(CHANNELS)
SIGHT = 51.0  # m, from the car to the farthest corner of the masks
FILL = 0.7  # m between points that are marked, so that no pixel of a metre is left out
RED_MARK, YELLOW_MARK = 255, 128


@kernel
def within_one(number):
    """The number, clipped to [-1, 1]."""
    return min(max(number, -1.0), 1.0)


@kernel
def on_some_lane(p, x, y):
    """Whether a point is on a lane."""
    for k in range(p.lane.shape[0]):
        half = 0.5 * p.lane[k, WIDTH]
        if box_distance(p, k, x, y) <= half:
            station, aside = along_and_across(p, k, x, y)
            if abs(aside) <= half and 0.0 <= station <= p.lane[k, LENGTH]:
                return True
    return False


@kernel
def off_road(p, s):
    """Whether more than 95 % of the ego car are on no lane: fewer than five of a hundred points of it."""
    if abs(s.aside_of_way) <= 0.5 * p.lane[s.way[s.leg], WIDTH] and s.along >= 0.0:
        return False
    on = 0
    for n in range(10):
        ahead = (0.1 * n - 0.45) * CAR_LENGTH
        for m in range(10):
            aside = (0.1 * m - 0.45) * CAR_WIDTH
            x = s.x[0] + s.cosine[0] * ahead - s.sine[0] * aside
            if on_some_lane(p, x, s.y[0] + s.sine[0] * ahead + s.cosine[0] * aside):
                on += 1
                if on == 5:
                    return False
    return True


@kernel
def observe_line(p, s, o):
    """The light or the stop sign at the end of the ego car's lane; 60 m and nothing shown where there is none."""
    k = s.way[s.leg]
    sign = p.lane_at[k, SIGN]
    left = p.lane[k, LENGTH] - s.along - 0.5 * CAR_LENGTH
    o.line = 60.0
    for n in range(5):
        o.shown[n] = 0.0
    if sign < 0 or left < 0.0:
        return
    o.line = min(left, 60.0)
    if p.signal[sign, KIND] == STOP:
        o.shown[HALTED_SHOWN if s.halted[0] == k else STOP_SHOWN] = 1.0
    else:
        o.shown[colour(p.signal, sign, s.clock)] = 1.0


@kernel
def way_point(p, s, ahead):
    """The point so many metres ahead on the way."""
    n, at = s.leg, s.along + ahead
    while n < s.legs - 1 and at > p.lane[s.way[n], LENGTH]:
        at -= p.lane[s.way[n], LENGTH]
        n += 1
    return point_on(p, s.way[n], at, 0.0)


@kernel
def from_car(s, right, down):
    """A vector as the car sees it: ahead, and to its right."""
    return right * s.cosine[0] + down * s.sine[0], down * s.cosine[0] - right * s.sine[0]


@kernel
def observe_way(p, s, rows):
    """Points of the way, in the car's frame."""
    for n in range(rows.shape[0]):
        x, y = way_point(p, s, AHEAD[n])
        rows[n, 0], rows[n, 1] = from_car(s, x - s.x[0], y - s.y[0])


@kernel
def add_near(rows, count, square, number):
    """Put somebody into rows that are sorted by the square of the distance; how many there are then."""
    room = rows.shape[0]
    if count == room and square >= rows[room - 1, 0]:
        return count
    m = count if count < room else room - 1
    while m > 0 and rows[m - 1, 0] > square:
        rows[m, 0], rows[m, 1] = rows[m - 1, 0], rows[m - 1, 1]
        m -= 1
    rows[m, 0], rows[m, 1] = square, number
    return min(count + 1, room)


@kernel
def observe_cars(s, rows):
    """The nearest cars, the nearest first."""
    count = 0
    if rows.shape[0] == 0:
        return
    for j in range(1, s.movers):
        right, down = s.x[j] - s.x[0], s.y[j] - s.y[0]
        square = right * right + down * down
        if square <= FAR * FAR:
            count = add_near(rows, count, square, j)
    for m in range(rows.shape[0]):
        if m >= count:
            for column in range(6):
                rows[m, column] = 0.0
            continue
        j = int(rows[m, 1])
        ahead, aside = from_car(s, s.x[j] - s.x[0], s.y[j] - s.y[0])
        same, across = from_car(s, s.cosine[j], s.sine[j])
        rows[m, 0] = 1.0
        rows[m, 1], rows[m, 2] = ahead / FAR, aside / FAR
        rows[m, 3], rows[m, 4] = within_one(same), within_one(across)
        rows[m, 5] = within_one(s.speed[j] / FASTEST)


@kernel
def observe_walkers(p, s, rows):
    """The nearest pedestrians, the nearest first."""
    count = 0
    if rows.shape[0] == 0:
        return
    for j in range(s.walker_at.size):
        right, down = s.walker_x[j] - s.x[0], s.walker_y[j] - s.y[0]
        square = right * right + down * down
        if square <= FAR * FAR:
            count = add_near(rows, count, square, j)
    for m in range(rows.shape[0]):
        if m >= count:
            for column in range(5):
                rows[m, column] = 0.0
            continue
        j = int(rows[m, 1])
        pace_x, pace_y = walker_pace(p, s, j)
        ahead, aside = from_car(s, s.walker_x[j] - s.x[0], s.walker_y[j] - s.y[0])
        pace, across = from_car(s, pace_x, pace_y)
        rows[m, 0] = 1.0
        rows[m, 1], rows[m, 2] = ahead / FAR, aside / FAR
        rows[m, 3], rows[m, 4] = within_one(pace / PACE), within_one(across / PACE)


# --- masks from above -------------------------------------------------------------------------------------------------


@kernel
def mark(s, pixels, channel, x, y, value):
    """Mark the pixel in which a point lies."""
    right, down = x - s.x[0], y - s.y[0]
    row = PIXELS - BELOW - 0.5 - (right * s.cosine[0] + down * s.sine[0])
    column = 0.5 * PIXELS + down * s.cosine[0] - right * s.sine[0]
    if 0.0 <= row < PIXELS and 0.0 <= column < PIXELS:
        pixels[int(row), int(column), channel] = value


@kernel
def mark_rectangle(s, pixels, channel, x, y, cosine, sine, length, width, value):
    """Mark a rectangle of the road."""
    long, wide = math.ceil(length / FILL), math.ceil(width / FILL)
    for n in range(long + 1):
        ahead = length * (n / long - 0.5)
        for m in range(wide + 1):
            aside = width * (m / wide - 0.5)
            mark(s, pixels, channel, x + cosine * ahead - sine * aside, y + sine * ahead + cosine * aside, value)


@kernel
def mark_lane(p, s, pixels, channel, k, first, last):
    """Mark a part of a lane."""
    half = 0.45 * p.lane[k, WIDTH]
    steps = math.ceil(max(last - first, 0.0) / FILL)
    wide = math.ceil(2.0 * half / FILL)
    for n in range(steps + 1):
        at = min(first + FILL * n, last)
        x, y = point_on(p, k, at, 0.0)
        sine, cosine = maths.sin_cos(heading_on(p, k, at))
        for m in range(wide + 1):
            aside = half * (2.0 * m / wide - 1.0)
            mark(s, pixels, channel, x - sine * aside, y + cosine * aside, 255)


@kernel
def mark_lines(p, s, pixels, k):
    """Mark the line at the end of a lane where one has to stop: yellow half as bright as red and stop signs."""
    sign = p.lane_at[k, SIGN]
    if sign < 0:
        return
    value = RED_MARK
    if p.signal[sign, KIND] == STOP:
        value = 0 if s.halted[0] == k else RED_MARK
    else:
        shown = colour(p.signal, sign, s.clock)
        value = RED_MARK if shown == RED else YELLOW_MARK if shown == YELLOW else 0
    if value > 0:
        x, y = point_on(p, k, p.lane[k, LENGTH], 0.0)
        sine, cosine = maths.sin_cos(heading_on(p, k, p.lane[k, LENGTH]))
        mark_rectangle(s, pixels, LINES, x, y, cosine, sine, 1.0, p.lane[k, WIDTH], value)


@kernel
def observe_birdview(p, s, pixels):
    """The masks, the car's heading upwards."""
    for row in range(pixels.shape[0]):
        for column in range(pixels.shape[1]):
            for channel in range(pixels.shape[2]):
                pixels[row, column, channel] = 0
    if pixels.shape[0] == 0:
        return
    for k in range(p.lane.shape[0]):
        if box_distance(p, k, s.x[0], s.y[0]) < SIGHT:
            mark_lane(p, s, pixels, ROAD, k, 0.0, p.lane[k, LENGTH])
            mark_lines(p, s, pixels, k)
    begin = -s.along
    for n in range(s.leg, s.legs):
        k = s.way[n]
        if begin > SIGHT:
            break
        last = s.goal_at if n == s.legs - 1 else p.lane[k, LENGTH]
        mark_lane(p, s, pixels, WAY, k, min(max(-begin, 0.0), last), last)
        begin += p.lane[k, LENGTH]
    for j in range(1, s.movers):
        if abs(s.x[j] - s.x[0]) < SIGHT + CAR_LENGTH and abs(s.y[j] - s.y[0]) < SIGHT + CAR_LENGTH:
            mark_rectangle(s, pixels, OTHERS, s.x[j], s.y[j], s.cosine[j], s.sine[j], CAR_LENGTH, CAR_WIDTH, 255)
    for n in range(s.walker_at.size):
        mark(s, pixels, PEOPLE, s.walker_x[n], s.walker_y[n], 255)
