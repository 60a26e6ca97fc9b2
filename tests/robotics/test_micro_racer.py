"""MicroRacer: its track, lidar, car and rewards against recordings of the original, and its own promises."""

import math

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import DATA

import rlenvs
from rlenvs.robotics.racing import track
from rlenvs.robotics.racing.micro_racer import (
    LAP,
    OFF_TRACK,
    RACING,
    SPEC,
    TOO_SLOW,
    WRONG_WAY,
    longest_ray,
    ray_direction,
)

RECORDING = DATA / "microracer.npz"
ID = "MicroRacer-v0"
TRACKS = range(20)  # of every kind; tolerances are from these and 40 others, and 40 more keep to them
CELL = 1.0 / 500.0  # m, of the original's raster
ROUGH = 1.5 * CELL  # how far the raster's edges are from ours where ends differ; 0.8 cells at most on 100 tracks
KERB = SPEC.params["kerb"].default


@pytest.fixture(scope="module")
def recorded():
    return load_recording(RECORDING)


def load_recording(path):
    """The tracks, dictionaries of their arrays; runs by name, each with all of its actions and some of its states."""
    arrays, tracks = dict(np.load(path)), []
    for t in range(int(arrays["tracks"])):
        start = f"track{t}_"
        found = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        found["raster"] = np.unpackbits(found["raster"])[: 1300 * 1300].reshape(1300, 1300).astype(bool)
        # the original erases cells from 5 before to 4 after its points: walls lie half a cell lower in x and in y
        found["walls"] = found["obstacles"][:, [0, 2, 1, 3]] - 0.5 * CELL
        cuts = np.flatnonzero(np.diff(found["noted"]) < 0) + 1
        parts = {key: np.split(found[key], cuts) for key in ("noted", "states", "lidar", "obs")}
        parts["actions"] = np.split(found["actions"] / 64.0, np.cumsum(found["length"])[:-1])
        parts |= {"length": found["length"].tolist(), "end": found["end"].tolist()}
        found["runs"] = {str(n): {k: parts[k][i] for k in parts} for i, n in enumerate(arrays["runs"])}
        tracks.append(found)
    return tracks


@pytest.fixture(scope="module")
def sandbox():
    """A batch of one whose kernels and records are plain Python."""
    batch = rlenvs.make_batch(ID, 1, backend="python")
    batch.seed([0])
    batch.reset()
    return batch


@pytest.fixture(scope="module")
def racer():
    """A compiled world without autoreset, to be synchronised with the recorded runs."""
    batch = rlenvs.make_batch(ID, 1, autoreset=AutoresetMode.DISABLED)
    batch.seed([0])
    batch.reset()
    return batch


def load_track(original, s):
    angle, point = original["control_angle"], original["control_point"]
    s.knots = len(angle) - 1
    s.midline[track.ANGLE, : len(angle)] = angle
    s.midline[track.X : track.Y + 1, : len(angle)] = point.T
    assert track.build_borders(s, 0.04)
    s.walls[:] = 0.0
    if len(original["walls"]):
        s.walls[:] = original["walls"]


def load_car(s, state):
    s.position[0], s.position[1], s.heading, s.speed, s.angle = state
    s.end, s.over, s.elapsed, s.alive[0] = RACING, False, 0, True


def on_raster(original, x, y):
    return original["raster"][int(x * 500) + 650, int(y * 500) + 650]


def edge_gap(s, x, y):
    return track.border_gap(s.border, math.atan2(y, x), x, y)


def wall_gap(s, x, y):
    return track.wall_gap(s.walls, 0.02, math.atan2(y, x), x, y)


def scan(s, thickness, x, y, heading):
    s.position, s.heading, s.angle = (x, y), heading, math.atan2(y, x)
    c, sn = math.cos(heading), math.sin(heading)
    track.scan(s, s.lidar, x, y, heading, s.angle, thickness, math.pi / 3, edge_gap(s, x, y), c, sn)
    return s.lidar.copy()


def clearance(s, x, y):
    """How far [m] the car is from where it would be off the track, negative there."""
    return min(edge_gap(s, x, y) + KERB, wall_gap(s, x, y))


# --- the track --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", TRACKS)
def test_control_points(recorded, sandbox, t):
    s, original = sandbox.records(0)[1], recorded[t]
    points, angles = original["control_point"], original["control_angle"]
    best = []
    for at in range(1, 18) if len(points) > 20 else [0]:
        for push in (0.02, -0.02):
            s.midline[track.X, : track.CONTROLS] = original["draws"]
            track.place_controls(s, 0.5)
            if at:
                track.insert_chicane(s, at, push)
            n = s.knots
            assert n == len(points) - 1
            wrong = np.abs(s.midline[track.X : track.Y + 1, :n].T - points[:n]).max()
            best.append(max(wrong, np.abs(s.midline[track.ANGLE, : n + 1] - angles).max()))
    assert min(best) < 1e-12  # the same formulas in double precision


@pytest.mark.parametrize("t", TRACKS)
def test_border_samples(recorded, sandbox, t):
    s, original = sandbox.records(0)[1], recorded[t]
    load_track(original, s)
    for name, offset in (("inner", 0.02), ("outer", -0.02)):
        assert track.sample_edge(s, offset)
        assert pytest.approx(original[f"{name}_knot"], abs=1e-11) == s.edge[track.X : track.Y + 1, ::6].T


def border_errors(original, s):
    """Distances [m] in radius between the original's border splines and ours."""
    load_track(original, s)
    errors = []
    for side, name in enumerate(("inner", "outer")):
        x, y = original[name].T.astype(float)
        place = np.arctan2(y, x) / track.GATE_ANGLE
        gate = np.floor(place).astype(int)
        part = place - gate
        radii = s.border[:, side].astype(float)
        mine = (1 - part) * radii[gate % track.GATES] + part * radii[(gate + 1) % track.GATES]
        errors.append(np.abs(mine - np.hypot(x, y)))
    return np.concatenate(errors)


@pytest.mark.parametrize("t", TRACKS)
def test_border_table(recorded, sandbox, t):
    errors = border_errors(recorded[t], sandbox.records(0)[1])
    assert errors.max() < 5e-4  # straight pieces between gates: 0.37 mm at the sharp bends of 150 chicanes
    assert np.median(errors) < 2e-5


def area(original, s, count=1500):
    """Random points near the borders, away from walls: their border gaps, and whether the raster has them."""
    load_track(original, s)
    rng, gaps, inside = np.random.default_rng(int(original["seed"])), [], []
    for _ in range(count):
        k, side, part = rng.integers(track.GATES), rng.integers(2), rng.random()
        radius = (
            (1 - part) * s.border[k, side] + part * s.border[(k + 1) % track.GATES, side] + rng.uniform(-0.01, 0.01)
        )
        angle = (k + part) * track.GATE_ANGLE
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        if wall_gap(s, x, y) > 2 * CELL:
            gaps.append(edge_gap(s, x, y))
            inside.append(on_raster(original, x, y))
    return np.array(gaps), np.array(inside)


@pytest.mark.parametrize("t", TRACKS)
def test_drivable_area_is_that_of_the_raster(recorded, sandbox, t):
    gaps, inside = area(recorded[t], sandbox.records(0)[1])
    assert inside[gaps > -0.5 * CELL].mean() > 0.998
    assert not inside[gaps < -3 * CELL].any()


def test_kerb_is_the_mean_reach_of_the_raster(recorded, sandbox):
    gaps, inside = np.concatenate([area(original, sandbox.records(0)[1], 500) for original in recorded], axis=1)
    beyond = (gaps > -0.006) & (gaps < 0.0)
    assert 0.006 * inside[beyond].mean() == pytest.approx(KERB, abs=1.5e-4)


def wall_errors(original, s, count=150):
    """Of random points around walls that the raster has and our walls cover, or the reverse, the gap [m] from them."""
    load_track(original, s)
    rng, gaps = np.random.default_rng(int(original["seed"])), [0.0]
    for wall in s.walls:
        for _ in range(count):
            x, y = (wall[:2] + wall[2:]) / 2 + rng.uniform(-0.03, 0.03, 2)
            gap = wall_gap(s, x, y)
            if edge_gap(s, x, y) > CELL and on_raster(original, x, y) != (gap > 0):
                gaps.append(abs(gap))
    return np.array(gaps)


@pytest.mark.parametrize("t", TRACKS)
def test_walls_are_those_of_the_raster(recorded, sandbox, t):
    if len(recorded[t]["walls"]):
        assert wall_errors(recorded[t], sandbox.records(0)[1]).max() < 2 * CELL  # 1.5 at most on 100 tracks


@pytest.mark.parametrize(("option", "count"), [({"obstacles": True}, 6), ({"obstacles": False}, 0)])
def test_walls_lie_in_their_sectors(option, count):
    batch = rlenvs.make_batch(ID, 20, **option)
    batch.seed(range(20))
    batch.reset()
    turned, gaps, outer = [], [], []
    for i in range(20):
        s = batch.records(i)[1]
        walls = s.walls[s.walls.any(axis=1)]
        assert len(walls) == count
        for w, wall in enumerate(walls):
            angle = np.arctan2(wall[1], wall[0]) % (2 * math.pi)
            assert (w + 1.5) * math.pi / 4 - 0.1 < angle < (w + 2) * math.pi / 4 + 0.1
            turned.append(angle - np.arctan2(wall[3], wall[2]) % (2 * math.pi))
            gaps.append(edge_gap(s, wall[0], wall[1]))
            outer.append(np.hypot(*wall[:2]) > s.border[int(angle / track.GATE_ANGLE)].mean())
    if count:  # medians, since at sharp bends the walls are shorter or longer
        assert np.median(turned) == pytest.approx(math.pi / 150, rel=0.05)
        assert np.median(gaps) == pytest.approx(0.15 * 0.04, rel=0.05)
        assert 0.3 < np.mean(outer) < 0.7


@settings(max_examples=40, deadline=None)
@given(number=st.integers(0, 2**31 - 1))
def test_any_number_makes_a_proper_track(number):
    batch = rlenvs.make_batch(ID, 1, track_seed=number)
    batch.seed([0])
    batch.reset()
    s = batch.records(0)[1]
    assert s.track == number
    assert (s.border[:, 0] > 0.4).all()
    assert (s.border[:, 1] < math.sqrt(2) * track.REACH).all()
    assert (s.border[:, 1] - s.border[:, 0] > 0.02).all()
    assert s.knots == 23
    # the border bends between its knots, so 2 cm along the knot line are less from it
    assert 0.015 < edge_gap(s, *s.position) < 0.021


def test_track_seed():
    shared = rlenvs.make_batch(ID, 3, track_seed=5)
    shared.seed([1, 2, 3])
    shared.reset()
    first = shared.records(0)[1].border.copy()
    shared.reset()
    assert all(np.array_equal(shared.records(i)[1].border, first) for i in range(3))
    fresh = rlenvs.make_batch(ID, 2)
    fresh.seed([1, 2])
    fresh.reset()
    a, b = (fresh.records(i)[1] for i in range(2))
    assert a.track != b.track
    assert not np.array_equal(a.border, b.border)
    again = rlenvs.make_batch(ID, 1, track_seed=int(a.track))
    again.seed([9])
    again.reset()
    assert np.array_equal(again.records(0)[1].border, a.border)
    assert np.array_equal(again.records(0)[1].walls, a.walls)


# --- the lidar --------------------------------------------------------------------------------------------------------


def lidar_errors(original, s):
    """The original's readings minus ours [m], and whether a wall ends our ray, in places clear of the edges."""
    load_track(original, s)
    states, readings = (np.concatenate([run[key] for run in original["runs"].values()]) for key in ("states", "lidar"))
    clear = np.array([clearance(s, *state[:2]) > KERB + 2 * CELL for state in states])
    ours = np.array([scan(s, 0.02 + 2 * KERB, *state[:3]) for state in states[clear]])
    s.walls[:] = 0.0
    without = np.array([scan(s, 0.02, *state[:3]) for state in states[clear]])
    return readings[clear] / 1000.0 - ours, ours < without


@pytest.mark.parametrize("t", TRACKS)
def test_lidar_against_the_original(recorded, sandbox, t):
    """Its edges lie further out and its readings are rounded down, to 4 mm and 10 mm: about the same in the mean."""
    errors, _ = lidar_errors(recorded[t], sandbox.records(0)[1])
    assert errors.size > 250
    assert abs(np.median(errors)) < 0.002  # -0.0012 to 0.0009 on 100 tracks
    assert np.median(np.abs(errors)) < 0.0035  # up to 0.0030; rounding to 10 mm alone gives 0.0025
    assert (np.abs(errors) < 0.02).mean() > 0.93  # rays that just pass a bend or just do not are the rest


def test_lidar_sees_walls_as_the_original(recorded, sandbox):
    s = sandbox.records(0)[1]
    errors, at_walls = zip(*(lidar_errors(original, s) for original in recorded if len(original["walls"])), strict=True)
    errors = np.concatenate(errors)[np.concatenate(at_walls)]
    assert errors.size > 100
    assert abs(np.median(errors)) < 0.002


def test_reduced_observation_of_the_original(recorded):
    for original in recorded:
        for run in original["runs"].values():
            for lidar, view in zip(run["lidar"] / 1000.0, run["obs"], strict=True):
                best = longest_ray(lidar)
                if (lidar == lidar[best]).sum() == 1:  # rounding decides between equal ones
                    assert view[0] == pytest.approx(ray_direction(math.pi / 3, best), abs=1e-6)
                    expected = lidar[[max(best - 1, 0), best, min(best + 1, 18)]]
                    assert view[1:4] == pytest.approx(expected, abs=1e-3)


def test_lidar_is_exact(sandbox):
    """Against tiny steps along the ray, from many places of a track with walls."""
    s = sandbox.records(0)[1]
    rng = np.random.default_rng(1)
    for _ in range(12):
        k = rng.integers(track.GATES)
        radius, angle = s.border[k].mean(), k * track.GATE_ANGLE
        x, y, heading = radius * math.cos(angle), radius * math.sin(angle), rng.uniform(-math.pi, math.pi)
        if wall_gap(s, x, y) <= 0:
            continue
        row = scan(s, 0.02, x, y, heading)
        for j in (0, 7, 18):
            direction = heading - math.pi / 6 + j * math.pi / 54
            far = 0.0
            while True:
                point = x + far * math.cos(direction), y + far * math.sin(direction)
                if min(edge_gap(s, *point), wall_gap(s, *point)) < 0:
                    break
                far += 2e-4
            assert row[j] == pytest.approx(far, abs=4e-4)


def test_reduced_observation_is_the_longest_ray_and_its_neighbours():
    full, reduced = (rlenvs.make_batch(ID, 50, observation=o) for o in ("lidar", "reduced"))
    for batch in (full, reduced):
        batch.seed(range(50))
        batch.reset()
    assert full.setup.observation_shape == (20,)
    assert reduced.setup.observation_shape == (5,)
    rays = (full.observations[:, 0, :19] + 1) / 2
    best = rays.argmax(axis=1)
    direction = reduced.observations[:, 0, 0] * 1.5
    assert direction == pytest.approx(np.radians(-30 + best * 60 / 18), abs=1e-5)
    for column, shift in ((1, -1), (2, 0), (3, 1)):
        expected = rays[np.arange(50), np.clip(best + shift, 0, 18)]
        assert (reduced.observations[:, 0, column] + 1) / 2 == pytest.approx(expected, abs=1e-6)
    assert np.array_equal(full.observations[:, 0, 19], reduced.observations[:, 0, 4])


# --- the car ----------------------------------------------------------------------------------------------------------


def put_on_track(original, sandbox, racer, state):
    """Give the compiled world a recorded track and start, through the plain records of the sandbox."""
    s, mine = sandbox.records(0)[1], racer.records(0)[1]
    load_track(original, s)
    for name in ("knots", "midline", "edge", "border", "walls"):
        mine[name] = s[name]
    load_car(mine, state)
    return mine


def moved(state, action):
    """Where the car is after a step, whether it may be there or not, and its speed."""
    x, y, heading, speed, _ = state
    speed = max(0.0, speed + 0.004 * action[0])
    heading -= action[1] * min(math.pi / 6, 1.741 * 0.04 / speed)
    return x + 0.04 * speed * math.cos(heading), y + 0.04 * speed * math.sin(heading), speed


@pytest.mark.parametrize("t", TRACKS)
def test_runs_of_the_original(recorded, sandbox, racer, t):
    for name, run in recorded[t]["runs"].items():
        mine = put_on_track(recorded[t], sandbox, racer, run["states"][0])
        noted = dict(zip(run["noted"].tolist(), run["states"], strict=True))
        length, end = run["length"], run["end"]
        for j, action in enumerate(run["actions"]):
            before = np.array([*mine.position, mine.heading, mine.speed, mine.angle])
            if j in noted:  # the same formulas in the same order, but for one wrap of the heading: rounding
                assert before == pytest.approx(noted[j], abs=1e-11)
            racer.step(action)
            if mine.over:
                break
        if (mine.end, j + 1) != (end, length):
            x, y, speed = moved(before, action)
            at_edge = OFF_TRACK in (mine.end, end) and abs(clearance(mine, x, y)) < ROUGH
            # from the slowest start, five brakes lead to the lowest speed exactly, and rounding decides
            at_lowest_speed = TOO_SLOW in (mine.end, end) and abs(speed - 0.05) < 1e-9
            assert at_edge or at_lowest_speed, name
        elif end in (RACING, LAP):
            assert [*mine.position, mine.heading, mine.speed, mine.angle] == pytest.approx(noted[length], abs=1e-11)
        if mine.end > LAP:
            assert racer.rewards[0, 0] == -3.0
            assert not racer.success[0, 0]
        elif mine.end == LAP:
            assert racer.success[0, 0]
            assert racer.terminated[0, 0]


def test_walls_have_no_kerb(recorded, sandbox, racer):
    mine = put_on_track(recorded[8], sandbox, racer, recorded[8]["runs"]["lap"]["states"][0])
    rng, ends = np.random.default_rng(0), []
    for wall in recorded[8]["walls"]:
        for _ in range(100):
            x, y = (wall[:2] + wall[2:]) / 2 + rng.uniform(-0.02, 0.02, 2)
            state = [x, y, rng.uniform(-math.pi, math.pi), 0.2, math.atan2(y, x)]
            load_car(mine, state)
            if clearance(mine, x, y) > 0.0:
                racer.step([0.0, 0.0])
                assert (mine.end == OFF_TRACK) == (clearance(mine, *moved(state, [0.0, 0.0])[:2]) < 0.0)
                ends.append(int(mine.end))
    assert 20 < ends.count(OFF_TRACK) < len(ends) - 20


def test_constants_of_the_original():
    defaults = {name: param.default for name, param in SPEC.params.items()}
    assert defaults["dt"] == 0.04
    assert defaults["acceleration"] == 0.1
    assert defaults["width"] == 0.04
    assert defaults["max_turn"] == math.pi / 6
    assert defaults["grip"] == 1.741
    assert defaults["min_speed"] == 0.05
    assert all(SPEC.options[name].default for name in ("chicanes", "obstacles", "grip_limit", "low_speed_rule"))


def test_turns_are_limited_by_grip():
    for grip_limit in (True, False):
        batch = rlenvs.make_batch(ID, 30, grip_limit=grip_limit)
        batch.seed(range(30))
        batch.reset()
        before = batch.states["heading"].copy()
        batch.step(np.tile([0.0, 0.5], (30, 1)))
        turned = (before - batch.states["heading"]) % (2 * math.pi)
        speed = batch.states["speed"]
        limit = np.minimum(math.pi / 6, 1.741 * 0.04 / speed) if grip_limit else np.full(30, math.pi / 6)
        kept = batch.states["end"] == RACING
        assert kept.sum() > 10
        assert turned[kept] == pytest.approx(0.5 * limit[kept])


def test_start():
    for rule, lowest in ((True, 0.07), (False, 0.0)):
        batch = rlenvs.make_batch(ID, 400, low_speed_rule=rule)
        batch.seed(range(400))
        batch.reset()
        speed = batch.states["speed"]
        assert lowest <= speed.min() < lowest + 0.01
        assert 0.48 < speed.max() <= 0.5
        assert (batch.states["position"][:, 1] == 0).all()
        assert (batch.states["angle"] == 0).all()
        assert (np.sin(batch.states["heading"]) < 0).all()  # clockwise
    assert (speed < 0.07).any()


def test_failures_and_last_observation():
    env = rlenvs.make(ID, chicanes=False, obstacles=False)
    for action in ([-1.0, 0.0], [0.0, 1.0]):
        for seed in range(5):
            last, _ = env.reset(seed=seed)
            while True:
                observation, reward, terminated, truncated, info = env.step(np.array(action, np.float32))
                if terminated or truncated:
                    break
                assert 0 < reward < 0.03
                last = observation
            assert reward == -3.0
            assert not info["is_success"]
            assert not truncated
            assert np.array_equal(observation, last)


def test_standing_still_is_the_wrong_way():
    batch = rlenvs.make_batch(ID, 20, low_speed_rule=False, start_speed=0.1, autoreset=AutoresetMode.DISABLED)
    batch.seed(range(20))
    batch.reset()
    for _ in range(30):
        batch.step(np.tile([-1.0, 0.0], (20, 1)))
        batch.reset(batch.over & (batch.states["end"] != WRONG_WAY))
        if batch.over.any():
            break
    assert (batch.states["end"] == WRONG_WAY).any()


CHANGES = {"dt": 0.05, "acceleration": 0.2, "max_turn": 0.2, "grip": 0.6, "min_speed": 0.1, "start_speed": 1.0}
CHANGES |= {"width": 0.05, "kerb": 0.01, "spread": 0.3, "field_of_view": 2.0}


@pytest.mark.parametrize("name", SPEC.params)
def test_every_parameter_changes_something(name):
    rows = []
    for values in ({}, {name: CHANGES[name]}):
        batch = rlenvs.make_batch(ID, 50, **values)
        batch.seed(range(50))
        batch.reset()
        rng, trace = np.random.default_rng(0), [batch.observations.copy()]
        for _ in range(40):
            batch.step(rng.uniform(-1, 1, (50, 2)))
            trace.append(batch.observations.copy())
        rows.append(np.array(trace))
    assert not np.array_equal(*rows)


# --- whole laps -------------------------------------------------------------------------------------------------------


def laps(drive, count, **options):
    """Return, steps and success of the first episode of every world."""
    batch = rlenvs.make_batch(ID, count, **options)
    batch.seed(range(count))
    batch.reset()
    returns, steps, done = np.zeros(count), np.zeros(count), np.zeros(count, bool)
    live = np.ones(count, bool)
    while live.any():
        batch.step(drive(batch))
        returns += live * batch.rewards[:, 0]
        steps += live
        done |= live & batch.success[:, 0]
        live &= ~batch.over
    return returns, steps, done


def to_longest_ray(top_speed):
    """Turns by the angle of the longest ray; its speed depends on the length."""

    def drive(batch):
        view = batch.observations[:, 0].astype(float)
        direction, longest, speed = 1.5 * view[:, 0], (view[:, 2] + 1) / 2, (view[:, 4] + 1) / 2
        target = np.maximum(0.1, np.minimum(top_speed, 0.8 * longest))
        return np.stack([np.where(speed < target, 1.0, -1.0), np.clip(-direction / (math.pi / 6), -1, 1)], 1)

    return drive


# of 100 tracks in the original: laps, their mean return and steps at top speeds of 0.15 and 0.4 m/s
ORIGINAL_LAPS = {
    "neither": ((100, 6.609, 1208), (100, 6.611, 999)),
    "chicanes": ((100, 6.528, 1197), (100, 6.530, 997)),
    "obstacles": ((93, 6.663, 1231), (93, 6.666, 1043)),
    "both": ((93, 6.616, 1226), (91, 6.621, 1046)),
}


@pytest.mark.parametrize("on", ORIGINAL_LAPS)
def test_simple_controller_drives_as_in_the_original(on):
    """Laps within 3 standard errors of the two samples; returns and steps within 3 %: tracks vary by 5 %."""
    options = {"chicanes": on in ("chicanes", "both"), "obstacles": on in ("obstacles", "both")}
    for top_speed, (completed, mean, steps) in zip((0.15, 0.4), ORIGINAL_LAPS[on], strict=True):
        returns, taken, done = laps(to_longest_ray(top_speed), 150, observation="reduced", **options)
        share = (completed + 150 * done.mean()) / 250
        assert abs(done.mean() - completed / 100) < 3 * math.sqrt(share * (1 - share) * (1 / 100 + 1 / 150)) + 0.005
        assert returns[done].mean() == pytest.approx(mean, rel=0.03)
        assert taken[done].mean() == pytest.approx(steps, rel=0.03)


@pytest.mark.parametrize("level", [None, "easy", "hard"])
def test_expert(level):
    returns, steps, done = laps(lambda batch: batch.expert_actions().clip(-1, 1), 200, level=level)
    assert done.mean() >= 0.97
    assert returns[done].min() > 5.0
    assert returns.max() < 9.0
    assert steps.max() < SPEC.horizon


def test_random_fails():
    rng = np.random.default_rng(0)
    returns, _, done = laps(lambda batch: rng.uniform(-1, 1, (100, 2)), 100)
    assert not done.any()
    assert returns.mean() < -2.5


def test_image():
    env = rlenvs.make(ID, render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    assert image.dtype == np.uint8
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20
