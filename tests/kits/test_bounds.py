"""Bounds of lap times: against physics where it is known, against motions that keep the rules, and against laps."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlenvs.kits.tracks import bounds, files, line

USUAL = {"drive": 9.51, "switch": 7.319, "top": 20.0}


def circle(radius=10.0, width=0.5):
    angles = np.arange(60) * math.pi / 30
    return files.road_through(np.stack([radius * np.cos(angles), radius * np.sin(angles)], 1), width=width, cells=256)


def test_a_motor_takes_the_time_that_summing_up_gives():
    for distance in (0.5, 2.0, 30.0, 70.0):
        way = speed = time = 0.0
        while way < distance:
            speed = min(speed + 1e-5 * 9.51 * min(1.0, 7.319 / max(speed, 1e-9)), 20.0)
            way, time = way + 1e-5 * speed, time + 1e-5
        assert bounds.time_from_rest(distance, **USUAL) == pytest.approx(time, abs=1e-3)


def test_on_a_narrow_circle_the_bound_is_nearly_what_physics_gives():
    """Friction 0.5, 10 m: a flying lap takes 8.97 s. What is lost is the width of the road, seen from each sector."""
    road = circle()
    flying = 2.0 * math.pi * math.sqrt(10.0 / (0.5 * 9.81))
    sectors = bounds.least_sums(bounds.least_sectors(bounds.gates(road, 0.2), 0.5 * 9.81, 50.0))
    assert 0.95 * flying < sectors[0] < flying
    assert bounds.least_distances(bounds.gates(road, 0.0))[0] == pytest.approx(2.0 * math.pi * 9.75, rel=0.01)
    assert bounds.least_distances(bounds.gates(road, 0.0))[0] < 2.0 * math.pi * 9.75


@given(st.integers(0, 2**30), st.floats(0.5, 12.0))
@settings(max_examples=20, deadline=None)
def test_no_motion_with_bounded_acceleration_is_faster_through_three_gates(seed, most):
    rng = np.random.default_rng(seed)
    pushes = rng.normal(size=(60, 2)).cumsum(axis=0)
    pushes *= most / np.maximum(np.hypot(*pushes.T)[:, None], 1e-9)
    velocity = rng.uniform(-4.0, 4.0, 2) + np.vstack([[0.0, 0.0], pushes.cumsum(axis=0) * 0.02])
    places = np.vstack([[0.0, 0.0], (0.02 * velocity[:-1] + 0.5 * 0.02**2 * pushes).cumsum(axis=0)])
    middle = int(rng.integers(1, 60))
    gate = places[[0, middle, 60]]
    turned, room = rng.normal(size=(3, 2)), rng.uniform(0.0, 0.3, (3, 2, 1))
    ends = gate[:, None] + np.array([-1.0, 1.0])[None, :, None] * room * turned[:, None]
    assert bounds.least_sectors(ends, most, 1e3)[0, 2] <= 60 * 0.02 + 1e-9


def test_three_gates_in_a_row_take_no_time_and_three_around_a_corner_do():
    def gate(x, y):
        return [[x, y], [x, y]]

    assert bounds.least_sectors(np.array([gate(0, 0), gate(1, 0), gate(2, 0)]), 1.0, 1e9)[0, 2] < 1e-6
    # there and back by 1 m at 1 m/s^2, the turn at half the time: 4 / T = T / 2
    there = bounds.least_sectors(np.array([gate(0, 0), gate(1, 0), gate(0, 0)]), 1.0, 1e9)[0, 2]
    assert there == pytest.approx(math.sqrt(8.0), rel=1e-9)


@pytest.mark.parametrize(("name", "least"), [("club", 7.9), ("oval", 5.8), ("eight", 6.7)])
def test_bounds_of_named_tracks_lie_below_laps_and_not_far(name, least):
    road = files.named_road(name, cells=256)
    start = (float(road[0, 0]), float(road[0, 1]))
    any_tyres = bounds.least_laps(road, start, 0.155, 1, **USUAL)
    sliding = bounds.least_laps(road, start, 0.155, 1, **USUAL, grip=1.0489)
    best, speeds, _ = line.fast_line(road, margin=0.155, grip=1.0489, brake=1.0489 * 9.81, rounds=10, **USUAL)
    driven = line.standing_time(road, best, speeds, 1, (1.0489, *USUAL.values()))
    assert any_tyres < least < sliding < driven < 1.15 * sliding
    assert bounds.least_laps(road, start, 0.155, 3, **USUAL, grip=1.0489) > sliding + 1.5 * any_tyres
