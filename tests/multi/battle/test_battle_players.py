"""Battle-v0: scripted players and what they reach."""

import numpy as np
import pytest
from support.battles import ATTACK, EAST, NORTH, SOUTH, STOP, WEST, begun, episodes, make, placed, see_again

from rlenvs.multi.battle.battle import SPEC


def plain_choice(places, **state):
    batch, _, s = placed("1 marine vs 2 marine", places)
    s.start_x[0], s.start_y[0] = s.x[0], s.y[0]
    for name, value in state.items():
        s[name][:] = value
    see_again(batch)
    return int(batch.player_actions("plain")[0, 0, 0])


def test_the_plain_player_attacks_the_closest_and_then_the_last():
    assert plain_choice([(10, 10), (14, 10), (10, 13)]) == ATTACK + 1
    assert plain_choice([(10, 10), (14, 10), (10, 13)], last_choice=(ATTACK, STOP, STOP)) == ATTACK
    assert plain_choice([(10, 10), (16, 10), (10, 13)], last_choice=(ATTACK, STOP, STOP)) == ATTACK + 1


def test_the_plain_player_chases_and_crosses_the_map():
    assert plain_choice([(10, 10), (10, 18), (30, 30)]) == NORTH
    assert plain_choice([(10, 10), (2, 11), (30, 30)]) == WEST
    assert plain_choice([(4, 15), (20, 30), (30, 30)]) == EAST
    assert plain_choice([(15, 28), (20, 4), (30, 4)]) == SOUTH
    found = {plain_choice([(10, 10), (10, 18), (18, 10)])}
    batch, *_ = placed("1 marine vs 2 marine", [(10, 10), (10, 18), (18, 10)])
    found |= {int(batch.player_actions("plain")[0, 0, 0]) for _ in range(40)}
    assert found == {NORTH, EAST}  # one of those it sees, at random


def test_players_choose_what_is_legal_and_leave_the_world_s_future_alone():
    for choices in ({"scenario": "2s3z"}, {"scenario": "MMM2", "rules": "smac"}):
        batch = begun(20, opponent="self", **choices)
        for t in range(40):
            for player in SPEC.players:
                before = batch.records(0)[1].copy()
                actions = batch.player_actions(player)[..., 0].copy()
                after = batch.records(0)[1]
                for name in before.dtype.names:
                    if not name.startswith(("_", "players_rng")):
                        np.testing.assert_array_equal(before[name], after[name])
                legal = np.take_along_axis(batch.masks, actions[..., None], axis=2)[..., 0]
                alive = np.array([batch.records(i)[1].alive for i in range(20)])
                assert legal[alive].all()
            batch.player_actions(SPEC.players[t % 3])
            batch.rollout(batch.actions.reshape(20, 1, batch.agents, 1).copy())


# return, win rate, length: random allies, then allies on the plain heuristic; the original's over 1000 episodes, except
# the last (see below)
REFERENCE = {
    "3m": ((0.177, 0.000, 17.8), (1.438, 0.527, 13.9)),
    "8m": ((0.179, 0.000, 21.0), (1.402, 0.489, 17.5)),
    "2s3z": ((0.208, 0.000, 53.7), (1.397, 0.481, 71.5)),
    "3s5z": ((0.200, 0.000, 54.6), (1.327, 0.409, 81.9)),
    "5m_vs_6m": ((0.142, 0.000, 18.3), (0.573, 0.000, 12.5)),
    "10m_vs_11m": ((0.165, 0.000, 21.0), (0.738, 0.034, 15.9)),
    "3s_vs_5z": ((0.222, 0.000, 42.9), (0.300, 0.000, 32.2)),
    "6h_vs_8z": ((0.326, 0.000, 35.9), (0.622, 0.000, 27.5)),
    "3s5z_vs_3s6z": ((0.173, 0.000, 50.9), (0.621, 0.000, 56.1)),
}


def agrees(scenario, n, near):
    for player, wanted in zip(("random", "plain"), REFERENCE[scenario], strict=True):
        value, won, length = episodes(scenario, player, n)
        assert value == pytest.approx(wanted[0], abs=near * 1.2 * max(np.sqrt(wanted[1] * (1 - wanted[1])), 0.1) + 0.01)
        assert won == pytest.approx(wanted[1], abs=near * np.sqrt(max(wanted[1] * (1 - wanted[1]), 0.003)) + 1e-9)
        assert length == pytest.approx(wanted[2], rel=0.03)


@pytest.mark.parametrize("scenario", ["3m", "8m"])
def test_reference_values(scenario):
    """400 episodes here, 1000 there: four standard errors of a win rate are 0.12."""
    agrees(scenario, 400, 4 * np.sqrt(1 / 400 + 1 / 1000))


@pytest.mark.slow
@pytest.mark.parametrize("scenario", REFERENCE)
def test_reference_table(scenario):
    agrees(scenario, 1000, 3 * np.sqrt(2 / 1000))


@pytest.mark.parametrize(("scenario", "least"), [("3m", 0.57), ("8m", 0.62), ("2s3z", 0.62), ("3s_vs_5z", 0.75)])
def test_kiting_beats_plain(scenario, least):
    """In battles of equals the plain player wins half; 3s_vs_5z it never wins."""
    assert episodes(scenario, "kiting", 300)[1] > least


def test_kiting_beats_plain_in_self_play_from_both_sides():
    for ours, theirs, sign in (("kiting", "plain", 1), ("plain", "kiting", -1)):
        slots = [ours] * 8 + [theirs] * 8
        value, *_ = episodes("8m", lambda batch, slots=slots: batch.player_actions(slots), 300, opponent="self")
        assert sign * value > 0.3


def test_opponents_differ():
    wins = {opponent: episodes("3m", "plain", 200, opponent=opponent)[1] for opponent in ("random", "plain", "kiting")}
    assert wins["random"] > wins["plain"] > wins["kiting"]


def open_loop(scores):
    """A policy of the time step alone: every agent draws from a distribution over actions by time."""
    step = [0]
    dice = np.random.default_rng(1)

    def policy(batch):
        row = scores[min(step[0], len(scores) - 1)]
        step[0] += 1
        return dice.choice(len(row), p=row, size=(batch.num_envs, batch.agents, 1))

    return policy


def best_open_loop(scenario, rounds, **choices):
    """The win rate of a policy of the time step alone, its distributions improved by the cross-entropy method."""
    size, length, dice = make(scenario=scenario, **choices).setup.action_size, 40, np.random.default_rng(0)
    mean = np.zeros((length, size))
    for _ in range(rounds):
        tried = mean + dice.normal(size=(16, length, size))
        shares = np.exp(tried) / np.exp(tried).sum(axis=-1, keepdims=True)
        values = [episodes(scenario, open_loop(rows), 60, seed=1000, **choices)[0] for rows in shares]
        mean = tried[np.argsort(values)[-4:]].mean(axis=0)
    rows = np.exp(2 * mean) / np.exp(2 * mean).sum(axis=-1, keepdims=True)
    return episodes(scenario, open_loop(rows), 400, **choices)[1]


def attack_or_go(batch, move):
    """Attack the first legal target, else make one move: all that the mask tells, and nothing else."""
    first = batch.records(0)[0].first_target
    wishes = np.zeros(batch.masks.shape[-1])
    wishes[first:] = np.arange(len(wishes) - first, 0, -1) + 10
    wishes[move] = 5
    return np.where(batch.masks > 0, wishes, -1).argmax(axis=-1)[..., None]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "choices"),
    [("smacv2_5_units", {}), ("terran_5_vs_5", {"rules": "smac"}), ("zerg_5_vs_5", {"rules": "smac"})],
)
def test_open_loop_policies_fail_in_random_battles(scenario, choices):
    assert best_open_loop(scenario, 12, **choices) <= 0.12


def test_always_walking_east_fails_in_random_battles_alone():
    """A constant policy that obeys the mask wins half of 3m, and hardly ever where teams and places are drawn."""
    assert episodes("3m", lambda batch: attack_or_go(batch, EAST), 300)[1] > 0.4
    assert episodes("smacv2_5_units", lambda batch: attack_or_go(batch, EAST), 300)[1] <= 0.12
