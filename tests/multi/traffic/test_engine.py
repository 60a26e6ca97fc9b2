"""The engine: CityFlow's numbers to the last bit, and what has to hold in any traffic."""

import math

import numpy as np
import pytest
from support.batches import begun
from support.crossroads import EXAMPLE, PLAN, measured, vehicles_on

from rlenvs.multi.traffic.files import flows_to, network_to
from rlenvs.multi.traffic.grids import Streets, grid
from rlenvs.multi.traffic.networks import Flow, Vehicle

ID = "SignalGrid-v0"
LENGTH = 5.0  # m, of a vehicle


# --- CityFlow's numbers -----------------------------------------------------------------------------------------------


@pytest.mark.budget(6)
def test_the_example_of_cityflow():
    """Vehicles, waiting ones and mean travel time, as CityFlow prints them when it runs its bundled example."""
    batch, seen = begun(ID, **EXAMPLE, **PLAN, vehicles=4000), {}
    for n in range(720):
        batch.step(batch.player_actions("fixed"))
        if 5 * (n + 1) in (100, 600, 1800, 3600):
            found = measured(batch)
            seen[5 * (n + 1)] = found["running"], found["waiting"], round(found["travel_time"], 3)
    assert seen == {
        100: (147, 77, 41.9),
        600: (203, 120, 75.537),
        1800: (275, 176, 96.353),
        3600: (310, 220, 120.655),
    }


def test_a_single_vehicle():
    """It speeds up by 2 m/s in each second, and is through after 40 s."""
    flow = {**EXAMPLE["flows"][0], "startTime": 0, "endTime": 0}
    batch, speeds = begun(ID, **{**EXAMPLE, "flows": [flow]}, **{**PLAN, "decision": 1}), []
    while not measured(batch)["throughput"]:
        batch.step([[[0]]])
        speeds.append(float(batch.records(0)[1].speed[0]))
    assert speeds[:10] == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 16.67, 16.67]
    assert measured(batch)["travel_time"] == 40.0


# --- what has to hold -------------------------------------------------------------------------------------------------


def played(batch, steps, seed=0):
    """The batch after random choices."""
    chooser = np.random.default_rng(seed)
    for _ in range(steps):
        batch.step(chooser.integers(0, 8, batch.actions.shape))
    return batch


@pytest.mark.budget(4)
@pytest.mark.parametrize("lane_change", [False, True])
def test_vehicles_are_conserved(lane_change):
    batch = played(begun(ID, 2, seed=3, demand=2.0, lane_change=lane_change), 90)
    for index in range(2):
        _, s = batch.records(index)
        there = int(((np.asarray(s.drivable) >= 0) & ~np.asarray(s.shadow, bool)).sum())
        assert s.finished > 100
        assert s.emitted.sum() == s.finished + there
        assert s.present == there
        assert s.running + int(np.asarray(s.shadow).sum()) == s.count.sum()
        assert s.count.sum() == sum(len(vehicles_on(s, d)) for d in range(s.first.size))


@pytest.mark.budget(6)
@pytest.mark.parametrize("lane_change", [False, True])
def test_vehicles_on_a_lane_never_overlap(lane_change):
    batch = played(begun(ID, seed=4, demand=3.0, lane_change=lane_change), 60)
    p, s = batch.records(0)
    least, met = math.inf, 0
    for n in range(60):
        played(batch, 1, n)
        for lane in range(p.lane_road.size):
            places = np.array([s.position[v] for v in vehicles_on(s, lane)])
            met += max(len(places) - 1, 0)
            least = min([least, *(places[:-1] - LENGTH - places[1:])])
    assert met > 10_000
    assert least >= 0.0


def test_nobody_passes_a_closed_gate_who_can_stop():
    """At signals that stay red for all but right turns, the others stop before the line."""
    batch = begun(ID, level="single", phases="all", decision=1)
    for _ in range(300):
        batch.step([[[0]]])
        assert batch.terms[0, -1, 0] == 0.0  # the cost of red
    p, s = batch.records(0)
    first = [vehicles_on(s, lane)[0] for lane in p.in_lane[0] if p.lane_index[lane] < 2 and s.first[lane] >= 0]
    assert len(first) == 8
    for v in first:
        assert s.speed[v] < 0.1
        assert 0.0 <= p.length[s.drivable[v]] - s.position[v] < 3.0


def test_a_queue_discharges_at_its_headway():
    """Behind the first ones, a vehicle crosses the line in every headway and the time for its length."""
    flow, vehicle = Flow(Vehicle(), ("road_0_1_0", "road_1_1_0"), 3.0), Vehicle()
    network = network_to(grid(1, 1, 600.0))
    batch = begun(ID, network=network, flows=flows_to([flow]), **{**PLAN, "decision": 1})
    crossed, lane = [], -1
    for n in range(200):
        batch.step([[[0 if n < 120 else 1]]])
        _, s = batch.records(0)
        lane = int(s.drivable[0]) if n == 1 else lane
        crossed.append(int(s.emitted[0] - s.count[lane] - (s.present - s.running)) if lane >= 0 else 0)
    assert crossed[119] == 0
    times = [crossed.index(n) for n in range(5, 16)]
    headway = (times[-1] - times[0]) / 10
    assert headway == pytest.approx(vehicle.headway + vehicle.length / vehicle.max_speed, abs=0.3)


def test_vehicles_change_lanes_around_a_slow_one():
    """On the last road, where all lanes are as good: the fast ones behind it are through before it."""
    route = ("road_0_1_0", "road_1_1_0")
    slow = Flow(Vehicle(max_speed=4.0), route, 1000.0, 0, 0)
    fast = Flow(Vehicle(), route, 10.0, 60, 200)
    network = network_to(grid(1, 1, 300.0, Streets(left=1, straight=1, right=1)))
    finished = []
    for lane_change in (False, True):
        options = {**PLAN, "decision": 1, "lane_change": lane_change}
        batch = begun(ID, network=network, flows=flows_to([slow, fast]), **options)
        for _ in range(140):
            batch.step([[[1]]])
        finished.append(measured(batch)["throughput"])
    assert finished[0] == 0
    assert finished[1] > 2


@pytest.mark.budget(6)
def test_travel_time_grows_with_demand():
    times = []
    for demand in (0.5, 1.5, 3.0):
        batch = begun(ID, 4, level="single", demand=demand)
        for _ in range(180):
            batch.step(batch.player_actions("fixed"))
        times.append(np.mean([measured(batch, index)["travel_time"] for index in range(4)]))
    assert times[0] < times[1] < times[2]


def test_threads_do_not_matter():
    digests = []
    for threads in (1, 2):
        batch = begun(ID, 8, level="single", threads=threads)
        for _ in range(20):
            batch.step(batch.player_actions("max_pressure"))
        digests.append(batch.digest())
    assert digests[0] == digests[1]


def test_without_a_free_place_vehicles_come_later():
    batch = begun(ID, level="single", vehicles=2, arrivals="regular", spread=0.0)
    for _ in range(60):
        batch.step(batch.player_actions("fixed"))
        assert measured(batch)["running"] + measured(batch)["outside"] <= 2
    assert measured(batch)["throughput"] > 5
