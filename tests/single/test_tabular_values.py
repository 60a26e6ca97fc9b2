"""Worlds given as tables: values of textbooks, and exact solutions beside other solvers and samples."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from support.tabular import EXACT, model

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.kits.tables.solve import Model, model_of
from rlenvs.kits.tables.table import Table
from rlenvs.single.tabular import blackjack, car_rental, four_rooms, taxi

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
