"""The lattice dilemma: its game, its neighborhoods, what agents see, its players."""

import numpy as np
import pytest
from support.batches import begun

import rlenvs
from rlenvs.core.declare.errors import ParameterError

LATTICE = "LatticeDilemma-v0"
COOPERATE, DEFECT = 0, 1
TABLE = np.array([[4.0, 0.0], [3.0, 2.0]])  # R, S; T, P


def neighbors(k, agents, columns, reach=1):
    """Of an agent on a ring (one row) or a torus, from the left one on; written down from the page."""
    if columns == agents:
        return [(k + step) % agents for step in range(-reach, reach + 1) if step]
    row, column = divmod(k, columns)
    rows = agents // columns
    return [row * columns + (column - 1) % columns, row * columns + (column + 1) % columns] + [
        (row + down) % rows * columns + column for down in (-1, 1)
    ]


@pytest.mark.parametrize(
    ("keywords", "columns", "reach"),
    [({}, 16, 1), ({"neighbors": 3}, 16, 3), ({"lattice": "torus", "agents": 12}, 4, 1), ({"level": "large"}, 10, 1)],
)
def test_payoffs_and_views(keywords, columns, reach):
    """The mean of the table over the neighbors, less 0.5 for cooperators in bad conditions; the last choices of all."""
    batch = begun(LATTICE, 3, **keywords)
    agents, dice = batch.agents, np.random.default_rng(0)
    around = np.array([neighbors(k, agents, columns, reach) for k in range(agents)])
    assert (batch.observations[..., [0, *range(2, 2 + around.shape[1])]] == -1).all()
    for _ in range(3):
        bad, chosen = batch.states["bad"].copy(), dice.integers(2, size=(3, agents))
        np.testing.assert_array_equal(batch.observations[..., 1], bad)
        batch.step(chosen)
        expected = TABLE[chosen[:, :, None], chosen[:, around]].mean(axis=-1) - 0.5 * (bad & (chosen == COOPERATE))
        np.testing.assert_allclose(batch.rewards, expected)
        np.testing.assert_allclose(batch.terms[:, 1], np.tile((chosen == COOPERATE).mean(axis=1)[:, None], agents))
        np.testing.assert_array_equal(batch.observations[..., 0], chosen)
        np.testing.assert_array_equal(batch.observations[..., 2:], chosen[:, around])


@pytest.mark.parametrize("lattice", ["ring", "torus"])
def test_cooperation_is_stable_and_pays_most(lattice):
    """Whoever leaves the cooperation of all loses, in good and in bad conditions; nothing else pays all as much. Where
    all defect, whoever cooperates loses too."""
    batch = begun(LATTICE, 2, lattice=lattice)
    for usual, paid in ((COOPERATE, [4.0, 3.5]), (DEFECT, [2.0, 2.0])):
        for own in (usual, 1 - usual):
            batch.states["bad"][0], batch.states["bad"][1] = 0, 1
            chosen = np.full((2, 16), usual)
            chosen[:, 5] = own
            batch.step(chosen)
            if own == usual:
                np.testing.assert_allclose(batch.rewards[:, 5], paid)
            else:
                assert (batch.rewards[:, 5] < paid).all()


def test_conditions_change():
    """With a probability of 0.1 per round for each agent; half are bad."""
    batch = begun(LATTICE, 400)
    first, changes = batch.states["bad"].copy(), 0
    assert abs(first.mean() - 0.5) < 4 * 0.5 / np.sqrt(first.size)
    for _ in range(10):
        before = batch.states["bad"].copy()
        batch.step(np.zeros((400, 16), int))
        changes += (batch.states["bad"] != before).sum()
    assert abs(changes / (10 * first.size) - 0.1) < 4 * np.sqrt(0.09 / (10 * first.size))


def test_players():
    batch = begun(LATTICE, level="calm", agents=5)

    def answers(name):
        return batch.player_actions(name)[0, :, 0].tolist()

    assert answers("majority") == [0] * 5
    assert answers("imitate") == [0] * 5
    batch.step(np.array([[0, 0, 0, 1, 1]]))
    assert answers("majority") == [0, 0, 0, 0, 0]  # at most one neighbor of each defected
    # gains are 2, 4, 2, 2.5, 2.5
    assert answers("imitate") == [0, 0, 0, 1, 1]
    batch.step(np.array([[0, 1, 0, 1, 1]]))
    assert answers("majority") == [1, 0, 1, 0, 0]
    assert answers("cooperate") == [0] * 5
    assert answers("defect") == [1] * 5


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"agents": 6, "neighbors": 3}, "at most 2 neighbors"),
        ({"agents": 8, "lattice": "torus"}, "make no torus"),
        ({"agents": 17, "lattice": "torus"}, "make no torus"),
    ],
)
def test_lattices_that_are_none_are_refused(keywords, said):
    with pytest.raises(ParameterError, match=said):
        rlenvs.make_batch(LATTICE, 1, **keywords)
