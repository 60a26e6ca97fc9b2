"""Pendulums, arms and the humanoid that gets up, beside Gymnasium's own, step by step from the same state."""

import math

import gymnasium
import numpy as np
import pytest
from support import without_imageio  # noqa: F401 (for Gymnasium)

import rlenvs
from rlenvs.core.declare.errors import ParameterError

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")

pytestmark = pytest.mark.filterwarnings("ignore:compiler attribute")

TERMS = {  # by our name: what Gymnasium calls it, and the weight
    "InvertedPendulum": {"healthy": ("reward_survive", 1.0)},
    "InvertedDoublePendulum": {
        "healthy": ("reward_survive", 10.0),
        "place": ("distance_penalty", 1.0),
        "speed": ("velocity_penalty", 1.0),
    },
    "Reacher": {"distance": ("reward_dist", 1.0), "control": ("reward_ctrl", 1.0)},
    "Pusher": {"distance": ("reward_dist", 1.0), "near": ("reward_near", 0.5), "control": ("reward_ctrl", 0.1)},
    "HumanoidStandup": {"height": ("reward_linup", 1.0), "control": ("reward_quadctrl", 0.1)},
}
NAMES = tuple(TERMS)
WALKERS = ("HalfCheetah", "Hopper", "Walker2d", "Swimmer", "Ant", "Humanoid")
ULP = 2.3e-16  # of sines and cosines, which are NumPy's there and the package's own here
CONTACTS = {"Ant": 78, "Humanoid": 78, "HumanoidStandup": 78}  # numbers at the end of observations, see below


def pair(name, **choices):
    ours = gymnasium.make(f"rlenvs/{name}-v0", **choices).unwrapped
    return ours, gymnasium.make(f"{name}-v5").unwrapped


def begin(ours, original, seed=None):
    """Both in the state of ours."""
    ours.reset(seed=seed)
    original.reset()
    s = ours.batch.records(0)[1]
    original.set_state(s["qpos"].copy(), s["qvel"].copy())
    original.data.qacc_warmstart[:] = s["warmstart"]


def differences(name, seed, steps):
    """The largest ones over so many random steps: of observations, of rewards, and of the terms that Gymnasium tells.

    Contact forces are left out: those here are of the beginning of the last physics step.
    """
    anyhow = {"ends_when_unhealthy": False} if name in ("Hopper", "Walker2d", "Ant", "Humanoid") else {}
    ours, original = pair(name, horizon=steps + 1, **anyhow)
    begin(ours, original, seed)
    rng, worst, kept = np.random.default_rng(seed), np.zeros(3), slice(0, -CONTACTS.get(name, 0) or None)
    weight = ours.batch.setup.world.terms["contact"].weight if name in CONTACTS else 0.0
    for _ in range(steps):
        action = rng.uniform(original.action_space.low, original.action_space.high)
        o, r, ended, _, info = ours.step(action)
        expected, reward, ends, _, notes = original.step(action)
        told = notes.get("reward_contact", notes.get("reward_impact", 0.0)), info.get("reward_contact", 0.0)
        terms = [
            abs(weighty * info[f"reward_{term}"] - notes[theirs])
            for term, (theirs, weighty) in TERMS.get(name, {}).items()
        ]
        off = abs(o[kept] - expected[kept]).max(), abs(r - weight * told[1] - (reward - told[0])), max(terms, default=0)
        worst = np.maximum(worst, off)
        assert o.dtype == expected.dtype
        assert anyhow or ended == ends
        if ended:
            begin(ours, original)
    return worst


@pytest.mark.parametrize("name", NAMES)
def test_machines_are_gymnasiums_bit_for_bit(name):
    observed, reward, terms = differences(name, 0, 150)
    assert observed <= (ULP if name in ("InvertedDoublePendulum", "Reacher") else 0.0)
    assert max(reward, terms) <= (1e-11 if name == "HumanoidStandup" else 1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *WALKERS])
def test_a_thousand_steps_of_twenty_seeds(name):
    found = np.max([differences(name, seed, 1000) for seed in range(20)], axis=0)
    print(name, found.tolist())
    assert found[0] <= (ULP if name in ("InvertedDoublePendulum", "Reacher") else 0.0)
    assert found[1] <= (1e-10 if name in CONTACTS else 1e-12)


def test_contact_forces_of_standing_up_are_mujocos_at_the_beginning_of_the_last_physics_step():
    ours, original = pair("HumanoidStandup")
    begin(ours, original, 3)
    rng, touched, data = np.random.default_rng(3), 0, mujoco.MjData(original.model)
    whole = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.zeros(mujoco.mj_stateSize(original.model, whole))
    for _ in range(40):
        action = rng.uniform(-0.4, 0.4, 17)
        mujoco.mj_getState(original.model, original.data, state, whole)
        mujoco.mj_setState(original.model, data, state, whole)
        data.ctrl[:] = action
        mujoco.mj_step(original.model, data, 4)
        mujoco.mj_forward(original.model, data)
        mujoco.mj_rnePostConstraint(original.model, data)
        o, *_, info = ours.step(action)
        original.step(action)
        np.testing.assert_allclose(o[-78:], data.cfrc_ext[1:].ravel(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(info["reward_contact"], -min(np.sum(data.cfrc_ext**2), 2e7), rtol=1e-9)
        touched += data.cfrc_ext.any()
    assert touched > 10


@pytest.mark.parametrize("name", NAMES)
def test_numbers(name):
    ours, original = pair(name)
    setup, known = ours.batch.setup, gymnasium.spec(f"{name}-v5")
    assert setup.horizon == known.max_episode_steps
    assert setup.world.reward_threshold == known.reward_threshold
    assert setup.fps == pytest.approx(1.0 / original.dt)
    assert ours.observation_space == original.observation_space
    assert ours.action_space == original.action_space
    assert ours.frame_skip == original.frame_skip
    weights = dict(zip(setup.world.terms, setup.weights.tolist(), strict=True))
    assert {term: weights[term] for term in TERMS[name]} == {term: weight for term, (_, weight) in TERMS[name].items()}
    assert set(weights) - set(TERMS[name]) == ({"alive", "contact"} if name == "HumanoidStandup" else set())
    scaled = gymnasium.make(f"rlenvs/{name}-v0", scaled=True)
    assert scaled.observation_space.is_bounded()
    assert scaled.action_space == gymnasium.spaces.Box(-1.0, 1.0, original.action_space.shape)


def starts(name, count=400):
    envs = rlenvs.make_vec(f"{name}-v0", count)
    envs.reset(seed=0)
    return envs.batch.states


@pytest.mark.parametrize(
    ("name", "noise", "normal"),
    [("InvertedPendulum", 0.01, False), ("InvertedDoublePendulum", 0.1, True), ("HumanoidStandup", 0.01, False)],
)
def test_starts_are_gymnasiums(name, noise, normal):
    s, original = starts(name), gymnasium.make(f"{name}-v5").unwrapped
    assert original._reset_noise_scale == noise
    turned = [3, 4, 5, 6] if name == "HumanoidStandup" else []  # MuJoCo makes quaternions of unit length
    off = np.delete(s["qpos"] - original.init_qpos, turned, axis=1)
    assert abs(off).max() <= noise
    assert off.std() == pytest.approx(2.0 * noise / np.sqrt(12), rel=0.05)
    assert s["qvel"].std() == pytest.approx(noise if normal else 2.0 * noise / np.sqrt(12), rel=0.05)


def test_starts_of_the_arms_are_gymnasiums():
    s = starts("Reacher")
    assert abs(s["qpos"][:, :2]).max() <= 0.1
    assert s["qpos"][:, :2].std() == pytest.approx(0.2 / np.sqrt(12), rel=0.05)
    far = np.linalg.norm(s["qpos"][:, 2:], axis=1)
    assert far.max() < 0.2
    assert (far**2).mean() == pytest.approx(0.02, rel=0.05)  # evenly in the disc
    assert (s["qvel"][:, 2:] == 0.0).all()
    s = starts("Pusher")
    y, x = s["qpos"][:, 7], s["qpos"][:, 8]
    assert (np.hypot(x, y) > 0.17).all()
    assert (y >= -0.3).all()
    assert (y <= 0.0).all()
    assert abs(x).max() <= 0.2
    assert y.min() < -0.29
    assert abs(x).max() > 0.19
    assert (s["qpos"][:, [*range(7), 9, 10]] == 0.0).all()
    assert 0.0049 < abs(s["qvel"][:, :7]).max() <= 0.005


MASSES = [
    ("InvertedPendulum", {"cart_mass": 4.0}, {"cart": 4.0}),
    ("InvertedPendulum", {"pole_mass": 9.0}, {"pole": 9.0}),
    ("InvertedDoublePendulum", {"cart_mass": 4.0}, {"cart": 4.0}),
    ("InvertedDoublePendulum", {"pole_mass": 3.0}, {"pole": 3.0, "pole2": 3.0}),
    ("HumanoidStandup", {"torso_mass": 5.0}, {"torso": 5.0}),
    ("HumanoidStandup", {"right_foot_mass": 5.0}, {"right_foot": 5.0}),
    ("HumanoidStandup", {"left_thigh_mass": 3.0}, {"left_thigh": 3.0}),
]


@pytest.mark.parametrize(("name", "choices", "masses"), MASSES)
def test_masses_reach_the_bodies(name, choices, masses):
    usual, own = (gymnasium.make(f"rlenvs/{name}-v0", **given).unwrapped.batch.engine.model for given in ({}, choices))
    for i in range(usual.nbody):
        wanted = masses.get(usual.body(i).name, usual.body_mass[i])
        assert own.body_mass[i] == pytest.approx(wanted)
        if usual.body_mass[i] > 0.0:
            times = wanted / usual.body_mass[i]
            np.testing.assert_allclose(own.body_inertia[i], times * usual.body_inertia[i])


def test_other_parameters_reach_the_models():
    for name in NAMES:
        usual, own = (
            gymnasium.make(f"rlenvs/{name}-v0", **given).unwrapped.batch.engine.model
            for given in ({}, {"strength": 0.5, "damping": 2.0})
        )
        assert (own.actuator_gear == 0.5 * usual.actuator_gear).all()
        arm = slice(0, 7) if name == "Pusher" else slice(0, 2) if name == "Reacher" else slice(None)
        assert (own.dof_damping[arm] == 2.0 * usual.dof_damping[arm]).all()
    heavy = gymnasium.make("rlenvs/Pusher-v0", density=1.0, drag=2.0).unwrapped.batch.engine.model
    assert heavy.body("object").mass[0] == pytest.approx(math.pi * 0.05**2 * 0.1)
    assert heavy.joint("obj_slidex").damping[0] == heavy.joint("obj_slidey").damping[0] == 2.0


@pytest.mark.parametrize(
    ("name", "least"), [("InvertedPendulum", 1000.0), ("InvertedDoublePendulum", 9100.0), ("Reacher", -4.5)]
)
def test_experts_balance_and_reach(name, least):
    assert rlenvs.evaluate(f"{name}-v0", "expert", 10).mean >= least


@pytest.mark.parametrize("name", ["InvertedPendulum", "InvertedDoublePendulum"])
def test_gains_are_those_of_riccatis_equation(name):
    """Of the model, linearized by differences of control steps."""
    from rlenvs.robotics.locomotion import inverted_double_pendulum, inverted_pendulum

    gains = (inverted_pendulum if name == "InvertedPendulum" else inverted_double_pendulum).GAINS
    env = gymnasium.make(f"{name}-v5").unwrapped
    model, data, n = env.model, env.data, env.model.nq

    def after(state, action):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:], data.ctrl[0] = state[:n], state[n:], action
        mujoco.mj_step(model, data, env.frame_skip)
        return np.concatenate([data.qpos, data.qvel])

    near, rest = 1e-5, np.zeros(2 * n)
    a = np.transpose([(after(near * one, 0.0) - after(-near * one, 0.0)) / (2.0 * near) for one in np.eye(2 * n)])
    b = (after(rest, near) - after(rest, -near))[:, None] / (2.0 * near)
    cost = np.diag([1.0] * n + [0.1] * n)
    value = cost
    for _ in range(2000):
        gain = np.linalg.solve(1.0 + b.T @ value @ b, b.T @ value @ a)
        value = cost + a.T @ value @ (a - b @ gain)
    np.testing.assert_allclose(gains, gain[0], atol=0.006)


def test_a_reacher_bends_its_elbow_to_the_nearer_side():
    env = gymnasium.make("rlenvs/Reacher-v0").unwrapped
    for elbow in (0.7, -0.7):
        env.reset(seed=0)
        s = env.batch.records(0)[1]
        s["qpos"][:] = 0.2, elbow, 0.12, 0.09
        s["qvel"][:] = 0.0
        env.sync_from_state()
        for _ in range(50):
            o, *_ = env.step(env.expert_action())
        assert np.hypot(*o[-2:]) < 0.005
        assert np.sign(s["qpos"][1]) == np.sign(elbow)


def test_a_pendulum_ends_where_the_original_does():
    ours, original = pair("InvertedPendulum")
    for angle in (0.19, 0.21, -0.19, -0.21):
        ours.reset(seed=0)
        s = ours.batch.records(0)[1]
        s["qpos"][:], s["qvel"][:], s["warmstart"][:] = (0.0, angle), 0.0, 0.0
        ours.sync_from_state()
        original.reset()
        original.set_state(s["qpos"].copy(), s["qvel"].copy())
        original.data.qacc_warmstart[:] = 0.0
        assert ours.step(np.zeros(1))[2] == original.step(np.zeros(1))[2] == (abs(angle) > 0.2)


def test_keywords_of_the_originals():
    env = gymnasium.make("rlenvs/InvertedDoublePendulum-v0", healthy_reward=3.0, reset_noise_scale=0.02).unwrapped
    assert env.batch.setup.weights[0] == 3.0
    assert env.batch.setup.values.noise == 0.02
    env = gymnasium.make("rlenvs/Pusher-v0", reward_near_weight=0.1, frame_skip=5).unwrapped
    assert dict(zip(env.batch.setup.world.terms, env.batch.setup.weights, strict=True))["near"] == 0.1
    with pytest.raises(ParameterError, match="it has no effect in the original"):
        gymnasium.make("rlenvs/HumanoidStandup-v0", uph_cost_weight=2)


@pytest.mark.parametrize("name", NAMES)
def test_image_shows_the_machine(name):
    env = gymnasium.make(f"rlenvs/{name}-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().std() > 10.0
    env.close()
