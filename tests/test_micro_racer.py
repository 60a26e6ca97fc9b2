"""MicroRacer: its track, lidar, car and rewards against recordings of the original, and its own promises."""

import math
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.robotics.racing import track
from rlenvs.robotics.racing.micro_racer import LAP, OFF_TRACK, RACING, SPEC, WRONG_WAY

RECORDING = Path(__file__).parent / "data" / "microracer.npz"
ID = "MicroRacer-v0"
TRACKS = (0, 1, 2)
CELL = 1.0 / 500.0  # m, of the original's raster


@pytest.fixture(scope="module")
def recorded():
    return dict(np.load(RECORDING))


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


def load_track(recorded, t, s, width=0.04):
    angle, point = recorded[f"track{t}_control_angle"], recorded[f"track{t}_control_point"]
    s.knots = len(angle) - 1
    s.midline[track.ANGLE, : len(angle)] = angle
    s.midline[track.X : track.Y + 1, : len(angle)] = point.T
    assert track.build_borders(s, width)
    s.walls[:] = 0.0
    if len(recorded[f"track{t}_obstacles"]):
        s.walls[:] = recorded[f"track{t}_obstacles"][:, [0, 2, 1, 3]]


def load_car(s, state):
    s.position[0], s.position[1], s.heading, s.speed, s.angle = state
    s.end, s.over, s.elapsed, s.alive[0] = RACING, False, 0, True


def raster(recorded, t):
    return np.unpackbits(recorded[f"track{t}_raster"])[: 1300 * 1300].reshape(1300, 1300).astype(bool)


def on_raster(cells, x, y):
    return cells[int(x * 500) + 650, int(y * 500) + 650]


# --- the track --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", TRACKS)
def test_control_points(recorded, sandbox, t):
    s = sandbox.records(0)[1]
    points, best = recorded[f"track{t}_control_point"], []
    for push in (0.02, -0.02):
        s.midline[track.X, : track.CONTROLS] = recorded[f"track{t}_draws"]
        track.place_controls(s, 0.5)
        if t == 2:
            track.insert_chicane(s, 1, push)
        n = s.knots
        assert n == len(points) - 1
        assert s.midline[track.ANGLE, : n + 1] == pytest.approx(recorded[f"track{t}_control_angle"], abs=1e-12)
        best.append(np.abs(s.midline[track.X : track.Y + 1, :n].T - points[:n]).max())
    assert min(best) < 1e-12  # the same formulas in double precision


@pytest.mark.parametrize("t", TRACKS)
def test_border_samples(recorded, sandbox, t):
    s = sandbox.records(0)[1]
    load_track(recorded, t, s)
    for name, offset in (("inner", 0.02), ("outer", -0.02)):
        assert track.sample_edge(s, offset)
        knots = recorded[f"track{t}_{name}_knot"]
        assert pytest.approx(knots[:, 1:], abs=1e-11) == s.edge[track.X : track.Y + 1].T


@pytest.mark.parametrize("t", TRACKS)
def test_border_table(recorded, sandbox, t):
    s = sandbox.records(0)[1]
    load_track(recorded, t, s)
    for side, name in enumerate(("inner", "outer")):
        x, y = recorded[f"track{t}_{name}"].T
        place = np.arctan2(y, x) / track.GATE_ANGLE
        gate = np.floor(place).astype(int)
        part = place - gate
        radii = s.border[:, side]
        mine = (1 - part) * radii[gate % track.GATES] + part * radii[(gate + 1) % track.GATES]
        error = np.abs(mine - np.hypot(x, y))
        assert error.max() < 3e-4  # straight pieces between gates, at the sharp bends of a chicane
        assert np.median(error) < 2e-5


@pytest.mark.parametrize("t", TRACKS)
def test_drivable_area_is_that_of_the_raster(recorded, sandbox, t):
    p, s = sandbox.records(0)
    load_track(recorded, t, s)
    cells, rng = raster(recorded, t), np.random.default_rng(0)
    gaps, inside = [], []
    for _ in range(6000):
        k, side = rng.integers(track.GATES), rng.integers(2)
        radius, angle = s.border[k, side] + rng.uniform(-0.008, 0.008), (k + rng.random()) * track.GATE_ANGLE
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        if track.wall_gap(s.walls, 0.02, x, y) > 2 * CELL:
            gaps.append(track.border_gap(s.border, x, y))
            inside.append(on_raster(cells, x, y))
    gaps, inside = np.array(gaps), np.array(inside)
    assert inside[gaps > -0.5 * CELL].mean() > 0.998
    assert not inside[gaps < -3 * CELL].any()
    near = np.abs(gaps + p.kerb) < 3e-4
    assert 0.3 < inside[near].mean() < 0.75  # the kerb ends where half of the raster's cells do


def test_walls_are_those_of_the_raster(recorded, sandbox):
    s = sandbox.records(0)[1]
    load_track(recorded, 2, s)
    cells, rng = raster(recorded, 2), np.random.default_rng(0)
    for wall in s.walls:
        for _ in range(400):
            x, y = (wall[:2] + wall[2:]) / 2 + rng.uniform(-0.03, 0.03, 2)
            gap = track.wall_gap(s.walls, 0.02, x, y)
            if track.border_gap(s.border, x, y) > CELL and abs(gap) > 1.5 * CELL:
                assert on_raster(cells, x, y) == (gap > 0)


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
            gaps.append(track.border_gap(s.border, wall[0], wall[1]))
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
    assert 0.015 < track.border_gap(s.border, *s.position) < 0.021


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


@pytest.mark.parametrize("t", TRACKS)
def test_lidar_against_the_original(recorded, sandbox, t):
    """The original's readings lie between ours with edges moved two cells in and out, and rounded down as it does."""
    s = sandbox.records(0)[1]
    states, readings = recorded[f"track{t}_states"], recorded[f"track{t}_lidar"]
    seen = [(i, j) for i in range(4) for j in range(0, 201, 2) if np.isfinite(readings[i, j]).all()]
    found = {}
    for shift in (-2 * CELL, 0.0, 2 * CELL):
        load_track(recorded, t, s, 0.04 + 2 * shift)
        rows = np.zeros((len(seen), 19))
        for row, (i, j) in zip(rows, seen, strict=True):
            x, y, heading = states[i, j, :3]
            track.scan(s.border, s.walls, 0.02 - 2 * shift, x, y, heading, math.pi / 3, row)
        found[shift] = rows
    original = np.array([readings[i, j] for i, j in seen])
    load_track(recorded, t, s)
    clear = [
        min(track.border_gap(s.border, *states[i, j, :2]), track.wall_gap(s.walls, 0.02, *states[i, j, :2])) > 2 * CELL
        for i, j in seen
    ]
    low, exact, high, original = (rows[clear] for rows in (*found.values(), original))
    assert len(original) > 40
    grain = np.where(original < 0.04, 0.004, 0.01)
    within = (original >= low - grain - 1e-6) & (original <= high + 1e-6)
    assert within.mean() > 0.995  # the raster's stairs and the steps over thin corners are the rest
    assert np.median(np.abs(original + grain / 2 - exact)) < 0.004


def test_lidar_is_exact(sandbox):
    """Against tiny steps along the ray, from many places of a track with walls."""
    s = sandbox.records(0)[1]
    rng, row = np.random.default_rng(1), np.zeros(19)
    for _ in range(12):
        k = rng.integers(track.GATES)
        radius, angle = s.border[k].mean(), k * track.GATE_ANGLE
        x, y, heading = radius * math.cos(angle), radius * math.sin(angle), rng.uniform(-math.pi, math.pi)
        if track.wall_gap(s.walls, 0.02, x, y) <= 0:
            continue
        track.scan(s.border, s.walls, 0.02, x, y, heading, math.pi / 3, row)
        for j in (0, 7, 18):
            direction = heading - math.pi / 6 + j * math.pi / 54
            far = 0.0
            while True:
                point = x + far * math.cos(direction), y + far * math.sin(direction)
                if min(track.border_gap(s.border, *point), track.wall_gap(s.walls, 0.02, *point)) < 0:
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


def put_on_track(recorded, sandbox, racer, t, state):
    """Give the compiled world a recorded track and start, through the plain records of the sandbox."""
    s, mine = sandbox.records(0)[1], racer.records(0)[1]
    load_track(recorded, t, s)
    for name in ("knots", "midline", "edge", "border", "walls"):
        mine[name] = s[name]
    load_car(mine, state)


@pytest.mark.parametrize("t", TRACKS)
def test_runs_of_the_original(recorded, sandbox, racer, t):
    states, actions = recorded[f"track{t}_states"], recorded[f"track{t}_actions"]
    lengths, ends = recorded[f"track{t}_length"], recorded[f"track{t}_end"]
    for run in range(4):
        put_on_track(recorded, sandbox, racer, t, states[run, 0])
        mine = racer.records(0)[1]
        steps = 0
        for j in range(int(lengths[run]) + 5):
            if j >= 200 or np.isnan(actions[run, j]).any():
                break
            racer.step(actions[run, j])
            steps += 1
            if mine.over:
                break
            if j + 1 < lengths[run] or ends[run] == RACING:
                car = [*mine.position, mine.heading, mine.speed, mine.angle]
                # the same formulas in the same order, but for one wrap of the heading: rounding
                assert np.array(car) == pytest.approx(states[run, j + 1], abs=1e-11)
                assert racer.rewards[0, 0] == pytest.approx(recorded[f"track{t}_rewards"][run, j], abs=1e-12)
        if ends[run] == OFF_TRACK:  # the raster's border is rough by a cell or two: about one step
            assert abs(steps - lengths[run]) <= 1
        else:
            assert (mine.end, steps) == (ends[run], lengths[run])
        if mine.over and mine.end > LAP:
            assert racer.rewards[0, 0] == -3.0
            assert not racer.success[0, 0]


def test_lap_of_the_original(recorded, sandbox, racer):
    states, actions = recorded["track0_lap_states"], recorded["track0_lap_actions"]
    put_on_track(recorded, sandbox, racer, 0, states[0])
    rewards = []
    for j, action in enumerate(actions):
        assert not racer.over[0]
        racer.step(action)
        rewards.append(racer.rewards[0, 0])
        assert racer.records(0)[1].position == pytest.approx(states[j + 1, :2], abs=1e-11)
    assert racer.records(0)[1].end == LAP
    assert racer.success[0, 0]
    assert racer.terminated[0, 0]
    assert rewards == pytest.approx(recorded["track0_lap_rewards"], abs=1e-12)


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
        before = batch._states["heading"].copy()
        batch.step(np.tile([0.0, 0.5], (30, 1)))
        turned = (before - batch._states["heading"]) % (2 * math.pi)
        speed = batch._states["speed"]
        limit = np.minimum(math.pi / 6, 1.741 * 0.04 / speed) if grip_limit else np.full(30, math.pi / 6)
        kept = batch._states["end"] == RACING
        assert kept.sum() > 10
        assert turned[kept] == pytest.approx(0.5 * limit[kept])


def test_start():
    for rule, lowest in ((True, 0.07), (False, 0.0)):
        batch = rlenvs.make_batch(ID, 400, low_speed_rule=rule)
        batch.seed(range(400))
        batch.reset()
        speed = batch._states["speed"]
        assert lowest <= speed.min() < lowest + 0.01
        assert 0.48 < speed.max() <= 0.5
        assert (batch._states["position"][:, 1] == 0).all()
        assert (batch._states["angle"] == 0).all()
        assert (np.sin(batch._states["heading"]) < 0).all()  # clockwise
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
        batch.reset(batch.over & (batch._states["end"] != WRONG_WAY))
        if batch.over.any():
            break
    assert (batch._states["end"] == WRONG_WAY).any()


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
    def drive(batch):
        view = batch.observations[:, 0].astype(float)
        direction, longest, speed = 1.5 * view[:, 0], (view[:, 2] + 1) / 2, (view[:, 4] + 1) / 2
        target = np.maximum(0.1, np.minimum(top_speed, 0.8 * longest))
        return np.stack([np.where(speed < target, 1.0, -1.0), np.clip(-direction / (0.5 * math.pi / 6), -1, 1)], 1)

    return drive


@pytest.mark.parametrize(("top_speed", "steps"), [(0.15, 1223), (0.25, 1034), (0.40, 1006)])
def test_simple_controller_drives_as_in_the_original(top_speed, steps):
    """Original: 60 of 60 laps, mean return 6.63, these mean steps."""
    returns, taken, done = laps(to_longest_ray(top_speed), 100, observation="reduced", chicanes=False, obstacles=False)
    assert done.mean() >= 0.97
    assert returns.mean() == pytest.approx(6.63, abs=0.2)  # two standard errors of either mean
    assert taken[done].mean() == pytest.approx(steps, rel=0.03)


@pytest.mark.parametrize("on", ["chicanes", "obstacles", "both"])
def test_simple_controller_on_harder_tracks(on):
    """Original: 24, 23 and 24 of 25 laps."""
    options = {"chicanes": on != "obstacles", "obstacles": on != "chicanes"}
    returns, _, done = laps(to_longest_ray(0.15), 100, observation="reduced", **options)
    assert 0.86 <= done.mean() <= 1.0
    assert returns.mean() == pytest.approx(6.3, abs=0.4)


@pytest.mark.parametrize("level", [None, "easy", "hard"])
def test_expert(level):
    returns, steps, done = laps(lambda batch: batch.advise().clip(-1, 1), 200, level=level)
    assert done.mean() >= 0.97
    assert returns[done].min() > 5.0
    assert returns.max() < 9.0
    assert steps.max() < SPEC.horizon


def test_random_fails():
    rng = np.random.default_rng(0)
    returns, _, done = laps(lambda batch: rng.uniform(-1, 1, (100, 2)), 100)
    assert not done.any()
    assert returns.mean() < -2.5


def test_picture():
    env = rlenvs.make(ID, render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20
