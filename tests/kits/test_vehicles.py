"""Cars: CommonRoad's verification vectors, limits, controllers, turning circles, and tyres that saturate."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlenvs.kits.vehicles import drift, single_track
from rlenvs.kits.vehicles.single_track import CAR, SLIP, SPEED, YAW, YAW_RATE

RACER = SimpleNamespace(**{name: part.default for name, part in CAR.items()})
FOOT, POUND_FORCE = 0.3048, 4.4482216152605
FULL_SIZE = SimpleNamespace(
    friction=1.0489,
    front_stiffness=21.92 / 1.0489,
    rear_stiffness=21.92 / 1.0489,
    front_axle=FOOT * 3.793293,
    rear_axle=FOOT * 4.667707,
    cg_height=FOOT * 2.01355,
    mass=POUND_FORCE / FOOT * 74.91452,
    inertia=POUND_FORCE * FOOT * 1321.416,
    max_steer=1.066,
    steer_rate=0.4,
    switch_speed=7.319,
    max_acceleration=11.5,
    top_speed=50.8,
    reverse_speed=13.6,
)


def car(**states):
    x = np.zeros(7)
    for name, value in states.items():
        x[getattr(single_track, name)] = value
    return x


def test_the_numbers_are_f1tenths():
    values = [RACER.friction, RACER.front_stiffness, RACER.rear_stiffness, RACER.front_axle, RACER.rear_axle]
    assert values == [1.0489, 4.718, 5.4562, 0.15875, 0.17145]
    assert [RACER.cg_height, RACER.mass, RACER.inertia] == [0.074, 3.74, 0.04712]
    assert [RACER.max_steer, RACER.steer_rate, RACER.switch_speed, RACER.max_acceleration] == [0.4189, 3.2, 7.319, 9.51]
    assert [RACER.top_speed, RACER.reverse_speed, single_track.GRAVITY] == [20.0, 5.0, 9.81]


def test_ranges_and_numbers_of_the_models():
    """What tests of motion do not show: ranges of the parameters, and where the models change."""
    ranges = {name: (part.low, part.high) for name, part in CAR.items()}
    assert ranges == {
        "friction": (0.2, 1.5),
        "front_stiffness": (2.0, 6.0),
        "rear_stiffness": (2.0, 7.0),
        "front_axle": (0.12, 0.2),
        "rear_axle": (0.12, 0.2),
        "cg_height": (0.0, 0.1),
        "mass": (2.5, 5.0),
        "inertia": (0.03, 0.08),
        "max_steer": (0.2, 0.6),
        "steer_rate": (1.0, 6.0),
        "switch_speed": (3.0, 15.0),
        "max_acceleration": (3.0, 12.0),
        "top_speed": (5.0, 25.0),
        "reverse_speed": (1.0, 8.0),
        "rear_drive": (0.0, 1.0),
    }
    assert RACER.rear_drive == 0.0
    assert (single_track.SLOW, single_track.STEER_DEADBAND, single_track.STABLE) == (0.5, 1e-4, 2.7)
    assert (single_track.GAIN_FORWARD, single_track.GAIN_REVERSE, drift.CREEP) == (10.0, 2.0, 1.0)


def test_where_steps_are_too_long_the_kinematic_model_holds_up_to_what_they_follow():
    """Decays per second at 1 m/s: of slip, the sum of both stiffnesses; of the yaw rate, weighted by lever arms."""
    front, rear = (
        stiffness * other / 0.3302 * 1.0489 * 9.81 for stiffness, other in ((4.718, 0.17145), (5.4562, 0.15875))
    )
    yaw = 3.74 / 0.04712 * (0.15875**2 * front + 0.17145**2 * rear)
    assert single_track.least_speed(RACER, 1.0489, 0.02) == pytest.approx(0.02 * max(yaw, front + rear) / 2.7)
    x, scratch = car(STEER=0.2, SPEED=0.6), np.zeros((5, 7))
    single_track.euler(RACER, RACER.friction, x, 0.0, 0.0, 0.01, scratch)  # 1.4 times 0.5: still kinematic
    assert x[YAW] == pytest.approx(0.01 * 0.6 / 0.3302 * math.tan(0.2))
    assert x[SLIP] == 0.0


def test_a_creeping_car_that_slides_is_damped_as_at_one_metre_per_second():
    """Below CREEP the slip's tangent is the side speed over 1 m/s: the force on a car pushed sideways."""
    f, x = np.zeros(7), car(SPEED=0.1)
    x[SLIP] = 0.01  # of `slide`: velocity to the left
    drift.slide(RACER, RACER.friction, x, 0.0, 0.0, f)
    load_f, load_r = (RACER.mass * 9.81 * arm / 0.3302 for arm in (RACER.rear_axle, RACER.front_axle))
    forces = [
        drift.brush_force(stiffness * 1.0489 * load, 1.0489, load, 0.01, 0.0)
        for stiffness, load in ((4.718, load_f), (5.4562, load_r))
    ]
    assert f[SLIP] == pytest.approx(sum(forces) / RACER.mass)


def test_the_kinematic_model_has_commonroads_derivatives():
    x = np.array([3.9579422297936526, 0.0391650102771405, 0.0378491427211811, 16.3546957860883566, 0.0294717351052816])
    f = np.zeros(7)
    single_track.kinematic(FULL_SIZE, x, 0.15, 0.63 * 9.81, f)
    want = [16.3475935934250209, 0.4819314886013121, 0.15, 5.1464424102339752, 0.2401426578627629]
    assert f[:5] == pytest.approx(want, abs=1e-10)


def test_the_dynamic_model_has_commonroads_derivatives():
    x = np.array(
        [2.0233348142065677, 0.0041907137716636, 0.0197545248559617, 15.7216236334290116]
        + [0.0025857914776859, 0.0529001056654038, 0.0033012170610298]
    )
    f = np.zeros(7)
    single_track.dynamic(FULL_SIZE, FULL_SIZE.friction, single_track.SLOW, x, 0.15, 0.63 * 9.81, f)
    want = [15.7213512030862397, 0.0925527979719355, 0.15, 5.3536773276413925]
    want += [0.0529001056654038, 0.6435589397748606, 0.0313297971641291]
    assert f == pytest.approx(want, abs=1e-10)


def test_the_kinematic_model_ends_where_the_original_ends_it_unless_steps_are_long():
    assert single_track.least_speed(RACER, RACER.friction, 0.01) == 0.5
    assert single_track.least_speed(RACER, RACER.friction, 0.02) == pytest.approx(0.87, abs=0.05)


@pytest.mark.parametrize("move", [single_track.runge_kutta, single_track.euler])
@given(st.fixed_dictionaries({name: st.floats(part.low, part.high) for name, part in CAR.items()}), st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_linear_tyres_stay_finite_over_all_parameters(move, values, seed):
    p, rng, scratch = SimpleNamespace(**values), np.random.default_rng(seed), np.zeros((5, 7))
    x = car(SPEED=rng.uniform(0.0, 3.0))
    for _ in range(60):
        move(p, p.friction, x, rng.uniform(-6, 6), rng.uniform(-12, 12), 0.02, scratch)
        assert np.isfinite(x).all()  # cars that oversteer spin ever faster, as the linear model has it


def test_a_slow_car_turns_on_the_circle_of_its_wheel_base():
    """0.33 m / tan 0.4189 = 0.7416 m: the tightest circle of the car."""
    assert single_track.turning_radius(RACER, 0.4189) == pytest.approx(0.3302 / math.tan(0.4189))
    assert single_track.turning_radius(RACER, 0.4189) == pytest.approx(0.7416, abs=1e-3)
    x, scratch, places = car(STEER=0.4189, SPEED=0.45), np.zeros((5, 7)), []
    for _ in range(1100):  # a lap of 10.35 s
        single_track.runge_kutta(RACER, RACER.friction, x, 0.0, 0.0, 0.01, scratch)
        places.append(x[:2].copy())
    width = np.ptp(np.array(places), axis=0)
    assert width == pytest.approx(2 * single_track.turning_radius(RACER, 0.4189), rel=1e-3)
    y = car(STEER=0.4189, SPEED=0.45)
    for _ in range(1100):
        single_track.roll(RACER, y, 0.0, 0.0, 0.01, scratch)
    assert y[:2] == pytest.approx(x[:2], abs=1e-3)


def test_a_fast_car_turns_on_the_understeer_circle():
    """Steady state of the linear model: yaw rate = v delta / (L + K v^2), from balance of loads and stiffnesses."""
    x, scratch, speed, steer = car(STEER=0.05, SPEED=3.0), np.zeros((5, 7)), 3.0, 0.05
    for _ in range(400):
        single_track.runge_kutta(RACER, RACER.friction, x, 0.0, 0.0, 0.01, scratch)
    gradient = (1.0 / RACER.front_stiffness - 1.0 / RACER.rear_stiffness) / (RACER.friction * 9.81)
    base = RACER.front_axle + RACER.rear_axle
    assert x[YAW_RATE] == pytest.approx(speed * steer / (base + gradient * speed**2), rel=1e-6)


@pytest.mark.parametrize(
    ("speed", "wanted", "got"),
    [
        (1.0, 20.0, 9.51),
        (14.638, 20.0, 4.755),
        (1.0, -20.0, -9.51),
        (20.0, 1.0, 0.0),
        (-5.0, -1.0, 0.0),
        (20.0, -1.0, -1.0),
    ],
)
def test_limits_of_acceleration(speed, wanted, got):
    assert single_track.limited_acceleration(RACER, speed, wanted) == pytest.approx(got)


@pytest.mark.parametrize(
    ("steer", "wanted", "got"),
    [(0.0, 9.0, 3.2), (0.0, -9.0, -3.2), (0.4189, 1.0, 0.0), (-0.4189, -1.0, 0.0), (0.4189, -1.0, -1.0)],
)
def test_limits_of_steering(steer, wanted, got):
    assert single_track.limited_steer_rate(RACER, steer, wanted) == got


@pytest.mark.parametrize(
    ("speed", "wanted", "got"),
    [(2.0, 3.0, 10 * 9.51 / 20), (2.0, 1.0, -10 * 9.51 / 5), (0.0, 1.0, 2 * 9.51 / 20), (-1.0, -2.0, -2 * 9.51 / 5)],
)
def test_speed_controller(speed, wanted, got):
    assert single_track.acceleration_towards(RACER, car(SPEED=speed), wanted) == pytest.approx(got)


def test_steering_controller():
    assert single_track.steer_rate_towards(RACER, car(STEER=0.1), 0.2) == 3.2
    assert single_track.steer_rate_towards(RACER, car(STEER=0.1), -0.2) == -3.2
    assert single_track.steer_rate_towards(RACER, car(STEER=0.1), 0.1 + 9e-5) == 0.0


def test_the_delay_line_gives_back_what_went_in_two_steps_before():
    buffer = np.zeros(2)
    got = [single_track.delayed(buffer, step, wanted) for step, wanted in enumerate([0.1, 0.2, 0.3, 0.4, 0.5])]
    assert got == [0.0, 0.0, 0.1, 0.2, 0.3]


# --- sliding ----------------------------------------------------------------------------------------------------------


def test_brush_tyres_are_linear_then_saturate():
    assert drift.brush_force(100.0, 1.0, 20.0, 1e-5, 0.0) == pytest.approx(-1e-3, rel=1e-4)
    assert drift.brush_force(100.0, 1.0, 20.0, 0.7, 0.0) == -20.0
    assert drift.brush_force(100.0, 1.0, 20.0, -0.7, 0.0) == 20.0
    assert drift.brush_force(100.0, 1.0, 20.0, 0.6, 12.0) == -16.0  # 20^2 = 12^2 + 16^2
    assert drift.brush_force(100.0, 1.0, 20.0, 0.6, 25.0) == 0.0


def test_at_small_slip_both_models_agree():
    linear, brush, scratch = car(STEER=0.01, SPEED=4.0), car(STEER=0.01, SPEED=4.0), np.zeros((5, 7))
    for _ in range(100):
        single_track.runge_kutta(RACER, RACER.friction, linear, 0.0, 0.0, 0.01, scratch)
        drift.drift(RACER, RACER.friction, brush, 0.0, 0.0, 0.01, 4, scratch)
    assert brush[YAW_RATE] == pytest.approx(linear[YAW_RATE], rel=0.03)


def test_a_sliding_car_cannot_corner_faster_than_friction():
    """8 m/s at full lock: the linear model corners with 8 g, the sliding one with less than friction allows."""
    linear, brush, scratch = car(STEER=0.4, SPEED=8.0), car(STEER=0.4, SPEED=8.0), np.zeros((5, 7))
    most = RACER.friction * 9.81
    for _ in range(30):
        before = brush[SPEED] * np.exp(1j * (brush[YAW] + brush[SLIP]))
        single_track.runge_kutta(RACER, RACER.friction, linear, 0.0, 0.0, 0.01, scratch)
        drift.drift(RACER, RACER.friction, brush, 0.0, 0.0, 0.01, 4, scratch)
        change = abs(brush[SPEED] * np.exp(1j * (brush[YAW] + brush[SLIP])) - before) / 0.01
        assert change <= most * 1.01
    assert abs(linear[SPEED] * linear[YAW_RATE]) > 2.0 * most


def test_power_at_the_rear_breaks_it_loose():
    """The drive force takes the rear tyres' side force: the nose turns in; on all wheels the car runs wide instead."""
    rear = SimpleNamespace(**{**vars(RACER), "rear_drive": 1.0})
    all_wheels, driven, scratch = car(STEER=0.25, SPEED=4.0), car(STEER=0.25, SPEED=4.0), np.zeros((5, 7))
    for _ in range(40):
        drift.drift(RACER, RACER.friction, all_wheels, 0.0, 9.51, 0.01, 4, scratch)
        drift.drift(rear, RACER.friction, driven, 0.0, 9.51, 0.01, 4, scratch)
    assert driven[SLIP] < -0.5 < -2.0 * abs(all_wheels[SLIP])
    assert driven[YAW] > all_wheels[YAW] > 0.0


@given(
    st.fixed_dictionaries({name: st.floats(part.low, part.high) for name, part in CAR.items()}),
    st.floats(-8.0, 25.0),
    st.floats(-30.0, 30.0),
    st.floats(-1.5, 1.5),
    st.integers(0, 2**30),
)
@settings(max_examples=25, deadline=None)
def test_sliding_stays_finite_over_all_parameters(values, speed, spin, slip, seed):
    """Whatever the car, its speed (beyond its limits too) and its inputs."""
    p, rng, scratch = SimpleNamespace(**values), np.random.default_rng(seed), np.zeros((5, 7))
    x = car(SPEED=speed, YAW_RATE=spin, SLIP=slip)
    for _ in range(40):
        drift.drift(p, p.friction, x, rng.uniform(-6, 6), rng.uniform(-12, 12), 0.02, 4, scratch)
        assert np.isfinite(x).all()
        assert abs(x[SPEED]) < 60.0
        assert abs(x[YAW_RATE]) < 300.0


def test_a_standing_car_stays_where_it_is():
    x, scratch = car(STEER=0.3), np.zeros((5, 7))
    for _ in range(10):
        drift.drift(RACER, RACER.friction, x, 0.0, 0.0, 0.01, 4, scratch)
        single_track.runge_kutta(RACER, RACER.friction, x, 0.0, 0.0, 0.01, scratch)
    assert x.tolist() == car(STEER=0.3).tolist()
