"""Battle-v0: a tick, rewards and ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.battles import (
    ATTACK,
    EAST,
    MARINES,
    NORTH,
    SOUTH,
    STOP,
    WEST,
    begun,
    idle,
    placed,
    play,
    see_again,
)

from rlenvs.multi.battle import combat

# --- a tick -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("action", "dx", "dy"), [(NORTH, 0, 1), (EAST, 1, 0), (SOUTH, 0, -1), (WEST, -1, 0)])
def test_moves(action, dx, dy):
    batch, _, s = placed(MARINES, [(10, 10), (30, 30)])
    play(batch, action)
    np.testing.assert_allclose((s.x[0], s.y[0]), (10 + 3.15 / 2 * dx, 10 + 3.15 / 2 * dy), rtol=1e-12)


@pytest.mark.parametrize(("distance", "hits"), [(4.99, True), (5.01, False)])
def test_attack(distance, hits):
    batch, _, s = placed(MARINES, [(10, 10), (10 + distance, 10)])
    assert batch.masks[0, 0].tolist() == [1, 1, 1, 1, 1, hits]
    play(batch, ATTACK)
    assert s.health.tolist() == [45, 36 if hits else 45]
    assert batch.costs[0].tolist() == [0.0 if hits else 1.0, 0.0]
    if hits:  # the first of eight ticks fired; seven have passed since
        assert 0.61 - 1 / 16 <= s.cooldown[0] + 7 / 16 <= 0.61 + 2 / 16


def test_cooldowns_are_uniform():
    batch = begun(400, scenario=MARINES, ticks=1, distance=4.0, spread=0.5)
    actions = np.full((400, 1), ATTACK)
    batch.rollout(actions.reshape(400, 1, 1, 1))
    found = np.array([batch.records(i)[1].cooldown[0] for i in range(400)]) - 0.61
    found = found[found > -0.5]  # those in range
    assert len(found) > 200
    assert found.min() >= -1 / 16
    assert found.max() <= 2 / 16
    assert found.mean() == pytest.approx(0.5 / 16, abs=0.01)  # standard error 0.003
    assert found.std() == pytest.approx(3 / 16 / np.sqrt(12), abs=0.005)


def test_units_reload():
    batch, _, s = placed("1 stalker vs 1 zealot", [(10, 10), (15, 10)])
    healths = []
    for _ in range(5):
        play(batch, ATTACK)
        healths.append(s.health[1])
    assert healths[0] == healths[1] == healths[2] == 137  # 1.87 s is almost four steps
    assert healths[4] == 124


def test_damage_is_added_up_and_both_may_fall():
    batch, _, s = placed(MARINES, [(10, 10), (12, 10)])
    s.health[:] = 9
    play(batch, ATTACK, ATTACK)
    assert s.health.tolist() == [0, 0]
    assert batch.terminated.all()
    assert not batch.success.any()
    assert not batch.terms[0, 3:5].any()  # neither win nor defeat
    assert batch.rewards[0].tolist() == [0, 0]


def test_the_fallen_do_not_act():
    batch, _, s = placed("2 marine vs 1 marine", [(10, 10), (10, 14), (12, 10)])
    s.health[:] = (9, 45, 18)
    play(batch, ATTACK, STOP, ATTACK + 1)
    assert s.health.tolist() == [0, 45, 9]
    play(batch, ATTACK, STOP, STOP)
    assert s.health.tolist() == [0, 45, 9]


@pytest.mark.parametrize("deadly", [True, False])
@pytest.mark.parametrize(
    ("place", "action"), [((0.3, 9), WEST), ((31.7, 9), EAST), ((9, 0.3), SOUTH), ((9, 31.7), NORTH)]
)
def test_walls(deadly, place, action):
    batch, _, s = placed(MARINES, [place, (16, 16)], deadly_walls=deadly)
    play(batch, action)
    assert bool(s.standing[0]) is not deadly
    assert 0 <= s.x[0] <= 32
    assert 0 <= s.y[0] <= 32


def test_collisions():
    _, p, s = placed("2 marine vs 1 marauder", [(10, 10), (10.3, 10.4), (20, 10)])
    combat.push_apart(p, s)
    shift = 0.5 * (0.75 / (0.5 + 1e-6) - 1)
    np.testing.assert_allclose(s.x[:2], (10 - 0.3 * shift, 10.3 + 0.3 * shift), rtol=1e-12)
    np.testing.assert_allclose(s.y[:2], (10 - 0.4 * shift, 10.4 + 0.4 * shift), rtol=1e-12)
    combat.fall(s, 1)
    s.x[:2], s.y[:2] = (10, 10.1), 10
    combat.push_apart(p, s)
    assert s.x[:2].tolist() == [10, 10.1]  # the fallen are not in the way


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 24), st.floats(0.5, 6.0))
def test_collisions_equal_the_sum_over_all_pairs(seed, count, half):
    _, p, s = placed(f"{count} marine vs 3 marauder", [(16, 16)] * (count + 3))
    dice = np.random.default_rng(seed)
    s.x[:], s.y[:] = dice.uniform(16 - half, 16 + half, (2, count + 3))
    for i in np.flatnonzero(dice.random(count + 3) < 0.2):
        combat.fall(s, i)
    places = np.stack([s.x, s.y], axis=1).copy()
    radius = np.where(np.arange(count + 3) < count, 0.375, 0.5625)
    delta = places[:, None] - places[None]
    distance = np.linalg.norm(delta, axis=-1) + 1e-6 + np.eye(count + 3)
    both = s.standing[:, None] & s.standing[None]
    overlap = np.where(both, np.maximum((radius[:, None] + radius[None]) / distance - 1, 0), 0)
    overlap[radius[:, None] + radius[None] - distance < combat.TOUCH] = 0
    np.fill_diagonal(overlap, 0)
    wanted = places + 0.5 * (delta * overlap[..., None]).sum(axis=1)
    combat.push_apart(p, s)
    np.testing.assert_allclose(np.stack([s.x, s.y], axis=1), wanted, atol=1e-9)


# --- rewards and ends -------------------------------------------------------------------------------------------------


def test_reward_is_the_share_of_health_lost():
    batch, _, s = placed("2 marine vs 2 zealot", [(10, 10), (10, 12), (12, 10), (30, 30)], opponent="plain")
    play(batch, ATTACK, ATTACK)
    assert s.health[2] == 150 - 18
    assert batch.rewards[0].tolist() == pytest.approx([18 / 150 / 2] * 2)
    combat.fall(s, 3)
    s.health[2], s.cooldown[:] = 5, 0
    see_again(batch)
    play(batch, ATTACK, STOP)
    assert batch.rewards[0, 0] == pytest.approx(5 / 150 / 2 + 1)
    assert batch.success.all()
    assert batch.terminated.all()


@pytest.mark.parametrize("dead", ["stay", "leave"])
def test_agents_that_fall(dead):
    batch, _, s = placed("2 marine vs 2 marine", [(10, 10), (10, 20), (12, 10), (12, 20)], dead=dead, opponent="random")
    s.health[0] = 9
    combat.fall(s, 0)
    see_again(batch)
    play(batch, STOP, ATTACK + 1)
    assert batch.terminated[0].tolist() == [dead == "leave", False]
    assert batch.masks[0, 0].tolist() == [0, 0, 0, 0, 1, 0, 0]
    assert not batch.observations[0, 0].any()
    combat.fall(s, 2)
    s.health[3], s.cooldown[:] = 1, 0
    s.x[1], s.y[1], s.x[3], s.y[3] = 10, 20, 12, 20
    see_again(batch)
    play(batch, STOP, ATTACK + 1)
    assert s.over
    assert batch.rewards[0, 1] > 1
    assert batch.rewards[0, 0] == (batch.rewards[0, 1] if dead == "stay" else 0)
    assert batch.success[0, 1]


def test_self_play_pays_one_to_the_winner():
    batch, _, s = placed("2 marine vs 1 marine", [(10, 10), (10, 12), (12, 10)])
    play(batch, ATTACK, ATTACK, STOP)
    assert batch.rewards[0].tolist() == [0, 0, 0]
    s.health[2], s.cooldown[:] = 1, 0
    play(batch, ATTACK, STOP, STOP)
    assert batch.rewards[0].tolist() == [1, 1, -1]
    assert batch.success[0].tolist() == [True, True, False]
    assert batch.setup.teams == (0, 0, 1)


def test_enemies_count_their_targets_backwards():
    batch, _, s = placed("3 marine vs 2 marine", [(10, 10), (10, 12), (10, 14), (13, 12), (28, 28)])
    play(batch, STOP, STOP, STOP, ATTACK, STOP)
    assert s.health.tolist() == [45, 45, 36, 45, 45]
    s.cooldown[:] = 0
    play(batch, STOP, STOP, STOP, ATTACK + 2, STOP)
    assert s.health.tolist() == [36, 45, 36, 45, 45]


def test_a_tie_at_the_limit_is_no_win():
    batch = begun(scenario="3m", horizon=2)
    for _ in range(2):
        batch.step(idle(batch))
    assert batch.truncated.all()
    assert not batch.success.any()
