"""Worlds given as tables: Gymnasium's matrices, textbook values, exact solutions beside other solvers and samples."""

import collections
import functools
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.toy_text import blackjack as published_blackjack
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.compiler import build
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, UnknownKeywordError
from rlenvs.core.declare.setup import Setup
from rlenvs.kits.tables.solve import Model, model_of
from rlenvs.kits.tables.table import Table
from rlenvs.single.tabular import bandit, blackjack, car_rental, four_rooms, frozen_lake, taxi

PLAYED = [
    f"rlenvs/{name}-v0" for name in ("FrozenLake", "FrozenLake8x8", "CliffWalking", "Taxi", "Chain", "RandomWalk")
]
PLAYED += [f"rlenvs/{name}-v0" for name in ("Gambler", "FourRooms", "TwoStates", "Blackjack")]
EXACT = [*PLAYED, "rlenvs/CarRental-v0"]


def model(id, **options):
    return rlenvs.make(id, **options).unwrapped.model


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


# --- values of textbooks ----------------------------------------------------------------------------------------------


def test_optima():
    """Stored as bounds in the score tables; Taxi, lakes and cliff also follow from Gymnasium's matrices."""
    for id, value in (("FrozenLake-v0", 14 / 17), ("FrozenLake8x8-v0", 1.0), ("CliffWalking-v0", -13.0)):
        assert rlenvs.solve_mdp(id).start_value == pytest.approx(value, abs=1e-9)
    assert rlenvs.solve_mdp("Taxi-v0").start_value == pytest.approx(7.93, abs=1e-9)
    assert rlenvs.solve_mdp("Blackjack-v0").start_value == pytest.approx(-0.0431, abs=1e-4)


@pytest.mark.parametrize("id", EXACT)
def test_bounds_of_score_tables_are_exact_optima(id):
    horizon = gymnasium.spec(id).max_episode_steps
    stored = world_of(id).scores["bound"].mean
    assert rlenvs.solve_mdp(id, horizon=horizon).start_value == pytest.approx(stored, rel=5e-4, abs=1e-9)


def test_the_way_along_the_cliff_takes_thirteen_steps():
    env = gymnasium.make("rlenvs/CliffWalking-v0")
    state, _ = env.reset(seed=0)
    policy, steps, over = rlenvs.solve_mdp(env).policy, 0, False
    while not over:
        state, reward, over, _, info = env.step(policy[state])
        steps += 1
        assert reward == -1
    assert steps == 13
    assert info["is_success"]


def test_values_of_the_random_walk_are_a_line():
    for options, values in (
        ({}, np.linspace(-1, 1, 21)[1:-1]),
        ({"level": "five"}, np.linspace(0, 1, 7)[1:-1]),
    ):
        env = rlenvs.make("RandomWalk-v0", **options)
        assert rlenvs.solve_mdp(env).values[1:-1] == pytest.approx(values, abs=1e-12)


def test_jumps_of_the_thousand_states_reach_a_hundred():
    exact = model("RandomWalk-v0", level="thousand")
    row = exact.P[0].toarray()[500]
    assert np.flatnonzero(row).tolist() == [*range(400, 500), *range(501, 601)]
    assert row[400:500] == pytest.approx(0.005)
    # near an end what would lead behind it leads to it
    assert exact.R[1, 0] == pytest.approx(-0.5)
    assert exact.R[1000, 0] == pytest.approx(0.5)


def test_bold_play_of_the_gambler():
    """Sutton and Barto, example 4.3: bold play from 25, 50 and 75 wins with the products of the coin's chances."""
    found = rlenvs.solve_mdp("Gambler-v0")
    assert found.values[[25, 50, 75]] == pytest.approx([0.16, 0.4, 0.64], abs=1e-12)
    assert found.policy[50] == 50
    fair = rlenvs.solve_mdp(rlenvs.make("Gambler-v0", heads=0.5))
    assert fair.values[1:100] == pytest.approx(np.arange(1, 100) / 100, abs=1e-9)


def test_strategy_of_blackjack():
    """Sutton and Barto, figure 5.2."""
    policy = rlenvs.solve_mdp("Blackjack-v0").policy

    def sticks_from(card, ace):
        sums = [t for t in range(12, 22) if policy[blackjack.number_of((t, ace), card)] == blackjack.STICK]
        assert sums == list(range(sums[0], 22))
        return sums[0]

    assert [sticks_from(card, False) for card in range(1, 11)] == [17, 13, 13, 12, 12, 12, 17, 17, 17, 17]
    assert [sticks_from(card, True) for card in range(2, 11)] == [18, 18, 18, 18, 18, 18, 18, 19, 19]


def test_policy_of_car_rental():
    """Sutton and Barto, figure 4.2: cars go where they are needed, five from a full first place to an empty second
    one, and a smaller second place sends back up to four."""
    found = rlenvs.solve_mdp("CarRental-v0", gamma=0.9)
    policy = found.policy.reshape(21, 21) - 5
    assert policy[20, 0] == 5
    assert policy[0, 20] == -4
    assert policy.max() == 5
    assert policy.min() == -4
    assert found.values[0] == pytest.approx(421.4, abs=0.1)
    world = rlenvs.make("CarRental-v0").unwrapped
    expert = world.batch.setup.data["best"]
    assert np.mean(expert == found.policy) > 0.995  # equal but for actions of nearly equal value
    free = rlenvs.make("CarRental-v0", free_shuttle=True, parking_price=4.0)
    changed = rlenvs.solve_mdp(free, gamma=0.9).policy.reshape(21, 21) - 5
    assert (changed > policy).sum() > 50


def test_customers_are_poisson_numbers():
    batch = rlenvs.make_batch("CarRental-v0", 50_000)
    batch.seed(7)
    batch.reset()
    batch.step(np.full((50_000, 1), 5))
    rented = batch.rewards[:, 0] / 10.0  # nothing was moved
    chances = car_rental.days(3.0, 3.0)[1][10] + car_rental.days(4.0, 2.0)[1][10]
    assert abs(rented.mean() - chances) < 4 * rented.std() / np.sqrt(len(rented))
    cars = batch.states["first"]
    expected = car_rental.days(3.0, 3.0)[0][10]
    assert np.abs(np.bincount(cars, minlength=21) / len(cars) - expected).max() < 1e-2


def test_naturals():
    """Alone against a five, which makes no natural: 1.5 but where the dealer comes to 21 as well; by Sutton and Barto's
    rules only the dealer's own natural, a ten with one card of thirteen, takes the win away."""
    natural = 560  # and the dealer's card, from ace to ten
    ties = sum(
        chance for (total, _), chance in blackjack.dealt(blackjack.with_card((0, False), 5)).items() if total == 21
    )
    assert model("Blackjack-v0", sab=False, natural=True).R[natural + 4, 0] == pytest.approx(1.5 * (1.0 - ties))
    assert model("Blackjack-v0", sab=False).R[natural + 4, 0] == pytest.approx(1.0 - ties)
    sab = model("Blackjack-v0")
    assert sab.R[natural + 4, 0] == pytest.approx(1.0)
    assert sab.R[natural + 9, 0] == pytest.approx(12.0 / 13.0)


@pytest.mark.parametrize("id", ["Blackjack-v0", "Gambler-v0"])
def test_who_wins_has_more(id):
    env = rlenvs.make(id)
    won = set()
    for seed in range(300):
        env.reset(seed=seed)
        over = False
        while not over:
            _, reward, over, _, info = env.step(0 if id == "Blackjack-v0" else 1)
        won.add((float(np.sign(reward)), info["is_success"]))
    assert won == ({(1.0, True), (0.0, False), (-1.0, False)} if id == "Blackjack-v0" else {(1.0, True), (0.0, False)})


@pytest.mark.parametrize(
    ("cars", "action", "options", "moves", "parking"),
    [
        ((10, 10), 2, {"free_shuttle": True}, -6.0, -4.0),  # three to the first place: none of them free
        ((10, 10), 8, {"free_shuttle": True}, -4.0, -4.0),  # three to the second: one of them free
        ((10, 10), 8, {}, -6.0, -4.0),
        ((11, 11), 5, {}, 0.0, -8.0),
        ((2, 20), 10, {}, -4.0, -4.0),  # no more than there are
        ((10, 11), 5, {}, 0.0, -4.0),
        ((11, 10), 5, {}, 0.0, -4.0),
    ],
)
def test_prices_of_a_night(cars, action, options, moves, parking):
    env = rlenvs.make("CarRental-v0", parking_price=4.0, **options)
    env.reset(seed=0)
    s = env.unwrapped.batch.records(0)[1]
    s.first, s.second = cars
    *_, info = env.step(action)
    assert (info["reward_moves"], info["reward_parking"]) == (moves, parking)


@pytest.mark.parametrize("cars", [(0, 12), (12, 0), (20, 20)])
def test_days_at_both_places(cars):
    """What steps make of the cars is what the matrices of `days` say, place by place."""
    count = 40_000
    batch = rlenvs.make_batch("CarRental-v0", count)
    batch.seed(3)
    batch.reset()
    batch.states["first"], batch.states["second"] = cars
    batch.step(np.full((count, 1), 5))
    rented = batch.rewards[:, 0] / 10.0
    places = [car_rental.days(3.0, 3.0), car_rental.days(4.0, 2.0)]
    expected = sum(rents[had] for (_, rents), had in zip(places, cars, strict=True))
    assert abs(rented.mean() - expected) < 4 * rented.std() / np.sqrt(count)
    for name, (to, _), had in zip(("first", "second"), places, cars, strict=True):
        found = np.bincount(batch.states[name], minlength=21) / count
        assert np.abs(found - to[had]).max() < 4 * 0.5 / np.sqrt(count)


def test_what_a_time_limit_does_to_values():
    found = rlenvs.solve_mdp("TwoStates-v0", gamma=0.9)
    assert found.values == pytest.approx([5.0, 10.0])
    cut = rlenvs.solve_mdp("TwoStates-v0", gamma=0.9, horizon=10)
    # who knows of the limit leaves in time: eight steps worth 1, then 0, then 5
    assert cut.values[1] == pytest.approx((1 - 0.9**8) / 0.1 + 5 * 0.9**9)
    env = rlenvs.make("TwoStates-v0")
    state, _ = env.reset(seed=0)
    while state != 1:
        state, _ = env.reset()
    ends = [env.step(0)[2:4] for _ in range(10)]
    assert ends == [(False, False)] * 9 + [(False, True)]


def test_rooms_and_doorways():
    """104 free cells, of which four join rooms; from the upper left corner the goal is 16 steps away."""
    assert len(four_rooms.CELLS) == 104
    exact = model("FourRooms-v0", success_rate=1.0, start=0)
    neighbours = sum(matrix.astype(bool) for matrix in exact.P)
    assert neighbours.shape == (104, 104)
    found = rlenvs.solve_mdp(exact, gamma=0.9)
    steps = 1 + np.log(found.start_value) / np.log(0.9)
    assert steps == pytest.approx(14)
    slipping = model("FourRooms-v0")
    assert sorted(set(np.round(slipping.P[0].toarray()[0], 12))) == pytest.approx([0, 1 / 9, 2 / 3 + 1 / 9])


def test_passengers_change_their_mind_once():
    exact = model("Taxi-v0", fickle_passenger=True)
    steady = model("Taxi-v0")
    assert exact.R.shape == (1000, 6)
    assert exact.start[500:].sum() == pytest.approx(0.3)
    aboard = taxi.number_of(2, 2, taxi.IN_TAXI, 1)
    after = exact.P[taxi.UP].toarray()[500 + aboard]
    assert not after[500:].any()  # who has changed it keeps to it
    wanted = {taxi.parts_of(number)[3]: after[number] for number in np.flatnonzero(after)}
    assert wanted == pytest.approx({0: 1 / 3, 2: 1 / 3, 3: 1 / 3})
    assert_allclose(exact.P[taxi.UP].toarray()[:500, :500], steady.P[taxi.UP].toarray())


def test_stakes_of_the_gambler():
    """Something, and no more than there is or than is missing."""
    for capital, most in ((1, 1), (30, 30), (50, 50), (70, 30), (99, 1)):
        env = rlenvs.make("Gambler-v0")
        env.reset(seed=0)
        env.unwrapped.batch.records(0)[1].number = capital
        batch = env.unwrapped.batch
        batch.sync_from_state(np.array([0]))
        assert np.flatnonzero(batch.masks[0, 0]).tolist() == list(range(1, most + 1))


# --- solvers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [id for id in EXACT if "CarRental" not in id])
def test_a_linear_program_finds_the_same_values(id):
    """min sum(v) with v >= R + gamma P v for every action, by HiGHS."""
    from scipy import sparse

    exact, gamma = model(id), 0.95
    states = len(exact.start)
    rows, bounds = [], []
    for action, matrix in enumerate(exact.P):
        chosen = exact.allowed[:, action]
        rows.append((gamma * matrix - sparse.eye_array(states)).tocsr()[chosen])
        bounds.append(-exact.R[chosen, action])
    solved = linprog(np.ones(states), sparse.vstack(rows), np.concatenate(bounds), bounds=(None, None))
    assert rlenvs.solve_mdp(exact, gamma=gamma).values == pytest.approx(solved.x, abs=1e-6)


@pytest.mark.parametrize("id", EXACT)
def test_value_iteration_finds_the_same_values(id):
    exact, gamma = model(id), 0.9
    values = np.zeros(len(exact.start))
    for _ in range(400):
        q = np.stack([exact.R[:, a] + gamma * (matrix @ values) for a, matrix in enumerate(exact.P)], axis=1)
        values = np.where(exact.allowed, q, -np.inf).max(axis=1)
    found = rlenvs.solve_mdp(exact, gamma=gamma)
    assert found.values == pytest.approx(values, abs=1e-6)
    assert exact.allowed[np.arange(len(values)), found.policy].all()


@pytest.mark.parametrize(
    ("id", "options"),
    [
        ("FrozenLake-v0", {}),
        ("FourRooms-v0", {}),
        ("Taxi-v0", {"is_rainy": True}),
        ("Blackjack-v0", {}),
        ("Gambler-v0", {"goal": 20}),
    ],
)
def test_a_million_samples_agree(id, options):
    """Counts of what random actions lead to, and the values of the model that these counts make."""
    exact = model(id, **options)
    actions, states = len(exact.P), len(exact.start)
    batch = rlenvs.make_batch(id, 1000, **options)
    batch.seed(11)
    batch.reset()
    chooser = np.random.default_rng(3)
    counts, rewards = np.zeros((actions, states, states)), np.zeros((states, actions))
    tries = np.zeros((states, actions))
    for _ in range(1000):
        before = batch.states["number"].astype(int)
        chosen = chooser.integers(actions, size=1000)
        batch.step(chosen[:, None])
        over = batch.terminated[:, 0]
        after = batch.states["number"].astype(int)
        np.add.at(counts, (chosen[~over], before[~over], after[~over]), 1)
        np.add.at(rewards, (before, chosen), batch.rewards[:, 0])
        np.add.at(tries, (before, chosen), 1)
        if batch.over.any():
            batch.reset(batch.over)
    seen = tries > 200
    assert seen.sum() > 5
    for action in range(actions):
        rows = seen[:, action]
        share = counts[action][rows] / tries[rows, action][:, None]
        truth = exact.P[action].toarray()[rows]
        error = np.sqrt(truth * (1 - truth) / tries[rows, action][:, None])
        assert (np.abs(share - truth) <= 5.5 * error + 1e-9).all()
    sampled = rewards[seen] / tries[seen]
    assert np.abs(sampled - exact.R[seen]).max() < 0.35 * max(1.0, np.abs(exact.R).max()) ** 0.5


def test_sampled_models_have_the_same_optimum():
    """The lake's matrices estimated from a million transitions, solved, beside the exact ones."""
    exact = model("FrozenLake-v0")
    chooser, shares = np.random.default_rng(0), []
    for matrix in exact.P:
        dense = matrix.toarray()
        rows = np.c_[dense, 1 - dense.sum(axis=1)].clip(0)
        shares.append(np.array([chooser.multinomial(15_625, row / row.sum()) for row in rows])[:, :-1] / 15_625)
    from scipy import sparse

    rewards = exact.R  # of the lake known by the state that follows
    sampled = Model(tuple(sparse.csr_array(share) for share in shares), rewards, exact.start, exact.allowed)
    assert rlenvs.solve_mdp(sampled, gamma=0.99).start_value == pytest.approx(
        rlenvs.solve_mdp(exact, gamma=0.99).start_value, abs=0.02
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_tables_play_as_they_say(data):
    """Two solvers agree on tables of any kind, and no policy beats the best one."""
    states, actions = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    chooser = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    table = Table(states, actions)
    table.starts[0] = 1.0
    for state in range(states):
        for action in range(actions):
            count = int(chooser.integers(1, 4))
            for probability in chooser.dirichlet(np.ones(count)):
                after, reward = int(chooser.integers(states)), float(chooser.normal())
                table.add(
                    state, action, after, reward, probability=float(probability), end=bool(chooser.random() < 0.2)
                )
    table.data()
    exact = model_of(table)
    found = rlenvs.solve_mdp(exact, gamma=0.8)
    long = rlenvs.solve_mdp(exact, gamma=0.8, horizon=150)
    assert found.values == pytest.approx(long.values, abs=1e-9)
    policy = chooser.integers(actions, size=states)
    matrix = np.array([exact.P[a].toarray()[s] for s, a in enumerate(policy)])
    other = np.linalg.solve(np.eye(states) - 0.8 * matrix, exact.R[np.arange(states), policy])
    assert (other <= found.values + 1e-9).all()


def test_waiting_is_not_taken_for_going():
    """Where waiting costs nothing it is worth as much as going, by values, and would go on for ever."""
    table = Table(2, 2)
    table.starts[0] = 1.0
    table.add(0, 0, 0)
    table.add(0, 1, 1, 1.0, end=True)
    table.stay(1)
    assert table.best_actions()[0] == 1
    assert rlenvs.solve_mdp(model_of(table)).policy[0] == 1


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
