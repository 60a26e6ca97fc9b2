"""Diagnostic memory tasks: their published numbers, and that memory is needed."""

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError

# the most that a policy can get
MOST = {
    "TMaze-v0": 4.0,
    "RepeatFirst-v0": 1.0,
    "RepeatPrevious-v0": 1.0,
    "Concentration-v0": 1.0,
    "NBack-v0": 1.0,
    "MemoryLength-v0": 1.0,
    "MemorySize-v0": 1.0,
}


def play(id, choose, count=200, **options):
    """Returns and lengths of an episode of each of so many worlds."""
    batch = rlenvs.make_batch(id, count, **options)
    batch.seed(0)
    batch.reset()
    total, length, over = np.zeros(count), np.zeros(count, int), np.zeros(count, bool)
    while not over.all():
        batch.step(choose(batch))
        total += batch.rewards[:, 0] * ~over
        length += ~over
        over |= batch.terminated[:, 0] | batch.truncated[:, 0]
    return total, length


@pytest.mark.parametrize("id", MOST)
def test_experts_get_the_most(id):
    for level in (None, *rlenvs.make_batch(id, 1).world.levels):
        total, _ = play(id, lambda batch: batch.expert_actions(), 50, level=level)
        np.testing.assert_allclose(total, MOST[id])


@pytest.mark.parametrize("id", ["RepeatFirst-v0", "RepeatPrevious-v0", "MemoryLength-v0", "MemorySize-v0"])
def test_random_answers_get_what_chance_gives(id):
    """Of four suits one is right, 1/4 - 3/4; of two bits one."""
    generator = np.random.default_rng(0)
    count = 3000
    total, _ = play(id, lambda batch: generator.integers(0, batch.setup.choices[0], count), count)
    expected = -0.5 if id.startswith("Repeat") else 0.0
    assert abs(total.mean() - expected) < 4.0 * total.std() / count**0.5


@pytest.mark.parametrize(("decks", "steps"), [(1, 51), (2, 103), (3, 155)])
def test_decks_are_dealt_to_the_last_card(decks, steps):
    _, length = play("RepeatPrevious-v0", lambda batch: batch.expert_actions(), 5, decks=decks)
    assert set(length) == {steps}


def test_the_suit_of_some_cards_before_is_asked_for():
    env = gymnasium.make("rlenvs/RepeatPrevious-v0", k=3)
    seen, _ = env.reset(seed=1)
    shown, right = [int(seen)], 0
    for step in range(51):
        answer = shown[-3] if step >= 2 else 0
        seen, reward, _, truncated, info = env.step(answer)
        assert reward == pytest.approx(1.0 / 49 if step >= 2 else 0.0)
        assert info["reward_memory_distance"] == (2 if step >= 2 else 0)
        shown.append(int(seen))
        right += reward > 0
    assert truncated
    assert right == 49
    assert np.bincount(shown).tolist() == [13, 13, 13, 13]


def test_more_cards_back_than_there_are_is_refused():
    with pytest.raises(ParameterError, match="must be less than the number of cards, 52"):
        rlenvs.make_batch("RepeatPrevious-v0", 1, k=52)


def test_bits_are_shown_and_asked_for_as_in_bsuite():
    """memory_len 3: the bit at the start and after the first step, the question one step before the end."""
    env = gymnasium.make("rlenvs/MemoryLength-v0", memory_length=3)
    seen, _ = env.reset(seed=0)
    bit = seen[2]
    assert bit in (-1.0, 1.0)
    rows = [seen]
    for step in range(4):
        seen, reward, terminated, truncated, _ = env.step(int(bit > 0))
        rows.append(seen)
        assert reward == (1.0 if step == 3 else 0.0)
        assert terminated == (step == 3)
        assert not truncated
    np.testing.assert_allclose([row[0] for row in rows], [1, 1, 2 / 3, 1 / 3, 0], rtol=1e-6)
    assert [row[2] for row in rows] == [bit, bit, 0, 0, 0]


def test_the_question_says_which_bit():
    env = gymnasium.make("rlenvs/MemorySize-v0", num_bits=5)
    asked = set()
    for seed in range(40):
        first, _ = env.reset(seed=seed)
        second, *_ = env.step(0)
        third, *_ = env.step(0)
        np.testing.assert_array_equal(first, second)
        assert not third[2:].any()
        _, reward, terminated, _, _ = env.step(int(first[2 + int(third[1])] > 0))
        assert (reward, terminated) == (1.0, True)
        asked.add(int(third[1]))
    assert asked == set(range(5))


def test_the_maze_has_the_signs_and_rewards_of_the_paper():
    env = gymnasium.make("rlenvs/TMaze-v0", length=2)
    starts = set()
    for seed in range(20):
        sign, _ = env.reset(seed=seed)
        starts.add(tuple(sign))
        north = sign[2] > 0
        seen, reward, *_ = env.step(0)  # against the wall
        assert reward == pytest.approx(-0.1)
        np.testing.assert_array_equal(seen, sign)
        corridor, reward, *_ = env.step(1)
        assert (corridor.tolist(), reward) == ([1, 0, 1], 0)
        junction, *_ = env.step(1)
        assert junction.tolist() == [0, 1, 0]
        _, reward, terminated, _, info = env.step(0)
        assert reward == pytest.approx(4.0 if north else -0.1)
        assert terminated
        assert info["is_success"] == north
        assert info["reward_memory_distance"] == 4
    assert starts == {(0, 1, 1), (1, 1, 0)}


def test_a_third_of_the_symbols_come_back():
    env = gymnasium.make("rlenvs/NBack-v0", n=3, length=3000)
    seen, _ = env.reset(seed=0)
    shown, same = [int(seen)], 0
    for _ in range(3002):
        answer = int(len(shown) > 3 and shown[-1] == shown[-4])
        seen, reward, *_ = env.step(answer)
        assert reward == pytest.approx(1 / 3000 if len(shown) > 3 else 0.0)
        same += answer
        shown.append(int(seen))
    assert abs(same / 3000 - 1 / 3) < 0.04


def test_pairs_pay_and_misses_cost_as_published():
    """1 / 26 for a pair, -2 / 104 for a miss, 104 steps for a deck; an open card makes no pair."""
    batch = rlenvs.make_batch("Concentration-v0", 1)
    batch.seed(0)
    batch.reset()
    assert batch.setup.horizon == 104
    deck = batch.states["deck"][0]
    assert np.bincount(deck).tolist() == [4] * 13
    mate = next(k for k in range(1, 52) if deck[k] == deck[0])
    other = next(k for k in range(1, 52) if deck[k] != deck[0])
    assert (batch.observations == 13).all()
    got = []
    for card in (0, other, 0, mate, 0, mate, other, other):
        batch.step(np.array([card]))
        got.append(batch.rewards[0, 0])
    np.testing.assert_allclose(got, [0, -2 / 104, 0, 1 / 26, 0, -2 / 104, 0, -2 / 104])
    assert batch.observations[0, 0, [0, mate]].tolist() == [deck[0], deck[0]]
