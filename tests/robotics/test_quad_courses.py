"""Gates and courses of quadcopters: geometry against brute force, promises of the generator, bounds on the time."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.quad_courses import CPC, CPC_ACCELERATION, GRAVITY, ROOM, compiled

from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.robotics.quadcopter import courses, gates, paths


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
