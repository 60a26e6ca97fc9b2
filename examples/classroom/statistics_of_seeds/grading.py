import numpy as np

from rlenvs.classroom.exercise import Exercise, array_like, close

exercise = Exercise("statistics_of_seeds", "Statistics of seeds", minutes=1, seconds=30.0)


def bounds(returns):
    half = 1.96 * np.std(returns, ddof=1) / np.sqrt(len(returns))
    return [np.mean(returns) - half, np.mean(returns) + half]


def middle(returns):
    quarter = len(returns) // 4
    return np.sort(returns)[quarter:-quarter].mean()


def resampled(returns, rng, draws):
    rows = returns[rng.integers(0, len(returns), (draws, len(returns)))]
    return np.percentile([middle(row) for row in rows], [2.5, 97.5])


@exercise.test("interval", 1)
def four(submission, draws):
    close(submission.call("interval", [1.0, 2.0, 3.0, 6.0]), bounds([1.0, 2.0, 3.0, 6.0]), "interval")


@exercise.test("iqm", 1)
def eight(submission, draws):
    close(submission.call("iqm", [9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 100.0, -50.0]), 3.5, "iqm")


@exercise.test("interval and iqm of random returns", 2, hidden=True)
def random_returns(submission, draws):
    for count in (8, 20, 40):
        returns = draws.rng.standard_cauchy(count)
        close(submission.call("interval", returns), bounds(returns), "interval")
        close(submission.call("iqm", returns), middle(returns), "iqm")


@exercise.test("bootstrap, up to chance", 4, hidden=True)
def strapped(submission, draws):
    for _ in range(2):
        returns = draws.rng.exponential(50.0, 20)
        wanted = resampled(returns, draws.rng, 4000)
        found = array_like(submission.call("bootstrap", returns, 4000), (2,), "bootstrap")
        close(found, wanted, "an end of the interval", 0.1 * (wanted[1] - wanted[0]))


@exercise.test("seeds_needed", 2, hidden=True)
def needed(submission, draws):
    for _ in range(5):
        s, d = draws.rng.uniform(5, 50), draws.rng.uniform(2, 20)
        close(submission.call("seeds_needed", s, d), np.ceil(2 * (1.96 * s / d) ** 2), "seeds_needed")
