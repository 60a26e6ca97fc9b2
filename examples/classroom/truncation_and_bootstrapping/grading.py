from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlenvs.classroom.exercise import Exercise, array_like, close, credit, lower_bound
from rlenvs.classroom.hosted import HostedEnv

LIMIT, BUDGET = 10, 5_000

exercise = Exercise("truncation_and_bootstrapping", "Truncation is not termination", minutes=1, seconds=30.0)


class Ways(gymnasium.Env):
    """Each state leads to one other and pays an amount of its own; one may end it all. Cut off after a few steps."""

    action_space = spaces.Discrete(2)

    def __init__(self, rng):
        n = int(rng.integers(4, 9))
        self.observation_space = spaces.Discrete(n)
        self.after, self.pays = rng.integers(0, n, n), rng.uniform(0.5, 1.5, n)
        self.ends = np.arange(n) == (rng.integers(n) if rng.random() < 0.5 else n)

    def values(self, gamma):
        """Of going on (action 1) without a time limit."""
        moves = np.eye(len(self.after))[self.after] * ~self.ends[:, None]
        return np.linalg.solve(np.eye(len(moves)) - gamma * moves, self.pays)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.count = int(self.np_random.integers(len(self.after))), 0
        return self.state, {}

    def step(self, action: Any):
        before, self.count = self.state, self.count + 1
        ended = bool(self.ends[before])
        if action == 0:
            return before, 0.0, False, self.count >= LIMIT, {}
        self.state = int(self.after[before])
        return self.state, float(self.pays[before]), ended, self.count >= LIMIT and not ended, {}


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


@exercise.test("evaluate: the values of all states (lower bound over 8 worlds)", 3, hidden=True)
def evaluated(submission, draws):
    """In worlds drawn for each grading. Who takes the time limit for an end is far short."""
    found = []
    for _ in range(8):
        gamma, world = draws.rng.uniform(0.8, 0.95), Ways(draws.rng)
        truth = world.values(gamma)
        values = array_like(
            submission.call("evaluate", HostedEnv(world, draws.world_seed(), BUDGET), gamma), truth.shape, "evaluate"
        )
        found.append(-np.abs(values - truth).mean() / truth.mean())
    return credit(lower_bound(found), none=-0.1, full=-0.02)
