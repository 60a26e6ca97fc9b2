"""A driver who plans a few decisions ahead, for cars on roads of several lanes that are told meta-actions.

It tries all sequences of decisions, supposes that all others keep their speed and their lane, and takes the first
decision of the sequence with the best of safety, speed and lane. Places are counted in lanes from the left, ways in metres
along the road from the ego car. A world merges `PLAN` into its state.
"""

import math

from rlenvs.core import f8, kernel, maths
from rlenvs.kits.roads.lanes import COUNT, END, FIRST, LENGTH, LIMIT, OUT, PLACE, ROAD, WIDTH, X, along
from rlenvs.kits.traffic.cars import CAR_LENGTH, FASTER, IDLE, LANE_LEFT, LANE_RIGHT, SLOWER, speed_index, stage_road

PLAN = {"ahead": f8("cars"), "pace": f8("cars"), "beside": f8("cars")}  # m, m/s, lanes: of others as the ego sees them
SCRATCH = tuple(PLAN)
DECISIONS, AFTER = 4, 3  # decisions that are tried, and seconds that are looked at behind them
CHOICES = 5
PARTS, DT = 4, 0.25  # parts of a second, s
SIDEWAYS, PACE = 0.6, 0.6  # s, time constants of changes of lanes and of speeds
ROOM, ROOM_PER_SPEED = 2.0, 0.1  # m, s: room that is wanted before and behind a car
WIDE = 0.7  # lanes, between the middles of cars that do not touch
UNSEEN = 1e6  # m
DANGER, TROUBLE = 100.0, 0.02  # weights of a crash and of an action


@kernel
def look_around(p, s):
    """Fill where others are along the road, as far as it leads on to them."""
    ego = s.ego
    own = s.lane_of[ego]
    for i in range(s.movers):
        k = s.lane_of[i]
        turned = s.cosine[i] * s.cosine[ego] + s.sine[i] * s.sine[ego]
        s.ahead[i] = UNSEEN
        s.pace[i] = min(max(s.speed[i], 0.0), max(p.lane[k, LIMIT], s.target_speed[i]))
        s.beside[i] = p.lane_at[k, PLACE] + s.aside[i] / p.lane[k, WIDTH]
        if p.lane_at[k, ROAD] == p.lane_at[own, ROAD]:
            s.ahead[i] = along(p, own, s.x[i], s.y[i]) - s.station[ego]
        elif comes_towards(p, own, k):
            s.ahead[i] = along(p, own, s.x[i], s.y[i]) - s.station[ego]
            s.pace[i] *= turned
            s.beside[i] = 0.0
        else:
            s.ahead[i] = ahead_on_roads(p, s, k, i)


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
    """How good a sequence of decisions looks: its digits, the first the last."""
    ego = s.ego
    way, speed, aim = 0.0, s.speed[ego], s.target_speed[ego]
    place = float(p.lane_at[s.lane_of[ego], PLACE]) + s.aside[ego] / p.lane[s.lane_of[ego], WIDTH]
    target, last = p.lane_at[s.target_lane[ego], PLACE], p.speeds.size - 1
    settle, shift = 1.0 - maths.exp(-DT / PACE), 1.0 - maths.exp(-DT / SIDEWAYS)
    value, span = 0.0, max(p.speeds[last] - p.speeds[0], 1.0)
    for second in range(DECISIONS + AFTER):
        action = plan % CHOICES if second < DECISIONS else IDLE
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
            if near_somebody(s, way, place, speed, (second * PARTS + part + 1) * DT):
                return value - DANGER * (1.0 - (second + part * DT) / (DECISIONS + AFTER + 1.0))
        value += speed_worth * (speed - p.speeds[0]) / span + lane_worth * target
    return value


@kernel
def near_somebody(s, way, place, speed, time):
    """Whether somebody will be where the ego car is then, or too near before or behind it."""
    for i in range(s.movers):
        if i == s.ego or abs(place - s.beside[i]) >= WIDE:
            continue
        gap = s.ahead[i] + s.pace[i] * time - way
        closing = max(speed - s.pace[i], 0.0) if gap > 0.0 else max(s.pace[i] - speed, 0.0)
        if abs(gap) < CAR_LENGTH + ROOM + ROOM_PER_SPEED * closing:
            return True
    return False


@kernel
def planned_action(p, s, lane_worth, speed_worth):
    """The first decision of the best sequence; of equal ones to keep lane and speed."""
    look_around(p, s)
    best, most = IDLE, -math.inf
    for plan in range(CHOICES**DECISIONS):
        value = worth(p, s, plan, lane_worth, speed_worth)
        first = plan % CHOICES
        if value > most + 1e-9 or (value > most - 1e-9 and first == IDLE):
            best, most = first, value
    return best
