"""PandaPush against the numbers of panda-gym, physics of pushing, goals, bad input, expert."""

import gymnasium
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, played, success

from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco import compiled
from rlenvs.robotics.manipulation.moving import FARTHEST
from rlenvs.robotics.manipulation.push import SPEC, turn

ID = "PandaPush-v0"


# --- numbers of the original ------------------------------------------------------------------------------------------


def test_published_numbers():
    worlds = batch(ID)
    model = compiled(SPEC, worlds.setup.values)
    cube = model.geom("cube")
    np.testing.assert_allclose(cube.size, 0.02)
    assert model.body("cube").mass[0] == 1.0
    assert worlds.setup.values.threshold == 0.05
    assert worlds.setup.fps == 25
    assert worlds.setup.horizon == 50
    assert worlds.setup.values == batch(ID, level="medium").setup.values


@pytest.mark.parametrize(
    ("level", "starts", "goals"), [("easy", 0.1, 0.1), ("medium", 0.15, 0.15), ("hard", 0.15, 0.15)]
)
def test_starts_and_goals(level, starts, goals):
    worlds = batch(ID, 600, level=level)
    cubes, desired = worlds.states["cube"], worlds.states["desired"]
    threshold = worlds.setup.values.threshold
    assert 0.98 * starts < np.abs(cubes[:, :2]).max() <= starts
    assert 0.98 * goals < np.abs(desired[:, :2]).max() <= goals + 1e-7
    np.testing.assert_allclose(desired[:, 2], 0.02, atol=1e-7)
    np.testing.assert_allclose(cubes[:, 2], 0.02, atol=1e-4)
    apart = np.hypot(*(cubes - desired)[:, :2].T)
    assert 1.5 * threshold - 1e-6 < apart.min() < 1.6 * threshold + 0.01
    assert not worlds.success.any()
    assert (worlds.states["mocap_pos"][:, 1] == desired).all()


def test_success_is_within_the_threshold():
    worlds = batch(ID)
    for distance, reward in ((0.0499, 0.0), (0.0501, -1.0)):
        s = worlds.records(0)[1]
        s.desired[:] = s.cube + [distance, 0.0, 0.0]
        worlds.step(np.zeros((1, 3)))
        assert worlds.success[0, 0] == (reward == 0.0)
        assert worlds.rewards[0, 0] == reward
        assert not worlds.terminated[0, 0]


@pytest.mark.parametrize(("reward", "worth"), [("sparse", -1.0), ("dense", -0.5)])
def test_rewards_of_goals(reward, worth):
    worlds = batch(ID, reward=reward)
    achieved, desired = np.zeros((2, 3)), np.array([[0.3, 0.4, 0.0], [0.0, 0.0, 0.0]])
    rewards, ends = worlds.compute_reward(achieved, desired)
    np.testing.assert_allclose(rewards, [worth, 0.0], atol=1e-7)
    assert not ends.any()
    assert batch(ID, ends_at_success=True).compute_reward(achieved, desired)[1].tolist() == [False, True]


def test_shaped_reward():
    worlds = played(batch(ID, reward="shaped"), 3)
    s = worlds.records(0)[1]
    near, placed = np.linalg.norm(s.grip[0] - s.cube), np.linalg.norm(s.cube - s.desired)
    expected = 0.3 * (1 - np.tanh(10 * near)) + 0.7 * (1 - np.tanh(5 * placed))
    assert worlds.rewards[0, 0] == pytest.approx(expected, abs=1e-6)
    played(worlds, 47)
    assert worlds.rewards[0, 0] > 0.6


def test_ends_at_success():
    worlds = batch(ID, ends_at_success=True)
    s = worlds.records(0)[1]
    played(worlds, 1, (0, 0, 0))
    assert not worlds.terminated[0, 0]
    s.desired[:] = s.cube
    played(worlds, 1, (0, 0, 0))
    assert worlds.terminated[0, 0]
    assert worlds.rewards[0, 0] == 0.0


# --- observation ------------------------------------------------------------------------------------------------------


def test_observation():
    env = gymnasium.make("rlenvs/PandaPush-v0", form="goal")
    seen, _ = env.reset(seed=3)
    s = env.unwrapped.batch.records(0)[1]
    assert seen["observation"].shape == (22,)  # the original's 18, a quaternion for angles, and the way to the cube
    np.testing.assert_array_equal(seen["achieved_goal"], np.float32(s.cube))
    np.testing.assert_array_equal(seen["desired_goal"], s.desired)
    np.testing.assert_allclose(seen["observation"][:3], s.grip[0], atol=1e-6)
    np.testing.assert_allclose(seen["observation"][6:9], s.cube, atol=1e-6)
    np.testing.assert_allclose(seen["observation"][-3:] * 0.5, s.cube - s.grip[0], atol=1e-6)
    flat, _ = gymnasium.make("rlenvs/PandaPush-v0").reset(seed=3)
    np.testing.assert_array_equal(
        flat, np.concatenate([seen[k] for k in ("observation", "achieved_goal", "desired_goal")])
    )


# --- physics ----------------------------------------------------------------------------------------------------------


def test_the_cube_rests():
    worlds = batch(ID, 8)
    before = worlds.states["cube"].copy()
    played(worlds, 50, (0, 0, 0))
    np.testing.assert_allclose(worlds.states["cube"], before, atol=2e-4)  # it sinks in by 0.1 mm


@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_a_cube_slides_as_far_as_friction_lets_it(friction):
    worlds = batch(ID, friction=friction)
    s = worlds.records(0)[1]
    start, first = s.cube[0], len(s.qvel) - 6
    s.qvel[first] = 0.5
    played(worlds, 25, (0, 0, 0))
    # v^2 = 2 mu g d; the hand is above
    assert s.cube[0] - start == pytest.approx(0.5**2 / (2 * friction * 9.81), rel=0.05)
    assert abs(s.cube_velocity).max() < 1e-3


@pytest.mark.parametrize("start", ["low", "neutral"])
def test_the_hand_starts_clear_of_the_cube(start):
    worlds = batch(ID, 300, start=start)
    grips, cubes = worlds.states["grip"][:, 0], worlds.states["cube"]
    beside = np.abs(grips - cubes)[:, :2].max(1) > 0.03
    above = grips[:, 2] - 0.009 > cubes[:, 2] + 0.02
    assert (beside | above).all()
    np.testing.assert_allclose(grips[:, 2], {"low": 0.05, "neutral": 0.199}[start], atol=1e-3)


def test_a_push_moves_the_cube_and_leaves_it_upright():
    worlds = batch(ID, 20)
    before = worlds.states["cube"].copy()
    played(worlds, 50)
    assert np.hypot(*(worlds.states["cube"] - before)[:, :2].T).min() > 0.02
    np.testing.assert_allclose(worlds.states["cube"][:, 2], 0.02, atol=1e-3)


def test_fingers_stay_closed():
    worlds = batch(ID, 10)
    assert worlds.setup.action_size == 3
    played(worlds, 50)
    assert worlds.states["qpos"][:, 7:9].max() < 1e-3


def test_turn_of_a_cube_on_any_face():
    import mujoco

    generator = np.random.default_rng(0)
    for axis, quarter in (((1.0, 0, 0), 0), ((1.0, 0, 0), 1), ((0, 1.0, 0), 1), ((0, 1.0, 0), 2), ((1.0, 0, 0), 3)):
        yaw = generator.uniform(-3, 3)
        lie, about, whole = np.zeros(4), np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(lie, np.array(axis, float), 0.5 * np.pi * quarter)
        mujoco.mju_axisAngle2Quat(about, np.array([0.0, 0, 1]), yaw)
        mujoco.mju_mulQuat(whole, about, lie)
        off = (turn(whole) - yaw) / (0.5 * np.pi)
        assert abs(off - round(off)) < 1e-6


def test_snapshot_in_contact_is_exact():
    worlds = played(batch(ID, 4), 17)
    off = worlds.states["grip"][:, 0] - worlds.states["cube"]
    moving = np.linalg.norm(worlds.states["cube_velocity"], axis=1) > 0.1
    assert (moving & (np.linalg.norm(off, axis=1) < 0.045)).any()
    snapshots = [worlds.get_state(i) for i in range(4)]
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 4, 3))
    futures = []
    for _ in range(2):
        for i, snapshot in enumerate(snapshots):
            worlds.set_state(snapshot, i)
        futures.append([])
        for action in actions:
            worlds.step(action)
            futures[-1].append(worlds.observations.copy())
    np.testing.assert_array_equal(*futures)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keywords", [{"start_width": 0.1, "goal_width": 0.05}, {"goal_width": 0.0, "threshold": 0.1}])
def test_goals_that_are_reached_from_the_start_are_refused(keywords):
    with pytest.raises(ParameterError, match="widen the squares or lower the threshold"):
        batch(ID, **keywords)


@pytest.mark.parametrize("keywords", [{"side": 0.06}, {"start_width": 0.4}, {"friction": 0.0}, {"reward": "dens"}])
def test_values_outside_are_refused(keywords):
    with pytest.raises(ParameterError, match=next(iter(keywords))):
        batch(ID, **keywords)


def test_the_narrowest_squares_still_keep_apart():
    worlds = batch(ID, 200, start_width=0.1, goal_width=0.12)
    apart = np.hypot(*(worlds.states["cube"] - worlds.states["desired"])[:, :2].T)
    assert apart.min() > 0.075


def test_far_cube_stays_in_the_bounds_of_terms():
    worlds = batch(ID, reward="dense")
    s = worlds.records(0)[1]
    s.qvel[-6:-3] = 30.0, 0.0, 2.0
    played(worlds, 20, (0, 0, 0))
    assert worlds.rewards[0, 0] >= -FARTHEST
    assert np.isfinite(worlds.observations).all()


# --- expert -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_expert(level):
    assert success(ID, 50, level=level) >= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_expert_and_chance(level):
    assert success(ID, 500, level=level) >= 0.98
    assert success(ID, 500, "random", level=level) < 0.05


@pytest.mark.parametrize("keywords", [{"control": "pose"}, {"fingers": True}, {"start": "neutral"}])
def test_expert_in_other_controls(keywords):
    assert played(batch(ID, 20, **keywords), 50).success.mean() >= 0.9


@pytest.mark.parametrize("keywords", [{"level": "panda-gym"}, {"control": "panda-gym"}])
def test_expert_with_the_actions_of_panda_gym(keywords):
    assert success(ID, 50, **keywords) >= 0.96


def test_random_rarely_succeeds():
    assert success(ID, 50, "random", level="easy") < 0.1
