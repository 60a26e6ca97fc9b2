"""LogReplay: logs and their faults, motion, errors, collisions by side, reacting cars, experts, metrics."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.roads.lanes import heading_on, point_on
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import logs, replay
from rlenvs.robotics.driving.replay_metrics import closed_loop_metrics

NAME = "LogReplay-v0"
DISTANCE, YAW, ADE, FDE, COLLISION, DRIVEN = range(6)
IN_FRONT, BEHIND, BESIDE, OFFROAD, OFF_PATH = range(5)


made = partial(begun, NAME, autoreset=AutoresetMode.DISABLED)


def step(batch, *action):
    batch.step(np.array([action], np.float32))
    return np.split(batch.terms.ravel().copy(), [6])


def advised(batch):
    return np.array(batch.expert_actions(), np.float32).reshape(batch.num_envs, -1)


def own_log(path, cars=3, frames=40, spacing=30.0, speed=20.0, **more):
    """A file in which cars drive along x, one before the other, car 0 last; on the lane at y = 0."""
    poses = np.zeros((1, frames, cars, 4))
    poses[0, :, :, 0] = 100.0 + spacing * np.arange(cars) + 0.1 * speed * np.arange(frames)[:, None]
    poses[..., 3] = speed
    arrays = {"poses": poses, "lanes": np.array([[0.0, 0.0, 2000.0, 0.0]]), **more}
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    return str(path)


# --- logs -------------------------------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_log_and_another_one_another():
    one, again, other = logs.record(scenes=2), logs.record(scenes=2), logs.record(scenes=2, seed=1)
    assert one.tobytes() == again.tobytes()
    assert one.shape == (2, 100, 24, 4)
    assert np.abs(one - other).max() > 1.0
    assert (one[..., 3] >= 0.0).all()
    assert (one[..., 3] <= 25.0 + 1e-9).all()


def test_recorded_logs_are_sound():
    for road in logs.ROADS:
        logs.checked({"poses": logs.record(road, seed=4)})


def test_recorded_cars_are_on_the_road_they_were_recorded_on():
    net = SimpleNamespace(**logs.named_road("winding").arrays())
    from rlenvs.kits.roads.lanes import along_and_across, nearest_lane

    for x, y, heading, _ in logs.record(scenes=1)[0, ::33].reshape(-1, 4):
        k = nearest_lane(net, float(x), float(y), float(heading))
        assert abs(along_and_across(net, k, float(x), float(y))[1]) < 2.0


def test_the_winding_road_has_no_gaps():
    network = logs.named_road("winding")
    net = SimpleNamespace(**network.arrays())
    for k in range(len(net.lane) - logs.LANES):
        end, begin = float(net.lane[k, 5]), k + logs.LANES
        assert point_on(net, k, end, 0.0) == pytest.approx(point_on(net, begin, 0.0, 0.0), abs=1e-9)
        assert heading_on(net, k, end) == pytest.approx(heading_on(net, begin, 0.0), abs=1e-12)


def changed(poses, where, value):
    poses = poses.copy()
    poses[where] = value
    return poses


LINE = np.zeros((2, 40, 3, 4))
LINE[..., 0] = 12.0 * np.arange(3) + 2.0 * np.arange(40)[:, None]
LINE[..., 3] = 20.0
FAULTS = {
    "have shape": {"poses": LINE[0]},
    "have shape (2, 40, 3, 3)": {"poses": LINE[..., :3]},
    "must be real numbers": {"poses": np.full((1, 40, 1, 4), "x")},
    "33 frames; needed: 34": {"poses": LINE[:, :33]},
    "0 scenes": {"poses": LINE[:0]},
    "0 cars": {"poses": LINE[:, :, :0]},
    "car 1 in frame 7 of scene 1 is not finite": {"poses": changed(LINE, (1, 7, 1, 2), np.nan)},
    "car 2 in frame 0 of scene 0 is not finite": {"poses": changed(LINE, (0, 0, 2, 0), np.inf)},
    "farther than": {"poses": changed(LINE, (0, 0, 2, 0), 1e9)},
    "faster than": {"poses": changed(LINE, (0, 0, 2, 3), 1e3)},
    "car 2 in frame 5 of scene 0 jumps": {"poses": changed(LINE, (0, 5, 2, 1), 30.0)},
    "cars 0 and 1 overlap in frame 3 of scene 1": {"poses": changed(LINE, (1, 3, 1, 0), LINE[1, 3, 0, 0] + 4.9)},
    "'present' is": {"poses": LINE, "present": np.ones((2, 40, 2), bool)},
    "'present' is float64": {"poses": LINE, "present": np.ones((2, 40, 3))},
    "no car is present for 34 frames": {"poses": LINE, "present": np.zeros((2, 40, 3), bool)},
    "'lanes' have shape": {"poses": LINE, "lanes": np.zeros((2, 3))},
    "lane 1 is not finite": {"poses": LINE, "lanes": np.array([[0, 0, 9, 0], [0, 0, np.nan, 0]])},
    "lane 0 is shorter": {"poses": LINE, "lanes": np.zeros((1, 4))},
    "9 m wide": {"poses": LINE, "lanes": np.array([[0.0, 0, 9, 0, 9]])},
}


@pytest.mark.parametrize("said", FAULTS)
def test_faults_of_logs_are_named(said, tmp_path):
    np.savez(tmp_path / "log.npz", **FAULTS[said])
    with pytest.raises(ParameterError) as error:
        rlenvs.make(NAME, log=str(tmp_path / "log.npz"))
    assert said in str(error.value)


def test_files_that_are_no_logs_are_refused(tmp_path):
    (tmp_path / "text.npz").write_text("no zip")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    np.save(tmp_path / "single.npy", np.zeros(3))
    for name, said in (("none.npz", "No such file"), ("text.npz", "cannot be read"), ("other.npz", "no array 'poses'")):
        with pytest.raises(ParameterError, match=said):
            rlenvs.make(NAME, log=str(tmp_path / name))
    with pytest.raises(ParameterError, match="a single array"):
        rlenvs.make(NAME, log=str(tmp_path / "single.npy"))
    with pytest.raises(ParameterError, match="path"):
        rlenvs.make(NAME, log=7)


def test_cars_that_touch_do_not_overlap_and_turned_ones_do(tmp_path):
    logs.checked({"poses": changed(LINE, (slice(None), slice(None), 1, 0), LINE[:, :, 0, 0] + 5.01)})
    turned = changed(LINE, (slice(None), slice(None), 1, 0), LINE[:, :, 0, 0] + 5.01)
    turned[0, 4, 1, 1:3] = 1.0, 0.5
    with pytest.raises(ParameterError, match="cars 0 and 1 overlap in frame 4 of scene 0"):
        logs.checked({"poses": turned})


def test_logs_of_ones_own_are_replayed_and_read_anew(tmp_path):
    path = own_log(tmp_path / "own.npz", speed=20.0)
    batch = made(log=path)
    _, s = batch.records(0)
    assert int(s.movers) == 3
    assert s.speed[0] == 20.0
    path = own_log(tmp_path / "own.npz", speed=15.0, cars=2)
    _, s = made(log=path).records(0)
    assert int(s.movers) == 2
    assert s.speed[0] == 15.0


def test_cars_that_are_not_there_are_not_seen(tmp_path):
    present = np.ones((1, 40, 3), bool)
    present[0, 10:, 1] = False
    batch = made(log=own_log(tmp_path / "own.npz", present=present), logged_ego=0, frame=7, seen_cars=2)
    cars = slice(5 + 1 + 10, 5 + 1 + 10 + 10)
    rows = batch.observations.ravel()[cars].reshape(2, 5)
    assert rows[:, 0].tolist() == [1.0, 0.0]  # car 2 is 60 m away
    assert rows[0, 1] == pytest.approx(30.0 / 60.0)
    for _ in range(3):
        batch.step(advised(batch))
    rows = batch.observations.ravel()[cars].reshape(2, 5)
    assert rows[:, 0].tolist() == [0.0, 0.0]  # car 1 has left
    assert np.isfinite(batch.observations).all()


def test_scene_frame_and_ego_are_chosen():
    batch = made(scene=3, frame=20, logged_ego=5)
    _, s = batch.records(0)
    assert (int(s.first_row), int(s.ego)) == (320, 5)
    with pytest.raises(ParameterError, match="allowed are 1 to 67"):
        rlenvs.make(NAME, frame=68)
    with pytest.raises(ParameterError, match="scene=16"):
        rlenvs.make(NAME, scene=16)


# --- numbers of DriverGym ---------------------------------------------------------------------------------------------


def test_an_episode_has_32_steps_of_a_tenth_of_a_second():
    batch = made()
    assert logs.STEPS == 32
    assert logs.STEP == 0.1
    for n in range(32):
        assert not batch.truncated.any(), n
        batch.step(advised(batch))
    assert batch.truncated.all()
    assert not batch.terminated.any()


def test_actions_are_scaled_by_mean_and_ten_deviations():
    log = logs.record()
    ahead, aside = np.diff(log[..., :2], axis=1).transpose(3, 0, 1, 2)
    heading = log[:, :-1, :, 2]
    forward = ahead * np.cos(heading) + aside * np.sin(heading)
    batch = made()
    p, _ = batch.records(0)
    assert p.scaling[0, 0] == pytest.approx(forward.mean(), rel=1e-9)
    assert p.scaling[1, 0] == pytest.approx(10.01 * forward.std(), rel=1e-6)
    assert rlenvs.make(NAME).action_space.shape == (3,)


def test_a_displacement_moves_the_car_in_its_own_frame():
    batch = made()
    p, s = batch.records(0)
    ego = int(s.ego)
    x, y, heading = float(s.x[ego]), float(s.y[ego]), float(s.heading[ego])
    step(batch, 0.25, 0.5, -0.125)
    way = p.scaling[0] + p.scaling[1] * np.array([0.25, 0.5, -0.125])
    assert s.x[ego] == pytest.approx(x + way[0] * math.cos(heading) - way[1] * math.sin(heading), abs=1e-9)
    assert s.y[ego] == pytest.approx(y + way[0] * math.sin(heading) + way[1] * math.cos(heading), abs=1e-9)
    assert s.heading[ego] == pytest.approx(heading + way[2], abs=1e-9)


def test_a_unicycle_turns_by_20_degrees_and_gains_6_metres_per_second_in_a_second():
    batch = made(actions="kinematic")
    _, s = batch.records(0)
    ego = int(s.ego)
    x, y, heading, speed = float(s.x[ego]), float(s.y[ego]), float(s.heading[ego]), float(s.speed[ego])
    step(batch, 1.0, 1.0)
    heading += math.radians(2.0)
    assert s.speed[ego] == pytest.approx(speed + 0.6)
    assert s.heading[ego] == pytest.approx(heading)
    assert s.x[ego] == pytest.approx(x + 0.1 * (speed + 0.6) * math.cos(heading))
    assert s.y[ego] == pytest.approx(y + 0.1 * (speed + 0.6) * math.sin(heading))


def test_errors_are_those_from_the_logged_pose(tmp_path):
    """20 m/s in the log; the unicycle brakes with 6 m/s^2 for a step and goes on at 19.4 m/s: 0.06 m per step."""
    batch = made(log=own_log(tmp_path / "own.npz"), actions="kinematic", logged_ego=0)
    terms = np.zeros(6)
    for n in range(32):
        now, _ = step(batch, 0.0, -1.0 if n == 0 else 0.0)
        assert now[DISTANCE] == pytest.approx(-0.06 * (n + 1), abs=1e-6)
        assert now[ADE] == pytest.approx(-0.06 * (n + 1) / 32.0, abs=1e-6)
        assert (now[FDE] == 0.0) == (n < 31)
        terms += now
    assert terms[ADE] == pytest.approx(-0.06 * 16.5, abs=1e-5)
    assert terms[FDE] == pytest.approx(-0.06 * 32, abs=1e-5)
    assert terms[DRIVEN] == pytest.approx(32 * 1.94, abs=1e-5)
    assert batch.success.all()  # 1.92 m are less than 2


def test_an_end_two_metres_off_is_no_success(tmp_path):
    batch = made(log=own_log(tmp_path / "own.npz"), actions="kinematic", logged_ego=0, near_end=1.9)
    for n in range(32):
        step(batch, 0.0, -1.0 if n == 0 else 0.0)
    assert not batch.success.any()


def test_distances_beyond_15_metres_count_as_15_and_angles_by_their_size(tmp_path):
    batch = made(log=own_log(tmp_path / "own.npz"), logged_ego=0)
    _, s = batch.records(0)
    s.x[0] -= 40.0
    s.heading[0] = 3.0
    s.cosine[0], s.sine[0] = math.cos(3.0), math.sin(3.0)
    terms, costs = step(batch, *advised(batch)[0] * 0.0)
    assert terms[DISTANCE] == -15.0
    assert terms[YAW] == pytest.approx(-3.0, abs=1e-6)
    assert terms[ADE] < -1.0
    assert batch.rewards[0, 0] == pytest.approx(-18.0, abs=1e-5)
    assert costs[OFF_PATH] == 1.0


def test_rewards_by_choice():
    weights = {
        "displacement": (1.0, 1.0, 0.0, 0.0, 0.0, 0.0),
        "yaw20": (1.0, 20.0, 0.0, 0.0, 0.0, 0.0),
        "metrics": (0.0, 0.0, 1.0, 1.0, 0.0, 0.0),
        "safe": (1.0, 1.0, 0.0, 0.0, 15.0, 0.0),
    }
    for reward, expected in weights.items():
        batch = made(reward=reward)
        batch.step(np.array([[0.3, 0.2, 0.1]], np.float32))
        assert batch.rewards[0, 0] == pytest.approx(float(batch.terms.ravel()[:6] @ np.array(expected)), rel=1e-6), (
            reward
        )


def test_in_an_open_loop_each_step_begins_where_the_log_is():
    batch = made(loop="open")
    p, s = batch.records(0)
    ego = int(s.ego)
    for _ in range(5):
        step(batch, 0.1, 0.1, 0.1)
        assert [s.x[ego], s.y[ego], s.heading[ego], s.speed[ego]] == p.log[s.row, ego, :4].tolist()
        assert batch.terms.ravel()[DISTANCE] < 0.0
    closed = made()
    _, s = closed.records(0)
    step(closed, 0.1, 0.1, 0.1)
    assert abs(s.x[ego] - p.log[s.row, ego, 0]) > 1e-6


def test_the_logged_path_is_that_of_all_frames(tmp_path):
    """A car that stops stays on its path for as long as it is beside it: 4 m."""
    batch = made(log=own_log(tmp_path / "own.npz"), logged_ego=0)
    _, s = batch.records(0)
    s.y[0] = 3.9
    _, costs = step(batch, *advised(batch)[0] * np.array([1.0, 0.0, 0.0]))
    assert (costs[OFF_PATH], costs[OFFROAD]) == (0.0, 1.0)  # the lane is 4 m wide
    s.y[0] = 4.1
    _, costs = step(batch, *advised(batch)[0] * np.array([1.0, 0.0, 0.0]))
    assert costs[OFF_PATH] == 1.0


# --- collisions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead", "aside", "turn", "side"),
    [
        (4.5, 0.0, 0.0, replay.FRONT),
        (-4.5, 0.0, 0.0, replay.REAR),
        (0.5, 1.8, 0.0, replay.RIGHT),
        (0.5, -1.8, 0.0, replay.LEFT),
        (3.0, 0.0, 0.5 * math.pi, replay.FRONT),
        (0.0, 3.0, 0.5 * math.pi, replay.RIGHT),
        (0.0, -3.0, 0.5 * math.pi, replay.LEFT),
        (5.1, 0.0, 0.0, -1),
        (0.0, 2.1, 0.0, -1),
        (0.0, 3.6, 0.5 * math.pi, -1),
    ],
)
@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_collisions_by_side(ahead, aside, turn, side, heading):
    cosine, sine = math.cos(heading), math.sin(heading)
    x, y = 10.0 + ahead * cosine - aside * sine, -7.0 + ahead * sine + aside * cosine
    headings = np.array([heading, heading + turn])
    s = SimpleNamespace(
        ego=0, movers=2, x=np.array([10.0, x]), y=np.array([-7.0, y]), cosine=np.cos(headings), sine=np.sin(headings)
    )
    assert replay.collision(s) == side


@pytest.mark.parametrize(("offset", "cost"), [(26.0, IN_FRONT), (-26.0, BEHIND)])
def test_costs_name_the_side(tmp_path, offset, cost):
    """The ego car, in the middle of three that are 30 m apart, is put 4 m from another."""
    batch = made(log=own_log(tmp_path / "own.npz"), logged_ego=1, actions="kinematic")
    _, s = batch.records(0)
    s.x[1] += offset
    terms, costs = step(batch, 0.0, 0.0)
    assert terms[COLLISION] == -1.0
    assert costs[:3].tolist() == [float(n == cost) for n in range(3)]
    assert int(s.faults) == 1


def test_a_car_beside_is_touched_at_the_side(tmp_path):
    batch = made(log=own_log(tmp_path / "own.npz"), logged_ego=1, actions="kinematic")
    _, s = batch.records(0)
    s.x[1] += 30.5
    s.y[1] += 1.8
    _, costs = step(batch, 0.0, 0.0)
    assert costs[:3].tolist() == [0.0, 0.0, 1.0]


# --- others -----------------------------------------------------------------------------------------------------------


def test_cars_within_30_metres_react_from_the_start_and_later_within_15(tmp_path):
    path = own_log(tmp_path / "own.npz", spacing=29.0)
    _, s = made(log=path, logged_ego=0, traffic="reactive").records(0)
    assert (s.driver[1:3] >= 0).tolist() == [True, False]
    path = own_log(tmp_path / "far.npz", spacing=31.0)
    batch = made(log=path, logged_ego=0, traffic="reactive")
    _, s = batch.records(0)
    assert (s.driver[1:3] >= 0).tolist() == [False, False]
    for x, woken in ((16.0, False), (14.0, True)):
        s.x[0] = s.x[1] - x
        step(batch, *advised(batch)[0])
        assert bool(s.driver[1] >= 0) == woken


def test_replayed_cars_drive_into_a_car_that_stops_and_reacting_ones_brake(tmp_path):
    path = own_log(tmp_path / "own.npz", cars=2, spacing=29.0)
    crashed = {}
    for traffic in ("replayed", "reactive"):
        batch = made(log=path, logged_ego=1, actions="kinematic", traffic=traffic)
        touched = 0.0
        while not batch.truncated.any():
            _, costs = step(batch, 0.0, -1.0)
            touched += costs[BEHIND]
        crashed[traffic] = touched > 0.0
    assert crashed == {"replayed": True, "reactive": False}


def test_replayed_cars_are_where_the_log_has_them():
    batch = made()
    p, s = batch.records(0)
    for _ in range(5):
        step(batch, 0.3, 0.0, 0.1)
        others = np.arange(int(s.movers)) != int(s.ego)
        assert np.array_equal(s.x[others], p.log[s.row, others, 0])
        assert np.array_equal(s.heading[others], p.log[s.row, others, 2])


# --- experts, metrics, extremes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_replaying_what_was_driven_gives_no_error(loop):
    found = closed_loop_metrics("log", 50, loop=loop)
    assert found["ade"] < 1e-6
    assert found["fde"] < 1e-6
    assert found["passed"] == 1.0
    assert found["miss_rate"] == 0.0


def test_experts_and_others_in_closed_loop():
    unicycle = closed_loop_metrics("log", 50, actions="kinematic")
    planner = closed_loop_metrics("idm", 50, traffic="reactive")
    idle, dice = closed_loop_metrics("idle", 50), closed_loop_metrics("random", 50)
    assert unicycle["ade"] < 0.1
    assert 0.5 < planner["ade"] < 2.0
    assert planner["passed"] > 0.8
    assert idle["miss_rate"] > 0.9
    assert dice["ade"] > idle["ade"] > planner["ade"]
    zeros = closed_loop_metrics(lambda seen: np.zeros((len(seen), 3)), 50)
    assert zeros == idle


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000), st.floats(0, 1))
def test_whatever_is_done_numbers_stay_finite_and_errors_add_up(seed, more, size):
    batch = SHARED[0] if SHARED else SHARED.append(made(traffic="reactive")) or SHARED[0]
    batch.seed([seed])
    batch.reset()
    errors, ade, last = [], 0.0, 0.0
    for action in size * np.random.default_rng(more).uniform(-1.0, 1.0, (32, 3)):
        terms, costs = step(batch, *action)
        assert np.isfinite(batch.observations).all()
        assert (np.abs(batch.observations) <= 1.0).all()
        assert costs[:3].sum() == -terms[COLLISION]
        errors.append(float(batch.states["error"][0]))
        ade, last = ade - terms[ADE], -terms[FDE]
    assert ade == pytest.approx(np.mean(errors), rel=1e-5, abs=1e-6)
    assert last == pytest.approx(errors[-1], rel=1e-5, abs=1e-6)


SHARED = []


def test_the_raster_shows_road_and_cars_in_the_frame_of_the_ego_car(tmp_path):
    env = rlenvs.make(NAME, log=own_log(tmp_path / "own.npz", spacing=20.0), observation="raster", logged_ego=0)
    seen, _ = env.reset(seed=0)
    picture = seen["picture"]
    assert picture.shape == (64, 64, 3)
    assert picture[32, 16].tolist() == [60, 140, 255]
    assert picture[32, 36].tolist() == [250, 180, 60]  # 20 m ahead
    assert picture[32, 50].tolist() == [150, 150, 150]
    assert picture[33, 50].tolist() == [90, 90, 90]
    assert picture[40, 16].tolist() == [0, 0, 0]


def test_an_episode_that_outlasts_the_log_ends(tmp_path):
    batch = made(log=own_log(tmp_path / "own.npz", frames=40), frame=1, logged_ego=0, horizon=1000)
    for n in range(38):
        assert not batch.terminated.any(), n
        batch.step(advised(batch))
    assert batch.terminated.all()
    assert batch.success.all()


def test_sixty_cars_at_one_spot_stay_numbers():
    batch = made(logged_cars=60, scenes=1, traffic="reactive", far=100.0)
    p, s = batch.records(0)
    s.x[:], s.y[:] = 400.0, 0.0
    locate(p, s)
    for _ in range(32):
        step(batch, 0.0, 0.0, 0.0)
        assert np.isfinite(batch.observations).all()


def test_the_recorder_writes_what_the_world_reads(tmp_path, capsys):
    path = str(tmp_path / "log.npz")
    logs.main([path, "--scenes", "2", "--log-seed", "5"])
    logs.main([path, "--check"])
    assert capsys.readouterr().out.count("2 scenes of 100 frames with 24 cars") == 2
    ours, file = made(scenes=2, log_seed=5), made(log=path)
    assert np.array_equal(ours.observations, file.observations)
    with pytest.raises(SystemExit, match="cannot be read"):
        logs.main([str(tmp_path / "none.npz"), "--check"])
