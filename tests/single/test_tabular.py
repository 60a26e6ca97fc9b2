"""Worlds given as tables: Gymnasium's matrices and tutorials, forms, bandits and bad input."""

import collections
import functools
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.toy_text import blackjack as published_blackjack
from numpy.testing import assert_allclose
from support.tabular import PLAYED, model

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.compiler import build
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, UnknownKeywordError
from rlenvs.core.declare.setup import Setup
from rlenvs.kits.tables.table import Table
from rlenvs.single.tabular import bandit, blackjack, frozen_lake, taxi

# --- Gymnasium's matrices ---------------------------------------------------------------------------------------------


def published_model(env):
    """The same arrays from the table `P` of one of Gymnasium's environments."""
    table = env.unwrapped.P
    shape = len(table), len(table[0])
    going_on, rewards = np.zeros((shape[1], shape[0], shape[0])), np.zeros(shape)
    for state, actions in table.items():
        for action, outcomes in actions.items():
            for probability, after, reward, ended in outcomes:
                rewards[state, action] += probability * reward
                going_on[action, state, after] += probability * (not ended)
    return going_on, rewards


def reachable(exact):
    """The states (bool) that episodes come to; the cliff's cells, for one, are none."""
    found = exact.start > 0
    for _ in range(len(found)):
        found = found | (sum(matrix.T @ found.astype(float) for matrix in exact.P) > 0)
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "options"),
    [
        ("FrozenLake-v0", "FrozenLake-v1", {}),
        ("FrozenLake-v0", "FrozenLake-v1", {"is_slippery": False}),
        ("FrozenLake-v0", "FrozenLake-v1", {"success_rate": 0.7, "reward_schedule": [10, -3, -0.5]}),
        ("FrozenLake-v0", "FrozenLake-v1", {"desc": ["SFF", "HFS", "GFF"]}),
        ("FrozenLake8x8-v0", "FrozenLake8x8-v1", {}),
        ("CliffWalking-v0", "CliffWalking-v1", {}),
        ("CliffWalking-v0", "CliffWalking-v1", {"is_slippery": True}),
        ("Taxi-v0", "Taxi-v4", {}),
        ("Taxi-v0", "Taxi-v4", {"is_rainy": True, "rainy_probability": 0.6}),
    ],
)
def test_matrices_are_gymnasiums(ours, theirs, options):
    given = dict(options)
    if "reward_schedule" in given:
        given["reward_schedule"] = tuple(given["reward_schedule"])
    published = gymnasium.make(theirs, **given)
    env = gymnasium.make(f"rlenvs/{ours}", **options)
    going_on, rewards = published_model(published)
    exact = env.unwrapped.model
    reached = reachable(exact)
    assert env.observation_space == published.observation_space
    assert env.action_space == published.action_space
    assert reached.sum() > 1
    for action, matrix in enumerate(exact.P):
        assert_allclose(matrix.toarray()[reached], going_on[action][reached], rtol=0, atol=1e-12)
    assert_allclose(exact.R[reached], rewards[reached], rtol=0, atol=1e-12)
    assert_allclose(exact.start, published.unwrapped.initial_state_distrib, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rainy", [False, True])
def test_masks_of_the_taxi_are_gymnasiums(rainy):
    published = gymnasium.make("Taxi-v4", is_rainy=rainy).unwrapped
    exact = model("Taxi-v0", is_rainy=rainy)
    for state in range(500):
        assert np.array_equal(exact.allowed[state], published.action_mask(state)), taxi.parts_of(state)


def test_time_limits_are_gymnasiums():
    pairs = {"FrozenLake-v0": "FrozenLake-v1", "FrozenLake8x8-v0": "FrozenLake8x8-v1", "Taxi-v0": "Taxi-v4"}
    for ours, theirs in pairs.items():
        assert gymnasium.spec(f"rlenvs/{ours}").max_episode_steps == gymnasium.spec(theirs).max_episode_steps


def drawn(hand):
    """The hands that one more card makes, with their chances."""
    return [(tuple(sorted((*hand, card))), (4.0 if card == 10 else 1.0) / 13.0) for card in range(1, 11)]


@functools.cache
def dealers_ends(hand):
    """The chance of each hand that Gymnasium's dealer ends with."""
    if published_blackjack.sum_hand(hand) >= 17:
        return {hand: 1.0}
    ends = collections.defaultdict(float)
    for after, chance in drawn(hand):
        for end, further in dealers_ends(after).items():
            ends[end] += chance * further
    return ends


def published_value(env, least):
    """The exact expected reward of hitting below `least` in Gymnasium's game, whose own `step` pays for each end."""
    found = {}

    @functools.cache
    def worth(hand, dealer):
        if published_blackjack.is_bust(hand):
            return -1.0
        if published_blackjack.sum_hand(hand) < least:
            return sum(chance * worth(after, dealer) for after, chance in drawn(hand))
        key = published_blackjack.score(hand), published_blackjack.is_natural(hand), dealer
        if key not in found:
            found[key] = 0.0
            for (end, _), chance in grouped(dealer).items():
                env.player, env.dealer = list(hand), list(end)
                found[key] += chance * env.step(0)[1]
        return found[key]

    @functools.cache
    def grouped(dealer):
        groups = {}
        for end, chance in dealers_ends(dealer).items():
            kind = published_blackjack.score(end), published_blackjack.is_natural(end)
            first, before = groups.get(kind, (end, 0.0))
            groups[kind] = first, before + chance
        return {(end, kind): chance for kind, (end, chance) in groups.items()}

    value = 0.0
    for dealer, shows in drawn(()):
        for first, chance in drawn(()):
            value += shows * chance * sum(other * worth(hand, dealer) for hand, other in drawn(first))
    return value


@pytest.mark.parametrize(
    ("rules", "below_17"),
    [
        ({}, -0.0759),
        ({"natural": True}, -0.0759),
        ({"sab": False}, -0.0793),
        ({"sab": False, "natural": True}, -0.0585),
    ],
)
def test_blackjack_pays_exactly_as_gymnasiums(rules, below_17):
    """Policies that hit below a sum, by dynamic programming on our matrices and on Gymnasium's hands."""
    exact = model("Blackjack-v0", **rules)
    sums = np.array([blackjack.parts_of(number)[0] for number in range(560)] + [21] * 10)
    published = gymnasium.make("Blackjack-v1", **rules).unwrapped
    published.reset(seed=0)
    for least in (12, 17, 18, 20):
        hits, value = (sums < least).astype(int), np.zeros(570)
        for _ in range(22):
            follows = np.where(hits == 1, exact.P[1] @ value, exact.P[0] @ value)
            value = exact.R[np.arange(570), hits] + follows
        assert exact.start @ value == pytest.approx(published_value(published, least), abs=1e-12)
        if least == 17:
            assert exact.start @ value == pytest.approx(below_17, abs=5e-5)


# --- forms ------------------------------------------------------------------------------------------------------------


def test_all_tables_are_one_compile():
    keys = set()
    for id in PLAYED:
        setup = Setup(world_of(id))
        names = kernel_names(setup.world, setup.action_kind, False)
        keys.add(build.code_key(setup.world, setup.action_kind, names))
    assert len(keys) == 1


@pytest.mark.parametrize("id", [*PLAYED, "rlenvs/CarRental-v0", "rlenvs/ContextualBandit-v0"])
def test_one_hot_observations(id):
    plain, hot = gymnasium.make(id), gymnasium.make(id, encoding="one_hot")
    count = int(plain.observation_space.n)
    assert hot.observation_space == spaces.Box(0.0, 1.0, (count,), np.float32)
    state, vector = plain.reset(seed=2)[0], hot.reset(seed=2)[0]
    for step in range(20):
        assert vector.dtype == np.float32
        assert np.flatnonzero(vector).tolist() == [state]
        assert vector.sum() == 1.0
        action = step % int(plain.action_space.n)
        state, _, terminated, truncated, _ = plain.step(action)
        vector = hot.step(action)[0]
        if terminated or truncated:
            break
    many = rlenvs.make_vec(id, 3, encoding="one_hot")
    seen, _ = many.reset(seed=2)
    assert seen.shape == (3, count)
    assert (seen.sum(axis=1) == 1).all()


def test_one_hot_is_for_whole_numbers():
    with pytest.raises(ParameterError, match="one_hot"):
        rlenvs.make("QuadHover-v0", encoding="one_hot")


def test_masks_forbid_what_changes_nothing():
    for id in ("FrozenLake-v0", "CliffWalking-v0", "Gambler-v0"):
        exact = model(id)
        for action, matrix in enumerate(exact.P):
            stays = matrix.toarray().diagonal() == 1.0
            assert not (stays & exact.allowed[:, action] & (exact.allowed.sum(axis=1) < len(exact.P))).any(), id


def test_models_only_where_there_are_some():
    with pytest.raises(AttributeError, match=r"Bandit-v0 has no exact model"):
        _ = rlenvs.make("Bandit-v0").unwrapped.model
    with pytest.raises(AttributeError, match=r"QuadHover-v0 has no exact model"):
        rlenvs.solve_mdp("QuadHover-v0")
    assert rlenvs.make_vec("Taxi-v0", 2).model.R.shape == (500, 6)


def test_without_scipy_a_model_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.sparse.linalg", None)
    with pytest.raises(MissingExtraError, match=r"rlenvs-suite\[exact\]"):
        _ = rlenvs.make("Taxi-v0").unwrapped.model


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"desc": ["SFF", "FX", "FFG"]}, "row 1 is 'FX'"),
        ({"desc": ["SFF", "FXF", "FFG"]}, "row 1 is 'FXF'"),
        ({"desc": ["SHF", "HFF", "FFG"]}, "no path over the ice"),
        ({"desc": "SFFG"}, "a list of rows"),
        ({"desc": []}, "1 to 64 rows"),
        ({"success_rate": 1.5}, r"a probability in \[0, 1\], not 1.5"),
        ({"success_rate": float("nan")}, "a probability"),
        ({"reward_schedule": [1, 0]}, "three numbers"),
        ({"map_name": "9x9"}, "4x4"),
        ({"map_name": "random", "map_size": 1}, "map_size"),
    ],
)
def test_bad_lakes_are_refused(options, told):
    with pytest.raises(ParameterError, match=told):
        rlenvs.make("FrozenLake-v0", **options)


def test_unknown_keywords_are_refused():
    with pytest.raises(UnknownKeywordError, match="is_slippery"):
        rlenvs.make("FrozenLake-v0", slippery=True)


def test_a_lake_without_ice_is_refused_in_time():
    """Random maps that hardly ever have a way."""
    with pytest.raises(ParameterError, match="frozen"):
        rlenvs.make("FrozenLake-v0", map_name="random", map_size=64, frozen=0.05)


@pytest.mark.parametrize(
    ("add", "told"),
    [
        (lambda t: t.add(0, 0, 0, probability=0.5), "add up to 0.5"),
        (lambda t: t.add(0, 0, 3), "a next state is one of 0 ... 1, not 3"),
        (lambda t: t.add(0, 0, 1, float("nan")), "rewards are finite"),
        (lambda t: None, "add up to 0, not to 1"),
    ],
)
def test_bad_tables_are_refused(add, told):
    table = Table(2, 1)
    table.starts[0] = 1.0
    add(table)
    table.stay(1)
    with pytest.raises(ParameterError, match=told):
        table.data()


def test_bad_wishes_of_solve_are_refused():
    for wish in ({"gamma": 0.0}, {"gamma": 1.5}, {"gamma": float("nan")}, {"gamma": True}, {"gamma": "0.9"}):
        with pytest.raises(ParameterError, match="gamma"):
            rlenvs.solve_mdp("FrozenLake-v0", **wish)
    for horizon in (0, -3, 2.5, True, "10"):
        with pytest.raises(ParameterError, match="horizon"):
            rlenvs.solve_mdp("FrozenLake-v0", horizon=horizon)
    with pytest.raises(ParameterError, match="is infinite"):
        rlenvs.solve_mdp("Chain-v0")


# --- bandits ----------------------------------------------------------------------------------------------------------


def test_the_testbed_of_ten_arms():
    """Means N(0, 1), payouts N(mean, 1); the mean of the largest of ten is 1.5388."""
    batch = rlenvs.make_batch("Bandit-v0", 20_000)
    batch.seed(1)
    batch.reset()
    means = batch.states["means"][:, 0]
    assert means.mean() == pytest.approx(0.0, abs=0.01)
    assert means.std() == pytest.approx(1.0, abs=0.01)
    assert means.max(axis=1).mean() == pytest.approx(1.53875, abs=0.02)
    batch.step(np.zeros((20_000, 1), int))
    noise = batch.rewards[:, 0] - means[:, 0]
    assert noise.std() == pytest.approx(1.0, abs=0.02)


def test_regret_and_best_pulls():
    batch = rlenvs.make_batch("Bandit-v0", 1, payout="bernoulli", arms=3)
    batch.seed(4)
    batch.reset()
    means = batch.states["means"][0, 0].copy()
    for arm in (0, 1, 2, 2):
        batch.step([[arm]])
        assert batch.rewards[0, 0] in (0.0, 1.0)
    told = bandit.metrics(*batch.records(0))
    assert told["regret"] == pytest.approx(4 * means.max() - means[[0, 1, 2, 2]].sum())
    assert told["best"] == pytest.approx(np.mean(means[[0, 1, 2, 2]] == means.max()))


def test_drifting_means_walk():
    batch = rlenvs.make_batch("Bandit-v0", 5000, level="drifting")
    batch.seed(0)
    batch.reset()
    assert (batch.states["means"] == 0).all()
    for _ in range(100):
        batch.step(np.zeros((5000, 1), int))
    assert batch.states["means"].std() == pytest.approx(0.01 * np.sqrt(100), rel=0.03)


def test_pictures_have_means_of_their_own():
    env = gymnasium.make("rlenvs/ContextualBandit-v0")
    assert env.observation_space == spaces.Discrete(5)
    seen, _ = env.reset(seed=0)
    shown = {int(seen)} | {int(env.step(0)[0]) for _ in range(100)}
    assert shown == set(range(5))


# --- Gymnasium's tutorials, with another id ---------------------------------------------------------------------------


def q_learning(env, episodes, masked=False, epsilon=0.2):
    """Tabular Q-learning as the tutorials write it; observations are keys of a dictionary."""
    chooser, table = np.random.default_rng(0), {}

    def values(state):
        return table.setdefault(state, np.zeros(env.action_space.n))

    for episode in range(episodes):
        state, info = env.reset(seed=0 if not episode else None)
        over = False
        while not over:
            allowed = info["action_mask"] == 1 if masked else np.ones(env.action_space.n, bool)
            greedy = np.argmax(np.where(allowed, values(state), -np.inf))
            action = chooser.choice(np.flatnonzero(allowed)) if chooser.random() < epsilon else greedy
            after, reward, terminated, truncated, info = env.step(int(action))
            target = reward + 0.98 * (not terminated) * values(after).max()
            values(state)[action] += 0.4 * (target - values(state)[action])
            state, over = after, terminated or truncated
    return table


def greedy_return(env, table, episodes, masked=False):
    returns = []
    for _ in range(episodes):
        state, info = env.reset()
        over, total = False, 0.0
        while not over:
            values = table.get(state, np.zeros(env.action_space.n))
            action = int(np.argmax(np.where(info["action_mask"] == 1, values, -np.inf) if masked else values))
            state, reward, terminated, truncated, info = env.step(action)
            total, over = total + reward, terminated or truncated
        returns.append(total)
    return np.mean(returns)


@pytest.mark.budget(4)
def test_q_learning_of_the_tutorials():
    lake = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("rlenvs/FrozenLake-v0", is_slippery=False))
    assert greedy_return(lake, q_learning(lake, 2000, epsilon=0.5), 10) == 1.0
    assert len(lake.return_queue) > 0
    cliff = gymnasium.make("rlenvs/CliffWalking-v0")
    assert greedy_return(cliff, q_learning(cliff, 400), 1) == -13
    cab = gymnasium.make("rlenvs/Taxi-v0")
    assert greedy_return(cab, q_learning(cab, 3000, masked=True), 100, masked=True) > 7.0


def test_random_maps_have_a_way_and_a_number():
    first = frozen_lake.random_map(8, 0.8, 3)
    assert first == frozen_lake.random_map(8, 0.8, 3) != frozen_lake.random_map(8, 0.8, 4)
    for number in range(20):
        assert frozen_lake.leads_to_goal(frozen_lake.random_map(6, 0.6, number))
    env = rlenvs.make("FrozenLake-v0", map_name="random", map_seed=3)
    assert rlenvs.solve_mdp(env).start_value > 0
