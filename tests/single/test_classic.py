"""Classic control beside Gymnasium's own environments: spaces, steps, episodes, contexts; experts; what is new here.

The originals run in the same process. Both sides are put into the same state before a step: two programs that differ
by a rounding error would drift apart by themselves, since poles and double pendulums double an error in a few steps.
"""

import math
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.classic import double_pole
from rlenvs.single.classic.regulator import gains, sampled

ORIGINALS = {
    "CartPole-v0": "CartPole-v1",
    "Pendulum-v0": "Pendulum-v1",
    "MountainCar-v0": "MountainCar-v0",
    "MountainCarContinuous-v0": "MountainCarContinuous-v0",
    "Acrobot-v0": "Acrobot-v1",
}
FIELDS = {
    "CartPole-v0": ("x", "x_dot", "theta", "theta_dot"),
    "Pendulum-v0": ("theta", "theta_dot"),
    "MountainCar-v0": ("x", "v"),
    "MountainCarContinuous-v0": ("x", "v"),
    "Acrobot-v0": ("theta1", "theta2", "dtheta1", "dtheta2"),
}
LARGEST = {  # of random states; the first number of the cars is shifted to the middle of the valley
    "CartPole-v0": (2.4, 3.0, 0.2095, 3.0),
    "Pendulum-v0": (20.0, 8.0),
    "MountainCar-v0": (0.9, 0.07),
    "MountainCarContinuous-v0": (0.9, 0.07),
    "Acrobot-v0": (math.pi, math.pi, 4 * math.pi, 9 * math.pi),
}
ROUNDING = 1e-12
RECORDED = ("states", "actions", "rewards", "length")
# the original computes in float32, whose spacing is 6e-8 at 1
ROUNDED = {"MountainCarContinuous-v0": 1.5e-7}


def original(id):
    env = gymnasium.make(ORIGINALS[id]).unwrapped
    env.reset(seed=0)
    return env


def random_states(id, count, seed=0):
    states = np.random.default_rng(seed).uniform(-1.0, 1.0, (count, len(FIELDS[id]))) * LARGEST[id]
    return states - [0.3, 0.0] if id.startswith("Mountain") else states


def random_actions(space, count, seed=0):
    generator = np.random.default_rng(seed)
    if isinstance(space, gymnasium.spaces.Discrete):
        return generator.integers(0, space.n, count)
    return generator.uniform(space.low, space.high, (count, *space.shape))


def in_states(id, states, **keywords):
    """A batch of worlds in these states."""
    batch = rlenvs.make_batch(id, len(states), **keywords)
    batch.seed(0)
    batch.reset()
    for name, column in zip(FIELDS[id], np.transpose(states), strict=True):
        batch.states[name] = column
    return batch


def state_of(batch, id, i=0):
    return np.array([batch.states[name][i] for name in FIELDS[id]])


def stepped(env, state, action):
    """State, observation, reward and end of the original after one step; float64 wherever it does not round itself."""
    env.state = np.array(state)
    if hasattr(env, "steps_beyond_terminated"):
        env.steps_beyond_terminated = None
    observation, reward, terminated, _, _ = env.step(action)
    return np.array(env.state, np.float64), observation, float(reward), terminated


def compare(id, batch, env, states, actions):
    """One step of all worlds of a batch beside the original, whose observations may leave our space."""
    batch.step(actions)
    space = batch.setup.observation_space
    close = ROUNDED.get(id, ROUNDING)
    for i, (state, action) in enumerate(zip(states, actions, strict=True)):
        after, observation, reward, terminated = stepped(env, state, action)
        np.testing.assert_allclose(state_of(batch, id, i), after, rtol=close, atol=close, err_msg=f"world {i}")
        inside = np.clip(observation, space.low, space.high)
        np.testing.assert_allclose(batch.observations[i, 0], inside, rtol=1.2e-7, atol=1e-7)
        assert batch.rewards[i, 0] == pytest.approx(reward, rel=2e-7, abs=1e-12)  # rewards are float32
        assert sum_of_terms(batch, i) == pytest.approx(reward, rel=1e-12, abs=1e-12)
        assert batch.terminated[i, 0] == terminated


def sum_of_terms(batch, i):
    return float(batch.setup.weights @ batch.terms[i, : len(batch.setup.weights), 0])


@pytest.mark.parametrize("id", ORIGINALS)
def test_spaces_limits_and_kinds_of_numbers_are_the_originals(id):
    ours, theirs = gymnasium.make(f"rlenvs/{id}"), gymnasium.make(ORIGINALS[id])
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.spec.max_episode_steps == theirs.spec.max_episode_steps
    for env in (ours, theirs):
        env.action_space.seed(0)
    seen, shown = ours.reset(seed=0)[0], theirs.reset(seed=0)[0]
    assert (seen.dtype, seen.shape) == (shown.dtype, shown.shape)
    assert ours.action_space.sample() == theirs.action_space.sample()


@pytest.mark.parametrize("id", ORIGINALS)
def test_steps_from_the_same_states_are_the_originals(id):
    env, states = original(id), random_states(id, 400)
    compare(id, in_states(id, states), env, states, random_actions(env.action_space, 400))


def changed(env, **attributes):
    for name, value in attributes.items():
        assert hasattr(env, name), name
        setattr(env, name, value)
    return env


CARTS = {"gravity": 5.0, "masscart": 2.0, "masspole": 0.7, "length": 1.3, "force_mag": 4.0, "tau": 0.03}
LINKS = {"link_length_1": 1.4, "link_mass_1": 0.7, "link_mass_2": 1.9, "link_com_pos_1": 0.3, "link_com_pos_2": 0.8}
LINKS |= {"link_moi": 1.5, "max_vel_1": 5.0, "max_vel_2": 11.0}
HILL = {"gravity": 0.003, "max_speed": 0.05, "min_position": -1.0, "max_position": 0.55, "goal_velocity": 0.01}
OTHERS = [
    ("CartPole-v0", CARTS, {**CARTS, "total_mass": 2.7, "polemass_length": 0.7 * 1.3}),
    ("CartPole-v0", {"kinematics_integrator": "semi-implicit euler"}, {"kinematics_integrator": "semi-implicit"}),
    ("CartPole-v0", {"sutton_barto_reward": True}, {"_sutton_barto_reward": True}),
    ("CartPole-v0", {"x_threshold": 1.0, "theta_threshold_radians": 0.1}, None),
    ("Pendulum-v0", {"g": 6.0, "m": 0.6, "l": 1.4, "dt": 0.04, "max_speed": 5.0, "max_torque": 1.5}, None),
    ("MountainCar-v0", {**HILL, "force": 0.0014, "goal_position": 0.4}, None),
    ("MountainCarContinuous-v0", {"power": 0.002, "goal_position": 0.5, "goal_velocity": 0.01}, None),
    ("Acrobot-v0", {"book_or_nips": "nips"}, None),
    ("Acrobot-v0", {"dt": 0.05}, None),
]


@pytest.mark.parametrize(("id", "ours", "theirs"), OTHERS)
def test_with_other_constants_too(id, ours, theirs):
    """Masses, lengths and all that follows from them are computed anew."""
    env, states = changed(original(id), **(ours if theirs is None else theirs)), random_states(id, 200)
    actions = random_actions(gymnasium.make(f"rlenvs/{id}", **ours).action_space, 200)
    compare(id, in_states(id, states, **ours), env, states, actions)


def test_links_of_other_sizes():
    env, states = original("Acrobot-v0"), random_states("Acrobot-v0", 200)
    changed(env, **{name.upper(): value for name, value in LINKS.items()})
    env._terminal = lambda: False  # a sum of cosines there, the height of the tip here
    batch = in_states("Acrobot-v0", states, **LINKS)
    actions = random_actions(env.action_space, 200)
    batch.step(actions)
    for i, (state, action) in enumerate(zip(states, actions, strict=True)):
        after = stepped(env, state, action)[0]
        np.testing.assert_allclose(state_of(batch, "Acrobot-v0", i), after, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("id", ORIGINALS)
@pytest.mark.parametrize("who", ["random", "expert"])
def test_whole_episodes_beside_the_original(id, who):
    """The original is put where we are before each step, so that verdicts are compared on all that episodes meet."""
    env, ours = original(id), gymnasium.make(f"rlenvs/{id}")
    ours.action_space.seed(1)
    for seed in range(3):
        seen, _ = ours.reset(seed=seed)
        over, total = False, 0.0
        while not over:
            batch = ours.unwrapped.batch
            before = state_of(batch, id)
            action = ours.unwrapped.expert_action() if who == "expert" else ours.action_space.sample()
            given = np.asarray(action, np.float64) if np.ndim(action) else action
            after, observation, paid, ended = stepped(env, before, given)
            seen, reward, terminated, truncated, _ = ours.step(action)
            close = ROUNDED.get(id, ROUNDING)
            np.testing.assert_allclose(state_of(batch, id), after, rtol=close, atol=close)
            np.testing.assert_allclose(seen, observation, rtol=1.2e-7, atol=1e-7)
            assert (terminated, reward) == (ended, pytest.approx(paid, rel=2e-7, abs=1e-12))
            over, total = terminated or truncated, total + reward
        assert truncated or terminated


@pytest.mark.parametrize("id", ["CartPole-v0", "MountainCar-v0", "Pendulum-v0"])
def test_whole_episodes_without_synchronising(id):
    """Random episodes are short, or calm, enough for rounding errors to stay small."""
    env, ours = original(id), gymnasium.make(f"rlenvs/{id}")
    ours.action_space.seed(0)
    for seed in range(5):
        ours.reset(seed=seed)
        state, over = state_of(ours.unwrapped.batch, id), False
        while not over:
            action = ours.action_space.sample()
            state, *_ = stepped(env, state, np.asarray(action, np.float64) if np.ndim(action) else action)
            *_, terminated, truncated, _ = ours.step(action)
            over = terminated or truncated
            np.testing.assert_allclose(state_of(ours.unwrapped.batch, id), state, rtol=1e-10, atol=1e-10)


STARTS = {
    "CartPole-v0": [(-0.05, 0.05)] * 4,
    "Pendulum-v0": [(-math.pi, math.pi), (-1.0, 1.0)],
    "MountainCar-v0": [(-0.6, -0.4), (0.0, 0.0)],
    "MountainCarContinuous-v0": [(-0.6, -0.4), (0.0, 0.0)],
    "Acrobot-v0": [(-0.1, 0.1)] * 4,
}


@pytest.mark.parametrize("id", STARTS)
def test_starts_have_the_originals_range(id):
    batch = rlenvs.make_batch(id, 2000)
    batch.seed(0)
    batch.reset()
    for name, (low, high) in zip(FIELDS[id], STARTS[id], strict=True):
        numbers = batch.states[name]
        assert low <= numbers.min() <= low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) <= numbers.max() <= high
        assert numbers.mean() == pytest.approx((low + high) / 2, abs=0.05 * (high - low))


# --- contexts ---------------------------------------------------------------------------------------------------------


def test_contexts_of_one_batch_differ():
    masses = np.array([0.1, 0.5, 1.0])
    batch = in_states("CartPole-v0", np.tile([0.0, 0.0, 0.1, 1.0], (3, 1)), masspole=masses)
    batch.step([1, 1, 1])
    for i, mass in enumerate(masses):
        total, sine, cosine = mass + 1.0, math.sin(0.1), math.cos(0.1)
        pushed = (10.0 + mass * 0.5 * sine) / total
        turn = (9.8 * sine - cosine * pushed) / (0.5 * (4 / 3 - mass * cosine**2 / total))
        assert batch.states["theta_dot"][i] == pytest.approx(1.0 + 0.02 * turn, abs=1e-14)
        assert batch.states["x_dot"][i] == pytest.approx(
            0.02 * (pushed - mass * 0.5 * turn * cosine / total), abs=1e-14
        )


def test_there_is_one_gravity():
    """CARL's pendulum has two, one without effect."""
    names = [name for name in rlenvs.make_batch("Pendulum-v0", 1).world.params if name in ("g", "gravity")]
    assert names == ["g"]


def test_a_full_torque_is_the_worlds_own():
    batch = in_states("Pendulum-v0", np.zeros((2, 2)))
    batch.set_params({"max_torque": np.array([2.0, 1.0])})
    batch.states["theta"], batch.states["theta_dot"] = 0.0, 0.0
    batch.step([[2.0], [2.0]])
    assert batch.states["theta_dot"].tolist() == pytest.approx([0.3, 0.15])


def test_noise_of_the_torque():
    batch = in_states("Acrobot-v0", np.zeros((500, 4)), torque_noise_max=0.5)
    batch.step(np.full(500, 2))
    motor = batch.states["motor"]
    assert 0.5 <= motor.min() < 0.52
    assert 1.48 < motor.max() <= 1.5


def test_observations_stay_in_their_space_where_the_original_leaves_its_own():
    batch = in_states("CartPole-v0", [[2.4, 500.0, 0.0, 200.0]])
    batch.step([1])
    assert state_of(batch, "CartPole-v0")[0] > 4.8
    assert gymnasium.make("rlenvs/CartPole-v0").observation_space.contains(batch.observations[0, 0])
    with pytest.raises(ParameterError, match="initial_state_lower is at most initial_state_upper"):
        gymnasium.make("rlenvs/CartPole-v0", initial_state_lower=0.1)
    with pytest.raises(ParameterError, match=r"gravity=0 is outside its range \[0.1, 30\]"):
        gymnasium.make("rlenvs/CartPole-v0", gravity=0)


# --- forms ------------------------------------------------------------------------------------------------------------

HIDDEN = {
    "CartPoleNoVelocity-v0": ("CartPole-v0", [0, 2]),
    "PendulumNoVelocity-v0": ("Pendulum-v0", [0, 1]),
    "MountainCarNoVelocity-v0": ("MountainCar-v0", [0]),
    "MountainCarContinuousNoVelocity-v0": ("MountainCarContinuous-v0", [0]),
    "AcrobotNoVelocity-v0": ("Acrobot-v0", [0, 1, 2, 3]),
    "DoublePoleNoVelocity-v0": ("DoublePole-v0", [0, 2, 4]),
}


@pytest.mark.parametrize("id", HIDDEN)
def test_without_velocities_the_rest_is_the_same(id):
    whole_id, kept = HIDDEN[id]
    ours, whole = gymnasium.make(f"rlenvs/{id}"), gymnasium.make(f"rlenvs/{whole_id}")
    assert np.array_equal(ours.observation_space.high, whole.observation_space.high[kept])
    assert np.array_equal(ours.observation_space.low, whole.observation_space.low[kept])
    seen, shown = ours.reset(seed=3)[0], whole.reset(seed=3)[0]
    for _ in range(20):
        assert np.array_equal(seen, shown[kept])
        action = whole.unwrapped.expert_action()
        assert np.array_equal(action, ours.unwrapped.expert_action())
        (seen, reward, *_), (shown, paid, *_) = ours.step(action), whole.step(action)
        assert reward == paid


def test_scaled_form():
    env = gymnasium.make("rlenvs/Pendulum-v0", scaled=True)
    assert env.observation_space == gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)
    assert env.action_space == gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    env.reset(seed=0)
    env.unwrapped.batch.states["theta"], env.unwrapped.batch.states["theta_dot"] = 0.0, 4.0
    seen, *_ = env.step(np.array([-1.0]))
    assert seen[2] == pytest.approx((4.0 - 0.3) / 8.0)


# --- experts ----------------------------------------------------------------------------------------------------------

LEAST = {
    ("CartPole-v0", None): 500.0,
    ("CartPole-v0", "easy"): 500.0,
    ("CartPole-v0", "hard"): 500.0,
    ("Pendulum-v0", None): -160.0,
    ("MountainCar-v0", None): -105.0,
    ("MountainCarContinuous-v0", None): 98.0,
    ("MountainCarContinuous-v0", "hard"): 93.0,
    ("Acrobot-v0", None): -66.0,
    ("Acrobot-v0", "hard"): -130.0,
    ("CartPoleSwingUp-v0", None): 780.0,
    ("DoublePole-v0", None): 1000.0,
    ("DoublePole-v0", "alike"): 1000.0,
}


@pytest.mark.parametrize(("id", "level"), LEAST)
def test_experts_solve_their_worlds(id, level):
    result = rlenvs.evaluate(id, "expert", 30, level=level)
    assert result.mean >= LEAST[id, level] - 1e-6
    assert result.success_rate == 1.0


@pytest.mark.parametrize(
    "contexts", [{"length": 2.0}, {"masspole": 1.0}, {"gravity": 3.0}, {"force_mag": 30.0}, {"masscart": 4.0}]
)
def test_the_cart_is_balanced_in_other_contexts(contexts):
    assert rlenvs.evaluate("CartPole-v0", "expert", 10, **contexts).mean == 500.0


# --- the swing-up and the two poles -----------------------------------------------------------------------------------


def test_the_swing_up_moves_as_the_cart_pole():
    env, generator = changed(original("CartPole-v0"), tau=0.01), np.random.default_rng(0)
    states = generator.uniform(-1.0, 1.0, (100, 4)) * [2.0, 3.0, 0.0, 5.0] + [0.0, 0.0, 1.0, 0.0]
    states[:, 2] = generator.uniform(0.1, 6.2, 100)
    pushes = generator.uniform(-1.0, 1.0, 100)
    batch = rlenvs.make_batch("CartPoleSwingUp-v0", 100)
    batch.seed(0)
    batch.reset()
    for name, column in zip(FIELDS["CartPole-v0"], states.T, strict=True):
        batch.states[name] = column
    batch.step(pushes[:, None])
    for i, state in enumerate(states):
        env.force_mag = 10.0 * pushes[i]
        after = stepped(env, state, 1)[0]
        after[2] %= 2.0 * math.pi
        np.testing.assert_allclose(state_of(batch, "CartPole-v0", i), after, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("state", "push", "reward", "ends"),
    [
        ((0.0, 0.0, 0.0, 0.0), 0.0, 1.0, False),
        ((0.0, 0.0, 0.0, 0.0), -0.5, 0.95, False),
        ((0.0, 0.0, 1.03, 0.0), 0.0, 1.0, False),  # cosine 0.515
        ((0.0, 0.0, 1.06, 0.0), 0.0, 0.0, False),  # cosine 0.489
        ((0.0, 0.0, 0.0, 0.99), 0.0, 1.0, False),
        ((0.0, 0.0, 0.0, 1.01), 0.0, 0.0, False),
        ((0.99, 0.0, 0.0, 0.0), 0.0, 1.0, False),
        ((1.01, 0.0, 0.0, 0.0), 0.0, 0.0, False),
        ((2.995, 1.0, math.pi, 0.0), 1.0, -0.1, True),
        ((0.0, 0.0, math.pi, 0.0), 1.0, -0.1, False),
    ],
)
def test_the_swing_up_pays_as_bsuite_does(state, push, reward, ends):
    batch = rlenvs.make_batch("CartPoleSwingUp-v0", 1)
    batch.seed(0)
    batch.reset()
    for name, number in zip(FIELDS["CartPole-v0"], state, strict=True):
        batch.states[name] = number
    batch.step([[push]])
    assert batch.rewards[0, 0] == pytest.approx(reward)
    assert batch.terminated[0, 0] == ends


def test_the_swing_up_is_bsuites():
    record = np.load(DATA / "swing_up_bsuite.npz")
    for states, actions, rewards, length in zip(*(record[name] for name in RECORDED), strict=True):
        batch = rlenvs.make_batch("CartPoleSwingUp-v0", length)
        batch.seed(0)
        batch.reset()
        for name, column in zip(FIELDS["CartPole-v0"], states[:length].T, strict=True):
            batch.states[name] = column
        batch.step(actions[:length, None] - 1.0)
        after = np.stack([batch.states[name] for name in FIELDS["CartPole-v0"]], axis=1)
        np.testing.assert_allclose(after, states[1 : length + 1], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(batch.rewards[:, 0], rewards[:length], rtol=1e-6)
        ended = np.flatnonzero(batch.terminated[:, 0])
        assert ended.tolist() == ([length - 1] if abs(states[length, 0]) > 3.0 else [])
    assert np.nansum(record["rewards"], axis=1).max() > 700.0  # the pole has been up


def test_the_pole_of_the_swing_up_hangs_at_first():
    batch = rlenvs.make_batch("CartPoleSwingUp-v0", 500)
    batch.seed(0)
    batch.reset()
    for name, middle in zip(FIELDS["CartPole-v0"], (0.0, 0.0, math.pi, 0.0), strict=True):
        away = batch.states[name] - middle
        assert -0.05 <= away.min() < -0.049
        assert 0.049 < away.max() <= 0.05
    assert batch.world.horizon == 1000


def wieland(state, force, lengths=(0.5, 0.05), masses=(0.1, 0.01)):
    """Derivative of x, x', angles and rates as published; gravity there is -9.8."""
    x_dot, pushed, total, pulls = state[1], force - 0.0005 * np.sign(state[1]), 1.0, []
    for j, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        angle, rate = state[2 + 2 * j], state[3 + 2 * j]
        pull = 0.000002 * rate / (mass * length) - 9.8 * math.sin(angle)
        pushed += mass * length * rate**2 * math.sin(angle) + 0.75 * mass * math.cos(angle) * pull
        total += mass * (1 - 0.75 * math.cos(angle) ** 2)
        pulls.append(pull)
    change = [x_dot, pushed / total]
    for j, length in enumerate(lengths):
        turn = -0.75 / length * (change[1] * math.cos(state[2 + 2 * j]) + pulls[j])
        change += [state[3 + 2 * j], turn]
    return np.array(change)


def test_the_two_poles_move_as_wieland_says():
    generator = np.random.default_rng(0)
    states = generator.uniform(-1.0, 1.0, (400, 6)) * [2.0, 2.0, 0.7, 2.0, 0.7, 3.0]
    pushes = generator.uniform(-1.0, 1.0, 400)
    batch = rlenvs.make_batch("DoublePole-v0", 400)
    batch.seed(0)
    batch.reset()
    batch.states["x"], batch.states["x_dot"] = states[:, 0], states[:, 1]
    batch.states["theta"], batch.states["theta_dot"] = states[:, 2::2], states[:, 3::2]
    batch.step(pushes[:, None])
    assert 50 < batch.terminated.sum() < 200
    for i, (state, push) in enumerate(zip(states, pushes, strict=True)):
        for _ in range(2):
            k1 = wieland(state, 10 * push)
            k2 = wieland(state + 0.005 * k1, 10 * push)
            k3 = wieland(state + 0.005 * k2, 10 * push)
            k4 = wieland(state + 0.01 * k3, 10 * push)
            state = state + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        s = batch.states[i]
        found = [s["x"], s["x_dot"], s["theta"][0], s["theta_dot"][0], s["theta"][1], s["theta_dot"][1]]
        np.testing.assert_allclose(found, state, rtol=1e-11, atol=1e-11)
        assert batch.terminated[i, 0] == (abs(state[0]) > 2.4 or max(abs(state[2::2])) > math.radians(36))


@pytest.mark.budget(5)
def test_the_two_poles_start_and_end_as_published():
    env = gymnasium.make("rlenvs/DoublePole-v0", level="published")
    env.reset(seed=5)
    assert env.unwrapped.batch.states["theta"][0].tolist() == [0.07, 0.0]
    assert env.spec.max_episode_steps == 100_000
    assert env.unwrapped.batch.setup.values.cart_friction == 0.0
    result = rlenvs.evaluate("DoublePole-v0", "expert", 1, level="published")
    assert result.mean == 100_000
    batch = rlenvs.make_batch("DoublePole-v0", 1000)
    batch.seed(0)
    batch.reset()
    angles = batch.states["theta"][:, 0]
    assert -0.07 <= angles.min() < -0.069
    assert 0.069 < angles.max() <= 0.07
    with pytest.raises(ParameterError, match=r"length_2 is at most 0\.9 of length_1"):
        gymnasium.make("rlenvs/DoublePole-v0", length_2=0.5)


def test_the_regulator_of_a_double_integrator_is_the_known_one():
    found = gains([[0, 1], [0, 0]], [[0], [1]], (1.0, 0.0), 1.0, 1e-3)
    np.testing.assert_allclose(found, [1.0, math.sqrt(2.0)], rtol=2e-3)
    step, inputs = sampled([[0, 1], [0, 0]], [[0], [1]], 0.5)
    np.testing.assert_allclose(step, [[1, 0.5], [0, 1]])
    np.testing.assert_allclose(inputs, [[0.125], [0.5]])


def test_the_regulator_solves_riccatis_equation():
    values = SimpleNamespace(**{name: each.default for name, each in double_pole.SPEC.params.items()})
    row = double_pole.data(values)["gains"]
    generator = np.random.default_rng(0)
    for _ in range(5):  # the poles come to rest from any small state
        state = generator.uniform(-0.05, 0.05, 6)
        for _ in range(1500):
            for _ in range(4):
                state = state + 0.005 * wieland(state, -row @ state)
        assert np.abs(state).max() < 0.02


@pytest.mark.parametrize(
    ("ours", "theirs", "keywords"),
    [
        ("MountainCar-v0", "MountainCar-v0", {"goal_velocity": 0.1}),
        ("MountainCarContinuous-v0", "MountainCarContinuous-v0", {"goal_velocity": -0.5}),
        ("Pendulum-v0", "Pendulum-v1", {"g": 0.0}),
        ("Pendulum-v0", "Pendulum-v1", {"g": 50.0}),
    ],
)
def test_keywords_take_the_values_that_gymnasium_takes(ours, theirs, keywords):
    published = gymnasium.make(theirs, **keywords).unwrapped
    env = gymnasium.make(f"rlenvs/{ours}", backend="python", **keywords).unwrapped
    env.reset(seed=0)
    assert np.isfinite(env.expert_action()).all()
    for name, value in keywords.items():
        assert getattr(published, name) == value
        assert env.batch.records(0)[0][name] == value
