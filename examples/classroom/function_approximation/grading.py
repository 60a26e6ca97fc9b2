import numpy as np

import rlenvs
from rlenvs.classroom.disguise import Turned, signed_permutation
from rlenvs.classroom.exercise import Exercise, array_like, close, credit, lower_bound

BUDGET = 40_000
LOW, HIGH = np.array([-1.2, -0.07]), np.array([0.6, 0.07])
exercise = Exercise("function_approximation", "Function approximation", minutes=1, seconds=90.0)


def boxes(state, low, high, tilings, bins):
    """One tiling, one dimension at a time."""
    found = []
    for k in range(tilings):
        number = 0
        for x, least, most in zip(state, low, high, strict=True):
            place = int(np.floor(bins * (x - least) / (most - least) + k / tilings))
            number = number * (bins + 1) + min(max(place, 0), bins)
        found.append(k * (bins + 1) ** len(state) + number)
    return np.array(found)


def problem(rng, states, features):
    """Features, transitions, rewards, and how often a walker is where: the policy's own distribution."""
    P = rng.dirichlet(np.full(states, 0.5), states) * 0.9 + 0.1 / states
    shares = np.full(states, 1 / states)
    for _ in range(1000):
        shares = shares @ P
    return rng.normal(size=(states, features)), P, rng.normal(size=states), shares


def stepped(weights, X, P, r, d, alpha, gamma):
    """The mean of all single updates, one pair of states at a time."""
    change = np.zeros(len(weights))
    for s, following in np.ndindex(P.shape):
        error = r[s] + gamma * weights @ X[following] - weights @ X[s]
        change += d[s] * P[s, following] * error * X[s]
    return weights + alpha * change


def return_of(weights, car, draws):
    """Mean return of the best action by the weights."""

    def act(seen):
        active = [boxes(state, LOW, HIGH, 8, 8) for state in car.turned(seen)]
        return car.actions[[weights[:, each].sum(axis=1).argmax() for each in active]]

    return rlenvs.evaluate("MountainCar-v0", act, seeds=[draws.seed() for _ in range(20)]).mean


@exercise.test("tiles of one dimension", 1)
def line(submission, draws):
    found = submission.call("tiles", np.array([0.45]), np.zeros(1), np.ones(1), 2, 4)
    close(found, [1, 7], "tiles at 0.45 of [0, 1], 2 tilings of 4 bins")


@exercise.test("td_update", 1)
def one_update(submission, draws):
    found = submission.call(
        "td_update", np.array([1.0, 2.0]), np.array([1.0, 0]), 1.0, np.array([0, 1.0]), False, 0.5, 0.9
    )
    close(found, [1.9, 2.0], "td_update")


@exercise.test("expected_update with two states", 1)
def two_states(submission, draws):
    P = np.array([[0.0, 1.0], [1.0, 0.0]])
    found = submission.call("expected_update", np.zeros(2), np.eye(2), P, np.array([1.0, 2]), np.full(2, 0.5), 0.1, 0.9)
    close(found, [0.05, 0.1], "expected_update")


@exercise.test("tiles of several dimensions, a little outside too", 2, hidden=True)
def many_tiles(submission, draws):
    for _ in range(6):
        n, tilings, bins = (int(number) for number in draws.rng.integers([1, 2, 2], [4, 9, 9]))
        low = draws.rng.normal(size=n)
        high = low + draws.rng.uniform(0.5, 3.0, n)
        out = 0.45 * (high - low) / bins  # of a box: no border of a shifted box is there
        for state in (draws.rng.uniform(low, high), low - out, high + out):
            close(
                submission.call("tiles", state, low, high, tilings, bins),
                boxes(state, low, high, tilings, bins),
                "tiles",
            )


@exercise.test("td_update at an end", 1, hidden=True)
def end(submission, draws):
    for terminated in (True, False):
        weights, before, after = draws.rng.normal(size=(3, 5))
        reward, alpha, gamma = draws.rng.normal(), draws.rng.uniform(0.1, 0.5), draws.rng.uniform(0.5, 0.99)
        error = reward + gamma * (not terminated) * sum(weights * after) - sum(weights * before)
        found = submission.call("td_update", weights, before, reward, after, terminated, alpha, gamma)
        close(found, weights + alpha * error * before, "td_update")


@exercise.test("expected_update", 1, hidden=True)
def expected(submission, draws):
    for _ in range(3):
        X, P, r, _ = problem(draws.rng, 6, 3)
        weights, d = draws.rng.normal(size=3), draws.rng.dirichlet(np.ones(6))
        alpha, gamma = draws.rng.uniform(0.1, 0.5), draws.rng.uniform(0.5, 0.99)
        wanted = stepped(weights, X, P, r, d, alpha, gamma)
        close(submission.call("expected_update", weights, X, P, r, d, alpha, gamma), wanted, "expected_update")


@exercise.test("fixed_point: nothing moves there, and a table gives the true values", 2, hidden=True)
def rests(submission, draws):
    for _ in range(3):
        X, P, r, d = problem(draws.rng, 7, 3)
        gamma = draws.rng.uniform(0.5, 0.95)
        found = array_like(submission.call("fixed_point", X, P, r, d, gamma), (3,), "fixed_point")
        close(stepped(found, X, P, r, d, 1.0, gamma), found, "the weights after an update at the fixed point")
        values = np.linalg.solve(np.eye(7) - gamma * P, r)
        close(submission.call("fixed_point", np.eye(7), P, r, d, gamma), values, "fixed_point of a table")


@exercise.test("learn: return of MountainCar (lower bound over 4 trainings)", 4, hidden=True)
def driven(submission, draws):
    """Who never gets out has -200, the scripted expert -101. The two numbers are exchanged or mirrored and actions have
    other numbers each time, so that weights that were learnt before are of no use."""
    found = []
    for _ in range(4):
        env = draws.env("MountainCar-v0", BUDGET)
        env.env = car = Turned(env.env, signed_permutation(draws.rng, 2), draws.rng.permutation(3), LOW, HIGH)
        weights = submission.call("learn", env)
        found.append(return_of(array_like(weights, (3, 648), "the weights"), car, draws))
    return credit(lower_bound(found), none=-195.0, full=-150.0)
