"""What the ego car of a driving world observes: rows of cars, times to collision, an occupancy grid, a lidar, an image.

All after highway-env 1.12, in its order, units and scales; only the image is drawn by this package.
"""

import math

from rlenvs.core import kernel, maths
from rlenvs.kits.raster.draw import span
from rlenvs.kits.roads.lanes import (
    END,
    HIGH_X,
    HIGH_Y,
    LENGTH,
    LOW_X,
    LOW_Y,
    OUT,
    PLACE,
    ROAD,
    START,
    WIDTH,
    along,
    along_and_across,
    box_distance,
    lane_count,
    point_on,
)
from rlenvs.kits.traffic.cars import CAR_LENGTH, not_zero, speed_index, stage_road
from rlenvs.kits.traffic.lane_lists import distance_along

PRESENCE, RIGHT, DOWN, RIGHT_SPEED, DOWN_SPEED, COSINE, SINE, ALONG, ACROSS, TURN = range(10)  # of p.features
ON_ROAD = 10
LAYERS = (PRESENCE, RIGHT_SPEED, DOWN_SPEED, ON_ROAD)  # of a grid
FAR = 200.0  # m, how far a car sees others
ROAD_FAR = 100.0  # m, how far a grid sees the road
FASTEST = 80.0  # m/s, which is 1 in a grid
WAY_ROADS = 3  # that `times` looks ahead, behind the present one
BEAMS, LIDAR_RANGE = 16, 60.0  # beams, m
BEAM = 2.0 * math.pi / BEAMS
ROAD_COLOR, GROUND, EGO, OTHER, CRASHED = (96, 96, 96), (40, 60, 40), (60, 140, 255), (250, 200, 60), (230, 60, 40)


@kernel
def feature_of(s, i, which):
    """A number of body i."""
    if which == PRESENCE:
        return 1.0
    if which == RIGHT:
        return s.x[i]
    if which == DOWN:
        return s.y[i]
    if which == RIGHT_SPEED:
        return s.speed[i] * s.cosine[i]
    if which == DOWN_SPEED:
        return s.speed[i] * s.sine[i]
    if which == COSINE:
        return s.cosine[i]
    if which == SINE:
        return s.sine[i]
    return s.station[i] if which == ALONG else s.aside[i]


@kernel
def next_seen(p, s, behind, last_far, last):
    """The body that is next nearest along the ego's lane after body `last` at `last_far`; -1 when there is none."""
    ego, best, least = s.ego, -1, math.inf
    x, y = s.x[ego], s.y[ego]
    for i in range(s.bodies if p.landmark < 0 else s.movers):
        right, down = s.x[i] - x, s.y[i] - y
        if i == ego or not math.sqrt(right * right + down * down) < FAR:
            continue
        ahead = distance_along(p, s, ego, i)
        far = abs(ahead)
        seen = (behind == 1 and i < s.movers) or ahead > -2.0 * CAR_LENGTH
        after = far > last_far or (far == last_far and i > last)
        if seen and after and far < least:
            best, least = i, far
    return best, least


@kernel
def observe_rows(p, s, o):
    """The ego car, then the nearest others, a row each; 0 where there are no more."""
    rows, columns = o.shape[0], o.shape[1]
    far, i = -1.0, s.ego
    for row in range(rows):
        if row > 0 and i >= 0:
            i, far = next_seen(p, s, p.see_behind, far, i)
        for column in range(columns):
            if i < 0:
                o[row, column] = 0.0
                continue
            value = feature_of(s, i, p.features[column])
            if row > 0 and not p.absolute and RIGHT <= p.features[column] <= DOWN_SPEED:
                value -= feature_of(s, s.ego, p.features[column])
            if row == 0 and p.landmark >= 0 and p.features[column] == RIGHT:
                value = along(p, p.landmark, s.x[i], s.y[i])
            most = p.ranges[column]
            o[row, column] = min(max(value / most, -p.most), p.most) if most > 0.0 else value


@kernel
def observe_grid(p, s, o):
    """Layers of cells around the ego car: somebody there, its velocity relative to the ego's, road."""
    cells, ego = o.shape[1], s.ego
    for layer in range(o.shape[0]):
        for row in range(cells):
            for column in range(cells):
                o[layer, row, column] = 0.0
        if p.layer[layer] == ON_ROAD:
            for k in range(p.lane.shape[0]):
                if box_distance(p, k, s.x[ego], s.y[ego]) < cells * p.cell:
                    fill_lane(p, s, k, o, layer)
            continue
        for i in range(s.movers - 1, -1, -1):
            row, column = cell_of(p, s, cells, s.x[i], s.y[i])
            if row >= 0:
                value = 1.0
                if p.layer[layer] != PRESENCE:
                    value = feature_of(s, i, p.layer[layer]) - feature_of(s, ego, p.layer[layer])
                    value = min(max(value / FASTEST, -1.0), 1.0)
                o[layer, row, column] = value


@kernel
def cell_of(p, s, cells, x, y):
    """The cell of a grid in which a point lies; -1 where it lies in none."""
    ahead, aside = x - s.x[s.ego], y - s.y[s.ego]
    if p.turns:
        sine, cosine = s.sine[s.ego], s.cosine[s.ego]
        ahead, aside = cosine * ahead + sine * aside, cosine * aside - sine * ahead
    row = math.floor((ahead + 0.5 * cells * p.cell) / p.cell)
    column = math.floor((aside + 0.5 * cells * p.cell) / p.cell)
    if 0 <= row < cells and 0 <= column < cells:
        return int(row), int(column)
    return -1, -1


@kernel
def fill_lane(p, s, k, o, layer):
    """Mark the cells of the grid in which points of lane k lie, a cell's length from each other."""
    origin, _ = along_and_across(p, k, s.x[s.ego], s.y[s.ego])
    for n in range(math.ceil(2.0 * ROAD_FAR / p.cell)):
        far = min(max(origin - ROAD_FAR + p.cell * n, 0.0), p.lane[k, LENGTH])
        x, y = point_on(p, k, far, 0.0)
        row, column = cell_of(p, s, o.shape[1], x, y)
        if row >= 0:
            o[layer, row, column] = 1.0


# --- times to collision -----------------------------------------------------------------------------------------------


@kernel
def ways(branches, turns):
    """How many ways there are over so many turns: a power by products, since C's is another one on each system."""
    count = 1
    for _ in range(turns):
        count *= branches
    return count


@kernel
def connected(p, s, other):
    """Whether a road is on the ego's way over the next three roads, or leads to a road that is: its way is that of its
    route where it has one, any elsewhere."""
    branches, road = p.branch.shape[2], p.lane_at[s.lane_of[s.ego], ROAD]
    way = 0
    while way < ways(branches, WAY_ROADS):
        turns = met_on(p, s, road, other, way)
        if turns < 0:
            return True
        way += ways(branches, WAY_ROADS - turns)
    return False


@kernel
def met_on(p, s, road, other, way):
    """-1 where a way from a road meets another, or else how many of its turns were not the route's: those are the
    digits of `way`, the first one the highest."""
    stage, turns, branches = 0, 0, p.branch.shape[2]
    for _ in range(WAY_ROADS + 1):
        if road == other or p.road[other, END] == p.road[road, START]:
            return -1
        if stage_road(s, s.ego, stage) == road:
            stage += 1
        node, following = p.road[road, END], stage_road(s, s.ego, stage)
        if following >= 0 and p.road[following, START] == node:
            stage += 1
        elif turns < WAY_ROADS:
            turns += 1
            following = p.branch[node, OUT, way // ways(branches, WAY_ROADS - turns) % branches]
        if following < 0:
            break
        road = following
    return turns


@kernel
def observe_times(p, s, o):
    """What is met after how many steps: for the present target speed and its neighbours, on the present lane and those
    beside it, 1 for a collision, 0.5 for a close meeting; 1 all along where there is no lane."""
    ego = s.ego
    index, last = speed_index(p.speeds, s.target_speed[ego]), p.speeds.size - 1
    place, count = p.lane_at[s.lane_of[ego], PLACE], lane_count(p, s.lane_of[ego])
    for aside in range(3):
        empty = 0.0 if 0 <= place + aside - 1 < count else 1.0
        for row in range(3):
            for n in range(o.shape[2]):
                o[row, aside, n] = empty
    for i in range(s.movers):
        if i == ego or not connected(p, s, p.lane_at[s.lane_of[i], ROAD]):
            continue
        for row in range(3):
            speed = p.speeds[min(max(index + row - 1, 0), last)]
            if s.speed[i] != speed:
                mark_times(p, s, o, row, i, speed, place, count)


@kernel
def mark_times(p, s, o, row, i, speed, place, count):
    """Mark when and on which lanes a car meets the ego at a speed."""
    ego, k = s.ego, s.lane_of[i]
    other = s.speed[i] * (s.cosine[i] * s.cosine[ego] + s.sine[i] * s.sine[ego])
    far = distance_along(p, s, ego, i)
    for n in range(3):
        margin, weight = (n - 1) * CAR_LENGTH, (1.0 if n == 1 else 0.5)
        time = (far + margin) / not_zero(speed - other)
        if not 0.0 <= time < 1e6:
            continue
        steps = time * p.policy_hz
        for aside in range(3):
            j = place + aside - 1
            if not 0 <= j < count or (lane_count(p, k) == count and p.lane_at[k, PLACE] != j):
                continue
            for when in (math.floor(steps), math.ceil(steps)):
                if when < o.shape[2]:
                    o[row, aside, int(when)] = max(o[row, aside, int(when)], weight)


# --- lidar ------------------------------------------------------------------------------------------------------------


@kernel
def observe_lidar(p, s, o):
    """Distance and relative speed, in each direction, of the nearest body; both in parts of the range."""
    ego = s.ego
    for n in range(BEAMS):
        o[n, 0], o[n, 1] = 1.0, 1.0
    for i in range(s.bodies):
        right, down = s.x[i] - s.x[ego], s.y[i] - s.y[ego]
        far = math.sqrt(right * right + down * down)
        if i == ego or far > LIDAR_RANGE:
            continue
        see(s, o, i, beam_of(maths.atan2(down, right) + 0.5 * BEAM), far - 0.5 * s.box[i, 1])
        see_outline(s, o, i, right, down)


@kernel
def beam_of(angle):
    """The beam nearest to a direction that was turned by half a beam."""
    return math.floor(angle / BEAM) % BEAMS


@kernel
def see(s, o, i, n, far):
    """Let a beam end at body i where nothing is nearer."""
    if far / LIDAR_RANGE <= o[n, 0]:
        sine, cosine = maths.sin_cos(n * BEAM)
        ego = s.ego
        right = s.speed[i] * s.cosine[i] - s.speed[ego] * s.cosine[ego]
        down = s.speed[i] * s.sine[i] - s.speed[ego] * s.sine[ego]
        o[n, 0] = min(max(far / LIDAR_RANGE, -1.0), 1.0)
        o[n, 1] = min(max((right * cosine + down * sine) / LIDAR_RANGE, -1.0), 1.0)


@kernel
def see_outline(s, o, i, right, down):
    """Let the beams between the corners of body i end where they enter it."""
    low, high = math.inf, -math.inf
    for corner in range(4):
        u = 0.5 * s.box[i, 0] * (1.0 if corner < 2 else -1.0)
        v = 0.5 * s.box[i, 1] * (1.0 if 0 < corner < 3 else -1.0)
        x = right + s.cosine[i] * u - s.sine[i] * v
        y = down + s.sine[i] * u + s.cosine[i] * v
        angle = maths.atan2(y, x) + 0.5 * BEAM
        low, high = min(low, angle), max(high, angle)
    if low < -0.5 * math.pi and high > 0.5 * math.pi:
        low, high = high, low + 2.0 * math.pi
    n, last = beam_of(low), beam_of(high)
    while True:
        far = entry(s, i, right, down, n * BEAM)
        if far < math.inf:
            see(s, o, i, n, far)
        if n == last:
            break
        n = (n + 1) % BEAMS


@kernel
def entry(s, i, right, down, angle):
    """How far [m] along a beam it enters the rectangle of body i; infinity where it misses it."""
    sine, cosine = maths.sin_cos(angle)
    first, last = 0.0, LIDAR_RANGE
    begins = -math.inf
    for side in range(2):
        axis_x, axis_y = (s.cosine[i], s.sine[i]) if side == 0 else (-s.sine[i], s.cosine[i])
        middle, pace = right * axis_x + down * axis_y, cosine * axis_x + sine * axis_y
        half = 0.5 * s.box[i, side]
        if abs(pace) < 1e-12:
            if abs(middle) > half:
                return math.inf
            continue
        one, two = (middle - half) / pace, (middle + half) / pace
        begins = max(begins, min(one, two))
        first, last = max(first, min(one, two)), min(last, max(one, two))
    return begins if first <= last else math.inf


# --- image ------------------------------------------------------------------------------------------------------------


@kernel
def observe_image(p, s, pixels):
    """The road from above, x to the right, the ego car at three tenths of the width: p.pixels_per_metre."""
    rows, columns = pixels.shape[0], pixels.shape[1]
    scale, ego = p.pixels_per_metre, s.ego
    left = s.x[ego] - p.ego_at * columns / scale
    top = s.y[ego] - 0.5 * rows / scale
    for row in range(rows):
        span(pixels, row, 0, columns, GROUND)
    reach = (rows + columns) / scale
    for k in range(p.lane.shape[0]):
        if box_distance(p, k, s.x[ego], s.y[ego]) < reach:
            paint_lane(p, k, pixels, left, top, scale)
    for i in range(s.bodies):
        if abs(s.x[i] - s.x[ego]) < reach + 100.0 and i != ego:
            paint_body(s, i, pixels, left, top, scale, CRASHED if s.crashed[i] else OTHER)
    paint_body(s, ego, pixels, left, top, scale, CRASHED if s.crashed[ego] else EGO)


@kernel
def paint_lane(p, k, pixels, left, top, scale):
    """The surface of a lane."""
    low_x, high_x = p.lane[k, LOW_X] - 4.0, p.lane[k, HIGH_X] + 4.0
    low_y, high_y = p.lane[k, LOW_Y] - 4.0, p.lane[k, HIGH_Y] + 4.0
    for row in range(max(0, int((low_y - top) * scale)), min(pixels.shape[0], int((high_y - top) * scale) + 1)):
        y = top + (row + 0.5) / scale
        first, last = max(0, int((low_x - left) * scale)), min(pixels.shape[1], int((high_x - left) * scale) + 1)
        for column in range(first, last):
            forward, across = along_and_across(p, k, left + (column + 0.5) / scale, y)
            if 0.0 <= forward <= p.lane[k, LENGTH] and abs(across) <= 0.5 * p.lane[k, WIDTH]:
                span(pixels, row, column, column + 1, ROAD_COLOR)


@kernel
def paint_body(s, i, pixels, left, top, scale, color):
    """The rectangle of a body."""
    reach = 0.5 * (s.box[i, 0] + s.box[i, 1])
    first, last = max(0, int((s.x[i] - reach - left) * scale)), int((s.x[i] + reach - left) * scale) + 1
    low, high = max(0, int((s.y[i] - reach - top) * scale)), int((s.y[i] + reach - top) * scale) + 1
    for row in range(low, min(high, pixels.shape[0])):
        down = top + (row + 0.5) / scale - s.y[i]
        for column in range(first, min(last, pixels.shape[1])):
            right = left + (column + 0.5) / scale - s.x[i]
            ahead = right * s.cosine[i] + down * s.sine[i]
            aside = down * s.cosine[i] - right * s.sine[i]
            if abs(ahead) <= 0.5 * s.box[i, 0] and abs(aside) <= 0.5 * s.box[i, 1]:
                span(pixels, row, column, column + 1, color)
