import numpy as np

import rlenvs
from rlenvs.classroom.exercise import Exercise, array_like, close, credit, lower_bound

exercise = Exercise("truncation_and_bootstrapping", "Truncation is not termination", minutes=1, seconds=30.0)


def steps(rng, count, ends):
    """Rewards, next values, terminated, truncated; a step may be both."""
    terminated, truncated = rng.random(count) < ends, rng.random(count) < ends
    return rng.normal(size=count), rng.normal(size=count), terminated, truncated


def several(rewards, next_values, terminated, truncated, gamma, n):
    found = []
    for t in range(len(rewards)):
        over = np.flatnonzero((terminated | truncated)[t : t + n])
        count = int(over[0]) + 1 if len(over) else min(n, len(rewards) - t)
        last = t + count - 1
        ahead = 0.0 if terminated[last] else gamma**count * next_values[last]
        found.append((gamma ** np.arange(count) * rewards[t : t + count]).sum() + ahead)
    return found


def check_targets(submission, data, gamma):
    close(submission.call("targets", *data, gamma), several(*data, gamma, 1), "targets")


@exercise.test("targets without ends", 1)
def without_ends(submission, draws):
    check_targets(submission, steps(draws.rng, 20, 0.0), 0.9)


@exercise.test("n-step targets without ends", 1)
def several_without_ends(submission, draws):
    data = steps(draws.rng, 20, 0.0)
    close(submission.call("n_step_targets", *data, 0.9, 3), several(*data, 0.9, 3), "n_step_targets")


@exercise.test("targets with ends of both kinds", 2, hidden=True)
def with_ends(submission, draws):
    check_targets(submission, steps(draws.rng, 100, 0.3), draws.rng.uniform(0.5, 0.99))


@exercise.test("n-step targets with ends of both kinds", 3, hidden=True)
def several_with_ends(submission, draws):
    for _ in range(3):
        data, n = steps(draws.rng, 60, 0.15), int(draws.rng.integers(2, 8))
        gamma = draws.rng.uniform(0.5, 0.99)
        close(submission.call("n_step_targets", *data, gamma, n), several(*data, gamma, n), "n_step_targets")


@exercise.test("evaluate: the value of the last state (lower bound over 8 chains)", 3, hidden=True)
def evaluated(submission, draws):
    """Who takes the time limit for an end is far short."""
    found = []
    for length in draws.rng.integers(4, 9, 8):
        gamma = draws.rng.uniform(0.8, 0.95)
        env = draws.env("Chain-v0", 5_000, length=int(length))
        truth = rlenvs.solve(env.env, gamma=gamma).values[-1]
        values = array_like(submission.call("evaluate", env, gamma), (int(length),), "evaluate")
        found.append(-abs(values[-1] - truth) / truth)
    return credit(lower_bound(found), none=-0.1, full=-0.02)
