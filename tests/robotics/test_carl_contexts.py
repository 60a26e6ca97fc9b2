"""CARL's contexts of LunarLander and BipedalWalker: each changes the motion by as much as physics says.

One test for each context of carl_lunarlander.py and carl_bipedal_walker.py (automl/CARL, 14c8fee); docs/carl.md has the
table. CARL's only context of CarRacing is the vehicle: tests/robotics/test_car_racing.py.
"""

import numpy as np
import pytest

import rlenvs
from rlenvs.kits.planar.biped import HIP_0, KNEE_0
from rlenvs.kits.planar.joints import joint_angle
from rlenvs.robotics.landing import lander
from rlenvs.robotics.walking import walker

BATCHES = {}


def start(id, seed=0, **values):
    """One batch of four worlds for each set of values, begun again; their states."""
    key = (id, *sorted(values.items()))
    if key not in BATCHES:
        BATCHES[key] = rlenvs.make_batch(id, 4, **values)
    batch = BATCHES[key]
    batch.seed(seed)
    batch.reset()
    return batch, batch.states


def mass(states, body):
    return 1.0 / states["inverse_mass"][:, body]


def total_momentum(states, bodies):
    return (mass(states, bodies)[..., None] * states["velocity"][:, bodies]).sum(1)


def drift(batch, bodies, actions):
    """What a step adds to the velocity of the whole body."""
    s = batch.states
    before = total_momentum(s, bodies)
    batch.step(actions)
    return (total_momentum(s, bodies) - before) / mass(s, bodies).sum(1)[:, None]


# --- LunarLander ------------------------------------------------------------------------------------------------------

LANDER, LANDER_BODIES = "LunarLander-v0", slice(lander.HULL, lander.RIGHT + 1)
NOTHING, LEFT_ENGINE, MAIN_ENGINE = np.zeros(4, int), np.ones(4, int), np.full(4, 2)
FALLS = [  # contexts, and the velocity [m/s] that a step of free fall adds
    ({}, (0.0, -0.2)),
    ({"gravity": -4.0}, (0.0, -0.08)),
    ({"gravity_x": 5.0}, (0.1, -0.2)),
    ({"fps": 100.0}, (0, -0.1)),
]


@pytest.mark.parametrize(("values", "gained"), FALLS)
def test_gravity_and_the_length_of_a_step(values, gained):
    """GRAVITY_X, GRAVITY_Y, FPS: a step of free fall."""
    batch, _ = start(LANDER, **values)
    np.testing.assert_allclose(drift(batch, LANDER_BODIES, NOTHING), np.broadcast_to(gained, (4, 2)), atol=1e-12)


@pytest.mark.parametrize(("name", "action"), [("main_engine_power", MAIN_ENGINE), ("side_engine_power", LEFT_ENGINE)])
def test_engines_push_by_their_power(name, action):
    """MAIN_ENGINE_POWER, SIDE_ENGINE_POWER: twice the power, twice the push, beside gravity; none without power."""

    def push(share):
        default = {"main_engine_power": 13.0, "side_engine_power": 0.6}[name]
        return drift(start(LANDER, gravity=0.0, **{name: share * default})[0], LANDER_BODIES, action)

    once, twice = push(1.0), push(2.0)
    assert (np.hypot(*once.T) > 0.01).all()
    np.testing.assert_allclose(twice, 2.0 * once, rtol=1e-9)
    np.testing.assert_allclose(push(0.0), 0.0, atol=1e-12)


def test_the_landers_first_push():
    """INITIAL_RANDOM: the same chance, half the force, half the velocity."""
    whole, half = (start(LANDER, gravity=0.0, initial_random=size)[1] for size in (1000.0, 500.0))
    speed = total_momentum(whole, LANDER_BODIES)
    assert (np.hypot(*speed.T) > 1.0).all()
    np.testing.assert_allclose(total_momentum(half, LANDER_BODIES), 0.5 * speed, rtol=1e-9)


def test_the_landers_legs():
    """LEG_AWAY, LEG_DOWN, LEG_W, LEG_H, LEG_SPRING_TORQUE."""
    plain = start(LANDER)[1]
    wide = start(LANDER, leg_w=4.0, leg_h=12.0)[1]
    np.testing.assert_allclose(mass(wide, lander.LEFT), 2.0 * 1.5 * mass(plain, lander.LEFT))
    hung = ((20.0, 18.0), (30.0, 24.0))
    near, far = (start(LANDER, leg_away=a, leg_down=d)[1]["joint_anchor"][0, 0, 2:] for a, d in hung)
    np.testing.assert_allclose(np.abs(far - near), [10.0 / 30.0, 6.0 / 30.0])

    def spread(torque):
        """How far the legs are spread when the lander has come down on them [rad]."""
        batch, s = start(LANDER, leg_spring_torque=torque, initial_random=0.0)
        for _ in range(100):
            batch.step(NOTHING)
            if s["leg_touches"].any():
                break
        _, record = batch.records(0)
        return float(joint_angle(record, 1) - joint_angle(record, 0))

    assert spread(100.0) < spread(0.0) - 0.05


def test_where_the_side_engines_push():
    """SIDE_ENGINE_HEIGHT, SIDE_ENGINE_AWAY: the turn they give changes by the same amount for each pixel."""

    def turn(**values):
        batch, s = start(LANDER, gravity=0.0, **values)
        before = s["spin"][:, lander.HULL].copy()
        batch.step(LEFT_ENGINE)
        return s["spin"][:, lander.HULL] - before

    for name in ("side_engine_height", "side_engine_away"):
        low, middle, high = (turn(**{name: value}) for value in (5.0, 10.0, 15.0))
        assert (np.abs(high - low) > 1e-4).all()
        np.testing.assert_allclose(high - middle, middle - low, rtol=1e-2)


def test_the_landers_world():
    """SCALE, VIEWPORT_W, VIEWPORT_H: masses by area, where it starts, how high the pad lies."""
    plain, large = start(LANDER)[1], start(LANDER, scale=15.0)[1]
    np.testing.assert_allclose(mass(large, lander.HULL), 4.0 * mass(plain, lander.HULL))
    batch, s = start(LANDER, viewport_w=900.0, viewport_h=600.0, initial_random=0.0)
    np.testing.assert_allclose(s["frame"][:, lander.HULL, 0], 15.0, atol=1e-6)
    np.testing.assert_allclose(s["frame"][:, lander.HULL, 1], 20.0, atol=0.01)
    assert (s["heights"][:, 3:8] == 5.0).all()
    away = batch.observations[:, 0, 1]
    np.testing.assert_allclose(away, (s["frame"][:, lander.HULL, 1] - 5.0 - 0.6) / 10.0, atol=1e-6)


# --- BipedalWalker ----------------------------------------------------------------------------------------------------

WALKER, WALKER_BODIES, REST = "BipedalWalker-v0", slice(walker.HULL, walker.LOWER_1 + 1), np.zeros((4, 4))


def lifted(**values):
    """Walkers high above the ground."""
    batch, s = start(WALKER, **values)
    for name in ("centre", "frame", "swept"):
        s[name][:, 1:, 1] += 20.0
    return batch, s


@pytest.mark.parametrize(("values", "gained"), FALLS)
def test_gravity_of_walkers_and_the_length_of_a_step(values, gained):
    """GRAVITY_X, GRAVITY_Y, FPS."""
    batch, _ = lifted(**values)
    np.testing.assert_allclose(drift(batch, WALKER_BODIES, REST), np.broadcast_to(gained, (4, 2)), atol=1e-9)


def test_the_ground():
    """FRICTION, TERRAIN_STEP, TERRAIN_LENGTH, TERRAIN_HEIGHT, TERRAIN_GRASS, TERRAIN_STARTPAD."""
    for friction in (2.5, 0.5):
        s = start(WALKER, friction=friction)[1]
        assert (s["shape_friction"][:, :199] == friction).all()
    s = start(WALKER, terrain_step=0.6, terrain_height=5.0, terrain_length=300, terrain_startpad=30)[1]
    assert s["ground"].shape == (4, 300, 2)
    np.testing.assert_allclose(np.diff(s["ground"][..., 0], axis=1), 0.6)
    assert (s["ground"][:, :31, 1] == 5.0).all()
    assert (s["ground"][:, 31:36, 1] != 5.0).any()
    np.testing.assert_allclose(s["frame"][:, walker.HULL, 0], 9.0, atol=0.01)
    for grass in (10, 20):
        batch, s = lifted(terrain_grass=grass)
        for name in ("centre", "frame", "swept"):
            s[name][:, 1:, 0] += 185.0 * 14.0 / 30.0 - s["frame"][:, [walker.HULL], 0]
        batch.step(REST)
        assert batch.success.all() == (grass == 20)


def test_friction_keeps_a_foot():
    """FRICTION: without it the feet of a walker that gives way slide back, with it they stay."""

    def foot(s):
        """Where the lower end of a leg is."""
        return s["frame"][:, walker.LOWER_0, 0] + s["frame"][:, walker.LOWER_0, 3] * 17.0 / 30.0

    def slid(friction):
        batch, s = start(WALKER, friction=friction, gravity_x=3.0, initial_random=0.0)
        before = foot(s)
        for _ in range(18):
            batch.step(REST)
        return foot(s) - before

    assert (slid(0.0) < slid(2.5) - 0.1).all()


def test_motors():
    """MOTORS_TORQUE, SPEED_HIP, SPEED_KNEE: a weak motor speeds up by its torque, a strong one reaches its speed."""

    def speed(joint, **values):
        batch, s = lifted(gravity=0.0, initial_random=0.0, **values)
        upper, lower = s["joint_body"][0, joint]
        before = s["spin"][:, lower] - s["spin"][:, upper]
        batch.step(np.eye(4)[[joint_action(joint)] * 4])
        return s["spin"][:, lower] - s["spin"][:, upper] - before

    for joint in (HIP_0, KNEE_0):
        np.testing.assert_allclose(speed(joint, motors_torque=0.1), 2.0 * speed(joint, motors_torque=0.05), rtol=1e-3)
    for hip, knee in ((4.0, 6.0), (2.0, 9.0)):
        np.testing.assert_allclose(np.abs(speed(HIP_0, speed_hip=hip, speed_knee=knee)), hip, rtol=0.2)
        np.testing.assert_allclose(np.abs(speed(KNEE_0, speed_hip=hip, speed_knee=knee)), knee, rtol=0.2)


def joint_action(joint):
    return {HIP_0: 0, KNEE_0: 1}[joint]


def test_the_walkers_body():
    """LEG_DOWN, LEG_W, LEG_H, SCALE: places and masses."""
    plain = start(WALKER)[1]
    legs = start(WALKER, leg_w=0.4, leg_h=1.7)[1]
    share = 0.4 * 1.7 / (8.0 / 30.0 * 34.0 / 30.0)
    np.testing.assert_allclose(mass(legs, walker.LEG_0), share * mass(plain, walker.LEG_0))
    np.testing.assert_allclose(mass(start(WALKER, scale=20.0)[1], walker.HULL), 2.25 * mass(plain, walker.HULL))
    hips = [start(WALKER, leg_down=down)[1]["joint_anchor"][0, HIP_0, 1] for down in (-8.0 / 30.0, -0.4)]
    assert hips[1] - hips[0] == pytest.approx(-0.4 + 8.0 / 30.0)


def test_what_the_walker_senses():
    """LIDAR_RANGE, VIEWPORT_W, VIEWPORT_H, SCALE: shares of the range; velocities by the viewport in metres."""
    near, far = (start(WALKER, lidar_range=reach, initial_random=0.0)[1]["lidar"][:, 0] for reach in (4.0, 8.0))
    np.testing.assert_allclose(near, 2.0 * far)

    def seen(**values):
        batch, s = start(WALKER, **values)
        return batch.observations[:, 0, 2:4] / s["velocity"][:, walker.HULL]

    plain = seen()
    np.testing.assert_allclose(seen(viewport_w=900.0), plain * [1.5, 1.0], rtol=1e-4)
    np.testing.assert_allclose(seen(viewport_h=800.0), plain * [1.0, 2.0], rtol=1e-4)
    np.testing.assert_allclose(seen(scale=20.0), 1.5 * plain, rtol=1e-4)


def test_the_walkers_first_push():
    """INITIAL_RANDOM: the same chance, ten times the force, so that walkers are pushed ten times as much."""
    still, weak, strong = (start(WALKER, initial_random=size)[1] for size in (0.0, 2.0, 20.0))
    rest = total_momentum(still, WALKER_BODIES)[:, 0]
    pushed = [total_momentum(s, WALKER_BODIES)[:, 0] - rest for s in (weak, strong)]
    np.testing.assert_allclose(pushed[1], 10.0 * pushed[0], rtol=0.1)
