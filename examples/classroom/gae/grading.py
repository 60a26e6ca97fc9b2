import numpy as np

from rlenvs.classroom.exercise import Exercise, close

exercise = Exercise("gae", "Generalized advantage estimation", minutes=1, seconds=20.0)


def batch(rng, T, N, ends):
    """Rewards, values, next values, terminated, truncated."""
    numbers = rng.normal(size=(3, T, N))
    return *numbers, rng.random((T, N)) < ends, rng.random((T, N)) < ends


def errors(rewards, values, next_values, terminated, gamma):
    return rewards + gamma * np.where(terminated, 0.0, next_values) - values


def advantages(rewards, values, next_values, terminated, truncated, gamma, lam):
    """By the sum, not by the recursion."""
    delta, done = errors(rewards, values, next_values, terminated, gamma), terminated | truncated
    found = np.zeros(rewards.shape)
    for t, n in np.ndindex(rewards.shape):
        over = np.flatnonzero(done[t:, n])
        count = int(over[0]) + 1 if len(over) else len(rewards) - t
        found[t, n] = ((gamma * lam) ** np.arange(count) * delta[t : t + count, n]).sum()
    return found


@exercise.test("deltas without ends", 1)
def without_ends(submission, draws):
    data = batch(draws.rng, 6, 2, 0.0)[:4]
    close(submission.call("deltas", *data, 0.9), errors(*data, 0.9), "deltas")


@exercise.test("gae without ends", 2)
def advantages_without_ends(submission, draws):
    data = batch(draws.rng, 10, 3, 0.0)
    close(submission.call("gae", *data, 0.9, 0.8), advantages(*data, 0.9, 0.8), "gae")


@exercise.test("deltas with terminations", 1, hidden=True)
def with_ends(submission, draws):
    data, gamma = batch(draws.rng, 30, 4, 0.2)[:4], draws.rng.uniform(0.8, 0.99)
    close(submission.call("deltas", *data, gamma), errors(*data, gamma), "deltas")


@exercise.test("gae with terminations and truncations", 4, hidden=True)
def advantages_with_ends(submission, draws):
    for _ in range(4):
        data = batch(draws.rng, 40, 5, 0.1)
        gamma, lam = draws.rng.uniform(0.8, 0.99), draws.rng.uniform(0.0, 1.0)
        close(submission.call("gae", *data, gamma, lam), advantages(*data, gamma, lam), "gae")


@exercise.test("normalized", 2, hidden=True)
def normal(submission, draws):
    data = draws.rng.normal(draws.rng.uniform(-9, 9), 3.0, (20, 4))
    close(submission.call("normalized", data), (data - data.mean()) / (data.std() + 1e-8), "normalized")
