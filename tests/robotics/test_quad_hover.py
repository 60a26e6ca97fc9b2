"""QuadHover against its card: constants, torque signs, the recorded original, the faults it must not have."""

import math
from functools import partial

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.batches import begun
from support.places import DATA

import rlenvs
from rlenvs.robotics.quadcopter import dynamics, hover, vehicle

DATA = DATA / "quadhover_dyn.npz"
MOVES = {"random": 0, "constant": 1, "climb": 2}


batch = partial(begun, "QuadHover-v0")


def place(state, position=(0, 0, 1), attitude=(0, 0, 0, 1), velocity=(0, 0, 0), rates=(0, 0, 0), goal=(0, 0, 1)):
    state.position[0], state.attitude[0], state.velocity[0], state.rates[0] = position, attitude, velocity, rates
    state.goal[:] = goal


def test_derived_constants_of_the_card():
    p, _ = batch().records(0)
    assert vehicle.hover_rpm(p) == pytest.approx(14468.43, abs=0.005)
    assert vehicle.max_rpm(p) == pytest.approx(21702.64, abs=0.005)
    assert p.mass * p.gravity == pytest.approx(0.2646, abs=1e-12)
    assert 4 * p.thrust_coefficient * vehicle.max_rpm(p) ** 2 == pytest.approx(0.59535, abs=1e-9)
    low, high = (vehicle.hover_rpm(p) * (1 + sign * p.action_range) for sign in (-1, 1))
    assert (int(low), int(high)) == (13745, 15191)
    assert (p.arm, p.inertia_x, p.inertia_y, p.inertia_z) == (0.0397, 1.4e-5, 1.4e-5, 2.17e-5)
    assert (p.thrust_coefficient, p.torque_coefficient) == (3.16e-10, 7.94e-12)


def test_vertical_acceleration_of_the_one_dimensional_action():
    for action, acceleration in ((-1.0, -0.956), (1.0, 1.005)):
        flight = batch(action="one_d_rpm")
        _, s = flight.records(0)
        flight.step([[action]])
        assert s.velocity[0, 2] * 30 == pytest.approx(acceleration, abs=6e-4)


def test_timing_is_240_hz_physics_and_30_hz_control():
    flight = batch()
    p, s = flight.records(0)
    place(s)
    flight.step(np.full((1, 4), 1.0))
    lift = p.gravity * (1 + p.action_range) ** 2 - p.gravity
    assert s.velocity[0, 2] == pytest.approx(lift / 30, rel=1e-12)
    # semi-implicit: the position moves with the velocity at the end of each of the 8 steps
    assert s.position[0, 2] - 1 == pytest.approx(lift / 240**2 * 36, rel=1e-9)


@pytest.mark.parametrize("flight_name", MOVES)
def test_parity_with_the_recorded_original(flight_name):
    """One state sync, then actions alone. 1e-12 is some hundred roundings; the original's model agrees to 2e-14."""
    record = {key: value[MOVES[flight_name]] for key, value in np.load(DATA).items() if np.shape(value)[:1] == (3,)}
    flight = batch(reward="original")
    _, s = flight.records(0)
    place(s, *(record[key][0] for key in ("position", "quaternion", "velocity", "body_rates")))
    for t, action in enumerate(record["actions"]):
        if s.over:  # the original flies on after an end
            s.over, s.alive[:] = False, True
        if record["position"][t + 1][2] < 0.1:  # the original has no floor
            break
        flight.step(action[None])
        np.testing.assert_allclose(s.rpm[0], record["rpm"][t], rtol=1e-12)
        np.testing.assert_allclose(s.position[0], record["position"][t + 1], atol=1e-12)
        np.testing.assert_allclose(s.velocity[0], record["velocity"][t + 1], atol=1e-12)
        np.testing.assert_allclose(s.rates[0], record["body_rates"][t + 1], atol=1e-10)
        sign = np.sign(s.attitude[0] @ record["quaternion"][t + 1])
        np.testing.assert_allclose(sign * s.attitude[0], record["quaternion"][t + 1], atol=1e-11)
        assert flight.rewards[0, 0] == pytest.approx(record["reward"][t], abs=1e-11)
        if max(abs(s.angles[0, :2])) < 1.2:  # near 90 degrees of pitch Euler angles magnify roundings
            np.testing.assert_allclose(s.angles[0], record["rpy"][t + 1], atol=1e-9)
    assert t > 20


def test_torque_signs_against_the_geometry():
    """A rotor that pushes harder lifts its own corner: positions (x, y) of the rotors from the vehicle's drawing."""
    corners = [(0.028, -0.028), (-0.028, -0.028), (-0.028, 0.028), (0.028, 0.028)]
    for rotor, (x, y) in enumerate(corners):
        flight = batch()
        _, s = flight.records(0)
        place(s)
        action = np.zeros((1, 4))
        action[0, rotor] = 1.0
        flight.step(action)
        assert np.sign(s.rates[0, 0]) == np.sign(y)  # roll is positive when the left side (y > 0) rises
        assert np.sign(s.rates[0, 1]) == -np.sign(x)  # pitch is positive when the front (x > 0) sinks
        assert np.sign(s.rates[0, 2]) == (-1, 1, -1, 1)[rotor]


@given(st.floats(0.015, 0.06), st.floats(1.0, 25.0))
def test_hover_speed_is_an_equilibrium_for_any_mass_and_gravity(mass, gravity):
    flight = batch(backend="python", mass=mass, gravity=gravity)
    _, s = flight.records(0)
    place(s)
    flight.step(np.zeros((1, 4)))
    np.testing.assert_allclose(s.position[0], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(s.rates[0], 0, atol=1e-12)


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_free_rotation_keeps_the_quaternion_a_rotation_and_its_energy(rates):
    flight = batch(backend="python", control_hz=100, physics_hz=2000)
    p, s = flight.records(0)
    place(s, position=(0, 0, 1.5), rates=rates)
    s.command[:] = 0.0
    inertia = np.array([p.inertia_x, p.inertia_y, p.inertia_z])
    before = inertia @ np.square(s.rates[0])
    dynamics.fly(p, s, s.rng)
    assert np.linalg.norm(s.attitude[0]) == pytest.approx(1, abs=1e-12)
    assert inertia @ np.square(s.rates[0]) == pytest.approx(before, rel=0.02, abs=1e-12)
    assert s.velocity[0, 2] == pytest.approx(-p.gravity * 20 / 2000, rel=1e-12)  # no thrust: it falls


def test_there_is_a_floor():
    flight = batch(gravity=25.0)
    _, s = flight.records(0)
    place(s, position=(0, 0, 0.03), velocity=(0.3, 0, -1), rates=(1, 1, 0))
    flight.step(np.full((1, 4), -1.0))
    assert s.position[0, 2] == 0.0125
    assert s.velocity[0, 2] == 0.0
    assert 0.0 < s.velocity[0, 0] < 0.3  # friction
    assert not s.rates.any()


@pytest.mark.parametrize(
    ("position", "attitude", "ends"),
    [
        ((1.51, 0, 1), (0, 0, 0, 1), True),
        ((0, -1.51, 1), (0, 0, 0, 1), True),
        ((0, 0, 2.01), (0, 0, 0, 1), True),
        ((1.49, 1.49, 1.99), (0, 0, 0, 1), False),
        ((0, 0, 1), (math.sin(0.205), 0, 0, math.cos(0.205)), True),
        ((0, 0, 1), (0, -math.sin(0.205), 0, math.cos(0.205)), True),
        ((0, 0, 1), (0, math.sin(0.195), 0, math.cos(0.195)), False),
    ],
)
def test_leaving_the_room_or_tilting_terminates(position, attitude, ends):
    flight = batch()
    _, s = flight.records(0)
    place(s, position, attitude)
    flight.step(np.zeros((1, 4)))
    assert flight.terminated[0, 0] == ends
    assert not flight.truncated[0, 0]


@pytest.mark.parametrize(
    ("kind", "formula", "a_metre_off"),
    [
        ("goal", lambda distance: 2 * math.exp(-5 * distance), 0.01),
        ("original", lambda distance: max(0, 2 - distance**4), 1.0),
    ],
)
def test_reward_costs_and_success(kind, formula, a_metre_off):
    flight = batch(reward=kind)
    _, s = flight.records(0)
    cases = (((0, 0, 1), 2.0, True), ((0, 0, 0), a_metre_off, False), ((1.4, 0, 1), 0.0, False))
    for position, reward, success in cases:
        flight.reset()
        place(s, position)
        flight.step(np.zeros((1, 4)))
        distance = np.linalg.norm(s.position[0] - [0, 0, 1])
        assert flight.rewards[0, 0] == pytest.approx(formula(distance), abs=1e-12)
        assert flight.rewards[0, 0] == pytest.approx(reward, abs=0.06)
        assert flight.success[0, 0] == success
        assert flight.costs[0, 0] == (1.0 if position[0] > 1 else 0.0)


def test_reaching_the_goal_does_not_end_the_episode_and_an_episode_has_240_steps():
    env = gymnasium.make("rlenvs/QuadHover-v0", level="easy")
    env.reset(seed=0)
    for step in range(240):
        *_, terminated, truncated, info = env.step(env.unwrapped.expert_action())
        assert not terminated
        assert truncated == (step == 239)
    assert info["is_success"]


def test_the_past_is_in_the_observation_oldest_first_and_cleared_at_reset():
    env = gymnasium.make("rlenvs/QuadHover-v0", history=3, action="one_d_rpm")
    observation, _ = env.reset(seed=0)
    assert observation.shape == (18,)
    assert not observation[15:].any()
    for action in (0.1, 0.2, 0.3, 2.0):
        observation, *_ = env.step(np.array([action], np.float32))
    np.testing.assert_allclose(observation[15:], [0.2, 0.3, 1.0], atol=1e-7)
    observation, _ = env.reset()
    assert not observation[15:].any()


def test_one_dimensional_goals_are_straight_above():
    flights = batch(50, action="one_d_rpm")
    for i in range(50):
        _, s = flights.records(i)
        assert s.goal[:2].tolist() == s.position[0, :2].tolist()


def test_an_expert_masters_every_level_and_random_does_not():
    for keywords in (
        {},
        {"level": "easy"},
        {"level": "hard"},
        {"level": "real"},
        {"level": "wild"},
        {"action": "one_d_rpm"},
    ):
        flights = batch(100, **keywords)
        alive, returns = np.ones(100, bool), np.zeros(100)
        for _ in range(240):
            flights.expert_actions()
            flights.step_inplace()
            returns += alive * flights.rewards[:, 0]
            alive &= ~flights.terminated[:, 0]
        assert alive.all()
        assert flights.success.mean() >= 0.99
    generator = np.random.default_rng(0)
    flights, alive = batch(100), np.ones(100, bool)
    for _ in range(240):
        flights.step(generator.uniform(-1, 1, (100, 4)))
        alive &= ~flights.terminated[:, 0]
    assert alive.mean() < 0.05


def test_doing_nothing_on_level_original_earns_what_it_does_in_the_original():
    """There 333.86 in 242 steps: the vehicle hovers where it starts, 0.8875 m below the goal."""
    env = gymnasium.make("rlenvs/QuadHover-v0", level="original")
    observation, _ = env.reset(seed=0)
    assert observation.shape == (15 + 15 * 4,)
    total = sum(env.step(np.zeros(4, np.float32))[1] for _ in range(240))
    assert total * 242 / 240 == pytest.approx(333.86, abs=0.01)


def test_module_constants_are_the_originals():
    assert (hover.ROOM, hover.CEILING) == (1.5, 2.0)
    assert hover.SPEC.params["crash_tilt"].default == 0.4


@pytest.mark.parametrize(
    ("position", "tilt", "costs"),
    [
        ((0.99, 0, 1), 0.0, (0, 0)),
        ((0, 1.01, 1), 0.0, (0, 1)),
        ((0.8, 0.8, 1), 0.0, (0, 1)),
        ((0, 0, 1), 0.19, (0, 0)),
        ((0, 0, 1), 0.21, (1, 0)),
        ((1.01, 0, 1), -0.21, (1, 1)),
    ],
)
def test_costs_begin_at_a_metre_and_at_a_fifth_of_a_radian(position, tilt, costs):
    flight = batch()
    _, s = flight.records(0)
    place(s, position, (math.sin(tilt / 2), 0, 0, math.cos(tilt / 2)))
    flight.step(np.zeros((1, 4)))
    assert flight.terms[0, -2:, 0].tolist() == list(costs)  # tilt, geofence
    assert flight.costs[0, 0] == sum(costs)


@pytest.mark.parametrize(("distance", "success"), [(0.09, True), (0.11, False)])
def test_success_is_within_a_tenth_of_a_metre(distance, success):
    flight = batch()
    _, s = flight.records(0)
    place(s, (0, 0, 1), goal=(distance, 0, 1))
    flight.step(np.zeros((1, 4)))
    assert flight.success[0, 0] == success


def test_hovering_anywhere_is_not_hovering_at_the_goal():
    """Doing nothing hovers where it starts. By default that is far from the expert's score; with the original's reward
    it has nine tenths of it."""
    for keywords, low, high in (({}, 0.0, 0.2), ({"level": "easy"}, 0.0, 0.2), ({"reward": "original"}, 0.9, 1.0)):
        found = {name: rlenvs.evaluate("QuadHover-v0", name, 30, **keywords) for name in ("random", "idle", "expert")}
        chance, idle, expert = (result.mean for result in found.values())
        assert low < (idle - chance) / (expert - chance) < high
        assert found["idle"].success_rate < 0.1
        assert found["expert"].success_rate == 1.0
