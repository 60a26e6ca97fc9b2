"""CarRacing beside recorded drives of Gymnasium's, and its numbers."""

import gymnasium
import numpy as np
import pytest
from toys.recorded_drives import CASES, RECORDED, SPEC, case_of

import rlenvs
from rlenvs.core.catalogue.make import new_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.racing.car import SIZE, shapes_of

STEPS, SHOWN = 120, (20, 60)  # of the fast tests; steps whose pictures were kept


def actions_of(rows):
    """As kernels' users give them, in [-1, 1]."""
    return np.stack([rows[:, 0], 2.0 * rows[:, 1] - 1.0, 2.0 * rows[:, 2] - 1.0], axis=1)


def drive(i, steps=STEPS):
    """A recorded drive played again: what was seen, rewards, pictures, the rows of the original."""
    rows = case_of(i)[: steps + 1]
    batch = new_batch(SPEC, 1, case=i)
    batch.seed(0)
    batch.reset()
    seen, rewards = [batch.observations[0, 0].astype(float)], [0.0]
    pictures = [batch.images["screen"][0, 0].copy()]
    for t, action in enumerate(actions_of(rows[1:]), 1):
        batch.step([action])
        seen.append(batch.observations[0, 0].astype(float))
        rewards.append(float(batch.rewards[0, 0]))
        if t in SHOWN:
            pictures.append(batch.images["screen"][0, 0].copy())
    return np.array(seen), np.array(rewards), pictures, rows


def check_drive(i, steps, metres):
    seen, rewards, _, rows = drive(i, steps)
    inside = len(rows) - (rows[-1, 14] == -100.0)
    away = np.hypot(*(seen[:, :2] - rows[:, 3:5]).T)
    assert away.max() < metres
    np.testing.assert_allclose(seen[:, 2], rows[:, 5], atol=2e-3)
    np.testing.assert_allclose(seen[:, 3:5], rows[:, 6:8], atol=5e-2)
    np.testing.assert_allclose(seen[:, 6:10], rows[:, 9:13], atol=2e-2)
    np.testing.assert_allclose(seen[:, 10], rows[:, 13], atol=1e-4)
    np.testing.assert_array_equal(seen[1:, 11], rows[1:, 15])  # the same tiles in the same steps
    np.testing.assert_allclose(rewards[1:inside], rows[1:inside, 14], atol=1e-9)


@pytest.mark.parametrize("i", range(CASES))
def test_drives_are_gymnasiums_to_2_mm_over_120_steps(i):
    check_drive(i, STEPS, 2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("i", range(CASES))
def test_drives_are_gymnasiums_to_5_mm_over_500_steps(i):
    check_drive(i, 500, 5e-3)


@pytest.mark.parametrize("i", range(CASES))
def test_tracks_are_gymnasiums(i):
    """From the same points the same gates and kerbs."""
    batch = new_batch(SPEC, 1, case=i)
    batch.seed(0)
    batch.reset()
    _, s = batch.records(0)
    gates = RECORDED["gates"][i]
    gates = gates[np.isfinite(gates[:, 0])]
    assert int(s.tiles) == len(gates)
    np.testing.assert_allclose(s.gate[: len(gates)], gates[:, [2, 3, 1]], atol=1e-9)
    assert int(np.count_nonzero(s.kerb[: len(gates)])) == RECORDED["kerbs"][i, 0]


def test_pictures_are_like_gymnasiums():
    """Two grey levels are pygame's, whose scaling rounds down; edges lie within a quarter of a pixel."""
    pictures = drive(CASES - 1)[2]
    for ours, theirs in zip(pictures, RECORDED["pictures"][: len(pictures)], strict=True):
        away = np.abs(ours.astype(int) - theirs)
        assert away.mean() < 2.6
        assert (away.max(-1) > 16).mean() < 0.02


def test_the_race_cars_hull_is_box2ds():
    """Mass and inertia about the origin as Box2D 2.3.10 says, and a wheel's."""
    mass, x, y, inertia, half, radius = shapes_of("race car")["build"]
    assert mass == pytest.approx(7.06, abs=1e-5)
    assert (x, y) == pytest.approx((0.0, -0.0825309), abs=1e-6)
    assert inertia + mass * y * y == pytest.approx(18.2603645, abs=1e-4)
    wheel = 0.1 * 4.0 * half * radius
    assert wheel == pytest.approx(0.06048, abs=1e-6)
    assert wheel * (half * half + radius * radius) / 3.0 == pytest.approx(0.0074592, abs=1e-6)
    assert (half, radius) == (14 * SIZE, 27 * SIZE)


def test_spaces_are_gymnasiums():
    env = gymnasium.make("rlenvs/CarRacing-v0")
    assert env.observation_space == gymnasium.spaces.Box(0, 255, (96, 96, 3), np.uint8)
    low, high = np.array([-1.0, 0.0, 0.0], np.float32), np.ones(3, np.float32)
    assert env.action_space == gymnasium.spaces.Box(low, high)
    assert env.spec.max_episode_steps == 1000
    assert gymnasium.make("rlenvs/CarRacingDiscrete-v0").action_space == gymnasium.spaces.Discrete(5)
    assert rlenvs.make("CarRacing-v0", level="vector").observation_space.shape == (48,)


def played(actions, seed=0, steps=40, id="CarRacing-v0", **keywords):
    """The state after these actions."""
    env = rlenvs.make(id, **{"observation": "vector", **keywords})
    env.reset(seed=seed)
    total = 0.0
    for t in range(steps):
        total += env.step(actions(t) if callable(actions) else actions)[1]
    _, s = env.unwrapped.batch.records(0)
    return s, total


GAS = np.array([0.0, 0.5, 0.0], np.float32)


def test_choices_are_gymnasiums():
    """Left and right turn by 0.6 rad, as far as the limit; gas 0.2; brakes 0.8."""
    right, _ = played(1, id="CarRacingDiscrete-v0", steps=12)
    left, _ = played(2, id="CarRacingDiscrete-v0", steps=12)
    gas, _ = played(3, id="CarRacingDiscrete-v0", steps=12)
    assert right.body[0, 1, 2] - right.body[0, 0, 2] < -0.36
    assert left.body[0, 1, 2] - left.body[0, 0, 2] > 0.36
    assert gas.wheel[0, 2, 2] == pytest.approx(0.2)
    assert gas.wheel[0, 0, 2] == 0.0
    same, _ = played(np.array([0.0, 0.2, 0.0], np.float32), steps=12)
    np.testing.assert_allclose(same.body, gas.body, atol=1e-6)


def test_what_an_episode_pays():
    """1000 for all tiles, less 0.1 in every step, to the expert of seed 0."""
    env = rlenvs.make("CarRacing-v0", level="vector")
    env.reset(seed=0)
    total, steps, ended = 0.0, 0, False
    while not ended:
        _, reward, ended, truncated, info = env.step(env.expert_action())
        total, steps = total + reward, steps + 1
        assert not truncated
    assert info["is_success"]
    assert total == pytest.approx(1000.0 - 0.1 * steps)
    assert total > 850.0


def test_beyond_the_playfield_it_ends_with_minus_100():
    env = rlenvs.make("CarRacing-v0", level="vector", playfield=250.0)
    env.reset(seed=1)
    for _ in range(1000):
        _, reward, ended, _, info = env.step(GAS)
        if ended:
            break
    assert ended
    assert reward == -100.0
    assert not info["is_success"]


def test_tile_0_closes_a_lap_only_where_one_asks_for_it():
    """The original's rule asks for a new tile 0, on which the car starts."""
    for close, ends in ((False, False), (True, True)):
        env = rlenvs.make("CarRacing-v0", level="vector", close_lap=close, lap_complete_percent=0.05)
        env.reset(seed=0)
        _, s = env.unwrapped.batch.records(0)
        for i in range(2, 60):
            s.visited[0, i], s.visits[0] = 1, s.visits[0] + 1
        assert env.step(GAS)[2] == ends


EFFECTS = {  # another value; what gets faster (1) or slower (-1), the rear wheels or the car
    "engine_power": (60000.0, "turning", 1),
    "gas_rise": (0.5, "turning", 1),
    "wheel_inertia": (3.0, "turning", -1),
    "hull_density": (2.0, "speed", -1),
    "wheel_density": (0.5, "speed", -1),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_parameters_of_acceleration(name):
    value, what, sense = EFFECTS[name]
    found = []
    for keywords in ({}, {name: value}):
        s = played(GAS, steps=4, **keywords)[0]
        found.append(s.wheel[0, 2, 0] if what == "turning" else np.hypot(*s.body[0, 0, 3:5]))
    assert sense * (found[1] - found[0]) > 0.01 * found[0]


def braked(**keywords):
    return np.hypot(
        *played(lambda t: GAS if t < 30 else np.array([0.0, 0.0, 0.5], np.float32), **keywords)[0].body[0, 0, 3:5]
    )


@pytest.mark.parametrize(("name", "value"), [("brake_force", 2.0), ("front_brake", 0.1), ("rear_brake", 0.1)])
def test_weaker_brakes_leave_more_speed(name, value):
    assert braked(**{name: value}) > braked() + 0.05


def test_friction_and_steering():
    turn = np.array([1.0, 0.3, 0.0], np.float32)
    base = played(turn)[0]
    assert played(turn, steer_limit=0.2)[0].body[0, 0, 2] > base.body[0, 0, 2] + 0.05  # turns less to the right
    slippery = played(GAS, friction_limit=150.0)[0]
    assert np.hypot(*slippery.body[0, 0, 3:5]) < np.hypot(*played(GAS)[0].body[0, 0, 3:5])
    assert played(GAS, road_friction=0.3, grass_friction=0.1)[0].wheel[0, 0, 4] == pytest.approx(0.3)


def test_vehicles_and_driven_wheels():
    """CARL's contexts: mass, power, steering and the wheels that the engine drives."""
    speeds = {v: np.hypot(*played(GAS, vehicle=v)[0].body[0, 0, 3:5]) for v in ("race car", "street car", "bus")}
    assert speeds["race car"] > speeds["bus"] > speeds["street car"]
    front, rear = played(GAS, drive="front")[0].wheel[0, :, 2], played(GAS)[0].wheel[0, :, 2]
    both = played(GAS, drive="all")[0].wheel[0, :, 2]
    assert list(front > 0.0) == [True, True, False, False]
    assert list(rear > 0.0) == [False, False, True, True]
    assert (both > 0.0).all()


@pytest.mark.parametrize("end", [0, 1])
def test_extremes_stay_finite(end):
    """All parameters at one end of their ranges, random actions."""
    world = rlenvs.core.catalogue.registry.world_of("CarRacing-v0")
    extremes = {name: (part.low, part.high)[end] for name, part in world.params.items()}
    extremes["lap_complete_percent"] = 1.0
    batch = rlenvs.make_batch("CarRacing-v0", 4, observation="vector", **extremes)
    batch.seed(0)
    batch.reset()
    draws = np.random.default_rng(0)
    for _ in range(300):
        batch.step(draws.uniform(-1.0, 1.0, (4, 3)))
        assert np.isfinite(batch.observations).all()


@pytest.mark.parametrize("name", ["engine_power", "steer_limit", "track_width", "zoom"])
def test_outside_of_ranges_is_refused(name):
    with pytest.raises(ParameterError, match=name):
        rlenvs.make("CarRacing-v0", **{name: 1e9})


def test_random_colours():
    """Road and ground of one colour each, the patches 20 brighter in one of red, green and blue."""
    env = rlenvs.make("CarRacing-v0", domain_randomize=True)
    found = []
    for seed in range(3):
        env.reset(seed=seed)
        _, s = env.unwrapped.batch.records(0)
        assert sorted(np.round(s.color[6:] - s.color[3:6], 6)) == [0.0, 0.0, 20.0]
        assert (s.color[:6] <= 210.0).all()
        found.append(s.color.copy())
    assert not np.allclose(found[0], found[1])


def test_defaults_of_the_track_are_gymnasiums():
    params = world_of("rlenvs/CarRacing-v0").params
    numbers = {"track_radius": 150.0, "track_turn_rate": 0.31, "playfield": 2000.0 / 6.0, "lap_complete_percent": 0.95}
    assert {name: params[name].default for name in numbers} == numbers


def test_the_picture_is_the_same_compiled_and_as_plain_python():
    """`rlenvs.check_env` compares what is quick in plain Python alone: the numbers."""
    compiled, plain = (rlenvs.make_batch("CarRacing-v0", 1, backend=backend) for backend in ("numba", "python"))
    for batch in (compiled, plain):
        batch.seed([3])
        batch.reset()
        for _ in range(2):
            batch.step([[[0.3, 1.0, -1.0]]])
    assert compiled.observations.std() > 10.0
    np.testing.assert_array_equal(compiled.observations, plain.observations)
