import gymnasium
import numpy as np
from scipy.optimize import linprog

import rlenvs  # noqa: F401  (registers the environments)
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close

exercise = Exercise("safe_rl", "Safe RL: as much as you can, within a limit", minutes=1, seconds=30.0)


def cliff(wind):
    """P[a, s, s'], R[s, a], C[s, a] and the start of a cliff with wind: a step pays -1, a fall costs 1."""
    model = gymnasium.make("rlenvs/CliffWalking-v0").unwrapped.model
    P = np.stack([matrix.toarray() for matrix in model.P])
    P = (1 - wind) * P + wind * P.mean(axis=0)
    paid = (1 - wind) * model.R + wind * model.R.mean(axis=1, keepdims=True)
    C = np.maximum(-1 - paid, 0) / 99
    return P, paid + 99 * C, C, np.asarray(model.start, float)


def process(rng):
    """A process of no world, in which the boldest policy costs more than need be."""
    while True:
        states, actions = int(rng.integers(4, 10)), int(rng.integers(2, 5))
        P = 0.97 * rng.dirichlet(np.ones(states), (actions, states))
        R = rng.normal(size=(states, actions))
        C = np.maximum(0.5 * R + rng.normal(size=R.shape), 0.0)
        start = rng.dirichlet(np.ones(states))
        least, most = span(P, R, C, start, 0.9)
        if most > least + 0.1:
            return P, R, C, start


def worth(P, R, start, gamma, policy):
    stepped = np.einsum("sa,ast->st", policy, P)
    return float(start @ np.linalg.solve(np.eye(len(R)) - gamma * stepped, (policy * R).sum(axis=1)))


def best(P, R, gamma):
    """A best deterministic policy (n, actions), by policy iteration."""
    actions, rows = np.zeros(len(R), int), np.arange(len(R))
    while True:
        values = np.linalg.solve(np.eye(len(R)) - gamma * P[actions, rows], R[rows, actions])
        q = R + gamma * np.einsum("ast,t->sa", P, values)
        better = q.max(axis=1) > q[rows, actions] + 1e-9
        if not better.any():
            return np.eye(R.shape[1])[actions]
        actions = np.where(better, q.argmax(axis=1), actions)


def flows(P, start, gamma):
    """The matrix of the equations of occupancy (n, n * actions): its product with the occupancy is the start."""
    actions, states, _ = P.shape
    out = np.repeat(np.eye(states), actions, axis=1)
    return out - gamma * P.transpose(2, 1, 0).reshape(states, states * actions)


def optimum(P, R, C, start, gamma, limit):
    """The best return within the limit, by a linear program of occupancies."""
    found = linprog(-R.ravel(), C.ravel()[None], [limit], flows(P, start, gamma), start)
    return -found.fun


def span(P, R, C, start, gamma):
    """The least cost, and that of the boldest policy."""
    return tuple(worth(P, C, start, gamma, best(P, wanted, gamma)) for wanted in (-C, R))


def tight(P, R, C, start, gamma, rng):
    """A limit between the two."""
    least, most = span(P, R, C, start, gamma)
    return least + rng.uniform(0.2, 0.8) * (most - least)


def policy_of(found, shape, what, deterministic=False):
    policy = array_like(found, shape, what)
    if policy.min() < -1e-9 or np.abs(policy.sum(axis=1) - 1).max() > 1e-6:
        raise Failed(f"{what} holds rows that are no probabilities")
    if deterministic and np.abs(policy - policy.round()).max() > 1e-9:
        raise Failed(f"{what} is not deterministic")
    return policy


def check_best(submission, P, R, C, start, gamma, price):
    policy = policy_of(submission.call("best_for", P, R, C, gamma, price), R.shape, "what best_for returns", True)
    wanted = R - price * C
    close(
        worth(P, wanted, start, gamma, policy),
        worth(P, wanted, start, gamma, best(P, wanted, gamma)),
        "J_R - price * J_C of the policy",
    )


def mixed(submission, P, R, C, start, gamma, limit):
    """What the submission's mixture costs and earns."""
    found = submission.call("best_mixture", P, R, C, start, gamma, limit)
    if not isinstance(found, list) or len(found) != 3:
        raise Failed("best_mixture returns (bold, safe, share)")
    bold, safe = (policy_of(each, R.shape, "a policy of best_mixture", True) for each in found[:2])
    share = float(array_like(found[2], (), "the share"))
    if not -1e-9 <= share <= 1 + 1e-9:
        raise Failed(f"the share is {share:g}; it lies in [0, 1]")
    cost, earned = (
        share * worth(P, X, start, gamma, bold) + (1 - share) * worth(P, X, start, gamma, safe) for X in (C, R)
    )
    return cost, earned


def check_mixture(submission, P, R, C, start, gamma, limit):
    cost, earned = mixed(submission, P, R, C, start, gamma, limit)
    if cost > limit + 1e-6:
        raise Failed(f"the mixture costs {cost:.4g}; the limit is {limit:.4g}")
    close(earned, optimum(P, R, C, start, gamma, limit), "the return of the mixture", 1e-5)


@exercise.test("worth of a policy that is random", 1)
def random_policy(submission, draws):
    P, R, C, start = process(draws.rng)
    policy = draws.rng.dirichlet(np.ones(R.shape[1]), len(R))
    close(submission.call("worth", P, R, start, 0.9, policy), worth(P, R, start, 0.9, policy), "worth", 1e-8)
    close(submission.call("worth", P, C, start, 0.9, policy), worth(P, C, start, 0.9, policy), "worth", 1e-8)


@exercise.test("best_for a price on the cliff", 1)
def priced_cliff(submission, draws):
    check_best(submission, *cliff(0.1), 0.99, 10.0)


@exercise.test("best_for random prices", 2, hidden=True)
def priced(submission, draws):
    for _ in range(4):
        check_best(submission, *process(draws.rng), draws.rng.uniform(0.5, 0.95), draws.rng.uniform(0.0, 5.0))


@exercise.test("dual ascent, round by round", 3, hidden=True)
def rounds(submission, draws):
    for limited in (True, True, False):
        P, R, C, start = process(draws.rng)
        gamma, rate = 0.9, draws.rng.uniform(0.05, 0.3)
        limit = tight(P, R, C, start, gamma, draws.rng) if limited else 1000.0
        prices, costs, price = [], [], 0.0
        for _ in range(30):
            prices.append(price)
            costs.append(worth(P, C, start, gamma, best(P, R - price * C, gamma)))
            price = max(0.0, price + rate * (costs[-1] - limit))
        found = submission.call("dual_ascent", P, R, C, start, gamma, limit, rate, 30)
        if not isinstance(found, list) or len(found) != 2:
            raise Failed("dual_ascent returns (prices, costs)")
        close(found[0], prices, "the prices", 1e-5)
        close(found[1], costs, "the costs", 1e-5)


@exercise.test("the best mixture, beside a linear program", 4, hidden=True)
def mixtures(submission, draws):
    for _ in range(4):
        world = process(draws.rng)
        check_mixture(submission, *world, 0.9, tight(*world, 0.9, draws.rng))
    world = cliff(draws.rng.uniform(0.08, 0.12))
    check_mixture(submission, *world, 0.99, tight(*world, 0.99, draws.rng))


@exercise.test("limits that do not bind, and that nobody keeps", 2, hidden=True)
def extremes(submission, draws):
    world = P, R, C, start = process(draws.rng)
    check_mixture(submission, *world, 0.9, 10.0 + worth(P, C, start, 0.9, best(P, R, 0.9)))
    if submission.call("best_mixture", P, R, C + 1.0, start, 0.9, 0.5) is not None:
        raise Failed("no policy keeps this limit; best_mixture is to return None")


@exercise.test("one policy in the place of two", 3, hidden=True)
def together(submission, draws):
    for _ in range(3):
        P, R, C, start = process(draws.rng)
        P[:, :, 0] = start[0] = 0.0  # nobody ever comes to the first state
        start /= start.sum()
        bold, safe = (np.eye(R.shape[1])[draws.rng.integers(0, R.shape[1], len(R))] for _ in range(2))
        share = draws.rng.uniform(0.1, 0.9)
        found = submission.call("one_policy", P, start, 0.9, bold, safe, share)
        policy = policy_of(found, R.shape, "what one_policy returns")
        for X, name in ((R, "return"), (C, "cost")):
            wanted = share * worth(P, X, start, 0.9, bold) + (1 - share) * worth(P, X, start, 0.9, safe)
            close(worth(P, X, start, 0.9, policy), wanted, f"the {name} of one_policy", 1e-7)
