import numpy as np

import rlenvs
from rlenvs.classroom.exercise import Exercise, Failed, close

exercise = Exercise("statistics_of_seeds", "Statistics of seeds", minutes=1, seconds=20.0)


def ends(returns):
    half = 1.96 * np.std(returns, ddof=1) / np.sqrt(len(returns))
    return [np.mean(returns) - half, np.mean(returns) + half]


def wins(first, second):
    return np.mean([[(x > y) + 0.5 * (x == y) for y in second] for x in first])


@exercise.test("interval of four runs", 1)
def four_runs(submission, draws):
    close(submission.call("interval", np.array([1.0, 2.0, 3.0, 4.0])), ends([1.0, 2.0, 3.0, 4.0]), "interval")


@exercise.test("interquartile mean of eight runs", 1)
def eight_runs(submission, draws):
    runs = np.array([100.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -50.0])
    close(submission.call("interquartile_mean", runs), 3.5, "interquartile_mean")


@exercise.test("who wins, with ties", 1)
def with_ties(submission, draws):
    found = submission.call("probability_of_improvement", np.array([1.0, 2.0]), np.array([2.0, 0.0]))
    close(found, 0.625, "probability_of_improvement")


@exercise.test("intervals of other runs", 1, hidden=True)
def other_intervals(submission, draws):
    for _ in range(3):
        runs = draws.rng.normal(10.0, 5.0, int(draws.rng.integers(3, 20)))
        close(submission.call("interval", runs), ends(runs), "interval")


@exercise.test("seeds that are needed", 1, hidden=True)
def needed(submission, draws):
    for _ in range(5):
        deviation, width = draws.rng.uniform(1.0, 50.0), draws.rng.uniform(0.5, 5.0)
        wanted = np.ceil((1.96 * deviation / width) ** 2)
        close(submission.call("seeds_needed", deviation, width), wanted, "seeds_needed", 0.5)


@exercise.test("interquartile means of other runs", 2, hidden=True)
def other_middles(submission, draws):
    for _ in range(3):
        runs = draws.rng.standard_cauchy(int(draws.rng.integers(5, 40)))
        cut = len(runs) // 4
        wanted = np.sort(runs)[cut : len(runs) - cut].mean()
        close(submission.call("interquartile_mean", runs), wanted, "interquartile_mean")


@exercise.test("who wins among random actions on two cart-poles", 1, hidden=True)
def cart_poles(submission, draws):
    first = rlenvs.evaluate("CartPole-v0", "random", draws.seed() + np.arange(12)).returns
    second = rlenvs.evaluate("CartPole-v0", "random", draws.seed() + np.arange(9), gravity=20.0).returns
    close(submission.call("probability_of_improvement", first, second), wins(first, second), "the probability")


@exercise.test("better, worse, or not known", 2, hidden=True)
def verdicts(submission, draws):
    for shift, wanted in ((5.0, 1), (-5.0, -1), (0.0, 0)):
        first = draws.rng.permutation(np.linspace(-2.0, 2.0, 12)) + shift
        second = draws.rng.permutation(np.linspace(-3.0, 3.0, 8))
        found = submission.call("better", first, second)
        if found != wanted:
            raise Failed(f"better says {found}; it is {wanted} for means {shift:g} apart")
