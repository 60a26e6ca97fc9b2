"""A driver who plans a few decisions ahead, for cars on roads of several lanes that are told meta-actions.

It tries all sequences of decisions, supposes that all others stay on the lanes that they aim at and follow each other
by IDM, and takes the first decision of the sequence with the best of safety, speed and lane. Places are counted in
lanes from the left, ways in metres along the road from the ego car. A world merges `PLAN` into its state.
"""

import math

from rlenvs.core import f8, kernel, maths
from rlenvs.kits.roads.lanes import COUNT, END, FIRST, LENGTH, LIMIT, OUT, PLACE, ROAD, WIDTH, X, along
from rlenvs.kits.traffic.cars import CAR_LENGTH, FASTER, IDLE, LANE_LEFT, LANE_RIGHT, SLOWER, speed_index, stage_road
from rlenvs.kits.traffic.drivers import CALM, COMFORT, GAP, LIMIT_OF, TIME_GAP

DECISIONS, SECONDS = 4, 7  # decisions that are tried, a second each; s that are looked ahead
CHOICES = 5
PARTS, DT = 4, 0.25  # parts of a second, s
MOMENTS = SECONDS * PARTS
PLAN = {  # of others, as the ego car sees them:
    "ahead": f8("cars", MOMENTS),  # m, in each moment
    "pace": f8("cars"),  # m/s along the road
    "beside": f8("cars", 2),  # lanes: where they are, and where they want to be
}
SIDEWAYS, PACE = 0.75, 0.6  # s, time constants of changes of lanes and of speeds
ROOM, ROOM_PER_SPEED = 2.0, 0.25  # m, s: room that is wanted before and behind a car
WIDE = 0.7  # lanes, between the middles of cars that do not touch
UNSEEN, FAR = 1e6, 25.0  # m
DANGER, TROUBLE = 100.0, 0.02  # weights of a crash and of an action


@kernel
def look_around(p, s):
    """Fill where others are along the road, as far as it leads on to them, and where they will be."""
    ego = s.ego
    own = s.lane_of[ego]
    for i in range(s.movers):
        k, aim = s.lane_of[i], s.target_lane[i]
        s.ahead[i, 0], s.pace[i] = UNSEEN, max(s.speed[i], 0.0)
        s.beside[i, 0] = p.lane_at[k, PLACE] + s.aside[i] / p.lane[k, WIDTH]
        s.beside[i, 1] = p.lane_at[aim, PLACE] if p.lane_at[aim, ROAD] == p.lane_at[k, ROAD] else s.beside[i, 0]
        if p.lane_at[k, ROAD] == p.lane_at[own, ROAD]:
            s.ahead[i, 0] = along(p, own, s.x[i], s.y[i]) - s.station[ego]
        elif comes_towards(p, own, k):
            s.ahead[i, 0] = along(p, own, s.x[i], s.y[i]) - s.station[ego]
            s.pace[i] *= -1.0
            s.beside[i, 0], s.beside[i, 1] = 0.0, 0.0
        else:
            s.ahead[i, 0] = ahead_on_roads(p, s, k, i)
    for n in range(MOMENTS):
        for i in range(s.movers):
            if i != ego:
                s.pace[i] = pace_after(p, s, i, n)
        for i in range(s.movers):
            s.ahead[i, n] += s.pace[i] * DT
            if n + 1 < MOMENTS:
                s.ahead[i, n + 1] = s.ahead[i, n]


@kernel
def pace_after(p, s, i, n):
    """The speed of car i along the road a moment later, behind the nearest car of its lane and direction."""
    way = 1.0 if s.pace[i] >= 0.0 else -1.0
    speed, here = abs(s.pace[i]), way * s.ahead[i, n]
    if s.crashed[i]:
        return 0.75 * s.pace[i]
    wanted = max(min(s.target_speed[i], p.lane[s.lane_of[i], LIMIT]), 0.1)
    share = speed / wanted
    force, nearest, closing = 1.0 - share * share * share * share, math.inf, 0.0
    for j in range(s.movers):
        gap = way * s.ahead[j, n] - here
        same = abs(s.beside[i, 1] - s.beside[j, 1]) < WIDE and way * s.pace[j] >= 0.0
        if j != i and j != s.ego and same and 0.0 < gap < nearest:
            nearest, closing = gap, speed - way * s.pace[j]
    room = p.drivers[0, GAP] + speed * p.drivers[0, TIME_GAP] + speed * closing / p.drivers[0, CALM]
    most = p.drivers[0, LIMIT_OF]
    acceleration = p.drivers[0, COMFORT] * (force - (room / nearest) * (room / nearest))
    return way * max(speed + min(max(acceleration, -most), most) * DT, 0.0)


@kernel
def comes_towards(p, own, k):
    """Whether lane k leads back from the end of the own lane to its beginning."""
    one, other = p.lane_at[own, ROAD], p.lane_at[k, ROAD]
    return p.road[one, END] == p.road[other, END - 1] and p.road[one, END - 1] == p.road[other, END]


@kernel
def ahead_on_roads(p, s, k, i):
    """Metres to car i on lane k where the road goes on to it, or where it comes from; UNSEEN elsewhere."""
    own = s.lane_of[s.ego]
    road, passed = p.lane_at[own, ROAD], p.lane[own, LENGTH] - s.station[s.ego]
    for _ in range(2):
        road = following(p, s, road)
        if road < 0:
            break
        if road == p.lane_at[k, ROAD]:
            return passed + s.station[i]
        passed += p.lane[p.road[road, FIRST], LENGTH]
    if following(p, s, p.lane_at[k, ROAD]) == p.lane_at[own, ROAD]:
        return s.station[i] - p.lane[k, LENGTH] - s.station[s.ego]
    return UNSEEN


@kernel
def following(p, s, road):
    """The road after another on the way of the ego car; -1 at its end."""
    stages = s.route.shape[1]
    for n in range(stages):
        if stage_road(s, s.ego, n) == road and n + 1 < stages and stage_road(s, s.ego, n + 1) >= 0:
            return stage_road(s, s.ego, n + 1)
    return p.branch[p.road[road, END], OUT, 0]


@kernel
def lanes_at(p, s, way):
    """How many lanes there are, so many metres ahead."""
    if p.landmark >= 0:
        beyond = s.x[s.ego] + way - p.lane[p.landmark, X]
        if 0.0 <= beyond < p.lane[p.landmark, LENGTH]:
            return p.lane_at[p.landmark, PLACE] + 1
    return p.road[0, COUNT]


@kernel
def worth(p, s, plan, lane_worth, speed_worth):
    """How good a sequence of decisions looks: its digits, the last of them the first decision."""
    ego = s.ego
    way, speed, aim = 0.0, s.speed[ego], s.target_speed[ego]
    place = float(p.lane_at[s.lane_of[ego], PLACE]) + s.aside[ego] / p.lane[s.lane_of[ego], WIDTH]
    target, last = p.lane_at[s.target_lane[ego], PLACE], p.speeds.size - 1
    settle, shift = 1.0 - maths.exp(-DT / PACE), 1.0 - maths.exp(-DT / SIDEWAYS)
    value, span = 0.0, max(p.speeds[last] - p.speeds[0], 1.0)
    for second in range(SECONDS):
        action = (plan % CHOICES + 1) % CHOICES if second < DECISIONS else IDLE  # a digit of 0 is IDLE
        plan //= CHOICES
        if action in (FASTER, SLOWER):
            wanted = speed_index(p.speeds, speed) + (1 if action == FASTER else -1)
            aim = p.speeds[min(max(wanted, 0), last)]
        elif action == LANE_LEFT:
            target = max(target - 1, 0)
        elif action == LANE_RIGHT:
            target = min(target + 1, lanes_at(p, s, way) - 1)
        if action != IDLE:
            value -= TROUBLE
        for part in range(PARTS):
            speed += (aim - speed) * settle
            way += speed * DT
            place += (target - place) * shift
            if near_somebody(s, way, place, speed, second * PARTS + part):
                return value - DANGER * (1.0 - (second + part * DT) / (SECONDS + 1.0))
        value += speed_worth * (speed - p.speeds[0]) / span + lane_worth * target
    return value


@kernel
def near_somebody(s, way, place, speed, n):
    """Whether in moment n somebody is where the ego car is then, or too near before or behind it."""
    for i in range(s.movers):
        gap = s.ahead[i, n] - way
        if i == s.ego or abs(gap) > FAR:
            continue
        if abs(place - s.beside[i, 0]) >= WIDE and abs(place - s.beside[i, 1]) >= WIDE:
            continue
        closing = speed - s.pace[i] if gap > 0.0 else s.pace[i] - speed
        if abs(gap) < CAR_LENGTH + ROOM + ROOM_PER_SPEED * max(closing, 0.0):
            return True
    return False


@kernel
def planned_action(p, s, lane_worth, speed_worth):
    """The first decision of the best sequence; of equal ones to keep lane and speed."""
    look_around(p, s)
    best, most = IDLE, -math.inf
    for plan in range(CHOICES**DECISIONS):
        value = worth(p, s, plan, lane_worth, speed_worth)
        first = (plan % CHOICES + 1) % CHOICES
        if value > most + 1e-9 or (value > most - 1e-9 and first == IDLE):
            best, most = first, value
    return best
