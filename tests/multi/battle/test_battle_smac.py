"""Battle-v0: SMAC's rules."""

import numpy as np
import pytest
from support.battles import (
    MARINES,
    SMAC_ATTACK,
    SMAC_EAST,
    SMAC_NORTH,
    SMAC_SOUTH,
    SMAC_STOP,
    SMAC_WEST,
    begun,
    placed,
    play,
    see_again,
)

from rlenvs.multi.battle import combat


def hit(scenario, distance=1.1, **choices):
    """The enemy's health and shield after one tick of attack."""
    batch, _, s = placed(scenario, [(10, 10), (10 + distance, 10)], rules="smac", ticks=1, **choices)
    play(batch, SMAC_ATTACK)
    return s.health[1], s.shield[1]


def test_shields_armour_and_bonus():
    assert hit("1 marine vs 1 marine") == (45 - 6, 0)
    assert hit("1 marine vs 1 zealot") == (100, 50 - 6)
    assert hit("1 marauder vs 1 stalker") == (80, 80 - 20)  # 10 more to the armoured
    assert hit("1 stalker vs 1 marauder") == (125 - 18 + 1, 0)
    assert hit("1 zealot vs 1 marauder") == (125 - 2 * (8 - 1), 0)  # armour counts per hit
    health, _shield = hit("1 zergling vs 1 spine_crawler")
    assert health == pytest.approx(300 - (5 - 2) + 0.2734 * 1.4 / 22.4)


def test_damage_beyond_the_shield_meets_armour():
    batch, _, s = placed("1 hydralisk vs 1 zealot", [(10, 10), (13, 10)], rules="smac", ticks=1)
    s.shield[1] = 5
    play(batch, SMAC_ATTACK)
    assert (s.health[1], s.shield[1]) == (100 - (12 - 5 - 1), 0)


def test_shields_grow_back_after_a_rest():
    batch, _, s = placed("1 marine vs 1 zealot", [(10, 10), (20, 10)], rules="smac", ticks=1, horizon=1000)
    s.shield[1], s.unhurt[1] = 10, 0
    for _ in range(159):  # 7.14 s
        play(batch, SMAC_STOP)
    assert s.shield[1] == 10
    for _ in range(25):
        play(batch, SMAC_STOP)
    assert 10 + 2.8 * 23 / 22.4 < s.shield[1] < 10 + 2.8 * 25 / 22.4
    assert s.health[1] == 100


def test_medivacs_heal():
    batch, _, s = placed("1 medivac, 1 marine vs 1 marine", [(10, 10), (12, 10), (30, 30)], rules="smac")
    s.health[1] = 20
    see_again(batch)
    assert batch.masks[0, 0].tolist() == [0, 1, 1, 1, 1, 1, 0, 1]  # itself not, the marine yes
    play(batch, SMAC_ATTACK + 1, SMAC_STOP)
    assert s.health[1] == pytest.approx(20 + 12.6 * 8 / 22.4)
    assert s.energy[0] == pytest.approx(50 - 12.6 * 8 / 22.4 / 3 + 8 * 0.7875 / 22.4)
    s.energy[0] = 0
    play(batch, SMAC_ATTACK + 1, SMAC_STOP)
    assert s.health[1] == pytest.approx(20 + 12.6 * 8 / 22.4 + 3 * 7 * 0.7875 / 22.4, abs=0.2)


def test_medivacs_alone_have_lost():
    batch, _, s = placed("1 marine vs 1 marine, 1 medivac", [(10, 10), (12, 10), (20, 20)], rules="smac")
    s.health[1] = 1
    play(batch, SMAC_ATTACK)
    assert s.over
    assert batch.success[0].tolist() == [True, False, False]


def test_ground_weapons_do_not_reach_the_air():
    batch, *_ = placed(
        "1 marauder, 1 marine vs 1 medivac, 1 marine", [(10, 10), (10, 12), (12, 10), (28, 28)], rules="smac"
    )
    assert batch.masks[0, :2, SMAC_ATTACK].tolist() == [0, 1]


def test_banelings_explode():
    batch, _, s = placed(
        "1 baneling, 1 marine vs 4 marine, 1 roach",
        [(10, 10), (10, 11), (10.9, 10), (10, 12.4), (10, 12.7), (20, 20), (11, 11)],
        rules="smac",
        ticks=1,
    )
    s.health[5] = 1
    play(batch, SMAC_ATTACK)
    # 35 to the light, 20 to others, within 2.2 of their edge; not to friends
    assert s.health[2:6].tolist() == [10, 10, 45, 1]
    assert s.health[6] == pytest.approx(145 - 19, abs=0.1)
    assert s.health[1] == 45
    assert not s.standing[0]


def test_banelings_set_each_other_off():
    batch, p, s = placed(
        "1 marine, 1 baneling vs 2 baneling", [(10, 10), (14.5, 10.5), (13, 10), (14, 10)], rules="smac", ticks=1
    )
    s.health[2] = 1
    play(batch, SMAC_ATTACK)
    assert s.standing.tolist() == [True, True, False, True]  # 20 of 30 to the ally's baneling
    s.health[1], s.health[3] = 10, 10
    combat.place_unit(p, s, 2, s.kind[2], 1, s.x[2], s.y[2])
    s.health[2] = 1
    s.cooldown[:] = 0
    play(batch, SMAC_ATTACK)
    assert s.standing.tolist() == [True, False, False, False]


def test_the_beam_of_a_colossus_lies_across_the_line_of_fire():
    batch, _, s = placed(
        "1 colossus vs 4 marine", [(10, 10), (15, 10), (15, 11.5), (15, 12.2), (16.2, 10)], rules="smac", ticks=1
    )
    play(batch, SMAC_ATTACK)
    assert s.health[1:].tolist() == [45 - 30, 45 - 30, 45, 45]


def test_orders_walk_up_to_their_targets():
    batch, _, s = placed("1 zealot vs 1 marine", [(10, 10), (14, 10)], rules="smac")
    assert batch.masks[0, 0, SMAC_ATTACK] == 1  # within 6
    play(batch, SMAC_ATTACK)
    assert s.x[0] == pytest.approx(10 + 3.15 * 8 / 22.4)
    for _ in range(4):
        play(batch, SMAC_ATTACK)
    assert s.health[1] < 45
    s.x[1] = s.x[0] + 6.1
    play(batch, SMAC_ATTACK)
    assert batch.costs[0, 0] == 1  # too far away: it stops
    assert s.heading_x[0] == 0


def test_smac_moves_and_mask():
    batch, _, s = placed(MARINES, [(0.5, 31.5), (20, 20)], rules="smac")
    assert batch.masks[0, 0].tolist() == [0, 1, 0, 1, 1, 0, 0]
    s.x[0], s.y[0] = 1.5, 30.5
    see_again(batch)
    assert batch.masks[0, 0].tolist() == [0, 1, 1, 1, 1, 1, 0]  # the point one unit ahead is on the map
    for action, dx, dy in ((SMAC_NORTH, 0, 1), (SMAC_SOUTH, 0, -1), (SMAC_EAST, 1, 0), (SMAC_WEST, -1, 0)):
        s.x[0], s.y[0] = 10, 10
        play(batch, action)
        step = 3.15 * 8 / 22.4
        np.testing.assert_allclose((s.x[0], s.y[0]), (10 + dx * step, 10 + dy * step))
    batch, _, s = placed(MARINES, [(10, 10), (20, 20)], rules="smac", ticks=32)
    play(batch, SMAC_EAST)
    assert s.x[0] == pytest.approx(12)  # a move is two units, however long a step is


def test_smac_pays_twenty_for_a_flawless_win():
    batch = begun(20, scenario="3m", rules="smac", opponent="random")
    total = np.zeros(20)
    while not batch.over.all():
        actions = batch.player_actions("kiting").reshape(20, 1, 3, 1).copy()
        total += batch.rollout(actions)[0][:, 0, 0]
    assert batch.success[:, 0].all()
    np.testing.assert_allclose(total, 20.0, rtol=1e-9)


def test_smac_reward_of_a_step():
    batch, _, s = placed(
        "1 marine vs 2 zealot", [(10, 10), (12, 10), (14, 10)], rules="smac", opponent="random", ticks=1
    )
    most = 2 * 150 + 2 * 10 + 200
    play(batch, SMAC_ATTACK)
    assert batch.rewards[0, 0] == pytest.approx(20 * 6 / most)
    s.health[1], s.shield[1], s.cooldown[0] = 2, 0, 0
    see_again(batch)
    play(batch, SMAC_ATTACK)
    assert batch.rewards[0, 0] == pytest.approx(20 * (2 + 10) / most)
    s.shield[2], s.unhurt[2], s.cooldown[0] = 10, 100, 1
    play(batch, SMAC_STOP)
    assert batch.rewards[0, 0] == pytest.approx(-20 * 2.8 / 22.4 / most)  # what grows back is taken back
