"""A driver that obeys the rules of a town: it follows its route, stops where it has to, and goes when the road is
clear.

Steering is pure pursuit. The speed is the lowest allowed by limits and curves, the car ahead, pedestrians, the line
ahead, and, at junctions, the predicted positions of others: all are predicted for five seconds at their speeds along
their routes, and if the car would meet one of them, it waits at the line, or before that place.
"""

import math

from rlenvs.core import f8, kernel, maths
from rlenvs.kits.roads.lanes import LENGTH, LIMIT, RADIUS, along_and_across, heading_on, point_on
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH, steering_of
from rlenvs.kits.traffic.priorities import lane_at_stage
from rlenvs.kits.traffic.signals import line_distance
from rlenvs.robotics.driving.route_rewards import COMPOSED, TOP, gap_ahead, rectangles_touch, walker_pace
from rlenvs.robotics.driving.route_senses import way_point
from rlenvs.robotics.driving.town_cars import DT, FORCE, STEERING

LOOK, MOMENT = 20, 0.25  # moments that are foreseen; s
CALM, HARD, SIDE, PUSH = 2.5, 4.5, 2.5, 2.5  # m/s^2: braking, at most, across in curves, accelerating
LONG, WIDE = CAR_LENGTH + 2.5, CAR_WIDTH + 0.8  # m, of a car that is foreseen
STANDING = 0.3  # m/s: who stands is passed nearer
SLACK = 1  # moments by which others may be sooner or later
SEEN = 60.0  # m
BEFORE_CAR, BEFORE_WALKER, BEFORE_LINE = 2.5, 3.0, 0.6  # m of room where the car stops
REACTION = 0.4  # s, in which the speed comes near to the wanted one
SOON = 2.5  # s until who does not look steps onto the road
ASIDE, BESIDE = 9.0, 2.3  # m from the lane's middle: pedestrians that matter, and those who are on it
GUESS = {"guess": f8("cars", LOOK, 4)}  # x, y, cosine and sine of the heading


@kernel
def slowing(far, pace):
    """The highest speed [m/s] from which a car calmly brakes to `pace` within `far` metres, with pedals that lag."""
    lag = CALM * REACTION
    return max(math.sqrt(2.0 * CALM * max(far, 0.0) + pace * pace + lag * lag) - lag, 0.0)


@kernel
def lane_speed(p, k):
    """The highest speed [m/s] on a lane."""
    limit = min(p.lane[k, LIMIT], TOP) if p.reward == COMPOSED else p.lane[k, LIMIT]
    if p.lane[k, RADIUS] > 0.0:
        limit = min(limit, math.sqrt(SIDE * p.lane[k, RADIUS]))
    return limit


@kernel
def free_speed(p, s):
    """The highest speed [m/s] for the limits and curves of the way ahead."""
    n, far, most = s.leg, -s.along, math.inf
    while n < s.legs and far < 50.0:
        limit = lane_speed(p, s.way[n])
        most = min(most, slowing(far, limit) if far > 0.0 else limit)
        far += p.lane[s.way[n], LENGTH]
        n += 1
    return most


@kernel
def following_speed(p, s):
    """The highest speed [m/s] behind those who are on the way."""
    most = math.inf
    for j in range(1, s.movers):
        if abs(s.x[j] - s.x[0]) > SEEN or abs(s.y[j] - s.y[0]) > SEEN:
            continue
        far = gap_ahead(p, s, s.x[j], s.y[j], 2.0, SEEN)
        if far < math.inf:
            same = s.cosine[0] * s.cosine[j] + s.sine[0] * s.sine[j]
            pace = max(s.speed[j] * same, 0.0)
            room = far - CAR_LENGTH - BEFORE_CAR - 0.3 * pace
            most = min(most, slowing(room, pace) if room > 0.0 else 0.8 * pace)
    return most


@kernel
def is_coming(p, s, n, k, aside, far):
    """Whether pedestrian n, `far` metres before the car, is on lane k or will be before the car has passed."""
    right, down = walker_pace(p, s, n)
    sine, cosine = maths.sin_cos(heading_on(p, k, 0.0))
    towards = (down * cosine - right * sine) * (-1.0 if aside > 0.0 else 1.0)
    wait = 0.0
    if s.walker_way[n] == 0.0:
        if not s.walker_bold[n] or s.walker_wait[n] > SOON:
            return False
        towards, wait = s.walker_speed[n], max(s.walker_wait[n], 0.0)
    if abs(aside) < BESIDE:
        return True
    if towards <= 0.0:
        return False
    arrives = wait + (abs(aside) - BESIDE) / towards
    passed = (far + 2.0 * CAR_LENGTH) / max(s.speed[0], 1.0)
    return arrives < passed + 1.0


@kernel
def walker_speed(p, s):
    """The highest speed [m/s] towards who walks on the road, or is about to without looking."""
    nearest, begin = math.inf, -s.along - 0.5 * CAR_LENGTH
    for leg in range(s.leg, min(s.leg + 2, s.legs)):
        k = s.way[leg]
        if p.street[k] == 1 and begin < 35.0:
            for n in range(s.walker_at.size):
                if abs(s.walker_x[n] - s.x[0]) > SEEN or abs(s.walker_y[n] - s.y[0]) > SEEN:
                    continue
                station, aside = along_and_across(p, k, s.walker_x[n], s.walker_y[n])
                far = begin + station
                inside = 0.0 <= station <= p.lane[k, LENGTH] and abs(aside) < ASIDE
                if inside and 0.0 < far < nearest and is_coming(p, s, n, k, aside, far):
                    nearest = far
        begin += p.lane[k, LENGTH]
    return slowing(nearest - BEFORE_WALKER, 0.0)


# --- junctions --------------------------------------------------------------------------------------------------------


@kernel
def foresee(p, s, j):
    """Fill where car j will be: along its way, as fast as it is or getting faster as it does now, up to a line at which
    it will stop. A crashed one rolls out."""
    if s.crashed[j]:
        roll(s, j)
        return
    k, stage, begin, far, speed = s.lane_of[j], 0, 0.0, 0.0, s.speed[j]
    most = line_distance(p, p.signal, s, j, s.clock)
    for n in range(LOOK):
        speed = max(min(speed + max(s.acceleration[j], 0.0) * MOMENT, p.lane[k, LIMIT]), s.speed[j])
        far = min(far + speed * MOMENT, most)
        at = s.station[j] + far - begin
        while at > p.lane[k, LENGTH] and stage < s.route.shape[1]:
            following = lane_at_stage(p, s, j, stage, k)
            stage += 1
            if following == k:  # its present road, or the end of its route
                continue
            begin += p.lane[k, LENGTH]
            at -= p.lane[k, LENGTH]
            k = following
        s.guess[j, n, 0], s.guess[j, n, 1] = point_on(p, k, at, 0.0)
        s.guess[j, n, 3], s.guess[j, n, 2] = maths.sin_cos(heading_on(p, k, at))


@kernel
def roll(s, j):
    """Fill where a crashed car will be."""
    for n in range(LOOK):
        far = s.speed[j] * (1.0 - maths.exp(-MOMENT * (n + 1)))
        s.guess[j, n, 0], s.guess[j, n, 1] = s.x[j] + far * s.cosine[j], s.y[j] + far * s.sine[j]
        s.guess[j, n, 2], s.guess[j, n, 3] = s.cosine[j], s.sine[j]


@kernel
def foresee_self(p, s):
    """Fill where the ego car, car 0, will be if it drives on."""
    far, speed = 0.0, max(s.speed[0], 0.0)
    n, begin = s.leg, -s.along
    for m in range(LOOK):
        while n < s.legs - 1 and far - begin > p.lane[s.way[n], LENGTH]:
            begin += p.lane[s.way[n], LENGTH]
            n += 1
        most = max(lane_speed(p, s.way[n]), speed - HARD * MOMENT)
        speed = min(speed + PUSH * MOMENT, most)
        far += speed * MOMENT
        s.guess[0, m, 0], s.guess[0, m, 1] = point_on(p, s.way[n], far - begin, 0.0)
        s.guess[0, m, 3], s.guess[0, m, 2] = maths.sin_cos(heading_on(p, s.way[n], far - begin))


@kernel
def meets(s, j, last):
    """The first moment before `last` in which the ego car would meet car j; `last` for none."""
    long, wide = LONG, WIDE
    if abs(s.speed[j]) < STANDING:
        long, wide = CAR_LENGTH + 0.6, CAR_WIDTH + 0.4
    for n in range(last):
        x, y, cosine, sine = s.guess[0, n, 0], s.guess[0, n, 1], s.guess[0, n, 2], s.guess[0, n, 3]
        for m in range(max(n - SLACK, 0), min(n + SLACK + 1, LOOK)):
            right, down = s.guess[j, m, 0] - x, s.guess[j, m, 1] - y
            if right * right + down * down > LONG * LONG:
                continue
            if rectangles_touch(right, down, cosine, sine, s.guess[j, m, 2], s.guess[j, m, 3], long, wide):
                return n
    return last


@kernel
def first_meeting(p, s):
    """The first moment in which the ego car would meet somebody who is not before or behind it; LOOK for none."""
    foresee_self(p, s)
    first = LOOK
    for j in range(1, s.movers):
        right, down = s.x[j] - s.x[0], s.y[j] - s.y[0]
        if right * right + down * down > SEEN * SEEN:
            continue
        same = s.cosine[0] * s.cosine[j] + s.sine[0] * s.sine[j]
        follows = same > 0.3 and gap_ahead(p, s, s.x[j], s.y[j], 2.0, SEEN) < math.inf
        behind = right * s.cosine[0] + down * s.sine[0] < -1.0 and s.lane_of[j] == s.lane_of[0]
        if not follows and not behind:
            foresee(p, s, j)
            first = meets(s, j, first)
    return first


@kernel
def way_until(s, last):
    """Metres that the ego car has driven in a moment that is foreseen."""
    far, x, y = 0.0, s.x[0], s.y[0]
    for n in range(last + 1):
        right, down = s.guess[0, n, 0] - x, s.guess[0, n, 1] - y
        far += math.sqrt(right * right + down * down)
        x, y = s.guess[0, n, 0], s.guess[0, n, 1]
    return far


@kernel
def yielding_speed(p, s):
    """The highest speed [m/s] that lets the ego car wait for those whom it would meet."""
    first = first_meeting(p, s)
    if first == LOOK:
        return math.inf
    far, square = way_until(s, first), s.speed[0] * s.speed[0]
    k = s.way[s.leg]
    line = p.lane[k, LENGTH] - s.along - 0.5 * CAR_LENGTH
    if p.street[k] == 1 and -0.5 < line < far and square < 2.0 * HARD * max(line, 0.2):
        return slowing(line - BEFORE_LINE, 0.0)
    return slowing(far - 1.0, 0.0)


# --- controls ---------------------------------------------------------------------------------------------------------


@kernel
def expert(p, s, a):
    s.target_lane[0] = s.way[s.leg]
    most = min(free_speed(p, s), following_speed(p, s))
    most = min(most, walker_speed(p, s))
    most = min(most, slowing(line_distance(p, p.signal, s, 0, s.clock) - BEFORE_LINE, 0.0))
    most = min(most, yielding_speed(p, s))
    speed = s.speed[0]
    x, y = way_point(p, s, 3.0 + 0.4 * abs(speed))
    right, down = x - s.x[0], y - s.y[0]
    across = down * s.cosine[0] - right * s.sine[0]
    slip = min(max(CAR_LENGTH * across / max(right * right + down * down, 1.0), -0.44), 0.44)
    time = DT if most <= 0.0 else REACTION
    a[0] = min(max((most - speed) / (time * FORCE), -1.0), PUSH / FORCE)
    a[1] = min(max(steering_of(slip) / STEERING, -1.0), 1.0)
