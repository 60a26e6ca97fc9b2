"""Whether the lists of who is where, in a state that comes from outside, can be ones that `locate` made."""

from typing import Any

import numpy as np

from rlenvs.kits.roads.lanes import COUNT


def state_fault(p: Any, c: Any) -> str:
    """What is wrong with them, for `World.state_fault`; "" where nothing is."""
    bodies, held = int(c.bodies), int(c["sorted"])
    if not int(c.movers) <= bodies or held > bodies:
        return f"it has {bodies} bodies, {int(c.movers)} of which are cars, and {held} in order"
    if not np.array_equal(np.sort(c.order[:held]), np.arange(held)):
        return "its order of bodies holds one twice"
    listed = np.zeros(c.entry_next.size, bool)
    for first in c.first_on:
        entry = int(first)
        while entry >= 0:
            if listed[entry]:
                return "its list of cars on a lane leads in a circle"
            listed[entry] = True
            entry = int(c.entry_next[entry])
    own = c.own_entry[:held]
    if not listed[own[own >= 0]].all():
        return "the entry of a body is on no lane"
    places = p.road[:, COUNT][c.route]
    if ((c.route_lane >= places) & (c.route >= 0)).any():
        return "a route names a lane that its road does not have"
    return ""
