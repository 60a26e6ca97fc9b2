"""Half right: takes time limits for ends, samples places that are empty, and learns nothing."""

import numpy as np


def store(memory, count, row):
    memory[count % len(memory)] = row
    return memory, count + 1


def sample(memory, count, size, rng):
    return memory[np.random.default_rng(rng).integers(len(memory), size=size)]


def targets(rewards, next_q, terminated, truncated, gamma):
    return rewards + gamma * np.where(terminated | truncated, 0.0, next_q.max(axis=1))


def double_targets(rewards, next_online, next_target, terminated, truncated, gamma):
    chosen = next_target[np.arange(len(rewards)), next_online.argmax(axis=1)]
    return rewards + gamma * np.where(terminated | truncated, 0.0, chosen)


def q_values(weights, observations):
    W1, b1, W2, b2 = weights
    return np.maximum(observations @ W1 + b1, 0.0) @ W2 + b2


def gradient(weights, observations, actions, wanted):
    W1, b1, W2, b2 = weights
    hidden = np.maximum(observations @ W1 + b1, 0.0)
    rows, error = np.arange(len(actions)), np.zeros((len(actions), len(b2)))
    error[rows, actions] = ((hidden @ W2 + b2)[rows, actions] - wanted) / len(actions)
    back = (error @ W2.T) * (hidden > 0)
    return [observations.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]


def train(env):
    return [np.zeros((4, 8)), np.zeros(8), np.zeros((8, 2)), np.zeros(2)]
