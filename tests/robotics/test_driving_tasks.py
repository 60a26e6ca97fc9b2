"""TwoWay, UTurn, Exit, Racetrack, LaneKeeping: their numbers, rewards, costs, experts, and the forms of the family."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.driving_replay import batch_of, episode
from support.places import ROOT

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.kits.roads import lanes as at
from rlenvs.kits.traffic.cars import FASTER, IDLE, LANE_LEFT, LANE_RIGHT, SLOWER, put_on_lane
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import highway_exit, lane_keeping, racetrack, two_way, u_turn

SPECS = {
    "TwoWay-v0": two_way.SPEC,
    "UTurn-v0": u_turn.SPEC,
    "Exit-v0": highway_exit.SPEC,
    "Racetrack-v0": racetrack.SPEC,
    "LaneKeeping-v0": lane_keeping.SPEC,
}
SHARED = {}


def shared(name):
    """A batch of one with the usual options, at the start of an episode."""
    if name not in SHARED:
        SHARED[name] = batch_of(SPECS[name])
    SHARED[name].seed([0])
    SHARED[name].reset()
    return SHARED[name]


def starts(name, count=200):
    """Records of many starts."""
    batch = shared(name)
    for seed in range(count):
        batch.seed([seed])
        batch.reset()
        yield batch.records(0)[1]


def alone(batch):
    """Take all other cars away."""
    p, s = batch.records(0)
    s.movers = s.bodies = 1
    locate(p, s)
    return p, s


def test_spaces_and_ends_are_those_of_highway_env():
    shapes = {
        "TwoWay-v0": ((3, 3, 5), 5, 15),
        "UTurn-v0": ((3, 3, 16), 5, 10),
        "Exit-v0": ((15, 7), 5, 18),
        "Racetrack-v0": ((2, 12, 12), (1,), 1500),
        "LaneKeeping-v0": ((12,), (1,), 200),
    }
    for name, (shape, choices, steps) in shapes.items():
        env = rlenvs.make(name)
        assert env.observation_space.shape == shape
        action = env.action_space
        assert (action.shape if isinstance(choices, tuple) else action.n) == choices
        assert SPECS[name].horizon == steps


@pytest.mark.parametrize(
    ("name", "parameter", "value"),  # of highway-env 1.12.1's configurations, and what its code draws with
    [
        ("Intersection-v0", "spawn_chance", 0.6),  # spawn_probability
        ("LaneKeeping-v0", "state_noise", 0.05),
        ("LaneKeeping-v0", "derivative_noise", 0.05),
        ("Parking-v0", "near", 0.12),  # success_goal_reward
        ("Roundabout-v0", "place_deviation", 2.0),  # position_deviation
        ("Roundabout-v0", "speed_deviation", 2.0),
        ("TwoWay-v0", "place_deviation", 10.0),
        ("TwoWay-v0", "speed_deviation", 2.0),
        ("UTurn-v0", "place_deviation", 2.0),  # position_deviation
        ("UTurn-v0", "speed_deviation", 2.0),
    ],
)
def test_numbers_that_only_chance_shows_are_the_published_ones(name, parameter, value):
    assert world_of(name).params[parameter].default == value


FAMILY = ("Highway", "Merge", "Roundabout", "Intersection", "TwoWay", "UTurn", "Exit", "Racetrack")


@pytest.mark.parametrize("name", [f"{name}-v0" for name in FAMILY])
def test_all_forms_of_the_family_are_there(name):
    for kind in ("kinematics", "times", "grid", "lidar", "pixels"):
        for actions in ("meta", "continuous"):
            env = rlenvs.make(name, observation=kind, actions=actions)
            wanted = 1 if name == "Racetrack-v0" else 2
            assert actions == "meta" or env.action_space.shape == (wanted,)
            assert len(env.observation_space.shape) == {"kinematics": 2, "lidar": 2}.get(kind, 3)


# --- two-way ----------------------------------------------------------------------------------------------------------


def test_two_way_begins_as_published():
    places, speeds = [], []
    for s in starts("TwoWay-v0"):
        assert (s.movers, float(s.x[0]), float(s.y[0]), float(s.speed[0])) == (6, 30.0, 4.0, 30.0)
        assert s.lane_of[1:6].tolist() == [1, 1, 1, 2, 2]
        assert not s.changes[1:6].any()
        assert (s.exponent[1:6] == 4.0).all()
        places.append(s.x[1:6].copy())
        speeds.append(s.speed[1:6].copy())
    assert np.mean(places, 0) == pytest.approx([70.0, 110.0, 150.0, 600.0, 500.0], abs=3.0)
    assert np.std(places, 0) == pytest.approx([10.0] * 5, rel=0.2)
    assert np.mean(speeds, 0) == pytest.approx([24.0, 24.0, 24.0, 20.0, 20.0], abs=1.2)
    assert np.std(speeds, 0) == pytest.approx([2.0, 2.0, 2.0, 5.0, 5.0], rel=0.2)


def at_rest(world):
    """The first state of a world without the deviations of its starts."""
    batch = batch_of(world, place_deviation=0.0, speed_deviation=0.0)
    batch.reset()
    return batch.records(0)


def test_starts_without_deviations_are_the_published_places():
    _, s = at_rest(two_way.SPEC)
    assert s.x[:6].tolist() == [30.0, 70.0, 110.0, 150.0, 600.0, 500.0]
    assert s.speed[:6].tolist() == [30.0, 24.0, 24.0, 24.0, 20.0, 20.0]
    p, s = at_rest(u_turn.SPEC)
    places = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)]  # of the route, and the place on the road
    roads = [u_turn.NETWORK.road(*ends) for ends in (("a", "b"), ("b", "c"), ("c", "d"))]
    for i, (stage, place) in enumerate(places):
        assert (p.lane_at[s.lane_of[i], at.ROAD], p.lane_at[s.lane_of[i], at.PLACE]) == (roads[stage], place)
    assert s.station[:7] == pytest.approx([0.0, 25.0, 56.0, 0.5, 17.5, 1.0, 30.0])
    assert s.speed[:7].tolist() == [16.0, 13.5, 14.5, 4.5, 5.5, 3.5, 5.5]


NUMBERS = {  # speeds of meta-actions, and what is 1 in `kinematics`
    "TwoWay-v0": ([20.0, 25.0, 30.0], [0.0, 200.0, 8.0, 80.0, 80.0]),
    "UTurn-v0": ([8.0, 16.0, 24.0], [0.0, 200.0, 8.0, 80.0, 80.0]),
    "Exit-v0": ([18.0, 24.0, 30.0], [0.0, 200.0, 24.0, 80.0, 80.0, 0.0, 0.0]),
    "Racetrack-v0": ([0.0, 5.0, 10.0], [0.0, 200.0, 8.0, 80.0, 80.0]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_speeds_and_scales_are_the_published_ones(name):
    p, _ = shared(name).records(0)
    assert (p.speeds.tolist(), p.ranges.tolist()) == NUMBERS[name]


def test_two_way_pays_speed_and_left_lane_and_charges_for_both_dangers():
    batch = shared("TwoWay-v0")
    alone(batch)
    batch.step(np.array([IDLE]))
    assert batch.rewards[0, 0] == pytest.approx(0.8)
    batch.step(np.array([LANE_LEFT]))
    assert batch.rewards[0, 0] == pytest.approx(1.0)
    batch.step(np.array([SLOWER]))
    assert batch.rewards[0, 0] == pytest.approx(0.2 + 0.8 * 0.5)
    assert batch.terms[0, 2:, 0].tolist() == [0.0, 1.0]
    batch.step(np.array([LANE_RIGHT]))
    batch.step(np.array([IDLE]))
    assert batch.terms[0, 2:, 0].tolist() == [0.0, 0.0]


def test_a_car_that_turned_round_divides_nothing_by_zero():
    batch = shared("TwoWay-v0")
    p, s = alone(batch)
    put_on_lane(p, s, 0, two_way.ONCOMING, 100.0, 20.0)
    s.driver[0] = -1
    locate(p, s)
    batch.step(np.array([IDLE]))
    assert np.isfinite(batch.rewards).all()
    assert batch.terms[0, 3, 0] == 1.0


# --- u-turn -----------------------------------------------------------------------------------------------------------


def test_u_turn_begins_as_published():
    speeds, stations = [], []
    for s in starts("UTurn-v0"):
        assert (s.movers, float(s.x[0]), float(s.y[0]), float(s.speed[0])) == (7, 0.0, 44.0, 16.0)
        speeds.append(s.speed[1:7].copy())
        stations.append(s.station[1:7].copy())
        assert (s.exponent[2:7] == 4.0).all()
        assert 3.5 <= s.exponent[1] <= 4.5
        assert s.changes[1:7].all()
    assert np.mean(speeds, 0) == pytest.approx([13.5, 14.5, 4.5, 5.5, 3.5, 5.5], abs=0.5)
    assert np.std(speeds, 0) == pytest.approx([2.0] * 6, rel=0.2)
    assert np.mean(stations, 0)[[0, 1, 3, 5]] == pytest.approx([25.0, 56.0, 17.5, 30.0], abs=0.5)


def test_u_turn_pays_as_published():
    batch = shared("UTurn-v0")
    alone(batch)
    batch.step(np.array([IDLE]))
    assert batch.rewards[0, 0] == pytest.approx((1.0 + 0.4 * 0.5) / 1.5)
    for action in (LANE_RIGHT, FASTER, IDLE):
        batch.step(np.array([action]))
    assert batch.rewards[0, 0] == pytest.approx((1.0 + 0.1 + 0.4) / 1.5, abs=2e-2)


# --- exit -------------------------------------------------------------------------------------------------------------


def test_exit_begins_as_published():
    lanes = []
    for s in starts("Exit-v0"):
        assert (s.movers, float(s.y[0]), float(s.speed[0])) == (21, 0.0, 25.0)
        assert s.target_speed[0] == 24.0
        lanes.append(s.lane_of[1:21].copy())
        assert s.speed[1:21] == pytest.approx(26.0 - 3.4 * s.lane_of[1:21])
        gaps, usual = np.diff(s.x[:21]), (12.0 + s.speed[1:21]) * math.exp(-0.75) / 1.5
        assert (gaps >= 0.9 * usual - 1e-9).all()
        assert (gaps <= 1.1 * usual + 1e-9).all()
        assert not s.changes[1:21].any()
        room = 2.0 * (12.0 + 25.0) * math.exp(-0.75)  # of the ego car, which starts three such distances further
        assert 3.9 * room - 1e-9 <= s.x[0] <= 4.1 * room + 1e-9
    counts = np.bincount(np.concatenate(lanes), minlength=6) / (20 * len(lanes))
    assert counts == pytest.approx(np.arange(6) / 15.0, abs=0.02)


def test_the_way_out_pays_one_and_speed_a_tenth():
    batch = shared("Exit-v0")
    p, s = alone(batch)
    batch.step(np.array([IDLE]))
    assert batch.rewards[0, 0] == pytest.approx(0.1 * (s.speed[0] - 20.0) / 10.0)
    assert batch.observations[0].reshape(15, 7)[0, 1] == pytest.approx((s.x[0] - 400.0) / 200.0)
    put_on_lane(p, s, 0, highway_exit.SIDE_LANE - 1, 20.0, 24.0)
    s.driver[0], s.target_speed[0] = -1, 24.0
    locate(p, s)
    batch.step(np.array([LANE_RIGHT]))
    assert s.target_lane[0] == highway_exit.SIDE_LANE
    assert batch.rewards[0, 0] == 1.0


@pytest.mark.parametrize("actions", ["meta", "continuous"])
def test_what_exit_pays_for_training_sums_to_the_lanes_that_were_crossed(actions):
    weights = {"goal": 0.0, "speed": 0.0, "rightwards": 6.0}
    batch = batch_of(highway_exit.SPEC, cars=0, actions=actions, weights=weights)
    batch.reset()
    _, s = batch.records(0)
    first = int(highway_exit.own_lane(s))
    total = 0.0
    for _ in range(10):
        batch.step(np.array([LANE_RIGHT]) if actions == "meta" else np.array([[0.0, 0.02]], np.float32))
        total += batch.rewards[0, 0]
    assert total == pytest.approx(int(highway_exit.own_lane(s)) - first)
    assert total >= 2.0


def test_exit_charges_for_a_crash_in_training_alone():
    for weights, reward in (({}, 0.0), ({"crash": 2.0}, -2.0)):
        batch = batch_of(highway_exit.SPEC, weights=weights, low_speed=29.0)
        batch.reset()
        _, s = alone(batch)
        s.bodies, s.movers = 2, 2
        s.x[1], s.y[1] = s.x[0] + 12.0, s.y[0]
        s.speed[1], s.heading[1], s.sine[1], s.cosine[1] = 0.0, 0.0, 0.0, 1.0
        batch.step(np.array([IDLE]))
        assert batch.costs[0, 0] == 1.0
        assert batch.rewards[0, 0] == reward


# --- racetrack --------------------------------------------------------------------------------------------------------


def test_racetrack_begins_as_published():
    stations, speeds = [], []
    for s in starts("Racetrack-v0"):
        assert (s.movers, float(s.speed[0]), int(s.driver[0])) == (2, 10.0, -2)
        assert s.lane_of[0] in (0, 1)
        stations.append(float(s.station[0]))
        speeds.append(float(s.speed[1]))
    assert (min(stations), max(stations)) == pytest.approx((20.0, 50.0), abs=0.6)
    assert (min(speeds), max(speeds)) == pytest.approx((6.0, 9.0), abs=0.1)
    assert min(stations) >= 20.0
    assert max(stations) <= 50.0
    batch = batch_of(racetrack.SPEC.level("crowd"))
    counts, nearest = [], []
    for seed in range(200):
        batch.seed([seed])
        batch.reset()
        _, s = batch.records(0)
        counts.append(int(s.movers))
        away = np.hypot(s.x[:2, None] - s.x[None, 2 : s.movers], s.y[:2, None] - s.y[None, 2 : s.movers])
        nearest.append(away.min(initial=math.inf))
    assert 20.0 <= min(nearest) <= 21.0
    assert (min(counts), max(counts) <= 9) == (2, True)


def test_racetrack_pays_the_middle_and_charges_for_steering():
    batch = shared("Racetrack-v0")
    _, s = alone(batch)
    batch.step(np.array([[0.0]], np.float32))
    assert batch.rewards[0, 0] == pytest.approx(1.0)
    batch.step(np.array([[0.25]], np.float32))
    centring = 1.0 / (1.0 + 4.0 * float(s.aside[0]) ** 2)
    assert batch.rewards[0, 0] == pytest.approx(0.5 * (1.0 + centring - 0.3 * 0.25))
    while not batch.terminated[0, 0]:
        batch.step(np.array([[1.0]], np.float32))
    assert batch.rewards[0, 0] == 0.0


# --- lane keeping -----------------------------------------------------------------------------------------------------


def test_lane_keeping_is_highway_envs():
    with np.load(ROOT / "tests" / "data" / "highway_env_lane_keeping.npz") as stored:
        told = {key: stored[key] for key in stored.files}
    batch = batch_of(lane_keeping.SPEC, horizon=1000, compat=True, state_noise=0.0, derivative_noise=0.0)
    for seed in range(int(told["seeds"])):
        played = episode(told, seed)
        batch.reset()
        _, s = batch.records(0)
        for n, action in enumerate(played["actions"]):
            batch.step(np.asarray(action)[None])
            assert np.abs(s.car[:4] - played["numbers"][n + 1][0, :4]).max() < 1e-9
            assert np.abs(s.car[4:] - played["lateral"][n + 1]).max() < 1e-9
            assert np.abs(batch.observations[0] - played["observations"][n + 1]).max() < 2e-6
            assert abs(batch.rewards[0, 0] - played["rewards"][n]) < 1e-9


def test_lane_keeping_begins_as_published_and_is_measured_with_noise():
    batch = shared("LaneKeeping-v0")
    _, s = batch.records(0)
    assert (float(s.car[3]), int(s.lane)) == (8.3, lane_keeping.STRAIGHT)
    assert s.aside == pytest.approx(-4.0)
    off = []
    for seed in range(200):
        batch.seed([seed])
        batch.reset()
        off.append(batch.observations[0, 0, :4] - s.car[[1, 2, 4, 5]])
    assert np.abs(off).max() <= 0.05 + 1e-6
    assert np.std(off, 0) == pytest.approx([0.05 / math.sqrt(3.0)] * 4, rel=0.15)
    batch.step(np.zeros((1, 1), np.float32))
    assert batch.rewards[0, 0] == pytest.approx(1.0 - (float(s.aside) / 10.0) ** 2)


def test_a_car_turns_by_at_most_one_turn_a_second():
    batch = shared("LaneKeeping-v0")
    _, s = batch.records(0)
    s.car[5] = 50.0
    before = float(s.car[2])
    batch.step(np.zeros((1, 1), np.float32))
    assert 0.0 < s.car[2] - before <= 0.1 * 2.0 * math.pi
    s.car[5] = -50.0
    before = float(s.car[2])
    batch.step(np.zeros((1, 1), np.float32))
    assert -0.1 * 2.0 * math.pi <= s.car[2] - before < 0.0


def test_who_circles_on_the_first_lane_has_not_kept_the_lane():
    batch = shared("LaneKeeping-v0")
    for choose, success in ((lambda: np.ones((1, 1)), False), (batch.expert_actions, True)):
        batch.seed([0])
        batch.reset()
        while not batch.truncated[0, 0]:
            batch.step(choose())
        assert bool(batch.success[0, 0]) == success


def test_the_reward_of_lane_keeping_has_a_bound():
    batch = shared("LaneKeeping-v0")
    _, s = batch.records(0)
    s.car[1] += 500.0
    batch.step(np.zeros((1, 1), np.float32))
    assert batch.rewards[0, 0] == 1.0 - 40.0**2


def test_the_measurement_is_of_the_state_behind_the_motion():
    batch = batch_of(lane_keeping.SPEC, state_noise=0.0, derivative_noise=0.0)
    batch.reset()
    _, s = batch.records(0)
    batch.step(np.full((1, 1), 0.3, np.float32))
    assert batch.observations[0, 0, :4] == pytest.approx(s.car[[1, 2, 4, 5]], abs=1e-5)


# --- all --------------------------------------------------------------------------------------------------------------


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(sorted(SPECS)), st.integers(0, 10_000), st.lists(st.floats(0.0, 1.0), min_size=10, max_size=10))
def test_rewards_stay_in_bounds_and_numbers_finite(name, seed, chances):
    batch = shared(name)
    batch.seed([seed])
    batch.reset()
    for chance in chances:
        steers = name in ("Racetrack-v0", "LaneKeeping-v0")
        batch.step(np.array([[2.0 * chance - 1.0]], np.float32) if steers else np.array([int(chance * 4.999)]))
        assert np.isfinite(batch.observations).all()
        assert batch.rewards[0, 0] <= 1.0 + 1e-9
        assert batch.rewards[0, 0] >= (-1600.0 if name == "LaneKeeping-v0" else -0.15)
        if batch.terminated[0, 0] or batch.truncated[0, 0]:
            break
