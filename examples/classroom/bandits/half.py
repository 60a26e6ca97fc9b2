"""Half right: means and probabilities are; UCB forgets the logarithm, and play never explores."""

import numpy as np


def update(counts, means, arm, reward):
    counts, means = np.array(counts), np.array(means, dtype=float)
    counts[arm] += 1
    means[arm] += (reward - means[arm]) / counts[arm]
    return counts, means


def epsilon_greedy(means, epsilon):
    means = np.asarray(means)
    best = means == means.max()
    return epsilon / len(means) + (1 - epsilon) * best / best.sum()


def ucb(counts, means, c):
    counts = np.asarray(counts)
    if (counts == 0).any():
        return int(np.argmax(counts == 0))
    return int(np.argmax(means + c / counts))


def play(env, steps):
    env.reset()
    for step in range(steps):
        env.step(step % env.n_actions)
