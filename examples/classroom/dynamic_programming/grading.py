import gymnasium
import numpy as np

import rlenvs
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close

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


def pair(found, what):
    if not isinstance(found, list) or len(found) != 2:
        raise Failed(f"{what} returns two things")
    return found


def check_sweeps(submission, P, R, gamma):
    wanted, sweeps = swept(P, R, gamma, 1e-6)
    values, count = pair(submission.call("value_iteration", P, R, gamma, 1e-6), "value_iteration")
    close(values, wanted, "the values of value iteration", 1e-9)
    if abs(float(array_like(count, (), "the number of sweeps")) - sweeps) > 1:
        raise Failed(f"{count} sweeps were counted; {sweeps} were needed")


def check_best(submission, P, R, gamma, best):
    """Actions may differ where they are equally good: what counts is that the policy's exact values are the best."""
    policy, values = pair(submission.call("policy_iteration", P, R, gamma), "policy_iteration")
    chosen = array_like(policy, (len(R),), "the policy").astype(int)
    if chosen.min() < 0 or chosen.max() >= R.shape[1]:
        raise Failed("the policy holds numbers that are no actions")
    close(values, best, "the values of policy iteration", 1e-7)
    rows = np.arange(len(R))
    exact = np.linalg.solve(np.eye(len(R)) - gamma * P[chosen, rows], R[rows, chosen])
    close(exact, best, "what the policy is worth", 1e-7)


@exercise.test("one backup on the lake", 1)
def one_backup(submission, draws):
    P, R, _ = lake()
    values = draws.rng.normal(size=16)
    close(submission.call("backup", P, R, 0.9, values), R + 0.9 * np.einsum("ast,t->sa", P, values), "backup", 1e-9)


@exercise.test("value iteration on the lake", 2)
def sweeps_on_the_lake(submission, draws):
    P, R, _ = lake()
    check_sweeps(submission, P, R, 0.95)


@exercise.test("policy iteration on the lake", 2)
def best_on_the_lake(submission, draws):
    P, R, env = lake()
    check_best(submission, P, R, 0.99, rlenvs.solve_mdp(env, gamma=0.99).values)


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
        check_sweeps(submission, P, R, draws.rng.uniform(0.8, 0.97))


@exercise.test("policy iteration on other lakes", 2, hidden=True)
def best_elsewhere(submission, draws):
    for _ in range(2):
        P, R, env = other_lake(draws)
        gamma = draws.rng.uniform(0.8, 0.98)
        check_best(submission, P, R, gamma, rlenvs.solve_mdp(env, gamma=gamma).values)
