"""Bodies that agents share, beside steps and observations recorded from MaMuJoCo; partitions, costs, forms."""

from pathlib import Path

import numpy as np
import pettingzoo.test as kit
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError, UnknownKeywordError
from rlenvs.robotics.locomotion import team
from rlenvs.robotics.locomotion.partitions import (
    CINERT,
    CONTACT,
    CVEL,
    PAGE,
    QPOS,
    QVEL,
    ROPE,
    SLOW,
    TORQUE,
    TOUCH,
    parts_of,
)

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")

pytestmark = pytest.mark.filterwarnings("ignore:compiler attribute")

DATA = Path(__file__).parent.parent / "data" / "mamujoco.npz"
IDS = {
    "Walker2d": "MultiWalker2d",
    "Hopper": "MultiHopper",
    "HalfCheetah": "MultiHalfCheetah",
    "Ant": "MultiAnt",
    "Humanoid": "MultiHumanoid",
    "Swimmer": "MultiSwimmer",
    "CoupledHalfCheetah": "CoupledHalfCheetah",
    "ManySegmentSwimmer": "ManySegmentSwimmer",
    "ManySegmentAnt": "ManySegmentAnt",
}
RECORDED = [
    ("Walker2d", "2x3"),
    ("Hopper", "3x1"),
    ("HalfCheetah", "6x1"),
    ("HalfCheetah", "2x3"),
    ("Ant", "4x2"),
    ("Ant", "2x4"),
    ("Ant", "2x4d"),
    ("Humanoid", "9|8"),
    ("Swimmer", "2x1"),
    ("CoupledHalfCheetah", "1p1"),
    ("ManySegmentSwimmer", "10x2"),
    ("ManySegmentSwimmer", "6x1"),
    ("ManySegmentAnt", "2x3"),
    ("ManySegmentAnt", "3x1"),
]
LIMITS = {  # m/s, of safety-gymnasium's multi-agent velocity tasks
    ("Ant", "2x4"): 2.522,
    ("Ant", "4x2"): 2.418,
    ("HalfCheetah", "6x1"): 2.932,
    ("HalfCheetah", "2x3"): 3.227,
    ("Hopper", "3x1"): 0.9613,
    ("Humanoid", "9|8"): 0.58,
    ("Swimmer", "2x1"): 0.04891,
    ("Walker2d", "2x3"): 1.641,
}
ARRAYS = (QPOS, QVEL, CINERT, CVEL, TORQUE, CONTACT, ROPE)  # in the order of the recording's numbers


@pytest.fixture(scope="module")
def recorded():
    with np.load(DATA) as file:
        return dict(file)


def steps(recorded, name, partition):
    start = f"{name}|{partition.replace('|', ':')}|"
    return {key.removeprefix(start): value for key, value in recorded.items() if key.startswith(start)}


def made(name, level=None, **choices):
    return rlenvs.make_batch(f"{IDS[name]}-v0", 1, backend="python", level=level, **choices)


def begun(batch):
    batch.seed([0])
    batch.reset()
    return batch.states[0]


def placed(batch, of, i):
    """The batch in a recorded state."""
    s = begun(batch)
    for ours, theirs in (("qpos", "qpos"), ("qvel", "qvel"), ("warmstart", "warmstart")):
        s[ours] = of[theirs][i]
    s["x"], s["y"] = of["place"][i]


def joined(rows, lengths):
    """Of each agent as many numbers as it has."""
    return np.concatenate([row[:length] for row, length in zip(rows, lengths, strict=True)])


def touching(codes):
    """Whether numbers are contact forces, which are those of another time."""
    arrays = codes - codes % PAGE
    return (arrays == CONTACT) | (arrays == TOUCH)


@pytest.mark.parametrize(("name", "partition"), RECORDED)
def test_steps_are_mamujocos(name, partition, recorded):
    """To rounding, with the same MuJoCo; CoupledHalfCheetah's is an older one."""
    of = steps(recorded, name, partition)
    near = 1e-9 if str(recorded[f"{name}|mujoco"]) == mujoco.__version__ else 1e-6
    batch = made(name, partition, compat=True)
    setup, (seen, acts) = batch.setup, of["sizes"].T
    assert [(role.name, role.observation, role.action) for role in setup.roles] == [
        (f"agent_{k}", *map(int, sizes)) for k, sizes in enumerate(of["sizes"])
    ]
    same = ~touching(joined(setup.data["look"], seen))
    same_state = ~touching(setup.data["whole"])
    for i, action in enumerate(of["action"]):
        placed(batch, of, i)
        for k, numbers in enumerate(np.split(action, np.cumsum(acts)[:-1])):
            batch.actions[0, k, : len(numbers)] = numbers
        batch.step_inplace()
        observed = joined(batch.observations[0], seen)
        np.testing.assert_allclose(observed[same], of["seen"][i][same], rtol=near, atol=near)
        state = of["state"][i][same_state]
        np.testing.assert_allclose(batch.central()[0][same_state], state, rtol=2e-7 + near, atol=near)
        contact = setup.weights[3] * batch.terms[0, 3]
        np.testing.assert_allclose(batch.rewards[0] - contact, of["reward"][i] - of["contact"][i], rtol=near, atol=near)
        assert batch.terminated[0].tolist() == [bool(of["ended"][i])] * len(acts)
    assert np.ptp(of["reward"]) > 0.01


@pytest.mark.parametrize("reach", [0, 1, 2])
@pytest.mark.parametrize(("name", "partition"), RECORDED)
def test_agents_see_what_mamujocos_see(name, partition, reach, recorded):
    """Number by number, contact forces among them."""
    look = made(name, partition, compat=True, obsk=reach).setup
    codes = joined(look.data["look"], [role.observation for role in look.roles])
    arrays = codes - codes % PAGE
    arrays[arrays == SLOW], arrays[arrays == TOUCH] = QVEL, CONTACT
    wanted = steps(recorded, name, partition)[f"look{reach}"]
    assert (arrays + codes % PAGE).tolist() == [ARRAYS[code // PAGE - 1] + code % PAGE for code in wanted.tolist()]


def looks(name, level=None, **choices):
    """What each agent sees, as codes."""
    setup = made(name, level, **choices).setup
    return [row[: role.observation].tolist() for row, role in zip(setup.data["look"], setup.roles, strict=True)]


def test_repaired_observations_are_of_the_own_joints():
    first, second = looks("CoupledHalfCheetah")
    assert set(range(QPOS + 3, QPOS + 9)) <= set(first)
    assert not set(range(QPOS + 12, QPOS + 18)) & set(first)
    assert set(range(QPOS + 12, QPOS + 18)) <= set(second)
    model = made("Humanoid").engine.model
    waist = [["abdomen_y"], ["abdomen_x", "abdomen_z", *RIGHT_LEG, *LEFT_LEG, *ARMS]]
    first, _ = looks("Humanoid", partition=waist, obsk=0)
    assert first[0] == QPOS + model.joint("abdomen_y").qposadr[0]
    model = made("ManySegmentAnt", "3x1").engine.model
    agents = looks("ManySegmentAnt", "3x1", obsk=0)
    for segment, seen in enumerate(agents):
        for joint in ("hip1", "ankle1", "hip2", "ankle2"):
            assert QPOS + model.joint(f"{joint}_{segment}").qposadr[0] in seen
            assert QVEL + model.joint(f"{joint}_{segment}").dofadr[0] in seen
    near = looks("ManySegmentAnt", "3x1", obsk=1)
    hips = [[QPOS + model.joint(f"hip{leg}_{i}").qposadr[0] for leg in (1, 2)] for i in range(3)]
    assert set(hips[0] + hips[2]) <= set(near[1])
    assert not set(hips[2]) & set(near[0])


RIGHT_LEG, LEFT_LEG = (
    [f"{side}_{joint}" for joint in ("hip_x", "hip_y", "hip_z", "knee")] for side in ("right", "left")
)
ARMS = [f"{side}_{joint}" for side in ("right", "left") for joint in ("shoulder1", "shoulder2", "elbow")]


NAMES = {  # of joints in models, where they differ from MaMuJoCo's
    "Ant": lambda joint: f"{joint[:-1]}_{joint[-1]}",
    "Swimmer": {"rot2": "motor1_rot", "rot3": "motor2_rot"}.get,
    "CoupledHalfCheetah": lambda joint: ("", "second ")[int(joint[-1])] + joint[:-1],
}


@pytest.mark.parametrize("name", IDS)
def test_motors_move_the_joints_that_are_named(name):
    joints = [joint for agent in agents_of(name) for joint in agent]
    batch = made(name, partition=[[joint] for joint in joints])
    motors = batch.setup.data["motors"][:, 0]
    model = batch.engine.model
    moved = [model.joint(int(model.actuator_trnid[motor, 0])).name for motor in motors]
    assert moved == [NAMES.get(name, str)(joint) for joint in joints]
    assert sorted(motors) == list(range(model.nu))


def agents_of(name):
    """The joints of each agent, usually."""
    shared = getattr(team, SHARED[name])
    return parts_of(shared.body(shared.partition, False), shared.partition)


SHARED = {
    "Walker2d": "WALKER",
    "Hopper": "HOPPER",
    "HalfCheetah": "HALF_CHEETAH",
    "Ant": "ANT",
    "Humanoid": "HUMANOID",
    "Swimmer": "SWIMMER",
    "CoupledHalfCheetah": "CHEETAHS",
    "ManySegmentSwimmer": "LONG_SWIMMER",
    "ManySegmentAnt": "LONG_ANT",
}


def test_partitions_that_cannot_be_are_refused():
    right, left = ["thigh_joint", "leg_joint", "foot_joint"], ["thigh_left_joint", "leg_left_joint", "foot_left_joint"]
    assert made("Walker2d", partition=[right[:1], right[1:], left]).setup.agents == 3
    for partition, said in (
        ([right, left[:2]], "no agent has 'foot_left_joint'"),
        ([right, [*left, "leg_joint"]], "joint 'leg_joint' is given twice, to agents 0 and 1"),
        ([right, left, []], "agent 2 has no joint"),
        ([right, [*left, "tail"]], "there is no joint 'tail'; there are thigh_joint, leg_joint, "),
        ("4x2", "partition='4x2' is not one of '2x3'; or give the names"),
        (7, "partition=7"),
    ):
        with pytest.raises(ParameterError, match=said):
            made("Walker2d", partition=partition)
    for partition in ("0x3", "2", "201x1", "1x1", "x"):
        with pytest.raises(ParameterError, match="must be agents x segments of each"):
            made("ManySegmentSwimmer", partition=partition)
    with pytest.raises(ParameterError, match="no agent has 'ankle2_0'"):
        made("ManySegmentAnt", partition=[["hip1_0", "ankle1_0", "hip2_0"]])


def test_a_swimmer_has_as_many_joints_as_are_named():
    batch = made("ManySegmentSwimmer", partition=[["rot0", "rot3"], ["rot1"], ["rot2"]])
    assert batch.engine.model.nu == 4
    assert [role.action for role in batch.setup.roles] == [2, 1, 1]
    assert made("ManySegmentSwimmer", partition="4x3").engine.model.nu == 12
    assert made("ManySegmentAnt", partition="1x4").engine.model.nu == 16


@pytest.mark.parametrize(("name", "partition"), LIMITS)
def test_limits_of_costs_are_safety_gymnasiums(name, partition):
    assert made(name, partition).setup.values.speed_limit == LIMITS[name, partition]


def test_whoever_is_too_fast_has_a_cost():
    for name, backwards in (("HalfCheetah", 1.0), ("Swimmer", 0.0), ("Ant", 1.0)):
        for speed, wanted in ((3.0, 1.0), (-3.0, backwards), (0.0, 0.0)):
            batch = made(name, speed_limit=1.0)
            s = begun(batch)
            s["qvel"][:] = 0.0
            s["qvel"][0] = speed
            batch.sync_from_state(np.arange(1))
            batch.actions[:] = 0.0
            batch.step_inplace()
            assert (batch.costs[0] == wanted).all(), (name, speed)


def test_all_agents_end_when_the_body_falls():
    batch = made("Hopper")
    s = begun(batch)
    s["qpos"][1] = 0.6
    batch.sync_from_state(np.arange(1))
    batch.step_inplace()
    assert batch.terminated[0].all()
    assert (batch.terms[0, 1] == 0.0).all()
    lying = made("Hopper", ends_when_unhealthy=False)
    begun(lying)["qpos"][1] = 0.6
    lying.sync_from_state(np.arange(1))
    lying.step_inplace()
    assert not lying.terminated[0].any()


def test_parameters_reach_the_models():
    for name in IDS:
        usual, own = (made(name, **given).engine.model for given in ({}, {"mass": 2.0, "strength": 0.5}))
        np.testing.assert_allclose(own.body_mass, 2.0 * usual.body_mass)
        assert (own.actuator_gear == 0.5 * usual.actuator_gear).all()
        slippery = made(name, friction=0.5).engine.model
        np.testing.assert_allclose(slippery.pair_friction[:, 0], 0.5 * usual.pair_friction[:, 0])
        assert slippery.opt.density == 0.5 * usual.opt.density
        assert len(usual.pair_friction) or usual.opt.density or name == "Humanoid"


def test_names_of_the_original_are_understood():
    env = rlenvs.parallel_env("MultiAnt-v0", agent_conf="2x4", agent_obsk=0)
    assert env.possible_agents == ["agent_0", "agent_1"]
    with pytest.raises(UnknownKeywordError, match="names of joints for each agent"):
        rlenvs.parallel_env("MultiAnt-v0", agent_factorization={})


@pytest.mark.parametrize(("name", "partition"), [("Hopper", "3x1"), ("Humanoid", "9|8")])
def test_pettingzoos_own_tests(name, partition):
    kit.parallel_api_test(rlenvs.parallel_env(f"{IDS[name]}-v0", level=partition), num_cycles=60)


def test_image_shows_the_bodies():
    for name in ("CoupledHalfCheetah", "ManySegmentSwimmer", "ManySegmentAnt", "Ant"):
        env = rlenvs.parallel_env(f"{IDS[name]}-v0", render_mode="rgb_array")
        env.reset(seed=0)
        assert env.render().std() > 10.0
        env.close()


def test_without_an_expert_the_other_agents_do_nothing():
    env = rlenvs.make("MultiHopper-v0")
    assert env.unwrapped.others == "idle"
    env.reset(seed=0)
    env.step(env.action_space.sample())
    assert (env.unwrapped.batch.actions[0, 1:] == 0.0).all()
    with pytest.raises(ParameterError, match="others='expert' is not one of"):
        rlenvs.make("MultiHopper-v0", others="expert")
