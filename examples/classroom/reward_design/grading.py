import gymnasium
import numpy as np

import rlenvs
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close

exercise = Exercise("reward_design", "Reward design, and how agents hack it", minutes=1, seconds=30.0)


def lake(**options):
    """P[a, s, s'], R[s, a] of a frozen lake, and the environment."""
    env = gymnasium.make("rlenvs/FrozenLake-v0", **options)
    return np.stack([matrix.toarray() for matrix in env.unwrapped.model.P]), env.unwrapped.model.R, env


def process(rng):
    """A process of no world that ends now and then."""
    states, actions = int(rng.integers(4, 12)), int(rng.integers(2, 4))
    P = 0.95 * rng.dirichlet(np.ones(states), (actions, states))
    return P, rng.normal(size=(states, actions))


def best(P, R, gamma):
    values = np.zeros(len(R))
    for _ in range(2000):
        q = R + gamma * np.einsum("ast,t->sa", P, values)
        values = q.max(axis=1)
    return values, q.argmax(axis=1)


def worth(P, R, gamma, policy):
    rows = np.arange(len(R))
    return np.linalg.solve(np.eye(len(R)) - gamma * P[policy, rows], R[rows, policy])


def check_policy(submission, P, R, gamma, values):
    found = array_like(submission.call("best_policy", P, R, gamma), (len(R),), "the policy").astype(int)
    if found.min() < 0 or found.max() >= R.shape[1]:
        raise Failed("the policy holds numbers that are no actions")
    close(worth(P, R, gamma, found), values, "what the policy is worth", 1e-6)


@exercise.test("best policy on the lake", 1)
def on_the_lake(submission, draws):
    P, R, env = lake()
    check_policy(submission, P, R, 0.95, rlenvs.solve_mdp(env, gamma=0.95).values)


@exercise.test("shaping without a discount", 1)
def plain_shaping(submission, draws):
    P, R, _ = lake()
    potential = draws.rng.normal(size=16)
    wanted = R + np.einsum("ast,t->sa", P, potential) - potential[:, None]
    close(submission.call("shaped", P, R, potential, 1.0), wanted, "shaped", 1e-9)


@exercise.test("values of random policies", 2, hidden=True)
def values_of_policies(submission, draws):
    for _ in range(3):
        P, R = process(draws.rng)
        policy, gamma = draws.rng.integers(0, R.shape[1], len(R)), draws.rng.uniform(0.5, 0.95)
        close(submission.call("worth", P, R, gamma, policy), worth(P, R, gamma, policy), "worth", 1e-8)


@exercise.test("shaping leaves the best policy and moves its values by the potential", 3, hidden=True)
def invariance(submission, draws):
    for _ in range(3):
        P, R = process(draws.rng)
        potential, gamma = draws.rng.normal(size=len(R)), draws.rng.uniform(0.5, 0.95)
        found = array_like(submission.call("shaped", P, R, potential, gamma), R.shape, "the shaped rewards")
        close(best(P, found, gamma)[0], best(P, R, gamma)[0] - potential, "the best values under shaped rewards")


@exercise.test("what wrong rewards cost", 3, hidden=True)
def costs(submission, draws):
    for _ in range(3):
        P, R = process(draws.rng)
        designed, gamma = R + draws.rng.normal(size=R.shape), draws.rng.uniform(0.5, 0.95)
        wanted = best(P, R, gamma)[0] - worth(P, R, gamma, best(P, designed, gamma)[1])
        close(submission.call("loss", P, R, designed, gamma), wanted, "loss", 1e-6)
