import numpy as np

import rlenvs
from rlenvs.classroom.disguise import Renamed
from rlenvs.classroom.exercise import Exercise, array_like, close, credit, lower_bound
from rlenvs.classroom.questions import Near, Question, Trial

EPISODES, BUDGET = 150, 100_000
exercise = Exercise("td_and_monte_carlo", "Temporal differences and Monte Carlo", minutes=2, seconds=60.0)


def discounted(rewards, gamma):
    return [sum(gamma**k * reward for k, reward in enumerate(rewards[t:])) for t in range(len(rewards))]


def every_visit(values, states, rewards, alpha, gamma):
    values = values.copy()
    for state, target in zip(states, discounted(rewards, gamma), strict=True):
        values[state] += alpha * (target - values[state])
    return values


exercise.trial = Trial(
    "RandomWalk-v0",
    "the walks from which your predict learns; what it learns is printed",
    """
def trial(env, practice):
    found = predict(env, 100)
    print("values that were found: " + ", ".join("%.2f" % each for each in found))
""",
)


def update_of(rng, terminated):
    values, state, next_state = rng.normal(size=6), 2, 4
    reward, alpha, gamma = rng.normal(), rng.uniform(0.1, 0.5), rng.uniform(0.5, 0.99)
    wanted = values.copy()
    wanted[state] += alpha * (reward + (0.0 if terminated else gamma * values[next_state]) - values[state])
    given = values, state, reward, next_state, terminated, alpha, gamma
    return Question("td_update", given, (Near(wanted, "td_update"),))


@exercise.asks("td_update", 1)
def one_update(draws):
    return update_of(draws.rng, terminated=False)


@exercise.asks("returns", 1)
def three_returns(draws):
    return Question("returns", ([1.0, 0.0, 2.0], 0.5), (Near([1.5, 1.0, 2.0], "returns"),))


@exercise.asks("td_update at an end", 1, hidden=True)
def at_an_end(draws):
    return update_of(draws.rng, terminated=True)


@exercise.test("returns of long episodes", 1, hidden=True)
def long_returns(submission, draws):
    rewards, gamma = draws.rng.normal(size=200), draws.rng.uniform(0.8, 1.0)
    close(submission.call("returns", rewards, gamma), discounted(rewards, gamma), "returns")


@exercise.test("Monte Carlo with states that come again", 2, hidden=True)
def visits(submission, draws):
    for _ in range(3):
        values, states = draws.rng.normal(size=5), draws.rng.integers(0, 5, 12)
        rewards, gamma = draws.rng.normal(size=12), draws.rng.uniform(0.5, 1.0)
        found = submission.call("monte_carlo_update", values, states, rewards, 0.3, gamma)
        close(found, every_visit(values, states, rewards, 0.3, gamma), "monte_carlo_update")


@exercise.test("predict: the error on walks of several lengths (upper bound over 12)", 4, hidden=True)
def predicted(submission, draws):
    """States have other numbers each time, and ends pay other amounts, so that values cannot be known beforehand. In
    what the right end pays, to know nothing is an error of about 0.6; full credit is at 0.2, none at 0.45."""
    errors = []
    for length in draws.rng.integers(7, 14, 12):
        env = draws.env("RandomWalk-v0", BUDGET, length=int(length))
        scale = draws.rng.choice([-1.0, 1.0]) * draws.rng.uniform(0.5, 2.0)
        walk = env.env
        env.env = Renamed(walk, draws.rng, scale)
        truth = env.env.values(rlenvs.solve_mdp(walk, gamma=1.0).values)
        found = array_like(submission.call("predict", env, EPISODES), truth.shape, "predict")
        between = env.env.states[1:-1]
        errors.append(np.sqrt(np.mean((found - truth)[between] ** 2)) / abs(scale))
    return credit(lower_bound(-np.array(errors)), none=-0.45, full=-0.2)
