"""Half right: the tables are, the values are those of one step."""

import numpy as np


def transitions(n):
    P = np.zeros((2, n, n))
    for state in range(n):
        P[0, state, max(state - 1, 0)] = 1.0
        P[1, state, min(state + 1, n - 1)] = 1.0
    return P


def rewards(n):
    R = np.zeros((n, 2))
    R[0, 0] = 0.01
    R[n - 1, 1] = 1.0
    return R


def policy_values(P, R, policy, gamma):
    return (policy * R).sum(axis=1)
