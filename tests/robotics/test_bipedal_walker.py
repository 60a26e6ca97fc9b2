"""The walker beside recorded walks of Gymnasium's, its ground, and its numbers."""

import gymnasium
import numpy as np
import pytest
from toys.recorded_walks import CASES, SPEC, case_of

import rlenvs
from rlenvs.core.catalogue.make import new_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.walking.bipedal_walker import HIGH, LOW
from rlenvs.robotics.walking.walker import HULL, LEG_0, LOWER_0

TERRAIN_STEP = 14.0 / 30.0


def walked(i):
    """Observations and rewards of a recorded walk played again, and whether ours ended."""
    batch = new_batch(SPEC, 1, case=i)
    batch.seed(0)
    batch.reset()
    seen, rewards, ended = [batch.observations[0, 0].copy()], [0.0], False
    for row in case_of(i)[0][1:]:
        batch.step([row[:4]])
        seen.append(batch.observations[0, 0].copy())
        rewards.append(float(batch.rewards[0, 0]))
        ended = bool(batch.terminated[0, 0])
        if ended:
            break
    return np.array(seen), np.array(rewards), ended


@pytest.mark.parametrize("i", range(CASES))
def test_walks_begin_as_gymnasiums(i):
    """Feet on the ground from the first step on: impacts, friction, limits and motors, lidar. Rounding to float32
    grows with every step in contact, so the beginning is compared tightly, and more of it loosely."""
    ours, rewards, _ = walked(i)
    rows, _ = case_of(i)
    length = min(len(ours), len(rows)) - 1
    error = np.abs(ours[:length] - rows[:length, 4:28]).max(1)
    assert error[0] < 1e-5
    assert error[:12].max() < 1e-4
    assert error[:20].max() < 1e-3
    paid = rows[1:20, 28] + 0.028 * np.abs(rows[1:20, :4]).sum(1)
    np.testing.assert_allclose(rewards[1:20], paid, atol=5e-3)


def test_a_walker_without_torque_falls_as_gymnasiums():
    """No motor, no chaos: the whole fall is the original's, to its end in the same step."""
    ours, _, ended = walked(2)
    rows, fell = case_of(2)
    assert ended
    assert fell
    assert len(ours) == len(rows)
    assert np.abs(ours[:-1] - rows[:-1, 4:28]).max() < 1e-3


@pytest.mark.parametrize(("id", "horizon"), [("BipedalWalker-v0", 1600), ("BipedalWalkerHardcore-v0", 2000)])
def test_spaces_and_limits_are_the_published_ones(id, horizon):
    env = gymnasium.make(f"rlenvs/{id}")
    assert env.observation_space == gymnasium.spaces.Box(np.array(LOW, np.float32), np.array(HIGH, np.float32))
    assert env.action_space == gymnasium.spaces.Box(-1.0, 1.0, (4,))
    assert env.spec.max_episode_steps == horizon
    low, high = LOW[:14], HIGH[:14]
    assert low[:4] == (-np.pi, -5.0, -5.0, -5.0)
    assert high[4:9] == (np.pi, 5.0, np.pi, 5.0, 5.0)
    assert (LOW[14], HIGH[14], len(LOW)) == (-1.0, 1.0, 24)


def start(worlds=1, seed=0, **keywords):
    batch = rlenvs.make_batch("BipedalWalker-v0", worlds, **keywords)
    batch.seed(seed)
    batch.reset()
    return batch


def test_masses_are_what_box2d_says():
    s = start().states
    assert 1.0 / s["inverse_mass"][0, HULL] == pytest.approx(5.4222226, rel=1e-6)
    assert s["inertia"][0, HULL] == pytest.approx(2.0017447, rel=1e-6)
    assert s["local_centre"][0, HULL].tolist() == pytest.approx([-0.0200364, -0.00564664], rel=1e-4)
    assert 1.0 / s["inverse_mass"][0, LEG_0] == pytest.approx(0.3022222, rel=1e-6)
    assert 1.0 / s["inverse_mass"][0, LOWER_0] == pytest.approx(0.2417778, rel=1e-6)
    assert s["inertia"][0, LOWER_0] == pytest.approx(0.02679614, rel=1e-6)


def test_the_ground_is_flat_at_the_start_and_wanders_about_its_middle():
    s = start(200).states
    x, y = s["ground"][..., 0], s["ground"][..., 1]
    assert x.shape == (200, 200)
    np.testing.assert_allclose(x[0], np.arange(200) * TERRAIN_STEP)
    assert (y[:, :21] == 400.0 / 30.0 / 4.0).all()
    steps = np.diff(y, axis=1)
    now, before = steps[:, 25:], steps[:, 24:-1]
    rough = np.abs(now - 0.8 * before)[(now != 0.0) & (before != 0.0)]  # the ground rests where a spot of grass begins
    assert 0.04 < rough.max() < 0.01 + 1.0 / 30.0 + 1e-9


def test_obstacles_of_the_hardcore_ground():
    """Stumps of one or two steps, stairs of three or four of four steps each, pits of three or four, four deep."""
    s = start(100, hardcore=True).states
    first = s["first_shape"]
    kinds = set()
    for i in range(100):
        blocks = int(first[i]) - 199
        corners = s["vertex"][i, : 4 * blocks].reshape(blocks, 4, 2) / TERRAIN_STEP
        for block in corners:
            low, high = block.min(0), block.max(0)
            kinds.add((round(high[0] - low[0]), round(high[1] - low[1])))
        assert 0 < blocks < 50
        assert corners[..., 0].min() > 20.0 - 1e-9
    assert kinds == {(1, 1), (2, 2), (4, 1), (1, 4)}
    assert s["contacts_left_out"].max() == 0


def test_terms_are_the_originals():
    env = gymnasium.make("rlenvs/BipedalWalker-v0")
    env.reset(seed=0)
    s = env.unwrapped.batch.states
    before = float(s["frame"][0, HULL, 0]), float(s["angle"][0, HULL])
    _, reward, _, _, info = env.step(np.array([0.5, -0.25, 1.0, 0.0], np.float32))
    after = float(s["frame"][0, HULL, 0]), float(s["angle"][0, HULL])
    assert info["reward_progress"] == pytest.approx(130.0 / 30.0 * (after[0] - before[0]), abs=1e-9)
    assert info["reward_lean"] == pytest.approx(5.0 * (abs(before[1]) - abs(after[1])), abs=1e-9)
    assert info["reward_torque"] == pytest.approx(-1.75)
    assert reward == pytest.approx(info["reward_progress"] + info["reward_lean"] - 0.00035 * 80 * 1.75, abs=1e-5)


def test_a_fall_pays_minus_one_hundred_alone():
    env = gymnasium.make("rlenvs/BipedalWalker-v0")
    env.reset(seed=0)
    ended = False
    while not ended:
        _, reward, ended, _, info = env.step(np.zeros(4, np.float32))
    assert reward == -100.0
    assert not info["is_success"]


def test_the_end_lies_ten_steps_before_the_last_point():
    for x, there in ((190 * TERRAIN_STEP - 0.1, False), (190 * TERRAIN_STEP + 0.1, True)):
        batch = start()
        for name in ("centre", "frame"):
            batch.states[name][0, 1:, 0] += x - batch.states["frame"][0, HULL, 0]
            batch.states[name][0, 1:, 1] += 20.0
        batch.step(np.zeros((1, 4)))
        assert bool(batch.terminated[0, 0]) == there
        assert bool(batch.success[0, 0]) == there


def test_lidar_rays_fan_out_from_below_by_a_tenth_of_one_and_a_half_radians():
    """On flat ground at height h the ray at angle t is h / cos(t) long, as a share of 160 / 30 m."""
    batch = start(initial_random=0.0)
    s = batch.states
    height = float(s["frame"][0, HULL, 1]) - 10.0 / 3.0
    expected = np.minimum(height / np.cos(0.15 * np.arange(10)) / (160.0 / 30.0), 1.0)
    np.testing.assert_allclose(s["lidar"][0], expected, atol=1e-9)


EXTREMES = [
    {"gravity": 0.0},
    {"gravity": -20.0, "friction": 0.0},
    {"motors_torque": 200.0, "speed_hip": 15.0, "speed_knee": 15.0, "friction": 10.0},
    {"motors_torque": 0.01, "speed_hip": 0.01, "speed_knee": 0.01},
    {"leg_w": 0.1, "leg_h": 0.5, "leg_down": 0.0, "terrain_step": 0.3},
    {"leg_w": 0.5, "leg_h": 2.0, "leg_down": -0.5, "terrain_step": 1.0},
    {"fps": 20.0, "initial_random": 50.0},
    {"fps": 200.0, "lidar_range": 20.0, "terrain_length": 500, "hardcore": True, "terrain_grass": 4},
    {"scale": 20.0, "gravity_x": 20.0, "viewport_w": 1000.0, "terrain_step": 0.4, "hardcore": True},
    {"scale": 60.0, "gravity_x": -20.0, "viewport_h": 800.0, "gravity": 0.0},
]


@pytest.mark.parametrize("values", EXTREMES)
def test_extreme_parameters_stay_finite(values):
    batch = start(16, **values)
    generator = np.random.default_rng(0)
    for _ in range(200):
        batch.step(generator.uniform(-1.0, 1.0, (16, 4)))
        assert np.isfinite(batch.states["centre"]).all()
        assert np.abs(batch.states["velocity"]).max() < 1e3
        assert batch.states["contacts_left_out"].max() == 0


def test_beyond_the_ranges_is_refused():
    for values in ({"gravity": 1.0}, {"friction": 11.0}, {"terrain_length": 99}, {"leg_w": float("nan")}):
        with pytest.raises(ParameterError):
            rlenvs.make_batch("BipedalWalker-v0", **values)


def test_a_first_step_pushes_by_up_to_five_newtons():
    assert world_of("rlenvs/BipedalWalker-v0").params["initial_random"].default == 5.0
