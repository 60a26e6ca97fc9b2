"""RouteDrive: the way, infractions, the car, traffic, what is seen, attacks, an expert."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.route_helpers import (
    ALONE,
    TERMS,
    UNHELD,
    beside,
    first_metre,
    made,
    play,
    put,
    show,
    step,
    with_signal,
)

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check.loops import lines_counted
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.roads.lanes import END, LENGTH, ROAD, SIGN, START
from rlenvs.kits.traffic import signals
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import route_drive, route_expert, route_senses, route_town

# --- the way ----------------------------------------------------------------------------------------------------------


def test_ways_hang_together_and_have_their_length():
    for keywords in ({}, {"route_length": 1000}):
        batch = made(12, **keywords)
        for i in range(12):
            p, s = batch.records(i)
            way = s.way[: s.legs]
            roads = [p.road[p.lane_at[k, ROAD]] for k in way]
            assert all(a[END] == b[START] for a, b in itertools.pairwise(roads))
            total = sum(p.lane[k, LENGTH] for k in way[:-1]) - s.start + s.goal_at
            assert total == pytest.approx(p.route_length)


def test_completion_adds_up_to_100():
    """On a run without discomfort, near collisions and speeding, where the middle of the lane does not matter."""
    totals, success = play(made(4, softener=0.0, **ALONE), lambda batch: batch.expert_actions())
    assert success.all()
    assert totals[:, 0] == pytest.approx(100.0, abs=0.05)
    assert not totals[:, len(TERMS) :].any()


def test_rocking_forwards_and_backwards_earns_nothing():
    batch = made(softener=0.0, **ALONE, **UNHELD)
    _, s = batch.records(0)
    paid, begin = 0.0, 0.0
    for force in ([0.4] * 20 + [-0.6] * 24 + [0.2] * 10) * 3:
        before = float(s.made)
        now = step(batch, force)["completion"]
        paid += now
        assert now == 0.0 or s.made > before
        begin = max(begin, float(s.behind + s.along))
    assert s.speed[0] < 3.0
    assert paid <= 100.0 * begin / 400.0 + 1e-9


def test_reversing_from_the_start_earns_nothing():
    batch = made(**ALONE)
    assert sum(step(batch, -1.0)["completion"] for _ in range(10)) < 1e-9


def test_beside_its_lane_nothing_is_paid_and_nothing_made_good():
    batch = made(softener=0.0, **ALONE, **UNHELD)
    _, s = put(batch, 0, float(first_metre(batch)) + 1.0, aside=-2.2, speed=5.0)
    assert step(batch)["completion"] == 0.0
    reached = float(s.made)
    put_aside = put(batch, 0, float(s.along), aside=-1.0, speed=5.0)
    assert put_aside[1].made == pytest.approx(reached)
    assert step(batch)["completion"] == pytest.approx(100.0 * 0.5 / 400.0)


@pytest.mark.parametrize("length", [300, 400, 2000])
def test_a_step_pays_its_share_of_the_way(length):
    batch = made(route_length=length, softener=0.0, **ALONE, **UNHELD)
    put(batch, 0, float(first_metre(batch)), speed=8.0)
    assert step(batch)["completion"] == pytest.approx(100.0 * 0.8 / length)


# --- infractions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("colour", "ran"), [(signals.GREEN, 0.0), (signals.YELLOW, 0.0), (signals.RED, 1.0)])
def test_red_lights(colour, ran):
    batch, leg, sign = with_signal(signals.LIGHT)
    p, s = batch.records(0)
    put(batch, leg, float(p.lane[s.way[leg], LENGTH]) - 2.9, speed=6.0)
    show(batch, sign, colour)
    told = step(batch)
    assert told["red_light"] == ran
    assert told["crash"] == -ran
    assert bool(batch.terminated[0]) == bool(ran)
    assert (told["completion"] == 0.0) == bool(ran)
    assert told["end"] == (pytest.approx(-7.0) if ran else 0.0)
    assert (told["synthesis"] == -10.0) == bool(ran)


def test_a_red_light_counts_on_the_wrong_side_too_and_not_behind_its_line():
    for aside, before, ran in ((-4.0, 2.9, 1.0), (0.0, 2.1, 0.0), (0.0, 4.0, 0.0)):
        batch, leg, sign = with_signal(signals.LIGHT)
        p, s = batch.records(0)
        put(batch, leg, float(p.lane[s.way[leg], LENGTH]) - before, aside=aside, speed=6.0)
        show(batch, sign, signals.RED)
        assert step(batch)["red_light"] == ran


def test_stop_signs_ask_for_a_halt_and_pay_no_penalty():
    for halts in (False, True):
        batch, leg, _ = with_signal(signals.STOP)
        p, s = batch.records(0)
        put(batch, leg, float(p.lane[s.way[leg], LENGTH]) - 4.0)
        if halts:
            step(batch)
        s.speed[0] = 6.0
        told = [step(batch) for _ in range(3)]
        assert sum(one["stop_sign"] for one in told) == (0.0 if halts else 1.0)
        assert bool(batch.terminated[0]) != halts
        assert sum(one["crash"] for one in told) == 0.0


def test_signals_can_be_left_out():
    batch = made(level="no_signals")
    assert (batch.records(0)[0].lane_at[:, SIGN] == -1).all()


def test_collisions_end_with_minus_one():
    batch = made(cars=1, walkers=0)
    put(batch, 0, 10.0, speed=8.0)
    beside(batch, 5.3, 0.0, 0.0)
    locate(*batch.records(0))
    told = step(batch)
    assert told["collision"] == 1.0
    assert told["crash"] == -1.0
    assert told["completion"] == 0.0
    assert batch.terminated[0]
    assert not batch.success[0]


def test_pedestrians_are_hit_where_they_are_touched():
    for ahead, aside, hit in ((2.7, 0.0, 1.0), (2.9, 0.0, 0.0), (0.0, 1.2, 1.0), (0.0, 1.4, 0.0)):
        batch = made(cars=0, walkers=1)
        _, s = put(batch, 0, 10.0)
        s.walker_wait[0] = 99.0
        s.walker_x[0] = s.x[0] + ahead * s.cosine[0] - aside * s.sine[0]
        s.walker_y[0] = s.y[0] + ahead * s.sine[0] + aside * s.cosine[0]
        told = step(batch)
        assert told["pedestrian"] == hit
        assert told["crash"] == -hit


def test_off_road_is_a_car_of_which_less_than_a_twentieth_is_left_on_it():
    """The right edge of the street is 2 m from the lane's middle, the car's left side 1 m from its own."""
    for aside, off in ((1.0, 0.0), (2.85, 0.0), (2.95, 1.0)):
        batch = made(**ALONE)
        put(batch, 0, 20.0, aside=aside)
        assert step(batch)["offroad"] == off
        assert bool(batch.terminated[0]) == bool(off)


def test_blocked_is_slower_than_one_kilometre_per_hour_for_90_seconds():
    batch = made(**ALONE)
    _, s = batch.records(0)
    told = [step(batch) for _ in range(901)]
    assert [one["blocked"] for one in told] == [0.0] * 900 + [1.0]
    assert batch.terminated[0]
    batch = made(**ALONE)
    _, s = put(batch, 0, 10.0, speed=0.29)
    step(batch)
    assert s.waited == 0.0
    s.speed[0] = 0.27
    step(batch)
    assert s.waited == pytest.approx(0.1)


def test_thirty_metres_from_the_way_everything_is_over():
    for aside, far in ((29.0, 0.0), (31.0, 1.0)):
        batch = made(mishaps="count", **ALONE)
        put(batch, 0, 20.0, aside=aside)
        assert step(batch)["deviation"] == far
        assert bool(batch.terminated[0]) == bool(far)


def test_counted_infractions_go_on_and_take_success_away():
    batch, leg, sign = with_signal(signals.LIGHT, mishaps="count")
    p, s = batch.records(0)
    put(batch, leg, float(p.lane[s.way[leg], LENGTH]) - 2.9, speed=6.0)
    show(batch, sign, signals.RED)
    assert step(batch)["red_light"] == 1.0
    assert not batch.terminated[0]
    put(batch, int(s.legs) - 1, float(s.goal_at) - 0.1, speed=6.0)
    step(batch)
    assert batch.terminated[0]
    assert not batch.success[0]


def test_the_end_of_the_way_is_a_success():
    batch = made(**ALONE)
    _, s = batch.records(0)
    for before, there in ((1.0, False), (0.3, True)):
        put(batch, int(s.legs) - 1, float(s.goal_at) - before, speed=6.0)
        step(batch)
        assert bool(batch.success[0]) == bool(batch.terminated[0]) == there


# --- the car ----------------------------------------------------------------------------------------------------------


def test_steering_is_smoothed_as_in_vlm_rl():
    batch = made(memory=0.75, **ALONE)
    _, s = batch.records(0)
    step(batch, 0.0, 0.8)
    assert s.steering == pytest.approx(0.2)
    step(batch, 0.0, 0.4)
    assert s.steering == pytest.approx(0.25)


@pytest.mark.parametrize(("force", "speed"), [(1.0, 20.0), (-1.0, -2.0)])
def test_speeds(force, speed):
    batch = made(mishaps="count", **ALONE)
    _, s = batch.records(0)
    step(batch, force)
    assert s.speed[0] == pytest.approx(0.5 * force)
    for _ in range(45):
        s.speed[0] = s.speed[0] + 0.0
        batch.step(np.array([[force, 0.0]], np.float32))
        if batch.terminated[0]:
            break
    assert -2.0 <= s.speed[0] <= 20.0
    put(batch, 0, 10.0, speed=0.98 * speed)
    s.over = 0
    assert float(s.speed[0]) == pytest.approx(0.98 * speed)
    route_drive.command(*batch.records(0), np.array([force, 0.0]))
    assert s.speed[0] + 0.1 * s.acceleration[0] == pytest.approx(speed)


# --- traffic ----------------------------------------------------------------------------------------------------------


def test_other_cars_keep_the_rules():
    """Nobody reverses or drives much faster than allowed, and hardly anybody passes a red light or a stop sign."""
    batch, faults, crossings = made(seed=5, mishaps="count", patience=180.0), 0, 0
    p, s = batch.records(0)
    lines = np.where(s.station[1:] + 2.5 < p.lane[s.lane_of[1:], LENGTH], s.lane_of[1:], -1)
    for _ in range(400):
        halted, clock = np.array(s.halted), float(s.clock)
        step(batch)
        assert (s.speed[1 : s.movers] >= -1e-9).all()
        for i in range(1, s.movers):
            k, before = int(s.lane_of[i]), int(lines[i - 1])
            over = before >= 0 and k != before
            if over:
                sign = int(p.lane_at[before, SIGN])
                crossings += sign >= 0
                if sign >= 0 and p.signal[sign, signals.KIND] == signals.STOP:
                    faults += halted[i] != before
                elif sign >= 0:
                    faults += signals.colour(p.signal, sign, clock - 1.0) == signals.RED
            lines[i - 1] = k
    assert crossings > 20
    assert faults <= 0.1 * crossings


def test_who_crashes_comes_back_elsewhere():
    batch = made(seed=1)
    _, s = batch.records(0)
    s.crashed[3], x, y = True, float(s.x[3]), float(s.y[3])
    for _ in range(55):
        step(batch)
    assert not s.crashed[3]
    assert math.hypot(s.x[3] - x, s.y[3] - y) > 10.0
    assert route_town.apart(s, 3, s.x[0], s.y[0]) > 40.0


def test_nobody_starts_beside_another():
    batch = made(10, level="dense")
    for i in range(10):
        _, s = batch.records(i)
        places = np.stack([s.x, s.y], 1)[: s.movers]
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)[~np.eye(len(places), dtype=bool)]
        assert gaps.min() > 3.9
        assert not s.crashed.any()


def test_towns_lie_apart_and_an_episode_has_one():
    batch = made(40)
    found = set()
    for i in range(40):
        p, s = batch.records(i)
        found.add(int(s.town))
        lanes = p.slot[p.slots_of[s.town, 0] : p.slots_of[s.town, 1], 0].astype(int)
        x = p.lane[lanes, 0]
        assert (s.x[: s.movers] > x.min() - 20.0).all()
        assert (s.x[: s.movers] < x.max() + 20.0).all()
        assert (s.walker_x > x.min() - 20.0).all()
        assert (s.walker_x < x.max() + 20.0).all()
    assert found == {0, 1, 2, 3}


# --- what is seen -----------------------------------------------------------------------------------------------------


def test_the_line_ahead():
    batch, leg, sign = with_signal(signals.LIGHT)
    p, s = batch.records(0)
    put(batch, leg, float(p.lane[s.way[leg], LENGTH]) - 22.5)
    for colour in range(3):
        show(batch, sign, colour)
        batch.recompute_observations()
        row = batch.observations[0, 0]
        assert row[8] == pytest.approx(20.0 / 30.0 - 1.0, abs=1e-6)
        assert row[9:14].tolist() == [float(n == colour) for n in range(5)]


def test_the_nearest_cars_and_pedestrians_are_seen():
    batch = made(seed=3, seen_cars=2, seen_walkers=1)
    _, s = put(batch, 0, 10.0)
    s.x[1:], s.walker_x[:] = 5000.0, 5000.0
    beside(batch, 20.0, -5.0, 10.0, 0.5 * math.pi)
    s.walker_x[0] = s.x[0] + 10.0 * s.cosine[0] - 5.0 * s.sine[0]
    s.walker_y[0] = s.y[0] + 10.0 * s.sine[0] + 5.0 * s.cosine[0]
    batch.recompute_observations()
    cars, walker = batch.observations[0, 0, 29:41].reshape(2, 6), batch.observations[0, 0, 41:46]
    assert cars[0].tolist() == pytest.approx([1.0, 0.4, -0.1, 0.0, 1.0, 0.5], abs=1e-6)
    assert not cars[1].any()
    assert walker.tolist() == pytest.approx([1.0, 0.2, 0.1, 0.0, 0.0], abs=1e-6)


def test_masks_from_above():
    """64 x 64 pixels of a metre, the car 25 pixels from the bottom and looking up."""
    batch = made(observation="birdview", cars=1, walkers=1)
    _, s = put(batch, 0, 20.0)
    beside(batch, 20.0, -4.0, 0.0)
    s.walker_x[0] = s.x[0] + 10.5 * s.cosine[0] - 5.5 * s.sine[0]
    s.walker_y[0] = s.y[0] + 10.5 * s.sine[0] + 5.5 * s.cosine[0]
    batch.recompute_observations()
    pixels = batch.images["birdview"][0, 0]
    assert pixels.shape == (64, 64, 5)
    rows, columns = np.nonzero(pixels[..., route_senses.OTHERS])
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (16, 21, 27, 29)
    assert np.argwhere(pixels[..., route_senses.PEOPLE]).tolist() == [[28, 37]]
    assert pixels[39, 31:33, route_senses.ROAD].all()
    assert pixels[30, 31:33, route_senses.WAY].all()
    assert not pixels[39, 36:, route_senses.ROAD].any()
    assert set(np.unique(pixels)) <= {0, 128, 255}


# --- attacks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mishaps", ["end", "count"])
def test_all_cars_at_one_spot(mishaps):
    batch = made(cars=63, walkers=60, mishaps=mishaps)
    _, s = batch.records(0)
    s.x[:], s.y[:] = s.x[0], s.y[0]
    s.walker_x[:], s.walker_y[:] = s.x[0], s.y[0]
    for _ in range(20):
        batch.expert_actions()
        told = step(batch, 1.0, 0.3)
        assert np.isfinite(list(told.values())).all()
        assert np.isfinite(batch.observations).all()
        if batch.terminated[0]:
            break
    assert not batch.truncated[0]
    assert told["collision"] == 1.0 or mishaps == "count"


EXTREMES = st.fixed_dictionaries(
    {
        "grip": st.sampled_from([0.3, 1.0]),
        "memory": st.sampled_from([0.0, 0.95]),
        "bold": st.sampled_from([0.0, 1.0]),
        "grace": st.sampled_from([0.0, 1.0]),
        "softener": st.sampled_from([0.0, 1.0]),
        "patience": st.sampled_from([5.0, 180.0]),
    }
)
LEVELS = [{}, {"level": "empty"}, {"level": "dense", "mishaps": "count", "comfort": "nuplan"}]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), EXTREMES, st.sampled_from(LEVELS))
def test_what_holds_in_every_episode(seed, extremes, level):
    batch, dice = made(2, seed, **level, **extremes), np.random.default_rng(seed)
    paid = np.zeros(2)
    push = dice.uniform(-0.2, 1.0)
    for _ in range(80):
        if batch.states["over"].any():
            break
        batch.step(np.clip(dice.normal([push, 0.0], [0.5, 0.2], (2, 2)), -1.0, 1.0).astype(np.float32))
        assert np.isfinite(batch.observations).all()
        assert np.isfinite(batch.terms).all()
        assert not batch.truncated.any()
        factor = batch.states["factors"]
        assert ((factor >= 0.0) & (factor <= 1.0)).all()
        assert ((batch.terms[:, 0, 0] >= 0.0) & (batch.terms[:, 0, 0] <= 1.0)).all()
        assert (batch.terms[:, 7, 0] <= 1.0).all()
        paid += batch.terms[:, 0, 0]
        assert (paid <= 100.0 * batch.states["made"] / 400.0 + 1e-9).all()


def test_more_cars_than_places_are_refused():
    with pytest.raises(ParameterError, match="do not fit"):
        made(cars=63, columns=2, rows=2)
    with pytest.raises(ParameterError, match="patience"):
        made(patience=1.0)


def test_a_full_town_has_a_place_for_every_car():
    """Cars that keep a place free beside them would not all find one."""
    batch = KernelBatch(route_drive.SPEC, 1, backend="python", columns=2, rows=2, towns=1, cars=23, walkers=0)
    for seed in range(3):
        with lines_counted(f"seed {seed}"):
            batch.seed([seed])
            batch.reset()
        _, s = batch.records(0)
        places = np.stack([s.x[: s.movers], s.y[: s.movers]], 1)
        apart = np.linalg.norm(places[:, None] - places, axis=-1)[np.triu_indices(24, 1)]
        assert apart.min() > 3.0  # the other lane is nearest


def test_one_pedestrian_of_ten_does_not_look():
    assert route_drive.SPEC.params["bold"].default == 0.1  # ours; too small a share to be counted in few starts
    assert not made(walkers=60, bold=0.0).records(0)[1].walker_bold.any()
    assert made(walkers=60, bold=1.0).records(0)[1].walker_bold.all()


def test_smallest_and_largest_towns():
    for keywords in ({"columns": 2, "rows": 2, "towns": 1, "cars": 8}, {"columns": 6, "rows": 6, "towns": 8}):
        batch = made(2, **keywords, seen_cars=0, seen_walkers=0)
        for _ in range(3):
            batch.step(batch.expert_actions())
        assert np.isfinite(batch.observations).all()


# --- who drives -------------------------------------------------------------------------------------------------------


class FromTheStart(np.ndarray):
    """An array that refuses indices that count from its end, which NumPy and kernels take."""

    def __getitem__(self, key):
        assert all(n >= 0 for n in (key if isinstance(key, tuple) else (key,)) if isinstance(n, (int, np.integer)))
        return super().__getitem__(key)


def test_where_others_will_be_is_foreseen_on_their_own_lanes():
    """`lane_at[-1]` is a lane too, of another road: fuzz.py found it asked for the place of all others."""
    batch = made(seed=0)
    names = batch.records(0)[0].dtype.names, batch.records(0)[1].dtype.names
    for _ in range(20):
        batch.step(batch.expert_actions())
    p, s = (
        SimpleNamespace(
            **{
                name: value.view(FromTheStart) if isinstance(value := getattr(record, name), np.ndarray) else value
                for name in own
            }
        )
        for record, own in zip(batch.records(0), names, strict=True)
    )
    for j in range(1, s.movers):
        route_expert.foresee(p, s, j)
    assert np.isfinite(s.guess[1 : s.movers]).all()


def test_the_expert_gets_there_and_dice_do_not():
    totals, success = play(made(8, seed=200), lambda batch: batch.expert_actions())
    assert success.mean() >= 0.75
    assert totals[:, 0].mean() > 60.0
    dice = np.random.default_rng(0)
    totals, lucky = play(made(8), lambda batch: dice.uniform(-1.0, 1.0, (8, 2)).astype(np.float32))
    assert not lucky.any()
    assert totals[:, 0].mean() < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("mishaps", ["end"])
def test_the_expert_has_95_percent_of_routes_without_infraction(mishaps):
    totals, success = play(made(200, seed=1000, mishaps=mishaps), lambda batch: batch.expert_actions())
    assert success.mean() >= 0.95
    assert (totals[:, len(TERMS) :].sum(1) > 0).mean() <= 0.05
