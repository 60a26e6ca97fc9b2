"""PandaPickAndPlace against the numbers of panda-gym, physics of the grip, goals, bad input, expert."""

import gymnasium
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, played, success

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco import compiled
from rlenvs.robotics.manipulation import arm, panda
from rlenvs.robotics.manipulation.pick_and_place import CUBE, SPEC

mujoco = pytest.importorskip("mujoco")
ID = "PandaPickAndPlace-v0"
OPEN, CLOSE = 1.0, -1.0


def play(worlds, steps, *action):
    for _ in range(steps):
        worlds.step(np.tile(np.float32(action), (worlds.num_envs, 1)))
    return worlds.records(0)[1]


def gripped(clearance=0.1, horizon=1000, **keywords):
    """One world whose hand holds the cube still, that high above the table."""
    worlds = batch(ID, 1, start_width=0.1, horizon=horizon, **keywords)
    p, s = worlds.records(0)
    s.desired[:] = 0.0, 0.0, 0.5 * p.side + clearance
    played(worlds, 40)
    assert arm.holds(s, s.cube)
    # the load pulls the hand down against its spring
    assert s.cube[2] == pytest.approx(s.desired[2] - 9.81 * p.mass / p.stiffness, abs=2e-3)
    play(worlds, 15, 0, 0, 0, 0)
    return worlds, s


def in_hand(s):
    """Where the cube is relative to the hand."""
    return s.cube - s.grip[0]


# --- numbers of the original ------------------------------------------------------------------------------------------


def test_published_numbers():
    worlds = batch(ID)
    values = worlds.setup.values
    model = compiled(SPEC, values)
    np.testing.assert_allclose(model.geom("cube").size, 0.02)
    assert model.body("cube").mass[0] == 1.0
    assert (values.threshold, values.on_table, values.goal_height) == (0.05, 0.3, 0.2)
    assert (values.start_width, values.goal_width, values.yaw) == (0.3, 0.3, 0.0)
    assert worlds.setup.fps == 25
    assert worlds.setup.horizon == 50
    assert worlds.setup.action_size == 4
    assert vars(values) == vars(batch(ID, level="medium").setup.values)


def test_starts_and_goals():
    worlds = batch(ID, 2000)
    states = worlds.states
    cubes, goals = states["qpos"][:, CUBE : CUBE + 7], states["desired"]
    np.testing.assert_allclose(cubes[:, 2:], [[0.02, 1, 0, 0, 0]] * 2000, atol=1e-12)
    for found in (cubes[:, :2], goals[:, :2]):
        assert 0.148 < np.abs(found).max() <= 0.15
    on_table = goals[:, 2] == np.float32(0.02)
    # 30 % before goals too near to the cube are drawn again
    assert on_table.mean() == pytest.approx(0.3, abs=0.03)
    assert goals[:, 2].min() >= np.float32(0.02)
    assert 0.217 < goals[:, 2].max() <= 0.2200001
    assert np.linalg.norm(cubes[:, :3] - goals, axis=1).min() > 1.5 * 0.05
    np.testing.assert_array_equal(states["achieved"], cubes[:, :3].astype(np.float32))
    np.testing.assert_array_equal(states["mocap_pos"][:, 1], goals)


def test_yaw_of_the_start():
    quaternions = batch(ID, 300, yaw=0.3).states["qpos"][:, CUBE + 3 : CUBE + 7]
    angles = 2.0 * np.arctan2(quaternions[:, 3], quaternions[:, 0])
    assert 0.28 < np.abs(angles).max() <= 0.3
    assert (angles > 0).mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(("distance", "reached"), [(0.0499, True), (0.0501, False)])
def test_threshold_and_rewards(distance, reached):
    env = gymnasium.make("rlenvs/PandaPickAndPlace-v0", form="goal").unwrapped
    goal = np.array([0.1, 0.0, 0.1], np.float32)
    achieved = goal + np.float32([0.0, distance, 0.0])
    assert env.compute_reward(achieved, goal, {}) == (0.0 if reached else -1.0)
    dense = gymnasium.make("rlenvs/PandaPickAndPlace-v0", form="goal", reward="dense").unwrapped
    assert dense.compute_reward(achieved, goal, {}) == pytest.approx(-distance, abs=1e-6)
    for ends in (False, True):
        env = gymnasium.make("rlenvs/PandaPickAndPlace-v0", form="goal", ends_at_success=ends).unwrapped
        assert bool(env.compute_terminated(achieved, goal, {})) == (reached and ends)


def test_ends_at_success():
    worlds = batch(ID, 1, ends_at_success=True)
    steps = 0
    while not worlds.terminated.any():
        assert not worlds.success.any()
        played(worlds, 1)
        steps += 1
    assert worlds.success.all()
    assert worlds.rewards[0, 0] == 0.0
    assert steps < 40


def test_shaped_reward_grows():
    worlds = batch(ID, 1, reward="shaped")
    names = list(SPEC.terms)
    near, held, placed = (names.index(name) for name in ("near", "held", "placed"))
    start = worlds.terms.copy()
    totals = []
    for _ in range(50):
        played(worlds, 1)
        totals.append(worlds.rewards[0, 0])
        terms = worlds.terms[0, :, 0]
        assert totals[-1] == pytest.approx(0.2 * terms[near] + 0.3 * terms[held] + 0.5 * terms[placed])
    assert not start[0, held, 0]
    assert worlds.terms[0, held, 0] == 1.0
    assert totals[0] < 0.4
    assert totals[-1] > 0.95


# --- the grip ---------------------------------------------------------------------------------------------------------


def test_fingers_open_and_close_in_time():
    worlds = batch(ID, 1, start_width=0.0)
    s = play(worlds, 1, 0, 0, 0, CLOSE)
    assert np.abs(s.qvel[7:9]).max() == pytest.approx(panda.FINGER_SPEED, rel=0.01)
    assert play(worlds, 8, 0, 0, 0, 0).qpos[7] < 0.002  # goes on closing with an action of 0
    assert play(worlds, 8, 0, 0, 0, OPEN).qpos[7] > 0.038
    s = play(worlds, 20, 0, 0, 0, -0.1)  # by 1 cm per step: closed after four
    assert s.ctrl[0] == 0.0
    assert s.qpos[7] == pytest.approx(s.qpos[8], abs=1e-5)


def forces(worlds):
    """Normal force on each finger tip, N, and the deepest contact, m."""
    model = compiled(SPEC, worlds.setup.values)
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, worlds.engine._rows[0].copy(), int(mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_forward(model, data)
    found, depth, force = {}, 0.0, np.zeros(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        name = model.geom(min(contact.geom1, contact.geom2)).name
        mujoco.mj_contactForce(model, data, i, force)
        found[name] = found.get(name, 0.0) + force[0]
        depth = max(depth, -contact.dist)
    return found, depth


@pytest.mark.parametrize("grip_force", [40.0, 70.0])
def test_each_finger_presses_with_the_grip_force(grip_force):
    worlds, _ = gripped(grip_force=grip_force)
    found, depth = forces(worlds)
    assert set(found) == {"left_pad/0", "right_pad/0"}
    for force in found.values():
        assert force == pytest.approx(grip_force, rel=0.03)
    assert depth < 1e-3


def test_a_cube_of_two_kilograms_neither_slips_nor_creeps_nor_shakes():
    worlds, s = gripped(mass=2.0)
    before, height = in_hand(s), s.cube[2]
    speeds = []
    for _ in range(125):  # 5 s
        play(worlds, 1, 0, 0, 0, 0)
        speeds.append(np.abs(s.cube_velocity).max())
    assert np.abs(in_hand(s) - before).max() < 3e-4
    assert abs(s.cube[2] - height) < 3e-4
    assert max(speeds) < 1e-3
    assert np.abs(s.cube_spin).max() < 1e-2


def test_a_held_cube_stays_in_the_hand_while_it_moves():
    worlds, s = gripped(mass=2.0)
    before = in_hand(s)
    for axis in range(3):
        for sign in (1, -1):
            action = [0.0, 0.0, 0.0, 0.0]
            action[axis] = sign
            start = s.grip[0].copy()
            play(worlds, 3, *action)
            play(worlds, 6, 0, 0, 0, 0)
            assert abs(s.grip[0] - start)[axis] > 0.06
    # the fastest moves that there are shift it by some half a millimetre each
    assert np.abs(in_hand(s) - before).max() < 5e-3
    assert arm.holds(s, s.cube)


def test_too_weak_a_grip_drops_the_cube():
    # two fingers, friction 1: 2 x 5 N hold less than 2 kg and more than 0.5 kg
    _, s = gripped(mass=0.5, grip_force=5.0)
    heavy = batch(ID, 1, mass=2.0, grip_force=5.0, start_width=0.1)
    played(heavy, 50)
    assert s.cube[2] > 0.1
    assert heavy.states["cube"][0, 2] < 0.05


def test_opened_fingers_let_go():
    worlds, s = gripped(clearance=0.2)
    play(worlds, 3, 0, 0, 0, OPEN)
    # falling freely since the fingers left it
    assert s.cube_velocity[2] < -0.5
    assert not arm.holds(s, s.cube)
    play(worlds, 10, 0, 0, 0, 0)
    assert s.cube[2] == pytest.approx(0.02, abs=1e-3)


def test_snapshot_in_contact_is_exact():
    worlds, _ = gripped()
    generator = np.random.default_rng(3)
    actions = np.concatenate([generator.uniform(-1, 1, (20, 1, 3)), np.full((20, 1, 1), CLOSE)], 2).astype(np.float32)
    snapshot = worlds.get_state(0)
    runs = []
    for _ in range(2):
        runs.append([])
        for action in actions:
            worlds.step(action)
            runs[-1].append((worlds.observations.tobytes(), worlds.states.tobytes()))
        worlds.set_state(snapshot, 0)
    assert runs[0] == runs[1]


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "named"),
    [
        ({"fingers": False}, "fingers=False"),
        ({"threshold": 0.07, "goal_width": 0.2}, "goal_width=0.2 is less than four thresholds, threshold=0.07"),
        ({"mass": 0.0}, "mass"),
        ({"side": 0.09}, "side"),
        ({"yaw": 1.0}, "yaw"),
        ({"reward": "hot"}, "'sparse', 'dense', 'shaped'"),
    ],
)
def test_bad_parameters(keywords, named):
    with pytest.raises(ParameterError, match=named):
        batch(ID, **keywords)


# --- expert, random, conformance --------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_expert(level):
    assert success(ID, 50, level=level) >= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_expert_and_random_on_many_seeds(level):
    assert success(ID, 500, level=level) >= 0.98
    assert success(ID, 500, "random", level=level) < 0.05


def test_random_rarely_succeeds():
    assert success(ID, 100, "random", level="medium") < 0.05


def test_expert_in_the_other_controls():
    for control, horizon, least in (("pose", 50, 0.98), ("joints", 100, 0.9)):
        worlds = batch(ID, 50, control=control, horizon=horizon)
        played(worlds, horizon)
        assert worlds.success.mean() >= least


def test_a_turned_cube_can_be_gripped():
    worlds = played(batch(ID, 50, yaw=0.5), 50)
    assert worlds.success.mean() >= 0.95


@pytest.mark.slow
def test_check():
    report = rlenvs.check_env("PandaPickAndPlace-v0")
    assert report.passed, str(report)


def test_image():
    env = gymnasium.make("rlenvs/PandaPickAndPlace-v0", render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render().astype(int)
    orange = (image[..., 0] > 150) & (image[..., 2] < 60)
    green = (image[..., 1] > image[..., 0] + 30) & (image[..., 1] > image[..., 2])
    assert orange.sum() > 100
    assert green.sum() > 300
    env.close()
