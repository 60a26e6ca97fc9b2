"""Lane changes: a vehicle with a slow leader moves aside, beside a shadow of itself that keeps a place on that lane.

While it moves, both drive at one speed; then the shadow is the vehicle, and the other one is gone. Where both leave the
lane before, the shadow is gone. Vehicles plan one after the other, lane by lane, the first one of a lane first.
"""

from typing import Any

from rlenvs.core import kernel
from rlenvs.multi.traffic.fields import GONE, NOWHERE
from rlenvs.multi.traffic.following import braking_distance, greater, lesser, safe_speed
from rlenvs.multi.traffic.incidents import blocked_at
from rlenvs.multi.traffic.places import draw_priority, put_between, take_place

COOLING = 3.0  # s, before which nobody changes; between changes CityFlow's has no effect, since the shadow has none
NEAR = 30.0  # m before the end of a lane, where no change begins
FAR = 1e300  # m: nobody
FREE = 100.0  # m/s: no limit


@kernel
def plan_changes(p: Any, s: Any) -> int:
    """The lane that each vehicle would like to change to. Returns how many would, or do so; those are in `moved`."""
    count = 0
    for lane in range(p.lane_road.size):
        v = s.first[lane]
        while v >= 0:
            if not s.shadow[v]:
                if s.partner[v] < 0:
                    ask(p, s, v, lane)
                if s.target[v] >= 0:
                    s.moved[count] = v
                    count += 1
            v = s.behind[v]
    return count


@kernel
def ask(p: Any, s: Any, v: int, lane: int) -> None:
    """Choose the lane to change to, of those beside, where there is more room; -1 for none."""
    kind = s.kind[v]
    size, gap, way = p.car_length[kind], s.gap[v], blocked_at(p, s, lane, s.position[v]) - s.position[v]
    s.asks[v] = s.ticks * p.interval >= COOLING
    if not s.asks[v] or p.length[lane] - s.position[v] < NEAR:
        return
    widest = 2.0 * size + 4.0 * p.interval * p.car_max_speed[kind]
    if way <= widest:
        gap = lesser(gap, way)
    elif gap > widest or gap < 1.5 * size:
        return
    outer, room = 0.0, gap + size
    if lane + 1 < p.lane_road.size and p.lane_road[lane + 1] == p.lane_road[lane] and leads_on(p, s, v, lane + 1):
        outer = room_on(p, s, v, lane + 1)
        if outer > room:
            s.target[v] = lane + 1
    if p.lane_index[lane] > 0 and leads_on(p, s, v, lane - 1):
        inner = room_on(p, s, v, lane - 1)
        if inner > room and inner > outer:
            s.target[v] = lane - 1


@kernel
def on_last_road(p: Any, s: Any, v: int) -> bool:
    """Whether the vehicle is on the last road of its route."""
    return s.leg[v] + 1 == p.route_begins[s.flow[v] + 1]


@kernel
def leads_on(p: Any, s: Any, v: int, lane: int) -> bool:
    """Whether the route goes on from a lane of the vehicle's road."""
    return on_last_road(p, s, v) or p.route_link[s.leg[v], p.lane_index[lane]] >= 0


@kernel
def ahead_on(s: Any, v: int, lane: int) -> int:
    """The next vehicle on a lane beside that is not behind the vehicle; -1 for none."""
    other = s.last[lane]
    while other >= 0 and s.position[other] < s.position[v]:
        other = s.ahead[other]
    return other


@kernel
def room_on(p: Any, s: Any, v: int, lane: int) -> float:
    """The gap [m] to the next vehicle on a lane beside, or to its end, or to an incident."""
    other = ahead_on(s, v, lane)
    room = p.length[lane] - s.position[v]
    if other >= 0:
        room = s.position[other] - s.position[v] - p.car_length[s.kind[other]]
    return lesser(blocked_at(p, s, lane, s.position[v]) - s.position[v], room)


@kernel
def look_aside(p: Any, s: Any, v: int) -> None:
    """Who is ahead and behind on the lane to change to, and how far away."""
    target, here = s.target[v], s.position[v]
    leader = ahead_on(s, v, target)
    follower = s.behind[leader] if leader >= 0 else s.first[target]
    if leader >= 0:
        s.target_gap[v] = s.position[leader] - here - p.car_length[s.kind[leader]]
    else:
        rest, gap = p.length[s.drivable[v]] - here, FAR
        s.target_gap[v] = rest
        for i in range(p.leaving_begins[target], p.leaving_begins[target + 1]):
            other = s.last[p.lane_road.size + p.leaving[i]]
            if other >= 0 and s.position[other] + rest < gap:
                gap = s.position[other] + rest
                size = p.car_length[s.kind[other]]
                if gap < size:
                    leader = other
                    s.target_gap[v] = rest - (size - gap)
    s.target_leader[v] = leader
    s.target_follower[v] = follower
    s.target_room[v] = here - s.position[follower] - p.car_length[s.kind[v]] if follower >= 0 else FAR


@kernel
def hear(s: Any, v: int, sender: int) -> None:
    """A vehicle hears that another one wants to change to its lane; the highest priority counts."""
    if v < 0 or (s.partner[v] >= 0 and not s.shadow[v]):
        return
    heard = s.priority[s.heard[v]] if s.heard[v] >= 0 else -1
    new = s.priority[sender]
    if (s.heard[v] < 0 or heard < new) and (not s.asks[v] or s.priority[v] < new):
        s.heard[v] = sender


@kernel
def room_needed(p: Any, s: Any, v: int) -> float:
    """The gap [m] that the follower on the lane to change to needs."""
    return braking_distance(p, s, s.target_follower[v]) if s.target_follower[v] >= 0 else 0.0


@kernel
def may_start(p: Any, s: Any, v: int) -> bool:
    """Whether a vehicle can start to change: nobody else asks it for room, and the gaps are safe."""
    if s.partner[v] >= 0 or s.heard[v] >= 0 or not s.asks[v]:
        return False
    return s.target_gap[v] >= braking_distance(p, s, v) and s.target_room[v] >= room_needed(p, s, v)


@kernel
def yielding_speed(p: Any, s: Any, v: int, d: int) -> float:
    """The next speed [m/s] that others who change lanes allow, and a lane from which the route does not go on."""
    kind, speed, best = s.kind[v], s.speed[v], FREE
    source = s.heard[v]
    if source >= 0 and s.target_leader[source] != v:
        gap = s.target_room[source] - room_needed(p, s, source)
        down = p.car_slow_down[kind]
        safe = safe_speed(p, s.speed[source], p.car_slow_down[s.kind[source]], speed, down, gap, 0.0)
        best = safe if safe >= 0.0 else FREE
    if d < p.lane_road.size and not leads_on(p, s, v, d):
        rest = p.length[d] - s.position[v]
        best = lesser(best, safe_speed(p, 0.0, 1.0, speed, p.car_slow_down[kind], rest, p.car_gap[kind]))
    return best


@kernel
def change_lanes(p: Any, s: Any, rng: Any) -> None:
    """Vehicles ask for room on the lanes beside, and those that have it get a shadow there."""
    for i in range(plan_changes(p, s)):
        v = s.moved[i]
        look_aside(p, s, v)
        hear(s, s.target_leader[v], v)
        hear(s, s.target_follower[v], v)
        if may_start(p, s, v):
            cast_shadow(p, s, v, rng)


@kernel
def cast_shadow(p: Any, s: Any, v: int, rng: Any) -> None:
    """Put the shadow of a vehicle on the lane to change to, if there is a free place in the arrays."""
    other = take_place(s)
    if other < 0:
        return
    lane, behind = s.target[v], s.target_follower[v]
    put_between(s, other, lane, s.ahead[behind] if behind >= 0 else s.last[lane], behind)
    s.drivable[other] = lane
    s.before[other] = s.before[v]
    s.position[other] = s.position[v]
    s.speed[other] = s.speed[v]
    s.kind[other] = s.kind[v]
    s.flow[other] = s.flow[v]
    s.number[other] = s.number[v]
    s.leg[other] = s.leg[v]
    s.priority[other] = draw_priority(p, s, rng)
    s.entered[other] = s.entered[v]
    s.waited[other] = s.waited[v]
    s.entered_link[other] = s.entered_link[v]
    s.blocker[other] = -1
    s.leader[other] = -1
    s.gap[other] = s.gap[v]
    s.new_drivable[other] = NOWHERE
    s.told[other] = False
    s.shadow[other] = True
    s.partner[other] = v
    s.partner[v] = other
    s.aside[other] = 0.0
    s.aside[v] = 0.0
    forget(s, other)


@kernel
def move_aside(p: Any, s: Any, v: int, lane: int) -> None:
    """After the next speed is known: a shadow that leaves its lane is gone, a vehicle that has changed too."""
    other = s.partner[v]
    if s.shadow[v]:
        if s.new_drivable[v] != NOWHERE:
            s.new_drivable[v] = GONE
            part(s, v, other)
        return
    way = 1.0 if s.target[v] > lane else -1.0
    widest = (p.lane_width[s.target[v]] + p.lane_width[lane]) / 2.0
    aside = abs(s.aside[v] + greater(0.2 * s.new_speed[v], 1.0) * p.interval * way)
    s.aside[v] = lesser(aside, widest) * way
    if aside >= widest:
        s.shadow[other] = False
        s.new_drivable[v] = GONE
        part(s, v, other)


@kernel
def part(s: Any, v: int, other: int) -> None:
    """A vehicle and its shadow are no longer together."""
    s.partner[v] = -1
    s.partner[other] = -1
    s.aside[other] = 0.0


@kernel
def forget(s: Any, v: int) -> None:
    """After a step: who asked for room, and who was near."""
    s.target_leader[v] = -1
    s.target_follower[v] = -1
    if s.partner[v] < 0 or s.shadow[v]:
        s.asks[v] = False
        s.target[v] = -1
        s.heard[v] = -1
