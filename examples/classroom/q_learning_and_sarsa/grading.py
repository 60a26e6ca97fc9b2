import numpy as np

import rlenvs
from rlenvs.classroom.disguise import Renamed
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit, lower_bound

BUDGET = 20_000
exercise = Exercise("q_learning_and_sarsa", "Q-learning and SARSA", minutes=3, seconds=60.0)


def check_update(submission, rng, name, terminated):
    Q, reward = rng.normal(size=(6, 3)), rng.normal()
    alpha, gamma = rng.uniform(0.1, 0.5), rng.uniform(0.5, 0.99)
    following = [4, 2] if name == "sarsa_update" else [4]
    ahead = Q[4, 2] if name == "sarsa_update" else Q[4].max()
    wanted = Q.copy()
    wanted[1, 0] += alpha * (reward + (0.0 if terminated else gamma * ahead) - Q[1, 0])
    close(submission.call(name, Q, 1, 0, reward, *following, terminated, alpha, gamma), wanted, name)


def worth(env, policy, gamma):
    """The exact values of a policy at the start, and those of the best one."""
    model, rows = env.unwrapped.model, np.arange(len(policy))
    P = np.stack([matrix.toarray() for matrix in model.P])[policy, rows]
    values = np.linalg.solve(np.eye(len(policy)) - gamma * P, model.R[rows, policy])
    return float(model.start @ values), rlenvs.solve_mdp(env, gamma=gamma).start_value


def learnt(submission, env, gamma):
    states = env.env.observation_space.n
    policy = array_like(submission.call("learn", env, gamma), (states,), "the policy").astype(int)
    if policy.min() < 0 or policy.max() >= env.env.action_space.n:
        raise Failed("the policy holds numbers that are no actions")
    return policy


@exercise.test("sarsa_update", 1)
def one_sarsa(submission, draws):
    check_update(submission, draws.rng, "sarsa_update", terminated=False)


@exercise.test("q_update", 1)
def one_q(submission, draws):
    check_update(submission, draws.rng, "q_update", terminated=False)


@exercise.test("learn finds the shortest way along the cliff", 2)
def cliff(submission, draws):
    env = draws.env("CliffWalking-v0", BUDGET)
    found, best = worth(env.env, learnt(submission, env, 0.99), 0.99)
    return credit(found, none=2 * best, full=best - 1e-6)


@exercise.test("both updates at an end", 2, hidden=True)
def ends(submission, draws):
    check_update(submission, draws.rng, "sarsa_update", terminated=True)
    check_update(submission, draws.rng, "q_update", terminated=True)


@exercise.test("learn in shuffled cliffs (lower bound over 5)", 4, hidden=True)
def shuffled(submission, draws):
    """Actions and states have other numbers each time, so that a policy that was learnt before is of no use."""
    found = []
    for _ in range(5):
        env = draws.env("CliffWalking-v0", BUDGET)
        exact = env.env
        env.env = Renamed(exact, draws.rng)
        value, best = worth(exact, env.env.policy(learnt(submission, env, 0.99)), 0.99)
        found.append(credit(value, none=2 * best, full=best - 1e-6))
    return lower_bound(found)
