"""DriveTogether: cars, routes, goals, collisions, the road, what agents see, and an expert who gets there."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun

from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.roads.lanes import END, ROAD, START, along_and_across, heading_on, point_on
from rlenvs.kits.traffic.lane_lists import sort_by_x
from rlenvs.robotics.driving import town_cars

TOGETHER = "DriveTogether-v0"
PROGRESS, GOAL, COLLISION, OFFROAD = range(4)


made = partial(begun, TOGETHER, autoreset=AutoresetMode.DISABLED)


def idle(batch):
    return np.zeros((batch.num_envs, batch.setup.agents, 2), np.float32)


def play(batch, choose):
    """Play all worlds to their end; terms summed over steps, and who reached its goal."""
    shape = (batch.num_envs, batch.setup.agents)
    totals, success, alive = np.zeros((*shape, 4)), np.zeros(shape, bool), np.ones(shape, bool)
    while alive.any():
        batch.load_actions(choose(batch))
        batch.step_inplace(only=alive.any(1))
        totals[alive] += np.swapaxes(batch.terms, 1, 2)[alive]
        success[alive] = batch.success[alive]
        alive &= ~(batch.terminated | batch.truncated)
    return totals, success


def put(batch, k, x, y, heading=0.0, speed=0.0):
    """Put car k of world 0 elsewhere, off its route or on it."""
    p, s = batch.records(0)
    s.x[k], s.y[k], s.heading[k], s.speed[k] = x, y, heading, speed
    s.sine[k], s.cosine[k] = math.sin(heading), math.cos(heading)
    s.station[k], s.aside[k] = along_and_across(p, s.route[k, s.stage[k]], x, y)
    sort_by_x(s, p.agents)


def test_a_car_turns_on_the_circle_of_its_steering():
    """Radius: half the length over the sine of the slip angle, whose tangent is half that of the steering angle."""
    batch = made(agents=1, mishaps="count")
    _, s = batch.records(0)
    s.speed[0] = 4.0
    actions = idle(batch)
    actions[0, 0, 1] = 0.8
    slip = math.atan(0.5 * math.tan(0.8 * 0.25 * math.pi))
    turned = -float(s.heading[0])
    for _ in range(10):
        batch.step(actions)
    turned = (turned + float(s.heading[0]) + math.pi) % (2 * math.pi) - math.pi
    assert turned == pytest.approx(4.0 * 1.0 / (2.5 / math.sin(slip)), abs=1e-7)


@pytest.mark.parametrize(("one", "speed"), [(1.0, 20.0), (-1.0, -2.0)])
def test_speeds(one, speed):
    """5 m/s^2 at 1, from -2 to 20 m/s."""
    batch = made(agents=1, mishaps="count")
    actions = idle(batch)
    actions[0, 0, 0] = one
    batch.step(actions)
    assert batch.states["speed"][0, 0] == pytest.approx(0.5 * one)
    for _ in range(45):
        batch.step(actions)
    assert batch.states["speed"][0, 0] == speed


@pytest.mark.parametrize(
    ("x", "y", "heading", "touching"),
    [(4.9, 0.0, 0.0, True), (5.1, 0.0, 0.0, False), (0.0, 1.9, 0.0, True), (0.0, 2.1, 0.0, False)]
    + [(3.4, 0.0, 0.5 * math.pi, True), (3.6, 0.0, 0.5 * math.pi, False), (0.0, 3.4, -0.5 * math.pi, True)]
    + [(3.3, 2.4, 0.25 * math.pi, True), (3.3, 3.3, -0.25 * math.pi, False)],
)
def test_rectangles_of_5_by_2_metres_collide(x, y, heading, touching):
    batch = made(agents=2, mishaps="count")
    put(batch, 0, 1000.0, 500.0)
    put(batch, 1, 1000.0 + x, 500.0 + y, heading)
    batch.step(idle(batch))
    assert batch.states["hit"][0].tolist() == [touching] * 2
    assert batch.terms[0, COLLISION].tolist() == [float(touching)] * 2
    assert batch.terms[0, OFFROAD].tolist() == [1.0, 1.0]


@settings(max_examples=40, deadline=None)
@given(st.floats(-6.0, 6.0), st.floats(-6.0, 6.0), st.floats(-3.1, 3.1))
def test_cars_overlap_where_polygons_do(x, y, heading):
    def corners(x, y, heading):
        c, s = math.cos(heading), math.sin(heading)
        return np.array([(x + c * u - s * v, y + s * u + c * v) for u in (-2.5, 2.5) for v in (-1.0, 1.0)])

    one, two, apart = corners(0.0, 0.0, 0.3), corners(x, y, heading), -math.inf
    for angle in (0.3, 0.3 + 0.5 * math.pi, heading, heading + 0.5 * math.pi):
        axis = np.array([math.cos(angle), math.sin(angle)])
        a, b = one @ axis, two @ axis
        apart = max(apart, b.min() - a.max(), a.min() - b.max())
    if abs(apart) < 1e-6:
        return
    batch = made(agents=2)
    put(batch, 0, 0.0, 0.0, 0.3)
    put(batch, 1, x, y, heading)
    _, s = batch.records(0)
    assert bool(town_cars.overlap(s, 0, 1)) == (apart < 0.0)


def test_who_collides_is_out_and_its_car_is_taken_away():
    batch = made(agents=3)
    x, y = batch.states["x"][0, 0], batch.states["y"][0, 0]
    put(batch, 1, x + 1.0, y)
    batch.step(idle(batch))
    assert batch.terminated[0].tolist() == [True, True, False]
    assert batch.states["here"][0].tolist() == [False, False, True]
    assert not batch.success.any()
    assert not batch.observations[0, 2, 20:].any()  # nobody is left to be seen


def test_leaving_the_road():
    """With its middle more than 2 m from the middle of every lane."""
    for aside, off in ((1.9, False), (2.1, True), (-2.1, False), (-6.1, True)):  # the lane beside comes the other way
        batch = made(agents=1)
        p, s = batch.records(0)
        x, y = point_on(p, s.route[0, 0], s.station[0], aside)
        put(batch, 0, float(x), float(y), float(s.heading[0]))
        batch.step(idle(batch))
        assert bool(batch.terminated[0, 0]) == off
        assert batch.terms[0, OFFROAD, 0] == float(off)


def test_what_was_made_before_is_not_paid_again():
    batch = made(agents=1)
    p, s = batch.records(0)
    first, actions = float(town_cars.metres_left(p, s, 0)), idle(batch)
    paid = 0.0
    for force in [0.5] * 20 + [-0.9] * 40 + [0.6] * 30:
        actions[0, 0, 0] = force
        batch.step(actions)
        paid += batch.terms[0, PROGRESS, 0]
        assert not batch.terminated.any()
        assert paid == pytest.approx(0.1 * (first - s.left[0]))
    assert paid < 0.1 * 20.0 * 9.0


def test_the_goal_ends_the_episode():
    batch = made(agents=1)
    p, s = batch.records(0)
    s.stage[0] = s.legs[0] - 1
    for away, reached in ((3.2, False), (2.8, True)):
        lane = s.route[0, s.stage[0]]
        x, y = point_on(p, lane, s.goal_at[0] - away, 0.0)
        put(batch, 0, float(x), float(y), float(heading_on(p, lane, s.goal_at[0])))
        batch.step(idle(batch))
        assert bool(batch.terminated[0, 0]) == reached
        assert bool(batch.success[0, 0]) == reached
        assert batch.terms[0, GOAL, 0] == float(reached)


def test_faults_that_are_counted_take_success_away():
    batch = made(agents=1, mishaps="count")
    _, s = batch.records(0)
    put(batch, 0, 1000.0, 0.0)
    batch.step(idle(batch))
    assert not batch.terminated.any()
    s.stage[0] = s.legs[0] - 1
    put(batch, 0, float(s.goal[0, 0]), float(s.goal[0, 1]))
    batch.step(idle(batch))
    assert batch.terminated[0, 0]
    assert not batch.success[0, 0]


def test_starts():
    """Distinct places 8 m apart and up to 1 m beside; routes of two to four streets that hang together."""
    batch = made(20, agents=64)
    legs = batch.states["legs"]
    assert set(legs.ravel()) == {3, 5, 7}
    for i in range(20):
        p, s = batch.records(i)
        places = np.stack([s.x, s.y], 1)
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)[~np.eye(64, dtype=bool)]
        assert gaps.min() >= 4.0
        for k in range(64):
            roads = [p.road[p.lane_at[n, ROAD]] for n in s.route[k, : s.legs[k]]]
            assert all(a[END] == b[START] for a, b in itertools.pairwise(roads))
        assert not s.hit.any()


def test_what_an_agent_sees_of_the_nearest_cars():
    batch = made(agents=4, seen_cars=2)
    put(batch, 0, 0.0, 0.0, 0.5 * math.pi, 3.0)
    put(batch, 1, 0.0, 20.0, 0.0, 10.0)
    put(batch, 2, 39.0, 20.0)
    put(batch, 3, -8.0, 0.0, -0.5 * math.pi, 5.0)
    batch.recompute_observations()
    rows = batch.observations[0, 0, 20:].reshape(2, 6)
    assert rows[0].tolist() == pytest.approx([1.0, 0.0, 0.2, -1.0, 0.0, 0.25], abs=1e-6)
    assert rows[1].tolist() == pytest.approx([1.0, 0.5, 0.0, 0.0, -1.0, 0.5], abs=1e-6)
    put(batch, 1, 0.0, 300.0)
    batch.recompute_observations()
    assert not batch.observations[0, 0, 26:].any()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0, 3, 8]))
def test_the_nearest_are_those_that_a_search_finds(seed, seen):
    batch = made(seed=seed, agents=40, seen_cars=seen)
    _, s = batch.records(0)
    places = np.stack([s.x, s.y], 1)
    for k in (0, 17, 39):
        far = np.linalg.norm(places - places[k], axis=1)
        far[k] = np.inf
        wanted = np.sort(far[far <= 40.0])[:seen] / 40.0
        rows = batch.observations[0, k, 20:].reshape(seen, 6)
        found = np.hypot(rows[:, 1], rows[:, 2])[rows[:, 0] == 1.0]
        assert found == pytest.approx(wanted, abs=1e-5)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["end", "count"]), st.sampled_from(["continuous", "discrete"]))
def test_what_holds_in_every_episode(seed, mishaps, actions):
    batch, dice = made(seed=seed, mishaps=mishaps, actions=actions), np.random.default_rng(seed)
    for _ in range(60):
        if batch.states["over"][0]:
            break
        if actions == "continuous":
            batch.step(dice.uniform(-1.0, 1.0, (1, 16, 2)).astype(np.float32))
        else:
            batch.step(dice.integers(0, [5, 9], (1, 16, 2)))
        assert np.isfinite(batch.observations).all()
        assert np.abs(batch.observations).max() <= 1.0
        assert (batch.terms[0, PROGRESS] >= 0.0).all()


def test_all_cars_at_one_spot():
    for mishaps in ("end", "count"):
        batch = made(agents=64, mishaps=mishaps)
        x, y = float(batch.states["x"][0, 0]), float(batch.states["y"][0, 0])
        for k in range(64):
            put(batch, k, x, y)
        batch.expert_actions()
        batch.step(idle(batch))
        assert batch.states["hit"].all()
        assert np.isfinite(batch.observations).all()


def test_more_cars_than_places_are_refused():
    with pytest.raises(ParameterError, match="do not fit"):
        made(agents=64, columns=2, rows=2)


def test_the_expert_gets_there_and_dice_do_not():
    for actions in ("continuous", "discrete"):
        totals, success = play(made(5, actions=actions), lambda batch: batch.expert_actions())
        assert success.mean() >= 0.95
        assert totals[..., COLLISION].mean() < 0.03
    dice = np.random.default_rng(0)
    _, lucky = play(made(5), lambda batch: dice.uniform(-1.0, 1.0, (5, 16, 2)).astype(np.float32))
    assert lucky.mean() < 0.05


def test_a_crowd_of_experts_hardly_collides():
    totals, success = play(made(2, level="crowd"), lambda batch: batch.expert_actions())
    assert success.mean() > 0.75
    assert (totals[..., COLLISION] > 0).mean() < 0.05
