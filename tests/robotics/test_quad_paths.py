"""Reference trajectories of quadcopters: derivatives, splines of least snap, flatness."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.quad_courses import CPC, GRAVITY, ROOM, compiled

from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import paths

# --- paths ------------------------------------------------------------------------------------------------------------

WAYPOINTS = [[0, 0, 1], [1, 0.5, 1.4], [1.2, 2, 1], [-1, 1, 0.6]]
DURATIONS = np.array([0.8, 1.1, 1.7])
SPLINE = paths.minimum_snap(WAYPOINTS, DURATIONS)
KERNELS = {
    "helix": lambda out, t: paths.helix(out, t, 0.3, -0.2, 0.5, 0.7, 4.0, 0.4, 0.1),
    "pid_circle": lambda out, t: paths.pid_circle(out, t, 2),
    "lemniscate": lambda out, t: paths.lemniscate(out, t, 0.1, 0.2, 1.0, 1.5, 0.6, 5.0),
    "line": lambda out, t: paths.line(out, t, 0.0, 1.0, 2.0, 3.0, 2.0, 1.5, 2.0),
    "polynomial": lambda out, t: paths.polynomial(out, t, SPLINE, DURATIONS),
}


def motion_at(name, t, rows=5):
    out = np.full((rows, 3), np.nan)
    KERNELS[name](out, t)
    return out


@pytest.mark.parametrize("name", KERNELS)
def test_derivatives_by_finite_differences(name):
    for t in (0.05, 0.31, 0.9, 1.3, 2.7, 3.1):
        numeric = (motion_at(name, t + 1e-5)[:4] - motion_at(name, t - 1e-5)[:4]) / 2e-5
        np.testing.assert_allclose(motion_at(name, t)[1:], numeric, rtol=1e-6, atol=1e-5)
        for rows in (1, 2, 3):
            np.testing.assert_array_equal(motion_at(name, t, rows), motion_at(name, t)[:rows])


def test_circle_of_the_pid_example():
    """The waypoints of `pid.py`: 480 in 10 s, a circle of radius 0.3 through (0, 0), drone k k/6 of a lap ahead."""
    out = np.zeros((2, 3))
    for k in range(3):
        for i in range(0, 480, 37):
            angle = ((i + k * 80) % 480) / 480 * 2 * math.pi + math.pi / 2
            paths.pid_circle(out, i / 48, k)
            expected = (0.3 * math.cos(angle), 0.3 * math.sin(angle) - 0.3, 0.1 + 0.05 * k)
            assert out[0] == pytest.approx(expected, abs=1e-12)
            assert np.linalg.norm(out[1]) == pytest.approx(0.3 * 2 * math.pi / 10)


def test_shape_of_the_lemniscate():
    """Gerono: (x/a)^4 = (x/a)^2 - (y/2b)^2 with y = b sin 2a; through the middle twice a lap."""
    for t in np.linspace(0, 5, 23):
        x, y, z = motion_at("lemniscate", t)[0] - (0.1, 0.2, 1.0)
        assert (x / 1.5) ** 4 == pytest.approx((x / 1.5) ** 2 - (y / 0.6) ** 2 / 4, abs=1e-12)
        assert z == 0.0
    for t in (0.0, 2.5, 5.0):
        assert motion_at("lemniscate", t)[0] == pytest.approx((0.1, 0.2, 1.0))


def test_minimum_snap_passes_the_waypoints_smoothly_and_rests_at_its_ends():
    ends = np.concatenate([[0.0], np.cumsum(DURATIONS)])
    for t, waypoint in zip(ends, WAYPOINTS, strict=True):
        assert motion_at("polynomial", t)[0] == pytest.approx(waypoint, abs=1e-9)
    for t in ends[1:-1]:
        before, after = (motion_at("polynomial", t + d, 7) for d in (-1e-9, 1e-9))
        scale = np.abs(before).max(axis=1, keepdims=True)
        np.testing.assert_allclose(before / scale, after / scale, atol=1e-6)
    for t in (0.0, ends[-1]):
        np.testing.assert_allclose(motion_at("polynomial", t)[1:4], 0.0, atol=1e-9)
    for t, waypoint in ((-1.0, WAYPOINTS[0]), (9.0, WAYPOINTS[-1])):
        np.testing.assert_allclose(motion_at("polynomial", t), [waypoint, *[[0, 0, 0]] * 4], atol=1e-9)


def test_one_segment_of_minimum_snap_is_the_known_polynomial():
    coefficients = paths.minimum_snap([[0, 0, 0], [1, 2, 0]], [3.0])
    np.testing.assert_allclose(coefficients[0, 0], [0, 0, 0, 0, 35, -84, 70, -20], atol=1e-9)
    np.testing.assert_allclose(coefficients[0, 1], [0, 0, 0, 0, 70, -168, 140, -40], atol=1e-9)


def snap_cost(coefficients, durations):
    total = 0.0
    for c, duration in zip(coefficients, durations, strict=True):
        for axis in range(3):
            snap = np.polynomial.Polynomial(c[axis]).deriv(4) / duration**4
            square = (snap * snap).integ()
            total += duration * (square(1.0) - square(0.0))
    return total


@given(st.lists(st.floats(-2, 2), min_size=6, max_size=6))
@settings(max_examples=30)
def test_no_other_spline_through_the_waypoints_has_less_snap(changes):
    """Choose speed and acceleration at an inner waypoint otherwise, jerk as is: the snap cannot fall."""
    other = SPLINE.copy()
    for axis in range(3):
        for i, side in ((0, 1.0), (1, 0.0)):
            bump = np.zeros(8)
            for order in (1, 2):
                wanted = np.zeros(8)
                wanted[4 * int(side) + order] = changes[2 * axis + order - 1] * DURATIONS[i] ** order
                rows = [paths._derivatives_at(0.0)[:4], paths._derivatives_at(1.0)[:4]]
                bump += np.linalg.solve(np.vstack(rows), wanted)
            other[i, axis] += bump
    assert snap_cost(other, DURATIONS) >= snap_cost(SPLINE, DURATIONS) * (1 - 1e-9)


def test_trapezoid_times():
    """4 m at 2 m/s and 1 m/s^2 just reaches the speed; 1 m does not; 10 m cruises for 3 s."""
    times = paths.trapezoid_times([[0, 0, 0], [4, 0, 0], [4, 1, 0], [4, 1, 10]], 2.0, 1.0)
    assert times == pytest.approx([4.0, 2.0, 7.0])
    with pytest.raises(ParameterError, match="speed=0"):
        paths.trapezoid_times([[0, 0, 0], [4, 0, 0]], 0, 1.0)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([[0, 0, 1]], "1 waypoints were given; allowed: 2 to 64"),
        ([[0, 0, 1], [0, 0]], r"waypoint 1 is \[0, 0\]; write it as \[x, y, z\]"),
        ([[0, 0, 1], [0, 0, 1, 0]], r"waypoint 1 is .* write it as \[x, y, z\]$"),
        ([[0, 0, 1], [0, 0, math.nan]], "z of waypoint 1 is nan"),
        ([[0, 0, 1], [0, 0, 1]], "waypoints 0 and 1 are both .*remove one of them"),
        ([[0, 0, 1], [0, 3.1, 1]], r"y of waypoint 1 is 3.1 m; allowed is \[-3, 3\] m; move it"),
        ([[0, 0, 1], [0, 1, -0.1]], r"z of waypoint 1 is -0.1 m; allowed is \[0, 3\] m"),
    ],
)
def test_bad_waypoints(bad, words):
    with pytest.raises(ParameterError, match=words):
        paths.parse_waypoints(bad, ROOM)
    with pytest.raises(ParameterError, match=r"durations=.* must be 3 numbers above 0"):
        paths.minimum_snap(WAYPOINTS, [1.0, 0.0, 1.0])


def test_kernels_compile():
    polynomial, helix = compiled(paths.polynomial), compiled(paths.helix)
    for t in (-1.0, 0.5, 2.0, 9.0):
        out = np.zeros((5, 3))
        polynomial(out, t, np.ascontiguousarray(SPLINE), DURATIONS)
        np.testing.assert_allclose(out, motion_at("polynomial", t), rtol=1e-9, atol=1e-9)
        helix(out, t, 0.3, -0.2, 0.5, 0.7, 4.0, 0.4, 0.1)
        np.testing.assert_allclose(out, motion_at("helix", t), rtol=1e-12, atol=1e-12)


# --- flatness ---------------------------------------------------------------------------------------------------------

LEVER = 0.0397 / math.sqrt(2)
CRAZYFLIE = paths.Quad(
    mass=0.027,
    inertia=(1.4e-5, 1.4e-5, 2.17e-5),
    rotor_x=(LEVER, -LEVER, -LEVER, LEVER),
    rotor_y=(-LEVER, -LEVER, LEVER, LEVER),
    spin=(-1, 1, -1, 1),
    torque_ratio=7.94e-12 / 3.16e-10,
    thrust_to_weight=2.25,
)


def test_the_cpc_quad():
    assert CPC.mass == 0.85
    assert CPC.inertia == (0.001, 0.001, 0.0017)
    assert 4 * CPC.max_thrust == pytest.approx(3.3 * 0.85 * 9.8)
    assert CRAZYFLIE.max_thrust * 4 == pytest.approx(0.59535)


def wrench(thrusts, quad):
    """Force and torques as the cards write them."""
    f0, f1, f2, f3 = np.moveaxis(thrusts, -1, 0)
    if quad is CPC:
        torques = 0.15 * (f0 - f1 - f2 + f3), 0.15 * (-f0 - f1 + f2 + f3), 0.05 * (f0 - f1 + f2 - f3)
    else:
        drag = 7.94e-12 / 3.16e-10
        torques = -(f0 + f1 - f2 - f3) * LEVER, (-f0 + f1 + f2 - f3) * LEVER, (-f0 + f1 - f2 + f3) * drag
    return f0 + f1 + f2 + f3, np.stack(torques, -1)


@pytest.mark.parametrize("quad", [CPC, CRAZYFLIE])
def test_thrusts_on_a_circle_are_those_of_a_steady_turn(quad):
    """Nose along the circle, the vehicle turns as one body: rates w are constant in its axes, torque = w x I w."""
    radius, period, t = 1.2, 2.5, 0.7
    spin = 2 * math.pi / period
    motion = np.zeros((5, 3))
    paths.helix(motion, t, 0.0, 0.0, 1.0, radius, period, 0.0, 0.0)
    thrusts, _, rates = paths.flat_outputs(motion, quad, (spin * t + math.pi / 2, spin, 0.0))
    bank = math.atan2(radius * spin**2, GRAVITY)
    turning = np.array([0.0, -math.sin(bank) * spin, math.cos(bank) * spin])  # it leans left, body y points down
    force, torque = wrench(thrusts, quad)
    assert force == pytest.approx(quad.mass * math.hypot(GRAVITY, radius * spin**2), rel=1e-6)
    assert rates == pytest.approx(turning, abs=1e-9)
    inertia = np.array(quad.inertia)
    assert torque == pytest.approx(np.cross(turning, inertia * turning), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("quad", [CPC, CRAZYFLIE])
@pytest.mark.parametrize("name", ["helix", "lemniscate", "polynomial"])
def test_thrusts_are_the_inverse_dynamics_of_the_attitudes(quad, name):
    """Body rates and their change from the attitudes alone, by central differences; yaw changing too."""
    times, h = np.linspace(0.1, 2.9, 15), 1e-3

    def flat(t):
        yaw = np.stack([0.3 + 0.8 * t**2, 1.6 * t, np.full_like(t, 1.6)], -1)
        return paths.flat_outputs(np.stack([motion_at(name, time) for time in t]), quad, yaw)

    thrusts, attitude, rates = flat(times)

    def turning(t):
        """Fourth-order central difference of the attitude."""
        steps = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
        change = sum(weight * flat(t + k * h)[1] for k, weight in steps) / h
        skew = np.swapaxes(flat(t)[1], -1, -2) @ change
        return np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], -1)

    np.testing.assert_allclose(rates, turning(times), atol=1e-6 * np.abs(rates).max())
    acceleration = (
        sum(w * flat(times + k * h)[2] for k, w in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))) / h
    )
    force, torque = wrench(thrusts, quad)
    inertia = np.array(quad.inertia)
    expected = inertia * acceleration + np.cross(rates, inertia * rates)
    np.testing.assert_allclose(torque, expected, atol=1e-6 * np.abs(expected).max())
    lifted = quad.mass * (np.stack([motion_at(name, t)[2] for t in times]) + (0, 0, GRAVITY))
    np.testing.assert_allclose(attitude[..., 2] * force[:, None], lifted, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.swapaxes(attitude, -1, -2) @ attitude, [np.eye(3)] * 15, atol=1e-12)


@pytest.mark.budget(5)
def test_round_trip_the_thrusts_fly_the_lemniscate():
    """Runge-Kutta integration of the rigid body under the thrusts alone stays on the reference for a second."""
    name, quad, step = "lemniscate", CPC, 1e-3
    inertia = np.array(quad.inertia)

    def change(t, state):
        thrusts = paths.flat_outputs(motion_at(name, t), quad)[0]
        force, torque = wrench(thrusts, quad)
        rotation, rates = state[6:15].reshape(3, 3), state[15:]
        skew = np.array([[0, -rates[2], rates[1]], [rates[2], 0, -rates[0]], [-rates[1], rates[0], 0]])
        acceleration = rotation[:, 2] * force / quad.mass - (0, 0, GRAVITY)
        turn = (torque - np.cross(rates, inertia * rates)) / inertia
        return np.concatenate([state[3:6], acceleration, (rotation @ skew).ravel(), turn])

    begin = motion_at(name, 0.0)
    _, attitude, rates = paths.flat_outputs(begin, quad)
    state = np.concatenate([begin[0], begin[1], attitude.ravel(), rates])
    for k in range(1000):
        t = k * step
        k1 = change(t, state)
        k2 = change(t + step / 2, state + step / 2 * k1)
        k3 = change(t + step / 2, state + step / 2 * k2)
        k4 = change(t + step, state + step * k3)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert state[:3] == pytest.approx(motion_at(name, 1.0)[0], abs=1e-6)
    assert state[3:6] == pytest.approx(motion_at(name, 1.0)[1], abs=1e-6)


def test_feasibility_at_low_fidelity():
    assert paths.feasible([0.0, 1.0, 2.0], 2.0)
    assert not paths.feasible([0.0, 2.1], 2.0)
    assert not paths.feasible([-0.01, 1.0], 2.0)
    assert not paths.feasible([math.nan], 2.0)
    free_fall = np.zeros((5, 3))
    free_fall[2, 2] = -GRAVITY
    assert not paths.feasible(paths.flat_outputs(free_fall, CPC)[0], CPC.max_thrust)
    hover, attitude, _ = paths.flat_outputs(np.zeros((5, 3)), CPC)
    assert hover == pytest.approx([0.85 * 9.8 / 4] * 4)
    np.testing.assert_array_equal(attitude, np.eye(3))


def test_samples_are_those_of_the_kernel():
    samples = paths.sample(SPLINE, DURATIONS)
    assert samples.shape == (120, 5, 3)
    np.testing.assert_allclose(samples[53], motion_at("polynomial", 0.8 + 13 / 39 * 1.1), atol=1e-9)


def test_the_fastest_minimum_snap_uses_the_rotors_to_the_full():
    for given_times in (DURATIONS, 7.0 * DURATIONS):
        coefficients, times = paths.fastest_minimum_snap(WAYPOINTS, given_times, CPC)
        thrusts, _, _ = paths.flat_outputs(paths.sample(coefficients, times), CPC)
        assert paths.feasible(thrusts, CPC.max_thrust)
        faster, _, _ = paths.flat_outputs(paths.sample(coefficients, 0.998 * times), CPC)
        assert not paths.feasible(faster, CPC.max_thrust)
        np.testing.assert_allclose(times / times[0], DURATIONS / DURATIONS[0])
    with pytest.raises(ParameterError, match=r"no speed makes these waypoints feasible at thrust_to_weight=0.9"):
        paths.fastest_minimum_snap(WAYPOINTS, DURATIONS, CPC._replace(thrust_to_weight=0.9))
