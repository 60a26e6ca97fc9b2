"""What is wrong with a state from outside: lists with circles, vehicles off their routes, phases that do not exist.

In loops, since live pages run the same function as JavaScript.
"""

from __future__ import annotations

from typing import Any

from rlenvs.multi.traffic.fields import NOWHERE


def fault_of(p: Any, s: Any) -> str:
    """What makes a state impossible; "" if nothing does."""
    for j in range(int(s.phase.size)):
        phases = int(p.phase_begins[j + 1]) - int(p.phase_begins[j])
        for phase in (int(s.phase[j]), int(s.next_phase[j])):
            if phase < 0 or phase >= phases:
                return "a phase does not exist"
    for v in range(int(s.new_drivable.size)):
        if int(s.new_drivable[v]) != NOWHERE:
            return "a vehicle is between two steps"
    return _fault_of_lists(p, s) or _fault_of_routes(p, s) or _fault_of_shadows(p, s)


def _fault_of_lists(p: Any, s: Any) -> str:
    """Every place below `used` is in exactly one list: that of a drivable, that of a queue, or that of free places."""
    met = [False for _ in range(int(s.behind.size))]
    for d in range(int(s.first.size)):
        if not _is_list(s, met, d, int(s.first[d]), int(s.last[d]), int(s.count[d])):
            return f"the list of drivable {d} is broken"
    for lane in range(int(s.queue_first.size)):
        if not _is_list(s, met, lane, int(s.queue_first[lane]), int(s.queue_last[lane]), -1):
            return f"the list of drivable {lane} is broken"
    v = int(s.free)
    while v >= 0:
        if met[v] or int(s.drivable[v]) >= 0:
            return "the list of free places is broken"
        met[v] = True
        v = int(s.behind[v])
    for v in range(len(met)):
        if met[v] != (v < int(s.used)):
            return "a vehicle is in no list"
    return ""


def _is_list(s: Any, met: list[bool], d: int, first: int, last: int, count: int) -> bool:
    """Whether the vehicles from the first one on are all on a drivable, not met before, up to the last one; with a
    count, as many, and linked both ways."""
    v, before, length = first, -1, 0
    while v >= 0:
        if met[v] or int(s.drivable[v]) != d or (count >= 0 and int(s.ahead[v]) != before):
            return False
        met[v] = True
        before = v
        v = int(s.behind[v])
        length += 1
    return before == last and (count < 0 or length == count)


def _fault_of_routes(p: Any, s: Any) -> str:
    """Every vehicle is on a road of its route, or on the link from there to the next one."""
    lanes = int(p.lane_road.size)
    for v in range(int(s.drivable.size)):
        d = int(s.drivable[v])
        if d < 0:
            continue
        leg, flow, link = int(s.leg[v]), int(s.flow[v]), d - lanes
        end = int(p.route_begins[flow + 1])
        if leg < int(p.route_begins[flow]) or leg >= end or (link >= 0 and leg + 1 >= end):
            return "a vehicle is not on its route"
        lane = d if link < 0 else int(p.link_start[link])
        if int(p.route_road[leg]) != int(p.lane_road[lane]):
            return "a vehicle is not on a road of its route"
        if link >= 0 and int(p.route_road[leg + 1]) != int(p.lane_road[p.link_end[link]]):
            return "a vehicle is not on a road of its route"
    return ""


def _fault_of_shadows(p: Any, s: Any) -> str:
    """Every shadow belongs to the vehicle that changes to its lane."""
    lanes = int(p.lane_road.size)
    for v in range(int(s.drivable.size)):
        other = int(s.partner[v])
        if int(s.drivable[v]) < 0:
            continue
        if other < 0:
            if s.shadow[v]:
                return "a shadow is not that of a vehicle"
            continue
        there = int(s.drivable[other])
        if there < 0 or int(s.partner[other]) != v or bool(s.shadow[v]) == bool(s.shadow[other]):
            return "a shadow is not that of a vehicle"
        if not s.shadow[v] and (there >= lanes or int(s.target[v]) != there):
            return "a shadow is not on the lane to change to"
    return ""
