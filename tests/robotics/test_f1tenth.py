"""F1Tenth: motion and lidar against recordings of the original, its rules, drivers, and what it refuses."""

import math

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.tracks import files, generator, lidar
from rlenvs.kits.tracks import road as roads
from rlenvs.kits.tracks.road import AT
from rlenvs.kits.vehicles.single_track import SPEED, STATES, YAW
from rlenvs.robotics.racing import circuit, f1tenth, f1tenth_motion
from rlenvs.robotics.racing.f1tenth import SPEC
from rlenvs.robotics.racing.f1tenth_motion import BORDER, CAR_CONTACT, FINISHED, RACING, SHAPE

ID, RACE = "F1Tenth-v0", "F1TenthRace-v0"
CIRCLE = [[300.0 * math.cos(a), 300.0 * math.sin(a), 260.0, 260.0] for a in np.arange(32) * math.pi / 16]


@pytest.fixture(scope="module")
def recorded():
    return dict(np.load(DATA / "f1tenth.npz"))


def batch_of(id=ID, worlds=1, **keywords):
    return begun(id, worlds, autoreset=AutoresetMode.DISABLED, **keywords)


def drive_on(batch, choose, most=2000):
    """Step the worlds that are not over by what `choose` gives."""
    for _ in range(most):
        awake = np.array([not batch.records(i)[1].over for i in range(batch.num_envs)])
        if not awake.any():
            break
        batch.actions[...] = choose(batch)
        batch.step_inplace(only=awake)
    return [batch.records(i)[1] for i in range(batch.num_envs)]


# --- beside the original ----------------------------------------------------------------------------------------------


@pytest.mark.budget(4)
def test_a_thousand_steps_are_the_originals(recorded):
    """From one state by actions alone: gentle, wild, and with stops; to 1e-9 in every state."""
    batch = batch_of(centre_line=CIRCLE, level="original", observation="track", neighbours=0)
    for drive, actions in enumerate(recorded["actions"]):
        batch.reset()
        s, states, start = batch.records(0)[1], recorded["states"][drive], np.array([300.0, 0.0])
        s.car[0] = states[0]
        s.car[0, :2] += start
        s.cell[0] = roads.nearest_cell(np.asarray(s.road), *start)
        worst = 0.0
        for t, action in enumerate(actions):
            batch.actions[...] = action
            batch.step_inplace()
            off = np.abs(s.car[0] - states[t + 1] - [*start, 0, 0, 0, 0, 0])
            worst = max(worst, off.max())
        assert worst < 1e-9, (drive, worst)
        assert np.abs(states[:, SPEED]).max() > (6.0, 9.0, 2.0)[drive]


def beams_cast(pose, count=1080, view=4.7, table=2000):
    """The directions along which the original casts the beams of a scan: rows of its table of sines."""
    at = math.fmod(table * (pose[2] - view / 2) / (2 * math.pi), table)
    at = (at + table) % table
    rows = []
    for _ in range(count):
        rows.append(int(at) * 2 * math.pi / (table - 1))
        at = (at + table * view / (count - 1) / (2 * math.pi)) % table
    return rows


def ranges(road, pose, angles):
    """Our distances along single beams."""
    cell, out, ahead = roads.nearest_cell(road, pose[0], pose[1]), np.zeros(1), lidar.fan(1, 1.0)
    found = []
    for angle in angles:
        lidar.scan(road, cell, pose[0], pose[1], math.cos(angle), math.sin(angle), ahead, 1.0, 30.0, out)
        found.append(out[0])
    return np.array(found)


def test_scans_are_the_originals_to_two_centimetres(recorded):
    """Along the directions that the original casts, on an image of 5 mm: cells make it err more where beams graze."""
    road = files.named_road("club")
    assert np.allclose(road[:, :6], recorded["road"], atol=1e-9)  # the track the image was made of
    off, grazing = [], []
    for pose, scan in list(zip(recorded["poses"], recorded["scans"], strict=True))[::2]:
        angles = beams_cast(pose)
        ours = ranges(road, pose, angles)
        off.append(np.abs(ours - scan))
        nudged = [ranges(road, pose, np.array(angles) + turn) for turn in (-3e-3, 3e-3)]
        slope = np.abs(nudged[1] - nudged[0]) / 6e-3  # metres per radian: large where a beam grazes, or passes a corner
        grazing.append((slope > 2.0 * ours) | (ours >= 30.0))
    off, grazing = np.concatenate(off), np.concatenate(grazing)
    assert off[~grazing].max() < 0.02
    assert grazing.mean() < 0.5
    assert np.median(off) < 0.006
    assert np.mean(off < 0.02) > 0.9


def test_the_lidar_sees_cars_where_the_original_does(recorded):
    road, view = files.named_road("club"), 4.7
    table, out, seen = lidar.fan(1080, view), np.zeros(1080), 0
    for pose, other, scan, blocked in zip(*(recorded[n] for n in ("poses", "others", "scans", "blocked")), strict=True):
        c, s = math.cos(pose[2]), math.sin(pose[2])
        lidar.see_borders(road, roads.nearest_cell(road, *pose[:2]), *pose[:2], c, s, table, view, 30.0, out)
        alone = out.copy()
        lidar.distances(alone, 30.0)
        lidar.see_body(
            *(pose[0], pose[1], c, s, table, view, out, other[0], other[1]),
            *(math.cos(other[2]), math.sin(other[2]), SHAPE),
        )
        lidar.distances(out, 30.0)
        ours, theirs = out < alone - 0.02, blocked < scan - 0.02
        both = ours & theirs
        assert np.abs(out[both] - blocked[both]).max() < 1e-5
        assert (ours != theirs).sum() <= 6  # at the car's ends
        seen += both.sum()
    assert seen > 500


# --- the world --------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_card():
    assert SHAPE.tolist() == [0.29, 0.29, 0.155]  # a body of 0.58 m x 0.31 m
    default = {name: part.default for name, part in SPEC.options.items()}
    assert (default["beams"], default["view"], default["delay"]) == (1080, 4.7, 2)
    assert (f1tenth.REACH, SPEC.params["dt"].default, SPEC.params["lidar_noise"].default) == (30.0, 0.01, 0.01)
    assert f1tenth.MOST_CARS == 8


def test_numbers_that_races_do_not_show():
    """The grid, thresholds, rewards and ranges, each as the world's page states it."""
    assert (f1tenth.ROW, circuit.BEHIND, f1tenth.ASIDE) == (0.8, 0.35, 0.42)
    assert (f1tenth.NEAR_BORDER, f1tenth.NEAR_CAR, f1tenth_motion.FAR_CAR, f1tenth_motion.SAME_LEVEL) == (
        0.1,
        0.15,
        1.2,
        3.0,
    )
    assert (f1tenth.PREVIEW, f1tenth.PREVIEW_STEP, f1tenth.LAP_SECONDS, f1tenth_motion.SLIDE_PARTS) == (
        12,
        0.75,
        30.0,
        2,
    )
    assert (f1tenth.PATCH_LENGTH, f1tenth.PATCH_WIDTH) == ((1.0, 4.0), (0.5, 1.5))
    assert {name: term.weight for name, term in SPEC.terms.items()} == {
        "progress": 1.0,
        "time": 1.0,
        "contact": 10.0,
        "finish": 10.0,
        "overtake": 0.5,
        "original": 0.0,
    }
    assert [cost.limit for cost in SPEC.costs.values()] == [0.1, 25.0, 25.0]
    own = {name: SPEC.params[name] for name in ("dt", "lidar_noise", "patch_grip", "length", "width", "difficulty")}
    assert {name: (part.default, part.low, part.high) for name, part in own.items()} == {
        "dt": (0.01, 0.005, 0.02),
        "lidar_noise": (0.01, 0.0, 0.1),
        "patch_grip": (0.5, 0.2, 1.0),
        "length": (60.0, 40.0, 100.0),
        "width": (2.2, 1.6, 2.6),
        "difficulty": (0.5, 0.0, 1.0),
    }
    assert (256, 0.25, 0.85, SHAPE[2]) == (circuit.CELLS, circuit.SPACING, circuit.TIGHTEST, circuit.NEAREST)


def test_the_driver_finishes_and_its_lap_is_counted():
    ends = drive_on(batch_of(worlds=50, beams=1), lambda batch: batch.expert_actions())
    assert all(s.end[0] == FINISHED and s.laps_done[0] == 1 for s in ends)
    for s in ends[:5]:
        assert s.last_lap[0] == pytest.approx(s.ticks * 0.01, abs=0.05)
        assert s.travelled[0] == pytest.approx(s.road[-1, AT], abs=0.2)


@pytest.mark.parametrize("keywords", [{"track": "random", "difficulty": 1.0}, {"track": "oval"}, {"track": "eight"}])
def test_the_driver_finishes_on_other_tracks(keywords):
    ends = drive_on(batch_of(worlds=20, beams=1, **keywords), lambda batch: batch.expert_actions())
    assert sum(s.end[0] == FINISHED for s in ends) >= 19


def test_random_cars_crash():
    rng = np.random.default_rng(0)
    ends = drive_on(batch_of(worlds=20, beams=1), lambda batch: rng.uniform(-1, 1, batch.actions.shape))
    assert sum(s.end[0] == BORDER for s in ends) >= 16


def test_terms_are_what_they_say():
    batch = batch_of(beams=1)
    s, terms = batch.records(0)[1], {name: n for n, name in enumerate(SPEC.terms)}
    before = float(s.travelled[0])
    batch.step(np.array([[[0.0, 0.5]]], np.float32).reshape(batch.actions.shape))
    got = batch.terms.reshape(-1)
    assert got[terms["progress"]] == pytest.approx(float(s.travelled[0]) - before, abs=1e-6)
    assert got[terms["time"]] == pytest.approx(-0.04)
    assert got[terms["original"]] == pytest.approx(0.04)


def test_cars_that_touch_are_out():
    batch = batch_of(RACE, lidar_noise=0.0, beams=31)
    s = batch.records(0)[1]
    s.car[1, :2] = s.car[0, :2] + 0.4 * np.array([math.cos(s.car[0, YAW]), math.sin(s.car[0, YAW])])
    s.car[1, YAW] = s.car[0, YAW]
    s.cell[1] = roads.locate(s.road, int(s.cell[1]), *s.car[1, :2])
    s.progress[1], s.offset[1] = roads.coordinates(s.road, int(s.cell[1]), *s.car[1, :2])
    batch.step(np.zeros(batch.actions.shape, np.float32))
    assert s.end.tolist() == [CAR_CONTACT, CAR_CONTACT]
    assert s.gone.all()


def test_who_is_out_sees_its_contact_and_then_nothing():
    batch = batch_of(RACE, beams=31)
    s = batch.records(0)[1]
    s.car[1, :2] += 3.0 * np.array([-math.sin(s.car[1, YAW]), math.cos(s.car[1, YAW])])
    batch.step(np.zeros(batch.actions.shape, np.float32))
    assert s.end.tolist() == [RACING, BORDER]
    assert np.abs(batch.observations[0, 1]).max() > 0.0
    assert (batch.observations[0, 1, :31] > -1.0).any()
    before = batch.observations[0, 0].copy()
    batch.step(np.zeros(batch.actions.shape, np.float32))
    assert (batch.observations[0, 1, :31] == -1.0).all()  # 0 m
    assert (batch.observations[0, 0] != before).any()


def test_eight_cars_start_apart():
    s = batch_of(RACE, agents=8, observation="track").records(0)[1]
    assert min(f1tenth_motion.nearest_car(s, k) for k in range(8)) > 0.15
    assert min(f1tenth_motion.border_gap(s, k) for k in range(8)) > 0.1
    assert s.end.tolist() == [RACING] * 8


def test_two_drivers_race_without_contact_and_the_first_wins():
    batch = batch_of(RACE, 10, beams=1)
    ends = drive_on(batch, lambda batch: batch.player_actions(["racer", "cautious"]))
    assert all((s.end == FINISHED).all() for s in ends)
    won = batch.success.reshape(10, 2)  # of the last step, which the second finishes
    assert not won[:, 1].any()


def test_noise_has_its_deviation_and_differs_from_step_to_step():
    batch = batch_of(lidar_noise=0.05)
    quiet = batch_of(lidar_noise=0.0)
    noise = (batch.observations - quiet.observations).reshape(-1)[:1080] * 15.0
    assert noise.std() == pytest.approx(0.05, rel=0.1)
    assert abs(noise.mean()) < 0.01
    again = batch.observations.copy()
    batch.step(np.zeros(batch.actions.shape, np.float32))
    assert np.abs(batch.observations - again).reshape(-1)[:1080].max() > 0.002


def test_slippery_patches_slow_the_grip():
    s = batch_of(patches=16, observation="track").records(0)[1]
    assert (s.patch[:, 4] == 0.5).all()
    at = float(s.patch[0, 0] + 0.5 * s.patch[0, 1]), float(0.5 * (s.patch[0, 2] + s.patch[0, 3]))
    assert roads.grip_factor(s.patch, float(s.road[-1, AT]), *at) <= 0.5


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"agents": 64}, "agents"),
        ({"centre_line": []}, "centre_line"),
        ({"centre_line": [[0, 0], [1, math.nan]] * 4}, "finite"),
        ({"centre_line": [list(point) for point in files.CENTRE_LINES["eight"]]}, "crosses itself"),
        ({"beams": 0}, "beams"),
        ({"view": 7.0}, "view"),
        ({"top_speed": 60.0}, "top_speed"),
    ],
)
def test_what_cannot_be_raced_is_refused(keywords, message):
    with pytest.raises(ParameterError, match=message):
        rlenvs.make_batch(ID, 1, **keywords)


def test_files_are_tracks(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(f"{x},{y},0.9,0.9" for x, y in files.CENTRE_LINES["oval"]))
    s = batch_of(centre_line=str(path), observation="track").records(0)[1]
    assert s.road[-1, AT] == pytest.approx(51.06, abs=0.05)
    path.write_text("\n".join(f"{1.1 * x},{1.1 * y},0.9,0.9" for x, y in files.CENTRE_LINES["oval"]))
    s = batch_of(centre_line=str(path), observation="track").records(0)[1]
    assert s.road[-1, AT] == pytest.approx(1.1 * 51.06, abs=0.06)


@given(st.integers(0, 2**30), st.sampled_from(["linear", "brush", "kinematic"]))
@settings(max_examples=8, deadline=None)
def test_cars_beyond_their_limits_stay_finite(seed, dynamics):
    """Whatever speed, spin and slip a car is put to, beyond what its model knows."""
    batch, rng = batch_of(observation="track", dynamics=dynamics), np.random.default_rng(seed)
    s = batch.records(0)[1]
    s.car[0, 2:] = rng.uniform(-1, 1, STATES - 2) * [0.4, 60.0, 3.0, 50.0, 1.5]
    drive_on(batch, lambda batch: rng.uniform(-1, 1, batch.actions.shape), 20)
    assert np.isfinite(s.car).all()
    assert np.isfinite(batch.observations).all()


@pytest.mark.parametrize(("dynamics", "share"), [("linear", 0.88), ("brush", 1.26)])
def test_the_driver_beside_bounds_of_its_lap(dynamics, share):
    """Proved for all tyres, and for those that slide, which linear ones need not keep."""
    bound = circuit.bound_of(files.named_road("club"), 1)
    assert 4.4 < bound.proved < 4.7
    assert 7.9 < bound.sliding < bound.computed < 8.4
    assert bound.lap < bound.computed
    ends = drive_on(batch_of(worlds=20, beams=1, dynamics=dynamics), lambda batch: batch.expert_actions())
    times = np.array([s.ticks * 0.01 for s in ends])
    assert times.min() > (bound.proved if dynamics == "linear" else bound.sliding)
    assert times.max() < share * bound.sliding


@pytest.mark.parametrize("keywords", [{"track": "club"}, {"track": "oval"}, {"patches": 6}])
def test_the_driver_knows_tyres_that_slide(keywords):
    ends = drive_on(batch_of(worlds=20, beams=1, dynamics="brush", **keywords), lambda batch: batch.expert_actions())
    assert all(s.end[0] == FINISHED for s in ends)


@pytest.mark.parametrize("keywords", [{"track": "club"}, {"track": "random"}])
def test_the_driver_knows_cars_that_roll(keywords):
    """They turn as they steer: nothing is to be caught with the steering."""
    ends = drive_on(
        batch_of(worlds=40, beams=1, dynamics="kinematic", **keywords), lambda batch: batch.expert_actions()
    )
    assert all(s.end[0] == FINISHED for s in ends)


@pytest.mark.parametrize("dynamics", ["linear", "brush", "kinematic"])
def test_the_driver_drives_circuits_of_ones_own(dynamics):
    """With the care of random ones: what named circuits allow throws it off them."""
    for seed in (0, 3):
        points = generator.random_road(seed, difficulty=0.9)[:-1:4, :2].tolist()
        line = [[x, y, 1.1, 1.1] for x, y in points]
        batch = batch_of(worlds=8, beams=1, dynamics=dynamics, centre_line=line)
        ends = drive_on(batch, lambda batch: batch.expert_actions())
        assert all(s.end[0] == FINISHED for s in ends)


def test_of_a_pack_of_eight_nearly_all_finish():
    ends = drive_on(batch_of(RACE, 25, beams=1, agents=8), lambda batch: batch.expert_actions())
    assert np.mean([s.end == FINISHED for s in ends]) > 0.92  # 389 of 400 in 50 races


@pytest.mark.parametrize("slots", [["racer", "cautious"], ["cautious", "racer"]])
def test_the_faster_driver_passes_and_wins(slots):
    batch = batch_of(RACE, 10, beams=1)
    ends = drive_on(batch, lambda batch: batch.player_actions(slots))
    assert all((s.end == FINISHED).all() for s in ends)
    best = [int(np.argmax(f1tenth.placing(*batch.records(i)))) for i in range(10)]
    assert best == [slots.index("racer")] * 10


def test_a_tournament_ranks_by_who_came_first():
    found = rlenvs.tournament(RACE, games=8, beams=1)
    assert found.players == ("racer", "cautious", "random")
    assert found.draws.sum() == 0


def test_eight_cars_at_one_spot_are_out_and_finite():
    batch = batch_of(RACE, agents=8, beams=31)
    s = batch.records(0)[1]
    s.car[1:] = s.car[0]
    for name in ("cell", "progress", "offset", "travelled"):
        s[name][1:] = s[name][0]
    batch.actions[...] = batch.expert_actions()
    batch.step_inplace()
    assert s.end.tolist() == [CAR_CONTACT] * 8
    assert np.isfinite(batch.observations).all()
    assert np.isfinite(batch.rewards).all()
