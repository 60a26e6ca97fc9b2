"""The mini-games of SC2LE: sizes, those without fights, images, words, scores, and orders as pairs and headings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.minigames import BANES, BEACON, FIND, MARINE_STEP, ROACHES, SHARDS, foes, make, order, put, records, step

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.battle.minigames.squads import ALL, ATTACK, IDLE, MARINE, MOVE, NEAREST, point_at, point_x, point_y

STEPS = {BEACON: 240, SHARDS: 240, FIND: 360, ROACHES: 240, BANES: 240}
CHOICES = {BEACON: 353, SHARDS: 705, FIND: 2113, ROACHES: 2113, BANES: 2113}
# SC2LE's random policy, its FullyConv agent (for shards and roaches its best), from the paper's table
PUBLISHED = {BEACON: (1, 26), SHARDS: (17, 103), FIND: (4, 45), ROACHES: (1, 100), BANES: (23, 62)}
EXACT = 1e-9


# --- time, speed, sizes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEPS)
def test_limits_and_sizes(name):
    batch = make(name)
    assert batch.setup.horizon == STEPS[name]
    assert batch.setup.action_size == CHOICES[name]
    p = batch.records(0)[0]
    assert (p.width, p.height) == ((44, 32) if name == FIND else (22, 16))
    ticks = STEPS[name] * 8
    assert ticks == 16 * (180 if name == FIND else 120)
    for step_mul in (1, 5, 22):
        assert rlenvs.make_batch(name, step_mul=step_mul).setup.horizon == math.ceil(ticks / step_mul)


def test_a_marine_walks_270_units_in_an_episode():
    batch = make(BEACON)
    s = batch.records(0)[1]
    put(s, 0, 1.5, 8.5)
    walked, x = 0.0, s.x[0]
    for t in range(240):
        target = 20.5 if t // 12 % 2 == 0 else 1.5
        step(batch, order(batch, MOVE, ALL, target, 8.5, 1))
        walked += abs(s.x[0] - x)
        assert abs(s.x[0] - x) == pytest.approx(MARINE_STEP, abs=EXACT)
        x = s.x[0]
    assert walked == pytest.approx(270.0, abs=1e-6)


def test_an_order_lasts_until_it_is_carried_out():
    batch = make(BEACON)
    s = batch.records(0)[1]
    put(s, 0, 2.0, 3.5)
    s.beacon_x, s.beacon_y = 20.0, 14.0
    step(batch, order(batch, MOVE, ALL, 8.5, 3.5, 1))
    assert s.order[0] == MOVE
    for _ in range(6):
        step(batch)
    assert (s.x[0], s.y[0], s.order[0]) == (pytest.approx(8.5), pytest.approx(3.5), IDLE)


@given(st.floats(0, 22), st.floats(0, 16), st.integers(2, 88))
def test_points_cover_the_field(x, y, columns):
    p = type("P", (), {"width": 22.0, "height": 16.0, "columns": columns, "rows": max(1, round(columns * 16 / 22))})
    point = point_at(p, x, y)
    assert 0 <= point < p.columns * p.rows
    assert abs(point_x(p, point) - x) <= 11 / p.columns + EXACT
    assert abs(point_y(p, point) - y) <= 8 / p.rows + EXACT
    assert point_at(p, point_x(p, point), point_y(p, point)) == point


# --- move to beacon ---------------------------------------------------------------------------------------------------


def test_the_beacon_is_apart_from_marine_border_and_centre():
    for _, s in records(make(BEACON, 300)):
        assert math.hypot(s.x[0] - s.beacon_x, s.y[0] - s.beacon_y) >= 5
        assert 1.5 <= s.beacon_x <= 20.5
        assert 1.5 <= s.beacon_y <= 14.5
        assert math.hypot(s.beacon_x - 11, s.beacon_y - 8) >= 4


def test_starts_use_the_whole_field():
    marines = np.array([(s.x[0], s.y[0], s.beacon_x, s.beacon_y) for _, s in records(make(BEACON, 300))])
    assert (marines.min(axis=0) < [1, 1, 2.5, 2.5]).all()
    assert (marines.max(axis=0) > [21, 15, 19.5, 13.5]).all()


@pytest.mark.parametrize(("distance", "reached"), [(1.24, True), (1.26, False)])
def test_the_beacon_is_reached_within_its_radius(distance, reached):
    batch = make(BEACON)
    s = batch.records(0)[1]
    put(s, 0, 5.0, 5.0)
    s.beacon_x, s.beacon_y = 5.0 + distance, 5.0
    step(batch)
    assert batch.rewards[0, 0] == reached
    assert s.score == reached
    assert (math.hypot(s.beacon_x - 5, s.beacon_y - 5) >= 5) == reached


# --- collect mineral shards -------------------------------------------------------------------------------------------


def check_shards(s):
    assert s.there.all()
    assert s.shards_left == 20
    assert np.hypot(np.subtract.outer(s.shard_x, s.x), np.subtract.outer(s.shard_y, s.y)).min() >= 2
    assert (s.shard_x >= 1).all()
    assert (s.shard_x <= 21).all()
    assert (s.shard_y >= 1).all()
    assert (s.shard_y <= 15).all()


def test_shards_are_apart_from_marines_and_border():
    for _, s in records(make(SHARDS, 100)):
        check_shards(s)


def test_shards_are_collected_once_and_replaced_when_all_are_gone():
    batch = make(SHARDS)
    s = batch.records(0)[1]
    put(s, 0, 5.0, 5.0)
    put(s, 1, 15.0, 10.0)
    s.there[:] = False
    s.there[:3], s.shards_left = True, 3
    s.shard_x[:3], s.shard_y[:3] = [5.7, 15.0, 20.0], [5.0, 10.7, 2.0]
    step(batch)
    assert batch.rewards[0, 0] == 2
    step(batch)
    assert batch.rewards[0, 0] == 0
    assert s.shards_left == 1
    s.shard_x[2], s.shard_y[2] = 15.0, 10.0
    step(batch)
    assert batch.rewards[0, 0] == 1
    assert s.score == 3
    check_shards(s)


def test_the_nearer_marine_alone_can_be_sent():
    batch = make(SHARDS)
    s = batch.records(0)[1]
    put(s, 0, 5.0, 5.0)
    put(s, 1, 15.0, 10.0)
    step(batch, order(batch, MOVE, NEAREST, 13.5, 8.5, 1))
    assert s.order.tolist() == [IDLE, MOVE]
    step(batch, order(batch, MOVE, ALL, 9.5, 7.5, 1))
    assert s.order.tolist() == [MOVE, MOVE]


# --- images in the observation --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "layers"), [(BEACON, 3), (SHARDS, 3), (FIND, 4), (ROACHES, 3), (BANES, 4)])
def test_feature_maps(name, layers):
    batch = make(name, pixels=64)
    image = batch.images["map"][0, 0]
    s = batch.records(0)[1]
    p = batch.records(0)[0]
    assert image.shape == (47, 64, layers)
    scale = 64 / p.width
    for i in np.flatnonzero(s.standing[: len(s.order)]):
        assert image[min(int(s.y[i] * scale), 46), min(int(s.x[i] * scale), 63), 0] == 255  # lowest row first
    assert image[:, :, 1].any()
    if name == FIND:
        assert set(np.unique(image[:, :, 2])) == {0, 255}
    assert not image[:, :, -1].any()
    step(batch, 1 + 23)  # all to the second point of the second row
    goals = np.argwhere(batch.images["map"][0, 0][:, :, -1])
    assert goals.tolist() == [[int(1.5 * p.height / p.rows * scale), int(1.5 * p.width / p.columns * scale)]]


def test_bad_values_are_refused():
    for name, choices in ((BEACON, {"columns": 1}), (ROACHES, {"step_mul": 0}), (FIND, {"pixels": 1000})):
        with pytest.raises(ParameterError, match=next(iter(choices))):
            rlenvs.make_batch(name, **choices)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([ROACHES, BANES, FIND]))
def test_random_play_keeps_counts_and_places(seed, name):
    batch = make(name, 1, seed % 1000)
    p, s = batch.records(0)
    rng = np.random.default_rng(seed)
    score = 0.0
    for _ in range(60):
        step(batch, int(rng.integers(batch.setup.action_size)))
        score += batch.rewards[0, 0]
        assert s.score == score
        standing = s.standing[: len(s.order)]
        assert s.marines_left == standing.sum()
        assert s.foes_left == s.standing[foes(s)].sum()
        assert (s.kind[: len(s.order)][standing] == MARINE).all()
        assert (s.health[s.standing] > 0).all()
        assert (s.x[s.standing] >= -1).all()
        assert (s.x[s.standing] <= p.width + 1).all()
        if s.over:
            assert not standing.any()
            break
        assert s.foes_left > 0


# --- in words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEPS)
def test_orders_in_words(name):
    env = rlenvs.text_env(name)
    told, _ = env.reset(seed=0)
    p, s = env.numeric.batch.records(0)
    assert f"marine 0 at ({s.x[0]:.1f}, {s.y[0]:.1f}), health 45/45, idle" in told
    assert "<wait()>" in told
    shown = {BEACON: "a beacon", SHARDS: "a shard", FIND: "zergling 0", ROACHES: "roach 3", BANES: "baneling 9"}[name]
    assert shown in told
    if name == FIND:
        assert told.count("\nzergling") == sum(np.hypot(s.x[3:] - 22, s.y[3:] - 16) < 10.5)  # those in sight
    reply = "<move(3.2, 4.1)>" if name == BEACON else "<move(nearest, 3.2, 4.1)>"
    told, _, _, _, info = env.step(reply)
    assert info["illegal_reason"] == ""
    i = int(np.flatnonzero(s.order == MOVE)[0])
    point = point_at(p, 3.2, 4.1)
    assert (s.goal_x[i], s.goal_y[i]) == (point_x(p, point), point_y(p, point))
    assert "moving to" in told
    for wrong in (
        "<move(nearest, 3)>",
        "<move(north)>",
        reply.replace("3.2", "99"),
        reply.replace("3.2", "x"),
        "<fly()>",
    ):
        _, _, _, _, info = env.step(wrong)
        assert info["illegal_reason"]
        assert env.numeric.batch.actions[0, 0] == 0
    assert info["illegal_actions"] == 5


# --- scores -----------------------------------------------------------------------------------------------------------


def mean_score(name, policy, episodes=60):
    batch = make(name, episodes, 1000)
    total, running = np.zeros(episodes), np.ones(episodes, bool)
    rng = np.random.default_rng(0)
    states = [s for _, s in records(batch)]
    while running.any():
        random = rng.integers(batch.setup.action_size, size=episodes)
        batch.step(batch.expert_actions()[:, 0, 0].astype(int) if policy == "expert" else random)
        total += batch.rewards[:, 0] * running
        running &= ~(batch.terminated[:, 0] | batch.truncated[:, 0])
        over = np.array([s.over for s in states])
        if running.any() and over.any():
            batch.reset(over)  # worlds that are done play on, uncounted
    return total.mean()


@pytest.mark.parametrize("name", [BEACON, SHARDS])
def test_experts_reach_the_published_scores(name):
    random, agent = PUBLISHED[name]
    assert mean_score(name, "expert") >= agent - 1
    assert -2 <= mean_score(name, "random") <= random


@pytest.mark.parametrize("name", [FIND, ROACHES, BANES])
def test_experts_of_fights_reach_the_published_scores(name):
    random, agent = PUBLISHED[name]
    assert mean_score(name, "expert", 100) >= agent
    assert abs(mean_score(name, "random", 100) - random) < 15


def test_beacons_are_bounded_by_the_speed_of_a_marine():
    """26 to 28 is the ceiling for people and agents: 270 units of way, and some 10 from beacon to beacon."""
    assert 25 <= mean_score(BEACON, "expert", 100) <= 28


# --- orders as pairs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "backend"), [*((name, "python") for name in CHOICES), (BEACON, "numba")])
def test_pairs_of_order_and_point_are_choices(name, backend):
    flat, pair = make(name, backend=backend), make(name, backend=backend, orders="pair")
    orders, points = pair.setup.choices
    assert 1 + (orders - 1) * points == CHOICES[name]
    generator = np.random.default_rng(0)
    for n in range(4):
        choice = int(generator.integers(CHOICES[name]))
        if n % 3 == 0:
            assert flat.expert_actions()[0, 0, 0] == as_choice(pair.expert_actions()[0, 0], points)
            choice = int(flat.actions[0, 0, 0])
        action = np.array([1 + (choice - 1) // points, (choice - 1) % points]) if choice else np.zeros(2, int)
        flat.step([choice])
        pair.step(action[None])
        assert np.array_equal(flat.observations, pair.observations)
        assert np.array_equal(flat.rewards, pair.rewards)


def as_choice(action, points):
    order, point = action.tolist()
    return 1 + (order - 1) * points + point if order else 0


def test_words_for_pairs():
    env = rlenvs.text_env(BEACON, orders="pair", backend="python")
    env.reset(seed=0)
    assert env.step("<move(3, 4)>")[-1]["illegal_reason"] == ""
    assert env.numeric.batch.actions[0, 0, 0] == 1
    env.step("<wait()>")
    assert env.numeric.batch.actions[0, 0].tolist() == [0, 0]


# --- orders as headings -----------------------------------------------------------------------------------------------


def test_each_marine_goes_four_units_in_its_heading():
    batch = make(SHARDS, backend="python", level="headings")
    s = batch.records(0)[1]
    assert batch.setup.choices == (9, 9)
    for heading in range(8):
        put(s, 0, 10.0, 8.0)
        put(s, 1, 12.0, 8.0)
        angle = heading * math.pi / 4
        batch.step(np.array([[1 + heading, 0]]))
        assert s.order.tolist()[0] == MOVE
        assert s.goal_x[0] - 10.0 == pytest.approx(4.0 * math.cos(angle), abs=EXACT)
        assert s.goal_y[0] - 8.0 == pytest.approx(4.0 * math.sin(angle), abs=EXACT)
        assert s.x[0] - 10.0 == pytest.approx(MARINE_STEP * math.cos(angle), abs=EXACT)
        assert s.y[0] - 8.0 == pytest.approx(MARINE_STEP * math.sin(angle), abs=EXACT)
        assert (s.x[1], s.y[1]) == (12.0, 8.0)
    put(s, 1, 21.0, 1.0)
    batch.step(np.array([[0, 8]]))  # down and to the right
    assert (s.goal_x[1], s.goal_y[1]) == (22.0, 0.0)


def test_fighters_attack_or_move_together():
    batch = make(FIND, backend="python", level="headings")
    s = batch.records(0)[1]
    assert batch.setup.choices == (17,)
    x, y = s.x[:3].copy(), s.y[:3].copy()
    for choice, verb in ((1, MOVE), (9, ATTACK)):
        batch.step(np.array([[choice]]))
        assert s.order.tolist() == [verb] * 3
    assert np.allclose(s.goal_x - x, 4.0 + MARINE_STEP, atol=EXACT)
    assert np.allclose(s.goal_y, y, atol=EXACT)


def test_what_is_nearest_comes_first():
    batch = make(SHARDS, 3, near=4)
    for world in range(3):
        s = batch.records(world)[1]
        rows = batch.observations[world, 0][8:].reshape(2, 4, 3)
        for i in range(2):
            dx, dy = s.shard_x - s.x[i], s.shard_y - s.y[i]
            nearest = np.argsort(np.hypot(dx, dy))[:4]
            assert (rows[i, :, 0] == 1).all()
            assert rows[i, :, 1] == pytest.approx(np.clip(dx[nearest] / 11.0, -1, 1), abs=1e-6)
            assert rows[i, :, 2] == pytest.approx(np.clip(dy[nearest] / 8.0, -1, 1), abs=1e-6)
    s.there[:] = False
    s.there[5], s.shards_left = True, 1
    batch.step(np.zeros(3, int))
    assert batch.observations[2, 0][8:].reshape(2, 4, 3)[:, :, 0].sum() == 2


def test_known_zerglings_and_unseen_cells_are_shown_from_the_middle_of_the_marines():
    batch = make(FIND, near=2)
    s = batch.records(0)[1]
    rows = batch.observations[0, 0][24:].reshape(2, 2, 3)
    known = np.flatnonzero(s.known)
    dx, dy = s.x[3 + known] - 22.0, s.y[3 + known] - 16.0
    first = np.argsort(np.hypot(dx, dy))[: len(known)]
    assert rows[0, :, 0].sum() == min(len(known), 2)
    assert rows[0, 0, 1:] == pytest.approx([dx[first[0]] / 22.0, dy[first[0]] / 16.0], abs=1e-6)
    row, column = np.nonzero(s.explored == 0)
    far = np.hypot(4.0 * (column + 0.5) - 22.0, 4.0 * (row + 0.5) - 16.0)
    shown = np.hypot(22.0 * rows[1, :, 1], 16.0 * rows[1, :, 2])
    assert shown == pytest.approx(np.sort(far)[:2], abs=1e-5)


def test_words_for_headings():
    env = rlenvs.text_env(SHARDS, orders="headings", backend="python")
    env.reset(seed=0)
    s = env.numeric.batch.records(0)[1]
    put(s, 0, 4.0, 8.0)
    put(s, 1, 18.0, 8.0)
    for words, action in (("all", [1, 5]), ("nearest", [0, 5])):
        assert env.step(f"<move({words}, 11, 8)>")[-1]["illegal_reason"] == ""
        assert env.numeric.batch.actions[0, 0].tolist() == action
        put(s, 0, 4.0, 8.0)
        put(s, 1, 17.0, 8.0)
    env.step("<wait()>")
    assert env.numeric.batch.actions[0, 0].tolist() == [0, 0]


@pytest.mark.parametrize(("name", "share"), [(BEACON, 0.8), (ROACHES, 0.05)])  # no focused fire by headings
def test_experts_can_do_with_headings(name, share):
    batch = make(name, 8, orders="headings")
    flat = make(name, 8)
    scores = np.zeros((2, 8))
    for _ in range(120):
        for k, each in enumerate((batch, flat)):
            each.expert_actions()
            each.step(each.actions[:, 0] if each is batch else each.actions[:, 0, 0].astype(int))
            scores[k] += each.rewards[:, 0]
        if batch.terminated.any() or flat.terminated.any():
            break
    assert scores[0].mean() > share * scores[1].mean() > 0.0
