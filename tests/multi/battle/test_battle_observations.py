"""Battle-v0: what units see."""

import numpy as np
import pytest
from support.battles import ATTACK, EAST, SMAC_EAST, SMAC_STOP, STOP, begun, placed, play, see_again

import rlenvs
from rlenvs.multi.battle.units import KINDS


def test_list_of_units():
    batch, _, s = placed("2 marine vs 1 zealot, 1 stalker", [(10, 10), (13, 14), (10, 4), (10, 19.1)])
    s.health[:] = (45, 9, 75, 160)
    s.cooldown[1] = 0.305
    s.last_choice[1], s.last_choice[2] = EAST, ATTACK + 1
    see_again(batch)
    seen = batch.observations[0, 0]
    zealot = KINDS.index("zealot")
    kinds = np.eye(6)
    np.testing.assert_allclose(seen[:13], [0.2, 3 / 9, 4 / 9, 1, 0, 0, 0.5, *kinds[0]], rtol=1e-6)
    np.testing.assert_allclose(seen[13:26], [0.5, 0, -6 / 9, 0, 0, 6 / 6, 0, *kinds[zealot]], rtol=1e-6)
    assert not seen[26:39].any()  # 9.1 away
    np.testing.assert_allclose(seen[39:], [1, 10 / 32, 10 / 32, 0, *kinds[0]], rtol=1e-6)
    enemy = batch.observations[0, 3]  # sees 10 far; its own side backwards, then allies backwards
    assert not enemy[:13].any()
    np.testing.assert_allclose(enemy[13:26], [0.2, 0.3, -0.51, 1, 0, 0, 0.5, *kinds[0]], rtol=1e-5)
    np.testing.assert_allclose(enemy[26:39], [1, 0, -0.91, 0, 0, 0, 0, *kinds[0]], rtol=1e-5)
    blind, _, s = placed("2 marine vs 1 zealot", [(10, 10), (13, 14), (10, 4)], see_enemy_actions=False)
    s.last_choice[:] = (STOP, EAST, ATTACK + 1)
    see_again(blind)
    assert blind.observations[0, 0, 3] == 1
    assert blind.observations[0, 0, 13 + 5] == 0


def test_smac_layout():
    batch, _, s = placed(
        "1 stalker, 1 zealot vs 1 stalker, 1 zealot",
        [(10, 10), (10, 16), (13, 14), (10, 19)],
        rules="smac",
        observation="smac",
        opponent="random",
    )
    s.health[:], s.shield[:] = (40, 100, 80, 50), (80, 25, 20, 50)
    see_again(batch)
    seen = batch.observations[0, 0]
    np.testing.assert_allclose(seen[:4], 1)
    np.testing.assert_allclose(seen[4:12], [1, 5 / 9, 3 / 9, 4 / 9, 1, 0.25, 1, 0], rtol=1e-6)
    assert not seen[12:20].any()  # exactly 9 away
    np.testing.assert_allclose(seen[20:28], [1, 6 / 9, 0, 6 / 9, 1, 0.5, 0, 1], rtol=1e-6)
    np.testing.assert_allclose(seen[28:], [0.5, 1, 1, 0], rtol=1e-6)
    play(batch, SMAC_EAST, SMAC_STOP)
    state = batch.central()[0]
    step = 4.13 * 8 / 22.4
    np.testing.assert_allclose(state[:7], [0.5, 0, (10 + step - 16) / 32, -6 / 32, 1, 1, 0], rtol=1e-5)
    assert state[-16:].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_smacv2_layout_ends_with_the_place():
    batch = begun(scenario="protoss_5_vs_5", rules="smac", observation="smac")
    s = batch.records(0)[1]
    assert batch.setup.observation_shape == (92,)
    np.testing.assert_allclose(batch.observations[0, :, -2], s.x[:5] / 32, rtol=1e-6)
    np.testing.assert_allclose(batch.observations[0, :, -1], s.y[:5] / 32, rtol=1e-6)


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.57, 2.0, 3.1, -0.2, -1.58, -3.0])
def test_cones(angle):
    """Unit 0 is seen by others, and right angles are where they should be: both fail in the original."""
    place = (16 + 3 * np.cos(angle), 16 + 3 * np.sin(angle))
    batch, *_ = placed("3 marine vs 1 marine", [place, (16, 16), (16, 16.1), (31, 31)], observation="conic")
    cones = batch.observations[0, 1][: 32 * 2 * 13].reshape(32, 2, 13)
    sector = int((angle + np.pi) / (2 * np.pi) * 32)
    assert cones[sector, 0, 0] == 1
    np.testing.assert_allclose(cones[sector, 0, 1:3], [np.cos(angle) / 3, np.sin(angle) / 3], rtol=1e-5)
    assert (cones[..., 0] > 0).sum() == 2
    assert batch.setup.observation_shape == (32 * 2 * 13 + 10,)


def test_feature_map():
    batch, _, s = placed("2 marine vs 1 zealot", [(16, 16), (19, 16), (16, 22)], feature_map=18)
    s.health[2] = 75
    see_again(batch)
    cells = batch.images["map"][0, 0]
    assert cells.shape == (18, 18, 6)
    assert np.argwhere(cells[..., 0]).tolist() == [[9, 9], [9, 12]]
    assert np.argwhere(cells[..., 3]).tolist() == [[3, 9]]
    assert cells[3, 9, 3] == 127
    assert cells[3, 9, 5] == (KINDS.index("zealot") + 1) * (255 // len(KINDS))
    env = rlenvs.parallel_env("Battle-v0", feature_map=8, scenario="3s_vs_5z", opponent="self", observation="smac")
    observations, _ = env.reset(seed=0)
    for agent in env.agents:
        assert env.observation_space(agent).contains(observations[agent])


def test_central_state_of_smax():
    batch, *_ = placed("1 marine vs 1 zealot", [(8, 16), (24, 16)])
    state = batch.central()[0]
    kinds = np.eye(6)
    np.testing.assert_allclose(state[:10], [1, 0.25, 0.5, 0, *kinds[0]])
    np.testing.assert_allclose(state[10:20], [1, 0.75, 0.5, 0, *kinds[3]])
    np.testing.assert_allclose(state[20:], [0, 1, 0, 3 / 5])
