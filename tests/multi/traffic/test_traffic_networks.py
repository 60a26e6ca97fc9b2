"""Road networks of traffic: CityFlow's files and what is refused, geometry, routes, generators, bounds."""

import copy
import hashlib
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from support.tree import ROOT

from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.traffic import files, grids
from rlenvs.multi.traffic.bounds import average_bound, emission_times, least_time, travel_time_bounds
from rlenvs.multi.traffic.demand import random_flows
from rlenvs.multi.traffic.flat import _sorted, flatten, mersenne
from rlenvs.multi.traffic.geometry import crossings_of, length_of
from rlenvs.multi.traffic.networks import Flow, LaneLink, Network, Vehicle
from rlenvs.multi.traffic.plans import lane_rates, webster_plan, webster_times
from rlenvs.multi.traffic.routes import Router

NETWORKS = {
    "grid": lambda: grids.grid(2, 3),
    "plan": lambda: grids.grid(1, 2, streets=grids.Streets(2, 3, 2, plan=True)),
    "arterial": lambda: grids.arterial(4),
    "city": lambda: grids.city(5, 3, 4),
}


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_files_give_back_what_was_saved(tmp_path, name):
    network = NETWORKS[name]()
    flows = random_flows(network, 3)
    files.save_network(network, tmp_path / "roadnet.json")
    files.save_flows(flows, tmp_path / "flow.json")
    config = files.Config(interval=0.5, seed=3, lane_change=True)
    files.save_config(config, tmp_path / "config.json")
    read = files.load_scenario(tmp_path / "config.json")
    assert (read[0], read[2]) == (config, flows)
    assert [road.id for road in read[1].roads] == [road.id for road in network.roads]
    kept, again = flatten(network, flows), flatten(read[1], flows)
    assert again.sizes == kept.sizes
    for field in ("length", "limit", "line", "green", "phase_time", "route_road", "link_start", "link_end"):
        # CityFlow's parser, whose numbers these are, rounds the last digit
        np.testing.assert_allclose(again.arrays[field], kept.arrays[field], rtol=1e-12, atol=1e-12, err_msg=field)


def changed(content, *path):
    """A copy of nested lists and dictionaries, with the last but one of a path set to the last; `...` removes it."""
    *way, last, value = path
    whole = copy.deepcopy(content)
    part = whole
    for key in way:
        part = part[key]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return whole


MIDDLE = ("intersections", 2)  # of a grid of 1 x 1: after those below and on the left
MALFORMED = {
    "no roads": (("roads", ...), "roads is missing"),
    "an unknown start": (("roads", 0, "startIntersection", "x"), "there is no intersection 'x'"),
    "no lane": (("roads", 0, "lanes", []), "needs a lane at least"),
    "a lane without width": (("roads", 0, "lanes", 0, "width", 0), "has to be more than 0"),
    "one point": (("roads", 0, "points", [{"x": 0, "y": 0}]), "needs 2 points"),
    "a point twice": (("roads", 0, "points", [{"x": 0, "y": 0}] * 2), "are the same"),
    "a bend right where a junction ends": (
        ("roads", 0, "points", [{"x": 0, "y": 0}, {"x": 99, "y": 0}, {"x": 99, "y": 30}]),
        "two of its points are the same",
    ),
    "a turn straight back": (
        ("roads", 0, "points", [{"x": 0, "y": 0}, {"x": 0, "y": 300}, {"x": 0, "y": 0}]),
        "it turns straight back",
    ),
    "a number that is none": (("roads", 0, "points", 0, "x", "1"), "needs a number"),
    "a place beyond all maps": (("roads", 0, "points", 0, "x", 1.7e308), "needs a number of up to 1e"),
    "a number of 400 digits": (("roads", 0, "lanes", 0, "maxSpeed", 10**400), r"needs a number of up to 1e\+09, not 1"),
    "a lane of 400 digits": ((*MIDDLE, "roadLinks", 0, "laneLinks", 0, "endLaneIndex", 10**400), "needs a number"),
    "two of a name": (("roads", 1, "id", "road_1_0_1"), "there are two of the id 'road_1_0_1'"),
    "a negative length": ((*MIDDLE, "width", 300.5), "its length is -0.5 m: 300 m less the 300.5 m"),
    "a negative width": ((*MIDDLE, "width", -1), "has to be at least 0"),
    "no phase": ((*MIDDLE, "trafficLight", "lightphases", []), "it has no phase"),
    "no signal": ((*MIDDLE, "trafficLight", ...), "trafficLight is missing"),
    "a phase of nothing": (
        (*MIDDLE, "trafficLight", "lightphases", 0, "availableRoadLinks", [12]),
        "there is no road link 12, only 12 of them",
    ),
    "a phase without time": ((*MIDDLE, "trafficLight", "lightphases", 0, "time", -1), "has to be at least 0"),
    "a link from nowhere": (
        (*MIDDLE, "roadLinks", 0, "startRoad", "road_1_1_0"),
        "unconnected: road 'road_1_1_0' does not end at intersection 'intersection_1_1'",
    ),
    "a link to nowhere": (
        (*MIDDLE, "roadLinks", 0, "endRoad", "road_0_1_0"),
        "unconnected: road 'road_0_1_0' does not begin at intersection 'intersection_1_1'",
    ),
    "a link of no lane": (
        (*MIDDLE, "roadLinks", 0, "laneLinks", 0, "endLaneIndex", 3),
        "there is no lane of road 'road_1_1_0' 3, only 3 of them",
    ),
    "a link without length": (
        (*MIDDLE, "roadLinks", 0, "laneLinks", 0, "points", [{"x": 0, "y": 0}] * 2),
        "needs 2 different points",
    ),
    "an unknown turn": ((*MIDDLE, "roadLinks", 0, "type", "turn_around"), "there is no type 'turn_around'"),
    "a road of somewhere else": (("intersections", 0, "roads", ["road_0_1_0"]), "neither begins nor ends here"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_networks_are_refused_by_name(name):
    good = files.network_to(grids.grid(1, 1))
    change, message = MALFORMED[name]
    files.network_from(good)
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        files.network_from(changed(good, *change))


def test_errors_are_short_whatever_a_file_contains():
    good = files.network_to(grids.grid(1, 1))
    for value in (10**5000, "x" * 5000, [0] * 5000):
        for place in (("roads", 0, "id"), ("roads", 0, "lanes", 0, "width"), (*MIDDLE, "virtual"), (*MIDDLE, "roads")):
            with pytest.raises(ParameterError) as caught:
                files.network_from(changed(good, *place, value))
            assert len(str(caught.value)) < 200


def test_errors_name_the_place():
    good = files.network_to(grids.grid(1, 1))
    bad = changed(good, *MIDDLE, "roadLinks", 4, "laneLinks", 1, "startLaneIndex", 9)
    with pytest.raises(ParameterError, match=r"^net/intersection intersection_1_1/roadLinks\[4\]/laneLinks\[1\]/start"):
        files.network_from(bad, "net")


BAD_FLOWS = {
    "a road that is not there": (("route", ["road_0_1_0", "road_9"]), "names the road 'road_9'"),
    "a way over no link": (
        ("route", ["road_1_1_0", "road_0_1_0"]),
        "no way leads from road road_1_1_0 to road road_0_1_0",
    ),
    "one road": (("route", ["road_0_1_0"]), "has one road only"),
    "a negative length": (("vehicle", "length", -5), "has to be more than 0"),
    "no speed": (("vehicle", "maxSpeed", ...), "maxSpeed is missing"),
    "vehicles without end": (("interval", 0), "at least 1 s"),
    "an hour of 400 digits": (("endTime", 10**400), "needs a number of up to 1e"),
    "a length of 400 digits": (("vehicle", "length", -(10**400)), "needs a number of up to 1e"),
}


@pytest.mark.parametrize("name", BAD_FLOWS)
def test_malformed_flows_are_refused_by_name(name):
    network = grids.grid(1, 1)
    good = files.flows_to(grids.generator_flows(1, 1))
    change, message = BAD_FLOWS[name]
    files.flows_from(good, network)
    with pytest.raises(ParameterError, match=rf"^flow\[2\].*{message}"):
        files.flows_from(changed(good, 2, *change), network)


def test_a_route_on_which_vehicles_get_stuck_is_refused():
    """Lane 0 of the first road leads left alone: where the way goes on from the outer lane only, it is a dead end."""
    network = grids.grid(1, 2)
    flow = Flow(Vehicle(), ("road_0_1_0", "road_1_1_0", "road_2_1_3"), 5.0)
    flatten(network, [flow])
    junctions = list(network.junctions)
    place = next(n for n, each in enumerate(junctions) if each.id == "intersection_1_1")
    movements = [
        replace(each, lane_links=tuple(link for link in each.lane_links if link.end < 2))
        for each in junctions[place].movements
    ]
    junctions[place] = replace(junctions[place], movements=tuple(movements))
    with pytest.raises(
        ParameterError, match="lane 1 of road road_0_1_0 has no lane link to road_1_1_0 and on to road_2_1_3"
    ):
        flatten(Network(tuple(junctions), network.roads), [flow])


@pytest.mark.parametrize("text", ["", "[", "[]", '{"roads": []}'])
def test_files_that_are_none(tmp_path, text):
    path = tmp_path / "roadnet.json"
    path.write_text(text)
    with pytest.raises(ParameterError, match=r"roadnet\.json"):
        files.load_network(path)
    with pytest.raises(ParameterError, match="No such file"):
        files.load_network(tmp_path / "nothing")


# --- geometry ---------------------------------------------------------------------------------------------------------


def test_lengths_of_a_grid():
    """300 m between junctions 30 m wide; straight ways are 60 m long where they stay in their lane."""
    flat = flatten(grids.grid(1, 2), ())
    lengths = flat.arrays["length"]
    of_road = {road.id: n for n, road in enumerate(grids.grid(1, 2).roads)}
    begins = flat.arrays["road_begins"]
    assert lengths[begins[of_road["road_0_1_0"]]] == 270.0
    assert lengths[begins[of_road["road_1_1_0"]]] == 240.0
    straight = [
        k
        for k in range(flat.sizes["links"])
        if flat.arrays["gate_kind"][flat.arrays["link_gate"][k]] == 3
        and flat.arrays["lane_index"][flat.arrays["link_end"][k]] == 1
    ]
    np.testing.assert_allclose(lengths[flat.sizes["lanes"] + np.array(straight)], 60.0, rtol=1e-12)
    assert (flat.arrays["limit"][flat.sizes["lanes"] :] == 10_000.0).all()


def test_crossings_are_where_lines_meet():
    lines = [[(-10.0, 1.0), (0.0, 1.0), (10.0, 1.0)], [(3.0, -5.0), (3.0, 5.0)], [(-9.0, 2.0), (9.0, 2.0)]]
    assert [tuple(each) for each in crossings_of(lines)] == [((0, 1), (13.0, 6.0)), ((1, 2), (7.0, 12.0))]


def test_parts_parallel_to_the_other_line_do_not_count():
    """CityFlow's rule: only the distance on the second line, where it runs along a piece of the first."""
    line = [(0.0, 0.0), (10.0, 0.0)]
    other = [(0.0, -2.0), (4.0, -2.0), (4.0, 2.0)]
    assert crossings_of([line, other]) == [((0, 1), (4.0, 2.0))]
    assert crossings_of([other, line]) == [((0, 1), (6.0, 4.0))]


@pytest.mark.parametrize("name", NETWORKS)
def test_arrays_are_consistent(name):
    network = NETWORKS[name]()
    sizes, a = flatten(network, random_flows(network, 1))
    foe = a["cross_foe"]
    np.testing.assert_array_equal(foe[foe], np.arange(foe.size))
    for link in range(sizes["links"]):
        part = slice(a["cross_begins"][link], a["cross_begins"][link + 1])
        assert (np.diff(a["cross_at"][part]) >= 0).all()
        assert (a["cross_link"][part] == link).all()
        assert (a["cross_at"][part] <= a["length"][sizes["lanes"] + link] + 1e-9).all()
    assert sorted(a["leaving"].tolist()) == list(range(sizes["links"]))
    for subject in ("leaving", "road", "gate", "link", "phase", "green", "cross", "route", "start", "line"):
        assert (np.diff(a[f"{subject}_begins"]) >= 0).all()
    for lane in range(sizes["lanes"]):
        links = a["leaving"][a["leaving_begins"][lane] : a["leaving_begins"][lane + 1]]
        assert (a["link_start"][links] == lane).all()
    for j in range(sizes["junctions"]):
        assert (a["gate_junction"][a["gate_begins"][j] : a["gate_begins"][j + 1]] == j).all()
    ends = {road.id: (road.points[0], road.points[-1]) for road in network.roads}
    for (junction, movement, _, start, end), link in zip(network.links(), range(sizes["links"]), strict=True):
        points = a["line"][a["line_begins"][sizes["lanes"] + link] : a["line_begins"][sizes["lanes"] + link + 1]]
        before, after = (a["line"][[a["line_begins"][lane], a["line_begins"][lane + 1] - 1]] for lane in (start, end))
        np.testing.assert_allclose(points[[0, -1]], [before[1], after[0]], atol=1e-9)
        assert ends[movement.start][1] == ends[movement.end][0] == junction.point


def test_a_way_without_points_leads_smoothly_from_lane_to_lane():
    network = grids.grid(1, 1)
    junctions = tuple(
        replace(
            junction,
            movements=tuple(
                replace(each, lane_links=tuple(LaneLink(link.start, link.end) for link in each.lane_links))
                for each in junction.movements
            ),
        )
        for junction in network.junctions
    )
    a, b = flatten(network, ()).arrays, flatten(Network(junctions, network.roads), ()).arrays
    lanes = a["lane_road"].size
    for link in range(a["link_start"].size):
        part = slice(a["line_begins"][lanes + link], a["line_begins"][lanes + link + 1])
        np.testing.assert_allclose(b["line"][part][[0, -1]], a["line"][part][[0, -1]], atol=1e-9)
    np.testing.assert_allclose(b["length"], a["length"], rtol=0.12)


def test_equal_entries_are_sorted_as_in_the_c_library():
    few = [(0, n) for n in range(16)]
    assert _sorted(few, lambda entry: entry[0]) == few
    assert [n for _, n in _sorted([(0, n) for n in range(17)], lambda entry: entry[0])] == SEVENTEEN
    assert [n for _, n in _sorted([(n * 7 % 5, n) for n in range(40)], lambda entry: entry[0])] == FORTY


# the second numbers of [(0, n)] and [(7 n % 5, n)], as GCC's std::sort by the first ones leaves them
SEVENTEEN = [8, 16, 15, 14, 13, 12, 11, 10, 9, 0, 7, 6, 5, 4, 3, 2, 1]
FORTY = [10, 20, 25, 15, 30, 35, 5, 0, 33, 8, 28, 13, 3, 38, 23, 18, 31, 1, 36, 26]
FORTY += [21, 6, 16, 11, 39, 19, 4, 34, 9, 29, 14, 24, 12, 27, 32, 7, 17, 37, 2, 22]


def test_the_mersenne_twister_is_that_of_the_standard():
    """ISO C++, 29.5.6: the 10000th number of the default seed."""
    assert mersenne(5489, 10_000)[-1] == 4123659995
    assert mersenne(0, 1)[0] == 2357136044


GEOMETRY = {
    "example": lambda: grids.grid(1, 1, streets=grids.Streets(2, 3, 2, plan=True)),
    "grid_3x3": lambda: grids.grid(3, 3),
    "lanes_2x2": lambda: grids.grid(2, 2, streets=grids.Streets(2, 2, 2)),
}


@pytest.mark.budget(6)
@pytest.mark.parametrize("name", GEOMETRY)
def test_geometry_is_that_of_cityflow(name):
    """All lengths and crossings to the last bit, with the order of those at the same place, when read from a file."""
    network = files.network_from(files.parse(json.dumps(files.network_to(GEOMETRY[name]()))))
    arrays = flatten(network, ()).arrays
    recorded = np.load(ROOT / "tests/data/cityflow.npz")
    crossings = arrays["cross_link"], arrays["cross_at"], arrays["cross_link"][arrays["cross_foe"]]
    for key, columns in (("lengths", (arrays["length"],)), ("crossings", crossings)):
        content = b"".join(column.tobytes() for column in columns)
        digest = int.from_bytes(hashlib.blake2b(content, digest_size=4).digest(), "little")
        assert digest == recorded[f"{name}.{key}"], key


@pytest.mark.parametrize("text", ["16.67", "-0.5", "1e-05", "2.5e3", "-9.775999999999998", "0.1"])
def test_short_numbers_are_read_as_they_are(text):
    assert files.parse(text) == float(text)


def test_long_numbers_are_read_as_by_rapidjson():
    """It divides 9394605245558103, which has more than 53 bits, by a power of ten."""
    assert files.parse("93.94605245558103") == 93.94605245558104
    assert files.parse("-93.94605245558103") == -93.94605245558104


# --- routes -----------------------------------------------------------------------------------------------------------


def test_routes_are_the_shortest_and_stay_near_their_lane():
    network = grids.grid(2, 2)
    router = Router(network)
    route = router.route(Flow(Vehicle(), ("road_0_1_0", "road_2_1_0"), 5.0), "flow")
    assert [network.roads[n].id for n in route.roads] == ["road_0_1_0", "road_1_1_0", "road_2_1_0"]
    assert [lane - network.first_lane[route.roads[0]] for lane in route.starts] == [1]
    ends = [router.ends[link][1] - network.first_lane[route.roads[1]] if link >= 0 else -1 for link in route.links[0]]
    assert ends == [-1, 1, -1]  # the lane that leads on
    assert set(route.links[-1]) == {-1}
    lanes = [router.ends[link][1] - network.first_lane[route.roads[2]] if link >= 0 else -1 for link in route.links[1]]
    assert lanes == [-1, 1, -1]  # on the last road the nearest


def test_equally_short_routes_are_those_of_cityflow():
    """From each end of the streets of a grid of 4 x 4 to each other one: most have several shortest ways. The hash is
    that of the routes of CityFlow's vehicles."""
    network = files.network_from(files.parse(json.dumps(files.network_to(grids.grid(4, 4)))))
    router, lines = Router(network), []
    for start in (road for road in network.roads if network.junction_of[road.start].virtual):
        for end in (
            road for road in network.roads if network.junction_of[road.end].virtual and road.end != start.start
        ):
            route = router.route(Flow(Vehicle(), (start.id, end.id), 5.0), "flow")
            lines.append(" ".join(network.roads[road].id for road in route.roads))
    assert len(lines) == 240
    assert hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest() == "9e4cdad31d382674"


# --- generators -------------------------------------------------------------------------------------------------------


def test_phases_of_a_grid():
    """Right turns only, then both ways straight, both ways left, and each approach; with a plan, a clearing phase after
    each green one."""
    (junction,) = grids.grid(1, 1).signals
    right = {n for n, each in enumerate(junction.movements) if each.kind == "turn_right"}
    assert [phase.time for phase in junction.phases] == [5.0] + [30.0] * 8
    assert set(junction.phases[0].green) == right
    opened = [sorted(junction.movements[n].kind for n in set(phase.green) - right) for phase in junction.phases[1:]]
    assert opened == [["go_straight"] * 2] * 2 + [["turn_left"] * 2] * 2 + [["go_straight", "turn_left"]] * 4
    (planned,) = grids.grid(1, 1, streets=grids.Streets(plan=True)).signals
    assert [phase.time for phase in planned.phases] == [30.0, 5.0] * 4


@pytest.mark.parametrize("seed", range(4))
def test_cities_are_connected_and_their_junctions_have_three_arms_at_least(seed):
    network = grids.city(seed, 4, 5)
    assert network == grids.city(seed, 4, 5)
    assert network != grids.city(seed + 1, 4, 5)
    for junction in network.signals:
        into = [road for road in junction.roads if network.roads[network.road_of[road]].end == junction.id]
        assert len(into) in (3, 4)
        assert len(junction.phases) in (6, 9)
        assert len(set(junction.phases)) == len(junction.phases)
    router = Router(network)
    entries = [n for n, road in enumerate(network.roads) if network.junction_of[road.start].virtual]
    exits = [n for n, road in enumerate(network.roads) if network.junction_of[road.end].virtual]
    assert all(router.shortest(a, b) for a in entries for b in exits if network.roads[a].start != network.roads[b].end)
    flatten(network, random_flows(network, seed))


def test_narrow_cities_are_connected_too():
    """On a street of one row each missing piece would cut it in two, and two rows can fall apart."""
    for seed, rows, columns in ((0, 1, 5), (0, 5, 1), (6, 5, 2)):
        network = grids.city(seed, rows, columns, missing=0.3)
        router = Router(network)
        entries = [n for n, road in enumerate(network.roads) if network.junction_of[road.start].virtual]
        exits = [n for n, road in enumerate(network.roads) if network.junction_of[road.end].virtual]
        ways = [(a, b) for a in entries for b in exits if network.roads[a].start != network.roads[b].end]
        assert all(router.shortest(a, b) for a, b in ways)


def test_demand_of_a_grid():
    """At each end of a street so many vehicles per hour, of which a share turns."""
    flows = grids.grid_flows(2, 3, 600.0, 0.25)
    flatten(grids.grid(2, 3), flows)
    rates = {}
    for flow in flows:
        ways = {road.rpartition("_")[2] for road in flow.route}
        rates.setdefault(flow.route[0], []).append((3600.0 / flow.interval, len(ways) == 2))
    assert len(rates) == 10
    for shares in rates.values():
        assert sum(rate for rate, _ in shares) == pytest.approx(600.0)
        assert sum(rate for rate, turns in shares if turns) == pytest.approx(150.0)


def test_random_routes_turn_as_often_as_they_should():
    network = grids.grid(6, 6)
    flows = random_flows(network, 2, rate=100.0, routes=8, turning=0.3)
    assert {flow.interval for flow in flows} == {288.0}
    turns = straight = 0
    for flow in flows:
        assert len(set(flow.route)) == len(flow.route)
        for one, two in itertools.pairwise(flow.route):
            same = one.rpartition("_")[2] == two.rpartition("_")[2]
            straight, turns = straight + same, turns + (not same)
    share = turns / (turns + straight)
    assert share == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / (turns + straight)))


@pytest.mark.parametrize(
    "make", [lambda: grids.grid(0, 1), lambda: grids.grid(1, 2, spacing=60.0), lambda: grids.city(1, 2, 2, uneven=0.6)]
)
def test_impossible_networks_are_refused(make):
    with pytest.raises(ParameterError):
        make()


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_the_bound_of_the_example_is_what_its_single_car_takes():
    """CityFlow's only car, straight on: 600 m at up to 16.67 m/s and 2 m/s^2 from rest, 40 s."""
    network = grids.grid(1, 1, streets=grids.Streets(2, 3, 2, plan=True))
    flow = Flow(Vehicle(), ("road_0_1_0", "road_1_1_0"), 5.0)
    assert travel_time_bounds(network, [flow]) == [40.0]
    assert emission_times(flow, 12.0) == [0.0, 5.0, 10.0]
    assert average_bound(network, [flow], 12.0) == (12.0 + 7.0 + 2.0) / 3


def test_least_times():
    assert least_time([(100.0, 10.0)], 2.0) == 5.0 + 75.0 / 10.0
    assert least_time([(4.0, 10.0)], 2.0) == 2.0
    assert least_time([(25.0, 10.0), (50.0, 5.0)], 2.0) == 5.0 + 10.0
    assert least_time([(25.0, 10.0), (5.0, 5.0), (100.0, 10.0)], 2.0) == pytest.approx(5.0 + 1.0 + 2.5 + 8.125)


def test_slower_lanes_and_vehicles_take_longer():
    flow = Flow(Vehicle(), ("road_0_1_0", "road_1_1_0"), 5.0)
    slow = replace(flow, vehicle=Vehicle(max_speed=10.0))
    network, calm = grids.grid(1, 1), grids.grid(1, 1, streets=grids.Streets(max_speed=10.0))
    (fast,) = travel_time_bounds(network, [flow])
    assert fast < travel_time_bounds(calm, [flow])[0] <= travel_time_bounds(network, [slow])[0]
    assert length_of([(0.0, 0.0), (3.0, 4.0), (3.0, 5.0)]) == 6.0


# --- plans ------------------------------------------------------------------------------------------------------------


def test_webster_times():
    """Two phases with flow ratios of 0.3 and 0.2 and 10 s lost: a cycle of 40 s, 18 and 12 s green."""
    assert webster_times([0.3, 0.2], 10.0) == pytest.approx([18.0, 12.0])
    assert sum(webster_times([0.6, 0.5], 10.0)) == pytest.approx(170.0)
    assert webster_times([0.0, 0.0], 10.0) == [5.0, 5.0]


def test_a_plan_for_a_demand():
    """Straight on 420 vehicles per hour on one lane, each turn 90: ratios 0.233 and 0.05 in both directions."""
    network = grids.grid(1, 1)
    flows = grids.grid_flows(1, 1, 600.0, 0.3)
    rates = lane_rates(network, flows)
    assert sorted(set(np.round(list(rates.values()), 6))) == [90.0, 420.0]
    (junction,) = webster_plan(network, flows).signals
    straight, left = 420.0 / 1800.0, 90.0 / 1800.0
    cycle = (1.5 * 20.0 + 5.0) / (1.0 - 2 * (straight + left))
    green = [(cycle - 20.0) * ratio / (2 * (straight + left)) for ratio in (straight, straight, left, left)]
    assert [phase.time for phase in junction.phases[1::2]] == [5.0] * 4
    assert [phase.time for phase in junction.phases[::2]] == [round(max(each, 5.0)) for each in green]
    assert set(junction.phases[1].green) == {
        n for n, each in enumerate(junction.movements) if each.kind == "turn_right"
    }
