"""Half right: regrets are followed but not averaged, and the team learns apart."""

import numpy as np


def best_response(payoffs, opponent):
    return int(np.argmax(payoffs @ opponent))


def exploitability(payoffs, row, column):
    return float((payoffs @ column).max() - (row @ payoffs).min())


def fictitious_play(payoffs, rounds):
    rows, columns = np.zeros(payoffs.shape[0]), np.zeros(payoffs.shape[1])
    rows[0] = columns[0] = 1
    for _ in range(rounds - 1):
        i, j = best_response(payoffs, columns), best_response(-payoffs.T, rows)
        rows[i] += 1
        columns[j] += 1
    return rows / rounds, columns / rounds


def matched(regrets):
    positive = np.maximum(regrets, 0.0)
    return positive / max(positive.sum(), 1e-12)


def regret_matching(payoffs, rounds):
    p, q = (np.full(size, 1 / size) for size in payoffs.shape)
    regrets = [np.zeros(size) for size in payoffs.shape]
    for _ in range(rounds):
        value = p @ payoffs @ q
        regrets[0] += payoffs @ q - value
        regrets[1] += value - p @ payoffs
        p, q = (np.maximum(r, 1e-9) / np.maximum(r, 1e-9).sum() for r in regrets)
    return p, q


def update(Q, action, reward, alpha, beta):
    Q = np.array(Q, dtype=float)
    Q[action] += alpha * (reward - Q[action])
    return Q


def learn_jointly(env, actions):
    rng, Q = np.random.default_rng(0), [np.zeros(actions), np.zeros(actions)]
    env.reset()
    for step in range(env.budget):
        explore = rng.random(2) < max(1 - step / 700, 0)
        pair = [int(rng.integers(actions)) if e else int(q.argmax()) for e, q in zip(explore, Q, strict=True)]
        reward = env.step(pair)[1]
        Q = [update(q, a, reward, 0.1, 0.1) for q, a in zip(Q, pair, strict=True)]
    return [int(q.argmax()) for q in Q]
