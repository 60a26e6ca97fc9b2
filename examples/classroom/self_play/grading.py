from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit, lower_bound
from rlenvs.classroom.hosted import HostedEnv

CLIMBING = np.array([[11.0, -30.0, 0.0], [-30.0, 7.0, 6.0], [0.0, 0.0, 5.0]])
ROUNDS = 2000
exercise = Exercise("self_play", "Several agents: self-play, equilibria, teams", minutes=1, seconds=30.0)


class Team(gymnasium.Env):
    """A team game with noise, again and again."""

    observation_space = spaces.Discrete(1)

    def __init__(self, payoffs):
        self.payoffs, self.action_space = payoffs, spaces.MultiDiscrete(payoffs.shape)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: Any):
        return 0, float(self.payoffs[tuple(action)] + self.np_random.normal()), False, False, {}


def game(rng):
    """A zero-sum game of no particular form."""
    return rng.uniform(-1, 1, rng.integers(3, 7, 2))


def strategies(found, payoffs, what):
    if not isinstance(found, list) or len(found) != 2:
        raise Failed(f"{what} returns (row, column)")
    for number, name in enumerate(("row", "column")):
        found[number] = array_like(found[number], (payoffs.shape[number],), f"the {name} strategy of {what}")
        if found[number].min() < -1e-9 or abs(found[number].sum() - 1) > 1e-6:
            raise Failed(f"the {name} strategy of {what} is no vector of probabilities")
    return found


def exploitability(payoffs, row, column):
    return float((payoffs @ column).max() - (row @ payoffs).min())


def converged(submission, draws, name):
    """Credit for the exploitability in several games, by the upper bound of its mean."""
    left = []
    for _ in range(8):
        payoffs = game(draws.rng)
        found = strategies(submission.call(name, payoffs, ROUNDS), payoffs, name)
        left.append(-exploitability(payoffs, *found))
    return credit(lower_bound(left), none=-0.2, full=-0.05)


@exercise.test("best_response", 1)
def response(submission, draws):
    payoffs = game(draws.rng)
    opponent = draws.rng.dirichlet(np.ones(payoffs.shape[1]))
    close(submission.call("best_response", payoffs, opponent), np.argmax(payoffs @ opponent), "best_response")


@exercise.test("regrets become a strategy", 1)
def regrets(submission, draws):
    close(submission.call("matched", np.array([3.0, -5.0, 1.0])), [0.75, 0.0, 0.25], "matched", 1e-9)
    close(submission.call("matched", np.array([-1.0, -5.0])), [0.5, 0.5], "matched where no regret is positive", 1e-9)


@exercise.test("exploitability of random pairs", 2, hidden=True)
def exploited(submission, draws):
    for _ in range(4):
        payoffs = game(draws.rng)
        row, column = (draws.rng.dirichlet(np.ones(size)) for size in payoffs.shape)
        wanted = exploitability(payoffs, row, column)
        close(submission.call("exploitability", payoffs, row, column), wanted, "exploitability", 1e-9)


@exercise.test("fictitious play, round by round", 1, hidden=True)
def steps(submission, draws):
    payoffs = game(draws.rng)
    counts = [np.zeros(size) for size in payoffs.shape]
    counts[0][0] = counts[1][0] = 1
    for rounds in range(1, 12):
        found = strategies(submission.call("fictitious_play", payoffs, rounds), payoffs, "fictitious_play")
        for k in (0, 1):
            close(found[k], counts[k] / rounds, f"the frequencies after {rounds} rounds", 1e-9)
        i, j = np.argmax(payoffs @ counts[1]), np.argmin(counts[0] @ payoffs)
        counts[0][i] += 1
        counts[1][j] += 1


@exercise.test("fictitious play: exploitability (bound over 8 games)", 2, hidden=True)
def fictitious(submission, draws):
    return converged(submission, draws, "fictitious_play")


@exercise.test("regret matching: round by round, and exploitability (bound over 8 games)", 3, hidden=True)
def matching(submission, draws):
    payoffs = game(draws.rng)
    regrets, sums = ([np.zeros(size) for size in payoffs.shape] for _ in range(2))
    for rounds in range(1, 8):
        p, q = (
            np.maximum(r, 0) / np.maximum(r, 0).sum() if r.max() > 0 else np.full(len(r), 1 / len(r)) for r in regrets
        )
        sums = [sums[0] + p, sums[1] + q]
        found = strategies(submission.call("regret_matching", payoffs, rounds), payoffs, "regret_matching")
        for k in (0, 1):
            close(found[k], sums[k] / rounds, f"the average strategies of {rounds} rounds", 1e-9)
        regrets = [regrets[0] + payoffs @ q - p @ payoffs @ q, regrets[1] + p @ payoffs @ q - p @ payoffs]
    return converged(submission, draws, "regret_matching")


@exercise.test("updates on good and bad news", 1, hidden=True)
def news(submission, draws):
    Q, alpha, beta = draws.rng.normal(size=4), draws.rng.uniform(0.2, 0.5), draws.rng.uniform(0.01, 0.1)
    for error, rate in ((2.0, alpha), (-2.0, beta)):
        wanted = Q.copy()
        wanted[2] += rate * error
        close(submission.call("update", Q, 2, Q[2] + error, alpha, beta), wanted, "update", 1e-9)


@exercise.test("learn_jointly: payoff in shuffled climbing games (lower bound over 6)", 3, hidden=True)
def together(submission, draws):
    """Of the best pair's payoff, 11; the pair that most learners end with earns 5 or 7."""
    earned = []
    for _ in range(6):
        actions = int(draws.rng.integers(3, 6))
        payoffs = np.full((actions, actions), -5.0)
        payoffs[:3, :3] = CLIMBING
        payoffs = payoffs[draws.rng.permutation(actions)][:, draws.rng.permutation(actions)]
        env = HostedEnv(Team(payoffs), draws.world_seed(), 900)
        pair = array_like(submission.call("learn_jointly", env, actions), (2,), "the pair").astype(int)
        if pair.min() < 0 or pair.max() >= actions:
            raise Failed("the pair holds numbers that are no actions")
        earned.append(payoffs[tuple(pair)])
    return credit(lower_bound(earned), none=5.0, full=10.5)
