"""Half right: the backup and value iteration are, policy iteration stops after one improvement."""

import numpy as np


def backup(P, R, gamma, values):
    return R + gamma * np.einsum("ast,t->sa", P, values)


def value_iteration(P, R, gamma, tolerance):
    values, sweeps = np.zeros(len(R)), 0
    while True:
        new = backup(P, R, gamma, values).max(axis=1)
        sweeps += 1
        if np.abs(new - values).max() <= tolerance:
            return new, sweeps
        values = new


def evaluate(P, R, gamma, policy):
    raise NotImplementedError


def policy_iteration(P, R, gamma):
    values = R.max(axis=1)
    return backup(P, R, gamma, values).argmax(axis=1), values
