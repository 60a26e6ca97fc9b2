"""Riddles: the switch riddle beside JaxMARL's and its best return; split mazes, and that every one can be solved."""

import itertools
from math import comb
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.riddles.switch_riddle import LIMITS, parity_value

JAXMARL = np.load(Path(__file__).parent.parent / "data" / "jaxmarl_cooperation.npz")
SWITCH, TELL = 1, 2


def begun(id, worlds=1, **choices):
    batch = rlenvs.make_batch(id, worlds, autoreset=AutoresetMode.DISABLED, **choices)
    batch.seed(range(worlds))
    batch.reset()
    return batch


def returns(batch, player):
    """Of the first agent, from here to the end of all episodes."""
    total = np.zeros(batch.num_envs)
    while not batch.over.all():
        running = ~batch.over
        batch.player_actions(player)
        batch.step_inplace(running)
        total += np.where(running, batch.rewards[:, 0], 0.0)
    return total


# --- switch riddle ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prisoners", JAXMARL["prisoners"].tolist())
def test_episodes_of_jaxmarl(prisoners):
    """Observations, rewards and ends, with the visitors that were drawn there. What is told ends an episode in both;
    after the last day JaxMARL is done, here the episode is truncated."""
    found = {name: JAXMARL[f"riddle{prisoners}_{name}"] for name in ("room", "observed", "actions", "rewards", "ends")}
    batch, fresh = begun("SwitchRiddle-v0", prisoners=prisoners), True
    for room, observed, actions, rewards, ends in zip(*found.values(), strict=True):
        if fresh:
            batch.reset()
        batch.states["turn"] = room
        batch.recompute_observations()
        np.testing.assert_array_equal(batch.observations[0], observed)
        batch.actions[0, :, 0] = actions
        batch.step_inplace()
        assert batch.rewards[0].tolist() == rewards.tolist()
        assert bool(batch.over[0]) == ends
        assert bool(batch.terminated[0].all()) == (actions[room] == TELL)
        fresh = ends


def chance_that_all_are_drawn(prisoners, days):
    ways = sum((-1) ** left * comb(prisoners, left) * (prisoners - left) ** days for left in range(prisoners + 1))
    return ways / prisoners**days


def test_the_best_return_with_three_prisoners():
    """No telling is true before all have been drawn, and who tells later than at once gains nothing, so the chance that
    all are drawn is a bound; parity frees the prisoners in all of these sequences, and kills them in none."""
    sequences = np.array(list(itertools.product(range(3), repeat=6)))
    batch = begun("SwitchRiddle-v0", len(sequences))
    total = np.zeros(len(sequences))
    for visitors in sequences.T:
        running = ~batch.over
        batch.states["turn"][running] = visitors[running]
        batch.recompute_observations()
        batch.player_actions("parity")
        batch.step_inplace(running)
        total += np.where(running, batch.rewards[:, 0], 0.0)
    everybody = np.array([len(set(row)) == 3 for row in sequences.tolist()])
    np.testing.assert_array_equal(total, everybody)
    assert everybody.mean() == pytest.approx(20 / 27)
    assert chance_that_all_are_drawn(3, 6) == pytest.approx(20 / 27)


@pytest.mark.parametrize(
    ("prisoners", "bound", "parity"),
    [(3, 0.7407, 0.7407), (4, 0.7806, 0.7697), (5, 0.7879, 0.7775), (7, 0.7770, 0.7566), (10, 0.7440, 0.7205)],
)
def test_what_parity_reaches_beside_the_bound(prisoners, bound, parity):
    """The table of the page; games agree with the exact value within four standard errors."""
    days = 4 * prisoners - 6
    exact = max(parity_value(prisoners, days, limit)[0] for limit in LIMITS)
    assert round(chance_that_all_are_drawn(prisoners, days), 4) == bound
    assert round(exact, 4) == parity
    played = returns(begun("SwitchRiddle-v0", 4000, prisoners=prisoners, lit=prisoners % 2 == 1), "parity")
    assert abs(played.mean() - exact) < 4 * played.std() / np.sqrt(len(played))


def test_telling_too_early_kills():
    batch = begun("SwitchRiddle-v0")
    batch.actions[:] = TELL
    batch.step_inplace()
    assert batch.rewards[0].tolist() == [-1.0] * 3
    assert batch.terminated.all()
    assert not batch.success.any()


# --- split maze -------------------------------------------------------------------------------------------------------


def distances(wall, goal):
    """By breadth-first search over cells by row and column; those that a way leads to."""
    size, found, border = len(wall), {goal: 0}, [goal]
    for row, column in border:
        for other in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if min(other) >= 0 and max(other) < size and not wall[other] and other not in found:
                found[other] = found[row, column] + 1
                border.append(other)
    return found


def test_mazes_are_those_of_the_paper():
    """6 x 6 cells, some 30 % walls, 7 to 9 steps to the goal, half of the cells for each."""
    batch = begun("SplitMaze-v0", 300)
    s, away = batch.states, []
    for wall, token, goal, far in zip(s["wall"].reshape(-1, 6, 6), s["token"], s["goal"], s["far"], strict=True):
        away.append(distances(wall, divmod(int(goal), 6))[divmod(int(token), 6)])
        assert away[-1] == far
    assert set(away) == {7, 8, 9}
    assert (s["half"].sum(axis=1) == 18).all()
    assert 0.2 < s["wall"].mean() < 0.4


@pytest.mark.parametrize("choices", [{}, {"words": 16}, {"level": "easy"}, {"level": "large"}])
def test_mapper_reaches_the_best_return_in_every_maze(choices):
    batch = begun("SplitMaze-v0", 500, **choices)
    np.testing.assert_allclose(returns(batch, "mapper"), 1.0, rtol=0, atol=1e-9)
    assert batch.success.all()


def test_without_words_the_way_costs_bumps():
    batch = begun("SplitMaze-v0", 500, level="silent")
    total = returns(batch, "mapper")
    assert (total <= 1.0 + 1e-9).all()
    assert total.mean() < 0.95


def test_the_token_moves_when_both_want_the_same():
    batch = begun("SplitMaze-v0")
    s = batch.states
    s["wall"][0] = 0
    s["token"], s["goal"] = 0, 14
    batch.actions[0] = [[4, 1], [2, 0]]
    batch.step_inplace()
    assert s["token"][0] == 0
    assert s["said"][0, :, 0].tolist() == [1, 0]
    assert s["wanted"][0].tolist() == [4, 2]
    batch.actions[0] = [[4, 0], [4, 0]]
    batch.step_inplace()
    assert s["token"][0] == 1
    batch.actions[0] = [[1, 0], [1, 0]]  # off the maze
    batch.step_inplace()
    assert s["token"][0] == 1
    assert batch.terms[0, 1].tolist() == [-1.0, -1.0]


def test_an_agent_sees_its_half_and_what_both_have_found_out():
    batch = begun("SplitMaze-v0", 50)
    s = batch.states
    for k in range(2):
        planes = batch.observations[:, k, :144].reshape(50, 4, 36)
        seen = (s["half"] == k) | s["known"]
        np.testing.assert_array_equal(planes[:, 0] + planes[:, 1], seen)
        np.testing.assert_array_equal(planes[:, 0][seen], s["wall"][seen])


def test_ways_that_no_maze_has_are_refused():
    with pytest.raises(ParameterError, match="the way between corners"):
        rlenvs.make_batch("SplitMaze-v0", 1, size=4, shortest=7)
    with pytest.raises(ParameterError, match="must not exceed longest"):
        rlenvs.make_batch("SplitMaze-v0", 1, shortest=8, longest=7)
