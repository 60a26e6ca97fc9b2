"""Driving worlds: episodes of highway-env played again, its numbers, rewards, experts, extremes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.driving_replay import batch_of, differences, episode, follower, synchronise
from support.places import ROOT

import rlenvs
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import SnapshotError
from rlenvs.kits.roads import lanes as road
from rlenvs.kits.traffic.cars import FASTER, IDLE, LANE_LEFT, LANE_RIGHT, SLOWER
from rlenvs.robotics.driving import (
    hetero_highway,
    highway,
    highway_exit,
    intersection,
    merge,
    networks,
    parking,
    racetrack,
    racetracks,
    roundabout,
    two_way,
    u_turn,
)

WORLDS = ("Highway-v0", "Merge-v0", "Roundabout-v0", "Intersection-v0")
DATA = ROOT / "tests" / "data"


def recorded(name):
    with np.load(DATA / f"highway_env_{name}.npz") as stored:
        return {key: stored[key] for key in stored.files}


# steps after which positions begin to differ: an ego car at a standstill steers by what its rounding errors say
CASES = {
    "highway": (highway.SPEC, {}, {}),
    "times": (highway.SPEC, {"observation": "times", "cars": 20}, {}),
    "grid": (highway.SPEC, {"observation": "grid", "cars": 20}, {}),
    "lidar": (highway.SPEC, {"observation": "lidar", "cars": 20}, {}),
    "continuous": (highway.SPEC, {"actions": "continuous"}, {}),
    "merge": (merge.SPEC, {}, {}),
    "parking": (parking.SPEC, {}, {}),
    "roundabout": (roundabout.SPEC, {}, {2: 7}),
    "intersection": (intersection.SPEC, {}, {0: 9}),
    "two_way": (two_way.SPEC, {}, {}),
    "u_turn": (u_turn.SPEC, {}, {}),
    "exit": (highway_exit.SPEC, {}, {}),
    "racetrack": (racetrack.SPEC, {}, {}),
    "racetrack_large": (racetrack.SPEC.level("large"), {}, {}),
    "racetrack_oval": (racetrack.SPEC.level("oval"), {}, {}),
}


NETWORKS = {
    **{name: getattr(networks, name) for name in ("merge", "roundabout", "intersection", "two_way", "u_turn")},
    "parking": networks.parking_lot,
    "exit": networks.highway_exit,
    "racetrack": racetracks.racetrack,
    "racetrack_large": lambda: racetracks.racetrack("large"),
    "racetrack_oval": lambda: racetracks.racetrack("oval"),
}


@pytest.mark.parametrize("name", CASES)
def test_whole_episodes_are_those_of_highway_env(name):
    world, options, differs = CASES[name]
    told = recorded(name)
    batch = batch_of(world, horizon=1000, **options)
    follow = follower(intersection) if name == "intersection" else None
    for seed in range(int(told["seeds"])):
        played = episode(told, seed)
        first, steps, most = differences(batch, played, follow=follow)
        assert first == differs.get(seed, -1), (seed, first, steps)
        assert most["observation"] < 2e-7
        assert most["reward"] < (1e-6 if name == "parking" else 1e-12)  # goals are float32
        batch.reset()
        synchronise(batch, played)
        theirs = np.ravel(played["observations"][0])
        seen = np.ravel(batch.observations[0])
        if name == "parking":  # whose goals have one more number
            seen = np.concatenate([seen[:12], seen[13:19]])
        assert np.abs(seen - theirs).max() < 1e-7


SEEN = {
    "lanes_3": (highway.SPEC.level("fast"), {}),
    "lanes_10": (highway.SPEC, {"lane_count": 10, "cars": 20}),
    "racetrack_rows": (racetrack.SPEC.level("large"), {"observation": "kinematics"}),
    "merge_times": (merge.SPEC, {"observation": "times"}),
    "roundabout_times": (roundabout.SPEC, {"observation": "times"}),
    "intersection_times": (intersection.SPEC, {"observation": "times"}),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_is_seen_of_each_state_is_what_highway_env_sees(name):
    """Where a car enters or leaves a junction behind a step, highway-env observes before it."""
    world, options = SEEN[name]
    told = recorded(name)
    batch = batch_of(world, backend="python", **options)
    compared = 0
    for seed in range(int(told["seeds"])):
        played = episode(told, seed)
        batch.reset()
        for n, theirs in enumerate(played["observations"]):
            if n == 0 or set(played["names"][n]) == set(played["names"][n - 1]):
                synchronise(batch, played, n)
                assert np.abs(np.ravel(batch.observations[0]) - np.ravel(theirs)).max() < 1e-6, (seed, n)
                compared += 1
    assert compared >= 5


@pytest.mark.parametrize("speed", [0.05, 0.69, 0.7, 2.0])
def test_the_steering_of_slow_cars_multiplies_their_distance_from_the_lane(speed):
    """By 1 - 1.389 / speed in a moment of 1/15 s: below 0.694 m/s it grows, whatever its cause, the last bit too."""
    from rlenvs.kits.traffic.cars import advance, steer_all, track
    from rlenvs.kits.traffic.lane_lists import locate

    batch = batch_of(highway.SPEC.level("empty"))
    batch.reset()
    p, s = batch.records(0)
    s.speed[0] = s.target_speed[0] = speed
    s.y[0] = 4.0 * s.lane_of[0] + 1e-6
    locate(p, s)
    track(p, s, 0)
    steer_all(p, s)
    advance(s, 0, 1.0 / 15.0)
    factor = 1.0 - 0.5 * 5.0 / 0.2 / 0.6 / 15.0 / speed
    assert (s.y[0] - 4.0 * s.lane_of[0]) / 1e-6 == pytest.approx(factor, abs=1e-4)
    assert (abs(factor) > 1.0) == (speed < 0.6944)


@pytest.mark.parametrize("name", NETWORKS)
def test_lanes_are_those_of_highway_env(name):
    net = SimpleNamespace(**NETWORKS[name]().arrays())
    theirs = recorded("networks")[name]
    assert len(net.lane) == len(theirs)
    for k, row in enumerate(theirs):
        columns = road.LENGTH, road.WIDTH, road.LIMIT, road.PRIORITY, road.FORBIDDEN
        assert [net.lane[k, column] for column in columns] == pytest.approx(row[:5], abs=1e-9)
        for n, along in enumerate(np.linspace(0.0, row[0], 5)):
            assert road.point_on(net, k, float(along), 1.0) == pytest.approx(row[5 + 3 * n : 7 + 3 * n], abs=1e-9)
            turn = road.wrapped(road.heading_on(net, k, float(along)) - row[7 + 3 * n])
            assert turn == pytest.approx(0.0, abs=1e-9)


def test_spaces_are_those_of_highway_env():
    for name, shape, choices in (("Highway", (5, 5), 5), ("Merge", (5, 5), 5), ("Roundabout", (5, 5), 5)):
        env = rlenvs.make(f"{name}-v0")
        assert env.observation_space.shape == shape
        assert env.observation_space.dtype == np.float32
        assert env.action_space.n == choices
    env = rlenvs.make("Intersection-v0")
    assert (env.observation_space.shape, env.action_space.n) == ((15, 7), 3)
    for kind, shape in (("times", (3, 3, 10)), ("grid", (4, 11, 11)), ("lidar", (16, 2)), ("pixels", (64, 192, 3))):
        assert rlenvs.make("Highway-v0", observation=kind).observation_space.shape == shape
    assert rlenvs.make("Highway-v0", actions="continuous").action_space.shape == (2,)


def test_highway_begins_as_published():
    batch = batch_of(highway.SPEC)
    for seed in range(5):
        batch.seed([seed])
        batch.reset()
        p, s = batch.records(0)
        assert (s.movers, len(p.lane)) == (51, 4)
        assert s.speed[0] == 25.0
        others = s.speed[1:51]
        assert others.min() >= 21.0
        assert others.max() <= 24.0
        assert s.exponent[1:51].min() >= 3.5
        assert s.exponent[1:51].max() <= 4.5
        gaps = np.diff(s.x[:51])
        usual = (12.0 + others) * math.exp(-0.5)
        assert (gaps >= 0.9 * usual - 1e-9).all()
        assert (gaps <= 1.1 * usual + 1e-9).all()
    fast = batch_of(highway.SPEC.level("fast"))
    fast.reset()
    p, s = fast.records(0)
    assert (s.movers, len(p.lane), p.simulation_hz, p.horizon) == (21, 3, 5, 30)
    assert not s.checked[1:21].any()


def test_idle_in_an_empty_road_earns_what_the_formula_says():
    env = rlenvs.make("Highway-v0", level="empty", first_lane=1)
    env.reset(seed=0)
    _, reward, *_ = env.step(IDLE)
    assert reward == pytest.approx((1.0 + 0.1 / 3.0 + 0.4 * 0.5) / 1.5)
    for _ in range(2):
        _, reward, *_ = env.step(LANE_RIGHT)
    for _ in range(8):
        _, reward, *_ = env.step(FASTER)
    assert reward == pytest.approx(1.0, abs=1e-4)


def test_the_bounds_of_speed_hold_for_a_car_that_drives_backwards():
    batch = batch_of(merge.SPEC, backend="python", low_speed=29.0, high_speed=29.5)
    batch.reset()
    batch.records(0)[1].speed[0] = -40.0
    batch.step(np.array([IDLE]))
    term = merge.SPEC.terms["speed"]
    assert term.low <= batch.terms[0, 0, 0] <= term.high
    assert term.low < (-40.0 - 29.0) / 0.5


@pytest.mark.parametrize("world", [highway.SPEC, hetero_highway.SPEC])
def test_the_road_has_no_end_within_an_hour(world):
    """On a road of ten kilometres, as highway-env's, cars behind its end saw nobody."""
    assert batch_of(world, backend="python").records(0)[0].lane[:, road.LENGTH].min() >= 3600.0 * 40.0


def test_vector_rewards_are_those_of_mo_gymnasium():
    env = rlenvs.make("Highway-v0", level="vector", vector_reward=True)
    env.reset(seed=1)
    over, last = False, None
    while not over:
        _, last, terminated, truncated, _ = env.step(FASTER)
        assert last.shape == (3,)
        assert 0.0 <= last[0] <= 1.0
        assert 0.0 <= last[1] <= 1.0
        over = terminated or truncated
    assert last[2] == (-1.0 if terminated else 0.0)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.sampled_from([LANE_LEFT, IDLE, LANE_RIGHT, FASTER, SLOWER]), min_size=12))
def test_rewards_are_in_0_1_and_numbers_stay_finite(seed, actions):
    batch = shared("Highway-v0")
    batch.seed([seed])
    batch.reset()
    for action in actions:
        batch.step(np.array([action]))
        assert 0.0 <= batch.rewards[0, 0] <= 1.0
        assert np.isfinite(batch.observations).all()
        if batch.terminated[0, 0] or batch.truncated[0, 0]:
            break
    _, s = batch.records(0)
    assert np.abs(s.speed[: s.movers]).max() <= 45.0


SHARED = {}


def shared(name):
    if name not in SHARED:
        SHARED[name] = batch_of(rlenvs.make(name).unwrapped.batch.world)
    return SHARED[name]


@pytest.mark.parametrize(("name", "least"), [("Highway-v0", 0.95), ("Merge-v0", 0.95), ("Parking-v0", 0.95)])
def test_the_expert_survives_and_random_crashes(name, least):
    from rlenvs.agents.evaluate import evaluate

    assert evaluate(f"rlenvs/{name}", "expert", 40).success_rate >= least
    assert evaluate(f"rlenvs/{name}", "random", 40).success_rate <= 0.3


@pytest.mark.parametrize("name", ["Roundabout-v0", "Intersection-v0"])
def test_experts_at_junctions_do_not_crash(name):
    world = rlenvs.make(name).unwrapped.batch.world
    crashes = 0
    for seed in range(40):
        batch = shared(name)
        batch.seed([seed])
        batch.reset()
        while not (batch.terminated[0, 0] or batch.truncated[0, 0]):
            batch.step(np.asarray(batch.expert_actions()).reshape(1).copy())
        s = batch.records(0)[1]
        crashes += bool(s.crashed[s.ego])
    assert crashes <= 4, world


def test_the_expert_drives_on_before_it_waits():
    """At these seeds no plan that waits first, and then goes, arrives in time."""
    from rlenvs.agents.evaluate import evaluate

    assert evaluate("rlenvs/Intersection-v0", "expert", seeds=[11, 39, 75]).success_rate == 1.0


@pytest.mark.parametrize(
    ("name", "least", "crashes"),
    [
        ("Highway-v0", 11, 1),
        pytest.param("Merge-v0", 11, 1, marks=pytest.mark.slow),
        pytest.param("Roundabout-v0", 10, 2, marks=pytest.mark.slow),
        pytest.param("Intersection-v0", 6, 0, marks=pytest.mark.slow),
        pytest.param("TwoWay-v0", 12, 0, marks=pytest.mark.slow),
        pytest.param("UTurn-v0", 9, 3, marks=pytest.mark.slow),
        pytest.param("Exit-v0", 10, 0, marks=pytest.mark.slow),
    ],
)
def test_experts_drive_with_continuous_actions(name, least, crashes):
    """They keep to the lanes of their route, and change lanes. Where drivers block the junction, they wait."""
    from rlenvs.agents.evaluate import evaluate

    played = evaluate(f"rlenvs/{name}", "expert", 12, actions="continuous")
    horizon = rlenvs.make(name).spec.max_episode_steps
    assert played.successes.sum() >= least
    assert ((played.successes == 0.0) & (played.lengths < horizon)).sum() <= crashes


def test_sixty_four_cars_at_one_spot_crash_and_stay_numbers():
    from rlenvs.kits.traffic.cars import put_on_lane
    from rlenvs.kits.traffic.lane_lists import locate

    batch = batch_of(highway.SPEC, cars=63)
    batch.reset()
    p, s = batch.records(0)
    for i in range(64):
        driver = int(s.driver[i])
        put_on_lane(p, s, i, 1, 300.0, 25.0)
        s.driver[i] = driver
    locate(p, s)
    batch.step(np.array([IDLE]))
    assert np.isfinite(batch.observations).all()
    assert batch.terminated[0, 0]
    assert s.crashed[:64].all()


# --- states from outside ----------------------------------------------------------------------------------------------


def lanes_beyond_their_road(s):
    s.route_lane[0] = 20


def an_entry_of_nobody(s):
    s.own_entry[1] = s.entry_next.size - 1


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (lanes_beyond_their_road, "a route names a lane that its road does not have"),
        (an_entry_of_nobody, "the entry of a body is on no lane"),
        (lambda s: s.box.fill(1e300), r"box\[0, 0\] = 1e\+300"),
        (lambda s: s.speed.fill(1e9), r"speed\[0\] = 1000000000.0"),
        (lambda s: s.slip.fill(2.0), r"slip\[0\] = 2.0"),
        (lambda s: s.x.fill(-1e300), r"x\[0\]"),
    ],
)
def test_states_that_traffic_cannot_have_are_refused(forge, told):
    batch = batch_of(roundabout.SPEC)
    batch.reset()
    whole = batch.get_state()
    batch.set_state(whole)
    forge(batch.records(0)[1])
    forged = Snapshot.of(whole.world, batch.states.tobytes(), whole.params)
    batch.set_state(whole)
    with pytest.raises(SnapshotError, match=told):
        batch.set_state(forged)
    assert batch.get_state() == whole
