import gymnasium
import numpy as np

import rlenvs
from rlenvs.classroom.exercise import Exercise, close
from rlenvs.classroom.questions import Near, Process, Question, Trial

exercise = Exercise("dynamic_programming", "Dynamic programming with the exact model", minutes=1, seconds=30.0)


def lake(**options):
    """P[a, s, s'], R[s, a] of a frozen lake, and the environment."""
    env = gymnasium.make("rlenvs/FrozenLake-v0", **options)
    return np.stack([matrix.toarray() for matrix in env.unwrapped.model.P]), env.unwrapped.model.R, env


def other_lake(draws):
    return lake(map_name="random", map_seed=int(draws.rng.integers(1000)))


def swept(P, R, gamma, tolerance):
    values, sweeps = np.zeros(len(R)), 0
    while True:
        new = (R + gamma * np.einsum("ast,t->sa", P, values)).max(axis=1)
        sweeps += 1
        if np.abs(new - values).max() <= tolerance:
            return new, sweeps
        values = new


def sweeps(P, R, gamma):
    values, count = swept(P, R, gamma, 1e-6)
    right = Near(values, "the values of value iteration", 1e-9), Near(count, "the number of sweeps", 1.0)
    return Question("value_iteration", (P, R, gamma, 1e-6), right)


def iteration(P, R, gamma, best):
    """Actions may differ where they are equally good: what counts is that the policy's exact values are the best."""
    policy = Near(best, "what the policy is worth", 1e-7, Process(P, R, gamma))
    return Question("policy_iteration", (P, R, gamma), (policy, Near(best, "the values of policy iteration", 1e-7)))


exercise.trial = Trial(
    "FrozenLake-v0",
    "the policy of your policy iteration with gamma = 0.99",
    """
def trial(env, practice, P, R):
    policy, _ = policy_iteration(P, R, 0.99)
    for _ in range(100):
        state, _ = env.reset()
        over = False
        while not over:
            state, _, terminated, truncated, _ = env.step(int(policy[state]))
            over = terminated or truncated
""",
    arguments=lake()[:2],
)


@exercise.asks("one backup on the lake", 1)
def one_backup(draws):
    P, R, _ = lake()
    values = draws.rng.normal(size=16)
    wanted = R + 0.9 * np.einsum("ast,t->sa", P, values)
    return Question("backup", (P, R, 0.9, values), (Near(wanted, "backup", 1e-9),))


@exercise.asks("value iteration on the lake", 2)
def sweeps_on_the_lake(draws):
    P, R, _ = lake()
    return sweeps(P, R, 0.95)


@exercise.asks("policy iteration on the lake", 2)
def best_on_the_lake(draws):
    P, R, env = lake()
    return iteration(P, R, 0.99, rlenvs.solve_mdp(env, gamma=0.99).values)


@exercise.test("evaluation of random policies on other lakes", 1, hidden=True)
def evaluation(submission, draws):
    P, R, _ = other_lake(draws)
    policy, rows = draws.rng.integers(0, 4, len(R)), np.arange(len(R))
    wanted = np.linalg.solve(np.eye(len(R)) - 0.9 * P[policy, rows], R[rows, policy])
    close(submission.call("evaluate", P, R, 0.9, policy), wanted, "evaluate", 1e-8)


@exercise.test("value iteration on other lakes", 2, hidden=True)
def sweeps_elsewhere(submission, draws):
    for _ in range(2):
        P, R, _ = other_lake(draws)
        sweeps(P, R, draws.rng.uniform(0.8, 0.97)).share(submission)


@exercise.test("policy iteration on other lakes", 2, hidden=True)
def best_elsewhere(submission, draws):
    for _ in range(2):
        P, R, env = other_lake(draws)
        gamma = draws.rng.uniform(0.8, 0.98)
        iteration(P, R, gamma, rlenvs.solve_mdp(env, gamma=gamma).values).share(submission)
