"""The solution in plain Python, as it can be written in a page."""

from math import log, sqrt

ARGUMENTS = "lists"


def update(counts, means, arm, reward):
    counts, means = list(counts), list(means)
    counts[arm] += 1
    means[arm] += (reward - means[arm]) / counts[arm]
    return counts, means


def epsilon_greedy(means, epsilon):
    best = [mean == max(means) for mean in means]
    return [epsilon / len(means) + (1 - epsilon) * each / sum(best) for each in best]


def ucb(counts, means, c):
    if 0 in counts:
        return counts.index(0)
    total = log(sum(counts))
    rated = [mean + c * sqrt(total / count) for count, mean in zip(counts, means)]
    return rated.index(max(rated))


def play(env, steps):
    env.reset()
    counts, means = [0] * env.n_actions, [0.0] * env.n_actions
    for _ in range(steps):
        arm = ucb(counts, means, 1.0)
        counts, means = update(counts, means, arm, env.step(arm)[1])
