"""PandaPegInsertion: SERL's numbers, bounded contact forces, the hole, costs, bad input, the expert."""

import math

import gymnasium
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, played, states, success

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.manipulation import arm, peg_insertion, rotations
from rlenvs.robotics.manipulation.peg_insertion import SPEC

mujoco = pytest.importorskip("mujoco")
ID = "PandaPegInsertion-v0"

STRAIGHT = {"hole_turn": 0.0, "start_turn": 0.0, "hole_width": 0.0}


def push(worlds, steps, *action):
    """Steps with one action; returns the contact forces of world 0."""
    s, forces = states(worlds)[0], []
    for _ in range(steps):
        worlds.step(np.tile(action, (worlds.num_envs, 1)))
        forces.append(s.force[0].copy())
    return np.array(forces)


def misses(worlds):
    """Between the tip and its place, and between peg and hole about the vertical: arrays over worlds."""
    offsets = np.array([s.tip - s.desired[:3] for s in states(worlds)])
    turn = [
        rotations.vector(rotations.product(s.tip_attitude, rotations.inverse(s.desired[3:])))[2] for s in states(worlds)
    ]
    return offsets, np.array(turn)


# --- the published numbers --------------------------------------------------------------------------------------------


def test_gains_and_clips():
    """2000 N/m, 89 N s/m, 150 N m/rad, 7 N m s/rad; clipped at 3 mm across, 10 mm along the fingers, 0.02 rad."""
    model = batch(ID).engine.model
    for axis, force in enumerate((6.0, 6.0, 20.0)):
        assert model.actuator(f"spring{axis}/0").biasprm[1] == -2000.0
        assert model.actuator(f"damper{axis}/0").biasprm[2] == -89.0
        np.testing.assert_allclose(model.actuator(f"spring{axis}/0").forcerange, [-force, force])
    for axis in (3, 4, 5):
        assert model.actuator(f"spring{axis}/0").biasprm[1] == -150.0
        assert model.actuator(f"damper{axis}/0").biasprm[2] == -7.0
        np.testing.assert_allclose(model.actuator(f"spring{axis}/0").forcerange, [-3.0, 3.0])


def test_other_tasks_have_one_clip_in_all_directions():
    model = rlenvs.make_batch("PandaReach-v0", 1).engine.model
    for axis in range(3):
        np.testing.assert_allclose(model.actuator(f"spring{axis}/0").forcerange, [-100.0, 100.0])


def test_starts():
    """0.1 m above the target, up to 0.05 m aside along x and y, turned by up to pi / 6."""
    worlds = batch(ID, 300)
    offsets, turns = misses(worlds)
    np.testing.assert_allclose(offsets[:, 2], 0.1, atol=1e-6)
    for values, bound in ((offsets[:, 0], 0.05), (offsets[:, 1], 0.05), (turns, math.pi / 6.0)):
        assert 0.95 * bound < np.abs(values).max() <= bound + 1e-5
        assert abs(values.mean()) < 0.1 * bound
    assert not any(s.force.any() for s in states(worlds))


def test_control_rate_length_and_steps():
    worlds = batch(ID)
    assert (worlds.setup.fps, worlds.setup.horizon, worlds.engine.steps) == (25, 100, 8)
    assert worlds.actions.shape == (1, 1, 6)
    # as fast as 0.02 m and 0.1 rad at 10 Hz
    assert pytest.approx(0.02 * 10) == peg_insertion.STEP * 25
    assert pytest.approx(0.1 * 10) == peg_insertion.TURN * 25


@pytest.mark.parametrize("j", range(6))
def test_success_is_every_component_within_its_threshold(j):
    env = gymnasium.make("rlenvs/PandaPegInsertion-v0", form="goal").unwrapped
    observation, _ = env.reset(seed=0)
    goal, achieved = observation["desired_goal"].astype(float), []
    for factor in (0.98, 1.02, -0.98, -1.02):
        there = goal.copy()
        if j < 3:
            there[j] += 0.01 * factor
        else:
            turn = np.zeros(3)
            turn[j - 3] = 0.2 * factor
            there[3:] = rotations.product(rotations.rotation(*turn), goal[3:])
        achieved.append(there)
    achieved = np.array(achieved, np.float32)
    np.testing.assert_array_equal(env.compute_reward(achieved, np.float32([goal] * 4), {}), [0.0, -1.0, 0.0, -1.0])
    achieved[:, 3:] *= -1.0  # the same attitudes
    np.testing.assert_array_equal(env.compute_reward(achieved, np.float32([goal] * 4), {}), [0.0, -1.0, 0.0, -1.0])


# --- contact ----------------------------------------------------------------------------------------------------------


def on_the_board(**keywords):
    """The peg on the board, beside the hole."""
    worlds = batch(ID, 1, 0, start_width=0.0, start_turn=0.0, **keywords)
    for _ in range(12):  # the box of the target is 1 cm wide here
        worlds.step(np.array([[1.0, 0, 0, 0, 0, 0]]))
    push(worlds, 40, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0)
    return worlds


@pytest.mark.parametrize(("reach", "stiffness"), [(0.01, 2000.0), (0.005, 2000.0), (0.01, 1000.0)])
def test_pushing_down_is_bounded_by_stiffness_times_reach(reach, stiffness):
    worlds = on_the_board(reach=reach, stiffness=stiffness, hole_turn=0.0, hole_width=0.0, horizon=300)
    s = states(worlds)[0]
    assert abs(s.tip[2] - 0.03) < 5e-4  # it stands on the board
    forces = push(worlds, 30, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0)
    np.testing.assert_allclose(forces[:, 2], -stiffness * reach, rtol=0.02)
    assert not push(worlds, 30, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)[-5:].any()


def inserted(**keywords):
    """The peg in the hole, 5 mm above the bottom, whose friction would carry a part of a push."""
    worlds = batch(ID, **keywords, **STRAIGHT, horizon=300)
    played(worlds, 90)
    assert worlds.success.all()
    push(worlds, 1, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0)
    push(worlds, 15, *[0.0] * 6)
    assert 0.002 < states(worlds)[0].tip[2] < 0.008
    return worlds


@pytest.mark.parametrize(("axis", "sign"), [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)])
def test_pushing_aside_is_bounded(axis, sign):
    worlds = inserted(level="easy")
    action = np.zeros(6)
    action[axis] = sign
    forces = push(worlds, 20, *action)[10:]
    np.testing.assert_allclose(sign * forces[:, axis], 6.0, rtol=0.05)
    assert np.abs(forces[:, 1 - axis]).max() < 0.5


def test_a_push_is_as_strong_as_the_target_is_deep():
    """The expert leads the target by 2 mm: 4 N on the bottom of the hole."""
    worlds = batch(ID, 4)
    played(worlds, 95)
    for s in states(worlds):
        assert s.force[0, 2] == pytest.approx(-2000.0 * peg_insertion.PRESS, abs=0.3)
        assert s.tip[2] == pytest.approx(0.0, abs=3e-4)


def test_no_action_holds_the_pose():
    worlds = batch(ID, 8)
    before, turns = misses(worlds)
    push(worlds, 60, *[0.0] * 6)
    after, turned = misses(worlds)
    np.testing.assert_allclose(after, before, atol=3e-4)
    np.testing.assert_allclose(turned, turns, atol=1e-3)


def test_the_hole_holds_the_peg():
    """An inserted peg can be moved by its clearance, and turned by what its corners leave."""
    for clearance in (0.002, 0.0005):
        worlds = inserted(clearance=clearance)
        ends = []
        for sign in (1.0, -1.0):
            push(worlds, 15, sign, 0.0, 0.0, 0.0, 0.0, 0.0)
            ends.append(states(worlds)[0].tip[0])
        # the walls give way by some hundredths of a millimetre, the hand tilts by some
        assert ends[0] - ends[1] == pytest.approx(clearance, abs=2e-4)
        push(worlds, 20, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        assert abs(misses(worlds)[1][0]) < 1.3 * clearance / 0.02 + 0.01


def test_a_turned_peg_does_not_go_in():
    worlds = batch(ID, 1, 0, start_width=0.0, start_turn=0.0, hole_turn=0.0, hole_width=0.0)
    push(worlds, 15, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert misses(worlds)[1][0] > 0.15
    push(worlds, 60, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0)
    assert misses(worlds)[0][0, 2] > 0.029
    assert not worlds.success.any()


def test_the_hand_hardly_tilts():
    worlds = batch(ID)
    push(worlds, 40, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    _, x, y = rotations.twist_and_tilt(states(worlds)[0].tip_attitude)
    assert math.hypot(x, y) == pytest.approx(0.01, abs=1e-3)


def test_the_target_stays_in_its_box():
    for sign in (1.0, -1.0):
        worlds = batch(ID, **STRAIGHT)
        s = states(worlds)[0]
        push(worlds, 99, sign, sign, 0.3, 0.0, 0.0, 0.0)
        np.testing.assert_allclose(s.mocap_pos[0, :2], sign * 0.06, atol=1e-9)
        assert s.mocap_pos[0, 2] <= 0.05 + 0.1 + 0.01 + 1e-9


# --- costs and rewards ------------------------------------------------------------------------------------------------


def test_cost_is_the_force_above_the_limit():
    for limit, cost in ((10.0, 10.0), (5.0, 15.0), (25.0, 0.0)):
        worlds = on_the_board(force_limit=limit, hole_turn=0.0, hole_width=0.0)
        assert worlds.costs[0, 0] == pytest.approx(cost, abs=0.4)
        strength = np.linalg.norm(states(worlds)[0].force[0])
        assert worlds.costs[0, 0] == pytest.approx(max(strength - limit, 0.0))


def test_expert_is_gentle():
    worlds = batch(ID, 20, level="medium")
    spent = np.zeros(20)
    for _ in range(100):
        played(worlds, 1)
        spent += worlds.costs[:, 0]
    assert spent.mean() < SPEC.costs["force"].limit


def test_dense_reward():
    worlds = batch(ID, 5, reward="dense")
    worlds.step(np.zeros((5, 6)))
    offsets, turns = misses(worlds)
    np.testing.assert_allclose(worlds.rewards[:, 0], -np.linalg.norm(offsets, axis=1) - 0.1 * np.abs(turns), atol=1e-4)


def test_ends_at_success():
    worlds = batch(ID, 1, ends_at_success=True)
    while not worlds.terminated.any() and not worlds.truncated.any():
        played(worlds, 1)
    assert worlds.terminated.all()
    assert worlds.success.all()


def test_holes_lie_elsewhere():
    s = states(batch(ID, 300))
    places = np.array([state.desired for state in s])
    assert 0.048 < np.abs(places[:, :2]).max() <= 0.05
    turns = [rotations.twist_and_tilt(state.desired[3:])[0] for state in s]
    assert 0.5 < np.abs(turns).max() <= math.pi / 6.0 + 1e-6


def test_observation():
    worlds = batch(ID)
    push(worlds, 5, 0.3, -0.2, -0.5, 0.0, 0.0, 0.5)
    s = states(worlds)[0]
    seen = worlds.observations[0, 0]
    np.testing.assert_allclose(seen[12:15], (s.desired[:3] - s.tip) / 0.15, atol=1e-6)
    np.testing.assert_allclose(seen[15:18], [0.0, 0.0, -misses(worlds)[1][0]], atol=5e-3)
    np.testing.assert_allclose(seen[18:21], s.tip, atol=1e-6)
    np.testing.assert_allclose(seen[25:], s.desired, atol=1e-6)


# --- bad input, snapshots, image ------------------------------------------------------------------------------------


def test_impossible_parameters():
    with pytest.raises(ParameterError, match=r"depth=0\.015 is less than 1\.5 thresholds, threshold=0\.015.*deeper"):
        batch(ID, depth=0.015, threshold=0.015)
    with pytest.raises(ParameterError, match=r"start_height=0\.04 must be at least depth=0\.035 plus 0\.01 m; raise"):
        batch(ID, depth=0.035, start_height=0.04)
    with pytest.raises(ParameterError, match="clearance"):
        batch(ID, clearance=0.0)


def test_snapshot_in_the_middle_of_a_contact():
    worlds = batch(ID, level="hard")
    for _ in range(70):
        played(worlds, 1)
        if states(worlds)[0].force.any():
            break
    assert states(worlds)[0].force.any()
    snapshot = worlds.get_state()
    futures = []
    for _ in range(2):
        worlds.set_state(snapshot)
        future = []
        for _ in range(20):
            played(worlds, 1)
            future.append(worlds.observations.copy())
        futures.append(np.array(future))
    assert futures[0].tobytes() == futures[1].tobytes()


def test_image_and_keys():
    env = gymnasium.make("rlenvs/PandaPegInsertion-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().std() > 10
    env.close()
    assert SPEC.functions["keys"]({"up", "s", "a"}, None) == [0.4, 0.0, -0.4, 0.0, 0.0, 0.4]


def test_inverse_kinematics_of_the_start():
    worlds = batch(ID, 50)
    for s in states(worlds):
        np.testing.assert_allclose(s.mocap_pos[0], s.grip[0], atol=1e-12)
        assert rotations.difference(s.mocap_quat[0], s.tip_attitude) < 1e-9
        assert s.tip[2] == pytest.approx(s.grip[0, 2] - peg_insertion.OUT, abs=1e-6)
        assert arm.distance(s.tip, s.achieved) < 1e-6


# --- expert -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_expert(level):
    assert success(ID, range(100, 150), level=level) >= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_expert_on_many_seeds(level):
    assert success(ID, 500, level=level) >= 0.98


def test_random_actions_fail():
    worlds = batch(ID, 50, level="easy")
    generator = np.random.default_rng(0)
    for _ in range(100):
        worlds.step(generator.uniform(-1, 1, (50, 6)))
    assert worlds.success.mean() < 0.05
