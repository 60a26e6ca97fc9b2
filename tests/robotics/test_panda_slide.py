"""PandaSlide against the numbers of panda-gym, physics of sliding, goals, bad input, expert."""

import gymnasium
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, played, success

from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco import compiled
from rlenvs.robotics.manipulation.moving import FARTHEST
from rlenvs.robotics.manipulation.slide import PUCK, SPEC

ID = "PandaSlide-v0"

VELOCITY = 9  # of the puck in qvel: seven joints, two fingers


# --- numbers of the original ------------------------------------------------------------------------------------------


def test_published_numbers():
    worlds = batch(ID)
    model = compiled(SPEC, worlds.setup.values)
    puck, table = model.geom("puck"), model.geom("table")
    np.testing.assert_allclose(puck.size[:2], (0.03, 0.015))  # radius, half the height
    assert model.body("puck").mass[0] == 1.0
    assert max(puck.friction[0], table.friction[0]) == 0.04
    assert worlds.setup.values.threshold == 0.05
    assert worlds.setup.fps == 25
    assert 2.0 * table.size[0] == pytest.approx(1.4)
    assert table.pos[0] == pytest.approx(-0.1)
    assert table.pos[2] + table.size[2] == 0.0
    assert worlds.setup.values == batch(ID, level="medium").setup.values


@pytest.mark.parametrize(
    ("level", "starts", "near", "far", "wide"),
    [("easy", 0.1, 0.25, 0.4, 0.1), ("medium", 0.15, 0.25, 0.55, 0.15), ("hard", 0.15, 0.35, 0.55, 0.2)],
)
def test_starts_and_goals(level, starts, near, far, wide):
    worlds = batch(ID, 600, level=level)
    pucks, desired = worlds.states["puck"], worlds.states["desired"]
    assert 0.98 * starts < np.abs(pucks[:, :2]).max() <= starts + 1e-9
    assert near - 1e-6 <= desired[:, 0].min() < near + 0.005
    assert far - 0.005 < desired[:, 0].max() <= far + 1e-6
    assert 0.98 * wide < np.abs(desired[:, 1]).max() <= wide + 1e-6
    np.testing.assert_allclose(desired[:, 2], 0.015, atol=1e-7)
    np.testing.assert_allclose(pucks[:, 2], 0.015, atol=1e-4)
    assert np.hypot(*(pucks - desired)[:, :2].T).min() > 0.075
    assert (worlds.states["mocap_pos"][:, 1] == desired).all()


def test_success_is_within_the_threshold():
    worlds = batch(ID)
    for distance, reward in ((0.0499, 0.0), (0.0501, -1.0)):
        s = worlds.records(0)[1]
        s.desired[:] = s.puck + [0.0, distance, 0.0]
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
    near, placed = np.linalg.norm(s.grip[0] - s.puck), np.linalg.norm(s.puck - s.desired)
    expected = 0.3 * (1 - np.tanh(10 * near)) + 0.7 * (1 - np.tanh(5 * placed))
    assert worlds.rewards[0, 0] == pytest.approx(expected, abs=1e-6)


# --- observation ------------------------------------------------------------------------------------------------------


def test_observation():
    env = gymnasium.make("rlenvs/PandaSlide-v0", form="goal")
    seen, _ = env.reset(seed=3)
    s = env.unwrapped.batch.records(0)[1]
    assert seen["observation"].shape == (22,)  # the original's 18, a quaternion for angles, and the way to the puck
    np.testing.assert_array_equal(seen["achieved_goal"], np.float32(s.puck))
    np.testing.assert_array_equal(seen["desired_goal"], s.desired)
    np.testing.assert_allclose(seen["observation"][6:9], s.puck, atol=1e-6)
    np.testing.assert_allclose(seen["observation"][-3:], s.puck - s.grip[0], atol=1e-6)


# --- physics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("friction", "mass"), [(0.04, 1.0), (0.04, 0.3), (0.1, 1.0)])
def test_a_puck_slides_as_far_as_friction_lets_it(friction, mass):
    worlds = batch(ID, friction=friction, mass=mass)
    s = worlds.records(0)[1]
    start = s.puck[0]
    s.qvel[VELOCITY] = 0.5
    played(worlds, 50, (0, 0, 0))
    assert s.puck[0] - start == pytest.approx(0.5**2 / (2 * friction * 9.81), rel=0.03)  # v^2 = 2 mu g d
    assert abs(s.puck_velocity).max() < 1e-3


def test_the_hand_does_not_reach_the_goals():
    worlds = batch(ID, 20)
    for _ in range(60):
        for i in range(20):
            s = worlds.records(i)[1]
            worlds.actions[i, 0] = np.clip((s.desired - s.mocap_pos[0]) / 0.05, -1, 1)
        worlds.step_inplace()
    short = worlds.states["desired"][:, 0] - worlds.states["grip"][:, 0, 0]
    assert short.min() > 0.02
    assert np.median(short) > 0.1


def test_a_puck_falls_behind_the_table():
    worlds = batch(ID, reward="dense")
    s = worlds.records(0)[1]
    s.qpos[PUCK], s.qvel[VELOCITY] = 0.5, 1.0
    played(worlds, 30, (0, 0, 0))
    assert s.puck[0] > 0.6
    assert s.puck[2] < -0.3
    assert worlds.rewards[0, 0] >= -FARTHEST
    assert np.isfinite(worlds.observations).all()


def test_the_puck_comes_to_rest_at_the_goal():
    worlds = played(batch(ID, 20), 75)
    still = np.linalg.norm(worlds.states["puck_velocity"], axis=1) < 0.01
    assert still.mean() >= 0.7
    assert worlds.success[still].all()


def test_snapshot_in_contact_is_exact():
    worlds = played(batch(ID, 4), 10)
    off = worlds.states["grip"][:, 0] - worlds.states["puck"]
    pressed = (np.hypot(off[:, 0], off[:, 1]) < 0.02) & (
        off[:, 2] < 0.026
    )  # the tips are 9 mm below the hand's position
    assert pressed.any()
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


def test_the_least_room_still_keeps_puck_and_goal_apart():
    worlds = batch(ID, 200, goal_near=0.2, goal_far=0.4, goal_width=0.0, threshold=0.1)
    apart = np.hypot(*(worlds.states["puck"] - worlds.states["desired"])[:, :2].T)
    assert apart.min() > 0.15


@pytest.mark.parametrize(
    "keywords", [{"goal_near": 0.5}, {"goal_far": 0.7}, {"start_width": 0.4}, {"friction": 0.0}, {"reward": "dens"}]
)
def test_values_outside_are_refused(keywords):
    with pytest.raises(ParameterError, match=next(iter(keywords))):
        batch(ID, **keywords)


# --- expert -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_expert(level):
    assert success(ID, 50, level=level) >= 0.94  # 0.98 in the long run, see benchmarks/arms_success.md


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_expert_and_chance(level):
    assert success(ID, 500, level=level) >= 0.98
    assert success(ID, 500, "random", level=level) < 0.05


@pytest.mark.parametrize("keywords", [{"control": "pose"}, {"fingers": True}])
def test_expert_in_other_controls(keywords):
    assert played(batch(ID, 20, **keywords), 75).success.mean() >= 0.9


def test_expert_hits_where_fingers_do_not_hold():
    assert success(ID, 50, level="panda-gym") >= 0.9


def test_a_puck_that_is_hit_passes_the_goal_and_goes_on():
    """As the page says."""
    assert success(ID, 50, control="panda-gym", ends_at_success=True) >= 0.9
    assert success(ID, 50, control="panda-gym") < 0.2


def test_random_rarely_succeeds():
    assert success(ID, 50, "random", level="easy") < 0.1
