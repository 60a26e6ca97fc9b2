"""The coin game: recorded episodes of JaxMARL, move for move; its payoffs, rounds and players."""

import numpy as np
import pytest
from support.batches import begun
from support.places import DATA

RECORDED = np.load(DATA / "jaxmarl_dilemmas.npz")
COIN = "CoinGame-v0"
LEFT, STAY = 1, 4


def recorded(view, name):
    return RECORDED[f"coins_{view}_{name}"]


@pytest.mark.parametrize("view", ["fixed", "egocentric"])
def test_recorded_episodes_are_the_same(view):
    """Every step is played from its recorded state: moves, rewards, which coins stay, and what both see."""
    actions = recorded(view, "actions")
    length, batch = len(actions), begun(COIN, len(actions), egocentric=view == "egocentric")
    places = np.stack([recorded(view, "first"), recorded(view, "second")], axis=1)
    coins = np.stack([recorded(view, "first_coin"), recorded(view, "second_coin")], axis=1)
    s = batch.states
    s["position"][:], s["coin"][:], s["elapsed"][:] = places[:-1], coins[:-1], np.arange(length)
    batch.sync_from_state(np.arange(length))
    np.testing.assert_array_equal(batch.observations, recorded(view, "seen"))
    batch.step(actions)
    np.testing.assert_array_equal(batch.rewards, recorded(view, "rewards"))
    within = np.arange(1, length + 1) % 10 != 0
    np.testing.assert_array_equal(s["position"][within], places[1:][within])
    picked = (places[1:, :, None] == coins[:-1, None]).all(axis=-1).any(axis=1)
    kept = ~picked & within[:, None]
    np.testing.assert_array_equal(s["coin"][kept], coins[1:][kept])
    assert (batch.rewards[~within] == 0).all()
    assert np.count_nonzero(batch.rewards) > 10
    assert (~kept & within[:, None]).sum() > 10


@pytest.mark.parametrize(
    ("places", "paid"),
    [
        ([[0, 0], [1, 1]], [1, 1]),
        ([[1, 1], [2, 2]], [1, -2]),
        ([[0, 0], [0, 0]], [-1, 1]),
        ([[1, 1], [0, 0]], [-1, -1]),
        ([[2, 2], [2, 2]], [0, 0]),
    ],
)
def test_payoffs(places, paid):
    """The first agent's coin is at (0, 0), the second's at (1, 1): 1 for any coin, -2 for one that the other took."""
    batch = begun(COIN)
    batch.states["position"][0], batch.states["coin"][0] = places, [[0, 0], [1, 1]]
    batch.step(np.array([[STAY, STAY]]))
    assert batch.rewards[0].tolist() == paid


def test_coins_appear_everywhere():
    """All nine cells, each a ninth of the time."""
    worlds = 4500
    batch = begun(COIN, worlds)
    batch.states["position"][:], batch.states["coin"][:, 0], batch.states["coin"][:, 1] = [[0, 0], [2, 2]], 0, 1
    batch.step(np.full((worlds, 2), STAY))
    cells = batch.states["coin"][:, 0] @ [3, 1]
    assert np.abs(np.bincount(cells, minlength=9) - worlds / 9).max() < 4 * np.sqrt(worlds / 9 * 8 / 9)
    assert (batch.states["coin"][:, 1] == 1).all()


def test_rounds():
    """Every ten steps all is at random places again, and nothing is paid."""
    batch = begun(COIN, 500)
    for step in range(1, 21):
        before = batch.states["position"].copy()
        batch.step(np.full((500, 2), LEFT))
        moved = (batch.states["position"] == (before + [0, 2]) % 3).all(axis=(1, 2)).mean()
        assert moved == 1.0 if step % 10 else moved < 0.1
        assert (batch.rewards != 0).any() == (step % 10 != 0)


def test_players():
    """Fair agents take each other's coins together alone; tit for tat takes one for one."""
    batch = begun(COIN, 50)
    for _ in range(100):
        batch.step(batch.player_actions("fair"))
        assert (batch.terms[:, 1, 0] == batch.terms[:, 1, 1]).all()
    batch = begun(COIN, 50)
    taken = np.zeros(2)
    for _ in range(100):
        batch.step(batch.player_actions(["tit_for_tat", "spiteful"]))
        taken += batch.terms[:, 1].sum(axis=0)
    assert 0.6 < taken[0] / taken[1] <= 1.0


def test_tit_for_tat_is_fair_to_the_fair():
    """Coins that both take in one step are owed to nobody."""
    returns = []
    for players in ("fair", "tit_for_tat"):
        batch, paid = begun(COIN, 200), 0.0
        for _ in range(99):
            batch.step(batch.player_actions([players] * 2))
            paid += batch.rewards.sum()
        assert (batch.states["debt"] == 0).all()
        returns.append(paid)
    assert returns[0] == returns[1]


def test_fair_agents_go_around_the_others_coins():
    """And do not wait for each other for ever."""
    batch = begun(COIN, 200, level="large", side=7)
    still = np.zeros(200)
    for _ in range(99):
        actions = batch.player_actions("fair")
        still += (actions.reshape(200, 2) == 4).all(axis=1)
        batch.step(actions)
    assert still.max() <= 3  # both begin on their coins
