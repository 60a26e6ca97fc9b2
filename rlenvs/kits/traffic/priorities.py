"""Who gives way to whom, in kernels: drivers foresee collisions and one of two stops, as on highway-env's junctions.

Twice a second every pair of cars is followed along its routes at constant speed for 2.75 s. Where two would meet, the
one on the lane of lower priority yields, on equal ones the one behind: it aims at speed 0 until the next time. A world
merges `FORECAST` into its state and "moments" (`MOMENTS`) into its sizes.
"""

import math

from rlenvs.core import f8, kernel, maths
from rlenvs.kits.roads.lanes import (
    COUNT,
    FIRST,
    LENGTH,
    LIMIT,
    PLACE,
    PRIORITY,
    heading_on,
    point_on,
)
from rlenvs.kits.traffic.cars import CAR_LENGTH, RAW, TOP_SPEED, stage_road

MOMENTS, MOMENT = 11, 0.25  # of a forecast; s
LONG, WIDE = 1.5, 0.9  # of a car in a forecast, in parts of its length and width
FORECAST = {"forecast": f8("cars", "moments", 3)}  # x and y [m], heading [rad]


@kernel
def foresee(net, c, i):
    """Fill the forecast of car i: along its route, or, RAW, with the wheel held."""
    if c.driver[i] <= RAW:
        x, y, heading, speed = c.x[i], c.y[i], c.heading[i], c.speed[i]
        slip = 0.0 if c.crashed[i] else c.slip[i]
        straight = math.sqrt(1.0 - slip * slip)
        for n in range(MOMENTS):
            sine, cosine = maths.sin_cos(heading)
            x += speed * (cosine * straight - sine * slip) * MOMENT
            y += speed * (sine * straight + cosine * slip) * MOMENT
            heading += speed * slip / (0.5 * CAR_LENGTH) * MOMENT
            if c.crashed[i]:
                speed -= speed * MOMENT
            elif abs(speed) > TOP_SPEED:
                speed -= (speed - math.copysign(TOP_SPEED, speed)) * MOMENT
            c.forecast[i, n, 0], c.forecast[i, n, 1], c.forecast[i, n, 2] = x, y, heading
        return
    own, stages = c.lane_of[i], c.route.shape[1]
    for n in range(MOMENTS):
        far, stage = c.station[i] + c.speed[i] * (MOMENT * (n + 1)), 0
        k = lane_at_stage(net, c, i, stage, own)
        while stage < stages and stage_road(c, i, stage + 1) >= 0 and far > net.lane[k, LENGTH]:
            far -= net.lane[k, LENGTH]
            stage += 1
            k = lane_at_stage(net, c, i, stage, own)
        c.forecast[i, n, 0], c.forecast[i, n, 1] = point_on(net, k, far, 0.0)
        c.forecast[i, n, 2] = heading_on(net, k, far)


@kernel
def lane_at_stage(net, c, i, stage, own):
    """The lane on which car i takes a road of its route: the one that the route names, or that of its present place."""
    road = stage_road(c, i, stage)
    if road < 0:
        return own
    place = c.route_lane[i, c.stage[i] + stage]
    if place < 0:
        place = net.lane_at[own, PLACE]
    return net.road[road, FIRST] + min(place, net.road[road, COUNT] - 1)


@kernel
def covers(x, y, heading, px, py, long, wide):
    """Whether a point lies in a rectangle as highway-env's forecasts see it: turned the other way round."""
    sine, cosine = maths.sin_cos(heading)
    right, down = px - x, py - y
    return abs(cosine * right - sine * down) <= 0.5 * long and abs(sine * right + cosine * down) <= 0.5 * wide


@kernel
def touches(c, i, j, n, long, wide):
    """Whether one of nine points of car j lies in the rectangle of car i, in moment n of their forecasts."""
    sine, cosine = maths.sin_cos(c.forecast[j, n, 2])
    for a in (-0.5, 0.0, 0.5):
        for b in (-0.5, 0.0, 0.5):
            u, v = a * long, b * wide
            px = c.forecast[j, n, 0] + cosine * u - sine * v
            py = c.forecast[j, n, 1] + sine * u + cosine * v
            if covers(c.forecast[i, n, 0], c.forecast[i, n, 1], c.forecast[i, n, 2], px, py, long, wide):
                return True
    return False


@kernel
def will_meet(c, i, j):
    """Whether the forecasts of two cars meet."""
    for n in range(MOMENTS):
        right = c.forecast[j, n, 0] - c.forecast[i, n, 0]
        down = c.forecast[j, n, 1] - c.forecast[i, n, 1]
        if math.sqrt(right * right + down * down) > c.box[i, 0]:
            continue
        long, wide = LONG * c.box[i, 0], WIDE * c.box[i, 1]
        if touches(c, i, j, n, long, wide) or touches(c, j, i, n, long, wide):
            return True
    return False


@kernel
def who_yields(net, c, i, j):
    """Of two cars that would meet."""
    one, two = net.lane[c.lane_of[i], PRIORITY], net.lane[c.lane_of[j], PRIORITY]
    if one != two:
        return j if one > two else i
    right, down = c.x[j] - c.x[i], c.y[j] - c.y[i]
    ahead = c.cosine[i] * right + c.sine[i] * down
    other = -(c.cosine[j] * right + c.sine[j] * down)
    return i if ahead > other else j


@kernel
def give_way(net, c):
    """Let those drive on that yielded, and find who yields now. Only drivers do."""
    for i in range(c.movers):
        if c.yielding[i]:
            c.target_speed[i] = net.lane[c.lane_of[i], LIMIT]
            c.yielding[i] = False
        foresee(net, c, i)
    for i in range(c.movers - 1):
        for j in range(i + 1, c.movers):
            if will_meet(c, i, j):
                k = who_yields(net, c, i, j)
                if c.driver[k] >= 0:
                    c.target_speed[k], c.yielding[k] = 0.0, True
