"""HalfCheetah and Ant beside Gymnasium's own, step by step from the same state."""

import importlib.util
import sys
from types import ModuleType

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.core.errors import ParameterError

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")

pytestmark = pytest.mark.filterwarnings("ignore:compiler attribute")

if importlib.util.find_spec("imageio") is None:  # Gymnasium imports it for images, which are not needed here
    sys.modules["imageio"] = ModuleType("imageio")

NAMES = ("HalfCheetah", "Ant")
LIMITS = {"HalfCheetah": 3.2096, "Ant": 2.6222}  # m/s, safety-gymnasium's v1


def ours_and_original(name, seed, **choices):
    ours = gymnasium.make(f"rlenvs/{name}-v0", **choices).unwrapped
    original = gymnasium.make(f"{name}-v5").unwrapped
    ours.reset(seed=seed)
    original.reset(seed=seed)
    copy_state(ours, original)
    return ours, original


def copy_state(ours, original):
    """The original in our state."""
    s = ours.batch.records(0)[1]
    original.set_state(s["qpos"].copy(), s["qvel"].copy())
    original.data.qacc_warmstart[:] = s["warmstart"]


def contacts(original, action):
    """What MuJoCo itself says of contacts at the beginning of the last physics step, in 13 bodies."""
    data = mujoco.MjData(original.model)
    whole = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.zeros(mujoco.mj_stateSize(original.model, whole))
    mujoco.mj_getState(original.model, original.data, state, whole)
    mujoco.mj_setState(original.model, data, state, whole)
    data.ctrl[:] = action
    mujoco.mj_step(original.model, data, 4)
    mujoco.mj_forward(original.model, data)
    mujoco.mj_rnePostConstraint(original.model, data)
    return np.clip(data.cfrc_ext, -1.0, 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_half_cheetah_is_gymnasiums_bit_for_bit(seed):
    ours, original = ours_and_original("HalfCheetah", seed)
    rng = np.random.default_rng(seed)
    for _ in range(200):
        action = rng.uniform(-1.0, 1.0, 6)
        o, r, terminated, truncated, info = ours.step(action)
        expected, reward, ends, _, notes = original.step(action)
        assert o.dtype == expected.dtype
        assert o.tolist() == expected.tolist()
        assert info["reward_forward"] == notes["reward_forward"]
        assert abs(r - reward) < 1e-14  # NumPy adds up the squares in another order
        assert (terminated, truncated) == (ends, False)
        assert info["cost"] == float(notes["x_velocity"] > LIMITS["HalfCheetah"])


@pytest.mark.parametrize("seed", range(2))
def test_ant_is_gymnasiums_but_for_the_time_of_contact_forces(seed):
    """The motion is equal bit for bit. Contact forces are MuJoCo's at the beginning of the last physics step, where the
    original, whose integrator looks ahead four times in a step, reads those of the last look."""
    ours, original = ours_and_original("Ant", seed, ends_when_unhealthy=False)
    rng, touched = np.random.default_rng(seed), 0
    for _ in range(200):
        action = rng.uniform(-1.0, 1.0, 8)
        forces = contacts(original, action)
        o, r, _, _, info = ours.step(action)
        expected, reward, ends, _, notes = original.step(action)
        assert o[:27].tolist() == expected[:27].tolist()
        assert info["reward_forward"] == notes["reward_forward"]
        assert info["reward_healthy"] == notes["reward_survive"] == (not ends)
        np.testing.assert_allclose(0.5 * info["reward_control"], notes["reward_ctrl"], rtol=1e-14)
        np.testing.assert_allclose(o[27:], forces[1:].ravel(), atol=1e-12)
        np.testing.assert_allclose(info["reward_contact"], -np.sum(forces**2), rtol=1e-12)
        assert abs(r - reward) <= abs(5e-4 * info["reward_contact"] - notes["reward_contact"]) + 1e-14
        assert info["cost"] == float(np.hypot(notes["x_velocity"], notes["y_velocity"]) > LIMITS["Ant"])
        touched += forces.any()
    assert touched > 10


def test_ant_ends_where_the_original_does():
    for seed in range(20):
        ours, original = ours_and_original("Ant", seed)
        rng = np.random.default_rng(seed)
        for _ in range(200):
            action = rng.uniform(-1.0, 1.0, 8)
            *_, ended, _, info = ours.step(action)
            assert ended == original.step(action)[2] == (info["reward_healthy"] == 0.0)
            if ended:
                return
    pytest.fail("no ant fell")


@pytest.mark.parametrize(("name", "positions", "velocities"), [("HalfCheetah", 9, 9), ("Ant", 15, 14)])
def test_starts_are_gymnasiums(name, positions, velocities):
    envs = rlenvs.make_vec(f"{name}-v0", 400)
    envs.reset(seed=0)
    s = envs.batch.states
    first = gymnasium.make(f"{name}-v5").unwrapped.init_qpos
    off = s["qpos"] - first
    assert off.shape == (400, positions)
    if name == "Ant":  # MuJoCo makes quaternions of unit length
        assert abs(off[:, [0, 1, 2, *range(7, 15)]]).max() <= 0.1
    else:
        assert abs(off).max() <= 0.1
        assert off.std() == pytest.approx(0.2 / np.sqrt(12), rel=0.03)
    assert s["qvel"].shape == (400, velocities)
    assert s["qvel"].std() == pytest.approx(0.1, rel=0.03)


@pytest.mark.parametrize("name", NAMES)
def test_numbers(name):
    env = gymnasium.make(f"rlenvs/{name}-v0").unwrapped
    setup, original = env.batch.setup, gymnasium.make(f"{name}-v5").unwrapped
    assert env.batch.world.params["speed_limit"].default == LIMITS[name]
    assert env.batch.world.costs["velocity"].limit == 25.0
    assert setup.horizon == gymnasium.spec(f"{name}-v5").max_episode_steps == 1000
    assert setup.fps == pytest.approx(1.0 / original.dt)
    assert env.observation_space == original.observation_space
    assert env.action_space == original.action_space
    scaled = gymnasium.make(f"rlenvs/{name}-v0", scaled=True)
    seen, plain = scaled.reset(seed=0)[0], env.reset(seed=0)[0]
    assert scaled.observation_space.is_bounded()
    assert seen.dtype == np.float32
    assert seen.tolist() == plain.astype(np.float32).tolist()
    weights = {"HalfCheetah": [1.0, 0.1], "Ant": [1.0, 1.0, 0.5, 5e-4]}[name]
    assert setup.weights.tolist() == weights
    assert (original._forward_reward_weight, original._ctrl_cost_weight) == (
        1.0,
        weights[-1 if name == NAMES[0] else 2],
    )


@pytest.mark.parametrize("name", NAMES)
def test_parameters_reach_the_model(name):
    usual = gymnasium.make(f"rlenvs/{name}-v0").unwrapped.batch.engine.model
    heavy = {"mass": 28.0} if name == "HalfCheetah" else {"density": 10.0}
    own = gymnasium.make(
        f"rlenvs/{name}-v0", gravity=5.0, strength=0.5, friction=0.7, **heavy
    ).unwrapped.batch.engine.model
    assert own.body_mass.sum() == pytest.approx(2.0 * usual.body_mass.sum())
    assert own.opt.gravity.tolist() == [0.0, 0.0, -5.0]
    assert (own.actuator_gear == 0.5 * usual.actuator_gear).all()
    assert (own.geom_friction[:, 0] == 0.7).all()
    assert (own.pair_friction[:, :2] == 0.7).all()  # of the contacts
    assert (own.geom_friction[:, 1:] == usual.geom_friction[:, 1:]).all()
    if name == "HalfCheetah":
        assert usual.body_mass.sum() == pytest.approx(14.0)


def test_no_healthy_height_is_refused():
    with pytest.raises(ParameterError, match=r"lowest=0\.5 m, highest=0\.5 m"):
        gymnasium.make("rlenvs/Ant-v0", lowest=0.5, highest=0.5)


@pytest.mark.parametrize("name", NAMES)
def test_image_shows_the_robot(name):
    env = gymnasium.make(f"rlenvs/{name}-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().std() > 10.0
    env.close()
