"""Robots beside Gymnasium's own, step by step from the same state, and beside steps recorded from MO-Gymnasium."""

import math
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from support import without_imageio  # noqa: F401 (for Gymnasium)

import rlenvs
from rlenvs.core.declare.errors import ParameterError

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")

pytestmark = pytest.mark.filterwarnings("ignore:compiler attribute")


LIMITS = {  # m/s, safety-gymnasium's v1
    "HalfCheetah": 3.2096,
    "Ant": 2.6222,
    "Hopper": 0.7402,
    "Walker2d": 2.3415,
    "Swimmer": 0.2282,
    "Humanoid": 1.4149,
}
NAMES = tuple(LIMITS)
WEIGHTS = {
    "HalfCheetah": {"forward": 1.0, "control": 0.1},
    "Ant": {"forward": 1.0, "healthy": 1.0, "control": 0.5, "contact": 5e-4},
    "Hopper": {"forward": 1.0, "healthy": 1.0, "control": 1e-3},
    "Walker2d": {"forward": 1.0, "healthy": 1.0, "control": 1e-3},
    "Swimmer": {"forward": 1.0, "control": 1e-4},
    "Humanoid": {"forward": 1.25, "healthy": 5.0, "control": 0.1, "contact": 5e-7},
}
DATA = Path(__file__).parent.parent / "data"


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


def forces(original, action):
    """What MuJoCo itself says of contacts at the beginning of the last physics step, by body."""
    data = mujoco.MjData(original.model)
    whole = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.zeros(mujoco.mj_stateSize(original.model, whole))
    mujoco.mj_getState(original.model, original.data, state, whole)
    mujoco.mj_setState(original.model, data, state, whole)
    data.ctrl[:] = action
    mujoco.mj_step(original.model, data, 4)  # one less than a control step
    mujoco.mj_forward(original.model, data)
    mujoco.mj_rnePostConstraint(original.model, data)
    return data.cfrc_ext.copy()


def contacts(original, action):
    """The same in the bounds of the ant."""
    return np.clip(forces(original, action), -1.0, 1.0)


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


@pytest.mark.parametrize("name", ["Hopper", "Walker2d", "Swimmer"])
@pytest.mark.parametrize("seed", range(2))
def test_planar_robots_are_gymnasiums_bit_for_bit(name, seed):
    """On the ground too, where parts of the hopper touch each other."""
    anyhow = {} if name == "Swimmer" else {"ends_when_unhealthy": False}
    ours, original = ours_and_original(name, seed, **anyhow)
    rng, unhealthy = np.random.default_rng(seed), 0
    for _ in range(250):
        action = rng.uniform(-1.0, 1.0, ours.action_space.shape)
        o, r, terminated, truncated, info = ours.step(action)
        expected, reward, ends, _, notes = original.step(action)
        assert o.dtype == expected.dtype
        assert o.tolist() == expected.tolist()
        assert info["reward_forward"] == notes["x_velocity"] == notes["reward_forward"]
        np.testing.assert_allclose(WEIGHTS[name]["control"] * info["reward_control"], notes["reward_ctrl"], rtol=1e-14)
        assert info.get("reward_healthy") == notes.get("reward_survive")
        assert abs(r - reward) < 1e-12
        assert abs(sum(w * info[f"reward_{term}"] for term, w in WEIGHTS[name].items()) - reward) < 1e-12
        assert (terminated, truncated) == (False, False)
        assert info["cost"] == float(notes["x_velocity"] > LIMITS[name])
        unhealthy += ends
    assert unhealthy > 20 or name == "Swimmer"


@pytest.mark.parametrize("seed", range(2))
def test_humanoid_is_gymnasiums_but_for_the_time_of_contact_forces(seed):
    """As for the ant. All else that it observes, inertias and torques too, is equal bit for bit."""
    ours, original = ours_and_original("Humanoid", seed, ends_when_unhealthy=False)
    rng, touched = np.random.default_rng(seed), 0
    for _ in range(120):
        action = rng.uniform(-0.4, 0.4, 17)
        pressed = forces(original, action)
        o, r, _, _, info = ours.step(action)
        expected, reward, ends, _, notes = original.step(action)
        assert o[:-78].tolist() == expected[:-78].tolist()
        np.testing.assert_allclose(o[-78:], pressed[1:].ravel(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(info["reward_forward"], notes["x_velocity"], atol=1e-12)
        assert 5.0 * info["reward_healthy"] == notes["reward_survive"] == 5.0 * (not ends)
        np.testing.assert_allclose(0.1 * info["reward_control"], notes["reward_ctrl"], rtol=1e-14)
        np.testing.assert_allclose(info["reward_contact"], -min(np.sum(pressed**2), 2e7), rtol=1e-9)
        assert abs(r - 5e-7 * info["reward_contact"] - (reward - notes["reward_contact"])) < 1e-12
        assert info["cost"] == float(np.hypot(notes["x_velocity"], notes["y_velocity"]) > LIMITS["Humanoid"])
        touched += pressed.any()
    assert touched > 10


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


@pytest.mark.parametrize("name", ["Ant", "Hopper", "Walker2d", "Humanoid"])
def test_robots_end_where_the_originals_do(name):
    for seed in range(20):
        ours, original = ours_and_original(name, seed)
        rng, most = np.random.default_rng(seed), ours.action_space.high[0]
        for _ in range(200):
            action = rng.uniform(-most, most, ours.action_space.shape)
            *_, ended, _, info = ours.step(action)
            assert ended == original.step(action)[2] == (info["reward_healthy"] == 0.0)
            if ended:
                return
    pytest.fail("none fell")


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


@pytest.mark.parametrize(
    ("name", "noise"), [("Hopper", 0.005), ("Walker2d", 0.005), ("Swimmer", 0.1), ("Humanoid", 0.01)]
)
def test_starts_of_the_others_are_gymnasiums(name, noise):
    envs = rlenvs.make_vec(f"{name}-v0", 400)
    envs.reset(seed=0)
    s, original = envs.batch.states, gymnasium.make(f"{name}-v5").unwrapped
    assert original._reset_noise_scale == noise
    turned = [3, 4, 5, 6] if name == "Humanoid" else []  # MuJoCo makes quaternions of unit length
    off = np.delete(s["qpos"] - original.init_qpos, turned, axis=1)
    for numbers in (off, s["qvel"]):
        assert abs(numbers).max() <= noise
        assert numbers.std() == pytest.approx(2.0 * noise / np.sqrt(12), rel=0.03)
        assert (abs(numbers.mean(axis=0)) < 0.15 * noise).all()


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
    assert dict(zip(setup.world.terms, setup.weights.tolist(), strict=True)) == WEIGHTS[name]
    assert original._forward_reward_weight == WEIGHTS[name]["forward"]
    assert original._ctrl_cost_weight == WEIGHTS[name]["control"]
    assert getattr(original, "_contact_cost_weight", None) == WEIGHTS[name].get("contact")
    assert getattr(original, "_healthy_reward", None) == WEIGHTS[name].get("healthy")


@pytest.mark.parametrize("name", ["HalfCheetah", "Ant"])
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


def models(name, **choices):
    usual, own = (gymnasium.make(f"rlenvs/{name}-v0", **given).unwrapped.batch.engine.model for given in ({}, choices))
    assert usual.body_mass.sum() == pytest.approx(gymnasium.make(f"{name}-v5").unwrapped.model.body_mass.sum())
    return usual, own


@pytest.mark.parametrize(("name", "foot"), [("Hopper", 2.0), ("Walker2d", 1.9), ("Humanoid", 1.0)])
def test_parameters_of_standing_robots_reach_the_model(name, foot):
    usual, own = models(name, gravity=5.0, strength=0.5, friction=0.5 * foot, density=2000.0, damping=2.0)
    np.testing.assert_allclose(own.body_mass, 2.0 * usual.body_mass)
    np.testing.assert_allclose(own.body_inertia, 2.0 * usual.body_inertia)
    assert own.opt.gravity.tolist() == [0.0, 0.0, -5.0]
    assert (own.actuator_gear == 0.5 * usual.actuator_gear).all()
    assert (own.geom_friction[:, 0] == 0.5 * usual.geom_friction[:, 0]).all()
    assert (own.pair_friction[:, :2] == 0.5 * usual.pair_friction[:, :2]).all()  # of the contacts
    assert usual.geom_friction[:, 0].max() == foot
    assert (own.dof_damping == 2.0 * usual.dof_damping).all()
    assert own.dof_damping.any()


def test_parameters_of_the_swimmer_reach_the_model():
    usual, own = models("Swimmer", strength=0.5, density=2000.0, fluid=2000.0, viscosity=0.7, damping=3.0)
    np.testing.assert_allclose(own.body_mass, 2.0 * usual.body_mass)
    assert (usual.opt.density, usual.opt.viscosity) == (4000.0, 0.1)
    assert (own.opt.density, own.opt.viscosity) == (2000.0, 0.7)
    assert (own.actuator_gear == 0.5 * usual.actuator_gear).all()
    assert own.dof_damping.tolist() == [0.0, 0.0, 0.0, 3.0, 3.0]
    assert not usual.dof_damping.any()


MASSES = [
    ("Hopper", "torso", 3.6652),
    ("Hopper", "thigh", 4.0579),
    ("Walker2d", "torso", 3.6652),
    ("Walker2d", "thigh", 4.0579),
    ("Humanoid", "torso", 8.9075),
    ("Humanoid", "right_foot", 1.7671),
    ("Humanoid", "left_thigh", 4.7518),
]


@pytest.mark.parametrize(("name", "body", "nominal"), MASSES)
def test_a_mass_of_its_own_reaches_a_single_body(name, body, nominal):
    usual, own = models(name, **{f"{body}_mass": 2.5})
    heavier = [i for i in range(usual.nbody) if own.body_mass[i] != usual.body_mass[i]]
    assert heavier == [mujoco.mj_name2id(usual, mujoco.mjtObj.mjOBJ_BODY, body)]
    assert usual.body_mass[heavier[0]] == pytest.approx(nominal, abs=5e-5)
    assert own.body_mass[heavier[0]] == pytest.approx(2.5)
    times = 2.5 / usual.body_mass[heavier[0]]
    np.testing.assert_allclose(own.body_inertia[heavier[0]], times * usual.body_inertia[heavier[0]])


def test_a_hopper_has_numbers_below_100_while_healthy():
    ours, original = ours_and_original("Hopper", 0)
    s = ours.batch.records(0)[1]
    for field, j, value in (("qvel", 3, 99.0), ("qvel", 3, 105.0), ("qpos", 2, 0.21), ("qpos", 1, 0.69)):
        ours.reset(seed=0)
        s[field][j] = value
        copy_state(ours, original)
        *_, ended, _, info = ours.step(np.zeros(3))
        assert ended == original.step(np.zeros(3))[2]
        assert ended == (info["reward_healthy"] == 0.0)


@pytest.mark.parametrize("name", [*NAMES, "TwoLinkReacher"])
def test_what_mujoco_cannot_move_ends_truncated(name):
    batch = rlenvs.make_batch(f"{name}-v0", 3)
    batch.seed(range(3))
    batch.reset()
    batch.states["qvel"][1] = 1e200
    batch.step_inplace()
    assert batch.broken.tolist() == [False, True, False]
    assert "MuJoCo" in batch.errors[1]
    assert np.isfinite(batch.observations).all()
    assert np.isfinite(batch.rewards).all()


# --- vectors of MO-Gymnasium ------------------------------------------------------------------------------------------

VECTORS = {  # recorded under this name: our world, its level, the weights that MO-Gymnasium gives
    "HalfCheetah": ("HalfCheetah", None, (1.0, 0.1)),
    "Hopper": ("Hopper", "mo-gymnasium", (1.0, 0.0, 1e-3)),
    "Hopper2": ("Hopper", "mo-gymnasium-2obj", None),
    "Walker2d": ("Walker2d", "mo-gymnasium", (1.0, 1e-3)),
    "Ant": ("Ant", "mo-gymnasium", None),
    "Ant2": ("Ant", "mo-gymnasium-2obj", (1.0, 0.0)),
    "Swimmer": ("Swimmer", None, (1.0, 1e-4)),
    "Humanoid": ("Humanoid", "mo-gymnasium", (1.25, 0.1)),
}


@pytest.fixture(scope="module")
def recorded():
    with np.load(DATA / "mo_gymnasium_mujoco.npz") as file:
        return dict(file)


@pytest.fixture(scope="module")
def near(recorded):
    """How near steps are to those recorded: rounding, with the same MuJoCo."""
    assert "mo-gymnasium 1.3.2" in recorded["versions"]
    return 1e-9 if f"mujoco {mujoco.__version__}" in recorded["versions"] else 1e-4


def put(ours, of, i):
    """Our world in a recorded state."""
    ours.reset(seed=0)
    s = ours.batch.records(0)[1]
    for ours_name in ("qpos", "qvel", "warmstart"):
        s[ours_name][:] = of[ours_name][i][: len(s[ours_name])]
    for axis, place in zip("xy", of["place"][i], strict=True):
        if axis in s.dtype.names:
            s[axis] = place
    return s


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_are_mo_gymnasiums(name, recorded, near):
    """Contact rewards differ by the time of the forces, and are compared apart."""
    world, level, weights = VECTORS[name]
    of = {key.removeprefix(f"{name}_"): value for key, value in recorded.items() if key.startswith(f"{name}_")}
    choices = {"level": level} if level else {}
    ours, plain = (
        gymnasium.make(f"rlenvs/{kind}{world}-v0", **given).unwrapped for kind, given in (("mo-", choices), ("", {}))
    )
    setup = ours.batch.setup
    if weights:
        assert tuple(setup.weights) == weights
    for i, action in enumerate(of["action"]):
        put(plain, of, i)
        contact = WEIGHTS[world].get("contact", 0.0) * plain.step(action)[-1].get("reward_contact", 0.0)
        put(ours, of, i)
        _, vector, terminated, _, info = ours.step(action)
        exact = np.array([info[f"reward_{term}"] for term in setup.world.terms])
        wanted = of["precise"][i] - of["contact"][i]
        np.testing.assert_allclose(exact - contact, wanted, rtol=near, atol=near)
        if not of["contact"][i] and not contact:  # what the package gives has been rounded, up to twice
            np.testing.assert_allclose(vector, of["vector"][i], rtol=2e-7 + near, atol=2e-7)
        assert vector.dtype == of["vector"].dtype == np.float32
        assert terminated == of["ended"][i]
    assert (np.ptp(of["vector"], axis=0) > 0.1).all()


@pytest.mark.parametrize("name", VECTORS)
def test_what_the_weights_make_of_vectors(name):
    """Gymnasium's reward, and as often too much of what all objectives have as the weights' sum says."""
    world, level, _ = VECTORS[name]
    ours, original = ours_and_original(world, 0, **({"level": level} if level else {}))
    weights, rng = ours.batch.setup.weights, np.random.default_rng(0)
    surplus = {"Hopper": 1e-3, "Walker2d": 1e-3, "Ant": 0.5, "Humanoid": 0.35}.get(name, 0.0)
    for _ in range(15):
        action = rng.uniform(-1.0, 1.0, ours.action_space.shape) * ours.action_space.high
        pressed = forces(original, action) if world in ("Ant", "Humanoid") else np.zeros(1)
        _, r, _, _, info = ours.step(action)
        _, reward, _, _, notes = original.step(action)
        sum_of_squares = np.sum(np.clip(pressed, -1.0, 1.0) ** 2) if world == "Ant" else min(np.sum(pressed**2), 2e7)
        contact = -WEIGHTS[world].get("contact", 0.0) * sum_of_squares
        common = notes.get("reward_survive", 0.0) + contact
        assert abs(r - (reward - notes.get("reward_contact", 0.0) + contact) - surplus * common) < 1e-10
        assert r == pytest.approx(weights @ [info[f"reward_{term}"] for term in ours.batch.world.terms], abs=1e-12)


def test_levels_of_vectors_have_spaces_without_bounds():
    for id, level, terms in (
        ("Hopper", "mo-gymnasium", ["forward", "height", "control"]),
        ("Hopper", "mo-gymnasium-2obj", ["forward", "height"]),
        ("Walker2d", "mo-gymnasium", ["forward", "control"]),
        ("Ant", "mo-gymnasium", ["forward", "sideways", "control"]),
        ("Ant", "mo-gymnasium-2obj", ["forward", "sideways"]),
        ("Humanoid", "mo-gymnasium", ["forward", "control"]),
        ("HalfCheetah", None, ["forward", "control"]),
        ("Swimmer", None, ["forward", "control"]),
    ):
        env = gymnasium.make(f"rlenvs/mo-{id}-v0", level=level).unwrapped
        assert list(env.batch.world.terms) == terms
        assert env.reward_space == gymnasium.spaces.Box(-np.inf, np.inf, (len(terms),))
        assert gymnasium.make(f"rlenvs/mo-{id}-v0", level=level, scaled=True).unwrapped.reward_space.is_bounded()


# --- the reacher ------------------------------------------------------------------------------------------------------


def test_reacher_is_mo_gymnasiums(recorded, near):
    of = {key.removeprefix("TwoLinkReacher_"): value for key, value in recorded.items() if key.startswith("TwoLink")}
    ours = gymnasium.make("rlenvs/mo-TwoLinkReacher-v0", compat=True).unwrapped
    assert ours.action_space == gymnasium.spaces.Discrete(9)
    assert ours.observation_space == gymnasium.spaces.Box(-np.inf, np.inf, (6,), np.float64)
    assert ours.reward_space == gymnasium.spaces.Box(-1.0, 1.0, (4,))
    assert ours.batch.setup.horizon == 50
    for i, action in enumerate(of["action"]):
        s = put(ours, of, i)
        s["xpos"][3, :2] = of["place"][i]
        o, vector, _, _, info = ours.step(int(action))
        exact = [info[f"reward_{side}"] for side in ("east", "west", "north", "south")]
        np.testing.assert_allclose(exact, of["precise"][i], rtol=near, atol=near)
        assert vector.tolist() == pytest.approx(of["vector"][i].tolist(), abs=1e-7)
        np.testing.assert_allclose(o, of["observation"][i], rtol=near, atol=near)
    assert len(set(of["action"].tolist())) == 9


def test_reacher_pays_for_where_the_tip_is():
    late, early = (gymnasium.make("rlenvs/mo-TwoLinkReacher-v0", compat=way).unwrapped for way in (False, True))
    first, _ = late.reset(seed=3)
    assert first.tolist() == early.reset(seed=3)[0].tolist()
    np.testing.assert_allclose(first[:4], [1.0, math.cos(3.1415 / 2.0), 0.0, math.sin(3.1415 / 2.0)], atol=1e-15)
    assert (abs(first[4:]) <= 0.0005).all()
    before = [1.0 - 4.0 * math.dist((0.1, 0.11), place) for place in ((0.14, 0), (-0.14, 0), (0, 0.14), (0, -0.14))]
    rng = np.random.default_rng(0)
    for step in range(50):
        action = int(rng.integers(9))
        o, after, *_ = late.step(action)
        _, paid, *_ = early.step(action)
        np.testing.assert_allclose(paid, before, atol=1e-4 if not step else 2e-2)  # the integrator is a stage behind
        cosines, sines = o[:2], o[2:4]
        x = 0.1 * cosines[0] + 0.11 * (cosines[0] * cosines[1] - sines[0] * sines[1])
        y = 0.1 * sines[0] + 0.11 * (sines[0] * cosines[1] + cosines[0] * sines[1])
        before = [1.0 - 4.0 * math.dist((x, y), place) for place in ((0.14, 0), (-0.14, 0), (0, 0.14), (0, -0.14))]
        np.testing.assert_allclose(after, before, atol=1e-6)


def test_pushes_of_the_reacher():
    ours = gymnasium.make("rlenvs/TwoLinkReacher-v0").unwrapped
    model = ours.batch.engine.model
    assert model.actuator_gear[:, 0].tolist() == [200.0, 200.0]
    for action in range(9):
        ours.reset(seed=0)
        ours.step(action)
        assert ours.batch.records(0)[1]["ctrl"].tolist() == [action // 3 - 1.0, action % 3 - 1.0]
    ours.reset(seed=0)
    ours.step(4)
    assert abs(ours.batch.records(0)[1]["qvel"]).max() < 0.006
    strong = gymnasium.make("rlenvs/TwoLinkReacher-v0", strength=0.5, damping=2.0, armature=3.0).unwrapped
    own = strong.batch.engine.model
    assert own.actuator_gear[:, 0].tolist() == [100.0, 100.0]
    assert own.dof_damping.tolist() == [2.0, 2.0]
    assert own.dof_armature.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(("name", "least"), [("Swimmer", 340.0), ("Hopper", 2900.0), ("Walker2d", 3300.0)])
def test_experts_swim_hop_and_walk(name, least):
    assert rlenvs.evaluate(f"{name}-v0", "expert", 4).mean > least


def test_legs_of_a_gait_are_half_a_period_apart():
    """What the right leg does, the left one does half a period later, in a mirrored position."""
    from rlenvs.robotics.locomotion.gaits import NUMBERS, walk
    from rlenvs.robotics.locomotion.walker2d import GAIT

    rng = np.random.default_rng(0)
    position, velocity, now, then = rng.normal(size=9), rng.normal(size=9), np.zeros(6), np.zeros(6)
    walk(GAIT, position, velocity, 0.7, now)
    walk(GAIT, position[MIRRORED], velocity[MIRRORED], 0.7 + np.pi / GAIT[0], then)
    np.testing.assert_allclose(now, np.roll(then, 3), atol=1e-12)
    assert len(GAIT) == NUMBERS
    assert np.abs(now).max() <= 1.0
    one = np.zeros(6)
    walk(GAIT, np.zeros(9), np.zeros(9), 0.0, one)  # by hand: height 0 is 1.2 m too low, cosine 1, sine 0
    thigh = GAIT[6] * (GAIT[1] + GAIT[3] + GAIT[5]) - 1.2 * GAIT[11]
    assert one[0] == pytest.approx(np.clip(thigh, -1.0, 1.0))


MIRRORED = [0, 1, 2, 6, 7, 8, 3, 4, 5]


def test_expert_of_the_reacher_is_near_the_bound():
    found = rlenvs.evaluate("TwoLinkReacher-v0", "expert", 20)
    assert 20.0 < found.mean < 22.0


@pytest.mark.parametrize(("name", "height"), [("Ant", 0.5), ("Walker2d", 1.2)])
def test_no_healthy_height_is_refused(name, height):
    with pytest.raises(ParameterError, match=f"lowest={height} m, highest={height} m"):
        gymnasium.make(f"rlenvs/{name}-v0", lowest=height, highest=height)
    gymnasium.make(f"rlenvs/{name}-v0", lowest=height - 0.1, highest=height).close()


@pytest.mark.parametrize("name", [*NAMES, "TwoLinkReacher"])
def test_image_shows_the_robot(name):
    env = gymnasium.make(f"rlenvs/{name}-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().std() > 10.0
    env.close()
