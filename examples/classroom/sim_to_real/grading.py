from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import rlenvs
from rlenvs.classroom.disguise import rotation
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit, lower_bound
from rlenvs.classroom.hosted import HostedEnv

BUDGET, ROWS = 40, 256
NAMES = ("length", "masspole", "force_mag")
NOMINAL, LOW, HIGH = np.array([0.5, 0.1, 10.0]), np.array([0.2, 0.05, 4.0]), np.array([2.5, 0.5, 16.0])
exercise = Exercise("sim_to_real", "From the simulator to the world", minutes=1, seconds=60.0)


def play(rows, seed, matrix):
    """Returns (n,) of an episode for each row (theta, context), where the sensors are mixed so."""
    envs = rlenvs.make_vec("CartPole-v0", len(rows), **dict(zip(NAMES, rows[:, 4:].T, strict=True)))
    seen, _ = envs.reset(seed=seed)
    returns, alive = np.zeros(len(rows)), np.ones(len(rows), bool)
    while alive.any():
        pushes = np.sum((seen @ matrix) * rows[:, :4], axis=1) > 0
        seen, rewards, terminated, truncated, _ = envs.step(pushes.astype(int))
        returns += rewards * alive
        alive &= ~(terminated | truncated)
    return returns


class Simulator(gymnasium.Env):
    """A step plays many episodes."""

    observation_space = spaces.Box(0.0, 500.0, (ROWS,))

    def __init__(self, matrix):
        self.matrix = matrix
        narrow = np.array([[-1e9] * 4 + [0.05, 0.01, 1.0]] * ROWS)
        wide = np.array([[1e9] * 4 + [5.0, 1.0, 100.0]] * ROWS)
        self.action_space = spaces.Box(narrow, wide, dtype=np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(ROWS), {}

    def step(self, action: Any):
        seed = int(self.np_random.integers(2**30))
        return play(action, seed, self.matrix), 0.0, False, False, {}


def found(submission, draws, low, high, matrix):
    """Returns of the theta that was found, in contexts that were not seen."""
    env = HostedEnv(Simulator(matrix), draws.world_seed(), BUDGET)
    theta = array_like(submission.call("search", env, low, high), (4,), "theta")
    rows = np.hstack([np.tile(theta, (200, 1)), draws.rng.uniform(low, high, (200, 3))])
    return play(rows, draws.seed(), matrix)


def worst(returns, alpha):
    return np.sort(returns)[: max(int(np.ceil(alpha * len(returns) - 1e-9)), 1)].mean()


@exercise.test("cvar", 1)
def few(submission, draws):
    close(submission.call("cvar", np.array([4.0, 1.0, 3.0, 2.0]), 0.5), 1.5, "cvar", 1e-9)
    close(submission.call("cvar", np.array([4.0, 1.0, 3.0, 2.0]), 0.3), 1.5, "cvar", 1e-9)


@exercise.test("search where there is one context", 2)
def one_context(submission, draws):
    returns = found(submission, draws, NOMINAL, NOMINAL, np.eye(4))
    return credit(returns.mean(), none=60.0, full=450.0)


@exercise.test("contexts: bounds, spread, independence, seeds", 2, hidden=True)
def contexts(submission, draws):
    low = draws.rng.normal(size=3)
    width, seed = draws.rng.uniform(0.5, 3.0, 3), draws.seed()
    drawn, again, other = (
        array_like(submission.call("sample_contexts", each, low, low + width, 4000), (4000, 3), "the contexts")
        for each in (seed, seed, seed + 1)
    )
    shares = (drawn - low) / width
    if shares.min() < 0 or shares.max() > 1:
        raise Failed("contexts lie outside of the bounds")
    for quantile in (0.1, 0.5, 0.9):
        close(np.quantile(shares, quantile, axis=0), np.full(3, quantile), f"the quantile {quantile}", 0.04)
    close(np.corrcoef(shares.T), np.eye(3), "the correlations", 0.1)
    close(again, drawn, "the same seed again", 0.0)
    if np.abs(other - drawn).max() == 0:
        raise Failed("another seed gives the same contexts")


@exercise.test("cvar of random returns", 1, hidden=True)
def many(submission, draws):
    for _ in range(5):
        returns, alpha = draws.rng.normal(size=draws.rng.integers(5, 40)), draws.rng.uniform(0.01, 1.0)
        close(submission.call("cvar", returns, alpha), worst(returns, alpha), "cvar", 1e-9)


@exercise.test("pairs", 1, hidden=True)
def rows(submission, draws):
    candidates, drawn = draws.rng.normal(size=(3, 4)), draws.rng.normal(size=(5, 2))
    wanted = [[*candidate, *context] for candidate in candidates for context in drawn]
    close(submission.call("pairs", candidates, drawn), wanted, "the rows", 1e-12)


@exercise.test("refit", 1, hidden=True)
def elite(submission, draws):
    candidates, scores = draws.rng.normal(size=(12, 4)), draws.rng.normal(size=12)
    answer = submission.call("refit", candidates, scores, 5)
    if not isinstance(answer, list) or len(answer) != 2:
        raise Failed("refit returns (mean, deviation)")
    best = candidates[np.argsort(scores)[-5:]]
    close(answer[0], best.mean(axis=0), "the mean", 1e-9)
    close(answer[1], best.std(axis=0), "the deviation", 1e-9)


@exercise.test("search: worst tenth in unseen contexts (lower bound over 4 searches)", 4, hidden=True)
def robust(submission, draws):
    """A search in one context alone reaches about 20, the most are 500. The sensors are mixed by a rotation each time,
    so that weights that were found before are of no use."""
    reached = []
    for _ in range(4):
        reached.append(worst(found(submission, draws, LOW, HIGH, rotation(draws.rng, 4)), 0.1))
    return credit(lower_bound(reached), none=50.0, full=350.0)
