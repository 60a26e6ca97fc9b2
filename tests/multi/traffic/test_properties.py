"""What has to hold under any signals, on several networks: no red line crossed, no overlap in a stream of vehicles."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from support.batches import begun
from support.crossroads import EXAMPLE, PLAN, vehicles_on

from rlenvs.multi.traffic.crossing import is_open
from rlenvs.multi.traffic.demand import random_flows
from rlenvs.multi.traffic.files import flows_to, network_to
from rlenvs.multi.traffic.grids import arterial, city, grid_flows
from rlenvs.multi.traffic.networks import Vehicle

ID = "SignalGrid-v0"
TRUCK = Vehicle(12.0, 2.5, 1.2, 4.0, 1.0, 3.0, 3.0, 12.0, 2.0)
STEPS = 600
PLACE = ("drivable", "position", "speed")
FIELDS = ("number", "flow", "kind", "leg", *PLACE)


def of_city():
    """A random city, with trucks in every third flow."""
    network = city(3, 3, 3)
    flows = random_flows(network, 1, rate=600.0)
    flows = [replace(flow, vehicle=TRUCK) if n % 3 == 1 else flow for n, flow in enumerate(flows)]
    return {"network": network_to(network), "flows": flows_to(flows)}


NETWORKS = {
    "grid": lambda: {"demand": 2.0},
    "arterial": lambda: {"layout": "arterial", "columns": 3, "demand": 2.0},
    "city": of_city,
    "half_steps": lambda: {**EXAMPLE, "interval": 0.5, "demand": 1.5},
    "long_steps": lambda: {**EXAMPLE, "interval": 2.0, "demand": 1.5},
    "lane_change": lambda: {"lane_change": True, "demand": 1.5},
}


def steps_of(name):
    """A batch of one world after each step of the engine, with other random phases every ten of them."""
    batch = begun(ID, seed=4, decision=1, yellow=3, min_green=4, horizon=STEPS + 1, **NETWORKS[name]())
    chooser = np.random.default_rng(0)
    for n in range(STEPS):
        if n % 10 == 0:
            actions = chooser.integers(0, batch.setup.action_size, batch.actions.shape)
        before = {field: np.array(getattr(batch.records(0)[1], field)) for field in FIELDS}
        batch.step(actions)
        yield before, *batch.records(0)


def room_to_stop(p, kind, drivable, position, speed):
    """Meters left before the line where vehicles brake as hard as they can."""
    return p.length[drivable] - position - speed**2 / (2.0 * p.car_slow_down[kind])


@pytest.mark.parametrize("name", NETWORKS)
def test_nobody_passes_a_closed_gate_who_can_stop(name):
    """Whoever can stop before a closed gate still can after a step, and is not past it."""
    held, ran, known = 0, 0, {}
    for before, p, s in steps_of(name):
        lanes, was, now = p.lane_road.size, before["drivable"], np.asarray(s.drivable)
        shown = s.phase.tobytes() + s.next_phase.tobytes()
        if shown not in known:
            known[shown] = np.array([not is_open(p, s, link) for link in range(p.link_end.size)])
        closed = known[shown]
        same = (before["number"] == s.number) & (before["flow"] == s.flow) & ~np.asarray(s.shadow, bool)
        there = np.flatnonzero(same & (was >= 0) & (was < lanes) & (now >= 0))
        link = p.route_link[before["leg"][there], p.lane_index[was[there]]]
        red = there[(link >= 0) & closed[link]]
        can = room_to_stop(p, *(before[field][red] for field in ("kind", *PLACE))) >= 0.0
        ran += int((now[red[~can]] >= lanes).sum())
        held += int((before["speed"][red[can]] > 1.0).sum())
        stopped = red[can]
        assert (now[stopped] < lanes).all()
        after = (np.asarray(getattr(s, field))[stopped] for field in ("kind", *PLACE))
        assert (room_to_stop(p, *after) > -1e-9).all()
    assert held > 1000
    assert ran > 10


def overlaps(p, s):
    """Pairs on the same drivable, the one ahead first, with the room between them in m."""
    for d in np.flatnonzero(np.asarray(s.count) > 1):
        there = vehicles_on(s, d)
        for ahead, behind in itertools.pairwise(there):
            yield ahead, behind, s.position[ahead] - p.car_length[s.kind[ahead]] - s.position[behind]


@pytest.mark.parametrize("name", NETWORKS)
def test_vehicles_that_come_the_same_way_never_overlap(name):
    """On lanes and across junctions. Those of streams that merge may, as the next test says."""
    met = 0
    for n, (_, p, s) in enumerate(steps_of(name)):
        if n > 100 and n % 7 == 0:
            for ahead, behind, room in overlaps(p, s):
                if s.before[ahead] == s.before[behind]:
                    met += 1
                    assert room >= 0.0
    assert met > 1000


def test_where_streams_merge_vehicles_overlap_as_in_cityflow():
    """Two turns into one lane: by CityFlow's rules both may come at once. The places are those of CityFlow."""
    flows = [replace(flow, interval=flow.interval / 2.0) for flow in grid_flows(1, 3, 400.0, 0.4)]
    files = {"network": network_to(arterial(3)), "flows": flows_to(flows)}
    batch = begun(ID, **files, **{**PLAN, "decision": 1})
    p, s = batch.records(0)
    found = []
    for step in range(140):
        batch.step(np.array([(step // 10 * 5 + 2 * j) % 9 for j in range(3)]).reshape(batch.actions.shape))
        found += [(step, s.position[ahead], s.position[behind]) for ahead, behind, room in overlaps(p, s) if room < 0.0]
    assert found == [
        (133, 3.6373144516342037, 0.8863022787276407),
        (134, 15.52618111830087, 14.969602278727642),
        (135, 29.415047784967538, 24.552902278727643),
    ]
