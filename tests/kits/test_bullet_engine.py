"""The PyBullet engine, on a batch whose records are plain NumPy and whose `before_physics` is a few lines of Python."""

import gc
import math
import sys

import numpy as np
import pytest

from rlenvs.core.declare.errors import EngineError, MissingExtraError
from rlenvs.kits.engines import bullet as module
from rlenvs.kits.engines.bullet import BulletEngine, rotate

bullet = pytest.importorskip("pybullet", reason="pybullet is not installed: its engine is not tested")

HOVER = 14468.429183500699  # RPM, of a Crazyflie 2.x in the original's PyBullet mode
THRUST, DRAG = 3.16e-10, 7.94e-12  # N/RPM^2, N m/RPM^2
ROTORS = np.array([[0.028, -0.028, 0.0], [-0.028, -0.028, 0.0], [-0.028, 0.028, 0.0], [0.028, 0.028, 0.0]])
NUMBERS = ("mass", "inertia_x", "inertia_y", "inertia_z", "damping", "gravity")
MASS, INERTIA, GRAVITY, DT = 0.027, np.array([1.4e-5, 1.4e-5, 2.17e-5]), 9.8, 1.0 / 240.0
STEPS = 8  # physics steps in a control step
PARAMS = np.dtype(
    [(name, "f8") for name in NUMBERS] + [("hull", "f8", (2,)), ("physics_hz", "i8"), ("control_hz", "i8")]
)
LEVEL, ROLLED = (0, 0, 0, 1), (math.sqrt(0.5), 0, 0, math.sqrt(0.5))  # rolled to the right by a quarter turn
LEFT = (0, 0, math.sqrt(0.5), math.sqrt(0.5))  # turned to the left by one
MOTION = ("position", "attitude", "velocity", "rates")


class Batch:
    """Records, and rotors that push along body z."""

    def __init__(self, num_envs=1, drones=1, shapes=0, damping=0.04, physics_hz=240, control_hz=30, touching=True):
        self.num_envs = num_envs
        fields = {"position": 3, "attitude": 4, "velocity": 3, "rates": 3, "rpm": 4, "force": 3, "torque": 3}
        state = [(name, "f8", (drones, length)) for name, length in fields.items()]
        state += [("alive", "?", (drones,)), ("steady", "?")]
        state += [("touching", "?", (drones,))] * touching + [("shapes", "f8", (shapes, 12))] * bool(shapes)
        self.params = np.zeros(1, PARAMS).view(np.recarray)
        self.params[0] = (MASS, *INERTIA, damping, GRAVITY, (0.06, 0.025), physics_hz, control_hz)
        self.states = np.zeros(num_envs, state).view(np.recarray)
        self.states.attitude[..., 3] = 1.0
        self.states.alive = True
        self.seen = []

    def records(self, i):
        return self.params[0], self.states[i]

    def before_physics(self, i):
        s = self.states[i]
        self.seen.append(s.position[0, 2])
        lift, twist = THRUST * s.rpm**2, DRAG * s.rpm**2 * [-1, 1, -1, 1]
        s.force[:, 2] = lift.sum(axis=1)
        s.torque[:, 0], s.torque[:, 1] = lift @ ROTORS[:, 1], -lift @ ROTORS[:, 0]
        s.torque[:, 2] = twist.sum(axis=1)


class Pushed(Batch):
    """Forces and torques that a test writes into the record."""

    def before_physics(self, i):
        pass


@pytest.fixture
def make():
    """Engines that are closed in the end."""
    engines = []

    def make_engine(batch, **choices):
        engines.append(BulletEngine(batch, **choices))
        return engines[-1]

    yield make_engine
    for engine in engines:
        engine.close()


def motion(s):
    return {name: s[name].tobytes() for name in MOTION}


def fly(engine, steps, i=0):
    for _ in range(steps):
        engine.move(np.array([i]))


def matrix(q):
    """From body to world axes."""
    return np.array([rotate(*q, *axis) for axis in np.eye(3).tolist()]).T


@pytest.fixture(autouse=True)
def nothing_left_over():
    """Engines of other tests hold their clients until they are collected."""
    gc.collect()


def clients():
    return sum(bullet.isConnected(client) for client in range(1024))


# --- laws of motion ---------------------------------------------------------------------------------------------------


def test_free_fall_is_semi_implicit_euler(make):
    batch = Batch(damping=0.0)
    s = batch.states[0]
    s.position[0] = 0.3, -0.2, 8.0
    s.velocity[0] = 1.0, 0.5, 2.0
    engine = make(batch)
    engine.place(np.array([0]))
    fly(engine, 20)
    n = 20 * STEPS
    fall = GRAVITY * DT**2 * n * (n + 1) / 2
    np.testing.assert_allclose(s.velocity[0], [1.0, 0.5, 2.0 - GRAVITY * DT * n], atol=1e-12)
    np.testing.assert_allclose(
        s.position[0], [0.3 + DT * n, -0.2 + 0.5 * DT * n, 8.0 + 2.0 * DT * n - fall], atol=1e-11
    )
    assert s.attitude.tolist() == [[0, 0, 0, 1]]
    assert not s.touching.any()


def test_damping_slows_both_motions_by_c_times_1_plus_v_times_v(make):
    batch = Batch(damping=0.3)
    batch.params.gravity = 0.0
    s = batch.states[0]
    s.position[0, 2], s.velocity[0, 0], s.rates[0, 2] = 5.0, 2.0, 6.0
    engine = make(batch)
    engine.place(np.array([0]))
    engine.move(np.array([0]))
    v, w = 2.0, 6.0
    for _ in range(STEPS):
        v, w = v - DT * 0.3 * (1 + v) * v, w - DT * 0.3 * (1 + w) * w
    np.testing.assert_allclose([s.velocity[0, 0], s.rates[0, 2]], [v, w], rtol=1e-12)


def test_force_and_torque_act_in_body_axes_at_any_attitude(make):
    batch, rng = Pushed(damping=0.0, control_hz=240), np.random.default_rng(0)
    s = batch.states[0]
    engine = make(batch)
    for _ in range(40):
        q = rng.normal(size=4)
        s.position[0], s.attitude[0], s.velocity[0], s.rates[0] = (0, 0, 5), q / np.linalg.norm(q), 0, 0
        s.force[0], s.torque[0] = rng.normal(size=3), 1e-3 * rng.normal(size=3)
        turn = matrix(s.attitude[0].tolist())
        engine.place(np.array([0]))
        engine.move(np.array([0]))
        np.testing.assert_allclose(s.velocity[0], DT * (turn @ s.force[0] / MASS - [0, 0, GRAVITY]), atol=1e-11)
        spin = DT * (turn @ (s.torque[0] / INERTIA))
        np.testing.assert_allclose(matrix(s.attitude[0].tolist()) @ s.rates[0], spin, atol=1e-10)


def test_angular_momentum_is_kept_in_a_tumble_and_gyroscopic_coupling_acts(make):
    batch = Pushed(damping=0.0, physics_hz=2000, control_hz=20)
    batch.params.inertia_y = 1.8e-5
    batch.params.gravity = 0.0
    inertia = np.array([1.4e-5, 1.8e-5, 2.17e-5])
    s = batch.states[0]
    s.position[0, 2], s.rates[0] = 5.0, (2.0, 3.0, 4.0)
    engine = make(batch)
    engine.place(np.array([0]))
    before = inertia * s.rates[0]
    fly(engine, 20)
    after = matrix(s.attitude[0].tolist()) @ (inertia * s.rates[0])
    np.testing.assert_allclose(after, before, atol=0.005 * np.linalg.norm(before))
    assert np.abs(s.rates[0] - [2.0, 3.0, 4.0]).max() > 0.3


# --- the original -----------------------------------------------------------------------------------------------------

# flights of gym-pybullet-drones 2.1.0, CtrlAviary, Physics.PYB, 240 and 30 Hz, CF2X, pybullet 3.2.7
TURN_START = (0.13243054739079688, -0.11964726626912243, 0.2578588952842698, 0.9495554075012557)
TURN_POSITION = (-0.9044519850757418, 0.4458775574361217, 4.609115724033645)
TURN_ATTITUDE = (-0.5826640566408686, -0.19096234478096816, 0.03189593200783217, 0.7893152915634619)
TURN_VELOCITY = (-2.5447370581231326, 2.6273571771284367, -1.7698560771646856)
TURN_SPIN = (-2.388087125352799, -1.4173509808366804, 0.21707233163605283)  # world axes


class LateThrust(Batch):
    """As in the original, whose forces keep the direction that the rotors had one physics step ago."""

    def __init__(self):
        super().__init__()
        self.before = None

    def before_physics(self, i):
        super().before_physics(i)
        s = self.states[i]
        now = matrix(s.attitude[0].tolist())
        lag = np.eye(3) if self.before is None else now.T @ self.before
        self.before = now
        forces = (THRUST * s.rpm[0] ** 2)[:, None] * lag[:, 2]
        s.force[0] = forces.sum(axis=0)
        s.torque[0] = np.cross(ROTORS, forces).sum(axis=0) + s.torque[0, 2] * lag[:, 2]


def test_turning_flight_is_the_originals_but_for_its_late_thrust(make):
    batch = LateThrust()
    s = batch.states[0]
    s.position[0], s.attitude[0] = (0, 0, 5), TURN_START
    engine = make(batch)
    engine.place(np.array([0]))
    for t in range(24):
        s.rpm[0] = 14468 * (1 + 0.05 * np.sin(0.7 * t + 1.3 * np.arange(4)))
        engine.move(np.array([0]))
    spin = matrix(s.attitude[0].tolist()) @ s.rates[0]
    np.testing.assert_allclose(s.position[0], TURN_POSITION, atol=1e-7)
    np.testing.assert_allclose(s.attitude[0], TURN_ATTITUDE, atol=1e-7)
    np.testing.assert_allclose(s.velocity[0], TURN_VELOCITY, atol=1e-7)
    np.testing.assert_allclose(spin, TURN_SPIN, atol=1e-6)


@pytest.mark.parametrize("steady", [False, True])
def test_climb_is_the_originals(make, steady):
    batch = Batch()
    s = batch.states[0]
    s.position[0, 2], s.rpm[0] = 1.0, 15000.0
    engine = make(batch)
    s.steady = steady
    engine.place(np.array([0]))
    fly(engine, 30)
    assert s.position[0, 2] == pytest.approx(1.361630199831369, abs=1e-9)
    assert s.velocity[0, 2] == pytest.approx(0.7121472046509124, abs=1e-9)


# --- the record is the truth ------------------------------------------------------------------------------------------


def wobble(batch, t):
    drones = batch.states.rpm.shape[1]
    batch.states.rpm[:] = HOVER * (1 + 0.1 * np.sin(0.7 * t + 1.3 * np.arange(4) + np.arange(drones)[:, None]))


@pytest.mark.parametrize("steady", [False, True])
def test_restored_flight_is_bit_equal(make, steady):
    batch = Batch(drones=3)
    s = batch.states[0]
    s.position[0:3] = [[0, 0, 3], [1, 0, 4], [0, 2, 5]]
    s.rates[:] = 0.3
    engine = make(batch)
    s.steady = steady
    engine.place(np.array([0]))
    kept, flight = None, []
    for t in range(30):
        if t == 11:
            kept = s.copy()
        wobble(batch, t)
        engine.move(np.array([0]))
        flight.append(motion(s))
    batch.states[0] = kept
    engine.place(np.array([0]))
    other = make(batch)  # another process would have another client
    for t in range(11, 30):
        wobble(batch, t)
        (engine if t % 2 else other).move(np.array([0]))
        assert motion(s) == flight[t], t


@pytest.mark.parametrize("exact", [False, True])
def test_restored_landings_agree_with_each_other_and_if_exact_with_the_flight(make, exact):
    batch = Batch(shapes=1)
    s = batch.states[0]
    s.shapes[0] = [2, 0, 0, 0.1, 0.2, 0.2, 0.1, 0.3, 1, 1, 1, 0]
    s.position[0], s.attitude[0], s.rpm[0] = (0.15, 0, 0.25), (0.2, 0.1, 0, math.sqrt(0.95)), 12000.0
    engine, fresh = make(batch), make(batch)
    engine.exact = fresh.exact = exact
    engine.place(np.array([0]))
    fly(engine, 20)
    kept = s.copy()
    fly(engine, 10)
    flight, ends = motion(s), []
    for used, steps in ((engine, 10), (engine, 1), (engine, 10), (fresh, 10)):
        batch.states[0] = kept
        used.place(np.array([0]))
        fly(used, steps)
        assert s.touching[0]
        ends.append(motion(s))
    assert ends[0] == ends[2] == ends[3]
    assert (ends[0] == flight) == exact


def test_place_moves_the_bodies(make):
    batch = Batch(drones=2)
    s = batch.states[0]
    s.position[1], s.attitude[1], s.rates[1] = (1, 2, 3), LEFT, (4, 5, 6)
    engine = make(batch)
    engine.place(np.array([0]))
    client = engine._worlds[0].client
    assert bullet.getBasePositionAndOrientation(2, client)[0] == (1, 2, 3)
    np.testing.assert_allclose(bullet.getBaseVelocity(2, client)[1], (-5, 4, 6), atol=1e-12)


def test_before_physics_runs_before_every_physics_step_and_sees_the_motion(make):
    batch = Batch(physics_hz=200, control_hz=50)
    batch.states.position[0, 0, 2] = 3.0
    engine = make(batch)
    engine.place(np.array([0]))
    engine.move(np.array([0]))
    falls = [3.0 - GRAVITY * n * (n + 1) / 2 / 200**2 for n in range(4)]
    np.testing.assert_allclose(batch.seen, falls, atol=1e-6)
    batch.states.steady = True
    engine.move(np.array([0]))
    assert len(batch.seen) == 5


def test_worlds_do_not_influence_each_other(make):
    batch = Batch(num_envs=3)
    batch.states.position[:, 0] = [(0, 0, 1), (0, 0, 1), (0, 0, 0.3)]
    batch.states.rpm[:] = HOVER
    batch.states.rpm[2] = 0.0
    batch.states.rates[:2, 0, 0] = 0.5
    engine = make(batch)
    engine.place(np.array([1]))
    fly(engine, 10, 1)
    alone = motion(batch.states[1])
    engine.place(np.array([0]))
    engine.place(np.array([2]))
    for _ in range(10):
        fly(engine, 1, 2)
        fly(engine, 1, 0)
    assert motion(batch.states[0]) == alone == motion(batch.states[1])
    assert batch.states.touching.tolist() == [[False], [False], [True]]


# --- contacts ---------------------------------------------------------------------------------------------------------

SHAPES = {
    "floor": ([0] * 12, 0.0),
    "box": ([2, 0.2, 0.1, 0.2, 0.3, 0.2, 0.2, 0.4, 1, 0, 0, 0], 0.4),
    "cylinder": ([3, 0.2, 0.1, 0.3, 0.25, 0.3, 9.9, 0, 1, 0, 0, 0], 0.6),
    "sphere": ([1, 0.2, 0.1, 0.1, 0.3, 9.9, 9.9, 0, 1, 0, 0, 0], 0.4),
}


@pytest.mark.parametrize("name", SHAPES)
def test_drone_comes_to_rest_on(make, name):
    row, top = SHAPES[name]
    batch = Batch(shapes=2)
    s = batch.states[0]
    s.shapes[1] = row
    s.position[0] = 0.2, 0.1, top + 0.15
    engine = make(batch)
    engine.place(np.array([0]))
    engine.move(np.array([0]))
    assert not s.touching[0]
    fly(engine, 15)
    assert s.touching[0]
    assert s.position[0, 2] == pytest.approx(top + 0.0125, abs=1e-4)
    if name != "sphere":
        assert np.abs(s.velocity[0]).max() < 1e-3


def test_yaw_turns_a_box(make):
    batch = Batch(shapes=1)
    s = batch.states[0]
    engine = make(batch)
    for yaw, top in ((0.0, 0.0), (math.pi / 2, 0.2), (math.pi, 0.0)):
        s.shapes[0] = [2, 0, 0, 0.1, 0.5, 0.1, 0.1, yaw, 1, 0, 0, 0]
        s.position[0], s.velocity[0], s.attitude[0], s.rates[0] = (0, 0.4, top + 0.05), 0, (0, 0, 0, 1), 0
        engine.place(np.array([0]))
        fly(engine, 10)
        assert s.position[0, 2] == pytest.approx(top + 0.0125, abs=1e-4)


def test_shapes_move_change_and_vanish(make):
    batch = Batch(shapes=1)
    s = batch.states[0]
    engine = make(batch)
    box = np.array(SHAPES["box"][0], float)
    moved, lower = box.copy(), box.copy()
    moved[1] = 5.0
    lower[6], lower[3] = 0.1, 0.1
    for row, top in ((box, 0.4), (moved, 0.0), (box, 0.4), (lower, 0.2), (0 * box, 0.0), (box, 0.4)):
        s.shapes[0] = row
        s.position[0], s.velocity[0], s.attitude[0], s.rates[0] = (0.2, 0.1, top + 0.05), 0, (0, 0, 0, 1), 0
        engine.place(np.array([0]))
        fly(engine, 10)
        assert s.position[0, 2] == pytest.approx(top + 0.0125, abs=1e-4)


def test_drones_that_collide_touch_and_others_do_not(make):
    batch = Batch(drones=3, damping=0.0)
    batch.params.gravity = 0.0
    s = batch.states[0]
    s.position[:] = [[0, 0, 2], [0.5, 0, 2], [0, 1, 2]]
    s.velocity[0, 0] = 3.0
    engine = make(batch)
    engine.place(np.array([0]))
    touched = np.zeros(3, bool)
    for _ in range(10):
        engine.move(np.array([0]))
        touched |= s.touching
    assert touched.tolist() == [True, True, False]
    assert s.velocity[1, 0] > 1.0
    assert s.velocity[:, 0].sum() == pytest.approx(3.0, abs=1e-6)


@pytest.mark.parametrize(("apart", "touching"), [(0.119, True), (0.125, False)])
def test_drones_touch_at_twice_their_radius(make, apart, touching):
    batch = Batch(drones=2)
    batch.params.gravity = 0.0
    batch.states[0].position[:] = [[0, 0, 2], [apart, 0, 2]]
    engine = make(batch)
    engine.place(np.array([0]))
    engine.move(np.array([0]))
    assert batch.states[0].touching.tolist() == [touching] * 2


def test_a_drone_that_hovers_1_mm_above_the_floor_does_not_touch_it(make):
    batch = Batch()
    s = batch.states[0]
    s.position[0, 2], s.rpm[0] = 0.0135, HOVER
    engine = make(batch)
    engine.place(np.array([0]))
    fly(engine, 3)
    assert bullet.getContactPoints(physicsClientId=engine._worlds[0].client)
    assert not s.touching[0]


def test_floor_slows_a_sliding_drone_with_friction_one_half(make):
    """1 of the original's floor times 0.5, which Bullet gives to bodies."""
    batch = Batch(damping=0.0)
    s = batch.states[0]
    s.position[0, 2], s.velocity[0, 0] = 0.0125, 2.0
    engine = make(batch)
    engine.place(np.array([0]))
    fly(engine, 6)
    assert s.velocity[0, 0] == pytest.approx(2.0 - 0.5 * GRAVITY * 0.2, abs=0.05)


def test_a_short_touch_in_the_middle_of_a_control_step_counts(make):
    batch = Pushed(shapes=1, damping=0.0, physics_hz=240, control_hz=6)
    s = batch.states[0]
    s.shapes[0] = [1, 0, 0, 1, 0.05, 0, 0, 0, 1, 0, 0, 0]
    s.position[0], s.velocity[0] = (-0.6, 0, 1.056), (8.0, 0, 0.4)
    engine = make(batch)
    engine.place(np.array([0]))
    engine.move(np.array([0]))
    assert s.position[0, 0] > 0.3
    assert s.touching[0]


# --- parameters -------------------------------------------------------------------------------------------------------


def test_changed_parameters_hold_from_the_next_place(make):
    batch = Pushed(damping=0.0, control_hz=240)
    s = batch.states[0]
    engine = make(batch)
    engine.place(np.array([0]))
    batch.params[0] = (0.05, 2e-5, 3e-5, 4e-5, 0.0, 3.0, (0.06, 0.025), 120, 120)
    s.position[0, 2], s.force[0], s.torque[0] = 3.0, (0.1, 0, 0), (1e-3, 1e-3, 1e-3)
    engine.place(np.array([0]))
    engine.move(np.array([0]))
    np.testing.assert_allclose(s.velocity[0], [0.1 / 0.05 / 120, 0, -3.0 / 120], atol=1e-12)
    spin = matrix(s.attitude[0].tolist()) @ s.rates[0]
    np.testing.assert_allclose(spin, 1e-3 / np.array([2e-5, 3e-5, 4e-5]) / 120, rtol=1e-9)


def test_size_of_the_drone_is_its_parameter(make):
    batch = Batch()
    s = batch.states[0]
    engine = make(batch)
    for height in (0.025, 0.1):
        batch.params.hull[0] = (0.06, height)
        s.position[0], s.velocity[0] = (0, 0, 0.1), 0
        engine.place(np.array([0]))
        fly(engine, 30)
        assert s.position[0, 2] == pytest.approx(height / 2, abs=1e-4)
    assert clients() == 1


# --- camera -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attitude", "ball", "row", "column"),
    [
        (LEVEL, (4.06, 0, 5.0), 30, 40),
        (LEVEL, (4.06, 1.5, 5.0), 30, 40 - 1.5 / 4 * 30 / math.tan(math.pi / 6)),
        (LEVEL, (4.06, 0, 6.0), 30 - 1.0 / 4 * 30 / math.tan(math.pi / 6), 40),
        (ROLLED, (4.06, 0, 6.0), 30, 40 - 1.0 / 4 * 30 / math.tan(math.pi / 6)),
        (LEFT, (0, 4.06, 5.0), 30, 40),
    ],
)
def test_camera_sees_a_ball_where_it_is(make, attitude, ball, row, column):
    batch = Batch(shapes=1)
    s = batch.states[0]
    s.position[0], s.attitude[0] = (0, 0, 5), attitude
    s.shapes[0] = [1, *ball, 0.3, 0, 0, 0, 0.9, 0, 0, 0]
    colors, distance = make(batch).camera(0, 0, 80, 60, 60.0, 0.1, 50.0)
    assert colors.shape == (60, 80, 4)
    assert colors.dtype == np.uint8
    assert distance.shape == (60, 80)
    assert distance.dtype == np.float32
    reds = np.argwhere((colors[..., 0] > 60) & (colors[..., 1] < 30) & (colors[..., 2] < 30))
    np.testing.assert_allclose(reds.mean(axis=0), [row - 0.5, column - 0.5], atol=1.0)
    assert distance[reds[:, 0], reds[:, 1]].min() == pytest.approx(3.7, abs=0.05)
    assert distance[0, 0] == pytest.approx(50.0, abs=0.05)


def test_drones_see_each_other_and_not_themselves(make):
    batch = Batch(drones=2)
    s = batch.states[0]
    s.position[:] = [[0, 0, 5], [1, 0, 5]]
    engine = make(batch)
    _, distance = engine.camera(0, 0, 64, 48, 60.0, 0.01, 50.0)
    assert distance.min() == pytest.approx(1 - 0.06 - 0.06, abs=0.01)
    _, distance = engine.camera(0, 1, 64, 48, 60.0, 0.01, 50.0)
    assert distance.min() > 5.0


# --- clients ----------------------------------------------------------------------------------------------------------


def test_clients_open_at_first_use_and_close_with_the_engine():
    assert clients() == 0
    engine = BulletEngine(Batch(num_envs=3))
    assert clients() == 0
    engine.move(np.array([1]))
    engine.place(np.array([2]))
    assert clients() == 2
    engine.close()
    engine.close()
    assert clients() == 0
    with pytest.raises(EngineError, match="world 1 is closed"):
        engine.move(np.array([1]))


def test_a_forgotten_engine_leaves_no_client():
    engine = BulletEngine(Batch())
    engine.batch.engine = engine
    engine.place(np.array([0]))
    del engine
    gc.collect()
    assert clients() == 0


@pytest.mark.parametrize("use", ["place", "move", "camera"])
def test_a_client_closed_from_outside_is_told_and_reopened(make, use):
    batch = Batch(num_envs=2)
    batch.states.position[:, 0, 2] = 1.0
    engine = make(batch)
    engine.place(np.array([0]))
    engine.place(np.array([1]))
    bullet.disconnect(engine._worlds[1].client)
    camera = (0, 64, 48, 60.0, 0.1, 50.0) if use == "camera" else ()
    with pytest.raises(EngineError, match="client of world 1 was closed from outside"):
        getattr(engine, use)(1 if camera else np.array([1]), *camera)
    engine.move(np.array([0]))
    engine.place(np.array([1]))
    engine.move(np.array([1]))
    assert clients() == 2
    engine.close()
    assert clients() == 0


def test_the_number_of_a_lost_client_may_belong_to_another_engine(make):
    first, second = make(Batch()), make(Batch())
    first.place(np.array([0]))
    client = first._worlds[0].client
    bullet.disconnect(client)
    second.place(np.array([0]))
    assert second._worlds[0].client == client
    with pytest.raises(EngineError, match="closed from outside"):
        first.move(np.array([0]))
    first.close()
    second.move(np.array([0]))


def test_a_client_that_made_many_shapes_is_replaced(make, monkeypatch):
    monkeypatch.setattr(module, "MOST_SHAPES", 6)
    batch = Batch(shapes=2)
    s = batch.states[0]
    engine = make(batch)
    worlds = []
    for k in range(10):
        s.shapes[:] = [2, 0.2, 0.1, 0.1, 0.3, 0.2, 0.1 + 0.01 * k, 0, 1, 0, 0, 0]
        s.position[0], s.velocity[0] = (0.2, 0.1, 0.3 + 0.01 * k), 0
        engine.place(np.array([0]))
        worlds.append(engine._worlds[0])
        assert clients() == 1
    assert [world is worlds[0] for world in worlds] == [True] * 4 + [False] * 6
    fly(engine, 12)
    assert s.position[0, 2] == pytest.approx(0.2 + 0.01 * 9 + 0.0125, abs=1e-4)


@pytest.mark.parametrize("force", [math.nan, math.inf, 1e30])
def test_a_world_that_blew_up_is_sound_after_the_next_place(make, force):
    batch = Pushed(drones=2)
    s = batch.states[0]
    s.position[:], s.force[0, 2] = [[0, 0, 1], [1, 0, 1]], force
    engine = make(batch)
    engine.place(np.array([0]))
    fly(engine, 2)
    s.position[:], s.attitude[:], s.velocity[:], s.rates[:] = [[0, 0, 0.1], [1, 0, 0.1]], LEVEL, 0, 0
    s.force[:] = 0
    engine.place(np.array([0]))
    fly(engine, 20)
    assert s.touching.all()
    np.testing.assert_allclose(s.position[:, 2], 0.0125, atol=1e-4)


def test_moved_shapes_are_not_made_again(make):
    batch = Batch(shapes=1)
    batch.states[0].shapes[0] = SHAPES["box"][0]
    engine = make(batch)
    for k in range(5):
        batch.states[0].shapes[0, 1] = k
        engine.place(np.array([0]))
    assert engine._worlds[0].made == 1


def test_too_many_worlds(make, monkeypatch):
    with pytest.raises(EngineError, match="1025 worlds were requested; PyBullet supports at most 1024"):
        BulletEngine(Batch(num_envs=1025))

    def refuse(method):
        raise bullet.error("Exceeding maximum number of physics connections.")

    engine = make(Batch())
    monkeypatch.setattr(bullet, "connect", refuse)
    with pytest.raises(EngineError, match="no client left for world 0: it supports at most 1024"):
        engine.place(np.array([0]))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems need no DISPLAY")
def test_window_without_a_screen(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(EngineError, match="DISPLAY is not set"):
        BulletEngine(Batch(), gui=True)


def test_without_pybullet_the_error_names_the_extra_and_the_wheels(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    with pytest.raises(MissingExtraError, match=r"CPython 3\.11 or older.*pip install 'rlenvs-suite\[pybullet\]'"):
        BulletEngine(Batch())
