"""HeteroHighway: iPLAN's numbers, its three kinds of drivers, rewards, observations, ends, and what a seed fixes."""

import math
from functools import partial

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.traffic import drivers
from rlenvs.robotics.driving import foresight, hetero_highway

HETERO = "HeteroHighway-v0"
LEFT, IDLE, RIGHT, FASTER, SLOWER = range(5)
SPEED, RIGHT_LANE, COLLISION, SURVIVAL, PACE, CRASH = range(6)


made = partial(begun, HETERO, autoreset=AutoresetMode.DISABLED)


def all_of(batch, action):
    return np.full((batch.num_envs, batch.setup.agents), action)


def play(batch, choose):
    """Play all worlds to their end; terms summed over steps (worlds, agents, terms), and who survived."""
    worlds, agents = batch.num_envs, batch.setup.agents
    totals, success = np.zeros((worlds, agents, 6)), np.zeros((worlds, agents), bool)
    alive = np.ones((worlds, agents), bool)
    while alive.any():
        going = alive.any(1)
        batch.load_actions(choose(batch))
        batch.step_inplace(only=going)
        totals[alive] += np.swapaxes(batch.terms, 1, 2)[alive]
        success[alive] = batch.success[alive]
        alive &= ~(batch.terminated | batch.truncated)
    return totals, success


def put(batch, i, x, lane, speed=None, target=None):
    """Put car i of world 0 elsewhere."""
    from rlenvs.kits.traffic.lane_lists import locate

    p, s = batch.records(0)
    s.x[i], s.y[i] = x, 4.0 * lane
    s.speed[i] = s.speed[i] if speed is None else speed
    s.target_speed[i] = s.speed[i] if target is None else target
    s.lane_of[i] = s.target_lane[i] = lane
    locate(p, s)


# iPLAN's table: largest acceleration, comfortable acceleration and braking, distance at a halt without the length of a
# car, time gap, exponents from and to, politeness, least gain, most imposed braking, time between decisions
@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        (hetero_highway.AGGRESSIVE_ROW, (9, 6, 9, 0.5, 1.2, 3.5, 4.5, 0.0, 0.1, 9, 0.5)),
        (hetero_highway.NORMAL_ROW, (6, 3, 5, 5, 1.5, 3.5, 4.5, 0.2, 0.2, 2, 1)),
        (hetero_highway.DEFENSIVE_ROW, (5, 2, 4, 8, 1.8, 3.0, 4.0, 0.5, 0.3, 2, 1)),
    ],
)
def test_the_table_of_drivers(row, numbers):
    p, _ = made().records(0)
    told = np.array(p.drivers[row])
    told[drivers.GAP] -= 5.0
    assert told[: drivers.CALM].tolist() == pytest.approx(list(numbers))
    assert told[drivers.CALM] == pytest.approx(2.0 * math.sqrt(numbers[drivers.COMFORT] * numbers[drivers.BRAKING]))


def test_five_agents_and_fifty_drivers_on_eight_lanes_for_ninety_seconds():
    batch = made()
    p, s = batch.records(0)
    assert (batch.setup.agents, int(s.movers), len(p.lane), batch.setup.horizon) == (5, 55, 8, 90)
    assert (int(p.simulation_hz), int(p.policy_hz)) == (5, 1)
    assert batch.observations.shape == (1, 5, 15, 5)
    assert np.array(p.speeds).tolist() == [20.0, 25.0, 30.0]
    assert np.array(p.ranges).tolist() == [0.0, 100.0, 100.0, 20.0, 20.0]
    env = rlenvs.parallel_env(HETERO)
    assert env.action_space("agent_0").n == 5


@pytest.mark.parametrize(
    ("level", "aggressive", "defensive"), [(None, 0.1, 0.1), ("chaotic", 0.3, 0.3), ("hostile", 0.5, 0.0)]
)
def test_how_many_drivers_are_of_which_kind(level, aggressive, defensive):
    batch = made(100, level=level)
    kinds = batch.states["driver"][:, 5:55]
    for row, share in ((hetero_highway.AGGRESSIVE_ROW, aggressive), (hetero_highway.DEFENSIVE_ROW, defensive)):
        assert (kinds == row).mean() == pytest.approx(share, abs=0.02)
    exponents = batch.states["exponent"][:, 5:55]
    defenders = exponents[kinds == hetero_highway.DEFENSIVE_ROW]
    if defensive:
        assert 3.0 <= defenders.min() < 3.1
        assert 3.9 < defenders.max() <= 4.0
    others = exponents[kinds != hetero_highway.DEFENSIVE_ROW]
    assert 3.5 <= others.min() < 3.51
    assert 4.49 < others.max() <= 4.5


def test_groups_start_one_before_the_other():
    """Each agent at 25 m/s behind ten others at 21 to 24 m/s, (12 + v) exp(-1) m apart on eight lanes, agents twice."""
    batch = made(20)
    order = [0, *range(5, 15), 1, *range(15, 25), 2, *range(25, 35), 3, *range(35, 45), 4, *range(45, 55)]
    x, speed = batch.states["x"][:, order], batch.states["speed"][:, order]
    room = (12.0 + speed) * np.exp(-1.0) * np.where(np.array(order) < 5, 2.0, 1.0)
    ratio = np.diff(x, axis=1) / room[:, 1:]
    assert 0.9 <= ratio.min() < 0.91
    assert 1.09 < ratio.max() <= 1.1
    assert np.all(batch.states["speed"][:, :5] == 25.0)
    assert 21.0 <= batch.states["speed"][:, 5:].min() < 21.1
    assert 23.9 < batch.states["speed"][:, 5:].max() <= 24.0


def test_a_seed_fixes_the_traffic_whatever_numpys_generator_does():
    """The published code draws kinds of drivers from NumPy's global generator."""
    first = made(3, seed=7)
    np.random.seed(1)  # noqa: NPY002
    second = made(3, seed=7)
    for name in ("driver", "x", "exponent"):
        assert np.array_equal(first.states[name], second.states[name])
    assert not np.array_equal(first.states["driver"][0], first.states["driver"][1])


@pytest.mark.parametrize("row", [hetero_highway.AGGRESSIVE_ROW, hetero_highway.DEFENSIVE_ROW])
def test_every_kind_of_driver_brakes_behind_a_slower_car(row):
    """In the published code these two kinds keep their first speed, since their IDM is overwritten."""
    batch = made(agents=1, cars=2, lane_count=1)
    _, s = batch.records(0)
    s.driver[1] = s.driver[2] = row
    put(batch, 0, 2000.0, 0)
    put(batch, 1, 500.0, 0, 24.0)
    put(batch, 2, 540.0, 0, 15.0)
    for _ in range(12):
        batch.step(all_of(batch, IDLE))
    assert not batch.states["crashed"].any()
    assert batch.states["speed"][0, 1] == pytest.approx(15.0, abs=1.5)


def test_rewards_are_those_of_highway():
    """0.4 for the speed, 0.1 for the lane and 1 for no crash, divided by 1.5."""
    batch = made(cars=0, agents=1)
    for lane, target, speed in ((0, 20.0, 0.0), (7, 30.0, 1.0), (3, 25.0, 0.5)):
        put(batch, 0, 500.0, lane, target, target)
        batch.step(all_of(batch, IDLE))
        assert batch.terms[0, :3, 0].tolist() == pytest.approx([speed, lane / 7, 1.0])
        assert batch.rewards[0, 0] == pytest.approx((0.4 * speed + 0.1 * lane / 7 + 1.0) / 1.5, abs=1e-6)
        assert batch.terms[0, PACE, 0] == pytest.approx(target)


def crash_of_the_first(**keywords):
    batch = made(agents=2, cars=1, **keywords)
    put(batch, 1, 3000.0, 4)
    put(batch, 0, 500.0, 2, 25.0)
    put(batch, 2, 511.0, 2, 5.0)
    batch.step(all_of(batch, IDLE))
    return batch


def test_who_crashes_is_out_and_the_others_go_on():
    batch = crash_of_the_first()
    assert batch.terminated[0].tolist() == [True, False]
    assert batch.terms[0, COLLISION].tolist() == [0.0, 1.0]
    assert batch.terms[0, SURVIVAL].tolist() == [0.0, 1.0]
    assert batch.terms[0, CRASH].tolist() == [1.0, 0.0]
    assert not batch.success.any()
    x = batch.states["x"][0, 0]
    for _ in range(5):
        batch.step(all_of(batch, FASTER))
    assert batch.states["crashed"][0].tolist() == [True, False, True]  # its car stays, and rolls out
    assert 0.0 < batch.states["x"][0, 0] - x < 25.0
    assert batch.terms[0, :, 0].tolist() == [0.0] * 6
    assert batch.states["speed"][0, 1] == pytest.approx(30.0, abs=0.1)


def test_the_teams_reward_is_the_mean():
    alone, together = crash_of_the_first(), crash_of_the_first(reward="team")
    assert together.rewards[0].tolist() == pytest.approx([alone.rewards[0].mean()] * 2)


def test_what_an_agent_sees():
    batch = made(agents=1, cars=3)
    put(batch, 0, 500.0, 2, 24.0, 30.0)
    put(batch, 1, 540.0, 3, 14.0)
    put(batch, 2, 530.0, 1, 28.0)
    put(batch, 3, 480.0, 2, 20.0)
    batch.recompute_observations()
    rows = batch.observations[0, 0]
    assert rows[0].tolist() == pytest.approx([1.0, 0.5, 0.08, 0.2, 0.0])
    assert rows[1].tolist() == pytest.approx([1.0, 0.3, -0.04, 0.2, 0.0])
    assert rows[2].tolist() == pytest.approx([1.0, 0.4, 0.04, -0.5, 0.0])
    assert not rows[3:].any()
    behind = made(agents=1, cars=3, see_behind=True)
    assert behind.observations[0, 0, :, 0].sum() == 4.0


def test_the_published_row_of_the_own_car_is_nearly_constant():
    batch = made(own_row="published")
    assert batch.observations[0, :, 0, 1].tolist() == [1.0] * 5 or batch.observations[0, 1:, 0, 1].min() == 1.0
    assert batch.observations[0, :, 0, 3].tolist() == [1.0] * 5


@pytest.mark.parametrize("keywords", [{"agents": 20, "cars": 0}, {"agents": 1, "cars": 0, "lane_count": 1}])
def test_an_empty_road(keywords):
    totals, success = play(made(2, **keywords), lambda batch: batch.expert_actions())
    assert np.isfinite(totals).all()
    assert success.mean() > 0.9


def test_all_cars_at_one_spot():
    batch = made(agents=20, cars=44)
    for i in range(64):
        put(batch, i, 500.0, 3, 25.0)
    for _ in range(3):
        if not batch.states["over"][0]:
            batch.step(all_of(batch, LEFT))
        assert np.isfinite(batch.observations).all()
        for name in ("x", "y", "speed", "heading"):
            assert np.isfinite(batch.states[name]).all()
    assert batch.states["crashed"].all()


def test_aggressive_drivers_go_before_defensive_ones():
    assert set(made(20, aggressive=1.0, defensive=0.5).states["driver"][:, 5:].ravel()) == {1}
    with pytest.raises(ParameterError, match="aggressive"):
        made(aggressive=1.1)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, "chaotic", "hostile", "empty"]))
def test_what_holds_in_every_episode(seed, level):
    batch, dice = made(seed=seed, level=level), np.random.default_rng(seed)
    crashed = np.zeros(5, bool)
    for _ in range(20):
        batch.step(dice.integers(0, 5, (1, 5)))
        assert np.abs(batch.observations).max() <= 1.0
        assert (batch.rewards >= 0.0).all()
        assert (batch.rewards <= 1.0 + 1e-6).all()
        now = batch.states["crashed"][0, :5]
        assert (now | ~crashed).all()
        crashed = now.copy()
        if batch.states["over"][0]:
            break


def test_who_looks_ahead_survives_in_mild_traffic_and_who_rolls_dice_does_not():
    dice = np.random.default_rng(0)
    totals, success = play(made(20), lambda batch: batch.expert_actions())
    assert success.mean() >= 0.95
    assert totals[:, :, PACE].sum() / totals[:, :, SURVIVAL].sum() > 25.0
    _, lucky = play(made(20, level="chaotic"), lambda batch: dice.integers(0, 5, (20, 5)))
    assert lucky.mean() < 0.15


def test_idm_in_the_agents_cars_survives_in_mild_traffic():
    batch = made(20)
    batch.states["driver"][:, :5] = hetero_highway.NORMAL_ROW
    _, success = play(batch, lambda batch: all_of(batch, IDLE))
    assert success.mean() >= 0.95


def test_looking_ahead_avoids_a_car_that_stands():
    batch = made(agents=1, cars=1)
    put(batch, 0, 500.0, 3, 25.0)
    put(batch, 1, 590.0, 3, 0.0)
    p, s = batch.records(0)
    assert foresight.best_action(p, s, 0) in (LEFT, RIGHT)
    put(batch, 1, 3000.0, 3, 0.0)
    assert foresight.best_action(p, s, 0) == FASTER
