"""Lanes in kernels: coordinates along and across a lane, which lane is nearest, which comes next.

A road network is four static arrays of a world, `ROAD_DATA`, made by `rlenvs.kits.roads.network`. Kernels take the
record that holds them as `net`: mostly `p`. A lane is a row of `net.lane`; the lanes of a road lie one after the other,
the leftmost first. x points forward and y to the right of it, as on a screen: positive lateral coordinates and positive
turns are to the right.

Three shapes: straight; a sine along a straight line; an arc. Distances are those of highway-env (Leurent, 2018): across
the lane plus what the point lies before its beginning or behind its end.
"""

import math

from rlenvs.core import f8, i8, kernel, maths

# columns of net.lane
X, Y, COSINE, SINE, HEADING, LENGTH, WIDTH, LIMIT = range(8)  # of the start (arc: the centre) and the direction there
AMPLITUDE, PULSATION, PHASE = 8, 9, 10  # of a sine
RADIUS, START_PHASE, TURN = 8, 9, 10  # of an arc; TURN is 1 where it bends to the right, -1 to the left
PRIORITY, FORBIDDEN = 11, 12
LOW_X, LOW_Y, HIGH_X, HIGH_Y = 13, 14, 15, 16  # a box around the middle of the lane
LANE_NUMBERS = 17
# columns of net.lane_at
SHAPE, ROAD, PLACE, SIGN = range(
    4
)  # PLACE: in its road, 0 is the leftmost; SIGN: the number of its signal, -1 for none
LANE_PLACES = 4
STRAIGHT, WAVE, ARC = range(3)
# columns of net.road
FIRST, COUNT, START, END = range(4)  # its first lane, how many, the nodes
OUT, IN = range(2)  # of net.branch

ROAD_DATA = {
    "lane": f8("lanes", LANE_NUMBERS),
    "lane_at": i8("lanes", LANE_PLACES),
    "road": i8("roads", 4),
    "branch": i8("nodes", 2, "branches"),  # the roads out of a node, and into it; -1 behind the last
}

CAR_LENGTH = 5.0  # m, which `on_lane` and `reachable` allow beyond the ends of a lane
TURNED = 2.0 * math.pi


@kernel
def wrapped(angle):
    """The same direction in [-pi, pi)."""
    turned = angle + math.pi
    if 0.0 <= turned < TURNED:
        return turned - math.pi
    return turned - TURNED * math.floor(turned / TURNED) - math.pi


@kernel
def along_and_across(net, k, x, y):
    """Coordinates of a point: metres along lane k, and to the right of its middle."""
    right, down = x - net.lane[k, X], y - net.lane[k, Y]
    if net.lane_at[k, SHAPE] == ARC:
        start, turn, radius = net.lane[k, START_PHASE], net.lane[k, TURN], net.lane[k, RADIUS]
        phase = start + wrapped(maths.atan2(down, right) - start)
        across = turn * (radius - math.sqrt(right * right + down * down))
        return turn * (phase - start) * radius, across
    along = right * net.lane[k, COSINE] + down * net.lane[k, SINE]
    across = down * net.lane[k, COSINE] - right * net.lane[k, SINE]
    if net.lane_at[k, SHAPE] == WAVE:
        across -= net.lane[k, AMPLITUDE] * maths.sin(net.lane[k, PULSATION] * along + net.lane[k, PHASE])
    return along, across


@kernel
def along(net, k, x, y):
    """Metres along lane k of a point."""
    if net.lane_at[k, SHAPE] == ARC:
        return along_and_across(net, k, x, y)[0]
    return (x - net.lane[k, X]) * net.lane[k, COSINE] + (y - net.lane[k, Y]) * net.lane[k, SINE]


@kernel
def point_on(net, k, along, across):
    """The point with these coordinates of lane k."""
    if net.lane_at[k, SHAPE] == ARC:
        phase = net.lane[k, TURN] * along / net.lane[k, RADIUS] + net.lane[k, START_PHASE]
        sine, cosine = maths.sin_cos(phase)
        far = net.lane[k, RADIUS] - across * net.lane[k, TURN]
        return net.lane[k, X] + far * cosine, net.lane[k, Y] + far * sine
    if net.lane_at[k, SHAPE] == WAVE:
        across += net.lane[k, AMPLITUDE] * maths.sin(net.lane[k, PULSATION] * along + net.lane[k, PHASE])
    return (
        net.lane[k, X] + along * net.lane[k, COSINE] - across * net.lane[k, SINE],
        net.lane[k, Y] + along * net.lane[k, SINE] + across * net.lane[k, COSINE],
    )


@kernel
def heading_on(net, k, along):
    """The direction [rad] of lane k, as many metres along it."""
    if net.lane_at[k, SHAPE] == ARC:
        turn = net.lane[k, TURN]
        return turn * along / net.lane[k, RADIUS] + net.lane[k, START_PHASE] + 0.5 * math.pi * turn
    if net.lane_at[k, SHAPE] == WAVE:
        pulsation = net.lane[k, PULSATION]
        slope = net.lane[k, AMPLITUDE] * pulsation * maths.cos(pulsation * along + net.lane[k, PHASE])
        return net.lane[k, HEADING] + maths.atan(slope)
    return net.lane[k, HEADING]


@kernel
def is_on(net, k, along, across, margin):
    """Whether these coordinates lie on lane k, or within a margin [m] beside it."""
    beyond = net.lane[k, LENGTH] + CAR_LENGTH
    return abs(across) <= 0.5 * net.lane[k, WIDTH] + margin and -CAR_LENGTH <= along < beyond


@kernel
def reachable(net, k, x, y):
    """Whether a car there may change to lane k: not forbidden, and no farther than two widths."""
    if net.lane[k, FORBIDDEN] > 0.0:
        return False
    along, across = along_and_across(net, k, x, y)
    return abs(across) <= 2.0 * net.lane[k, WIDTH] and 0.0 <= along < net.lane[k, LENGTH] + CAR_LENGTH


@kernel
def distance_to(net, k, x, y):
    """Of a point from lane k: metres across plus metres before its beginning or behind its end."""
    along, across = along_and_across(net, k, x, y)
    return abs(across) + max(along - net.lane[k, LENGTH], 0.0) + max(-along, 0.0)


@kernel
def box_distance(net, k, x, y):
    """A bound from below of the distance of a point from lane k."""
    right = max(net.lane[k, LOW_X] - x, x - net.lane[k, HIGH_X])
    down = max(net.lane[k, LOW_Y] - y, y - net.lane[k, HIGH_Y])
    return max(right, down)


@kernel
def nearest_lane(net, x, y, heading):
    """The lane whose distance, plus the angle [rad] between it and the heading, is smallest; the first of several."""
    best, least = 0, math.inf
    for k in range(net.lane.shape[0]):
        if box_distance(net, k, x, y) >= least:
            continue
        along, across = along_and_across(net, k, x, y)
        away = abs(across) + max(along - net.lane[k, LENGTH], 0.0) + max(-along, 0.0)
        away += abs(wrapped(heading - heading_on(net, k, along)))
        if away < least:
            best, least = k, away
    return best


@kernel
def lane_count(net, k):
    """How many lanes the road of lane k has."""
    return net.road[net.lane_at[k, ROAD], COUNT]


@kernel
def beside(net, k, aside):
    """The lane as many places to the right of lane k in its road, or the outermost."""
    road, place = net.lane_at[k, ROAD], net.lane_at[k, PLACE] + aside
    return net.road[road, FIRST] + min(max(place, 0), net.road[road, COUNT] - 1)


@kernel
def entered(net, k, road, place, x, y):
    """The lane of `road` that follows lane k for a car at x, y: of the same place where both roads have as many lanes
    (`place` where that is not -1), otherwise the nearest."""
    first, count = net.road[road, FIRST], net.road[road, COUNT]
    if count == lane_count(net, k):
        return first + (net.lane_at[k, PLACE] if place < 0 else place)
    best, least = first, math.inf
    for j in range(first, first + count):
        away = distance_to(net, j, x, y)
        if away < least:
            best, least = j, away
    return best


@kernel
def nearest_exit(net, k, x, y):
    """The lane that follows lane k where no route says which: of all roads out of its end the nearest; -1 for none."""
    node = net.road[net.lane_at[k, ROAD], END]
    best, least = -1, math.inf
    for n in range(net.branch.shape[2]):
        road = net.branch[node, OUT, n]
        if road < 0:
            break
        j = entered(net, k, road, -1, x, y)
        away = distance_to(net, j, x, y)
        if away < least:
            best, least = j, away
    return best
