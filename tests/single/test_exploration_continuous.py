"""Mars explorer in continuous motion: driving, hills, collisions."""

import math

import gymnasium
import numpy as np
import pytest

import rlenvs

ID = "rlenvs/MarsExplorerContinuous-v0"


def make(**keywords):
    env = gymnasium.make(ID, **{"obstacles": 0, "hill_height": 0.0, **keywords})
    env.reset(seed=0)
    return env, env.unwrapped.batch.records(0)[1]


def test_the_first_look_is_that_of_the_grid():
    _, s = make()
    assert s.seen == 39


def test_driving_and_turning_on_a_plain():
    env, s = make()
    env.step(np.float32([1.0, 0.0]))
    assert (s.row, s.column) == pytest.approx((0.5, 1.0))
    env.step(np.float32([0.0, 1.0]))
    assert s.heading == pytest.approx(0.6)
    env.step(np.float32([1.0, 0.0]))
    assert (s.row, s.column) == pytest.approx((0.5 + 0.5 * math.sin(0.6), 1.0 + 0.5 * math.cos(0.6)))
    _, _, _, _, info = env.step(np.float32([-0.5, 0.0]))
    assert info["reward_path_length"] == pytest.approx(1.25)
    assert info["reward_climb"] == 0.0


@pytest.mark.parametrize(("collisions", "ends"), [("cost", False), ("end", True)])
def test_the_border_is_not_crossed(collisions, ends):
    env, s = make(collisions=collisions)
    _, reward, ended, _, info = env.step(np.float32([-1.0, 0.0]))
    assert (ended, info["cost"], info["is_success"]) == (ends, 1.0, False)
    assert reward == pytest.approx(-1.1)
    assert (s.row, s.column) == (0.5, 0.5)


def test_no_part_of_the_rover_is_ever_in_an_obstacle():
    env, s = make(obstacles=40, radius=0.3)
    p = env.unwrapped.batch.records(0)[0]
    rng = np.random.default_rng(0)
    bumps = 0.0
    for _ in range(600):
        *_, info = env.step(np.float32([rng.uniform(-0.3, 1.0), rng.normal(0.0, 0.7)]))
        bumps += info["cost"]
        obstacle = s.obstacle.reshape(33, 33)[6:-6, 6:-6]
        for row, column in np.argwhere(obstacle):
            down, across = s.row - np.clip(s.row, row, row + 1), s.column - np.clip(s.column, column, column + 1)
            assert math.hypot(down, across) >= p.radius - 1e-9
        assert p.radius <= min(s.row, s.column)
        assert max(s.row, s.column) <= 21 - p.radius
    assert bumps > 5


def test_hills_slow_down_and_cost():
    climbed, slower = 0, 0
    for seed in range(30):
        env = gymnasium.make(ID, obstacles=0, hill_height=2.0, slope_cost=3.0)
        observation, _ = env.reset(seed=seed)
        s, rise = env.unwrapped.batch.records(0)[1], observation[-1] * 3.0
        _, _, _, _, info = env.step(np.float32([1.0, 0.0]))
        if rise > 0.05:
            climbed += info["reward_climb"] < 0.0
            slower += s.column < 0.999
            assert s.column == pytest.approx(0.5 + 0.5 * max(1.0 - 0.8 * rise, 0.1), abs=1e-3)
        elif rise < -0.05:
            assert s.column == pytest.approx(1.0)
    assert climbed > 5
    assert slower > 5


def test_heights_are_seen_with_their_cells():
    env = gymnasium.make(ID, hill_height=2.0)
    observation, _ = env.reset(seed=1)
    shown, relief = observation[:441], observation[441:882]
    assert not relief[shown == 0.0].any()
    assert np.count_nonzero(relief) >= np.count_nonzero(shown) - 2


def test_the_expert_covers_the_terrain_without_bumping():
    for level in (None, "plain", "steep"):
        result = rlenvs.evaluate("MarsExplorerContinuous-v0", "expert", seeds=range(30), level=level)
        assert result.success_rate == 1.0
        assert sum(result.mean_costs.values()) == 0.0
