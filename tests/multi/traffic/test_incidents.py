"""Incidents, all-red, people on foot, and what vehicles emit."""

import itertools

import numpy as np
import pytest
from support.batches import begun
from support.crossroads import EXAMPLE, PLAN, measured, vehicles_on

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.traffic.crossing import is_open
from rlenvs.multi.traffic.exhaust import exhaust
from rlenvs.multi.traffic.files import flows_to, network_to
from rlenvs.multi.traffic.grids import Streets, grid
from rlenvs.multi.traffic.networks import Flow, Vehicle

ID = "SignalGrid-v0"
ENTRY, EXIT = "road_0_1_0", "road_1_1_0"  # from the west, and to the east
EXACT = {"arrivals": "regular", "spread": 0.0, "draws_seed": 0}


def lanes_of(batch, road):
    """The lanes of a road of a single junction, by its id."""
    ids = [each["id"] for each in network_to(grid(1, 1))["roads"]]
    p, _ = batch.records(0)
    return np.flatnonzero(np.asarray(p.lane_road) == ids.index(road)).tolist()


# --- incidents --------------------------------------------------------------------------------------------------------


def test_nobody_passes_an_incident_until_it_is_over():
    incident = {"road": ENTRY, "lane": 1, "at": 120.0, "endTime": 300}
    batch = begun(ID, level="single", incidents=[incident], decision=1)
    _, s = batch.records(0)
    lane = lanes_of(batch, ENTRY)[1]
    passed = False
    for n in range(400):
        batch.step(batch.player_actions("fixed"))
        places = [float(s.position[v]) for v in vehicles_on(s, lane)]
        if n < 299:
            assert all(place <= 120.0 for place in places)
        passed |= any(place > 120.0 for place in places)
        if n == 298:
            assert len(places) > 5
            assert 117.0 < places[0] <= 120.0
    assert passed


def test_vehicles_that_cannot_stop_any_more_pass():
    """An incident that begins right before a vehicle at full speed."""
    flow = {**EXAMPLE["flows"][0], "startTime": 0, "endTime": 0}
    incident = {"road": flow["route"][0], "at": 135.0, "startTime": 12}
    batch = begun(ID, **{**EXAMPLE, "flows": [flow]}, **{**PLAN, "decision": 1}, incidents=[incident])
    _, s = batch.records(0)
    speeds = []
    for _ in range(14):
        batch.step([[[0]]])
        speeds.append(float(s.speed[0]))
    assert speeds[11] == 16.67
    assert speeds[12] == pytest.approx(16.67 - 4.5)  # it brakes as hard as it can
    assert s.position[0] > 135.0


@pytest.mark.parametrize("road", [ENTRY, EXIT])
def test_nobody_enters_a_closed_road(road):
    batch = begun(ID, level="single", incidents=[{"road": road, "endTime": 200}], decision=1)
    _, s = batch.records(0)
    lanes = lanes_of(batch, road)
    counts = []
    for _ in range(260):
        batch.step(batch.player_actions("fixed"))
        counts.append(sum(int(s.count[lane]) for lane in lanes))
    assert max(counts[:199]) == 0
    assert max(counts[200:]) > 0


def test_an_incident_behind_a_junction_is_seen_before_it():
    """At 20 m behind the junction, where a vehicle needs 31 m to stop."""
    batch = begun(ID, level="single", incidents=[{"road": EXIT, "at": 20.0}], decision=1)
    _, s = batch.records(0)
    lanes = lanes_of(batch, EXIT)
    for _ in range(300):
        batch.step(batch.player_actions("fixed"))
        assert all(s.position[v] <= 20.0 for lane in lanes for v in vehicles_on(s, lane))
    assert any(s.count[lane] for lane in lanes)


def test_vehicles_change_lanes_before_an_incident():
    network = network_to(grid(1, 1, 300.0, Streets(left=1, straight=2, right=1)))
    flows = flows_to([Flow(Vehicle(), (ENTRY, EXIT), 6.0)])
    finished = []
    for lane_change in (False, True):
        options = {**PLAN, "decision": 1, "lane_change": lane_change}
        batch = begun(ID, network=network, flows=flows, incidents=[{"road": ENTRY, "lane": 1, "at": 150}], **options)
        for _ in range(300):
            batch.step([[[1]]])
        finished.append(measured(batch)["throughput"])
    assert finished[1] > 1.5 * finished[0] > 0


def test_an_incident_that_does_not_happen_changes_nothing():
    positions = []
    for given in ({}, {"incidents": [{"road": ENTRY, "at": 50}], "incident_chance": 0.0}):
        batch = begun(ID, level="single", **EXACT, **given)
        for _ in range(30):
            batch.step(batch.player_actions("max_pressure"))
        positions.append(np.array(batch.records(0)[1].position))
    np.testing.assert_array_equal(*positions)


def test_incidents_happen_with_their_chance():
    batch = begun(ID, 200, level="single", incidents=[{"road": ENTRY, "lane": 0}], incident_chance=0.3)
    share = np.mean([bool(batch.records(index)[1].happens[0]) for index in range(200)])
    assert share == pytest.approx(0.3, abs=0.1)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"road": ENTRY}, "list"),
        ([{"road": "nowhere"}], "nowhere"),
        ([{"road": ENTRY, "lane": 3}], "lane 3"),
        ([{"road": ENTRY, "at": -1}], "at least 0"),
        ([{"road": ENTRY, "at": "far"}], "number"),
        ([{"road": ENTRY, "startTime": 9, "endTime": 3}], "endTime"),
        ([{"road": ENTRY, "until": 3}], "object"),
        ([{"road": [ENTRY]}], r"there is no road \['road_0_1_0'\]"),
        ([{"road": ENTRY, "lane": True}], "lane True is none of the 3 lanes"),
        ([{"road": ENTRY, "at": 10**400}], "at has to be a number of up to 1e"),
    ],
)
def test_incidents_that_are_refused(given, reason):
    with pytest.raises(ParameterError, match=reason):
        rlenvs.make_batch(ID, level="single", incidents=given)


# --- signals ----------------------------------------------------------------------------------------------------------


def open_links(batch):
    p, s = batch.records(0)
    return [link for link in range(p.link_end.size) if is_open(p, s, link)]


def test_all_red_after_yellow():
    """Right turns go on during yellow, and not during all-red."""
    batch = begun(ID, level="single", decision=1, yellow=3, all_red=2, min_green=0)
    counts = []
    for _ in range(8):
        batch.step([[[1]]])
        counts.append(len(open_links(batch)))
    always = counts[0]
    assert always > 0
    assert counts[:5] == [always] * 3 + [0, 0]
    assert min(counts[5:]) > always


def test_people_cross_in_a_phase_of_their_own():
    batch = begun(ID, level="single", decision=1, yellow=2, min_green=0, walk=6, people_rate=1800.0)
    assert batch.setup.action_size == 9
    _, s = batch.records(0)
    for _ in range(20):
        batch.step([[[0]]])
    assert s.people[0] > 3
    assert batch.observations[0, 0, -1] == s.people[0]
    assert batch.terms[0, list(batch.world.terms).index("people"), 0] == -s.people[0]
    for _ in range(3):
        batch.step([[[8]]])
    assert s.people[0] == 0
    assert open_links(batch) == []
    for _ in range(5):
        assert batch.masks[0, 0].astype(int).tolist() == [0] * 8 + [1]
        batch.step([[[0]]])
        assert s.people[0] == 0
    assert batch.masks[0, 0].all()


@pytest.mark.parametrize("player", ["max_pressure", "greedy", "fixed", "actuated", "sotl"])
def test_players_let_people_cross(player):
    batch = begun(ID, level="single", walk=10, people_rate=240.0)
    _, s = batch.records(0)
    least = []
    for _ in range(120):
        batch.step(batch.player_actions(player))
        least.append(int(s.people[0]))
    assert least.count(0) > 2
    assert max(least) < 30


# --- terms ------------------------------------------------------------------------------------------------------------


def test_what_a_vehicle_emits():
    """0.5 g/s at rest and while it brakes; at 50 km/h the power of 0.132 kW/t per m/s and of the air."""
    assert exhaust(0.0, 0.0, 1.0) == 0.5
    assert exhaust(10.0, 5.5, 1.0) == 0.5
    speed = 50.0 / 3.6
    grams = 0.5 + 1.4 * 67.5e-3 / 0.3 * (0.132 * speed + 0.000302 * speed**3)
    assert exhaust(speed, speed, 2.0) == pytest.approx(2.0 * grams)
    assert exhaust(10.0, 12.0, 1.0) > exhaust(11.0, 11.0, 1.0) > exhaust(12.0, 10.0, 1.0)


def test_emissions_of_a_single_vehicle():
    """Up to the end of its way across the junction."""
    flow = {**EXAMPLE["flows"][0], "startTime": 0, "endTime": 0}
    batch = begun(ID, **{**EXAMPLE, "flows": [flow]}, **{**PLAN, "decision": 1})
    p, s = batch.records(0)
    place = list(batch.world.terms).index("emissions")
    speeds, burnt = [0.0], 0.0
    while s.emitted[0] == 0 or p.toward[s.drivable[0]] == 0:
        batch.step([[[0]]])
        speeds.append(float(s.speed[0]))
        burnt -= batch.terms[0, place, 0]
    grams = sum(exhaust(*pair, 1.0) for pair in itertools.pairwise(speeds[:-1]))
    assert burnt == pytest.approx(grams / 1000.0)
    assert burnt > 0.03


def test_fairness_is_the_longest_wait():
    batch = begun(ID, demand=2.0, reward="fairness")
    for _ in range(30):
        batch.step(batch.player_actions("fixed"))
    p, s = batch.records(0)
    for j in range(4):
        waits = [s.waited[v] for lane in p.in_lane[j] if lane >= 0 for v in vehicles_on(s, lane)]
        assert batch.rewards[0, j] == pytest.approx(-max(waits) / 100.0)
        assert max(waits) > 20.0
