"""QuadRace and QuadSwarmRace: courses, passing gates, terms, costs, ends, starts, fidelities, racers on one course."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from support.batches import begun

from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import race, racing, racing_expert, swarm_race
from rlenvs.robotics.quadcopter.courses import COURSES, lower_bound_time

TERMS = [*race.SPEC.terms, *race.SPEC.costs]
SWARM_TERMS = [*swarm_race.SPEC.terms, *swarm_race.SPEC.costs]


batch = partial(begun, "QuadRace-v0", backend="python")


def idle(made):
    made.step(np.zeros((made.num_envs, *made.actions.shape[1:]), np.float32))


def put(made, position, velocity=(0, 0, 0), rates=(0, 0, 0), attitude=(0, 0, 0, 1), passed=0, k=0):
    p, s = made.records(0)
    s.position[k], s.velocity[k], s.rates[k], s.attitude[k] = position, velocity, rates, attitude
    s.passed[k] = passed
    gate = s.gates[passed % len(s.gates)]
    s.distance[k] = np.linalg.norm(gate[:3] - s.position[k])
    return p, s


def outcome(made, k=0):
    names = SWARM_TERMS if made.world is swarm_race.SPEC else TERMS
    return dict(zip(names, made.terms[0, :, k], strict=True)) | {
        "success": bool(made.success[0, k]),
        "terminated": bool(made.terminated[0, k]),
        "reward": made.rewards[0, k],
    }


def options(course, **changed):
    usual = {"gate_scale": 1.0, "arena": None, "gates": None, "course": course, "laps": 0, "random_gates": 6}
    return SimpleNamespace(**usual | changed)


# --- courses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("course", "count", "passes"), [("eight", 6, 6), ("circle", 4, 4), ("straight", 2, 2), ("cpc", 7, 20)]
)
def test_named_courses_and_their_finish(course, count, passes):
    found = racing.course_of(options(course))
    assert (len(found.gates), found.passes) == (count, passes)
    last = found.gates[(passes - 1) % count]
    end = COURSES[course].end
    if end is not None:
        assert last[:3] == end
    if course == "straight":
        assert last == (5.0, 0.0, 1.5, 0.0)
    assert racing.course_of(options(course, laps=3)).passes == 3 * count


def test_horizon_is_five_seconds_for_each_gate():
    assert batch().setup.horizon == 6 * 5 * 50
    assert batch(course="cpc").setup.horizon == 20 * 5 * 50
    assert batch(course="circle", laps=3, control_hz=100).setup.horizon == 12 * 5 * 100


def test_given_gates_start_on_the_leg_to_the_first():
    _, s = batch(gates=[[0, 0, 1], [4, 0, 1.5], [4, 4, 2], [0, 4, 1]], start_spread=0.0).records(0)
    assert len(s.gates) == 4
    np.testing.assert_allclose(s.position[0], [0, 2, 1], atol=0.9)
    assert abs(s.position[0, 0]) < 1e-9
    _, s = batch(gates=[[1, 0, 1]], start_spread=0.0).records(0)
    np.testing.assert_allclose(s.position[0], [1 - racing.BEHIND, 0, 1], atol=1e-9)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"gates": [[0, 0, 1], [0.05, 0, 1]]}, "frames of gates 0 and 1"),
        ({"gates": [[-8, 0, 1]]}, "arena"),
        ({"gates": [[-7, 0, 1]], "arena": (7.8, 7.8, 4)}, "would start at"),
        ({"gates": []}, "0 gates were given"),
        ({"arena": (4, 4)}, "half sizes"),
        ({"hull": (0.6, 0.1)}, "not smaller than half the opening"),
        ({"course": "random", "random_gates": 20, "arena": (4, 4, 4)}, "allowed are 1 to"),
        ({"fidelity": "low", "physics": "pybullet"}, "physics='kernel'"),
        ({"gate_scale": 0.4}, "gate_scale"),
        ({"random_gates": 3}, "random_gates"),
    ],
)
def test_impossible_races_are_refused(keywords, words):
    with pytest.raises(ParameterError, match=words.replace("(", r"\(")):
        batch(**keywords)


def test_random_courses_differ_and_keep_off_the_walls():
    made = batch(8, course="random")
    courses = [made.records(i)[1].gates.copy() for i in range(8)]
    assert len({course.tobytes() for course in courses}) == 8
    for course in courses:
        reach = racing.HALF_OUTER + racing.MARGIN
        assert (abs(course[:, :2]) <= 8.0 - reach + 1e-9).all()
        assert (course[:, 2] >= racing.HALF_OUTER - 1e-9).all()
        assert (course[:, 2] <= 4.0 - reach + 1e-9).all()
    assert (racing.HALF_OPENING, racing.HALF_OUTER, racing.MARGIN, racing.ARENA) == (0.6, 0.8, 1.0, (8.0, 8.0, 4.0))


def test_gates_are_shapes_of_the_right_size():
    for scale in (1.0, 1.3):
        _, s = batch(gate_scale=scale).records(0)
        assert s.shapes.shape == (24, 12)
        assert (s.shapes[:, 0] == 2).all()
        # the left bar of gate 0, which faces along x: beside the opening, half the frame's width thick
        assert s.shapes[0, 2] - s.gates[0, 1] == pytest.approx(0.6 * scale)
        assert s.shapes[0, 4] == pytest.approx(0.1 * scale)


# --- starts -----------------------------------------------------------------------------------------------------------


def test_start_on_the_line_within_its_box_and_facing_the_gate():
    made = batch(20)
    spread = []
    for i in range(20):
        _, s = made.records(i)
        spread.append(s.position[0] - [0, 0, 1.2])
        assert s.passed[0] == 0
        assert not s.velocity.any()
        dx, dy = s.gates[0, :2] - s.position[0, :2]
        assert s.angles[0, 2] == pytest.approx(math.atan2(dy, dx))
    assert 0.15 < np.abs(spread).max() <= 0.2


def test_any_gate_may_come_first():
    made = batch(60, start="any_gate", start_spread=0.0)
    first = [int(made.records(i)[1].passed[0]) for i in range(60)]
    assert set(first) == set(range(6))
    _, s = made.records(first.index(1))
    a, b = s.gates[0, :3], s.gates[1, :3]
    part = (s.position[0] - a) @ (b - a) / ((b - a) @ (b - a))
    assert 0.25 < part < 0.75
    np.testing.assert_allclose(s.position[0], a + part * (b - a), atol=1e-9)


# --- steps ------------------------------------------------------------------------------------------------------------


def test_physics_and_control_rates_and_effects():
    p, _ = batch().records(0)
    assert (p.physics_hz, p.control_hz, p.rotor_lag, p.drag, p.wind) == (500, 50, 1, 1, 0)
    assert (p.rate_limit, p.mass, p.thrust_to_weight) == (10.0, 0.83, 4.17)


def test_observation_has_33_numbers():
    made = batch()
    assert made.observations.shape[-1] == 33
    _, s = put(made, (1.0, -2.5, 1.0), passed=1)
    idle(made)
    o = made.observations[0, 0]
    for i in range(2):
        gate = s.gates[1 + i]
        np.testing.assert_allclose(20.0 * o[18 + 3 * i : 21 + 3 * i], gate[:3] - s.position[0], atol=1e-5)
        np.testing.assert_allclose(o[24 + 2 * i : 26 + 2 * i], [math.cos(gate[3]), math.sin(gate[3])], atol=1e-6)
    assert o[28] == pytest.approx(2 * 5 / 6 - 1)


def test_progress_and_rates_of_a_step():
    made = batch()
    _, s = put(made, (0.0, -2.0, 1.2), (3.0, 0.0, 0.0), rates=(3.0, 4.0, 0.0))
    before = np.linalg.norm(s.gates[0, :3] - s.position[0])
    idle(made)
    found = outcome(made)
    after = np.linalg.norm(s.gates[0, :3] - s.position[0])
    assert found["progress"] == pytest.approx(before - after)
    assert 0.05 < found["progress"] < 0.061
    assert found["rates"] == pytest.approx(-np.linalg.norm(s.rates[0]))
    assert found["time"] == -1.0
    assert found["reward"] == pytest.approx(found["progress"] + 0.01 * found["rates"] - 0.03)
    assert (found["gate"], found["crash"], found["finish_time"]) == (0, 0, 0)
    weights = {name: term.weight for name, term in race.SPEC.terms.items()}
    assert weights == {"progress": 1, "gate": 1, "rates": 0.01, "crash": 10, "time": 0.03, "finish_time": 0}


def test_a_faster_flight_pays_more(monkeypatch):
    def flown(share):
        full_speed = racing_expert.race_speed
        with monkeypatch.context() as slowed:
            slowed.setattr(racing_expert, "race_speed", lambda p, s, k: share * full_speed(p, s, k))
            made = batch(course="straight", fidelity="low", backend="python")
            paid = 0.0
            while not made.over[0]:
                made.expert_actions()
                made.step_inplace()
                paid += made.rewards.sum()
        assert made.success.all()
        return paid, outcome(made)["finish_time"]

    (fast, sooner), (slow, later) = flown(1.0), flown(0.6)
    assert sooner < 0.7 * later
    assert fast > slow + 1.0


def test_progress_is_bounded_by_20_metres():
    made = batch()
    put(made, (0.0, -2.0, 1.2), (-5000.0, 0.0, 0.0))
    idle(made)
    assert outcome(made)["progress"] == -20.0 == race.SPEC.terms["progress"].low


@pytest.mark.parametrize(
    ("aside", "speed", "passes", "hits"),
    [
        (0.0, 5.0, True, False),
        (0.34, 5.0, True, False),  # half opening 0.5 minus radius 0.15
        (0.36, 5.0, False, True),
        (0.84, 5.0, False, True),  # half outer 0.7 plus radius
        (0.86, 5.0, False, False),
        (0.0, -5.0, False, False),  # backwards
        (0.36, -5.0, False, True),
    ],
)
def test_passing_gates(aside, speed, passes, hits):
    """Gate 0 of "eight" stands at (2.5, -2, 1.2) and is flown through along x."""
    for axis in (1, 2):
        made = batch(fidelity="low")
        place = np.array([2.5 - math.copysign(0.05, speed), -2.0, 1.2])
        place[axis] += aside
        _, s = put(made, place, (speed, 0, 0))
        idle(made)
        found = outcome(made)
        assert (found["gate"] == 1.0, s.passed[0] == 1) == (passes, passes)
        assert (found["collision"] == 1.0, found["crash"] == -1.0, found["terminated"]) == (hits, hits, hits)
        assert not found["success"]
        target = s.gates[1 if passes else 0, :3]
        assert s.distance[0] == pytest.approx(np.linalg.norm(target - s.position[0]))


def test_only_the_next_gate_counts_but_every_frame_hits():
    made = batch(fidelity="low")
    _, s = put(made, (2.45, -2.0, 1.2), (5, 0, 0), passed=3)
    idle(made)
    assert (outcome(made)["gate"], s.passed[0], outcome(made)["terminated"]) == (0.0, 3, False)
    made = batch(fidelity="low")
    put(made, (2.45, -1.4, 1.2), (5, 0, 0), passed=3)
    idle(made)
    assert outcome(made)["collision"] == 1.0


def test_the_last_gate_finishes_the_course():
    made = batch(fidelity="low", weights={"time": 1.0})
    _, s = put(made, (-2.55, 2.0, 1.2), (5, 0, 0), passed=5)
    s.elapsed = 199
    idle(made)
    found = outcome(made)
    assert (found["success"], found["terminated"]) == (True, True)
    assert found["finish_time"] == pytest.approx(200 / 50)
    assert found["crash"] == 0.0


@pytest.mark.parametrize(
    ("place", "velocity", "crash", "fence"),
    [
        ((6.4, 0, 1.5), (0, 0, 0), False, True),
        ((6.19, 0, 1.5), (0, 0, 0), False, False),
        ((6.49, 0, 1.5), (5, 0, 0), True, True),
        ((0, -3.75, 1.5), (0, 0, 0), False, True),
        ((0, -3.69, 1.5), (0, 0, 0), False, False),
        ((0, 3.99, 1.5), (0, 5, 0), True, True),
        ((0, 0, 2.75), (0, 0, 0), False, True),
        ((0, 0, 2.65), (0, 0, 0), False, False),
        ((0, 0, 2.99), (0, 0, 5), True, True),
        ((0, 0, 0.04), (0, 0, -5), True, False),
    ],
)
def test_arena_floor_and_geofence(place, velocity, crash, fence):
    """The arena of "eight" is 13 m x 8 m x 3 m, the fence 0.3 m inside."""
    made = batch()
    put(made, place, velocity)
    idle(made)
    found = outcome(made)
    assert (found["terminated"], found["crash"] == -1.0, found["geofence"] == 1.0) == (crash, crash, fence)
    assert found["collision"] == (1.0 if place[2] < 0.1 else 0.0)


def test_tilt_cost_beyond_1_4_rad_and_no_end_by_it():
    for tilt, expected in ((1.35, 0.0), (1.45, 1.0), (math.pi, 1.0)):
        made = batch(fidelity="low")
        put(made, (0, 0, 2), attitude=(math.sin(tilt / 2), 0, 0, math.cos(tilt / 2)))
        idle(made)
        assert outcome(made)["tilt"] == expected
        assert not outcome(made)["terminated"]


# --- fidelity ---------------------------------------------------------------------------------------------------------


def test_low_fidelity_follows_rates_at_once_and_falls_as_a_point():
    made = batch(fidelity="low")
    p, s = put(made, (0, 0, 1.5), (2, 0, 0))
    made.step(np.array([[[-1.0, 0.5, -0.2, 0.1]]], np.float32).reshape(made.actions.shape))
    np.testing.assert_allclose(s.rates[0], [5.0, -2.0, 1.0], rtol=1e-6)
    assert s.velocity[0, 2] == pytest.approx(-p.gravity / 50, rel=1e-9)
    assert s.velocity[0, 0] == pytest.approx(2.0, rel=1e-12)  # no drag
    angle = np.linalg.norm(s.rates[0]) / 50
    assert 2 * math.acos(s.attitude[0, 3]) == pytest.approx(angle, rel=1e-6)
    # semi-implicit steps of 2 ms
    assert s.position[0, 2] - 1.5 == pytest.approx(-p.gravity / 500**2 * 55, rel=1e-6)


def test_low_fidelity_thrust_is_bounded_and_along_the_body():
    made = batch(fidelity="low")
    p, s = put(made, (0, 0, 1.5), attitude=(0, math.sin(0.25), 0, math.cos(0.25)))
    action = np.zeros(made.actions.shape, np.float32)
    action[..., 0] = 1.0
    made.step(action)
    most = p.thrust_to_weight * p.gravity
    np.testing.assert_allclose(
        50 * s.velocity[0], [most * math.sin(0.5), 0, most * math.cos(0.5) - p.gravity], rtol=1e-9, atol=1e-9
    )


def test_high_fidelity_lags_and_low_fidelity_takes_given_drag():
    made = batch()
    _, s = put(made, (0, 0, 1.5), (2, 0, 0))
    action = np.zeros(made.actions.shape, np.float32)
    action[..., 1] = 0.5
    made.step(action)
    assert 0.0 < s.rates[0, 0] < 1.0
    assert s.velocity[0, 0] < 2.0
    p, _ = batch(fidelity="low").records(0)
    assert (p.lag_time, p.drag_xy, p.drag_z) == (0.0, 0.0, 0.0)
    made = batch(fidelity="low", drag_xy=2.6347e-5)
    _, s = put(made, (0, 0, 1.5), (2, 0, 0))
    idle(made)
    assert s.velocity[0, 0] < 1.999


def test_fidelities_agree_in_gentle_flight_without_lag_and_drag():
    ends = []
    for fidelity in ("high", "low"):
        made = batch(fidelity=fidelity, rotor_lag=False, drag=False, rate_gain=100.0)
        _, s = put(made, (0, 0, 1.5))
        for t in range(50):
            action = np.zeros(made.actions.shape, np.float32)
            action[..., 0], action[..., 2] = 0.05, 0.06 * math.cos(t / 8)
            made.step(action)
        ends.append(s.position[0].copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=0.03)
    assert ends[0][0] > 0.2


# --- the expert -------------------------------------------------------------------------------------------------------


def fly(made):
    """Who finished, and when [s]; (worlds, racers)."""
    done, won, time = (np.zeros(made.terminated.shape, kind) for kind in (bool, bool, float))
    row = list(made.world.terms).index("finish_time")
    while not done.all():
        made.load_actions(made.expert_actions())
        made.step_inplace()
        ended = (made.terminated | made.truncated) & ~done
        won[ended], time[ended] = made.success[ended], made.terms[:, row][ended]
        done |= ended
    return won, time


def test_the_expert_finishes_all_courses_no_faster_than_the_bound():
    seconds = {}
    for course in ("eight", "circle", "straight", "random"):
        for fidelity in ("high", "low"):
            won, time = fly(batch(40, course=course, fidelity=fidelity, backend="numba"))
            assert won.mean() >= 0.95
            if course != "random":
                assert time.min() > lower_bound_time(racing.course_of(options(course)), 4.17 * 9.8)
            seconds[course, fidelity] = time[won].mean()
    assert seconds["eight", "high"] < 9.6
    assert seconds["circle", "high"] < 4.6
    assert seconds["straight", "high"] < 4.4
    assert all(seconds[course, "low"] < seconds[course, "high"] for course in ("eight", "circle", "straight"))


def test_the_expert_flies_hard_and_real_and_from_any_gate():
    for keywords in ({"level": "hard"}, {"level": "real"}, {"start": "any_gate"}):
        assert fly(batch(40, backend="numba", **keywords))[0].mean() >= 0.95


def test_random_actions_never_finish():
    made = batch(20, backend="numba")
    generator = np.random.default_rng(0)
    for _ in range(300):
        made.step(generator.uniform(-1, 1, made.actions.shape))
        assert not made.success.any()


# --- swarm race -------------------------------------------------------------------------------------------------------


def swarm(**keywords):
    return begun("QuadSwarmRace-v0", backend="python", **keywords)


@pytest.mark.parametrize("course", ["eight", "circle", "straight", "cpc", "random"])
def test_racers_start_apart_clear_of_frames_and_inside(course):
    made = swarm(course=course, agents=6)
    p, s = made.records(0)
    for k in range(6):
        others = np.delete(s.position, k, axis=0)
        assert np.linalg.norm(others - s.position[k], axis=1).min() > 0.6 - 1e-9
        assert (abs(s.position[k, :2]) < p.room[:2] - 0.2).all()
    idle(made)
    assert not made.terminated.any()
    assert p.spacing == pytest.approx(4 * 0.15 + 2 * 0.03)


def test_too_many_racers_are_refused_with_the_number_that_fits():
    with pytest.raises(ParameterError, match=r"agents=16 do not fit .*; at most \d+ do") as caught:
        swarm(course="circle", agents=16, hull=(0.25, 0.1))
    most = int(str(caught.value).split("at most ")[1].split()[0])
    swarm(course="circle", agents=most, hull=(0.25, 0.1))
    with pytest.raises(ParameterError, match=f"; at most {most} do"):
        swarm(course="circle", agents=most + 1, hull=(0.25, 0.1))


def test_racers_that_touch_are_out_unless_told_otherwise():
    for ends in (True, False):
        made = swarm(collisions_end=ends)
        put(made, (0, 0, 1.5), k=0)
        put(made, (0.2, 0, 1.5), k=1)
        put(made, (0, 1.0, 1.5), k=2)
        put(made, (0, -0.45, 1.5), k=3)
        idle(made)
        found = [outcome(made, k) for k in range(4)]
        assert [f["contact"] for f in found] == [1, 1, 0, 0]
        assert [f["proximity"] for f in found] == [1, 1, 0, 1]  # hulls of 0.15 m, gap 0.2 m
        assert [f["terminated"] for f in found] == [ends, ends, False, False]
        assert [f["crash"] for f in found] == ([-1, -1, 0, 0] if ends else [0, 0, 0, 0])


def test_ranks_and_lead():
    made = swarm(fidelity="low")
    put(made, (-2.55, 2.3, 1.2), (5, 0, 0), passed=5, k=0)
    put(made, (-2.8, 2.0, 1.2), (5, 0, 0), passed=5, k=1)
    put(made, (-2.55, 1.7, 1.2), (5, 0, 0), passed=5, k=2)
    put(made, (0, 0, 1.2), passed=2, k=3)
    idle(made)
    found = [outcome(made, k) for k in range(4)]
    assert [f["rank"] for f in found] == [1, 0, 1, 0]
    assert [f["success"] for f in found] == [True, False, True, False]
    assert [f["lead"] for f in found] == [1, 0, 1, 0]
    for _ in range(4):
        idle(made)
        if outcome(made, 1)["success"]:
            break
    assert outcome(made, 1)["rank"] == pytest.approx(1 / 3)
    assert not made.terminated[0, 3]
    assert swarm_race.SPEC.terms["rank"].weight == 10


def test_swarm_horizon_and_the_share_of_progress():
    assert swarm(agents=3).setup.horizon == 50 * (6 * 5 + 3)
    made = swarm()
    _, s = put(made, (0.0, -2.0, 1.2), (3.0, 0.0, 0.0), k=2)
    before = s.distance[2]
    idle(made)
    assert outcome(made, 2)["progress"] == pytest.approx(before - s.distance[2])


def test_the_swarm_of_experts_finishes():
    won, _ = fly(swarm(agents=2, course="circle", control_hz=25))
    assert won.all()
