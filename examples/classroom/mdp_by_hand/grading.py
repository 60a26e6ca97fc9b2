import gymnasium
import numpy as np

import rlenvs  # noqa: F401  (registers the environments)
from rlenvs.classroom.exercise import Exercise, close

exercise = Exercise("mdp_by_hand", "A Markov decision process by hand", minutes=1, seconds=20.0)


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


@exercise.test("P of a chain of 5", 2)
def transitions_of_five(submission, draws):
    close(submission.call("transitions", 5), model(5)[0], "transitions(5)")


@exercise.test("R of a chain of 5", 1)
def rewards_of_five(submission, draws):
    close(submission.call("rewards", 5), model(5)[1], "rewards(5)")


@exercise.test("values on a chain", 1)
def values_on_a_chain(submission, draws):
    P, R = model(5)
    coin = np.full((5, 2), 0.5)
    close(submission.call("policy_values", P, R, coin, 0.9), solved(P, R, coin, 0.9), "policy_values", 1e-8)


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
