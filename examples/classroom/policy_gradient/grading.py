import numpy as np

import rlenvs
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit, lower_bound

BUDGET = 10_000
exercise = Exercise("policy_gradient", "Policy gradient", minutes=2, seconds=90.0)


def softmax(theta, observation):
    scores = observation @ theta
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def return_of(theta, draws):
    """Mean return of the best action by theta."""
    seeds = [draws.seed() for _ in range(20)]
    return rlenvs.evaluate("CartPole-v0", lambda seen: (seen @ theta).argmax(axis=1), seeds).mean


def trained(submission, draws, times):
    """Mean returns of several trainings; of weights, of the same ones each time."""
    for _ in range(times):
        if submission.submitted.kind == "code":
            theta = submission.call("train", draws.env("CartPole-v0", BUDGET))
        else:
            weights = submission.call("weights")
            if "theta" not in weights:
                raise Failed(f"the file holds {', '.join(weights)}; theta is wanted")
            theta = weights["theta"]
        yield return_of(array_like(theta, (4, 2), "theta"), draws)


@exercise.test("probabilities", 1)
def likely(submission, draws):
    theta, seen = draws.rng.normal(size=(4, 2)), draws.rng.normal(size=4)
    close(submission.call("probabilities", theta, seen), softmax(theta, seen), "probabilities", 1e-9)


@exercise.test("rewards_to_go", 1)
def ahead(submission, draws):
    close(submission.call("rewards_to_go", [1.0, 2.0, 3.0]), [6.0, 5.0, 3.0], "rewards_to_go")


@exercise.test("probabilities of large numbers", 1, hidden=True)
def large(submission, draws):
    theta, seen = draws.rng.normal(size=(4, 3)) * 1000, draws.rng.normal(size=4)
    close(submission.call("probabilities", theta, seen), softmax(theta, seen), "probabilities", 1e-9)


@exercise.test("log_gradient beside finite differences", 3, hidden=True)
def gradient(submission, draws):
    for _ in range(3):
        theta, seen = draws.rng.normal(size=(4, 3)), draws.rng.normal(size=4)
        action, wanted = int(draws.rng.integers(3)), np.zeros((4, 3))
        for place in np.ndindex(4, 3):
            shift = np.zeros((4, 3))
            shift[place] = 1e-5
            higher, lower = (np.log(softmax(theta + sign * shift, seen)[action]) for sign in (1, -1))
            wanted[place] = (higher - lower) / 2e-5
        close(submission.call("log_gradient", theta, seen, action), wanted, "log_gradient", 1e-5)


@exercise.test("train: return of CartPole (lower bound over 4 trainings)", 4, hidden=True)
def played(submission, draws):
    """Chance reaches about 20 steps, the most are 500."""
    return credit(lower_bound(list(trained(submission, draws, 4))), none=60.0, full=200.0)
