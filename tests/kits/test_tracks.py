"""Roads: queries and scans against brute force over all segments, generated roads, files and their faults."""

import functools
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.kits.tracks import files, generator, lidar, line, road
from rlenvs.kits.vehicles import bodies

SHAPE = np.array([0.29, 0.29, 0.155])


@pytest.fixture(scope="module")
def roads():
    named = [files.named_road(name) for name in ("oval", "club")]
    return [*named, *(generator.random_road(seed, difficulty=1.0) for seed in range(2))]


def segments(track):
    return np.vstack([np.hstack([side, np.roll(side, -1, axis=0)]) for side in files.polygon(track)])


def rays(track, x, y, angles, reach, more=()):
    """Distances along rays to all borders and further segments, one after the other."""
    lines = np.vstack([segments(track), *more])
    ax, ay = lines[:, 0] - x, lines[:, 1] - y
    ex, ey = lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1]
    found = np.full(len(angles), reach)
    for j, angle in enumerate(angles):
        dx, dy = math.cos(angle), math.sin(angle)
        with np.errstate(all="ignore"):
            distance = (ax * ey - ay * ex) / (dx * ey - dy * ex)
            part = (ax * dy - ay * dx) / (dx * ey - dy * ex)
        hit = (distance >= 0.0) & (part >= -1e-12) & (part <= 1.0 + 1e-12)
        found[j] = min(reach, distance[hit].min(initial=reach))
    return found


def somewhere(track, rng, room=1.0):
    length = track[-1, road.AT]
    progress, offset = rng.uniform(0.0, length), rng.uniform(-room, room)
    x, y, heading = road.place(track, progress, offset)
    return progress, offset, x, y, heading, road.nearest_cell(track, x, y)


def body(x, y, heading):
    c, s = math.cos(heading), math.sin(heading)
    corners = [road.corner_of(SHAPE, n) for n in range(4)]
    return np.array([(x + c * a - s * b, y + s * a + c * b) for a, b in corners])


def edges(corners):
    return np.hstack([corners, np.roll(corners, -1, axis=0)])


def crosses(a, b):
    """Whether any segment of a crosses any of b."""

    def side(p, q, r):
        return (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])

    p, q, r, s = a[:, None, :2], a[:, None, 2:], b[None, :, :2], b[None, :, 2:]
    return bool(((side(p, q, r) * side(p, q, s) < 0) & (side(r, s, p) * side(r, s, q) < 0)).any())


# --- the strip --------------------------------------------------------------------------------------------------------


def test_rungs_are_equally_far_apart_and_the_length_is_that_of_the_spline(roads):
    for track in roads:
        apart = np.hypot(*np.diff(track[:, :2], axis=0).T)
        step = track[-1, road.AT] / (len(track) - 1)
        assert apart.max() <= step + 1e-9
        assert apart.min() > 0.995 * step
        assert np.allclose(np.diff(track[:, road.AT]), step)
        assert road.fault(track) == (road.SOUND, 0)


def test_a_circle_has_its_numbers():
    """Width, curvature, heading and length of a circle of radius 5 m."""
    angles = np.arange(40) * math.pi / 20
    track = files.road_through(np.stack([5 * np.cos(angles), 5 * np.sin(angles)], 1), width=2.0)
    assert track[-1, road.AT] == pytest.approx(10.0 * math.pi, rel=1e-5)
    assert np.allclose(track[:, road.BEND], 0.2, rtol=3e-3)
    assert np.allclose(np.hypot(track[:, 2], track[:, 3]), 4.0, atol=1e-4)  # left is inside
    assert np.allclose(np.hypot(track[:, 4], track[:, 5]), 6.0, atol=1e-4)
    assert road.bend_at(track, 3.0) == pytest.approx(0.2, rel=3e-3)
    x, y, heading = road.place(track, 2.5 * math.pi, 0.5)  # a quarter of a lap
    assert (x, y) == pytest.approx((0.0, 4.5), abs=1e-3)
    assert math.cos(heading) == pytest.approx(-1.0, abs=1e-5)


def test_coordinates_undo_places_and_hints_do_not_matter(roads):
    rng = np.random.default_rng(0)
    for track in roads:
        for _ in range(100):
            progress, offset, x, y, _, cell = somewhere(track, rng)
            hint = int(rng.integers(len(track) - 1))
            assert road.locate(track, (cell + 3) % (len(track) - 1), x, y) == cell
            got = road.coordinates(track, cell, x, y)
            assert abs(road.gained(track[-1, road.AT], got[0], progress)) < 0.01
            assert got[1] == pytest.approx(offset, abs=0.002)
            near = road.locate(
                track, hint, x, y
            )  # from far away another part of the rung's line may be met: still sound
            assert 0 <= near < len(track) - 1


def test_progress_and_offset_are_continuous_across_rungs(roads):
    for track in roads:
        for i in range(0, len(track) - 1, 7):
            for part in (0.1, 0.5, 0.9):
                x = track[i, 4] + part * (track[i, 2] - track[i, 4])
                y = track[i, 5] + part * (track[i, 3] - track[i, 5])
                before = road.coordinates(track, (i - 1) % (len(track) - 1), x, y)
                after = road.coordinates(track, i, x, y)
                assert abs(road.gained(track[-1, road.AT], before[0], after[0])) < 1e-9
                assert before[1] == pytest.approx(after[1], abs=1e-9)


def test_distances_to_borders(roads):
    rng = np.random.default_rng(1)
    for track in roads:
        lines = segments(track)
        for _ in range(100):
            _, offset, x, y, _, cell = somewhere(track, rng)
            want = min(road.from_segment(*line, x, y) for line in lines)
            assert road.from_borders(track, cell, x, y) == pytest.approx(want, abs=1e-9)
            left, right = road.gaps(track, cell, x, y)
            assert min(left, right) == pytest.approx(want, abs=0.05)  # of lines, and of segments
            assert left == pytest.approx(1.1 - offset, abs=0.08)
            assert right == pytest.approx(1.1 + offset, abs=0.08)


def test_a_body_touches_a_border_exactly_when_it_crosses_one(roads):
    rng, touching = np.random.default_rng(2), 0
    for track in roads:
        lines = segments(track)
        for _ in range(150):
            _, _, x, y, heading, cell = somewhere(track, rng)
            heading += rng.uniform(-math.pi, math.pi)
            gap = road.body_gap(track, cell, x, y, math.cos(heading), math.sin(heading), SHAPE)
            touches = crosses(edges(body(x, y, heading)), lines)
            assert (gap < 0.0) == touches
            touching += touches
    assert 60 < touching < 540


def test_the_way_out_of_a_contact_frees_the_body(roads):
    rng, freed, touching = np.random.default_rng(5), 0, 0
    for track in roads:
        for _ in range(300):
            _, _, x, y, heading, cell = somewhere(track, rng)
            c, s = math.cos(heading), math.sin(heading)
            gap, along, left, ahead, aside = road.body_contact(track, cell, x, y, c, s, SHAPE)
            assert gap == road.body_gap(track, cell, x, y, c, s, SHAPE)
            if -0.1 < gap < 0.0:
                touching += 1
                assert math.hypot(ahead, aside) == pytest.approx(1.0)
                assert -SHAPE[1] <= along <= SHAPE[0]
                assert abs(left) <= SHAPE[2]
                out = (1e-6 - gap) * np.array([c * ahead - s * aside, s * ahead + c * aside])
                freed += road.body_gap(track, cell, x + out[0], y + out[1], c, s, SHAPE) >= 0.0
    assert freed > 0.7 * touching > 20  # the others touch at two corners


def test_a_vertex_inside_a_body_touches_it():
    """The inner border of a sharp bend cuts into the side of a car none of whose corners is beyond it."""
    corner = [(0, 0), (3, 0), (5.8, 0), (6, 0.2), (6, 3), (6, 6), (3, 6), (0, 6), (0, 3)]
    track = files.road_through(np.array([(x, y, 0.5, 0.05) for x, y in corner], float), cells=700)
    cell = road.nearest_cell(track, 5.79, 0.09)
    heading, long = math.pi / 4, np.array([0.6, 0.6, 0.09])
    row = max(range(cell - 20, cell + 20), key=lambda i: track[i, road.LEFT_X] - track[i, road.LEFT_Y])
    x, y = track[row, road.LEFT_X] + 0.055, track[row, road.LEFT_Y] - 0.055
    gap = road.body_gap(track, road.nearest_cell(track, x, y), x, y, math.cos(heading), math.sin(heading), long)
    assert -0.05 < gap < 0.0


def test_gained_progress_goes_the_shorter_way_round():
    assert road.gained(10.0, 9.5, 0.25) == pytest.approx(0.75)
    assert road.gained(10.0, 0.25, 9.5) == pytest.approx(-0.75)


def test_patches_multiply_where_they_lie():
    patches = np.array([[9.0, 2.0, -1.0, 0.0, 0.5], [0.0, 4.0, -2.0, 2.0, 0.8]])
    assert road.grip_factor(patches, 10.0, 9.5, -0.5) == 0.5
    assert road.grip_factor(patches, 10.0, 0.5, -0.5) == 0.4  # the first patch reaches over the start
    assert road.grip_factor(patches, 10.0, 0.5, 0.5) == 0.8
    assert road.grip_factor(patches, 10.0, 5.0, 0.0) == 1.0


def test_checkpoints_are_passed_in_order_and_forwards():
    places = np.array([0.0, 2.5, 5.0, 7.5])
    assert road.pass_checkpoints(places, 1, 2.4, 0.2, 10.0) == 1
    assert road.pass_checkpoints(places, 1, 2.4, 0.05, 10.0) == 0
    assert road.pass_checkpoints(places, 1, 2.4, 2.7, 10.0) == 2
    assert road.pass_checkpoints(places, 0, 9.9, 0.2, 10.0) == 1
    assert road.pass_checkpoints(places, 2, 2.4, 0.2, 10.0) == 0  # another one comes next
    assert road.pass_checkpoints(places, 1, 2.6, -0.2, 10.0) == 0


# --- lidar ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("beams", "view"), [(1080, 4.7), (271, 4.7), (19, 1.0), (2, 3.0), (37, 6.28), (500, 6.28)])
def test_scans_are_exact(roads, beams, view):
    rng, table = np.random.default_rng(beams), lidar.fan(beams, view)
    for track in roads:
        for _ in range(5):
            _, _, x, y, _, cell = somewhere(track, rng, 1.05)
            heading, out = rng.uniform(-10.0, 10.0), np.full(beams, np.nan)
            lidar.scan(track, cell, x, y, math.cos(heading), math.sin(heading), table, view, 12.0, out)
            want = rays(track, x, y, heading + np.linspace(-view / 2, view / 2, beams), 12.0)
            assert np.abs(out - want).max() < 1e-9


def test_one_beam_looks_ahead(roads):
    rng, out = np.random.default_rng(3), np.zeros(1)
    for _ in range(20):
        _, _, x, y, _, cell = somewhere(roads[1], rng)
        heading = rng.uniform(-4.0, 4.0)
        lidar.scan(roads[1], cell, x, y, math.cos(heading), math.sin(heading), lidar.fan(1, 1.0), 1.0, 30.0, out)
        assert out == pytest.approx(rays(roads[1], x, y, [heading], 30.0), abs=1e-9)


def test_scans_see_other_bodies(roads):
    rng, track, view = np.random.default_rng(4), roads[1], 4.7
    beams, out, shortened = lidar.fan(181, view), np.zeros(181), 0
    for _ in range(40):
        progress, _, x, y, _, cell = somewhere(track, rng, 0.7)
        heading, turn = rng.uniform(-4.0, 4.0), rng.uniform(-4.0, 4.0)
        ox, oy, _ = road.place(track, progress + rng.uniform(-2.0, 2.0), rng.uniform(-0.7, 0.7))
        if math.hypot(ox - x, oy - y) < 0.35:
            continue
        c, s = math.cos(heading), math.sin(heading)
        lidar.see_borders(track, cell, x, y, c, s, beams, view, 30.0, out)
        alone = out.copy()
        lidar.see_body(x, y, c, s, beams, view, out, ox, oy, math.cos(turn), math.sin(turn), SHAPE)
        lidar.distances(alone, 30.0)
        lidar.distances(out, 30.0)
        angles = heading + np.linspace(-view / 2, view / 2, 181)
        want = rays(track, x, y, angles, 30.0, [edges(body(ox, oy, turn))])
        assert np.abs(out - want).max() < 1e-9
        shortened += (out < alone).any()
    assert shortened > 20


def test_from_within_a_body_nothing_is_seen(roads):
    beams, out = lidar.fan(9, 4.7), np.full(9, 5.0)
    lidar.see_body(0.0, 0.0, 1.0, 0.0, beams, 4.7, out, 0.1, 0.0, 1.0, 0.0, SHAPE)
    lidar.distances(out, 30.0)
    assert (out == 0.0).all()


@given(st.floats(0.0, 1e3), st.floats(-5.0, 5.0), st.floats(-20.0, 20.0))
@settings(max_examples=60, deadline=None)
def test_scans_are_finite_wherever_the_car_is(roads, progress, offset, heading):
    track, out = roads[0], np.full(30, np.nan)
    x, y, _ = road.place(track, progress, offset)
    cell = road.locate(track, 0, x, y)
    lidar.scan(track, cell, x, y, math.cos(heading), math.sin(heading), lidar.fan(30, 4.7), 4.7, 30.0, out)
    assert ((out >= 0.0) & (out <= 30.0)).all()


def test_noise_is_normal_and_differs_from_beam_to_beam():
    """Against the normal distribution's shares, moments and reach; beams and scans do not know of each other."""
    first, second = np.uint64(123456789), np.uint64(2**63 + 987654321)
    with np.errstate(over="ignore"):
        scans = np.full((2, 30_000), 50.0)
        lidar.add_noise(first, second, 2.0, scans[0])
        lidar.add_noise(first + np.uint64(1), second, 2.0, scans[1])
        again = np.full(100, 50.0)
        lidar.add_noise(first, second, 2.0, again)
    assert again[:50].tolist() == scans[0, :50].tolist()
    assert again[50:].tolist() == scans[0, 15_000:15_050].tolist()
    noise = (scans - 50.0) / 2.0
    every = noise.reshape(-1)
    for share in (0.001, 0.02, 0.16, 0.5, 0.84, 0.98, 0.999):
        assert np.mean(every < NormalDist().inv_cdf(share)) == pytest.approx(
            share, abs=4.0 * math.sqrt(share * (1.0 - share) / every.size)
        )
    assert every.mean() == pytest.approx(0.0, abs=0.017)
    assert every.std() == pytest.approx(1.0, abs=0.012)
    assert np.mean(every**4) == pytest.approx(3.0, abs=0.16)
    assert 3.6 < np.abs(every).max() < 5.4
    halves = noise.reshape(4, 15_000)
    for one, other in (
        *((noise[0, 1:], noise[0, :-1]), (noise[0], noise[1]), (noise[0] ** 2, noise[1] ** 2)),
        *((halves[0], halves[1]), (halves[0] ** 2, halves[1] ** 2)),
    ):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.025
    quiet = np.zeros(200)
    with np.errstate(over="ignore"):
        lidar.add_noise(first, second, 0.1, quiet)
    assert quiet.min() == 0.0
    assert 60 < (quiet == 0.0).sum() < 140


def test_the_sum_of_bytes_is_stretched_to_the_normal_distribution():
    """Against the quantiles of the distribution of the sum itself, and from one end to the other."""
    assert lidar.normal_number(510) == 0.0
    assert lidar.normal_number(0) == -lidar.normal_number(1020) == pytest.approx(-5.1, abs=0.2)
    numbers = np.array([lidar.normal_number(total) for total in range(1021)], float)
    assert (np.diff(numbers) > 0.0).all()
    assert np.diff(numbers)[300:720].max() < 0.008
    four = functools.reduce(np.convolve, [np.full(256, 1.0 / 256.0)] * 4)
    middle = np.cumsum(four) - 0.5 * four
    want = np.array([NormalDist().inv_cdf(share) for share in middle])
    assert np.abs(numbers - want)[np.abs(want) < 3.5].max() < 0.015
    assert (numbers**2 @ four, numbers**4 @ four) == (pytest.approx(1.0, abs=2e-3), pytest.approx(3.0, abs=0.02))


def test_halves_of_a_word_are_sums_of_its_bytes():
    first, second, size = np.uint64(77), np.uint64(2**60 + 5), 7
    with np.errstate(over="ignore"):
        sums = [int(lidar.random_sums(first, second, j)) for j in range(4)]
        out = np.full(size, 9.0)
        lidar.add_noise(first, second, 0.5, out)
    word = (77 + 2 * 0x9E3779B97F4A7C15) % 2**64 ^ (2**60 + 5)  # SplitMix64's, of the third pair
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    parts = (word ^ word >> 31).to_bytes(8, "little")
    assert sums[2] == sum(parts[:4]) + (sum(parts[4:]) << 32)
    want = [each & 0xFFFF for each in sums[:3]] + [each >> 32 for each in sums[:3]] + [sums[3] & 0xFFFF]
    assert out == pytest.approx([9.0 + 0.5 * float(lidar.normal_number(each)) for each in want], abs=1e-6)


def test_a_run_of_beams_is_the_same_as_beam_by_beam(roads):
    """Where beams end is guessed from angles: with every guess wrong, scans are the same to the bit."""
    rng, beams = np.random.default_rng(6), lidar.fan(400, 4.7)
    for wrong in (-3, 2, 10**6):
        out = np.full((2, 400), np.nan)
        for track in roads[:2]:
            _, _, x, y, _, cell = somewhere(track, rng, 1.0)
            heading = rng.uniform(-4.0, 4.0)
            place = (track, cell, x, y, math.cos(heading), math.sin(heading), beams, 4.7, 30.0)
            lidar.scan(*place, out[0])
            with pytest.MonkeyPatch.context() as patch:
                exact = lidar.beam_about
                patch.setattr(lidar, "beam_about", lambda *given, by=wrong, exact=exact: exact(*given) + by)
                lidar.scan(*place, out[1])
            assert out[0].tolist() == out[1].tolist()


def test_angles_are_about_right():
    for angle in np.linspace(-3.1415, 3.1415, 501):
        for size in (1e-3, 1.0, 40.0):
            about = lidar.angle_about(size * math.cos(angle), size * math.sin(angle))
            assert about == pytest.approx(angle, abs=4e-8)
    assert lidar.angle_about(0.0, 0.0) == 0.0


def test_a_bridge_hides_what_passes_below():
    """Where the eight crosses itself, a car sees its own borders alone."""
    track, out = files.named_road("eight"), np.zeros(3)
    assert road.fault(track)[0] == road.OVERLAPPING
    x, y, heading = road.place(track, 0.0, 0.0)
    cell = road.locate(track, 0, x, y)
    lidar.scan(track, cell, x, y, math.cos(heading), math.sin(heading), lidar.fan(3, math.pi), math.pi, 30.0, out)
    assert out[0] == pytest.approx(1.1, abs=0.05)
    assert out[2] == pytest.approx(1.1, abs=0.05)
    assert out[1] > 3.0


# --- generator and files ----------------------------------------------------------------------------------------------


@pytest.mark.budget(3)
def test_random_roads_are_sound_differ_and_keep_their_promises():
    found = [generator.random_road(seed, difficulty=difficulty) for seed in range(2) for difficulty in (0.0, 0.5, 1.0)]
    for track in found:
        assert road.fault(track) == (road.SOUND, 0)
        assert track[-1, road.AT] == pytest.approx(60.0)
        assert np.abs(track[:, road.BEND]).max() <= 1.0 / 1.8
    turning = np.array([np.abs(track[:, road.BEND]).sum() for track in found]).reshape(2, 3).mean(axis=0)
    assert turning[0] < turning[1] < turning[2]
    assert len({track[10, 0] for track in found}) == 6
    assert np.array_equal(generator.random_road(1, difficulty=0.5), found[4])


def test_the_last_resort_is_a_circle():
    """A road that no draw allows: as tight as its length permits."""
    track = generator.random_road(0, difficulty=1.0, length=26.0, width=2.2, radius=1.85)
    assert road.fault(track) == (road.SOUND, 0)


@pytest.mark.parametrize(
    "wrong", [{"difficulty": 2.0}, {"width": 3.0}, {"length": 10.0}, {"cells": 3}, {"radius": math.nan}]
)
def test_impossible_random_roads_are_refused(wrong):
    with pytest.raises(ParameterError, match="needed are difficulty"):
        generator.random_road(0, **wrong)


OVAL = np.array(files.CENTRE_LINES["oval"])


def test_files_of_both_kinds_are_read(tmp_path):
    bare, full = tmp_path / "bare.csv", tmp_path / "full.csv"
    bare.write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in OVAL))
    full.write_text(
        "# x_m; y_m; w_tr_right_m; w_tr_left_m\n" + "\n".join(f"{x}; {y}; 1.2; 0.8" for x, y in [*OVAL, OVAL[0]])
    )
    first, second = files.load_road(bare, width=2.0), files.load_road(full)
    assert np.allclose(first[:, :2], second[:, :2])
    assert np.allclose(second[:, road.LEFT], 0.8)
    assert np.allclose(second[:, road.RIGHT], 1.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no points"),
        ("1,2\n3,4\n", "2 points"),
        ("\n".join(f"{x},{y}" for x, y in OVAL[:5]) + "\nnan,1\n", r"row 5 is \[nan, 1.0\]"),
        ("\n".join(f"{x},{y},-1,1" for x, y in OVAL), "widths must be positive"),
        ("1,2\n3,4,5,6\n", "line 2: 4 numbers, 2 in the rows before"),
        ("1,2\n3,4\nx,y\n", "line 3: 'x,y' is not a row of numbers"),
        ("\n".join(f"{x},{y},6,6" for x, y in OVAL), "folds over"),
        ("\n".join(f"{x},{y}" for x, y in np.repeat(OVAL, 2, axis=0)), "are the same"),
        ("\n".join(f"{x},{y}" for x, y in files.CENTRE_LINES["eight"]), "bridge=True"),
    ],
)
def test_faulty_files_are_refused_in_plain_words(tmp_path, text, message):
    path = tmp_path / "track.csv"
    path.write_text(text)
    with pytest.raises(ParameterError, match=message):
        files.load_road(path)


def test_missing_files_and_unknown_names_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read"):
        files.load_road(tmp_path / "none.csv")
    with pytest.raises(UnknownNameError, match="oval"):
        files.named_road("ovall")
    with pytest.raises(ParameterError, match="cells=3"):
        files.named_road("oval", cells=3)


# --- lines ------------------------------------------------------------------------------------------------------------


def test_on_a_circle_speed_and_lap_time_are_those_of_physics():
    """10 m of radius at friction 0.5: v = sqrt(mu g r)."""
    angles = np.arange(60) * math.pi / 30
    track = files.road_through(np.stack([10 * np.cos(angles), 10 * np.sin(angles)], 1), width=2.0)
    along, speeds = np.zeros(len(track)), np.zeros(len(track))
    line.fastest_speeds(track, along, speeds, 0.5, 9.0, 9.0, 50.0, 50.0)
    assert np.allclose(speeds, math.sqrt(0.5 * 9.81 * 10.0), rtol=5e-3)
    assert line.lap_time(track, along, speeds) == pytest.approx(20 * math.pi / math.sqrt(0.5 * 9.81 * 10.0), rel=5e-3)
    assert line.least_time(track, 0.2, 5.0) == pytest.approx(2 * math.pi * 9.2 / 5.0, rel=0.01)


def test_better_lines_take_less_time_and_keep_their_margin():
    track = files.named_road("club")
    numbers = {"grip": 1.0, "drive": 9.0, "brake": 9.0, "switch": 7.0, "top": 20.0}
    speeds, along = np.zeros(len(track)), np.zeros(len(track))
    line.fastest_speeds(track, along, speeds, *numbers.values())
    centre = line.lap_time(track, along, speeds)
    straight = line.smooth_line(track, 0.3)
    best, fastest, time = line.fast_line(track, margin=0.3, **numbers)
    line.fastest_speeds(track, straight, speeds, *numbers.values())
    assert line.least_time(track, 0.3, 20.0) < time < line.lap_time(track, straight, speeds) < centre
    for found in (straight, best):
        assert (found <= track[:, road.LEFT] - 0.3 + 1e-9).all()
        assert (found >= 0.3 - track[:, road.RIGHT] - 1e-9).all()
    assert time < line.standing_time(track, best, fastest, 1, (1.0, 9.0, 7.0, 20.0)) < time + 2.0


# --- bodies -----------------------------------------------------------------------------------------------------------


def test_bodies_touch_exactly_when_they_overlap():
    rng, touching = np.random.default_rng(5), 0
    for _ in range(300):
        x, y, turn, other = *rng.uniform(-0.7, 0.7, 2), *rng.uniform(-4.0, 4.0, 2)
        gap = bodies.bodies_gap(x, y, math.cos(turn), math.sin(turn), SHAPE, math.cos(other), math.sin(other), SHAPE)
        first, second = body(0.0, 0.0, turn), body(x, y, other)
        c, s = math.cos(turn), math.sin(turn)
        inside = abs(c * x + s * y) < 0.29 and abs(c * y - s * x) < 0.155
        overlap = crosses(edges(first), edges(second)) or inside
        assert (gap < 0.0) == overlap
        touching += overlap
    assert 50 < touching < 280


def test_corners_can_be_rounded():
    points = files.rounded([(0, 0, 5), (40, 0, 5), (40, 30, 10), (0, 30, 5)], spacing=0.5)
    assert np.hypot(*(np.roll(points, -1, axis=0) - points).T).max() < 0.6
    length = np.hypot(*(np.roll(points, -1, axis=0) - points).T).sum()
    assert length == pytest.approx(140.0 - (2.0 - math.pi / 2.0) * 25.0, rel=1e-3)
    assert np.hypot(*(points - (30.0, 20.0)).T)[(points > (30.0, 20.0)).all(axis=1)] == pytest.approx(10.0)
    track = files.road_through(points, width=4.0)
    assert track[:, road.BEND].max() == pytest.approx(0.2, rel=0.15)
    with pytest.raises(ParameterError, match="too near"):
        files.rounded([(0, 0, 5), (8, 0, 5), (8, 30, 5), (0, 30, 5)])
