"""What is wrong with a state from outside: lists with circles, vehicles off their routes, phases that do not exist."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.multi.traffic.fields import NOWHERE


def fault_of(p: Any, s: Any) -> str:
    """What makes a state impossible; "" if nothing does."""
    phases = np.diff(np.asarray(p.phase_begins))
    shown = np.stack([np.asarray(s.phase), np.asarray(s.next_phase)])
    if (shown < 0).any() or (shown >= phases).any():
        return "a phase does not exist"
    if (np.asarray(s.new_drivable) != NOWHERE).any():
        return "a vehicle is between two steps"
    return _fault_of_lists(p, s) or _fault_of_routes(p, s) or _fault_of_shadows(p, s)


def _fault_of_lists(p: Any, s: Any) -> str:
    """Every place below `used` is in exactly one list: that of a drivable, that of a queue, or that of free places."""
    behind, ahead, drivable = s.behind.tolist(), s.ahead.tolist(), s.drivable.tolist()
    met = np.zeros(len(behind), bool)
    lists = [("first", "last", "count"), ("queue_first", "queue_last", "")]
    for first, last, count in lists:
        for d in range(getattr(s, first).size):
            v, before, length = int(getattr(s, first)[d]), -1, 0
            while v >= 0:
                if met[v] or drivable[v] != d or (count and ahead[v] != before):
                    return f"the list of drivable {d} is broken"
                met[v], before, v, length = True, v, behind[v], length + 1
            if before != int(getattr(s, last)[d]) or (count and length != int(s.count[d])):
                return f"the list of drivable {d} is broken"
    v = int(s.free)
    while v >= 0:
        if met[v] or drivable[v] >= 0:
            return "the list of free places is broken"
        met[v], v = True, behind[v]
    if not met[: int(s.used)].all() or met[int(s.used) :].any():
        return "a vehicle is in no list"
    return ""


def _fault_of_routes(p: Any, s: Any) -> str:
    """Every vehicle is on a road of its route, or on the link from there to the next one."""
    lanes = p.lane_road.size
    there = np.flatnonzero(np.asarray(s.drivable) >= 0)
    drivable, leg, flow = (np.asarray(field)[there] for field in (s.drivable, s.leg, s.flow))
    begins, roads = np.asarray(p.route_begins), np.asarray(p.route_road)
    on_link = drivable >= lanes
    link = np.where(on_link, drivable - lanes, 0)
    if (leg < begins[flow]).any() or (leg + on_link >= begins[flow + 1]).any():
        return "a vehicle is not on its route"
    road = np.asarray(p.lane_road)[np.where(on_link, np.asarray(p.link_start)[link], np.where(on_link, 0, drivable))]
    after = np.asarray(p.lane_road)[np.asarray(p.link_end)[link]]
    if (roads[leg] != road).any() or (on_link & (roads[np.minimum(leg + 1, roads.size - 1)] != after)).any():
        return "a vehicle is not on a road of its route"
    return ""


def _fault_of_shadows(p: Any, s: Any) -> str:
    """Every shadow belongs to the vehicle that changes to its lane."""
    shadow, partner = np.asarray(s.shadow, bool) & (np.asarray(s.drivable) >= 0), np.asarray(s.partner)
    changing = (partner >= 0) & (np.asarray(s.drivable) >= 0) & ~shadow
    numbers = np.flatnonzero(changing)
    others = partner[numbers]
    if changing.sum() != shadow.sum() or not shadow[others].all() or (partner[others] != numbers).any():
        return "a shadow is not that of a vehicle"
    lane = np.asarray(s.drivable)[others]
    if (lane >= p.lane_road.size).any() or (np.asarray(s.target)[numbers] != lane).any():
        return "a shadow is not on the lane to change to"
    return ""
