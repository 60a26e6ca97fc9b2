"""Junctions: which gates are open, who comes to which crossing, who yields."""

from typing import Any

from rlenvs.core import kernel
from rlenvs.multi.traffic.following import (
    braking_distance,
    can_yield,
    lesser,
    steps_to,
    stopping_speed,
)
from rlenvs.multi.traffic.incidents import closed_to

MOVING = 2.0  # m/s: behind a vehicle at this speed there will be room
TURNS = 2  # of `gate_kind`: right turns are 1, left turns 2


@kernel
def is_green(p: Any, junction: int, phase: int, gate: int) -> bool:
    """Whether a phase of a junction opens one of its gates."""
    row = p.green_begins[p.phase_begins[junction] + phase]
    return p.green[row + gate - p.gate_begins[junction]] == 1


@kernel
def is_open(p: Any, s: Any, link: int) -> bool:
    """Whether vehicles may enter a link: its gate is open, and stays open when the next phase is shown; while all
    signals are red before that, none is."""
    gate = p.link_gate[link]
    j = p.gate_junction[gate]
    if not is_green(p, j, s.phase[j], gate):
        return False
    if s.next_phase[j] == s.phase[j]:
        return True
    return s.clearing[j] >= p.all_red and is_green(p, j, s.next_phase[j], gate)


@kernel
def has_room(p: Any, s: Any, lane: int, v: int) -> bool:
    """Whether the vehicle can enter a lane: no incident is near its start, and its last vehicle is far enough inside,
    or moves."""
    if closed_to(p, s, lane, s.kind[v]):
        return False
    tail = s.last[lane]
    if tail < 0:
        return True
    if s.position[tail] > p.car_length[s.kind[tail]] + p.car_length[s.kind[v]]:
        return True
    return s.speed[tail] >= MOVING


@kernel
def notify(p: Any, s: Any) -> None:
    """Fill `notified` and `notice`: for each crossing of a link, the vehicle that is next there, or still upon it."""
    for e in range(s.notified.size):
        s.notified[e] = -1
    lanes = p.lane_road.size
    for link in range(p.link_end.size):
        left, stop = p.cross_begins[link], p.cross_begins[link + 1]
        if left < stop:
            stop = notify_behind(p, s, link, left, stop)
            stop = notify_upon(p, s, lanes + link, left, stop)
            v = s.first[p.link_start[link]]
            if left < stop and v >= 0 and next_link(p, s, v, p.link_start[link]) == link and is_open(p, s, link):
                away = p.length[p.link_start[link]] - s.position[v]
                for e in range(left, stop):
                    s.notified[e] = v
                    s.notice[e] = away + p.cross_at[e]


@kernel
def notify_behind(p: Any, s: Any, link: int, left: int, stop: int) -> int:
    """Notify the last crossings of the vehicle that has just left the link, as far as its end is not past them.
    Returns the first crossing that is done."""
    v = s.last[p.link_end[link]]
    if v < 0 or s.before[v] != p.lane_road.size + link:
        return stop
    end = s.position[v] - p.car_length[s.kind[v]]
    while stop > left:
        rest = p.length[p.lane_road.size + link] - p.cross_at[stop - 1]
        if rest + end >= 0.0:
            break
        stop -= 1
        s.notified[stop] = v
        s.notice[stop] = -(s.position[v] + rest)
    return stop


@kernel
def notify_upon(p: Any, s: Any, drivable: int, left: int, stop: int) -> int:
    """Notify crossings of the vehicles on the link, the first one first. Returns the first crossing that is done."""
    v = s.first[drivable]
    while v >= 0 and stop > left:
        place, size = s.position[v], p.car_length[s.kind[v]]
        while stop > left:
            at = p.cross_at[stop - 1]
            if place > at and place - at - size > 0.0:
                break
            stop -= 1
            s.notified[stop] = v
            s.notice[stop] = at - place
        v = s.behind[v]
    return stop


@kernel
def next_link(p: Any, s: Any, v: int, lane: int) -> int:
    """The link that a vehicle on a lane will take, -1 for none."""
    return p.route_link[s.leg[v], p.lane_index[lane]]


@kernel
def crossing_speed(p: Any, s: Any, v: int, link: int, start: float) -> float:
    """The next speed [m/s] that the junction allows; notes to whom the vehicle yields.

    Args:
        link: on which the vehicle is, or which it will take.
        start: how far [m] it is past the beginning of the link; negative before.
    """
    kind = s.kind[v]
    best = p.car_max_speed[kind]
    if s.drivable[v] < p.lane_road.size:
        rest = p.length[s.drivable[v]] - s.position[v]
        if (not is_open(p, s, link) or not has_room(p, s, p.link_end[link], v)) and braking_distance(p, s, v) <= rest:
            return lesser(best, stopping_speed(p, s, v, rest))
        if 0 < p.gate_kind[p.link_gate[link]] <= TURNS:
            best = lesser(best, p.car_turn_speed[kind])
    for e in range(p.cross_begins[link], p.cross_begins[link + 1]):
        at = p.cross_at[e]
        if at >= start and s.notified[p.cross_foe[e]] >= 0 and must_yield(p, s, v, e, at - start):
            best = lesser(best, stopping_speed(p, s, v, at - start - p.car_yield[kind]))
            s.new_blocker[v] = s.notified[p.cross_foe[e]]
            break
    return best


@kernel
def must_yield(p: Any, s: Any, v: int, entry: int, distance: float) -> bool:
    """Whether a vehicle yields to the one that comes to a crossing on the other link.

    Args:
        entry: the crossing, on the vehicle's link.
        distance: how far [m] the vehicle is away from it.
    """
    if not can_yield(p, s, v, distance):
        return False
    foe = s.notified[p.cross_foe[entry]]
    away = s.notice[p.cross_foe[entry]]
    if can_yield(p, s, foe, away) and goes_first(p, s, v, foe, entry, distance, away):
        return False
    return not in_deadlock(s, foe)


@kernel
def goes_first(p: Any, s: Any, v: int, foe: int, entry: int, distance: float, away: float) -> bool:
    """Whether a vehicle passes a crossing before another that could yield as well."""
    mine = p.gate_kind[p.link_gate[p.cross_link[entry]]]
    other = p.gate_kind[p.link_gate[p.cross_link[p.cross_foe[entry]]]]
    if mine > other:
        return True
    if away <= 0.0:
        return away + p.car_length[s.kind[foe]] < 0.0
    mine_steps = steps_to(p, s, v, distance, mine)
    other_steps = steps_to(p, s, foe, away, other)
    if mine < other or mine_steps != other_steps:
        return other_steps > mine_steps
    if s.entered_link[v] != s.entered_link[foe]:
        return s.entered_link[v] < s.entered_link[foe]
    if distance != away:
        return distance < away
    return s.priority[v] > s.priority[foe]


@kernel
def in_deadlock(s: Any, v: int) -> bool:
    """Whether those to whom a vehicle yields, one after the other, are a circle."""
    fast, slow = v, v
    while fast >= 0 and s.blocker[fast] >= 0:
        slow = s.blocker[slow]
        fast = s.blocker[s.blocker[fast]]
        if slow == fast:
            return True
    return False
