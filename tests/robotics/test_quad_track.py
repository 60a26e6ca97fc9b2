"""QuadTrack against its card: paths and their derivatives, waypoints, terms, costs and ends."""

import functools
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from support.batches import begun

from rlenvs.agents.evaluate import evaluate
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import paths, track

ID = "QuadTrack-v0"
OPEN = [[0, 0, 1], [0.8, -0.2, 0.5], [0, 0.8, 1.5], [-0.8, 0, 1]]
CLOSED = [*OPEN, OPEN[0]]


batch = functools.partial(begun, ID, backend="python")


@functools.cache
def _records(choices):
    return batch(**json.loads(choices)).records(0)


def reference(t, begun=0.0, rows=3, **keywords):
    """Position and its derivatives t seconds after the start, (rows, 3)."""
    p, s = _records(json.dumps(keywords))
    s.begun = begun
    out = np.full((rows, 3), np.nan)
    track.refer(p, s, t, out)
    return out


@pytest.fixture(scope="module")
def flight():
    return batch()


def judged(flight, error=(0, 0, 0), position=None, roll=0.0, pitch=0.0, action=(0, 0, 0, 0)):
    """Terms, costs, success and end of a first step that finished off the reference, or at a position."""
    flight.reset()
    p, s = flight.records(0)
    out = np.zeros((1, 3))
    track.refer(p, s, 1 / 30, out)
    s.position[0] = out[0] + error if position is None else position
    s.attitude[0] = math.sin(roll / 2), math.sin(pitch / 2), 0, math.cos((roll + pitch) / 2)
    r = SimpleNamespace()
    track.outcome(p, s, np.array(action, float), s.rng, r)
    return r


# --- paths ------------------------------------------------------------------------------------------------------------


def test_the_default_helix_is_the_originals_circle_higher_up_and_climbing():
    for t in (0.0, 1.3, 7.7):
        circle = np.zeros((3, 3))
        paths.pid_circle(circle, t, 0)
        found = reference(t, 0.25, climb=0.0, height=0.1)
        np.testing.assert_allclose(found - circle, [[0, 0.3, 0], [0, 0, 0], [0, 0, 0]], atol=1e-12)
        np.testing.assert_allclose(reference(t, 0.25)[0] - found[0], [0, 0, 0.9 + 0.05 * t], atol=1e-12)
    assert np.hypot(*reference(0.4)[0, :2]) == pytest.approx(0.3)
    assert np.hypot(*reference(0.4)[1, :2]) == pytest.approx(2 * math.pi * 0.3 / 10)
    np.testing.assert_allclose(reference(10.0)[0, :2], reference(0.0)[0, :2], atol=1e-12)


def test_the_helix_ends_its_climb_at_1_7_metres():
    assert reference(13.9)[:2, 2] == pytest.approx([1.695, 0.05])
    assert reference(14.1)[:, 2].tolist() == [1.7, 0, 0]


def test_shapes_of_the_paths():
    times = np.linspace(0, 10, 401)
    for path, extent in (("lemniscate", (0.6, 0.3, 0)), ("line", (0.6, 0, 0)), ("vertical", (0, 0, 0.6))):
        points = np.array([reference(t, path=path, radius=0.6, rows=1)[0] for t in times[::4]])
        np.testing.assert_allclose(np.abs(points - [0, 0, 1]).max(axis=0), extent, atol=2e-3)
        np.testing.assert_allclose(points[0], points[-1], atol=1e-12)
    for height, low, high in ((0.3, 0.1, 0.5), (1.5, 1.3, 1.7)):  # shorter than 0.6 near floor and ceiling
        z = [reference(t, path="vertical", radius=0.6, height=height, rows=1)[0, 2] for t in times[::8]]
        assert (min(z), max(z)) == pytest.approx((low, high), abs=1e-3)


@pytest.mark.parametrize("path", [{"path": name} for name in ("helix", "lemniscate", "line", "vertical")] + [{}])
def test_velocity_and_acceleration_are_derivatives(path):
    keywords = {"lap_time": 7.0, **(path or {"waypoints": OPEN})}
    step = 1e-4
    for t in (0.3, 2.9, 6.1):
        before, now, after = (reference(x, 0.1, **keywords) for x in (t - step, t, t + step))
        np.testing.assert_allclose((after[:2] - before[:2]) / (2 * step), now[1:], atol=1e-5)


def test_paths_begin_anywhere_on_a_lap():
    for path in ("helix", "lemniscate", "line", "vertical"):
        ahead = reference(0.0, 0.3, path=path, climb=0.0)
        np.testing.assert_allclose(ahead, reference(3.0, path=path, climb=0.0), atol=1e-12)
    flights = batch(50)
    begun = [flights.records(i)[1].begun for i in range(50)]
    assert min(begun) < 0.1
    assert max(begun) > 0.9


# --- waypoints --------------------------------------------------------------------------------------------------------


def test_waypoints_are_passed_in_a_lap_and_then_the_reference_waits():
    times = np.linspace(0, 6, 1201)
    points = np.array([reference(t, 0.7, 1, waypoints=OPEN, lap_time=6.0)[0] for t in times[::6]])
    for waypoint in OPEN:
        assert np.linalg.norm(points - waypoint, axis=1).min() < 0.03
    for t, waypoint in ((0.0, OPEN[0]), (6.0, OPEN[-1]), (9.0, OPEN[-1])):
        found = reference(t, 0.7, waypoints=OPEN, lap_time=6.0)
        np.testing.assert_allclose(found, [waypoint, [0, 0, 0], [0, 0, 0]], atol=1e-9)


def test_closed_waypoints_are_flown_again():
    for t in (0.5, 3.0, 5.5):
        once, again = (reference(t + late, waypoints=CLOSED, lap_time=6.0) for late in (0.0, 6.0))
        np.testing.assert_allclose(once, again, atol=1e-9)


def test_waypoints_replace_the_path_and_its_dimensions():
    for keywords in ({"path": "line"}, {"radius": 1.0}, {"height": 0.3}, {"climb": 0.4}):
        np.testing.assert_array_equal(reference(2.0, waypoints=OPEN, **keywords), reference(2.0, waypoints=OPEN))


@pytest.mark.parametrize(
    ("waypoints", "message"),
    [
        ([[0, 0, 1]], "1 waypoints were given; allowed: 2 to 64"),
        ([[0, 0, 1], [0, 0, 1]], "waypoints 0 and 1 are both"),
        ([[0, 0, 1], [1.6, 0, 1]], "x of waypoint 1 is 1.6 m"),
        ([[0, 0, 1], [0, 0, -0.1]], "z of waypoint 1 is -0.1 m"),
        ([[0, 0, 1], [1.31, 0, 1]], r"comes to \(1.3\d, 0.00, 1.00\); allowed is .* up to 1.3 m"),
        ([[0, 0, 1], [0, -1.31, 1]], "move the waypoints inwards"),
        ([[0, 0, 1], [0, 0, 0.04]], "from 0.05 m to 1.8 m"),
        ([[0, 0, 1], [0, 0, 1.81]], "from 0.05 m to 1.8 m"),
        ("round", "'round' is not a list of waypoints"),
    ],
)
def test_waypoints_that_do_not_do(waypoints, message):
    with pytest.raises(ParameterError, match=message):
        batch(waypoints=waypoints)


def test_waypoints_up_to_the_limits_do():
    batch(waypoints=[[1.3, 0, 0.05], [1.3, -1.3, 1.8], [-1.3, -1.3, 1.8]][:2])


# --- start, time and observation --------------------------------------------------------------------------------------


def test_it_starts_near_the_reference_and_the_reference_keeps_time():
    flights = batch(100)
    offsets = []
    for i in range(100):
        p, s = flights.records(i)
        out = np.zeros((2, 3))
        track.refer(p, s, 0.0, out)
        np.testing.assert_allclose(s.reference, out, atol=1e-12)
        offsets.append(s.position[0] - out[0])
        assert not any(array.any() for array in (s.velocity, s.rates))
    assert (np.abs(offsets).max(axis=0) > 0.09).all()
    assert np.abs(offsets).max() <= 0.1
    for _ in range(7):
        flights.step(np.zeros((100, 4)))
    p, s = flights.records(3)
    track.refer(p, s, 7 / 30, out)
    np.testing.assert_allclose(s.reference, out, atol=1e-12)


def test_one_number_starts_on_the_vertical():
    for action in ("one_d_rpm", "one_d_position"):
        _, s = batch(action=action, path="vertical").records(0)
        assert s.position[0, :2].tolist() == [0, 0]


def test_observation_of_the_reference_and_its_future():
    flight = batch(preview=3, lap_time=4.0)
    flight.step(flight.expert_actions())
    p, s = flight.records(0)
    seen = flight.observations[0, 0, -15:]
    np.testing.assert_allclose(seen[:3], s.reference[0] - s.position[0], atol=1e-6)
    np.testing.assert_allclose(seen[3:6] * 3.0, s.reference[1] - s.velocity[0], atol=1e-6)
    for j in range(3):
        out = np.zeros((1, 3))
        track.refer(p, s, 1 / 30 + 0.2 * (j + 1), out)
        np.testing.assert_allclose(seen[6 + 3 * j : 9 + 3 * j] * 2.0, out[0] - s.position[0], atol=1e-6)
    assert batch(preview=0).observations.shape[-1] == 18
    assert batch().observations.shape[-1] == 30


def test_lap_time_and_radius_may_differ_from_world_to_world():
    flights = batch(2, lap_time=[5.0, 10.0], radius=[0.3, 0.6])
    speeds = [np.hypot(*flights.records(i)[1].reference[1, :2]) for i in range(2)]
    assert speeds == pytest.approx([2 * math.pi * 0.06] * 2)


def test_an_episode_lasts_12_seconds():
    assert [batch(control_hz=hz).setup.horizon for hz in (30, 48)] == [360, 576]


# --- terms, costs, ends -----------------------------------------------------------------------------------------------


def test_terms(flight):
    for error in (0.0, 0.1, 0.5):
        r = judged(flight, (0.6 * error, 0, -0.8 * error), action=(1, 0, -1, 0))
        assert r.track == pytest.approx(math.exp(-4 * error), rel=1e-9)
        assert r.squared == pytest.approx(-(error**2), abs=1e-12)  # the original's
        assert r.effort == -0.5
    assert {name: term.weight for name, term in track.SPEC.terms.items()} == {"track": 1, "squared": 0, "effort": 0}


@pytest.mark.parametrize(
    ("position", "tilt", "costs"),
    [
        ((1.29, -1.29, 1), 0.39, (0, 0)),
        ((1.31, 0, 1), 0.0, (0, 1)),
        ((0, -1.31, 1), 0.0, (0, 1)),
        ((0, 0, 1.79), 0.41, (1, 0)),
        ((0, 0, 1.81), -0.41, (1, 1)),
    ],
)
def test_costs_of_place_and_tilt(flight, position, tilt, costs):
    for name in ("roll", "pitch"):
        r = judged(flight, position=position, **{name: tilt})
        assert (r.tilt, r.geofence) == costs


@pytest.mark.parametrize(("error", "cost"), [((0, 0.29, 0), 0), ((0, 0, 0.31), 1), ((0.2, 0.2, 0.2), 1)])
def test_cost_off_path(flight, error, cost):
    assert judged(flight, error).off_path == cost


@pytest.mark.parametrize(
    ("position", "tilt", "ends"),
    [
        ((1.49, 1.49, 1.99), 0.99, False),
        ((1.51, 0, 1), 0.0, True),
        ((0, -1.51, 1), 0.0, True),
        ((0, 0, 2.01), 0.0, True),
        ((0, 0, 1), 1.01, True),
        ((0, 0, 1), -1.01, True),
    ],
)
def test_ends(flight, position, tilt, ends):
    for name in ("roll", "pitch"):
        assert judged(flight, position=position, **{name: tilt}).terminated == ends


@pytest.mark.parametrize("control_hz", [30, 60])
def test_success_is_two_seconds_within_a_tenth_of_a_metre(control_hz):
    flight = batch(control_hz=control_hz)
    p, s = flight.records(0)
    r, out = SimpleNamespace(), np.zeros((1, 3))
    track.refer(p, s, 1 / control_hz, out)

    def stay(error, steps):
        for _ in range(steps):
            s.position[0] = out[0] + [0, 0, error]
            track.outcome(p, s, np.zeros(4), s.rng, r)
        return r.success

    assert not stay(0.099, 2 * control_hz - 1)
    assert stay(-0.099, 1)
    assert not stay(0.101, 1)
    assert not stay(0.0, 2 * control_hz - 1)
    assert stay(0.0, 1)


# --- pilots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"level": "easy"},
        {"level": "hard"},
        {"level": "real"},
        {"vehicle": "racer"},
        {"waypoints": CLOSED},
        {"path": "vertical", "action": "one_d_rpm"},
        {"path": "vertical", "action": "one_d_position"},
        {"path": "lemniscate", "action": "thrust_rates"},
        {"path": "lemniscate", "action": "velocity"},
        {"path": "lemniscate", "action": "position"},
    ],
)
def test_an_expert_masters_it(keywords):
    result = evaluate(ID, "expert", 100, **keywords)
    assert result.success_rate >= 0.99
    assert (result.lengths == 360).all()


def test_random_does_not():
    result = evaluate(ID, "random", 100)
    assert result.success_rate == 0
    assert result.mean < 30


def test_the_expert_tracks_to_a_centimetre_after_two_seconds():
    """gym-pybullet-drones' PID is 0.09 m off the same circle; the expert knows velocity and acceleration."""
    flights = batch(20, backend="numba", climb=0.0)
    errors = []
    for step in range(200):
        flights.step(flights.expert_actions())
        if step >= 60:
            errors += [
                np.linalg.norm(s.reference[0] - s.position[0]) for s in (flights.records(i)[1] for i in range(20))
            ]
    assert max(errors) < 0.01
