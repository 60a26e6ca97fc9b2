"""Where cars are: the nearest lane of each, who is on each lane from beginning to end, and who is next to whom."""

import math

from rlenvs.core import kernel
from rlenvs.kits.roads.lanes import (
    ARC,
    COUNT,
    END,
    FIRST,
    HIGH_Y,
    IN,
    LENGTH,
    LOW_Y,
    OUT,
    PLACE,
    ROAD,
    SHAPE,
    SINE,
    START,
    WIDTH,
    along,
    along_and_across,
    box_distance,
    heading_on,
    is_on,
    wrapped,
)

NOTICED = 1.0  # m beside a lane in which a car still counts as on it
NEARBY = 6.2  # m from the middle of a lane, where cars may be on it: 5 m beyond its end, 3.5 m beside its middle


@kernel
def sort_by_x(c, count):
    """Sort the `order` of the first bodies by x, by insertion, and fill the `rank` of each in it."""
    order, rank, x = c.order, c.rank, c.x
    for n in range(1, count):
        i = order[n]
        here, m = x[i], n
        while m > 0 and x[order[m - 1]] > here:
            order[m] = order[m - 1]
            m -= 1
        order[m] = i
    for n in range(count):
        rank[order[n]] = n


@kernel
def sort_bodies(c):
    """Fill the order of the bodies by x. It hardly changes from moment to moment."""
    if c.sorted != c.bodies:
        c.sorted = c.bodies
        for i in range(c.bodies):
            c.order[i] = i
    sort_by_x(c, c.bodies)


@kernel
def locate(net, c):
    """Fill the nearest lane of each body, and the list of who is on each lane, from its beginning to its end.

    Bodies are entered from the greatest x to the smallest, so that on a lane along x each comes first.
    """
    sort_bodies(c)
    list_lanes(net, c)


@kernel
def list_lanes(net, c):
    """The same of bodies whose order is known."""
    order, lane_of, own_entry, stations, asides = c.order, c.lane_of, c.own_entry, c.station, c.aside
    lanes, lengths = net.lane.shape[0], net.lane[:, LENGTH]
    for k in range(lanes):
        c.first_on[k] = -1
    room = c.entry_at.size // c.x.size
    for m in range(c.bodies - 1, -1, -1):
        i = order[m]
        x, y, heading = c.x[i], c.y[i], c.heading[i]
        likely, used = lane_of[i], 0
        best, least, station, aside, own = likely, math.inf, 0.0, 0.0, -1
        for n in range(-1, lanes):
            k = likely if n < 0 else n
            if n == likely:
                continue
            bound = box_distance(net, k, x, y)
            if bound > least and (bound > NEARBY or is_aside(net, k, y)):
                continue
            forward, across = along_and_across(net, k, x, y)
            entry = -1
            if used < room and is_on(net, k, forward, across, NOTICED):
                entry = i * room + used
                enter(c, k, i, entry, forward)
                used += 1
            away = abs(across) + max(forward - lengths[k], 0.0) + max(-forward, 0.0)
            if away <= least:
                away += abs(wrapped(heading - heading_on(net, k, forward)))
            if away < least or (away == least and k < best):
                best, least, station, aside, own = k, away, forward, across, entry
        lane_of[i], stations[i], asides[i], own_entry[i] = best, station, aside, own


@kernel
def is_aside(net, k, y):
    """Whether nobody at this y can be on lane k, as lanes along x show without more ado."""
    if net.lane[k, SINE] != 0.0 or net.lane_at[k, SHAPE] == ARC:
        return False
    return max(net.lane[k, LOW_Y] - y, y - net.lane[k, HIGH_Y]) > 0.5 * net.lane[k, WIDTH] + NOTICED + 0.1


@kernel
def enter(c, k, i, entry, at):
    """Put body i, as this entry, on the list of lane k."""
    before, behind = c.first_on[k], -1
    while before >= 0 and c.entry_at[before] < at:
        before, behind = c.entry_next[before], before
    c.entry_body[entry], c.entry_at[entry] = i, at
    c.entry_next[entry], c.entry_back[entry] = before, behind
    if before >= 0:
        c.entry_back[before] = entry
    if behind >= 0:
        c.entry_next[behind] = entry
    else:
        c.first_on[k] = entry


@kernel
def is_listed(c, k, i):
    """Whether body i is on lane k."""
    entry = c.first_on[k]
    while entry >= 0:
        if c.entry_body[entry] == i:
            return True
        entry = c.entry_next[entry]
    return False


@kernel
def neighbours(net, c, i, k):
    """Who is next on lane k before and behind car i, wherever it is itself; -1 for nobody."""
    own = c.own_entry[i] if k == c.lane_of[i] else -1
    if own >= 0:
        here, ahead, behind = c.station[i], c.entry_next[own], c.entry_back[own]
    else:
        here = c.station[i] if k == c.lane_of[i] else along(net, k, c.x[i], c.y[i])
        ahead, behind = c.first_on[k], -1
        while ahead >= 0 and (c.entry_at[ahead] < here or c.entry_body[ahead] == i):
            if c.entry_body[ahead] != i:
                behind = ahead
            ahead = c.entry_next[ahead]
    front = c.entry_body[ahead] if ahead >= 0 else -1
    rear = c.entry_body[behind] if behind >= 0 else -1
    if c.linked:
        far = c.entry_at[ahead] if ahead >= 0 else math.inf
        back = c.entry_at[behind] if behind >= 0 else -math.inf
        return linked_neighbours(net, c, i, k, here, front, rear, far, back)
    return front, rear


@kernel
def linked_neighbours(net, c, i, k, here, front, rear, ahead, behind):
    """The same, where those on lanes that begin where lane k ends, and end where it begins, are seen too."""
    road, place = net.lane_at[k, ROAD], net.lane_at[k, PLACE]
    for side in (OUT, IN):
        node = net.road[road, END] if side == OUT else net.road[road, START]
        for n in range(net.branch.shape[2]):
            other = net.branch[node, side, n]
            if other < 0:
                break
            j = net.road[other, FIRST] + (place if place < net.road[other, COUNT] else 0)
            offset = net.lane[k, LENGTH] if side == OUT else -net.lane[j, LENGTH]
            entry = c.first_on[j]
            while entry >= 0:
                at, body = c.entry_at[entry] + offset, c.entry_body[entry]
                entry = c.entry_next[entry]
                if body == i or is_listed(c, k, body):
                    continue
                if at >= here:
                    if at <= ahead:
                        front, ahead = body, at
                elif at > behind:
                    rear, behind = body, at
    return front, rear


@kernel
def distance_along(net, c, i, j):
    """Metres from car i to body j along the lane of car i."""
    return along(net, c.lane_of[i], c.x[j], c.y[j]) - c.station[i]
