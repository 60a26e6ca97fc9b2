"""Barriers of the point robot and of the drone in its geofence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.wrapper_helpers import FENCED

import rlenvs
from rlenvs.robotics.navigation.barrier import swing
from rlenvs.robotics.quadcopter.geofence import LEANING, SETTLING, SWAY
from rlenvs.wrappers.barriers import BarrierFilter
from rlenvs.wrappers.forms import wrap

pytest.importorskip("daqp")


# --- the point robot --------------------------------------------------------------------------------------------------


def test_headings_that_lag_stay_within_the_bounds_that_the_proof_takes():
    """B^2 = 1 / (1/4 + 1 / (W tau)^2) bounds |l - e| for ever, against turning that always makes it larger."""
    lag, most_turn, dt = 0.519, 10.0 / 3.0, 1e-3
    most = 1.0 / math.sqrt(0.25 + 1.0 / (most_turn * lag) ** 2)
    lagging, heading = 1.0 + 0.0j, 0.0
    for _ in range(20_000):
        ahead = lagging * np.exp(-1j * heading)  # in the robot's axes
        turn = most_turn if (ahead - 1.0).imag * 1.0 < 0.0 else -most_turn
        heading += dt * turn
        lagging += dt / lag * (np.exp(1j * heading) - lagging)
        assert abs(lagging - np.exp(1j * heading)) <= most
    assert most == pytest.approx(1.308, abs=1e-3)


def test_the_swing_is_the_largest_over_the_lens():
    most, angles = 1.308, np.linspace(0.0, 2.0 * math.pi, 2001)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    lens = np.concatenate([circle, np.array([[1.0], [0.0]]) + most * circle], axis=1)
    lens = lens[:, (np.hypot(*lens) <= 1.0 + 1e-9) & (np.hypot(lens[0] - 1.0, lens[1]) <= most + 1e-9)]
    for angle in np.linspace(0.0, math.pi, 50):
        v = np.array([math.cos(angle), math.sin(angle)])
        assert swing(math.cos(angle), most) == pytest.approx((v[0] - v @ lens).max(), abs=2e-3)


def point_robots(count, *wrappers, **keywords):
    env = rlenvs.make_vec("rlenvs/SafePointGoal-v0", count, **keywords)
    return wrap(env, *wrappers) if wrappers else env


def at_hazards(batch):
    """Drive at the nearest hazard, nose or tail first."""
    s = batch.states
    away = s["hazards"] - s["position"][:, None]
    near = away[np.arange(len(s)), np.argmin((away**2).sum(axis=2), axis=1)]
    error = np.arctan2(near[:, 1], near[:, 0]) - s["heading"]
    backwards = np.cos(error) < 0.0
    error = np.where(backwards, error + math.pi, error)
    error = (error + math.pi) % (2.0 * math.pi) - math.pi
    return np.stack([np.where(backwards, -1.0, 1.0), np.clip(3.0 * error, -1.0, 1.0)], axis=1)


def driven(policy, worlds, steps, rate, seed=0):
    """Violations, infeasible steps and interventions of filtered point robots, and violations without the filter."""
    free, env, rng = point_robots(worlds), point_robots(worlds, BarrierFilter(rate)), np.random.default_rng(seed)
    counts = np.zeros(4)
    free.reset(seed=seed)
    env.reset(seed=seed)
    held = rng.uniform(-1.0, 1.0, (worlds, 2))
    for _ in range(steps):
        fresh = rng.random(worlds) < (1.0 if policy == "random" else 0.05)
        held[fresh] = rng.uniform(-1.0, 1.0, (fresh.sum(), 2))
        info = env.step(at_hazards(env.unwrapped.batch) if policy == "adversary" else held)[4]
        other = free.step(at_hazards(free.batch) if policy == "adversary" else held)[4]
        ended = env.unwrapped.batch.over
        counts += [
            info["cost_hazards"].sum(),
            info["infeasible"][ended].sum(),
            info["intervened"].sum(),
            other["cost_hazards"].sum(),
        ]
    return counts


@pytest.mark.parametrize("policy", ["random", "held", "adversary"])
@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_the_filter_keeps_the_point_robot_out_of_hazards(policy, rate):
    violations, infeasible, interventions, unfiltered = driven(policy, 100, 1000, rate)
    assert violations == 0
    assert infeasible <= 20
    assert interventions > 500
    assert unfiltered > 1000


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["random", "held", "adversary"])
@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_a_million_steps_of_the_point_robot_without_a_violation(policy, rate):
    assert driven(policy, 1000, 1000, rate, seed=5000)[0] == 0


def test_one_step_of_the_point_robot_is_predicted():
    """The barrier after a step is at least the smaller of the barrier before and the predicted one: to micrometres,
    where iterating found the best half-plane, and never worse than by a tenth of the margin."""
    env, rng = point_robots(64), np.random.default_rng(0)
    env.reset(seed=0)
    batch = env.batch
    for t in range(300):
        actions = rng.uniform(-1.0, 1.0, (64, 2)) * [0.05 * (t % 3 > 0), 1.0]
        found = batch.barriers(actions)
        value = found["value"].copy()
        predicted = value + found["drift"] + found["slope"][:, :, 0] * actions[:, :1]
        batch.step(actions)
        after = batch.barriers(actions)["value"]
        short = np.minimum(value, predicted) - after
        assert short.max() < 5e-4
        assert np.quantile(short, 0.95) < 1e-5


def test_the_experts_return_stays_within_a_tenth():
    returns = []
    for wrappers in ([], [BarrierFilter()]):
        env = point_robots(60, *wrappers)
        env.reset(seed=0)
        total = np.zeros(60)
        for _ in range(1000):
            total += env.step(env.expert_actions())[1]
        returns.append(total.mean())
    assert returns[0] > 21.0
    assert returns[1] >= 0.9 * returns[0]


def test_throttles_beyond_saturation_are_no_intervention():
    env = wrap(rlenvs.make("rlenvs/SafePointGoal-v0"), BarrierFilter())
    env.reset(seed=0)
    info = env.step(np.array([1.0, 0.0], np.float32))[4]
    assert info["action"].tolist() == [1.0, 0.0]
    assert not info["intervened"]


# --- the geofence -----------------------------------------------------------------------------------------------------


def drones(count, *wrappers, **keywords):
    env = rlenvs.make_vec("rlenvs/QuadHover-v0", count, **{**FENCED, **keywords})
    return wrap(env, *wrappers) if wrappers else env


def outwards(batch, turn=0.0):
    """Full speed away from the axis, turned by some angle."""
    place = batch.states["position"][:, 0, :2]
    way = (place[:, 0] + 1j * place[:, 1]) * np.exp(1j * turn)
    way /= np.maximum(np.abs(way), 1e-9)
    return np.stack([way.real, way.imag, np.zeros(len(way)), np.ones(len(way))], axis=1)


def flown(policy, worlds, steps, rate, seed=0, **keywords):
    """Violations, and violations without the filter."""
    free, env = drones(worlds, **keywords), drones(worlds, BarrierFilter(rate), **keywords)
    rng, counts = np.random.default_rng(seed), np.zeros(2)
    free.reset(seed=seed)
    env.reset(seed=seed)
    held = rng.uniform(-1.0, 1.0, (worlds, 4))
    for _ in range(steps):
        fresh = rng.random(worlds) < (1.0 if policy == "random" else 0.05)
        held[fresh] = rng.uniform(-1.0, 1.0, (fresh.sum(), 4))
        for i, one in enumerate((env, free)):
            turn = {"outwards": 0.0, "zigzag": 1.5 * held[:, 0]}.get(policy)
            actions = held if turn is None else outwards(one.unwrapped.batch, turn)
            counts[i] += one.step(actions)[4]["cost_geofence"].sum()
    return counts


@pytest.mark.parametrize("policy", ["held", "outwards", "zigzag"])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_the_filter_keeps_the_drone_inside_the_geofence(policy, rate):
    violations, unfiltered = flown(policy, 100, 960, rate)
    assert violations == 0
    assert unfiltered > 100


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["random", "held", "outwards", "zigzag"])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_million_steps_of_the_drone_without_a_violation(policy, rate):
    """At rate 1 some steps per million are violations: the loop that holds the attitude chatters."""
    assert flown(policy, 1000, 1000, rate, seed=5000)[0] == 0


def test_the_experts_flight_stays_as_it_is():
    """Goals on level "hard" lie up to 1.13 m from the axis."""
    for level, violations in ((None, 0), ("hard", 50)):
        returns, costs = [], []
        for wrappers in ([], [BarrierFilter()]):
            env = drones(60, *wrappers, level=level)
            env.reset(seed=0)
            outcomes = [env.step(env.expert_actions()) for _ in range(240)]
            returns.append(sum(outcome[1].sum() for outcome in outcomes))
            costs.append(sum(outcome[4]["cost_geofence"].sum() for outcome in outcomes))
        assert returns[1] >= 0.99 * returns[0]
        assert costs[1] == 0
        assert costs[0] >= violations


def test_the_fences_barrier_is_where_the_drone_comes_to_rest():
    batch = drones(1).batch
    batch.seed([0])
    batch.reset()
    s = batch.states
    s["position"][0, 0, :2], s["velocity"][0, 0, :2] = [0.3, 0.4], [0.1, 0.0]
    roll = 0.1  # the thrust leans towards -y
    s["attitude"][0, 0] = [math.sin(roll / 2), 0.0, 0.0, math.cos(roll / 2)]
    found = batch.barriers(np.array([[1.0, 0.0, 0.0, -0.5]]))
    rest = [0.3 + SETTLING * 0.1, 0.4 - SETTLING * LEANING * 9.8 * math.tan(roll)]
    assert found["value"][0, 0] == pytest.approx(1.0 - 0.05 - SWAY * 0.25 - math.hypot(*rest))
    away, across = (0.25 / 30 * part / math.hypot(*rest) for part in rest)
    assert found["slope"][0, 0].tolist() == pytest.approx([0, 0, 0, away + across**2 / (2 * 0.5)])
    assert (found["low"][0, 3], found["high"][0, 3]) == (-1.0, 0.0)
    brake = found["brake"][0]
    np.testing.assert_allclose(brake[:2] / np.hypot(*brake[:2]), -np.array(rest) / math.hypot(*rest))
    assert brake[3] == 1.0


def test_the_sway_is_the_integral_of_the_absolute_impulse_response():
    speed, lean, total, dt = 0.0, 1.0 / (SETTLING * LEANING), 0.0, 1e-4
    for _ in range(30_000):
        total += dt * abs(SETTLING * (speed + LEANING * lean))
        speed, lean = speed + dt * lean, lean - dt * (speed / SETTLING + lean) / LEANING
    assert total == pytest.approx(SWAY, abs=0.002)
