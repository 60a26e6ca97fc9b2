"""The mini-games of SC2LE in which marines fight: new waves and ends, weapons, orders to fighters."""

import numpy as np
import pytest
from support.minigames import (
    BANES,
    FIND,
    MARINE_STEP,
    ROACHES,
    apart,
    foes,
    make,
    order,
    put,
    records,
    stand_alone,
    step,
)

from rlenvs.multi.battle.minigames.squads import ALL, ATTACK, BANELING, IDLE, MOVE, ROACH, WEAKEST, ZERGLING

# --- find and defeat zerglings ----------------------------------------------------------------------------------------


def test_zerglings_stand_in_rings_at_first():
    for _, s in records(make(FIND, 60)):
        own, other = slice(0, 3), foes(s)
        np.testing.assert_allclose(np.hypot(s.x[own] - 22, s.y[own] - 16), 1.0)
        distance = np.hypot(s.x[other] - 22, s.y[other] - 16)
        assert 8 <= distance[0] <= 9
        assert 7.5 <= distance[1] <= 9.5
        assert (distance[2:] >= 10.5).all()
        assert len(distance) == 25
        assert s.standing.all()
        assert apart(s.x[other], s.y[other]) >= 5
        assert (s.x[other][2:] >= 1).all()
        assert (s.x[other][2:] <= 43).all()
        assert (s.y[other][2:] >= 1).all()
        assert (s.y[other][2:] <= 31).all()
        assert (s.kind[other] == ZERGLING).all()


def test_new_zerglings_come_when_all_have_fallen():
    batch = make(FIND)
    s = batch.records(0)[1]
    stand_alone(s, 0, 1, 2, 5)
    put(s, 5, s.x[0] + 2.0, s.y[0])
    s.health[5] = 1.0
    s.explored[:] = 1
    step(batch)
    assert batch.rewards[0, 0] == 1
    assert s.foes_left == 25
    other = foes(s)
    assert apart(s.x[other], s.y[other]) >= 5
    walked = MARINE_STEP + 8 * 4.13 / 22.4  # since then
    assert np.hypot(np.subtract.outer(s.x[other], s.x[:3]), np.subtract.outer(s.y[other], s.y[:3])).min() >= 9 - walked
    assert s.explored.sum() < 40


def test_fog_hides_what_no_marine_sees():
    batch = make(FIND, 20)
    for world, (_, s) in enumerate(records(batch)):
        rows = batch.observations[world, 0][3 * 8 : 3 * 8 + 25 * 4].reshape(25, 4)
        near = np.hypot(np.subtract.outer(s.x[3:], s.x[:3]), np.subtract.outer(s.y[3:], s.y[:3])).min(axis=1) < 9
        assert (rows[:, 0] == near).all()
        assert not rows[~near].any()
        assert near[0]
        np.testing.assert_allclose(rows[near, 1], s.x[3:][near] / 22 - 1, atol=1e-6)


def test_zerglings_stand_still_until_somebody_comes_near():
    batch = make(FIND)
    s = batch.records(0)[1]
    stand_alone(s, 0, 3, 4)
    put(s, 0, 20.0, 16.0)
    s.order[0] = MOVE
    s.goal_x[0], s.goal_y[0] = 20.0, 16.0
    put(s, 3, 26.5, 16.0)
    put(s, 4, 14.1, 16.0)
    step(batch)
    assert s.x[3] == 26.5
    assert s.x[4] > 14.5


def test_three_marines_lost_end_the_episode():
    batch = make(FIND)
    s = batch.records(0)[1]
    stand_alone(s, 1, 3)
    put(s, 3, s.x[1] + 0.7, s.y[1])
    s.health[1] = 1.0
    step(batch)
    assert batch.rewards[0, 0] == -1
    assert batch.terminated[0, 0]


# --- defeat roaches, defeat zerglings and banelings -------------------------------------------------------------------


@pytest.mark.parametrize("name", [ROACHES, BANES])
def test_two_groups_face_each_other(name):
    sides = set()
    for _, s in records(make(name, 60)):
        own = s.standing[: len(s.order)]
        assert own.sum() == 9
        lines = np.sort(s.y[: len(s.order)][own])
        np.testing.assert_allclose(np.diff(lines), 1.0)
        assert np.ptp(s.x[: len(s.order)][own]) == 0
        ours, theirs = s.x[0], s.x[foes(s)]
        assert (1.97 <= ours <= 5.98) != (16.02 <= ours <= 20.04)
        assert 10 <= abs(ours - s.line_x[1]) <= 18.1
        assert 5.06 <= s.y[0] <= 11.05
        sides.add(bool(ours < 11))
        if name == ROACHES:
            assert (s.kind[foes(s)] == ROACH).all()
            assert len(theirs) == 4
            np.testing.assert_allclose(s.y[foes(s)] - s.line_y[1], [-1.5, -0.5, 0.5, 1.5])
            assert np.ptp(theirs) == 0
        else:
            assert s.kind[foes(s)].tolist() == [ZERGLING] * 6 + [BANELING] * 4
            assert np.abs(theirs - s.line_x[1]).max() <= 1
    assert sides == {True, False}


@pytest.mark.parametrize(("name", "fresh", "worth"), [(ROACHES, 5, 10), (BANES, 4, 5)])
def test_a_new_wave_brings_fresh_marines_and_heals_nobody(name, fresh, worth):
    batch = make(name)
    s = batch.records(0)[1]
    first = len(s.order)
    stand_alone(s, 2, 7, first)
    s.health[[2, 7]] = [11.0, 22.0]
    put(s, 2, 11.0, 8.0)
    put(s, 7, 11.0, 9.0)
    put(s, first, 16.5, 8.5)  # out of its own range
    s.health[first] = 1.0
    step(batch)
    assert batch.rewards[0, 0] == worth
    assert s.wave == 2
    assert s.foes_left == len(s.awake)
    own = np.flatnonzero(s.standing[:first])
    assert len(own) == 2 + fresh
    assert sorted(s.health[own].tolist()) == [11.0, 22.0] + [45.0] * fresh
    assert np.ptp(s.x[own]) == 0
    assert (s.order[own] == IDLE).all()
    assert s.health[foes(s)].tolist() == [[145.0] * 4, [35.0] * 6 + [30.0] * 4][name == BANES]


def test_the_last_of_both_sides_in_one_tick_ends_the_episode():
    batch = make(BANES)
    s = batch.records(0)[1]
    first = len(s.order)
    stand_alone(s, 0, first + 9)
    put(s, 0, 10.0, 8.0)
    put(s, first + 9, 10.8, 8.0)
    s.health[0] = 30.0
    step(batch)
    assert batch.rewards[0, 0] == 5 - 1
    assert batch.terminated[0, 0]
    assert s.wave == 1


def test_a_baneling_hurts_marines_around_it():
    batch = make(BANES)
    s = batch.records(0)[1]
    first = len(s.order)
    stand_alone(s, 0, 1, 2, first, first + 9)
    put(s, 0, 10.0, 8.0)
    put(s, 1, 12.9, 8.0)
    put(s, 2, 10.8, 10.7)
    put(s, first + 9, 10.8, 8.0)  # marines 0 and 1 within 2.2 and their radius, marine 2 not
    put(s, first, 21.0, 15.0)
    step(batch)
    assert s.health[:3].tolist() == [10.0, 10.0, 45.0]
    assert batch.rewards[0, 0] == 5
    assert not s.standing[first + 9]


def test_weapons():
    """A marine and a roach that never get weaker: damage and time between attacks, with a delay of half a tick."""
    batch = make(ROACHES)
    s = batch.records(0)[1]
    first = len(s.order)
    stand_alone(s, 0, first)
    put(s, 0, 10.0, 8.0)
    put(s, first, 14.0, 8.0)
    lost = []
    for _ in range(240):
        step(batch)
        lost.append((45.0 - s.health[0], 145.0 - s.health[first]))
        s.health[0], s.health[first] = 45.0, 145.0
    lost = np.array(lost)
    seconds = 240 * 8 / 22.4
    assert set(lost[:, 0]) == {0.0, 16.0}
    assert (lost[:, 0] > 0).sum() == pytest.approx(seconds / (1.43 + 0.5 / 22.4), rel=0.03)
    assert 4.8 < lost[:, 1].max() <= 5.0  # 6, and 1 armour; roaches recover slowly
    assert (lost[:, 1] > 3).sum() == pytest.approx(seconds / (0.61 + 0.5 / 22.4), rel=0.03)


def test_ranges_are_between_edges():
    for gap, shot in ((5.95, True), (6.05, False)):
        batch = make(ROACHES, alert=3.0)
        s = batch.records(0)[1]
        stand_alone(s, 0, len(s.order))
        put(s, 0, 10.0, 8.0)
        put(s, len(s.order), 10.0 + gap, 8.0)
        s.quarry[0] = len(s.order)
        s.order[0] = ATTACK
        x = s.x[0]
        step(batch)
        assert (s.x[0] == x) == shot


# --- orders to fighters -----------------------------------------------------------------------------------------------


def skirmish_line():
    batch = make(ROACHES)
    s = batch.records(0)[1]
    first = len(s.order)
    stand_alone(s, 0, 1, 2, first, first + 1)
    for i, (x, y) in enumerate([(8.0, 7.0), (8.0, 8.0), (8.0, 9.0)]):
        put(s, i, x, y)
    put(s, first, 13.5, 6.5)
    put(s, first + 1, 13.5, 9.5)
    return batch, s, first


def test_idle_marines_shoot_and_moving_ones_do_not():
    batch, s, first = skirmish_line()
    step(batch)
    assert s.health[first : first + 2].sum() < 290
    batch, s, first = skirmish_line()
    step(batch, order(batch, MOVE, ALL, 1.5, 8.5))
    assert s.health[first : first + 2].tolist() == [145, 145]
    assert (s.x[:3] < 7.5).all()


def test_attack_on_an_enemy_is_focused_fire():
    batch, s, first = skirmish_line()
    step(batch, order(batch, ATTACK, ALL, 13.5, 9.5))
    assert s.quarry[:3].tolist() == [first + 1] * 3
    assert s.health[first] == 145
    assert s.health[first + 1] < 145
    step(batch, order(batch, ATTACK, ALL, 20.5, 8.5))
    assert s.quarry[:3].tolist() == [-1] * 3


def test_the_weakest_that_stays_can_be_sent():
    batch, s, _ = skirmish_line()
    s.health[:3] = [30.0, 20.0, 40.0]
    step(batch, order(batch, MOVE, WEAKEST, 1.5, 8.5))
    assert s.order[:3].tolist() == [IDLE, MOVE, IDLE]
    step(batch, order(batch, MOVE, WEAKEST, 1.5, 8.5))
    assert s.order[:3].tolist() == [MOVE, MOVE, IDLE]


def test_enemies_answer_fire_one_by_one():
    batch, s, first = skirmish_line()
    put(s, first + 1, 20.0, 9.5)
    step(batch)
    assert s.awake[0]
    assert not s.awake[1]
