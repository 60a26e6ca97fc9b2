"""The engine: a step of all vehicles of a road network, by the rules of CityFlow.

All decisions of a step follow from the state before it, so they do not depend on the order of vehicles.
"""

import math
from typing import Any

from rlenvs.core import kernel, uniform
from rlenvs.multi.traffic.crossing import crossing_speed, is_open, next_link, notify
from rlenvs.multi.traffic.exhaust import exhaust
from rlenvs.multi.traffic.fields import ENDED, GONE, NOWHERE, OFF, REGULAR
from rlenvs.multi.traffic.following import following_speed, greater, lesser, sight
from rlenvs.multi.traffic.incidents import closed_to, incident_speed
from rlenvs.multi.traffic.lane_change import change_lanes, forget, move_aside, yielding_speed
from rlenvs.multi.traffic.places import append, draw, draw_priority, give_place, take_out, take_place

WAITING = 0.1  # m/s, below which a vehicle waits


@kernel
def empty_roads(p: Any, s: Any, rng: Any) -> None:
    """The state at the start: no vehicles, how many will come on each flow, and which incidents there will be."""
    for d in range(s.first.size):
        s.first[d] = -1
        s.last[d] = -1
    for lane in range(s.queue_first.size):
        s.queue_first[lane] = -1
        s.queue_last[lane] = -1
    for v in range(s.drivable.size):
        s.drivable[v] = -1
        s.new_drivable[v] = NOWHERE
    for n in range(s.flow_clock.size):
        s.flow_clock[n] = p.flow_interval[n] if p.arrivals == REGULAR else 0.0
        s.rate[n] = p.demand * (1.0 + p.spread * uniform(rng, -1.0, 1.0))
    for i in range(s.happens.size):
        s.happens[i] = uniform(rng, 0.0, 1.0) < p.incident_chance
    s.free = -1


@kernel
def advance(p: Any, s: Any, rng: Any) -> None:
    """One step of all vehicles; signals stay as they are."""
    emit(p, s, rng)
    admit(p, s)
    if p.lane_change:
        change_lanes(p, s, rng)
        look_ahead(p, s)
    notify(p, s)
    moves = decide(p, s)
    move(p, s, moves)
    commit(p, s)
    look_ahead(p, s)
    s.ticks += 1


# --- vehicles come ----------------------------------------------------------------------------------------------------


@kernel
def wave(p: Any, s: Any) -> float:
    """The demand now, as a factor on its mean: a triangle, lowest where a period begins."""
    part = s.clock / p.period
    return 1.0 + p.peak * (1.0 - 4.0 * abs(part - math.floor(part) - 0.5))


@kernel
def emit(p: Any, s: Any, rng: Any) -> None:
    """Vehicles of all flows that are due, into the queues of their first lanes; without a free place they are late."""
    fresh, height = 0, wave(p, s)
    for n in range(s.flow_clock.size):
        if s.clock < p.flow_start[n] or (p.flow_end[n] != -1.0 and s.clock > p.flow_end[n]):
            continue
        while s.flow_clock[n] >= p.flow_interval[n] and (s.free >= 0 or s.used < s.drivable.size):
            s.moved[fresh] = new_vehicle(p, s, n, rng)
            fresh += 1
            s.flow_clock[n] -= p.flow_interval[n]
        due = p.interval * s.rate[n] * height
        if p.arrivals == REGULAR:
            s.flow_clock[n] += due
        elif uniform(rng, 0.0, 1.0) * p.flow_interval[n] < due:
            s.flow_clock[n] += p.flow_interval[n]
    s.clock += p.interval
    sort_by_road(p, s, fresh)
    for i in range(fresh):
        v = s.moved[i]
        begin = p.start_begins[s.flow[v]]
        choices = p.start_begins[s.flow[v] + 1] - begin
        lane = p.start_lane[begin + draw(p, s, rng) % choices]
        s.drivable[v] = lane
        if s.queue_first[lane] < 0:
            s.queue_first[lane] = v
        else:
            s.behind[s.queue_last[lane]] = v
        s.queue_last[lane] = v


@kernel
def new_vehicle(p: Any, s: Any, n: int, rng: Any) -> int:
    """A vehicle of a flow, in a free place."""
    v = take_place(s)
    s.priority[v] = draw_priority(p, s, rng)
    draw(p, s, rng)  # CityFlow draws the thread of the vehicle
    s.before[v] = -1
    s.position[v] = 0.0
    s.speed[v] = 0.0
    s.kind[v] = p.flow_kind[n]
    s.flow[v] = n
    s.number[v] = s.emitted[n]
    s.emitted[n] += 1
    s.leg[v] = p.route_begins[n]
    s.entered[v] = s.ticks * p.interval
    s.waited[v] = 0.0
    s.entered_link[v] = OFF
    s.blocker[v] = -1
    s.leader[v] = -1
    s.gap[v] = 0.0
    s.partner[v] = -1
    s.shadow[v] = False
    s.aside[v] = 0.0
    s.told[v] = False
    forget(s, v)
    s.behind[v] = -1
    s.ahead[v] = -1
    s.new_drivable[v] = NOWHERE
    s.present += 1
    return v


@kernel
def sort_by_road(p: Any, s: Any, count: int) -> None:
    """Sort the first entries of `moved` by first road; those of a road keep their order."""
    for i in range(1, count):
        v = s.moved[i]
        road = p.route_road[s.leg[v]]
        j = i
        while j > 0 and p.route_road[s.leg[s.moved[j - 1]]] > road:
            s.moved[j] = s.moved[j - 1]
            j -= 1
        s.moved[j] = v


@kernel
def admit(p: Any, s: Any) -> None:
    """The first vehicle of each queue enters its lane if there is room."""
    for lane in range(s.queue_first.size):
        v = s.queue_first[lane]
        if v < 0:
            continue
        tail = s.last[lane]
        if tail >= 0 and s.position[tail] <= p.car_length[s.kind[tail]] + p.car_gap[s.kind[v]]:
            continue
        if closed_to(p, s, lane, s.kind[v]):
            continue
        s.queue_first[lane] = s.behind[v]
        if s.behind[v] < 0:
            s.queue_last[lane] = -1
        append(s, v, lane)
        s.running += 1
        if tail >= 0:
            follow(p, s, v, tail)
        else:
            find_leader(p, s, v)


# --- they decide ------------------------------------------------------------------------------------------------------


@kernel
def decide(p: Any, s: Any) -> int:
    """The next speed and place of all vehicles. Returns how many leave their drivable; those are in `moved`."""
    moves = 0
    for d in range(s.first.size):
        v = s.first[d]
        while v >= 0:
            go(p, s, v, d, common_speed(p, s, v, d))
            if s.partner[v] >= 0:
                move_aside(p, s, v, d)
            if s.new_drivable[v] != NOWHERE:
                s.moved[moves] = v
                moves += 1
            v = s.behind[v]
    return moves


@kernel
def common_speed(p: Any, s: Any, v: int, d: int) -> float:
    """The next speed [m/s] of a vehicle; of one with a shadow, the lesser of both."""
    if s.told[v]:
        s.told[v] = False
        return s.new_speed[v]
    s.new_blocker[v] = -1
    speed, other = next_speed(p, s, v, d), s.partner[v]
    if other >= 0:
        s.new_blocker[other] = -1
        speed = lesser(speed, next_speed(p, s, other, s.drivable[other]))
        s.new_speed[other] = speed
        s.told[other] = True
    return speed


@kernel
def next_speed(p: Any, s: Any, v: int, d: int) -> float:
    """The next speed [m/s] of a vehicle; negative where it comes to rest within the step."""
    kind, speed = s.kind[v], s.speed[v]
    best = lesser(p.car_max_speed[kind], speed + p.car_speed_up[kind] * p.interval)
    best = lesser(best, p.limit[d])
    best = lesser(best, following_speed(p, s, v))
    if d >= p.lane_road.size:
        best = lesser(best, crossing_speed(p, s, v, d - p.lane_road.size, s.position[v]))
    else:
        link, rest = next_link(p, s, v, d), p.length[d] - s.position[v]
        if link >= 0 and rest <= sight(p, kind):
            best = lesser(best, crossing_speed(p, s, v, link, -rest))
    if p.lane_change:
        best = lesser(best, yielding_speed(p, s, v, d))
    if s.happens.size > 0:
        best = lesser(best, incident_speed(p, s, v, d))
    return greater(best, speed - p.car_slow_down[kind] * p.interval)


@kernel
def go(p: Any, s: Any, v: int, d: int, speed: float) -> None:
    """Where a vehicle is after the step, along its route."""
    old = s.speed[v]
    if speed < 0.0:
        place = 0.5 * old * old / p.car_slow_down[s.kind[v]] + s.position[v]
        speed = 0.0
    else:
        place = (old + speed) * p.interval / 2.0 + s.position[v]
    s.new_speed[v] = speed
    leg = s.leg[v]
    while place > p.length[d]:
        place -= p.length[d]
        if d >= p.lane_road.size:
            d = p.link_end[d - p.lane_road.size]
            leg += 1
        else:
            link = p.route_link[leg, p.lane_index[d]]
            if link < 0:
                s.new_drivable[v] = ENDED
                return
            d = p.lane_road.size + link
        s.new_drivable[v] = d
    s.new_position[v] = place


# --- they move --------------------------------------------------------------------------------------------------------


@kernel
def move(p: Any, s: Any, moves: int) -> None:
    """Put the vehicles that leave their drivable into the lists of the next; those whose route ends are gone."""
    lanes = p.lane_road.size
    for i in range(moves):
        take_out(s, s.moved[i])
    for i in range(moves):
        v = s.moved[i]
        if s.new_drivable[v] == ENDED:
            s.finished += 1
            s.travelled += s.ticks * p.interval - s.entered[v]
            s.running -= 1
            s.present -= 1
            give_place(s, v)
        elif s.new_drivable[v] == GONE:
            give_place(s, v)
        else:
            d = s.new_drivable[v]
            if d >= lanes and not is_open(p, s, d - lanes):
                s.ran_red[p.gate_junction[p.link_gate[d - lanes]]] += 1
            append(s, v, d)


@kernel
def commit(p: Any, s: Any) -> None:
    """The new numbers become those of the vehicles; what these emit is added up by junction."""
    lanes = p.lane_road.size
    for d in range(s.first.size):
        v, burnt = s.first[d], 0.0
        while v >= 0:
            if not s.shadow[v]:
                burnt += exhaust(s.speed[v], s.new_speed[v], p.interval)
            s.position[v] = s.new_position[v]
            s.speed[v] = s.new_speed[v]
            blocker = s.new_blocker[v]
            s.blocker[v] = blocker if blocker >= 0 and s.drivable[blocker] >= 0 else -1
            if s.new_drivable[v] != NOWHERE:
                s.before[v] = s.drivable[v]
                s.drivable[v] = d
                s.new_drivable[v] = NOWHERE
                s.entered_link[v] = s.ticks if d >= lanes else OFF
                s.waited[v] = 0.0
                while d < lanes and p.route_road[s.leg[v]] != p.lane_road[d]:
                    s.leg[v] += 1
            if p.lane_change:
                forget(s, v)
            if s.speed[v] < WAITING:
                s.waited[v] += p.interval
            v = s.behind[v]
        if p.toward[d] >= 0:
            s.burnt[p.toward[d]] += burnt


@kernel
def look_ahead(p: Any, s: Any) -> None:
    """The leader of every vehicle, and the gap to it."""
    for d in range(s.first.size):
        v = s.first[d]
        if v >= 0:
            find_leader(p, s, v)
            follower = s.behind[v]
            while follower >= 0:
                follow(p, s, follower, v)
                v = follower
                follower = s.behind[v]


@kernel
def follow(p: Any, s: Any, v: int, leader: int) -> None:
    """The vehicle ahead on the same drivable is the leader."""
    s.leader[v] = leader
    s.gap[v] = s.position[leader] - p.car_length[s.kind[leader]] - s.position[v]


@kernel
def find_leader(p: Any, s: Any, v: int) -> None:
    """The leader of the first vehicle of a drivable: the last one on the drivables that follow, as far as it looks. All
    links that leave a lane count, since they overlap."""
    s.leader[v] = -1
    d, leg, lanes = s.drivable[v], s.leg[v], p.lane_road.size
    away, most = p.length[d] - s.position[v], sight(p, s.kind[v])
    while True:
        if d >= lanes:
            d = p.link_end[d - lanes]
            leg += 1
            if s.last[d] >= 0:
                s.leader[v] = s.last[d]
        else:
            link = p.route_link[leg, p.lane_index[d]]
            if link < 0:
                return
            nearest_leaving(p, s, v, d, away)
            d = lanes + link
        if s.leader[v] >= 0:
            if d < lanes:
                s.gap[v] = away + s.position[s.leader[v]] - p.car_length[s.kind[s.leader[v]]]
            return
        away += p.length[d]
        if away > most:
            return


@kernel
def nearest_leaving(p: Any, s: Any, v: int, lane: int, away: float) -> None:
    """Let the last vehicle on a link that leaves a lane, so far away [m], be the leader: the one with the least gap."""
    for i in range(p.leaving_begins[lane], p.leaving_begins[lane + 1]):
        other = s.last[p.lane_road.size + p.leaving[i]]
        if other >= 0:
            gap = away + s.position[other] - p.car_length[s.kind[other]]
            if s.leader[v] < 0 or gap < s.gap[v]:
                s.leader[v] = other
                s.gap[v] = gap
