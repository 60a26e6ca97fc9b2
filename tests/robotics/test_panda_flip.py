"""PandaFlip: panda-gym's numbers, rotations against SciPy-free arithmetic, goals, the grasp, bad input, the expert."""

import math

import gymnasium
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, played, states, success

from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.manipulation import flip, panda, rotations

mujoco = pytest.importorskip("mujoco")
ID = "PandaFlip-v0"

WHOLE_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def matrix(q):
    """The rotation matrix, by MuJoCo."""
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.asarray(q, np.float64))
    return out.reshape(3, 3)


def angle(q, other):
    """Between two attitudes, rad, by their matrices."""
    return math.acos(min(max(0.5 * (np.trace(matrix(q).T @ matrix(other)) - 1.0), -1.0), 1.0))


def random_quaternions(n, seed=0):
    q = np.random.default_rng(seed).normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


# --- rotations --------------------------------------------------------------------------------------------------------


def test_products_and_inverses():
    for a, b in zip(random_quaternions(50), random_quaternions(50, 1), strict=True):
        np.testing.assert_allclose(matrix(rotations.product(a, b)), matrix(a) @ matrix(b), atol=1e-12)
        np.testing.assert_allclose(matrix(rotations.inverse(a)), matrix(a).T, atol=1e-12)
        # the columns of the matrix are the body's axes: fingers point along the third
        np.testing.assert_allclose(flip.pointing(a), matrix(a)[:, 2], atol=1e-12)
        for j in range(3):
            np.testing.assert_allclose(flip.column(a, j), matrix(a)[:2, j], atol=1e-12)
        between = math.acos(min(abs(matrix(a)[:, 1] @ matrix(b)[:, 1]), 1.0))
        assert flip.fingers_apart(a, b) == pytest.approx(between, abs=1e-6)


def test_rotation_vectors():
    for q in random_quaternions(50):
        vector = rotations.vector(q)
        assert np.linalg.norm(vector) <= math.pi + 1e-12
        np.testing.assert_allclose(matrix(rotations.rotation(*vector)), matrix(q), atol=1e-9)
    np.testing.assert_allclose(rotations.vector(rotations.rotation(0.1, -0.2, 0.3)), [0.1, -0.2, 0.3], atol=1e-12)
    assert rotations.vector((1.0, 0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0)


def test_twist_and_tilt():
    generator = np.random.default_rng(0)
    for twist, tilt, bearing in generator.uniform([-3, 0, -3], [3, 2.5, 3], (50, 3)):
        wanted = (twist, tilt * math.cos(bearing), tilt * math.sin(bearing))
        q = rotations.turned(*wanted)
        np.testing.assert_allclose(rotations.twist_and_tilt(q), wanted, atol=1e-9)
        assert math.acos(-matrix(q)[2, 2]) == pytest.approx(tilt, abs=1e-6)
    assert rotations.turned(0.0, 0.0, 0.0) == panda.DOWN


# --- the published numbers --------------------------------------------------------------------------------------------


def test_cube_of_panda_gym():
    model = batch(ID).engine.model
    np.testing.assert_array_equal(model.geom("cube").size, [0.02, 0.02, 0.02])
    assert model.body("cube").mass == 1.0
    s = states(batch(ID, 200))
    places = np.array([state.cube for state in s])
    np.testing.assert_allclose(places[:, 2], 0.02, atol=1e-9)
    assert 0.145 < np.abs(places[:, :2]).max() <= 0.15
    assert all(tuple(state.cube_attitude) == (1.0, 0.0, 0.0, 0.0) for state in s)


def test_difference_is_that_of_panda_gym():
    for q, other in zip(random_quaternions(50), random_quaternions(50, 1), strict=True):
        assert rotations.difference(q, other) == pytest.approx(1.0 - np.dot(q, other) ** 2)
        assert rotations.difference(q, other) == pytest.approx(math.sin(0.5 * angle(q, other)) ** 2)
        assert rotations.difference(q, -other) == pytest.approx(rotations.difference(q, other))


def test_threshold_is_a_fifth():
    env = gymnasium.make("rlenvs/PandaFlip-v0", form="goal").unwrapped
    env.reset(seed=0)
    at = 2.0 * math.asin(math.sqrt(0.2))
    assert math.degrees(at) == pytest.approx(53.13, abs=0.01)
    goals = np.array([rotations.rotation(0.0, x, 0.0) for x in (0.99 * at, 1.01 * at)], np.float32)
    starts = np.array([[1.0, 0.0, 0.0, 0.0]] * 2, np.float32)
    np.testing.assert_array_equal(env.compute_reward(starts, goals, {}), [0.0, -1.0])
    dense = gymnasium.make("rlenvs/PandaFlip-v0", form="goal", reward="dense").unwrapped
    dense.reset(seed=0)
    wanted = [-(math.sin(0.5 * x) ** 2) for x in (0.99 * at, 1.01 * at)]
    np.testing.assert_allclose(dense.compute_reward(starts, goals, {}), wanted, atol=1e-6)


def test_control_rate_and_length():
    worlds = batch(ID)
    assert (worlds.setup.fps, worlds.setup.horizon, worlds.engine.steps) == (25, 100, 8)
    assert worlds.actions.shape == (1, 1, 7)


# --- goals ------------------------------------------------------------------------------------------------------------


def turns(**keywords):
    """Rotation vectors from start to goal of 300 episodes."""
    found = []
    for s in states(batch(ID, 300, **keywords)):
        found.append(rotations.vector(rotations.product(s.desired, rotations.inverse(s.cube_attitude))))
        assert s.desired[0] >= 0.0
        assert np.linalg.norm(s.desired) == pytest.approx(1.0, abs=1e-6)
    return np.array(found)


NEAREST = 1.1 * 2.0 * math.asin(math.sqrt(0.2))


def test_easy_goals_are_turns_about_the_vertical():
    found = turns(level="easy")
    np.testing.assert_allclose(found[:, :2], 0.0, atol=1e-6)
    assert NEAREST - 1e-6 < np.abs(found[:, 2]).min() < NEAREST + 0.1
    assert np.abs(found[:, 2]).max() > math.pi - 0.1
    assert 0.4 < (found[:, 2] > 0).mean() < 0.6


def test_medium_goals_are_turns_about_a_horizontal_axis():
    found = turns(level="medium")
    sizes = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(found[:, 2], 0.0, atol=1e-6)
    assert NEAREST - 1e-6 < sizes.min() < NEAREST + 0.05
    assert 0.5 * math.pi - 0.05 < sizes.max() < 0.5 * math.pi + 1e-6
    assert all(((found[:, j] > 0.0).mean() > 0.4) and ((found[:, j] < 0.0).mean() > 0.4) for j in range(2))


def test_hard_goals_are_uniform_rotations():
    """Of uniform rotations beyond an angle; their angles have the density 1 - cos, their axes no direction."""
    found = turns(level="hard")
    sizes = np.linalg.norm(found, axis=1)
    assert sizes.min() > NEAREST - 1e-6

    def below(x):
        return (x - math.sin(x) - NEAREST + math.sin(NEAREST)) / (math.pi - NEAREST + math.sin(NEAREST))

    for x in (1.6, 2.0, 2.4, 2.8):
        assert (sizes < x).mean() == pytest.approx(below(x), abs=0.08)  # 3 standard deviations of 300 draws
    np.testing.assert_allclose((found / sizes[:, None]).mean(axis=0), 0.0, atol=0.1)
    np.testing.assert_allclose(((found / sizes[:, None]) ** 2).mean(axis=0), 1.0 / 3.0, atol=0.06)


def test_goals_turn_with_the_start():
    found = turns(level="medium", start_turn=math.pi)
    np.testing.assert_allclose(found[:, 2], 0.0, atol=1e-6)
    headings = [flip.heading(s.cube_attitude) for s in states(batch(ID, 100, start_turn=math.pi))]
    assert np.std(headings) > 1.5


@pytest.mark.parametrize("level", LEVELS)
def test_no_start_is_a_success(level):
    worlds = batch(ID, 300, level=level)
    assert min(rotations.difference(s.achieved, s.desired) for s in states(worlds)) > 0.2
    worlds.step(np.zeros((300, 7)))
    assert not worlds.success.any()


def test_goals_that_cannot_be():
    with pytest.raises(ParameterError, match=r"goal_angle=1\.2 rad; lower the threshold=0\.3 or raise goal_angle"):
        batch(ID, threshold=0.3, goal_angle=1.2)
    batch(ID, threshold=0.05, goal_angle=1.1)
    with pytest.raises(ParameterError, match="goals"):
        batch(ID, goals="roll")
    with pytest.raises(ParameterError, match="goal_angle=4"):
        batch(ID, goal_angle=4.0)


# --- physics ----------------------------------------------------------------------------------------------------------


def test_the_hand_turns():
    """The default control turns the hand: about the vertical by 0.1 rad in a step."""
    worlds = batch(ID)
    s = states(worlds)[0]
    for _ in range(20):
        worlds.step(np.array([[0, 0, 0, 0, 0, 1.0, 1.0]]))
    for _ in range(15):
        worlds.step(np.array([[0, 0, 0, 0, 0, 0.0, 1.0]]))
    assert rotations.twist_and_tilt(s.hand_attitude)[0] == pytest.approx(2.0, abs=0.02)
    assert flip.arm.distance(s.grip[0], panda.NEUTRAL_GRIP) < 0.005


def test_a_grasped_cube_turns_with_the_hand():
    worlds = batch(ID, 8, level="medium")
    played(worlds, 26)
    before = [(s.hand_attitude.copy(), s.cube_attitude.copy()) for s in states(worlds) if s.cube[2] > 0.08]
    assert len(before) > 2
    held = [s for s in states(worlds) if s.cube[2] > 0.08]
    played(worlds, 30)
    for (hand, cube), s in zip(before, held, strict=True):
        was = rotations.product(rotations.inverse(hand), cube)
        now = rotations.product(rotations.inverse(s.hand_attitude), s.cube_attitude)
        assert angle(was, now) < 0.15  # fingers are soft
        assert angle(cube, s.cube_attitude) > 0.6


def test_heading_of_cubes_on_any_face():
    for face in ((0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 3)):
        down = (
            rotations.rotation(0.5 * math.pi * face[1], 0, 0)
            if face[0] == 0
            else rotations.rotation(0, 0.5 * math.pi * face[1], 0)
        )
        for turn in (-0.7, -0.2, 0.3, 0.7):
            q = rotations.product(rotations.rotation(0.0, 0.0, turn), down)
            off = (flip.heading(q) - turn) / (0.5 * math.pi)
            assert off == pytest.approx(round(off), abs=1e-9)


def test_snapshot_in_the_middle_of_a_grasp():
    worlds = batch(ID, level="hard", seed=3)
    played(worlds, 40)
    assert states(worlds)[0].cube[2] > 0.05
    snapshot = worlds.get_state()
    futures = []
    for _ in range(2):
        worlds.set_state(snapshot)
        future = []
        for _ in range(20):
            worlds.expert_actions()
            worlds.step_inplace()
            future.append(worlds.observations.copy())
        futures.append(np.array(future))
    assert futures[0].tobytes() == futures[1].tobytes()


# --- reward, observation, image -------------------------------------------------------------------------------------


def test_rewards_by_kind():
    for reward in ("sparse", "dense", "shaped"):
        worlds = batch(ID, 3, reward=reward)
        worlds.step(np.zeros((3, 7)))
        for i, s in enumerate(states(worlds)):
            difference = 1.0 - float(np.dot(s.achieved.astype(float), s.desired.astype(float))) ** 2
            way = np.linalg.norm(s.grip[0] - s.cube)
            wanted = {"sparse": -1.0, "dense": -difference, "shaped": -difference - way}[reward]
            assert worlds.rewards[i, 0] == pytest.approx(wanted, abs=1e-6)


def test_a_grasp_is_worth_0_3_of_the_shaped_reward():
    worlds = played(batch(ID, 2, start="held", reward="shaped"), 5, np.zeros(7))
    for i, s in enumerate(states(worlds)):
        difference = 1.0 - float(np.dot(s.achieved.astype(float), s.desired.astype(float))) ** 2
        way = np.linalg.norm(s.grip[0] - s.cube)
        assert worlds.rewards[i, 0] == pytest.approx(0.3 - difference - way, abs=1e-6)


@pytest.mark.parametrize("fingers", [False, True])
def test_starts_in_the_hand(fingers):
    worlds = played(batch(ID, 8, start="held", fingers=fingers), 25, np.zeros(7 if fingers else 6))
    for s in states(worlds):  # who does nothing holds on
        np.testing.assert_allclose(s.cube, panda.NEUTRAL_GRIP, atol=0.006)
        assert rotations.difference(s.cube_attitude, (1.0, 0.0, 0.0, 0.0)) < 1e-4
    assert success(ID, 20, start="held", fingers=fingers) == 1.0
    held = [s.cube[2] > 0.1 for s in states(batch(ID, 40, start="any"))]
    assert 8 <= sum(held) <= 32


def test_ends_at_success():
    worlds = batch(ID, 8, level="easy", ends_at_success=True)
    for _ in range(60):
        worlds.expert_actions()
        worlds.step_inplace()
        if worlds.terminated.any():
            break
    np.testing.assert_array_equal(worlds.terminated, worlds.success)
    assert worlds.terminated.any()


def test_observation():
    worlds = batch(ID, level="hard", form="flat")
    played(worlds, 40)
    s = states(worlds)[0]
    seen = worlds.observations[0, 0]
    np.testing.assert_allclose(seen[-8:-4], s.achieved, atol=1e-6)
    np.testing.assert_allclose(seen[-4:], s.desired, atol=1e-6)
    np.testing.assert_allclose(seen[-11:-8], (s.cube - s.grip[0]) / 0.5, atol=1e-6)
    assert angle(seen[-8:-4], s.cube_attitude) < 1e-3
    assert angle(seen[7:11], s.hand_attitude) < 1e-3
    assert seen[8] >= 0.0


@pytest.mark.parametrize("control", ["hand", "joints"])
def test_expert_without_a_hand_that_turns_stays(control):
    worlds = batch(ID, control=control)
    worlds.expert_actions()
    assert not worlds.actions.any()


def test_image():
    env = gymnasium.make("rlenvs/PandaFlip-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().std() > 10
    env.close()


# --- expert -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_expert(level):
    assert success(ID, range(100, 150), level=level) >= 0.96  # of few; the slow test asks for 0.98


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_expert_on_many_seeds(level):
    assert success(ID, 500, level=level) >= 0.98


def test_random_actions_fail():
    worlds = batch(ID, 50, level="hard")
    generator = np.random.default_rng(0)
    for _ in range(100):
        worlds.step(generator.uniform(-1, 1, (50, 7)))
    assert worlds.success.mean() < 0.05
