"""The Panda against the manufacturer's numbers, and its controllers against their formulas."""

import math
from functools import partial

import gymnasium
import mujoco
import numpy as np
import pytest
from support import arm_helpers
from support.batches import begun

from rlenvs.kits.engines.mujoco import compiled
from rlenvs.robotics.manipulation import arm, panda
from rlenvs.robotics.manipulation.reach import SPEC

# Craig's convention, from the manufacturer's documentation: a, d [m], alpha [rad] by joint
DH_A = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
DH_D = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)
DH_ALPHA = np.array([0, -1, 1, 1, -1, 1, 1]) * math.pi / 2
LOW = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
HIGH = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
TORQUES = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)
# Gaz et al. 2019, kg
MASSES = (4.970684, 0.646926, 3.228604, 3.587895, 1.225946, 1.666555, 0.735522)
CONTROLS = ("hand", "pose", "joints", "panda-gym")
STIFFNESS, DAMPING, REACH = 2000.0, 89.0, 0.05  # SERL's, N/m and N s/m; the reach is ours
TURN_STIFFNESS, TURN_DAMPING, TURN_REACH = 150.0, 7.0, 0.3


batch = partial(begun, "PandaReach-v0", horizon=1000)


def model_of(worlds):
    return compiled(SPEC, worlds.setup.values)


def data_of(worlds):
    """MuJoCo's data for the state of the first world, computed anew."""
    model, s = model_of(worlds), worlds.records(0)[1]
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = s.qpos, s.qvel, s.ctrl
    data.mocap_pos[:], data.mocap_quat[:] = s.mocap_pos, s.mocap_quat
    mujoco.mj_forward(model, data)
    return model, data


def forward_kinematics(joints):
    """Pose of the grip in the base, 4 x 4."""

    def turn_x(angle):
        c, s = math.cos(angle), math.sin(angle)
        return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])

    def turn_z(angle):
        c, s = math.cos(angle), math.sin(angle)
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])

    def shift(x, z):
        pose = np.eye(4)
        pose[0, 3], pose[2, 3] = x, z
        return pose

    pose = np.eye(4)
    for a, d, alpha, joint in zip(DH_A, DH_D, DH_ALPHA, joints, strict=True):
        pose = pose @ turn_x(alpha) @ shift(a, 0) @ turn_z(joint) @ shift(0, d)
    return pose @ shift(0, 0.107) @ turn_z(-math.pi / 4) @ shift(0, 0.1034)


# --- the robot --------------------------------------------------------------------------------------------------------


def test_joint_ranges_torques_and_masses():
    model = model_of(batch(control="joints"))
    np.testing.assert_array_equal(model.jnt_range[:7], np.stack([LOW, HIGH], axis=1))
    np.testing.assert_array_equal(model.jnt_range[7:9], [[0.0, 0.04]] * 2)
    servos = [model.actuator(f"servo{j + 1}/0").id for j in range(7)]
    np.testing.assert_array_equal(model.actuator_forcerange[servos, 1], TORQUES)
    np.testing.assert_array_equal(model.actuator_forcerange[servos, 0], np.negative(TORQUES))
    np.testing.assert_allclose([model.body(f"link{j + 1}/0").mass[0] for j in range(7)], MASSES)
    assert model.body("hand/0").mass[0] == 0.73
    assert model.body("left/0").mass[0] == model.body("right/0").mass[0] == 0.015


def test_inertias_are_those_of_gaz():
    model = model_of(batch())
    for j, (mass, centre, (xx, yy, zz, xy, xz, yz)) in enumerate(panda.INERTIAS):
        body = model.body(f"link{j + 1}/0")
        full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        np.testing.assert_allclose(np.sort(body.inertia), np.linalg.eigvalsh(full), rtol=1e-9)
        np.testing.assert_array_equal(body.ipos, centre)
        assert mass == MASSES[j]


@pytest.mark.parametrize("seed", range(4))
def test_forward_kinematics(seed):
    joints = np.random.default_rng(seed).uniform(LOW, HIGH) if seed else np.array(panda.NEUTRAL)
    worlds = batch()
    worlds.records(0)[1].qpos[:7] = joints
    _, data = data_of(worlds)
    expected, grip = forward_kinematics(joints), data.site("grip/0")
    np.testing.assert_allclose(grip.xpos - panda.BASE, expected[:3, 3], atol=1e-12)
    np.testing.assert_allclose(grip.xmat.reshape(3, 3), expected[:3, :3], atol=1e-12)


def test_neutral_grip():
    expected = forward_kinematics(panda.NEUTRAL)[:3, 3] + panda.BASE
    np.testing.assert_allclose(panda.NEUTRAL_GRIP, expected, atol=1e-8)
    np.testing.assert_allclose(batch().records(0)[1].grip[0], expected, atol=1e-8)


def test_gravity_is_compensated_but_for_the_payload():
    for payload in (0.0, 0.5):
        worlds = batch(payload=payload)
        _, data = data_of(worlds)
        jacobian = np.zeros((3, data.qvel.size))
        mujoco.mj_jacBodyCom(model_of(worlds), data, jacobian, None, data.body("hand/0").id)
        left = data.qfrc_bias[:7] - data.qfrc_gravcomp[:7]
        if payload == 0.0:
            np.testing.assert_allclose(left, 0.0, atol=1e-9)
        else:
            np.testing.assert_allclose(left[0], 0.0, atol=1e-9)
            assert np.abs(left).max() > 0.5 * 9.81 * 0.4


def test_worlds_with_and_without_a_payload_have_their_place_in_one_batch():
    loads = np.array([0.0, 1.0])
    worlds = batch(2, payload=loads)
    alone = [batch(payload=load) for load in loads]
    for _ in range(5):
        worlds.step(np.full((2, 1, 3), 0.5))
        for one in alone:
            one.step(np.full((1, 1, 3), 0.5))
    assert worlds.states["qpos"][1].tobytes() == alone[1].states["qpos"][0].tobytes()
    assert worlds.states["qpos"][0].tobytes() == alone[0].states["qpos"][0].tobytes()
    assert worlds.states["qpos"][0].tobytes() != worlds.states["qpos"][1].tobytes()
    worlds.set_params({"payload": 0.0})


def test_control_at_25_hz():
    worlds = batch()
    worlds.step(np.zeros((1, 3)))
    assert worlds.records(0)[1].time[0] == pytest.approx(0.04)
    assert model_of(worlds).opt.timestep == pytest.approx(0.005)


# --- the spring of the hand -------------------------------------------------------------------------------------------


MOTORS = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])  # N m, the most that the joints give


@pytest.mark.parametrize("seed", range(3))
def test_the_hand_follows_its_formula(seed):
    """F = K clip(target - grip) - D v, turned into torques of joints by the transposed Jacobian."""
    worlds = batch()
    generator = np.random.default_rng(seed)
    for _ in range(10):
        worlds.step(generator.uniform(-1.0, 1.0, (1, 3)))
    s = worlds.records(0)[1]
    s.mocap_pos[0] = s.grip[0] + generator.uniform(-0.1, 0.1, 3)  # some beyond the reach
    model, data = data_of(worlds)
    jacobian = np.zeros((6, model.nv))
    grip = data.site("grip/0").id
    mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], grip)
    stretch, velocity = s.mocap_pos[0] - data.site_xpos[grip], jacobian @ data.qvel
    force = STIFFNESS * np.clip(stretch, -REACH, REACH) - DAMPING * velocity[:3]
    down = np.array([1.0, -1.0, -1.0])  # actuators act in the axes of the target, which points down
    applied = data.actuator_force[1:].reshape(6, 2) * np.tile(down, 2)[:, None]
    np.testing.assert_allclose(applied[:3].sum(axis=1), force, atol=1e-9)
    np.testing.assert_allclose(applied[3:, 1], -TURN_DAMPING * velocity[3:], atol=1e-9)
    assert np.abs(applied[3:, 0]).max() <= TURN_STIFFNESS * TURN_REACH + 1e-12
    torques = (jacobian.T @ applied.sum(axis=1))[:7]
    np.testing.assert_allclose(data.qfrc_actuator[:7], np.clip(torques, -MOTORS, MOTORS), atol=1e-9)


def test_the_numbers_of_serl():
    values = batch().setup.values
    assert (values.stiffness, values.damping) == (STIFFNESS, DAMPING)
    assert (values.turn_stiffness, values.turn_damping) == (TURN_STIFFNESS, TURN_DAMPING)
    assert (values.reach, values.turn_reach) == (REACH, TURN_REACH)


@pytest.mark.parametrize(("stiffness", "reach"), [(2000.0, 0.05), (2000.0, 0.003), (1000.0, 0.02)])
def test_contact_force_is_bounded_by_the_reach(stiffness, reach):
    """The hand pushes against a wall; the target is far behind it."""
    worlds = batch(stiffness=stiffness, reach=reach)
    spec = SPEC.functions["model"](worlds.setup.values)
    box, place = mujoco.mjtGeom.mjGEOM_BOX, (0.038 + 0.03, 0.0, 0.2)
    wall = spec.worldbody.add_geom(type=box, size=(0.01, 0.2, 0.2), pos=place, **panda.WORLD_BITS)
    wall.name = "wall"
    model = spec.compile()
    data, s = mujoco.MjData(model), worlds.records(0)[1]
    data.qpos[:], data.mocap_pos[:] = s.qpos, s.mocap_pos
    data.mocap_pos[0, 0] += 0.3
    mujoco.mj_step(model, data, 1500)
    assert np.abs(data.qvel[:7]).max() < 1e-3
    pushing, part = 0.0, np.zeros(6)
    for i, contact in enumerate(data.contact):
        if model.geom("wall").id in contact.geom:
            mujoco.mj_contactForce(model, data, i, part)
            pushing += abs((contact.frame.reshape(3, 3).T @ part[:3])[0])
    assert 0.9 * stiffness * reach < pushing < 1.01 * stiffness * reach


@pytest.mark.parametrize("control", CONTROLS)
def test_no_action_holds_the_pose(control):
    worlds = batch(control=control)
    s = worlds.records(0)[1]
    for _ in range(50):
        worlds.step(np.zeros((1, *worlds.setup.action_space.shape)))
    # the hand is turned to point exactly along the axes, by 0.0046 rad
    np.testing.assert_allclose(s.qpos[:7], panda.NEUTRAL, atol=1e-6 if control == "joints" else 5e-3)
    assert np.linalg.norm(s.grip[0] - panda.NEUTRAL_GRIP) < 1e-3


@pytest.mark.parametrize("control", CONTROLS[:3])  # without a target that stays, a load sinks on, as in panda-gym
def test_a_payload_sags_and_then_stays(control):
    worlds = batch(control=control, payload=1.0)
    s, heights = worlds.records(0)[1], []
    for _ in range(100):
        worlds.step(np.zeros((1, *worlds.setup.action_space.shape)))
        heights.append(s.grip[0, 2])
    assert 1e-3 < panda.NEUTRAL_GRIP[2] - heights[-1] < 0.02
    assert abs(heights[-1] - heights[49]) < 1e-4


@pytest.mark.parametrize("axis", range(3))
def test_the_target_leads_the_hand_by_no_more_than_the_reach(axis):
    worlds = batch()
    s, action = worlds.records(0)[1], np.zeros((1, 3))
    action[0, axis] = -1.0
    for _ in range(4):
        before = s.grip[0].copy()
        worlds.step(action)
        assert np.abs(s.mocap_pos[0] - before).max() <= REACH + 1e-12
    for _ in range(75):
        worlds.step(0.0 * action)
    np.testing.assert_allclose(s.grip[0], s.mocap_pos[0], atol=1e-3)
    assert s.grip[0, axis] < panda.NEUTRAL_GRIP[axis] - 0.08


@pytest.mark.parametrize("axis", range(3))
def test_pose_control_turns_the_hand(axis):
    worlds = batch(control="pose")
    _, start = data_of(worlds)
    action = np.zeros((1, 6))
    action[0, 3 + axis] = 0.8
    for _ in range(5):
        worlds.step(action)
    for _ in range(25):
        worlds.step(0.0 * action)
    _, end = data_of(worlds)
    difference = end.site("grip/0").xmat.reshape(3, 3) @ start.site("grip/0").xmat.reshape(3, 3).T
    turn = np.zeros(3)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, difference.ravel())
    mujoco.mju_quat2Vel(turn, quaternion, 1.0)
    expected = np.zeros(3)
    expected[axis] = 5 * 0.8 * 0.1
    np.testing.assert_allclose(turn, expected, atol=0.01)
    np.testing.assert_allclose(end.site("grip/0").xpos, panda.NEUTRAL_GRIP, atol=3e-3)


# --- the servos of the joints -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", range(7))
def test_joint_control_moves_one_joint(joint):
    worlds = batch(control="joints")
    s, action = worlds.records(0)[1], np.zeros((1, 7))
    way = -1.0 if joint == 1 else 1.0  # not into the table
    action[0, joint] = way
    expected = np.array(panda.NEUTRAL)
    for steps in (1, 6):
        for _ in range(steps):
            worlds.step(action)
            expected[joint] += 0.05 * way
        for _ in range(25):
            worlds.step(0.0 * action)
        np.testing.assert_allclose(s.qpos[:7], expected, atol=1e-3)


@pytest.mark.parametrize("shoulder", [0.0, -1.7])
def test_the_hand_is_observed_wherever_joints_take_it(shoulder):
    """Stretched out, more than a metre up or behind: an observation that is cut off at 1 m does not tell."""
    worlds = batch(control="joints", backend="python")
    s, wanted = worlds.records(0)[1], np.array(panda.NEUTRAL)
    wanted[[1, 3]] = shoulder, -0.07
    for _ in range(120):
        worlds.step(np.clip(5.0 * (wanted - s.qpos[:7]), -1.0, 1.0)[None])
    assert np.abs(s.grip).max() > 1.1
    np.testing.assert_allclose(worlds.observations[0, 0, :3], s.grip[0], atol=1e-6)


def test_joint_control_keeps_its_pace():
    """A full action moves a joint by 0.05 rad per step; it is behind its target by the servo's lag of 0.1 s."""
    worlds = batch(control="joints")
    s, action, angles = worlds.records(0)[1], np.array([[1.0, 0, 0, 0, 0, 0, 0]]), []
    for _ in range(25):
        worlds.step(action)
        angles.append(s.qpos[0])
    np.testing.assert_allclose(np.diff(angles[-6:]), 0.05, atol=1e-4)
    lag = s.ctrl[1] - s.qpos[0] + 0.5 * 0.05  # the target moves in steps: on average it is half a step further
    assert lag == pytest.approx(0.1 * 1.25, rel=0.02)


def test_joint_targets_stay_in_range_and_near_the_joints():
    worlds = batch(4, control="joints")
    generator = np.random.default_rng(0)
    actions = np.sign(generator.uniform(-1.0, 1.0, (4, 7)))
    for _ in range(120):
        states = [worlds.records(i)[1] for i in range(4)]
        before = np.array([s.qpos[:7] for s in states])
        worlds.step(actions)
        targets = np.array([s.ctrl[1:8] for s in states])
        assert np.abs(targets - before).max() <= max(arm.LEAD, 0.05) + 1e-2  # a joint may be pushed beyond its range
        assert (targets >= LOW).all()
        assert (targets <= HIGH).all()


# --- fingers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", CONTROLS)
def test_fingers_open_and_close(control):
    worlds = batch(control=control, fingers=True)
    s, action = worlds.records(0)[1], np.zeros((1, *worlds.setup.action_space.shape))
    for way, width in ((-1.0, 0.0), (1.0, 0.08), (-1.0, 0.0)):
        action[0, -1] = way
        for _ in range(25):
            worlds.step(action)
        assert s.qpos[7] + s.qpos[8] == pytest.approx(width, abs=2e-3)
        assert s.qpos[7] == pytest.approx(s.qpos[8], abs=1e-3)


# --- stability --------------------------------------------------------------------------------------------------------


def play_randomly(steps=100, count=4, **keywords):
    env = gymnasium.make_vec(
        "rlenvs/PandaReach-v0", num_envs=count, vectorization_mode="vector_entry_point", horizon=steps, **keywords
    )
    env.reset(seed=0)
    env.action_space.seed(0)
    fastest = 0.0
    for _ in range(steps):
        observation, _, _, _, info = env.step(env.action_space.sample())
        assert "simulation_error" not in info, (keywords, info["simulation_error"])
        assert np.isfinite(observation).all()
        speeds = [np.abs(env.unwrapped.batch.records(i)[1].qvel[:7]).max() for i in range(count)]
        fastest = max(fastest, *speeds)
    return fastest


@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("name", arm.PARAMS)
def test_ends_of_parameters_are_stable(name, end):
    fastest = play_randomly(**{name: getattr(arm.PARAMS[name], end)})
    assert fastest < 15.0  # rad/s


@pytest.mark.parametrize("control", CONTROLS)
def test_corners_of_parameters_are_stable(control):
    generator = np.random.default_rng(0)
    for _ in range(8):
        ends = {name: getattr(part, generator.choice(["low", "high"])) for name, part in arm.PARAMS.items()}
        assert play_randomly(count=2, control=control, fingers=True, **ends) < 20.0


def test_snapshot_in_mid_contact():
    """Restored while the fingers press on the table, the future is the same bit for bit."""
    worlds = batch(control="joints")
    down = np.array([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    for _ in range(14):
        worlds.step(down)
    _, data = data_of(worlds)
    assert data.ncon > 0
    saved = worlds.get_state(0)
    futures = []
    for _ in range(2):
        worlds.set_state(saved)
        rows = []
        for k in range(20):
            worlds.step(down * math.sin(0.5 * k))
            rows.append(worlds.observations.copy())
        futures.append(np.array(rows))
    np.testing.assert_array_equal(futures[0], futures[1])


# panda-gym 3.0.7's PandaReach from its neutral pose: m per step, full action along y and along z
PUBLISHED = {1: (0.0244, 0.0505, 0.0424, 0.0427, 0.0422), 2: (0.0105, 0.0333, 0.0409, 0.0355, 0.0380)}


@pytest.mark.parametrize("axis", [1, 2])
def test_actions_move_the_hand_as_in_panda_gym(axis):
    worlds = batch(control="panda-gym", backend="python")
    action, places = np.eye(3)[axis], [worlds.states["grip"][0, 0, axis]]
    for _ in range(5):
        worlds.step(action[None].astype(np.float32))
        places.append(worlds.states["grip"][0, 0, axis])
    np.testing.assert_allclose(np.diff(places), PUBLISHED[axis], atol=0.012)


@pytest.mark.parametrize("arm_of", [0, 1])
def test_a_controller_of_panda_gym_goes_straight_to_its_goal(arm_of):
    """(goal - hand) / 0.05: in 5 steps within 2 cm there, and it stays; for the arm that stands opposite, too."""
    worlds = arm_helpers.batch("PandaHandover-v0", backend="python", control="panda-gym")
    hand = worlds.states["grip"][0, arm_of]
    goal = hand + [(-0.05, 0.05)[arm_of], 0.11, 0.1]
    attitude, left = worlds.states["mocap_quat"][0, arm_of].copy(), []
    for _ in range(20):
        worlds.actions[0, arm_of, :3] = np.clip((goal - hand) / 0.05, -1.0, 1.0)
        worlds.step_inplace()
        left.append(np.linalg.norm(goal - hand))
    assert max(left[5:]) < 0.02
    assert left[-1] < 1e-3
    data = arm_helpers.simulation(worlds)
    turned = np.zeros(4)
    mujoco.mju_mat2Quat(turned, data.site(f"grip/{arm_of}").xmat)
    assert abs(turned @ attitude) > 0.9999  # the fingers still point down, and the hand has not turned


@pytest.mark.parametrize("control", CONTROLS)
def test_the_target_can_be_observed(control):
    """Where actions begin: without it, two states that look alike can take the same action to different ends."""
    bare, worlds = (batch(control=control, fingers=True, backend="python", target=target) for target in (False, True))
    numbers = {"hand": 3, "pose": 7, "joints": 7, "panda-gym": 3}[control] + 1
    assert worlds.observations.shape[-1] - bare.observations.shape[-1] == numbers
    worlds.actions[...] = 0.5
    worlds.step_inplace()
    s = worlds.records(0)[1]
    moved = s.ctrl[1:8] if control == "joints" else s.mocap_pos[0] - s.grip[0]
    start = 7 + 7 * (control == "joints")
    shown = worlds.observations[0, 0, start : start + numbers]
    np.testing.assert_allclose(shown[: len(moved)], moved, atol=1e-6)
    assert shown[-1] == pytest.approx(s.ctrl[0])


@pytest.mark.parametrize("control", ["hand", "joints"])
@pytest.mark.parametrize(
    ("id", "thing"), [("PandaHandover-v0", "bar"), ("PandaSlide-v0", "puck"), ("PandaPush-v0", "cube")]
)
def test_a_spinning_object_keeps_its_energy_in_the_air(id, thing, control):
    """At steps of 5 ms an explicit integrator adds to it, an implicit one takes from it, where moments differ."""
    worlds = arm_helpers.batch(id, backend="python", control=control)
    model, (state,) = worlds.engine.model, arm_helpers.states(worlds)
    place, speed = model.joint(thing).qposadr[0], model.joint(thing).dofadr[0]
    moments = model.body(thing).inertia
    state.qpos[place + 2] = 50.0
    state.qvel[speed + 3 : speed + 6] = 60.0, 52.0, 10.0  # 80 rad/s, about no principal axis
    before = moments @ state.qvel[speed + 3 : speed + 6] ** 2
    for _ in range(25):
        worlds.actions[...] = 0.0
        worlds.step_inplace()
    after = moments @ state.qvel[speed + 3 : speed + 6] ** 2
    assert after == pytest.approx(before, rel=0.02)


@pytest.mark.parametrize(("id", "thing", "half"), [("PandaPush-v0", "cube", 0.02), ("PandaSlide-v0", "puck", 0.015)])
def test_a_hand_presses_light_objects_no_deeper_into_the_table_than_heavy_ones(id, thing, half):
    worlds = arm_helpers.batch(id, 2, backend="python", mass=np.array([0.1, 1.0]))
    worlds.states["qpos"][:, panda.ARM_QPOS : panda.ARM_QPOS + 2] = worlds.states["grip"][:, 0, :2]
    lowest = np.full(2, half)
    for _ in range(25):
        worlds.actions[...] = 0.0
        worlds.actions[:, 0, :2] = np.clip(
            (worlds.states[thing] - worlds.states["grip"][:, 0])[:, :2] / 0.05, -1.0, 1.0
        )
        worlds.actions[:, 0, 2] = -1.0
        worlds.step_inplace()
        lowest = np.minimum(lowest, worlds.states[thing][:, 2])
    assert (lowest < half - 5e-4).all()  # it was pressed
    assert lowest[0] > half - 2e-3
