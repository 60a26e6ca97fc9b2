"""The lander beside recorded flights of Gymnasium's, and its numbers."""

import gymnasium
import numpy as np
import pytest
from toys.recorded_landings import CASES, SPEC, case_of

import rlenvs
from rlenvs.core.catalogue.make import new_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.landing.lander import FIRST_CHUNK, HULL, LEFT, RIGHT


def fly(i, **changes):
    """Observations of a recorded flight played again, the original's rows, whether both ended."""
    keywords, rows, ended = case_of(i)
    batch = new_batch(SPEC, 1, **keywords, **changes)
    batch.seed(0)
    batch.reset()
    seen, ends, rewards = [batch.observations[0, 0].copy()], False, [0.0]
    for row in rows[1:]:
        assert not ends
        batch.step([row[:4]])
        ends = bool(batch.terminated[0, 0])
        seen.append(batch.observations[0, 0].copy())
        rewards.append(float(batch.rewards[0, 0]))
    return np.array(seen), rows[:, 4:12], np.array(rewards), ended, ends


@pytest.mark.parametrize("i", range(CASES))
def test_flights_are_gymnasiums_until_the_first_contact(i):
    """1e-5 per step: Box2D rounds to float32, and its errors add up along the flight."""
    ours, theirs, _, _, _ = fly(i)
    touched = np.flatnonzero(theirs[:, 6] + theirs[:, 7])
    until = touched[0] if len(touched) else len(theirs) - 1
    error = np.abs(ours[:until] - theirs[:until]).max(1)
    assert (np.diff(error, prepend=0.0) < 1e-5).all()
    assert error.max() < 1e-4


@pytest.mark.parametrize("i", range(CASES))
def test_landings_are_gymnasiums_to_their_end(i):
    """After contact too: the same legs touch in the same steps, and the flight ends in the same step."""
    ours, theirs, rewards, ended, ends = fly(i)
    assert ends == ended
    np.testing.assert_array_equal(ours[:-1, 6:], theirs[:-1, 6:])
    np.testing.assert_allclose(ours[:-1, :6], theirs[:-1, :6], atol=2e-3)
    rows = case_of(i)[1]
    unpriced = rows[:, 12] + 0.3 * rows[:, 0] + 0.03 * np.abs(rows[:, 1])
    np.testing.assert_allclose(rewards[1:-1], unpriced[1:-1], atol=0.05)


def test_spaces_and_limits_are_gymnasiums():
    pytest.importorskip("Box2D", reason="Gymnasium's lander needs Box2D")
    for id, choices in (("LunarLander", {}), ("LunarLanderContinuous", {"continuous": True})):
        ours, theirs = gymnasium.make(f"rlenvs/{id}-v0"), gymnasium.make("LunarLander-v3", **choices)
        assert ours.observation_space == theirs.observation_space
        assert ours.action_space == theirs.action_space
        assert ours.spec.max_episode_steps == theirs.spec.max_episode_steps


def test_the_spaces_are_the_published_ones():
    env = gymnasium.make("rlenvs/LunarLander-v0")
    high = np.array([2.5, 2.5, 10.0, 10.0, 2 * np.pi, 10.0, 1.0, 1.0], np.float32)
    low = -high
    low[6:] = 0.0
    assert env.observation_space == gymnasium.spaces.Box(low, high)
    assert env.action_space == gymnasium.spaces.Discrete(4)
    assert env.spec.max_episode_steps == 1000
    assert gymnasium.make("rlenvs/LunarLanderContinuous-v0").action_space == gymnasium.spaces.Box(-1.0, 1.0, (2,))


def start(worlds=1, id="LunarLander-v0", seed=0, **keywords):
    batch = rlenvs.make_batch(id, worlds, **keywords)
    batch.seed(seed)
    batch.reset()
    return batch


def test_masses_terrain_and_joints():
    """The originals' numbers, as Box2D gives them: mass 4.8167, inertia 0.8335 about the centre of mass."""
    s = start().states
    assert 1.0 / s["inverse_mass"][0, HULL] == pytest.approx(4.816667, rel=1e-6)
    assert 1.0 / s["inverse_mass"][0, LEFT] == pytest.approx(0.0711111, rel=1e-5)
    heights = s["heights"][0]
    assert (heights[3:8] == 10.0 / 3.0).all()
    edges = s["vertex"][0, 4 * FIRST_CHUNK : 4 * (FIRST_CHUNK + 10)].reshape(10, 4, 2)[:, :2]
    assert edges[4, 0].tolist() == pytest.approx([8.0, 0.99 * 10.0 / 3.0])
    assert edges[0, 0, 1] == pytest.approx(0.33 * (heights[11] + heights[0] + heights[1]))
    assert s["joint_range"][0].tolist() == [[-0.9, -0.4], [0.4, 0.9]]
    assert s["motor_speed"][0].tolist() == [0.3, -0.3]
    assert s["motor_limit"][0].tolist() == [40.0, 40.0]
    assert s["shape_friction"][0, :2].tolist() == [0.2, 0.1]


def test_a_first_step_pushes_by_up_to_a_thousand_newtons():
    """Mean square of a uniform force: 1000^2 / 3; all three bodies move as one soon after."""
    s = start(500).states
    mass = 1.0 / s["inverse_mass"][:, HULL]
    vx = s["velocity"][:, HULL, 0] * 4.95889 / 0.02
    assert (mass > 4.8).all()
    assert np.abs(vx).max() < 1050.0
    assert np.sqrt((vx**2).mean()) == pytest.approx(1000.0 / np.sqrt(3.0), rel=0.08)


def test_the_last_step_pays_the_landing_alone_and_all_terms_for_mo_gymnasium():
    for level, counts in ((None, False), ("mo-gymnasium", True)):
        env = gymnasium.make("rlenvs/LunarLander-v0", **({"level": level} if level else {}))
        env.reset(seed=1)
        ended = False
        while not ended:
            _, reward, ended, _, info = env.step(2)
        assert info["reward_landing"] == -100.0
        assert (info["reward_main_engine"] == -1.0) == counts
        assert (reward == -100.0) == (not counts)


def test_weights_are_the_originals_prices_of_fuel():
    env = gymnasium.make("rlenvs/LunarLander-v0")
    env.reset(seed=0)
    for action, price in ((0, 0.0), (1, 0.03), (2, 0.3), (3, 0.03)):
        _, reward, _, _, info = env.step(action)
        assert reward == pytest.approx(info["reward_shaping"] - price, abs=1e-4)


def test_throttles_begin_at_half():
    env = gymnasium.make("rlenvs/LunarLanderContinuous-v0")
    env.reset(seed=0)
    paid = {}
    for main, side in ((0.0, 0.5), (0.01, -0.51), (1.0, 1.0), (-1.0, -1.0)):
        info = env.step(np.array([main, side], np.float32))[4]
        paid[main, side] = info["reward_main_engine"], info["reward_side_engine"]
    assert paid[0.0, 0.5] == (0.0, 0.0)
    assert paid[0.01, -0.51] == pytest.approx((-0.505, -0.51), abs=1e-6)
    assert paid[1.0, 1.0] == (-1.0, -1.0)
    assert paid[-1.0, -1.0] == (0.0, -1.0)


def test_it_ends_with_a_success_after_half_a_second_at_rest():
    batch = start(16)
    while not batch.success.any():
        assert not batch.truncated.all()
        batch.step(batch.expert_actions()[:, 0, 0])
    i = int(np.flatnonzero(batch.success[:, 0])[0])
    assert batch.rewards[i, 0] == 100.0


EXTREMES = [
    {"gravity": 0.0},
    {"gravity": -20.0, "gravity_x": 20.0},
    {"main_engine_power": 50.0, "side_engine_power": 50.0},
    {"leg_w": 10.0, "leg_h": 20.0, "leg_away": 10.0, "leg_down": 40.0},
    {"leg_w": 1.0, "leg_h": 1.0, "leg_away": 40.0, "leg_down": 10.0, "leg_spring_torque": 100.0},
    {"scale": 10.0, "fps": 200.0, "initial_random": 2000.0},
    {"scale": 100.0, "fps": 20.0, "enable_wind": True, "wind_power": 20.0, "turbulence_power": 2.0},
    {"viewport_w": 400.0, "viewport_h": 800.0, "scale": 100.0},
    {"viewport_w": 1000.0, "viewport_h": 200.0, "leg_down": 40.0, "leg_h": 20.0, "gravity": -20.0},
]


@pytest.mark.parametrize("values", EXTREMES)
def test_extreme_parameters_stay_finite(values):
    batch = start(32, **values)
    generator = np.random.default_rng(0)
    for _ in range(300):
        batch.step(generator.integers(0, 4, 32))
        assert np.isfinite(batch.states["centre"]).all()
        assert np.abs(batch.states["velocity"]).max() < 1e3
        assert batch.states["contacts_left_out"].max() == 0


def test_beyond_the_ranges_is_refused():
    for values in ({"gravity": 1.0}, {"wind_power": 21.0}, {"scale": 1.0}, {"leg_w": float("nan")}):
        with pytest.raises(ParameterError):
            rlenvs.make_batch("LunarLander-v0", **values)


def test_wind_pushes_only_in_the_air():
    """tanh(sin 0.02 t + sin 0.01 pi t), times 15 N."""
    calm, windy = start(seed=3), start(seed=3, enable_wind=True)
    index = int(windy.states["wind_index"][0])
    before = windy.states["velocity"][0].copy()
    windy.step([0])
    calm.step([0])
    assert int(windy.states["wind_index"][0]) == index + 1
    force = 15.0 * np.tanh(np.sin(0.02 * index) + np.sin(0.01 * np.pi * index))
    masses = 1.0 / windy.states["inverse_mass"][0, HULL : RIGHT + 1]
    gained = masses @ (windy.states["velocity"][0, HULL : RIGHT + 1, 0] - before[HULL : RIGHT + 1, 0])
    assert gained == pytest.approx(force * 0.02, rel=1e-6, abs=1e-9)
    windy.states["leg_touches"][0, 0] = 1
    windy.step([0])
    assert int(windy.states["wind_index"][0]) == index + 1


def test_defaults_are_gymnasiums():
    params = world_of("rlenvs/LunarLander-v0").params
    numbers = {"gravity": -10.0, "wind_power": 15.0, "turbulence_power": 1.5, "fps": 50.0, "scale": 30.0}
    assert {name: params[name].default for name in numbers} == numbers
