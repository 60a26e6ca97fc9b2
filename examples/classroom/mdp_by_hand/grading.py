import gymnasium
import numpy as np

import rlenvs  # noqa: F401  (registers the environments)
from rlenvs.classroom.exercise import Exercise, close
from rlenvs.classroom.questions import Near, Question, Trial

exercise = Exercise("mdp_by_hand", "A Markov decision process by hand", minutes=1, seconds=20.0)


exercise.trial = Trial(
    "Chain-v0",
    "a coin's policy, improved by one greedy step on your tables and values",
    """
def trial(env, practice, coin):
    n = env.n_states
    P, R = transitions(n), rewards(n)
    values = policy_values(P, R, coin, 0.9)
    policy = []
    for state in range(n):
        worth = [R[state][a] + 0.9 * sum(P[a][state][t] * values[t] for t in range(n)) for a in range(2)]
        policy.append(0 if worth[0] > worth[1] else 1)
    for _ in range(100):
        state, _ = env.reset()
        over = False
        while not over:
            state, _, terminated, truncated, _ = env.step(policy[state])
            over = terminated or truncated
""",
    arguments=(np.full((10, 2), 0.5),),
)


def model(length):
    """The exact tables, as the environment has them."""
    found = gymnasium.make("rlenvs/Chain-v0", length=length).unwrapped.model
    return np.stack([matrix.toarray() for matrix in found.P]), found.R


def random_process(rng, states, actions):
    """Tables and a policy of no world."""
    P = rng.dirichlet(np.ones(states), (actions, states))
    return P, rng.normal(size=(states, actions)), rng.dirichlet(np.ones(actions), states)


def solved(P, R, policy, gamma):
    moves = np.einsum("sa,ast->st", policy, P)
    return np.linalg.solve(np.eye(len(R)) - gamma * moves, (policy * R).sum(axis=1))


@exercise.asks("P of a chain of 5", 2)
def transitions_of_five(draws):
    return Question("transitions", (5,), (Near(model(5)[0], "transitions(5)"),))


@exercise.asks("R of a chain of 5", 1)
def rewards_of_five(draws):
    return Question("rewards", (5,), (Near(model(5)[1], "rewards(5)"),))


@exercise.asks("values on a chain", 1)
def values_on_a_chain(draws):
    P, R = model(5)
    coin = np.full((5, 2), 0.5)
    return Question("policy_values", (P, R, coin, 0.9), (Near(solved(P, R, coin, 0.9), "policy_values", 1e-8),))


@exercise.test("P and R of chains of other lengths", 2, hidden=True)
def other_lengths(submission, draws):
    for length in draws.rng.integers(6, 40, 3):
        P, R = model(int(length))
        close(submission.call("transitions", length), P, "transitions of another length")
        close(submission.call("rewards", length), R, "rewards of another length")


@exercise.test("values of random processes", 4, hidden=True)
def random_processes(submission, draws):
    for _ in range(5):
        P, R, policy = random_process(draws.rng, int(draws.rng.integers(3, 12)), int(draws.rng.integers(2, 5)))
        gamma = draws.rng.uniform(0.5, 0.99)
        close(
            submission.call("policy_values", P, R, policy, gamma),
            solved(P, R, policy, gamma),
            "policy_values of another process",
            1e-8,
        )
