"""Half right: prices and dual ascent are, the best mixture is a guess at a price, policies are averaged as they are."""

import numpy as np


def worth(P, R, start, gamma, policy):
    stepped = np.einsum("sa,ast->st", policy, P)
    return float(start @ np.linalg.solve(np.eye(len(R)) - gamma * stepped, (policy * R).sum(axis=1)))


def best_for(P, R, C, gamma, price):
    values = np.zeros(len(R))
    for _ in range(3000):
        q = R - price * C + gamma * np.einsum("ast,t->sa", P, values)
        values = q.max(axis=1)
    return np.eye(R.shape[1])[q.argmax(axis=1)]


def dual_ascent(P, R, C, start, gamma, limit, rate, rounds):
    prices, costs, price = [], [], 0.0
    for _ in range(rounds):
        prices.append(price)
        costs.append(worth(P, C, start, gamma, best_for(P, R, C, gamma, price)))
        price = max(0.0, price + rate * (costs[-1] - limit))
    return np.array(prices), np.array(costs)


def best_mixture(P, R, C, start, gamma, limit):
    """A penalty, doubled until the limit is kept."""
    price = 0.1
    while price < 1e6:
        policy = best_for(P, R, C, gamma, price)
        if worth(P, C, start, gamma, policy) <= limit:
            return policy, policy, 1.0
        price *= 2
    return None


def one_policy(P, start, gamma, bold, safe, share):
    return share * bold + (1 - share) * safe
