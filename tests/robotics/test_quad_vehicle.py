"""The vehicles, their effects and controllers against the numbers of their card and recordings of the original."""

import math

import numpy as np
import pytest
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import dynamics, vehicle
from rlenvs.robotics.quadcopter.control import PIDController

FLIGHTS = np.load(DATA / "quadcopters.npz")
PID = np.load(DATA / "quadcopters_pid.npz")


def flight(**keywords):
    """A batch of one hover world whose rpm actions reach every speed, with its records."""
    batch = rlenvs.make_batch("QuadHover-v0", 1, **{"horizon": 10**6, **keywords})
    batch.seed([0])
    batch.reset()
    return batch, *batch.records(0)


def put(s, position=(0, 0, 1), attitude=(0, 0, 0, 1), velocity=(0, 0, 0), rates=(0, 0, 0)):
    s.position[0], s.attitude[0], s.velocity[0], s.rates[0] = position, attitude, velocity, rates


def step_rpm(batch, p, s, rpm):
    """A step at given rotor speeds, even after the end of an episode."""
    s.over, s.alive[:] = False, True
    batch.step((np.asarray(rpm) / vehicle.hover_rpm(p) - 1.0).reshape(1, 4))


# --- the card's table -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "weight", "hover", "most", "thrust", "roll", "pitch", "yaw"),
    [
        ("cf2x", 0.2646, 14468.43, 21702.64, 0.59535, 8.3564e-3, 8.3564e-3, 7.4796e-3),
        ("cf2p", 0.2646, 14468.43, 21702.64, 0.59535, 5.9088e-3, 5.9088e-3, 7.4796e-3),
        # the original's 1.30714 takes 0.109 / sqrt 2 as the racer's lever; its drawing has 0.0675 and 0.085
        (
            "racer",
            8.134,
            15494.60,
            31640.87,
            33.9188,
            1.30714 * 0.0675 / 0.0770746,
            1.30714 * 0.085 / 0.0770746,
            4.2649e-2,
        ),
        ("hb", 4.9, 4477.62, 6332.31, 9.8, 0.42875, 0.42875, 0.12029),
    ],
)
def test_derived_numbers(name, weight, hover, most, thrust, roll, pitch, yaw):
    _, p, _ = flight(vehicle=name)
    assert p.mass * p.gravity == pytest.approx(weight, rel=1e-4)
    assert vehicle.hover_rpm(p) == pytest.approx(hover, abs=0.01)
    assert vehicle.max_rpm(p) == pytest.approx(most, abs=0.01)
    strongest = p.thrust_coefficient * vehicle.max_rpm(p) ** 2
    assert 4 * strongest == pytest.approx(thrust, rel=1e-4)
    levers = p.arm * np.abs(p.rotor[:, :2]).sum(axis=0) / 2  # of the two rotors (plus frames: the one) on one side
    assert strongest * levers[1] == pytest.approx(roll, rel=1e-4)
    assert strongest * levers[0] == pytest.approx(pitch, rel=1e-4)
    assert 2 * p.torque_coefficient * vehicle.max_rpm(p) ** 2 == pytest.approx(yaw, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "quantities"),
    [
        ("cf2p", {"inertia_x": 2.3951e-5, "inertia_y": 2.3951e-5, "inertia_z": 3.2347e-5, "arm": 0.0397}),
        ("racer", {"mass": 0.83, "inertia_x": 3.113e-3, "inertia_z": 3.113e-3, "propeller_radius": 0.127}),
        ("hb", {"mass": 0.5, "arm": 0.175, "inertia_x": 2.3e-3, "inertia_z": 4.0e-3}),
        ("stmcfb", {"mass": 0.771, "inertia_x": 0.004, "inertia_y": 0.004, "inertia_z": 0.006, "lag_time": 0.02}),
        ("cpc", {"mass": 0.85, "inertia_x": 0.001, "inertia_y": 0.001, "inertia_z": 0.0017, "thrust_to_weight": 3.3}),
        ("cf2x", {"ground_coefficient": 11.36859, "propeller_radius": 0.0231348, "drag_xy": 9.1785e-7}),
        ("cf2x", {"drag_z": 10.311e-7, "speed_limit": 0.25}),
    ],
)
def test_vehicles_have_the_numbers_of_their_sources(name, quantities):
    _, p, _ = flight(vehicle=name)
    for quantity, value in quantities.items():
        assert p[quantity] == pytest.approx(value, rel=1e-9), quantity


def test_speeds_and_levers_of_the_papers_racers():
    _, p, _ = flight(vehicle="stmcfb")
    assert vehicle.max_rpm(p) * vehicle.RADIANS == pytest.approx(2750, rel=1e-3)
    assert vehicle.hover_rpm(p) * vehicle.RADIANS == pytest.approx(1080, abs=1)
    assert p.arm * np.abs(p.rotor[:, :2]) == pytest.approx(np.full((4, 2), 0.08))
    _, p, _ = flight(vehicle="cpc")
    assert p.arm * np.abs(p.rotor[:, :2]) == pytest.approx(np.full((4, 2), 0.15))
    assert p.torque_coefficient / p.thrust_coefficient == pytest.approx(0.05)


CORNERS = {
    "cf2x": [(0.028, -0.028), (-0.028, -0.028), (-0.028, 0.028), (0.028, 0.028)],
    "cf2p": [(0.0397, 0), (0, 0.0397), (-0.0397, 0), (0, -0.0397)],
    "racer": [(0.085, 0.0675), (-0.085, 0.0675), (-0.085, -0.0675), (0.085, -0.0675)],
}
SPINS = {"cf2x": (-1, 1, -1, 1), "cf2p": (-1, 1, -1, 1), "racer": (1, -1, 1, -1)}


@pytest.mark.parametrize("name", CORNERS)
def test_a_faster_rotor_lifts_its_own_corner(name):
    batch, p, s = flight(vehicle=name, action_range=1.0)
    np.testing.assert_allclose(p.arm * p.rotor[:, :2], CORNERS[name], atol=1e-4)
    for rotor, (x, y) in enumerate(CORNERS[name]):
        put(s, rates=(0, 0, 0))
        step_rpm(batch, p, s, vehicle.hover_rpm(p) * (1 + 0.01 * (np.arange(4) == rotor)))
        coupled = np.abs(s.rates[0]) < 0.01 * np.abs(s.rates[0]).max()
        assert np.where(coupled, 0, np.sign(s.rates[0])).tolist() == [np.sign(y), -np.sign(x), SPINS[name][rotor]]


def fly_recorded(name, **keywords):
    """Distances [m] from a recorded flight of one vehicle, after each of its control steps."""
    batch, p, s = flight(action_range=1.0, **keywords)
    put(s, FLIGHTS[f"{name}_position"][0, 0], FLIGHTS[f"{name}_quaternion"][0, 0], FLIGHTS[f"{name}_velocity"][0, 0])
    distances = []
    for rpm, place in zip(FLIGHTS[f"{name}_rpm"], FLIGHTS[f"{name}_position"][1:, 0], strict=True):
        step_rpm(batch, p, s, rpm)
        distances.append(np.linalg.norm(s.position[0] - place))
    return distances


def test_the_racer_of_the_originals_explicit_dynamics():
    """There its torques have the lever 0.109 / sqrt 2, not that of its drawing; docs/quadcopters.md tells how."""
    assert max(fly_recorded("cf2p_dyn", vehicle="cf2p")) < 1e-12
    x = 0.5**0.5
    rotors = [(x, x, 1), (-x, x, -1), (-x, -x, 1), (x, -x, -1)]
    assert max(fly_recorded("race_dyn", vehicle="racer", arm=0.109, rotors=rotors)) < 1e-12
    assert 0.03 < fly_recorded("race_dyn", vehicle="racer")[29] < 0.2


def test_a_frame_of_ones_own_and_impossible_ones():
    wide = [[0.5, -0.8, -1], [-0.5, -0.8, 1], [-0.5, 0.8, -1], [0.5, 0.8, 1]]
    batch, p, _s = flight(rotors=wide, mass=0.05, hull=(0.1, 0.03))
    assert p.rotor.tolist() == wide
    assert p.hull.tolist() == [0.1, 0.03]
    for _ in range(30):
        batch.expert_actions()
        batch.step_inplace()
    assert not batch.over[0]
    for rotors in ([[1, 0, 1]] * 4, [[1, 0, 1]] * 3, [[1, 0, 2], [0, 1, 1], [-1, 0, 1], [0, -1, 1]], "x"):
        with pytest.raises(ParameterError, match="rotors"):
            flight(rotors=rotors)
    with pytest.raises(ParameterError, match="hull"):
        flight(hull=(-1, 2))


@pytest.mark.parametrize("keywords", [{"mass": -0.027}, {"mass": float("nan")}, {"inertia_x": 0.0}, {"lag_time": -1.0}])
def test_impossible_parameters_are_refused(keywords):
    with pytest.raises(ParameterError, match=next(iter(keywords))):
        flight(**keywords)


def test_the_control_rate_has_to_divide_the_physics_rate():
    with pytest.raises(ParameterError, match=r"control_hz=50 does not divide physics_hz=240; .* is 48"):
        flight(control_hz=50)
    batch, _p, s = flight(control_hz=48, action="rpm")
    put(s)
    batch.step(np.ones((1, 4)))
    assert s.velocity[0, 2] == pytest.approx(9.8 * (1.05**2 - 1) / 48)


# --- effects ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "clip"), [("cf2x", 0.03776), ("racer", 0.2073)])
def test_ground_effect_is_capped_at_four_fifteenths(name, clip):
    _, p, _ = flight(vehicle=name, ground_effect=True)
    c = dynamics.constants(p, 1 / 240)
    for height in (0.0, 0.5 * clip, 0.999 * clip):
        assert dynamics.ground_lift(height, c) == pytest.approx(1 + 4 / 15, abs=1e-12)
    assert dynamics.ground_lift(1.001 * clip, c) < 1 + 4 / 15 - 1e-4
    radius = 0.127 if name == "racer" else 0.0231348
    assert dynamics.ground_lift(1.0, c) == pytest.approx(1 + 11.36859 * (radius / 4) ** 2, rel=1e-9)


def test_drag_at_hover_is_the_cards():
    """5.563e-3 N per m/s across, 6.249e-3 along the axis; the time constant is 4.85 s."""
    _, p, s = flight(drag=True)
    c = dynamics.constants(p, 1 / 240)
    s.rpm[0] = vehicle.hover_rpm(p)
    force = dynamics.wrench(p, s, 0, c, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0)
    assert force[0] == pytest.approx(-5.563e-3, abs=5e-7)
    assert force[2] - 0.2646 == pytest.approx(-6.249e-3, abs=5e-7)
    assert pytest.approx(4.85, abs=0.005) == 0.027 / 5.563e-3
    # along the body's axes: on its side, the vehicle's z lies along the wind
    tilted = dynamics.wrench(p, s, 0, c, 1.0, 0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5), 1.0, 0.0, 0.0)
    assert tilted[2] - 0.2646 == pytest.approx(-6.249e-3, abs=5e-7)
    assert tilted[0] == pytest.approx(0.0, abs=1e-12)


def test_rotors_lag_with_their_time_constant():
    batch, p, s = flight(rotor_lag=True, lag_time=0.05, action_range=0.2)
    put(s)
    batch.step(np.ones((1, 4)))
    reached = 1 - math.exp(-(1 / 30) / 0.05)
    assert s.rpm[0] == pytest.approx(vehicle.hover_rpm(p) * (1 + 0.2 * reached))
    batch.step(np.ones((1, 4)))
    assert s.rpm[0] == pytest.approx(vehicle.hover_rpm(p) * (1 + 0.2 * (1 - math.exp(-(2 / 30) / 0.05))))


def test_the_battery_empties_by_the_rotors_power_and_slows_them():
    batch, p, s = flight(battery=True, battery_energy=100.0, battery_sag=0.4)
    batch.step(np.zeros((1, 4)))
    hover = vehicle.hover_rpm(p)
    power = 4 * p.torque_coefficient * hover**3 * 2 * math.pi / 60
    assert power == pytest.approx(146.1 * 0.069, rel=0.01)  # torque 2.4e-3 / ... x speed: some 10 W
    assert 1 - s.charge[0] == pytest.approx(power / 30 / 100, rel=5e-3)
    s.charge[0] = 0.5
    batch.step(np.zeros((1, 4)))
    assert s.rpm[0] == pytest.approx(hover * 0.8, rel=2e-3)


def test_wind_carries_the_vehicle_and_gusts_have_their_spread():
    batch, _p, s = flight(wind=True, wind_x=2.0, gust=0.0)
    put(s)
    batch.step(np.zeros((1, 4)))
    assert s.velocity[0, 0] == pytest.approx(2.0 * 5.563e-3 / 0.027 / 30, rel=0.01)
    batch = rlenvs.make_batch("QuadHover-v0", 400, wind=True, wind_y=1.0, gust=0.7, gust_time=0.2, horizon=10**6)
    batch.seed(range(400))
    batch.reset()
    winds = []
    for _ in range(60):
        batch.step(np.zeros((400, 4)))
        batch.states["over"] = False
        batch.states["alive"] = True
        winds.append(batch.states["wind"].copy())
    winds = np.array(winds)
    np.testing.assert_allclose(winds.mean(axis=(0, 1)), [0, 1, 0], atol=0.03)
    np.testing.assert_allclose(winds.std(axis=(0, 1)), 0.7, rtol=0.03)
    series = winds[..., 0]
    correlation = (series[1:] * series[:-1]).mean() / (series**2).mean()
    assert correlation == pytest.approx(math.exp(-1 / (30 * 0.2)), abs=0.02)


def test_damping_is_bullets():
    """Its deceleration is damping x v (1 + |v|), so also for the rates."""
    batch, _p, s = flight(damping=0.04, control_hz=240)
    put(s, velocity=(1.0, 0, 0), rates=(0, 0, 2.0))
    batch.step(np.zeros((1, 4)))
    assert s.velocity[0, 0] == pytest.approx(1 - 0.04 * 2 / 240, abs=1e-9)
    assert s.rates[0, 2] == pytest.approx(2 - 0.04 * 2 * 3 / 240, abs=1e-9)


# --- controllers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cf2x", "cf2p"])
def test_the_pid_gives_the_originals_rotor_speeds(name):
    """60 sequences of 5 calls, integrals carried over. They differ only where the yaw jumps, which is mended here."""
    data = {key[5:]: PID[key] for key in PID.files if key.startswith(name)}
    different = 0
    for i in range(60):
        controller = PIDController(name)
        for j in range(5):
            controller._dt = data["timestep"][i, j]
            state = (data[key][i, j] for key in ("position", "quaternion", "velocity", "target_position"))
            rpm = controller.rpm(
                *state, data["target_rpy"][i, j, 2], data["target_velocity"][i, j], data["target_rpy_rates"][i, j]
            )
            if np.abs(rpm - data["rpm"][i, j]).max() > 1e-6:
                different += 1
                assert abs(yaw_of(data["quaternion"][i, j]) - yaw_of(data["quaternion"][i, j - 1])) > math.pi
    assert different <= 1


def yaw_of(quaternion):
    x, y, z, w = quaternion
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def test_the_pid_forgets_at_a_reset():
    controller = PIDController("cf2x", 48)
    arguments = ((0, 0, 1), (0, 0, 0, 1), (0, 0, 0), (0.5, 0.2, 1.3))
    first = [controller.rpm(*arguments).tolist() for _ in range(3)]
    assert first[0] != first[2]
    controller.reset()
    assert [controller.rpm(*arguments).tolist() for _ in range(3)] == first
    batch, _, s = flight(action="position", control_hz=48)
    for _ in range(20):
        batch.step([[0.3, 0.3, 0.3]])
    assert s.place_integral.any()
    batch.reset()
    assert not s.place_integral.any()
    assert not s.angle_integral.any()


@pytest.mark.parametrize("name", vehicle.VEHICLES)
def test_the_pid_flies_every_vehicle_to_a_place(name):
    batch, _, s = flight(vehicle=name, action="position", control_hz=48, attitude="matrix")
    put(s, position=(0.3, -0.3, 0.8))
    for _ in range(6 * 48):
        batch.step([[0.0, 0.0, 0.0]])
        assert not batch.over[0]
    assert np.linalg.norm(s.position[0] - [0, 0, 1]) < 0.06
    assert np.linalg.norm(s.velocity[0]) < 0.06


def test_controllers_refuse_what_they_do_not_know():
    with pytest.raises(ParameterError, match="vehicle='cf3' is not one of cf2x"):
        PIDController("cf3")
    with pytest.raises(ParameterError, match="weight"):
        PIDController(weight=1.0)
    with pytest.raises(ParameterError, match="mass"):
        PIDController(mass=-1.0)
    with pytest.raises(ParameterError, match="control_hz"):
        PIDController(control_hz=0)


@pytest.mark.parametrize("action", ["rpm", "thrust_rates", "velocity", "position"])
@pytest.mark.parametrize("name", ["cf2x", "cf2p", "racer"])
def test_experts_fly_every_vehicle_with_every_action(name, action):
    batch = rlenvs.make_batch("QuadHover-v0", 20, vehicle=name, action=action, action_range=0.1)
    batch.seed(range(20))
    batch.reset()
    for _ in range(239):
        batch.expert_actions()
        batch.step_inplace()
        assert not batch.terminated.any()
    assert batch.success.mean() >= 0.95


def test_rates_are_held():
    batch, p, s = flight(action="thrust_rates", vehicle="racer", physics_hz=480, control_hz=60, horizon=10**6)
    put(s)
    for _ in range(12):
        batch.step([[0.0, 0.1, -0.05, 0.05]])
    np.testing.assert_allclose(s.rates[0], p.rate_limit * np.array([0.1, -0.05, 0.05]), rtol=0.05)


@pytest.mark.parametrize(
    ("action", "numbers", "target", "velocity"),
    [
        ("position", [1.0, 0.0, 0.0], (1.0, 0.0, 1.0), (0, 0, 0)),  # 1.5 m away, but at most 1 m at a time
        ("position", [0.2, -0.2, 0.1], (0.3, -0.3, 1.1), (0, 0, 0)),
        ("one_d_position", [0.5], (0.0, 0.0, 1.05), (0, 0, 0)),  # 0.1 m at full action
        ("velocity", [1.0, 0.0, 0.0, 0.5], (0.0, 0.0, 1.0), (0.125, 0, 0)),  # of 0.25 m/s
        ("velocity", [0.0, 0.5, 0.0, -1.0], (0.0, 0.0, 1.0), (0, 0.25, 0)),  # a direction, and |speed|
    ],
)
def test_actions_through_the_pid_set_the_originals_targets(action, numbers, target, velocity):
    batch, _, s = flight(action=action, control_hz=48)
    put(s)
    batch.step([numbers])
    wanted = PIDController("cf2x", 48).rpm((0, 0, 1), (0, 0, 0, 1), (0, 0, 0), target, 0.0, velocity)
    np.testing.assert_allclose(s.command[0], wanted, rtol=1e-9)
    # where the command is at its limit, the integral still tells the target
    np.testing.assert_allclose(s.place_integral[0], (np.array(target) - [0, 0, 1]) / 48, atol=1e-12)
