"""Roads and traffic: geometry, IDM, MOBIL, bicycle, collisions, priorities, signals, pedestrians, towns."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlenvs.kits.roads import lanes as L  # noqa: N812
from rlenvs.kits.roads.network import Network, highway
from rlenvs.kits.roads.towns import Town, side_by_side
from rlenvs.kits.traffic import cars, collisions, drivers, lane_lists, pedestrians, priorities, signals


def record(kinds, sizes):
    """A record of arrays and numbers, as kernels see one."""
    types = {"f8": np.float64, "i8": np.int64, "b1": np.bool_}
    made = {}
    for name, kind in kinds.items():
        shape = tuple(sizes[d] if isinstance(d, str) else d for d in kind.shape)
        made[name] = np.zeros(shape, types[kind.code]) if shape else types[kind.code](0)
    return SimpleNamespace(**made)


def traffic(network, count, stages=4):
    """A network, a table of drivers and room for some bodies."""
    net = SimpleNamespace(**network.arrays())
    lanes = network.sizes["lanes"]
    sizes = {**network.sizes, **cars.car_sizes(count, stages, lanes), "moments": priorities.MOMENTS}
    c = record({**cars.CARS, **priorities.FORECAST, **signals.STOPS}, sizes)
    c.movers = c.bodies = count
    c.first_on[:] = -1
    return net, c


def bend():
    network = Network()
    network.straight("a", "b", (0.0, 0.0), (50.0, 0.0))
    network.arc("b", "c", (50.0, 20.0), 20.0, -0.5 * math.pi, 0.0)
    network.straight("c", "d", (70.0, 20.0), (70.0, 90.0), wave=(2.0, 0.1, 0.3))
    return network


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2), st.floats(1.0, 30.0), st.floats(-3.0, 3.0))
def test_a_point_with_coordinates_of_a_lane_has_these_coordinates(k, along, across):
    net = SimpleNamespace(**bend().arrays())
    x, y = L.point_on(net, k, along, across)
    assert L.along_and_across(net, k, x, y) == pytest.approx((along, across), abs=1e-9)
    ahead = L.point_on(net, k, along + 1e-6, 0.0)
    here = L.point_on(net, k, along, 0.0)
    assert L.wrapped(math.atan2(ahead[1] - here[1], ahead[0] - here[0]) - L.heading_on(net, k, along)) == pytest.approx(
        0.0, abs=1e-4
    )


@settings(max_examples=60, deadline=None)
@given(st.floats(-20.0, 90.0), st.floats(-20.0, 90.0))
def test_the_box_of_a_lane_is_never_farther_than_the_lane(x, y):
    net = SimpleNamespace(**bend().arrays())
    for k in range(3):
        assert L.box_distance(net, k, x, y) <= L.distance_to(net, k, x, y) + 1e-9


@pytest.mark.parametrize("driver", [drivers.NORMAL, drivers.AGGRESSIVE, drivers.DEFENSIVE])
def test_idm_keeps_its_equilibrium_gap(driver):
    net, c = traffic(highway(1), 2)
    table = drivers.driver_table(driver)["drivers"]
    gap = drivers.equilibrium_gap(driver, 20.0, 25.0)
    assert gap == pytest.approx((driver[drivers.GAP] + 20.0 * driver[drivers.TIME_GAP]) / math.sqrt(1 - 0.8**4))
    for i, x in enumerate((100.0, 100.0 + gap)):
        cars.put_on_lane(net, c, i, 0, x, 20.0)
        c.driver[i], c.target_speed[i] = 0, 25.0
    assert drivers.idm(net, table, c, 0, 0, 1) == pytest.approx(0.0, abs=1e-12)
    c.x[1] -= 1.0
    assert drivers.idm(net, table, c, 0, 0, 1) < -0.03


def test_free_road_acceleration_is_comfort_at_a_halt_and_zero_at_the_wanted_speed():
    net, c = traffic(highway(1), 1)
    table = drivers.driver_table(drivers.NORMAL)["drivers"]
    cars.put_on_lane(net, c, 0, 0, 100.0, 0.0)
    c.driver[0], c.target_speed[0] = 0, 25.0
    assert drivers.idm(net, table, c, 0, 0, -1) == pytest.approx(3.0)
    c.speed[0] = 25.0
    assert drivers.idm(net, table, c, 0, 0, -1) == pytest.approx(0.0)


def test_the_types_of_iplan():
    assert drivers.AGGRESSIVE == (9.0, 6.0, 9.0, 5.5, 1.2, 3.5, 4.5, 0.0, 0.1, 9.0, 0.5)
    assert drivers.POLITE == (6.0, 3.0, 5.0, 10.0, 1.5, 3.5, 4.5, 0.2, 0.2, 2.0, 1.0)
    assert drivers.DEFENSIVE == (5.0, 2.0, 4.0, 13.0, 1.8, 3.0, 4.0, 0.5, 0.3, 2.0, 1.0)


@pytest.mark.parametrize("steering", [0.1, 0.4, 1.0])
def test_a_car_turns_with_half_its_length_over_the_sine_of_its_slip(steering):
    net, c = traffic(highway(1), 1)
    cars.put_on_lane(net, c, 0, 0, 100.0, 10.0)
    c.slip[0] = cars.slip_of(steering)
    beta = math.atan(0.5 * math.tan(steering))
    assert c.slip[0] == pytest.approx(math.sin(beta))
    assert cars.steering_of(c.slip[0]) == pytest.approx(steering)
    dt = 1e-4
    for _ in range(100):
        cars.advance(c, 0, dt)
    assert 10.0 / (c.heading[0] / (100 * dt)) == pytest.approx(2.5 / math.sin(beta), rel=1e-9)


def test_full_steering_is_sixty_degrees():
    assert cars.slip_of(math.pi / 3) == pytest.approx(cars.MOST_SLIP)


def test_mobil_overtakes_who_is_slow_and_does_not_cut_in():
    net, c = traffic(highway(2), 3)
    table = drivers.driver_table(drivers.NORMAL)["drivers"]
    for i, (k, x, speed) in enumerate(((0, 100.0, 25.0), (0, 125.0, 15.0), (1, 20.0, 25.0))):
        cars.put_on_lane(net, c, i, k, x, speed)
        c.driver[i], c.timer[i] = 0, 1.5
    lane_lists.locate(net, c)
    drivers.think_of_lanes(net, table, c, 0)
    assert c.target_lane[0] == 1
    cars.put_on_lane(net, c, 0, 0, 100.0, 25.0)
    cars.put_on_lane(net, c, 2, 1, 94.0, 28.0)
    c.driver[:], c.timer[0] = 0, 1.5
    lane_lists.locate(net, c)
    drivers.think_of_lanes(net, table, c, 0)
    assert c.target_lane[0] == 0


def test_who_overlaps_has_crashed_and_is_pushed_apart():
    net, c = traffic(highway(1), 2)
    cars.put_on_lane(net, c, 0, 0, 100.0, 20.0)
    cars.put_on_lane(net, c, 1, 0, 104.0, 10.0)
    lane_lists.sort_bodies(c)
    collisions.collide_all(c, 0.1)
    assert c.crashed.all()
    assert c.hit.all()
    assert c.shift[0, 0] == pytest.approx(-c.shift[1, 0])
    assert c.shift[0, 0] == pytest.approx(-1.0)  # 1 m deep and 1 m more in this step: half of it each
    c.crashed[:], c.hit[:] = False, False
    c.x[1] = 107.0
    collisions.collide_all(c, 0.1)
    assert not c.crashed.any()
    assert not c.hit.any()


@settings(max_examples=80, deadline=None)
@given(st.floats(-6, 6), st.floats(-6, 6), st.floats(-3.2, 3.2), st.floats(-3.2, 3.2))
def test_overlap_does_not_depend_on_who_asks(x, y, one, two):
    net, c = traffic(highway(1), 2)
    for i, (at, heading) in enumerate((((0.0, 0.0), one), ((x, y), two))):
        cars.put_car(net, c, i, *at, heading, 5.0)
    first, second = collisions.meeting(c, 0, 1, 0.1), collisions.meeting(c, 1, 0, 0.1)
    assert first[0] == second[0]
    if math.hypot(x, y) < 1.9:
        assert first[0]
    if math.hypot(x, y) > 5.5:
        assert not first[0]


def test_sixty_four_cars_at_one_spot_stay_numbers():
    net, c = traffic(highway(4), 64)
    table = drivers.driver_table(drivers.NORMAL)["drivers"]
    for i in range(64):
        cars.put_on_lane(net, c, i, 1, 100.0, 25.0)
        c.driver[i] = 0
    lane_lists.locate(net, c)
    from rlenvs.kits.traffic.simulation import move_all

    for _ in range(5):
        drivers.act_all(net, table, c)
        move_all(net, c, 1.0 / 15.0)
    assert np.isfinite(c.x).all()
    assert np.isfinite(c.speed).all()
    assert c.crashed.all()


def test_lights_follow_their_cycle():
    table = signals.signal_table([signals.light(10.0, 3.0, 7.0, shift=5.0)])["signal"]
    shown = [signals.colour(table, 0, t) for t in (0.0, 4.9, 5.1, 7.9, 8.1, 14.9, 15.1)]
    assert shown == [0, 0, 1, 1, 2, 2, 0]


def test_drivers_stop_at_red_and_halt_at_stop_signs():
    from rlenvs.kits.traffic.simulation import move_all

    for row, waits in ((signals.light(1.0, 1.0, 1e6), True), (signals.stop_sign(), False)):
        network = Network()
        network.straight("a", "b", (0.0, 0.0), (150.0, 0.0), sign=0, speed_limit=14.0)
        network.straight("b", "c", (150.0, 0.0), (400.0, 0.0), speed_limit=14.0)
        net, c = traffic(network, 1)
        table, signal = drivers.driver_table(drivers.NORMAL)["drivers"], signals.signal_table([row])["signal"]
        cars.put_on_lane(net, c, 0, 0, 20.0, 14.0)
        c.driver[0], c.halted[0], c.line_lane[0] = 0, -1, 0
        lane_lists.locate(net, c)
        slowest, faults = 99.0, 0
        for n in range(600):
            drivers.act_all(net, table, c)
            signals.obey_all(net, signal, table, c, 10.0 + n / 15.0)
            move_all(net, c, 1.0 / 15.0)
            faults += signals.crossed(net, signal, c, 0, 10.0 + n / 15.0)
            slowest = min(slowest, float(c.speed[0]))
        assert faults == 0
        assert slowest < signals.STANDING
        assert (c.x[0] < 150.0) == waits


def test_who_runs_a_red_light_is_told():
    network = Network()
    network.straight("a", "b", (0.0, 0.0), (50.0, 0.0), sign=0)
    network.straight("b", "c", (50.0, 0.0), (200.0, 0.0))
    net, c = traffic(network, 1)
    for row, fault in ((signals.light(1.0, 1.0, 1e6), signals.RAN_RED), (signals.stop_sign(), signals.RAN_STOP)):
        signal = signals.signal_table([row])["signal"]
        cars.put_on_lane(net, c, 0, 0, 40.0, 10.0)
        c.halted[0], c.line_lane[0] = -1, 0
        told = []
        for _ in range(20):
            cars.advance(c, 0, 0.1)
            lane_lists.locate(net, c)
            told.append(signals.crossed(net, signal, c, 0, 10.0))
        assert sum(told) == fault


def test_who_leaves_a_lane_before_its_line_has_passed_nothing():
    network = Network()
    network.straight("a", "b", (0.0, 0.0), (50.0, 0.0), sign=0)
    network.straight("b", "a", (50.0, -4.0), (0.0, -4.0))
    net, c = traffic(network, 1)
    signal = signals.signal_table([signals.light(1.0, 1.0, 1e6)])["signal"]
    cars.put_on_lane(net, c, 0, 0, 40.0, 10.0)
    c.line_lane[0], c.y[0], c.heading[0] = 0, -4.0, math.pi
    lane_lists.locate(net, c)
    assert c.lane_of[0] == 1
    assert signals.crossed(net, signal, c, 0, 10.0) == signals.OBEYED


def test_a_stop_sign_asks_for_a_halt_each_time():
    network = Network()
    network.straight("a", "b", (0.0, 0.0), (50.0, 0.0), sign=0)
    network.straight("b", "a", (50.0, -4.0), (0.0, -4.0))
    net, c = traffic(network, 1)
    signal = signals.signal_table([signals.stop_sign()])["signal"]
    halted = []
    for k, at in ((0, 46.0), (1, 20.0), (0, 30.0)):
        cars.put_on_lane(net, c, 0, k, at, 0.0)
        lane_lists.locate(net, c)
        signals.note_halt(net, signal, c, 0)
        halted.append(int(c.halted[0]))
    assert halted == [0, -1, -1]


def test_the_lower_priority_yields_and_drives_on_later():
    network = Network()
    network.straight("a", "b", (-60.0, 0.0), (60.0, 0.0), priority=3, speed_limit=10.0)
    network.straight("c", "d", (0.0, 60.0), (0.0, -60.0), priority=1, speed_limit=10.0)
    net, c = traffic(network, 2)
    cars.put_on_lane(net, c, 0, 0, 45.0, 10.0)
    cars.put_on_lane(net, c, 1, 1, 45.0, 10.0)
    c.driver[:] = 0
    lane_lists.locate(net, c)
    priorities.give_way(net, c)
    assert c.target_speed.tolist() == [10.0, 0.0]
    c.x[0] = 40.0
    lane_lists.locate(net, c)
    priorities.give_way(net, c)
    assert c.target_speed.tolist() == [10.0, 10.0]


def test_pedestrians_cross_and_cars_stop_for_them():
    from rlenvs.core.declare.rng import seed_words
    from rlenvs.kits.traffic.simulation import move_all

    network = Network()
    network.straight("a", "b", (0.0, 0.0), (300.0, 0.0), speed_limit=14.0)
    net, c = traffic(network, 1)
    net.crossing = np.array([[80.0, -5.0, 80.0, 5.0]])
    walkers = record(pedestrians.WALKERS, {"walkers": 1})
    for name, value in vars(walkers).items():
        setattr(c, name, value)
    rng = seed_words(np.random.default_rng(0))
    table = drivers.driver_table(drivers.NORMAL)["drivers"]
    pedestrians.place_walkers(net, c, rng, 1.0)
    c.walker_wait[0], c.walker_speed[0], c.walker_at[0] = 0.5, 1.0, 0.0
    cars.put_on_lane(net, c, 0, 0, 20.0, 14.0)
    c.driver[0] = 0
    lane_lists.locate(net, c)
    slowest, crossed = 99.0, False
    for _ in range(300):
        drivers.act_all(net, table, c)
        pedestrians.stop_for_walkers(net, table, c)
        move_all(net, c, 1.0 / 15.0)
        pedestrians.walk_all(net, c, 1.0 / 15.0, rng)
        assert pedestrians.walker_hit(c, 0) < 0
        crossed = crossed or c.walker_at[0] == 1.0
        slowest = min(slowest, float(c.speed[0]))
    assert crossed
    assert slowest < 5.0


def test_nobody_walks_into_a_car_that_stands():
    from rlenvs.core.declare.rng import seed_words

    network = Network()
    network.straight("a", "b", (0.0, 0.0), (300.0, 0.0))
    net, c = traffic(network, 1)
    net.crossing = np.array([[80.0, -5.0, 80.0, 5.0]])
    for name, value in vars(record(pedestrians.WALKERS, {"walkers": 1})).items():
        setattr(c, name, value)
    rng = seed_words(np.random.default_rng(0))
    pedestrians.place_walkers(net, c, rng, 1.0)
    c.walker_at[0], c.walker_way[0] = 0.0, 1.0
    cars.put_on_lane(net, c, 0, 0, 81.0, 0.0)
    for _ in range(100):
        pedestrians.walk_all(net, c, 0.1, rng)
        assert pedestrians.walker_hit(c, 0) < 0
    assert 0.2 < c.walker_at[0] < 0.5
    cars.put_on_lane(net, c, 0, 0, 120.0, 0.0)
    for _ in range(60):
        pedestrians.walk_all(net, c, 0.1, rng)
    assert c.walker_at[0] == 1.0


def test_towns_side_by_side_are_these_towns():
    made = [Town(seed) for seed in (3, 8)]
    roads, rows, crossings = side_by_side(made)
    net, left = SimpleNamespace(**roads), 3 * 80.0 + 300.0
    assert len(rows) == sum(len(town.signals) for town in made)
    moved = crossings[len(made[0].crossings) :] - np.array([left, 0.0, left, 0.0])
    assert moved == pytest.approx(np.array(made[1].crossings))
    one, two = (SimpleNamespace(**town.network.arrays()) for town in made)
    for k in range(len(two.lane)):
        j = len(one.lane) + k
        x, y = L.point_on(two, k, 5.0, 1.0)
        assert L.point_on(net, j, 5.0, 1.0) == pytest.approx((x + left, y))
        assert L.box_distance(net, j, x + left, y) == pytest.approx(L.box_distance(two, k, x, y))
        sign = two.lane_at[k, L.SIGN]
        assert net.lane_at[j, L.SIGN] == (sign + len(made[0].signals) if sign >= 0 else -1)
        end = net.road[net.lane_at[j, L.ROAD], L.END]
        exits = [int(r) - len(one.road) for r in net.branch[end, L.OUT] if r >= 0]
        assert exits == [int(r) for r in two.branch[two.road[two.lane_at[k, L.ROAD], L.END], L.OUT] if r >= 0]


@pytest.mark.parametrize("seed", range(4))
def test_towns_are_whole_and_their_lanes_go_on_where_they_end(seed):
    town = Town(seed)
    net = SimpleNamespace(**town.network.arrays())
    for k in range(len(net.lane)):
        length = net.lane[k, L.LENGTH]
        end, heading = L.point_on(net, k, length, 0.0), L.heading_on(net, k, length)
        exits = [r for r in net.branch[net.road[net.lane_at[k, L.ROAD], L.END], L.OUT] if r >= 0]
        assert exits
        for road in exits:
            j = net.road[road, L.FIRST]
            assert L.point_on(net, j, 0.0, 0.0) == pytest.approx(end, abs=1e-9)
            assert L.wrapped(L.heading_on(net, j, 0.0) - heading) == pytest.approx(0.0, abs=1e-9)
    nodes = town.network.nodes
    assert all(town.network.path(nodes[0], other) for other in nodes[1:])
    assert len(town.streets) >= 0.8 * 17


def test_a_route_is_followed_at_a_fork():
    network = Network()
    network.straight("a", "b", (0.0, 0.0), (50.0, 0.0))
    network.straight("b", "c", (50.0, 0.0), (100.0, 0.0))
    network.arc("b", "d", (50.0, 30.0), 30.0, -0.5 * math.pi, 0.0)
    net, c = traffic(network, 1)
    for goal, lane in (("c", 1), ("d", 2)):
        cars.put_on_lane(net, c, 0, 0, 49.0, 10.0)
        cars.set_route(c, 0, np.array(network.route("a", "b", goal)), 0)
        lane_lists.locate(net, c)
        cars.follow_road(net, c, 0)
        assert c.target_lane[0] == lane
