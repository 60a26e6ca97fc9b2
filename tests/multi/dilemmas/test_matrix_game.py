"""Matrix games: the inequalities of dilemmas, payoffs of any table, memory, players, reward options, refusals."""

import itertools

import numpy as np
import pytest
from support.batches import begun

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.keys import action_of_keys, steering_keys
from rlenvs.core.declare.setup import Setup
from rlenvs.core.forms.recorder import Recorder
from rlenvs.core.forms.render import compose
from rlenvs.multi.dilemmas.matrix_game import CHICKEN, PRISONERS_DILEMMA, STAG_HUNT
from rlenvs.multi.dilemmas.tables import public_goods, table_of

GAME = "MatrixGame-v0"
COOPERATE, DEFECT = range(2)
BATTLE_OF_THE_SEXES = [[[3, 2], [0, 0]], [[0, 0], [2, 3]]]


@pytest.mark.parametrize(
    ("table", "numbers", "greed", "fear"),
    [
        (PRISONERS_DILEMMA, (3, 0, 5, 1), True, True),
        (CHICKEN, (3, 1, 4, 0), True, False),
        (STAG_HUNT, (4, 0, 3, 1), False, True),
    ],
)
def test_dilemmas_of_two(table, numbers, greed, fear):
    (both, sucker), (tempted, neither) = table
    assert (both, sucker, tempted, neither) == numbers
    assert both > neither
    assert both > sucker
    assert 2 * both > tempted + sucker
    assert (tempted > both, neither > sucker) == (greed, fear)


@pytest.mark.parametrize(("players", "multiplier"), [(2, 1.5), (4, 2.0), (30, 1.6)])
def test_public_goods(players, multiplier):
    """r c / N - c_i: keeping is better for oneself by 1 - r / N whatever others do, and worse for all by r - 1."""
    give, keep = np.array(public_goods(players, multiplier, endowment=0.0))
    others = np.arange(players - 1, -1, -1)
    np.testing.assert_allclose(give, multiplier * (others + 1) / players - 1)
    np.testing.assert_allclose(keep, multiplier * others / players)
    np.testing.assert_allclose(keep - give, 1 - multiplier / players)
    assert give[0] - keep[-1] == pytest.approx(multiplier - 1)


@pytest.mark.parametrize("id", ["MatrixGame-v0", "Chicken-v0", "StagHunt-v0"])
def test_payoffs_of_two(id):
    batch = begun(id, 4)
    batch.step(np.array(list(itertools.product(range(2), repeat=2))))
    both, sucker, tempted, neither = np.array(table_of(batch.setup.values.payoffs).payoffs)
    assert batch.rewards.tolist() == [[both, both], [sucker, tempted], [tempted, sucker], [neither, neither]]


def test_payoffs_by_number():
    batch = begun("PublicGoods-v0", 16)
    choices = np.array(list(itertools.product(range(2), repeat=4)))
    batch.step(choices)
    gifts = 1 - choices
    np.testing.assert_allclose(batch.rewards, 1 - gifts + 2 * gifts.sum(axis=1, keepdims=True) / 4)


def test_any_table():
    """Three players with 2, 3 and 4 choices; and one table for two, not symmetric."""
    table = np.random.default_rng(0).normal(size=(2, 3, 4, 3))
    choices = np.array(list(np.ndindex(2, 3, 4)))
    batch = begun(GAME, len(choices), payoffs=table.tolist())
    batch.step(choices)
    np.testing.assert_array_equal(batch.rewards, table[tuple(choices.T)])
    env = rlenvs.parallel_env(GAME, payoffs=table.tolist())
    assert [env.action_space(agent).n for agent in env.possible_agents] == [2, 3, 4]
    batch = begun(GAME, 4, payoffs=BATTLE_OF_THE_SEXES)
    batch.step(np.array(list(np.ndindex(2, 2))))
    assert batch.rewards.tolist() == [[3, 2], [0, 0], [0, 0], [2, 3]]
    batch = begun(GAME, 9, payoffs=[[0, -1, 1], [1, 0, -1], [-1, 1, 0]])  # rock, paper, scissors
    batch.step(np.array(list(np.ndindex(3, 3))))
    assert (batch.rewards.sum(axis=1) == 0).all()
    assert batch.rewards[1].tolist() == [-1, 1]


@pytest.mark.parametrize("memory", [0, 1, 3])
def test_memory(memory):
    """The last rounds, the latest first, oneself first."""
    batch = begun(GAME, memory=memory)
    rounds = [[0, 1], [1, 1], [1, 0], [0, 0]]
    for n, chosen in enumerate(rounds):
        for k in range(2):
            seen = [1.0]
            for back in range(memory):
                past = rounds[n - 1 - back] if back < n else None
                for j in (k, 1 - k):
                    seen += [float(past is not None and past[j] == choice) for choice in range(2)]
            assert batch.observations[0, k].tolist() == seen
        batch.step(np.array([chosen]))


def play(first, second, rounds=6):
    """What two scripted players do."""
    batch, chosen = begun(GAME), []
    for _ in range(rounds):
        actions = batch.player_actions([first, second]).reshape(2)
        chosen.append("".join("CD"[a] for a in actions))
        batch.step(actions[None])
    return " ".join(chosen)


def test_players():
    assert play("tit_for_tat", "cooperate") == "CC CC CC CC CC CC"
    assert play("tit_for_tat", "defect") == "CD DD DD DD DD DD"
    assert play("grim", "defect") == "CD DD DD DD DD DD"
    assert play("pavlov", "defect") == "CD DD CD DD CD DD"
    batch = begun(GAME)
    batch.step(np.array([[COOPERATE, DEFECT]]))
    batch.step(np.array([[COOPERATE, COOPERATE]]))  # the other one repents
    answers = [batch.player_actions([name, "cooperate"]).reshape(2)[0] for name in ("tit_for_tat", "grim", "pavlov")]
    assert answers == [COOPERATE, DEFECT, COOPERATE]


def test_collective_reward():
    batch = begun("PublicGoods-v0", level="collective")
    batch.step(np.array([[0, 1, 1, 0]]))
    assert batch.rewards.tolist() == [[6.0] * 4]
    assert batch.terms[0, 0].tolist() == [1.0, 2.0, 2.0, 1.0]


@pytest.mark.parametrize("smoothing", [0.0, 0.9])
def test_inequity_aversion(smoothing):
    """The formula of Hughes et al., with gains smoothed over time."""
    envy, guilt = 2.0, 0.5
    batch = begun("PublicGoods-v0", reward="inequity", envy=envy, guilt=guilt, smoothing=smoothing)
    wealth = np.zeros(4)
    for chosen in ([0, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 0]):
        batch.step(np.array([chosen]))
        gains = batch.terms[0, 0]
        wealth = smoothing * wealth + gains
        gaps = wealth[None] - wealth[:, None]
        averse = envy * np.maximum(gaps, 0).sum(axis=1) / 3 + guilt * np.maximum(-gaps, 0).sum(axis=1) / 3
        np.testing.assert_allclose(batch.rewards[0], gains - averse)


def test_the_largest_inequity_is_in_its_bounds():
    """At the ends of all ranges, where gains of 1000 and -1000 have added up for ever; Harvest's differ more, by an
    apple, a shot and a hit by each of the agents."""
    batch = begun(GAME, payoffs=[[-1000] * 2, [1000] * 2], reward="inequity", envy=100.0, guilt=100.0, smoothing=0.999)
    batch.records(0)[1].wealth[:] = 1e6, -1e6
    batch.step(np.array([[1, 0]]))
    number = list(batch.world.terms).index("social")
    np.testing.assert_allclose(batch.terms[0, number], -2e8)
    for id in (GAME, "Harvest-v0"):
        world = world_of(id)
        terms, most = world.terms, {name: world.params[name].high for name in ("envy", "smoothing")}
        of_gain = [terms[name] for name in ("payoff", "apple", "shot", "hit") if name in terms]
        gap = sum(term.weight * (term.high - term.low) for term in of_gain)
        assert terms["social"].low <= -most["envy"] * gap / (1.0 - most["smoothing"])


@pytest.mark.parametrize(
    ("payoffs", "said"),
    [
        ([1, 2], r"shape \(2,\)"),
        ([[3, 0], [5, 1], [1, 1]], r"shape \(3, 2\)"),
        ([[3], [5]], r"shape \(2, 1\)"),
        ([[[3, 3, 3], [0, 5, 1]], [[5, 0, 1], [1, 1, 1]]], r"shape \(2, 2, 3\)"),
        ([[3, 0], [5]], "rows of equal length"),
        ([[3, 0], [5, "one"]], "consists of numbers"),
        ([[3, 0], [5, float("nan")]], r"in \[-1000, 1000\]"),
        ([[1] * 101] * 2, "at most 100 players"),
        ([[1] * 17] * 17, "16 choices"),
    ],
)
def test_tables_that_are_none_are_refused(payoffs, said):
    with pytest.raises(ParameterError, match=rf"payoffs=.*{said}"):
        rlenvs.make_batch(GAME, 1, payoffs=payoffs)


def test_a_key_for_each_choice_and_the_game_waits_for_one():
    pair, many = (Setup(world_of(GAME), payoffs=payoffs) for payoffs in ([[3, 0], [5, 1]], [[1] * 12] * 12))
    assert action_of_keys(pair, ()) is None
    assert steering_keys(pair) == {"1": COOPERATE, "2": DEFECT}
    assert steering_keys(many) == {str(n + 1): n for n in range(9)}


def test_payoffs_fit_into_their_cells():
    """A cell is 3 of 10 units wide, 154 pixels; a letter takes some 0.6 of its size."""
    payoffs = (-999.25, -1000.0), (0.001, 999.999)
    batch = begun("MatrixGame-v0", payoffs=payoffs)
    recorder = Recorder()
    compose(batch, 0, recorder)
    texts = [shape.style for shape in recorder.frame().shapes if shape.style[0] == "text"]
    shown = {f"{number:g}" for row in payoffs for number in row}
    written = [(len(text), size) for _, _, size, *_, text in texts if text in shown]
    assert len(written) == 8
    assert all(0.6 * size * letters < 0.68 * 154 for letters, size in written)
