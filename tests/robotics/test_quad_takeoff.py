"""QuadTakeoff against its card: the start on the floor, the original's reward and its fault, terms, costs and ends."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from support.batches import begun

from rlenvs.agents.evaluate import evaluate
from rlenvs.core.declare.setup import Setup
from rlenvs.robotics.quadcopter import takeoff
from rlenvs.robotics.quadcopter.flight import fly_by_keys

ID = "QuadTakeoff-v0"


batch = partial(begun, ID, backend="python")


@pytest.fixture(scope="module")
def flight():
    return batch(goal_height=1.0, height_spread=0.0, start_spread=0.0)


def judged(flight, position, roll=0.0, pitch=0.0, action=(0, 0, 0, 0)):
    """Terms, costs, success and end of a step that finished at a position, in a new episode."""
    flight.reset()
    p, s = flight.records(0)
    s.position[0] = position
    s.attitude[0] = math.sin(roll / 2), math.sin(pitch / 2), 0, math.cos((roll + pitch) / 2)
    r = SimpleNamespace()
    takeoff.outcome(p, s, np.array(action, float), s.rng, r)
    return r


def test_it_starts_at_rest_on_the_floor_with_the_goal_straight_above():
    flights = batch(200)
    starts, heights = [], []
    for i in range(200):
        _, s = flights.records(i)
        assert s.position[0, 2] == 0.0125  # half of the Crazyflie's hull
        assert s.attitude[0].tolist() == [0, 0, 0, 1]
        assert not any(array.any() for array in (s.velocity, s.rates, s.rpm))
        assert s.goal[:2].tolist() == s.position[0, :2].tolist()
        starts.append(s.position[0, :2].copy())
        heights.append(s.goal[2])
    assert 0.45 < np.abs(starts).max() <= 0.5
    assert 0.55 <= min(heights) < 0.6
    assert 0.9 < max(heights) <= 0.95


def test_half_of_the_starts_anywhere_hover_below_or_just_above_the_goal():
    flights = batch(400, start="anywhere")
    records = [flights.records(i)[1] for i in range(400)]
    hovering = [s for s in records if s.rpm.any()]
    assert 150 < len(hovering) < 250
    for s in hovering:
        assert 0.0125 <= s.position[0, 2] <= s.goal[2] + 0.3
        assert s.rpm[0].min() == s.rpm[0].max()
        assert s.goal[:2].tolist() == s.position[0, :2].tolist()
    assert max(s.position[0, 2] - s.goal[2] for s in hovering) > 0.2
    assert all(s.position[0, 2] == 0.0125 for s in records if not s.rpm.any())


def test_no_start_in_the_air_is_beyond_the_geofence():
    flights = batch(200, start="anywhere", goal_height=1.5, height_spread=0.3)
    heights = [flights.records(i)[1].position[0, 2] for i in range(200)]
    assert 1.7 < max(heights) <= takeoff.SAFE_HEIGHT


def test_other_hulls_stand_on_the_floor_too():
    _, s = batch(vehicle="racer").records(0)
    assert s.position[0, 2] == 0.025


def test_without_thrust_it_stays_and_full_lift_takes_it_off():
    flight = batch()
    _, s = flight.records(0)
    for _ in range(30):
        flight.step(np.zeros((1, 4)))
    assert s.position[0, 2] == pytest.approx(0.0125, abs=1e-9)  # hover speed does not lift off
    flight.step(np.full((1, 4), -1.0))
    assert s.position[0, 2] == 0.0125
    flight.step(np.full((1, 4), 1.0))
    assert s.velocity[0, 2] * 30 == pytest.approx(9.8 * (1.1**2 - 1), rel=1e-9)  # action_range 0.1


@pytest.mark.parametrize(
    ("z", "reward"), [(0.0125, -5.0), (0.0199, -5.0), (0.02, -5.0), (0.0201, -1 / 0.201), (0.1, -1.0), (1.0, -0.1)]
)
def test_the_originals_reward(flight, z, reward):
    assert judged(flight, (0, 0, z)).takeoff == pytest.approx(reward, rel=1e-12)


def test_the_originals_reward_asks_to_fly_up_without_end_and_ours_does_not():
    returns = {}
    for name, weights in (("original", {"goal": 0.0, "takeoff": 1.0}), ("ours", {})):
        for pilot in ("up", "expert"):
            flight = batch(weights=weights, height_spread=0.0)
            total = 0.0
            while True:
                action = np.ones((1, 4)) if pilot == "up" else flight.expert_actions()
                flight.step(action)
                total += flight.rewards[0, 0]
                if flight.over[0]:
                    break
            returns[name, pilot] = total
            assert flight.terminated[0, 0] == (pilot == "up")  # through the ceiling
            assert flight.success[0, 0] == (pilot == "expert")
    assert returns["original", "up"] > returns["original", "expert"]
    assert returns["ours", "up"] < 0.25 * returns["ours", "expert"]


def test_the_default_reward_is_the_term_goal():
    assert {name: term.weight for name, term in takeoff.SPEC.terms.items()} == {
        "goal": 1.0,
        "takeoff": 0.0,
        "height": 0.0,
        "drift": 0.0,
        "effort": 0.0,
    }


@pytest.mark.parametrize(
    ("position", "distance", "height", "drift"),
    [((0, 0, 1), 0, 0, 0), ((0, 0, 0.5), 0.5, 0.5, 0), ((0.3, 0.4, 1), 0.5, 0, 0.5), ((0.3, 0, 1.4), 0.5, 0.4, 0.3)],
)
def test_terms_of_place(flight, position, distance, height, drift):
    r = judged(flight, position, action=(1, 0, -1, 0))
    assert r.goal == pytest.approx(math.exp(-2 * distance), rel=1e-12)
    assert (r.height, r.drift, r.effort) == pytest.approx((-height, -drift, -0.5), abs=1e-12)


@pytest.mark.parametrize(
    ("position", "tilt", "costs"),
    [
        ((1.29, -1.29, 1), 0.19, (0, 0)),
        ((1.31, 0, 1), 0.0, (0, 1)),
        ((0, -1.31, 1), 0.0, (0, 1)),
        ((0, 0, 1.79), 0.21, (1, 0)),
        ((0, 0, 1.81), -0.21, (1, 1)),
    ],
)
def test_costs(flight, position, tilt, costs):
    for name in ("roll", "pitch"):
        r = judged(flight, position, **{name: tilt})
        assert (r.tilt, r.geofence) == costs


@pytest.mark.parametrize(
    ("position", "tilt", "ends"),
    [
        ((1.49, 1.49, 1.99), 0.79, False),
        ((1.51, 0, 1), 0.0, True),
        ((0, -1.51, 1), 0.0, True),
        ((0, 0, 2.01), 0.0, True),
        ((0, 0, 1), 0.81, True),
        ((0, 0, 1), -0.81, True),
        ((0, 0, 0.0125), 0.0, False),
    ],
)
def test_ends(flight, position, tilt, ends):
    for name in ("roll", "pitch"):
        assert judged(flight, position, **{name: tilt}).terminated == ends


@pytest.mark.parametrize("control_hz", [30, 60])
def test_success_is_half_a_second_within_a_tenth_of_a_metre(control_hz):
    flight = batch(control_hz=control_hz)
    p, s = flight.records(0)
    r = SimpleNamespace()

    def stay(offset, steps):
        for _ in range(steps):
            s.position[0] = s.goal + [0, 0, offset]
            takeoff.outcome(p, s, np.zeros(4), s.rng, r)
        return r.success

    assert not stay(0.099, control_hz // 2 - 1)
    assert stay(-0.099, 1)
    assert not stay(0.101, 1)
    assert not stay(0.0, control_hz // 2 - 1)
    assert stay(0.0, 1)


def test_an_episode_lasts_5_seconds():
    assert [batch(control_hz=hz).setup.horizon for hz in (30, 48, 240)] == [150, 240, 1200]


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"level": "easy"},
        {"level": "hard"},
        {"level": "real"},
        {"vehicle": "racer"},
        *({"action": action} for action in ("one_d_rpm", "thrust_rates", "velocity", "position", "one_d_position")),
    ],
)
def test_an_expert_masters_it(keywords):
    result = evaluate(ID, "expert", 100, **keywords)
    assert result.success_rate >= 0.99
    assert (result.lengths == 150).all()


def test_random_does_not():
    result = evaluate(ID, "random", 100)
    assert result.success_rate == 0
    assert result.mean < 30


def test_the_observation_tells_the_way_to_the_goal():
    flight = batch(goal_height=1.5, height_spread=0.0, start_spread=0.0)
    names = list(takeoff.SPEC.observation)
    assert names[-2:] == ["to_goal", "past"]
    np.testing.assert_allclose(flight.observations[0, 0, -3:] * 2.0, [0, 0, 1.4875], atol=1e-6)


def test_keys_give_an_action_of_every_form():
    for action, size in (("rpm", 4), ("one_d_rpm", 1), ("thrust_rates", 4), ("velocity", 4), ("position", 3)):
        for pressed in (set(), {"up"}, {"w", "right"}, {"s", "left", "down"}):
            given = fly_by_keys(pressed, Setup(takeoff.SPEC, action=action).values)
            assert len(given) == size
            assert max(map(abs, given)) <= 1


@pytest.mark.parametrize(("key", "axis", "sign"), [("right", 1, -1), ("left", 1, 1), ("w", 0, 1), ("s", 0, -1)])
def test_keys_push_where_they_point(key, axis, sign):
    for vehicle, action in (
        *(("cf2x", action) for action in ("rpm", "thrust_rates", "velocity", "position")),
        *((vehicle, "rpm") for vehicle in ("cf2p", "racer")),
    ):
        flight = batch(action=action, vehicle=vehicle, start_spread=0.0)
        _, s = flight.records(0)
        s.position[0, 2] = 1.0
        for _ in range(6):
            flight.step(np.array([fly_by_keys({key}, flight.setup.values)]))
        assert np.sign(s.velocity[0, axis]) == sign, (vehicle, action)
        assert abs(s.velocity[0, 1 - axis]) < 1e-6
