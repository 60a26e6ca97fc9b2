"""MicroRacerRace: each car as in MicroRacer, contacts, ranks, drivers, and its championship."""

import math
from functools import partial

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.racing import micro_racer_race, track
from rlenvs.robotics.racing.micro_racer import LAP, OFF_TRACK, RACING, seen_thickness
from rlenvs.robotics.racing.micro_racer_race import SPEC, placing

ID = "MicroRacerRace-v0"
OWN = ("start_speed", "car_size")
SIZE = SPEC.params["car_size"].default


batch_of = partial(begun, ID, autoreset=AutoresetMode.DISABLED)


def drive_on(batch, choose, most=3000):
    """Step the worlds that are not over by what `choose` gives; the contacts of all cars."""
    column = [*SPEC.terms, *SPEC.costs].index("contact")
    contacts = np.zeros((batch.num_envs, batch.agents))
    for _ in range(most):
        awake = ~batch.states["over"].astype(bool)
        if not awake.any():
            break
        batch.actions[...] = choose(batch)
        batch.step_inplace(only=awake)
        contacts += batch.terms[:, column] * awake[:, None]
    return contacts


def put(s, k, x, y, heading, speed):
    s.position[k], s.heading[k], s.speed[k], s.angle[k] = (x, y), heading, speed, math.atan2(y, x)
    s.driven[k] = -s.angle[k]


def test_a_car_moves_and_sees_as_in_micro_racer():
    """To the bit, while the other is out of the way."""
    race, alone = batch_of(track_seed=7), rlenvs.make_batch("MicroRacer-v0", 1, track_seed=7, start_speed=0.1)
    alone.seed([0])
    alone.reset()
    s, t, rng = race.records(0)[1], alone.records(0)[1], np.random.default_rng(0)
    s.gone[1] = True
    put(s, 0, *t.position, float(t.heading), float(t.speed))
    for _ in range(60):
        action = np.array([rng.uniform(0, 1), rng.uniform(-0.2, 0.2)])
        race.step(np.stack([action, action])[None])
        alone.step(action[None])
        assert s.position[0].tolist() == t.position.tolist()
        assert (float(s.heading[0]), float(s.speed[0])) == (float(t.heading), float(t.speed))
        assert s.lidar[0].tolist() == t.lidar.tolist()
        assert np.array_equal(race.observations[0, 0], alone.observations[0, 0])
        if t.end != RACING:
            break
    assert s.end[0] == t.end


def test_the_grid():
    """Two rows 1 cm beside the midline, 2 cm from car to car, all behind the line, at the same speed, apart."""
    s = batch_of(agents=8).records(0)[1]
    assert (s.driven < 0.0).all()
    assert (np.diff(s.driven) < 0.0).all()
    assert (s.speed == 0.1).all()
    gaps = [math.dist(s.position[j], s.position[k]) for j in range(8) for k in range(j)]
    assert min(gaps) > 2 * SIZE
    along = -np.diff(s.driven) * np.hypot(*s.position.T)[:-1]
    assert along.mean() == pytest.approx(0.02, abs=0.004)
    edges = [track.border_gap(s.border, s.angle[k], *s.position[k]) for k in range(8)]
    assert edges == pytest.approx([0.01] * 8, abs=0.002)


def test_the_lidar_sees_cars_as_discs():
    batch = batch_of(chicanes=False, obstacles=False)
    p, s = batch.records(0)
    x, y, c, sn = *s.position[0], math.cos(s.heading[0]), math.sin(s.heading[0])
    free, out = np.zeros(19), np.zeros(19)
    gap = track.border_gap(s.border, s.angle[0], x, y)
    given = (x, y, s.heading[0], s.angle[0], seen_thickness(p), p.field_of_view, gap, c, sn)
    track.scan(s, free, *given)
    track.scan(s, out, *given)
    ahead, left = 0.03, 0.004
    track.scan_disc(s.fan, out, x, y, c, sn, x + ahead * c - left * sn, y + ahead * sn + left * c, SIZE)
    for j, angle in enumerate(np.linspace(-math.pi / 6, math.pi / 6, 19)):
        a, b = math.cos(angle), math.sin(angle)
        along, across = ahead * a + left * b, left * a - ahead * b
        met = along - math.sqrt(SIZE**2 - across**2) if abs(across) < SIZE else math.inf
        assert out[j] == pytest.approx(min(met, free[j]), abs=1e-12)
    assert (out < free).sum() >= 4
    track.scan_disc(s.fan, out, x, y, c, sn, x + 0.5 * SIZE, y, SIZE)
    assert (out == 0.0).all()


def test_a_contact_costs_both_and_slows_the_car_behind():
    batch = batch_of(chicanes=False, obstacles=False, track_seed=3)
    s = batch.records(0)[1]
    c, sn = math.cos(s.heading[0]), math.sin(s.heading[0])
    put(s, 1, s.position[0, 0] - 0.009 * c, s.position[0, 1] - 0.009 * sn, float(s.heading[0]), 0.2)
    batch.step(np.zeros(batch.actions.shape))
    assert batch.costs[0].tolist() == [1.0, 1.0]
    assert s.speed.tolist() == [0.1, 0.1]
    assert s.end.tolist() == [RACING, RACING]
    s.speed[1] = 0.05  # never below the speed at which the low-speed rule ends a race
    batch.step(np.zeros(batch.actions.shape))
    assert s.speed[1] == 0.05


def test_terms_and_ranks():
    batch = batch_of(chicanes=False, obstacles=False, track_seed=3)
    s, names = batch.records(0)[1], list(SPEC.terms)
    s.driven[0] = 2 * math.pi - 1e-9  # the next step completes the lap
    batch.step(np.zeros(batch.actions.shape))
    terms = {name: batch.terms[0, n] for n, name in enumerate(names)}
    assert terms["progress"] == pytest.approx([0.004, 0.004])
    assert terms["finish"].tolist() == [1.0, 0.0]
    assert batch.success[0].tolist() == [True, False]
    assert batch.terminated[0].tolist() == [True, False]
    s.driven[1] = 2 * math.pi - 1e-9
    batch.step(np.zeros(batch.actions.shape))
    assert batch.terms[0, names.index("finish")].tolist() == [0.0, 0.5]
    assert not batch.success[0].any()
    first, second = placing(*batch.records(0))
    assert first > second > 2 * math.pi


def test_who_leaves_the_track_is_out_and_ranked_by_its_way():
    batch = batch_of(3, agents=3)
    for _ in range(200):
        awake = ~batch.states["over"].astype(bool)
        if not awake.any():
            break
        batch.actions[...] = batch.player_actions(["racer", "racer", None])
        batch.actions[:, 2] = (0.0, 0.5)
        batch.step_inplace(only=awake)
    for i in range(3):
        s = batch.records(i)[1]
        assert s.end[2] == OFF_TRACK
        assert s.gone[2]
        assert np.argmin(placing(*batch.records(i))) == 2


@pytest.mark.parametrize(("keywords", "least"), [({}, 0.97), ({"agents": 8}, 0.97), ({"level": "hard"}, 0.93)])
def test_the_driver_finishes(keywords, least):
    batch = batch_of(20, **keywords)
    contacts = drive_on(batch, lambda batch: batch.expert_actions())
    assert (batch.states["end"] == LAP).mean() >= least
    assert contacts.mean() < 60  # of some 1200 steps


def test_the_faster_driver_passes():
    batch = batch_of(20, chicanes=False)
    drive_on(batch, lambda batch: batch.player_actions(["cautious", "racer"]))
    assert (batch.states["end"] == LAP).all()
    assert all(np.argmax(placing(*batch.records(i))) == 1 for i in range(20))


def test_random_cars_do_not_finish():
    rng = np.random.default_rng(0)
    batch = batch_of(20)
    drive_on(batch, lambda batch: rng.uniform(-1, 1, batch.actions.shape))
    assert not (batch.states["end"] == LAP).any()


def test_the_championship():
    found = rlenvs.tournament(ID, ["racer", "cautious", "random"], games=10)
    assert found.players == ("racer", "cautious", "random")
    assert found.draws.sum() == 0


def test_ranks_of_a_race_of_four():
    """Who finishes second is not ranked behind who finishes third, though it is gone earlier."""
    found = rlenvs.tournament(ID, ["racer", "cautious", "longest_ray", "random"], games=8, agents=4)
    assert found.players[-1] == "random"
    assert found.players.index("racer") < found.players.index("cautious")


@given(st.integers(0, 2**30))
@settings(max_examples=8, deadline=None)
def test_eight_cars_at_one_spot_stay_finite(seed):
    batch, rng = batch_of(agents=8), np.random.default_rng(seed)
    s = batch.records(0)[1]
    for k in range(8):
        put(s, k, *s.position[0], float(s.heading[0]), float(rng.uniform(0.05, 0.5)))
    drive_on(batch, lambda batch: batch.expert_actions() + rng.normal(0, 0.1, batch.actions.shape), 50)
    assert np.isfinite(batch.observations).all()
    assert all(np.isfinite(s[name]).all() for name in ("position", "heading", "speed", "driven", "lidar"))
    assert (s.speed[np.asarray(s.end) == RACING] >= 0.05).all()


@pytest.mark.parametrize("keywords", [{"agents": 1}, {"agents": 9}, {"laps": 0}, {"car_size": 0.5}])
def test_what_cannot_be_raced_is_refused(keywords):
    with pytest.raises(ParameterError, match=next(iter(keywords))):
        rlenvs.make_batch(ID, 1, **keywords)


def test_numbers_that_races_do_not_show():
    """Ranges, weights, limits, drivers: each as the world's page states it."""
    ranges = {name: (SPEC.params[name].default, SPEC.params[name].low, SPEC.params[name].high) for name in OWN}
    assert ranges == {"start_speed": (0.1, 0.06, 0.5), "car_size": (0.008, 0.004, 0.012)}
    weights = {name: (term.low, term.high, term.weight) for name, term in SPEC.terms.items()}
    assert weights == {
        "progress": (0.0, 0.5, 1.0),
        "failure": (-1.0, 0.0, 3.0),
        "finish": (0.0, 1.0, 3.0),
        "overtake": (-8, 8, 0.2),
    }
    assert {name: cost.limit for name, cost in SPEC.costs.items()} == {"contact": 25.0, "near_edge": 25.0}
    assert (SPEC.options["agents"].low, SPEC.options["agents"].high, SPEC.options["laps"].high) == (2, 8, 10)
    assert {name: level for name, level in SPEC.levels.items() if name != "easy"} == {
        "hard": {"width": 0.035, "acceleration": 0.2, "kerb": 0.0},
        "pack": {"agents": 8},
    }
    assert rlenvs.make_batch(ID, 1, laps=3, backend="python").setup.horizon == 7500


def test_the_cautious_driver_drives_at_no_more_than_15_cm_per_second():
    batch = batch_of(2)
    fastest = np.zeros(2)
    for _ in range(150):
        batch.actions[...] = batch.player_actions(["racer", "cautious"])
        batch.step_inplace()
        fastest = np.maximum(fastest, batch.states["speed"].max(axis=0))
    assert fastest[0] > 0.2
    assert 0.13 < fastest[1] <= 0.1541  # a step changes it by 0.004


def test_cars_on_other_parts_of_the_track_are_not_seen():
    """Rays end at cars within 1.5 rad of polar angle: others are behind the walls of the track."""
    assert micro_racer_race.SAME_PART == 1.5
    assert micro_racer_race.MOST_CARS == 8
