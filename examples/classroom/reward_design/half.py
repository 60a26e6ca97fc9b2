"""Half right: values and policies are, shaping forgets the discount, the loss is told in designed rewards."""

import numpy as np


def shaped(P, R, potential, gamma):
    return R + np.einsum("ast,t->sa", P, potential) - np.asarray(potential)[:, None]


def best_policy(P, R, gamma):
    values = np.zeros(len(R))
    for _ in range(2000):
        q = R + gamma * np.einsum("ast,t->sa", P, values)
        values = q.max(axis=1)
    return q.argmax(axis=1)


def worth(P, R, gamma, policy):
    rows = np.arange(len(R))
    return np.linalg.solve(np.eye(len(R)) - gamma * P[policy, rows], R[rows, policy])


def loss(P, true, designed, gamma):
    return worth(P, designed, gamma, best_policy(P, designed, gamma)) - worth(
        P, true, gamma, best_policy(P, true, gamma)
    )
