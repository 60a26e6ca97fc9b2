"""PandaReach against panda-gym's numbers; goals that can be reached; the expert in every control."""

import gymnasium
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, success

from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.manipulation import arm, panda
from rlenvs.robotics.manipulation.reach import SPEC

ID = "PandaReach-v0"

CONTROLS = ("hand", "pose", "joints")


def goals(worlds):
    return np.array([worlds.records(i)[1].desired for i in range(worlds.num_envs)])


# --- the original's numbers -------------------------------------------------------------------------------------------


def test_numbers_of_the_original():
    env = gymnasium.make("rlenvs/PandaReach-v0", form="goal")
    assert env.spec.max_episode_steps == 50
    assert SPEC.horizon == 50
    assert SPEC.fps == 25
    assert env.action_space.shape == (3,)
    assert {name: space.shape for name, space in env.observation_space.items()} == {
        "observation": (6,),
        "achieved_goal": (3,),
        "desired_goal": (3,),
    }
    assert SPEC.params["threshold"].default == 0.05
    assert panda.NEUTRAL == (0.0, 0.41, 0.0, -1.85, 0.0, 2.26, 0.79)
    assert panda.BASE == (-0.6, 0.0, 0.0)


def test_goals_fill_the_original_box():
    drawn = goals(batch(ID, 2000))
    np.testing.assert_allclose(drawn.min(0), [-0.15, -0.15, 0.02], atol=0.003)
    np.testing.assert_allclose(drawn.max(0), [0.15, 0.15, 0.30], atol=0.003)
    assert (np.linalg.norm(drawn - panda.NEUTRAL_GRIP, axis=1) > 0.075).all()


def test_the_whole_box_of_the_default_can_be_reached():
    worst = max(arm.stretch(x, y, z) for x in (-0.15, 0.15) for y in (-0.15, 0.15) for z in (0.02, 0.3))
    assert worst < arm.STRETCH


def test_a_full_action_moves_the_target_by_5_cm():
    worlds = batch(ID)
    s = worlds.records(0)[1]
    start = s.mocap_pos[0].copy()
    worlds.step(np.array([[1.0, -0.5, 0.0]]))
    np.testing.assert_allclose(s.mocap_pos[0] - start, [0.05, -0.025, 0.0], atol=1e-12)


# --- rewards ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("away", "success"), [(0.0499, True), (0.0501, False)])
def test_threshold(away, success):
    worlds = batch(ID)
    s = worlds.records(0)[1]
    s.desired[:] = np.array(panda.NEUTRAL_GRIP) + [0.0, 0.6 * away, 0.8 * away]
    worlds.step(np.zeros((1, 3)))
    assert worlds.success[0, 0] == success
    assert worlds.rewards[0, 0] == (0.0 if success else -1.0)
    assert not worlds.over[0]


@pytest.mark.parametrize("reward", ["sparse", "dense"])
def test_compute_reward_is_the_reward_of_steps(reward):
    env = gymnasium.make("rlenvs/PandaReach-v0", form="goal", reward=reward)
    env.reset(seed=1)
    env.action_space.seed(0)
    for _ in range(10):
        observation, r, terminated, _, info = env.step(env.action_space.sample())
        achieved, desired = observation["achieved_goal"], observation["desired_goal"]
        away = np.linalg.norm(achieved - desired)
        assert r == pytest.approx(-away if reward == "dense" else -float(away > 0.05), abs=1e-6)
        assert env.unwrapped.compute_reward(achieved, desired, info) == pytest.approx(r, abs=1e-6)
        assert not terminated
    both = np.stack([desired, achieved])
    rewards = env.unwrapped.compute_reward(both, np.stack([desired, desired]), [{}, {}])
    np.testing.assert_allclose(rewards, [0.0, r], atol=1e-6)


def test_ends_at_success():
    env = gymnasium.make("rlenvs/PandaReach-v0", ends_at_success=True)
    env.reset(seed=0)
    for _ in range(50):
        _, reward, terminated, truncated, info = env.step(env.unwrapped.expert_action())
        if terminated:
            break
    assert info["is_success"]
    assert reward == 0.0
    assert not truncated


def test_flat_and_goal_form_hold_the_same():
    flat, goal = (gymnasium.make("rlenvs/PandaReach-v0", form=form) for form in ("flat", "goal"))
    (vector, _), (parts, _) = flat.reset(seed=3), goal.reset(seed=3)
    for _ in range(5):
        joined = np.concatenate([parts["observation"], parts["achieved_goal"], parts["desired_goal"]])
        np.testing.assert_array_equal(vector, joined)
        action = flat.unwrapped.expert_action()
        vector, parts = flat.step(action)[0], goal.step(action)[0]
    np.testing.assert_allclose(parts["observation"][:3], parts["achieved_goal"])


# --- goals that cannot be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", ["hand", "joints"])
def test_goals_of_the_hard_level_are_reached_wherever_they_are(control):
    worlds = batch(ID, 60, level="hard", control=control, seed=1000)
    drawn = goals(worlds)
    assert max(arm.stretch(*goal) for goal in drawn) <= arm.STRETCH
    for _ in range(50):
        worlds.expert_actions()
        worlds.step_inplace()
    hands = np.array([worlds.records(i)[1].grip[0] for i in range(60)])
    assert np.linalg.norm(hands - drawn, axis=1).max() < 0.01


def test_goals_that_hardly_fit_are_refused():
    with pytest.raises(ParameterError, match=r"goal_width=0\.05, goal_height=0\.25 .* lower threshold=0\.1"):
        batch(ID, goal_width=0.05, goal_height=0.25, threshold=0.1)
    drawn = goals(batch(ID, 100, goal_width=0.05, goal_height=0.05, threshold=0.09))  # all far under the hand
    assert (np.linalg.norm(drawn - panda.NEUTRAL_GRIP, axis=1) > 0.135).all()


# --- players ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("level", LEVELS)
def test_expert(level, control):
    assert success(ID, 50, level=level, control=control) >= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("level", LEVELS)
def test_expert_over_500_seeds(level, control):
    assert success(ID, 500, level=level, control=control) >= 0.98


@pytest.mark.parametrize("control", CONTROLS)
def test_random_hardly_succeeds(control):
    assert success(ID, 200, "random", level="easy", control=control) < 0.05


def test_image():
    env = gymnasium.make("rlenvs/PandaReach-v0", render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    green = (image[..., 1] > image[..., 0] + 40) & (image[..., 1] > image[..., 2] + 15)
    assert green.sum() > 100  # the goal
    env.close()
