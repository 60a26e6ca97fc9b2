"""RouteDrive's rewards: CaRL's soft factors and their numbers, Roach's and VLM-RL's terms."""

import math

import numpy as np
import pytest
from support.route_helpers import (
    ALONE,
    TERMS,
    beside,
    made,
    play,
    put,
    step,
    with_signal,
)

from rlenvs.kits.roads.lanes import LENGTH
from rlenvs.kits.traffic import signals
from rlenvs.robotics.driving import route_rewards as rewards

# --- soft factors -----------------------------------------------------------------------------------------------------


def factors(batch):
    p, s = batch.records(0)
    rewards.soften(p, s)
    return np.array(s.factors)


@pytest.mark.parametrize(("excess", "factor"), [(-1.0, 1.0), (0.0, 1.0), (1.115, 0.5), (2.23, 0.0), (5.0, 0.0)])
def test_speeding(excess, factor):
    batch = made(**ALONE)
    p, s = batch.records(0)
    s.speed[0] = p.lane[s.way[0], 7] + excess
    assert factors(batch) == pytest.approx([factor, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(("aside", "factor"), [(0.0, 1.0), (0.5, 0.75), (-1.0, 0.5), (2.0, 0.0), (2.5, 0.0)])
def test_the_middle_of_the_lane(aside, factor):
    batch = made(**ALONE)
    batch.records(0)[1].aside_of_way = aside
    assert factors(batch) == pytest.approx([1.0, 1.0, 1.0, factor])


def test_the_middle_of_the_lane_of_the_nuplan_version():
    batch = made(grace=0.5, softener=0.5, **ALONE)
    _, s = batch.records(0)
    for aside, factor in ((0.5, 1.0), (1.25, 0.75), (2.0, 0.5), (4.0, 0.5)):
        s.aside_of_way = aside
        assert factors(batch)[rewards.CENTRE] == pytest.approx(factor)


def test_at_junctions_the_middle_does_not_matter():
    batch = made(**ALONE)
    p, s = put(batch, 1, 2.0, aside=1.5)
    assert p.street[s.way[1]] == 0
    assert factors(batch)[rewards.CENTRE] == 1.0


@pytest.mark.parametrize(("broken", "factor"), [(0, 1.0), (1, 11 / 12), (3, 0.75), (6, 0.5)])
def test_comfort(broken, factor):
    batch = made(**ALONE)
    _, s = batch.records(0)
    s.comfort_held[:broken] = 7
    assert factors(batch)[rewards.COMFORT] == pytest.approx(factor)
    assert s.comfort_held.tolist() == [6] * broken + [0] * (6 - broken)


def test_a_foreseen_collision_halves_for_500_steps():
    batch = made(**ALONE)
    _, s = batch.records(0)
    s.time_left = 0.9
    assert factors(batch) == pytest.approx([1.0, 0.5, 1.0, 1.0])
    assert s.close_held == 500
    s.time_left = rewards.NEVER
    found = [factors(batch)[rewards.COLLISION_TIME] for _ in range(501)]
    assert found == [0.5] * 499 + [1.0] * 2


CARLA_LIMITS = {"along": (10.0, -20.0), "across": 9.0, "jerk": 30.0, "jerk along": 30.0, "yaw": 1.0, "yaw change": 3.0}
NUPLAN_LIMITS = {
    "along": (2.40, -4.05),
    "across": 4.89,
    "jerk": 8.37,
    "jerk along": 4.13,
    "yaw": 0.95,
    "yaw change": 1.93,
}


@pytest.mark.parametrize(("comfort", "limits"), [("carla", CARLA_LIMITS), ("nuplan", NUPLAN_LIMITS)])
def test_limits_of_comfort(comfort, limits):
    """Each reading breaks its limit alone, by a hundredth. Polynomials pass the filters unchanged."""
    batch = made(comfort=comfort, **ALONE)
    p, s = batch.records(0)
    times = 0.1 * np.arange(-14, 1)
    curves = [
        (0, rewards.ALONG, limits["along"][0] + 0.0 * times),
        (0, rewards.ALONG, limits["along"][1] + 0.0 * times),
        (1, rewards.ACROSS, limits["across"] + 0.0 * times),
        (1, rewards.ACROSS, -limits["across"] + 0.0 * times),
        (2, rewards.TOTAL, limits["jerk"] * times),
        (3, rewards.ALONG, -limits["jerk along"] * times),
        (4, rewards.HEADING, 3.0 - limits["yaw"] * times),
        (5, rewards.HEADING, 0.5 * limits["yaw change"] * times * times),
    ]
    for reading, row, curve in curves:
        for share, broken in ((0.99, False), (1.01, True)):
            s.history[:] = 0.0
            s.comfort_held[:] = 0
            s.history[row] = share * curve
            rewards.check_comfort(p, s)
            assert bool(s.comfort_held[reading]) == broken
            assert not np.delete(s.comfort_held, reading).any()


@pytest.mark.parametrize(("samples", "order", "derivative"), [(8, 2, 0), (15, 2, 1), (15, 3, 2)])
def test_filters_are_those_of_savitzky_and_golay(samples, order, derivative):
    """The polynomial of least squares through the newest samples, and its derivatives at the last one."""
    noise = np.random.default_rng(0).normal(size=15)
    times = 0.1 * np.arange(1 - samples, 1)
    fitted = np.polynomial.Polynomial.fit(times, noise[15 - samples :], order)
    wanted = (fitted.deriv(derivative) if derivative else fitted)(0.0)
    assert rewards.edge_weights(samples, order, derivative) @ noise == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("gap", "speed", "other", "time"),
    [(8.9, 10.0, 0.0, 0.9), (9.1, 10.0, 0.0, None), (0.9, 10.0, 0.0, 0.1), (4.0, 10.0, 5.0, 0.9)]
    + [(4.0, 10.0, 10.0, None), (0.5, 0.0, 0.0, None), (2.5, 10.0, 0.0, 0.3)],
)
def test_collisions_are_foreseen_for_nine_tenths_of_a_second(gap, speed, other, time):
    batch = made(cars=1, walkers=0)
    p, s = put(batch, 0, 10.0, speed=speed)
    beside(batch, gap + 5.0, 0.0, other)
    found = rewards.collision_time(p, s)
    assert found == (rewards.NEVER if time is None else pytest.approx(time))


def test_pedestrians_are_foreseen():
    batch = made(cars=0, walkers=1)
    p, s = put(batch, 0, 10.0, speed=10.0)
    s.walker_way[0] = 0.0
    for ahead, aside, time in ((11.7, 0.0, 0.9), (12.0, 0.0, None), (5.0, 1.2, 0.3), (5.0, 1.4, None)):
        s.walker_x[0] = s.x[0] + ahead * s.cosine[0] - aside * s.sine[0]
        s.walker_y[0] = s.y[0] + ahead * s.sine[0] + aside * s.cosine[0]
        assert rewards.collision_time(p, s) == (rewards.NEVER if time is None else pytest.approx(time))


# --- the other rewards ------------------------------------------------------------------------------------------------


def test_a_reward_is_a_choice_of_weights():
    for reward, used in (("simple", TERMS[:2]), ("shaped", TERMS[2:7]), ("composed", TERMS[7:8])):
        batch = made(reward=reward, **ALONE)
        told = step(batch, 1.0, 0.3)
        assert float(batch.rewards.item()) == pytest.approx(sum(told[name] for name in used), abs=1e-6)


@pytest.mark.parametrize("reward", ["shaped", "composed"])
def test_who_arrives_is_paid_the_steps_that_are_left(reward):
    batch = made(reward=reward, **ALONE)
    _, s = batch.records(0)
    put(batch, int(s.legs) - 1, float(s.goal_at) - 0.3, speed=6.0)
    told = step(batch)
    assert told["arrived"] == pytest.approx(1.999)
    driven = told["pace" if reward == "shaped" else "synthesis"]
    assert float(batch.rewards.item()) == pytest.approx(driven + 2.0 * 1999.0, abs=1.0)


def returned(batch, choose):
    """The return of a single world to the end of its episode."""
    total = 0.0
    while not (batch.terminated | batch.truncated).any():
        batch.step(choose(batch))
        total += batch.rewards.item()
    return total


def waiting(batch):
    """Stand, and roll on a little before it counts as blocked."""
    _, s = batch.records(0)
    return np.array([[1.0 if s.waited > 85.0 else min(-2.0 * s.speed[0], 0.0), 0.0]], np.float32)


@pytest.mark.parametrize("reward", ["shaped", "composed"])
def test_waiting_before_a_line_pays_less_than_arriving(reward):
    found = {}
    for choose in (waiting, lambda batch: batch.expert_actions()):
        batch, leg, _ = with_signal(signals.STOP, reward=reward)
        p, s = batch.records(0)
        put(batch, leg, float(p.lane[s.way[leg], LENGTH]) - 2.5 - 4.15)
        found[choose] = returned(batch, choose)
    waited, arrived = found.values()
    assert waited > 1200.0  # which is what tempts
    assert arrived > 1.5 * waited


@pytest.mark.parametrize(
    ("aside", "speed", "ends"), [(-2.9, 6.0, False), (-3.1, 6.0, True), (0.0, 9.6, False), (0.0, 9.9, True)]
)
def test_the_composed_reward_ends_beside_the_lane_and_above_35_kilometres_per_hour(aside, speed, ends):
    for reward in ("composed", "simple"):
        batch = made(reward=reward, **ALONE)
        put(batch, 0, 20.0, aside=aside, speed=speed)
        told = step(batch)
        assert bool(batch.terminated[0]) == (ends and reward == "composed")
        assert (told["synthesis"] == -10.0) == (ends and reward == "composed")


def test_the_expert_keeps_clear_of_the_ends_of_the_composed_reward():
    _, success = play(made(6, reward="composed", **ALONE), lambda batch: batch.expert_actions())
    assert success.all()


@pytest.mark.parametrize(
    ("which", "far", "speed"),
    [(0, 13.0, 6.0), (0, 10.5, 3.0), (0, 8.0, 0.0), (1, 11.0, 6.0), (1, 8.5, 3.0), (1, 6.0, 0.0)]
    + [(2, 10.0, 6.0), (2, 7.5, 3.0), (2, 5.0, 0.0)],
)
def test_the_wanted_speed_of_the_shaped_reward(which, far, speed):
    """6 m/s, falling to 0 over 5 m, 8 m before a car, 6 m before a pedestrian, 5 m before a line."""
    batch = made(**ALONE)
    _, s = batch.records(0)
    s.gaps[:] = rewards.NOTHING
    s.gaps[which] = far - (5.0 if which == 0 else 2.5)
    assert rewards.wanted_speed(s) == pytest.approx(speed)


def test_terms_of_the_shaped_reward():
    batch = made(**ALONE, memory=0.0)
    put(batch, 0, 10.0, aside=1.0, speed=3.0, turned=0.0)
    told = step(batch, 0.0, 0.0)
    assert told["pace"] == pytest.approx(0.5)
    assert told["offset"] == pytest.approx(-0.5)
    assert told["angle"] == pytest.approx(0.0, abs=1e-9)
    assert told["turn"] == 0.0
    assert step(batch, 0.0, 0.009)["turn"] == 0.0
    assert step(batch, 0.0, 0.03)["turn"] == pytest.approx(-0.1)


def test_the_synthesis_of_the_composed_reward():
    """1 at 25 km/h in the middle of a free lane; each factor falls to 0 at 3 m, 90 degrees, 0.4 m of deviation."""
    batch = made(**ALONE)
    p, s = put(batch, 0, 10.0, speed=25.0 / 3.6)
    s.gaps[:], s.time_left = rewards.NOTHING, rewards.NEVER
    s.history[rewards.ASIDE] = 0.0
    assert rewards.synthesis(p, s) == pytest.approx(1.0)
    for speed, value in ((12.5, 0.5), (37.5, 0.5), (0.0, 0.0), (50.0, 0.0)):
        s.speed[0] = speed / 3.6
        assert rewards.synthesis(p, s) == pytest.approx(value)
    s.speed[0] = 25.0 / 3.6
    for aside, value in ((1.5, 0.5), (-3.0, 0.0), (4.0, 0.0)):
        s.aside_of_way = aside
        assert rewards.synthesis(p, s) == pytest.approx(value)
    s.aside_of_way = 0.0
    s.heading[0] += 0.25 * math.pi
    assert rewards.synthesis(p, s) == pytest.approx(0.5)
    s.heading[0] += 0.25 * math.pi
    assert rewards.synthesis(p, s) == pytest.approx(0.0, abs=1e-9)
    s.heading[0] -= 0.5 * math.pi
    s.history[rewards.ASIDE] = [0.2 * (-1) ** n * math.sqrt(15 / 15) for n in range(15)]
    assert rewards.spread(s) == pytest.approx(0.2, rel=0.01)
    assert rewards.synthesis(p, s) == pytest.approx(0.5, abs=0.005)


def test_risk():
    """None from 2 s at 25 km/h and 2 m on; all within 2 m, and as much as a foreseen collision is near."""
    batch = made(**ALONE)
    _, s = batch.records(0)
    s.time_left = rewards.NEVER
    for gap, calm in ((2.0, 0.0), (2.0 + 25.0 / 3.6, 0.5), (2.0 + 50.0 / 3.6, 1.0), (100.0, 1.0)):
        for which in range(3):
            s.gaps[:] = rewards.NOTHING
            s.gaps[which] = gap
            assert rewards.no_risk(s) == pytest.approx(calm)
    s.gaps[:], s.time_left = rewards.NOTHING, 0.3
    assert rewards.no_risk(s) == pytest.approx(0.3)
