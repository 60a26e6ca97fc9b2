"""Gates, courses and reference trajectories: geometry against brute force, promises of the generator, flatness."""

import itertools
import math
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numba.extending import register_jitable

from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.core.declare.kernels import marked
from rlenvs.robotics.quadcopter import courses, gates, paths

GRAVITY = 9.8
CPC = paths.Quad()
CPC_ACCELERATION = 3.3 * GRAVITY
ROOM = (3.0, 3.0, 3.0)


def compiled(function):
    for other in marked:
        if isinstance(other, FunctionType) and not hasattr(other, "_compiled_by_numba"):
            register_jitable(error_model="numpy")(other)
            other._compiled_by_numba = True
    return njit(error_model="numpy")(function)


def cross_at(start, end, gate=(0.0, 0.0, 1.0, 0.0), opening=0.5, outer=0.7):
    return gates.crossing(np.array([gate], float), 0, opening, outer, *map(float, start), *map(float, end))


# --- gates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "outcome"),
    [
        ((-1, 0, 1), (1, 0, 1), gates.PASSED),
        ((1, 0, 1), (-1, 0, 1), gates.BACKWARDS),
        ((-1, 0.6, 1), (1, 0.6, 1), gates.HIT),
        ((1, 0, 1.6), (-1, 0, 1.6), gates.HIT),
        ((-1, 0.71, 1), (1, 0.71, 1), gates.MISSED),
        ((-1, 0, 1), (-0.1, 0, 1), gates.MISSED),
        ((-1, 0.499, 0.501), (1, 0.499, 0.501), gates.PASSED),
        ((-1, 0, 1), (3, 2.1, 1), gates.HIT),  # 0.525 m to the left where it meets the plane
        ((-1, 0, 1), (0, 0, 1), gates.PASSED),  # the plane belongs to the far side
        ((0, 0, 1), (1, 0, 1), gates.MISSED),
        ((0, 0, 1), (-1, 0, 1), gates.BACKWARDS),
    ],
)
def test_crossing(start, end, outcome):
    assert cross_at(start, end) == outcome
    assert (gates.MISSED, gates.PASSED, gates.HIT, gates.BACKWARDS) == (0, 1, 2, 3)


number = st.floats(-3.0, 3.0)
point = st.tuples(number, number, number)
gate_row = st.tuples(number, number, number, st.floats(-7.0, 7.0))


@given(gate_row, point, point, st.floats(0.1, 1.0), st.floats(0.0, 1.0))
def test_crossing_agrees_with_a_rotation_matrix(gate, start, end, opening, ring):
    """Solve for the point in the plane as a linear system: centre + left b + up c = start + part (end - start)."""
    x, y, z, yaw = gate
    ahead, left = np.array([math.cos(yaw), math.sin(yaw), 0]), np.array([-math.sin(yaw), math.cos(yaw), 0])
    way = np.subtract(end, start)
    if abs(way @ ahead) < 1e-3:
        return
    part, b, c = np.linalg.solve(np.column_stack([-way, left, [0, 0, 1]]), np.subtract(start, (x, y, z)))
    off, outer = max(abs(b), abs(c)), opening + ring
    if min(abs(part), abs(part - 1), abs(off - opening), abs(off - outer)) < 1e-9:
        return
    expected = gates.MISSED
    if 0 < part < 1 and off < outer:
        expected = gates.HIT if off > opening else (gates.PASSED if way @ ahead > 0 else gates.BACKWARDS)
    assert cross_at(start, end, gate, opening, outer) == expected


@given(gate_row, st.lists(point, min_size=2, max_size=20))
def test_a_flight_in_steps_crosses_the_plane_as_often_as_it_changes_sides(gate, points):
    outcomes = [cross_at(a, b, gate, 1e9, 2e9) for a, b in itertools.pairwise(points)]
    first, last = (gates.gate_frame(np.array([gate]), 0, *p)[0] >= 0 for p in (points[0], points[-1]))
    assert outcomes.count(gates.PASSED) - outcomes.count(gates.BACKWARDS) == int(last) - int(first)


def test_gate_frame_and_corners():
    row = np.array([[1.0, 2.0, 3.0, math.radians(30)]])
    c, s = math.cos(math.radians(30)), 0.5
    np.testing.assert_allclose(gates.gate_frame(row, 0, 1 + 2 * c - s, 2 + 2 * s + c, 2.5), (2, 1, -0.5), atol=1e-12)
    corners = np.zeros((4, 3))
    gates.gate_corners(row, 0, 0.4, 0.5, 0.0, 1.0, corners)
    seen = [gates.gate_frame(row, 0, *(corner + (0.5, 0.0, 1.0))) for corner in corners]
    np.testing.assert_allclose(seen, [(0, 0.4, -0.4), (0, -0.4, -0.4), (0, -0.4, 0.4), (0, 0.4, 0.4)], atol=1e-12)


def squares_distance(a, b, outer):
    """Between two squares, by projecting in turn onto either of these convex sets."""
    target = np.array(a[:3])
    for _ in range(3000):
        for x, y, z, yaw in (b, a):
            left = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
            off, before = target - (x, y, z), target
            target = (x, y, z) + np.clip(off @ left, -outer, outer) * left
            target[2] += np.clip(off[2], -outer, outer)
    return np.linalg.norm(target - before)


@settings(max_examples=25)
@given(gate_row, gate_row, st.floats(0.1, 1.5))
def test_frame_gap_is_the_distance_of_two_squares(a, b, outer):
    gap = gates.frame_gap(np.array([a, b]), 0, 1, outer)
    assert gap == gates.frame_gap(np.array([b, a]), 0, 1, outer)
    assert gap == pytest.approx(squares_distance(a, b, outer), abs=2e-3)


def test_frame_gap_by_hand():
    def gap(b, outer=0.5):
        return gates.frame_gap(np.array([[0, 0, 1, 0], b], float), 0, 1, outer)

    assert gap((0, 2, 1, 0)) == pytest.approx(1.0)  # side by side
    assert gap((0, 2, 1, math.pi)) == pytest.approx(1.0)
    assert gap((3, 0, 1, 0)) == pytest.approx(3.0)  # one behind the other
    assert gap((0, 0, 3, 1.0)) == pytest.approx(1.0)  # one above the other
    assert gap((0, 4, 5, 0)) == pytest.approx(math.hypot(3, 3))
    assert gap((0.3, 0.2, 1.5, math.pi / 2)) == 0.0  # through each other


# --- named and given courses ------------------------------------------------------------------------------------------


def test_the_cpc_course_is_the_published_one():
    course = courses.named_course("cpc")
    assert [gate[:3] for gate in course.gates] == [
        *((-1.1, -1.6, 3.6), (9.2, 6.6, 1.0), (9.2, -4.0, 1.2), (-4.5, -6.0, 3.5)),
        *((-4.5, -6.0, 0.8), (4.75, -0.9, 1.2), (-2.8, 6.8, 1.2)),
    ]
    assert (course.passes, course.start, course.end) == (19, (-5.0, 4.5, 1.2), (4.75, -0.9, 1.2))
    upper, lower = course.gates[3][3], course.gates[4][3]
    assert math.cos(upper - lower) == pytest.approx(-1.0)  # in above and back out below


@pytest.mark.parametrize("name", courses.COURSES)
def test_named_courses_are_valid_and_face_along_the_path(name):
    course = courses.named_course(name)
    rows = courses.parse_gates(course.gates, course.arena, course.half_opening, course.half_outer)
    assert rows == course.gates
    table = np.array(rows)
    for g in range(len(rows)):
        before = course.start if len(rows) == 1 else rows[g - 1][:3]
        after = course.end if len(rows) == 1 else rows[(g + 1) % len(rows)][:3]
        assert gates.gate_frame(table, g, *before)[0] <= 1e-12
        assert gates.gate_frame(table, g, *after)[0] >= -1e-12
        if len(rows) > 1:
            assert math.cos(rows[g][3] - gates.bisector(table, g)) > math.cos(math.radians(15))
    for place in (course.start, course.end or course.start):
        assert abs(place[0]) < course.arena[0]
        assert abs(place[1]) < course.arena[1]
        assert 0 < place[2] < course.arena[2]
    assert gates.gate_frame(table, 0, *course.start)[0] < 0


def test_sizes_of_the_small_courses():
    straight, circle = courses.named_course("straight"), courses.named_course("circle")
    assert math.dist(straight.start, straight.end) == 10.0
    assert circle.arena == (3.0, 3.0, 3.0)
    assert len(circle.gates) == 4


def test_unknown_course():
    with pytest.raises(UnknownNameError, match=r"'cpcc'.*Did you mean 'cpc'"):
        courses.named_course("cpcc")


def parse(given_gates, arena=ROOM, opening=0.4, outer=0.5):
    return courses.parse_gates(given_gates, arena, opening, outer)


def test_a_missing_yaw_follows_the_path():
    rows = parse([[2, 0, 1], [0, 2, 1], [-2, 0, 1, -1.5], [0, -2, 1]])
    assert [row[3] for row in rows] == pytest.approx([math.pi / 2, math.pi, -1.5, 0.0])
    assert [row[3] for row in parse([(0, 0, 1), (0, 2, 1)])] == pytest.approx([math.pi / 2] * 2)
    assert parse(np.array([[0, 0, 1]])) == ((0.0, 0.0, 1.0, 0.0),)
    stacked = parse([(-2, 0, 0.6), (0, 0, 0.6), (0, 0, 2.0)])  # in, up, and back
    assert [row[3] for row in stacked[1:]] == pytest.approx([0.0, math.pi])


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([], "0 gates were given; allowed: 1 to 100; add"),
        ("cpc", "'cpc' is not a list of gates; give one .x, y, z. or .x, y, z, yaw. for each"),
        (3.0, "3.0 is not a list of gates"),
        ([1.0, 2.0, 3.0], r"gate 0 is 1.0; write it as \[x, y, z\] or \[x, y, z, yaw\]"),
        ([[0, 0, 1], [1, 1]], r"gate 1 is \[1, 1\]; write it as"),
        ([[0, 0, 1, 0, 0]], "gate 0 is"),
        ([[0, math.nan, 1]], "y of gate 0 is nan; give a finite number"),
        ([[0, 0, 1, math.inf]], "yaw of gate 0 is inf"),
        ([[0, 0, "1"]], "z of gate 0 is '1'"),
        ([[0, 0, True]], "z of gate 0 is True"),
        ([[3.2, 0, 1]], r"x of gate 0 is 3.2 m; allowed is \[-3, 3\] m; move"),
        ([[2.6, 0, 1, math.pi / 2]], r"x of gate 0 is 2.6 m; allowed is \[-2.5, 2.5\] m"),
        ([[0, -2.6, 1]], r"y of gate 0 is -2.6 m; allowed is \[-2.5, 2.5\] m"),
        ([[0, 0, 0.3]], r"z of gate 0 is 0.3 m; allowed is \[0.4, 2.5\] m.*above the floor"),
        ([[0, 0, -1]], "z of gate 0 is -1 m"),
        ([[0, 0, 2.6]], r"z of gate 0 is 2.6 m; allowed is \[0.4, 2.5\] m"),
        ([[0, 0, 1], [0.3, 0.2, 1, 1.5]], "frames of gates 0 and 1 are 0 m apart; at least 0.1 m.*move one"),
        ([[0, 0, 1], [2, 0, 1], [2.05, 0, 1, 0]], "frames of gates 1 and 2 are"),
        ([[0, 0, 1]] * 101, "101 gates were given"),
    ],
)
def test_bad_gates_are_refused_by_name_value_range_and_fix(bad, words):
    with pytest.raises(ParameterError, match=words):
        parse(bad)


# --- random courses ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def random_course():
    return compiled(gates.random_course)


LAYOUTS = [
    (1, (1.0, 1.5, 1.2), 0.5, 2.1, 0.99),
    (2, ROOM, 0.5, 2.1, 0.99),
    (3, ROOM, 0.5, 2.6, 0.9),
    (4, ROOM, 0.5, 2.1, 0.99),
    (8, ROOM, 0.5, 2.1, 0.5),
    (10, (10.0, 6.0, 4.0), 0.7, 1.8, 0.7),
    (12, (3.5, 3.5, 3.0), 0.5, 2.0, 0.0),
]


def turns(rows):
    legs = np.roll(rows, -1, axis=0)[:, :2] - rows[:, :2]
    headings = np.arctan2(legs[:, 1], legs[:, 0])
    change = headings - np.roll(headings, 1)
    return np.abs((change + np.pi) % (2 * np.pi) - np.pi), headings, legs


def hits_no_other_gate(rows, outer):
    """Legs sampled densely keep off the frames of all other gates: off the plane, or off the square."""
    count = len(rows)
    for g in range(count):
        leg = rows[g, :3] + np.linspace(0, 1, 400)[:, None] * (rows[(g + 1) % count, :3] - rows[g, :3])
        for other in set(range(count)) - {g, (g + 1) % count}:
            off = leg - rows[other, :3]
            c, s = math.cos(rows[other, 3]), math.sin(rows[other, 3])
            ahead, left = off[:, 0] * c + off[:, 1] * s, off[:, 1] * c - off[:, 0] * s
            near = (np.abs(left) < outer - 0.05) & (np.abs(off[:, 2]) < outer - 0.05)
            if (near[:-1] & near[1:] & (np.sign(ahead[:-1]) != np.sign(ahead[1:]))).any():
                return False
    return True


@pytest.mark.parametrize(("count", "arena", "outer", "sharpest", "share"), LAYOUTS)
def test_random_courses_keep_their_promises(random_course, count, arena, outer, sharpest, share):
    """2,000 seeds in all layouts; `share` is the least part that is not the ring."""
    courses.check_random_course(count, arena, outer, sharpest)
    drawn, seen = 0, []
    for seed in range(2000):
        rng = np.random.default_rng(seed).integers(1, 2**64 - 1, 2, dtype=np.uint64)
        rows = np.zeros((count, 4))
        drawn += random_course(rng, rows, *arena, outer, sharpest)
        seen.append(rows)
        reach = np.abs(rows[:, :2]) + outer * np.abs(np.stack([np.sin(rows[:, 3]), np.cos(rows[:, 3])], 1))
        assert (reach <= np.array(arena[:2]) + 1e-9).all()
        assert (rows[:, 2] >= outer - 1e-12).all()
        assert (rows[:, 2] <= arena[2] - outer + 1e-12).all()
        apart = np.linalg.norm(rows[:, None, :2] - rows[None, :, :2], axis=-1) + 1e9 * np.eye(count)
        assert apart.min() >= 3 * outer - 1e-9
        if count >= 3:
            change, headings, legs = turns(rows)
            assert change.max() <= sharpest + 1e-9
            assert (np.cos(rows[:, 3] - headings) >= math.cos(sharpest / 2) - 1e-9).all()
            assert (np.cos(rows[:, 3] - np.roll(headings, 1)) >= math.cos(sharpest / 2) - 1e-9).all()
            rise = np.abs(np.roll(rows[:, 2], -1) - rows[:, 2])
            assert (rise <= np.linalg.norm(legs, axis=1) + 1e-9).all()
        if seed < 40:
            assert hits_no_other_gate(rows, outer)
    assert drawn >= share * 2000
    seen = np.array(seen)
    assert len(np.unique(seen[:, 0, 0])) == 2000
    if share > 0.9:  # gates go everywhere in the arena
        assert (seen[..., 0].max() > 0.95 * (arena[0] - outer)) & (seen[..., 1].min() < -0.95 * (arena[1] - outer))
        assert np.ptp(seen[..., 2]) > 0.9 * (arena[2] - 2 * outer)


def test_every_random_course_passes_the_check_of_given_ones(random_course):
    for seed in range(100):
        rng = np.random.default_rng(seed).integers(1, 2**64 - 1, 2, dtype=np.uint64)
        rows = np.zeros((6, 4))
        random_course(rng, rows, 4.0, 4.0, 3.0, 0.5, 2.1)
        parse(rows.tolist(), arena=(4.0, 4.0, 3.0))


def test_compiled_and_plain_generator_agree(random_course):
    for seed in range(3):
        word = np.random.default_rng(seed).integers(1, 2**64 - 1, 2, dtype=np.uint64)
        first, second = np.zeros((5, 4)), np.zeros((5, 4))
        with np.errstate(over="ignore"):
            gates.random_course(word.copy(), first, *ROOM, 0.5, 2.1)
        random_course(word.copy(), second, *ROOM, 0.5, 2.1)
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ((11, ROOM, 0.5, 2.1), "11 random gates of 1 m do not fit.*allowed are 1 to 10"),
        ((0, ROOM, 0.5, 2.1), "0 random gates"),
        ((2, (1.0, 1.0, 3.0), 0.5, 2.1), "allowed are 1 to 1;"),
        ((4, ROOM, 1.6, 2.1), r"half_outer=1.6 m do not fit.*\(0, 1.5\) m; use smaller"),
        ((4, ROOM, 0.0, 2.1), "half_outer=0 m"),
        ((4, ROOM, 0.5, 1.5), r"max_turn=1.5 rad cannot close a loop of 4 gates; allowed is \(1.571, 3.142\]"),
        ((4, ROOM, 0.5, 4.0), "max_turn=4"),
    ],
)
def test_impossible_random_courses_are_refused(call, words):
    with pytest.raises(ParameterError, match=words):
        courses.check_random_course(*call)


@pytest.mark.parametrize("count", [2, 3, 4, 7, 10])
def test_the_ring_fits_up_to_the_largest_number_of_gates(count):
    courses.check_random_course(count, ROOM, 0.5, math.pi)
    rows = np.zeros((count, 4))
    with np.errstate(over="ignore"):
        gates.ring_course(np.array([1, 2], np.uint64), rows, *ROOM, 0.5)
    apart = np.linalg.norm(rows[:, None, :2] - rows[None, :, :2], axis=-1) + 1e9 * np.eye(count)
    assert apart.min() >= 1.5 - 1e-9
    assert gates.legs_are_free(rows, 0.5)
    if count >= 3:
        assert turns(rows)[0] == pytest.approx(2 * math.pi / count)


# --- bounds on the time -----------------------------------------------------------------------------------------------


def test_point_mass_from_rest_to_rest():
    course = courses.Course(((5.0, 0.0, 1.0, 0.0),), (0.0, 0.0, 1.0), (20.0, 3.0, 3.0), 1, (10.0, 0.0, 1.0))
    assert courses.lower_bound_time(course, 4.0, gravity=0.0) == pytest.approx(2 * math.sqrt(10 / 4.0))
    assert courses.level_flight_time(10.0, 4.0, gravity=0.0) == pytest.approx(2 * math.sqrt(10 / 4.0))
    with pytest.raises(ParameterError, match=r"acceleration=9.8 must exceed gravity=9.8"):
        courses.lower_bound_time(course, 9.8)


def test_bound_of_a_course_that_turns_back():
    """0 -> 4 -> 1 -> 5 along x with openings of no size: three ways, the last not to rest."""
    rows = tuple((x, 0.0, 1.0, 0.0) for x in (2.0, 4.0, 1.0, 3.0, 5.0))
    course = courses.Course(rows, (0.0, 0.0, 1.0), (9.0, 9.0, 9.0), half_opening=0.0)
    expected = 2 * math.sqrt(4 / 2.0) + 2 * math.sqrt(3 / 2.0) + math.sqrt(2 * 4 / 2.0)
    assert courses.lower_bound_time(course, 2.0, gravity=0.0) == pytest.approx(expected)
    farther = courses.lower_bound_time(course, 2.0, start=(-5.0, 0.0, 1.0), gravity=0.0)
    assert farther == pytest.approx(expected + 2 * math.sqrt(9 / 2.0) - 2 * math.sqrt(4 / 2.0))


def test_rest_to_rest_with_unequal_accelerations():
    """8 m at 2 up and 6 down: 6 m in sqrt(6) s to speed 2 sqrt(6), 2 m in sqrt(6) / 3 s to rest."""
    for goal in (8.0, -8.0):
        assert courses._time_along(0.0, [goal], [goal], 2.0, 6.0, True) == pytest.approx(math.sqrt(6) * 4 / 3)
    assert courses._time_along(0.0, [8.0], [9.0], 2.0, 6.0, False) == pytest.approx(math.sqrt(8.0))
    assert courses._time_along(0.0, [-9.0], [-8.0], 2.0, 6.0, False) == pytest.approx(math.sqrt(8.0 / 3.0))


def controlled_flight(duration, ratio, acceleration):
    """Position and velocity after full thrust along (1 - 2 t / T, r); r is `ratio`."""
    t = (np.arange(200_000) + 0.5) * duration / 200_000
    thrust = np.stack([1 - 2 * t / duration, np.full_like(t, ratio)], 1)
    a = acceleration * thrust / np.linalg.norm(thrust, axis=1)[:, None] - (0, GRAVITY)
    step = duration / len(t)
    return ((duration - t)[:, None] * a).sum(0) * step, a.sum(0) * step


def test_level_flight_time_is_reached_and_not_beaten():
    time = courses.level_flight_time(10.0, CPC_ACCELERATION)
    ratios = np.linspace(0.05, 0.2, 3001)
    ratio = ratios[np.argmin(np.abs(ratios * np.arcsinh(1 / ratios) - 1 / 3.3))]
    place, speed = controlled_flight(time, ratio, CPC_ACCELERATION)
    assert place == pytest.approx((10.0, 0.0), abs=2e-3)
    assert speed == pytest.approx((0.0, 0.0), abs=5e-3)
    # not beaten: (T - t) x'' + m x'' + n z'' integrates to the distance, whatever m and n; its largest value bounds it
    t = (np.arange(20_000) + 0.5) / 20_000 * time
    best = min(
        CPC_ACCELERATION * np.hypot(0.5 * time - t, n).mean() * time - n * GRAVITY * time
        for n in np.linspace(0.0, 0.2, 401)
    )
    assert best == pytest.approx(10.0, abs=2e-3)


def test_bang_bang_of_the_cpc_quad_over_10_m_is_within_2_percent_of_the_optimum():
    optimum = courses.level_flight_time(10.0, CPC_ACCELERATION)
    level = 2 * math.sqrt(10 / math.sqrt(CPC_ACCELERATION**2 - GRAVITY**2))
    bound = courses.lower_bound_time(courses.named_course("straight"), CPC_ACCELERATION)
    assert bound <= optimum < level < 1.02 * optimum
    assert (bound, optimum, level) == pytest.approx((1.1121, 1.1267, 1.1392), abs=1e-4)


def test_no_planned_flight_beats_the_bound():
    for name in courses.COURSES:
        course = courses.named_course(name)
        passes = course.passes or len(course.gates)
        points = [course.start, *(course.gates[g % len(course.gates)][:3] for g in range(passes))]
        points += [course.end] if course.end else []
        _, durations = paths.fastest_minimum_snap(points, paths.trapezoid_times(points, 8.0, 8.0), CPC)
        assert courses.lower_bound_time(course, CPC_ACCELERATION) < durations.sum()


def test_the_bound_of_the_cpc_course():
    course = courses.named_course("cpc")
    assert courses.lower_bound_time(course, CPC_ACCELERATION) == pytest.approx(13.525, abs=1e-3)


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
