"""OfflineRacer beside what OfflineMania's data say of the original, and its own promises."""

import importlib.util
import json
import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun
from support.places import DATA, ROOT

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.tracks.road import AT, body_gap, nearest_cell, place
from rlenvs.robotics.racing import offline_drivers, offline_racer

ID = "OfflineRacer-v0"
WORLD = world_of(f"rlenvs/{ID}")
STRAIGHT = 62.0  # m along the road, where it leads along x for 30 m
USUAL = {name: part.default for name, part in WORLD.params.items()}


@pytest.fixture(scope="module")
def original():
    return json.loads((DATA / "offlinemania.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def figures():
    """The function that measured the original's data."""
    path = ROOT / "benchmarks" / "parity" / "record_offlinemania.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.figures


@pytest.fixture(scope="module")
def one():
    """A batch of one, to be put where a test wants it."""
    return batch_of(1)


batch_of = partial(begun, ID, autoreset=AutoresetMode.DISABLED)


def put(batch, progress, offset=0.0, turned=0.0, speed=0.0):
    """Put the kart of a batch of one somewhere on the road."""
    batch.reset()
    p, s = batch.records(0)[:2]
    x, y, heading = place(p.road, progress, offset)
    s.position[:], s.heading, s.speed = (x, y), heading + turned, speed
    s.cell = s.nose_cell = nearest_cell(p.road, x, y)
    s.progress, s.driven, s.best = progress, 0.0, 0.0
    return p, s


def act(batch, steering, throttle):
    batch.step(np.array([[[steering, throttle]]], np.float32))
    return batch.observations[0, 0].astype(float)


def gap_of(p, s):
    c, sn = math.cos(s.heading), math.sin(s.heading)
    return body_gap(p.road, int(s.cell), float(s.position[0]), float(s.position[1]), c, sn, p.body)


def driven(driver, worlds=24, steps=600, seed=0, **keywords):
    """Rows of a driver, and the environment's infos of the last step."""
    env = rlenvs.make_vec(ID, worlds, **keywords)
    observations, _ = env.reset(seed=seed)
    rng, parts = np.random.default_rng(seed), []
    touches = np.zeros(worlds)
    for _ in range(steps):
        actions = driver(env, observations, rng.standard_normal((worlds, 2)))
        following, rewards, _, _, infos = env.step(actions)
        parts.append((observations, actions, rewards[:, None], following))
        touches += infos["cost_touch"]
        observations = following
    rows = [np.concatenate(part).astype(float) for part in zip(*parts, strict=True)]
    return dict(zip(("observations", "actions", "rewards", "next_observations"), rows, strict=True)), infos, touches


def expert(env, observations, noise):
    return env.expert_actions()


# --- the original's numbers -------------------------------------------------------------------------------------------


def test_spaces_and_length():
    env = rlenvs.make(ID)
    assert env.observation_space.shape == (33,)
    assert env.observation_space.dtype == env.action_space.dtype == np.float32
    assert env.action_space.shape == (2,)
    assert (env.action_space.low == -1.0).all()
    assert (env.action_space.high == 1.0).all()
    env.reset(seed=0)
    ends = [env.step(np.zeros(2, np.float32))[2:4] for _ in range(2000)]
    assert ends[-1] == (False, True)
    assert set(ends[:-1]) == {(False, False)}


def test_rays_are_ahead_then_right_and_left_in_turn_over_half_a_circle(one, original):
    _p, _s = put(one, 8.0, offset=1.0)  # on a straight, a metre left of the middle, which leads along -x
    view = act(one, 0.0, 0.0)
    flags, shares = view[0:30:2], view[1:30:2]
    half = offline_racer.WIDTH / 2.0
    assert shares[13] * 25.0 == pytest.approx(half + 1.0, abs=0.02)  # 90 degrees to the right
    assert shares[14] * 25.0 == pytest.approx(half - 1.0, abs=0.02)
    for pair in range(1, 7):
        along = math.sin(math.radians(pair * 180.0 / 14.0))
        if flags[2 * pair] == 0.0 and pair > 2:
            assert shares[2 * pair] * 25.0 == pytest.approx((half - 1.0) / along, abs=0.05)
    errors = original["both"]["order_error"]
    assert errors["right first"] < 0.6 * errors["left first"]  # that is how we know


def test_a_ray_that_hits_nothing_has_a_flag_and_the_distance_1(original):
    batch = batch_of(1, reach=10.0)
    put(batch, STRAIGHT)
    view = act(batch, 0.0, 0.0)
    flags, shares = view[0:30:2], view[1:30:2]
    assert flags[0] == shares[0] == 1.0
    assert flags[13] == 0.0
    assert set(flags) <= {0.0, 1.0}
    assert (shares[flags == 1.0] == 1.0).all()
    assert (shares[flags == 0.0] < 1.0).all()
    assert original["both"]["flag_means_far"]


def test_velocity_is_right_up_ahead_of_the_map_or_of_the_kart(one):
    put(one, 8.0, speed=3.0)  # towards -x
    right, up, ahead = act(one, 0.0, 0.0)[30:]
    assert right < -2.5
    assert up == 0.0
    assert abs(ahead) < 0.1
    body = batch_of(1, frame="body")
    put(body, 8.0, speed=3.0)
    right, up, ahead = act(body, 0.0, 0.0)[30:]
    assert right == up == 0.0
    assert ahead > 2.5


def test_width_of_the_road_and_reach_of_the_rays(one, original):
    both = original["both"]
    assert offline_racer.WIDTH / USUAL["reach"] == pytest.approx(both["width"], abs=0.001)
    assert USUAL["reach"] == pytest.approx(both["reach"], rel=0.06)  # the median; most readings lie from 24.5 to 25.5 m
    put(one, 8.0)
    view = act(one, 0.0, 0.0)
    assert view[27] + view[29] == pytest.approx(both["width"], abs=0.002)


def test_rows_look_like_the_originals(original, figures):
    """The same regressions on our drivers' rows: throttle, drag, steering, what progress pays."""
    rows = [driven(lambda e, o, z, f=f: f(o, z))[0] for f in (offline_drivers.medium, offline_drivers.skilled)]
    ours = figures({key: np.concatenate([part[key] for part in rows]) for key in rows[0]})
    theirs = original["both"]
    assert ours["acceleration"] == pytest.approx(theirs["acceleration"], rel=0.06)
    assert ours["drag"] == pytest.approx(theirs["drag"], rel=0.25)
    for name, rate in theirs["turn_rate"].items():
        if name in ours["turn_rate"] and not name.startswith("0.7"):  # a slow kart of theirs turns by a third less
            assert ours["turn_rate"][name] == pytest.approx(rate, rel=0.3), name  # theirs differ by 14 % among bins
    assert ours["reward_per_speed"][0] == pytest.approx(theirs["reward_per_speed"][0], rel=0.03)
    assert ours["speed_of_moving"][-1] == pytest.approx(theirs["speed_of_moving"][-1], rel=0.03)
    assert ours["negative_without_contact"] == theirs["negative_without_contact"] == 0
    assert ours["order_error"]["right first"] < ours["order_error"]["left first"]
    assert ours["largest_up"] == 0.0
    assert theirs["largest_up"] < 0.1


def test_step_by_step_the_kart_is_the_fit(one):
    _p, s = put(one, STRAIGHT, speed=2.0)
    act(one, 0.0, 0.5)
    wanted = 2.0
    for _ in range(5):
        wanted += 0.02 * (6.6 * 0.5 - 0.4 * wanted)
    assert s.speed == pytest.approx(wanted, abs=1e-12)
    for speed, rate in ((1.0, 0.9), (2.0, 1.8), (5.0, 1.8)):
        _p, s = put(one, STRAIGHT, speed=speed)
        before = float(s.heading)
        act(one, 0.5, 0.4 * speed / 6.6)
        assert s.heading - before == pytest.approx(-0.1 * 0.5 * rate, rel=1e-6)  # positive steers right
    _p, s = put(one, STRAIGHT, speed=5.59)
    act(one, 0.0, 1.0)
    assert s.speed == 5.6


# --- rewards ----------------------------------------------------------------------------------------------------------


def test_progress_pays_a_tenth_of_the_speed_and_only_what_is_new(one):
    put(one, STRAIGHT, speed=5.0)
    throttle = 0.4 * 5.0 / 6.6
    act(one, 0.0, throttle)
    assert one.rewards[0, 0] == pytest.approx(0.5, rel=1e-3)
    assert one.rewards[0, 0] == pytest.approx(0.098 * 5.0, rel=0.03)  # 0.098 is the median of all rows
    total, best = 0.5, 0.0
    for throttle in [-1.0] * 25 + [1.0] * 12:
        act(one, 0.0, throttle)
        total += one.rewards[0, 0]
        assert one.rewards[0, 0] >= 0.0
        best = max(best, float(one.records(0)[1].driven))
    assert total == pytest.approx(best, abs=2e-3)
    assert float(one.records(0)[1].driven) < best + 1e-9


def test_a_contact_costs_46_times_the_speed_and_leaves_the_kart_outside_of_the_wall(one, original):
    p, s = put(one, STRAIGHT, turned=-0.9, speed=3.0)
    for _ in range(20):
        act(one, 0.0, 0.4 * 3.0 / 6.6)
        if s.contacts:
            break
    assert one.rewards[0, 0] == pytest.approx(-46.0 * 3.0, rel=0.01)
    assert s.speed < 0.0
    assert abs(s.speed) <= 0.2 * 3.0 + 0.1
    assert gap_of(p, s) >= 0.0
    assert np.median(original["both"]["contact_per_speed"]) == pytest.approx(-46.0, rel=0.03)


def test_starts_lie_before_the_first_bend():
    batch = batch_of(200)
    p = batch.records(0)[0]
    states = [batch.records(i)[1] for i in range(200)]
    progress = np.array([s.progress for s in states])
    assert progress.min() >= 0.0
    assert progress.max() <= 14.0 + 1e-6
    assert np.ptp(progress) > 12.0
    assert all(s.speed == 0.0 for s in states)
    turned = [
        math.remainder(float(s.heading) - place(p.road, float(s.progress), 0.0)[2], 2.0 * math.pi) for s in states
    ]
    assert 0.45 < np.abs(turned).max() < 0.55
    assert min(gap_of(p, s) for s in states) > 0.0


# --- drivers, circuits, bounds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("keywords", [{}, {"level": "slippery"}, {"level": "twisty"}, {"track": "eight"}])
def test_the_expert_drives_laps_without_contact(keywords):
    _, infos, touches = driven(expert, worlds=100 if not keywords else 20, steps=800, **keywords)
    assert (infos["is_success"] & (touches == 0)).mean() >= 0.98


def test_no_kart_exceeds_the_bound():
    values = SimpleNamespace(track="mania", centre_line=None, **USUAL)
    bound = offline_racer.bound(values)
    assert round(bound) == WORLD.scores["bound"].mean
    assert WORLD.scores["expert"].mean > 0.9 * bound
    short = offline_racer.bound(SimpleNamespace(**{**vars(values), "dt": USUAL["dt"] * 0.3}))
    rows, _, _ = driven(expert, worlds=20, steps=600)
    assert rows["rewards"].reshape(600, 20).sum(axis=0).max() < short


def test_drivers_are_of_three_strengths():
    progress = [
        driven(lambda e, o, z, f=f: f(o, z), worlds=40, steps=1000)[0]["rewards"].sum() / 40
        for f in (offline_drivers.basic, offline_drivers.medium, offline_drivers.skilled)
    ]
    assert 30.0 < progress[0] < progress[1] < 0.6 * progress[2]


def test_the_circuit_of_the_original():
    road = offline_racer.mania()
    assert road[-1, AT] == pytest.approx(262.4, abs=0.1)  # 3280 pixels of the picture
    left, right = (road[:-1, 8] > 0.05).sum(), (road[:-1, 8] < -0.05).sum()
    assert 0 < left < right  # one bend to the left, five to the right


BAD = {
    "NaN": [[0.0, 0.0], [30.0, 0.0], [60.0, float("nan")], [60.0, 40.0], [30.0, 50.0], [0.0, 40.0]],
    "crosses itself": [[0, 0], [60, 40], [60, 0], [30, -10], [0, 40], [-20, 20]],
    "too few": [[0.0, 0.0], [50.0, 0.0], [25.0, 40.0]],
    "nothing": [],
    "too tight": [[0, 0], [8, 0], [10, 3], [8, 6], [0, 6], [-2, 3]],
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_circuit_is_refused(name):
    with pytest.raises(ParameterError, match=r"centre_line|number"):
        rlenvs.make(ID, centre_line=BAD[name])


def test_a_file_with_nan_is_refused_and_a_good_one_driven(tmp_path):
    points = 30.0 * np.array([(math.cos(t), 0.7 * math.sin(t)) for t in np.linspace(0.0, 2.0 * math.pi, 40)[:-1]])
    path = tmp_path / "ring.csv"
    np.savetxt(path, points, delimiter=",")
    _, infos, touches = driven(expert, worlds=4, steps=500, centre_line=str(path))
    assert infos["is_success"].all()
    assert not touches.any()
    path.write_text(path.read_text() + "nan, nan\n")
    with pytest.raises(ParameterError, match="finite"):
        rlenvs.make(ID, centre_line=str(path))
    with pytest.raises(ParameterError, match="cannot be read"):
        rlenvs.make(ID, centre_line=str(tmp_path / "none.csv"))


PARAMS = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from([part.low, part.high]) for name, part in WORLD.params.items()}
)


@settings(max_examples=20, deadline=None)
@given(keywords=PARAMS, seed=st.integers(0, 2**31 - 200), track=st.sampled_from(offline_racer.TRACKS))
def test_whatever_is_done_stays_finite_and_between_the_walls(keywords, seed, track):
    env = rlenvs.make_vec(ID, 4, track=track, **keywords)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    held = rng.uniform(-1.0, 1.0, (4, 2)).astype(np.float32)
    for t in range(120):
        actions = held if t % 40 < 30 else rng.uniform(-1.0, 1.0, (4, 2)).astype(np.float32)
        observations, rewards, _, _, infos = env.step(np.sign(actions) if t > 60 else actions)
        assert env.observation_space.contains(observations)
        assert np.isfinite(rewards).all()
        assert "simulation_error" not in infos
    for i in range(4):
        p, s = env.batch.records(i)[:2]
        assert gap_of(p, s) >= -1e-9


def test_defaults_that_recordings_do_not_show():
    numbers = {"reverse_speed": 2.0, "bounce": 0.2, "start_length": 14.0, "start_offset": 2.0, "start_turn": 0.5}
    assert {name: USUAL[name] for name in numbers} == numbers


def test_numbers_that_drives_do_not_show():
    """Ranges, body and picture, each as the world's page or the original's picture has it."""
    ranges = {name: (part.low, part.high) for name, part in WORLD.params.items()}
    assert ranges == {
        "dt": (0.05, 0.15),
        "acceleration": (3.0, 10.0),
        "drag": (0.1, 1.0),
        "top_speed": (3.0, 8.0),
        "reverse_speed": (0.5, 4.0),
        "bend": (0.4, 1.5),
        "turn_rate": (0.8, 3.0),
        "reach": (10.0, 40.0),
        "bounce": (0.0, 0.5),
        "start_length": (1.0, 100.0),
        "start_offset": (0.0, 2.0),
        "start_turn": (0.0, 0.5),
    }
    assert (offline_racer.FRONT, offline_racer.REAR, offline_racer.HALF, offline_racer.NOSE) == (1.1, 1.1, 0.6, 0.7)
    assert (offline_racer.RAYS, offline_racer.SUBSTEPS, offline_racer.WIDTH) == (15, 5, 6.75)
    assert pytest.approx(math.pi) == offline_racer.VIEW
    assert (offline_racer.PIXEL, offline_racer.START, offline_racer.HORIZON) == (0.08, 345, 2000)
    assert (WORLD.terms["progress"].weight, WORLD.terms["contact"].weight) == (1.0, 46.0)
    assert WORLD.costs["touch"].limit == 1.0
    assert {name: USUAL[name] for name in ("acceleration", "drag", "top_speed", "bend", "turn_rate")} == {
        "acceleration": offline_drivers.ACCELERATION,
        "drag": offline_drivers.DRAG,
        "top_speed": 5.6,
        "bend": offline_drivers.TURN,
        "turn_rate": offline_drivers.TURN_RATE,
    }
    assert offline_drivers.REACH == USUAL["reach"] == 25.0
    assert WORLD.levels == {"slippery": {"turn_rate": 0.8}, "twisty": {"track": "twisty"}}
