"""QuadGate: the original's reward and timing, passing the gate, terms, costs, ends, starts, the expert."""

import math
from functools import partial

import numpy as np
import pytest
from support.batches import begun

from rlenvs.robotics.quadcopter import gate

TERMS = [*gate.SPEC.terms, *gate.SPEC.costs]
STILL = {"start_spread": 0.0, "gate_spread": 0.0, "gate_turn": 0.0}


batch = partial(begun, "QuadGate-v0", backend="python")


def step(position, velocity=(0, 0, 0), attitude=(0, 0, 0, 1), passed=False, elapsed=0, **keywords):
    """One step with hovering rotors from somewhere; the record of the state and what the step gave."""
    made = batch(**{**STILL, **keywords})
    _, s = made.records(0)
    s.position[0], s.velocity[0], s.attitude[0], s.passed, s.elapsed = position, velocity, attitude, passed, elapsed
    made.step(np.zeros(made.actions.shape, np.float32))
    found = dict(zip(TERMS, made.terms[0, :, 0], strict=True))
    return s, found | {"success": bool(made.success[0, 0]), "terminated": bool(made.terminated[0, 0])}


def test_timing_and_the_original_gate():
    made = batch(**STILL)
    p, s = made.records(0)
    assert (p.physics_hz, p.control_hz, made.setup.horizon, p.action_range) == (240, 30, 300, 0.2)
    np.testing.assert_allclose(s.gate[0], [0, -1, 0.75, -math.pi / 2], atol=1e-12)
    np.testing.assert_allclose(s.goal, [0, -2, 0.75], atol=1e-12)
    np.testing.assert_allclose(s.position[0], [0, 0, 0.75], atol=1e-12)
    weights = {name: term.weight for name, term in gate.SPEC.terms.items()}
    assert weights == {"way": 1, "gate": 10, "crash": 10, "fly_through": 0, "effort": 0}


@pytest.mark.parametrize("elapsed", [0, 74, 149, 200])
def test_the_reward_of_the_original(elapsed):
    """-10 |(0, -2 t / T, 0.75) - p|^2 with T = 5 s, at the end of the step; after that the reference waits."""
    s, found = step((0.3, 0.2, 1.0), elapsed=elapsed)
    share = min((elapsed + 1) / 30 / 5, 1.0)
    expected = -10 * np.sum((np.array([0, -2 * share, 0.75]) - s.position[0]) ** 2)
    assert found["fly_through"] == pytest.approx(expected, rel=1e-12)


def test_the_reference_turns_with_the_gate():
    made = batch(start_spread=0.0)
    _, s = made.records(0)
    x, y, z, yaw = s.gate[0]
    s.position[0] = x - math.cos(yaw), y - math.sin(yaw), z
    made.step(np.zeros(made.actions.shape, np.float32))
    assert made.terms[0, TERMS.index("fly_through"), 0] == pytest.approx(-10 * (2 / 150) ** 2, rel=1e-6)


def test_way_is_the_distance_left_through_the_gate():
    s, found = step((0.4, -0.5, 1.0))
    assert found["way"] == pytest.approx(math.exp(-np.linalg.norm(s.gate[0, :3] - s.position[0]) - 1))
    s, found = step((0.4, -1.5, 1.0), passed=True)
    assert found["way"] == pytest.approx(math.exp(-np.linalg.norm(s.goal - s.position[0])))


@pytest.mark.parametrize(
    ("aside", "speed", "passes", "hits"),
    [
        (0.0, -2.0, True, False),
        (0.185, -2.0, True, False),  # half opening 0.25 minus radius 0.06
        (0.195, -2.0, False, True),
        (0.405, -2.0, False, True),  # frame of 0.1 m, plus radius
        (0.415, -2.0, False, False),
        (0.0, 2.0, False, False),
        (0.3, 2.0, False, True),
    ],
)
def test_passing_the_gate(aside, speed, passes, hits):
    for axis in (0, 2):
        place = np.array([0.0, -1.0 - math.copysign(0.02, speed), 0.75])
        place[axis] += aside
        s, found = step(place, (0, speed, 0))
        assert (found["gate"] == 1.0, bool(s.passed)) == (passes, passes)
        assert (found["collision"] == 1.0, found["crash"] == -1.0, found["terminated"]) == (hits, hits, hits)


def test_a_second_passage_earns_nothing():
    _, found = step((0, -0.98, 0.75), (0, -2, 0), passed=True)
    assert found["gate"] == 0.0


def test_success_is_passing_and_being_at_the_goal():
    for passed, off, expected in ((True, 0.095, True), (True, 0.105, False), (False, 0.0, False)):
        _, found = step((off, -2.0, 0.75), passed=passed)
        assert found["success"] == expected
        assert not found["terminated"]


@pytest.mark.parametrize(
    ("place", "velocity", "crash", "fence"),
    [
        ((2.25, 0, 1), (0, 0, 0), False, True),
        ((2.15, 0, 1), (0, 0, 0), False, False),
        ((2.49, 0, 1), (1, 0, 0), True, True),
        ((0, -2.25, 1), (0, 0, 0), False, True),
        ((0, 2.49, 1), (0, 1, 0), True, True),
        ((1, 0, 1.85), (0, 0, 0), False, True),
        ((1, 0, 1.75), (0, 0, 0), False, False),
        ((1, 0, 1.99), (0, 0, 1), True, True),
        ((1, 0, 0.03), (0, 0, -2), True, False),
    ],
)
def test_room_floor_and_geofence(place, velocity, crash, fence):
    _, found = step(place, velocity)
    assert (found["terminated"], found["crash"] == -1.0, found["geofence"] == 1.0) == (crash, crash, fence)


def test_tilt_cost_and_end():
    for tilt, cost, end in ((0.39, 0.0, False), (0.41, 1.0, False), (0.99, 1.0, False), (1.01, 1.0, True)):
        _, found = step((1, 0, 1), attitude=(math.sin(tilt / 2), 0, 0, math.cos(tilt / 2)))
        assert (found["tilt"], found["terminated"], found["crash"]) == (cost, end, 0.0)


def test_starts_and_gates_vary_within_their_ranges():
    made = batch(60)
    starts = np.array([made.records(i)[1].position[0] - [0, 0, 0.75] for i in range(60)])
    gates = np.array([made.records(i)[1].gate[0] - [0, -1, 0.75, -math.pi / 2] for i in range(60)])
    for values, limit in ((starts, 0.2), (gates[:, [0, 2]], 0.2), (gates[:, 3], 0.3)):
        assert 0.85 * limit < np.abs(values).max() <= limit
    assert not gates[:, 1].any()
    _, s = made.records(0)
    goal = s.gate[0, :3] + [math.cos(s.gate[0, 3]), math.sin(s.gate[0, 3]), 0]
    np.testing.assert_allclose(s.goal, goal, atol=1e-12)


def test_the_frame_is_in_the_scene():
    _, s = batch(**STILL).records(0)
    assert s.shapes.shape == (4, 12)
    sides = sorted(float(x) for x in s.shapes[:2, 1])
    np.testing.assert_allclose(sides, [-0.3, 0.3], atol=1e-12)
    np.testing.assert_allclose(sorted(float(z) for z in s.shapes[2:, 3]), [0.45, 1.05], atol=1e-12)


@pytest.mark.parametrize("keywords", [{}, {"level": "hard"}, {"level": "real"}, {"action": "thrust_rates"}])
def test_the_expert_flies_through_and_stays(keywords):
    made = batch(40, backend="numba", **keywords)
    passed = np.zeros(40)
    for _ in range(made.setup.horizon):
        made.load_actions(made.expert_actions())
        made.step_inplace()
        passed += made.terms[:, TERMS.index("gate"), 0]
    assert made.truncated.mean() >= 0.95
    assert made.success.mean() >= 0.95
    assert passed.mean() >= 0.95


def test_random_actions_do_not():
    made = batch(20, backend="numba")
    generator = np.random.default_rng(0)
    for _ in range(300):
        made.step(generator.uniform(-1, 1, made.actions.shape))
        assert not made.success.any()
