import numpy as np

import rlenvs
from rlenvs.classroom.disguise import Turned, rotation
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit, lower_bound

BUDGET = 10_000
exercise = Exercise("policy_gradient", "Policy gradient", minutes=2, seconds=90.0)


def softmax(theta, observation):
    scores = observation @ theta
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def return_of(theta, cart, draws):
    """Mean return of the best action by theta."""
    seeds = [draws.seed() for _ in range(20)]
    act = lambda seen: cart.actions[(cart.turned(seen) @ theta).argmax(axis=1)]  # noqa: E731
    return rlenvs.evaluate("CartPole-v0", act, seeds=seeds).mean


def returns_of_weights(submission, draws):
    """Mean returns of a file of weights, on the cart as it is."""
    weights = submission.call("weights")
    if "theta" not in weights:
        raise Failed(f"the file holds {', '.join(weights)}; theta is wanted")
    theta = array_like(weights["theta"], (4, 2), "theta")
    cart = Turned(draws.env("CartPole-v0", 0).env, np.eye(4), np.arange(2))
    return [return_of(theta, cart, draws) for _ in range(4)]


def returns_of_trainings(submission, draws):
    """Mean returns after trainings on a cart whose four numbers are turned by a rotation and whose actions have other
    numbers each time, so that weights that were found before are of no use."""
    found = []
    for _ in range(4):
        env = draws.env("CartPole-v0", BUDGET)
        env.env = cart = Turned(env.env, rotation(draws.rng, 4), draws.rng.permutation(2))
        found.append(return_of(array_like(submission.call("train", env), (4, 2), "theta"), cart, draws))
    return found


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
    """Chance reaches about 20 steps, the most are 500. Weights do not tell how they were found: they earn a quarter."""
    weights = submission.submitted.kind != "code"
    found = returns_of_weights(submission, draws) if weights else returns_of_trainings(submission, draws)
    return credit(lower_bound(found), none=60.0, full=200.0) * (0.25 if weights else 1.0)
